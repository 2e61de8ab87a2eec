"""a14, tokens and bits: what ships with it, and the numbers that its text and exercises name."""

import hashlib
import importlib.util
from functools import cache

import numpy as np
import pytest

from autograder.exercise.dependencies import solve
from autograder.exercise.loading import load_module

from ..loaded import ROOT, assigned

ID = "a14_text"
DATA = ROOT / "assignments" / ID / "data"
LESSON = " ".join((ROOT / "assignments" / ID / f"{ID}.py").read_text().replace("\n# ", " ").split())
_spec = importlib.util.spec_from_file_location("course_text", ROOT / "bench" / "course_text.py")
course_text = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(course_text)
POINTS = {"bpe_hand": [1.5, 2, 1, 1, 1, 0.5, 1]}


@cache
def module(name):
    return load_module(ROOT / "reference" / ID / f"{name}.py")


def test_points_and_their_order():
    loaded = assigned(ID)
    assert [id for id in loaded.sound if id in POINTS] == list(POINTS)
    for id, each in POINTS.items():
        assert loaded.sound[id].points == sum(each), id


class TestWhatShips:
    text = (DATA / "course.txt").read_bytes()
    merges = np.load(DATA / "merges.npy")

    @pytest.mark.parametrize(
        ("name", "recorded"),
        [("course.txt", course_text.TEXT), ("merges.npy", course_text.MERGES)],
    )
    def test_the_files_are_frozen(self, name, recorded):
        """Whoever freezes them anew measures anew what the notebook says of them."""
        assert hashlib.sha256((DATA / name).read_bytes()).hexdigest() == recorded

    def test_it_has_as_many_words_as_the_notebook_says(self):
        assert f"{len(self.text.decode().split()):,} words" in LESSON

    def test_the_first_merges_are_those_that_are_found(self):
        """All 744 of them: `python bench/course_text.py`."""
        found = course_text.merges(self.text, 256 + 12)
        np.testing.assert_array_equal(found, self.merges[:12])

    def test_a_token_of_two_words_is_the_one_that_the_notebook_names(self):
        spelt = [bytes([i]) for i in range(256)]
        for one, two in self.merges:
            spelt.append(spelt[one] + spelt[two])
        number = spelt.index(b"of the ") - 255
        assert f"`of the ` is the {number}th merge" in LESSON


class TestMergesByHand:
    def test_the_worked_example(self):
        m = module("bpe_hand")
        ids = [0, 1, 0, 1, 1, 0, 0, 1]
        assert m.counts(ids) == {(0, 1): 3, (1, 0): 2, (1, 1): 1, (0, 0): 1}
        row = m.merged(ids, (0, 1), 2)
        assert row == [2, 2, 1, 0, 2]
        assert set(m.counts(row).values()) == {1}
        assert m.merged([1, 0, 1, 0], (0, 1), 2) == [1, 2, 0]

    def test_a_text_merged_with_a_pencil(self):
        text = np.array([0, 0, 0, 1, 0, 0, 1, 2, 0, 0, 1, 1, 2, 0, 0, 0, 2, 1])
        found = solve(module("bpe_hand").exercise, {"text": text, "other": text[:10], "run": 11})
        assert found["pair_counts"].tolist() == [[6, 3, 1], [1, 1, 2], [2, 1, 0]]
        assert found["merges"].tolist() == [[0, 0], [1, 2], [3, 0]]
        # 3 0 1 3 1 2 3 1 1 2 3 0 2 1; 3 0 1 3 4 3 1 4 3 0 2 1; 5 1 3 4 3 1 4 5 2 1
        assert list(found["lengths"]) == [18, 14, 12, 10]
        assert list(found["token_counts"]) == [0, 3, 1, 2, 2, 2]
        assert list(found["other_encoded"]) == [5, 1, 3, 4, 3, -1, -1, -1, -1, -1]
        assert list(found["of_the_run"]) == [10, 6, 4]
