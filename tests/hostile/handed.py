"""Hostile answers to one question, as data: `smallest(f, x)`, the entry of x where f is smallest.

All of them stand in one notebook, each with an exercise of its own: what one does to its process
may cost its own points and nobody else's.  `NAME` is the function that is asked for, `WORKER` finds
what answers the grader.
"""

import numpy as np

HONEST = "def NAME(f, x): return x[int(np.argmin([f(v) for v in x]))]"


def bowl(v):
    return (v - 1) ** 2


def wave(v):
    return float(np.sin(v))


def smallest(f, x):
    return x[int(np.argmin([f(v) for v in x]))]


_WORKER = "import gc\n[w] = [o for o in gc.get_objects() if type(o).__name__ == 'Worker']\n"
_FORGED = (
    'b"AGW1" + (2).to_bytes(4, "little") + bytes(8) + b"{}"',
    'b"AGW1" + (2**31).to_bytes(4, "little") + (2**62).to_bytes(8, "little")',
    'b"x" * 70000',
)


def _body(*lines: str) -> str:
    return "\n".join(("def NAME(f, x):", *(f"    {line}" for line in lines)))


ATTACKS = {
    # the function that is handed over
    "give the function back": _body("return f"),
    "give its source back": _body("import inspect; return inspect.getsource(f)"),
    "give its code back": _body("return f.__code__.co_code"),
    "replace its code": _body("f.__code__ = (lambda v: 0.0).__code__", "return x[0]"),
    "replace its globals": _body("f.__globals__.clear()", "return f(x[0])"),
    "give its globals back": _body("return list(f.__globals__)"),
    "call it with an object": _body(
        "class Odd:",
        "    __mul__ = __rmul__ = __sub__ = __pow__ = __add__ = lambda s, o: s",
        "return f(Odd())",
    ),
    "answer with the last answer": "kept = []\n"
    + _body("kept.append(x[0] if not kept else kept[0])", "return kept[0]"),
    "answer with what another check had": "seen = []\n"
    + _body("seen.append((f, x))", "g, y = seen[0]", "return y[0]"),
    "always the same function": _WORKER
    + "own = w._objects.arguments\n"
    + "w._objects.arguments = lambda r: ([abs, np.zeros(3)], {})\n"
    + _body("return f(x[0])"),
    "count the calls": "n = 0\n" + _body("global n; n += 1", "return x[n % len(x)]"),
    # answers that are none
    "a generator": _body("yield x[0]"),
    "a coroutine": "async "
    + _body("return x[0]")
    + "\nimport warnings\nwarnings.simplefilter('ignore')",
    "a module": _body("return np"),
    "itself": _body("return NAME"),
    "the empty array": _body("return np.empty((0, 2**20))"),
    "memory that is not there": _body(
        "class Far: __array_interface__ = {'shape': (9,), 'typestr': '<f8', 'version': 3,"
        " 'data': (8, False)}",
        "return np.asarray(Far())",
    ),
    "overlapping memory": _body(
        "return np.lib.stride_tricks.as_strided(x, (2**30, 2**30), (0, 0))"
    ),
    "all candidates at once": _body("return x"),
    "text": _body("return str(x[0])"),
    "truth": _body("return True"),
    "infinity": _body("return np.inf"),
    "both signs": _body("return complex(x[0], 1)"),
    # exceptions
    "leave Python": _body("raise SystemExit(0)"),
    "interrupt": _body("raise KeyboardInterrupt"),
    "stop a generator": _body("raise GeneratorExit"),
    "an exception in an exception": _body(
        "class E(Exception):", "    def __str__(s): raise s", "raise E"
    ),
    "a group of exceptions": _body("raise ExceptionGroup('x' * 10**6, [ValueError()] * 1000)"),
    "an exception with a hostile class": _body(
        "class M(type):",
        "    __name__ = property(lambda c: 1 / 0)",
        "    __qualname__ = property(lambda c: 1 / 0)",
        "raise M('E', (Exception,), {})",
    ),
    "stand still": _body("import time; time.sleep(60)"),
    "never end": _body("while True: pass"),
    "an integer without end": _body("return 9 ** 9 ** 9"),
    # the process
    "end it": _body("import os; os._exit(0)"),
    "kill it": _body("import os; os.kill(os.getpid(), 9)"),
    "crash it": _body("import ctypes; ctypes.string_at(0)"),
    "abort it": _body("import os; os.abort()"),
    "recurse without end": _body(
        "import sys; sys.setrecursionlimit(10**9)", "g = lambda n: g(n + 1)", "return g(0)"
    ),
    "take all memory": _body("return [bytearray(1 << 24) for _ in range(10**6)]"),
    "a finaliser that sleeps": _body(
        "class D:", "    def __del__(s): import time; time.sleep(60)", "D()", "return x[0]"
    ),
    "a handler for every signal": _body(
        "import signal",
        "for n in range(1, 32):",
        "    try: signal.signal(n, lambda *_: None)",
        "    except (OSError, ValueError): pass",
        "while True: pass",
    ),
    "an alarm": _body(
        "import signal; signal.setitimer(signal.ITIMER_REAL, 0.01)", "while True: pass"
    ),
    "threads without end": _body(
        "import threading",
        "def spin():",
        "    while True: pass",
        "for _ in range(8): threading.Thread(target=spin, daemon=True).start()",
        "return x[0] * 0",
    ),
    # the connection
    "close the connection": _body("import os; os.close(3)", "return x[0]"),
    "another connection": _body(
        "import os, socket", "a, b = socket.socketpair()", "os.dup2(a.fileno(), 3)", "return x[0]"
    ),
    **{
        f"a forged frame {i}": _body(f"import os; os.write(3, {frame})", "return x[0]")
        for i, frame in enumerate(_FORGED)
    },
    "a reply without its id": _WORKER
    + "w._encoded = lambda r: w.answer.__globals__['encode']({'value': 1.0})\n"
    + _body("return x[0]"),
    "a reply of another kind": _WORKER
    + "w._do = lambda r: {'value': [r['do']], 'modified': 7, 'warnings': [1]}\n"
    + _body("return x[0]"),
    "a reply that is too deep": _WORKER
    + "w._encoded = lambda r: [b'AGW1' + (200).to_bytes(4, 'little') + bytes(8) + b'[' * 200]\n"
    + _body("return x[0]"),
    # what numpy and Python are for the next one
    "the smallest is always first": "np.argmin = lambda *a, **k: 0\n" + HONEST,
    "random numbers that are none": _body(
        "np.random.default_rng = lambda *a: 0", "np.random.seed = None", "return x[0] * 0"
    ),
    "no garbage is collected": _body("import gc; gc.disable(); gc.freeze()", "return None"),
    "another standard output": _body("import sys; sys.stdout = sys.stderr = None", "print(x)"),
    "a trace of everything": _body(
        "import sys; sys.setprofile(lambda *a: 1 / 0)", "return x[0] * 0"
    ),
}
