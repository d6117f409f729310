"""Forces that act between bodies: a model has a tuple of tables, one for each kind of force.

seam.py tells how a kind is taught to the loops, springs.py is one. The loops call impulses() where they kick, and
with_potentials() where they look at the energy; without tables nothing is left of either in the compiled code.
"""

from .seam import Link, Real, Whole, element, impulses, tables, taught, with_potentials

__all__ = ["Link", "Real", "Whole", "element", "impulses", "tables", "taught", "with_potentials"]
