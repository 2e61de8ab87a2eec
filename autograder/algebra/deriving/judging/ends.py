"""What a derivation leads from, and what it leads to."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from autograder.algebra.building.functions import Diff
from autograder.algebra.deriving.lines.inert import D
from autograder.algebra.deriving.lines.line import Language, Line
from autograder.algebra.deriving.lines.structure import Structure


@dataclass(frozen=True)
class Ends:
    """The given expression, as line 0, and the target, as a line; `Chain` says what they are."""

    given: Line
    result: Line
    final_names: tuple[str, ...] | None = None

    @property
    def language(self) -> Language:
        """What the lines are read with."""
        return self.given.language

    @functools.cached_property
    def allowed(self) -> tuple[str, ...]:
        """The names that the last line may contain."""
        if self.final_names is not None:
            return self.final_names
        return tuple(sorted(self.result.names))

    @functools.cached_property
    def differentiates(self) -> bool:
        """Whether a derivative is given, so that putting definitions in is no step by itself."""
        return bool(self.given.expr.has(Diff, D))

    def is_rid_of(self, names: Collection[str]) -> bool:
        """Whether some names are there at the beginning and may not be at the end."""
        gone = self.given.written_names - self.result.written_names
        return bool(names) and gone.issuperset(names)

    @functools.cached_property
    def written_out(self) -> Mapping[Structure, Structure]:
        """What given names mean that are gone at the end, and those names."""
        gone = {("name", name.replace("_", "")) for name in self.given.names}
        gone -= {("name", name.replace("_", "")) for name in self.allowed}
        return {what: name for what, name in self.language.written_out.items() if name in gone}
