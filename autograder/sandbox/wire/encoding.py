"""From values to frames."""

import array as arrays
import json
import sys
from collections import deque
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import chain, groupby
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
    PACKED_AT_LEAST,
    SMALL,
    TENSOR_CODES,
    Buffer,
    Nodes,
    TensorNumbers,
    WireError,
    check_depth,
    check_shape,
    checked_int,
    like_nodes,
    packed_nodes,
)

_PACKED_CODES: dict[type[Any], str] = {float: "d", int: "q", bool: "?"}
#: What numpy takes for a list as well.
_LISTS = (range, deque, arrays.array)

# An encoder made once: faster than json.dumps, and out of reach of whoever replaces it.
_to_json = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode


def encode(value: object, *, max_payload: int | None = None) -> list[Buffer]:
    """Turn a value into the buffers of one frame.

    Parameters
    ----------
    value
        None, bool, int, float, complex, Fraction, Decimal, numbers of sympy's, str, list, tuple,
        dict (keys: str or int), numpy arrays and scalars, torch tensors, and any nesting of these.
        An instance of a subclass is sent as its base type, a range as a list, a set as a list that
        is marked, an exact number as a Fraction or as near as a float is.
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
    return _joined([PREFIX.pack(MAGIC, len(header), size) + header, *buffers])


def encode_parts(value: object) -> tuple[bytes, list[Buffer]]:
    """Return the header and the pieces of the payload of a value's frame."""
    encoder = _Encoder()
    tree = encoder.node(value, 0)
    try:
        return _to_json(tree).encode(), encoder.buffers
    except UnicodeEncodeError:
        raise WireError("text with unpaired surrogates") from None


def _joined(buffers: list[Buffer]) -> list[Buffer]:
    """Put small pieces that follow one another together: few are sooner sent than many."""
    pieces: list[Buffer] = []
    for small, group in groupby(buffers, lambda buffer: len(buffer) <= SMALL):
        if small:
            pieces.append(b"".join(group))
        else:
            pieces += group
    return pieces


class _Encoder:
    __slots__ = ("_count", "buffers")

    def __init__(self) -> None:
        self.buffers: list[Buffer] = []
        self._count = Nodes()

    def node(self, value: Any, depth: int) -> Any:
        """Return the JSON form of a value, and keep its buffers."""
        self._count.take()
        kind = type(value)
        if value is None or kind is bool or kind is float:
            return value
        if kind is str:
            return value if len(value) <= MAX_INLINE_TEXT else self._text(value)
        if kind is int:
            return checked_int(value)
        if kind is list or kind is tuple:
            return self._sequence(value, kind is tuple, depth)
        if kind is dict:
            return self._dict(value, depth)
        if (block := _block(value)) is not None:
            tag, code, array = block
            shape = self._keep(array)
            return {tag: code} if tag == "n" else {tag: [code, *shape]}
        return self._other(value, kind, depth)

    def _other(self, value: Any, kind: type[Any], depth: int) -> Any:
        # Base-class methods called explicitly: what a subclass overrides is never run.
        if kind is complex:
            return {"c": [value.real, value.imag]}
        if issubclass(kind, str):
            return self._text(str.__str__(value))
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
        if kind in _LISTS:
            return self._sequence(list(value), False, depth)
        if kind is set or kind is frozenset:
            return {"s": [self.node(list(value), depth)]}
        if kind in (Fraction, Decimal) or kind.__module__.startswith("sympy."):
            return _exact(value)
        raise WireError(_a(kind.__name__))

    def _text(self, value: str) -> Any:
        if len(value) <= MAX_INLINE_TEXT:
            return value
        try:
            data = value.encode()
        except UnicodeEncodeError:
            raise WireError("text with unpaired surrogates") from None
        self._count.take(BUFFER_NODES)
        self.buffers.append(data)
        return {"u": len(data)}

    def _sequence(self, items: Sequence[Any], is_tuple: bool, depth: int) -> Any:
        check_depth(depth)
        if len(items) >= PACKED_AT_LEAST and len(set(map(type, items))) == 1:
            if (packed := self._packed(items, depth)) is not None:
                return {"P" if is_tuple else "p": packed}
            if (like := self._like(items)) is not None:
                return {"L" if is_tuple else "l": like}
        nodes = [self.node(item, depth + 1) for item in items]
        return {"t": nodes} if is_tuple else nodes

    def _packed(self, items: Sequence[Any], depth: int) -> list[Any] | None:
        """Keep numbers of one type as one buffer, in lists of lists as well, and describe them."""
        shape = [len(items)]
        while type(items[0]) is list:
            widths = {len(row) for row in items if type(row) is list}
            if len(widths) > 1 or not (width := widths.pop()) or depth + len(shape) >= MAX_DEPTH:
                return None
            if packed_nodes(wider := [*shape, width]) > MAX_NODES:
                return None  # the reason is told where each is looked at
            items, shape = list(chain.from_iterable(items)), wider
            if len(set(map(type, items))) > 1:
                return None
        code = _PACKED_CODES.get(type(items[0]))
        if code is None:
            return None
        try:
            numbers = bytes(items) if code == "?" else arrays.array(code, items).tobytes()
        except OverflowError:  # an integer of more than 64 bits
            return None
        self._count.take(BUFFER_NODES + packed_nodes(shape))
        self.buffers.append(numbers)
        return [code, *shape]

    def _like(self, items: Sequence[Any]) -> list[Any] | None:
        """Keep arrays, scalars or tensors of one type and shape as one buffer."""
        if _block(items[0]) is None:
            return None
        parts, kinds = [], set()
        for item in items:
            tag, code, array = _block(item) or ("", "", np.empty(0))
            kinds.add((tag, code, array.shape))
            if len(kinds) > 1 or array.nbytes > SMALL:
                return None
            parts.append(array.tobytes())
        self._count.take(BUFFER_NODES + like_nodes(tag, len(items)))
        check_shape((len(items), *array.shape))
        self.buffers.append(b"".join(parts))
        return [tag, code, len(items), *array.shape]

    def _dict(self, items: dict[Any, Any], depth: int) -> Any:
        check_depth(depth)
        flat = []
        for key, value in items.items():
            self._count.take()
            kind = type(key)
            if issubclass(kind, str):
                flat.append(self._text(str.__str__(key)))
            elif kind is not bool and issubclass(kind, int | np.integer):
                flat.append(checked_int(int(key)))
            else:
                raise WireError(f"a dictionary with {_a(kind.__name__)} as a key")
            flat.append(self.node(value, depth + 1))
        return {"d": flat}

    def _keep(self, array: np.ndarray[Any, Any]) -> tuple[int, ...]:
        self._count.take(BUFFER_NODES)
        shape: tuple[int, ...] = array.shape
        check_shape(shape)
        if array.nbytes <= SMALL:
            self.buffers.append(array.tobytes())
        else:
            flat = np.ascontiguousarray(array).reshape(-1)
            self.buffers.append(flat.view(np.uint8).data)
        return shape


def _block(value: Any) -> tuple[str, str, np.ndarray[Any, Any]] | None:
    """Return tag, code and numbers of an array, a scalar of numpy's or a tensor.

    Of a subclass no method is called.
    """
    kind = type(value)
    if issubclass(kind, np.ndarray):
        if issubclass(kind, np.ma.MaskedArray):
            raise WireError("a masked array")
        array = np.ndarray.view(value, np.ndarray)
        tag = "T" if kind is TensorNumbers else "a"
        return tag, *_coded(array)
    if issubclass(kind, np.generic) and not issubclass(kind, str):
        dtype = np.dtype(kind)
        if kind is not dtype.type:
            raise WireError(_a(f"numpy {kind.__name__}"))
        if issubclass(kind, np.number | np.bool_) or dtype in CODES:
            return "n", *_coded(np.array(value), kind)
        raise WireError(_a(f"numpy {kind.__name__}"))
    torch: Any = sys.modules.get("torch")
    if torch is not None and issubclass(kind, torch.Tensor):
        return "T", *_torch(torch, value)
    return None


def _coded(
    array: np.ndarray[Any, Any], scalar: type | None = None
) -> tuple[str, np.ndarray[Any, Any]]:
    """Return the code of an array's type, and the array in that type; it may hold a ``scalar``."""
    dtype = array.dtype
    code = CODES.get(dtype)
    if code is None:
        # Of more than 8 bytes a part is what platforms don't have in common.
        wide = {"f": "<f8", "c": "<c16"}.get(dtype.kind) if dtype.itemsize > 8 else None
        array = array.astype(wide or dtype.newbyteorder("<"))
        code = CODES.get(array.dtype)
    if code is None:  # only here is the type written down: that takes as long as all the rest
        noun = _a(f"numpy {scalar.__name__}") if scalar else f"an array of dtype {dtype}"
        raise WireError(noun)
    return code, array


def _torch(torch: Any, value: Any) -> tuple[str, np.ndarray[Any, Any]]:
    try:
        tensor = value.detach().cpu().resolve_conj().resolve_neg().contiguous()
        name = str(tensor.dtype).removeprefix("torch.")
        is_bfloat16 = tensor.dtype is torch.bfloat16
        array = (tensor.view(torch.int16) if is_bfloat16 else tensor).numpy()
        return TENSOR_CODES[name], array
    except (RuntimeError, TypeError, KeyError):  # sparse, quantized, on meta, 8 bits, ...
        raise WireError("a tensor that is not an ordinary dense one") from None


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
