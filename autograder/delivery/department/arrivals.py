"""What has arrived in a folder or in nbgrader's exchange, and whether it is all there."""

from __future__ import annotations

import stat
import time
from dataclasses import dataclass, field
from pathlib import Path

from autograder.course.config import Course, CourseError
from autograder.course.opening import NotOrdinary, listed, read_once
from autograder.course.submissions.handed_in import MAX_BYTES, Unreadable, parse_notebook
from autograder.delivery.nbgrader.exchange import inbound

#: Seconds between two looks, of which the second tells whether a file still grows.
SETTLE = 2.0
#: So many seconds a file may be unfinished before a person is told.
PATIENCE = 60.0

#: Size and time of a file: another one is another file, or more of it.
Stamp = tuple[int, int]


def stamp(path: Path) -> Stamp | None:
    """Return a file's size and time, or None where there is none, or a link."""
    try:
        status = path.lstat()
    except OSError:
        return None
    return None if stat.S_ISLNK(status.st_mode) else (status.st_size, status.st_mtime_ns)


@dataclass
class Arrivals:
    """A folder that notebooks are put into, looked at again and again.

    A notebook is there once it has not grown between two looks and holds JSON.

    Attributes
    ----------
    unfinished
        The notebooks that aren't, as paths inside the folder, with what is the matter.
    """

    folder: Path
    unfinished: dict[str, str] = field(default_factory=dict)
    _last: dict[str, Stamp] = field(default_factory=dict)
    _whole: dict[str, Stamp] = field(default_factory=dict)
    _since: dict[str, float] = field(default_factory=dict)
    _taken: dict[str, Stamp] | None = None

    def look(self) -> bool:
        """Look at the folder; tell whether something is there that was not taken yet.

        Raises
        ------
        CourseError
            If there is no such folder.
        """
        first = self._stamps()
        if first != self._last:
            time.sleep(SETTLE)
        self._last = self._stamps()
        lacks = {path: self._lacks(path, first.get(path)) for path in self._last}
        self.unfinished = {path: why for path, why in lacks.items() if why}
        moment = time.monotonic()
        self._since = {path: self._since.get(path, moment) for path in self.unfinished}
        return self.finished() != self._taken

    def taken(self) -> None:
        """Note that what is there was taken."""
        self._taken = self.finished()

    def overdue(self) -> dict[str, str]:
        """Return what has been unfinished for so long that a person should look."""
        late = time.monotonic() - PATIENCE
        return {path: why for path, why in self.unfinished.items() if self._since[path] <= late}

    def finished(self) -> dict[str, Stamp]:
        """Return the files that are all there, as they are."""
        return {path: now for path, now in self._last.items() if path not in self.unfinished}

    def _stamps(self) -> dict[str, Stamp]:
        if not self.folder.is_dir():
            raise CourseError(f"{self.folder} is no folder: make it, or name another with --from")
        return {
            entry.path: (entry.size, entry.changed)
            for entry in listed(self.folder)
            if entry.mode and not (stat.S_ISDIR(entry.mode) or stat.S_ISLNK(entry.mode))
        }

    def _lacks(self, path: str, before: Stamp | None) -> str:
        """Say what a file lacks; nothing if it is all there."""
        now = self._last[path]
        if before != now:
            return "it is still being written"
        if not path.endswith(".ipynb") or self._whole.get(path) == now:
            return ""
        try:
            parse_notebook(read_once(self.folder / path, MAX_BYTES, beneath=self.folder))
        except NotOrdinary:
            return ""  # whoever collects it says what is wrong
        except (OSError, Unreadable):
            return "it holds no JSON: half of a notebook, or none"
        self._whole[path] = now
        return ""


@dataclass
class Inbound:
    """The folder of nbgrader's exchange that students hand in to.

    Whether a submission is all there, nbgrader's last files in it tell when it is collected.
    """

    _taken: dict[str, list[str]] = field(default_factory=dict)
    _now: dict[str, list[str]] = field(default_factory=dict)

    def look(self, course: Course, ids: list[str]) -> list[str]:
        """Return the assignments of which something is there that was not taken yet."""
        entries: dict[str, list[str]] = {id: [] for id in ids}
        folder = inbound(course)
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            for id in ids:
                if f"+{id}+" in path.name:
                    entries[id].append("/".join([path.name, *_names(path)]))
        self._now = entries
        return [id for id in ids if entries[id] != self._taken.get(id, [])]

    def taken(self, ids: list[str]) -> None:
        """Note that what is there of these assignments was taken."""
        self._taken |= {id: self._now[id] for id in ids}


def _names(folder: Path) -> list[str]:
    try:
        return sorted(path.name for path in folder.iterdir())
    except OSError:  # no folder, or not opened to us yet
        return []
