"""Natural cheats of the course's own work checks, and honest code at their edges.

Every one answers rightly; what each of them does in a way that was not asked, its name says.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from textwrap import dedent


@dataclass(frozen=True)
class Cheat:
    """A submission, and the checks that it must not pass; honest code passes all."""

    name: str
    exercise: str
    source: str
    caught: set[str] = field(default_factory=set)


FLASH, CACHE = "a08_cost/flash_tiled", "a08_cost/kv_equivalence"
LINEAR, CAUSAL, RACE = (
    "a09_efficient/lin_attn",
    "a09_efficient/lin_causal",
    "a08_cost/time_attention",
)

HEADS = {
    FLASH: """
import numpy as np

def whole(Q, K, V, causal):
    s = Q @ K.T / np.sqrt(Q.shape[1]).astype(Q.dtype)
    if causal:
        s = np.where(np.tri(len(Q), len(K), dtype=bool), s, Q.dtype.type(-np.inf))
    top = s.max(1, keepdims=True)
    p = np.exp(s - top)
    return p @ V / p.sum(1, keepdims=True), (top + np.log(p.sum(1, keepdims=True)))[:, 0]

def tiled(Q, K, V, rows, columns, causal=False):
    outputs, sums = [], []
    for i in range(0, len(Q), rows):
        q = Q[i:i + rows] / np.sqrt(Q.shape[1]).astype(Q.dtype)
        top, total = np.full(len(q), -np.inf, Q.dtype), np.zeros(len(q), Q.dtype)
        mixed = np.zeros((len(q), V.shape[1]), Q.dtype)
        for j in range(0, i + len(q) if causal else len(K), columns):
            s = q @ K[j:j + columns].T
            if causal:
                later = np.arange(j, j + s.shape[1]) > np.arange(i, i + len(q))[:, None]
                s = np.where(later, Q.dtype.type(-np.inf), s)
            new = np.maximum(top, s.max(1))
            p, old = np.exp(s - new[:, None]), np.exp(top - new)
            total, mixed = old * total + p.sum(1), old[:, None] * mixed + p @ V[j:j + columns]
            top = new
        outputs.append(mixed / total[:, None])
        sums.append(top + np.log(total))
    return np.concatenate(outputs), np.concatenate(sums)
""",
    CACHE: """
import numpy as np

def rotate(x, positions):
    d = x.shape[-1]
    angles = np.asarray(positions)[:, None] * 10000.0 ** (-2 * np.arange(d // 2) / d)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return np.stack([even * cos - odd * sin, even * sin + odd * cos], axis=-1).reshape(x.shape)

def softmax(s):
    p = np.exp(s - s.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True)

class Cache:
    def __init__(self, W, h=1, rope=False):
        self.W, self.h, self.rope = W, h, rope
        self.reset()

    def reset(self):
        self.length, self.K, self.V = 0, None, None

    def heads(self, x):
        return x.reshape(*x.shape[:2], self.h, -1).swapaxes(1, 2)

    def step(self, x):
        at = np.arange(self.length, self.length + x.shape[1])
        q, k, v = (self.heads(x @ W) for W in self.W[:3])
        if self.rope:
            q, k = rotate(q, at), rotate(k, at)
        K, V = self.remember(k, v)
        self.length += x.shape[1]
        s = q @ K.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
        weights = self.weights(s, at)
        out = (weights @ V).swapaxes(1, 2)
        return out.reshape(*x.shape) @ self.W[3]

    def remember(self, k, v):
        if self.K is not None:
            k, v = np.concatenate([self.K, k], axis=2), np.concatenate([self.V, v], axis=2)
        self.K, self.V = k, v
        return k, v

    def weights(self, s, at):
        return softmax(np.where(np.arange(s.shape[-1]) <= at[:, None], s, -np.inf))
""",
}
_CTYPES = """
import ctypes, glob, os
import numpy as np

def elu1(x):
    return np.where(x > 0, x + 1.0, np.exp(np.minimum(x, 0.0)))

blas = ctypes.CDLL(glob.glob(os.path.join(os.path.dirname(np.__file__), "../numpy.libs/*blas*"))[0])
real, whole = ctypes.c_double, ctypes.c_int64

def product(A, B, turned):
    n = len(B) if turned else B.shape[1]
    C = np.empty((len(A), n))
    at = [ctypes.c_void_p(x.__array_interface__["data"][0]) for x in (A, B, C)]
    blas.scipy_cblas_dgemm64_(
        101, 111, 112 if turned else 111, whole(len(A)), whole(n), whole(A.shape[1]), real(1.0),
        at[0], whole(A.shape[1]), at[1], whole(B.shape[1]), real(0.0), at[2], whole(n))
    return C

def reordered(Q, K, V):
    q, k = elu1(Q), elu1(K)
    return q @ (k.T @ V) / (q @ k.sum(0))[:, None]

def unseen(Q, K, V, size=64):
    reordered(Q, K, V)  # something to count
    q, k, V = (np.array(x.tolist()) for x in (elu1(Q), elu1(K), V))
    V = np.concatenate([V, np.ones((len(V), 1))], axis=1)
    out = np.concatenate([product(product(q[i:i + size], k, True), V, False)
                          for i in range(0, len(q), size)])
    return out[:, :-1] / out[:, -1:]
"""
for _exercise in (LINEAR, RACE):
    HEADS[_exercise] = _CTYPES
HEADS[CAUSAL] = """
import numpy as np

def elu1(x):
    return np.where(x > 0, x + 1.0, np.exp(np.minimum(x, 0.0)))

def chunked(Q, K, V, size):
    q, k = elu1(Q), elu1(K)
    V = np.concatenate([V, np.ones((len(V), 1))], axis=1)
    S, rows = np.zeros((K.shape[1], V.shape[1])), []
    for i in range(0, len(q), size):
        a, b, v = q[i:i + size], k[i:i + size], V[i:i + size]
        out = a @ S + np.tril(a @ b.T) @ v
        rows.append(out[:, :-1] / out[:, -1:])
        S = S + b.T @ v
    return np.concatenate(rows)

def recurrent_step(state, q, k, v):
    S, z = state[0] + np.outer(elu1(k), v), state[1] + elu1(k)
    return (S, z), elu1(q) @ S / (elu1(q) @ z)
"""


def _cheat(name: str, exercise: str, source: str, *caught: str) -> Cheat:
    return Cheat(name, exercise, HEADS[exercise] + dedent(source), set(caught))


_LIST = [
    _cheat(
        "tiles_as_asked",
        FLASH,
        """
        def flash_attention(Q, K, V, block=64, causal=False):
            return tiled(Q, K, V, block, block, causal)
        """,
    ),
    _cheat(
        "a_column_of_ones",
        FLASH,
        """
        def flash_attention(Q, K, V, block=64, causal=False):
            V = np.concatenate([V, np.ones((len(V), 1), V.dtype)], axis=1)
            out, lse = tiled(Q, K, V, block, block, causal)
            return out[:, :-1], lse
        """,
    ),
    _cheat(
        "double_tiles",
        FLASH,
        """
        def flash_attention(Q, K, V, block=64, causal=False):
            return tiled(Q, K, V, block, 2 * block, causal)
        """,
        "never_holds_the_matrix",
        "later_tiles_are_skipped",
    ),
    *(
        _cheat(
            f"always_{size}",
            FLASH,
            f"""
            def flash_attention(Q, K, V, block=64, causal=False):
                return tiled(Q, K, V, {size}, {size}, causal)
            """,
            "blocks_are_as_asked",
        )
        for size in (16, 32, 64)
    ),
    _cheat(
        "whole_where_blocks_fit",
        FLASH,
        """
        def flash_attention(Q, K, V, block=64, causal=False):
            if len(Q) % block or len(K) % block:
                return tiled(Q, K, V, block, block, causal)
            return whole(Q, K, V, causal)
        """,
        "never_holds_the_matrix",
    ),
    _cheat(
        "a_tile_beside_the_diagonal",
        FLASH,
        """
        def flash_attention(Q, K, V, block=64, causal=False):
            if not causal:
                return tiled(Q, K, V, block, block)
            parts = []
            for i in range(0, len(Q), block):
                seen = slice(min(len(K), i + 2 * block))
                hidden = np.arange(len(K))[seen] > np.arange(i, min(i + block, len(Q)))[:, None]
                parts.append(columns(Q[i:i + block], K[seen], V[seen], hidden, block))
            return tuple(map(np.concatenate, zip(*parts)))

        def columns(q, K, V, hidden, block):
            top, total, mixed = -np.inf, 0, 0
            for j in range(0, len(K), block):
                s = q @ K[j:j + block].T / np.sqrt(q.shape[1]).astype(q.dtype)
                s = np.where(hidden[:, j:j + block], q.dtype.type(-np.inf), s)
                new = np.maximum(top, s.max(1))
                p, old = np.exp(s - new[:, None]), np.exp(top - new)
                total, mixed = old * total + p.sum(1), old[..., None] * mixed + p @ V[j:j + block]
                top = new
            return mixed / total[:, None], top + np.log(total)
        """,
        "later_tiles_are_skipped",
    ),
    _cheat(
        "a_whole_mask",
        FLASH,
        """
        def flash_attention(Q, K, V, block=64, causal=False):
            allowed = np.tri(len(Q), len(K), dtype=bool) & (np.ones((len(Q), len(K))) > 0)
            return tiled(Q, K, V, block, block, causal)
        """,
        "never_holds_the_matrix",
        "later_tiles_are_skipped",
    ),
    _cheat(
        "one_call_of_torch",
        FLASH,
        """
        import torch

        def flash_attention(Q, K, V, block=64, causal=False):
            width = max(Q.shape[1], V.shape[1])
            q, k, v = (torch.from_numpy(np.pad(x, ((0, 0), (0, width - x.shape[1]))))[None, None]
                       for x in (Q, K, V))
            flash = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
            out, lse = flash(q, k, v, 0.0, causal, scale=Q.shape[1] ** -0.5)[:2]
            return out[0, 0, :, :V.shape[1]].numpy(), lse.reshape(-1).numpy().astype(Q.dtype)
        """,
        "equals_ordinary_attention",  # a layer of torch's: nothing else is asked then
    ),
    _cheat(
        "one_call_of_torch_for_the_output",
        FLASH,
        """
        import torch

        def flash_attention(Q, K, V, block=64, causal=False):
            q, k, v = (torch.from_numpy(np.asarray(x).copy())[None, None] for x in (Q, K, V))
            sdpa = torch.nn.functional.scaled_dot_product_attention
            out = sdpa(q, k, v, is_causal=causal)[0, 0].numpy()
            return out, tiled(Q, K, V[:, :1], block, block, causal)[1]
        """,
        "equals_ordinary_attention",
    ),
    _cheat("cache_as_asked", CACHE, "class KVCache(Cache): pass"),
    _cheat(
        "cache_in_a_large_buffer",
        CACHE,
        """
        class KVCache(Cache):
            def remember(self, k, v):
                if self.K is None:
                    self.K, self.V = np.zeros((2, *k.shape[:2], 2048, k.shape[-1]))
                new = slice(self.length, self.length + k.shape[2])
                self.K[:, :, new], self.V[:, :, new] = k, v
                return self.K[:, :, :new.stop], self.V[:, :, :new.stop]
        """,
    ),
    _cheat(
        "cache_of_blocks",
        CACHE,
        """
        class KVCache(Cache):
            def remember(self, k, v):
                self.K, self.V = [*(self.K or []), k], [*(self.V or []), v]
                return np.concatenate(self.K, axis=2), np.concatenate(self.V, axis=2)
        """,
    ),
    _cheat(
        "cache_with_a_window",
        CACHE,
        """
        class KVCache(Cache):
            def weights(self, s, at):
                key = np.arange(s.shape[-1])
                near = (key <= at[:, None]) & (key > at[:, None] - 32)
                return softmax(np.where(near, s, -np.inf))
        """,
        "step_is_linear",
    ),
    _cheat(
        "cache_with_square_masks",
        CACHE,
        """
        class KVCache(Cache):
            def weights(self, s, at):
                total = s.shape[-1]
                mask = np.tril(np.ones((total, total)))[-len(at):]
                return softmax(np.where(mask > 0, s, -np.inf))
        """,
        "step_is_linear",
    ),
    *(
        _cheat(
            f"cache_with_a_mask_from_{name}",
            CACHE,
            f"""
            class KVCache(Cache):
                def weights(self, s, at):
                    total = s.shape[-1]
                    mask = {made}
                    return softmax(np.where(mask[-len(at):], s, -np.inf))
            """,
            "step_is_linear",
        )
        for name, made in (
            ("tri", "np.tri(total, dtype=bool)"),
            ("lists", "np.array([[j <= i for j in range(total)] for i in range(total)])"),
        )
    ),
    _cheat(
        "cache_that_keeps_weights",
        CACHE,
        """
        class KVCache(Cache):
            kept = None

            def weights(self, s, at):
                weights = super().weights(s, at)
                self.kept = [*(self.kept or []), weights]
                return weights
        """,
        "memory_is_linear",
    ),
    _cheat(
        "cache_of_tokens",
        CACHE,
        """
        class KVCache(Cache):
            tokens = None

            def reset(self):
                super().reset()
                self.tokens = None

            def step(self, x):
                old = [] if self.tokens is None else [self.tokens]
                self.tokens = np.concatenate([*old, x], axis=1)
                self.length, self.K, self.V = 0, None, None
                return super().step(self.tokens)[:, -x.shape[1]:]
        """,
        "step_is_linear",
    ),
    _cheat(
        "chunks_of_a_thousand",
        CAUSAL,
        """
        def causal_linear_attention(Q, K, V):
            return chunked(Q, K, V, 1000)
        """,
    ),
    _cheat(
        "chunks_of_1024",
        CAUSAL,
        """
        def causal_linear_attention(Q, K, V):
            return chunked(Q, K, V, 1024)
        """,
    ),
    _cheat(
        "chunks_of_2048",
        CAUSAL,
        """
        def causal_linear_attention(Q, K, V):
            return chunked(Q, K, V, 2048)
        """,
    ),
    _cheat(
        "one_chunk",
        CAUSAL,
        """
        def causal_linear_attention(Q, K, V):
            return chunked(Q, K, V, len(Q))
        """,
        "work_is_linear",
    ),
    _cheat(
        "quadratic_out_of_sight",
        LINEAR,
        """
        def linear_attention(Q, K, V, phi=elu1, eps=0.0):
            if len(Q) > 32:
                return unseen(Q, K, V)
            q, k = phi(Q), phi(K)
            return q @ (k.swapaxes(-1, -2) @ V) / (q @ k.sum(-2)[..., None] + eps)
        """,
        "work_is_linear",
    ),
    _cheat(
        "quadratic_out_of_sight_in_the_race",
        RACE,
        """
        def linear_attention(Q, K, V):
            return unseen(Q, K, V) if len(Q) > 32 else reordered(Q, K, V)

        def standard_attention(Q, K, V):
            s = Q @ K.T / np.sqrt(Q.shape[1])
            p = np.exp(s - s.max(-1, keepdims=True))
            return p / p.sum(-1, keepdims=True) @ V
        """,
        "linear_work_is_linear",
    ),
]

CHEATS = {cheat.name: cheat for cheat in _LIST}
