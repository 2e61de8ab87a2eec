"""Self-attention without positions is permutation equivariant: stated, proved and tested.

Source: Vaswani et al. (2017), section 3.5; Lee et al. (2019), "Set transformer", section 3.
"""

from itertools import permutations

import numpy as np

from autograder.algebra import Fact, IndexedChain
from autograder.exercise import Derivation, Exercise, Labels, Ordering, agree, given, made, seeded
from reference.helpers import attention

exercise = Exercise(
    "perm_equivariance",
    title="The precise statement",
    source="Vaswani et al. (2017), section 3.5; Lee et al. (2019), section 3",
    minutes=75,
    hints=[
        "Apply P to X first and follow it through queries, keys and values: on which side of "
        "each does it stand?",
        "A permutation matrix has P Pᵀ = I, and a softmax that goes row by row doesn't care "
        "in which order rows and columns stand.",
    ],
)

proof = Ordering(
    [
        "Put $PX$ in the place of $X$. Since $(PX)W = P(XW)$, queries, keys and values become "
        "$PQ$, $PK$ and $PV$.",
        "So the scores $S$ become $PQ\\,(PK)^\\top = P S P^\\top$, up to the scale, which stays.",
        "In these scores the rows have changed places, and the columns in the same way; no entry "
        "is another one.",
        "Softmax treats every row alike, and within a row every column alike. So the weights $A$ "
        "change places as the scores do: they become $P A P^\\top$.",
        "With these weights and the values from the beginning, the output is $(P A P^\\top)(P V)$.",
        "In the middle of this product stands $P^\\top P = I$, because $P$ has a single 1 in each "
        "row and in each column.",
        "What is left is $P A V = P f(X)$, as was to be shown.",
    ],
    distractors={
        "softmax_taken_for_linear": (
            "Softmax is a linear map, so $\\operatorname{softmax}(P S P^\\top) = "
            "P \\operatorname{softmax}(S) P^\\top$.",
            "Softmax is not linear: what moves entries passes through it for another reason.",
        ),
        "permutations_taken_to_commute": (
            "A permutation matrix commutes with all matrices, so $P S P^\\top = S P P^\\top = S$.",
            "$P S$ moves the rows of S and $S P$ its columns: they are different.",
        ),
        "keys_left_in_place": (
            "So the scores become $PS$: each query takes its row of scores along.",
            "The keys are rows of PX, too: with them the columns of the scores move.",
        ),
    },
)


@exercise.variant
def draw(rng):
    """The steps of the proof by their letters."""
    return {"steps": proof.shuffled(rng)}


@exercise.part(points=3, answer=proof)
def proof_order(steps):
    """f(PX) = P f(X) for self-attention f and any permutation matrix P: the proof in order."""
    return proof.order(steps)


chain = IndexedChain(
    start="softmax(P*X*W_Q*(P*X*W_K)^T)*P*X*W_V",
    target="P*softmax(X*W_Q*W_K^T*X^T)*X*W_V",
    matrices=("X", "W_Q", "W_K", "W_V"),
    permutations=("P",),
    by_rows=("softmax",),
    rules=(
        "transpose of a product",
        "permutations pass through",
        Fact("P^T P = I", "P^T*P", "I"),
    ),
)


@exercise.part(points=1.5, answer=Derivation(chain))
def in_symbols():
    """The same as equations between matrices."""
    return [
        "softmax(P*X*W_Q*W_K^T*X^T*P^T)*P*X*W_V  # transpose of a product",
        "P*softmax(X*W_Q*W_K^T*X^T)*P^T*P*X*W_V  # permutations pass through",
        "P*softmax(X*W_Q*W_K^T*X^T)*X*W_V  # P^T P = I",
    ]


@in_symbols.alternative
def in_latex():
    """Without signs between the matrices, with an identity that is left out in the end."""
    return [
        r"\operatorname{softmax}(P X W_Q W_K^\top X^\top P^\top) P X W_V",
        r"P \operatorname{softmax}(X W_Q W_K^\top X^\top) P^\top P X W_V",
        r"P \operatorname{softmax}(X W_Q W_K^\top X^\top) I X W_V",
        r"P \operatorname{softmax}(X W_Q W_K^\top X^\top) X W_V",
    ]


@in_symbols.alternative
def one_side_at_a_time():
    """Take out P on the left first, then Pᵀ on the right."""
    return [
        "softmax(P*X*W_Q*W_K^T*X^T*P^T)*P*X*W_V",
        "= P*softmax(X*W_Q*W_K^T*X^T*P^T)*P*X*W_V  # permutations pass through",
        "= P*softmax(X*W_Q*W_K^T*X^T)*P^T*P*X*W_V  # permutations pass through",
        "= P*softmax(X*W_Q*W_K^T*X^T)*X*W_V  # P^T P = I",
    ]


@in_symbols.alternative
def transposed_in_two_steps():
    """Transpose P X W_K from its last factor on, and write the identity down."""
    return [
        "softmax(P*X*W_Q*W_K^T*(P*X)^T)*P*X*W_V  # transpose of a product",
        "softmax(P*X*W_Q*W_K^T*X^T*P^T)*P*X*W_V  # transpose of a product",
        "P*softmax(X*W_Q*W_K^T*X^T)*(P^T*P)*X*W_V",
        "P*softmax(X*W_Q*W_K^T*X^T)*I*X*W_V",
        "P*softmax(X*W_Q*W_K^T*X^T)*X*W_V",
    ]


labels = Labels(
    "stays moves neither",
    wrong={
        "keys_alone": (
            {"keys": "stays"},
            "If the keys move alone, each value is weighted by the score of another token's key.",
        ),
        "keys_taken_for_queries": (
            {"keys": "moves"},
            "Rows of the output move with the queries. What do keys without their values change?",
        ),
        "queries_do_not_matter": (
            {"queries": "stays"},
            "Each row of the output belongs to a query.",
        ),
        "pairs_seem_to_have_an_order": (
            {"keys_and_values": "moves"},
            "The rows of the output belong to queries, which stay where they are.",
        ),
        "causal_mask_harmless": (
            {"causal": "moves"},
            "A causal mask asks who stands before whom: that is a position.",
        ),
        "mask_left_behind": (
            {"mask": "neither"},
            "The mask moves with the tokens: each pair of them is allowed or not, as before.",
        ),
        "positions_harmless": (
            {"places": "moves"},
            "With encodings of its place a word gets another vector at another place.",
        ),
    },
)


@exercise.part(points=1.5, answer=labels)
def effects():
    """What becomes of the output when queries, keys, values, masks or whole sentences move?"""
    return {
        "keys_and_values": "stays",
        "queries": "moves",
        "keys": "neither",
        "causal": "neither",
        "mask": "moves",
        "places": "neither",
    }


@exercise.reference
def is_equivariant(f, n, d, rng):
    """Say whether f(PX) = P f(X), up to rounding, for every order of the n rows of a random X."""
    X = rng.standard_normal((n, d))
    at_rest = f(X)
    orders = map(list, permutations(range(n)))
    return all(bool(np.allclose(f(X[order]), at_rest[order])) for order in orders)


def each_row(X):  # given
    """Send every row through the same map."""
    return X**2 + X[:, ::-1]


def numbered_means(X):  # given
    """Return the mean of the rows, in each row times its number."""
    return np.arange(len(X))[:, None] * X.mean(axis=0)


def attending(d, seed, causal):
    """Return self-attention with projections, causal or not."""
    W = np.random.default_rng(seed).standard_normal((3, d, d))

    def f(X):
        q, k, v = X @ W
        return attention(q, k, v, np.tri(len(X), dtype=bool) if causal else None)[0]

    return f


def flattened(n, d):
    """Return a network that sees all rows as one long vector."""
    W = np.random.default_rng(n + d).standard_normal((n * d, n * d))
    return lambda X: np.tanh(W @ X.ravel()).reshape(X.shape)


def row_before(X):
    """Add to each row the one before it, in a circle."""
    return X + np.roll(X, 1, axis=0)


def row_opposite(X):
    """Add to each row the one that stands opposite."""
    return X + X[::-1]


def signed(X):
    """Turn all signs with each exchange of two rows: every second order leaves it alone."""
    i, j = np.triu_indices(len(X), 1)
    return X * np.sign(np.prod(X[i, 0] - X[j, 0]))


@exercise.check(points=1, visible=True)
def tells_rows_from_places(call, rng):
    """A map of each row by itself is equivariant; a mean times the row's number is not."""
    agree(call(given(numbered_means), 4, 3, seeded(2)), False)
    agree(call(given(each_row), 2, 3, seeded(3)), True)
    agree(call(given(each_row), 4, 3, seeded(1)), True)


@exercise.check(points=1, after=tells_rows_from_places)
def judges_attention(call, rng):
    """Attention is equivariant up to rounding; with a causal mask, or as an MLP, it is not."""
    agree(call(given(numbered_means), 3, 4, seeded(6)), False)
    agree(call(given(each_row), 2, 4, seeded(4)), True)
    agree(call(given(each_row), 3, 4, seeded(5)), True)
    for seed in range(4):
        agree(call(made(attending, 5, seed, False), 4, 5, seeded(seed)), True)
    agree(call(made(attending, 5, 7, True), 4, 5, seeded(8)), False)
    agree(call(made(flattened, 4, 3), 4, 3, seeded(9)), False)


@exercise.check(points=1, after=tells_rows_from_places)
def no_order_is_left_out(call, rng):
    """A function that only some orders leave alone is not equivariant."""
    agree(call(given(each_row), 2, 3, seeded(10)), True)
    agree(call(given(row_opposite), 4, 3, seeded(11)), False)
    agree(call(given(row_before), 4, 3, seeded(12)), False)
    for seed in range(8):
        agree(call(given(signed), 4, 3, seeded(seed)), False)


@exercise.misconception
def a_single_order_by_lot(f, n, d, rng):
    """You try one order. There are functions that half of all orders leave alone."""
    X = rng.standard_normal((n, d))
    order = rng.permutation(n)
    return bool(np.allclose(f(X[order]), f(X)[order]))


@exercise.misconception
def shifts_alone(f, n, d, rng):
    """You only shift the rows in a circle. Equivariance is about every order."""
    X = rng.standard_normal((n, d))
    shifts = range(n)
    return all(bool(np.allclose(f(np.roll(X, s, 0)), np.roll(f(X), s, 0))) for s in shifts)


@exercise.misconception
def rows_turned_round_alone(f, n, d, rng):
    """You only turn the order of the rows round. Equivariance is about every order."""
    X = rng.standard_normal((n, d))
    return bool(np.allclose(f(X[::-1]), f(X)[::-1]))


@exercise.misconception
def equal_to_the_last_bit(f, n, d, rng):
    """You compare to the last bit. Sums in another order round differently: allow for that."""
    X = rng.standard_normal((n, d))
    orders = map(list, permutations(range(n)))
    return all(bool(np.array_equal(f(X[order]), f(X)[order])) for order in orders)


@exercise.misconception
def invariance_asked_for(f, n, d, rng):
    """You ask whether the output stays in place. Here it has to move with the rows."""
    X = rng.standard_normal((n, d))
    orders = map(list, permutations(range(n)))
    return all(bool(np.allclose(f(X[order]), f(X))) for order in orders)


@exercise.misconception(credit=0.5)
def output_moved_back(f, n, d, rng):
    """You move the output by the inverse order. P stands in front of both, X and f(X)."""
    X = rng.standard_normal((n, d))
    orders = map(list, permutations(range(n)))
    return all(bool(np.allclose(f(X[order]), f(X)[np.argsort(order)])) for order in orders)


@exercise.alternative
def neighbours_exchanged(f, n, d, rng):
    """Exchange neighbours: every order comes from such exchanges."""
    X = rng.standard_normal((n, d))
    for i in range(n - 1):
        order = np.arange(n)
        order[[i, i + 1]] = i + 1, i
        if not np.allclose(f(X[order]), f(X)[order]):
            return False
    return True


@exercise.alternative
def with_permutation_matrices(f, n, d, rng):
    """Multiply by permutation matrices."""
    X = rng.normal(size=(n, d))
    differences = [
        np.abs(f(P @ X) - P @ f(X)).max()
        for P in (np.eye(n)[list(order)] for order in permutations(range(n)))
    ]
    return max(differences) < 1e-9


@exercise.alternative
def many_orders_by_lot(f, n, d, rng):
    """Try a hundred orders and inputs by lot."""
    for _ in range(100):
        X, order = rng.normal(size=(n, d)), rng.permutation(n)
        if np.max(np.abs(f(X[order]) - f(X)[order])) > 1e-8:
            return False
    return True
