"""How many jobs go to a worker in one message: a message costs the one who asks milliseconds.

What is sent at once should take a second or two, so that the messages cost little beside it; but no
worker may have a queue while another one has nothing to do, so the last ones go in small portions.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

_SECONDS = 1.6  # that a batch takes
_MOST = 16  # jobs in one, as all of them are in memory
_LATEST = 64  # jobs by which the time of the next ones is estimated
_SHARES = 2  # of what is left, for each grader


@dataclass(eq=False)
class Batch:
    """What a worker is asked for at once.

    Attributes
    ----------
    numbers
        Of the jobs, as the one who asks counts them.
    there
        Dask's future of it.
    """

    numbers: Sequence[int]
    there: Any = None


@dataclass
class Pace:
    """How long the latest jobs took, and what follows for the size of a batch.

    Examples
    --------
    >>> pace = Pace()
    >>> pace.most, pace.size(100, graders=4, more=True)  # nothing is known yet
    (1, 1)
    >>> pace.took(0.1)
    >>> pace.most, pace.size(100, graders=4, more=True), pace.size(9, graders=4, more=True)
    (16, 16, 0)
    >>> [pace.size(left, graders=4, more=False) for left in (100, 40, 9, 1, 0)]
    [13, 5, 2, 1, 0]
    """

    _seconds: deque[float] = field(default_factory=lambda: deque(maxlen=_LATEST))

    def took(self, seconds: float) -> None:
        """Take note of a job."""
        self._seconds.append(seconds)

    @property
    def most(self) -> int:
        """How many jobs take a second or two; one while nothing is known."""
        if not self._seconds:
            return 1
        return max(1, min(_MOST, round(_SECONDS / max(fmean(self._seconds), _SECONDS / _MOST))))

    def size(self, waiting: int, *, graders: int, more: bool) -> int:
        """Return how many of the waiting jobs to send at once; none if it is better to wait.

        Parameters
        ----------
        more
            Whether others will come: then a batch that isn't full is no use.
        """
        if more:
            return self.most if waiting >= self.most else 0
        return min(self.most, -(-waiting // (_SHARES * graders)))
