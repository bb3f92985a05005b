"""Every kind of tampering is found by verify/verify.mjs where it applies, at the version and with the code that docs/auditing.md names."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tools import node

SCRIPT = Path(__file__).parents[1] / "verify" / "every_case.mjs"


def wrong_under_node(vectors: Path) -> list[str]:
    """Return each case that is not as its index says, with what was due and what was found."""
    done = subprocess.run([node.binary() or "", SCRIPT, vectors], capture_output=True, text=True, check=False)
    *wrong, last = done.stdout.splitlines() or [done.stderr]
    assert (done.stderr, last.endswith(" cases"), done.returncode) == ("", True, 1 if wrong else 0)
    return wrong


@pytest.mark.skipif(node.binary() is None, reason="there is no Node here: install the packages for tests, or Node 20")
def test_every_case_is_as_its_index_says(vectors: Path) -> None:
    assert wrong_under_node(vectors) == []
