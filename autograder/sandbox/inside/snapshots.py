"""The notebook as it was after some cell, to which calls can be turned back.

Cells need not be run again for a function that is checked after the last one, as long as what it
uses can't have changed since: names are put back, values that can be changed are not. Student code
could deceive this, to its own loss alone.
"""

import dis
import random
import sys
import types
import warnings
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

_CONSTANTS = (bool, int, float, complex, str, bytes, range, type(None), type(Ellipsis))
_DYNAMIC = {"__main__", "eval", "exec", "get_ipython", "globals", "locals", "vars"}
#: What looks a name up among those of the notebook, or puts one there.
_GLOBAL = {
    *("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"),
    *("STORE_GLOBAL", "DELETE_GLOBAL"),
}


class _Snapshot(NamedTuple):
    """What functions use: names, those of them that there were, settings, random states."""

    names: set[str]
    values: dict[str, Any]
    shared: dict[str, Any]
    states: list[Any]


class Snapshots:
    """The states of a notebook that are kept, by name.

    Parameters
    ----------
    namespace : dict
        The names of the notebook.
    """

    def __init__(self, namespace: dict[str, Any]) -> None:
        self._namespace = namespace
        self._kept: dict[str, _Snapshot] = {}
        self._last: dict[str, Any] | None = None  # names as the last cell has left them

    def keep(self, snapshot: str, names: Iterable[str]) -> bool:
        """Keep this state, and say whether these functions can be called in it later on.

        Nothing large is kept: what can be needed is functions and constants.
        """
        used = self._used(names)
        if used is None:
            return False
        values = {name: self._namespace[name] for name in used & self._namespace.keys()}
        states = [read() for read, _ in _generators()]
        self._kept[snapshot] = _Snapshot(used, values, _shared(), states)
        return True

    def recall(self, snapshot: str = "") -> bool:
        """Turn back to a state, and say whether that is possible.

        All other names are as the last cell has left them, and so are all of them where no state
        is named.
        """
        if self._last is None:
            self._last = dict(self._namespace)
        self._namespace.clear()
        self._namespace.update(self._last)
        if not snapshot:
            return True
        names, values, shared, states = self._kept[snapshot]
        if _shared() != shared:
            return False
        for name in names - values.keys():
            self._namespace.pop(name, None)
        self._namespace.update(values)
        for (_, put), state in zip(_generators(), states, strict=False):
            put(state)
        return True

    def _used(self, functions: Iterable[str]) -> set[str] | None:
        """Return the names that functions may use; None if one stands for what can be changed."""
        names = set(functions)
        todo = [self._namespace[name] for name in names & self._namespace.keys()]
        seen = set()
        while todo:
            value = todo.pop()
            if id(value) in seen:
                continue
            seen.add(id(value))
            if isinstance(value, tuple):
                todo += value
            elif type(value) is types.FunctionType and value.__globals__ is self._namespace:
                used, touched = _names(value.__code__)
                # What a closure holds may be assigned to by another function of it.
                if vars(value) or value.__closure__ or touched & _DYNAMIC:
                    return None
                todo += value.__defaults__ or ()
                todo += (value.__kwdefaults__ or {}).values()
                todo += (self._namespace[name] for name in used & self._namespace.keys())
                names |= used
            elif not _fixed(value):
                return None
        return names


def _names(code: types.CodeType) -> tuple[set[str], set[str]]:
    """Return the global names in a function and those inside it, and attributes among all names."""
    names, touched, todo = set(), set(), [code]
    while todo:
        code = todo.pop()
        names |= {each.argval for each in dis.get_instructions(code) if each.opname in _GLOBAL}
        touched |= set(code.co_names)
        todo += (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return names, touched


def _fixed(value: object) -> bool:
    """Say whether a value is constant, or belongs to a library."""
    if isinstance(value, types.ModuleType) or type(value) in _CONSTANTS:
        return True
    if isinstance(value, types.BuiltinFunctionType):  # or a method, of a list for instance
        return value.__self__ is None or isinstance(value.__self__, types.ModuleType | type)
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.ufunc | numpy.generic):
        return True
    if isinstance(value, type | types.FunctionType):
        return value.__module__ != "__main__" and value.__module__ in sys.modules
    return False


def _shared() -> dict[str, Any]:
    """Return the settings that all code of a process shares and that change what it does."""
    numpy: Any = sys.modules.get("numpy")
    torch: Any = sys.modules.get("torch")
    return {
        "warnings": list(warnings.filters),
        "recursion": sys.getrecursionlimit(),
        "numpy": numpy and numpy.geterr(),
        "torch": torch and (torch.get_default_dtype(), torch.is_grad_enabled()),
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
