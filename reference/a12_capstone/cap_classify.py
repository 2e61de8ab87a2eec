"""Which of two symbols came first: a classifier that needs positions.

Source: Vaswani et al. (2017), "Attention is all you need", section 3.5.
"""

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from autograder.exercise import Exercise, Mismatch, Table, agree, alike, require, seeded
from autograder.exercise.properties import took_work
from reference.helpers import (
    Pass,
    adam,
    cross_entropy,
    initial_weights,
    layer_shapes,
    sinusoids,
    weights_of,
)

exercise = Exercise(
    "cap_classify",
    title="Which came first?",
    source="Vaswani et al. (2017), section 3.5",
    minutes=120,
    hints=[
        "The block is a layer of your encoder under another name. Its steps and their ways back "
        "are there already; new is the mean over positions alone.",
        "By how much does the mean change if one position changes a little? That is its way back, "
        "and it is the same at every position.",
        "For the sequences choose two different places first, then fill the rest. A loss that "
        "stays near log 2 is that of a guess: look at the positions before you take more steps.",
    ],
)

positional_encoding = exercise.carries("a05_positions/pe_code", "positional_encoding")
layer_norm = exercise.carries("a06_block/ln_code", "layer_norm")
ffn = exercise.carries("a06_block/ffn_code", "ffn")
multi_head = exercise.carries("a12_capstone/cap_forward", "multi_head")


def shapes(V, d, f):
    """The shape of every weight by its name."""
    return {
        "embed": (V, d),
        "out.W": (d, 2),
        "out.b": (2,),
        **layer_shapes("block", d, f, ("self",)),
    }


def classified(steps, x, positions=True):
    """The logits of a batch, and the way back."""
    d, dtype = steps.w["embed"].shape[1], steps.w["embed"].dtype
    places = sinusoids(x.shape[1], d).astype(dtype) if positions else 0
    inner, back_embed = steps.embed(x, "embed", places)
    inner, back_block = steps.encode(inner, "block")
    logits, back_out = steps.linear(inner.mean(axis=1), "out.W", "out.b")

    def back(g):
        g = back_out(g)[:, None] / dtype.type(x.shape[1])
        back_embed(back_block(np.repeat(g, x.shape[1], axis=1)))

    return logits, back


@exercise.reference
class Classifier:
    """One encoder block, the mean over all positions, and a map to two logits."""

    def __init__(self, V: int, d: int, h: int, f: int, rng: np.random.Generator):
        self.h, self.weights = h, initial_weights(shapes(V, d, f), rng)

    def __call__(self, x: Int[ndarray, "B n"], positions: bool = True) -> Float[ndarray, "B 2"]:
        """Return two logits for each sequence; without positions nothing is added."""
        return self._pooled(x, positions) @ self.weights["out.W"] + self.weights["out.b"]

    def _pooled(self, x, positions):
        return self._encoded(x, positions).mean(axis=1)

    def _encoded(self, x, positions):
        d = self.weights["embed"].shape[1]
        places = positional_encoding(x.shape[1], d) if positions else 0
        return self._block(np.sqrt(d) * self.weights["embed"][x] + places)

    def _block(self, x):
        w = {n.removeprefix("block."): array for n, array in self.weights.items()}
        look = {n.removeprefix("self."): array for n, array in w.items() if n.startswith("self.")}
        x = layer_norm(x + self._look(x, look), w["gamma1"], w["beta1"])
        return layer_norm(x + ffn(x, w["W1"], w["b1"], w["W2"], w["b2"]), w["gamma2"], w["beta2"])

    def _look(self, x, weights):
        return multi_head(x, x, weights, self.h)[0]


@exercise.alternative
class SequenceAfterSequence(Classifier):
    """One sequence after the other."""

    def __call__(self, x, positions=True):
        """Stack what comes of each."""
        one = super().__call__
        return np.concatenate([one(x[b : b + 1], positions) for b in range(len(x))])


@exercise.alternative
class MeanOfLogits(Classifier):
    """The mean of all positions' logits is the logit of their mean."""

    def __call__(self, x, positions=True):
        """Map first."""
        each = self._encoded(x, positions) @ self.weights["out.W"]
        return np.einsum("bnc->bc", each) / x.shape[1] + self.weights["out.b"]


@exercise.alternative
class PooledByASum(Classifier):
    """A sum, divided in the end."""

    def _pooled(self, x, positions):
        return self._encoded(x, positions).sum(axis=1) / x.shape[1]


V, D, H, F = 6, 8, 2, 10


def model(call, rng):
    """A classifier in which every weight counts, and the reference with the same ones."""
    weights = initial_weights(shapes(V, D, F), rng)
    weights = {n: a + 0.5 * rng.normal(size=a.shape) for n, a in weights.items()}
    made, right = call.make(V, D, H, F, seeded(0)), Classifier(V, D, H, F, rng)
    made.weights = right.weights = weights
    return made, right


@exercise.check(points=2, visible=True)
def logits(call, rng):
    """Embedding, positions, one block, the mean over positions, and the map to two logits."""
    made, right = model(call, rng)
    x = rng.integers(0, V, (3, 5))
    found, _ = made(x), made(x, False)  # what comes of the second one tells mistakes apart
    agree(found, right(x), rtol=1e-8, atol=1e-8)


@exercise.check(points=2)
def blind_without_positions(call, rng):
    """With positions=False nothing is added: whatever the order, the logits are the same."""
    made, right = model(call, rng)
    x = np.stack([rng.permutation(V) for _ in range(4)])
    alike_with_them = alike(made(x), right(x))  # what comes of it tells mistakes apart, too
    there, back = (np.asarray(made(each, False)) for each in (x, x[:, ::-1]))
    agree(there.shape, (4, 2), what="the shape of the logits")
    require(np.allclose(there, back), "the order still changes the logits")
    require(
        np.ptp(there) > 1e-3 and np.isfinite(there).all(), "the logits don't depend on the input"
    )
    if alike_with_them:  # else another mistake is paid for above
        agree(there, right(x, False), what="what comes without positions")


@exercise.check(points=1)
def weights_by_name(call, rng):
    """`weights` has an array of the right shape under every name, and no others."""
    found = call.make(10, 32, 2, 64, seeded(1)).weights
    right = shapes(10, 32, 64)
    same = isinstance(found, dict) and found.keys() == right.keys()
    require(same, "the names of the weights are others than those of the table")
    for name, shape in right.items():
        agree(np.shape(found[name]), shape, what=f"the shape of {name!r}")


@exercise.check(points=1)
def drawn_from_rng(call, rng):
    """Matrices come from `rng`: another generator gives others, the same one the same."""
    one, same, other = (call.make(V, D, H, F, seeded(s)).weights for s in (5, 5, 6))
    known = [n for n, s in shapes(V, D, F).items() if len(s) == 2 and n in one]
    require(known, "`weights` has no matrices")
    for name in known:
        agree(one[name], same[name], what=f"{name!r} of a second model from the same generator")
        require(not np.allclose(one[name], other[name]), f"{name!r} does not come from `rng`")


@exercise.misconception(credit=0.25)
class LastTokenAlone(Classifier):
    """You take the last position. The mean is over all of them."""

    def _pooled(self, x, positions):
        return self._encoded(x, positions)[:, -1]


@exercise.misconception(credit=0.25)
class FirstTokenAlone(Classifier):
    """You take the first position. The mean is over all of them."""

    def _pooled(self, x, positions):
        return self._encoded(x, positions)[:, 0]


@exercise.misconception
class SumOfPositions(Classifier):
    """You added up the positions. Divide by how many there are."""

    def _pooled(self, x, positions):
        return self._encoded(x, positions).sum(axis=1)


@exercise.misconception
class MaximumTaken(Classifier):
    """You took the largest entry over positions. The mean is asked for."""

    def _pooled(self, x, positions):
        return self._encoded(x, positions).max(axis=1)


@exercise.misconception
class AlwaysWithPositions(Classifier):
    """With positions=False they are added all the same."""

    def _encoded(self, x, positions):
        return super()._encoded(x, True)


@exercise.misconception
class NeverWithPositions(Classifier):
    """With positions=True none are added, so that no order can be seen."""

    def _encoded(self, x, positions):
        return super()._encoded(x, False)


@exercise.misconception(credit=0.5)
class PositionsTurnedRound(Classifier):
    """You add positions with positions=False, and none with True: turn the condition round."""

    def _encoded(self, x, positions):
        return super()._encoded(x, not positions)


@exercise.misconception(credit=0.5)
class EnlargedForPositionsAlone(Classifier):
    """Without positions the embedding is multiplied by √d all the same: only they are left out."""

    def _encoded(self, x, positions):
        if positions:
            return super()._encoded(x, True)
        return self._block(self.weights["embed"][x])


@exercise.misconception(credit=0.5)
class EnlargedWithPositions(Classifier):
    """You multiplied the sum by √d. The positions are added afterwards."""

    def _encoded(self, x, positions):
        d = self.weights["embed"].shape[1]
        places = positional_encoding(x.shape[1], d) if positions else 0
        return self._block(np.sqrt(d) * (self.weights["embed"][x] + places))


@exercise.misconception(credit=0.25)
class CausalBlock(Classifier):
    """Your block is masked. An encoder's is not: every position sees all of them."""

    def _look(self, x, weights):
        return multi_head(x, x, weights, self.h, np.tri(x.shape[1], dtype=bool))[0]


@exercise.misconception(credit=0.5)
class FirstNormAgain(Classifier):
    """Both norms use gamma1 and beta1. The second has a scale and a shift of its own."""

    def _block(self, x):
        kept = self.weights
        self.weights = kept | {f"block.{n}2": kept[f"block.{n}1"] for n in ("gamma", "beta")}
        found = super()._block(x)
        self.weights = kept
        return found


@exercise.misconception
class ProbabilitiesReturned(Classifier):
    """You returned probabilities. Logits are what stands before the softmax."""

    def __call__(self, x, positions=True):
        """Add a softmax."""
        e = np.exp(super().__call__(x, positions))
        return e / e.sum(axis=1, keepdims=True)


@exercise.misconception(credit=0.5)
class NotEnlarged(Classifier):
    """The embedding is multiplied by √d before the positions are added."""

    def _encoded(self, x, positions):
        d = self.weights["embed"].shape[1]
        places = positional_encoding(x.shape[1], d) if positions else 0
        return self._block(self.weights["embed"][x] + places)


@exercise.misconception(credit=0.5)
class EnlargedWithoutARoot(Classifier):
    """You multiplied the embedding by d. Its root is asked for."""

    def _encoded(self, x, positions):
        d = self.weights["embed"].shape[1]
        places = positional_encoding(x.shape[1], d) if positions else 0
        return self._block(d * self.weights["embed"][x] + places)


@exercise.misconception(credit=0.5)
class PositionsFromOne(Classifier):
    """Your positions begin at 1. The first one is 0."""

    def _encoded(self, x, positions):
        d = self.weights["embed"].shape[1]
        places = positional_encoding(x.shape[1] + 1, d)[1:] if positions else 0
        return self._block(np.sqrt(d) * self.weights["embed"][x] + places)


@exercise.misconception
class NoOutputBias(Classifier):
    """The map to logits has no bias."""

    def __init__(self, V, d, h, f, rng):
        super().__init__(V, d, h, f, rng)
        del self.weights["out.b"]

    def __call__(self, x, positions=True):
        """Leave it out."""
        return self._pooled(x, positions) @ self.weights["out.W"]


@exercise.misconception
class GeneratorIgnored(Classifier):
    """Your weights don't come from `rng`: another generator gives the same ones."""

    def __init__(self, V, d, h, f, rng):
        super().__init__(V, d, h, f, np.random.default_rng(0))


def sequences(rng, count, n=12):
    """Sequences with one 0 and one 1 among other symbols; 1 where the 0 comes first."""
    x = rng.integers(2, 10, (count, n))
    places = rng.random((count, n)).argsort(axis=1)[:, :2]
    x[np.arange(count)[:, None], places] = [0, 1]
    return x, (places[:, 0] < places[:, 1]).astype(int)


def trained(seed, d, steps=300, batch=64, rate=5e-3, positions=True, answer=1, drawn=sequences):
    """Train for so many steps."""
    rng = np.random.default_rng(seed)
    fresh = initial_weights(shapes(10, d, 2 * d), rng)
    weights = {n: w.astype(np.float32) for n, w in fresh.items()}

    def gradients():
        x, labels = drawn(rng, batch)
        labels = labels if answer == 1 else 1 - labels
        there = Pass(weights, 2)
        found, back = classified(there, x, positions)
        loss, g = cross_entropy(found, labels)
        back(g)
        return loss, there.grads

    def schedule(step):
        return np.float32(rate * min(1, step / 30) * (1 - 0.95 * step / max(steps, 30)))

    for _ in adam(weights, gradients, steps, schedule):
        pass
    return weights


@exercise.reference
def train_classifier(seed: int, d: int) -> dict:
    """Return the weights of a classifier of width d that knows which came first."""
    return trained(seed, d)


@exercise.alternative
def small_batches(seed, d):
    """Smaller batches."""
    return trained(seed, d, steps=200, batch=48)


@exercise.alternative
def smaller_steps(seed, d):
    """Smaller steps, and lists of rows."""
    return {name: array.tolist() for name, array in trained(seed, d, steps=200, rate=4e-3).items()}


@exercise.alternative
def in_double_precision(seed, d):
    """The same numbers with more digits."""
    return {name: array.astype(float) for name, array in trained(seed, d, steps=200).items()}


SEED = 1  # of what is shown
SURE_AND_WRONG = 0.8  # nats: who has begun to learn has less than log 2
UNTRAINED = 1.25  # who guesses has log 2, and a model as it was drawn hardly more


def asked_for(rng):
    """A seed and a width for one training run: weights that were kept have another width."""
    return int(rng.integers(1, 1000)), 2 * int(rng.integers(14, 19))


def tried(found, rng, d, positions=True):
    """The share of 1000 new sequences that are classified rightly, and their mean loss.

    The model is run here.
    """
    require(isinstance(found, dict), "a dictionary of weights is asked for")
    width = np.shape(found.get("embed", ()))[-1:]
    require(width in ((), (d,)), "the width of the model is another than the one asked for")
    weights = weights_of(found, shapes(10, d, 2 * d))
    require(all(np.isfinite(w).all() for w in weights.values()), "some weights are not finite")
    x, labels = sequences(rng, 1000)
    logits = classified(Pass(weights, 2), x, positions)[0]
    return float((logits.argmax(axis=1) == labels).mean()), cross_entropy(logits, labels)[0]


def shared(call, rng, seed, width):
    """The same of the run that both checks look at."""

    def worked_out(found):
        return tried(found, rng, width)

    return call.once_as(worked_out, seed, width)


def symptom(share, loss):
    """Say what the model has learned instead."""
    if share < 0.3:
        return "swapped", "nearly all answers are wrong: 1 means that 0 came first"
    if loss > (UNTRAINED if share < 0.6 else SURE_AND_WRONG):
        return "by_heart", (
            "on new sequences the model is sure where it is wrong, as one that knows a few by heart"
        )
    if share < 0.6:
        return "guess", "the model is no better than a guess"
    return "short", "the model has begun to learn, and is not there yet"


@exercise.check(points=4, draws="training")
def better_than_a_guess(call, rng):
    """At least three of four new sequences are classified rightly, and the others not surely."""
    seed, width = asked_for(rng)
    share, loss = shared(call, rng, seed, width)
    call.trained(seed)
    if share < 0.75 or loss > SURE_AND_WRONG:
        kind, message = symptom(share, loss)
        credit = (share - 0.6) / 0.15 if kind == "short" else 0.0
        raise Mismatch(message, kind=kind, credit=max(0.0, credit))
    took_work(call, lambda: trained(seed, width, steps=5))


@exercise.check(points=4, after=better_than_a_guess, draws="training")
def nearly_always(call, rng):
    """At least 95 of 100 new sequences are classified rightly."""
    seed, width = asked_for(rng)
    share, loss = shared(call, rng, seed, width)
    if share < 0.95:
        kind, message = symptom(share, loss)
        credit = (share - 0.75) / 0.2 if kind == "short" else 0.0
        raise Mismatch(message, kind=kind, credit=max(0.0, credit))


@exercise.misconception(fatal="nothing is learned")
def no_better_than_a_guess(seed, d):
    """The model has learned nothing: do its arrays change, and are positions added?"""
    return trained(seed, d, steps=10, positions=False)


@exercise.misconception
def classes_exchanged(seed, d):
    """Your two classes are exchanged: logit 1 is for sequences in which 0 comes before 1."""
    return trained(seed, d, steps=80, answer=0)


@exercise.misconception
def stopped_early(seed, d):
    """The model has begun to learn: take more steps, or larger ones, and draw each batch anew."""
    return trained(seed, d, steps=55)


@exercise.misconception(fatal="nothing is learned of the task")
def few_known_by_heart(seed, d):
    """Your model knows a few sequences by heart. Draw new ones for every step."""
    few = sequences(np.random.default_rng(seed), 8)
    return trained(seed, d, steps=60, drawn=lambda *_: few)


@exercise.exhibit
def with_and_without_positions(train_classifier):
    """How many of 1000 new sequences are classified rightly. Guesses are right every other time."""
    width = np.shape(train_classifier["embed"])[-1]
    shares = [
        tried(train_classifier, np.random.default_rng(SEED), width, positions)[0]
        for positions in (True, False)
    ]
    return Table(
        ("the trained model", "right"), [*zip(("with positions", "without"), shares, strict=True)]
    )
