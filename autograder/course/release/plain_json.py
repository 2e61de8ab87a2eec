"""Values of exercises as JSON that students' notebooks read back exactly."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autograder.sandbox import Tensor
from autograder.student.differences import Comparison, difference, numbers_of


def encode(value: Any) -> Any:
    """Turn a value into JSON that ``decode`` turns back exactly.

    Text, whole numbers, booleans, None, lists and finite floats are themselves; the rest is

    ======================================================  =============================
    ``{"array": [[0.5]], "dtype": "float64", "shape": …}``  array (``"nan"``, ``"inf"``)
    ``{"scalar": 0.5, "dtype": "float32"}``                 numpy scalar
    ``{"tensor": {"array": …}, "dtype": "bfloat16"}``       tensor of torch
    ``{"tuple": […]}``, ``{"dict": [[key, value], …]}``     tuple, dictionary
    ``{"float": "nan"}``                                    NaN, ∞, −∞
    ======================================================  =============================

    Raises
    ------
    TypeError
        If the value, or something in it, is anything else.
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufU":
        dtype = "str" if value.dtype.kind == "U" else value.dtype.name
        plain = _plain(value.tolist())
        if isinstance(value, np.generic):
            return {"scalar": plain, "dtype": dtype}
        return {"array": plain, "dtype": dtype, "shape": list(value.shape)}
    if isinstance(value, Tensor) or hasattr(value, "detach"):
        dtype = str(value.dtype).removeprefix("torch.")
        return {"tensor": encode(np.asarray(numbers_of(value))), "dtype": dtype}
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, list):
        return [encode(entry) for entry in value]
    if isinstance(value, tuple):
        return {"tuple": [encode(entry) for entry in value]}
    if isinstance(value, dict):
        return {"dict": [[encode(k), encode(v)] for k, v in value.items()]}
    kind = f"{value.dtype} array" if isinstance(value, np.ndarray) else type(value).__name__
    raise TypeError(f"a value of type {kind} can't be written to check.json")


def dump(data: object) -> bytes:
    """Return JSON with one array or one short entry to a line, so that a change shows as one."""

    def lines(value: object, indent: str) -> str:
        flat = json.dumps(value, ensure_ascii=False, allow_nan=False)
        array = isinstance(value, dict) and "array" in value
        if array or len(indent) + len(flat) <= 98 or not isinstance(value, dict | list):
            return flat
        inner = indent + " "
        if isinstance(value, list):
            if not any(isinstance(entry, dict) for entry in value):
                return flat
            return f"[\n{_joined([inner + lines(v, inner) for v in value])}\n{indent}]"
        entries = [f"{inner}{json.dumps(k)}: {lines(v, inner)}" for k, v in value.items()]
        return f"{{\n{_joined(entries)}\n{indent}}}"

    return lines(data, "").encode() + b"\n"


def _joined(entries: Sequence[str]) -> str:
    return ",\n".join(entries)


def _plain(nested: object) -> Any:
    """Write NaN and infinities as text, which numpy reads back; JSON has no word for them."""
    if isinstance(nested, list):
        return [_plain(entry) for entry in nested]
    if isinstance(nested, float) and not math.isfinite(nested):
        return str(nested)
    return nested


def alike(old: object, new: object, digits: int | None = None) -> bool:
    """Tell whether two pieces of such JSON differ in nothing but how processors round.

    Numbers agree within the tolerance of their type, relative to the largest of their array; a
    nested list of numbers is one, too, and 1 is the same as 1.0.

    Parameters
    ----------
    old, new
        What ``json.loads`` gives.
    digits : int, optional
        To how many significant digits numbers of no stated type were rounded; by default they
        weren't.

    Examples
    --------
    >>> alike([0, 2.40144], [-1.4e-17, 2.40144]), alike([0, 2.40144], [0.1, 2.40144])
    (True, False)
    >>> old, new = ({"array": [v], "dtype": "float32", "shape": [1]} for v in (0.37, 0.370001))
    >>> alike(old, new), alike(old["array"], new["array"])
    (True, False)
    """
    rtol = None if digits is None else 2 * 10.0 ** (1 - digits)
    before, after, loose = _read(old), _read(new), Comparison(rtol=rtol, of_largest=True)
    # Both ways: numbers may stand where True or False should, but not the other way round.
    return not (difference(before, after, loose) or difference(after, before, loose))


def _read(value: object) -> Any:
    """Return JSON with the arrays and numbers in it that are of a stated type."""
    if isinstance(value, list):
        return [_read(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    numbers = next((value[key] for key in ("array", "scalar") if key in value), None)
    if numbers is not None and value.get("dtype", "str") != "str":
        return np.asarray(numbers, dtype=value["dtype"])
    return {key: _read(entry) for key, entry in value.items()}
