"""What does not act is named once for a model, whoever built it, and the words of ignore= silence it."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import leastaction as la
from leastaction.errors import ModelWarning
from leastaction.model.library import BUILTIN, by_name
from leastaction.model.unhonoured import WORDS, tell_command

ROD = la.Inertia.rod(1.0, 0.5, com=(0, 0, -0.25))
WARN = pytest.mark.filterwarnings("always::leastaction.errors.ModelWarning")


def arm(geometry=(), free=False, **joint) -> la.Model:
    model = la.Model(name="arm")
    hinge = la.Free(name="hinge", **joint) if free else la.Revolute((0, 1, 0), name="hinge", **joint)
    inertia = la.Inertia.box(1.0, (0.1, 0.2, 0.5)) if free else ROD
    model.add_body("link", joint=hinge, inertia=inertia, geometry=geometry)
    model.v0 = 0.1 * np.eye(model.nv)[0]   # a model at rest is not compared
    return model


def collider(visual: bool = False) -> la.Geometry:
    return replace(la.Geometry.capsule((0, 0, 0), (0, 0, -0.5), 0.02, (1, 0, 0, 1)), visual=visual)


def heard(action) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        action()
    return [str(warning.message) for warning in caught if issubclass(warning.category, ModelWarning)]


def simulate(model, **options):
    return la.simulate(model, dt=1e-3, steps=2, **options)


@pytest.mark.parametrize(("joint", "word", "name"), [
    ({"effort_limit": 3.0, "velocity_limit": 2.0}, "effort", "'hinge' (effort, velocity)"),
    ({"limits": (0, 1)}, "limits", "'hinge'"),
    ({"friction": 0.1}, "friction", "'hinge'"),
])
def test_joints_built_by_hand(joint, word, name):
    model = arm(free=word != "effort", **joint)
    assert model.ignored == {word: (name,)}
    (text,) = heard(lambda: simulate(model))
    assert text == (f"arm: kept but not acting: {WORDS[word]} (1); model.ignored names them, "
                    f"ignore=('{word}',) silences this")
    assert heard(lambda: simulate(arm(free=word != "effort", **joint), ignore=word)) == []


@pytest.mark.parametrize("joint", [{"limits": (-0.5, 0.5)}, {"limits": (-0.5, np.inf)}, {"friction": 0.1}])
def test_what_acts_is_named_when_it_is_switched_off(joint):
    model, (word,) = arm(**joint), joint
    assert model.ignored == {} and heard(lambda: simulate(model)) == []
    assert heard(lambda: simulate(model, ignore=word)) == []
    assert simulate(model, ignore=word).model.ignored == {word: ("'hinge'",)} and model.switched_off == frozenset()
    assert model.without("limits").without("friction").switched_off == {word}
    assert la.Model.from_dict(model.without(word).to_dict()) == model.without(word) != model


@pytest.mark.parametrize("joint", [{}, {"limits": (-np.inf, np.inf)}, {"effort_limit": np.inf}, {"damping": 0.1}])
def test_what_acts_or_bounds_nothing_is_not_named(joint):
    assert arm(**joint).ignored == {} and heard(lambda: simulate(arm(**joint))) == []


def test_visual_shapes_never_count():
    assert arm([collider(visual=True)]).ignored == {}
    assert arm([collider(), collider(visual=True)]).ignored == {"collision": ("'link'",)}


def test_joints_of_several_degrees_of_freedom():
    model = la.Model()
    model.add_body("a", joint=la.Universal((1, 0, 0), (0, 1, 0), friction=(0.0, 0.2)), inertia=ROD)
    model.add_body("b", "a", joint=la.Ball(limits=(0, 1), friction=0.1), inertia=ROD)
    model.add_body("c", joint=la.Free(limits=(0, 1)), inertia=ROD)
    assert model.ignored == {"limits": ("'c'",), "friction": ("'b'",)}


def starts() -> dict:
    return {
        "simulate": simulate,
        "Simulator": lambda model, **options: la.Simulator(model, **options),
        "simulate_many": lambda model, **options: la.simulate_many(model, np.ones((3, 1)), steps=2, **options),
        "other masses": lambda model, **options: la.simulate_many(model, mass=np.ones((3, 1)), steps=2, **options),
        "audit": lambda model, **options: la.audit(model, duration=0.05, **options),
        "compare": lambda model, **options: la.compare(model, duration=0.01, **options),
    }


@pytest.mark.parametrize("name", starts())
def test_every_simulation_says_it_once_and_takes_the_words(name):
    start, model = starts()[name], arm(effort_limit=1.0, geometry=[collider()])
    (text,) = heard(lambda: start(model))
    assert "limits of effort or velocity (1), collision geometry (1)" in text
    assert heard(lambda: [other(model) for other in starts().values()]) == []
    model.gravity = (0, 0, -1.6)   # another revision, but nothing new to say
    assert heard(lambda: simulate(model)) == []
    model.add_body("tip", "link", la.Revolute((0, 1, 0), effort_limit=1.0), inertia=ROD)
    (text,) = heard(lambda: simulate(model))
    assert "velocity (2)" in text
    (text,) = heard(lambda: start(arm(effort_limit=1.0, geometry=[collider()]), ignore="effort"))
    assert "collision geometry (1)" in text and "velocity (" not in text
    assert heard(lambda: start(arm(effort_limit=1.0, geometry=[collider()]), ignore=("limits", "collision"))) == []
    with pytest.raises(ValueError, match=r"ignore= does not know 'limit'; choose from limits, effort, .*, damping"):
        start(arm(), ignore="limit")


def test_the_warning_points_at_the_line_of_the_user():
    with pytest.warns(ModelWarning) as caught:
        simulate(arm(effort_limit=0.1))
    assert caught[0].filename == __file__


def test_an_error_filter_raises_every_time():
    model = arm(effort_limit=0.1)
    for _ in range(2):
        with warnings.catch_warnings(), pytest.raises(ModelWarning):
            warnings.simplefilter("error")
            simulate(model)


URDF = """<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><transmission name="t"/>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""


def test_a_file_is_spoken_of_when_loaded_and_not_again(tmp_path):
    (tmp_path / "r.urdf").write_text(URDF)
    models = []
    (text,) = heard(lambda: models.append(la.load(tmp_path / "r.urdf")))
    assert text.startswith("r.urdf: kept but not acting: limits of effort or velocity (1), actuators (1);")
    models.append(la.load(tmp_path / "r.urdf", ignore=("limits", "actuators")))
    for model in models:
        assert heard(lambda model=model: simulate(model)) == []
    again = la.Model.from_dict(models[0].to_dict())   # nobody was told of this one
    assert again.ignored == models[0].ignored and len(heard(lambda: simulate(again))) == 1


def test_a_run_in_a_file_is_not_spoken_of_again(tmp_path):
    run = simulate(arm(limits=(-1, 1)), ignore="limits", out=tmp_path / "run.h5")
    opened = la.open(tmp_path / "run.h5")
    assert opened.model.ignored == run.model.ignored == {"limits": ("'hinge'",)}
    assert heard(lambda: (opened.audit(), la.resume(tmp_path / "run.h5", steps=5))) == []


@pytest.mark.parametrize("name", BUILTIN)
def test_the_models_of_the_library_are_silent(name):
    model = by_name(name)
    assert model.ignored == {} and heard(lambda: simulate(model)) == []


def test_a_parent_that_is_not_there_yet():
    model = la.Model()
    model.add_body("b", "zz", la.Revolute((0, 1, 0)), inertia=ROD)
    assert "no body yet for the parent 'zz'" in repr(model) and "no body yet for the parent 'zz'" in str(model)
    with pytest.raises(la.ModelError, match="body 'b' has the unknown parent 'zz'"):
        la.poses(model)
    model.add_body("zz", joint=la.Fixed())
    assert "no body yet" not in repr(model)
    simulate(model)


def test_what_is_said_of_a_run_without_its_limits_is_not_said_again():
    """Such a run has a copy of the model, at every call another one."""
    model = la.Model()
    model.add_body("arm", joint=la.Revolute((0, 1, 0), limits=(-1, 1)), inertia=la.Inertia.sphere(1.0, 0.1))
    model.add_actuator("servo", la.PD("arm", kp=1.0))
    with pytest.warns(la.ModelWarning, match="no command is given") as said:
        for _ in range(3):
            tell_command(model.without("limits"))
    assert len(said) == 1
