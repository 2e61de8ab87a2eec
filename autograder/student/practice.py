"""Practice: other numbers than those that are graded, and at once what is right; and hints."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

import numpy as np

from autograder.student.data import decode, find, help_with
from autograder.student.display import block
from autograder.student.practice_diagnosis import Said, diagnosed, recorded
from autograder.student.practice_functions import tried_out
from autograder.student.reading import is_blank
from autograder.student.shown_page import show
from autograder.student.symbols import NumbersByName

if TYPE_CHECKING:
    from autograder.student.released_files import Practice, PracticeFunction, PracticePart

#: Characters of a formula with numbers put in; what is longer shows less than its names do.
MOST_PUT_IN = 120

_rounds: dict[str, Round] = {}  # the last ones, by exercise


class NoPractice(Exception):
    """There is nothing to practise; the message says why."""


class Round:
    """One set of numbers of an exercise, and what was answered to it so far."""

    def __init__(self, exercise: str, practice: Practice, number: int = 0) -> None:
        sets = practice["sets"]
        self.exercise, self.number = exercise, number % len(sets)
        self.worked = sets[self.number]
        self.parts = [_for_set(part, self.number) for part in practice["parts"]]
        self.answers: dict[str, Any] = {}
        #: The parts that were answered rightly.
        self.right: list[str] = []
        #: Were all answers right, or shown?
        self.shown = False
        self.others = len(sets) > 1
        number_of = f" {self.number + 1} of {len(sets)}" if self.others else ""
        self.title = f"{exercise}, practice{number_of}"

    def asks(self) -> list[str]:
        """Say what is asked for, and how to answer."""
        lines = [self.title]
        left = [part for part in self.parts if part["name"] not in self.right]
        for part in left or self.parts:
            first, *more = part["asks"]
            lines += [f"  {part['name']}: {first}", *(f"    {line}" for line in more)]
        known = [part["name"] for part in self.parts]
        names, first = "".join(f", {name}=..." for name in known), known[0]
        if self.right and left:
            return [*lines, f"Right so far: {', '.join(self.right)}."]
        return [
            *lines,
            "Answer some or all of them:",
            f'practice("{self.exercise}"{names})',
            f'or one after the other: practice("{self.exercise}").{first} = ...',
            *_left_out(self.exercise, known),
        ]

    def says(self, answers: dict[str, Any]) -> list[str]:
        """Take answers, and say of all that were given so far what is right."""
        known = [part["name"] for part in self.parts]
        if strange := [name for name in answers if name not in known]:
            near = difflib.get_close_matches(strange[0], known) or known
            return [f"There is no `{strange[0]}` to practise. Did you mean {' or '.join(near)}?"]
        self.answers.update(answers)
        given = {n: raw for n, raw in self.answers.items() if raw is not ... and not is_blank(raw)}
        found = diagnosed(self.parts, self.worked, given)
        lines = [self.title, *(line for said in found for line in _lines(said))]
        self.right = [said.name for said in found if said.mark == "right"]
        self.shown = len(self.right) == len(found)
        if self.shown:
            more = f' practice("{self.exercise}") gives other numbers.' if self.others else ""
            return [*lines, f"All right.{more}"]
        lines += self._helps(found)
        return [*lines, "Mend what you like and run it again; solution() shows how it comes out."]

    def _helps(self, found: list[Said]) -> list[str]:
        """Say where to look, if something is wrong that nobody knows a name for."""
        hints = "hints" in help_with(self.exercise)
        nameless = any(said.mark in ("wrong", "partly") for said in found)
        return [f'hint("{self.exercise}") says where to begin.'] if hints and nameless else []

    def solution(self) -> list[str]:
        """Show the way to the right answers: each formula, with numbers put in, and its value."""
        self.shown = True
        numbers = {name: decode(value) for name, value in self.worked["numbers"].items()}
        lines = [f"{self.title}, how it comes out:", *_indented(block(numbers, 1000), 2)]
        shown = {part["name"]: self._right(part) for part in self.parts}
        for part in self.parts:
            lines.append(f"  {part['name']}: {part['asks'][0]}")
            lines += _indented(way := self._way(part, numbers), 6)
            for name in part["needs"] if len(way) < 2 else ():  # what is put in is seen
                first, *more = shown[name]
                lines += _indented([f"from {name}: {first}", *_indented(more, 5)], 6)
            lines += _indented(shown[part["name"]], 6)
        return lines

    def _way(self, part: PracticePart, numbers: dict[str, Any]) -> list[str]:
        """Return the formula of a part, and what it is with the numbers, where that is short."""
        if not (way := part.get("way")):
            return []
        known = {name: self.worked["right"][name]["right"][0] for name in part["needs"]}
        put_in = {name: _in_formula(value) for name, value in {**numbers, **known}.items()}
        formula, filled = way.format_map({n: n for n in put_in}), way.format_map(put_in)
        return [f"= {formula}", *([f"= {filled}"] if len(filled) <= MOST_PUT_IN else [])]

    def _right(self, part: PracticePart) -> list[str]:
        value = self.worked["right"][part["name"]]["right"][0]
        return recorded(part, value).shown.split("\n")


def _left_out(exercise: str, known: list[str]) -> list[str]:
    """Say which graded answers can't be practised."""
    found, _ = find(exercise)
    graded = [p["name"] for p in found["parts"] if p["hint"]["kind"] != "manual"] if found else []
    left = [name for name in graded if name not in known]
    if not left:
        return []
    why = "as nearly everybody has the same answer, or many are right"
    return [f"Left out, {why}: {', '.join(left)}."]


def _in_formula(value: object, *, alone: bool = True) -> str:
    """Write a number, or a list of them, as it stands in a formula: with four digits."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_in_formula(each, alone=False) for each in value)}]"
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return f"({text})" if alone and text.startswith("-") else text


def next_round(exercise: str, notebook: dict[str, Any]) -> NumbersByName | None:
    """Try the functions on other inputs; ask for the next answers, and return the numbers."""
    practice = _practice(exercise)
    if functions := practice.get("functions", []):
        show(_functions_tried(exercise, functions, notebook))
    if not practice["sets"]:
        return None
    last = _rounds.pop(exercise, None)
    if last is None or last.shown:
        last = Round(exercise, practice, 0 if last is None else last.number + 1)
    _rounds[exercise] = last  # as the last one
    print("\n".join(last.asks()))
    return ToAnswer(last)


class ToAnswer(NumbersByName):
    """Numbers to practise with; an answer is said to be right or wrong as soon as it is set."""

    def __init__(self, now: Round) -> None:
        numbers = {name: decode(value) for name, value in now.worked["numbers"].items()}
        super().__init__(numbers, "" if numbers else "(Everything is in the text.)")
        self._round = now

    def __setattr__(self, name: str, value: object) -> None:
        """Take an answer."""
        if name.startswith("_"):
            vars(self)[name] = value
        else:
            show(self._round.says({name: value}))


def this_round(exercise: str) -> Round:
    """Return what was asked last, of an exercise or of any."""
    if not exercise and not _rounds:
        raise NoPractice('Practise first, practice("…"); then solution() shows the right answers.')
    exercise = exercise or list(_rounds)[-1]
    if exercise not in _rounds:
        practice = _practice(exercise)
        if not practice["sets"]:
            raise NoPractice(f'Of {exercise} functions are practised: practice("{exercise}").')
        _rounds[exercise] = Round(exercise, practice)
    _rounds[exercise] = _rounds.pop(exercise)  # as the last one
    return _rounds[exercise]


def _functions_tried(
    exercise: str, functions: list[PracticeFunction], notebook: dict[str, Any]
) -> list[str]:
    lines = [f"{exercise}, practice on other inputs"]
    for found in functions:
        lines += [f"  `{found['name']}`"] if functions[1:] else []
        lines += tried_out(found, notebook)
    return [*lines, "Grading also looks at what isn't tried here: other sizes, other properties."]


def offers(exercise: str) -> list[str]:
    """Say what helps on with an exercise, if anything does."""
    found = help_with(exercise).get("practice")
    others = "other inputs" if found and not found["sets"] else "other numbers"
    practice = f'practice("{exercise}") for {others}' if found else ""
    hints = f'hint("{exercise}") for a hint' * ("hints" in help_with(exercise))
    offered = ", ".join(filter(None, [practice, hints]))
    return [f"  There is {offered}."] if offered else []


def hint_lines(exercise: str, number: int) -> list[str]:
    """Return a hint, and how to get the next one."""
    hints = help_with(exercise).get("hints", [])
    if not hints:
        return [f"There are no hints for {exercise}."]
    if not isinstance(number, int) or not 1 <= number <= len(hints):
        return [f'There are hints 1 to {len(hints)}: hint("{exercise}", 1) is the first.']
    more = f'The next one: hint("{exercise}", {number + 1})'
    return [f"Hint {number} of {len(hints)}: {hints[number - 1]}"] + [more] * (number < len(hints))


def _practice(exercise: str) -> Practice:
    helping = help_with(exercise)
    if "practice" not in helping:
        why = helping.get("unpractised", "nothing for it was released")
        raise NoPractice(f"{exercise} can't be practised: {why}.")
    return helping["practice"]


def _for_set(part: PracticePart, number: int) -> PracticePart:
    """Return a part as it is asked for with the numbers of one set."""
    hint = part["hint"]
    return {**part, "hint": {**hint, **hint["varies"][number]} if "varies" in hint else hint}


def _indented(lines: list[str], by: int) -> list[str]:
    return [" " * by + line for line in lines]


_MARKS = {
    "right": "✓ right  ",
    "follows": "✓ follows",
    "partly": "~ partly ",
    "mistake": "✗ mistake",
    "wrong": "✗ wrong  ",
    "open": "? open   ",
    "form": "✗ form   ",
    "blank": "– blank  ",
}


def _lines(said: Said) -> list[str]:
    first, *more = said.text.split("\n")
    line = f"  {_MARKS[said.mark]}  {said.name}" + (f": {first}" if first else "")
    return [line, *(f"        {further}" for further in more)]
