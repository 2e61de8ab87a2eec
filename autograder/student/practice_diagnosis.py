"""What is to be said of answers to numbers for practice, where everything known is recorded.

Recorded are the right answers, those of known mistakes, and what follows from each of these for
the parts behind it.  What follows from a wrong answer that nobody foresaw is known to no one here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from autograder.student.display import brief
from autograder.student.judgement import Judgement, entries_right
from autograder.student.judging import JUDGES, close, contains, half_units
from autograder.student.readers import read
from autograder.student.reading import Reading
from autograder.student.unreadable import FormatError

if TYPE_CHECKING:
    from autograder.student.released_files import PracticePart, PracticeSet


class Said(NamedTuple):
    """What is said of one answer: how it is, in a word, and a sentence."""

    name: str
    mark: str
    text: str = ""


def diagnosed(
    parts: list[PracticePart], worked: PracticeSet, answers: dict[str, Any]
) -> list[Said]:
    """Say of each part whether its answer is right, what went wrong, or what is asked.

    Parameters
    ----------
    parts
        As in help.json, each with its own ``hint`` for these numbers.
    worked
        The right answers to these numbers, and what follows ``after`` which wrong ones.
    answers
        What was answered, by part.
    """
    own = _Own(parts, worked)
    return [
        own.said(part, answers[part["name"]])
        if part["name"] in answers
        else Said(part["name"], "blank", part["asks"][0])
        for part in parts
    ]


def recorded(part: PracticePart, value: object) -> Reading:
    """Read a value that is recorded, of whatever shape."""
    return read(value, {key: asked for key, asked in part["hint"].items() if key != "shape"})


class _Own:
    """What somebody has answered, as far as it was looked at."""

    def __init__(self, parts: list[PracticePart], worked: PracticeSet) -> None:
        self._parts = {part["name"]: part for part in parts}
        self._right, self._after = worked["right"], worked.get("after", [])
        self._given: dict[str, Reading] = {}
        self._met: dict[str, list[Any]] = {}  # by part, what is recorded and was answered

    def said(self, part: PracticePart, raw: object) -> Said:
        """Look at the next answer."""
        name = part["name"]
        try:
            answer = read(raw, part["hint"])
        except FormatError as error:
            return self._misshapen(part, raw) or Said(name, "form", str(error))
        except Exception:  # nothing that anybody would take for an answer
            return Said(name, "form", f"it can't be read, being {brief(raw)}")
        self._given[name], met = answer, self._met.setdefault(name, [])
        found, mistakes = [], []
        for case, earlier in self._cases(part):
            slack = self._slack({**self._right[name], **case}.get("reach", {}), earlier)
            for right in case["right"]:
                judgement = _judged(part, answer, recorded(part, right).value, slack)
                met += [right] if judgement.credit == 1 or judgement.note == "too_coarse" else []
                found.append((judgement, earlier if case is not self._right[name] else {}))
            for place, wrong in case.get("wrong", []):
                if _same(part, answer, wrong, slack):
                    met.append(wrong)
                    mistakes.append(part["says"][place])
        best, earlier = max(found, key=lambda each: each[0].credit)
        if best.credit == 1:
            follows = f"right, given your own {' and '.join(earlier)}" if earlier else ""
            return Said(name, "follows" if follows else "right", follows or best.feedback)
        if mistakes:
            return Said(name, "mistake", _either(mistakes))
        if says := self._shown(part, answer):
            return Said(name, "mistake", " ".join(filter(None, [best.feedback, *says])))
        said = self._wrong(part, answer, best)
        if best.credit:
            return Said(name, "partly", said)
        if unknown := [n for n in part["needs"] if n in self._given and not self._met[n]]:
            first = f"It may follow from your {' and '.join(unknown)}: mend that first."
            return Said(name, "open", " ".join(filter(None, [said, first])))
        return Said(name, "wrong", said)

    def _shown(self, part: PracticePart, answer: Reading) -> list[str]:
        """Return what is said of each mistake that is among the letters of an answer."""
        if not part["rule"].get("multiple"):
            return []
        case = self._right[part["name"]]
        says = [
            part["says"][place]
            for place, wrong in case.get("wrong", [])
            if contains(answer.value, recorded(part, wrong).value, case["right"][0])
        ]
        return list(dict.fromkeys(says))

    def _cases(self, part: PracticePart) -> Iterator[tuple[Any, dict[str, Any]]]:
        """Yield what is right, and from which earlier answers, where these were given."""
        name, needed = part["name"], [n for n in part["needs"] if n in self._given]
        right = {n: self._right[n]["right"][0] for n in needed}
        yield self._right[name], {n: value for n, value in right.items() if self._is(n, value)}
        for after in self._after:
            then = after["then"]
            changed = {n: then[n]["right"][0] for n in needed if n in then}
            changed |= {after["part"]: after["value"]} if after["part"] in needed else {}
            own = {**right, **changed}
            if name in then and changed and all(self._is(n, own[n]) for n in needed):
                yield then[name], own

    def _is(self, name: str, value: object) -> bool:
        return value in self._met.get(name, [])

    def _slack(self, reach: Any, earlier: dict[str, Any]) -> Any:
        """Return how far rounding of the earlier answers may move this one, entry by entry."""
        slack: Any = 0.0
        for name in earlier:
            if name in reach:
                part, own = self._parts[name], self._given[name]
                off = np.abs(own.value - recorded(part, earlier[name]).value)
                off = off + half_units(own.value, own.entries, part["rule"])
                slack = slack + np.asarray(reach[name]) * np.max(off, initial=0.0)
        return slack

    def _misshapen(self, part: PracticePart, raw: object) -> Said | None:
        """Recognise a known mistake that gives another shape than the right answer's."""
        try:
            answer = recorded(part, raw)
        except Exception:  # it was said already why it can't be read
            return None
        wrong = self._right[part["name"]].get("wrong", [])
        says = [part["says"][place] for place, value in wrong if _same(part, answer, value, 0.0)]
        return Said(part["name"], "mistake", _either(says)) if says else None

    def _wrong(self, part: PracticePart, answer: Reading, best: Judgement) -> str:
        """Say how much of an answer is right."""
        case = self._right[part["name"]]
        right = recorded(part, case["right"][0]).value
        many = "" if best.note else _how_many(part, answer, right)
        return many or best.feedback


def _judged(part: PracticePart, answer: Reading, right: object, slack: object) -> Judgement:
    kind, rule = part["hint"]["kind"], part["rule"]
    how = {"slack": slack, "written": answer.entries} if kind == "numbers" else {}
    if kind in ("lines", "formula"):
        how = {"hint": part["hint"]}
    found: Judgement = JUDGES[kind](answer.value, right, rule, **how)
    return found


def _same(part: PracticePart, answer: Reading, value: object, slack: object) -> bool:
    """Tell whether an answer is one that is recorded; with how many digits does not matter."""
    other = recorded(part, value).value
    if part["hint"]["kind"] != "numbers":
        return _judged(part, answer, other, slack).credit == 1
    same_shape = np.shape(answer.value) == np.shape(other)
    return same_shape and bool(np.all(close(answer.value, other, part["rule"], slack)))


def _how_many(part: PracticePart, answer: Reading, right: Any) -> str:
    """Say how many entries are right, where there are several, and where to look first."""
    kind = part["hint"]["kind"]
    if kind not in ("numbers", "count", "fractions"):
        return ""
    given, right = np.asarray(answer.value), np.asarray(right)

    def same(value: Any) -> Any:
        if kind == "numbers":
            return close(value, right, part["rule"])
        return np.asarray(np.equal(value, right), bool)

    if given.shape == right.shape:
        if np.all(same(-given)):
            return "It is right but for its sign."
        if given.size > 1 and np.all(same(np.flip(given))):
            return "The numbers are right, in the reverse order."
        if given.size > 1:
            each = same(given)
            first = ", ".join(map(str, np.argwhere(~each)[0]))
            look = f" Look first at the one at [{first}]." * bool(each.any())
            return entries_right(int(np.sum(each)), right.size) + look
    return ""


def _either(says: list[str]) -> str:
    """Join what is said of mistakes that numbers can't tell apart."""
    different = list(dict.fromkeys(says))
    return f"Either: {' Or: '.join(different)}" if different[1:] else different[0]
