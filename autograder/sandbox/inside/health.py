"""Whether a cell has damaged Python itself in its process.

What comes after such a cell would fail through no fault of its own. Student code could deceive
this. It is not there to protect the grader, but so that a cell costs its own exercise alone.
"""

import builtins
import dis
import json
import sys
import types
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_LEAST_RECURSION = 200

#: Modules that many exercises use in common, where they have been imported.
_COMMON = (
    "math",
    "numpy",
    "numpy.fft",
    "numpy.linalg",
    "numpy.random",
    "torch",
    "torch.nn.functional",
)


#: Modules of which no function changes what others find in these.
_HARMLESS = {
    *("__future__", "check", "cmath", "collections", "copy", "dataclasses", "fractions"),
    *("functools", "itertools", "math", "matplotlib", "numpy", "random", "re", "statistics"),
    *("string", "sympy", "time", "torch", "typing", "warnings"),
}
#: What gets at a module's names without assigning to an attribute, or at Python's own settings.
_REACHING = {
    *("__builtins__", "__delattr__", "__dict__", "__globals__", "__import__", "__setattr__"),
    *("compile", "delattr", "eval", "exec", "get_ipython", "modules", "setattr", "setprofile"),
    *("setrecursionlimit", "settrace", "vars"),
}
_IMPORT, _CACHE = dis.opmap["IMPORT_NAME"], dis.opmap.get("CACHE")
_ASSIGNS = {dis.opmap["STORE_ATTR"], dis.opmap["DELETE_ATTR"]}
_LOOKED_AT = {_IMPORT, *_ASSIGNS}
#: What puts one local variable on the stack: later versions of Python have several.
_LOADS = {code for name, code in dis.opmap.items() if name.count("LOAD_FAST") == 1}


def may_damage(code: types.CodeType) -> bool:
    r"""Say whether code may change what is watched here, when it runs or is called later.

    >>> def may(cell): return may_damage(compile(cell, "", "exec"))
    >>> may("import numpy as np"), may("import sys"), may("np.exp = abs"), may("x = vars(np)")
    (False, True, True, True)
    >>> may("class A:\n    def __init__(self, x): self.x = x"), may("def f(a): del a.b.c")
    (False, True)
    """
    todo = [code]
    while todo:
        code = todo.pop()
        if not _REACHING.isdisjoint(code.co_names):
            return True
        if not _LOOKED_AT.isdisjoint(code.co_code[::2]) and _assigns_or_imports(code):
            return True
        todo += (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return False


def _assigns_or_imports(code: types.CodeType) -> bool:
    """Look for an attribute of anything but ``self``, and for a module that isn't known."""
    of_self = False  # was the first argument put on the stack last?
    argument = 0
    for step, low in zip(code.co_code[::2], code.co_code[1::2], strict=True):
        argument = argument << 8 | low
        if step == dis.EXTENDED_ARG:
            continue
        if step == _IMPORT and code.co_names[argument].partition(".")[0] not in _HARMLESS:
            return True
        if step in _ASSIGNS and not of_self:
            return True
        if step != _CACHE:
            of_self = step in _LOADS and argument == 0 and code.co_argcount > 0
        argument = 0
    return False


#: The names of modules and classes, each with what they were.
Usual = Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]


def usual(*own: Mapping[str, Any]) -> Usual:
    """Return what must stay as it is, before any student's code has run.

    ``own`` are the names in the modules and classes of what answers the grader.
    """
    watched = [vars(builtins), vars(json.JSONEncoder), vars(json.JSONDecoder), *own]
    watched += [vars(sys.modules[name]) for name in _COMMON if name in sys.modules]
    return [(names, dict(names)) for names in watched]


class Health:
    """Whether all is as usual.

    Parameters
    ----------
    answering
        The objects that answer the grader.
    usual
        What `usual` has returned.
    """

    def __init__(self, answering: Iterable[object], usual: Usual) -> None:
        self._answering, self._names = tuple(answering), usual
        self._modules = len(sys.modules)

    def alone(self) -> bool:
        """Say whether no thread is left that student code has started."""
        try:
            return len(sys._current_frames()) == 1
        except BaseException:  # it may have been replaced
            return False

    def intact(self, *, closely: bool) -> bool:
        """Compare. Names may have been added, as IPython and late imports do.

        To compare thousands of names takes longer than most cells, since each object is touched.
        It is only done ``closely``, where code `may_damage` them.
        """
        try:
            return (
                sys.gettrace() is None
                and sys.getprofile() is None
                and sys.getrecursionlimit() >= _LEAST_RECURSION
                and len(sys.modules) >= self._modules
                and all(vars(o).keys().isdisjoint(vars(type(o))) for o in self._answering)
                and (
                    not closely or all(now.items() >= before.items() for now, before in self._names)
                )
            )
        except BaseException:  # there may not even be a `len`
            return False
