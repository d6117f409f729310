"""Descriptions of forces between bodies: faults that are named, text, equality, plain data and back."""

import copy
import pickle
import sys
from dataclasses import dataclass

import numpy as np
import pytest

import leastaction as la

NAN = float("nan")


def pair():
    model = la.Model(name="pair")
    for name in ("hub", "tip"):
        model.add_body(name, None, la.Free(), inertia=la.Inertia.sphere(1.0, 0.1))
    model.add_body("lug", "hub", position=(0.1, 0, 0))
    model.add_body("post", None)
    return model


def rich():
    model = pair()
    model.add_force("tether", la.Spring("hub", "tip", (0.1, 0, 0), np.array([0, 0, 0.2]), stiffness=40, rest=0.7,
                                        damping=1))
    model.add_force("planet", la.Field(mu=3.986e14, center=(0, 0, -7e6)))
    model.add_force("compass", la.Field(body="tip", moment=(0, 0, 1), uniform=(3e-5, 0, 0)))
    model.add_force("jet", la.Thruster("hub", (0, 0, 1), 3.0, burns=[(1, 2), (5, np.inf)]))
    model.add_force("motor", la.Thruster("tip", (1, 0, 0), [(0, 0.0), (1, 5.0), (2, 0.0)]))
    return model


@dataclass(frozen=True, eq=False)
class Strange(la.Force):
    """A force of somebody else, which has no table."""

    body: str
    strength: float = 1.0


@pytest.mark.parametrize(("force", "fault"), [
    (la.Spring("hup", stiffness=1), "there is no body 'hup'; did you mean 'hub'?"),
    (la.Spring("hub", "tap", stiffness=1), "there is no body 'tap'; did you mean 'tip'?"),
    (la.Spring("hub", "hub", stiffness=1), "both ends are on the body 'hub': give other= another body"),
    (la.Spring("hub", "tip", stiffness=-1), "stiffness is negative: -1 N/m"),
    (la.Spring("hub", "tip", stiffness=1, damping=-2), "damping is negative: -2 N s/m"),
    (la.Spring("hub", "tip", stiffness=1, rest=-0.5), "rest is negative: -0.5 m"),
    (la.Spring("hub", "tip", stiffness=NAN), "stiffness is not finite: nan"),
    (la.Spring("hub", "tip", (NAN, 0, 0), stiffness=1), "point is not finite: (nan, 0.0, 0.0)"),
    (la.Spring("hub", "tip"), "it has neither stiffness nor damping, so it does nothing: give stiffness=, N/m"),
    (la.Spring("hub", "lug", stiffness=1), "'hub' is welded to 'lug', so it does nothing there"),
    (la.Spring("post", stiffness=1), "'post' is welded to the ground, so it does nothing there"),
    (la.Field(), "it does nothing: give mu=, or body=, moment= and uniform= or dipole="),
    (la.Field(mu=-1.0), "mu is negative: -1 m³/s²"),
    (la.Field(moment=(1, 0, 0), uniform=(1, 0, 0)), "the magnet of this moment is in no body: give body="),
    (la.Field(mu=1.0, body="hub"), "body 'hub' has no magnet in a magnetic field"),
    (la.Field(body="post", moment=(1, 0, 0), uniform=(1, 0, 0)), "'post' is welded to the ground"),
    (la.Thruster("hub", (0, 0, 0), 1.0), "direction is zero"),
    (la.Thruster("hub", (0, 0, 1), NAN), "thrust is not finite: nan"),
    (la.Thruster("hub", (0, 0, 1), [(1, 2), (0, 3)]), "the times of thrust do not ascend"),
    (la.Thruster("hub", (0, 0, 1), [(0, 2), (1, 3)], burns=[(0, 1)]), "burns are for a thrust of one number"),
    (la.Thruster("hub", (0, 0, 1), 1.0, burns=[(2, 1)]), "a burn ends before it starts"),
    (la.Thruster("hub", (0, 0, 1), 1.0, burns=[(2, np.nan)]), "burns are not all numbers"),
    (la.Thruster("hub", (0, 0, 1), [(0, 2)]), "a schedule of one row acts at no time: give a second row"),
    (la.Spring("hub", "world", stiffness=1.0), "there is no body 'world'; the ground is other=None"),
    (la.Thruster("hub", (0, 0, 1), 1.0, burns=[(0, 2), (1, 3)]), "burns must follow each other without overlap"),
])
def test_faults_name_the_force_and_the_way_out(force, fault):
    model = pair()
    model.add_force("odd", force)
    with pytest.raises(la.ModelError) as caught:
        model.validate()
    (found,) = caught.value.faults
    assert found.startswith(f"force 'odd' ({force.kind}): {fault}")


@pytest.mark.parametrize(("make", "message"), [
    (lambda: la.Spring("hub", point=(1, 2), stiffness=1), "point of a Spring must be 3 numbers"),
    (lambda: la.Spring("hub", stiffness="hard"), "stiffness of a Spring must be a number"),
    (lambda: la.Thruster("hub", (0, 0, 1), [1, 2]), r"thrust of a Thruster must be a number, or rows \(time, thrust\)"),
    (lambda: la.Thruster("hub", (0, 0, 1), 1.0, burns=3), r"burns of a Thruster must be rows \(start, stop\)"),
    (lambda: la.Thruster("hub", (0, 0, 1), 1.0, burns=(0, 1)), r"not \(0, 1\); one burn is \[\(0, 1\)\]"),
    (lambda: pair().add_force("a", 3), r"force 'a' must be a la.Spring\(...\)"),
    (lambda: pair().add_force(3, la.Field(1.0)), "names of forces must be text, not 3"),
    (lambda: rich().add_force("jet", la.Field(1.0)), "force 'jet' is added more than once"),
])
def test_what_cannot_be_is_refused_at_once(make, message):
    with pytest.raises(la.ModelError, match=message):
        make()


def test_forces_are_printed():
    text = str(rich())
    for line in ("spring 'tether': 'hub' to 'tip', 40 N/m, rest 0.7 m, 1 N s/m",
                 "field 'planet': gravity of 3.986e+14 m³/s² at (0, 0, -7e+06) m on all bodies",
                 "field 'compass': magnet (0, 0, 1) A m² in 'tip'", "thruster 'jet': 'hub', 3 N in 2 burns",
                 "thruster 'motor': 'tip', up to 5 N from 0 to 2 s"):
        assert line in text
        assert line.split(":")[0].split("'")[1] in rich()._repr_html_()


def test_models_are_equal_when_their_forces_are():
    model = rich()
    for other in (rich(), la.Model.from_dict(model.to_dict()), pickle.loads(pickle.dumps(model)), copy.copy(model)):
        assert model == other and model.forces == other.forces
    other = pair()
    for name, force in model.forces.items():
        other.add_force(name, force if name != "tether" else la.Spring("hub", "tip", stiffness=41))
    assert model != other and pair() != model and "forces" not in pair().to_dict()
    assert hash(model.forces["jet"]) == hash(rich().forces["jet"])


def test_a_copy_has_forces_of_its_own():
    model = rich()
    other = copy.copy(model)
    other.add_force("more", la.Field(1.0))
    assert "more" not in model.forces
    with pytest.raises(TypeError):
        model.forces["more"] = la.Field(1.0)


def test_force_of_somebody_else_in_plain_data():
    """It is known by module and name, and told by that where it is missing."""
    model = pair()
    model.add_force("odd", Strange("hub", 2.5))
    data = model.to_dict()
    fields = {"body": "hub", "strength": 2.5}
    assert data["forces"] == [{"name": "odd", "kind": f"{__name__}.Strange", "fields": fields}]
    assert la.Model.from_dict(data) == model
    known = "which is not known here"
    for kind, said in (("magnets.Magnet", f"is of the class magnets.Magnet, {known}: import magnets first"),
                       ("sprung", "has the unknown kind 'sprung'; use one of spring, field, thruster"),
                       ("__main__.Magnet", f"is of the class __main__.Magnet, {known}: run the definition of Magnet"),
                       ("m.make.<locals>.Magnet", f"{known}: call m.make, in which it is defined, first")):
        data["forces"][0]["kind"] = kind
        with pytest.raises(la.ModelError, match=f"force 'odd' .*{said}|force 'odd' {said}"):
            la.Model.from_dict(data)
    assert "magnets" not in sys.modules  # nothing is imported because a file says so
    with pytest.raises(la.ModelError, match=r"Strange does not say in a method tables\(\) what acts"):
        la.energy(model)


def test_lazy_bodies():
    """Bodies may be added after the forces that name them."""
    model = la.Model()
    model.add_force("tie", la.Spring("late", stiffness=1.0))
    model.add_body("late", None, la.Prismatic((1, 0, 0)), inertia=la.Inertia(1.0))
    model.validate()
    assert model.revision > 2
