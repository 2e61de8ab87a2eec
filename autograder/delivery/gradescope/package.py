"""Pack an assignment and this engine as an autograder for Gradescope: a zip to upload there."""

from __future__ import annotations

from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import autograder
from autograder.course.config import CONFIG, Course, CourseError
from autograder.course.files import write_atomically
from autograder.course.people.roster import FILE, Person, declared, roster_table
from autograder.course.release.handed_out import Release, libraries_of
from autograder.course.secret import FILE as SECRET
from autograder.course.secret import secret_of
from autograder.course.typed_json import encoded
from autograder.delivery.gradescope import SETTINGS, PackedSettings
from autograder.delivery.platforms.zips import zipped

#: What grading imports, besides the libraries that the assignment's own code does.
NEEDED = ("ipython", "jaxtyping", "jinja2", "msgspec", "numpy", "sympy", "traitlets")
#: Who sees the results, and when: Gradescope's words.
VISIBILITIES = ("visible", "after_due_date", "after_published", "hidden")
_HERE = Path(__file__).parent
_SCRIPTS = ("setup.sh", "run_autograder")
#: The weakest tier that a course may demand there: a container denies the others.
_TIER = "B"


def pack(course: Course, assignment: str, path: Path, *, visibility: str, trust: bool) -> list[str]:
    """Write the zip for one assignment; say what was done.

    Parameters
    ----------
    visibility
        One of ``VISIBILITIES``.
    trust
        Grade also where the container offers no isolation.

    Raises
    ------
    CourseError
        If the path is no zip, the assignment isn't released, or the course demands more isolation
        than a container gives.
    """
    if path.suffix != ".zip":
        raise CourseError(f"an autograder for Gradescope is a .zip file, and {path} is none")
    if visibility not in VISIBILITIES:
        raise CourseError(f"--visibility is {visibility!r}; it is one of {', '.join(VISIBILITIES)}")
    if course.minimum_tier not in (None, _TIER):
        raise CourseError(
            f"the course demands isolation tier {course.minimum_tier}, and a container gives tier "
            f"{_TIER} at most: take c.Course.minimum_tier out of {CONFIG} to grade there"
        )
    release = Release.load(course, assignment)
    people = [_for_gradescope(person) for person in declared(course)]
    references = sorted((course.root / "reference").glob("*.py"))
    references += sorted((course.root / "reference" / assignment).glob("*.py"))
    settings = PackedSettings(assignment, visibility, trust)
    files = {name: (_HERE / name).read_bytes() for name in _SCRIPTS}
    files[SETTINGS] = encoded(settings)
    files["requirements.txt"] = "\n".join(pins([*NEEDED, *_imported(release, references)])).encode()
    files[f"course/{CONFIG}"] = _config(course, assignment, listed=bool(people)).encode()
    files[f"course/{SECRET}"] = secret_of(course).encode()
    if people:
        files[f"course/{FILE}"] = roster_table(people)
    for file in references:
        files[f"course/{file.relative_to(course.root).as_posix()}"] = file.read_bytes()
    for file in sorted((course.folder("release") / assignment).iterdir()):
        files[f"course/release/{assignment}/{file.name}"] = file.read_bytes()
    engine = Path(autograder.__file__).parent
    for file in sorted(engine.rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            files[f"engine/autograder/{file.relative_to(engine).as_posix()}"] = file.read_bytes()
    lines = [f"{path} was there before and has been replaced"] if path.exists() else []
    write_atomically(path, zipped(files, programs=_SCRIPTS), mode=0o600)
    known = f"a class list of {len(people)}" if people else "no class list"
    return [
        *lines,
        f"{assignment}: autograder for Gradescope in {path}, with {known}",
        "it holds references and the course's secret: give it to nobody else",
    ]


def pins(names: list[str]) -> list[str]:
    """Return the packages as they are installed here, with all that they need."""
    found: dict[str, str] = {}
    todo = list(names)
    while todo:
        name = canonicalize_name(todo.pop())
        try:
            known = metadata.distribution(name)
        except metadata.PackageNotFoundError:  # for another machine
            continue
        if name not in found:
            found[name] = known.version.partition("+")[0]
            needs = map(Requirement, known.requires or ())
            todo += [n.name for n in needs if n.marker is None or n.marker.evaluate({"extra": ""})]
    return [f"{name}=={version}" for name, version in sorted(found.items())]


def _imported(release: Release, references: list[Path]) -> set[str]:
    """Return the larger libraries that an assignment's notebook and references import.

    Those of demonstrations as well, as students may use what these make.
    """
    code = [cell["source"] for cell in release.notebook["cells"] if cell["cell_type"] == "code"]
    code += [path.read_text("utf-8") for path in references]
    return {module.partition(".")[0] for module in set().union(*map(libraries_of, code))}


def _for_gradescope(person: Person) -> Person:
    """Leave out what is not needed there."""
    numbers = {k: own for k, own in person.numbers.items() if k == "gradescope"}
    return replace(person, section="", numbers=numbers)


def _config(course: Course, assignment: str, *, listed: bool) -> str:
    """Return a course_config.py with what grading this assignment needs."""
    entry: dict[str, Any] = {"id": assignment, "title": course.titles[assignment]}
    entry |= course.counting[assignment].settings
    known = {path.stem for path in (course.root / "reference" / assignment).glob("*.py")}
    own = {id: limits for id, limits in course.exercise_limits.items() if id in known}
    settings = {
        "Course.assignments": [entry],
        "Course.limits": dict(course.limits),
        "Course.exercise_limits": own,
        "Course.gpu": course.gpu,
        "Course.typed_ids": course.typed_ids,
        "CourseDirectory.course_id": course.id,
    }
    if listed:
        settings["Course.students"] = FILE
    return "c = get_config()\n" + "".join(f"c.{k} = {v!r}\n" for k, v in settings.items())
