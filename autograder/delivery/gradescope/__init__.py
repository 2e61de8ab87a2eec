"""Gradescope: what it hands out is read, and this engine is packed as an autograder for it."""

#: In the packed autograder: which assignment, and how its results are shown.
SETTINGS = "settings.json"
