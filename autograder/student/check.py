"""Check your answers while you work on them.

    student("ada")               whose numbers these are
    your_numbers("exercise")     the numbers that are yours
    check("exercise")            how answers are read, and what the visible checks say
    carry("exercise")            your own code of an earlier notebook, in place of this cell
    practice("exercise")         other numbers; with answers, at once what is right
    solution()                   how the answers to these other numbers come out
    hint("exercise")             something to help you on
    moving(draw, "name", […], 1)  a picture with a slider
    check("exercise", answer="part")    whether this answer is right, where your course offers it

There are no solutions of graded answers to be read in this file or in those beside it, and grading
uses none of them.  It needs numpy and nothing else.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from autograder.student.answers import report_answers
from autograder.student.carried_code import NotCarried, carried_code
from autograder.student.data import (
    ORDERS,
    decode,
    file_problems,
    find,
    statements,
    variant_of,
)
from autograder.student.looks import looked
from autograder.student.moving_pictures import Draw, show_moving
from autograder.student.practice import NoPractice, hint_lines, next_round, offers, this_round
from autograder.student.shown_page import show
from autograder.student.symbols import NumbersByName
from autograder.student.visible_checks import report_function

_student = ""


def student(id: str = "") -> None:
    """Say whose notebook this is; on JupyterHub it knows without being told."""
    global _student
    _student = str(id).strip() or os.environ.get("JUPYTERHUB_USER", "").strip()
    if _student:
        print(f"Hello {_student}: these are your own numbers.")
    else:
        print('Type your id between the quotes, as in student("ada"), and run this cell again.')


def your_numbers(exercise: str) -> NumbersByName:
    """Return your numbers of an exercise by name; the last line of a cell shows them.

    They can be used: ``your_numbers("an_exercise")["x"]`` is an array.
    """
    found, message = find(exercise)
    if found is None:
        return NumbersByName({}, message)
    if not found["pool"][0]:
        return NumbersByName(
            {}, f"{exercise}: everybody has the same numbers; they are in the text."
        )
    mine = variant_of(exercise, found, _student)
    if mine is None:
        return NumbersByName(
            {}, 'Whose? Type your id into student("…") at the top and run that cell.'
        )
    numbers = {name: decode(value) for name, value in found["pool"][mine].items()}
    return NumbersByName(numbers, lists=statements(found["parts"], numbers.pop(ORDERS, {})))


def check(exercise: str, *, answer: str | bool = False, code: str = "") -> None:
    """Say how answers are read, and what the visible checks find in your function.

    Whether an answer is right, and what the hidden checks find, you learn from your grade; where
    your course offers a look, ``answer="a_part"`` tells it of the answer to this part.
    """
    notebook = sys._getframe(1).f_globals  # the variables and functions of your notebook
    found, message = find(exercise)
    if found is None:
        print(message)
        _tell_nbgrader([f"  ✗ {message}"])
        return
    if answer:
        show(looked(exercise, found, _student, notebook, answer, code))
        return
    lines = [f"{exercise}: {found['title']}", *(f"  ✗ {said}" for said in file_problems())]
    if found["parts"]:
        lines += report_answers(exercise, variant_of(exercise, found, _student), notebook)
    for function in found["functions"]:
        lines += report_function(function, notebook)
        if "without" in function:
            barred = " and ".join(function["without"])
            lines.append(
                f"  Write `{function['name']}` without {barred}; with it, it earns nothing."
            )
    if hidden := sum(function["hidden_checks"] for function in found["functions"]):
        checks = f"{hidden} hidden check{'s' * (hidden > 1)}"
        lines.append(f"  Grading also runs {checks}: passing here is not yet the mark.")
    lines += offers(exercise)
    show(lines)
    _tell_nbgrader(lines)


class NotYet(Exception):
    """Something is blank, can't be read or fails."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def _tell_nbgrader(lines: list[str]) -> None:
    """Let nbgrader's Validate fail, which learns by exceptions alone; you go on without."""
    validating = os.environ.get("NBGRADER_EXECUTION") == "validate"
    missing = [line for line in lines if line.startswith(("  ✗", "  – blank"))]
    if validating and missing:
        raise NotYet("\n".join(dict.fromkeys([lines[0], *missing])))


def carry(exercise: str, notebook: str = "", *, given: bool = False) -> None:
    """Put your own code of an earlier exercise in place of this cell, with all that it needs.

    It is copied from the notebook that lies in the folder beside this one, or from ``notebook``,
    as it was saved last; so save that one first. ``given`` takes the version that your course
    gives, where it does.
    """
    try:
        code, said = carried_code(exercise, notebook, given=given)
    except NotCarried as problem:
        print(f"✗ not carried: {problem}.")
        return
    exec(compile(code, f"<{exercise}>", "exec"), sys._getframe(1).f_globals)
    print(f"✓ carried: {said}.")
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is None:
        print(f"Put this in place of the cell:\n\n{code}")
    else:
        shell.set_next_input(code, replace=True)
        print("The code stands in this cell now. Save this notebook: graded is what stands here.")


def practice(exercise: str, /, **answers: object) -> NumbersByName | None:
    """Give other numbers to practise with; with answers to these, say at once what is right.

    ``practice("an_exercise")`` shows numbers that nobody is graded with and what is asked for, and
    ``practice("an_exercise", sums=[1, 2, 3])`` looks at an answer.  Functions are tried on inputs
    that nobody is graded with.  Nothing of it is graded.
    """
    found, message = find(exercise)
    if found is None:
        print(message)
        return None
    try:
        if not answers:
            return next_round(exercise, sys._getframe(1).f_globals)
        show(this_round(exercise).says(answers))
    except NoPractice as why:
        print(why)
    return None


def solution(exercise: str = "") -> None:
    """Show how the answers to the numbers that you practise with come out."""
    try:
        show(this_round(exercise).solution())
    except NoPractice as why:
        print(why)


def hint(exercise: str, number: int = 1) -> None:
    """Show a hint: the first one, or the one of this number."""
    found, message = find(exercise)
    print(message if found is None else "\n".join(hint_lines(exercise, number)))


def moving(draw: Draw, name: str, choices: list[Any], first: object) -> None:
    """Show a picture that a slider moves, where the notebook has ipywidgets; else it stands still.

    ``draw`` is called with one of the choices, ``first`` at the beginning.  It returns a figure,
    made with ``plt.Figure``, and a sentence on what this shows, which stands below it.
    """
    show_moving(draw, name, choices, first)
