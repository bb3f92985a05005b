"""Look after the archive of finished matches: `./run archive list`, `move`, `verify`, `back`, `adopt`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tqdm import tqdm

from events.archive import matches as objects_of
from events.archive import owner, shedding
from events.archive.archivist import archive_one, why_not
from events.archive.returning import bring_back
from events.errors import ArchiveDamaged, ArchiveTaken, ArchiveUnavailable, NoMatch, PlatformError
from events.keeping import embedded
from events.platform import Platform, open_platform
from events.store.archiving import Away
from games.patterns import MATCH
from games.patterns import matches as fits
from games.sentences import counted
from tools.platform import Unable, add_data_option, opened
from workers.archivist import FEW

WHY = {
    "running": "it is not over",
    "disputed": "a dispute is not settled",
    "due": "something is due in it",
    "unlogged": "the server's log does not have its end yet",
    "unsent": "a webhook has still to send something of it",
    "unrated": "the ratings do not count it yet",
    "changed": "it has just changed",
    "unsound": "the audit has findings",
}


def main(arguments: list[str] | None = None) -> int:
    """Carry out a command. Return 0, 1 if something is wrong or was not done, 2 if the store cannot be opened, 130 if interrupted."""
    parser = argparse.ArgumentParser(prog="./run archive", description="Look after the archive of finished matches.")
    parser.add_argument("what", choices=("list", "move", "verify", "back", "adopt"))
    parser.add_argument("matches", nargs="*", metavar="MATCH", help="these matches; without any, all of them (not with back and adopt)")
    add_data_option(parser)
    options = parser.parse_args(arguments)
    wrong = [match for match in options.matches if not fits(MATCH, match)]
    if wrong or (options.what == "back" and not options.matches):
        parser.error(f"{wrong[0]} is not the id of a match" if wrong else "name the matches to bring back")
    try:
        with opened(options.data) as platform:
            do = {"list": listed, "move": moved, "verify": verified, "back": brought_back, "adopt": adopted}[options.what]
            done = do(platform, options.matches)
    except ArchiveTaken as reason:
        print(reason.reason, file=sys.stderr)
        return 2
    except ArchiveUnavailable as reason:
        print(f"The archive does not answer: {reason.reason}", file=sys.stderr)
        return 2
    except (Unable, PlatformError) as reason:
        print(reason, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Interrupted. Run the same command again; it goes on.", file=sys.stderr)
        return 130
    return int(not done)


def listed(platform: Platform, matches: list[str]) -> bool:
    """Print each archived match with its last version and digest, and how many there are."""
    number = entries = 0
    for match, away in _filed(platform, matches):
        print(f"{match} {away.head} {away.digest}")
        number, entries = number + 1, entries + away.head
    print(f"{counted(number, 'match', 'matches')} with {counted(entries, 'entry', 'entries')} in {platform.settings.archive_place}.")
    return True


def moved(platform: Platform, matches: list[str]) -> bool:
    """Move finished matches to the archive now, however new they are. Return False if one of the named ones was not moved."""
    platform.archive.claim()
    wanted = matches or list(_over(platform))
    done = 0
    stay: list[tuple[str, str]] = []
    with _as_archivist(platform) as archivist, tqdm(wanted, unit="match", leave=False, disable=None) as bar:
        unsent = archivist.store.archiving.unsent()
        for match in bar:
            (where,) = archivist.store.archiving.where([match])
            try:
                why = "" if where.away is not None else why_not(archivist, match, None, unsent) or archive_one(archivist, match)
            except (NoMatch, ArchiveDamaged) as reason:
                why = getattr(reason, "reason", "") or str(reason)
            done += why == "" and where.away is None
            if why:
                stay.append((match, WHY.get(why, why)))
    for match, why in stay:
        print(f"{match} stays in the store: {why}.", file=sys.stderr)
    print(f"{counted(done, 'match', 'matches')} moved to {platform.settings.archive_place}.")
    return not stay or not matches


def verified(platform: Platform, matches: list[str]) -> bool:
    """Read and unpack the object of each archived match, which checks all of its bytes. Print what is wrong, and return False then.

    Without matches, read the tiles of the server's log, too.
    """
    number = wrong = 0
    for match, away in tqdm(_filed(platform, matches), unit="match", leave=False, disable=None):
        number += 1
        try:
            objects_of.check(platform.archive.objects, match, away, platform.games)
        except ArchiveDamaged as reason:
            wrong += 1
            print(f"{match}: {reason.name}: {reason.reason}.", file=sys.stderr)
    print(f"{counted(number, 'match', 'matches')} verified: {wrong} with findings.")
    damaged = [] if matches else list(shedding.verify(platform))
    for one in damaged:
        print(f"{one.name}: {one.reason}.", file=sys.stderr)
    return not wrong and not damaged


def brought_back(platform: Platform, matches: list[str]) -> bool:
    """Bring matches back into the store. Their objects stay. Return False if there is no such match."""
    found = [bring_back(platform, match) for match in matches]
    for match, done in zip(matches, found, strict=True):
        print(f"{match} is in the store." if done else f"There is no match {match}.", file=sys.stdout if done else sys.stderr)
    return all(found)


def adopted(platform: Platform, matches: list[str]) -> bool:
    """Let the archive belong to this store, whichever had it. Return True."""
    owner.adopt(platform.archive.objects, owner.id_of(platform))
    print(f"{platform.settings.archive_place} belongs to this store.")
    return True


def _filed(platform: Platform, matches: list[str]) -> Iterator[tuple[str, Away]]:
    if not matches:
        yield from platform.store.archiving.filed()
    for match, where in zip(matches, platform.store.archiving.where(matches), strict=True):
        if where.away is not None:
            yield match, where.away


def _over(platform: Platform) -> Iterator[str]:
    """Yield every finished match in the store."""
    after = None
    while places := platform.store.archiving.over(after, 500):
        yield from (match for _, match in places)
        after = places[-1]


@contextmanager
def _as_archivist(platform: Platform) -> Iterator[Platform]:
    """Open the platform as the archivist of the store for a block. A server of your own has the user in WARLEDGER_REDIS_URL."""
    url = embedded.as_archivist(platform.store.url, platform.settings.data)
    archivist = open_platform(platform.settings._replace(store_url=url, queue_url=platform.jobs.url, cached=FEW))
    try:
        yield archivist
    finally:
        archivist.close()


if __name__ == "__main__":
    sys.exit(main())
