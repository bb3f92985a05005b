"""The logic of the pages, which knows no browser: `node --test` over the modules."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tools import node

MODULES = Path(__file__).parent / "modules"


def test_the_modules_of_the_pages_do_what_they_say() -> None:
    binary = node.binary()
    if binary is None:
        pytest.skip("there is no Node: neither in the wheel of Playwright nor on PATH")
    command = [binary, "--test", "--test-reporter=spec", *map(str, sorted(MODULES.glob("*.test.mjs")))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
