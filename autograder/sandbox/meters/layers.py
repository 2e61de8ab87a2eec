"""See which operations of torch a call makes use of, under whatever name it knows them.

What students write is seen where torch itself hands it over, twice: its functions, of which a layer
such as ``nn.Linear`` is made, and the operations that come of them.  So an alias, a
module within a module or ``torch.ops`` make no difference.
"""

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

#: So an operation is called besides that torch does to differentiate something.
BACKWARDS = "autograd"


class Seen:
    """What was seen: the words, out of those that were looked for, and whether all of it was.

    Attributes
    ----------
    words
        Those that are part of the name of something that was used; see also `BACKWARDS`.
    late
        Was torch imported only meanwhile, so that nothing could be seen?
    """

    def __init__(self, wanted: Sequence[str]) -> None:
        self._wanted = wanted
        self.words: set[str] = set()
        self.late = False

    def note(self, name: str) -> None:
        """Take note of an operation."""
        name = name.lower()
        self.words.update(word for word in self._wanted if word in name)


@contextlib.contextmanager
def watching(wanted: Sequence[str]) -> Iterator[Seen]:
    """Look for operations with one of these words in their names."""
    seen = Seen(wanted)
    with contextlib.ExitStack() as open_:
        if there := "torch" in sys.modules:
            for kind in _kinds():
                open_.enter_context(kind(seen))
        yield seen
    seen.late = not there and "torch" in sys.modules


@functools.cache
def _kinds() -> tuple[type[Any], type[Any]]:
    """Return what sees torch's functions, and what sees its operations."""
    import torch
    from torch.overrides import TorchFunctionMode, resolve_name
    from torch.utils._python_dispatch import TorchDispatchMode

    node = torch._C._current_autograd_node

    class Functions(TorchFunctionMode):  # type: ignore[misc]
        def __init__(self, seen: Seen) -> None:
            super().__init__()
            self._seen = seen

        def __torch_function__(
            self,
            function: Callable[..., Any],
            types: object,
            args: tuple[Any, ...] = (),
            kwargs: dict[str, Any] | None = None,
        ) -> Any:
            self._seen.note(f"{getattr(function, '__name__', '')} {resolve_name(function) or ''}")
            return function(*args, **kwargs or {})

    class Operations(TorchDispatchMode):  # type: ignore[misc]
        def __init__(self, seen: Seen) -> None:
            super().__init__()
            self._seen = seen

        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return False  # else the first operation imports torch's compiler, for two seconds

        def __torch_dispatch__(
            self,
            operation: Callable[..., Any],
            types: object,
            args: tuple[Any, ...] = (),
            kwargs: dict[str, Any] | None = None,
        ) -> Any:
            self._seen.note(f"{operation} {BACKWARDS * (node() is not None)}")
            return operation(*args, **kwargs or {})

    return Functions, Operations
