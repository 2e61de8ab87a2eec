"""What the one who asks and a worker say to each other: proofs, and data with a seal.

Both know a secret that never travels. A proof is for one pair of fresh numbers, one worker's
address and one course: who relays it proves nothing of himself. Jobs and grades are JSON and
notebooks' files as they are, sealed with a key that only these two can work out, and read as the
types that they are. They are not packed: that costs the one who asks more than to send them.
"""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import msgspec

from autograder.course.submissions.graded import Graded
from autograder.course.submissions.job import Job
from autograder.course.typed_json import decoded, encoded

#: The environment variable with the secret that graders and the one who asks share.
SECRET = "AUTOGRADER_CLUSTER_SECRET"

_SEAL = 32  # bytes
T = TypeVar("T")
_PACKER = msgspec.msgpack.Encoder()


class Forged(ValueError):
    """A message is not of who should have sent it."""


def fresh() -> str:
    """Return a number that was never used."""
    return secrets.token_hex(16)


def known_secrets() -> list[str]:
    """Return the secrets that are known here: a worker of several courses has a line for each."""
    return [line for line in os.environ.get(SECRET, "").splitlines() if line.strip()]


@dataclass(frozen=True)
class Meeting:
    """One who asks and one worker, met once.

    Attributes
    ----------
    asker, worker
        Their fresh numbers.
    address
        The worker's, as it knows it itself.
    secret
        What both know.
    """

    asker: str
    worker: str
    address: str
    secret: str = field(repr=False)

    def proof(self, of: str, about: str = "") -> str:
        """Return what only who knows the secret can say here, ``of`` itself and ``about`` what."""
        return self._key(of, about).hex()

    def proven(self, given: str, of: str, about: str = "") -> bool:
        """Tell whether that was said."""
        return hmac.compare_digest(given.encode(), self.proof(of, about).encode())

    def seal(self, digest: str) -> bytes:
        """Return the key for all messages about a course."""
        return self._key("seal", digest)

    def _key(self, *words: str) -> bytes:
        text = "\0".join((*words, self.asker, self.worker, self.address))
        return hmac.digest(self.secret.encode(), text.encode(), "sha256")


#: What travels of a submission: JSON about it, a notebook's file, and expensive calls.
_Parcel = tuple[bytes, bytes, dict[str, bytes]]


def packed_jobs(jobs: Sequence[Job], key: bytes) -> bytes:
    """Return jobs as they travel."""
    parcels: list[_Parcel] = [
        (encoded(replace(job, content=b"", runs={})), job.content, dict(job.runs)) for job in jobs
    ]
    return _sealed(_PACKER.encode(parcels), key, b"jobs")


def unpacked_jobs(content: bytes, key: bytes) -> list[Job]:
    """Read them, or raise ValueError."""
    parcels = _opened(_unsealed(content, key, b"jobs"), list[_Parcel])
    return [
        replace(decoded(about, Job), content=notebook, runs=runs)
        for about, notebook, runs in parcels
    ]


def packed_grades(found: Sequence[Graded | None], key: bytes) -> bytes:
    """Return grades as they travel; None where a job came to nothing."""
    parcels: list[_Parcel | None] = [
        (graded.record, graded.content, dict(graded.runs)) if graded else None for graded in found
    ]
    return _sealed(_PACKER.encode(parcels), key, b"grades")


def unpacked_grades(content: object, key: bytes) -> list[Graded | None]:
    """Read them, or raise ValueError."""
    if type(content) is not bytes:
        raise Forged("grades that are no bytes")
    parcels = _opened(_unsealed(content, key, b"grades"), list[_Parcel | None])
    return [Graded.read(*parcel) if parcel else None for parcel in parcels]


def _opened(content: memoryview, form: type[T]) -> T:
    try:
        return msgspec.msgpack.decode(content, type=form)
    except msgspec.MsgspecError as error:
        raise ValueError(f"no parcels: {error}") from error


def _sealed(content: bytes, key: bytes, kind: bytes) -> bytes:
    return _seal_of(content, key, kind) + content


def _unsealed(content: bytes, key: bytes, kind: bytes) -> memoryview:
    body = memoryview(content)[_SEAL:]
    if not hmac.compare_digest(content[:_SEAL], _seal_of(body, key, kind)):
        raise Forged("a message whose seal is not that of this meeting")
    return body


def _seal_of(content: bytes | memoryview, key: bytes, kind: bytes) -> bytes:
    seal = hmac.new(key, kind, "sha256")
    seal.update(content)
    return seal.digest()
