"""Mutate the right answers of an assignment: does every change lose points?

Operators, comparisons, constants, axes, signs, indices and names of functions are changed one at
a time in whatever the reference function and the parts of an exercise are computed with (texts,
so derivations and letters, are left alone).  A mutant answers as a student would who made that one
slip, and is graded in this process against the untouched reference: a part with the others right,
in several variants, a function with all of its checks.  A mutant that loses nothing is compared
with the reference in every variant of the pool; if all answers agree to nine digits, or are another
right example where students choose one, it is equivalent.  What is left has survived.
"""

import argparse
import ast
import copy
import inspect
import json
import platform
import textwrap
import types
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

from autograder.course.config import Course
from autograder.course.discover import load_assignment
from autograder.course.proofs.part_proofs import right_answers
from autograder.course.sources import plain
from autograder.exercise import Numbers, apply, draw_pool, solve
from autograder.grading.checks import grade_checks
from autograder.grading.parts import grade_parts
from autograder.grading.results import Status
from autograder.sandbox import StudentError

ROOT = Path(__file__).resolve().parents[1]
VARIANTS = 6  # of the pool, in which a mutant may lose its points

OPERATORS = {
    ast.Add: [ast.Sub],
    ast.Sub: [ast.Add],
    ast.Mult: [ast.Div, ast.Add],
    ast.Div: [ast.Mult],
    ast.MatMult: [ast.Mult],
    ast.Pow: [ast.Mult],
    ast.Mod: [ast.Mult],
    ast.FloorDiv: [ast.Mult],
    ast.Lt: [ast.GtE, ast.LtE],
    ast.LtE: [ast.Gt, ast.Lt],
    ast.Gt: [ast.LtE, ast.GtE],
    ast.GtE: [ast.Lt, ast.Gt],
    ast.Eq: [ast.NotEq],
    ast.NotEq: [ast.Eq],
    ast.And: [ast.Or],
    ast.Or: [ast.And],
}
CALLED = {
    "max": ["min"],
    "min": ["max"],
    "sum": ["mean", "max"],
    "mean": ["sum"],
    "argmax": ["argmin"],
    "exp": ["expm1", "exp2"],
    "sqrt": ["square", "cbrt"],
    "sin": ["cos"],
    "cos": ["sin"],
    "diag": ["tril"],
    "triu": ["tril"],
    "tril": ["triu"],
    "zeros": ["ones"],
    "ones": ["zeros"],
    "randn": ["rand"],
}


def mutations(node):
    """Yield ``(what, new node)`` for one node of a syntax tree."""
    if isinstance(node, ast.BinOp | ast.BoolOp):
        for other in OPERATORS.get(type(node.op), []):
            yield "operator", _with(node, op=other())
        if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Add | ast.Mult):
            yield "order", _with(node, left=node.right, right=node.left)
    elif isinstance(node, ast.Compare):
        for other in OPERATORS.get(type(node.ops[0]), []):
            yield "comparison", _with(node, ops=[other(), *node.ops[1:]])
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield "sign", node.operand
    elif isinstance(node, ast.Constant):
        yield from (("constant", ast.Constant(value)) for value in _other(node.value))
    elif isinstance(node, ast.Attribute):
        if node.attr == "T":
            yield "transpose", node.value
        for other in CALLED.get(node.attr, []):
            yield "function", _with(node, attr=other)
    elif isinstance(node, ast.keyword) and node.arg in ("axis", "keepdims", "k"):
        yield "axis", None
    elif isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
        yield "index", node.value


def _with(node, **changes):
    new = copy.copy(node)
    for name, value in changes.items():
        setattr(new, name, value)
    return new


def _other(value):
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return sorted({value + 1, -value, value * 2, 0} - {value})
    return []


def mutants(source, roots):
    """Yield ``(name, line, what, before, after, tree)`` for each change of what ``roots`` need."""
    tree = ast.parse(source)
    for name, statement in reached(tree, roots).items():
        body = statement.body if isinstance(statement, ast.FunctionDef) else [statement]
        for parent in [node for part in body for node in ast.walk(part)]:
            for field, place, child in children(parent):
                for what, new in mutations(child):
                    _put(parent, field, place, new)
                    mutant = ast.fix_missing_locations(copy.deepcopy(tree))
                    _put(parent, field, place, child, restore=new is None)
                    line = getattr(child, "lineno", getattr(parent, "lineno", 0))
                    yield name, line, what, ast.unparse(child), new and ast.unparse(new), mutant


def reached(tree, roots):
    """Return the functions and assignments of a module that ``roots`` need, by name."""
    defined = {}
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef):
            defined[statement.name] = statement
        elif isinstance(statement, ast.Assign):
            for node in ast.walk(statement):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    defined[node.id] = statement
    defined.pop("exercise", None)
    found, waiting = {}, list(roots)
    while waiting:
        name = waiting.pop()
        if name in defined and defined[name] not in found.values():
            statement = found[name] = defined[name]
            body = statement.body if isinstance(statement, ast.FunctionDef) else [statement]
            nodes = [node for part in body for node in ast.walk(part)]
            waiting += [node.id for node in nodes if isinstance(node, ast.Name)]
    return found


def children(parent):
    """Yield the field, the place in it (None where it is no list) and the node of each child."""
    for field, value in list(ast.iter_fields(parent)):
        places = list(enumerate(value)) if isinstance(value, list) else [(None, value)]
        yield from ((field, p, child) for p, child in places if isinstance(child, ast.AST))


def _put(parent, name, place, new, *, restore=False):
    """Replace a field's value; None takes an entry out of a list, ``restore`` puts it back."""
    if place is None:
        setattr(parent, name, new)
    elif restore:
        getattr(parent, name).insert(place, new)
    elif new is None:
        del getattr(parent, name)[place]
    else:
        getattr(parent, name)[place] = new


def load(tree, path):
    """Return the exercise of a mutated module."""
    module = types.ModuleType("mutant")
    exec(compile(tree, str(path), "exec"), module.__dict__)
    return module.exercise


def loses(exercise, mutated, pool):
    """Tell whether a slip of the mutated module costs points in one of the variants."""
    for function, other in zip(exercise.functions, mutated.functions, strict=True):
        items = grade_checks(function, student(other))
        if any(item.status is not Status.PASSED for item in items):
            return True
    for variant in pool:
        right = right_answers(exercise, variant)
        for part, other in zip(exercise.parts, mutated.parts, strict=True):
            if part.manual:
                continue
            try:
                answers = {**right, part.name: plain(apply(other, solve(exercise, variant)))}
            except Exception:  # it doesn't even run: no answer
                return True
            items = grade_parts(exercise, variant, answers.get)
            if any(item.name == part.name and item.score != part.points for item in items):
                return True
    return False


def student(mutated):
    """Call the mutated function as if it were a student's."""

    def call(*args, **kwargs):
        try:
            with np.errstate(all="ignore"):
                return mutated.solution(*args, **kwargs)
        except Exception as error:
            raise StudentError("exception", str(error), type=type(error).__name__) from error

    return call


def equivalent(exercise, mutated, pool):
    """Tell whether all answers to the parts are the same in every variant.

    What the checks of a function let pass has not been shown to be the same: it has survived.
    """
    if exercise.functions:
        return False
    for variant in pool:
        known = solve(exercise, variant)
        for part, other in zip(exercise.parts, mutated.parts, strict=True):
            if part.manual:
                continue
            its = part.answer.read(apply(other, known))
            if isinstance(part.answer, Numbers):
                same = np.shape(its) == np.shape(known[part.name])
                same = same and np.allclose(its, known[part.name], 1e-9, 1e-12)
            else:
                same = part.answer.same(its, known[part.name])
            if not same:
                return False
    return True


def examine(course, assignment, id):
    """Return counts and survivors of one exercise."""
    exercise = assignment.sound[id]
    path = course.root / "reference" / assignment.id / f"{id}.py"
    pool = draw_pool(exercise, course.id)
    counts, survivors = Counter(), []
    roots = [item.compute.__name__ for item in exercise.parts]
    roots += [function.solution.__name__ for function in exercise.functions]
    for function, line, what, before, after, tree in mutants(path.read_text(), roots):
        counts["mutants"] += 1
        try:
            mutated = load(tree, path)
            if loses(exercise, mutated, pool[:VARIANTS]):
                counts["lost points"] += 1
                continue
        except Exception:  # the module or a shared helper breaks: no answer can be right
            counts["lost points"] += 1
            continue
        kind = "equivalent" if equivalent(exercise, mutated, pool) else "survived"
        counts[kind] += 1
        survivors.append(
            {
                "exercise": id,
                "function": function,
                "line": line,
                "change": what,
                "before": before,
                "after": after,
                "kind": kind,
            }
        )
    return counts, survivors


def main():
    parser = argparse.ArgumentParser(description=inspect.cleandoc(__doc__).partition("\n")[0])
    parser.add_argument("assignment", help="its id, or the beginning of it")
    parser.add_argument("--out", type=Path, help="write what was found to this JSON file")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    course = Course.load(ROOT)
    id = next(id for id in course.ids() if id.startswith(arguments.assignment))
    assignment = load_assignment(course, id)
    total, found, rows = Counter(), [], {}
    print(f"{'exercise':24}{'mutants':>8}{'lose':>8}{'equivalent':>12}{'survive':>9}")
    for name in assignment.sound:
        counts, survivors = examine(course, assignment, name)
        total += counts
        found += survivors
        rows[name] = dict(counts)
        print(
            f"{name:24}{counts['mutants']:8}{counts['lost points']:8}"
            f"{counts['equivalent']:12}{counts['survived']:9}",
            flush=True,
        )
    real = total["mutants"] - total["equivalent"]
    share = total["lost points"] / real if real else 1.0
    print(f"{share:.1%} of {real} mutants that are not equivalent lose points")
    for row in found:
        change = f"{row['before']} → {row['after'] or 'left out'}"
        print(textwrap.shorten(f"  {row['kind']:10} {row['exercise']}:{row['line']} {change}", 120))
    if arguments.out:
        report = {
            "assignment": id,
            "python": platform.python_version(),
            "variants": VARIANTS,
            "share": share,
            "total": dict(total),
            "exercises": rows,
            "not caught": found,
        }
        arguments.out.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
