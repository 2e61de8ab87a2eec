"""Tiers of isolation: what needs a stronger one than this machine gives is skipped."""

import os

import pytest

from autograder.sandbox import Isolation, probe
from autograder.sandbox.jails.bubblewrap import installed


def isolation_of(tier):
    """Return a tier to start a zygote in; where the full run demands all of them, it must work."""
    if not probe().reaches(tier) and not os.environ.get("AUTOGRADER_REQUIRE_SANDBOX"):
        if not installed():
            pytest.skip("not installed: bubblewrap")
        pytest.skip(f"this machine gives tier {probe().tier}: `autograder doctor` says why")
    return Isolation(tier)
