"""Byte-pair encoding with pencil and paper: counts, merges, ties, and what a merge leaves.

Source: Sennrich et al. (2016), "Neural machine translation of rare words with subword units".
"""

from collections import Counter
from itertools import pairwise

import numpy as np

from autograder.exercise import Choice, Count, Exercise

exercise = Exercise(
    "bpe_hand",
    title="Merges by hand",
    source="Sennrich et al. (2016), section 3.2",
    minutes=35,
    hints=[
        "Lay a ruler along the row, two tokens wide, and move it by one token each time: every "
        "position counts, also where two of them overlap.",
        "After each merge write the row down anew, with the new token in it, and count again from "
        "the beginning: the new token has neighbours, too.",
        "To encode another text go through the merges in the order in which they were found, and "
        "carry each of them out everywhere, from left to right, before the next one.",
    ],
)

LETTERS, MERGES = 3, 3


@exercise.variant
def draw(rng):
    """text: (18,), other: (10,), tokens 0, 1 and 2; run: how many equal tokens stand in a row."""
    while True:
        text = rng.choice(LETTERS, 18, p=rng.permutation([0.5, 0.3, 0.2]))
        merges = learned(text)
        every = rows(text, merges)
        worth = counts(every[-2])[tuple(merges[-1])] > 1
        if worth and np.any(merges >= LETTERS) and runs(every, merges) and ties(every):
            for other in rng.choice(LETTERS, (40, 10), p=np.bincount(text, minlength=LETTERS) / 18):
                *before, last = rows(other, merges)[1:]
                slips = from_the_right, longest, backwards, at_first_places
                told = last not in before and all(last != slip(other, merges) for slip in slips)
                if told and longest(other, merges) != backwards(other, merges):
                    return {
                        "text": text,
                        "other": other,
                        "run": 4 * int(rng.integers(1, 13)) + 3,
                    }


def counts(ids):
    """How often each pair of neighbours occurs."""
    return Counter(pairwise(map(int, ids)))


def commonest(found):
    """The pair that occurs most often; of several that with the smallest tokens."""
    return min(found, key=lambda pair: (-found[pair], pair))


def merged(ids, pair, new):
    """Replace a pair by a new token, from left to right."""
    (one, two), out = map(int, pair), []
    for token in map(int, ids):
        if token == two and out and out[-1] == one:  # what is new is neither of the two
            out[-1] = new
        else:
            out.append(token)
    return out


def learned(ids, chosen=commonest):
    """The merges of a text, by some rule for which pair is next."""
    found = []
    for new in range(LETTERS, LETTERS + MERGES):
        found.append(chosen(counts(ids)))
        ids = merged(ids, found[-1], new)
    return np.array(found)


def rows(ids, merges):
    """The text after each merge, as it was first of all."""
    found = [list(map(int, ids))]
    for new, pair in enumerate(np.asarray(merges).astype(int), LETTERS):
        found.append(merged(found[-1], pair, new))
    return found


def ties(every):
    """Tell whether some merge has to be chosen among several pairs of one count."""
    for row in every[:-1]:
        pairs = sorted(counts(row).values())
        if pairs[-1] == pairs[-2]:
            return True
    return False


def runs(every, merges):
    """Tell whether some merge meets a run, in which places overlap."""
    return any(
        counts(before)[tuple(pair)] > len(before) - len(after)
        for (before, after), pair in zip(pairwise(every), merges, strict=True)
    )


def longest(ids, merges):
    """Encode by the longest token that fits at each place."""
    spelt = {token: [token] for token in range(LETTERS)}
    for new, (one, two) in enumerate(np.asarray(merges).astype(int).tolist(), LETTERS):
        spelt[new] = spelt.get(one, [-1]) + spelt.get(two, [-1])
    out, i, row = [], 0, list(map(int, ids))
    while i < len(row):
        fits = [token for token, own in spelt.items() if row[i : i + len(own)] == own]
        out.append(max(fits, key=lambda token: len(spelt[token])))
        i += len(spelt[out[-1]])
    return out


def backwards(ids, merges):
    """Encode with the last merge first."""
    row = list(map(int, ids))
    for new, pair in reversed(list(enumerate(merges, LETTERS))):
        row = merged(row, pair, new)
    return row


def from_the_right(ids, merges):
    """Encode from right to left."""
    turned = np.asarray(merges).astype(int)[:, ::-1]
    return rows(list(ids)[::-1], turned)[-1][::-1]


def at_first_places(ids, merges):
    """Carry out each merge at the first place of its pair alone."""
    row = list(map(int, ids))
    for new, pair in enumerate(np.asarray(merges).astype(int).tolist(), LETTERS):
        for i in [i for i in range(len(row) - 1) if row[i : i + 2] == pair][:1]:
            row[i : i + 2] = [new]
    return row


@exercise.part(points=1.5, answer=Count())
def pair_counts(text):
    """How often each pair occurs: row i, column j for token i before token j."""
    table = np.zeros((LETTERS, LETTERS), int)
    np.add.at(table, (text[:-1], text[1:]), 1)
    return table


@pair_counts.misconception()
def columns_first(text):
    """In your table the rows are the second tokens. The row is what stands on the left."""
    return pair_counts.compute(text).T


@pair_counts.misconception()
def order_ignored(text):
    """You counted a pair and its reverse together. Token 0 before 1 is not 1 before 0."""
    table = pair_counts.compute(text)
    return table + table.T - np.diag(np.diag(table))


@pair_counts.misconception()
def every_other_place(text):
    """You cut the text into pairs. A pair begins at every token but the last."""
    table = np.zeros((LETTERS, LETTERS), int)
    np.add.at(table, (text[:-1:2], text[1::2]), 1)
    return table


@pair_counts.misconception()
def once_in_a_run(text):
    """In a run such as 0 0 0 the pair (0, 0) stands at two places, and both are counted."""
    table = pair_counts.compute(text)
    for token in range(LETTERS):
        row = merged(text, (token, token), LETTERS)
        table[token, token] = row.count(LETTERS)
    return table


@pair_counts.misconception()
def around_the_corner(text):
    """You counted the last token with the first one. A text has an end."""
    return pair_counts.compute(np.append(text, text[0]))


@pair_counts.misconception()
def of_other(other):
    """You counted in `other`. Asked for are the pairs of `text`."""
    return pair_counts.compute(other)


@pair_counts.misconception()
def tokens_counted(text):
    """You multiplied how often each token stands. Count where they stand side by side."""
    alone = np.bincount(text, minlength=LETTERS)
    return np.outer(alone, alone)


@pair_counts.misconception()
def anywhere_behind(text):
    """You counted all tokens that come later. Those of a pair stand side by side."""
    table = np.zeros((LETTERS, LETTERS), int)
    for place, one in enumerate(text):
        table[one] += np.bincount(text[place + 1 :], minlength=LETTERS)
    return table


@exercise.part(points=2, answer=Count())
def merges(text):
    """The first three merges, a row of two tokens for each."""
    return learned(text)


@merges.misconception()
def counted_once(text):
    """You took the three commonest pairs of the beginning. Count anew after each merge."""
    found = counts(text)
    return sorted(found, key=lambda pair: (-found[pair], pair))[:MERGES]


@merges.misconception()
def largest_of_equals(text):
    """Of pairs that occur equally often the one with the smaller tokens comes first."""
    return learned(text, lambda found: max(found, key=lambda pair: (found[pair], pair)))


@merges.misconception()
def first_of_equals(text):
    """You took the pair that comes first in the text. Of equals, the smaller tokens count."""
    return learned(text, lambda found: max(found, key=found.get))


@merges.misconception()
def by_the_second_token(text):
    """You compared the second tokens first. Of equals compare the tokens on the left first."""
    return learned(text, lambda found: min(found, key=lambda p: (-found[p], p[1], p[0])))


@merges.misconception()
def new_tokens_left_out(text):
    """You merge old tokens only. A new token is one like all others: count its pairs, too."""
    old = lambda found: {p: c for p, c in found.items() if max(p) < LETTERS} or found  # noqa: E731
    return learned(text, lambda found: commonest(old(found)))


@merges.misconception()
def pairs_in_a_run_once(text):
    """In a run such as 0 0 0 the pair (0, 0) stands at two places, and both are counted."""

    def chosen(found, ids):
        without = {p: merged(ids, p, -1).count(-1) for p in found}
        return commonest(without)

    found, ids = [], list(map(int, text))
    for new in range(LETTERS, LETTERS + MERGES):
        found.append(chosen(counts(ids), ids))
        ids = merged(ids, found[-1], new)
    return np.array(found)


@merges.misconception()
def least_common(text):
    """You merged the rarest pairs. The text is to become as short as possible."""
    return learned(text, lambda found: min(found, key=lambda pair: (found[pair], pair)))


@exercise.part(points=1, answer=Count())
def lengths(text, merges):
    """How many tokens the text has before, and after each of the merges."""
    return [len(row) for row in rows(text, merges)]


@lengths.misconception()
def shorter_by_the_count(text, merges):
    """In a run the places of a pair overlap, and only every other one can be merged."""
    found = [len(text)]
    for row, pair in zip(rows(text, merges), merges, strict=False):
        found.append(found[-1] - counts(row).get(tuple(map(int, pair)), 0))
    return found


@lengths.misconception()
def two_for_each(text, merges):
    """A merge puts one token in the place of two: each takes away one, not two."""
    found = [len(row) for row in rows(text, merges)]
    return [found[0], *(2 * later - found[0] for later in found[1:])]


@lengths.misconception()
def one_for_each(text):
    """A merge is carried out wherever its pair stands, not at one place."""
    return len(text) - np.arange(1 + MERGES)


@lengths.misconception()
def sizes_of_the_vocabulary():
    """Those are sizes of the vocabulary. How many tokens does the text have?"""
    return [3, 4, 5, 6]


def census(ids):
    """How often each of the six tokens stands in a text."""
    return [list(ids).count(token) for token in range(LETTERS + MERGES)]


@lengths.misconception()
def saved_so_far(text, merges):
    """You counted the tokens that are saved. How many are left?"""
    return [len(text) - len(row) for row in rows(text, merges)]


@lengths.misconception()
def saved_behind_the_first(text, merges):
    """You counted the tokens that are saved. How many are left?"""
    return [len(text), *(len(text) - len(row) for row in rows(text, merges)[1:])]


@lengths.misconception()
def pairs_for_tokens(text, merges):
    """You counted pairs of neighbours. A text has one token more than that."""
    return [len(row) - 1 for row in rows(text, merges)]


@lengths.misconception()
def counts_of_the_beginning(text, merges):
    """You took the counts of the text as it was. A merge finds the text that the last one left."""
    found, first = [len(text)], counts(text)
    for pair in merges:
        found.append(found[-1] - first.get(tuple(map(int, pair)), 0))
    return found


@lengths.misconception()
def lengths_of_other(other, merges):
    """Those are the lengths of `other`. Asked for are those of `text`."""
    return [len(row) for row in rows(other, merges)]


@exercise.part(points=1, answer=Count())
def token_counts(text, merges):
    """How often each of the tokens 0 … 5 stands in the text after three merges."""
    return census(rows(text, merges)[-1])


@token_counts.misconception()
def two_merges_only(text, merges):
    """The third merge is missing."""
    return census(rows(text, merges)[-2])


@token_counts.misconception()
def as_often_as_ever(text, merges):
    """A new token that a later merge takes up is gone from there, as an old one is."""
    every = rows(text, merges)
    old = census(every[-1])[:LETTERS]
    return old + [row.count(new) for new, row in enumerate(every[1:], LETTERS)]


@token_counts.misconception()
def merged_where_it_came_first(text, merges):
    """You merged each pair at its first place. It is merged wherever it stands."""
    return census(at_first_places(text, merges))


@token_counts.misconception()
def old_ones_kept(text, merges):
    """You counted the old tokens as before. A new token stands in their place."""
    return census(text)[:LETTERS] + census(rows(text, merges)[-1])[LETTERS:]


@token_counts.misconception()
def as_they_were_made(text, merges):
    """You counted each token where it is made. What later merges take up is gone."""
    every = rows(text, merges)
    return census(text)[:LETTERS] + [row.count(new) for new, row in enumerate(every[1:], LETTERS)]


@token_counts.misconception()
def of_the_other_text(other, merges):
    """You counted in `other`. Asked for are the tokens of `text`."""
    return census(rows(other, merges)[-1])


@token_counts.misconception()
def old_tokens_as_before(text):
    """That is the text before the first merge."""
    return census(text)


def padded(ids):
    """Fill a row of tokens up to ten numbers with −1."""
    return [*map(int, ids), *[-1] * (10 - len(ids))]


@exercise.part(points=1, answer=Count())
def other_encoded(other, merges):
    """The other text, encoded with these merges, and −1 for each place that is left over."""
    return padded(rows(other, merges)[-1])


@other_encoded.misconception()
def longest_first(other, merges):
    """You looked for the longest token at each place. Merges are carried out in their order."""
    return padded(longest(other, merges))


@other_encoded.misconception()
def merges_of_its_own(other):
    """You looked for new merges in this text. The merges are those of your first text."""
    return padded(rows(other, learned(other))[-1])


@other_encoded.misconception()
def last_merge_first(other, merges):
    """You began with the last merge. The order is the one in which they were found."""
    return padded(backwards(other, merges))


@other_encoded.misconception()
def first_merge_alone(other, merges):
    """You carried out the first merge. All three are to be carried out, one after the other."""
    return padded(rows(other, merges)[1])


@other_encoded.misconception()
def third_merge_missing(other, merges):
    """The third merge is missing. All three are to be carried out, one after the other."""
    return padded(rows(other, merges)[2])


@other_encoded.misconception()
def first_places_alone(other, merges):
    """You carried out each merge at one place. It is carried out wherever its pair stands."""
    return padded(at_first_places(other, merges))


@other_encoded.misconception()
def begun_on_the_right(other, merges):
    """In a run you merged from the right. Go from left to right."""
    return padded(from_the_right(other, merges))


@other_encoded.misconception()
def right_token_left_standing(other, merges):
    """You left the right token of a merged pair standing. The new one takes the place of both."""
    row = list(map(int, other))
    for new, pair in enumerate(np.asarray(merges).astype(int).tolist(), LETTERS):
        row = [new if row[i : i + 2] == pair else token for i, token in enumerate(row)]
    return row


@other_encoded.misconception()
def text_encoded(text, merges):
    """That is how `text` ends. Asked for is `other`."""
    return padded(rows(text, merges)[-1])[:10]


@other_encoded.misconception()
def filled_with_zeros(other, merges):
    """You filled up with 0, which is a token. What is left over is −1."""
    return [max(token, 0) for token in padded(rows(other, merges)[-1])]


@other_encoded.misconception()
def left_where_they_arise(other, merges):
    """You left each −1 where its place became free. They stand behind all tokens."""
    size = [1] * LETTERS
    for one, two in np.asarray(merges).astype(int).tolist():
        size.append(sum(size[token] for token in (one, two) if token < len(size)))
    found = rows(other, merges)[-1]
    return [each for token in found for each in (token, *[-1] * (size[token] - 1))]


@other_encoded.misconception()
def nothing_merged(other):
    """That is the text as it is. Which of the merges can be carried out in it?"""
    return padded(other)


@exercise.part(points=0.5, answer=Count())
def of_the_run(run):
    """A run of equal tokens: the places of the pair, the tokens after one merge and after two."""
    once = merged([0] * run, (0, 0), 1)
    return [run - 1, len(once), len(merged(once, (1, 1), 2))]


@of_the_run.misconception()
def last_one_dropped(run):
    """In an odd number of tokens one is left over. It stays in the text."""
    return [run - 1, run // 2, run // 2 // 2]


@of_the_run.misconception()
def places_as_many_as_tokens(run):
    """The last token has nothing behind it: there is one place less than there are tokens."""
    once = merged([0] * run, (0, 0), 1)
    return [run, len(once), len(merged(once, (1, 1), 2))]


@of_the_run.misconception()
def places_without_overlap(run):
    """In a run such as 0 0 0 the pair (0, 0) stands at two places, and both are counted."""
    once = merged([0] * run, (0, 0), 1)
    return [run // 2, len(once), len(merged(once, (1, 1), 2))]


@of_the_run.misconception()
def all_places_merged(run):
    """Places that overlap can't all be merged: a token is used up once."""
    return [run - 1, 1, 1]


@of_the_run.misconception()
def left_over_token_merged(run):
    """The token that was left over is another one, and no pair of the second merge."""
    once = (run + 1) // 2
    return [run - 1, once, (once + 1) // 2]


@of_the_run.misconception()
def second_merge_forgotten(run):
    """The second merge puts (1, 1) together. You have the tokens that were there before."""
    once = len(merged([0] * run, (0, 0), 1))
    return [run - 1, once, once]


@of_the_run.misconception()
def tokens_that_were_saved(run):
    """You counted the tokens that are saved. How many are left?"""
    once = merged([0] * run, (0, 0), 1)
    return [run - 1, run - len(once), run - len(merged(once, (1, 1), 2))]


@exercise.part(
    points=1,
    answer=Choice(
        [
            "The text becomes $c$ tokens shorter.",
            "Right afterwards the pair $(x, y)$ stands nowhere in the text.",
            "None of the later merges finds a pair more than $c$ times.",
            "Right afterwards the token $x$ stands nowhere in the text.",
            "The counts of all other pairs stay as they are.",
            "The vocabulary stays as large as it was.",
        ],
        multiple=True,
    ),
)
def claims():
    """What is true of a merge of x and y, two different tokens that stand c times side by side."""
    return "ABC"


claims.mistakes(
    shortening_denied=(
        "BC",
        "You left out “The text becomes c tokens shorter”. Can two places of (x, y) overlap?",
    ),
    pair_left_over=(
        "AC",
        "You left out “the pair stands nowhere”. Each of its places is merged: can a new one "
        "arise?",
    ),
)


@claims.misconception()
def later_ones_commoner():
    """You left out “None of the later merges finds a pair more than c times”.

    How often stands a pair of old tokens afterwards, compared with before, and how often the new
    token?
    """
    return "AB"


claims.mistakes(
    token_used_up=(
        "ABCD",
        "You marked “the token x stands nowhere”. May it also stand in front of something else?",
    ),
    others_untouched=(
        "ABCE",
        "You marked “The counts of all other pairs stay”. What stood in front of x, and behind y?",
    ),
    vocabulary_replaced=(
        "ABCF",
        "You marked “The vocabulary stays as large”. Old tokens stay in it, a new one is added.",
    ),
)
