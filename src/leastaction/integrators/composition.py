"""Symmetric compositions: a step of order 4, 6 or 8 as steps of order 2, some of them backwards."""

from math import comb, fsum

import numpy as np

# Half of each symmetric list, the middle one last; the whole sums to 1. HLW is Hairer, Lubich, Wanner, Geometric
# Numerical Integration, section V.3.2.
_HALVES = {
    2: (1.0,),
    # Suzuki 1990 with 9 stages, a = 1/(8 − 8^⅓): none is long, so that whips are resolved where the usual 5 lose energy
    4: (1 / 6, 1 / 6, 1 / 6, 1 / 6, -1 / 3),
    6: (  # Kahan and Li 1997, 9 stages; HLW (3.11)
        0.39216144400731413927925056,
        0.33259913678935943859974864,
        -0.70624617255763935980996482,
        0.08221359629355080023149045,
        0.79854399093482996339895035,
    ),
    8: (  # Kahan and Li 1997, 17 stages; HLW (3.13)
        0.13020248308889008087881763,
        0.56116298177510838456196441,
        -0.38947496264484728640807860,
        0.15884190655515560089621075,
        -0.39590389413323757733623154,
        0.18453964097831570709183254,
        0.25837438768632204729397911,
        0.29501172360931029887096624,
        -0.60550853383003451169892108,
    ),
}
ORDERS = tuple(_HALVES)
HIGHEST = 5  # degree of a polynomial guess


def stages(order: int) -> np.ndarray:
    """Return the step sizes of the composition, as fractions of the whole step."""
    half = _HALVES[order]
    return np.array(half + half[-2::-1])


def guess_weights(fractions: np.ndarray) -> np.ndarray:
    """Weights (stages, 6, 5) of the last increments in the polynomial guess of the next, for every stage and degree.

    A polynomial of degree d through the ends of the last d steps reproduces their increments; its own next increment is
    their combination. Its weights follow from asking that for t, t², …, t^d. They have to be right to the last
    place: what they miss stands in every guess, and the solution of LAPACK misses by 1e-12 on some processors.
    """
    count = len(fractions)
    if count == 1:  # equal steps: 1; 2, −1; 3, −3, 1; …
        return np.array([[[(-1.0) ** j * comb(degree, j + 1) for j in range(HIGHEST)]
                          for degree in range(HIGHEST + 1)]])
    ends = np.concatenate([[0.0], np.cumsum(np.tile(fractions, HIGHEST + 2))])
    weights = np.zeros((count, HIGHEST + 1, HIGHEST))
    for stage in range(count):
        now = (HIGHEST + 1) * count + stage  # enough steps of the same pattern lie behind
        t = ends - ends[now]
        for degree in range(1, HIGHEST + 1):
            if degree > 4:  # stages of several lengths: more of them only add noise
                weights[stage, degree] = weights[stage, 4]
                continue
            powers = np.arange(1, degree + 1)[:, None]
            behind = np.arange(now, now - degree, -1)
            past = t[behind] ** powers - t[behind - 1] ** powers
            weights[stage, degree, :degree] = least_solution(past, t[now + 1] ** powers[:, 0])
    return weights


def least_solution(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Solve a x = b to the last place; of many solutions the least, as stages that go back may end where others did."""
    x = np.zeros(a.shape[1])
    for _ in range(4):  # each takes what the one before has left
        left = [fsum([right, *(-row * x)]) for row, right in zip(a, b, strict=True)]
        x += np.linalg.lstsq(a, np.array(left), rcond=1e-9)[0]
    return x
