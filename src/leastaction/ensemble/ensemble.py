"""Ensembles: what a user asks for, and how it is run so that it survives a crash."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from contextlib import closing
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np

from leastaction.arguments import real_array, shown, whole
from leastaction.ensemble.chunk_file import check_chunk
from leastaction.ensemble.engines import Engine, Task, engine_of
from leastaction.ensemble.fingerprint import fingerprint, require_same
from leastaction.ensemble.folder import Folder, Stored, digest
from leastaction.ensemble.layout import QUANTITIES, Layout
from leastaction.ensemble.plan import Plan, differences, read_arrays, write_arrays
from leastaction.ensemble.results import EnsembleResults, open_ensemble
from leastaction.ensemble.sizing import chunk_size, require_room
from leastaction.ensemble.tally import Tally, TooManyFailures
from leastaction.ensemble.virtual import write_virtual
from leastaction.errors import AccuracyWarning, FileError, warn_user
from leastaction.files.container import need_h5py
from leastaction.formats import find_model
from leastaction.integrators import Integrator, IntegratorName, as_integrator, point_to_integrator
from leastaction.model import Model
from leastaction.simulation.progress import Progress
from leastaction.simulation.single import prepare
from leastaction.trajectory import Control

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distributed import Client

MOST_MEMBERS = 10**12
MOST_CHUNK = 10**6
MOST_LINKED = 20_000  # chunks for which `run` writes ensemble.h5; each takes 40 kB of memory while it does


class Ensemble:
    """Many runs of one model that differ in their start or their parameters, made into a folder of files.

    A member depends on what is given here and on its number alone: its bits do not depend on other members, on chunks,
    on threads, or on what computes it. Its values are drawn by a generator of its own,
    ``numpy.random.default_rng(SeedSequence(seed, spawn_key=(number,)))``, in the order of the names in ``vary``.

    Parameters
    ----------
    model : the system; or its name or file, as for `find_model`
    members : how many runs
    vary : what differs, by name: "q", "v" (all of the start) or "q:joint", "v:joint"; "gravity"; "mass:body" (with
        which the inertia grows), "com:body", "position:body"; "damping:joint", "stiffness:joint", "armature:joint" and
        other numbers of a joint. ``*`` and ``?`` match any characters: ``mass:*`` varies every mass by itself. A value
        is `Normal`, `Uniform`, a function of a `numpy.random.Generator` that returns the value, or an array with a row
        per member, in the units of the model
    seed : of the draws, a whole number
    dt, duration, steps, record_every, integrator, control, wrench, command, control_every, ignore : as for `simulate`,
        and the same for all members; record_every must divide the steps
    keep : which of the recorded nodes to keep of every member: "all", k for every k-th and the last, "last", or
        "statistics" for none. Statistics are made of all recorded nodes, whatever is kept
    chunk : members per file, which changes the speed and no number; about a second of work unless given
    quantities : which of "q", "v", "p", "energy" and "momentum" to keep, and make statistics of

    Raises
    ------
    ValueError
        When a name of ``vary`` is unknown, listing similar names, or when an argument is not valid.

    Examples
    --------
    >>> study = la.Ensemble("chain:3", 1000, {"mass:*": la.Normal(relative=0.05)}, dt=1e-3, duration=1.0)
    >>> results = study.run("study")  # doctest: +SKIP
    """

    @point_to_integrator
    def __init__(
        self,
        model: Model | str | PathLike[str],
        members: float,
        vary: Mapping[str, Any],
        *,
        seed: int = 0,
        dt: float = 1e-3,
        duration: float | None = None,
        steps: int | None = None,
        record_every: int = 1,
        keep: int | str = "all",
        chunk: int | None = None,
        quantities: Iterable[str] = ("q", "v", "energy"),
        integrator: Integrator | IntegratorName | None = None,
        control: Control = None,
        wrench: Control = None,
        command: Control = None,
        control_every: int = 1,
        ignore: str | Iterable[str] = (),
    ) -> None:
        if not isinstance(model, Model):
            model = find_model(str(model))
        if isinstance(members, float) and members.is_integer():
            members = int(members)  # 1e6 is how people write it
        members = whole("members", members, 1, MOST_MEMBERS)
        if not isinstance(vary, Mapping):
            raise ValueError(f"vary must be a dict such as {{'mass:*': Normal(relative=0.05)}}, not {shown(vary)}")
        self.chunk = None if chunk is None else whole("chunk", chunk, 1, MOST_CHUNK)
        like = prepare(model, None, None, dt=dt, duration=duration, steps=steps, integrator=integrator, control=control,
                       wrench=wrench, command=command, control_every=control_every, record_every=record_every,
                       ignore=ignore)  # which checks and warns of all of it
        if like.steps % like.every:
            raise ValueError(f"record_every={like.every} leaves out the end of {like.steps} steps: give a divisor, "
                             f"such as {_divisor(like.steps, like.every)}")
        self.plan = Plan(
            Model.from_dict(like.sim.model.to_dict()), members, whole("seed", seed, 0, 2**128 - 1),
            {name: value if callable(value) or not isinstance(value, np.ndarray | list | tuple)
             else real_array(value, f"vary: {name!r}") for name, value in vary.items()},
            like.sim.dt, like.steps, like.every, as_integrator(integrator), like.origin.control,
            like.origin.wrench, like.origin.command, like.tick, _keep(keep), _quantities(quantities))
        assert self.plan.sources is not None  # which checks the names

    @property
    def model(self) -> Model:
        """The system that the members vary."""
        return self.plan.model

    @property
    def members(self) -> int:
        """Number of members."""
        return self.plan.members

    def __repr__(self) -> str:
        plan = self.plan
        varied = ", ".join(plan.vary) or "nothing"
        return (f"<Ensemble of '{plan.model.name}': {plan.members} members, {plan.steps} steps of {plan.dt:g} s, "
                f"varying {varied}>")

    def run(
        self,
        folder: str | PathLike[str],
        executor: int | Executor | Client | None = None,
        *,
        progress: bool | None = True,
        most_failures: float = 0.5,
        threads: int | None = None,
    ) -> EnsembleResults:
        """Make what is missing of the ensemble in a folder, and open it.

        After any interruption, even a kill, the same call continues with the folder: members are made in chunks, and
        each chunk is either complete or absent. A member that fails is no error: its reason, time and last good state
        are among the results.

        Parameters
        ----------
        folder : where the results are, made if it is not there; all workers must see it under this path
        executor : who makes the chunks: None for threads of this process; a number of processes, of which those that
            die are replaced; a `concurrent.futures.Executor`, whose errors are raised; or a `dask.distributed.Client`
        progress : whether to show a bar, of members; None shows it for long runs at a terminal
        most_failures : which part of the members may fail, or how many, as a whole number; more end the run with the
            commonest reasons. It is a part of all members, or of those made once they are a thousand and a tenth of all
        threads : for each worker; None for all there are, divided among them. With a user's executor whose number of
            workers is not known, and with Dask, one

        Returns
        -------
        EnsembleResults, as of `open_ensemble`

        Raises
        ------
        FileError
            When the folder has another plan, naming what differs, was begun by a version or on a processor that may
            compute other bits, or cannot be written.
        RuntimeError
            When more members failed than ``most_failures``.

        Warns
        -----
        AccuracyWarning
            When members do not keep their energy.
        """
        need_h5py()
        engine = engine_of(executor, threads)
        tally = Tally(self.plan.members, most_failures)
        place = Folder(fspath(folder))
        stored = self._prepare(place, engine)
        layout = Layout.of(stored.plan, stored.chunk)
        place.tidy()
        missing = np.ones(layout.chunks, dtype=bool)
        for number in place.numbers():
            if number < layout.chunks:
                try:
                    tally.add(check_chunk(place, number, stored))
                    missing[number] = False
                except FileError:
                    continue  # it is made again
        begun = tally.done
        try:
            self._make(engine, place, missing, tally, progress)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"{tally.done} of {self.members} members are in {place.path}: the same call makes "
                                    "the rest") from None
        except Exception as error:
            if not isinstance(error, FileError | TooManyFailures):
                error.add_note(f"{tally.done} of {self.members} members are in {place.path}: the same call makes the "
                               "rest")
            raise
        finally:
            place.tidy()  # after workers that died
        there = place.virtual.exists()
        if (there and tally.done > begun) or (not there and layout.chunks <= MOST_LINKED):
            write_virtual(open_ensemble(place.path))
        if tally.warned:
            warn_user(f"{self.model.name}: {tally.warned} of {self.members} members do not keep their energy; warned "
                      "of the results lists them. Take a smaller step", AccuracyWarning)
        return open_ensemble(place.path)

    def _make(self, engine: Engine, place: Folder, missing: np.ndarray, tally: Tally, progress: bool | None) -> None:
        """Make the missing chunks by an engine."""
        tally.check(str(place.path))
        numbers: Iterator[int] = (int(number) for number in np.flatnonzero(missing))
        task = Task(str(place.path), self.plan.functions)
        with Progress(self.members, progress, done=tally.done, unit="member") as bar, \
                closing(engine.make(task, numbers)) as made:  # type: ignore[type-var]
            for summary in made:
                tally.add(summary)
                bar.update(summary.count)
                tally.check(str(place.path))

    def _prepare(self, place: Folder, engine: Engine) -> Stored:
        """Write the plan to the folder, or check that the folder has the same plan."""
        plan = self.plan.to_dict()
        if not place.plan.exists():
            require_room(place.path, self.plan)
            size = self.chunk or chunk_size(self.plan, engine)
            write_arrays(place, self.plan)
            place.write_plan(plan, size, fingerprint())
        stored = place.read_plan()
        if stored.digest != digest(plan):
            raise FileError(f"{place.path} has another ensemble: {differences(stored.plan, plan)}. Choose "
                            "another folder, or give what is there")
        require_same(stored.fingerprint, str(place.path))
        if self.chunk not in (None, stored.chunk):
            raise FileError(f"{place.path} has chunks of {stored.chunk} members, not {self.chunk}: leave chunk out, or "
                            "choose another folder")
        if self.plan.arrays and not read_arrays(place):
            write_arrays(place, self.plan)
        return stored


def _keep(keep: object) -> int | str:
    if keep in ("all", "last", "statistics"):
        return str(keep)
    if isinstance(keep, str):
        raise ValueError("keep must be 'all', 'last', 'statistics' or a whole number k for every k-th node, not "
                         f"{keep!r}")
    return whole("keep", keep, 1)


def _quantities(names: Iterable[str]) -> tuple[str, ...]:
    given = (names,) if isinstance(names, str) else tuple(names)
    unknown = [name for name in given if name not in QUANTITIES]
    if unknown or not given:
        raise ValueError(f"quantities must be some of {', '.join(map(repr, QUANTITIES))}, not {shown(names)}")
    return tuple(name for name in QUANTITIES if name in given)


def _divisor(steps: int, near: int) -> int:
    """Return the divisor of a number of steps that is nearest to a number."""
    small = [k for k in range(1, int(steps**0.5) + 1) if steps % k == 0]
    return min({*small, *(steps // k for k in small)}, key=lambda k: (abs(k - near), k))
