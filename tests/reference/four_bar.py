"""The four-bar of thin rods as a mechanism with one degree of freedom, the angle of its crank, by SciPy's DOP853.

Crank a, coupler b and rocker c are at the angles θ, x and y to the ground bar, whose length drops out once the loop is
closed: a e(θ) + b e(x) = ground + c e(y), e(φ) = (cos φ, sin φ). Two derivatives by θ give x', y', x'' and y''. With
the rods' kinetic energy ½ I(θ) θ̇² and potential V(θ), Lagrange's equation is I θ̈ + ½ I' θ̇² + V' = 0. Nothing here is
of the package.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp

GRAVITY = 9.81  # m/s², along −y; rods weigh 1 kg each


def acceleration(theta: float, x: float, y: float, rate: float, lengths: tuple[float, float, float]) -> np.ndarray:
    """x', y' and θ̈."""
    a, b, c = lengths
    (crank, coupler, rocker), (d_crank, d_coupler, d_rocker) = (
        [np.array([np.cos(p), np.sin(p)]) for p in (theta, x, y)],
        [np.array([-np.sin(p), np.cos(p)]) for p in (theta, x, y)])
    closes = np.column_stack([b * d_coupler, -c * d_rocker])
    dx, dy = np.linalg.solve(closes, -a * d_crank)
    ddx, ddy = np.linalg.solve(closes, a * crank + b * dx**2 * coupler - c * dy**2 * rocker)
    d_centre = a * d_crank + b / 2 * dx * d_coupler  # of the coupler
    dd_centre = -a * crank + b / 2 * (ddx * d_coupler - dx**2 * coupler)
    inertia = a**2 / 3 + d_centre @ d_centre + b**2 / 12 * dx**2 + c**2 / 3 * dy**2
    d_inertia = 2 * (d_centre @ dd_centre + b**2 / 12 * dx * ddx + c**2 / 3 * dy * ddy)
    d_potential = GRAVITY * (a / 2 * d_crank[1] + d_centre[1] + c / 2 * dy * d_rocker[1])
    return np.array([dx, dy, -(0.5 * d_inertia * rate**2 + d_potential) / inertia])


def four_bar(angles: np.ndarray, rate: float, t: float, lengths: tuple[float, float, float] = (1.0, 2.0, 1.5)
             ) -> tuple[np.ndarray, float]:
    """Angles (3,) of crank, coupler and rocker, rad, and the rate of the crank, rad/s, after a time, s."""

    def change(_: float, s: np.ndarray) -> np.ndarray:
        dx, dy, turning = acceleration(s[0], s[1], s[2], s[3], lengths)
        return np.array([s[3], dx * s[3], dy * s[3], turning])

    end = solve_ivp(change, (0.0, t), [*angles, rate], "DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    return end[:3], float(end[3])
