"""Start a helper process of ours, and talk to it in lines of JSON."""

import json
import os
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autograder.sandbox.threads import ONE_THREAD

_ENVIRONMENT = {
    **ONE_THREAD,
    "MPLBACKEND": "agg",
    "PYTHONHASHSEED": "0",
    "LANG": "C.UTF-8",
    "HOME": "/nonexistent",
}

# Which instructions of the processor the libraries use: where somebody has to say that, because a
# library takes the processor for another one, it holds for student code as well.
_PROCESSOR = (
    "OPENBLAS_CORETYPE",
    "OPENBLAS_L2_SIZE",
    "ATEN_CPU_CAPABILITY",
    "ONEDNN_MAX_CPU_ISA",
    "NPY_DISABLE_CPU_FEATURES",
    "NPY_ENABLE_CPU_FEATURES",
)

# Which of several GPUs is the grader's: a process of student code is to use the same.
_GPUS = ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER")

_ROOT = str(Path(__file__).resolve().parents[3])
_BOOTSTRAP = (
    "import importlib, sys; "
    "sys.path.insert(0, sys.argv[1]); "
    "module = importlib.import_module(sys.argv[2]); "
    "sys.path.remove(sys.argv[1]); "
    "module.main(*sys.argv[3:])"
)


def environment() -> dict[str, str]:
    """Return the environment of helper processes, and of student code."""
    own = {name: os.environ[name] for name in (*_PROCESSOR, *_GPUS) if name in os.environ}
    return {**_ENVIRONMENT, **own}


def command(module: str, *arguments: str, root: str = _ROOT) -> list[str]:
    """Return a command line that calls ``main`` of one of our modules in a fresh Python.

    It ignores the current folder and the user's own packages. It does not ignore the environment
    (``-I``), which is `environment` and nothing else: strings hash alike in every run. ``root`` is
    the folder that holds this project.
    """
    return [sys.executable, "-s", "-P", "-B", "-c", _BOOTSTRAP, root, module, *arguments]


def send(
    connection: socket.socket, message: dict[str, Any], descriptors: Sequence[int] = ()
) -> None:
    """Send one message, and file descriptors along with it."""
    line = json.dumps(message).encode() + b"\n"
    sent = socket.send_fds(connection, [line], descriptors)
    if sent < len(line):  # once it has everything, the other side may be gone
        connection.sendall(line[sent:])


def receive(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Wait for one message and the file descriptors that came along.

    The two sides take turns, so nothing of a further message can arrive here.

    Raises
    ------
    EOFError
        If the other side has gone.
    """
    line, descriptors = b"", []
    while not line.endswith(b"\n"):
        data, more, _, _ = socket.recv_fds(connection, 1 << 16, 2)
        descriptors += more
        if not data:
            raise EOFError
        line += data
    return json.loads(line), descriptors
