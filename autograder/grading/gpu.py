"""Grade on a GPU: a process for student code that has one, and the grader's clock.

CUDA needs devices and system calls that the isolation denies, so this process is not isolated:
whoever grades with it says so (``--gpu --trust-students``).  Checks that need no GPU run isolated
as ever, in processes of their own.
"""

from __future__ import annotations

import importlib.util
import math
import secrets
import time
from collections.abc import Callable, Mapping
from typing import Any

from autograder.exercise.gpu_checks import Timing
from autograder.grading.phases import Calls
from autograder.sandbox import Isolation, Limits, StudentError, Zygote
from autograder.sandbox.wire import requests

_BLOCK_SECONDS = 0.02  # of calls that the grader's clock is read around
_MOST_CALLS = 100
_SETS = 4
_ARGUMENTS = 3
_SECONDS = 60.0

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

    def beside(self, calls: Calls) -> Calls:
        """Return the same functions, in a process that has the GPU."""
        return calls.beside(self._zygote)

    def submitted(
        self, calls: Calls, name: str, shape: tuple[int, ...], dtype: str, rows: Any
    ) -> Timing | None:
        """Time a submission's function; None if the memory does not do."""
        seeds, seconds = _seeds(), self._zygote.limits.call_seconds

        def take(step: str, **options: Any) -> Any:
            return calls.ask(name, requests.Bench(step, options), seconds=seconds).value

        try:
            take(
                "prepare",
                shape=shape,
                count=_ARGUMENTS,
                dtype=dtype,
                seeds=seeds,
                device=self._device,
            )
            return self._timed(take, shape, dtype, seeds, rows)
        except StudentError as error:
            if error.type in ("OutOfMemoryError", "MemoryError"):
                return None
            raise

    def sdpa(self, shape: tuple[int, ...], dtype: str, rows: Any) -> Timing | None:
        """Time a function of torch's own, in this process and by the same clock."""
        import torch

        from autograder.sandbox.meters.gpumeter import TimedFunction

        seeds, own = _seeds(), torch.nn.functional.scaled_dot_product_attention
        try:
            bench = TimedFunction(own, shape, _ARGUMENTS, dtype, seeds, self._device)
            return self._timed(bench.take, shape, dtype, seeds, rows)
        except torch.cuda.OutOfMemoryError:
            return None

    def _timed(
        self, do: Step, shape: tuple[int, ...], dtype: str, seeds: list[int], rows: Any
    ) -> Timing:
        from autograder.sandbox.meters.gpumeter import draw

        estimate = _least(do("go", calls=3)["milliseconds"]) / 1000
        calls = max(3, min(_MOST_CALLS, math.ceil(_BLOCK_SECONDS / max(estimate, 1e-6))))
        start = time.perf_counter()
        found = do("go", calls=calls)
        seconds = (time.perf_counter() - start) / calls
        value = do("rows", rows=rows)
        peak = do("peak")
        last = int(found["last"]) % len(seeds)
        inputs = draw(shape, _ARGUMENTS, dtype, seeds[last], self._device)
        return Timing(
            seconds,
            _least(found["milliseconds"]) / 1000,
            int(peak),
            value,
            tuple(tensor.double() for tensor in inputs),
        )


def _seeds() -> list[int]:
    return [secrets.randbits(31) for _ in range(_SETS)]


def _least(milliseconds: Any) -> float:
    return float(min(milliseconds))
