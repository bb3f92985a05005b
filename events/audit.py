"""Audit a match in the store: compare its log with everything that is derived from it. An audit changes nothing.

record/trail.py checks the log itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from events import recall
from events.due import KINDS, owed
from events.errors import NoMatch, PlatformError, StoreUnavailable
from events.keeping import losses
from events.notary import server_log_audit
from events.platform import Platform
from events.snapshots import pack
from events.standings import OF_PLAYER, indexes, packed
from events.standings import stored as stored_standing
from events.store import filed
from events.store.log import Item
from events.store.packed import indexed, tag_of
from events.store.projections import UPDATED, Listed, Stored
from events.store.signing import signing_key, verified
from evidence.notes import made_by
from games.kernel import Game
from record.entries import canonical, parse
from record.positions import Position
from record.trail import Report, Trail, Watch, blind_from, revealed
from table.data import MOST_DISPUTES
from table.results import RESULTS
from table.state import OPEN

STATUSES = ("open", "playing", "over", "closed")


class _StoredTrail(Trail):
    """Checks a match in the store entry by entry, and its snapshots by version."""

    def __init__(
        self, games: Mapping[str, Game], secret: str | None, match: str, snapshots: Mapping[str, bytes], watch: Watch | None
    ) -> None:
        super().__init__(games, secret, match, watch=watch, verifies=made_by)
        self._snapshots = snapshots

    def reached(self, position: Position) -> None:
        """Check the snapshot of a position, if there is one."""
        stored = self._snapshots.get(str(position.version))
        if stored is None or self.secret is None:
            return
        snapshot = verified(signing_key(self.secret), position.version, stored)
        if snapshot is None:
            self.find("snapshot_unsigned", "The snapshot of this version has no valid signature, so it is not used. Rebuild it.")
        elif snapshot != pack(position):
            self.find("snapshot_differs", "The snapshot of this version differs from the log. Rebuild it.")


def audit(platform: Platform, match: str, suspected: Listed | None = None, watch: Watch | None = None) -> Report:
    """Audit a match in the store, with everything that is derived from its log. Raises NoMatch, StoreUnavailable.

    Every place where the match has a reason to be listed is checked. `suspected`: further places to check; only a listing of the whole
    store finds them. `watch`: checks the decisions of artificial players.
    """
    recall.check_id(match)
    log = platform.store.log
    snapshots = platform.store.projections.snapshots(match)
    secret = log.load(match, 1).secret
    items = list(log.items(match))
    if not items:
        raise NoMatch(match=match)
    trail = _StoredTrail(platform.games, secret or revealed([item.raw for item in items]), match, snapshots, watch)
    for item in items:
        trail.read(item.id, item.raw)
        if item.foreign:
            trail.find("foreign_field", "The item has other fields than an entry, or a header that is not the entry's.")
    if secret is None:
        trail.find("secret_missing", "The secret of the match is not in the store.")
    for loss in losses.read(platform.settings.data).losses:
        if loss.match == match:
            trail.find("entries_lost", losses.about(loss), loss.first)
    for key in log.misplaced(match):
        trail.find("wrong_partition", f"{key} is in another partition than the match. Nobody reads this log.")
    if trail.first is not None and (begun := trail.first.table["origin"]) is not None:
        try:
            trail.compare_origin(recall.state_at(platform, begun["match"], begun["version"]))
        except StoreUnavailable:
            raise
        except PlatformError:  # the origin is not in this store, or is unreadable: it is not checked
            pass
    if trail.position is not None and not trail.lost:
        places = _places(platform, trail, suspected or Listed(set(), set()))
        stored = platform.store.projections.stored(match, places)
        if log.head(match) == trail.count:  # otherwise the match has moved on, and the projections belong to later entries
            row = platform.store.lists.row(match)
            if row:
                _compare_filed(trail, trail.position, stored, row, parse(items[-1].raw).at)
            else:
                _compare(trail, trail.position, stored, items)
            for version, code, detail in server_log_audit.of_match(platform, items, trail.position, secret, stored.leaf):
                trail.find(code, detail, version)
    return trail.report()


def _places(platform: Platform, trail: Trail, suspected: Listed) -> Listed:
    """Return every place where a match could be listed, rightly or not: by game, by status, by seat, and by every player it ever
    concerned."""
    position = trail.position
    assert position is not None
    players = trail.players | {position.table["creator"]}
    names = {
        *indexes(position),
        *(name for status in STATUSES for name in (f"status:{status}", f"game:{position.game}:{status}")),
        *(f"game:{game}" for game in platform.games),
        *(f"{kind}:{player}" for kind in (UPDATED, *OF_PLAYER) for player in players),
        *(f"{kind}:{player}:{position.game}" for kind in RESULTS for player in players),
    }
    targets = ("", *position.document["seats"], *(str(number) for number in range(1, MOST_DISPUTES * len(position.roster) + 1)))
    due = {f"{kind}|{position.match}|{target}" for kind in KINDS for target in targets}
    return Listed(names | suspected.indexes, due | suspected.due)


def _compare_filed(trail: Trail, position: Position, stored: Stored, row: bytes, at: int) -> None:
    """Compare what the store has of a match that is filed away with what its log gives. `row`: what lists show of it.

    `at`: the moment of its last entry.
    """
    if not filed.is_same(row, packed(position, at, filed.head_of(row)[3]).row):
        trail.find("filed_differs", "What lists show of the archived match differs from its log. Rebuild it.")
    if stored.standing is not None or stored.due or not all(name.startswith(filed.NEWS) for name in stored.indexes):
        trail.find("index_differs", "The match is archived, and it is also in lists of matches that are not. Rebuild it.")


def _compare(trail: Trail, position: Position, stored: Stored, items: Sequence[Item]) -> None:
    """Compare the stored projections of a log with what the log gives."""
    if stored.standing != canonical(stored_standing(position)):
        trail.find("standing_differs", "The standing stored for lists differs from the log. Rebuild it.")
    updates = f"{UPDATED}:{position.table['creator']}"  # the place in this list does not follow from the log
    if updates not in stored.indexes or {name: at for name, at in stored.indexes.items() if name != updates} != indexes(position):
        trail.find("index_differs", "The match is in the wrong lists, or has the wrong time in them. Rebuild it.")
    if stored.due != {work.member: work.due for work in owed(position)}:
        trail.find("due_differs", "The due index differs from the log for this match. Rebuild it.")
    tags: dict[int, bytes] = {}
    for name, answer in trail.answers.items():
        first, last = map(int, answer.split(":")[:2])
        tags |= dict.fromkeys(range(first, last + 1), tag_of(name))
    of_versions = {item.id: item for item in items}
    found = [of_versions[id] for id in (f"{version}-0" for version in range(1, position.version + 1)) if id in of_versions]
    expected = indexed([item.at for item in found], tags)
    wrong = {version for version, item in enumerate(found, 1) if item.tag != tags.get(version, b"")}
    for tag in stored.requests.keys() | expected.keys():
        if stored.requests.get(tag) != (b"%d" % expected[tag] if tag in expected else None):
            wrong.add(expected.get(tag, position.version))
    for version in sorted(wrong):
        trail.find("request_differs", "The answer stored for a request id differs from the log. Rebuild it.", version)
    if any(not version.isdecimal() or int(version) > position.version for version in stored.snapshots):
        trail.find("snapshot_differs", "There is a snapshot of a version that the match does not have. Rebuild it.")


def record_header(platform: Platform, match: str) -> bytes:
    """Return the first line of a record: the match and the key of its salts, in canonical JSON. Raises NoMatch, StoreUnavailable.

    The key is null while a seat is open. Otherwise a reader who takes the seat later could test guesses of hidden parts against their
    hashes. It is also null if the secret is missing and not revealed.
    """
    loaded = platform.store.log.load(match, 1)
    if not loaded.head:
        raise NoMatch(match=match)
    secret = loaded.secret or revealed(list(platform.store.log.read_all(match)))
    standing = platform.store.lists.standings([match])[0]
    blind = None if secret is None or standing is None or standing["status"] == OPEN else blind_from(secret)
    return canonical({"blind": None if blind is None else blind.hex(), "match": match})
