"""What every link has, by name: the tables of all quantities, with frame, unit and the symbol of the paper.

``L = link(w, i)`` is link i in the memory w (machine/memory.py); then ``L.arm`` is a vector, and ``L.arm = p`` sets it.
docs/notation.md is printed from these tables. "World" means axes parallel to the world and the origin at the link's
joint, both at t_k.
"""

from collections import namedtuple

from .machine.fields import BLOCKS, LANES, MATRIX, NUMBER, PAIR, QUATERNION, SYMMETRIC, VECTOR, Table


SCREW, BALL, FREE = 0, 1, 2  # kinds of joint …
DOF = (1, 3, 6)  # … and their degrees of freedom

PASSIVE, SPRING = 1, 2  # what a joint has: damping or armature; a spring
# What a link is: the last of its parent's children, which leaves → root is the first; one that has children other than
# the next link
LAST, FORK = 1, 2

# n: number of links; nq, nv: of numbers in q and in v; most: degrees of freedom that a joint has at most; slides: 1 if
# some SCREW joint slides, 0 if all only turn: then the linear parts of their axes are zero, and left out of the work;
# end: address past the last block; of each link: parent: index of the parent (n: the ground); kind: of the joint; iq,
# iv: where its numbers start in q and in v; passive: the sum of what it has, or 0; family: the sum of what the link is,
# or 0; matrices, sides: addresses where the articulated matrices and the sides begin; side: number of its side;
# size: of the memory, in numbers
Tree = namedtuple("Tree", "n nq nv most slides end parent kind iq iv passive family "
                          "matrices sides side size")

# A model as kernels see it. tree; rest: (nq,) configuration at which springs are relaxed; gravity: (3,) world, m/s²;
# elements: forces between bodies, a tuple of tables (elements/)
System = namedtuple("System", "tree rest gravity elements")

# What a simulation works on, all of it owned by one simulation. w: all quantities of all links, see below; q, v:
# configuration and velocity of the node; low (nq): what round-off has kept from q; saved_q, saved_low: of the node
# before the step; history (PAST nv): the last increments of the joints, latest first; p: momentum of a node; f, motion,
# found, straight (nv): scratch
State = namedtuple("State", "w q v low saved_q saved_low history p f motion found straight")

LINK, SIDE = Table("Link"), Table("Side")

# What the model says (set once, in the link's own frame)
LINK.take("base_rotation", QUATERNION, "", "parent", "", "orientation of the joint frame")
LINK.take("base_position", VECTOR, "", "parent", "m", "position of the joint frame")
LINK.take("turn", VECTOR, "", "link", "rad/1", "rotation per unit of q of a SCREW joint: axis, or zero")
LINK.take("slide", VECTOR, "", "link", "m/1", "translation per unit of q of a SCREW joint")
LINK.take("mass", NUMBER, "m", "", "kg", "mass")
LINK.take("com", VECTOR, "", "link", "m", "centre of mass")
LINK.take("inertia", SYMMETRIC, "", "link", "kg m²", "inertia about the centre of mass")
LINK.take("damping", NUMBER, "", "joint", "N m s", "damping of the joint")
LINK.take("stiffness", NUMBER, "", "joint", "N m", "stiffness of the joint's spring")
LINK.take("armature", NUMBER, "", "joint", "kg m²", "inertia that the joint itself adds")
CONSTANTS = LINK.size  # the first so many numbers of a link

# The configuration at t_k, in world axes (kinematics.py)
LINK.take("angle", NUMBER, "q", "joint", "rad, m", "coordinate of a SCREW joint")
LINK.take("local_rotation", QUATERNION, "T", "parent", "", "orientation of the link")
LINK.take("local_position", VECTOR, "T", "parent", "m", "position of the link")
LINK.take("rotation", QUATERNION, "", "world", "", "orientation of the link")
LINK.take("origin", VECTOR, "", "world", "m", "position of the link")
LINK.take("arm", VECTOR, "p", "world", "m", "from the parent's origin to this one")
LINK.take("axis", PAIR, "S", "world", "rad/1, m/1", "axis of a SCREW joint, as a twist")
LINK.take("axis_turn", VECTOR, "", "world", "rad/1", "its angular part", at="axis")
LINK.take("axis_move", VECTOR, "", "world", "m/1", "its linear part", at="axis", after=3)
LINK.take("centre", VECTOR, "", "world", "m", "from the link's origin to its centre of mass")
LINK.take("inertia_world", SYMMETRIC, "", "world", "kg m²", "inertia about the centre of mass")

# The motion from t_k to t_{k+1} (drnea.py)
LINK.take("delta", NUMBER, "Δq", "joint", "rad, m", "increment of a SCREW joint")
LINK.take("joint_rotation", QUATERNION, "", "world", "", "rotation of a BALL or FREE joint over the step")
LINK.take("joint_shift", VECTOR, "", "world", "m", "translation of a FREE joint over the step")
LINK.take("saved_delta", NUMBER, "", "", "", "delta of an iterate to which a line search may come back")
LINK.take("saved_rotation", QUATERNION, "", "", "", "joint_rotation of that iterate")
LINK.take("saved_shift", VECTOR, "", "", "", "joint_shift of that iterate")
LINK.take("dR", QUATERNION, "ΔT", "world", "", "rotation of the link over the step")
LINK.take("d", VECTOR, "ΔT", "world", "m", "displacement of the link's origin over the step")
LINK.take("momentum", PAIR, "μ", "world", "kg m²/s, kg m/s", "momentum carried into the step")
LINK.take("joint_momentum", NUMBER, "", "joint", "kg m²/s", "of the joint: armature, half the forcing")
LINK.take("joint_momentum6", PAIR, "", "link", "kg m²/s", "the same of a BALL or FREE joint", at="joint_momentum")
LINK.take("node_momentum", PAIR, "", "world", "", "momentum at the last node")
LINK.take("node_joint_momentum", NUMBER, "", "", "", "joint_momentum at the last node")
LINK.take("node_joint_momentum6", PAIR, "", "", "", "the same of a BALL or FREE joint", at="node_joint_momentum")
LINK.take("push", PAIR, "F", "link", "N m, N", "external wrench")
LINK.take("pushed", NUMBER, "", "", "", "1 if there may be an external wrench")

# Joint-space quantities, up to six numbers a joint
LINK.take("tau", NUMBER, "−Q", "joint", "N m s", "right-hand side at the joint")
LINK.take("tau3", VECTOR, "", "world", "N m s", "the same of a BALL joint", at="tau")
LINK.take("tau6", PAIR, "", "world", "N m s", "the same of a FREE joint", at="tau")
LINK.take("x", NUMBER, "", "joint", "rad", "solution at the joint")
LINK.take("x3", VECTOR, "", "world", "rad", "the same of a BALL joint", at="x")
LINK.take("x6", PAIR, "", "world", "rad, m", "the same of a FREE joint", at="x")
LINK.take("psi", NUMBER, "", "joint", "rad", "deflection of the joint's spring at t_k")
LINK.take("psi6", PAIR, "", "link, world", "rad, m", "of a BALL or FREE joint: rotation, translation", at="psi")

# Recursions (rnea.py, sweep.py)
LINK.take("wrench", PAIR, "F", "world", "N m s, N s", "in DRNEA μ, less what was carried into the step")
LINK.take("screw_rotation", QUATERNION, "", "world", "", "before: rotation of a SCREW joint", at="wrench")
LINK.take("answer", PAIR, "ζ", "world", "rad, m", "motion of the link that a solve gives, or its acceleration")
LINK.take("children", PAIR, "", "world", "N m s, N s", "while a solve goes up: wrenches of the children", at="answer")

# The factored matrix: of the mass matrix, or of Newton's Jacobian (sweep.py)
LINK.take("K", BLOCKS, "K", "world", "kg m²/s", "stiffness of the link itself")
for _name, _after in (("K11", 0), ("K12", 9), ("K21", 18), ("K22", 27)):
    LINK.take(_name, MATRIX, _name, "world", "", "block of K", at="K", after=_after)
LINK.take("column", PAIR, "Â S⁺", "world", "", "of a SCREW joint, about the parent's origin")
LINK.take("row", PAIR, "Sᵀ Â", "world", "", "of a SCREW joint, about the parent's origin")
LINK.take("twist", PAIR, "V", "world", "rad/s, m/s", "velocity of the link, when no Jacobian is factored", at="row")
LINK.take("axis_after", PAIR, "S⁺", "world", "rad/1, m/1", "axis of a SCREW joint, moved by ΔT")
LINK.take("lever", VECTOR, "d", "world", "m", "of a BALL joint: S⁺ ζ = (ζ, d × ζ)", at="axis_after")
LINK.take("inverse", NUMBER, "D⁻¹", "joint", "", "inverse of the pivot Sᵀ Â S⁺ of a SCREW joint")
LINK.take("inverse3", MATRIX, "D⁻¹", "world", "", "the same of a BALL joint", at="inverse")

SIDE.take("E", BLOCKS, "", "world", "", "derivative of the joint's own residual, of a BALL or FREE joint")
ARTICULATED = Table("Articulated")
for _name in ("A11", "A12", "A21", "A22"):
    ARTICULATED.take(_name, MATRIX, _name, "world", "", "block of Â")
ARTICULATED.take("matrix", BLOCKS, "Â", "world", "kg m²/s", "articulated matrix of a link", at="A11")
ROWS = 12 * LANES  # numbers of an articulated matrix of packed rows (matrix6.py)

# A right-hand side and its solution, of four systems with one matrix (sweep.py); of one they are in the link
RIGHT = Table("Right")
for _name, _shape, _at in (
        ("wrench", PAIR, None), ("answer", PAIR, None), ("children", PAIR, "answer"),
        ("tau", NUMBER, None), ("tau3", VECTOR, "tau"), ("tau6", PAIR, "tau"),
        ("x", NUMBER, None), ("x3", VECTOR, "x"), ("x6", PAIR, "x")):
    RIGHT.take(_name, _shape, at=_at)
