"""The live view: served to this machine, showing the frame that was asked for."""

import sys
import time
from urllib.request import urlopen

import numpy as np
import pytest

import leastaction as la

pytest.importorskip("viser")


@pytest.fixture(scope="module")
def traj():
    return la.simulate(la.library.double_pendulum(), dt=5e-3, duration=1.0)


@pytest.fixture
def viewer(traj):
    with_port = traj.view(port=18471, block=False)
    yield with_port
    with_port.close()


def test_it_is_served_here_and_nowhere_else(viewer):
    assert viewer.server.get_host() == "127.0.0.1"
    assert viewer.url.startswith("http://127.0.0.1:")
    with urlopen(viewer.url) as answer:
        assert answer.status == 200


def test_seeking_poses_the_bodies(viewer, traj):
    viewer._playing.value = False
    time.sleep(0.1)
    viewer.seek(0.5)
    for frame, pose in zip(viewer._frames, traj.poses(steps=slice(100, 101))[0], strict=False):
        np.testing.assert_allclose(frame.position, pose[:3, 3], atol=1e-6)
    assert viewer._time.value == pytest.approx(0.5)
    viewer.seek(99.0)
    assert viewer.now == 1.0


def test_it_plays_by_itself(viewer):
    viewer._playing.value = True
    before = viewer.now
    for _ in range(100):
        time.sleep(0.05)
        if viewer.now != before:
            return
    pytest.fail("the time did not move")


def test_a_model_is_simulated_first():
    viewer = la.view(la.library.pendulum(), port=18471, block=False, duration=0.1)
    assert viewer.film.t[-1] == pytest.approx(0.1)
    viewer.close()


def test_without_viser_there_is_a_hint(monkeypatch, traj):
    monkeypatch.setattr("leastaction.viewers.server.find_spec", lambda _: None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'leastaction\[view\]'"):
        traj.view(block=False)


def test_it_blocks_in_scripts_until_closed(monkeypatch, traj, capsys):
    monkeypatch.delattr(sys, "ps1", raising=False)
    monkeypatch.setattr("leastaction.viewers.server.Viewer.wait", lambda self: self.close())
    traj.view(port=18471, block=True)
    assert "http://127.0.0.1:" in capsys.readouterr().out
