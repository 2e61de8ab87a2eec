"""Answers: their form, never whether they are right."""

from __future__ import annotations

from typing import Any

from autograder.student.cells import answers_another
from autograder.student.data import ORDERS, contents, decode, statements
from autograder.student.display import brief
from autograder.student.readers import read
from autograder.student.reading import Reading, is_blank
from autograder.student.shown_page import typeset
from autograder.student.unreadable import FormatError


def report_answers(exercise: str, variant: int | None, notebook: dict[str, Any]) -> list[str]:
    """Return a line for every part: not written yet, unreadable, or how it is read."""
    exercises = contents()["exercises"]
    lines, shown = [], _meanings(exercises[exercise], variant)
    for part in exercises[exercise]["parts"]:
        name, hint = part["name"], part["hint"]
        if hint["kind"] == "manual":
            lines.append(f"  – by hand    {name}: a cell of its own, which a person marks")
            continue
        if "varies" in hint and variant is not None:
            hint = {**hint, **hint["varies"][variant]}
        if name in shown:
            hint = {**hint, "shown": shown[name]}
        raw = notebook.get(name)
        if name not in notebook:
            lines.append(f"  ✗ undefined  `{name}` is not defined yet: run its cell first")
        elif is_blank(raw):
            lines.append(f"  – blank      {name}: {part['rubric']}")
        elif other := answers_another(exercise, name, exercises, notebook):
            lines.append(f"  ✗ undefined  `{name}` is the one of {other}: run the cell of this one")
        else:
            lines += _looked_at(name, hint, raw)
    if any(line.startswith("  →") for line in lines):
        lines.append("  Whether these are right, you learn when you are graded.")
    return lines


def _meanings(found: Any, variant: int | None) -> dict[str, dict[str, str]]:
    """Return by part what its letters stand for."""
    orders = {} if variant is None else found["pool"][variant].get(ORDERS)
    by_parts = statements(found["parts"], decode(orders) if orders else {})
    return {name: texts for names, texts in by_parts.items() for name in names.split(", ")}


def _looked_at(name: str, hint: dict[str, Any], raw: object) -> list[str]:
    mark, advice = "✗ form     ", ""
    latex: tuple[str, ...] = ()
    try:
        found: Reading = read(raw, hint)
        mark, text, advice, latex = "→ read as  ", found.shown, found.advice, found.typeset
    except FormatError as why:
        text = str(why)
    except Exception:  # nothing that anybody would take for an answer
        text = f"it can't be read, being {brief(raw)}"
    first, *more = text.split("\n") + [f"({advice})"] * bool(advice)
    lines = [f"  {mark}  {name}: {first}", *(f"        {line}" for line in more)]
    known = dict(enumerate(latex))
    return [typeset(line, known.get(place, "")) for place, line in enumerate(lines)]
