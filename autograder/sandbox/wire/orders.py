"""What the grader tells the zygote: how to begin, and what to do with its workers.

Messages go as JSON, with descriptors beside them; a worker is known by a number of the grader's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, get_args


@dataclass(frozen=True)
class Beginning:
    """How a zygote is to begin.

    Attributes
    ----------
    modules, also
        What it imports: what must be there, and what may be.
    tier, allowed
        How its workers are held back, and `jails.jail.Allowed`, what they may use.
    cpus
        The processors that it may use, where that is limited.
    data
        A folder that they can read, or nothing.
    """

    modules: Sequence[str]
    also: Sequence[str]
    tier: str
    allowed: dict[str, Any]
    cpus: Sequence[int] | None
    data: str


@dataclass(frozen=True)
class ForkWorker:
    """Fork a worker, on one processor if that is said; its connection comes along."""

    id: int
    cpu: int | None


@dataclass(frozen=True)
class ReapWorker:
    """Kill a worker, and say what it used."""

    id: int


@dataclass(frozen=True)
class ReadTime:
    """Say a worker's processor time."""

    id: int


@dataclass(frozen=True)
class ReadClocks:
    """Say a worker's processor time, and how long its threads have waited for a processor."""

    id: int


@dataclass(frozen=True)
class WatchMemory:
    """Say how much memory a worker holds, and watch it from now on."""

    id: int


@dataclass(frozen=True)
class MostMemory:
    """Say the most that it has held since, and watch no longer."""

    id: int


#: What is answered by one number, where it can be read.
Reading = ReadTime | WatchMemory | MostMemory

#: What can be asked of a zygote about a worker.
Order = ForkWorker | ReapWorker | ReadClocks | Reading

_KINDS: dict[str, type[Order]] = {kind.__name__: kind for kind in get_args(Order)}


def to_json(order: Order) -> dict[str, Any]:
    """Return an order as JSON."""
    return {"do": type(order).__name__, **asdict(order)}


def from_json(message: dict[str, Any]) -> Order:
    """Return the order that a message holds."""
    return _KINDS[message.pop("do")](**message)
