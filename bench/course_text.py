"""Write the text that a14 ships, from which its models learn: the lessons of this course.

    python bench/course_text.py [--save FOLDER]

`course.txt` is the prose of the notebooks 1 to 13, as it stood on 26 November 2026: their Markdown
cells in order, with a blank line between them, without code, stubs or answers.  `merges.npy` holds
the first 744 merges that byte-pair encoding finds in it, a row of two ids for each.

Both files are frozen.  Lessons go on to change and these do not, so that what models reach, and
what exercises say of the text, stays as measured: without `--save` the script says how far today's
lessons are from the frozen text, and finds the merges anew.
"""

import argparse
import difflib
import hashlib
from pathlib import Path

import numpy as np

from autograder.course.config import Course
from autograder.course.discover import load_assignment

ROOT = Path(__file__).parents[1]
SHIPPED = ROOT / "assignments" / "a14_text" / "data"
TEXT = "3e53a450dc12ff057f5fe6638f9f852afd6aee004a03b4837d3d409fcc5ef3f8"
MERGES = "c54b17a3a0769ded0eed70131c43e6ac1e96f6b0278396f6bc824a74575de593"
VOCABULARY = 1000


def lessons() -> str:
    """Return the prose of the notebooks in front of a14, as it is now."""
    course = Course.load(ROOT)
    before = [load_assignment(course, id) for id in course.titles if id < "a14"]
    prose = [c.source.strip() for each in before for c in each.cells if c.kind == "markdown"]
    return "\n\n".join(prose) + "\n"


def merges(text: bytes, vocabulary: int = VOCABULARY) -> np.ndarray:
    """Return the merges of byte-pair encoding: the commonest pair, of several the smallest ids.

    >>> merges(b"abababc", 258).tolist()
    [[97, 98], [256, 256]]
    """
    ids, found = np.frombuffer(text, np.uint8).astype(int), []
    for new in range(256, vocabulary):
        pairs = ids[:-1] * vocabulary + ids[1:]
        counts = np.bincount(pairs, minlength=vocabulary**2)
        pair = int(counts.argmax())
        if counts[pair] < 2:
            break
        found.append(divmod(pair, vocabulary))
        ids = merged(ids, *found[-1], new)
    return np.array(found)


def merged(ids: np.ndarray, one: int, two: int, new: int) -> np.ndarray:
    """Return ids with a pair merged from left to right, where copies of it may overlap.

    >>> merged(np.array([7, 7, 7, 8, 7, 7]), 7, 7, 9).tolist()
    [9, 7, 8, 9]
    """
    at = np.flatnonzero((ids[:-1] == one) & (ids[1:] == two))
    if one == two:  # of a run of neighbouring places every other one
        starts = np.diff(at, prepend=-2) != 1
        first = np.maximum.accumulate(np.where(starts, at, 0))
        at = at[(at - first) % 2 == 0]
    ids = ids.copy()
    ids[at] = new
    return np.delete(ids, at + 1)


def digest(path: Path) -> str:
    """Return by what a file is known."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main() -> None:
    """Write the files, or compare them with what would be written now."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--save", type=Path, metavar="FOLDER", help="write the files there")
    save = parser.parse_args().save
    if save:
        (save / "course.txt").write_text(lessons(), encoding="utf-8", newline="\n")
        np.save(save / "merges.npy", merges((save / "course.txt").read_bytes()).astype(np.int16))
    folder = save or SHIPPED
    for name, known in (("course.txt", TEXT), ("merges.npy", MERGES)):
        found = digest(folder / name)
        print(f"{name}: {found}, {'as' if found == known else 'not as'} recorded")
    text = (SHIPPED / "course.txt").read_text(encoding="utf-8")
    same = difflib.SequenceMatcher(None, text.split("\n\n"), lessons().split("\n\n")).ratio()
    print(f"{len(text.split()):,} words; {same:.0%} of the paragraphs are in today's lessons")
    again = merges(text.encode())
    shipped = np.load(SHIPPED / "merges.npy")
    print(f"the {len(again)} merges are {'' if np.array_equal(again, shipped) else 'not '}found")


if __name__ == "__main__":
    main()
