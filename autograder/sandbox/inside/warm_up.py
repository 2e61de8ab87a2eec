"""What a zygote does before it has workers, so that each of them has less to do."""

import sys
from typing import Any

from autograder.sandbox.inside.shell import Shell
from autograder.sandbox.inside.worker import Worker, as_usual
from autograder.sandbox.meters import layers
from autograder.sandbox.wire import decode, encode_parts
from autograder.sandbox.wire.requests import Call, Execute, OfProcess, Read, as_message

#: Each runs by itself: another version of torch may not know all of it.  Nothing is differentiated
#: and no device asked for: neither may have been in use when a process is forked.
_TORCH = (
    "import torch, torch.utils.checkpoint, torch.utils.data",
    "torch.func.vmap(torch.sin)(torch.zeros(2))",
    "print(torch.ones(2))",
    # Its library asks for the kind of processor in files that workers can't read.
    "torch.ones(2, 2).half() @ torch.ones(2, 2).half()",
    "torch.ones(2, 2).bfloat16() @ torch.ones(2, 2).bfloat16()",
)


def warm_up(shell: Shell) -> None:
    """Answer some requests in a zygote, so that workers inherit what this makes on demand.

    Much is loaded, compiled and cached when it is used first: once here, instead of in each fork.
    """
    cells = ["import math\ndef f(x): return math.sqrt(x)\nprint(f(4.0))\n(0, f(9.0))", "x = 1; x;"]
    value: Any = 4.0
    if "numpy" in sys.modules:
        cells.append("import numpy as np\na = np.linspace(0, 1, 4)\na.max() + a")
        value = sys.modules["numpy"].ones(3)
    torch = _TORCH if "torch" in sys.modules else ()
    cells = [*cells * 3, *torch, "%%time\n(0,\n1)", "1 / 0", "f(", "def f(x): return x"]
    asked: list[OfProcess] = [Execute(c, n, 10.0, 1 << 16) for n, c in enumerate(cells, 1)]
    asked += [Call((value,), {})] * 8
    asked += [Read(name) for name in ("f", "x", "nothing")]
    streams, main = (sys.stdout, sys.stderr), sys.modules["__main__"]
    worker = Worker(shell, as_usual(), {}, 1 << 20, lambda _: None)
    for request in asked:
        header, buffers = encode_parts(as_message(request) | {"function": "f", "id": ""})
        frame = (header, b"".join(buffers))
        worker.answer(decode(*frame), frame)
    layers.get_ready()
    (sys.stdout, sys.stderr), sys.modules["__main__"] = streams, main
    del sys.modules["check"]
    shell.forget()
