"""The experiments of the paper, one file a figure, and the report that compares measurements with what it says."""
