"""Frames that carry plain data between the grader and a worker.

A frame is one value::

    magic "AGW1" | header length (u32) | payload length (u64) | header | payload

The header is JSON. Text, numbers, booleans, ``None`` and lists are themselves; everything else is
an object with a single key:

======================  =================================================================
``{"t": [...]}``        tuple
``{"d": [k, v, ...]}``  dict with keys of type str or int
``{"c": [re, im]}``     complex
``{"u": n}``            long text: n bytes of UTF-8 in the payload
``{"p": ["d", n]}``     list of n floats ("d") or integers ("q"), 8 bytes each in the payload
``{"P": ["d", n]}``     tuple of these
``{"a": ["f8", 2, 3]}`` numpy array: dtype code and shape, little-endian items in the payload
``{"n": "f8"}``         numpy scalar
``{"T": ["f4", 2, 3]}`` torch tensor
======================  =================================================================

The payload holds the buffers in the order in which the header mentions them. There is neither
pickle nor eval: whoever controls the sender can make the receiver build these values and nothing
else. Everything about a frame is checked before memory is set aside for it, and a frame that is
not in order is a `WireError`, never another exception.
"""

import array as arrays
import json
import math
import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Buffer = bytes | bytearray | memoryview

MAGIC = b"AGW1"
PREFIX = struct.Struct("<4sIQ")
MAX_HEADER = 1 << 20
MAX_DEPTH = 8
MAX_NODES = 5_000
_DIGITS_AS_NINES = bytes(57 if 48 <= byte <= 57 else byte for byte in range(256))
_LONG_NUMBER = b"9" * 1300
_BUFFER_NODES = 10  # an array takes as long as so many numbers
_PACKED_NODES = 3  # so does a list of nothing but floats or integers, and then each 20 of these
_PACKED_PER_NODE = 20
_PACKED_AT_LEAST = 8
MAX_INLINE_TEXT = 1 << 12
MAX_INT_BITS = 4096
MAX_NDIM = 8
MAX_ITEMS = 1 << 31
_COPIED = 1 << 14  # smaller buffers are joined: one piece to send is faster than several

_KINDS = {"b": [1], "i": [1, 2, 4, 8], "u": [1, 2, 4, 8], "f": [2, 4, 8], "c": [8, 16]}
_DTYPES = {f"{kind}{size}": np.dtype(f"<{kind}{size}") for kind in _KINDS for size in _KINDS[kind]}
_CODES = {dtype: code for code, dtype in _DTYPES.items()}
_TENSOR_NAMES = {code: dtype.name for code, dtype in _DTYPES.items()} | {"bf16": "bfloat16"}
_TENSOR_CODES = {name: code for code, name in _TENSOR_NAMES.items()}

# Encoder objects made once: faster than json.dumps, and out of reach of whoever replaces it.
_to_json = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode
_from_json = json.JSONDecoder().raw_decode


class WireError(Exception):
    """A value that cannot be sent, or a frame that is not in order.

    When sending, the message is a noun phrase that completes "the function returned ...".
    """


@dataclass(frozen=True, eq=False)
class Tensor:
    """A torch tensor as it arrives where torch may not be loaded.

    Parameters
    ----------
    dtype : str
        torch's name of the type, such as ``"float32"`` or ``"bfloat16"``.
    array : numpy.ndarray
        The values. numpy knows no bfloat16: these arrive, exactly, as float32.
    """

    dtype: str
    array: np.ndarray[Any, Any]


def encode(value: object, *, max_payload: int | None = None) -> list[Buffer]:
    """Turn a value into the buffers of one frame.

    Parameters
    ----------
    value
        None, bool, int, float, complex, str, list, tuple, dict (keys: str or int), numpy arrays
        and scalars, torch tensors, and any nesting of these. An instance of a subclass is sent as
        its base type, a set as a list in any order.
    max_payload : int, optional
        Refuse values whose arrays and texts take more bytes than this.

    Raises
    ------
    WireError
        If the value, or something in it, is anything else, or is too large.
    """
    encoder = _Encoder()
    tree = encoder.node(value, 0)
    try:
        header = _to_json(tree).encode()
    except UnicodeEncodeError:
        raise WireError("text with unpaired surrogates") from None
    size = sum(map(len, encoder.buffers))
    if len(header) > MAX_HEADER or (max_payload is not None and size > max_payload):
        raise WireError("more data than can be sent")
    start = PREFIX.pack(MAGIC, len(header), size) + header
    if size <= _COPIED:
        return [b"".join((start, *encoder.buffers))]
    return [start, *encoder.buffers]


def frame_lengths(prefix: Buffer, max_payload: int) -> tuple[int, int]:
    """Read the lengths of header and payload from the first `PREFIX.size` bytes of a frame.

    Raises
    ------
    WireError
        If the magic is wrong or a length is above its limit.
    """
    if len(prefix) != PREFIX.size:
        raise WireError("a prefix of the wrong length")
    magic, header, payload = PREFIX.unpack(prefix)
    if magic != MAGIC:
        raise WireError("a frame that does not begin as it should")
    if header > MAX_HEADER or payload > max_payload:
        raise WireError("a frame above the size limit")
    return header, payload


def decode(header: Buffer, payload: Buffer, *, torch_tensors: bool = False) -> Any:
    """Rebuild the value of a frame.

    Parameters
    ----------
    header, payload
        The two parts, of the lengths given by `frame_lengths`.
    torch_tensors : bool
        Return tensors as torch tensors (this imports torch) instead of as `Tensor`.

    Returns
    -------
    object
        Arrays are base-class `numpy.ndarray`, writable, and own their memory.

    Raises
    ------
    WireError
        If anything is not in order.
    """
    if len(header) > MAX_NODES:
        _check_structure(bytes(header))
    try:
        text = bytes(header).decode()
        tree, end = _from_json(text)
    except (ValueError, RecursionError) as error:
        raise WireError(f"a header that is not JSON ({type(error).__name__})") from None
    if end != len(text):
        raise WireError("a header with something after it")
    decoder = _Decoder(payload, torch_tensors)
    value = decoder.node(tree, 0)
    decoder.finish()
    return value


class _Encoder:
    def __init__(self) -> None:
        self.buffers: list[Buffer] = []
        self._nodes = 0

    def node(self, value: Any, depth: int) -> Any:
        """Return the JSON form of a value, and keep its buffers."""
        self._nodes += 1
        _check_nodes(self._nodes)
        kind = type(value)
        if value is None or kind is bool or kind is float:
            return value
        if kind is str:
            return self._text(value)
        if kind is int:
            return _checked_int(value)
        if kind is list or kind is tuple:
            return self._sequence(value, kind is tuple, depth)
        if kind is dict:
            return self._dict(value, depth)
        if kind is np.ndarray:
            return self._array("a", value)
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
            return _checked_int(int.__int__(value))
        if issubclass(kind, float):
            return float.__float__(value)
        if issubclass(kind, list):
            return self._sequence(list.copy(value), False, depth)
        if issubclass(kind, tuple):
            return self._sequence(tuple.__getitem__(value, slice(None)), True, depth)
        if issubclass(kind, dict):
            return self._dict(dict(dict.items(value)), depth)
        if kind is set or kind is frozenset:
            return self._sequence(list(value), False, depth)
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
        _check_depth(depth)
        packed = self._packed(items)
        if packed is not None:
            return {"P" if is_tuple else "p": packed}
        nodes = [self.node(item, depth + 1) for item in items]
        return {"t": nodes} if is_tuple else nodes

    def _packed(self, items: Sequence[Any]) -> list[Any] | None:
        """Keep the buffer of a sequence of nothing but floats or integers, and describe it."""
        if len(items) < _PACKED_AT_LEAST:
            return None
        code = {float: "d", int: "q"}.get(type(items[0]))
        if code is None or len(set(map(type, items))) > 1:
            return None
        try:
            numbers = arrays.array(code, items)
        except OverflowError:  # an integer of more than 64 bits
            return None
        self._nodes += _PACKED_NODES + len(items) // _PACKED_PER_NODE
        _check_nodes(self._nodes)
        self.buffers.append(numbers.tobytes())
        return [code, len(items)]

    def _dict(self, items: dict[Any, Any], depth: int) -> Any:
        _check_depth(depth)
        flat = []
        for key, value in items.items():
            if type(key) is str:
                flat.append(self._text(key))
            elif type(key) is int:
                flat.append(_checked_int(key))
            else:
                raise WireError(f"a dictionary with {_a(type(key).__name__)} as a key")
            flat.append(self.node(value, depth + 1))
        return {"d": flat}

    def _array(self, tag: str, array: np.ndarray[Any, Any]) -> Any:
        code = _CODES.get(array.dtype)
        if code is None:
            array = array.astype(array.dtype.newbyteorder("<"))
            code = _CODES.get(array.dtype)
        if code is None:
            raise WireError(f"an array of dtype {array.dtype}")
        return {tag: [code, *self._keep(array)]}

    def _keep(self, array: np.ndarray[Any, Any]) -> tuple[int, ...]:
        self._nodes += _BUFFER_NODES
        shape: tuple[int, ...] = array.shape
        if len(shape) > MAX_NDIM:
            raise WireError(f"an array with {len(shape)} axes")
        if not _shape_fits(shape):
            raise WireError("an array with too many items")
        if array.nbytes <= _COPIED:
            self.buffers.append(array.tobytes())
        else:
            flat = np.ascontiguousarray(array).reshape(-1)
            self.buffers.append(flat.view(np.uint8).data)
        return shape

    def _scalar(self, value: Any, kind: type[Any]) -> Any:
        dtype = np.dtype(kind)
        code = _CODES.get(dtype)
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
            code = _TENSOR_CODES[name]
        except (RuntimeError, TypeError, KeyError):  # sparse, quantized, on meta, 8 bits, ...
            raise WireError("a tensor that is not an ordinary dense one") from None
        return {"T": [code, *self._keep(array)]}


class _Decoder:
    def __init__(self, payload: Buffer, torch_tensors: bool) -> None:
        self._payload = memoryview(payload)
        self._position = 0
        self._nodes = 0
        self._torch_tensors = torch_tensors

    def finish(self) -> None:
        if self._position != len(self._payload):
            raise WireError("a payload that is longer than announced")

    def node(self, tree: Any, depth: int) -> Any:
        """Return the value of a JSON form, taking its buffers from the payload."""
        self._nodes += 1
        _check_nodes(self._nodes)
        kind = type(tree)
        if kind is str:
            return _checked_text(tree)
        if kind is int:
            return _checked_int(tree)
        if kind is list:
            _check_depth(depth)
            return [self.node(item, depth + 1) for item in tree]
        if kind is not dict:
            return tree  # None, bool or float: JSON has nothing else
        if len(tree) != 1:
            raise WireError("an object with other than one key")
        [(tag, content)] = tree.items()
        if tag == "u":
            return self._text(content)
        if tag == "n":
            return self._array([content])[()]
        if type(content) is not list:
            raise WireError("an object without a list")
        if tag == "a":
            return self._array(content)
        if tag == "T":
            return self._tensor(content)
        if tag == "c":
            return _complex(content)
        _check_depth(depth)
        if tag == "p":
            return self._packed(content)
        if tag == "P":
            return tuple(self._packed(content))
        if tag == "t":
            return tuple([self.node(item, depth + 1) for item in content])
        if tag == "d":
            return self._dict(content, depth)
        raise WireError("an unknown tag")

    def _packed(self, content: list[Any]) -> list[Any]:
        if len(content) != 2 or content[0] not in ("d", "q"):
            raise WireError("a packed list of an unknown kind")
        code, size = content
        if type(size) is not int or size < 0:
            raise WireError("a packed list of no length")
        self._nodes += size // _PACKED_PER_NODE
        _check_nodes(self._nodes)
        numbers = arrays.array(code)
        numbers.frombytes(self._take(8 * size))
        return numbers.tolist()

    def _dict(self, content: list[Any], depth: int) -> dict[Any, Any]:
        result = {}
        if len(content) % 2:
            raise WireError("a key without a value")
        items = iter(content)
        for key, value in zip(items, items, strict=True):
            if type(key) is str:
                _checked_text(key)
            else:
                key = self.node(key, MAX_DEPTH)
                if type(key) is not str and type(key) is not int:
                    raise WireError("a key that is neither text nor an integer")
            result[key] = self.node(value, depth + 1)
        return result

    def _take(self, size: int) -> memoryview:
        self._nodes += _BUFFER_NODES
        end = self._position + size
        if end > len(self._payload):
            raise WireError("a payload that is shorter than announced")
        part = self._payload[self._position : end]
        self._position = end
        return part

    def _text(self, size: Any) -> str:
        if type(size) is not int or size < 0:
            raise WireError("a text of no length")
        try:
            return bytes(self._take(size)).decode()
        except UnicodeDecodeError:
            raise WireError("text that is not UTF-8") from None

    def _array(self, content: list[Any]) -> np.ndarray[Any, Any]:
        code, *shape = content or [None]
        dtype = _DTYPES.get(code) if type(code) is str else None
        if dtype is None:
            raise WireError("an unknown dtype")
        if len(shape) > MAX_NDIM or not all(type(n) is int and n >= 0 for n in shape):
            raise WireError("a shape that is none")
        if not _shape_fits(shape):
            raise WireError("an array with too many items")
        raw = self._take(math.prod(shape) * dtype.itemsize)
        if code == "b1":  # a byte other than 0 and 1 would be a third truth value
            return np.ndarray(shape, np.uint8, raw).astype(bool)
        return np.ndarray(shape, dtype, raw).copy()

    def _tensor(self, content: list[Any]) -> Any:
        is_bfloat16 = content[:1] == ["bf16"]
        array = self._array(["u2", *content[1:]] if is_bfloat16 else content)
        if self._torch_tensors:
            import torch

            if is_bfloat16:
                return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
            return torch.from_numpy(array)
        if is_bfloat16:
            return Tensor("bfloat16", (array.astype(np.uint32) << 16).view(np.float32))
        return Tensor(_TENSOR_NAMES[content[0]], array)


def _a(noun: str) -> str:
    article = "an" if noun[:1].lower() in tuple("aeiou") else "a"
    return f"{article} {noun[:100]} object"


def _check_structure(header: bytes) -> None:
    """Refuse a header of more values than there may be before they are all made."""
    plain = header.replace(rb"\\", b"").replace(rb"\"", b"")
    outside = b""
    if plain.count(b'"') <= 4 * MAX_NODES:
        outside = b"".join(plain.split(b'"')[::2])
    if not outside or sum(map(outside.count, (b",", b"[", b"{"))) > 4 * MAX_NODES:
        raise WireError("too many values")
    # Reading a number takes time that grows with the square of its length.
    if _LONG_NUMBER in outside.translate(_DIGITS_AS_NINES):
        raise WireError("an integer of too many digits")


def _check_nodes(count: int) -> None:
    if count > MAX_NODES:
        raise WireError(f"more than {MAX_NODES} values outside of arrays")


def _check_depth(depth: int) -> None:
    if depth >= MAX_DEPTH:
        raise WireError(f"data nested more than {MAX_DEPTH} deep")


def _checked_int(value: int) -> int:
    if value.bit_length() > MAX_INT_BITS:
        raise WireError(f"an integer of more than {MAX_INT_BITS} bits")
    return value


def _checked_text(value: str) -> str:
    if len(value) > MAX_INLINE_TEXT:
        raise WireError("a text that is too long for the header")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise WireError("text with unpaired surrogates") from None
    return value


def _shape_fits(shape: Sequence[int]) -> bool:
    # Zeros are left out: numpy refuses (0, 2**40, 2**40) too.
    return math.prod(n or 1 for n in shape) <= MAX_ITEMS


def _complex(content: list[Any]) -> complex:
    if len(content) != 2 or not all(type(part) is float for part in content):
        raise WireError("a complex number without two parts")
    return complex(*content)
