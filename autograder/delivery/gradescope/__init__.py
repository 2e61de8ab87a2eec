"""Gradescope: what it hands out is read, and this engine is packed as an autograder for it."""

from dataclasses import dataclass

SETTINGS = "settings.json"


@dataclass(frozen=True)
class PackedSettings:
    """``settings.json`` of a packed autograder.

    Attributes
    ----------
    assignment
        What it grades.
    visibility
        When students see its results, in Gradescope's words.
    trust_students
        Whether it grades also where nothing holds student code back.
    """

    assignment: str
    visibility: str
    trust_students: bool
