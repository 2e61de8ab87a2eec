"""How to get a stronger isolation tier, in commands for whoever runs the machine."""

from pathlib import Path

from autograder.sandbox.jails import bubblewrap

_SETTINGS = Path("/proc/sys")
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
_CONTAINER = (
    "if this is a container, its runtime may deny namespaces: Docker and Podman allow them with "
    "`--security-opt seccomp=unconfined --security-opt apparmor=unconfined`"
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
        The name of the part, as in `isolation.Part`.
    """
    if what == "bubblewrap" and bubblewrap.installed() is None:
        return "install bubblewrap: `apt install bubblewrap` or `dnf install bubblewrap`"
    if what in ("bubblewrap", "namespaces"):
        return _namespaces()
    return _KERNEL.get(what, "see what was tried")


def _namespaces() -> str:
    """Look for the switch that denies namespaces; which one it is, trying does not tell."""
    for name, (off, on) in _SWITCHES.items():
        if _setting(name) == off:
            return f"namespaces are switched off: `sysctl -w {on}`"
    if _setting(_APPARMOR) == "1":
        return _PROFILE
    return _CONTAINER


def _setting(name: str) -> str:
    try:
        return (_SETTINGS / name).read_text().strip()
    except OSError:  # this kernel has no such switch
        return ""
