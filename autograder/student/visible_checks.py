"""Functions: the visible checks, recorded with the reference and repeated with yours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from autograder.student.differences import numbers_of
from autograder.student.display import kind_of
from autograder.student.repeating import own_steps, repeated

if TYPE_CHECKING:
    from autograder.student.released_files import RecordedFunction


_FEW = 64  # entries of an array
_ROUNDED = 1e-12  # of a number


def report_function(found: RecordedFunction, notebook: dict[str, Any]) -> list[str]:
    """Return a line for every visible check, and what to know where it fails."""
    name, checks = found["name"], found["checks"]
    if missing := unwritten(name, notebook, called=bool(checks)):
        return [missing]
    lines: list[str] = []
    for recorded in checks:
        try:
            trouble, came = [], []
            for each in repeated(notebook[name], name, recorded["calls"], notebook):
                came.append(each.came)
                if trouble := each.wrong:
                    break
        except NotImplementedError as error:
            return [*lines, blank(error, name, notebook)]
        if not trouble and recorded.get("varied") and effortless(came):
            trouble = [f"{name} returns the same number everywhere, whatever it is given"]
        mark = "✗ failed   " if trouble else "✓ passed   "
        lines += [f"  {mark}  {recorded['rubric']}", *(f"      {line}" for line in trouble)]
    return lines


def unwritten(name: str, notebook: dict[str, Any], *, called: bool) -> str:
    """Say that a function is not there, or a stub; what is called says that itself."""
    function = notebook.get(name)
    if function is None:
        return f"  ✗ undefined  `{name}` is not defined yet: run its cell first"
    if not callable(function):
        return f"  ✗ form       `{name}` should be a function, not {kind_of(function)}"
    return _blank(name) if not called and _is_stub(function) else ""


def blank(error: NotImplementedError, name: str, notebook: dict[str, Any]) -> str:
    """Say which function is not written yet: this one, or one that it calls."""
    stub = [_called(frame.f_code) for frame, _ in own_steps(error, notebook)] or [name]
    return _blank(stub[-1])


def _blank(name: str) -> str:
    return f"  – blank      `{name}` is not written yet"


def _called(code: Any) -> str:
    """Return the name of a function, or of a method with its class; Python 3.10 knows no class."""
    name: str = getattr(code, "co_qualname", code.co_name)
    return name.rpartition("<locals>.")[2].removesuffix(".__init__")


def _is_stub(function: object) -> bool:
    code = getattr(function, "__code__", None)
    return code is not None and code.co_names == ("NotImplementedError",)


def effortless(values: list[Any]) -> bool:
    """Tell whether each result, or all of them together, are one number alone."""
    if all(map(_even, values)):
        return True
    alone = [
        np.ravel(np.asarray(numbers_of(value)))
        for value in values
        if not isinstance(value, (tuple, list))
    ]
    if len(alone) < len(values):
        return False
    heads = [each[:_FEW] for each in alone]  # what varies does so soon
    return _even(np.concatenate(heads)) and _even(np.concatenate(alone))


def _even(value: object) -> bool:
    """Tell whether an array holds one number alone, rounding aside."""
    if isinstance(value, (tuple, list)):
        return bool(value) and all(map(_even, value))
    entries = np.asarray(numbers_of(value))
    if entries.dtype.kind not in "biuf" or entries.size < 2:
        return False
    entries = entries.ravel()
    few = map(entries.item, range(min(entries.size, _FEW)))  # what varies does so soon
    first = float(next(few))
    if not all(each == first or abs(each - first) <= _ROUNDED * abs(first) for each in few):
        return False
    return _one_number(entries)


def _one_number(entries: Any) -> bool:
    entries = entries.astype(float)
    first = entries[0]
    if not np.isfinite(first):
        return bool((entries == first).all())
    return bool((abs(entries - first) <= _ROUNDED * abs(first)).all())
