"""Run a part of the tests with the lowest and the newest allowed versions, on every Python that the machine has.

    python tools/matrix.py [--python 3.11] [--versions lowest|newest|numba] [--publish docs/portability.md]

"numba" is the newest versions with kernels compiled in Numba's own way (LEASTACTION_STAGES=0). Environments and logs
are in out/matrix; the table has everything there, also from earlier calls. Needs an index of packages; only wheels are
installed.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from leastaction.markdown import fill, table

ROOT = Path(__file__).parents[1]
OUT = ROOT / "out" / "matrix"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
VERSIONS = ("lowest", "newest", "numba")
EXTRA = "all"
TOOLS = ("pytest", "hypothesis", "mpmath", "scipy")  # what the tests need beside the extra, in any version
TESTS = (  # of every part that meets Numba or another package; most of the time goes into compiling
    "tests/kernels/test_joint_motion.py", "tests/kernels/test_se3.py", "tests/kernels/test_so3.py",
    "tests/machine/test_stages.py", "tests/machine/test_cache.py", "tests/simulation/test_simulate_many.py",
    "tests/files/test_exports.py",
    "tests/files/test_trouble.py", "tests/cli", "tests/formats/test_load.py", "tests/formats/test_refused.py",
    "tests/plots", "tests/viewers/test_page.py", "tests/viewers/test_server.py",
)
INSTALLED, REPORT = "installed", "tests.xml"
SHOWN = ("numba", "numpy", "h5py", "typer", "matplotlib", "mujoco")


class Row(NamedTuple):
    """The result of the tests in one environment."""

    python: str
    versions: str
    packages: dict[str, str]
    outcome: str
    passed: bool


def requirements(project: dict, extra: str = EXTRA) -> dict[str, str]:
    """The bound "1.2" of every package "name>=1.2" that the library needs with this extra."""
    found = {}
    for text in [*project["dependencies"], *project["optional-dependencies"][extra]]:
        name, extras, bound = re.fullmatch(r"([\w-]+)(?:\[(.*)\])?(?:>=([\d.]+))?", text).groups()
        if name == project["name"]:
            for other in extras.split(","):
                found |= requirements({**project, "dependencies": []}, other)
        else:
            found[name] = bound
    return found


def as_numbers(version: str) -> tuple[int, ...]:
    """A key by which versions compare; 1.26.0 and 1.26 are equal."""
    numbers = [int(part) for part in version.split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def lowest(bound: str, listed: list[str]) -> str:
    """The lowest of the listed versions that a bound allows, or the bound itself if none is."""
    final = [version for version in listed if re.fullmatch(r"[\d.]+", version)]
    return min((v for v in final if as_numbers(v) >= as_numbers(bound)), key=as_numbers, default=bound)


def wheels(python: Path, name: str) -> list[str]:
    """Versions of a package with a wheel for this Python: pip lists them when asked for one that does not exist."""
    asked = run([python, "-m", "pip", "install", "--dry-run", "--no-deps", "--only-binary", ":all:", f"{name}==0"])
    listed = re.search(r"\(from versions: (.*)\)", asked.stdout)
    return listed[1].split(", ") if listed else []


def run(command: list, log: Path | None = None, **environment: str) -> subprocess.CompletedProcess:
    """Run a program with what it prints in a log, or else in the result."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with log.open("w", encoding="utf-8") if log else nullcontext(subprocess.PIPE) as printed:
        return subprocess.run([str(word) for word in command], cwd=ROOT, env={**kept, **environment}, stdout=printed,
                              stderr=subprocess.STDOUT, encoding="utf-8", errors="replace")


def find_python(version: str) -> Path | None:
    """An interpreter of this version; each is asked, as a shim may stand for one that is not installed."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    candidates = [shutil.which(f"python{version}"), *sorted(pyenv.glob(f"versions/{version}.*/bin/python"))]
    for candidate in filter(None, candidates):
        try:
            told = run([candidate, "-c", "import sys, venv; print('%d.%d' % sys.version_info[:2], sys.executable)"])
        except OSError:
            continue
        if told.returncode == 0 and told.stdout.startswith(f"{version} "):
            return Path(told.stdout.split(maxsplit=1)[1].strip())
    return None


def install(python: Path, versions: str, folder: Path, bounds: dict[str, str]) -> None:
    """Make the environment in a folder, with a file INSTALLED once it is complete."""
    shutil.rmtree(folder, ignore_errors=True)
    run([python, "-m", "venv", folder])
    inside = interpreter(folder)
    command = [inside, "-m", "pip", "install", "--quiet", "--only-binary", ":all:", *TOOLS]
    if versions == "lowest":
        pins = "\n".join(f"{name}=={lowest(bound, wheels(inside, name))}" for name, bound in bounds.items())
        (folder / "pins.txt").write_text(pins + "\n", encoding="utf-8")
        command += ["--constraint", folder / "pins.txt"]
    done = run([*command, "--editable", f".[{EXTRA}]"])
    (folder / "pip.log").write_text(done.stdout, encoding="utf-8")
    if done.returncode == 0:
        (folder / INSTALLED).touch()


def interpreter(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def test(versions: str, folder: Path) -> None:
    """Run the tests in an environment, with a kernel cache of its own."""
    setting = "0" if versions == "numba" else "1"
    report = folder / REPORT
    report.unlink(missing_ok=True)
    run([interpreter(folder), "-m", "pytest", *TESTS, f"--junitxml={report}", "-p", "no:cacheprovider"],
        folder / "tests.log", LEASTACTION_CACHE=str(folder / "kernels"), LEASTACTION_STAGES=setting, MPLBACKEND="Agg")


def packages(python: Path) -> dict[str, str]:
    listed = run([python, "-m", "pip", "list", "--format=freeze"]).stdout
    return dict(line.split("==") for line in listed.splitlines() if line.count("==") == 1)


def try_one(version: str, python: Path, versions: str, bounds: dict[str, str], reuse: bool) -> Row:
    folder = OUT / f"{version}-{versions}"
    if not (reuse and (folder / INSTALLED).exists()):
        install(python, versions, folder, bounds)
    if (folder / INSTALLED).exists():
        test(versions, folder)
    row = read(version, versions)
    print(f"Python {version}, {versions}: {row.outcome}", "" if row.passed else f"(logs in {folder})", flush=True)
    return row


def read(version: str, versions: str) -> Row:
    """The result that the last run left in the folder of an environment."""
    folder = OUT / f"{version}-{versions}"
    if not (folder / INSTALLED).exists():
        return Row(version, versions, {}, "cannot be installed", False)
    if not (folder / REPORT).exists():
        return Row(version, versions, packages(interpreter(folder)), "broken off", False)
    suite = ElementTree.parse(folder / REPORT).getroot().find("testsuite")
    total, failed, errors, skipped = (int(suite.get(key)) for key in ("tests", "failures", "errors", "skipped"))
    counts = {"passed": total - failed - errors - skipped, "failed": failed + errors, "skipped": skipped}
    outcome = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    return Row(version, versions, packages(interpreter(folder)), outcome, counts["passed"] > 0 == counts["failed"])


def as_table(rows: list[Row]) -> str:
    words = {"numba": "newest, Numba's own way"}
    return table(["Python", "versions", *SHOWN, "tests"], [
        [row.python, words.get(row.versions, row.versions), *(row.packages.get(name, "–") for name in SHOWN),
         row.outcome] for row in rows])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", action="append", choices=PYTHONS, help="only this one; may be repeated")
    parser.add_argument("--versions", action="append", choices=VERSIONS, help="only these; may be repeated")
    parser.add_argument("--reuse", action="store_true", help="use environments that are there already")
    parser.add_argument("--jobs", type=int, default=1, help="environments at a time")
    parser.add_argument("--publish", type=Path, metavar="PAGE", help="write the table between the marks of a page")
    options = parser.parse_args()
    bounds = requirements(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"])
    pythons = {version: find_python(version) for version in options.python or PYTHONS}
    found = {version: python for version, python in pythons.items() if python is not None}
    for version in set(pythons) - set(found):
        print(f"Python {version}: not found on this machine", flush=True)
    # Numba's own way does not depend on Python: the oldest is enough
    chosen = [(version, python, versions) for version, python in found.items()
              for versions in options.versions or VERSIONS if versions != "numba" or version == next(iter(found))]
    with ThreadPoolExecutor(options.jobs) as pool:
        rows = list(pool.map(lambda one: try_one(*one, bounds, options.reuse), chosen))
    text = as_table([read(version, versions) for version in PYTHONS for versions in VERSIONS
                     if (OUT / f"{version}-{versions}").exists()])
    missing = [version for version in PYTHONS if find_python(version) is None]
    if missing:
        text += f"\n\nNot found on that machine, so not run: Python {', '.join(missing)}."
    print(f"\n{text}")
    if options.publish:
        fill(options.publish, f"\n{text}\n", "matrix")
    sys.exit(0 if rows and all(row.passed for row in rows) else 1)


if __name__ == "__main__":
    main()
