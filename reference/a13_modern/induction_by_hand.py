"""Two heads that copy: the weights of an induction circuit, chosen by hand.

Source: Elhage et al. (2021), "A mathematical framework for transformer circuits"; Olsson et al.
(2022), "In-context learning and induction heads".
"""

from itertools import product

import numpy as np

from autograder.exercise import Choice, Exercise, Formula, Mismatch, Numbers, agree, require
from reference.helpers import softmax

exercise = Exercise(
    "induction_by_hand",
    title="Two heads that copy",
    source="Elhage et al. (2021); Olsson et al. (2022)",
    minutes=40,
    hints=[
        "Write each of the four matrices in blocks of token, position, previous and output. Each "
        "of them needs a single block that isn't 0.",
        "qk[r, c] is what a query with a 1 in place r and a key with a 1 in place c add to the "
        "score. Which place of the query should meet which place of the key?",
        "For the logits without a start symbol ask what position 0 attends to in the first layer, "
        "and what it then claims to have seen before itself.",
    ],
)

NAMES = ("qk1", "ov1", "qk2", "ov2")


def run(W, ids, V, n):  # given
    """Return the logits (t, V) and both layers' attention (2, t, t) of the model."""
    t = len(ids)
    X = np.zeros((t, 3 * V + n))
    X[np.arange(t), ids] = 1
    X[np.arange(t), V + np.arange(t)] = 1
    maps = []
    for layer in "12":
        scores = np.where(np.tri(t, dtype=bool), X @ W["qk" + layer] @ X.T, -np.inf)
        maps.append(softmax(scores))
        X = X + maps[-1] @ X @ W["ov" + layer]
    return X[:, 2 * V + n :], np.stack(maps)


def blocks(V, n):
    """Where token, position, previous token and output stand in the stream."""
    return np.split(np.arange(3 * V + n), [V, V + n, 2 * V + n])


def empty(V, n):
    """Return the four matrices, all 0."""
    return {name: np.zeros((3 * V + n, 3 * V + n)) for name in NAMES}


def circuit(V, n, sharp=50.0):
    """Return the weights of a head for the token before and one that looks behind a copy."""
    W, (token, position, previous, output) = empty(V, n), blocks(V, n)
    W["qk1"][np.ix_(position, position)] = sharp * np.eye(n, k=-1)
    W["ov1"][np.ix_(token, previous)] = np.eye(V)
    W["qk2"][np.ix_(token, previous)] = sharp * np.eye(V)
    W["ov2"][np.ix_(token, output)] = np.eye(V)
    return W


@exercise.reference
def induction_weights(V: int, n: int) -> dict:
    """Look one back, write what stands there; look for one's own token there, and vote."""
    return circuit(V, n)


@exercise.alternative
def louder_and_softer(V, n):
    """Share the factors between the matrices in another way."""
    W = circuit(V, n)
    return {"qk1": W["qk1"] / 2, "ov1": 5 * W["ov1"], "qk2": W["qk2"] / 4, "ov2": 30 * W["ov2"]}


@exercise.alternative
def place_by_place(V, n):
    """Count the places by hand."""
    W = empty(V, n)
    for i in range(1, n):
        W["qk1"][V + i, V + i - 1] = 30
    for x in range(V):
        W["ov1"][x, V + n + x] = 1
        W["qk2"][x, V + n + x] = 30
        W["ov2"][x, 2 * V + n + x] = 1
    return W


@exercise.alternative
def all_others_punished(V, n):
    """Lower the score of every position but the one before."""
    W, (_, position, _, _) = circuit(V, n), blocks(V, n)
    W["qk1"][np.ix_(position, position)] = 40 * np.eye(n, k=-1) - 40
    return W


@exercise.alternative
def distance_as_a_parabola(V, n):
    """Scores that fall with the square of the distance from the position before."""
    W, (_, position, _, _) = circuit(V, n), blocks(V, n)
    i, j = np.indices((n, n))
    W["qk1"][np.ix_(position, position)] = np.maximum(-8.0 * (i - 1 - j) ** 2, -90)
    return W


@exercise.alternative
def as_lists(V, n):
    """Lists of rows, with no more than is needed for 0.99."""
    return {name: matrix.tolist() for name, matrix in circuit(V, n, 12.0).items()}


SIZES = ((6, 12), (9, 20), (5, 31))


def weights(call, V, n):
    """Return the student's four matrices, once they can be multiplied."""
    W, width = call(V, n), 3 * V + n
    require(
        isinstance(W, dict) and set(NAMES) <= set(W),
        "the result should be a dictionary with qk1, ov1, qk2 and ov2",
    )
    W = {name: np.asarray(W[name], float) for name in NAMES}
    for name, matrix in W.items():
        require(matrix.shape == (width, width), f"{name} has the shape {matrix.shape}")
        require(bool(np.isfinite(matrix).all()), f"{name} holds what is no number")
    return W


def strings(call, rng):
    """Hidden words that are repeated: the weights' logits and maps, ids, length of the word."""
    for V, n in SIZES:
        W = weights(call, V, n)
        for _ in range(6):
            m = int(rng.integers(2, V))
            ids = np.append(0, np.resize(1 + rng.permutation(V - 1)[:m], n - 1))
            yield *run(W, ids, V, n), ids, m


def pattern(W, V, n):
    """Say which blocks of the matrices hold something, and along which diagonal most of it."""
    found = []
    for name in NAMES:
        for (i, rows), (j, columns) in product(enumerate(blocks(V, n)), repeat=2):
            block = W[name][np.ix_(rows, columns)]
            if block.any():
                found.append((name, i, j, max((-1, 0, 1), key=lambda k: np.diag(block, k).mean())))
    return str(found)


def holds(condition, call, message):
    """Require a condition of weights that may be scaled as one likes: their pattern tells more."""
    if not condition:
        V, n = SIZES[0]
        raise Mismatch(message, kind=pattern(weights(call, V, n), V, n), free=True)


@exercise.check(points=1.25)
def first_layer_looks_one_back(call, rng):
    """In layer 1 every position puts at least 0.99 on the one before it."""
    for _, maps, _, _ in strings(call, rng):
        seen = np.diag(maps[0], -1).min()
        holds(seen >= 0.99, call, f"some position puts {seen:.3g} on the one before it")


@exercise.check(points=1)
def second_layer_looks_behind_the_copy(call, rng):
    """In layer 2 at least 0.99 lies on the keys that stand behind earlier copies of the token."""
    for _, maps, ids, m in strings(call, rng):
        for t in range(m + 1, len(ids)):
            behind = [j for j in range(2, t + 1) if ids[j - 1] == ids[t]]
            seen = maps[1][t][behind].sum()
            holds(seen >= 0.99, call, f"some position puts {seen:.3g} there")


@exercise.check(points=1.25)
def predictions_are_exact(call, rng):
    """From its second pass on, a repeated word is continued rightly, whichever word it is."""
    for logits, _, ids, m in strings(call, rng):
        for t in range(m + 1, len(ids) - 1):
            others = np.delete(logits[t], ids[t + 1])
            right = logits[t, ids[t + 1]] > others.max() + 1e-6
            holds(right, call, "a symbol is predicted wrongly")
    logits, _ = run(weights(call, 9, 12), [0, 8, 3, 5, 2, 8], 9, 12)
    require(logits[-1].argmax() == 3, "a pair that came once is not continued")


@exercise.check(points=0.5, after=first_layer_looks_one_back)
def numbers_are_moderate(call, rng):
    """No entry is larger than 100 in size, and the same V and n give the same weights."""
    for V, n in SIZES:
        W = weights(call, V, n)
        agree(weights(call, V, n), W, what="the weights at a second call")
        largest = max(abs(matrix).max() for matrix in W.values())
        require(largest <= 100, f"there is an entry of size {largest:.4g}")


@exercise.misconception
def first_head_off(V, n):
    """Nothing writes into the slot: the second head has nothing to match, and averages."""
    return circuit(V, n) | {"ov1": empty(V, n)["ov1"]}


@exercise.misconception
def factors_exchanged(V, n):
    """The query asks with its own token, the key answers with its predecessor: not vice versa."""
    W = circuit(V, n)
    return W | {"qk2": W["qk2"].T}


@exercise.misconception
def attends_to_the_copy(V, n):
    """The earlier x is not the answer; the token behind it is. Match what stands before a key."""
    W, (token, *_) = circuit(V, n), blocks(V, n)
    W["qk2"] = empty(V, n)["qk2"]
    W["qk2"][np.ix_(token, token)] = 50 * np.eye(V)
    return W


@exercise.misconception
def looks_one_ahead(V, n):
    """Your first head prefers the next position, which the mask hides. Rows are queries."""
    W = circuit(V, n)
    return W | {"qk1": W["qk1"].T}


@exercise.misconception
def looks_at_itself(V, n):
    """Your first head looks at its own position: so every key claims to follow its own token."""
    W, (_, position, _, _) = circuit(V, n), blocks(V, n)
    W["qk1"][np.ix_(position, position)] = 50 * np.eye(n)
    return W


@exercise.misconception
def predecessor_voted_for(V, n):
    """You copy the slot of the key, which is the token you have. Vote for the key's own token."""
    W, (_, _, previous, output) = circuit(V, n), blocks(V, n)
    W["ov2"] = empty(V, n)["ov2"]
    W["ov2"][np.ix_(previous, output)] = np.eye(V)
    return W


@exercise.misconception
def output_left_empty(V, n):
    """The logits are read from the output slot, and nothing is written there."""
    W, (token, *_) = circuit(V, n), blocks(V, n)
    W["ov2"] = empty(V, n)["ov2"]
    W["ov2"][np.ix_(token, token)] = np.eye(V)
    return W


@exercise.misconception(credit=0.5)
def scores_too_small(V, n):
    """It points the right way, but the other keys together take too much: raise the scores."""
    return circuit(V, n, 4.0)


@exercise.misconception
def scores_without_measure(V, n):
    """Such large entries aren't needed: which score gives a key 0.99 among n?"""
    return circuit(V, n, 1e4)


@exercise.part(
    points=1.5,
    answer=Formula(
        "n p",
        {"n": "positive", "p": "positive"},
        practice=(
            ("The weight of a key of score log n among n keys, if the others have the score 0."),
            "n/(2*n - 1)",
        ),
    ),
)
def score():
    """The score that gives a key the weight p among n keys, if the others have the score 0."""
    return "log((n - 1)*p/(1 - p))"


score.mistakes(
    one_rival=("log(p/(1 - p))", "All n − 1 other keys weigh against it together."),
    rival_too_many=("log(n*p/(1 - p))", "The key is no rival of its own: n − 1 others are left."),
    as_much_as_the_others=(
        "log(n - 1)",
        "That gives the key as much as all others together, ½. It should have p.",
    ),
    odds_upside_down=(
        "log((n - 1)*(1 - p)/p)",
        "The larger p is, the larger the score has to be. Which way does yours go?",
    ),
    rivals_below=(
        "log(p/((n - 1)*(1 - p)))",
        "More rivals need a larger score: n − 1 is on the wrong side.",
    ),
    what_the_rivals_keep=("log((n - 1)*p)", "The rivals share 1 − p among them: it is missing."),
    own_weight_missing=(
        "log((n - 1)/(1 - p))",
        "The p of the key itself is missing: yours is right for p near 1 only.",
    ),
    logarithm_forgotten=("(n - 1)*p/(1 - p)", "That is e to the power of the score."),
)


BARE = [1, 2, 3, 1]


@exercise.part(points=0.5, answer=Numbers())
def row(induction_weights):
    """The row of the second layer's attention at the last token of (1, 2, 3, 1)."""
    return run(induction_weights(6, 12), BARE, 6, 12)[1][1][-1]


row.mistakes(
    as_with_a_start=(
        np.array([0, 1.0, 0, 0]),
        "Position 0 has no predecessor but itself, so it claims to follow its own token.",
    ),
    row_of_the_copy=(
        np.array([0.5, 0, 0, 0.5]),
        "You found what equals the token. The second head asks what stands before a key.",
    ),
    row_before_the_copy=(
        np.array([0, 0, 1.0, 0]),
        "You let the query ask with its slot. It asks with its own token.",
    ),
    first_position_alone=(
        np.array([1.0, 0, 0, 0]),
        "What does position 1 say about its predecessor? More than one key may match.",
    ),
    nothing_matched=(
        np.full(4, 0.25),
        "Some keys do match. What stands in the slot of each of the four?",
    ),
    itself_matched=(
        np.array([0, 0, 0, 1.0]),
        "The last token finds itself there. Its slot says what stands *before* it.",
    ),
)


@exercise.part(points=0.5, answer=Numbers())
def logits(induction_weights):
    """The logits of the symbols 0 to 3 there."""
    return run(induction_weights(6, 12), BARE, 6, 12)[0][-1, :4]


@logits.alternative
def votes_of_the_row(row):
    """Each key votes for its own token, with its weight in the student's row."""
    return np.bincount(BARE, weights=row, minlength=4)


logits.mistakes(
    logits_as_with_a_start=(
        np.array([0, 0, 1.0, 0]),
        "Position 0 has no predecessor but itself: that is what a start symbol is for.",
    ),
    logits_before_the_copy=(
        np.array([0, 0, 0, 1.0]),
        "That is what stood before the earlier copy.",
    ),
    token_itself=(
        np.array([0, 1.0, 0, 0]),
        "That votes for the token which it has already. Every key that is attended to has a vote.",
    ),
    everybody_votes=(
        np.array([0, 0.5, 0.25, 0.25]),
        "You let all keys vote alike. Only those that are attended to have a vote.",
    ),
)


@logits.misconception()
def probabilities():
    """You put the logits through a softmax. They were asked for as they are."""
    return softmax(np.array([0, 0.5, 0.5, 0]))


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "The key of the second head must know the token *before* it, and only an earlier "
            "layer can have written that.",
            "One head can't look at one key alone.",
            "What one layer gives are convex combinations of values.",
            "Positions are lost after one layer.",
        ]
    ),
)
def why_two():
    """What makes two layers necessary?"""
    return "A"


why_two.mistakes(
    one_key_needs_two_layers=("B", "Your first layer looks at one key alone, with one head."),
    hull_is_the_obstacle=(
        "C",
        "The values of every layer are averaged so, and one of them alone is such an average.",
    ),
    positions_lost=("D", "The stream keeps what it holds: each layer only adds to it."),
)
