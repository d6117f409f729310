"""Whether this installation is sound: versions, processor, cache of kernels, and one step whose result is known."""

import json
import os
import platform
import re
import shutil
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import Any

from leastaction._version import __version__

REQUIRED = ("numpy", "numba", "llvmlite")
NOT_FOR_USERS = {"all", "dev", "docs", "peers", "test", "zoo"}    # extras that repeat others or serve development
FEATURES = {"sse2": "SSE2", "avx": "AVX", "avx2": "AVX2", "fma": "FMA", "avx512f": "AVX-512", "neon": "NEON"}
NO_CACHE = "no folder can be written, so kernels are compiled in every process; name one in LEASTACTION_CACHE"
_KEY = re.compile("[0-9a-f]{16}")    # name of a folder of kernels, see kernels/machine/cache.py

# One step of 10 ms of two rods in weightlessness, joined by a ball joint: its end as an independent solution of the
# discrete Euler–Lagrange equations has it (tests/test_doctor.py).
VELOCITY = (1.0, 2.0, 3.0, 0.0, 0.0, 0.0, -2.0, 1.0, 0.5)
STEP = 1e-2    # s
KNOWN = (1.4851410750896e-06, 1.9819373154423e-06, -0.00015629389841787,                           # m
         0.99982515918969, 0.0051484356905381, 0.0099284649576513, 0.014985667980769,
         0.99993472916555, -0.0098356656500428, 0.0053139558360831, 0.0023577453654317)
STATE, MOMENTUM, ENERGY = 1e-10, 1e-11, 1e-6    # greatest errors, the last two relative; seen are 2e-14, 1e-14 and 1e-8


def run(as_json: bool = False, clear: bool = False) -> int:
    """Print what was found, or clear the cache; return the exit code, 0 if the installation is sound and 1 if not."""
    if clear:
        print(clear_cache())
        return 0
    found = examine()
    print(json.dumps(found, indent=2) if as_json else as_text(found))
    return 0 if found["sound"] else 1


def examine() -> dict[str, Any]:
    """Examine the installation; the result can be written as JSON."""
    found: dict[str, Any] = {
        "leastaction": __version__,
        "folder": str(Path(__file__).parent),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": platform.platform(),
        "required": {name: _version(name) for name in REQUIRED},
        "extras": _extras(),
        "settings": {name: value for name, value in sorted(os.environ.items())
                     if name.startswith(("LEASTACTION_", "NUMBA_"))},
        "faults": [],
    }
    for part, look in (("processor", _processor), ("self_test", self_test), ("cache", _cache)):
        try:
            found[part] = look()
        except Exception as error:  # whatever is broken is what a user wants to know
            found[part] = None
            found["faults"].append(f"{part.replace('_', '-')}: {type(error).__name__}: {error}")
    test = found["self_test"] or {}
    found["faults"] += [f"self-test: the {name} is off by {test[f'{name}_error']:.1e}, more than {allowed:g}"
                        for name, allowed in (("state", STATE), ("momentum", MOMENTUM), ("energy", ENERGY))
                        if test and not test[f"{name}_error"] <= allowed]
    found["sound"] = not found["faults"]
    return found


def self_test() -> dict[str, float]:
    """Make the step and return its errors; it compiles kernels, if the cache has none."""
    import numpy as np

    import leastaction as la

    rod = la.Inertia.capsule(mass=1.0, radius=0.05, length=0.5, com=(0, 0, -0.25))
    model = la.Model(gravity=(0, 0, 0))
    model.add_body("trunk", joint=la.Free(), inertia=rod)
    model.add_body("arm", parent="trunk", joint=la.Ball(), position=(0, 0, -0.5), inertia=rod)
    begun = time.perf_counter()
    traj = la.simulate(model, v=VELOCITY, dt=STEP, steps=1)
    return {
        "seconds": time.perf_counter() - begun,
        "state_error": float(np.abs(traj.q[-1] - KNOWN).max()),
        "momentum_error": float(np.abs(traj.momentum[1] - traj.momentum[0]).max() / np.abs(traj.momentum[0]).max()),
        "energy_error": float(abs(traj.energy[1] / traj.energy[0] - 1)),
    }


def clear_cache() -> str:
    """Remove all kernels that this and other versions keep in the cache, and nothing else; say what was done."""
    cache = _cache()
    if not cache["folder"]:
        return NO_CACHE
    for folder in _key_folders(Path(cache["folder"]).parent):
        shutil.rmtree(folder)
    return f"removed {_megabytes(cache['all_bytes'])} of kernels from {Path(cache['folder']).parent}"


def as_text(found: dict[str, Any]) -> str:
    """Write down what `examine` found."""
    rows = [("leastaction", f"{found['leastaction']}, in {found['folder']}"),
            ("Python", f"{found['python']}, {found['system']}")]
    rows += [(name, version or "MISSING") for name, version in found["required"].items()]
    if processor := found["processor"]:
        rows += [("processor", f"{processor['name']}, {processor['cores']} cores, {', '.join(processor['features'])}"),
                 ("SIMD", "on" if processor["simd"] else "off")]
    rows += [("setting", f"{name}={value}") for name, value in found["settings"].items()]
    if cache := found["cache"]:
        size = f"{_megabytes(cache['bytes'])}, with other versions' {_megabytes(cache['all_bytes'])}"
        rows += [("cache", f"{cache['folder']}: {size}"), ("", "`leastaction doctor --clear-cache` empties it"),
                 ("", "LEASTACTION_CACHE names another folder")] if cache["folder"] else [("cache", NO_CACHE)]
    rows += [("extra", f"{extra}: " + ", ".join(f"{name} {version or 'missing'}" for name, version in parts.items()))
             for extra, parts in found["extras"].items()]
    if test := found["self_test"]:
        rows.append(("self-test", f"one step in {test['seconds']:.2g} s: state off by {test['state_error']:.1e}, "
                                  f"momentum by {test['momentum_error']:.1e}, energy by {test['energy_error']:.1e}"))
    verdict = ["This installation is sound."] if found["sound"] else [f"FAULT {fault}" for fault in found["faults"]]
    return "\n".join([*(f"{name:<12} {value}" for name, value in rows), *verdict])


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _extras() -> dict[str, dict[str, str | None]]:
    """Versions of the packages of each extra, None where missing; empty if the library runs without being installed."""
    found: dict[str, dict[str, str | None]] = {}
    for line in (metadata.requires("leastaction") or []) if _version("leastaction") else []:
        name, extra = re.match(r"[\w.-]+", line), re.search(r"extra == ['\"]([\w-]+)", line)
        if name and extra and name[0] != "leastaction" and extra[1] not in NOT_FOR_USERS:
            found.setdefault(extra[1], {})[name[0]] = _version(name[0])
    return found


def _processor() -> dict[str, Any]:
    from llvmlite import binding

    from leastaction.kernels.machine.simd import SIMD

    has = binding.get_host_cpu_features()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return {"name": f"{platform.machine()} {binding.get_host_cpu_name()}", "cores": cores, "simd": SIMD,
            "features": [name for key, name in FEATURES.items() if has.get(key)]}


def _cache() -> dict[str, Any]:
    from leastaction.kernels.machine.cache import FOLDER

    if not FOLDER:
        return {"folder": None, "bytes": 0, "all_bytes": 0}
    folder = Path(FOLDER)
    return {"folder": str(folder), "bytes": _size(folder), "all_bytes": sum(map(_size, _key_folders(folder.parent)))}


def _key_folders(root: Path) -> list[Path]:
    """Find the folders of kernels, one for each version of the library, Python and Numba; a link is not followed."""
    return [path for path in root.iterdir() if _KEY.fullmatch(path.name) and path.is_dir() and not path.is_symlink()]


def _size(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:  # another process has replaced it
            continue
    return total


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"


if __name__ == "__main__":
    sys.exit(run("--json" in sys.argv, "--clear-cache" in sys.argv))
