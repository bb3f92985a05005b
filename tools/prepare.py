"""Make .venv, or update it from a hash-pinned list. This uses only the standard library, because nothing is installed yet."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

NO_VENV = "This Python cannot make a virtual environment. On Debian and Ubuntu, run `apt install python3-venv` and try again."
PIP = "requirements-pip.txt"
NO_PACKAGES = "The packages could not be installed; the output of pip is above. Check the network connection, or the package mirror of pip."


def prepare(here: Path, name: str, listed: str, stamp: str) -> None:
    """Install the package set `name` from the file `listed`, unless its stamp is current. A second call at the same time waits."""
    folder = here / ".venv"
    python = folder / "bin" / "python"
    lock = os.open(here, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    if done(folder, name) == stamp and works(python):
        return
    if not works(python):
        say(f"Making {folder} with Python {sys.version.split()[0]}.")
        if subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], stdout=subprocess.DEVNULL).returncode:
            sys.exit(NO_VENV)
        install(python, here / PIP, silent=True)  # if this fails, the pip of Python does the work and reports the error
    say(f"Installing the packages of {listed}; this takes about half a minute, once.")
    if not install(python, here / listed):
        sys.exit(NO_PACKAGES)
    (folder / f"{name}.stamp").write_text(stamp)


def install(python: Path, listed: Path, silent: bool = False) -> bool:
    """Install a hash-pinned list of packages. Return True if this succeeds. Python compiles a module when it is first imported."""
    options = ["--quiet", "--disable-pip-version-check", "--no-compile", "--require-hashes"]
    command = [str(python), "-m", "pip", "install", *options, "-r", str(listed)]
    environment = {**os.environ, "PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0"}
    return subprocess.run(command, env=environment, capture_output=silent).returncode == 0


def done(folder: Path, name: str) -> str | None:
    """Return the stamp of the last list that was installed as `name`, or None."""
    stamp = folder / f"{name}.stamp"
    return stamp.read_text() if stamp.exists() else None


def works(python: Path) -> bool:
    """Return True if the Python of the environment starts and has pip. A system upgrade can break it."""
    return python.exists() and subprocess.run([str(python), "-c", "import pip"], capture_output=True).returncode == 0


def say(sentence: str) -> None:
    """Print to the standard error. The standard output is for the output of the command alone."""
    print(sentence, file=sys.stderr, flush=True)


if __name__ == "__main__":
    prepare(Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4])
