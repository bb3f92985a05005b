"""Every kind of tampering is found by verify/verify.mjs where it applies, at the version and with the code that docs/auditing.md names."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tools import node

SCRIPT = Path(__file__).parents[1] / "verify" / "every_case.mjs"


def test_every_case_is_as_its_index_says(vectors: Path) -> None:
    binary = node.binary()
    if binary is None:
        pytest.skip("there is no Node here: install the packages for tests, or Node 20")
    done = subprocess.run([binary, SCRIPT, vectors], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout.split()[0]) > 500
