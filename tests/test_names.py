"""The package offers its public names, each imported when first used, and nothing by accident."""

import ast
import builtins
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import leastaction as la


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True).stdout


def test_a_star_import_leaves_open_alone():
    found = {}
    exec("from leastaction import *", found)
    assert found.get("open", builtins.open) is builtins.open
    assert found["simulate"] is la.simulate
    assert callable(la.open) and la.open is not builtins.open


def test_dir_lists_the_public_names():
    assert dir(la) == sorted([*la.__all__, "open"])
    assert [name for name in dir(la) if not hasattr(la, name)] == []
    assert "chain" in dir(la.library) and "np" not in dir(la.library)
    assert all(inspect.isfunction(getattr(la.library, name)) for name in dir(la.library))
    assert dir(la.peers) == ["Absolute", "Broyden", "DenseNewton", "SVI"]


def test_a_name_that_is_not_there_is_said_with_the_one_that_was_meant():
    told = subprocess.run([sys.executable, "-c", "import leastaction as la; la.simulat"], capture_output=True,
                          encoding="utf-8").stderr
    assert told.endswith("module 'leastaction' has no attribute 'simulat'. Did you mean: 'simulate'?\n")


@pytest.mark.parametrize(("name", "meant"), [
    ("DOP853", "DormandPrince8"), ("rk4", "RungeKutta4"), ("revolute", "Revolute"), ("pd", "PD"), ("SVI", "peers.SVI")])
def test_a_public_name_in_another_case_or_of_the_literature_is_pointed_at(name, meant):
    with pytest.raises(AttributeError, match=rf"has no attribute '{name}': it is leastaction\.{meant}$"):
        getattr(la, name)


# What objects show, each name documented: a new one is added on purpose, and stays (docs/stability.md)
SHOWN = {
    "Simulator": "checkpoint dt energy integrator model momentum p q restore status step steps t v",
    "Model": "actuators add_actuator add_body add_coupling add_force add_loop bodies body_index check_state command0 "
             "commands drives forces from_dict gravity ignored keyframes layout loops mobility name names nb nq nu nv "
             "order parents q0 q_slice revision switched_off to_dict total_mass v0 v_slice validate without",
    "Trajectory": "accuracy animate at audit balance closure dissipated dry_friction dt energy energy_error "
                  "energy_range energy_scale events failure flags impulse integrator iterations judgement ledger "
                  "limit_force looks loses_energy max_balance_error max_energy_error model momentum momentum_range "
                  "multipliers origin p peak_kinetic_energy plot_energy plot_momentum plot_state poses q reaction "
                  "record_every report residual save status steps substeps t tally to_csv to_html to_pandas to_xarray "
                  "v view",
}


def test_objects_show_what_is_documented_and_nothing_else():
    model = la.library.chain(1)
    objects = {"Simulator": la.Simulator(model), "Model": model, "Trajectory": la.simulate(model, steps=1)}
    for kind, names in SHOWN.items():
        one = objects[kind]
        assert [name for name in dir(one) if not name.startswith("_")] == names.split()
        page = (Path(__file__).parents[1] / "docs" / "api.rst").read_text(encoding="utf-8")
        members = page.partition(f".. autoclass:: leastaction.{kind}\n   :members:")[2].partition("\n")[0]
        if members:   # a list, not all that have a docstring
            assert sorted(members.replace(",", " ").split()) == names.split()
        for name in names.split():
            found = vars(type(one)).get(name, getattr(type(one), name, None))
            documented = found.__doc__ if callable(found) or hasattr(found, "__get__") else None
            assert documented or re.search(rf"\b{name}\b.* : ", type(one).__doc__), name


def test_type_checkers_see_the_names_where_they_are():
    """What is imported for type checkers is what is imported when asked for."""
    tree = ast.parse(Path(la.__file__).read_text(encoding="utf-8"))
    block, = (node for node in tree.body if isinstance(node, ast.If) and node.test.id == "TYPE_CHECKING")
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    assert [ast.unparse(node) for node in block.body if node not in imports] == ["open = open_run"]
    seen = {alias.name for node in imports for alias in node.names}
    assert seen == {*la._HOME, *la._MODULES, "open_run"}
    assert {*la.__all__} == {*la._HOME, "convert", "peers", "__version__"}
    for node in imports:
        for alias in node.names:
            home = __import__(node.module, fromlist=[alias.name])
            assert getattr(home, alias.name) is getattr(la, alias.name.replace("open_run", "open"))


@pytest.mark.parametrize("first", ["leastaction.analysis", "leastaction.trajectory", "leastaction.simulation.run"])
def test_simulate_stays_a_function_whatever_is_imported_first(first):
    code = f"import leastaction as la, {first}; print(la.simulate.__name__, la.simulate_many.__name__, la.audit)"
    assert run(code).startswith("simulate simulate_many <function audit")


def test_plots_are_an_attribute():
    assert run("import leastaction as la; print(la.plots.compare_energy.__name__)").strip() == "compare_energy"


@pytest.mark.parametrize("name", ["simulate", "simulate_many", "Simulator", "audit", "forward_dynamics", "Model",
                                  "resume", "open", "variational_step", "view"])
def test_help_is_readable(name):
    """Types are shown by their names, not spelt out: NumPy's ArrayLike alone is 15 lines."""
    text = str(inspect.signature(getattr(la, name)))
    assert "_NestedSequence" not in text and "collections.abc" not in text
    assert max(len(str(parameter)) for parameter in inspect.signature(getattr(la, name)).parameters.values()) < 90


def test_a_strict_type_checker_accepts_the_public_names(tmp_path):
    """A user's script is checked as strictly as the library: every public name is exported to it, with a type."""
    names = [*(f"la.{name}" for name in dir(la)), *(f"la.library.{name}" for name in dir(la.library))]
    script = tmp_path / "script.py"
    script.write_text("import leastaction as la\n\n" + "".join(f"print({name})\n" for name in names)
                      + "steps: int = la.open('run.h5').steps\nla.simulate(la.library.chain(3), dt='x')\n")
    root = Path(__file__).parents[1]    # its settings and its cache, which `make lint` has filled
    done = subprocess.run([sys.executable, "-m", "mypy", str(script)], capture_output=True, encoding="utf-8", cwd=root)
    wrong = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert len(wrong) == 1 and 'incompatible type "str"; expected "float' in wrong[0], done.stdout + done.stderr
