"""Check your answers while you work on them.

    student("ada")               whose numbers these are
    your_numbers("exercise")     the numbers that are yours
    check("exercise")            what is filled in, and what the visible checks say

There are no solutions in this file or in those beside it, and grading uses none of them.  It
needs numpy and nothing else.
"""

from __future__ import annotations

import os
import sys

from autograder.student.answers import report_answers
from autograder.student.data import decode, find, variant_of
from autograder.student.functions import report_function
from autograder.student.symbols import Numbers

_student = ""


def student(id: str = "") -> None:
    """Say whose notebook this is; on JupyterHub it knows without being told."""
    global _student
    _student = str(id).strip() or os.environ.get("JUPYTERHUB_USER", "").strip()
    if _student:
        print(f"Hello {_student}: these are your own numbers.")
    else:
        print('Type your id between the quotes, as in student("ada"), and run this cell again.')


def your_numbers(exercise: str) -> Numbers:
    """Return your numbers of an exercise by name; the last line of a cell shows them.

    They can be used: ``your_numbers("attn_hand_scaled")["q"]`` is an array.
    """
    found, message = find(exercise)
    if found is None:
        return Numbers({}, message)
    if not found["pool"][0]:
        return Numbers({}, f"{exercise}: everybody has the same numbers; they are in the text.")
    mine = variant_of(exercise, found, _student)
    if mine is None:
        return Numbers({}, 'Whose? Type your id into student("…") at the top and run that cell.')
    return Numbers({name: decode(value) for name, value in found["pool"][mine].items()})


def check(exercise: str) -> None:
    """Say which answers are filled in, and what the visible checks find in your function.

    Whether an answer is right, and what the hidden checks find, you learn from your grade.
    """
    notebook = sys._getframe(1).f_globals  # the variables and functions of your notebook
    found, message = find(exercise)
    if found is None:
        print(message)
        return
    lines = [f"{exercise}: {found['title']}"]
    if found["parts"]:
        lines += report_answers(exercise, variant_of(exercise, found, _student), notebook)
    for function in found["functions"]:
        lines += report_function(function, notebook)
    if hidden := sum(function["hidden_checks"] for function in found["functions"]):
        checks = f"{hidden} hidden check{'s' * (hidden > 1)}"
        lines.append(f"  Grading also runs {checks}: passing here is not yet the mark.")
    print("\n".join(lines))
