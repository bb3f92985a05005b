"""A process goes on when its log cannot be written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys
import structlog
from events.telemetry import logs
logs.configure("stdout")
if sys.argv[1] == "closed":
    sys.stdout.close()
for _ in range(10_000):
    structlog.get_logger().info("happened", match="m1")
print("went on", file=sys.stderr)
"""


@pytest.mark.parametrize("stream", ["full", "closed"])
def test_a_line_that_cannot_be_written_is_dropped(stream: str) -> None:
    with Path("/dev/full" if stream == "full" else "/dev/null").open("wb") as out:
        ended = subprocess.run([sys.executable, "-c", PROGRAM, stream], stdout=out, stderr=subprocess.PIPE, text=True)
    assert ended.stderr.splitlines()[0] == "went on"
