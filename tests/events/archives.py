"""An archive in memory, and an archivist, for the tests of archived matches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from events import play
from events.archive.archivist import archive_one
from events.archive.objects import Memory
from events.keeping import embedded
from events.notary import sequencing
from events.platform import Platform, open_platform
from events.timing.clock import Clock
from tests.conftest import ALL_GAMES, Servers

Begin = Callable[..., str]


@contextmanager
def archivist(platform: Platform, servers: Servers, at: int | None = None) -> Iterator[Platform]:
    """A platform as the archivist of the store opens it, whose archive is in memory and shared with another platform.

    `at`: a moment at which its clock stands still.
    """
    url = embedded.as_archivist(servers.store_url, servers.data)
    clock = None if at is None else Clock(lambda: at, lambda: 0, "b1")
    other = open_platform(platform.settings._replace(store_url=url), ALL_GAMES, clock=clock)
    objects = Memory()
    platform.archive.put(objects)
    other.archive.put(objects)
    try:
        yield other
    finally:
        other.close()


def finished(platform: Platform, begin: Begin, rounds: int = 2) -> str:
    """Play a match of the test game until one seat has won, and let the server's log have it. Return its id."""
    match = begin(target=3 * rounds)
    for number in range(rounds):
        for seat in ("one", "two") if number < rounds - 1 else ("one",):
            play.play(platform, match, seat, [{"type": "add", "stay": False, "by": 3}], request=f"r{number}{seat}")
        if number < rounds - 1:
            play.play(platform, match, "system", [{"type": "advance"}])
    logged(platform)
    return match


def logged(platform: Platform) -> None:
    """Let the server's log have everything that is due."""
    while sequencing.sequence(platform).more:
        pass


def away(platform: Platform, match: str) -> bool:
    """Return True if the store has filed a match away."""
    (where,) = platform.store.archiving.where([match])
    return not where.head and where.away is not None


def moved(archivist: Platform, *matches: str) -> None:
    """Archive matches that are over."""
    assert [archive_one(archivist, match) for match in matches] == [""] * len(matches)
