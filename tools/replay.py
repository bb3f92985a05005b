"""Step through a match in a terminal, board by board: `./run replay MATCH [--as SEAT]`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from sdk.python.warledger_client import Client, Problem, Unreachable
from tools.show import add_service_options, board, client_from, replace_unprintable, viewer_query
from tools.words import facts, move

KEYS = "Enter or n: next   b: back   a number: that version   e: the end   q: quit"
UNKNOWN = "Unknown command."
CLEAR = "\x1b[2J\x1b[H"


def main(arguments: list[str] | None = None) -> int:
    """Show the versions that the commands on standard input ask for. Return 1 if the service gives no match."""
    parser = argparse.ArgumentParser(prog="./run replay", description="Step through a match in the terminal.", epilog=KEYS)
    parser.add_argument("match", metavar="MATCH")
    parser.add_argument("--from", dest="start", type=int, default=1, metavar="N", help="the version to begin at (default: 1)")
    add_service_options(parser)
    options = parser.parse_args(arguments)
    replace_unprintable()
    try:
        client = client_from(options)
        for version in steps(client, options.match, options.start):
            show(client, options.match, version, options.viewer)
    except (Problem, Unreachable, FileNotFoundError) as reason:
        print(reason, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print()
    return 0


def steps(client: Client, match: str, start: int) -> Iterator[int]:
    """Yield the versions that the reader asks for. Raises Problem or Unreachable."""
    last = int(client.get(f"/v1/matches/{match}")["version"])
    version = max(1, min(start, last))
    command = "n"
    while True:  # until the reader quits or the input ends
        if is_known(command):
            yield version
        else:
            print(UNKNOWN)
        print(f"\nversion {version} of {last}   {KEYS}", flush=True)
        command = sys.stdin.readline()
        if not command or command.strip() == "q":
            return
        last = int(client.get(f"/v1/matches/{match}")["version"])
        version = max(1, min(after(version, command.strip(), last), last))


def is_known(command: str) -> bool:
    """Return True if a line names a version to go to."""
    return command.strip() in ("", "n", "b", "e") or command.strip().isdecimal()


def after(version: int, command: str, last: int) -> int:
    """Return the version that a command asks for. For an unknown command, this is the present version."""
    if command in ("", "n"):
        return version + 1
    if command == "b":
        return version - 1
    if command == "e":
        return last
    return int(command[:15]) if command.isdecimal() else version


def show(client: Client, match: str, version: int, viewer: str | None) -> None:
    """Print the board at a version, and its entry in words. Raises Problem or Unreachable."""
    query = {"after": version - 1, "limit": 1, **viewer_query(viewer)}
    (entry,) = client.get(f"/v1/matches/{match}/entries", **query)["entries"]
    if sys.stdout.isatty():
        print(CLEAR, end="")
    print(board(client, match, version, viewer))
    print()
    print(move(entry))
    for fact in facts(entry):
        print(" " * 19 + fact)


if __name__ == "__main__":
    sys.exit(main())
