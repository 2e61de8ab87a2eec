"""Linear attention for any feature map.

Source: Katharopoulos et al. (2020), "Transformers are RNNs", section 3.2.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from autograder.exercise import Choice, Exercise, Numbers, agree, given, grows, require

exercise = Exercise(
    "lin_attn",
    title="Linear attention in code",
    source="Katharopoulos et al. (2020), section 3.2",
    minutes=65,
    hints=[
        "Which sums over the keys do all queries share? Compute those first: their sizes hold "
        "neither n nor m.",
        "With batches and heads only the last two axes are those of a matrix. `np.swapaxes` "
        "exchanges these and leaves the others where they are.",
        "For the single key work its weight out first, and see how ε compares with that in size.",
    ],
)


def elu1(x):
    """elu(x) + 1."""
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


def exponential(x):
    """Another feature map."""
    return np.exp(x)


def both(x):
    """One that makes twice as many features as there are columns."""
    return np.concatenate([np.exp(x), np.exp(-x)], axis=-1)


@exercise.reference
def linear_attention(
    Q: Float[ndarray, "*batch n d_k"],
    K: Float[ndarray, "*batch m d_k"],
    V: Float[ndarray, "*batch m d_v"],
    phi=elu1,
    eps: float = 0.0,
) -> Float[ndarray, "*batch n d_v"]:
    """Sum up keys and values first: linear time, whatever the feature map."""
    q, k = phi(Q), phi(K)
    z = k.sum(axis=-2)[..., None]
    return q @ (np.swapaxes(k, -1, -2) @ V) / (q @ z + eps)


@exercise.alternative
def with_einsum(Q, K, V, phi=elu1, eps=0.0):
    """Name the indices: queries n, keys m, features f, columns v."""
    q, k = phi(Q), phi(K)
    S = np.einsum("...mf,...mv->...fv", k, V)
    below = np.einsum("...nf,...f->...n", q, k.sum(axis=-2))
    return np.einsum("...nf,...fv->...nv", q, S) / (below[..., None] + eps)


@exercise.alternative
def with_a_column_of_ones(Q, K, V, phi=elu1, eps=0.0):
    """Append ones to the values: the normaliser comes out as one more column."""
    ones = np.ones((*V.shape[:-1], 1), V.dtype)
    k = np.swapaxes(phi(K), -1, -2)
    out = phi(Q) @ (k @ np.concatenate([V, ones], axis=-1))
    return out[..., :-1] / (out[..., -1:] + eps)


@exercise.alternative
def key_blocks(Q, K, V, phi=elu1, eps=0.0):
    """Collect S and z block by block."""
    S = z = 0
    for first in range(0, K.shape[-2], 512):
        k, v = phi(K[..., first : first + 512, :]), V[..., first : first + 512, :]
        S = S + np.matmul(np.swapaxes(k, -1, -2), v)
        z = z + np.sum(k, axis=-2, keepdims=True)
    q = phi(Q)
    return np.matmul(q, S) / (np.sum(q * z, axis=-1, keepdims=True) + eps)


@exercise.alternative
def key_by_key(Q, K, V, phi=elu1, eps=0.0):
    """A loop over the keys: slow, and linear all the same."""
    q, k = phi(Q), phi(K)
    S, z = 0, 0
    for j in range(k.shape[-2]):
        S = S + k[..., j, :, None] * V[..., j, None, :]
        z = z + k[..., j, :]
    return q @ S / ((q * z[..., None, :]).sum(axis=-1, keepdims=True) + eps)


@exercise.alternative
def in_single_precision(Q, K, V, phi=elu1, eps=0.0):
    """The same in float32."""
    return linear_attention(*(x.astype(np.float32) for x in (Q, K, V)), phi, np.float32(eps))


def qkv(rng, *batch, n=4, m=6, d_k=3, d_v=2):
    """Inputs of four different sizes."""
    shapes = (n, d_k), (m, d_k), (m, d_v)
    return tuple(rng.standard_normal((*batch, *shape)) for shape in shapes)


@exercise.check(points=1, visible=True)
def matches_the_formula(call, rng):
    """Row i is Σ_j (φ(q_i)·φ(k_j)) v_j / Σ_j φ(q_i)·φ(k_j) with φ = elu + 1."""
    Q, K, V = qkv(rng)
    agree(call(Q, K, V), linear_attention(Q, K, V), rtol=1e-4)


@exercise.check(points=0.5)
def rows_are_means(call, rng):
    """Values of 1 give outputs of 1; adding 1 to all keys does change the outputs."""
    Q, K, V = qkv(rng, n=5, m=9)
    agree(call(Q, K, np.ones_like(V)), np.ones((5, 2)), rtol=1e-4)
    before, after = (np.asarray(call(Q, keys, V), dtype=float) for keys in (K, K + 1))
    require(before.shape == after.shape == (5, 2), f"the outputs have shape {before.shape}")
    require(np.ptp(before, axis=0).min() > 1e-6, "all outputs are the same")
    require(abs(after - before).max() > 1e-6, "adding 1 to all keys changes nothing")


@exercise.check(points=0.5)
def any_feature_map(call, rng):
    """The feature map that is passed is used, also if it makes more features than d_k."""
    Q, K, V = qkv(rng)
    for phi in (exponential, both):
        agree(call(Q, K, V, phi=given(phi)), linear_attention(Q, K, V, phi), rtol=1e-4)


@exercise.check(points=0.5, after=matches_the_formula)
def no_hidden_epsilon(call, rng):
    """Tiny features need no ε: nothing is added unless `eps` says so, and then just that."""
    Q, K, V = qkv(rng)
    agree(call(Q, K, V), linear_attention(Q, K, V))
    agree(call(Q, K, V, eps=0.5), linear_attention(Q, K, V, eps=0.5))
    one, eight = np.ones((1, 1)), np.full((1, 1), -8.0)
    agree(call(eight, eight, one), one)
    agree(call(eight, eight, one, eps=1e-6), linear_attention(eight, eight, one, eps=1e-6))


@exercise.check(points=1)
def leading_axes(call, rng):
    """Batches and heads, (…, n, d_k), (…, m, d_k), (…, m, d_v), are computed side by side."""
    for batch in ((3,), (2, 3)):
        Q, K, V = qkv(rng, *batch)
        agree(call(Q, K, V), linear_attention(Q, K, V), rtol=1e-4)


def sized(rng, n):
    """As many keys as queries; so wide that n² products, wherever made, take far more time."""
    return qkv(rng, n=n, m=n, d_k=32, d_v=32)


@exercise.check(points=1.5, after=matches_the_formula)
def work_is_linear(call, rng):
    """Arithmetic and memory grow like n: no array has n × m entries, not even in blocks."""
    grows(
        call,
        lambda n: sized(rng, n),
        rows=lambda i, Q, K, V: linear_attention(Q[i], K, V),
        floor=lambda n: 4 * n * 32 * 32,
    )


@exercise.misconception
def builds_the_matrix(Q, K, V, phi=elu1, eps=0.0):
    """You form all n × m products of features first. Which product can be formed before them?"""
    A = phi(Q) @ np.swapaxes(phi(K), -1, -2)
    return A @ V / (A.sum(axis=-1, keepdims=True) + eps)


@exercise.misconception
def matrix_in_blocks(Q, K, V, phi=elu1, eps=0.0):
    """Block by block you still compare every query with every key: memory is saved, work isn't."""
    k = np.swapaxes(phi(K), -1, -2)
    blocks = []
    for first in range(0, Q.shape[-2], 64):
        A = phi(Q[..., first : first + 64, :]) @ k
        blocks.append(A @ V / (A.sum(axis=-1, keepdims=True) + eps))
    return np.concatenate(blocks, axis=-2)


@exercise.misconception(fatal="nothing of the linear method is there")
def softmax_attention(Q, K, V, phi=elu1, eps=0.0):
    """That is softmax attention. The similarity here is a product of features."""
    S = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    A = np.exp(S - S.max(axis=-1, keepdims=True))
    return A / A.sum(axis=-1, keepdims=True) @ V


@exercise.misconception
def relu_plus_one(Q, K, V, phi=elu1, eps=0.0):
    """Your feature map is max(x, 0) + 1, which is the same for all negative x."""
    if phi is not elu1:
        return linear_attention(Q, K, V, phi, eps)
    q, k = np.maximum(Q, 0) + 1, np.maximum(K, 0) + 1
    return q @ (np.swapaxes(k, -1, -2) @ V) / (q @ k.sum(axis=-2)[..., None] + eps)


@exercise.misconception
def relu_alone(Q, K, V, phi=elu1, eps=0.0):
    """Your feature map is max(x, 0). Where all of a query is negative, that divides 0 by 0."""
    q, k = np.maximum(Q, 0), np.maximum(K, 0)
    return q @ (np.swapaxes(k, -1, -2) @ V) / (q @ k.sum(axis=-2)[..., None] + eps)


@exercise.misconception
def no_normaliser(Q, K, V, phi=elu1, eps=0.0):
    """The denominator is missing: the weights of a query should add up to 1."""
    return phi(Q) @ (np.swapaxes(phi(K), -1, -2) @ V)


@exercise.misconception
def features_of_the_scores(Q, K, V, phi=elu1, eps=0.0):
    """You apply φ to the scores. It is applied to queries and keys, before they are multiplied."""
    A = phi(Q @ np.swapaxes(K, -1, -2))
    return A @ V / (A.sum(axis=-1, keepdims=True) + eps)


@exercise.misconception
def bare_queries(Q, K, V, phi=elu1, eps=0.0):
    """φ is applied to the keys alone. Queries need it as well, or weights become negative."""
    return linear_attention(Q, phi(K), V, lambda x: x, eps)


@exercise.misconception
def features_of_the_values(Q, K, V, phi=elu1, eps=0.0):
    """You apply φ to the values as well. They are averaged as they are."""
    return linear_attention(Q, K, phi(V), phi, eps)


@exercise.misconception
def divided_by_the_query_alone(Q, K, V, phi=elu1, eps=0.0):
    """Your denominator doesn't depend on the keys. What do the weights of a query add up to?"""
    return no_normaliser(Q, K, V, phi) / (phi(Q).sum(axis=-1, keepdims=True) + eps)


@exercise.misconception
def divided_by_the_number_of_keys(Q, K, V, phi=elu1, eps=0.0):
    """You divide by the number of keys. What do the weights of a query add up to?"""
    return no_normaliser(Q, K, V, phi) / (K.shape[-2] + eps)


@exercise.misconception
def denominators_added_up(Q, K, V, phi=elu1, eps=0.0):
    """You added up the denominators of all queries. Each query has one of its own."""
    q, k = phi(Q), phi(K)
    total = (q * k.sum(axis=-2, keepdims=True)).sum(axis=(-2, -1), keepdims=True)
    return no_normaliser(Q, K, V, phi) / (total + eps)


@exercise.misconception
def one_normaliser_for_all(Q, K, V, phi=elu1, eps=0.0):
    """You divided by one sum for everything. Each query has a denominator of its own."""
    q = phi(Q) @ (np.swapaxes(phi(K), -1, -2) @ V)
    return q / (q.sum() + eps)


@exercise.misconception(credit=0.4)
def keys_added_up_as_they_are(Q, K, V, phi=elu1, eps=0.0):
    """Your denominator adds up the keys. It is the features of the keys that are added up."""
    q = phi(Q)
    return q @ (np.swapaxes(phi(K), -1, -2) @ V) / (q @ K.sum(axis=-2)[..., None] + eps)


@exercise.misconception(credit=0.4)
def bare_keys(Q, K, V, phi=elu1, eps=0.0):
    """You apply the feature map to the queries, but not to the keys."""
    q = phi(Q)
    return q @ (np.swapaxes(K, -1, -2) @ V) / (q @ K.sum(axis=-2)[..., None] + eps)


@exercise.misconception(credit=0.4)
def mean_for_the_sum(Q, K, V, phi=elu1, eps=0.0):
    """Your denominator takes the mean of the keys' features, the numerator their sum."""
    q, k = phi(Q), phi(K)
    z = k.mean(axis=-2)[..., None]
    return q @ (np.swapaxes(k, -1, -2) @ V) / (q @ z + eps)


@exercise.misconception(credit=0.4)
def queries_scaled(Q, K, V, phi=elu1, eps=0.0):
    """You divided the queries by √d_k before the feature map. Here φ acts on them as they are."""
    return linear_attention(Q / np.sqrt(Q.shape[-1]), K, V, phi, eps)


@exercise.misconception(credit=0.4)
def scaled_like_softmax(Q, K, V, phi=elu1, eps=0.0):
    """You divided by √d_k before the feature map. Here φ acts on queries and keys as they are."""
    root = Q.shape[-1] ** 0.25
    return linear_attention(Q / root, K / root, V, phi, eps)


@exercise.misconception
def feature_map_ignored(Q, K, V, phi=elu1, eps=0.0):
    """Whatever `phi` is passed, you use elu + 1."""
    return linear_attention(Q, K, V, elu1, eps)


@exercise.misconception
def width_taken_for_features(Q, K, V, phi=elu1, eps=0.0):
    """Only the first d_k features are used. A feature map may make more of them."""
    d = Q.shape[-1]
    q, k = phi(Q)[..., :d], phi(K)[..., :d]
    return q @ (np.swapaxes(k, -1, -2) @ V) / (q @ k.sum(axis=-2)[..., None] + eps)


@exercise.misconception
def always_an_epsilon(Q, K, V, phi=elu1, eps=0.0):
    """You always add a small ε below. Beside small features it is not small."""
    return linear_attention(Q, K, V, phi, eps + 1e-6)


@exercise.misconception
def epsilon_on_the_output(Q, K, V, phi=elu1, eps=0.0):
    """You add `eps` to the output. It belongs to the denominator: mind the brackets."""
    return linear_attention(Q, K, V, phi) + eps


@exercise.misconception
def epsilon_ignored(Q, K, V, phi=elu1, eps=0.0):
    """The argument `eps` has no effect: it is added to the denominator."""
    return linear_attention(Q, K, V, phi)


@exercise.misconception
def keys_of_the_first_example(Q, K, V, phi=elu1, eps=0.0):
    """Every example of the batch meets the keys of the first one. `.T` turns all axes round."""
    while K.ndim > 2 and K.shape[0] > 0:
        if Q.ndim == K.ndim:
            K, V = K[:1], V[:1]
        return linear_attention(Q, np.broadcast_to(K, Q.shape[:1] + K.shape[1:]), V, phi, eps)
    return linear_attention(Q, K, V, phi, eps)


@exercise.misconception
def sums_over_the_batch(Q, K, V, phi=elu1, eps=0.0):
    """Keys of all examples are summed up together. Sum over the axis −2 alone."""
    q, k = phi(Q), phi(K)
    every = tuple(range(k.ndim - 1))
    S = (k[..., :, None] * V[..., None, :]).sum(axis=every)
    return q @ S / (q @ k.sum(axis=every)[:, None] + eps)


@exercise.misconception
def normaliser_over_the_first_axis(Q, K, V, phi=elu1, eps=0.0):
    """Your denominator sums over axis 0. Leading axes come before the keys: they are on axis −2."""
    q, k = phi(Q), phi(K)
    below = (q * k.sum(axis=0)[..., None, :]).sum(axis=-1, keepdims=True)
    return q @ (np.swapaxes(k, -1, -2) @ V) / (below + eps)


points_of_x = np.array([-2.0, -1.0, 0.0, 1.0])


@exercise.part(points=0.75, answer=Numbers())
def elu1_values():
    """elu(x) + 1 at x = −2, −1, 0, 1."""
    return elu1(points_of_x)


@elu1_values.misconception()
def elu_without_one():
    """That is elu itself, which goes down to −1. Adding 1 makes it positive everywhere."""
    return elu1(points_of_x) - 1


elu1_values.mistakes(
    exponential_throughout=(
        np.exp(points_of_x),
        "Above 0 it is a straight line, not the exponential.",
    ),
    one_added_twice=(
        np.where(points_of_x > 0, points_of_x + 1, np.exp(points_of_x) + 1),
        "Below 0 elu is exp(x) − 1. Adding 1 gives …?",
    ),
)


@exercise.part(points=0.75, answer=Numbers())
def relu1_values():
    """max(x, 0) + 1 at the same points."""
    return np.maximum(points_of_x, 0) + 1


relu1_values.mistakes(
    relu_without_one=(np.maximum(points_of_x, 0), "Add the 1."),
    added_before_the_maximum=(
        np.maximum(points_of_x + 1, 0),
        "You took max(x + 1, 0). The 1 is added after the maximum.",
    ),
)


@relu1_values.misconception()
def same_as_elu1():
    """These are the values of elu + 1. The two differ below 0."""
    return elu1(points_of_x)


@exercise.part(points=0.75, answer=Numbers())
def with_epsilon():
    """The output for q = k = −8, v = 1 with 10⁻⁶ added to the denominator."""
    return np.exp(-16) / (np.exp(-16) + 1e-6)


with_epsilon.mistakes(
    epsilon_harmless=(1.0, "How large is the denominator? Compare it with 10⁻⁶."),
    features_not_multiplied=(
        np.exp(-8) / (np.exp(-8) + 1e-6),
        "A weight is a product of two features, one of the query and one of the key.",
    ),
    epsilon_alone=(np.exp(-16) / 1e-6, "You divided by ε alone. It is added to the denominator."),
    swallowed_whole=(0.0, "ε is larger than the weight, but not infinitely so. Compute e^(−16)."),
)


@exercise.part(points=0.25, answer=Numbers())
def without_epsilon():
    """The same without it."""
    return 1.0


without_epsilon.mistakes(
    thought_to_vanish=(0.0, "A mean of one value is that value, however small its weight."),
    epsilon_left_in=(np.exp(-16) / (np.exp(-16) + 1e-6), "That is still the result with ε."),
)


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "Choromanski et al. (2021), as the feature map of Performer.",
            "Katharopoulos et al. (2020). Performer uses random features that approximate the "
            "exponential.",
            "Vaswani et al. (2017), as an alternative to the softmax.",
            "Wang et al. (2020), in Linformer.",
        ]
    ),
)
def who():
    """Who proposed elu + 1, and what did Performer use?"""
    return "B"


who.mistakes(
    performer_credited=(
        "A",
        "Often attributed so. Performer set out to approximate the softmax: elu + 1 doesn't.",
    ),
    transformer_credited=("C", "The original transformer has the softmax, and no feature map."),
    low_rank_credited=("D", "Linformer shortens keys and values. It keeps the softmax."),
)
