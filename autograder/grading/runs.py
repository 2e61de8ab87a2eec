"""Expensive calls, such as training runs: what came of them, and how they are known again."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Protocol

import numpy as np

import autograder.sandbox
from autograder.exercise.cache import Unfamiliar, Values
from autograder.grading.depends import behind
from autograder.sandbox import WireError
from autograder.sandbox.wire import PREFIX, decode, encode, frame_lengths

#: Bytes of a result that is kept. One that is larger is worked out again instead.
LARGEST = 16 << 20
_POINTS = 100


@dataclass(frozen=True)
class Run:
    """What an expensive call gave.

    Attributes
    ----------
    seconds
        Of processor time, at the time; None where there was no clock to read.
    """

    value: Any
    seconds: float | None = None


@dataclass(frozen=True)
class Training:
    """A training run, for a picture: nothing is decided by it.

    Attributes
    ----------
    seconds
        Of processor time; None where they are not known.
    steps, losses
        The loss after so many steps; means over several, where there are many.
    """

    seed: int
    seconds: float | None
    steps: list[int]
    losses: list[float]

    @classmethod
    def of(cls, run: Run, seed: int, losses: Sequence[float] = ()) -> Training:
        """Keep of losses, finite numbers, what a picture can show."""
        count = min(len(losses), _POINTS)
        parts = np.array_split(np.asarray(losses, dtype=float), count) if count else []
        steps = np.cumsum([len(part) for part in parts]).tolist() if count else []
        seconds = None if run.seconds is None else round(run.seconds, 2)
        return cls(seed, seconds, steps, [round(float(part.mean()), 4) for part in parts])


class Runs(Protocol):
    """Where the expensive calls of one submission are kept, and who is told of them."""

    def find(self, key: str) -> bytes | None:
        """Return what was kept under a key, if anything was."""

    def keep(self, key: str, content: bytes) -> None:
        """Keep it."""

    def telling(self, function: str) -> AbstractContextManager[None]:
        """Tell whoever waits, meanwhile, that such a call is being made."""


def key_of(
    cells: Iterable[str],
    function: str,
    args: object,
    kwargs: object,
    numbers: Mapping[str, Any],
    data: Mapping[str, bytes],
) -> str:
    """Return a hash of all that the result of a call depends on, or nothing if that isn't known.

    Parameters
    ----------
    cells
        The code that was run before.
    numbers
        What ``your_numbers`` knows there.
    data
        The files there, by name.
    """
    try:
        asked = Values((args, kwargs, dict(numbers))).key
        content = b"".join(map(bytes, encode([args, kwargs])))
    except (Unfamiliar, WireError):  # more than data: objects, functions
        return ""
    parts = [content, repr(asked).encode(), function.encode(), _environment().encode()]
    parts += [each for name in sorted(data) for each in (name.encode(), data[name])]
    parts += [text.encode(errors="replace") for text in behind(cells, function)]
    return hashlib.sha256(b"\0".join(hashlib.sha256(p).digest() for p in parts)).hexdigest()


def found_or_made(runs: Runs, key: str, function: str, make: Callable[[], Run]) -> Run:
    """Return what was kept under a key, if it is known, else make the call and keep what comes."""
    known = runs.find(key) if key else None
    if known is not None and (found := unpacked(known)):
        return found[1]
    with runs.telling(function):
        run = make()
    if key and (content := packed(function, run)) is not None:
        runs.keep(key, content)
    return run


def packed(function: str, run: Run) -> bytes | None:
    """Return a run as bytes to be kept, if it is plain data and not too large."""
    content = {"function": function, "value": run.value, "seconds": run.seconds}
    try:
        pieces = encode(content, max_payload=LARGEST)
    except WireError:
        return None
    return b"".join(map(bytes, pieces))


def unpacked(content: bytes) -> tuple[str, Run] | None:
    """Return a function's name and its run, or None where the bytes are not in order."""
    try:
        header, payload = frame_lengths(content[: PREFIX.size], LARGEST)
        middle = PREFIX.size + header
        if len(content) != middle + payload:
            return None
        found = decode(content[PREFIX.size : middle], content[middle:])
        return found["function"], Run(found["value"], found["seconds"])
    except (WireError, KeyError, TypeError):
        return None


def _environment() -> str:
    """Describe what runs student code: Python, its libraries, and our part of that process."""
    digest = hashlib.sha256()
    for path in sorted(Path(autograder.sandbox.__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    libraries = [f"{name} {_version(name)}" for name in ("numpy", "scipy", "torch")]
    return " ".join([platform.python_version(), platform.machine(), *libraries, digest.hexdigest()])


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
