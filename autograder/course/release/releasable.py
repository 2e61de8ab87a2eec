"""What keeps an assignment from being released, and what to do about it."""

from __future__ import annotations

import ast
import contextlib
import inspect
import re
import textwrap
from collections.abc import Sequence
from typing import Any

from autograder.course.config import CONFIG
from autograder.course.discover import Assignment, SourceCell, read_cells, text_of
from autograder.course.release.carried_exercises import carry_problems
from autograder.course.release.datafiles import data_problems
from autograder.exercise import Exercise, Part
from autograder.exercise.nearest import meant
from autograder.exercise.words.cell_names import Names, Unparsable, names
from autograder.grading.demonstrations import unneeded


def problems(assignment: Assignment) -> list[str]:
    """Return what is wrong with an assignment's text and stubs, in sentences."""
    path = f"assignments/{assignment.id}/{assignment.id}.py"
    found = [f"{broken.id}: {broken.message}" for broken in assignment.broken]
    folder = assignment.course.root / "reference" / assignment.id
    left_out = assignment.course.without.get(assignment.id, [])
    for module in sorted(folder.glob("[!_]*.py")):
        if module.stem not in {*assignment.exercises, *left_out}:
            mark = f'# %% exercise="{module.stem}"'
            found.append(f"{module}: no cell is its stub; begin one in {path} with `{mark}`")
    found += [f"{path}: {text}" for text in _misplaced(assignment)]
    found += [f"{path}: {text}" for text in _not_only_shown(assignment)]
    found += [f"{path}: {text}" for text in carry_problems(assignment)]
    for said in data_problems(assignment.course, assignment.id).values():
        found += said
    for exercise in assignment.sound.values():
        found += [f"{path}: {text}" for text in _incomplete(assignment, exercise)]
    found += [f"{CONFIG}: {text}" for text in [*_no_choice(assignment), *_missed(assignment)]]
    return found


def _no_choice(assignment: Assignment) -> list[str]:
    """Parts of which the best are to count, and can't, and roles that can't be had."""
    counting = assignment.course.counting[assignment.id]
    found = [
        f'"{role}" of {assignment.id} names `{id}`, which is no exercise there'
        f"{meant(id, assignment.exercises)}"
        for role in ("stars", "core")
        for id in getattr(counting, role)
        if id not in assignment.exercises
    ]
    found += [
        f'"core" and "stars" of {assignment.id} both name `{id}`; it is one of them'
        for id in counting.core
        if id in counting.stars
    ]
    if counting.choice is not None and not counting.core:
        found.append(
            f'"choice" of {assignment.id} says how many points of choice count, and every exercise '
            'is core there: say with "core" which ones are, the others are choice'
        )
    for name, best in counting.best.items():
        items = [i for e in assignment.sound.values() for i in e.items if i.name == name]
        said = f'"best" of {assignment.id} says that {best} of the parts `{name}` count'
        if len(items) < best:
            found.append(f"{said}, and there are {len(items)}; write more, or let fewer count")
        elif not all(isinstance(item, Part) and item.manual for item in items):
            found.append(f"{said}, and not all are marked by hand; give the others another name")
        elif len({item.points for item in items}) > 1:
            found.append(f"{said}, and they differ in their points; give all of them the same")
    return found


def _missed(assignment: Assignment) -> list[str]:
    """Name what is built on exercises that the course leaves out."""
    course = assignment.course
    found = [
        f'"without" of {carried.assignment} names `{carried.exercise}`, whose `{carried.name}` '
        f"{exercise.id} of {assignment.id} builds on; leave that out, too"
        + ("" if carried.assignment == assignment.id else ", or give the assignment away (given)")
        for exercise in assignment.sound.values()
        for carried in exercise.carried
        if carried.exercise in course.without.get(carried.assignment, ())
        and (carried.assignment == assignment.id or carried.assignment not in course.given)
    ]
    if not (left_out := course.without.get(assignment.id, [])):
        return found
    kept = _used_and_made(assignment.cells)
    whole = _used_and_made(read_cells(text_of(course, assignment.id)))
    for name in sorted((whole.made - kept.made) & kept.used):
        found.append(
            f'"without" of {assignment.id} leaves out {", ".join(left_out)}, and with one of them '
            f"the only cell that makes `{name}`, which a later cell uses; keep that exercise"
        )
    return found


def _used_and_made(cells: Sequence[SourceCell]) -> Names:
    used: set[str] = set()
    made: set[str] = set()
    for cell in cells:
        if cell.kind == "code":
            with contextlib.suppress(Unparsable):
                own = names(cell.source)
                used |= own.used
                made |= own.made
    return Names(frozenset(used), frozenset(made))


def _misplaced(assignment: Assignment) -> list[str]:
    """Cells that name an exercise or a part that doesn't exist."""
    found = []
    for cell in assignment.cells:
        if cell.part and not cell.exercise:
            found.append(f'the cell with part="{cell.part}" names no exercise; add exercise="…"')
        elif cell.exercise and cell.exercise not in assignment.exercises:
            found.append(
                f'a cell has exercise="{cell.exercise}", which has no stub; add a code cell '
                f'with exercise="{cell.exercise}" alone'
            )
        elif cell.part and cell.exercise in assignment.sound:
            manual = {p.name for p in assignment.sound[cell.exercise].parts if p.manual}
            if cell.part not in manual:
                known = ", ".join(sorted(manual)) or "none"
                found.append(
                    f'the cell with part="{cell.part}" is marked by hand, but {cell.exercise} has '
                    f"no such Essay part (it has {known}); correct the name"
                )
    shown = {name for cell in assignment.cells for name in _shown_numbers(cell)}
    drawn = {id for id, exercise in assignment.sound.items() if exercise.pool > 1}
    for id in sorted(shown - drawn - {broken.id for broken in assignment.broken}):
        found.append(
            f'your_numbers("{id}") shows nothing: no such exercise has a variant, or statements to '
            "choose from"
        )
    for id in sorted(drawn - shown):
        found.append(
            f"nobody sees the numbers of {id}, or its statements to choose from; add a code cell "
            f'`your_numbers("{id}")`'
        )
    return found


def _not_only_shown(assignment: Assignment) -> list[str]:
    """Demonstrations that grading could not leave out."""
    code = [cell for cell in assignment.cells if cell.kind == "code"]
    sources = [cell.source for cell in code]
    shows = [cell for cell in assignment.cells if cell.demonstration]
    found = []
    for cell in shows:
        first = cell.source.partition("\n")[0]
        if cell.exercise or cell.kind != "code":
            found.append(f"the demonstration `{first}` must be a code cell without exercise=…")
            continue
        try:
            made = ", ".join(sorted(names(cell.source).made))
        except Unparsable as error:
            found.append(f"the demonstration `{first}` isn't plain Python ({error})")
            continue
        if code.index(cell) not in unneeded(sources, [show.source for show in shows]):
            found.append(
                f"the demonstration `{first}` makes names that other cells use; make these in a "
                f"cell of their own (it makes {made})"
            )
    return found


def _shown_numbers(cell: SourceCell) -> list[str]:
    return re.findall(r"your_numbers\(\s*[\"'](\w+)[\"']", cell.source)


def _incomplete(assignment: Assignment, exercise: Exercise) -> list[str]:
    """Answers that an exercise asks for and its cells have no place for."""
    own = [cell for cell in assignment.cells if cell.exercise == exercise.id]
    found = []
    for part in exercise.parts:
        cells = [cell for cell in own if cell.part == part.name]
        if part.manual and len(cells) != 1:
            found.append(
                f"{exercise.id}: {len(cells) or 'no'} cells for its Essay part `{part.name}`; "
                f'write one `# %% [markdown] exercise="{exercise.id}" part="{part.name}"`'
            )
    stub = next(cell for cell in own if not cell.part)
    if not exercise.auto_points:
        return found
    if stub.kind != "code":
        return [*found, f"{exercise.id}: its stub is a markdown cell; make it a code cell"]
    try:
        tree = ast.parse(stub.source)
    except SyntaxError as error:
        return [*found, f"{exercise.id}: its stub isn't Python ({error.msg}, line {error.lineno})"]
    stored = (node for node in ast.walk(tree) if isinstance(getattr(node, "ctx", None), ast.Store))
    names = {node.id for node in stored if isinstance(node, ast.Name)}
    for part in exercise.parts:
        if not part.manual and part.name not in names:
            found.append(f"{exercise.id}: its stub lacks the line `{part.name} = None`")
    for function in exercise.functions:
        found += [f"{exercise.id}: {text}" for text in _other_signature(function.solution, tree)]
    return found


def _other_signature(solution: Any, stub: ast.Module) -> list[str]:
    """Compare names, kinds and defaults of arguments; annotations are the author's choice."""
    name = solution.__name__
    source = ast.parse(textwrap.dedent(inspect.getsource(solution)))
    wanted, given = _signatures(source, name), _signatures(stub, name)
    if name not in given:
        return [f"its stub doesn't define `{name}`; write `def {wanted[name]}`"]
    found = []
    for called, right in wanted.items():
        if called not in given:
            found.append(f"its stub of `{name}` has no method `{called}`; write `def {right}`")
        elif given[called] != right:
            found.append(f"its stub is `def {given[called]}`; the reference is `def {right}`")
    return found


def _signatures(tree: ast.Module, name: str) -> dict[str, str]:
    """Return ``name(arguments)`` without annotations; of a class that of each public method."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return {name: _signature(node)}
        if isinstance(node, ast.ClassDef) and node.name == name:
            found = {name: f"{name}()"}
            for method in node.body:
                if not isinstance(method, ast.FunctionDef) or method.decorator_list:
                    continue  # a property is an attribute
                if method.name == "__init__":
                    found[name] = _signature(method).replace("__init__", name, 1)
                elif method.name == "__call__" or not method.name.startswith("_"):
                    found[method.name] = _signature(method)
            return found
    return {}


def _signature(function: ast.FunctionDef) -> str:
    for argument in ast.walk(function.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    return f"{function.name}({ast.unparse(function.args)})"
