"""What a student has come to, as far as later parts may follow from it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Any

from autograder.exercise.words.arguments import as_argument
from autograder.grading.excuses import Mended
from autograder.grading.own import OwnClass, OwnFunction


@dataclass
class Own:
    """What a student has, as far as it may be carried on.

    Attributes
    ----------
    known
        The variant's numbers, and every answer before: the student's own where it is carried.
    given
        Every answer that could be read.
    rounding
        How far carried numbers may be from what the student meant.
    wrong
        The answers, and functions, that may not be the true ones.
    trivial
        Those of them that may take no work, such as ones everywhere, and are no known mistake.
    examples
        Witnesses: what the reference has there is one of many, and nothing follows from it.
    earlier
        The student's functions of earlier exercises, by name.
    references
        Of these, and of the functions among what is known, what they should be.
    changed
        By which changes of the reference's ways a wrong answer comes out, by part.
    """

    known: dict[str, Any]
    given: dict[str, Any] = field(default_factory=dict)
    rounding: dict[str, Any] = field(default_factory=dict)
    wrong: set[str] = field(default_factory=set)
    trivial: set[str] = field(default_factory=set)
    examples: frozenset[str] = frozenset()
    earlier: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    references: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    changed: dict[str, Set[Any]] = field(default_factory=dict)

    def copied(self) -> Own:
        """Return the same, to be changed by itself."""
        return replace(
            self,
            known={**self.known},
            given={**self.given},
            rounding={**self.rounding},
            wrong={*self.wrong},
            trivial={*self.trivial},
            changed={**self.changed},
        )

    def forget(self, name: str, true: Mapping[str, Any]) -> None:
        """Let nothing be known of an answer, as before it was judged."""
        for found in (self.given, self.rounding, self.changed):
            found.pop(name, None)
        self.wrong.discard(name)
        self.trivial.discard(name)
        self.known.pop(name, None)
        if name not in self.examples:
            self.known[name] = true[name]

    def mended(self) -> Own | None:
        """Return the same with the references' answers where the functions give none that fit.

        None where there is no function of the student's.
        """
        known = {name: self._mended(name, value) for name, value in self.known.items()}
        earlier = {name: self._mended(name, value) for name, value in self.earlier.items()}
        if not any(isinstance(each, Mended) for each in (*known.values(), *earlier.values())):
            return None
        return replace(self, known=known, earlier=earlier)

    @property
    def used(self) -> bool:
        """Has a reference answered in the place of a function?"""
        functions = [*self.known.values(), *self.earlier.values()]
        return any(isinstance(each, Mended) and each.used for each in functions)

    def heedless(self, names: Collection[str]) -> bool:
        """Tell whether one of these functions returns the same whatever it is given."""
        functions = {**self.known, **self.earlier}
        return any(
            isinstance(own := functions.get(name), OwnFunction | OwnClass)
            and own.heedless(self.references[name])
            for name in names
        )

    def idle_formula(self, names: Collection[str]) -> bool:
        """Tell whether one of these is a formula that takes no work: nothing follows from it."""
        return any(hasattr(self.known.get(name), "free_symbols") for name in names)

    def _mended(self, name: str, value: Any) -> Any:
        right = self.references.get(name)
        if right is None or right is value or isinstance(right, type):
            return value
        return Mended(value, as_argument(right))
