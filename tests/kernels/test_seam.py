"""Forces between bodies: the springs against a potential of our own, and what a table may hold."""

from typing import NamedTuple

import numpy as np
import pytest
from compiled import JIT
from hypothesis import given, settings

import leastaction as la
from leastaction.compiled import compile_model
from leastaction.kernels.elements import Link, Real, Whole, element, tables
from leastaction.kernels.elements.springs import Springs
from leastaction.model.arrays import rotated
from reference.trees import models, random_triplet

some = settings(max_examples=25 if JIT else 4)


def fasten(rng, model, count=3):
    """Let springs act between random points of random bodies and of the ground. Gives their potential V(q), computed
    from poses."""
    c = compile_model(model)
    pairs = [rng.choice(model.nb + 1, size=2, replace=False) for _ in range(count)]  # nb: the ground
    points = rng.normal(size=(2, count, 3))
    stiffness, length = rng.uniform(1.0, 9.0, size=(2, count))

    def in_link(body, x):
        if body == model.nb:
            return c.tree.n, x
        return c.link_of_body[body], c.body_position[body] + rotated(c.body_quaternion[body], x)

    ends = [[in_link(body, x) for body, x in zip(side, at, strict=True)]
            for side, at in zip(np.transpose(pairs), points, strict=True)]
    (link, at), (other, other_at) = (zip(*side, strict=True) for side in ends)
    model._set_elements([Springs(link, other, at, other_at, stiffness, length)])

    def potential(q):
        frames = np.concatenate([la.poses(model, q), [np.eye(4)]])
        a, b = (np.array([(frames[body] @ [*x, 1.0])[:3] for body, x in zip(side, at, strict=True)])
                for side, at in zip(np.transpose(pairs), points, strict=True))
        return 0.5 * (stiffness * (np.linalg.norm(b - a, axis=1) - length) ** 2).sum()

    return potential


@some
@given(drawn=models(max_n=6))
def test_energy_and_impulse_of_springs(drawn):
    """In any tree: the energy is the potential, and the impulse of a step is −h times its gradient."""
    model, rng = drawn
    h, triplet = 0.01, random_triplet(rng, model, 0.01)
    q = triplet[1]
    energy, residual = la.energy(model, q), la.discrete_residual(model, *triplet, h)
    potential = fasten(rng, model)
    V = potential(q)
    assert la.energy(model, q) - energy == pytest.approx(V, rel=1e-11, abs=1e-11 * abs(energy))
    both = [[potential(la.increment(model, q, sign * e)) for sign in (1.0, -1.0)] for e in 1e-5 * np.eye(model.nv)]
    slope = np.array([ahead - behind for ahead, behind in both]) / 2e-5
    given = la.discrete_residual(model, *triplet, h) - residual
    np.testing.assert_allclose(given, h * slope, rtol=0, atol=1e-7 * h * (V + np.abs(slope).max()))


def test_ends_that_meet_pull_nowhere():
    model = la.library.pendulum()
    model._set_elements([Springs([0, 0], [1, 1], np.zeros((2, 3)), np.zeros((2, 3)), [4.0, 4.0], [0.0, 0.5])])
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
    ((1, 2), "tuple is no kind of element"),
])
def test_a_table_that_cannot_be_is_refused_in_words(given, message):
    model = la.library.chain(3)
    model._set_elements([given])
    with pytest.raises(la.ModelError, match=message):
        la.energy(model)


class TwoUnderscores(NamedTuple):
    a__b: Real


class Trailing(NamedTuple):
    a_: Real


class Unmarked(NamedTuple):
    a: float


@pytest.mark.parametrize(("kind", "message"), [
    (TwoUnderscores, "column 'a__b' of TwoUnderscores: two underscores"), (Trailing, "column 'a_' of Trailing"),
    (Unmarked, "column 'a' of Unmarked must be annotated as Link, Whole or Real"),
    (dict, "a kind of element is a NamedTuple of columns, not <class 'dict'>"),
])
def test_a_kind_that_cannot_be_is_refused_in_words(kind, message):
    with pytest.raises((TypeError, ValueError), match=message):
        element(kind, nothing, no_energy)
