"""What the grader grants a session, and what it gets from one."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Self

from autograder.sandbox.wire import WireError
from autograder.student.travelling import READABLE

Kind = Literal[
    "exception", "timeout", "died", "missing", "left_over", "unsendable", "protocol", "lost"
]

CONTROL_SECONDS = 10.0  # for what our own processes have to say to each other
_MAX_LINE = 300
_NOT_DEFINED = "is not defined: was its cell run, and is the name right?"
_GONE = "is of an object whose process has ended"


class StudentError(Exception):
    """A student's code did not do what was asked of it.

    Parameters
    ----------
    kind : str
        ``exception`` (it raised one), ``timeout``, ``died`` (the process ended), ``missing`` (no
        such variable or function), ``left_over`` (what is there is another exercise's),
        ``unsendable`` (the result is not plain data), ``protocol``
        (it interfered with the grader's connection) or ``lost`` (the process that held an object
        was replaced by another one, maybe through no fault of its own).
    message : str
        A sentence for the student.
    type : str
        The name of the exception's class, if ``kind`` is ``exception``.
    text : str
        What the exception itself says, in a line; or what came that is not plain data.
    place : tuple of int
        The cell and the line of it where an exception arose, as the process says.

    Attributes
    ----------
    line
        That line of the student's code, where the grader has it.
    """

    def __init__(
        self,
        kind: Kind,
        message: str,
        *,
        type: str = "",
        text: str = "",
        place: tuple[int, int] = (0, 0),
    ) -> None:
        super().__init__(message)
        self.kind: Kind = kind
        self.message = message
        self.type = type
        self.text = text
        self.place = place
        self.line = ""

    @property
    def too_much(self) -> bool:
        """Did it take too long, or too much memory?"""
        return self.kind == "timeout" or self.type == "MemoryError"


@dataclass(frozen=True)
class Limits:
    """What a session may use.

    Parameters
    ----------
    cell_seconds, call_seconds : float
        Processor time for one cell, and for one call or one reading of a variable. Sleeping has a
        limit of its own (`allowance`).
    cpu_seconds : float
        Processor time of a whole session.
    memory_mb : int
        Memory beyond what the libraries take.
    scratch_mb : int
        Size of the folder for files, in isolation tier A. The other tiers have none.
    output_bytes : int
        What a cell may print; the rest is cut.
    notebook_bytes : int
        What all cells of a notebook may show together, pictures among it.
    payload_bytes : int
        Size of one result.
    """

    cell_seconds: float = 10.0
    call_seconds: float = 5.0
    cpu_seconds: float = 300.0
    memory_mb: int = 1024
    scratch_mb: int = 64
    output_bytes: int = 256 << 10
    notebook_bytes: int = 16 << 20
    payload_bytes: int = 64 << 20


@dataclass(frozen=True)
class CellRun:
    """What came of a cell.

    Parameters
    ----------
    outputs : list of dict
        Outputs as in version 4 of the notebook format: text and PNG images only.
    error : StudentError or None
        Why the cell did not reach its end.
    healthy : bool
        Whether Python is still as it was, as the cell's own process says. Where it is not, what
        comes after the cell may fail through no fault of its own.
    alone : bool
        Whether no thread runs on, as the process says.
    unchanged : collection of str
        Which of the names that were asked about it has given no value, as the process says.
    along : list
        What was asked along with it, in the same order; empty where it has to be asked by itself.
    """

    outputs: list[dict[str, Any]]
    error: StudentError | None
    healthy: bool = True
    alone: bool = True
    unchanged: Collection[str] = ()
    along: Sequence[Any] = ()


class State(NamedTuple):
    """How a process is, as it says itself: see `CellRun`."""

    healthy: bool
    alone: bool


class Moment(NamedTuple):
    """Whether the notebook was kept for calls, and which functions it lacked, as it says itself.

    It can be if nothing that these functions use can be changed but by its name.
    """

    kept: bool
    lacking: Collection[str] = ()

    @classmethod
    def said(cls, value: object) -> Self:
        """Return what a process says about it."""
        said = value if isinstance(value, dict) else {}
        lacking = said.get("lacking")
        names = lacking if isinstance(lacking, list) else ()
        return cls(said.get("kept") is True, {name for name in names if type(name) is str})


@dataclass(frozen=True)
class Reply:
    """What came of a request.

    Attributes
    ----------
    value
        What was returned, or is held.
    modified
        Whether an argument was changed in place.
    warnings
        The kinds of warnings that were given, such as "RuntimeWarning".
    work
        The counts of what was metered, by the names of ``autograder.exercise.Work``.
    layers
        Which words of those that were looked for are in the names of what was used of a library.
    reading
        Seconds of processor time, or the bytes by which the process grew, read from outside where
        that was asked for and can be read.
    """

    value: Any = None
    modified: bool = False
    warnings: tuple[str, ...] = ()
    work: dict[str, Any] = field(default_factory=dict)
    layers: tuple[str, ...] = ()
    reading: float | None = None


@dataclass(frozen=True)
class Usage:
    """What a session has used."""

    cpu_seconds: float
    max_rss_mb: float


#: What the meter counts in a call; ``autograder.exercise.Work`` explains it.
COUNTS = ("flops", "largest", "peak", "steps", "operations")
_MAX_COUNT = 1 << 62


def counted(work: object) -> dict[str, Any]:
    """Return the counts of a metered call as they came over the wire, which may say anything.

    Raises
    ------
    WireError
        If they are not whole numbers, or the shapes are none.
    """
    if type(work) is not dict or work.keys() != {*COUNTS, "shapes"}:
        raise WireError("counts that are none")
    numbers = {name: work[name] for name in COUNTS}
    if not all(type(n) is int and 0 <= n < _MAX_COUNT for n in numbers.values()):
        raise WireError("counts that are no whole numbers")
    shapes = work["shapes"]
    if type(shapes) is not list or not all(
        type(shape) is tuple and all(type(n) is int for n in shape) for shape in shapes
    ):
        raise WireError("shapes that are none")
    return numbers | {"shapes": frozenset(shapes)}


def reported(error: object, subject: str, verb: str = "") -> StudentError | None:
    """Turn the error in a worker's reply into one for the student.

    Parameters
    ----------
    error
        What came over the wire, or None.
    subject : str
        What was asked for, as the sentence begins.
    verb : str
        What the subject does with a value: "returned" or "holds".

    Raises
    ------
    WireError
        If it is no error as a worker reports them.
    """
    if error is None:
        return None
    if type(error) is not dict or not all(
        type(error.get(field)) is str for field in ("kind", "type", "message")
    ):
        raise WireError("an error that is none")
    name, text = one_line(error["type"]), one_line(error["message"])
    if error["kind"] == "exception":
        raised = f"{subject} raised {name}: {text}" if text else f"{subject} raised {name}"
        return StudentError("exception", raised, type=name, text=text, place=_place(error))
    if error["kind"] == "missing":
        return StudentError("missing", f"{subject} {text or _NOT_DEFINED}")
    if error["kind"] == "lost":
        return StudentError("lost", f"{subject} {_GONE}")
    if error["kind"] == "unsendable" and verb:
        return StudentError("unsendable", f"{subject} {verb} {text}; {READABLE}", text=text)
    raise WireError("an unknown kind of error")


def named(names: object) -> tuple[str, ...]:
    """Return names, such as those of warnings that a call gave, as they came over the wire.

    Raises
    ------
    WireError
        If they are no names.
    """
    if type(names) is not list or not all(type(name) is str for name in names):
        raise WireError("names that are none")
    return tuple(map(one_line, names))


def one_line(text: str) -> str:
    """Return the first line, without control characters."""
    first = text.strip().partition("\n")[0][:_MAX_LINE]
    return "".join(character for character in first if character.isprintable())


def _place(error: dict[str, Any]) -> tuple[int, int]:
    """Return the cell and the line that a worker names."""
    match error.get("place"):
        case (int(cell), int(line)):
            return cell, line
    return 0, 0
