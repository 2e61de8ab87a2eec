"""The whole course in one file; nbgrader reads it too (nbgrader_config.py loads it)."""

c = get_config()

c.CourseDirectory.course_id = "attention"

c.Course.assignments = [
    {"id": "a01_softmax", "title": "Softmax: shift, temperature, Jacobian"},
    {"id": "a02_attention_by_hand", "title": "Soft lookup with pencil and paper"},
    {"id": "a03_scaled_attention", "title": "Scaling, batches, masks"},
    {"id": "a04_multi_head", "title": "Many heads, one budget"},
    {"id": "a05_positions", "title": "Order: sinusoids, rotations, biases"},
    {"id": "a06_block", "title": "Normalisation, feed-forward, residuals, encoder block"},
    {"id": "a07_full_transformer", "title": "Stacks, decoding, counting"},
    {"id": "a08_cost", "title": "Operations, memory, cache, tiles"},
    {"id": "a09_efficient", "title": "Linear, random-feature, low-rank and sparse attention"},
    {
        "id": "a10_scale_adapt",
        "title": "Experts, checkpoints, precision, adapters",
        "stars": ["straight_through", "tensor_split", "zero_stages"],
    },
    {
        "id": "a11_theory",
        "title": "Information, heads, expressiveness, essays",
        "best": {"essay": 4},
    },
    {"id": "a12_capstone", "title": "Build, train, look inside"},
    {
        "id": "a13_modern",
        "title": "Attention as it is built today",
        "stars": ["superposition", "induction_by_hand", "decay_duality"],
    },
]
# A due date is an ISO time with a time zone: "due": "2027-03-01 23:59 UTC".
# "best": of the parts of that name, marked by hand, so many count; "stars": exercises whose points
# come on top.

# Seconds for a cell and for a call of a checked function, MiB for a submission.
c.Course.limits = {"cell_seconds": 10.0, "call_seconds": 5.0, "memory_mb": 1024}

# Exercises that measure or compute something large take longer.
c.Course.exercise_limits = {
    "time_attention": {"cell_seconds": 30.0},
    "linear_gap": {"cell_seconds": 30.0},
    # Training: the references take some 5 s and 2 s.
    "cap_seq2seq": {"call_seconds": 300.0, "submission_seconds": 900.0, "cpu_seconds": 900.0},
    "cap_classify": {"call_seconds": 120.0},
}

# The weakest isolation to grade under (`autograder doctor`): "A", "A-" or "B".
# c.Course.minimum_tier = "A"

# Without a GPU to grade on: leave out the checks that need one, and their points.
# c.Course.gpu = False

# What `autograder demo` shows; all assignments with --all.
c.Course.demo = ["a02_attention_by_hand", "a05_positions", "a11_theory"]
