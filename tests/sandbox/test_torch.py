"""What torch does by itself, while students only use it, is no damage and costs them no time."""

import pytest

from autograder.course.release.handed_out import libraries_of
from autograder.sandbox import COMPILER, Limits, Zygote
from autograder.sandbox.wire.requests import Call, Outline, Time

from ..tiers import isolation_of

pytestmark = pytest.mark.sandbox
pytest.importorskip("torch")

LAYERS = "layers = torch.nn.Sequential(*(torch.nn.Linear(2, 2) for _ in range(2)))\n"
PAIR = "x = torch.ones(2, 2, requires_grad=True)\n"

USES = {
    "an optimiser": LAYERS + "torch.optim.Adam(layers.parameters())",
    "a step of training": LAYERS
    + PAIR
    + "optimizer = torch.optim.AdamW(layers.parameters())\nlayers(x).sum().backward()\n"
    "torch.nn.utils.clip_grad_norm_(layers.parameters(), 1.0)\noptimizer.step()\n"
    "torch.optim.lr_scheduler.StepLR(optimizer, 1).step()",
    "derivatives of functions": "x = torch.ones(2)\n"
    "torch.func.vmap(torch.func.grad(torch.sin))(x)\n"
    "torch.func.hessian(lambda x: (x**3).sum())(x)\ntorch.func.jacrev(torch.sin)(x)\n"
    "torch.autograd.functional.jacobian(torch.sin, x)",
    "checkpoints": "from torch.utils.checkpoint import checkpoint_sequential\n"
    + LAYERS
    + PAIR
    + "checkpoint_sequential(layers, 2, x, use_reentrant=False).sum().backward()",
    "half precision": PAIR + "(x.half() @ x.half()).sum()\n(x.bfloat16() @ x.bfloat16()).sum()",
    "batches": "list(torch.utils.data.DataLoader(torch.arange(4.0), batch_size=2))",
    "a compiler": "compiled = torch.compile(lambda x: x)",
    "a script": "torch.jit.script(torch.nn.Linear(2, 2))",
    "a fake": "from torch._subclasses import FakeTensorMode\nwith FakeTensorMode():\n"
    "    torch.ones(3) + 1",
}


def opened(tier, also):
    return Zygote(
        ("torch",), also=also, isolation=isolation_of(tier), limits=Limits(cell_seconds=30.0)
    )


@pytest.fixture(scope="module", params=["A", "B"])
def zygotes(request):
    """With torch's compiler and without."""
    with opened(request.param, ()) as plain, opened(request.param, (COMPILER,)) as with_compiler:
        yield {False: plain, True: with_compiler}


@pytest.fixture
def zygote(zygotes):
    return zygotes[True]


@pytest.mark.parametrize("use", USES)
def test_using_torch_damages_nothing(zygotes, use):
    source = f"import torch\n{USES[use]}"
    with zygotes[COMPILER in libraries_of(source)].session() as session:
        run = session.execute(source)
        assert run.error is None, run.error
        assert run.healthy


def test_an_outline_needs_nothing_that_is_written_anywhere(zygotes):
    """It brings the compiler in where that wasn't there before anything was confined."""
    with zygotes[False].session() as session:
        session.execute("import torch\ndef f(q): return (q @ q.mT).softmax(-1)")
        assert session.ask("f", Outline(((64, 8),), "bfloat16")).work["largest"] == 64**2


def test_who_uses_no_compiler_waits_for_none():
    layer = "import torch\nfrom torch import nn\nF = nn.functional\nx = nn.Linear(2, 2)"
    assert libraries_of(layer) == {"torch"}
    with opened("A", ()) as zygote, zygote.session() as session:
        session.execute(f"{layer}\nimport sys\nthere = {COMPILER!r} in sys.modules")
        assert session.read("there") is False


@pytest.mark.parametrize(
    "use",
    [
        "torch.func.functional_call(layer, names, x)",
        "from torch.func import functional_call",
        "without = ('scaled_dot_product', 'flex_attention')",
    ],
)
def test_what_only_looks_like_it_imports_no_compiler(use):
    assert libraries_of(f"import torch\n{use}") == {"torch"}
    assert COMPILER in libraries_of(f"import torch\n{use}\ntorch.func.grad(f)")


def test_calling_a_layer_with_other_parameters_needs_no_compiler(zygotes):
    source = "import sys, torch\nlayer = torch.nn.Linear(2, 2)\n"
    source += "torch.func.functional_call(layer, dict(layer.named_parameters()), torch.ones(1, 2))"
    with zygotes[False].session() as session:
        run = session.execute(f"{source}\nthere = {COMPILER!r} in sys.modules")
        assert run.healthy
        assert session.read("there") is False


def test_replacing_a_function_of_torch_is_still_seen(zygote):
    with zygote.session() as session:
        assert not session.execute("import torch\ntorch.manual_seed = print").healthy


def test_the_first_optimiser_of_a_call_has_been_paid_for(zygote):
    with zygote.session() as session:
        session.execute(
            "def f():\n    import torch\n" + f"    {USES['an optimiser']}".replace("\n", "\n    ")
        )
        answer = session.ask("f", Time((), {}))
        assert answer.reading < 1


@pytest.mark.parametrize("libraries", [("torch",), ()])
def test_a_layer_of_the_library_is_seen_in_a_call_that_imports_it_itself(libraries):
    source = (
        "def f(x):\n    import torch.nn.functional as other\n"
        "    return other.scaled_dot_product_attention(*3 * [other.torch.ones(1, 2, 3)]).numpy()\n"
        "def g(x):\n    import torch\n    return torch.ones(2).softmax(0).numpy()\n"
    )
    limits = Limits(call_seconds=30.0)
    with Zygote(libraries, limits=limits) as zygote, zygote.session() as session:
        session.execute(source)
        wanted = ("scaled_dot_product", "cross_entropy")
        assert session.ask("f", Call((1,), {}, without=wanted)).layers == wanted[:1]
        assert session.ask("g", Call((1,), {}, without=wanted)).layers == ()


@pytest.mark.parametrize("libraries", [("torch",), ()])
def test_a_method_of_numpys_is_seen_under_another_name(libraries):
    source = (
        "import numpy as np\nother = np.logaddexp.reduce\n"
        "def f(x): return other(x)\ndef g(x): return np.logaddexp(x, x) + np.add.reduce(x)\n"
    )
    wanted = ("logsumexp", "ufunc.logaddexp")
    with Zygote(libraries) as zygote, zygote.session() as session:
        session.execute(source)
        for name, seen in (("f", wanted[1:]), ("g", ())):
            request = Call(([0.0, 1.0],), {}, without=wanted, closely=True)
            assert session.ask(name, request).layers == seen


def test_what_is_not_installed_is_no_obstacle_where_it_is_not_needed():
    with Zygote((), also=("statistics", "no_such_module")) as zygote, zygote.session() as session:
        session.execute("import sys; there = 'statistics' in sys.modules")
        assert session.read("there") is True
