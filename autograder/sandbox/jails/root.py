"""From root to a user without rights, keeping Python readable.

A worker never runs as root. Where the grader does, the zygote becomes the user "nobody". That user
must be able to read the Python installation, which below a folder such as /root it cannot: then
the zygote gets a view of the file system of its own, in which that folder holds the Python
installation, read-only, and nothing else.
"""

import os
from collections.abc import Iterable
from pathlib import Path

from autograder.sandbox.jails import kernel

_NOBODY = 65534
_OTHERS_MAY_ENTER = 0o001


def drop_root(paths: Iterable[str]) -> None:
    """Become the user "nobody", for good. Does nothing in a process that is not root's.

    Parameters
    ----------
    paths
        Files and folders that must be readable afterwards.

    Raises
    ------
    PermissionError
        If a path would not be readable, or root lacks the rights to change that. The message says
        what to do.
    """
    if os.getuid() != 0:
        return
    needed = list(paths)
    hidden = {path: folder for path in _spellings(needed) if (folder := _closed_folder(path))}
    if hidden:
        try:
            _show_only(hidden)
        except OSError as error:
            raise PermissionError(_advice(next(iter(hidden)))) from error
    try:
        os.setgroups([])
        os.setresgid(_NOBODY, _NOBODY, _NOBODY)
        os.setresuid(_NOBODY, _NOBODY, _NOBODY)
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    except OSError as error:
        raise PermissionError(
            f"root cannot become an ordinary user here ({error}): run the grader as one"
        ) from error
    for path in needed:
        access = os.R_OK | os.X_OK if Path(path).is_dir() else os.R_OK
        if not os.access(path, access):
            raise PermissionError(_advice(path))


def _advice(path: str) -> str:
    return (
        f"the Python installation at {path} cannot be read by an unprivileged user, and student "
        "code never runs as root: install Python outside of that folder (for example below /opt), "
        "or run the grader as an ordinary user"
    )


def _spellings(paths: Iterable[str]) -> list[str]:
    """Return the paths as given and with links resolved, outer folders first."""
    return sorted({*paths, *(os.path.realpath(path) for path in paths)})


def _closed_folder(path: str) -> str | None:
    """Return the outermost folder around a path that other users cannot enter."""
    for folder in reversed(Path(path).parents):
        if not folder.stat().st_mode & _OTHERS_MAY_ENTER:
            return str(folder)
    return None


def _show_only(hidden: dict[str, str]) -> None:
    """Replace each closed folder, for this process alone, by one that shows the paths in it."""
    kernel.unshare(kernel.CLONE_NEWNS)
    kernel.mount("none", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)
    originals = {path: os.open(path, os.O_PATH | os.O_CLOEXEC) for path in hidden}
    is_folder = {path: Path(path).is_dir() for path in hidden}
    folders = set(hidden.values())
    quiet = kernel.MS_NOSUID | kernel.MS_NODEV
    for folder in folders:
        kernel.mount("tmpfs", folder, "tmpfs", quiet, "mode=755,size=64k")
    for path, descriptor in originals.items():
        if not Path(path).exists():  # else it is part of a folder shown already
            if is_folder[path]:
                Path(path).mkdir(parents=True)
            else:
                Path(path).parent.mkdir(parents=True, exist_ok=True)
                Path(path).touch()
            kernel.mount(f"/proc/self/fd/{descriptor}", path, "", kernel.MS_BIND | kernel.MS_REC)
            read_only = kernel.MS_REMOUNT | kernel.MS_BIND | kernel.MS_RDONLY
            kernel.mount("none", path, "", read_only | quiet)
        os.close(descriptor)
    for folder in folders:
        kernel.mount("none", folder, "", kernel.MS_REMOUNT | kernel.MS_RDONLY | quiet)
