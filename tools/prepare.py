"""Make .venv, or bring it up to date with a hash-pinned list; standard library only, since nothing is installed yet."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

NO_VENV = "This Python cannot make a virtual environment. On Debian and Ubuntu `apt install python3-venv` mends that; then try again."
NO_PACKAGES = "The packages could not be installed. Is this machine online, or a package mirror set for pip? What pip said stands above."


def prepare(here: Path, name: str, listed: str, stamp: str) -> None:
    """Install the set `name` from the list `listed`, once: a second call at the same time waits and finds it done."""
    folder = here / ".venv"
    python = folder / "bin" / "python"
    with_lock = os.open(here, os.O_RDONLY)
    fcntl.flock(with_lock, fcntl.LOCK_EX)
    if done(folder, name) == stamp and works(python):
        return
    if not works(python):
        say(f"Making {folder} with Python {sys.version.split()[0]}.")
        if subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], stdout=subprocess.DEVNULL).returncode:
            sys.exit(NO_VENV)
    say(f"Installing the packages of {listed}; this takes about half a minute, and happens once.")
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes", "-r", str(here / listed)]
    if subprocess.run(command, env={**os.environ, "PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0"}).returncode:
        sys.exit(NO_PACKAGES)
    (folder / f"{name}.stamp").write_text(stamp)


def done(folder: Path, name: str) -> str | None:
    """The stamp of the list that was last installed as `name`; None before the first."""
    stamp = folder / f"{name}.stamp"
    return stamp.read_text() if stamp.exists() else None


def works(python: Path) -> bool:
    """Whether the environment's Python is there, starts, and has pip; an upgrade of the system may have taken it away."""
    return python.exists() and subprocess.run([str(python), "-c", "import pip"], capture_output=True).returncode == 0


def say(sentence: str) -> None:
    """To the standard error, so that a command's own output stays clean."""
    print(sentence, file=sys.stderr, flush=True)


if __name__ == "__main__":
    prepare(Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4])
