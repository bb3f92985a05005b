"""Delete every projection and derive it again from the logs: `./run rebuild`."""

from __future__ import annotations

import argparse
import sys
import time

from tqdm import tqdm

from events.rebuild import rebuild
from tools.platform import Unable, add_data_option, opened


def main(arguments: list[str] | None = None) -> int:
    """Rebuild, and print what was done. Return 1 if the store cannot be reached or something could not be repaired."""
    parser = argparse.ArgumentParser(prog="./run rebuild", description="Derive every projection again, also while a service runs.")
    parser.add_argument("--archived", action="store_true", help="also derive again what lists show of matches that are archived")
    add_data_option(parser)
    options = parser.parse_args(arguments)
    began = time.perf_counter()
    try:
        with opened(options.data) as platform, tqdm(unit="match", leave=False, disable=None) as bar:
            done = rebuild(platform, anew=options.archived, done=lambda match: bar.update())
    except Unable as reason:
        print(reason, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Interrupted. Run the same command again; it leaves alone what is right.", file=sys.stderr)
        return 130
    seconds = time.perf_counter() - began
    print(f"{done.matches} matches rebuilt from {done.entries} entries in {seconds:.1f} s; {done.strays} keys of no match removed.")
    if done.rated:
        print(f"{done.rated} rated matches counted anew.")
    if done.filed:
        print(f"{done.filed} matches of the archive filed away again.")
    for name in done.damaged:
        print(f"{name} in the archive cannot be read. `./run archive verify` says more.", file=sys.stderr)
    for match in done.unreadable:
        print(f"{match} cannot be replayed and was left alone. `./run audit {match}` says why.", file=sys.stderr)
    for key in done.misplaced:
        print(f"{key} is a log in the wrong partition. Nothing reads it, and it was left alone.", file=sys.stderr)
    for match in done.secretless:
        print(f"{match} is not over, but its secret is missing, so it cannot be played. Restore it from a backup.", file=sys.stderr)
    return int(bool(done.unreadable or done.misplaced or done.secretless or done.damaged))


if __name__ == "__main__":
    sys.exit(main())
