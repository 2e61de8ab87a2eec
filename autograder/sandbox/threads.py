"""How many threads the libraries take: one in each process.

Arrays are small: waiting for a second thread costs half as much again, and that thread takes a
processor from students' code.  Where processes are forked it would be missing, and waited for.
"""

import os

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def one_thread() -> dict[str, str]:
    """Return the environment for a process of ours: one thread, unless somebody asks for more."""
    return {name: os.environ.get(name, one) for name, one in ONE_THREAD.items()}
