"""The exercises that the samples answer; a module that the yardstick's process can load."""

import numpy as np

from autograder.exercise import Exercise, agree, grows, vectorised
from autograder.grading.checks import grade_checks
from autograder.grading.runner import Runner
from autograder.grading.student import StudentCall

D = 16


def phi(x):
    return np.where(x > 0, x + 1.0, np.exp(np.minimum(x, 0.0)))


def draw(rng, n):
    return tuple(rng.standard_normal((n, D)) for _ in range(3))


def least(n):
    return 4 * n * D * D


linear = Exercise("linear", title="Linear attention", source="-")


@linear.reference
def attention(Q, K, V):
    q, k = phi(Q), phi(K)
    return (q @ (k.T @ V)) / (q @ k.sum(0))[:, None]


def rows(i, Q, K, V):
    return attention(Q[i], K, V)


@linear.check(points=2)
def right(call, rng):
    """Equals φ(Q)(φ(K)ᵀV), row by row divided by its weights."""
    Q, K, V = draw(rng, 70)
    agree(np.asarray(call(Q, K, V), dtype=float), attention(Q, K, V), rtol=1e-5, atol=1e-6)


@linear.check(points=3, after=right)
def work(call, rng):
    """The work grows like n."""
    grows(call, lambda n: draw(rng, n), at_most=1, rows=rows, floor=least)


@linear.check(points=1, after=right)
def no_loop(call, rng):
    """There is no loop over rows."""
    vectorised(call, lambda n: draw(rng, n), rows=rows, floor=least)


@linear.misconception
def builds_the_matrix(Q, K, V):
    """You form the n × n matrix."""
    A = phi(Q) @ phi(K).T
    return (A @ V) / A.sum(-1, keepdims=True)


@linear.misconception
def loops(Q, K, V):
    """You go through the rows one by one."""
    q, k = phi(Q), phi(K)
    S, z = k.T @ V, k.sum(0)
    return np.stack([(row @ S) / (row @ z) for row in q])


causal = Exercise("causal", title="Causal linear attention", source="-")


@causal.reference
def causal_attention(Q, K, V, size=64):
    q, k = phi(Q), phi(K)
    S, z, out = np.zeros((D, D)), np.zeros(D), np.empty_like(V)
    for i in range(0, len(q), size):
        a, b, w = q[i : i + size], k[i : i + size], V[i : i + size]
        inner = np.tril(a @ b.T)
        out[i : i + size] = (a @ S + inner @ w) / (a @ z + inner.sum(-1))[:, None]
        S, z = S + b.T @ w, z + b.sum(0)
    return out


def causal_rows(i, Q, K, V):
    A = phi(Q[i]) @ phi(K).T * (np.arange(len(K)) <= i[:, None])
    return (A @ V) / A.sum(-1, keepdims=True)


@causal.check(points=3)
def causal_work(call, rng):
    """The work grows like n."""
    grows(call, lambda n: draw(rng, n), at_most=1, rows=causal_rows, floor=least)


standard = Exercise("standard", title="Softmax attention", source="-")


@standard.reference
def standard_attention(Q, K, V):
    s = Q @ K.T / np.sqrt(Q.shape[1])
    p = np.exp(s - s.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True) @ V


def standard_rows(i, Q, K, V):
    return standard_attention(Q[i], K, V)


@standard.check(points=3)
def standard_work(call, rng):
    """The work grows like n²."""
    grows(
        call,
        lambda n: draw(rng, n),
        at_most=2,
        rows=standard_rows,
        floor=lambda n: 4 * n * n * D,
        sizes=(129, 258, 1002, 2004),
    )


unlooped = Exercise("unlooped", title="Softmax attention without a loop", source="-")


@unlooped.reference
def unlooped_attention(Q, K, V):
    return standard_attention(Q, K, V)


@unlooped.check(points=2)
def unlooped_right(call, rng):
    """Equals softmax(Q Kᵀ / √d) V."""
    Q, K, V = draw(rng, 70)
    agree(call(Q, K, V), standard_attention(Q, K, V))


@unlooped.check(points=2, after=unlooped_right)
def no_loop_at_all(call, rng):
    """There is no loop over rows."""
    vectorised(call, lambda n: draw(rng, n), rows=standard_rows, floor=lambda n: 4 * n * n * D)


tiled = Exercise("tiled", title="Softmax attention in tiles", source="-")


@tiled.reference
def tiled_attention(Q, K, V, size=37):
    out = []
    for i in range(0, len(Q), size):
        top, total, mixed = np.full((len(Q[i : i + size]), 1), -np.inf), 0, 0
        for j in range(0, len(K), size):
            s = Q[i : i + size] @ K[j : j + size].T / np.sqrt(D)
            new = np.maximum(top, s.max(-1, keepdims=True))
            p, old = np.exp(s - new), np.exp(top - new)
            total, mixed = old * total + p.sum(-1, keepdims=True), old * mixed + p @ V[j : j + size]
            top = new
        out.append(mixed / total)
    return np.concatenate(out)


@tiled.check(points=2)
def tiled_right(call, rng):
    """Equals softmax(Q Kᵀ / √d) V."""
    Q, K, V = draw(rng, 70)
    agree(np.asarray(call(Q, K, V), float), standard_attention(Q, K, V), rtol=1e-4, atol=1e-5)


@tiled.check(points=3, after=tiled_right)
def memory(call, rng):
    """The memory grows like n."""
    grows(
        call,
        lambda n: draw(rng, n),
        at_most=1,
        rows=standard_rows,
        floor=lambda n: 4 * n * n * D,
        of="memory",
        sizes=(65, 130, 257, 514),
    )


tensors = Exercise("torch", title="Linear attention of tensors", source="-")


@tensors.reference
def torch_attention(Q, K, V):
    import torch

    q, k = torch.nn.functional.elu(Q) + 1, torch.nn.functional.elu(K) + 1
    return (q @ (k.T @ V)) / (q @ k.sum(0))[:, None]


def draw_tensors(rng, n):
    import torch

    return tuple(torch.from_numpy(x.astype("float32")) for x in draw(rng, n))


@tensors.check(points=3)
def torch_work(call, rng):
    """The work grows like n."""
    grows(
        call,
        lambda n: draw_tensors(rng, n),
        at_most=1,
        rows=lambda i, Q, K, V: torch_attention(Q[i], K, V),
        floor=least,
    )


FUNCTIONS = {
    "linear": linear.functions[0],
    "causal": causal.functions[0],
    "standard": standard.functions[0],
    "unlooped": unlooped.functions[0],
    "tiled": tiled.functions[0],
    "torch": tensors.functions[0],
}


def grade(sample, zygote, yardstick=None):
    """Grade a sample as part of a submission, and return its items by name."""
    function = FUNCTIONS[sample.kind]
    with Runner(zygote, {}, seconds=120.0) as runner:
        run = runner.execute(f"{sample.source}\n{function.name} = attention\n", 1)
        assert run.error is None, run.error
        call = StudentCall(runner, function.solution, yardstick)
        return {item.name: item for item in grade_checks(function, call)}
