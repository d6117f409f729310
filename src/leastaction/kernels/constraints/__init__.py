"""Closed loops and couplings: rows g(q) = 0 beside the tree, and the step that keeps them."""
