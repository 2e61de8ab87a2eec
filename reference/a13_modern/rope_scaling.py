"""Longer contexts with rotations: interpolated positions, or another base.

Source: Chen et al. (2023), "Extending context window of large language models via positional
interpolation"; the "NTK-aware" base of a forum post of 2023, analysed in Peng et al. (2023).
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from autograder.exercise import Choice, Count, Exercise, Formula, Numbers, agree, require
from autograder.exercise.properties import refuses

exercise = Exercise(
    "rope_scaling",
    title="Longer than trained",
    source="Chen et al. (2023); Peng et al. (2023)",
    minutes=35,
    hints=[
        "Write down what the slowest pair turns by in one step, with the old base and with the "
        "new one, and solve for the new one.",
        "A wave that is longer than the training text has not come round once. Count from "
        "which pair on that is so.",
        "For the statements follow an angle: the position times the frequency. The trained range "
        "ends at the last trained position times the unscaled frequency.",
    ],
)

MODELS = [(10000, 2048), (10000, 4096), (10000, 8192), (500000, 8192), (1000000, 16384)]
MODELS += [(1000000, 32768)]


@exercise.variant
def draw(rng):
    """d: width of a head; s: two factors; models: two of (base, tokens in training)."""
    chosen = rng.choice(len(MODELS), 2, replace=False)
    return {
        "d": int(rng.choice([64, 96, 128])),
        "s": np.sort(rng.choice([2, 4, 8, 16], 2, replace=False)),
        "models": np.array(MODELS)[chosen],
    }


@exercise.part(
    points=1,
    answer=Formula(
        "b s d",
        {"*": "positive"},
        question="b",
        practice=("The base for which pair 1 turns s times more slowly.", "b*s^(d/2)"),
    ),
)
def new_base():
    """The base for which the slowest pair turns s times more slowly, in b, s, d."""
    return "b*s**(d/(d - 2))"


@new_base.alternative
def solved_as_it_stands():
    """Raise both sides to the power that leaves the base alone."""
    return "(s*b**((d - 2)/d))**(d/(d - 2))"


@new_base.alternative
def with_the_exponent_of_one_pair():
    """The same, with 1 − 2/d."""
    return "(s*b**(1 - 2/d))**(1/(1 - 2/d))"


new_base.mistakes(
    factor_on_the_base=(
        "b*s",
        "The slowest pair has the exponent (d − 2)/d, not 1: this slows it a little too little.",
    ),
    exponent_kept=(
        "b*s**((d - 2)/d)",
        "The base is raised to (d − 2)/d. To solve for it, take the inverse power.",
    ),
    exponent_of_the_columns=(
        "b*s**(d/(d - 1))",
        "The slowest pair has i = d/2 − 1, so that 2i is d − 2.",
    ),
    second_pair=("b*s**(d/2)", "You slowed the pair i = 1, the second fastest one."),
    two_left_out=("b*s**(2*d/(d - 2))", "The exponent of pair i is 2i/d, not i/d."),
    smaller_base=(
        "b/s**(d/(d - 2))",
        "A smaller base turns faster. Longer contexts need slower turning.",
    ),
    old_base_to_that_power=(
        "(b*s)**(d/(d - 2))",
        "The old base has the exponent (d − 2)/d, too: the inverse power takes that away again.",
    ),
    base_forgotten=("s**(d/(d - 2))", "That is the factor on the old base."),
)


@exercise.part(points=1, answer=Numbers())
def bases(new_base, d, s):
    """That base for b = 10000, your d, and both of your s."""
    return new_base(b=10000, s=s, d=d)


@bases.misconception()
def multiplied_base(s):
    """The slowest pair has the exponent (d − 2)/d, not 1: this slows it a little too little."""
    return 10000.0 * s


@bases.misconception()
def divided_base(s):
    """A smaller base turns faster. Longer contexts need slower turning."""
    return 10000.0 / s


@bases.misconception()
def inverse_power_missed(d, s):
    """The base is raised to (d − 2)/d. To solve for it, take the inverse power."""
    return 10000.0 * s ** ((d - 2) / d)


@bases.misconception()
def factor_alone(d, s):
    """That is the factor. Multiply the old base by it."""
    return 1.0 * s ** (d / (d - 2))


def longer(d, models, turn=2 * np.pi):
    """Count the pairs whose wavelength exceeds the length, for each model."""
    return [int((turn * base ** (np.arange(0, d, 2) / d) > n).sum()) for base, n in 1.0 * models]


@exercise.part(points=1, answer=Count())
def pairs(d, models):
    """The pairs whose wavelength exceeds the training length, for each of your models."""
    return longer(d, models)


@pairs.misconception()
def columns_counted(d, models):
    """A pair has two columns and one angle."""
    return [2 * n for n in longer(d, models)]


@pairs.misconception()
def whole_turn_forgotten(d, models):
    """1/θ is the number of positions per radian, a wavelength is a whole turn."""
    return longer(d, models, 1)


@pairs.misconception()
def shorter_ones(d, models):
    """These are the pairs that have come round at least once in training."""
    return [d // 2 - n for n in longer(d, models)]


@pairs.misconception()
def i_for_2i(d, models):
    """The exponent of pair i is 2i/d. With i/d no wave gets long enough."""
    return longer(d, models ** [0.5, 1])


@pairs.misconception()
def one_pair_too_many(d, models):
    """You have one too many each time: round up to the first pair that is long enough."""
    return [n + 1 for n in longer(d, models)]


@pairs.misconception()
def one_pair_too_few(d, models):
    """You have one too few each time: there are d/2 pairs, and the first one is i = 0."""
    return [n - 1 for n in longer(d, models)]


def frequencies(d, base=10000.0):
    """θ_i = base^(−2i/d)."""
    return base ** (-np.arange(0, d, 2) / d)


@exercise.reference
def rope_frequencies(
    d: int, base: float = 10000.0, s: float = 1.0, method: str = "none"
) -> Float[ndarray, "pairs"]:
    """Return what each pair turns by in one step, where the context shall grow by the factor s."""
    if s < 1:
        raise ValueError(f"the context should grow: {s} < 1")
    if method == "ntk":
        if d == 2:
            raise ValueError("the only pair is the fastest and the slowest one")
        return frequencies(d, base * s ** (d / (d - 2)))
    return frequencies(d, base) / (s if method == "pi" else 1)


@exercise.alternative
def pair_by_pair(d, base=10000.0, s=1.0, method="none"):
    """A factor for each pair; with another base it grows from 1 to s."""
    if s < 1 or (method == "ntk" and d < 4):
        raise ValueError
    found = []
    for i in range(d // 2):
        slower = {"none": 0.0, "pi": 1.0, "ntk": i / (d / 2 - 1) if d > 2 else 0.0}[method]
        found.append(1 / (base ** (2 * i / d) * s**slower))
    return np.array(found)


@exercise.alternative
def by_logarithms(d, base=10000.0, s=1.0, method="none"):
    """Equal steps on a logarithmic scale, from the fastest pair to the slowest."""
    if s < 1:
        raise ValueError
    first, last = 0.0, -(d - 2) / d * np.log(base)
    if method == "pi":
        first, last = -np.log(s), last - np.log(s)
    elif method == "ntk":
        if d == 2:
            raise ValueError
        last -= np.log(s)
    return np.exp(np.linspace(first, last, d // 2))


@exercise.alternative
def powers_of_one_ratio(d, base=10000.0, s=1.0, method="none"):
    """From pair to pair the frequency is multiplied by the same number."""
    if s < 1 or (method == "ntk" and d == 2):
        raise ValueError("the context must grow, and there must be two pairs")
    ratio = base ** (-2 / d)
    if method == "ntk":
        ratio *= s ** (-2 / (d - 2))
    theta = ratio ** np.arange(d // 2)
    return theta / s if method == "pi" else theta


def settings(rng):
    """A width, a base and a factor."""
    d, base, s = (rng.choice(x) for x in ([8, 12, 20], [1e2, 1e4, 5e5], [2.0, 5.0]))
    return int(d), float(base), float(s)


@exercise.check(points=0.5, visible=True)
def unscaled_and_interpolated(call, rng):
    """`"none"` gives base^(−2i/d); `"pi"` turns every pair s times more slowly."""
    for d, base, s in ((8, 10000.0, 4.0), settings(rng)):
        for method in ("none", "pi"):
            agree(call(d, base, s, method), rope_frequencies(d, base, s, method))
    agree(call(6), frequencies(6))


@exercise.check(points=0.5)
def other_base(call, rng):
    """`"ntk"` puts your new base in the place of the old one."""
    for d, base, s in ((8, 10000.0, 4.0), settings(rng)):
        agree(call(d, base, s, "ntk"), rope_frequencies(d, base, s, "ntk"))


@exercise.check(points=0.25)
def factor_one(call, rng):
    """s = 1 leaves the frequencies as they are, whatever the method is."""
    d, base, _ = settings(rng)
    for method in ("none", "pi", "ntk"):
        agree(call(d, base, 1.0, method), frequencies(d, base))


@exercise.check(points=0.25)
def both_ends_of_the_scale(call, rng):
    """With `"ntk"` the first pair is left alone and the last one turns as with `"pi"`."""
    d, base, s = settings(rng)
    found = np.asarray(call(d, base, s, "ntk"), float)
    require(found.shape == (d // 2,), f"for d = {d} the result has shape {found.shape}")
    agree(found[[0, -1]], [1, frequencies(d, base)[-1] / s])
    require((np.diff(found) < 0).all(), "each pair should turn more slowly than the one before")


@exercise.check(points=0.25)
def positions_are_squeezed(call, rng):
    """Turned by `"pi"`, position p is where p/s was; a score depends on the difference alone."""
    d, base, s = settings(rng)
    q, k = rng.normal(size=(2, d // 2)) + 1j * rng.normal(size=(2, d // 2))
    theta = np.asarray(call(d, base, s, "pi"), float)
    require(theta.shape == q.shape, f"for d = {d} the result has shape {theta.shape}")
    score = lambda m, n: (q * np.exp(1j * m * theta) @ (k * np.exp(1j * n * theta)).conj()).real  # noqa: E731
    m, n = rng.integers(0, 5000, 2)
    right = (q * np.exp(1j * (m - n) / s * frequencies(d, base)) @ k.conj()).real
    agree(np.array([score(m, n), score(m + 900, n + 900)]), np.full(2, right), rtol=1e-6, atol=1e-6)


@exercise.check(points=0.25)
def nonsense_is_refused(call, rng):
    """A ValueError for s < 1, and for `"ntk"` with d = 2."""
    require(np.shape(call(4, 10000.0, 2.0, "ntk")) == (2,), "d = 4 is refused, too")
    for method in ("pi", "ntk"):
        refuses(call, 8, 10000.0, 0.5, method, why="s = 0.5")
    refuses(call, 2, 10000.0, 4.0, "ntk", why='d = 2 with "ntk"')


@exercise.misconception(credit=0.4)
def multiplied(d, base=10000.0, s=1.0, method="none"):
    """Longer contexts need slower turning."""
    right = rope_frequencies(d, base, s, method)  # raises where it should
    return frequencies(d, base) ** 2 / right


@exercise.misconception
def base_times_s(d, base=10000.0, s=1.0, method="none"):
    """The slowest pair has the exponent (d − 2)/d: a factor s on the base slows it too little."""
    right = rope_frequencies(d, base, s, method)
    return frequencies(d, base * s) if method == "ntk" else right


@exercise.misconception
def exponent_of_another_pair(d, base=10000.0, s=1.0, method="none"):
    """Your exponent for the new base is that of another pair: the slowest one has i = d/2 − 1."""
    right = rope_frequencies(d, base, s, method)
    return frequencies(d, base * s ** (d / (d - 1))) if method == "ntk" else right


@exercise.misconception
def interpolated_either_way(d, base=10000.0, s=1.0, method="none"):
    """You turn every pair s times more slowly with both methods. `"ntk"` changes the base."""
    rope_frequencies(d, base, s, method)
    return rope_frequencies(d, base, s, "none" if method == "none" else "pi")


@exercise.misconception
def base_changed_either_way(d, base=10000.0, s=1.0, method="none"):
    """You changed the base for `"pi"`, too: interpolation divides all frequencies alike."""
    rope_frequencies(d, base, s, method)
    return rope_frequencies(d, base, s, "none" if method == "none" else "ntk")


@exercise.misconception(credit=0.4)
def exponent_halved(d, base=10000.0, s=1.0, method="none"):
    """The exponent of pair i is 2i/d. You took i/d."""
    theta = np.sqrt(rope_frequencies(d, base, s, "none" if method == "pi" else method))
    return theta / s if method == "pi" else theta


@exercise.misconception
def everything_allowed(d, base=10000.0, s=1.0, method="none"):
    """A factor below 1, and `"ntk"` with a single pair, must raise a ValueError."""
    if s >= 1 and (method != "ntk" or d > 2):
        return rope_frequencies(d, base, s, method)
    return frequencies(d, base) / s


@exercise.misconception
def scaled_without_being_asked(d, base=10000.0, s=1.0, method="none"):
    """Without a method nothing is scaled: `"none"` ignores s."""
    return rope_frequencies(d, base, s, "pi" if method == "none" else method)


@exercise.part(points=1, answer=Numbers())
def scores():
    """The score of the first pair one token apart: unscaled; with interpolation by 4."""
    return np.cos([1, 1 / 4])


scores.mistakes(
    stretched_the_other_way=(
        np.cos([1.0, 4]),
        "You turned four times faster. Longer contexts need slower turning.",
    ),
    score_divided=(
        [np.cos(1), np.cos(1) / 4],
        "You divided the score by 4. Interpolation divides the angle.",
    ),
    in_degrees=(np.cos(np.radians([1, 1 / 4])), "The angles are in radians."),
    sines=(
        np.sin([1, 1 / 4]),
        "The product of two vectors of length 1 is the cosine of the angle between them.",
    ),
    divided_by_the_root=(
        np.cos([1, 1 / 4]) / np.sqrt(2),
        "You divided by √2. Their product itself was asked for.",
    ),
    angles_alone=(
        np.array([1, 1 / 4]),
        "Those are the angles. What is the product of two unit vectors at this angle?",
    ),
)


@exercise.part(
    points=1,
    answer=Choice(
        [
            "Interpolation keeps every angle inside the trained range.",
            "The new base leaves the first pair as it is.",
            "With the new base all of the incomplete pairs but one leave their trained range.",
            "With the new base no pair leaves its trained range.",
            "Interpolation leaves the angles between neighbouring tokens as they are.",
        ],
        multiple=True,
    ),
)
def statements():
    """The letters of the true statements about both methods."""
    return "ABC"


@statements.misconception()
def interpolation_doubted():
    """You left out “Interpolation keeps every angle inside the trained range”.

    To which positions are 0 … 16383 squeezed?
    """
    return "BC"


@statements.misconception()
def first_pair_thought_slower():
    """You left out “The new base leaves the first pair as it is”.

    What is any base to the power 0?
    """
    return "AC"


@statements.misconception()
def angles_not_computed():
    """You left out “With the new base all of the incomplete pairs …”.

    Compute the angles of all incomplete pairs at position 16383.
    """
    return "AB"


@statements.misconception()
def new_base_thought_safe():
    """You marked “With the new base no pair leaves its trained range”.

    The pairs between the first and the last are slowed by less than s.
    """
    return "ABCD"


@statements.misconception()
def slowest_pair_taken_for_all():
    """You marked “… no pair leaves …” in place of “… all of the incomplete pairs …”.

    Only the slowest pair is slowed by s, those before it by less.
    """
    return "ABD"


@statements.misconception()
def neighbours_thought_untouched():
    """You marked “Interpolation leaves the angles between neighbouring tokens as they are”.

    Every angle is divided by s, small ones too.
    """
    return "ABCE"
