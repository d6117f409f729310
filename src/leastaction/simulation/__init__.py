"""Simulations: one that is advanced by hand (simulator), the loop of a run (run), whole runs (single, many).

Nothing is imported here: a trajectory needs the simulator, and runs need trajectories.
"""
