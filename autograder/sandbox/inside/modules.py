"""Gradients of student code that is written in torch, as data."""

import sys
from collections.abc import Callable, Iterator
from typing import Any


def gradients(function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Call a module or a function of tensors, and differentiate what it returns.

    What is differentiated is the sum of all entries of the floating-point results, each times a
    factor of its own, so that no two gradients are alike by accident.

    Parameters
    ----------
    function : callable
        A module, or a function that may be given modules.
    args, kwargs
        Tensors among ``args`` that are of a floating-point type are differentiated by.

    Returns
    -------
    dict
        ``value``, what it returned; ``inputs``, a gradient for each such tensor; ``parameters``,
        those of all parameters by name; both None where nothing depends on it; ``count``, how many
        numbers the parameters hold; ``hidden``, how many others were found in what was computed,
        which an optimiser would never be given.
    """
    torch: Any = sys.modules["torch"]
    args = [a.detach().clone().requires_grad_() if _floating(torch, a) else a for a in args]
    inputs = [a for a in args if _floating(torch, a)]
    named = dict(_parameters(torch, [function, *args]))
    value = function(*args, **kwargs)
    results = value if isinstance(value, tuple | list) else (value,)
    scalar: Any = sum(
        (
            r.double() * torch.cos(torch.arange(r.numel(), dtype=torch.float64)).reshape(r.shape)
        ).sum()
        for r in results
        if _floating(torch, r) and r.requires_grad
    )
    by = [*inputs, *(p for p in named.values() if p.requires_grad)]
    found: dict[int, Any] = {}
    hidden = 0
    if _floating(torch, scalar):
        hidden = sum(t.numel() for t in _leaves(scalar.grad_fn) if not any(t is b for b in by))
        grads = torch.autograd.grad(scalar, by, allow_unused=True) if by else ()
        found = {id(b): grad for b, grad in zip(by, grads, strict=True)}
    return {
        "value": value,
        "inputs": [found.get(id(a)) for a in inputs],
        "parameters": {name: found.get(id(p)) for name, p in named.items()},
        "count": sum(p.numel() for p in named.values()),
        "hidden": hidden,
    }


def _floating(torch: Any, value: object) -> bool:
    return isinstance(value, torch.Tensor) and bool(value.is_floating_point())


def _parameters(torch: Any, values: list[Any]) -> Iterator[tuple[str, Any]]:
    """Yield the parameters of modules by name; those in arguments behind the argument's number."""
    for number, value in enumerate(values):
        modules = value if isinstance(value, list | tuple) else [value]
        for place, module in enumerate(modules):
            if not isinstance(module, torch.nn.Module):
                continue
            where = f"{number - 1}." * (number > 0) + f"{place}." * (module is not value)
            for name, parameter in module.named_parameters():
                yield f"{where}{name}", parameter


def _leaves(node: Any) -> Iterator[Any]:
    """Yield the tensors from which something was computed, and that gradients are kept for."""
    waiting, seen = [node], set()
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            yield node.variable
        waiting += (inner for inner, _ in node.next_functions)
