# ruff: noqa: E501 - a line of a derivation stands on one line
"""Right derivations in finer or coarser lines, or in another order; every one must earn everything."""

FOUR = "(exp(z1) + exp(z2) + exp(z3) + exp(z4))"
SIZE = "h*3*(d*k + k) + (h*k*d + d)"
SUM = "sum(exp(s_k), k)"

OTHERWISE = {
    ("a01_softmax", "jacobian_proof", "diag_steps"): [
        [
            "diff(exp(z1)/Z, z1)",
            "exp(z1)/Z - exp(z1)*exp(z1)/Z^2",
            "p1 - p1*p1",
            "p1*(1-p1)",
        ],
        [
            "diff(p1, z1)",
            "exp(z1)*(exp(z2)+exp(z3))/Z^2",
            "p1*(p2+p3)",
            "p1*(1-p1)",
        ],
    ],
    ("a01_softmax", "soft_argmax", "bound_steps"): [
        [
            "log(exp(m)*exp(z1 - m) + exp(m)*exp(z2 - m) + exp(m)*exp(z3 - m))",
            "log(exp(m)) + log(exp(z1 - m) + exp(z2 - m) + exp(z3 - m))",
            "m + log(exp(z1 - m) + exp(z2 - m) + exp(z3 - m))",
        ],
        [
            r"\ln \sum_{k=1}^{3} e^{z_k}",
            r"\ln( e^m \sum_{k=1}^{3} e^{z_k - m})",
            r"m + \ln \sum_{k=1}^{3} e^{z_k - m}",
        ],
    ],
    ("a01_softmax", "softmax_invariance", "general"): [
        [
            "exp(z_i + c)/(exp(c)*sum(exp(z_j), j)) # linearity of sums",
            "exp(z_i)/sum(exp(z_j), j) # algebra",
            "p_i # definition",
        ],
        [
            "exp(z_i)/sum(exp(z_j),j) # linearity of sums",
            "p_i # definition",
        ],
    ],
    ("a05_positions", "relative_bias", "product_steps"): [
        [
            "exp(f_j)*exp(g_j)/sum(exp(f_k)*exp(g_k), k)",
            "(exp(f_j)/X)*(exp(g_j)/Y)/sum((exp(f_k)/X)*(exp(g_k)/Y), k)",
            "p_j*q_j/sum(p_k*q_k, k)",
        ],
        [
            "exp(f_j + g_j)/sum(exp(f_k + g_k), k)",
            "(exp(f_j)/X)*(exp(g_j)/Y)/sum((exp(f_k)/X)*(exp(g_k)/Y), k)",
            "p_j*q_j/sum(p_k*q_k, k)",
        ],
    ],
    ("a08_cost", "flash_tiled", "shortcut_steps"): [
        [
            "sum(sum(g_k*v_{j,k}, k)*A_j, j)",
            "sum(sum(g_k*v_{j,k}*A_j, k), j)",
            "sum(g_k*sum(v_{j,k}*A_j, j), k)",
            "sum(g_k*o_k, k)",
        ],
    ],
    ("a11_theory", "entropy_slope", "entropy_steps"): [
        [
            "-sum(p_i*log(exp(b*s_i)/Z), i)",
            "-b*sum(p_i*s_i, i) + log(Z)*sum(p_i, i)",
            "-b*m + log(Z)*sum(p_i, i)",
            "log(Z) - b*m",
        ],
        [
            "-sum(p_i*log(exp(b*s_i)/Z), i)",
            "-sum(p_i*(b*s_i - log(Z)), i)",
            "-b*sum(p_i*s_i, i) + log(Z)*sum(p_i, i)",
            "-b*m + log(Z)*sum(p_i,i)",
            "log(Z) - b*m",
        ],
        [
            r"-\sum_i p_i (b s_i - \log Z)",
            r"-b\sum_i p_i s_i + \log Z \sum_i p_i",
            r"-b \sum_i p_i s_i + \log Z",
            r"\log Z - b m",
        ],
    ],
    ("a14_text", "evaluate", "steps"): [
        [
            "Var(sum(x_i, i))/n^2",
            "sum(Var(x_i), i)/n^2",
            "n*Var(x_i)/n^2",
            "Var(x_i)/n",
            "p*(1-p)/n",
        ],
    ],
    ("a05_positions", "pe_why", "steps"): [
        [
            "sin(p+k)^2 + cos(p+k)^2 + sin(p)^2 + cos(p)^2 - 2*(sin(p+k)*sin(p) + cos(p+k)*cos(p))",
            "2 - 2*cos(p + k - p)",
            "2 - 2*cos(k)",
        ],
    ],
    ("a01_softmax", "jacobian_spectrum", "trace_steps"): [
        [
            r"\sum_{i=1}^{3} p_i (1 - p_i)",
            r"\sum_{i=1}^3 p_i - \sum_{i=1}^3 p_i^2",
            r"1 - \sum_{i=1}^3 p_i^2",
        ],
    ],
    ("a13_modern", "speculative", "law_steps"): [
        [
            "c_i + (1 - sum(c_k, k))*(p_i - c_i)/(sum(p_k, k) - sum(c_k, k))",
            "c_i + (1 - sum(c_k, k))*(p_i - c_i)/(1 - sum(c_k, k))",
            "c_i + p_i - c_i",
            "p_i",
        ],
    ],
    ("a10_scale_adapt", "prefix_attn", "mixture_steps"): [
        [
            "(P*x + S*y)/(P + S)",
            "P/(P+S)*x + (1 - P/(P+S))*y",
            "l*x + (1-l)*y",
        ],
        [
            "(P*x + S*y)/(P + S)",
            "l*x + S*y/(P+S)",
            "l*x + (1-l)*y",
        ],
    ],
    ("a10_scale_adapt", "moe_gate", "steps"): [
        [
            r"\frac{e^{z_1}/Z}{e^{z_1}/Z + e^{z_2}/Z}",
            r"\frac{e^{z_1}}{e^{z_1}+e^{z_2}}",
        ],
        ["g1/(g1 + g2)", "(exp(z1)/Z)/((exp(z1) + exp(z2))/Z)", "exp(z1)/(exp(z1) + exp(z2))"],
        ["g1/(g1 + g2)", "exp(z1)/Z/((exp(z1) + exp(z2))/Z)", "exp(z1)/(exp(z1) + exp(z2))"],
        ["g1/(g1 + g2)", "g1*Z/((g1 + g2)*Z)", "exp(z1)/(exp(z1) + exp(z2))"],
        ["1/(1 + g2/g1)", "1/(1 + exp(z2 - z1))", "exp(z1)/(exp(z1) + exp(z2))"],
        [
            r"\frac{g_1}{g_1 + g_2}",
            r"\frac{e^{z_1}/Z}{(e^{z_1} + e^{z_2})/Z}",
            r"\frac{e^{z_1}}{e^{z_1} + e^{z_2}}",
        ],
        [
            f"(exp(z1)/{FOUR})/(exp(z1)/{FOUR} + exp(z2)/{FOUR})",
            f"(exp(z1)/{FOUR})/((exp(z1) + exp(z2))/{FOUR})",
            "exp(z1)/(exp(z1) + exp(z2))",
        ],
    ],
    ("a04_multi_head", "mha_params", "steps"): [
        [
            "h*3*(d*d/h + d/h) + (h*(d/h)*d + d)",
            "3*(d^2 + d) + (d^2 + d)",
            "4*d^2 + 4*d",
        ],
        [
            "3*h*k*(d+1) + d*(h*k + 1)",
            "4*d^2 + 4*d",
        ],
        [SIZE, "3*d*(d + 1) + d*(d + 1)", "4*d^2 + 4*d"],
        [SIZE, "3*d^2 + 3*d + d^2 + d", "4*d^2 + 4*d"],
        [SIZE, "3*h*k*(d + 1) + d*(h*k + 1)", "3*d*(d + 1) + d*(d + 1)", "4*d*(d + 1)"],
        [SIZE, "4*h*k*d + 3*h*k + d", "4*d*d + 3*d + d", "4*d*(d + 1)"],
    ],
    ("a10_scale_adapt", "ckpt_memory", "square_steps"): [
        [
            "(sqrt(L/s) - sqrt(s))^2",
            "L/s + s - 2*sqrt(L)",
        ],
        [
            "a^2 - 2ab + b^2",
            "L/s - 2 sqrt(L) + s",
        ],
        ["(a - b)^2", "L/s - 2*sqrt(L/s)*sqrt(s) + s", "L/s + s - 2*sqrt(L)"],
        ["(a - b)*(a - b)", "L/s - 2*sqrt(L/s)*sqrt(s) + s", "L/s + s - 2*L^(1/2)"],
        ["a^2 + b^2 - 2*a*b", "L/s + s - 2*sqrt(L/s*s)", "L/s + s - 2*sqrt(L)"],
        [
            r"a^2 - 2ab + b^2",
            r"\frac{L}{s} + s - 2\sqrt{\frac{L}{s}}\sqrt{s}",
            r"\frac{L}{s} + s - 2\sqrt{L}",
        ],
    ],
    ("a10_scale_adapt", "ckpt_memory", "best_steps"): [
        ["-L/s^2 + 1 = 0", "L = s^2", "s = sqrt(L)"],
        ["1 - L/s^2 = 0", "s^2 - L = 0", "(s - sqrt(L))*(s + sqrt(L)) = 0", "s = sqrt(L)"],
        ["1 = L/s^2", "s = L/s", "s*s = L", "s = L^0.5"],
        [r"1 - \frac{L}{s^2} = 0", r"\Rightarrow s^2 = L", r"\Rightarrow s = \sqrt{L}"],
    ],
    ("a06_block", "ln_invariance", "positive_steps"): [
        [
            "(a*x + b - a*m - b)/sqrt(a^2*v)",
            "a*(x - m)/(a*sqrt(v))",
            "y",
        ],
        [
            "(a*x + b - (a*m + b))/(a*sqrt(v))",
            "(x - m)/sqrt(v)",
            "y",
        ],
        [
            "(a*(x-m))/sqrt(V)",
            "a*(x - m)/(a*sqrt(v))",
            "y",
        ],
        ["(a*x + b - (a*m + b))/sqrt(a^2*v)", "a*(x - m)/(a*sqrt(v))", "(x - m)/sqrt(v)", "y"],
        ["(a*x + b - a*m - b)/sqrt(V)", "a*(x - m)/sqrt(V)", "a*(x - m)/(a*sqrt(v))", "y"],
        ["(a*x - a*m)/sqrt(a^2*v)", "(x - m)/sqrt(v)", "y"],
        ["(a*x - a*m)/sqrt(a^2*v)", "sign(a)*(x - m)/sqrt(v)", "y"],
    ],
    ("a06_block", "ln_invariance", "negative_steps"): [
        ["-a*(x - m)/sqrt(V)", "-a*(x - m)/(a**2*v)**(1/2)", "-sign(a)*y", "-y"],
    ],
    ("a01_softmax", "lse_gradient", "lse_steps"): [
        [
            "D(sum(exp(z_l), l), z_j)/sum(exp(z_m), m) # chain rule",
            "sum(D(exp(z_l), z_j), l)/sum(exp(z_m), m) # derivative of a sum",
            "sum(exp(z_l)*delta(j,l), l)/sum(exp(z_m), m) # derivative of exp",
            "exp(z_j)/sum(exp(z_m), m) # delta contraction",
            "p_j # definition",
        ],
        [
            "D(log(sum(exp(z_k), k)), z_j)",
            "1/sum(exp(z_k), k)*D(sum(exp(z_k), k), z_j)  # chain rule",
            "1/sum(exp(z_k), k)*sum(D(exp(z_k), z_j), k)  # derivative of a sum",
            "1/sum(exp(z_k), k)*sum(exp(z_k)*D(z_k, z_j), k)  # chain rule",
            "1/sum(exp(z_k), k)*sum(exp(z_k)*delta(k,j), k)  # derivative of a variable",
            "1/sum(exp(z_k), k)*exp(z_j)  # delta contraction",
            "exp(z_j)/sum(exp(z_k), k)",
            "p_j  # definition of p",
        ],
        [
            "D(sum(exp(z_k), k), z_j)/sum(exp(z_k), k)  # chain rule",
            "sum(exp(z_k)*delta(k,j), k)/sum(exp(z_k), k)  # derivative of a sum, derivative of exp",
            "exp(z_j)/sum(exp(z_k), k)  # delta",
            "p_j # definition",
        ],
        [
            "1/sum(exp(z_k), k)*D(sum(exp(z_k), k), z_j)  # chain rule",
            "1/sum(exp(z_k), k)*sum(D(exp(z_k), z_j), k)  # derivative of a sum",
            "1/sum(exp(z_k), k)*sum(exp(z_k)*delta(k,j), k)  # derivative of exp",
            "sum(exp(z_k)/sum(exp(z_l), l)*delta(k,j), k)  # algebra",
            "exp(z_j)/sum(exp(z_l), l)  # delta contraction",
            "p_j  # definition",
        ],
    ],
    ("a06_block", "ln_jacobian", "own_steps"): [
        [
            "(diff(t - m, t)*s - (t - m)*diff(s, t))/s^2",
            "((1 - 1/d)*s - (t - m)*z/d)/s^2",
            "(1 - 1/d)/s - z*(t - m)/(d*s^2)",
            "(1 - 1/d)/s - z^2/(d*s)",
            "(1 - 1/d - z^2/d)/s",
        ],
        [
            "diff(t - m, t)/s + (t - m)*diff(1/s, t)",
            "(1 - 1/d)/s - (t - m)*z/(d*s^2)",
            "(1 - 1/d - z^2/d)/s",
        ],
    ],
    ("a06_block", "residual_grad", "steps"): [
        ["I^2 + J_1 + J_2 + J_2*J_1", "I + J_1 + J_2 + J_2*J_1"],
        ["I*I + I*J_1 + J_2*I + J_2*J_1", "I + J_1 + J_2 + J_2*J_1"],
        ["I*(I + J_1) + J_2*(I + J_1)", "I*I + I*J_1 + J_2*I + J_2*J_1", "I + J_1 + J_2 + J_2*J_1"],
    ],
    ("a03_scaled_attention", "score_variance", "steps"): [
        [
            "sum(Var(q_i*k_i), i)",
            "n*Var(q_i*k_i)",
            "n*(E(q_i^2*k_i^2) - E(q_i*k_i)^2)",
            "n*(E(q_i^2)*E(k_i^2) - E(q_i)^2*E(k_i)^2)",
            "n*((s^2 + a^2)*(t^2 + b^2) - a^2*b^2)",
        ],
        [
            "Var(sum(q_i*k_i, i))",
            "sum(Var(q_i*k_i), i)  # variance of a sum",
            "sum(E((q_i*k_i)^2) - (E(q_i*k_i))^2, i)  # definition of Var",
            "sum(E(q_i^2*k_i^2) - (E(q_i*k_i))^2, i)",
            "sum(E(q_i^2)*E(k_i^2) - (E(q_i)*E(k_i))^2, i)  # independence",
            "sum((s^2+a^2)*(t^2+b^2) - (E(q_i)*E(k_i))^2, i)  # squares of q, squares of k",
            "sum((s^2+a^2)*(t^2+b^2) - (a*b)^2, i)  # mean of q and mean of k",
            "n*((s^2+a^2)*(t^2+b^2) - (a*b)^2)",
            "n*((s^2+a^2)*(t^2+b^2) - a^2*b^2)",
        ],
        [
            "\\sum_i \\mathrm{Var}(q_i k_i)",
            "\\sum_i \\left(\\mathbb{E}[q_i^2 k_i^2] - \\mathbb{E}[q_i k_i]^2\\right)",
            "\\sum_i \\left(\\mathbb{E}[q_i^2]\\mathbb{E}[k_i^2] - \\mathbb{E}[q_i]^2\\mathbb{E}[k_i]^2\\right)",
            "\\sum_i \\left((s^2+a^2)(t^2+b^2) - a^2 b^2\\right)",
            "n\\left((s^2+a^2)(t^2+b^2) - a^2 b^2\\right)",
        ],
        [
            "sum(Var(q_i*k_i), i)  # variance of a sum",
            "sum(E((q_i*k_i - E(q_i*k_i))^2), i)  # definition of Var",
            "sum(E(q_i^2*k_i^2) - E(q_i*k_i)^2, i)",
            "sum(E(q_i^2)*E(k_i^2) - E(q_i)^2*E(k_i)^2, i)  # independence",
            "sum((s^2 + a^2)*(t^2 + b^2) - a^2*b^2, i)",
            "n*((s^2 + a^2)*(t^2 + b^2) - a^2*b^2)",
        ],
        [
            "sum(Var(q_i*k_i), i)  # variance of a sum",
            "sum(E((q_i*k_i)^2) - E(q_i*k_i)^2, i)  # definition of Var",
            "sum(E(q_i^2)*E(k_i^2) - E(q_i)^2*E(k_i)^2, i)  # independence",
            "sum((Var(q_i) + E(q_i)^2)*E(k_i^2) - E(q_i)^2*E(k_i)^2, i)  # definition of Var",
            "sum((s^2 + E(q_i)^2)*E(k_i^2) - E(q_i)^2*E(k_i)^2, i)  # s is the standard deviation",
            "sum((s^2 + a^2)*(t^2 + b^2) - a^2*b^2, i)",
            "n*((s^2 + a^2)*(t^2 + b^2) - a^2*b^2)",
        ],
    ],
    ("a03_scaled_attention", "self_attn_proj", "same_scores"): [
        [
            "X W_Q R (S^T)^T (X W_K)^T # transpose of a product",
            "X W_Q R S (X W_K)^T # transpose of a product",
            "X W_Q (X W_K)^T # S is the inverse of R",
            "X W_Q W_K^T X^T # transpose of a product",
        ],
        [
            "X*W_Q*R*(S^T)^T*W_K^T*X^T  # transpose of a product",
            "X*W_Q*R*S*W_K^T*X^T  # transpose of a product",
            "X*W_Q*W_K^T*X^T  # S is the inverse of R",
        ],
        [
            "X*W_Q*R*(X*W_K*(R^-1)^T)^T  # S is the inverse of R",
            "X*W_Q*R*R^-1*W_K^T*X^T  # transpose of a product",
            "X*W_Q*W_K^T*X^T  # algebra",
        ],
    ],
    ("a03_scaled_attention", "sdpa_grad", "steps"): [
        [
            "sum(g_k*p_k*([k = j] - p_j), k)",
            "g_j*p_j - p_j*sum(g_k*p_k, k)",
            "p_j*(g_j - sum(g_k*p_k, k))",
        ],
        [
            "sum(g_k*p_k*(delta(k,j) - p_j), k)",
            "sum(g_k*p_k*delta(k,j) - g_k*p_k*p_j, k)",
            "g_j*p_j - sum(g_k*p_k*p_j, k)",
            "p_j*g_j - p_j*sum(p_k*g_k, k)",
            "p_j*(g_j - sum(g_k*p_k, k))",
        ],
        [
            r"\sum_k g_k \frac{\partial p_k}{\partial s_j}",
            r"\sum_k g_k p_k (\delta_{kj} - p_j)",
            r"\sum_k g_k p_k \delta_{kj} - p_j \sum_k g_k p_k",
            r"p_j g_j - p_j \sum_k g_k p_k",
            r"p_j \left(g_j - \sum_k g_k p_k\right)",
        ],
    ],
    ("a05_positions", "alibi_shift", "steps_taken"): [
        [
            "exp(s_j + m*j)*exp(-m*i)/sum(exp(s_k + m*k)*exp(-m*i), k)",
            "exp(s_j + m*j)*exp(-m*i)/(exp(-m*i)*sum(exp(s_k + m*k), k))",
            "exp(s_j + m*j)/sum(exp(s_k + m*k), k)",
        ],
        [
            "exp(m*i)*exp(s_j - m*(i - j))/(exp(m*i)*sum(exp(s_k - m*(i - k)), k))",
            "exp(s_j + m*j)/sum(exp(m*i)*exp(s_k - m*(i - k)), k)",
            "exp(s_j + m*j)/sum(exp(s_k + m*k), k)",
        ],
    ],
    ("a13_modern", "sigmoid_attn", "steps"): [
        [
            "exp(t)/(exp(t) + exp(L))",
            "1/(1 + exp(L)/exp(t))",
            "1/(1 + exp(L - t))",
            "1/(1 + exp(-(t - L)))",
        ],
        [
            r"\frac{e^t}{e^t + e^L}",
            r"\frac{1}{1+e^{L-t}}",
        ],
        [
            f"1/(1 + {SUM}/exp(t))",
            "1/(1 + exp(L)/exp(t))  # definition",
            "1/(1 + exp(-(t - L)))",
        ],
        [
            "exp(t)/(exp(t) + exp(L))  # definition",
            "1/(1 + exp(L)*exp(-t))",
            "1/(1 + exp(L - t))",
        ],
    ],
    ("a13_modern", "attention_sinks", "steps"): [
        [
            "exp(s_i)/(1 + exp(L))",
            "exp(s_i)/(exp(L)*(exp(-L) + 1))",
            "p_i/(1 + exp(-L))",
        ],
        [
            "p_i*sum(exp(s_k), k)/(1 + sum(exp(s_k), k))",
            "p_i*exp(L)/(1 + exp(L))",
            "p_i/(1 + exp(-L))",
        ],
        [
            "p_i*exp(L)/(1 + exp(L))",
            "p_i/(exp(-L) + 1)",
        ],
        [
            r"\frac{e^{s_i}}{1+e^L}",
            r"\frac{p_i e^L}{1+e^L}",
            r"\frac{p_i}{e^{-L}+1}",
        ],
        [
            f"(exp(s_i)/{SUM})/(1/{SUM} + 1)",
            f"p_i/(1 + 1/{SUM})  # definition",
            "p_i/(1 + exp(-L))  # definition",
        ],
        [
            f"exp(s_i)/({SUM}*(1/{SUM} + 1))",
            f"p_i/(1/{SUM} + 1)",
            "p_i/(exp(-L) + 1)",
        ],
    ],
    ("a13_modern", "superposition", "spread_steps"): [
        [
            r"\sum_i (l_i^2 - 2 t l_i + t^2)",
            r"\sum_i l_i^2 - 2t\sum_i l_i + d t^2",
            r"\sum_i l_i^2 - 2 d t^2 + d t^2",
            "F - t^2 d",
        ],
        [
            "sum(l_i^2, i) - 2*t*sum(l_i, i) + t^2*d",
            "sum(l_i^2, i) - t^2*d",
            "F - t^2*d",
        ],
        [
            "sum(l_i^2 - 2*t*l_i + t^2, i)",
            "sum(l_i^2, i) - 2*t*sum(l_i, i) + d*t^2",
            "F - 2*t*t*d + t^2*d",
            "F - t^2*d",
        ],
        [
            "sum(l_i^2, i) - sum(2*t*l_i, i) + sum(t^2, i)",
            "F - sum(2*t*l_i, i) + sum(t^2, i)  # definition",
            "F - 2*t*sum(l_i, i) + t^2*d",
            "F - 2*t*(t*d) + t^2*d",
            "F - d*t^2",
        ],
    ],
    ("a11_theory", "head_metrics", "pairs_steps"): [
        [
            r"\sum_i\sum_j (x_i^2 - 2 x_i x_j + x_j^2)",
            r"h\sum_i x_i^2 + h \sum_j x_j^2 - 2\sum_i x_i \sum_j x_j",
            r"2h\sum_i x_i^2 - 2h^2m^2",
            r"2h(\sum_i x_i^2 - 2 m \sum_i x_i + h m^2)",
            r"2h\sum_i (x_i - m)^2",
        ],
        [
            "sum(sum((x_i - x_j)^2, i), j)",
            "sum(sum(x_i^2 - 2*x_i*x_j + x_j^2, i), j)",
            "sum(sum(x_i^2, i) - 2*x_j*sum(x_i, i) + h*x_j^2, j)",
            "h*sum(x_i^2, i) - 2*sum(x_i, i)*sum(x_j, j) + h*sum(x_j^2, j)",
            "2*h*sum(x_i^2, i) - 2*sum(x_i, i)^2",
            "2*h*sum(x_i^2, i) - 2*(h*m)^2  # definition",
            "2*h*(sum(x_i^2, i) - h*m^2)",
            "2*h*(sum(x_i^2, i) - 2*m*h*m + h*m^2)",
            "2*h*(sum(x_i^2, i) - 2*m*sum(x_i, i) + h*m^2)  # definition",
            "2*h*sum(x_i^2 - 2*m*x_i + m^2, i)  # linearity of sums",
            "2*h*sum((x_i - m)^2, i)",
        ],
        [
            "sum(sum(x[k]^2 - 2*x[k]*x[l] + x[l]^2, k), l)",
            "h*sum(x[k]^2, k) - 2*sum(x[k], k)*sum(x[l], l) + h*sum(x[l]^2, l)",
            "2*h*sum(x[k]^2, k) - 2*h^2*m^2",
            "2*h*(sum(x[k]^2, k) - 2*m*sum(x[k], k) + h*m^2)",
            "2*h*sum((x[k] - m)^2, k)",
        ],
        [
            "sum(sum(((x_i - m) - (x_j - m))^2, i), j)",
            "sum(sum((x_i - m)^2 - 2*(x_i - m)*(x_j - m) + (x_j - m)^2, i), j)",
            "2*h*sum((x_i - m)^2, i) - 2*sum(x_i - m, i)*sum(x_j - m, j)",
            "2*h*sum((x_i - m)^2, i) - 2*(sum(x_i, i) - h*m)*sum(x_j - m, j)",
            "2*h*sum((x_i - m)^2, i) - 2*(h*m - h*m)*sum(x_j - m, j)  # definition",
            "2*h*sum((x_i - m)^2, i)",
        ],
    ],
    ("a11_theory", "max_entropy", "lagrange_steps"): [
        [
            "s_j - tau*log(p_j) - tau - c = 0",
            "tau*log(p_j) = s_j - tau - c",
            "p_j = exp((s_j - tau - c)/tau)",
            "p_j = exp(s_j/tau)*exp(-1 - c/tau)",
            "1 = exp(-1 - c/tau)*sum(exp(s_k/tau), k)",
            "exp(-1 - c/tau) = 1/Z",
            "p_j = exp(s_j/tau)/Z",
        ],
    ],
    ("a05_positions", "pe_shift", "sine_steps"): [
        [
            "sin(w*t)*cos(w*k) + cos(w*t)*sin(w*k)",
            "a*sin(w*t) + b*cos(w*t)",
        ],
        [
            "sin(w*t)*cos(w*k) + cos(w*t)*sin(w*k)",
            "a*sin(w*t) + sin(w*k)*cos(w*t)",
            "a*sin(w*t) + b*cos(w*t)",
        ],
        ["sin(w*t + w*k)", "sin(w*t)*cos(w*k) + cos(w*t)*sin(w*k)", "sin(w*t)*a + cos(w*t)*b"],
        [r"\sin(wt + wk)", r"\sin(wt)\cos(wk) + \cos(wt)\sin(wk)", r"a \sin(wt) + b \cos(wt)"],
    ],
    ("a08_cost", "online_softmax", "merge_steps"): [
        [
            "exp(M12 - M)*exp(m1 - M12)*l1 + exp(M12 - M)*exp(m2 - M12)*l2 + exp(m3 - M)*l3",
            "exp(m1 - M)*l1 + exp(m2 - M)*l2 + exp(m3 - M)*l3",
        ],
        [
            "exp(M12 - M + m1 - M12)*l1 + exp(M12 - M + m2 - M12)*l2 + exp(m3 - M)*l3",
            "exp(-M)*(exp(m1)*l1 + exp(m2)*l2 + exp(m3)*l3)",
            "exp(m1 - M)*l1 + exp(m2 - M)*l2 + exp(m3 - M)*l3",
        ],
    ],
    ("a09_efficient", "topk_mass", "bound_steps"): [
        [
            "= abs(sum(w_i*v_i, i, 1, m) + sum(w_i*v_i, i, m+1, n) - sum(w_i*v_i, i, 1, m)/M)",
            "= abs(sum(w_i*v_i, i, m+1, n) - R/M*sum(w_i*v_i, i, 1, m))  # weights sum to one",
            r"\le \left|\sum_{i=m+1}^n w_i v_i\right| + \frac{R}{M} \left|\sum_{i=1}^m w_i v_i\right|",
            r"\le \sum_{i=m+1}^n w_i |v_i| + \frac{R}{M} \sum_{i=1}^m w_i |v_i|",
            r"\le \max_j (|v_j|) \sum_{i=m+1}^n w_i + \frac{R}{M} \max_j (|v_j|) \sum_{i=1}^m w_i",
            r"= \max_j (|v_j|) R + \frac{R}{M} \max_j (|v_j|) M  # definition",
            r"= 2 R \max_j (|v_j|)  # algebra",
        ],
    ],
    ("a02_attention_by_hand", "attn_hull", "length"): [
        [
            "norm(sum(w_k*V_k, k))",
            "<= sum(norm(w_k*V_k), k)  # triangle inequality",
            "= sum(abs(w_k)*norm(V_k), k)  # norm of a multiple",
            "= sum(w_k*norm(V_k), k)",
            "<= sum(w_k*max(norm(V_j), j), k)  # largest term",
            "= sum(w_k, k)*max(norm(V_j), j)  # linearity of sums",
            "= 1*max(norm(V_j), j)  # weights sum to one",
            "= max(norm(V_k), k)",
        ],
        [
            "<= sum(w_k*norm(V_k), k)  # triangle inequality",
            "<= max(norm(V_k), k)*sum(w_k,k)  # largest term",
            "= max(norm(V_k), k)  # the weights sum to 1",
        ],
        [
            "\\| \\sum_k w_k V_k \\|",
            "\\le \\sum_k \\| w_k V_k \\| # triangle inequality",
            "= \\sum_k w_k \\|V_k\\| # norm of a multiple",
            "\\le \\max_k \\|V_k\\| \\sum_k w_k # largest term",
            "= \\max_k \\|V_k\\| # weights sum to one",
        ],
    ],
    ("a02_attention_by_hand", "self_preference", "gap"): [
        [
            "sum(x_i^2, i) - sum(x_i*y_i, i)",
            "sum(x_i^2, i)/2 + sum(x_i^2, i)/2 - sum(x_i*y_i, i)",
            "sum(x_i^2, i)/2 + sum(y_i^2, i)/2 - sum(x_i*y_i, i)  # equal lengths",
            "(sum(x_i^2, i) + sum(y_i^2, i) - 2*sum(x_i*y_i, i))/2",
            "sum(x_i^2 - 2*x_i*y_i + y_i^2, i)/2  # linearity of sums",
            "sum((x_i - y_i)^2, i)/2",
        ],
        [
            "sum(x[j]^2, j)/2 + sum(y[j]^2, j)/2 - sum(x[j]*y[j], j)  # equal lengths",
            "sum(x[j]^2/2 + y[j]^2/2 - x[j]*y[j], j)  # linearity of sums",
            "sum((x[j] - y[j])^2/2, j)  # algebra",
            "sum((x[j] - y[j])^2, j)/2  # linearity of sums",
        ],
    ],
    ("a06_block", "ln_jacobian", "other_steps"): [
        [
            "diff((u - m)/s, t)",
            "(diff(u - m, t)*s - (u - m)*diff(s, t))/s^2",
            "(-diff(m, t)*s - (u - m)*diff(s, t))/s^2",
            "(-(1/d)*s - (u - m)*diff(s, t))/s^2",
            "(-(1/d)*s - (u - m)*z/d)/s^2",
            "-1/(d*s) - (u - m)*z/(d*s^2)",
            "-1/(d*s) - y*z/(d*s)",
            "-(1 + y*z)/(d*s)",
        ],
        [
            "diff(u - m, t)/s + (u - m)*diff(1/s, t)",
            "-1/(d*s) - (u - m)*diff(s, t)/s^2",
            "-1/(d*s) - y*diff(s, t)/s",
            "-1/(d*s) - y*z/(d*s)",
            "-(1 + y*z)/(d*s)",
        ],
    ],
    ("a09_efficient", "favor_variance", "variance_steps"): [
        [
            "c^2*Var(exp(sum(w_k*z_k, k)))",
            "c^2*(E(exp(2*sum(w_k*z_k, k))) - E(exp(sum(w_k*z_k, k)))^2)",
            "c^2*(exp(sum((2*z_k)^2, k)/2) - exp(sum(z_k^2, k)/2)^2)",
            "c^2*(exp(2*N) - exp(N))",
            "c^2*exp(N)*(exp(N) - 1)",
        ],
        [
            "Var(c*exp(sum(w_k*z_k, k)))",
            "c^2*Var(exp(sum(w_k*z_k, k)))",
            "c^2*(E((exp(sum(w_k*z_k, k)))^2) - (E(exp(sum(w_k*z_k, k))))^2)",
            "c^2*(E(exp(2*sum(w_k*z_k, k))) - (E(exp(sum(w_k*z_k, k))))^2)",
            "c^2*(E(exp(sum(w_k*(2*z_k), k))) - (E(exp(sum(w_k*z_k, k))))^2)",
            "c^2*(exp(sum((2*z_k)^2, k)/2) - (exp(sum(z_k^2, k)/2))^2)",
            "c^2*(exp(4*sum(z_k^2, k)/2) - exp(sum(z_k^2, k)))",
            "c^2*(exp(2*N) - exp(N))",
            "c^2*exp(N)*(exp(N) - 1)",
        ],
        [
            "c^2*Var(exp(sum(w[j]*z[j], j)))",
            "c^2*(E(exp(sum(w[j]*z[j], j))^2) - E(exp(sum(w[j]*z[j], j)))^2)",
            "c^2*(E(exp(2*sum(w[j]*z[j], j))) - E(exp(sum(w[j]*z[j], j)))^2)",
            "c^2*(exp(2*sum(z[j]^2, j)) - exp(sum(z[j]^2, j)/2)^2)",
            "c^2*(exp(2*N) - exp(N/2)^2)",
            "c^2*exp(N)*(exp(N) - 1)",
        ],
    ],
    ("a09_efficient", "lin_assoc", "row_steps"): [
        [
            r"\frac{\sum_j \sum_{a=1}^{r} q_a k_{ja} v_j}{\sum_j \sum_{a=1}^r q_a k_{ja}}",
            r"\frac{\sum_{a=1}^{r} \sum_j q_a k_{ja} v_j}{\sum_{a=1}^r \sum_j q_a k_{ja}}",
            r"\frac{\sum_{a=1}^{r} q_a \sum_j k_{ja} v_j}{\sum_{a=1}^r q_a \sum_j k_{ja}}",
            r"\frac{\sum_{a=1}^{r} q_a S_a}{\sum_{a=1}^r q_a z_a}",
        ],
        [
            "\\frac{\\sum_j \\sum_{a=1}^r q_a k_{ja} v_j}{\\sum_j \\sum_{a=1}^r q_a k_{ja}}",
            "\\frac{\\sum_{a=1}^r \\sum_j q_a k_{ja} v_j}{\\sum_{a=1}^r \\sum_j q_a k_{ja}}",
            "\\frac{\\sum_{a=1}^r q_a \\sum_j k_{ja} v_j}{\\sum_{a=1}^r q_a \\sum_j k_{ja}}",
            "\\frac{\\sum_{a=1}^r q_a S_a}{\\sum_{a=1}^r q_a z_a}",
        ],
        [
            "sum(sum(q[b]*k[j,b]*v[j], b, 1, r), j)/sum(sum(q[b]*k[j,b], b, 1, r), j)",
            "sum(sum(q[b]*k[j,b]*v[j], j), b, 1, r)/sum(sum(q[b]*k[j,b], j), b, 1, r)",
            "sum(q[b]*sum(k[j,b]*v[j], j), b, 1, r)/sum(q[b]*sum(k[j,b], j), b, 1, r)",
            "sum(q[b]*S[b], b, 1, r)/sum(q[b]*z[b], b, 1, r)",
        ],
    ],
    ("a01_softmax", "jacobian_sums", "general"): [
        [
            "p_i*sum(delta(i,j) - p_j, j)  # linearity of sums",
            "p_i*(1 - sum(p_j, j)) # linearity of sums, delta contraction",
            "p_i*0 # weights sum to one",
            "0",
        ],
        [
            "p_i - p_i*sum(p_j, j) # linearity of sums and delta contraction",
            "p_i - p_i # weights sum to one",
            "0",
        ],
        [
            "sum(p_i*[i=j], j) - sum(p_i*p_j, j) # linearity of sums",
            "p_i - sum(p_i*p_j, j) # delta contraction",
            "p_i - p_i*sum(p_j, j) # linearity of sums",
            "p_i - p_i*1 # weights sum to one",
            "0 # algebra",
        ],
        [
            r"\begin{aligned} &\sum_j p_i(\delta_{ij} - p_j) \\",
            r"&= p_i\sum_j \delta_{ij} - p_i\sum_j p_j \quad \# linearity of sums \\",
            r"&= p_i - p_i \sum_j p_j \quad \text{(delta contraction)} \\",
            r"&= p_i - p_i \quad \# \sum p = 1 \\",
            r"&= 0 \end{aligned}",
        ],
        [
            r"&p_i\sum_j \delta_{ij} - p_i\sum_j p_j  # linearity \\",
            r"&= p_i - p_i \sum_j p_j (\text{delta})",
            "= p_i - p_i = 0  # p sums to 1",
        ],
    ],
}
