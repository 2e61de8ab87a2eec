"""What the weights of attention weigh.

Source: Rabe & Staats (2021), "Self-attention does not need O(n²) memory", section 1.
"""

from math import isqrt

import numpy as np

from autograder.exercise import Count, Exercise, Numbers, agree, require

exercise = Exercise(
    "attn_memory",
    title="A quarter of a gibibyte",
    source="Rabe & Staats (2021), section 1",
    minutes=35,
    hints=[
        "Count numbers first, then bytes: how many of these has a number of each type?",
        "Mi and Gi are powers of 2, M and G are powers of 10.",
        "For the largest n turn the inequality round, take the root, and round down.",
    ],
)

BYTES = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8}
lengths = np.array([100, 500, 1000, 2000, 5000])


@exercise.variant
def draw(rng):
    """n: queries and keys; dtype: the type of the numbers."""
    n = int(rng.choice([4, 5, 6, 7, 8, 10, 12, 16])) * 1024
    return {"n": n, "dtype": str(rng.choice(["float32", "float64"]))}


@exercise.part(points=1, answer=Count(unit="B"))
def size_bytes(n, dtype):
    """The bytes of one n × n matrix of weights."""
    return n**2 * BYTES[dtype]


@size_bytes.misconception()
def entries_for_bytes(n, dtype):
    """You counted the entries. How many bytes does one of them take?"""
    return n**2


@size_bytes.misconception()
def other_precision(n, dtype):
    """That would be the other precision. float32 has 32 bits, float64 has 64, a byte has 8."""
    return n**2 * (12 - BYTES[dtype])


@size_bytes.misconception()
def bits_for_bytes(n, dtype):
    """You counted bits. A byte has eight of them."""
    return n**2 * BYTES[dtype] * 8


@size_bytes.misconception()
def one_row(n, dtype):
    """That is a single row. Every query has a row of its own."""
    return n * BYTES[dtype]


@exercise.part(points=0.5, answer=Numbers(unit="MiB"))
def size_mib(size_bytes):
    """The same in MiB."""
    return size_bytes / 2**20


@size_mib.misconception()
def decimal_megabytes(size_bytes):
    """These are MB. A MiB is a power of 1024."""
    return size_bytes / 1e6


@size_mib.misconception()
def thousand_kib(size_bytes):
    """You divided by 1024 and by 1000. A MiB has 1024 KiB, a KiB 1024 bytes."""
    return size_bytes / 1024 / 1000


@size_mib.misconception()
def in_kib(size_bytes):
    """These are KiB: divide once more."""
    return size_bytes / 2**10


@size_mib.misconception()
def mib_of_the_other_precision(n, dtype):
    """That is the other precision. float32 takes 4 bytes, float64 takes 8."""
    return n**2 * (12 - BYTES[dtype]) / 2**20


@exercise.part(points=0.5, answer=Numbers(unit="MB"))
def size_mb(size_bytes):
    """The same in MB."""
    return size_bytes / 1e6


@size_mb.misconception()
def binary_mebibytes(size_bytes):
    """These are MiB. A MB is a power of 1000."""
    return size_bytes / 2**20


@size_mb.misconception()
def in_kb(size_bytes):
    """These are kB: divide once more."""
    return size_bytes / 1e3


@size_mb.misconception()
def mixed_units(size_bytes):
    """You divided by 1024 once and by 1000 once. MB: 1000 · 1000."""
    return size_bytes / 1024e3


@exercise.part(points=0.5, answer=Numbers(unit="GiB"))
def layer_gib(size_bytes):
    """The weights of one layer with 8 heads for a batch of 4, in GiB."""
    return 32 * size_bytes / 2**30


@layer_gib.misconception()
def batch_forgotten(size_bytes):
    """You counted the heads for one example. There are four in the batch."""
    return 8 * size_bytes / 2**30


@layer_gib.misconception()
def heads_forgotten(size_bytes):
    """You counted one head. Each head has weights of its own."""
    return 4 * size_bytes / 2**30


@layer_gib.misconception()
def layer_in_gb(size_bytes):
    """These are GB. A GiB is a power of 1024."""
    return 32 * size_bytes / 1e9


@layer_gib.misconception()
def heads_and_batch_added(size_bytes):
    """You added heads and batch. Every head of every example has a matrix."""
    return 12 * size_bytes / 2**30


@exercise.part(points=0.5, answer=Numbers(unit="MiB"))
def half_mib(n):
    """One matrix in half precision (float16), in MiB."""
    return n**2 * 2 / 2**20


@half_mib.misconception()
def half_a_byte(n):
    """Half precision has 16 bits, half of 32. How many bytes is that?"""
    return n**2 / 2**20


@half_mib.misconception()
def single_precision(n):
    """That is float32. Half precision takes half of it."""
    return n**2 * 4 / 2**20


@half_mib.misconception()
def half_in_mb(n):
    """These are MB. A MiB is a power of 1024."""
    return n**2 * 2 / 1e6


@exercise.part(points=1, answer=Count(unit="B"))
def table_bytes():
    """Bytes in float32 for n = 100, 500, 1000, 2000, 5000."""
    return 4 * lengths**2


table_bytes.mistakes(
    table_of_entries=(lengths**2, "These are entries. A float32 takes four bytes."),
    table_in_float64=(8 * lengths**2, "That is float64. Here float32 is asked for."),
    table_of_rows=(4 * lengths, "You counted one row for each n. A matrix has n of them."),
)


@exercise.part(points=1, answer=Numbers(unit="MB"))
def table_mb(table_bytes):
    """MB in float64 for the same n."""
    return 2 * table_bytes / 1e6


@table_mb.misconception()
def table_in_float32(table_bytes):
    """That is float32. NumPy's own type, float64, takes twice as much."""
    return table_bytes / 1e6


@table_mb.misconception()
def table_in_mib(table_bytes):
    """These are MiB. MB are powers of 1000."""
    return 2 * table_bytes / 2**20


@table_mb.misconception()
def table_in_bytes(table_bytes):
    """These are bytes; asked for are MB."""
    return 2.0 * table_bytes


@exercise.part(points=1, answer=Count())
def largest_n():
    """The largest n for which one float32 matrix fits into 80 GiB."""
    return isqrt(80 * 2**30 // 4)


@largest_n.misconception()
def bytes_for_entries():
    """You gave each entry one byte. A float32 takes four, so fewer fit."""
    return isqrt(80 * 2**30)


@largest_n.misconception()
def eighty_gb():
    """You took 80 GB. A GiB is a little more."""
    return isqrt(80 * 10**9 // 4)


@largest_n.misconception()
def rounded_up():
    """With one more token it doesn't fit any more: round down."""
    return isqrt(80 * 2**30 // 4) + 1


@largest_n.misconception()
def entries_of_the_matrix():
    """So many entries fit. An n × n matrix has n² of them."""
    return 80 * 2**30 // 4


@exercise.part(points=0.5, answer=Numbers(unit="MiB"))
def qkvo_mib():
    """Q, K, V and the output together for n = 8192, d = 64 in float32, in MiB."""
    return 4 * 8192 * 64 * 4 / 2**20


qkvo_mib.mistakes(
    one_of_four=(8192 * 64 * 4 / 2**20, "That is one of the four arrays."),
    qkvo_in_mb=(4 * 8192 * 64 * 4 / 1e6, "These are MB. A MiB is a power of 1024."),
    output_not_counted=(
        3 * 8192 * 64 * 4 / 2**20,
        "These are Q, K and V. The output has their size, too.",
    ),
    qkvo_in_float64=(
        4 * 8192 * 64 * 8 / 2**20,
        "That is float64; in float32 a number takes four bytes.",
    ),
)


@exercise.part(points=0.5, answer=Count())
def state_floats():
    """The numbers in the state of linear attention with D = d_v = 64."""
    return 64 * 64 + 64


state_floats.mistakes(
    normaliser_forgotten=(
        64 * 64,
        "That is the matrix S. The normaliser needs the sum of the features as well.",
    ),
    state_grows=(
        8192 * 64,
        "The state is a sum over the keys: how many there were can't be seen in its size.",
    ),
    widths_added=(
        64 + 64,
        "You added the two widths. S is a matrix: it has a number for each pair of D and d_v.",
    ),
    two_matrices=(2 * 64 * 64, "The sum of the features is a vector, not another matrix."),
)


@exercise.reference
def attention_bytes(
    n: int, m: int | None = None, heads: int = 1, batch: int = 1, dtype: str = "float32"
) -> int:
    """Return the bytes of all attention weights of one layer."""
    m = n if m is None else m
    return batch * heads * n * m * BYTES[dtype]


@exercise.alternative
def with_numpy(n, m=None, heads=1, batch=1, dtype="float32"):
    """Ask numpy for the size of an entry; torch's bfloat16 is as wide as float16."""
    item = np.dtype(dtype.replace("bfloat", "float")).itemsize
    return item * int(np.prod([batch, heads, n, n if m is None else m], dtype=object))


@exercise.alternative
def from_the_bits(n, m=None, heads=1, batch=1, dtype="float32"):
    """Read the bits off the name."""
    if m is None:
        m = n
    return n * m * heads * batch * int(dtype[-2:]) // 8


@exercise.alternative
def row_by_row(n, m=None, heads=1, batch=1, dtype="float32"):
    """Add up: a row, a matrix, the heads, the batch."""
    row = (m if m is not None else n) * {"6": 2, "2": 4, "4": 8}[dtype[-1]]
    matrix = n * row
    return sum(matrix for _ in range(heads)) * batch


@exercise.check(points=0.5, visible=True)
def one_square_matrix(call, rng):
    """Without further arguments: one n × n matrix in float32."""
    for n in (1, 100, int(rng.integers(200, 9000))):
        agree(call(n), attention_bytes(n))


@exercise.check(points=0.5, after=one_square_matrix)
def rectangular(call, rng):
    """n queries over m keys, even where there are no keys at all."""
    for m in (int(rng.integers(2, 500)), 0):
        n = int(rng.integers(500, 900))
        agree(call(n, m), attention_bytes(n, m))


@exercise.check(points=0.5, after=one_square_matrix)
def heads_batch_and_dtype(call, rng):
    """Counts every head of every example, in float16, bfloat16, float32 and float64."""
    for dtype in BYTES:
        n, heads, batch = (int(k) for k in rng.integers(2, 40, 3))
        keywords = {"heads": heads, "batch": batch, "dtype": dtype}
        agree(call(n, **keywords), attention_bytes(n, **keywords))


@exercise.check(points=0.5, after=one_square_matrix)
def exact_for_any_length(call, rng):
    """A whole number, exact also where it is larger than 32 or 53 bits hold."""
    for n in (70_001, 200_000_001):
        size = call(n)
        whole = np.asarray(size).dtype.kind in "iu" or isinstance(size, int)
        require(whole, f"the result is of type {type(size).__name__}; bytes are whole numbers")
        require(size == attention_bytes(n), f"the result for n = {n} is not exact")


@exercise.misconception
def entries(n, m=None, heads=1, batch=1, dtype="float32"):
    """You counted entries: multiply with the bytes that one of them takes."""
    return batch * heads * n * (n if m is None else m)


@exercise.misconception
def linear_in_n(n, m=None, heads=1, batch=1, dtype="float32"):
    """Your result grows like n. Each of the n queries has a weight for every key."""
    return batch * heads * (n if m is None else m) * BYTES[dtype]


@exercise.misconception
def zero_taken_for_none(n, m=None, heads=1, batch=1, dtype="float32"):
    """`m or n` takes m = 0 for "not given". Compare with None."""
    return batch * heads * n * (m or n) * BYTES[dtype]


@exercise.misconception
def keys_ignored(n, m=None, heads=1, batch=1, dtype="float32"):
    """The number of keys is ignored: a row has m weights."""
    return batch * heads * n * n * BYTES[dtype]


@exercise.misconception
def always_float32(n, m=None, heads=1, batch=1, dtype="float32"):
    """The argument `dtype` has no effect."""
    return batch * heads * n * (n if m is None else m) * 4


@exercise.misconception
def bfloat16_as_float32(n, m=None, heads=1, batch=1, dtype="float32"):
    """You gave bfloat16 four bytes. The 16 says how many bits it has, as in float16."""
    size = 4 if dtype == "bfloat16" else BYTES[dtype]
    return batch * heads * n * (n if m is None else m) * size


@exercise.misconception
def heads_without_batch(n, m=None, heads=1, batch=1, dtype="float32"):
    """The argument `batch` has no effect: every example has weights of its own."""
    return heads * n * (n if m is None else m) * BYTES[dtype]


@exercise.misconception
def heads_share_one_matrix(n, m=None, heads=1, batch=1, dtype="float32"):
    """The argument `heads` has no effect: every head has weights of its own."""
    return batch * n * (n if m is None else m) * BYTES[dtype]


@exercise.misconception
def overflows_32_bits(n, m=None, heads=1, batch=1, dtype="float32"):
    """A 32-bit integer overflowed. Python's own whole numbers have no limit."""
    exact = batch * heads * n * (n if m is None else m) * BYTES[dtype]
    return (exact + 2**31) % 2**32 - 2**31


@exercise.misconception
def rounded_by_floats(n, m=None, heads=1, batch=1, dtype="float32"):
    """You computed with floats, which are rounded beyond 2^53. Use whole numbers throughout."""
    return int(float(batch * heads * n) * float(n if m is None else m) * BYTES[dtype])
