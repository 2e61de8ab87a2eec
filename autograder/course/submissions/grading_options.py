"""How a class is graded: one set of options, from the command line down to the graders."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class GradingOptions:
    """What whoever grades chooses.

    Attributes
    ----------
    students
        Whose submissions; by default everybody's.
    jobs
        How many at once; by default one per processor.
    force
        Grade again what is up to date.
    trust_students
        Run student code without isolation where the machine offers none.
    gpu
        Run the checks that need a GPU, in processes without isolation.
    waiting_for_gpu
        Grade only submissions with a check that was withheld for want of a GPU.
    """

    students: tuple[str, ...] = ()
    jobs: int | None = None
    force: bool = False
    trust_students: bool = False
    gpu: bool = False
    waiting_for_gpu: bool = False

    @property
    def width(self) -> int:
        """How many submissions are graded at once: one with a GPU, where times are compared."""
        return 1 if self.gpu else self.jobs or os.cpu_count() or 1


DEFAULT = GradingOptions()
