"""One machine stands for several: a release, its proofs and its marks are the same under each."""

import subprocess
import sys

import pytest

from ..courses import MOTION, SAMPLE
from ..loaded import ROOT


@pytest.mark.slow
@pytest.mark.sandbox
def test_the_processor_changes_nothing():
    command = [sys.executable, ROOT / "bench/processors.py", MOTION, "--course", SAMPLE]
    done = subprocess.run(
        [*command, "--students", "6"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line for line in done.stdout.splitlines() if line.endswith("0 differ, 0 wrong")]
    assert len(lines) >= 3  # this one, Prescott, two threads; others where there are such units
    assert any("rounds otherwise" in line for line in lines)
