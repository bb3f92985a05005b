"""Steps through a match in a terminal, board by board: `./run replay MATCH [--as SEAT]`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any
from urllib.error import URLError

from tools.client import Client, Problem
from tools.show import add_eyes, board, caller, eyes, speak_unicode
from tools.words import facts, move

KEYS = "Enter or n: next   b: back   a number: that version   e: the end   q: quit"
STRANGE = "That is none of them; no step is taken."
CLEAR = "\x1b[2J\x1b[H"


def main(arguments: list[str] | None = None) -> int:
    """Step from version to version as told on the standard input; 1 where there is nothing to step through."""
    parser = argparse.ArgumentParser(prog="run replay", description="Steps through a match in the terminal.", epilog=KEYS)
    parser.add_argument("match", metavar="MATCH")
    parser.add_argument("--from", dest="start", type=int, default=1, metavar="N", help="the version to begin at (1)")
    add_eyes(parser)
    options = parser.parse_args(arguments)
    speak_unicode()
    try:
        client = caller(options)
        for version in steps(client, options.match, options.start):
            tell(client, options.match, version, options.viewer)
    except (Problem, URLError, FileNotFoundError) as reason:
        print(reason, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print()
    return 0


def steps(client: Client, match: str, start: int) -> Iterator[int]:
    """The versions to look at, one after the other, as the reader asks for them. Raises Problem."""
    last = int(client.get(f"/v1/matches/{match}")["version"])
    version = max(1, min(start, last))
    asked = "n"
    while True:
        if known(asked):
            yield version
        else:
            print(STRANGE)
        print(f"\nversion {version} of {last}   {KEYS}", flush=True)
        asked = sys.stdin.readline()
        if not asked or asked.strip() == "q":
            return
        last = int(client.get(f"/v1/matches/{match}")["version"])
        version = max(1, min(after(version, asked.strip(), last), last))


def known(asked: str) -> bool:
    """Whether a word says where to go."""
    return asked.strip() in ("", "n", "b", "e") or asked.strip().isdecimal()


def after(version: int, asked: str, last: int) -> int:
    """The version that the reader asks for; this one where the word is not understood."""
    if asked in ("", "n"):
        return version + 1
    if asked == "b":
        return version - 1
    if asked == "e":
        return last
    return int(asked[:15]) if asked.isdecimal() else version


def tell(client: Client, match: str, version: int, viewer: str | None) -> None:
    """The board at a version, and what led to it in words. Raises Problem."""
    asked: dict[str, Any] = {"after": version - 1, "limit": 1, **eyes(viewer)}
    (entry,) = client.get(f"/v1/matches/{match}/entries", **asked)["entries"]
    if sys.stdout.isatty():
        print(CLEAR, end="")
    print(board(client, match, version, viewer))
    print()
    print(move(entry))
    for fact in facts(entry):
        print(" " * 19 + fact)


if __name__ == "__main__":
    sys.exit(main())
