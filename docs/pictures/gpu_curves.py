"""Draw gpu.png, the curves of docs/gpu.md, from what bench/gpu.py measured.

.venv/bin/python docs/pictures/gpu_curves.py
"""

from __future__ import annotations

import json
from pathlib import Path

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt

HERE = Path(__file__).resolve().parent
FOUND = HERE.parents[1] / "bench" / "results" / "gpu.json"
NAMES = ("standard", "fused", "linear", "causal")
MIB = 2**20


def main() -> None:
    """Draw milliseconds of both precisions, and the memory of the first."""
    found = json.loads(FOUND.read_text())
    figure, panels = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
    for panel, (dtype, of) in zip(panels, found["dtypes"].items(), strict=False):
        draw(panel, of["rows"], "ms", 1)
        panel.set(title=f"{dtype}: milliseconds of a call", ylabel="ms")
    draw(panels[2], found["dtypes"]["float32"]["rows"], "peak", MIB)
    panels[2].set(title="float32: MiB besides inputs and result", ylabel="MiB")
    panels[0].legend()
    figure.suptitle(f"{found['card']}, 8 heads of width 64")
    figure.savefig(HERE / "gpu.png", dpi=90)


def draw(panel: plt.Axes, rows: list[dict[str, float | str]], what: str, unit: int) -> None:
    """Draw what each method took over n, where it took any."""
    for colour, name in enumerate(NAMES):
        points = [(row["n"], row[what] / unit) for row in rows if row["name"] == name and row[what]]
        if points:
            panel.loglog(
                *zip(*points, strict=True), marker="o", markersize=3, color=f"C{colour}", label=name
            )
    panel.set_xlabel("n")
    panel.grid(visible=True, alpha=0.3)


if __name__ == "__main__":
    main()
