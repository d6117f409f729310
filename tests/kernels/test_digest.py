"""The digest of a verb: what makes it another, and what does not."""

from types import ModuleType

import pytest

from leastaction.kernels.elements.digest import digest

HELPERS = """
import numpy as np
DEEP = 1.5
TABLE = np.zeros(3000)
class Size:
    small = 1
def deep(x):
    return DEEP * x
"""
PLUGIN = """
import numpy as np
import helpers
from helpers import Size, TABLE
G = np.float64(9.81)
def inner(x):
    return helpers.deep(x) + 1.0
def outer(k):
    return lambda x: k * x
cell = outer(2.0)
def verb(x, y=3.0):
    return inner(x) + G + TABLE[0] + Size.small + cell(x) + np.sin(x)
"""


def of(monkeypatch, plugin=PLUGIN, helpers=HELPERS):
    for name, source in (("helpers", helpers), ("plugin", plugin)):
        module = ModuleType(name)
        monkeypatch.setitem(__import__("sys").modules, name, module)
        exec(compile(source, f"{name}.py", "exec"), module.__dict__)
    return digest(module.verb)


@pytest.mark.parametrize(("old", "new"), [
    ("9.81", "9.82"), ("+ 1.0", "+ 1.5"), ("y=3.0", "y=4.0"), ("outer(2.0)", "outer(3.0)"), ("np.sin", "np.cos"),
    ("inner(x) + G", "inner(x) - G"), ("np.float64", "np.float32"),
])
def test_an_edit_of_the_plugin_is_seen(monkeypatch, old, new):
    assert of(monkeypatch, PLUGIN.replace(old, new)) != of(monkeypatch)


@pytest.mark.parametrize(("old", "new"), [
    ("1.5", "1.6"), ("DEEP * x", "DEEP + x"), ("small = 1", "small = 2"),
    ("TABLE = np.zeros(3000)", "TABLE = np.zeros(3000); TABLE[1500] = 1.0"),  # which repr() does not show
])
def test_an_edit_of_what_the_plugin_uses_is_seen(monkeypatch, old, new):
    assert of(monkeypatch, helpers=HELPERS.replace(old, new)) != of(monkeypatch)


def test_comments_and_other_functions_are_not_seen(monkeypatch):
    same = "# a comment\n" + PLUGIN.replace("    return inner", "    # another\n    return inner") + "\nother = 1\n"
    assert of(monkeypatch, same, HELPERS + "\nother = 2\n") == of(monkeypatch)


@pytest.mark.parametrize(("verb", "seen"), [
    ("return np.sin(x)", False),
    ("x.sin = x", False),
    ("return np.sin(x) + sin", True),
    ("return sin(x).sin", True),
    ("return np.sin(x) + sum([sin for _ in x])", True),
    ("return (lambda y: sin + np.sin(y))(x)", True),
    ("class Size:\n        sin = sin\n    return np.sin(x)", True),
])
def test_a_global_is_seen_where_it_is_loaded_not_where_an_attribute_has_its_name(monkeypatch, verb, seen):
    one, other = (f"import numpy as np\nsin = {sin}\ndef verb(x):\n    {verb}\n" for sin in (1.0, 2.0))
    assert (of(monkeypatch, one) != of(monkeypatch, other)) == seen
