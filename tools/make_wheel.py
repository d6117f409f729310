"""Build the source archive and the wheel, check them, and try the wheel in a clean environment from another folder."""

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from email import message_from_bytes
from pathlib import Path

import publishing

ROOT = publishing.ROOT
DIST = ROOT / "dist"
TRIAL = """
import sys
from pathlib import Path
import leastaction as la
folder = Path(la.__file__).parent
assert folder.is_relative_to(sys.prefix), f"{folder} is not in the clean environment {sys.prefix}"
assert (folder / "py.typed").is_file()
traj = la.simulate(la.library.chain(3), dt=1e-3, duration=0.1)
assert abs(traj.energy_error).max() < 1e-4, traj.report()
traj.to_html("chain.html")
print(traj.report())
"""
COMMANDS = (
    ["--version"],
    ["info", "chain:3"],
    ["simulate", "chain:3", "--duration", "0.1", "--out", "run.h5"],
    ["plot", "run.h5"],
    ["view", "run.h5", "--html", "run.html"],
    ["doctor"],
)


def run(*command: object, **options: object) -> None:
    """Run a command that must succeed, and say which."""
    print("$", *(str(part) if len(str(part)) < 200 else "…" for part in command), flush=True)
    subprocess.run([str(part) for part in command], check=True, **options)


def build() -> tuple[Path, Path]:
    """Make the archive from the checkout and the wheel from the archive; return their paths."""
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", DIST, ROOT)
    (archive,), (wheel,) = DIST.glob("*.tar.gz"), DIST.glob("*.whl")
    return archive, wheel


def check_contents(archive: Path, wheel: Path) -> None:
    """Every file of the package is in both; the machinery of this repository is in neither; no link is relative."""
    package = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src" / "leastaction").rglob("*")
               if path.is_file() and "__pycache__" not in path.parts}
    with tarfile.open(archive) as opened:
        packed = {name.partition("/")[2] for name in opened.getnames()}
    with zipfile.ZipFile(wheel) as opened:
        wheeled = {name for name in opened.namelist() if ".dist-info/" not in name}
        (described,) = (name for name in opened.namelist() if name.endswith(".dist-info/METADATA"))
        page = message_from_bytes(opened.read(described)).get_payload(decode=True).decode()
    assert wheeled == package, f"the wheel and src/ differ by {sorted(wheeled ^ package)}"
    assert {f"src/{name}" for name in package} <= packed, "the archive lacks a file of the package"
    assert {"leastaction/py.typed", "leastaction/viewers/web/player.js", "leastaction/viewers/web/page.html"} <= wheeled
    assert {"README.md", "LICENSE", "CHANGELOG.md", "tests/conftest.py"} <= packed
    assert not any(name.startswith((".ci", ".github")) for name in packed), "the archive has .ci or .github"
    assert publishing.relative(page) == [], f"relative links on the package's page: {publishing.relative(page)}"
    print(f"{archive.name}: {archive.stat().st_size / 1e6:.2f} MB, {len(packed)} entries; "
          f"{wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB, {len(wheeled)} files")


def try_out(wheel: Path) -> None:
    """Install the wheel with its command into a fresh environment, and use it from a folder with nothing in it."""
    with tempfile.TemporaryDirectory() as scratch:
        home, folder = Path(scratch) / "environment", Path(scratch) / "elsewhere"
        folder.mkdir()
        venv.create(home, with_pip=True)
        programs = home / ("Scripts" if os.name == "nt" else "bin")
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(("PYTHON", "NUMBA_", "LEASTACTION_"))}
        ours = {"MPLBACKEND": "Agg", "LEASTACTION_CACHE": str(Path(scratch) / "cache")}
        inside = {"cwd": folder, "env": kept | ours}
        run(programs / "python", "-m", "pip", "install", "--quiet", f"{wheel}[cli]", **inside)
        run(programs / "python", "-c", TRIAL, **inside)
        for arguments in COMMANDS:
            run(programs / "leastaction", *arguments, **inside)
        made = {path.name for path in folder.iterdir()}
        assert {"chain.html", "run.h5", "run.html", "run-energy.png"} <= made, f"made only {sorted(made)}"


def main() -> None:
    """Do all of it, then list what a person has yet to fill in."""
    archive, wheel = build()
    run(sys.executable, "-m", "twine", "check", "--strict", archive, wheel)
    run(Path(sys.executable).parent / "check-wheel-contents", wheel)
    check_contents(archive, wheel)
    try_out(wheel)
    publishing.main()


if __name__ == "__main__":
    main()
