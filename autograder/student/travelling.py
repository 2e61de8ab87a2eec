"""What the grader can read of a result, which comes to it from another process as plain data."""

from __future__ import annotations

import array as arrays
import sys
from collections import deque
from decimal import Decimal
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np

# As in autograder/sandbox/wire/plain.py, which this module can't import: it goes to students.
MOST_NODES = 50_000
BYTES_NODES = 10
MANY = 8
MANY_PER_NODE = 20
ALIKE_NODES = 2
DEEPEST = 12
LONG_TEXT = 1 << 8
INTEGER_BITS = 4096
SMALL_BYTES = 1 << 14

#: What is said where something else came.
READABLE = "expected numbers, arrays, text, lists, tuples or dictionaries of these"


class Untold(Exception):
    """There is something in a result that the grader can't read; the message says what."""


def unreadable_result(value: object) -> str:
    """Say what a function returned that the grader can't read; nothing where it can.

    It completes "the function returned …", and is what the grader says.
    """
    try:
        _Weighing().see(value, 1)
    except Untold as refusal:
        return str(refusal)
    return ""


class _Weighing:
    """Goes through a value as it is sent, counting what there is to read."""

    def __init__(self) -> None:
        self.nodes = 0

    def take(self, nodes: int = 1) -> None:
        self.nodes += nodes
        if self.nodes > MOST_NODES:
            raise Untold("more values in lists and dictionaries than can be read")

    def see(self, value: Any, depth: int) -> None:
        self.take()
        kind = type(value)
        if value is None or issubclass(kind, (bool, float, complex)) or _is_exact(value):
            if issubclass(kind, np.generic):
                self.take(BYTES_NODES)
        elif issubclass(kind, str):
            self.text(value)
        elif issubclass(kind, int):
            _integer(value)
        elif issubclass(kind, (list, tuple, *_LISTS)):
            self.sequence(list(value), depth)
        elif issubclass(kind, dict):
            self.dictionary(value, depth)
        elif kind in (set, frozenset):
            self.see(list(value), depth)
        elif _block(value):
            self.take(BYTES_NODES)
        else:
            raise Untold(_a(kind.__name__))

    def text(self, value: str) -> None:
        try:
            value.encode()
        except UnicodeEncodeError:
            raise Untold("text with unpaired surrogates") from None
        if len(value) > LONG_TEXT:
            self.take(BYTES_NODES)

    def sequence(self, items: list[Any], depth: int) -> None:
        if depth >= DEEPEST:
            raise Untold("lists nested too deeply")
        if len(items) >= MANY and len({*map(type, items)}) == 1:
            nodes = _packed(items, depth)
            nodes = _alike(items) if nodes is None else nodes
            if nodes is not None:
                self.take(nodes)
                return
        for item in items:
            self.see(item, depth + 1)

    def dictionary(self, items: dict[Any, Any], depth: int) -> None:
        if depth >= DEEPEST:
            raise Untold("lists nested too deeply")
        for key, value in items.items():
            self.take()
            kind = type(key)
            if issubclass(kind, str):
                self.text(key)
            elif kind is not bool and issubclass(kind, (int, np.integer)):
                _integer(int(key))
            else:
                raise Untold(f"a dictionary with {_a(kind.__name__)} as a key")
            self.see(value, depth + 1)


#: What numpy takes for a list as well.
_LISTS = (range, deque, arrays.array)


def _packed(items: list[Any], depth: int) -> int | None:
    """Return what a list of numbers takes, or a list of lists; None if it is none."""
    size, nodes, deep = len(items), len(items), 1
    while type(items[0]) is list:
        widths = {len(row) for row in items}
        if len(widths) > 1 or not (width := widths.pop()) or depth + deep >= DEEPEST:
            return None
        size, deep = size * width, deep + 1
        nodes += size
        if nodes // MANY_PER_NODE > MOST_NODES:
            return None
        items = list(chain.from_iterable(items))
        if len({*map(type, items)}) > 1:
            return None
    kind = type(items[0])
    if kind not in (bool, int, float):
        return None
    if kind is int and not -(1 << 63) <= min(items) <= max(items) < 1 << 63:
        return None
    return BYTES_NODES + nodes // MANY_PER_NODE


def _alike(items: list[Any]) -> int | None:
    """Return what a list of arrays, scalars or tensors of one type and shape takes."""
    if not _block(items[0]):
        return None
    kinds = {_block(item) for item in items}
    if len(kinds) > 1 or items[0].nbytes > SMALL_BYTES:
        return None
    scalar = isinstance(items[0], np.generic)
    return BYTES_NODES + (len(items) // MANY_PER_NODE if scalar else ALIKE_NODES * len(items))


def _block(value: object) -> Any:
    """Return type and shape of an array, a scalar of numpy's or a tensor; nothing of all else."""
    if isinstance(value, np.ma.MaskedArray):
        raise Untold("a masked array")
    if isinstance(value, (np.ndarray, np.generic)) and not isinstance(value, str):
        if isinstance(value, np.ndarray) and value.ndim > 8:
            raise Untold(f"an array with {value.ndim} axes")
        if value.dtype.kind not in "biufc":
            name = f"numpy {type(value).__name__}"
            is_array = isinstance(value, np.ndarray)
            raise Untold(f"an array of dtype {value.dtype}" if is_array else _a(name))
        return str(value.dtype), value.shape
    torch: Any = sys.modules.get("torch")
    if torch is None or not isinstance(value, torch.Tensor):
        return None
    try:
        tensor = value.detach().cpu().resolve_conj().resolve_neg()
        (tensor.view(torch.int16) if tensor.dtype is torch.bfloat16 else tensor).numpy()
    except (RuntimeError, TypeError):
        raise Untold("a tensor that is not an ordinary dense one") from None
    return str(tensor.dtype), tuple(tensor.shape)


def _is_exact(value: Any) -> bool:
    """Tell whether it is a number of a library for exact ones."""
    kind = type(value)
    if kind not in (Fraction, Decimal) and not kind.__module__.startswith("sympy."):
        return False
    try:
        float(value)
    except (ArithmeticError, AttributeError, TypeError, ValueError):
        raise Untold(_a(kind.__name__)) from None
    if kind is Decimal and not value.is_finite():
        raise Untold(_a(kind.__name__))
    return True


def _integer(value: int) -> None:
    if int(value).bit_length() > INTEGER_BITS:
        raise Untold(f"an integer of more than {INTEGER_BITS} bits")


def _a(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in tuple('aeiou') else 'a'} {noun[:100]} object"
