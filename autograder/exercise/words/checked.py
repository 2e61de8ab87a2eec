"""A function or class that students write, and the properties that it is checked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from autograder.exercise.words.part import Function, Misconception, sentences


@dataclass(eq=False)
class Check:
    """One property of a submitted function.  Its docstring is the rubric item.

    ``run(call, rng)`` calls the submission through ``call`` and raises ``Mismatch`` where it
    is wrong.  ``call`` may be the sandboxed student, the reference or a misconception.

    Attributes
    ----------
    visible
        Students run a recording of it in their notebook.
    after
        Run only if that check passed.
    gpu
        Run only on a machine with a GPU; elsewhere its score is withheld.
    draws
        Checks that have this in common draw the same.
    """

    run: Callable[..., None]
    points: float
    visible: bool = False
    after: Check | None = None
    gpu: bool = False
    draws: str = ""

    @property
    def name(self) -> str:
        """The name under which the check is reported."""
        return self.run.__name__

    @property
    def rubric(self) -> str:
        """The property, in a sentence."""
        return sentences(self.run, "check")


@dataclass(frozen=True, eq=False)
class CheckedFunction:
    """A function or class that students write.

    Attributes
    ----------
    id
        The exercise that asks for it.
    solution
        The reference.
    carried
        What students carry into it from earlier exercises.
    without
        What of a library may not be used for it, since it is what is to be written: by what it is
        called in a sentence, words in the names of the library's functions and operations.
    given
        A version that students may build on instead of their own, and that is no answer.
    """

    id: str
    solution: Function
    checks: tuple[Check, ...] = ()
    misconceptions: tuple[Misconception, ...] = ()
    alternatives: tuple[Function, ...] = ()
    carried: tuple[Carried, ...] = ()
    without: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    given: Function | None = None

    @property
    def name(self) -> str:
        """The name under which students write it."""
        return self.solution.__name__


@dataclass(frozen=True)
class Carried:
    """A function or class of an earlier exercise.

    Attributes
    ----------
    assignment, exercise
        Where students wrote it.
    function
        It, as an exercise of its own: reference, checks and mistakes.
    below
        What its exercise carried from still earlier ones.
    """

    assignment: str
    exercise: str
    function: CheckedFunction
    below: tuple[Carried, ...] = ()

    @property
    def place(self) -> tuple[str, str, str]:
        """What tells it from all others: where it was written, and its name."""
        return self.assignment, self.exercise, self.name

    @property
    def solution(self) -> Function:
        """The reference."""
        return self.function.solution

    @property
    def name(self) -> str:
        """The name that it has in notebooks."""
        return self.function.name
