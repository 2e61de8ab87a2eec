"""Classes that students write: objects stay in their process, and checks use them as their own."""

import numpy as np
import pytest

from autograder.exercise import Exercise, Mismatch, agree, require
from autograder.exercise.words.given import given, made, seeded
from autograder.grading.checks import grade_checks
from autograder.grading.runner import Runner
from autograder.grading.student import StudentCall
from autograder.sandbox import Limits, StudentError, Zygote
from autograder.sandbox.wire.requests import Call, CallMethod, GetAttribute, Make

SCALE = 3.0  # what `tripled` needs of this module


def tripled(x):
    """Three times x."""
    return SCALE * x


def power(p):
    """The function that raises to a power."""
    return lambda x: x**p


def counting():
    exercise = Exercise("counter", title="Counting", source="none")

    @exercise.reference
    class Counter:
        """Adds up."""

        def __init__(self, start=0, rng=None):
            self.total = start
            self.noise = 0.0 if rng is None else rng.normal()
            self.W = np.eye(2)
            self.named = {}

        def add(self, x):
            """Add x and return the sum."""
            self.total = self.total + x
            return self.total

        def __call__(self, x, f=None):
            """W x, or of f(x)."""
            return self.W @ (x if f is None else f(x))

    @exercise.check(points=1)
    def adds(call, rng):
        """Adds up, each object for itself."""
        one, two = call.make(), call.make(start=10)
        one.add(1)
        agree([one.add(2), two.add(2)], [3, 12])
        agree([one.total, two.total], [3, 12])

    @exercise.check(points=1)
    def multiplies(call, rng):
        """Uses the weights that it has been given."""
        x, W = rng.normal(size=2), rng.normal(size=(2, 2))
        counter = call.make()
        agree(counter(x), x)
        counter.W = W
        agree(counter(x), W @ x)
        agree(counter.W, W)
        setattr(counter, "named[out.W]", W)
        agree(counter.named["out.W"], W)

    @exercise.check(points=1)
    def takes_functions(call, rng):
        """Uses functions and generators that are handed to it."""
        x = rng.normal(size=2)
        counter = call.make(rng=seeded(5))
        agree(counter.noise, np.random.default_rng(5).normal())
        agree(counter(x, given(tripled)), 3 * x)
        agree(counter(x, f=made(power, 2)), x**2)
        agree(counter(x, f=made(power, np.array([2, 3]))), x ** np.array([2, 3]))

    @exercise.check(points=1)
    def leaves_what_it_gets(call, rng):
        """Neither changes nor warns."""
        counter = call.make()
        counter(np.ones(2))
        require(not call.modified, "it changes its argument")
        require(not call.warnings, "it warns")

    @exercise.misconception
    class Shared(Counter):
        """You add to a number that all objects share."""

        sums = [0]  # noqa: RUF012

        def __init__(self, start=0, rng=None):
            super().__init__(start, rng)
            self.sums[0] = start

        def add(self, x):
            """Add to the number of all."""
            self.sums[0] += x
            return self.sums[0]

    @exercise.misconception
    class Fixed(Counter):
        """You never use W."""

        def __call__(self, x, f=None):
            """Return x."""
            return x if f is None else f(x)

    @exercise.misconception
    class Deaf(Counter):
        """You never call the function."""

        def __call__(self, x, f=None):  # noqa: ARG002
            """Return W x."""
            return self.W @ x

    @exercise.misconception
    class InPlace(Counter):
        """You change the argument."""

        def __call__(self, x, f=None):
            """Add to x."""
            y = super().__call__(x, f)
            x += 1
            return y

    return exercise


RIGHT = """
import numpy as np
class Counter:
    def __init__(self, start=0, rng=None):
        self._sum = start
        self.noise = 0 if rng is None else rng.normal()
        self.W = np.eye(2)
        self.named = {}
    @property
    def total(self):
        return self._sum
    def add(self, x):
        self._sum += x
        return self._sum
    def __call__(self, x, f=None):
        return self.W @ (f or (lambda x: x))(x)
"""


def outcome(exercise, call):
    return {
        item.name: item.note or item.status.value
        for item in grade_checks(exercise.functions[0], call)
    }


def passed(**but):
    names = ("adds", "multiplies", "takes_functions", "leaves_what_it_gets")
    return dict.fromkeys(names, "passed") | but


def test_the_reference_passes_and_each_mistake_is_named():
    exercise = counting()
    assert outcome(exercise, exercise.functions[0].solution) == passed()
    shared, fixed, deaf, in_place = exercise.misconceptions
    assert outcome(exercise, shared) == passed(adds="Shared")
    assert outcome(exercise, fixed) == passed(multiplies="Fixed")
    assert outcome(exercise, deaf) == passed(takes_functions="Deaf")
    assert outcome(exercise, in_place) == passed(leaves_what_it_gets="InPlace")


@pytest.fixture(scope="module")
def zygote():
    with Zygote(limits=Limits(cell_seconds=5.0, call_seconds=5.0)) as zygote:
        yield zygote


@pytest.fixture
def submitted(zygote):
    def submitted(source):
        exercise = counting()
        with Runner(zygote, {}, seconds=60.0) as runner:
            runner.execute(source, 1)
            return outcome(exercise, StudentCall(runner, exercise.functions[0].solution))

    return submitted


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("source", "but"),
    [
        (RIGHT, {}),
        (RIGHT.replace("self._sum +=", "Counter._sum = self._sum ="), {"adds": "student_error"}),
        (RIGHT.replace("self.W @ (f", "(f"), {"multiplies": "Fixed"}),
        (RIGHT.replace("(f or (lambda x: x))", ""), {"takes_functions": "Deaf"}),
        (f"{RIGHT}        x += 1", {}),
        ("x = 1", dict.fromkeys(passed(), "blank")),
    ],
)
def test_a_submission_is_graded_by_what_its_objects_do(submitted, source, but):
    expected = passed(**but)
    if "Counter._sum" in source:
        expected["adds"] = submitted(source)["adds"]
        assert expected["adds"] != "passed"
    assert submitted(source) == expected


HOSTILE = {
    "answers to every name": "def __getattr__(self, name): return lambda *a: 'x' * 100",
    "raises for every name": "def __getattribute__(self, name): raise SystemExit",
    "keeps what it gets": "def __call__(self, x, f=None): kept.append(f); return self.W @ x",
    "is whatever it is compared with": "def __eq__(self, other): return True",
    "ends the process": "def add(self, x): import os; os._exit(0)",
    "hangs": "def add(self, x):\n        while True: pass",
    "returns itself inside": "def add(self, x): return [self]",
    "looks at the function": "def __call__(self, x, f=None): return f.__globals__ if f else x",
}


HARMLESS = ("answers to every", "is whatever", "keeps")


@pytest.mark.sandbox
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_class_costs_its_own_checks_alone(zygote, name):
    exercise = counting()
    source = f"kept = []\n{RIGHT}\n    {HOSTILE[name]}\n"
    with Runner(zygote, {}, seconds=60.0) as runner:
        runner.limits = Limits(cell_seconds=1.0, call_seconds=1.0)
        runner.execute(source, 1)
        items = grade_checks(
            exercise.functions[0], StudentCall(runner, exercise.functions[0].solution)
        )
        assert all(item.score is not None for item in items), items
        assert sum(item.score for item in items) < 4 or name.startswith(HARMLESS)
        runner.settle()
        runner.execute("def honest(x): return x", 2)
        assert runner.ask("honest", Call((2,), {})).value == 2


@pytest.mark.sandbox
def test_a_metaclass_makes_nothing_that_gets_out(zygote):
    source = "class M(type):\n    def __call__(cls, *a, **k): return open\n"
    with Runner(zygote, {}, seconds=30.0) as runner:
        runner.execute(f"{source}class Counter(metaclass=M): pass", 1)
        call = StudentCall(runner, counting().functions[0].solution)
        call.ask(Make((), {}, 1))
        with pytest.raises(StudentError, match="raised"):
            call.ask(CallMethod((1,), {}, 1, "add"))
        with pytest.raises(StudentError, match=r"Counter.read_text` returned|raised"):
            call.ask(CallMethod(("/etc/passwd",), {}, 1, "__call__"))


@pytest.mark.sandbox
def test_objects_of_a_process_that_has_ended_are_said_to_be_lost(zygote):
    with Runner(zygote, {}, seconds=30.0) as runner:
        runner.execute(RIGHT, 1)
        call = StudentCall(runner, counting().functions[0].solution)
        with pytest.raises(StudentError) as caught:
            call.ask(GetAttribute(12345, "total"))
        assert caught.value.kind == "lost"


def test_an_argument_that_a_function_needs_travels_with_it():
    assert "SCALE = 3.0" in given(tripled).source
    assert "Mismatch" not in given(tripled).source
    assert issubclass(Mismatch, Exception)
    names = {}
    exec(made(power, 2).source, names)
    assert names["given"](2)(3) == 9
