"""Whether a line is another one by other names: what they mean put in."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping

from autograder.algebra.deriving.judging.ends import Ends
from autograder.algebra.deriving.lines import structure as structures
from autograder.algebra.deriving.lines.bound_indices import names_in
from autograder.algebra.deriving.lines.line import Line
from autograder.algebra.deriving.lines.naming import Naming
from autograder.algebra.deriving.lines.placeholders import MARK
from autograder.algebra.deriving.lines.structure import Structure, structure


class Named:
    """What names that are defined, and what these mean, say in place of each other."""

    def __init__(self, ends: Ends, *, has_rules: bool) -> None:
        self._ends, self._has_rules = ends, has_rules
        self._language = ends.language
        self._definitions = ends.language.definitions
        self._essence = ends.language.essence

    def by_name(self, line: Line) -> Structure:
        """Return how a line is written, with names for what they mean."""
        return self._essence.with_names(line.structure, self._meanings_written)

    def holds(self, line: Line, other: Line) -> bool:
        """Whether another line stands in one as written, by whatever name."""
        pairs = ((line.structure, other.structure), (self.in_names(line), self.in_names(other)))
        return all(structures.holds(whole, part) for whole, part in pairs)

    def in_names(self, line: Line) -> Structure:
        """Return the structure, with given names for what they mean: exp(a)/Z is p again."""
        return structures.folded(line.structure, self._ends.written_out)

    def written_out(self, form: Structure) -> Structure:
        """Return how something is written, with what they mean for names."""
        return self._naming.written_out(form)

    @functools.cached_property
    def _naming(self) -> Naming:
        meanings = {key: self._essence.of(form) for form, key in self._meanings_written.items()}
        return Naming(meanings, self._essence.bound)

    @functools.cached_property
    def _defined(self) -> set[str]:
        return {part for key in self._definitions for part in (key, key.partition("_")[0])}

    @functools.cached_property
    def _meanings_written(self) -> Mapping[Structure, Structure]:
        return {self._form(what): self._form(name) for name, what in self._definitions.items()}

    def is_called_alike(self, line: Line, other: Line) -> bool:
        """Whether two lines differ by what is put in for names that stay until the end."""
        forms = [structures.folded(one.essence, self._staying) for one in (line, other)]
        return bool(self._staying) and forms[0] == forms[1]

    def is_but_for_names(self, line: Line, other: Line) -> bool:
        """Whether a line is another one once what names mean is put in, and not before.

        So is one that mixes the other one, with and without names put in.
        """
        if not self._definitions or line.essence == other.essence or other.essence[0] == "number":
            return False
        out = self.written_out
        pairs = ((line.structure, other.structure), (line.essence, other.essence))
        return any(_is_made_of(out(one), out(whole)) for one, whole in pairs)

    def says_the_start(self, line: Line) -> bool:
        """Whether a line is the given expression but for names, or a mixture of these.

        To put all names in that must go says more.
        """
        if self.is_but_for_names(line, self._ends.given):
            gone = (self._ends.given.shown_names & self._defined) - self._ends.result.shown_names
            must_go = {name.replace("_", "") for name in gone - self.staying}
            entries = map(self._essence.bound.entry, names_in(line.essence))
            return not must_go or any(base in must_go for base, _ in entries)
        if not self._staying or self.is_called_alike(self._ends.given, line):
            return bool(self._staying)
        start, form = (
            self._essence.with_names(e.essence, self._staying) for e in (self._ends.given, line)
        )
        return self._essence.is_made_of(form, [start])

    @functools.cached_property
    def staying(self) -> set[str]:
        """The defined names of the given expression that stay until the end.

        To put in what they mean leads nowhere, but where "definition" is a rule.  Nor does it where
        the result is a number.
        """
        end = self._ends.result.written_names or self._ends.given.written_names
        names = self._ends.given.written_names & end & self._definitions.keys()
        return set() if self._has_rules else names

    @functools.cached_property
    def _staying(self) -> Mapping[Structure, Structure]:
        names = sorted(self.staying)
        return {self._essence.of(self._form(self._definitions[k])): self._form(k) for k in names}

    def _form(self, text: str) -> Structure:
        return structure(self._language.tree(text))


def _is_made_of(form: Structure, whole: Structure) -> bool:
    """Whether no name stands in a formula but in another one, which it then holds a few times."""
    names, own = Counter(names_in(form)), Counter(names_in(whole))
    if names.keys() != own.keys() or len({names[name] / own[name] for name in own}) != 1:
        return False
    return set(names_in(structures.folded(form, {whole: MARK}))) == {MARK[1]}
