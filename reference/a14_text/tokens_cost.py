"""What a larger vocabulary saves and what it costs, counted on the text of this course.

Source: Sennrich et al. (2016), section 3.2; Vaswani et al. (2017), table 1, for what is counted.
"""

import numpy as np

from autograder.exercise import Choice, Count, Exercise, Formula, Numbers, data_file

exercise = Exercise(
    "tokens_cost",
    title="What a vocabulary costs",
    source="Sennrich et al. (2016), section 3.2",
    minutes=40,
    hints=[
        "Everything that a model does for a token it does for all bytes of that token. Write down "
        "the cost of a token first, and then ask how many bytes share it.",
        "A look-up multiplies nothing: of the two matrices with V rows or columns only one "
        "takes multiply–adds, both are weights.",
        "For the next merge write down the cost of the whole text twice, before and after: fewer "
        "tokens, each with one logit more. Set the two equal.",
    ],
)

SIZES = np.array([256, 320, 384, 512, 640, 768, 1000])
TOKENS = np.array([351405, 235263, 205277, 173990, 156892, 145383, 130834])
#: Blocks and widths for which neither the smallest nor the largest vocabulary is the best. Most
#: answers depend on L d alone: no two models have the same, so that practice tells nobody's.
MODELS = [
    *{L * d: (L, d) for L in (2, 4, 5, 6, 7) for d in range(8, 51) if 30 <= L * d <= 100}.values()
]


@exercise.variant
def draw(rng):
    """L, d: blocks and width of a model; window: tokens that it sees at once."""
    L, d = MODELS[rng.integers(len(MODELS))]
    return {"L": L, "d": d, "window": 4 * int(rng.integers(12, 129))}


@exercise.part(points=1, answer=Numbers())
def bytes_per_token():
    """Bytes per token for the seven vocabularies."""
    return TOKENS[0] / TOKENS


bytes_per_token.mistakes(
    tokens_that_are_saved=(
        1 - TOKENS / TOKENS[0],
        "That is the share of tokens that is saved. How many bytes stand behind one token?",
    ),
    words_per_token=(63671 / TOKENS, "Those are words for each token. A token has so many bytes."),
    against_the_one_before=(
        [1, *(TOKENS[:-1] / TOKENS[1:])],
        "You compared each vocabulary with the one before it. The bytes of the text stay the same.",
    ),
    tokens_over_vocabulary=(
        TOKENS / SIZES,
        "You divided by the size of the vocabulary. How many tokens share the bytes of the text?",
    ),
    vocabulary_over_tokens=(
        SIZES / TOKENS,
        "You divided the vocabulary by the tokens. How many bytes of the text are behind a token?",
    ),
)


@bytes_per_token.misconception()
def mean_of_the_vocabulary():
    """You took the mean over the vocabulary. Common tokens count as often as they stand."""
    size = [1] * 256
    for one, two in np.load(data_file("a14_text/merges.npy")).astype(int).tolist():
        size.append(size[one] + size[two])
    return [np.mean(size[:V]) for V in SIZES]


@bytes_per_token.misconception()
def merges_for_tokens():
    """You divided by the number of merges. How many tokens share the bytes of the text?"""
    return TOKENS[0] / np.maximum(SIZES - 256, 1)


@exercise.part(points=1, answer=Numbers())
def share(L, d):
    """The share of embedding and output matrix among all weights, for the seven vocabularies."""
    return 2 * SIZES * d / (2 * SIZES * d + 12 * L * d * d)


@share.misconception()
def one_matrix_alone(L, d):
    """There are two matrices with V rows or columns: one that reads tokens, one that writes."""
    return SIZES * d / (SIZES * d + 12 * L * d * d)


@share.misconception()
def ratio_to_the_blocks(L, d):
    """You divided by the weights of the blocks. A share is one of all weights."""
    return 2 * SIZES * d / (12 * L * d * d)


@share.misconception()
def blocks_not_counted(L, d):
    """The model has L blocks, each with 12 d² weights."""
    return 2 * SIZES * d / (2 * SIZES * d + 12 * d * d)


@share.misconception()
def attention_alone(L, d):
    """Attention has 4 d² weights, and the feed-forward layer 8 d² more."""
    return 2 * SIZES * d / (2 * SIZES * d + 4 * L * d * d)


@share.misconception()
def one_of_both_in_the_numerator(L, d):
    """Embedding and output matrix were asked for together."""
    return SIZES * d / (2 * SIZES * d + 12 * L * d * d)


@share.misconception()
def rest_of_the_weights(L, d):
    """That is the share of the blocks."""
    return 12 * L * d * d / (2 * SIZES * d + 12 * L * d * d)


@share.misconception()
def feed_forward_alone(L, d):
    """The feed-forward layer has 8 d² weights, and attention 4 d² more."""
    return 2 * SIZES * d / (2 * SIZES * d + 8 * L * d * d)


@share.misconception()
def width_not_squared(L, d):
    """A block has 12 d² weights, and not 12 d."""
    return 2 * SIZES * d / (2 * SIZES * d + 12 * L * d)


@share.misconception()
def rows_without_a_width(L, d):
    """Each of both matrices has V d weights, and not V."""
    return 2 * SIZES / (2 * SIZES + 12 * L * d * d)


@share.misconception()
def blocks_with_both(L, d):
    """You divided the blocks by the two matrices. Asked for is their share of all weights."""
    return 12 * L * d * d / (2 * SIZES * d)


@exercise.part(points=1.5, answer=Numbers())
def madds_per_byte(L, d, bytes_per_token):
    """Multiply–adds for each byte of text, for the seven vocabularies."""
    return (12 * L * d * d + SIZES * d) / bytes_per_token


@madds_per_byte.misconception()
def cost_of_a_token(L, d):
    """That is the cost of a token. How many bytes share it?"""
    return 12 * L * d * d + SIZES * d


@madds_per_byte.misconception()
def multiplied_by_the_bytes(L, d, bytes_per_token):
    """The more bytes a token has, the less each of them costs."""
    return (12 * L * d * d + SIZES * d) * bytes_per_token


@madds_per_byte.misconception()
def look_up_counted(L, d, bytes_per_token):
    """A row of the embedding is looked up, which multiplies nothing. Only the output does."""
    return (12 * L * d * d + 2 * SIZES * d) / bytes_per_token


@madds_per_byte.misconception()
def output_left_out(L, d, bytes_per_token):
    """For each token the output matrix makes V logits of d numbers."""
    return 12 * L * d * d / bytes_per_token


@madds_per_byte.misconception()
def first_vocabulary_for_all(L, d, bytes_per_token):
    """You took 256 logits everywhere. A larger vocabulary has more."""
    return (12 * L * d * d + 256 * d) / bytes_per_token


@madds_per_byte.misconception()
def whole_text(L, d):
    """That is the cost of the whole text. Divide by its bytes."""
    return (12 * L * d * d + SIZES * d) * TOKENS


@madds_per_byte.misconception()
def logits_without_width(L, d, bytes_per_token):
    """A logit is an inner product of d numbers."""
    return (12 * L * d * d + SIZES) / bytes_per_token


@madds_per_byte.misconception()
def one_block_per_byte(L, d, bytes_per_token):
    """The model has L blocks, and each of them works on every token."""
    return (12 * d * d + SIZES * d) / bytes_per_token


@madds_per_byte.misconception()
def width_of_a_block_not_squared(L, d, bytes_per_token):
    """A block takes 12 d² multiply–adds for a token, and not 12 d."""
    return (12 * L * d + SIZES * d) / bytes_per_token


@madds_per_byte.misconception()
def output_alone(d, bytes_per_token):
    """The blocks are missing: each takes 12 d² multiply–adds for a token."""
    return SIZES * d / bytes_per_token


@exercise.part(points=0.75, answer=Count())
def best(madds_per_byte):
    """The vocabulary with the fewest multiply–adds for each byte, of the seven."""
    return SIZES[np.argmin(madds_per_byte)]


best.mistakes(
    largest_one=(
        1000,
        "The largest vocabulary has the longest tokens. Do the logits of so many tokens pay?",
    ),
    smallest_one=(256, "With 256 a token costs least. What does a byte cost?"),
)


@best.misconception()
def its_place(madds_per_byte):
    """That is its place in the list. Asked for is the vocabulary."""
    return int(np.argmin(madds_per_byte))


@best.misconception()
def one_larger(madds_per_byte):
    """With a smaller one of the seven they are fewer. Does the embedding's look-up multiply?"""
    return SIZES[(np.argmin(madds_per_byte) + 1) % 7]


@best.misconception()
def one_smaller(madds_per_byte):
    """With a larger one they are fewer, unless you count the embedding: a look-up is free."""
    return SIZES[np.argmin(madds_per_byte) - 1]


@best.misconception()
def two_larger(madds_per_byte):
    """With a smaller one of the seven they are fewer: look for the least of your own numbers."""
    return SIZES[(np.argmin(madds_per_byte) + 2) % 7]


@best.misconception()
def two_smaller(madds_per_byte):
    """With a larger one they are fewer, unless you count the embedding: a look-up is free."""
    return SIZES[np.argmin(madds_per_byte) - 2]


@exercise.part(points=1, answer=Formula("n V L d", {"*": "positive"}))
def places():
    """At so many places a pair stands whose merge costs as much as it saves."""
    return "n/(12*L*d + V + 1)"


places.mistakes(
    new_logit_of_the_old_text=(
        "n/(12*L*d + V)",
        "Close. The merged text is shorter, and only its own tokens have the new logit.",
    ),
    output_left_out_of_the_saving=("n/(12*L*d)", "A token that is saved saves its logits as well."),
    blocks_left_out=(
        "n/(V + 1)",
        "A token that is saved saves what the blocks would have done for it.",
    ),
    look_up_of_the_new_row=(
        "2*n/(12*L*d + 2*V + 2)",
        "The new token has a row in the embedding, too, but looking it up multiplies nothing.",
    ),
    two_tokens_saved=(
        "n/(2*(12*L*d + V + 1))",
        "A merge puts one token in the place of two: each place saves one.",
    ),
    both_matrices_counted=(
        "n/(12*L*d + 2*V + 1)",
        "The embedding is looked up, which multiplies nothing: V counts once.",
    ),
    tokens_that_are_left=(
        "n - n/(12*L*d + V + 1)",
        "So many tokens are left. At how many places stood the pair?",
    ),
    share_of_the_tokens=(
        "1/(12*L*d + V + 1)",
        "That is a share of the tokens. Asked for is at how many of n places.",
    ),
    width_not_divided_out=(
        "n*d/(12*L*d + V + 1)",
        "The new logit costs d for each token, and a saved token 12 L d² + V d: divide once more.",
    ),
    logits_at_width_one=(
        "n/(12*L*d^2 + V + 1)",
        "A logit is an inner product of d numbers: it costs d, not 1.",
    ),
    sign_of_the_new_logit=(
        "n/(12*L*d + V - 1)",
        "The tokens that are left have the new logit: n − m of them, not n + m.",
    ),
    new_logit_costs_one=(
        "n/(12*L*d^2 + V*d + d)",
        "A new logit is an inner product of d numbers: it costs d for each token.",
    ),
    one_block_of_all=(
        "n/(12*d + V + 1)",
        "The model has L blocks: a token that is saved saves the work of all of them.",
    ),
    all_logits_anew=(
        "n*(V + 1)/(12*L*d + V + 1)",
        "One merge more makes one logit more for each token, and not V + 1 of them.",
    ),
    width_left_over=(
        "n/(12*L + V + 1)",
        "Each side has a factor d that goes out: a block takes 12 d², a logit d.",
    ),
)


@exercise.part(points=0.5, answer=Numbers(tolerance=0.06))
def first_pays_from(places, L, d):
    """The same for the first merge of all, of the 351,405 bytes."""
    return places(n=351405, V=256, L=L, d=d)


@first_pays_from.misconception()
def of_the_last_vocabulary(places, L, d):
    """That is for the merge behind the last one. At the beginning there are 256 tokens."""
    return places(n=130834, V=1000, L=L, d=d)


@first_pays_from.misconception()
def words_for_bytes(places, L, d):
    """Before the first merge each byte is a token: there are 351,405 of them."""
    return places(n=63671, V=256, L=L, d=d)


@first_pays_from.misconception(credit=0.5)
def rounded_up(places, L, d):
    """You rounded up. The cost stays exactly the same at a number that need not be whole."""
    return np.ceil(places(n=351405, V=256, L=L, d=d))


@first_pays_from.misconception()
def old_vocabulary_in_numbers(places, L, d):
    """Behind the merge there are 257 tokens, and each that is left has so many logits."""
    return places(n=351405, V=255, L=L, d=d)


@first_pays_from.misconception()
def blocks_left_out_in_numbers(places, d):
    """Your model has more than one block: where is its L?"""
    return places(n=351405, V=256, L=1, d=d)


@first_pays_from.misconception()
def tokens_behind_the_merge(places, L, d):
    """You put in the tokens that are left behind the first merge. n is how many come before it."""
    return places(n=351405 - 8186, V=256, L=L, d=d)


@first_pays_from.misconception()
def vocabulary_behind_the_merge(places, L, d):
    """You put in the vocabulary behind the merge. V is how many tokens there are before it."""
    return places(n=351405, V=257, L=L, d=d)


@first_pays_from.misconception()
def both_behind_the_merge(places, L, d):
    """You put in n and V as they are behind the first merge. Both are those before it."""
    return places(n=351405 - 8186, V=257, L=L, d=d)


@first_pays_from.misconception()
def all_vocabulary_at_once(places, L, d):
    """You put in the largest vocabulary. Before the first merge there are 256 tokens."""
    return places(n=351405, V=1000, L=L, d=d)


@first_pays_from.misconception()
def next_vocabulary_of_the_table(places, L, d):
    """Those are the tokens of the vocabulary of 320. Before the first merge there are 351,405."""
    return places(n=235263, V=256, L=L, d=d)


@first_pays_from.misconception()
def places_that_there_are():
    """So many places there are. From how many on does a merge pay?"""
    return 8186.0


@exercise.part(points=0.25, answer=Numbers())
def pairs(bytes_per_token):
    """By which factor the scores of attention over the whole text become fewer, 256 to 1000."""
    return bytes_per_token[6] ** 2 if len(bytes_per_token) == 7 else np.nan


@pairs.misconception()
def as_the_tokens(bytes_per_token):
    """By that factor there are fewer tokens. A score belongs to two of them."""
    return bytes_per_token[6] if len(bytes_per_token) == 7 else np.nan


@pairs.misconception()
def by_the_vocabularies():
    """The vocabularies don't count scores. How many tokens are there before, and after?"""
    return (1000 / 256) ** 2


@pairs.misconception(credit=0.5)
def share_that_is_left(bytes_per_token):
    """That share of the scores is left. How many times fewer are they?"""
    return bytes_per_token[6] ** -2 if len(bytes_per_token) == 7 else np.nan


@pairs.misconception()
def tokens_that_are_fewer(bytes_per_token):
    """By that share there are fewer scores. How many times fewer are they?"""
    return 1 - bytes_per_token[6] ** -2 if len(bytes_per_token) == 7 else np.nan


@pairs.misconception()
def difference_of_scores():
    """You took the difference. Asked for is the factor."""
    return float(TOKENS[0]) ** 2 - float(TOKENS[6]) ** 2


@pairs.misconception()
def of_the_first_step(bytes_per_token):
    """That is from 256 to 320. Asked for is from 256 to 1000."""
    return bytes_per_token[1] ** 2 if len(bytes_per_token) == 7 else np.nan


@exercise.part(points=0.5, answer=Numbers())
def seen(window, bytes_per_token):
    """Bytes that the window holds on average, with 1000 tokens."""
    return window * bytes_per_token[6] if len(bytes_per_token) == 7 else np.nan


@seen.misconception()
def divided_by_the_bytes(window, bytes_per_token):
    """Each token of the window stands for several bytes."""
    return window / bytes_per_token[6] if len(bytes_per_token) == 7 else np.nan


@seen.misconception()
def window_of_bytes(window):
    """Those are tokens. How many bytes has one of them?"""
    return window


@seen.misconception()
def another_vocabulary(window):
    """That is with a vocabulary of 512. Asked for is that of 1000."""
    return window * TOKENS[0] / TOKENS[3]


@seen.misconception()
def one_vocabulary_before(window):
    """That is with a vocabulary of 768. Asked for is that of 1000."""
    return window * TOKENS[0] / TOKENS[5]


@seen.misconception()
def by_the_sizes_of_vocabularies(window):
    """You multiplied by the ratio of the vocabularies. How many bytes has a token?"""
    return window * 1000 / 256


@seen.misconception()
def scores_of_the_window(window, bytes_per_token):
    """You squared. Bytes are counted along the text, not for pairs."""
    return window * bytes_per_token[6] ** 2 if len(bytes_per_token) == 7 else np.nan


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "With more of the same merges no text has more tokens than with fewer of them.",
            "A token that stands at few places has taught its row of the embedding little.",
            "With more blocks the best vocabulary, counted so, is larger or the same.",
            "Twice the vocabulary makes half as many tokens.",
            "The embedding takes as many multiply–adds for a token as it has weights.",
        ],
        multiple=True,
    ),
)
def claims():
    """What is true of vocabularies?"""
    return "ABC"


claims.mistakes(
    merges_may_lengthen=(
        "BC",
        "You left out “With more of the same merges …”. Can a merge make a text longer?",
    ),
    rare_tokens_denied=(
        "AC",
        "You left out “A token that stands at few places …”. When does a row get a gradient?",
    ),
    depth_denied=(
        "AB",
        "You left out “With more blocks …”. What does a saved token save in a deeper model?",
    ),
    halved=(
        "ABCD",
        "You marked “Twice the vocabulary …”. What do 512 tokens make of the text, against 256?",
    ),
    look_up_taken_for_a_product=(
        "ABCE",
        "You marked “The embedding takes …”. What does a look-up multiply?",
    ),
)
