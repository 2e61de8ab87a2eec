"""Sinusoidal encodings of three positions, by hand.

Source: Vaswani et al. (2017), "Attention is all you need", section 3.5.
"""

import numpy as np

from autograder.exercise import Exercise, Misconception, Numbers

exercise = Exercise(
    "pe_hand",
    title="The first three rows",
    source="Vaswani et al. (2017), section 3.5",
    minutes=30,
    hints=[
        "Columns come in pairs: a sine and the cosine of the same angle. The second pair "
        "turns more slowly than the first.",
        "At position 0 every angle is the same. What are sine and cosine of it?",
    ],
)


@exercise.variant
def draw(rng):
    """d is 4 or 6; a base of 100 or 1000 makes every column move; 0 and two positions up to 5."""
    positions = np.append(0, np.sort(rng.choice(np.arange(1, 6), 2, replace=False)))
    return {
        "d": int(rng.choice([4, 6])),
        "base": int(rng.choice([100, 1000])),
        "positions": positions,
    }


def encoding(position, d, base):
    """Return sin and cos of position / base^(2i/d), side by side for each pair i."""
    i = np.arange(d // 2)
    angle = position / base ** (2 * i / d)
    return np.column_stack([np.sin(angle), np.cos(angle)]).ravel()


@exercise.part(points=1, answer=Numbers())
def p0(d, base, positions):
    """The encoding of the first of your positions, shape (d,)."""
    return encoding(positions[0], d, base)


@exercise.part(points=2, answer=Numbers())
def p1(d, base, positions):
    """The encoding of the second of your positions, shape (d,)."""
    return encoding(positions[1], d, base)


@exercise.part(points=2, answer=Numbers())
def p2(d, base, positions):
    """The encoding of the third of your positions, shape (d,)."""
    return encoding(positions[2], d, base)


def in_every_row(wrong):
    """Register ``wrong(position, d, base)`` with each of the three answers."""
    p0.misconceptions.append(Misconception(of_row(wrong, 0)))
    return in_later_rows(wrong)


def in_later_rows(wrong):
    """Register it with the last two: all angles of position 0 are 0, however they are computed."""
    for row, part in ((1, p1), (2, p2)):
        part.misconceptions.append(Misconception(of_row(wrong, row)))
    return wrong


def of_row(wrong, row):
    """Take the position from the student's numbers; keep the name and the sentence."""

    def compute(d, base, positions):
        return wrong(positions[row], d, base)

    compute.__name__, compute.__doc__ = wrong.__name__, wrong.__doc__
    return compute


@in_later_rows
def exponent_doubled(position, d, base):
    """Your later pairs turn too slowly: with your base the pair i has the exponent 2i/d."""
    return encoding(position, d, base**2)


@in_later_rows
def exponent_halved(position, d, base):
    """Your exponent is half as large as it should be: for the pair i it is 2i/d."""
    return encoding(position, d, base**0.5)


@in_later_rows
def pairs_from_one(position, d, base):
    """You numbered the pairs from 1. The first one is i = 0, and turns by a radian a position."""
    return encoding(position / base ** (2 / d), d, base)


@in_later_rows
def multiplied(position, d, base):
    """You multiplied the position by base^(2i/d). Divide: later pairs turn more slowly."""
    return encoding(position, d, 1 / base)


@in_later_rows
def column_as_i(position, d, base):
    """You used the column number as i. It numbers pairs: both columns of a pair share an angle."""
    column = np.arange(d)
    angle = position / base ** (2 * column / d)
    return np.where(column % 2 == 0, np.sin(angle), np.cos(angle))


@in_later_rows
def an_angle_for_each_column(position, d, base):
    """Your cosines turn more slowly than their sines: both of a pair have the exponent 2i/d."""
    column = np.arange(d)
    angle = position / base ** (column / d)
    return np.where(column % 2 == 0, np.sin(angle), np.cos(angle))


@in_later_rows
def degrees(position, d, base):
    """Your calculator is set to degrees. The angles are radians."""
    return encoding(position * np.pi / 180, d, base)


@in_every_row
def sines_first(position, d, base):
    """All sines come first. Here sine and cosine alternate, a pair at a time."""
    return encoding(position, d, base).reshape(-1, 2).T.ravel()


@in_every_row
def sine_and_cosine_exchanged(position, d, base):
    """Sine and cosine are exchanged: the even columns, 0 among them, hold the sine."""
    return encoding(position, d, base).reshape(-1, 2)[:, ::-1].ravel()


@in_every_row
def counted_from_one(position, d, base):
    """This is the encoding of the next position. Use the position as it is given."""
    return encoding(position + 1, d, base)
