"""Pictures of what was measured: times beside the reference's, and how a loss fell."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np

from autograder.exercise import Curves, HeatMaps
from autograder.exercise.checks.clocks import exponent

Curve = Mapping[str, Sequence[float]]
Training = Mapping[str, Any]

_SIZE = (5.2, 3.2)
_ACROSS = 4  # heat maps side by side
_YOURS, _REFERENCE = "#9a3412", "#1d4ed8"


def describe(curve: Curve) -> str:
    """Say in a sentence what the picture shows, for those who don't see it."""
    n = [int(size) for size in curve["n"]]
    yours, reference = _power(n, curve["seconds"]), _power(n, curve["reference"])
    return (
        f"Processor time from n = {n[0]} to n = {n[-1]}: yours grows like n^{yours:.1f}, "
        f"to {_ms(curve['seconds'][-1])}; the reference like n^{reference:.1f}, "
        f"to {_ms(curve['reference'][-1])}."
    )


def svg(curves: Sequence[Curve]) -> str:
    """Draw one submission's times, or those of many, and return an address that is the picture.

    Of many the first one's reference stands for all of them.
    """
    axes = _axes()
    alone = len(curves) == 1
    for number, curve in enumerate(curves):
        label = f"yours: {_grows(curve, 'seconds')}" if alone else "" if number else "students"
        axes.loglog(curve["n"], _in_ms(curve["seconds"]), "o-", label=label, **_style(len(curves)))
    first = curves[0]
    label = f"reference: {_grows(first, 'reference')}"
    axes.loglog(first["n"], _in_ms(first["reference"]), "s--", color=_REFERENCE, label=label)
    longest = max((curve["n"] for curve in curves), key=len)
    axes.set_xticks(longest, [f"{int(n)}" for n in longest])
    axes.set_xticks([], minor=True)
    axes.set(xlabel="n", ylabel="processor time (ms)")
    axes.legend(frameon=False)
    return _address(axes)


def describe_training(training: Training) -> str:
    """Say in a sentence how a training run went.

    >>> describe_training({"seed": 1, "seconds": 3.71, "steps": [1, 200], "losses": [2.2, 0.0031]})
    'Trained with seed 1 in 3.7 s of processor time: the loss went from 2.2 to 0.0031 in 200 steps.'
    >>> describe_training({"seed": 2, "seconds": None, "steps": [], "losses": []})
    'Trained with seed 2.'
    """
    said = f"Trained with seed {training['seed']}"
    if training["seconds"] is not None:
        said += f" in {training['seconds']:.1f} s of processor time"
    if losses := training["losses"]:
        steps = training["steps"][-1]
        said += f": the loss went from {losses[0]:.2g} to {losses[-1]:.2g} in {steps} steps"
    return f"{said}."


def loss_svg(trainings: Sequence[Training]) -> str:
    """Draw how the loss fell in one submission, or in many; return an address as `svg` does."""
    axes = _axes()
    draw = axes.semilogy if all(min(each["losses"]) > 0 for each in trainings) else axes.plot
    for training in trainings:
        draw(training["steps"], training["losses"], "-", **_style(len(trainings)))
    axes.set(xlabel="step", ylabel="loss")
    return _address(axes)


def exhibit_svg(shown: Curves | HeatMaps) -> str:
    """Draw what a portfolio shows; return an address as `svg` does."""
    if isinstance(shown, Curves):
        axes = _axes()
        styles = zip(cycle("os^vD"), cycle(["-", "--", "-.", ":"]), strict=False)
        for (name, (x, y)), style in zip(shown.curves.items(), styles, strict=False):
            (axes.loglog if shown.log else axes.plot)(x, y, "".join(style), label=name)
            axes.set_xticks(x, [f"{value:g}" for value in x])
        axes.set_xticks([], minor=True)
        axes.set(xlabel=shown.x, ylabel=shown.y)
        axes.legend(frameon=False)
        return _address(axes)
    from matplotlib.figure import Figure

    rows = -(-len(shown.maps) // _ACROSS)
    figure = Figure(figsize=(_SIZE[0], 1.6 * rows), layout="constrained")
    grid = [*figure.subplots(rows, _ACROSS, squeeze=False, sharex=True, sharey=True).flat]
    most = max(float(np.max(each)) for each in shown.maps.values())
    for axes in grid:
        axes.set_axis_off()
    for (name, each), axes in zip(shown.maps.items(), grid, strict=False):
        axes.set_axis_on()
        axes.imshow(each, vmin=0, vmax=most, cmap="Blues")
        axes.set_title(name, fontsize=7)
        axes.tick_params(labelsize=6)
    figure.supxlabel(shown.x, fontsize=8)
    figure.supylabel(shown.y, fontsize=8)
    return _address(axes)


def describe_exhibit(shown: Curves | HeatMaps) -> str:
    """Say in sentences what such a picture shows.

    >>> describe_exhibit(Curves("n", "ms", {"mine": ([1, 2], [0.5, 3.0])}))
    'ms against n. mine: from 0.5 at 1 to 3 at 2.'
    >>> describe_exhibit(HeatMaps("place", "time", {"run 0": [[0.75, 0.25], [0.1, 0.9]]}))
    'Rows: time; columns: place, both counted from 0. run 0: up to 0.9, in row 1, column 1.'
    """
    if isinstance(shown, Curves):
        told = [f"{shown.y} against {shown.x}."]
        for name, (x, y) in shown.curves.items():
            told.append(f"{name}: from {y[0]:.3g} at {x[0]:.3g} to {y[-1]:.3g} at {x[-1]:.3g}.")
        return " ".join(told)
    told = [f"Rows: {shown.y}; columns: {shown.x}, both counted from 0."]
    for name, each in shown.maps.items():
        row, column = np.unravel_index(np.argmax(each), np.shape(each))
        told.append(f"{name}: up to {np.max(each):.3g}, in row {row}, column {column}.")
    return " ".join(told)


def _axes() -> Any:
    from matplotlib.figure import Figure

    axes = Figure(figsize=_SIZE, layout="constrained").subplots()
    axes.grid(alpha=0.3)
    return axes


def _address(axes: Any) -> str:
    from matplotlib import rc_context

    drawn = io.BytesIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "curve"}):
        axes.figure.savefig(drawn, format="svg", metadata={"Date": None})
    return f"data:image/svg+xml;base64,{base64.b64encode(drawn.getvalue()).decode()}"


def _style(count: int) -> dict[str, Any]:
    """Draw one submission's curve strongly, and those of many so that all are seen."""
    thin = {"linewidth": 1.5} if count == 1 else {"linewidth": 0.7, "alpha": 0.5}
    return {"color": _YOURS, **thin}


def _grows(curve: Curve, key: str) -> str:
    return f"time grows like $n^{{{_power(curve['n'], curve[key]):.1f}}}$"


def _in_ms(seconds: Sequence[float]) -> list[float]:
    return [1000 * value for value in seconds]


def _power(n: Sequence[float], seconds: Sequence[float]) -> float:
    """Fit the exponent where it shows: small sizes are mostly the cost of a call."""
    pairs = list(zip(n, seconds, strict=True))[-3:]
    return exponent({int(size): [time] for size, time in pairs})


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.3g} ms"
