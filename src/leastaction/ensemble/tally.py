"""Counts while an ensemble runs: members, failures and their reasons; nothing is stored for single members."""

from collections import Counter

from leastaction.arguments import finite, shown
from leastaction.ensemble.index import Summary

EARLY, ENOUGH = 0.1, 1000  # part and number of the members from which failures are judged before the end
NAMED = 5  # reasons that are told
REMEMBERED = 1000  # reasons that are counted


class TooManyFailures(RuntimeError):
    """More members failed than was allowed."""


class Tally:
    """Counts what is made.

    Parameters
    ----------
    members : of the whole ensemble
    most_failures : a fraction of the members below 1, or 1.0 for any number; or, as a whole number, a count
    """

    def __init__(self, members: int, most_failures: float) -> None:
        number = finite(most_failures)
        if number is None or number < 0 or (number > 1 and not isinstance(most_failures, int)):
            raise ValueError("most_failures must be a fraction from 0.0 to 1.0, or a whole number of members, not "
                             f"{shown(most_failures)}")
        self.members, self.limit = members, most_failures
        self.done = self.failed = self.warned = 0
        self.reasons: Counter[str] = Counter()

    def add(self, summary: Summary) -> None:
        """Count a chunk."""
        self.done += summary.count
        self.failed += summary.failed
        self.warned += summary.warned
        if len(self.reasons) < REMEMBERED:
            self.reasons.update(summary.reasons)

    def check(self, folder: str) -> None:
        """Raise TooManyFailures if more members failed than is allowed: of all, or of those made if they are many."""
        if isinstance(self.limit, int):
            few = self.failed <= self.limit
        else:
            judged = self.done if self.done >= max(EARLY * self.members, ENOUGH) else self.members
            few = self.failed <= self.limit * judged
        if few:
            return
        reasons = "; ".join(f"{count} × {reason}" for reason, count in self.reasons.most_common(NAMED))
        raise TooManyFailures(f"{self.failed} of {self.done} members failed, and most_failures is {self.limit}: "
                              f"{reasons}. What was made is in {folder}, where la.open_ensemble reads it; a greater "
                              "most_failures goes on")
