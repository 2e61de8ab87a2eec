"""What a cache of keys and values weighs.

Source: Shazeer (2019), "Fast transformer decoding: one write-head is all you need".
"""

from autograder.exercise import Count, Exercise, Numbers

exercise = Exercise(
    "kv_memory",
    title="What the cache weighs",
    source="Shazeer (2019), sections 2 and 3",
    minutes=20,
    hints=[
        "Keys *and* values are kept, for every layer and every token.",
        "How many bytes has a number in half precision?",
        "A shared head changes the width that is kept for a token, and nothing else.",
    ],
)


def cache(layers, tokens, width, size=2):
    """Bytes of keys and values."""
    return 2 * layers * tokens * width * size


@exercise.part(points=1, answer=Count(unit="B"))
def small_bytes():
    """Bytes for L = 6, d = 512, t = 1000 in half precision."""
    return cache(6, 1000, 512)


@small_bytes.misconception()
def values_forgotten():
    """That is half of it: keys *and* values are stored, with two bytes for each number."""
    return cache(6, 1000, 512) // 2


@small_bytes.misconception()
def layers_forgotten():
    """That is one layer. Each of them has keys and values of its own."""
    return cache(1, 1000, 512)


@small_bytes.misconception()
def in_single_precision():
    """That is float32. Half precision takes two bytes a number."""
    return cache(6, 1000, 512, 4)


@exercise.part(points=1, answer=Count(unit="B"))
def large_bytes(small_bytes):
    """Bytes for L = 96, d = 12288, t = 2048 in half precision."""
    each = int(small_bytes) // (1000 * 512)  # bytes for every token and column: 24 in six layers
    layers = 1 if each % 6 else 96 // 6
    return layers * each * 2048 * 12288


@large_bytes.misconception()
def weights_stored():
    """You stored t² attention weights. A cache holds keys and values, t of each."""
    return 96 * 2048**2 * 2


@large_bytes.misconception()
def keys_only():
    """That is half of it: keys *and* values are stored, with two bytes for each number."""
    return cache(96, 2048, 12288) // 2


@large_bytes.misconception()
def a_single_layer():
    """That is one layer. Each of them has keys and values of its own."""
    return cache(1, 2048, 12288)


@large_bytes.misconception()
def four_bytes_each():
    """That is float32. Half precision takes two bytes a number."""
    return cache(96, 2048, 12288, 4)


@exercise.part(points=0.5, answer=Numbers(unit="GiB"))
def large_gib(large_bytes):
    """The same in GiB."""
    return large_bytes / 2**30


@large_gib.misconception()
def in_gb(large_bytes):
    """These are GB. A GiB is a power of 1024."""
    return large_bytes / 1e9


@large_gib.misconception()
def in_mib(large_bytes):
    """These are MiB: divide once more."""
    return large_bytes / 2**20


@large_gib.misconception()
def once_by_thousand(large_bytes):
    """You mixed powers of 1000 and of 1024."""
    return large_bytes / (1e6 * 1024)


@exercise.part(points=0.5, answer=Count(unit="B"))
def per_token(large_bytes):
    """Bytes that every further token adds to it."""
    return large_bytes // 2048


@per_token.misconception()
def keys_of_a_token():
    """That is half of it: a key *and* a value in each layer, two bytes for each number."""
    return cache(96, 1, 12288) // 2


@per_token.misconception()
def one_layer_of_a_token():
    """You counted one layer; the token adds to all of them."""
    return cache(1, 1, 12288)


@per_token.misconception()
def grows_with_the_length():
    """You let each further token cost more. A key is as long as all the others."""
    return 96 * 2 * (2049**2 - 2048**2)


@exercise.part(points=1, answer=Count(unit="B"))
def shared_bytes(large_bytes):
    """Bytes of the large cache if all heads share one key/value head of width 128."""
    return large_bytes // (12288 // 128)


@shared_bytes.misconception()
def values_not_shared():
    """You shared the keys alone. The one head holds keys and values, both of width 128."""
    return 96 * 2048 * 2 * (128 + 12288)


@shared_bytes.misconception()
def shared_keys_without_values():
    """That is half of it: keys *and* values are stored, with two bytes for each number."""
    return cache(96, 2048, 128) // 2


@shared_bytes.misconception()
def layers_share_too():
    """You shared across layers. The heads of a layer share; every layer has its own."""
    return cache(1, 2048, 128)


@shared_bytes.misconception()
def divided_by_the_width(large_bytes):
    """You divided by 128. How many heads of width 128 are there in 12288?"""
    return large_bytes // 128
