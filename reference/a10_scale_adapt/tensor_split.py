"""Multi-head attention over several devices: each has some heads, and one sum joins them.

Source: Shoeybi et al. (2019), "Megatron-LM: Training multi-billion parameter language models using
model parallelism", section 3.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from autograder.exercise import Choice, Count, Exercise, Formula, Numbers, agree, require
from reference.helpers import attention, merge_heads, split_heads

exercise = Exercise(
    "tensor_split",
    title="One layer, several devices",
    source="Shoeybi et al. (2019), section 3",
    minutes=55,
    hints=[
        "Which columns of W_Q does a head use, and which rows of W_O meet its output? A device "
        "needs those of its own heads alone.",
        "The scale is that of a head: how wide is one, however many devices there are?",
        "For `sent` go through the example once more with p devices: how large is a piece, in how "
        "many rounds does it go out, and how many sums has a layer?",
    ],
)

SIZES = [(4096, 32), (5120, 40), (8192, 64), (12288, 96)]  # Llama 7B, 13B and 65B, GPT-3


@exercise.variant
def draw(rng):
    """x: (2,), A: (2, 2); d, h: width and heads of a published model; p devices, n tokens."""
    while True:
        x, A = rng.choice([-2, -1, 1, 2, 3], 2), rng.integers(-3, 4, (2, 2))
        parts = x[:, None] * A
        total = parts.sum(axis=0)
        # The ReLU shows at both ends: in a sum that is negative, and where two signs meet.
        if total.min() < 0 < total.max() and np.all(parts) and np.any(parts[0] * parts[1] < 0):
            break
    d, h = SIZES[rng.integers(len(SIZES))]
    sizes = {"p": rng.choice([2, 4, 8]), "n": rng.choice([1024, 2048, 4096])}
    return {"x": x, "A": A, "d": d, "h": h} | {name: int(size) for name, size in sizes.items()}


def whole(X, W_Q, W_K, W_V, W_O, heads):
    """The layer on one device."""
    return merge_heads(attention(*(split_heads(X @ W, heads) for W in (W_Q, W_K, W_V)))[0]) @ W_O


def columns(W_O, heads, devices, device):
    """The columns that belong to the heads of a device."""
    wide = len(W_O) // devices
    return np.arange(device * wide, (device + 1) * wide)


@exercise.reference
def device_output(
    X: Float[ndarray, "n d"],
    W_Q: Float[ndarray, "d d"],
    W_K: Float[ndarray, "d d"],
    W_V: Float[ndarray, "d d"],
    W_O: Float[ndarray, "d d"],
    heads: int,
    devices: int,
    device: int,
) -> Float[ndarray, "n d"]:
    """What the heads of one device contribute to the output of the layer."""
    own = columns(W_O, heads, devices, device)
    return whole(X, W_Q[:, own], W_K[:, own], W_V[:, own], W_O[own], heads // devices)


@exercise.alternative
def head_by_head(X, W_Q, W_K, W_V, W_O, heads, devices, device):
    """Add up the contributions of the device's heads."""
    wide, each = len(W_O) // heads, heads // devices
    found = 0
    for t in range(device * each, (device + 1) * each):
        s = slice(t * wide, (t + 1) * wide)
        out, _ = attention(X @ W_Q[:, s], X @ W_K[:, s], X @ W_V[:, s])
        found = found + out @ W_O[s]
    return found


@exercise.alternative
def from_all_projections(X, W_Q, W_K, W_V, W_O, heads, devices, device):
    """Project with whole matrices, split, and take the device's heads."""
    each = heads // devices
    mine = slice(device * each, (device + 1) * each)
    q, k, v = (split_heads(X @ W, heads)[mine] for W in (W_Q, W_K, W_V))
    rows = W_O.reshape(heads, -1, W_O.shape[1])[mine]
    return np.einsum("hnk,hkd->nd", attention(q, k, v)[0], rows)


@exercise.alternative
def others_set_to_zero(X, W_Q, W_K, W_V, W_O, heads, devices, device):
    """Let all heads attend, and set the outputs of the other devices' heads to 0."""
    own = np.isin(np.arange(len(W_O)), columns(W_O, heads, devices, device))
    return whole(X, W_Q, W_K, W_V * own, W_O * own[:, None], heads)


@exercise.alternative
def matrices_split_first(X, W_Q, W_K, W_V, W_O, heads, devices, device):
    """Cut all four matrices into the devices' shares, then take one."""
    q, k, v = (X @ np.hsplit(W, devices)[device] for W in (W_Q, W_K, W_V))
    out = attention(*(split_heads(z, heads // devices) for z in (q, k, v)))[0]
    return merge_heads(out) @ np.vsplit(W_O, devices)[device]


def layer(rng, n=5, d=12):
    """Tokens, and the four matrices."""
    return [rng.normal(size=(n, d)), *(rng.normal(size=(4, d, d)) / d**0.5)]


def added_up(call, args, heads, devices):
    """The sum over all devices."""
    shares = [call(*args, heads, devices, t) for t in range(devices)]
    for share in shares:
        require(np.shape(share) == args[0].shape, "a device should return the shape (n, d)")
    return np.sum(shares, axis=0)


@exercise.check(points=0.5, visible=True)
def devices_add_up(call, rng):
    """What two devices return adds up to the output of the whole layer."""
    args = layer(rng)
    agree(added_up(call, args, 4, 2), whole(*args, 4), what="the sum over the devices")


@exercise.check(points=0.5)
def other_sizes_add_up(call, rng):
    """So it does for one device, for as many devices as heads, and for other widths."""
    for n, d, heads, devices in ((3, 8, 2, 1), (2, 6, 3, 3), (4, 16, 8, 4), (1, 18, 6, 2)):
        args = layer(rng, n, d)
        found = added_up(call, args, heads, devices)
        agree(found, whole(*args, heads), what=f"the sum over {devices} of {heads} heads' devices")


@exercise.check(points=0.5)
def heads_in_order(call, rng):
    """Device 0 has the first h/p heads, device 1 the next ones, and so on."""
    args = layer(rng)
    for t in range(3):
        agree(call(*args, 6, 3, t), device_output(*args, 6, 3, t), what=f"the share of device {t}")


@exercise.check(points=0.5)
def others_are_not_needed(call, rng):
    """A device works with its own columns and rows: what the others hold may be anything."""
    X, *W = layer(rng)
    for t in range(2):
        own = np.isin(np.arange(12), columns(W[3], 4, 2, t))
        other = rng.normal(size=(4, 12, 12))  # numbers: who takes them times 0 doesn't need them
        shares = [np.where(own, m, o) for m, o in zip(W[:3], other, strict=False)]
        shares.append(np.where(own[:, None], W[3], other[3]))
        agree(call(X, *shares, 4, 2, t), device_output(X, *W, 4, 2, t))


@exercise.misconception(credit=0.4)
def whole_layer_everywhere(X, W_Q, W_K, W_V, W_O, heads, devices, device):
    """Each of your devices returns the whole layer's output; it has some of the heads only."""
    return whole(X, W_Q, W_K, W_V, W_O, heads)


@exercise.misconception
def whole_layer_divided(X, W_Q, W_K, W_V, W_O, heads, devices, device):
    """You divide the whole output evenly. Then each device would need all of the weights."""
    return whole(X, W_Q, W_K, W_V, W_O, heads) / devices


@exercise.misconception(credit=0.5)
def heads_dealt_in_turn(X, W_Q, W_K, W_V, W_O, heads, devices, device):
    """You deal the heads out in turn. It adds up, but device 0 was to have the *first* ones."""
    wide = len(W_O) // heads
    own = np.isin(np.arange(len(W_O)) // wide, np.arange(device, heads, devices))
    return whole(X, W_Q[:, own], W_K[:, own], W_V[:, own], W_O[own], heads // devices)


@exercise.misconception(credit=0.4)
def scale_of_the_model(X, W_Q, W_K, W_V, W_O, heads, devices, device):
    """You divide the scores by √d. The scale is that of a single head."""
    return device_output(X, W_Q / heads**0.5, W_K, W_V, W_O, heads, devices, device)


@exercise.misconception(credit=0.4)
def one_wide_head(X, W_Q, W_K, W_V, W_O, heads, devices, device):
    """You make one wide head of all that a device has. Its heads stay apart."""
    return device_output(X, W_Q, W_K, W_V, W_O, devices, devices, device)


@exercise.misconception(credit=0.4)
def first_rows_for_all(X, W_Q, W_K, W_V, W_O, heads, devices, device):
    """All your devices take the first rows of W_O. Which rows meet the columns of theirs?"""
    turned = np.roll(W_O, device * len(W_O) // devices, axis=0)
    return device_output(X, W_Q, W_K, W_V, turned, heads, devices, device)


@exercise.misconception(credit=0.4)
def output_matrix_by_columns(X, W_Q, W_K, W_V, W_O, heads, devices, device):
    """You cut W_O by columns, as the other three. Which of its entries meet a head's output?"""
    return device_output(X, W_Q, W_K, W_V, W_O.T, heads, devices, device)


@exercise.misconception(credit=0.4)
def inputs_by_rows(X, W_Q, W_K, W_V, W_O, heads, devices, device):
    """You cut W_Q, W_K and W_V by rows. A head's queries come from columns of W_Q."""
    return device_output(X, W_Q.T, W_K.T, W_V.T, W_O, heads, devices, device)


@exercise.part(points=0.5, answer=Numbers())
def cut_by_rows(x, A):
    """ReLU(x A), and the sum of what two devices get that hold a row each."""
    return [np.maximum(x @ A, 0), np.maximum(x[:, None] * A, 0).sum(axis=0)]


@cut_by_rows.misconception(credit=0.5)
def relu_after_the_sum(x, A):
    """In the second row each device applies the ReLU to its own part, before the sum."""
    return [np.maximum(x @ A, 0)] * 2


@cut_by_rows.misconception()
def no_relu(x, A):
    """Where is the ReLU? What is negative becomes 0."""
    return [x @ A] * 2


@cut_by_rows.misconception()
def columns_for_rows(x, A):
    """You multiplied the columns' way: x A has x as a row to the left of A."""
    return [np.maximum(A @ x, 0), np.maximum(A * x, 0).sum(axis=1)]


@exercise.part(points=0.25, answer=Count())
def weights(d, p):
    """Weights on one device: of attention, and of the feed-forward network."""
    return [4 * d * d // p, 8 * d * d // p]


@weights.misconception()
def weights_of_the_layer(d):
    """These are those of the whole layer. How many of them has one device?"""
    return [4 * d * d, 8 * d * d]


@weights.misconception()
def output_matrix_whole(d, p):
    """W_O and the second matrix of the network are cut, too: by rows."""
    return [3 * d * d // p + d * d, 4 * d * d // p + 4 * d * d]


@weights.misconception()
def weights_of_a_head(d, h):
    """You divided by the number of heads. A device has several of them."""
    return [4 * d * d // h, 8 * d * d // h]


@weights.misconception(credit=0.5)
def one_matrix_of_the_network(d, p):
    """The network has two matrices, there and back, each four times as large as W_Q."""
    return [4 * d * d // p, 4 * d * d // p]


@exercise.part(
    points=0.5,
    answer=Formula(
        "n d p",
        {"*": "positive"},
        practice=(
            ("The numbers that each device passes on until all have n × d of which each had 1/p."),
            "(p - 1)*n*d/p",
        ),
    ),
)
def sent():
    """The numbers that one device sends in the forward pass of a layer."""
    return "4*(p - 1)*n*d/p"


sent.mistakes(
    half_of_it=(
        "2*(p - 1)*n*d/p",
        "That is half of it. The example has two kinds of rounds, and a layer has two halves.",
        0.5,
    ),
    whole_arrays=(
        "4*(p - 1)*n*d",
        "In a round a device passes on one piece of the array. And asked for is *one* device.",
    ),
    weights_sent=(
        "4*(p - 1)*d^2/p",
        "Weights stay where they are. What is added up are outputs, n rows of width d.",
    ),
    a_round_too_many=(
        "4*n*d",
        "How many rounds does it take until a piece has been on all devices? One begins with it.",
    ),
)


@exercise.part(points=0.25, answer=Count(unit="B"))
def traffic(sent, n, d, p):
    """Bytes for forward and backward pass of a layer in half precision."""
    return 2 * 2 * round(sent(n=n, d=d, p=p))


@traffic.misconception()
def forward_alone(sent, n, d, p):
    """That is the forward pass. The gradients have as many sums on their way back."""
    return 2 * round(sent(n=n, d=d, p=p))


@traffic.misconception()
def four_bytes_each(sent, n, d, p):
    """A number in half precision has two bytes."""
    return 4 * 2 * round(sent(n=n, d=d, p=p))


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "Cut the other way, they would take more room on each device.",
            "Cut by rows, the first product wouldn't be defined on a single device.",
            "A device then has some entries of the hidden layer in full, so that the "
            "nonlinearity can follow at once, and one sum comes at the end.",
            "Then there is nothing to exchange at all, neither in the middle nor at the end.",
        ]
    ),
)
def why_so():
    """Why the first matrix is cut by columns, and the second by rows."""
    return "C"


why_so.mistakes(
    fewer_weights=("A", "Count the numbers in half of the rows, and in half of the columns."),
    not_even_defined=(
        "B",
        "By rows it is defined: x A is a sum, of which you had two terms in `cut_by_rows`.",
    ),
    nothing_exchanged=(
        "D",
        "At the end each device holds one summand of the output: these still have to be added up.",
    ),
)
