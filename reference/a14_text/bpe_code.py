"""Byte-pair encoding as a program: learn merges, encode, decode.

Source: Sennrich et al. (2016), algorithm 1; Radford et al. (2019), section 2.2, for bytes.
"""

from collections import Counter
from itertools import pairwise

import numpy as np
from jaxtyping import Int, Integer
from numpy import ndarray

from autograder.exercise import Choice, Exercise, agree, data_file, require
from autograder.exercise.properties import leaves_alone

exercise = Exercise(
    "bpe_code",
    title="A tokeniser",
    source="Sennrich et al. (2016), algorithm 1",
    minutes=75,
    hints=[
        "Write a helper that replaces one pair by one new token in a list, from left to right, "
        "with an index that moves on by two or by one. Training and encoding both need it.",
        "`min` takes a key: let it be the count with a minus sign, and then the pair itself. "
        "What does Python do with tuples that begin alike?",
        "To decode, build the bytes of every token once: those of a merged token are the bytes "
        "of its left part, followed by those of its right part.",
    ],
)

COURSE = np.frombuffer(data_file("a14_text/course.txt").read_bytes(), np.uint8).astype(int)
LEARNT = np.load(data_file("a14_text/merges.npy")).astype(int)


def merged(ids, pair, new):
    """Replace a pair by a new token, from left to right."""
    out, i = [], 0
    while i < len(ids):
        if i + 1 < len(ids) and (ids[i], ids[i + 1]) == tuple(pair):
            out.append(new)
            i += 2
        else:
            out.append(ids[i])
            i += 1
    return out


def right_to_left(ids, pair, new):
    """Replace a pair by a new token, from right to left."""
    return merged(ids[::-1], pair[::-1], new)[::-1]


def listed(x):
    """Whole numbers of Python."""
    return [int(token) for token in x]


def commonest(counts):
    """The pair at most places; of several that with the smallest tokens."""
    return min(counts, key=lambda pair: (-counts[pair], pair))


def learn(x, count, V=256, chosen=commonest, least=2, replaced=merged):
    """Learn merges, by some rule for which pair is next, until it stands at too few places."""
    ids, found = listed(x), []
    while len(found) < count:
        counts = Counter(pairwise(ids))
        if not counts or counts[pair := chosen(counts)] < least:
            break
        ids = replaced(ids, pair, V + len(found))
        found.append(pair)
    return np.array(found, int).reshape(-1, 2)


@exercise.reference
def train(x: Integer[ndarray, " n"], count: int, V: int = 256) -> Int[ndarray, "k 2"]:
    """Return the first merges of a text, at most count of them."""
    return learn(x, count, V)


@exercise.alternative
def with_sorted_pairs(x, count, V=256):
    """Sort the pairs, and return a list of tuples."""
    ids, merges = listed(x), []
    for new in range(V, V + count):
        places = {}
        for i in range(len(ids) - 1):
            places.setdefault((ids[i], ids[i + 1]), []).append(i)
        if not places:
            break
        pair, at = sorted(places.items(), key=lambda item: (-len(item[1]), item[0]))[0]
        if len(at) == 1:
            break
        merges.append(pair)
        i = 0
        while i < len(ids) - 1:
            if (ids[i], ids[i + 1]) == pair:
                ids[i : i + 2] = [new]
            i += 1
    return merges


@exercise.alternative
def in_arrays(x, count, V=256):
    """Number the pairs, and find the places of one with NumPy."""
    ids, size, found = np.array(x, dtype=np.int64), V + count, []
    for new in range(V, size):
        numbers, counts = np.unique(ids[:-1] * size + ids[1:], return_counts=True)
        if len(ids) < 2 or counts.max() < 2:
            break
        one, two = divmod(int(numbers[counts.argmax()]), size)
        found.append((one, two))
        at, last = [], -2
        for i in np.flatnonzero((ids[:-1] == one) & (ids[1:] == two)):
            if i != last + 1 or one != two:
                at.append(i)
                last = i
        ids[at] = new
        ids = np.delete(ids, np.array(at) + 1)
    return np.array(found).reshape(-1, 2)


@exercise.alternative
def as_text(x, count, V=256):
    """Let the replacing of text do the merging, with a sign for each token."""
    text, merges = "".join(chr(0x1000 + int(token)) for token in x), []
    for new in range(V, V + count):
        pairs = Counter(text[i : i + 2] for i in range(len(text) - 1))
        best = max(pairs.values(), default=0)
        if best < 2:
            break
        pair = min(pair for pair, places in pairs.items() if places == best)
        text = text.replace(pair, chr(0x1000 + new))
        merges.append([ord(sign) - 0x1000 for sign in pair])
    return merges


def letters(text):
    """The bytes of a text."""
    return np.frombuffer(text.encode(), np.uint8).astype(int)


def same_merges(given, x, count, V=256):
    """Require the merges of a text, whose number is looked at first."""
    expected, given = learn(x, count, V), np.asarray(given)
    rows = not given.size or (given.ndim == 2 and given.shape[1] == 2)
    require(rows, "a merge is a row of the two tokens that it puts together")
    given = np.reshape(given, (-1, 2))
    require(len(given) == len(expected), f"{len(expected)} merges are expected, not {len(given)}")
    agree(given, expected, what="the merges")


@exercise.check(points=1, visible=True)
def merges_of_a_line(call, rng):
    """The merges of a short line, where one pair is always the commonest."""
    same_merges(call(letters("low low low lower lower newer newer"), 4), SHORT, 4)


SHORT = letters("low low low lower lower newer newer")


@exercise.check(points=0.5)
def equal_counts(call, rng):
    """Of several pairs with the largest count the one with the smaller tokens is merged."""
    for _ in range(6):
        x = rng.permutation(np.repeat(rng.choice(256, 6, replace=False), 4))
        same_merges(call(x, 5), x, 5)
    pairs = [[5, 3], [5, 9], [4, 8], [4, 7], [1, 6]]
    x = np.array([(*pair, 60 + place) for place, pair in enumerate(pairs + pairs[::-1])]).ravel()
    same_merges(call(x, 5), x, 5)


@exercise.check(points=0.5)
def runs(call, rng):
    """In a run all places of the pair are counted, and the merging begins on the left."""
    for length in (5, 8):
        x = np.array([7] * length + [3, 9, 3, 9, 3, 9, 3, 9, 1, 2, 1, 2, 1, 2])
        same_merges(call(x, 4), x, 4)
    x = np.array([7, 7, 7, 3] * 3)
    same_merges(call(x, 4), x, 4)


@exercise.check(points=0.5)
def as_by_hand(call, rng):
    """Three letters, and new tokens from 3 on: the merges that you find by hand."""
    for _ in range(6):
        x = rng.choice(3, 18, p=[0.5, 0.3, 0.2])
        same_merges(call(x, 3, 3), x, 3, 3)


@exercise.check(points=0.5)
def a_page_of_the_course(call, rng):
    """Twenty merges of 1,500 bytes of the course, in the type in which they are read."""
    start = int(rng.integers(0, 300_000))
    x = COURSE[start : start + 1500].astype(np.uint8)
    same_merges(call(x, 20), x, 20)


@exercise.check(points=0.5)
def it_ends(call, rng):
    """Where no pair stands at two places there are no more merges; an empty text has none."""
    for x in ([1, 2, 3, 1, 2], [5, 6, 7], [9], [], [4, 4], [0, 1, 0, 1, 0, 1], [6, 6, 6]):
        same_merges(call(np.array(x, int), 10), x, 10)


@exercise.misconception
def counted_once(x, count, V=256):
    """You took the commonest pairs of the beginning. Count anew after each merge."""
    counts = Counter(pairwise(listed(x)))
    best = sorted(counts, key=lambda pair: (-counts[pair], pair))
    return np.array([p for p in best[:count] if counts[p] > 1], int).reshape(-1, 2)


@exercise.misconception
def first_of_equals(x, count, V=256):
    """Of pairs with equal counts you take the one that comes first in the text.

    The one with the smaller tokens is asked for.
    """
    return learn(x, count, V, lambda counts: max(counts, key=counts.get))


@exercise.misconception
def largest_of_equals(x, count, V=256):
    """Of pairs with equal counts you take the one with the larger tokens."""
    return learn(x, count, V, lambda counts: max(counts, key=lambda p: (counts[p], p)))


@exercise.misconception
def by_the_second_token(x, count, V=256):
    """Of pairs with equal counts you compare the tokens on the right first."""
    return learn(x, count, V, lambda c: min(c, key=lambda p: (-c[p], p[1], p[0])))


@exercise.misconception
def larger_right_token(x, count, V=256):
    """Of pairs with equal counts and one left token the smaller token on the right comes first."""
    return learn(x, count, V, lambda c: min(c, key=lambda p: (-c[p], p[0], -p[1])))


@exercise.misconception
def larger_left_token(x, count, V=256):
    """Of pairs with equal counts the one with the smaller token on the left comes first."""
    return learn(x, count, V, lambda c: min(c, key=lambda p: (-c[p], -p[0], p[1])))


@exercise.misconception
def last_of_equals(x, count, V=256):
    """Of pairs with equal counts you take the one that comes last in the text.

    The one with the smaller tokens is asked for.
    """
    return learn(x, count, V, lambda c: max(reversed([*c]), key=c.get))


@exercise.misconception
def smaller_sum_of_equals(x, count, V=256):
    """Of pairs with equal counts you add the tokens up. Compare those on the left first."""
    return learn(x, count, V, lambda c: min(c, key=lambda p: (-c[p], sum(p), p)))


@exercise.misconception
def equals_compared_as_spelt(x, count, V=256):
    """Of pairs with equal counts you compare what the tokens stand for. Compare their numbers."""
    ids, found, spelt = listed(x), [], {}
    for new in range(V, V + count):
        places = Counter(pairwise(ids))
        word = lambda token: spelt.get(token, (token,))  # noqa: E731
        best = min(places, key=lambda p: (-places[p], word(p[0]), word(p[1])), default=None)
        if best is None or places[best] < 2:
            break
        spelt[new] = word(best[0]) + word(best[1])
        ids = merged(ids, best, new)
        found.append(best)
    return np.array(found, int).reshape(-1, 2)


@exercise.misconception
def begun_from_the_right(x, count, V=256):
    """In a run you merge from the right. Begin on the left."""
    return learn(x, count, V, replaced=right_to_left)


@exercise.misconception
def stops_where_one_is_saved(x, count, V=256):
    """You stop where a merge saves one token. 0 0 0 has two places, and one merge more."""
    ids, kept = listed(x), 0
    found = learn(x, count, V)
    for new, pair in enumerate(map(tuple, found.tolist()), V):
        shorter = merged(ids, pair, new)
        if len(ids) - len(shorter) < 2:
            break
        ids, kept = shorter, kept + 1
    return found[:kept]


@exercise.misconception
def count_for_the_vocabulary(x, count, V=256):
    """You take `count` for the size of the vocabulary. It is how many merges come back."""
    return learn(x, max(count - V, 0), V)


@exercise.misconception
def one_merge_more(x, count, V=256):
    """You return one merge more than `count`."""
    return learn(x, count + 1, V)


@exercise.misconception
def last_pair_not_counted(x, count, V=256):
    """You leave out the last pair of the text: of n tokens n − 1 have one behind them."""

    def without_the_last(x, count):
        ids, found = listed(x), []
        while len(found) < count:
            places = Counter(pairwise(ids[:-1]))
            if not places or places[pair := commonest(places)] < 2:
                break
            ids = merged(ids, pair, V + len(found))
            found.append(pair)
        return np.array(found, int).reshape(-1, 2)

    return without_the_last(x, count)


@exercise.misconception
def places_without_overlap(x, count, V=256):
    """In a run such as 7 7 7 the pair (7, 7) stands at two places. You count one of them."""
    ids, found = listed(x), []
    while len(found) < count and len(ids) > 1:
        counts = dict(Counter(pairwise(ids)))
        counts |= {p: merged(ids, p, -1).count(-1) for p in counts if p[0] == p[1]}
        pair = min(counts, key=lambda p: (-counts[p], p))
        if counts[pair] < 2:
            break
        ids = merged(ids, pair, V + len(found))
        found.append(pair)
    return np.array(found, int).reshape(-1, 2)


@exercise.misconception
def new_tokens_left_out(x, count, V=256):
    """You merge old tokens only. A new token is one like all others."""

    def chosen(counts):
        old = [pair for pair in counts if max(pair) < V] or list(counts)
        return min(old, key=lambda p: (-counts[p], p))

    return learn(x, count, V, chosen)


@exercise.misconception
def numbered_behind_the_largest(x, count, V=256):
    """Your new tokens begin behind the largest one of the text. The first of them is V."""
    return learn(x, count, max(listed(x), default=0) + 1)


@exercise.misconception
def numbered_from_256(x, count, V=256):
    """Your new tokens begin with 256, whatever V is."""
    return learn(x, count, 256)


@exercise.misconception
def goes_on_with_single_places(x, count, V=256):
    """You go on where no pair stands at two places: nothing is gained by such a merge."""
    return learn(x, count, V, least=1)


@exercise.misconception
def one_merge_less(x, count, V=256):
    """One merge is missing at the end."""
    return learn(x, count, V)[: max(count - 1, 0)]


@exercise.misconception
def one_place_merged(x, count, V=256):
    """You merge a pair at its first place. It is merged wherever it stands."""
    ids, found = listed(x), []
    while len(found) < count:
        counts = Counter(pairwise(ids))
        pair = min(counts, key=lambda p: (-counts[p], p), default=None)
        if pair is None or counts[pair] < 2:
            break
        i = next(i for i, each in enumerate(pairwise(ids)) if each == pair)
        ids[i : i + 2] = [V + len(found)]
        found.append(pair)
    return np.array(found, int).reshape(-1, 2)


@exercise.misconception
def order_of_a_pair_ignored(x, count, V=256):
    """You take a pair and its reverse for one. Token 1 before 2 is not 2 before 1."""

    def chosen(counts):
        both = {p: n + (counts[p[::-1]] if p[0] != p[1] else 0) for p, n in counts.items()}
        return min(both, key=lambda p: (-both[p], p))

    return learn(x, count, V, chosen)


@exercise.misconception
def stops_below_three(x, count, V=256):
    """You stop where no pair stands at three places. Two are enough."""
    return learn(x, count, V, least=3)


@exercise.misconception
def type_of_bytes_kept(x, count, V=256):
    """Your text keeps the type of its bytes, into which no token above 255 fits: 256 becomes 0."""
    top = np.iinfo(x.dtype).max + 1 if x.dtype.kind in "iu" else 2**63
    return learn(x, count, V, replaced=lambda ids, pair, new: merged(ids, pair, new % top))


@exercise.misconception
def blanks_begin_no_pair(x, count, V=256):
    """You leave out pairs that begin with a blank. Here a blank is a byte like all others."""

    def chosen(counts):
        return min(counts, key=lambda p: (p[0] == ord(" "), -counts[p], p))

    return learn(x, count, V, chosen)


@exercise.misconception
def right_token_stays(x, count, V=256):
    """You put the new token in the place of the left one, and leave the right one standing."""

    def replaced(ids, pair, new):
        behind = [*ids[1:], None]
        return [new if both == pair else both[0] for both in zip(ids, behind, strict=True)]

    return learn(x, count, V, replaced=replaced)


@exercise.misconception(credit=0.5)
def three_in_a_row(x, count, V=256):
    """A merge is a row of two tokens. The new one need not stand there: its row says which."""
    found = learn(x, count, V)
    return np.column_stack([found, V + np.arange(len(found))])


@exercise.misconception
def new_token_beside_the_old(x, count, V=256):
    """You find each pair again and again: in the text a new token takes its place."""
    return np.repeat(learn(x, 1, V), count, axis=0)


@exercise.reference
def encode(
    x: Integer[ndarray, " n"], merges: Int[ndarray, "k 2"], V: int = 256
) -> Int[ndarray, " m"]:
    """Return the tokens of a text: the merges, carried out in their order."""
    ids = listed(x)
    for new, pair in enumerate(map(tuple, np.reshape(merges, (-1, 2)).tolist()), V):
        ids = merged(ids, pair, new)
    return np.array(ids, int)


@exercise.alternative
def earliest_merge_that_fits(x, merges, V=256):
    """Look for the earliest merge among the pairs of the text, again and again."""
    rank = {(int(a), int(b)): number for number, (a, b) in enumerate(merges)}
    ids = listed(x)
    while True:
        pair = min(pairwise(ids), key=lambda pair: rank.get(pair, len(rank)), default=None)
        if pair not in rank:
            return ids
        ids = merged(ids, pair, V + rank[pair])


@exercise.alternative
def cut_out_of_the_list(x, merges, V=256):
    """Change the list in place."""
    ids = listed(x)
    for number in range(len(merges)):
        i = 0
        while i < len(ids) - 1:
            if ids[i] == merges[number][0] and ids[i + 1] == merges[number][1]:
                ids[i : i + 2] = [V + number]
            i += 1
    return ids


@exercise.alternative
def with_signs_for_tokens(x, merges, V=256):
    """Let the replacing of text do it."""
    sign = lambda token: chr(0x1000 + int(token))  # noqa: E731
    text = "".join(map(sign, x))
    for number, (one, two) in enumerate(merges):
        text = text.replace(sign(one) + sign(two), sign(V + number))
    return [ord(each) - 0x1000 for each in text]


def same_tokens(given, x, merges, V=256):
    """Require the tokens of a text, whose number is looked at first."""
    expected, given = encode(x, merges, V), np.ravel(given)
    require(len(given) == len(expected), f"{len(expected)} tokens are expected, not {len(given)}")
    agree(given, expected, what="the tokens")


@exercise.check(points=1, visible=True)
def tokens_of_a_line(call, rng):
    """Another line, with the merges of the first one."""
    x, merges = letters("newest lower slow"), learn(SHORT, 6)
    same_tokens(call(x, merges), x, merges)
    leaves_alone(call, x.copy(), merges)


@exercise.check(points=0.75)
def merges_in_their_order(call, rng):
    """The first merge is carried out everywhere before the second one is."""
    for merges, x in (
        ([[1, 2], [0, 1]], [0, 1, 2, 0, 1, 0, 1, 2]),
        ([[5, 6], [256, 7], [4, 256]], [4, 5, 6, 7, 5, 6, 4, 5, 6]),
        ([[8, 8], [256, 256], [256, 8]], [8] * 11),
    ):
        same_tokens(call(np.array(x), np.array(merges)), x, merges)


@exercise.check(points=0.5)
def a_page_in_tokens(call, rng):
    """Bytes of the course, as they are read, with its first 200 merges; and letters 0, 1, 2."""
    start = int(rng.integers(0, 300_000))
    x = COURSE[start : start + 400].astype(np.uint8)
    same_tokens(call(x, LEARNT[:200]), x, LEARNT[:200])
    x, merges = rng.choice(3, 12), learn(rng.choice(3, 30), 4, 3)
    same_tokens(call(x, merges, 3), x, merges, 3)


@exercise.check(points=0.25)
def nothing_to_merge(call, rng):
    """No merges, a single byte, and no text at all: that is what comes back."""
    same_tokens(call(np.array([200, 201]), np.array([[200, 201]])), [200, 201], [[200, 201]])
    for x in ([1, 2, 3], [7], []):
        x = np.array(x, int)
        same_tokens(call(x, np.zeros((0, 2), int)), x, [])
        same_tokens(call(x, np.array([[200, 201]])), x, [[200, 201]])


@exercise.misconception
def tokens_in_a_byte(x, merges, V=256):
    """Your tokens keep the type of the bytes, into which none above 255 fits: 256 becomes 0."""
    return encode(x, merges, V).astype(x.dtype)


@exercise.misconception
def longest_token_first(x, merges, V=256):
    """You look for the longest token at each place. Merges are carried out in their order."""
    spelt = {token: [token] for token in {*listed(x), *listed(np.ravel(merges))} if token < V}
    for new, (one, two) in enumerate(np.reshape(merges, (-1, 2)).tolist(), V):
        spelt[new] = spelt[one] + spelt[two]
    by_length = sorted(spelt, key=lambda token: -len(spelt[token]))
    ids, out = listed(x), []
    while ids:
        token = next(t for t in by_length if ids[: len(spelt[t])] == spelt[t])
        out.append(token)
        ids = ids[len(spelt[token]) :]
    return np.array(out, int)


@exercise.misconception
def last_merge_first(x, merges, V=256):
    """You begin with the last merge. Its pair may hold tokens that earlier ones make."""
    ids = listed(x)
    for number in reversed(range(len(merges))):
        ids = merged(ids, tuple(listed(merges[number])), V + number)
    return np.array(ids, int)


@exercise.misconception
def one_way_through_the_text(x, merges, V=256):
    """You go through the text once, and merge what fits. Each merge goes through all of it."""
    rank = {tuple(listed(pair)): V + number for number, pair in enumerate(merges)}
    out = []
    for token in listed(x):
        out.append(token)
        while len(out) > 1 and tuple(out[-2:]) in rank:
            out[-2:] = [rank[tuple(out[-2:])]]
    return np.array(out, int)


@exercise.misconception
def text_as_it_is(x, merges, V=256):
    """You give the text back as it is: no merge is carried out."""
    return np.array(listed(x), int)


@exercise.misconception
def merges_learnt_anew(x, merges, V=256):
    """You learn merges from this text. Carry out those that are given."""
    return encode(x, learn(x, len(merges), V), V)


@exercise.misconception
def pairs_of_the_text_alone(x, merges, V=256):
    """You merge bytes only. What a merge has made may be part of a later pair."""
    ids = listed(x)
    for number, pair in enumerate(merges):
        if max(listed(pair)) < V:
            ids = merged(ids, tuple(listed(pair)), V + number)
    return np.array(ids, int)


@exercise.misconception
def first_place_alone(x, merges, V=256):
    """You carry out each merge at one place. It is carried out wherever its pair stands."""
    ids = listed(x)
    for new, pair in enumerate(np.reshape(merges, (-1, 2)).tolist(), V):
        at = [i for i, each in enumerate(pairwise(ids)) if list(each) == pair][:1]
        for i in at:
            ids[i : i + 2] = [new]
    return np.array(ids, int)


@exercise.misconception
def new_tokens_from_256(x, merges, V=256):
    """Your new tokens begin with 256, whatever V is."""
    return encode(x, merges)


@exercise.misconception
def numbered_from_257(x, merges, V=256):
    """The first merge makes token V, not V + 1."""
    return encode(x, merges, V + 1)


@exercise.misconception
def merged_from_the_right(x, merges, V=256):
    """In a run you merge from the right. Begin on the left."""
    ids = listed(x)
    for new, pair in enumerate(np.reshape(merges, (-1, 2)).tolist(), V):
        ids = right_to_left(ids, pair, new)
    return np.array(ids, int)


@exercise.misconception
def tokens_from_zero(x, merges, V=256):
    """You number new tokens from 0. The first merge makes token V."""
    ids = np.array(encode(x, merges, V))
    return np.where(ids < V, ids, ids - V)


@exercise.misconception
def stops_at_a_merge_that_is_not_there(x, merges, V=256):
    """You stop at a merge whose pair the text lacks. It may have the pairs of later ones."""
    ids = listed(x)
    for new, pair in enumerate(map(tuple, np.reshape(merges, (-1, 2)).tolist()), V):
        if pair not in [*pairwise(ids)]:
            break
        ids = merged(ids, pair, new)
    return np.array(ids, int)


@exercise.misconception
def right_token_is_left(x, merges, V=256):
    """You leave the right token of a merged pair standing: the new one takes the place of both."""
    ids = listed(x)
    for new, pair in enumerate(map(tuple, np.reshape(merges, (-1, 2)).tolist()), V):
        behind = [*ids[1:], None]
        ids = [new if both == pair else both[0] for both in zip(ids, behind, strict=True)]
    return np.array(ids, int)


@exercise.misconception
def tokens_used_twice(x, merges, V=256):
    """In a run you use a token twice. Behind a place that is merged go on with the next token."""
    ids = listed(x)
    for new, pair in enumerate(map(tuple, np.reshape(merges, (-1, 2)).tolist()), V):
        fits = [both == pair for both in pairwise(ids)]
        ids = [
            new if here else token
            for token, here, used in zip(ids, [*fits, False], [False, *fits], strict=True)
            if here or not used
        ]
    return np.array(ids, int)


@exercise.misconception
def either_order(x, merges, V=256):
    """You merge a pair and its reverse. Token 1 before 2 is not 2 before 1."""
    ids = listed(x)
    for new, pair in enumerate(map(tuple, np.reshape(merges, (-1, 2)).tolist()), V):
        ids = merged(merged(ids, pair, new), pair[::-1], new)
    return np.array(ids, int)


@exercise.misconception
def last_merge_left_out(x, merges, V=256):
    """You leave out the last merge."""
    return encode(x, merges[: max(len(merges) - 1, 0)], V)


@exercise.misconception
def last_token_dropped(x, merges, V=256):
    """The last token of a text is lost, unless it is merged: it has no pair of its own."""
    ids = listed(x)
    for new, pair in enumerate(map(tuple, np.reshape(merges, (-1, 2)).tolist()), V):
        whole = merged(ids, pair, new)
        ids = whole if whole and whole[-1] == new else whole[:-1]
    return np.array(ids, int)


@exercise.reference
def decode(
    ids: Int[ndarray, " m"], merges: Int[ndarray, "k 2"], V: int = 256
) -> Int[ndarray, " n"]:
    """Return the text whose tokens these are."""
    spelt = spellings(merges, V)
    return np.array([byte for token in listed(ids) for byte in spelt(token)], int)


def spellings(merges, V=256):
    """A function that spells a token."""

    def spelt(token):
        if token < V:
            return [token]
        one, two = listed(merges[token - V])
        return spelt(one) + spelt(two)

    return spelt


@exercise.alternative
def last_merge_undone_first(ids, merges, V=256):
    """Undo the merges one by one, the last one first."""
    found = listed(ids)
    for number in reversed(range(len(merges))):
        longer = []
        for token in found:
            longer += listed(merges[number]) if token == V + number else [token]
        found = longer
    return found


@exercise.alternative
def with_a_table(ids, merges, V=256):
    """Spell every token once, and put the spellings together."""
    table = [[token] for token in range(V)]
    for one, two in merges:
        table.append(table[int(one)] + table[int(two)])
    return [byte for token in ids for byte in table[int(token)]]


@exercise.alternative
def with_a_stack(ids, merges, V=256):
    """Take tokens from a stack, and put the two parts of a merged one back."""
    stack, out = [int(token) for token in ids][::-1], []
    while stack:
        token = stack.pop()
        if token < V:
            out.append(token)
        else:
            one, two = merges[token - V]
            stack += [int(two), int(one)]
    return np.array(out, dtype=np.uint8 if V == 256 else int)


def same_text(given, x):
    """Require a text, whose length is looked at first."""
    given = np.ravel(given)
    require(len(given) == len(x), f"{len(x)} bytes are expected, not {len(given)}")
    agree(given, x, what="the text")


@exercise.check(points=0.75, visible=True)
def a_line_again(call, rng):
    """Tokens of a line become that line."""
    x, merges = letters("slower, newest, lowest"), learn(SHORT, 6)
    same_text(call(encode(x, merges), merges), x)


@exercise.check(points=0.5)
def there_and_back(call, rng):
    """Whatever bytes a text has, decode(encode(x)) is x, with your own `encode`, too."""
    start = int(rng.integers(0, 300_000))
    for x in (COURSE[start : start + 300], np.arange(256), rng.integers(0, 256, 200), np.ones(9)):
        x, merges = x.astype(int), LEARNT[:300]
        same_text(call(call.own(encode)(x, merges), merges), x)


@exercise.check(points=0.25)
def without_merges(call, rng):
    """Without merges tokens are bytes; no tokens are no text; and V may be another one."""
    none = np.zeros((0, 2), int)
    for x in ([0, 255, 7], []):
        same_text(call(np.array(x, int), none), x)
    merges = learn(rng.choice(3, 30), 4, 3)
    x = rng.choice(3, 20)
    same_text(call(encode(x, merges, 3), merges, 3), x)


@exercise.misconception
def undone_once(ids, merges, V=256):
    """You undo one merge for each token. Its parts may have been merged, too.

    Whoever goes through the merges begins with the last one.
    """
    return np.array(
        [b for t in listed(ids) for b in ([t] if t < V else listed(merges[t - V]))], int
    )


@exercise.misconception
def parts_exchanged(ids, merges, V=256):
    """You put the right part of a token in front of the left one."""
    return decode(ids, np.reshape(merges, (-1, 2))[:, ::-1], V)


@exercise.misconception
def left_part_alone_spelt(ids, merges, V=256):
    """You spell the left part of a token alone. The right one may be merged as well."""

    def spelt(token):
        return [token] if token < V else [*spelt(int(merges[token - V][0])), right(token)]

    def right(token):
        return int(merges[token - V][1])

    return np.array([byte for token in listed(ids) for byte in spelt(token)], int)


@exercise.misconception
def right_part_alone_spelt(ids, merges, V=256):
    """You spell the right part of a token alone. The left one may be merged as well."""

    def spelt(token):
        return [token] if token < V else [left(token), *spelt(int(merges[token - V][1]))]

    def left(token):
        return int(merges[token - V][0])

    return np.array([byte for token in listed(ids) for byte in spelt(token)], int)


@exercise.misconception
def new_tokens_dropped(ids, merges, V=256):
    """You leave out tokens from V on. They stand for bytes, too: for those of their parts."""
    return np.array([token for token in listed(ids) if token < V], int)


@exercise.misconception
def merges_from_256(ids, merges, V=256):
    """You take a token below 256 for a byte, whatever V is."""
    return decode(ids, merges)


@exercise.misconception
def tokens_as_bytes(ids, merges, V=256):
    """You take tokens for bytes. What stands at 256 and above was merged."""
    return np.array(listed(ids), int) % 256


@exercise.misconception(credit=0.5)
def bytes_as_letters(ids, merges, V=256):
    """You make letters of bytes, and lose those above 127. A text may hold any bytes."""
    return np.array([byte if byte < 128 else ord("?") for byte in decode(ids, merges, V)], int)


@exercise.misconception
def off_by_one_merge(ids, merges, V=256):
    """Token V belongs to the first merge, which stands at place 0."""
    place = lambda t: (t - V + 1) % max(len(merges), 1)  # noqa: E731
    spelt = spellings(merges, V)
    return np.array(
        [
            byte
            for token in listed(ids)
            for byte in (spelt(token) if token < V else spelt(V + place(token)))
        ],
        int,
    )


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "Because every text can be encoded: whatever stands in it, also a sign that never "
            "stood in the training text, is a row of bytes.",
            "Because a byte is always one letter, so that tokens never end within one.",
            "Because texts become shorter: there are fewer bytes in a text than letters.",
            "Because the commonest pairs are then those of whole words.",
        ]
    ),
)
def why_bytes():
    """Why does one begin with the 256 bytes, and not with the letters of the training text?"""
    return "A"


why_bytes.mistakes(
    one_byte_a_letter=(
        "B",
        "How many bytes has √ or é in UTF-8? A token may well end within such a letter.",
    ),
    fewer_bytes=(
        "C",
        "A letter takes one byte or more, so a text has at least as many bytes as letters.",
    ),
    words_by_bytes=(
        "D",
        "What is commonest depends on the text. Which texts could not be encoded with letters?",
    ),
)
