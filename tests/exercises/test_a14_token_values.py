"""a14, tokens and bits: what ships with it, and the numbers that its text and exercises name."""

import hashlib
import importlib.util
from functools import cache

import numpy as np
import pytest

from autograder.exercise.words.dependencies import solve
from autograder.exercise.words.loading import load_module

from ..loaded import ROOT, assigned

ID = "a14_text"
DATA = ROOT / "assignments" / ID / "data"
LESSON = " ".join((ROOT / "assignments" / ID / f"{ID}.py").read_text().replace("\n# ", " ").split())
_spec = importlib.util.spec_from_file_location("course_text", ROOT / "bench" / "course_text.py")
course_text = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(course_text)
POINTS = {
    "bpe_hand": [1.5, 2, 1, 1, 1, 0.5, 1],
    "bpe_code": [3.5, 2.5, 1.5, 0.5],
    "tokens_cost": [1, 1, 1.5, 0.75, 1, 0.5, 0.25, 0.5, 0.5],
    "bits_per_byte": [0.5, 1, 0.75, 0.5, 0.5, 1, 1.75, 1],
}


@cache
def module(name):
    return load_module(ROOT / "reference" / ID / f"{name}.py")


@cache
def lengths():
    """How many tokens the text of the course has, with every vocabulary from 256 to 1000."""
    ids = np.frombuffer((DATA / "course.txt").read_bytes(), np.uint8).astype(int)
    found = {256: len(ids)}
    for new, (one, two) in enumerate(np.load(DATA / "merges.npy").astype(int), 256):
        ids = course_text.merged(ids, one, two, new)
        found[new + 1] = len(ids)
    return found


def at(formula, **values):
    """The value of a formula."""
    return float(formula.subs({s: values[s.name] for s in formula.free_symbols}))


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


class TestATokeniser:
    def test_it_finds_what_is_found_by_hand(self):
        rng, by_hand, code = np.random.default_rng(5), module("bpe_hand"), module("bpe_code")
        for _ in range(5):
            numbers = by_hand.draw(rng)
            found = solve(by_hand.exercise, numbers)
            merges = code.train(numbers["text"], 3, 3)
            np.testing.assert_array_equal(merges, found["merges"])
            other = code.encode(numbers["other"], merges, 3)
            np.testing.assert_array_equal(other, found["other_encoded"][: len(other)])
            np.testing.assert_array_equal(code.decode(other, merges, 3), numbers["other"])

    @pytest.mark.parametrize("text", [b"", b"a", bytes(range(256)), b"\xff\xfe\xff\xfe", b"aaaaa"])
    def test_there_and_back_for_every_text(self, text):
        code, merges = module("bpe_code"), np.load(DATA / "merges.npy")
        x = np.frombuffer(text, np.uint8)
        assert bytes(code.decode(code.encode(x, merges), merges).tolist()) == text

    def test_a_sign_of_three_bytes(self):
        assert list("√2".encode()) == [226, 136, 154, 50]
        assert "is 226, 136, 154, 50, since" in LESSON

    def test_the_tokens_that_the_notebook_names(self):
        spelt = [bytes([i]) for i in range(256)]
        for one, two in np.load(DATA / "merges.npy"):
            spelt.append(spelt[one] + spelt[two])
        assert {b"attention ", b"softmax ", b"the first "} <= set(spelt)
        assert f"are {lengths()[1000]:,} tokens" in LESSON


class TestWhatAVocabularyCosts:
    def test_the_table_is_that_of_the_text(self):
        m = module("tokens_cost")
        assert [lengths()[V] for V in m.SIZES.tolist()] == m.TOKENS.tolist()
        assert " | ".join(f"{n:,}" for n in m.TOKENS) in LESSON
        saved = lengths()[256] - lengths()[257], lengths()[999] - lengths()[1000]
        assert f"takes away {saved[0]:,} tokens, the 744th {saved[1]}" in LESSON

    def test_the_worked_example(self):
        share = 2 * 256 * 10 / (2 * 256 * 10 + 12 * 100)
        assert share == pytest.approx(0.8101, abs=5e-5)
        numbers = {"L": 1, "d": 10, "window": 64}
        found = solve(module("tokens_cost").exercise, numbers)
        assert found["share"][0] == pytest.approx(share)
        assert found["madds_per_byte"][0] == 3760

    def test_a_merge_at_so_many_places_changes_nothing(self):
        L, d, V, n = 3, 20, 400, 9000
        found = solve(module("tokens_cost").exercise, {"L": L, "d": d, "window": 64})
        m = at(found["places"], n=n, V=V, L=L, d=d)
        before = n * (12 * L * d * d + V * d)
        after = (n - m) * (12 * L * d * d + (V + 1) * d)
        assert after == pytest.approx(before, rel=1e-12)

    def test_the_best_vocabulary_lies_between_for_every_model(self):
        m = module("tokens_cost")
        best = {int(solve(m.exercise, {"L": L, "d": d, "window": 64})["best"]) for L, d in m.MODELS}
        assert len(best) >= 3
        assert best.isdisjoint({256, 1000})

    def test_what_is_said_of_llama(self):
        formula = solve(module("tokens_cost").exercise, {"L": 2, "d": 16, "window": 64})["places"]
        assert "1{,}604{,}865" not in LESSON  # the answer to `places`, numbers put in
        assert 1 / at(formula, n=1, V=32000, L=32, d=4096) == pytest.approx(1_604_865)
        for V, size, said in ((32000, 6_738_415_616, 0.039), (128256, 8_030_261_248, 0.13)):
            assert abs(2 * V * 4096 / size - said) < 2e-3


class TestBitsPerByte:
    def test_the_worked_examples(self):
        m = module("bits_per_byte")
        assert 2.5 * 400 / 1000 / np.log(2) == pytest.approx(1.443, abs=5e-4)
        assert np.exp(2.5) == pytest.approx(12.18, abs=5e-3)
        P = m.smoothed(m.table(np.array([0, 0, 1, 0]), 2), 1)
        np.testing.assert_allclose(P, [[1 / 2, 1 / 2], [2 / 3, 1 / 3]])

    def test_two_models_of_one_text(self):
        numbers = {"size": 1000, "tokens": np.array([400, 1000]), "nats": np.array([2.5, 1.0])}
        texts = {"train": np.array([0, 0, 1, 0, 2, 0]), "test": np.array([0, 1, 0, 0, 2, 1])}
        found = solve(module("bits_per_byte").exercise, numbers | texts)
        np.testing.assert_allclose(found["bits"], [1.442695, 1.442695], rtol=1e-6)
        np.testing.assert_allclose(found["perplexity"], [12.182494, 2.718282], rtol=1e-6)
        np.testing.assert_allclose(
            found["after_each"], np.array([[2, 2, 2], [2, 1, 1], [2, 1, 1]]) / [[6], [4], [4]]
        )
        # unigram 5/9, 2/9, 2/9; behind 0, 1, 0, 0, 2 stand 1, 0, 0, 2, 1
        unigram = -np.log2([2 / 9, 5 / 9, 5 / 9, 2 / 9, 2 / 9]).mean()
        bigram = -np.log2([1 / 3, 1 / 2, 1 / 3, 1 / 3, 1 / 4]).mean()
        np.testing.assert_allclose(found["test_bits"], [unigram, bigram])
        assert at(found["from_perplexity"], P=12.182494, r=2.5) == pytest.approx(1.442695)

    def test_the_course_by_counts(self):
        m = module("bits_per_byte")
        numbers = m.draw(np.random.default_rng(1))
        found = solve(m.exercise, numbers)
        np.testing.assert_allclose(
            found["course_bits"], [4.1992484, 3.8512805, 3.7920161], rtol=1e-6
        )
        x = np.frombuffer((DATA / "course.txt").read_bytes(), np.uint8)
        counts = np.bincount(x[:300_000], minlength=256) + 1
        alone = -np.log2(counts / counts.sum())[x[300_000:]].mean()
        assert f"needs {alone:.3f} of them" in LESSON
        assert found["course_bits"][1] < alone - 1

    def test_perplexities_mislead_in_every_draw(self):
        m, rng = module("bits_per_byte"), np.random.default_rng(2)
        for _ in range(20):
            found = solve(m.exercise, m.draw(rng))
            assert found["perplexity"][0] > 2 * found["perplexity"][1] or (
                found["perplexity"][1] > 2 * found["perplexity"][0]
            )
            assert max(found["bits"]) / min(found["bits"]) < 1.25
