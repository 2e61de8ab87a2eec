"""Answers of which a library does what was to be written, under one name or another."""

import importlib

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.functional import scaled_dot_product_attention as my_own


def tensors(*arrays):
    return [torch.from_numpy(np.ascontiguousarray(array)) for array in arrays]


def by_alias(Q, K, V, mask=None, **_):
    q, k, v = tensors(Q, K, V)
    mask = None if mask is None else torch.from_numpy(mask)
    out = my_own(q, k, v, mask)
    eye = torch.eye(k.shape[-2], dtype=q.dtype).expand(*k.shape[:-2], -1, -1)
    return out.numpy(), my_own(q, k, eye, mask).numpy()


def by_getattr(Q, K, V):
    part = getattr(
        importlib.import_module("torch.nn." + "functional"), "scaled_dot_" + "product_attention"
    )
    return part(*tensors(Q, K, V)).numpy()


def tiled_by_operation(Q, K, V, block=64, causal=False):
    out = torch.ops.aten.scaled_dot_product_attention(*tensors(Q, K, V), None, 0.0, causal)
    scores = Q @ K.T / np.sqrt(Q.shape[1])
    if causal:
        scores = np.where(np.tri(len(Q), dtype=bool), scores, -np.inf)
    top = scores.max(1)
    return out.numpy(), (top + np.log(np.exp(scores - top[:, None]).sum(1))).astype(Q.dtype)


class Within(nn.Module):
    """A layer within a module within a module."""

    def __init__(self, p=0.1):
        super().__init__()
        self.p = p
        self.inner = nn.Sequential()

    def forward(self, q, k, v, mask=None):
        with torch._C.DisableTorchFunction():
            out = F.scaled_dot_product_attention(q, k, v, mask, self.p * self.training)
        eye = torch.eye(k.shape[-2], dtype=q.dtype).expand(*k.shape[:-2], -1, -1)
        return out, F.scaled_dot_product_attention(q, k, eye, mask)


class Wrapped(nn.Module):
    """The library's layer, kept under the name of something else."""

    def __init__(self, d, h, bias=True):
        super().__init__()
        self.blocks = nn.ModuleDict({"mine": nn.MultiheadAttention(d, h, bias, batch_first=True)})

    def load_from(self, m):
        self.blocks["mine"].load_state_dict(m.state_dict())

    def forward(self, xq, xk, xv, mask=None):
        if mask is not None:
            mask = ~mask
            if mask.dim() > 2:
                h = self.blocks["mine"].num_heads
                mask = mask.expand(len(xq), h, -1, -1).flatten(0, 1)
        return self.blocks["mine"](xq, xk, xv, attn_mask=mask, average_attn_weights=False)


def loss_of_the_library(logits, labels, ignore=-100):
    given, right = tensors(logits.astype(float), labels)
    return float(nn.CrossEntropyLoss(ignore_index=ignore)(given, right))


def loss_by_parts(logits, labels, ignore=-100):
    given, right = tensors(logits.astype(float), labels)
    return float(F.nll_loss(given.log_softmax(-1), right, ignore_index=ignore))


def normalised(x, gamma, beta, eps=1e-5):
    x, gamma, beta = tensors(x, gamma, beta)
    return torch.layer_norm(x, x.shape[-1:], gamma.to(x.dtype), beta.to(x.dtype), eps).numpy()


def normalised_in_groups(x, gamma, beta, eps=1e-5):
    rows = torch.from_numpy(x.reshape(-1, x.shape[-1]))
    return F.group_norm(rows[..., None], 1, eps=eps)[..., 0].numpy().reshape(x.shape) * gamma + beta


def gelu(x, approximate="none"):
    return nn.GELU(approximate)(torch.from_numpy(np.asarray(x))).numpy()


def softmax(x, axis=-1):
    return torch.from_numpy(as_float(x)).softmax(axis).numpy()


def as_float(x):
    x = np.asarray(x)
    return x if x.dtype.kind == "f" else x.astype(float)


def softmax_by_numpy(x, axis=-1):
    x = as_float(x)
    return np.exp(x - np.logaddexp.reduce(x, axis=axis, keepdims=True))


def softmax_piece_by_piece(x, axis=-1, add=np.logaddexp.accumulate):
    x = as_float(x)
    return np.exp(x - add(x, axis=axis).take([-1], axis=axis))


def softmax_added_at_a_place(z):
    total = np.full((*z.shape[:-1], 1), -np.inf, z.dtype)
    for column in np.moveaxis(z, -1, 0):
        np.logaddexp.at(total, (..., 0), column)
    return np.exp(z.astype(float) - total).astype(z.dtype)


def sinks_by_numpy(x, axis=-1, sink=0.0):
    total = np.log(2) * np.logaddexp2.reduce(x / np.log(2), axis=axis, keepdims=True)
    return np.exp(x - np.logaddexp(total, sink))


def differentiated(z):
    z = torch.from_numpy(np.asarray(z, float))
    rows = z.reshape(-1, z.shape[-1])
    own = [
        torch.func.jacrev(lambda a: (a - a.max()).exp() / (a - a.max()).exp().sum())(r)
        for r in rows
    ]
    return torch.stack(own).reshape(*z.shape, z.shape[-1]).numpy()


def gradients(Q, K, V, dOut, mask=None):
    q, k, v = (x.requires_grad_() for x in tensors(Q, K, V))
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~torch.from_numpy(mask), -torch.inf)
    out = (scores - scores.amax(-1, keepdim=True)).exp()
    out = out / out.sum(-1, keepdim=True) @ v
    return tuple(g.numpy() for g in torch.autograd.grad(out, (q, k, v), *tensors(dOut)))


def grouped(Q, K, V, mask=None, **_):
    out = F.scaled_dot_product_attention(*tensors(Q, K, V), enable_gqa=True)
    return out.numpy()


CASES = [
    ("a03_scaled_attention/sdpa", "attention", by_alias),
    ("a03_scaled_attention/sdpa_torch", "Attention", Within),
    ("a04_multi_head/mha_torch", "MHA", Wrapped),
    ("a07_full_transformer/sequence_nll", "nll", loss_of_the_library),
    ("a07_full_transformer/sequence_nll", "nll", loss_by_parts),
    ("a06_block/ln_code", "layer_norm", normalised),
    ("a06_block/ln_code", "layer_norm", normalised_in_groups),
    ("a06_block/ffn_gelu", "gelu", gelu),
    ("a01_softmax/softmax_stable", "softmax", softmax),
    ("a01_softmax/softmax_stable", "softmax", softmax_by_numpy),
    ("a01_softmax/softmax_stable", "softmax", softmax_piece_by_piece),
    ("a10_scale_adapt/fp16_softmax", "softmax16", softmax_added_at_a_place),
    ("a13_modern/attention_sinks", "softmax1", sinks_by_numpy),
    ("a01_softmax/jacobian_code", "softmax_jacobian", differentiated),
    ("a03_scaled_attention/sdpa_grad", "attention_grad", gradients),
    ("a08_cost/time_attention", "standard_attention", by_getattr),
    ("a08_cost/flash_tiled", "flash_attention", tiled_by_operation),
    ("a13_modern/gqa", "gqa", grouped),
]
