"""What differs between members: its names, how its values are drawn, and what they set in the model."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from leastaction.arguments import finite, real_array, shown
from leastaction.model import Body, Fixed, Model
from leastaction.model.names import did_you_mean

Array = np.ndarray
OF_BODIES = {"mass": None, "com": 3, "position": 3}  # and how many numbers each has
OF_STATE = ("q", "v")
# Fields of joints that are the same in all members
UNVARIED = ("limits", "limit_restitution", "friction", "effort_limit", "velocity_limit")
NOT_NUMBERS = ("name",)
VECTORS = ("gravity", "com", "position", "axis")
PLACES = ("mean", "low", "high")  # fields of distributions that are values, not deviations


def _numbers(label: str, value: ArrayLike | None) -> Any:
    """Check what a distribution is given: finite numbers, kept as floats and tuples so that distributions compare."""
    if value is None:
        return None
    array = real_array(value, label)
    if array.ndim > 1 or not np.isfinite(array).all():
        raise ValueError(f"{label} must be a finite number or a list of them, not {shown(value)}")
    return array.item() if array.size == 1 else tuple(array.tolist())


@dataclass(frozen=True)
class Normal:
    """Draw from a normal distribution, every number by itself.

    Parameters
    ----------
    mean : number, or one an entry, in the unit of what is varied; None for the value that the model has
    std : standard deviation, likewise
    relative : in place of std, the standard deviation as a fraction of the model's value: 0.05 for 5 %

    A ball or free joint, or a whole q with such joints, is turned from its mean by a rotation vector that is drawn, so
    std is in rad (and m), one number for all or one for each of its velocities.
    """

    mean: Any = None
    std: Any = None
    relative: Any = None

    def __post_init__(self) -> None:
        for field in fields(self):
            object.__setattr__(self, field.name, _numbers(f"{field.name} of Normal", getattr(self, field.name)))
        if (self.std is None) == (self.relative is None):
            raise ValueError("Normal needs either std or relative, as in Normal(std=0.1) or Normal(relative=0.05)")
        if min(np.ravel(self.std if self.relative is None else self.relative), default=0) < 0:
            raise ValueError(f"the standard deviation of Normal must not be negative: {self!r}")

    def noise(self, rng: np.random.Generator, size: int) -> Array:
        """Draw (size,) numbers of mean 0 and standard deviation 1."""
        return rng.standard_normal(size)

    def scaled(self, noise: Array, nominal: Array) -> tuple[Array, Array]:
        """Return the centre, and the deviations from it (..., size) that the noise stands for."""
        std = np.abs(nominal) * self.relative if self.std is None else np.asarray(self.std)
        return nominal if self.mean is None else np.broadcast_to(self.mean, nominal.shape), noise * std


@dataclass(frozen=True)
class Uniform:
    """Draw from a uniform distribution, every number by itself.

    Parameters
    ----------
    low, high : numbers, or one an entry, in the unit of what is varied
    around : in place of them, half the width of a range about the model's value
    relative : in place of them, the same as a fraction of the model's value: 0.05 for ± 5 %

    A ball or free joint, or a whole q with such joints, takes ``around``, in rad (and m): it is turned from the model's
    value by a rotation vector that is drawn.
    """

    low: Any = None
    high: Any = None
    around: Any = None
    relative: Any = None

    def __post_init__(self) -> None:
        for field in fields(self):
            object.__setattr__(self, field.name, _numbers(f"{field.name} of Uniform", getattr(self, field.name)))
        ways = (self.low is not None or self.high is not None, self.around is not None, self.relative is not None)
        if sum(ways) != 1 or (self.low is None) != (self.high is None):
            raise ValueError("Uniform needs low and high, or around, or relative, as in Uniform(-0.1, 0.1), "
                             "Uniform(around=0.1) or Uniform(relative=0.05)")
        if self.low is not None and np.any(np.subtract(self.high, self.low) < 0):
            raise ValueError(f"low of Uniform must not be greater than high: {self!r}")
        if min(np.ravel(self.around or self.relative or 0)) < 0:
            raise ValueError(f"the range of Uniform must not be negative: {self!r}")

    def noise(self, rng: np.random.Generator, size: int) -> Array:
        """Draw (size,) numbers from 0 to 1."""
        return rng.random(size)

    def scaled(self, noise: Array, nominal: Array) -> tuple[Array, Array]:
        """Return the centre, and the deviations from it (..., size) that the noise stands for."""
        if self.low is not None:
            low = np.broadcast_to(self.low, nominal.shape)
            return low, noise * np.subtract(self.high, self.low)
        half = np.asarray(self.around) if self.relative is None else np.abs(nominal) * self.relative
        return nominal, (2.0 * noise - 1.0) * half


Distribution = Normal | Uniform
Law = Callable[[np.random.Generator], ArrayLike]
Source = Distribution | Law | Array


class Target(NamedTuple):
    """One thing that is varied.

    name : as users read it, "mass:link2"
    what : "q", "v", "gravity", "mass", "com", "position", or a field of joints
    body : index of the body, −1 for all
    size : how many numbers it has, None for a single one
    nominal : () or (size,) the model's own value
    turns : how many numbers turn it, if it has quaternions; else 0
    """

    name: str
    what: str
    body: int
    size: int | None
    nominal: Array
    turns: int = 0

    @property
    def drawn(self) -> int:
        """How many numbers a distribution draws for it."""
        return self.turns or self.size or 1


def targets(model: Model, name: str) -> list[Target]:
    """Return the targets that a name means; if there are none, a ValueError lists similar names.

    Parameters
    ----------
    name : "q", "v", "gravity", or "what:element", where * and ? in the element match any characters
    """
    if not isinstance(name, str):
        raise ValueError(f"names of vary are text such as 'q' or 'mass:link2', not {shown(name)}")
    what, colon, pattern = name.partition(":")
    if not colon:
        if what == "gravity":
            return [Target(name, what, -1, 3, np.array(model.gravity))]
        if what in OF_STATE:
            return [_state(model, name, what, -1)]
        if what in _kinds(model):
            raise ValueError(f"vary: {name!r} needs the name of a body or joint: '{what}:*' for all, each by itself, "
                             f"or one, as '{what}:{model.names[0]}'")
        raise ValueError(f"vary has no {name!r}: give 'q', 'v', 'gravity', or what is varied and the body or joint, as "
                         f"'mass:{model.names[0]}' or 'mass:*'{did_you_mean(name, _kinds(model))}")
    if what in UNVARIED:
        raise ValueError(f"{name!r} cannot be varied: {what} of joints cannot be varied")
    if what not in _kinds(model):
        raise ValueError(f"vary has no '{what}' of bodies or joints in {name!r}; there are "
                         f"{', '.join(_kinds(model))}{did_you_mean(what, _kinds(model))}")
    any_of_them = any(character in pattern for character in "*?[")
    found = [target for b, body in enumerate(model.bodies) if _matches(body, what, pattern)
             for target in _of_body(model, f"{what}:{_label(body, what) if any_of_them else pattern}", what, b)
             if not (any_of_them and what == "mass" and body.inertia.mass == 0)]  # frames without mass stay so
    if not found:
        having = [_label(body, what) for b, body in enumerate(model.bodies) if [*_of_body(model, "", what, b)]]
        names = ", ".join(map(repr, having[:8])) + (f" and {len(having) - 8} more" if len(having) > 8 else "")
        raise ValueError(f"vary: {name!r} matches nothing of {model.name} that has '{what}', which are "
                         f"{names or 'none'}{did_you_mean(pattern, having)}")
    return found if any_of_them else found[:1]


def _kinds(model: Model) -> list[str]:
    """List what bodies and joints of a model have that can be varied."""
    own = {field.name for body in model.bodies for field in fields(body.joint)} - {*UNVARIED, *NOT_NUMBERS}
    return [*OF_STATE, *OF_BODIES, *sorted(own)]


def _matches(body: Body, what: str, pattern: str) -> bool:
    names = (body.name,) if what in OF_BODIES else (body.name, body.joint.name or body.name)
    return any(one == pattern or fnmatchcase(one, pattern) for one in names)


def _label(body: Body, what: str) -> str:
    """Name an element: joints by their own name, where they have one."""
    return body.name if what in OF_BODIES else body.joint.name or body.name


def _of_body(model: Model, name: str, what: str, b: int) -> Iterator[Target]:
    """Return the target of one body; None if the body has no such quantity."""
    body = model.bodies[b]
    if what in OF_BODIES:
        value = {"mass": body.inertia.mass, "com": body.inertia.com, "position": body.position}[what]
        yield Target(name, what, b, OF_BODIES[what], np.array(value, dtype=float))
    elif isinstance(body.joint, Fixed):
        return
    elif what in OF_STATE:
        yield _state(model, name, what, b)
    else:
        value = getattr(body.joint, what, None)
        if what == "rest" and value is None:
            value = body.joint.neutral if body.joint.nq > 1 else 0.0
        if isinstance(value, float | tuple | np.ndarray):
            array = np.array(value, dtype=float)
            turned = what == "rest" and body.joint.quaternion_at is not None  # needs unit quaternions
            if array.ndim <= 1 and not turned:
                yield Target(name, what, b, array.size if array.ndim else None, array)


def _state(model: Model, name: str, what: str, b: int) -> Target:
    """Return the target of a state, or of the part of it that belongs to one body."""
    layout = model.layout
    if what == "v":
        nominal = model.v0[layout.v_slice(b)] if b >= 0 else model.v0
        return Target(name, what, b, None if b >= 0 and len(nominal) == 1 else len(nominal),
                      nominal[0] if b >= 0 and len(nominal) == 1 else nominal)
    if b < 0:
        return Target(name, what, b, model.nq, model.q0, model.nv if len(layout.quaternions) else 0)
    nominal, joint = model.q0[layout.q_slice(b)], model.bodies[b].joint
    if joint.nq == 1:
        return Target(name, what, b, None, nominal[0])
    return Target(name, what, b, joint.nq, nominal, joint.nv if joint.quaternion_at is not None else 0)


def check_source(target: Target, source: Source, members: int) -> None:
    """Raise a ValueError if values from this source do not fit the target."""
    size = target.size
    if isinstance(source, np.ndarray):
        wanted = (members,) if size is None else (members, size)
        if source.shape != wanted:
            raise ValueError(f"vary: the array for {target.name!r} must have the shape {wanted}, not {source.shape}")
        return
    if not isinstance(source, Distribution):
        return
    for field in fields(source):
        if (value := getattr(source, field.name)) is None:
            continue
        length, one = (size if field.name == "mean" else target.drawn) or 1, 1
        if target.what in VECTORS and field.name in PLACES:
            one = length  # one number for x, y and z is probably a mistake
        if np.size(value) not in (one, length):
            raise ValueError(f"vary: {field.name} for {target.name!r} must be {'a number or ' * (one < length)}"
                             f"{length} number{'s' * (length > 1)}, not {shown(value)}")
    if not target.turns:
        return
    if source.relative is not None or getattr(source, "low", None) is not None:
        raise ValueError(f"vary: {target.name!r} has quaternions, so give its std or around, in rad, or an array or a "
                         f"function of unit quaternions, not {source!r}")
    mean = getattr(source, "mean", None)
    if mean is not None and len(np.ravel(mean)) != size:
        raise ValueError(f"vary: mean for {target.name!r} must be {size} numbers with unit quaternions, not {mean!r}")


def as_source(name: str, given: object) -> Source:
    """Return what values are drawn from: a distribution, a function of a Generator, or an array."""
    if given is Normal or given is Uniform:
        raise ValueError(f"vary: {name!r} is given {given.__name__} without numbers: give Normal(relative=0.05) or "
                         "Uniform(-1, 1), for instance")
    if isinstance(given, Distribution) or callable(given):
        return given
    if finite(given) is not None:
        raise ValueError(f"vary: {name!r} is given the number {given}, which would be the same for all members: give "
                         "Normal(...), Uniform(...), a function of a NumPy Generator, or an array with a row a member")
    return real_array(given, f"vary: {name!r}", "Normal(...), Uniform(...), a function of a Generator, or an array")


def sources(model: Model, vary: Mapping[str, object], members: int) -> list[tuple[str, Source, list[Target]]]:
    """Resolve the names of `vary`, in their order; a ValueError tells what is unknown, or varied twice."""
    found: list[tuple[str, Source, list[Target]]] = []
    taken: dict[tuple[str, int], str] = {}
    for name, given in vary.items():
        source, named = as_source(name, given), targets(model, name)
        if getattr(source, "relative", None) is not None and not any(target.nominal.any() for target in named):
            raise ValueError(f"vary: {name!r} is 0 in {model.name}, and a part of 0 is 0, so that no member would "
                             "differ: give std of Normal, or around of Uniform, in its unit")
        for target in named:
            check_source(target, source, members)
            for body in range(model.nb) if target.what in OF_STATE and target.body < 0 else (target.body,):
                if (target.what, body) in taken:
                    raise ValueError(f"vary: {target.name!r} is varied twice, by {taken[target.what, body]!r} and "
                                     f"{name!r}")
                taken[target.what, body] = name
        found.append((name, source, named))
    return found
