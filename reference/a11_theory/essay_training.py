"""Essay: an efficient plan for training.

Source: Rajbhandari et al. (2020), "ZeRO"; Micikevicius et al. (2018), "Mixed precision training";
Chen et al. (2016), "Training deep nets with sublinear memory cost"; Dao et al. (2022),
"FlashAttention".
"""

from autograder.exercise import Count, Essay, Exercise

exercise = Exercise(
    "essay_training",
    title="An efficient training plan",
    source="Rajbhandari et al. (2020); Micikevicius et al. (2018); Chen et al. (2016)",
    minutes=60,
    hints=[
        "Make a table of the bytes of one parameter, a row for each kind. From one case to the "
        "next one more row is divided.",
        "In the ring follow a single device: in how many steps does it send, and how large is "
        "what it sends?",
        "Begin the essay with what you want to reach and what limits you. Then ask of each "
        "measure what it saves, what it costs, and whether it changes what is computed.",
    ],
)


@exercise.variant
def draw(rng):
    """P: the parameters, N: the devices."""
    L, d = int(rng.choice([6, 12, 24])), int(rng.choice([512, 768, 1024]))
    return {"P": 12 * L * d * d, "N": int(rng.choice([8, 16, 32]))}


@exercise.part(points=1.5, answer=Count(unit="B"))
def per_device(P, N):
    """Bytes per device: all replicated; optimiser state shared out; gradients too; weights too."""
    return [16 * P, 4 * P + 12 * P // N, 2 * P + 14 * P // N, 16 * P // N]


@per_device.misconception()
def copy_left_with_the_weights(P, N):
    """The copy of the weights in single precision belongs to the optimiser's state."""
    return [16 * P, 8 * P + 8 * P // N, 6 * P + 10 * P // N, 16 * P // N]


@per_device.misconception()
def no_copy(P, N):
    """The state is two moments and a copy of the weights, each in single precision."""
    return [12 * P, 4 * P + 8 * P // N, 2 * P + 10 * P // N, 12 * P // N]


@per_device.misconception()
def all_single_precision(P, N):
    """Weights and gradients have two bytes each."""
    return [20 * P, 8 * P + 12 * P // N, 4 * P + 16 * P // N, 20 * P // N]


@per_device.misconception()
def one_kind_at_a_time(P, N):
    """What was shared out stays so: the three steps add up."""
    return [16 * P, 4 * P + 12 * P // N, 14 * P + 2 * P // N, 14 * P + 2 * P // N]


@per_device.misconception()
def all_at_once(P, N):
    """You shared everything out in the first step. Gradients and weights follow one by one."""
    return [16 * P, 16 * P // N, 16 * P // N, 16 * P // N]


@exercise.part(points=0.5, answer=Count(unit="B"))
def sent(P, N):
    """Bytes that one device sends in a ring all-reduce of the gradients in half precision."""
    return 4 * P * (N - 1) // N


@sent.misconception()
def one_round(P, N):
    """The ring is gone round twice: pieces are added up, then the sums are handed out."""
    return 2 * P * (N - 1) // N


@sent.misconception()
def to_everybody(P, N):
    """In a ring a device sends pieces to its neighbour alone, not all of it to everybody."""
    return 2 * P * (N - 1)


@sent.misconception()
def never_cut(P, N):
    """You sent the whole gradient in every step. It is cut into N pieces."""
    return 4 * P * (N - 1)


@sent.misconception()
def single_precision(P, N):
    """These gradients have two bytes."""
    return 8 * P * (N - 1) // N


@sent.misconception()
def own_piece_sent(P, N):
    """There are N pieces, and one fewer steps in a round."""
    return 4 * P


@exercise.part(points=8, answer=Essay())
def essay(P, N):
    """Plan the training of this model on these devices: what limits it, and what do you do?

    (1) 2 points. A budget of memory: states with the essay's own numbers, and activations beside
    them, which grow with batch and length; checkpointing trades them for a second forward pass.

    (2) 2 points. Arithmetic: precision with its risk (range, loss scaling), sparse or tiled
    attention, with what each of them changes.

    (3) 2 points. Communication: the volume of the ring, hidden behind the backward pass; what
    sharing out adds; bubbles, if a pipeline is planned.

    (4) 2 points. An objective and constraints are stated, and the plan is judged by them.
    """
    return (
        f"My objective is the shortest time to a given loss, with {N} devices and their memory as "
        "constraints, and no change of the function that is learned. The states take 16 bytes for "
        f"a parameter, {16 * P / 1e9:.2f} GB on every device; with the optimiser's state shared "
        f"out it is {(4 * P + 12 * P // N) / 1e9:.2f} GB. That fits, so I stop there: sharing out "
        "weights as well saves memory that I don't need and adds messages. Activations come on "
        "top and grow with batch, length, width and depth. I choose the batch first; if it does "
        "not fit, I keep only every block's input and compute the rest again, one more forward "
        "pass, about a third more work. Products run in half precision: bfloat16 has the range of "
        "single precision; float16 needs a scaled loss, so that small gradients don't become 0. "
        "Sums, the softmax and the weights' copy stay in single precision. Attention is computed "
        "in tiles: the same result, without storing n² weights. A sparse pattern would change the "
        f"function, so it is out. A ring all-reduce sends {4 * P * (N - 1) // N / 1e9:.2f} GB from "
        "each device, for any N less than 4 bytes a parameter. It starts while the backward pass "
        "still runs and hides behind it where the batch is large enough. I plan no pipeline: with "
        "p stages and k microbatches (p − 1)/(k + p − 1) of the time would be bubbles. I would "
        "measure one step of each variant: if communication isn't hidden I raise the batch, as "
        "long as the loss per token doesn't suffer; if memory is left over I drop the "
        "recomputation."
    )


@essay.sample(points=6)
def no_objective():
    """(1) 2, (2) 2, (3) 2, (4) 0.

    (4): measures are listed; what for, and under which limits, isn't said.
    """
    return (
        "Replicated, the states take 706 MB per device, with sharded optimiser 243 MB, fully "
        "sharded 88 MB. Activations depend on the batch and the length; checkpointing keeps only "
        "the inputs of blocks and costs about 33 % more computation. I use mixed precision with "
        "loss scaling, since small gradients vanish in float16, and FlashAttention, which gives "
        "the same result without storing the matrix. Each step sends 154 MB per device in the "
        "ring all-reduce, which overlaps with the backward pass; sharding the weights, too, would "
        "add all-gathers. A pipeline has bubbles, so it needs many microbatches."
    )


@essay.sample(points=2)
def everything_at_once():
    """(1) 1, (2) 1, (3) 0, (4) 0.

    (1): states, no activations. (2): half precision without its risk.
    """
    return (
        "To train efficiently I use all methods: half precision halves the memory and doubles the "
        "speed, sharding divides the 706 MB by 8, sparse attention makes it linear, and with 8 "
        "devices the training is 8 times as fast. Gradient checkpointing also saves memory. With "
        "these methods even a large model can be trained on small devices."
    )
