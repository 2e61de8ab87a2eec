"""See which operations of a library a call makes use of, under whatever name it knows them.

What students write is seen where torch itself hands it over, twice: its functions, of which a layer
such as ``nn.Linear`` is made, and the operations that come of them.  So an alias, a
module within a module or ``torch.ops`` make no difference.

Both can be turned off, know one thread alone, and see nothing of what torch does in Python.  So
some calls are looked at closely: by torch's own profiler, which sees the operations of all threads,
and by Python's, which sees torch's functions, and the methods of numpy's: ``np.logaddexp.reduce``
is a log-sum-exp.  That takes too long for every call.
"""

import contextlib
import functools
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np

#: So an operation is called besides that torch does to differentiate something.
BACKWARDS = "autograd"
#: So a method of numpy's functions is called: reduce, accumulate, at, …, which go through arrays.
THROUGHOUT = "ufunc."


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


_Look = Callable[[Seen], contextlib.AbstractContextManager[None]]


@contextlib.contextmanager
def watching(wanted: Sequence[str], *, closely: bool = False) -> Iterator[Seen]:
    """Look for operations with one of these words in their names."""
    seen = Seen(wanted)
    with contextlib.ExitStack() as open_:
        there = "torch" in sys.modules
        if closely:
            for look in _close() if there else (_functions,):
                open_.enter_context(look(seen))
        if there:
            for kind in _kinds():
                open_.enter_context(kind(seen))
        yield seen
    seen.late = not there and "torch" in sys.modules


def get_ready() -> None:
    """Load what is needed, before any student's code has run."""
    if "torch" in sys.modules:
        _close()
        with watching(()):
            sys.modules["torch"].zeros(1)


@functools.cache
def _close() -> tuple[_Look, ...]:
    """Return what sees the operations of all threads, and what sees Python's functions of torch.

    The first is none of torch's promises: where it has another one, the second looks alone.
    """
    with contextlib.suppress(ImportError, AttributeError, TypeError):
        return _operations(), _functions
    return (_functions,)


def _operations() -> _Look:
    from torch._C._autograd import _disable_profiler, _enable_profiler, _prepare_profiler
    from torch._C._profiler import (
        ProfilerActivity,
        ProfilerConfig,
        ProfilerState,
        _ExperimentalConfig,
    )

    os.putenv("KINETO_LOG_LEVEL", "99")  # else it says on stderr each time that it begins and ends
    everywhere, kinds = _ExperimentalConfig(profile_all_threads=True), {ProfilerActivity.CPU}
    no_shapes = no_memory = no_stack = no_flops = no_modules = False
    config = ProfilerConfig(
        ProfilerState.KINETO,
        no_shapes,
        no_memory,
        no_stack,
        no_flops,
        no_modules,
        everywhere,
        "",
    )

    @contextlib.contextmanager
    def operations(seen: Seen) -> Iterator[None]:
        _prepare_profiler(config, kinds)
        _enable_profiler(config, kinds)
        try:
            yield
        finally:
            for name in {event.name() for event in _disable_profiler().events()}:
                seen.note(name)

    return operations


@contextlib.contextmanager
def _functions(seen: Seen) -> Iterator[None]:
    """See functions that torch has written in Python, and methods of numpy's functions."""
    torch = sys.modules.get("torch")
    folder = f"{Path(torch.__path__[0])}{os.sep}" if torch else None
    known: dict[int, CodeType] = {}

    def look(frame: FrameType, event: str, called: object) -> None:
        code = frame.f_code
        if event == "c_call":
            whose = getattr(called, "__self__", None)
            if isinstance(whose, np.ufunc):
                seen.note(f"{THROUGHOUT}{whose.__name__}")
        elif event == "call" and folder and id(code) not in known:
            known[id(code)] = code
            # No body of a class or module; and what differentiates is seen by what it does.
            written = code.co_flags & CO_OPTIMIZED and BACKWARDS not in code.co_name
            if written and code.co_filename.startswith(folder):
                seen.note(code.co_name)

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        yield
    finally:
        sys.setprofile(before)


@functools.cache
def _kinds() -> tuple[type[Any], type[Any]]:
    """Return what sees torch's functions, and what sees its operations."""
    import torch
    from torch.overrides import TorchFunctionMode, resolve_name
    from torch.utils._python_dispatch import TorchDispatchMode

    node = torch._C._current_autograd_node

    class TorchFunctions(TorchFunctionMode):  # type: ignore[misc]
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

    return TorchFunctions, Operations
