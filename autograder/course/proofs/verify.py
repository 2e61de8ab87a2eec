"""Exercises prove themselves: what an author promises is tried, item by item."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from autograder.course.author_errors import raised
from autograder.course.config import Course
from autograder.course.digests import hash_file
from autograder.course.discover import Assignment, Broken, text_of
from autograder.course.proofs.building import asked_problems, building_problems, unlike_problems
from autograder.course.proofs.discrimination import Hidden, Twins, part_twins
from autograder.course.proofs.distances import Distance
from autograder.course.proofs.follow_through import carried_problems, own_problems
from autograder.course.proofs.function_proofs import function_problems
from autograder.course.proofs.guessing import Guessed, earned_blindly, keep
from autograder.course.proofs.helpers import helpers_path, helpers_problems, imports_problems
from autograder.course.proofs.helping import helping_problems, told_problems
from autograder.course.proofs.numbers_needed import needed
from autograder.course.proofs.odd_results import odd_result_problems
from autograder.course.proofs.part_proofs import part_problems, sample_problems, unsaid
from autograder.course.proofs.prices import Price, part_prices
from autograder.course.proofs.vacuous import Vacuous, vacuous
from autograder.course.release.datafiles import data_problems
from autograder.course.release.drawing import all_drawn
from autograder.course.release.kept import Kept, modules
from autograder.course.submissions.worked_out import WorkedOut
from autograder.course.typed_json import converted
from autograder.exercise import Exercise
from autograder.exercise.answers.kind import Undecided
from autograder.exercise.lasting import lasting
from autograder.exercise.words.variants import Draws, hidden_mistakes, rng_for
from autograder.grading.checks import grade_checks
from autograder.grading.parts import grade_parts
from autograder.grading.pricing import DEAREST

#: What is kept: all that is proved of an exercise, and what it shows by itself.
_KEPT, _TRIED = "proof", "tried"


@dataclass(frozen=True)
class Proof(Guessed):
    """What was found out about one exercise; it holds if there are no ``problems``.

    Attributes
    ----------
    notes
        What an author may like to know, and need not change.
    hidden, twins
        Misconceptions that numbers or a check could not tell from the right answer, or from
        each other.
    distances
        How far honest code and cheats are from the limits of checks of work.
    prices
        What each mistake costs: the points of a function, or of all parts by follow-through.
    vacuous
        What functions earn that do nothing.
    before
        Was this proved earlier, with nothing changed since?
    """

    parts: int = 0
    checks: int = 0
    misconceptions: int = 0
    variants: int = 0
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    hidden: list[Hidden] = field(default_factory=list)
    twins: list[Twins] = field(default_factory=list)
    distances: list[Distance] = field(default_factory=list)
    prices: list[Price] = field(default_factory=list)
    vacuous: list[Vacuous] = field(default_factory=list)
    before: bool = False

    @property
    def dearest(self) -> Price | None:
        """The mistake that costs the largest share."""
        return max(self.prices, key=lambda price: price.share, default=None)


def verify(
    assignment: Assignment,
    exercises: list[str] | None = None,
    *,
    secret: str = "",
    variants: int | None = None,
    anew: bool = True,
) -> list[Proof]:
    """Prove every exercise of an assignment, or those wanted; none stops the others.

    Of a whole assignment its data files are proved as well.

    Functions are tried on the inputs that the ``secret`` of a course gives, as they are graded;
    without one on those that students see. Answers are tried with so many of the ``variants``,
    by default with all. Unless all is proved ``anew``, what was proved before is not tried again
    where nothing has changed on which that depends: what an exercise shows by itself while it is as
    it was, the rest while its assignment is.
    """
    files = {} if exercises else data_problems(assignment.course, assignment.id)
    asked = [secret.encode(), repr(variants).encode()]
    proofs = []
    with (
        Kept(assignment, asked) as alone,
        Kept(assignment, [*asked, *_beside(assignment)]) as kept,
        closing(WorkedOut(assignment.course, assignment.id, found=False)) as worked_out,
        lasting(worked_out),
    ):
        for id, exercise in assignment.exercises.items():
            if exercises and id not in exercises:
                continue
            if isinstance(exercise, Broken):
                proofs.append(Proof(assignment.id, id, problems=[exercise.message]))
                continue
            if not anew and (known := kept.get(exercise, _KEPT)):
                proofs.append(replace(converted(known, Proof), before=True))
                continue
            if not anew and (known := alone.get(exercise, _TRIED)):
                tried = converted(known, Proof)
            else:
                tried = _tried(assignment, exercise, secret, variants)
                if not tried.problems:
                    alone.put(exercise, _TRIED, asdict(tried))
            proofs.append(proof := _in_its_place(assignment, exercise, tried))
            if not exercises and not proof.problems:
                kept.put(exercise, _KEPT, asdict(proof))
    keep(assignment, [proof for proof in proofs if proof.variants])  # `generate` asks for it
    return [Proof(assignment.id, name, problems=said) for name, said in files.items()] + proofs


def _beside(assignment: Assignment) -> list[bytes]:
    """Hash what proofs depend on besides the exercise: stubs, and what is asked for before it."""
    files = {text_of(assignment.course, assignment.id)}
    files |= modules(assignment, assignment.sound.values())
    return [*map(hash_file, sorted(files))]


def verify_helpers(course: Course) -> list[Proof]:
    """Prove the module of helpers that references share, where the course has one."""
    path = helpers_path(course)
    if not path.exists():
        return []
    return [Proof(path.parent.name, path.stem, problems=helpers_problems(course))]


def _tried(assignment: Assignment, exercise: Exercise, secret: str, variants: int | None) -> Proof:
    """Try what an exercise promises by itself, whatever stands beside it."""
    wrong = len(exercise.misconceptions)
    wrong += sum(len(part.misconceptions) for part in exercise.parts)
    sizes = (exercise.points, len(exercise.parts), len(exercise.checks), wrong)
    proof, course = Proof(assignment.id, exercise.id, *sizes), assignment.course.id
    with _author_s_errors(exercise, course, proof):
        drawn = all_drawn(exercise, course)
        guesses = earned_blindly(exercise, drawn.pool)
        hidden = _hidden(exercise, drawn)
        proof = replace(proof, variants=len(drawn.pool), hidden=hidden, guesses=guesses)
        tried = drawn.pool[:: max(1, len(drawn.pool) // variants)] if variants else drawn.pool
        _examine(exercise, course, tried, secret, proof)
    return proof


def _in_its_place(assignment: Assignment, exercise: Exercise, tried: Proof) -> Proof:
    """Add what is wrong with an exercise in this assignment: with its stub, and what is before."""
    folder, course = assignment.course.root / "reference" / assignment.id, assignment.course.id
    found = Proof(assignment.id, exercise.id)
    with _author_s_errors(exercise, course, found):
        variant = all_drawn(exercise, course, 1).pool[0]
        found.problems.extend(imports_problems(folder / f"{exercise.id}.py"))
        found.problems.extend(_stub_earns(assignment, exercise, variant))
        found.problems.extend(building_problems(assignment, exercise, variant))
        found.problems.extend(told_problems(assignment, exercise))
    return replace(tried, problems=list(dict.fromkeys([*found.problems, *tried.problems])))


@contextlib.contextmanager
def _author_s_errors(exercise: Exercise, course: str, proof: Proof) -> Iterator[None]:
    """Add what the author's code raises to the problems."""
    try:
        yield
    except Undecided as error:  # by drawing, which has come to an end
        draw = exercise.draw or (lambda _: {})
        variant = dict(draw(rng_for(course, exercise.id, "pool")))
        proof.problems.extend(unsaid(exercise, variant) or [str(error)])
    except Exception as error:  # whatever an author's code raises
        proof.problems.append(raised(exercise.id, error).removeprefix(f"{exercise.id}: "))


def _examine(
    exercise: Exercise, course: str, pool: list[dict[str, Any]], secret: str, proof: Proof
) -> None:
    """Add what is found to the proof's lists."""
    problems = proof.problems
    for function in exercise.functions:
        own = function_problems(function, secret, proof.twins, proof.distances, proof.prices)
        # Of a function that doesn't stand by itself there is nothing to say in odd cases.
        problems += own or odd_result_problems(function, secret)
        proof.vacuous.extend(vacuous(function, exercise.points))
    for nothing in proof.vacuous:
        (problems if nothing.too_much else proof.notes).append(str(nothing))
    problems += carried_problems(exercise, pool[0])
    problems += own_problems(exercise, pool[0])
    problems += asked_problems(exercise, pool[0])
    problems += unlike_problems(exercise)
    if dear := {p.misconception: p.fatal for p in proof.prices if p.fatal and p.share > DEAREST}:
        told = ", ".join(f"`{name}` ({reason})" for name, reason in dear.items())
        proof.notes.append(f"mistakes that leave nothing: {told}")
    prices, paid_twice = part_prices(exercise, pool[0])
    proof.prices.extend(prices)
    problems += paid_twice
    for part in exercise.parts:
        if part.manual:
            problems += sample_problems(exercise, part, pool[0])
            continue
        drawn = bool(needed(exercise, part) & pool[0].keys())
        problems += part_problems(exercise, part, pool if drawn else pool[:1])
        proof.twins.extend(part_twins(exercise, part, pool if drawn else pool[:1]))
    problems += helping_problems(exercise, course, pool)
    for distance in proof.distances:
        (problems if distance.narrow else proof.notes).append(str(distance))
    problems += [str(hidden) for hidden in proof.hidden if hidden.released]
    problems += [str(twins) for twins in proof.twins if twins.always]
    proof.notes.extend(str(twins) for twins in proof.twins if not twins.always)
    if left := [hidden for hidden in proof.hidden if hidden.draws]:
        counts = ", ".join(f"`{hidden.misconception}` {hidden.draws}" for hidden in left)
        proof.notes.append(f"draws left out, because a mistake gave the right answer: {counts}")


def _hidden(exercise: Exercise, drawn: Draws) -> list[Hidden]:
    """Return which misconceptions were hidden by a draw, or are by a variant of the release."""
    released: dict[str, list[int]] = {}
    for index, variant in enumerate(drawn.pool):
        for name in hidden_mistakes(exercise, variant):
            released.setdefault(name, []).append(index)
    return [
        Hidden(name, drawn.hidden.get(name, 0), released.get(name, []), len(drawn.pool))
        for name in {**drawn.hidden, **released}
    ]


def _stub_earns(
    assignment: Assignment, exercise: Exercise, variant: Mapping[str, Any]
) -> list[str]:
    """Run the stub as it is released: it must define every name and earn nothing."""
    own = [c for c in assignment.cells if c.exercise == exercise.id and not c.part]
    stub = "\n".join(cell.source for cell in own if cell.kind == "code")
    names: dict[str, Any] = {carried.name: carried.solution for carried in exercise.carried}
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(stub, f"<stub of {exercise.id}>", "exec"), names)
    except Exception as error:  # the author's code
        return [f"the stub does not run: {type(error).__name__}: {error}"]
    answers = [part.name for part in exercise.parts if not part.manual]
    functions = {function.name: function for function in exercise.functions}
    wanted = [*answers, *functions]
    problems = [f"the stub does not define `{name}`" for name in wanted if name not in names]
    if problems:
        return problems
    items = grade_parts(exercise, variant, names.get)
    for name, function in functions.items():
        items += grade_checks(function, names[name])
    return [f"the stub earns {i.score:g} for {i.name}" for i in items if i.score]
