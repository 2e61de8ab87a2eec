"""What the files hold that come with a notebook: check.json, help.json and looks.json.

These are types alone: the notebook does without them, and the tables of docs/formats.md are made
from them.
"""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict


class RecordedPart(TypedDict):
    """A part of an exercise.

    Attributes
    ----------
    name, rubric, points
        The variable, what it should hold, and what it is worth.
    hint
        How an answer is read: its ``kind``, and what the reader of that kind needs besides.
    """

    name: str
    rubric: str
    points: float
    hint: dict[str, Any]


class RecordedCall(TypedDict, total=False):
    """A call that a visible check makes, and what the reference answered.

    Attributes
    ----------
    do, object, name
        What is not a plain call: ``make`` an object, call its ``method``, ``get`` or ``set`` an
        attribute, ``seed``; the object's number, and what is used of it.
    args, kwargs
        Arguments: values, numbers of objects, or a function as its source.
    value, compare, rtol
        The answer, in which respects it is compared, and how loosely where a check is.
    unchanged
        Whether the arguments have to be what they were.
    """

    do: str
    object: int
    name: str
    args: list[Any]
    kwargs: dict[str, Any]
    value: Any
    compare: list[Any]
    rtol: float
    unchanged: bool


class RecordedCheck(TypedDict):
    """A visible check of a function.

    Attributes
    ----------
    name, rubric, points
        What it is called, what it requires, and what it is worth.
    calls
        What it calls, in this order.
    varied
        Whether results that are one number throughout are refused.
    """

    name: str
    rubric: str
    points: float
    calls: list[RecordedCall]
    varied: NotRequired[bool]


class RecordedFunction(TypedDict):
    """A function that students write.

    Attributes
    ----------
    name, checks
        The function, and its visible checks.
    hidden_checks
        How many others there are.
    without
        What of a library may not be used for it.
    """

    name: str
    checks: list[RecordedCheck]
    hidden_checks: int
    without: NotRequired[list[str]]


class RecordedExercise(TypedDict):
    """An exercise of an assignment.

    Attributes
    ----------
    title, points
        How it is called, and what it is worth.
    functions, parts
        What is asked for.
    pool
        The variants: a student's is picked by course, id and exercise.
    """

    title: str
    points: float
    functions: list[RecordedFunction]
    parts: list[RecordedPart]
    pool: list[dict[str, Any]]


class CarriedExercise(TypedDict):
    """An exercise of an earlier notebook whose code is needed here.

    Attributes
    ----------
    assignment, names
        Where it is from, and what it defines.
    given
        Code that works, where the course gives it away.
    """

    assignment: str
    names: list[str]
    given: NotRequired[str]


class CheckFile(TypedDict):
    """``check.json``: what a notebook knows about its exercises.

    Attributes
    ----------
    schema
        The version of this format.
    course, assignment
        Whose it is.
    exercises
        By id.
    carried
        By exercise, what is carried here from an earlier notebook.
    data
        The SHA-256 of each data file that lies beside the notebook.
    """

    schema: int
    course: str
    assignment: str
    exercises: dict[str, RecordedExercise]
    carried: NotRequired[dict[str, CarriedExercise]]
    data: NotRequired[dict[str, str]]


class Worked(TypedDict, total=False):
    """The answer to a part, worked out for a set of numbers.

    Attributes
    ----------
    right
        The right answers by each route of the reference.
    wrong
        Pairs: the place of a sentence in ``says``, and the answer that this mistake gives.
    reach
        By earlier part: by how much each number moves, at most, if all of its are moved by 1.
    """

    right: list[Any]
    wrong: list[tuple[int, Any]]
    reach: dict[str, Any]


class Following(TypedDict):
    """What follows from a known mistake; what is the same without it is left out.

    Attributes
    ----------
    part, value
        Where it is made, and the answer that it gives.
    then
        The answers to later parts.
    """

    part: str
    value: Any
    then: dict[str, Worked]


class PracticeSet(TypedDict):
    """Numbers that nobody is graded with.

    Attributes
    ----------
    numbers
        By name, as in the pool.
    right
        By part.
    after
        For each known mistake, what follows from it.
    """

    numbers: dict[str, Any]
    right: dict[str, Worked]
    after: NotRequired[list[Following]]


class PracticePart(TypedDict):
    """A part that can be practised.

    Attributes
    ----------
    name, asks
        The variable, and what is asked for, by paragraphs.
    hint, rule
        How an answer is read, as in check.json; and what its judge needs besides: tolerance,
        decimals, letters.
    needs
        The earlier parts that it is computed from.
    says
        The sentences about known mistakes.
    way
        How it is computed, with names in braces for numbers, where that is one formula.
    """

    name: str
    asks: list[str]
    hint: dict[str, Any]
    rule: dict[str, Any]
    needs: list[str]
    says: list[str]
    way: NotRequired[str]


class PracticeInputs(TypedDict):
    """One draw of inputs that a function is tried on.

    Attributes
    ----------
    calls
        As in check.json; results to ten digits.
    wrong
        By known mistake that returns anything else: the place of its sentence in ``says``, and of
        each result a mark by which it is known again, as far as it returns any.
    """

    calls: list[RecordedCall]
    wrong: list[tuple[int, list[Any]]]


class PracticeCheck(TypedDict):
    """A visible check with other draws.

    Attributes
    ----------
    rubric, varied
        As in check.json.
    sets
        The draws.
    """

    rubric: str
    sets: list[PracticeInputs]
    varied: NotRequired[bool]


class PracticeFunction(TypedDict):
    """A function that is tried on other inputs.

    Attributes
    ----------
    name, checks
        The function, and what it is tried on.
    says
        The sentences about known mistakes.
    """

    name: str
    checks: list[PracticeCheck]
    says: list[str]


class Practice(TypedDict):
    """How an exercise is practised.

    Attributes
    ----------
    parts, sets
        What is asked, and with which numbers; either both or none.
    functions
        The functions that are tried.
    """

    parts: list[PracticePart]
    sets: list[PracticeSet]
    functions: NotRequired[list[PracticeFunction]]


class Help(TypedDict, total=False):
    """What ``help.json`` holds for an exercise, by its id.

    Attributes
    ----------
    hints
        One after another.
    practice
        Numbers to try one's hand at.
    unpractised
        Why there are none.
    """

    hints: list[str]
    practice: Practice
    unpractised: str


class LookBoxes(TypedDict):
    """What answers to the numbers of one variant open.

    Attributes
    ----------
    shift
        Where the grid begins, so that no right answer lies at the edge of a cell.
    locked
        Boxes, in Base64: for each right answer its numbers, for each known mistake its sentence.
    seal
        By what a code is known, where one is needed.
    """

    shift: float
    locked: list[str]
    seal: NotRequired[str]


class Look(TypedDict):
    """A part of which the notebook can tell whether its graded answer is right: ``looks.json``.

    Attributes
    ----------
    grid, rule
        The size of the cells that its numbers are rounded to; what its judge needs beside.
    boxes
        By variant.
    """

    grid: float
    rule: dict[str, Any]
    boxes: list[LookBoxes]
