"""`./run test` runs what failed once more, alone: what passes then is flaky and not a failure, and nothing else turns green."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# What files of tests begin with: a function that is true once.
FIRST = """
import os, pathlib, pytest
def first():
    state = pathlib.Path(__file__).with_suffix(".state")
    return not state.exists() and not state.touch()
"""
FLAKY = (
    FIRST
    + """
def test_flaky():
    once = first()
    print("the first run" if once else "the second run")
    assert not once, "not yet"
"""
)
POISONED = (
    FIRST
    + """
@pytest.fixture(scope="module")
def well():
    return ["water"]
def test_poisons(well):
    if first():
        well.clear()
    assert well
def test_drinks(well):
    assert well == ["water"]
"""
)
TORN_DOWN = (
    FIRST
    + """
@pytest.fixture
def thing():
    yield
    assert not first(), "still in use"
def test_torn_down(thing):
    pass
"""
)
GOOD = "def test_good(): pass\ndef test_better(): pass\n"
BROKEN = "def test_broken():\n    print('as ever')\n    assert False\n"
SKIPS_THEN = FIRST + "def test_skips():\n    if not first(): pytest.skip('not now')\n    assert False\n"
CRASHES = FIRST + "def test_crashes():\n    if first(): os._exit(0)\n"
CRASHES_THEN = FIRST + "def test_crashes():\n    if not first(): os._exit(0)\n    assert False\n"
INTERRUPTED = "def test_interrupted():\n    raise KeyboardInterrupt\n"
NO_TEST = "import nothing_of_that_name\n"


class Ran:
    """A run of `./run test` over files of tests: its exit status, the totals of its closing line, and all that it printed."""

    def __init__(self, folder: Path, *options: str, **files: str) -> None:
        (folder / "pyproject.toml").write_text('[tool.pytest.ini_options]\naddopts = ["-p", "xdist.plugin"]\n')
        for name, text in files.items():
            (folder / f"test_{name}.py").write_text(text)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        environment |= {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        command = [sys.executable, "-m", "tools.test", *options]
        ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        self.text = ended.stdout + ended.stderr
        closing = [line for line in ended.stdout.splitlines() if line.startswith("=")][-1]
        self.ended = ended.returncode, closing.strip("= ").partition(" in ")[0]

    def part(self, title: str) -> str:
        """Return what stands under a title."""
        return self.text.split(f"= {title} =")[1].split("\n==")[0]


def test_what_passes_when_it_runs_again_alone_is_flaky_and_the_run_is_green(tmp_path: Path) -> None:
    """Each with both outputs. A fixture of a file that one test has spoiled is made anew."""
    ran = Ran(tmp_path, "-n", "2", flaky=FLAKY, good=GOOD, poisoned=POISONED, torn_down=TORN_DOWN)
    assert ran.ended == (0, "2 passed, 4 flaky"), ran.text
    first, second = ran.part("FLAKY test_flaky.py::test_flaky").split("--- second run: passed ---")
    assert "--- first run: did not pass ---" in first
    assert "AssertionError: not yet" in first
    assert "Captured stdout call ---\nthe first run" in first
    assert "Captured stdout call ---\nthe second run" in second
    assert "AssertionError: still in use" in ran.part("FLAKY test_torn_down.py::test_torn_down")
    assert "FAILURES" not in ran.text


def test_what_fails_twice_is_red(tmp_path: Path) -> None:
    ran = Ran(tmp_path, "-n", "0", "-k", "not better", flaky=FLAKY, good=GOOD, broken=BROKEN)
    assert ran.ended == (1, "1 failed, 1 passed, 1 deselected, 1 flaky"), ran.text
    assert "as ever" in ran.part("FAILURES")
    assert "--- second run: Captured stdout call ---\nas ever" in ran.part("FAILED AGAIN test_broken.py::test_broken")


def test_what_passes_runs_once(tmp_path: Path) -> None:
    ran = Ran(tmp_path, "-n", "0", "test_good.py", good=GOOD, broken=BROKEN)
    assert ran.ended == (0, "2 passed"), ran.text
    assert "Running again" not in ran.text


@pytest.mark.parametrize(
    ("options", "files", "status", "totals"),
    [
        pytest.param(["-n", "0", "--strict"], {}, 1, "1 failed", id="strict"),
        pytest.param(["-n", "0", "-x"], {"good": GOOD}, 1, "1 failed", id="stopped at the first failure", marks=pytest.mark.soak),
        pytest.param(["-n", "2", "-x"], {"good": GOOD}, 2, None, id="workers stopped at the first failure", marks=pytest.mark.soak),
        pytest.param(["-n", "0"], {"interrupted": INTERRUPTED}, 2, "1 failed", id="interrupted", marks=pytest.mark.soak),
        pytest.param(["-n", "0", "--continue-on-collection-errors"], {"none": NO_TEST}, 1, "1 failed, 1 error", id="an unreadable file"),
        pytest.param(["-n", "2"], {"none": NO_TEST}, 1, "1 failed, 1 error", id="a file that workers cannot read", marks=pytest.mark.soak),
        pytest.param(["-n", "2"], {"crashes": CRASHES}, 1, "2 failed, 1 passed", id="a worker that crashes", marks=pytest.mark.soak),
    ],
)
def test_there_is_no_second_run(tmp_path: Path, options: list[str], files: dict[str, str], status: int, totals: str | None) -> None:
    ran = Ran(tmp_path, *options, flaky=FLAKY, **files)
    assert ran.ended == (status, totals or ran.ended[1]), ran.text
    assert "Running again" not in ran.text


def test_a_second_run_that_ends_early_turns_nothing_green(tmp_path: Path) -> None:
    """The tests that it did not reach, and those that it skips, stay failures."""
    ran = Ran(tmp_path, "-n", "0", a_skipped=SKIPS_THEN, crashes=CRASHES_THEN, flaky=FLAKY)
    assert ran.ended == (1, "3 failed"), ran.text
    assert "not now" in ran.part("FAILED AGAIN test_a_skipped.py::test_skips")
    assert "= NOT RUN AGAIN test_flaky.py::test_flaky =" in ran.text
