"""One student's numbers: reproducible, and chosen so that every mistake shows."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from autograder.exercise.answers.kind import FormatError
from autograder.exercise.answers.slips import DISTANCE
from autograder.exercise.words.dependencies import evaluate, solve
from autograder.exercise.words.part import ORDERS, AuthoringError, place_of

if TYPE_CHECKING:
    from autograder.exercise.words.vocabulary import Exercise

TRIES = 2000


def rng_for(*names: str) -> np.random.Generator:
    """Return a random generator that depends on ``names`` alone."""
    digest = hashlib.sha256("\0".join(names).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big"))


def pick(course: str, student: str, exercise: str, pool: int) -> int:
    """Return which variant of the pool a student has."""
    digest = hashlib.sha256(f"{course}\0{student}\0{exercise}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % pool


@dataclass(frozen=True)
class Draws:
    """The variants of a release, and what was drawn for them.

    Attributes
    ----------
    hidden
        How many draws each misconception could not be told from the right answer in; these draws
        are left out.
    """

    pool: list[dict[str, Any]]
    hidden: dict[str, int] = field(default_factory=dict)


def draws(exercise: Exercise, course: str, most: int | None = None) -> Draws:
    """Draw the variants of a release; a draw that hides a mistake is drawn again.

    Parameters
    ----------
    most
        So many suffice: the first of them.

    Raises
    ------
    ValueError
        If too few draws tell every misconception from the right answer, with the names of
        those that hide most often.
    """
    found = _drawn(exercise, course, min(exercise.pool, most or exercise.pool))
    return replace(found, pool=with_orders(exercise, course, found.pool))


def with_orders(
    exercise: Exercise, course: str, pool: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Add in which order each variant shows what there is to choose from.

    Turned by one from a variant to the next, so that each statement stands in each place equally
    often.  What is declared once for several parts has one order.
    """
    rng, found = rng_for(course, exercise.id, "orders"), []
    kinds = {id(part.answer): part.answer for part in exercise.parts if part.answer.mixed}
    orders: dict[int, str] = {}
    for number, variant in enumerate(pool):
        for key, kind in kinds.items():
            last = orders.get(key, "")
            turn = number % max(len(last), 1)
            orders[key] = last[1:] + last[:1] if turn else kind.mixed_order(rng)
        own = {p.name: orders[id(p.answer)] for p in exercise.parts if p.answer.mixed}
        found.append({**variant, ORDERS: own} if own else variant)
    return found


def _drawn(exercise: Exercise, course: str, wanted: int) -> Draws:
    if exercise.draw is None:
        return Draws([{} for _ in range(wanted)])
    rng = rng_for(course, exercise.id, "pool")
    found = Draws([])
    for number in range(1, TRIES + 1):
        try:
            variant = _numbers(exercise.draw, rng)
            names = hidden_mistakes(exercise, variant)
        except Exception as error:  # the same numbers come again in each run
            error.add_note(f"draw {number}")
            raise
        for name in names:
            found.hidden[name] = found.hidden.get(name, 0) + 1
        if not names:
            found.pool.append(variant)
            if len(found.pool) == wanted:
                return found
    often = ", ".join(sorted(found.hidden, key=found.hidden.__getitem__, reverse=True)[:3])
    raise ValueError(
        f"{exercise.id}: only {len(found.pool)} of {TRIES} draws tell every misconception from the "
        f"right answer, {wanted} are needed; hidden most often: {often or 'none'}. "
        "Draw other numbers."
    )


def _numbers(draw: Callable[..., Any], rng: np.random.Generator) -> dict[str, Any]:
    variant = draw(rng)
    if not isinstance(variant, Mapping):
        raise AuthoringError(
            f"{place_of(draw)}: `{draw.__name__}` returns {variant!r}, and must return numbers by "
            'name, like {"n": 3}'
        )
    return dict(variant)


def hidden_mistakes(exercise: Exercise, variant: Mapping[str, Any]) -> list[str]:
    """Return the misconceptions that this variant cannot tell from the right answer."""
    return [*hiding(exercise, variant)]


def hiding(exercise: Exercise, variant: Mapping[str, Any]) -> Iterator[str]:
    """Yield them one by one: each takes its time."""
    known = solve(exercise, variant)
    for part in exercise.parts:
        for wrong in part.misconceptions:
            try:
                with np.errstate(all="ignore"):
                    answer = evaluate(part, wrong, known)
            except FormatError:  # not even a number: nobody takes it for right
                continue
            if part.answer.same(answer, known[part.name], widen=DISTANCE):
                yield wrong.name
