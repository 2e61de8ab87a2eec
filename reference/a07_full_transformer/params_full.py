"""One function that counts what a transformer learns: matrices, biases, norms and embeddings.

Source: Vaswani et al. (2017), "Attention is all you need", sections 3.3, 3.4 and 5.4.
"""

from fractions import Fraction

from autograder.exercise import Count, Exercise, Formula, agree

exercise = Exercise(
    "params_full",
    title="Everything counted",
    source="Vaswani et al. (2017), sections 3.3 and 3.4",
    minutes=65,
    hints=[
        "Add to the matrices: a bias for each map, as long as what comes out, and two numbers"
        " per feature for each norm.",
        "Count the norms: an encoder layer has one behind each of its sublayers, and so has a"
        " decoder layer.",
    ],
)


@exercise.variant
def draw(rng):
    """d: width; h: heads; f: feed-forward width."""
    d = int(rng.choice([192, 256, 320, 384, 512, 640, 768, 896, 1024]))
    return {"d": d, "h": int(rng.choice([4, 8, 16])), "f": int(d * rng.choice([2.5, 3.5, 6, 7]))}


def attention(d, bias=True):
    """Count the numbers of an attention sublayer."""
    return 4 * (d * d + bias * d)


def feed_forward(d, f, bias=True):
    """Count the numbers of a feed-forward sublayer."""
    return 2 * d * f + bias * (d + f)


@exercise.part(points=1, answer=Count())
def encoder_layer(d, f):
    """All that one encoder layer learns: matrices, biases, norms."""
    return attention(d) + feed_forward(d, f) + 4 * d


@encoder_layer.misconception()
def without_norms(d, f):
    """4d are missing: the norms of both sublayers, or the biases of the attention."""
    return attention(d) + feed_forward(d, f)


@encoder_layer.misconception()
def without_biases(d, f):
    """The biases are missing: every linear map has one number for each of its outputs."""
    return attention(d, False) + feed_forward(d, f, False) + 4 * d


@encoder_layer.misconception()
def one_norm(d, f):
    """You counted one norm, or no shifts. Each sublayer is followed by a norm with both."""
    return attention(d) + feed_forward(d, f) + 2 * d


@encoder_layer.misconception()
def one_vector_for_the_norms(d, f):
    """You counted one vector for both norms. Each of them learns a scale and a shift."""
    return attention(d) + feed_forward(d, f) + d


@encoder_layer.misconception()
def attention_times_heads(d, f, h):
    """You multiplied by the number of heads. The heads share the width."""
    return h * attention(d) + feed_forward(d, f) + 4 * d


@encoder_layer.misconception()
def one_inner_bias(d, f):
    """Both matrices of the feed-forward layer have a bias: as long as the inner width, and d."""
    return attention(d) + 2 * d * f + f + 4 * d


@encoder_layer.misconception()
def no_inner_biases(d, f):
    """Attention has its biases in your count. Both maps of the feed-forward layer have one, too."""
    return attention(d) + feed_forward(d, f, False) + 4 * d


@encoder_layer.misconception()
def second_bias_too_long(d, f):
    """You gave both feed-forward maps a bias of length f. It is as long as what comes out."""
    return attention(d) + 2 * d * f + 2 * f + 4 * d


@encoder_layer.misconception()
def inner_bias_too_short(d, f):
    """You gave both feed-forward maps a bias of length d. It is as long as what comes out."""
    return attention(d) + 2 * d * f + 2 * d + 4 * d


@exercise.part(points=1, answer=Count())
def decoder_layer(d, f, encoder_layer):
    """All that one decoder layer learns."""
    return encoder_layer + attention(d) + 2 * d


@decoder_layer.alternative
def norms_as_in_the_encoder(d, f, encoder_layer):
    """One more norm, as large as the two of the encoder layer are."""
    norms = encoder_layer - attention(d) - feed_forward(d, f)
    return encoder_layer + attention(d) + norms / 2


@decoder_layer.alternative
def biases_as_in_the_encoder(d, f, encoder_layer):
    """Biases in the additional sublayer if the encoder layer has them."""
    without = attention(d, False) + feed_forward(d, f, False) + 4 * d
    return encoder_layer + attention(d, encoder_layer != without) + 2 * d


@decoder_layer.alternative
def attention_biases_as_in_the_encoder(d, f, encoder_layer):
    """Biases in both attentions if the encoder layer's has them."""
    bare = attention(d, False) + feed_forward(d, f) + 4 * d
    return encoder_layer + attention(d, encoder_layer != bare) + 2 * d


@decoder_layer.misconception()
def no_cross_attention(encoder_layer):
    """This is an encoder layer. Which sublayer has a decoder layer in addition?"""
    return encoder_layer


@decoder_layer.misconception()
def third_norm_forgotten(d, encoder_layer):
    """The additional sublayer is followed by a norm, too."""
    return encoder_layer + attention(d)


@decoder_layer.misconception()
def two_encoder_layers(encoder_layer):
    """You doubled the encoder layer. One sublayer comes in addition, and its norm."""
    return 2 * encoder_layer


@decoder_layer.misconception()
def additional_biases_forgotten(d, encoder_layer):
    """The maps of the additional sublayer have biases, too."""
    return encoder_layer + attention(d, False) + 2 * d


@exercise.part(
    points=1,
    answer=Formula(
        "d", practice=("What an encoder layer learns for f = 2d, in d.", "8*d^2 + 11*d")
    ),
)
def encoder_formula(encoder_layer, d, f):
    """What an encoder layer learns for f = 4d, in d."""
    missing = attention(d) + feed_forward(d, f) + 4 * d - encoder_layer
    return f"12*d**2 + 13*d - {Fraction(int(missing), d)}*d"


@encoder_formula.alternative
def biases_as_counted(encoder_layer, d, f):
    """With a bias for the inner width, or with what else was counted."""
    biases = encoder_layer - attention(d, False) - feed_forward(d, f, False) - 4 * d
    multiple = 9 if biases == 5 * d + f else Fraction(int(biases), d)
    return f"12*d**2 + 4*d + {multiple}*d"


encoder_formula.mistakes(
    formula_of_matrices=(
        "12*d**2",
        "These are the matrices. Biases and norms add a multiple of d.",
    ),
    formula_without_norms=(
        "12*d**2 + 9*d",
        "4d are missing: the norms of both sublayers, or the biases of the attention.",
    ),
    formula_with_one_norm=(
        "12*d**2 + 11*d",
        "You counted one norm, or no shifts. Each sublayer is followed by a norm with both.",
    ),
    formula_without_biases=(
        "12*d**2 + 4*d",
        "The biases are missing: every linear map has one number for each of its outputs.",
    ),
)


@exercise.part(
    points=1,
    answer=Formula(
        "d", practice=("What a decoder layer learns for f = 2d, in d.", "12*d^2 + 17*d")
    ),
)
def decoder_formula(encoder_formula, encoder_layer, decoder_layer, d):
    """What a decoder layer learns for f = 4d, in d."""
    more = Fraction(int(decoder_layer - encoder_layer), d)  # nothing in it depends on f
    return f"{encoder_formula.expression} + {more - 4 * d}*d + 4*d**2"


decoder_formula.mistakes(
    decoder_matrices=("16*d**2", "These are the matrices. Biases and norms add a multiple of d."),
    formula_of_an_encoder_layer=(
        "12*d**2 + 13*d",
        "This is an encoder layer. Which sublayer has a decoder layer in addition?",
    ),
    formula_of_two_encoder_layers=(
        "24*d**2 + 26*d",
        "You doubled the encoder layer. One sublayer comes in addition, and its norm.",
    ),
    decoder_without_biases=(
        "16*d**2 + 6*d",
        "The biases are missing: every linear map has one number for each of its outputs.",
    ),
    decoder_scales_alone=(
        "16*d**2 + 16*d",
        "Your norms learn one vector each. Is there a shift beside the scale?",
    ),
    two_norms_only=(
        "16*d**2 + 17*d",
        "You counted the norms of an encoder layer. A decoder layer has one more sublayer.",
    ),
    additional_biases_left_out=(
        "16*d**2 + 15*d",
        "The maps of the additional sublayer have biases, too.",
    ),
    decoder_without_norms=(
        "16*d**2 + 13*d",
        "The norms are missing: each sublayer is followed by one.",
    ),
)


@exercise.reference
def count(config: dict) -> int:
    """Return how many numbers a transformer of this description learns."""
    d, bias, norms = config["d"], config["bias"], config["norms"]
    return (
        stacks(config, attention(d, bias), feed_forward(d, config["f"], bias), 2 * d * norms)
        + final_norms(config)
        + embeddings(config)
    )


def stacks(config, attention, feed_forward, norm):
    """Add up the layers, given what each of their pieces has."""
    in_encoder = attention + feed_forward + 2 * norm
    in_decoder = 2 * attention + feed_forward + 3 * norm
    return config["L_enc"] * in_encoder + config["L_dec"] * in_decoder


def present(config):
    """Count the stacks that have layers."""
    return (config["L_enc"] > 0) + (config["L_dec"] > 0)


def final_norms(config):
    """Count the norms behind the stacks."""
    return 2 * config["d"] * present(config) * config["final_norm"]


def embeddings(config):
    """Count the one matrix, or an input matrix per stack, an output matrix and its bias."""
    V, d = config["V"], config["d"]
    return V * d if config["tied"] else (present(config) + 1) * V * d + V * config["bias"]


@exercise.alternative
def from_lists_of_shapes(config):
    """List the shapes of everything, and multiply."""
    d, f, V = (config[name] for name in ("d", "f", "V"))

    def linear(inside, outside):
        return [(inside, outside)] + [(outside,)] * bool(config["bias"])

    norm = [(d,), (d,)]
    attend = [shape for _ in range(4) for shape in linear(d, d)]
    think = linear(d, f) + linear(f, d)
    normed = norm if config["norms"] else []
    shapes = config["L_enc"] * (attend + think + 2 * normed)
    shapes += config["L_dec"] * (2 * attend + think + 3 * normed)
    for layers in (config["L_enc"], config["L_dec"]):
        if layers:
            shapes += norm if config["final_norm"] else []
            shapes += [] if config["tied"] else [(V, d)]
    shapes += [(V, d)] if config["tied"] else linear(d, V)
    total = 0
    for shape in shapes:
        size = 1
        for side in shape:
            size *= side
        total += size
    return total


@exercise.alternative
def by_closed_form(config):
    """Collect the powers of the width first."""
    d, f, e, D = config["d"], config["f"], config["L_enc"], config["L_dec"]
    total = 4 * d * d * (e + 2 * D) + 2 * d * f * (e + D)
    if config["bias"]:
        total += 4 * d * (e + 2 * D) + (d + f) * (e + D)
    if config["norms"]:
        total += 2 * d * (2 * e + 3 * D)
    used = int(e != 0) + int(D != 0)
    if config["final_norm"]:
        total += 2 * d * used
    if config["tied"]:
        return total + config["V"] * d
    return total + (used + 1) * config["V"] * d + (config["V"] if config["bias"] else 0)


@exercise.alternative
def layer_by_layer(config):
    """Walk through the model and add up."""
    d, f, V = config["d"], config["f"], config["V"]
    b = 1 if config["bias"] else 0
    n = 2 * d if config["norms"] else 0
    total = V * d
    for layers, attentions in ((config["L_enc"], 1), (config["L_dec"], 2)):
        for _ in range(layers):
            for _ in range(attentions):
                total += 4 * (d + b) * d + n
            total += (d + b) * f + (f + b) * d + n
        if layers and config["final_norm"]:
            total += d + d
        if layers and not config["tied"]:
            total += V * d
    if not config["tied"]:
        total += b * V
    return total


def described(rng, **given):
    """Describe a model without extras: no biases, norms and vocabulary unless given."""
    d = int(rng.choice([10, 12, 14, 18, 22]))
    plain = {"d": d, "f": d * 3 + int(rng.integers(1, 7)), "L_enc": 0, "L_dec": 0, "V": 0}
    extras = {"bias": False, "norms": False, "tied": True, "final_norm": False}
    return plain | extras | given


@exercise.check(points=1, visible=True)
def encoders(call, rng):
    """The matrices of the layers of an encoder, and then its biases."""
    for bias in (False, True):
        config = described(rng, L_enc=int(rng.integers(2, 9)), bias=bias)
        agree(call(config), count(config), what="the count", credit=0.5 * bias)


@exercise.check(points=1)
def decoders(call, rng):
    """The matrices of the layers of a decoder, and then its biases."""
    for bias in (False, True):
        config = described(rng, L_dec=int(rng.integers(2, 9)), bias=bias)
        agree(call(config), count(config), what="the count", credit=0.5 * bias)


@exercise.check(points=1)
def both_stacks(call, rng):
    """Encoder and decoder together, with different numbers of layers."""
    few = int(rng.integers(1, 4))
    config = described(rng, L_enc=few, L_dec=few + int(rng.integers(1, 4)))
    agree(call(config), count(config), what="the count")


@exercise.check(points=2)
def norms_of_layers(call, rng):
    """What the norms add to an encoder, and what they add to a decoder."""
    models = [described(rng, **{stack: int(rng.integers(2, 9))}) for stack in ("L_enc", "L_dec")]
    added = [call(config | {"norms": True}) - call(config) for config in models]
    right = [count(config | {"norms": True}) - count(config) for config in models]
    agree(added[0], right[0], what="what the norms add to an encoder")
    agree(added[1], right[1], what="what the norms add to a decoder", credit=0.5)


@exercise.check(points=1)
def final_norms_of_the_stacks(call, rng):
    """What the final norms add: one behind each stack that has layers."""
    for L_enc, L_dec in ((0, 1), (1, 0), (3, 2)):
        config = described(rng, L_enc=L_enc, L_dec=L_dec)
        added = call(config | {"final_norm": True}) - call(config)
        agree(added, final_norms(config | {"final_norm": True}), what="what final norms add")


@exercise.check(points=1)
def tied_embedding(call, rng):
    """What a vocabulary adds if one matrix serves everywhere."""
    config = described(rng, L_enc=2, L_dec=3)
    V = int(rng.integers(50, 90))
    agree(call(config | {"V": V}) - call(config), V * config["d"], what="what the vocabulary adds")


@exercise.check(points=1)
def separate_embeddings(call, rng):
    """What a vocabulary adds if every use has a matrix of its own, without and with a bias."""
    V = int(rng.integers(50, 90))
    models = [
        described(rng, L_enc=L_enc, L_dec=L_dec, tied=False, bias=bias)
        for L_enc, L_dec, bias in ((2, 3, False), (4, 0, False), (0, 4, False), (3, 2, True))
    ]
    added = [call(config | {"V": V}) - call(config) for config in models]
    for config, more in zip(models, added, strict=True):
        agree(more, embeddings(config | {"V": V}), what="what the vocabulary adds")


@exercise.check(points=1)
def everything_together(call, rng):
    """Whole models, with everything."""
    extras = {"bias": True, "norms": True, "final_norm": True, "V": 71}
    for tied in (True, False):
        config = described(rng, L_enc=3, L_dec=5) | extras | {"tied": tied}
        agree(call(config), count(config), what="the count")


@exercise.misconception
def cross_attention_forgotten(config):
    """Your decoder layers have one attention. They look at the source as well."""
    missing = attention(config["d"], config["bias"]) * config["L_dec"]
    return count(config) - missing


@exercise.misconception
def biases_of_one_attention(config):
    """The second attention of your decoder layers has no biases. Its maps have them, too."""
    return count(config) - 4 * config["d"] * config["bias"] * config["L_dec"]


@exercise.misconception
def decoder_norm_forgotten(config):
    """Your decoder layers have two norms. Each of their three sublayers has one."""
    return count(config) - 2 * config["d"] * config["norms"] * config["L_dec"]


@exercise.misconception
def one_norm_per_layer(config):
    """Your layers have one norm each. Every sublayer has one."""
    layers = config["L_enc"] + 2 * config["L_dec"]
    return count(config) - 2 * config["d"] * config["norms"] * layers


@exercise.misconception
def scale_without_shift(config):
    """Your norms have a scale alone. They learn a shift as well."""
    norms = config["norms"] * (2 * config["L_enc"] + 3 * config["L_dec"])
    return count(config) - config["d"] * norms - final_norms(config) // 2


@exercise.misconception
def biases_always(config):
    """You count biases also where `bias` is False."""
    return count(config | {"bias": True})


@exercise.misconception
def biases_never(config):
    """You never count biases."""
    return count(config | {"bias": False})


@exercise.misconception
def inner_bias_as_wide_as_the_model(config):
    """The first bias of a feed-forward layer is as long as its inner width."""
    layers = config["L_enc"] + config["L_dec"]
    return count(config) + config["bias"] * layers * (config["d"] - config["f"])


@exercise.misconception
def four_times_d(config):
    """You took 4d for the inner width. It is in the description."""
    return count(config | {"f": 4 * config["d"]})


@exercise.misconception
def one_matrix_in_the_feed_forward(config):
    """A feed-forward layer has two matrices: it widens, and narrows again."""
    return count(config) - config["d"] * config["f"] * (config["L_enc"] + config["L_dec"])


@exercise.misconception
def as_many_layers_in_both(config):
    """You took as many layers in the decoder as in the encoder, or the other way round."""
    larger = max(config["L_enc"], config["L_dec"])
    both = config["L_enc"] and config["L_dec"]
    return count(config | ({"L_enc": larger, "L_dec": larger} if both else {}))


@exercise.misconception
def final_norms_forgotten(config):
    """`final_norm` has no effect."""
    return count(config | {"final_norm": False})


@exercise.misconception
def one_final_norm(config):
    """You counted one final norm. There is one behind each stack."""
    return count(config) - final_norms(config) + 2 * config["d"] * config["final_norm"]


@exercise.misconception
def final_norm_in_every_layer(config):
    """You put a final norm into every layer. There is one behind each stack."""
    layers = config["L_enc"] + config["L_dec"]
    return count(config) - final_norms(config) + 2 * config["d"] * config["final_norm"] * layers


@exercise.misconception
def tied_counted_three_times(config):
    """A tied matrix is one matrix: what is shared is counted once."""
    uses = present(config) if config["tied"] else 0
    return count(config) + uses * config["V"] * config["d"]


@exercise.misconception
def always_tied(config):
    """Without tying, every use of the vocabulary has a matrix of its own."""
    return count(config | {"tied": True})


@exercise.misconception
def output_matrix_forgotten(config):
    """Untied, the map to the logits has a matrix of its own, too."""
    return count(config) - (not config["tied"]) * config["V"] * config["d"]


@exercise.misconception
def one_embedding_for_both_stacks(config):
    """Untied, encoder and decoder have an embedding each. You gave them one together."""
    shared = 0 if config["tied"] else max(present(config) - 1, 0)
    return count(config) - shared * config["V"] * config["d"]


@exercise.misconception
def embeddings_of_an_absent_stack(config):
    """You gave an embedding to a stack without layers."""
    absent = 0 if config["tied"] else 2 - present(config)
    return count(config) + absent * config["V"] * config["d"]


@exercise.misconception
def output_bias_forgotten(config):
    """Where there are biases, an untied map to the logits has one as well."""
    return count(config) - (not config["tied"]) * config["V"] * config["bias"]


@exercise.misconception
def vocabulary_forgotten(config):
    """The vocabulary has no effect in your count."""
    return count(config | {"V": 0})
