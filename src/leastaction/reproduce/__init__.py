"""The experiments of the paper, one file a figure, and the report that puts what was measured beside what it says."""
