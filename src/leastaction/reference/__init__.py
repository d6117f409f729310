"""The integrator in plain NumPy, to be read: Algorithms 1 to 4 of the paper, and Newton's method in O(n).

Lee, Liu, Park and Srinivasa, *A Linear-Time Variational Integrator for Multibody Systems*, WAFR 2016. Symbols, frames
and numbers of equations are the paper's; a comment such as ``Alg. 2, line 8`` names the line that a line of code is.
Read in this order, one screen each:

1. ``drnea.py``: Algorithm 2, the equation that a step solves, and what a step begins with (`State`);
2. ``root.py``: Algorithms 1 and 3, the search for its root, and `step`;
3. ``sweep.py``: the one recursion by which both Newton's method and RIQN find their updates in O(n);
4. ``drnea_derivative.py``: Algorithm 4, and K, from which the sweep builds the same derivative;
5. ``guess.py``, ``retractions.py``, ``joints.py``, ``links.py``, ``passive.py``, ``lie.py``: what these rest on.

The package imports the description of models and NumPy, nothing else; the compiled kernels are tested against it. It
has all joints, springs, dampers, armature, joint forces and wrenches. It leaves out what makes a run robust or fast:
orders above two, guesses by extrapolation, the chord form of Newton's method, the rescue of hard steps, the scaled
stopping rule and compensated sums.
"""

from .drnea import State, drnea, end_of_step, generalized_momentum, start
from .drnea_derivative import drnea_derivative, mass_system, newton_system
from .guess import acceleration, initial_guess, rnea
from .links import difference, increment
from .root import find_root, step, velocity
from .sweep import Factors, System, factor, solve

__all__ = [
    "Factors",
    "State",
    "System",
    "acceleration",
    "difference",
    "drnea",
    "drnea_derivative",
    "end_of_step",
    "factor",
    "find_root",
    "generalized_momentum",
    "increment",
    "initial_guess",
    "mass_system",
    "newton_system",
    "rnea",
    "solve",
    "start",
    "step",
    "velocity",
]
