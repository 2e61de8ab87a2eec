"""Count the bytecodes of a student's own code: they grow with n where, and only where, it loops."""

import inspect
import sys
import threading
from collections.abc import Callable
from typing import Any

_CELLS = "<cell "  # what the files of a notebook's cells are called
_DIGIT = 256  # Python keeps the integers up to here: to count with them allocates nothing


class Steps:
    """Counts bytecodes while it is entered, in all threads."""

    def __init__(self, function: Callable[..., Any]) -> None:
        code = getattr(inspect.unwrap(function), "__code__", None)
        self._home = code.co_filename if code else _CELLS
        self._low = self._high = 0
        # A function of its own, not a method, which would be bound anew at every bytecode.
        self._step = self._counter()

    @property
    def count(self) -> int:
        """Bytecodes until now."""
        return _DIGIT * self._high + self._low

    def __enter__(self) -> None:
        self._usual = sys.gettrace()
        sys._getframe().f_trace_opcodes = True  # before settrace: else Python 3.12 counts none
        threading.settrace(self._frame)
        sys.settrace(self._frame)

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._usual)
        threading.settrace(None)

    def _frame(self, frame: Any, _event: str, _argument: object) -> Any:
        name = frame.f_code.co_filename
        if name != self._home and not name.startswith(_CELLS):
            return None
        frame.f_trace = self._step  # before the next line: else Python 3.13 counts none
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        return self._step

    def _counter(self) -> Callable[[Any, str, Any], Any]:
        def step(_frame: object, event: str, _argument: object) -> Any:
            if event == "opcode":
                self._low += 1
                if self._low == _DIGIT:
                    self._low, self._high = 0, self._high + 1
            return step

        return step
