"""Load an author's module by its path: nothing imports a reference."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

#: The module of a course, ``reference/helpers.py``, of which its references take what they share.
HELPERS = "helpers"

_helpers: tuple[Path, bytes] | None = None  # where they were loaded from, and what stood there


def load_module(path: Path) -> ModuleType:
    """Run the module at ``path`` and return it; what it raises is the author's.

    ``from reference.helpers import …`` in it is about the helpers of the same course.
    """
    _offer(path.parent.parent)
    return _run(f"reference.{path.parent.name}.{path.stem}", path)


def load_earlier(place: str) -> ModuleType:
    """Run the module of another exercise, ``"a04_waves/spectrum"``, of the same course.

    It is asked for by a module that is being loaded.

    Raises
    ------
    FileNotFoundError
        If there is none.
    """
    path = Path(sys.modules["reference"].__path__[0], f"{place}.py")
    return _run(f"reference.{place.replace('/', '.')}", path)


def load_helpers(folder: Path) -> ModuleType:
    """Run the helpers in the folder of a course's references, and return the module."""
    global _helpers
    _helpers = None  # it may break off halfway: who needs them next runs them again
    return _run(f"reference.{HELPERS}", folder / f"{HELPERS}.py")


def _offer(folder: Path) -> None:
    """Let imports find the helpers of this course as they are now; they run once for all modules.

    Neither those of a course loaded before are found, nor what stood in the file before.
    """
    global _helpers
    package = sys.modules["reference"] = ModuleType("reference")
    package.__path__ = [str(folder)]
    path = folder / f"{HELPERS}.py"
    found = path, path.read_bytes() if path.is_file() else b""
    if found != _helpers:
        sys.modules.pop(f"reference.{HELPERS}", None)
        _helpers = found
    importlib.invalidate_caches()


def _run(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    # Bytecode is known by size and second: who corrects a digit at once would run what was there.
    kept, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        spec.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = kept
    return module
