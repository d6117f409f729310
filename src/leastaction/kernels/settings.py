"""The settings of a step, and the statuses that it returns."""

from collections import namedtuple

# guess: see guess.py; method: RIQN, NEWTON, or one of dense_root.py; chord: factor the Jacobian once a step;
# rule, tol: the stopping rule; sure: fraction of tol below which a predicted residual is trusted, and not evaluated;
# retraction: of stiffness.py; implicit: whether a joint has damping or a spring; damped: whether one has damping;
# rescue: whether a failed search is tried again in other ways; max_substeps: into how many parts a step may be
# divided, 1 if there is no rescue
Settings = namedtuple(
    "Settings", "guess method chord rule tol sure max_iterations retraction implicit damped rescue max_substeps"
)

RIQN, NEWTON, DENSE_NEWTON, BROYDEN = 0, 1, 2, 3
DRNEA, SVI = 0, 1  # residuals
SCALED, ABSOLUTE = 0, 1  # stopping rules: √(fᵀM⁻¹f) relative to the motion, or the paper's ‖f‖

# What became of a step: what was the most that it needed …
CONVERGED, FLOOR, STRUGGLED, BACKTRACKED, LOWERED, CONTINUED, SUBSTEPPED = 0, 1, 2, 3, 4, 5, 6
CROWDED = 8  # more happened at joint limits, or by dry friction, than could be followed: limits may be passed a little
# … or why no root was found; then the state is the one before the step
EXHAUSTED, ROTATION, NOT_FINITE, BAD_CONTROL, WRONG_ROOT, UNRESOLVED = -1, -2, -3, -4, -5, -6
TOO_SHORT, TOO_MANY = -7, -8  # of the internal steps of a method that chooses them
SINGULAR = -9  # rows that cannot be eliminated in the order of the plan
