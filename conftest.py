"""The settings of hypothesis and of the garbage collector for all tests, and their order.

A slow machine is no failure, and a failure prints how to repeat it.

HYPOTHESIS_PROFILE names other settings: `mutants`, for tools/mutate.py, tries the same few examples on every mutant and does not look for
the smallest that fails.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
from pathlib import Path

import pytest
from hypothesis import Phase, settings

settings.register_profile("warledger", deadline=None, print_blob=True, max_examples=50)
settings.register_profile(
    "mutants", deadline=None, max_examples=25, derandomize=True, database=None, phases=[Phase.explicit, Phase.generate]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "warledger"))

ROOT = Path(__file__).parent
EARLY = ("tests/whole", "tests/docs", "tests/browser", "tests/workers", "tests/service/test_schemathesis.py")  # what takes longest


def pytest_sessionstart(session: pytest.Session) -> None:
    """Let each of several processes begin its imports with another file: what one has compiled, the others then read.

    Compiling all tests takes as long as collecting them, and a fresh clone has to do it.
    """
    worker = getattr(session.config, "workerinput", None)
    if worker and session.config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in sorted(ROOT.glob("tests/**/test_*.py"))]
        first = len(names) * int(worker["workerid"].removeprefix("gw")) // worker["workercount"]
        for name in names[first:] + names[:first]:
            with contextlib.suppress(Exception):  # the collection reports it
                importlib.import_module(name)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest. Each file goes to one of several processes, and none should end long after the others."""
    items.sort(key=lambda item: not item.nodeid.startswith(EARLY))


def pytest_collection_finish() -> None:
    """Leave all that collecting the tests has made out of every collection of garbage, and collect less often: a tenth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000)
