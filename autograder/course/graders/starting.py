"""Start what graders need before the program has imported what it needs itself."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import forkserver

from autograder.course.files import environment
from autograder.sandbox import probe
from autograder.sandbox.threads import one_thread

_PRELOADED = [
    "autograder.course.graders.pool",
    "autograder.course.submissions.grade",
    "autograder.algebra.comparing.texts",
    "autograder.algebra.deriving.judging.equation_chain",
    "autograder.algebra.deriving.judging.indexed_chain",
    "autograder.exercise.answers.derivation",
    "autograder.exercise.properties",
    "jaxtyping",  # as references do
    "sympy.tensor.tensor",  # as sympy does for the first sum
]
_SOCKET = 107 - len("/pymp-xxxxxxxx/listener-xxxxxxxx")  # what a socket's name leaves to its folder


def warm_up() -> None:
    """Start what takes its time while the caller goes on.

    The process that graders are forked from imports, and the isolation is tried.
    """
    forkserver.set_forkserver_preload(_PRELOADED)
    with environment(**one_thread()), _short_folder():
        forkserver.ensure_running()
    threading.Thread(target=probe, daemon=True).start()


@contextmanager
def _short_folder() -> Iterator[None]:
    """Keep the socket that asks for processes in a folder that leaves room for its name."""
    usual = tempfile.gettempdir()
    if len(os.fsencode(usual)) > _SOCKET:
        tempfile.tempdir = "/tmp"
    try:
        yield
    finally:
        tempfile.tempdir = usual
