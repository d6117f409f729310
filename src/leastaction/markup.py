"""HTML that notebooks show: every text escaped, no scripts, and looks that suit a light page and a dark one."""

from collections.abc import Iterable, Sequence
from html import escape

GOOD, BAD = "#009e73", "#d55e00"
CELL = "padding:.2em .8em .2em 0;border:0;background:none;vertical-align:top;text-align:"
TREE = ("font-family:monospace;white-space:pre;line-height:1.25;padding:0 1.2em 0 0;border:0;background:none;"
        "text-align:left")


def table(head: Sequence[str], rows: Iterable[Sequence[str]], styles: Sequence[str] = ()) -> str:
    """Return a table whose first column names the rows.

    Parameters
    ----------
    head : texts above the columns; none if empty
    rows : texts
    styles : of the cells of each column, CSS; those of the page if empty
    """
    def cell(kind: str, column: int, text: str) -> str:
        style = f" style='{styles[column]}'" if styles else ""
        return f"<{kind}{style}>{escape(text)}</{kind[:2]}>"

    top = "".join(cell("th scope='col'", k, text) for k, text in enumerate(head))
    body = ""
    for first, *rest in rows:
        cells = [cell("th scope='row'", 0, first), *(cell("td", k, text) for k, text in enumerate(rest, 1))]
        body += f"<tr>{''.join(cells)}</tr>"
    return f"<table>{f'<thead><tr>{top}</tr></thead>' if head else ''}<tbody>{body}</tbody></table>"


def tree(title: str, rows: Iterable[Sequence[str]], notes: Iterable[str]) -> str:
    """Return rows in columns of equal letters below a title, with notes below them."""
    drawn = table((), rows, [f"{TREE};font-weight:normal", *[TREE] * 3])
    listed = "".join(f"<div>{escape(note)}</div>" for note in notes)
    return f"<div><strong>{escape(title)}</strong>{drawn}{listed}</div>"


def findings(title: str, good: bool, sentences: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a verdict, its first sentence first to be seen, above the findings that it rests on."""
    head, *rest = sentences
    facts = table((), rows, [f"{CELL}left;font-weight:600;white-space:nowrap", f"{CELL}left"])
    return (f"<div><div style='border-left:5px solid {GOOD if good else BAD};padding:.1em 0 .1em .8em;margin:.3em 0'>"
            f"<strong style='font-size:1.15em'>{escape(head)}</strong> {escape(title)}"
            f"<div>{escape(' '.join(rest))}</div></div>{facts}</div>")


def comparison(title: str, head: Sequence[str], rows: Iterable[Sequence[str]], remarks: Iterable[str],
               notes: Iterable[str]) -> str:
    """Return a table of numbers below a title, with remarks; notes on the columns can be unfolded."""
    numbers = f"{CELL}right;white-space:nowrap;font-variant-numeric:tabular-nums"
    shown = table(head, rows, [f"{CELL}left;font-weight:600;white-space:nowrap", *[numbers] * (len(head) - 1)])
    listed = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return (f"<div><strong>{escape(title)}</strong><div style='overflow-x:auto'>{shown}</div>"
            f"{''.join(f'<div>{escape(remark)}</div>' for remark in remarks)}"
            f"<details><summary>What the columns mean</summary><ul>{listed}</ul></details></div>")
