"""A zygote and a yardstick for all samples."""

import pytest

from autograder.grading.yardstick import Yardstick
from autograder.sandbox import Zygote


@pytest.fixture(scope="package")
def zygote():
    with Zygote(("numpy", "torch")) as zygote:
        yield zygote


@pytest.fixture(scope="package")
def yardstick():
    with Yardstick() as yardstick:
        yield yardstick
