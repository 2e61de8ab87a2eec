"""What an author writes wrong is said with function, numbers, file and line, and what was meant."""

import pytest

from autograder.course.config import Course, CourseError
from autograder.course.discover import Broken, load_assignment, load_exercise
from autograder.course.limits import check_limits
from autograder.course.proofs.function_proofs import function_problems
from autograder.course.release.drawing import drawn
from autograder.exercise.words.variants import rng_for

from ..courses import MOTION

#: In reference/m01_motion/fall.py: what is put for what, and what is said of it.
OF_PARTS = {
    "def speed(seconds)|def speed(secnds)": r"fall.py:32: `secnds`, an argument of `speed`, is no "
    r"number of the variant, no earlier part and no function \(did you mean 'seconds'\?\)",
    "return g * seconds\n|return g * seconds * np.inf\n": r"fall.py:32, in speed\(seconds = array\("
    ".+: it contains NaN or infinity",
    "return np.sqrt(h / g)|return 1 / (h - h)": r"fall.py:29, in half_forgotten\(h = \d+\), "
    "draw 1: ZeroDivisionError",
    "rng.integers(|rng.integer(": r"fall.py:17, in draw\(rng\), draw 1: .*no attribute 'integer' "
    r"\(did you mean 'integers'\?\)",
    'return {"h": int(rng.integers(20, 100))}|return 20': "fall.py:14: `draw` returns 20, and must "
    "return numbers by name",
}
#: The same, of what is said when it is loaded.
LOADING = {
    "credit=0.5|credits=0.5": r"fall.py:26: .*'credits' \(did you mean 'credit'\?\)",
    "answer=Numbers()|answer=Numbers(wide=3)": r"fall.py:\d+: .*'wide'; it takes tolerance, pl",
    "import Choice|import Choise": r"fall.py:8: .*\(did you mean 'Choice'\?\)",
    "@exercise.part(points=3|@exercise.part\ndef more(): ...\n\n@exercise.part(points=3": r"fall.py"
    r":\d+: .*in brackets, as in `@exercise.part\(points=1, …\)`",
    'Choice("ABC")|Choise("ABC")': r"fall.py:44: NameError: .*\(did you mean 'Choice'\?\)",
}
#: The same, in reference/m01_motion/mean_speeds.py, of what verify says.
OF_FUNCTIONS = {
    "np.diff(x) / np.diff(t)|np.diff(x) / np.dif(t)": r":23, in mean_speeds\(t = array\(.*\(did "
    r"you mean 'diff'\?\)",
    "agree(call(t, 3 * t + 7)|agree(1 / 0, call(t, t)": r":36, in of_a_steady_drive\(call, rng\)",
    "x[1:] / t[1:]|x[1:] / tt[1:]": r":56, in from_the_start\(t = .*\): NameError: name 'tt' is",
}


def changed(course, exercise, change):
    old, new = change.split("|")
    path = course.root / "reference" / MOTION / f"{exercise}.py"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    return load_exercise(path)


@pytest.mark.parametrize("change", OF_PARTS)
def test_what_is_wrong_with_a_part_is_said_of_its_function(course, change):
    with pytest.raises(CourseError, match=OF_PARTS[change]):
        drawn(changed(course, "fall", change), "c")


def test_of_many_draws_the_one_is_named_that_raised(course):
    change = 'return {"h": int(rng.integers(20, 100))}|return {"h": 7 // int(rng.integers(0, 40))}'
    with pytest.raises(CourseError) as caught:
        drawn(changed(course, "fall", change), "c")
    rng, number = rng_for("c", "fall", "pool"), 1
    while rng.integers(0, 40):
        number += 1
    assert number > 1
    assert f"fall.py:17, in draw(rng), draw {number}: ZeroDivisionError" in str(caught.value)


def test_what_a_helper_raises_names_the_exercise_s_function_and_the_helper_s_line(course):
    helpers = course.root / "reference" / "helpers.py"
    helpers.write_text("def root(x):\n    return x.root\n")
    change = "return np.sqrt(h / g)|from reference.helpers import root\n    return root(h)"
    with pytest.raises(
        CourseError, match=r"fall.py:30, in half_.*, by root \(helpers.py:2\), draw"
    ):
        drawn(changed(course, "fall", change), "c")


@pytest.mark.parametrize("change", LOADING)
def test_a_word_that_there_is_not_is_said_with_the_nearest(course, change):
    broken = changed(course, "fall", change)
    assert isinstance(broken, Broken)
    with pytest.raises(AssertionError, match=LOADING[change]):
        raise AssertionError(broken.message)


@pytest.mark.parametrize("change", OF_FUNCTIONS)
def test_what_raises_in_a_function_or_check_is_said_once(course, change):
    (function,) = changed(course, "mean_speeds", change).functions
    (problem,) = function_problems(function, "", [], [], [])
    with pytest.raises(AssertionError, match=OF_FUNCTIONS[change]):
        raise AssertionError(problem)


def test_a_folder_that_the_course_does_not_list_is_named(course):
    folder = course.root / "assignments" / "m03_heat"
    folder.mkdir()
    (folder / "m03_heat.py").write_text("")
    config = course.root / "course_config.py"
    found = Course.load(course.root)
    assert found.unlisted == ["m03_heat"]
    assert f"c.Course.assignments in {config}:7: list it there" in found.not_listed("m03_heat")
    with pytest.raises(CourseError, match="m03 is no assignment .* assignments/m03_heat is in no"):
        found.ids(["m03"])


def test_an_entry_without_a_folder_is_said_with_the_nearest_one(course):
    config = course.root / "course_config.py"
    config.write_text(config.read_text().replace('"m02_energy"', '"m02_enrgy"'))
    found = Course.load(course.root)
    assert "(did you mean 'm02_enrgy'?)" in found.not_listed("m02_energy")
    with pytest.raises(CourseError, match=r"course_config.py:9 lists \(did you mean 'm02_energy'"):
        load_assignment(found, "m02_enrgy")


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ('"title": "The', '"titel": "The', 9),
        ("c.Course.limits", "c.Course.limit", 13),
        ("c.Course.limits", "c.Curse.limits", 13),
        ("cell_seconds", "cel_seconds", 13),
        ('"m02_energy",', '"m02_energy", "due": "2027-03-01 23:59",', 9),
        ('"m02_energy",', '"m02_energy", "due": "next monday",', 9),
        ('"m02_energy",', '"m02_energy", "due": "2027-03-01 23:59 Europe/Berln",', 9),
    ],
)
def test_a_wrong_setting_is_said_with_its_line(course, old, new, line):
    config = course.root / "course_config.py"
    config.write_text(config.read_text().replace(old, new, 1))
    with pytest.raises(CourseError, match=rf"course_config.py:{line}: "):
        check_limits(Course.load(course.root))


def test_a_zone_that_there_is_not_is_said_with_the_nearest(course):
    config = course.root / "course_config.py"
    due = '"m02_energy", "due": "2027-03-01 23:59 Europe/Berln",'
    config.write_text(config.read_text().replace('"m02_energy",', due, 1))
    with pytest.raises(CourseError, match=r"there is not, 'Europe/Berln' \(did you mean 'Europe/B"):
        Course.load(course.root)
