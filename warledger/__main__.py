"""The command: `warledger COMMAND` of an installed wheel, and `./run COMMAND` in a checkout."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from events.modules import COMPILED, STAMP, compiled_folder, full_name, stamp, with_compiled

_TEXT = (Path(__file__).parent / "commands.txt").read_text(encoding="utf-8")
_ELSEWHERE = {
    "serve": full_name("service.supervisor.serve"),
    "worker": full_name("workers.run"),
    "hooks": full_name("workers.hooks.run"),
    "journal": full_name("workers.journal"),
    "archivist": full_name("workers.archivist"),
}
_STARTING, _SEARCHING = ("serve", "demo"), ("worker", "simulate", "arena", "tune", "analyse")  # the commands that use compiled modules
_RUN = "./run" if full_name("") == "" else "warledger"
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
    use_compiled(command)
    try:
        run: Callable[[list[str]], int] = import_module(module_of(command)).main
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.startswith(full_name("")):
            raise
        needed = f"The command {command} needs the package {missing.name}."
        print(needed, "`pip install warledger` installs all that it needs.", file=sys.stderr)
        return 1
    return run(rest)


def use_compiled(command: str) -> None:
    """Let a command that searches use compiled modules, if there are some of the present sources. Begin it again where they come first.

    A service uses them in its workers only: what people do is decided, and audited, by plain Python.
    """
    folder = compiled_folder()
    if command not in (*_STARTING, *_SEARCHING) or not (folder / STAMP).exists():
        return
    if (folder / STAMP).read_text(encoding="utf-8") != stamp():
        os.environ.pop(COMPILED, None)
        print(f"The rules have changed since they were compiled, so they run as plain Python; see {_RUN} compile.", file=sys.stderr)
        return
    os.environ[COMPILED] = str(folder)
    if command in _SEARCHING and os.environ[COMPILED] not in sys.path and not sys.flags.ignore_environment:
        os.execve(sys.executable, sys.orig_argv, with_compiled(os.environ, os.environ[COMPILED]))


def module_of(command: str) -> str:
    """Return the module whose `main` runs a command."""
    return _ELSEWHERE.get(command) or full_name(f"tools.{command}")


def usage() -> str:
    """Return the commands with a line about each. A wheel has those that need no checkout, and calls them by its own name."""
    return _TEXT if full_name("") == "" else _TEXT.partition(_CHECKOUT)[0].replace("./run", _RUN)


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
