"""A trained model in one's own stack: what it predicts, what it costs, what slips show.

Source: Radford et al. (2019), "Language models are unsupervised multitask learners"; Elhage et al.
(2021), "A mathematical framework for transformer circuits".
"""

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from autograder.exercise import Choice, Exercise, Numbers, agree, data_file
from reference.helpers import rms_norm, small_model

exercise = Exercise(
    "echo_reads",
    title="Your own code reads",
    source="Radford et al. (2019), section 2",
    minutes=35,
    hints=[
        "Four steps: rows of the embedding, the blocks in their order, the norm, the output "
        "matrix. Your block wants an axis for sentences in front.",
        "The row at a symbol predicts the symbol behind it. Which row predicts what follows the "
        "second A?",
        "For the slips ask of each what the fresh weights make it do: what is multiplied by gains "
        "of 1, and what do scores near 0 still say?",
    ],
)

echo_block = exercise.carries("a06_block/echo_block", "echo_block")
nll = exercise.carries("a07_full_transformer/sequence_nll", "nll")

LETTERS = "^ABCDEFGHIJ"
PARTS = ("norm1", "norm2", "wq", "wk", "wv", "wo", "gate", "up", "down")
ECHO = {
    name: w.astype(float) for name, w in np.load(data_file("a07_full_transformer/echo.npz")).items()
}


def read(sentence):  # given
    """The ids of a sentence."""
    return np.array([LETTERS.index(letter) for letter in sentence])


def said(motif, letters=20):  # given
    """`^`, and a motif again and again, so many letters."""
    return "^" + (motif * letters)[:letters]


def words(rng, count):
    """Motifs of four to eight different letters."""
    return ["".join(rng.permutation(list(LETTERS[1:]))[: rng.integers(4, 9)]) for _ in range(count)]


@exercise.variant
def draw(rng):
    """motif: with an A in it; motifs: ten others, of which each sentence has one."""
    while "A" not in (motif := words(rng, 1)[0]):
        pass
    return {"motif": motif, "motifs": words(rng, 10)}


@exercise.reference
def echo_logits(ids: Int[ndarray, " n"], model: dict) -> Float[ndarray, "n V"]:
    """Embed, go through all blocks, normalise once more, and multiply by the output matrix."""
    return out(through(model["embed"][ids], model), model)


def through(x, model, layers=None):
    """The stream behind the blocks."""
    for layer in range(len(model["wq"])) if layers is None else layers:
        x = echo_block(x[None], {name: model[name][layer] for name in PARTS}, 2)[0]
    return x


def out(x, model):
    """Logits of the stream."""
    return rms_norm(x, model["norm"]) @ model["unembed"]


@exercise.alternative
def gains_in_the_matrix(ids, model):
    """Give the gains of the last norm to the output matrix, and embed by one-hot rows."""
    x = np.eye(len(model["embed"]))[ids] @ model["embed"]
    return rms_norm(through(x, model)) @ (model["norm"][:, None] * model["unembed"])


@exercise.alternative
def one_block_at_a_time(ids, model):
    """Go through one block, then through the model that is left."""

    def rest(x, blocks):
        if not blocks:
            return x
        return rest(echo_block(x, blocks[0], 2), blocks[1:])

    blocks = [{name: model[name][i] for name in PARTS} for i in range(len(model["wq"]))]
    x = rest(np.take(model["embed"], np.asarray(ids), axis=0)[np.newaxis], blocks)
    return np.einsum("nd,d,dv->nv", rms_norm(x)[0], model["norm"], model["unembed"])


@exercise.alternative
def prefix_by_prefix(ids, model):
    """Read every beginning of the sentence, and keep the last row of each."""
    rows = [through(model["embed"][list(ids[: i + 1])], model)[-1] for i in range(len(ids))]
    return out(np.stack(rows), model)


def same(found, right):
    """Agree to the digits of a block whose ε is elsewhere."""
    agree(found, right, rtol=1e-3, atol=1e-3)


@exercise.check(points=0.5, visible=True)
def matches_the_formula(call, rng):
    """One row of logits for each symbol, from a drawn model of two blocks."""
    ids, model = rng.integers(0, 7, 5), small_model(rng, 2)
    same(call(ids, model), echo_logits(ids, model))


@exercise.check(points=0.25)
def other_depths(call, rng):
    """Three blocks, or one."""
    for L in (3, 1):
        ids, model = rng.integers(0, 7, 4), small_model(rng, L)
        same(call(ids, model), echo_logits(ids, model))


@exercise.check(points=0.25)
def the_trained_model(call, rng):
    """With the trained weights the logits are the model's, on sentences that are drawn."""
    for motif in words(rng, 2):
        ids = read(said(motif, 23))
        same(call(ids, ECHO), echo_logits(ids, ECHO))


@exercise.misconception(credit=0.4)
def last_norm_missing(ids, model):
    """The last norm is missing: the output matrix reads the stream behind it."""
    return through(model["embed"][ids], model) @ model["unembed"]


@exercise.misconception(credit=0.5)
def last_gains_missing(ids, model):
    """The gains of the last norm are missing."""
    return rms_norm(through(model["embed"][ids], model)) @ model["unembed"]


@exercise.misconception(credit=0.4)
def first_block_alone(ids, model):
    """You went through one block. The model has more of them."""
    return out(through(model["embed"][ids], model, [0]), model)


@exercise.misconception(credit=0.4)
def first_block_again(ids, model):
    """All blocks use the weights of the first. Each has its own."""
    return out(through(model["embed"][ids], model, [0] * len(model["wq"])), model)


@exercise.misconception(credit=0.4)
def from_top_to_bottom(ids, model):
    """You went through the blocks from the last to the first."""
    return out(through(model["embed"][ids], model, range(len(model["wq"]))[::-1]), model)


@exercise.misconception(credit=0.4)
def output_by_the_embedding(ids, model):
    """You multiplied by the embedding, transposed. This model has an output matrix of its own."""
    return out(through(model["embed"][ids], model), model | {"unembed": model["embed"].T})


@exercise.misconception(credit=0.4)
def embedding_enlarged(ids, model):
    """You multiplied the embedding by √d, as in 2017. This model was trained without."""
    return echo_logits(ids, model | {"embed": model["embed"] * model["embed"].shape[1] ** 0.5})


@exercise.misconception(credit=0.5)
def probabilities(ids, model):
    """These are probabilities. Logits are asked for."""
    return np.exp(log_softmax(echo_logits(ids, model)))


@exercise.misconception(credit=0.4)
def one_symbol_at_a_time(ids, model):
    """You sent each symbol through by itself: none could read what stands before it."""
    return np.concatenate([echo_logits(np.asarray(ids)[i : i + 1], model) for i in range(len(ids))])


def log_softmax(logits):
    """The logarithm of the softmax of each row."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def up_to_the_second_a(motif):
    """`^`, the motif, and the motif again up to its A."""
    return "^" + motif + motif[: motif.index("A") + 1]


def paid(echo_logits, *pairs):
    """What letters cost behind sentences, in nats."""
    rows = [np.asarray(echo_logits(read(sentence), ECHO))[-1] for sentence, _ in pairs]
    wanted = [LETTERS.index(letter) for _, letter in pairs]
    return -log_softmax(np.stack(rows))[np.arange(len(pairs)), wanted]


def asked(motif):
    """The two places, each with the letter that follows."""
    behind = motif[(motif.index("A") + 1) % len(motif)]
    return ("^" + motif, motif[0]), (up_to_the_second_a(motif), behind)


@exercise.part(points=0.5, answer=Numbers())
def surprise(echo_logits, motif):
    """What the first letter costs when it comes again, and the letter behind the second A: nats."""
    return paid(echo_logits, *asked(motif))


@surprise.misconception(credit=0.5)
def in_bits(echo_logits, motif):
    """These are bits. Nats are asked for: take the natural logarithm."""
    return paid(echo_logits, *asked(motif)) / np.log(2)


@surprise.misconception(credit=0.5)
def the_probabilities(echo_logits, motif):
    """These are the probabilities. A cost is minus the logarithm of one."""
    return np.exp(-paid(echo_logits, *asked(motif)))


@surprise.misconception()
def minus_the_logits(echo_logits, motif):
    """You took logits as they are. Put each row through a softmax first."""
    rows = [(np.asarray(echo_logits(read(s), ECHO))[-1], right) for s, right in asked(motif)]
    return [-row[LETTERS.index(right)] for row, right in rows]


@surprise.misconception()
def one_row_early(echo_logits, motif):
    """You took the row of the symbol before. The row at a symbol predicts the next one."""
    return paid(echo_logits, *((sentence[:-1], right) for sentence, right in asked(motif)))


@surprise.misconception()
def the_symbol_itself(echo_logits, motif):
    """You asked how likely the last symbol is once more. It is the one behind it that is asked."""
    return paid(echo_logits, *((sentence, sentence[-1]) for sentence, _ in asked(motif)))


@surprise.misconception()
def first_a(echo_logits, motif):
    """You stopped at the first A, where nobody can know what follows."""
    over, (_, behind) = asked(motif)
    return paid(echo_logits, over, ("^" + motif[: motif.index("A") + 1], behind))


@surprise.misconception()
def the_letter_read_as_well(echo_logits, motif):
    """You let the model read the letter before you asked what it costs. Ask the row in front."""
    return paid(echo_logits, *((sentence + right, right) for sentence, right in asked(motif)))


@surprise.misconception()
def sentences_without_start(echo_logits, motif):
    """You left out `^`. The model has never seen a sentence that doesn't begin with it."""
    return paid(echo_logits, *((sentence[1:], right) for sentence, right in asked(motif)))


@surprise.misconception()
def softmax_down_the_columns(echo_logits, motif):
    """Your softmax went over the symbols of the sentence. Each row has one, over the letters."""
    found = []
    for sentence, right in asked(motif):
        logits = np.asarray(echo_logits(read(sentence), ECHO))
        found.append(-log_softmax(logits.T)[LETTERS.index(right), -1])
    return found


def costs(echo_logits, motifs, shift=1):
    """The mean over 200 letters of what each costs, in nats."""
    found = []
    for motif in motifs:
        ids = read(said(motif))
        found.append(nll(np.asarray(echo_logits(ids, ECHO))[: len(ids) - shift], ids[shift:]))
    return np.mean(found)


@exercise.part(points=0.5, answer=Numbers())
def loss(echo_logits, motifs):
    """The mean loss in nats over the 200 letters of your ten sentences."""
    return costs(echo_logits, motifs)


@loss.misconception(credit=0.5)
def loss_in_bits(echo_logits, motifs):
    """These are bits. Nats are asked for: take the natural logarithm."""
    return costs(echo_logits, motifs) / np.log(2)


@loss.misconception()
def labels_not_shifted(echo_logits, motifs):
    """You asked how likely each symbol is itself. Its row predicts the next one."""
    return costs(echo_logits, motifs, shift=0)


@loss.misconception(credit=0.5)
def added_up(echo_logits, motifs):
    """That is the sum. Divide by the number of letters."""
    return 200 * costs(echo_logits, motifs)


@loss.misconception(credit=0.5)
def start_counted_as_a_letter(echo_logits, motifs):
    """You divided by 210. Nobody predicts `^`, so that there are 200 letters."""
    return 200 * costs(echo_logits, motifs) / 210


@loss.misconception(credit=0.5)
def perplexity(echo_logits, motifs):
    """That is the perplexity. The loss is its logarithm."""
    return np.exp(costs(echo_logits, motifs))


@loss.misconception()
def first_sentence_alone(echo_logits, motifs):
    """That is the loss of your first sentence. There are ten."""
    return costs(echo_logits, motifs[:1])


@loss.misconception()
def without_start(echo_logits, motifs):
    """You left out `^`. The model has never seen a sentence that doesn't begin with it."""
    found = [read(said(motif)[1:]) for motif in motifs]
    return np.mean([nll(np.asarray(echo_logits(i, ECHO))[:-1], i[1:]) for i in found])


@loss.misconception()
def two_ahead(echo_logits, motifs):
    """You asked each row for the symbol after the next. It predicts the next one."""
    return costs(echo_logits, motifs, shift=2)


@loss.misconception()
def logarithm_of_a_mean(echo_logits, motifs):
    """You averaged probabilities, and took the logarithm of that. Average what letters cost."""
    return -np.log(np.mean(np.exp([-each for each in one_by_one(echo_logits, motifs)])))


@loss.misconception(credit=0.5)
def second_pass_alone(echo_logits, motifs):
    """You counted from the second pass on. What nobody can know yet costs as well."""
    rows = zip(motifs, one_by_one(echo_logits, motifs), strict=True)
    return np.mean(np.concatenate([each[len(motif) :] for motif, each in rows]))


@loss.misconception(credit=0.5)
def first_letter_left_out(echo_logits, motifs):
    """You left out the first letters: the rows of `^` predict them."""
    return np.mean([each[1:] for each in one_by_one(echo_logits, motifs)])


def one_by_one(echo_logits, motifs):
    """What each letter of each sentence costs."""
    found = [read(said(motif)) for motif in motifs]
    rows = [-log_softmax(np.asarray(echo_logits(ids, ECHO)))[:-1] for ids in found]
    return [r[np.arange(len(r)), ids[1:]] for r, ids in zip(rows, found, strict=True)]


SLIPS = [
    "In the blocks' norms the gains are left out.",
    "Both norms of a block have the gains of the first.",
    "Scores are not divided by the root of a head's width.",
    "The mask is missing.",
    "The blocks' norms have no $\\varepsilon$.",
    "Gate and up are exchanged.",
]


@exercise.part(points=0.5, answer=Choice(SLIPS, multiple=True))
def silent():
    """Which slips leave every logit of the fresh model exactly as it is?"""
    return "AB"


silent.mistakes(
    scale_thought_silent=(
        "ABC",
        "You marked “Scores are not divided …”. Small scores are not 0: what do their weights do?",
    ),
    epsilon_thought_silent=(
        "ABE",
        "You marked “The blocks' norms have no ε”. Fresh streams are small: how small beside ε?",
    ),
    mask_thought_silent=(
        "ABD",
        "You marked “The mask is missing”. What does the first symbol read then?",
    ),
    exchange_thought_silent=(
        "ABF",
        "You marked “Gate and up are exchanged”. Are the two matrices alike?",
    ),
    shared_gains_overlooked=(
        "A",
        "You left out “Both norms of a block …”. Which gains has a fresh model?",
    ),
    missing_gains_overlooked=(
        "B",
        "You left out “In the blocks' norms the gains …”. Which gains has a fresh model?",
    ),
)


@exercise.part(points=0.5, answer=Choice(SLIPS, multiple=True))
def dear():
    """Which slips raise the loss of the trained model by more than one nat?"""
    return "DF"


dear.mistakes(
    scale_thought_dear=(
        "CDF",
        "You marked “Scores are not divided …”. How large are this model's scores? Measure it.",
    ),
    epsilon_thought_dear=(
        "DEF",
        "You marked “The blocks' norms have no ε”. How large is the trained stream beside ε?",
    ),
    missing_gains_thought_dear=(
        "ADF",
        "You marked “In the blocks' norms the gains …”. Print the gains, then measure it.",
    ),
    shared_gains_thought_dear=(
        "BDF",
        "You marked “Both norms of a block …”. Compare the two, then measure it.",
    ),
    mask_thought_cheap=(
        "F",
        "You left out “The mask is missing”. Was the model trained with later symbols in sight?",
    ),
    exchange_thought_cheap=(
        "D",
        "You left out “Gate and up are exchanged”. After training the two are no longer alike.",
    ),
)
