"""Call a function of tensors again and again on one device, for whoever holds the clock.

It runs beside student code, which could patch what it uses; so what it uses is looked up when it is
imported, before that code runs: of torch what lies below its Python, where there is such a thing.
The time that counts is the grader's own, from asking for calls until rows of their results are
there, which the grader draws and compares. Times of events and peak memory are this process's word.

Every call has inputs of its own, drawn into the same memory from a seed that comes with the
request, so that nothing large has to travel and what was kept of an earlier call is wrong; the
grader can draw them too. Without CUDA the same runs on the processor: that is how it is tested.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

from autograder.sandbox.meters import torchmeter
from autograder.sandbox.meters.traced import Counts


def _below(name: str, otherwise: object) -> Any:
    """Return what torch's own Python calls, if this torch has it."""
    return getattr(torch._C, name, otherwise)


_synchronize = _below("_cuda_synchronize", torch.cuda.synchronize)
_statistics = _below("_cuda_memoryStats", None)
_reset_peak = _below("_cuda_resetPeakMemoryStats", None)
_is_initialized = torch.cuda.is_initialized
_empty_cache = _below("_cuda_emptyCache", torch.cuda.empty_cache)
_Event, _properties = torch.cuda.Event, torch.cuda.get_device_properties
_clock, _empty, _select = time.perf_counter, torch.empty, torch.index_select
_Tensor, _Generator = torch.Tensor, torch.Generator
_normal, _zero, _float, _cpu = _Tensor.normal_, _Tensor.zero_, _Tensor.float, _Tensor.cpu
_numpy, _as_tensor = _Tensor.numpy, torch.as_tensor
_FLUSH_BYTES = 256 << 20


def draw(shape: tuple[int, ...], count: int, dtype: str, seed: int, device: str) -> tuple[Any, ...]:
    """Return ``count`` standard normal tensors, the same for the same seed on the same device."""
    made = tuple(_empty(shape, device=device, dtype=getattr(torch, dtype)) for _ in range(count))
    _fill(made, seed)
    return made


def release() -> None:
    """Give the device back what nobody holds."""
    if _is_initialized():
        _empty_cache()


class TimedFunction:
    """One function, with inputs of one shape.

    Parameters
    ----------
    function
        What is called.
    shape, count, dtype
        Of its inputs.
    device : str
        ``cuda``, or ``cpu`` for a trial.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        shape: tuple[int, ...],
        count: int,
        dtype: str,
        device: str,
    ) -> None:
        torch.backends.cuda.matmul.allow_tf32 = False  # float32 means float32
        torch.backends.cudnn.allow_tf32 = False
        self._function, self._device, self._cuda = function, device, device == "cuda"
        self._outputs: list[Any] = []
        self._inputs = draw(shape, count, dtype, 0, device)
        self._waste = None
        if self._cuda:
            cache = getattr(_properties(0), "L2_cache_size", 0)
            self._waste = _empty(max(_FLUSH_BYTES, 4 * cache), dtype=torch.int8, device=device)
        self._one(0)

    def take(self, step: str, **options: object) -> Any:
        """Take a step by its name."""
        steps: dict[str, Callable[..., Any]] = {
            "go": self.go,
            "rows": self.rows,
            "settle": self.settle,
            "peak": self.peak,
        }
        return steps[step](**options)

    def go(self, seeds: Sequence[int]) -> list[float]:
        """Call once with the inputs of each seed: milliseconds by the device's own events.

        All results are kept until the next calls.
        """
        self._outputs = []
        found = []
        for seed in seeds:
            output, milliseconds = self._one(seed)
            self._outputs.append(output)
            found.append(milliseconds)
        return found

    def rows(self, call: int, rows: object) -> Any:
        """Return rows of the result of a call as float32: those of its last axis but one.

        None for what is not a plain tensor on the device: it could be computed later.
        """
        output = self._outputs[call]
        plain = type(output) is _Tensor and output.layout == torch.strided and output.dim() > 1
        if not plain or output.device.type != self._device:
            return None
        index = _as_tensor(rows, device=output.device)
        return _numpy(_cpu(_float(_select(output.detach(), output.dim() - 2, index))))

    def settle(self) -> None:
        """Hold the inputs alone."""
        self._outputs = []
        release()

    def peak(self, seed: int) -> int:
        """Return the most bytes that one call holds at once besides inputs and result."""
        if not self._cuda:
            meter = torchmeter.meter(self._inputs, Counts())
            with meter:
                output = self._function(*self._inputs)
            return int(meter.peak - output.numel() * output.element_size())
        _fill(self._inputs, seed)
        self._wait()
        _reset_peak(0)
        before = self._allocated("current")
        output = self._function(*self._inputs)
        self._wait()
        return int(self._allocated("peak") - before - output.numel() * output.element_size())

    def _allocated(self, what: str) -> int:
        return int(_statistics(0)["allocated_bytes"]["all"][what])

    def _one(self, seed: int) -> tuple[Any, float]:
        _fill(self._inputs, seed)
        if self._waste is None:
            before = _clock()
            output = self._function(*self._inputs)
            return output, 1000 * (_clock() - before)
        _zero(self._waste)  # what is in the cache is not of the inputs
        start, end = _Event(enable_timing=True), _Event(enable_timing=True)
        self._wait()
        start.record()
        output = self._function(*self._inputs)
        end.record()
        self._wait()  # all streams: work that was moved to another one is waited for
        return output, float(start.elapsed_time(end))

    def _wait(self) -> None:
        if self._cuda:
            _synchronize()


def _fill(tensors: Sequence[Any], seed: int) -> None:
    generator = _Generator(device=tensors[0].device).manual_seed(seed)
    for tensor in tensors:
        _normal(tensor, generator=generator)
