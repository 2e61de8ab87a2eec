"""The answer to "are these equal?"."""

from __future__ import annotations

from dataclasses import dataclass, replace

EVERYWHERE = "all points"  # where two numbers differ
NO_POINTS = "undecided: too few points could be computed"
TOO_LONG = "undecided: this takes too long"
TOO_LARGE = "undecided: the formula is too large"
#: Why even a comparison with a number may fail: it is the formula's own doing.
HOPELESS = (NO_POINTS, TOO_LONG, TOO_LARGE)


@dataclass(frozen=True)
class Verdict:
    """The answer to "are these equal?".

    Attributes
    ----------
    equal : bool or None
        None where it could not be decided and a person should look.
    how : str
        ``"proved"``, ``"numeric"`` (equal at many random points, to 50 digits at least),
        ``"refuted at x=0.731"``, ``"parse error: …"``, ``"undecided: …"``.
    values : pair of str, optional
        What the two sides are at the point that refutes.
    """

    equal: bool | None
    how: str
    values: tuple[str, str] | None = None

    def where(self, *cases: str) -> Verdict:
        """Say in which case this was refuted: where two indices are the same, ``"i = j"``."""
        if self.equal is not False or not self.values or not cases:
            return self
        return replace(self, how=f"refuted at {', '.join((*cases, self.point or EVERYWHERE))}")

    @property
    def point(self) -> str:
        """The point that refutes: ``"x=0.731"``; nothing if any does, or of names of ours."""
        return ", ".join(place for place in self.places if not place.startswith("_"))

    @property
    def places(self) -> list[str]:
        """What is known of the point that refutes, name by name; ``_t`` is a name of ours."""
        places = self.how.removeprefix("refuted at ").split(", ") if self.values else []
        return [place for place in places if place != EVERYWHERE]
