"""What the grader gets from a session, and what it grants one."""

from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["exception", "timeout", "died", "missing", "unsendable", "protocol"]


class StudentError(Exception):
    """A student's code did not do what was asked of it.

    Parameters
    ----------
    kind : str
        ``exception`` (it raised one), ``timeout``, ``died`` (the process ended), ``missing`` (no
        such variable or function), ``unsendable`` (the result is not plain data) or ``protocol``
        (it interfered with the grader's connection).
    message : str
        A sentence for the student.
    type : str
        The name of the exception's class, if ``kind`` is ``exception``.
    """

    def __init__(self, kind: Kind, message: str, *, type: str = "") -> None:
        super().__init__(message)
        self.kind: Kind = kind
        self.message = message
        self.type = type


@dataclass(frozen=True)
class Limits:
    """What a session may use.

    Parameters
    ----------
    cell_seconds, call_seconds : float
        Time for one cell, and for one call or one reading of a variable.
    cpu_seconds : float
        Processor time of a whole session.
    memory_mb : int
        Memory beyond what the libraries take.
    output_bytes : int
        What a cell may print; the rest is cut.
    payload_bytes : int
        Size of one result.
    """

    cell_seconds: float = 10.0
    call_seconds: float = 5.0
    cpu_seconds: float = 300.0
    memory_mb: int = 1024
    output_bytes: int = 256 << 10
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
    """

    outputs: list[dict[str, Any]]
    error: StudentError | None


@dataclass(frozen=True)
class Usage:
    """What a session has used."""

    cpu_seconds: float
    max_rss_mb: float
