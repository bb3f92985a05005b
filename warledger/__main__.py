"""The command: `warledger COMMAND` of an installed wheel, and `./run COMMAND` in a checkout."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from events.modules import full_name

_TEXT = (Path(__file__).parent / "commands.txt").read_text(encoding="utf-8")
_ELSEWHERE = {"serve": "service.supervisor.serve", "worker": "workers.run"}
_CHECKOUT = "\nTo work on Warledger"  # where the commands begin that only a checkout has


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command. Return its exit status; 2 if there is no such command, 1 if it needs a package that is not installed."""
    command, *rest = (sys.argv[1:] if arguments is None else arguments) or ["help"]
    if command in ("help", "-h", "--help"):
        print(usage(), end="")
        return 0
    if command == "--version":
        print(installed_version())
        return 0
    if command not in commands():
        print(f"There is no command {command}.", file=sys.stderr)
        print(usage(), end="", file=sys.stderr)
        return 2
    try:
        run: Callable[[list[str]], int] = import_module(module_of(command)).main
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.startswith(full_name("")):
            raise
        needed = f"The command {command} needs the package {missing.name}."
        print(needed, "`pip install warledger` installs all that it needs.", file=sys.stderr)
        return 1
    return run(rest)


def module_of(command: str) -> str:
    """Return the module whose `main` runs a command."""
    return full_name(_ELSEWHERE.get(command, f"tools.{command}"))


def usage() -> str:
    """Return the commands with a line about each. A wheel has those that need no checkout, and calls them by its own name."""
    return _TEXT if full_name("") == "" else _TEXT.partition(_CHECKOUT)[0].replace("./run ", "warledger ")


def commands() -> set[str]:
    """Return the names of the commands."""
    return set(re.findall(r"^  (?:\./run|warledger) ([a-z]+)", usage(), re.MULTILINE))


def installed_version() -> str:
    """Return the version of the installed wheel."""
    try:
        return version("warledger")
    except PackageNotFoundError:
        return "a checkout, which is not installed"


if __name__ == "__main__":
    sys.exit(main())
