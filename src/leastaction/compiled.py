"""From a Model to the arrays that the kernels read.

Fixed joints are gone (their bodies ride on the nearest moving one), and joints of several parts have become chains
through massless links: what is left is a tree of links whose joints are screws, balls or free.

The file is long, as it has both the arrays and how they are filled: who adds an array needs both.
"""

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any
from weakref import finalize

import numpy as np

from leastaction.arguments import shown
from leastaction.compiled_rows import rows_of
from leastaction.constraint_plan import Numbers, Plan, common_ancestors, plan
from leastaction.errors import ModelError
from leastaction.kernels import elements, layout
from leastaction.kernels.constraints import queries
from leastaction.kernels.constraints.closed import Closed
from leastaction.kernels.constraints.rows import Rows, chosen, room_for
from leastaction.kernels.layout import LANES, LINK, Servos, State, System, Tree
from leastaction.kernels.machine import memory
from leastaction.kernels.machine.jit import bound
from leastaction.model import Model, merge_fixed
from leastaction.model.arrays import product, rotated
from leastaction.model.joint import Part
from leastaction.model.unhonoured import FRICTION, LIMITS
from leastaction.tables import Places, screws, tables


def zeros(count: int) -> np.ndarray:
    """Return `count` zeros aligned to a cache line, so that no group of four straddles two lines."""
    room = np.zeros(count + 8)
    first = -room.__array_interface__["data"][0] // 8 % 8
    return room[first : first + count]


@dataclass(frozen=True, eq=False)
class Compiled:
    """The arrays of a model.

    Attributes
    ----------
    tree : parent, kind, offsets in q and v, passive flag of every link, parents first
    constants : (n, rows) what the model says of each link, in the order of kernels/layout.py
    rest : (nq,) configuration at which the springs are relaxed
    gravity : (gx, gy, gz) world frame, m/s²
    body_of_link : (n,) index of the body whose joint moves the link
    nq_of_link : (n,) how many numbers of q its joint has
    link_of_body : (nb,) index of the link that carries the body; n, the ground, when none does
    body_position, body_quaternion : (nb, 3), (nb, 4) pose of the body in the frame of that link
    ground_first_moment : (3,) mass times centre of mass of what is fixed to the ground, world frame, kg m
    ground_energy : its potential energy, J
    stiff : whether any joint has a spring, damping or a servo
    damped : whether any joint has damping, also that of a servo
    elements : forces between bodies, a tuple of tables as kernels/elements takes them
    servos : the degrees of freedom with a servo
    rows : of loops and couplings, as kernels/constraints takes them; None if there are none
    force_rows : of every force, in how many rows of which kind of table it is
    driven : whether a servo or some force between bodies changes the energy
    limits : (m, 6) what kernels/limits reads of each joint with limits or dry friction that act
    """

    tree: Tree
    constants: np.ndarray
    rest: np.ndarray
    gravity: tuple[float, float, float]
    body_of_link: np.ndarray
    nq_of_link: np.ndarray
    link_of_body: np.ndarray
    body_position: np.ndarray
    body_quaternion: np.ndarray
    ground_first_moment: np.ndarray
    ground_energy: float
    stiff: bool
    damped: bool
    nq: int
    nv: int
    elements: tuple[Any, ...]
    servos: Servos
    rows: Rows | None
    force_rows: list[dict[str, int]]
    driven: bool
    limits: np.ndarray

    @cached_property
    def system(self) -> System:
        """The model as kernels take it: tree, rest configuration, gravity, forces between bodies."""
        return System(memory.packed(self.tree), self.rest, self.gravity, self.elements)

    @cached_property
    def plan(self) -> Plan:
        """The order in which joints and rows are eliminated; only of a model with rows."""
        # Not at q0, which may change: the order decides the bits of a run
        somewhere = (self._somewhere(0, *CURLED), self._side_by_side())
        return plan(self.tree, self.acting_rows, map(self._numbers, somewhere))

    def plan_at(self, q: np.ndarray) -> Plan:
        """Return an order that serves at the configuration q (nq,), where that of `plan` may not."""
        return plan(self.tree, self.acting_rows, [self._numbers(q)])

    def closed(self) -> Closed | None:
        """Return what the kernels take of the rows, with fresh memory; None of a model without rows."""
        return None if self.rows is None else self.plan.closed(self.acting_rows)

    @cached_property
    def acting(self) -> np.ndarray:
        """Numbers of the rows that some joint can change, as seen in two configurations without any symmetry.

        The others, as those that keep a planar mechanism in its plane, say nothing: the kernels are not given them.
        """
        assert self.rows is not None
        ancestor = common_ancestors(self.tree, self.rows)
        zero_rows = np.ones(len(self.rows.kind), dtype=bool)
        for seed in range(2):
            found = room_for(self.tree, self.rows)
            queries.greatest_change(self.system.tree, self.workspace(), self.rows, self._somewhere(seed, *CURLED),
                                    ancestor, found)
            zero_rows &= found.rate < ZERO_ROW
        return np.flatnonzero(~zero_rows)

    @cached_property
    def acting_rows(self) -> Rows:
        """The rows that some joint can change, as the kernels take them; only of a model with rows."""
        assert self.rows is not None
        rows: Rows = chosen(self.rows, self.acting)
        return rows

    @property
    def idle(self) -> int:
        """How many rows do not act."""
        return 0 if self.rows is None else len(self.rows.kind) - len(self.acting)

    def of_all_rows(self, acting: np.ndarray) -> np.ndarray:
        """Return numbers of all rows (m,), given those of the rows that act; of the others they are zero."""
        assert self.rows is not None
        found = np.zeros(len(self.rows.kind))
        found[self.acting] = acting
        return found

    def _somewhere(self, seed: int, least: float, most: float) -> np.ndarray:
        """Return a configuration (nq,) between two distances from the neutral one, which has no symmetry."""
        return self._configuration(np.random.default_rng(seed).uniform(least, most, size=self.nq))

    def _side_by_side(self) -> np.ndarray:
        """Return a configuration (nq,) in which chains stay beside each other, so that no loop is far from closed.

        Links are turned by what belongs to their depth, and a little by themselves.
        """
        rng, tree = np.random.default_rng(0), self.tree
        q, depth = np.zeros(self.nq), np.zeros(tree.n + 1, dtype=int)
        for i in range(tree.n):
            depth[i] = depth[tree.parent[i]] + 1  # that of the ground, n, is 0
        turned = rng.uniform(-TOGETHER, TOGETHER, size=(depth.max() + 1, 7))[depth]
        turned += rng.uniform(-ALONE, ALONE, size=turned.shape)
        for i in range(tree.n):
            size = self.nq_of_link[i]
            q[tree.iq[i] : tree.iq[i] + size] = (turned[i] - turned[tree.parent[i]])[:size]
        return self._configuration(q)

    def _configuration(self, q: np.ndarray) -> np.ndarray:
        """Return q (nq,), which is near zero, as distances from the neutral configuration.

        The last four numbers of a joint that has so many are its quaternion.
        """
        for i in np.flatnonzero(self.nq_of_link >= 4):
            first = self.tree.iq[i] + self.nq_of_link[i] - 4
            q[first] += 1.0
            q[first : first + 4] /= np.linalg.norm(q[first : first + 4])
        return q

    def _numbers(self, q: np.ndarray) -> Numbers:
        """Return what the plan needs to know of a configuration."""
        rows = self.acting_rows
        n, m, w, found = self.tree.n, len(rows.kind), self.workspace(), room_for(self.tree, rows)
        queries.values(self.system.tree, w, rows, q, found)
        links = [memory.python_link(w, i) for i in range(n)]
        return Numbers(np.array([spatial_inertia(link) for link in links]),
                       np.array([link.axis for link in links]).reshape(n, 6), np.array([link.arm for link in links]),
                       self.constants[:, LINK.rows("armature").start], found.Ca.reshape(m, 6), found.Cb.reshape(m, 6),
                       frozenset(self.limits[:, 0].astype(int).tolist()))

    def workspace(self) -> np.ndarray:
        """Return fresh memory for the kernels: blocks of four links with their constants, and identity rotations."""
        w = zeros(self.tree.size)
        self._fill(w)
        return w

    def lend(self, use: str) -> np.ndarray:
        """Return a workspace that `take_back` has stored for this `use`, or a fresh one; it is safe in threads."""
        try:
            return self._spare[use].pop()
        except (KeyError, IndexError):
            return self.workspace()

    def take_back(self, use: str, w: np.ndarray) -> None:
        """Store a workspace for the next call of `lend` with this `use`."""
        self._spare.setdefault(use, []).append(w)

    def bound(self, entry: Any, *arguments: Any) -> Any:
        """Return the machine code of an entry (kernels/machine/jit.py) for such arguments, the same for every call."""
        try:
            return self._bound[entry]
        except KeyError:
            return self._bound.setdefault(entry, bound(entry, *arguments))

    @cached_property
    def no_wrench(self) -> np.ndarray:
        """Wrenches on all links (n, 6), zero, to be read only."""
        return np.zeros((self.tree.n, 6))

    @cached_property
    def _bound(self) -> dict[Any, Any]:
        return {}

    @cached_property
    def _spare(self) -> dict[str, list[np.ndarray]]:
        return {}

    def _fill(self, w: np.ndarray) -> None:
        rows = w[: self.tree.end].reshape(-1, memory.BLOCK // LANES, LANES)
        for name in ("rotation", "dR", "joint_rotation", "free"):
            rows[:, LINK.rows(name).start] = 1.0
        rows[:, : layout.CONSTANTS] = self._constant_rows

    def with_numbers(self, **numbers: Any) -> "Compiled":
        """Return these arrays with the given fields replaced; `dataclasses.replace` takes three times as long."""
        other = object.__new__(Compiled)
        other.__dict__.update({name: value for name, value in self.__dict__.items() if name in _FIELDS} | numbers)
        return other

    @cached_property
    def structure(self) -> bytes:
        """What simulations in lanes share: the kernels read it once for all, so it must be equal for all of them."""
        tree = (part.tobytes() if isinstance(part, np.ndarray) else str(part).encode() for part in self.tree)
        forces = (column.tobytes() for table in self.elements for column in table)
        rows = (column.tobytes() for column in self.rows or ())
        flags = b"%d%d%d" % (self.stiff, self.damped, self.driven)
        return b"|".join((*tree, self.rest.tobytes(), flags, *forces, *rows))

    @cached_property
    def _constant_rows(self) -> np.ndarray:
        """The constants in the layout of the kernels' memory: (blocks, rows, 4)."""
        blocks = memory.blocks(self.tree.n)
        padded = np.zeros((LANES * blocks, layout.CONSTANTS))
        padded[:, LINK.rows("base_rotation").start] = 1.0
        padded[: self.tree.n] = self.constants
        return padded.reshape(blocks, LANES, -1).swapaxes(1, 2).copy()

    def room(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, State]:
        """Return the memory of a new simulation that starts at a copy of (q, v), and the parts of that memory."""
        room = zeros(sum(memory.sizes(self.tree, 1)))
        state = memory.parts(room, self.tree, 1)
        self._fill(state.w)
        state.q[:], state.v[:], state.alive[:] = q, v, 1.0
        return room, state


def spatial_inertia(link: Any) -> np.ndarray:
    """Return the inertia (6, 6) of a link about its origin, world axes."""
    xx, yy, zz, xy, xz, yz = link.inertia_world
    x, y, z = link.centre
    c = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    first = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) - link.mass * c @ c
    return np.block([[first, link.mass * c], [-link.mass * c, link.mass * np.eye(3)]])


CLEAR = 1e-3  # of the range of a ball, from its limit: nearer to it the kernels compute the angle
# Configurations in which rows are tried, rad or m from neutral. CURLED: no joint is straight, and a chain curls up.
# Or side by side: how far links turn with all others of their depth, and alone
CURLED, TOGETHER, ALONE = (0.3, 1.2), 0.3, 0.05
ZERO_ROW = 1e-12  # change of a row by a joint, relative to its wrench, below which no joint changes it
_FIELDS = {field.name for field in fields(Compiled)}
# By the id of a model that is alive: the revisions of the model and of the kinds of forces, and the arrays
_cache: dict[int, tuple[tuple[int, int], Compiled]] = {}


def require_model(model: object) -> None:
    """Raise a TypeError unless this is a model."""
    if not isinstance(model, Model):
        raise TypeError(f"model must be a leastaction.Model, not {shown(model)}; la.load makes one of a file, "
                        "la.find_model of a name such as 'chain:10'")


def compile_model(model: Model) -> Compiled:
    """Validate a model and turn it into arrays, once for every revision of the model."""
    known = _cache.get(id(model))
    if known is not None and known[0] == _revision(model):
        return known[1]
    require_model(model)
    model.validate()
    return remember(model, _compile(model))


def _revision(model: Model) -> tuple[int, int]:
    return model.revision, elements.taught() if model.forces else 0


def remember(model: Model, compiled: Compiled) -> Compiled:
    """Store the arrays of a model until the model changes or is deleted."""
    if id(model) not in _cache:
        finalize(model, _cache.pop, id(model), None).atexit = False
    _cache[id(model)] = _revision(model), compiled
    return compiled


def _limits(parts: list[Part], off: frozenset[str]) -> np.ndarray:
    """Rows (m, 6) of kernels/limits: link, low, high, restitution, friction, and of a ball when it is clear of them."""
    rows = []
    for i, part in enumerate(parts):
        low, high = (-np.inf, np.inf) if LIMITS in off else (part.low, part.high)
        friction = 0.0 if FRICTION in off else part.friction
        if low > -np.inf or high < np.inf or friction > 0.0:
            clear = np.cos(0.5 * (1.0 - CLEAR) * high) ** 2 if part.kind == layout.BALL else 0.0
            rows.append((float(i), low, high, part.restitution, friction, clear))
    return np.array(rows, dtype=float).reshape(-1, 6)


def _servos(model: Model, iv: np.ndarray) -> Servos:
    """Find the links of the servos, given where the links' joints start in v; they are in the order of the links."""
    s = model.drives.servos
    link_of = dict(zip(iv.tolist(), range(len(iv)), strict=True))
    return Servos(np.array([link_of[v] for v in s.v.tolist()], dtype=np.int64), s.kp, s.kd, s.effort)


def ground_energy(gravity: np.ndarray, first_moment: np.ndarray) -> np.ndarray:
    """Return the potential energy (...), J, of what is fixed to the ground, given its first moment (..., 3), kg m."""
    x, y, z = np.moveaxis(gravity * first_moment, -1, 0)
    energy: np.ndarray = -(x + y + z)
    return energy


def _compile(model: Model) -> Compiled:
    if model.nv == 0:
        raise ModelError("nothing in the model can move: give at least one body a joint other than Fixed; "
                         "a model from a file floats when loaded with root=\"free\"")
    merged = merge_fixed(model)
    link_of_carrier = np.full(model.nb + 1, -1)  # the last entry, which is also entry −1, is the ground
    parent: list[int] = []
    body_of_link: list[int] = []
    parts = []
    place_position: list[np.ndarray] = []
    place_quaternion: list[np.ndarray] = []
    parents, bodies, starts = model.parents.tolist(), model.bodies, model.layout
    iq: list[int] = []
    iv: list[int] = []
    for b in model.order():
        if merged.carrier[b] != b:
            continue
        above, body = parents[b], bodies[b]
        position, quaternion = body.position, body.quaternion
        carrier = -1 if above < 0 else int(merged.carrier[above])
        if above >= 0 and carrier != above:  # the parent rides on another body, or on the ground
            position = merged.position[above] + np.array(rotated(merged.quaternion[above], position))
            quaternion = np.array(product(merged.quaternion[above], quaternion))
        on, at_q, at_v = int(link_of_carrier[carrier]), int(starts.q_start[b]), int(starts.v_start[b])
        for part in body.joint.parts():
            parent.append(on)
            body_of_link.append(b)
            parts.append(part)
            place_position.append(position)
            place_quaternion.append(quaternion)
            iq.append(at_q)
            iv.append(at_v)
            on, at_q, at_v = len(parts) - 1, at_q + part.nq, at_v + part.nv
            position, quaternion = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
        link_of_carrier[b] = on
    n = len(parts)
    ground = np.where(np.array(parent, dtype=np.int64) < 0, n, parent)
    link_of_body = link_of_carrier[merged.carrier]
    link_of_body[link_of_body < 0] = n

    rows = np.zeros((n, layout.CONSTANTS))

    def fill(name: str, values: np.ndarray) -> None:
        rows[:, LINK.rows(name)] = np.asarray(values, dtype=float).reshape(n, -1)

    carried = np.zeros(n, dtype=bool)
    carried[link_of_carrier[link_of_carrier >= 0]] = True  # the last link of a joint's chain has the inertia
    mine = np.where(carried, body_of_link, 0)
    inertia = merged.inertia_com[mine]
    symmetric = np.stack([inertia[:, 0, 0], inertia[:, 1, 1], inertia[:, 2, 2],
                          inertia[:, 0, 1], inertia[:, 0, 2], inertia[:, 1, 2]], axis=1)
    fill("base_rotation", np.array(place_quaternion))
    fill("base_position", np.array(place_position))
    fill("turn", np.array([part.axis if part.torsion else part.turn for part in parts]))
    fill("slide", np.array([part.slide for part in parts]))
    fill("mass", np.where(carried, merged.mass[mine], 0.0))
    fill("com", merged.centre[mine] * carried[:, None])
    fill("inertia", symmetric * carried[:, None])
    for name in ("damping", "own_damping"):
        fill(name, np.array([part.damping for part in parts]))
    fill("stiffness", np.array([part.stiffness for part in parts]))
    fill("cone", np.array([part.high if part.kind == layout.BALL and part.high < np.inf else 0.0 for part in parts]))
    fill("torsion", np.array([part.torsion for part in parts]))
    for name in ("armature", "own_armature"):
        fill(name, np.array([part.armature for part in parts]))

    rest = np.zeros(model.nq)
    for part, k in zip(parts, iq, strict=True):
        rest[k : k + part.nq] = part.rest
    passive = [layout.PASSIVE * bool(part.damping or part.armature) + layout.SPRING * part.sprung
               + layout.DAMPED * bool(part.damping) + layout.TORSION * bool(part.torsion) for part in parts]
    servos = _servos(model, np.array(iv))
    for i, kp, kd, effort in zip(*servos, strict=True):
        passive[i] += layout.SERVO
        for name, value in (("servo_kp", kp), ("servo_kd", kd), ("servo_effort", effort)):
            rows[i, LINK.rows(name).start] = value
    last = np.full(n + 1, -1)  # the last child of every link, and of the ground
    last[ground] = np.arange(n)  # of several children the one with the greatest index stays
    forks = np.isin(np.arange(n), ground[ground != np.arange(n) - 1])
    family = layout.LAST * (last[ground] == np.arange(n)) + layout.FORK * forks
    kind = np.array([part.kind for part in parts])
    places = Places({body.name: b for b, body in enumerate(bodies)}, link_of_body, merged.position,
                    merged.quaternion, np.flatnonzero(carried & (merged.mass[mine] > 0)).tolist(), n,
                    screws(model.names, kind, body_of_link))
    acting, force_rows = tables(model, places)
    gx, gy, gz = model.gravity.tolist()
    limits = _limits(parts, model.switched_off)
    tree = memory.addressed(Tree(
        n, model.nq, model.nv, most=max(layout.DOF[part.kind] for part in parts),
        slides=int(any(part.slide.any() for part in parts)), locks=int(len(limits) > 0), end=0, matrices=0, sides=0,
        size=0, parent=ground.astype(np.int64), kind=kind, iq=np.array(iq), iv=np.array(iv),
        passive=np.array(passive, dtype=np.int64), family=family.astype(np.int64),
        side=np.cumsum(kind != layout.SCREW) - 1,
    ), lanes=False)
    return Compiled(
        tree=tree,
        constants=rows,
        rest=rest,
        gravity=(gx, gy, gz),
        body_of_link=np.array(body_of_link, dtype=np.int64),
        nq_of_link=np.array([part.nq for part in parts]),
        link_of_body=link_of_body,
        body_position=merged.position,
        body_quaternion=merged.quaternion,
        ground_first_moment=merged.ground_first_moment,
        ground_energy=float(ground_energy(model.gravity, merged.ground_first_moment)),
        stiff=any(part.damping or part.sprung for part in parts) or len(servos.link) > 0,
        damped=any(part.damping for part in parts) or bool(servos.kd.any()),
        nq=model.nq,
        nv=model.nv,
        elements=acting,
        force_rows=force_rows,
        driven=len(servos.link) > 0 or not all(force.keeps_energy for force in model.forces.values()),
        servos=servos,
        rows=rows_of(model, tree, rows, link_of_body, merged.position, merged.quaternion),
        limits=limits,
    )
