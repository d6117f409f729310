"""The fingerprint: what decides the bits of a simulation besides the plan, and must agree for all members."""

import hashlib
import json
import os
import platform
from functools import cache
from pathlib import Path

import numpy as np
from llvmlite import binding
from numba.core import codegen, config

import leastaction
from leastaction.errors import FileError
from leastaction.files import environment

# The code that computes members: the kernels, and the Python between a plan and them
PARTS = ("kernels", "model", "simulation", "integrators", "compiled.py", "dynamics.py", "discrete.py", "variants.py",
         "ensemble/draw.py", "ensemble/vary.py", "ensemble/statistics.py")


@cache
def fingerprint() -> str:
    """Return the versions and the processor that make simulations here, as JSON text."""
    version, libc = environment.here(), " ".join(platform.libc_ver())
    return json.dumps({
        **version, "source": _sources(), "NumPy": np.__version__, "LLVM": ".".join(map(str, binding.llvm_version_info)),
        "processor": f"{version['processor']}, {_processor()}", "C library": libc or platform.system(),
        "stages": os.environ.get("LEASTACTION_STAGES", "1"),
    }, sort_keys=True)


def _sources() -> str:
    """Hash the source files that decide numbers, since a version in development has no number of its own."""
    root, digest = Path(leastaction.__file__).parent, hashlib.sha256()
    for part in PARTS:
        path = root / part
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            digest.update(file.relative_to(root).as_posix().encode() + file.read_bytes())
    return digest.hexdigest()[:12]


def _processor() -> str:
    """Name the processor that Numba compiles for, and a hash of its features."""
    chosen: dict[str, str | None] = vars(config)
    name, features = chosen["CPU_NAME"] or binding.get_host_cpu_name(), chosen["CPU_FEATURES"]
    features = codegen.get_host_cpu_features() if features is None else features
    return f"{name} {hashlib.sha256(features.encode()).hexdigest()[:8]}"


def require_same(there: str, where: str) -> None:
    """Raise a FileError that names what differs from where an ensemble was begun, unless nothing does.

    Parameters
    ----------
    there : the fingerprint of the ensemble
    where : its folder
    """
    if there == fingerprint():
        return
    try:
        before, now = json.loads(there), json.loads(fingerprint())
    except ValueError:
        before, now = {}, {}
    names = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    said = ", ".join(f"{name} was {before.get(name)} and is {now.get(name)} here" for name in names)
    raise FileError(f"{where} was begun by what may compute other bits, which are not mixed: {said or there}. Use "
                    "what it was begun with, or another folder; on a cluster of several kinds of processors, let all "
                    "compile for the same one, by NUMBA_CPU_NAME=x86-64-v3 NUMBA_CPU_FEATURES=+avx2,+fma for instance")
