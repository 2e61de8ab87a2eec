"""Hostile classes, modules, functions and training runs, all in one submission.

Each attacks an exercise of its own; whatever becomes of that, honest exercises between and behind
them lose nothing. For each there is a control: in the process of the student's code it works.
"""

import numpy as np
import pytest

from autograder.exercise import Exercise, Mismatch, agree, given, require
from autograder.grading.one_exercise import Assigned
from autograder.grading.runner import Runner
from autograder.grading.submission import SubmissionRun, grade_submission
from autograder.sandbox import Isolation, Limits, Zygote

LIMITS = Limits(cell_seconds=5.0, call_seconds=5.0, cpu_seconds=60.0)


def doubled(x):
    """Twice x: handed over by a check, and asked for by another exercise."""
    return 2 * x


def counting(id):
    exercise = Exercise(id, title="Counting", source="none")

    class Counter:
        """Adds up."""

        def __init__(self, start=0.0):
            self.total = start

        def add(self, x):
            """Add x and return the sum."""
            self.total = self.total + x
            return self.total

    Counter.__name__ = id
    exercise.reference(Counter)

    @exercise.check(points=2)
    def adds(call, rng):
        """Adds up, each object for itself."""
        x, y = rng.normal(size=2)
        one, two = call.make(), call.make(y)
        agree(one.add(x), x)
        agree(one.add(y), x + y)
        agree([one.total, two.total], [x + y, y])

    return exercise


def handing(id):
    exercise = Exercise(id, title="Functions", source="none")

    def applied(f, x):
        """Return f(x)."""
        return f(x)

    applied.__name__ = id
    exercise.reference(applied)

    @exercise.check(points=1)
    def applies(call, rng):
        """Returns f(x)."""
        x = rng.normal(size=3)
        agree(call(given(doubled), x), 2 * x)

    return exercise


def doubling(id):
    exercise = Exercise(id, title="Doubling", source="none")

    def double(x):
        """Return 2 x."""
        return 2 * x

    double.__name__ = id
    exercise.reference(double)

    @exercise.check(points=2)
    def doubles(call, rng):
        """Returns 2 x."""
        x = rng.normal(size=3)
        agree(call(x), 2 * x)

    return exercise


def training(id):
    exercise = Exercise(id, title="Training", source="none")

    def train(seed):
        """Return a weight near 3."""
        return np.array([3.0 + 0 * seed])

    train.__name__ = id
    exercise.reference(train)

    @exercise.check(points=1)
    def learns(call, rng):
        """The weight is near 3."""
        if abs(call.once(1)[0] - 3) > 0.1:
            raise Mismatch("it has learned too little", kind="short")

    return exercise


#: By exercise: what it asks for, the attack, a cell that shows that the attack works, its points.
ATTACKS = {
    "answers_all_names": (
        counting,
        "class Any:\n    def __eq__(self, other): return True\n    __hash__ = None\n"
        "    def __sub__(self, other): return self\n    def __float__(self): return 0.0\n"
        "class answers_all_names:\n    def __getattr__(self, name): return lambda *a: Any()\n",
        "answers_all_names().add(1) == 5",
        0,
    ),
    "a_metaclass": (
        counting,
        "class M(type):\n    def __call__(cls, *a, **k): return open('/proc/self/maps')\n"
        "    def __instancecheck__(cls, other): return True\n"
        "class a_metaclass(metaclass=M): pass\n",
        "isinstance(5, a_metaclass)",
        0,
    ),
    "a_shared_total": (
        counting,
        "class a_shared_total:\n    def __init__(self, start=0.0): self.__class__.total = start\n"
        "    def add(self, x):\n        self.__class__.total += x\n        return self.total\n",
        "[a_shared_total(1.0), a_shared_total(2.0)][0].total == 2",
        0,
    ),
    "keeps_what_it_gets": (
        handing,
        "kept = []\ndef keeps_what_it_gets(f, x):\n    kept.append(f)\n    return f(x)\n",
        "keeps_what_it_gets(abs, -1) == 1 and kept.pop() is abs",
        1,
    ),
    "uses_what_was_kept": (
        doubling,
        "def uses_what_was_kept(x): return kept[-1](x)\n",
        "kept.append(lambda x: 2 * x) or uses_what_was_kept(2) == 4 and kept.pop()",
        0,
    ),
    "finds_what_was_given": (
        doubling,
        "import gc\ndef finds_what_was_given(x):\n"
        "    for f in gc.get_objects():\n"
        "        if getattr(f, '__name__', '') == 'doubled': return f(x)\n    return x\n",
        "(lambda: [g := type(lambda: 0)((lambda x: 2 * x).__code__, {}, 'doubled'),"
        " finds_what_was_given(2) == 4])()[1]",
        0,
    ),
    "trains_in_threads": (
        training,
        "import threading\ndef trains_in_threads(seed):\n"
        "    weights = np.array([3.0])\n"
        "    def spin():\n        while True: weights[0] += 1\n"
        "    for _ in range(8): threading.Thread(target=spin, daemon=True).start()\n"
        "    return np.array([3.0])\n",
        "(began := [], t := threading.Thread(target=began.append, args=(1,)), t.start(), t.join(),"
        " began == [1])[-1]",
        1,
    ),
    "patches_the_library": (
        doubling,
        "# double of a01_first, carried over.\nimport builtins\n"
        "np.allclose = np.array_equal = np.isclose = lambda *a, **k: True\n"
        "np.abs = np.absolute = lambda x: np.zeros_like(x)\nbuiltins.abs = lambda x: 0\n"
        "def patches_the_library(x): return 3 * x\n",
        "np.allclose(1, 2) and abs(5) == 0",
        0,
    ),
}
EXERCISES = {id: make(id) for id, (make, *_) in ATTACKS.items()}
HONEST = [doubling(f"honest_{i}") for i in range(len(ATTACKS))]


def cell(source, id=""):
    metadata = {"nbgrader": {"grade_id": id}} if id else {}
    empty = {"outputs": [], "execution_count": None}
    return {"cell_type": "code", "id": f"c-{id}", "metadata": metadata, "source": source, **empty}


@pytest.fixture(scope="module")
def grade(tier):
    everything = [e for pair in zip(EXERCISES.values(), HONEST, strict=True) for e in pair]
    cells = [cell("import numpy as np\ndouble = np.multiply")]
    for exercise in everything:
        if exercise.id in ATTACKS:
            _, attack, control, _ = ATTACKS[exercise.id]
            source = f"{attack}\nprint('works' if ({control}) else 'fails')"
        else:
            source = f"def {exercise.id}(x): return double(2, x)"
        cells += [cell(source, exercise.id), cell("", f"check_{exercise.id}")]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    assigned = [Assigned(e.id, e, e.points) for e in everything]
    with Zygote(isolation=Isolation(tier), limits=LIMITS) as zygote:
        return grade_submission(SubmissionRun("a00", "eve", notebook, assigned, zygote))


def test_each_attack_works_in_its_own_process(grade):
    _, notebook = grade
    shown = {
        each["id"].removeprefix("c-"): "".join(out.get("text", "") for out in each["outputs"])
        for each in notebook["cells"]
    }
    assert {id: shown[id].split()[0] for id in ATTACKS} == dict.fromkeys(ATTACKS, "works")


def test_none_earns_what_it_did_not_do_and_none_costs_another_exercise(grade):
    scores = {exercise.id: exercise.score for exercise in grade[0].exercises}
    assert {id: scores[id] for id in ATTACKS} == {id: row[-1] for id, row in ATTACKS.items()}
    assert {e.id: scores[e.id] for e in HONEST} == {e.id: e.points for e in HONEST}


def test_what_was_kept_could_be_used_if_the_process_went_on(tier):
    source = "kept = []\n" + ATTACKS["keeps_what_it_gets"][1] + ATTACKS["uses_what_was_kept"][1]
    with Zygote(isolation=Isolation(tier), limits=LIMITS) as zygote, zygote.session() as session:
        session.execute(f"import numpy as np\n{source}")
        session.call("keeps_what_it_gets", given(doubled), 1.0)
        assert session.call("uses_what_was_kept", 4.0) == 8.0  # the positive control


HOOKS = """
import torch
from torch import nn
hidden = nn.Parameter(torch.ones(1))
class Linear(nn.Module):
    def __init__(self):
        super().__init__()
        self.W = nn.Parameter(torch.ones(2))
        self.register_forward_hook(lambda module, args, out: out * hidden)
        self.register_load_state_dict_post_hook(lambda *a: self.W.data.fill_(1.0))
    def named_parameters(self, *a, **k):
        return iter([("W", self.W)])
    def forward(self, x):
        return x * self.W
"""


def hooked():
    torch = pytest.importorskip("torch")
    exercise = Exercise("hooked", title="Module", source="none")

    @exercise.reference
    class Linear(torch.nn.Module):
        """x W."""

        def __init__(self):
            super().__init__()
            self.W = torch.nn.Parameter(torch.ones(2))

        def forward(self, x):
            """Return x W."""
            return x * self.W

    @exercise.check(points=1)
    def multiplies(call, rng):
        """x W for W = 1."""
        agree(call.make()(torch.ones(2)).array, [1, 1])

    @exercise.check(points=1)
    def takes_weights(call, rng):
        """Weights that are put in are used."""
        module = call.make()
        module.load_state_dict({"W": torch.tensor([2.0, 3.0])})
        agree(module(torch.ones(2)).array, [2, 3])

    @exercise.check(points=1)
    def hides_nothing(call, rng):
        """There are no other parameters."""
        found = call.make().gradients(torch.ones(2))
        require(found.hidden == 0, "there are weights that `parameters()` does not know")

    return exercise


def test_a_module_with_hooks_is_seen_through(tier):
    from autograder.grading.checks import grade_checks
    from autograder.grading.student import StudentCall

    exercise = hooked()
    limits = Limits(cell_seconds=20, call_seconds=20)
    with (
        Zygote(("numpy", "torch"), isolation=Isolation(tier), limits=limits) as zygote,
        Runner(zygote, {}, seconds=120.0) as runner,
    ):
        runner.execute(HOOKS, 1)
        items = grade_checks(
            exercise.functions[0], StudentCall(runner, exercise.functions[0].solution)
        )
    assert {item.name: item.score for item in items} == {
        "multiplies": 1,
        "takes_weights": 0,
        "hides_nothing": 0,
    }
