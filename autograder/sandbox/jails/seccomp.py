"""The filter on system calls: what student code may ask the kernel for.

It is a list of what is denied, because numpy, torch and their run-time libraries use too many
harmless calls, and other ones in each version, for a list of what is allowed. Denied are the calls
that would let the process become several, reach other processes or the network, get around
Landlock (which does not see changes of mode, owner or times) or around the limit on memory, and
rarely used parts of the kernel. Calls newer than this list answer "not implemented".
"""

import errno
import os
import platform
import struct

# Numbers on x86-64 and on aarch64, which has no calls that a newer one replaces.
_NUMBERS: dict[str, tuple[int | None, int | None]] = {
    # another process or program
    "fork": (57, None),
    "vfork": (58, None),
    "clone": (56, 220),
    "clone3": (435, 435),
    "execve": (59, 221),
    "execveat": (322, 281),
    "unshare": (272, 97),
    "setns": (308, 268),
    # other processes: signals, memory, descriptors, limits, priorities
    "kill": (62, 129),
    "tgkill": (234, 131),
    "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
    "pidfd_getfd": (438, 438),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "kcmp": (312, 272),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "prlimit64": (302, 261),
    "setpriority": (141, 140),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "sched_setattr": (314, 274),
    "sched_setaffinity": (203, 122),
    "ioprio_set": (251, 30),
    "prctl": (157, 167),
    "fcntl": (72, 25),
    "ioctl": (16, 29),
    "getpgid": (121, 155),
    "getsid": (124, 156),
    "getpriority": (140, 141),
    "ioprio_get": (252, 31),
    "sched_getparam": (143, 121),
    "sched_getscheduler": (145, 120),
    "sched_getattr": (315, 275),
    "sched_getaffinity": (204, 123),
    "sched_rr_get_interval": (148, 127),
    "get_robust_list": (274, 100),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115),
    "timer_create": (222, 107),
    # files that all may read, through which one process could tell another something
    "flock": (73, 32),
    "mincore": (27, 232),
    "cachestat": (451, 451),
    "fadvise64": (221, 223),
    "readahead": (187, 213),
    "preadv2": (327, 286),
    "futex": (202, 98),
    "futex_waitv": (449, 449),
    "futex_wake": (454, 454),
    "futex_wait": (455, 455),
    "futex_requeue": (456, 456),
    # network
    "socket": (41, 198),
    "socketpair": (53, 199),
    "connect": (42, 203),
    "bind": (49, 200),
    "listen": (50, 201),
    "accept": (43, 202),
    "accept4": (288, 242),
    # files, where Landlock does not look
    "open": (2, None),
    "openat": (257, 56),
    "openat2": (437, 437),
    "truncate": (76, 45),
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "lchown": (94, None),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "inotify_add_watch": (254, 27),
    "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    # memory that RLIMIT_AS does not count, or that outlives the process
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "shmdt": (67, 197),
    "semget": (64, 190),
    "semop": (65, 193),
    "semctl": (66, 191),
    "semtimedop": (220, 192),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "mq_timedsend": (242, 182),
    "mq_timedreceive": (243, 183),
    "mq_notify": (244, 184),
    "mq_getsetattr": (245, 185),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    # rarely used parts of the kernel
    "io_setup": (206, 0),
    "io_submit": (209, 2),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "personality": (135, 92),
    "modify_ldt": (154, None),
    "iopl": (172, None),
    "ioperm": (173, None),
    "uselib": (134, None),
    "lookup_dcookie": (212, 18),
    "syslog": (103, 116),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "acct": (163, 89),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    "vhangup": (153, 58),
}
_LAST_KNOWN = 456
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# Classic BPF, as in <linux/bpf_common.h>, over struct seccomp_data.
_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06
_IF_EQUAL, _IF_GREATER, _IF_ANY_BIT = 0x15, 0x25, 0x45
_NUMBER_OFFSET, _ARCHITECTURE_OFFSET, _ARGUMENTS_OFFSET = 0, 4, 16
_ALLOW, _ERROR, _KILL_PROCESS = 0x7FFF0000, 0x00050000, 0x80000000

_OWN_PID = 0xFFFFFFFE  # stands for the process's own number, and is no operand otherwise

_Program = list[tuple[int, int, int, int]]


def _do(code: int, operand: int) -> _Program:
    return [(code, 0, 0, operand)]


def _if(code: int, operand: int, *, then: int = 0, otherwise: int = 0) -> _Program:
    """Jump over ``then`` or ``otherwise`` instructions."""
    return [(code, then, otherwise, operand)]


def _argument(index: int) -> _Program:
    """Load the lower half of an argument: the kernel reads all those tested here as an int."""
    return _do(_LOAD, _ARGUMENTS_OFFSET + 8 * index)


def _deny(code: int) -> _Program:
    return _do(_RETURN, _ERROR | code)


def _allow() -> _Program:
    return _do(_RETURN, _ALLOW)


def _only(argument: int, values: list[int], code: int = errno.EPERM) -> _Program:
    """Allow a call only if its argument is one of the values."""
    tests: _Program = []
    for i, value in enumerate(values):
        tests += _if(_IF_EQUAL, value, then=len(values) - i)
    return [*_argument(argument), *tests, *_deny(code), *_allow()]


def _only_private_futexes() -> _Program:
    # Else who waits on a page of a library is seen, and woken, by every process that has mapped it.
    # Joining a thread is such a wait: it looks again and again instead.
    return [
        *_argument(1),
        *_if(_IF_ANY_BIT, 128, then=7),  # FUTEX_PRIVATE_FLAG
        *_do(_AND, 0x7F),
        *_if(_IF_EQUAL, 0, then=3),  # FUTEX_WAIT
        *_if(_IF_EQUAL, 9, then=2),  # FUTEX_WAIT_BITSET
        *_if(_IF_EQUAL, 1, then=2),  # FUTEX_WAKE: nobody was there
        *_deny(errno.ENOSYS),
        *_deny(errno.EAGAIN),
        *_deny(0),
        *_allow(),
    ]


def _only_threads() -> _Program:
    clone_thread, new_namespaces = 0x00010000, 0x7E020080
    return [
        *_argument(0),
        *_if(_IF_ANY_BIT, new_namespaces, then=1),
        *_if(_IF_ANY_BIT, clone_thread, then=1),
        *_deny(errno.EPERM),
        *_allow(),
    ]


def _only_stream_pairs() -> _Program:
    # A pair of datagram sockets could still send to any other local socket.
    return [
        *_argument(0),
        *_if(_IF_EQUAL, 1, otherwise=3),
        *_argument(1),
        *_do(_AND, 0xF),
        *_if(_IF_EQUAL, 1, then=1),
        *_deny(errno.EPERM),
        *_allow(),
    ]


def _no_hidden_truncation(flags: int) -> _Program:
    # Opened with access mode 3 or for reading, O_TRUNC empties a file that the older versions of
    # Landlock take for read only.
    return [
        *_argument(flags),
        *_do(_AND, os.O_ACCMODE),
        *_if(_IF_EQUAL, 3, then=3),
        *_argument(flags),
        *_do(_AND, os.O_ACCMODE | os.O_TRUNC),
        *_if(_IF_EQUAL, os.O_TRUNC, otherwise=1),
        *_deny(errno.EACCES),
        *_allow(),
    ]


_DUP_TO_SETFL, _DUPFD_CLOEXEC = list(range(5)), 1030
# Close on exec, non-blocking, bytes to read, terminal or not. FIOSETOWN would send signals.
_IOCTLS = [0x5450, 0x5451, 0x5421, 0x541B, 0x5401, 0x802C542A, 0x5413]
_OF_A_PROCESS = (
    *("getpgid", "getsid", "sched_getparam", "sched_getscheduler", "sched_getattr"),
    *("sched_getaffinity", "sched_rr_get_interval", "get_robust_list"),
)
_OF_A_CLOCK = ("clock_gettime", "clock_getres", "clock_nanosleep", "timer_create")
_CLOCKS = list(range(12))  # negative ones are those of processes
_CONDITIONAL = {
    "clone": _only_threads(),
    "clone3": _deny(errno.ENOSYS),  # its flags are out of sight; glibc falls back to clone
    "kill": _only(0, [_OWN_PID]),
    "tgkill": _only(0, [_OWN_PID]),
    "prlimit64": _only(0, [0, _OWN_PID]),
    "prctl": [*_argument(0), *_if(_IF_EQUAL, 1, otherwise=1), *_deny(errno.EPERM), *_allow()],
    # F_SETOWN and F_SETSIG send any signal to any process of the same user.
    # Locks on a file that all may read would be seen by all.
    "fcntl": _only(1, [*_DUP_TO_SETFL, _DUPFD_CLOEXEC], errno.EINVAL),
    "flock": _deny(errno.ENOLCK),
    "futex": _only_private_futexes(),
    "futex_waitv": _deny(errno.ENOSYS),
    "futex_wake": _deny(errno.ENOSYS),
    "futex_wait": _deny(errno.ENOSYS),
    "futex_requeue": _deny(errno.ENOSYS),
    "preadv2": _deny(errno.ENOSYS),
    # What the kernel says of a process could be read by another: of the own one it may be asked.
    **dict.fromkeys(_OF_A_PROCESS, _only(0, [0, _OWN_PID], errno.ENOSYS)),
    "getpriority": _only(1, [0, _OWN_PID], errno.ENOSYS),
    "ioprio_get": _only(1, [0, _OWN_PID], errno.ENOSYS),
    **dict.fromkeys(_OF_A_CLOCK, _only(0, _CLOCKS, errno.EINVAL)),
    "ioctl": _only(1, _IOCTLS, errno.ENOTTY),
    "socketpair": _only_stream_pairs(),
    "open": _no_hidden_truncation(1),
    "openat": _no_hidden_truncation(2),
    "openat2": _deny(errno.ENOSYS),
}


def supported() -> bool:
    """Return whether this processor's system call numbers are known."""
    return platform.machine() in _ARCHITECTURES


class Filter:
    """The filter, assembled once for any number of processes."""

    def __init__(self) -> None:
        machine = platform.machine()
        column = list(_ARCHITECTURES).index(machine)
        code = [
            *_do(_LOAD, _ARCHITECTURE_OFFSET),
            *_if(_IF_EQUAL, _ARCHITECTURES[machine], then=1),
            *_do(_RETURN, _KILL_PROCESS),
            *_do(_LOAD, _NUMBER_OFFSET),
        ]
        for name, numbers in _NUMBERS.items():
            number = numbers[column]
            if number is not None:
                body = _CONDITIONAL.get(name) or _deny(errno.EPERM)
                code += [*_if(_IF_EQUAL, number, otherwise=len(body)), *body]
        # This also covers the x32 calls, which carry a high bit.
        code += [*_if(_IF_GREATER, _LAST_KNOWN, otherwise=1), *_deny(errno.ENOSYS), *_allow()]
        self._own = [8 * i + 4 for i, (*_, operand) in enumerate(code) if operand == _OWN_PID]
        self._code = b"".join(struct.pack("<HBBI", *instruction) for instruction in code)

    def of(self, own_pid: int) -> bytes:
        """Return the filter of one process, as an array of ``struct sock_filter``.

        Parameters
        ----------
        own_pid : int
            The process that may send signals to itself.
        """
        code = bytearray(self._code)
        for offset in self._own:
            struct.pack_into("<I", code, offset, own_pid)
        return bytes(code)
