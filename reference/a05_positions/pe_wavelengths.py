"""How long the waves of the sinusoidal encodings are.

Source: Vaswani et al. (2017), "Attention is all you need", section 3.5.
"""

import numpy as np

from autograder.exercise import Count, Exercise, Figure, Numbers

exercise = Exercise(
    "pe_wavelengths",
    title="From 6 to 60 thousand",
    source="Vaswani et al. (2017), section 3.5",
    minutes=35,
    hints=[
        "A wavelength is how far p has to go until the angle p/base^(2i/d) has grown by 2π.",
        "Each wavelength is the one before times a constant: which exponent grows from i to i + 1?",
        "For the count solve the inequality for i, and remember that counting begins with i = 0.",
    ],
)
positional_encoding = exercise.carries("a05_positions/pe_code", "positional_encoding")


@exercise.variant
def draw(rng):
    """d: a small even width, base, and the limit below which waves are counted at d = 512."""
    return {
        "d": int(rng.choice([6, 8])),
        "base": int(rng.choice([100, 500, 1000, 5000, 20000])),
        "limit": int(rng.choice([40, 50, 80, 100, 150, 200, 300])),
    }


def waves(d, base=10000):
    """Return the wavelength of each pair, shape (d/2,)."""
    return 2 * np.pi * base ** (np.arange(0, d, 2) / d)


@exercise.part(points=2, answer=Numbers())
def wavelengths(d, base):
    """The wavelength of each pair, for your width and base, shape (d/2,)."""
    return waves(d, base)


@wavelengths.misconception()
def frequencies(d, base):
    """These are frequencies, turns per position. A wavelength is the inverse of one."""
    return 1 / waves(d, base)


@wavelengths.misconception()
def pairs_from_one(d, base):
    """You numbered the pairs from 1. The first one is i = 0."""
    return waves(d, base) * base ** (2 / d)


@wavelengths.misconception()
def times_the_frequency(d, base):
    """You multiplied 2π by base^(−2i/d). The more slowly a hand turns, the longer its wave."""
    return (2 * np.pi) ** 2 / waves(d, base)


@wavelengths.misconception()
def exponent_doubled(d, base):
    """Your exponent is twice too large: with your base it is 2i/d for the pair i."""
    return waves(d, base**2)


@wavelengths.misconception()
def exponent_halved(d, base):
    """Your exponent is half as large as it should be: for the pair i it is 2i/d."""
    return waves(d, base**0.5)


@wavelengths.misconception(credit=0.5)
def turn_forgotten(d, base):
    """After so many positions the angle is one radian. A whole turn has 2π of them."""
    return waves(d, base) / (2 * np.pi)


@wavelengths.misconception()
def ends_at_the_base(d, base):
    """Your last wave has the length 2π · base. The largest i is d/2 − 1, so that isn't reached."""
    return 2 * np.pi * base ** np.linspace(0, 1, d // 2)


@exercise.part(points=0.5, answer=Numbers())
def longest():
    """The longest wavelength at d = 512, base 10000."""
    return waves(512)[-1]


@longest.misconception()
def bound_not_reached():
    """That is the bound 2π · 10000. The largest i is d/2 − 1, so that it isn't reached."""
    return 2 * np.pi * 10000


@longest.misconception()
def longest_of_the_doubled_exponent():
    """That is what comes out with the exponent doubled: at the pair i it is 2i/d."""
    return waves(512, 10000**2)[-1]


@longest.misconception()
def longest_without_the_turn():
    """After so many positions the angle is one radian. A whole turn has 2π of them."""
    return waves(512)[-1] / (2 * np.pi)


@exercise.part(points=0.5, answer=Numbers())
def ratio():
    """The ratio of a wavelength to the one before, at d = 512, base 10000."""
    return 10000 ** (2 / 512)


ratio.mistakes(
    ratio_of_columns=(
        10000 ** (1 / 512),
        "That is the ratio 10000^(1/d). From one pair to the next the exponent grows by 2/d.",
    ),
    ratio_of_the_doubled_exponent=(
        10000 ** (4 / 512),
        "That is what comes out with the exponent doubled: at the pair i it is 2i/d.",
    ),
    ratio_upside_down=(10000 ** (-2 / 512), "You divided the shorter by the longer one."),
)


@exercise.part(points=1, answer=Count())
def short(limit):
    """How many pairs have a wavelength below your limit, at d = 512, base 10000?"""
    return int((waves(512) < limit).sum())


@short.misconception()
def columns_counted(limit):
    """You counted columns. A pair has two of them."""
    return 2 * int((waves(512) < limit).sum())


@short.misconception()
def radian_for_a_turn(limit):
    """After so many positions the angle is one radian. A whole turn has 2π of them."""
    return int((waves(512) / (2 * np.pi) < limit).sum())


@short.misconception()
def index_of_the_last(limit):
    """That is the largest i that fits. How many are there, counted from i = 0?"""
    return int((waves(512) < limit).sum()) - 1


@exercise.part(points=1, answer=Figure())
def heatmap():
    """The encodings of the positions 0 … 99 at d = 128, an array of shape (100, 128)."""
    return {"heatmap": positional_encoding(100, 128)}


@heatmap.alternative
def heatmap_by_columns():
    """Column after column."""
    p = np.arange(100)
    pairs = [(np.sin(p / b), np.cos(p / b)) for b in 10000 ** (np.arange(64) / 64)]
    return {"heatmap": np.array([wave for pair in pairs for wave in pair]).T}


@heatmap.misconception()
def heatmap_exponent_doubled():
    """Your exponent is twice too large: half of the picture stands still."""
    return {"heatmap": positional_encoding(100, 128, 10000**2)}


@heatmap.misconception()
def heatmap_from_one():
    """Your first row is position 1. The positions are 0 … 99."""
    return {"heatmap": positional_encoding(101, 128)[1:]}


@heatmap.misconception()
def heatmap_sines_first():
    """All sines are on the left. Sine and cosine alternate, a pair at a time."""
    drawn = positional_encoding(100, 128)
    return {"heatmap": np.hstack([drawn[:, 0::2], drawn[:, 1::2]])}


@exercise.part(points=2, answer=Figure())
def curve():
    """The logarithm (to base 10) of the wavelength against i = 0 … 63, at d = 128: (x, y)."""
    return {"curve": (np.arange(64), np.log10(waves(128)))}


@curve.alternative
def curve_as_a_line():
    """A straight line: log₁₀ 2π + 4 · 2i/128."""
    i = np.arange(64)
    return {"curve": (i, np.log10(2 * np.pi) + i / 16)}


@curve.misconception()
def curve_of_frequencies():
    """Your line falls: these are frequencies. A wavelength is the inverse of one."""
    return {"curve": (np.arange(64), -np.log10(waves(128)))}


@curve.misconception(credit=0.5)
def curve_without_the_turn():
    """After so many positions the angle is one radian. A whole turn has 2π of them."""
    return {"curve": (np.arange(64), np.log10(waves(128) / (2 * np.pi)))}


@curve.misconception()
def curve_against_columns():
    """Your x are the columns 0, 2, 4 … Asked for are the pairs i = 0 … 63."""
    return {"curve": (np.arange(0, 128, 2), np.log10(waves(128)))}


@curve.misconception()
def no_logarithm():
    """These are the wavelengths themselves. Their logarithms are asked for."""
    return {"curve": (np.arange(64), waves(128))}


@curve.misconception()
def natural_logarithm():
    """These are natural logarithms; asked for are those to base 10."""
    return {"curve": (np.arange(64), np.log(waves(128)))}
