"""Grades as people see them: the engine's results with what was given by hand laid over."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from autograder.course.config import Course
from autograder.course.release.handed_out import Release
from autograder.course.submissions.records import read_grade, recorded
from autograder.delivery.nbgrader.marks import Marks, scores
from autograder.delivery.pages.solutions import Solutions
from autograder.grading.results import ROLE_SIGNS, ExerciseGrade, Grade, Item, Status
from autograder.student.display import counted
from autograder.student.notebook import check_of, part_of

FIRST = 5  #: Mistakes that stand at the top of a page.


@dataclass(frozen=True)
class GradeLine:
    """An item of an exercise.

    Attributes
    ----------
    variable
        The name under which the student gave the answer; empty for a check of a function.
    asked
        The form that was asked for, in words.
    right
        The right answer, where students may see it.
    waits
        Has a person yet to mark it?
    best_of
        Where only the best of several count: how many of how many, ``4 of 8``.
    left_out
        Is it beyond these?
    """

    item: Item
    score: float | None
    variable: str = ""
    asked: str = ""
    right: str = ""
    waits: bool = False
    by_hand: bool = False
    comment: str = ""
    best_of: str = ""
    left_out: bool = False

    @property
    def lost(self) -> float:
        """Points that are not there for good, until another text is handed in."""
        known = self.score is not None and not (self.waits or self.left_out)
        return self.item.max_score - (self.score or 0.0) if known else 0.0

    @property
    def mistaken(self) -> bool:
        """Is there something that isn't right? What was left blank, or not run, is no mistake."""
        wrong = self.item.status in (Status.FAILED, Status.PARTIAL)
        return wrong and self.item.note != "blank"

    @property
    def done(self) -> bool:
        """Is it right, with nothing more to be said of it?"""
        item = self.item
        more = self.comment or item.feedback or item.curve or item.training
        return self.status is Status.PASSED and not more

    @property
    def status(self) -> Status:
        """The item's status; of a part marked by hand, what its points come to."""
        if self.left_out:
            return Status.SKIPPED
        if not self.by_hand or self.waits or self.score is None:
            return self.item.status
        return _status(self.score, self.item.max_score)


@dataclass(frozen=True)
class Section:
    """An exercise.

    Attributes
    ----------
    score
        Of what is known; None where nothing is: all of it is withheld or waits for a person.
    adjusted
        Did a person replace the engine's score?
    again
        Was that for another text, so that a person has to look again?
    functions
        What the references say of themselves, by name, where students may see it.
    """

    title: str
    grade: ExerciseGrade
    lines: list[GradeLine]
    score: float | None
    adjusted: bool = False
    again: bool = False
    comment: str = ""
    functions: dict[str, str] = field(default_factory=dict)

    @property
    def status(self) -> Status:
        """The engine's status, unless a person's points make it another, or have yet to."""
        if self.grade.status is Status.ERRORED and not self.adjusted:
            return Status.ERRORED
        if self.waiting:
            return Status.SKIPPED
        if self.score is None or not (self.adjusted or any(ln.by_hand for ln in self.lines)):
            return self.grade.status
        return _status(self.score, self.max_score)

    @property
    def max_score(self) -> float:
        """Points that could be had, without what is left out."""
        left_out = sum(line.item.max_score for line in self.lines if line.left_out)
        return self.grade.max_score - left_out

    @property
    def done(self) -> list[GradeLine]:
        """What is right, with nothing more to be said of it."""
        return [line for line in self.lines if line.done]

    @property
    def left_out(self) -> bool:
        """Is something left out, because others of its kind are better?"""
        return any(line.left_out for line in self.lines)

    @property
    def waiting(self) -> float:
        """Points that a person has yet to give."""
        counting = [line for line in self.lines if not line.left_out]
        lines = [ln for ln in counting if ln.waits or (self.again and not ln.by_hand)]
        return sum(line.item.max_score for line in lines)

    @property
    def withheld(self) -> float:
        """Points that the grader has not decided, and no person since."""
        return 0.0 if self.adjusted else self.grade.withheld

    @property
    def open(self) -> float:
        """Points that are not final: those that a person has yet to give, and those withheld."""
        return self.waiting + self.withheld


@dataclass(frozen=True)
class ToMend:
    """What is to be mended in an exercise.

    Attributes
    ----------
    variable
        The first answer that shows it, if answers have names there.
    said
        What feedback says of it, in a line.
    lost
        The points that it costs.
    """

    section: Section
    variable: str
    said: str
    lost: float


@dataclass(frozen=True)
class Sheet:
    """A submission."""

    grade: Grade
    marks: Marks
    sections: list[Section]

    @property
    def score(self) -> float:
        """Points as the gradebook counts them, or the engine's where it holds none."""
        return self.marks.score if self.marks.cells else self.grade.score

    @property
    def by_id(self) -> dict[str, Section]:
        """The exercises by their ids."""
        return {section.grade.id: section for section in self.sections}

    @property
    def waiting(self) -> float:
        """Points that a person has yet to give."""
        return sum(section.waiting for section in self.sections)

    @property
    def open(self) -> float:
        """Points that are not final."""
        return sum(section.open for section in self.sections)

    @property
    def to_mend(self) -> list[ToMend]:
        """The mistakes that cost most, each once; what was left blank is none."""
        found: dict[tuple[str, str], ToMend] = {}
        for section in self.sections:
            for line in () if section.adjusted else section.lines:
                said = line.item.feedback.partition("\n")[0]
                if line.lost and said and line.mistaken:
                    key = section.grade.id, said
                    before = found.get(key, ToMend(section, line.variable, said, 0.0))
                    found[key] = replace(before, lost=before.lost + line.lost)
        return sorted(found.values(), key=lambda mistake: -mistake.lost)[:FIRST]

    @property
    def withheld(self) -> list[Section]:
        """Exercises that the grader could not decide, until a person gives their points."""
        return [section for section in self.sections if section.status is Status.ERRORED]


def sheets(course: Course, assignment: str) -> dict[str, Sheet]:
    """Return every recorded submission of an assignment by student.

    Raises
    ------
    CourseError
        If the assignment isn't released.
    """
    exercises = Release.load(course, assignment).data["exercises"]
    marks = scores(course, assignment)
    found = {}
    for student in sorted(recorded(course, assignment)):
        if grade := read_grade(course, student, assignment):
            found[student] = sheet(grade, marks.get(student, Marks()), exercises)
    return found


def sheet(grade: Grade, marks: Marks, released: dict[str, Any]) -> Sheet:
    """Lay what the gradebook holds of a submission over its grade."""
    sections = [_section(grade, e, released.get(e.id, {}), marks) for e in grade.exercises]
    return Sheet(grade, marks, sections)


def with_solutions(sheet: Sheet, solutions: Solutions) -> Sheet:
    """Add the right answers for the student's own numbers."""

    def section(old: Section) -> Section:
        right = solutions.answers(old.grade.id, old.grade.variant)
        lines = [replace(line, right=right.get(line.item.name, "")) for line in old.lines]
        return replace(old, lines=lines, functions=solutions.functions(old.grade.id))

    return replace(sheet, sections=[section(old) for old in sheet.sections])


def _asked(hint: dict[str, Any]) -> str:
    """Say which form an answer has.

    >>> _asked({"kind": "numbers", "shape": [3, 4]}), _asked({"kind": "count", "shape": []})
    ('an array of shape (3, 4)', 'one number')
    >>> _asked({"kind": "formula", "names": ["x", "tau"], "implicit": True})
    'a formula in x, tau'
    >>> _asked({"kind": "choice", "options": "AB"}), _asked({"kind": "shape"})
    ('letters out of A, B', '')
    """
    if "shape" in hint:
        return counted(tuple(hint["shape"]))
    if hint.get("implicit") and hint["names"]:
        return f"a formula in {', '.join(hint['names'])}"
    return f"letters out of {', '.join(hint['options'])}" if "options" in hint else ""


def _section(whole: Grade, grade: ExerciseGrade, released: dict[str, Any], marks: Marks) -> Section:
    check = marks.cells.get(check_of(grade.id))
    adjusted = check is not None and check.manual is not None
    automatic = grade.score
    if check and adjusted:
        automatic = check.score
    elif check and automatic is not None:
        automatic += check.extra
    variables = {part["name"]: _asked(part.get("hint", {})) for part in released.get("parts", ())}
    lines = [_line(grade, item, variables, marks) for item in grade.items]
    lines = [replace(line, best_of=whole.best_of(line.item.name)) for line in lines]
    counting = [line for line in lines if line.by_hand and not line.left_out]
    known = [line.score for line in counting if line.score is not None]
    nothing = automatic is None or all(line.waits and line.score is None for line in lines)
    score = None if nothing else (automatic or 0.0) + sum(known)
    role = whole.counting.role(grade.id)
    title = released.get("title", grade.id)
    title = title if role == "core" else f"{ROLE_SIGNS[role]} {title}"
    again = adjusted and check is not None and check.pending
    return Section(title, grade, lines, score, adjusted, again, marks.comments.get(grade.id, ""))


def _status(score: float, max_score: float) -> Status:
    if score >= max_score:
        return Status.PASSED
    return Status.PARTIAL if score > 0 else Status.FAILED


def _line(grade: ExerciseGrade, item: Item, variables: dict[str, str], marks: Marks) -> GradeLine:
    cell = part_of(grade.id, item.name)
    mark = marks.cells.get(cell)
    left_out = mark is not None and mark.left_out
    if item.note != "manual":
        variable = item.name if item.name in variables else ""
        asked = variables.get(item.name, "")
        return GradeLine(item, item.score, variable, asked, left_out=left_out)
    comment = marks.comments.get(cell, "")
    line = GradeLine(item, None, waits=True, by_hand=True, comment=comment, left_out=left_out)
    if mark is None or (mark.auto is None and mark.manual is None):
        return line
    return replace(line, score=mark.score, waits=mark.pending)
