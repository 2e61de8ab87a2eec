"""The derivations that the course asks for, each by two routes, and what can go wrong in them."""

from dataclasses import dataclass, replace

from autograder.algebra import Fact, IndexedChain


@dataclass
class Case:
    """A derivation; `wrong`, `skip` and `reason` say which line becomes what, or is left out.

    `certificate` says how it is proved that the target follows from what is given.
    """

    chain: IndexedChain
    right: list[str]
    other: list[str]
    wrong: tuple[int, str]
    skip: tuple[int, ...]
    reason: tuple[int, str]
    certificate: str = "proved for every n"


Z = "sum(exp(z_k), k)"
SOFTMAX = {"p_i": f"exp(z_i)/{Z}"}
SUMS = ("linearity of sums", "delta contraction")
NORMALISED = Fact("weights sum to one", "sum(p_k, k)", "1")


def softmax_jacobian():
    return Case(
        IndexedChain(
            start=f"D(exp(z_i)/{Z}, z_j)",
            target="p_i*(delta(i,j) - p_j)",
            indexed=("z", "p"),
            definitions=SOFTMAX,
            rules=(
                "quotient rule",
                "derivative of exp",
                "derivative of a sum",
                "delta contraction",
                "definition",
                "chain rule",
                "logarithmic derivative",
            ),
        ),
        [
            f"(D(exp(z_i), z_j)*{Z} - exp(z_i)*D({Z}, z_j))/{Z}^2  # quotient rule",
            f"(exp(z_i)*delta(i,j)*{Z} - exp(z_i)*D({Z}, z_j))/{Z}^2  # derivative of exp",
            f"(exp(z_i)*δ_ij*{Z} - exp(z_i)*sum(D(exp(z_k), z_j), k))/{Z}^2  # derivative of a sum",
            f"(exp(z_i)*δ_ij*{Z} - exp(z_i)*sum(exp(z_k)*δ_kj, k))/{Z}^2  # derivative of exp",
            f"(exp(z_i)*delta(i,j)*{Z} - exp(z_i)*exp(z_j))/{Z}^2  # delta contraction",
            f"exp(z_i)/{Z}*(delta(i,j) - exp(z_j)/{Z})  # algebra",
            "p_i*(delta(i,j) - p_j)  # definition",
        ],
        [  # through the logarithm, another bound index, hardly a reason
            "D(p_i, z_j)",
            "p_i*D(log(p_i), z_j)  # logarithmic derivative",
            "p_i*D(z_i - log(sum(exp(z_l), l)), z_j)",
            f"p_i*(delta(i,j) - D(log({Z}), z_j))",
            f"p_i*(delta(i,j) - D({Z}, z_j)/{Z})",
            f"p_i*(delta(i,j) - sum(D(exp(z_l), z_j), l)/{Z})",
            f"p_i*(delta(i,j) - sum(exp(z_l)*delta(l,j), l)/{Z})",
            f"p_i*(delta(i,j) - exp(z_j)/{Z})",
            "p_i*(delta(i,j) - p_j)",
        ],
        (5, f"(exp(z_i)*delta(i,j)*{Z} + exp(z_i)*exp(z_j))/{Z}^2  # delta contraction"),
        (2, 3, 4),
        (1, "derivative of exp"),
    )


def row_sums():
    return Case(
        IndexedChain(
            start="sum(p_i*(delta(i,j) - p_j), j)",
            target="0",
            indexed=("z", "p"),
            definitions=SOFTMAX,
            rules=(*SUMS, NORMALISED),
        ),
        [
            "p_i*(sum(delta(i,j), j) - sum(p_j, j))  # linearity of sums",
            "p_i*(1 - sum(p_j, j))  # delta contraction",
            "p_i*(1 - 1)  # weights sum to one",
            "0",
        ],
        [
            "sum(p_i*delta(i,j), j) - sum(p_i*p_j, j)",
            "p_i - sum(p_i*p_j, j)",
            "p_i - p_i*sum(p_k, k)",
            "p_i - p_i",
            "0",
        ],
        (2, "p_i*(n - sum(p_j, j))  # delta contraction"),
        (1, 2),
        (3, "linearity of sums"),
    )


def column_sums():
    case = row_sums()
    return Case(
        IndexedChain(
            start="sum(p_i*(delta(i,j) - p_j), i)",
            target="0",
            indexed=("z", "p"),
            definitions=SOFTMAX,
            rules=(*SUMS, NORMALISED),
        ),
        [
            "sum(p_i*delta(i,j), i) - p_j*sum(p_i, i)  # linearity of sums",
            "p_j - p_j*sum(p_i, i)  # delta contraction",
            "p_j - p_j*1  # weights sum to one",
            "0",
        ],
        [
            "sum(p_i*delta(i,j) - p_i*p_j, i)  # algebra",
            "sum(p_i*delta(i,j), i) - sum(p_i*p_j, i)",
            "p_j - sum(p_i*p_j, i)",
            "p_j - p_j*sum(p_i, i)",
            "0",
        ],
        (2, "p_i - p_j*sum(p_i, i)  # delta contraction"),
        (1, 2),
        (case.reason[0], "delta contraction"),
    )


def shift_invariance():
    return Case(
        IndexedChain(
            start="exp(z_i + c)/sum(exp(z_k + c), k)",
            target=f"exp(z_i)/{Z}",
            names=("c",),
            indexed=("z",),
            min_lines=2,
            rules=("linearity of sums", "order of sums"),
        ),
        [
            "exp(c)*exp(z_i)/sum(exp(c)*exp(z_k), k)  # algebra",
            f"exp(c)*exp(z_i)/(exp(c)*{Z})  # linearity of sums",
            f"exp(z_i)/{Z}  # algebra",
        ],
        [f"exp(z_i)*exp(c)/(exp(c)*{Z})", f"exp(z_i)/{Z}"],
        (2, f"exp(c)*exp(z_i)/(n*exp(c)*{Z})  # linearity of sums"),
        (),
        (2, "algebra"),
    )


def cross_entropy():
    return Case(
        IndexedChain(
            start=f"D(-log(exp(z_i)/{Z}), z_j)",
            target="p_j - delta(i,j)",
            indexed=("z", "p"),
            definitions=SOFTMAX,
            rules=(
                "derivative of a sum",
                "chain rule",
                "derivative of exp",
                "delta contraction",
                "definition",
            ),
        ),
        [
            f"D(log({Z}) - z_i, z_j)  # algebra",
            f"D(log({Z}), z_j) - delta(i,j)  # derivative of a sum",
            f"D({Z}, z_j)/{Z} - delta(i,j)  # chain rule",
            f"sum(D(exp(z_k), z_j), k)/{Z} - delta(i,j)  # derivative of a sum",
            f"sum(exp(z_k)*delta(k,j), k)/{Z} - delta(i,j)  # derivative of exp",
            f"exp(z_j)/{Z} - delta(i,j)  # delta contraction",
            "p_j - delta(i,j)  # definition",
        ],
        [
            "-D(log(p_i), z_j)  # definition",
            f"-D(z_i - log({Z}), z_j)  # definition",
            f"-D(z_i, z_j) + D(log({Z}), z_j)",
            f"-delta(i,j) + D({Z}, z_j)/{Z}",
            f"-delta(i,j) + sum(D(exp(z_k), z_j), k)/{Z}",
            f"-delta(i,j) + sum(delta(k,j)*exp(z_j), k)/{Z}",
            f"-delta(i,j) + exp(z_j)/{Z}",
            "p_j - delta(i,j)",
        ],
        (2, f"D(log({Z}), z_j) + delta(i,j)  # derivative of a sum"),
        (4, 5),
        (3, "derivative of a sum"),
    )


def lse_gradient():
    return Case(
        IndexedChain(
            start=f"D(log({Z}), z_j)",
            target="p_j",
            indexed=("z", "p"),
            definitions=SOFTMAX,
            rules=(
                "chain rule",
                "derivative of a sum",
                "derivative of exp",
                "delta contraction",
                "definition",
            ),
        ),
        [
            f"D({Z}, z_j)/{Z}  # chain rule",
            f"sum(D(exp(z_k), z_j), k)/{Z}  # derivative of a sum",
            f"sum(exp(z_k)*delta(k,j), k)/{Z}  # derivative of exp",
            f"exp(z_j)/{Z}  # delta contraction",
            "p_j  # definition",
        ],
        [
            f"1/{Z}*D(sum(exp(z[l]), (l,1,n)), z[j])",
            f"1/{Z}*sum(D(exp(z_l), z_j), l)",
            f"1/{Z}*sum(exp(z_l)*delta(l,j), l)",
            f"1/{Z}*exp(z_j)  # the delta contraction",
            "p_j  # Definition.",
        ],
        (4, f"n*exp(z_j)/{Z}  # delta contraction"),
        (2, 3),
        (5, "chain rule"),
    )


def score_variance():
    moments = (
        Fact("means", "E(q_i)", "a"),
        Fact("means of k", "E(k_i)", "b"),
        Fact("squares of q", "E(q_i^2)", "s^2 + a^2"),
        Fact("squares of k", "E(k_i^2)", "t^2 + b^2"),
    )
    # q and k are names here, so the indices are i, j, l.
    return Case(
        IndexedChain(
            start="Var(sum(q_i*k_i, i))",
            target="n*((s^2 + a^2)*(t^2 + b^2) - a^2*b^2)",
            names=("a", "b", "s", "t"),
            indexed=("q", "k"),
            indices=("i", "j", "l"),
            moments={"q_i": ("a", "s^2"), "k_i": ("b", "t^2")},
            rules=(
                "variance of a sum",
                "definition of Var",
                "independence",
                "linearity of sums",
                *moments,
            ),
        ),
        [
            "sum(Var(q_i*k_i), i)  # variance of a sum",
            "sum(E((q_i*k_i)^2) - E(q_i*k_i)^2, i)  # definition of Var",
            "sum(E(q_i^2)*E(k_i^2) - E(q_i)^2*E(k_i)^2, i)  # independence",
            "sum((s^2 + a^2)*E(k_i^2) - E(q_i)^2*E(k_i)^2, i)  # squares of q",
            "sum((s^2 + a^2)*(t^2 + b^2) - E(q_i)^2*E(k_i)^2, i)  # squares of k",
            "sum((s^2 + a^2)*(t^2 + b^2) - a^2*E(k_i)^2, i)  # means",
            "sum((s^2 + a^2)*(t^2 + b^2) - a^2*b^2, i)  # means of k",
            "n*((s^2 + a^2)*(t^2 + b^2) - a^2*b^2)  # linearity of sums",
        ],
        [
            "sum(Var(q_j*k_j), j)",
            "sum(E(q_j^2*k_j^2) - E(q_j*k_j)^2, j)",
            "sum(E(q_j^2*k_j^2), j) - sum(E(q_j*k_j)^2, j)",
            "sum(E(q_j^2)*E(k_j^2), j) - sum((E(q_j)*E(k_j))^2, j)",
            "sum((s^2 + a^2)*E(k_j^2), j) - sum((E(q_j)*E(k_j))^2, j)",
            "sum((s^2 + a^2)*(t^2 + b^2), j) - sum((E(q_j)*E(k_j))^2, j)",
            "sum((s^2 + a^2)*(t^2 + b^2), j) - sum((a*E(k_j))^2, j)",
            "sum((s^2 + a^2)*(t^2 + b^2), j) - sum((a*b)^2, j)",
            "n*(a^2*t^2 + s^2*b^2 + s^2*t^2)",
        ],
        (3, "sum(E(q_i^2)*E(k_i^2), i)  # independence"),
        (2, 3),
        (1, "linearity of sums"),
    )


def pe_shift():
    return Case(
        IndexedChain(
            start="sin(w*(t + k))",
            target="a*sin(w*t) + b*cos(w*t)",
            names=("w", "t", "k", "a", "b"),
            indices=("i",),
            definitions={"a": "cos(w*k)", "b": "sin(w*k)"},
            rules=("addition theorem", "definition"),
            closed=("sin", "cos"),
        ),
        [
            "sin(w*t + w*k)  # algebra",
            "sin(w*t)*cos(w*k) + cos(w*t)*sin(w*k)  # addition theorem",
            "a*sin(w*t) + b*cos(w*t)  # definition",
        ],
        ["cos(w*k)*sin(w*t) + sin(w*k)*cos(w*t)", "a*sin(t*w) + b*cos(t*w)"],
        (2, "sin(w*t)*cos(w*k) - cos(w*t)*sin(w*k)  # addition theorem"),
        (2,),
        (2, "definition"),
        "proved",
    )


def pe_shift_cosine():
    """The other row of the rotation."""
    case = pe_shift()
    return Case(
        replace(case.chain, start="cos(w*(t + k))", target="a*cos(w*t) - b*sin(w*t)"),
        [
            "cos(w*t + w*k)  # algebra",
            "cos(w*t)*cos(w*k) - sin(w*t)*sin(w*k)  # addition theorem",
            "a*cos(w*t) - b*sin(w*t)  # definition",
        ],
        ["cos(w*k)*cos(w*t) - sin(w*k)*sin(w*t)", "a*cos(w*t) - b*sin(w*t)"],
        (2, "cos(w*t)*cos(w*k) + sin(w*t)*sin(w*k)  # addition theorem"),
        (2,),
        (2, "definition"),
        "proved",
    )


def rope():
    dot = "(x*cos(m*w) - y*sin(m*w))*(u*cos(n*w) - v*sin(n*w))"
    dot += " + (x*sin(m*w) + y*cos(m*w))*(u*sin(n*w) + v*cos(n*w))"
    c, s = "cos(m*w)*cos(n*w) + sin(m*w)*sin(n*w)", "cos(m*w)*sin(n*w) - sin(m*w)*cos(n*w)"
    return Case(
        IndexedChain(
            start=dot,
            target="x*(u*cos((n - m)*w) - v*sin((n - m)*w))"
            " + y*(u*sin((n - m)*w) + v*cos((n - m)*w))",
            names=("x", "y", "u", "v", "m", "n", "w"),
            indices=("i",),
            size="N",
            rules=("addition theorem",),
            closed=("sin", "cos"),
        ),
        [
            f"(x*u + y*v)*({c}) + (y*u - x*v)*({s})  # algebra",
            "(x*u + y*v)*cos((n - m)*w) + (y*u - x*v)*sin((n - m)*w)  # addition theorem",
            "x*(u*cos((n - m)*w) - v*sin((n - m)*w)) + y*(u*sin((n - m)*w) + v*cos((n - m)*w))",
        ],
        [
            f"x*(u*({c}) - v*({s})) + y*(u*({s}) + v*({c}))",
            "x*(u*cos(n*w - m*w) - v*sin(n*w - m*w)) + y*(u*sin(n*w - m*w) + v*cos(n*w - m*w))",
        ],
        (2, "(x*u + y*v)*cos((n + m)*w) + (y*u - x*v)*sin((n - m)*w)  # addition theorem"),
        (),
        (3, "addition theorem"),
        "proved",
    )


def layer_norm():
    return Case(
        IndexedChain(
            start="D((x_i - m)/s, x_j)",
            target="(delta(i,j) - 1/n - y_i*y_j/n)/s",
            names=("m", "s"),
            indexed=("x", "y"),
            indices=("i", "j", "k"),
            definitions={
                "m": "sum(x_k, k)/n",
                "s": "sqrt(sum((x_k - m)^2, k)/n)",
                "y_i": "(x_i - m)/s",
            },
            rules=(
                "quotient rule",
                "derivative of a sum",
                "definition",
                Fact("derivative of the mean", "D(m, x_j)", "1/n"),
                Fact("derivative of the deviation", "D(s, x_j)", "y_j/n"),
                Fact("normalised", "(x_i - m)", "s*y_i"),
            )[:5],
        ),
        [
            "(D(x_i - m, x_j)*s - (x_i - m)*D(s, x_j))/s^2  # quotient rule",
            "((delta(i,j) - D(m, x_j))*s - (x_i - m)*D(s, x_j))/s^2  # derivative of a sum",
            "((delta(i,j) - 1/n)*s - (x_i - m)*D(s, x_j))/s^2  # derivative of the mean",
            "((delta(i,j) - 1/n)*s - (x_i - m)*y_j/n)/s^2  # derivative of the deviation",
            "(delta(i,j) - 1/n - (x_i - m)/s*y_j/n)/s  # algebra",
            "(delta(i,j) - 1/n - y_i*y_j/n)/s  # definition",
        ],
        [
            "D(x_i - m, x_j)/s - (x_i - m)*D(s, x_j)/s^2",
            "D(x_i - m, x_j)/s - y_i*D(s, x_j)/s",
            "D(x_i - m, x_j)/s - y_i*(y_j/n)/s",
            "(delta(i,j) - D(m, x_j))/s - y_i*y_j/n/s",
            "(delta(i,j) - 1/n)/s - y_i*y_j/n/s",
        ],
        (3, "(delta(i,j)*s - (x_i - m)*D(s, x_j))/s^2  # derivative of the mean"),
        (2, 3),
        (4, "derivative of the mean"),
    )


def output_norm():
    return Case(
        IndexedChain(
            start="norm(sum(p_k*V_k, k))",
            target="max(norm(V_k), k)",
            indexed=("z", "p", "V"),
            vectors=("V",),
            positive=("p",),
            definitions=SOFTMAX,
            relation="<=",
            rules=(
                "triangle inequality",
                "norm of a multiple",
                "largest term",
                NORMALISED,
            ),
        ),
        [
            "<= sum(norm(p_k*V_k), k)  # triangle inequality",
            "= sum(p_k*norm(V_k), k)  # norm of a multiple",
            "<= max(norm(V_k), k)*sum(p_k, k)  # largest term",
            "= max(norm(V_k), k)  # weights sum to one",
        ],
        [
            "<= sum(p_j*norm(V_j), j)",
            "≤ max(norm(V_i), i)*sum(p_k, k)",
            "= max(norm(V_l), l)",
        ],
        (2, "= sum(norm(V_k), k)/n  # norm of a multiple"),
        (1, 2),
        (3, "norm of a multiple"),
        "numeric for n = 2 … 5 alone",
    )


def reassociation():
    a = "sum(sum(Q_ia*K_ja, a, 1, d)*V_jc, j)"
    return Case(
        IndexedChain(
            start=a,
            target="sum(Q_ia*sum(K_ja*V_jc, j), a, 1, d)",
            indexed=("Q", "K", "V"),
            indices=("a", "c", "i", "j"),
            sizes=("d",),
            rules=("linearity of sums", "order of sums"),
        ),
        [
            "sum(sum(Q_ia*K_ja*V_jc, a, 1, d), j)  # linearity of sums",
            "sum(sum(Q_ia*K_ja*V_jc, j), a, 1, d)  # order of sums",
            "sum(Q_ia*sum(K_ja*V_jc, j), a, 1, d)  # linearity of sums",
        ],
        ["sum(sum(Q_ia*(K_ja*V_jc), j), a, 1, d)", "sum(Q_ia*sum(K_ja*V_jc, j), a, 1, d)"],
        (2, "sum(sum(Q_ia*K_ja*V_ic, j), a, 1, d)  # order of sums"),
        (),
        (2, "linearity of sums"),
    )


def residual_expansion():
    return Case(
        IndexedChain(
            start="(I + B)*(I + A)",
            target="I + A + B + B*A",
            matrices=("A", "B"),
            rules=("definition",),
        ),
        ["I*(I + A) + B*(I + A)  # algebra", "I*I + I*A + B*I + B*A", "I + A + B + B*A"],
        ["I + A + B*(I + A)", "I + A + B*I + B*A", "I + A + B + B*A"],
        (2, "I*I + I*A + B*I + A*B"),
        (),
        (2, "definition"),
        "proved for matrices of every size",
    )


def favor():
    start = "E(exp(sum(w_k*x_k, k) - sum(x_k^2, k)/2)*exp(sum(w_k*y_k, k) - sum(y_k^2, k)/2))"
    rest = "exp(-sum(x_k^2, k)/2 - sum(y_k^2, k)/2)"
    return Case(
        IndexedChain(
            start=start,
            target="exp(sum(x_k*y_k, k))",
            indexed=("w", "x", "y"),
            normal=("w",),
            rules=("linearity of E", "linearity of sums", "normal expectation"),
        ),
        [
            f"{rest}*E(exp(sum(w_k*x_k, k) + sum(w_k*y_k, k)))  # linearity of E",
            f"{rest}*E(exp(sum(w_k*(x_k + y_k), k)))  # linearity of sums",
            f"{rest}*exp(sum((x_k + y_k)^2/2, k))  # normal expectation",
            "exp(sum(x_k*y_k, k))  # linearity of sums",
        ],
        [
            f"E({rest}*exp(sum(w_k*x_k, k) + sum(w_k*y_k, k)))",
            f"E({rest}*exp(sum(w_k*(x_k + y_k), k)))",
            f"{rest}*E(exp(sum(w_k*(x_k + y_k), k)))",
            f"{rest}*exp(sum((x_k + y_k)^2, k)/2)  # normal expectation",
            "exp(sum(x_k*y_k, k))",
        ],
        (3, f"{rest}*exp(sum((x_k + y_k)^2, k))  # normal expectation"),
        (2, 3),
        (3, "linearity of sums"),
    )


def layer_norm_of_a_multiple():
    """LN(a x + b) is sign(a) LN(x)."""
    mean, shifted = "sum(x_j, j)/n", "sum(a*x_j + b, j)/n"
    root = f"sqrt(sum((x_k - {mean})^2, k)/n)"
    return Case(
        IndexedChain(
            start=f"(a*x_i + b - {shifted})/sqrt(sum((a*x_k + b - {shifted})^2, k)/n)",
            target=f"sign(a)*(x_i - {mean})/{root}",
            names=("a", "b"),
            indexed=("x",),
            rules=("linearity of sums",),
        ),
        [
            "(a*x_i + b - sum(a*x_j, j)/n - b)"
            "/sqrt(sum((a*x_k + b - sum(a*x_j, j)/n - b)^2, k)/n)  # linearity of sums",
            f"(a*x_i - a*{mean})/sqrt(sum((a*x_k - a*{mean})^2, k)/n)  # linearity of sums",
            f"a*(x_i - {mean})/sqrt(sum(a^2*(x_k - {mean})^2, k)/n)  # algebra",
            f"a*(x_i - {mean})/sqrt(a^2*sum((x_k - {mean})^2, k)/n)  # linearity of sums",
            f"a*(x_i - {mean})/(abs(a)*{root})  # algebra",
            f"sign(a)*(x_i - {mean})/{root}  # algebra",
        ],
        [
            f"(a*x_i - a*{mean})/sqrt(sum((a*x_k - a*{mean})^2, k)/n)",
            f"(a*x_i - a*{mean})/sqrt(a^2*sum((x_k - {mean})^2, k)/n)",
            f"sign(a)*(x_i - {mean})/{root}",
        ],
        (5, f"(x_i - {mean})/{root}"),
        (1, 2, 3, 4),
        (2, "algebra"),
        "numeric for n = 2 … 5 alone",
    )


def kept_weights():
    """The m largest weights, made to add up to 1 again, change an average by 2 R max|v| at most."""
    kept, left_out = "sum(w_i*v_i, i, 1, m)", "sum(w_i*v_i, i, m+1, n)"
    largest = "max(abs(v_j), j)"
    return Case(
        IndexedChain(
            start=f"abs(sum(w_i*v_i, i) - {kept}/M)",
            target=f"2*R*{largest}",
            names=("M", "R"),
            indexed=("w", "v", "s"),
            positive=("w", "M", "R"),
            indices=("i", "j", "k"),
            parts=("m",),
            relation="<=",
            definitions={
                "w_i": "exp(s_i)/sum(exp(s_j), j)",
                "M": "sum(w_i, i, 1, m)",
                "R": "sum(w_i, i, m+1, n)",
            },
            rules=(
                "parts of a sum",
                "triangle inequality",
                "largest term",
                "definition",
                Fact("weights sum to one", "R", "1 - M"),
            ),
        ),
        [
            f"= abs({kept} + {left_out} - {kept}/M)  # parts of a sum",
            f"= abs({left_out} - R/M*{kept})  # weights sum to one",
            f"<= abs({left_out}) + R/M*abs({kept})  # triangle inequality",
            f"<= sum(w_i*abs(v_i), i, m+1, n) + R/M*abs({kept})  # triangle inequality",
            "<= sum(w_i*abs(v_i), i, m+1, n) + R/M*sum(w_i*abs(v_i), i, 1, m)",
            f"<= {largest}*sum(w_i, i, m+1, n) + R/M*{largest}*sum(w_i, i, 1, m)  # largest term",
            f"= {largest}*R + R/M*{largest}*M  # definition",
            f"= 2*R*{largest}  # algebra",
        ],
        [
            f"= abs({left_out} + {kept} - {kept}/M)",
            f"= abs({left_out} - {kept}*R/M)",
            "<= sum(w_i*abs(v_i), i, m+1, n) + R/M*sum(w_i*abs(v_i), i, 1, m)",
            f"<= {largest}*sum(w_i, i, m+1, n) + R/M*sum(w_i*abs(v_i), i, 1, m)",
            f"<= {largest}*sum(w_i, i, m+1, n) + R/M*{largest}*sum(w_i, i, 1, m)",
            f"= R*{largest} + R/M*{largest}*M",
            f"= 2*R*{largest}",
        ],
        (3, f"<= abs({left_out}) - R/M*abs({kept})"),
        (2, 3),
        (1, "largest term"),
        "numeric for n = 2 … 5 alone",
    )


def only_the_product_counts():
    """(W R)(U Sᵀ)ᵀ is W Uᵀ where R S = I."""
    return Case(
        IndexedChain(
            start="W*R*(U*S^T)^T",
            target="W*U^T",
            matrices=("W", "U", "R", "S"),
            where={"S": "R^(-1)"},
            rules=("transpose of a product", Fact("S is the inverse of R", "R*S", "I")),
        ),
        [
            "W*R*(S^T)^T*U^T  # transpose of a product",
            "W*R*S*U^T  # algebra",
            "W*I*U^T  # S is the inverse of R",
            "W*U^T  # algebra",
        ],
        ["W*(R*S)*U^T", "W*U^T"],
        (2, "W*R*S^T*U^T"),
        (1, 2, 3),
        (1, "S is the inverse of R"),
        "proved for matrices of every size",
    )


def permuted_attention():
    """Self-attention of permuted rows is the permuted self-attention."""
    attention = "P*S(X*W*U^T*X^T)"
    return Case(
        IndexedChain(
            start="S(P*X*W*(P*X*U)^T)*P*X*V",
            target="P*S(X*W*U^T*X^T)*X*V",
            matrices=("X", "W", "U", "V"),
            permutations=("P",),
            by_rows=("S",),
            rules=(
                "transpose of a product",
                "permutations pass through",
                Fact("P^T P = I", "P^T*P", "I"),
            ),
        ),
        [
            "S(P*X*W*U^T*X^T*P^T)*P*X*V  # transpose of a product",
            f"{attention}*P^T*P*X*V  # permutations pass through",
            f"{attention}*I*X*V  # P^T P = I",
            f"{attention}*X*V  # algebra",
        ],
        ["S(P*(X*W*U^T*X^T)*P^T)*P*X*V", f"{attention}*P^T*P*X*V", f"{attention}*X*V"],
        (2, "S(X*W*U^T*X^T)*P^T*P*X*V  # permutations pass through"),
        (2, 3),
        (1, "permutations pass through"),
        "proved for matrices of every size",
    )


def equal_norms():
    """x·x − x·y is half of ‖x − y‖² where ‖x‖ = ‖y‖."""
    return Case(
        IndexedChain(
            start="sum(x_i^2, i) - sum(x_i*y_i, i)",
            target="sum((x_i - y_i)^2, i)/2",
            indexed=("x", "y"),
            where={"x_i": "u_i*sqrt(sum(v_j^2, j))", "y_i": "v_i*sqrt(sum(u_j^2, j))"},
            hidden=("u_i", "v_i"),
            rules=("linearity of sums", Fact("equal norms", "sum(x_i^2, i)", "sum(y_i^2, i)")),
        ),
        [
            "sum(x_i^2, i)/2 + sum(y_i^2, i)/2 - sum(x_i*y_i, i)  # equal norms",
            "sum((x_i^2 + y_i^2 - 2*x_i*y_i)/2, i)  # linearity of sums",
            "sum((x_i - y_i)^2, i)/2  # algebra",
        ],
        [
            "sum(x_i^2, i)/2 + sum(y_i^2, i)/2 - sum(x_i*y_i, i)",
            "sum(x_i^2 + y_i^2 - 2*x_i*y_i, i)/2",
            "sum((x_i - y_i)^2, i)/2",
        ],
        (2, "sum((x_i^2 + y_i^2 - x_i*y_i)/2, i)  # linearity of sums"),
        (1,),
        (1, "linearity of sums"),
    )


CASES = [
    softmax_jacobian,
    row_sums,
    column_sums,
    shift_invariance,
    cross_entropy,
    lse_gradient,
    score_variance,
    pe_shift,
    pe_shift_cosine,
    rope,
    layer_norm,
    output_norm,
    reassociation,
    residual_expansion,
    favor,
    layer_norm_of_a_multiple,
    kept_weights,
    only_the_product_counts,
    permuted_attention,
    equal_norms,
]
