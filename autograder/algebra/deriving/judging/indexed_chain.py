"""Derivations about indexed quantities, step by step and rule by rule."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from autograder.algebra.deriving.judging.chain import Chain
from autograder.algebra.deriving.judging.indexed_comparison import IndexedComparison
from autograder.algebra.deriving.judging.step_rules import StepRules
from autograder.algebra.deriving.judging.task import Task, of_equalities
from autograder.algebra.deriving.lines.indexed import LineNames, read_indexed
from autograder.algebra.deriving.lines.indexed_language import IndexedLanguage
from autograder.algebra.deriving.lines.world import Meanings, World
from autograder.algebra.deriving.rewriting.rules import Fact, Rule


@dataclass(frozen=True)
class IndexedChain(Chain):
    """A derivation with indices, for any number n of them, whose steps go by rules.

    A line may begin with ``=`` or ``<=`` and end with a reason: ``= p_i - p_i^2  # algebra``.
    A right step without a reason must go by one of the `rules`, or by several facts: what is given
    may be put in at once.  A reason must be the right one, or two that are needed together, but not
    for the step to the result; unless `reasons` are asked for, one that names no rule is a note,
    which counts nothing.

    Parameters
    ----------
    start, target, names, definitions, final_names, waypoints, min_lines
        As for `Chain`; `names` are those without indices, and a definition may have indices:
        ``{"p_i": "exp(z_i)/sum(exp(z_k), k)"}``.
    indexed, matrices, permutations, by_rows, positive, indices, size, sizes, parts
        The other names, see `LineNames`.
    rules : tuple of str or Rule or Fact
        What a step may go by; ``"algebra"`` always is one.  Without rules any true step is right.
    reasons : bool
        Whether each step must say which rule it goes by.
    relation : str
        ``"<="``, if the derivation shows that `start` is at most `target`.
    moments : mapping of str to pair of str
        For a random name with independent entries, their mean and variance:
        ``{"q_i": ("0", "s^2")}``.
    normal, vectors : tuple of str
        Names whose entries are independent standard normal variables, or vectors.
    where : mapping of str to str
        For names of which a `Fact` assumes something: all that they can be.  R S = I is assumed
        with ``{"S": "R^(-1)"}``, and ‖x‖ = ‖y‖ with
        ``{"x_i": "u_i*sqrt(sum(v_j^2, j))", "y_i": "v_i*sqrt(sum(u_j^2, j))"}``.  A line is right
        if it holds for these; a step may use the fact alone.
    hidden : tuple of str
        Names that only `where` uses, ``("u_i", "v_i")``.
    closed : tuple of str
        Functions that algebra knows nothing about, ``("sin", "cos")`` say, so that using their
        addition theorem is a step of its own.

    Examples
    --------
    >>> chain = IndexedChain(
    ...     start="D(log(sum(exp(z_k), k)), z_j)",
    ...     target="p_j",
    ...     names=(),
    ...     indexed=("z", "p"),
    ...     definitions={"p_i": "exp(z_i)/sum(exp(z_k), k)"},
    ...     rules=("chain rule", "derivative of a sum", "derivative of exp", "definition",
    ...            "delta contraction"),
    ... )
    >>> lines = [
    ...     "D(sum(exp(z_k), k), z_j)/sum(exp(z_k), k)  # chain rule",
    ...     "sum(D(exp(z_k), z_j), k)/sum(exp(z_k), k)  # derivative of a sum",
    ...     "sum(exp(z_k)*delta(k,j), k)/sum(exp(z_k), k)  # derivative of exp",
    ...     "exp(z_j)/sum(exp(z_k), k)  # delta contraction",
    ...     "p_j  # definition",
    ... ]
    >>> chain.examine(lines)
    Examination(findings=(), credit=1.0, review=False)
    >>> chain.examine(lines[:1] + lines[3:]).findings[0].kind
    'skipped'
    """

    names: tuple[str, ...] = ()
    indexed: tuple[str, ...] = ()
    matrices: tuple[str, ...] = ()
    positive: tuple[str, ...] = ()
    indices: tuple[str, ...] = ("i", "j", "k", "l", "m")
    size: str = "n"
    sizes: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    permutations: tuple[str, ...] = ()
    by_rows: tuple[str, ...] = ()
    where: Mapping[str, str] = field(default_factory=dict)
    hidden: tuple[str, ...] = ()
    rules: tuple[str | Rule | Fact, ...] = ()
    reasons: bool = False
    relation: str = "="
    moments: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    normal: tuple[str, ...] = ()
    vectors: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()

    @functools.cached_property
    def language(self) -> IndexedLanguage:
        """What the lines are read with."""
        return IndexedLanguage(self.known_names, self.definitions)

    @functools.cached_property
    def task(self) -> Task:
        """What judges the lines."""
        return of_equalities(self.endpoints, self.comparison, self.step_rules, self.asked)

    @functools.cached_property
    def comparison(self) -> IndexedComparison:
        """How the lines compare."""
        return IndexedComparison(self.endpoints, self.step_rules, self.relation, self.hidden)

    @functools.cached_property
    def step_rules(self) -> StepRules:
        """What steps may go by."""
        return StepRules(self.language, self.world, self.rules, self.reasons, self.closed)

    @property
    def told(self) -> tuple[str, ...]:
        """The rules; where reasons are asked for, the result and what its names mean as well."""
        way = (self.target, *self.definitions.values()) if self.reasons else ()
        return (*self.step_rules.known, *way)

    @property
    def drawn(self) -> dict[str, object]:
        """What a notebook has to know to draw numbers for the names."""
        assumed = {} if self.hidden else self.where
        return {
            "definitions": {**assumed, **self.definitions},
            "positive": [*self.positive],
            "sizes": [*self.known_names.numbers],
        }

    def prove(self) -> None:
        """Hold the parts against one another, and prove the facts."""
        _ = self.step_rules.known  # each of them is a rule
        super().prove()
        for fact in self.step_rules.facts.values():
            if not self.comparison.holds(fact):
                hint = "; if it is assumed, say with `where` what makes it true"
                raise ValueError(f"the fact {fact.name!r} does not hold{hint}")

    @functools.cached_property
    def world(self) -> World:
        """What the lines are about."""
        moments = {
            self.language.read_form(key).func.__name__: tuple(map(self.language.read_form, pair))
            for key, pair in self.moments.items()
        }
        return World(
            self._all_names,
            self._meanings(self.definitions, self.known_names),
            moments,
            frozenset(self.normal),
            frozenset(self.vectors),
            self._meanings(self.where, self._all_names),
        )

    def _meanings(self, texts: Mapping[str, str], names: LineNames) -> Meanings:
        meanings = {}
        for key, text in texts.items():
            head, meaning = (read_indexed(part, names) for part in (key, text))
            name = head.name if head.is_Symbol else head.func.__name__
            meanings[name] = (tuple(head.args), meaning)
        return meanings

    @functools.cached_property
    def _all_names(self) -> LineNames:
        """The names, and those that students do not see."""
        bases = [name.partition("_") for name in self.hidden]
        return replace(
            self.known_names,
            indexed=(*self.indexed, *(base for base, index, _ in bases if index)),
            plain=(*self.names, *(base for base, index, _ in bases if not index)),
        )

    @functools.cached_property
    def known_names(self) -> LineNames:
        """What the names stand for that students see."""
        return LineNames(
            self.indexed,
            self.names,
            self.matrices,
            self.positive,
            tuple(index for index in self.indices if index not in self.names),
            self.size,
            self.sizes,
            self.parts,
            self.permutations,
            self.by_rows,
        )
