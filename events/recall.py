"""Recall: a match at its newest version, or at any version before."""

from __future__ import annotations

import re
from collections.abc import Iterator

from events.cache import Cached
from events.dice import dice_key
from events.entries import Entry, parse
from events.errors import NoGame, NoMatch, NoVersion
from events.platform import Platform
from events.positions import Position, follow_all
from events.snapshots import unpack
from games.kernel import Game

MATCH_ID = re.compile(r"m[a-z2-7]{16}")


def position(platform: Platform, match: str) -> Position:
    """The match as it stands now: never older than what any append was answered with. Raises NoMatch, StoreUnavailable."""
    held = platform.cache.get(match)
    return (load(platform, match) if held is None else catch_up(platform, held)).position


def state_at(platform: Platform, match: str, version: int) -> Position:
    """The match as it stood after the entry of `version`, 1 or later. Raises NoMatch, NoVersion, StoreUnavailable."""
    held = platform.cache.get(match)
    if held is not None and held.position.version == version:
        return held.position
    _guard(match)
    if version >= 1:
        loaded = platform.store.load(match, version)
        if not loaded.head:
            raise NoMatch(f"There is no match {match}.")
        if version <= loaded.head:
            return _stand(platform, match, loaded.snapshot, loaded.tail, version)
    now = platform.store.head(match)
    if not now:
        raise NoMatch(f"There is no match {match}.")
    raise NoVersion(f"The match has the versions 1 to {now}; {version} is none of them.")


def game_of(platform: Platform, id: str) -> Game:
    """A game of the platform. Raises NoGame."""
    game = platform.games.get(id)
    if game is None:
        raise NoGame(f"There is no game {id!r}; there are {', '.join(sorted(platform.games))}.")
    return game


def hold(platform: Platform, match: str) -> Cached:
    """What to decide on: what is in memory, perhaps behind, or else what is in the store. Raises NoMatch, StoreUnavailable."""
    return platform.cache.get(match) or load(platform, match)


def load(platform: Platform, match: str) -> Cached:
    """The match from the store, by a snapshot if there is one. Raises NoMatch, StoreUnavailable."""
    _guard(match)
    loaded = platform.store.load(match)
    if not loaded.head:
        raise NoMatch(f"There is no match {match}.")
    position = _stand(platform, match, loaded.snapshot, loaded.tail, loaded.head)
    assert loaded.secret is not None, f"the secret of {match} is lost"
    held = _held(position, bytes.fromhex(loaded.secret))
    platform.cache.put(held)
    return held


def catch_up(platform: Platform, held: Cached) -> Cached:
    """The same match at the head. Raises StoreUnavailable."""
    match, version = held.position.match, held.position.version
    since = platform.store.since(match, version, digest=held.position.digest)
    return extend(platform, held, since.head, since.tail)


def extend(platform: Platform, held: Cached, head: int, tail: list[bytes]) -> Cached:
    """The same match at `head`, by the first entries after the version held; more are fetched if need be. Raises StoreUnavailable."""
    before = held.position
    if head == before.version:
        return held
    if head < before.version:
        # The store has lost what it had answered (a power cut without fsync, a backup put back), and may have taken in other entries since:
        # memory must not know better than the stream.
        platform.cache.drop(before.match)
        return load(platform, before.match)
    after = _stand_on(platform, before, tail, head)
    same_dice = after.contributions is before.contributions
    newer = Cached(after, held.secret, held.key) if same_dice else _held(after, held.secret)
    platform.cache.put(newer)
    return newer


def _stand(platform: Platform, match: str, snapshot: bytes | None, tail: list[bytes], version: int) -> Position:
    start = unpack(snapshot) if snapshot else None
    if snapshot and start is None:
        tail = []
    if start is None and not tail:
        tail = platform.store.read(match)
    return _stand_on(platform, start, tail, version) if start is None or start.version < version else start


def _stand_on(platform: Platform, position: Position | None, tail: list[bytes], version: int) -> Position:
    """The position at `version`, which is at or after the end of `tail`."""
    while True:
        if position is None:
            first = parse(tail[0])
            game = game_of(platform, first.events[0]["game"])
            match = first.match
        else:
            game = game_of(platform, position.game)
            match = position.match
        position = follow_all(game, position, _until(tail, version))
        assert position is not None
        if position.version >= version:
            return position
        tail = platform.store.read(match, position.version)
        assert tail, f"the stream of {match} ends before version {version}"


def _until(tail: list[bytes], version: int) -> Iterator[Entry]:
    for wire in tail:
        entry = parse(wire)
        if entry.version > version:
            return
        yield entry


def _held(position: Position, secret: bytes) -> Cached:
    return Cached(position, secret, dice_key(secret, position.match, position.contributions))


def _guard(match: str) -> None:
    if not MATCH_ID.fullmatch(match):
        raise NoMatch(f"There is no match {match}.")
