"""Tiers of isolation: what needs a stronger one than this machine gives is skipped."""

import os

import pytest

from autograder.sandbox import Isolation, probe
from autograder.sandbox.jails.bubblewrap import installed


def isolation_of(tier):
    """Return a tier to start a zygote in, or skip where this machine doesn't give it.

    The full run demands all of them; those that ``AUTOGRADER_TIERS`` names, as far as they go.
    """
    demanded = "AUTOGRADER_REQUIRE_SANDBOX" in os.environ and "AUTOGRADER_TIERS" not in os.environ
    if not probe().reaches(tier) and not demanded:
        if not installed():
            pytest.skip("not installed: bubblewrap")
        pytest.skip(f"this machine gives tier {probe().tier}: `autograder doctor` says why")
    return Isolation(tier)
