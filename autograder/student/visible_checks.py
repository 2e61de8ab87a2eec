"""Functions: the visible checks, recorded with the reference and repeated with yours."""

from __future__ import annotations

import contextlib
import inspect
import io
import linecache
import random
import re
import sys
import traceback
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from autograder.student.data import decode
from autograder.student.differences import (
    SINGLE,
    Comparison,
    Difference,
    difference,
    numbers_of,
    right_in_float32,
)
from autograder.student.display import block, brief, counted, kind_of
from autograder.student.kinds_of_results import as_asked, other_kind
from autograder.student.travelling import READABLE, unreadable_result

if TYPE_CHECKING:
    from autograder.student.released_files import RecordedCall, RecordedFunction


def report_function(found: RecordedFunction, notebook: dict[str, Any]) -> list[str]:
    """Return a line for every visible check, and what to know where it fails."""
    name, checks = found["name"], found["checks"]
    function = notebook.get(name)
    if function is None:
        return [f"  ✗ undefined  `{name}` is not defined yet: run its cell first"]
    if not callable(function):
        return [f"  ✗ form       `{name}` should be a function, not {kind_of(function)}"]
    if not checks and _is_stub(function):  # what is called says so itself
        return [_blank(name)]
    lines: list[str] = []
    for recorded in checks:
        try:
            came: list[Any] = []
            trouble = _run(function, name, recorded["calls"], notebook, came)
            if not trouble and recorded.get("varied") and effortless(came):
                trouble = [f"{name} returns the same number everywhere, whatever it is given"]
        except NotImplementedError as error:  # of this function, or of one that it calls
            stub = [_called(frame.f_code) for frame, _ in _own(error, notebook)] or [name]
            return [*lines, _blank(stub[-1])]
        mark = "✗ failed   " if trouble else "✓ passed   "
        lines += [f"  {mark}  {recorded['rubric']}", *(f"      {line}" for line in trouble)]
    return lines


def _blank(name: str) -> str:
    return f"  – blank      `{name}` is not written yet"


def _called(code: Any) -> str:
    """Return the name of a function, or of a method with its class; Python 3.10 knows no class."""
    name: str = getattr(code, "co_qualname", code.co_name)
    return name.rpartition("<locals>.")[2].removesuffix(".__init__")


def _is_stub(function: Any) -> bool:
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
    return len(alone) == len(values) and _even(np.concatenate(alone))


def _even(value: Any) -> bool:
    """Tell whether an array holds one number alone, rounding aside."""
    if isinstance(value, (tuple, list)):
        return bool(value) and all(map(_even, value))
    entries = np.asarray(numbers_of(value))
    if entries.dtype.kind not in "biuf" or entries.size < 2:
        return False
    entries = entries.astype(float)
    return np.allclose(entries, entries.flat[0], rtol=1e-12, atol=0)


def _run(
    function: Any,
    name: str,
    calls: list[RecordedCall],
    notebook: dict[str, Any],
    results: list[Any],
) -> list[str]:
    """Repeat the recorded calls; return what is wrong with the first that isn't as it should.

    What came of the others is added to ``results``.
    """
    objects: dict[int, Any] = {}
    for number, call in enumerate(calls, 1):
        args, kwargs = _arguments(call, objects)
        asked, said = None, ".".join([name, *([call["name"]] if "name" in call else [])])
        said = said.removesuffix(".__call__")
        try:
            asked = _asked(function, call, objects)
            came = _quietly(asked, args, kwargs)
            results.append(came)
            wrong = []
            if call.get("do") == "make":
                objects[call["object"]] = came
            elif refused := _unreadable(came, objects):
                wrong = [f"it returned {refused}; {READABLE}"]
            elif "value" in call:
                expected, loose = decode(call["value"]), call.get("rtol", 0.0)
                wrong = [kind] if (kind := other_kind(came, expected)) else []
                wrong = wrong or _difference(
                    as_asked(came, expected), expected, call["compare"], "the result", loose
                )
            if not wrong and call.get("unchanged"):
                before = _named(asked, *_arguments(call, objects))
                for given, value in _named(asked, args, kwargs).items():
                    if _difference(value, before[given], ["value"], given):
                        wrong = [f"it changes its argument {given}"]
        except NotImplementedError:
            raise
        except (Exception, SystemExit) as error:
            wrong = _told(error, notebook)
        if wrong:
            named = _named(asked, *_arguments(call, objects))
            which = f"    (call {number} of {len(calls)})" if len(calls) > 1 else ""
            shown = {
                argument: np.asarray(numbers_of(value)) if hasattr(value, "detach") else value
                for argument, value in named.items()
            }
            return [f"{said}({', '.join(named)}){which}", *wrong, *block(shown)]
    return []


def _unreadable(came: Any, objects: dict[int, Any]) -> str:
    """Say what the grader can't read of a result; an object's own method may return the object."""
    return "" if any(came is held for held in objects.values()) else unreadable_result(came)


def _asked(function: Any, call: RecordedCall, objects: dict[int, Any]) -> Any:
    """Return what a recorded request calls."""
    do = call.get("do", "call")
    if do in ("call", "make"):
        return function
    if do == "seed":
        return _seed
    held, attribute = objects[call["object"]], call["name"]
    if do == "method":
        return held if attribute == "__call__" else getattr(held, attribute)
    if do == "get":
        return lambda: getattr(held, attribute)
    return lambda value: setattr(held, attribute, value)


def _seed(number: int) -> None:
    """Seed the generators that all code has in common."""
    random.seed(number)
    np.random.seed(number)  # noqa: NPY002
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(number)


def _quietly(function: Any, args: Any, kwargs: Any) -> Any:
    """Call it, and drop what it prints and warns about."""
    with contextlib.ExitStack() as quiet:
        quiet.enter_context(contextlib.redirect_stdout(io.StringIO()))
        quiet.enter_context(contextlib.redirect_stderr(io.StringIO()))
        quiet.enter_context(np.errstate(all="ignore"))
        quiet.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        return function(*args, **kwargs)


def _arguments(call: RecordedCall, objects: dict[int, Any]) -> tuple[list[Any], dict[str, Any]]:
    kwargs = {name: _argument(value, objects) for name, value in call["kwargs"].items()}
    return [_argument(value, objects) for value in call["args"]], kwargs


def _argument(value: Any, objects: dict[int, Any]) -> Any:
    """Return an argument: data, an object that was made before, or a function from its source."""
    if isinstance(value, dict) and "object" in value:
        return objects[value["object"]]
    if not isinstance(value, dict) or "given" not in value:
        return decode(value)
    names: dict[str, Any] = {}
    exec(compile(value["given"], "<given>", "exec"), names)
    return names["given"] if value["args"] is None else names["given"](*decode(value["args"]))


def _named(function: Any, args: Any, kwargs: Any) -> dict[str, Any]:
    """Return what a call passes, by name as far as the function has names."""
    function = getattr(function, "forward", function)  # torch calls this
    try:
        found = inspect.signature(function).parameters.values()
        names = [parameter.name for parameter in found if parameter.kind < 2]
    except (ValueError, TypeError):
        names = []
    names += [f"argument {i}" for i in range(len(names) + 1, len(args) + 1)]
    return {**dict(zip(names, args)), **kwargs}  # noqa: B905


def _difference(
    came: Any, expected: Any, compare: list[Any], what: str, loose: float = 0.0
) -> list[str]:
    """Return in what way a result isn't the expected one; nothing where it is.

    ``compare`` says whether values (or else the shape) and exact dtypes count, for each entry of a
    tuple, and "more" that a dictionary may have other entries; ``loose`` is the relative tolerance
    of a check that allows for more than rounding.
    """
    found = difference(came, expected, _rules(compare, loose))
    if not found:
        return []
    given, right = found.came, found.right
    at = found.at[:-1] if found.kind == "entry" else found.at
    for key in at:
        what = f"{what.removeprefix('the ')}[{key!r}]"
    if otherwise := _otherwise(found, what):
        return [otherwise]
    shown = "value" in compare or isinstance(compare[0], list)
    pair = block({"came": given, "expected": right} if shown else {"came": given})
    if found.kind == "shape":
        return [f"{what} has shape {given.shape}; shape {right.shape} was expected", *pair]
    if found.kind == "dtype":
        return [f"{what} has dtype {given.dtype}; {right.dtype} was expected", *pair]
    if found.kind == "nan":
        return [f"{what} contains NaN", *pair]
    if not loose and right_in_float32(given, right):
        return [f"{what} {SINGLE}", *pair]
    if not right.ndim:
        return [f"{what} is {given:.6g}; {right:.6g} was expected"]
    at = tuple(int(i) for i in np.argwhere(~found.close)[0])
    a, b = (f"{x[at].item():.6g}" for x in (given, right))
    a, b = (str(given[at]), str(right[at])) if a == b else (a, b)
    many = f"{int((~found.close).sum())} of {found.close.size} entries differ"
    return [f"{many}: {what} is {a} at index {list(at)}; {b} was expected", *pair]


def _otherwise(found: Difference, what: str) -> str:
    """Say of a result that is no array like the expected one what it is."""
    came = kind_of(found.came)
    if found.kind == "length":
        return f"{what} should be a {type(found.right).__name__} of {len(found.right)}, not {came}"
    if found.kind == "entry":
        return f"{what} has no entry {found.at[-1]!r}"
    if found.kind == "other":
        return f"{what} is {brief(found.came)}; {brief(found.right)} was expected"
    if found.kind == "ragged":
        return f"{what} is a ragged list; an array of numbers was expected"
    if found.kind == "numbers":
        return f"{what} is {came}; {counted(found.right.shape)} was expected"
    return ""


def _rules(compare: list[Any], loose: float) -> Any:
    """Return what counts, as a check of a release says it."""
    if compare and isinstance(compare[0], list):
        return [_rules(own, loose) for own in compare]
    kinds = {*compare}
    return Comparison(
        value="value" in kinds,
        shape="shape" in kinds,
        dtype="dtype" in kinds,
        more="more" in kinds,
        rtol=loose or None,
    )


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
