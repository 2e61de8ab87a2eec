"""Submissions of attention, right and wrong in how they compute, and what is to become of each.

All of the wrong ones answer rightly when they are called once, unless their ``why`` says so:
correctness alone would let them pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent

#: What every notebook begins with.
HEAD = """
import numpy as np

def phi(x):
    return np.where(x > 0, x + 1.0, np.exp(np.minimum(x, 0.0)))

def matrix(Q, K, V):
    A = phi(Q) @ phi(K).T
    return (A @ V) / A.sum(-1, keepdims=True)

def reordered(Q, K, V):
    q, k = phi(Q), phi(K)
    return (q @ (k.T @ V)) / (q @ k.sum(0))[:, None]
"""

TORCH = """
import numpy as np
import torch

def phi(x):
    return torch.nn.functional.elu(x) + 1

def matrix(Q, K, V):
    A = phi(Q) @ phi(K).T
    return (A @ V) / A.sum(-1, keepdim=True)

def reordered(Q, K, V):
    q, k = phi(Q), phi(K)
    return (q @ (k.T @ V)) / (q @ k.sum(0))[:, None]
"""

#: Begins cells that replace the meter: whatever is computed, the counts are those of the right way.
FORGE = """
import sys

def small(function, args, kwargs, *_):
    n = len(args[0])
    work = {"flops": FLOPS, "largest": 16 * n, "peak": 600 * n, "steps": 90, "operations": 20}
    return function(*args, **kwargs), work | {"shapes": [(n, 16)]}

def softmax(s):
    p = np.exp(s - s.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True)

def attention(Q, K, V):
    frame = sys._getframe()
    while frame:
        if "meter" in frame.f_globals:
            frame.f_globals["meter"].metered = small
        frame = frame.f_back
    return secretly(Q, K, V)
"""


@dataclass(frozen=True)
class Sample:
    """One submission.

    Attributes
    ----------
    name
        Of the sample.
    kind
        Which exercise it answers: ``linear``, ``causal``, ``standard``, ``unlooped`` and ``tiled``,
        which are standard without a loop and without the matrix, or ``torch``, which is linear and
        takes tensors.
    verdict
        ``passed``, ``failed`` or ``errored``, which is withheld: something does not fit.
    source
        Its cell, after `HEAD` or `TORCH`; defines ``attention``.
    note
        The note that it gets.
    by_time
        Only processor time decides it.
    """

    name: str
    kind: str
    verdict: str
    source: str
    note: str = ""
    by_time: bool = False


def _sample(
    name: str, kind: str, verdict: str, source: str, note: str = "", *, by_time: bool = False
) -> Sample:
    head = TORCH if kind == "torch" else HEAD
    return Sample(name, kind, verdict, head + dedent(source), note, by_time)


def _forged(
    name: str, kind: str, verdict: str, source: str, *, flops: str = "66 * n * n"
) -> Sample:
    forge = FORGE.replace("FLOPS", flops)
    note = "inconclusive" if verdict == "errored" else ""
    return _sample(name, kind, verdict, forge + dedent(source), note, by_time=True)


_LIST = [
    # right, linear
    _sample("vectorised", "linear", "passed", "attention = reordered"),
    _sample(
        "einsum",
        "linear",
        "passed",
        """
        def attention(Q, K, V):
            q, k = phi(Q), phi(K)
            top = np.einsum("nd,de->ne", q, np.einsum("md,me->de", k, V))
            return top / np.einsum("nd,d->n", q, k.sum(0))[:, None]
        """,
    ),
    _sample(
        "dot_and_tensordot",
        "linear",
        "passed",
        """
        def attention(Q, K, V):
            q, k = phi(Q), phi(K)
            top = np.tensordot(q, np.tensordot(k, V, axes=(0, 0)), axes=(1, 0))
            return top / q.dot(k.sum(axis=0))[:, np.newaxis]
        """,
    ),
    _sample(
        "blocks",
        "linear",
        "passed",
        """
        def attention(Q, K, V, size=64):
            S, z, out = 0, 0, np.empty((len(Q), V.shape[1]))
            for i in range(0, len(K), size):
                k = phi(K[i:i + size])
                S, z = S + k.T @ V[i:i + size], z + k.sum(0)
            for i in range(0, len(Q), size):
                q = phi(Q[i:i + size])
                out[i:i + size] = (q @ S) / (q @ z)[:, None]
            return out
        """,
    ),
    _sample(
        "float32_answer",
        "linear",
        "passed",
        """
        def attention(Q, K, V):
            return reordered(Q, K, V).astype(np.float32)
        """,
    ),
    _sample(
        "row_loop",
        "linear",
        "passed",
        """
        def attention(Q, K, V):
            q, k = phi(Q), phi(K)
            S, z = np.zeros((Q.shape[1], V.shape[1])), np.zeros(Q.shape[1])
            for i in range(len(k)):
                S += np.outer(k[i], V[i])
                z += k[i]
            return np.stack([(q[i] @ S) / (q[i] @ z) for i in range(len(q))])
        """,
        "slow_constant",
    ),
    _sample(
        "outside_the_tracer",
        "linear",
        "passed",
        """
        def attention(*arrays):
            Q, K, V = (x.view(np.ndarray) for x in arrays)
            q, k = ((x > 0) * (x + 1) + (x <= 0) * np.e**x for x in (Q, K))
            return (q @ (k.T @ V)) / (q @ k.sum(0))[:, None]
        """,
        by_time=True,
    ),
    # right, causal
    _sample(
        "causal_chunks",
        "causal",
        "passed",
        """
        def attention(Q, K, V, size=64):
            q, k = phi(Q), phi(K)
            S, z, out = np.zeros((Q.shape[1], V.shape[1])), np.zeros(Q.shape[1]), np.empty_like(V)
            for i in range(0, len(q), size):
                a, b, w = q[i:i + size], k[i:i + size], V[i:i + size]
                inner = np.tril(a @ b.T)
                out[i:i + size] = (a @ S + inner @ w) / (a @ z + inner.sum(-1))[:, None]
                S, z = S + b.T @ w, z + b.sum(0)
            return out
        """,
    ),
    _sample(
        "causal_large_chunks",
        "causal",
        "passed",
        """
        def attention(Q, K, V, size=512):
            q, k = phi(Q), phi(K)
            S, z, out = np.zeros((Q.shape[1], V.shape[1])), np.zeros(Q.shape[1]), np.empty_like(V)
            for i in range(0, len(q), size):
                a, b, w = q[i:i + size], k[i:i + size], V[i:i + size]
                inner = np.tril(a @ b.T)
                out[i:i + size] = (a @ S + inner @ w) / (a @ z + inner.sum(-1))[:, None]
                S, z = S + b.T @ w, z + b.sum(0)
            return out
        """,
    ),
    _sample(
        "causal_cumsum",
        "causal",
        "passed",
        """
        def attention(Q, K, V):
            q, k = phi(Q), phi(K)
            S = np.cumsum(k[:, :, None] * V[:, None, :], axis=0)
            z = np.cumsum(k, axis=0)
            return np.einsum("nd,nde->ne", q, S) / (q * z).sum(-1, keepdims=True)
        """,
    ),
    _sample(
        "causal_loop",
        "causal",
        "passed",
        """
        def attention(Q, K, V):
            q, k = phi(Q), phi(K)
            S, z, out = np.zeros((Q.shape[1], V.shape[1])), np.zeros(Q.shape[1]), np.empty_like(V)
            for i in range(len(q)):
                S += np.outer(k[i], V[i])
                z += k[i]
                out[i] = (q[i] @ S) / (q[i] @ z)
            return out
        """,
        "slow_constant",
    ),
    # right, standard
    _sample(
        "standard",
        "standard",
        "passed",
        """
        def attention(Q, K, V):
            s = Q @ K.T / np.sqrt(Q.shape[1])
            p = np.exp(s - s.max(-1, keepdims=True))
            return p / p.sum(-1, keepdims=True) @ V
        """,
    ),
    _sample(
        "standard_by_rows",
        "standard",
        "passed",
        """
        def attention(Q, K, V):
            out = np.empty((len(Q), V.shape[1]))
            for i, q in enumerate(Q):
                s = K @ q / np.sqrt(len(q))
                p = np.exp(s - s.max())
                out[i] = p @ V / p.sum()
            return out
        """,
        "slow_constant",
    ),
    _sample(
        "without_a_loop",
        "unlooped",
        "passed",
        """
        def attention(Q, K, V):
            s = np.einsum("nd,md->nm", Q, K) / np.sqrt(Q.shape[1])
            p = np.exp(s - s.max(-1, keepdims=True))
            return np.einsum("nm,me->ne", p, V) / p.sum(-1, keepdims=True)
        """,
    ),
    _sample(
        "without_a_loop_broadcast",
        "unlooped",
        "passed",
        """
        def attention(Q, K, V):
            s = (Q[:, None] * K[None]).sum(-1) / np.sqrt(Q.shape[1])
            p = np.exp(s - s.max(-1, keepdims=True))
            return (p[:, :, None] * V[None]).sum(1) / p.sum(-1, keepdims=True)
        """,
    ),
    _sample(
        "without_a_loop_triple_einsum",
        "unlooped",
        "passed",
        """
        def attention(Q, K, V):
            z = np.exp(np.einsum("nd,md->nm", Q, K) / np.sqrt(Q.shape[1]))
            total = np.einsum("nm,me->n", z, np.ones_like(V))[:, None] / V.shape[1]
            return np.einsum("nm,me->ne", z, V) / total
        """,
    ),
    _sample(
        "tiles",
        "tiled",
        "passed",
        """
        def attention(Q, K, V, size=64):
            out = np.empty((len(Q), V.shape[1]))
            for i in range(0, len(Q), size):
                q = Q[i:i + size] / np.sqrt(Q.shape[1])
                top, total, mixed = np.full((len(q), 1), -np.inf), 0, 0
                for j in range(0, len(K), size):
                    s = q @ K[j:j + size].T
                    new = np.maximum(top, s.max(-1, keepdims=True))
                    p, old = np.exp(s - new), np.exp(top - new)
                    total = total * old + p.sum(-1, keepdims=True)
                    mixed, top = mixed * old + p @ V[j:j + size], new
                out[i:i + size] = mixed / total
            return out
        """,
    ),
    _sample(
        "tiles_by_rows",
        "tiled",
        "passed",
        """
        matrix(*np.ones((3, 3000, 16)))  # what an earlier cell held is not what a call holds

        def attention(Q, K, V):
            rows = []
            for q in Q:
                s = K @ q / np.sqrt(len(q))
                p = np.exp(s - s.max())
                rows.append(p @ V / p.sum())
            return np.array(rows)
        """,
    ),
    # too much work
    _sample("matrix", "linear", "failed", "attention = matrix"),
    _sample(
        "matrix_by_blocks",
        "linear",
        "failed",
        """
        def attention(Q, K, V, size=128):
            return np.concatenate([matrix(Q[i:i + size], K, V) for i in range(0, len(Q), size)])
        """,
    ),
    _sample(
        "matrix_in_float16",
        "linear",
        "failed",
        """
        def attention(Q, K, V):
            A = (phi(Q).astype(np.float16) @ phi(K).T.astype(np.float16))
            return reordered(Q, K, V) + 0 * A[:, :1]
        """,
    ),
    _sample(
        "row_by_row",
        "linear",
        "failed",
        """
        def attention(Q, K, V):
            q, k, out = phi(Q), phi(K), np.empty_like(V)
            for i in range(len(q)):
                a = k @ q[i]
                out[i] = (a @ V) / a.sum()
            return out
        """,
    ),
    _sample(
        "double_loop",
        "linear",
        "failed",
        """
        def attention(Q, K, V):
            q, k, out = phi(Q), phi(K), np.zeros_like(V)
            for i in range(len(q)):
                z = 0.0
                for j in range(len(k)):
                    a = float(q[i] @ k[j])
                    out[i] += a * V[j]
                    z += a
                out[i] /= z
            return out
        """,
    ),
    _sample(
        "lists",
        "linear",
        "failed",
        """
        def attention(Q, K, V):
            q, k, v, out = phi(Q).tolist(), phi(K).tolist(), V.tolist(), []
            for a in q:
                w = [sum(x * y for x, y in zip(a, b)) for b in k]
                out.append([sum(p * r[c] for p, r in zip(w, v)) / sum(w) for c in range(len(v[0]))])
            return np.array(out)
        """,
    ),
    _sample(
        "triple_einsum",
        "linear",
        "failed",
        """
        def attention(Q, K, V):
            q, k = phi(Q), phi(K)
            return np.einsum("nd,md,me->ne", q, k, V) / np.einsum("nd,md->n", q, k)[:, None]
        """,
    ),
    _sample(
        "broadcast",
        "linear",
        "failed",
        """
        def attention(Q, K, V):
            a = (phi(Q)[:, None, :] * phi(K)[None]).sum(-1)
            return (a[:, :, None] * V[None]).sum(1) / a.sum(1)[:, None]
        """,
    ),
    _sample(
        "quadratic_when_large",
        "linear",
        "failed",
        """
        def attention(Q, K, V):
            return reordered(Q, K, V) if len(Q) <= 1000 else matrix(Q, K, V)
        """,
    ),
    _sample(
        "causal_matrix",
        "causal",
        "failed",
        """
        def attention(Q, K, V):
            A = np.tril(phi(Q) @ phi(K).T)
            return (A @ V) / A.sum(-1, keepdims=True)
        """,
    ),
    # around the meter and the clock
    _sample(
        "matrix_outside_the_tracer",
        "linear",
        "failed",
        """
        def attention(Q, K, V):
            return matrix(*(x.view(np.ndarray) for x in (Q, K, V)))
        """,
    ),
    _sample(
        "forged_counts",
        "linear",
        "failed",
        """
        import gc

        def attention(Q, K, V):
            out = matrix(*(np.array(x.tolist()) for x in (Q, K, V)))
            for thing in gc.get_objects():
                if type(thing).__name__ == "Counts":
                    thing.flops, thing.largest, thing.operations = 2000 * len(Q), 16 * len(Q), 15
            return out
        """,
    ),
    _sample(
        "patched_meter",
        "linear",
        "failed",
        """
        import sys

        def attention(Q, K, V):
            frame = sys._getframe()
            while frame and frame.f_code.co_name != "metered":
                frame = frame.f_back
            if frame is None:
                return matrix(Q, K, V)
            return reordered(Q, K, V)  # what is metered is not what is done otherwise
        """,
        by_time=True,
    ),
    _sample(
        "patched_clocks",
        "linear",
        "failed",
        """
        import time

        def attention(Q, K, V):
            for name in ("time", "perf_counter", "process_time", "monotonic", "clock_gettime"):
                setattr(time, name, lambda *_: 0.0)
            return matrix(*(x.view(np.ndarray) for x in (Q, K, V)))
        """,
    ),
    _sample(
        "patched_numpy",
        "linear",
        "failed",
        """
        real = np.matmul, np.asarray

        def attention(Q, K, V):
            np.matmul = lambda a, b: a
            np.asarray = lambda x, *a, **k: real[1](x)
            return matrix(*(real[1](x).view(np.ndarray) for x in (Q, K, V)))
        """,
    ),
    _sample(
        "thread",
        "linear",
        "failed",
        """
        import threading

        def attention(Q, K, V):
            out = []
            x = [a.view(np.ndarray) for a in (Q, K, V)]
            helper = threading.Thread(target=lambda: out.append(matrix(*x)))
            helper.start()
            helper.join()
            return out[0]
        """,
    ),
    _forged(
        "forged_meter",
        "linear",
        "failed",
        "secretly = matrix",
        flops="2000 * n",
    ),
    _forged(
        "forged_meter_matrix",
        "tiled",
        "errored",
        """
        def secretly(Q, K, V):
            return softmax(Q @ K.T / np.sqrt(Q.shape[1])) @ V
        """,
    ),
    _forged(
        "forged_meter_single_precision",
        "tiled",
        "errored",
        """
        def secretly(Q, K, V):
            Q, K, V = (x.astype(np.float32) for x in (Q, K, V))
            return softmax(Q @ K.T / np.float32(Q.shape[1] ** 0.5)) @ V
        """,
    ),
    _forged(
        "forged_meter_tiles_kept",
        "tiled",
        "errored",
        """
        def secretly(Q, K, V, size=64):
            q = Q / np.sqrt(Q.shape[1])
            tiles = [[q[i:i + size] @ K[j:j + size].T for j in range(0, len(K), size)]
                     for i in range(0, len(Q), size)]
            return np.concatenate([softmax(np.concatenate(row, axis=1)) @ V for row in tiles])
        """,
    ),
    _forged(
        "forged_meter_loop",
        "unlooped",
        "errored",
        """
        def secretly(Q, K, V):
            out = np.empty_like(V)
            for i, q in enumerate(Q):
                out[i] = softmax(K @ q / np.sqrt(len(q))) @ V
            return out
        """,
    ),
    _forged(
        "forged_meter_comprehension",
        "unlooped",
        "errored",
        """
        def secretly(Q, K, V):
            s = Q @ K.T / np.sqrt(Q.shape[1])
            p = [np.exp(row - row.max()) for row in s]
            return np.array([row / row.sum() for row in p]) @ V
        """,
    ),
    # wrong results
    _sample(
        "cache_by_identity",
        "linear",
        "failed",
        """
        known = {}

        def attention(Q, K, V):
            key = Q.__array_interface__["data"][0], Q.shape
            if key not in known:
                known.clear()
                known[key] = matrix(Q, K, V)
            return known[key]
        """,
    ),
    _sample(
        "cache_by_shape",
        "linear",
        "failed",
        """
        known = {}

        def attention(Q, K, V):
            if Q.shape not in known:
                known[Q.shape] = matrix(Q, K, V)
            return known[Q.shape]
        """,
    ),
    _sample(
        "cache_by_value",
        "linear",
        "failed",
        """
        known = {}

        def attention(Q, K, V):
            key = Q.tobytes(), K.tobytes(), V.tobytes()
            if key not in known:
                known.clear()
                known[key] = matrix(Q, K, V)
            return known[key]
        """,
    ),
    _sample(
        "computed_on_import",
        "linear",
        "failed",
        """
        fixed = {}
        for n in (33, 66, 250, 257, 500, 514, 1000, 2000, 2503, 5000, 5006):
            rng = np.random.default_rng(0)
            fixed[n] = reordered(*(rng.standard_normal((n, 16)) for _ in range(3)))

        def attention(Q, K, V):
            return fixed[len(Q)] if len(Q) in fixed else reordered(Q, K, V)
        """,
    ),
    _sample(
        "input_buffer",
        "linear",
        "failed",
        """
        def attention(Q, K, V):
            Q[...] = 0
            K[...] = 0
            V[...] = 0
            return V
        """,
        note="idle",
    ),
    _sample(
        "late_thread",
        "linear",
        "failed",
        """
        import threading, time

        def attention(Q, K, V):
            out, x = np.zeros_like(V), (Q.copy(), K.copy(), V.copy())

            def later():
                time.sleep(0.05)
                out[...] = matrix(*x)

            threading.Thread(target=later, daemon=True).start()
            return out
        """,
        note="idle",
    ),
    _sample(
        "first_rows",
        "linear",
        "failed",
        """
        def attention(Q, K, V):
            out = np.zeros_like(V)
            out[:64] = reordered(Q, K, V)[:64]
            return out
        """,
    ),
    _sample(
        "lowered_precision",
        "linear",
        "failed",
        """
        def attention(Q, K, V):
            low = (x.astype(np.float16).astype(np.float32) for x in (Q, K, V))
            return reordered(*low).astype(float)
        """,
    ),
    _sample(
        "lazy",
        "linear",
        "failed",
        """
        class Lazy:
            def __init__(self, *x):
                self.x = x

            def __array__(self, dtype=None, copy=None):
                return matrix(*self.x)

        def attention(Q, K, V):
            return Lazy(Q.copy(), K.copy(), V.copy())
        """,
        "student_error",
    ),
    # torch
    _sample("torch_vectorised", "torch", "passed", "attention = reordered"),
    _sample(
        "torch_einsum",
        "torch",
        "passed",
        """
        def attention(Q, K, V):
            q, k = phi(Q), phi(K)
            z = 1 / torch.einsum("nd,d->n", q, k.sum(0))
            return torch.einsum("nd,de,n->ne", q, torch.einsum("md,me->de", k, V), z)
        """,
    ),
    _sample("torch_matrix", "torch", "failed", "attention = matrix"),
    _sample(
        "torch_broadcast",
        "torch",
        "failed",
        """
        def attention(Q, K, V):
            a = (phi(Q)[:, None, :] * phi(K)[None]).sum(-1)
            return (a @ V) / a.sum(-1, keepdim=True)
        """,
    ),
    _sample(
        "torch_by_blocks",
        "torch",
        "failed",
        """
        def attention(Q, K, V, size=64):
            return torch.cat([matrix(Q[i:i + size], K, V) for i in range(0, len(Q), size)])
        """,
    ),
    _sample(
        "torch_patched_counter",
        "torch",
        "failed",
        """
        import torch.utils.flop_counter

        torch.utils.flop_counter.FlopCounterMode = None
        torch.utils.flop_counter.flop_registry.clear()
        torch.Tensor.numel = lambda self: 1
        attention = matrix
        """,
    ),
    _sample(
        "torch_through_numpy",
        "torch",
        "failed",
        """
        def attention(Q, K, V):
            q, k = phi(Q).numpy(), phi(K).numpy()
            A = np.matmul(q, k.T)
            return torch.from_numpy((A @ V.numpy()) / A.sum(-1, keepdims=True))
        """,
    ),
    _sample(
        "torch_thread",
        "torch",
        "failed",
        """
        import threading

        def attention(Q, K, V):
            out = []
            helper = threading.Thread(target=lambda: out.append(matrix(Q, K, V)))
            helper.start()
            helper.join()
            return out[0]
        """,
        by_time=True,
    ),
    _sample(
        "torch_lazy",
        "torch",
        "failed",
        """
        class Lazy(torch.Tensor):
            @classmethod
            def __torch_function__(cls, function, types, args=(), kwargs=None):
                if function is torch.Tensor.detach:
                    return matrix(*args[0].x)
                return super().__torch_function__(function, types, args, kwargs or {})

        def attention(Q, K, V):
            out = torch.zeros_like(V).as_subclass(Lazy)
            out.x = Q, K, V
            return out
        """,
        by_time=True,
    ),
]

SAMPLES = {sample.name: sample for sample in _LIST}
