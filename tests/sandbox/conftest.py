"""Zygotes that a module's tests share: locked down as in production, and not at all."""

import pytest

from autograder.sandbox import Isolation, Limits, Zygote

LIMITS = Limits(cell_seconds=5.0, call_seconds=5.0, memory_mb=256, cpu_seconds=30.0)


@pytest.fixture(scope="package")
def zygote():
    with Zygote(("numpy",), limits=LIMITS) as zygote:
        yield zygote


@pytest.fixture(scope="package")
def unlocked():
    """What student code could do if nothing held it back."""
    with Zygote(("numpy",), isolation=Isolation("C"), trust=True, limits=LIMITS) as zygote:
        yield zygote


@pytest.fixture
def session(zygote):
    with zygote.session() as session:
        yield session
