import re
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

import leastaction as la
from leastaction.model import (
    BALL,
    FREE,
    JOINT_KINDS,
    SCREW,
    Ball,
    Cylindrical,
    Fixed,
    Free,
    Helical,
    Planar,
    Prismatic,
    Revolute,
    Universal,
)
from leastaction.model.joint import STILL, Joint

X, Y, Z, ZERO = (1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, 0)
NAN = float("nan")
EXAMPLES = {
    "revolute": Revolute(Y),
    "prismatic": Prismatic(Y),
    "helical": Helical(Y, 0.1),
    "ball": Ball(),
    "free": Free(),
    "fixed": Fixed(),
    "cylindrical": Cylindrical(Y),
    "universal": Universal(X, Y),
    "planar": Planar(X, Y),
}


@pytest.mark.parametrize("name", JOINT_KINDS)
def test_parts_add_up_to_the_joint(name):
    joint = EXAMPLES[name]
    assert isinstance(joint, JOINT_KINDS[name])
    assert joint.faults() == []
    assert joint.neutral.shape == (joint.nq,)
    assert sum(part.nq for part in joint.parts()) == joint.nq
    assert sum(part.nv for part in joint.parts()) == joint.nv
    rests = [part.rest for part in joint.parts()]
    np.testing.assert_array_equal(np.concatenate([np.zeros(0), *rests]), joint.neutral)


@pytest.mark.parametrize(
    ("joint", "motions"),
    [
        (Revolute((0, 2, 0)), [(Y, ZERO)]),
        (Prismatic((0, 2, 0)), [(ZERO, Y)]),
        (Helical((0, 2, 0), pitch=0.5), [(Y, (0, 0.5, 0))]),
        (Universal((3, 0, 0), (0, 4, 0)), [(X, ZERO), (Y, ZERO)]),
        (Cylindrical((0, 2, 0)), [(Y, ZERO), (ZERO, Y)]),
        (Planar((0, 3, 0), (0, 0, 4)), [(ZERO, Y), (ZERO, Z), (X, ZERO)]),
    ],
)
def test_screws_have_unit_axes(joint, motions):
    parts = joint.parts()
    assert [part.kind for part in parts] == [SCREW] * len(motions)
    for part, (turn, slide) in zip(parts, motions, strict=True):
        np.testing.assert_array_equal(part.turn, turn)
        np.testing.assert_array_equal(part.slide, slide)


def test_neutral_quaternions():
    assert Ball().parts()[0].kind == BALL
    assert Free().parts()[0].kind == FREE
    assert Ball().neutral.tolist() == [1, 0, 0, 0]
    assert Free().neutral.tolist() == [0, 0, 0, 1, 0, 0, 0]


def test_passive_coefficients_reach_every_part():
    joint = Planar(X, Y, damping=2, stiffness=(1, 2, 3), rest=(0.1, 0.2, 0.3), armature=(4, 5, 6))
    parts = joint.parts()
    assert [part.damping for part in parts] == [2, 2, 2]
    assert [part.stiffness for part in parts] == [1, 2, 3]
    assert [part.armature for part in parts] == [4, 5, 6]
    assert [part.rest.tolist() for part in parts] == [[0.1], [0.2], [0.3]]
    assert Revolute(Y, rest=0.5).parts()[0].rest.tolist() == [0.5]


def test_bending_and_torsion_of_a_ball_joint():
    (part,) = Ball((0, 3, 0), stiffness=(2.0, 7.0)).parts()
    assert (part.stiffness, part.torsion, part.axis.tolist()) == (2.0, 5.0, [0, 1, 0])
    (same,) = Ball((0, 3, 0), stiffness=(2.0, 2.0)).parts()
    assert (same.stiffness, same.torsion, same.axis.tolist()) == (2.0, 0.0, [0, 0, 0])
    assert Ball(Y, stiffness=(0.0, 1.0)).parts()[0].sprung and not Ball(Y).parts()[0].sprung


def test_rest_quaternion_is_normalised():
    rest = np.array([3.0, 2.0, 1.0, 0.6, 0.8 * (1 + 1e-7), 0, 0])
    stored = Free(rest=rest).parts()[0].rest
    assert np.linalg.norm(stored[3:]) == pytest.approx(1, abs=1e-15)
    assert stored[:3].tolist() == [3, 2, 1]


def test_joints_compare_by_value_and_take_arrays():
    assert Revolute(np.array([0, 1, 0]), limits=[-1, 1]) == Revolute((0.0, 1.0, 0.0), limits=(-1.0, 1.0))
    assert hash(Revolute(Y)) == hash(Revolute([0, 1, 0]))
    assert Revolute(Y) != Prismatic(Y)


@pytest.mark.parametrize(
    "joint",
    [
        Revolute(Y, limits=(-1, 1)),
        Revolute(Y, limits=(-np.inf, 1)),
        Universal(X, Y, limits=((-1, -2), (1, 2)), friction=(0.1, 0.2)),
        Universal(X, Y, limits=(-1, 1)),
        Ball(limits=(0, 1)),
        Ball((0, 0, 2), stiffness=(1, 0)),
        Ball((0, 0, 2), stiffness=1),
    ],
)
def test_sound_joints_have_no_faults(joint):
    assert joint.faults() == []


@pytest.mark.parametrize(
    ("joint", "faults"),
    [
        (Revolute(ZERO), ["axis is zero: give it a direction"]),
        (Revolute((0, 1)), ["axis must be three numbers, not (0.0, 1.0)"]),
        (Revolute("y"), ["axis must be three numbers, not 'y'"]),
        (Prismatic((0, NAN, 0)), ["axis is not finite: (0.0, nan, 0.0)"]),
        (Helical(Y, "1cm"), ["pitch must be a finite number, not '1cm'"]),
        (Helical(Y, np.inf), ["pitch must be a finite number, not inf"]),
        (Revolute(Y, limits=(1, -1)), ["limits are in the wrong order: low 1 > high -1"]),
        (Revolute(Y, limits=3), ["limits must be a pair (low, high) of numbers, not 3.0"]),
        (Revolute(Y, limits=(NAN, 1)), ["limits are not numbers: (nan, 1.0)"]),
        (
            Universal(X, Y, limits=((0, 0, 0), (1, 1, 1))),
            ["limits must be a pair (low, high) of numbers or of 2 numbers each, "
             "not ((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))"],
        ),
        (Universal(X, Y, limits=((0, 5), (1, 1))), ["limits are in the wrong order: low 5 > high 1"]),
        (Revolute(Y, damping="1,5kg"), ["damping must be a number, not '1,5kg'"]),
        (Revolute(Y, stiffness=(1, 2)), ["stiffness must be a number, not (1.0, 2.0)"]),
        (Planar(X, Y, armature=(1, 2)), ["armature must be a number or 3 numbers, not (1.0, 2.0)"]),
        (Ball(armature=np.inf), ["armature is not finite: inf"]),
        (
            Ball(stiffness=(1, 2)),
            ["stiffness is that of bending and that of torsion, (1.0, 2.0): give the axis of torsion, as in "
             "Ball(stiffness=(20.0, 5.0), axis=(0, 0, 1)), or one number"],
        ),
        (Ball(Z, stiffness=(1, 2, 3)), ["stiffness must be a number or (bending, torsion), not (1.0, 2.0, 3.0)"]),
        (Ball(ZERO, stiffness=(1, -2)), ["axis is zero: give it a direction", "stiffness is negative: (1.0, -2.0)"]),
        (Ball(Z, damping=(1, 2)), ["damping must be a number, not (1.0, 2.0)"]),
        (Ball(friction=NAN), ["friction is not finite: nan"]),
        (Revolute(Y, rest=(0, 1)), ["rest must have 1 numbers, not (0.0, 1.0)"]),
        (Revolute(Y, rest=NAN), ["rest is not finite: nan"]),
        (Ball(rest=(2, 0, 0, 0)), ["rest has a quaternion of norm 2; give a unit quaternion (w, x, y, z)"]),
        (Universal(X, (-2, 0, 0)), ["axis1 and axis2 are parallel: use a Revolute joint"]),
        (Universal(X, ZERO), ["axis2 is zero: give it a direction"]),
        (Planar(X, (1, 1, 0)), ["axis1 and axis2 are not orthogonal: make them span the plane squarely"]),
        (
            Revolute(ZERO, damping=-1, stiffness=-2, armature=-3, friction=-4, limits=(1, 0)),
            [
                "axis is zero: give it a direction",
                "damping is negative: -1.0",
                "stiffness is negative: -2.0",
                "armature is negative: -3.0",
                "friction is negative: -4.0",
                "limits are in the wrong order: low 1 > high 0",
            ],
        ),
    ],
)
def test_faults_are_named(joint, faults):
    assert joint.faults() == faults


@dataclass(frozen=True)
class Outside(Joint):
    """A joint from outside the package, whose chain of parts is that of a field."""

    chain: Any
    nq: ClassVar[int] = 1
    nv: ClassVar[int] = 1

    def _motions(self):
        return self.chain


@pytest.mark.parametrize(("chain", "fault"), [
    ([(SCREW, np.array([0.0, 0.0, 1.0]), STILL)], ""),
    ([(SCREW, np.array([0.0, 0.0, 2.0]), STILL)], "the turn of screw 0 has length 2; give a unit vector, turn / np."),
    ([(SCREW, STILL, np.array([0.0, 3.0, 0.0]))], "the slide of screw 0 has length 3; give a unit vector, slide / np."),
    ([(SCREW, STILL, STILL)], "the slide of screw 0 has length 0; give a unit vector"),
    ([(SCREW, np.array([0.0, 1.0]), STILL)], "the turn of screw 0 must be three finite numbers, not [0.0, 1.0]"),
    ([(SCREW, np.array([0.0, np.nan, 1.0]), STILL)], "the turn of screw 0 must be three finite numbers"),
    ([(SCREW, np.array(X), STILL)] * 2, "gives 2 screws, and nq is 1, nv 1: each screw has one number"),
    ([(BALL, STILL, STILL)] * 2, "gives 2 parts that are no screws, and may give one"),
    ([SCREW], "must give rows (SCREW, turn, slide), not [0]"),
])
def test_a_chain_from_outside_that_does_not_fit_is_refused_by_name(chain, fault):
    model = la.Model()
    model.add_body("puck", joint=Outside(None), inertia=la.Inertia.sphere(1.0, 0.1))
    object.__setattr__(model.bodies[0].joint, "chain", chain)
    if not fault:
        return model.validate()
    with pytest.raises(la.ModelError, match=rf"^body 'puck': joint Outside: _motions\(\):? {re.escape(fault)}"):
        model.validate()
