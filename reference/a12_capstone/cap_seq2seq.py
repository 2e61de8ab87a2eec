"""A transformer learns to reverse sequences.

Source: Vaswani et al. (2017), "Attention is all you need", section 5; Kingma and Ba (2015), "Adam:
a method for stochastic optimization".
"""

from functools import cached_property
from itertools import pairwise

import numpy as np

from autograder.exercise import Exercise, Mismatch, Table, require
from autograder.exercise.properties import took_work
from reference.helpers import (
    Pass,
    adam,
    cross_entropy,
    initial_weights,
    transformer_shapes,
    weights_of,
)

exercise = Exercise(
    "cap_seq2seq",
    title="Learn to reverse",
    source="Vaswani et al. (2017), section 5; Kingma and Ba (2015)",
    minutes=150,
    hints=[
        "Train on the same few sequences in every step first: their loss should come near 0. As "
        "long as it doesn't, more steps on new ones won't help.",
        "Print a source, the decoder's input and the labels below each other, and read them "
        "column by column: what is known at each position, and what is to be said?",
        "If the loss stays where it began, see whether Adam changes the very arrays that the "
        "model looks up: `W -= step` does, `W = W - step` makes a new one.",
    ],
)

START, V, LENGTH, H = 0, 9, 6, 2


def sequences(rng, count):
    """Sources, and what they are reversed."""
    src = rng.integers(1, V, (count, LENGTH))
    return src, src[:, ::-1]


def shifted(labels):
    """What the decoder sees: a start symbol, and all labels but the last."""
    return np.hstack([np.full((len(labels), 1), START), labels[:, :-1]])


def trained(seed, d, steps=200, batch=64, rate=7e-3, fed=shifted, said=np.fliplr):
    """Train for so many steps; return weights and the loss at each step."""
    rng = np.random.default_rng(seed)
    shapes = transformer_shapes(V, d, 2 * d, 2)
    weights = {n: w.astype(np.float32) for n, w in initial_weights(shapes, rng).items()}

    def gradients():
        src, _ = sequences(rng, batch)
        labels = said(src)
        steps = Pass(weights, H)
        logits, back = steps.translate(src, fed(labels))
        loss, g = cross_entropy(logits, labels)
        back(g)
        return loss, steps.grads

    def schedule(step):
        return np.float32(rate * min(1, step / 50) * (1 - 0.95 * step / max(steps, 50)))

    return weights, np.array(list(adam(weights, gradients, steps, schedule)))


@exercise.reference
def train(seed: int, d: int) -> tuple[dict, np.ndarray]:
    """Return the weights of a model of width d that reverses, and the loss at each step."""
    return trained(seed, d)


@exercise.alternative
def small_batches(seed, d):
    """Smaller batches, and larger steps."""
    return trained(seed, d, steps=200, batch=32, rate=8e-3)


@exercise.alternative
def fewer_large_steps(seed, d):
    """Larger steps, and fewer."""
    weights, losses = trained(seed, d, steps=160, rate=8e-3)
    return weights, losses.tolist()


@exercise.alternative
def carefully(seed, d):
    """Smaller steps, and lists instead of arrays."""
    weights, losses = trained(seed, d, steps=240, rate=5e-3)
    return {name: array.astype(float) for name, array in weights.items()}, losses


@exercise.alternative
def losses_of_sequences(seed, d):
    """The loss of a whole sequence: a slip of part 2, where it is paid for."""
    weights, losses = trained(seed, d)
    return weights, LENGTH * losses


class Trained:
    """What a run gave, and how well it reverses sequences that it has never seen.

    The model is run here: what counts is in the weights, and the decoder gets what it has written
    itself.
    """

    def __init__(self, found, rng, width=None):
        require(
            isinstance(found, tuple | list) and len(found) == 2, "weights and losses are asked for"
        )
        weights, self.losses = found[0], np.asarray(found[1], dtype=float)
        require(
            isinstance(weights, dict) and "source" in weights, "there is no dictionary of weights"
        )
        d = np.shape(weights["source"])[-1] if np.ndim(weights["source"]) == 2 else 0
        f = np.shape(weights.get("encoder.0.b1", ()))
        layers = sum(name.startswith("encoder") and name.endswith(".b1") for name in weights)
        right = transformer_shapes(V, d, *f, layers) if len(f) == 1 else {"encoder.0.b1": (2 * d,)}
        require(width in (None, d), "the width of the model is another than the one asked for")
        require(d % H == 0, "the width can't be shared by two heads")
        self.w = weights_of(weights, right)
        require(all(map(np.all, map(np.isfinite, self.w.values()))), "some weights are not finite")
        self.src, self.labels = sequences(rng, 512)

    def loss(self, dec_in):
        """Mean loss where the decoder is fed with this."""
        return cross_entropy(self._logits(self.src, dec_in), self.labels)[0]

    @cached_property
    def written(self):
        """What the model writes, one symbol after the other."""
        tgt = np.full((len(self.src), 1), START)
        for _ in range(LENGTH):
            following = self._logits(self.src, tgt)[:, -1:].argmax(axis=-1)
            tgt = np.hstack([tgt, following])
        return tgt[:, 1:]

    @cached_property
    def symptom(self):
        """What the model has learned instead, in a word and in a sentence."""
        right = shifted(self.labels)
        own = np.ravel(self.losses)[-np.size(self.losses) // 20 :].mean()
        if (self.written == self.src).mean() > 0.5:
            return "copies", "the model repeats the source as it is; it should come out reversed"
        if self.loss(self.labels) < 0.5 * self.loss(right):
            return "leak", "the model has learned to repeat its input: shift it to the right"
        if 4 * own < self.loss(right) > 1:
            return "other", (
                "your losses end low, and on sequences to reverse this model's is high: it has "
                "learned something else, or a few by heart. Is every batch drawn anew, are its "
                "labels the source, reversed, and does your model compute as the one of this "
                "notebook should?"
            )
        if self.loss(right) - own > TOLERATED * (1 + self.loss(right)):
            return "heart", (
                "your losses end much lower than this model's on new sequences: it knows many of "
                "those that it was trained on by heart. Draw every batch anew"
            )
        if (self.written == self.labels).mean() > BEGUN:
            return "short", "the model has begun to learn, and is not there yet"
        if abs(self.loss(right) - np.log(V - 1)) < 0.1:
            return "letters", "the model knows the letters, and nothing of the source"
        return self.trend(), {
            "still": "the model is no better than chance: do its own arrays change?",
            "rising": "your losses rise: a step goes against the gradient",
            "falling": (
                "your losses fall, and the model is no better than chance: are its gradients "
                "right, and its steps not too large?"
            ),
        }[self.trend()]

    def trend(self):
        """Say how the losses move, from the first three to the last quarter."""
        losses = np.ravel(self.losses)
        first, last = losses[:3].mean(), losses[-len(losses) // 4 :].mean()
        if abs(last - first) < 0.05 * first:
            return "still"
        return "falling" if last < first else "rising"

    def _logits(self, src, tgt):
        return Pass(self.w, H).translate(src, tgt)[0]


SEED = 1  # of what is shown
TOLERATED = 0.25  # of nats, and of a loss: between the last losses and that on new sequences
FEW = 5  # steps: a training takes a hundred
BEGUN = 0.2  # of the symbols: one of eight is right by chance, one of six with some luck


def asked_for(rng):
    """A seed and a width for one training run: weights that were kept have another width."""
    return int(rng.integers(1, 1000)), 2 * int(rng.integers(14, 19))


def tried(call, rng, seed, width):
    """The run that all checks share."""

    def worked_out(found):
        return Trained(found, rng, width)

    return call.once_as(worked_out, seed, width)


@exercise.check(points=6, draws="training")
def symbols(call, rng):
    """Of what the model writes for new sequences, at least half the symbols are right."""
    seed, width = asked_for(rng)
    run = tried(call, rng, seed, width)
    share = (run.written == run.labels).mean()
    if share < 0.5:
        kind, message = run.symptom
        credit = float((share - BEGUN) / (0.5 - BEGUN)) if kind == "short" else 0.0
        raise Mismatch(message, kind=kind, credit=credit)
    took_work(call, lambda: trained(seed, width, steps=FEW))


@exercise.check(points=6, after=symbols, draws="training")
def whole_sequences(call, rng):
    """At least nine in ten new sequences are reversed without a mistake."""
    seed, width = asked_for(rng)
    run = tried(call, rng, seed, width)
    share = (run.written == run.labels).all(axis=1).mean()
    if share < 0.9:
        kind, message = run.symptom
        raise Mismatch(message, kind=kind, credit=float(share / 0.9))


@exercise.check(points=2, draws="training")
def loss_curve(call, rng):
    """The loss begins where nothing is known, falls, and ends near that on new sequences."""
    seed, width = asked_for(rng)
    run = tried(call, rng, seed, width)
    losses = run.losses
    enough = losses.ndim == 1 and len(losses) >= 20 and np.isfinite(losses).all()
    require(enough, "one loss for each step is asked for, and at least twenty")
    call.trained(seed, losses)
    if losses[:3].mean() > LENGTH * np.log(V) / 2:
        losses = losses / LENGTH  # of whole sequences: such a loss is paid for in part 2
    if not 0.5 < losses[:3].mean() / np.log(V) < 2:
        raise Mismatch("a model that knows nothing has a loss from log 9 to 3", kind="start")
    took_work(call, lambda: trained(seed, width, steps=FEW))
    parts = [part.mean() for part in np.array_split(losses, 4)]
    falls = all(b < a + 0.02 for a, b in pairwise(parts))
    if not (falls and parts[-1] < parts[0] - 0.1):
        raise Mismatch("the loss does not fall", kind=run.trend())
    own, last = run.loss(shifted(run.labels)), losses[-len(losses) // 20 :].mean()
    if abs(own - last) > TOLERATED * (1 + own):
        kind = run.symptom[0]
        raise Mismatch("the model's loss on new sequences is another than the last ones", kind=kind)


@exercise.misconception
def not_shifted(seed, d):
    """The decoder's input holds the label of its own position: it learns to repeat. Shift it."""
    return trained(seed, d, steps=60, fed=lambda labels: labels)


@exercise.misconception(fatal="nothing is learned")
def never_changed(seed, d):
    """The model has learned nothing: does the optimiser change its own arrays, at a rate over 0?"""
    return trained(seed, d, steps=25, rate=0.0)


@exercise.misconception(credit=0.3)
def copied_not_reversed(seed, d):
    """Your model learns to copy. The labels are the source, reversed."""
    return trained(seed, d, steps=110, said=lambda src: src)


@exercise.misconception(fatal="nothing is learned of the task")
def labels_of_others(seed, d):
    """Your model has learned which letters there are, and nothing of the source.

    Does each row of labels belong to its source (`src[::-1]` turns the batch round, not a
    sequence), and do gradients reach the encoder?
    """
    return trained(seed, d, steps=60, said=np.flipud)


@exercise.misconception
def stopped_early(seed, d):
    """The loss is still falling when you stop: take more steps, or larger ones."""
    return trained(seed, d, steps=75)


@exercise.exhibit
def writes(train):
    """What the trained model writes for sequences that it has never seen."""
    run = Trained(train, np.random.default_rng(SEED))
    written, letters = run.written, np.array([*"^ABCDEFGH"])
    rows = [
        [" ".join(letters[row]) for row in (src, out)] + ["yes" if (out == right).all() else "no"]
        for src, out, right in zip(run.src[:6], written[:6], run.labels[:6], strict=True)
    ]
    return Table(("source", "written", "right"), rows)


@exercise.exhibit
def shares(train):
    """How much of 512 new sequences is right. Guesses have one symbol in eight right."""
    run = Trained(train, np.random.default_rng(SEED))
    right = run.written == run.labels
    rows = [["symbols", right.mean()], ["whole sequences", right.all(axis=1).mean()]]
    return Table(("of all", "right"), [[name, float(share)] for name, share in rows])
