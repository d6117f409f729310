"""Errata of the paper: what is printed, what is right, why, and a number computed on the spot that shows it."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import leastaction as la
from leastaction.reference.lie import Ad, Array, ad, bernoulli, exp, inverse, log

G = np.diag([0.3, 0.4, 0.5, 2.0, 2.0, 2.0])  # a spatial inertia about the centre of mass, kg m² and kg
STEP, NUDGE = 0.1, 1e-5  # s; of central differences


class Erratum(NamedTuple):
    """One of them: where, what is printed, what is right, the proof, and the check with the numbers it found."""

    where: str
    printed: str
    right: str
    proof: str
    check: str


def _poses(seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    T = exp(rng.uniform(-1, 1, 6))
    return T, T @ exp(STEP * rng.uniform(-4, 4, 6))


def _action(T0: Array, T1: Array) -> float:
    x = log(inverse(T0) @ T1)
    return float(x @ G @ x) / (2 * STEP)


def _gradient(function: Callable[[Array], Array | float], T: Array) -> Array:
    """Derivative by T ← T exp(η), one column for each η."""
    columns = [(np.asarray(function(T @ exp(e))) - np.asarray(function(T @ exp(-e)))) / (2 * NUDGE)
               for e in NUDGE * np.eye(6)]
    return np.array(columns).T


def dlog_series(x: Array, terms: int = 30) -> Array:
    """[dlog_x] (6, 6) by the paper's series, cut after so many terms; 30 reach round-off up to about a radian."""
    result, power = np.zeros((6, 6)), np.eye(6)
    for j, number in enumerate(bernoulli(terms)):
        result += float(number) * power
        power = power @ ad(x) / (j + 1)
    return result


def _printed(T0: Array, T1: Array, terms: int = 30) -> tuple[Array, Array]:
    """D₁L_d and D₂L_d without a potential, as the paper prints them."""
    x = log(inverse(T0) @ T1)
    mu = dlog_series(x, terms).T @ G @ x / STEP
    return mu, -Ad(exp(x)).T @ mu


def signs() -> tuple[float, float]:
    """Ratio of the true derivatives to the printed ones, D₁ and D₂."""
    T0, T1 = _poses()
    true = _gradient(lambda T: _action(T, T1), T0), _gradient(lambda T: _action(T0, T), T1)
    first, second = (float(t @ p / (p @ p)) for t, p in zip(true, _printed(T0, T1), strict=True))
    return first, second


def asymmetry(terms: int) -> float:
    """How far the mixed derivatives D₂D₁ and (D₁D₂)ᵀ differ with so many terms of dlog, relative to their size."""
    T0, T1 = _poses()
    mixed = _gradient(lambda T: _printed(T0, T, terms)[0], T1)
    other = _gradient(lambda T: _printed(T, T1, terms)[1], T0)
    return float(np.abs(mixed - other.T).max() / np.abs(mixed).max())


def falling_residual() -> tuple[float, float]:
    """Residual of exact free fall, with the gravity impulse of a whole step, and that impulse."""
    model = la.Model(gravity=(0, 0, -9.81))
    model.add_body("mass", joint=la.Prismatic((0, 0, 1)), inertia=la.Inertia(2.0))
    first, second, third = ([-9.81 / 2 * (k * STEP) ** 2] for k in range(3))
    return float(la.discrete_residual(model, first, second, third, STEP)[0]), 2.0 * 9.81 * STEP


def start_order(share: float) -> float:
    """Observed order of convergence of a pendulum whose first step takes this share of the gravity impulse."""
    model, errors = la.library.pendulum(), []
    end = la.simulate(model, dt=1e-3, duration=1.0, integrator=la.RungeKutta4(), progress=False).q[-1, 0]
    pull = -la.inverse_dynamics(model, model.q0, np.zeros(1), np.zeros(1))
    for steps in (50, 100):
        h = 1.0 / steps
        q, p = model.q0, np.zeros(1) + (share - 0.5) * h * pull
        for _ in range(steps):
            q, p = la.variational_step(model, q, p, h)
        errors.append(abs(q[0] - end))
    return float(np.log2(errors[0] / errors[1]))


def displacement_errors() -> tuple[float, float]:
    """Error of ΔT of a link by its recursion, with T_{λ,i} at q^k and at q^{k+1}."""
    model = la.library.double_pendulum()
    q0, q1 = np.array([0.3, -0.4]), np.array([0.5, 0.1])
    before, after = la.poses(model, q0), la.poses(model, q1)
    joint0, joint1 = (inverse(T[0]) @ T[1] for T in (before, after))
    moved = inverse(before[0]) @ after[0]
    true = inverse(before[1]) @ after[1]
    right, wrong = (float(np.abs(inverse(joint) @ moved @ joint1 - true).max()) for joint in (joint0, joint1))
    return right, wrong


def twist_errors() -> tuple[float, float]:
    """Error of the twist of a link: as Ad of the parent's plus S q̇, and as S q̇ alone."""
    model = la.library.double_pendulum()
    q, v = np.array([0.3, -0.4]), np.array([1.0, 2.0])
    parent, true = (la.jacobian(model, q, name) @ v for name in ("link1", "link2"))
    T = la.poses(model, q)
    own = np.array([0.0, 1.0, 0.0, 0.0, 0.0, 0.0]) * v[1]
    whole = Ad(inverse(inverse(T[0]) @ T[1])) @ parent + own
    return float(np.abs(whole - true).max()), float(np.abs(own - true).max())


def errata() -> list[Erratum]:
    """All of them, with their checks computed now."""
    first, second = signs()
    exact, cut = asymmetry(30), asymmetry(3)
    left, impulse = falling_residual()
    half, full = start_order(0.5), start_order(1.0)
    right, wrong = displacement_errors()
    whole, own = twist_errors()
    return [
        Erratum(
            "discrete reduced Euler–Poincaré equations, D₁L_d and D₂L_d",
            "D₁L_d = +[dlog]ᵀGV + …, D₂L_d = −[Ad]ᵀ[dlog]ᵀGV + …, then “… + F = 0”",
            "both with the opposite sign; Algorithm 2 is right: f = −(D₂L_d + D₁L_d) − forcing",
            "L_d = xᵀGx/2h with x = log(T₀⁻¹T₁). T₀ ← T₀exp(η) changes T₀⁻¹T₁ to exp(−η)T₀⁻¹T₁, so δx = −dlog_x η "
            "and D₁L_d = −[dlog_x]ᵀGx/h. T₁ ← T₁exp(η) is exp(Ad_{exp x} η) from the left, so D₂L_d = "
            "+[Ad]ᵀ[dlog]ᵀGx/h.",
            f"derivatives of L_d by central differences, divided by the printed ones: {first:.8f} and {second:.8f}"),
        Erratum(
            "Algorithm 2, line 8", "no potential; T*P(T) stands for it in the equations",
            "gravity enters F_ext as h times its wrench at q^k, and T*P is the gradient, left-trivialised",
            "The trapezoid gives −(h/2)P(q^k) from either neighbouring step, and the gradients of both are at q^k.",
            f"exact free fall, which the trapezoid reproduces, leaves f = {left:.1e} N s with this impulse; without "
            f"it, {impulse:.3g} N s"),
        Erratum(
            "first step (not in the paper)", "two configurations are taken as given",
            "from (q, q̇), p⁰ = M q̇ and the first step takes half of the gravity impulse",
            "p⁰ = −D₁L_d(q⁰, q¹), in which the potential has the weight h/2; no step before it gives the other half.",
            f"pendulum over 1 s, observed order of convergence: {half:.2f} with half the impulse, {full:.2f} with all"),
        Erratum(
            "text after the recursion T_i = T_λ T_{λ,i}", "T_{λ(i),i}^k is a function of q_i^{k+1}", "of q_i^k",
            "ΔT_i = T_i(q^k)⁻¹T_i(q^{k+1}) and T_i = T_λ T_{λ,i}, both at the same instant.",
            f"error of ΔT of the second link of a double pendulum: {right:.1e} with q^k, {wrong:.2g} with q^{{k+1}}"),
        Erratum(
            "text on the average velocity", "V_i = S_i q̇_i", "V_i = Ad_{T_{λ,i}⁻¹}V_λ + S_i q̇_i",
            "Differentiate T_i = T_λ T_{λ,i}: the parent's twist is carried along.",
            f"error of the second link's twist: {whole:.1e} with the parent's, {own:.2g} without"),
        Erratum(
            "definition of dlog by its series", "Σ B_j/j! ad^j, to be cut somewhere in an implementation",
            "a closed form, or enough terms for round-off",
            "A residual is the derivative of an action only if D₂D₁L_d = (D₁D₂L_d)ᵀ. With log exact and dlog cut short "
            "this fails, and symplecticity with it.",
            f"relative difference of the mixed derivatives: {exact:.1e} with dlog exact, {cut:.1e} with three terms "
            f"(a step of {STEP:g} s)"),
        Erratum(
            "update rule and Algorithms 1 and 3", "M(q_(l)^k); “if ‖e < ε‖”", "M(q^k); “if ‖e‖ < ε”",
            "q^k does not change during the search, so the mass matrix is factored once a step.",
            "a matter of notation"),
    ]
