# ruff: noqa: E501 - a line of a derivation stands on one line
"""Right derivations of the course's derivation parts, by other routes and in other notations.

None of them is in a reference.  By exercise and part; every one must earn everything.
"""

S = r"e^{z_1} + e^{z_2} + e^{z_3}"
Z3 = "exp(z1) + exp(z2) + exp(z3)"
SHIFTED = "exp(z1 + c) + exp(z2 + c) + exp(z3 + c)"
D3 = "exp(z1 - m) + exp(z2 - m) + exp(z3 - m)"
MERGE = "exp(M12 - M)*(exp(m1 - M12)*l1 + exp(m2 - M12)*l2) + exp(m3 - M)*l3"
FORM = "v1*p1*(v1 - m) + v2*p2*(v2 - m) + v3*p3*(v3 - m)"
VARIANCE = "p1*(v1 - m)^2 + p2*(v2 - m)^2 + p3*(v3 - m)^2"
TRACE = "p1*(1 - p1) + p2*(1 - p2) + p3*(1 - p3)"
ROW = "p1*(1 - p1) + p1*(0 - p2) + p1*(0 - p3)"

PAIR = "(sin(p + k) - sin(p))^2 + (cos(p + k) - cos(p))^2"
DET = "(exp(a*u)/Y)*(exp(b*v)/Z) - (exp(a*v)/Y)*(exp(b*u)/Z)"
WEIGHT = "sum(f_a*g_ja, a, 1, r)"

RIGHT = {
    ("a05_positions", "pe_why", "steps"): [
        [PAIR, "2 - 2*cos(p + k)*cos(p) - 2*sin(p + k)*sin(p)", "2*(1 - cos(k))"],
        [
            "sin(p + k)^2 + cos(p + k)^2 + sin(p)^2 + cos(p)^2 - 2*(sin(p + k)*sin(p) + cos(p + k)*cos(p))",
            "1 + 1 - 2*(sin(p + k)*sin(p) + cos(p + k)*cos(p))  # Pythagoras",
            "2 - 2*cos(p + k - p)  # addition theorem",
            "2 - 2*cos(k)",
        ],
        [
            r"= \sin^2(p+k) - 2\sin(p+k)\sin p + \sin^2 p + \cos^2(p+k) - 2\cos(p+k)\cos p + \cos^2 p \\",
            r"= 2 - 2\cos k",
        ],
    ],
    ("a04_multi_head", "rank_logits", "steps"): [
        [
            "(exp(a*u + b*v) - exp(a*v + b*u))/(Y*Z)",
            "exp(a*v + b*u)/(Y*Z)*(exp(a*(u - v) + b*(v - u)) - 1)",
            "exp(a*v + b*u)/(Y*Z)*(exp((a - b)*(u - v)) - 1)",
        ],
        [
            DET,
            "(e^(a*u)*e^(b*v) - e^(a*v)*e^(b*u))/(Y*Z)",
            "e^(a*v)*e^(b*u)*(e^(a*u)*e^(b*v)/(e^(a*v)*e^(b*u)) - 1)/(Y*Z)",
            "e^(a*v + b*u)*(e^(a*u + b*v - a*v - b*u) - 1)/(Y*Z)",
            "e^(a*v + b*u)*(e^((a - b)*(u - v)) - 1)/(Y*Z)",
        ],
        [
            r"= \frac{e^{au} e^{bv} - e^{av} e^{bu}}{Y Z}",
            r"= \frac{e^{av + bu}}{Y Z} (e^{au + bv - av - bu} - 1)",
            r"= \frac{e^{av + bu}}{Y Z} (e^{(a - b)(u - v)} - 1)",
        ],
    ],
    ("a09_efficient", "lin_rank", "steps"): [
        [
            f"{WEIGHT}/sum(f_a*sum(g_ka, k), a, 1, r)",
            f"{WEIGHT}/sum(f_a*s_a, a, 1, r)",
            f"{WEIGHT}/z",
            "sum(f_a*g_ja/z, a, 1, r)",
            "sum(u_a*g_ja, a, 1, r)",
        ],
        [
            f"{WEIGHT}/sum(sum(f_b*g_kb, k), b, 1, r)  # order of sums",
            f"{WEIGHT}/sum(f_b*sum(g_kb, k), b, 1, r)  # linearity",
            f"{WEIGHT}/sum(f_b*s_b, b, 1, r)  # definition",
            f"1/z*{WEIGHT}  # definition",
            "sum(1/z*f_a*g_ja, a, 1, r)  # linearity",
            "sum(u_a*g_ja, a, 1, r)  # definition",
        ],
    ],
    ("a01_softmax", "soft_argmax", "bound_steps"): [
        [f"= log({Z3})", f"= log(exp(m)*({D3}))", f"= log(exp(m)) + log({D3})", f"= m + log({D3})"],
        [
            f"log({Z3})",
            "log(exp(m)*exp(z1 - m) + exp(m)*exp(z2 - m) + exp(m)*exp(z3 - m))",
            f"log(exp(m)*({D3}))",
            f"log({D3}) + m",
        ],
        [
            f"log({Z3})",
            "log(exp(z1 - m + m) + exp(z2 - m + m) + exp(z3 - m + m))",
            f"log(e^m*({D3}))",
            f"m + log({D3})",
        ],
        [
            rf"\ln\left({S}\right)",
            r"= \ln\left(e^{m}\left(e^{z_1-m} + e^{z_2-m} + e^{z_3-m}\right)\right) \\",
            r"= m + \ln\left(e^{z_1-m} + e^{z_2-m} + e^{z_3-m}\right)",
        ],
        [
            "np.log(np.exp(z1) + np.exp(z2) + np.exp(z3))",
            f"np.log(np.exp(m)*({D3}))  # factor out",
            f"m + np.log({D3})",
        ],
        [f"log({Z3})", f"log(exp(m)*exp(-m)*({Z3}))", f"m + log(exp(-m)*({Z3}))", f"m + log({D3})"],
    ],
    ("a01_softmax", "jacobian_sums", "row_steps"): [
        [f"= {ROW}", "= p1*(1 - p1 - p2 - p3)", "= p1*(1 - (p1 + p2 + p3))", "= p1*(1 - 1)", "= 0"],
        [ROW, "p1 - p1^2 - p1*p2 - p1*p3", "p1*(1 - p1 - p2 - p3)", "0"],
        [ROW, "p1*(1 - p1) - p1*(p2 + p3)", "p1*(1 - p1) - p1*(1 - p1)", "0"],
        [
            r"p_1(1-p_1) - p_1 p_2 - p_1 p_3",
            r"p_1 \left(1 - (p_1 + p_2 + p_3)\right)",
            r"p_1 (1 - 1)",
            "0",
        ],
        [
            ROW,
            "exp(z1)/Z*(1 - exp(z1)/Z - exp(z2)/Z - exp(z3)/Z)",
            "exp(z1)/Z*(Z - (exp(z1) + exp(z2) + exp(z3)))/Z",
            "exp(z1)/Z*(Z - Z)/Z",
            "0",
        ],
        [
            ROW,
            "p1*(1 - p1) - p1*p2 - p1*(1 - p1 - p2)",
            "p1 - p1^2 - p1*p2 - p1 + p1^2 + p1*p2",
            "0",
        ],
        [
            "p1 (1 - p1) + p1 (0 - p2) + p1 (0 - p3)",
            "p1 - p1 (p1 + p2 + p3)  # collect",
            "p1 - p1",
            "0",
        ],
    ],
    ("a01_softmax", "jacobian_spectrum", "form_steps"): [
        [
            FORM,
            "p1*v1^2 + p2*v2^2 + p3*v3^2 - m*(p1*v1 + p2*v2 + p3*v3)",
            "p1*v1^2 + p2*v2^2 + p3*v3^2 - m^2",
            "p1*v1^2 + p2*v2^2 + p3*v3^2 - 2*m^2 + m^2",
            VARIANCE,
        ],
        [FORM, f"{VARIANCE} + m*(p1*v1 + p2*v2 + p3*v3 - m)", f"{VARIANCE} + m*(m - m)", VARIANCE],
        [FORM, f"{VARIANCE} + m*((p1*v1 + p2*v2 + p3*v3) - m*(p1 + p2 + p3))", VARIANCE],
        [
            f"= {FORM}",
            f"= {FORM} - m*(p1*(v1 - m) + p2*(v2 - m) + p3*(v3 - m))",
            "= (v1 - m)*p1*(v1 - m) + (v2 - m)*p2*(v2 - m) + (v3 - m)*p3*(v3 - m)",
            f"= {VARIANCE}",
        ],
        [
            r"v_1 p_1 (v_1 - m) + v_2 p_2 (v_2 - m) + v_3 p_3 (v_3 - m)",
            r"p_1 v_1^2 + p_2 v_2^2 + p_3 v_3^2 - m^2",
            r"p_1 (v_1 - m)^2 + p_2 (v_2 - m)^2 + p_3 (v_3 - m)^2",
        ],
    ],
    ("a01_softmax", "jacobian_spectrum", "trace_steps"): [
        [
            TRACE,
            "p1 - p1^2 + p2 - p2^2 + p3 - p3^2",
            "p1 + p2 + p3 - p1^2 - p2^2 - p3^2",
            "1 - p1^2 - p2^2 - p3^2",
        ],
        [f"= {TRACE}", "= p1 + p2 + p3 - (p1^2 + p2^2 + p3^2)", "= 1 - (p1^2 + p2^2 + p3^2)"],
        [
            TRACE,
            "p1*(1 - p1) + p2*(1 - p2) + (1 - p1 - p2)*(1 - p3)",
            "p1 - p1^2 + p2 - p2^2 + 1 - p1 - p2 - p3*(1 - p1 - p2)",
            "1 - p1^2 - p2^2 - p3^2",
        ],
        [
            r"p_1(1-p_1) + p_2(1-p_2) + p_3(1-p_3)",
            r"(p_1+p_2+p_3) - (p_1^2+p_2^2+p_3^2)",
            r"1 - p_1^2 - p_2^2 - p_3^2",
        ],
    ],
    ("a01_softmax", "jacobian_proof", "diag_steps"): [
        [
            "diff(p1, z1)",
            "diff(1/(1 + exp(z2 - z1) + exp(z3 - z1)), z1)",
            "(exp(z2 - z1) + exp(z3 - z1))/(1 + exp(z2 - z1) + exp(z3 - z1))^2",
            "p1*(p2 + p3)",
            "p1*(1 - p1)",
        ],
        [
            "= diff(p1, z1)",
            "= (exp(z1)*Z - exp(z1)*exp(z1))/Z^2",
            "= exp(z1)*(Z - exp(z1))/Z^2",
            "= p1*(1 - p1)",
        ],
        [
            r"\frac{\partial p_1}{\partial z_1}",
            r"\frac{e^{z_1} Z - e^{z_1} e^{z_1}}{Z^2}",
            r"\frac{e^{z_1}}{Z} - \left(\frac{e^{z_1}}{Z}\right)^2",
            r"p_1 - p_1^2",
            "p_1 (1 - p_1)",
        ],
        [
            r"\frac{d}{d z_1} \frac{e^{z_1}}{Z}",
            r"= \frac{e^{z_1} Z - e^{2 z_1}}{Z^2}",
            r"= p_1 - p_1^2",
        ],
        [
            "diff(p1, z1)",
            "diff(exp(z1)/Z, z1)",
            "diff(exp(z1), z1)/Z + exp(z1)*diff(1/Z, z1)",
            "exp(z1)/Z - exp(z1)/Z^2*diff(Z, z1)",
            "p1 - exp(z1)*exp(z1)/Z^2",
            "p1 - p1^2",
        ],
        ["diff(p1, z1) = (exp(z1)*Z - exp(2*z1))/Z^2", "= p1 - p1^2", "= p1*(1 - p1)"],
        ["diff(p1, z1) = (exp(z1)*Z - exp(2*z1))/Z^2", "diff(p1, z1) = p1*(1 - p1)"],
    ],
    ("a01_softmax", "jacobian_proof", "off_steps"): [
        [
            "= diff(p1, z2)",
            "= exp(z1)*diff(1/Z, z2)",
            "= -exp(z1)/Z^2*diff(Z, z2)",
            "= -exp(z1)*exp(z2)/Z^2",
            "= -p1*p2",
        ],
        [r"\frac{\partial p_1}{\partial z_2}", r"-\frac{e^{z_1}}{Z^2} e^{z_2}", "-p_1 p_2"],
        [
            "diff(1/(1 + exp(z2 - z1) + exp(z3 - z1)), z2)",
            "-exp(z2 - z1)/(1 + exp(z2 - z1) + exp(z3 - z1))^2",
            "-p1*p2",
        ],
        [
            "p1*diff(log(p1), z2)",
            "p1*diff(z1 - log(Z), z2)",
            "p1*(0 - diff(Z, z2)/Z)",
            "-p1*exp(z2)/Z",
            "-p1*p2",
        ],
    ],
    ("a01_softmax", "softmax_invariance", "steps"): [
        [
            f"exp(z1 + c)/({SHIFTED})",
            f"exp(-c)*exp(z1 + c)/(exp(-c)*({SHIFTED}))",
            f"exp(z1)/({Z3})",
            "p1",
        ],
        [
            f"= exp(z1 + c)/({SHIFTED})",
            "= exp(z1)*exp(c)/(exp(z1)*exp(c) + exp(z2)*exp(c) + exp(z3)*exp(c))",
            f"= exp(z1)*exp(c)/(exp(c)*({Z3}))",
            "= exp(z1)/Z",
            "= p1",
        ],
        [
            r"\frac{e^{z_1+c}}{e^{z_1+c} + e^{z_2+c} + e^{z_3+c}}",
            rf"= \frac{{e^c e^{{z_1}}}}{{e^c \left({S}\right)}}",
            rf"= \frac{{e^{{z_1}}}}{{{S}}}",
            "= p_1",
        ],
        [f"exp(z1 + c)/({SHIFTED})", "e^c*exp(z1)/(e^c*Z)", "p1"],
        [f"(exp(z1 + c)/exp(c))/(({SHIFTED})/exp(c))", f"exp(z1)/({Z3})", "p1"],
        [f"np.exp(z1 + c)/({SHIFTED})", "np.exp(c)*np.exp(z1)/(np.exp(c)*Z)", "np.exp(z1)/Z", "p1"],
    ],
    ("a02_attention_by_hand", "attn_hull", "bound"): [
        [
            "M - (w1*v1 + w2*v2 + w3*v3)",
            "M*1 - w1*v1 - w2*v2 - w3*v3",
            "M*(w1 + w2 + w3) - w1*v1 - w2*v2 - w3*v3",
            "w1*(M - v1) + w2*(M - v2) + w3*(M - v3)",
        ],
        [
            "= M - w1*v1 - w2*v2 - w3*v3",
            "= w1*M + w2*M + w3*M - w1*v1 - w2*v2 - w3*v3",
            "= w1*(M - v1) + w2*(M - v2) + w3*(M - v3)",
        ],
        [
            "M - (w_1 v_1 + w_2 v_2 + w_3 v_3)",
            "(w_1 + w_2 + w_3) M - (w_1 v_1 + w_2 v_2 + w_3 v_3)",
            "w_1 (M - v_1) + w_2 (M - v_2) + w_3 (M - v_3)",
        ],
        [
            "M - (w1*v1 + w2*v2 + w3*v3)",
            "M - w1*v1 - w2*v2 - w3*v3 + (w1 + w2 + w3 - 1)*M",
            "w1*(M - v1) + w2*(M - v2) + w3*(M - v3)",
        ],
    ],
    ("a02_attention_by_hand", "self_preference", "gap"): [
        [
            "sum(x_i^2, i) + (sum(y_i^2, i) - sum(x_i^2, i))/2 - sum(x_i*y_i, i)  # equal lengths",
            "sum(x_i^2 + y_i^2/2 - x_i^2/2 - x_i*y_i, i)  # linearity of sums",
            "sum((x_i - y_i)^2, i)/2  # linearity of sums",
        ],
        [
            "sum(x_i*(x_i - y_i), i)  # linearity of sums",
            "sum(x_i*(x_i - y_i), i) + (sum(y_i^2, i) - sum(x_i^2, i))/2  # equal lengths",
            "sum(x_i*(x_i - y_i) + (y_i^2 - x_i^2)/2, i)  # linearity of sums",
            "sum((x_i - y_i)*(x_i - (x_i + y_i)/2), i)  # algebra",
            "sum((x_i - y_i)^2, i)/2  # linearity of sums",
        ],
        [
            "= 0.5*sum(x_i**2, i) + 0.5*sum(x_i**2, i) - sum(x_i*y_i, i)",
            "= 0.5*sum(x_i**2, i) + 0.5*sum(y_i**2, i) - sum(x_i*y_i, i)  # equal lengths",
            "= sum(0.5*x_i**2 + 0.5*y_i**2 - x_i*y_i, i)  # linearity of sums",
            "= sum(0.5*(x_i - y_i)**2, i)  # algebra",
        ],
        [
            r"\frac{\sum_i x_i^2 + \sum_i y_i^2}{2} - \sum_i x_i y_i  # equal lengths",
            r"\sum_i \frac{x_i^2 + y_i^2 - 2 x_i y_i}{2}  # linearity of sums",
            r"\sum_i \frac{(x_i - y_i)^2}{2}  # algebra",
        ],
    ],
    ("a08_cost", "online_softmax", "merge_steps"): [
        [
            f"= {MERGE}",
            "= exp(M12 - M + m1 - M12)*l1 + exp(M12 - M + m2 - M12)*l2 + exp(m3 - M)*l3",
            "= exp(m1 - M)*l1 + exp(m2 - M)*l2 + exp(m3 - M)*l3",
        ],
        [
            MERGE,
            "exp(M12)*exp(-M)*(exp(m1)*exp(-M12)*l1 + exp(m2)*exp(-M12)*l2) + exp(m3 - M)*l3",
            "exp(M12)*exp(-M)*exp(-M12)*(exp(m1)*l1 + exp(m2)*l2) + exp(m3 - M)*l3",
            "exp(m1 - M)*l1 + exp(m2 - M)*l2 + exp(m3 - M)*l3",
        ],
        [
            r"e^{M_{12} - M}\left(e^{m_1 - M_{12}} l_1 + e^{m_2 - M_{12}} l_2\right) + e^{m_3 - M} l_3",
            r"e^{M_{12} - M} e^{m_1 - M_{12}} l_1 + e^{M_{12} - M} e^{m_2 - M_{12}} l_2 + e^{m_3 - M} l_3",
            r"e^{m_1 - M} l_1 + e^{m_2 - M} l_2 + e^{m_3 - M} l_3",
        ],
    ],
    ("a04_multi_head", "mha_params", "steps"): [
        [
            "h*3*(d*k + k) + (h*k*d + d)",
            "3*h*k*d + 3*h*k + h*k*d + d",
            "3*d*d + 3*d + d*d + d",
            "4*d^2 + 4*d",
        ],
        [
            "= 3 h (d k + k) + h k d + d",
            "= 3 h k (d + 1) + d (h k + 1)",
            "= 3 d (d + 1) + d (d + 1)",
            "= 4 d (d + 1)",
        ],
        [
            r"3 h (d k + k) + (h k d + d)",
            r"3 h k d + 3 h k + h k d + d",
            r"4 d^2 + 3 d + d",
            r"4 d^2 + 4 d",
        ],
        ["h*3*(d*k + k) + (h*k*d + d)", "h*3*(d*d/h + d/h) + d*d + d", "4*d^2 + 4*d"],
    ],
    ("a09_efficient", "topk_mass", "bound_steps"): [
        [
            "abs(sum(w_i*v_i, i) - sum(w_i*v_i, i, 1, m)/M)",
            "= abs(sum(w_i*v_i, i, 1, m) + sum(w_i*v_i, i, m+1, n) - sum(w_i*v_i, i, 1, m)/M)",
            "= abs((1 - 1/M)*sum(w_i*v_i, i, 1, m) + sum(w_i*v_i, i, m+1, n))",
            "<= abs((1 - 1/M)*sum(w_i*v_i, i, 1, m)) + abs(sum(w_i*v_i, i, m+1, n))",
            "= abs(1 - 1/M)*abs(sum(w_i*v_i, i, 1, m)) + abs(sum(w_i*v_i, i, m+1, n))",
            "<= abs(1 - 1/M)*sum(w_i*abs(v_i), i, 1, m) + sum(w_i*abs(v_i), i, m+1, n)",
            "<= abs(1 - 1/M)*max(abs(v_j), j)*sum(w_i, i, 1, m) + max(abs(v_j), j)*sum(w_i, i, m+1, n)",
            "= abs(1 - 1/M)*max(abs(v_j), j)*M + max(abs(v_j), j)*R",
            "= (1 - M)*max(abs(v_j), j) + max(abs(v_j), j)*R",
            "= 2*R*max(abs(v_j), j)",
        ],
        [
            r"|\sum_i w_i v_i - \frac{1}{M} \sum_{i=1}^m w_i v_i|",
            r"= |\sum_{i=1}^m w_i v_i + \sum_{i=m+1}^n w_i v_i - \frac{1}{M} \sum_{i=1}^m w_i v_i|",
            r"= |\left(1 - \frac1M\right) \sum_{i=1}^m w_i v_i + \sum_{i=m+1}^n w_i v_i|",
            r"\le |1 - \frac1M| |\sum_{i=1}^m w_i v_i| + |\sum_{i=m+1}^n w_i v_i|",
            r"\le |1 - \frac1M| \sum_{i=1}^m w_i |v_i| + \sum_{i=m+1}^n w_i |v_i|",
            r"\le |1 - \frac1M| \max_j |v_j| \sum_{i=1}^m w_i + \max_j |v_j| \sum_{i=m+1}^n w_i",
            r"= |1 - \frac1M| \max_j |v_j| M + \max_j |v_j| R",
            r"= (1 - M) \max_j |v_j| + \max_j |v_j| R",
            r"= 2 R \max_j |v_j|",
        ],
    ],
    ("a09_efficient", "lin_assoc", "row_steps"): [
        [
            r"= \frac{\sum_j \sum_{a=1}^{r} q_a k_{ja} v_j}{\sum_j \sum_{a=1}^{r} q_a k_{ja}}",
            r"= \frac{\sum_{a=1}^{r} \sum_j q_a k_{ja} v_j}{\sum_{a=1}^{r} \sum_j q_a k_{ja}}  # order of sums",
            r"= \frac{\sum_{a=1}^{r} q_a \left(\sum_j k_{ja} v_j\right)}{\sum_{a=1}^{r} q_a \left(\sum_j k_{ja}\right)}",
            r"= \frac{\sum_{a=1}^{r} q_a S_a}{\sum_{a=1}^{r} q_a z_a}  # definition",
        ],
        [
            "sum(sum(q_a k_ja v_j, a, 1, r), j)/sum(sum(q_a k_ja, a, 1, r), j)",
            "sum(sum(q_a k_ja v_j, j), a, 1, r)/sum(sum(q_a k_ja, j), a, 1, r)",
            "sum(q_a sum(k_ja v_j, j), a, 1, r)/sum(q_a sum(k_ja, j), a, 1, r)",
            "sum(q_a S_a, a, 1, r)/sum(q_a z_a, a, 1, r)",
        ],
    ],
    ("a08_cost", "flash_tiled", "shortcut_steps"): [
        [
            r"\sum_j s_j A_j",
            r"\sum_j \left(\sum_k g_k v_{jk}\right) A_j",
            r"\sum_j \sum_k g_k v_{jk} A_j",
            r"\sum_k \sum_j g_k v_{jk} A_j",
            r"\sum_k g_k \sum_j A_j v_{jk}",
            r"\sum_k g_k o_k",
        ],
        [
            "= sum(sum(g_k*v_jk, k)*A_j, j)  # definition",
            "= sum(sum(g_k*v_jk*A_j, j), k)",
            "= sum(g_k*sum(A_j*v_jk, j), k)  # linearity of sums",
            "= sum(g_k*o_k, k)  # definition",
        ],
        [
            "Σ_j s_j A_j",
            "Σ_j (Σ_k g_k v_{jk}) A_j",
            "Σ_k Σ_j g_k v_{jk} A_j",
            "Σ_k g_k Σ_j v_{jk} A_j",
            "Σ_k g_k o_k",
        ],
    ],
    ("a13_modern", "speculative", "law_steps"): [
        [
            "c_i + (1 - sum(c_k, k))*(p_i - c_i)/sum(p_k - c_k, k)",
            "c_i + (sum(p_k*(p_i - c_i), k) - sum(c_k, k)*(p_i - c_i))/sum(p_k - c_k, k)",
            "c_i + (p_i - c_i)*sum(p_k - c_k, k)/sum(p_k - c_k, k)  # linearity of sums",
            "p_i",
        ],
        [
            "(c_i*sum(p_k - c_k, k) + (1 - sum(c_k, k))*(p_i - c_i))/sum(p_k - c_k, k)",
            "(sum(c_i*p_k - c_i*c_k, k) + p_i - c_i - sum(c_k*p_i - c_k*c_i, k))/sum(p_k - c_k, k)",
            "(sum(c_i*p_k, k) + p_i - c_i - sum(c_k*p_i, k))/sum(p_k - c_k, k)  # linearity of sums",
            "(c_i + p_i - c_i - sum(c_k*p_i, k))/sum(p_k - c_k, k)  # weights sum to one",
            "p_i*(1 - sum(c_k, k))/sum(p_k - c_k, k)",
            "p_i*(1 - sum(c_k, k))/(sum(p_k, k) - sum(c_k, k))",
            "p_i*(1 - sum(c_k, k))/(1 - sum(c_k, k))",
            "p_i",
        ],
        [
            r"c_i + (1 - \sum_k q_k \frac{c_k}{q_k}) \frac{p_i - c_i}{\sum_k (p_k - c_k)}",
            r"c_i + (1 - \sum_k c_k) \frac{p_i - c_i}{\sum_k p_k - \sum_k c_k}",
            r"c_i + \frac{p_i - c_i - \sum_k c_k (p_i - c_i)}{1 - \sum_k c_k}",
            r"c_i + \frac{(p_i - c_i)(1 - \sum_k c_k)}{1 - \sum_k c_k}",
            "c_i + p_i - c_i",
            "p_i",
        ],
    ],
}
