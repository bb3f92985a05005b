"""Find Node.js. The tests of the JavaScript modules and `./run bench` need it."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path


def binary() -> str | None:
    """Return the path of Node, or None: from WARLEDGER_NODE, from the Playwright package, or from PATH."""
    if named := os.environ.get("WARLEDGER_NODE"):
        return named
    found = importlib.util.find_spec("playwright")
    if found and found.origin and (brought := Path(found.origin).parent / "driver" / "node").is_file():
        return str(brought)
    return shutil.which("node")
