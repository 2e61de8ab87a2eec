"""Formulas with all that their names mean put in, as they are written: nothing cancels."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from autograder.algebra.deriving.lines import structure as structures
from autograder.algebra.deriving.lines.bound_indices import BoundIndices
from autograder.algebra.deriving.lines.structure import Structure

_BOUND = "αβγδεζηθ"  # bound indices by depth; as a meaning is written they are #0, #1, …
_KEPT = 256


class Naming:
    """Put in what names mean, however deep.

    `meanings` are by name, which may have indices: ``pi`` is p at i.
    """

    def __init__(self, meanings: Mapping[Structure, Structure], bound: BoundIndices) -> None:
        self.bound = bound
        entries = {bound.entry(name): meaning for (_, name), meaning in meanings.items()}
        self.meanings = {base: (own, meaning) for (base, own), meaning in entries.items()}
        self.written_out = functools.lru_cache(_KEPT)(self._written_out)

    def _written_out(self, form: Structure, depth: int = 0) -> Structure:
        match form[0]:
            case "number":
                return form
            case "name":
                name, indices = self.bound.entry(form[1])
                own, meaning = self.meanings.get(name, ((), None))
                if meaning is None or len(own) != len(indices):
                    return form
                places = dict(zip(own, indices, strict=True))
                return self._written_out(self.bound.with_indices(meaning, places), depth)
            case "sum":
                return structures.sum_of(self._written_out(t, depth) for t in form[1])
            case "product":
                return structures.product_of(self._written_out(f, depth) for f in form[1])
            case "power":
                base, exponent = (self._written_out(part, depth) for part in form[1:])
                if exponent == structures.MINUS:
                    return structures.inverse_of(base)
                return structures.power_of(base, exponent)
        if self.bound.binds(form) and depth < len(_BOUND):
            form = self.bound.renamed(form, _BOUND[depth])
            depth += 1
        return (*form[:3], tuple(self._written_out(child, depth) for child in form[3]))
