"""What is said, as a small page where JupyterLab shows it, and as text everywhere else.

A mark is a sign, a word and a colour: nothing is said by colour alone, and the text stands beside.
"""

from __future__ import annotations

import html
import importlib
import json
import re
import sys
from typing import Any

_MARKED = re.compile(r"  ([✓✗→–~?]) (.+?)(?:\s{2,}(.*))?$")
#: Of what stands behind a sign; each has enough contrast on white and on black.
_COLOURS = {
    "✓": "#2e8b57",
    "✗": "#d9534f",
    "→": "#4a86e8",
    "~": "#b8860b",
    "–": "#808080",
    "?": "#808080",
}
_CALL = re.compile(r'hint\("\w+"(?:, \d)?\)')
_BELOW = ["notebook:insert-cell-below", "notebook:replace-selection", "notebook:run-cell"]
_ITEM = "border-left: 4px solid {}; padding: 0.1em 0.7em; margin: 0.3em 0; list-style: none"


class Typeset(str):
    """A line with LaTeX of the formula that it ends in."""

    latex: str = ""


def typeset(line: str, latex: str) -> str:
    """Return a line that shows its formula typeset, where there is LaTeX of it."""
    if not latex:
        return line
    found = Typeset(line)
    found.latex = latex
    return found


def show(lines: list[str]) -> None:
    """Show lines: as a page where something displays pages, and print them elsewhere."""
    text = "\n".join(lines)
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is None or not hasattr(shell, "kernel"):
        print(text)
        return
    display: Any = importlib.import_module("IPython.display").display
    display({"text/plain": text, "text/html": page(lines)}, raw=True)


def page(lines: list[str]) -> str:
    """Return lines as HTML: a title, an item for each mark, what belongs to it below."""
    title, *rest = lines
    parts = [f"<p><strong>{_text(title)}</strong></p>"]
    for item in _items(rest):
        found = _MARKED.match(item[0])
        if not found:
            parts += [f"<p>{_text(line.strip())}{_button(line)}</p>" for line in item]
            continue
        sign, word, said = found[1], found[2], found[3] or ""
        colour = _COLOURS[sign]
        parts.append(
            f'<li style="{_ITEM.format(colour)}"><span style="color: {colour}" aria-hidden="true">'
            f"{sign}</span> <strong>{_text(word)}</strong> {_text(said)}{_math(item[0])}"
            f"{_below(item[1:])}</li>"
        )
    return f"<div>{''.join(_with_lists(parts))}</div>"


def _button(line: str) -> str:
    """Return a button that writes the call of a hint into a cell below, and runs it.

    The cell stays in the notebook, as one that was typed. Only JupyterLab has such commands: it is
    the only one to show the button.
    """
    call = _CALL.search(line)
    if not call:
        return ""
    args = html.escape(json.dumps({"commands": _BELOW, "args": {"text": call[0]}}))
    return (
        "<style>.jp-OutputArea .runs-below { display: inline !important }</style> "
        '<button class="runs-below" style="display: none" data-commandlinker-command='
        f'"apputils:run-all-enabled" data-commandlinker-args="{args}">Run it below</button>'
    )


def _items(lines: list[str]) -> list[list[str]]:
    """Return each mark with what is further in, and each other line by itself."""
    items: list[list[str]] = []
    for line in lines:
        if items and line.startswith("      "):
            items[-1].append(line)
        else:
            items.append([line])
    return items


def _with_lists(parts: list[str]) -> list[str]:
    """Put items that follow one another into a list."""
    found: list[str] = []
    inside = False
    for part in parts:
        item = part.startswith("<li")
        if item != inside:
            found.append('<ul style="padding: 0; margin: 0">' if item else "</ul>")
        inside = item
        found.append(part)
    return [*found, "</ul>" * inside]


def _below(lines: list[str]) -> str:
    """Return what belongs to a mark: formulas typeset, the rest as it stands."""
    if not lines:
        return ""
    if any(isinstance(line, Typeset) for line in lines):
        return "".join(f"<div>{_text(line.strip())}{_math(line)}</div>" for line in lines)
    margin = min(len(line) - len(line.lstrip()) for line in lines)
    text = "\n".join(html.escape(line[margin:]) for line in lines)
    return f'<pre style="margin: 0.2em 0">{text}</pre>'


def _text(line: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(line))


def _math(line: str) -> str:
    return f" &emsp; ${html.escape(line.latex)}$" if isinstance(line, Typeset) else ""
