"""The order in which joints and rows are eliminated from a tree with closed loops, as a list of operations.

A block of rows (a loop or a coupling) can go when all joints of its loop are gone, at the nearest common ancestor of
the two links; or before, as soon as its own pivot is regular with the links that it acts on held. In the first order a
link carries all rows that are open in its subtree, in the second it is coupled to links instead. Which is cheaper
depends on the mechanism: both are counted here, once for a model, and kernels/constraints/elimination.py does what the
list says.
"""

from collections.abc import Iterable

from leastaction.constraint_plan.early import Numbers, order_early
from leastaction.constraint_plan.graph import Graph, common_ancestors, fronts_by_ancestors, order_by_ancestors
from leastaction.constraint_plan.memory import Plan, lay_out
from leastaction.kernels.constraints.rows import Rows
from leastaction.kernels.layout import Tree

__all__ = ["Graph", "Numbers", "Plan", "common_ancestors", "lay_out", "order_by_ancestors", "order_early", "plan"]

NARROW = 6  # a front that is no wider than this cannot become cheaper: one link alone has six numbers


def plan(tree: Tree, rows: Rows, tried: Iterable[Numbers]) -> Plan:
    """Make the cheapest list of operations that is found.

    Parameters
    ----------
    tree, rows : of the model, without rows that no joint can change
    tried : configurations in which the early order finds out which blocks are regular
    """
    graph = Graph(tree, rows)
    widths, least = fronts_by_ancestors(graph)
    if max(widths, default=0) <= NARROW:
        plain = lay_out(graph, order_by_ancestors(graph), set())
        if plain.width <= NARROW:
            return plain
    best: Plan | None = None
    for numbers in tried:
        found = order_early(graph, numbers, best.cost if best else None)
        if found is not None:
            best = lay_out(graph, *found)
    if best is not None and least >= best.cost:
        return best
    plain = lay_out(graph, order_by_ancestors(graph), set())
    return best if best is not None and best.cost < plain.cost else plain
