"""Whether a cell has damaged Python itself in its process.

What comes after such a cell would fail through no fault of its own. Student code could deceive
this. It is not there to protect the grader, but so that a cell costs its own exercise alone.
"""

import builtins
import json
import sys
from collections.abc import Iterable, Mapping
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


class Health:
    """What must stay as it is before any student's code has run.

    Parameters
    ----------
    answering
        The objects that answer the grader.
    *own
        The names in the modules and classes that they take for this.
    """

    def __init__(self, answering: Iterable[object], *own: Mapping[str, Any]) -> None:
        self._answering = tuple(answering)
        own = (*own, *(vars(type(each)) for each in self._answering))
        watched = [vars(builtins), vars(json.JSONEncoder), vars(json.JSONDecoder), *own]
        watched += [vars(sys.modules[name]) for name in _COMMON if name in sys.modules]
        self._names = [(names, dict(names)) for names in watched]
        self._modules = len(sys.modules)

    def alone(self) -> bool:
        """Say whether no thread is left that student code has started."""
        try:
            return len(sys._current_frames()) == 1
        except BaseException:  # it may have been replaced
            return False

    def intact(self) -> bool:
        """Compare. Names may have been added, as IPython and late imports do."""
        try:
            return (
                sys.gettrace() is None
                and sys.getprofile() is None
                and sys.getrecursionlimit() >= _LEAST_RECURSION
                and len(sys.modules) >= self._modules
                and all(vars(o).keys().isdisjoint(vars(type(o))) for o in self._answering)
                and all(now.items() >= before.items() for now, before in self._names)
            )
        except BaseException:  # there may not even be a `len`
            return False
