"""A decoder of two layers learns from the lessons of this course.

Source: Radford et al. (2018), "Improving language understanding by generative pre-training"; Xiong
et al. (2020), "On layer normalization in the transformer architecture".
"""

from functools import cached_property
from itertools import pairwise

import numpy as np

from autograder.exercise import Choice, Exercise, Mismatch, data_file, require
from autograder.exercise.properties import took_work
from reference.helpers import (
    Pass,
    adam,
    cross_entropy,
    initial_weights,
    layer_shapes,
    sinusoids,
    softmax,
)

exercise = Exercise(
    "train_text",
    title="A model that has read this course",
    source="Radford et al. (2018); Xiong et al. (2020); Kingma and Ba (2015)",
    minutes=120,
    hints=[
        "A layer is that of your encoder, with the mask of a decoder. Take one batch of eight "
        "windows, and train on it alone until its loss is near 0: if that fails, more text won't "
        "help.",
        "Print a window's tokens and its labels below each other: at each place, what is known, "
        "and what is to be said? Then change the last token of an input, and see which logits "
        "move.",
        "For the curves look at the beginning and at the end apart: who starts slowly, who is "
        "ahead and then is not, and who never gets below what counting tokens reaches?",
    ],
)

# Losses at STEPS, means of up to five steps, of four runs that differ in their rates alone: by
# seed. bench/reading.py measures them.
STEPS = (1, 5, 10, 20, 40, 70, 100, 150, 200, 300, 400, 500)
CURVES = (
    {
        "right": [6.86, 6.75, 6.42, 5.91, 5.56, 5.49, 5.18, 4.59, 4.24, 4.01, 3.75, 3.73],
        "small": [6.86, 6.8, 6.74, 6.77, 6.58, 6.19, 6.03, 5.73, 5.65, 5.55, 5.5, 5.42],
        "large": [6.86, 6.46, 5.84, 5.63, 5.56, 5.57, 5.52, 5.49, 5.52, 5.51, 5.49, 5.4],
        "cold": [6.86, 6.27, 5.78, 5.56, 5.54, 5.51, 5.44, 5.01, 4.55, 4.16, 3.96, 3.9],
    },
    {
        "right": [6.9, 6.79, 6.44, 5.87, 5.56, 5.49, 5.13, 4.66, 4.26, 4.02, 3.78, 3.78],
        "small": [6.9, 6.84, 6.75, 6.78, 6.55, 6.23, 5.94, 5.77, 5.67, 5.56, 5.51, 5.45],
        "large": [6.9, 6.52, 5.74, 5.73, 5.54, 5.54, 5.51, 5.54, 5.52, 5.49, 5.5, 5.44],
        "cold": [6.9, 6.32, 5.68, 5.62, 5.53, 5.48, 5.45, 5.23, 4.69, 4.29, 4.03, 3.99],
    },
    {
        "right": [6.75, 6.74, 6.52, 5.94, 5.55, 5.44, 5.24, 4.57, 4.25, 4.05, 3.81, 3.73],
        "small": [6.75, 6.77, 6.74, 6.71, 6.57, 6.28, 6.04, 5.85, 5.67, 5.55, 5.52, 5.48],
        "large": [6.75, 6.54, 5.83, 5.63, 5.55, 5.5, 5.52, 5.57, 5.49, 5.48, 5.48, 5.45],
        "cold": [6.75, 6.36, 5.75, 5.56, 5.53, 5.44, 5.35, 4.95, 4.58, 4.24, 4.02, 3.92],
    },
    {
        "right": [6.72, 6.68, 6.4, 5.83, 5.56, 5.45, 5.32, 4.74, 4.39, 4.14, 3.89, 3.72],
        "small": [6.72, 6.74, 6.71, 6.58, 6.46, 6.14, 5.97, 5.79, 5.63, 5.6, 5.5, 5.53],
        "large": [6.72, 6.46, 5.75, 5.62, 5.55, 5.49, 5.58, 5.55, 5.53, 5.55, 5.48, 5.49],
        "cold": [6.72, 6.28, 5.71, 5.56, 5.55, 5.45, 5.52, 5.44, 5.04, 4.51, 4.19, 4.06],
    },
)


@exercise.variant
def draw(rng):
    """steps: where the losses were looked at; A, B, C, D: the losses of four runs."""
    runs = CURVES[int(rng.integers(len(CURVES)))]
    kinds = rng.permutation([*runs])
    curves = {letter: np.array(runs[kind]) for letter, kind in zip("ABCD", kinds, strict=True)}
    return {"steps": np.array(STEPS), **curves}


def letter_of(kind, *curves):
    """The letter under which this run is shown."""
    known = [runs[kind] for runs in CURVES]
    return next(
        letter for letter, curve in zip("ABCD", curves, strict=True) if curve.tolist() in known
    )


@exercise.part(points=0.5, answer=Choice("ABCD"))
def too_small(A, B, C, D):
    """The run with rates that are too small."""
    return letter_of("small", A, B, C, D)


@too_small.misconception()
def flat_at_the_end(A, B, C, D):
    """That one falls fast before it stops. What do small steps do in the beginning?"""
    return letter_of("large", A, B, C, D)


@too_small.misconception()
def best_called_small(A, B, C, D):
    """That one ends lowest of all. Small steps don't come that far in as many."""
    return letter_of("right", A, B, C, D)


@too_small.misconception()
def ahead_called_small(A, B, C, D):
    """That one is ahead of most after ten steps. Small steps are slow from the start."""
    return letter_of("cold", A, B, C, D)


@exercise.part(points=0.5, answer=Choice("ABCD"))
def too_large(A, B, C, D):
    """The run with rates that are too large."""
    return letter_of("large", A, B, C, D)


@too_large.misconception()
def slow_called_large(A, B, C, D):
    """That one hardly moves at first. With large steps something happens at once."""
    return letter_of("small", A, B, C, D)


@too_large.misconception()
def learns_and_called_large(A, B, C, D):
    """That one learns, if later than another. With rates ten times too large nothing more comes."""
    return letter_of("cold", A, B, C, D)


@too_large.misconception()
def best_called_large(A, B, C, D):
    """That one ends lowest of all. Nothing was too large there."""
    return letter_of("right", A, B, C, D)


@exercise.part(points=0.5, answer=Choice("ABCD"))
def no_warm_up(A, B, C, D):
    """The run that begins with the full rate."""
    return letter_of("cold", A, B, C, D)


@no_warm_up.misconception()
def warmed_up(A, B, C, D):
    """That one begins with small steps, and ends lowest. Full steps are ahead at first."""
    return letter_of("right", A, B, C, D)


@no_warm_up.misconception()
def never_learns(A, B, C, D):
    """That one never gets below what counting tokens reaches. The full rate isn't that bad."""
    return letter_of("large", A, B, C, D)


@no_warm_up.misconception()
def slow_start(A, B, C, D):
    """That one begins slowly. Without warming up the first steps are the largest."""
    return letter_of("small", A, B, C, D)


SIGNS = Choice(
    [
        "After ten steps it has hardly moved, and later it is behind for that.",
        "It falls at once, to about 5.5, which is what counting single tokens reaches, and stays"
        " near that to the end.",
        "It is ahead of the best one after ten steps, leaves the level of 5.5 later than that one,"
        " and ends above it.",
        "It rises from the first step on.",
        "It ends lowest, although it is not ahead after ten steps.",
    ]
)


@exercise.part(points=0.5, answer=SIGNS, after=too_small)
def sign_of_small():
    """What shows that its rates are too small?"""
    return "A"


sign_of_small.mistakes(
    level_for_small=("B", "To fall at once takes large steps."),
    ahead_with_small_steps=("C", "Who takes small steps is not ahead of anybody."),
    rises_with_small_steps=(
        "D",
        "Small steps against the gradient don't lead up. Look at your numbers.",
    ),
    lowest_with_small_steps=("E", "The lowest end is that of another run."),
)


@exercise.part(points=0.5, answer=SIGNS, after=too_large)
def sign_of_large():
    """What shows that its rates are too large?"""
    return "B"


sign_of_large.mistakes(
    hardly_moved_with_large_steps=("A", "Large steps move a lot."),
    leaves_the_level=("C", "Your run doesn't leave that level. Another one does."),
    rises_with_large_steps=(
        "D",
        "One would expect that of steps that are larger still. Look at your numbers.",
    ),
    lowest_with_large_steps=("E", "The lowest end is that of another run."),
)


@exercise.part(points=0.5, answer=SIGNS, after=no_warm_up)
def sign_of_no_warm_up():
    """What shows that it begins with the full rate?"""
    return "C"


sign_of_no_warm_up.mistakes(
    hardly_moved_without_warm_up=("A", "The full rate moves a lot in ten steps."),
    level_without_warm_up=("B", "Your run gets below that level in the end."),
    rises_without_warm_up=("D", "Look at your numbers: it falls in the first steps."),
    lowest_without_warm_up=("E", "The lowest end is that of the run that was warmed up."),
)


V, H, WINDOW = 512, 2, 32


class Decoder(Pass):
    """Two layers of an encoder, in which nobody looks ahead."""

    def embed(self, ids, name, encoding):
        """The same as in an encoder; of many equal ids the gradients are added by a product."""
        table = self.w[name]
        factor = np.asarray(np.sqrt(table.shape[1]), table.dtype)

        def back(g):
            which = (ids.reshape(-1, 1) == np.arange(len(table))).astype(table.dtype)
            self.grads[name] += factor * (which.T @ g.reshape(-1, g.shape[-1]))

        return factor * table[ids] + encoding, back

    def layer(self, x, place, mask):
        """Attention and a feed-forward layer, each with a sum and a norm behind it."""
        new, _, back_new = self.attend(x, x, f"{place}.self", mask)
        x, back_1 = self.norm(x + new, place, 1)
        new, back_forward = self.forward(x, place)
        x, back_2 = self.norm(x + new, place, 2)

        def back(g):
            g = back_2(g)
            g = back_1(g + back_forward(g))
            of_x, of_y = back_new(g)
            return g + of_x + of_y

        return x, back

    def read(self, ids, mask=None):
        """The logits behind each token, and the way back."""
        n, table = ids.shape[1], self.w["embed"]
        mask = np.tri(n, dtype=bool) if mask is None else mask
        x, back_embed = self.embed(ids, "embed", sinusoids(n, table.shape[1]).astype(table.dtype))
        x, back_0 = self.layer(x, "layer.0", mask)
        x, back_1 = self.layer(x, "layer.1", mask)
        logits, back_out = self.linear(x, "out.W", "out.b")
        return logits, lambda g: back_embed(back_0(back_1(back_out(g))))


def shapes(d):
    """The shape of every weight by its name."""
    found = {"embed": (V, d), "out.W": (d, V), "out.b": (V,)}
    for i in range(2):
        found |= layer_shapes(f"layer.{i}", d, 2 * d, ("self",))
    return found


def windows(text, starts):
    """Windows of the text, and what comes behind each of their tokens."""
    found = text[np.asarray(starts)[:, None] + np.arange(WINDOW + 1)]
    return found[:, :-1], found[:, 1:]


def anywhere(rng, text, count):
    """So many windows that begin at random places."""
    return windows(text, rng.integers(0, len(text) - WINDOW, count))


def trained(
    seed, d, text, *, steps=800, batch=16, rate=1e-2, drawn=anywhere, mask=None, still=(), warm=50
):
    """Train for so many steps; return weights and the loss at each step."""
    rng = np.random.default_rng(seed)
    weights = {n: w.astype(np.float32) for n, w in initial_weights(shapes(d), rng).items()}
    for name in still:
        weights[name] *= 0

    def gradients():
        ids, labels = drawn(rng, text, batch)
        there = Decoder(weights, H)
        logits, back = there.read(ids, mask)
        loss, g = cross_entropy(logits, labels)
        back(g)
        return loss, {name: g for name, g in there.grads.items() if name not in still}

    def schedule(step):
        return np.float32(rate * min(1, step / max(warm, 1)) * (1 - 0.95 * step / max(steps, 50)))

    return weights, np.array(list(adam(weights, gradients, steps, schedule)))


@exercise.reference
def train_text(seed: int, d: int, text: np.ndarray) -> tuple[dict, np.ndarray]:
    """Return the weights of a model of width d that has read the text, and all losses."""
    return trained(seed, d, text)


@exercise.alternative
def fewer_steps(seed, d, text):
    """Fewer steps."""
    return trained(seed, d, text, steps=600)


@exercise.alternative
def small_batches(seed, d, text):
    """Smaller batches, in more steps; lists for arrays."""
    weights, losses = trained(seed, d, text, steps=1100, batch=8, rate=8e-3)
    return {name: array.tolist() for name, array in weights.items()}, losses.tolist()


@exercise.alternative
def in_order(seed, d, text):
    """Windows side by side, all of them before one comes again; double precision in the end."""
    starts = np.random.default_rng(seed).permutation(np.arange(0, len(text) - WINDOW - 1, 16))
    at = [0]

    def following(rng, text, count):
        at[0] += count
        return windows(text, starts[np.arange(at[0] - count, at[0]) % len(starts)])

    weights, losses = trained(seed, d, text, steps=600, drawn=following)
    return {name: array.astype(float) for name, array in weights.items()}, losses


def lessons():
    """The ids of all lessons, by their numbers."""
    with np.load(data_file("a14_text/lessons.npz")) as file:
        return {name: file[name].astype(int) for name in file.files}


def lengths():
    """How many bytes each token has."""
    found = [1] * 256
    for one, two in np.load(data_file("a14_text/merges.npy"))[: V - 256]:
        found.append(found[one] + found[two])
    return np.array(found)


def transposed(weights):
    """The same weights, with every square matrix transposed, as torch keeps them."""
    return {n: a.T if a.ndim == 2 and a.shape[0] == a.shape[1] else a for n, a in weights.items()}


def times(weights, factor, *ends):
    """The same weights, with those whose names end so multiplied by a number."""
    return {n: a * np.float32(factor) if n.endswith(ends) else a for n, a in weights.items()}


class Pairs:
    """What counting pairs of tokens says of a text, smoothed by what counting tokens says."""

    def __init__(self, text):
        alone = np.bincount(text, minlength=V) + 0.5
        self.alone = alone / alone.sum()
        counts = np.bincount(text[:-1] * V + text[1:], minlength=V * V).reshape(V, V)
        weight = 5.0
        self.behind = (counts + weight * self.alone) / (counts.sum(axis=1, keepdims=True) + weight)

    def nats(self, ids, labels):
        """Mean loss of the labels, from the token before each and from none."""
        pairs, alone = self.behind[ids, labels], self.alone[labels]
        return tuple(float(-np.log(p).mean()) for p in (pairs, alone))


class Trained:
    """What a run gave, and what it makes of lessons that it has not read.

    The model is run here: what counts is in the weights. ``size`` has the bytes of each token.
    """

    def __init__(self, found, width, text, held, size=None):
        both = isinstance(found, tuple | list) and len(found) == 2
        require(both, "weights and losses are asked for")
        weights, self.losses = found[0], np.asarray(found[1], dtype=float)
        require(isinstance(weights, dict), "there is no dictionary of weights")
        same = {name: np.shape(array) for name, array in weights.items()} == shapes(width)
        require(same, "names or shapes are not those of the table, for the width asked for")
        self.w = {name: np.asarray(array, np.float32) for name, array in weights.items()}
        require(all(np.isfinite(w).all() for w in self.w.values()), "some weights are not finite")
        starts = np.arange(0, len(held) - WINDOW, WINDOW)
        self.text, self.ids, self.labels = text, *windows(held, starts)
        bytes_of = lengths() if size is None else size
        self.rate = 1 / (
            np.log(2) * bytes_of[self.labels].mean()
        )  # bits per byte, of nats per token
        self.pairs, self.alone = np.multiply(Pairs(text).nats(self.ids, self.labels), self.rate)
        self.held = self.nats(self.ids, self.labels)
        self.own = self.rate * self.held

    def nats(self, ids, labels, mask=None, w=None):
        """Mean loss of the labels."""
        with np.errstate(all="ignore"):
            there = Decoder(self.w if w is None else w, H)
            logits = np.concatenate([there.read(part, mask)[0] for part in np.array_split(ids, 16)])
        right = np.take_along_axis(softmax(logits), labels[..., None], -1).ravel()
        return float(-np.log(right + 1e-30).mean())

    def read_again(self, w=None):
        """Mean loss on windows of the text that it was to read."""
        return self.nats(*anywhere(np.random.default_rng(SEED), self.text, 300), w=w)

    def too_sharp(self):
        """Tell whether scores that are smaller by √2 fit the text that it has read better.

        Scores of the size with which a model was trained are the best, to either side; of one that
        has learned little they say nothing.
        """
        if self.own > self.pairs:
            return False
        softer, own, sharper = (
            self.read_again(times(self.w, 2 ** (power / 2), ".W_q", ".b_q")) for power in (-1, 0, 1)
        )
        return own - softer > SHARP and own - softer > (sharper - own) / 4

    @cached_property
    def looks_back(self):
        """By how many bits the text before the last token helps.

        Each label in the middle of a window is predicted once behind the text that is there, and
        once behind tokens from elsewhere, of which the last one alone is left as it is.
        """
        at, rng = WINDOW // 2, np.random.default_rng(SEED)
        other = anywhere(rng, self.text, len(self.ids))[0]
        other[:, at] = self.ids[:, at]
        label = np.arange(V) == self.labels[:, at : at + 1]
        there, elsewhere = (
            softmax(Decoder(self.w, H).read(ids[:, : at + 1])[0][:, -1])[label] + 1e-30
            for ids in (self.ids, other)
        )
        return float(np.log2(there).mean() - np.log2(elsewhere).mean())

    @cached_property
    def symptom(self):
        """What the model has learned instead, in a word and in a sentence."""
        own = np.ravel(self.losses)[-max(1, np.size(self.losses) // 20) :].mean()
        held = self.held
        turned = self.nats(self.ids, self.labels, w=transposed(self.w))
        if turned < 0.9 * held and self.rate * turned < self.alone - BEGUN:
            return "turned", (
                "with its square matrices transposed the model is a good one: `x @ W_q` is meant"
            )
        plain = times(self.w, self.w["embed"].shape[1] ** -0.5, "embed")
        if self.nats(self.ids, self.labels, w=plain) < 0.9 * held:
            return "plain", (
                "the model is a better one where a row of `embed` isn't multiplied by √d: it is, in"
                " the table"
            )
        ahead = self.nats(self.ids, self.labels, np.ones((WINDOW, WINDOW), bool))
        copied = self.nats(self.ids, self.ids)
        if copied < min(0.5 * held, ahead):
            return "copies", "the model repeats the token that it has just read: shift the labels"
        if ahead < 0.95 * held:
            return "leak", "the model predicts well only where it sees what comes: mask it"
        if held - own > HEART * (1 + own):
            return "heart", (
                "your losses end much lower than this model's on text that it has not read: does "
                "it know a few windows by heart, and is it the model of the table?"
            )
        if self.own < self.alone - BEGUN and self.looks_back < HELPS:
            return (
                "pairs",
                "the model goes by the last token alone: what stands before doesn't help",
            )
        if self.own < self.alone - BEGUN:
            return "short", "the model has begun to learn, and is not there yet"
        if self.own < self.alone + 0.15:
            return "letters", "the model knows how often each token comes, and nothing of the text"
        return (
            "nothing",
            "the model is no better than one that knows nothing: do its arrays change?",
        )


SEED = 1  # of what is shown
FEW = 5  # steps: a training takes hundreds
STILL = tuple(f"layer.{i}.self.{name}" for i in range(2) for name in ("W_o", "b_o"))
BEGUN = 0.3  # bits per byte below counted tokens: here a model has begun to learn
TOLERATED = 0.4  # nats between the last losses and what the model makes of that text
HEART = 0.25  # of nats, and of a loss, between the last losses and those on new text
SHARP = 0.006  # nats by which scores of another size fit better: of right runs they fit worse
HELPS = 0.05  # bits that a token gains by the text before it: a table of pairs gains none
BAND = 0.12  # bits per byte below counted pairs: every one of twenty seeds is twice as far below


def asked_for(rng):
    """A seed, a width, the text without two lessons, and these two."""
    seed, width, all_of_them = int(rng.integers(1, 1000)), 2 * int(rng.integers(22, 27)), lessons()
    away = set(rng.choice([*all_of_them], 2, replace=False).tolist())
    text = np.concatenate([ids for name, ids in all_of_them.items() if name not in away])
    return seed, width, text, np.concatenate([all_of_them[name] for name in sorted(away)])


def tried(call, rng):
    """The run that all checks share, and what a few of its steps are.

    Tokens are numbered anew, so that nothing is gained by opening the file that has all lessons.
    """
    seed, width, *both = asked_for(rng)
    order = rng.permutation(V)
    text, held = (order[ids] for ids in both)
    size = np.empty(V, int)
    size[order] = lengths()

    def worked_out(found):
        return Trained(found, width, text, held, size)

    run = call.once_as(worked_out, seed, width, text)
    return seed, run, lambda: trained(seed, width, text, steps=FEW)


@exercise.check(points=4, draws="training")
def better_than_pairs(call, rng):
    """On two lessons that it hasn't read the model needs fewer bits than counted pairs do."""
    seed, run, few_steps = tried(call, rng)
    call.trained(seed)
    took_work(call, few_steps)
    if run.own > run.pairs or run.looks_back < HELPS:
        kind, message = run.symptom
        credit = (run.alone - BEGUN - run.own) / (run.alone - BEGUN - run.pairs)
        raise Mismatch(message, kind=kind, credit=max(0.0, credit) if kind == "short" else 0.0)


@exercise.check(points=4, after=better_than_pairs, draws="training")
def far_below_pairs(call, rng):
    """On the same lessons it needs at least 0.12 bits per byte less than counted pairs do."""
    _, run, _ = tried(call, rng)
    below = run.pairs - run.own
    if below < BAND:
        kind, message = run.symptom
        raise Mismatch(message, kind=kind, credit=max(0.0, below / BAND))


@exercise.check(points=1, draws="training")
def loss_curve(call, rng):
    """The losses begin near log 512, fall, and end where the model's loss on that text is."""
    seed, run, few_steps = tried(call, rng)
    losses = run.losses
    enough = losses.ndim == 1 and len(losses) >= 20 and np.isfinite(losses).all()
    require(enough, "one loss for each step is asked for, and at least twenty")
    call.trained(seed, losses)
    if not 0.8 < losses[:3].mean() / np.log(V) < 1.3:
        kind = "bits" if 0.8 < losses[:3].mean() / np.log2(V) < 1.3 else "start"
        raise Mismatch("a model that knows nothing has a loss near log 512 nats", kind=kind)
    took_work(call, few_steps)
    parts = [part.mean() for part in np.array_split(losses, 4)]
    if not (all(b < a + 0.05 for a, b in pairwise(parts)) and parts[-1] < parts[0] - 0.3):
        raise Mismatch("the loss does not fall", kind=run.symptom[0])
    many = max(5, len(losses) // 20)
    last, again = losses[-many:].mean(), run.read_again()
    if abs(again - last) > TOLERATED:
        each = np.diff(losses * np.arange(1, len(losses) + 1))  # if these are means of all so far
        if abs(again - each[-many:].mean()) < TOLERATED / 4:
            raise Mismatch(
                "each loss is a mean of all so far: give those of the steps", kind="so_far"
            )
        raise Mismatch(
            "on the text that was read the model's loss is another than your last ones",
            kind=run.symptom[0],
        )
    if run.too_sharp():
        raise Mismatch(
            "with scores that are smaller by √2 the model fits the text better: are yours divided"
            " by the root of the width of a head?",
            kind="sharp",
            credit=0.5,
        )


@exercise.misconception(fatal="nothing is learned")
def never_changed(seed, d, text):
    """The model has learned nothing: does the optimiser change its own arrays, at a rate over 0?"""
    return trained(seed, d, text, steps=25, rate=0.0)


@exercise.misconception(fatal="nothing is learned of the text")
def input_ignored(seed, d, text):
    """Your model knows how often each token comes, and nothing of what it reads.

    Do gradients reach the table of embeddings, and are the labels those of the same window?
    """

    def anyhow(rng, text, count):
        return anywhere(rng, text, count)[0], anywhere(rng, text, count)[1]

    return trained(seed, d, text, steps=60, drawn=anyhow)


@exercise.misconception
def labels_not_shifted(seed, d, text):
    """Your labels are the tokens themselves: it learns to repeat. They are what comes behind."""

    def repeated(rng, text, count):
        return (anywhere(rng, text, count)[0],) * 2

    return trained(seed, d, text, steps=60, drawn=repeated)


@exercise.misconception
def future_seen(seed, d, text):
    """Your model was trained without a mask, and saw what it was to predict."""
    return trained(seed, d, text, steps=150, mask=np.ones((WINDOW, WINDOW), bool))


@exercise.misconception(fatal="nothing of the text is known, but a few windows")
def few_windows_by_heart(seed, d, text):
    """Your model knows a few windows by heart. Draw new ones, from all of the text, every step."""
    return trained(seed, d, text, steps=80, drawn=lambda _, text, __: windows(text, range(8)))


@exercise.misconception
def last_token_alone(seed, d, text):
    """Your model goes by the last token alone: it is a table of pairs.

    Does attention reach the tokens before it, and is what it gives added to the stream?
    """
    return trained(seed, d, text, steps=150, still=STILL)


@exercise.misconception
def stopped_early(seed, d, text):
    """The model has begun to learn: take more steps, or larger ones, and see if the loss falls."""
    return trained(seed, d, text, steps=200)


@exercise.misconception
def square_matrices_transposed(seed, d, text):
    """Your square matrices are transposed, as torch keeps them: here `x @ W_q` is meant."""
    weights, losses = trained(seed, d, text, steps=600)
    return transposed(weights), losses


@exercise.misconception
def losses_in_bits(seed, d, text):
    """Your losses are in bits. Nats are asked for: natural logarithms."""
    weights, losses = trained(seed, d, text, steps=600)
    return weights, losses / np.log(2)


@exercise.misconception
def losses_so_far(seed, d, text):
    """Your losses are means of all steps so far. Give the loss of each step by itself."""
    weights, losses = trained(seed, d, text, steps=600)
    return weights, np.cumsum(losses) / np.arange(1, 601)


@exercise.misconception(credit=0.5)
def scores_by_the_width(seed, d, text):
    """You divide scores by √d. A head has the width d/2, and its root is meant: see `example`."""
    weights, losses = trained(seed, d, text, steps=600)
    return times(weights, np.sqrt(2), ".W_q", ".b_q"), losses
