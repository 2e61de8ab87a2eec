"""What each kind of attention costs.

Source: Tay et al. (2022), "Efficient transformers: A survey", table 1.
"""

import numpy as np

from autograder.exercise import Choice, ComplexityClass, Count, Exercise, Numbers

exercise = Exercise(
    "efficient_classes",
    title="The table",
    source="Tay et al. (2022), table 1",
    minutes=20,
    hints=[
        "Ask in every row of the table how many keys a token meets, or what comes in their "
        "place, and what one such meeting costs; then multiply by the number of tokens.",
        "A theorem has a proof with all its assumptions: that something was seen in experiments "
        "is not enough. What would each statement have to assume?",
    ],
)


@exercise.part(points=0.4, answer=ComplexityClass("n d"))
def full():
    """All pairs."""
    return "n^2 d"


@full.misconception()
def full_without_width():
    """Each score is a product of vectors of width d."""
    return "n^2"


@exercise.part(points=0.4, answer=ComplexityClass("n d w"))
def window():
    """A window of w to each side."""
    return "n w d"


window.mistakes(
    window_squared=("n w^2 d", "Each of n queries sees some 2w keys, not each of w."),
    window_without_width=("n w", "Each score is a product of vectors of width d."),
    window_without_w=("n d", "The wider the window, the more scores. Here w is not fixed."),
)


@exercise.part(points=0.4, answer=ComplexityClass("n d"))
def stride():
    """Every s-th position with s = √n."""
    return "n^(3/2) d"


stride.mistakes(
    stride_linear=("n d", "A query sees n/s keys, and s is √n."),
    stride_of_one_query=("n^(1/2) d", "That is what one query takes. How many queries are there?"),
    stride_without_width=("n^(3/2)", "Each score is a product of vectors of width d."),
    stride_quadratic=("n^2 d", "A query sees n/s keys, fewer than all."),
)


@exercise.part(points=0.4, answer=ComplexityClass("n d D"))
def linear():
    """Linear attention with D features, values of width d."""
    return "n D d"


linear.mistakes(
    linear_without_features=("n d", "Keys and values meet in a D × d matrix."),
    linear_without_width=("n D", "Keys and values meet in a D × d matrix."),
    features_with_features=(
        "n D^2",
        "The features of a key meet its value, which has the width d.",
    ),
    width_for_features=("n d^2", "D is the number of features, which need not be d."),
    linear_squared=("n^2 D", "With the brackets moved there is no product of n with n."),
)


@exercise.part(points=0.4, answer=ComplexityClass("n d r"))
def linformer():
    """Keys and values projected to r positions."""
    return "n r d"


linformer.mistakes(
    linformer_squared=("r^2 d", "There are still n queries."),
    linformer_without_width=("n r", "Each score is a product of vectors of width d."),
    linformer_at_full_price=("n^2 d", "Only r keys are left for a query to meet."),
)


@exercise.part(points=0.5, answer=ComplexityClass("n d m"))
def random_features():
    """m random features."""
    return "n m d"


random_features.mistakes(
    features_squared=(
        "n m^2",
        "Each token's m features cost m products of width d, and meet values of width d.",
    ),
    random_features_without_width=("n m", "Each feature of a key meets a value of width d."),
    features_for_free=("n d", "The more features, the more work."),
)


@exercise.part(points=0.5, answer=ComplexityClass("n d w g"))
def window_global():
    """A window of w and g global tokens."""
    return "n (w + g) d"


window_global.mistakes(
    window_times_global=("n w g d", "A query sees its window and the global tokens: add them."),
    global_squared=("(n w + g^2) d", "A global token sees all n tokens, and all n see it."),
)


#: Keys that a query meets, or what comes in their place.
METHODS = {"full": 4096, "window": 513, "stride": 64, "linear": 64, "random": 256, "linformer": 128}


@exercise.part(points=0.5, answer=Count())
def madds():
    """Score madds for n = 4096, d = 64: all pairs, window, stride, D = 64, m = 256, r = 128."""
    return [4096 * keys * 64 for keys in METHODS.values()]


@madds.misconception(credit=0.5)
def half_a_window():
    """Your window looks to one side, or it leaves out the token itself."""
    return [4096 * (512 if keys == 513 else keys) * 64 for keys in METHODS.values()]


@madds.misconception(credit=0.5)
def one_side_of_the_window():
    """A window reaches w to both sides, and holds the token itself."""
    return [4096 * (256 if keys == 513 else keys) * 64 for keys in METHODS.values()]


@madds.misconception()
def entries_counted():
    """These are entries. Each of them costs d madds."""
    return [4096 * keys for keys in METHODS.values()]


@madds.misconception()
def both_products():
    """That is the double. Asked for are scores alone, or what comes in their place."""
    return [2 * 4096 * keys * 64 for keys in METHODS.values()]


@exercise.part(points=0.5, answer=Numbers())
def savings(madds):
    """By what factor the other five are below the first."""
    madds = np.asarray(madds, dtype=float)
    return madds[0] / madds[1:]


@savings.misconception()
def shares(madds):
    """These are shares; asked for is how many times as much the first one takes."""
    madds = np.asarray(madds, dtype=float)
    return madds[1:] / madds[0]


@exercise.part(
    points=1,
    answer=Choice(
        [
            "Training is more stable than with softmax attention.",
            "Its gradients have a lower variance.",
            "The outputs of a deep stack are less prone to become alike.",
            "With elu + 1, the output tends to that of softmax attention as the width $d$ grows.",
        ],
        multiple=True,
    ),
)
def theorems():
    """Which of the statements are theorems?"""
    return "none"


theorems.mistakes(
    stability_believed=(
        "A",
        "Stability in training was reported for some models. A bounded gradient needs assumptions.",
    ),
    variance_believed=(
        "B",
        "It can make weights smoother or sharper. Nobody has proved that gradients get less noisy.",
    ),
    collapse_believed=(
        "C",
        "Positive weights still average: outputs of deep stacks can become alike.",
    ),
    convergence_believed=(
        "D",
        "With elu + 1 nothing tends to softmax, whatever grows. With random features it does.",
    ),
    all_believed=("ABCD", "Each of these has been claimed. Ask each one for its proof."),
)
