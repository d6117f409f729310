"""The report: one HTML page with everything in it, the raw numbers as CSV, and the page of the docs."""

import base64
import csv
import shutil
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import get_args

from leastaction import markdown
from leastaction.files.environment import machine
from leastaction.reproduce.errata import Erratum
from leastaction.reproduce.section import RULE, Claim, Figure, Section, Table, Verdict

MARK = "reproduced"  # of the generated parts of docs/paper.md and the README
CLAIMS = ("the paper says", "measured", "verdict", "why")
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
img { max-width: 100%; } figure { margin: 1rem 0; } figcaption { color: #666; font-size: 90%; }
table { border-collapse: collapse; font-size: 88%; margin: 1rem 0; }
th { text-align: left; border-bottom: 1px solid #888; }
th, td { padding: .25rem .6rem; vertical-align: top; } tr:nth-child(even) { background: #f6f6f6; }
.confirmed { color: #00704f; } .other { color: #a86800; } .not { color: #b03000; }
dt { font-weight: 600; margin-top: 1rem; }
"""
_CLASSES: dict[Verdict, str] = {"confirmed": "confirmed", "direction confirmed, size not": "other",
                                "mean confirmed, spread not": "other", "not confirmed": "not"}


def _table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    top = "".join(f"<th>{escape(str(cell))}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>\n" for row in rows)
    return f"<table><tr>{top}</tr>\n{body}</table>"


def _claims(claims: Iterable[Claim]) -> str:
    rows = "".join(
        f"<tr><td>{escape(c.paper)}</td><td>{escape(c.measured)}</td>"
        f'<td class="{_CLASSES[c.verdict]}">{escape(c.verdict)}</td><td>{escape(c.reason)}</td></tr>\n' for c in claims)
    return f"<table><tr>{''.join(f'<th>{name}</th>' for name in CLAIMS)}</tr>\n{rows}</table>"


def _figure(figure: Figure) -> str:
    data = base64.b64encode(figure.path.read_bytes()).decode()
    return (f'<figure><img alt="{escape(figure.caption)}" src="data:image/png;base64,{data}">'
            f"<figcaption>{escape(figure.caption)}</figcaption></figure>")


def _erratum(e: Erratum) -> str:
    return (f"<dt>{escape(e.where)}</dt><dd>Printed: {escape(e.printed)}.<br>Right: {escape(e.right)}.<br>"
            f"Proof: {escape(e.proof)}<br>Check: {escape(e.check)}.</dd>")


def page(sections: Sequence[Section], errata: Sequence[Erratum]) -> str:
    """Write the whole report as a self-contained page."""
    claims = [claim for section in sections for claim in section.claims]
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>The paper, reproduced</title>'
        f"<style>{_STYLE}</style></head><body>",
        "<h1>A Linear-Time Variational Integrator for Multibody Systems, reproduced</h1>",
        "<p>Every experiment of Lee, Liu, Park and Srinivasa (WAFR 2016), made anew by <code>leastaction "
        "reproduce</code>. All numbers here were measured in this one run; times are CPU times of one thread and "
        "hold for this machine: "
        + escape("; ".join(f"{name} {value}" for name, value in machine().items())) + ".</p>",
        f"<h2>Claims</h2><p>Ratios and times: median of the repeats, and their range. {escape(RULE)}</p>",
        _claims(claims),
    ]
    for section in sections:
        parts += [f"<h2>{escape(section.title)}</h2><p>{escape(section.text)}</p>", *map(_figure, section.figures)]
        parts += [_table(table.head, table.rows) for table in section.tables if table.shown]
    parts += ["<h2>Errata of the paper</h2><p>Each with a proof, and a check computed in this run.</p><dl>",
              *map(_erratum, errata), "</dl></body></html>"]
    return "\n".join(parts)


def _write_csv(path: Path, table: Table) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([table.head, *table.rows])


def write(sections: Sequence[Section], errata: Sequence[Erratum], out: Path) -> list[Path]:
    """Write report.html and a CSV file of every table; gives their paths."""
    claims = Table("claims", CLAIMS, [c for s in sections for c in s.claims])
    proofs = Table("errata", Erratum._fields, list(errata))
    paths = []
    for table in [claims, proofs, *(table for s in sections for table in s.tables)]:
        paths.append(out / f"{table.name}.csv")
        _write_csv(paths[-1], table)
    report = out / "report.html"
    report.write_text(page(sections, errata), encoding="utf-8")
    return [report, *paths]


def publish(sections: Sequence[Section], command: str, root: Path) -> None:
    """Put the claims and the figures into docs/paper.md of a checkout, and the count of verdicts into its README."""
    images = root / "docs" / "images"
    images.mkdir(parents=True, exist_ok=True)
    pictures = []
    for figure in (f for s in sections for f in s.figures):
        name = f"paper-{figure.path.name}"
        shutil.copyfile(figure.path, images / name)
        pictures.append(f"![{figure.caption}](images/{name})")
    claims = [c for s in sections for c in s.claims]
    text = "\n\n".join([
        f"Made by `{command}` on " + "; ".join(f"{name} {value}" for name, value in machine().items()) + f". {RULE}",
        markdown.table(CLAIMS[:3], [(c.paper, c.measured, c.verdict) for c in claims]), *pictures,
    ])
    markdown.fill(root / "docs" / "paper.md", text, MARK)
    counts = [(sum(c.verdict == verdict for c in claims), verdict) for verdict in get_args(Verdict)]
    parts = ", ".join(f"{count} *{verdict}*" for count, verdict in counts if count)
    markdown.fill(root / "README.md", "`leastaction reproduce` makes every figure and number of the paper anew. Of its "
                  f"{len(claims)} claims: {parts}; see [`docs/paper.md`](docs/paper.md).", MARK)
