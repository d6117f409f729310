"""The README's blocks run as printed, and what it claims is what they print."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

import leastaction as la
from leastaction.reproduce import hour

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
COMMANDS = [line.partition("  #")[0].strip() for language, text in BLOCKS if not language for line in text.splitlines()]
NOT_RUN = {
    "make demo": "its command is run by tests/cli, on a shorter horizon",
    "make test": "it is what runs this test",
    "pip install '.[cli]'": "the environment of the tests was made by it, and more",
}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)   # what is drawn goes there
    yield tmp_path
    plt.close("all")


def test_the_ten_lines(capsys):
    (code,) = (text for language, text in BLOCKS if language == "python")
    exec(compile(code, "README.md", "exec"), {})
    assert "Physics is kept." in capsys.readouterr().out
    assert Path("arm.html").is_file()


def test_the_commands(elsewhere):
    """One process each, as a user has it; the order matters: a run is made, resumed and drawn."""
    run = [command for command in COMMANDS if command not in NOT_RUN]
    assert len(run) == 5 and set(COMMANDS) == {*run, *NOT_RUN}
    said = {}
    for command in run:
        done = subprocess.run([sys.executable, "-m", "leastaction.cli", *shlex.split(command)[1:]], capture_output=True,
                              text=True, timeout=300)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        said[command.split()[1]] = done.stdout
    assert "Physics is kept." in said["audit"]
    assert "does not wander" in said["simulate"] and "does not wander" in said["resume"]
    assert {path.suffix for path in elsewhere.iterdir()} >= {".html", ".h5", ".png"}


def rows(mark):
    """The rows of a generated table."""
    (text,) = re.findall(rf"<!-- begin: {mark} -->\n(.*?)<!-- end: {mark} -->", README, re.DOTALL)
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()
            if line.startswith("|") and "---" not in line]


def percents(text):
    return [float(number) / 100 for number in re.findall(r"([-+]?[\d.e+-]+) %", text)]


def test_the_hour_claims_what_a_minute_shows():
    """Bounds over an hour and eight starts hold for a minute of two others, and the order of methods is true."""
    head, *table = rows("hour")
    assert tuple(head) == hour.HEAD
    published = {(row[0], row[1]): row for row in table}
    assert set(published) == {(method.name, method.setting) for method in hour.PUBLISHED}
    model = la.library.chain(10)
    tasks = [(q, method, 60.0) for q in hour.starts(model, 10)[8:] for method in (hour.ORDER_2, hour.ORDER_4)]
    for run in hour.follow_all(model, tasks, lambda run: None):
        row = published[run.method.name, run.method.setting]
        assert run.greatest <= 1.5 * percents(row[4])[0]
        assert abs(run.level) <= 5 * max(map(abs, percents(row[5])))
    level = {key: max(map(abs, percents(row[5]))) for key, row in published.items()}
    drawn = (hour.ORDER_2, hour.FINE_RK4, hour.COARSE_RK4)
    ours, fine, coarse = (level[method.name, method.setting] for method in drawn)
    assert 10 * ours < fine and 10 * fine < coarse  # the picture's three lines: flat, sinking, lost


def test_it_is_short_and_its_links_lead_somewhere():
    assert len(README.splitlines()) <= 140
    targets = re.findall(r"\]\(([^)#:\s]+)\)", README)
    assert len(targets) > 10 and [target for target in targets if not (ROOT / target).exists()] == []
    assert len(rows("generated")) - 1 <= 6
