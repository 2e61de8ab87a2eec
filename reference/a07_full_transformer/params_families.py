"""Two models whose size everybody quotes, counted to the last number.

Source: Radford et al. (2019), "Language models are unsupervised multitask learners"; Devlin et al.
(2019), "BERT", section 3.
"""

from autograder.exercise import Count, Exercise

exercise = Exercise(
    "params_families",
    title="Two known models",
    source="Radford et al. (2019), table 2; Devlin et al. (2019), section 3",
    minutes=35,
    hints=[
        "Go from the bottom to the top: embeddings (tokens, positions, segments where there "
        "are any), layers, what stands above them.",
        "A tied matrix is counted once.",
        "The rule of thumb leaves out biases and norms; see how little that is beside the "
        "matrices.",
    ],
)

count = exercise.carries("a07_full_transformer/params_full", "count")

D, F, LAYERS = 768, 3072, 12
GPT_WORDS, GPT_POSITIONS = 50257, 1024
BERT_WORDS, BERT_POSITIONS, SEGMENTS = 30522, 512, 2
NORM = 2 * D
LAYER = 4 * (D * D + D) + 2 * D * F + D + F + 2 * NORM
POOLER = D * D + D
BODY = {"L_enc": LAYERS, "L_dec": 0, "d": D, "f": F, "bias": True, "norms": True, "tied": True}


@exercise.part(points=1, answer=Count())
def gpt2_tied():
    """All that GPT-2 small learns."""
    return (GPT_WORDS + GPT_POSITIONS) * D + LAYERS * LAYER + NORM


@gpt2_tied.alternative
def with_the_own_count():
    """Let the function count all but the positions."""
    return count({**BODY, "V": GPT_WORDS, "final_norm": True}) + GPT_POSITIONS * D


gpt2_tied.mistakes(
    positions_forgotten=(
        GPT_WORDS * D + LAYERS * LAYER + NORM,
        "The table of positions is missing: this model learns its positions.",
    ),
    final_norm_forgotten=(
        (GPT_WORDS + GPT_POSITIONS) * D + LAYERS * LAYER,
        "The norm behind the last layer is missing.",
    ),
    final_norm_without_shift=(
        (GPT_WORDS + GPT_POSITIONS) * D + LAYERS * LAYER + D,
        "768 are missing: the norm behind the last layer has a scale and a shift.",
    ),
)


@gpt2_tied.misconception()
def layers_of_a_decoder():
    """There is no source here to look at: the layers have one attention and two norms."""
    return gpt2_tied.compute() + LAYERS * (4 * (D * D + D) + NORM)


@gpt2_tied.misconception()
def layers_without_biases():
    """All linear maps of these layers have biases."""
    return gpt2_tied.compute() - LAYERS * (5 * D + F)


@gpt2_tied.misconception()
def layers_without_norms():
    """These layers' norms, or the biases of their attention, are missing."""
    return gpt2_tied.compute() - LAYERS * 2 * NORM


@gpt2_tied.misconception()
def tied_matrix_counted_twice():
    """A tied matrix is one matrix: what is shared is counted once."""
    return gpt2_tied.compute() + GPT_WORDS * D


@exercise.part(points=1, answer=Count())
def gpt2_untied(gpt2_tied):
    """The same with a second matrix, without bias, for the logits."""
    return gpt2_tied + GPT_WORDS * D


@gpt2_untied.misconception()
def with_an_output_bias(gpt2_tied):
    """You gave the map to the logits a bias. This one has none."""
    return gpt2_tied + GPT_WORDS * D + GPT_WORDS


@gpt2_untied.misconception()
def two_more_matrices(gpt2_tied):
    """There is one stack here: one matrix for the input, one for the output."""
    return gpt2_tied + 2 * GPT_WORDS * D


@exercise.part(points=1, answer=Count())
def bert():
    """All that BERT-base learns, pooler included."""
    rows = BERT_WORDS + BERT_POSITIONS + SEGMENTS
    return rows * D + NORM + LAYERS * LAYER + POOLER


@bert.alternative
def bert_with_the_own_count():
    """Let the function count what both models have."""
    rows = BERT_POSITIONS + SEGMENTS
    return count({**BODY, "V": BERT_WORDS, "final_norm": False}) + rows * D + NORM + POOLER


@bert.misconception()
def segments_or_their_norm_forgotten():
    """Exactly 1,536 are missing: what is added up for a token, and what is done to the sum?"""
    return bert.compute() - SEGMENTS * D


@bert.misconception()
def norm_at_the_end_as_well():
    """You added a norm at the end. In this model each layer ends with its norm."""
    return bert.compute() + NORM


@bert.misconception()
def bert_layers_without_norms():
    """These layers' norms, or the biases of their attention, are missing."""
    return bert.compute() - LAYERS * 2 * NORM


@bert.misconception()
def bert_layers_without_biases():
    """All linear maps of these layers have biases."""
    return bert.compute() - LAYERS * (5 * D + F)


@bert.misconception()
def pooler_without_bias():
    """The pooler is a linear map with a bias."""
    return bert.compute() - D


@bert.misconception()
def pooler_forgotten():
    """The pooler is missing: a linear map from d to d."""
    return bert.compute() - POOLER


@bert.misconception()
def bert_positions_forgotten():
    """The table of positions is missing: this model learns its positions."""
    return bert.compute() - BERT_POSITIONS * D


@exercise.part(points=1, answer=Count())
def bert_without_pooler(bert):
    """The same without the pooler."""
    return bert - POOLER


@bert_without_pooler.misconception()
def bias_left_behind(bert):
    """The pooler's bias goes with it."""
    return bert - D * D


@exercise.part(points=0.5, answer=Count())
def twelve_layers():
    """What the twelve layers of either model learn, exactly."""
    return LAYERS * LAYER


twelve_layers.mistakes(
    twelve_without_norms=(
        LAYERS * (LAYER - 2 * NORM),
        "These layers' norms, or the biases of their attention, are missing.",
    ),
    twelve_without_biases=(
        LAYERS * (LAYER - 5 * D - F),
        "All linear maps of these layers have biases.",
    ),
    single_layer=(LAYER, "That is one layer."),
    twelve_decoder_layers=(
        LAYERS * (LAYER + 4 * (D * D + D) + NORM),
        "There is no source here to look at: the layers have one attention and two norms.",
    ),
)


@exercise.part(points=0.5, answer=Count())
def rule():
    """What the rule 12·L·d² gives for them."""
    return 12 * LAYERS * D * D


rule.mistakes(
    rule_for_one_layer=(12 * D * D, "That is one layer: L is their number."),
    exact_count=(LAYERS * LAYER, "This is the exact count. The rule leaves biases and norms out."),
)
