"""Count the work of torch's operations: FLOPs, operations, the largest tensor, bytes alive.

torch's own FlopCounterMode counts matrix products, and of these not all: it answers 0 for
``scaled_dot_product_attention`` on a processor (torch 2.13) and for products that are spelt as a
broadcast and a sum.  Here every operation that computes counts for its entries.
"""

import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry, sdpa_flop

from autograder.sandbox.meters.steps import Steps
from autograder.sandbox.meters.traced import Counts

_ops = torch.ops.aten
_VIEWS = {
    *(_ops.view, _ops._unsafe_view, _ops.t, _ops.transpose, _ops.expand, _ops.permute),
    *(_ops.slice, _ops.select, _ops.unsqueeze, _ops.squeeze, _ops.detach, _ops.alias),
    *(_ops.as_strided, _ops.split, _ops.split_with_sizes, _ops.unbind, _ops.diagonal),
    *(_ops.unfold, _ops.lift_fresh, _ops.reshape, _ops._reshape_alias),
}
_EMPTY = {
    *(_ops.empty, _ops.empty_strided, _ops.empty_like, _ops.new_empty, _ops.new_empty_strided),
}
_SDPA = {
    _ops._scaled_dot_product_flash_attention_for_cpu,
    _ops._scaled_dot_product_flash_attention,
    _ops._scaled_dot_product_efficient_attention,
}


class _Meter(TorchDispatchMode):  # type: ignore[misc]
    """Sees every operation of torch while it is entered.

    Attributes
    ----------
    peak
        Most bytes alive at once of tensors made meanwhile, and of those ``held`` before.
    """

    def __init__(self, arguments: object, counts: Counts, held: object = ()) -> None:
        super().__init__()
        self._counts = counts
        self._known = {t.untyped_storage()._cdata for t in _tensors(arguments)}
        self._alive = self.peak = 0
        for tensor in _tensors(held):
            self._keep(tensor)

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # else the first operation imports torch's compiler, for two seconds

    def __torch_dispatch__(
        self,
        operation: Any,
        types: object,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        result = operation(*args, **kwargs)
        packet = operation.overloadpacket
        made = _tensors(result)
        if packet not in _VIEWS:
            self._counts.add(self._flops(packet, args, kwargs, result, made))
        for tensor in made:
            if self._keep(tensor):
                shape = tuple(tensor.shape) if tensor._base is None else (tensor.numel(),)
                self._counts.made(shape)
        return result

    def _flops(
        self,
        packet: object,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        result: object,
        made: list[Any],
    ) -> int:
        if packet in _EMPTY:
            return 0
        if packet in _SDPA:
            return int(sdpa_flop(*(tensor.shape for tensor in args[:3])))
        if packet in flop_registry:
            return int(flop_registry[packet](*args, **kwargs, out_val=result))
        sizes = [tensor.numel() for tensor in made]
        if len(made) == 1:  # a sum goes through more entries than it makes
            sizes += [tensor.numel() for tensor in _tensors(args)]
        return max(sizes, default=0)

    def _keep(self, tensor: Any) -> bool:
        """Note that a tensor's memory is alive, and say whether that is new."""
        storage = tensor.untyped_storage()
        key, size = storage._cdata, storage.nbytes()
        if key in self._known:
            return False
        self._known.add(key)
        self._alive += size
        self.peak = max(self.peak, self._alive)
        weakref.finalize(storage, self._free, key, size)
        return True

    def _free(self, key: int, size: int) -> None:
        self._known.discard(key)
        self._alive -= size


meter = _Meter


def outlined(
    function: Callable[..., Any], shapes: list[tuple[int, ...]], dtype: str
) -> dict[str, Any]:
    """Count the work of a call with tensors that have shapes and hold no numbers.

    It takes no memory and hardly any time, however large the shapes are; Python loops take theirs.
    The counts are those of `meter.metered`; of the bytes alive at once, torch's alone.
    """
    from torch._subclasses.fake_tensor import FakeTensorMode  # its first use takes seconds

    counts, kind = Counts(), getattr(torch, dtype)
    with FakeTensorMode():
        tensors = [torch.empty(shape, dtype=kind) for shape in shapes]
        steps, meter = Steps(function), _Meter(tensors, counts)
        with steps, meter:
            function(*tensors)
    found = {"flops": counts.flops, "largest": counts.largest, "operations": counts.operations}
    found |= {"peak": meter.peak, "steps": steps.count}
    return found | {"shapes": sorted(counts.shapes)}


def _tensors(tree: object) -> list[Any]:
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor)]
