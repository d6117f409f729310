"""Experiments: tables and figures that a command makes anew, one file each."""
