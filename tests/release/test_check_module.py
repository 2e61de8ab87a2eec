"""check.py as a student has it: beside check.json, with numpy and the standard library alone."""

import json
from itertools import product

import numpy as np
import pytest

from autograder.exercise import FormatError
from autograder.student.differences import Comparison
from autograder.student.differences import difference as found_between
from autograder.student.readers import read as read_answer
from autograder.student.symbols import NumbersByName
from autograder.student.told_differences import told_difference as difference
from autograder.student.visible_checks import report_function

pytestmark = pytest.mark.usefixtures("formulas")

NORM = """
import numpy as np
def norm(x, axis=-1, *, keep=False):
    {}
check("norm")
"""


@pytest.fixture
def norm(released, as_student):
    return lambda body: as_student(released, NORM.format(body.replace("\n", "\n    ")))


def test_a_right_function_passes_and_is_told_that_this_is_not_all(norm):
    assert norm("return np.sqrt((x * x).sum(axis=axis, keepdims=keep))").splitlines() == [
        "norm: The length of a vector",
        "  ✓ passed     Equals the root of the sum of squares.",
        "  ✓ passed     Single precision stays single precision, and the input stays what it is.",
        "  Grading also runs 1 hidden check: passing here is not yet the mark.",
        '  There is practice("norm") for other inputs.',
    ]


def test_wrong_values_are_shown_beside_the_expected_ones_and_the_inputs(norm):
    report = norm("return (x * x).sum(axis=axis, keepdims=keep)")
    assert "✗ failed     Equals the root of the sum of squares." in report
    assert "norm(x)    (call 1 of 2)" in report
    assert "2 of 2 entries differ: the result is" in report
    for name in ("came = [", "expected = [", "x = [["):
        assert name in report


def test_a_later_call_is_named_with_its_keywords(norm):
    report = norm("return np.sqrt((x * x).sum(axis=-1, keepdims=keep))")
    assert "norm(x, axis, keep)    (call 2 of 2)" in report
    assert "the result has shape (2, 1); shape (1, 3) was expected" in report
    assert "axis = 0" in report
    assert "keep = True" in report


def test_a_wrong_type_fails_only_the_check_that_looks_at_it(norm):
    report = norm("return np.sqrt((x.astype(float)**2).sum(axis=axis, keepdims=keep))")
    assert "✓ passed     Equals" in report
    assert "the result has dtype float64; float32 was expected" in report
    assert "expected =" not in report


def test_a_changed_input_is_noticed(norm):
    report = norm("y = np.square(x)\nx -= 1\nreturn np.sqrt(y.sum(axis=axis, keepdims=keep))")
    assert "✓ passed     Equals" in report
    assert "it changes its argument x" in report


def test_nan_is_called_nan(norm):
    assert "the result contains NaN" in norm("return x.sum(axis=axis, keepdims=keep) * np.nan")


def test_an_exception_comes_with_type_message_and_line(norm):
    report = norm("y = x[0]\nreturn [][len(y)]")
    assert "IndexError: list index out of range" in report
    assert "in line" in report


def test_a_missing_return_is_guessed(norm):
    told = "the result should be an array of numbers, not None (is a `return` missing?)"
    assert told in norm("pass")


def test_a_stub_is_not_written_yet(norm):
    report = norm("raise NotImplementedError")
    assert "– blank      `norm` is not written yet" in report
    assert "failed" not in report


def test_a_stub_that_is_called_by_another_function_is_named(released, as_student):
    stub = "def root(x): raise NotImplementedError\n"
    report = as_student(released, stub + NORM.format("return root(x)"))
    assert "– blank      `root` is not written yet" in report


def test_a_stub_of_which_all_checks_are_hidden_is_named_as_well(released, as_student):
    path = released / "check.json"
    data = json.loads(path.read_text())
    data["exercises"]["norm"]["functions"][0]["checks"] = []
    path.write_text(json.dumps(data))
    report = as_student(released, NORM.format("raise NotImplementedError"))
    assert "– blank      `norm` is not written yet" in report
    assert "blank" not in as_student(released, NORM.format("return x"))


@pytest.mark.parametrize(("method", "named"), [("__init__", "Root"), ("grow", "Root.grow")])
def test_a_stub_in_a_class_is_named_with_the_class(released, as_student, method, named):
    stub = f"class Root:\n    def {method}(self): raise NotImplementedError\n"
    call = "Root()" if method == "__init__" else "Root().grow()"
    report = as_student(released, stub + NORM.format(f"return {call}"))
    assert f"– blank      `{named}` is not written yet" in report


def test_a_tensor_is_shown_by_its_numbers():
    pytest.importorskip("torch")
    numbers = {"array": [[0.5, 2.0]], "dtype": "float32", "shape": [1, 2]}
    tensor = {"tensor": numbers, "dtype": "float32"}
    call = {"args": [tensor], "kwargs": {}, "value": tensor, "compare": ["value"]}
    found = {"name": "f", "checks": [{"rubric": "It is x.", "calls": [call]}]}
    report = report_function(found, {"f": lambda x: x - x})
    assert report[-1] == "      x = [[0.5, 2. ]] (float32)"


def test_a_name_from_a_cell_that_was_not_run(norm):
    assert "`square` is not defined yet: run its cell first" in norm("return square(x)")


def test_what_a_function_prints_warns_about_or_exits_with_does_no_harm(norm):
    body = "print('noise')\nimport warnings, sys\nwarnings.warn('noise')\n1 / np.zeros(1)\n"
    report = norm(body + "sys.exit('bye')")
    assert "noise" not in report
    assert "SystemExit: bye" in report
    report = norm(body + "return np.sqrt((x * x).sum(axis=axis, keepdims=keep))")
    assert report.count("✓ passed") == 2


def test_a_function_that_was_not_defined_or_is_none(released, as_student):
    report = as_student(released, "check('norm'); norm = 3; check('norm')")
    assert "`norm` is not defined yet: run its cell first" in report
    assert "`norm` should be a function, not of type int" in report


def test_answers_are_looked_at_for_their_form_alone(released, as_student):
    report = as_student(
        released,
        """
student("ada")
check("by_hand")
doubled, letter, formula = None, " ", [[], None]
check("by_hand")
doubled, letter, formula = len(your_numbers("by_hand")["x"]) * [0], "b", "a*b1 + exp(2)"
check("by_hand")
doubled, letter, formula = [1, 2, 3, 4], "C", "a + (c"
check("by_hand")
""",
    )
    _, unset, blank, good, bad = report.split("by_hand: ")
    assert unset.count("is not defined yet: run its cell first") == 3
    assert blank.count("– blank") == 3
    assert "doubled: Twice your numbers." in blank
    assert good.count("→ read as") == 3
    assert "right" in good
    assert bad.count("✗ form") == 3
    assert "4 numbers given" in bad
    assert "one of A, B is expected, not 'C'" in bad
    assert report.count("why: a cell of its own, which a person marks") == 4


@pytest.mark.parametrize(
    ("hint", "raw", "read"),
    [
        ({"kind": "numbers", "shape": [2]}, "1/3, 0.25", "2 numbers: 0.33333333, 0.25"),
        ({"kind": "numbers", "shape": []}, np.float32(0.1), "0.1"),
        (
            {"kind": "numbers", "shape": [2, 1]},
            np.ones((2, 1)),
            "an array of shape (2, 1)\n[1]\n[1]",
        ),
        (
            {"kind": "numbers", "shape": [2, 1]},
            [np.ones(1), [0]],
            "an array of shape (2, 1)\n[1]\n[0]",
        ),
        ({"kind": "count", "shape": []}, "1,048,576", "1048576"),
        ({"kind": "count", "shape": []}, 4.0, "4"),
        ({"kind": "numbers", "shape": [], "unit": "MiB"}, "1.5 GiB", "1536 MiB"),
        ({"kind": "numbers", "shape": []}, "−0.5", "-0.5"),
        ({"kind": "shape"}, "(2, 3)", "(2, 3)"),
        ({"kind": "shape"}, (2, np.int64(3)), "(2, 3)"),
        ({"kind": "choice", "options": "AB"}, " a ", "A"),
        ({"kind": "choice", "options": "ABC", "multiple": True}, {"c", "A"}, "AC"),
        ({"kind": "choice", "options": "ABC", "multiple": True}, "c, a", "AC"),
        ({"kind": "choice", "options": "ABC", "multiple": True}, " None", "none"),
        ({"kind": "choice", "options": "ABC", "multiple": True}, set(), "none"),
        ({"kind": "formula", "names": ["p_i"]}, r"\frac{e^{p_{i}}}{2}", "read as e^p_i/2"),
        ({"kind": "formula", "names": ["tau"]}, "2·τ²", "read as 2·tau^2"),
        ({"kind": "formula", "names": ["x"]}, "1/2*x - -x^2", "read as (1/2)·x − (−x^2)"),
        (
            {"kind": "formula", "names": ["p_1", "n"]},
            "sum(p_k, k, 1, n)",
            "read as sum(p_k, k, 1, n)",
        ),
        (
            {"kind": "formula", "names": ["x", "T"], "functions": ["T"], "implicit": True},
            "T(x) diff(T(x), x) + T x",
            "read as T(x)·diff(T(x), x) + T·x",
        ),
        (
            {"kind": "formula", "names": ["n", "d_k"], "functions": ["O"], "implicit": True},
            "O(2 n d_k)",
            "read as O(2·n·d_k)",
        ),
        (
            {"kind": "matrix", "names": ["a"], "shape": [2, 1]},
            [["a/2*a"], [0]],
            "read as\n[(a/2)·a]\n[0]",
        ),
        (
            {"kind": "lines", "names": ["a"]},
            "a\n\n2*a/2",
            "2 lines, read as\nline 1: a\nline 3: 2·a/2",
        ),
        ({"kind": "fractions", "shape": []}, " 3/8", "3/8"),
        ({"kind": "fractions", "shape": [2]}, ["3/8", 2.0], "2 numbers: 3/8, 2"),
        ({"kind": "fractions", "shape": [2]}, "3 / 8, -1", "2 numbers: 3/8, -1"),
        (
            {
                "kind": "lines",
                "names": ["i", "j", "n"],
                "indexed": ["p", "q", "delta"],
                "indices": ["i", "j", "n"],
                "functions": ["Sum", "sum"],
            },
            ["= p_i*(δ_{ij} - p[j])  # quotient rule", "<= sum(q_ij, j)", r"= \sum_{j} q_{ij}"],
            "3 lines, read as\nline 1: p_i·(delta_ij − p[j])  (reason: quotient rule)\n"
            "line 2: ≤ sum(q_ij, j)\nline 3: sum(q_ij, j)",
        ),
        (
            {"kind": "lines", "names": ["p_1", "c"]},
            ["= np.exp(c)", "p_1 = e^{c} \\\\", "2πc²"],
            "3 lines, read as\nline 1: exp(c)  (without np. it is the same)\n"
            "line 2: p_1 = e^c\nline 3: 2·pi·c^2",
        ),
        ({"kind": "figure", "names": ["1", "2"]}, {1: [1], 2: [2]}, "the data of 1, 2"),
        ({"kind": "figure", "names": ["map"]}, np.ones((2, 2)), "the data of map"),
        ({"kind": "another"}, "whatever", "'whatever'"),
    ],
)
def test_forms_that_can_be_read(hint, raw, read):
    assert read_answer(raw, hint).shown == read


@pytest.mark.parametrize(
    ("hint", "raw", "why"),
    [
        ({"kind": "numbers", "shape": [3]}, [1, 2], "3 numbers expected, 2 numbers given"),
        ({"kind": "numbers", "shape": [3]}, [1], "3 numbers expected, 1 number given"),
        ({"kind": "numbers", "shape": [2, 2]}, [[1, 2], [3]], "different lengths"),
        ({"kind": "numbers", "shape": []}, "one", "numbers are expected, not 'one'"),
        ({"kind": "numbers", "shape": []}, True, "numbers are expected, not True"),
        ({"kind": "numbers", "shape": []}, float("inf"), "infinity"),
        ({"kind": "numbers", "shape": []}, float("nan"), "NaN or infinity"),
        ({"kind": "numbers", "shape": []}, "1/0", "numbers are expected, not '1/0'"),
        ({"kind": "numbers", "shape": []}, "1e99999999999", "NaN or infinity"),
        ({"kind": "numbers", "shape": [], "unit": "MiB"}, "1.5 s", "numbers in MiB are expected"),
        ({"kind": "count", "shape": []}, float("inf"), "whole numbers are expected, not inf"),
        ({"kind": "numbers", "shape": []}, {"a": 1}, "numbers are expected"),
        ({"kind": "count", "shape": []}, 2.5, "whole numbers are expected, not 2.5"),
        ({"kind": "shape"}, 3, "a tuple such as (2, 3) is expected, not 3"),
        ({"kind": "choice", "options": "AB"}, "AB", "one of A, B is expected, not 'AB'"),
        ({"kind": "choice", "options": "AB", "multiple": True}, "AD", "letters out of A, B are"),
        ({"kind": "choice", "options": "AB", "multiple": True}, ["AB"], "letters out of A, B are"),
        ({"kind": "choice", "options": "AB", "multiple": True}, 1, "letters out of A, B are"),
        ({"kind": "figure", "names": ["1", "2"]}, {"1": []}, "the data of 2 are missing"),
        ({"kind": "fractions", "shape": []}, 0.375, "fractions are expected, as text such as"),
        ({"kind": "fractions", "shape": [2]}, ["1/2", "0.5"], "fractions are expected"),
        (
            {"kind": "formula", "names": ["p_1", "p_2"]},
            "p_1 + q_1",
            "unknown name q_1; did you mean p_1?\n    p_1 + q_1\n          ^",
        ),
        ({"kind": "formula", "names": ["a"]}, "(a", "this bracket is never closed"),
        ({"kind": "formula", "names": ["a"]}, "a]", "this bracket was never opened"),
        ({"kind": "formula", "names": ["x1"]}, "2 x1", "write * for a product\n    2 x1\n      ^"),
        ({"kind": "formula", "names": ["a"]}, r"\frac{a}{2", "}"),
        ({"kind": "formula", "names": ["a"]}, "sinus(a)", "sinus is not a function"),
        ({"kind": "lines", "names": ["a"]}, ["a", "", "2**", "a"], "line 3: expected a number"),
        (
            {"kind": "lines", "names": ["i"], "indexed": ["a"]},
            ["a_i", "(a_i"],
            "line 2: this bracket is never closed",
        ),
        ({"kind": "matrix", "names": ["a"], "shape": [1, 2]}, [["a", "b"]], "row 1, column 2: unk"),
        ({"kind": "formula", "names": ["a"]}, len, "text in quotes is expected"),
        (
            {"kind": "matrix", "names": ["a"], "shape": [2, 2]},
            [["a"]],
            "a 2 × 2 matrix is",
        ),
        ({"kind": "matrix", "names": ["a"], "shape": [1, 2]}, [["a"]], "a row of 2 entries"),
        ({"kind": "lines", "names": ["i"], "indexed": ["a"]}, ["b_i # a"], "unknown name b_i"),
        ({"kind": "lines", "names": ["a"]}, 3, "a list of lines of text is expected, not 3"),
    ],
)
def test_forms_that_can_not(hint, raw, why):
    with pytest.raises(FormatError) as refused:
        read_answer(raw, hint)
    assert why in str(refused.value)


def test_an_unknown_exercise_is_met_with_the_nearest_names(released, as_student):
    report = as_student(released, "check('nrom'); print(your_numbers('nrom')); check(3)")
    assert "There is no exercise 'nrom' here. Did you mean norm?" in report
    assert "There is no exercise 3 here. There are by_hand, norm." in report


def test_without_check_json_a_sentence_says_so(released, as_student):
    (released / "check.json").rename(released / "elsewhere.json")
    assert "check.json is missing: put it beside check.py" in as_student(released, "check('norm')")
    (released / "check.json").write_text("no json")
    assert "check.json can't be read" in as_student(released, "check('norm')")
    (released / "check.json").write_text('{"schema": 2, "exercises": {"norm": {}}}')
    assert "belongs to a later check.py: put both" in as_student(released, "check('norm')")


def test_numbers_wait_for_a_name(released, as_student):
    report = as_student(
        released,
        """
student("")
numbers = your_numbers("by_hand")
print(numbers, numbers._repr_latex_())
try:
    numbers["x"]
except KeyError as error:
    print(error)
student(" ada ")
numbers = your_numbers("by_hand")
print(sorted(numbers), type(numbers["x"]).__name__, type(numbers["k"]).__name__)
try:
    numbers["y"]
except KeyError as error:
    print(error)
""",
    )
    lines = report.splitlines()
    assert lines[0].startswith("Type your id between the quotes")
    assert "Type your id" in lines[1]
    assert "Type your id" in lines[2]
    assert lines[3] == "Hello ada: these are your own numbers."
    assert lines[4] == "['k', 'unit', 'x'] ndarray int"
    assert "no 'y' among your numbers: x, k, unit" in lines[5]


def test_jupyterhub_knows_who_is_there(released, as_student):
    report = as_student(released, "student(''); student('grace')", JUPYTERHUB_USER="ada")
    assert report.splitlines() == [
        "Hello ada: these are your own numbers.",
        "Hello grace: these are your own numbers.",
    ]


def test_an_exercise_with_the_same_numbers_for_all_says_so(released, as_student):
    shown = as_student(released, "student('ada'); print(your_numbers('norm'))")
    assert "norm: everybody has the same numbers; they are in the text." in shown


@pytest.mark.parametrize(
    ("name", "value", "latex"),
    [
        ("q", np.array([1, -2]), r"q = (1,\ {-2})"),
        ("W_q", np.array([[0.5, 1e-7]]), r"W_{q} = \begin{pmatrix} 0.5 & 1 \cdot 10^{-7} "),
        ("tau", 0.1, r"\tau = 0.1"),
        ("max_len", 8, r"\mathtt{max\_len} = 8"),
        ("words", ["a_b"], r"\mathtt{words} = (\text{a\_b})"),
        ("X", np.zeros((2, 1, 1), int), r"X[1] = \begin{pmatrix} 0 \end{pmatrix}"),
        ("m", float("-inf"), r"m = {-\infty}"),
        ("F", 1e15, r"F = 1 \cdot 10^{15}"),
        ("F", 1234567.5, r"F = 1234567.5"),
    ],
)
def test_numbers_are_shown_as_formulas(name, value, latex):
    assert latex in NumbersByName({name: value})._repr_latex_()


def test_many_numbers_go_on_several_lines():
    numbers = NumbersByName({name: np.ones((2, 8)) for name in "QKV"})
    assert numbers._repr_latex_().count(r"\\[1ex]") == 2


def test_recorded_calls_get_fresh_arguments_each_time(released, as_student):
    spoiled = NORM.format(
        "out = np.sqrt((x * x).sum(axis=axis, keepdims=keep)); x *= 0; return out"
    )
    report = as_student(released, spoiled + "check('norm')")
    assert report.count("✓ passed     Equals") == 2


def test_what_is_right_to_single_precision_alone_is_told_which_type_is_asked_for():
    right = np.array([1 / 3, 2 / 7])
    rounded = right.astype(np.float32).astype(float)
    told = difference(rounded, right, ["value"], "the result")
    assert "right to the digits of float32 alone" in told[0]
    assert "entries differ" in difference(rounded + 1e-3, right, ["value"], "the result")[0]


@pytest.mark.parametrize("right", ["f4", "f8", "c16"])
@pytest.mark.parametrize("came", ["f4", "f8", "c16", "i8"])
def test_numbers_are_close_where_numpy_says_so(came, right):
    odd = np.array([0, 1, -1, np.inf, -np.inf, np.nan, 1e-9, 1 + 1e-7, 1 + 1e-3, 1e30, -(2.0**63)])
    rule = Comparison(rtol=1e-6, atol=1e-12)
    with np.errstate(all="ignore"):
        pairs = [*product(odd.astype(came), odd.astype(right))]
        close = [np.isclose(*each, rule.rtol, rule.atol, equal_nan=True) for each in pairs]
    assert [found_between(*each, rule) is None for each in pairs] == close


def test_other_results_than_arrays_are_compared_too():
    assert difference((1, [2.0]), (1, [2.0]), [["value"], ["value"]], "it") == []
    assert difference([1, 2], (1, 2), [["value"], ["value"]], "it") == []
    assert difference(np.array([1, 2]), (1, 2), [["value"], ["value"]], "it") == []
    assert "should be a tuple of 2" in difference(1, (1, 2), [["value"]] * 2, "it")[0]
    assert "should be a tuple of 2" in difference(np.array(1), (1, 2), [["value"]] * 2, "it")[0]
    assert "it[1]" in difference((1, 3), (1, 2), [["value"]] * 2, "it")[0]
    assert difference({"a": 1}, {"a": 1}, ["value"], "it") == []
    assert "it has no entry 'a'" in difference({"b": 1}, {"a": 1}, ["value"], "it")
    assert "'x' was expected" in difference("y", "x", ["value"], "it")[0]
    assert "bool was expected" in difference([1.0], [True], ["value"], "it")[0]
    assert "ragged" in difference([[1], [1, 2]], [1.0], ["value"], "it")[0]
    assert "is 1 at index [0]" in difference(np.array([True]), [False], ["value"], "it")[0]
    assert difference(np.float32([1.00001]), [1.0], ["value"], "it") == []
    assert difference(np.float64([1.00001]), [1.0], ["value"], "it") != []


@pytest.mark.parametrize(
    ("made", "told"),
    [
        ((i for i in "ab"), "it returned a generator object; expected numbers, arrays"),
        ([np.float32(1), np.float64(1)] * 3000, "it returned more values in lists"),
    ],
    ids=["a generator", "too many"],
)
def test_what_the_grader_cannot_read_is_said_in_the_notebook(made, told):
    recorded = {"name": "f", "checks": [{"rubric": "Is read.", "calls": [CALL]}]}
    report = "\n".join(report_function(recorded, {"f": lambda: made}))
    assert told in report
    assert "✗ failed" in report


CALL = {"args": [], "kwargs": {}, "value": {"tuple": []}, "compare": ["value"]}


def test_check_json_has_one_array_to_a_line(released):
    text = (released / "check.json").read_text(encoding="utf-8")
    assert json.loads(text)["schema"] == 1
    assert max(line.count('"array"') for line in text.splitlines()) == 1


CELLS = """
import builtins, check as module
everything = {"first": ["p", "q"], "second": ["p", "r"], "third": ["p", "q", "s"]}
exercises = {
    id: {"parts": [{"name": n, "hint": {"kind": "text"}, "rubric": n} for n in names]}
    for id, names in everything.items()
}
In = ["p = 1; q = 2"]
def of(exercise, name="p"):
    return module.answers_another(exercise, name, exercises, globals())
"""


def test_an_answer_to_an_earlier_exercise_is_none_to_this_one(released, as_student):
    report = as_student(
        released,
        CELLS
        + """
print([of("first"), of("second")])  # its cell was not run yet
In.append("p = 3\\nr = 4")
print([of("first"), of("second")])  # now the first one's is gone
In.append("p = 1; q = 2")
print([of("first"), of("second")])
print([of("third"), of("first", "never")])
In = "mine"
print(of("second"))
""",
    )
    assert report.splitlines() == [
        "['', 'first']",
        "['second', '']",
        "['', 'first']",
        "['first', '']",
        "",
    ]


def test_check_says_whose_answer_a_variable_is(released, as_student):
    exercises = json.loads((released / "check.json").read_text())
    exercises["exercises"]["other"] = exercises["exercises"]["by_hand"] | {"parts": []}
    part = {"name": "letter", "points": 1, "rubric": "?", "hint": {"kind": "text"}}
    exercises["exercises"]["other"]["parts"] = [part, part | {"name": "more"}]
    (released / "check.json").write_text(json.dumps(exercises))
    code = "letter = more = 'A'\nIn = ['', 'letter = more = 1']\ncheck('by_hand')"
    assert "`letter` is the one of other: run the cell of this one" in as_student(released, code)


def test_without_check_formulas_a_formula_is_taken_as_it_is(released, as_student):
    (released / "check_formulas.py").unlink()
    report = as_student(released, "formula = 'a + (c'; check('by_hand')")
    assert "formula: 'a + (c' (put check_formulas.py beside check.py" in report


def test_two_functions_are_checked_one_after_the_other(released, as_student):
    path = released / "check.json"
    data = json.loads(path.read_text())
    norm = data["exercises"]["norm"]
    norm["functions"].append(norm["functions"][0] | {"name": "length"})
    path.write_text(json.dumps(data))
    right = "return np.sqrt((x * x).sum(axis=axis, keepdims=keep))"
    report = as_student(released, NORM.format(right)).splitlines()
    assert [line.split()[1] for line in report[1:4]] == ["passed", "passed", "undefined"]
    assert report[4] == "  Grading also runs 2 hidden checks: passing here is not yet the mark."
