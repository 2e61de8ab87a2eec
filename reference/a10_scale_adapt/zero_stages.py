"""Bytes for each device where optimiser state, gradients and weights are dealt out to all.

Source: Rajbhandari et al. (2020), "ZeRO: Memory optimizations toward training trillion parameter
models", section 5.
"""

from bisect import bisect_left
from dataclasses import replace

import numpy as np

from autograder.exercise import Count, Exercise, Formula, Numbers

exercise = Exercise(
    "zero_stages",
    title="Who keeps the state?",
    source="Rajbhandari et al. (2020), section 5",
    minutes=30,
    hints=[
        "Take your five numbers of `mixed`: which of them are still on every device in this "
        "stage, and which are divided by N?",
        "With ever more devices one term goes to 0. Is there room for what is left?",
    ],
)

ROOM, MANY = 80 * 10**9, 10**9
#: Exact sizes, which follow from the published widths and layers.
SMALL = {
    "Pythia-12B": 11_846_072_320,
    "OPT-13B": 12_853_473_280,
    "Llama-2-13B": 13_015_864_320,
    "Qwen2.5-14B": 14_770_033_664,
}
LARGE = {
    "GPT-NeoX-20B": 20_554_567_680,
    "LLaMA-33B": 32_528_943_616,
    "LLaMA-65B": 65_285_660_672,
    "Llama-2-70B": 68_976_648_192,
    "BLOOM": 176_247_271_424,
}


@exercise.variant
def draw(rng):
    """models: two published models; P: how many parameters they have."""
    models = [str(rng.choice(list(sizes))) for sizes in (SMALL, LARGE)]
    return {"models": models, "P": np.array([(SMALL | LARGE)[name] for name in models])}


bytes_in = Formula("P N", {"*": "positive"})


@exercise.part(
    points=0.5,
    answer=replace(
        bytes_in, practice=("Half of the optimiser's state is dealt out.", "10*P + 6*P/N")
    ),
)
def stage1():
    """The optimiser's state is dealt out."""
    return "4*P + 12*P/N"


stage1.mistakes(
    master_copy_kept=(
        "8*P + 8*P/N",
        "The master copy belongs to the optimiser's state: only its owner takes the step with it.",
    ),
    master_copy_forgotten=(
        "4*P + 8*P/N",
        "The optimiser's state is 12 bytes a parameter: the master copy is part of it, too.",
    ),
    gradients_left_out=(
        "2*P + 12*P/N",
        "Each device still has weights *and* gradients of its own.",
    ),
    all_of_it_divided=("16*P/N", "In this stage only the optimiser's state is dealt out."),
    moments_in_half_precision=(
        "4*P + 6*P/N",
        "How many bytes have the master copy and the two moments? Look at your `mixed`.",
    ),
    nothing_divided=(
        "16*P",
        "That is each device with everything. What is dealt out is there once, for all N.",
    ),
)


@exercise.part(
    points=0.5,
    answer=replace(
        bytes_in, practice=("Gradients are dealt out, the optimiser's state isn't.", "14*P + 2*P/N")
    ),
)
def stage2():
    """Gradients are dealt out as well."""
    return "2*P + 14*P/N"


stage2.mistakes(
    gradients_kept=(
        "4*P + 12*P/N",
        "That is stage 1. A device needs only those gradients of which it takes the step.",
    ),
    gradients_forgotten=(
        "2*P + 12*P/N",
        "A device has its share of the gradients, and that takes room as well.",
        0.5,
    ),
    weights_divided_too=("16*P/N", "In this stage each device has all of the weights."),
    gradients_in_single=(
        "2*P + 16*P/N",
        "Gradients are in half precision here: two bytes each.",
        0.5,
    ),
)


@exercise.part(
    points=0.5,
    answer=replace(
        bytes_in,
        practice=(
            "Weights and gradients are dealt out, the optimiser's state isn't.",
            "12*P + 4*P/N",
        ),
    ),
)
def stage3():
    """Weights are dealt out, too."""
    return "16*P/N"


stage3.mistakes(
    weights_still_whole=(
        "2*P + 14*P/N",
        "That is stage 2. In this one no device keeps all of the weights.",
    ),
    weights_forgotten=("14*P/N", "A device keeps its share of the weights.", 0.5),
    weights_alone_divided=("14*P + 2*P/N", "Each stage keeps what the stages before it deal out."),
)


def smallest(stage, P, room=ROOM):
    """The fewest devices with room for a stage, 0 where very many are not enough."""
    found = bisect_left(range(MANY), True, lo=1, key=lambda N: stage(P=P, N=N) <= room)
    return found if found < MANY else 0


@exercise.part(points=1, answer=Count())
def devices(stage1, stage2, stage3, P):
    """The smallest N for stages 1, 2 and 3, a row for each model, with 80 GB on each device."""
    return [[smallest(stage, int(size)) for stage in (stage1, stage2, stage3)] for size in P]


@devices.misconception()
def rounded_down(stage1, stage2, stage3, P):
    """With one device fewer than you need it doesn't fit: round up."""
    rows = np.array(devices(stage1, stage2, stage3, P))
    return np.maximum(rows - 1, 0)


@devices.misconception()
def binary_units(stage1, stage2, stage3, P):
    """A GB has 10⁹ bytes, and a device 80 of them."""
    stages = (stage1, stage2, stage3)
    return [[smallest(stage, int(size), 80 * 2**30) for stage in stages] for size in P]


@devices.misconception()
def everything_fits_somehow(P):
    """You divided all sixteen bytes in each stage. What isn't dealt out has to fit as well."""
    return [[-(-16 * int(size) // ROOM)] * 3 for size in P]


@exercise.part(points=0.5, answer=Numbers())
def largest(stage1, stage2):
    """The bounds that P stays below in stages 1 and 2, however many devices there are."""
    return [ROOM / stage(P=1, N=MANY) for stage in (stage1, stage2)]


largest.mistakes(
    on_one_device=(
        [ROOM // 16, ROOM // 16],
        "That is for a single device. What is left for each device if N grows without end?",
    ),
    gigabytes_for_parameters=(
        [ROOM, ROOM],
        "You gave bytes. How many parameters do these bytes hold?",
    ),
    same_for_both=(
        [ROOM // 4, ROOM // 4],
        "What stays on every device isn't the same in both stages.",
        0.5,
    ),
)
