"""Drawing members: each from a generator of its own, so that none depends on how many are drawn with it."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from leastaction.arguments import real_array
from leastaction.assembly import assemble
from leastaction.compiled import compile_model
from leastaction.ensemble.vary import OF_STATE, Distribution, Source, Target
from leastaction.kernels import queries
from leastaction.model import Model
from leastaction.variants import GRAVITY, variants

Array = np.ndarray
Sources = Sequence[tuple[str, Source, list[Target]]]


class Drawn(NamedTuple):
    """Members that were drawn.

    parameters : by name (members,) or (members, size)
    models : of each member, or the ValueError that says why there is none
    q, v : (members, nq), (members, nv) starts, rad, m, unit quaternions, rad/s, m/s
    """

    parameters: dict[str, Array]
    models: list[Model | ValueError]
    q: Array
    v: Array


def draw(model: Model, sources: Sources, seed: int, first: int, count: int) -> Drawn:
    """Draw the members from ``first`` on: the numbers of one are drawn in the order of the names, by its generator.

    Parameters
    ----------
    model : that they vary
    sources : what is varied, and what its values are drawn from
    seed : of the ensemble
    """
    room = [_room(source, named, count) for _, source, named in sources]
    if not all(isinstance(source, np.ndarray) for _, source, _ in sources):
        for b in range(count):
            rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(first + b,)))
            for (name, source, named), rows in zip(sources, room, strict=True):
                if isinstance(source, Distribution):
                    rows[b] = source.noise(rng, rows.shape[1])
                elif not isinstance(source, np.ndarray):
                    rows[b] = np.concatenate([_called(name, source, rng, target, first + b) for target in named])
    changes: dict[tuple[str, int], Array] = {}
    q, v = np.repeat(model.q0[None], count, axis=0), np.repeat(model.v0[None], count, axis=0)
    turns = np.zeros((count, model.nv))
    drawn: list[tuple[Target, Array]] = []
    for (_, source, named), rows in zip(sources, room, strict=True):
        begin = 0
        for target in named:
            size = target.drawn if isinstance(source, Distribution) else target.size or 1
            own = source[first : first + count] if isinstance(source, np.ndarray) else rows[:, begin : begin + size]
            begin += size
            if isinstance(source, Distribution):
                own = _placed(source, own, target, turns[:, _slice(model, "v", target.body)])
            values = own.reshape(count) if target.size is None else own
            drawn.append((target, values))
            if target.what in ("q", "v"):
                (q if target.what == "q" else v)[:, _slice(model, target.what, target.body)] = own.reshape(count, -1)
            else:
                changes[GRAVITY if target.what == "gravity" else (target.what, target.body)] = values
    models: list[Model | ValueError] = [*(variants(model, changes, count) if changes else [model] * count)]
    _settle(model, models, q, v, turns)
    parameters = {target.name: q[:, _slice(model, "q", target.body)].copy() if target.turns else values
                  for target, values in drawn}
    if model.loops:
        alone = {model.names[named[0].body] for _, _, named in sources if len(named) == 1 and named[0].body >= 0
                 and named[0].what in OF_STATE}
        _close(models, q, v, sorted(alone))
    return Drawn(parameters, models, q, v)


def _room(source: Source, named: list[Target], count: int) -> Array:
    """Room for what is drawn for each member."""
    if isinstance(source, np.ndarray):
        return np.empty((count, 0))
    return np.empty((count, sum(one.drawn if isinstance(source, Distribution) else one.size or 1 for one in named)))


def _called(name: str, law: object, rng: np.random.Generator, target: Target, member: int) -> Array:
    """Call a function of the user for one member."""
    try:
        given = law(rng)  # type: ignore[operator]
    except Exception as error:
        error.add_note(f"raised by the function that vary has for {name!r}, for member {member}")
        raise
    values = real_array(given, f"what the function for {name!r} returns")
    if values.size != (target.size or 1) or values.ndim > 1:
        raise ValueError(f"the function that vary has for {name!r} must return {target.size or 1} numbers for "
                         f"{target.name!r}, not an array of shape {values.shape}")
    return values.ravel()


def _placed(source: Distribution, noise: Array, target: Target, turns: Array) -> Array:
    """Return values (count, size) made of noise; for quaternions, set the rotation vectors and return their centre."""
    if target.turns:
        centre = target.nominal if getattr(source, "mean", None) is None else np.asarray(source.mean)  # type: ignore
        turns[:] = source.scaled(noise, np.zeros(target.turns))[1]
        return np.repeat(centre[None], len(noise), axis=0)
    centre, deviation = source.scaled(noise if target.size else noise[:, 0], target.nominal)
    values: Array = centre + deviation
    return values


def _slice(model: Model, what: str, body: int) -> slice:
    if body < 0:
        return slice(None)
    return model.layout.q_slice(body) if what == "q" else model.layout.v_slice(body)


def _close(models: list[Model | ValueError], q: Array, v: Array, keep: list[str]) -> None:
    """Close the loops of every member; the joints that are varied one by one stay where they were drawn."""
    for b, model in enumerate(models):
        if isinstance(model, Model):
            try:
                q[b], v[b] = assemble(model, q[b], v[b], keep)
            except ValueError as error:
                models[b] = error


def _settle(model: Model, models: list[Model | ValueError], q: Array, v: Array, turns: Array) -> None:
    """Turn quaternions and normalise them; a member without a valid state gets the reason in place of a model."""
    tree, quaternions = compile_model(model).system.tree, len(model.layout.quaternions) > 0
    good = np.isfinite(q).all(axis=1) & np.isfinite(v).all(axis=1)
    for b in range(len(q)) if quaternions else np.flatnonzero(~good).tolist():
        try:
            q[b], v[b] = model.check_state(q[b], v[b])
            if turns[b].any():
                queries.moved(tree, q[b], turns[b])
                q[b], v[b] = model.check_state(q[b], v[b])
        except ValueError as error:
            if isinstance(models[b], Model):
                models[b] = error
