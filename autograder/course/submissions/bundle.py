"""All that a grader needs of a course, in one piece, to be graded with on another machine."""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.course.config import CONFIG, Course, CourseError
from autograder.course.digests import engine_digest
from autograder.course.people.roster import roster_file
from autograder.course.secret import FILE as SECRET
from autograder.course.secret import secret_of

_CARRIES = re.compile(r"""carries\(\s*["'](\w+)/""")
_EPOCH = (
    1980,
    1,
    1,
    0,
    0,
    0,
)  # the first that a zip can hold: when a file was written says nothing


@dataclass(frozen=True)
class Bundle:
    """A course without its people's work: settings, references, releases and its secret.

    Whoever has it knows the answers.

    Attributes
    ----------
    digest
        Of the content, and of the engine that it was made with.
    content
        A zip.
    """

    digest: str
    content: bytes

    @classmethod
    def of(cls, course: Course, assignments: Sequence[str] = ()) -> Bundle:
        """Pack a course, with some assignments, and what these build on, or all.

        Raises
        ------
        CourseError
            If something of it stands outside of its folder.
        """
        secret_of(course)  # made, if nothing was graded before
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
            for path in sorted(_files(course, _with_what_they_need(course, assignments))):
                if not path.is_relative_to(course.root):
                    raise CourseError(
                        f"{path} stands outside of {course.root}: a course that is graded on "
                        "other machines has all that it needs in its own folder"
                    )
                name = path.relative_to(course.root).as_posix()
                archive.writestr(
                    zipfile.ZipInfo(name, _EPOCH), path.read_bytes(), zipfile.ZIP_DEFLATED
                )
        content = buffer.getvalue()
        return cls(digest_of(content), content)

    def unpack(self, folder: Path) -> Course:
        """Write it to a folder that nobody else reads, and load it.

        Raises
        ------
        CourseError
            If it is not what its digest says, or was packed by another version of the engine.
        """
        if digest_of(self.content) != self.digest:
            raise CourseError(
                "the course was packed by another version of the autograder than is installed here"
            )
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with zipfile.ZipFile(io.BytesIO(self.content)) as archive:
            archive.extractall(folder)
        return Course.load(folder)


def digest_of(content: bytes) -> str:
    """Return the digest of a packed course for the engine that is installed here."""
    return hashlib.sha256(engine_digest() + content).hexdigest()


def _with_what_they_need(course: Course, assignments: Sequence[str]) -> set[str]:
    """Return these assignments, and those whose references theirs carry on."""
    found: set[str] = set()
    waiting = {*(assignments or course.titles)}
    while waiting:
        found.add(id := waiting.pop())
        for path in (course.root / "reference" / id).glob("*.py"):
            waiting |= {*_CARRIES.findall(path.read_text(encoding="utf-8"))} - found
    return found


def _files(course: Course, assignments: set[str]) -> Iterator[Path]:
    yield course.root / CONFIG
    yield course.root / SECRET
    if (roster := roster_file(course)).is_file():
        yield roster
    for folder in (course.root / "reference", course.folder("release")):
        for path in folder.rglob("*"):
            inside = path.relative_to(folder).parts
            wanted = len(inside) == 1 or inside[0] in assignments  # all share the top
            if path.is_file() and path.suffix != ".pyc" and wanted:
                yield path
