"""Forces that act between bodies: a model has a tuple of tables, one for each kind of force.

seam.py tells how a kind is taught to the loops; springs, dampers, attractions, magnets and thrusters are such. The
loops call impulses() where they kick, damp() beside it, with_potentials() where they look at the energy, and
take_forces() where they ask for accelerations; without tables nothing is left of any of them in the compiled code.
Gravity and wrenches on every link, and spring, damper and armature of a joint, are no tables: they have files of their
own in the singular.
"""

from .seam import (
    Link, Real, Vector, Whole, element, impulses, set_time, tables, take_forces, taught, with_potentials,
)

__all__ = ["Link", "Real", "Vector", "Whole", "element", "impulses", "set_time", "tables", "take_forces", "taught",
           "with_potentials"]
