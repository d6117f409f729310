"""The tables of docs/choosing.md: which order, step, retraction, root finder and guess for which problem."""
