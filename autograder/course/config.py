"""The course as course_config.py describes it."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from traitlets.config import Config, PyFileConfigLoader

from autograder.course.moments import moment
from autograder.course.settings import Unfit, check_settings
from autograder.exercise.nearest import meant
from autograder.grading.results import Counting
from autograder.sandbox.isolation import Isolation

CONFIG = "course_config.py"
_PASSWORDS = {"password", "passwd", "pass", "pwd", "sslpassword"}
_OF_STUDENTS = ("submitted", "autograded", "downloaded")


class CourseError(Exception):
    """Something about the course is not as it should be; the message says what to do."""


@dataclass(frozen=True)
class Course:
    """Where a course lives and what it consists of.

    Attributes
    ----------
    root
        The folder of course_config.py.
    titles
        Title by assignment id, in the course's order.
    due
        Due date by assignment id, as written; missing where there is none.
    limits
        Seconds, bytes and MiB for submissions, by the names of ``sandbox.Limits``.
    exercise_limits
        The same for single exercises, by exercise.
    minimum_tier
        The weakest isolation tier under which this course is graded; None leaves it to
        ``--trust-students``.
    gpu
        Whether the course has the checks that need a GPU.
    given
        Assignments whose functions are given, as code, to those who build on them later.
    guessed
        By assignment, which share of its points answers without a thought may earn, and why.
    counting
        Which of the points count, by assignment.
    without
        The exercises that its notebook leaves out, by assignment.
    optional
        Assignments that are a choice as a whole.
    hint_cost
        The share of an exercise's automatic points that each hint costs which was taken.
    look
        The share of a part's points that a look at it costs, 0 where everybody may take them all;
        None where there are none.
    demo
        Assignments that `autograder demo` shows, where it does not show all.
    solutions
        Whether students see the right answers after the due date and its last extension.
    quartiles
        Whether a student's feedback says what a quarter, half and three quarters of the class have.
    typed_ids
        Whether the id that a student typed says whose numbers a submission is graded with.
    watch_feedback
        When `watch` publishes feedback, one of ``settings.WHEN``.
    moodle_language
        The language in which Moodle speaks with whoever downloads its worksheets.
    students
        The file with the class list, or the list itself; None for students.csv.
    config
        Everything in course_config.py, settings of nbgrader's included.
    """

    root: Path
    id: str
    titles: dict[str, str]
    due: dict[str, str] = field(default_factory=dict)
    limits: dict[str, Any] = field(default_factory=dict)
    exercise_limits: dict[str, dict[str, Any]] = field(default_factory=dict)
    minimum_tier: str | None = None
    gpu: bool = True
    given: Sequence[str] = ()
    guessed: dict[str, tuple[float, str]] = field(default_factory=dict)
    counting: dict[str, Counting] = field(default_factory=dict)
    without: dict[str, list[str]] = field(default_factory=dict)
    optional: Collection[str] = ()
    hint_cost: float = 0.0
    look: float | None = None
    demo: Sequence[str] = ()
    solutions: bool = False
    quartiles: bool = False
    typed_ids: bool = False
    watch_feedback: str = "due"
    moodle_language: str = "en"
    students: str | list[str] | dict[str, str] | None = None
    config: Config = field(default_factory=Config)

    @classmethod
    def load(cls, root: Path | str = ".") -> Course:
        """Read the course in ``root``.

        Raises
        ------
        CourseError
            If there is no course there or its configuration can't be read.
        """
        root = Path(root).resolve()
        if not (root / CONFIG).is_file():
            raise CourseError(
                f"{root} holds no {CONFIG}. Run this in a course's folder, or name it: --course DIR"
            )
        if course := _around(root):
            raise CourseError(
                f"{root / CONFIG} came with a submission, and is not run: your course is {course}"
            )
        try:
            config = PyFileConfigLoader(CONFIG, path=str(root)).load_config()
        except (Exception, SystemExit) as error:  # it is a program, and may end with sys.exit()
            raise CourseError(
                f"{root / CONFIG} can't be read: {str(error) or repr(error)}"
            ) from error
        # Other sections are nbgrader's, and may be of classes that a site brings.
        if wrong := get_close_matches("Course", config.keys() - {"Course"}, cutoff=0.9):
            where = line_of(root / CONFIG, f"c.{wrong[0]}")
            raise CourseError(
                f"{where}: c.{wrong[0]} says nothing to anybody (did you mean c.Course?)"
            )
        settings = config.Course
        try:
            check_settings(settings)
        except Unfit as error:
            raise CourseError(f"{line_of(root / CONFIG, error.written)}: {error}") from None
        for entry in settings.get("assignments", []):
            if due := entry.get("due"):
                try:
                    moment(due)
                except ValueError as error:
                    where = line_of(root / CONFIG, f'"{due}"')
                    raise CourseError(
                        f"{where}: the due date of {entry['id']}, {due!r}, {error}"
                    ) from None
        if _shows_password(root / CONFIG, config):
            raise CourseError(
                f"{root / CONFIG} holds the password of c.CourseDirectory.db_url, and the file "
                "travels: into git, and to whatever machines grade. Leave it out of the address, "
                "and write it into ~/.pgpass"
            )
        listed = settings.get("assignments", [])
        return cls(
            root,
            str(config.CourseDirectory.get("course_id", "") or root.name),
            {entry["id"]: entry["title"] for entry in listed},
            due={entry["id"]: entry["due"] for entry in listed if entry.get("due")},
            guessed={entry["id"]: entry["guessed"] for entry in listed if entry.get("guessed")},
            without={entry["id"]: [*entry.get("without", ())] for entry in listed},
            optional=[entry["id"] for entry in listed if entry.get("optional")],
            counting={
                entry["id"]: Counting(
                    dict(entry.get("best", {})),
                    [*entry.get("stars", ())],
                    [*entry.get("core", ())],
                    entry.get("choice"),
                )
                for entry in listed
            },
            config=config,
            **{name: value for name, value in settings.items() if name != "assignments"},
        )

    def ids(self, wanted: list[str] | None = None) -> list[str]:
        """Return assignment ids, all of them or those wanted (``a01`` is short for a01_first).

        Raises
        ------
        CourseError
            If there is none, or one isn't of this course.
        """
        if not self.titles:
            raise CourseError(
                f"{self.root / CONFIG} lists no assignments: fill c.Course.assignments"
            )
        if not wanted:
            return list(self.titles)
        found: list[str] = []
        for name in wanted:
            hits = [id for id in self.titles if id == name or id.split("_")[0] == name]
            if not hits:
                folders = [id for id in self.unlisted if id.split("_")[0] == name or id == name]
                more = f". {self.not_listed(folders[0])}" if folders else ""
                raise CourseError(
                    f"{name} is no assignment of this course; it has {', '.join(self.titles)}"
                    f"{meant(name, self.titles)}{more}"
                )
            found += [id for id in hits if id not in found]
        return found

    @property
    def unlisted(self) -> list[str]:
        """Folders of assignments that are not in the course."""
        folders = (path.parent for path in (self.root / "assignments").glob("*/*.py"))
        return sorted({path.name for path in folders} - self.titles.keys())

    def not_listed(self, folder: str) -> str:
        """Say so of such a folder."""
        lacking = [id for id in self.titles if not (self.root / "assignments" / id).is_dir()]
        return (
            f"assignments/{folder} is in no entry of c.Course.assignments in "
            f"{line_of(self.root / CONFIG, 'c.Course.assignments')}{meant(folder, lacking)}: list "
            "it there, or move the folder elsewhere"
        )

    def folder(self, step: str) -> Path:
        """Return nbgrader's folder of a step: release, submitted, autograded or feedback."""
        return self.root / str(self.config.CourseDirectory.get(f"{step}_directory", step))

    def submission(self, student: str, assignment: str, step: str = "submitted") -> Path:
        """Return where a student's notebook of an assignment is at some step."""
        return self.folder(step).joinpath(student, assignment, f"{assignment}.ipynb")

    def record(self, student: str, assignment: str) -> Path:
        """Return where the result record of a submission is."""
        return self.root.joinpath("records", student, f"{assignment}.json")

    def demand(self, isolation: Isolation, *, trust_students: bool = False) -> None:
        """Refuse a machine whose isolation is too weak to grade on.

        Raises
        ------
        CourseError
            If it is weaker than ``c.Course.minimum_tier``, or there is none and no trust.
        """
        if not isolation.isolates and not (trust_students or self.minimum_tier):
            raise CourseError(
                f"this machine can't isolate student code ({isolation.failures()}). `autograder "
                "doctor` says what to do; --trust-students grades without isolation"
            )
        if self.minimum_tier and not isolation.reaches(self.minimum_tier):
            raise CourseError(
                f"this course demands isolation tier {self.minimum_tier} "
                f"(c.Course.minimum_tier in {self.root / CONFIG}), and this machine gives tier "
                f"{isolation.tier} ({isolation.failures()}). `autograder doctor` says how to get a "
                "better one"
            )

    @property
    def private(self) -> tuple[int, int]:
        """Modes of files and folders that are for whoever gives the course alone."""
        shared = self.config.CourseDirectory.get("groupshared", False)
        return (0o660, 0o2770) if shared else (0o600, 0o700)

    @property
    def database(self) -> str:
        """The address of nbgrader's gradebook."""
        default = f"sqlite:///{self.root / 'gradebook.db'}"
        return str(self.config.CourseDirectory.get("db_url", default))


def line_of(path: Path, text: str) -> str:
    """Return a file, with the line where a text stands, quoted in either way, if it does."""
    lines = path.read_text(errors="replace").splitlines()
    found = next((n for n, line in enumerate(lines, 1) if text in line.replace("'", '"')), 0)
    return f"{path}:{found}" if found else str(path)


def _around(root: Path) -> Path | None:
    """Return the course in whose folders for what students hand in a folder lies."""
    for parent in root.parents:
        if (parent / CONFIG).is_file() and root.relative_to(parent).parts[0] in _OF_STUDENTS:
            return parent
    return None


def _shows_password(path: Path, config: Config) -> bool:
    """Tell whether the password of the gradebook's server stands in the file itself."""
    url = str(config.CourseDirectory.get("db_url", ""))
    login = re.match(r"[^:/]+://([^/?#@]*:[^/?#@]+@)", url)
    written = login is not None and login[1] in path.read_text(errors="replace")
    return written or has_password_behind(url)


def has_password_behind(url: str) -> bool:
    """Tell whether an address says a password behind its question mark, where it is printed."""
    asked = parse_qsl(url.partition("?")[2], keep_blank_values=True)
    return any(name.casefold() in _PASSWORDS for name, _ in asked)
