"""What an attack found: how often each outcome came, and every case that was not clean, so that it can be repeated."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Found:
    """Outcomes of one area.

    Parameters
    ----------
    area : what was attacked
    outcomes : how often each clean outcome came, in words
    failures : one line for every case that was not clean
    note : why nothing was tried, where that is so
    """

    area: str
    outcomes: Counter = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    note: str = ""

    @property
    def tried(self) -> int:
        return self.outcomes.total() + len(self.failures)
