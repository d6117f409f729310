"""What the bits of a run depend on besides the model and the integrator."""

import os
import platform
import sys
from collections.abc import Mapping
from pathlib import Path

import numba
import numpy as np
from llvmlite import binding
from numba.core import config

from leastaction._version import __version__
from leastaction.kernels.machine.simd import COMPILED, SIMD


def here() -> dict[str, str]:
    """Describe the versions and the processor that make runs here; where two differ, runs agree to round-off only."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return {"leastaction": __version__, "Python": python, "Numba": numba.__version__,
            "NumPy": ".".join(np.__version__.split(".")[:2]), "SIMD": _simd(),
            "processor": f"{platform.machine()}{'' if _fused() else ' without fused multiply-add'}"}


def _simd() -> str:
    if not COMPILED:
        return "not compiled (NUMBA_DISABLE_JIT)"
    return "on" if SIMD else "off (LEASTACTION_SIMD=0)"


def _fused() -> bool:
    """Tell whether the machine code rounds a·b + c once; on x86 old processors and NUMBA_CPU_NAME=generic do not."""
    if platform.machine().lower() not in ("x86_64", "amd64", "i386", "i686"):
        return True
    chosen: str | None = vars(config)["CPU_FEATURES"]  # NUMBA_CPU_FEATURES, or none of them for a generic processor
    if chosen is not None:
        return "+fma" in chosen
    return bool(binding.get_host_cpu_features().get("fma"))


def differences(there: Mapping[str, str]) -> str:
    """Name what differs from where a run was begun; empty if nothing does."""
    now = here()
    return ", ".join(f"{name} was {there.get(name)} and is {now[name]}" for name in now if there.get(name) != now[name])


def machine() -> dict[str, str]:
    """Say what the numbers were measured on: processor, system and versions."""
    return {
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
        "NumPy": np.__version__,
        "Numba": numba.__version__,
        "leastaction": __version__,
    }


def _processor() -> str:
    known = Path("/proc/cpuinfo")
    for line in known.read_text().splitlines() if known.exists() else ():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
