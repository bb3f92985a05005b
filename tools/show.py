"""A board as text, from a running service: `./run show MATCH [--at N] [--as SEAT]`."""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
from pathlib import Path
from typing import Any
from urllib.error import URLError

from tools.client import Client, Problem

TEXT = "text/plain"


def main(arguments: list[str] | None = None) -> int:
    """Print the board; 1 where there is nothing to print."""
    parser = argparse.ArgumentParser(prog="run show", description="A match's board as text, from a running service.")
    parser.add_argument("match", metavar="MATCH")
    parser.add_argument("--at", type=int, metavar="N", help="the version to look at (the latest)")
    add_eyes(parser)
    options = parser.parse_args(arguments)
    speak_unicode()
    try:
        print(board(caller(options), options.match, options.at, options.viewer))
    except (Problem, URLError, FileNotFoundError) as reason:
        print(reason, file=sys.stderr)
        return 1
    return 0


def add_eyes(parser: argparse.ArgumentParser) -> None:
    """Let a command be told where the service is and through whose eyes to look."""
    parser.add_argument(
        "--as", dest="viewer", metavar="SEAT", help="through whose eyes: a seat, spectator or auditor (your seat, else spectator)"
    )
    parser.add_argument(
        "--url", default=os.environ.get("WARLEDGER_URL"), help="where the service is (WARLEDGER_URL, or that of the data folder)"
    )
    parser.add_argument("--key", default=os.environ.get("WARLEDGER_KEY"), help="whose key (WARLEDGER_KEY, or the admin key)")
    parser.add_argument(
        "--data", type=Path, default=Path(os.environ.get("WARLEDGER_DATA", "data")), help="the data folder of the service (./data)"
    )


def caller(options: argparse.Namespace) -> Client:
    """The service that the options name: by its address, or by the data folder of a `serve` that runs. Raises FileNotFoundError."""
    url, key = options.url, options.key
    if url is None:
        place = options.data / "serve.json"
        if not place.exists():
            raise FileNotFoundError(f"No service runs over {options.data}; name its folder with --data, or its address with --url.")
        url = json.loads(place.read_text())["url"]
        if key is None and (options.data / "admin.key").exists():
            key = (options.data / "admin.key").read_text().strip()
    return Client(url, key)


def eyes(viewer: str | None) -> dict[str, Any]:
    """The query that names a viewer; without one the service looks through the eyes that suit the key."""
    return {} if viewer is None else {"viewer": viewer}


def speak_unicode() -> None:
    """Boards are drawn with strokes; let a terminal of another encoding show what it can."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def board(client: Client, match: str, at: int | None, viewer: str | None) -> str:
    """The board at a version through a viewer's eyes. Raises Problem."""
    asked: dict[str, Any] = eyes(viewer)
    if at is not None:
        asked["at"] = at
    return client.fetched(f"/v1/matches/{match}/state", accept=TEXT, **asked).decode().rstrip("\n")


if __name__ == "__main__":
    sys.exit(main())
