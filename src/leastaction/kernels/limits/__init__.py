"""Joint limits and dry friction: inequalities on single joints, whose solution is which joints are locked.

A joint that rests at a limit, or sticks, is a locked joint. In the articulated sweep (sweep.py) a locked joint has
D⁻¹ = 0: it does not move, exactly, its link rides on its parent, and the impulse that holds it comes out of the same
sweep. So no step with limits needs a dense matrix: a set of locked joints is tried in O(n), and exchanged until every
held joint is pushed and no other one approaches (pivots.py).

What is limited is the coordinate of a SCREW joint, or the angle of a BALL joint, which at its limit is locked about one
axis of three (joints/cone.py); coordinates.py has what the two have in common. Dry friction is of SCREW joints only.
"""
