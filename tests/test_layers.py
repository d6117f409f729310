"""Every module of the package has its place in the import layers: a new one cannot slip past the linter."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_every_module_is_in_exactly_one_layer():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    named = [name.strip() for layer in contracts[0]["layers"] for name in layer.split("|")]
    assert len(named) == len(set(named))
    for file in sorted((ROOT / "src/leastaction").rglob("*.py")):
        parts = file.relative_to(ROOT / "src").with_suffix("").parts
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        homes = [name for name in named if module == name or module.startswith(name + ".")]
        empty = module in ("leastaction", "leastaction.simulation")  # the public names; a folder that imports nothing
        assert len(homes) == (0 if empty else 1), module
