"""Whose the folders of nbgrader's exchange are, and what others can do there."""

from __future__ import annotations

import os
import pwd
import stat
from pathlib import Path


def not_the_instructors(course: Path | str, folder: Path | str) -> list[str]:
    """Say which of a course's folders in the exchange belong to somebody else.

    Theirs are the course's owner, whoever works on it now, and root.

    Parameters
    ----------
    course
        The course's own folder, with course_config.py.
    folder
        The course's folder in the exchange.
    """
    ours = {os.geteuid(), Path(course).stat().st_uid, 0}
    found = []
    for path in _folders(Path(folder)):
        try:
            status = path.lstat()
        except OSError:
            continue
        if not stat.S_ISDIR(status.st_mode) or status.st_uid not in ours:
            found.append(
                f"{path} belongs to {owner(status)} and not to whoever gives this course, so "
                "nothing is taken from it or put there: if you did not make it, somebody has put "
                "it in the place of yours"
            )
    return found


def unsafe(path: Path) -> str:
    """Say what is wrong with a folder that others can write to; nothing if it is sticky."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return ""
    if not mode & stat.S_IWOTH or mode & stat.S_ISVTX:
        return ""
    return (
        "everybody can rename and replace what is others' there; its owner should run "
        f"`chmod +t {path}`"
    )


def faults(course: Path, root: Path, id: str) -> list[str]:
    """Say what others can replace in the exchange, or have replaced."""
    folders = (root, *_folders(root / id), *_released(root / id))
    loose = [f"{path}: {said}" for path in folders if (said := unsafe(path))]
    return [*loose, *not_the_instructors(course, root / id)]


def _folders(course: Path) -> list[Path]:
    """Return a course's folder in the exchange, and those that nbgrader makes in it."""
    return [course, *(course / name for name in ("outbound", "inbound", "feedback"))]


def _released(course: Path) -> list[Path]:
    """Return the folders of assignments that students fetch."""
    try:
        return sorted((course / "outbound").iterdir())
    except OSError:
        return []


def described(root: Path, id: str) -> list[str]:
    """Say whose the exchange's folders are, and what everybody may do, a line for each."""
    lines = []
    for path in (root, *_folders(root / id), *_released(root / id)):
        try:
            status = path.lstat()
        except OSError:
            continue
        mode = stat.filemode(status.st_mode)
        lines.append(f"{path}: {mode}, belongs to {owner(status)}")
    return lines


def owner(status: os.stat_result) -> str:
    """Return the name of who owns a file, or the number where there is no name."""
    try:
        return pwd.getpwuid(status.st_uid).pw_name
    except KeyError:
        return f"user {status.st_uid}"
