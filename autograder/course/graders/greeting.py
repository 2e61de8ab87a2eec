"""How the one who asks and a worker of a cluster come to trust each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from autograder.course.config import CourseError
from autograder.course.graders.batches import Batch
from autograder.course.graders.messages import SECRET, Meeting, fresh
from autograder.course.graders.station import meet, stand
from autograder.course.submissions.bundle import Bundle


@dataclass
class GreetedWorker:
    """A worker, and what it was given.

    Attributes
    ----------
    width
        How many jobs it does at once; 0 until it is ready.
    proof, seal
        What it knows us by, and the key of what is said to it.
    running
        What it was asked for and has not answered.
    """

    address: str
    width: int = 0
    proof: str = ""
    seal: bytes = b""
    running: set[Batch] = field(default_factory=set)


def greeted(
    ask: Callable[..., Any],
    address: str,
    bundle: Bundle,
    manner: tuple[int, bool],
    secret: str,
) -> tuple[str, bytes]:
    """Let a worker prove itself, give it the course, and have it prove its isolation.

    Parameters
    ----------
    ask
        Has the worker call a function, and returns what that gives.
    manner
        How many jobs it is to do at once, and whether it need not isolate students.
    secret
        That it is to know.

    Returns
    -------
    str, bytes
        What it knows us by from now on, and the key of what is said.

    Raises
    ------
    CourseError
        If it does not know the secret, or can't grade.
    """
    own = fresh()
    number, proofs = ask(meet, own)
    meeting = Meeting(own, str(number), address, secret)
    if not any(meeting.proven(str(proof), "worker") for proof in proofs):
        raise CourseError(f"it does not know the secret in {SECRET}")
    ours = meeting.proof("asker", bundle.digest)
    if refusal := ask(stand, bundle.digest, bundle.content, *manner, (own, meeting.worker), ours):
        raise CourseError(str(refusal))
    return ours, meeting.seal(bundle.digest)
