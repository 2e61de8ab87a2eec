"""Bandwidth or arithmetic: what a decoding step waits for, and what a cache leaves empty.

Source: Williams et al. (2009), "Roofline"; Kwon et al. (2023), "Efficient memory management for
large language model serving with PagedAttention".
"""

import numpy as np

from autograder.exercise import Count, Exercise, Formula, Numbers

exercise = Exercise(
    "decode_roofline",
    title="Bandwidth or arithmetic?",
    source="Williams et al. (2009); Kwon et al. (2023)",
    minutes=30,
    hints=[
        "Each weight is read once in a step, whatever the batch. What is done with it for each "
        "of the sequences?",
        "For one sequence compare both times: all bytes over the bandwidth, all FLOPs over the "
        "arithmetic. The step takes the longer one.",
        "For the cache take a single cached token of one layer: count what all query heads do "
        "with its key and its value, and the bytes that it takes up.",
    ],
)

PARAMETERS, PER_TOKEN = 8_030_261_248, 131_072
ARITHMETIC, BANDWIDTH = 1e15, 4e12
WEIGHTS = 2 * PARAMETERS  # bytes


@exercise.variant
def draw(rng):
    """F: FLOPs a second, B: bytes a second, w: bytes for each weight, its scale included."""
    return {
        "F": float(rng.choice([3e14, 1e15, 2e15])),
        "B": float(rng.choice([1, 2, 4, 8]) * 1e12),
        "w": float(rng.choice([0.5625, 1.0625])),
    }


@exercise.part(
    points=0.25,
    answer=Formula("b w", practice=("The same if every weight is read twice in a step.", "b/w")),
)
def intensity():
    """FLOPs for each byte of the weights, in one decoding step of b sequences."""
    return "2*b/w"


intensity.mistakes(
    madds_for_flops=("b/w", "A multiply–add is two FLOPs."),
    bytes_as_a_factor=("2*b*w", "More bytes for a weight mean fewer FLOPs for each byte."),
    one_sequence_alone=("2/w", "A weight is read once and used for every sequence of the batch."),
    bytes_not_divided=("2*b", "Those are the FLOPs for each weight. A weight takes w bytes."),
    madds_times_bytes=(
        "b*w",
        "A multiply–add is two FLOPs, and more bytes for a weight mean fewer FLOPs for each byte.",
    ),
)


@exercise.part(
    points=0.25,
    answer=Formula(
        "F B w",
        {"*": "positive"},
        practice=(
            "The batch at which both take the same time, with four FLOPs for each weight.",
            "F*w/(4*B)",
        ),
    ),
)
def batch():
    """The batch at which arithmetic and bandwidth take the same time."""
    return "F*w/(2*B)"


batch.mistakes(
    batch_of_madds=("F*w/B", "A multiply–add is two FLOPs."),
    ridge_itself=("F/B", "That is how many FLOPs a byte must bring. How many sequences are these?"),
    bytes_below=("F/(2*B*w)", "The more bytes a weight takes, the more sequences it has to serve."),
    bytes_left_out=("F/(2*B)", "How many bytes does a weight take?"),
    solved_upside_down=("2*F/(B*w)", "Put your batch into the intensity. Does F/B come out?"),
    two_multiplied=(
        "2*F*w/B",
        "Each sequence brings two FLOPs for a weight: so fewer sequences are enough, not more.",
    ),
    ridge_upside_down=(
        "B*w/(2*F)",
        "More arithmetic needs more sequences, more bandwidth fewer: F and B are exchanged.",
    ),
)


@exercise.part(points=0.5, answer=Numbers())
def your_batch(batch, F, B, w):
    """That batch in numbers, for your device and weights."""
    return float(batch(F=F, B=B, w=w))


@your_batch.misconception()
def your_ridge(F, B):
    """That is your F/B, FLOPs for each byte. How many sequences are these?"""
    return F / B


@your_batch.misconception()
def your_madds(F, B, w):
    """A multiply–add is two FLOPs."""
    return F * w / B


@your_batch.misconception()
def your_bytes_left_out(F, B):
    """How many bytes does a weight take?"""
    return F / (2 * B)


@your_batch.misconception()
def your_bytes_below(F, B, w):
    """The more bytes a weight takes, the more sequences it has to serve."""
    return F / (2 * B * w)


@your_batch.misconception()
def your_batch_upside_down(F, B, w):
    """Put this batch into the intensity. Does your F/B come out?"""
    return 2 * F / (B * w)


@exercise.part(points=0.5, answer=Numbers(unit="ms"))
def least_ms():
    """Milliseconds a token for one sequence, from the weights."""
    return WEIGHTS / BANDWIDTH * 1e3


least_ms.mistakes(
    arithmetic_time=(
        2 * PARAMETERS / ARITHMETIC * 1e3,
        "At batch 1 the units wait for the weights: divide bytes by bandwidth.",
    ),
    one_byte_each=(PARAMETERS / BANDWIDTH * 1e3, "A weight takes two bytes here."),
    in_seconds=(WEIGHTS / BANDWIDTH, "Those are seconds. Asked for are milliseconds."),
    in_microseconds=(
        WEIGHTS / BANDWIDTH * 1e6,
        "Those are microseconds. Asked for are milliseconds.",
    ),
)


@exercise.part(points=0.5, answer=Numbers())
def per_second(least_ms):
    """Tokens a second at that rate."""
    return 1e3 / least_ms


@per_second.misconception()
def of_milliseconds(least_ms):
    """A second has a thousand milliseconds."""
    return 1 / least_ms


@exercise.part(points=0.25, answer=Count(unit="B"))
def cache_bytes():
    """Bytes of the cache of 8192 tokens."""
    return PER_TOKEN * 8192


cache_bytes.mistakes(
    bytes_taken_for_numbers=(2 * PER_TOKEN * 8192, "The 131,072 are bytes already."),
    layers_once_more=(
        32 * PER_TOKEN * 8192,
        "The 131,072 bytes of a token are those of all layers.",
    ),
    key_heads_once_more=(
        8 * PER_TOKEN * 8192,
        "The 131,072 bytes of a token are those of all 8 key heads.",
    ),
    of_one_token=(PER_TOKEN, "That is the cache of one token."),
    in_gib=(1, "That is in GiB. Asked for are bytes."),
)


@exercise.part(points=0.25, answer=Numbers(unit="ms"))
def ms_with_cache(least_ms, cache_bytes):
    """Milliseconds a token with that cache."""
    return least_ms + cache_bytes / BANDWIDTH * 1e3


@ms_with_cache.alternative
def weights_once_more(cache_bytes):
    """Begin with the bytes of both."""
    return (WEIGHTS + cache_bytes) / BANDWIDTH * 1e3


@ms_with_cache.misconception()
def cache_alone(cache_bytes):
    """The weights have to be read as well."""
    return cache_bytes / BANDWIDTH * 1e3


@ms_with_cache.misconception()
def cache_not_read(least_ms):
    """Every step reads the whole cache, too."""
    return least_ms


@exercise.part(points=0.5, answer=Numbers())
def as_heavy(cache_bytes):
    """How many such sequences have caches that weigh as much as the weights."""
    return WEIGHTS / cache_bytes


@as_heavy.misconception()
def numbers_against_bytes(cache_bytes):
    """A weight takes two bytes here."""
    return PARAMETERS / cache_bytes


@as_heavy.misconception()
def other_way_round(cache_bytes):
    """You divided the other way round."""
    return cache_bytes / WEIGHTS


@as_heavy.misconception()
def tokens_for_sequences():
    """That many *tokens* weigh as much. A sequence has 8192 of them."""
    return WEIGHTS / PER_TOKEN


HEADS, WIDTH = 32, 128
GROUPS = np.array([32, 8, 1])


@exercise.part(points=1, answer=Numbers())
def per_cache_byte():
    """FLOPs for each byte of the cache in attention, with 32, 8 and 1 key heads."""
    return 2 * (2 * HEADS * WIDTH) / (2 * GROUPS * WIDTH * 2)


per_cache_byte.mistakes(
    cache_madds=(HEADS / (2 * GROUPS), "A multiply–add is two FLOPs."),
    shared_by_the_batch=(
        16 * HEADS / GROUPS,
        "A second sequence brings its own cache: more FLOPs and more bytes.",
    ),
    queries_grouped_too=(
        np.ones(3),
        "There are 32 query heads in all three cases; only keys and values are shared.",
    ),
    for_each_number=(
        2 * HEADS / GROUPS,
        "That is for each number of the cache. A number takes two bytes.",
    ),
    one_of_sixteen=(
        HEADS / GROUPS / 16,
        "All 16 sequences compute: you counted the bytes of all of them, and the FLOPs of one.",
    ),
)


HIDDEN = {"heads": 128, "latent": 512, "rotated": 64}


def latent_flops(heads, latent, rotated):
    """What all heads do with one cached token: scores of both parts, and the values."""
    return 2 * heads * (latent + rotated + latent)


@exercise.part(points=1, answer=Numbers())
def per_latent_byte():
    """The same for latent attention, with 128 heads and 512 + 64 numbers a token."""
    return latent_flops(**HIDDEN) / (2 * (512 + 64))


@per_latent_byte.misconception()
def latent_madds():
    """A multiply–add is two FLOPs."""
    return latent_flops(**HIDDEN) / (4 * (512 + 64))


per_latent_byte.mistakes(
    latent_used_once=(
        128.0,
        "The latent vector is kept once and used twice: for the scores, and for the values.",
    ),
    rotated_part_like_the_others=(
        256.0,
        "The rotated part takes up bytes and counts for the scores, but not for the values.",
    ),
)


@per_latent_byte.misconception()
def rotated_bytes_left_out():
    """The 64 rotated numbers are cached and read as well."""
    return latent_flops(**HIDDEN) / (2 * 512)


@per_latent_byte.misconception()
def one_head():
    """That is one head. All 128 read the same numbers."""
    return latent_flops(**HIDDEN) / 128 / (2 * (512 + 64))


@per_latent_byte.misconception()
def heads_of_the_other_model():
    """Here there are 128 heads, not 32."""
    return latent_flops(**HIDDEN) / 4 / (2 * (512 + 64))


LENGTHS = np.array([100, 700, 37, 1500])


@exercise.part(points=0.25, answer=Count())
def blocks():
    """How many blocks of 16 the four sequences take together."""
    return int(np.ceil(LENGTHS / 16).sum())


@blocks.misconception()
def rounded_down():
    """The last block of a sequence is reserved as well."""
    return int((LENGTHS // 16).sum())


@blocks.misconception()
def laid_end_to_end():
    """No two sequences share a block: round each one up by itself."""
    return int(np.ceil(LENGTHS.sum() / 16))


@blocks.misconception()
def all_as_long_as_the_longest():
    """You gave every sequence as many blocks as the longest one. Each takes what it needs."""
    return int(4 * np.ceil(LENGTHS.max() / 16))


@exercise.part(points=0.75, answer=Numbers())
def empty(blocks):
    """The shares of the reserved memory that stay empty: 2048 for each, and in blocks of 16."""
    return 1 - LENGTHS.sum() / np.array([4 * 2048, 16 * blocks])


@empty.misconception()
def used(blocks):
    """That is the share that is used."""
    return LENGTHS.sum() / np.array([4 * 2048, 16 * blocks])


@empty.misconception()
def mean_of_the_shares():
    """Add the memory up first: a long sequence counts for more of a block than a short one."""
    full = 16 * np.ceil(LENGTHS / 16)
    return np.array([np.mean(1 - LENGTHS / 2048), np.mean(1 - LENGTHS / full)])


@empty.misconception()
def against_what_is_used(blocks):
    """You divided by what is used. Divide by what is reserved."""
    return np.array([4 * 2048, 16 * blocks]) / LENGTHS.sum() - 1


@empty.misconception()
def empty_places(blocks):
    """Those are the empty places. Divide by the reserved ones."""
    return np.array([4 * 2048, 16 * blocks]) - LENGTHS.sum()


@empty.misconception()
def shares_added(blocks):
    """Four times 2048 places are reserved in the first case."""
    return 1 - LENGTHS.sum() / np.array([2048, 16 * blocks])
