"""What publishing.toml says becomes metadata: absolute links, addresses, authors; placeholders are listed."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))

import publishing  # noqa: E402

GIVEN = {"file": "https://host.test/file/v{version}/{path}", "picture": "https://host.test/raw/v{version}/{path}"}


@pytest.mark.parametrize(("text", "expected"), [
    ("[a](docs/x.md)", "[a](https://host.test/file/v1.2/docs/x.md)"),
    ("[a](docs/x.md#part)", "[a](https://host.test/file/v1.2/docs/x.md#part)"),
    ("[a](#part)", "[a](https://host.test/file/v1.2/README.md#part)"),
    ("see [`b`](./b), [`c`](c).", "see [`b`](https://host.test/file/v1.2/b), [`c`](https://host.test/file/v1.2/c)."),
    ("![a](images/x.PNG)", "![a](https://host.test/raw/v1.2/images/x.PNG)"),
    ('<img src="x.svg">', '<img src="https://host.test/raw/v1.2/x.svg">'),
    ("[a](https://x.test/y)", "[a](https://x.test/y)"),
    ("[a](mailto:x@y.test)", "[a](mailto:x@y.test)"),
    ("`a[0](x)`", "`a[0](x)`"),
    ("```python\na[0](x)\n```", "```python\na[0](x)\n```"),
])
def test_links_become_absolute(text, expected):
    assert publishing.absolute(text, GIVEN, "1.2") == expected


def test_metadata_of_the_build():
    """As the build backend sees it, without building."""
    core = pytest.importorskip("hatchling.metadata.core")
    manager = pytest.importorskip("hatchling.plugin.manager")
    built = core.ProjectMetadata(str(ROOT), manager.PluginManager()).core
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert built.readme_content_type == "text/markdown"
    assert publishing.relative(built.readme) == [] and len(publishing.relative(readme)) > 10
    assert re.sub(r"\]\([^)]*\)", "", built.readme) == re.sub(r"\]\([^)]*\)", "", readme)
    assert set(built.urls) == {"Documentation", "Source", "Issues", "Changelog"}
    assert all(address.startswith("https://") for address in built.urls.values())
    versions = [line.rpartition(" ")[2] for line in built.classifiers if re.search(r":: 3\.\d+$", line)]
    assert versions == ["3.11", "3.12", "3.13", "3.14"]
    for author in built.authors:
        assert author["name"] in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


@pytest.mark.parametrize(("value", "left"), [
    ("https://example.invalid/x", True), ("x@example.invalid", True), ([], True), ("", True),
    ("https://host.test/x", False), (["A. Person"], False),
])
def test_a_placeholder_is_known_as_one(value, left):
    assert publishing.placeholders({"name": value}) == ["name"] * left


def test_placeholders_are_listed_and_refused():
    given = publishing.settings()
    left = publishing.placeholders(given)
    for option, code in ((), 0), (("--refuse",), 1 if left else 0):
        command = [sys.executable, ROOT / "tools" / "publishing.py", *option]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == code
        assert [line.split()[1] for line in done.stdout.splitlines()[:-1]] == left
        assert done.stdout.splitlines()[-1].startswith(f"{len(left)} of {len(given)} values")


def test_addresses_of_people_and_places_are_in_one_file_only():
    """Where a page needs one it names the entry of publishing.toml, and the entry exists."""
    pages = [*(ROOT / name for name in ("SECURITY.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "docs/stability.md")),
             *(path for path in (ROOT / ".github").rglob("*") if path.is_file())]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert not re.findall(r"[\w.+-]+@[\w-]+\.\w+", text), page
        assert "example.invalid" not in text, page
    named = {name for page in pages for name in re.findall(r"`(\w+)` in `publishing\.toml`", page.read_text("utf-8"))}
    assert {"security_contact", "conduct_contact"} <= named <= set(publishing.settings())


def test_the_source_archive_leaves_out_the_machinery_of_the_repository():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "/.ci" in project["tool"]["hatch"]["build"]["targets"]["sdist"]["exclude"]
