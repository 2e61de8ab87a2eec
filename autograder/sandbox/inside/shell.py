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
from IPython.core.formatters import DisplayFormatter
from IPython.core.history import HistoryManager
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.text import SList
from traitlets import Type
from traitlets.config import Config

from autograder.sandbox.inside.capture import Output
from autograder.sandbox.inside.health import may_damage

_SCRIPTS = ("bash", "cmd", "perl", "ruby", "script", "sh", "system", "sx")
_PACKAGES = ("conda", "mamba", "micromamba", "pip", "uv")
_SHOWN = ["text/plain", "image/png"]
_SNAPSHOT = 0.9  # of a cell's time, after which its outputs so far are sent, again and again


class _Compiler(CachingCompiler):  # type: ignore[misc]
    """Names cells as the rest of this project does, and parses each once."""

    _ahead: tuple[str, int, ast.AST] | None = None

    def parse_ahead(self, source: str) -> ast.AST:
        """Parse what is about to be run."""
        tree: ast.AST = super().ast_parse(source)
        self._ahead = (source, self.flags, tree)
        return tree

    def ast_parse(self, source: str, filename: str = "<unknown>", symbol: str = "exec") -> ast.AST:
        ahead, self._ahead = self._ahead, None
        if ahead is not None and ahead[:2] == (source, self.flags) and symbol == "exec":
            return ahead[2]
        tree: ast.AST = super().ast_parse(source, filename, symbol)
        return tree

    def get_code_name(self, raw_code: str, transformed_code: str, number: int) -> str:
        return f"<cell {number}>"


class _Publisher(DisplayPublisher):  # type: ignore[misc]
    """Takes what ``display`` shows."""

    def publish(
        self,
        data: object,
        metadata: object = None,
        *,
        transient: Any = None,
        update: bool = False,
        **_: object,
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

    def write_format_data(self, format_dict: object, md_dict: object = None) -> None:
        self.shell.output.display("execute_result", format_dict)

    def log_output(self, format_dict: object) -> None:
        pass  # IPython would keep every result's text for its history


class _Formatter(DisplayFormatter):  # type: ignore[misc]
    """Makes text and PNG images of objects, and nothing of what nobody will see."""

    def format(self, obj: object, include: object = None, exclude: object = None) -> Any:
        if not self.parent.output.has_room:
            return {}, {}
        return super().format(obj, include or _SHOWN, exclude)


class _History(HistoryManager):  # type: ignore[misc]
    """Remembers the last inputs without telling observers, of which there are none."""

    _i00 = _i = _ii = _iii = ""


class Shell(InteractiveShell):  # type: ignore[misc]
    """Runs cells and collects what they show. A zygote makes it once; forks inherit it.

    Attributes
    ----------
    damaging
        Was there code in a cell that may damage Python itself?
    """

    displayhook_class = Type(_Hook)
    display_pub_class = Type(_Publisher)
    compiler_class = Type(_Compiler)
    damaging = False

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
        self.display_formatter.active_types = _SHOWN
        for name in _SCRIPTS:
            self.register_magic_function(_skipped(self, name), "line_cell", name)
        for name in _PACKAGES:
            self.register_magic_function(_skipped(self, name), "line", name)

    def forget(self) -> None:
        """Be as before the first cell."""
        self.reset()
        self.damaging = False
        history = self.history_manager
        for inputs in (history.input_hist_parsed, history.input_hist_raw):
            inputs[:] = [""]
        history._i00 = history._i = history._ii = history._iii = ""

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
            Shortly before they are over, the outputs so far are reported; on a busy machine they
            last longer, and it is done again.
        report : callable
            Sends them to the grader.
        """
        self.output.begin(limit)
        if pyplot := sys.modules.get("matplotlib.pyplot"):
            pyplot.close("all")  # what a checked function drew is not this cell's

        def snapshot(*_: object) -> None:
            report(self.output.so_far())

        signal.signal(signal.SIGALRM, snapshot)
        signal.setitimer(signal.ITIMER_REAL, _SNAPSHOT * seconds, _SNAPSHOT * seconds)
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

    async def run_code(
        self, code_obj: types.CodeType, result: object = None, *, async_: bool = False
    ) -> bool:
        """Look at code before it runs, so that what it can't do need not be looked for."""
        self.damaging = self.damaging or may_damage(code_obj)
        failed: bool = await super().run_code(code_obj, result, async_=async_)
        return failed

    def transform_cell(self, raw_cell: str) -> str:
        """Turn magics into Python; in a cell that is Python there are none.

        One line alone may be both: ``pwd`` is an expression, and a magic without its sign.
        """
        try:
            tree = self.compile.parse_ahead(raw_cell)
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            pass
        else:
            if "\n" in raw_cell.strip() or not any(isinstance(s, ast.Expr) for s in tree.body):
                return raw_cell
        transformed: str = super().transform_cell(raw_cell)
        return transformed

    def should_run_async(
        self, raw_cell: str, *, transformed_cell: Any = None, preprocessing_exc_tuple: object = None
    ) -> bool:
        """Look for top-level ``await`` only where the word occurs: else IPython compiles it all."""
        source = transformed_cell or ""
        return ("await" in source or "async" in source) and super().should_run_async(
            raw_cell,
            transformed_cell=transformed_cell,
            preprocessing_exc_tuple=preprocessing_exc_tuple,
        )

    def showtraceback(self, exc_tuple: Any = None, *_: object, **__: object) -> None:
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

    def enable_gui(self, gui: object = None) -> None:
        """Do nothing: there is no screen."""

    def init_history(self) -> None:
        """Keep the inputs of this session alone."""
        self.history_manager = _History(shell=self, parent=self)
        self.configurables.append(self.history_manager)

    def init_display_formatter(self) -> None:
        """Format as `_Formatter` does."""
        self.display_formatter = _Formatter(parent=self)
        self.configurables.append(self.display_formatter)

    def init_virtualenv(self) -> None:
        """Do nothing: the grader chooses what can be imported."""

    def _format_exception_for_storage(self, *_: object, **__: object) -> dict[str, Any]:
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
