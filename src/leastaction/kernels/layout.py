"""What every link has, by name: the tables of all quantities, with frame, unit and the symbol of the paper.

``L = link(w, i)`` is link i in the memory w (machine/memory.py); then ``L.arm`` is a vector, and ``L.arm = p`` sets it.
docs/notation.md is printed from these tables. "World" means axes parallel to the world and the origin at the link's
joint, both at t_k.
"""

from collections import namedtuple

from .machine.fields import BLOCKS, LANES, MATRIX, NUMBER, PAIR, QUATERNION, SYMMETRIC, VECTOR, Table

KINDS = {  # of joint, by their files in joints/, with the degrees of freedom of each
    "screw": 1,
    "ball": 3,
    "free": 6,
}
SCREW, BALL, FREE = 0, 1, 2
DOF: tuple[int, ...] = tuple(KINDS.values())

PAST = 5  # increments that are remembered; with a sixth the guess amplifies more round-off than it foresees motion
STAGES = 17  # of a composed step, at most
WEIGHTS = (PAST + 1) * STAGES  # of the guesses of a step
EXTREMES = 16  # numbers that record.py follows
LEDGER = 6  # entries of its ledger

# What a joint has: damping or armature; a spring; damping; a servo; torsion apart from bending
PASSIVE, SPRING, DAMPED, SERVO, TORSION = 1, 2, 4, 8, 16
# What a link is: the last of its parent's children, which leaves → root is the first; one that has children other than
# the next link
LAST, FORK = 1, 2

# n: number of links; nq, nv: of numbers in q and in v; most: degrees of freedom that a joint has at most; slides: 1 if
# some SCREW joint slides, 0 if all only turn: then the linear parts of their axes are zero, and left out of the work;
# locks: 1 if limits or dry friction may lock some joint, else 0;
# end: address past the last block; matrices, sides: addresses where the articulated matrices and the sides begin; size:
# of the memory, in numbers; of each link: parent: index of the parent (n: the ground); kind: of the joint; iq,
# iv: where its numbers start in q and in v; passive: the sum of what it has, or 0; family: the sum of what the link is,
# or 0; side: number of its side
Tree = namedtuple("Tree", "n nq nv most slides locks end matrices sides size parent kind iq iv passive family side")
WHOLE = 10  # of these, the first so many are single numbers

# A model as kernels see it. tree; rest: (nq,) configuration at which springs are relaxed; gravity: (3,) world, m/s²;
# elements: forces between bodies, a tuple of tables (elements/)
System = namedtuple("System", "tree rest gravity elements")

# What a simulation works on; in lanes (lanes.py) four simulations, each number being four. Python gives it as one
# array, in which memory.sizes() tells where each part begins.
# - w: all quantities of all links, see below; q, v, p: configuration, velocity and momentum of the node; low (nq): what
#   round-off has kept from q; history (PAST nv): the last increments of the joints, latest first
# - saved_q, saved_low: of the node before the step
# - held (nv): joint forces that act
# - locks, slip (nv), impulse (3 nv), where the tree has locks: what holds each joint, how it slips, and the impulses of
#   limits and of dry friction since the last kept node, then of all locked joints in the step (limits/)
# - ledger, saved_ledger: energy that has left the mechanism so far, by the columns of record.py, J; before the step
# - twice, energy, total (6): twice the kinetic energy, the energy and the momentum of the last node that was looked at;
#   extremes: see record.py
# - made: steps of the run so far; known: increments in the history
# - factored, forced, alive: 1 if the mass matrix of the node is factored, if joint forces act, and if the simulation
#   goes on, else 0; scale: what gravity adds to the scale of a residual
# - weights: of the guesses of all stages of a step
# - f, motion, found, straight (nv), aside (as extremes): scratch
# - gravity (3), factors: in lanes, gravity of each simulation, and room for Jacobians
State = namedtuple("State", "w q v p low saved_q saved_low history held locks slip impulse ledger saved_ledger twice "
                            "energy total extremes made known "
                            "factored forced alive scale weights f motion found straight aside gravity factors")
SCRATCH = ("scale", "weights", "f", "motion", "found", "straight", "aside", "gravity", "factors")  # set by every call

# What pushes during a call of the loop. control: a law (control.py) that gives joint forces at the node with the arrays
# q and v, or None; tau (R, nv): joint forces, and wrench (R, n, 6): wrenches on links in their own frames; R = 0: none,
# R = 1: the same for all steps, else a row for every step of the run from step ``origin`` of the clock on; command
# (R, 2 ns): likewise the targets of the servos, then their rates; R = 0: the servos are off
Forces = namedtuple("Forces", "control q v tau wrench command")

# Degrees of freedom with a servo, ns of them in the order of their links. link (ns,): index of the link; kp (ns,), N m
# or N/m; kd (ns,), N m s or N s/m; effort (ns,), N m or N, infinite for no bound
Servos = namedtuple("Servos", "link kp kd effort")

# A step: from the configuration q to q_next in the time h, by a retraction of stiffness.py
Way = namedtuple("Way", "q q_next h retraction")

# Joint forces that act now: whether there are any, and tau (nv)
Held = namedtuple("Held", "acts tau")

# h: time step, s; first, steps: number of the first step to make, and of steps; every: which nodes to keep; origin: the
# step whose results are in the first row of the record, before which there are ``head`` rows; given: what to set up the
# node by, or READY
Clock = namedtuple("Clock", "h first steps every origin head given")
READY, V, P, CARRIED = -1, 0, 1, 2  # a node that is set up; one given by (q, v), by (q, p), by q and the links' momenta

# What became of a step: evaluations of the residual, the residual, a status of settings.py, the joint to blame if there
# is no root, the least cos(θ/2) of a link's rotation, and the energy of the joints' springs at the new node
Made = namedtuple("Made", "evaluations residual status blamed least springs")

LINK = Table("Link")  # of every link, and of the ground
SIDE = Table("Side")  # of links with a BALL or FREE joint only
ARTICULATED = Table("Articulated")  # of every link; where SIMD serves one link, in packed rows (machine/matrix6.py)
RIGHT = Table("Right")  # right-hand sides of four systems with one matrix; of one system they are in the link

LINK.part("What the model says, set once by compiled.py")
LINK.take("base_rotation", QUATERNION, "T_{λ,i} at q = 0", "parent", "", "orientation of the joint frame")
LINK.take("base_position", VECTOR, "T_{λ,i} at q = 0", "parent", "m", "position of the joint frame")
LINK.take("turn", VECTOR, "S_i", "link", "rad", "rotation per unit of q of a SCREW joint: its axis, or zero; of a "
          "BALL joint the axis of its torsion")
LINK.take("slide", VECTOR, "S_i", "link", "m", "translation per unit of q of a SCREW joint")
LINK.take("mass", NUMBER, "G_i", "", "kg", "")
LINK.take("com", VECTOR, "G_i", "link", "m", "centre of mass")
LINK.take("inertia", SYMMETRIC, "G_i", "link", "kg m²", "about the centre of mass: xx yy zz xy xz yz")
LINK.take("damping", NUMBER, "", "joint", "N m s, N s/m", "as the step has it: with what elements/lookahead.py adds")
LINK.take("stiffness", NUMBER, "", "joint", "N m, N/m", "of the joint's spring")
LINK.take("armature", NUMBER, "", "joint", "kg m², kg", "inertia that the joint itself has, with what "
          "elements/lookahead.py adds")
LINK.take("own_damping", NUMBER, "", "joint", "N m s, N s/m", "what the model says")
LINK.take("own_armature", NUMBER, "", "joint", "kg m², kg", "what the model says")
LINK.take("servo_kp", NUMBER, "", "joint", "N m, N/m", "of the servo of a SCREW joint: force per deflection")
LINK.take("torsion", NUMBER, "κ", "joint", "N m", "of a BALL joint: stiffness about `turn` beyond the other",
          at="servo_kp")
LINK.take("servo_kd", NUMBER, "", "joint", "N m s, N s/m", "force per rate")
LINK.take("cone", NUMBER, "", "joint", "rad", "of a BALL joint: angle that it may turn by; 0 if any", at="servo_kd")
LINK.take("servo_effort", NUMBER, "", "joint", "N m, N", "largest force")
CONSTANTS = LINK.size  # the first so many numbers of a link

LINK.part("The configuration at t_k, set by kinematics.py")
LINK.take("angle", NUMBER, "q_i", "joint", "rad, m", "coordinate of a SCREW joint")
LINK.take("local_rotation", QUATERNION, "T_{λ,i}", "parent", "", "orientation of the link")
LINK.take("local_position", VECTOR, "T_{λ,i}", "parent", "m", "position of the link")
LINK.take("rotation", QUATERNION, "T_i", "world", "", "orientation of the link")
LINK.take("origin", VECTOR, "T_i", "world", "m", "position of the link")
LINK.take("arm", VECTOR, "p_i", "world", "m", "from the parent's origin to this one")
LINK.take("axis", PAIR, "S_i", "world", "rad, m", "axis of a SCREW joint")
LINK.take("axis_turn", VECTOR, "", "world", "rad", "its angular part", at="axis")
LINK.take("axis_move", VECTOR, "", "world", "m", "its linear part", at="axis", after=3)
LINK.take("centre", VECTOR, "G_i", "world", "m", "from the link's origin to its centre of mass")
LINK.take("inertia_world", SYMMETRIC, "G_i", "world", "kg m²", "about the centre of mass")

LINK.part("The motion from t_k to t_{k+1}, set by joints/ and drnea.py")
LINK.take("delta", NUMBER, "Δq_i", "joint", "rad, m", "increment of a SCREW joint")
LINK.take("joint_rotation", QUATERNION, "", "world", "", "rotation of a BALL or FREE joint over the step")
LINK.take("joint_shift", VECTOR, "", "world", "m", "translation of a FREE joint over the step")
LINK.take("saved_delta", NUMBER, "", "joint", "rad, m", "of an iterate that a line search may come back to")
LINK.take("saved_rotation", QUATERNION, "", "world", "", "of such an iterate, of a BALL or FREE joint")
LINK.take("saved_shift", VECTOR, "", "world", "m", "of such an iterate, of a FREE joint")
LINK.take("dR", QUATERNION, "ΔT_i", "world", "", "rotation of the link over the step")
LINK.take("d", VECTOR, "ΔT_i", "world", "m", "displacement of the link's origin over the step")
LINK.take("momentum", PAIR, "[Ad]ᵀ μ_i^{k−1} + F_i^ext", "world", "N m s, N s", "carried into the step")
LINK.take("momentum_low", VECTOR, "", "world", "N s", "what rounding has kept from its linear part (gravity.py)")
LINK.take("joint_momentum", NUMBER, "Q_i", "joint", "N m s, N s", "of the joint: armature, and half of the forcing")
LINK.take("joint_momentum6", PAIR, "Q_i", "link", "N m s, N s", "the same of a BALL or FREE joint", at="joint_momentum")
LINK.take("node_momentum", PAIR, "", "world", "N m s, N s", "at the node that a failed step comes back to")
LINK.take("node_momentum_low", VECTOR, "", "world", "N s", "what rounding has kept from its linear part")
LINK.take("node_joint_momentum", NUMBER, "", "joint", "N m s, N s", "of a SCREW joint at that node")
LINK.take("node_joint_momentum6", PAIR, "", "link", "N m s, N s", "of a BALL or FREE joint at that node",
          at="node_joint_momentum")
LINK.take("push", PAIR, "F_i^ext", "link", "N m, N", "external wrench")
LINK.take("pushed", NUMBER, "", "", "", "1 if there may be an external wrench")
LINK.take("free", NUMBER, "", "joint", "", "0 if a SCREW joint is locked, or a BALL joint along one axis, else 1")
LINK.take("servo", NUMBER, "", "", "", "1 if the servo is on, else 0")
LINK.take("servo_lookahead", NUMBER, "σ", "joint", "s", "how far ahead its force is seen (elements/servo.py)")
LINK.take("servo_late", NUMBER, "", "joint", "s", "how much later than in the middle of the step it sees q")
LINK.take("torsion_lead", NUMBER, "σ", "joint", "s", "how far ahead the torsion of a BALL joint is seen",
          at="servo_lookahead")
LINK.take("torsion_late", NUMBER, "θ − ½", "joint", "", "how late in the step it acts, over 2σ/h", at="servo_late")
LINK.take("servo_inertia", NUMBER, "", "joint", "kg m², kg", "that it moves")
LINK.take("servo_span", NUMBER, "h", "", "s", "the step that it acts in")
LINK.take("target", NUMBER, "", "joint", "rad, m", "that the servo is commanded")
LINK.take("rate", NUMBER, "", "joint", "rad/s, m/s", "that the servo is commanded")
LINK.take("cone_rate", NUMBER, "", "joint", "rad/s", "of a BALL joint that is held: rate that its angle is to have",
          at="rate")
LINK.take("asked", NUMBER, "", "joint", "N m, N", "force of the servo, before it is bounded")
LINK.take("miss", NUMBER, "", "joint", "rad/s", "rate, or acceleration, that its angle lacks: see joints/cone.py",
          at="asked")
LINK.take("exerted", NUMBER, "", "joint", "N m, N", "in the last step, bounded")

LINK.part("Of the ground alone, which has no joint: the time, for elements; set by elements/seam.py")
LINK.take("time", NUMBER, "t", "", "s", "when the next impulse begins", at="damping")
LINK.take("span", NUMBER, "", "", "s", "how long it is; zero for the force of an instant", at="stiffness")

LINK.part("Of the joints, set by joints/")
LINK.take("tau", NUMBER, "", "joint", "N m s, N s", "right-hand side of a SCREW joint: its momentum, less "
          "what armature, damping and spring take at t_k")
LINK.take("tau3", VECTOR, "", "world", "N m s", "of a BALL joint", at="tau")
LINK.take("tau6", PAIR, "", "world", "N m s, N s", "of a FREE joint", at="tau")
LINK.take("x", NUMBER, "", "joint", "rad, m", "solution of a SCREW joint")
LINK.take("x3", VECTOR, "", "world", "rad", "of a BALL joint", at="x")
LINK.take("x6", PAIR, "", "world", "rad, m", "of a FREE joint", at="x")
LINK.take("hold", NUMBER, "u", "joint", "N m s, N s", "what a locked joint resists", at="tau", after=4)
LINK.take("pivot", NUMBER, "D", "joint", "", "of a SCREW joint that may be locked; of a BALL joint along "
          "the axis that it is held along", at="x", after=4)
LINK.take("psi", NUMBER, "", "joint", "rad, m", "deflection of a SCREW joint's spring at t_k")
LINK.take("psi6", PAIR, "", "link, world", "rad, m", "of a BALL or FREE joint: rotation, translation", at="psi")
LINK.take("lookahead", NUMBER, "σ", "joint", "s", "how far ahead damper and spring are seen (elements/lookahead.py)")
LINK.take("lookaheads", PAIR, "σ", "link", "s", "the same of a BALL or FREE joint, axis by axis", at="lookahead")
LINK.take("late", NUMBER, "θ − ½", "joint", "", "how late in the step the spring acts, over 2σ/h")

LINK.part("Recursions: rnea.py, drnea.py, sweep.py")
LINK.take("wrench", PAIR, "F_i", "world", "N m s, N s", "in DRNEA μ_i, less what was carried in; without children")
LINK.take("screw_rotation", QUATERNION, "", "world", "", "before that: rotation of a SCREW joint", at="wrench")
LINK.take("answer", PAIR, "ζ_i", "world", "rad, m", "motion of the link that a solve gives; an acceleration in RNEA")
LINK.take("children", PAIR, "Σ F_c", "world", "N m s, N s", "on the way up: of children but the next link", at="answer")

LINK.part("A factored matrix, set by sweep.py")
LINK.take("K", BLOCKS, "∂μ_i/∂ζ_i", "world", "N m s, N s", "stiffness of the link itself")
for _name, _after in (("K11", 0), ("K12", 9), ("K21", 18), ("K22", 27)):
    LINK.take(_name, MATRIX, "", "world", "", "block of K", at="K", after=_after)
LINK.take("column", PAIR, "Â S⁺", "world", "", "of a SCREW joint, about the parent's origin; of a BALL joint that "
          "is held, what takes the parent's motion to the impulse that holds it")
LINK.take("row", PAIR, "Sᵀ Â", "world", "", "of a SCREW joint, about the parent's origin; of Newton's matrix")
LINK.take("twist", PAIR, "V_i", "world", "rad/s, m/s", "velocity, while no Jacobian is factored", at="row")
LINK.take("axis_after", PAIR, "S⁺ = Ad_{ΔT_i} S_i", "world", "rad, m", "axis of a SCREW joint after the step")
LINK.take("lever", VECTOR, "S⁺", "world", "m", "of a BALL joint: S⁺ ζ = (ζ, lever × ζ)", at="axis_after")
LINK.take("inverse", NUMBER, "D⁻¹", "joint", "", "of the pivot D = Sᵀ Â S⁺ + e of a SCREW joint")
LINK.take("inverse3", MATRIX, "D⁻¹", "world", "", "of a BALL joint", at="inverse")
LINK.take("servo_pivot", NUMBER, "", "joint", "", "what a servo has added to D", at="inverse", after=1)

SIDE.part("Of BALL and FREE joints only")
SIDE.take("E", BLOCKS, "e", "world", "", "derivative of the joint's own residual: armature, damping, spring")
SIDE.take("hold_axis", VECTOR, "n₀", "world", "", "of a BALL joint that is held: its axis at t_k")
SIDE.take("give", VECTOR, "g", "world", "", "of such a joint: D⁻¹ n₀ / (rᵀ n₀), see joints/cone.py")
SIDE.take("take", VECTOR, "r", "world", "", "of such a joint: r over rᵀ n₀, see joints/cone.py")
SIDE.take("span", NUMBER, "", "", "s", "of such a joint: time in which it makes up for ``miss``; 1 at a node")

ARTICULATED.part("Articulated matrices, set by sweep.py")
for _name in ("A11", "A12", "A21", "A22"):
    ARTICULATED.take(_name, MATRIX, "", "world", "", "block of Â")
ARTICULATED.take("matrix", BLOCKS, "Â_i", "world", "kg m²/s", "of a FREE joint, once factored: D⁻¹", at="A11")
ROWS = 12 * LANES  # numbers of an articulated matrix in packed rows

for _name, _shape, _at in (
        ("wrench", PAIR, None), ("answer", PAIR, None), ("children", PAIR, "answer"),
        ("tau", NUMBER, None), ("tau3", VECTOR, "tau"), ("tau6", PAIR, "tau"),
        ("x", NUMBER, None), ("x3", VECTOR, "x"), ("x6", PAIR, "x")):
    RIGHT.take(_name, _shape, at=_at)
RIGHT.take("hold", NUMBER, at="tau", after=4)
