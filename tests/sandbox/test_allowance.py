"""Requests end by the time that a process uses, on a busy machine as on an idle one."""

import contextlib
import os
import subprocess
import sys
import time

import pytest

from autograder.sandbox import Limits, SandboxError, StudentError, Zygote, allowance
from autograder.sandbox.allowance import Allowance, Observed, TooBusy

from ..tiers import isolation_of

BURN = """
import time
def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end: pass
    return seconds
"""
SLEEP = "def doze(seconds):\n    time.sleep(seconds)\n    return seconds"


@contextlib.contextmanager
def busy(loops):
    """Run loops that leave others little of the processors on which this test may run."""
    source = "import os; os.sched_setaffinity(0, {%d}); print(flush=True)\nwhile 1: 1"
    processes = [
        # A session of its own: else the kernel may count all of them as one.
        subprocess.Popen(
            [sys.executable, "-c", source % cpu], stdout=subprocess.PIPE, start_new_session=True
        )
        for cpu in os.sched_getaffinity(0)
        for _ in range(loops)
    ]
    try:
        for process in processes:
            process.stdout.readline()
        yield
    finally:
        for process in processes:
            process.kill()
            process.communicate()


@pytest.fixture(scope="module", params=["A", "B"])
def zygote(request):
    limits = Limits(call_seconds=1.0, cell_seconds=1.0)
    with Zygote((), isolation=isolation_of(request.param), limits=limits) as zygote:
        yield zygote


@pytest.fixture
def session(zygote):
    with zygote.session() as session:
        session.execute(BURN + SLEEP)
        yield session


@pytest.mark.sandbox
class TestRequests:
    def test_what_is_within_its_time_ends_well_beside_busy_loops(self, session):
        before = time.monotonic()
        with busy(4):
            assert session.call("burn", 0.6) == 0.6
            run = session.execute("print('begun')\nburn(0.6)")
        assert run.error is None, run.error
        assert time.monotonic() - before > 2.4, "there was no load, and so nothing was shown"
        assert 1.2 <= session.spent < 2.4

    def test_what_uses_up_its_time_is_ended_beside_busy_loops_as_well(self, session):
        with busy(2), pytest.raises(StudentError) as caught:
            session.call("burn", 60)
        assert caught.value.kind == "timeout"
        assert session.close().cpu_seconds < 2

    def test_a_cell_that_is_ended_late_keeps_what_it_had_shown(self, session):
        with busy(3):
            run = session.execute("print('begun')\nburn(60)")
        assert run.error.kind == "timeout"
        assert run.outputs[0]["text"] == "begun\n"

    def test_who_sleeps_has_a_limit_of_their_own(self, session):
        assert session.call("doze", 1.3) == 1.3
        before = time.monotonic()
        with pytest.raises(StudentError) as caught:
            session.call("doze", 60)
        assert caught.value.kind == "timeout"
        assert time.monotonic() - before < 5

    def test_threads_that_wake_each_other_gain_nothing(self, session):
        session.execute(
            "import threading\ndef nap():\n    while True: time.sleep(0.01)\ndef crowd():\n"
            "    threading.stack_size(1 << 16)\n"
            "    for _ in range(100): threading.Thread(target=nap, daemon=True).start()\n"
            "    time.sleep(60)"
        )
        before = time.monotonic()
        with pytest.raises(StudentError) as caught:
            session.call("crowd")
        assert caught.value.kind == "timeout"
        assert time.monotonic() - before < 8

    def test_a_machine_without_any_time_is_no_fault_of_the_student(self, session, monkeypatch):
        monkeypatch.setattr(allowance, "_IN_ALL", 0.0)
        monkeypatch.setattr(allowance, "_MORE", 1.5)
        with busy(9), pytest.raises(SandboxError, match="too busy"):
            session.call("burn", 0.9)
        assert not session.alive


class Process:
    """A process as it is seen from outside; each reading is some seconds later."""

    def __init__(self, monkeypatch, *, cpu, waited):
        self.now = self.cpu = 0.0
        self.waited = None if waited is None else 0.0
        self.rates = cpu, waited
        monkeypatch.setattr(allowance.time, "monotonic", lambda: self.now)

    def read(self):
        return Observed(self.cpu, None if self.waited is None else {1: self.waited})

    def ends(self, seconds):
        """Return when and how its request is ended."""
        allowed = Allowance(seconds, self.read)
        try:
            while True:
                step = allowed.left()
                cpu, waited = self.rates
                self.now += step
                self.cpu += cpu * step
                if self.waited is not None:
                    self.waited += waited * step
        except (TimeoutError, TooBusy) as error:
            return round(self.now), type(error).__name__


@pytest.mark.parametrize(
    ("cpu", "waited", "end"),
    [
        (1.0, 0.0, (5, "TimeoutError")),
        (0.25, 0.75, (20, "TimeoutError")),
        (0.0, 0.0, (10, "TimeoutError")),
        (0.5, 0.0, (10, "TimeoutError")),
        (0.01, 0.99, (55, "TooBusy")),
        (0.0, None, (55, "TimeoutError")),
        (0.5, None, (10, "TimeoutError")),
    ],
    ids=["works", "is kept waiting", "sleeps", "does both", "starves", "untold", "works untold"],
)
def test_when_five_seconds_are_over(monkeypatch, cpu, waited, end):
    process = Process(monkeypatch, cpu=cpu, waited=waited)
    assert process.ends(5.0) == end


def test_where_nothing_can_be_read_the_clock_on_the_wall_counts(monkeypatch):
    process = Process(monkeypatch, cpu=0.0, waited=None)
    process.read = lambda: None
    assert process.ends(5.0) == (5, "TimeoutError")
