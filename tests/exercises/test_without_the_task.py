"""Functions that leave out what is asked for, and had passed checks of other properties."""

import numpy as np
import pytest

from autograder.exercise.words.loading import load_module
from autograder.grading.checks import grade_checks

from ..loaded import ROOT


def without_offsets(Q, K, R):
    return Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])


def without_drafts(draft, P, Q, u, r):
    return [int(np.argmax(np.cumsum(P[0]) > r))]


def kept_outside(state, q, k, v, kept=[]):  # noqa: B006
    w = len(state["K"])
    if not state["t"]:
        kept.clear()
    kept.append((k, v))
    keys, values = map(np.array, zip(*kept[-w:], strict=True))
    weights = np.exp(keys @ q / np.sqrt(len(q)))
    return dict(state, t=state["t"] + 1), weights @ values / weights.sum()


def sorted_in_part(logits, k):
    e = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = e / e.sum(axis=1, keepdims=True)
    chosen = np.argpartition(-p, k - 1, axis=1)[:, :k]
    return chosen, np.take_along_axis(p, chosen, axis=1)


def two_heads_always(X, W, h, dY, mask=None):
    known = load_module(ROOT / "reference" / "a04_multi_head" / "mha_grad.py")
    return known.mha_backward(X, W, 2, dY, mask)


def biased_where_many(X, W):
    m = len(W) if len(W) < 100 else 1.04 * len(W)
    return np.exp(X @ W.T - (X**2).sum(axis=-1, keepdims=True) / 2) / np.sqrt(m)


@pytest.mark.parametrize(
    ("path", "name", "given", "failed"),
    [
        (
            "a04_multi_head/mha_grad",
            "mha_backward",
            two_heads_always,
            {"gradients_of_query_and_key_matrix"},
        ),
        (
            "a09_efficient/favor_code",
            "favor_features",
            biased_where_many,
            {"products_average_to_the_exponential"},
        ),
        ("a05_positions/shaw_score", "relative_scores", without_offsets, None),
        (
            "a13_modern/speculative",
            "verify",
            without_drafts,
            {"first_token_has_the_targets_law", "impossible_tokens_never_come"},
        ),
        (
            "a13_modern/rolling_window",
            "window_step",
            kept_outside,
            {"states_stay_usable", "token_t_in_slot_t_mod_w"},
        ),
        ("a10_scale_adapt/moe_route", "route", sorted_in_part, {"one_or_all"}),
    ],
)
def test_what_does_not_do_it_fails(path, name, given, failed):
    functions = load_module(ROOT / "reference" / f"{path}.py").exercise.functions
    (function,) = (each for each in functions if each.name == name)
    scores = {item.name: item.score or 0 for item in grade_checks(function, given)}
    assert not sum(scores[check] for check in failed or scores), scores
