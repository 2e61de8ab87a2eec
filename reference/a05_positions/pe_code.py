"""A table of sinusoidal encodings, for any width and any positions.

Source: Vaswani et al. (2017), "Attention is all you need", section 3.5.
"""

import numpy as np
from jaxtyping import Float, Real
from numpy import ndarray

from autograder.exercise import Choice, Exercise, agree, require, vectorised

exercise = Exercise(
    "pe_code",
    title="Encodings of any width",
    source="Vaswani et al. (2017), section 3.5",
    minutes=40,
    hints=[
        "Make the positions a column and the pairs a row; one product gives all angles.",
        "`out[:, 0::2]` are the even columns. With an odd width there is one sine more than "
        "there are cosines.",
    ],
)


@exercise.reference
def positional_encoding(
    n: int, d: int, base: float = 10000.0, positions: Real[ndarray, " n"] | None = None
) -> Float[ndarray, "n d"]:
    """Return sin(p / base^(2i/d)) in the columns 2i, and the cosine in the columns 2i + 1."""
    p = np.arange(n) if positions is None else np.asarray(positions)
    column = np.arange(d)
    angle = p[:, None] / base ** ((column - column % 2) / d)
    return np.where(column % 2 == 0, np.sin(angle), np.cos(angle))


@exercise.alternative
def by_slices(n, d, base=10000.0, positions=None):
    """Fill every other column; the slice of the cosines may be one shorter."""
    p = np.arange(n) if positions is None else np.asarray(positions, float)
    angle = np.outer(p, base ** (-np.arange(0, d, 2) / d))
    table = np.zeros((len(p), d))
    table[:, 0::2] = np.sin(angle)
    table[:, 1::2] = np.cos(angle)[:, : d // 2]
    return table


@exercise.alternative
def by_complex_numbers(n, d, base=10000.0, positions=None):
    """Take both from e^(iθ), a pair more than needed where d is odd."""
    p = np.arange(n, dtype=float) if positions is None else np.array(positions, dtype=float)
    turned = np.exp(1j * p[:, None] * np.exp(-np.log(base) * np.arange(0, d, 2) / d))
    return np.stack([turned.imag, turned.real], axis=2).reshape(len(p), d + d % 2)[:, :d]


@exercise.alternative
def by_index_tricks(n, d, base=10000.0, positions=None):
    """Positions from `np.r_`; a cosine is a sine a quarter of a turn ahead."""
    p = np.r_[:n] if positions is None else np.asarray(positions, float)
    pair, second = np.divmod(np.r_[:d], 2)
    return np.sin(np.outer(p, base ** (-2 * pair / d)) + second * np.pi / 2)


@exercise.alternative
def column_by_column(n, d, base=10000.0, positions=None):
    """A loop over columns is no loop over positions."""
    p = np.arange(n) if positions is None else positions
    wave = [np.sin, np.cos]
    columns = [wave[c % 2](np.asarray(p) / base ** ((c - c % 2) / d)) for c in range(d)]
    return np.array(columns).T


@exercise.check(points=1.5)
def rows_of_equal_length(call, rng):
    """n rows and d columns, and every row has the squared length d/2."""
    for n, d in ((5, 8), (int(rng.integers(6, 20)), 10)):
        table = np.asarray(call(n, d))
        require(table.shape == (n, d), f"the table for n = {n}, d = {d} has another shape")
        agree((table**2).sum(axis=1), np.full(n, d / 2), what="the squared length of a row")


@exercise.check(points=1.5, visible=True)
def matches_the_formula(call, rng):
    """Sines in the even columns, cosines in the odd ones, for even d and positions 0 … n − 1."""
    for n, d in ((4, 6), (1, 2), (int(rng.integers(5, 20)), 16)):
        agree(call(n, d), positional_encoding(n, d))


@exercise.check(points=0.5)
def other_bases(call, rng):
    """The argument `base` takes the place of 10000."""
    base = float(rng.integers(20, 900))
    agree(call(5, 8, base), positional_encoding(5, 8, base))
    agree(call(5, 8, base=base), positional_encoding(5, 8, base))


@exercise.check(points=0.5)
def odd_widths(call, rng):
    """An odd width ends with a sine; d = 1 is one column of sines."""
    for d in (5, 1, 2 * int(rng.integers(4, 9)) + 1):
        agree(call(6, d), positional_encoding(6, d))


@exercise.check(points=0.5)
def any_positions(call, rng):
    """Positions may be given: in any order, negative or between two whole numbers."""
    for positions in (rng.integers(0, 5000, 7), rng.normal(size=7) * 100):
        agree(call(7, 6, positions=positions), positional_encoding(7, 6, positions=positions))


@exercise.check(points=0.5)
def no_positions_at_all(call, rng):
    """For n = 0 the table has no row and d columns."""
    agree(call(0, 6), np.zeros((0, 6)))
    require(np.isclose(np.sum(call(1, 6)), 3), "position 0 has zeros and ones")


@exercise.check(points=0.5, after=matches_the_formula)
def no_loop_over_positions(call, rng):
    """All positions at once: the number of array operations does not depend on n."""
    vectorised(
        call,
        # Narrow, so that a row costs next to nothing.
        lambda n: (n, 4, 10000.0, np.arange(n)),
        rows=lambda i, n, d, *_: positional_encoding(n, d)[i],
        floor=lambda n: 4 * n,
    )


@exercise.misconception
def exponent_doubled(n, d, base=10000.0, positions=None):
    """Your exponent is twice too large. A counter over the columns 0, 2, 4 … is 2i already."""
    return positional_encoding(n, d, base**2, positions)


@exercise.misconception
def exponent_halved(n, d, base=10000.0, positions=None):
    """Your exponent is half as large as it should be: for the pair i it is 2i/d."""
    return positional_encoding(n, d, base**0.5, positions)


@exercise.misconception
def multiplied_by_the_power(n, d, base=10000.0, positions=None):
    """You multiply positions by the power of the base. Later pairs turn more slowly, not faster."""
    return positional_encoding(n, d, 1 / base, positions)


@exercise.misconception
def column_as_i(n, d, base=10000.0, positions=None):
    """You used the column number as i. It numbers pairs: both columns of a pair share an angle."""
    p = np.arange(n) if positions is None else np.asarray(positions)
    column = np.arange(d)
    angle = p[:, None] / base ** (2 * column / d)
    return np.where(column % 2 == 0, np.sin(angle), np.cos(angle))


@exercise.misconception
def angle_for_each_column(n, d, base=10000.0, positions=None):
    """Each of your columns has an angle of its own. Columns 2i and 2i + 1 share that of 2i/d."""
    p = np.arange(n) if positions is None else np.asarray(positions)
    column = np.arange(d)
    angle = p[:, None] / base ** (column / d)
    return np.where(column % 2 == 0, np.sin(angle), np.cos(angle))


@exercise.misconception
def sines_first(n, d, base=10000.0, positions=None):
    """All sines come first. Here sine and cosine alternate, a pair at a time."""
    table = positional_encoding(n, d, base, positions)
    return np.hstack([table[:, 0::2], table[:, 1::2]])


@exercise.misconception
def exponent_by_two_less(n, d, base=10000.0, positions=None):
    """You divide by d − 2 in the exponent. Then the last pair reaches the base; here it is 2i/d."""
    return positional_encoding(n, d, base ** (d / max(d - 2, 1)), positions)


@exercise.misconception
def angle_in_degrees(n, d, base=10000.0, positions=None):
    """You turn angles from degrees to radians. One position turns the first pair by one radian."""
    given = np.arange(n) if positions is None else np.asarray(positions)
    return positional_encoding(n, d, base, np.deg2rad(given))


@exercise.misconception
def cosine_first(n, d, base=10000.0, positions=None):
    """Sine and cosine are exchanged: the even columns, 0 among them, hold the sine."""
    p = np.arange(n) if positions is None else np.asarray(positions)
    column = np.arange(d)
    angle = p[:, None] / base ** ((column - column % 2) / d)
    return np.where(column % 2 == 0, np.cos(angle), np.sin(angle))


@exercise.misconception
def base_ignored(n, d, base=10000.0, positions=None):
    """The argument `base` has no effect."""
    return positional_encoding(n, d, positions=positions)


@exercise.misconception
def positions_ignored(n, d, base=10000.0, positions=None):
    """The argument `positions` has no effect: you always take 0 … n − 1."""
    return positional_encoding(n, d, base)


@exercise.misconception
def positions_made_whole(n, d, base=10000.0, positions=None):
    """Positions are cut off to whole numbers. Some texts interpolate: keep the fractions."""
    whole = None if positions is None else np.asarray(positions).astype(int)
    return positional_encoding(n, d, base, whole)


@exercise.misconception
def odd_column_left_empty(n, d, base=10000.0, positions=None):
    """With an odd width your last column stays 0. It is the sine of the last, unfinished pair."""
    table = positional_encoding(n, d, base, positions)
    if d % 2:
        table[:, -1] = 0
    return table


@exercise.misconception
def odd_width_made_even(n, d, base=10000.0, positions=None):
    """For an odd width you computed with another one: the exponent is 2i/d with the d asked for."""
    return positional_encoding(n, d + d % 2, base, positions)[:, :d]


@exercise.misconception
def counted_from_one(n, d, base=10000.0, positions=None):
    """Your first row is position 1. Positions count from 0."""
    given = np.arange(1, n + 1) if positions is None else positions
    return positional_encoding(n, d, base, given)


@exercise.misconception
def at_least_one_row(n, d, base=10000.0, positions=None):
    """For n = 0 there is nothing to encode; you return a row all the same."""
    return positional_encoding(max(n, 1), d, base, positions)


@exercise.misconception
def position_by_position(n, d, base=10000.0, positions=None):
    """You go through the positions one at a time. An outer product has all angles at once."""
    given = np.arange(n) if positions is None else positions
    rows = [positional_encoding(1, d, base, np.array([p])) for p in given]
    return np.concatenate(rows) if rows else np.zeros((0, d))


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "The tables hardly differ: no entry by more than 0.1, and the upper half of the "
            "columns by less than 0.01.",
            "All pairs turn faster, so that neighbouring positions can't be told apart.",
            "Somewhere the tables differ by 1.8, and the upper half of the columns practically "
            "stands still.",
            "Entries larger than 1 come up.",
        ]
    ),
)
def doubled_exponent():
    """What happens if the exponent is doubled by mistake, at d = 512 and ten positions?"""
    return "C"


doubled_exponent.mistakes(
    nothing_much=(
        "A",
        "Compute both tables: the largest difference is 1.8, and no difference can exceed 2.",
    ),
    faster=(
        "B",
        "A larger exponent means a larger divisor. Do the angles then grow faster or more slowly?",
    ),
    out_of_bounds=("D", "Whatever the angle is, sines and cosines stay between −1 and 1."),
)
