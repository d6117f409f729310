"""Independent oracles: slow, plain and sharing no code with the library's kernels."""
