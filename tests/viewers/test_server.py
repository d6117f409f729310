"""The live view: served to this machine, showing the frame that was asked for."""

import sys
import time
from contextlib import nullcontext
from urllib.request import urlopen

import numpy as np
import pytest

import leastaction as la
from attack import server as probes
from browser import chromium

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


@pytest.mark.parametrize("websocket", [False, True], ids=["page", "websocket"])
@pytest.mark.parametrize(("host", "origin", "path", "answered"), [
    ("127.0.0.1:{port}", None, "{own}", True),
    ("localhost:{port}", "http://localhost:{port}", "{own}", True),
    ("127.0.0.1:{port}", "http://evil.example", "{own}", False),
    ("127.0.0.1:{port}", "null", "{own}", False),
    ("evil.example:{port}", None, "{own}", False),
    ("127.0.0.1:{port}", None, "/", False),
    ("127.0.0.1:{port}", None, "/guess/", False),
])
def test_only_the_printed_address_is_answered(viewer, websocket, host, origin, path, answered):
    port, own = viewer.server.get_port(), viewer.url.partition(str(viewer.server.get_port()))[2]
    headers = [("Host", host), *([("Origin", origin)] if origin else [])]
    asked = probes.request(path.format(own=own), websocket, [(name, text.format(port=port)) for name, text in headers])
    right = 101 if websocket else 200
    assert probes.status(probes.ask(port, asked)) == (right if answered else 403)


def test_every_viewer_has_a_secret_of_its_own(viewer, traj):
    other = traj.view(port=18471, block=False)
    assert other.url.split("/")[3] != viewer.url.split("/")[3]
    assert len(viewer.url.split("/")[3]) >= 22
    other.close()


def test_a_server_that_cannot_be_guarded_is_not_started(monkeypatch, traj):
    monkeypatch.setattr("leastaction.viewers.server.Guard.standing", lambda self: nullcontext())
    with pytest.raises(RuntimeError, match=r"cannot guard.*to_html"):
        traj.view(port=18471, block=False)


def test_a_browser_connects_by_the_printed_address(viewer):
    with chromium() as browser:
        browser.new_page().goto(viewer.url)
        for _ in range(200):
            if viewer.server.get_clients():
                return
            time.sleep(0.05)
    pytest.fail("the page did not open its websocket")


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
    viewer = traj.view(port=18471, block=True)
    assert capsys.readouterr().out.splitlines()[0] == f"double_pendulum is at {viewer.url} until Ctrl-C"
    viewer = traj.view(port=18471, block=False)
    assert capsys.readouterr().out.splitlines()[-1] == f"double_pendulum is at {viewer.url}"
    viewer.close()
