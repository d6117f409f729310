"""The kinds of constraint row: a file each, with the same verbs."""
