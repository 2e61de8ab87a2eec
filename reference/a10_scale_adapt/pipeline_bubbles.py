"""A pipeline of devices: how long they wait, and what they hold meanwhile.

Source: Huang et al. (2019), "GPipe", section 2; Narayanan et al. (2021), "Efficient large-scale
language model training on GPU clusters", section 2.2.
"""

import math

from autograder.exercise import Count, Exercise, Formula, Numbers

exercise = Exercise(
    "pipeline_bubbles",
    title="How long a pipeline waits",
    source="Huang et al. (2019), section 2; Narayanan et al. (2021), section 2.2",
    minutes=30,
    hints=[
        "Draw p rows, a box for each micro-batch in each row, and shift every row by one box. How "
        "long is the last row's end away, and how many boxes has a row?",
        "Going back takes the same picture once more, mirrored: the share doesn't change.",
        "For what is held, ask of the first stage: which micro-batches have gone forward there "
        "and not yet come back?",
    ],
)


@exercise.variant
def draw(rng):
    """p: stages; m: micro-batches; percent: what the bubble may take of the time."""
    p = int(rng.choice([4, 6, 8, 12, 16]))
    return {
        "p": p,
        "m": int(p * rng.choice([2, 3, 4]) + rng.integers(1, 4)),
        "percent": int(rng.choice([4, 6, 7, 8, 9, 11])),
    }


@exercise.part(
    points=0.5,
    answer=Formula(
        "p m", practice=("How many times as long as it works each device waits.", "(p - 1)/m")
    ),
)
def bubble():
    """The share of its time that each device waits, with p stages and m micro-batches."""
    return "(p - 1)/(m + p - 1)"


bubble.mistakes(
    against_the_work=(
        "(p - 1)/m",
        "That is the waiting against the work. Asked for is its share of the whole time.",
        0.5,
    ),
    one_step_too_many=(
        "(p - 1)/(m + p)",
        "Draw two stages and one micro-batch: how many boxes wide is the picture?",
    ),
    share_of_the_work=("m/(m + p - 1)", "That is the share in which a device works."),
    all_stages_waited_for=(
        "p/(m + p - 1)",
        "The first box begins at once in the first row: the others wait for p − 1 boxes at most.",
    ),
)


@exercise.part(points=0.5, answer=Numbers())
def share(bubble, p, m):
    """The share for your p and m."""
    return bubble(p=p, m=m)


@exercise.part(points=1, answer=Count())
def needed(bubble, p, percent):
    """The smallest number of micro-batches with a bubble below your percentage."""
    return next((m for m in range(1, 100 * p) if bubble(p=p, m=m) < percent / 100), 0)


@needed.misconception(credit=0.5)
def needed_rounded_down(p, percent):
    """You rounded down: with so many the bubble is still too large."""
    return math.floor((p - 1) * (100 - percent) / percent)


@needed.misconception(credit=0.5)
def needed_against_the_work(p, percent):
    """You compared the waiting with the work. Asked for is its share of the whole time."""
    return math.floor((p - 1) * 100 / percent) + 1


@needed.misconception()
def needed_for_half_the_bubble(p, percent):
    """You halved the bubble. Forward and back both wait, and both work: the share is the same."""
    return math.floor((p - 1) * (100 - percent) / percent / 2) + 1


@needed.misconception()
def needed_for_twice_the_share(p, percent):
    """You halved the bubble. Forward and back both wait, and both work: the share is the same."""
    return math.floor((p - 1) * (50 - percent) / percent) + 1


@needed.misconception()
def needed_without_the_ramp(p, percent):
    """You took p for p − 1: the first stage waits for nobody."""
    return math.floor(p * (100 - percent) / percent) + 1


@exercise.part(points=1, answer=Count())
def held(p, m):
    """Held at most: first and last stage, if all go forward first; the same, if they alternate."""
    return [m, m, min(p, m), 1]


@held.misconception(credit=0.5)
def last_stage_returns_at_once(p, m):
    """If all go forward first, the last stage has to wait with its first backward step, too."""
    return [m, 1, min(p, m), 1]


@held.misconception(credit=0.5)
def the_same_everywhere(p, m):
    """Alternating, the last stage goes back at once: it holds fewer than the first one."""
    return [m, m, min(p, m), min(p, m)]


@held.misconception(credit=0.5)
def one_fewer_on_the_way(p, m):
    """Count the one at the first stage itself, too: it has gone forward there, and is not back."""
    return [m, m, min(p, m) - 1, 1]


@held.misconception(credit=0.5)
def stages_for_micro_batches(p, m):
    """If all go forward first, as many are held as there are, not as there are stages."""
    return [p, p, min(p, m), 1]


@held.misconception(credit=0.5)
def all_held_when_alternating(p, m):
    """Alternating, the first one comes back before the last one starts. How many are under way?"""
    return [m, m, m, 1]
