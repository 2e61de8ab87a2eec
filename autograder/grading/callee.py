"""What checks call: a submission's function, the reference, an alternative or a misconception."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from autograder.exercise.checks.gpu_checks import Timing
from autograder.grading.runs import Run
from autograder.sandbox import Reply
from autograder.sandbox.wire.requests import Call, Request

Function = Callable[..., Any]


class Callee(ABC):
    """A function or class that can be asked for more than what it returns.

    Attributes
    ----------
    isolated
        Is it a submission's, in a process of its own? Then its word about itself is not enough,
        and its time and memory can be read from outside.
    has_gpu
        Can it be called on a GPU?
    kind
        The class of what the reference makes, where that is known.
    """

    isolated: bool = False
    has_gpu: bool = False
    kind: type | None = None

    @abstractmethod
    def ask(self, request: Request) -> Reply:
        """Do what is asked.

        Raises
        ------
        StudentError
            If the function raises an exception, or gives no data in time.
        """

    def answers(self, calls: Sequence[Call]) -> Sequence[Reply]:
        """Return what comes of the first of some calls, as far as one message tells."""
        return ()

    def begin(self) -> None:  # noqa: B027 - most remember nothing
        """Be told that a check begins, which may ask what others have asked."""

    @abstractmethod
    def once(self, args: object, kwargs: object) -> Run:
        """Call something expensive, unless it is known what comes."""

    @property
    def hurried(self) -> bool:
        """Has the notebook less time left than a call may take?"""
        return False

    @property
    def unwritten(self) -> bool:
        """Is it not there, or as it was handed out? Then nothing follows from what was earlier."""
        return False

    def own(self, solution: Function) -> Callee | None:
        """Return an earlier function of the student's by its reference, if there is a student."""
        return None

    def on_ours(self) -> Callee | None:
        """Return the same on top of our functions in place of the student's earlier ones.

        None where it has no student, or builds on nothing.
        """
        return None

    def reference_seconds(self, args: object, kwargs: object) -> tuple[Any, float | None]:
        """Call the reference and read its time; only a submission is compared with it."""
        return None, None

    def on_gpu(
        self, shape: tuple[int, ...], dtype: str, rows: object, *, sdpa: bool
    ) -> Timing | None:
        """Time calls on the GPU, or those of torch's own function."""
        raise NotImplementedError("only a submission is timed on a GPU")

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Call it for what it returns."""
        return self.ask(Call(args, kwargs)).value
