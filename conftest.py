"""The settings of hypothesis and of the garbage collector for all tests, and their order.

A slow machine is no failure, and a failure prints how to repeat it.

HYPOTHESIS_PROFILE names other settings: `mutants`, for tools/mutate.py, tries the same few examples on every mutant and does not look for
the smallest that fails.
"""

from __future__ import annotations

import gc
import os

import pytest
from hypothesis import Phase, settings

settings.register_profile("warledger", deadline=None, print_blob=True)
settings.register_profile(
    "mutants", deadline=None, max_examples=25, derandomize=True, database=None, phases=[Phase.explicit, Phase.generate]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "warledger"))

EARLY = ("tests/whole", "tests/docs", "tests/browser", "tests/workers", "tests/service/test_schemathesis.py")  # what takes longest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest. Each file goes to one of several processes, and none should end long after the others."""
    items.sort(key=lambda item: not item.nodeid.startswith(EARLY))


def pytest_collection_finish() -> None:
    """Leave all that collecting the tests has made out of every collection of garbage, and collect less often: a tenth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000)
