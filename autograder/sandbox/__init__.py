"""Run a student's code in a locked-down process, and exchange nothing but data with it.

The grader's side is `Zygote` and `Session`. A zygote imports the libraries once; each session is a
process forked from it, which locks itself down before it sees a student's code. Values travel as
frames of plain data (`autograder.sandbox.wire`).
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.sandbox.fork_server import COMPILER, Zygote
    from autograder.sandbox.isolation import Isolation, SandboxError, probe
    from autograder.sandbox.replies import CellRun, Limits, Reply, StudentError, Usage
    from autograder.sandbox.session import Session
    from autograder.sandbox.wire import Tensor, WireError

_HOMES = {
    "Isolation": "isolation",
    "SandboxError": "isolation",
    "probe": "isolation",
    "Reply": "replies",
    "CellRun": "replies",
    "Limits": "replies",
    "Session": "session",
    "StudentError": "replies",
    "Usage": "replies",
    "COMPILER": "fork_server",
    "Zygote": "fork_server",
    "Tensor": "wire",
    "WireError": "wire",
}

__all__ = [
    "COMPILER",
    "CellRun",
    "Isolation",
    "Limits",
    "Reply",
    "SandboxError",
    "Session",
    "StudentError",
    "Tensor",
    "Usage",
    "WireError",
    "Zygote",
    "probe",
]


def __getattr__(name: str) -> Any:
    # Lazy: what asks about the isolation needs no numpy, and the zygote needs no grader's side.
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
