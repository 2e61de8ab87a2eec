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


@hidden_predicted.misconception()
def mask_tokens_only():
    """You counted those that become the mask token. All selected ones are predicted."""
    return 0.12 * 512


@hidden_predicted.misconception()
def changed_tokens_only():
    """You left out the selected tokens that stay as they are. They are predicted, too."""
    return 0.135 * 512


@hidden_predicted.misconception()
def the_rest():
    """These are the tokens that were not selected."""
    return 0.85 * 512


@exercise.part(points=0.5, answer=Numbers())
def fractions():
    """The fractions of all tokens that become the mask token, become a random one, stay."""
    return [0.12, 0.015, 0.015]


@fractions.misconception()
def of_the_selected():
    """These are fractions of the selected tokens. Fractions of all tokens are asked for."""
    return [0.8, 0.1, 0.1]


@fractions.misconception()
def unselected_counted_as_staying():
    """You added the tokens that were never selected. Of the selected ones, some stay."""
    return [0.12, 0.015, 0.865]


@fractions.misconception()
def never_selected():
    """The last one is the fraction that was never selected. Of the selected ones, some stay."""
    return [0.12, 0.015, 0.85]


@fractions.misconception()
def first_one_of_all_tokens():
    """The last two are fractions of the selected tokens. Fractions of all tokens are asked for."""
    return [0.12, 0.1, 0.1]


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


@pairs_both_ways.misconception()
def each_pair_once():
    """A token may look at another one, and that one back: these are two pairs."""
    return 512 * 513 // 2


@pairs_both_ways.misconception()
def not_at_themselves():
    """A token may look at itself, too."""
    return 512 * 511


@exercise.part(points=0.5, answer=Count())
def pairs_backwards():
    """The visible pairs where nobody looks ahead."""
    return 512 * 513 // 2


@pairs_backwards.misconception()
def diagonal_left_out():
    """A token may look at itself, too."""
    return 512 * 511 // 2


@pairs_backwards.misconception()
def half_of_all():
    """Half of all pairs would halve the diagonal, too."""
    return 512 * 512 // 2


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


@meanings.misconception()
def hidden_in_the_scores():
    """In masked-token training the other tokens may look at the place. What do they see there?"""
    return "A"


@meanings.misconception()
def replaced_in_both():
    """Which token would a causal mask put into the input? Compare the inputs of the two."""
    return "B"


@meanings.misconception()
def needs_a_causal_mask():
    """Look at the pairs that you counted: who sees whom while hidden tokens are predicted?"""
    return "D"
