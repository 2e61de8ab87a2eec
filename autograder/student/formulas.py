"""Formulas and lines of formulas: how they are read."""

from __future__ import annotations

import contextlib
import importlib
import re
from typing import Any

import numpy as np

from autograder.student.display import brief
from autograder.student.entries import as_sent
from autograder.student.reading import Reading
from autograder.student.unreadable import FormatError, refuse_set


def text_of(raw: object) -> str:
    """Return an answer as text; a number is text, too, and numpy's as well.

    Raises
    ------
    FormatError
        If it is anything else.
    """
    raw = as_sent(raw.item() if isinstance(raw, np.generic) else raw)
    if not isinstance(raw, (str, int, float)) or isinstance(raw, bool):
        raise FormatError(f"text in quotes is expected, not {brief(raw)}")
    return str(raw)


#: What a hint about a formula may say beside the names and functions.
_OF_FORMULAS = ("implicit", "operators")


def read_formula(raw: object, hint: dict[str, Any]) -> Reading:
    """Return how the grader will read a formula."""
    how = {name: hint[name] for name in _OF_FORMULAS if name in hint}
    shown, latex = _ask_the_grammar(raw, hint, ("look", "typeset"), **how)
    return Reading(text_of(raw), shown, typeset=(latex,))


#: What a hint about lines may say beside the names and functions.
_OF_LINES = ("indexed", "indices", "blocks", "defined", "equations", "bounds")

#: A line of LaTeX in which an environment begins or ends, and nothing stands.
_NO_FORMULA = re.compile(r"\s*(?:\$\$|\\[\[\]]|\\(?:begin|end)\s*\{[a-z]+\*?\})\s*")

#: Far more lines than a derivation of a page has, and few enough to be examined.
MAX_LINES = 40


def lines_of(raw: object) -> list[Any]:
    """Return the lines of a derivation, one by one."""
    refuse_set(raw, "lines")
    texts = raw.splitlines() if isinstance(raw, str) else raw
    if not isinstance(texts, (list, tuple)):
        raise FormatError(f"a list of lines of text is expected, not {brief(raw)}")
    texts = ["" if isinstance(t, str) and _NO_FORMULA.fullmatch(t) else t for t in texts]
    count = sum(text is not None and bool(str(text).strip()) for text in texts)
    if count > MAX_LINES:
        raise FormatError(f"{count} lines are too long a derivation; {MAX_LINES} are the most")
    return texts


def read_lines(raw: object, hint: dict[str, Any]) -> Reading:
    """Return the lines of a derivation and how they are read, or which of them can't be."""
    texts, read, typeset, wrong = [], [], [""], []
    for number, text in enumerate(lines_of(raw), 1):
        if text is None or not str(text).strip():
            continue
        try:
            how = {name: hint[name] for name in _OF_LINES if name in hint}
            shown, latex = _ask_the_grammar(text, hint, ("look_line", "typeset_line"), **how)
            typeset.append(latex)
            texts.append(text_of(text))
            read.append(f"line {number}: {shown.replace('read as ', '', 1)}")
        except FormatError as error:
            wrong.append(f"line {number}: {error}")
    if wrong:
        raise FormatError("\n".join(wrong))
    if not read:
        raise FormatError("there is no line with text")
    shown = "\n".join([f"{len(read)} line{'s' * (len(read) != 1)}, read as", *read])
    return Reading(texts, shown, typeset=tuple(typeset))


def _ask_the_grammar(
    raw: object, hint: dict[str, Any], looks: tuple[str, str], **how: object
) -> tuple[str, str]:
    """Return what the grader's own grammar makes of a text, and LaTeX of it where it can."""
    text = text_of(raw)
    try:
        reader: Any = importlib.import_module("check_formulas")
    except ImportError:
        said = f"{brief(raw)} (put check_formulas.py beside check.py to see how it is read)"
        return said, ""
    except SyntaxError:  # it needs Python 3.10
        return brief(raw), ""
    how["functions"] = hint.get("functions", ())
    how.update(calls=reader.CALLS, constants=reader.CONSTANTS)
    try:
        read = getattr(reader, looks[0])(text, hint["names"], **how)
    except reader.ParseError as error:
        raise FormatError(str(error)) from None
    except Exception:  # nobody's fault but ours: the answer may well be readable
        return brief(raw), ""
    latex = ""
    with contextlib.suppress(Exception):  # it is as well read without
        latex = getattr(reader, looks[1])(text, hint["names"], **how)
    return f"read as {read}", latex
