"""A short part of `make attack`, always the same: nothing is accepted that is wrong, and nothing outside is touched."""

import pytest

from attack import calls, models, server
from attack.found import Found

SEED = 17


@pytest.mark.parametrize(("attack", "count", "least"), [
    (calls.attack, 400, 2), (models.attack_crafted, 1, 3), (server.attack, 60, 2),
], ids=["calls", "crafted", "server"])
def test_attack(attack, count, least):
    if attack is server.attack:
        pytest.importorskip("viser")
    if attack is models.attack_crafted:
        pytest.importorskip("mujoco")
        pytest.importorskip("trimesh")
    found = attack(count, SEED)
    assert found.failures == []
    assert found.tried >= count and len(found.outcomes) >= least   # both what is right and what is wrong was tried


def test_what_is_wrong_is_found(monkeypatch):
    """The oracle of the calls would notice: a result that is off, a refusal that is not in words, and acceptance."""
    outcomes = Found("calls")
    monkeypatch.setattr(calls, "GRAVITY", 9.8)
    for k in range(60):
        try:
            outcomes.outcomes[calls.attempt(SEED, k)] += 1
        except calls.Wrong as error:
            outcomes.failures.append(str(error))
    assert any("accepted, and wrong" in line for line in outcomes.failures)
    monkeypatch.undo()
    monkeypatch.setattr(calls, "PACKAGE", "/nowhere")
    with pytest.raises(calls.Wrong, match="not in our words"):
        for k in range(60):
            calls.attempt(SEED, k)
