"""What an experiment hands to the report."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar

import numpy as np

Item = TypeVar("Item")
Verdict = Literal["confirmed", "direction confirmed, size not", "mean confirmed, spread not", "not confirmed"]
SAME_SIZE = 1.5  # factor within which two numbers, measured on other machines and motions, count as the same
GAIN = 1.1  # a ratio below is no gain
RULE = (f"A number of the paper is confirmed if ours is within a factor of {SAME_SIZE:g} of it; its direction is, if "
        "the same method wins, by whatever factor.")


class Claim(NamedTuple):
    """A statement of the paper, what was measured, and how the two compare, with the reason."""

    paper: str
    measured: str
    verdict: Verdict
    reason: str


class Table(NamedTuple):
    """Numbers for a CSV file of this name; shown in the report, too, where it is short."""

    name: str
    head: Sequence[str]
    rows: Sequence[Sequence[object]]
    shown: bool = True


class Figure(NamedTuple):
    """A picture in the output folder, and what it shows."""

    path: Path
    caption: str


class Section(NamedTuple):
    """A part of the report."""

    title: str
    text: str
    figures: Sequence[Figure]
    tables: Sequence[Table]
    claims: Sequence[Claim] = ()


class Plan(NamedTuple):
    """How much to measure.

    sizes, long_sizes : numbers of bodies of the cost figure: of all methods, and beyond, of RIQN with DRNEA alone
    frames, budget, repeats : frames to time at most, seconds for the slowest method at a size, and how often
    tree_depth : of the branching tree beside the chain
    short, long : durations of the energy figure, s
    bodies, counted : of the iteration figure: bodies of the chain and frames
    guess_frames : to try every guess on
    step_duration : s, of the comparison of step sizes
    """

    sizes: tuple[int, ...] = (2, 5, 10, 20, 35, 50, 70, 100)
    long_sizes: tuple[int, ...] = (200, 500, 1000, 2000)
    frames: int = 10_000
    budget: float = 100.0
    repeats: int = 5
    tree_depth: int = 5
    short: float = 10.0
    long: float = 1000.0
    bodies: int = 50
    counted: int = 1000
    guess_frames: int = 2000
    step_duration: float = 20.0


def same_size(found: float, paper: float) -> bool:
    """Tell whether a number is the paper's, within a factor of SAME_SIZE."""
    return paper / SAME_SIZE <= found <= paper * SAME_SIZE


def verdict_on_ratio(found: Sequence[float], paper: float) -> Verdict:
    """Compare how many times faster a method was, repeat by repeat, with what the paper says."""
    median = float(np.median(found))
    if median < GAIN:
        return "not confirmed"
    return "confirmed" if same_size(median, paper) else "direction confirmed, size not"


def verdict_on_counts(found: np.ndarray, mean: float, sigma: float) -> Verdict:
    """Compare counts with the mean and the standard deviation that the paper gives; a quarter is no difference."""
    if not same_size(float(found.mean()), mean):
        return "not confirmed"
    alike = abs(found.std() - sigma) < 0.25 or same_size(float(found.std()), sigma)
    return "confirmed" if alike else "mean confirmed, spread not"


def spread(values: Iterable[float], digits: int = 3) -> str:
    """Write the median of repeats, and their range."""
    array = np.array(list(values))
    low, high = array.min(), array.max()
    return f"{np.median(array):.{digits}g} ({low:.{digits}g}–{high:.{digits}g})"


def bar(items: Sequence[Item], what: str) -> Iterator[Item]:
    """Go through items with a progress bar, where there is a terminal to show it on."""
    from tqdm import tqdm

    return iter(tqdm(items, desc=f"{what:<12}", unit="run", disable=None, leave=True))
