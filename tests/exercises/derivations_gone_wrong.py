"""Derivations in which something is missing or wrong, by part: lines, and what they may earn."""

from .derivations_otherwise import SIZE

J = "sum(g_k*p_k*(delta(k,j) - p_j), k)"
A = "g_j*p_j - sum(g_k*p_k*p_j, k)"
B = "g_j*p_j - p_j*sum(g_k*p_k, k)"
T = "p_j*(g_j - sum(g_k*p_k, k))"
GATES = "g1/(g1 + g2)"
RATIO = "exp(z1)/(exp(z1) + exp(z2))"
MIXTURE = (
    "(sum(exp(a_j)*u_j, j, 1, p) + sum(exp(s_k)*v_k, k))"
    "/(sum(exp(a_j), j, 1, p) + sum(exp(s_k), k))"
)
PAIR = "(sin(p + k) - sin(p))^2 + (cos(p + k) - cos(p))^2"
PRODUCTS = "2 - 2*(sin(p + k)*sin(p) + cos(p + k)*cos(p))"
DET = "(exp(a*u)/Y)*(exp(b*v)/Z) - (exp(a*v)/Y)*(exp(b*u)/Z)"
FACTOR = "exp(a*v + b*u)*(exp((a - b)*(u - v)) - 1)/(Y*Z)"
WEIGHT = "sum(f_a*g_ja, a, 1, r)"
VARIANCE = "n*((s^2 + a^2)*(t^2 + b^2) - a^2*b^2)"
TRACE = "p1*(1 - p1) + p2*(1 - p2) + p3*(1 - p3)"
APART = "M - (w1*v1 + w2*v2 + w3*v3)"
LAW = "q_i*(c_i/q_i) + (1 - sum(q_k*(c_k/q_k), k))*(p_i - c_i)/sum(p_k - c_k, k)"
HALF = "sum(exp(s_k)*v_k/2, k)"
OUTPUT = (
    "(sum(exp(a_j)*u_j, j, 1, p) + sum(exp(s_k)*v_k, k))"
    "/(sum(exp(a_j), j, 1, p) + sum(exp(s_k), k))"
)

GONE_WRONG = {
    ("a05_positions", "pe_why", "steps"): [
        (["2 - 2*cos(k) + sin(p)^2 + cos(p)^2 - 1", "2 - 2*cos(k)"], 0, 0),
        ([PAIR, "2 - 2*cos(k)"], 0, 0),
        ([PAIR, "4*sin(k/2)^2", "2 - 2*cos(k)"], 0, 0),
        ([PAIR, PRODUCTS], 0.5, 0.8),
        ([PAIR, PRODUCTS, "2 - 2*sin(k)"], 0.3, 0.7),
    ],
    ("a04_multi_head", "rank_logits", "steps"): [
        ([DET, FACTOR], 0, 0),
        ([DET, f"{FACTOR} + Y - Y", FACTOR], 0, 0),
        ([DET, "(exp(a*u + b*v) - exp(a*v + b*u))/(Y*Z)"], 0, 0.8),
        ([DET, "(exp(a*u + b*v) - exp(a*v + b*u))/(Y + Z)", FACTOR], 0, 0.5),
    ],
    ("a09_efficient", "lin_rank", "steps"): [
        ([f"{WEIGHT}/sum(sum(f_a*g_ka, a, 1, r), k)", "sum(u_a*g_ja, a, 1, r)"], 0, 0),
        ([f"{WEIGHT}/z", "sum(u_a*g_ja, a, 1, r)"], 0, 0.6),
        ([f"{WEIGHT}/sum(sum(f_a*g_ka, k), a, 1, r)", f"{WEIGHT}/z"], 0, 0.8),  # two obvious rules
    ],
    ("a10_scale_adapt", "moe_gate", "steps"): [
        ([GATES, RATIO], 0, 0),
        ([RATIO], 0, 0),
        ([GATES, "1/(1 + exp(z2 - z1))"], 0, 0),
        ([GATES, f"{RATIO} + g1 - g1", RATIO], 0, 0),
        ([GATES, f"({RATIO})*exp(g1)/exp(g1)", RATIO], 0, 0),
        ([GATES, f"({RATIO})/2 + ({RATIO})/2", RATIO], 0, 0),
        ([GATES, f"({RATIO})*g2/g2", RATIO], 0, 0),
        ([RATIO, f"2*({RATIO})/2", RATIO, GATES], 0, 0),
        ([GATES, RATIO, GATES, RATIO], 0, 0),
        ([GATES, "1/(1 + g2/g1)", RATIO], 0, 0),
        ([GATES, "exp(z1)/(exp(z1) + exp(z3))", RATIO], 0, 0),
        (
            [GATES, "(exp(z1)/Z)/(exp(z1)/Z + exp(z2)/Z)", "exp(z1)/(exp(z1) - exp(z2))", RATIO],
            0.7,
            0.75,
        ),
        (
            [
                GATES,
                "(exp(z1)/Z)/(exp(z1)/Z + exp(z2)/Z)",
                "exp(z1)/(exp(z1) - exp(z2))",
                "1/(1 - exp(z2 - z1))",
            ],
            0.5,
            0.6,
        ),
    ],
    ("a10_scale_adapt", "prefix_attn", "mixture_steps"): [
        (["P/(P + S)*x + (1 - P/(P + S))*y", "l*x + (1 - l)*y"], 0, 0),
        (["(P/(P + S)*x + (1 - P/(P + S))*y)/2 + (l*x + (1 - l)*y)/2", "l*x + (1 - l)*y"], 0, 0),
        ([OUTPUT.replace("sum(exp(s_k)*v_k, k)", f"{HALF} + {HALF}"), "l*x + (1 - l)*y"], 0, 0),
        ([MIXTURE, "l*x + (1 - l)*y"], 0, 0),
        ([MIXTURE, "l*x + y - l*y", "l*x + (1 - l)*y"], 0, 0),
        ([MIXTURE, "y + l*(x - y)", "l*x + (1 - l)*y"], 0, 0),
    ],
    ("a04_multi_head", "mha_params", "steps"): [
        ([SIZE, "4*d^2 + 4*d"], 0, 0),
        ([SIZE, "4*d*(d + 1)"], 0, 0),
        ([SIZE, "4*d^2 + 4*d", "4*d*(d + 1)"], 0, 0),
        ([SIZE, "4*d*(d + 1)", "4*d^2 + 4*d"], 0, 0.5),
        ([SIZE, "4*d^2 + 4*d + h - h", "4*d^2 + 4*d"], 0, 0),
        ([SIZE, "4*d^2 + 4*d", "3*d*(d+1)+d*(d+1)", SIZE], 0, 0),
        ([SIZE, "3*h*k*d + 3*k + h*k*d + d", "4*d^2 + 4*d"], 0, 0),
        ([SIZE, "3*h*k*d + 3*h*k + h*k*d + d", "3*d^2 + 3*d + d*d", "4*d^2 + 4*d"], 0.7, 0.75),
        ([SIZE, "3*h*k*d + 3*h*k + h*k*d + d", "3*d^2 + 3*d + d*d", "4*d^2 + 3*d"], 0.5, 0.65),
    ],
    ("a10_scale_adapt", "ckpt_memory", "square_steps"): [
        (["(a - b)^2", "L/s + s - 2*sqrt(L)"], 0, 0),
        (["(a - b)^2", "s + L/s - 2*sqrt(L) + a - a", "L/s + s - 2*sqrt(L)"], 0, 0),
        (["(a - b)^2", "(b - a)^2", "L/s + s - 2*sqrt(L)"], 0, 0),
        (["(a - b)^2", "a^2 - a*b + b^2", "L/s - sqrt(L) + s"], 0.3, 0.5),
        (
            ["(a - b)^2", "a^2 - 2*a*b + b^2", "L/s - 2*sqrt(L*s) + s", "L/s + s - 2*sqrt(L)"],
            0.7,
            0.75,
        ),
    ],
    ("a10_scale_adapt", "ckpt_memory", "best_steps"): [
        (["s = sqrt(L)"], 0, 0),
        (["D(L/s + s, s) = 0", "sqrt(L) - s = 0", "s = sqrt(L)"], 0, 0),
        (["1 + L/s^2 = 0", "s = sqrt(L)"], 0, 0),
        (["1 - L/s^2 = 0", "s^2 = 2*L", "s = sqrt(L)"], 0.7, 0.75),
        (["1 - L/s^2 = 0", "s^2 = 2*L", "s = sqrt(2*L)"], 0.7, 0.75),
    ],
    ("a06_block", "ln_jacobian", "own_steps"): [
        (["diff((t - m)/s, t)", "(1 - 1/d - z^2/d)/s"], 0, 0),
        (["diff((t - m)/s, t)", "1/s - (1 + z^2)/(d*s)", "(1 - 1/d - z^2/d)/s"], 0, 0.5),
        (["diff((t - m)/s, t)", "(1 - 1/d - z^2/d)/s", "1/s - (1 + z^2)/(d*s)"], 0, 0),
        (["((1 - 1/d)*s + (t - m)*z/d)/s^2", "(1 - 1/d + z^2/d)/s"], 0.3, 0.5),
    ],
    ("a03_scaled_attention", "sdpa_grad", "steps"): [
        ([T], 0, 0),
        ([A], 0, 0),
        ([T, f"{T} + s_1 - s_1", T], 0, 0),
        ([T, B, A, J], 0, 0.45),
        ([A, B, T], 0.5, 0.7),
        ([J, A, "g_j*p_j + p_j*sum(g_k*p_k, k)", T], 0.75, 0.8),
        ([J, A, "g_j*p_j + p_j*sum(g_k*p_k, k)", "p_j*(g_j + sum(g_k*p_k, k))"], 0.5, 0.65),
        (["3*sum(g_k*D(p_k, s_j)/3, k)", "5*sum(g_k*D(p_k, s_j)/5, k)", T], 0, 0.5),
    ],
    ("a03_scaled_attention", "score_variance", "steps"): [
        (
            [
                "sum(Var(q_i*k_i), i)",
                "sum(E((q_i*k_i - E(q_i))^2), i)  # definition of Var",
                VARIANCE,
            ],
            0.2,
            0.5,
        ),
        (["sum(Var(q_i)*Var(k_i), i)", "n*s^2*t^2"], 0, 0.45),
        ([f"{VARIANCE}*sum(1, l)/n", VARIANCE], 0, 0),
        ([f"sum({VARIANCE}/n, i)", VARIANCE], 0, 0),
        # A step to what a few facts make the result is as long as what it skips.
        (["n*((s^2 + E(q_i)^2)*(t^2 + b^2) - a^2*b^2)", VARIANCE], 0, 0.2),
    ],
    ("a13_modern", "speculative", "law_steps"): [
        ([f"({LAW})*sum(p_k, k)/2 + p_i/2", "p_i"], 0, 0),
        (["p_i*sum(p_k, k)", "p_i"], 0, 0),  # the fact alone leads there, and to the result
    ],
    ("a05_positions", "alibi_shift", "steps_taken"): [
        (["exp(s_j + m*j)/sum(exp(s_k + m*k), k)"], 0, 0),
        (
            [
                "exp(s_j + m*j)*exp(m*i)/sum(exp(s_k + m*k)*exp(-m*i), k)",
                "exp(s_j + m*j)/sum(exp(s_k + m*k), k)",
            ],
            0,
            0.45,
        ),
    ],
    ("a11_theory", "max_entropy", "lagrange_steps"): [
        (["p_j = exp(s_j/tau)/Z"], 0, 0),
        (["sum(p_k, k) = 1", "p_j = exp(s_j/tau)/Z"], 0, 0),
        (
            [
                "s_j - tau*log(p_j) - c = 0",
                "p_j = exp((s_j - c)/tau)",
                "sum(p_k, k) = 1",
                "exp(-c/tau)*Z = 1",
                "p_j = exp(s_j/tau)/Z",
            ],
            0.5,
            0.95,
        ),
    ],
    ("a13_modern", "sigmoid_attn", "steps"): [
        (["1/(1 + exp(-(t - L)))"], 0, 0),
        (["exp(t)/(exp(t) - exp(L))", "1/(1 - exp(-(t - L)))"], 0.2, 0.5),
    ],
    ("a01_softmax", "jacobian_sums", "row_steps"): [
        (["(p1^2 - p1)/(p1 - 1)*(1 - p1) + p1*(0 - p2) + p1*(0 - p3)", "0"], 0, 0),
        (["p1*(1 - p1) + p1*(0 - exp(z2)/Z) + p1*(0 - p3)", "0"], 0, 0),
    ],
    ("a01_softmax", "jacobian_spectrum", "trace_steps"): [
        ([f"({TRACE} + {TRACE.replace('p3', '(1 - p1 - p2)')})/2", "1 - p1^2 - p2^2 - p3^2"], 0, 0),
    ],
    ("a02_attention_by_hand", "attn_hull", "bound"): [
        ([f"(({APART})^2 - 1)/({APART} + 1) + 1", "w1*(M - v1) + w2*(M - v2) + w3*(M - v3)"], 0, 0),
    ],
    ("a03_scaled_attention", "self_attn_proj", "same_scores"): [
        (["X*W_Q*W_K^T*X^T*(R*S)", "X*W_Q*W_K^T*X^T"], 0, 0),
        (["X*W_Q*R*(X*W_K*S^T)^T*(R*S)", "X*W_Q*W_K^T*X^T"], 0, 0),
    ],
    ("a01_softmax", "jacobian_proof", "diag_steps"): [
        (["diff(p1, z1)", "p1 - p1^2", "p1*(1 - p1)"], 0, 0),
        (["diff(p1, z1)", "p1*(p2 + p3)", "p1*(1 - p1)"], 0, 0),
        (["diff(p1, z1)", "(exp(z1)*Z + exp(2*z1))/Z^2", "p1*(1 - p1)"], 0, 0.3),
        (["diff(p1, z1)", "(exp(z1)*Z - exp(2*z1))/Z^2", "p1 - p1", "p1*(1 - p1)"], 0.8, 0.87),
    ],
    ("a02_attention_by_hand", "attn_hull", "length"): [
        (["<= max(norm(V_k), k)"], 0, 0),
        (["<= max(norm(V_k), k)*sum(w_k, k)", "= max(norm(V_k), k)"], 0, 0),
        (["<= sum(norm(w_k*V_k), k)  # triangle inequality", "= max(norm(V_k), k)"], 0.2, 0.5),
    ],
}
