"""A formula or a table that is learned.

Source: Vaswani et al. (2017), "Attention is all you need", section 3.5 and table 3, row E.
"""

from autograder.exercise import Choice, Count, Essay, Exercise

exercise = Exercise(
    "pe_learned",
    title="Table or formula",
    source="Vaswani et al. (2017), section 3.5 and table 3 (E)",
    minutes=20,
    hints=[
        "Ask of each table which numbers training changes.",
        "A learned table has one vector for each position up to the longest length.",
    ],
)


@exercise.variant
def draw(rng):
    """d: the width of the model; short, long: how many positions two tables have."""
    return {
        "d": int(rng.choice([384, 512, 640, 768, 1024])),
        "short": int(rng.choice([256, 384, 512, 640])),
        "long": int(rng.choice([1024, 1536, 2048, 4096])),
    }


@exercise.part(points=2.25, answer=Count())
def tables(d, short, long):
    """The parameters of the sinusoidal table, and of a learned one for each of your lengths."""
    return [0, short * d, long * d]


@tables.misconception(credit=0.9)
def the_base(d, short, long):
    """The base is chosen once, by a person. A parameter is what training changes."""
    return [1, short * d, long * d]


@tables.misconception(credit=0.9)
def entries_counted(d, short, long):
    """Of the formula's table you counted entries: they are computed, and training changes none."""
    return [long * d, short * d, long * d]


@tables.misconception(credit=0.9)
def shorter_entries_counted(d, short, long):
    """Of the formula's table you counted entries: they are computed; training changes none."""
    return [short * d, short * d, long * d]


@tables.misconception(credit=0.5)
def one_position_too_many(d, short, long):
    """You gave a table one row more than there are positions: they are counted from 0."""
    return [0, (short + 1) * d, (long + 1) * d]


@tables.misconception()
def one_table_per_layer(d, short, long):
    """Six layers, six tables? Positions are added once, below the first layer."""
    return [0, 6 * short * d, 6 * long * d]


@tables.misconception()
def a_number_per_position(d, short, long):
    """You gave every position one number. It needs a vector that can be added to the embedding."""
    return [0, short, long]


@tables.misconception()
def rows_and_columns_added(d, short, long):
    """You added the numbers of rows and columns. Every row has all the columns."""
    return [0, short + d, long + d]


@tables.misconception()
def a_matrix_per_pair(d, short, long):
    """You counted pairs of positions. Here each position has a vector by itself."""
    return [0, short * short, long * long]


@exercise.part(points=2.5, answer=Essay())
def advantages():
    """Two advantages of the fixed table, two of a learned one.

    (1) Fixed: two of — no parameters; defined for any length; a known algebra (shifts are
    rotations, products depend on the distance alone); nothing to overfit.

    (2) Learned: two of — fits the data; may take any shape, such as special first positions; needs
    no choice of a base; but has no vector beyond the table, and late positions are rarely trained.
    """
    return (
        "The fixed table has no parameters and a vector for every position, however far. The "
        "learned one fits the data and may take a shape that sines don't have; it ends with the "
        "table, and its last rows see few examples."
    )


@exercise.part(
    points=0.25,
    answer=Choice(
        [
            "A learned table, since it gave clearly better results than sinusoids.",
            "Sinusoids, since learned vectors were clearly worse.",
            "Sinusoids, although learned vectors gave nearly the same results.",
            "Rotations of queries and keys.",
        ]
    ),
)
def original():
    """What did the authors of the original transformer use, and why?"""
    return "C"


original.mistakes(
    learned_was_better=(
        "A",
        "They tried learned vectors as well, and published both results. Look at table 3, row E.",
    ),
    learned_was_worse=(
        "B",
        "They tried learned vectors as well. Look at how large the difference in table 3 is.",
    ),
    rotations=("D", "Rotating queries and keys came four years later."),
)
