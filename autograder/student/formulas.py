"""Formulas and lines of formulas: how they are read."""

from __future__ import annotations

import importlib
import re
from typing import Any

from autograder.student.shown import brief
from autograder.student.symbols import GREEK

#: Other ways to write what a name may consist of.
SPELLING: dict[str, str | int | None] = {
    **dict(zip("αβγδεζηθικλμνξπρστφχψω", GREEK)),  # noqa: B905
    **dict(zip("₀₁₂₃₄₅₆₇₈₉", "0123456789")),  # noqa: B905
}


class Unreadable(ValueError):
    """An answer that couldn't be graded, and why."""


def read_formula(raw: Any, hint: dict[str, Any]) -> str:
    """Return how the grader will read a formula."""
    if not isinstance(raw, (str, int, float)) or isinstance(raw, bool):
        raise Unreadable(f"text in quotes is expected, not {brief(raw)}")
    try:
        reader: Any = importlib.import_module("check_formulas")
    except ImportError:
        return f"{brief(raw)} (put check_formulas.py beside check.py to see how it is read)"
    except SyntaxError:  # it needs Python 3.10
        return brief(raw)
    try:
        read = reader.look(
            str(raw),
            hint["names"],
            calls=reader.CALLS | set(hint.get("functions", ())),
            constants=reader.CONSTANTS,
            implicit=hint.get("implicit", False),
        )
    except reader.ParseError as error:
        raise Unreadable(str(error)) from None
    except Exception:  # nobody's fault but ours: the answer may well be readable
        return brief(raw)
    return f"read as {read}"


def read_lines(raw: Any, hint: dict[str, Any]) -> str:
    """Return how the lines of a derivation are read, or which of them can't be."""
    texts = raw.splitlines() if isinstance(raw, str) else raw
    if not isinstance(texts, (list, tuple)):
        raise Unreadable(f"a list of lines of text is expected, not {brief(raw)}")
    read, wrong = [], []
    for number, text in enumerate(texts, 1):
        if text is None or not str(text).strip():
            continue
        try:
            shown = _line(text, hint).replace("read as ", f"line {number}: ")
            read.append(shown)
        except Unreadable as error:
            wrong.append(f"line {number}: {error}")
    if wrong:
        raise Unreadable("\n".join(wrong))
    count = f"{len(read)} line{'s' * (len(read) != 1)}"
    return count if hint.get("indexed") else "\n".join([f"{count}, read as", *read])


def _line(raw: Any, hint: dict[str, Any]) -> str:
    """Look at a line; one with indices is looked at without the reason that may stand behind it."""
    if not hint.get("indexed"):
        return read_formula(raw, hint)
    if isinstance(raw, str):
        raw = re.sub(r"^\s*(<=|≤|=)", "", raw.partition("#")[0])
        raw = re.sub(r"_(\{[^}]*\}|[A-Za-z0-9]+)", "", raw)
    return _plausible(raw, hint["names"])


def _plausible(raw: Any, names: list[str]) -> str:
    """Look for what surely can't be read: no text, brackets that don't match, other names."""
    if not isinstance(raw, (str, int, float)) or isinstance(raw, bool):
        raise Unreadable(f"text in quotes is expected, not {brief(raw)}")
    text, opened = str(raw), []
    for character in text:
        if character in "([{":
            opened.append(")]}"["([{".index(character)])
        elif character in ")]}" and (not opened or opened.pop() != character):
            raise Unreadable(f"in {brief(text)} a {character} was never opened")
    if opened:
        raise Unreadable(f"in {brief(text)} a {opened[-1]} is missing")
    plain = re.sub(r"\\(left|right|[dt]?frac|cdot|times|div|q?quad|operatorname)", " ", text)
    plain = re.sub(r"\\|_\{?", "", plain).translate(str.maketrans(SPELLING))  # p_1 is p1
    known = {*(name.replace("_", "") for name in names), "pi", "e", *"ijklmn"}
    used = re.findall(r"(?<!\w)[A-Za-z]\w*(?!\w|\s*\()", plain, re.ASCII)  # no functions
    other = sorted({name for name in used if name not in known})
    if other:
        raise Unreadable(f"{', '.join(other)}: the names here are {', '.join(names)}")
    return brief(text)
