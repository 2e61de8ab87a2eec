"""The notebook as it was after some cell, to which calls can be turned back.

Cells need not be run again for a function that is checked after the last one, as long as what it
uses can't have changed since: names are put back, values that can be changed are not. Student code
could deceive this, to its own loss alone.
"""

import random
import sys
import types
import warnings
from collections.abc import Callable, Iterable
from typing import Any

_CONSTANTS = (bool, int, float, complex, str, bytes, range, type(None), type(Ellipsis))


class Moments:
    """Moments of a notebook.

    Parameters
    ----------
    namespace : dict
        The names of the notebook.
    """

    def __init__(self, namespace: dict[str, Any]) -> None:
        self._namespace = namespace
        self._kept: dict[str, tuple[dict[str, Any], dict[str, Any], list[Any]]] = {}

    def keep(self, moment: str, names: Iterable[str]) -> bool:
        """Keep this moment, and say whether these functions can be called in it later on."""
        found = (self._namespace[name] for name in names if name in self._namespace)
        if not self._steady(found):
            return False
        states = [read() for read, _ in _generators()]
        self._kept[moment] = dict(self._namespace), _shared(), states
        return True

    def recall(self, moment: str) -> bool:
        """Turn back to a moment, and say whether that is possible."""
        names, shared, states = self._kept[moment]
        if _shared() != shared:
            return False
        self._namespace.clear()
        self._namespace.update(names)
        for (_, put), state in zip(_generators(), states, strict=False):
            put(state)
        return True

    def _steady(self, values: Iterable[Any]) -> bool:
        """Say whether nothing that these values depend on can be changed but by its name."""
        todo, seen = list(values), set()
        while todo:
            value = todo.pop()
            if id(value) in seen:
                continue
            seen.add(id(value))
            if isinstance(value, tuple):
                todo += value
            elif type(value) is types.FunctionType and value.__globals__ is self._namespace:
                if vars(value):
                    return False
                todo += value.__defaults__ or ()
                todo += (value.__kwdefaults__ or {}).values()
                todo += (cell.cell_contents for cell in value.__closure__ or ())
                used = _used(value.__code__) & self._namespace.keys()
                todo += (self._namespace[name] for name in used)
            elif not _fixed(value):
                return False
        return True


def _used(code: types.CodeType) -> set[str]:
    """Return the names that may be global ones in a function and those inside it."""
    names, todo = set(), [code]
    while todo:
        code = todo.pop()
        names |= set(code.co_names)
        todo += (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return names


def _fixed(value: Any) -> bool:
    """Say whether a value is constant, or belongs to a library."""
    if isinstance(value, types.ModuleType | types.BuiltinFunctionType) or type(value) in _CONSTANTS:
        return True
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.ufunc | numpy.generic):
        return True
    if isinstance(value, type | types.FunctionType):
        return value.__module__ != "__main__" and value.__module__ in sys.modules
    return False


def _shared() -> dict[str, Any]:
    """Return the settings that all code of a process shares and that change what it does."""
    numpy: Any = sys.modules.get("numpy")
    return {
        "warnings": list(warnings.filters),
        "recursion": sys.getrecursionlimit(),
        "numpy": numpy and numpy.geterr(),
    }


def _generators() -> list[tuple[Callable[[], Any], Callable[[Any], object]]]:
    """Return how the states of the generators of random numbers are read and set."""
    found: list[tuple[Callable[[], Any], Callable[[Any], object]]]
    found = [(random.getstate, random.setstate)]
    if numpy := sys.modules.get("numpy"):
        found.append((numpy.random.get_state, numpy.random.set_state))
    if torch := sys.modules.get("torch"):
        found.append((torch.get_rng_state, torch.set_rng_state))
    return found
