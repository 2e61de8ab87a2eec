"""The machine as student code sees it in tiers A and A-: Python, the system's libraries.

`main` runs in a process of its own. It becomes bubblewrap, which becomes Python with one of our
modules in it: in new namespaces, so that there are no other processes, no network and no files but
those listed here, all of them read-only.

References
----------
https://github.com/containers/bubblewrap
"""

import os
import shutil
import sys
from pathlib import Path

from autograder.sandbox.jails import confinement, control, root

_OURS = str(Path(__file__).resolve().parents[1])
_ROOT_INSIDE = "/srv"
_DEVICES = (os.devnull, *confinement.DEVICES)
_PROCESSOR = "/sys/devices/system/cpu"  # the zygote's libraries look; workers can't open it
_NAMESPACES = ("user", "pid", "ipc", "net", "uts", "cgroup-try")


def installed() -> str | None:
    """Return the path of bubblewrap, or None."""
    return shutil.which("bwrap", path=os.environ.get("PATH", os.defpath) + os.pathsep + os.defpath)


def command(module: str, *arguments: str, data: str = "") -> list[str]:
    """Return a command line that calls ``main`` of one of our modules inside bubblewrap.

    ``data`` is a folder whose files student code may read: inside it is `confinement.DATA`.

    Raises
    ------
    FileNotFoundError
        If bubblewrap is not installed.
    """
    program = installed()
    if program is None:
        raise FileNotFoundError("bwrap is not installed")
    return control.command(__name__, program, data, module, *arguments)


def main(program: str, data: str, module: str, *arguments: str) -> None:
    """Give up root's rights, if there are any, and become ``module`` inside bubblewrap."""
    executable = os.path.realpath(sys.executable)
    shown = [*confinement.python_paths(), executable, *_environment()]
    try:
        root.drop_root([*shown, _OURS, *filter(None, [data])])
    except PermissionError as error:
        sys.exit(str(error))
    inside = control.command(module, *arguments, root=_ROOT_INSIDE)
    os.execv(program, [program, *_options(shown, executable, data), "--", *inside])


def _environment() -> list[str]:
    """Return the file by which Python knows its virtual environment, if it is in one."""
    file = Path(sys.prefix) / "pyvenv.cfg"
    return [str(file)] if file.exists() else []


def _options(shown: list[str], executable: str, data: str) -> list[str]:
    shown = sorted({*shown, *confinement.SYSTEM_LIBRARIES})  # outer folders first
    return [
        *(f"--unshare-{name}" for name in _NAMESPACES),
        "--die-with-parent",
        # Over these namespaces alone, so that a zygote can start workers in further ones.
        *("--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN"),
        *(part for path in [*shown, _PROCESSOR] for part in ("--ro-bind-try", path, path)),
        # A virtual environment has a link, of which only the last target is sure to be there.
        *("--ro-bind", executable, sys.executable),
        *("--ro-bind", _OURS, f"{_ROOT_INSIDE}/autograder/sandbox"),
        *(("--ro-bind", data, confinement.DATA) if data else ()),
        # Not `--dev`, for the sake of which the zygote would not own its namespace of processes.
        *(part for path in _DEVICES for part in ("--dev-bind", path, path)),
        *("--proc", "/proc", "--tmpfs", confinement.SCRATCH, "--remount-ro", "/", "--chdir", "/"),
        *("--setenv", "HOME", confinement.SCRATCH, "--setenv", "TMPDIR", confinement.SCRATCH),
    ]
