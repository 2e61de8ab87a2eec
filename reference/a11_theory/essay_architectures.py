"""Essay: encoder, decoder, or both?

Source: Vaswani et al. (2017); Devlin et al. (2019), "BERT"; Raffel et al. (2020), "Exploring the
limits of transfer learning with a unified text-to-text transformer".
"""

from autograder.exercise import Count, Essay, Exercise

exercise = Exercise(
    "essay_architectures",
    title="Encoder, decoder, both",
    source="Vaswani et al. (2017); Devlin et al. (2019); Raffel et al. (2020)",
    minutes=60,
    hints=[
        "Draw the tables of scores for three tokens of the source and two of the target, and "
        "shade what a mask hides.",
        "For the essay compare the areas of your drawings: which grow with the source, which with "
        "the target, which with both? Then let the target grow by a token: which keys and values "
        "are new?",
    ],
)


@exercise.variant
def draw(rng):
    """n: tokens of the source, m: tokens of the target."""
    return {
        "n": int(rng.choice([384, 512, 640, 768, 1024])),
        "m": int(rng.choice([64, 96, 128, 160, 192])),
    }


@exercise.part(points=1, answer=Count())
def entries(n, m):
    """Scores that are used: encoder on the source; decoder on both; encoder and decoder."""
    return [n * n, (n + m) * (n + m + 1) // 2, n * n + n * m + m * (m + 1) // 2]


@entries.misconception()
def masks_forgotten(n, m):
    """A decoder's mask leaves about half of the scores of its own tokens unused."""
    return [n * n, (n + m) ** 2, n * n + n * m + m * m]


@entries.misconception()
def unmasked_source_and_target(n, m):
    """The decoder that reads both has one causal mask over all of them."""
    return [n * n, (n + m) ** 2, n * n + n * m + m * (m + 1) // 2]


@entries.misconception()
def source_unmasked(n, m):
    """Your decoder reads the source both ways. Its causal mask goes over source and target."""
    both = n * n + n * m + m * (m + 1) // 2
    return [n * n, both, both]


@entries.misconception()
def cross_forgotten(n, m):
    """The decoder attends to the source, too."""
    return [n * n, (n + m) * (n + m + 1) // 2, n * n + m * (m + 1) // 2]


@entries.misconception()
def own_token_hidden(n, m):
    """A token sees itself."""
    return [n * n, (n + m) * (n + m - 1) // 2, n * n + n * m + m * (m - 1) // 2]


@entries.misconception()
def half_of_the_square(n, m):
    """Half of the square holds half of the diagonal. Every token sees itself in full."""
    return [n * n, (n + m) ** 2 // 2, n * n + n * m + m * m // 2]


@entries.misconception()
def masked_encoder(n, m):
    """An encoder has no causal mask."""
    half = n * (n + 1) // 2
    return [half, (n + m) * (n + m + 1) // 2, half + n * m + m * (m + 1) // 2]


@exercise.part(points=8, answer=Essay())
def essay():
    """Which of the three would you build for which task, and why?

    (1) 2 points. Who sees whom, and what is predicted: both sides, masked tokens; the past, every
    next token; source on both sides and target's past, target tokens.

    (2) 2 points. Cost with the essay's own numbers, the m² of the target's own scores included; a
    decoder alone pays for the source at about half of n², since it is masked.

    (3) 2 points. What is cached while text is generated: keys and values of all earlier tokens; of
    the source once, and of the target's earlier tokens; an encoder generates nothing.

    (4) 2 points. What each fits, with one example for each of the three.
    """
    return (
        "In an encoder every token sees both sides; it is trained to restore masked tokens, so "
        "only a fraction of the positions, 15 % in BERT, gives a signal. A decoder sees the past, "
        "and every position predicts the next token. With both, the source is seen from both "
        "sides, the target sees its past and all of the source, and the loss is on the target. "
        "Scores: n² for the encoder, (n + m)(n + m + 1)/2 for the decoder on source and target, "
        "n² + nm + m(m + 1)/2 for both. Of the two that generate the decoder alone is the "
        "cheaper: its mask halves the source's square, which is most of it when m is small. The "
        "target's own m² is small in my numbers and decides when answers get long. Parameters are "
        "another matter: encoder and decoder together have more than twice those of one decoder. "
        "While text is generated a decoder keeps keys and values of all n + m tokens. With both, "
        "those of the source are computed once for the cross-attention and never grow, and the "
        "target's own are added token by token. An encoder has nothing to cache. So I would take "
        "an encoder to label sentences or to find documents, since it reads in both directions "
        "and writes nothing; a decoder for dialogue, where there is no clear source; both for "
        "translation, where the source is given and is read whole. These are matches of structure "
        "and task: large decoders translate well, too."
    )


@essay.sample(points=6)
def nothing_cached():
    """(1) 2, (2) 2, (3) 0, (4) 2.

    (3): no word about generation.
    """
    return (
        "An encoder reads in both directions and is trained with masked words; a decoder predicts "
        "every next word from the past; an encoder–decoder reads the source in both directions "
        "and predicts the target from left to right. For n = 512 and m = 128 there are 262,144, "
        "205,120 and 335,936 scores: n² for the source, nm for the cross-attention and m(m + 1)/2 "
        "for the target. The decoder is cheaper than the encoder although it has more tokens, "
        "since its matrix is triangular. I would use an encoder for sentiment, a decoder for "
        "chat, an encoder–decoder for translation."
    )


@essay.sample(points=3)
def one_winner():
    """(1) 1, (2) 0, (3) 1, (4) 1.

    (1): visibility, without the training signal. (2): no numbers. (3): a cache is named, and not
    what is in it. (4): one example.
    """
    return (
        "BERT sees left and right and GPT only left, so BERT understands better. Still everybody "
        "uses decoders today, because they can be used for everything and have a KV cache which "
        "makes them fast. The encoder–decoder is the original architecture for translation, but "
        "it is more complicated since it has cross-attention. I would always choose a decoder."
    )
