"""Parameters against tokens: where a fitted law puts the optimum, and what it leaves out.

Source: Hoffmann et al. (2022), "Training compute-optimal large language models", section 3.3.
"""

import numpy as np

from autograder.exercise import Essay, Exercise, Formula, Numbers, agree, require

exercise = Exercise(
    "chinchilla",
    title="Parameters or tokens?",
    source="Hoffmann et al. (2022), section 3.3",
    minutes=35,
    hints=[
        "Put D = C/(6N) into L: what remains is a function of N alone. Set its derivative to 0 "
        "and collect the powers of N on one side.",
        "Half of N makes one term larger by a factor that you know. The other term has to shrink "
        "by as much as that costs.",
        "For the tokens served write down training plus serving for both models, and set the two "
        "totals equal.",
    ],
)

E, A, B = 1.69, 406.4, 410.7  # as published, with α = 0.34 and β = 0.28


@exercise.variant
def draw(rng):
    """alpha, beta: exponents of N and of D; C: FLOPs of training."""
    return {
        "alpha": float(rng.choice([0.30, 0.34, 0.38])),
        "beta": float(rng.choice([0.26, 0.28, 0.32, 0.36])),
        "C": float(rng.choice([1, 2, 5]) * 10.0 ** rng.integers(20, 25)),
    }


def law(N, D, alpha, beta):
    """The loss of N parameters after D tokens."""
    return E + A / N**alpha + B / D**beta


def balance(alpha, beta, A=A, B=B):
    """The factor in front of the power of C/6 in the optimal N."""
    return (alpha * A / (beta * B)) ** (1 / (alpha + beta))


@exercise.part(
    points=1,
    answer=Formula(
        "alpha beta",
        {"*": "positive"},
        practice=(
            "The power of N by which the tokens D grow along the optimum.",
            "alpha/beta",
        ),
    ),
)
def exponent():
    """The power of C by which the optimal N grows."""
    return "beta/(alpha + beta)"


exponent.mistakes(
    exponent_of_the_tokens=(
        "alpha/(alpha + beta)",
        "The larger β, the faster data saturates, and the more of the compute goes to parameters.",
    ),
    sum_alone=(
        "1/(alpha + beta)",
        "That is the exponent of the factor in front. Which power has C when N^(α+β) stands alone?",
    ),
    evenly=("1/2", "That holds for equal exponents."),
    exponent_of_the_loss=(
        "alpha*beta/(alpha + beta)",
        "That is how fast the loss falls with C. Asked for is how fast N grows.",
    ),
    ratio_of_the_exponents=(
        "beta/alpha",
        "If N grew so, what would D do? The powers of C in N and in D have to add up to 1.",
    ),
    power_not_taken_off=(
        "beta",
        "That is the power of C when N^(α+β) stands alone. Solve for N itself.",
    ),
)


@exercise.part(points=0.5, answer=Numbers())
def N(alpha, beta, C):
    """The optimal number of parameters."""
    return balance(alpha, beta) * (C / 6) ** (beta / (alpha + beta))


@N.misconception()
def exchanged(alpha, beta, C):
    """The larger β, the faster data saturates, and the more of the compute goes to parameters."""
    return balance(alpha, beta) * (C / 6) ** (alpha / (alpha + beta))


@N.misconception()
def six_left_out(alpha, beta, C):
    """A forward and a backward pass cost about 6 FLOPs per parameter and token."""
    return balance(alpha, beta) * C ** (beta / (alpha + beta))


@N.misconception()
def factor_upside_down(alpha, beta, C):
    """The factor in front is upside down: a large A calls for more parameters."""
    return (C / 6) ** (beta / (alpha + beta)) / balance(alpha, beta)


@N.misconception()
def factor_left_out(alpha, beta, C):
    """You left out the factor in front of the power: A, B and the exponents decide on it."""
    return (C / 6) ** (beta / (alpha + beta))


@N.misconception()
def as_many_as_tokens(C):
    """With that there are as many parameters as tokens. What does the law say?"""
    return np.sqrt(C / 6)


@N.misconception()
def exponents_in_the_factor_exchanged(alpha, beta, C):
    """In the factor α belongs to A, and β to B: they come from the derivatives."""
    return balance(beta, alpha) * (C / 6) ** (beta / (alpha + beta))


@N.misconception()
def factor_of_the_constants_alone(alpha, beta, C):
    """The derivatives bring the exponents α and β into the factor in front, beside A and B."""
    return (A / B) ** (1 / (alpha + beta)) * (C / 6) ** (beta / (alpha + beta))


@N.misconception()
def root_of_the_factor_forgotten(alpha, beta, C):
    """The factor in front takes the power 1/(α + β) as well, when you solve for N."""
    return alpha * A / (beta * B) * (C / 6) ** (beta / (alpha + beta))


@N.misconception()
def six_multiplied(alpha, beta, C):
    """You multiplied C by 6. How many tokens does a compute C allow for one parameter?"""
    return balance(alpha, beta) * (6 * C) ** (beta / (alpha + beta))


@N.misconception()
def two_for_six_in_training(alpha, beta, C):
    """2 FLOPs are those of a forward pass. Training has a backward pass, too."""
    return balance(alpha, beta) * (C / 2) ** (beta / (alpha + beta))


@N.misconception()
def rule_of_twenty(C):
    """That is the rule of 20 tokens per parameter. What does the law itself say?"""
    return np.sqrt(C / 120)


@exercise.part(points=0.25, answer=Numbers())
def D(N, C):
    """The number of tokens that goes with it."""
    return C / (6 * N)


@D.alternative
def without_the_six_again(N, alpha, beta, C):
    """Whoever left out the 6 for N has paid for it."""
    return C / N if np.isclose(N, six_left_out(alpha, beta, C), rtol=1e-3) else C / (6 * N)


@D.misconception()
def all_compute_at_once(N, C):
    """A parameter takes about 6 FLOPs for each token, not one."""
    return C / N


@D.misconception()
def forward_pass_alone(N, C):
    """2 FLOPs are those of a forward pass. Training has a backward pass, too."""
    return C / (2 * N)


@D.misconception()
def six_in_the_numerator(N, C):
    """A token takes 6 FLOPs for each parameter: more FLOPs for a token mean fewer tokens."""
    return 6 * C / N


@D.misconception()
def twenty_each(N):
    """That is the rule of 20 tokens per parameter. How many does the compute allow?"""
    return 20 * N


@exercise.part(points=0.25, answer=Numbers())
def per_parameter(N, D):
    """Tokens per parameter."""
    return D / N


@per_parameter.misconception()
def parameters_per_token(N, D):
    """You divided the other way round."""
    return N / D


@per_parameter.misconception()
def rule_itself():
    """That is the rule of thumb. Divide your own numbers."""
    return 20.0


@exercise.part(points=0.5, answer=Numbers())
def best_loss(N, D, alpha, beta):
    """The loss there."""
    return law(N, D, alpha, beta)


@best_loss.misconception()
def floor_left_out(N, D, alpha, beta):
    """You left out E, which no model and no data can take away."""
    return law(N, D, alpha, beta) - E


@best_loss.misconception()
def exponents_exchanged(N, D, alpha, beta):
    """α belongs to the parameters, β to the tokens."""
    return law(N, D, beta, alpha)


@best_loss.misconception()
def data_without_limit(N, alpha):
    """The term of the tokens is missing."""
    return E + A / N**alpha


@best_loss.misconception()
def parameters_without_limit(D, beta):
    """The term of the parameters is missing."""
    return E + B / D**beta


@exercise.part(points=0.5, answer=Numbers())
def loss_at_20(C, alpha, beta):
    """The loss of the same compute with 20 tokens per parameter."""
    return law(np.sqrt(C / 120), 20 * np.sqrt(C / 120), alpha, beta)


@loss_at_20.misconception()
def more_compute(N, alpha, beta):
    """That model takes other compute. With D = 20 N and 6 N D = C both are determined."""
    return law(N, 20 * N, alpha, beta)


@loss_at_20.misconception()
def twenty_parameters_per_token(C, alpha, beta):
    """You gave each token 20 parameters."""
    return law(20 * np.sqrt(C / 120), np.sqrt(C / 120), alpha, beta)


@loss_at_20.misconception()
def floor_left_out_at_20(C, alpha, beta):
    """You left out E, which no model and no data can take away."""
    return law(np.sqrt(C / 120), 20 * np.sqrt(C / 120), alpha, beta) - E


@loss_at_20.misconception()
def six_forgotten_at_20(C, alpha, beta):
    """A parameter takes about 6 FLOPs for each token."""
    return law(np.sqrt(C / 20), 20 * np.sqrt(C / 20), alpha, beta)


@exercise.part(points=0.5, answer=Numbers())
def tokens_factor(N, D, alpha, beta):
    """Half of N, the same loss: the factor on D."""
    left = 1 - (2**alpha - 1) * (A / N**alpha) / (B / D**beta)  # of the second term
    return left ** (-1 / beta) if left > 0 else np.nan


@tokens_factor.misconception()
def twice_the_tokens():
    """That keeps the compute. Away from the optimum equal compute gives a larger loss."""
    return 2.0


@tokens_factor.misconception()
def terms_exchanged(alpha, beta):
    """Half of N makes its term larger by 2^α, and D has to pay for what was added, not for all."""
    return 2 ** (alpha / beta)


@tokens_factor.misconception()
def terms_taken_for_equal(alpha, beta):
    """At the optimum the two terms differ, unless α = β. How large is each of them?"""
    return (2 - 2**alpha) ** (-1 / beta)


@tokens_factor.misconception()
def growth_of_the_first_term(alpha):
    """By that factor the term of the parameters grows. How much must the other one shrink?"""
    return 2**alpha


@tokens_factor.misconception()
def power_of_beta_forgotten(N, D, alpha, beta):
    """That is how much larger the tokens' term may not be. D stands in it with the power β."""
    return 1 / (1 - (2**alpha - 1) * (A / N**alpha) / (B / D**beta))


@exercise.part(points=0.25, answer=Numbers())
def compute_factor(tokens_factor):
    """The factor on the training compute."""
    return tokens_factor / 2


@compute_factor.misconception()
def tokens_alone(tokens_factor):
    """The model is half as large as well."""
    return tokens_factor


@compute_factor.misconception()
def extra_compute_alone(tokens_factor):
    """That is the part that comes on top. Asked for is the factor on the whole."""
    return tokens_factor / 2 - 1


@exercise.part(points=0.25, answer=Numbers())
def served(tokens_factor):
    """Tokens served until the smaller model was cheaper, in units of the optimal D."""
    return 3 * (tokens_factor - 2)


@served.misconception()
def two_for_six(tokens_factor):
    """Training costs 6N per token, serving 2N."""
    return tokens_factor - 2


@served.misconception()
def gain_of_a_whole_model(tokens_factor):
    """Serving the smaller model saves the half of it that is gone: N FLOPs of 2 N per token."""
    return 1.5 * (tokens_factor - 2)


@served.misconception()
def training_at_full_size(tokens_factor):
    """In training, too, a token costs the smaller model half as much."""
    return 6 * (tokens_factor - 1)


@served.misconception()
def tokens_of_the_training(tokens_factor):
    """You compared tokens. Compare FLOPs: for each model those of training and of serving."""
    return tokens_factor - 1


@served.misconception()
def extra_compute_itself(tokens_factor):
    """That is what training costs more. After how many tokens served has it been saved?"""
    return tokens_factor / 2 - 1


@exercise.reference
def allocate(C: float, A: float, B: float, alpha: float, beta: float) -> tuple:
    """The minimum of A/N^α + B/D^β on the curve 6 N D = C, in closed form."""
    N = balance(alpha, beta, A, B) * (C / 6) ** (beta / (alpha + beta))
    return N, C / 6 / N


@exercise.alternative
def tokens_first(C, A, B, alpha, beta):
    """Solve for D, and return an array."""
    D = (beta * B / (alpha * A)) ** (1 / (alpha + beta)) * (C / 6) ** (alpha / (alpha + beta))
    return np.array([C / (6 * D), D])


@exercise.alternative
def by_halving(C, A, B, alpha, beta):
    """Halve an interval of log N by the sign of the derivative."""
    low, high = 0.0, np.log(C / 6)
    for _ in range(200):
        x = (low + high) / 2
        N = np.exp(x)
        falls = alpha * A * N**-alpha > beta * B * (6 * N / C) ** beta
        low, high = (x, high) if falls else (low, x)
    return [float(N), float(C / 6 / N)]


@exercise.alternative
def on_ever_finer_grids(C, A, B, alpha, beta):
    """Look for the least loss on a grid of log N, then on finer ones around it."""
    x, width = np.log(C / 6) / 2, np.log(C / 6) / 2
    for _ in range(12):
        grid = x + width * np.linspace(-1, 1, 401)
        x = grid[np.argmin(A * np.exp(-alpha * grid) + B * np.exp(beta * (grid - np.log(C / 6))))]
        width /= 20
    return np.exp(x), C / 6 / np.exp(x)


def budgets(rng):
    """Constants of some other law, and a compute."""
    for _ in range(4):
        A, B = rng.uniform(50, 900, 2)
        alpha, beta = rng.choice([0.2, 0.25, 0.3, 0.37, 0.45, 0.5], 2, replace=False)
        yield 10.0 ** rng.uniform(18, 25), A, B, float(alpha), float(beta)


@exercise.check(points=0.4)
def compute_is_spent(call, rng):
    """6 N D is the compute that was given."""
    for C, *constants in budgets(rng):
        N, D = call(C, *constants)
        require(N > 0 and D > 0, "N and D should be positive")
        agree(6 * N * D / C, 1.0, rtol=1e-6, what="6 N D / C")


@exercise.check(points=0.2)
def nothing_is_better(call, rng):
    """No other N with the same compute has a smaller loss."""
    for C, A, B, alpha, beta in budgets(rng):
        N, _ = call(C, A, B, alpha, beta)
        require(N > 0, "N should be positive")
        near = N * np.exp(np.linspace(-3, 3, 121))
        losses = A / near**alpha + B / (C / 6 / near) ** beta
        require(losses.min() > losses[60] * (1 - 1e-9), "there is an N with a smaller loss")


@exercise.check(points=0.2)
def terms_are_balanced(call, rng):
    """Another parameter and another token gain the same for their price: αA/N^α = βB/D^β."""
    for C, A, B, alpha, beta in budgets(rng):
        N, D = call(C, A, B, alpha, beta)
        require(N > 0 and D > 0, "N and D should be positive")
        agree(alpha * A / N**alpha / (beta * B / D**beta), 1.0, rtol=1e-4, what="their ratio")


@exercise.check(points=0.2)
def grows_by_the_exponent(call, rng):
    """A thousandfold compute makes N larger by the power of your first answer."""
    for C, A, B, alpha, beta in budgets(rng):
        (N, _), (more, _) = call(C, A, B, alpha, beta), call(1e3 * C, A, B, alpha, beta)
        require(N > 0 and more > 0, "N should be positive")
        growth = 1e3 ** (beta / (alpha + beta))
        agree(more / N, growth, rtol=1e-4, what="the growth of N")


@exercise.misconception
def split_by_the_wrong_exponent(C, A, B, alpha, beta):
    """The larger β, the faster data saturates, and the more of the compute goes to parameters."""
    N = balance(alpha, beta, A, B) * (C / 6) ** (alpha / (alpha + beta))
    return N, C / 6 / N


@exercise.misconception
def one_flop_per_token(C, A, B, alpha, beta):
    """A forward and a backward pass cost about 6 FLOPs per parameter and token."""
    N = balance(alpha, beta, A, B) * C ** (beta / (alpha + beta))
    return N, C / N


@exercise.misconception
def constants_exchanged(C, A, B, alpha, beta):
    """The factor in front is upside down: a large A calls for more parameters."""
    N = (C / 6) ** (beta / (alpha + beta)) / balance(alpha, beta, A, B)
    return N, C / 6 / N


@exercise.misconception
def exponents_left_out_of_the_factor(C, A, B, alpha, beta):
    """The derivatives bring the exponents α and β into the factor in front, beside A and B."""
    N = (A / B) ** (1 / (alpha + beta)) * (C / 6) ** (beta / (alpha + beta))
    return N, C / 6 / N


@exercise.misconception
def always_twenty(C, A, B, alpha, beta):
    """You spent 20 tokens on each parameter, whatever the law is."""
    N = np.sqrt(C / 120)
    return N, 20 * N


@exercise.misconception
def tokens_from_all_compute(C, A, B, alpha, beta):
    """Your N is right, but each token takes 6 FLOPs per parameter."""
    N = balance(alpha, beta, A, B) * (C / 6) ** (beta / (alpha + beta))
    return N, C / N


@exercise.part(points=2, answer=Essay())
def limits():
    """What does the law not say?

    (1) 1 point. It is a fit, with errors, to one data set, architecture and schedule: three fits of
    the same paper disagree, and a published re-fit of the third moves its exponents. And a loss
    says nothing about quality on tasks.

    (2) 1 point. It minimises the compute of training alone. A model that will serve many tokens
    should be smaller and trained for longer than that: the figures of the smaller model show it.
    """
    return (
        "The constants come from a fit to runs with one kind of data, one architecture and one "
        "schedule, so they have errors, and the extrapolation to larger compute has larger ones: "
        "the paper's own three methods give different exponents, and others who fitted the same "
        "runs again got other numbers. Around the optimum the loss is flat, so that these errors "
        "matter little for the loss and much for N. It is also the loss of predicting text, not "
        "how well a task is solved. Second, only training is paid for in C. In my figures a model "
        "of half the size took about a fifth more compute to reach the same loss, and that is "
        "earned back after serving a little more than as many tokens as the larger one was "
        "trained on. Who serves more than that should train a smaller model for longer."
    )


@limits.sample(points=1)
def serving_alone():
    """(1) 0: nothing about where the constants come from. (2) 1: with the figures."""
    return (
        "The law finds the cheapest training and forgets what comes after. With half of the "
        "parameters I need 20 % more compute, but every token served costs half as much, so for "
        "a product with many users the small model is the better choice."
    )
