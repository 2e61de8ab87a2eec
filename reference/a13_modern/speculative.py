"""Speculative decoding: a draft is proposed by one model, and verified by another one.

Source: Leviathan et al. (2023), "Fast inference from transformers via speculative decoding",
equation (1) and theorem 3.8; Chen et al. (2023), "Accelerating large language model decoding with
speculative sampling".
"""

import itertools

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from autograder.algebra import RULES, Fact, IndexedChain, Rule
from autograder.exercise import Count, Derivation, Exercise, Formula, Numbers, agree, require

exercise = Exercise(
    "speculative",
    title="Guess ahead, keep the law",
    source="Leviathan et al. (2023), equation (1) and theorem 3.8; Chen et al. (2023)",
    minutes=50,
    hints=[
        "A draft is token i with probability q_i. So how often is token i drafted and accepted? "
        "Add that up for all tokens.",
        "A round has at least k + 1 tokens if the first k drafts were accepted. Add these chances "
        "up over k.",
        "For one token from weights by inverse distribution, add the weights up, and look for "
        "the first sum that is larger than r times the whole.",
    ],
)


@exercise.variant
def draw(rng):
    """p, q: (3,), the laws of the target and of the draft model, in tenths."""
    while True:
        p, q = rng.integers(1, 8, (2, 3))
        if p.sum() == q.sum() == 10 and abs(p - q).max() > 1:
            return {"p": p / 10, "q": q / 10}


START = "q_i*(c_i/q_i) + (1 - sum(q_k*(c_k/q_k), k))*(p_i - c_i)/sum(p_k - c_k, k)"

law = IndexedChain(
    start=START,
    target="p_i",
    indexed=("p", "q", "c"),
    where={"p_i": "a_i/sum(a_k, k)"},
    hidden=("a_i",),
    positive=("p", "q", "c", "a"),
    rules=(
        "linearity of sums",
        Fact("weights sum to one", "sum(p_k, k)", "1"),
        Rule("weights sum to one", RULES["linearity of sums"].rewrites),  # Σ c_i p_k = c_i, too
    ),
    min_lines=3,
)


@exercise.part(points=2, answer=Derivation(law))
def law_steps():
    """The chance that token i comes out, led to p_i."""
    return [
        "c_i + (1 - sum(c_k, k))*(p_i - c_i)/sum(p_k - c_k, k)",
        "c_i + (1 - sum(c_k, k))*(p_i - c_i)/(sum(p_k, k) - sum(c_k, k))  # linearity of sums",
        "c_i + (1 - sum(c_k, k))*(p_i - c_i)/(1 - sum(c_k, k))  # weights sum to one",
        "c_i + p_i - c_i",
        "p_i",
    ]


@law_steps.alternative
def one_in_front():
    """Write the 1 in front as a sum, in place of the sum below."""
    return [
        "c_i + (1 - sum(c_k, k))*(p_i - c_i)/sum(p_k - c_k, k)",
        "c_i + (sum(p_k, k) - sum(c_k, k))*(p_i - c_i)/sum(p_k - c_k, k)",
        "c_i + sum(p_k - c_k, k)*(p_i - c_i)/sum(p_k - c_k, k)",
        "c_i + p_i - c_i",
        "p_i",
    ]


@law_steps.alternative
def sums_first():
    """Split the sum below before q is cancelled."""
    return [
        "q_i*(c_i/q_i) + (1 - sum(q_k*(c_k/q_k), k))*(p_i - c_i)/(sum(p_k, k) - sum(c_k, k))",
        "q_i*(c_i/q_i) + (1 - sum(q_k*(c_k/q_k), k))*(p_i - c_i)/(1 - sum(c_k, k))",
        "c_i + (1 - sum(c_k, k))*(p_i - c_i)/(1 - sum(c_k, k))",
        "p_i",
    ]


@law_steps.alternative
def one_fraction():
    """Bring all of it over one line; the factor c_i stays under its sums."""
    return [
        "(sum(c_i*(p_k - c_k), k) + (1 - sum(c_k, k))*(p_i - c_i))/sum(p_k - c_k, k)",
        "(sum(c_i*p_k, k) - sum(c_i*c_k, k) + (1 - sum(c_k, k))*(p_i - c_i))"
        "/(sum(p_k, k) - sum(c_k, k))",
        "(c_i - sum(c_i*c_k, k) + (1 - sum(c_k, k))*(p_i - c_i))/(1 - sum(c_k, k))",
        "p_i*(1 - sum(c_k, k))/(1 - sum(c_k, k))",
        "p_i",
    ]


@law_steps.alternative
def in_latex():
    """Write sums and fractions with their signs."""
    return [
        r"c_i + (1 - \sum_k c_k) \frac{p_i - c_i}{\sum_k (p_k - c_k)}",
        r"c_i + (1 - \sum_k c_k) \frac{p_i - c_i}{\sum_k p_k - \sum_k c_k}",
        r"c_i + (1 - \sum_k c_k) \frac{p_i - c_i}{1 - \sum_k c_k}",
        "p_i",
    ]


def differ(numbers):
    """Tokens that are all accepted alike say nothing about the weights: not carried on."""
    return np.ptp(numbers) > 0


@exercise.part(points=0.25, answer=Numbers(), carry_if=differ)
def acceptance(p, q):
    """The probability with which each of the three tokens is accepted, if it is the draft."""
    return np.minimum(1, p / q)


@acceptance.misconception()
def not_capped(p, q):
    """A probability is at most 1: what the target likes better is always accepted."""
    return p / q


@acceptance.misconception()
def other_ratio(p, q):
    """You divided the other way round. Accepted is what the target likes."""
    return np.minimum(1, q / p)


@acceptance.misconception()
def drafted_and_accepted(p, q):
    """That is how often a token is drafted and accepted. Given is that it was drafted."""
    return np.minimum(p, q)


@acceptance.misconception()
def rejected_by_token(p, q):
    """These are the probabilities of a rejection."""
    return 1 - np.minimum(1, p / q)


@exercise.part(points=0.5, answer=Numbers())
def overall(acceptance, q):
    """The probability that a draft is accepted."""
    return acceptance @ q


@overall.misconception()
def evenly(acceptance):
    """You took the plain mean. Drafts come from q: weight the acceptance with q."""
    return acceptance.mean()


@overall.misconception()
def weighted_with_p(acceptance, p):
    """You weighted with p. Drafts come from q: weight the acceptance with q."""
    return acceptance @ p


@overall.misconception()
def two_draws_agree(p, q):
    """That is the chance that two independent draws agree."""
    return p @ q


@overall.misconception()
def rejected(acceptance, q):
    """That is the probability that a draft is rejected."""
    return 1 - acceptance @ q


@overall.misconception()
def not_weighted(acceptance):
    """You added the three up. Not every token is the draft equally often."""
    return acceptance.sum()


@overall.misconception()
def mean_of_the_minima(p, q):
    """Each smaller one says how often a token is drafted and accepted. Add these up."""
    return np.minimum(p, q).mean()


@exercise.part(points=0.25, answer=Numbers())
def after_rejection(p, q):
    """The law of the token that is drawn after a rejection."""
    missing = np.maximum(p - q, 0)
    return missing / missing.sum()


@after_rejection.misconception()
def from_p(p):
    """What q likes too much was thinned out, so only the missing part of p may be drawn."""
    return p


@after_rejection.misconception()
def from_q(q):
    """q was just found wrong here."""
    return q


@after_rejection.misconception()
def until_accepted(p, q):
    """Drafting until one is accepted is rejection sampling from min(p, q), not from p."""
    return np.minimum(p, q) / np.minimum(p, q).sum()


@after_rejection.misconception()
def sizes_of_differences(p, q):
    """Where q is the larger one, nothing is missing."""
    return abs(p - q) / abs(p - q).sum()


@after_rejection.misconception()
def what_the_draft_has_more(p, q):
    """Of these tokens q has too many. After a rejection come those of which it has too few."""
    return np.maximum(q - p, 0) / np.maximum(q - p, 0).sum()


@after_rejection.misconception()
def differences_themselves(p, q):
    """A law has no negative entries: take the positive part."""
    return p - q


@after_rejection.misconception()
def not_normalised(p, q):
    """A law adds up to 1."""
    return np.maximum(p - q, 0)


@exercise.part(
    points=1,
    answer=Formula(
        "alpha gamma",
        {"*": "positive"},
        question="sum(alpha^k, k, 0, gamma)",
        practice=(
            "The probability that at least one of gamma drafts is refused.",
            "1 - alpha^gamma",
        ),
    ),
)
def tokens():
    """The expected number of tokens of a round with gamma drafts."""
    return "(1 - alpha^(gamma + 1))/(1 - alpha)"


tokens.mistakes(
    bonus_forgotten=(
        "(1 - alpha^gamma)/(1 - alpha)",
        "If all drafts pass, the target's last distribution is there for one more token.",
    ),
    accepted_drafts_alone=(
        "alpha*(1 - alpha^gamma)/(1 - alpha)",
        "These are the accepted drafts. A round always ends with one token that is not a draft.",
    ),
    first_draft_for_granted=(
        "1 + (1 - alpha^gamma)/(1 - alpha)",
        "The first draft passes with the chance α, not always. Try gamma = 1.",
    ),
    drafts_after_a_rejection=(
        "1 + gamma*alpha",
        "A rejected draft ends the round: those behind it are lost, whether they fit or not.",
    ),
    expected_drafts=(
        "gamma*alpha",
        "A rejected draft ends the round, and one token that is not a draft comes at its end.",
    ),
    all_or_nothing=(
        "1 + gamma*alpha^gamma",
        "Some of the drafts may pass: what was accepted before the first rejection counts.",
    ),
    round_without_end=(
        "1/(1 - alpha)",
        "A round ends after gamma drafts, even if all of them pass.",
    ),
    one_draft_more=(
        "(1 - alpha^(gamma + 2))/(1 - alpha)",
        "With gamma drafts there are at most gamma + 1 tokens: put alpha = 1 into your sum.",
    ),
    exponent_without_its_brackets=(
        "(1 - alpha^gamma + 1)/(1 - alpha)",
        "Mind the brackets: alpha^gamma + 1 is not alpha^(gamma + 1).",
    ),
    sum_not_divided=(
        "1 - alpha^(gamma + 1)",
        "That is the sum times 1 − alpha. Try gamma = 0: how many tokens come then?",
    ),
    whole_rounds_alone=(
        "(gamma + 1)*alpha^gamma",
        "You counted the rounds alone in which all drafts pass. The others bring tokens, too.",
    ),
)


ALPHA, DRAFT = 0.8, 0.05
ROUNDS = range(1, 61)


def speed(tokens, gamma):
    """Tokens of a round over what it takes, in steps of the target."""
    return float(tokens(alpha=ALPHA, gamma=gamma)) / (1 + gamma * DRAFT)


@exercise.part(points=0.25, answer=Numbers())
def tokens_at_4(tokens):
    """That number for alpha = 0.8 and gamma = 4."""
    return float(tokens(alpha=ALPHA, gamma=4))


tokens_at_4.mistakes(
    four_of_five=(4.2, "A rejected draft ends the round: those behind it are lost."),
    all_pass=(5.0, "Five tokens come if all four drafts pass, and they don't always."),
    drafts_by_themselves=(
        3.2,
        "A rejected draft ends the round, and one token that is not a draft comes at its end.",
    ),
    drafts_at_4=(
        ALPHA * (1 - ALPHA**4) / (1 - ALPHA),
        "These are the accepted drafts. A round always ends with one token that is not a draft.",
    ),
    bonus_forgotten_at_4=(
        (1 - ALPHA**4) / (1 - ALPHA),
        "If all drafts pass, the target's last distribution is there for one more token.",
    ),
)


@exercise.part(points=0.25, answer=Numbers())
def speedup(tokens_at_4):
    """The speed-up over plain decoding, if a draft takes 0.05 of a step."""
    return tokens_at_4 / (1 + 4 * DRAFT)


@speedup.misconception()
def drafts_for_nothing(tokens_at_4):
    """Drafting takes time as well."""
    return tokens_at_4


@speedup.misconception()
def one_draft_paid(tokens_at_4):
    """Each of the four drafts is paid for."""
    return tokens_at_4 / (1 + DRAFT)


@speedup.misconception()
def verification_for_nothing(tokens_at_4):
    """The target's own step is paid for, too."""
    return tokens_at_4 / (4 * DRAFT)


@speedup.misconception()
def five_drafts_paid(tokens_at_4):
    """The last token of a round is the target's own. Four are drafted."""
    return tokens_at_4 / (1 + 5 * DRAFT)


@speedup.misconception()
def multiplied_by_the_time(tokens_at_4):
    """Time spent on drafts makes a round slower: divide by what it takes."""
    return tokens_at_4 * (1 + 4 * DRAFT)


@exercise.part(points=0.25, answer=Count())
def best_gamma(tokens):
    """The number of drafts with the largest speed-up."""
    return max(ROUNDS, key=lambda gamma: speed(tokens, gamma))


best_gamma.mistakes(
    stopped_too_early=(4, "The speed-up still grows there. Compute it for further gamma."),
    of_the_picture=(13, "In the picture that is the best for another α. Compute it for yours."),
)


@exercise.part(points=0.25, answer=Numbers())
def best_speedup(tokens, best_gamma):
    """The speed-up with that number."""
    return speed(tokens, best_gamma)


@best_speedup.misconception()
def tokens_of_the_best(tokens, best_gamma):
    """These are the tokens of a round. Divide by what it takes."""
    return float(tokens(alpha=ALPHA, gamma=best_gamma))


@best_speedup.misconception()
def speedup_at_4(speedup):
    """That is the speed-up with four drafts."""
    return speedup


@best_speedup.misconception()
def verification_left_out(tokens, best_gamma):
    """The target's own step is paid for, too."""
    return float(tokens(alpha=ALPHA, gamma=best_gamma)) / (best_gamma * DRAFT)


def drawn(weights, r):
    """Return one token from weights by inverse distribution."""
    sums = np.cumsum(weights)
    return int(np.searchsorted(sums, r * sums[-1], side="right"))


@exercise.reference
def verify(
    draft: Int[ndarray, " gamma"],
    P: Float[ndarray, "gamma_1 V"],
    Q: Float[ndarray, "gamma V"],
    u: Float[ndarray, " gamma"],
    r: float,
) -> list:
    """Accept draft by draft; the first rejection ends the round."""
    for i, token in enumerate(draft):
        if u[i] >= P[i, token] / Q[i, token]:
            return [*draft[:i].tolist(), drawn(np.maximum(P[i] - Q[i], 0), r)]
    return [*draft.tolist(), drawn(P[len(draft)], r)]


@exercise.alternative
def without_division(draft, P, Q, u, r):
    """Compare products, and return an array."""
    out = []
    for i in range(len(draft)):
        token = draft[i]
        if u[i] * Q[i][token] < P[i][token]:
            out.append(token)
        else:
            rest = (P[i] - Q[i]).clip(min=0)
            return np.array([*out, np.argmax(np.cumsum(rest / rest.sum()) > r)])
    return np.array([*out, np.argmax(np.cumsum(P[-1]) > r)], dtype=int)


@exercise.alternative
def all_at_once(draft, P, Q, u, r):
    """Find the first rejection with one comparison; no draft has the law 0."""
    gamma, at = len(draft), np.arange(len(draft))
    passed = u < P[at, draft] / Q[at, draft]
    kept = gamma if passed.all() else int(np.argmin(passed))
    laws = np.vstack([Q, np.zeros(P.shape[1])])
    rest = np.where(P[kept] > laws[kept], P[kept] - laws[kept], 0)
    sums = np.cumsum(rest) / rest.sum()
    return [int(t) for t in draft[:kept]] + [int((sums <= r).sum())]


@exercise.alternative
def sum_by_hand(draft, P, Q, u, r):
    """Go through the tokens until their probabilities exceed r."""

    def pick(weights):
        left, last = r * sum(weights), 0
        for token, weight in enumerate(weights):
            if weight > 0:
                last, left = token, left - weight
                if left < 0:
                    break
        return last

    out = []
    for i, token in enumerate(draft):
        if u[i] < min(1, P[i][token] / Q[i][token]):
            out.append(int(token))
        else:
            return [*out, pick([max(a - b, 0) for a, b in zip(P[i], Q[i], strict=True)])]
    return [*out, pick(list(P[len(draft)]))]


def laws(rng, gamma, V=4):
    """Random laws of the target and of the draft, and drafts."""
    P, Q = rng.dirichlet(np.ones(V), gamma + 1), rng.dirichlet(np.ones(V), gamma)
    return P, Q, np.array([rng.choice(V, p=law) for law in Q], dtype=int)


def round_of(call, *args):
    """What a call gives."""
    return tokens_of(call(*args))


def tokens_of(out):
    """Tokens as a list of whole numbers."""
    out = np.asarray(out)
    require(out.ndim == 1 and out.size > 0, "the result should be a list of tokens")
    require(bool(np.all(out == np.round(out))), "tokens are whole numbers")
    return out.astype(int).tolist()


@exercise.check(points=0.5, visible=True)
def rounds_by_hand(call, rng):
    """Two drafts that pass and a token behind them; and a first draft that is rejected."""
    P = np.array([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.6, 0.3, 0.1]])
    Q = np.array([[0.2, 0.5, 0.3], [0.3, 0.3, 0.4]])
    agree(call(np.array([0, 2]), P, Q, np.array([0.9, 0.9]), 0.7), [0, 2, 1])
    for r in (0.25, 0.4, 0.6, 0.9):  # each tells two wrong laws apart
        agree(call(np.array([1, 2]), P, Q, np.array([0.7, 0.9]), r), [0])


@exercise.check(points=0.5)
def equal_models_accept_everything(call, rng):
    """If both models agree, all drafts pass and one more token comes from the target."""
    for gamma in (1, 3, 6):
        P, _, _ = laws(rng, gamma)
        draft = np.array([rng.choice(4, p=law) for law in P[:-1]], dtype=int)
        u, levels = rng.random(gamma), (np.arange(5) + rng.random(5)) / 5
        levels = [*levels, levels[0]]  # the same once more: a second call gives the same
        outs = call.each(*((draft, P, P[:-1], u, r) for r in levels))
        for r, out in zip(levels, map(tokens_of, outs), strict=True):
            require(len(out) == gamma + 1, f"{len(out)} tokens came, for {gamma} drafts")
            agree(out, [*draft.tolist(), drawn(P[-1], r)])


@exercise.check(points=0.75)
def first_token_has_the_targets_law(call, rng):
    """Over many drafts from q, the first token comes with the probabilities of the target."""
    p, q = np.array([0.4, 0.3, 0.2, 0.1]), np.array([0.1, 0.1, 0.3, 0.5])
    P, found = np.stack([p, p[::-1]]), np.zeros(4)
    steps = np.arange(144)  # a Fibonacci number: u and r lie evenly, as good as 10,000 by chance
    u = (steps + rng.random(144)) / 144
    for token in range(4):
        r = (rng.random() + steps * 0.6180339887) % 1
        passes = p[token] >= q[token]
        tried = steps[::7] if passes else steps  # one that passes for any u is as easy to see
        rounds = ((np.array([token]), P, q[None], u[i : i + 1], r[i]) for i in tried)
        for out in call.each(*rounds):
            first = tokens_of(out)[0]
            require(0 <= first < 4, f"there is no token {first}")
            if passes:
                require(first == token, "a draft that passes for any u isn't kept")
            found[first] += q[token] / len(tried)
    require(abs(found - p).max() < 0.02, "the first token comes with other probabilities")


@exercise.check(points=0.5)
def length_is_that_of_the_acceptances(call, rng):
    """A round keeps the drafts before the first rejection, and has one token more."""
    asked = []
    for gamma, V in [(3, 5), (5, 3), (8, 4)] * 10:
        P, Q, draft = laws(rng, gamma, V)
        P[:-1] = (P[:-1] + Q) / 2  # so that later drafts are rejected as well
        at, u = np.arange(gamma), rng.random(gamma)
        edge = P[at, draft] / Q[at, draft] * rng.choice([0.99, 1.01], gamma)
        u = np.where((edge < 1) & (rng.random(gamma) < 0.3), edge, u)  # as near as tells 1 %
        asked.append((draft, P, Q, u, rng.random()))
    later, came = [], []
    for (draft, P, Q, u, r), out in zip(asked, call.each(*asked), strict=True):
        passed = u < P[range(len(draft)), draft] / Q[range(len(draft)), draft]
        if passed.all():  # another check looks at those
            continue
        kept = int(np.argmin(passed))
        out = tokens_of(out)
        require(len(out) == kept + 1, f"{len(out)} tokens came, where {kept} drafts pass")
        agree(out[:kept], draft[:kept], what="the drafts that pass")
        later.append((draft[kept:], P[kept:], Q[kept:], u[kept:], r))
        came.append(out[kept])
    # What comes behind a first draft that is rejected, whatever that is, comes behind a later one.
    first = [tokens_of(out)[0] for out in call.each(*later)]
    agree(came, first, what="the tokens behind the drafts that pass")


@exercise.check(points=0.5)
def impossible_tokens_never_come(call, rng):
    """What the target gives the probability 0 is rejected and never drawn, whatever u and r are."""
    P = np.array([[0, 0, 0.4, 0.6], [0, 0.5, 0.5, 0]])
    Q = np.array([[0.5, 0.5, 0, 0]])
    tried = list(itertools.product((0, 1), (0.0, 0.4, 0.99), (0.0, 0.3, 0.7)))
    outs = call.each(*((np.array([token]), P, Q, np.array([u]), r) for token, u, r in tried))
    for (_, _, r), out in zip(tried, outs, strict=True):
        agree(tokens_of(out), [2 if r < 0.4 else 3])
    passes, same = np.array([3]), np.full((1, 4), 0.25)  # for any u
    agree(round_of(call, passes, P, same, np.array([0.99]), 0.3), [3, 1])


@exercise.check(points=0.25)
def no_drafts_is_plain_sampling(call, rng):
    """Without drafts one token comes from the target."""
    P, none = rng.permutation([0.4, 0.3, 0.2, 0.1])[None], np.zeros(0)
    for r in rng.permutation([0.05, 0.25, 0.45, 0.65, 0.95]):
        out = round_of(call, none.astype(int), P, np.zeros((0, 4)), none, float(r))
        agree(out, [drawn(P[0], r)])


def rounds(draft, P, Q, u, r, after, bonus=True):
    """The reference with another law after a rejection, or without the last token."""
    out = []
    for i, token in enumerate(draft):
        if u[i] >= P[i, token] / Q[i, token]:
            return [*out, drawn(after(P[i], Q[i]), r)]
        out.append(int(token))
    return [*out, drawn(P[len(draft)], r)] if bonus else out


def positive_part(p, q):
    """What the target has more of."""
    return np.maximum(p - q, 0)


@exercise.misconception(credit=0.3)
def then_from_the_target(draft, P, Q, u, r):
    """After a rejection you draw from p. Only the missing part of it may be drawn."""
    return rounds(draft, P, Q, u, r, lambda p, _: p)


@exercise.misconception(credit=0.3)
def then_from_the_draft(draft, P, Q, u, r):
    """After a rejection you draw from q, which was just found wrong."""
    return rounds(draft, P, Q, u, r, lambda _, q: q)


@exercise.misconception(credit=0.3)
def then_from_the_minimum(draft, P, Q, u, r):
    """After a rejection you draw from min(p, q): that is what was accepted already."""
    return rounds(draft, P, Q, u, r, lambda p, q: np.minimum(p, q) + 1e-300)


@exercise.misconception
def last_token_forgotten(draft, P, Q, u, r):
    """If all drafts pass, the target's last distribution is there for one more token."""
    return rounds(draft, P, Q, u, r, positive_part, bonus=False)


@exercise.misconception(credit=0.3)
def goes_on_after_a_rejection(draft, P, Q, u, r):
    """A rejected draft ends the round: those behind it followed a token that is not there."""
    out = []
    for i, token in enumerate(draft):
        if u[i] < P[i, token] / Q[i, token]:
            out.append(int(token))
        else:
            out.append(drawn(positive_part(P[i], Q[i]), r))
    return [*out, drawn(P[len(draft)], r)]


@exercise.misconception(credit=0.3)
def nothing_kept(draft, P, Q, u, r):
    """After a rejection you throw away what was accepted before it."""
    out = rounds(draft, P, Q, u, r, positive_part)
    return out if len(out) > len(draft) else out[-1:]


@exercise.misconception
def zero_is_enough(draft, P, Q, u, r):
    """With u ≤ p/q a token of probability 0 passes if u is 0; and a sum equal to r is too small."""
    for i, token in enumerate(draft):
        if u[i] > P[i, token] / Q[i, token]:
            sums = np.cumsum(positive_part(P[i], Q[i]))
            return [*draft[:i].tolist(), int(np.searchsorted(sums, r * sums[-1]))]
    return [*draft.tolist(), int(np.searchsorted(np.cumsum(P[len(draft)]), r))]


@exercise.misconception
def residual_not_normalised(draft, P, Q, u, r):
    """Divide what is missing by its sum before you compare with r."""
    for i, token in enumerate(draft):
        if u[i] >= P[i, token] / Q[i, token]:
            sums = np.cumsum(positive_part(P[i], Q[i]))
            return [*draft[:i].tolist(), int(min(np.sum(sums <= r), len(sums) - 1))]
    return [*draft.tolist(), drawn(P[len(draft)], r)]


@exercise.misconception
def residual_up_to_what_is_missing(draft, P, Q, u, r):
    """Divide what is missing by its sum before you compare with r."""
    for i, token in enumerate(draft):
        if u[i] >= P[i, token] / Q[i, token]:
            missing = positive_part(P[i], Q[i])
            last = np.flatnonzero(missing).max(initial=0)
            return [*draft[:i].tolist(), int(min(np.sum(np.cumsum(missing) <= r), last))]
    return [*draft.tolist(), drawn(P[len(draft)], r)]


@exercise.misconception
def residual_of_the_first_place(draft, P, Q, u, r):
    """After a later rejection you take what is missing at the first place. Take P[i] − Q[i]."""
    out = rounds(draft, P, Q, u, r, positive_part)
    if 1 < len(out) <= len(draft):
        out[-1] = drawn(positive_part(P[0], Q[0]) + 1e-300, r)
    return out


@exercise.misconception
def other_way_round(draft, P, Q, u, r):
    """You compare with q/p. The more the target likes a token, the more often it passes."""
    with np.errstate(divide="ignore"):
        for i, token in enumerate(draft):
            if u[i] >= np.divide(Q[i, token], P[i, token]):
                return [*draft[:i].tolist(), drawn(positive_part(P[i], Q[i]) + 1e-300, r)]
    return [*draft.tolist(), drawn(P[len(draft)], r)]


@exercise.misconception
def greedy_comparison(draft, P, Q, u, r):
    """You accept what is the target's favourite. That is greedy decoding: it changes the law."""
    for i, token in enumerate(draft):
        if token != P[i].argmax():
            return [*draft[:i].tolist(), int(P[i].argmax())]
    return [*draft.tolist(), int(P[len(draft)].argmax())]
