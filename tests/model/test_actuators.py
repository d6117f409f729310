"""Actuators as they are described: what they exert, what is refused, how they are printed and written down."""

import copy
import pickle

import numpy as np
import pytest

import leastaction as la
from leastaction.model.actuators import ACTUATOR_KINDS

INF = float("inf")


def arm(effort_limit=None) -> la.Model:
    """Three hinges, the second with an effort limit, a universal joint, a ball and a welded body."""
    model = la.library.chain(2)
    body = la.Inertia(1.0, (0.1, 0.0, 0.0), np.eye(3))
    limited = la.Revolute((0, 1, 0), effort_limit=effort_limit, name="elbow")
    for name, parent, joint in (("upper", "link2", limited), ("cross", "upper", la.Universal((1, 0, 0), (0, 1, 0))),
                                ("head", "upper", la.Ball()), ("horn", "head", la.Fixed())):
        model.add_body(name, parent, joint, inertia=body)
    return model


def forces(model, q, v, command):
    """Forces where the first joints have these positions and rates, and the others none."""
    at, rates = model.layout.neutral(), np.zeros(model.nv)
    at[: len(q)], rates[: len(v)] = q, v
    return la.actuator_forces(model, at, rates, command)


def test_each_kind_exerts_what_it_says():
    model = arm()
    model.add_actuator("hold", la.PD("link1", kp=3.0, kd=0.5, gear=2.0))
    model.add_actuator("turn", la.Velocity("link2", kd=0.7, gear=-4.0))
    model.add_actuator("push", la.Motor("elbow", gear=5.0, effort=6.0, command_range=(-1, 2)))
    model.add_actuator("swing", la.PD("cross", kp=11.0, dof=1))
    assert model.nu == 4 and list(model.actuators) == ["hold", "turn", "push", "swing"]
    assert model.actuators["push"].joint == "upper"  # the name of a joint stands for its body
    assert la.PD("a", kp=1.0, command_range=np.array([-1, 2])).command_range == (-1.0, 2.0)
    with pytest.raises(TypeError, match="does not support item deletion"):
        del model.actuators["push"]
    found = forces(model, [0.3, 0.0, 0.0, 0.0, 0.25], [0.9, 0.2], [1.0, 8.0, -3.0, 1.0])
    assert np.allclose(found[:5], [3 * (0.5 - 0.3) - 0.5 * 0.9, 0.7 * (-2.0 - 0.2), -5.0, 0.0, 11 * 0.75], atol=1e-15)
    assert forces(model, [], [], [0, 0, 7.0, 0])[2] == 6.0  # clamped to 2, then the effort


def test_a_servo_saturates_at_its_effort_or_at_that_of_the_joint():
    for effort, limit, expected in ((2.0, None, 2.0), (None, 3.0, 3.0), (INF, 3.0, 50.0), (4.0, 3.0, 4.0)):
        model = arm(limit)
        model.add_actuator("a", la.PD("elbow", kp=50.0, effort=effort))
        assert [forces(model, [], [], [c])[2] for c in (1.0, -1.0, 0.01)] == [expected, -expected, 0.5]


def test_actuators_without_bounds_add_up():
    model = arm()
    for name, one in {"p": la.PD("link1", kp=3.0), "d": la.Velocity("link1", kd=2.0),
                      "more": la.PD("link1", kp=1.0, kd=0.5, gear=2.0), "m": la.Motor("link1")}.items():
        model.add_actuator(name, one)
    q, v, (p, d, more, m) = 0.3, -0.4, (0.7, -1.1, 0.9, 0.2)
    expected = 3 * (p - q) + 2 * (d - v) + (more / 2 - q) - 0.5 * v + m
    assert np.isclose(forces(model, [q], [v], [p, d, more, m])[0], expected, rtol=1e-14)
    assert len(model.drives.servos.kp) == 1


@pytest.mark.parametrize("gains", [{"kp": 3.0}, {"kp": 0.0, "kd": 2.0}])
def test_those_that_leave_their_effort_to_the_joint_share_its_limit(gains):
    model = arm(5.0)
    model.add_actuator("servo", la.PD("elbow", **gains))
    model.add_actuator("rate", la.Velocity("elbow", kd=2.0))
    model.add_actuator("shared", la.Motor("elbow"))
    model.add_actuator("own", la.Motor("elbow", effort=1.0))
    kp, kd = gains["kp"], gains.get("kd", 0.0)
    for q, v, *command in np.random.default_rng(0).normal(0, 3, (50, 6)):
        servo = kp * (command[0] - q) - kd * v + 2.0 * (command[1] - v)
        expected = np.clip(servo + command[2], -5, 5) + np.clip(command[3], -1, 1)
        assert np.isclose(forces(model, [0, 0, q], [0, 0, v], command)[2], expected, rtol=1e-13, atol=1e-13)


def test_motors_alone_share_the_limit_too():
    model = arm(5.0)
    model.add_actuator("a", la.Motor("elbow", gear=2.0))
    model.add_actuator("b", la.Motor("elbow"))
    assert forces(model, [], [], [4.0, -1.0])[2] == 5.0 and forces(model, [], [], [4.0, -6.0])[2] == 2.0


REFUSED = {
    "kp must be a finite number that is not negative, not -1": lambda m: la.PD("link1", kp=-1),
    "kd must be a finite number that is not negative, not nan": lambda m: la.Velocity("link1", kd=float("nan")),
    "kp must be a finite number that is not negative, not inf": lambda m: la.PD("link1", kp=INF),
    "kp and kd must not be zero both": lambda m: la.PD("link1", kp=0),
    "effort must be a positive number": lambda m: la.Motor("link1", effort=0),
    "gear must be a finite number other than zero": lambda m: la.Motor("link1", gear=0),
    "dof must be the index of a degree of freedom": lambda m: la.Motor("link1", dof=0.5),
    "command_range must be a pair": lambda m: la.Motor("link1", command_range=(2, 1)),
    "joint must be the name of a body": lambda m: la.Motor(3),
    "actuator 'x': there is no body 'link' in chain; did you mean": lambda m: add(m, la.Motor("link")),
    "there is an actuator 'there' already": lambda m: m.add_actuator("there", la.Motor("link2")),
    "the name of an actuator must be text": lambda m: m.add_actuator("", la.Motor("link2")),
    "must be la.PD(...), la.Velocity(...) or la.Motor(...), not 3": lambda m: add(m, 3),
    "is a ball joint, which has no angle to servo: drive it by la.simulate(control=...)":
        lambda m: add(m, la.PD("head", kp=1)),
    "the joint of 'horn' is fixed": lambda m: add(m, la.PD("horn", kp=1)),
    "has 2 degrees of freedom, so there is no dof 2": lambda m: add(m, la.PD("cross", kp=1, dof=2)),
    "the effort_limit of the joint of 'upper' is 0": lambda m: add(m, la.PD("elbow", kp=1)),
    "of which 'there' has a bounded effort": lambda m: add(m, la.PD("link1", kp=1)),
}


def add(model, actuator):
    return model.add_actuator("x", actuator)


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_is_refused_by_name(text):
    model = arm(0.0)
    model.add_actuator("there", la.PD("link1", kp=1.0, effort=2.0))
    with pytest.raises(la.ModelError) as caught:
        REFUSED[text](model)
    assert text in str(caught.value)
    assert list(model.actuators) == ["there"]


def driven() -> la.Model:
    model = arm(7.0)
    model.add_actuator("hold", la.PD("link1", kp=3.0, kd=0.1, effort=INF))
    model.add_actuator("turn", la.Velocity("elbow", kd=0.7))
    model.add_actuator("push", la.Motor("cross", gear=-5.0, effort=6.0, dof=1, command_range=(-1, INF)))
    model.command0 = [0.1, 0.2, 1 / 3]
    model.commands["home"] = np.array([1.0, 2.0, 3.0])
    return model


def test_they_survive_files_copies_and_pickles():
    model = driven()
    for again in (la.Model.from_dict(model.to_dict()), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert again == model and again.actuators == model.actuators
        assert again.drives.servos.effort.tolist() == [INF, 7.0]
    data = model.to_dict()
    data["actuators"][1]["kind"] = "muscle"
    with pytest.raises(la.ModelError, match="actuator 'turn' has the unknown kind 'muscle'; use one of pd, velocity"):
        la.Model.from_dict(data)
    assert set(ACTUATOR_KINDS) == {"pd", "velocity", "motor"}


def test_models_differ_by_their_actuators():
    changes = [lambda m: m.add_actuator("more", la.Motor("link2")), lambda m: setattr(m, "command0", [0, 0, 0]),
               lambda m: m.commands.clear()]
    for change in changes:
        other = driven()
        assert other == driven()
        change(other)
        assert other != driven()


def test_the_picture_of_a_model_shows_them():
    text = str(driven())
    assert "nu = 3" in text.splitlines()[0]
    assert "actuator 'hold': pd on 'link1', effort inf, kp 3, kd 0.1" in text
    assert "actuator 'push': motor on 'cross'[1], effort 6, gear -5, command range -1 to inf" in text
    assert "actuator 'turn'" in driven()._repr_html_().replace("&#x27;", "'")


def test_an_effort_limit_acts_where_there_is_an_actuator():
    assert arm(7.0).ignored["effort"] == ("'elbow' (effort)",)
    assert "effort" not in driven().ignored


def test_commands_must_fit():
    model = driven()
    with pytest.raises(ValueError, match="command0"):
        model.command0 = [1.0]
    with pytest.raises(la.ModelError, match="command0 is not finite"):
        model.command0 = [1.0, 2.0, np.nan]
    with pytest.raises(ValueError, match="command must be 3 finite numbers"):
        la.actuator_forces(model, None, None, [1.0, 2.0])
    assert model.add_actuator("late", la.Motor("link2")).gear == 1.0
    assert model.command0.tolist() == [0.1, 0.2, 1 / 3, 0.0] and model.commands["home"].tolist() == [1, 2, 3, 0]
