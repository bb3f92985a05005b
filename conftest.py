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

WAITING = ("tests/whole", "tests/docs", "tests/browser", "tests/workers", "tests/service/test_schemathesis.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let three files that compute follow each that mostly waits for other processes, so that the processors are busy all the time.

    Each file goes to one of several processes, so what takes longest begins early.
    """
    files: dict[str, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.nodeid.partition("::")[0], []).append(item)
    waiting = [file for file in files if file.startswith(WAITING)]
    computing = [file for file in files if not file.startswith(WAITING)]
    order = [file for place, first in enumerate(waiting) for file in (first, *computing[3 * place : 3 * place + 3])]
    order += computing[3 * len(waiting) :]
    items[:] = [item for file in order for item in files[file]]


def pytest_collection_finish() -> None:
    """Leave all that collecting the tests has made out of every collection of garbage, and collect less often: a tenth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000)
