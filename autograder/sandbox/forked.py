"""A helper process that goes on from this one, with all that was imported here."""

import contextlib
import importlib
import os
import signal
import socket
import traceback
import warnings

from autograder.sandbox.jails import control


class Forked:
    """Calls ``main`` of one of our modules in a fork; to be ended as a `subprocess.Popen` is.

    Parameters
    ----------
    connection
        The only descriptor that it keeps, handed to ``main`` by its number.
    """

    def __init__(self, module: str, connection: socket.socket) -> None:
        self._status: int | None = None
        with warnings.catch_warnings():  # of threads beside: the one that shows what is going on
            warnings.simplefilter("ignore", DeprecationWarning)
            self._pid = os.fork()
        if self._pid == 0:
            _become(module, connection)

    def poll(self) -> int | None:
        """Return its exit status, if it has ended."""
        if self._status is None:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            self._status = os.waitstatus_to_exitcode(status) if pid else None
        return self._status

    def kill(self) -> None:
        """End it; until it is waited for, the number can't belong to another process."""
        if self._status is None:
            os.kill(self._pid, signal.SIGKILL)

    def wait(self) -> int:
        """Wait until it has ended."""
        if self._status is None:
            self._status = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        return self._status


def _become(module: str, connection: socket.socket) -> None:
    """Leave what is the other process's, and never return."""
    with contextlib.suppress(BaseException):
        try:
            os.setsid()  # an interrupt from the keyboard is the grader's affair
            nothing = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1):
                os.dup2(nothing, stream)
            os.dup2(connection.fileno(), 3)
            os.closerange(4, 1 << 16)
            os.environ.clear()
            os.environ.update(control.environment())
            os.chdir("/")
            importlib.import_module(module).main("3")
        except BaseException:  # it ends with its reason on stderr
            traceback.print_exc()
    os._exit(1)
