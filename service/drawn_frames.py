"""Frames as their viewers see them, in JSON. They are kept, since many viewers watch the same match."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

from cachetools import LRUCache

from events import recall
from events.attempts import Attempt
from events.platform import Platform
from events.standings import at_table
from games.kernel import Game
from record.entries import Entry, parse
from record.positions import Position, follow
from service import sight
from service.http.responses import sorted_json
from service.kept import Kept, Key
from web.frames import Shot, difference, shot, whole
from web.look import look
from web.news import entry_in_words, rules_of
from web.picture import draw

SHOTS = 128  # pictures with which the next frame is compared, that a process remembers

Facts = dict[str, Any]


class _Taken(NamedTuple):
    """A version as frames compare it: the position, its picture for a viewer, sentences about its entry, and the facts beside it."""

    position: Position
    shot: Shot
    text: tuple[str, ...]
    facts: Facts


class Eyes(NamedTuple):
    """Who looks at which history of a match (service/kept.py), at which shape of its pictures, and in which language."""

    match: str
    history: str
    viewer: str
    shape: str
    language: str


class Frames:
    """Draws frames for viewers, or finds those that are kept. Shared by the threads of a process."""

    def __init__(self, platform: Platform, kept: Kept) -> None:
        self._platform = platform
        self._kept = kept
        self._taken: LRUCache[tuple[int, Eyes], _Taken] = LRUCache(SHOTS)
        self._lock = threading.Lock()

    def kept(self, eyes: Eyes, after: int, last: int, key: bool) -> list[bytes | None]:
        """Return the kept frames after a version up to `last`, each None if it is not kept. With `key`, the first is a keyframe."""
        first = after + 1
        return [self._kept.get(_key(eyes, version, key and version == first)) for version in range(first, last + 1)]

    def read(self, game: Game, eyes: Eyes, after: int, last: int, key: bool) -> Iterator[bytes]:
        """Yield the frames after a version up to `last`, and keep them. With `key`, the first is a keyframe. Raises StoreUnavailable."""
        match = eyes.match
        with self._lock:
            before = self._taken.get((after, eyes))
        first = after if before is None and not key else after + 1
        entries = [parse(raw) for raw in self._platform.store.log.read(match, first - 1, last - first + 1)]
        position = None if after == 0 else before.position if before is not None else recall.state_at(self._platform, match, after)
        if before is None and position is not None and not key:
            before = _take(game, position, entries.pop(0), eyes)
        if key:
            before = None
        for entry in entries:
            position = follow(game, position, entry)
            taken = _take(game, position, entry, eyes)
            line = _line(game, before, taken, entry, eyes)
            self._kept.put(_key(eyes, entry.version, before is None), line)
            before = taken
            yield line
        if before is not None:
            with self._lock:
                self._taken[last, eyes] = before

    def tried(self, game: Game, tried: Attempt, eyes: Eyes) -> Facts:
        """Return what an attempt would change in the picture of its position and in the facts. Raise StoreUnavailable."""
        if not tried.entries:
            return {"text": [], "rules": []}
        before, after = tried.before, tried.entries[-1]._replace(events=[event for entry in tried.entries for event in entry.events])
        (raw,) = self._platform.store.log.read(before.match, before.version - 1, 1)
        first, second = _take(game, before, parse(raw), eyes), _take(game, tried.after, after, eyes)
        rules = [
            id for entry in tried.entries for id in rules_of(entry.action, sight.shown(game, entry, eyes.viewer)["events"], look(game))
        ]
        return {"text": second.text, "rules": list(dict.fromkeys(rules)), **_changes(first, second)}


def _key(eyes: Eyes, version: int, key: bool) -> Key:
    """Return the key of a frame; `key`: of a keyframe."""
    return Key("keyframe" if key else "frame", eyes.history, eyes.viewer, (version, eyes.shape, eyes.language))


def _take(game: Game, position: Position, entry: Entry, eyes: Eyes) -> _Taken:
    """Return the picture of a position, and the facts beside it. `entry`: the entry that led to the position."""
    view, looks = sight.view_read(game, position, eyes.viewer), look(game, eyes.language)
    drawn = draw(game, view, sight.shown(game, entry, eyes.viewer)["events"], eyes.shape, told=False, language=eyes.language)
    facts: Facts = {
        "status": position.status,
        "round": view["round"],
        "phase": view["phase"],
        "active": view["active"],
        "to_act": position.to_act,
        "outcome": view["outcome"],
        "seats": position.roster,
        **at_table(position.table),
    }
    return _Taken(position, shot(drawn), entry_in_words(drawn.news.sentences, entry.actor, entry.action, looks), facts)


def _line(game: Game, before: _Taken | None, after: _Taken, entry: Entry, eyes: Eyes) -> bytes:
    """Return a frame in JSON. It is a keyframe if `before` is None."""
    seen, looks = sight.shown(game, entry, eyes.viewer), look(game, eyes.language)
    line: dict[str, Any] = {
        "version": entry.version,
        "at": entry.at,
        "actor": entry.actor,
        "action": entry.action["type"],
        "text": after.text,
        "rules": rules_of(entry.action, seen["events"], looks),
    }
    if "signed" in seen:
        line["signed"] = seen["signed"]["key"]
    if before is None:
        match = {"match": entry.match, "game": game.id, "viewer": eyes.viewer, "shape": eyes.shape, "look": looks.mark}
        return sorted_json({**line, "key": True, **match, "now": after.facts, **whole(after.shot)})
    return sorted_json({**line, **_changes(before, after)})


def _changes(before: _Taken, after: _Taken) -> Facts:
    """Return the facts and the parts of the picture that differ."""
    now = {name: value for name, value in after.facts.items() if before.facts[name] != value}
    return {**({"now": now} if now else {}), **difference(before.shot, after.shot)}
