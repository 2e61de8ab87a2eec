"""The whole course in one file; nbgrader reads it too (nbgrader_config.py loads it)."""

c = get_config()

c.CourseDirectory.course_id = "attention"

# fmt: off
c.Course.assignments = [
    {
        "id": "a01_softmax",
        "title": "Softmax: shift, temperature, Jacobian",
        "core": [
            "softmax_stable", "softmax_invariance", "softmax_props", "softmax_temperature",
            "softmax_sigmoid", "jacobian_proof", "jacobian_sums", "jacobian_code", "lse_gradient",
            "gumbel_max"
        ],
    },
    {
        "id": "a02_attention_by_hand",
        "title": "Soft lookup with pencil and paper",
        "core": [
            "attn_hand_scaled", "soft_lookup", "self_attn_grid", "self_preference",
            "attn_single_query", "attn_hull", "attn_hard_limit"
        ],
    },
    {
        "id": "a03_scaled_attention",
        "title": "Scaling, batches, masks",
        "core": [
            "score_variance", "score_saturation", "sdpa", "softmax_axis_bug", "causal_mask",
            "dead_rows", "padding_mask", "sdpa_grad"
        ],
    },
    {
        "id": "a04_multi_head",
        "title": "Many heads, one budget",
        "core": [
            "heads_dims", "mha_split", "mha_numpy", "mha_params", "mha_sum_form", "cross_attn"
        ],
    },
    {
        "id": "a05_positions",
        "title": "Order: sinusoids, rotations, biases",
        "core": [
            "order_blind", "perm_equivariance", "pe_code", "pe_shift", "rope_apply",
            "rope_relative"
        ],
    },
    {
        "id": "a06_block",
        "title": "Normalisation, feed-forward, residuals, encoder block",
        "core": [
            "ln_code", "ln_jacobian", "rmsnorm", "ffn_code", "residual_grad", "encoder_block"
        ],
    },
    {
        "id": "a07_full_transformer",
        "title": "Stacks, decoding, counting",
        "core": [
            "decoder_layer", "teacher_forcing", "sequence_nll", "greedy_decode", "causality_test",
            "params_full"
        ],
    },
    {
        "id": "a08_cost",
        "title": "Operations, memory, cache, tiles",
        "core": [
            "cost_classes", "madds", "kv_equivalence", "kv_memory", "online_softmax",
            "flash_facts"
        ],
    },
    {
        "id": "a09_efficient",
        "title": "Linear, random-feature, low-rank and sparse attention",
        "core": [
            "lin_assoc", "lin_attn", "lin_causal", "favor_derive", "sparse_local", "sparse_hops"
        ],
    },
    {
        "id": "a10_scale_adapt",
        "title": "Experts, checkpoints, precision, adapters",
        "core": [
            "moe_gate", "moe_balance", "ckpt_memory", "fp16_softmax", "mixed_memory",
            "lora_layer", "lora_best_rank", "peft_counts"
        ],
        "stars": ["straight_through", "tensor_split", "zero_stages"],
    },
    {
        "id": "a11_theory",
        "title": "Information, heads, expressiveness, essays",
        "core": ["row_entropy", "max_entropy", "head_profile", "head_pruning", "claim_audit"],
        "best": {"essay": 4},
    },
    {
        "id": "a12_capstone",
        "title": "Build, train, look inside",
        "core": ["cap_forward", "cap_seq2seq", "cap_attention"],
    },
    {
        "id": "a13_modern",
        "title": "Attention as it is built today",
        "core": [
            "gqa", "modern_block", "rope_scaling", "attention_sinks", "direct_logits",
            "speculative", "decode_roofline"
        ],
        "stars": ["superposition", "induction_by_hand", "decay_duality"],
    },
    {
        "id": "a14_text",
        "title": "From text to text",
        "core": ["bpe_code", "bits_per_byte", "train_text", "read_out"],
        "optional": True,
        "guessed": (0.03, "which curve is whose, and why, are six choices"),
    },
]
# fmt: on
# A due date is an ISO time with a time zone: "due": "2027-03-01 23:59 UTC".
# "core": exercises that everybody needs, about five hours a notebook; the others are choice, and
# their points count as well. "choice": 12 lets 12 of these points count, whichever they are;
# "without": ["an_exercise"] leaves exercises out of the notebook; "stars": exercises whose points
# come on top; "best": of the parts of that name, marked by hand, so many count; "optional": the
# notebook is a choice as a whole, and its core is for those who take it.

# Seconds for a cell and for a call of a checked function, MiB for a submission.
c.Course.limits = {"cell_seconds": 10.0, "call_seconds": 5.0, "memory_mb": 1024}

# Exercises that measure or compute something large take longer.
c.Course.exercise_limits = {
    "time_attention": {"cell_seconds": 30.0},
    "linear_gap": {"cell_seconds": 30.0},
    # Training: the references take some 5 s, 2 s and 10 s.
    "cap_seq2seq": {"call_seconds": 300.0, "submission_seconds": 900.0, "cpu_seconds": 900.0},
    "cap_classify": {"call_seconds": 120.0},
    "train_text": {"call_seconds": 300.0, "submission_seconds": 900.0, "cpu_seconds": 900.0},
}

# The weakest isolation to grade under (`autograder doctor`): "A", "A-" or "B".
# c.Course.minimum_tier = "A"

# Without a GPU to grade on: leave out the checks that need one, and their points.
# c.Course.gpu = False

# What `autograder demo` shows; all assignments with --all.
c.Course.demo = ["a02_attention_by_hand", "a05_positions", "a11_theory"]
