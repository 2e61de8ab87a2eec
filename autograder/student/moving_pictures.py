"""A picture that a slider moves where the notebook has widgets, and that stands still elsewhere."""

from __future__ import annotations

import base64
import html
import importlib
import io
import json
import sys
from collections.abc import Callable
from typing import Any

#: Draws a picture for a value; returns the figure, and in words what it shows.
Draw = Callable[[Any], "tuple[Any, str]"]


def show_moving(draw: Draw, name: str, choices: list[Any], first: Any) -> None:
    """Show a picture for the first value; with a slider, where there are widgets."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    still, says = _picture(draw, first)
    if shell is None:
        print(says)
        return
    shown = {"text/html": still}
    if hasattr(shell, "kernel") and (widgets := _widgets()):
        slider = widgets.SelectionSlider(
            options=choices,
            value=first,
            description=name,
            style={"description_width": "initial"},
            layout={"width": "95%", "max_width": "30em"},
        )
        below = widgets.HTML(_naming(still, name, first))

        def move(change: Any) -> None:
            drawn, _ = _picture(draw, change["new"])
            below.value = _naming(drawn, name, change["new"])

        slider.observe(move, "value")
        shown |= widgets.VBox([slider, below])._repr_mimebundle_()
    display: Any = importlib.import_module("IPython.display").display
    display({**shown, "text/plain": says}, raw=True)


def _widgets() -> Any:
    try:
        return importlib.import_module("ipywidgets")
    except ImportError:
        return None


def _naming(drawn: str, name: str, value: object) -> str:
    """Let a picture that is there tell the slider its name and value, which ipywidgets does not."""
    told = f"one.ariaLabel = {json.dumps(name)}; one.ariaValueText = {json.dumps(str(value))}"
    found = "const one = this.closest('.widget-vbox').querySelector('[role=slider]')"
    return drawn.replace("<img ", f'<img onload="{html.escape(f"{found}; {told}")}" ', 1)


def _picture(draw: Draw, value: object) -> tuple[str, str]:
    """Return a picture as HTML, with what it shows below it; and that.

    A screen reader is told of the text whenever it changes; the picture itself says nothing more.
    """
    figure, says = draw(value)
    content = io.BytesIO()
    figure.savefig(content, format="png")
    data = base64.b64encode(content.getvalue()).decode()
    image = f'<img alt="" src="data:image/png;base64,{data}" style="max-width: 100%">'
    return f'{image}<p role="status">{html.escape(says)}</p>', says
