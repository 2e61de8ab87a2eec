"""What holds for every softmax: statements to be told from their near misses.

Source: Gao & Pavel (2017), "On the properties of the softmax function", arXiv:1704.00805.
"""

from autograder.exercise import Choice, Exercise, Witness
from reference.helpers import softmax

exercise = Exercise(
    "softmax_props",
    title="True or false about softmax",
    source="Gao & Pavel (2017), section 2",
    minutes=20,
    hints=[
        "Try each statement with two or three small vectors in NumPy; one counterexample "
        "settles a false one.",
        "Read twice where a statement says *always*, *only* or *all*: extreme logits are the "
        "first thing to try.",
        "Statements with a bound are the ones that few logits contradict: start there.",
    ],
)

letters = "ABCDEFGHIJKLMN"
true_letters = "ABDFIJM"


@exercise.variant
def draw(rng):
    """statements: eight of the fourteen letters, four of which belong to true statements.

    K is always among them: it is the one that not every three different logits contradict.
    """
    others = sorted({*letters} - {*true_letters, "K"})
    chosen = [*rng.permutation(list(true_letters))[:4], "K", *rng.permutation(others)[:3]]
    return {"statements": sorted(str(letter) for letter in chosen)}


@exercise.part(points=3, answer=Choice(letters, multiple=True, false=4))
def true_set(statements):
    """Your true statements; a wrong letter takes what a right one gives."""
    return sorted(set(statements) & set(true_letters))


def all_but(letter, statements):
    """One mark too many or too few; no answer at all where the statement isn't asked."""
    return sorted({letter} ^ set(true_set.compute(statements))) if letter in statements else "?"


@true_set.misconception()
def sum_denied(statements):
    """You left out A. Put the fractions over their common denominator and add them up."""
    return all_but("A", statements)


@true_set.misconception()
def zero_expected(statements):
    """You left out B. Only floating-point numbers make an exact 0 of a positive exponential."""
    return all_but("B", statements)


@true_set.misconception()
def scale_invariance_expected(statements):
    """You marked C. A common shift changes nothing; a common factor is a change of temperature."""
    return all_but("C", statements)


@true_set.misconception()
def order_denied(statements):
    """You left out D. The exponential is increasing, and all entries have one denominator."""
    return all_but("D", statements)


@true_set.misconception()
def injectivity_expected(statements):
    """You marked E. Compare the outputs for z and for z + 1."""
    return all_but("E", statements)


@true_set.misconception()
def rescaling_denied(statements):
    """You left out F. Without one logit only the denominator changes, for all others alike."""
    return all_but("F", statements)


@true_set.misconception()
def projection_expected(statements):
    """You marked G. The second time probabilities are the logits, and their gaps are below 1."""
    return all_but("G", statements)


@true_set.misconception()
def permutation_without_effect(statements):
    """You marked H. The entries move along with their logits: equivariant, not invariant."""
    return all_but("H", statements)


@true_set.misconception()
def ratio_thought_global(statements):
    """You left out I. In a ratio of two entries the common denominator cancels."""
    return all_but("I", statements)


@true_set.misconception()
def competition_denied(statements):
    """You left out J. The denominator grows, and the numerators of the others do not."""
    return all_but("J", statements)


@true_set.misconception()
def majority_expected(statements):
    """You marked K. Think of three logits that are nearly equal."""
    return all_but("K", statements)


@true_set.misconception()
def complement_expected(statements):
    """You marked L. That is a law of the sigmoid. Add up 1 − p_i over three entries."""
    return all_but("L", statements)


@true_set.misconception()
def level_thought_visible(statements):
    """You left out M. Only differences between logits count, and here they are all 0."""
    return all_but("M", statements)


@true_set.misconception()
def entries_thought_independent(statements):
    """You marked N. One exponential more or less in the sum is felt by every entry."""
    return all_but("N", statements)


def contradicted(z):
    """Which false statements fail at three logits; C, E, G, H, L and N do at any that differ."""
    if len({*z}) < len(z):
        return "hardly any"
    return "all but K" if softmax(z).max() > 0.5 else "all"


@exercise.part(points=1, answer=Witness(contradicted))
def counterexample():
    """Three different logits at which each of your false statements fails."""
    return [0.1, 0.2, 0.3]


@counterexample.alternative
def below_zero():
    """Only the differences count."""
    return [-5, -4.7, -5.2]


@counterexample.alternative
def two_ahead():
    """Two that are nearly level, if the third is not too far behind."""
    return [2, 2.1, 1]


@counterexample.alternative
def around_zero():
    """As wide apart as is allowed, or nearly."""
    return [0, 0.4, -0.4]


@counterexample.alternative
def of_what_was_called_false(true_set):
    """Whoever takes K for true has nothing to hold against it."""
    return [1, 2, 3] if "K" in true_set else [0.1, 0.2, 0.3]


counterexample.mistakes(
    clear_winner=(
        [1, 2, 3],
        "One of the false statements holds at your logits: how large is the largest entry?",
    ),
    not_different=(
        [0, 0, 0],
        "Three *different* logits: at equal ones some of the false statements happen to hold.",
    ),
)
