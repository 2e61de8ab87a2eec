"""The signs that formulas are written with, and what each of them stands for."""

from __future__ import annotations

import unicodedata

_GREEK_NAMES = """alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron
    pi rho sigma tau upsilon phi chi psi omega"""
GREEK = dict(zip("αβγδεζηθικλμνξοπρστυφχψω", _GREEK_NAMES.split(), strict=True))
GREEK |= {letter.upper(): name.capitalize() for letter, name in GREEK.items()}
ACCENTS = {"hat": "hat", "widehat": "hat", "bar": "bar", "overline": "bar", "tilde": "tilde"}
MARKS = {"\u0302": "hat", "\u0304": "bar", "\u0303": "tilde"}
# x̂ is one character or two.
_MARKED = {
    unicodedata.normalize("NFC", letter + mark): letter + word
    for letter in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    for mark, word in MARKS.items()
}
_MARKED = {letter: name for letter, name in _MARKED.items() if len(letter) == 1}
_DIGITS = dict(zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True))
LETTERS = str.maketrans(GREEK | _MARKED | MARKS | _DIGITS | {"′": "'", "ℯ": "e"})
LETTER = "A-Za-zℯ" + "".join(GREEK) + "".join(_MARKED)
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ᐟᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ"
RAISED = dict(zip(_RAISED, "0123456789+-()/abcdefghijklmnoprstuvwxyz", strict=True))
LOWERED = dict(zip("ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", "aehijklmnoprstuvx", strict=True))
FRACTIONS = {"½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅛": "1/8"}
FRACTIONS |= {"⅕": "1/5", "⅖": "2/5", "⅗": "3/5", "⅘": "4/5", "⅙": "1/6", "⅚": "5/6"}


def _sign(name: str) -> str:
    try:
        return unicodedata.lookup(name)
    except KeyError:
        return ""


def is_greek(name: str) -> bool:
    """Whether a name is that of a Greek letter, perhaps with an index: ``sigma_q``."""
    return name.partition("_")[0] in GREEK.values()


WRITTEN = {
    "**": "^",
    "−": "-",
    "–": "-",
    "×": "*",
    "·": "*",
    "⋅": "*",
    "∙": "*",
    "•": "*",
    "@": "*",
    "÷": "/",
    "⁄": "/",
    "∕": "/",
    "∗": "*",
    "∣": "|",
    "∥": "‖",
    "（": "(",
    "）": ")",
    "==": "=",
    ":=": "=",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "||": "‖",
    "->": "→",
    ".T": "ᵀ",
    "⌊": r"\lfloor",
    "⌋": r"\rfloor",
    "⌈": r"\lceil",
    "⌉": r"\rceil",
    "∞": "oo",
}
# Words that are never taken apart.
WORDS = frozenset({"pi", "oo", "inf", "infty", "infinity", "and", "or", "not", "True", "False"})
# Blackboard letters are no ordinary ones: 𝔼 is not the number e.
DOUBLE_STRUCK = {
    letter: next(
        sign
        for name in ("DOUBLE-STRUCK CAPITAL", "MATHEMATICAL DOUBLE-STRUCK CAPITAL")
        if (sign := _sign(f"{name} {letter}"))
    )
    for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
} | {"1": "𝟙"}
EXPECTATION = DOUBLE_STRUCK["E"]
STRUCK_FUNCTIONS = {EXPECTATION: "E", DOUBLE_STRUCK["V"]: "Var"}
# What stands under these says where they begin and end.
BIG_OPERATORS = {r"\sum": "Sum", r"\prod": "Product", r"\lim": "Limit"}
# 1 where what stands behind them holds, and 0 elsewhere.
INDICATORS = frozenset({"1", "𝟙", "𝟏", "𝕀", "I"})
BIG = {"Σ": r"\sum", "∑": r"\sum", "∏": r"\prod", "lim": r"\lim"}

COMMANDS = {
    r"\cdot": "*",
    r"\times": "*",
    r"\odot": "∘",
    r"\circ": "∘",
    r"\div": "/",
    r"\le": "<=",
    r"\leq": "<=",
    r"\leqslant": "<=",
    r"\ge": ">=",
    r"\geq": ">=",
    r"\geqslant": ">=",
    r"\lt": "<",
    r"\gt": ">",
    r"\ne": "!=",
    r"\neq": "!=",
    r"\approx": "≈",
    r"\|": "‖",
    r"\lVert": "‖",
    r"\rVert": "‖",
    r"\Vert": "‖",
    r"\lvert": "|",
    r"\rvert": "|",
    r"\vert": "|",
    r"\mid": "|",
    r"\lbrace": r"\{",
    r"\rbrace": r"\}",
    r"\top": "ᵀ",
    r"\intercal": "ᵀ",
    r"\dfrac": r"\frac",
    r"\tfrac": r"\frac",
    r"\cfrac": r"\frac",
    r"\dbinom": r"\binom",
    r"\tbinom": r"\binom",
    r"\%": "%",
    r"\to": "→",
    r"\rightarrow": "→",
    r"\colon": ":",
    r"\partial": "∂",
    r"\ast": "*",
}
NAMED = {
    r"\infty": "oo",
    r"\varepsilon": "epsilon",
    r"\vartheta": "theta",
    r"\varphi": "phi",
    r"\ell": "l",
}
LAYOUT = {
    r"\left",
    r"\right",
    r"\big",
    r"\Big",
    r"\bigl",
    r"\bigr",
    r"\Bigl",
    r"\Bigr",
    r"\bigg",
    r"\Bigg",
    r"\quad",
    r"\qquad",
    r"\displaystyle",
    r"\textstyle",
    r"\limits",
    r"\nolimits",
}
