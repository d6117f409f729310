"""Print src/leastaction/kernels/maths/coefficients.py: near-minimax polynomials behind exp, log and dlog.

Run ``python tools/make_coefficients.py > src/leastaction/kernels/maths/coefficients.py`` (needs mpmath). Each
polynomial is the interpolant at Chebyshev nodes, of the lowest degree whose error is below the round-off that it can
cause.
"""

import mpmath as mp

mp.mp.dps = 60
LIMIT = mp.mpf(1) / 2  # rotations up to this many radians a step need no trigonometry


def half_angle(s):
    return mp.asin(mp.sqrt(s))


def log_ratio(s):
    """θ / sin(θ/2)."""
    return 2 * half_angle(s) / mp.sqrt(s)


def beta(s):
    u = half_angle(s)
    return (1 - u * mp.cot(u)) / (4 * u**2)


def gamma(s):
    u = half_angle(s)
    return (u / mp.sin(u) ** 2 + mp.cot(u) - 2 / u) / (16 * u**3)


def kappa(s):
    u = half_angle(s)
    slope = (2 / u**2 - 2 * u * mp.cot(u) / mp.sin(u) ** 2) / (16 * u**3) - 3 * gamma(s) / u
    return slope / (4 * u)


def cos_half(t):
    return mp.cos(mp.sqrt(t) / 2)


def sinc_half(t):
    """sin(θ/2) / θ."""
    return mp.sin(mp.sqrt(t) / 2) / mp.sqrt(t)


def fit(function, top, tolerance):
    """Coefficients, lowest power first, of the lowest-degree Chebyshev interpolant on (0, top] within the tolerance."""
    for degree in range(2, 20):
        nodes = [top * (1 + mp.cos(mp.pi * (2 * k + 1) / (2 * degree + 2))) / 2 for k in range(degree + 1)]
        rows = mp.matrix([[x**j for j in range(degree + 1)] for x in nodes])
        found = mp.lu_solve(rows, mp.matrix([function(x) for x in nodes]))
        rounded = [mp.mpf(float(c)) for c in found]
        grid = [top * (k + mp.mpf(1) / 2) / 200 for k in range(200)]
        if max(abs(sum(c * x**k for k, c in enumerate(found)) / function(x) - 1) for x in grid) < tolerance:
            return rounded
    raise ValueError(function.__name__)


# (name, function, what it is, of which variable, relative tolerance): β, γ and κ multiply θ², θ⁴ and θ⁶ at least
TABLE = [
    ("LOG_RATIO", log_ratio, "θ / sin(θ/2)", "s", 2e-17),
    ("BETA", beta, "β = (1 − (θ/2) cot(θ/2)) / θ²", "s", 1e-16),
    ("GAMMA", gamma, "γ = β'(θ) / θ", "s", 1e-15),
    ("KAPPA", kappa, "κ = γ'(θ) / θ", "s", 1e-13),
    ("COS_HALF", cos_half, "cos(θ/2)", "θ²", 2e-17),
    ("SINC_HALF", sinc_half, "sin(θ/2) / θ", "θ²", 2e-17),
]

if __name__ == "__main__":
    print('"""Polynomials behind exp, log and dlog, lowest power first; made by tools/make_coefficients.py.')
    print("\nValid for rotations of at most 0.5 rad. The variable is s = sin²(θ/2), the squared vector part of the")
    print("quaternion, or θ².")
    print('"""\n')
    print(f"S_LIMIT = {float(mp.sin(LIMIT / 2) ** 2)!r}  # s of a rotation of 0.5 rad")
    print(f"SQUARE_LIMIT = {float(LIMIT**2)!r}  # its θ²")
    for name, function, meaning, variable, tolerance in TABLE:
        top = LIMIT**2 if variable == "θ²" else mp.sin(LIMIT / 2) ** 2
        print(f"\n# {meaning}, in {variable}\n{name} = (")
        for c in fit(function, top, tolerance):
            print(f"    {float(c)!r},")
        print(")")
