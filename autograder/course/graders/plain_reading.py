"""What a worker says is read as plain data: whoever asks runs nothing that a message names.

Dask's messages are pickles, which name functions, and reading one calls them. Dask's setting of
what to read (``deserializers``) covers results, and neither errors nor warnings nor the kinds of
results. So where it asks Python to read a pickle, it gets a reader that knows no names.
"""

from __future__ import annotations

import io
import pickle
import sys
from types import ModuleType
from typing import Any


class _Nothing:
    """Stands for whatever a pickle names, and makes nothing of it."""

    def __new__(cls, *_: object, **__: object) -> _Nothing:
        """Give nothing."""
        return None  # type: ignore[return-value]


class _PlainUnpickler(pickle.Unpickler):
    """Knows one kind of thing by its name: bytes, of which Dask says that they are bytes."""

    def find_class(self, module: str, name: str) -> type:
        """Return it; nothing is imported for a pickle."""
        return bytes if (module, name) == ("builtins", "bytes") else _Nothing


def plainly(content: Any, /, *, buffers: Any = ()) -> Any:
    """Read a pickle of numbers, texts, bytes and collections of them; None for any other."""
    try:
        return _PlainUnpickler(io.BytesIO(content), buffers=buffers or ()).load()
    except Exception:  # a stranger's bytes
        return None


def read_plainly() -> None:
    """Let Dask read no other pickles in this process from now on: not for who works for it."""
    plain = ModuleType("pickle")
    vars(plain).update(vars(pickle), loads=plainly)
    for name, module in [*sys.modules.items()]:
        if name.startswith("distributed.") and vars(module).get("pickle") is pickle:
            vars(module)["pickle"] = plain
