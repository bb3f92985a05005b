"""Forks of a process that has imported everything: they are what a process would be that was started anew, and end with it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from events.modules import python_environment
from service.supervisor.forking import FORKS
from tests.conftest import within
from tools.processes import lives

pytestmark = pytest.mark.skipif(not FORKS, reason="nothing is forked here")

PARENT = """
import os, signal, subprocess, sys, threading, atexit
from pathlib import Path
from service.supervisor import forking, supervision
log, environment = Path(sys.argv[1]), {"PATH": "/bin", "ONLY": "this"}
atexit.register(print, "the end of the parent")
for number in (signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, print)
bell = supervision.Bell()
kept = open(os.devnull)
forking.prepare(["tests.service.forked"])

def fork(*arguments, heart=None):
    def output():
        return supervision.output_of(log)
    return forking.fork_module("tests.service.forked", arguments, environment, output, Path("/"), heart)
"""


def run(log: Path, script: str) -> str:
    """Run a script in a process that has one thread, as pytest has not. Return what it prints."""
    done = subprocess.run(command(log, script), env=python_environment(), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def command(log: Path, script: str) -> list[str]:
    """Return the command that runs a script; it has room for the title of a fork."""
    return [sys.executable, "-c", PARENT + script, str(log), "-" * 80]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


def found(log: Path) -> list[Any]:
    """Return what forks have found."""
    return [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]


def test_a_fork_finds_what_a_new_process_would_find(log: Path) -> None:
    printed = run(log, "first, second = fork('0'), fork('7', 'seven')\nprint(os.getpid(), first.wait(), second.wait(), second.poll())")
    parent, *status = printed.splitlines()[0].split()
    assert status == ["0", "7", "7"]
    assert printed.splitlines()[1:] == ["the end of the parent"]
    first, second = sorted(found(log), key=lambda each: each["arguments"])
    assert (first["parent"], first["session"]) == (int(parent), first["pid"])
    assert first["environment"] == {"PATH": "/bin", "ONLY": "this"}
    assert (first["folder"], first["input"], second["arguments"]) == ("/", "", ["7", "seven"])
    assert set(first["files"]) <= {0, 1, 2, 3}, "3 is the list itself"
    assert second["title"] == "tests.service.forked 7 seven"
    assert (first["blocked"], first["handled"], first["frozen"]) == ([], [], True)
    assert not set(first["chance"]) & set(second["chance"]), "two forks have the same random numbers"
    assert log.read_text().count("the end\n") == 2


def test_a_fork_that_fails_says_why_in_its_log(log: Path) -> None:
    assert run(log, "print(fork('fail').wait())").startswith("1\n")
    assert "RuntimeError: as it was told" in log.read_text()


def test_a_fork_without_a_log_prints_where_its_parent_prints(log: Path) -> None:
    script = "log = None\nstatus = fork('3').wait()\nprint(status)"
    begins, ends, status, *_ = run(log, script).splitlines()
    assert (json.loads(begins)["arguments"], ends, status) == (["3"], "the end", "3")


def test_a_fork_hears_signals_as_a_new_process_does(log: Path) -> None:
    script = """
process = fork('wait')
try:
    process.wait(0.01)
except subprocess.TimeoutExpired:
    os.kill(process.pid, signal.SIGTERM)
print(process.wait(), process.poll())
"""
    assert run(log, script).startswith("-15 -15\n")


@pytest.mark.parametrize("stopped", [False, True])
def test_a_fork_ends_with_its_parent(log: Path, stopped: bool) -> None:
    parent = subprocess.Popen(command(log, "fork('wait')\nsignal.pause()"), env=python_environment(), stdout=subprocess.DEVNULL)
    (fork,) = within(30, lambda: log.exists() and found(log))
    if stopped:
        os.kill(fork["pid"], signal.SIGSTOP)
    parent.kill()
    parent.wait()
    within(5, lambda: not lives(fork["pid"]))


def test_an_errand_that_is_killed_is_done_again(log: Path) -> None:
    script = """
mark = log.with_suffix(".mark")
def act():
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    log.write_text("done")
errand = forking.Errand(act)
while not errand.is_done():
    bell.wait(0.1)
print(threading.active_count())
"""
    assert run(log, script).startswith("1\n")
    assert log.read_text() == "done"


@pytest.mark.parametrize("how", ["hang", "miss"])
def test_a_process_that_hangs_is_killed_and_started_again(log: Path, how: str) -> None:
    """All of its threads stand still, also the one that would say so. Or something that must go on does not."""
    script = f"""
how = "{how}"
supervision.HANGS = 3
child = supervision.child("log", "tests.service.forked", [how], environment, log.parent)
guard = supervision.Guard([child])
supervision.start(child)
first = child.process.pid
while child.process is None or child.process.pid == first:
    bell.wait(0.1)
    guard.look()
print(child.deaths)
supervision.end([child], 0.1)
"""
    log = log.with_suffix(".log")
    assert run(log, script).startswith("1\n")
    assert [each["arguments"] for each in found(log)] in ([[how]], [[how]] * 2)


def test_a_process_that_goes_on_is_not_taken_for_one_that_hangs(log: Path) -> None:
    script = """
supervision.HANGS = 3
child = supervision.child("log", "tests.service.forked", ["wait"], environment, log.parent)
guard = supervision.Guard([child])
supervision.start(child)
while child.heart.beats < 6:
    bell.wait(0.1)
    guard.look()
print(child.deaths)
supervision.end([child], 0.1)
"""
    assert run(log.with_suffix(".log"), script).startswith("0\n")
