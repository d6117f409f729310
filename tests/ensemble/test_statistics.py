"""Statistics of ensembles: right to round-off, and the same bits however members are divided into chunks."""

import math
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leastaction.ensemble.statistics import Statistics, finished, fold, merge, partials

NODES = 5


def draw(members, seed=0, failing=0.2, offset=0.0):
    """Arrays of members some of which fail, NaN behind the nodes that they made."""
    rng = np.random.default_rng(seed)
    made = np.where(rng.random(members) < failing, rng.integers(0, NODES + 1, members), NODES)
    arrays = {"q": offset + rng.standard_normal((members, NODES, 3)), "energy": rng.standard_normal((members, NODES))}
    for values in arrays.values():
        for b in range(members):
            values[b, made[b]:] = np.nan
    return arrays, made


def cut(arrays, made, chunks):
    """Statistics of consecutive chunks of these sizes; None instead of a size leaves out as many members."""
    first = 0
    for size, there in chunks:
        if there:
            rows = slice(first, first + size)
            yield from partials(first, {name: values[rows] for name, values in arrays.items()}, made[rows])
        first += size


def total(arrays, made, chunks):
    found = fold(cut(arrays, made, chunks))
    shapes = {name: values.shape[1:] for name, values in arrays.items()}
    return finished(found, np.arange(NODES) * 0.1, shapes)


def same(a: Statistics, b: Statistics):
    assert a.count.tobytes() == b.count.tobytes()
    for kind in ("mean", "variance", "minimum", "maximum", "std"):
        for name in getattr(a, kind):
            assert getattr(a, kind)[name].tobytes() == getattr(b, kind)[name].tobytes(), (kind, name)


def pieces(members, size):
    return [(min(size, members - first), True) for first in range(0, members, size)]


@pytest.mark.parametrize("members", [1, 2, 3, 63, 64, 65, 1000, 2500])
def test_any_chunk_size_gives_the_same_bits(members):
    arrays, made = draw(members, seed=members)
    whole = total(arrays, made, [(members, True)])
    for size in (1, 7, 64, 1000):
        same(whole, total(arrays, made, pieces(members, size)))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=8), st.integers(0, 1000), st.sampled_from([0.0, 0.3, 1.0]))
def test_any_chunks_give_the_same_bits(sizes, seed, failing):
    arrays, made = draw(sum(sizes), seed, failing)
    same(total(arrays, made, [(sum(sizes), True)]), total(arrays, made, [(size, True) for size in sizes]))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 20), st.booleans()), min_size=1, max_size=10), st.integers(0, 1000))
def test_missing_chunks_count_as_members_that_made_nothing(chunks, seed):
    arrays, made = draw(sum(size for size, _ in chunks), seed)
    gone = np.repeat([not there for _, there in chunks], [size for size, _ in chunks])
    same(total(arrays, np.where(gone, 0, made), [(len(made), True)]), total(arrays, made, chunks))


def test_a_block_of_nodes_at_a_time_changes_no_bit(monkeypatch):
    arrays, made = draw(300)
    whole = total(arrays, made, [(300, True)])
    monkeypatch.setattr("leastaction.ensemble.statistics.BLOCK", 1)
    same(whole, total(arrays, made, [(300, True)]))


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_threads_change_no_bit(threads):
    arrays, made = draw(50)
    for one, two in zip(partials(3, arrays, made), partials(3, arrays, made, threads), strict=True):
        assert (one.level, one.index, one.count.tolist()) == (two.level, two.index, two.count.tolist())
        for name in arrays:
            assert np.array(one.moments[name]).tobytes() == np.array(two.moments[name]).tobytes()


def test_zeros_of_both_signs_have_one_minimum():
    """Which zero NumPy takes depends on how it was compiled; so only one is stored."""
    arrays = {"energy": np.where(np.arange(64)[:, None] % 3 == 0, -0.0, np.zeros((64, NODES)))}
    for size in (1, 7, 64):
        found = total(arrays, np.full(64, NODES), pieces(64, size))
        for kind in ("mean", "minimum", "maximum"):
            assert not np.signbit(getattr(found, kind)["energy"]).any()


def test_values_agree_with_an_oracle_in_many_digits():
    """The differences between members are a millionth of their mean: sums of squares would lose every digit."""
    arrays, made = draw(777, offset=1e6)
    found = total(arrays, made, pieces(777, 50))
    mpmath.mp.dps = 40
    for node in range(NODES):
        there = made > node
        assert found.count[node] == there.sum()
        for entry in range(3):
            values = [mpmath.mpf(x) for x in arrays["q"][there, node, entry]]
            mean = mpmath.fsum(values) / len(values)
            variance = mpmath.fsum((x - mean) ** 2 for x in values) / (len(values) - 1)
            assert abs(found.mean["q"][node, entry] - mean) <= 2 * math.ulp(1e6)
            assert abs(found.variance["q"][node, entry] - variance) <= 1e-9 * variance
        values = arrays["energy"][there, node]
        assert (found.minimum["energy"][node], found.maximum["energy"][node]) == (values.min(), values.max())
        assert found.mean["energy"][node] == pytest.approx(math.fsum(values) / len(values), rel=1e-13, abs=1e-15)
        assert found.variance["energy"][node] == pytest.approx(np.var(values, ddof=1), rel=1e-12)


def test_equal_members_have_no_variance():
    arrays = {"energy": np.full((1000, NODES), 0.1)}
    found = total(arrays, np.full(1000, NODES), pieces(1000, 7))
    assert np.all(found.mean["energy"] == 0.1) and np.all(found.variance["energy"] == 0.0)


def test_nodes_that_nobody_made_are_not_numbers():
    arrays = {"q": np.ones((3, NODES, 2))}
    found = total(arrays, np.array([0, 1, 2]), [(3, True)])
    assert found.count.tolist() == [2, 1, 0, 0, 0]
    assert np.isfinite(found.mean["q"][:2]).all() and np.isnan(found.mean["q"][2:]).all()
    assert found.variance["q"][0, 0] == 0.0 and np.isnan(found.variance["q"][1:]).all()
    assert np.isnan(found.minimum["q"][2:]).all() and np.isnan(found.maximum["q"][2:]).all()
    assert repr(found) == "<Statistics of q at 5 nodes, over 0 to 2 members>"
    empty = finished(None, np.arange(NODES), {"q": (NODES, 2)})
    assert not empty.count.any() and np.isnan(empty.mean["q"]).all()


def test_numbers_that_are_not_finite_stay_visible():
    arrays = {"energy": np.ones((8, NODES))}
    arrays["energy"][3, 2], arrays["energy"][5, 3] = np.inf, np.nan
    found = total(arrays, np.full(8, NODES), pieces(8, 3))
    assert found.maximum["energy"][2] == np.inf and not np.isfinite(found.mean["energy"][2])
    assert np.isnan(found.mean["energy"][3]) and np.isnan(found.minimum["energy"][3])
    assert found.mean["energy"][[0, 1, 4]].tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("size", [1, 7, 8, 64, 100, 1000, 1024])
def test_a_chunk_has_few_subtrees_that_cover_it(size):
    for number in (0, 1, 5):
        first = number * size
        found = partials(first, {"energy": np.zeros((size, 1))}, np.ones(size, int))
        spans = [(part.index << part.level, (part.index + 1) << part.level) for part in found]
        assert spans[0][0] == first and spans[-1][1] == first + size
        assert all(end == start for (_, end), (start, _) in pairwise(spans))
        assert len(found) <= max(1, 2 * math.log2(size))
        if size & (size - 1) == 0:
            assert len(found) == 1
        assert [part.count.tolist() for part in found] == [[end - start] for start, end in spans]
    left, right = partials(0, {"energy": np.arange(2.0)[:, None]}, np.ones(2, int))[:1] * 2
    assert merge(left, right).level == left.level + 1


def test_statistics_need_a_quantity():
    with pytest.raises(ValueError, match="at least one quantity"):
        partials(0, {}, np.zeros(0, int))
