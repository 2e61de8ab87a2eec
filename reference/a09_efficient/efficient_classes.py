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


@window.misconception()
def window_squared():
    """Each of n queries sees some 2w keys, not each of w."""
    return "n w^2 d"


@window.misconception()
def window_without_width():
    """Each score is a product of vectors of width d."""
    return "n w"


@window.misconception()
def window_without_w():
    """The wider the window, the more scores. Here w is not fixed."""
    return "n d"


@exercise.part(points=0.4, answer=ComplexityClass("n d"))
def stride():
    """Every s-th position with s = √n."""
    return "n^(3/2) d"


@stride.misconception()
def stride_linear():
    """A query sees n/s keys, and s is √n."""
    return "n d"


@stride.misconception()
def stride_of_one_query():
    """That is what one query takes. How many queries are there?"""
    return "n^(1/2) d"


@stride.misconception()
def stride_without_width():
    """Each score is a product of vectors of width d."""
    return "n^(3/2)"


@stride.misconception()
def stride_quadratic():
    """A query sees n/s keys, fewer than all."""
    return "n^2 d"


@exercise.part(points=0.4, answer=ComplexityClass("n d D"))
def linear():
    """Linear attention with D features, values of width d."""
    return "n D d"


@linear.misconception()
def linear_without_features():
    """Keys and values meet in a D × d matrix."""
    return "n d"


@linear.misconception()
def linear_without_width():
    """Keys and values meet in a D × d matrix."""
    return "n D"


@linear.misconception()
def features_with_features():
    """The features of a key meet its value, which has the width d."""
    return "n D^2"


@linear.misconception()
def width_for_features():
    """D is the number of features, which need not be d."""
    return "n d^2"


@linear.misconception()
def linear_squared():
    """With the brackets moved there is no product of n with n."""
    return "n^2 D"


@exercise.part(points=0.4, answer=ComplexityClass("n d r"))
def linformer():
    """Keys and values projected to r positions."""
    return "n r d"


@linformer.misconception()
def linformer_squared():
    """There are still n queries."""
    return "r^2 d"


@linformer.misconception()
def linformer_without_width():
    """Each score is a product of vectors of width d."""
    return "n r"


@linformer.misconception()
def linformer_at_full_price():
    """Only r keys are left for a query to meet."""
    return "n^2 d"


@exercise.part(points=0.5, answer=ComplexityClass("n d m"))
def random_features():
    """m random features."""
    return "n m d"


@random_features.misconception()
def features_squared():
    """Each token's m features cost m products of width d, and meet values of width d."""
    return "n m^2"


@random_features.misconception()
def random_features_without_width():
    """Each feature of a key meets a value of width d."""
    return "n m"


@random_features.misconception()
def features_for_free():
    """The more features, the more work."""
    return "n d"


@exercise.part(points=0.5, answer=ComplexityClass("n d w g"))
def window_global():
    """A window of w and g global tokens."""
    return "n (w + g) d"


@window_global.misconception()
def window_times_global():
    """A query sees its window and the global tokens: add them."""
    return "n w g d"


@window_global.misconception()
def global_squared():
    """A global token sees all n tokens, and all n see it."""
    return "(n w + g^2) d"


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


@theorems.misconception()
def stability_believed():
    """Stability in training was reported for some models. A bounded gradient needs assumptions."""
    return "A"


@theorems.misconception()
def variance_believed():
    """It can make weights smoother or sharper. Nobody has proved that gradients get less noisy."""
    return "B"


@theorems.misconception()
def collapse_believed():
    """Positive weights still average: outputs of deep stacks can become alike."""
    return "C"


@theorems.misconception()
def convergence_believed():
    """With elu + 1 nothing tends to softmax, whatever grows. With random features it does."""
    return "D"


@theorems.misconception()
def all_believed():
    """Each of these has been claimed. Ask each one for its proof."""
    return "ABCD"
