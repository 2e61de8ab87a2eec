"""Say in which one respect the way to a wrong answer differs from a right one.

The reference's own ways are gone with one change at a time.  Where the answer comes out, the
sentence for that kind of change is true whatever the student did.  An author's misconceptions and
the slips of a right answer come first.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Mapping, Set
from typing import Any

import numpy as np

from autograder.exercise import Part, Undecided
from autograder.exercise.answers.slips import by_chance, is_trivial
from autograder.exercise.formula_types import is_formula
from autograder.exercise.words.dependencies import apply
from autograder.exercise.words.part import arguments, computation
from autograder.grading.at_points import excluding
from autograder.grading.budget import Exhausted, bounded
from autograder.grading.changes import Place, ways
from autograder.grading.own import OwnFunction
from autograder.grading.own_values import Own

#: Of each kind of change, what a student reads behind "This is what comes out".
KINDS = {
    "one_sign": "with one plus for a minus, or one minus for a plus",
    "one_quotient": "with one product for a quotient, or one quotient for a product",
    "one_term_missing": "where one term of a sum is left out",
    "one_term_twice": "where one term of a sum is counted twice, or by half",
    "one_factor_missing": "where one factor or divisor is left out",
    "one_factor_twice": "where one factor or divisor is used twice",
    "one_count": "where one whole number on the way is off by 1",
    "one_place": "with one entry for its neighbour",
    "one_power": "where one power or root is left out",
    "one_pair_of_brackets": "where one pair of brackets is left out",
    "one_function": "where one exponential or logarithm is left out",
    "one_power_of": "with one product for a power",
    "one_half": "where one quantity on the way is taken twice, or by half",
    "one_largest": "with one largest for a sum",
    "one_extreme": "with one smallest for a largest, or one largest for a smallest",
    "one_mean": "with one sum for a mean, or one mean for a sum",
    "one_axis": "where rows and columns are exchanged once",
    "one_quantity": "where one quantity stands in another's place",
}
#: What is told only where nothing else is.
GENERAL = {"one_count", "one_half"}
SECONDS = 3.0  # of processor time, for all changes of a part
APART = 2.0  # so many tolerances from the right answer: nearer is a matter of digits
MOST = 2  # kinds of change that are told
#: A single whole number below it is met by chance by one of so many changes.
TELLING = 1000


def told(part: Part, answer: Any, true: Mapping[str, Any], own: Own) -> str:
    """Say by which kind of change this answer comes out, or by which two; else ""."""
    right = true[part.name]
    if not is_telling(answer, right):
        return ""
    try:
        found = bounded("", lambda: _found(part, answer, true, own), SECONDS)
    except Exhausted:
        return ""
    own.changed[part.name] = found.keys()
    kinds = {*found.values()}
    kinds = kinds - GENERAL or kinds  # a 2 that is a 1 is a factor left out
    said = [text for kind, text in KINDS.items() if kind in kinds]
    return f"This is what comes out {', or '.join(said)}." if 0 < len(said) <= MOST else ""


def is_telling(answer: Any, right: Any) -> bool:
    """Tell whether a wrong answer has so much in it that another way to it is no chance."""
    if hasattr(answer, "shape") != hasattr(right, "shape") or is_trivial(answer, right):
        return False
    if is_formula(answer):
        return not hasattr(answer, "shape")
    if not isinstance(answer, np.ndarray) or answer.shape != right.shape:
        return False
    if answer.size == 1 and answer.dtype.kind in "iufO" and abs(answer.item()) >= TELLING:
        return True
    return not by_chance([right], [answer])


def shared(changed: Mapping[str, Set[Place]]) -> dict[str, str]:
    """Say of answers that come out by the same change of one helper what they have in common.

    Examples
    --------
    >>> here, there = ("share", "return a / b"), ("cost", "return log(p)")
    >>> shared({"table": {here}, "path": {here, there}})
    {'table': 'share: return a / b', 'path': 'share: return a / b'}
    >>> shared({"table": {here}, "path": {there}})
    {}
    """
    times: Counter[Place] = Counter(place for places in changed.values() for place in places)
    several = {place for place, many in times.items() if many > 1}
    return {
        name: ": ".join(sorted(common, key=lambda place: (times[place], place))[-1])
        for name, places in changed.items()
        if (common := places & several)
    }


def changed_too(
    part: Part, answer: Any, true: Mapping[str, Any], own: Own, places: Set[Place]
) -> Set[Place]:
    """Return by which of these changes an answer comes out that something else is said of."""
    if not places or not is_telling(answer, true[part.name]):
        return set()
    try:
        return bounded("", lambda: _found(part, answer, true, own, places), SECONDS).keys()
    except Exhausted:
        return set()


def _found(
    part: Part, answer: Any, true: Mapping[str, Any], own: Own, only: Set[Place] = frozenset()
) -> dict[Place, str]:
    """Return where a change gives the answer, and the kind of each."""
    found: dict[Place, str] = {}
    excluded = excluding(part.answer, answer)
    for compute, way in ((each, way) for each in part.routes for way in ways(computation(each))):
        if only and way.place not in only:
            continue
        needs = set(arguments(compute))
        for known in (true, own.known) if needs & own.wrong else (true,):
            if any(isinstance(known.get(name), OwnFunction) for name in needs):
                continue
            with contextlib.suppress(Undecided, Exception), np.errstate(all="ignore"):
                wrong = part.answer.read(apply(way.compute, known))
                if not excluded(wrong) and is_it(part, answer, wrong, true[part.name]):
                    found[way.place] = way.kind
    return found


def is_it(part: Part, answer: Any, wrong: Any, right: Any) -> bool:
    """Tell whether an answer is this wrong one, which is no matter of digits."""
    return part.answer.same(answer, wrong) and not part.answer.same(wrong, right, widen=APART)
