"""What a function does to the process that calls it costs at most the time of one call."""

import time

import pytest

from .conftest import LIMITS

BEFORE = "import ctypes, gc, os, sys, time\nimport numpy as np\n"
#: Bodies of softmax(x), with what comes before it.
COSTS = {
    "a finaliser that sleeps, of what a call makes": (
        "class D:\n    def __del__(s): time.sleep(60)\n",
        "D(); return x",
    ),
    "a finaliser that sleeps, of what it returns": (
        "class D(float):\n    def __del__(s): time.sleep(60)\n",
        "return D(1)",
    ),
    "a finaliser that sleeps, in a ring": (
        "class D:\n    def __del__(s): time.sleep(60)\n",
        "d = D(); d.d = d; del d; gc.collect(); return x",
    ),
    "a finaliser that sleeps, of an exception": (
        "class E(Exception):\n    def __del__(s): time.sleep(60)\n",
        "raise E",
    ),
    "a weak reference that sleeps": (
        "import weakref\nclass D: pass\n",
        "d = D(); weakref.finalize(d, time.sleep, 60); del d; return x",
    ),
    "a C stack overflow, in repr": (
        "sys.setrecursionlimit(10**9)\n",
        "a = []\n    for _ in range(10**6): a = [a]\n    return repr(a)",
    ),
    "a C stack overflow, in calls": (
        "sys.setrecursionlimit(10**9)\n"
        "class C:\n    __getattr__ = lambda s, n: getattr(s, n + 'x')\n",
        "return C().x",
    ),
    "a C stack overflow, in a reply": (
        "sys.setrecursionlimit(10**9)\n",
        "a = []\n    for _ in range(10**6): a = [a]\n    return a",
    ),
    "keys that are the same": (
        "class K(str):\n    __hash__ = lambda s: id(s)\n    __eq__ = lambda s, o: s is o\n",
        "return {K('a'): 1, K('a'): 2}",
    ),
    "keys without end": ("", "return {str(i): i for i in range(10**6)}"),
    "writes to every descriptor": (
        "",
        "for fd in range(64):\n        try: os.write(fd, b'x' * 100)\n"
        "        except OSError: pass\n    return x",
    ),
    "half a frame on every descriptor": (
        "",
        "frame = b'AGW1' + (10**6).to_bytes(4, 'little')\n"
        "    for fd in range(3, 64):\n        try: os.write(fd, frame)\n"
        "        except OSError: pass\n    return x",
    ),
    "descriptors that are closed": ("", "os.closerange(0, 64); return x"),
    "descriptors that are exchanged": (
        "",
        "r, w = os.pipe()\n    for fd in range(3, 20):\n        try: os.dup2(r, fd)\n"
        "        except OSError: pass\n    return x",
    ),
    "an exit that waits": (
        "import atexit\natexit.register(time.sleep, 60)\n",
        "raise SystemExit",
    ),
}


@pytest.mark.parametrize("what", COSTS)
def test_it_costs_the_time_of_one_call(zygote, grade, what):
    before, body = COSTS[what]
    cpu = time.process_time()
    marked = grade(zygote, f"{BEFORE}{before}def softmax(x):\n    {body}\n")
    own = time.process_time() - cpu
    scores = marked.scores
    assert (scores["answer"], scores["last"]) == (1, 4)
    assert scores["attacked"] <= 1  # its argument may be as it was
    # In processor time: what it takes otherwise, the clock outside ends after each call.
    assert own + marked.grade.runtime["cpu_seconds"] < 20 * LIMITS.call_seconds


def test_an_honest_function_is_worth_its_points(zygote, grade):
    """The control."""
    body = "e = np.exp(x - x.max()); return e / e.sum()"
    marked = grade(zygote, f"{BEFORE}def softmax(x):\n    {body}\n")
    assert marked.scores == {"answer": 1, "attacked": 4, "last": 4}
