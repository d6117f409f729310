"""Where each body's numbers are in q and v, and the check of a state given by a user."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from leastaction.arguments import all_finite, copied_row, real_array
from leastaction.model.arrays import UNIT_TOLERANCE
from leastaction.model.joint import Joint
from leastaction.model.joints import Fixed

if TYPE_CHECKING:
    from leastaction.model.body import Body


class Layout:
    """Offsets of bodies in q and v.

    Attributes
    ----------
    nq, nv : sizes of a configuration and of a velocity
    q_start : (nb + 1,) where each body's joint starts in q, and nq
    v_start : (nb + 1,) where each body's joint starts in v, and nv
    quaternions : (k,) where each quaternion starts in q
    """

    def __init__(self, bodies: Sequence["Body"]) -> None:
        # An unknown kind of joint is a fault for `validate` to name; until then it takes no room.
        joints = [body.joint if isinstance(body.joint, Joint) else Fixed() for body in bodies]
        self.names = [body.name for body in bodies]
        self.q_start = np.cumsum([0, *(joint.nq for joint in joints)])
        self.v_start = np.cumsum([0, *(joint.nv for joint in joints)])
        self.nq, self.nv = int(self.q_start[-1]), int(self.v_start[-1])
        self.quaternions = np.array(
            [
                start + joint.quaternion_at
                for start, joint in zip(self.q_start[:-1].tolist(), joints, strict=True)
                if joint.quaternion_at is not None
            ],
            dtype=int,
        )

    def q_slice(self, body: int) -> slice:
        """Tell where a body's joint is in q."""
        return slice(int(self.q_start[body]), int(self.q_start[body + 1]))

    def v_slice(self, body: int) -> slice:
        """Tell where a body's joint is in v."""
        return slice(int(self.v_start[body]), int(self.v_start[body + 1]))

    def neutral(self) -> np.ndarray:
        """Return the neutral configuration (nq,), rad, m and unit quaternions."""
        q = np.zeros(self.nq)
        q[self.quaternions] = 1.0
        return q

    def check_state(self, q: ArrayLike, v: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Copy q (nq,) and v (nv,), quaternions normalised, or raise a ValueError that lists every fault."""
        faults: list[str] = []
        q_array = self._configuration(q, faults)
        v_array = self._numbers("v", v, self.nv, self.v_start, faults)
        if faults or q_array is None or v_array is None:
            raise ValueError("; ".join(faults))
        return q_array, v_array

    def check_q(self, q: ArrayLike) -> np.ndarray:
        """Copy q (nq,), quaternions normalised, or raise a ValueError that lists every fault."""
        faults: list[str] = []
        array = self._configuration(q, faults)
        if faults or array is None:
            raise ValueError("; ".join(faults))
        return array

    def _configuration(self, q: ArrayLike, faults: list[str]) -> np.ndarray | None:
        """Copy q, quaternions normalised, or note what is wrong with it."""
        q_array = self._numbers("q", q, self.nq, self.q_start, faults)
        if q_array is not None and len(self.quaternions):
            entries = self.quaternions[:, None] + np.arange(4)
            norms = np.linalg.norm(q_array[entries], axis=1)
            for at in np.flatnonzero(abs(norms - 1) > UNIT_TOLERANCE):
                name = self._owner(self.q_start, self.quaternions[at])
                faults.append(f"q has a quaternion of norm {norms[at]:.6g} at body '{name}'; normalise it")
            if not faults:
                q_array[entries] /= norms[:, None]
        return q_array

    def _numbers(
        self, label: str, value: ArrayLike, size: int, starts: np.ndarray, faults: list[str]
    ) -> np.ndarray | None:
        """Copy to an array of the right shape, or note why not; entries that are not finite are noted."""
        row = copied_row(value, size)
        if row is not None:
            return row
        try:
            array = real_array(value, label, f"{size} real numbers")
        except ValueError as error:
            faults.append(str(error))
            return None
        if array.shape != (size,):
            faults.append(f"{label} must have the shape ({size},), not {array.shape}")
            return None
        if not all_finite(array):
            names = dict.fromkeys(self._owner(starts, at) for at in np.flatnonzero(~np.isfinite(array)).tolist())
            faults.extend(f"{label} is not finite at body '{name}'" for name in names)
        return array

    def _owner(self, starts: np.ndarray, at: int) -> str:
        return self.names[int(np.searchsorted(starts, at, side="right")) - 1]
