"""Two heat maps drawn by oneself, and what a grey says in them.

Source: Bahdanau, Cho & Bengio (2015), "Neural machine translation by jointly learning to align and
translate", figure 3.
"""

import numpy as np

from autograder.exercise import Exercise, Figure, Numbers
from reference.helpers import softmax

exercise = Exercise(
    "heat_map",
    title="Two heat maps of your own",
    source="Bahdanau et al. (2015), figure 3",
    minutes=25,
    hints=[
        "Both tables come from the same scores. Which of them has the larger differences within "
        "a row?",
        "A drawing library maps its range of numbers to the range of greys by a straight line: "
        "how far is a number on the way from the smallest to the largest?",
    ],
)


@exercise.variant
def draw(rng):
    """X: (5, 4), the vectors of your, dog, chased, my, cat; not every word prefers itself."""
    while True:
        X = rng.integers(-1, 3, (5, 4))
        S = X @ X.T
        if X.any(axis=1).all() and S.max() <= 6 and (S.max(axis=1) > np.diag(S)).any():
            return {"X": X}


NAMES = ("scaled", "unscaled")


def both(X, divisors=(2, 1), axis=-1):
    """The weights of both maps."""
    return [softmax(X @ X.T / divisor, axis) for divisor in divisors]


def named(arrays):
    """By the names of the maps."""
    return dict(zip(NAMES, arrays, strict=True))


@exercise.part(points=1, answer=Figure())
def maps(X):
    """The weights of both maps, a row for each query: {"scaled": (5, 5), "unscaled": (5, 5)}."""
    return named(both(X))


@maps.alternative
def row_after_row(X):
    """A table of lists, a query at a time."""
    return named([[softmax(X @ q / divisor).tolist() for q in X] for divisor in (2, 1)])


@maps.misconception(credit=0.25)
def maps_turned_round(X):
    """In your maps columns add up to 1. A row belongs to a query, and hands out a weight of 1."""
    return named(both(X, axis=0))


@maps.misconception(credit=0.5)
def maps_exchanged(X):
    """You exchanged the two maps: dividing the scores makes the weights more even."""
    return named(both(X)[::-1])


@maps.misconception(credit=0.5)
def maps_scaled_by_the_words(X):
    """You scaled by the root of the number of words. The width of their vectors counts."""
    return named(both(X, (np.sqrt(5), 1)))


@maps.misconception(credit=0.5)
def maps_divided_by_the_width(X):
    """In the scaled map you divided by d_k. Divide by its root."""
    return named(both(X, (4, 1)))


@maps.misconception()
def scores_drawn(X):
    """These are the scores. A map shows weights: take the softmax of each row."""
    return named([X @ X.T / 2, X @ X.T])


@maps.misconception()
def normalised_over_all(X):
    """The whole table adds up to 1 in yours. Each row does by itself."""
    whole = [np.exp(X @ X.T / divisor) for divisor in (2, 1)]
    return named([table / table.sum() for table in whole])


@exercise.part(points=0.5, answer=Figure())
def sharpest(maps):
    """The largest weight of each word's row in both maps: {"scaled": 5, "unscaled": 5 numbers}."""
    return {name: np.max(A, axis=1) for name, A in maps.items()}


@sharpest.alternative
def sorted_rows(maps):
    """The last one of each sorted row."""
    return {name: np.sort(A)[:, -1].tolist() for name, A in maps.items()}


@sharpest.misconception()
def sharpest_turned_round(X):
    """In your maps columns add up to 1. A row belongs to a query, and hands out a weight of 1."""
    return named([A.max(axis=1) for A in both(X, axis=0)])


@sharpest.misconception()
def places_of_the_largest(maps):
    """These are the places of the largest weights. Asked for are the weights themselves."""
    return {name: np.argmax(A, axis=1) for name, A in maps.items()}


def ends(A):
    """The smallest and the largest weight of a map."""
    return np.min(A), np.max(A)


def as_grey(weight, of, to):
    """The number in the range `to` that has the grey of a weight in the range `of`."""
    return to[0] + (weight - of[0]) / (of[1] - of[0]) * (to[1] - to[0])


@exercise.part(points=0.5, answer=Numbers())
def same_grey(maps):
    """The weight of the scaled map that has the grey which ½ gets in the unscaled one."""
    return as_grey(0.5, ends(maps["unscaled"]), ends(maps["scaled"]))


@same_grey.misconception()
def other_direction(maps):
    """You went from the scaled map to the unscaled one."""
    return as_grey(0.5, ends(maps["scaled"]), ends(maps["unscaled"]))


@same_grey.misconception()
def ranges_from_zero(X):
    """You let both ranges begin at 0. Left alone, the library begins at the smallest weight."""
    scaled, unscaled = both(X)
    return as_grey(0.5, (0, unscaled.max()), (0, scaled.max()))


@same_grey.misconception()
def same_range_for_both():
    """That holds where both maps have the same range, and it is why one gives them the same."""
    return 0.5


@same_grey.misconception()
def middle_of_the_range(X):
    """That is the middle of the scaled map's range. Where in the other range does ½ lie?"""
    return np.mean(ends(both(X)[0]))
