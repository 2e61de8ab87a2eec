"""How to get a stronger isolation tier, in commands for whoever runs the machine."""

import contextlib
import os
import re
from pathlib import Path

from autograder.sandbox.jails import bubblewrap

_ROOT = Path("/")
_SWITCHES = {
    "user/max_user_namespaces": ("0", "user.max_user_namespaces=15000"),
    "kernel/unprivileged_userns_clone": ("0", "kernel.unprivileged_userns_clone=1"),
}
_APPARMOR = "kernel/apparmor_restrict_unprivileged_userns"
_PROFILE = (
    "AppArmor keeps ordinary users from namespaces: write a profile for bubblewrap, "
    "/etc/apparmor.d/bwrap, with the lines `abi <abi/4.0>,`, `include <tunables/global>`, "
    "`profile bwrap /usr/bin/bwrap flags=(unconfined) { userns, }`, and load it with "
    "`apparmor_parser -r /etc/apparmor.d/bwrap`"
)
_UNNAMED = "unknown runtime"
# Two things stand against bubblewrap in a container: a filter that denies namespaces, and masks
# over parts of /proc, for which the kernel grants no other /proc. Podman has the masks alone.
_FLAGS = {
    "Podman": "start it with `podman run --security-opt 'unmask=/proc/*'`",
    "Docker": "start it with `docker run --security-opt seccomp=unconfined --security-opt "
    "systempaths=unconfined --security-opt apparmor=unconfined`",
    "Buildah": "`buildah run` only changes the root folder, below which the kernel grants no "
    "namespaces: run the image with Podman",
    "Kubernetes": "give the container's securityContext `seccompProfile: {type: Unconfined}` and "
    "`procMount: Unmasked`, which takes `hostUsers: false` for the pod",
    _UNNAMED: "the runtime must allow namespaces of users, and mask nothing in /proc",
}
_UNKNOWN = (
    "the kernel denies namespaces, and no switch for that was found: if this is a container, "
    + _FLAGS[_UNNAMED]
)
_GROUPS = re.compile(r"docker|containerd|kubepods|libpod|lxc")
_OLD_FILTER = (
    "or this container's runtime has a filter older than Landlock: try "
    "`--security-opt seccomp=unconfined`"
)
_KERNEL = {
    "user": "run the grader as an ordinary user, or install Python where everybody can read it",
    "Landlock": "Landlock takes Linux 5.13 or newer with landlock among the security modules "
    "(/sys/kernel/security/lsm): add it to `lsm=` on the kernel's command line",
    "seccomp": "the system call filter takes Linux with CONFIG_SECCOMP_FILTER on x86-64 or aarch64",
}


def on(what: str) -> str:
    """Return what to do about a part that does not work.

    Parameters
    ----------
    what : str
        The name of the part, as in `isolation.Trial`.
    """
    if what == "bubblewrap" and bubblewrap.installed() is None:
        return "install bubblewrap: `apt install bubblewrap` or `dnf install bubblewrap`"
    if what in ("bubblewrap", "namespaces"):
        return _namespaces()
    if what == "Landlock" and container():
        return f"{_KERNEL[what]}; {_OLD_FILTER}"
    return _KERNEL.get(what, "see what was tried")


def _namespaces() -> str:
    """Look for the switch that denies namespaces; which one it is, trying does not tell."""
    for name, (off, on) in _SWITCHES.items():
        if _setting(name) == off:
            return f"namespaces are switched off: `sysctl -w {on}`"
    runtime = container()
    steps = [f"this is a container ({runtime}): {_FLAGS[runtime]}"] if runtime else []
    if _setting(_APPARMOR) == "1":
        steps.append(f"on the machine itself, {_PROFILE}" if runtime else _PROFILE)
    return "; ".join(steps) or _UNKNOWN


def container() -> str:
    """Return whose container this process is in, or nothing if it is in none."""
    if "KUBERNETES_SERVICE_HOST" in os.environ:  # whatever runs its containers
        return "Kubernetes"
    with contextlib.suppress(OSError):
        mark = (_ROOT / "run/.containerenv").read_text()
        return "Buildah" if 'engine="buildah' in mark else "Podman"
    if (_ROOT / ".dockerenv").exists():
        return "Docker"
    with contextlib.suppress(OSError):
        if _GROUPS.search((_ROOT / "proc/1/cgroup").read_text()):
            return _UNNAMED
    return ""


def _setting(name: str) -> str:
    try:
        return (_ROOT / "proc/sys" / name).read_text().strip()
    except OSError:  # this kernel has no such switch
        return ""
