"""Torch modules that students write: parameters, gradients and dropout come out as data."""

import numpy as np
import pytest

from autograder.exercise import Exercise, agree, made, require
from autograder.grading.checks import grade_checks
from autograder.grading.runner import Runner
from autograder.grading.student import StudentCall
from autograder.sandbox import Limits, Zygote

torch = pytest.importorskip("torch")


def library(d):
    """A linear map of the library's, always the same."""
    import torch

    torch.manual_seed(3)
    return torch.nn.Linear(d, d)


def dropping():
    exercise = Exercise("dropping", title="A module", source="none")

    @exercise.reference
    class Dropping(torch.nn.Module):
        """A linear map, then dropout."""

        def __init__(self, d, p=0.5):
            super().__init__()
            self.W = torch.nn.Linear(d, d, bias=False)
            self.drop = torch.nn.Dropout(p)

        def forward(self, x):
            """Return drop(W x)."""
            return self.drop(self.W(x))

        def load_from(self, other):
            """Take the weights of another map."""
            self.W.weight.data = other.weight.data.clone()

    def module(call, rng, d=4):
        made = call.make(d)
        weight = torch.tensor(rng.normal(size=(d, d)), dtype=torch.float32)
        made.load_state_dict({"W.weight": weight})
        return made, weight

    @exercise.check(points=1)
    def drops_in_training_alone(call, rng):
        """Drops half of the entries in training, the same for the same seed; none in evaluation."""
        own, weight = module(call, rng)
        x = torch.tensor(rng.normal(size=(50, 4)), dtype=torch.float32)
        call.seed(0)
        first = own(x).array
        call.seed(0)
        agree(own(x), first)
        require(0.3 < np.mean(first == 0) < 0.7, "other than half of the entries are dropped")
        own.eval()
        agree(own(x), (x @ weight.T).numpy())
        own.half()
        agree(own(x.half()), (x @ weight.T).numpy(), rtol=2e-2, atol=2e-2)

    @exercise.check(points=1)
    def has_the_gradients(call, rng):
        """Gradients reach x and W, the only parameters."""
        own, weight = module(call, rng)
        own.eval()
        x = torch.tensor(rng.normal(size=(3, 4)), dtype=torch.float32)
        found = own.gradients(x)
        require(found.hidden == 0 and found.count == 16, "there are other parameters than W")
        factors = np.cos(np.arange(12)).reshape(3, 4)
        agree(found.inputs[0], factors @ weight.numpy(), rtol=1e-4)
        agree(found.parameters["W.weight"], factors.T @ x.numpy(), rtol=1e-4)

    @exercise.check(points=1)
    def takes_weights_of_the_library(call, rng):
        """load_from() copies them."""
        own = call.make(4)
        own.eval()
        own.load_from(made(library, 4))
        x = torch.eye(4)
        agree(own(x), library(4).weight.T.detach().numpy())

    return exercise


RIGHT = """
import torch
class Dropping(torch.nn.Module):
    def __init__(self, d, p=0.5):
        super().__init__()
        self.p, self.W = p, torch.nn.Linear(d, d, bias=False)
    def forward(self, x):
        return torch.nn.functional.dropout(self.W(x), self.p, self.training)
    def load_from(self, other):
        with torch.no_grad():
            self.W.weight.copy_(other.weight)
"""


def outcome(exercise, call):
    return [item.note or item.status.value for item in grade_checks(exercise.functions[0], call)]


def test_the_reference_passes():
    exercise = dropping()
    assert outcome(exercise, exercise.functions[0].solution) == ["passed"] * 3


@pytest.fixture(scope="module")
def zygote():
    with Zygote(("numpy", "torch"), limits=Limits(cell_seconds=20, call_seconds=20)) as zygote:
        yield zygote


HIDDEN = (
    RIGHT.replace("p, torch.nn", "p, torch.nn.Identity(); self.kept = [torch.nn")
    .replace("bias=False)", "bias=False)]")
    .replace("self.W(x)", "self.kept[0](x)")
)


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (RIGHT, ["passed"] * 3),
        (RIGHT.replace(", self.training", ""), ["failed", "failed", "failed"]),
        (RIGHT.replace("self.W(x)", "self.W(x).detach()"), ["passed", "failed", "passed"]),
        (HIDDEN, ["student_error", "student_error", "student_error"]),
        (
            f"{RIGHT}\ntorch.nn.modules.module.register_module_forward_hook(lambda *a: open)",
            ["student_error", "student_error", "student_error"],
        ),
        (f"{RIGHT}    def parameters(self): return [open]\n", ["passed"] * 3),
    ],
)
def test_a_module_is_graded_by_what_it_computes(zygote, source, expected):
    exercise = dropping()
    with Runner(zygote, {}, seconds=120.0) as runner:
        runner.execute(source, 1)
        assert outcome(exercise, StudentCall(runner, exercise.functions[0].solution)) == expected


@pytest.mark.slow
@pytest.mark.sandbox
def test_parameters_that_are_none_of_the_module_are_counted(zygote):
    exercise = dropping()
    hidden = "        self.extra = [torch.ones(3, requires_grad=True)]\n    def forward"
    source = RIGHT.replace("    def forward", hidden).replace(
        "return torch", "x = x * self.extra[0].sum(); return torch"
    )
    with Runner(zygote, {}, seconds=60.0) as runner:
        runner.execute(source, 1)
        from autograder.grading.interview import Interview

        own = Interview(StudentCall(runner, exercise.functions[0].solution)).make(4)
        found = own.gradients(torch.ones(2, 4))
    assert (found.hidden, found.count) == (3, 16)
