"""The command line: help for everything, one sentence for what is wrong, exit codes."""

import json
import sys

import pytest
from typer.testing import CliRunner

from autograder.cli import app, main
from autograder.course.proofs import several

from ..courses import EARNED, MOTION

COMMANDS = [
    "collect",
    "copies",
    "demo",
    "doctor",
    "essays",
    "export",
    "extension",
    "feedback",
    "generate",
    "grade",
    "grade-file",
    "gradescope",
    "init",
    "look",
    "new",
    "plan",
    "portfolio",
    "progress",
    "release",
    "report",
    "simulate",
    "verify",
    "watch",
    "worker",
]

#: What needs arguments, or no course.
TAKING_MORE = (
    "doctor",
    "essays",
    "extension",
    "grade-file",
    "gradescope",
    "init",
    "look",
    "new",
    "worker",
)


def run(monkeypatch, capsys, *arguments):
    """Run a command as the shell does; return exit code, output and errors."""
    monkeypatch.setattr(sys, "argv", ["autograder", *map(str, arguments)])
    with pytest.raises(SystemExit) as exit:
        main()
    captured = capsys.readouterr()
    return exit.value.code or 0, captured.out, captured.err


def test_every_command_is_listed_and_has_help():
    assert sorted(c.name or c.callback.__name__ for c in app.registered_commands) == COMMANDS
    for name in COMMANDS:
        result = CliRunner().invoke(app, [name, "--help"])
        assert result.exit_code == 0
        assert "Usage:" in result.output


@pytest.mark.parametrize("command", [c for c in COMMANDS if c not in TAKING_MORE])
def test_a_folder_without_a_course_is_said_in_one_line(monkeypatch, capsys, tmp_path, command):
    code, _, errors = run(monkeypatch, capsys, command, "--course", tmp_path)
    assert code == 1
    assert errors.startswith("error: ")
    assert "holds no course_config.py" in errors
    assert errors.count("\n") == 1


def test_grading_nothing_says_how_to_get_submissions(monkeypatch, capsys, course):
    code, _, errors = run(monkeypatch, capsys, "grade", "--course", course.root)
    assert code == 1
    assert "there are no submissions" in errors
    assert "autograder collect" in errors


def test_an_unknown_exercise_is_answered_with_the_known_ones(monkeypatch, capsys, course):
    code, _, errors = run(monkeypatch, capsys, "verify", "m01/fal", "--course", course.root)
    assert code == 1
    assert "m01_motion has no exercise fal; it has fall, mean_speeds" in errors


def test_verify_of_one_exercise_loads_none_behind_it(monkeypatch, capsys, course):
    (course.root / "reference/m01_motion/mean_speeds.py").write_text("raise SystemExit('loaded')")
    first = run(monkeypatch, capsys, "verify", "m01/fall", "--course", course.root)
    later = run(monkeypatch, capsys, "verify", "m01/mean_speeds", "--course", course.root)
    assert (first[0], later[0]) == (0, 1)
    assert "loaded" in later[1]


def test_verify_finds_a_limit_for_an_exercise_that_is_none(monkeypatch, capsys, course):
    config = course.root / "course_config.py"
    config.write_text(config.read_text() + "\nc.Course.exercise_limits = {'fal': {}}\n")
    code, _, errors = run(monkeypatch, capsys, "verify", "m01/fall", "--course", course.root)
    assert code == 1
    assert "there is no exercise 'fal' (did you mean 'fall'?)" in errors


def test_a_failed_proof_fails_the_command(monkeypatch, capsys, course):
    module = course.root / "reference/m01_motion/fall.py"
    module.write_text(module.read_text().replace('return "A"', 'return "B"'))
    arguments = ("verify", "m01/fall", "--json", "--course", course.root)
    code, output, _ = run(monkeypatch, capsys, *arguments)
    assert code == 1
    (proof,) = json.loads(output)
    assert any("weight_alone" in problem for problem in proof["problems"])


def test_assignments_are_proved_at_the_same_time_and_told_in_their_order(
    monkeypatch, capsys, course
):
    def told(*options):
        arguments = ("verify", "--anew", *options, "--json", "--course", course.root)
        return json.loads(run(monkeypatch, capsys, *arguments)[1])

    both = told("--jobs", "2")
    assert [each["exercise"] for each in both] == ["fall", "mean_speeds", "spring"]
    assert both == told("--jobs", "1")
    with monkeypatch.context() as patched:
        patched.setattr(several, "load_assignment", None)  # nothing has changed: none is loaded
        again = run(patched, capsys, "verify", "--course", course.root)[1]
    assert again.count("proved before") == 3
    module = course.root / "reference/m01_motion/fall.py"
    module.write_text(f"{module.read_text()}\n# changed\n")
    changed = run(monkeypatch, capsys, "verify", "--course", course.root)[1]
    assert changed.count("proved before") < 3


def test_drift_fails_the_check(monkeypatch, capsys, course):
    path = course.root / "release" / MOTION / "check.py"
    path.write_text(path.read_text() + "# edited\n")
    arguments = ("generate", "m01", "--check", "--course", course.root)
    code, output, _ = run(monkeypatch, capsys, *arguments)
    assert code == 1
    assert f"release/{MOTION}/check.py: differs from line" in output


@pytest.mark.sandbox
def test_one_notebook_is_graded_without_a_class(monkeypatch, capsys, course):
    from autograder.course.classes.simulate import simulate

    simulate(course, MOTION, 1)
    path = course.submission("student_001", MOTION)
    elsewhere = path.rename(course.root / "loose.ipynb")
    code, output, _ = run(
        monkeypatch, capsys, "grade-file", elsewhere, "--json", "--course", course.root
    )
    assert code == 0
    grade = json.loads(output)
    assert (grade["student"], grade["score"], grade["schema"]) == ("student_001", EARNED, 1)
    assert not list((course.root / "records").glob("student_*"))


@pytest.mark.parametrize("content", ["hello", '{"cells": []}'])
def test_a_file_that_is_no_notebook_is_said_in_one_line(monkeypatch, capsys, course, content):
    path = course.root / "x.ipynb"
    path.write_text(content)
    code, _, errors = run(monkeypatch, capsys, "grade-file", path, "--course", course.root)
    assert code == 1
    assert str(path) in errors


def test_a_folder_that_cannot_be_written_is_named(monkeypatch, capsys, course):
    (course.root / "submitted").write_text("a file where a folder is due")
    code, _, errors = run(monkeypatch, capsys, "simulate", "m01", "--course", course.root)
    assert code == 1
    assert f"submitted/student_001/{MOTION} can't be written" in errors


def test_the_demo_does_not_touch_what_is_there(monkeypatch, capsys, course, tmp_path):
    code, _, errors = run(monkeypatch, capsys, "demo", tmp_path, "--course", course.root)
    assert code == 1
    assert "exists already" in errors
