"""What an earlier function leaves to a library costs nothing behind it, and excuses nobody else."""

import pytest

from autograder.exercise import Exercise
from autograder.exercise.words.carried_source import source_of_carried
from autograder.exercise.words.source import standalone
from autograder.grading.one_exercise import Assigned
from autograder.grading.submission import SubmissionRun, grade_submission
from autograder.grading.watched import LIBRARY
from autograder.sandbox import Limits, Zygote
from autograder.student.notebook import CHECK

from ..loaded import assigned

pytestmark = pytest.mark.sandbox

IMPORTS = (
    "import numpy as np, torch\nfrom torch import nn\nfrom torch.nn import functional as F\n"
    "def attend(): F.scaled_dot_product_attention(*torch.ones(3, 1, 2, 2))\n"
)
CALLING = (
    "\nclass {0}({0}):\n    def {1}(self, *args, **more):\n        attend()\n"
    "        return super().{1}(*args, **more)\n"
)
NORM = (
    "\ndef layer_norm(x, gamma, beta, eps=1e-5):\n"
    "    x, shape = torch.from_numpy(x), x.shape[-1:]\n"
    "    return F.layer_norm(x, shape, eps=eps).numpy() * gamma + beta\n"
)
#: An exercise, what of its earlier code calls a library, and what does so in an answer.
CASES = [
    ("a06_block", "encoder_block", ("MultiHead", "__call__"), ("EncoderBlock", "__call__")),
    ("a06_block", "torch_block", ("MHA", "forward"), ("Block", "forward")),
    (
        "a07_full_transformer",
        "encoder_stack",
        ("EncoderBlock", "__call__"),
        ("Encoder", "__call__"),
    ),
    (
        "a07_full_transformer",
        "decoder_layer",
        ("MultiHead", "__call__"),
        ("DecoderLayer", "__call__"),
    ),
]


@pytest.fixture(scope="module")
def graded():
    """A function that grades texts, of an exercise or of none, and returns items by exercise."""
    limits = Limits(cell_seconds=20.0, call_seconds=20.0)
    with Zygote(("numpy", "torch"), limits=limits) as zygote:

        def graded(assignment, *texts):
            cells = [cell(IMPORTS)]
            for id, source in texts:
                cells += [cell(source, id), *([cell("", CHECK + id)] if id else [])]
            notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
            asked = [Assigned(id, checks_of(assignment, id), 9) for id, _ in texts if id]
            run = SubmissionRun(assignment, "ada", notebook, asked, zygote)
            return {each.id: each.items for each in grade_submission(run)[0].exercises}

        yield graded


def cell(source, id=""):
    metadata = {"nbgrader": {"grade_id": id}} if id else {}
    empty = {"outputs": [], "execution_count": None}
    return {"cell_type": "code", "id": "c", "metadata": metadata, "source": source, **empty}


def checks_of(assignment, id):
    """Return an exercise's functions without its other parts."""
    whole = assigned(assignment).sound[id]
    own = Exercise(id, title=whole.title, source=whole.source)
    own.functions, own.carried, own.items = whole.functions, whole.carried, tuple(whole.checks)
    return own


def right(assignment, id):
    """Return what an exercise carries, and a right answer."""
    exercise = assigned(assignment).sound[id]
    own = "\n".join(standalone(each.solution, each.name) for each in exercise.functions)
    return source_of_carried(exercise.carried), own


def everything(items):
    return items and all(item.score == item.max_score for item in items)


@pytest.mark.parametrize(("assignment", "id", "earlier", "later"), CASES)
def test_a_carried_function_that_uses_a_library_costs_nothing_and_excuses_nobody(
    graded, assignment, id, earlier, later
):
    carried, own = right(assignment, id)
    before = ("", carried), ("", CALLING.format(*earlier))
    honest = graded(assignment, *before, (id, own))[id]
    assert everything(honest), honest
    assert any("a right version took its place" in item.feedback for item in honest)
    wrapped = graded(assignment, *before, (id, own + CALLING.format(*later)))[id]
    assert LIBRARY in {item.note for item in wrapped}
    assert not any(item.score for item in wrapped if item.note == LIBRARY)
    alone = graded(assignment, ("", carried), (id, own + CALLING.format(*later)))[id]
    assert [item.score for item in wrapped] == [item.score for item in alone]


def test_an_earlier_class_can_not_hold_the_answer_in_store(graded):
    carried, own = right("a06_block", "encoder_block")
    store = own + CALLING.format("EncoderBlock", "__call__") + "MultiHead.store = EncoderBlock\n"
    answer = "def EncoderBlock(*args):\n    return MultiHead.store(*args)\n"
    cells = ("", carried), ("", store), ("encoder_block", answer)
    items = graded("a06_block", *cells)["encoder_block"]
    called = [item for item in items if item.name != "draws_its_weights"]
    assert not any(item.score for item in called), items


def test_what_is_marked_in_the_same_notebook_is_paid_for_there_alone(graded):
    heads, own = right("a06_block", "encoder_block")
    norm = right("a06_block", "ln_code")[1] + NORM
    answer = own.replace("def layer_norm", "def another_norm")  # the course's own comes with it
    items = graded("a06_block", ("", heads), ("ln_code", norm), ("encoder_block", answer))
    assert LIBRARY in {item.note for item in items["ln_code"]}
    assert not any(item.score for item in items["ln_code"])
    assert everything(items["encoder_block"])
