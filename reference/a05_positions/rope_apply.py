"""Rotary positions: each pair of columns is turned by an angle that grows with the position.

Source: Su et al. (2021), "RoFormer: Enhanced transformer with rotary position
embedding", section 3.2.
"""

import numpy as np
from jaxtyping import Float, Real
from numpy import ndarray

from autograder.exercise import Exercise, agree, alike, require
from autograder.exercise.properties import leaves_alone, refuses

exercise = Exercise(
    "rope_apply",
    title="Rotate pairs",
    source="Su et al. (2021), section 3.2",
    minutes=50,
    hints=[
        "A pair (a, b) turned by an angle becomes (a cos − b sin, a sin + b cos): write it "
        "for the even and the odd columns at once.",
        "The angle of a pair is the position, divided by a power of the base; compute a table"
        " of angles, positions down and pairs across.",
    ],
)


def turns(positions, d, base=10000.0):
    """Return e^(iθ) for every position and pair, shape (n, d/2)."""
    return np.exp(1j * np.multiply.outer(positions, base ** (-np.arange(0, d, 2) / d)))


@exercise.reference
def rope(
    x: Real[ndarray, "*batch n d"], positions: Real[ndarray, " n"], base: float = 10000.0
) -> Float[ndarray, "*batch n d"]:
    """Turn the pairs (2i, 2i + 1) of row p by the angle position[p] / base^(2i/d)."""
    x = np.asarray(x)
    d = x.shape[-1]
    if d % 2:
        raise ValueError(f"pairs need an even width, not {d}")
    c, s = turns(positions, d, base).real, turns(positions, d, base).imag
    a, b = x[..., 0::2], x[..., 1::2]
    return np.stack([a * c - b * s, a * s + b * c], axis=-1).reshape(x.shape)


@exercise.alternative
def as_complex_numbers(x, positions, base=10000.0):
    """A pair is a complex number; turning is a product."""
    x = np.asarray(x, float)
    if x.shape[-1] % 2:
        raise ValueError("odd width")
    pairs = x[..., 0::2] + 1j * x[..., 1::2]
    pairs = pairs * turns(np.asarray(positions, float), x.shape[-1], base)
    return np.stack([pairs.real, pairs.imag], axis=-1).reshape(x.shape)


@exercise.alternative
def column_by_column(x, positions, base=10000.0):
    """A loop over the pairs, into a new array of floats."""
    x = np.asarray(x)
    d = x.shape[-1]
    if d % 2:
        raise ValueError("an even width is needed")
    y = np.empty(x.shape, float)
    for even in range(0, d, 2):
        angle = np.asarray(positions) / base ** (even / d)
        a, b = x[..., even], x[..., even + 1]
        y[..., even] = np.cos(angle) * a - np.sin(angle) * b
        y[..., even + 1] = np.cos(angle) * b + np.sin(angle) * a
    return y


@exercise.alternative
def with_matrices(x, positions, base=10000.0):
    """Multiply every pair with a 2 × 2 matrix."""
    x = np.asarray(x, dtype=float)
    *shape, d = x.shape
    if d % 2:
        raise ValueError(d)
    angle = np.outer(positions, base ** (-np.arange(d // 2) * 2 / d))
    R = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    pairs = x.reshape(*shape, d // 2, 2)
    return np.einsum("abni,...nib->...nia", R, pairs).reshape(x.shape)


@exercise.check(points=1.5, visible=True)
def turns_each_pair(call, rng):
    """The pairs (2i, 2i + 1) are turned counter-clockwise by position / base^(2i/d)."""
    for n, d in ((3, 4), (1, 2), (5, 8)):
        x, positions = rng.normal(size=(n, d)), np.arange(n) + 1
        agree(call(x, positions), rope(x, positions))


@exercise.check(points=0.5)
def lengths_are_kept(call, rng):
    """Every row keeps its length; at position 0 it stays as it is, and elsewhere it doesn't."""
    x = rng.normal(size=(6, 8))
    y = np.asarray(call(x, np.arange(6)))
    require(y.shape == x.shape, "the result has another shape than x")
    agree(np.linalg.norm(y, axis=-1), np.linalg.norm(x, axis=-1), what="the length of a row")
    agree(y[0], x[0], what="the row at position 0")
    require(not alike(y[1:], x[1:]), "rows at other positions should be turned")


@exercise.check(points=0.5)
def turns_add_up(call, rng):
    """Turning by a and then by b is turning by a + b, also for fractions and negative positions."""
    x, a, b = rng.normal(size=(4, 6)), rng.normal(size=4) * 9, rng.normal(size=4) * 9
    right = rope(x, a + b)
    agree(call(np.asarray(call(x, a)), b), right)


@exercise.check(points=1)
def batches_and_heads(call, rng):
    """Axes in front, as for batches and heads, are kept; the array that was given, too."""
    for front in ((3,), (2, 3)):
        x, positions = rng.normal(size=(*front, 5, 4)), rng.integers(0, 50, 5)
        right = rope(x, positions)
        agree(call(x, positions), right)
        leaves_alone(call, x, positions)


@exercise.check(points=0.5)
def other_bases(call, rng):
    """The argument `base` takes the place of 10000."""
    x, base = rng.normal(size=(4, 6)), float(rng.integers(20, 900))
    agree(call(x, np.arange(4), base), rope(x, np.arange(4), base))


@exercise.check(points=0.5)
def whole_numbers_come_out_as_floats(call, rng):
    """Whole numbers are not cut off: the result is an array of floats."""
    x = rng.integers(-3, 4, (3, 4))
    agree(call(x, np.arange(3)), rope(x, np.arange(3)))


@exercise.check(points=0.5)
def odd_widths_are_refused(call, rng):
    """An odd width raises a ValueError: there is no partner for the last column."""
    x = rng.normal(size=(2, 6))
    require(np.shape(call(x, np.arange(2))) == x.shape, "an even width is refused, too")
    refuses(call, x[:, :5], np.arange(2), why="an odd width")


@exercise.misconception(credit=0.5)
def other_direction(x, positions, base=10000.0):
    """You turn clockwise. The first column becomes a cos θ − b sin θ."""
    return rope(x, -np.asarray(positions), base)


@exercise.misconception(credit=0.5)
def halves_paired(x, positions, base=10000.0):
    """You paired the two halves. Some libraries do; here neighbouring columns are a pair."""
    x = np.asarray(x)
    if x.shape[-1] % 2:
        raise ValueError
    order = np.arange(x.shape[-1]).reshape(2, -1).T.ravel()
    y = np.empty(x.shape, float)
    y[..., order] = rope(x[..., order], positions, base)
    return y


@exercise.misconception(credit=0.5)
def put_side_by_side(x, positions, base=10000.0):
    """All first halves of the pairs come first in your result. Each pair stays in its columns."""
    y = rope(x, positions, base)
    return np.concatenate([y[..., 0::2], y[..., 1::2]], axis=-1)


@exercise.misconception(credit=0.5)
def exponent_doubled(x, positions, base=10000.0):
    """Your exponent is twice too large. A counter over the columns 0, 2, 4 … is 2i already."""
    return rope(x, positions, base**2)


@exercise.misconception(credit=0.5)
def exponent_halved(x, positions, base=10000.0):
    """Your exponent is half as large as it should be: for the pair i it is 2i/d."""
    return rope(x, positions, base**0.5)


@exercise.misconception(credit=0.5)
def overwritten_columns(x, positions, base=10000.0):
    """When you compute the odd columns, the even ones hold new numbers already. Keep the old."""
    y = rope(x, positions, base)
    s = turns(positions, np.shape(x)[-1], base).imag
    y[..., 1::2] += s * (y[..., 0::2] - np.asarray(x)[..., 0::2])
    return y


@exercise.misconception(credit=0.5)
def both_signs_alike(x, positions, base=10000.0):
    """Both of your columns are sums. Does every row keep its length so? A sign is wrong."""
    y = rope(x, positions, base)
    s = turns(positions, np.shape(x)[-1], base).imag
    y[..., 0::2] += 2 * s * np.asarray(x)[..., 1::2]
    return y


@exercise.misconception(credit=0.5)
def sine_and_cosine_exchanged(x, positions, base=10000.0):
    """Sine and cosine are exchanged. What should come out at position 0?"""
    y = rope(x, positions, base)
    turned = turns(positions, np.shape(x)[-1], base)
    a, b = np.asarray(x)[..., 0::2], np.asarray(x)[..., 1::2]
    y[..., 0::2] = a * turned.imag - b * turned.real
    y[..., 1::2] = a * turned.real + b * turned.imag
    return y


@exercise.misconception
def stored_as_whole_numbers(x, positions, base=10000.0):
    """Your result has the type of the input, and whole numbers can't hold a rotated vector."""
    y = rope(x, positions, base)
    return y.astype(np.asarray(x).dtype)


@exercise.misconception
def base_ignored(x, positions, base=10000.0):
    """The argument `base` has no effect."""
    return rope(x, positions)


@exercise.misconception(credit=0.4)
def same_angle_for_all_pairs(x, positions, base=10000.0):
    """All pairs turn at the same speed. The pair i turns by position / base^(2i/d)."""
    return rope(x, positions, 1.0)


@exercise.misconception
def encoding_added(x, positions, base=10000.0):
    """You added the encoding. Rotary positions multiply: they turn what is there."""
    if np.shape(x)[-1] % 2:
        raise ValueError
    turned = turns(positions, np.shape(x)[-1], base)
    return x + np.stack([turned.imag, turned.real], axis=-1).reshape(len(positions), -1)


@exercise.misconception
def positions_by_the_row(x, positions, base=10000.0):
    """The argument `positions` has no effect: you took 0 … n − 1."""
    return rope(x, np.arange(np.shape(x)[-2]), base)


@exercise.misconception
def first_example_for_all(x, positions, base=10000.0):
    """Axes in front are lost: every example has its own rows."""
    y = rope(x, positions, base)
    return y if y.ndim == 2 else y[0]


@exercise.misconception
def last_column_left(x, positions, base=10000.0):
    """An odd width must raise a ValueError; you leave the last column as it is."""
    x = np.asarray(x)
    if x.shape[-1] % 2 == 0:
        return rope(x, positions, base)
    return np.concatenate([rope(x[..., :-1], positions, base), x[..., -1:]], axis=-1)


@exercise.misconception
def changed_in_place(x, positions, base=10000.0):
    """You write the result into the array that you were given. Make a new one."""
    y = rope(x, positions, base)
    if x.dtype.kind != "f":
        return y
    x[...] = y
    return x
