"""Whatever arrives is read, put into the released shape, or refused in one sentence."""

import json
from copy import deepcopy

import pytest

from autograder.course.release.handed_out import Release
from autograder.course.submissions.grade import Grader
from autograder.course.submissions.handed_in import (
    Handed,
    Unreadable,
    read_notebook,
    restore,
    submissions,
)
from autograder.course.submissions.job import job_of

from ..courses import ENERGY, MOTION


@pytest.fixture
def release(course):
    return Release.load(course, MOTION)


@pytest.fixture
def notebook(release):
    return deepcopy(release.notebook)


def ids(notebook):
    return [cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in notebook["cells"]]


def cell(notebook, id):
    return next(
        c for c in notebook["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") == id
    )


def test_an_untouched_notebook_comes_back_as_released(release, notebook):
    restored, notices = restore(notebook, release)
    assert notices == []
    assert [c["source"] for c in restored["cells"]] == [
        c["source"] for c in release.notebook["cells"]
    ]


def test_answers_and_extra_cells_stay(release, notebook):
    cell(notebook, "mean_speeds")["source"] = "speed = 0.5"
    notebook["cells"].insert(3, {"cell_type": "code", "source": "helper = 1", "metadata": {}})
    restored, notices = restore(notebook, release)
    assert cell(restored, "mean_speeds")["source"] == "speed = 0.5"
    assert "helper = 1" in [c["source"] for c in restored["cells"]]
    assert notices == []


def test_an_edited_check_cell_is_the_released_one_again(release, notebook):
    cell(notebook, "check_mean_speeds")["source"] = "11.0"
    restored, notices = restore(notebook, release)
    assert cell(restored, "check_mean_speeds")["source"] == 'check("mean_speeds")'
    assert notices == ["The check cell `check_mean_speeds` was edited; the released one was run."]


def test_forged_points_are_the_released_ones(release, notebook):
    cell(notebook, "check_mean_speeds")["metadata"]["nbgrader"]["points"] = 1000
    cell(notebook, "mean_speeds")["metadata"]["nbgrader"]["grade"] = True
    restored, _ = restore(notebook, release)
    assert cell(restored, "check_mean_speeds")["metadata"]["nbgrader"]["points"] == 4
    assert not cell(restored, "mean_speeds")["metadata"]["nbgrader"]["grade"]


@pytest.mark.parametrize("lost", ["check_mean_speeds", "mean_speeds", "fall_why"])
def test_a_deleted_cell_is_put_back(release, notebook, lost):
    notebook["cells"].remove(cell(notebook, lost))
    restored, notices = restore(notebook, release)
    assert sorted(filter(None, ids(restored))) == sorted(filter(None, ids(release.notebook)))
    assert len(notices) == 1
    assert f"`{lost}` was deleted" in notices[0]
    assert ids(restored).index("check_fall") > ids(restored).index("fall")


def test_a_deleted_answer_does_not_bring_the_stub_back(release, notebook):
    notebook["cells"].remove(cell(notebook, "mean_speeds"))
    restored, _ = restore(notebook, release)
    assert "NotImplementedError" not in cell(restored, "mean_speeds")["source"]
    assert ids(restored).index("check_mean_speeds") > ids(restored).index("mean_speeds")


def test_a_doubled_answer_is_run_twice_and_counted_once(release, notebook):
    copy = deepcopy(cell(notebook, "mean_speeds"))
    copy["source"] = "speed = 0.5"
    notebook["cells"].append(copy)
    restored, notices = restore(notebook, release)
    assert ids(restored).count("mean_speeds") == 1
    assert restored["cells"][-1]["source"] == "speed = 0.5"
    assert "twice" in notices[0]


def test_a_doubled_check_counts_once(release, notebook):
    notebook["cells"].append(deepcopy(cell(notebook, "check_mean_speeds")))
    restored, notices = restore(notebook, release)
    assert ids(restored).count("check_mean_speeds") == 1
    assert "twice" in notices[0]


def test_a_check_that_was_moved_before_its_answer_is_moved_back(release, notebook):
    check = cell(notebook, "check_mean_speeds")
    notebook["cells"].remove(check)
    notebook["cells"].insert(0, check)
    restored, notices = restore(notebook, release)
    assert ids(restored).index("check_mean_speeds") == ids(restored).index("mean_speeds") + 1
    assert "moved" in notices[0]


def test_an_answer_turned_into_text_is_code_again(release, notebook):
    answer = cell(notebook, "mean_speeds")
    answer["cell_type"] = "markdown"
    del answer["outputs"]
    restored, notices = restore(notebook, release)
    assert cell(restored, "mean_speeds")["cell_type"] == "code"
    assert "had become markdown" in notices[0]


@pytest.mark.parametrize(
    "odd",
    [
        None,
        7,
        {},
        {"cell_type": "widget", "source": "x"},
        {"cell_type": "code"},
        {"cell_type": "code", "source": 5, "metadata": 3},
        {"cell_type": "code", "source": [1, "a"], "metadata": {"nbgrader": "me"}},
        {
            "cell_type": "code",
            "source": "",
            "metadata": {"nbgrader": {"grade_id": ["mean_speeds"]}},
        },
    ],
)
def test_odd_cells_do_no_harm(release, notebook, odd):
    notebook["cells"].append(odd)
    restored, _ = restore(notebook, release)
    assert all(isinstance(c["source"], str) for c in restored["cells"])


def test_another_assignments_notebook_is_refused(course, release):
    other = Release.load(course, ENERGY).notebook
    with pytest.raises(Unreadable, match="another assignment"):
        restore(other, release)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "not hold JSON"),
        (b"PK\x03\x04", "not hold JSON"),
        (b"[" * 100_000, "not hold JSON"),
        (b"[]", "no list of cells"),
        (b'{"worksheets": []}', "no list of cells"),
        (b" " * (21 * 2**20), "21 MB"),
    ],
)
def test_what_is_no_notebook_is_refused(tmp_path, content, says):
    path = tmp_path / "x.ipynb"
    path.write_bytes(content)
    with pytest.raises(Unreadable, match=says):
        read_notebook(path)


def test_a_link_is_refused(tmp_path, notebook):
    target = tmp_path / "target.ipynb"
    target.write_text(json.dumps(notebook))
    link = tmp_path / "link.ipynb"
    link.symlink_to(target)
    with pytest.raises(Unreadable, match="symbolic link"):
        read_notebook(link)


def test_a_renamed_notebook_is_found(course, notebook):
    folder = course.folder("submitted") / "ada" / MOTION
    folder.mkdir(parents=True)
    (folder / "my motion.ipynb").write_text(json.dumps(notebook))
    assert [h.path.name for h in submissions(course, MOTION)] == ["my motion.ipynb"]


@pytest.fixture
def pictures(course):
    """The release of an assignment with demonstrations, and its notebook."""
    release = Release.load(course, ENERGY)
    return release, deepcopy(release.notebook)


def tags(notebook):
    return [c["metadata"]["tags"] for c in notebook["cells"] if "tags" in c["metadata"]]


def test_released_demonstrations_are_marked(pictures):
    release, notebook = pictures
    assert tags(restore(notebook, release)[0]) == [["demonstration"]] * 2


def test_no_cell_of_a_students_own_is_a_demonstration(pictures):
    release, notebook = pictures
    cell(notebook, "spring")["metadata"]["tags"] = ["demonstration"]
    extra = {"cell_type": "code", "source": "x = 1", "metadata": {"tags": ["demonstration"]}}
    notebook["cells"].append(extra)
    assert tags(restore(notebook, release)[0]) == [["demonstration"]] * 2


@pytest.mark.parametrize("answer", ["print(forces)", "def energy(x):\n    return forces"])
def test_a_demonstration_that_an_answer_uses_is_none(pictures, answer):
    release, notebook = pictures
    notebook["cells"].append({"cell_type": "code", "source": answer, "metadata": {}})
    restored, _ = restore(notebook, release)
    shown = [c["source"] for c in restored["cells"] if "tags" in c["metadata"]]
    assert len(shown) == 1
    assert "forces" not in shown[0]


def test_a_students_numbers_are_shown_in_the_graded_notebook(course, notebook):
    path = course.submission("ada", MOTION)
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(notebook))
    with Grader(course) as grader:
        graded = grader.grade(Handed("ada", MOTION, path))
    numbers = Release.load(course, MOTION).numbers("ada")["fall"]
    (output,) = next(
        c["outputs"] for c in graded.notebook["cells"] if c["source"] == 'your_numbers("fall")'
    )
    assert f"'h': {numbers['h']!r}" in output["data"]["text/plain"]


def test_what_the_grader_could_not_run_is_before_the_marker_as_it_was_handed_in(course, notebook):
    path = course.submission("ada", MOTION)
    path.parent.mkdir(parents=True)
    cell(notebook, "mean_speeds")["source"] = "mine = 1"
    path.write_text(json.dumps(notebook))
    handed = Handed("ada", MOTION, path)
    with Grader(course) as grader:
        graded = grader.lose(job_of(handed, grader.release(MOTION)), "It broke.")
        assert cell(graded.notebook, "mean_speeds")["source"] == "mine = 1"
        assert graded.notebook["cells"][0]["source"] == "**It broke.**"
        path.write_text("no notebook")
        graded = grader.lose(job_of(handed, grader.release(MOTION)), "It broke.")
    assert (
        cell(graded.notebook, "mean_speeds")["source"]
        == cell(grader.release(MOTION).notebook, "mean_speeds")["source"]
    )
