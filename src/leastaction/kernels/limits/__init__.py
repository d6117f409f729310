"""Joint limits and dry friction: inequalities on single SCREW joints, whose solution is which joints are locked.

A joint that rests at a limit, or sticks, is a locked joint. In the articulated sweep (sweep.py) a locked joint has
D⁻¹ = 0: it does not move, exactly, its link rides on its parent, and the impulse that holds it comes out of the same
sweep. So no step with limits needs a dense matrix: a set of locked joints is tried in O(n), and exchanged until every
held joint is pushed and no other one approaches (pivots.py).
"""
