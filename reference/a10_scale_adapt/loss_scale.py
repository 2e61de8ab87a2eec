"""Loss scaling: lift small gradients into the range of half precision.

Source: Micikevicius et al. (2018), "Mixed precision training", section 3.2.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from autograder.exercise import Count, Exercise, Numbers, agree, require

exercise = Exercise(
    "loss_scale",
    title="Lifting small gradients",
    source="Micikevicius et al. (2018), section 3.2",
    minutes=50,
    hints=[
        "Below the normal numbers half precision counts in steps of 2⁻²⁴. How many steps is "
        "each gradient, before and after rounding?",
        "Each bound on S is a limit of the format, divided by a gradient.",
        "In `dynamic_scale` count good steps in a row beside S, and ask what sets the count "
        "back. In `scaled_step` look at all gradients before you touch a weight.",
    ],
)

half = np.float16
NORMAL, TOP = 2.0**-14, 65504.0
SMALLEST, LARGEST = 1e-8, 3.0
FLAGS = [0, 1, 1, 0, 0, 0, 0, 1, 0, 0]


@exercise.part(points=0.5, answer=Count())
def stored():
    """How many steps of 2⁻²⁴ half precision stores for 1e-8, 4e-8, 1e-7, 2e-7."""
    return [round(float(half(x)) * 2**24) for x in (1e-8, 4e-8, 1e-7, 2e-7)]


stored.mistakes(
    cut_off=(
        [int(x * 2**24) for x in (1e-8, 4e-8, 1e-7, 2e-7)],
        "These are rounded down. Half precision rounds to the nearest number.",
    ),
    no_subnormals=(
        [0, 0, 0, 0],
        "Below the normal numbers there are subnormal ones, down to 2⁻²⁴.",
    ),
)


@exercise.part(points=0.5, answer=Count())
def vanishing():
    """The exponent of the largest power of two that becomes 0."""
    return -25


@vanishing.misconception()
def smallest_subnormal():
    """2⁻²⁴ is still there: it is the smallest subnormal number."""
    return -24


vanishing.mistakes(
    smallest_normal=(-15, "Below the smallest normal number there are subnormal ones."),
    tie_forgotten=(
        -26,
        "A power of two above yours lies half-way between 0 and 2⁻²⁴: where does a tie go?",
    ),
)


@exercise.part(points=1, answer=Numbers())
def bounds():
    """The least S that makes 1e-8 a normal number, the largest that keeps 3 finite."""
    return np.array([NORMAL / SMALLEST, TOP / LARGEST])


bounds.mistakes(
    down_to_subnormal=(
        np.array([2.0**-24 / SMALLEST, TOP / LARGEST]),
        "With that S the gradient becomes a subnormal number, which has few digits left.",
    ),
    largest_not_divided=(
        np.array([NORMAL / SMALLEST, TOP]),
        "A gradient of 3, times your second S, is three times the largest number.",
    ),
    bounds_exchanged=(
        np.array([TOP / LARGEST, NORMAL / SMALLEST]),
        "The small gradient has to be lifted, and the large one must not go beyond the top.",
    ),
    reciprocals=(
        np.array([SMALLEST / NORMAL, LARGEST / TOP]),
        "S multiplies the gradients: these are factors by which you would divide.",
    ),
)


@exercise.part(points=1, answer=Count())
def powers(bounds):
    """The smallest and the largest power of two between the two bounds."""
    low, high = bounds
    return [2 ** int(np.ceil(np.log2(low))), 2 ** int(np.floor(np.log2(high)))]


powers.mistakes(
    exponents_of_the_powers=([13, 14], "These are the exponents. S is 2 to that power.", 0.5),
    powers_outside=([4096, 32768], "One of yours lies outside the bounds."),
    powers_below=([4096, 16384], "The smaller one is below the lower bound."),
    powers_above=([8192, 32768], "The larger one is above the upper bound."),
)


@exercise.part(points=0.5, answer=Numbers())
def recovered(powers):
    """What becomes of 1e-8 with the smaller of these powers, in units of 1e-12."""
    S = int(powers[0])
    return float(half(SMALLEST * S)) / S / 1e-12


@recovered.misconception()
def not_unscaled(powers):
    """You didn't divide by S again."""
    return float(half(SMALLEST * int(powers[0]))) / 1e-12


@recovered.misconception()
def lost_after_all():
    """Is that the number itself? How many units of 1e-12 is it? Only half precision makes it 0."""
    return 0.0


@exercise.part(points=0.5, answer=Numbers())
def relative_error(powers):
    """The relative error that is left."""
    S = int(powers[0])
    return abs(1 - float(half(SMALLEST * S)) / S / SMALLEST)


relative_error.mistakes(
    half_a_spacing=(
        2.0**-11,
        "That is the largest error that rounding may have. What is it for this number?",
    ),
    exact_after_all=(
        0.0,
        "That is as good as 0. 1e-8 is no power of two: what part of it does rounding change?",
    ),
)


@exercise.reference
def dynamic_scale(flags: list, S: float = 65536, grow_every: int = 3) -> list:
    """The scale after each step: halved on overflow, doubled after so many good steps."""
    trace, good = [], 0
    for overflow in flags:
        good = 0 if overflow else good + 1
        if overflow:
            S = S / 2
        elif good == grow_every:
            S, good = S * 2, 0
        trace.append(S)
    return trace


@exercise.alternative
def by_exponent(flags, S=65536, grow_every=3):
    """Count halvings and doublings."""
    exponent, since, trace = 0, 0, []
    for overflow in flags:
        if overflow:
            exponent, since = exponent - 1, 0
        else:
            since += 1
            exponent += since % grow_every == 0
        trace.append(S * 2.0**exponent)
    return np.array(trace)


@exercise.alternative
def looking_back(flags, S=65536, grow_every=3):
    """For every step, the length of the run of good steps that it ends."""
    flags, trace = list(map(bool, flags)), []
    for t, overflow in enumerate(flags):
        run = next((i for i in range(t + 1) if flags[t - i]), t + 1)
        S = S / 2 if overflow else S * 2 if run % grow_every == 0 else S
        trace.append(S)
    return trace


@exercise.alternative
def as_a_generator(flags, S=65536, grow_every=3):
    """A countdown to the next doubling."""

    def scales():
        scale, left = float(S), grow_every
        for overflow in flags:
            left = grow_every if overflow else left - 1
            scale *= 0.5 if overflow else 1 if left else 2
            left = left or grow_every
            yield scale

    return tuple(scales())


def trace_of(call, *args, **kwargs):
    """What was returned, as an array; a list of nothing is one, too."""
    return np.asarray(call(*args, **kwargs), float)


@exercise.check(points=0.5, visible=True)
def overflow_halves(call, rng):
    """Every overflow halves the scale, at once."""
    for flags in ([1], [0, 1, 0, 1, 1], [1] * 6):
        agree(trace_of(call, flags), dynamic_scale(flags))


@exercise.check(points=0.5)
def good_steps_double(call, rng):
    """After three good steps the scale is doubled, and counting starts anew."""
    agree(trace_of(call, [0] * 7), dynamic_scale([0] * 7))


@exercise.check(points=0.5)
def overflow_starts_the_count(call, rng):
    """After an overflow three good steps in a row are needed."""
    for flags in (FLAGS, [0, 0, 1, 0, 0, 1, 0, 0, 0]):
        agree(trace_of(call, flags), dynamic_scale(flags))


@exercise.check(points=0.25)
def other_settings(call, rng):
    """Another start and another number of good steps; no steps give an empty list."""
    flags = [0, 0, 0, 0, 0, 1, 0]
    agree(trace_of(call, flags, 1024.0, 5), dynamic_scale(flags, 1024.0, 5))
    agree(trace_of(call, []), [])


@exercise.misconception
def count_goes_on(flags, S=65536, grow_every=3):
    """You count good steps altogether. After an overflow the count starts anew."""
    trace, good = [], 0
    for overflow in flags:
        good += not overflow
        S = S / 2 if overflow else S * 2 if good % grow_every == 0 else S
        trace.append(S)
    return trace


@exercise.misconception(credit=0.4)
def one_step_late(flags, S=65536, grow_every=3):
    """You return the scale that a step was taken with, not the one after it."""
    return [S, *dynamic_scale(flags, S, grow_every)][: len(flags)]


@exercise.misconception(credit=0.4)
def doubles_every_time(flags, S=65536, grow_every=3):
    """Once there were three good steps, every further one doubles the scale in yours."""
    trace, good = [], 0
    for overflow in flags:
        good = 0 if overflow else good + 1
        S = S / 2 if overflow else S * 2 if good >= grow_every else S
        trace.append(S)
    return trace


@exercise.misconception
def doubles_once(flags, S=65536, grow_every=3):
    """In a long run of good steps you double once. After a doubling the count starts anew."""
    trace, good = [], 0
    for overflow in flags:
        good = 0 if overflow else good + 1
        S = S / 2 if overflow else S * 2 if good == grow_every else S
        trace.append(S)
    return trace


@exercise.misconception(credit=0.4)
def one_step_too_many(flags, S=65536, grow_every=3):
    """You double one step too late: the third good step does it."""
    return dynamic_scale(flags, S, grow_every + 1)


@exercise.misconception(credit=0.4)
def doubled_on_overflow(flags, S=65536, grow_every=3):
    """An overflow means that the scale is too large."""
    return [S * S / x for x in dynamic_scale(flags, S, grow_every)]


@exercise.misconception
def settings_ignored(flags, S=65536, grow_every=3):
    """You wrote the start and the three down as numbers. Use the arguments."""
    return dynamic_scale(flags)


@exercise.reference
def scaled_step(
    w: Float[ndarray, " n"], g: Float[ndarray, " n"], S: float, lr: float
) -> Float[ndarray, " n"]:
    """Weights after a step with scaled gradients in half precision; unchanged on overflow."""
    if not np.isfinite(g).all():
        return w
    return w - np.float32(lr / S) * g.astype(np.float32)


@exercise.alternative
def unscaled_first(w, g, S, lr):
    """Divide first, in float64."""
    gradient = g.astype(float) / S
    return (w - lr * gradient).astype(np.float32) if np.isfinite(gradient).all() else w.copy()


@exercise.alternative
def overflow_by_its_sum(w, g, S, lr):
    """A sum of zeros times the gradients is NaN if one of them is not finite."""
    wide = g.astype(np.float32)
    with np.errstate(invalid="ignore"):
        fine = not np.isnan((0 * wide).sum())
    return np.where(fine, w - lr * np.where(fine, wide, 0) / S, w).astype(np.float32)


@exercise.alternative
def entry_by_entry(w, g, S, lr):
    """Numbers one by one."""
    if any(x != x or abs(x) == np.inf for x in g.tolist()):
        return w
    return np.array([a - lr * b / S for a, b in zip(w.tolist(), g.tolist(), strict=True)])


def weights_and_gradients(rng, S, n=5):
    """Weights in float32, and scaled gradients in half precision."""
    g = rng.uniform(0.5, 2, n) * rng.choice([-1, 1], n)
    return rng.normal(size=n).astype(np.float32), (g * 1e-3 * S).astype(half)


@exercise.check(points=0.5, visible=True)
def takes_the_step(call, rng):
    """w − lr · g/S for gradients that are finite."""
    w, g = weights_and_gradients(rng, 1024)
    agree(call(w, g, 1024.0, 0.5), scaled_step(w, g, 1024.0, 0.5), rtol=1e-5, atol=1e-6)


@exercise.check(points=0.5)
def skips_on_overflow(call, rng):
    """If one gradient is infinite or not a number, no weight changes."""
    for bad in (np.inf, -np.inf, np.nan):
        w, g = weights_and_gradients(rng, 1024)
        moved = call(w, g, 1024.0, 0.5)
        require(not np.array_equal(moved, w), "a step with good gradients changes nothing")
        g[2] = bad
        agree(call(w, g, 1024.0, 0.5), w, rtol=0, atol=0)


@exercise.check(points=0.25)
def small_gradients_count(call, rng):
    """A gradient of 1e-8 moves its weight, since it is unscaled in single precision."""
    w = np.zeros(3, np.float32)
    g = (np.array([1e-8, -2e-8, 3e-8]) * 8192).astype(half)
    agree(call(w, g, 8192.0, 1e7), [-0.1, 0.2, -0.3], rtol=2e-3, atol=0)


@exercise.misconception(credit=0.4)
def never_unscaled(w, g, S, lr):
    """The gradients are still S times too large: divide by S before the step."""
    return scaled_step(w, g, 1.0, lr)


@exercise.misconception
def step_despite_overflow(w, g, S, lr):
    """You take the step although a gradient has overflowed: that weight is lost for good."""
    return w - np.float32(lr / S) * g.astype(np.float32)


@exercise.misconception
def bad_entries_skipped(w, g, S, lr):
    """You leave out the bad entries alone. The whole step is skipped: the direction is wrong."""
    return np.where(np.isfinite(g), scaled_step(w, np.nan_to_num(g, posinf=0, neginf=0), S, lr), w)


@exercise.misconception
def nan_overlooked(w, g, S, lr):
    """NaN isn't infinite: test for numbers that are finite."""
    return w if np.isinf(g).any() else step_despite_overflow.compute(w, g, S, lr)


@exercise.misconception
def unscaled_in_half(w, g, S, lr):
    """You divide in half precision: small gradients vanish again. Go to float32 first."""
    return scaled_step(w, (g / half(S)).astype(half), 1.0, lr)


@exercise.misconception(credit=0.4)
def uphill(w, g, S, lr):
    """You go up along the gradient."""
    return scaled_step(w, -g, S, lr)
