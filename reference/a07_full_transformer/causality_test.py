"""A tester that finds out whether a model looks ahead.

Source: Vaswani et al. (2017), section 3.2.3, on preserving the auto-regressive property.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from autograder.exercise import Choice, Exercise, agree, given, made
from reference.helpers import attention

exercise = Exercise(
    "causality_test",
    title="Write the test yourself",
    source="Vaswani et al. (2017), section 3.2.3",
    minutes=50,
    hints=[
        "Change one token, run the model again, and compare the outputs before that place.",
        "Compare with a tolerance, and change a token by a lot: a small change can hide in "
        "rounding.",
    ],
)


@exercise.reference
def count_leaks(f, X: Float[ndarray, "n d"], eps: float = 1.0, tol: float = 1e-9) -> int:
    """Count the pairs of a token that is changed and an earlier output that moves."""
    return leaks(f, X, one_column(X, eps), tol)


def leaks(f, X, change, tol, earlier=np.less, moved=None):
    """Count them for a given change of each token."""
    n, before = len(X), f(X.copy())
    total = 0
    for j in range(n):
        other = X.copy()
        other[j] += change[j]
        difference = f(other) - before
        moves = np.abs(difference).max(axis=1) > tol if moved is None else moved(difference, tol)
        total += int(moves[earlier(np.arange(n), j)].sum())
    return total


def one_column(X, eps):
    """Change one column of each token, so that no norm can hide it."""
    change = np.zeros(X.shape)
    change[:, 0] = eps
    return change


@exercise.alternative
def with_random_changes(f, X, eps=1.0, tol=1e-9):
    """Change all columns at random, all tokens in turn."""
    change = eps * np.random.default_rng(1).normal(size=X.shape)
    found = np.zeros((len(X), len(X)), bool)
    for j, moved in enumerate(change):
        other = np.array(X, float)
        other[j] = other[j] + moved
        found[j] = np.any(np.abs(np.asarray(f(other)) - np.asarray(f(X))) > tol, axis=-1)
    return int(np.tril(found, -1).sum())


@exercise.alternative
def with_alternating_signs(f, X, eps=1.0, tol=1e-9):
    """Compare every earlier output by itself."""
    total = 0
    for j in range(1, len(X)):
        X2 = X + 0.0
        X2[j] += eps * np.where(np.arange(X.shape[1]) % 2, 1.0, -1.5)
        for a, b in zip(f(X)[:j], f(X2)[:j], strict=True):
            total += bool(np.max(np.abs(a - b)) > tol)
    return total


@exercise.alternative
def in_place_and_back(f, X, eps=1.0, tol=1e-9):
    """Change the token where it stands, and put it back."""
    X = X.copy()
    base, total = np.array(f(X)), 0
    for j in range(len(X)):
        saved = X[j].copy()
        X[j, -1] += eps
        total += np.sum(abs(f(X) - base)[:j].max(axis=1, initial=0) > tol)
        X[j] = saved
    return int(total)


def window(n, back, ahead):  # given
    """Return a mask that allows so many positions back, and ahead."""
    i = np.arange(n)
    return (i >= i[:, None] - back) & (i <= i[:, None] + ahead)


def averaging(back, ahead):  # given
    """The mean of the tokens so many positions back, and ahead."""

    def model(X):
        mask = window(len(X), back, ahead)
        return mask @ X / mask.sum(axis=1, keepdims=True)

    return model


def attending(back, ahead):
    """Attention that looks so many positions back, and ahead."""
    return lambda X: attention(X, X, X, window(len(X), back, ahead))[0]


def normed(X, axis=-1):
    """Subtract the mean and divide by the deviation."""
    return (X - X.mean(axis, keepdims=True)) / np.sqrt(X.var(axis, keepdims=True) + 1e-5)


def each_by_itself(X):
    """A layer norm and a ReLU, token by token."""
    return np.maximum(normed(X), 0)


def ahead_only(X):
    """Attention whose mask is transposed."""
    return attention(X, X, X, np.tri(len(X), dtype=bool).T)[0]


def all_in_the_first(X):
    """The first output is the sum of all tokens, the others are their own."""
    return np.concatenate([X.sum(axis=0, keepdims=True), X[1:]])


def normed_first(X):
    """A layer norm, then attention that looks ahead."""
    return attending(3, 2)(normed(X))


def normed_last(X):
    """Attention that looks ahead, then a layer norm."""
    return normed(attending(3, 2)(X))


def normed_over_positions(X):
    """Causal attention after a norm over the wrong axis."""
    return attending(9, 0)(normed(X, axis=0))


def turned_round(X):
    """Causal attention on the reversed sequence."""
    return attending(9, 0)(X[::-1])


def glance(size, columns):
    """The token and the last but one, and in some columns a little of the next two."""

    def model(X):
        out = X.copy()
        out[2:] += X[:-2]
        ahead = np.concatenate([X.sum(axis=1), [0, 0]])
        out[:, columns] += size * (ahead[1:-1] + 2 * ahead[2:])[:, None]
        return out

    return model


def tokens(rng, n=7, d=4):
    """Tokens that differ."""
    return rng.normal(size=(n, d))


@exercise.check(points=1, visible=True)
def means_of_tokens(call, rng):
    """A mean over all tokens up to two ahead, over all tokens, and over all tokens so far."""
    X = tokens(rng)
    agree(call(made(averaging, 3, 2), X), 11, what="the count for a mean that looks two ahead")
    agree(call(made(averaging, 9, 9), X), 21, what="the count for a mean of all tokens")
    agree(call(made(averaging, 9, 0), X), 0, what="the count for a running mean")


@exercise.check(points=0.5, after=means_of_tokens)
def clean_models(call, rng):
    """Three models that don't look ahead: no leak is reported."""
    for model in (made(attending, 9, 0), made(attending, 1, 0), given(each_by_itself)):
        agree(call(model, tokens(rng)), 0, what="the count for a model that has none")


@exercise.check(points=0.75)
def wrong_masks(call, rng):
    """A sequence turned round, a transposed mask, one that is shifted: every leak is counted."""
    X = tokens(rng, 6)
    agree(call(given(turned_round), X), 9, what="the number of leaks")
    agree(call(given(ahead_only), X), 15, what="the number of leaks")
    agree(call(made(attending, 9, 1), X), 5, what="the number of leaks")
    agree(call(given(all_in_the_first), X), 5, what="the number of leaks")


@exercise.check(points=0.75)
def norms(call, rng):
    """A layer norm hides no leak, and a norm over positions is one."""
    X = tokens(rng)
    agree(call(given(normed_last), X), 11, what="the number of leaks before a layer norm")
    agree(call(given(normed_first), X), 11, what="the number of leaks behind a layer norm")
    agree(
        call(given(normed_over_positions), X),
        21,
        what="the count for a norm over positions",
    )


@exercise.check(points=0.5)
def in_any_column(call, rng):
    """A leak counts once, in whatever columns and direction it shows."""
    X = tokens(rng)
    for size, columns in ((0.5, [0, 1, 2]), (-0.5, [0]), (0.5, [3]), (-0.5, [1])):
        agree(call(made(glance, size, columns), X), 11, what="the number of leaks")


@exercise.check(points=0.5)
def size_and_tolerance(call, rng):
    """eps is the size of the change, and what moves by no more than tol does not count."""
    X = 5 + tokens(rng)
    faint = made(glance, 1e-6, [0, 1, 2, 3])
    agree(call(faint, X), 11, what="the number of leaks")
    agree(call(faint, X, 1.0, 1e-2), 0, what="the number of leaks with a large tol")
    agree(
        call(faint, X, 1e8, 1e-2), 11, what="the number of leaks with a large eps and a large tol"
    )


@exercise.misconception
def same_change_in_all_columns(f, X, eps=1.0, tol=1e-9):
    """You add the same to all columns of a token. A layer norm subtracts it: nothing is seen."""
    return leaks(f, X, np.full(X.shape, eps), tol)


@exercise.misconception
def sign_matters(f, X, eps=1.0, tol=1e-9):
    """An output may move down as well. Compare the size of the difference."""
    return leaks(f, X, one_column(X, eps), tol, moved=lambda D, tol: D.max(axis=1) > tol)


@exercise.misconception
def first_column_compared(f, X, eps=1.0, tol=1e-9):
    """You compare one column of the outputs. A leak may show in any."""
    change = one_column(X, eps)
    return leaks(f, X, change, tol, moved=lambda D, tol: abs(D[:, 0]) > tol)


@exercise.misconception
def columns_added(f, X, eps=1.0, tol=1e-9):
    """You add up the differences of the columns. They can cancel: behind a norm they always do."""
    return leaks(f, X, 1.5 * one_column(X, eps), tol, moved=lambda D, tol: abs(D.sum(axis=1)) > tol)


@exercise.misconception(credit=0.5)
def entries_counted(f, X, eps=1.0, tol=1e-9):
    """You count entries. An output that moves in several columns is one output."""
    change = one_column(X, eps)
    return leaks(f, X, change, tol, moved=lambda D, tol: (abs(D) > tol).sum(axis=1))


@exercise.misconception(credit=0.5)
def entries_counted_for_all_columns(f, X, eps=1.0, tol=1e-9):
    """You count entries. An output that moves in several columns is one output."""
    change = eps * np.random.default_rng(1).normal(size=X.shape)
    return leaks(f, X, change, tol, moved=lambda D, tol: (abs(D) > tol).sum(axis=1))


@exercise.misconception(credit=0.5)
def outputs_of_the_token_itself(f, X, eps=1.0, tol=1e-9):
    """You count the output at the changed token. It may move, only earlier ones may not."""
    return leaks(f, X, one_column(X, eps), tol, earlier=np.less_equal)


@exercise.misconception
def later_outputs(f, X, eps=1.0, tol=1e-9):
    """You count later outputs. They may depend on the token; earlier ones may not."""
    return leaks(f, X, one_column(X, eps), tol, earlier=np.greater)


@exercise.misconception
def all_outputs(f, X, eps=1.0, tol=1e-9):
    """You count all outputs that move. The token's own and later ones may."""
    return leaks(f, X, one_column(X, eps), tol, earlier=lambda i, _: i >= 0)


@exercise.misconception(credit=0.5)
def last_token_only(f, X, eps=1.0, tol=1e-9):
    """You change the last token alone. Every token has to be changed once."""
    change = one_column(X, eps)
    change[:-1] = 0
    return leaks(f, X, change, tol)


@exercise.misconception(fatal="who always says yes answers the same")
def yes_or_no(f, X, eps=1.0, tol=1e-9):
    """You say whether there is a leak. How many are there?"""
    return int(count_leaks(f, X, eps, tol) > 0)


@exercise.misconception(credit=0.5)
def tokens_counted(f, X, eps=1.0, tol=1e-9):
    """You count the tokens that leak. Count every earlier output that one of them moves."""
    change, total = one_column(X, eps), 0
    for j in range(len(X)):
        total += leaks(f, X, change * (np.arange(len(X)) == j)[:, None], tol) > 0
    return total


@exercise.misconception(credit=0.5)
def outputs_counted(f, X, eps=1.0, tol=1e-9):
    """You count the outputs that move. One that three later tokens move leaks three times."""
    change, seen = one_column(X, eps), np.zeros(len(X), bool)
    for j in range(1, len(X)):
        other = f(X + change * (np.arange(len(X)) == j)[:, None])
        seen[:j] |= (np.abs(other - f(X.copy())).max(axis=1) > tol)[:j]
    return int(seen.sum())


@exercise.misconception
def never_put_back(f, X, eps=1.0, tol=1e-9):
    """You change one token after the other and put none back: what moves is due to earlier ones."""
    before, other, total = f(X), X.copy(), 0
    for j in range(len(X)):
        other[j, 0] += eps
        total += int((np.abs(f(other) - before).max(axis=1) > tol)[:j].sum())
    return total


@exercise.misconception
def tolerance_ignored(f, X, eps=1.0, tol=1e-9):
    """`tol` has no effect."""
    return count_leaks(f, X, eps)


@exercise.misconception
def relative_tolerance(f, X, eps=1.0, tol=1e-9):
    """np.isclose and np.allclose allow a share of the number as well: `rtol`. Only `tol` counts."""
    before, change, total = f(X.copy()), one_column(X, eps), 0
    for j in range(len(X)):
        other = f(X + change * (np.arange(len(X)) == j)[:, None])
        total += int((~np.isclose(other, before, atol=tol).all(axis=1))[:j].sum())
    return total


@exercise.misconception
def size_ignored(f, X, eps=1.0, tol=1e-9):
    """`eps` has no effect."""
    return count_leaks(f, X, 1.0, tol)


@exercise.part(
    points=1,
    answer=Choice(
        [
            "those before $i$",
            "those before $i$, and $i$ itself",
            "$i$ and those after it",
            "$i$ and the one right in front of it",
        ]
    ),
)
def may_influence():
    """Which tokens may influence output i of a causal model?"""
    return "B"


may_influence.mistakes(
    not_itself=("A", "Without its own token, output 0 would depend on nothing at all."),
    later_ones=("C", "Those are the ones that are not known yet when token i has been written."),
    neighbours_only=("D", "A causal model need not forget: what came long ago may count."),
)
