"""Every example runs, and so does the README's; their assertions are their own."""

import re
import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)   # what they draw goes there
    yield tmp_path
    plt.close("all")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path):
    runpy.run_path(str(path), run_name="__main__")


def test_there_are_examples():
    assert len(EXAMPLES) >= 10


def test_readme(elsewhere, capsys):
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})
    assert "Physics is kept." in capsys.readouterr().out
    assert (elsewhere / "arm.gif").is_file() and (elsewhere / "arm.html").is_file()
