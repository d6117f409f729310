"""A robot from a URDF file: what is in it, and how it swings when its motors are off."""

from pathlib import Path

import leastaction as la

URDF = """<robot name="double_pendulum">
  <link name="stand"/>
  <link name="upper"><inertial><origin xyz="0 0 -0.25"/><mass value="2"/>
    <inertia ixx="0.05" iyy="0.05" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="lower"><inertial><origin xyz="0 0 -0.2"/><mass value="1"/>
    <inertia ixx="0.02" iyy="0.02" izz="0.005" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="continuous"><parent link="stand"/><child link="upper"/><axis xyz="0 1 0"/></joint>
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/><origin xyz="0 0 -0.5"/>
    <axis xyz="0 1 0"/></joint>
</robot>"""

path = Path("double_pendulum.urdf")
path.write_text(URDF)   # usually you have the file already
model = la.load(path)
print(model)

q = model.q0
q[model.q_slice("shoulder")] = 2.0
traj = la.simulate(model, q, dt=1e-3, duration=10.0)
print(f"largest energy error: {100 * traj.max_energy_error:.3g} % of the peak kinetic energy")
assert traj.max_energy_error < 1e-3
