"""What was worked out of exercises is worked out no second time until something changes."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

from autograder.course.digests import libraries_digest
from autograder.course.proofs import verify as verifying
from autograder.course.proofs.verify import verify
from autograder.course.release import build as building
from autograder.course.release.build import build
from autograder.course.release.kept import Kept


@pytest.fixture
def worked_out(monkeypatch):
    """The exercises that were worked out, one by one."""
    found, right = [], building.record
    monkeypatch.setattr(
        building,
        "record",
        lambda exercise, *rest: found.append(exercise.id) or right(exercise, *rest),
    )
    return found


def test_only_what_has_changed_is_worked_out_and_comes_out_as_if_all_were(mini, worked_out):
    build(mini())
    assert worked_out == ["by_hand", "norm"]
    changed = {"norm": [("The length of a vector", "How long a vector is")]}
    kept = build(assignment := mini(**changed))
    assert worked_out == ["by_hand", "norm", "norm"]
    shutil.rmtree(assignment.course.root / "records")
    assert build(mini(**changed)) == kept
    assert b"How long a vector is" in kept["check.json"]


@pytest.mark.parametrize(
    ("file", "again"),
    [
        ("reference/helpers.py", ["by_hand", "norm"]),
        ("assignments/a01_mini/data/words.txt", ["by_hand", "norm"]),
        ("reference/a01_mini/_notes.py", []),
    ],
)
def test_helpers_and_data_are_of_all_exercises(mini, worked_out, file, again):
    path = mini().course.root / file
    build(mini())
    worked_out.clear()
    path.parent.mkdir(exist_ok=True)
    path.write_text("")
    build(mini())
    assert worked_out == again


def test_another_engine_or_library_works_out_all_anew(mini, worked_out, monkeypatch):
    for number in (1, 2):
        monkeypatch.setattr(
            "autograder.course.release.kept._computing", lambda number=number: bytes([number])
        )
        build(mini())
    assert worked_out == 2 * ["by_hand", "norm"]


@pytest.mark.parametrize("name", ["OPENBLAS_CORETYPE", "ATEN_CPU_CAPABILITY", "OMP_NUM_THREADS"])
def test_a_library_that_computes_otherwise_is_another_one(monkeypatch, name):
    before = libraries_digest()
    assert libraries_digest() == before
    monkeypatch.setenv(name, "7")
    assert libraries_digest() != before


def test_another_processor_rounds_otherwise(monkeypatch):
    before, exponential = libraries_digest(), np.exp
    monkeypatch.setattr(np, "exp", lambda x: np.nextafter(exponential(x), np.inf, dtype=x.dtype))
    assert libraries_digest() != before


@pytest.mark.parametrize("broken", ["", "[", '{"norm release": 1}', '{"norm release": ["", {}]}'])
def test_a_broken_file_is_written_anew(mini, broken):
    right = build(assignment := mini())
    (path,) = (assignment.course.root / "records").glob(".*")
    path.write_text(broken)
    assert build(mini()) == right
    assert json.loads(path.read_bytes()).keys() == {"norm release", "by_hand release"}


def test_two_that_work_at_the_same_time_lose_nothing(mini):
    assignment = mini()
    one, other = assignment.sound.values()
    with Kept(assignment) as first, Kept(assignment) as second:
        first.put(one, "a", 1)
        second.put(other, "a", 2)
    kept = Kept(assignment)
    assert [kept.get(one, "a"), kept.get(other, "a"), kept.get(one, "b")] == [1, 2, None]


def test_where_nothing_can_be_written_it_is_built_all_the_same(mini, worked_out):
    assignment = mini()
    (assignment.course.root / "records").write_text("no folder")
    assert build(assignment) == build(assignment)
    assert worked_out == 2 * ["by_hand", "norm"]


class TestProofs:
    """Of the two exercises `by_hand` is proved, and `norm` has a check that nothing fails."""

    def before(self, assignment, **asked):
        return [proof.before for proof in verify(assignment, **{"anew": False, **asked})]

    def test_what_is_proved_is_left_out_until_its_assignment_changes(self, mini):
        assert self.before(mini()) == [False, False]
        first, again = verify(mini()), verify(mini(), anew=False)
        assert [bool(proof.problems) for proof in again] == [False, True]
        assert [proof.before for proof in again] == [True, False]
        assert [replace(proof, before=False) for proof in again] == first
        assert self.before(mini(), anew=True) == [False, False]
        assert self.before(mini(), secret="s") == [False, False]
        assert self.before(mini()) == [False, False]  # the other secret's stand there now
        text = [("# A small assignment", "# Another small assignment")]
        assert self.before(mini(a01_mini=text)) == [False, False]
        assert self.before(mini(norm=[("a vector", "vectors")])) == [False, False]

    def test_one_by_one_nothing_is_kept(self, mini):
        verify(mini(), ["by_hand"])
        assert self.before(mini()) == [False, False]

    def test_what_an_exercise_shows_by_itself_lasts_while_others_change(self, mini, monkeypatch):
        tried, right = [], verifying._examine
        monkeypatch.setattr(
            verifying,
            "_examine",
            lambda exercise, *rest: tried.append(exercise.id) or right(exercise, *rest),
        )
        verify(mini())
        assert tried == ["by_hand", "norm"]
        tried.clear()
        self.before(mini(norm=[("a vector", "vectors")]))
        assert tried == ["norm"]  # which has a problem, too: those are never kept
        tried.clear()
        no_stub = [("doubled = None", "other = None")]
        first, _ = verify(mini(a01_mini=no_stub), anew=False)
        assert tried == ["norm"]
        assert first == verify(mini(a01_mini=no_stub))[0]
        assert "does not define `doubled`" in str(first.problems)
        tried.clear()
        self.before(mini(), secret="s")
        assert tried == ["by_hand", "norm"]
