"""Submissions of attention on a GPU: right ones, wrong ones, and attacks on whoever measures them.

Each source defines ``attention(Q, K, V)``. What an attack wants is that `slowly`, which takes n²
steps, is taken for `linear`; beside it stands a meter that it deceives.
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent

import torch

#: What every source begins with.
HEAD = """
import threading
import time

import torch

def phi(x):
    return torch.nn.functional.elu(x) + 1

def linear(Q, K, V):
    q, k = phi(Q), phi(K)
    return q @ (k.mT @ V) / (q @ k.sum(dim=-2).unsqueeze(-1))

def table(Q, K, V):
    A = phi(Q) @ phi(K).mT
    return A @ V / A.sum(dim=-1, keepdim=True)

def slowly(Q, K, V):
    return torch.cat([table(q, K, V) for q in Q.split(1024, dim=-2)], dim=-2)

def standard(Q, K, V):
    return torch.softmax(Q @ K.mT / Q.shape[-1] ** 0.5, dim=-1) @ V
"""

#: A meter as one writes it who trusts what is measured: events of torch's, the same inputs again.
NAIVE = """
def naive(n, device):
    args = [torch.randn(1, 8, n, 64, device=device) for _ in range(3)]
    attention(*args)
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    result = attention(*args)
    end.record()
    torch.cuda.synchronize()
    taken = start.elapsed_time(end)
    peak = torch.cuda.max_memory_allocated() - before
    time.sleep(0.2)
    few = result[..., :4, :].double()
    right = table(args[0].double()[..., :4, :], args[1].double(), args[2].double())
    return [float(taken), float(peak), float((few - right).norm() / right.norm())]
"""


def phi(x):
    return torch.nn.functional.elu(x) + 1


def rows_of_linear(i, Q, K, V):
    weights = phi(Q[..., i, :]) @ phi(K).mT
    return weights @ V / weights.sum(-1, keepdim=True)


def rows_of_standard(i, Q, K, V):
    return torch.softmax(Q[..., i, :] @ K.mT / Q.shape[-1] ** 0.5, -1) @ V


@dataclass(frozen=True)
class Sample:
    """A submission, what it is asked for, and the words of its failure; none where it is right."""

    source: str
    time: float
    memory: float
    fails: str = ""

    @property
    def rows(self):
        return rows_of_linear if self.time == 1 else rows_of_standard


class Submitted:
    """A function of a submission whose process has the GPU already, as checks call it."""

    def __init__(self, gpu, runner, name="attention"):
        self._gpu, self._runner, self._name, self.curve = gpu, runner, name, None

    def on_gpu(self, shape, dtype, drawn, *, sdpa=False):
        if sdpa:
            return self._gpu.sdpa(shape, dtype, drawn)
        return self._gpu.submitted(self._runner, self._name, shape, dtype, drawn)


def _sample(body, time, memory, fails=""):
    return Sample(HEAD + dedent(body), time, memory, fails)


def _is(expression, *asked):
    return _sample(f"def attention(Q, K, V):\n    return {expression}\n", *asked)


SAMPLES = {
    "linear": _is("linear(Q, K, V)", 1, 1),
    "linear_with_a_column_of_ones": _sample(
        """
        def attention(Q, K, V):
            more = torch.cat([V, torch.ones_like(V[..., :1])], dim=-1)
            both = phi(Q) @ (phi(K).mT @ more)
            return both[..., :-1] / both[..., -1:]
        """,
        1,
        1,
    ),
    "linear_with_names": _sample(
        """
        def attention(Q, K, V):
            q, k = phi(Q), phi(K)
            top = torch.einsum("bhnd,bhdv->bhnv", q, torch.einsum("bhmd,bhmv->bhdv", k, V))
            return top / torch.einsum("bhnd,bhd->bhn", q, k.sum(-2))[..., None]
        """,
        1,
        1,
    ),
    "linear_in_place": _sample(
        """
        def attention(Q, K, V):
            for x in (Q, K):
                x.copy_(phi(x))
            out = Q @ (K.mT @ V)
            return out.div_(Q @ K.sum(dim=-2).unsqueeze(-1))
        """,
        1,
        1,
    ),
    "linear_through_the_table": _is("table(Q, K, V)", 1, 1, "the memory grows like n"),
    "linear_block_by_block": _is("slowly(Q, K, V)", 1, 1, "the time grows like n"),
    "linear_not_normalised": _is("phi(Q) @ (phi(K).mT @ V)", 1, 1, "some rows"),
    "standard_for_linear": _is("standard(Q, K, V)", 1, 1, "some rows"),
    "standard": _is("standard(Q, K, V)", 2, 2),
    "standard_by_hand": _sample(
        """
        def attention(Q, K, V):
            S = Q @ K.mT * Q.shape[-1] ** -0.5
            E = (S - S.amax(dim=-1, keepdim=True)).exp()
            return E @ V / E.sum(dim=-1, keepdim=True)
        """,
        2,
        2,
    ),
    "standard_not_scaled": _is("torch.softmax(Q @ K.mT, dim=-1) @ V", 2, 2, "some rows"),
    "standard_in_half_the_rows": _is(
        "torch.where(torch.arange(Q.shape[-2], device=Q.device)[:, None] % 2 > 0,"
        " standard(Q, K, V), 0)",
        2,
        2,
        "some rows",
    ),
    "fused": _is("torch.nn.functional.scaled_dot_product_attention(Q, K, V)", 2, 1),
    "fused_through_the_table": _is("standard(Q, K, V)", 2, 1, "the memory grows like n"),
}


def _attack(body, fails):
    return _sample(body, 1, 1, fails)


ROWS, TIME, MEMORY = "some rows", "the time grows like n", "the memory grows like n"
#: The first two are controls: what is right passes both meters, what is slow neither.
ATTACKS = {
    "none": _is("linear(Q, K, V)", 1, 1),
    "none_but_slow": _is("slowly(Q, K, V)", 1, 1, TIME),
    "on_a_side_stream": _attack(
        """
        aside = torch.cuda.Stream()

        def attention(Q, K, V):
            aside.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(aside):
                return slowly(Q, K, V)
        """,
        TIME,
    ),
    "clocks_are_patched": _attack(
        """
        now = time.perf_counter()
        time.perf_counter = lambda: now

        class Event:
            def __init__(self, **_): pass
            def record(self, *_): pass
            def elapsed_time(self, _): return 0.1

        torch.cuda.Event = Event
        torch.cuda.synchronize = lambda *_: None
        torch._C._cuda_synchronize = lambda *_: None

        def attention(Q, K, V):
            return slowly(Q, K, V)
        """,
        TIME,
    ),
    "kept_by_pointer": _attack(
        """
        kept = {}

        def attention(Q, K, V):
            key = Q.data_ptr(), K.data_ptr(), V.data_ptr(), Q.shape, Q.dtype
            if key not in kept:
                kept.clear()
                kept[key] = slowly(Q, K, V)
            return kept[key]
        """,
        ROWS,
    ),
    "kept_by_content": _attack(
        """
        kept = {}

        def attention(Q, K, V):
            key = Q.shape, Q.dtype, *(x.double().sum().item() for x in (Q, K, V))
            if key not in kept:
                kept.clear()
                kept[key] = slowly(Q, K, V)
            return kept[key]
        """,
        TIME,
    ),
    "rows_when_asked_for": _attack(
        """
        class Lazy(torch.Tensor):
            @classmethod
            def __torch_function__(cls, function, types, args=(), kwargs=None):
                if function in (torch.Tensor.__getitem__, torch.index_select):
                    Q, K, V = args[0].inputs
                    at = args[1] if len(args) == 2 else (..., args[2], slice(None))
                    return table(Q[at], K, V)
                return super().__torch_function__(function, types, args, kwargs or {})

        def attention(Q, K, V):
            result = torch.empty_like(V).as_subclass(Lazy)
            result.inputs = Q, K, V
            return result
        """,
        "not a plain tensor",
    ),
    "in_half_precision": _attack(
        """
        def attention(Q, K, V):
            return linear(*(x.bfloat16() for x in (Q, K, V))).to(Q.dtype)
        """,
        ROWS,
    ),
    "with_short_products": _attack(
        """
        def attention(Q, K, V):
            torch.backends.cuda.matmul.allow_tf32 = True
            return linear(Q, K, V)
        """,
        ROWS,
    ),
    "back_before_it_is_done": _attack(
        """
        def attention(Q, K, V):
            result = torch.empty_like(V)

            def later():
                time.sleep(0.02)
                result.copy_(slowly(Q, K, V))

            threading.Thread(target=later).start()
            return result
        """,
        f"{ROWS}|{TIME}",
    ),
    "a_graph_on_a_side_stream": _attack(
        """
        kept = {}
        aside = torch.cuda.Stream()

        def attention(Q, K, V):
            key = Q.data_ptr(), K.data_ptr(), V.data_ptr(), Q.shape, Q.dtype
            if key not in kept:
                kept.clear()
                slowly(Q, K, V)
                torch.cuda.synchronize()
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph):
                    result = slowly(Q, K, V)
                kept[key] = graph, result
            graph, result = kept[key]
            aside.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(aside):
                graph.replay()
            return result
        """,
        f"{ROWS}|{TIME}",
    ),
    "memory_is_patched": _attack(
        """
        torch.cuda.max_memory_allocated = torch.cuda.memory_allocated = lambda *_: 0
        torch.cuda.memory_stats = torch._C._cuda_memoryStats = lambda *_: {}

        def attention(Q, K, V):
            return table(Q, K, V)
        """,
        MEMORY,
    ),
}
#: What deceives the naive meter about memory rather than time; and about precision.
ABOUT_MEMORY, ABOUT_PRECISION = {"memory_is_patched"}, {"in_half_precision", "with_short_products"}
