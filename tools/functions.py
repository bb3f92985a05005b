"""Load the functions of the store into a server of your own, as its keeper: `./run functions`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from events.errors import StoreRefused, StoreUnavailable
from events.store import library
from events.store.client import load_library


def main(arguments: list[str] | None = None) -> int:
    """Load the functions, and print what was done. Return 1 if the server cannot be reached or does not permit it."""
    parser = argparse.ArgumentParser(prog="run functions", description="Load the store's functions into a server of your own.")
    parser.add_argument("url", help="URL of the server, with a user who may load functions, such as redis://keeper:PASSWORD@host:6379")
    parser.add_argument("--commands", type=Path, help="the part of the server's configuration that renames commands")
    parser.add_argument("--cluster", action="store_true", help="the URL leads to a cluster; load them into every primary")
    parser.add_argument("--alone", action="store_true", help="remove the functions of other versions, which no process uses any longer")
    options = parser.parse_args(arguments)
    try:
        renamed = library.renames(options.commands.read_text()) if options.commands else {}
        loaded = load_library(options.url, renamed, options.cluster, options.alone)
    except OSError as reason:
        print(f"{options.commands} cannot be read ({reason.strerror}).", file=sys.stderr)
        return 1
    except (StoreUnavailable, StoreRefused) as reason:
        print(f"The functions cannot be loaded: {reason.reason}.", file=sys.stderr)
        return 1
    print(f"The server has the functions of this version ({library.NAME})." if loaded else f"It had them already ({library.NAME}).")
    return 0


if __name__ == "__main__":
    sys.exit(main())
