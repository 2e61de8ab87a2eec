"""What counts as plain data: the types that travel, and how much of them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import mul
from typing import Any

import numpy as np

Buffer = bytes | bytearray | memoryview

# Sender and receiver count alike, and so does what ships (student/travelling.py): what one of them
# takes is never refused by another.
MAX_HEADER = 4 << 20
MAX_DEPTH = 12  # of which a message itself takes up to four
MAX_NODES = 50_000
BUFFER_NODES = 10  # an array takes as long as so many numbers
PACKED_AT_LEAST = 8
PACKED_PER_NODE = 20  # so many numbers of one type in a list take as long as one by itself
LIKE_NODES = 2  # what an array or a tensor takes among others of its type and shape
MAX_INLINE_TEXT = 1 << 8
MAX_INT_BITS = 4096
MAX_NDIM = 8
MAX_ITEMS = 1 << 31
SMALL = 1 << 14  # bytes that are sooner copied than handled as a piece of their own

_KINDS = {"b": [1], "i": [1, 2, 4, 8], "u": [1, 2, 4, 8], "f": [2, 4, 8], "c": [8, 16]}
DTYPES = {f"{kind}{size}": np.dtype(f"<{kind}{size}") for kind in _KINDS for size in _KINDS[kind]}
CODES = {dtype: code for code, dtype in DTYPES.items()}
TENSOR_NAMES = {code: dtype.name for code, dtype in DTYPES.items()} | {"bf16": "bfloat16"}
TENSOR_CODES = {name: code for code, name in TENSOR_NAMES.items()}


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

    @property
    def made_of(self) -> tuple[str, np.ndarray[Any, Any]]:
        """All that there is to know of it, by which it is known again."""
        return self.dtype, self.array


class TensorNumbers(np.ndarray[Any, Any]):
    """The numbers of a tensor that stands in what somebody made: they go back as a tensor.

    A copy and a part go back so, too, but not what is computed from them.
    """

    def __array_wrap__(
        self, array: np.ndarray[Any, Any], context: object = None, return_scalar: bool = False
    ) -> Any:
        """Return what an operation gave as what it is: numbers."""
        return array[()] if return_scalar else np.asarray(array)


class Unordered(list[Any]):
    """The entries of a set, which came in any order."""

    unordered = True


class Nodes:
    """How much of a value has been seen, in nodes: a number takes one."""

    __slots__ = ("_nodes",)

    def __init__(self) -> None:
        self._nodes = 0

    def take(self, nodes: int = 1) -> None:
        """Add some, unless that are more than there may be."""
        self._nodes += nodes
        if self._nodes > MAX_NODES:
            raise WireError("more values in lists and dictionaries than can be read")


def check_depth(depth: int) -> None:
    """Refuse what is nested too deeply."""
    if depth >= MAX_DEPTH:
        raise WireError("lists nested too deeply")


def packed_nodes(shape: Sequence[int]) -> int:
    """Return what a list, or a list of lists, of numbers of one type takes besides its buffer."""
    nodes: int = sum(accumulate(shape, mul)) // PACKED_PER_NODE
    return nodes


def like_nodes(tag: str, count: int) -> int:
    """Return what a list of scalars ("n"), arrays or tensors that are alike takes besides it."""
    return count // PACKED_PER_NODE if tag == "n" else LIKE_NODES * count


def checked_int(value: int) -> int:
    """Return an integer that is not too long."""
    if value.bit_length() > MAX_INT_BITS:
        raise WireError(f"an integer of more than {MAX_INT_BITS} bits")
    return value


def check_shape(shape: Sequence[int]) -> int:
    """Return the number of items that an array of this shape has."""
    if len(shape) > MAX_NDIM:
        raise WireError(f"an array with {len(shape)} axes")
    items = math.prod(shape)
    # Zeros do not count against the limit: numpy refuses (0, 2**40, 2**40) too.
    if (items or math.prod(n or 1 for n in shape)) > MAX_ITEMS:
        raise WireError("an array with too many items")
    return items
