"""Checks on a GPU: the logic on the processor, everything else where there is a device."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from autograder.course.config import CourseError  # noqa: E402 -- needs torch
from autograder.course.submissions.grading_options import GradingOptions  # noqa: E402
from autograder.delivery.department.grading import grade_and_save  # noqa: E402
from autograder.exercise import (  # noqa: E402
    AuthoringError,
    Exercise,
    Inconclusive,
    Mismatch,
    agree,
    grows_on_gpu,
)
from autograder.exercise.checks import gpu_checks  # noqa: E402
from autograder.exercise.checks.gpu_checks import Timing, furthest  # noqa: E402
from autograder.grading.checks import grade_checks  # noqa: E402
from autograder.grading.gpu import Gpu, missing  # noqa: E402
from autograder.grading.results import ExerciseGrade  # noqa: E402
from autograder.grading.runner import Runner  # noqa: E402
from autograder.grading.student import StudentCall  # noqa: E402
from autograder.sandbox import StudentError  # noqa: E402

from .gpu_samples import (  # noqa: E402
    ABOUT_MEMORY,
    ABOUT_PRECISION,
    ATTACKS,
    NAIVE,
    SAMPLES,
    Submitted,
    rows_of_linear,
)

SOURCE = """
import torch

def attention(Q, K, V):
    return torch.softmax(Q @ K.mT / Q.shape[-1] ** 0.5, -1) @ V
"""


def attention(Q, K, V):
    return torch.softmax(Q @ K.mT / Q.shape[-1] ** 0.5, -1) @ V


def rows(i, Q, K, V):
    return attention(Q[..., i, :], K, V)


class Simulated:
    """A device of which the times and the memory are given by formulas."""

    def __init__(self, seconds, peak, *, sdpa=lambda n: 1e-5 + 1e-12 * n**2, fits=1 << 20, off=0.0):
        self.seconds, self.peak, self.theirs, self.fits, self.off = seconds, peak, sdpa, fits, off
        self.curve = None

    def on_gpu(self, shape, _dtype, drawn, *, sdpa=False):
        n = shape[-2]
        if n > self.fits:
            return None
        seconds = (self.theirs if sdpa else self.seconds)(n)
        inputs = (torch.ones(1, 1, 1, 1),)
        return Timing(seconds, seconds, self.peak(n), self.off + np.ones((1, len(drawn))), inputs)


def judge(device, **powers):
    grows_on_gpu(
        device, **{"time": 1, "memory": 1} | powers, rows=lambda i, _: torch.ones(1, len(i))
    )


def linear(n):
    return 1e-5 + 1e-8 * n


def quadratic(n):
    return 1e-5 + 1e-11 * n**2


def test_linear_time_and_memory_pass():
    device = Simulated(linear, lambda n: 4096 * n)
    judge(device)
    assert device.curve.n[-1] == 65536


def test_what_holds_nothing_passes():
    judge(Simulated(linear, lambda _: 0))


def test_quadratic_time_fails():
    with pytest.raises(Mismatch, match=r"the time grows like n\^2.0"):
        judge(Simulated(quadratic, lambda n: 4096 * n))
    judge(Simulated(quadratic, lambda n: 4096 * n), time=2)


def test_quadratic_memory_fails_also_where_the_largest_sizes_do_not_fit():
    with pytest.raises(Mismatch, match=r"the memory grows like n\^2.0"):
        judge(Simulated(linear, lambda n: 4 * n**2, fits=8192))


def test_a_wrong_row_fails():
    with pytest.raises(Mismatch, match="some rows"):
        judge(Simulated(linear, lambda n: n, off=0.1))


def test_a_busy_machine_judges_nobody():
    with pytest.raises(Inconclusive, match="too busy"):
        judge(Simulated(linear, lambda n: n, sdpa=lambda _: 1e-3))
    with pytest.raises(Inconclusive, match="above a launch"):
        judge(Simulated(lambda _: 1e-3, lambda n: n, sdpa=quadratic, fits=8192))


def test_what_is_hardly_more_than_a_launch_at_any_size_passes():
    judge(Simulated(lambda n: 1e-4 + 1e-9 * n, lambda n: n))


def test_a_wrong_row_is_told_in_which_precision():
    with pytest.raises(Mismatch, match="in float32, for n = 512, some rows .* off by 0.0004"):
        judge(Simulated(linear, lambda n: n, off=4e-4))


def test_the_grader_s_clock_decides_whatever_the_events_say():
    class Side(Simulated):
        def on_gpu(self, *args, sdpa=False):
            timing = super().on_gpu(*args, sdpa=sdpa)
            return replace(timing, events=1e-5)

    with pytest.raises(Mismatch, match=r"the time grows like n\^2.0"):
        judge(Side(quadratic, lambda n: n))


def test_what_is_no_plain_tensor_fails():
    class Lazy(Simulated):
        def on_gpu(self, *args, sdpa=False):
            return replace(super().on_gpu(*args, sdpa=sdpa), value=None)

    with pytest.raises(Mismatch, match="not a plain tensor"):
        judge(Lazy(linear, lambda n: n))


class Turns:
    """A device that others keep busy now and then: each measurement of a submission is another."""

    def __init__(self, *formulas):
        self.formulas, self.measured, self.curve = list(formulas), 0, None

    def on_gpu(self, shape, dtype, drawn, *, sdpa=False):
        if not sdpa and shape[-2] == 512:
            self.measured += 1
        seconds = self.formulas[min(self.measured, len(self.formulas)) - 1]
        return Simulated(seconds, lambda n: n).on_gpu(shape, dtype, drawn, sdpa=sdpa)


def test_time_that_grows_too_fast_once_fails_nobody():
    device = Turns(quadratic, linear)
    judge(device)
    assert device.measured == 3  # float32 twice, bfloat16 once


def test_time_that_grows_too_fast_twice_fails():
    device = Turns(quadratic, quadratic, linear)
    with pytest.raises(Mismatch, match="the time grows"):
        judge(device)


def test_what_is_not_clear_is_measured_again():
    between = Turns(lambda n: 1e-9 * n**1.5, linear)
    judge(between)
    assert between.measured == 3
    with pytest.raises(Inconclusive, match="neither clearly"):
        judge(Turns(lambda n: 1e-9 * n**1.5))


def test_torch_s_growth_is_looked_for_at_larger_sizes_than_the_check_has():
    fast = Simulated(linear, lambda n: n, sdpa=lambda n: 2e-4 + 3e-11 * n**2)
    grows_on_gpu(
        fast, time=2, memory=1, rows=lambda i, _: torch.ones(1, len(i)), sizes=(1024, 2048, 4096)
    )


@pytest.fixture(scope="module")
def processor():
    """All of it, in processes, on the processor."""
    with Gpu("cpu") as gpu:
        yield gpu


@pytest.fixture
def runner(processor):
    with Runner(processor._zygote, {}, seconds=120) as runner:
        yield runner


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_submission_s_rows_belong_to_the_inputs(processor, runner, dtype):
    runner.execute(SOURCE, 1)
    drawn = np.array([3, 17])
    timing = processor.submitted(runner, "attention", (1, 2, 64, 8), dtype, drawn)
    right = rows(drawn, *timing.inputs)
    assert np.allclose(timing.value, right, atol=1e-5 if dtype == "float32" else 0.05)
    assert timing.seconds > 0
    assert timing.peak >= 2 * 64 * 64 * (4 if dtype == "float32" else 2)


def test_torch_s_own_attention_is_timed_by_the_same_clock(processor):
    drawn = np.array([0, 63])
    timing = processor.sdpa((1, 2, 64, 8), "float32", drawn)
    assert np.allclose(timing.value, rows(drawn, *timing.inputs), atol=1e-5)


def test_patched_clocks_change_nothing(processor, runner):
    runner.execute(
        SOURCE + "\nimport time\ntime.perf_counter = lambda: 0.0\n"
        "torch.cuda.synchronize = lambda *_: None\ntorch.cuda.Event = None\n"
        "torch.randn = lambda *a, **k: None",
        1,
    )
    timing = processor.submitted(runner, "attention", (1, 2, 64, 8), "float32", np.array([1]))
    assert timing.seconds > 0
    assert timing.events > 0


@pytest.mark.parametrize(
    ("name", "right"), [("none", True), ("kept_by_pointer", False), ("in_half_precision", False)]
)
def test_what_is_kept_or_shortened_is_seen_in_its_rows(processor, runner, name, right):
    runner.execute(ATTACKS[name].source, 1)
    drawn = np.array([3, 40])
    timing = processor.submitted(runner, "attention", (1, 2, 64, 8), "float32", drawn)
    off = furthest(timing.value, rows_of_linear(drawn, *timing.inputs).numpy())
    assert (off < 1e-4) is right


def test_rows_that_are_computed_when_asked_for_are_none(processor, runner):
    runner.execute(ATTACKS["rows_when_asked_for"].source, 1)
    timing = processor.submitted(runner, "attention", (1, 2, 64, 8), "float32", np.array([1]))
    assert timing.value is None


def test_what_raises_is_the_student_s(processor, runner):
    runner.execute("def attention(Q, K, V): return Q @ K", 1)
    with pytest.raises(StudentError, match="RuntimeError"):
        processor.submitted(runner, "attention", (1, 2, 64, 8), "float32", np.array([1]))


exercise = Exercise("on_gpu", title="On a GPU", source="-")
exercise.reference(attention)


@exercise.check(points=2, gpu=True)
def grows(call, rng):
    """Time and memory grow like n²."""
    grows_on_gpu(call, time=2, memory=2, rows=rows)


def test_without_a_gpu_it_is_withheld():
    (item,) = grade_checks(exercise.functions[0], attention)
    assert (item.status, item.score, item.note) == ("errored", None, "no_gpu")


def test_what_comes_after_it_waits_with_it_and_the_rest_counts():
    both = Exercise("both", title="Both", source="-")
    both.reference(attention)

    @both.check(points=3)
    def weighs(call, rng):
        """Weighs values."""
        Q, K, V = torch.tensor(rng.normal(size=(3, 1, 1, 4, 2)))
        agree(call(Q, K, V), attention(Q, K, V))

    @both.check(points=1, gpu=True)
    def time(call, rng):
        """Grows like n²."""

    @both.check(points=1, gpu=True, after=time)
    def memory(call, rng):
        """Holds no more than that."""

    grade = ExerciseGrade.of("both", grade_checks(both.functions[0], attention))
    assert [item.note for item in grade.items] == ["", "no_gpu", "no_gpu"]
    assert (grade.status.value, grade.score, grade.withheld) == ("errored", 3, 2)
    alone = ExerciseGrade.of("both", grade.items[1:])
    assert (alone.score, alone.withheld) == (None, 2)


def test_a_check_on_a_gpu_is_never_visible():
    with pytest.raises(AuthoringError, match="needs a GPU: hide it"):
        exercise.check(points=1, visible=True, gpu=True)(grows.run)


def test_what_builds_on_a_check_on_a_gpu_needs_one_too():
    with pytest.raises(AuthoringError, match="comes after `grows`, so it needs a GPU too"):
        exercise.check(points=1, after=grows)(grows.run)


needs_gpu = pytest.mark.skipif(bool(missing()), reason=missing() or "there is a GPU")


@pytest.fixture(scope="module")
def device():
    with Gpu() as gpu:
        yield gpu


@pytest.fixture(scope="module")
def submissions(device):
    """One process for all that patches nothing: each needs a second to reach the device."""
    with Runner(device._zygote, {}, seconds=3600) as runner:
        yield runner


def decided(gpu, runner, sample):
    call = Submitted(gpu, runner)
    grows_on_gpu(call, time=sample.time, memory=sample.memory, rows=sample.rows)


@pytest.mark.gpu
@needs_gpu
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", SAMPLES)
def test_every_sample_gets_its_verdict(device, submissions, monkeypatch, name, dtype):
    monkeypatch.setattr(gpu_checks, "_DTYPES", {dtype: gpu_checks._DTYPES[dtype]})
    sample = SAMPLES[name]
    first = 1 + 2 * list(SAMPLES).index(name)
    submissions.execute(sample.source, first + (dtype == "bfloat16"))
    if not sample.fails:
        decided(device, submissions, sample)
        return
    with pytest.raises(Mismatch, match=sample.fails):
        decided(device, submissions, sample)


def naive(n, device):
    """As the name says."""


def deceived(gpu, runner, name):
    """Does the naive meter take the attack for a function that is right and linear?"""
    with StudentCall(runner, naive) as call:
        found = [call(n, gpu._device) for n in (8192, 32768)]
    times, peaks, off = zip(*found, strict=True)
    measured = peaks if name in ABOUT_MEMORY else times
    coarse = 1e-2 if name in ABOUT_PRECISION else 1e-4
    return measured[1] < 6 * max(measured[0], 0.05) and max(off) < coarse, found


@pytest.mark.gpu
@needs_gpu
@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_deceives_a_naive_meter_and_not_this_one(device, name):
    attack = ATTACKS[name]
    with Runner(device._zygote, {}, seconds=600) as runner:
        runner.execute(attack.source + NAIVE, 1)
        fooled, found = deceived(device, runner, name)
        assert fooled is (name != "none_but_slow"), found
        if not attack.fails:
            decided(device, runner, attack)
            return
        with pytest.raises(Mismatch, match=attack.fails):
            decided(device, runner, attack)


tried = Exercise("tried", title="On a processor", source="-")
tried.reference(attention)


@tried.check(points=1, gpu=True)
def rows_are_right(call, rng):
    """Rows of the result on the device are right."""
    drawn = np.array([0, 5])
    timing = call.on_gpu((1, 1, 32, 8), "float32", drawn)
    agree(timing.value, rows(drawn, *timing.inputs).numpy(), rtol=1e-3, atol=1e-4)


def graded(runner, gpu):
    runner.execute(SOURCE, 1)
    with StudentCall(runner, attention, gpu=gpu) as call:
        (item,) = grade_checks(tried.functions[0], call)
    return item.status, item.score, item.note


def test_what_was_withheld_is_completed_where_there_is_one(processor, runner):
    assert graded(runner, None) == ("errored", None, "no_gpu")
    assert graded(runner, processor) == ("passed", 1, "")


def test_grading_on_a_gpu_takes_trust(course):
    with pytest.raises(CourseError, match="takes --trust-students as well"):
        grade_and_save(course, course.ids(), GradingOptions(gpu=True))


@pytest.mark.skipif(not missing(), reason="there is a GPU")
def test_where_there_is_none_nothing_is_completed(course):
    with pytest.raises(CourseError, match="no CUDA device"):
        grade_and_save(
            course,
            course.ids(),
            GradingOptions(gpu=True, waiting_for_gpu=True, trust_students=True),
        )
