"""Closed loops, measured: a four-bar beside other libraries, and ladders of up to thousands of loops."""
