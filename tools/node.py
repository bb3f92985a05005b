"""Where Node is: the tests of the JavaScript modules and `./run bench` run them with it."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path


def binary() -> str | None:
    """Return the path of a Node: that of WARLEDGER_NODE, the one that Playwright brings, or the one on PATH. None if there is none."""
    if named := os.environ.get("WARLEDGER_NODE"):
        return named
    found = importlib.util.find_spec("playwright")
    if found and found.origin and (brought := Path(found.origin).parent / "driver" / "node").is_file():
        return str(brought)
    return shutil.which("node")
