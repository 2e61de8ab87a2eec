"""The tour: everything from generating to the class report, on a simulated class."""

from __future__ import annotations

import csv
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

from autograder.course.classes.expected import expected_scores
from autograder.course.classes.simulate import simulate
from autograder.course.config import CONFIG, Course, CourseError
from autograder.course.submissions.records import read_grade
from autograder.delivery.department.bar import Bar
from autograder.delivery.department.grading import grade_and_save
from autograder.delivery.department.releasing import generate
from autograder.delivery.pages.essays.essay_marks import read_essays
from autograder.delivery.pages.essays.sheets import write_essays
from autograder.delivery.pages.feedback import write_feedback
from autograder.delivery.pages.final_grades import sheets
from autograder.delivery.pages.report import in_short, write_report
from autograder.grading.checks import NO_GPU
from autograder.grading.results import ExerciseGrade, Status

if TYPE_CHECKING:
    from rich.progress import Progress

_MISTAKES = 2  #: of each assignment, that are shown
OWN = ("assignments", "reference", "release", "course_config.py", "nbgrader_config.py")


def run_demo(
    origin: Path,
    folder: Path | None,
    students: int,
    bar: Progress | None = None,
    *,
    everything: bool = False,
) -> Iterator[Any]:
    """Copy the course at ``origin`` and run it on a simulated class; yield what to print.

    It shows the assignments of ``c.Course.demo``, or ``everything``.

    Raises
    ------
    CourseError
        If the folder exists already, or a simulated submission gets other points than it must.
    """
    course = copy_course(origin, folder)
    yield f"a copy of the course in {course.root}"
    ids = course.ids(None if everything else [*course.demo])
    generate(course, ids, held=False)
    yield f"generated and registered {len(ids)} of {len(course.titles)} assignments"
    for id in ids:
        simulate(course, id, students)
    yield f"wrote the submissions of {students} simulated students to each of them"
    outcome = grade_and_save(course, ids, bar=Bar(bar) if bar else None)
    yield from outcome.lines()
    marked = sum(_mark(course, id) for id in ids)
    yield f"simulated markers gave points for {marked} free texts, in sheets of `autograder essays`"
    pages = write_feedback(course, ids)
    report = write_report(course, ids)
    yield f"wrote {len(pages)} feedback pages and the class report"
    yield from in_short(course, ids, _MISTAKES)
    if wrong := disagreements(course):
        raise CourseError("the simulated class got other points than it must: " + "; ".join(wrong))
    yield "every simulated submission got exactly the points it was written for"
    yield "to look at:"
    yield f"  one student's feedback  {_mixed(course, ids[-1], pages)}"
    yield f"  the class report        {report}"
    if (readme := origin.resolve() / "README.md").is_file():
        yield f"  the course              {readme}"


def _mark(course: Course, assignment: str) -> int:
    """Give points for the free texts that wait, as markers do: in a sheet; return for how many.

    How many points is drawn from the code of an answer, so that it is the same in every run.
    """
    if not any(found.waiting for found in sheets(course, assignment).values()):
        return 0
    sheet = course.root / "essays" / f"{assignment}.csv"
    sheet.parent.mkdir(exist_ok=True)
    write_essays(course, assignment, sheet)
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        worth = float(row["of"].split(" = ")[0])
        row["points"] = f"{worth * (2 + crc32(row['code'].encode()) % 3) / 4:g}"
    with sheet.open("w", encoding="utf-8-sig", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    entered = read_essays(course, assignment, [sheet])
    if entered.problems:
        raise CourseError("; ".join(entered.problems))
    return len(rows)


def _mixed(course: Course, assignment: str, pages: Sequence[Path]) -> Path:
    """Return the page of whoever has about two thirds of the points: there is most to see."""
    found = sheets(course, assignment)
    off = {id: abs(sheet.score - 2 / 3 * sheet.grade.max_score) for id, sheet in found.items()}
    student = min(off, key=lambda id: off[id])
    return next(page for page in pages if {student, assignment} <= {*page.parts})


def copy_course(origin: Path, folder: Path | None) -> Course:
    """Copy what an instructor wrote into a fresh folder."""
    source = Course.load(origin)
    if folder is None:
        folder = Path(tempfile.mkdtemp(prefix="autograder-demo-"))
    elif folder.exists():
        raise CourseError(f"{folder} exists already: name a folder that does not")
    else:
        folder.mkdir(parents=True)
    for name in OWN:
        path = source.root / name
        if path.is_dir():
            shutil.copytree(path, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif path.exists():
            shutil.copy(path, folder / name)
    if "db_url" in source.config.CourseDirectory:  # nobody is simulated in the real gradebook
        own = f"sqlite:///{folder.resolve() / 'gradebook.db'}"
        with (folder / CONFIG).open("a") as config:
            config.write(f"\nc.CourseDirectory.db_url = {own!r}\n")
    return Course.load(folder)


def disagreements(course: Course) -> list[str]:
    """Return where a simulated student's points are not those that were known beforehand."""
    wrong = []
    for assignment, students in expected_scores(course).items():
        for student, exercises in students.items():
            grade = read_grade(course, student, assignment)
            got = {e.id: _so_far(e) for e in grade.exercises} if grade else {}
            for id, expected in exercises.items():
                score = got.get(id)
                if score is None or abs(score - expected.score) > 1e-6:
                    wrong.append(
                        f"{student} {assignment}/{id} ({expected.scenario}): "
                        f"{expected.score:g} expected, {score} given"
                    )
    return wrong


def _so_far(exercise: ExerciseGrade) -> float | None:
    """Return the score; what waits for a GPU counts in full, since simulated students pass it."""
    waits = {item.name: item.max_score for item in exercise.items if item.note == NO_GPU}
    items = [
        replace(item, status=Status.PASSED, score=waits[item.name]) if item.name in waits else item
        for item in exercise.items
    ]
    return ExerciseGrade.of(exercise.id, items).score
