"""Audit: replay a match from its entries, decide every action again with the dice that its secret gives, and compare. Never rewrites.

How to do the same in another language is told in docs/auditing.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import Any, NamedTuple

from events.dice import Draws, commitment, dice_key
from events.entries import START, Entry, Unreadable, canonical, parse, seal
from events.errors import NoMatch
from events.platform import Platform
from events.play import holder
from events.positions import CREATE, CREATED, TAKE, TAKEN, Position, begun, moved, seated, seats_somebody
from events.projections import owner
from events.recall import MATCH_ID
from events.snapshots import is_foreign, pack
from events.standings import standing
from games.chance import Drawn
from games.kernel import Game, Refused, State, admit, carry_out, fold, no, remembered


class Finding(NamedTuple):
    """Something that is not as it must be, at the version where it shows."""

    version: int
    code: str
    detail: str


class Report(NamedTuple):
    """What an audit has found. `dice`: "verified", "sealed" while the secret is not known to the auditor, or "partly" where entries of
    another revision could only be replayed.

    `commitment`: "kept", "broken", or "sealed"; `published` is what the first entry says it was. `rules`: the revisions that the entries
    name; what was decided under another one than today's is replayed, but not decided again, and counted in `replayed_only`, as is what
    drew sealed dice.
    """

    ok: bool
    match: str
    game: str
    versions: int
    digest: str
    commitment: str
    published: str
    dice: str
    rules: list[int]
    replayed_only: int
    findings: list[Finding]


class Undisclosed(Exception):
    """A draw whose secret is not known to the auditor."""


def audit(platform: Platform, match: str) -> Report:
    """Audit a match in the store, with its snapshots and its standing. Raises NoMatch, StoreUnavailable."""
    if not MATCH_ID.fullmatch(match) or not platform.store.head(match):
        raise NoMatch(f"There is no match {match}.")
    keys = platform.store.keys(match)
    trail = Trail(platform.games, platform.store.secret(match), match)
    trail.snapshots = {int(version): kept for version, kept in platform.store.wire.ask("HGETALL", keys.snapshots).items()}
    after = "0-0"
    while page := platform.store.wire.items(keys.stream, f"({after}", "+", 500):
        for id, fields in page:
            trail.read(id.decode(), fields.get(b"e", b""))
        after = page[-1][0].decode()
    kept = platform.store.wire.ask("GET", keys.standing)
    now = trail.position
    if now is not None and not trail.blind and platform.store.head(match) == trail.count and kept != canonical(standing(now)):
        trail.find("standing_differs", "The standing kept for lists is not what the stream gives; rebuild it.")
    return trail.report()


def audit_entries(games: Mapping[str, Game], lines: Iterable[bytes], secret: str | None = None) -> Report:
    """Audit exported entries, one JSON object a line, without any store. Without a secret, the one that the last entry reveals is used."""
    wires = [line.strip() for line in lines if line.strip()]
    if secret is None and wires:
        secret = _revealed(wires[-1])
    trail = Trail(games, secret)
    for place, wire in enumerate(wires, 1):
        trail.read(f"{place}-0", wire)
    return trail.report()


def record(platform: Platform, match: str) -> Iterator[bytes]:
    """Every entry of a match as it is kept, for an audit elsewhere; for nobody but those who may audit. Raises StoreUnavailable."""
    return platform.store.read_all(match)


def plain(report: Report) -> dict[str, Any]:
    """The report as a JSON object."""
    return {**report._asdict(), "findings": [finding._asdict() for finding in report.findings]}


class Trail:
    """One match while it is read: where the replay stands, and what has been found.

    Once the replay has lost the thread (`blind`), only the chain of digests is followed to the end.
    """

    def __init__(self, games: Mapping[str, Game], secret: str | None, match: str = "") -> None:
        self.findings: list[Finding] = []
        self.snapshots: dict[int, bytes] = {}
        self.position: Position | None = None
        self.version = 0
        self.count = 0
        self.blind = False
        self._games = games
        self._secret = secret
        self._match = match
        self._digest: str | None = START  # None: not known, because the entry before cannot be read
        self._at = 0
        self._rules: set[int] = set()
        self._requests: dict[str, int] = {}
        self._replayed_only = 0
        self._sealed = secret is None
        self._key = b""

    def find(self, code: str, detail: str, version: int | None = None) -> None:
        """Note a finding, at the version read last unless another is named."""
        self.findings.append(Finding(self.version if version is None else version, code, detail))

    def read(self, id: str, wire: bytes) -> None:
        """Take in the next entry of the stream."""
        if not self._number(id):
            return
        try:
            entry = parse(wire)
        except Unreadable as reason:
            self._lose("unreadable", f"The bytes of the entry are no entry: {reason}.")
            self._digest = None
            return
        try:
            self._frame(entry)
            again, state = (entry, None) if self.blind else self._again(entry)
            if self._digest is not None and seal(self._digest, again)[1] != wire:
                self._differs(entry, again, wire)
                state = None
            if not self.blind:
                self._go_on(entry, state)
        except Refused as reason:
            self._lose("not_legal", f"The rules refuse the action: {reason.code}.")
        except Exception as reason:  # noqa: BLE001 - a tampered entry can have any shape at all; what cannot be replayed is a finding
            self._lose("not_replayable", f"The entry cannot be replayed: {type(reason).__name__}: {reason}.")
        self._digest = entry.digest

    def report(self) -> Report:
        """What has been found."""
        position = self.position
        kept = "sealed"
        if position is not None and self._secret is not None:
            kept = "kept" if _hashed(self._secret) == position.commitment else "broken"
        if kept == "broken":
            self.find("commitment_broken", "The secret is not the one whose hash was published when the match was created.", 1)
        if not self.count:
            self.find("empty", "There is no entry.")
        return Report(
            ok=not self.findings,
            match=self._match,
            game=position.game if position else "",
            versions=self.version,
            digest=self._digest or "",
            commitment=kept,
            published=position.commitment if position else "",
            dice="sealed" if self._sealed else "partly" if self._replayed_only else "verified",
            rules=sorted(self._rules),
            replayed_only=self._replayed_only,
            findings=sorted(self.findings, key=lambda finding: finding.version),
        )

    def _lose(self, code: str, detail: str) -> None:
        """Note a finding after which the replay cannot go on."""
        self.find(code, detail)
        self.blind = True

    def _number(self, id: str) -> bool:
        """The entry of version n has the id n-0, and none is missing. Whether this is the entry of a version at all."""
        expected = self.version + 1
        self.count += 1
        number, _, rest = id.partition("-")
        if rest != "0":
            self.find("wrong_id", f"An entry has the id {id}, which is no version; it is passed over.", expected)
            return False
        self.version = expected
        if int(number) != expected:
            self._lose("gap", f"The entries from version {expected} to {int(number) - 1} are missing.")
            self.version = int(number)
        return True

    def _frame(self, entry: Entry) -> None:
        """What is around the action: match, version, time, request."""
        self._match = self._match or entry.match
        if entry.match != self._match:
            self.find("wrong_match", f"The entry belongs to the match {entry.match}.")
        if entry.version != self.version:
            self.find("wrong_version", f"The entry says that it is version {entry.version}.")
        if bool in map(type, entry) or not (entry.request is None or _is_request(entry.request)):
            self.find("not_canonical", "The entry holds what no entry has: true or false for a number, or a request of another shape.")
        if entry.at < self._at:
            self.find("time_backwards", "The entry is older than the one before it.")
        self._at = entry.at
        self._rules.add(entry.rules)
        if entry.request is not None and self.position is not None and not self.blind:
            name = f"{owner(entry, self.position)}/{entry.request['id']}"
            if self._requests.get(name, self.version - 1) != self.version - 1:
                self.find("request_twice", f"The request was carried out before, as version {self._requests[name]}.")
            self._requests[name] = self.version

    def _again(self, entry: Entry) -> tuple[Entry, State | None]:
        """The entry as it must be by the rules and the secret, and the document it leads to. Raises Refused."""
        before = self.position
        if before is None:
            game = self._games[entry.events[0]["game"]]
            return (entry if self._of_other_rules(game, entry, 1) else _created_again(game, entry)), None
        if seats_somebody(before, entry):
            return _seated_again(before, entry), None
        if before.status == "open":
            raise Refused(no("not_started"))  # the dice of this entry would not hang on what the open seat is still to give
        if before.document["outcome"] is not None:
            raise Refused(no("match_over"))
        game = self._games[before.game]
        if self._of_other_rules(game, entry, before.rules):
            return entry, None
        draws = Draws(self._key, self.version)
        try:
            match = carry_out(game, before.document, entry.actor, entry.action, Drawn(_sealed if self._sealed else draws.number))
        except Undisclosed:
            self._replayed_only += 1
            return entry, None
        over = match.state["outcome"] is not None
        secret = (entry.secret if self._secret is None else self._secret) if over else None
        return entry._replace(action=admit(game, entry.action), events=match.events, secret=secret), match.state

    def _of_other_rules(self, game: Game, entry: Entry, before: int) -> bool:
        """Whether an entry was decided under another revision than today's, so that it can only be replayed; revisions never go back."""
        if not before <= entry.rules <= game.revision:
            self.find("rules_differ", f"The entry names revision {entry.rules} after {before}, and the rules are at {game.revision}.")
        if entry.rules == game.revision:
            return False
        self._replayed_only += 1
        return True

    def _differs(self, entry: Entry, again: Entry, wire: bytes) -> None:
        """Say in what an entry is not as it must be."""
        if entry.action != again.action:
            self.find("action_differs", "The action is not kept as the rules have it.")
        for place, (kept, due) in enumerate(zip_longest(entry.events, again.events)):
            if kept is None or due is None or canonical(kept) != canonical(due):
                name = (kept or due)["type"]
                self.find("events_differ", f"Event {place + 1}, {name}, is not what the rules and the dice of this version give.")
                break
        if entry.secret != again.secret:
            self._misses_secret()
        assert self._digest is not None
        sealed, due_wire = seal(self._digest, entry)
        if sealed.digest != entry.digest:
            self.find("digest_broken", "The digest does not follow from the digest before and this entry.")
        elif due_wire != wire:
            self.find("not_canonical", "The entry is not written in canonical JSON, or holds what no entry has.")

    def _misses_secret(self) -> None:
        if not any(finding.version == self.version and finding.code == "secret_differs" for finding in self.findings):
            self.find("secret_differs", "The secret is revealed in the entry that ends the match, in no other, and as it was.")

    def _go_on(self, entry: Entry, state: State | None) -> None:
        """Go on from what is recorded: a finding here must not make findings of all that follows."""
        before = self.position
        if before is None:
            self.position = begun(entry)
        elif seats_somebody(before, entry):
            self.position = seated(before, entry)
        else:
            game = self._games[before.game]
            document = fold(game, before.document, entry.events) if state is None else state
            self.position = moved(before, entry, document, remembered(game, before.memory, entry.events))
        position = self.position
        if (entry.secret is None) != (position.document["outcome"] is None):
            self._misses_secret()
        if self._secret is not None and (before is None or position.contributions is not before.contributions):
            self._key = dice_key(bytes.fromhex(self._secret), position.match, position.contributions)
        snapshot = self.snapshots.get(self.version)
        if snapshot is not None and snapshot != pack(position) and not is_foreign(snapshot):
            self.find("snapshot_differs", "The snapshot of this version is not what the stream gives; rebuild it.")


def _is_request(request: dict[str, Any]) -> bool:
    return set(request) == {"id", "fingerprint"} and all(isinstance(text, str) for text in request.values())


def _created_again(game: Game, entry: Entry) -> Entry:
    """The first entry as it must be; the secret's hash is taken as published. Raises Refused."""
    (event,) = entry.events
    action = entry.action
    document = game.begin(list(event["document"]["seats"]), action["options"])
    roster = {seat: holder(seat, said, entry.actor) for seat, said in action["seats"].items()}
    assert sorted(roster) == sorted(document["seats"]), "other seats were asked for"
    created = {"type": CREATED, "game": game.id, "seats": roster, "commitment": event["commitment"], "document": document}
    kept = {"type": CREATE, "game": game.id, "seats": action["seats"], "options": action["options"]}
    return entry._replace(action=kept, events=[created], secret=None)


def _seated_again(before: Position, entry: Entry) -> Entry:
    """A taken seat as it must be."""
    seat, contribution = entry.action["seat"], entry.action["contribution"]
    assert "open" in before.roster[seat], "the seat was not free"
    kept = {"type": TAKE, "seat": seat, "contribution": contribution}
    taken = {"type": TAKEN, "seat": seat, "player": entry.actor, "contribution": contribution}
    return entry._replace(action=kept, events=[taken], secret=None)


def _sealed(below: int) -> int:
    raise Undisclosed


def _hashed(secret: str) -> str:
    try:
        return commitment(bytes.fromhex(secret))
    except ValueError:
        return ""


def _revealed(wire: bytes) -> str | None:
    try:
        return parse(wire).secret
    except Unreadable:
        return None
