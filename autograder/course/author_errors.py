"""What an author's module did wrong, in words: which function, at which line, what was meant."""

from __future__ import annotations

import builtins
import re
import sys
import traceback
from collections.abc import Iterable
from inspect import signature
from pathlib import Path
from textwrap import shorten
from types import FrameType
from typing import Any

import numpy as np

from autograder import algebra, exercise
from autograder.exercise.nearest import meant

_UNEXPECTED = re.compile(r"([\w.]+)\(\) got an unexpected keyword argument '(\w+)'")
_BARE = re.compile(r"\w+\.(\w+)\(\) takes 1 positional argument but 2 were given")
_NOT_IN = re.compile(r"cannot import name '(\w+)' from '([\w.]+)'")


def in_words(error: BaseException) -> str:
    """Return what was raised, and the name that may have been meant.

    >>> in_words(ImportError("cannot import name 'Choise' from 'autograder.exercise'"))
    "ImportError: cannot import name 'Choise' from 'autograder.exercise' (did you mean 'Choice'?)"
    """
    text = f"{error}" if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
    if bare := _BARE.fullmatch(str(error)):
        text += f"; with its arguments in brackets, as in `@exercise.{bare[1]}(points=1, …)`?"
    for name, known in _unknown(error):
        takes = f"; it takes {', '.join(known)}" if isinstance(error, TypeError) else ""
        text += meant(name, known) or takes
    return text


def place(error: BaseException, path: Path) -> str:
    """Return file and line of the author's module where the error arose."""
    if isinstance(error, SyntaxError):
        return f"{error.filename or path}:{error.lineno}"
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
    return f"{path}:{lines[-1]}" if lines else str(path)


def raised(module: str, error: Exception) -> str:
    """Say what a function of an exercise's module raised: which, at which line, for what."""
    text = in_words(error)
    stack = [
        (Path(frame.f_code.co_filename), line, frame)
        for frame, line in traceback.walk_tb(error.__traceback__)
    ]
    notes = "".join(f", {note}" for note in getattr(error, "__notes__", ()))
    own = [(path, line, frame) for path, line, frame in stack if path.stem == module]
    if not own:
        return f"{text}{notes.replace(', ', ' (', 1)})" if notes else text
    path, line, frame = own[-1]
    code = frame.f_code
    names = code.co_varnames[: code.co_argcount]
    given = ", ".join(_shown(name, frame.f_locals.get(name)) for name in names)
    beyond = [each for each in stack if path.parents[1] in each[0].parents]
    below = f", by {_place(*beyond[-1])}" if beyond and beyond[-1] != own[-1] else ""
    return f"{path}:{line}, in {code.co_name}({shorten(given, 200)}){below}{notes}: {text}"


def _place(path: Path, line: int, frame: FrameType) -> str:
    return f"{frame.f_code.co_name} ({path.name}:{line})"


def _shown(name: str, value: object) -> str:
    shown = repr(value)
    return (
        name if isinstance(value, np.random.Generator) or "<" in shown[:1] else f"{name} = {shown}"
    )


def _unknown(error: BaseException) -> Iterable[tuple[str, Iterable[str]]]:
    """Give the name that there is not, and those that there are in its place."""
    if isinstance(error, NameError) and error.name:
        frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
        last = [{**f.f_globals, **f.f_locals} for f in frames[-1:]]
        yield error.name, {*dir(builtins), *(name for names in last for name in names)}
    elif isinstance(error, AttributeError) and error.name:
        yield error.name, dir(error.obj)
    elif isinstance(error, ImportError) and (found := _NOT_IN.search(str(error))):
        yield found[1], dir(sys.modules.get(found[2]))
    elif isinstance(error, TypeError) and (found := _UNEXPECTED.search(str(error))):
        yield found[2], _arguments(found[1])


def _arguments(name: str) -> Iterable[str]:
    """Return what one of the words that exercises are written in takes, by its qualified name."""
    first, *rest = name.split(".")
    found: Any = getattr(exercise, first, getattr(algebra, first, None))
    for each in rest:
        found = getattr(found, each, None)
    return [n for n in signature(found).parameters if n != "self"] if callable(found) else ()
