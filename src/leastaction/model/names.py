"""Names that nobody has, and the nearest that somebody has."""

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, names: Iterable[str], ground: str = "") -> str:
    """Hint at the nearest of `names`, if any is near; only the first thousand are compared.

    Parameters
    ----------
    ground : what to write for the ground, if that may have been meant
    """
    if ground and name.lower() in ("world", "ground"):
        return f"; the ground is {ground}"
    close = difflib.get_close_matches(name, list(names)[:1000], n=3)
    return f"; did you mean {' or '.join(repr(x) for x in close)}?" if close else ""
