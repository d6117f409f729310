"""A gripper from a URDF: one driven joint, and five that mimic it, so that the fingertips stay parallel."""

from pathlib import Path

import numpy as np

import leastaction as la


def link(name, x, z):
    """A thin rod from its joint to (x, 0, z), 0.1 kg."""
    ixx, iyy, izz = 0.1 / 12 * np.array([z * z, x * x + z * z, x * x]) + 1e-6
    return f"""<link name="{name}"><inertial><origin xyz="{x / 2} 0 {z / 2}"/><mass value="0.1"/>
      <inertia ixx="{ixx}" ixy="0" ixz="{-0.1 / 12 * x * z}" iyy="{iyy}" iyz="0" izz="{izz}"/></inertial></link>"""


def joint(name, parent, child, x, z, mimic=""):
    return f"""<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>{mimic}
      <origin xyz="{x} 0 {z}"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="5" velocity="5"/></joint>"""


def follow(multiplier):
    return f'<mimic joint="drive" multiplier="{multiplier}"/>'


parts = ['<link name="palm"/>']
for side, s in (("left", -1), ("right", 1)):
    parts += [link(f"{side} knuckle", s * 0.03, -0.05), link(f"{side} bar", s * 0.03, -0.05),
              link(f"{side} tip", 0.0, -0.06)]
    drive = ("drive", "") if side == "left" else ("right drive", follow(-1))
    parts += [
        joint(drive[0], "palm", f"{side} knuckle", s * 0.03, -0.1, drive[1]),
        joint(f"{side} second", "palm", f"{side} bar", s * 0.015, -0.12, follow(-s)),
        joint(f"{side} finger", f"{side} knuckle", f"{side} tip", s * 0.03, -0.05, follow(s)),
    ]
Path("out").mkdir(exist_ok=True)
Path("out/gripper.urdf").write_text(f'<robot name="gripper">{"".join(parts)}</robot>')

model = la.load("out/gripper.urdf", ignore=("effort",))  # no actuator is bounded by them
print(model, f"\nmobility {model.mobility()}")
torque = np.zeros(model.nv)
torque[model.v_slice("drive")] = -0.05     # N m, which closes the fingers against their weight
traj = la.simulate(model, dt=1e-3, duration=0.08, control=torque)
left, right = traj.poses("left tip"), traj.poses("right tip")
gap = right[:, 0, 3] - left[:, 0, 3]
print(f"the fingers close from {1e3 * gap[0]:.1f} mm to {1e3 * gap[-1]:.1f} mm")
traj.animate("out/gripper.gif", speed=0.1)

assert traj.closure.max() < 1e-14
assert np.abs(left[:, :3, :3] - np.eye(3)).max() < 1e-13      # the tips do not turn
assert np.abs(left[:, 0, 3] + right[:, 0, 3]).max() < 1e-14 and np.abs(left[:, 2, 3] - right[:, 2, 3]).max() < 1e-14
assert gap[-1] < gap[0] - 0.02
