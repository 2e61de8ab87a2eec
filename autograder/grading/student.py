"""A submission's function as checks call it."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from autograder.exercise.checks.gpu_checks import Timing
from autograder.exercise.words.given import portable
from autograder.exercise.words.part import Function
from autograder.grading.callee import Callee
from autograder.grading.gpu import Gpu
from autograder.grading.local import Local
from autograder.grading.own import Earlier
from autograder.grading.phases import Calls, Functions
from autograder.grading.proxies import kind_of
from autograder.grading.runs import Run
from autograder.grading.yardstick import Yardstick
from autograder.sandbox import Reply, StudentError
from autograder.sandbox.wire.requests import Call, CallEach, Drop, Request

_TOGETHER_SECONDS = 0.1  # after these, calls are asked for one by one
_DROPPED = 16  # objects that nobody needs any more are forgotten together


class StudentCall(Callee):
    """The student's function, in the submission's process."""

    isolated = True

    def __init__(
        self,
        calls: Functions,
        solution: Function,
        yardstick: Yardstick | None = None,
        gpu: Gpu | None = None,
        earlier: Earlier | None = None,
        lost: StudentError | None = None,
    ) -> None:
        self._calls, self._name, self._earlier = calls, solution.__name__, earlier
        self._solution, self._yardstick = solution, yardstick
        self._gpu, self.has_gpu = gpu, gpu is not None
        self._on_gpu: Calls | None = None
        self._dropped: list[int] = []
        self._lost = lost  # why there is none, whatever stands under the name
        self.kind = kind_of(solution)

    def __enter__(self) -> StudentCall:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._on_gpu is not None:
            self._on_gpu.__exit__(*exception)

    def ask(self, request: Request) -> Reply:
        """Ask the submission's process."""
        if isinstance(request, Drop):
            self._dropped += request.keys
            if len(self._dropped) < _DROPPED:
                return Reply()
            request, self._dropped = Drop(self._dropped), []
            with contextlib.suppress(StudentError):  # the process may be gone, and they with it
                return self._calls.ask(self._name, request)
            return Reply()
        if self._lost:
            raise self._lost
        return self._calls.ask(self._name, request)

    def answers(self, calls: Sequence[Call]) -> Sequence[Reply]:
        """Ask the submission's process in one message.

        What isn't told then, is told of the calls by themselves: an exception, a warning, an
        argument that was changed, what is handed over besides data.
        """
        if self._lost or any(call.kwargs or portable(call.args, {})["given"] for call in calls):
            return ()
        try:
            together = CallEach([call.args for call in calls], _TOGETHER_SECONDS)
            reply = self._calls.ask(self._name, together)
        except StudentError as error:
            if error.kind in ("exception", "unsendable"):
                return ()
            raise
        came = reply.value if isinstance(reply.value, list) and not reply.modified else ()
        return [*map(Reply, came)] if len(came) <= len(calls) else ()

    def once(self, args: Any, kwargs: Any) -> Run:
        """Call something expensive, unless it is known what comes."""
        if self._lost:
            raise self._lost
        return self._calls.once(self._name, args, kwargs)

    @property
    def hurried(self) -> bool:
        """Has the notebook less time left than a call may take?"""
        return self._calls.hurried

    @cached_property
    def unwritten(self) -> bool:
        """Is it not there, or as it was handed out?"""
        return bool(self._lost or self._calls.lacking([self._name]))

    def own(self, solution: Function) -> StudentCall | None:
        """Return another function of the submission, by its reference, if it has that.

        One of an earlier exercise is what it was where that was graded.
        """
        calls: Functions | None = self._calls
        if self._earlier is not None and solution in self._earlier:
            calls = self._earlier.calls_of(solution.__name__)
        return StudentCall(calls, solution) if calls is not None else None

    def on_ours(self) -> StudentCall | None:
        """Return the same on top of our functions in place of the student's earlier ones."""
        calls = self._earlier.ours() if self._earlier else None
        if calls is None:
            return None
        return StudentCall(calls, self._solution, self._yardstick, self._gpu)

    def reference_seconds(self, args: Any, kwargs: Any) -> tuple[Any, float | None]:
        """Call the reference in a process of its own and read that one's clock."""
        if self._yardstick is None or portable(args, kwargs)["given"]:
            return Local(self._solution)(*args, **kwargs), None
        return self._yardstick.timed(self._solution, *args, **kwargs)

    def on_gpu(
        self, shape: tuple[int, ...], dtype: str, rows: object, *, sdpa: bool
    ) -> Timing | None:
        """Time calls on the GPU, or those of torch's own function."""
        assert self._gpu
        if sdpa:
            return self._gpu.sdpa(shape, dtype, rows)
        if self._on_gpu is None:
            self._on_gpu = self._gpu.beside(self._calls)
        return self._gpu.submitted(self._on_gpu, self._name, shape, dtype, rows)
