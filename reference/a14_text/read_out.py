"""What a model that has read the course has learnt of attention: five lines.

Source: Brown et al. (2020), "Language models are few-shot learners", section 4; Holtzman et al.
(2020), "The curious case of neural text degeneration".
"""

import re
import string
from functools import cache

import numpy as np

from autograder.exercise import Count, Essay, Exercise, data_file

exercise = Exercise(
    "read_out",
    title="What does it know of attention?",
    source="Holtzman et al. (2020); Brown et al. (2020), section 4",
    minutes=30,
    hints=[
        "Write the continuations down before you judge them, the greedy one to its end.",
        "The two endings look alike and mean different things. Which of them is right, and which "
        "one does your model expect? How often does each stand in the lessons?",
        "Search the lessons for what your model wrote: which runs of words are there, and which "
        "words are nowhere?",
    ],
)


ASKED = ("scores are divided", "square root", "number of heads", "the score")


@cache
def lessons():
    """The text on which models are trained."""
    return data_file("a14_text/course.txt").read_text(encoding="utf-8")


def counted(text):
    """How often each of the four runs of words stands in a text."""
    return np.array([text.count(words) for words in ASKED])


@exercise.part(points=0.75, answer=Count())
def stands():
    """How often the lessons have each of the four runs of words, whatever blanks are between."""
    return counted(" ".join(lessons().lower().split()))


@stands.misconception()
def lines_not_joined():
    """Some go over the end of a line. Make one blank of all that is blank between two words."""
    return counted(lessons().lower())


@stands.misconception()
def large_letters_missed():
    """At the beginning of a sentence they begin with a large letter. Make the text small first."""
    return counted(" ".join(lessons().split()))


@stands.misconception()
def as_it_stands():
    """You searched the file as it is: ends of lines, and large letters, hide some of them."""
    return counted(lessons())


@stands.misconception()
def lines_counted():
    """You counted lines in which they stand. Some lines have two, and some go over an end."""
    return np.array([sum(w in line for line in lessons().lower().splitlines()) for w in ASKED])


@stands.misconception()
def sentences_counted():
    """You counted sentences in which they stand. Some have two."""
    text = " ".join(lessons().lower().split())
    return np.array([sum(w in each for each in re.split(r"[.!?:]", text)) for w in ASKED])


@stands.misconception()
def paragraphs_counted():
    """You counted paragraphs in which they stand. Most have several."""
    parts = [" ".join(part.split()) for part in lessons().lower().split("\n\n")]
    return np.array([sum(w in part for part in parts) for w in ASKED])


@stands.misconception()
def whole_words_alone():
    """You counted whole words. “The scores” has “the score”, and counts."""
    text = " ".join(lessons().lower().split())
    return [len(re.findall(rf"\b{words}\b", text)) for words in ASKED]


@stands.misconception()
def pieces_counted():
    """You counted pieces. Who cuts a text at two places has three of them."""
    text = " ".join(lessons().lower().split())
    return [len(text.split(words)) for words in ASKED]


@stands.misconception()
def text_normalised():
    """You deleted articles or marks as well. Blanks alone are changed, and large letters."""
    deleted = str.maketrans("", "", string.punctuation + "“”‘’…")
    words = lessons().lower().translate(deleted).split()
    return counted(" ".join(word for word in words if word not in ("a", "an", "the")))


@stands.misconception()
def all_normalised():
    """You deleted the articles, and so “the score” became “score”. They count here."""
    deleted = str.maketrans("", "", string.punctuation + "“”‘’…")
    words = lessons().lower().translate(deleted).split()
    text = " ".join(word for word in words if word not in ("a", "an", "the"))
    return [text.count(words.removeprefix("the ")) for words in ASKED]


@stands.misconception()
def marks_deleted():
    """You deleted marks, and found words together that a mark keeps apart."""
    deleted = str.maketrans("", "", string.punctuation + "“”‘’…")
    return counted(" ".join(lessons().lower().translate(deleted).split()))


@stands.misconception()
def first_part_alone():
    """You searched the first 300,000 bytes. The whole file is asked for."""
    text = lessons().encode()[:300_000].decode(errors="ignore")
    return counted(" ".join(text.lower().split()))


@stands.misconception()
def last_part_alone():
    """You searched the bytes from the 300,000th on. The whole file is asked for."""
    text = lessons().encode()[300_000:].decode(errors="ignore")
    return counted(" ".join(text.lower().split()))


@stands.misconception()
def stands_or_not():
    """You said whether they stand there. How often do they?"""
    return np.minimum(counted(" ".join(lessons().lower().split())), 1)


@stands.misconception()
def last_words_alone():
    """You counted the last word of each. Asked for is all of them in a row."""
    text = " ".join(lessons().lower().split())
    return [text.count(words.split()[-1]) for words in ASKED]


@stands.misconception()
def words_by_themselves():
    """You counted their words one by one. Asked for is all of them in a row."""
    words = " ".join(lessons().lower().split()).split()
    return np.array([min(words.count(each) for each in w.split()) for w in ASKED])


@stands.alternative
def by_windows():
    """Go through all runs of words."""
    text, found = " ".join(lessons().lower().split()), []
    for words in ASKED:
        found.append(sum(text.startswith(words, i) for i in range(len(text))))
    return found


@stands.alternative
def by_patterns():
    """Patterns with any blanks between two words."""
    text = lessons().lower()
    return [len(re.findall(r"\s+".join(words.split()), text)) for words in ASKED]


@stands.alternative
def by_cutting():
    """Cut the text at each run of words: there is one piece more."""
    text = " ".join(lessons().split()).casefold()
    return [len(text.split(words)) - 1 for words in ASKED]


@exercise.part(points=2.25, answer=Essay())
def essay():
    """What has your model learnt of attention, and what of the way in which lessons are written?

    (1) 0.75. What the model wrote is quoted, greedily and drawn; the greedy text goes round in a
    circle, or it is said how far it came without.

    (2) 0.75. Form and content are kept apart, with a number: the nats of the right and of the
    wrong ending, or another one that a model of letters or pairs would not show.

    (3) 0.75. A reason: what stood in the text and how often, the window of 32 tokens, or the
    size; and that one sentence shows little, or that a right ending may be memory.
    """
    return (
        "Greedily my model goes on “the first of a softmax of a softmax of a softmax of” and never "
        "leaves this circle. Drawn, it writes “from the last and stache of its those of there "
        "are”, and once it opens a formula, “$b = 2$p$ so $d$ is the output”. It has the form: "
        "most words exist, articles stand before nouns, dollars and backticks come in formulas. Of "
        "content I find nothing: “by the number of heads” takes 18.1 nats, “by the square root "
        "of”, which is right, 31.7, though both have eight tokens. That is no wonder: “square "
        "root” stands nowhere in the lessons, which write roots as formulas, “number of heads” "
        "four times. With 32 tokens it can't see what a paragraph is about. One sentence shows "
        "little, and a right ending might have been memory: I would ask for twenty, in words that "
        "the lessons don't have."
    )


@essay.sample(points=1.5)
def no_number():
    """(1) 0.75, (2) 0, (3) 0.75.

    (2): form and content are named, and nothing of its own measures either.
    """
    return (
        "Greedily it wrote “the weights of the weights of the weights of”, again and again; drawn, "
        "“a query is the mean of the head, so that rows”. So it knows words and a little grammar, "
        "and no mathematics. It sees only 32 tokens and has some ninety thousand weights, which is "
        "next to nothing, and one sentence is no test at all: another one might come out better by "
        "chance."
    )


@essay.sample(points=0.75)
def believed():
    """(1) 0.75, (2) 0, (3) 0.

    (2), (3): one lucky continuation is taken for knowledge.
    """
    return (
        "My model continued with “the root of $d_k$ of the keys”, and greedily with “the same as "
        "the same as the same”. So it has understood that scores are divided by the root of the "
        "width, which is the central idea of scaled attention. With more steps it would also learn "
        "the rest of the course. It is impressive that such a small model can learn the content of "
        "thirteen notebooks in half a minute."
    )
