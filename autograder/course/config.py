"""The course as course_config.py describes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from traitlets.config import Config, PyFileConfigLoader

from autograder.sandbox.isolation import TIERS, Isolation, Tier

CONFIG = "course_config.py"
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
    best
        Of parts of one name, marked by hand, that many count: by assignment, then by name.
    demo
        Assignments that `autograder demo` shows, where it does not show all.
    config
        Everything in course_config.py, nbgrader's own settings included.
    """

    root: Path
    id: str
    titles: dict[str, str]
    due: dict[str, str] = field(default_factory=dict)
    limits: dict[str, Any] = field(default_factory=dict)
    exercise_limits: dict[str, dict[str, Any]] = field(default_factory=dict)
    minimum_tier: Tier | None = None
    gpu: bool = True
    given: tuple[str, ...] = ()
    best: dict[str, dict[str, int]] = field(default_factory=dict)
    demo: tuple[str, ...] = ()
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
        except Exception as error:
            raise CourseError(f"{root / CONFIG} can't be read: {error}") from error
        listed = config.Course.get("assignments", [])
        try:
            titles = {entry["id"]: entry["title"] for entry in listed}
        except (TypeError, KeyError):
            raise CourseError(
                f"{root / CONFIG}: c.Course.assignments is a list of "
                '{"id": ..., "title": ...}, and every entry needs both'
            ) from None
        return cls(
            root,
            str(config.CourseDirectory.get("course_id", "") or root.name),
            titles,
            {entry["id"]: str(entry["due"]) for entry in listed if entry.get("due")},
            config.Course.get("limits", {}),
            config.Course.get("exercise_limits", {}),
            _minimum_tier(root, config),
            _gpu(root, config),
            _listed(root, config, "given", titles),
            {entry["id"]: _best(root, entry) for entry in listed if entry.get("best")},
            _listed(root, config, "demo", titles),
            config,
        )

    def ids(self, wanted: list[str] | None = None) -> list[str]:
        """Return assignment ids, all of them or those wanted (``a01`` is short for a01_softmax).

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
        found = []
        for name in wanted:
            hits = [id for id in self.titles if id == name or id.split("_")[0] == name]
            if not hits:
                raise CourseError(
                    f"{name} is no assignment of this course; it has {', '.join(self.titles)}"
                )
            found += hits
        return found

    def folder(self, step: str) -> Path:
        """Return nbgrader's folder of a step: release, submitted, autograded or feedback."""
        return self.root / str(self.config.CourseDirectory.get(f"{step}_directory", step))

    def submission(self, student: str, assignment: str, step: str = "submitted") -> Path:
        """Return where a student's notebook of an assignment is at some step."""
        return self.folder(step) / student / assignment / f"{assignment}.ipynb"

    def record(self, student: str, assignment: str) -> Path:
        """Return where the result record of a submission is."""
        return self.root / "records" / student / f"{assignment}.json"

    def demand(self, isolation: Isolation, *, trust_students: bool = False) -> None:
        """Refuse a machine whose isolation is too weak to grade on.

        Raises
        ------
        CourseError
            If it is weaker than ``c.Course.minimum_tier``, or there is none and no trust.
        """
        if isolation.tier == "C" and not (trust_students or self.minimum_tier):
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
    def database(self) -> str:
        """The address of nbgrader's gradebook."""
        default = f"sqlite:///{self.root / 'gradebook.db'}"
        return str(self.config.CourseDirectory.get("db_url", default))


def _around(root: Path) -> Path | None:
    """Return the course in whose folders for what students hand in a folder lies."""
    for parent in root.parents:
        if (parent / CONFIG).is_file() and root.relative_to(parent).parts[0] in _OF_STUDENTS:
            return parent
    return None


def _minimum_tier(root: Path, config: Config) -> Tier | None:
    wanted = config.Course.get("minimum_tier", None)
    for tier in TIERS[:-1]:
        if wanted == tier:
            return tier
    if wanted is None:
        return None
    raise CourseError(
        f"{root / CONFIG}: c.Course.minimum_tier is {wanted!r}; it is one of "
        f"{', '.join(map(repr, TIERS[:-1]))}, or left out"
    )


def _gpu(root: Path, config: Config) -> bool:
    wanted = config.Course.get("gpu", True)
    if not isinstance(wanted, bool):
        raise CourseError(f"{root / CONFIG}: c.Course.gpu is {wanted!r}; it is True or False")
    return wanted


def _listed(root: Path, config: Config, name: str, titles: dict[str, str]) -> tuple[str, ...]:
    listed = config.Course.get(name, [])
    if not isinstance(listed, list) or not titles.keys() >= {*map(str, listed)}:
        raise CourseError(
            f"{root / CONFIG}: c.Course.{name} is {listed!r}; it is a list of assignments of this "
            f"course, which are {', '.join(titles)}"
        )
    return tuple(listed)


def _best(root: Path, entry: dict[str, Any]) -> dict[str, int]:
    wanted = entry["best"]
    if isinstance(wanted, dict) and all(type(k) is int and k > 0 for k in wanted.values()):
        return {str(name): k for name, k in wanted.items()}
    raise CourseError(
        f'{root / CONFIG}: "best" of {entry["id"]} is {wanted!r}; it says how many of the parts of '
        'a name count, {"essay": 4}'
    )
