"""A kind of answer is one file: another course brings its own, and everything knows it."""

import importlib
import sys
from importlib.metadata import EntryPoint

import pytest

from autograder.course.config import Course
from autograder.course.discover import load_assignment
from autograder.course.proofs.verify import verify
from autograder.course.release.build import build
from autograder.course.scaffold import kinds as startable
from autograder.course.scaffold import new_exercise
from autograder.exercise.answers.registry import GROUP
from autograder.exercise.answers.registry import kinds as registry

DIE = '''"""What a die shows."""

from dataclasses import dataclass

from autograder.exercise import Answer, Attempt, Scaffold
from autograder.student.unreadable import FormatError
from autograder.student.readers import Reading
from autograder.student.display import brief

FEWEST = 1


def fits(raw, sides):
    return isinstance(raw, int) and FEWEST <= raw <= sides


def read_die(raw, hint):
    """Read a whole number from 1 on."""
    if fits(raw, hint["sides"]):
        return Reading(raw, f"a {raw}")
    raise FormatError(f"a whole number from 1 to {hint['sides']} is expected, not {brief(raw)}")


@dataclass(frozen=True)
class Die(Answer):
    """What a die shows."""

    kind = "die"
    reader = staticmethod(read_die)
    table = (("Die(6)", "a whole number", "equal"),)
    scaffold = Scaffold(
        asks="Ask what a die shows.",
        stub="shows = None  # a whole number",
        reference=\'\'\'
@exercise.part(points=1, answer=Die())
def shows():
    """What lies opposite the 2?"""
    return 5


@shows.misconception()
def the_same():
    """Opposite sides add up to 7."""
    return 2
\'\'\',
    )

    sides: int = 6

    def same(self, given, expected, *, slack=0.0, widen=1.0):
        """Tell whether both show the same."""
        return given == expected

    def attempts(self, right):
        """Try another side."""
        yield Attempt("another side", right % self.sides + 1, at_most=0)

    def hint(self, expected):
        """Say how many sides there are."""
        return {"kind": "die", "sides": self.sides}
'''


@pytest.fixture
def die(tmp_path, monkeypatch):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "die_kind.py").write_text(DIE)
    monkeypatch.syspath_prepend(tmp_path / "package")
    entry = EntryPoint("die", "die_kind:Die", GROUP)
    monkeypatch.setattr("autograder.exercise.answers.registry.entry_points", lambda **_: [entry])
    registry.cache_clear()
    yield importlib.import_module("die_kind").Die
    registry.cache_clear()
    sys.modules.pop("die_kind")


@pytest.fixture
def course(tmp_path):
    (tmp_path / "course_config.py").write_text(
        "c = get_config()\nc.Course.assignments = [{'id': 'a99_toys', 'title': 'Toys'}]\n"
    )
    return Course.load(tmp_path)


def test_a_kind_from_one_file_is_started_proved_released_and_checked(die, course, tmp_path, capsys):
    assert registry()["die"] is die
    assert "die" in startable()
    new_exercise(course, "a99_toys", "toy", "die")
    assignment = load_assignment(course, "a99_toys")
    (proof,) = verify(assignment)
    assert proof.problems == []
    files = build(assignment)
    assert "READERS['die'] = read_die" in files["check.py"].decode()
    assert "check_formulas.py" not in files
    for name in ("check.py", "check.json"):
        (tmp_path / name).write_bytes(files[name])
    names = {"__name__": "notebook"}
    sys.path.insert(0, str(tmp_path))
    try:
        exec("from check import check\nshows = 7\ncheck('toy')\nshows = 5\ncheck('toy')", names)
    finally:
        sys.path.remove(str(tmp_path))
        sys.modules.pop("check", None)
    said = capsys.readouterr().out
    assert "✗ form       shows: a whole number from 1 to 6 is expected, not 7" in said
    assert "→ read as    shows: a 5" in said


def test_a_kind_that_is_none_is_refused(monkeypatch):
    entry = EntryPoint("rock", "builtins:dict", GROUP)
    monkeypatch.setattr("autograder.exercise.answers.registry.entry_points", lambda **_: [entry])
    registry.cache_clear()
    with pytest.raises(TypeError, match="must be a subclass of Answer"):
        registry()
    registry.cache_clear()


def test_every_kind_says_everything_about_itself():
    for name, kind in registry().items():
        assert kind.kind == name
        assert kind.__doc__
        assert kind.table
        assert kind.scaffold
        assert kind.manual or kind.reader or kind.read is not None
