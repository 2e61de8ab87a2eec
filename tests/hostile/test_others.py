"""Nothing that the kernel says of the machine, or of other processes, is said to a submission."""

import json

import pytest

FILES = [
    *("loadavg", "stat", "meminfo", "vmstat", "uptime", "diskstats", "locks", "interrupts"),
    *("softirqs", "schedstat", "zoneinfo", "buddyinfo", "slabinfo", "net/dev", "net/sockstat"),
    *("pressure/cpu", "pressure/memory", "pressure/io", "sys/fs/file-nr", "sys/fs/inode-state"),
    *("sys/kernel/ns_last_pid", "sys/kernel/random/entropy_avail", "sys/kernel/pty/nr"),
    *("self/status", "self/mountinfo", "self/cgroup", "1/stat", "sysvipc/shm", "key-users"),
]
#: Expressions that give something where nothing holds them back.
QUERIES = {
    **{f"/proc/{name}": f"len(open('/proc/{name}', 'rb').read(10))" for name in FILES},
    "/sys": "os.listdir('/sys/class/net')",
    "/sys/fs/cgroup": "os.listdir('/sys/fs/cgroup')",
    "the system's logs": "os.listdir('/var/log')",
    "sysinfo": "asked(libc.sysinfo, memory)",
    "getloadavg": "os.getloadavg()",
    "statfs of the root": "os.statvfs('/')",
    "fstatfs of a descriptor": "os.fstatvfs(os.open(os.__file__, os.O_RDONLY))",
    "the scheduler's cookie": "asked(libc.prctl, 62, 0, other, 0, ctypes.byref(memory))",
    "to be traced": "asked(libc.prctl, 0x59616d61, other, 0, 0, 0)",
    "to be the parent of orphans": "asked(libc.prctl, 36, 1, 0, 0, 0)",
    "the session of the parent": "os.getsid(other)",
    "the priority of the parent": "os.getpriority(os.PRIO_PROCESS, other)",
    "the scheduler of the parent": "os.sched_getscheduler(other)",
    "the processors of the parent": "os.sched_getaffinity(other)",
    "whether the parent is there": "os.kill(other, 0)",
    "the clock of the parent": "time.clock_gettime((~other << 3) | 2)",
    "the limits of the parent": "resource.prlimit(other, resource.RLIMIT_NOFILE)",
    "a descriptor of the parent": "os.pidfd_open(other)",
    "messages of the kernel": "asked(libc.klogctl, 10, None, 0)",
    "what of a file is in memory": "asked(mincore)",
}
#: What many kernels, or not being root, refuse to everybody: no control.
RARE = {
    *("/proc/schedstat", "/proc/slabinfo", "/proc/sys/kernel/ns_last_pid", "/proc/1/stat"),
    *("/proc/pressure/cpu", "/proc/pressure/memory", "/proc/pressure/io", "/proc/key-users"),
    *("the scheduler's cookie", "to be traced", "messages of the kernel", "/proc/locks"),
    *("/proc/sys/kernel/pty/nr", "/proc/sysvipc/shm", "the system's logs", "/sys"),
    *("/proc/interrupts", "/proc/buddyinfo", "/proc/zoneinfo", "/proc/softirqs"),
    *("the clock of the parent", "/proc/net/sockstat", "/proc/net/dev", "/proc/sys/fs/inode-state"),
    *("/proc/diskstats", "/sys/fs/cgroup", "what of a file is in memory"),
}
PROGRAM = """
import ctypes, json, mmap, os, resource, time
libc = ctypes.CDLL(None, use_errno=True)
other = os.getppid() or os.getpid() + 1  # 0 where the parent is in another namespace
memory = ctypes.create_string_buffer(4096)
def asked(call, *arguments):
    if call(*arguments) < 0:
        raise OSError(ctypes.get_errno(), "refused")
def mincore():
    with open(os.__file__, "rb") as file:
        pages = mmap.mmap(file.fileno(), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ)
    import numpy as np
    return libc.mincore(ctypes.c_void_p(np.frombuffer(pages, np.uint8).ctypes.data), 4096, memory)
said = {}
for name, query in json.loads(QUERIES).items():
    try:
        eval(query)
        said[name] = "said"
    except Exception as error:
        said[name] = type(error).__name__
said = json.dumps(said)
"""


def answers(zygote):
    with zygote.session() as session:
        run = session.execute(PROGRAM.replace("QUERIES", repr(json.dumps(QUERIES))))
        assert run.error is None, run.error
        return json.loads(session.read("said"))


@pytest.fixture(scope="module")
def said(zygote):
    return answers(zygote)


@pytest.fixture(scope="module")
def said_freely(unlocked):
    return answers(unlocked)


@pytest.mark.parametrize("query", QUERIES)
def test_it_is_not_said(said, query):
    assert said[query] != "said"


@pytest.mark.parametrize("query", sorted(QUERIES.keys() - RARE))
def test_without_isolation_it_is(said_freely, query):
    assert said_freely[query] == "said"
