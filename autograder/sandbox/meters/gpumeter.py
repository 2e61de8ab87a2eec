"""Call a function of tensors again and again on one device, for whoever holds the clock.

It runs beside student code, which could patch what it uses; so what it uses is looked up when it is
imported, before that code runs, and the time that counts is the grader's own, read around `go`,
which returns when the device has done everything.  Times of events and peak memory are its word.

Inputs are drawn here from seeds, so that nothing large has to travel; the grader can draw them too.
Without CUDA the same runs on the processor: that is how it is tested.
"""

import time
from collections.abc import Callable
from typing import Any

import torch

from autograder.sandbox.meters import torchmeter
from autograder.sandbox.meters.traced import Counts

_synchronize, _Event = torch.cuda.synchronize, torch.cuda.Event
_reset_peak, _peak = torch.cuda.reset_peak_memory_stats, torch.cuda.max_memory_allocated
_allocated, _properties = torch.cuda.memory_allocated, torch.cuda.get_device_properties
_empty_cache = torch.cuda.empty_cache
_clock, _randn, _empty = time.perf_counter, torch.randn, torch.empty
_WARM_UP = 2
_FLUSH_BYTES = 256 << 20
_SETS_BYTES = 2 << 30


def draw(shape: tuple[int, ...], count: int, dtype: str, seed: int, device: str) -> tuple[Any, ...]:
    """Return ``count`` standard normal tensors, the same for the same seed on the same device."""
    generator = torch.Generator(device=device).manual_seed(seed)
    kind = getattr(torch, dtype)
    return tuple(
        _randn(shape, generator=generator, device=device, dtype=kind) for _ in range(count)
    )


class TimedFunction:
    """One function, with inputs of one shape.

    Parameters
    ----------
    function
        What is called.
    shape, count, dtype
        Of its inputs.
    seeds : list of int
        One for each set of inputs; the calls take the sets in turn, and there are two at least,
        as many as fit.
    device : str
        ``cuda``, or ``cpu`` for a trial.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        shape: tuple[int, ...],
        count: int,
        dtype: str,
        seeds: list[int],
        device: str,
    ) -> None:
        torch.backends.cuda.matmul.allow_tf32 = False  # float32 means float32
        torch.backends.cudnn.allow_tf32 = False
        self._function, self._cuda = function, device == "cuda"
        if self._cuda:
            _empty_cache()  # the grader's process needs memory as well
        first = draw(shape, count, dtype, seeds[0], device)
        size = sum(tensor.numel() * tensor.element_size() for tensor in first)
        more = seeds[1 : max(2, min(len(seeds), _SETS_BYTES // size))]
        self._sets = [first, *(draw(shape, count, dtype, seed, device) for seed in more)]
        self._outputs: list[Any] = []
        self._waste = None
        if self._cuda:
            cache = getattr(_properties(0), "L2_cache_size", 0)
            self._waste = _empty(max(_FLUSH_BYTES, 4 * cache), dtype=torch.int8, device=device)
        for number in range(_WARM_UP):
            function(*self._sets[number % len(self._sets)])
        self._wait()

    def take(self, step: str, **options: Any) -> Any:
        """Take a step by its name."""
        steps: dict[str, Callable[..., Any]] = {"go": self.go, "rows": self.rows, "peak": self.peak}
        return steps[step](**options)

    def go(self, calls: int) -> dict[str, Any]:
        """Call, and return when the device is done: milliseconds of each call by its own events."""
        self._outputs, found = [], []
        for number in range(calls):
            args = self._sets[number % len(self._sets)]
            if self._waste is not None:
                self._waste.zero_()  # what is in the cache is of an earlier call
            output, milliseconds = self._one(args)
            self._outputs = [*self._outputs, output][-len(self._sets) :]
            found.append(milliseconds)
        self._wait()
        return {"milliseconds": found, "last": (calls - 1) % len(self._sets)}

    def rows(self, rows: Any) -> Any:
        """Return rows of the last output, as float32: those of its last axis but one."""
        output = self._outputs[-1]
        index = torch.as_tensor(rows, device=output.device)
        return output.index_select(output.dim() - 2, index).float().cpu().numpy()

    def peak(self) -> int:
        """Return the most bytes that one call holds at once besides inputs and result."""
        args = self._sets[0]
        if not self._cuda:
            meter = torchmeter.meter(args, Counts())
            with meter:
                output = self._function(*args)
            return int(meter.peak - output.numel() * output.element_size())
        self._outputs = []
        self._wait()
        _reset_peak()
        before = _allocated()
        output = self._function(*args)
        self._wait()
        return int(_peak() - before - output.numel() * output.element_size())

    def _one(self, args: tuple[Any, ...]) -> tuple[Any, float]:
        if not self._cuda:
            before = _clock()
            output = self._function(*args)
            return output, 1000 * (_clock() - before)
        start, end = _Event(enable_timing=True), _Event(enable_timing=True)
        self._wait()
        start.record()
        output = self._function(*args)
        end.record()
        self._wait()  # all streams: work that was moved to another one is waited for
        return output, float(start.elapsed_time(end))

    def _wait(self) -> None:
        if self._cuda:
            _synchronize()
