"""Load a match: at its newest version, or at any earlier one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from events.cache import Cached
from events.due import Owed
from events.errors import LogDamaged, NoGame, NoMatch, NoVersion, RulesMissing, SecretLost
from events.platform import Platform
from events.snapshots import unpack
from games.kernel import Game
from games.patterns import MATCH, matches
from record.dice import dice_key, join_code, keeps
from record.entries import Entry, Proof, Unreadable, blind_key, parse, prove
from record.positions import Position, follow_all
from table.session import Origin


def position(platform: Platform, match: str) -> Position:
    """Return the current position of a match. It is never older than an acknowledged append. Raises NoMatch, StoreUnavailable."""
    return newest(platform, match).position


def check_version(position: Position, version: int) -> None:
    """Raise NoVersion if the match has not reached the version. `position`: its newest one."""
    if version > position.version:
        raise NoVersion(version=version, last=position.version)


def newest(platform: Platform, match: str) -> Cached:
    """Return the current position of a match, with its keys. Raises NoMatch, StoreUnavailable."""
    found = platform.cache.get(match)
    return load(platform, match) if found is None else catch_up(platform, found)


def state_at(platform: Platform, match: str, version: int) -> Position:
    """Return the position after the entry of `version`, 1 or later. Raises NoMatch, NoVersion, StoreUnavailable."""
    found = platform.cache.get(match)
    if found is not None and found.position.version == version:
        return found.position
    check_id(match)
    if version >= 1:
        loaded = platform.store.log.load(match, version)
        if not loaded.head:
            raise NoMatch(match=match)
        if version <= loaded.head:
            return _build(platform, match, loaded.snapshot, loaded.tail, version)
    now = platform.store.log.head(match)
    if not now:
        raise NoMatch(match=match)
    raise NoVersion(version=version, last=now)


def origin(platform: Platform, match: str, version: int) -> Origin:
    """Return a version of a match as the origin of another match. Raises NoMatch, NoVersion, StoreUnavailable."""
    now = position(platform, match)
    found = state_at(platform, match, version)
    return Origin(match, version, found.digest, found.document, found.memory, now.ended, now.table)


def game_of(platform: Platform, id: str) -> Game:
    """Return a game with its newest rules, which new matches use. Raises NoGame."""
    game = platform.games.get(id)
    if game is None:
        raise NoGame(id, platform.games)
    return game


def rules_of(platform: Platform, position: Position) -> Game:
    """Return the game of a match with the rules that the match began with. No other rules may decide, show or draw it.

    Raises NoGame, RulesMissing.
    """
    found = game_of(platform, position.game).of_revision(position.revision)
    if found is None:
        raise RulesMissing(game=position.game, revision=position.revision)
    return found


def folding(platform: Platform, id: str, revision: int) -> Game:
    """Return a game that folds the entries of a revision. Events stay readable, even if this program lacks the rules of that revision.

    Raises NoGame.
    """
    newest = game_of(platform, id)
    return newest.of_revision(revision) or newest


def game_of_match(platform: Platform, match: str) -> Game:
    """Return the game of a match with its rules. Raises NoMatch, RulesMissing, StoreUnavailable."""
    return rules_of(platform, cached(platform, match).position)


def cached(platform: Platform, match: str) -> Cached:
    """Return the position in memory, which may be outdated, or else the one in the store. Raises NoMatch, StoreUnavailable."""
    return platform.cache.get(match) or load(platform, match)


def code_of(platform: Platform, position: Position) -> str | None:
    """Return the code that a match requires at a position, or None. Only the creator may see it.

    Raises NoMatch, SecretLost, StoreUnavailable.
    """
    if position.table["lock"] is None or position.status != "open":
        return None
    return join_code(cached(platform, position.match).secret)


def prover(platform: Platform, match: str) -> Callable[[Entry, dict[str, Any]], Proof]:
    """Return a function that proves entries of a match to viewers (entries.prove). It does not reveal the salt key.

    Raises NoMatch, StoreUnavailable.
    """
    blind = cached(platform, match).blind
    return lambda entry, shown: prove(entry, shown, blind)


def load(platform: Platform, match: str) -> Cached:
    """Load a match from the store, from a snapshot if there is one. Raises NoMatch, SecretLost, StoreUnavailable."""
    check_id(match)
    loaded = platform.store.log.load(match)
    if not loaded.head:
        raise NoMatch(match=match)
    position = _build(platform, match, loaded.snapshot, loaded.tail, loaded.head)
    # A finished match does not need its secret in the store: the last entry reveals it.
    known = [text for text in (loaded.secret, position.secret) if text is not None and keeps(text, position.table["commitment"])]
    if not known:
        raise SecretLost(match=match)
    secret = bytes.fromhex(known[0])
    found = Cached(position, secret, dice_key(secret, match, position.table["contributions"], position.table["dice"]), blind_key(secret))
    platform.cache.put(found)
    return found


def catch_up(platform: Platform, found: Cached) -> Cached:
    """Return the match at its head. Raises StoreUnavailable."""
    match, version = found.position.match, found.position.version
    since = platform.store.log.since(match, version, digest=found.position.digest)
    return extend(platform, found, since.head, since.tail)


def extend(platform: Platform, found: Cached, head: int, tail: list[bytes]) -> Cached:
    """Return the match at `head`. `tail`: the first entries after the cached one. More are fetched if needed. Raises StoreUnavailable."""
    before = found.position
    if head == before.version:
        return found
    if head < before.version:
        # The store has lost acknowledged entries (a power cut without fsync, a restored backup), and may have accepted others since. The
        # log counts, not the memory of this process.
        platform.cache.drop(before.match)
        return load(platform, before.match)
    newer = step_to(found, _build_on(platform, before.match, before, tail, head))
    platform.cache.put(newer)
    return newer


def step_to(found: Cached, after: Position, works: tuple[Owed, ...] | None = None) -> Cached:
    """Return the match at a later position. `works`: as in `Cached`. The dice key is new if somebody contributed to it."""
    contributions = after.table["contributions"]
    if contributions is found.position.table["contributions"] or contributions == found.position.table["contributions"]:
        return Cached(after, found.secret, found.dice, found.blind, works)
    return Cached(after, found.secret, dice_key(found.secret, after.match, contributions, after.table["dice"]), found.blind, works)


def check_id(match: str) -> None:
    """Raise NoMatch for an id that no match can have."""
    if not matches(MATCH, match):
        raise NoMatch(match=match)


def _build(platform: Platform, match: str, snapshot: bytes | None, tail: list[bytes], version: int) -> Position:
    start = unpack(snapshot) if snapshot else None
    if snapshot and start is None:
        tail = []
    if start is None and not tail:
        tail = platform.store.log.read(match)
    return _build_on(platform, match, start, tail, version) if start is None or start.version < version else start


def _build_on(platform: Platform, match: str, position: Position | None, tail: list[bytes], version: int) -> Position:
    """Return the position at `version`, which is not before the end of `tail`. Raises LogDamaged."""
    try:
        return _followed(platform, match, position, tail, version)
    except Unreadable:
        raise LogDamaged(match=match) from None


def _followed(platform: Platform, match: str, position: Position | None, tail: list[bytes], version: int) -> Position:
    """Return the position as `_build_on` does. Raises Unreadable for a damaged log."""
    while position is None or position.version < version:  # each round reads at least one entry
        if position is None:
            first = parse(tail[0])
            game = folding(platform, first.events[0]["game"], first.revision)
        else:
            game = folding(platform, position.game, position.revision)
            tail = tail or platform.store.log.read(match, position.version)
        if not tail:
            raise Unreadable(f"it ends before version {version}")
        position = follow_all(game, position, _between(tail, 0 if position is None else position.version, version))
        tail = []
    return position


def _between(tail: list[bytes], after: int, version: int) -> Iterator[Entry]:
    """Yield the entries after one version and up to another. Raises Unreadable for an item that is not the entry of its place."""
    for expected, raw in enumerate(tail, after + 1):
        entry = parse(raw)
        if entry.version > version:
            return
        if entry.version != expected:
            raise Unreadable(f"where version {expected} should stand, it has an item that says that it is version {entry.version}")
        yield entry
