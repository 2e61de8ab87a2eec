"""The filter as the kernel runs it: by an interpreter of classic BPF, for both processors.

On x86-64 the kernel itself runs it, too (the hostile suite); for aarch64 this is all there is.
"""

import errno
import os
import struct

import pytest

from autograder.sandbox.jails import seccomp

ALLOW, KILL = 0x7FFF0000, 0x80000000
PID = 4711
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
CLONE_VM, CLONE_SETTLS, CLONE_THREAD, SIGCHLD = 0x100, 0x80000, 0x10000, 17
THREAD = 0x003D0F00  # as glibc asks for one
NEW_NAMESPACES = [0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000, 0x20000]
NEW_TIME = 0x80

# What numpy, torch and Python use all the time, by hand from asm-generic/unistd.h and the table of
# x86-64: numbers that the filter itself does not hold.
EVERYDAY = {
    "read": (0, 63),
    "write": (1, 64),
    "close": (3, 57),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "munmap": (11, 215),
    "brk": (12, 214),
    "rt_sigaction": (13, 134),
    "rt_sigreturn": (15, 139),
    "madvise": (28, 233),
    "getpid": (39, 172),
    "writev": (20, 66),
    "sendto": (44, 206),
    "recvfrom": (45, 207),
    "exit": (60, 93),
    "exit_group": (231, 94),
    "clock_gettime": (228, 113),
    "newfstatat": (262, 79),
    "getrandom": (318, 278),
    "mkdirat": (258, 34),
    "unlinkat": (263, 35),
    "renameat2": (316, 276),
    "sched_yield": (24, 124),
}
DENIED = {
    "fork": (57, None),
    "vfork": (58, None),
    "execve": (59, 221),
    "execveat": (322, 281),
    "unshare": (272, 97),
    "setns": (308, 268),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "pidfd_open": (434, 434),
    "socket": (41, 198),
    "connect": (42, 203),
    "bind": (49, 200),
    "sendmsg": (46, 211),
    "sendmmsg": (307, 269),
    "memfd_create": (319, 279),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mount": (165, 40),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "bpf": (321, 280),
    "io_uring_setup": (425, 425),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "personality": (135, 92),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchown": (93, 55),
    "utimensat": (280, 88),
    "truncate": (76, 45),
    "inotify_init1": (294, 26),
    "rt_sigqueueinfo": (129, 138),
    "setpriority": (141, 140),
    "sched_setaffinity": (203, 122),
    "init_module": (175, 105),
    "reboot": (169, 142),
    "sysinfo": (99, 179),
    "statfs": (137, 43),
    "fstatfs": (138, 44),
    "settimeofday": (164, 170),
}
KILLING = {"kill": (62, 129), "tgkill": (234, 131), "prlimit64": (302, 261)}
CLONE, CLONE3 = (56, 220), (435, 435)
FUTEX = (202, 98)
OPENAT, OPEN, OPENAT2 = (257, 56), (2, None), (437, 437)
FCNTL, IOCTL, PRCTL, SOCKETPAIR = (72, 25), (16, 29), (157, 167), (53, 199)


def run(program, data):
    """Interpret classic BPF as the kernel does for seccomp, and return what it decides."""
    instructions = list(struct.iter_unpack("<HBBI", program))
    accumulator, at = 0, 0
    while True:
        code, then, otherwise, operand = instructions[at]
        at += 1
        if code == 0x20:  # load a word
            assert operand % 4 == 0
            (accumulator,) = struct.unpack_from("<I", data, operand)
        elif code == 0x54:  # and
            accumulator &= operand
        elif code == 0x15:  # equal
            at += then if accumulator == operand else otherwise
        elif code == 0x25:  # greater
            at += then if accumulator > operand else otherwise
        elif code == 0x45:  # any bit in common
            at += then if accumulator & operand else otherwise
        else:
            assert code == 0x06, f"an instruction that the kernel would refuse: {code:#x}"
            return operand


@pytest.fixture(params=ARCHITECTURES)
def machine(request, monkeypatch):
    monkeypatch.setattr("platform.machine", lambda: request.param)
    return request.param


@pytest.fixture
def decide(machine):
    """A function of a system call (as its two numbers) and its arguments: what the filter says."""
    program = seccomp.Filter().of(PID)
    column = list(ARCHITECTURES).index(machine)

    def decide(numbers, *arguments, architecture=ARCHITECTURES[machine]):
        number = numbers[column] if isinstance(numbers, tuple) else numbers
        if number is None:
            return "no such call"
        padded = [*arguments, *[0] * (6 - len(arguments))]
        mask = (1 << 64) - 1
        data = struct.pack("<IIQ6Q", number, architecture, 0, *(a & mask for a in padded))
        verdict = run(program, data)
        if verdict >> 16 == 0x0005:
            return errno.errorcode[verdict & 0xFFFF] if verdict & 0xFFFF else "nothing done"
        return {ALLOW: "allowed", KILL: "killed"}[verdict]

    return decide


@pytest.mark.parametrize("name", EVERYDAY)
def test_what_is_needed_is_allowed(decide, name):
    assert decide(EVERYDAY[name]) == "allowed"


@pytest.mark.parametrize("name", DENIED)
def test_what_is_dangerous_is_denied(decide, name):
    assert decide(DENIED[name]) in ("EPERM", "no such call")


def test_every_number_in_the_table_is_decided(decide, machine):
    column = list(ARCHITECTURES).index(machine)
    for name, numbers in seccomp.NUMBERS.items():
        if numbers[column] is not None and name not in seccomp._CONDITIONAL:
            assert decide(numbers) == "EPERM", name


def test_every_other_number_is_allowed(decide, machine):
    column = list(ARCHITECTURES).index(machine)
    known = {numbers[column] for numbers in seccomp.NUMBERS.values()}
    others = [n for n in range(seccomp.LAST_KNOWN + 1) if n not in known]
    assert {decide(number) for number in others} == {"allowed"}


def test_no_two_calls_have_one_number(machine):
    column = list(ARCHITECTURES).index(machine)
    numbers = [n[column] for n in seccomp.NUMBERS.values() if n[column] is not None]
    assert len(set(numbers)) == len(numbers)
    assert max(numbers) <= seccomp.LAST_KNOWN


def test_threads_and_no_processes(decide):
    assert decide(CLONE, THREAD) == "allowed"
    assert decide(CLONE, SIGCHLD) == "EPERM"
    assert decide(CLONE, CLONE_VM | SIGCHLD) == "EPERM"
    for flag in [*NEW_NAMESPACES, NEW_TIME]:
        assert decide(CLONE, THREAD | flag) == "EPERM"
    assert decide(CLONE3) == "ENOSYS"


@pytest.mark.parametrize("name", KILLING)
def test_signals_and_limits_for_oneself_alone(decide, name):
    assert decide(KILLING[name], PID) == "allowed"
    for other in (PID + 1, 1, -1, -PID):
        assert decide(KILLING[name], other) == "EPERM"
    assert decide(KILLING[name], 0) == ("allowed" if name == "prlimit64" else "EPERM")


@pytest.mark.parametrize(("numbers", "at"), [(OPEN, 1), (OPENAT, 2)])
def test_no_file_is_emptied_by_opening_it_for_reading(decide, numbers, at):
    def opened(flags):
        return decide(numbers, *[0] * at, flags)

    if opened(0) == "no such call":
        return
    assert opened(os.O_RDONLY) == opened(os.O_WRONLY | os.O_CREAT | os.O_TRUNC) == "allowed"
    assert opened(os.O_RDONLY | os.O_TRUNC) == "EACCES"
    assert opened(3) == opened(3 | os.O_TRUNC) == "EACCES"


def test_the_newer_way_of_opening_is_unknown(decide):
    assert decide(OPENAT2) == "ENOSYS"


def test_commands_of_fcntl_ioctl_and_prctl(decide):
    f_dupfd, f_getfl, f_setown, f_setsig, f_setlease = 0, 3, 8, 10, 1024
    f_getlk, f_setlk, f_setlkw, f_ofd_setlk, f_notify = 5, 6, 7, 37, 1026
    assert decide(FCNTL, 0, f_dupfd) == decide(FCNTL, 0, f_getfl) == "allowed"
    locks = (f_getlk, f_setlk, f_setlkw, f_ofd_setlk, f_notify)
    for command in (f_setown, f_setsig, f_setlease, *locks):
        assert decide(FCNTL, 0, command) == "EINVAL"
    fionbio, fiosetown, tiocsti = 0x5421, 0x8901, 0x5412
    assert decide(IOCTL, 0, fionbio) == "allowed"
    assert decide(IOCTL, 0, fiosetown) == decide(IOCTL, 0, tiocsti) == "ENOTTY"
    set_pdeathsig, set_dumpable = 1, 4
    assert decide(PRCTL, set_pdeathsig) == "EPERM"
    assert decide(PRCTL, set_dumpable) == "allowed"
    for set_name, get_name in [(15, 16)]:
        assert decide(PRCTL, set_name) == decide(PRCTL, get_name) == "allowed"
    sched_core, set_ptracer, set_child_subreaper = 62, 0x59616D61, 36
    for option in (sched_core, set_ptracer, set_child_subreaper):
        assert decide(PRCTL, option) == "EPERM"


def test_waiting_is_for_one_process_alone(decide):
    private, clock, wait, wake, requeue, wait_bitset, wake_bitset = 128, 256, 0, 1, 3, 9, 10
    for operation in (wait, wake, requeue, wait_bitset, wake_bitset, wait_bitset | clock):
        assert decide(FUTEX, 0, operation | private) == "allowed"
    # The C library asks again after the first, and goes on after the second.
    assert decide(FUTEX, 0, wait) == decide(FUTEX, 0, wait_bitset | clock) == "EAGAIN"
    assert decide(FUTEX, 0, wake) == "nothing done"
    assert decide(FUTEX, 0, requeue) == decide(FUTEX, 0, wake_bitset) == "ENOSYS"


def test_other_processes_are_not_asked_about(decide):
    for name in seccomp._OF_A_PROCESS:
        numbers = seccomp.NUMBERS[name]
        assert decide(numbers, 0) == decide(numbers, PID) == "allowed"
        assert decide(numbers, PID + 1) == "ENOSYS"
    for name in seccomp._OF_A_CLOCK:
        numbers = seccomp.NUMBERS[name]
        assert decide(numbers, 2) == "allowed"
        assert decide(numbers, (~(PID + 1) << 3) | 2) == "EINVAL"


def test_pairs_of_local_stream_sockets_alone(decide):
    local, internet, stream, datagram, close_on_exec = 1, 2, 1, 2, 0o2000000
    assert decide(SOCKETPAIR, local, stream) == "allowed"
    assert decide(SOCKETPAIR, local, stream | close_on_exec) == "allowed"
    assert decide(SOCKETPAIR, local, datagram) == "EPERM"
    assert decide(SOCKETPAIR, internet, stream) == "EPERM"


def test_the_upper_half_of_an_argument_does_not_count(decide):
    """The kernel takes these arguments for 32 bits, so the filter must as well."""
    assert decide(CLONE, (1 << 32) | SIGCHLD) == "EPERM"
    assert decide(SOCKETPAIR, (1 << 32) | 2, 1) == "EPERM"


def test_calls_newer_than_the_table_are_unknown(decide, machine):
    for number in (seccomp.LAST_KNOWN + 1, 1000, 0x40000000, 0x4000003B, 0xFFFFFFFF):
        assert decide(number) == "ENOSYS"


def test_another_processors_calls_end_the_process(decide, machine):
    i386 = 0x40000003
    [other] = [a for name, a in ARCHITECTURES.items() if name != machine]
    for number in (0, 1, 57, 59):
        assert decide(number, architecture=i386) == decide(number, architecture=other) == "killed"


def test_it_is_the_same_for_every_process_but_for_its_number(machine):
    prepared = seccomp.Filter()
    one, other = prepared.of(1), prepared.of(0x01020304)
    differing = [i // 8 for i in range(len(one)) if one[i] != other[i]]
    signals_limits_priorities = 3 + 2
    assert len(set(differing)) == signals_limits_priorities + len(seccomp._OF_A_PROCESS)
    assert struct.pack("<I", seccomp._OWN_PID) not in one


def test_every_jump_stays_inside(machine):
    program = list(struct.iter_unpack("<HBBI", seccomp.Filter().of(1)))
    for i, (code, then, otherwise, _) in enumerate(program):
        if code & 0x07 == 0x05:
            assert i + 1 + max(then, otherwise) < len(program)
    assert program[-1][0] == 0x06
