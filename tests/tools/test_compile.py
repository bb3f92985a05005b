"""Compiled rules: which modules are compiled, when they are used, and that they pass the laws."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from service.supervisor.forking import FORKS
from service.supervisor.serve import worker_children, worker_environment
from tools import compile as compiling

PYTHON = '#!/bin/sh\n[ "$1" = -c ] || echo "$PYTHONPATH|${WARLEDGER_COMPILED:-}"\n'


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
def place(tmp_path: Path) -> Path:
    """Return a folder with `run`, two sources, and a Python that prints its path instead of running anything."""
    shutil.copy(compiling.ROOT / "run", tmp_path)
    for name, text in {
        "games/a.py": "",
        "players/b.json": "{}",
        "requirements.txt": "",
        ".venv/bin/python": PYTHON,
        "warledger/commands.txt": "  ./run simulate\n  ./run serve\n  ./run audit\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / ".venv/bin/python").chmod(0o755)
    (tmp_path / ".venv/runtime.stamp").write_text(
        subprocess.run(["cksum"], input=b"", capture_output=True, check=True).stdout.decode().strip()
    )
    return tmp_path


def said(place: Path, command: str) -> tuple[list[str], str]:
    """Return the path and the folder that a command of `run` gives to Python, and what it says on the standard error."""
    done = subprocess.run([place / "run", command], capture_output=True, text=True, check=True, env={"PATH": "/usr/bin:/bin"})
    return done.stdout.strip().split("|"), done.stderr


def test_compiled_modules_are_used_by_what_searches_while_their_sources_are_the_same(place):
    here, there = str(place), f"{place}/.compiled"
    assert said(place, "simulate") == ([here, ""], "")
    (place / ".compiled").mkdir()
    (place / ".compiled/stamp").write_text(subprocess.run([place / "run", "checksum"], capture_output=True, text=True, check=True).stdout)
    assert said(place, "simulate") == ([f"{there}:{here}", there], "")
    assert said(place, "serve") == ([here, there], "")
    assert said(place, "audit") == ([here, ""], "")
    (place / "players/b.json").write_text("[]")
    path, warning = said(place, "serve")
    assert path == [here, ""]
    assert "./run compile" in warning


@pytest.mark.soak
def test_compiled_rules_pass_the_laws(tmp_path):
    compiling.copy(tmp_path)
    assert compiling.compiled(tmp_path)
    assert compiling.checked(tmp_path)
