"""A process writes one JSON object a line to the stream that it has chosen, also for libraries."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import logging, sys
import structlog
from events.telemetry import logs
logs.configure(sys.argv[1])
structlog.get_logger("ours").warning("happened", match="m1", number=7)
try:
    raise ValueError("hidden")
except ValueError:
    logging.getLogger("theirs").exception("it %s", "failed")
logging.getLogger("theirs").info("not shown")
"""


@pytest.mark.parametrize(("stream", "other"), [("stdout", "stderr"), ("stderr", "stdout")])
def test_every_line_is_json_on_one_stream(stream: str, other: str) -> None:
    ended = subprocess.run([sys.executable, "-c", PROGRAM, stream], capture_output=True, text=True, check=True)
    assert getattr(ended, other) == ""
    ours, theirs = (json.loads(line) for line in getattr(ended, stream).splitlines())
    assert ours.pop("at").endswith("Z")
    assert theirs.pop("at").endswith("Z")
    assert ours == {"event": "happened", "level": "warning", "match": "m1", "number": 7}
    assert theirs == {"event": "library", "level": "error", "logger": "theirs", "message": "it failed", "error": "ValueError"}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_log_on_a_full_disk_stops_nobody() -> None:
    program = PROGRAM + 'print("went on", file=sys.stderr)\n'
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run([sys.executable, "-c", program, "stdout"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert ended.stderr.splitlines()[0] == "went on"
