"""The warm processes that submissions are forked from; courses and assignments share them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from autograder.sandbox import Isolation, Limits, Zygote, probe


class Needs(Protocol):
    """What a release says about the process in which it is answered."""

    @property
    def imports(self) -> tuple[str, ...]:
        """The modules that the notebook imports."""

    @property
    def files(self) -> dict[str, bytes]:
        """The data files that stand beside it, by name."""


class Zygotes:
    """One warm process for each set of libraries, limits and data files.

    Parameters
    ----------
    isolation
        What the machine offers, where that is known already.
    trust
        Run student code without isolation where the machine offers none.
    """

    def __init__(self, isolation: Isolation | None = None, *, trust: bool = False) -> None:
        self.isolation, self.trust = isolation or probe(), trust
        self._open: dict[object, Zygote] = {}
        self._asked: set[object] = set()

    def of(self, release: Needs, limits: Limits, also: Iterable[str] = ()) -> Zygote:
        """Return the process for an assignment's submissions; it is started where there is none.

        ``also`` names libraries that one of them imports besides: neither a cell nor a call pays
        for the seconds that this takes.
        """
        more = tuple(sorted({*also}.difference(release.imports)))
        needs = tuple(sorted(release.files.items())), release.imports, more, limits
        self._asked.add(needs)
        if needs not in self._open:
            self._open[needs] = Zygote(
                release.imports,
                also=more,
                isolation=self.isolation,
                limits=limits,
                trust=self.trust,
                data=release.files,
            )
        return self._open[needs]

    def spare(self) -> None:
        """End those that nobody has asked for since the last time, so that they don't add up."""
        for needs in self._open.keys() - self._asked:
            self._open.pop(needs).close()
        self._asked.clear()

    def close(self) -> None:
        """End all of them."""
        for zygote in self._open.values():
            zygote.close()
        self._open.clear()
