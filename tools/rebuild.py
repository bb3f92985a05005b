"""Throws every projection away and rebuilds it from the streams alone: `./run rebuild`."""

from __future__ import annotations

import argparse
import sys
import time

from events.projections import rebuild
from tools.platform import Unable, add_place, opened


def main(arguments: list[str] | None = None) -> int:
    """Rebuild, and say what has been gone through; 1 where the store cannot be reached or a match cannot be replayed."""
    parser = argparse.ArgumentParser(
        prog="run rebuild", description="Works out every projection anew from the streams; a service may run on."
    )
    add_place(parser)
    options = parser.parse_args(arguments)
    began = time.perf_counter()
    try:
        with opened(options.data) as platform:
            done = rebuild(platform)
    except Unable as reason:
        print(reason, file=sys.stderr)
        return 1
    seconds = time.perf_counter() - began
    print(f"{done.matches} matches rebuilt from {done.entries} entries in {seconds:.1f} s; {done.strays} keys of no match removed.")
    for match in done.spoilt:
        print(f"{match} cannot be replayed and was left alone; `./run audit {match}` says why.", file=sys.stderr)
    return 1 if done.spoilt else 0


if __name__ == "__main__":
    sys.exit(main())
