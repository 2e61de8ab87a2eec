"""A loss that keeps the experts busy, and its gradient.

Source: Fedus, Zoph & Shazeer (2022), "Switch Transformers", section 2.2, eq. 4 to 6.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from autograder.exercise import Exercise, Numbers, agree, require
from autograder.exercise.properties import differences
from reference.helpers import softmax

exercise = Exercise(
    "moe_balance",
    title="Keep the experts busy",
    source="Fedus et al. (2022), eq. 4 to 6",
    minutes=40,
    hints=[
        "f and P have an entry for each expert: f counts tokens by their largest logit, P "
        "averages the rows of gates.",
        "With f held constant the loss is a weighted sum of gates, each row a softmax of its "
        "own. Which logits does a gate depend on, and what does the mean divide by?",
    ],
)

f = np.array([0.5, 0.25, 0.25, 0])
P = np.array([0.4, 0.3, 0.2, 0.1])
LOADS = np.array([8.0, 5, 2, 1])
BATCH = np.array(
    [
        [2, 1, 0, -1],
        [3, 0, 1, 0],
        [1, 2, 0, 0],
        [0, 3, 1, -1],
        [2, 0, -1, 1],
        [2, 2.5, 0, 0],
        [1, 0, 3, 0],
        [4, 1, 0, 2],
    ]
)


def shares(logits):
    """The fraction of tokens whose first choice each expert is."""
    return np.bincount(logits.argmax(axis=1), minlength=logits.shape[1]) / len(logits)


@exercise.part(points=1, answer=Numbers())
def loss():
    """The loss E Σ f_e P_e."""
    return 4 * f @ P


loss.mistakes(
    number_of_experts_missing=(
        f @ P,
        "The factor E is missing: with it even routing gives the same loss for any E.",
    ),
    mean_gates_twice=(
        4 * P @ P,
        "You multiplied P by itself. f, the shares of the tokens, is the other factor.",
    ),
    shares_twice=(4 * f @ f, "You multiplied f by itself. P, the mean gates, is the other factor."),
)


@exercise.part(points=1, answer=Numbers())
def extremes():
    """The loss of even routing, and of one expert for certain; for four experts, then for eight."""
    return np.array([1.0, 4.0, 1.0, 8.0])


@extremes.alternative
def factor_missing_again(loss):
    """The factor E was paid for with the loss."""
    right = np.array([1.0, 4.0, 1.0, 8.0])
    return right / [4, 4, 8, 8] if np.isclose(loss, f @ P, rtol=1e-3) else right


extremes.mistakes(
    extremes_without_factor=(
        np.array([0.25, 1.0, 0.125, 1.0]),
        "The factor E is missing: the number of experts.",
    ),
    one_term_of_an_even_sum=(
        np.array([0.25, 4.0, 0.125, 8.0]),
        "Even routing has a term for each expert: you took one of them.",
    ),
    perfect_balance_is_zero=(
        np.array([0.0, 4.0, 0.0, 8.0]),
        "Even routing has a loss, too: put f_e = P_e = 1/E in.",
    ),
    collapse_is_best=(
        np.array([4.0, 1.0, 8.0, 1.0]),
        "The two are exchanged: the loss is to be large where all tokens go to one expert.",
    ),
)


@exercise.reference
def balance(logits: Float[ndarray, "T E"]) -> tuple:
    """The loss E Σ f_e P_e of a batch with k = 1, and its gradient with f held constant."""
    T, E = logits.shape
    G, share = softmax(logits), shares(logits)
    return float(E * share @ G.mean(axis=0)), E / T * G * (share - (G @ share)[:, None])


@exercise.alternative
def by_jacobians(logits):
    """The Jacobian of the softmax, token by token."""
    T, E = logits.shape
    G, share = softmax(logits), shares(logits)
    rows = [(np.diag(g) - np.outer(g, g)) @ share for g in G]
    return E * sum(share * G.mean(axis=0)), np.array(rows) * E / T


@exercise.alternative
def with_einsum(logits):
    """One-hot choices and index notation."""
    T, E = logits.shape
    G = softmax(logits)
    share = np.eye(E)[logits.argmax(axis=1)].mean(axis=0)
    jacobian = np.einsum("te,ef->tef", G, np.eye(E)) - np.einsum("te,tf->tef", G, G)
    return np.einsum("te,e->", G, share) * E / T, np.einsum("tef,f->te", jacobian, share) * E / T


@exercise.alternative
def as_lists(logits):
    """Numbers one by one, returned as lists."""
    T, E = logits.shape
    G, share = softmax(logits).tolist(), shares(logits).tolist()
    mean = [sum(g[e] for g in G) / T for e in range(E)]
    inner = [sum(a * b for a, b in zip(share, g, strict=True)) for g in G]
    gradient = [
        [E / T * g[e] * (share[e] - m) for e in range(E)] for g, m in zip(G, inner, strict=True)
    ]
    return [E * sum(a * b for a, b in zip(share, mean, strict=True)), gradient]


def logits_of(rng, T=7, E=3):
    """Logits whose first choices are clear and uneven: no small step changes them."""
    choices = np.concatenate([[0, 0, 0, 0, 1, 1], rng.integers(0, 2, T - 6)])
    return rng.uniform(-0.5, 0.5, (T, E)) + 1.5 * np.eye(E)[rng.permutation(choices)]


def both(result):
    """The loss and its gradient."""
    require(
        isinstance(result, tuple | list) and len(result) == 2,
        "return two things: the loss and its gradient",
    )
    return result


@exercise.check(points=0.25, visible=True)
def loss_of_a_batch(call, rng):
    """The loss is E Σ f_e P_e, with shares of first choices and mean gates."""
    logits = logits_of(rng)
    agree(both(call(logits))[0], balance(logits)[0], what="the loss")


@exercise.check(points=0.35)
def gradient_of_the_gates(call, rng):
    """The gradient is that of the mean gates, while the shares are held constant."""
    logits = logits_of(rng, 9, 4)
    share = shares(logits)
    right = differences(lambda x: 4 * share @ softmax(x).mean(axis=0), logits)
    given = np.asarray(both(call(logits))[1], float)
    agree(given, right, rtol=1e-6, atol=1e-8, what="the gradient")


@exercise.misconception(credit=0.4)
def experts_not_counted(logits):
    """The factor E is missing."""
    loss, gradient = balance(logits)
    return loss / logits.shape[1], gradient / logits.shape[1]


@exercise.misconception(credit=0.4)
def both_are_gates(logits):
    """You took the mean gates twice. f counts tokens, and carries no gradient."""
    T, E = logits.shape
    G = softmax(logits)
    mean = G.mean(axis=0)
    return float(E * mean @ mean), 2 * E / T * G * (mean - (G @ mean)[:, None])


@exercise.misconception(credit=0.4)
def counts_for_shares(logits):
    """Your f counts tokens. Shares are counts divided by the number of tokens."""
    loss, gradient = balance(logits)
    return len(logits) * loss, len(logits) * gradient


@exercise.misconception
def gradient_of_gates_alone(logits):
    """You stopped at the gates. The softmax lies between them and the logits."""
    T, E = logits.shape
    return balance(logits)[0], np.tile(E / T * shares(logits), (T, 1))


@exercise.misconception
def jacobian_diagonal(logits):
    """Each gate depends on all logits of its token: you kept the diagonal alone."""
    T, E = logits.shape
    G = softmax(logits)
    return balance(logits)[0], E / T * G * (1 - G) * shares(logits)


@exercise.misconception
def denominator_held(logits):
    """You held the denominator of the softmax constant: all logits of a token are in it."""
    T, E = logits.shape
    return balance(logits)[0], E / T * softmax(logits) * shares(logits)


@exercise.misconception
def not_averaged(logits):
    """P is a mean over the tokens: the gradient of each is divided by their number."""
    return balance(logits)[0], len(logits) * balance(logits)[1]


@exercise.part(points=0.4, answer=Numbers())
def batch_loss(balance):
    """The loss of the eight tokens."""
    return balance(BATCH)[0]


@batch_loss.misconception()
def batch_without_experts(balance):
    """The factor E is missing."""
    return balance(BATCH)[0] / 4


@batch_loss.misconception()
def batch_divided_twice(balance):
    """You divided by the number of tokens once too often: shares are divided already."""
    return balance(BATCH)[0] / len(BATCH)


@batch_loss.misconception()
def batch_with_two_choices():
    """You counted two choices for each token. Here k = 1."""
    return 4 * np.array([7, 4, 3, 2]) / 16 @ softmax(BATCH).mean(axis=0)


@batch_loss.misconception(credit=0.5)
def batch_with_a_misread_token():
    """The first choice of one token is misread: which of its two logits above 0 is larger?"""
    return 4 * np.array([5, 2, 1, 0]) / 8 @ softmax(BATCH).mean(axis=0)


@exercise.part(points=1, answer=Numbers())
def spread():
    """The coefficient of variation of the loads, standard deviation / mean."""
    return LOADS.std() / LOADS.mean()


@spread.misconception()
def sample_deviation():
    """You divided by n − 1. These are all experts there are, no sample of them."""
    return LOADS.std(ddof=1) / LOADS.mean()


@spread.misconception()
def variance_over_mean():
    """That is the variance divided by the mean: take its root first."""
    return LOADS.var() / LOADS.mean()


@spread.misconception()
def deviation_alone():
    """That is the standard deviation. Divide it by the mean, so that it has no unit."""
    return LOADS.std()
