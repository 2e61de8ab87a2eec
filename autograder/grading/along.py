"""What is asked of a notebook as soon as a cell has run: the reply about the cell answers it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from autograder.sandbox.wire.requests import Keep, ReadAll

_Asked = ReadAll | Keep


class Along:
    """What goes along with the next cell, and what was said along with the last one."""

    def __init__(self) -> None:
        self._next: list[_Asked] = []
        self._said: list[tuple[_Asked, Any]] = []

    def ask(
        self, number: int, names: Iterable[str], functions: Iterable[str], used: Iterable[str]
    ) -> None:
        """Let the next cell bring what is read and kept before cell ``number``, if anything is."""
        read, keep = ReadAll([*names]), Keep(str(number), [*functions], [*used])
        self._next = [*([read] if read.names else ()), *([keep] if keep.names else ())]

    def take(self) -> list[_Asked]:
        """Return what goes along with a cell that is about to run."""
        asked, self._next, self._said = self._next, [], []
        return asked

    def answered(self, asked: Sequence[_Asked], said: Sequence[Any]) -> None:
        """Take what was said; nothing where it has to be asked by itself."""
        self._said = list(zip(asked, said, strict=False))

    def said(self, request: _Asked) -> Any:
        """Return what was said to a request along with the last cell, if it was asked then."""
        return next((said for asked, said in self._said if asked == request), None)
