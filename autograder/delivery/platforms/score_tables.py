"""Scores as tables, in the layouts of learning platforms and for people."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from autograder.course.config import Course
from autograder.course.people.roster import Person
from autograder.course.release.handed_out import Release
from autograder.delivery.nbgrader.marks import Mark, Marks

Rows = list[list[Any]]


@dataclass(frozen=True)
class Book:
    """What is exported.

    Attributes
    ----------
    marks
        By assignment and student.
    partial
        Send scores that are not final?
    scale
        What the points of an assignment are sent as; 0 for as they are.
    """

    marks: dict[str, dict[str, Marks]]
    partial: bool
    scale: float = 0.0

    def score(self, assignment: str, student: str) -> Any:
        """Return a score as it is written into a table."""
        own = self.marks[assignment].get(student)
        if own is None:
            return ""
        return self.shown(own.score, own.cells.values(), self.most(assignment))

    def shown(self, score: float, cells: Iterable[Mark], most: float = 0.0) -> Any:
        """Return points as they are written, or nothing where they wait."""
        if not self.partial and any(c.pending for c in cells):
            return ""
        return _plain(score * self.scale / most if self.scale and most else score)

    def most(self, assignment: str) -> float:
        """Return the points of an assignment, as they are counted here."""
        return max((own.max_score for own in self.marks[assignment].values()), default=0.0)

    def maximum(self, assignment: str) -> float:
        """Return the points of an assignment, as they are sent."""
        return _plain(self.scale or self.most(assignment))

    def scored(self, assignment: str) -> set[str]:
        """Return who has a score that is sent."""
        return {s for s in self.marks[assignment] if self.score(assignment, s) != ""}

    def of(self, assignments: Iterable[str]) -> Book:
        """Return the same of some assignments."""
        return replace(self, marks={id: self.marks[id] for id in assignments})


def _csv(course: Course, class_list: dict[str, Person], book: Book) -> Rows:
    exercises = {id: list(Release.load(course, id).data["exercises"]) for id in book.marks}
    columns = [exercise for own in exercises.values() for exercise in own]
    head = ["student", "name", "assignment", "submitted", "late", "score", "max_score"]
    rows: Rows = [[*head, "late_penalty", "waiting", *columns]]
    for id, marks in book.marks.items():
        for student, person in sorted(class_list.items()):
            row: list[Any] = [student, person.name, id]
            if student in marks:
                own = marks[student]
                by_exercise = own.by_exercise(exercises[id])
                points = {
                    e: book.shown(sum(m.score for m in cells if not m.left_out), cells)
                    for e, cells in by_exercise.items()
                }
                late = _lateness(own.seconds_late) if own.seconds_late > 0 else own.lateness
                row += [own.submitted or "", late, book.score(id, student)]
                row += [_plain(own.max_score), _plain(own.late_penalty), len(own.pending)]
                row += [points.get(e, "") for e in columns]
            rows.append(row + [""] * (len(rows[0]) - len(row)))
    return rows


def _canvas(course: Course, class_list: dict[str, Person], book: Book) -> Rows:
    rows: Rows = [
        ["Student", "ID", "SIS Login ID", "Section", *(course.titles[id] for id in book.marks)]
    ]
    rows.append(["    Points Possible", "", "", "", *(book.maximum(id) for id in book.marks)])
    for student in _with_score(class_list, book):
        person = class_list[student]
        name = f"{person.last_name}, {person.first_name}" if person.last_name else person.name
        rows.append(
            [
                name,
                " ".join(person.numbers.get("canvas", ())),
                student,
                person.section,
                *_scores(book, student),
            ]
        )
    return rows


def _moodle(course: Course, class_list: dict[str, Person], book: Book) -> Rows:
    head = ["Username", "First name", "Last name", "Email address"]
    extra = [id for id in book.marks if _has_extra(book, id)]
    titles = [course.titles[id] for id in book.marks]
    rows: Rows = [[*head, *titles, *(f"{course.titles[id]} (extra points)" for id in extra)]]
    for student in _with_score(class_list, book):
        person = class_list[student]
        row: list[Any] = [student, person.first_name, person.last_name, person.email]
        row += [min(book.score(id, student), book.maximum(id)) for id in book.marks]
        row += [max(0.0, _plain(book.score(id, student) - book.maximum(id))) for id in extra]
        rows.append(row)
    return rows


def _has_extra(book: Book, assignment: str) -> bool:
    most = book.maximum(assignment)
    return any(book.score(assignment, student) > most for student in book.scored(assignment))


def _with_score(class_list: dict[str, Person], book: Book) -> list[str]:
    """Return who has a score in every assignment of a table that a platform imports."""
    scored = [book.scored(id) for id in book.marks]
    return sorted(set(class_list).intersection(*scored)) if scored else []


def _gradescope(course: Course, class_list: dict[str, Person], book: Book) -> Rows:
    head = ["First Name", "Last Name", "SID", "Email"]
    for id in book.marks:
        title = course.titles[id]
        parts = ("Max Points", "Submission Time", "Lateness (H:M:S)")
        head += [title, *(f"{title} - {part}" for part in parts)]
    rows: Rows = [head]
    for student, person in sorted(class_list.items()):
        row: list[Any] = [person.first_name, person.last_name, student, person.email]
        for id, marks in book.marks.items():
            own = marks.get(student)
            row += [book.score(id, student), book.maximum(id)]
            row += [f"{own.submitted:%Y-%m-%d %H:%M:%S} +0000" if own and own.submitted else ""]
            row += [_lateness(own.seconds_late) if own else ""]
        rows.append(row)
    return rows


def _scores(book: Book, student: str) -> list[Any]:
    return [book.score(id, student) for id in book.marks]


def _plain(points: float) -> float:
    """Round away what sums of binary fractions leave behind."""
    return round(points, 6)


def _lateness(seconds: float) -> str:
    minutes, second = divmod(int(seconds), 60)
    return f"{minutes // 60:02}:{minutes % 60:02}:{second:02}"


#: What platforms import, and what people read.
IMPORTED = ("canvas", "moodle")
FORMATS: dict[str, Callable[[Course, dict[str, Person], Book], Rows]] = {
    "csv": _csv,
    "canvas": _canvas,
    "moodle": _moodle,
    "gradescope": _gradescope,
}
