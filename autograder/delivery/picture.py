"""A picture of measured times: submissions' beside the reference's, on log-log axes."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence

from autograder.exercise.clocks import exponent

Curve = Mapping[str, Sequence[float]]

_SIZE = (5.2, 3.2)
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
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "curve"}):
        figure = Figure(figsize=_SIZE, layout="constrained")
        axes = figure.subplots()
        alone = len(curves) == 1
        for number, curve in enumerate(curves):
            label = f"yours: {_grows(curve, 'seconds')}" if alone else "" if number else "students"
            style = {"linewidth": 1.5} if alone else {"linewidth": 0.7, "alpha": 0.5}
            axes.loglog(
                curve["n"], _in_ms(curve["seconds"]), "o-", color=_YOURS, label=label, **style
            )
        first = curves[0]
        label = f"reference: {_grows(first, 'reference')}"
        axes.loglog(first["n"], _in_ms(first["reference"]), "s--", color=_REFERENCE, label=label)
        longest = max((curve["n"] for curve in curves), key=len)
        axes.set_xticks(longest, [f"{int(n)}" for n in longest])
        axes.set_xticks([], minor=True)
        axes.set(xlabel="n", ylabel="processor time (ms)")
        axes.grid(alpha=0.3)
        axes.legend(frameon=False)
        drawn = io.BytesIO()
        figure.savefig(drawn, format="svg", metadata={"Date": None})
    return f"data:image/svg+xml;base64,{base64.b64encode(drawn.getvalue()).decode()}"


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
