"""Numbers as formulas."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from autograder.student.display import block

GREEK = re.findall(
    r"\w+",
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau "
    "phi chi psi omega",
)


class NumbersByName(dict):  # type: ignore[type-arg]
    """Numbers by name, shown as formulas; or none, and a message that says why.

    Sentences by letter, which are to be put in order, are shown as a list; so are ``lists`` of
    statements to choose from, by what asks for them.
    """

    def __init__(
        self,
        numbers: dict[str, Any],
        message: str = "",
        lists: dict[str, dict[str, str]] | None = None,
    ) -> None:
        super().__init__(numbers)
        self._message, self._choices = message, lists or {}

    def __missing__(self, name: object) -> Any:
        raise KeyError(self._message or f"no {name!r} among your numbers: {', '.join(self)}")

    def __repr__(self) -> str:
        lines = block({name: self[name] for name in self if name not in self._lists}, 1000)
        lines += [
            f"{letter}  {text}" for name in self._lists for letter, text in self[name].items()
        ]
        for name, texts in self._choices.items():
            lines.append(f"{name}, to choose from:")
            lines += [f"  {letter}  {text}" for letter, text in texts.items()]
        return self._message or "\n".join(lines)

    @property
    def _lists(self) -> list[str]:
        return [name for name, value in self.items() if isinstance(value, dict)]

    def _repr_markdown_(self) -> str | None:
        if not self._lists and not self._choices:
            return None
        numbers = NumbersByName({name: self[name] for name in self if name not in self._lists})
        items = [
            f"- **{letter}** {text}" for name in self._lists for letter, text in self[name].items()
        ]
        for name, texts in self._choices.items():
            called = ", ".join(f"`{each}`" for each in name.split(", "))
            items += ["", f"{called}, to choose from:", ""]
            items += [f"- **{letter}** {text}" for letter, text in texts.items()]
        return "\n".join([*([numbers._repr_latex_() or "", ""] if numbers else []), *items])

    def _repr_latex_(self) -> str | None:
        if self._message or self._lists or self._choices:
            return None
        lines: list[str] = []
        room = 0
        for name, value in self.items():
            for equation in _equations(_symbol(name), value):
                columns = 2 + equation.split(r"\\")[0].count("&") + equation.count(r",\ ")
                room -= columns
                if room < 0:
                    lines.append(equation)
                    room = 16 - columns
                else:
                    lines[-1] += r",\qquad " + equation
        return r"$$\begin{gathered} " + r" \\[1ex] ".join(lines) + r" \end{gathered}$$"


def _symbol(name: str) -> str:
    letter, _, index = name.partition("_")
    if len(letter) > 1 and letter.lower() not in GREEK:
        return r"\mathtt{" + name.replace("_", r"\_") + "}"
    symbol = "\\" + letter if len(letter) > 1 else letter
    if len(index) > 1:
        index = r"\mathrm{" + index.replace("_", r"\_") + "}"
    return f"{symbol}_{{{index}}}" if index else symbol


def _equations(symbol: str, value: Any) -> list[str]:
    """Return ``symbol = value``, once for each matrix where there are more than two axes."""
    if np.ndim(value) > 2:
        return [e for i, v in enumerate(value) for e in _equations(f"{symbol}[{i}]", v)]
    return [f"{symbol} = {_latex(value)}"]


def _latex(value: Any) -> str:
    if np.ndim(value) == 2:
        rows = [" & ".join(map(_latex, row)) for row in value]
        return r"\begin{pmatrix} " + r" \\ ".join(rows) + r" \end{pmatrix}"
    if np.ndim(value) == 1:
        return "(" + r",\ ".join(map(_latex, value)) + ")"
    text = str(value)  # every digit: you compute with these
    if isinstance(value, float) and abs(value) >= 1e6 and float(short := f"{value:g}") == value:
        text = short  # nobody counts fifteen zeros
    if not re.fullmatch(r"-?(\d.*|inf|nan)", text):
        return r"\text{" + re.sub(r"([_#$%&{}])", r"\\\1", text) + "}"
    text = re.sub(r"e([+-]?)0*(\d+)$", r" \\cdot 10^{\1\2}", text).replace("{+", "{")
    return "{" * (text[0] == "-") + text.replace("inf", r"\infty") + "}" * (text[0] == "-")
