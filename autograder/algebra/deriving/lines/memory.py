"""What was worked out about the lines of one derivation: a class writes the same ones."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

_SIZE = 4096  # lines for one n and in normal form, and steps that were decided


class Memory:
    """Works something out where it wasn't before.

    >>> memory = Memory()
    >>> memory("x", lambda: 1), memory("x", lambda: 2)
    (1, 1)
    """

    def __init__(self, size: int = _SIZE) -> None:
        self._size = size
        self._known: dict[Hashable, Any] = {}

    def __call__(
        self,
        key: Hashable,
        worked_out: Callable[[], Any],
        *,
        sure: Callable[[Any], bool] = lambda _: True,
    ) -> Any:
        """Return what is known by a key; what is not `sure` may come out otherwise next time."""
        if key in self._known:
            return self._known[key]
        found = worked_out()
        if sure(found):
            self.keep(key, found)
        return found

    def get(self, key: Hashable) -> Any:
        """Return what is known by a key, None where nothing is."""
        return self._known.get(key)

    def keep(self, key: Hashable, found: object) -> None:
        """Remember what was found."""
        if len(self._known) >= self._size:
            self.clear()
        self._known[key] = found

    def clear(self) -> None:
        """Forget everything."""
        self._known.clear()
