"""Predicting hidden tokens, or the next one.

Source: Devlin et al. (2019), "BERT", section 3.1 and appendix A.1; Radford et al. (2018).
"""

from autograder.exercise import Choice, Count, Exercise, Numbers

exercise = Exercise(
    "mlm_vs_clm",
    title="Two training signals",
    source="Devlin et al. (2019), section 3.1 and appendix A.1",
    minutes=30,
    hints=[
        "Of the selected tokens not all are hidden: the fractions of the recipe multiply.",
        "A causal model predicts from what comes before: is there anything before the first token?",
        "Count the visible pairs as a full square, and as a triangle with its diagonal.",
    ],
)


@exercise.part(points=0.5, answer=Numbers())
def hidden_predicted():
    """The expected number of tokens that are predicted, with 15 % of 512 selected."""
    return 0.15 * 512


hidden_predicted.mistakes(
    mask_tokens_only=(
        0.12 * 512,
        "You counted those that become the mask token. All selected ones are predicted.",
    ),
    changed_tokens_only=(
        0.135 * 512,
        "You left out the selected tokens that stay as they are. They are predicted, too.",
    ),
    the_rest=(0.85 * 512, "These are the tokens that were not selected."),
)


@exercise.part(points=0.5, answer=Numbers())
def fractions():
    """The fractions of all tokens that become the mask token, become a random one, stay."""
    return [0.12, 0.015, 0.015]


fractions.mistakes(
    of_the_selected=(
        [0.8, 0.1, 0.1],
        "These are fractions of the selected tokens. Fractions of all tokens are asked for.",
    ),
    unselected_counted_as_staying=(
        [0.12, 0.015, 0.865],
        "You added the tokens that were never selected. Of the selected ones, some stay.",
    ),
    never_selected=(
        [0.12, 0.015, 0.85],
        "The last one is the fraction that was never selected. Of the selected ones, some stay.",
    ),
    first_one_of_all_tokens=(
        [0.12, 0.1, 0.1],
        "The last two are fractions of the selected tokens. Fractions of all tokens are asked for.",
    ),
)


@exercise.part(points=0.5, answer=Count())
def next_predicted():
    """The number of tokens that are predicted from what comes before them."""
    return 511


@next_predicted.misconception()
def first_one_too():
    """The first token has nothing before it. What would it be predicted from?"""
    return 512


@exercise.part(points=0.5, answer=Numbers())
def ratio(hidden_predicted, next_predicted):
    """The tokens of the decoder over those of BERT."""
    return next_predicted / hidden_predicted


@ratio.misconception()
def ratio_upside_down(hidden_predicted, next_predicted):
    """You divided the other way round."""
    return hidden_predicted / next_predicted


@exercise.part(points=0.5, answer=Count())
def pairs_both_ways():
    """The visible pairs (query, key) where everyone sees everyone."""
    return 512 * 512


pairs_both_ways.mistakes(
    each_pair_once=(
        512 * 513 // 2,
        "A token may look at another one, and that one back: these are two pairs.",
    ),
    not_at_themselves=(512 * 511, "A token may look at itself, too."),
)


@exercise.part(points=0.5, answer=Count())
def pairs_backwards():
    """The visible pairs where nobody looks ahead."""
    return 512 * 513 // 2


pairs_backwards.mistakes(
    diagonal_left_out=(512 * 511 // 2, "A token may look at itself, too."),
    half_of_all=(512 * 512 // 2, "Half of all pairs would halve the diagonal, too."),
)


@exercise.part(
    points=1,
    answer=Choice(
        [
            "In both, scores are set to $-\\infty$, so that no token of the sentence looks at the "
            "masked place.",
            "In both, a token of the input is replaced by another.",
            "Hardly more than the word: one corrupts the input, the other limits which pairs are "
            "visible.",
            "The first needs the second: a hidden token must not see the tokens after it.",
        ]
    ),
)
def meanings():
    """What do the two meanings of "mask" have to do with each other?"""
    return "C"


meanings.mistakes(
    hidden_in_the_scores=(
        "A",
        "In masked-token training the other tokens may look at the place. What do they see there?",
    ),
    replaced_in_both=(
        "B",
        "Which token would a causal mask put into the input? Compare the inputs of the two.",
    ),
    needs_a_causal_mask=(
        "D",
        "Look at the pairs that you counted: who sees whom while hidden tokens are predicted?",
    ),
)
