"""Forces between bodies: every potential against a formula of the test's own, and what a table may hold."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
from compiled import JIT
from hypothesis import given, settings

import leastaction as la
from leastaction.kernels.elements import Link, Real, Vector, Whole, element, tables
from leastaction.kernels.elements.springs import Springs
from leastaction.model import merge_fixed
from reference.forces import with_all_kinds
from reference.trees import models, random_triplet

some = settings(max_examples=25 if JIT else 4)


def fasten(rng, model):
    """Let springs, magnets and a central mass act on random points of random bodies. Gives their potential, a function
    of the poses of the bodies (nb, 4, 4), which may be complex: by formulas of its own."""
    names = [*model.names, None]
    moving = [name for name, carrier in zip(model.names, merge_fixed(model).carrier, strict=True) if carrier >= 0]
    springs = []
    for k in range(3):
        body, other = rng.choice(moving), names[rng.integers(len(names))]
        force = la.Spring(body, other, *rng.normal(size=(2, 3)), *rng.uniform(1.0, 9.0, size=2))
        trial = la.Model.from_dict(model.to_dict())
        trial.add_force("trial", force)
        try:
            trial.validate()
        except la.ModelError:  # both ends on one body, or on bodies that are welded
            continue
        springs.append(force)
        model.add_force(f"spring {k}", force)
    moment, point, uniform, dipole, center = rng.normal(size=(5, 3))
    center, body = 4.0 + center, rng.choice(moving)
    model.add_force("magnet", la.Field(body=body, moment=moment, point=point, uniform=uniform, dipole=1e8 * dipole,
                                       center=center))
    model.add_force("mass", la.Field(mu=20.0, center=center))
    with_all_kinds(model, moving[0])

    def potential(poses):
        def place(body, point):
            return np.array(point) if body is None else (poses[model.names.index(body)] @ [*point, 1.0])[:3]

        V = 0.0
        for s in springs:
            way = place(s.body, s.point) - place(s.other, s.other_point)
            V += 0.5 * s.stiffness * (np.sqrt(way @ way) - s.rest) ** 2
        r, m = place(body, point) - center, poses[model.names.index(body)][:3, :3] @ moment
        V -= m @ (uniform + 1e-7 * (3.0 * r * (r @ (1e8 * dipole)) / (r @ r) - 1e8 * dipole) / (r @ r) ** 1.5)
        for name, inertia in link_inertias(model):
            pose = poses[model.names.index(name)]
            r, I = (pose @ [*inertia[1], 1.0])[:3] - center, pose[:3, :3] @ inertia[2] @ pose[:3, :3].T
            V -= 20.0 * (inertia[0] / np.sqrt(r @ r)
                         + (np.trace(inertia[2]) - 3.0 * (r @ I @ r) / (r @ r)) / (2.0 * (r @ r) ** 1.5))
        return V

    return potential


def link_inertias(model):
    """Mass, centre and inertia of what every moving body carries, in its frame."""
    merged = merge_fixed(model)
    return [(name, (merged.mass[b], merged.centre[b], merged.inertia_com[b])) for b, name in enumerate(model.names)
            if merged.carrier[b] == b]


def slope(model, q, potential):
    """Derivative (nv,) of a potential by every rate, by complex steps of the poses."""
    poses = la.poses(model, q)
    twists = np.array([la.jacobian(model, q, name) for name in model.names])  # (nb, 6, nv), body axes
    found = []
    for x, y, z, a, b, c in np.moveaxis(twists, 2, 0).transpose(0, 2, 1):
        zero = np.zeros(model.nb)
        motion = np.array([[zero, -z, y, a], [z, zero, -x, b], [-y, x, zero, c], [zero] * 4]).transpose(2, 0, 1)
        found.append(potential(poses @ (np.eye(4) + 1e-30j * motion)).imag / 1e-30)
    return np.array(found)


@some
@given(drawn=models(max_n=6))
def test_energy_and_forces_of_every_potential(drawn):
    """In any tree: the energy is the potential, the generalized forces are minus its gradient, and so is the impulse of
    a step, times h."""
    model, rng = drawn
    h, triplet = 0.01, random_triplet(rng, model, 0.01)
    q, v = triplet[1], rng.normal(size=model.nv)
    energy, residual = la.energy(model, q), la.discrete_residual(model, *triplet, h)
    tau = la.inverse_dynamics(model, q, v, None)
    potential = fasten(rng, model)
    V, gradient = potential(la.poses(model, q)), slope(model, q, potential)
    size = abs(V) + np.abs(gradient).max() + abs(energy) + np.abs(tau).max()
    assert la.energy(model, q) - energy == pytest.approx(V, rel=1e-11, abs=1e-11 * size)
    np.testing.assert_allclose(la.inverse_dynamics(model, q, v, None) - tau, gradient, rtol=0, atol=1e-11 * size)
    given = la.discrete_residual(model, *triplet, h) - residual
    np.testing.assert_allclose(given, h * gradient, rtol=0, atol=1e-11 * (h * size + np.abs(residual).max()))
    try:
        a = la.forward_dynamics(model, q, v)
    except la.ModelError:
        return  # a joint that moves nothing
    np.testing.assert_allclose(la.inverse_dynamics(model, q, v, a), 0.0, atol=1e-8 * (size + np.abs(a).max()))


def test_ends_that_meet_pull_nowhere():
    model = la.library.pendulum()
    for k, rest in enumerate((0.0, 0.5)):
        model.add_force(f"{k}", la.Spring(model.names[0], stiffness=4.0, rest=rest))
    with_all_kinds(model)
    plain = la.library.pendulum()
    q = [model.q0] * 3
    np.testing.assert_array_equal(la.discrete_residual(model, *q, 0.1), la.discrete_residual(plain, *q, 0.1))
    assert la.energy(model) - la.energy(plain) == pytest.approx(0.5 * 4.0 * 0.25)


class Things(NamedTuple):
    link: Link
    count: Whole
    size: Real


def nothing(things, tree, w, h):
    pass


def no_energy(things, tree, w):
    return 0.0


element(Things, nothing, no_energy)


@dataclass(frozen=True, eq=False)
class Thing(la.Force):
    table: tuple

    def tables(self, places):
        yield self.table


def test_columns_have_one_form_whatever_is_given():
    strided = np.arange(8.0)[::2]
    strided.flags.writeable = False
    for size in (strided, [0, 2, 4, 6], [[0.0], [2.0], [4.0], [6.0]], np.array([0, 2, 4, 6], dtype=np.float32)):
        (table,) = tables([Things([0, 1, 2, 3], np.ones(4, dtype=np.uint8), size)], 3)
        assert [column.dtype for column in table] == [np.int64, np.int64, np.float64]
        assert all(column.flags.c_contiguous and column.flags.writeable and column.ndim == 1 for column in table)
        np.testing.assert_array_equal(table.size, [0.0, 2.0, 4.0, 6.0])


def test_a_set_of_kinds_has_one_type():
    """Whatever the number, the order and the division into tables, so that the loops are compiled once."""
    springs = Springs([0], [1], np.zeros(3), np.ones(3), [1.0], [0.5])
    more = Springs([0, 1], [2, 2], np.zeros((2, 3)), np.ones((2, 3)), [2.0, 3.0], [0.1, 0.2])
    things = Things([0], [1], [1.0])
    once, other = tables([springs, things, more], 2), tables([things, springs], 2)
    assert [type(table) for table in once] == [type(table) for table in other]
    (joined,) = (table for table in once if "Springs" in type(table).__name__)
    np.testing.assert_array_equal(joined.stiffness, [1.0, 2.0, 3.0])
    assert len(joined.at) == 9
    assert tables([Things([], [], [])], 2) == ()


@pytest.mark.parametrize(("given", "message"), [
    (Things([0], [1.5], [1.0]), "column 'count' of Things must have whole numbers, not float64"),
    (Things([0], [1], ["a"]), "column 'size' of Things must have numbers"),
    (Things([4], [1], [1.0]), "column 'link' of Things must have links from 0 to 2, or 3 for the ground"),
    (Things([-1], [1], [1.0]), "links from 0 to 2"),
    (Things([0], [1], [np.nan]), "column 'size' of Things has numbers that are not finite"),
    (Things([0, 1], [1, 1], [1.0]), "column 'size' of Things has 1 numbers for 2 elements"),
    (Things([0], [1], [1.0, 2.0, 3.0]), "column 'size' of Things has 3 numbers for 1 elements: a Vector has three"),
    (Springs([0], [1], np.zeros(3), [0.0], [1.0], [0.5]), "column 'other_at' of Springs has 1 numbers for 1 elements"),
    ((1, 2), "tuple is no kind of element"),
])
def test_a_table_that_cannot_be_is_refused_in_words(given, message):
    model = la.library.chain(3)
    model.add_force("thing", Thing(given))
    with pytest.raises(la.ModelError, match=rf"force 'thing' \(Thing\): .*{message}"):
        la.energy(model)


class TwoUnderscores(NamedTuple):
    a__b: Real


class Trailing(NamedTuple):
    a_: Real


class Unmarked(NamedTuple):
    a: float


@pytest.mark.parametrize(("kind", "message"), [
    (TwoUnderscores, "column 'a__b' of TwoUnderscores: two underscores"), (Trailing, "column 'a_' of Trailing"),
    (Unmarked, "column 'a' of Unmarked must be annotated as Link, Whole, Real or Vector"),
    (dict, "a kind of element is a NamedTuple of columns, not <class 'dict'>"),
])
def test_a_kind_that_cannot_be_is_refused_in_words(kind, message):
    with pytest.raises((TypeError, ValueError), match=message):
        element(kind, nothing, no_energy)


class Marks(NamedTuple):
    at: Vector
    link: Link


def misspelt(marks, tree, w):
    return marks.sice[0]


def without_an_argument(marks, w):
    return 0.0


def of_no_number(marks, tree, w):
    pass


TOLD_AT_ONCE = [
    (without_an_argument, r"^the verb potential of Marks is called as potential\(table, tree, w\), and "
                          r"without_an_argument\(marks, w\) does not take that: too many positional arguments$"),
    ("no function", r"^the verb potential of Marks must be a function potential\(table, tree, w\), not 'no function'$"),
]
TOLD_BY_THE_COMPILER = [
    (misspelt, r"^the verb potential of Marks cannot be compiled: Unknown attribute 'sice' of type Marks "
               r"\(line \d+ of test_seam\.py\)$"),
    (of_no_number, "^the verb potential of Marks must return a number, the energy in J, not none$"),
]


@pytest.mark.parametrize(("potential", "message"), TOLD_AT_ONCE + (TOLD_BY_THE_COMPILER if JIT else []))
def test_a_mistake_in_a_verb_is_told_in_one_line(potential, message):
    """What the compiler says of it is the cause, and none of its frames are between."""
    model = la.library.pendulum()
    model.add_force("marks", Thing(Marks(np.zeros(3), [0])))
    with pytest.raises(TypeError, match=message) as told:
        element(Marks, nothing, potential)
        la.energy(model)
    assert len(told.traceback) < 12
    if potential is misspelt:
        assert "Unknown attribute 'sice'" in str(told.value.__cause__)
