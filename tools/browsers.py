"""Find a Chromium for tests and for pictures of pages, or fetch one with npm."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

NAMES = ("chromium-headless-shell", "chromium")
PACKAGE = "@sparticuz/chromium@153.0.0"  # this Chromium needs no privileges and no system packages
FETCHED = Path(sys.prefix) / "chromium"
UNPACK = "import('@sparticuz/chromium').then(async (found) => console.log(await found.default.executablePath()))"
PATIENCE = 300  # seconds
FLAGS = ("--no-sandbox", "--hide-scrollbars")


def chromium(fetch: bool = False) -> str | None:
    """Return the path of a Chromium, or None: $CHROMIUM, one of the system, or the one from the npm package.

    `fetch`: if necessary, install the npm package in .venv.
    """
    named = os.environ.get("CHROMIUM")
    return named or next(filter(None, map(shutil.which, NAMES)), None) or _of_package(fetch)


def _of_package(fetch: bool) -> str | None:
    """Return the path of the Chromium in .venv, or None. The folder appears only when complete, also if several processes fetch it."""
    unpacked = FETCHED / "chromium"
    npm, node = shutil.which("npm"), shutil.which("node")
    if not unpacked.exists() and fetch and npm and node:
        shutil.rmtree(FETCHED, ignore_errors=True)
        folder = Path(tempfile.mkdtemp(prefix="chromium-", dir=FETCHED.parent))
        quiet = ["--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder)]
        environment = {**os.environ, "TMPDIR": str(folder)}
        try:
            subprocess.run([npm, "install", *quiet, PACKAGE], check=True, capture_output=True, timeout=PATIENCE, cwd=folder)
            subprocess.run([node, "-e", UNPACK], check=True, capture_output=True, timeout=PATIENCE, cwd=folder, env=environment)
            folder.rename(FETCHED)  # refused if another process has put its own there
        except (subprocess.SubprocessError, OSError):
            shutil.rmtree(folder, ignore_errors=True)
    return str(unpacked) if unpacked.exists() else None
