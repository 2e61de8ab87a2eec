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
``{"p": ["d", n]}``     list of n floats ("d"), integers ("q") or truth values ("?"), in the payload
``{"p": ["d", n, m]}``  list of n lists of m of these, and so on
``{"l": ["a", "f8", n, 2]}``  list of n arrays (or scalars "n", tensors "T") of one type and shape
``{"P": …}``, ``{"L": …}``  tuple instead of list
``{"a": ["f8", 2, 3]}`` numpy array: dtype code and shape, little-endian items in the payload
``{"n": "f8"}``         numpy scalar
``{"T": ["f4", 2, 3]}`` torch tensor
======================  =================================================================

The payload holds the buffers in the order in which the header mentions them. There is neither
pickle nor eval: whoever controls the sender can make the receiver build these values and nothing
else. Everything about a frame is checked before memory is set aside for it, and a frame that is
not in order is a `WireError`, never another exception.
"""

from autograder.sandbox.wire.decoding import decode
from autograder.sandbox.wire.encoding import encode, encode_parts
from autograder.sandbox.wire.frames import MAGIC, PREFIX, Receiver, frame_lengths
from autograder.sandbox.wire.plain import (
    MAX_HEADER,
    MAX_NODES,
    Buffer,
    Tensor,
    TensorNumbers,
    WireError,
)

__all__ = [
    "MAGIC",
    "MAX_HEADER",
    "MAX_NODES",
    "PREFIX",
    "Buffer",
    "Receiver",
    "Tensor",
    "TensorNumbers",
    "WireError",
    "decode",
    "encode",
    "encode_parts",
    "frame_lengths",
]
