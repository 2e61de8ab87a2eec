"""numpy arrays that count what is done with them: FLOPs, operations, arrays made.

A `Traced` array is an ordinary one in every other respect.  What is computed from it is traced as
well; while `tracing` lasts, so is what numpy's functions make of lists and numbers.  Student code
can leave the tracer (``x.view(numpy.ndarray)``, ``x.tolist()``), and then there is less to count
than any right solution needs: whoever draws a conclusion from the counts compares them with that
floor.
"""

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from string import ascii_letters
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

MAX_SHAPES = 500
#: They make arrays without computing anything.
_CREATORS = {
    *("arange", "array", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray", "copy"),
    *("empty", "eye", "frombuffer", "fromiter", "full", "identity", "indices", "linspace", "ones"),
    *("tri", "zeros"),
}
_FUNCTIONS: Any = (FunctionType, BuiltinFunctionType, type(np.concatenate))
#: numpy's functions, and what makes arrays of slices: all of them may be handed no array at all.
#: (Not by `getattr`, which would load whole packages, f2py and testing among them.)
_MAKERS: dict[str, Any] = {
    name: make for name in np.__all__ if isinstance(make := vars(np).get(name), _FUNCTIONS)
}
_GRIDS: dict[str, Any] = {name: getattr(np, name) for name in ("c_", "mgrid", "ogrid", "r_")}
_PRODUCTS = {"matmul", "matvec", "vecdot", "vecmat"}
#: They answer without looking at the values, or make arrays that the constructors would not trace.
_IDLE = {
    *("can_cast", "empty_like", "full_like", "may_share_memory", "ndim", "ones_like"),
    *("result_type", "shape", "shares_memory", "size", "zeros_like"),
}
_PLAIN = {np.ndarray, np.float64, float, int, bool, str, type(None)}


class Counts:
    """What has been counted.

    Attributes
    ----------
    flops
        Multiplications and additions of products; one for every entry that another operation
        computes or goes through.
    operations
        Operations on whole arrays.
    largest
        Entries of the largest array made.
    shapes
        Shapes of the arrays made, up to `MAX_SHAPES` of them.
    """

    def __init__(self) -> None:
        self.flops = self.operations = self.largest = 0
        self.shapes: set[tuple[int, ...]] = set()

    def add(self, flops: float, made: Iterable[Any] = ()) -> None:
        """Count one operation."""
        self.flops += int(flops)
        self.operations += 1
        for array in made:
            if isinstance(array, np.ndarray):
                self.made(array.shape)

    def made(self, shape: tuple[int, ...]) -> None:
        """Note that an array was made."""
        if shape not in self.shapes:
            self.largest = max(self.largest, math.prod(shape))
            if len(self.shapes) < MAX_SHAPES:
                self.shapes.add(shape)


_counts = Counts()


class Traced(np.ndarray[Any, Any]):
    """An array whose operations are counted."""

    __slots__ = ()

    def __array_finalize__(self, source: object) -> None:
        # An array with memory of its own, by astype, copy, repeat: nothing else tells.
        if source is not None and self.base is None and self.size:
            _counts.add(0, (self,))

    def __array_ufunc__(
        self, ufunc: Any, method: str, *inputs: object, out: Any = None, **options: object
    ) -> Any:
        plain = tuple(map(bare, inputs))
        if options:
            options = bare(options)
        if out is not None:
            options["out"] = bare(out)
        result = getattr(ufunc, method)(*plain, **options)
        results = result if isinstance(result, tuple) else (result,)
        if ufunc.__name__ in _PRODUCTS and method == "__call__":
            flops = 2 * np.size(results[0]) * np.shape(plain[0])[-1]
        elif method in ("reduce", "accumulate", "reduceat"):
            flops = np.size(plain[0])
        elif method == "at":
            flops = np.size(plain[1])
        else:
            flops = max(map(np.size, results))
        _counts.add(flops, results if out is None else ())
        if out is None:
            return traced(result)
        return out[0] if len(out) == 1 else out

    def __array_function__(
        self,
        function: Callable[..., Any],
        types: Iterable[type],
        args: Iterable[Any],
        kwargs: Mapping[str, Any],
    ) -> Any:
        name = function.__name__
        if name in _FLOPS or name in _IDLE:
            args, kwargs = bare(args), bare(kwargs)
            result = function(*args, **kwargs)
            if name in _FLOPS:
                _counts.add(_FLOPS[name](result, *args, **kwargs), [result])
            return traced(result)
        result = super().__array_function__(function, types, args, kwargs)
        if type(result) is np.ndarray:  # computed by numpy itself, not by operations seen above
            _counts.add(result.size, [result])
        return traced(result)

    def __getitem__(self, index: Any) -> Any:
        result = np.ndarray.__getitem__(self, index)
        kind = type(index)
        if kind is not int and kind is not slice:
            entries = index if kind is tuple else (index,)
            if any(isinstance(entry, list | np.ndarray) for entry in entries):
                _counts.add(0, (result,))  # a copy, which __array_finalize__ takes for a view
        return result

    def dot(self, other: Any, out: Any = None) -> Any:
        """Multiply as `numpy.dot` does: the method alone would not be counted."""
        return np.dot(self, other) if out is None else np.dot(self, other, out)


def bare(value: object) -> Any:
    """Return the value with ordinary arrays in the place of traced ones."""
    if type(value) is Traced:
        return value.view(np.ndarray)
    return _through(bare, value)


def traced(value: object) -> Any:
    """Return the value with traced arrays in the place of ordinary ones."""
    if type(value) is np.ndarray:
        return value.view(Traced) if value.dtype != object else value
    return _through(traced, value)


def _through(change: Callable[[Any], Any], value: Any) -> Any:
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is list or kind is tuple:
        return kind(change(entry) for entry in value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return kind(*map(change, value))
    if kind is dict:
        return {key: change(entry) for key, entry in value.items()}
    return value


@contextlib.contextmanager
def tracing() -> Iterator[Counts]:
    """Count what is done with traced arrays, and have numpy's functions make such arrays."""
    global _counts
    before, _counts = _counts, Counts()
    others: dict[str, Any] = {name: _counted(name, make) for name, make in _MAKERS.items()}
    others |= {name: _Grid(grid) for name, grid in _GRIDS.items()}
    others["fromfunction"] = _from_function
    try:
        for name, other in others.items():
            setattr(np, name, other)
        yield _counts
    finally:
        for name, usual in (_MAKERS | _GRIDS).items():
            setattr(np, name, usual)
        _counts = before


def _counted(name: str, make: Callable[..., Any]) -> Callable[..., Any]:
    def counted(*args: object, **kwargs: object) -> Any:
        result = make(*args, **kwargs)
        flops: float = 0
        if type(result) is np.ndarray and name not in _CREATORS:
            flops = _FLOPS[name](result, *args, **kwargs) if name in _FLOPS else result.size
        return _noted(result, flops)

    return counted


class _Grid:
    """What makes arrays of slices, such as `numpy.mgrid`."""

    def __init__(self, grid: Any) -> None:
        self._grid = grid

    def __getitem__(self, slices: Any) -> Any:
        return _noted(self._grid[slices])


def _from_function(function: Callable[..., Any], shape: object, **options: object) -> Any:
    """Do as `numpy.fromfunction`; what the function computes is counted."""

    def of_traced(*grid: object, **others: object) -> Any:
        return function(*_noted(grid), **others)

    return _MAKERS["fromfunction"](of_traced, shape, **options)


def _noted(result: object, flops: float = 0) -> Any:
    """Count the arrays that were made of nothing traced, and return them traced."""
    made = result if isinstance(result, list | tuple) else (result,)
    if fresh := [a for a in made if type(a) is np.ndarray and a.base is None and a.dtype != object]:
        _counts.add(flops, fresh)
    return traced(result)


def _dot(result: Any, a: Any, *_: object, **__: object) -> int:
    return 2 * np.size(result) * (np.shape(a)[-1] if np.ndim(a) else 1)


def _vdot(_result: object, a: Any, *_: object, **__: object) -> int:
    return 2 * np.size(a)


def _tensordot(result: Any, a: Any, b: Any, *_: object, **__: object) -> float:
    return 2 * math.sqrt(np.size(a) * np.size(b) * np.size(result))


def _slide(_result: object, a: Any, v: Any, *_: object, **__: object) -> int:
    return 2 * np.size(a) * np.size(v)


def _einsum(_result: object, *operands: object, optimize: Any = False, **_: object) -> float:
    """Return the FLOPs of an einsum: at once, or in the order that ``optimize`` makes."""
    terms, output, arrays = _terms(operands)
    sizes = {
        letter: size
        for term, array in zip(terms, arrays, strict=True)
        for letter, size in zip(term, np.shape(array), strict=True)
        if size != 1
    }
    steps = [tuple(range(len(terms)))]
    if optimize is not False and len(terms) > 1:
        path = np.einsum_path(f"{','.join(terms)}->{output}", *arrays, optimize=optimize)[0]
        steps = [step for step in path if not isinstance(step, str)]
    flops, left = 0.0, list(terms)
    for step in steps:
        taken = [left.pop(i) for i in sorted(step, reverse=True)]
        letters = set("".join(taken))
        flops += max(len(taken), 1) * math.prod(sizes.get(letter, 1) for letter in letters)
        left.append("".join(sorted(letters & set(output + "".join(left)))))
    return flops


def _terms(operands: tuple[Any, ...]) -> tuple[list[str], str, list[Any]]:
    """Return the subscripts of an einsum's operands and result, ``...`` written out."""
    if isinstance(operands[0], str):
        text, arrays = operands[0].replace(" ", ""), list(operands[1:])
    else:  # array, [0, 1], array, [1, 2], [0, 2]
        pairs = len(operands) // 2
        arrays = list(operands[0 : 2 * pairs : 2])
        text = ",".join(map(_letters, operands[1::2]))
        if len(operands) > 2 * pairs:
            text += "->" + _letters(operands[-1])
    inputs, arrow, output = text.partition("->")
    hidden = max(
        np.ndim(array) - len(term.replace("...", ""))
        for term, array in zip(inputs.split(","), arrays, strict=True)
    )
    batch = "".join(c for c in ascii_letters if c not in inputs)[:hidden]
    terms = []
    for term, array in zip(inputs.split(","), arrays, strict=True):
        own = np.ndim(array) - len(term.replace("...", ""))
        terms.append(term.replace("...", batch[len(batch) - own :]))
    if not arrow:
        letters = "".join(terms)
        once = (c for c in sorted({*letters} - {*batch}) if letters.count(c) == 1)
        output = batch + "".join(once)
    return terms, output.replace("...", batch), arrays


def _letters(numbers: Iterable[Any]) -> str:
    return "".join("..." if number is Ellipsis else chr(97 + number) for number in numbers)


_FLOPS: dict[str, Callable[..., float]] = {
    "convolve": _slide,
    "correlate": _slide,
    "dot": _dot,
    "einsum": _einsum,
    "inner": _dot,
    "tensordot": _tensordot,
    "vdot": _vdot,
}
