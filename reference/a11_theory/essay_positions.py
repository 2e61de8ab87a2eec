"""Essay: absolute, relative or rotary positions?

Source: Shaw et al. (2018), "Self-attention with relative position representations"; Su et al.
(2021), "RoFormer"; Press et al. (2022), "Train short, test long".
"""

from autograder.exercise import Count, Essay, Exercise

exercise = Exercise(
    "essay_positions",
    title="Absolute, relative, rotary",
    source="Shaw et al. (2018); Su et al. (2021); Press et al. (2022)",
    minutes=60,
    hints=[
        "Ask of each scheme whether training changes any of its numbers. For the relative vectors "
        "write down all offsets with K = 2 before you count.",
        "For the essay move both tokens on by the same number of places: which terms of the score "
        "stay as they are? Then let the two change places: which schemes notice?",
    ],
)


@exercise.variant
def draw(rng):
    """N: the longest sequence, d: the width, K: the clipping distance, d_k: the width of a head."""
    return {
        "N": int(rng.choice([256, 512, 1024, 2048])),
        "d": int(rng.choice([256, 512, 768])),
        "K": int(rng.choice([8, 16, 32])),
        "d_k": int(rng.choice([32, 64])),
    }


@exercise.part(points=1, answer=Count())
def learned_numbers(N, d, K, d_k):
    """Trained numbers of: sinusoids, a learned table, clipped relative keys, rotations, ALiBi."""
    return [0, N * d, (2 * K + 1) * d_k, 0, 0]


@learned_numbers.misconception()
def sinusoids_learned(N, d, K, d_k):
    """The sinusoids are computed from a formula."""
    return [N * d, N * d, (2 * K + 1) * d_k, 0, 0]


@learned_numbers.misconception()
def one_side_only(N, d, K, d_k):
    """Keys stand before and behind a query."""
    return [0, N * d, (K + 1) * d_k, 0, 0]


@learned_numbers.misconception()
def own_place_forgotten(N, d, K, d_k):
    """The distance 0 has a vector as well."""
    return [0, N * d, 2 * K * d_k, 0, 0]


@learned_numbers.misconception()
def no_clipping(N, d, K, d_k):
    """Distances beyond K share the vector of K."""
    return [0, N * d, (2 * N - 1) * d_k, 0, 0]


@learned_numbers.misconception()
def values_as_well(N, d, K, d_k):
    """Here relative vectors are added to keys alone: there is one table of them."""
    return [0, N * d, 2 * (2 * K + 1) * d_k, 0, 0]


@learned_numbers.misconception()
def angles_learned(N, d, K, d_k):
    """The angles of rotations are a fixed geometric sequence."""
    return [0, N * d, (2 * K + 1) * d_k, d_k // 2, 0]


@exercise.part(points=8, answer=Essay())
def essay():
    """Absolute, relative or rotary: what does each guarantee, and what does only training show?

    (1) 2 points. Which schemes give scores that depend on the offset exactly: rotations, ALiBi's
    penalty, relative vectors up to the clipping. Added encodings don't, because of mixed terms;
    with the measurement from the fifth notebook.

    (2) 2 points. Cost and what can be cached: tables are computed once; rotated keys can be kept in
    a cache; relative vectors take products for every pair; parameters from the essay's own numbers.

    (3) 2 points. Direction: which schemes tell before from behind (rotations and relative vectors
    do, |i − j| doesn't without a causal mask).

    (4) 2 points. Being defined for every position is not generalising to it. Extrapolation is a
    property of trained models and needs evidence; plain rotations are known to get worse.
    """
    return (
        "A score depends on the offset exactly if the scheme makes it so: with rotations it is "
        "qᵀR(j−i)k, ALiBi subtracts a multiple of i − j, and relative key vectors are looked up "
        "by offset, up to the clipping distance, beyond which all are alike. Sinusoids and "
        "learned tables are added to the embeddings, so a score has mixed terms of content and "
        "position: in my measurement the offset explained all of the variance with rotations, and "
        "only a part of it with sums. Trained numbers: none for sinusoids, rotations and ALiBi, "
        "thousands for relative keys, hundreds of thousands for a learned table, which ends at "
        "its last row. Tables of sines and angles are computed once. A rotated key depends on its "
        "own position alone and can stay in the cache; relative vectors cost another n²d_k "
        "products in each head; ALiBi adds a number to each score. Relative vectors differ for −o "
        "and o, and a rotation by an angle is not one by its negative, so both tell before from "
        "behind. A penalty on |i − j| does not; under a causal mask there is nothing behind. All "
        "formulas but the learned table are defined at every position. That doesn't make a model "
        "good there. Length generalisation is measured on trained models: ALiBi was reported to "
        "hold up, plain rotations are known to get worse beyond the training length and to need "
        "rescaling. I would take rotations for their exact offsets and test at the length I need."
    )


@essay.sample(points=6)
def no_direction():
    """(1) 2, (2) 2, (3) 0, (4) 2.

    (3): direction is not treated. (4): both halves, in few words.
    """
    return (
        "RoPE and ALiBi depend only on the offset; in my measurement the offset explained 100 % "
        "of the variance for rotations and clearly less for added sinusoids, because content "
        "times position gives extra terms. Clipped relative vectors depend on the offset up to K. "
        "A learned table costs 262,144 parameters and the relative one 2,112, the others nothing; "
        "rotated keys can be cached, and relative vectors need an additional product per pair. "
        "All but the learned table can be evaluated at position 10,000, but whether a model works "
        "there is an empirical question, and RoPE without scaling usually does not."
    )


@essay.sample(points=2)
def defined_means_generalises():
    """(1) 1, (2) 1, (3) 0, (4) 0.

    (1): rotations only, no measurement. (2): parameters, nothing about caching. (4): definedness is
    taken for generalisation.
    """
    return (
        "The best scheme is RoPE since it rotates queries and keys, so that only relative "
        "positions matter. It has no parameters, while learned embeddings need 262,144. Sinusoids "
        "and RoPE extrapolate to any length because sine and cosine are defined everywhere; "
        "learned embeddings do not extrapolate. Therefore models with RoPE can read longer texts "
        "than they were trained on."
    )
