"""What the meter counts of torch's operations."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from autograder.grading.interview import Interview  # noqa: E402 -- needs torch
from autograder.sandbox.meters import torchmeter  # noqa: E402 -- needs torch
from autograder.sandbox.meters.meter import metered  # noqa: E402

N, M, D = 24, 40, 8


def count(function, *args):
    return metered(function, args, {}, torchmeter)[1]


def tensors(n=N):
    torch.manual_seed(0)
    return torch.randn(1, 2, n, D), torch.randn(1, 2, M, D), torch.randn(1, 2, M, D)


def softmax(Q, K, V):
    return torch.softmax(Q @ K.transpose(-1, -2), -1) @ V


@pytest.mark.parametrize(
    "product",
    [
        lambda Q, K, _: Q @ K.transpose(-1, -2),
        lambda Q, K, _: torch.einsum("bhnd,bhmd->bhnm", Q, K),
        lambda Q, K, _: torch.matmul(Q, K.mT),
    ],
)
def test_products_count_as_their_formula_says(product):
    assert count(product, *tensors())["flops"] == 2 * 2 * N * M * D


def test_products_by_broadcasting_count_as_well():
    found = count(lambda Q, K, _: (Q[..., None, :] * K[..., None, :, :]).sum(-1), *tensors())
    assert found["flops"] == 2 * 2 * N * M * D
    assert found["largest"] == 2 * N * M * D


def test_the_fused_kernel_counts_on_a_processor_too():
    sdpa = torch.nn.functional.scaled_dot_product_attention
    found = count(sdpa, *tensors())
    assert found["flops"] == 4 * 2 * N * M * D
    assert found["largest"] < 2 * N * M  # it never makes the weights


def test_memory_is_what_lives_at_once():
    def one_by_one(x):
        for _ in range(5):
            y = x + 1
            del y

    def together(x):
        return [x + 1 for _ in range(5)]

    x = torch.ones(100_000)
    count(one_by_one, x)  # the first call of all makes Python objects as well
    assert 0.4e6 <= count(one_by_one, x)["peak"] < 0.45e6
    assert 2.0e6 <= count(together, x)["peak"] < 2.05e6


def test_the_same_call_has_the_same_counts():
    first = count(softmax, *tensors(2000))
    assert all(count(softmax, *tensors(2000)) == first for _ in range(3))


@pytest.mark.slow
def test_large_sizes_are_counted_without_numbers():
    def linear(Q, K, V):
        q, k = torch.nn.functional.elu(Q) + 1, torch.nn.functional.elu(K) + 1
        return (q @ (k.mT @ V)) / (q @ k.sum(-2)[..., None])

    shape, n = (1, 8, 65536, 64), 65536
    found = Interview(linear).outline(shape, shape, shape)
    assert found.flops == pytest.approx(4 * 8 * n * 64 * 64, rel=0.1)
    assert found.largest == 8 * n * 64
    found = Interview(softmax).outline(shape, shape, shape, dtype="bfloat16")
    assert found.largest == 8 * n * n
    assert found.peak >= 2 * 2 * 8 * n * n
    sdpa = torch.nn.functional.scaled_dot_product_attention
    assert Interview(sdpa).outline(shape, shape, shape).largest <= 8 * n * 64


def test_views_are_no_work():
    found = count(lambda Q, *_: Q.transpose(-1, -2).reshape(2, D, N)[0].T, *tensors())
    assert (found["flops"], found["largest"]) == (0, 0)


CACHES = """
class OfArrays:
    def __init__(self, n):
        self.rows = np.ones((n, 64))

    def step(self, x):
        self.rows = np.concatenate([self.rows, x])
        return x @ x.T


class OfTensors:
    def __init__(self, n):
        self.rows = torch.ones(n, 64, dtype=torch.float64)

    def step(self, x):
        x = torch.as_tensor(x)
        self.rows = torch.cat([self.rows, x])
        return x @ x.T


class OfABuffer:
    def __init__(self, n):
        self.buffer, self.rows = torch.ones(2 * n, 64, dtype=torch.float64), n

    def step(self, x):
        x = torch.as_tensor(x)
        self.buffer[self.rows] = x[0]
        self.rows += 1
        return x @ x.T + 0 * self.buffer[: self.rows].sum()
"""


@pytest.mark.parametrize(("kind", "arrays"), [("OfArrays", 1), ("OfTensors", 1), ("OfABuffer", 2)])
def test_copying_an_object_is_none_of_its_methods_work(kind, arrays):
    names = {"np": np, "torch": torch}
    exec(CACHES, names)
    call = Interview(names[kind])
    few, many = (call.make(n).step.work(np.ones((1, 64))) for n in (1000, 4000))
    assert many.flops < 1.1 * 4000 * 64  # its rows are gone through once, and copied nowhere
    holds = arrays * 8 * 64 * 3000
    made = holds if kind != "OfABuffer" else 0  # what is held, and once more what is made of it
    assert many.peak - few.peak == pytest.approx(holds + made, rel=0.05)
    assert (4000, 64) not in many.shapes


def test_the_meters_own_objects_are_nobodys_memory():
    def many_small(x):
        return [x[i] + 1 for i in range(2000)]

    found = count(many_small, torch.zeros(2000, 2))
    plain = metered(lambda x: [x[i] + 1 for i in range(2000)], (np.zeros((2000, 2)),), {})[1]
    assert found["peak"] < 5 * plain["peak"]
