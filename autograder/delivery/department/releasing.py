"""Write release/, and hand it to students.

nbgrader's exchange is imported where it is used: it brings nbgrader's commands, 0.3 seconds.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

import nbformat

from autograder.course.config import Course, CourseError
from autograder.course.discover import Assignment, load_assignment, text_of
from autograder.course.files import write_atomically
from autograder.course.people.roster import declared
from autograder.course.proofs.guessing import hold_to_limit
from autograder.course.release.build import build, stale
from autograder.course.release.leak import leaks
from autograder.course.release.overview import in_words
from autograder.course.release.shipping import shared
from autograder.course.release.standing import Made, remember, sources, standing
from autograder.course.side_by_side import side_by_side
from autograder.delivery.nbgrader.gradebook import register, seal
from autograder.delivery.nbgrader.people import add_students
from autograder.delivery.nbgrader_settings import nbgrader_config
from autograder.delivery.platforms.zips import zipped
from autograder.student.notebook import grade_id, source_of


@dataclass(frozen=True)
class Drift:
    """A released file that isn't what its assignment generates now."""

    assignment: str
    file: str
    message: str

    def __str__(self) -> str:
        return f"release/{self.assignment}/{self.file}: {self.message}"


def generate(
    course: Course,
    ids: Sequence[str],
    *,
    check: bool = False,
    held: bool = True,
    jobs: int = 1,
    progress: Callable[[list[str]], object] = lambda _: None,
) -> list[Drift]:
    """Generate assignments into release/ and register them in the gradebook.

    Parameters
    ----------
    check
        Only compare: nothing is written or registered.
    held
        Hold the assignments to what may be guessed; a demonstration hands nothing out.
    jobs
        So many assignments at the same time.
    progress
        Called with what is to be said of each assignment when that is done.

    Returns
    -------
    list of Drift
        What was not up to date.  Without ``check`` it is now.

    Raises
    ------
    CourseError
        If an exercise can't be loaded, something of the reference would leak, too much is earned
        without a thought, the gradebook refuses the notebook, or nbgrader's own commands would run
        submissions unprotected.
    """
    nbgrader_config(course)
    drifts = []
    as_before = {id: was for id in ids if (was := standing(course, id, held))}
    changed = [id for id in ids if id not in as_before]
    made = side_by_side(partial(_made, course, held), course, changed, jobs)
    for id in ids:
        one = as_before.get(id) or next(made)
        files = one.files
        folder = course.folder("release") / id
        found = _compare(id, files, folder)
        drifts += found
        if not check:
            register(course, id, json.loads(files[f"{id}.ipynb"]))
            for drift in found:
                path = folder / drift.file
                if drift.file in files:
                    _place(path, files[drift.file])
                elif path.is_dir():
                    shutil.rmtree(path)
                else:
                    path.unlink()
            _offer(course, id, files)
        if id not in as_before and not (check and found):
            remember(course, id, one)
        progress(one.said)
    if not check:
        add_students(course, declared(course))
    return drifts


def _made(course: Course, held: bool, id: str) -> Made:
    """Return the files of an assignment, what is to be said of it, and what it was made from."""
    assignment = load_assignment(course, id)
    made_from = sources(assignment, str(held))
    files = _built(assignment)
    if held:
        hold_to_limit(assignment)
    return Made(files, in_words(assignment), made_from)


def _place(path: Path, content: bytes) -> None:
    """Write a released file: what assignments share lies beside them once, and is linked.

    nbgrader's exchange and our zip files follow links; where there are none, it is copied.
    """
    if shared().get(path.name) != content:
        write_atomically(path, content)
        return
    one = path.parent.parent / path.name
    if not one.is_file() or one.read_bytes() != content:
        write_atomically(one, content)
    try:
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        path.symlink_to(Path("..", path.name))
    except OSError:
        write_atomically(path, content)


def _offer(course: Course, id: str, files: dict[str, bytes]) -> None:
    """Put what is released into source/ as well.

    formgrader lists what is there, and its Generate button makes release/ from it again.
    """
    folder = course.folder("source") / id
    for name, content in files.items():
        path = folder / name
        if not path.is_file() or path.read_bytes() != content:
            write_atomically(path, content)


def hand_out(course: Course, ids: Sequence[str], to: str | Path) -> list[str]:
    """Hand generated assignments to students; return what was done, a line for each.

    Parameters
    ----------
    to
        ``"exchange"`` for nbgrader's, where an earlier release of an assignment is replaced; or
        the path of a zip file for a learning platform.

    Raises
    ------
    CourseError
        If an assignment isn't generated yet, too much of it is earned without a thought, or the
        exchange refuses it.
    """
    folders = {id: course.folder("release") / id for id in ids}
    for id, folder in folders.items():
        if not (folder / f"{id}.ipynb").is_file():
            raise CourseError(f"{id} isn't generated yet: run `autograder generate {id}`")
    for id in ids:
        if text_of(course, id).is_file():  # a copy for handing out may have no references
            hold_to_limit(load_assignment(course, id))
    if to == "exchange":
        from autograder.delivery.nbgrader.exchange import run

        lines = []
        for id in ids:
            log = run(course, "release_assignment", id)
            # nbgrader makes the exchange's folder, open to everybody: nobody should miss that.
            lines += re.findall(r"^\[WARNING\] (.*exchange directory.*)$", log, re.M)
            places = re.findall(r"^\[INFO\] Destination: (.*)$", log, re.M)[-1:]
            lines.append(", ".join([f"{id}: released to the exchange", *places]))
        return lines
    if Path(to).suffix != ".zip":
        raise CourseError(f"assignments go to `exchange` or to a .zip file, not to {to}")
    files = {
        f"{id}/{path.name}": path.read_bytes()
        for id, folder in folders.items()
        for path in sorted(folder.glob("[!._]*"))
    }
    write_atomically(Path(to), zipped(files))
    return [f"{', '.join(ids)}: written to {to}"]


def _built(assignment: Assignment) -> dict[str, bytes]:
    """Return the files of release/<assignment>/ as they should be, by name."""
    id = assignment.id
    files = build(assignment)
    if found := leaks(assignment, files):
        raise CourseError(f"{id} would give away answers:\n" + "\n".join(found))
    sealed = nbformat.from_dict(seal(json.loads(files[f"{id}.ipynb"])))
    text: str = nbformat.writes(sealed, version=4)
    return {**files, f"{id}.ipynb": text.rstrip("\n").encode() + b"\n"}


def _compare(id: str, files: dict[str, bytes], folder: Path) -> list[Drift]:
    found = []
    for name in stale(files, folder):
        if name not in files:
            message = "is no longer part of it"
        elif not (folder / name).is_file():
            message = "is missing"
        else:
            differs = _cells if name.endswith(".ipynb") else _lines
            message = differs((folder / name).read_bytes(), files[name])
        found.append(Drift(id, name, message))
    return found


def _lines(old: bytes, new: bytes) -> str:
    """Say where two texts part."""
    pairs = zip_longest(old.splitlines(), new.splitlines())
    number = next((n for n, (a, b) in enumerate(pairs, 1) if a != b), 0)
    return f"differs from line {number} on" if number else "differs in its line endings"


def _cells(old: bytes, new: bytes) -> str:
    """Say in which cells two notebooks differ."""
    try:
        before, after = (_by_name(json.loads(content)["cells"]) for content in (old, new))
    except (ValueError, KeyError, TypeError):
        return "is not a notebook"
    names = [
        f"{name} ({_kind(before, after, name)})"
        for name in {**after, **before}
        if before.get(name) != after.get(name)
    ]
    if not names:
        return "differs outside its cells"
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"differs in {', '.join(names[:5])}{more}"


def _by_name(cells: list[dict[str, Any]]) -> dict[str, Any]:
    """Name cells as teachers know them: by grade_id, or by how their text begins."""
    named = {}
    for cell in cells:
        text = source_of(cell).partition("\n")[0]
        named[grade_id(cell) or repr(text[:40])] = cell
    return named


def _kind(before: dict[str, Any], after: dict[str, Any], name: str) -> str:
    return "new" if name not in before else "removed" if name not in after else "changed"
