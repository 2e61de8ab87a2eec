"""The student's own functions, as what builds on them calls them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from autograder.exercise.cache import Unfamiliar, Values
from autograder.exercise.words.arguments import as_argument
from autograder.exercise.words.carried_source import all_carried, source_of_carried
from autograder.exercise.words.checked import Carried
from autograder.grading.callee import Callee
from autograder.grading.excuses import remembering
from autograder.grading.interview import Interview
from autograder.grading.local import Local
from autograder.grading.phases import Calls, Functions
from autograder.grading.runs import Run
from autograder.grading.substance import Asked, heedless, heedless_objects
from autograder.sandbox import Reply, StudentError
from autograder.sandbox.wire.requests import Call

Function = Callable[..., Any]
Ask = Callable[[Any], Reply]  #: asks something of a function of the notebook
Right = Callable[[str, str], bool]  #: whether an exercise's function of that name is right

_SEEN = 4


class OwnFunction:
    """A function of a notebook, as parts that are computed with it call it.

    What it returns is remembered, and one that hangs does so once.
    """

    def __init__(self, ask: Ask) -> None:
        self._ask = _once_lost(ask)
        self._known: dict[Any, Any] = {}
        self._asked: list[Asked] = []  # its first calls, each with what it returned

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Call in the submission's process."""
        try:
            key = Values((args, kwargs)).key
        except Unfamiliar:
            return self._called(args, kwargs)
        if key not in self._known:
            self._known[key] = self._called(args, kwargs)
        return self._known[key]

    def _called(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        value = self._ask(Call(args, kwargs)).value
        if len(self._asked) < _SEEN:
            self._asked.append((args, kwargs, value))
        return value

    def heedless(self, reference: Function) -> bool:
        """Tell whether it returns the same whatever it is given."""
        return heedless(self, as_argument(reference), self._asked)


class OwnClass(Callee):
    """A class of a notebook, as parts that are computed with it make objects of it."""

    def __init__(self, kind: type, ask: Ask) -> None:
        self.kind = kind
        self._ask = _once_lost(ask)
        self._made: list[Interview] = []

    def ask(self, request: Any) -> Reply:
        """Ask the submission's process."""
        return self._ask(request)

    def once(self, args: object, kwargs: object) -> Run:
        """Refuse what only checks do."""
        raise NotImplementedError("parts train nothing")

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Make an object there."""
        self._made = [*self._made[1 - _SEEN :], Interview(self)]
        return self._made[-1].make(*args, **kwargs)

    def heedless(self, reference: Function) -> bool:
        """Tell whether its objects answer the same whatever they are made from and given."""
        return any(heedless_objects(self, Local(reference), each.calls) for each in self._made)


def own_function(solution: Function, ask: Ask, *, right: bool = False) -> Function:
    """Return a function or class of a notebook by its reference, and how it is asked.

    One that is ``right``, as its reference, is not asked: what that answers may be known.
    """
    if isinstance(solution, type):
        return OwnClass(solution, ask)
    return remembering(as_argument(solution)) if right else OwnFunction(ask)


def _once_lost(ask: Ask) -> Ask:
    """Ask no more once it has hung, or isn't there."""
    lost: list[StudentError] = []

    def asked(request: Any) -> Reply:
        if lost:
            raise lost[0]
        try:
            return ask(request)
        except StudentError as error:
            if error.kind in ("timeout", "missing", "left_over"):
                lost.append(error)
            raise

    return asked


@dataclass(frozen=True)
class Places:
    """Before which cells the functions of exercises count.

    Attributes
    ----------
    checks
        The numbers of check cells by exercise.
    first
        Of exercises of earlier notebooks: the first cell that builds on them.
    """

    checks: Mapping[str, int] = field(default_factory=dict)
    first: Mapping[str, int] = field(default_factory=dict)

    def of(self, exercise: str, number: int) -> list[int]:
        """Return where its functions are looked for, by what has its check cell at ``number``."""
        if exercise in self.checks:
            return [self.checks[exercise]]
        return [*filter(None, [self.first.get(exercise)]), number]

    def wanted(self, carried: Mapping[int, Iterable[Carried]]) -> dict[int, set[str]]:
        """Return the names of what is looked for first before each cell.

        ``carried`` is what exercises carry, by the numbers of their check cells.
        """
        found: dict[int, set[str]] = {}
        for number, each in carried.items():
            for one in each:
                place, *_ = self.of(one.exercise, number)
                found.setdefault(place, set()).add(one.name)
        return found


class Earlier:
    """What an exercise builds on, as the notebook has it where that was graded itself.

    Nobody gains by defining it anew behind that.  What the notebook lacks there, the reference is
    taken for.

    Parameters
    ----------
    number
        That of the check cell of what builds on it.
    right
        Tells of an exercise's function, by its name, whether it is as its reference.
    calling
        Is anything called that builds on it? That must not know what earlier functions are asked.
    """

    def __init__(
        self,
        calls: Calls,
        carried: Iterable[Carried],
        places: Places,
        number: int,
        right: Right = lambda *_: False,
        *,
        calling: bool = True,
    ) -> None:
        self._calls, self._carried = calls, tuple(carried)
        self._before = calls.before if calling else calls.back_at
        self._places, self._number, self._right = places, number, right
        self._found: dict[str, Functions | None] = {}

    def functions(self) -> dict[str, Function]:
        """Return all of it by name, unless nothing in it can differ from the references.

        What is as its reference is not asked: the reference's values are known from other students.
        """
        if all(self._right(one.exercise, one.name) for one in self._carried):
            return {}
        return {
            one.name: own_function(
                one.solution, self._asking(one), right=self._right(one.exercise, one.name)
            )
            for one in self._carried
        }

    def __contains__(self, solution: object) -> bool:
        return any(one.solution is solution for one in self._carried)

    def calls_of(self, name: str) -> Functions | None:
        """Return calls of a function as it counts; None if the notebook lacks it."""
        if name not in self._found:
            [one] = (one for one in self._carried if one.name == name)
            self._found[name] = self._calls_of(one)
        return self._found[name]

    def ours(self) -> Functions | None:
        """Return calls of what builds on it, where the references are what it builds on."""
        if not self._carried:
            return None
        calls = self._calls.before(
            self._number, {one.name: source_of_carried([one]) for one in self._carried}
        )
        supplied(calls, self._carried)
        return calls

    def _calls_of(self, one: Carried) -> Functions | None:
        for place in self._places.of(one.exercise, self._number):
            calls = self._before(place)
            if not calls.lacking([one.name]):
                supplied(calls, one.below)
                return calls
        return None

    def _asking(self, one: Carried) -> Ask:
        def ask(request: Any) -> Reply:
            calls = self.calls_of(one.name)
            if calls is None:
                raise StudentError("missing", f"`{one.name}` is not defined")
            return calls.ask(one.name, request)

        return ask


def supplied(calls: Functions, carried: Iterable[Carried]) -> None:
    """Let calls find our own functions where the notebook lacks them."""
    each = {one.name: one for one in all_carried(carried)}
    lacking = calls.lacking(each) if each else []
    calls.supply({name: source_of_carried([each[name]]) for name in lacking})
