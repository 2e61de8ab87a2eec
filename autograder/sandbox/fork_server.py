"""The grader's side of a zygote: the warm process that forks sessions.

::

    with Zygote() as zygote, zygote.session() as session:
        session.execute("def double(x): return 2 * x")
        session.call("double", 21)
"""

import contextlib
import itertools
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

from autograder.sandbox import affinity
from autograder.sandbox.allowance import Observed
from autograder.sandbox.channel import Channel
from autograder.sandbox.isolation import Isolation, SandboxError, probe
from autograder.sandbox.jails import control
from autograder.sandbox.jails.jail import JAILS, Allowed
from autograder.sandbox.replies import CONTROL_SECONDS, Limits
from autograder.sandbox.session import Session
from autograder.sandbox.shared_memory import Lent
from autograder.sandbox.wire.orders import (
    Beginning,
    ForkWorker,
    Order,
    ReadClocks,
    Reading,
    ReapWorker,
    to_json,
)

#: What torch imports when an optimiser, a checkpoint or `torch.func` is used first. It takes as
#: long as torch itself, and replaces `torch.manual_seed`, as if the cell had done so.
COMPILER = "torch._dynamo"

_IMPORT_SECONDS = 120.0


class Zygote:
    """A warm Python process from which sessions are forked.

    Use it as a context manager, and from one thread. The process imports while the caller goes on;
    the first session waits for it. Should it be lost, the next session starts another one.

    Parameters
    ----------
    modules
        Names of the modules to import beforehand.
    also
        More of them, each where it is installed.
    isolation : Isolation, optional
        What `probe` found.
    trust : bool
        Accept isolation tier C: student code can do whatever the user can who runs the grader.
    limits : Limits
        What each session may use.
    data : mapping of str to bytes, optional
        Files that student code finds in its folder, by name; nobody can change them.

    Raises
    ------
    SandboxError
        If there is no isolation and no trust.
    """

    def __init__(
        self,
        modules: Iterable[str] = ("numpy",),
        *,
        also: Iterable[str] = (),
        isolation: Isolation | None = None,
        trust: bool = False,
        limits: Limits = Limits(),  # noqa: B008 -- immutable
        data: Mapping[str, bytes] | None = None,
    ) -> None:
        self.isolation = probe() if isolation is None else isolation
        self.limits = limits
        self._modules, self._also = list(modules), list(also)
        self.data = dict(data or {})
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._numbers = itertools.count()
        self._open: set[int] = set()  # sessions
        self._process: subprocess.Popen[bytes] | None = None
        self._ready = False
        self._control: socket.socket | None = None
        if not self.isolation.isolates and not trust:
            raise SandboxError(
                f"this machine cannot isolate student code ({self.isolation.failures()}), "
                "and running it without isolation takes an explicit trust=True"
            )
        self._start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def session(self, numbers: dict[str, dict[str, Any]] | None = None) -> Session:
        """Fork a fresh session.

        Parameters
        ----------
        numbers : dict, optional
            The student's own numbers by exercise and name, for `your_numbers`.

        Raises
        ------
        SandboxError
            If no process can be started, for example because a module is not installed.
        """
        if not self._ready:
            self._wait()
        try:
            return self._session(numbers or {})
        except SandboxError:
            if self._process is not None and self._process.poll() is None:
                raise
        self.close()  # the zygote is lost
        self._wait()
        return self._session(numbers or {})

    def _session(self, numbers: dict[str, dict[str, Any]]) -> Session:
        number = next(self._numbers)
        ours, theirs = socket.socketpair()
        lent = Lent.where_possible()
        cpu = affinity.begin()
        self._open.add(number)
        try:
            with theirs:  # held by the worker alone, whose end is noticed by that
                self._fork(number, [theirs.fileno(), *([lent.descriptor] if lent else ())], cpu)
            return Session(self, number, Channel(ours), numbers, lent)
        except BaseException:  # raised again when it is tidied up
            ours.close()
            if lent:
                lent.close()
            self._ended(number)
            raise

    def close(self) -> None:
        """End the process, and with it all of its sessions."""
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._control = self._process = None
        self._ready = False
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None
        for number in list(self._open):
            self._ended(number)

    def _ended(self, number: int) -> None:
        if number in self._open:
            self._open.remove(number)
            affinity.end()

    def reap(self, number: int) -> dict[str, Any]:
        """Kill a session's process and return its exit status and what it used."""
        self._ended(number)
        try:
            return self._command(ReapWorker(number))
        except (OSError, EOFError):  # the zygote is lost; its workers go with it
            self.close()
            return {"status": -signal.SIGKILL, "cpu_seconds": 0.0, "max_rss_mb": 0.0}

    def reading(self, order: Reading) -> float | None:
        """Return what the zygote sees of a session's process, if it can be read."""
        try:
            reading = self._command(order)["reading"]
        except (OSError, EOFError):
            return None
        return None if reading is None else float(reading)

    def spent(self, number: int) -> Observed | None:
        """Return the clocks of a session's process, if they can be read."""
        try:
            spent = self._command(ReadClocks(number))["spent"]
        except (OSError, EOFError):
            return None
        if spent is None:
            return None
        waited = spent["waited"]
        return Observed(spent["cpu"], None if waited is None else dict(waited))

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        self._control = ours
        jail = JAILS[self.isolation.tier]()
        data = self._written()
        module = "autograder.sandbox.inside.zygote", str(theirs.fileno())
        command = jail.command(*module, data=data)
        with theirs:
            self._process = subprocess.Popen(
                command,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=control.environment(),
                cwd="/",
                start_new_session=True,  # an interrupt from the keyboard is the grader's affair
            )
        allowed = Allowed(self.limits.memory_mb, self.limits.scratch_mb, self.limits.cpu_seconds)
        beginning = Beginning(
            self._modules,
            self._also,
            self.isolation.tier,
            asdict(allowed),
            affinity.cpus(),
            jail.inside(data),
        )
        with contextlib.suppress(OSError):  # it is gone: whoever waits for it is told
            control.send(ours, asdict(beginning))

    def _written(self) -> str:
        """Write the files of data into a folder that anybody may read, and return where it is."""
        if not self.data:
            return ""
        self._folder = tempfile.TemporaryDirectory(prefix="autograder-data-")
        folder = Path(self._folder.name)
        for name, content in self.data.items():
            (folder / name).write_bytes(content)
            (folder / name).chmod(0o444)
        folder.chmod(0o555)
        return str(folder)

    def _wait(self) -> None:
        """Wait until the process has imported everything; start another one if it was closed."""
        if self._control is None:
            self._start()
        assert self._control
        try:
            self._control.settimeout(_IMPORT_SECONDS)
            reply = control.receive(self._control)[0]
        except (OSError, EOFError) as error:
            self.close()
            raise SandboxError("the process that runs student code did not start") from error
        if "error" in reply:
            self.close()
            raise SandboxError(reply["error"])
        self._ready = True

    def _command(self, order: Order, *descriptors: int) -> dict[str, Any]:
        if self._control is None:
            raise EOFError
        self._control.settimeout(CONTROL_SECONDS)
        control.send(self._control, to_json(order), descriptors)
        return control.receive(self._control)[0]

    def _fork(self, number: int, descriptors: list[int], cpu: int | None) -> None:
        try:
            reply = self._command(ForkWorker(number, cpu), *descriptors)
        except (OSError, EOFError) as error:
            self.close()
            raise SandboxError(f"the zygote was lost ({error})") from error
        if "error" in reply:
            raise SandboxError(f"no process could be started: {reply['error']}")
