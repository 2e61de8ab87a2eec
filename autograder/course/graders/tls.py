"""Encrypted connections to a scheduler: which files they take."""

from __future__ import annotations

from pathlib import Path

from distributed.security import Security

from autograder.course.config import CourseError


def certificates(scheduler: str, tls: Path | None) -> dict[str, str]:
    """Return the files for an encrypted connection: ca, cert and key; none for an open one.

    Raises
    ------
    CourseError
        If the address and the certificates don't go together.
    """
    if scheduler.startswith("tls://") and tls is None:
        raise CourseError(f"{scheduler} takes certificates: --tls FOLDER, see docs/cluster.md")
    if tls is None:
        return {}
    if not scheduler.startswith("tls://"):
        raise CourseError(f"--tls is for an address that begins with tls://, and not {scheduler}")
    found = {name: tls / f"{name}.pem" for name in ("ca", "cert", "key")}
    for path in found.values():
        if not path.is_file():
            raise CourseError(f"{path} is missing: --tls names a folder that holds it")
    return {name: str(path) for name, path in found.items()}


def security(files: dict[str, str]) -> Security | None:
    """Return Dask's settings for these files, None where there are none."""
    if not files:
        return None
    return Security(
        require_encryption=True,
        tls_ca_file=files["ca"],
        tls_client_cert=files["cert"],
        tls_client_key=files["key"],
    )
