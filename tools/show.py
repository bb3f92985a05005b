"""Print a board as text, from a running service: `./run show MATCH [--at N] [--as SEAT]`."""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

from sdk.python.warledger_client import Client, Problem, Unreachable

TEXT = "text/plain"


def main(arguments: list[str] | None = None) -> int:
    """Print the board. Return 1 if the service gives none."""
    parser = argparse.ArgumentParser(prog="./run show", description="Print the board of a match as text, from a running service.")
    parser.add_argument("match", metavar="MATCH")
    parser.add_argument("--at", type=int, metavar="N", help="the version to show (default: the latest)")
    add_service_options(parser)
    options = parser.parse_args(arguments)
    replace_unprintable()
    try:
        print(board(client_from(options), options.match, options.at, options.viewer))
    except (Problem, Unreachable, FileNotFoundError) as reason:
        print(reason, file=sys.stderr)
        return 1
    return 0


def add_service_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that name the service and the viewer."""
    parser.add_argument(
        "--as", dest="viewer", metavar="SEAT", help="the viewer: a seat, spectator or auditor (default: your seat, or spectator)"
    )
    parser.add_argument(
        "--url", default=os.environ.get("WARLEDGER_URL"), help="the address of the service (default: $WARLEDGER_URL, or from --data)"
    )
    parser.add_argument("--key", default=os.environ.get("WARLEDGER_KEY"), help="the API key (default: $WARLEDGER_KEY, or the admin key)")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(os.environ.get("WARLEDGER_DATA", "data")),
        help="the data folder of a service on this machine (default: $WARLEDGER_DATA, or ./data)",
    )


def client_from(options: argparse.Namespace) -> Client:
    """Return a client of the service that the options name. Raises FileNotFoundError if no service runs on the data folder."""
    url, key = options.url, options.key
    if url is None:
        address = options.data / "serve.json"
        if not address.exists():
            raise FileNotFoundError(f"No service runs over {options.data}. Name its folder with --data, or its address with --url.")
        url = json.loads(address.read_text())["url"]
        if key is None and (options.data / "admin.key").exists():
            key = (options.data / "admin.key").read_text().strip()
    return Client(url, key, patience=0)


def viewer_query(viewer: str | None) -> dict[str, Any]:
    """Return the query for a viewer. Without a viewer, the service takes the one that the API key allows."""
    return {} if viewer is None else {"viewer": viewer}


def replace_unprintable() -> None:
    """Replace characters that the encoding of the terminal lacks. Boards use box-drawing characters."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def board(client: Client, match: str, at: int | None, viewer: str | None) -> str:
    """Return the board at a version as a viewer sees it. Raises Problem or Unreachable."""
    query = viewer_query(viewer)
    if at is not None:
        query["at"] = at
    return client.fetch(f"/v1/matches/{match}/state", accept=TEXT, **query).decode().rstrip("\n")


if __name__ == "__main__":
    sys.exit(main())
