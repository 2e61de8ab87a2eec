"""The functions and operators of indexed lines: those of formulas, and what stays as written."""

from __future__ import annotations

from typing import Any

import sympy

from autograder.algebra.building import library
from autograder.algebra.building.functions import Max, Min
from autograder.algebra.deriving.lines.bars import size
from autograder.algebra.deriving.lines.inert import D, E, InertNorm, Transposed, Var


def _log(value: sympy.Expr, base: sympy.Expr | None = None) -> sympy.Expr:
    if value == 0 or base in (0, 1):
        raise library.WrongArguments("there is no such logarithm")
    return sympy.log(value) if base is None else sympy.log(value) / sympy.log(base)


OPERATORS: dict[str, Any] = {"D": D, "diff": D, "E": E, "Var": Var, "norm": InertNorm}
# Of matrices, whose entries are not known here, and of what may be complex.
_ABSENT = "diag trace tr det conjugate re im Derivative norm diff max Max min Min maximum minimum"
#: By name, as in `library.FUNCTIONS`, which has all but what is kept as it is written.
FUNCTIONS: dict[str, tuple[int, int, Any]] = {
    name: known for name, known in library.FUNCTIONS.items() if name not in _ABSENT.split()
}
for _name in ("exp", "sqrt", "sin", "cos", "tan", "tanh", "sign"):
    FUNCTIONS[_name] = (1, 1, getattr(sympy, _name))
for _name in ("abs", "Abs", "fabs", "absolute"):
    FUNCTIONS[_name] = (1, 1, size)
FUNCTIONS |= {"ln": (1, 1, sympy.log), "log": (1, 2, _log), "transpose": (1, 1, Transposed)}
FUNCTIONS["delta"] = FUNCTIONS["KroneckerDelta"]
EXTREMA = {"max": Max, "Max": Max, "maximum": Max, "min": Min, "Min": Min, "minimum": Min}
