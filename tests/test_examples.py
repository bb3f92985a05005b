"""The examples in docstrings run: of every module of PACKAGES, and every public function of EVERY_FUNCTION has one."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

PACKAGES = ("games", "players", "evidence", "record", "warledger", "events.modules")
EVERY_FUNCTION = ("games.kernel", "games.choices", "games.draws", "games.documents", "evidence")
LEAST = 100  # functions with examples
OBVIOUS = {
    "games.kernel.never_refused",
    "games.kernel.admissible",
    "evidence.checkpoints.hashes_of",  # hash_of has one
    "evidence.witness.answer",  # needs a log, as tests/evidence and tools/witness.py have one
    "evidence.witness.is_signed",
}
FINDER = doctest.DocTestFinder(exclude_empty=True)


def modules(package: str) -> Iterator[str]:
    """Yield the names of a package and of all modules below it, but for pinned rules, which nobody edits."""
    yield package
    for module in pkgutil.walk_packages(getattr(importlib.import_module(package), "__path__", []), f"{package}."):
        if not module.name.startswith("games.pinned."):
            yield module.name


def functions(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Yield the public functions that are defined in a module, by their full name."""
    for name, found in vars(module).items():
        if inspect.isfunction(found) and found.__module__ == module.__name__ and not name.startswith("_"):
            yield f"{module.__name__}.{name}", found


@pytest.mark.parametrize("package", PACKAGES)
def test_examples_are_true(package: str) -> None:
    runner = doctest.DocTestRunner(optionflags=doctest.REPORT_NDIFF)
    said: list[str] = []
    for name in modules(package):
        for example in FINDER.find(importlib.import_module(name), name):
            runner.run(example, out=said.append)
    assert runner.summarize(verbose=False).attempted > 0
    assert said == []


@pytest.mark.parametrize("name", [name for package in EVERY_FUNCTION for name in modules(package)])
def test_every_public_function_has_an_example(name: str) -> None:
    without = {full for full, function in functions(importlib.import_module(name)) if ">>>" not in (function.__doc__ or "")}
    assert without <= OBVIOUS


def test_there_are_many() -> None:
    found = [
        example.name
        for package in PACKAGES
        for name in modules(package)
        for example in FINDER.find(importlib.import_module(name), name)
        if example.examples
    ]
    assert len(set(found)) >= LEAST
