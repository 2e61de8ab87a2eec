"""Draw the pictures of the front page: the notebooks and what builds on what, and two of a lesson.

    .venv/bin/python docs/pictures/front.py

Hours are those of the core, and a thick arrow is code of one's own that goes on; both are
read from the course.  The pictures of the lesson are drawn by the notebooks' cells, or from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autograder.course.config import Course
from autograder.course.discover import Assignment, load_assignment
from autograder.course.release.overview import tasks
from autograder.grading.results import Role

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

#: By number of the notebook: its column and row in the graph, and what it is about in two words.
PLACES = {
    1: (1.5, 0, "softmax"),
    2: (1.5, 1, "by hand"),
    3: (1.5, 2, "scale, masks"),
    4: (1, 3, "many heads"),
    5: (0, 3, "positions"),
    6: (1, 4, "the block"),
    7: (1, 5, "transformer"),
    8: (3, 3, "cost, cache"),
    9: (3, 4, "cheaper"),
    10: (3, 5, "adapt, scale"),
    11: (2, 5, "theory"),
    12: (1, 6, "capstone"),
    13: (0, 6, "of today"),
    14: (2, 6, "text to text"),
}
#: What is needed from an earlier notebook, as ideas; code that goes on is found in the course.
IDEAS = {(1, 2), (2, 3), (3, 4), (3, 5), (3, 8), (7, 12), (7, 14), (6, 11), (8, 9), (8, 10)}
WIDTH, HEIGHT, BOX = 480, 532, (106, 46)


def hours(assignment: Assignment, role: Role = "core") -> float:
    """Return how long the exercises of a notebook take that have a role."""
    return sum(task.minutes or 0 for task in tasks(assignment) if task.role == role) / 60


def carried_on(assignments: Sequence[Assignment]) -> set[tuple[int, int]]:
    """Return the pairs of notebooks of which the later one's core goes on with a student's code."""
    home = {exercise: number(each) for each in assignments for exercise in each.sound}
    return {
        (home[one.exercise], number(each))
        for each in assignments
        for task in tasks(each)
        if task.role == "core" and task.id in each.sound
        for one in each.sound[task.id].carried
        if home[one.exercise] != number(each)
    }


def number(assignment: Assignment) -> int:
    """Return the number of an assignment."""
    return int(assignment.id[1:3])


def graph(assignments: Sequence[Assignment]) -> str:
    """Return the graph as SVG."""
    code = carried_on(assignments)
    lines = [arrow(pair, thick=pair in code) for pair in sorted(IDEAS | direct(code))]
    boxes = [box(number(each), hours(each)) for each in assignments]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" font-family="sans-serif" font-size="14" text-anchor="middle">\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="#fff"/>\n'
        '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" '
        'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L8 4L0 8z" fill="#345"/></marker>'
    )
    return "\n".join([head, *lines, *boxes, "</svg>\n"])


def direct(pairs: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """Leave out the pairs that two others say already."""
    known = pairs | IDEAS
    middle = PLACES
    return {
        (one, two)
        for one, two in pairs
        if not any((one, by) in known and (by, two) in known for by in middle)
    }


def centre(notebook: int) -> tuple[float, float]:
    """Return where the middle of a box is."""
    column, row, _ = PLACES[notebook]
    return 60 + 120 * column, 34 + 77 * row


def box(notebook: int, time: float) -> str:
    """Return the box of a notebook that takes so many hours."""
    (x, y), (width, height) = centre(notebook), BOX
    return (
        f'<rect x="{x - width / 2}" y="{y - height / 2}" width="{width}" height="{height}" rx="6" '
        'fill="#eef3fb" stroke="#345"/>\n'
        f'<text x="{x}" y="{y - 4}"><tspan font-weight="bold">{notebook}</tspan> · {time:.1f} h'
        f'</text>\n<text x="{x}" y="{y + 14}">{PLACES[notebook][2]}</text>'
    )


def arrow(pair: tuple[int, int], *, thick: bool) -> str:
    """Return the arrow from one notebook to another, thick where code goes on."""
    (x, y), (to_x, to_y) = map(centre, pair)
    y, to_y = y + BOX[1] / 2, to_y - BOX[1] / 2 - 2
    bend = (x + to_x) / 2, (y + to_y) / 2
    if to_y - y > 77 and x != to_x:  # past a box that stands in between
        to_x, bend = to_x - 30, (x + 14, to_y - 24)
    style = 'stroke-width="3"' if thick else 'stroke-width="1.2"'
    return (
        f'<path d="M{x} {y}Q{bend[0]} {bend[1]} {to_x} {to_y}" fill="none" stroke="#345" {style} '
        'marker-end="url(#tip)"/>'
    )


def in_echo(assignment: str, plt: Any = None) -> dict[str, Any]:
    """Run the cell of a notebook that draws the small trained model, and return its numbers."""
    loaded = load_assignment(Course.load(ROOT), assignment)
    [cell] = [cell for cell in loaded.cells if "in_echo = " in cell.source]
    names: dict[str, Any] = {"plt": plt}
    exec(cell.source, names)  # ours
    numbers: dict[str, Any] = names["in_echo"]
    return numbers


def lesson(plt: Any) -> Any:
    """Draw what the second notebook shows."""
    in_echo("a02_attention_by_hand", plt)
    return plt.gcf()


def induction(plt: Any) -> Any:
    """Draw the weights of the head that continues what was said before, from the third notebook."""
    weights, letters = in_echo("a03_scaled_attention")["masked"], list("^BADGEBADGE")
    figure, axis = plt.subplots(figsize=(4.6, 4.4), layout="constrained")
    axis.imshow(weights, cmap="Blues", vmin=0, vmax=100)
    for i, row in enumerate(weights):
        for j, percent in enumerate(row):
            if percent:
                dark = "white" if percent > 60 else "black"
                axis.text(j, i, percent, ha="center", va="center", fontsize=9, color=dark)
    ticks = {"xticks": range(11), "xticklabels": letters, "yticks": range(11)}
    axis.set(**ticks, yticklabels=letters, xlabel="key", ylabel="query")
    return figure


def main() -> None:
    """Draw all three."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.show = lambda: None
    course = Course.load(ROOT)
    assignments = [load_assignment(course, id) for id in course.titles]
    (HERE / "notebooks.svg").write_text(graph(assignments))
    for name, draw in (("lesson", lesson), ("induction", induction)):
        draw(plt).savefig(HERE / f"{name}.png", dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    main()
