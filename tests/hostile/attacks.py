"""Hostile submissions, as data.

A *probe* is the body of a function that returns if it gets what it wants and raises if it does
not; in every case an honest answer follows. With nothing around it, each probe must succeed: so
a sandbox that is silently off fails the tests, and so does a probe that could never have worked.

``@WORLD`` stands for a folder with a course in it that anybody could read, and in it ``open``,
where anybody could write.

A *trick* is a whole cell that spoils the process it runs in, or tries to deceive whoever reads
its answer. It says what it may cost.
"""

from dataclasses import dataclass

MARK = "hostile_left"  # in the name of whatever an attack leaves behind
CANARY = 86420.97531  # in the inputs of the hidden check
SHM_KEY = 0x0A77AC4

HONEST = """
def softmax(x):
    e = np.exp(x - np.max(x))
    return e / e.sum()
"""


@dataclass(frozen=True)
class Probe:
    """What succeeds where nothing holds it back."""

    body: str
    own_scratch: bool = False  # in tier A it succeeds, in a folder that ends with the process
    everywhere: bool = True  # False: many kernels refuse it to every ordinary user

    @property
    def source(self) -> str:
        return (
            f"import ctypes, os, sys\nlibc = ctypes.CDLL(None)\ndef attack():\n    {self.body}\n"
            "try: attack(); print('BREACH')\n"
            f"except BaseException as error: print('denied', type(error).__name__)\n{HONEST}"
        )


@dataclass(frozen=True)
class Trick:
    """What spoils a process or deceives its reader.

    ``costs``: "nothing", its own "exercise", or "perhaps" that exercise, where a race decides.
    What comes later in the same notebook is never lost.
    """

    source: str
    costs: str = "exercise"


def _leave(folder: str) -> Probe:
    return Probe(f"p = '{folder}/{MARK}'; open(p, 'w').write('x'); os.remove(p)")


PROBES = {
    # reading
    "read a reference": Probe("return len(open('@WORLD/reference/a01/softmax.py').read())"),
    "load a reference": Probe("import runpy; runpy.run_path('@WORLD/reference/a01/softmax.py')"),
    "import a reference": Probe("sys.path.append('@WORLD/reference/a01'); import softmax"),
    "list the course": Probe("return os.listdir('@WORLD')[0]"),
    "walk the course": Probe("return next(os.walk('@WORLD'))"),
    "read another submission": Probe("return len(open('@WORLD/submitted/eve.ipynb').read())"),
    "read the gradebook": Probe(
        "import sqlite3; sqlite3.connect('@WORLD/gradebook.db').execute('select * from grade')"
    ),
    "read the settings of nbgrader": Probe("return len(open('@WORLD/nbgrader_config.py').read())"),
    "map a file": Probe(
        "import mmap; f = os.open('@WORLD/victim', os.O_RDONLY);"
        "mmap.mmap(f, 0, access=mmap.ACCESS_READ)"
    ),
    "link to a file": Probe(
        f"os.link('@WORLD/victim', '@WORLD/open/{MARK}'); os.remove('@WORLD/open/{MARK}')"
    ),
    "read a system file": Probe("return len(open('/etc/passwd').read())"),
    "list the temporary folder": Probe("return os.listdir('/tmp')"),
    "list the root": Probe("return os.listdir('/')[0]"),
    "read /proc/self": Probe("return len(open('/proc/self/maps').read())"),
    "list processes": Probe("return [p for p in os.listdir('/proc') if p.isdigit()][0]"),
    "read another's command line": Probe(
        "return len(open(f'/proc/{os.getppid()}/cmdline').read())"
    ),
    "read the first process": Probe("return len(open('/proc/1/stat').read())"),
    "read the kernel's settings": Probe("return len(open('/proc/sys/kernel/ostype').read())"),
    "read a device": Probe("open('/dev/full', 'rb').close()"),
    "read through a link": Probe(
        "import tempfile; d = tempfile.mkdtemp(); p = d + '/l'; os.symlink('/etc/passwd', p)\n"
        "    try: open(p).read()\n    finally: os.remove(p); os.rmdir(d)"
    ),
    # writing
    "write to the temporary folder": Probe(
        "import tempfile; f = tempfile.TemporaryFile(); f.write(b'x'); f.flush()", own_scratch=True
    ),
    "leave a file in /tmp": _leave("/tmp"),
    "leave a file in /var/tmp": _leave("/var/tmp"),
    "leave a file in /dev/shm": _leave("/dev/shm"),
    "write to shared memory": Probe(
        f"import _posixshmem as m; name = '/{MARK}';"
        "os.close(m.shm_open(name, os.O_CREAT | os.O_RDWR, 0o600)); m.shm_unlink(name)"
    ),
    "make a folder": Probe("import tempfile; os.rmdir(tempfile.mkdtemp())", own_scratch=True),
    "make a link to a file outside": Probe(
        "import tempfile; d = tempfile.mkdtemp(); os.symlink('/etc/passwd', d + '/l');"
        "os.remove(d + '/l'); os.rmdir(d)"
    ),
    "make a pipe with a name": Probe(
        "import tempfile; d = tempfile.mkdtemp(); os.mkfifo(d + '/l');"
        "os.remove(d + '/l'); os.rmdir(d)"
    ),
    "change times": Probe("import tempfile; f = tempfile.NamedTemporaryFile(); os.utime(f.name)"),
    "change modes": Probe(
        "import tempfile; f = tempfile.NamedTemporaryFile(); os.chmod(f.name, 0o4777)"
    ),
    "edit a package": Probe("os.close(os.open('@WORLD/open/package.py', os.O_WRONLY))"),
    "add a package": Probe(f"p = '@WORLD/open/{MARK}.py'; open(p, 'w').close(); os.remove(p)"),
    "add a start-up file of IPython": Probe(
        f"d = '@WORLD/open/{MARK}'; os.makedirs(d); open(d + '/00.py', 'w').close();"
        "os.remove(d + '/00.py'); os.rmdir(d)"
    ),
    "edit nbgrader_config.py": Probe("open('@WORLD/open/nbgrader_config.py', 'a').close()"),
    "empty a file opened for reading": Probe(
        "os.close(os.open('@WORLD/open/empty', os.O_RDONLY | os.O_TRUNC))"
    ),
    "truncate a file": Probe("os.truncate('@WORLD/open/empty', 0)"),
    "rename a file": Probe("p = '@WORLD/open/empty'; os.rename(p, p + '2'); os.rename(p + '2', p)"),
    # amounts
    "memory: one array": Probe("return len(np.zeros(1 << 29))"),
    "memory: a list of pieces": Probe("len([bytearray(b'x' * (1 << 20)) for _ in range(320)])"),
    "memory: anonymous maps": Probe(
        "import mmap; len([mmap.mmap(-1, 1 << 20) for _ in range(512)])"
    ),
    "memory: a file in memory": Probe("os.close(os.memfd_create('x'))"),
    "memory: a System V segment": Probe(
        f"s = libc.shmget({SHM_KEY}, 4096, 0o1600); assert s >= 0; libc.shmctl(s, 0, 0)"
    ),
    "memory: a message queue": Probe(
        f"s = libc.msgget({SHM_KEY}, 0o1600); assert s >= 0; libc.msgctl(s, 0, 0)"
    ),
    "memory: a set of semaphores": Probe(
        f"s = libc.semget({SHM_KEY}, 1, 0o1600); assert s >= 0; libc.semctl(s, 0, 0)"
    ),
    "disk: a large file": Probe(
        "import tempfile; f = tempfile.TemporaryFile(); f.write(b'x' * (96 << 20)); f.flush()"
    ),
    "disk: a file with holes": Probe("import tempfile; tempfile.TemporaryFile().truncate(1 << 30)"),
    "disk: many files": Probe(
        "import tempfile; d = tempfile.TemporaryDirectory()\n"
        "    with d:\n        for i in range(4500): open(f'{d.name}/{i}', 'w').close()"
    ),
    "disk: large files together": Probe(
        "import tempfile; d = tempfile.TemporaryDirectory()\n"
        "    with d:\n        for i in range(12): open(f'{d.name}/{i}', 'wb').write(bytes(8 << 20))"
    ),
    "descriptors": Probe("[os.dup(0) for _ in range(600)]"),
    "threads": Probe(
        "import threading; stop = threading.Event(); threading.stack_size(1 << 15); ts = []\n"
        "    try:\n        for _ in range(600): ts.append(threading.Thread(target=stop.wait));"
        " ts[-1].start()\n    finally: stop.set()"
    ),
    "lock memory": Probe("b = ctypes.create_string_buffer(8); assert libc.mlock(b, 8) == 0"),
    # processes
    "fork": Probe("p = os.fork()\n    if p == 0: os._exit(0)\n    os.waitpid(p, 0)"),
    "leave a daemon": Probe(
        "p = os.fork()\n    if p == 0:\n        os.setsid()\n"
        "        os.fork() or __import__('time').sleep(10)\n"
        "        os._exit(0)\n    os.waitpid(p, os.WNOHANG)"
    ),
    "clone by hand": Probe(
        "p = libc.syscall({'x86_64': 56, 'aarch64': 220}[os.uname().machine], 17, 0, 0, 0, 0)\n"
        "    if p == 0: os._exit(0)\n    assert p > 0; os.waitpid(p, 0)"
    ),
    "run a program": Probe("import subprocess; subprocess.run(['/bin/true'], check=True)"),
    "run a program in a shell": Probe("assert os.system('true') == 0"),
    "spawn": Probe("os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0)"),
    "start a process of multiprocessing": Probe(
        "import multiprocessing as m;"
        "p = m.get_context('fork').Process(target=int); p.start(); p.join()"
    ),
    "signal the parent": Probe("assert os.getppid(); os.kill(os.getppid(), 0)"),
    "signal everyone": Probe("os.killpg(os.getpgrp(), 0)"),
    "have a signal sent": Probe("import fcntl; r, w = os.pipe(); fcntl.fcntl(r, 8, os.getpid())"),
    "limit the parent": Probe(
        "import resource; assert os.getppid();"
        "resource.prlimit(os.getppid(), resource.RLIMIT_CORE, (0, 0))"
    ),
    "slow the parent down": Probe("os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)"),
    "pin the parent": Probe("os.sched_setaffinity(os.getppid(), os.sched_getaffinity(0))"),
    "outlive the parent": Probe("assert libc.prctl(1, 0) == 0"),
    "watch files": Probe("assert libc.inotify_init() >= 0"),
    "read memory across processes": Probe(
        "b = ctypes.create_string_buffer(8);"
        "v = (ctypes.c_size_t * 2)(ctypes.addressof(b), 8);"
        "assert libc.process_vm_readv(os.getpid(), v, 1, v, 1, 0) == 8"
    ),
    "trace": Probe("assert libc.ptrace(0, 0, 0, 0) == 0"),
    "hold another process": Probe("os.close(os.pidfd_open(os.getpid()))"),
    # network
    "TCP": Probe("import socket; socket.socket().close()"),
    "TCP to this machine": Probe(
        "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen()"
    ),
    "UDP": Probe("import socket; socket.socket(type=socket.SOCK_DGRAM).close()"),
    "a local socket": Probe("import socket; socket.socket(socket.AF_UNIX).close()"),
    "an abstract socket": Probe(f"import socket; socket.socket(socket.AF_UNIX).bind('\\0{MARK}')"),
    "netlink": Probe("import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW).close()"),
    "a pair of datagram sockets": Probe("import socket; socket.socketpair(type=socket.SOCK_DGRAM)"),
    # the kernel
    "namespaces": Probe("assert libc.unshare(0x10000000) == 0", everywhere=False),
    "mounts": Probe(
        "assert libc.unshare(0x10020000) == 0;"
        "assert libc.mount(b'none', b'/proc', b'tmpfs', 0, None) == 0",
        everywhere=False,
    ),
    "asynchronous input and output": Probe(
        "p = (ctypes.c_char * 256)(); f = libc.syscall(425, 4, p); assert f >= 0; os.close(f)",
        everywhere=False,
    ),
    "kernel keys": Probe(
        "n = {'x86_64': 250, 'aarch64': 219}[os.uname().machine];"
        "assert libc.syscall(n, 0, -3, 1) > 0"
    ),
    "personality": Probe("assert libc.personality(0x0040000) >= 0"),
    "user faults": Probe(
        "n = {'x86_64': 323, 'aarch64': 282}[os.uname().machine];"
        "f = libc.syscall(n, 1); assert f >= 0; os.close(f)",
        everywhere=False,
    ),
    "programs in the kernel": Probe(
        "n = {'x86_64': 321, 'aarch64': 280}[os.uname().machine];"
        "a = (ctypes.c_uint32 * 32)(2, 4, 4, 1); f = libc.syscall(n, 0, a, 128);"
        "e = ctypes.get_errno(); assert f >= 0",
        everywhere=False,
    ),
}

_REPLY = '{"d":["id","0000000000000000","value",100]}'
_FRAME = "struct.pack('<4sIQ', b'AGW1', len(reply), 0) + reply"
_FORGE = f"import os, struct\nreply = {_REPLY.encode()!r}\nframe = {_FRAME}\n"

TRICKS = {
    # time and ends
    "an endless cell": Trick("while True: pass"),
    "an endless call": Trick("def softmax(x):\n    while True: pass"),
    "a call that sleeps": Trick("import time\ndef softmax(x): time.sleep(60)"),
    "an expression without end": Trick("def softmax(x): return 9 ** 9 ** 9"),
    "a regular expression without end": Trick(
        "import re\ndef softmax(x): return re.match('(a+)+$', 'a' * 64 + 'b')"
    ),
    "endless output": Trick("while True: print('x' * 4096)"),
    "much output": Trick("print('x' * (8 << 20))" + HONEST, costs="nothing"),
    "patched clocks": Trick(
        "import time\ntime.monotonic = time.time = time.perf_counter = lambda: 0.0\n"
        "def softmax(x):\n    while True: pass"
    ),
    "an alarm that is ignored": Trick(
        "import signal\nfor s in range(1, 32):\n    try: signal.signal(s, signal.SIG_IGN)\n"
        "    except OSError: pass\ndef softmax(x):\n    while True: pass"
    ),
    "recursion": Trick(
        "import sys\ndef softmax(x):\n    sys.setrecursionlimit(10**9)\n"
        "    f = lambda n: f(n + 1)\n    return f(0)"
    ),
    "a crash": Trick("import ctypes\ndef softmax(x): ctypes.string_at(0)"),
    "a crash in the cell": Trick("import ctypes\nctypes.string_at(0)"),
    "os._exit": Trick("import os\nos._exit(0)"),
    "os._exit in a call": Trick("import os\ndef softmax(x): os._exit(0)"),
    "sys.exit": Trick("import sys\nsys.exit(0)"),
    "SystemExit in a call": Trick("def softmax(x): raise SystemExit(0)"),
    "KeyboardInterrupt in a call": Trick("def softmax(x): raise KeyboardInterrupt"),
    "abort": Trick("import os\nos.abort()"),
    "kill oneself": Trick("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n1 / 0"),
    # replies
    "a reply forged in advance": Trick(f"{_FORGE}os.write(3, frame){HONEST}"),
    "a reply forged by a thread": Trick(
        f"{_FORGE}import threading\ndef softmax(x):\n"
        "    threading.Timer(0.05, os.write, (3, frame)).start()\n"
        "    import time; time.sleep(0.2)\n    return x"
    ),
    "a late reply": Trick(
        f"{_FORGE}def softmax(x):\n    import threading\n"
        "    threading.Timer(0.2, os.write, (3, frame)).start()\n    return x * 0"
    ),
    "a reply in pieces": Trick(
        f"{_FORGE}import time\ndef softmax(x):\n"
        "    for b in frame: os.write(3, bytes([b])); time.sleep(0.2)"
    ),
    "a reply that claims to be large": Trick(
        "import os, struct\ndef softmax(x): os.write(3, struct.pack('<4sIQ', b'AGW1', 2, 1 << 40))"
    ),
    "a header that claims to be large": Trick(
        "import os, struct\ndef softmax(x): os.write(3, struct.pack('<4sIQ', b'AGW1', 1 << 30, 0))"
    ),
    "a reply without end": Trick(
        "import os\ndef softmax(x):\n    while True: os.write(3, b'x' * 65536)"
    ),
    "a header nested deeply": Trick(
        "import os, struct\ndef softmax(x):\n    h = b'[' * 100000\n"
        "    os.write(3, struct.pack('<4sIQ', b'AGW1', len(h), 0) + h)"
    ),
    "a stolen request": Trick(
        "import socket, threading\ns = socket.socket(fileno=3)\n"
        "def steal():\n    while True: s.recv(1 << 16)\n"
        f"threading.Thread(target=steal, daemon=True).start(){HONEST}",
        costs="perhaps",
    ),
    "a closed connection": Trick("import os\ndef softmax(x): os.close(3)"),
    "a descriptor sent along": Trick(
        "import socket\ndef softmax(x):\n    s = socket.socket(fileno=3)\n"
        "    socket.send_fds(s, [b'x'], [0]); s.detach()"
    ),
    # objects
    "an object that equals everything": Trick(
        "class Yes:\n    __eq__ = __ge__ = __le__ = lambda *a: True\n"
        "    __hash__ = object.__hash__\n    __float__ = lambda s: 1.0\n"
        "def softmax(x): return Yes()"
    ),
    "an array that equals everything": Trick(
        "class Yes(np.ndarray):\n    def __eq__(s, o): return True\n"
        "    def __array__(s, *a, **k): import time; time.sleep(60)\n"
        "def softmax(x): return (x * 0).view(Yes)"
    ),
    "a number that equals everything": Trick(
        "class Yes(float):\n    __eq__ = lambda *a: True\n    __hash__ = float.__hash__\n"
        "def softmax(x): return [Yes(0) for _ in x]"
    ),
    "a lazy array": Trick(
        "import time\nclass Lazy:\n    def __array__(s, *a, **k): time.sleep(60)\n"
        "    __len__ = __iter__ = __float__ = __array__\ndef softmax(x): return Lazy()"
    ),
    "an array of objects": Trick("def softmax(x): return np.array([lambda: 1] * len(x), object)"),
    "a broadcast giant": Trick("def softmax(x): return np.broadcast_to(0.0, (1 << 20, 1 << 20))"),
    "a list that holds itself": Trick("def softmax(x):\n    l = []; l.append(l)\n    return l"),
    "a list nested deeply": Trick(
        "def softmax(x):\n    l = 0\n    for _ in range(100000): l = [l]\n    return l"
    ),
    "very many values": Trick("def softmax(x): return [0] * 10_000_000"),
    "a giant number": Trick("def softmax(x): return 10 ** 100_000"),
    "not a number": Trick("def softmax(x): return x * np.nan"),
    "half a surrogate pair": Trick("def softmax(x): return '\\ud800'"),
    "an iterator without end": Trick("import itertools\ndef softmax(x): return itertools.count()"),
    "a dictionary that lies": Trick(
        "class D(dict):\n    def items(s): return iter(lambda: ('a', 1), None)\n"
        "def softmax(x): return D(a=1)"
    ),
    "an exception that sleeps": Trick(
        "class E(Exception):\n    def __str__(s): import time; time.sleep(60)\n"
        "def softmax(x): raise E"
    ),
    "an exception with a long name": Trick(
        "E = type('E' * 1_000_000, (Exception,), {})\ndef softmax(x): raise E('m' * 10_000_000)"
    ),
    "a value that changes while it is read": Trick(
        "class X(Exception): pass\n"
        "class P:\n    @property\n    def __class__(s): return np.ndarray\n"
        "def softmax(x): return P()"
    ),
    # patching
    "patched comparisons": Trick(
        "np.allclose = lambda *a, **k: True\nnp.testing.assert_allclose = lambda *a, **k: None\n"
        "np.array_equal = np.isclose = np.allclose\ndef softmax(x): return x * 0"
    ),
    "patched isinstance": Trick(
        "import builtins\nbuiltins.isinstance = lambda *a: True\ndef softmax(x): return x * 0",
    ),
    "patched json": Trick(
        "import json\njson.dumps = json.loads = json.JSONEncoder.encode = lambda *a, **k: '{}'\n"
        "def softmax(x): return x * 0",
    ),
    "no builtins": Trick("import builtins\nbuiltins.type = builtins.len = None"),
    "no modules": Trick("import sys\nsys.modules.clear()"),
    "no dictionaries": Trick(
        "import gc\nfor o in gc.get_objects():\n    if type(o) is dict: o.clear()"
    ),
    "no numpy": Trick("np.exp = np.max = np.ndarray = None"),
    "no builtins after a call": Trick(
        "import builtins\ndef softmax(x):\n"
        "    builtins.sum = builtins.sorted = builtins.isinstance = None\n    return x"
    ),
    "no numpy after a call": Trick("def softmax(x):\n    np.exp = np.max = None\n    return x"),
    "a thread in a call that steals requests": Trick(
        "import socket, threading\n"
        "def steal():\n    while True: socket.socket(fileno=3).recv(1 << 16)\n"
        "def softmax(x): threading.Thread(target=steal, daemon=True).start(); return x"
    ),
    "a trace function": Trick("import sys\nsys.settrace(lambda *a: 1 / 0)"),
    "a worker that says full marks": Trick(
        "import gc\n[w] = [o for o in gc.get_objects() if type(o).__name__ == 'Worker']\n"
        "w._do = lambda request: {'value': 42, 'score': 100.0, 'status': 'passed'}",
    ),
    "a check module that says full marks": Trick(
        "import check, sys\ncheck.check = lambda *a: 100.0\nsys.modules['check'] = check\n"
        "def softmax(x): return x * 0"
    ),
    "printed scores": Trick("print(3.0)\n3.0\ndef softmax(x): return x * 0"),
    "HTML as a result": Trick(
        "class H:\n    def _repr_html_(s): return '<script>alert(1)</script>'\n"
        "    def __repr__(s): return 'H'\nH()"
    ),
    # telling what the hidden check asks
    "print the hidden input": Trick("def softmax(x):\n    print('IN', list(x)); return x"),
    "raise the hidden input": Trick("def softmax(x): raise ValueError(str(list(x)))"),
    "name an exception after the hidden input": Trick(
        "def softmax(x): raise type(f'E{list(x)}', (Exception,), {})"
    ),
    "name a result after the hidden input": Trick(
        "def softmax(x): return type(f'E{list(x)}', (), {})()"
    ),
    "report the hidden input as the grader's own words": Trick(
        "import gc\n[w] = [o for o in gc.get_objects() if type(o).__name__ == 'Worker']\n"
        "do = w._do\n"
        "def tell(r):\n"
        "    if r['do'] not in ('Call', 'Lend') or len(r['args'][0]) != 3: return do(r)\n"
        "    text = str(list(r['args'][0]))\n"
        "    return {'error': {'kind': 'missing', 'type': text, 'message': text}}\n"
        f"w._do = tell{HONEST}",
    ),
    "write the hidden input to descriptors": Trick(
        "import os\ndef softmax(x):\n    for d in (0, 1, 2): \n"
        "        try: os.write(d, str(list(x)).encode())\n"
        "        except OSError: pass\n    return x"
    ),
    "save the hidden input": Trick(
        "def softmax(x):\n"
        "    for d in ('/tmp', '/var/tmp', '/dev/shm', '/box', '.'):\n"
        f"        try: open(f'{{d}}/{MARK}', 'w').write(str(list(x)))\n"
        "        except OSError: pass\n    return x"
    ),
}
