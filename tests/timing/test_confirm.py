"""Counts that passed, beside clocks and memories that are given by formulas, or real ones."""

import numpy as np
import pytest

from autograder.exercise import Inconclusive, Mismatch, grows
from autograder.exercise.checks import clocks, confirm
from autograder.exercise.checks.work import Work
from autograder.grading.budget import bounded
from autograder.sandbox import StudentError, Zygote
from autograder.sandbox.wire.requests import Watch

from ..tiers import isolation_of
from .test_clocks import Simulated, linear, make, quadratic, rows

MB = 1 << 20


class Holding(Simulated):
    """A submission that holds the given bytes."""

    def __init__(self, bytes_held, own=linear):
        super().__init__(own)
        self.bytes_held = bytes_held

    def grown(self, x):
        self.calls.append(len(x))
        return x, self.bytes_held(len(x))


def unlooped(n):
    return 1e-4 + 1e-8 * n**2


def looped(n):
    return 5e-5 + 5e-6 * n + 1e-8 * n**2


@pytest.mark.parametrize(
    ("own", "agrees"),
    [(linear, True), (quadratic, False), (lambda n: 1e-2 + quadratic(n), False)],
)
def test_growth_is_confirmed_or_contradicted(own, agrees):
    assert confirm.growth(Simulated(own), make, 1, rows, (257, 5006)) is agrees


def test_a_first_round_that_had_to_wait_confirms_nothing():
    seen = set()

    def late(n):
        seen.add(n)
        return quadratic(5006) if 5006 not in seen else quadratic(n)

    assert not confirm.growth(Simulated(late), make, 1, rows, (257, 5006))


class Counted(Simulated):
    """A submission of which the meter sees work that grows like n, whatever it does."""

    def __init__(self, own):
        super().__init__(own)
        self.readings = []

    def work(self, x):
        n = len(x)
        return Work(x, flops=100 * n, largest=n, peak=8 * n, steps=50, operations=10)


def test_what_takes_over_only_beyond_the_sizes_is_withheld():
    """Up to n = 5000 the time grows like n^1.3; from there on like n^1.7."""
    late = Counted(lambda n: 2e-5 * n + 6e-9 * n**2)
    clocks.decide(late, make, 1, rows)
    with pytest.raises(Inconclusive, match="faster for large n"):
        grows(late, make, at_most=1, rows=rows, floor=lambda n: n)
    grows(Counted(linear), make, at_most=1, rows=rows, floor=lambda n: n)


@pytest.mark.parametrize(
    ("held", "agrees"),
    [
        (lambda n: 4000 * n, True),
        (lambda _: 8 * MB, True),  # buffers of a library
        (lambda n: 8 * n**2, False),
        (lambda _: None, True),
    ],
)
def test_memory_is_confirmed_or_contradicted(held, agrees):
    call = Holding(held)
    assert confirm.memory(call, make, 1, rows, 514, 2000 * 514) is agrees
    assert call.calls[-1] == 2503


def test_memory_may_grow_with_the_power_that_is_allowed():
    assert confirm.memory(Holding(lambda n: 8 * n**2), make, 2, rows, 514, 8 * 514**2)


def test_slow_calls_are_looked_at_where_they_are_quicker():
    call = Holding(lambda n: 8 * n**2, lambda n: 1e-6 * n**2)
    confirm.memory(call, make, 1, rows, 514, 2000 * 514)
    assert 514 < call.calls[-1] < 800


def test_rows_are_compared_where_memory_is_looked_at():
    with pytest.raises(Mismatch, match="some rows"):
        confirm.memory(Holding(lambda _: 0), make, 1, lambda i, x: x[i] + 1, 514, 1)


@pytest.mark.parametrize(
    ("own", "reference", "agrees"),
    [
        (unlooped, unlooped, True),
        (looped, unlooped, False),
        (lambda n: 1e-4 + 1e-6 * n**2, unlooped, True),  # slow, but not row by row
        (looped, looped, True),  # it can't be done without so much for each row
        (lambda n: 1e-4 + 2e-7 * n, lambda _: 1e-4, True),  # numbers, not operations
        (lambda n: 1e-4 + 4e-5 * (n > 60), lambda _: 1e-4, True),  # a step, as memory costs one
    ],
)
def test_that_there_is_no_loop_is_confirmed_or_contradicted(own, reference, agrees, monkeypatch):
    monkeypatch.setattr(confirm, "_operation", lambda: 1e-6)  # the other times are simulated, too
    call = Simulated(own, reference, noise=0.01)
    assert confirm.no_loop(call, make, rows) is agrees


@pytest.mark.parametrize(
    ("each_row", "calls"), [(1e-8, 24), (7e-7, 48), (1.4e-6, 48 + 2 * 3 * 160)]
)
def test_half_a_glance_is_enough_where_it_finds_next_to_nothing(each_row, calls, monkeypatch):
    monkeypatch.setattr(confirm, "_operation", lambda: 1e-6)
    call = Simulated(lambda n: 1e-4 + each_row * n, noise=0)
    assert confirm.no_loop(call, make, rows)
    assert len(call.calls) == calls


def test_without_a_clock_counts_stand_alone():
    call = Holding(lambda n: 8 * n**2, looped)
    call.clocked = False
    assert confirm.growth(call, make, 1, rows, (257, 5006))
    assert confirm.memory(call, make, 1, rows, 514, 1)
    assert confirm.no_loop(call, make, rows)
    assert call.calls == []


HOLDS = """
import numpy as np

np.ones((30 << 20) // 8)  # what cells held says nothing

def holds(x, megabytes):
    held = np.ones(megabytes << 17)
    return float(sum(held.mean() for _ in range(5)) / 5)

def ends(x):
    import os
    os._exit(0)
"""


@pytest.mark.sandbox
@pytest.mark.parametrize("tier", ["A", "B"])
def test_the_memory_of_a_call_is_seen_from_outside(tier):
    with Zygote(isolation=isolation_of(tier)) as zygote, zygote.session() as session:
        session.execute(HOLDS)
        x = np.ones(10)
        for megabytes in (1, 60, 40, 1):
            answer = session.ask("holds", Watch((x, megabytes), {}))
            grown = answer.reading
            assert answer.value == 1
            assert grown <= (megabytes + 4) * MB
            assert grown >= (0.75 * megabytes - 1) * MB  # it is looked at now and then


@pytest.mark.sandbox
def test_a_process_that_ends_while_it_is_watched_is_no_harm(zygote):
    with zygote.session() as session:
        session.execute(HOLDS)
        with pytest.raises(StudentError, match="ended its process"):
            session.ask("ends", Watch((np.ones(3),), {}))
    with zygote.session() as session:
        session.execute(HOLDS)
        assert session.ask("holds", Watch((np.ones(3), 4), {})).value == 1


def test_an_operation_takes_time_while_a_timer_runs_on_the_process():
    # Judging runs on one, and then the clock of the process stands still for milliseconds.
    assert all(bounded("", confirm._operation) > 0 for _ in range(5))
