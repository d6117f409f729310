"""Explicit methods on continuous dynamics, a file each: what they have in common is in common.py."""
