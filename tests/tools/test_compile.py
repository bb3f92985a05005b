"""Compiled rules: which modules are compiled, when they are used, and that they pass the laws."""

from __future__ import annotations

import os

import pytest

from events import modules
from events.modules import COMPILED, SOURCES, STAMP, stamp
from service.supervisor.forking import FORKS
from service.supervisor.serve import worker_children, worker_environment
from tools import compile as compiling
from warledger import __main__


def test_the_rules_and_the_players_are_compiled_but_nothing_that_needs_its_own_place():
    names = [path.relative_to(compiling.ROOT).as_posix() for path in compiling.sources(compiling.ROOT)]
    assert {"games/kernel.py", "games/war/attacks.py", "players/greedy.py"} <= set(names)
    assert not [name for name in names if name.endswith("__init__.py") or name.startswith("games/pinned/")]


def test_workers_have_the_compiled_modules_first_on_their_path():
    environment = {"PYTHONPATH": "/here", "A": "b"}
    assert worker_environment(environment) == environment
    there = {**environment, "WARLEDGER_COMPILED": "/there"}
    assert worker_environment(there) == {**there, "PYTHONPATH": "/there:/here"}


def test_workers_with_compiled_modules_are_no_forks_of_a_process_that_has_others():
    plain, compiled = [
        worker_children([("advance",)], {"PYTHONPATH": "/here", **more}, None) for more in ({}, {"WARLEDGER_COMPILED": "/x"})
    ]
    assert [child.heart is not None for child in (*plain, *compiled)] == [FORKS, False]


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Return a folder of compiled modules of the present sources, as the setting names it."""
    (tmp_path / STAMP).write_text(stamp())
    monkeypatch.setenv(COMPILED, str(tmp_path))
    return tmp_path


@pytest.fixture
def begun(monkeypatch):
    """Return a list that gets the environment in which a command begins again."""
    found = []
    monkeypatch.setattr(__main__.os, "execve", lambda program, words, environment: found.append(environment))
    return found


def test_a_command_that_searches_begins_again_where_compiled_modules_come_first(made, begun, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "/here")
    __main__.use_compiled("simulate")
    assert begun[0]["PYTHONPATH"] == f"{made}{os.pathsep}/here"
    monkeypatch.syspath_prepend(str(made))
    __main__.use_compiled("simulate")
    assert len(begun) == 1


def test_a_service_passes_them_on_and_nothing_else_uses_them(made, begun, monkeypatch):
    __main__.use_compiled("serve")
    assert os.environ[COMPILED] == str(made)
    __main__.use_compiled("audit")
    monkeypatch.setenv(COMPILED, str(made / "elsewhere"))
    __main__.use_compiled("simulate")
    assert begun == []


def test_modules_of_other_sources_are_not_used(made, begun, capsys):
    (made / STAMP).write_text("another")
    __main__.use_compiled("serve")
    assert COMPILED not in os.environ
    assert "./run compile" in capsys.readouterr().err


def test_the_stamp_follows_from_the_sources(tmp_path, monkeypatch):
    for package in SOURCES:
        (tmp_path / package).mkdir()
    (tmp_path / "games/a.py").write_text("1")
    monkeypatch.setattr(modules, "_ROOT", tmp_path)
    before = stamp()
    (tmp_path / "games/a.pyc").write_text("1")
    assert stamp() == before
    (tmp_path / "players/b.json").write_text("1")
    assert stamp() != before


@pytest.mark.soak
def test_compiled_rules_pass_the_laws(tmp_path):
    compiling.copy(tmp_path)
    assert compiling.compiled(tmp_path)
    assert compiling.checked(tmp_path)
