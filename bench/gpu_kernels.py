"""Linear attention in two kernels, which read each input once and write the result: a yardstick.

They are recorded as a graph for the inputs that came, so that Python costs nothing between them. It
takes Triton, which comes with torch for GPUs.
"""

import torch
import triton
import triton.language as tl

_BLOCK, _SPANS = 128, 128  # rows at a time; shares of the keys that are summed side by side


@triton.jit
def _phi(x):
    return tl.where(x > 0, x + 1, tl.exp(tl.minimum(x, 0.0)))


@triton.jit
def _sum_keys(K, V, S, Z, n, SPANS: tl.constexpr, BLOCK: tl.constexpr, D: tl.constexpr):
    head, span = tl.program_id(0), tl.program_id(1)
    column = tl.arange(0, D)
    state = tl.zeros((D, D), tl.float32)
    total = tl.zeros((D,), tl.float32)
    share = n // SPANS
    for start in range(span * share, (span + 1) * share, BLOCK):
        row = start + tl.arange(0, BLOCK)
        inside = (row < (span + 1) * share)[:, None]
        at = (head * n + row)[:, None] * D + column[None, :]
        k = tl.load(K + at, mask=inside, other=0.0)
        v = tl.load(V + at, mask=inside, other=0.0)
        features = tl.where(inside, _phi(k.to(tl.float32)), 0.0)
        total += tl.sum(features, axis=0)
        state += tl.dot(tl.trans(features.to(v.dtype)), v, input_precision="tf32x3")
    slot = head * SPANS + span
    tl.store(S + slot * D * D + column[:, None] * D + column[None, :], state)
    tl.store(Z + slot * D + column, total)


@triton.jit
def _weigh(Q, S, Z, out, n, BLOCK: tl.constexpr, D: tl.constexpr):
    head, column = tl.program_id(0), tl.arange(0, D)
    row = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = (row < n)[:, None]
    at = (head * n + row)[:, None] * D + column[None, :]
    q = tl.load(Q + at, mask=inside, other=0.0)
    state = tl.load(S + head * D * D + column[:, None] * D + column[None, :])
    total = tl.load(Z + head * D + column)
    features = _phi(q.to(tl.float32))
    above = tl.dot(features.to(q.dtype), state.to(q.dtype), input_precision="tf32x3")
    below = tl.sum(features * total[None, :], axis=1)
    tl.store(out + at, (above / below[:, None]).to(q.dtype), mask=inside)


def _launched(Q, K, V):
    _, heads, n, width = Q.shape
    spans = min(_SPANS, n // _BLOCK)
    states = torch.empty(heads, spans, width, width, device=Q.device)
    totals = torch.empty(heads, spans, width, device=Q.device)
    result = torch.empty_like(V)
    _sum_keys[heads, spans](K, V, states, totals, n, spans, _BLOCK, width)
    state, total = states.sum(1), totals.sum(1)
    _weigh[heads, triton.cdiv(n, _BLOCK)](Q, state, total, result, n, _BLOCK, width)
    return result


_recorded = {}


def linear(Q, K, V):
    """Return linear attention with elu + 1, for (1, h, n, d) with d a power of two.

    The result of a call is overwritten by the next one with inputs at the same place.
    """
    key = Q.data_ptr(), K.data_ptr(), V.data_ptr(), Q.shape, Q.dtype
    if key not in _recorded:
        _recorded.clear()
        _launched(Q, K, V)  # compiles them
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            result = _launched(Q, K, V)
        _recorded[key] = graph, result
    graph, result = _recorded[key]
    graph.replay()
    return result
