"""How large the engine is, room by room, and how much of it one submission goes through.

python bench/structure.py
"""

import ast
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from autograder.algebra import equivalent
from autograder.course.classes.simulate import simulate
from autograder.course.config import Course
from autograder.course.secret import FILE as SECRET
from autograder.course.submissions.grade import Grader
from autograder.course.submissions.handed_in import submissions
from autograder.delivery.department.demo import copy_course

ROOT = Path(__file__).resolve().parents[1]
ENGINE = ROOT / "autograder"
TREES = {path: ast.parse(path.read_text("utf-8")) for path in sorted(ENGINE.rglob("*.py"))}


def room_of(path: Path) -> str:
    """Return the layer that a module is in."""
    return path.relative_to(ENGINE).parts[0].removesuffix(".py")


def functions() -> Iterator[tuple[Path, ast.FunctionDef]]:
    """Yield every function and where it is."""
    for path, tree in TREES.items():
        yield from ((path, node) for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def arrows(room: str) -> int:
    """Count the imports of a room's modules from one another."""
    prefix, found = f"autograder.{room}", set()
    for path, tree in TREES.items():
        for node in ast.walk(tree) if room_of(path) == room else ():
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(prefix):
                found |= {(path, node.module)}
    return len(found)


def bare() -> float:
    """Return the share of parameters that are annotated as no more than ``Any``."""
    each = [
        argument.annotation
        for _, function in functions()
        for argument in [
            *function.args.posonlyargs,
            *function.args.args,
            *function.args.kwonlyargs,
            *filter(None, (function.args.vararg, function.args.kwarg)),
        ]
        if argument.arg not in ("self", "cls")
    ]
    return sum(one is not None and ast.unparse(one) == "Any" for one in each) / len(each)


def hops_up() -> int:
    """Count the methods that a class calls and leaves to those that inherit from it."""
    return sum(
        isinstance(node.body[-1], ast.Raise) and "NotImplementedError" in ast.unparse(node.body[-1])
        for _, node in functions()
        if node.args.args and node.args.args[0].arg == "self"
    )


def entered(run: Callable[[], object]) -> int:
    """Count the engine's modules of which something is called."""
    seen: set[str] = set()

    def note(frame, event, _):
        if event == "call" and frame.f_code.co_name != "<module>":
            seen.add(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return sum(name.startswith(f"{ENGINE}{os.sep}") for name in seen)


def of_submissions(assignment: str) -> list[int]:
    """Return how many modules each of three submissions goes through."""
    with tempfile.TemporaryDirectory() as folder:
        course = Course.load(copy_course(ROOT, Path(folder) / "course").root)
        (course.root / SECRET).write_text("structure")
        simulate(course, assignment, 3)
        with Grader(course) as grader:
            return [
                entered(lambda one=handed: grader.grade(one))
                for handed in submissions(course, assignment)
            ]


def main() -> None:
    lines, modules = Counter(), Counter()
    for path in TREES:
        lines[room_of(path)] += len(path.read_text("utf-8").splitlines())
        modules[room_of(path)] += 1
    for room in sorted(lines, key=lines.get, reverse=True):
        print(f"{room:10} {lines[room]:6} lines {modules[room]:4} modules {arrows(room):4} arrows")
    print(f"{'all':10} {lines.total():6} lines {modules.total():4} modules")
    longest = max(1 + node.end_lineno - node.lineno for _, node in functions())
    print(f"longest function: {longest} lines; parameters that are bare Any: {bare():.1%}")
    print(f"methods that a class leaves to its heirs: {hops_up()}")
    texts = [path.read_text("utf-8") for path in (ROOT / "reference").rglob("*.py")]
    print(f"reference/: {sum(len(text.splitlines()) for text in texts)} lines")
    print(f"a formula goes through {entered(lambda: equivalent('p*(1-p)', 'p - p^2'))} modules")
    print(f"submissions to a01 through {of_submissions('a01_softmax')}")


if __name__ == "__main__":
    main()
