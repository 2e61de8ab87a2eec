"""Hashes of what results depend on: files, the engine, the libraries that compute."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import stat
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

import numpy as np

from autograder.exercise.answers.registry import brought

#: The layers of the engine that a grade depends on; what delivers it lies above them.
GRADING = ("student", "algebra", "exercise", "sandbox", "grading", "course")
#: What computes beside it.
LIBRARIES = ("numpy", "sympy", "torch")
#: How the names of variables begin by which a library computes otherwise.
_SETTINGS = ("OPENBLAS_", "OMP_", "MKL_", "NPY_", "ATEN_", "ONEDNN_")


def engine_digest(*layers: str) -> bytes:
    """Hash the source files of the engine, and of packages that bring kinds of answers.

    Of some layers alone where they are named.
    """
    root = Path(__file__).parents[1]
    folders = [root / layer for layer in layers] or [root]
    files = [path for folder in folders for path in sorted(folder.rglob("*.py"))]
    return hash_of(map(hash_file, [*files, *brought()]))


def libraries_digest() -> bytes:
    """Hash what decides how numbers come out: Python, libraries, their settings, the processor."""
    found = [platform.machine(), platform.python_version()]
    for name in LIBRARIES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found.append(f"{name} {metadata.version(name)}")
    found += (f"{n}={value}" for n, value in sorted(os.environ.items()) if n.startswith(_SETTINGS))
    return hash_of([*(text.encode() for text in found), *_rounded()])


def _rounded() -> Iterator[bytes]:
    """Yield products and exponentials, whose last digits differ from processor to processor."""
    x = np.random.default_rng(0).normal(size=(64, 64))
    for kind in ("f4", "f8"):
        yield np.exp(x.astype(kind)).tobytes()
        yield (x.astype(kind) @ x.astype(kind)).tobytes()


def hash_of(parts: Iterable[bytes]) -> bytes:
    """Hash hashes and short texts."""
    return hashlib.sha256(b"\0".join(parts)).digest()


def hash_file(path: Path, most: int | None = None) -> bytes:
    """Hash a file; of one that can't be read, or is larger than is read, say so."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):  # a pipe would be waited for
            return b"no file"
        if most is not None and status.st_size > most:
            return b"%d bytes" % status.st_size
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError as error:
        return repr(error).encode()
