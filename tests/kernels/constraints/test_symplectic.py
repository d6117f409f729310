"""The step on the manifold {g = 0, A M⁻¹ p = 0} is symplectic: of its tangent vectors, by differences of the map."""

import numpy as np
from mechanisms import floating_loop, random_state

import leastaction as la
from leastaction.reference import difference

H, STEPS, EPS = 0.01, 3, 4e-4


def bracket(x, y):
    """[x, y] of rotation vectors, or of twists."""
    turn = np.cross(x[:3], y[:3])
    return turn if len(x) == 3 else np.concatenate([turn, np.cross(x[:3], y[3:]) + np.cross(x[3:], y[:3])])


def form(model, p, x, y):
    """Ω(p) of two tangent vectors (δq, δp): B_ab = ⟨p, [e_a, e_b]⟩ in the block of each ball or free joint."""
    n = model.nv
    value = x[:n] @ y[n:] - x[n:] @ y[:n]
    for body in model.bodies:
        at = model.v_slice(body.name)
        if isinstance(body.joint, la.Ball | la.Free):
            value += p[at] @ bracket(x[:n][at], y[:n][at])
    return value


def mapped(model, q, v):
    """A state of the manifold, (q, p), and where the steps take it."""
    sim = la.Simulator(model, q, v, dt=H)
    before = sim.q, sim.p
    sim.step(STEPS)
    return before, (sim.q, sim.p)


def tangent(model, q, v, centre, direction):
    """Tangent vectors at both ends of the map, to a curve in the manifold, by differences of fourth order."""
    n, ends = model.nv, np.zeros((2, 2 * model.nv))
    for weight, size in ((8, EPS), (-8, -EPS), (-1, 2 * EPS), (1, -2 * EPS)):
        moved = la.increment(model, q, size * direction[:n])
        states = mapped(model, *la.assemble(model, moved, v + size * direction[n:]))
        for end, (state, middle) in zip(ends, zip(states, centre, strict=True), strict=True):
            way = np.concatenate([difference(model, middle[0], state[0]), state[1]])
            end += weight / (12 * EPS) * way
    return ends


def test_symplectic_on_the_manifold():
    model = floating_loop()
    q, v = random_state(model)
    rng, centre = np.random.default_rng(5), mapped(model, q, v)
    pairs = [tangent(model, q, v, centre, rng.normal(size=2 * model.nv)) for _ in range(4)]
    sizes = []
    for i in range(4):
        for j in range(i):
            before, after = (form(model, centre[k][1], pairs[i][k], pairs[j][k]) for k in range(2))
            sizes.append(abs(before))
            assert abs(after - before) < 1e-10 * max(sizes)  # 1.2e-11, which falls with EPS⁴: of the differences
    assert max(sizes) > 1.0
    assert np.abs(pairs[0][1] - pairs[0][0]).max() > 0.01  # the map moved something
