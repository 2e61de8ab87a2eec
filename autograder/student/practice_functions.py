"""Functions that are practised: tried on inputs that nobody is graded with.

Recorded are what the visible checks ask with other draws, the right results, and marks of what
known mistakes return: so a mistake has a name, and the smallest input that shows it is shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autograder.student.data import decode
from autograder.student.recognition import mark_of, same_mark
from autograder.student.repeating import Tried, repeated
from autograder.student.visible_checks import blank, effortless, unwritten

if TYPE_CHECKING:
    from autograder.student.released_files import PracticeCheck, PracticeFunction, PracticeInputs


def tried_out(found: PracticeFunction, notebook: dict[str, Any]) -> list[str]:
    """Return a line for every check of a function, a counterexample, and the mistake's sentence."""
    name = found["name"]
    if missing := unwritten(name, notebook, called=True):
        return [missing]
    lines: list[str] = []
    for check in found["checks"]:
        try:
            lines += _of_check(check, found, notebook)
        except NotImplementedError as error:
            return [*lines, blank(error, name, notebook)]
    return lines


def _of_check(check: PracticeCheck, found: PracticeFunction, notebook: dict[str, Any]) -> list[str]:
    name, sets = found["name"], check["sets"]
    tried = [
        (inputs, [*repeated(notebook[name], name, inputs["calls"], notebook)]) for inputs in sets
    ]
    if failing := [(inputs, calls) for inputs, calls in tried if any(c.wrong for c in calls)]:
        smallest = min((c for _, calls in failing for c in calls if c.wrong), key=_by_size)
        many = f"with {len(failing)} of {len(sets)} draws" if sets[1:] else ""
        lines = [f"  ✗ failed     {check['rubric']}", *(f"      {line}" for line in smallest.wrong)]
        lines[0] += f"  ({many}; a smallest input that shows it:)" if many else ""
        says = list(dict.fromkeys(found["says"][place] for place in _mistakes(failing)))
        return lines + [f"  ✗ mistake    {' Or: '.join(says)}"] * bool(says)
    results = [call.came for _, calls in tried for call in calls]
    if check.get("varied") and effortless(results):
        said = f"{name} returns the same number everywhere, whatever it is given"
        return [f"  ✗ failed     {check['rubric']}", f"      {said}"]
    return [f"  ✓ passed     {check['rubric']}"]


def _by_size(call: Tried) -> int:
    return call.size


def _mistakes(failing: list[tuple[PracticeInputs, list[Tried]]]) -> list[int]:
    """Return the places of the known mistakes that answer every failing set of calls alike.

    A set whose results are too near the right ones for marks to tell says nothing of mistakes.
    """
    found: list[set[int]] = []
    for inputs, calls in failing:
        marks = [mark_of(call.came) for call in calls]
        if not _answers_alike(marks, _right(inputs)):
            found.append(
                {place for place, wrong in inputs["wrong"] if _answers_alike(marks, wrong)}
            )
    return sorted(set.intersection(*found)) if found else []


def _right(inputs: PracticeInputs) -> list[Any]:
    values = (call.get("value") for call in inputs["calls"])
    return [None if value is None else mark_of(decode(value)) for value in values]


def _answers_alike(marks: list[Any], wrong: list[Any]) -> bool:
    """Tell whether results are a mistake's, as far as it comes; None stands for anything."""
    return len(wrong) <= len(marks) and all(
        own is None or same_mark(mark, own)
        for mark, own in zip(marks, wrong)  # noqa: B905
    )
