"""Two submissions that run at once can tell each other nothing through what both may read."""

import pytest

from autograder.sandbox import Limits, Zygote

from ..tiers import isolation_of

pytestmark = pytest.mark.sandbox

#: `send` says a bit where `receive` can hear it.  Where that can't be, it hears 0.
SHARED = """
import ctypes, fcntl, json, mmap, os, threading, time
path = json.__file__
file = open(path, "rb")
libc = ctypes.CDLL(None, use_errno=True)
def pid(): return os.getpid()
"""
CHANNELS = {
    "flock": """
def send(other): fcntl.flock(file, fcntl.LOCK_SH)
def receive(other):
    try: fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError: return 1
    fcntl.flock(file, fcntl.LOCK_UN)
    return 0
""",
    "record locks": """
import struct
def lock(kind): return struct.pack("hhqqi4x", kind, 0, 0, 1, 0)
def send(other): fcntl.fcntl(file, fcntl.F_SETLK, lock(fcntl.F_RDLCK))
def receive(other):
    answer = fcntl.fcntl(file, fcntl.F_GETLK, lock(fcntl.F_WRLCK))
    return int(struct.unpack("hhqqi4x", answer)[0] == fcntl.F_RDLCK)
""",
    "futex": """
FUTEX = {"x86_64": 202, "aarch64": 98}[os.uname().machine]
WAIT, WAKE = 0, 1
memory = mmap.mmap(file.fileno(), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ)
import numpy as np
word = np.frombuffer(memory, np.uint32)
address = ctypes.c_void_p(word.ctypes.data)
def futex(operation, value, timeout=None):
    value = ctypes.c_uint32(value)
    return libc.syscall(ctypes.c_long(FUTEX), address, operation, value, timeout, None, 0)
def wait():
    while futex(WAIT, int(word[0])) == -1: time.sleep(0.01)
def send(other):
    threading.Thread(target=wait, daemon=True).start()
    time.sleep(0.3)
def receive(other): return max(futex(WAKE, 1), 0)
""",
    "the clock of a process": """
def send(other):
    end = time.process_time() + 0.3
    while time.process_time() < end: pass
def receive(other): return int(time.clock_gettime((~other << 3) | 2) > 0.25)
""",
    "the number of threads on the machine": """
def number():
    answer = (ctypes.c_ubyte * 128)()
    if libc.sysinfo(answer): raise OSError
    return bytes(answer)[80] + 256 * bytes(answer)[81]
before = []
def send(other):
    for _ in range(60): threading.Thread(target=time.sleep, args=(2,), daemon=True).start()
def receive(other):
    before.append(number())
    return int(before[-1] - before[0] > 30)
""",
    "descriptors on their way": """
import array, resource, socket
resource.setrlimit(resource.RLIMIT_NOFILE, (128, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
def passed(number):
    one, other = socket.socketpair()
    kept.append((one, other))
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [file.fileno()] * 250))]
    for _ in range(number): one.sendmsg([b"x"], rights)
kept = []
def send(other): passed(20)
def receive(other):
    try: passed(1)
    except OSError: return 1
    return 0
""",
    "signals that wait": """
import signal
def queued(most):
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGRTMIN})
    own = threading.get_native_id()
    number = {"x86_64": 234, "aarch64": 131}[os.uname().machine]
    for count in range(most):
        if libc.syscall(number, os.getpid(), own, int(signal.SIGRTMIN)): return count
    return most
def send(other): queued(10**6)
def receive(other): return int(queued(1) == 0)
""",
    "timers": """
number = {"x86_64": 222, "aarch64": 107}[os.uname().machine]
def timers(most):
    timer = ctypes.c_int()
    for count in range(most):
        if libc.syscall(number, 1, None, ctypes.byref(timer)): return count
    return most
def send(other): timers(10**6)
def receive(other): return int(timers(1) == 0)
""",
    "sessions": """
def send(other): os.setpgid(0, 0)
def receive(other): return int(os.getpgid(other) == other)
""",
}


def heard(zygote, source):
    """Say whether one session hears what another one says, and was silent before."""
    with zygote.session() as one, zygote.session() as two:
        for session in (one, two):
            assert session.execute(SHARED + source).error is None
        sender = one.read("here") if one.execute("here = pid()").error is None else 0
        attempt = (
            "def tried(f, other):\n    try: return f(other) or 0\n    except OSError: return 0\n"
        )
        for session in (one, two):
            session.execute(
                attempt + f"def say(): return tried(send, {sender})\n"
                f"def hear(): return tried(receive, {sender})"
            )
        before = two.call("hear")
        one.call("say")
        return (before, two.call("hear")) == (0, 1)


@pytest.fixture(scope="module")
def zygotes():
    made = {}

    def zygote(tier):
        if tier not in made:
            limits = Limits(call_seconds=5.0)
            isolation = isolation_of(tier)
            made[tier] = Zygote(("numpy",), isolation=isolation, trust=tier == "C", limits=limits)
        return made[tier]

    yield zygote
    for each in made.values():
        each.close()


@pytest.mark.parametrize("tier", ["A", "B"])
@pytest.mark.parametrize("channel", CHANNELS)
def test_nothing_is_heard(zygotes, channel, tier):
    assert not heard(zygotes(tier), CHANNELS[channel])


@pytest.mark.parametrize("channel", CHANNELS)
def test_without_isolation_it_would_be(zygotes, channel):
    # What others of this machine's user do meanwhile may drown a bit.
    assert any(heard(zygotes("C"), CHANNELS[channel]) for _ in range(3))


@pytest.mark.parametrize("tier", ["A", "B"])
def test_threads_are_joined_all_the_same(zygotes, tier):
    source = """
import ctypes
libc = ctypes.CDLL(None)
ENTRY = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
done = []
entry = ENTRY(lambda _: done.append(1))
thread = ctypes.c_ulong()
libc.pthread_create(ctypes.byref(thread), None, entry, None)
libc.pthread_join(thread, None)
import threading
other = threading.Thread(target=done.append, args=(2,))
other.start()
other.join()
"""
    with zygotes(tier).session() as session:
        assert session.execute(source).error is None
        assert session.read("done") == [1, 2]
