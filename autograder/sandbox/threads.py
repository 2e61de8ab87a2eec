"""How many threads the libraries take: one in each process.

Arrays are small: waiting for a second thread costs half as much again, and that thread takes a
processor from students' code.  Where processes are forked it would be missing, and waited for.
"""

import os
import sys
from typing import Any

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def one_thread() -> dict[str, str]:
    """Return the environment for a process of ours: one thread, unless somebody asks for more."""
    return {name: os.environ.get(name, one) for name, one in ONE_THREAD.items()}


def take_one_thread() -> None:
    """Let this process take one thread, unless its environment asks for more.

    Threads that wait for work spin, and the budget of judging counts their time: on a busy machine
    a right answer was too much.  Who loaded torch before has its threads already.
    """
    os.environ.update(one_thread())
    torch: Any = sys.modules.get("torch")
    if torch is not None and os.environ["OMP_NUM_THREADS"] == "1":
        torch.set_num_threads(1)
