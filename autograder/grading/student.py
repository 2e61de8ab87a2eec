"""A submission's function as checks call it."""

from __future__ import annotations

import contextlib
from typing import Any

from autograder.exercise.given import portable
from autograder.exercise.gpu import Timing
from autograder.exercise.part import Function
from autograder.grading.gpu import Gpu
from autograder.grading.local import Local
from autograder.grading.objects import kind_of
from autograder.grading.runner import Runner
from autograder.grading.runs import Run
from autograder.grading.yardstick import Yardstick
from autograder.sandbox import StudentError


class StudentCall:
    """The student's function as checks call it."""

    def __init__(
        self,
        runner: Runner,
        solution: Function,
        yardstick: Yardstick | None = None,
        gpu: Gpu | None = None,
    ) -> None:
        self._runner, self._name = runner, solution.__name__
        self._solution, self._yardstick = solution, yardstick
        self._gpu = gpu
        self._on_gpu: Runner | None = None

    def __enter__(self) -> StudentCall:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._on_gpu is not None:
            self._on_gpu.__exit__(*exception)

    @property
    def has_gpu(self) -> bool:
        """Can it be called on a GPU?"""
        return self._gpu is not None

    def on_gpu(
        self, shape: tuple[int, ...], dtype: str, rows: Any, *, sdpa: bool = False
    ) -> Timing | None:
        """Time calls on the GPU, or those of torch's own attention."""
        assert self._gpu
        if sdpa:
            return self._gpu.sdpa(shape, dtype, rows)
        if self._on_gpu is None:
            self._on_gpu = self._gpu.beside(self._runner)
        return self._gpu.submitted(self._on_gpu, self._name, shape, dtype, rows)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call in the submission's process."""
        return self._runner.call(self._name, *args, **kwargs)

    def once(self, *args: Any, **kwargs: Any) -> Run:
        """Call something expensive, unless it is known what comes."""
        return self._runner.once(self._name, *args, **kwargs)

    @property
    def hurried(self) -> bool:
        """Has the notebook less time left than a call may take?"""
        return self._runner.hurried

    def own(self, solution: Function) -> StudentCall:
        """Return another function of the submission, by its reference."""
        return StudentCall(self._runner, solution)

    @property
    def kind(self) -> type | None:
        """The class of what the reference makes, where that is known."""
        return kind_of(self._solution)

    def make(self, key: int, args: Any, kwargs: Any) -> None:
        """Call it, and keep the object that comes in the submission's process."""
        self._runner.use("make", self._name, name=self._name, object=key, args=args, kwargs=kwargs)

    def method(self, key: int, name: str, args: Any, kwargs: Any) -> Any:
        """Call a method of an object."""
        return self._method(key, name, args, kwargs)["value"]

    def measured(self, key: int, name: str, args: Any, kwargs: Any) -> tuple[Any, dict[str, Any]]:
        """Have the worker count the work of a method on a copy of the object."""
        reply = self._method(key, name, args, kwargs, metered=True)
        return reply["value"], reply["work"]

    def _method(
        self, key: int, name: str, args: Any, kwargs: Any, *, metered: bool = False
    ) -> dict[str, Any]:
        said = self._name if name == "__call__" else f"{self._name}.{name}"
        request = {"name": name, "object": key, "args": args, "kwargs": kwargs}
        return self._runner.use("method", said, metered=metered, **request)

    def gradients(self, key: int | None, args: Any, kwargs: Any) -> Any:
        """Differentiate the function itself, or an object, in the submission's process."""
        request = {"name": self._name, "object": key, "args": args, "kwargs": kwargs}
        return self._runner.use("gradients", self._name, **request)["value"]

    def get(self, key: int, name: str) -> Any:
        """Return what an attribute holds."""
        said = f"{self._name}.{name}"
        return self._runner.use("get", said, name=name, object=key)["value"]

    def set(self, key: int, name: str, value: Any) -> None:
        """Give an attribute a value."""
        request = {"name": name, "object": key, "args": (value,), "kwargs": {}}
        self._runner.use("set", f"{self._name}.{name}", **request)

    def is_method(self, key: int, name: str) -> bool:
        """Say whether an attribute is something to call."""
        said = f"{self._name}.{name}"
        return self._runner.use("is_method", said, name=name, object=key)["value"] is True

    def seed(self, number: int) -> None:
        """Seed the generators that all code of the process has in common."""
        self._runner.use("seed", "the notebook", seed=number)

    def drop(self, keys: list[int]) -> None:
        """Forget objects, if their process is still there."""
        with contextlib.suppress(StudentError):
            self._runner.use("drop", "the notebook", objects=keys)

    def metered(self, *args: Any, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        """Call and have the worker count the work."""
        return self._runner.metered(self._name, *args, **kwargs)

    def outlined(self, *shapes: tuple[int, ...], dtype: str) -> dict[str, Any]:
        """Have the worker count the work of a call with tensors without numbers."""
        return self._runner.outlined(self._name, *shapes, dtype=dtype)

    def timed(self, *args: Any, **kwargs: Any) -> tuple[Any, float | None]:
        """Call and read the worker's clock."""
        return self._runner.timed(self._name, *args, **kwargs)

    def watched(self, *args: Any, **kwargs: Any) -> tuple[Any, float | None]:
        """Call and look at the worker's memory meanwhile."""
        return self._runner.watched(self._name, *args, **kwargs)

    def reference_timed(self, *args: Any, **kwargs: Any) -> tuple[Any, float | None]:
        """Call the reference in a process of its own and read that one's clock."""
        if self._yardstick is None or portable(args, kwargs)["given"]:
            return Local(self._solution)(*args, **kwargs), None
        return self._yardstick.timed(self._solution, *args, **kwargs)

    @property
    def modified(self) -> bool:
        """Did the last call, as its process says, change one of its arguments in place?"""
        return self._runner.modified

    def leaves_alone(self, *args: Any, **kwargs: Any) -> bool:
        """Call and look at the arguments, out of reach of the submission."""
        return self._runner.leaves_alone(self._name, *args, **kwargs)

    @property
    def warnings(self) -> tuple[str, ...]:
        """The kinds of warnings that the last call gave."""
        return self._runner.warnings
