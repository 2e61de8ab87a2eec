"""What the meter counts, and that it counts the same every time."""

import inspect

import numpy as np
import pytest

from autograder.sandbox.meters.meter import metered
from autograder.sandbox.meters.traced import Traced
from autograder.sandbox.wire.requests import CountWork


def count(function, *args, **kwargs):
    return metered(function, args, kwargs)[1]


def arrays(n, m=7, d=3):
    rng = np.random.default_rng(1)
    return rng.standard_normal((n, d)), rng.standard_normal((m, d)), rng.standard_normal((m, 5))


@pytest.mark.parametrize(
    ("product", "flops"),
    [
        (lambda Q, K, *_: Q @ K.T, 2 * 11 * 7 * 3),
        (lambda Q, K, *_: np.dot(Q, K.T), 2 * 11 * 7 * 3),
        (lambda Q, K, *_: Q.dot(K.T), 2 * 11 * 7 * 3),
        (lambda Q, K, *_: np.inner(Q, K), 2 * 11 * 7 * 3),
        (lambda Q, K, *_: np.tensordot(Q, K, axes=(1, 1)), 2 * 11 * 7 * 3),
        (lambda Q, K, *_: np.einsum("nd,md->nm", Q, K), 2 * 11 * 7 * 3),
        (lambda Q, K, *_: np.einsum(Q, [0, 2], K, [1, 2], [0, 1]), 2 * 11 * 7 * 3),
        (lambda Q, K, *_: np.einsum("...d,md->...m", Q, K), 2 * 11 * 7 * 3),
        (lambda Q, K, *_: np.einsum("...d,md->...m", Q, K, optimize=True), 2 * 11 * 7 * 3),
        (lambda Q, *_: np.einsum("...j,...j", Q, Q, optimize=True), 2 * 11 * 3),
        (lambda Q, K, V: np.einsum("nd,md,me->ne", Q, K, V), 3 * 11 * 7 * 3 * 5),
        (
            lambda Q, K, V: np.einsum("nd,md,me->ne", Q, K, V, optimize=True),
            2 * 7 * 3 * 5 + 2 * 11 * 3 * 5,
        ),
        (lambda Q, *_: np.exp(Q), 11 * 3),
        (lambda Q, *_: Q.sum(), 11 * 3),
        (lambda Q, K, *_: np.add.outer(Q[:, 0], K[:, 0]), 11 * 7),
    ],
)
def test_products_count_as_their_formula_says(product, flops):
    assert count(product, *arrays(11))["flops"] == flops


def test_an_array_that_only_a_constructor_makes_is_seen():
    def buffer(Q, K, V):
        out = np.zeros((len(Q), len(K)))
        out[0, 0] = 1.0
        return out

    found = count(buffer, *arrays(11))
    assert found["largest"] == 77
    assert (11, 7) in found["shapes"]


@pytest.mark.parametrize(
    "made",
    [
        lambda n: np.array(list(range(n))),
        lambda n: np.r_[0:n],
        lambda n: np.ogrid[0:n],
        lambda n: np.mgrid[0:n, 0:1],
        lambda n: np.indices((n,)),
        lambda n: np.indices((n, 1), sparse=True)[0],
        lambda n: np.fromfunction(lambda i: i, (n,)),
        lambda n: np.stack([range(n), range(n)]),
        lambda n: np.logspace(0, 1, n),
    ],
)
def test_what_is_computed_from_no_array_is_counted(made):
    def angles(n):
        return np.sin(made(n))

    few, many = count(angles, 100), count(angles, 200)
    assert few["flops"] >= 100 <= few["largest"]
    assert many["flops"] >= 200
    assert few["operations"] == many["operations"]
    assert type(metered(made, (5,), {})[0]) is np.ndarray


def test_what_fromfunction_calls_is_counted():
    found = count(lambda n: np.fromfunction(lambda i, j: np.exp(i - j), (n, n)), 9)
    assert found["flops"] >= 2 * 81


@pytest.mark.parametrize(
    "copy", [lambda x: x.astype("f4"), lambda x: x[[0, 0, 1]], lambda x: np.repeat(x, 3, axis=0)]
)
def test_copies_are_seen(copy):
    assert count(copy, np.ones((4, 5)))["largest"] >= 15


def test_views_are_none():
    assert count(lambda x: x.T.reshape(2, 2, 5)[0], np.ones((4, 5)).T)["largest"] <= 20
    assert count(lambda x: np.broadcast_to(x, (1000, 4)), np.ones(4))["largest"] < 1000


def test_memory_is_what_lives_at_once():
    def one_by_one(x):
        for _ in range(10):
            y = x + 1.0
            del y

    def together(x):
        return [x + 1.0 for _ in range(10)]

    x = np.ones(100_000)
    assert 0.8e6 < count(one_by_one, x)["peak"] < 0.9e6
    assert 8.0e6 < count(together, x)["peak"] < 8.1e6


def test_steps_grow_with_loops_and_with_nothing_else():
    def loop(x):
        total = 0.0
        for entry in x:
            total += entry
        return total

    def within(x):
        return sum([2 * entry for entry in x])

    def none(x):
        return x.sum()

    few, many = np.ones(100), np.ones(1000)
    assert count(none, few)["steps"] == count(none, many)["steps"]
    for looping in (loop, within, lambda x: np.vectorize(lambda entry: 2 * entry)(x)):
        assert count(looping, many)["steps"] > 5 * count(looping, few)["steps"]


def attention(Q, K, V):
    weights = np.exp(Q @ K.T)
    return np.stack([row @ V / row.sum() for row in weights])


def assert_same(found):
    # The memory includes Python's small objects; of these a few are kept from what came before.
    for counts in found:
        assert counts | {"peak": 0} == found[0] | {"peak": 0}
        assert counts["peak"] == pytest.approx(found[0]["peak"], abs=1000)


def test_the_same_call_has_the_same_counts():
    count(attention, *arrays(20))
    assert_same([count(attention, *arrays(20)) for _ in range(3)])


@pytest.mark.sandbox
def test_and_so_it_has_in_another_process(zygote):
    found = []
    for _ in range(3):
        with zygote.session() as session:
            session.execute("import numpy as np\n" + inspect.getsource(attention))
            found.append(session.ask("attention", CountWork(arrays(40), {})).work)
    assert_same(found)


def test_the_value_is_ordinary_and_so_are_the_arguments():
    x = np.ones(3)

    def change(x):
        x += 1
        return {"a": (x, [np.zeros(2)])}

    value, _ = metered(change, (x,), {})
    assert type(value["a"][0]) is np.ndarray
    assert type(value["a"][1][0]) is np.ndarray
    assert x.tolist() == [1, 1, 1]
    assert type(np.zeros(1)) is np.ndarray


def test_nothing_is_left_behind_by_an_exception():
    import sys
    import tracemalloc

    usual, zeros = sys.gettrace(), np.zeros
    with pytest.raises(ZeroDivisionError):
        metered(lambda: 1 / 0, (), {})
    assert (sys.gettrace(), np.zeros, tracemalloc.is_tracing()) == (usual, zeros, False)


def test_traced_arrays_behave_as_arrays():
    x = np.arange(6.0).reshape(2, 3).view(Traced)
    assert np.linalg.norm(x) == np.linalg.norm(np.asarray(x))
    assert isinstance(np.where(x > 1, x, 0.0), Traced)
    assert isinstance(np.concatenate([x, np.ones((1, 3))]), Traced)
    q, r = np.linalg.qr(x)
    assert np.allclose(q @ r, x)
    x[x > 2] = 0
    x -= x.max()
    assert float(x.sum()) == float(np.asarray(x).sum())
