"""Check your answers while you work on them.

    student("ada")               whose numbers these are
    your_numbers("exercise")     the numbers that are yours
    check("exercise")            what is filled in, and what the visible checks say

There are no solutions in this file or in those beside it, and grading uses none of them.  It
needs numpy and nothing else.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any
import ast
import contextlib
import difflib
import hashlib
import importlib
import inspect
import io
import json
import linecache
import numpy as np
import os
import random
import re
import sys
import traceback
import warnings


# The cells that are known to be an exercise's, by their number among those that were run.
_claimed: dict[int, str] = {}


def answers_another(exercise: str, name: str, exercises: Any, notebook: dict[str, Any]) -> str:
    """Return the exercise that a variable was last written for, "" if it is this one.

    Jupyter keeps the text of the cells that were run: the last one that writes the variable is
    another exercise's if that was checked with it, or if it writes all of that one's answers and
    not all of these.  Where this can't be known the variable counts as this exercise's.
    """
    cells: Any = notebook.get("In")
    if not isinstance(cells, list):
        return ""
    for number in reversed(range(len(cells))):
        written = _written(cells[number])
        if name not in written:
            continue
        if _names(exercises[exercise]) <= written:
            return "" if _claimed.setdefault(number, exercise) == exercise else _claimed[number]
        others = (e for e in exercises if name in (own := _names(exercises[e])) and own <= written)
        return next(others, "")
    return ""


def _names(exercise: Any) -> set[str]:
    return {part["name"] for part in exercise["parts"] if part["hint"]["kind"] != "manual"}


def _written(source: Any) -> set[str]:
    """Return the names that a cell writes."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, TypeError, RecursionError):
        return set()
    return {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def pick(course: str, student: str, exercise: str, pool: int) -> int:
    """Return which of the ``pool`` variants of an exercise a student has."""
    digest = hashlib.sha256(f"{course}\0{student}\0{exercise}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % pool


def decode(value: Any) -> Any:
    """Turn a value of check.json back into numbers, text, tuples and arrays."""
    if isinstance(value, list):
        return [decode(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return np.array(value["array"], dtype=value["dtype"]).reshape(value["shape"])
    if "scalar" in value:
        return np.dtype(value["dtype"]).type(value["scalar"])
    if "tuple" in value:
        return tuple(decode(entry) for entry in value["tuple"])
    if "dict" in value:
        return {decode(key): decode(entry) for key, entry in value["dict"]}
    return float(value["float"])  # "nan", "inf" or "-inf"


def contents() -> Any:
    """Return check.json."""
    return json.loads(Path(__file__).with_name("check.json").read_text(encoding="utf-8"))


def find(exercise: str) -> tuple[Any, str]:
    """Return what check.json says about an exercise, or None and what to do."""
    try:
        exercises = contents()["exercises"]
    except FileNotFoundError:
        return None, "check.json is missing: put it beside check.py, as you were given it."
    except (ValueError, KeyError, TypeError):
        return None, "check.json can't be read: put it back as you were given it."
    if exercise in exercises:
        return exercises[exercise], ""
    near = difflib.get_close_matches(str(exercise), exercises) or list(exercises)
    return None, f"There is no exercise {exercise!r} here. Did you mean {' or '.join(near)}?"


def variant_of(exercise: str, found: Any, student: str) -> int | None:
    """Return which variant is a student's, or None where that can't be known yet."""
    if len(found["pool"]) == 1:
        return 0
    return pick(contents()["course"], student, exercise, len(found["pool"])) if student else None


def block(values: dict[str, Any], size: int = 30) -> list[str]:
    """Return ``name = value`` with the further lines of a value under its first."""
    lines: list[str] = []
    for name, value in values.items():
        first, *rest = _shown(value, size).splitlines() or [""]
        lines += [f"{name} = {first}", *(" " * (len(name) + 3) + line for line in rest)]
    return lines


def counted(shape: Any) -> str:
    """Say how many numbers an array of a shape holds."""
    if len(shape) == 0:
        return "one number"
    return f"{shape[0]} numbers" if len(shape) == 1 else f"an array of shape {tuple(shape)}"


def _shown(value: Any, size: int) -> str:
    """Write a value, or only its shape where it has many entries."""
    if not isinstance(value, np.ndarray):
        return f"{value:.6g}" if isinstance(value, (float, np.floating)) else brief(value)
    kind = "" if value.dtype in (float, int, bool) else f" ({value.dtype})"
    if value.size > size:
        return f"array of shape {value.shape}{kind}"
    return np.array2string(value, precision=4, separator=", ", suppress_small=True) + kind


def brief(value: Any) -> str:
    """Write a value in at most 60 characters."""
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def kind_of(value: Any) -> str:
    """Say what kind of thing a result is."""
    if value is None:
        return "None (is a `return` missing?)"
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of {len(value)}"
    return f"of type {type(value).__name__}"


class Unreadable(ValueError):
    """An answer that couldn't be graded, and why."""


def read_formula(raw: Any, hint: dict[str, Any]) -> str:
    """Return how the grader will read a formula."""
    return _ask_the_grammar(raw, hint, "look", implicit=hint.get("implicit", False))


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
            shown = _ask_the_grammar(text, hint, "look_line", indexed=hint.get("indexed", ()))
            read.append(f"line {number}: {shown.replace('read as ', '', 1)}")
        except Unreadable as error:
            wrong.append(f"line {number}: {error}")
    if wrong:
        raise Unreadable("\n".join(wrong))
    return "\n".join([f"{len(read)} line{'s' * (len(read) != 1)}, read as", *read])


def _ask_the_grammar(raw: Any, hint: dict[str, Any], look: str, **how: Any) -> str:
    """Return what the grader's own grammar makes of a text."""
    if not isinstance(raw, (str, int, float)) or isinstance(raw, bool):
        raise Unreadable(f"text in quotes is expected, not {brief(raw)}")
    try:
        reader: Any = importlib.import_module("check_formulas")
    except ImportError:
        return f"{brief(raw)} (put check_formulas.py beside check.py to see how it is read)"
    except SyntaxError:  # it needs Python 3.10
        return brief(raw)
    calls = reader.CALLS | set(hint.get("functions", ()))
    try:
        read = getattr(reader, look)(
            str(raw), hint["names"], calls=calls, constants=reader.CONSTANTS, **how
        )
    except reader.ParseError as error:
        raise Unreadable(str(error)) from None
    except Exception:  # nobody's fault but ours: the answer may well be readable
        return brief(raw)
    return f"read as {read}"


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
    objects: dict[int, Any] = {}
    for number, call in enumerate(calls, 1):
        args, kwargs = _arguments(call, objects)
        asked, said = _asked(function, name, call, objects)
        try:
            came = _quietly(asked, args, kwargs)
            wrong = []
            if call.get("do") == "make":
                objects[call["object"]] = came
            elif "value" in call:
                expected = decode(call["value"])
                wrong = _difference(came, expected, call["compare"], "the result")
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
            return [f"{said}({', '.join(named)}){which}", *wrong, *block(named)]
    return []


def _asked(function: Any, name: str, call: Any, objects: dict[int, Any]) -> tuple[Any, str]:
    """Return what a recorded request calls, and what that is called in a message."""
    do = call.get("do", "call")
    if do in ("call", "make"):
        return function, name
    if do == "seed":
        return _seed, "seed"
    held, attribute = objects[call["object"]], call["name"]
    if do == "method":
        said = name if attribute == "__call__" else f"{name}.{attribute}"
        return lambda *args, **kwargs: getattr(held, attribute)(*args, **kwargs), said
    if do == "get":
        return lambda: getattr(held, attribute), f"{name}.{attribute}"
    return lambda value: setattr(held, attribute, value), f"{name}.{attribute}"


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


def _arguments(call: Any, objects: dict[int, Any]) -> tuple[list[Any], dict[str, Any]]:
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


GREEK = re.findall(
    r"\w+",
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau "
    "phi chi psi omega",
)


class Numbers(dict):  # type: ignore[type-arg]
    """Numbers by name, shown as formulas; or none, and a message that says why."""

    def __init__(self, numbers: dict[str, Any], message: str = "") -> None:
        super().__init__(numbers)
        self._message = message

    def __missing__(self, name: object) -> Any:
        raise KeyError(self._message or f"no {name!r} among your numbers: {', '.join(self)}")

    def __repr__(self) -> str:
        return self._message or "\n".join(block(self, 1000))

    def _repr_latex_(self) -> str | None:
        if self._message:
            return None
        lines: list[str] = []
        room = 0
        for name, value in self.items():
            for equation in _equations(_symbol(name), value):
                columns = 2 + equation.split(r"\\")[0].count("&") + equation.count(r",\ ")
                room -= columns
                if room < 0:
                    lines.append(equation)
                    room = 16 - columns
                else:
                    lines[-1] += r",\qquad " + equation
        return r"$$\begin{gathered} " + r" \\[1ex] ".join(lines) + r" \end{gathered}$$"


def _symbol(name: str) -> str:
    letter, _, index = name.partition("_")
    if len(letter) > 1 and letter.lower() not in GREEK:
        return r"\mathtt{" + name.replace("_", r"\_") + "}"
    symbol = "\\" + letter if len(letter) > 1 else letter
    if len(index) > 1:
        index = r"\mathrm{" + index.replace("_", r"\_") + "}"
    return f"{symbol}_{{{index}}}" if index else symbol


def _equations(symbol: str, value: Any) -> list[str]:
    """Return ``symbol = value``, once for each matrix where there are more than two axes."""
    if np.ndim(value) > 2:
        return [e for i, v in enumerate(value) for e in _equations(f"{symbol}[{i}]", v)]
    return [f"{symbol} = {_latex(value)}"]


def _latex(value: Any) -> str:
    if np.ndim(value) == 2:
        rows = [" & ".join(map(_latex, row)) for row in value]
        return r"\begin{pmatrix} " + r" \\ ".join(rows) + r" \end{pmatrix}"
    if np.ndim(value) == 1:
        return "(" + r",\ ".join(map(_latex, value)) + ")"
    text = str(value)  # every digit: you compute with these
    if not re.fullmatch(r"-?(\d.*|inf|nan)", text):
        return r"\text{" + re.sub(r"([_#$%&{}])", r"\\\1", text) + "}"
    text = re.sub(r"e([+-]?)0*(\d+)$", r" \\cdot 10^{\1\2}", text).replace("{+", "{")
    return "{" * (text[0] == "-") + text.replace("inf", r"\infty") + "}" * (text[0] == "-")


_student = ""


def student(id: str = "") -> None:
    """Say whose notebook this is; on JupyterHub it knows without being told."""
    global _student
    _student = str(id).strip() or os.environ.get("JUPYTERHUB_USER", "").strip()
    if _student:
        print(f"Hello {_student}: these are your own numbers.")
    else:
        print('Type your id between the quotes, as in student("ada"), and run this cell again.')


def your_numbers(exercise: str) -> Numbers:
    """Return your numbers of an exercise by name; the last line of a cell shows them.

    They can be used: ``your_numbers("attn_hand_scaled")["q"]`` is an array.
    """
    found, message = find(exercise)
    if found is None:
        return Numbers({}, message)
    if not found["pool"][0]:
        return Numbers({}, f"{exercise}: everybody has the same numbers; they are in the text.")
    mine = variant_of(exercise, found, _student)
    if mine is None:
        return Numbers({}, 'Whose? Type your id into student("…") at the top and run that cell.')
    return Numbers({name: decode(value) for name, value in found["pool"][mine].items()})


def check(exercise: str) -> None:
    """Say which answers are filled in, and what the visible checks find in your function.

    Whether an answer is right, and what the hidden checks find, you learn from your grade.
    """
    notebook = sys._getframe(1).f_globals  # the variables and functions of your notebook
    found, message = find(exercise)
    if found is None:
        print(message)
        return
    lines = [f"{exercise}: {found['title']}"]
    if found["parts"]:
        lines += report_answers(exercise, variant_of(exercise, found, _student), notebook)
    for function in found["functions"]:
        lines += report_function(function, notebook)
    if hidden := sum(function["hidden_checks"] for function in found["functions"]):
        checks = f"{hidden} hidden check{'s' * (hidden > 1)}"
        lines.append(f"  Grading also runs {checks}: passing here is not yet the mark.")
    print("\n".join(lines))

