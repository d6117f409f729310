"""Vectors, matrices, rotations and rigid motions, of numbers or of four numbers at once."""
