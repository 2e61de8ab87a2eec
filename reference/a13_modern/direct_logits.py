"""Contributions to a logit: the last stream is a sum, and so is every logit.

Source: nostalgebraist (2020), "Interpreting GPT: the logit lens"; Elhage et al. (2021), "A
mathematical framework for transformer circuits".
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from autograder.exercise import Choice, Exercise, Numbers, agree, data_file, require
from reference.helpers import echo_pass, softmax, split_heads

exercise = Exercise(
    "direct_logits",
    title="Who voted for this token?",
    source="nostalgebraist (2020); Elhage et al. (2021)",
    minutes=35,
    hints=[
        "Add the pieces up before you divide anything: the norm knows only their sum.",
        "For the lens, make a list of the sums so far. Each of them is normalised as if it were "
        "the last stream.",
        "For `change` compute the logits twice, each time from beginning to end.",
    ],
)

U = np.array([[1.0, 0, 1], [0, 1, -1]])
OTHER = np.abs(U)  # the last column read as (1, 1)


@exercise.variant
def draw(rng):
    """pieces: (4, 2), what embedding, head A, head B and feed-forward layer write."""
    while True:
        pieces = rng.integers(-2, 4, (4, 2))
        stream = pieces.sum(axis=0)
        vectors = [*pieces, *np.cumsum(pieces, axis=0), stream - pieces[1]]
        if stream.all() and all(x.any() for x in vectors):
            return {"pieces": pieces}


def divisor(x, eps=0.0):
    """Return the root of the mean square."""
    return np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)


@exercise.part(points=1, answer=Numbers())
def C(pieces):
    """The contribution of each piece to each logit: a row for each piece."""
    return pieces / divisor(pieces.sum(axis=0)) @ U


@C.misconception()
def normalised_one_by_one(pieces):
    """There is one divisor, that of the whole stream; pieces normalised alone don't add up."""
    return pieces / divisor(pieces) @ U


@C.misconception()
def not_normalised(pieces):
    """The output matrix reads the normalised stream."""
    return pieces @ U


@C.misconception(credit=0.5)
def last_column_misread(pieces):
    """The last token has the output column (1, −1): compare your matrix with the text."""
    return pieces / divisor(pieces.sum(axis=0)) @ OTHER


@C.misconception()
def length_in_place_of_the_root_mean_square(pieces):
    """You divided by the length of the stream. RMSNorm divides by the root of a *mean*."""
    return C.compute(pieces) / np.sqrt(2)


@C.misconception()
def root_forgotten(pieces):
    """You divided by the mean of the squares. The norm divides by its root."""
    return pieces / divisor(pieces.sum(axis=0)) ** 2 @ U


@C.misconception()
def mean_for_the_sum(pieces):
    """You took the mean of the pieces for the stream. The stream is their sum."""
    return pieces / divisor(pieces.mean(axis=0)) @ U


@C.misconception()
def divisors_of_the_sums_so_far(pieces):
    """You divided each piece by the norm of the sum so far. There is one divisor, the last one."""
    return pieces / divisor(np.cumsum(pieces, axis=0)) @ U


@exercise.part(points=1, answer=Numbers())
def lens(pieces):
    """The probability of token 1 after each piece, four numbers."""
    stream = np.cumsum(pieces, axis=0)
    return softmax(stream / divisor(stream) @ U)[:, 1]


@lens.misconception()
def lens_without_the_norm(pieces):
    """The output matrix reads the normalised stream, here as well."""
    return softmax(np.cumsum(pieces, axis=0) @ U)[:, 1]


@lens.misconception(credit=0.5)
def lens_with_the_last_column_misread(pieces):
    """The last token has the output column (1, −1): compare your matrix with the text."""
    stream = np.cumsum(pieces, axis=0)
    return softmax(stream / divisor(stream) @ OTHER)[:, 1]


@lens.misconception()
def each_piece_alone(pieces):
    """The lens asks what the model would say if it stopped here: sum first."""
    return softmax(pieces / divisor(pieces) @ U)[:, 1]


@lens.misconception()
def last_divisor_for_all(pieces):
    """If the model stopped here, the divisor would be that of the sum so far, not the last one."""
    return softmax(np.cumsum(C.compute(pieces), axis=0))[:, 1]


@lens.misconception()
def lens_of_token_0(pieces):
    """These are those of token 0. Tokens count from 0, and token 1 is the middle one."""
    stream = np.cumsum(pieces, axis=0)
    return softmax(stream / divisor(stream) @ U)[:, 0]


@lens.misconception()
def lens_of_token_2(pieces):
    """These are the probabilities of the last token. Token 1 is the middle one."""
    stream = np.cumsum(pieces, axis=0)
    return softmax(stream / divisor(stream) @ U)[:, 2]


@lens.misconception()
def contributions_through_softmax(C):
    """You took the rows of C by themselves. The lens asks what the sum so far says."""
    return softmax(C)[:, 1]


@lens.misconception()
def lens_with_the_length(pieces):
    """You divided by the length of the stream. RMSNorm divides by the root of a *mean*."""
    stream = np.cumsum(pieces, axis=0)
    return softmax(stream / divisor(stream) / np.sqrt(2) @ U)[:, 1]


@lens.misconception()
def logits_for_probabilities(pieces):
    """These are logits. A probability needs the softmax of all three."""
    stream = np.cumsum(pieces, axis=0)
    return (stream / divisor(stream) @ U)[:, 1]


@exercise.part(points=1, answer=Numbers())
def change(pieces, C):
    """By how much head A changes the three logits: with it, minus without it."""
    rest = np.delete(pieces, 1, axis=0).sum(axis=0)
    return C.sum(axis=0) - rest / divisor(rest) @ U


@change.misconception()
def attribution_for_effect(pieces, C):
    """That is what is attributed to it. Without the piece the divisor changes, too."""
    return C[1]


@change.misconception(credit=0.5)
def change_with_the_last_column_misread(pieces):
    """The last token has the output column (1, −1): compare your matrix with the text."""
    stream = pieces.sum(axis=0)
    rest = stream - pieces[1]
    return (stream / divisor(stream) - rest / divisor(rest)) @ OTHER


@change.misconception()
def logits_without(pieces):
    """These are the logits without head A. Which were they with it?"""
    rest = np.delete(pieces, 1, axis=0).sum(axis=0)
    return rest / divisor(rest) @ U


@change.misconception()
def without_minus_with(pieces, C):
    """You subtracted the other way round: head A makes the difference from without to with."""
    rest = np.delete(pieces, 1, axis=0).sum(axis=0)
    return rest / divisor(rest) @ U - C.sum(axis=0)


@change.misconception()
def logits_with(C):
    """These are the logits with head A. Which are they without it?"""
    return C.sum(axis=0)


@change.misconception()
def others_with_the_old_divisor(C):
    """You added up what the others contribute. Without head A they have another divisor."""
    return C.sum(axis=0) - C[1]


@change.misconception()
def change_before_the_norm(pieces):
    """Both streams have to be normalised, each with its own divisor, before they meet U."""
    return 1.0 * pieces[1] @ U


@change.misconception()
def piece_normalised_alone(pieces):
    """You normalised the piece of head A by itself. Compare two streams, each with all it holds."""
    return pieces[1] / divisor(pieces[1]) @ U


@change.misconception()
def change_of_the_probabilities(pieces, C):
    """That is the change of the probabilities. Asked for are the logits, before the softmax."""
    rest = np.delete(pieces, 1, axis=0).sum(axis=0)
    return softmax(C.sum(axis=0)) - softmax(rest / divisor(rest) @ U)


@exercise.reference
def direct_logits(
    pieces: Float[ndarray, "p ... d"],
    gain: Float[ndarray, " d"],
    U: Float[ndarray, "d V"],
    eps: float = 1e-5,
) -> Float[ndarray, "p ... V"]:
    """Divide every piece by the root mean square of their sum; then gain and output matrix."""
    return pieces / divisor(pieces.sum(axis=0), eps) * gain @ U


@exercise.alternative
def gain_in_the_matrix(pieces, gain, U, eps=1e-5):
    """Multiply the rows of the output matrix by the gain, and divide at the end."""
    stream = sum(pieces)
    square = np.einsum("...d,...d->...", stream, stream) / stream.shape[-1]
    return pieces @ (gain[:, None] * U) / np.sqrt(square + eps)[..., None]


@exercise.alternative
def piece_by_piece(pieces, gain, U, eps=1e-5):
    """Write a loop over the pieces."""
    scale = gain / np.sqrt(np.mean(np.sum(pieces, axis=0) ** 2, axis=-1, keepdims=True) + eps)
    return np.stack([(piece * scale) @ U for piece in pieces])


@exercise.alternative
def one_sum_over_indices(pieces, gain, U, eps=1e-5):
    """Multiply by one over the root mean square, all in one sum over indices."""
    scale = (np.square(pieces.sum(axis=0)).mean(axis=-1) + eps) ** -0.5
    return np.einsum("p...d,...,d,dv->p...v", pieces, scale, gain, U)


ECHO = {name: w.astype(float) for name, w in np.load(data_file("a11_theory/echo.npz")).items()}


def echo_pieces(ids):
    """What embedding, heads and feed-forward layers of the small trained model write, (7, n, d)."""
    _, maps = echo_pass(ECHO, ids)
    pieces = [ECHO["embed"][ids]]
    for layer, weights in enumerate(maps):
        w = {name: array[layer] for name, array in ECHO.items() if len(array) == len(maps)}
        y = normalised(sum(pieces), w["norm1"])
        heads = weights @ split_heads(y @ w["wv"], len(weights))
        pieces += list(heads @ w["wo"].reshape(len(weights), -1, y.shape[-1]))
        y = normalised(sum(pieces), w["norm2"])
        gate = y @ w["gate"]
        pieces.append(gate / (1 + np.exp(-gate)) * (y @ w["up"]) @ w["down"])
    return np.stack(pieces)


def normalised(x, gain, eps=1e-5):
    """Return RMSNorm of x."""
    return x / divisor(x, eps) * gain


def inputs(rng, p=4, *axes, d=5, V=3):
    """Pieces, a gain and an output matrix."""
    return rng.normal(size=(p, *axes, d)), rng.normal(size=d) + 1, rng.normal(size=(d, V))


def near(found, right):
    """Agree, wherever eps stands: a check of its own looks at that."""
    agree(found, right, rtol=1e-4, atol=1e-4)


@exercise.check(points=0.5, visible=True)
def one_divisor_for_all(call, rng):
    """Every piece is divided by the root mean square of the sum of all pieces."""
    for p in (4, 1):
        pieces, _, matrix = inputs(rng, p)
        x = pieces, np.ones(5), matrix
        agree(call(*x, eps=0.0), direct_logits(*x, eps=0.0))


@exercise.check(points=0.25)
def add_up_to_the_logits(call, rng):
    """The contributions of all pieces add up to the logits of the normalised stream."""
    pieces, gain, matrix = inputs(rng)
    found = np.asarray(call(pieces, gain, matrix))
    require(found.shape == (4, 3), f"the result has shape {found.shape}")
    near(found.sum(axis=0), normalised(pieces.sum(axis=0), gain) @ matrix)


@exercise.check(points=0.25)
def linear_in_a_piece(call, rng):
    """A piece that is doubled contributes twice as much, if another one keeps the sum as it was."""
    pieces, gain, matrix = inputs(rng)
    before = direct_logits(pieces, gain, matrix)
    pieces[2] -= pieces[0]
    pieces[0] *= 2
    near(np.asarray(call(pieces, gain, matrix))[:2], before[:2] * [[2], [1]])


@exercise.check(points=0.25)
def gain_and_epsilon(call, rng):
    """Each feature has its gain, and eps stands under the root."""
    pieces, gain, matrix = inputs(rng)
    near(call(pieces, gain, matrix), direct_logits(pieces, gain, matrix))
    found = call(pieces / 9, gain, matrix, eps=0.3)
    agree(found, direct_logits(pieces / 9, gain, matrix, 0.3), credit=0.5)


@exercise.check(points=0.25)
def axes_between(call, rng):
    """Axes between pieces and features are batches and positions, each with its own divisor."""
    for axes in ((6,), (2, 6)):
        x = inputs(rng, 4, *axes)
        near(call(*x), direct_logits(*x))


@exercise.check(points=0.25)
def heads_are_pieces(call, rng):
    """Two heads by themselves contribute what the attention layer does that they make up."""
    pieces, gain, matrix = inputs(rng, 4, 6)
    together = np.stack([pieces[0], pieces[1] + pieces[2], pieces[3]])
    apart, joined = (np.asarray(call(x, gain, matrix)) for x in (pieces, together))
    near(joined, direct_logits(together, gain, matrix))
    near(apart[1] + apart[2], joined[1])


@exercise.check(points=0.25)
def logits_of_a_trained_model(call, rng):
    """The seven pieces of the trained model of the eleventh notebook reproduce its logits."""
    ids = np.concatenate([[0], rng.integers(1, 11, 11)])
    found = np.asarray(call(echo_pieces(ids), ECHO["norm"], ECHO["unembed"]))
    require(found.shape[0] == 7, f"the result has shape {found.shape}")
    agree(found.sum(axis=0), echo_pass(ECHO, ids)[0], rtol=1e-5, atol=1e-5)
    agree(found, direct_logits(echo_pieces(ids), ECHO["norm"], ECHO["unembed"]), atol=1e-5)


@exercise.misconception(credit=0.4)
def each_by_itself(pieces, gain, U, eps=1e-5):
    """There is one divisor, that of the whole stream; pieces normalised alone don't add up."""
    return pieces / divisor(pieces, eps) * gain @ U


@exercise.misconception(credit=0.4)
def no_norm(pieces, gain, U, eps=1e-5):
    """Nothing is divided. The output matrix reads the normalised stream."""
    return pieces * gain @ U


@exercise.misconception(credit=0.4)
def length_of_the_stream(pieces, gain, U, eps=1e-5):
    """You divided by the length of the stream. RMSNorm divides by the root of a *mean*."""
    return pieces / np.sqrt((pieces.sum(axis=0) ** 2).sum(axis=-1, keepdims=True) + eps) * gain @ U


@exercise.misconception(credit=0.4)
def mean_removed(pieces, gain, U, eps=1e-5):
    """You subtract the mean, as layer norm does. RMSNorm leaves it in."""
    return direct_logits(pieces - pieces.mean(axis=-1, keepdims=True), gain, U, eps)


@exercise.misconception(credit=0.5)
def gain_left_out(pieces, gain, U, eps=1e-5):
    """The gain is missing."""
    return direct_logits(pieces, np.ones_like(gain), U, eps)


@exercise.misconception
def epsilon_outside(pieces, gain, U, eps=1e-5):
    """You add eps behind the root. It stands under it."""
    return pieces / (divisor(pieces.sum(axis=0)) + eps) * gain @ U


@exercise.misconception
def epsilon_ignored(pieces, gain, U, eps=1e-5):
    """The argument eps has no effect."""
    return direct_logits(pieces, gain, U)


@exercise.misconception
def one_divisor_for_all_positions(pieces, gain, U, eps=1e-5):
    """All positions share a divisor. Each has a stream of its own."""
    return pieces / np.sqrt((pieces.sum(axis=0) ** 2).mean() + eps) * gain @ U


@exercise.misconception(fatal="nothing is attributed")
def shared_evenly(pieces, gain, U, eps=1e-5):
    """You share the logits evenly among the pieces. Each contributes what *it* wrote."""
    logits = normalised(pieces.sum(axis=0), gain, eps) @ U
    return np.repeat(logits[None], len(pieces), axis=0) / len(pieces)


@exercise.misconception
def logits_alone(pieces, gain, U, eps=1e-5):
    """These are the logits. Asked for is what each piece contributes to them."""
    return normalised(pieces.sum(axis=0), gain, eps) @ U


@exercise.part(
    points=1,
    answer=Choice(
        [
            "The contributions add up to the logits.",
            "A contribution that is the same number for all logits moves no probability, the "
            "divisor being what it is.",
            "Without a piece the logits change by its contribution.",
            "The contribution of a head contains what later layers make of its piece.",
            "For a given divisor, contributions are linear in the pieces.",
        ],
        multiple=True,
    ),
)
def exact():
    """Which statements hold exactly?"""
    return "ABE"


@exact.misconception()
def removal_is_contribution():
    """You marked “Without a piece the logits change by its contribution”.

    Compare `change` with the row of head A in `C`.
    """
    return "ABCE"


@exact.misconception()
def later_layers_included():
    """You marked “The contribution of a head contains what later …”.

    What a later layer makes of a head's piece stands in that layer's own piece.
    """
    return "ABDE"


@exact.misconception()
def shift_overlooked():
    """You left out “A contribution that is the same number for all …”.

    What does a softmax make of a number that is added to all of its logits?
    """
    return "AE"


@exact.misconception()
def linearity_overlooked():
    """You left out “For a given divisor, contributions are linear in the pieces”.

    If the divisor is given, what is left is a product with a matrix.
    """
    return "AB"
