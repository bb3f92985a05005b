"""Other processes find the modules as this one does: in a checkout by the path, in a wheel by the name of the package."""

from __future__ import annotations

import os

import pytest

from events import modules
from events.modules import full_name, python_environment
from tools.private import ROOT


def test_in_a_checkout_its_folders_come_first_and_once() -> None:
    given = {"A": "b", "PYTHONPATH": os.pathsep.join(["/one", str(ROOT), "", "/two"])}
    assert python_environment(given) == {"A": "b", "PYTHONPATH": os.pathsep.join([str(ROOT), "/one", "/two"]), "PYTHONSAFEPATH": "1"}
    assert python_environment({})["PYTHONPATH"] == str(ROOT)


def test_in_a_wheel_names_have_the_package_and_the_path_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modules, "_PREFIX", "warledger.")
    assert full_name("workers.run") == "warledger.workers.run"
    assert python_environment({"A": "b"}) == {"A": "b", "PYTHONSAFEPATH": "1"}
    monkeypatch.delenv("WARLEDGER_COMPILED", raising=False)
    monkeypatch.setenv("WARLEDGER_DATA", "/data")
    assert str(modules.compiled_folder()) == "/data/compiled"
