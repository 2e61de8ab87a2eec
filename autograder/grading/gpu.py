"""Grade on a GPU: a process for student code that has one, and the grader's clock.

CUDA needs devices and system calls that the isolation denies, so this process is not isolated:
whoever grades with it says so (``--gpu --trust-students``).  Checks that need no GPU run isolated
as ever, in processes of their own.
"""

from __future__ import annotations

import importlib.util
import math
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from autograder.exercise.checks.clocks import Inconclusive
from autograder.exercise.checks.gpu_checks import Timing
from autograder.grading.phases import Calls, Functions
from autograder.sandbox import COMPILER, Isolation, Limits, StudentError, Zygote
from autograder.sandbox.wire import requests

_BLOCK_SECONDS = 0.005  # of calls that the grader's clock is read around
_BLOCKS = 2  # besides a first call alone, which says how long one takes
_LONG = 0.1  # seconds of a call that is not repeated: beside them the launch is nothing
_MOST_CALLS, _MOST_KEPT = 50, 2 << 30  # results of a block, and their bytes
_ARGUMENTS = 3
_SECONDS = 60.0
_LOOK_SECONDS = 5e-4
_BELIEVED = 2.0, 64 << 20  # times, and beyond, that the device may lack more than a process says

Step = Callable[..., Any]


def missing() -> str:
    """Return why there is no GPU to grade with, or an empty text."""
    if importlib.util.find_spec("torch") is None:
        return "torch is not installed"
    import torch

    if not torch.cuda.is_available():
        return f"no CUDA device (torch {torch.__version__})"
    return ""


class Gpu:
    """The GPU, and the process from which student code that uses it is forked.

    Use it as a context manager.

    Parameters
    ----------
    device : str
        ``cuda``; with ``cpu`` all of it runs on the processor, for a trial.
    data
        The files that student code finds in its folder, by name.
    """

    def __init__(self, device: str = "cuda", *, data: Mapping[str, bytes] | None = None) -> None:
        self._device = device
        self.data = dict(data or {})
        limits = Limits(call_seconds=_SECONDS)
        self._zygote = Zygote(
            ("numpy", "torch"),
            also=(COMPILER,),
            isolation=Isolation("C"),
            trust=True,
            limits=limits,
            data=self.data,
        )

    def __enter__(self) -> Gpu:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        self._zygote.close()

    def beside(self, calls: Functions) -> Calls:
        """Return the same functions, in a process that has the GPU."""
        return calls.beside(self._zygote)

    def submitted(
        self, calls: Calls, name: str, shape: tuple[int, ...], dtype: str, rows: object
    ) -> Timing | None:
        """Time a submission's function; None if the memory does not do."""
        seconds = self._zygote.limits.call_seconds

        def take(step: str, **options: object) -> Any:
            return calls.ask(name, requests.Bench(step, options), seconds=seconds).value

        try:
            take("prepare", shape=shape, count=_ARGUMENTS, dtype=dtype, device=self._device)
            timing = self._timed(take, shape, dtype, rows)
        except StudentError as error:
            if not _full(error):
                raise
            timing = None
        take("end")  # what it holds may leave no room for what is timed next, here
        return timing

    def sdpa(self, shape: tuple[int, ...], dtype: str, rows: object) -> Timing | None:
        """Time a function of torch's own, in this process and by the same clock."""
        import torch

        from autograder.sandbox.meters.gpumeter import TimedFunction, release

        own = torch.nn.functional.scaled_dot_product_attention
        bench = None
        try:
            bench = TimedFunction(own, shape, _ARGUMENTS, dtype, self._device)
            return self._timed(bench.take, shape, dtype, rows, weighed=False)
        except torch.OutOfMemoryError:
            return None
        finally:
            bench = None
            release()

    def _timed(
        self, do: Step, shape: tuple[int, ...], dtype: str, rows: object, *, weighed: bool = True
    ) -> Timing | None:
        """Time blocks of calls: the fastest counts, with rows of a result that came in that time.

        The clock stops when they are there: a result that is only promised costs what it takes.
        """
        import torch

        from autograder.sandbox.meters.gpumeter import draw

        kept = _MOST_KEPT // (math.prod(shape) * getattr(torch, dtype).itemsize)
        best, calls = None, 1
        for _ in range(1 + _BLOCKS):
            seeds = [secrets.randbits(31) for _ in range(calls)]
            call = secrets.randbelow(calls)
            start = time.perf_counter()
            events = do("go", seeds=seeds)
            value = do("rows", call=call, rows=rows)
            seconds = (time.perf_counter() - start) / calls
            if best is None or seconds < best[0]:
                best = seconds, min(map(float, events)), value, seeds[call]
            if seconds > _LONG:
                break
            calls = max(1, min(math.ceil(_BLOCK_SECONDS / seconds), _MOST_CALLS, kept))
        peak = self._peak(do, math.prod(shape) * 4) if weighed else 0
        assert best
        seconds, milliseconds, value, seed = best
        try:
            inputs = draw(shape, _ARGUMENTS, dtype, seed, self._device)
            exact = tuple(tensor.double() for tensor in inputs)
        except torch.OutOfMemoryError:
            return None
        return Timing(seconds, milliseconds / 1000, peak, value, exact)

    def _peak(self, do: Step, result: int) -> int:
        """Return the bytes that a call holds, or raise Inconclusive if the device tells otherwise.

        The process says exactly what it holds; what the device lacks meanwhile, in large pieces and
        with what others hold, is seen from here.
        """
        do("settle")
        with _Lacking(cuda=self._device == "cuda") as lacking:
            peak = max(0, int(do("peak", seed=secrets.randbits(31))))
        times, beyond = _BELIEVED
        if lacking.most > times * (peak + result) + beyond:
            raise Inconclusive("the device holds far more memory than the process says")
        return peak


class _Lacking:
    """Looks, as often as it can, at how much memory the device lacks that it had at first."""

    def __init__(self, *, cuda: bool) -> None:
        self.most = 0
        self._cuda, self._over = cuda, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> _Lacking:
        self._first = self._left()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while True:
            over = self._over.wait(_LOOK_SECONDS)
            self.most = max(self.most, self._first - self._left())
            if over:
                return

    def _left(self) -> int:
        if not self._cuda:
            return 0
        import torch

        return int(torch.cuda.mem_get_info()[0])


def _full(error: StudentError) -> bool:
    """Did the memory not do?  Libraries below torch have words of their own for it."""
    return error.type in ("OutOfMemoryError", "MemoryError") or any(
        words in error.text for words in ("out of memory", "ALLOC_FAILED")
    )
