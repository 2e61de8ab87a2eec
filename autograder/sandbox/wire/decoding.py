"""From frames to values."""

import json
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from autograder.sandbox.wire.plain import (
    BUFFER_NODES,
    DTYPES,
    MAX_DEPTH,
    MAX_INLINE_TEXT,
    MAX_NODES,
    SMALL,
    TENSOR_NAMES,
    Buffer,
    Nodes,
    Tensor,
    Unordered,
    WireError,
    check_depth,
    check_shape,
    checked_int,
    like_nodes,
    packed_nodes,
)

_PACKED: dict[str, np.dtype[Any]] = {
    "d": np.dtype("<f8"),
    "q": np.dtype("<i8"),
    "?": np.dtype("u1"),
}
_DIGITS_AS_NINES = bytes(57 if 48 <= byte <= 57 else byte for byte in range(256))
_LONG_NUMBER = b"9" * 1300

# A decoder made once: faster than json.loads, and out of reach of whoever replaces it.
_from_json = json.JSONDecoder().raw_decode


def decode(
    header: Buffer,
    payload: Buffer,
    *,
    torch_tensors: bool = False,
    copy: bool = True,
    lent: bool = False,
) -> Any:
    """Rebuild the value of a frame.

    Parameters
    ----------
    header, payload
        The two parts, of the lengths given by `frame_lengths`.
    torch_tensors : bool
        Return tensors as torch tensors (this imports torch) instead of as `Tensor`.
    copy : bool
        Whether the payload is still needed. If not, and it is writable, then large arrays are
        parts of it instead of copies.
    lent : bool
        Whether all arrays are to be parts of the payload, for its sender to see what becomes of
        them: small ones, unaligned ones, and truth values, of which no byte is looked at then.

    Returns
    -------
    object
        Arrays are base-class `numpy.ndarray`, and writable.

    Raises
    ------
    WireError
        If anything is not in order.
    """
    if len(header) > MAX_NODES:
        _check_structure(bytes(header))
    try:
        text = str(header, "utf-8")
        tree, end = _from_json(text)
    except (ValueError, RecursionError) as error:
        raise WireError(f"a header that is not JSON ({type(error).__name__})") from None
    if end != len(text):
        raise WireError("a header with something after it")
    decoder = _Decoder(payload, torch_tensors, copy, lent)
    value = decoder.node(tree, 0)
    decoder.finish()
    return value


class _Decoder:
    __slots__ = ("_copy", "_count", "_lent", "_payload", "_position", "_torch_tensors")

    def __init__(self, payload: Buffer, torch_tensors: bool, copy: bool, lent: bool) -> None:
        self._payload = memoryview(payload)
        self._position = 0
        self._count = Nodes()
        self._torch_tensors = torch_tensors
        self._copy = copy or self._payload.readonly
        self._lent = lent

    def finish(self) -> None:
        if self._position != len(self._payload):
            raise WireError("a payload that is longer than announced")

    def node(self, tree: Any, depth: int) -> Any:
        """Return the value of a JSON form, taking its buffers from the payload."""
        self._count.take()
        kind = type(tree)
        if kind is str:
            return _checked_text(tree)
        if kind is int:
            return checked_int(tree)
        if kind is list:
            check_depth(depth)
            return [self.node(item, depth + 1) for item in tree]
        if kind is not dict:
            return tree  # None, bool or float: JSON has nothing else
        if len(tree) != 1:
            raise WireError("an object with other than one key")
        [(tag, content)] = tree.items()
        if type(content) is not list and tag not in _BARE:
            raise WireError("an object without a list")
        read = _TAGGED.get(tag)
        if read is None:
            raise WireError("an unknown tag")
        return read(self, content, depth)

    def _tuple(self, content: list[Any], depth: int) -> tuple[Any, ...]:
        check_depth(depth)
        return tuple([self.node(item, depth + 1) for item in content])

    def _set(self, content: list[Any], depth: int) -> Unordered:
        check_depth(depth)
        [entries] = content if len(content) == 1 else [None]
        packed = type(entries) is dict and [*entries] in (["p"], ["l"])
        if type(entries) is not list and not packed:
            raise WireError("a set without a list")
        return Unordered(self.node(entries, depth))

    def _packed(self, content: list[Any], depth: int) -> list[Any]:
        check_depth(depth)
        code, *shape = content or [None]
        dtype = _PACKED.get(code) if type(code) is str else None
        if dtype is None or not shape:
            raise WireError("a packed list of an unknown kind")
        if not all(type(n) is int and n > 0 for n in shape):
            raise WireError("a packed list of no length")
        check_depth(depth + len(shape) - 1)
        self._count.take(packed_nodes(shape))
        numbers = np.frombuffer(self._take(dtype.itemsize * math.prod(shape)), dtype)
        numbers = numbers != 0 if code == "?" else numbers
        found: list[Any] = numbers.reshape(shape).tolist()
        return found

    def _like(self, content: list[Any], depth: int) -> list[Any]:
        check_depth(depth)
        tag, code, *shape = content if len(content) > 2 else [None] * 3
        if tag not in ("n", "a", "T") or type(shape[0]) is not int or shape[0] < 1:
            raise WireError("a list of like things of an unknown kind")
        if tag == "n" and len(shape) > 1:
            raise WireError("scalars that are arrays")
        self._count.take(like_nodes(tag, shape[0]))
        described = [code, *shape]
        found = self._array(_as_array(described) if tag == "T" else described)
        if tag == "n":
            return list(found)
        parts = [found[i, ...] for i in range(shape[0])]
        return [self._as_tensor([code], part) for part in parts] if tag == "T" else parts

    def _dict(self, content: list[Any], depth: int) -> dict[Any, Any]:
        check_depth(depth)
        result = {}
        if len(content) % 2:
            raise WireError("a key without a value")
        items = iter(content)
        for key, value in zip(items, items, strict=True):
            if type(key) is str:
                self._count.take()
                _checked_text(key)
            else:
                key = self.node(key, MAX_DEPTH)
                if type(key) is not str and type(key) is not int:
                    raise WireError("a key that is neither text nor an integer")
            result[key] = self.node(value, depth + 1)
        return result

    def _take(self, size: int) -> memoryview:
        self._count.take(BUFFER_NODES)
        end = self._position + size
        if end > len(self._payload):
            raise WireError("a payload that is shorter than announced")
        part = self._payload[self._position : end]
        self._position = end
        return part

    def _text(self, size: object) -> str:
        if type(size) is not int or size < 0:
            raise WireError("a text of no length")
        try:
            return str(self._take(size), "utf-8")
        except UnicodeDecodeError:
            raise WireError("text that is not UTF-8") from None

    def _array(self, content: list[Any]) -> np.ndarray[Any, Any]:
        code, *shape = content or [None]
        dtype = DTYPES.get(code) if type(code) is str else None
        if dtype is None:
            raise WireError("an unknown dtype")
        for size in shape:
            if type(size) is not int or size < 0:
                raise WireError("a shape that is none")
        raw = self._take(check_shape(shape) * dtype.itemsize)
        if self._lent:
            return np.ndarray(shape, dtype, raw)
        if code == "b1":  # a byte other than 0 and 1 would be a third truth value
            return np.ndarray(shape, np.uint8, raw).astype(bool)
        array: np.ndarray[Any, Any] = np.ndarray(shape, dtype, raw)
        if self._copy or len(raw) <= SMALL or not array.flags.aligned:
            return array.copy()
        return array

    def _tensor(self, content: list[Any]) -> Any:
        return self._as_tensor(content[:1], self._array(_as_array(content)))

    def _as_tensor(self, code: list[Any], array: np.ndarray[Any, Any]) -> Any:
        is_bfloat16 = code == ["bf16"]
        if self._torch_tensors:
            import torch

            if is_bfloat16:
                return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
            return torch.from_numpy(array)
        if is_bfloat16:
            return Tensor("bfloat16", (array.astype(np.uint32) << 16).view(np.float32))
        return Tensor(TENSOR_NAMES[code[0]], array)


#: What an object of one key says, by the key.
_TAGGED: dict[str, Callable[[_Decoder, Any, int], Any]] = {
    "u": lambda decoder, size, _: decoder._text(size),
    "n": lambda decoder, code, _: decoder._array([code])[()],
    "a": lambda decoder, content, _: decoder._array(content),
    "T": lambda decoder, content, _: decoder._tensor(content),
    "c": lambda _, content, __: _complex(content),
    "q": lambda _, content, __: _fraction(content),
    "d": _Decoder._dict,
    "t": _Decoder._tuple,
    "s": _Decoder._set,
    "p": _Decoder._packed,
    "P": lambda decoder, content, depth: tuple(decoder._packed(content, depth)),
    "l": _Decoder._like,
    "L": lambda decoder, content, depth: tuple(decoder._like(content, depth)),
}
#: What stands behind these is no list.
_BARE = ("u", "n")


def _as_array(content: list[Any]) -> list[Any]:
    """Return what describes the array that a tensor travels as; numpy has no bfloat16."""
    return ["u2", *content[1:]] if content[:1] == ["bf16"] else content


def _check_structure(header: bytes) -> None:
    """Refuse a header of more values than there may be before they are all made."""
    plain = header.replace(rb"\\", b"").replace(rb"\"", b"")
    outside = b""
    if plain.count(b'"') <= 5 * MAX_NODES:
        outside = b"".join(plain.split(b'"')[::2])
    if not outside or sum(map(outside.count, (b",", b"[", b"{"))) > 5 * MAX_NODES:
        raise WireError("more values than can be read")
    # Reading a number takes time that grows with the square of its length.
    if _LONG_NUMBER in outside.translate(_DIGITS_AS_NINES):
        raise WireError("an integer of too many digits")


def _checked_text(value: str) -> str:
    if len(value) > MAX_INLINE_TEXT:
        raise WireError("a text that is too long for the header")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise WireError("text with unpaired surrogates") from None
    return value


def _fraction(content: list[Any]) -> Fraction:
    if len(content) != 2 or not all(type(part) is int for part in content) or content[1] < 1:
        raise WireError("a fraction without two whole numbers")
    return Fraction(*map(checked_int, content))


def _complex(content: list[Any]) -> complex:
    if len(content) != 2 or not all(type(part) is float for part in content):
        raise WireError("a complex number without two parts")
    return complex(*content)
