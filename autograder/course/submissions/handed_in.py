"""Read what students handed in, and put it into the shape that was released.

A notebook arrives with cells deleted, moved, doubled or edited.  Answers are taken from where
they are; everything that isn't the student's to change comes from the release.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from autograder.course.config import Course
from autograder.course.opening import LinkRefused, NotOrdinary, TooLarge, read_once
from autograder.course.release.handed_out import Release
from autograder.course.submissions.hand_in import hand_in
from autograder.exercise.cache import copied
from autograder.grading.budget import Exhausted, judging
from autograder.grading.demonstrations import TAG, unneeded
from autograder.student.notebook import CHECK, check_of, grade_id, new_cell, source_of

MAX_BYTES = 20 * 2**20
_Read = TypeVar("_Read")
_Named = tuple[str, dict[str, Any]]  # a cell with its grade_id, "" where it isn't of the release
_PICTURES = ("image/png", "image/jpeg", "image/gif")
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]*+={0,2}\s*")


class Unreadable(Exception):
    """The file can't be graded; the message is a sentence for the student."""


@dataclass(frozen=True)
class Handed:
    """Where one submission is.

    Attributes
    ----------
    team
        Whose it is, where several handed it in together; the student is one of them.
    """

    student: str
    assignment: str
    path: Path
    team: tuple[str, ...] = ()


def submissions(course: Course, assignment: str) -> list[Handed]:
    """Return what was handed in for an assignment, by student.

    A student's folder without the expected notebook counts when it holds any notebook, so that
    a renamed file is found and its owner told.
    """
    found = []
    for folder in sorted(course.folder("submitted").glob(f"*/{assignment}")):
        student, path = folder.parent.name, folder / f"{assignment}.ipynb"
        others = sorted(folder.glob("*.ipynb"))
        if path.is_symlink() or path.exists() or others:
            there = path.is_symlink() or path.exists()
            team = hand_in(course, student, assignment).team
            found.append(Handed(student, assignment, path if there else others[0], team))
    return found


def empty_folders(course: Course, assignment: str, handed: Sequence[Handed]) -> list[Path]:
    """Return the folders of students that hold no notebook: what was ``handed`` lies elsewhere."""
    others = {*course.folder("submitted").glob(f"*/{assignment}")} - {h.path.parent for h in handed}
    return sorted(folder for folder in others if folder.is_dir())


def read_notebook(path: Path) -> dict[str, Any]:
    """Read a notebook file, whatever it holds.

    Raises
    ------
    Unreadable
        If it is a link, too large, not JSON or not a notebook.
    """
    return parse_notebook(read_content(path))


def read_content(path: Path) -> bytes:
    """Read the file alone.

    Raises
    ------
    Unreadable
        If it is a link, or too large.
    """
    try:
        return read_once(path, MAX_BYTES)
    except LinkRefused:
        raise Unreadable("The file is a symbolic link; hand in the notebook itself.") from None
    except TooLarge as error:
        raise Unreadable(
            f"The notebook has {error.size / 2**20:.0f} MB and at most {MAX_BYTES // 2**20} are "
            "read; clear its outputs and hand it in again."
        ) from None
    except (NotOrdinary, FileNotFoundError, NotADirectoryError):
        raise Unreadable(f"There is no file {path.name}.") from None


def parse_notebook(content: bytes) -> dict[str, Any]:
    """Return the notebook that a file holds.

    Raises
    ------
    Unreadable
        If it is not JSON or not a notebook.
    """
    notebook = _within_budget(lambda: _json(content))
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise Unreadable("The file is not a notebook of format 4: it has no list of cells.")
    return notebook


def _json(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise Unreadable("The file is not a notebook: it does not hold JSON.") from None


def restore(notebook: dict[str, Any], release: Release) -> tuple[dict[str, Any], list[str]]:
    """Return the submitted notebook in the released shape, and notices for the student.

    Raises
    ------
    Unreadable
        If none of its cells is of this assignment, or if it takes more time or memory than any
        notebook.
    """
    restored, notices = _within_budget(lambda: _restored(notebook, release))
    _spare(restored["cells"], release)
    return restored, notices


def _within_budget(work: Callable[[], _Read]) -> _Read:
    """Do what a student's file alone decides: what is too much is the file's fault, not ours."""
    try:
        return judging("the notebook", work)
    except Exhausted:
        raise Unreadable(
            "Reading this notebook takes more time or memory than any needs, so it was stopped: "
            "delete the cells that are not part of your work, and hand it in again."
        ) from None


def _restored(notebook: dict[str, Any], release: Release) -> tuple[dict[str, Any], list[str]]:
    released = release.cells
    submitted = [(grade_id(cell), cell) for cell in map(_plain, notebook["cells"]) if cell]
    if released.keys().isdisjoint(id for id, _ in submitted):
        raise Unreadable(
            f"None of the cells is of {release.assignment}: this is the notebook of another "
            "assignment, or its cells were made anew."
        )
    notices: list[str] = []
    cells: list[_Named] = []
    seen: set[str] = set()
    for id, cell in submitted:
        if id in released and id not in seen:
            seen.add(id)
            cells.append((id, _as_released(id, cell, released[id], notices)))
            continue
        if id in released:
            if _locked(released[id]):
                notices.append(f"The check cell `{id}` was there twice; one of them counts.")
                continue
            notices.append(f"The cell of `{id}` was there twice; both were run, in their order.")
        cell["metadata"].pop("nbgrader", None)
        cells.append(("", cell))
    for id, cell in released.items():
        if id not in seen:
            notices.append(_missing(id, cell))
            _insert(cells, (id, _blank(cell)))
    position = {id: i for i, (id, _) in enumerate(cells)}
    for id in [id for id in released if id.startswith(CHECK)]:
        if position[id] < position[id.removeprefix(CHECK)]:
            notices.append(
                f"The check cell `{id}` stood before its answer; it was moved behind it."
            )
            _insert(cells, cells.pop(_position(cells, id)))
    shape = {key: release.notebook[key] for key in ("metadata", "nbformat", "nbformat_minor")}
    return {
        **copied(shape),
        "cells": [_identified(c, i) for i, (_, c) in enumerate(cells)],
    }, notices


def _spare(cells: list[dict[str, Any]], release: Release) -> None:
    """Tag the demonstrations that need not run."""
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    for i in unneeded([cell["source"] for cell in code], release.demonstrations):
        code[i]["metadata"]["tags"] = [TAG]


def _plain(cell: object) -> dict[str, Any] | None:
    """Take from a submitted cell what is used: type, text, metadata.  Outputs are dropped."""
    if not isinstance(cell, dict) or cell.get("cell_type") not in ("code", "markdown", "raw"):
        return None
    metadata = cell.get("metadata")
    nbgrader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    return _cell(
        cell["cell_type"],
        # JSON may hold half a surrogate pair, which no file can
        source_of(cell).encode("utf-8", "replace").decode(),
        {"nbgrader": dict(nbgrader)} if isinstance(nbgrader, dict) else {},
        _pictures(cell.get("attachments")) if cell["cell_type"] == "markdown" else {},
    )


def _pictures(attachments: object) -> dict[str, dict[str, str]]:
    """Keep the pictures that were pasted into a cell; other attachments could be anything."""
    found = {}
    for name, data in attachments.items() if isinstance(attachments, dict) else ():
        for kind, content in data.items() if isinstance(data, dict) else ():
            if kind in _PICTURES and isinstance(content, str) and _BASE64.fullmatch(content):
                found[name.encode("utf-8", "replace").decode()] = {kind: content}
    return found


def _cell(
    kind: str,
    source: str,
    metadata: dict[str, Any],
    pictures: dict[str, dict[str, str]] | None = None,
) -> dict[str, Any]:
    return new_cell(kind, source, metadata) | ({"attachments": pictures} if pictures else {})


def _as_released(
    id: str, cell: dict[str, Any], original: dict[str, Any], notices: list[str]
) -> dict[str, Any]:
    source = cell["source"]
    if _locked(original):
        if source.strip() != original["source"].strip():
            notices.append(f"The check cell `{id}` was edited; the released one was run.")
        source = original["source"]
    elif cell["cell_type"] != original["cell_type"]:
        notices.append(f"The cell of `{id}` had become {cell['cell_type']}; it was changed back.")
    kind = original["cell_type"]
    pictures = cell.get("attachments") if kind == "markdown" and not _locked(original) else None
    return _cell(kind, source, copied(original["metadata"]), pictures)


def _blank(original: dict[str, Any]) -> dict[str, Any]:
    """Stand in for a deleted cell: a stub run now would undo answers written elsewhere."""
    keep = _locked(original) or original["cell_type"] == "markdown"
    source = original["source"] if keep else "# this cell was deleted"
    return _cell(original["cell_type"], source, copied(original["metadata"]))


def _missing(id: str, cell: dict[str, Any]) -> str:
    if _locked(cell):
        return f"The check cell `{id}` was deleted; it was put back."
    return f"The cell of `{id}` was deleted; what other cells define was graded."


def _insert(cells: list[_Named], named: _Named) -> None:
    """Put a check cell right behind its answer, an answer before its check, others last."""
    id = named[0]
    answer = _position(cells, id.removeprefix(CHECK)) if id.startswith(CHECK) else -1
    check = _position(cells, check_of(id))
    cells.insert(answer + 1 if answer >= 0 else check if check >= 0 else len(cells), named)


def _position(cells: list[_Named], id: str) -> int:
    return next((i for i, (name, _) in enumerate(cells) if name == id), -1)


def _identified(cell: dict[str, Any], index: int) -> dict[str, Any]:
    """Give the cell an id of ours: format 4.5 wants one, and a submitted one may be anything."""
    return {"id": f"cell-{index:04d}", **cell}


def _locked(cell: dict[str, Any]) -> bool:
    return not cell["metadata"]["nbgrader"].get("solution")


def texts(notebook: Mapping[str, Any]) -> dict[str, str]:
    """Return the text of each of a notebook's cells that has a grade_id."""
    return {id: source_of(cell) for cell in notebook["cells"] if (id := grade_id(cell))}


def as_released(notebook: Mapping[str, Any], release: Release) -> set[str]:
    """Return the grade_ids of cells that nobody has written in."""
    released = release.cells
    return {
        id
        for id, text in texts(notebook).items()
        if id in released and text == released[id]["source"]
    }
