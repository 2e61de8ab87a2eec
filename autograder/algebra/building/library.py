"""The functions and constants that a formula may use, and what they make of their arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy

from autograder.algebra.building import functions as own

MAX_DETERMINANT = 4

Maker = Callable[..., Any]


class WrongArguments(ValueError):
    """Why a function does not take these arguments."""


def _log(value: sympy.Expr, base: sympy.Expr | None = None) -> sympy.Expr:
    if value == 0:
        raise WrongArguments("there is no logarithm of 0")
    # For a constant that is not rational, sympy's log looks for its angle, which can take long.
    result = sympy.log(value, evaluate=bool(value.is_Rational or not value.is_number))
    return result if base is None else result / _log(_not_one(base))


def _log2(value: sympy.Expr) -> sympy.Expr:
    if value.is_Integer and value > 0 and int(value).bit_count() == 1:
        return sympy.Integer(int(value).bit_length() - 1)
    return _log(value, sympy.Integer(2))


def _not_one(base: sympy.Expr) -> sympy.Expr:
    if base in (0, 1):
        raise WrongArguments("there is no logarithm to this base")
    return base


def _abs(value: Any) -> sympy.Expr:
    if isinstance(value, sympy.MatrixBase):
        return _norm(value)
    # For what may be complex, sympy's Abs expands value·conjugate, which can take long.
    return sympy.Abs(value, evaluate=bool(value.is_extended_real))


def _norm(value: object) -> sympy.Expr:
    if not isinstance(value, sympy.MatrixBase):
        return own.Norm(value)
    return sympy.sqrt(sympy.Add(*[_abs(cell) ** 2 for cell in value]))


def _transpose(value: object) -> Any:
    return value.T if isinstance(value, sympy.MatrixBase) else own.Transpose(value)


def _root(value: sympy.Expr, degree: sympy.Expr) -> sympy.Expr:
    if degree == 0:
        raise WrongArguments("there is no root of degree 0")
    return value ** (1 / degree)


def _binomial(n: sympy.Expr, k: sympy.Expr) -> sympy.Expr:
    return own.Factorial(n) / (own.Factorial(k) * own.Factorial(n - k))


def _diag(*values: object) -> Any:
    if len(values) == 1 and not isinstance(values[0], sympy.MatrixBase):
        return sympy.Function("diag")(*values)  # of a vector whose entries are not known
    if len(values) == 1 and isinstance(values[0], sympy.MatrixBase):
        values = tuple(values[0])
    if any(isinstance(value, sympy.MatrixBase) for value in values):
        raise WrongArguments("diag takes numbers or one vector")
    return sympy.ImmutableMatrix(sympy.diag(*values))


def _square(value: object) -> Any:
    if not isinstance(value, sympy.MatrixBase) or value.rows != value.cols:
        raise WrongArguments("this needs a square matrix")
    return value


def _trace(value: object) -> sympy.Expr:
    return sympy.Add(*_square(value).diagonal())


def _det(value: Any) -> sympy.Expr:
    if _square(value).rows > MAX_DETERMINANT:
        raise WrongArguments("this matrix is too large for a determinant")
    return value.det(method="berkowitz")


def _reciprocal(function: Maker) -> Maker:
    return lambda value: 1 / function(value)


def _acosh(x: sympy.Expr) -> sympy.Expr:
    return _log(x + sympy.sqrt(x - 1) * sympy.sqrt(x + 1))


# What may be complex is left as it is: exact evaluation asks sympy for signs.
CONSTANTS = {
    "pi": sympy.pi,
    "e": sympy.E,
    "E": sympy.E,
    "I": sympy.I,
    "oo": sympy.oo,
    "infinity": sympy.oo,
    "infty": sympy.oo,
    "inf": sympy.oo,
}

# name: (least number of arguments, most, what it makes of them)
FUNCTIONS: dict[str, tuple[int, int, Maker]] = {
    "exp": (1, 1, sympy.exp),
    "log": (1, 2, _log),
    "ln": (1, 1, _log),
    "log2": (1, 1, _log2),
    "log10": (1, 1, lambda x: _log(x, sympy.Integer(10))),
    "sqrt": (1, 1, sympy.sqrt),
    "root": (2, 2, _root),
    "cbrt": (1, 1, lambda x: _root(x, sympy.Integer(3))),
    "sin": (1, 1, sympy.sin),
    "cos": (1, 1, sympy.cos),
    "tan": (1, 1, sympy.tan),
    "sec": (1, 1, _reciprocal(sympy.cos)),
    "csc": (1, 1, _reciprocal(sympy.sin)),
    "cot": (1, 1, lambda x: sympy.cos(x) / sympy.sin(x)),
    "sinh": (1, 1, own.sinh),
    "cosh": (1, 1, own.cosh),
    "tanh": (1, 1, own.tanh),
    "sech": (1, 1, _reciprocal(own.cosh)),
    "csch": (1, 1, _reciprocal(own.sinh)),
    "coth": (1, 1, lambda x: own.cosh(x) / own.sinh(x)),
    "asinh": (1, 1, lambda x: _log(x + sympy.sqrt(x**2 + 1))),
    "acosh": (1, 1, _acosh),
    "atanh": (1, 1, lambda x: (_log(1 + x) - _log(1 - x)) / 2),
    "erf": (1, 1, own.Erf),
    "sigmoid": (1, 1, lambda x: 1 / (1 + sympy.exp(-x))),
    "abs": (1, 1, _abs),
    "norm": (1, 1, _norm),
    "log1p": (1, 1, lambda x: _log(1 + x)),
    "expm1": (1, 1, lambda x: sympy.exp(x) - 1),
    "logaddexp": (2, 2, lambda a, b: _log(sympy.exp(a) + sympy.exp(b))),
    "relu": (1, 1, lambda x: own.Max(x, sympy.Integer(0))),
    "hypot": (2, 2, lambda a, b: sympy.sqrt(a**2 + b**2)),
    "floor": (1, 1, own.Floor),
    "ceiling": (1, 1, own.Ceiling),
    "sign": (1, 1, lambda x: sympy.sign(x) if x.is_Rational else sympy.sign(x, evaluate=False)),
    "conjugate": (1, 1, own.Conjugate),
    "re": (1, 1, own.RealPart),
    "im": (1, 1, own.ImaginaryPart),
    "max": (1, 10, own.Max),
    "min": (1, 10, own.Min),
    "factorial": (1, 1, own.Factorial),
    "binomial": (2, 2, _binomial),
    "transpose": (1, 1, _transpose),
    "diag": (1, 20, _diag),
    "trace": (1, 1, _trace),
    "det": (1, 1, _det),
    "diff": (2, 4, own.Diff),
}
for _names, _makes in (
    ("asin arcsin", own.Asin),
    ("acos arccos", own.Acos),
    ("atan arctan", own.Atan),
):
    FUNCTIONS |= dict.fromkeys(_names.split(), (1, 1, _makes))
FUNCTIONS |= dict.fromkeys(("atan2", "arctan2"), (2, 2, own.Atan2))
_ALIASES = {
    "Abs": "abs",
    "arcsinh": "asinh",
    "arccosh": "acosh",
    "arctanh": "atanh",
    "artanh": "atanh",
    "Max": "max",
    "Min": "min",
    "tr": "trace",
    "sgn": "sign",
    "ceil": "ceiling",
    "absolute": "abs",
    "fabs": "abs",
    "maximum": "max",
    "minimum": "min",
    "ReLU": "relu",
    "expit": "sigmoid",
    "binom": "binomial",
    "comb": "binomial",
}
_ALIASES |= {"Derivative": "diff"}
FUNCTIONS["KroneckerDelta"] = (2, 2, own.delta)
FUNCTIONS |= {alias: FUNCTIONS[name] for alias, name in _ALIASES.items()}

# These are read by the builder, which must see their arguments before they are built.
BINDERS = ("sum", "Sum", "product", "prod", "Product")

LIMITS = ("limit", "Limit")

# All that starts a call when a bracket follows.
CALLS = (*FUNCTIONS, *BINDERS, *LIMITS, "Matrix")

# With how many arguments, at least and at most; what the builder reads by itself takes any.
COUNTS = {name: FUNCTIONS[name][:2] if name in FUNCTIONS else (0, 20) for name in sorted(CALLS)}
