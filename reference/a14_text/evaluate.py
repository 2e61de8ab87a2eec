"""Ten questions: what counts as right, and how little ten of them prove.

Source: Wilson (1927), "Probable inference, the law of succession, and statistical inference";
Rajpurkar et al. (2016), "SQuAD"; Brown et al. (2020), "Language models are few-shot learners".
"""

import re
import string
from functools import cache

import numpy as np

from autograder.algebra import Fact, IndexedChain
from autograder.exercise import Choice, Count, Derivation, Exercise, Numbers, agree, data_file

exercise = Exercise(
    "evaluate",
    title="Ten questions prove little",
    source="Wilson (1927); Rajpurkar et al. (2016); Brown et al. (2020), section 4",
    minutes=70,
    hints=[
        "Put both texts of a pair through the four steps, one below the other, and only then "
        "compare them: what is left has to be the same, not merely to be in there.",
        "Wilson asks which true shares p make the observed one likely enough: it solves "
        "(k/n − p)² = z² p (1 − p)/n for p, which is quadratic.",
        "All questions are independent of each other, and so are the models: what becomes of "
        "variances where independent numbers are added, and where a number is divided by n?",
    ],
)

Z = 1.96
ASKED = {
    "softmax": ("Softmax.", "softmax function", "sigmoid"),
    "the mask": ("Mask", "the causal mask", "the scale"),
    "3": ("3.", "3 or 4", "4"),
    "a key": ("The key.", "a key and a value", "a query"),
    "layer norm": ("Layer  norm", "layer norm, twice", "batch norm"),
    "the values": ("values!", "mean of values", "the keys"),
    "rank": ("the Rank", "rank of scores", "trace"),
    "an encoder": ("Encoder", "encoder and decoder", "a decoder"),
    "dropout": ("DROPOUT", "some dropout", "noise"),
    "the first token": ("First token.", "the first tokens", "the last token"),
    "Gumbel noise": ("gumbel noise", "more Gumbel noise", "normal noise"),
    "linear": ("Linear.", "linear in n", "quadratic"),
    "twice": ("“Twice”", "twice as often", "once"),
    "one": ("One.", "one of two", "none"),
}


@exercise.variant
def draw(rng):
    """answers: what is right and what a model wrote; k, n: right answers of all; sentences."""
    asked = [*ASKED.items()]
    chosen = [asked[i] for i in rng.permutation(len(asked))[:10]]
    exactly, nearly, inside = int(rng.integers(2, 4)), int(rng.integers(2, 4)), 2
    answers = {}
    for place, which in enumerate(rng.permutation(10)):
        right, (alike, more, other) = chosen[place]
        forms = [right] * exactly + [alike] * nearly + [more] * inside + [other] * 10
        answers[f"Q{place + 1}"] = f"{right} | {forms[which]}"
    n = int(rng.integers(18, 61))
    share = rng.uniform(0.75, 0.95)
    return {
        "answers": answers,
        "k": round(n * share),
        "n": n,
        "sentences": dict(zip("ABCDEF", shown(rng), strict=True)),
    }


@cache
def lessons():
    """The text on which models are trained."""
    return data_file("a14_text/course.txt").read_text(encoding="utf-8")


@cache
def small_lessons():
    """The same in small letters, its lines as they are."""
    return lessons().lower()


@cache
def joined_lessons():
    """The same in one line, its letters as they are."""
    return " ".join(lessons().split())


@cache
def pool():
    """Sentences that stand in the lessons: in one line, over the end of one; and that don't."""
    known, broken, altered = [], [], []
    for each in data_file("a14_text/sentences.txt").read_text(encoding="utf-8").splitlines():
        (known if each in lessons() else broken if each in joined_lessons() else altered).append(
            each
        )
    return known, broken, altered


def shown(rng):
    """Six sentences: one as it stands in the file, one broken there, one recased, two altered."""
    known, broken, altered = (rng.permutation(each).tolist() for each in pool())
    recased = known[1].upper() if rng.random() < 0.5 else known[1].lower().rstrip(".")
    last = broken[1] if rng.random() < 0.5 else altered[2]
    return rng.permutation([known[0], broken[0], recased, *altered[:2], last]).tolist()


def pairs(answers):
    """The right text and the written one, for every question."""
    return [tuple(text.split(" | ")) for text in answers.values()]


MARKS = string.punctuation + "“”‘’…"
DELETED = str.maketrans("", "", MARKS)


def normal(text, *, lower=True, marks=True, articles=True):
    """A text as it is compared."""
    text = text.lower() if lower else text
    text = text.translate(DELETED) if marks else text
    text = re.sub(r"\b(a|an|the)\b", " ", text) if articles else text
    return " ".join(text.split())


@exercise.part(points=0.75, answer=Count())
def right(answers):
    """How many of the ten are right: letter for letter, and after both texts were normalised."""
    both = pairs(answers)
    return [sum(a == b for a, b in both), sum(normal(a) == normal(b) for a, b in both)]


@right.misconception()
def contained_is_enough(answers):
    """You counted answers that hold the right one among other words. It has to be all there is."""
    both = pairs(answers)
    return [sum(a == b for a, b in both), sum(normal(a) in normal(b) for a, b in both)]


@right.misconception(credit=0.5)
def articles_left_in(answers):
    """Articles go as well: “the mask” and “mask” are the same answer."""
    both = pairs(answers)
    kept = [normal(a, articles=False) == normal(b, articles=False) for a, b in both]
    return [sum(a == b for a, b in both), sum(kept)]


@right.misconception()
def exactly_but_for_letters(answers):
    """Exactly means letter for letter: a large letter for a small one is a difference."""
    both = pairs(answers)
    return [sum(a.lower() == b.lower() for a, b in both), right_numbers(answers)[1]]


@right.misconception()
def exchanged_rules(answers):
    """You exchanged the two. Which of the rules is the stricter one?"""
    return right_numbers(answers)[::-1]


@right.misconception()
def counted_apart(answers):
    """What is right letter for letter is right after normalising as well."""
    exactly, normalised = right_numbers(answers)
    return [exactly, normalised - exactly]


@right.misconception()
def wrong_ones_counted(answers):
    """You counted what is wrong. Asked for is how many are right."""
    return [len(answers) - each for each in right_numbers(answers)]


def right_numbers(answers):
    """The two numbers."""
    both = pairs(answers)
    return [sum(a == b for a, b in both), sum(normal(a) == normal(b) for a, b in both)]


@exercise.reference
def normalise(text: str) -> str:
    """Return a text with small letters, without marks and articles, and with single blanks."""
    return normal(text)


@exercise.alternative
def word_by_word(text):
    """Go through the letters, then through the words."""
    kept = "".join(letter for letter in text.lower() if letter not in MARKS)
    return " ".join(word for word in kept.split() if word not in ("a", "an", "the"))


@exercise.alternative
def by_patterns(text):
    """Everything by regular expressions."""
    text = re.sub("[" + re.escape(MARKS) + "]", "", text.casefold())
    text = re.sub(r"(?:^|(?<=\s))(?:a|an|the)(?=\s|$)", "", text)
    return re.sub(r"\s+", " ", text).strip()


@exercise.alternative
def by_filter(text):
    """With filters, and the articles as a set."""
    articles = {"a", "an", "the"}
    words = "".join(filter(lambda c: c not in MARKS, text)).lower().split()
    return " ".join(filter(lambda word: word not in articles, words))


@exercise.check(points=0.25, visible=True)
def as_in_the_text(call, rng):
    """The examples of the text."""
    for text in ("The  Softmax.", " “An encoder”! ", "d_k = 64"):
        agree(call(text), normalise(text))


@exercise.check(points=0.5)
def whole_words_alone(call, rng):
    """Only whole words are articles, marks go before articles are looked for, and blanks close."""
    for text in (
        "A theorem about another theatre",
        "“The” Answer: (a) the map",
        "the\tfirst\n token  ",
        "An apple, a pear and the area",
        "It’s the well-known A.",
        "One — two · √2 × 3",
        "x" * int(rng.integers(1, 5)) + " The THE the",
    ):
        agree(call(text), normalise(text))


@exercise.check(points=0.25)
def nothing_to_do(call, rng):
    """What is normal stays as it is, and of nothing but marks and articles nothing is left."""
    for text in ("two layers", "softmax of scores", "The a, an!", ""):
        agree(call(text), normalise(text))
        agree(call(normalise(text)), normalise(text))


@exercise.misconception
def letters_left_large(text):
    """Large letters stay large: `Softmax` and `softmax` are the same answer."""
    text = normal(text, lower=False, articles=False)
    return " ".join(re.sub(r"\b([aA]|[aA]n|[tT]he|THE)\b", " ", text).split())


@exercise.misconception(credit=0.5)
def large_letters_everywhere(text):
    """Large letters stay large, and so articles with one are not found."""
    words = normal(text, lower=False, articles=False).split()
    return " ".join(word for word in words if word not in ("a", "an", "the"))


@exercise.misconception(credit=0.5)
def articles_before_all(text):
    """You look for articles first. By then they may be large, or stand between marks."""
    words = [word for word in text.split() if word not in ("a", "an", "the")]
    return normal(" ".join(words), articles=False)


@exercise.misconception(credit=0.5)
def typographic_marks_left(text):
    """Of the marks “ ” ‘ ’ and … stay: `string.punctuation` doesn't have them."""
    text = text.lower().translate(str.maketrans("", "", string.punctuation))
    return " ".join(word for word in text.split() if word not in ("a", "an", "the"))


@exercise.misconception
def marks_left(text):
    """Marks stay in the text."""
    return normal(text, marks=False)


@exercise.misconception
def articles_kept(text):
    """Articles stay in the text."""
    return normal(text, articles=False)


@exercise.misconception(credit=0.5)
def articles_inside_words(text):
    """You cut `a`, `an` and `the` out of longer words, too: `theorem` keeps its first letters."""
    text = normal(text, articles=False)
    for article in ("the", "an", "a"):
        text = text.replace(article, "")
    return " ".join(text.split())


@exercise.misconception(credit=0.5)
def blanks_left(text):
    """Blanks are left at the ends, or several in a row."""
    return re.sub(r"\b(a|an|the)\b", "", text.lower().translate(DELETED))


@exercise.misconception(credit=0.5)
def marks_become_blanks(text):
    """Marks go without a trace. You put blanks in their place: `d_k` becomes two words."""
    return normal(re.sub("[" + re.escape(MARKS) + "]", " ", text))


@exercise.misconception(credit=0.5)
def other_marks_deleted(text):
    """You delete more than the 32 marks and the five beside them: `—`, `√` and the like stay."""
    kept = "".join(c for c in text.lower() if c == "_" or c.isalnum() or c.isspace())
    return normal(kept)


@exercise.misconception(credit=0.5)
def underscore_left(text):
    """You keep `_`, which is one of the marks, and delete signs that are none of them."""
    kept = re.sub(r"[^\w\s]", "", text.lower())
    return " ".join(word for word in kept.split() if word not in ("a", "an", "the"))


@exercise.misconception(credit=0.5)
def an_left(text):
    """`an` stays in the text. It is an article, too."""
    kept = text.lower().translate(DELETED).split()
    return " ".join(word for word in kept if word not in ("a", "the"))


@exercise.misconception(credit=0.5)
def other_blanks_left(text):
    """Ends of lines and tabs are blanks, too: one blank comes in their place."""
    kept = text.lower().translate(DELETED).split(" ")
    return " ".join(word for word in kept if word and word not in ("a", "an", "the"))


@exercise.misconception(credit=0.5)
def double_blanks_left(text):
    """Where an article has gone two blanks are left: make them one behind the third step."""
    kept = " ".join(text.lower().translate(DELETED).split())
    return re.sub(r"\b(a|an|the)\b", "", kept).strip()


@exercise.misconception(credit=0.5)
def marks_at_the_ends(text):
    """You delete marks at the ends alone. They go wherever they stand."""
    words = [word.strip(MARKS) for word in text.lower().split()]
    return " ".join(word for word in words if word and word not in ("a", "an", "the"))


@exercise.misconception(credit=0.5)
def no_blanks_at_all(text):
    """You deleted all blanks. One is left between two words."""
    return normal(text).replace(" ", "")


@exercise.misconception(credit=0.5)
def articles_before_marks(text):
    """Marks go first: an article in quotation marks or brackets is an article as well."""
    words = [word for word in text.lower().split() if word not in ("a", "an", "the")]
    return " ".join(" ".join(words).translate(DELETED).split())


def bounds(k, n, z=Z, *, extra=None, term=None, root=np.sqrt, divided=True):
    """Wilson's interval; by keyword, what may be taken for a part of it.

    `extra` is z²/n, `term` what stands beside the variance below the `root`, and `divided` whether
    the denominator is below the root's part as well.
    """
    share, extra = k / n, z * z / n if extra is None else extra
    term = extra / (4 * n) if term is None else term
    middle = (share + extra / 2) / (1 + extra)
    half = z * root(share * (1 - share) / n + term) / (1 + extra if divided else 1)
    return np.array([middle - half, middle + half])


def plain(k, n, z=Z):
    """The interval of the normal approximation."""
    half = z * np.sqrt(k / n * (1 - k / n) / n)
    return np.array([k / n - half, k / n + half])


@exercise.part(points=0.75, answer=Numbers())
def interval(k, n):
    """Wilson's interval for your k of n at z = 1.96: its lower and its upper end."""
    return bounds(k, n)


@interval.misconception()
def around_the_share(k, n):
    """That is k/n plus and minus 1.96 deviations. Wilson's interval isn't symmetric about k/n."""
    return plain(k, n)


@interval.misconception()
def not_divided_by_the_first_factor(k, n):
    """The denominator 1 + z²/n is missing."""
    return bounds(k, n) * (1 + Z * Z / n)


@interval.misconception()
def other_level(k, n):
    """That is for z = 1.645, which leaves out 10 per cent."""
    return bounds(k, n, 1.645)


@interval.misconception()
def one_deviation(k, n):
    """That is for z = 1: an interval of one deviation."""
    return bounds(k, n, 1.0)


@interval.misconception()
def counts_for_shares(k, n):
    """These are numbers of questions. Give shares."""
    return n * bounds(k, n)


@interval.misconception()
def not_shifted(k, n):
    """The middle isn't k/n: it moves towards one half."""
    half = np.ptp(bounds(k, n)) / 2
    return np.array([k / n - half, k / n + half])


@interval.misconception()
def extra_below_the_root_forgotten(k, n):
    """Below the root z²/(4n²) is missing."""
    return bounds(k, n, term=0)


@interval.misconception()
def n_below_the_root_not_squared(k, n):
    """Below the root z² is divided by 4 n². You divided by 4 n."""
    return bounds(k, n, term=Z * Z / n / 4)


@interval.misconception()
def middle_and_half_of_it(k, n):
    """You gave the middle and half the width. Asked for are the two ends."""
    low, high = bounds(k, n)
    return np.array([(low + high) / 2, (high - low) / 2])


@interval.misconception()
def root_not_taken(k, n):
    """You didn't take the root."""
    return bounds(k, n, root=float)


@interval.misconception()
def half_not_divided(k, n):
    """The denominator 1 + z²/n divides what stands behind ±, too."""
    return bounds(k, n, divided=False)


@interval.misconception()
def of_the_example():
    """Those are the numbers of the worked example. Take your k and n."""
    return bounds(5, 10)


@interval.misconception(credit=0.5)
def wrong_answers(k, n):
    """That is the interval for the wrong answers."""
    return bounds(n - k, n)


@exercise.reference
def wilson(k: int, n: int, z: float = 1.96) -> tuple[float, float]:
    """Return both ends of Wilson's interval for the share of right answers."""
    low, high = bounds(k, n, z)
    return float(max(low, 0.0)), float(min(high, 1.0))


@exercise.alternative
def roots_of_the_quadratic(k, n, z=1.96):
    """Solve (k/n − p)² = z² p (1 − p)/n."""
    share = k / n
    a, b, c = 1 + z * z / n, -(2 * share + z * z / n), share**2
    root = np.sqrt(max(b * b - 4 * a * c, 0.0))
    return (-b - root) / (2 * a), (-b + root) / (2 * a)


@exercise.alternative
def in_counts(k, n, z=1.96):
    """The formula with right and wrong answers."""
    wrong = n - k
    middle = (k + z**2 / 2) / (n + z**2)
    half = z / (n + z**2) * (k * wrong / n + z**2 / 4) ** 0.5
    return middle - half, middle + half


@exercise.alternative
def by_halving(k, n, z=1.96):
    """Look for the two shares at which the observed one is z deviations away."""

    def end(inner, outer):
        for _ in range(200):
            p = (inner + outer) / 2
            if (k / n - p) ** 2 <= z * z * p * (1 - p) / n:
                inner = p
            else:
                outer = p
        return (inner + outer) / 2

    middle = (k + z * z / 2) / (n + z * z)
    return end(middle, 0.0), end(middle, 1.0)


@exercise.check(points=0.25, visible=True)
def eight_of_ten(call, rng):
    """8 of 10, and 6 of 10, at z = 1.96."""
    for k in (8, 6):
        agree(np.asarray(call(k, 10)), bounds(k, 10), rtol=1e-6)


@exercise.check(points=0.5)
def any_numbers(call, rng):
    """Other numbers, and other z."""
    for _ in range(6):
        n = int(rng.integers(12, 400))
        k, z = int(rng.integers(1, n)), float(rng.uniform(0.8, 3.5))
        agree(np.asarray(call(k, n, z)), bounds(k, n, z), rtol=1e-6)


@exercise.check(points=0.25)
def none_and_all(call, rng):
    """None or all of them right: the interval has a width, and stays between 0 and 1."""
    for n in (5, 10, 60):
        for k in (0, n):
            agree(np.asarray(call(k, n)), np.clip(bounds(k, n), 0, 1), rtol=1e-6, atol=1e-9)


@exercise.misconception(credit=0.3)
def symmetric_about_the_share(k, n, z=1.96):
    """k/n plus and minus z deviations: of none or all of them right that makes no interval."""
    return tuple(plain(k, n, z))


@exercise.misconception(credit=0.5)
def always_95_per_cent(k, n, z=1.96):
    """You always take z = 1.96, whatever comes in."""
    return tuple(bounds(k, n))


@exercise.misconception(credit=0.3)
def denominator_forgotten(k, n, z=1.96):
    """The denominator 1 + z²/n is missing."""
    return tuple(bounds(k, n, z) * (1 + z * z / n))


@exercise.misconception(credit=0.3)
def shift_forgotten(k, n, z=1.96):
    """The middle moves towards one half: z²/(2n) is missing there."""
    return tuple(bounds(k, n, z) - z * z / (2 * n) / (1 + z * z / n))


@exercise.misconception(credit=0.3)
def extra_term_forgotten(k, n, z=1.96):
    """Below the root z²/(4n²) is missing."""
    return tuple(bounds(k, n, z, term=0))


@exercise.misconception(credit=0.3)
def n_not_squared(k, n, z=1.96):
    """Below the root z² is divided by 4 n². You divided by 4 n."""
    return tuple(bounds(k, n, z, term=z * z / n / 4))


@exercise.misconception(credit=0.3)
def z_not_squared(k, n, z=1.96):
    """You add z/n and z/(2n), where z²/n and z²/(2n) are meant."""
    return tuple(bounds(k, n, z, extra=z / n, term=z * z / (4 * n * n)))


@exercise.misconception(credit=0.3)
def root_forgotten(k, n, z=1.96):
    """You don't take the root."""
    return tuple(bounds(k, n, z, root=float))


@exercise.misconception(credit=0.3)
def half_divided_by_nothing(k, n, z=1.96):
    """The denominator 1 + z²/n divides what stands behind ±, too."""
    return tuple(bounds(k, n, z, divided=False))


@exercise.misconception(credit=0.3)
def numbers_of_questions(k, n, z=1.96):
    """You return numbers of questions. Both ends are shares."""
    return tuple(n * bounds(k, n, z))


@exercise.misconception(credit=0.5)
def ends_exchanged(k, n, z=1.96):
    """The lower end comes first."""
    return tuple(bounds(k, n, z)[::-1])


@exercise.misconception(credit=0.3)
def middle_and_half(k, n, z=1.96):
    """You return the middle and half the width. Asked for are the two ends."""
    low, high = bounds(k, n, z)
    return (low + high) / 2, (high - low) / 2


chain = IndexedChain(
    start="Var(sum(x_i, i)/n)",
    target="p*(1 - p)/n",
    names=("p",),
    indexed=("x",),
    moments={"x_i": ("p", "p*(1 - p)")},
    rules=(
        "variance of a multiple",
        "variance of a sum",
        "linearity of sums",
        Fact("variance of x", "Var(x_i)", "p*(1 - p)"),
        Fact("all alike", "sum(Var(x_i), i)", "n*p*(1 - p)"),
    ),
)


@exercise.part(points=1, answer=Derivation(chain))
def steps():
    """The variance of the share of right answers."""
    return [
        "Var(sum(x_i, i))/n^2  # variance of a multiple",
        "sum(Var(x_i), i)/n^2  # variance of a sum",
        "n*p*(1 - p)/n^2  # all alike",
        "p*(1 - p)/n",
    ]


@steps.alternative
def term_by_term():
    """Put the variance of one question in, and add up."""
    return [
        "Var(sum(x_i, i)/n)",
        "1/n^2*Var(sum(x_i, i))",
        "1/n^2*sum(Var(x_i), i)",
        "1/n^2*sum(p*(1 - p), i)",
        "p*(1 - p)/n",
    ]


@steps.alternative
def first_question_for_all():
    """All variances are that of the first."""
    return ["Var(sum(x_j, j))/n^2", "n*Var(x_1)/n^2", "p*(1 - p)/n"]


@steps.alternative
def in_latex():
    """As on paper."""
    return [
        r"\frac{1}{n^2} Var(\sum_i x_i)",
        r"\frac{1}{n^2} \sum_i Var(x_i)",
        r"\frac{1}{n^2} \sum_i p (1-p)",
        r"\frac{p (1-p)}{n}",
    ]


@exercise.part(points=0.5, answer=Numbers())
def deviations():
    """8 of 10 against 6 of 10: the difference in its standard deviations, with p = 0.7."""
    return 2 / np.sqrt(2 * 10 * 0.7 * 0.3)


deviations.mistakes(
    one_model_alone=(
        2 / np.sqrt(10 * 0.7 * 0.3),
        "You took one model's variance. That of the difference has both.",
    ),
    variance_for_deviation=(
        2 / (2 * 10 * 0.7 * 0.3),
        "You divided by the variance. Its root is the standard deviation.",
    ),
    variance_of_shares_for_deviation=(
        0.2 / (2 * 0.7 * 0.3 / 10),
        "You divided by the variance. Its root is the standard deviation.",
    ),
    own_share_of_each=(
        0.2 / np.sqrt(0.8 * 0.2 / 10 + 0.6 * 0.4 / 10),
        "You took the variances at 0.8 and 0.6. Both models have p = 0.7 here.",
    ),
    questions_over_shares=(
        2 / np.sqrt(2 * 0.7 * 0.3 / 10),
        "You divided a number of questions by a deviation of shares. Take both for shares.",
    ),
    deviations_added=(
        0.2 / (2 * np.sqrt(0.7 * 0.3 / 10)),
        "You added standard deviations. Of independent numbers the variances are added.",
    ),
    deviation_of_the_shares=(
        np.sqrt(2 * 0.7 * 0.3 / 10),
        "That is the deviation of the difference. By how many of it do 0.8 and 0.6 differ?",
    ),
    of_a_single_question=(
        0.2 / np.sqrt(2 * 0.7 * 0.3),
        "That is for a single question. There are ten.",
    ),
    deviation_itself=(
        np.sqrt(2 * 10 * 0.7 * 0.3),
        "That is the standard deviation. By how many of it do 8 and 6 differ?",
    ),
)


@exercise.part(points=0.5, answer=Count())
def enough():
    """The smallest n for which 80 against 60 per cent are 1.96 deviations apart, with p = 0.7."""
    return int(np.ceil(Z**2 * 2 * 0.7 * 0.3 / 0.2**2))


enough.mistakes(
    rounded_down=(
        int(Z**2 * 2 * 0.7 * 0.3 / 0.2**2),
        "With so many it is not reached yet: round up.",
    ),
    own_share_of_each_in_n=(
        int(np.ceil(Z**2 * (0.8 * 0.2 + 0.6 * 0.4) / 0.2**2)),
        "You took the variances at 0.8 and 0.6. Both models have p = 0.7 here.",
    ),
    one_sided=(
        int(np.ceil(1.645**2 * 2 * 0.7 * 0.3 / 0.2**2)),
        "That is for 1.645 deviations. Asked for are 1.96.",
    ),
    difference_not_squared=(
        int(np.ceil(Z**2 * 2 * 0.7 * 0.3 / 0.2)),
        "You didn't square the difference 0.2.",
    ),
    variance_for_deviation_in_n=(
        int(np.ceil(Z * 2 * 0.7 * 0.3 / 0.2)),
        "You divided by the variance. Its root is the standard deviation.",
    ),
    root_of_n=(int(np.ceil(Z * np.sqrt(2 * 0.7 * 0.3) / 0.2)), "That is the root of n."),
    one_deviation_alone=(
        int(np.ceil(2 * 0.7 * 0.3 / 0.2**2)),
        "That is for one deviation. Asked for are 1.96.",
    ),
    deviations_were_added=(
        int(np.ceil(Z**2 * 4 * 0.7 * 0.3 / 0.2**2)),
        "You added standard deviations. Of independent numbers the variances are added.",
    ),
    both_sides_counted=(
        2 * int(np.ceil(Z**2 * 2 * 0.7 * 0.3 / 0.2**2)),
        "That is how many questions both models answer together. Asked for is n, for each of them.",
    ),
    one_model_in_n=(
        int(np.ceil(Z**2 * 0.7 * 0.3 / 0.2**2)),
        "You took one model's variance. That of the difference has both.",
    ),
)


@cache
def normal_lessons():
    """The same, normalised, with a blank at either end."""
    return f" {normal(lessons())} "


def letters(sentences, known):
    """The letters of the sentences of which this holds."""
    return "".join(letter for letter, sentence in sentences.items() if known(sentence))


@exercise.part(points=0.5, answer=Choice("ABCDEF", multiple=True))
def seen(sentences):
    """Which of your six sentences, normalised, stand in the normalised text?"""
    return letters(sentences, lambda one: f" {normal(one)} " in normal_lessons())


@seen.misconception()
def searched_as_they_stand(sentences):
    """You searched for the letters as they stand. Lines are broken, and large letters small."""
    return letters(sentences, lambda one: one in lessons())


@seen.misconception()
def case_matters(sentences):
    """You mended the breaks of lines. One sentence has other letters than in the text, too."""
    return letters(sentences, lambda one: one in joined_lessons())


@seen.misconception()
def lines_broken(sentences):
    """A sentence may go over the end of a line: normalise the text as well as the sentence."""
    return letters(sentences, lambda one: one.lower().rstrip(".") in small_lessons())


@seen.misconception()
def half_is_enough(sentences):
    """Some of them share most of their words with the text, and yet are others."""

    def half(one):
        words = normal(one).split()
        return any(
            f" {' '.join(part)} " in normal_lessons()
            for part in (words[: len(words) // 2], words[len(words) // 2 :])
        )

    return letters(sentences, half)


@exercise.reference
def overlap(sentence: str, text: str, n: int = 8) -> float:
    """Return which share of the sentence's windows of n words stands in the text."""
    return share_found(sentence, text, n, normalise)


def share_found(sentence, text, n, ready):
    """The same with any function that normalises, such as a student's own."""
    words, within = ready(sentence).split(), f" {ready(text)} "
    n = min(n, len(words))
    windows = [" ".join(words[i : i + n]) for i in range(len(words) - n + 1)]
    return sum(f" {window} " in within for window in windows) / len(windows)


@exercise.alternative
def by_sets(sentence, text, n=8):
    """All windows of the text, in a set."""

    def windows(words, n):
        return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]

    words = normalise(sentence).split()
    n = min(n, len(words))
    there = set(windows(normalise(text).split(), n))
    found = [window in there for window in windows(words, n)]
    return float(np.mean(found))


@exercise.alternative
def by_counting(sentence, text, n=8):
    """A loop, and blanks around everything."""
    words, known = normalise(sentence).split(), " " + normalise(text) + " "
    n, hits, total = min(n, len(words)), 0, 0
    for first in range(len(words) - n + 1):
        total += 1
        hits += known.count(" " + " ".join(words[first : first + n]) + " ") > 0
    return hits / total


@exercise.alternative
def by_patterns_of_words(sentence, text, n=8):
    """Search between borders of words."""
    words, known = normalise(sentence).split(), normalise(text)
    n = min(n, len(words))
    starts = range(len(words) - n + 1)
    found = [
        re.search(r"(?<!\S)" + re.escape(" ".join(words[i : i + n])) + r"(?!\S)", known)
        for i in starts
    ]
    return sum(each is not None for each in found) / len(starts)


WORDS = ("query", "key", "value", "score", "weight", "head", "layer", "norm", "token", "logit")
TEXT = (
    "A query asks, and the keys answer: each key says how well it fits. What fits well counts\n"
    "much, what fits badly little, and the values are added up with these weights.\n\n"
    "Then the next layer does the same again, on what has come of it."
)


@exercise.check(points=0.25, visible=True)
def all_or_nothing(call, rng):
    """A sentence of the text has the share 1, over the end of a line too; another one has 0."""
    words = rng.permutation(WORDS).tolist()
    text = f"The {' '.join(words[:5])}\n{' '.join(words[5:])}."
    for sentence in (" ".join(words[2:8]).capitalize(), " ".join(words[::-1])):
        agree(call(sentence, text, 4), share_found(sentence, text, 4, call.own(normalise)))


@exercise.check(points=0.5)
def shares_of_windows(call, rng):
    """Half a sentence, other lengths of windows, other letters and marks."""
    for sentence in (
        "each key says how well it fits the model of another notebook",
        "The Keys answer — and the Values are added up, with these weights!",
        "What fits well counts much; what fits well counts little.",
        "the keys are values, and the keys are keys",
        "next layer does the same again on what has come of nothing",
    ):
        for n in (2, 3, 5):
            agree(call(sentence, TEXT, n), share_found(sentence, TEXT, n, call.own(normalise)))


@exercise.check(points=0.25)
def short_ones_and_whole_words(call, rng):
    """A sentence shorter than n is one window; and words count only as a whole."""
    for sentence in ("The keys answer", "keys ask", "lay it", "at fits well count", "query"):
        agree(call(sentence, TEXT, 8), share_found(sentence, TEXT, 8, call.own(normalise)))
    agree(call("ask and the key", TEXT, 3), 0.0)


def windows_found(sentence, text, n, ready=normal, edge=" "):
    """Which windows stand there, normalised in some way."""
    words, within = ready(sentence).split(), f"{edge}{ready(text)}{edge}"
    n = min(n, len(words))
    parts = [" ".join(words[i : i + n]) for i in range(len(words) - n + 1)]
    return [f"{edge}{part}{edge}" in within for part in parts]


@exercise.misconception(credit=0.3)
def not_normalised(sentence, text, n=8):
    """Neither text is normalised: other letters, marks and ends of lines hide what is there."""
    return float(np.mean(windows_found(sentence, text, n, lambda each: " ".join(each.split(" ")))))


@exercise.misconception(credit=0.5)
def text_not_normalised(sentence, text, n=8):
    """The sentence is normalised, the text is not: what stands there is hidden by its letters."""
    words, within = normalise(sentence).split(), f" {text} "
    n = min(n, len(words))
    windows = [" ".join(words[i : i + n]) for i in range(len(words) - n + 1)]
    return float(np.mean([f" {window} " in within for window in windows]))


@exercise.misconception(credit=0.5)
def short_ones_are_nothing(sentence, text, n=8):
    """Of a sentence that has fewer than n words, all of them are one window."""
    return overlap(sentence, text, n) if len(normalise(sentence).split()) >= n else 0.0


@exercise.misconception(credit=0.5)
def parts_of_words(sentence, text, n=8):
    """You find parts of words, too: `ask` is in `asks`. Compare whole words."""
    return float(np.mean(windows_found(sentence, text, n, edge="")))


@exercise.misconception(credit=0.3)
def single_words(sentence, text, n=8):
    """You counted single words. Nearly every word of a language is in some text."""
    return float(np.mean(windows_found(sentence, text, 1)))


@exercise.misconception(credit=0.3)
def any_window(sentence, text, n=8):
    """You say whether some window is there. Asked for is the share of those that are."""
    return float(any(windows_found(sentence, text, n)))


@exercise.misconception(credit=0.3)
def all_windows(sentence, text, n=8):
    """You say whether all windows are there. Asked for is the share of those that are."""
    return float(all(windows_found(sentence, text, n)))


@exercise.misconception(credit=0.5)
def divided_by_the_words(sentence, text, n=8):
    """You divided by the number of words. There are fewer windows than words."""
    return sum(windows_found(sentence, text, n)) / len(normal(sentence).split())


@exercise.misconception(credit=0.5)
def steps_of_n(sentence, text, n=8):
    """Your windows lie side by side. A window begins at every word that has enough behind it."""
    return float(np.mean(windows_found(sentence, text, n)[:: max(1, n)]))


@exercise.misconception(credit=0.5)
def last_window_forgotten(sentence, text, n=8):
    """The last window is missing: of m words, m − n + 1 have enough behind them."""
    found = windows_found(sentence, text, n)
    return float(np.mean(found[:-1])) if len(found) > 1 else 0.0


@exercise.misconception(credit=0.5)
def equal_windows_once(sentence, text, n=8):
    """You count equal windows of a sentence once. Each of its windows counts."""
    words, within = normal(sentence).split(), f" {normal(text)} "
    n = min(n, len(words))
    windows = {" ".join(words[i : i + n]) for i in range(len(words) - n + 1)}
    return float(np.mean([f" {window} " in within for window in windows]))


@exercise.misconception(credit=0.3)
def windows_of_the_text(sentence, text, n=8):
    """You ask which windows of the text stand in the sentence. It is the other way round."""
    return float(np.mean(windows_found(text, sentence, n)))


@exercise.misconception(credit=0.3)
def order_of_words_ignored(sentence, text, n=8):
    """You look for the words of a window one by one. They have to stand there in a row."""
    words, known = normal(sentence).split(), {*normal(text).split()}
    n = min(n, len(words))
    return float(np.mean([{*words[i : i + n]} <= known for i in range(len(words) - n + 1)]))


@exercise.misconception(credit=0.3)
def always_eight_words(sentence, text, n=8):
    """You always take windows of 8 words, whatever n is."""
    return float(np.mean(windows_found(sentence, text, 8)))


@exercise.misconception(credit=0.3)
def number_of_windows(sentence, text, n=8):
    """You return how many windows are there. Asked for is their share of all windows."""
    return float(np.sum(windows_found(sentence, text, n)))


@exercise.misconception(credit=0.5)
def articles_left_in_windows(sentence, text, n=8):
    """Articles stay in your windows. Both texts are normalised, and the articles go."""

    def ready(each):
        return normal(each, articles=False)

    return float(np.mean(windows_found(sentence, text, n, ready)))


@exercise.misconception(credit=0.5)
def windows_one_too_long(sentence, text, n=8):
    """Your windows have one word more than n."""
    return float(np.mean(windows_found(sentence, text, n + 1)))


@exercise.misconception(credit=0.3)
def share_that_is_new(sentence, text, n=8):
    """You return the share of windows that do not stand there."""
    return 1 - float(np.mean(windows_found(sentence, text, n)))
