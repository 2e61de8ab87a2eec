"""The limits of floating-point formats, derived from their bits.

Source: IEEE 754-2019, section 3; Micikevicius et al. (2018), section 3.
"""

import numpy as np

from autograder.exercise import Count, Exercise, Numbers

exercise = Exercise(
    "fp16_limits",
    title="The limits of sixteen bits",
    source="IEEE 754-2019, section 3",
    minutes=35,
    hints=[
        "Do as in the example: first the bias, then the smallest and the largest exponent that "
        "aren't reserved, then the fraction with all bits 0 or all bits 1.",
        "From one power of two to the next all steps are equally long. How many of them do the "
        "bits of the fraction make?",
        "For `rounded` write the two neighbours of the exact result down, counted in steps: is "
        "one of them nearer, and if not, which one is even?",
    ],
)


def limits(exponent_bits, fraction_bits, bias=None):
    """The largest number, and log₂ of smallest normal, smallest subnormal and spacing at 1."""
    bias = 2 ** (exponent_bits - 1) - 1 if bias is None else bias
    top = 2**exponent_bits - 2 - bias
    largest = (2 - 2.0**-fraction_bits) * 2.0**top
    return largest, (1 - bias, 1 - bias - fraction_bits, -fraction_bits)


@exercise.part(points=1, answer=Count())
def half_largest():
    """The largest finite number of half precision."""
    return limits(5, 10)[0]


@half_largest.misconception()
def next_power_of_two():
    """That is the first number which no longer fits: not all of its fraction bits are 1."""
    return 2**16


@half_largest.misconception()
def largest_with_bias_16():
    """Your exponent is too small by one. The bias is 2^(5−1) − 1."""
    return limits(5, 10, 16)[0]


@half_largest.misconception()
def largest_integer_of_16_bits():
    """That is the largest whole number of 16 bits. Here they are sign, exponent and fraction."""
    return 2**16 - 1


@half_largest.misconception()
def eleven_fraction_bits():
    """Your fraction has a bit too many: ten are stored, and the leading 1 comes before them."""
    return limits(5, 11)[0]


@half_largest.misconception()
def largest_power_of_two():
    """The largest exponent is right. With it goes the largest fraction, nearly 2."""
    return 2**15


@exercise.part(points=1, answer=Count())
def half_exponents():
    """Exponents of 2: the smallest normal number, the smallest subnormal one, ε."""
    return limits(5, 10)[1]


@half_exponents.misconception()
def exponents_with_bias_16():
    """Too small by a factor of 2: the bias is 2^(5−1) − 1, and exponent bits all 0 are reserved."""
    return limits(5, 10, 16)[1]


@half_exponents.misconception()
def hidden_bit_in_epsilon():
    """ε is the distance from 1 to the next number: the last of ten fraction bits."""
    return (-14, -24, -11)


@exercise.part(points=0.3, answer=Numbers())
def single_largest():
    """The largest finite number of single precision."""
    return limits(8, 23)[0]


single_largest.mistakes(
    single_exponent_too_small=(
        2.0**127,
        "It is larger by a factor of nearly 2: the largest fraction belongs to it.",
    ),
    exponents_read_as_decimal=(
        1e38,
        "That is the order of magnitude. It can be computed exactly from the bits.",
    ),
)


@exercise.part(points=0.3, answer=Count())
def single_exponents():
    """Exponents of 2: the smallest normal number, and ε."""
    return (-126, -23)


single_exponents.mistakes(
    single_with_bias_128=(
        (-127, -23),
        "Too small by 1: the bias is 2^(8−1) − 1, and exponent bits all 0 are reserved.",
    ),
    smallest_of_all=(
        (-126, -149),
        "−149 belongs to the smallest subnormal number. ε is the distance from 1 to the next one.",
    ),
    single_hidden_bit=(
        (-126, -24),
        "ε is the distance from 1 to the next number: the last of 23 fraction bits.",
    ),
)


@exercise.part(points=0.4, answer=Numbers())
def digits():
    """The decimal digits of half and of single precision, from 11 and 24 significant bits."""
    return np.log10(2) * np.array([11, 24])


digits.mistakes(
    digits_without_hidden_bit=(
        np.log10(2) * np.array([10, 23]),
        "There is one significant bit more than stored: the leading 1 isn't.",
    ),
    whole_digits=([3, 7], "These are rounded down to whole ones."),
    natural_logarithms=(
        np.log(2) * np.array([11, 24]),
        "Decimal digits are counted by logarithms to the base 10.",
    ),
)


@exercise.part(points=1, answer=Count())
def rounded():
    """float16(2048) + 1, float16(2049), float16(2051), float16(2⁻²⁵)·2²⁴, float16(3 · 2⁻²⁵)·2²⁴."""
    return [2048, 2048, 2052, 0, 2]


rounded.mistakes(
    ties_rounded_up=(
        [2050, 2050, 2052, 1, 2],
        "A tie goes to the neighbour with an even fraction, and not always up.",
    ),
    exact_integers=(
        [2049, 2049, 2051, 0, 2],
        "From 2048 on the spacing is 2: not every whole number is there.",
    ),
    ties_rounded_down=(
        [2048, 2048, 2050, 0, 1],
        "A tie goes to the neighbour with an even fraction, and not always down.",
    ),
)


@exercise.part(points=0.4, answer=Numbers())
def spacing():
    """The distance to the next number of half precision, from 1000 and from 5000."""
    return np.array([0.5, 4])


spacing.mistakes(
    spacing_of_one=(
        np.array([1.0, 8]),
        "1000 lies between 512 and 1024: how many steps do ten bits make of that?",
    ),
    power_above_1000=(
        np.array([1.0, 4]),
        "1000 lies below 1024: take the power of two below it.",
        0.5,
    ),
    epsilon_everywhere=(
        np.array([1, 1]) * 2.0**-10,
        "That is ε, the spacing from 1 on. With every power of two it doubles.",
    ),
    epsilon_times_1000=(
        np.array([1000, 5000]) * 2.0**-10,
        "Within a power of two the spacing is the same everywhere: take the power of two below.",
    ),
)


@exercise.part(points=0.6, answer=Count())
def bfloat16_largest():
    """Exponents a and b: the largest finite bfloat16 is 2^a − 2^b."""
    return [128, 120]


bfloat16_largest.mistakes(
    fraction_of_single=(
        [128, 104],
        "The exponents are those of single precision. The fraction is shorter: seven bits.",
    ),
    largest_exponent_itself=(
        [127, 120],
        "127 is the largest exponent. In the example that is 3, and which power stands first "
        "there?",
        0.5,
    ),
    same_as_half=(
        [16, 5],
        "That is half precision. bfloat16 has eight exponent bits and seven fraction bits.",
    ),
    bfloat_spacing_off_by_one=(
        [128, 121],
        "The last of seven fraction bits is worth 2^−7 of the leading one, which is 2^127.",
    ),
)
