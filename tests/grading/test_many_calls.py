"""Many calls in one message: what a check sees is what it sees of calls one by one."""

import time

import numpy as np
import pytest

from autograder.grading.interview import Interview
from autograder.grading.runner import Runner
from autograder.grading.student import StudentCall
from autograder.sandbox import Limits, StudentError, Zygote
from autograder.sandbox.conversation import Conversation

pytestmark = pytest.mark.sandbox


def f(x):
    """What is asked for."""
    return 2 * x


USUAL = "def f(x): return 2 * x"
BUFFER = "import numpy as np\nkept = np.zeros(2)\ndef f(x):\n    kept[:] = 2 * x\n    return kept"
CHANGES = "def f(x):\n    x *= 2\n    return x"
RAISES = "def f(x):\n    if x[0] == 3: raise ValueError('three')\n    return 2 * x"
WARNS = "import warnings\ndef f(x):\n    if x[0] == 3: warnings.warn('three')\n    return 2 * x"
NO_DATA = "def f(x): return 2 * x if x[0] != 3 else open"
LEAVES = "def f(x):\n    if x[0] == 3: raise SystemExit\n    return 2 * x"
SLOW = "import time\ndef f(x):\n    time.sleep(0.06)\n    return 2 * x"


@pytest.fixture(scope="module")
def zygote():
    with Zygote(("numpy",), limits=Limits(call_seconds=1.0)) as zygote:
        yield zygote


@pytest.fixture
def interviewed(zygote):
    """What the calls of a source's `f` come to: values, then the message of what ended them."""

    def interviewed(source, ask, count=6):
        questions = [(np.array([i, 1.0]),) for i in range(count)]
        with Runner(zygote, {}, seconds=30.0) as runner:
            runner.execute(source, 1)
            call, seen = Interview(StudentCall(runner, f)), []
            try:
                for value in ask(call, questions):
                    seen.append(
                        (np.asarray(value).tolist(), call.warnings, call.calls[-1].modified)
                    )
            except StudentError as error:
                seen.append(error.message)
        return seen, [(each.raised, np.asarray(each.request.args).tolist()) for each in call.calls]

    return interviewed


def one_by_one(call, questions):
    for args in questions:
        yield call(*args)


def together(call, questions):
    return call.each(*questions)


@pytest.fixture
def messages(monkeypatch):
    """The number of messages that were sent."""
    sent, ask = [], Conversation.ask

    def counted(*args):
        sent.append(args)
        return ask(*args)

    monkeypatch.setattr(Conversation, "ask", counted)
    return sent


SOURCES = (USUAL, BUFFER, CHANGES, RAISES, WARNS, NO_DATA, LEAVES, SLOW, "", "f = 3")


@pytest.mark.parametrize("source", SOURCES)
def test_what_is_seen_is_what_is_seen_of_calls_one_by_one(interviewed, source):
    assert interviewed(source, together) == interviewed(source, one_by_one)


def test_many_calls_travel_in_few_messages(interviewed, messages):
    interviewed(USUAL, one_by_one, count=130)
    single = len(messages)
    messages.clear()
    assert len(interviewed(USUAL, together, count=130)[0]) == 130
    assert len(messages) == single - 130 + 3


def test_what_is_not_taken_is_not_recorded(interviewed):
    seen, calls = interviewed(USUAL, lambda *asked: (next(together(*asked)) for _ in range(1)))
    assert len(seen) == len(calls) == 1


def test_a_call_that_hangs_costs_its_time_once(interviewed):
    began = time.monotonic()
    source = "def f(x):\n    while x[0] == 3: pass\n    return 2 * x"
    seen, _ = interviewed(source, together)
    assert "took longer than 1 s" in seen[-1]
    assert time.monotonic() - began < 10


def test_a_process_that_answers_more_than_was_asked_is_asked_again(interviewed):
    source = (
        "import sys\ndesk = sys.modules['autograder.sandbox.inside.desk']\n"
        "usual = desk.Done\n"
        "desk.Done = lambda *a, **k: usual([9] * 99 if a and isinstance(a[0], list) else 9)\n"
        "def f(x): return 2 * x"
    )
    assert interviewed(source, together)[0] == interviewed(source, one_by_one)[0]


def test_functions_of_ours_are_asked_one_by_one():
    call = Interview(f)
    assert [*call.each((1,), (2,))] == [2, 4]
    assert len(call.calls) == 2
