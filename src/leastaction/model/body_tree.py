"""A tree of rigid bodies on a fixed ground: the bodies, their joints, and the layout of q and v."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from leastaction.errors import ModelError
from leastaction.model.arrays import as_array, nearly_unit
from leastaction.model.body import MASSLESS, WELD, Body
from leastaction.model.geometry import Geometry
from leastaction.model.inertia import Inertia
from leastaction.model.joint import Joint
from leastaction.model.names import did_you_mean
from leastaction.model.state import Layout


class BodyTree:
    """Bodies and the joints that carry them, gravity, and a state to start from; `Model` adds all else that acts.

    Parameters
    ----------
    gravity : (3,) acceleration of free fall, world frame, m/s^2
    name : of the model
    """

    def __init__(self, gravity: ArrayLike, name: str) -> None:
        self.name = name
        self._bodies: list[Body] = []
        self._index: dict[str, int] = {}
        self._revision = 0
        self._layout: Layout | None = None
        self._q0: np.ndarray | None = None
        self._v0: np.ndarray | None = None
        self.gravity = gravity

    def add_body(
        self,
        name: str,
        parent: str | None = None,
        joint: Joint = WELD,
        position: ArrayLike = (0.0, 0.0, 0.0),
        quaternion: ArrayLike = (1.0, 0.0, 0.0, 0.0),
        inertia: Inertia | None = None,
        geometry: Iterable[Geometry] = (),
    ) -> Body:
        """Add a body.

        Parameters
        ----------
        name : unique within the model
        parent : name of the parent body, which may be added later; None for the ground
        joint : how the body moves against its parent
        position : (3,) joint frame's origin at the neutral configuration, parent's body frame, m
        quaternion : (4,) unit quaternion of the joint frame's axes, parent's body frame
        inertia : of the body, body frame; None for a massless body
        geometry : what it looks like, for viewers
        """
        if not isinstance(name, str) or not isinstance(parent, str | None):
            raise ModelError(f"names of bodies must be text, not {name!r} with the parent {parent!r}")
        if not isinstance(inertia, Inertia | None):
            raise ModelError(f"the inertia of body '{name}' must be an Inertia, not {inertia!r}")
        body = Body(
            name,
            parent,
            joint,
            as_array(position, (3,), f"the position of body '{name}'"),
            nearly_unit(as_array(quaternion, (4,), f"the quaternion of body '{name}'")),
            MASSLESS if inertia is None else inertia,
            tuple(geometry),
        )
        self._append(body)
        if isinstance(joint, Joint):
            self._q0 = None if self._q0 is None else np.append(self._q0, joint.neutral)
            self._v0 = None if self._v0 is None else np.append(self._v0, np.zeros(joint.nv))
        return body

    @property
    def bodies(self) -> tuple[Body, ...]:
        """All bodies, in the order added."""
        return tuple(self._bodies)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the bodies, in the order added."""
        return tuple(body.name for body in self._bodies)

    @property
    def nb(self) -> int:
        """Number of bodies, fixed ones included."""
        return len(self._bodies)

    @property
    def nq(self) -> int:
        """Size of a configuration."""
        return self.layout.nq

    @property
    def nv(self) -> int:
        """Size of a velocity: the number of degrees of freedom."""
        return self.layout.nv

    @property
    def revision(self) -> int:
        """Grows with every change but of q0, v0, command0 and what comes from files; a key for caches."""
        return self._revision

    @property
    def gravity(self) -> np.ndarray:
        """(3,) acceleration of free fall, world frame, m/s^2; read-only, assign to change it."""
        return self._gravity

    @gravity.setter
    def gravity(self, value: ArrayLike) -> None:
        self._gravity = as_array(value, (3,), "gravity")
        self._changed()

    @property
    def q0(self) -> np.ndarray:
        """(nq,) copy of the default initial configuration, rad, m, unit quaternions; assign to change it."""
        return self.layout.neutral() if self._q0 is None else self._q0.copy()

    @q0.setter
    def q0(self, value: ArrayLike) -> None:
        self._q0 = self.check_state(value, None)[0]

    @property
    def v0(self) -> np.ndarray:
        """(nv,) copy of the default initial velocity, rad/s and m/s; assign to change it."""
        return np.zeros(self.nv) if self._v0 is None else self._v0.copy()

    @v0.setter
    def v0(self, value: ArrayLike) -> None:
        self._v0 = self.check_state(None, value)[1]

    @property
    def total_mass(self) -> float:
        """Mass of all bodies, those fixed to the ground included, kg."""
        return math.fsum(body.inertia.mass for body in self._bodies)

    @property
    def layout(self) -> Layout:
        """Where each body's numbers are in q and v."""
        if self._layout is None:
            self._layout = Layout(self._bodies)
        return self._layout

    @property
    def parents(self) -> np.ndarray:
        """(nb,) index of each body's parent, -1 for the ground (and for a parent that does not exist)."""
        parents = [-1 if body.parent is None else self._index.get(body.parent, -1) for body in self._bodies]
        return np.array(parents, dtype=int)

    def body_index(self, name: str) -> int:
        """Return the index of a body in the order added; the name of its joint will do where no body has that name."""
        if name in self._index:
            return self._index[name]
        named = (b for b, body in enumerate(self._bodies) if isinstance(body.joint, Joint) and body.joint.name == name)
        index = next(named, None) if name else None
        if index is None:
            raise ModelError(f"there is no body '{name}' in {self.name}" + did_you_mean(name, self._index))
        return index

    def q_slice(self, name: str) -> slice:
        """Tell where the body's joint is in q."""
        return self.layout.q_slice(self.body_index(name))

    def v_slice(self, name: str) -> slice:
        """Tell where the body's joint is in v."""
        return self.layout.v_slice(self.body_index(name))

    def order(self) -> list[int]:
        """List body indices, parents first and otherwise as added; for a model without faults."""
        parents = self.parents.tolist()
        placed = [False] * len(parents)
        order: list[int] = []
        for body in range(len(parents)):
            path = []
            while body >= 0 and not placed[body]:
                placed[body] = True
                path.append(body)
                body = parents[body]
            order.extend(reversed(path))
        return order

    def check_state(self, q: ArrayLike | None, v: ArrayLike | None) -> tuple[np.ndarray, np.ndarray]:
        """Copy a state to fresh float arrays with unit quaternions; None stands for q0 or v0.

        Parameters
        ----------
        q : (nq,) configuration, rad, m and unit quaternions
        v : (nv,) velocity, body axes for ball and free joints, rad/s and m/s

        Raises
        ------
        ValueError
            Listing every fault: shape, numbers that are not finite, quaternions that are not unit.
        """
        return self.layout.check_state(self.q0 if q is None else q, self.v0 if v is None else v)

    def _append(self, body: Body) -> None:
        self._index.setdefault(body.name, len(self._bodies))
        self._bodies.append(body)
        self._changed()

    def _changed(self) -> None:
        self._revision += 1
        self._layout = None
