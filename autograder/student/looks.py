"""A look: is the graded answer to one part right, from boxes that open to those who have it.

A box is locked with the answer, rounded so that everything that counts as right rounds alike, and
with the code that a course may ask for.  What is inside, the right answer or the sentence on a
known mistake, nobody reads without; and trying one answer takes some seconds of a processor,
since a number that nobody knows is locked in as well.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from autograder.student.data import contents, variant_of
from autograder.student.display import brief
from autograder.student.judging import JUDGES
from autograder.student.readers import read
from autograder.student.reading import Reading, is_blank
from autograder.student.unreadable import FormatError

if TYPE_CHECKING:
    from autograder.student.released_files import Look, LookBoxes

#: Of scrypt: 16 MiB for each key.
COST, BLOCK = 1 << 14, 8
#: So many keys are tried for one answer, to find the one that it was locked with.
KEYS = 128
_TAG = 8  # bytes by which a key knows its box

_FOLLOWS = "what follows from an earlier answer of yours may count all the same"


def place_of(course: str, exercise: str, part: str, variant: int) -> str:
    """Return what tells the boxes of a part and a variant from all others."""
    return "\0".join((course, exercise, part, str(variant)))


def rounded(value: object, grid: float, shift: float) -> str:
    """Return the cells of a grid that numbers lie in, as text.

    >>> rounded([0.26, -0.1], 0.1, 0.05), rounded([7], 1, -0.5)
    ('2,-2', '7')
    """
    numbers = np.ravel(np.asarray(value, dtype=float))
    return ",".join(str(math.floor((number - shift) / grid)) for number in numbers)


def key_of(place: str, code: str, cells: str, number: int) -> bytes:
    """Return a key, slowly."""
    secret = "\0".join((code, cells, str(number))).encode()
    return hashlib.scrypt(secret, salt=place.encode(), n=COST, r=BLOCK, p=1, dklen=32)


def locked(key: bytes, content: dict[str, Any]) -> str:
    """Put something into a box; a key is for one box alone."""
    text = json.dumps(content).encode()
    tag, stream = _from(key, len(text))
    return base64.b64encode(tag + _mixed(text, stream)).decode()


def unlocked(key: bytes, boxes: list[str]) -> dict[str, Any] | None:
    """Return what is in the box that a key is for, if there is one."""
    for box in map(base64.b64decode, boxes):
        tag, stream = _from(key, len(box) - _TAG)
        if box.startswith(tag):
            found: dict[str, Any] = json.loads(_mixed(box[_TAG:], stream))
            return found
    return None


def seal_of(place: str, code: str) -> str:
    """Return by what a code is known to be the one; it is far too long to be found by trying."""
    return hashlib.sha256(f"{place}\0{code}".encode()).hexdigest()[:16]


def looked(
    exercise: str, found: Any, student: str, notebook: dict[str, Any], part: object, code: str
) -> list[str]:
    """Say of the answer to one part whether it is right.

    Parameters
    ----------
    found
        What check.json says of the exercise.
    notebook
        The variables of the notebook.
    part
        The name of the part, or True where there is but one.
    code
        What the course gave for this look, where it asks for one.
    """
    looks = _looks().get(exercise, {})
    name = next(iter(looks)) if part is True and len(looks) == 1 else part
    title = f"{exercise}, a look"
    if name not in looks:
        there_are = ", ".join(f'answer="{each}"' for each in looks)
        return [title, f"  There is {f'one at {there_are}' if looks else 'none here'}."]
    variant, look = variant_of(exercise, found, student), looks[name]
    if variant is None:
        return [title, '  Whose? Type your id into student("…") at the top and run that cell.']
    boxes, place = look["boxes"][variant], place_of(contents()["course"], exercise, name, variant)
    code = code.replace("-", "").strip().upper()
    if (seal := boxes.get("seal")) and seal != seal_of(place, code):
        asks = "It needs a code: ask for one, and say which part" if not code else "This is no code"
        return [title, f"  {asks}; it is for your id and this part alone."]
    if name not in notebook or is_blank(notebook[name]):
        return [title, f"  – blank    {name}"]
    (asked,) = (each for each in found["parts"] if each["name"] == name)
    hint = asked["hint"]
    hint = {**hint, **hint["varies"][variant]} if "varies" in hint else hint
    try:
        answer = read(notebook[name], hint)
    except FormatError as why:
        return [title, f"  ✗ form     {name}: {why}"]
    except Exception:  # nothing that anybody would take for an answer
        return [title, f"  ✗ form     {name}: it can't be read, being {brief(notebook[name])}"]
    return [
        title,
        _said(name, look, hint["kind"], answer, _inside(look, boxes, place, code, answer)),
    ]


def _inside(look: Look, boxes: LookBoxes, place: str, code: str, answer: Reading) -> dict[str, Any]:
    """Return what an answer opens, or nothing."""
    cells = rounded(answer.value, look["grid"], boxes["shift"])
    keys = (key_of(place, code, cells, number) for number in range(KEYS))
    contents = (unlocked(key, boxes["locked"]) for key in keys)
    return next((content for content in contents if content is not None), {})


def _said(name: str, look: Look, kind: str, answer: Reading, content: dict[str, Any]) -> str:
    """Say how an answer is, by the rule that it is graded by."""
    if says := content.get("says"):
        return f"  ✗ mistake  {name}: {says}"
    if "right" in content:
        right = np.reshape(content["right"], np.shape(answer.value))
        how = {"written": answer.entries} if kind == "numbers" else {}
        judgement = JUDGES[kind](answer.value, right, look["rule"], **how)
        if judgement.credit == 1:
            return f"  ✓ right    {name}"
        if judgement.note:
            return f"  ~ partly   {name}: {judgement.feedback}"
    return f"  ✗ wrong    {name}: not right to enough digits in all its numbers; {_FOLLOWS}"


def _looks() -> dict[str, dict[str, Look]]:
    path = Path(__file__).with_name("looks.json")
    return json.loads(path.read_text("utf-8")) if path.is_file() else {}


def _from(key: bytes, size: int) -> tuple[bytes, bytes]:
    stream = hashlib.shake_256(key).digest(_TAG + size)
    return stream[:_TAG], stream[_TAG:]


def _mixed(text: bytes, stream: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(text, stream, strict=True))
