"""How other processes find the modules of this project: in the folders of a checkout, or in the package `warledger` of a wheel (ADR 97).

In a wheel, `events.play` is `warledger.events.play`. Code that names a module in a text, such as a command line, asks `full_name`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

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
