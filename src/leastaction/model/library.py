"""Ready models, each with an initial state worth watching."""

from collections.abc import Callable

import numpy as np

from leastaction.arguments import shown, whole
from leastaction.errors import ModelError
from leastaction.model.arrays import about, product
from leastaction.model.inertia import Inertia
from leastaction.model.joint import Joint
from leastaction.model.joints import Ball, Revolute
from leastaction.model.model import Model
from leastaction.model.ragdoll import ragdoll as ragdoll

MOST_BODIES = 1_000_000
AXIS = (0.0, 1.0, 0.0)  # all hinges here turn about y, so that pendulums swing in the x-z plane


def chain(n: int = 10, length: float = 0.1, mass: float = 1.0) -> Model:
    """Make a chain of slender links along +x, released horizontally at rest: hard for an integrator.

    Parameters
    ----------
    n : number of links, a million at most
    length : of a link, m
    mass : of a link, kg
    """
    across = mass * length**2 / 12
    link = Inertia(mass, (length / 2, 0, 0), np.diag([5e-3 * mass * length**2, across, across]))
    return _serial("chain", n, (length, 0, 0), link)


def paper_chain(n: int = 10, seed: int = 0) -> Model:
    """Make the paper's chain in random motion: links of 1 kg, 1.5 m, unit inertia; q = 0 hangs straight down.

    Parameters
    ----------
    n : number of links
    seed : of the initial angles (rad), then rates (rad/s), both uniform between -pi/2 and pi/2
    """
    model = _serial("paper_chain", n, (0, 0, -1.5), Inertia(1.0, (0, 0, -0.75), np.eye(3)))
    rng = np.random.default_rng(seed)
    model.q0 = rng.uniform(-np.pi / 2, np.pi / 2, n)
    model.v0 = rng.uniform(-np.pi / 2, np.pi / 2, n)
    return model


def pendulum(length: float = 1.0, mass: float = 1.0) -> Model:
    """Hang a point mass on a massless rod, which points down at q = 0, released at 1 rad.

    Parameters
    ----------
    length : of the rod, m
    mass : at its end, kg
    """
    model = _serial("pendulum", 1, (0, 0, -length), Inertia(mass, (0, 0, -length)))
    model.q0 = [1.0]
    return model


def double_pendulum() -> Model:
    """Hang two point masses of 1 kg on massless rods of 1 m, released at 1 and 1.5 rad from the vertical.

    The joint angles are relative: q0 = (1, 0.5).
    """
    model = _serial("double_pendulum", 2, (0, 0, -1), Inertia(1.0, (0, 0, -1)))
    model.q0 = [1.0, 0.5]
    return model


def tree(depth: int = 3, branching: int = 2, joint: str = "ball") -> Model:
    """Hang a tree of rods, each with `branching` more splayed around its end; it swings gently.

    Parameters
    ----------
    depth : number of generations of bodies, of which there may be a million in all
    branching : number of children of each body but the last generation
    joint : "ball" or "revolute"
    """
    joints: dict[str, Joint] = {"ball": Ball(), "revolute": Revolute(AXIS)}
    if joint not in joints:
        raise ModelError(f"the joint of a tree must be 'ball' or 'revolute', not {joint!r}")
    depth, branching = _count("depth", depth), _count("branching", branching)
    # 21 generations are beyond the limit already, and more of them would be numbers of many digits
    bodies = depth if branching == 1 else sum(branching**k for k in range(min(depth, 21)))
    if bodies > MOST_BODIES:
        raise ModelError(f"a tree of {depth} generations, with {branching} children of each body, has more than "
                         f"{MOST_BODIES:,} bodies: give a smaller depth or branching")
    length = 0.5
    rod = Inertia.capsule(1.0, 0.03, length, com=(0, 0, -length / 2))
    splay = [product(about((0, 0, 1), 2 * np.pi * k / branching), about(AXIS, 0.6)) for k in range(branching)]
    model = Model(name="tree")
    model.add_body("body0", joint=joints[joint], inertia=rod)
    youngest = ["body0"]
    for _ in range(depth - 1):
        grown = []
        for parent in youngest:
            for turn in splay:
                grown.append(f"body{model.nb}")
                model.add_body(grown[-1], parent, joints[joint], (0, 0, -length), turn, rod)
        youngest = grown
    model.v0 = np.random.default_rng(0).uniform(-1, 1, model.nv)
    return model


def spinning_top() -> Model:
    """Set a symmetric top on its tip, tilted by 0.3 rad and spinning (100 rad/s) fast enough to stay up."""
    model = Model(name="spinning_top")
    model.add_body("top", joint=Ball(), inertia=Inertia.cylinder(0.5, 0.05, 0.02, com=(0, 0, 0.05)))
    model.q0 = about((1, 0, 0), 0.3)
    model.v0 = [0, 0, 100]
    return model


BUILTIN: dict[str, Callable[..., Model]] = {
    function.__name__: function
    for function in (chain, paper_chain, pendulum, double_pendulum, tree, ragdoll, spinning_top)
}
SIZED = ("chain", "paper_chain", "tree")


def by_name(name: str) -> Model:
    """Make the built-in model `name`; its number of links or generations may follow, as in "chain:10"."""
    kind, colon, size = name.partition(":")
    if kind not in BUILTIN:
        raise ModelError(f"there is no built-in model '{kind}'; choose from {', '.join(BUILTIN)}")
    if not colon:
        return BUILTIN[kind]()
    if kind not in SIZED or not size.isdecimal():
        raise ModelError(f"cannot read {shown(name)}; only {', '.join(SIZED)} take a size, a whole number as in "
                         f"'chain:10', for {MOST_BODIES:,} bodies at most")
    return BUILTIN[kind](int(size[:20]))  # so many digits are beyond the limit, whatever follows


def _serial(name: str, n: int, link: tuple[float, float, float], inertia: Inertia) -> Model:
    """Make a chain of n equal links, each hinged at the end of the one before."""
    n = _count("number of links", n)
    hinge = Revolute(AXIS)
    model = Model(name=name)
    for i in range(n):
        if i == 0:
            model.add_body("link1", joint=hinge, inertia=inertia)
        else:
            model.add_body(f"link{i + 1}", f"link{i}", hinge, link, inertia=inertia)
    return model


def _count(what: str, value: int) -> int:
    try:
        return whole(f"the {what}", value, 1, MOST_BODIES)
    except ValueError as error:
        raise ModelError(str(error)) from None


def __dir__() -> list[str]:
    return sorted(BUILTIN)
