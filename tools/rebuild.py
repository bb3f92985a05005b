"""Delete every projection and derive it again from the logs: `./run rebuild`."""

from __future__ import annotations

import argparse
import sys
import time

from tqdm import tqdm

from events.rebuild import rebuild
from events.store.filed import packed_id
from games.patterns import MATCH, matches
from tools.platform import Unable, add_data_option, opened


def main(arguments: list[str] | None = None) -> int:
    """Rebuild, and print what was done. Return 1 if the store cannot be reached or something could not be repaired."""
    parser = argparse.ArgumentParser(prog="./run rebuild", description="Derive every projection again, also while a service runs.")
    parser.add_argument("--archived", action="store_true", help="also derive again what lists show of matches that are archived")
    parser.add_argument("--after", default="", metavar="MATCH", help="begin in the archive after this match, where an earlier run ended")
    add_data_option(parser)
    options = parser.parse_args(arguments)
    if options.after and not matches(MATCH, options.after):
        parser.error(f"{options.after} is not the id of a match")
    began, archive = time.perf_counter(), Progress(options.after)
    try:
        with opened(options.data) as platform, tqdm(desc="store", unit="match", leave=False, disable=None) as bar, archive.bar:
            done = rebuild(platform, options.after, options.archived, lambda match: bar.update(), archive.update)
    except Unable as reason:
        print(reason, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Interrupted. Run the same command again; it leaves alone what is right.", file=sys.stderr)
        if archive.last:
            print(f"With --after {archive.last} it goes on in the archive where it has ended.", file=sys.stderr)
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


class Progress:
    """A bar for the matches of the archive, which come in the order of their random ids. So an id says how many there are. `last`: the
    last match."""

    def __init__(self, after: str) -> None:
        self.last, self._share = after, share_of(after) if after else 0.0
        self.bar = tqdm(desc="archive", unit="match", leave=False, disable=None)

    def update(self, match: str) -> None:
        """Count a match."""
        self.last, seen = match, share_of(match) - self._share
        self.bar.update()
        if seen > 0:
            self.bar.total = max(self.bar.n, round(self.bar.n * (1 - self._share) / seen))


def share_of(match: str) -> float:
    """Return the share of all ids that come before this one.

    >>> share_of("m2222222222222222"), share_of("mm222222222222222")
    (0.0, 0.5625)
    """
    return int.from_bytes(packed_id(match), "big") / 2**80


if __name__ == "__main__":
    sys.exit(main())
