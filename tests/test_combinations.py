"""docs/combinations.md is true: pairs of features run and are right, or are refused by an error that names both."""

import sys
from pathlib import Path

import pytest

from reference.forces import with_all_kinds

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "tools"))

import combinations as tool  # noqa: E402 - of tools/

PAGE = (ROOT / "docs" / "combinations.md").read_text(encoding="utf-8")
TOLD = tool.read(PAGE)
RERUN = "run python tools/combinations.py"


def with_kinds(mechanism):
    """The mechanism where forces have traces of all kinds: other tests compile the loops for this set of kinds."""
    return lambda has: with_all_kinds(mechanism(has)) if "forces" in has else mechanism(has)


tool.mechanism = with_kinds(tool.mechanism)


def try_pair(pair):
    found = tool.attempt(*pair)
    assert not found.faults, "; ".join(found.faults)
    assert found.word == TOLD[pair], f"{found.refused or found.idle or 'it runs'}: {RERUN}"
    return found


def test_the_page_has_every_pair_and_no_fault():
    assert set(TOLD) == set(tool.pairs()) and "fault" not in TOLD.values()
    assert set(tool.FEATURES) == {name for pair in tool.QUICK for name in pair} | {"Newton"}


@pytest.mark.parametrize("pair", tool.QUICK, ids=" + ".join)
def test_pairs_that_touch_every_row(pair):
    try_pair(pair)


def test_errors_name_both_and_stand_on_the_page():
    """They come before anything is compiled."""
    refused = [pair for pair, word in TOLD.items() if word == "refused"]
    assert len(refused) == 20
    for pair in refused:
        assert try_pair(pair).refused.partition(": ")[2] in PAGE, RERUN


def test_the_checks_can_fail():
    """A run that lacks what it claims, or is off, is found out."""
    plain, limited = tool.run(frozenset()), tool.run(frozenset(("limits",)))
    assert next(tool.faults(frozenset(("limits",)), plain)) == "limits does not act"
    assert "rad off a plain run" in " ".join(tool.faults(frozenset(("batches",)), limited))
    assert "order 4 changes nothing" in " ".join(tool.faults(frozenset(("order 4",)), plain))


@pytest.mark.soak
def test_every_pair():
    for pair in tool.pairs():
        try_pair(pair)
