"""Measurements that need an interpreter of their own."""

import os
import subprocess
import sys
import time
from pathlib import Path


def run_fresh(code: str, cache: Path | None = None) -> tuple[str, float]:
    """Run Python code in a new interpreter, with the same environment as this one, and bytecode kept as usual.

    Parameters
    ----------
    code : what to run
    cache : folder for compiled kernels; the usual one if None

    Returns
    -------
    printed : what it wrote to its standard output
    seconds : wall-clock time from its launch to its end, s
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    if cache is not None:
        environment["LEASTACTION_CACHE"] = str(cache)
    began = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code], env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout, time.perf_counter() - began
