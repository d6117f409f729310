"""Members with models of their own: their bits do not depend on who runs beside them."""

from threading import Event

import numpy as np
import pytest

import leastaction as la
from leastaction.simulation.group import Member
from leastaction.simulation.members import _Batch, run_members
from leastaction.simulation.single import prepare

NODE = ("q", "v", "p", "energy", "momentum")
ROD = la.Inertia.rod(1.0, 0.5, com=(0, 0, -0.25))


def arm(damping=0.0, stiffness=0.0, armature=0.0, rest=None, at=0.1):
    """Two links, the second of which carries a fixed tool."""
    model = la.Model()
    model.add_body("upper", None, la.Revolute((0, 1, 0)), inertia=ROD)
    model.add_body("lower", "upper", la.Revolute((0, 1, 0), damping=damping, stiffness=stiffness, armature=armature,
                                                 rest=rest), position=(0, 0, -0.5), inertia=ROD)
    model.add_body("tool", "lower", position=(at, 0, -0.5), inertia=la.Inertia.sphere(0.2, 0.05))
    return model


def run(models, forgive=False, threads=1, **options):
    given = {"dt": 5e-3, "steps": 80, "record_every": 2, "integrator": la.Variational(), **options}
    like = prepare(arm(), np.array([1.0, 0.3]), np.zeros(2), **given)
    members = [Member(b, model, np.array([1.0, 0.3 + 0.1 * b]), np.zeros(2), None) for b, model in enumerate(models)]
    return run_members(members, like, given, threads=threads, stop=Event(), forgive=forgive)[1]


KINDS = {
    "damping": lambda value: arm(damping=value),
    "stiffness": lambda value: arm(stiffness=value),
    "armature": lambda value: arm(armature=value),
    "rest": lambda value: arm(stiffness=2.0, rest=value),
    "position of a fixed body": lambda value: arm(at=value),
}


def test_batches_that_share_a_start_do_not_share_a_ledger():
    """As chunks of an ensemble on two threads: one with damping, another without, made from one run at its start."""
    given = {"dt": 5e-3, "steps": 80, "integrator": la.Variational()}
    like = prepare(arm(), np.array([1.0, 0.3]), np.zeros(2), **given)
    batches = [_Batch([Member(b, arm(damping), np.array([1.0, 0.3 + 0.1 * b]), np.zeros(2), None) for b in range(7)],
                      like, given, Event(), None, False) for damping in (0.1, 0.0, 0.1)]
    for batch, columns in zip(batches, (6, 0, 6), strict=True):
        made = [run for team in batch.teams for run in batch.run(team)]
        assert all(run.ledger.shape == (81, columns) for run in made)


@pytest.mark.parametrize("wrench", [None, "tool"])
@pytest.mark.parametrize("kind", KINDS)
def test_bits_do_not_depend_on_neighbours(kind, wrench):
    """Zero beside other values: the kernels read once for four lanes whether a joint has a spring or damping."""
    models = [KINDS[kind](value) for value in (0.0, 0.4, 0.0, 0.1, 0.0, 0.2, 0.3)]
    push = None
    if wrench:
        push = np.zeros((3, 6))
        push[2] = 0.1, 0.2, 0.3, 0.4, 0.5, 0.6
    together = run(models, wrench=push)
    backwards = run(models[::-1], wrench=push)
    for b, model in enumerate(models):
        same = [model] * (b + 1)
        alone = run(same, wrench=push)[b]
        for name in NODE:
            np.testing.assert_array_equal(getattr(together[b], name), getattr(alone, name))
    np.testing.assert_array_equal(together[3].q, backwards[3].q)  # the one in the middle has the same start


def test_a_member_that_cannot_start_fails_alone():
    light = la.Model()
    light.add_body("upper", None, la.Revolute((0, 1, 0)), inertia=ROD)
    light.add_body("lower", "upper", la.Revolute((0, 1, 0)), position=(0, 0, -0.5), inertia=la.Inertia(0.0))
    light.add_body("tool", "lower", position=(0.1, 0, -0.5), inertia=la.Inertia(0.0))
    models = [arm(), light, arm(at=0.2), arm(), arm(), light]
    made = run(models, forgive=True, threads=2)
    assert [isinstance(one, ValueError) for one in made] == [False, True, False, False, False, True]
    assert "member 1: the joint of body 'lower' has nothing to move" in str(made[1])
    others = run([model if model is not light else arm() for model in models])
    for b in (0, 2, 3, 4):
        np.testing.assert_array_equal(made[b].q, others[b].q)
    with pytest.raises(la.ModelError, match="member 1: the joint of body 'lower'"):
        run(models)
