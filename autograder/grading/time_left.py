"""How much time a submission has left, over all of its processes."""

from __future__ import annotations

import time

from autograder.sandbox import Session, StudentError


class TimeLeft:
    """The seconds for all work on one submission.

    What its processes take counts, without the time in which they had no processor, and what the
    grader's own thread takes.

    Parameters
    ----------
    seconds
        That there are in all.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._began, self._spent = time.thread_time(), 0.0  # by sessions that have ended
        self._sessions: list[Session] = []

    def begins(self, session: Session) -> None:
        """Count a session from now on."""
        self._sessions.append(session)

    def ends(self, session: Session) -> None:
        """Take note of what a session has taken."""
        self._sessions.remove(session)
        self._spent += session.spent

    @property
    def left(self) -> float:
        """The seconds that are left."""
        spent = self._spent + sum(session.spent for session in self._sessions)
        return self.seconds - spent - (time.thread_time() - self._began)

    def within(self, seconds: float) -> float:
        """Return the seconds for a cell or a call: its limit, or what the notebook has left."""
        left = self.left
        if left <= 0:
            raise StudentError("timeout", f"the whole notebook took longer than {self.seconds:g} s")
        return min(left, seconds)
