"""Answers: their form, never whether they are right."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import numpy as np

from autograder.student.cells import answers_another
from autograder.student.data import contents
from autograder.student.formulas import Unreadable, read_formula, read_lines
from autograder.student.shown import brief, counted


def report_answers(exercise: str, variant: int | None, notebook: dict[str, Any]) -> list[str]:
    """Return a line for every part: not written yet, unreadable, or how it is read."""
    exercises = contents()["exercises"]
    lines = []
    for part in exercises[exercise]["parts"]:
        name, hint = part["name"], dict(part["hint"])
        if hint["kind"] == "manual":
            lines.append(f"  – by hand    {name}: a cell of its own, which a person marks")
            continue
        if "shapes" in hint and variant is not None:
            hint["shape"] = hint["shapes"][variant]
        raw = notebook.get(name)
        if name not in notebook:
            lines.append(f"  ✗ undefined  `{name}` is not defined yet: run its cell first")
        elif _blank(raw):
            lines.append(f"  – blank      {name}: {part['rubric']}")
        elif other := answers_another(exercise, name, exercises, notebook):
            lines.append(f"  ✗ undefined  `{name}` is the one of {other}: run the cell of this one")
        else:
            lines += _looked_at(name, hint, raw)
    if any("✓" in line for line in lines):
        lines.append("  Whether these are right, you learn when you are graded.")
    return lines


def _looked_at(name: str, hint: dict[str, Any], raw: Any) -> list[str]:
    try:
        mark, text = "✓ filled in", form(hint, raw)
    except Unreadable as why:
        mark, text = "✗ form     ", str(why)
    except Exception:  # nothing that anybody would take for an answer
        mark, text = "✗ form     ", f"it can't be read, being {brief(raw)}"
    first, *more = text.split("\n")
    return [f"  {mark}  {name}: {first}", *(f"        {line}" for line in more)]


def _blank(raw: Any) -> bool:
    if isinstance(raw, (list, tuple)):
        return all(_blank(entry) for entry in raw)
    return raw is None or (isinstance(raw, str) and not raw.strip())


def form(hint: dict[str, Any], raw: Any) -> str:
    """Return how an answer is read, or raise Unreadable."""
    kind = hint["kind"]
    if kind == "fractions":
        return _fractions(raw, hint["shape"])
    if kind in ("numbers", "count"):
        if hint.get("unit"):
            number = isinstance(raw, str) and re.fullmatch(r"(.*[\d.])\s*([A-Za-zµμ%/]+)\s*", raw)
            if not number:
                raise Unreadable(f'a number with its unit is expected: "… {hint["unit"]}"')
            return f"{_numbers(number[1], hint.get('shape'), whole=False)} {number[2]}"
        return _numbers(raw, hint.get("shape"), whole=kind == "count")
    if kind == "shape":
        words = re.split(r"[\s,()\[\]]+", raw) if isinstance(raw, str) else raw
        if not isinstance(words, (list, tuple)):
            raise Unreadable(f"a tuple such as (2, 3) is expected, not {brief(raw)}")
        return f"({', '.join(str(_number(n, whole=True)) for n in words if n != '')})"
    if kind == "choice":
        return _choice(hint, raw)
    if kind == "figure":
        drawn = raw if isinstance(raw, dict) else dict.fromkeys(hint["names"][:1], raw)
        if missing := sorted(set(hint["names"]) - {str(name) for name in drawn}):
            raise Unreadable(f"the data of {', '.join(missing)} are missing")
        return f"the data of {', '.join(hint['names'])}"
    if kind == "formula":
        return read_formula(raw, hint)
    if kind == "matrix":
        return _matrix(raw, hint)
    if kind == "lines":
        return read_lines(raw, hint)
    return brief(raw)


def _matrix(raw: Any, hint: dict[str, Any]) -> str:
    rows, columns = hint["shape"]
    if not isinstance(raw, (list, tuple)) or len(raw) != rows:
        raise Unreadable(f"a list of {rows} rows is expected, not {brief(raw)}")
    lines = []
    for number, row in enumerate(raw, 1):
        if not isinstance(row, (list, tuple)) or len(row) != columns:
            raise Unreadable(f"a row of {columns} entries is expected, not {brief(row)}")
        entries = []
        for column, entry in enumerate(row, 1):
            try:
                entries.append(read_formula(entry, hint).removeprefix("read as "))
            except Unreadable as error:
                raise Unreadable(f"row {number}, column {column}: {error}") from None
        lines.append(f"[{', '.join(entries)}]")
    return "\n".join(["read as", *lines])


def _choice(hint: dict[str, Any], raw: Any) -> str:
    """Return the letters as they are read, in the order of the options."""
    options, several = hint["options"], hint.get("multiple", False)
    letters = re.sub(r"[\s,;]", "", raw) if isinstance(raw, str) else raw
    if several and str(raw).strip().lower() == "none":
        letters = ""
    if several:
        plain = isinstance(letters, (str, list, tuple, set, frozenset))
        chosen = {str(letter).strip().upper() for letter in letters} if plain else {""}
        if chosen <= set(options):
            return "".join(option for option in options if option in chosen) or "none"
        expected = f'letters out of {", ".join(options)}, or "none", are expected'
        raise Unreadable(f"{expected}, not {brief(raw)}")
    if isinstance(letters, str) and len(letters) == 1 and letters.upper() in options:
        return letters.upper()
    raise Unreadable(f"one of {', '.join(options)} is expected, not {brief(raw)}")


def _fractions(raw: Any, shape: Any) -> str:
    """Return fractions as they are read; a decimal is none."""
    read = _numbers(raw, shape, whole=False)

    def decimal(entry: Any) -> bool:
        if isinstance(entry, (list, tuple)):
            return any(map(decimal, entry))
        return "." in str(entry) and not str(entry).endswith(".0")

    if decimal(raw.tolist() if hasattr(raw, "tolist") else raw):
        raise Unreadable(f'fractions are expected, as text such as "-2/3", not {brief(raw)}')
    return read if shape else str(raw).strip()


def _numbers(raw: Any, shape: Any, *, whole: bool) -> str:
    if isinstance(raw, str):
        if whole and not shape:  # 1,048,576
            raw = re.sub(r"(?<=\d)[,_ ](?=\d{3}\b)", "", raw)
        raw = re.sub(r"\s*/\s*", "/", raw)
        words = [word for word in re.split(r"[\s,;()\[\]]+", raw) if word]
        raw = words[0] if len(words) == 1 else words

    def walk(entry: Any) -> Any:
        if hasattr(entry, "tolist"):  # the answer, or a row in a list of them
            entry = entry.tolist()
        if isinstance(entry, (list, tuple)):
            return [walk(inner) for inner in entry]
        return _number(entry, whole=whole)

    try:
        value = np.array(walk(raw), dtype=object if whole else float)
    except ValueError as error:
        if isinstance(error, Unreadable):
            raise
        raise Unreadable("the rows of the answer have different lengths") from None
    if shape is not None and list(value.shape) != list(shape):
        raise Unreadable(f"{counted(shape)} expected, {counted(value.shape)} given")
    return str(value) if value.ndim == 0 else counted(value.shape)


def _number(entry: Any, *, whole: bool) -> Any:
    """Return one number; text may be a fraction, too."""
    entry = entry.item() if isinstance(entry, np.generic) else entry
    text = entry.strip().replace("−", "-") if isinstance(entry, str) else ""
    try:
        if isinstance(entry, bool) or not isinstance(entry, (str, int, float)):
            raise ValueError
        number = (
            int(text or entry) if whole else float(Fraction(text) if "/" in text else text or entry)
        )
        if whole and not text and number != entry:
            raise ValueError
    except (ValueError, ZeroDivisionError, OverflowError):
        kind = "whole numbers" if whole else "numbers"
        raise Unreadable(f"{kind} are expected, not {brief(entry)}") from None
    if not abs(number) < float("inf"):
        raise Unreadable("it contains NaN or infinity; finite numbers are expected")
    return number
