"""How other processes find the modules of this project: in the folders of a checkout, or in the package `warledger` of a wheel (ADR 97).

In a wheel, `events.play` is `warledger.events.play`. Code that names a module in a text, such as a command line, asks `full_name`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

COMPILED = "WARLEDGER_COMPILED"  # the setting that names the folder of the modules that `./run compile` made
STAMP = "stamp"  # the file in that folder with the stamp of their sources
SOURCES = ("games", "players")  # the packages that are compiled

_PREFIX = __name__.removesuffix("events.modules")  # empty in a checkout
_ROOT = Path(__file__).resolve().parent.parent


def full_name(name: str) -> str:
    """Return the full name of a module, of something in it, or of a package.

    >>> full_name("workers.run")
    'workers.run'
    """
    return _PREFIX + name


def python_environment(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return an environment, by default that of this process, in which another Python finds the modules from any folder.

    It finds those of a wheel as this one does. In a checkout they come first. No Python takes modules from the folder in which it starts.
    """
    found = dict(os.environ if environment is None else environment)
    if not _PREFIX:
        others = [path for path in found.get("PYTHONPATH", "").split(os.pathsep) if path not in ("", str(_ROOT))]
        found["PYTHONPATH"] = os.pathsep.join([str(_ROOT), *others])
    return {**found, "PYTHONSAFEPATH": "1"}


def compiled_folder() -> Path:
    """Return the folder of compiled modules: $WARLEDGER_COMPILED, else .compiled in a checkout, or `compiled` in the data folder."""
    usual = Path(os.environ.get("WARLEDGER_DATA", "data"), "compiled") if _PREFIX else _ROOT / ".compiled"
    return Path(os.environ.get(COMPILED) or usual).resolve()


def compiled_package(folder: Path) -> Path:
    """Return the folder in a folder of compiled modules in which their packages are."""
    return folder / _PREFIX.removesuffix(".")


def with_compiled(environment: Mapping[str, str], folder: str) -> dict[str, str]:
    """Return an environment in which another Python finds the compiled modules of a folder before the others."""
    paths = [folder, *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    return {**environment, COMPILED: folder, "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))}


def stamp() -> str:
    """Return the stamp of the sources here, for this Python. Modules that were compiled from others have another one."""
    found = sha256(sys.implementation.cache_tag.encode())
    for path in sorted(path for package in SOURCES for path in (_ROOT / package).rglob("*") if path.is_file() and path.suffix != ".pyc"):
        found.update(b"%b\0%b" % (path.relative_to(_ROOT).as_posix().encode(), sha256(path.read_bytes()).digest()))
    return found.hexdigest()
