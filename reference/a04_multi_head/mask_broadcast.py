"""A mask that meets the wrong axis.

Source: NumPy's rules of broadcasting.
"""

import numpy as np
from jaxtyping import Bool
from numpy import ndarray

from autograder.exercise import Choice, Exercise, Numbers, agree, require

exercise = Exercise(
    "mask_broadcast",
    title="A mask that lands on the wrong axis",
    source="NumPy documentation, broadcasting",
    minutes=35,
    hints=[
        "NumPy lines shapes up from the right: write (B, n, n) below (B, h, n, n) and see "
        "which axes meet.",
        "It can only go unnoticed where sizes let it pass: which two numbers have to be equal?",
        "Put in the missing axes right after the first one, as many as the scores have more "
        "than the mask.",
    ],
)


@exercise.part(points=1.25, answer=Numbers())
def wrong():
    """weights[:, :, 0, 0] if the mask (B, n, n) meets the scores (B, h, n, n) as it is."""
    return np.array([[1, 1 / 3], [1, 1 / 3]])


wrong.mistakes(
    taken_for_right=(
        np.array([[1, 1], [1 / 3, 1 / 3]]),
        "Rows are examples, columns are heads: which of them meets the mask's first axis here?",
    ),
    never_masked=(np.full((2, 2), 1 / 3), "One of the two axes has an entry that is masked."),
    open_taken_for_blocked=(
        np.array([[1.0, 0], [1, 0]]),
        "What sees everything sees key 0, too: how much of its weight goes there, of three keys?",
    ),
)


@exercise.part(points=1.25, answer=Numbers())
def right():
    """weights[:, :, 0, 0] as they should be."""
    return np.array([[1, 1], [1 / 3, 1 / 3]])


right.mistakes(
    heads_for_examples=(
        np.array([[1, 1 / 3], [1, 1 / 3]]),
        "Rows are examples, columns are heads: which of them meets the mask's first axis here?",
    ),
    all_restricted=(np.ones((2, 2)), "Only example 0 is restricted."),
    nothing_for_the_second=(
        np.array([[1.0, 1], [0, 0]]),
        "What sees everything sees key 0, too: how much of its weight goes there, of three keys?",
    ),
)


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "Never: it always raises an exception.",
            "If there is one head.",
            "If there are as many heads as examples.",
            "Always: it never raises an exception.",
        ]
    ),
)
def when():
    """When does it go unnoticed, with more than one example?"""
    return "C"


when.mistakes(
    always_raises=(
        "A",
        "Broadcasting raises if two sizes differ and none is 1. Which sizes meet here?",
    ),
    one_head_only=(
        "B",
        "With one head and several examples the sizes 1 and B meet: look at the result's shape.",
    ),
    never_raises=("D", "With 3 examples and 2 heads NumPy does complain."),
)


@exercise.reference
def align_mask(mask: Bool[ndarray, "..."], ndim: int) -> Bool[ndarray, "..."]:
    """Return the mask with as many axes as the scores have, of which the last two are its own."""
    missing = ndim - mask.ndim
    front = mask.shape[:-2]
    return mask.reshape(*front, *[1] * missing, *mask.shape[-2:])


@exercise.alternative
def one_axis_at_a_time(mask, ndim):
    """Put an axis in front of the last two until there are enough."""
    while mask.ndim < ndim:
        mask = np.expand_dims(mask, -3) if mask.ndim > 2 else mask[None]
    return mask


@exercise.alternative
def by_cases(mask, ndim):
    """Say it for each number of axes."""
    if mask.ndim == ndim:
        return mask
    if mask.ndim == 2:
        return mask[(None,) * (ndim - 2)]
    return mask[(slice(None), *(None,) * (ndim - mask.ndim))]


@exercise.alternative
def with_expand_dims(mask, ndim):
    """All new axes at once."""
    first = max(mask.ndim - 2, 0)
    return np.expand_dims(mask, tuple(range(first, first + ndim - mask.ndim)))


@exercise.check(points=1, visible=True)
def one_mask_per_example(call, rng):
    """A mask (B, n, m) for scores (B, h, n, m) gets its new axis where the heads are."""
    mask = rng.random((2, 3, 4)) < 0.5
    agree(call(mask, 4), mask[:, None])


@exercise.check(points=0.5)
def masks_for_all(call, rng):
    """A mask (n, m) gets all new axes in front, for scores with five, four or three axes."""
    mask = rng.random((3, 4)) < 0.5
    for ndim in (5, 4, 3):
        agree(call(mask, ndim), mask.reshape(*[1] * (ndim - 2), 3, 4))


@exercise.check(points=0.5)
def complete_masks(call, rng):
    """A mask that has all axes stays as it is."""
    require(np.ndim(call(np.ones((2, 3), bool), 4)) == 4, "a mask of two axes stays as it is, too")
    for shape in ((2, 5, 3, 4), (2, 1, 3, 4), (3, 3)):
        mask = rng.random(shape) < 0.5
        agree(call(mask, len(shape)), mask)


@exercise.misconception
def axes_in_front(mask, ndim):
    """You put the new axes in front, where NumPy puts them anyway: examples meet heads."""
    return mask.reshape(*[1] * (ndim - mask.ndim), *mask.shape)


@exercise.misconception
def always_second(mask, ndim):
    """Your new axes always come second. A mask (n, m) holds for everybody: its axes come last."""
    while mask.ndim < ndim:
        mask = np.expand_dims(mask, 1)
    return mask


@exercise.misconception
def always_one_axis(mask, ndim):
    """You add an axis whether or not one is missing."""
    return np.expand_dims(mask, -3) if mask.ndim > 2 else mask[(None,) * (ndim - 1)]


@exercise.misconception(credit=0.4)
def axes_at_the_end(mask, ndim):
    """You put the new axes at the end. The last two axes are queries and keys."""
    return mask.reshape(*mask.shape, *[1] * (ndim - mask.ndim))


@exercise.misconception
def never_more_than_four(mask, ndim):
    """Yours always gives four axes. The scores may have three or five."""
    return align_mask(mask, max(mask.ndim, 4))
