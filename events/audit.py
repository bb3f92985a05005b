"""Audit: replay a match from its entries, decide every action again with the dice that its secret gives, and compare. Never rewrites.

docs/auditing.md describes how to do the same in another language.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import zip_longest
from typing import Any, NamedTuple

import orjson

from events import losses, recall
from events.dice import Draws, dice_key, join_code, keeps
from events.due import KINDS, owed
from events.entries import FORMAT, START, Entry, Unreadable, blind_key, canonical, link, parse
from events.errors import NoMatch
from events.platform import Platform
from events.positions import Position, ended, follow, moment_of_play, moved
from events.rebuild import owner
from events.rules import content_hash
from events.snapshots import is_foreign, pack
from events.standings import OF_PLAYER, OF_RESULTS, indexes
from events.standings import stored as stored_standing
from events.store.projections import Listed, Stored
from events.store.signing import signing_key, verified
from games.chance import Drawn
from games.kernel import Action, Event, Game, Memory, Refused, State, admit, carry_out, no, remembered
from games.patterns import CONTENT_HASH, matches
from table import rules as table_rules
from table.document import Table
from table.rules import is_table_action
from table.session import Session, fold
from table.state import OPEN, PAUSED, STARTED, lock_of

VERIFIED = "verified"
UNDISCLOSED = "undisclosed"
PARTLY = "partly"
KEPT = "kept"
BROKEN = "broken"


class Finding(NamedTuple):
    """Something that is wrong, at the version where it shows."""

    version: int
    code: str
    detail: str


class Report(NamedTuple):
    """The result of an audit.

    `chain`: `verified`, or `undisclosed` if the auditor lacks the key of the salts, so that digests cannot be computed.
    `commitment`: `kept`, `broken`, or `undisclosed`; `published` is what the first entry says it was.
    `dice`: `verified`, `undisclosed` if the auditor lacks the secret, or `partly` if entries of another revision could only be replayed.
    `revisions`, `rules`: the revisions and the content hashes of the rules that the entries name. Entries of another revision than today's
    are replayed, but not decided again; they are counted in `replayed_only`, as are draws of undisclosed dice. Entries of this revision
    are decided again even if their content hash differs; `rules_here` is the hash of the rules that did so.
    """

    ok: bool
    match: str
    game: str
    versions: int
    digest: str
    chain: str
    commitment: str
    published: str
    dice: str
    revisions: list[int]
    rules: list[str]
    rules_here: str
    replayed_only: int
    findings: list[Finding]


class Undisclosed(Exception):
    """A draw needs a secret that the auditor does not know."""


def audit(platform: Platform, match: str, suspected: Listed | None = None) -> Report:
    """Audit a match in the store, with everything that is stored beside its log. Raises NoMatch, StoreUnavailable.

    The places where a match can be listed are looked at one by one. `suspected` adds others: only a listing of the whole store finds
    the match in places that it has never had a reason to be in.
    """
    recall.check_id(match)
    log = platform.store.log
    stored = platform.store.projections.stored(match, Listed(set(), set()))
    secret = log.load(match, 1).secret
    items = list(log.items(match))
    if not items:
        raise NoMatch(f"There is no match {match}.")
    trail = Trail(platform.games, secret or _revealed(items[-1].raw), match)
    trail.snapshots = dict(stored.snapshots)
    for item in items:
        trail.read(item.id, item.raw)
        if item.foreign:
            trail.find("foreign_field", "The item has other fields than an entry and a mark.")
    if secret is None:
        trail.find("secret_missing", "The secret of the match is not in the store.")
    for loss in losses.read(platform.settings.data).losses:
        if loss.match == match:
            trail.find("entries_lost", losses.about(loss), loss.first)
    for key in log.misplaced(match):
        trail.find("wrong_partition", f"The partition of {key} is not that of the match. Nobody reads this log.")
    if trail.position is not None and not trail.lost:
        places = _places(platform, trail, suspected or Listed(set(), set()))
        stored = platform.store.projections.stored(match, places)
        if log.head(match) == trail.count:  # else the match has moved on, and what is stored follows from later entries
            _compare(trail, trail.position, stored)
    return trail.report()


def _places(platform: Platform, trail: Trail, suspected: Listed) -> Listed:
    """Return every place where a match can be listed, rightly or not: by the games, the statuses, its seats, and all who ever had to do
    with it."""
    position = trail.position
    assert position is not None
    players = trail.players | {position.table["creator"]}
    names = {
        *indexes(position),
        *(f"status:{status}" for status in ("open", "playing", "over", "closed")),
        *(f"game:{game}" for game in platform.games),
        *(f"{kind}:{player}" for kind in OF_PLAYER for player in players),
        *(f"{kind}:{player}:{position.game}" for kind in OF_RESULTS for player in players),
    }
    due = {f"{kind}|{position.match}|{target}" for kind in KINDS for target in ("", *position.document["seats"])}
    return Listed(names | suspected.indexes, due | suspected.due)


def _compare(trail: Trail, position: Position, stored: Stored) -> None:
    """Compare what is stored beside a log with what the log gives."""
    if stored.standing != canonical(stored_standing(position)):
        trail.find("standing_differs", "The standing stored for lists is not what the log gives. Rebuild it.")
    if stored.indexes != indexes(position):
        trail.find("index_differs", "The match is not listed where the log says, or also elsewhere, or at another time. Rebuild it.")
    if stored.due != {work.member: work.due for work in owed(position)}:
        trail.find("due_differs", "The index of what is due is not what the log gives for this match. Rebuild it.")
    for name in sorted(stored.requests.keys() | trail.answers.keys()):
        if stored.requests.get(name) != trail.answers.get(name):
            version = trail.answers[name].partition(":")[0] if name in trail.answers else position.version
            trail.find("request_differs", "The answer stored for a request id is not what the log gives. Rebuild it.", int(version))
    if any(not version.isdecimal() or int(version) > position.version for version in stored.snapshots):
        trail.find("snapshot_differs", "There is a snapshot of a version that the match does not have. Rebuild it.")


def audit_entries(games: Mapping[str, Game], lines: Iterable[bytes], secret: str | None = None) -> Report:
    """Audit an exported record, one JSON object a line, without any store.

    Without a `secret`, the one that the last entry reveals is used. A record may begin with a line `{"blind": ..., "match": ...}`, which
    holds the key of the salts (`record_header`).
    """
    raws = [line.strip() for line in lines if line.strip()]
    header = _header_of(raws[0]) if raws else None
    if header is not None:
        raws = raws[1:]
    if secret is None and raws:
        secret = _revealed(raws[-1])
    trail = Trail(games, secret, *(header or ()))
    for place, raw in enumerate(raws, 1):
        trail.read(f"{place}-0", raw)
    return trail.report()


def record_header(platform: Platform, match: str) -> bytes:
    """Return the first line of a record: the match and the key of its salts, in canonical JSON. Raises NoMatch, StoreUnavailable.

    The key is null while a seat is open: a reader who took the seat could test guesses of what is hidden against the leaves. It is also
    null if the secret is missing and was not revealed.
    """
    loaded = platform.store.log.load(match, 1)
    if not loaded.head:
        raise NoMatch(f"There is no match {match}.")
    secret = loaded.secret or _revealed(platform.store.log.last([match])[0] or b"")
    standing = platform.store.lists.standings([match])[0]
    blind = None if secret is None or standing is None or standing["status"] == OPEN else _blind_from(secret)
    return canonical({"blind": None if blind is None else blind.hex(), "match": match})


def as_json(report: Report) -> dict[str, Any]:
    """Return the report as a JSON object."""
    return {**report._asdict(), "findings": [finding._asdict() for finding in report.findings]}


class Trail:
    """One match while it is read: the position of the replay, and what has been found.

    Once the replay cannot go on (`lost`), only the chain of digests is followed to the end.
    """

    def __init__(self, games: Mapping[str, Game], secret: str | None, match: str = "", blind: bytes | None = None) -> None:
        self.findings: list[Finding] = []
        self.snapshots: dict[str, bytes] = {}
        self.answers: dict[str, str] = {}  # by name of a request, its versions and its fingerprint, as the store has them
        self.players: set[str] = set()  # all who ever had a seat, or for whom one was kept
        self.position: Position | None = None
        self.version = 0
        self.count = 0
        self.lost = False
        self._games = games
        self._secret = secret
        self._match = match
        self._digest: str | None = START  # None: unknown, because the entry before cannot be read
        self._at = 0
        self._earlier: dict[int, tuple[State, Memory]] = {}  # by version, what a takeback may bring back: nothing from before `fixed`
        self._revisions: set[int] = set()
        self._rules: set[str] = set()
        self._replayed_only = 0
        self._undisclosed = secret is None
        self._dice = b""
        self._blind = blind if secret is None else _blind_from(secret)

    def find(self, code: str, detail: str, version: int | None = None) -> None:
        """Add a finding, at the version read last unless another is named."""
        self.findings.append(Finding(self.version if version is None else version, code, detail))

    def read(self, id: str, raw: bytes) -> None:
        """Take in the next item of the log."""
        if not self._number(id):
            return
        try:
            entry = parse(raw)
        except Unreadable as reason:
            self._lose("unreadable", f"The bytes are not an entry: {reason}.")
            self._digest = None
            return
        try:
            self._check_frame(entry)
            again, documents = (entry, None) if self.lost else self._decide_again(entry)
            if self._digest is not None and not self._equal(again, raw):
                self._differs(entry, again, raw)
                documents = None
            if not self.lost:
                self._go_on(entry, documents)
        except Refused as reason:
            self._lose("not_legal", f"The rules refuse the action: {reason.code}.")
        except Exception as reason:  # noqa: BLE001 - a tampered entry can have any shape at all; what cannot be replayed is a finding
            self._lose("not_replayable", f"The entry cannot be replayed: {type(reason).__name__}: {reason}.")
        self._digest = entry.digest

    def report(self) -> Report:
        """Return what has been found."""
        position = self.position
        kept = UNDISCLOSED
        published = position.table["commitment"] if position else ""
        if position is not None and self._secret is not None:
            kept = KEPT if keeps(self._secret, published) else BROKEN
        if kept == BROKEN:
            self.find("commitment_broken", "The secret is not the one whose hash was published when the match was created.", 1)
        if not self.count:
            self.find("empty", "There is no entry.")
        game = self._games.get(position.game) if position else None
        return Report(
            ok=not self.findings,
            match=self._match,
            game=position.game if position else "",
            versions=self.version,
            digest=self._digest or "",
            chain=UNDISCLOSED if self._blind is None else VERIFIED,
            commitment=kept,
            published=published,
            dice=UNDISCLOSED if self._undisclosed else PARTLY if self._replayed_only else VERIFIED,
            revisions=sorted(self._revisions),
            rules=sorted(self._rules),
            rules_here=content_hash(game) if game else "",
            replayed_only=self._replayed_only,
            findings=sorted(self.findings, key=lambda finding: finding.version),
        )

    def _lose(self, code: str, detail: str) -> None:
        """Add a finding after which the replay cannot go on."""
        self.find(code, detail)
        self.lost = True

    def _number(self, id: str) -> bool:
        """Check that the entry of version n has the id n-0 and that none is missing. Return True if this is an entry at all."""
        expected = self.version + 1
        self.count += 1
        number, _, rest = id.partition("-")
        if rest != "0":
            self.find("wrong_id", f"An item has the id {id}, which is not a version. It is skipped.", expected)
            return False
        self.version = expected
        if int(number) != expected:
            self._lose("gap", f"The entries from version {expected} to {int(number) - 1} are missing.")
            self.version = int(number)
        return True

    def _check_frame(self, entry: Entry) -> None:
        """Check what is around the action: match, version, time, request."""
        self._match = self._match or entry.match
        if entry.match != self._match:
            self.find("wrong_match", f"The entry belongs to the match {entry.match}.")
        if entry.version != self.version:
            self.find("wrong_version", f"The entry says that it is version {entry.version}.")
        if bool in map(type, entry) or not (entry.request is None or _is_request(entry.request)) or not matches(CONTENT_HASH, entry.rules):
            self.find("not_canonical", "The entry holds true or false for a number, or a request or a hash of the rules of another shape.")
        if entry.at < self._floor(entry):
            self.find("time_backwards", "The entry is older than the one before it, or than the time since which its actor's clock runs.")
        self._at = max(self._at, entry.at)
        self._revisions.add(entry.revision)
        self._rules.add(entry.rules)
        if entry.request is not None and _is_request(entry.request) and self.position is not None and not self.lost:
            name = f"{owner(entry, self.position)}/{entry.request['id']}"
            first, last, _ = self.answers.get(name, f"{self.version}:{self.version - 1}:").split(":", 2)
            if int(last) != self.version - 1:
                self.find("request_twice", f"The request was carried out before, as version {last}.")
            self.answers[name] = f"{first}:{self.version}:{entry.request['fingerprint']}"

    def _floor(self, entry: Entry) -> int:
        """Return the earliest moment that an entry may have. It is unknown for a seat with a clock once the replay cannot go on."""
        position = self.position
        if position is None or is_table_action(entry.action) or entry.actor not in position.table["clocks"]["seats"]:
            return self._at
        return 0 if self.lost else moment_of_play(position, entry.actor, 0)

    def _decide_again(self, entry: Entry) -> tuple[Entry, tuple[Table, State] | None]:
        """Return the entry as it must be by the rules and the secret, and the documents that it leads to. Raises Refused."""
        before = self.position
        game = self._games[entry.events[0]["game"] if before is None else before.game]
        if before is not None and before.document["outcome"] is not None:
            raise Refused(no("match_over"))
        if self._is_of_other_rules(game, entry, entry.revision if before is None else before.revision):
            return entry, None
        if before is None or is_table_action(entry.action):
            return self._decide_at_table(game, before, entry)
        if before.table["phase"] not in (STARTED, PAUSED):
            raise Refused(no("not_started"))  # the dice of this entry would not depend on what the open seat is still to give
        refusal = table_rules.play_refusal(before.table, before.document, entry.actor, entry.at, owner=False)
        if refusal is not None:
            raise Refused(refusal)
        try:
            match = carry_out(game, before.document, entry.actor, entry.action, self._chance())
        except Undisclosed:
            self._replayed_only += 1
            return entry._replace(action=admit(game, entry.action)), None
        table = before.table
        for event in table_rules.play_follows(table, match.state, entry.actor):
            match.events.append(event)
            table = fold(table, event)
        return self._again(entry, match.action, match.events, table, match.state), (table, match.state)

    def _chance(self) -> Drawn:
        """Return the chance of the entry read last. It raises Undisclosed if something is drawn and the secret is not known."""
        return Drawn(_undisclosed if self._undisclosed else Draws(self._dice, self.version).number)

    def _decide_at_table(self, game: Game, before: Position | None, entry: Entry) -> tuple[Entry, tuple[Table, State] | None]:
        action = entry.action
        if before is None:
            # The secret's hash and the time to start are taken as published, and without the secret the lock, too.
            published, expires = entry.events[0]["commitment"], entry.events[0].get("expires")
            lock = entry.events[0].get("lock", "") if self._secret is None else lock_of(published, join_code(bytes.fromhex(self._secret)))
            session = Session(game, commitment=published, lock=lock, expires=expires)
            action = {**action, "game": game.id}
        else:
            session = Session(
                game,
                before.table,
                before.document,
                at=entry.at,
                last=before.at,
                version=before.version,
                fixed=before.fixed,
                chance=self._chance(),
                earlier=self._earlier.__getitem__,
            )
        try:
            action = table_rules.carry_out(session, entry.actor, action)
        except Undisclosed:
            self._replayed_only += 1
            return entry._replace(action=table_rules.admit(action)), None
        return self._again(entry, action, session.events, session.table, session.state), (session.table, session.state)

    def _again(self, entry: Entry, action: Action, events: list[Event], table: Table, document: State) -> Entry:
        """Return the entry as it must be, with the secret if the match has ended."""
        secret = (entry.secret if self._secret is None else self._secret) if ended(table, document) else None
        return entry._replace(action=action, events=events, secret=secret)

    def _is_of_other_rules(self, game: Game, entry: Entry, before: int) -> bool:
        """Return True if the entry was decided under another revision than today's, so that it can only be replayed.

        Revisions never go back.
        """
        if not max(before, 1) <= entry.revision <= game.revision:
            self.find("rules_differ", f"The entry names revision {entry.revision} after {before}, and the rules are at {game.revision}.")
        if entry.revision == game.revision:
            return False
        self._replayed_only += 1
        return True

    def _equal(self, again: Entry, raw: bytes) -> bool:
        """Return True if the entry as it must be has exactly the bytes in the log."""
        if self._blind is None:
            return _encoded(again) == raw
        assert self._digest is not None
        return link(self._digest, again, self._blind)[1] == raw

    def _differs(self, entry: Entry, again: Entry, raw: bytes) -> None:
        """Say in what an entry is not as it must be."""
        if entry.action != again.action:
            self.find("action_differs", "The action is not stored as the rules admit it.")
        for place, (stored, due) in enumerate(zip_longest(entry.events, again.events)):
            if canonical(stored) != canonical(due):
                name = (stored or due)["type"]
                self.find("events_differ", f"Event {place + 1}, {name}, is not what the rules and the dice of this version give.")
                break
        if entry.secret != again.secret:
            self._misses_secret()
        if self._blind is None:
            if _encoded(entry) != raw:
                self.find("not_canonical", "The bytes are not the canonical JSON of the entry.")
            return
        assert self._digest is not None
        linked, due_raw = link(self._digest, entry, self._blind)
        if linked.digest != entry.digest:
            self.find("digest_broken", "The digest does not follow from the entry before and this one.")
        elif due_raw != raw:
            self.find("not_canonical", "The bytes are not the canonical JSON of the entry.")

    def _misses_secret(self) -> None:
        self.find("secret_differs", "The secret is revealed where the match has not ended, not where it has, or it is another one.")

    def _go_on(self, entry: Entry, documents: tuple[Table, State] | None) -> None:
        """Take the entry as it is in the log as the position to replay from."""
        before = self.position
        if documents is None or before is None:
            game = self._games[entry.events[0]["game"] if before is None else before.game]
            self.position = position = follow(game, before, entry)
        else:
            game = self._games[before.game]
            self.position = position = moved(game, before, entry, *documents, remembered(game, before.memory, entry.events))
        if position.fixed == position.version:
            self._earlier.clear()
        if position.fixed:
            self._earlier[position.version] = position.document, position.memory
        if (entry.secret is None) == position.ended:
            self._misses_secret()
        contributions = position.table["contributions"]
        if self._secret is not None and (before is None or contributions != before.table["contributions"]):
            self._dice = dice_key(bytes.fromhex(self._secret), position.match, contributions)
        if before is None or position.roster != before.roster:
            self.players |= {occupant["player"] for occupant in position.roster.values() if "player" in occupant}
        if before is None or position.table["invited"] != before.table["invited"]:
            self.players |= set(position.table["invited"].values())
        stored = self.snapshots.get(str(self.version))
        if stored is not None and self._secret is not None:
            self._check_snapshot(position, verified(signing_key(self._secret), self.version, stored))

    def _check_snapshot(self, position: Position, snapshot: bytes | None) -> None:
        """Check the snapshot of a position; None if it is not signed."""
        if snapshot is None:
            self.find("snapshot_unsigned", "The snapshot of this version has no valid signature, so it is not used. Rebuild it.")
        elif snapshot != pack(position) and not is_foreign(snapshot):
            self.find("snapshot_differs", "The snapshot of this version is not what the log gives. Rebuild it.")


def _is_request(request: dict[str, Any]) -> bool:
    return set(request) == {"id", "fingerprint"} and all(isinstance(text, str) for text in request.values())


def _encoded(entry: Entry) -> bytes:
    """Return the bytes of an entry in the log, with the digest that it has."""
    return canonical({name: value for name, value in entry._asdict().items() if value is not None} | {"format": FORMAT})


def _undisclosed(below: int) -> int:
    raise Undisclosed


def _blind_from(secret: str) -> bytes | None:
    try:
        return blind_key(bytes.fromhex(secret))
    except ValueError:
        return None


def _header_of(line: bytes) -> tuple[str, bytes | None] | None:
    """Return the match and the key of the salts in the first line of a record; None if the line is an entry."""
    try:
        header = orjson.loads(line)
        match, blind = header["match"], header["blind"]
        return str(match), None if blind is None else bytes.fromhex(blind)
    except (ValueError, KeyError, TypeError):
        return None


def _revealed(raw: bytes) -> str | None:
    try:
        return parse(raw).secret
    except Unreadable:
        return None
