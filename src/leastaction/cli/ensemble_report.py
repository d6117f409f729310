"""Ensembles summed up, for people and for machines."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from leastaction.ensemble import EnsembleResults

REASONS = 5  # that are told


def summary(results: EnsembleResults) -> dict[str, Any]:
    """Sum up an ensemble for a machine to read; energies in J at the end of the run, times in s."""
    reasons: Counter[str] = Counter()
    for one in results.summaries.values():
        reasons.update(one.reasons)
    statistics = results.statistics
    kinds = ("mean", "std", "minimum", "maximum")
    energy = {kind: float(getattr(statistics, kind)["energy"][-1]) for kind in kinds}
    return {
        "model": results.model.name, "members": results.members, "dt": results.dt, "steps": results.plan["steps"],
        "recorded": len(statistics.t), "kept": len(results.t) if results.keeps_nodes else 0, "chunk": results.chunk,
        "failed": sum(one.failed for one in results.summaries.values()),
        "reasons": dict(reasons.most_common(REASONS)),
        "warned": sum(one.warned for one in results.summaries.values()),
        "at_the_end": int(statistics.count[-1]), "energy_at_the_end": energy if statistics.count[-1] > 1 else None,
    }


def report(results: EnsembleResults, found: dict[str, Any]) -> str:
    """Sum up an ensemble in a few lines, from what `summary` returned."""
    from leastaction.simulation.judgement import part

    members, failed, energy = found["members"], found["failed"], found["energy_at_the_end"]
    lines = [f"{found['model']}: {members} members of {found['steps']} steps of {found['dt']:g} s",
             f"  nodes            {found['recorded']} recorded, "
             + (f"{found['kept']} kept of every member" if found["kept"] else "none kept but their statistics"),
             f"  failed           {failed}" + (f", {part(failed / members)} of them" if failed else "")]
    lines += [f"  {count:>9}        {reason}" for reason, count in found["reasons"].items()]
    if found["warned"]:
        lines += [f"  not trusted      {found['warned']}, which do not keep their energy"]
    lines += ["  energy           no two members came to the end" if energy is None else
              f"  energy           {energy['mean']:.5g} ± {energy['std']:.2g} J at the end, mean and standard "
              f"deviation, from {energy['minimum']:.5g} to {energy['maximum']:.5g} J"]
    return "\n".join([*lines, f"in {results.path}; open it with: leastaction.open_ensemble({str(results.path)!r})"])
