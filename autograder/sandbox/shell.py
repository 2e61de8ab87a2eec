"""IPython in the process of a student's code: cells behave as they do in a notebook.

Magics, ``display``, the result of the last expression, ``_`` and ``Out``, top-level ``await`` and
matplotlib's figures are IPython's own. What would leave the process (``!command``, ``%pip``,
``%%bash``) does nothing and says so. History, configuration files and the readable tracebacks,
which cost more than a typical cell, are off.
"""

import ast
import logging
import signal
import sys
import types
import warnings
from collections.abc import Callable
from typing import Any

from IPython.core.compilerop import CachingCompiler
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.text import SList
from traitlets import Type
from traitlets.config import Config

from autograder.sandbox.capture import Output

_SCRIPTS = ("bash", "cmd", "perl", "ruby", "script", "sh", "system", "sx")
_PACKAGES = ("conda", "mamba", "micromamba", "pip", "uv")
_SNAPSHOT = 0.9  # of a cell's time, after which its outputs so far are sent


class _Compiler(CachingCompiler):  # type: ignore[misc]
    """Names cells as the rest of this project does."""

    def get_code_name(self, raw_code: str, transformed_code: str, number: int) -> str:
        return f"<cell {number}>"


class _Publisher(DisplayPublisher):  # type: ignore[misc]
    """Takes what ``display`` shows."""

    def publish(
        self,
        data: Any,
        metadata: Any = None,
        *,
        transient: Any = None,
        update: bool = False,
        **_: Any,
    ) -> None:
        id = str((transient or {}).get("display_id", ""))
        self.shell.output.display("display_data", data, id=id, update=update)

    def clear_output(self, wait: bool = False) -> None:
        self.shell.output.clear()


class _Hook(DisplayHook):  # type: ignore[misc]
    """Takes the result of a cell."""

    def quiet(self) -> bool:
        # IPython takes the cell apart into tokens to find a last semicolon; few cells have any.
        return ";" in self.shell.history_manager.input_hist_parsed[-1] and super().quiet()

    def write_output_prompt(self) -> None:
        pass

    def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
        self.shell.output.display("execute_result", format_dict)

    def log_output(self, format_dict: Any) -> None:
        pass  # IPython would keep every result's text for its history


class Shell(InteractiveShell):  # type: ignore[misc]
    """Runs cells and collects what they show. A zygote makes it once; forks inherit it."""

    displayhook_class = Type(_Hook)
    display_pub_class = Type(_Publisher)
    compiler_class = Type(_Compiler)

    def __init__(self) -> None:
        config = Config()
        config.HistoryManager.enabled = False
        config.InteractiveShell.colors = "nocolor"
        self.output = Output()
        main = types.ModuleType("__main__")
        main.__dict__["__builtins__"] = __builtins__
        with warnings.catch_warnings():  # about folders that it can't write to and doesn't need
            warnings.simplefilter("ignore")
            super().__init__(config=config, user_module=main)
        logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it can't save its list of fonts
        type(self)._instance = InteractiveShell._instance = self  # what get_ipython() returns
        self.display_formatter.active_types = ["text/plain", "image/png"]
        for name in _SCRIPTS:
            self.register_magic_function(_skipped(self, name), "line_cell", name)
        for name in _PACKAGES:
            self.register_magic_function(_skipped(self, name), "line", name)
        # IPython loads and makes much on demand: once here, instead of in every fork.
        self.run_cell("%%time\n(0,\n1)", silent=True)
        self.display_formatter.format((0, 1))

    def run(
        self, source: str, number: int, limit: int, seconds: float, report: Callable[[Any], None]
    ) -> BaseException | None:
        """Run a cell, and return the exception that ended it.

        Parameters
        ----------
        source : str
            Its text.
        number : int
            Its number, for tracebacks, ``In`` and ``Out``.
        limit : int
            How many bytes of output are kept.
        seconds : float
            Shortly before they are over, the outputs so far are reported.
        report : callable
            Sends them to the grader.
        """
        self.output.begin(limit)
        if pyplot := sys.modules.get("matplotlib.pyplot"):
            pyplot.close("all")  # what a checked function drew is not this cell's

        def snapshot(*_: object) -> None:
            report(self.output.so_far())

        signal.signal(signal.SIGALRM, snapshot)
        signal.setitimer(signal.ITIMER_REAL, _SNAPSHOT * seconds)
        self.execution_count = number
        for inputs in (self.history_manager.input_hist_parsed, self.history_manager.input_hist_raw):
            inputs += [""] * (number - len(inputs))  # cells of text have numbers as well
        try:
            result = self.run_cell(source, store_history=True)
        finally:
            if signal.getsignal(signal.SIGALRM) is snapshot:  # else the student has a use for it
                signal.setitimer(signal.ITIMER_REAL, 0)
        error: BaseException | None = result.error_before_exec or result.error_in_exec
        return error

    def transform_cell(self, raw_cell: str) -> str:
        """Turn magics into Python; in a cell of several lines that is Python there are none."""
        if "\n" in raw_cell.strip():
            try:
                ast.parse(raw_cell)
            except (SyntaxError, ValueError, MemoryError, RecursionError):
                pass
            else:
                return raw_cell
        transformed: str = super().transform_cell(raw_cell)
        return transformed

    def showtraceback(self, exc_tuple: Any = None, *_: Any, **__: Any) -> None:
        """Show an exception as the grader does; IPython's own traceback takes 50 ms."""
        error = exc_tuple[1] if exc_tuple else sys.exc_info()[1]
        if error is not None:
            self.output.error(error)

    showsyntaxerror = showtraceback
    showindentationerror = showtraceback

    def run_line_magic(self, magic_name: str, line: str, _stack_depth: int = 1) -> Any:
        """Run a line magic; one that this machine lacks does nothing."""
        if self.find_line_magic(magic_name) is None and not self._lazy(magic_name):
            return self.skip(f"%{magic_name}", "it is not known here")
        try:
            return super().run_line_magic(magic_name, _once(magic_name, line), _stack_depth + 1)
        except ModuleNotFoundError as error:
            if magic_name not in ("load_ext", "matplotlib"):
                raise
            return self.skip(f"%{magic_name}", f"{error.name} is not installed here")

    def run_cell_magic(self, magic_name: str, line: str, cell: str) -> Any:
        """Run a cell magic."""
        return super().run_cell_magic(magic_name, _once(magic_name, line), cell)

    def system(self, cmd: str) -> None:
        """Do nothing instead of running a program."""
        self.skip(f"!{(cmd.split() or [''])[0]}", "no programs run while grading")

    def getoutput(self, cmd: str, split: bool = True, depth: int = 0) -> Any:
        """Return the output of no program."""
        self.system(cmd)
        return SList() if split else ""

    def ask_exit(self) -> None:
        """Go on: ``exit()`` in a cell does not end the notebook."""
        self.skip("exit", "the notebook is run to its end")

    def enable_gui(self, gui: Any = None) -> None:
        """Do nothing: there is no screen."""

    def init_virtualenv(self) -> None:
        """Do nothing: the grader chooses what can be imported."""

    def _format_exception_for_storage(self, *_: Any, **__: Any) -> dict[str, Any]:
        return {}

    def _lazy(self, name: str) -> bool:
        find = getattr(self, "_find_with_lazy_load", None)
        return find is not None and find("line", name) is not None

    def skip(self, what: str, why: str) -> None:
        """Say in the cell's output that something was not done."""
        self.output.write("stdout", f"({what} was skipped: {why})\n")


def _skipped(shell: Shell, name: str) -> Callable[..., None]:
    def magic(line: str, cell: str | None = None) -> None:
        shell.skip(f"%{name}" if cell is None else f"%%{name}", "no programs run while grading")

    return magic


def _once(magic: str, line: str) -> str:
    # By itself %timeit takes seconds, which would count against the cell's limit.
    return f"-n 1 -r 1 {line}" if magic == "timeit" else line
