"""Grade one submission in Gradescope's container, and write its results.json.

What is wrong on our side ends the program without results: Gradescope then shows that the
autograder failed, and gives no score.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from autograder.course.config import Course, CourseError
from autograder.course.files import write_atomically
from autograder.course.people.roster import declared
from autograder.course.people.student_ids import typed_id
from autograder.course.release.handed_out import Release
from autograder.course.submissions.grade import Grader
from autograder.course.submissions.grading_options import GradingOptions
from autograder.course.submissions.handed_in import Handed, Unreadable, read_notebook, restore
from autograder.course.typed_json import decoded
from autograder.delivery.gradescope import SETTINGS, PackedSettings
from autograder.delivery.pages.rendering import rendered
from autograder.delivery.platforms.layouts import Origin
from autograder.delivery.platforms.owners import identify
from autograder.grading.results import ExerciseGrade, Grade, Item
from autograder.sandbox.isolation import probe

_SKIPPED = {".ipynb_checkpoints", "__MACOSX"}


def main(root: Path) -> None:
    """Grade what lies in ``root``, which Gradescope calls /autograder."""
    settings = decoded((root / "source" / SETTINGS).read_bytes(), PackedSettings)
    course = Course.load(root / "source" / "course")
    results = {**graded(course, root, settings), "stdout_visibility": "hidden"}
    write_atomically(root / "results" / "results.json", json.dumps(results).encode())


def graded(course: Course, root: Path, settings: PackedSettings) -> dict[str, Any]:
    """Return what goes into results.json.

    Raises
    ------
    CourseError
        If this machine isolates too little, or nobody on the class list handed it in.
    """
    assignment = settings.assignment
    course.demand(probe(), trust_students=settings.trust_students)
    release = Release.load(course, assignment)
    notebooks = _notebooks(root / "submission", release)
    if not notebooks:
        return {
            "score": 0,
            "output": f"There is no notebook of {assignment} in what you handed in. Hand in "
            f"{assignment}.ipynb as you got it and filled it in.",
        }
    path = notebooks[0]
    users = json.loads((root / "submission_metadata.json").read_bytes())["users"]
    student, notices = _student(course, users, _typed(path))
    if len(notebooks) > 1:
        notices.append(f"You handed in {len(notebooks)} notebooks; {path.name} was graded.")
    options = GradingOptions(trust_students=settings.trust_students)
    with Grader(course, options) as grader:
        grade = grader.grade(Handed(student, assignment, path)).grade
    titles = {id: known["title"] for id, known in release.data["exercises"].items()}
    withheld = [titles[e.id] for e in grade.exercises if e.withheld]
    if withheld:
        notices.append(
            f"The grader could not decide all of {', '.join(withheld)}, and says why there. The "
            "points of that are not in the score yet: a person will look. You lose nothing by it."
        )
    return {
        "score": grade.score,
        "output": "\n\n".join([*notices, *grade.notices]),
        "output_format": "text",
        "execution_time": round(grade.runtime.get("seconds", 0)),
        "tests": _tests(grade, titles, settings.visibility),
        "extra_data": {"student": student, "isolation": grade.isolation},
    }


def _notebooks(folder: Path, release: Release) -> list[Path]:
    """Return the notebooks of the assignment, the one of its own name first."""
    found = []
    for path in sorted(folder.rglob("*.ipynb")):
        if _SKIPPED & {*path.parts} or path.is_symlink() or not path.is_file():
            continue
        try:
            restore(read_notebook(path), release)
        except Unreadable:
            if path.stem != release.assignment:
                continue  # else its owner is told why it can't be read
        found.append(path)
    return sorted(found, key=lambda path: path.stem != release.assignment)


def _typed(path: Path) -> str:
    try:
        return typed_id(read_notebook(path))
    except Unreadable:  # its owner is told when it is graded
        return ""


def _student(course: Course, users: list[dict[str, Any]], typed: str) -> tuple[str, list[str]]:
    """Return the id whose numbers count, and what is to be said about it."""
    known = {person.id: person for person in declared(course)}
    ids = []
    for user in users:
        name, email, sid = (str(user.get(key) or "") for key in ("name", "email", "sid"))
        try:
            ids.append(identify(Origin(name, sid, "gradescope", email=email), known))
        except ValueError as error:
            raise CourseError(f"{email or name}: {error}") from None
    strangers = [id for id in ids if known and id not in known]
    if strangers or not ids:
        who = ", ".join(strangers) or "nobody"
        raise CourseError(
            f"{who} handed this in and is not on the class list: complete students.csv, pack the "
            "autograder again and run it again"
        )
    student = typed if typed in ids else ids[0]
    if len(ids) > 1:
        said = f"{', '.join(ids)} handed this in together, and numbers are personal: those of "
        return student, [f"{said}{student} count."]
    return student, []


def _tests(grade: Grade, titles: dict[str, str], visibility: str) -> list[dict[str, Any]]:
    """Return a test for each exercise, and one for each part that a person marks."""
    tests = []
    for exercise in grade.exercises:
        own = [item for item in exercise.items if item.note != "manual"]
        if own:
            tests.append(_test(exercise, own, titles[exercise.id]))
        for item in exercise.items:
            if item.note == "manual":
                name = f"{titles[exercise.id]}: {item.name}, marked by hand"
                tests.append({"name": name, "output": _page([item])})
    return [{**test, "output_format": "html", "visibility": visibility} for test in tests]


def _test(exercise: ExerciseGrade, items: list[Item], title: str) -> dict[str, Any]:
    most = sum(item.max_score for item in items)
    test = {"name": title, "max_score": most, "output": _page(items)}
    if exercise.score is None:  # withheld, and never 0
        return {**test, "name": f"{title}: withheld"}
    if exercise.withheld:
        rest = f"{title}: {exercise.withheld:g} of {most:g} points withheld"
        return {**test, "name": rest, "score": exercise.score}
    status = "passed" if exercise.score >= most else "failed"
    return {**test, "score": exercise.score, "status": status}


def _page(items: list[Item]) -> str:
    return rendered("gradescope.html.j2", items=items)


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]))
    except CourseError as error:
        sys.exit(f"error: {error}")
