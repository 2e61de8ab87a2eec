"""From values to frames."""

import array as arrays
import json
import sys
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np

from autograder.sandbox.wire.frames import MAGIC, PREFIX
from autograder.sandbox.wire.plain import (
    BUFFER_NODES,
    CODES,
    MAX_DEPTH,
    MAX_HEADER,
    MAX_INLINE_TEXT,
    MAX_NODES,
    PACKED_NODES,
    PACKED_PER_NODE,
    SMALL,
    TENSOR_CODES,
    Buffer,
    WireError,
    check_shape,
    checked_int,
    too_deep,
    too_many,
)

_PACKED_AT_LEAST = 8
_PACKED_CODES: dict[type[Any], str] = {float: "d", int: "q"}

# An encoder made once: faster than json.dumps, and out of reach of whoever replaces it.
_to_json = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode


def encode(value: object, *, max_payload: int | None = None) -> list[Buffer]:
    """Turn a value into the buffers of one frame.

    Parameters
    ----------
    value
        None, bool, int, float, complex, Fraction, Decimal, numbers of sympy's, str, list, tuple,
        dict (keys: str or int), numpy arrays and scalars, torch tensors, and any nesting of these.
        An instance of a subclass is sent as its base type, a set as a list that is marked, an exact
        number as a Fraction or as near as a float is.
    max_payload : int, optional
        Refuse values whose arrays and texts take more bytes than this.

    Raises
    ------
    WireError
        If the value, or something in it, is anything else, or is too large.
    """
    header, buffers = encode_parts(value)
    size = sum(map(len, buffers))
    if len(header) > MAX_HEADER or (max_payload is not None and size > max_payload):
        raise WireError("more data than can be sent")
    start = PREFIX.pack(MAGIC, len(header), size) + header
    if size <= SMALL:  # one piece to send is faster than several
        return [b"".join((start, *buffers))]
    return [start, *buffers]


def encode_parts(value: object) -> tuple[bytes, list[Buffer]]:
    """Return the header and the pieces of the payload of a value's frame."""
    encoder = _Encoder()
    tree = encoder.node(value, 0)
    try:
        return _to_json(tree).encode(), encoder.buffers
    except UnicodeEncodeError:
        raise WireError("text with unpaired surrogates") from None


class _Encoder:
    __slots__ = ("_nodes", "buffers")

    def __init__(self) -> None:
        self.buffers: list[Buffer] = []
        self._nodes = 0

    def node(self, value: Any, depth: int) -> Any:
        """Return the JSON form of a value, and keep its buffers."""
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise too_many()
        kind = type(value)
        if value is None or kind is bool or kind is float:
            return value
        if kind is str:
            return value if len(value) <= MAX_INLINE_TEXT else self._text(value)
        if kind is int:
            return checked_int(value)
        if kind is np.ndarray:
            return self._array("a", value)
        if kind is list or kind is tuple:
            return self._sequence(value, kind is tuple, depth)
        if kind is dict:
            return self._dict(value, depth)
        return self._other(value, kind, depth)

    def _other(self, value: Any, kind: type[Any], depth: int) -> Any:
        # Base-class methods called explicitly: what a subclass overrides is never run.
        if kind is complex:
            return {"c": [value.real, value.imag]}
        if issubclass(kind, np.ndarray):
            if issubclass(kind, np.ma.MaskedArray):
                raise WireError("a masked array")
            return self._array("a", np.ndarray.view(value, np.ndarray))
        if issubclass(kind, str):
            return self._text(str.__str__(value))
        if issubclass(kind, np.generic):
            return self._scalar(value, kind)
        if issubclass(kind, int):
            return checked_int(int.__int__(value))
        if issubclass(kind, float):
            return float.__float__(value)
        if issubclass(kind, list):
            return self._sequence(list.copy(value), False, depth)
        if issubclass(kind, tuple):
            return self._sequence(tuple.__getitem__(value, slice(None)), True, depth)
        if issubclass(kind, dict):
            return self._dict(dict(dict.items(value)), depth)
        if kind is set or kind is frozenset:
            return {"s": [self.node(list(value), depth)]}
        if kind in (Fraction, Decimal) or kind.__module__.startswith("sympy."):
            return _exact(value)
        torch: Any = sys.modules.get("torch")
        if torch is not None and issubclass(kind, torch.Tensor):
            return self._torch(torch, value)
        raise WireError(_a(kind.__name__))

    def _text(self, value: str) -> Any:
        if len(value) <= MAX_INLINE_TEXT:
            return value
        try:
            data = value.encode()
        except UnicodeEncodeError:
            raise WireError("text with unpaired surrogates") from None
        self.buffers.append(data)
        return {"u": len(data)}

    def _sequence(self, items: Sequence[Any], is_tuple: bool, depth: int) -> Any:
        if depth >= MAX_DEPTH:
            raise too_deep()
        if len(items) >= _PACKED_AT_LEAST:
            packed = self._packed(items)
            if packed is not None:
                return {"P" if is_tuple else "p": packed}
        nodes = [self.node(item, depth + 1) for item in items]
        return {"t": nodes} if is_tuple else nodes

    def _packed(self, items: Sequence[Any]) -> list[Any] | None:
        """Keep the buffer of a sequence of nothing but floats or integers, and describe it."""
        code = _PACKED_CODES.get(type(items[0]))
        if code is None or len(set(map(type, items))) > 1:
            return None
        try:
            numbers = arrays.array(code, items)
        except OverflowError:  # an integer of more than 64 bits
            return None
        self._nodes += PACKED_NODES + len(items) // PACKED_PER_NODE
        if self._nodes > MAX_NODES:
            raise too_many()
        self.buffers.append(numbers.tobytes())
        return [code, len(items)]

    def _dict(self, items: dict[Any, Any], depth: int) -> Any:
        if depth >= MAX_DEPTH:
            raise too_deep()
        flat = []
        for key, value in items.items():
            if type(key) is str:
                flat.append(self._text(key))
            elif type(key) is int:
                flat.append(checked_int(key))
            else:
                raise WireError(f"a dictionary with {_a(type(key).__name__)} as a key")
            flat.append(self.node(value, depth + 1))
        return {"d": flat}

    def _array(self, tag: str, array: np.ndarray[Any, Any]) -> Any:
        code = CODES.get(array.dtype)
        if code is None:
            array = array.astype(array.dtype.newbyteorder("<"))
            code = CODES.get(array.dtype)
        if code is None:
            raise WireError(f"an array of dtype {array.dtype}")
        return {tag: [code, *self._keep(array)]}

    def _keep(self, array: np.ndarray[Any, Any]) -> tuple[int, ...]:
        self._nodes += BUFFER_NODES
        shape: tuple[int, ...] = array.shape
        check_shape(shape)
        if array.nbytes <= SMALL:
            self.buffers.append(array.tobytes())
        else:
            flat = np.ascontiguousarray(array).reshape(-1)
            self.buffers.append(flat.view(np.uint8).data)
        return shape

    def _scalar(self, value: Any, kind: type[Any]) -> Any:
        dtype = np.dtype(kind)
        code = CODES.get(dtype)
        if code is None or kind is not dtype.type:
            raise WireError(_a(f"numpy {kind.__name__}"))
        self.buffers.append(np.generic.tobytes(value))
        return {"n": code}

    def _torch(self, torch: Any, value: Any) -> Any:
        try:
            tensor = value.detach().cpu().resolve_conj().resolve_neg().contiguous()
            name = str(tensor.dtype).removeprefix("torch.")
            is_bfloat16 = tensor.dtype is torch.bfloat16
            array = (tensor.view(torch.int16) if is_bfloat16 else tensor).numpy()
            code = TENSOR_CODES[name]
        except (RuntimeError, TypeError, KeyError):  # sparse, quantized, on meta, 8 bits, ...
            raise WireError("a tensor that is not an ordinary dense one") from None
        return {"T": [code, *self._keep(array)]}


def _exact(value: Any) -> Any:
    """Return a number of a library for exact ones: as a fraction, or as near as a float is."""
    try:
        if isinstance(value, Rational):
            ratio = int(value.numerator), int(value.denominator)
        elif isinstance(value, Decimal):
            ratio = value.as_integer_ratio()
        else:
            return float(value)
    except (ArithmeticError, AttributeError, TypeError, ValueError):
        raise WireError(_a(type(value).__name__)) from None
    return {"q": [*map(checked_int, ratio)]}


def _a(noun: str) -> str:
    article = "an" if noun[:1].lower() in tuple("aeiou") else "a"
    return f"{article} {noun[:100]} object"
