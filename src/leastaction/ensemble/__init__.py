"""Ensembles: many members of one model, made in chunks that survive, and what is read back of them."""
