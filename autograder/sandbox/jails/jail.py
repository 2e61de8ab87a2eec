"""What a way to hold student code back has to do, and the ways that there are, by tier.

Three processes take part. The grader asks for a command line; that starts the zygote, which settles
once it has imported everything; and each worker that it forks confines itself. A way for another
system is a class with these attributes and methods, in `JAILS`; `isolation.probe` takes the
first of them whose attempts all succeed.
"""

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

from autograder.sandbox.jails import (
    bubblewrap,
    confinement,
    control,
    kernel,
    namespaces,
    root,
    trials,
)


@dataclass(frozen=True)
class Allowed:
    """What a worker may use: MiB of memory and of scratch space, and seconds of processor time."""

    memory_mb: int
    scratch_mb: int
    cpu_seconds: float


class Jail(Protocol):
    """A way to hold student code back.

    Attributes
    ----------
    meaning
        What student code can do, in a sentence.
    isolates
        Whether anything holds it back.
    wrapper
        The program that `command` starts, if that is not Python itself.
    shows
        What that program leaves of the machine, in words for `autograder doctor`.
    attempts
        What must work in a process that it starts, by name; each says what came of it, or raises.
    """

    meaning: ClassVar[str]
    isolates: ClassVar[bool]
    wrapper: ClassVar[str]
    shows: ClassVar[str]
    attempts: ClassVar[Mapping[str, Callable[[], str]]]

    def command(self, module: str, *arguments: str, data: str) -> list[str]:
        """Return a command line that calls ``main`` of one of our modules inside.

        ``data`` is a folder that can be read there, or nothing.
        """

    def inside(self, data: str) -> str:
        """Return where that folder is inside."""

    def settle(self, allowed: Allowed, data: str) -> None:
        """Give up, in the zygote, what no worker needs, and prepare what is the same for all.

        Raises
        ------
        OSError
            If the machine refuses it; then no student code may run here.
        """

    def fork(self) -> int:
        """Fork a worker, like `os.fork`."""

    def confine(self, zygote: int) -> None:
        """Hold this process, a worker, back for good; it ends with the process ``zygote``.

        Raises
        ------
        OSError
            If the kernel refuses any of it; then no student code may run here.
        """


class Trusting:
    """Tier C: nothing but that a worker is not root, and ends with its zygote."""

    meaning: ClassVar[str] = (
        "nothing holds student code back: grading refuses, unless you --trust-students"
    )
    isolates: ClassVar[bool] = False
    wrapper: ClassVar[str] = ""
    shows: ClassVar[str] = ""
    attempts: ClassVar[Mapping[str, Callable[[], str]]] = {}

    def command(self, module: str, *arguments: str, data: str) -> list[str]:  # noqa: ARG002
        """Return a plain command: ``data`` is where it is."""
        return control.command(module, *arguments)

    def inside(self, data: str) -> str:
        """Return the folder itself."""
        return data

    def settle(self, allowed: Allowed, data: str) -> None:  # noqa: ARG002
        """Give up root's rights."""
        root.drop_root([*confinement.python_paths(), *filter(None, [data])])
        if sys.platform == "linux":
            confinement.adopt_orphans()
            confinement.hide_memory()

    def fork(self) -> int:
        """Fork."""
        return os.fork()

    def confine(self, zygote: int) -> None:
        """End with the zygote."""
        if sys.platform == "linux":
            confinement.die_with(zygote)


class Walled(Trusting):
    """Tier B: below Landlock, the system call filter and confinement."""

    meaning = "student code reads Python alone, and writes nothing"
    isolates = True
    attempts: ClassVar[Mapping[str, Callable[[], str]]] = {
        "user": trials.give_up_root,
        "Landlock": trials.restrict_reading,
        "seccomp": trials.filter_calls,
    }
    _nested = False  # has a worker namespaces of its own?
    _confinement: confinement.Confinement

    def settle(self, allowed: Allowed, data: str) -> None:
        """Make rules and filter, and give up all that bubblewrap may have left."""
        super().settle(allowed, data)
        self._confinement = confinement.prepare(
            allowed.memory_mb,
            allowed.cpu_seconds,
            allowed.scratch_mb,
            nested=self._nested,
            data=data,
        )
        if not self._nested:
            kernel.drop_capabilities()

    def confine(self, zygote: int) -> None:
        """Set them up, irrevocably."""
        if not self._nested:  # else it ends with its namespaces, and sees no parent
            super().confine(zygote)
        confinement.confine(self._confinement)


class Wrapped(Walled):
    """Tier A-: the same, in bubblewrap's view of the machine."""

    meaning = "student code sees Python alone, and writes nothing"
    wrapper = "bubblewrap"
    shows = "shows Python and nothing else"
    attempts: ClassVar[Mapping[str, Callable[[], str]]] = {
        "Landlock": trials.restrict_reading,
        "seccomp": trials.filter_calls,
    }

    def command(self, module: str, *arguments: str, data: str) -> list[str]:
        """Return a command of bubblewrap's."""
        return bubblewrap.command(module, *arguments, data=data)

    def inside(self, data: str) -> str:
        """Return where bubblewrap shows the folder."""
        return confinement.DATA if data else ""


class Alone(Wrapped):
    """Tier A: the same, with namespaces and a scratch folder for each worker."""

    meaning = "student code is alone in a world of its own, with a scratch folder"
    attempts: ClassVar[Mapping[str, Callable[[], str]]] = {
        "namespaces": trials.enter_namespaces,
        **Wrapped.attempts,
    }
    _nested = True

    def fork(self) -> int:
        """Fork the first process of a namespace."""
        return namespaces.fork()


#: From the strongest tier to the weakest.
JAILS: dict[str, type[Jail]] = {"A": Alone, "A-": Wrapped, "B": Walled, "C": Trusting}
