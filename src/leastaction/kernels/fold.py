"""Statistics over the members of a chunk, folded over a fixed binary tree; see leastaction/ensemble/statistics.py."""

import numpy as np

from .machine.jit import exact_entry


@exact_entry
def fold_members(values, made, first, start, end, count, moments, numbers, work):
    """Merge members, at the nodes from ``start`` to ``end``, to the largest whole subtrees of their range.

    values (members, nodes · entries); made (members,) nodes that each member made; first: number of the first member;
    count (subtrees, nodes) and moments (4, subtrees, nodes · entries) are written: mean, m2, minimum, maximum;
    numbers (members, end − start) and work (4, members, (end − start) · entries) are memory.
    """
    members, nodes = values.shape[0], end - start
    entries = values.shape[1] // count.shape[1]
    offset, width = start * entries, nodes * entries
    whole = True
    for b in range(members):
        known = min(max(made[b] - start, 0), nodes)
        whole = whole and known == nodes
        numbers[b, :known], numbers[b, known:nodes] = 1.0, 0.0
        for c in range(known * entries):
            x = values[b, offset + c] + 0.0  # no −0: NumPy's minimum takes the one or the other zero
            work[0, b, c], work[1, b, c], work[2, b, c], work[3, b, c] = x, 0.0, x, x
        work[0, b, known * entries : width], work[1, b, known * entries : width] = 0.0, 0.0
        work[2, b, known * entries : width], work[3, b, known * entries : width] = np.inf, -np.inf
    segments = 1 if whole else nodes  # ranges of nodes that the same number of members made
    length = width // segments
    left, right, size = 0, count.shape[0] - 1, members
    while size > 0:
        odd, tail = first % 2, (first + size) % 2  # neighbours without a partner
        if odd:
            _give(0, left, start, nodes, offset, width, count, moments, numbers, work)
            left += 1
        if tail:
            _give(size - 1, right, start, nodes, offset, width, count, moments, numbers, work)
            right -= 1
        size = (size - odd - tail) // 2
        for i in range(size):
            a, b = odd + 2 * i, odd + 2 * i + 1
            for s in range(segments):
                n_a, n_b = numbers[a, s], numbers[b, s]
                n = max(n_a + n_b, 1.0)
                weight, product = n_b / n, n_a * n_b / n
                for c in range(s * length, (s + 1) * length):
                    mean, low, high = work[0, a, c], work[2, a, c], work[3, a, c]
                    difference, other_low, other_high = work[0, b, c] - mean, work[2, b, c], work[3, b, c]
                    work[0, i, c] = difference * weight + mean
                    work[1, i, c] = work[1, a, c] + work[1, b, c] + difference * difference * product
                    work[2, i, c] = low if low <= other_low or low != low else other_low  # NaN stays
                    work[3, i, c] = high if high >= other_high or high != high else other_high
            for k in range(nodes):
                numbers[i, k] = numbers[a, k] + numbers[b, k]
        first = (first + 1) // 2


@exact_entry
def _give(at, row, start, nodes, offset, width, count, moments, numbers, work):
    for k in range(nodes):
        count[row, start + k] = int(numbers[at, k])
    for kind in range(4):
        for c in range(width):
            moments[kind, row, offset + c] = work[kind, at, c]
