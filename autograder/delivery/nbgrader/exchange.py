"""nbgrader's exchange: the folder through which JupyterHub users get and hand in assignments."""

from __future__ import annotations

import re
import shutil
import stat
import warnings
from datetime import datetime
from fnmatch import fnmatch, fnmatchcase
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.default.collect import ExchangeCollect
from nbgrader.exchange.default.release_assignment import ExchangeReleaseAssignment
from nbgrader.exchange.default.release_feedback import ExchangeReleaseFeedback
from nbgrader.utils import check_mode
from traitlets.config import Config

from autograder.course.config import Course, CourseError
from autograder.course.submissions.hand_in import COLLECTED
from autograder.delivery.nbgrader.exchange_owners import not_the_instructors, unsafe
from autograder.delivery.nbgrader.handed_over import (
    InboundName,
    NotTaken,
    check_owner,
    contents,
    read_name,
)
from autograder.delivery.nbgrader_settings import nbgrader_config

NOT_COLLECTED = "is not collected"
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_KILO = 1000  # nbgrader's limits are in so many bytes


class CollectFiles(ExchangeCollect):  # type: ignore[misc]
    """Collect what students handed in as themselves; it takes the place of nbgrader's.

    nbgrader's follows links, with the rights of whoever collects, believes what a folder's name
    says of its owner and its time, and gives up on all where one name can't be read. A submission
    that can't be taken is left and named, and replaces nothing.
    """

    src_records: list[dict[str, Any]]

    def init_src(self) -> None:
        """Look for submissions: of each student the latest one that is the student's own."""
        if not self.coursedir.course_id:
            self.fail("No course id specified. Re-run with --course flag.")
        self.course_path = str(Path(self.root) / self.coursedir.course_id)
        self.inbound_path = str(Path(self.course_path) / "inbound")
        if not Path(self.inbound_path).is_dir():
            self.fail(f"Course not found: {self.inbound_path}")
        if not check_mode(self.inbound_path, read=True, execute=True):
            self.fail(f"You don't have read permissions for the directory: {self.inbound_path}")
        _refuse_strangers(self)
        due = self._due() if self.before_duedate else None
        own: dict[str, list[InboundName]] = {}
        for name in self._names():
            own.setdefault(name.student, []).append(name)
        latest = [_latest(names, due) for names in own.values()]
        self.src_records = [
            {"username": n.student, "filename": n.folder, "timestamp": n.time, "name": n}
            for n in latest
        ]

    def copy_files(self) -> None:
        """Copy what is new, whole or not at all."""
        what = f"submissions of '{self.coursedir.assignment_id}' for course"
        self.log.info(f"Processing {len(self.src_records)} {what} '{self.coursedir.course_id}'")
        for record in self.src_records:
            name: InboundName = record["name"]
            to = Path(
                self.coursedir.format_path(
                    self.coursedir.submitted_directory, name.student, self.coursedir.assignment_id
                )
            )
            if not self._is_wanted(name, to):
                self.log.info(f"No newer submission to collect: {name.student} {to.name}")
                continue
            try:
                files = self._files(name)
            except NotTaken as reason:
                self._left(name.folder, reason)
                continue
            self.log.info(f"Collecting submission: {name.student} {to.name}")
            self._write(files, to)

    def _names(self) -> list[InboundName]:
        """Return the hand-ins of the assignment that belong to those whom they name."""
        assignment, wanted = self.coursedir.assignment_id, self.coursedir.student_id or "*"
        found = []
        for folder in sorted(path.name for path in Path(self.inbound_path).iterdir()):
            if f"+{assignment}+" not in folder:
                continue
            try:
                name = read_name(folder, assignment)
                if not fnmatchcase(name.student, wanted):
                    continue
                if self.check_owner:
                    check_owner(Path(self.inbound_path), name)
            except NotTaken as reason:
                self._left(folder, reason)
            else:
                found.append(name)
        return found

    def _due(self) -> datetime | None:
        with Gradebook(self.coursedir.db_url, self.coursedir.course_id) as book:
            try:
                due: datetime | None = book.find_assignment(self.coursedir.assignment_id).duedate
            except MissingEntry:
                return None
        return due

    def _is_wanted(self, name: InboundName, to: Path) -> bool:
        if not to.is_dir():
            return True
        there = self.coursedir.get_existing_timestamp(str(to))
        if self.update and (there is None or name.time > there):
            return True
        return bool(self.before_duedate and there != name.time)

    def _files(self, name: InboundName) -> dict[str, bytes]:
        """Return what is copied, by nbgrader's settings of what is."""
        most = _KILO * self.coursedir.max_dir_size
        files = contents(Path(self.inbound_path), name, most=most, owned=self.check_owner)
        largest, kept = _KILO * self.coursedir.max_file_size, {}
        for path, content in files.items():
            parts = path.split("/")
            ignored = path == COLLECTED  # what it says, platforms say
            ignored |= any(fnmatch(p, glob) for p in parts for glob in self.coursedir.ignore)
            if not ignored and any(fnmatch(parts[-1], glob) for glob in self.coursedir.include):
                if len(content) > largest:
                    self.log.warning(f"Ignoring file too large '{name.folder}/{path}'")
                else:
                    kept[path] = content
        return kept

    def _write(self, files: dict[str, bytes], to: Path) -> None:
        part = to.with_name(f".{to.name}.part")
        shutil.rmtree(part, ignore_errors=True)  # left by a process that was killed
        part.mkdir(parents=True)
        for path, content in files.items():
            (part / path).parent.mkdir(parents=True, exist_ok=True)
            (part / path).write_bytes(content)
        if self.coursedir.groupshared:
            for place in (part, *part.rglob("*")):
                place.chmod(0o2770 if place.is_dir() else 0o660)
        if to.is_dir():
            shutil.rmtree(to)
        part.rename(to)

    def _left(self, folder: str, reason: Exception) -> None:
        shown = _CONTROL.sub("?", folder)  # a line of the log is a line
        self.log.warning("%s %s: %s", shown, NOT_COLLECTED, _CONTROL.sub("?", str(reason)))


def _latest(names: list[InboundName], due: datetime | None) -> InboundName:
    """Return the last one before a due date; without either, the last."""
    timely = [name for name in names if due is not None and name.time <= due]
    return max(timely or names, key=lambda name: (name.time, name.folder))


class ReleaseFiles(ExchangeReleaseAssignment):  # type: ignore[misc]
    """Release as nbgrader does, into folders in which nobody can replace what is another's.

    nbgrader leaves its exchange, and what is handed in to, open to everybody: without the sticky
    bit that is leave to rename a whole course, and to put another one in its place.
    """

    def ensure_root(self) -> None:
        """Make the exchange, and see that it is sticky."""
        super().ensure_root()
        self._stick(self.root)

    def init_dest(self) -> None:
        """Make the course's folders."""
        _refuse_strangers(self)
        super().init_dest()
        self._stick(self.inbound_path)

    def _stick(self, folder: str) -> None:
        path = Path(folder)
        mode = path.stat().st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            try:
                path.chmod(stat.S_IMODE(mode) | stat.S_ISVTX)
            except PermissionError:
                self.log.warning(f"The exchange directory {path} is not yours: {unsafe(path)}")


class FeedbackFiles(ExchangeReleaseFeedback):  # type: ignore[misc]
    """Publish feedback as nbgrader does, into a folder that is the instructor's."""

    def init_dest(self) -> None:
        """Make the folder that students fetch feedback from."""
        _refuse_strangers(self)
        super().init_dest()


def _refuse_strangers(action: Any) -> None:
    """Let an action of nbgrader's fail where somebody else has put the course there."""
    course = Path(action.root) / action.coursedir.course_id
    if found := not_the_instructors(action.coursedir.root, course):
        action.fail(found[0])


def inbound(course: Course) -> Path:
    """Return the folder of the exchange that students hand in to."""
    return exchange_root(course) / course.id / "inbound"


def exchange_root(course: Course) -> Path:
    """Return the folder of the exchange."""
    config = _config(course)
    return Path(CollectFiles(coursedir=CourseDirectory(config=config), config=config).root)


def run(course: Course, action: str, assignment: str, *arguments: str) -> str:
    """Run an action of nbgrader's API and return its log.

    Parameters
    ----------
    action
        ``release_assignment``, ``collect`` or ``release_feedback``.
    arguments
        A student, where the action takes one.

    Raises
    ------
    CourseError
        If nbgrader reports an error, with the sentences that it logged.
    """
    config = _config(course)
    api = NbGraderAPI(coursedir=CourseDirectory(config=config), config=config)
    with warnings.catch_warnings():  # nbgrader misspells an argument of its own
        warnings.filterwarnings("ignore", ".*unrecognized arguments", DeprecationWarning)
        result = getattr(api, action)(assignment, *arguments)
    log = str(result.get("log", ""))
    if not result["success"]:
        said = re.findall(r"^\[(?:ERROR|CRITICAL)\] (.*)$", log, re.M) or [result["error"]]
        raise CourseError(
            f"nbgrader's exchange ({api.exchange_root}) refuses {assignment}: {' '.join(said)}"
        )
    return log


def _config(course: Course) -> Config:
    config = nbgrader_config(course)
    config.CourseDirectory.root = str(course.root)
    # Releasing again replaces what was released: otherwise a correction would not get out.
    config.ExchangeReleaseAssignment.force = True
    return config
