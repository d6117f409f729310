"""Measure what an ensemble costs besides its simulations, and write the table of docs/ensembles.md.

    python tools/ensemble_cost.py [--quick] [--publish docs/ensembles.md]

Takes about ten minutes on an idle machine; times taken on a busy one mean nothing. Works in a temporary folder,
and Dask on the loopback interface only.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np

import leastaction as la
from leastaction import markdown
from leastaction.ensemble.engines import cores
from leastaction.files.environment import machine

CHAIN = {"mass:*": la.Normal(relative=0.05)}
TINY = {"q": la.Uniform(around=0.1)}
PEAK = """
import sys, resource, leastaction as la
members, chunk, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
study = la.Ensemble("pendulum", members, {"q": la.Uniform(around=0.1)}, dt=1e-2, steps=2, record_every=2, chunk=chunk)
study.run(folder, 1, progress=False).statistics
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


def timed(work):
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def overhead(folder, repeats, seconds):
    """Return how much longer an ensemble of chain:10 takes than `simulate_many` of the same members, each in one chunk.

    Parameters
    ----------
    repeats : of both, in turns
    seconds : that a chunk takes
    """
    options = {"dt": 1e-3, "steps": 1000, "record_every": 100}

    def study(members, seed):
        return la.Ensemble("chain:10", members, CHAIN, chunk=members, seed=seed, **options)

    study(64, 0).run(folder / "warm", progress=False, threads=1)
    rate = 256 / timed(lambda: study(256, 0).run(folder / "rate", progress=False, threads=1))
    members = max(4, int(seconds * rate))
    mass = np.stack([*study(members, 0).plan.draw(0, members).parameters.values()], axis=1)
    model = study(members, 0).model
    bare, whole = [], []
    for repeat in range(repeats):
        bare.append(timed(lambda: la.simulate_many(model, mass=mass, threads=1, **options)))
        whole.append(timed(lambda r=repeat: study(members, r).run(folder / f"o{r}", progress=False, threads=1)))
    return members, median(bare), median(whole) / median(bare) - 1


def chunk_cost(folder, count, executor, name):
    """Return the time of a chunk of four members that hardly compute, s, and that of starting the engine."""
    def study(chunks, seed):
        return la.Ensemble("pendulum", 4 * chunks, TINY, dt=1e-2, steps=2, record_every=2, chunk=4, seed=seed)

    first = timed(lambda: study(8, 0).run(folder / f"{name}0", executor, progress=False))
    few = timed(lambda: study(8, 1).run(folder / f"{name}1", executor, progress=False))
    many = timed(lambda: study(8 + count, 2).run(folder / f"{name}2", executor, progress=False))
    return (many - few) / count, first


def peaks(folder, chunk, sizes):
    """Return the peak memory of the process that coordinates, for each number of members, in words."""
    found = []
    for members in sizes:
        command = [sys.executable, "-c", PEAK, str(members), str(chunk), str(folder / f"peak {members} by {chunk}")]
        found.append(int(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
    return ", ".join(f"{peak / 1e6:.0f} MB" for peak in found)


def opening(folder, chunks):
    """Return the times to open an ensemble, to see what is missing, to read its statistics and one member, in words."""
    study = la.Ensemble("pendulum", 4 * chunks, TINY, dt=1e-2, steps=2, record_every=2, chunk=4)
    study.run(folder / "open", progress=False)
    results = la.open_ensemble(folder / "open")
    size = sum(path.stat().st_size for path in (folder / "open" / "chunks").iterdir()) / chunks
    works = (lambda: la.open_ensemble(folder / "open"), lambda: results.missing, lambda: results.statistics,
             lambda: results.q[7])
    return "; ".join(f"{1e3 * timed(work):.0f} ms" for work in works), size


def measure(folder, scale):
    """Give what was measured, and the result, in words."""
    members, seconds, more = overhead(folder, max(2, 9 // scale), 1.0 / scale)
    yield (f"`chain:10`, 1,000 steps: a chunk of {members:,} members that takes {seconds:.2g} s on one thread: longer "
           "than bare `simulate_many` by"), f"{100 * more:+.1f} %"
    count = 1000 // scale
    for name, executor in ((f"{cores()} threads", None), ("two processes", 2)):
        cost, first = chunk_cost(folder, count, executor, name)
        yield f"a chunk that computes nothing, {name}", f"{1e3 * cost:.1f} ms; the first after {first:.1f} s"
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        print("Dask is not installed, so it is left out")
    else:
        with LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None,
                          silence_logs=50) as cluster, Client(cluster) as client:
            cost, first = chunk_cost(folder, count, client, "dask")
        yield "the same, Dask with two workers here", f"{1e3 * cost:.1f} ms; the first after {first:.1f} s"
    for chunk, sizes in ((4096, (10**4, 10**5, 10**6)), (4, (4 * 10**3, 4 * 10**4, 4 * 10**5))):
        sizes = [size // scale for size in sizes]
        told = ", ".join(f"{size:,}" for size in sizes)
        yield f"peak memory of the coordinator: {told} members in chunks of {chunk}", peaks(folder, chunk, sizes)
    opened, size = opening(folder, count)
    yield f"{count:,} chunks: open; find what is missing; statistics; one member", opened
    yield "a chunk of four members on the disk", f"{size / 1e3:.1f} kB"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of it, to see whether it works")
    parser.add_argument("--publish", type=Path, metavar="PAGE", help="write the table between the marks of a page")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for row in measure(Path(folder), 10 if options.quick else 1):
            rows.append(row)
            print(": ".join(row), flush=True)
    text = (f"{markdown.table(('what', 'measured'), rows)}\n\nBy `python tools/ensemble_cost.py`: "
            f"{' · '.join(f'{name} {value}' for name, value in machine().items())}.")
    if options.publish:
        markdown.fill(options.publish, f"\n{text}\n", "cost")
    else:
        print(f"\n{text}")


if __name__ == "__main__":
    main()
