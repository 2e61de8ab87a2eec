"""Functions: the visible checks, recorded with the reference and repeated with yours."""

from __future__ import annotations

import contextlib
import inspect
import io
import linecache
import re
import traceback
import warnings
from typing import Any

import numpy as np

from autograder.student.data import decode
from autograder.student.shown import block, brief, counted, kind_of

#: Relative and absolute tolerance by the size of the floating-point type, in bytes.
TOLERANCE = {2: (2e-2, 2e-3), 4: (1e-4, 1e-6), 8: (1e-9, 1e-12)}


def report_function(found: Any, notebook: dict[str, Any]) -> list[str]:
    """Return a line for every visible check, and what to know where it fails."""
    name, checks = found["name"], found["checks"]
    function = notebook.get(name)
    if function is None:
        return [f"  ✗ undefined  `{name}` is not defined yet: run its cell first"]
    if not callable(function):
        return [f"  ✗ form       `{name}` should be a function, not {kind_of(function)}"]
    lines: list[str] = []
    for recorded in checks:
        try:
            trouble = _run(function, name, recorded["calls"], notebook)
        except NotImplementedError as error:  # of this function, or of one that it calls
            stub = [frame.f_code.co_name for frame, _ in _own(error, notebook)] or [name]
            return [*lines, f"  – blank      `{stub[-1]}` is not written yet"]
        mark = "✗ failed   " if trouble else "✓ passed   "
        lines += [f"  {mark}  {recorded['rubric']}", *(f"      {line}" for line in trouble)]
    return lines


def _run(function: Any, name: str, calls: Any, notebook: dict[str, Any]) -> list[str]:
    """Repeat the recorded calls; return what is wrong with the first that isn't as it should."""
    for number, call in enumerate(calls, 1):
        args, kwargs = _arguments(call)
        try:
            came = _quietly(function, args, kwargs)
            wrong = _difference(came, decode(call["value"]), call["compare"], "the result")
            if not wrong and call.get("unchanged"):
                before = _named(function, *_arguments(call))
                for given, value in _named(function, args, kwargs).items():
                    if _difference(value, before[given], ["value"], given):
                        wrong = [f"it changes its argument {given}"]
        except NotImplementedError:
            raise
        except (Exception, SystemExit) as error:
            wrong = _told(error, notebook)
        if wrong:
            asked = _named(function, *_arguments(call))
            which = f"    (call {number} of {len(calls)})" if len(calls) > 1 else ""
            return [f"{name}({', '.join(asked)}){which}", *wrong, *block(asked)]
    return []


def _quietly(function: Any, args: Any, kwargs: Any) -> Any:
    """Call it, and drop what it prints and warns about."""
    with contextlib.ExitStack() as quiet:
        quiet.enter_context(contextlib.redirect_stdout(io.StringIO()))
        quiet.enter_context(contextlib.redirect_stderr(io.StringIO()))
        quiet.enter_context(np.errstate(all="ignore"))
        quiet.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        return function(*args, **kwargs)


def _arguments(call: Any) -> tuple[list[Any], dict[str, Any]]:
    return decode(call["args"]), {name: decode(value) for name, value in call["kwargs"].items()}


def _named(function: Any, args: Any, kwargs: Any) -> dict[str, Any]:
    """Return what a call passes, by name as far as the function has names."""
    try:
        names = list(inspect.signature(function).parameters)
    except (ValueError, TypeError):
        names = []
    names += [f"argument {i}" for i in range(len(names) + 1, len(args) + 1)]
    return {**dict(zip(names, args)), **kwargs}  # noqa: B905


def _difference(came: Any, expected: Any, compare: list[Any], what: str) -> list[str]:
    """Return in what way a result isn't the expected one; nothing where it is.

    ``compare`` says whether values and exact dtypes count, for each entry of a tuple.
    """
    if isinstance(expected, (tuple, list, dict)) and not _is_numeric(expected):
        kind = type(expected).__name__
        fits = (tuple, list) if kind == "tuple" else type(expected)
        if not isinstance(came, fits) or len(came) != len(expected):
            return [f"{what} should be a {kind} of {len(expected)}, not {kind_of(came)}"]
        for key in expected if kind == "dict" else range(len(expected)):
            if kind == "dict" and key not in came:
                return [f"{what} has no entry {key!r}"]
            own = compare[key] if isinstance(compare[0], list) else compare
            where = f"{what.removeprefix('the ')}[{key!r}]"
            if wrong := _difference(came[key], expected[key], own, where):
                return wrong
        return []
    right = np.asarray(expected)
    if right.dtype.kind not in "bifuc":
        same = type(came) is type(expected) and came == expected
        return [] if same else [f"{what} is {brief(came)}; {brief(expected)} was expected"]
    try:
        given = np.asarray(came.detach().cpu() if hasattr(came, "detach") else came)
    except ValueError:
        return [f"{what} is a ragged list; an array of numbers was expected"]
    if given.dtype.kind not in "bifuc":
        return [f"{what} is {kind_of(came)}; {counted(right.shape)} was expected"]
    pair = block({"came": given, "expected": right} if "value" in compare else {"came": given})
    if given.shape != right.shape:
        return [f"{what} has shape {given.shape}; shape {right.shape} was expected", *pair]
    if given.dtype != right.dtype and ("dtype" in compare or right.dtype.kind == "b"):
        return [f"{what} has dtype {given.dtype}; {right.dtype} was expected", *pair]
    if "value" not in compare:
        return []
    if np.any(np.isnan(given) & ~np.isnan(right)):
        return [f"{what} contains NaN", *pair]
    sizes = [a.dtype.itemsize for a in (given, right) if a.dtype.kind == "f"]
    rtol, atol = TOLERANCE.get(min(sizes, default=8), TOLERANCE[8])
    with np.errstate(all="ignore"):
        close = np.isclose(given, right, rtol=rtol, atol=atol, equal_nan=True)
    if close.all():
        return []
    if not right.ndim:
        return [f"{what} is {given:.6g}; {right:.6g} was expected"]
    at = tuple(int(i) for i in np.argwhere(~close)[0])
    a, b = (f"{x[at].item():.6g}" for x in (given, right))
    a, b = (str(given[at]), str(right[at])) if a == b else (a, b)
    many = f"{int((~close).sum())} of {close.size} entries differ"
    return [f"{many}: {what} is {a} at index {list(at)}; {b} was expected", *pair]


def _told(error: BaseException, notebook: dict[str, Any]) -> list[str]:
    """Return what an exception says, and the line of the notebook where it arose."""
    lines = [f"{type(error).__name__}: {error}"]
    if type(error) is NameError and (name := re.search(r"name '(\w+)'", str(error))):
        lines = [f"`{name[1]}` is not defined yet: run its cell first"]
    for frame, number in _own(error, notebook)[-1:]:
        source = linecache.getline(frame.f_code.co_filename, number).strip()
        lines.append(f"in line {number} of the cell: {source}")
    return lines


def _own(error: BaseException, notebook: dict[str, Any]) -> list[Any]:
    """Return the steps of a traceback that are in the notebook, each with its line."""
    return [
        (frame, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if frame.f_globals is notebook and frame.f_code.co_name != "<module>"
    ]


def _is_numeric(value: Any) -> bool:
    try:
        return isinstance(value, list) and np.asarray(value).dtype.kind in "bifuc"
    except ValueError:
        return False
