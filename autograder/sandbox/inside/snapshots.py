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
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

_CONSTANTS = (bool, int, float, complex, str, bytes, range, type(None), type(Ellipsis))
_DYNAMIC = {"__main__", "eval", "exec", "get_ipython", "globals", "locals", "vars"}
#: What looks a name up among those of the notebook, or puts one there.
_GLOBAL = {
    *("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"),
    *("STORE_GLOBAL", "DELETE_GLOBAL"),
}


#: What Python itself writes into a class, and no method of it looks at.
_WRITTEN = {
    *("__annotations__", "__dict__", "__doc__", "__firstlineno__", "__module__", "__qualname__"),
    *("__static_attributes__", "__weakref__"),
}


class _Used(NamedTuple):
    """What functions and classes may use: names, and the classes among it with what they hold."""

    names: set[str]
    classes: dict[type, dict[str, Any]]


class _Snapshot(NamedTuple):
    """What functions use, those of its names that there were, settings, random states."""

    used: _Used
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

        Nothing large is kept: what can be needed is functions, classes and constants.
        """
        used = self._used(names)
        if used is None:
            return False
        values = {name: self._namespace[name] for name in used.names & self._namespace.keys()}
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
        used, values, shared, states = self._kept[snapshot]
        if _shared() != shared or not all(_same(vars(c), held) for c, held in used.classes.items()):
            return False
        for name in used.names - values.keys():
            self._namespace.pop(name, None)
        self._namespace.update(values)
        for (_, put), state in zip(_generators(), states, strict=False):
            put(state)
        return True

    def _used(self, functions: Iterable[str]) -> _Used | None:
        """Return what functions may use; None if some of it can be changed unseen."""
        used = _Used(set(functions), {})
        todo = [self._namespace[name] for name in used.names & self._namespace.keys()]
        seen = set()
        while todo:
            value = todo.pop()
            if id(value) in seen:
                continue
            seen.add(id(value))
            within = self._within(value, used)
            if within is None:
                return None
            todo += within
        return used

    def _within(self, value: object, used: _Used) -> Iterable[Any] | None:
        """Return what a value may use, and take note of names and classes; None as `_used`."""
        if isinstance(value, tuple):
            return value
        if isinstance(value, staticmethod | classmethod):
            return (value.__func__,)
        if isinstance(value, property):
            return value.fget, value.fset, value.fdel
        if type(value) is types.FunctionType and value.__globals__ is self._namespace:
            return self._of_function(value, used)
        if type(value) is type and value.__module__ == "__main__":
            used.classes[value] = held = dict(vars(value))
            return *value.__bases__, *(held[name] for name in held.keys() - _WRITTEN)
        return () if _fixed(value) else None

    def _of_function(self, function: types.FunctionType, used: _Used) -> Iterable[Any] | None:
        names, touched = _names(function.__code__)
        # What a closure holds may be assigned to by another function of it; its class isn't.
        closed = function.__closure__ if function.__code__.co_freevars != ("__class__",) else ()
        if vars(function) or closed or touched & _DYNAMIC:
            return None
        used.names.update(names)
        return (
            *(function.__defaults__ or ()),
            *(function.__kwdefaults__ or {}).values(),
            *(cell.cell_contents for cell in function.__closure__ or ()),
            *(self._namespace[name] for name in names & self._namespace.keys()),
        )


def _same(now: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    """Tell whether a class holds what it held."""
    return now.keys() == before.keys() and all(now[name] is before[name] for name in before)


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
