"""Encrypted connections to a scheduler: which files they take, and how these are made."""

from __future__ import annotations

import ipaddress
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

from distributed.security import Security

from autograder.course.config import CourseError

_NAMES = ("ca", "cert", "key")


def encrypted(scheduler: str) -> str:
    """Return an address with what it speaks; where it doesn't say, that is TLS.

    >>> encrypted("10.0.0.1:8786"), encrypted("tcp://127.0.0.1:8786")
    ('tls://10.0.0.1:8786', 'tcp://127.0.0.1:8786')
    """
    return scheduler if "://" in scheduler else f"tls://{scheduler}"


def certificates(scheduler: str, tls: Path | None, *, insecure: bool = False) -> dict[str, str]:
    """Return the files for an encrypted connection: ca, cert and key; none for an open one.

    Raises
    ------
    CourseError
        If the address and the certificates don't go together, or an open connection would leave
        this machine or was not asked for.
    """
    if scheduler.startswith("tls://") and tls is None:
        raise CourseError(
            f"{scheduler} takes certificates: --tls FOLDER; `autograder cluster certificates "
            "FOLDER` makes them, see docs/cluster.md"
        )
    if tls is None:
        if not insecure or not _is_here(scheduler):
            raise CourseError(
                f"what goes through {scheduler} anybody on the way can read and change, and who "
                "reaches it can run programs on every worker: use tls:// with --tls FOLDER. On "
                "this machine alone, tcp://127.0.0.1 is taken with --insecure"
            )
        return {}
    if not scheduler.startswith("tls://"):
        raise CourseError(f"--tls is for an address that begins with tls://, and not {scheduler}")
    found = {name: tls / f"{name}.pem" for name in _NAMES}
    for path in found.values():
        if not path.is_file():
            raise CourseError(f"{path} is missing: --tls names a folder that holds it")
    if found["key"].stat().st_mode & 0o077:
        raise CourseError(f"others can read {found['key']}: `chmod 600 {found['key']}`")
    return {name: str(path) for name, path in found.items()}


def _is_here(scheduler: str) -> bool:
    host = urlsplit(scheduler).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def make_certificates(folder: Path, days: int) -> list[str]:
    """Make a key and a certificate that is its own authority; return what was done.

    Raises
    ------
    CourseError
        If there are some already, or openssl is missing or refuses.
    """
    if there := [f"{name}.pem" for name in _NAMES if (folder / f"{name}.pem").exists()]:
        raise CourseError(f"{folder} holds {', '.join(there)} already: name another folder")
    if not shutil.which("openssl"):
        raise CourseError("openssl is missing, which makes certificates: install it")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as name:
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt"]
        command += ["ec_paramgen_curve:P-256", "-nodes", "-days", str(days), "-subj", "/CN=course"]
        command += ["-keyout", "key.pem", "-out", "cert.pem"]
        done = subprocess.run(command, cwd=name, capture_output=True, text=True, check=False)
        if done.returncode:
            raise CourseError(f"openssl makes no certificate: {done.stderr.strip()[-300:]}")
        made = Path(name)
        shutil.copy(made / "cert.pem", made / "ca.pem")
        (made / "key.pem").chmod(0o600)
        for each in _NAMES:
            os.replace(made / f"{each}.pem", folder / f"{each}.pem")  # noqa: PTH105
    return [
        f"ca.pem, cert.pem and key.pem are in {folder}, for {days} days",
        "copy the folder to every machine that takes part; who has key.pem can take part",
    ]


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
