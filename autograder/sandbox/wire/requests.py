"""What can be asked of a function, of an object that it made, and of a notebook.

The grader's side and the process of student code have these words in common.  A request to call
something has the arguments first, then which object is meant, by its number, and which attribute.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, get_args


@dataclass(frozen=True)
class WithArguments:
    """What is asked with arguments.

    Attributes
    ----------
    without
        What is looked for meanwhile, in the names of a library's operations (`meters.layers`).
    closely
        So that nothing hides it, at some expense?
    """

    args: Sequence[Any]
    kwargs: dict[str, Any]
    without: Sequence[str] = field(default=(), kw_only=True)
    closely: bool = field(default=False, kw_only=True)


@dataclass(frozen=True)
class Call(WithArguments):
    """Call a function for what it returns."""


@dataclass(frozen=True)
class CallEach:
    """Call it with one list of arguments after the other, up to one to be looked at by itself.

    That is where it raises an exception or warns.  After ``seconds`` no other call begins.
    """

    each: Sequence[Sequence[Any]]
    seconds: float


@dataclass(frozen=True)
class Lend(WithArguments):
    """Call it with arrays at which the grader looks afterwards: are they what they were?"""


@dataclass(frozen=True)
class Time(WithArguments):
    """Call it while the grader reads the processor time."""


@dataclass(frozen=True)
class Watch(WithArguments):
    """Call it while the grader looks at the memory."""


@dataclass(frozen=True)
class CountWork(WithArguments):
    """Call it and count the work."""


@dataclass(frozen=True)
class Outline:
    """Count the work of a call with torch tensors of these shapes that hold no numbers."""

    shapes: Sequence[tuple[int, ...]]
    dtype: str


@dataclass(frozen=True)
class Make(WithArguments):
    """Call it, and keep what comes under a number that the grader chooses."""

    key: int


@dataclass(frozen=True)
class CallMethod(WithArguments):
    """Call a method of an object; ``__call__`` is the object itself."""

    key: int
    name: str


@dataclass(frozen=True)
class CountMethod(WithArguments):
    """Call a method of a copy of an object, and count the work."""

    key: int
    name: str


@dataclass(frozen=True)
class Differentiate(WithArguments):
    """Call the function, or an object, and differentiate what it returns."""

    key: int | None


@dataclass(frozen=True)
class GetAttribute:
    """Return what an attribute of an object holds."""

    key: int
    name: str


@dataclass(frozen=True)
class SetAttribute(WithArguments):
    """Give an attribute of an object a value, the only argument."""

    key: int
    name: str


@dataclass(frozen=True)
class IsMethod:
    """Say whether an attribute of an object is something to call."""

    key: int
    name: str


@dataclass(frozen=True)
class Drop:
    """Forget objects."""

    keys: Sequence[int]


@dataclass(frozen=True)
class Seed:
    """Seed the generators of random numbers that all code has in common."""

    number: int


#: What can be asked of a function, wherever it is.
Request = (
    Call
    | CallEach
    | Lend
    | Time
    | Watch
    | CountWork
    | Outline
    | Make
    | CallMethod
    | CountMethod
    | Differentiate
    | GetAttribute
    | SetAttribute
    | IsMethod
    | Drop
    | Seed
)


@dataclass(frozen=True)
class Bench:
    """Take a step of a measurement on a GPU: prepare and end, or one of `TimedFunction`'s."""

    step: str
    options: Mapping[str, Any]


@dataclass(frozen=True)
class Execute:
    """Run a cell.

    Attributes
    ----------
    own
        Names of which is told whether the cell has given them a value.
    aside
        Those among them that are not there while it runs, so that the same value is seen as well.
    along
        What is asked as soon as it has run, as messages: it is answered in the same reply, unless
        that is more than `ALONG`.
    """

    source: str
    number: int
    seconds: float
    output_bytes: int
    own: Sequence[str] = ()
    aside: Sequence[str] = ()
    along: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True)
class Ping:
    """Say how the process is."""


@dataclass(frozen=True)
class Read:
    """Return the value of a variable."""

    name: str


@dataclass(frozen=True)
class ReadAll:
    """Return the values of those variables that there are."""

    names: Sequence[str]


@dataclass(frozen=True)
class Keep:
    """Keep the notebook as it is, for calls of these functions.

    Attributes
    ----------
    used
        Functions of which, and of those, it is told whether the notebook lacks them.
    """

    snapshot: str
    names: Sequence[str]
    used: Sequence[str] = ()


@dataclass(frozen=True)
class Recall:
    """Turn back to what was kept, and say how the process is."""

    snapshot: str


@dataclass(frozen=True)
class Lacking:
    """Return which of these functions are not there, or were left as they were handed out."""

    names: Sequence[str]


@dataclass(frozen=True)
class Supply:
    """Define a function of the grader's under a name that nothing has."""

    name: str
    source: str


@dataclass(frozen=True)
class Supplied:
    """Return which of those were called since this was asked last."""


#: Bytes of what is answered along with a cell.
ALONG = 1 << 15

#: What can be asked while functions are called.
OfCalls = Request | Bench

#: What can be asked of a process of student code.
OfProcess = OfCalls | Execute | Ping | Read | ReadAll | Keep | Recall | Lacking | Supply | Supplied

_KINDS: dict[str, type[OfProcess]] = {kind.__name__: kind for kind in get_args(OfProcess)}
_FIELDS = {name: tuple(own.name for own in fields(kind)) for name, kind in _KINDS.items()}


def as_message(request: OfProcess) -> dict[str, Any]:
    """Return a request as plain data; arguments stay as they are."""
    return {"do": type(request).__name__} | vars(request)


def from_message(
    message: Mapping[str, Any],
    arguments: Callable[[Mapping[str, Any]], tuple[list[Any], dict[str, Any]]],
) -> OfProcess:
    """Return the request that a message is, with ``arguments`` put in their places."""
    name = message["do"]
    found = {own: message[own] for own in _FIELDS[name]}
    if "args" in found:
        found["args"], found["kwargs"] = arguments(message)
    return _KINDS[name](**found)
