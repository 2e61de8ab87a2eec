r"""LaTeX as what the readers know already: its commands become signs, names and brackets.

``\frac{3}{8}`` is ``frac (3)(8)``, ``\ln 2`` is ``ln 2`` and a matrix is ``[1, 0; 0, 1]``.
"""

from __future__ import annotations

import re
from typing import Any

# What Python makes of "\frac" and "\times" where no r stands before the quotes.
_CHANGED = re.compile(r"[\a\b\f\v]|\t(?=imes|[dt]?frac|ext)|\r(?=ight|ceil|floor)")
_TYPED = {"\a": r"\a", "\b": r"\b", "\f": r"\f", "\v": r"\v", "\t": r"\t", "\r": r"\r"}

_GROUPED = re.compile(r"(?<=\d)(?:\{,\}|\\[,;: ]|~)(?=\d{3}(?!\d))")  # 1{,}048{,}576
_FONTS = r"\\(?:text|mathrm|mathbb|mathbf|operatorname|mathit|textrm)\s*\{([^{}]*)\}"
_BEGIN = r"\\begin\s*\{(?:[A-Za-z]*matrix|array)\*?\}(?:\s*\{[lcr| ]*\})?"
_END = r"\\end\s*\{(?:[A-Za-z]*matrix|array)\*?\}"
#: The name e, where the word of a command would stick to it.
_BEFORE_WORD = re.compile(
    r"(?<![A-Za-z\\])e\s*(?=\\(?:ln|log|exp|sqrt|sin|cos|tanh?|[dtc]?frac)(?![a-z]))"
)
_COMMAND = re.compile(r"\\([A-Za-z]+|.)")
_MEANT = {
    **dict.fromkeys(("cdot", "times", "ast"), "×"),
    "div": "÷",
    "pi": "π",
    "infty": "∞",
    "approx": "≈",
    "lceil": "⌈",
    "rceil": "⌉",
    "lfloor": "⌊",
    "rfloor": "⌋",
    "{": "{",
    "}": "}",
    "%": "%",
    **dict.fromkeys(("dots", "ldots"), "..."),
    **dict.fromkeys(("dfrac", "tfrac", "cfrac"), "frac "),
    **dict.fromkeys(("left", "right", "big", "Big", "bigl", "bigr", "Bigl", "Bigr", "!"), ""),
    **dict.fromkeys(("(", ")", "[", "]"), ""),  # around a formula
    **dict.fromkeys((",", ";", ":", " ", "quad", "qquad", "displaystyle", "textstyle"), " "),
}


def as_typed(text: str) -> str:
    r"""Undo what Python makes of LaTeX in a text without an r before it.

    >>> as_typed("\frac{3}{8}")
    '\\frac{3}{8}'
    """
    typed = _CHANGED.sub(lambda sign: _TYPED[sign[0]], text)
    if typed != text:  # then a \\ has become a single one
        typed = re.sub(r"(?<!\\)\\(?=\s|$)", r"\\\\", typed)
    return typed


def without_latex(text: str) -> str:
    r"""Write a text in LaTeX without it; any other text stays as it is.

    >>> without_latex(r"$16\sqrt{2}$")
    '16sqrt {2}'
    >>> without_latex(r"\begin{pmatrix} 1 & 0 \\ 0 & 1 \end{pmatrix}")
    '[ 1 , 0 ; 0 , 1 ]'
    """
    text = as_typed(text)
    if "\\" not in text and "$" not in text and "{,}" not in text:
        return text
    text = _GROUPED.sub("", text.replace("$", ""))
    text = re.sub(_BEGIN, "[", re.sub(_END, "]", text))
    text = re.sub(r"\\\\(?:\[[^]]*\])?", ";", text).replace(r"\&", " ").replace("&", ",")
    text = _BEFORE_WORD.sub("e*", re.sub(_FONTS, _upright, text))
    return _COMMAND.sub(_meant, text)


def _upright(font: Any) -> str:
    """Return what stands in a font; an upright e is Euler's, and begins no exponent of ten."""
    return "(e)" if font[1].strip() == "e" else str(font[1])


def _meant(command: Any) -> str:
    """Return the sign for a command, or its name, behind which a blank ends it."""
    return _MEANT.get(command[1], f"{command[1]} ")
