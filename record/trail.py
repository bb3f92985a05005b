"""Trail: replay a match from its entries, decide every action again with its own dice, and compare.

This is the core of every audit. It needs only the standard library and the rules: no store, no clock, no network.
docs/auditing.md describes how to do the same in another language.

>>> from games import GAMES
>>> from record.example import RAWS
>>> report = audit_entries(GAMES, RAWS)
>>> report.ok, report.versions, report.chain, report.commitment, report.dice
(True, 4, 'verified', 'kept', 'verified')

Change one byte, and the audit says where.

>>> forged = [*RAWS[:2], RAWS[2].replace(b'"tile":"a1"', b'"tile":"b1"'), RAWS[3]]
>>> [(finding.version, finding.code) for finding in audit_entries(GAMES, forged).findings]
[(3, 'not_legal'), (3, 'digest_broken')]
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import zip_longest
from typing import Any, NamedTuple

from games.chance import Drawn
from games.kernel import Action, Event, Game, Memory, Refused, State, admit, no, remembered
from games.patterns import CONTENT_HASH, matches
from record.allowances import WINDOW, Turn, turn_of
from record.dice import Draws, dice_key, join_code, keeps
from record.entries import FORMAT, START, Entry, Unreadable, blind_key, canonical, link, parse
from record.json_text import loads
from record.positions import Position, asker, ended, follow, level_of, moment_of_play, moved, replay, session_after
from record.rules import content_hash
from record.shown import UNSEEN_OF_SEAT, is_unseen
from record.signatures import Signatures, Verifies
from record.thoughts import decision_in, is_decision, is_request, request_in, seed_of, thought_key
from table import rules as table_rules
from table.continuing import CARRIED_ON
from table.deeds import CONTINUE, FORK
from table.document import Table
from table.rules import follows_the_end, is_table_action
from table.session import NewMatch, Now, Origin, Session
from table.state import BLANK, DISPUTED, PAUSED, STARTED, lock_of
from table.unseen import seen_by_some

VERIFIED = "verified"
UNDISCLOSED = "undisclosed"
PARTLY = "partly"
KEPT = "kept"
BROKEN = "broken"
TRUSTED = "trusted"

RETURN = "return_time"
_PASSED = 100  # entries that are remembered: as many as a list and what may be unseen before it can have


class Finding(NamedTuple):
    """Something wrong, and the version at which it shows."""

    version: int
    code: str
    detail: str


class Report(NamedTuple):
    """The result of an audit.

    - `chain`: `verified`, or `undisclosed` if the auditor lacks the key of the salts and cannot compute digests.
    - `commitment`: `kept`, `broken` or `undisclosed`. `published`: the commitment in the first entry.
    - `dice`: `verified`; `undisclosed` if the auditor lacks the secret; or `partly` if the first rules of the match are not here, so that
      entries could only be replayed.
    - `revisions`, `rules`: the revisions and the content hashes of the rules that the entries name. An entry of a revision that is here is
      decided again even if its content hash differs; `rules_here` is the hash of the rules that decided.
    - `replayed_only`: how many entries were replayed but not decided again. Entries with draws of undisclosed dice count, too.
    - `origin`: for a match that begins from a position of another match. `verified` if the two positions were compared; `trusted` if the
      other match was not given, so that the position is taken as published. None for any other match.
    - `signed`: how many entries their actors have signed. `signatures`: `verified`; `undisclosed` if some cannot be checked here; None
      without any.
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
    origin: str | None
    signed: int
    signatures: str | None
    findings: list[Finding]


class Undisclosed(Exception):
    """A draw needs a secret that the auditor does not know."""


class Acted(NamedTuple):
    """An action of an artificial player.

    `game`: the game by the rules of the match, or None if those are not here. `level`: the level that plays the seat. `before`: the
    position in which it decided. `turn`: the part of its turn that the seat had played (record/allowances.py).
    `seed`: the seed of the decision, or None if the secret is not known.
    """

    game: Game | None
    level: str
    before: Position
    turn: Turn
    entry: Entry
    seed: int | None


Watch = Callable[[Acted], object]
"""A function that an audit calls with each action of an artificial player, in order."""


def audit_entries(
    games: Mapping[str, Game],
    lines: Iterable[bytes],
    secret: str | None = None,
    origin: Iterable[bytes] | None = None,
    progress: Callable[[int, int], object] | None = None,
    watch: Watch | None = None,
    verifies: Verifies | None = None,
) -> Report:
    """Return the report of an audit of a record: JSON lines, one entry each. No store is needed.

    `secret`: of the match, in hex; by default the one that the last entry reveals. A record may begin with a line
    `{"blind": …, "match": …}` with the key of the salts (`record_header`). `origin`: for a fork, the record of the match from which it
    begins. `progress` is called after each entry with the number of entries so far and of all. `watch` is called with each action of an
    artificial player. `verifies` checks a signature (evidence.notes.made_by); without it no signature is checked.

    >>> from games import GAMES
    >>> from record.example import RAWS
    >>> running = audit_entries(GAMES, RAWS[:3])
    >>> running.ok, running.dice, running.replayed_only
    (True, 'undisclosed', 1)
    """
    raws = [line.strip() for line in lines if line.strip()]
    header = header_of(raws[0]) if raws else None
    if header is not None:
        raws = raws[1:]
    if secret is None and raws:
        secret = revealed(raws)
    match, blind = header or ("", None)
    trail = Trail(games, secret, match, blind, watch, verifies)
    for place, raw in enumerate(raws, 1):
        trail.read(f"{place}-0", raw)
        if progress is not None:
            progress(place, len(raws))
    if origin is not None and trail.first is not None and (begun := trail.first.table["origin"]) is not None:
        replayed = at_version(games, origin, begun["version"])
        if replayed is not None:
            trail.compare_origin(replayed)
    return trail.report()


def at_version(games: Mapping[str, Game], lines: Iterable[bytes], version: int) -> Position | None:
    """Return the position of a record at a version, or None if the record ends before it.

    >>> from games import GAMES
    >>> from record.example import RAWS
    >>> at_version(GAMES, RAWS, 2).to_act
    ['blue']
    >>> at_version(GAMES, RAWS, 9) is None
    True
    """
    raws = (line.strip() for line in lines)
    entries = (parse(raw) for raw in raws if raw and header_of(raw) is None)
    return next((position for position in replay(games, entries) if position.version == version), None)


def as_json(report: Report) -> dict[str, Any]:
    """Return the report as a JSON object.

    >>> from games import GAMES
    >>> as_json(audit_entries(GAMES, []))["findings"]
    [{'version': 0, 'code': 'empty', 'detail': 'There is no entry.'}]
    """
    return {**report._asdict(), "findings": [finding._asdict() for finding in report.findings]}


class Trail:
    """An audit of one match in progress: the position of the replay, and the findings so far.

    If the replay cannot go on (`lost`), the audit only follows the chain of digests to the end.

    >>> from games import GAMES
    >>> from record.example import RAWS, SECRET
    >>> trail = Trail(GAMES, SECRET.hex())
    >>> trail.read("1-0", RAWS[0])
    >>> trail.read("3-0", RAWS[2])
    >>> trail.findings[0]
    Finding(version=2, code='gap', detail='The entries from version 2 to 2 are missing.')
    >>> trail.lost
    True
    """

    def __init__(
        self,
        games: Mapping[str, Game],
        secret: str | None,
        match: str = "",
        blind: bytes | None = None,
        watch: Watch | None = None,
        verifies: Verifies | None = None,
    ) -> None:
        self.findings: list[Finding] = []
        self.answers: dict[str, str] = {}  # by name of a request: its versions and its fingerprint, in the form of the store
        self.players: set[str] = set()  # everybody who ever had a seat or was invited to one
        self.position: Position | None = None
        self.first: Position | None = None  # the position of the first version
        self.origin: str | None = None
        self.version = 0
        self.count = 0
        self.lost = False
        self.decisions = 0  # of artificial players, stored in entries
        self.signatures = Signatures(verifies)
        self._games = games
        self._watch = watch
        self._newest: deque[Entry] = deque(maxlen=WINDOW)
        self._passed: deque[tuple[Entry, list[str]]] = deque(maxlen=_PASSED)  # entries, and who was to act after each
        self._revision = 0  # of the first entry
        self.secret = secret
        self._match = match
        self._digest: str | None = START  # None if the entry before cannot be read
        self._at = 0
        self._earlier: dict[int, tuple[State, Memory]] = {}  # by version: what a takeback may restore, nothing from before `fixed`
        self._revisions: set[int] = set()
        self._rules: set[str] = set()
        self._replayed_only = 0
        self._undisclosed = secret is None
        self._dice = b""
        self._blind = blind if secret is None else blind_from(secret)

    def find(self, code: str, detail: str, version: int | None = None) -> None:
        """Add a finding, by default at the version read last."""
        self.findings.append(Finding(self.version if version is None else version, code, detail))

    def read(self, id: str, raw: bytes) -> None:
        """Read the next item of the log. `id`: its id in the stream, such as `7-0`."""
        if not self._number(id):
            return
        try:
            entry = parse(raw)
        except Unreadable as reason:
            self._lose("unreadable", f"The bytes are not an entry: {reason}.")
            self._digest = None
            return
        self._take(entry, raw)

    def read_entry(self, version: int, entry: Entry, raw: bytes) -> None:
        """Read the next item of the log, an entry that was parsed, at the place of a version."""
        if self._number(f"{version}-0"):
            self._take(entry, raw)

    def _take(self, entry: Entry, raw: bytes) -> None:
        """Check an entry, and take the position after it."""
        try:
            self._check_members(entry)
            self._check_signature(entry)
            again, documents = (entry, None) if self.lost else self._decide_again(entry)
            if not self.lost:
                self._look_at_player(entry)
            if self._digest is not None and not self._equal(again, raw):
                self._differs(entry, again, raw)
                documents = None
            if not self.lost:
                self._go_on(entry, documents)
        except Refused as reason:
            self._lose("not_legal", f"The rules refuse the action: {reason.code}.")
            self._check_alone(entry, raw)
        except Exception as reason:  # noqa: BLE001 - a tampered entry can have any shape; that is a finding, not a failure
            self._lose("not_replayable", f"The entry cannot be replayed: {type(reason).__name__}: {reason}.")
            self._check_alone(entry, raw)
        self._digest = entry.digest

    def _check_alone(self, entry: Entry, raw: bytes) -> None:
        """Check the digest and the bytes of an entry that cannot be decided again, unless they were checked before."""
        if any(finding.version == self.version and finding.code == "digest_broken" for finding in self.findings):
            return
        with suppress(Exception):  # an entry without a canonical form was found before
            if self._digest is not None and not self._equal(entry, raw):
                self._differs(entry, entry, raw)

    def compare_origin(self, origin: Position) -> None:
        """Compare the first position with the position of the origin at that version (TBL-FRK-04)."""
        first = self.first
        assert first is not None, "the first entry has been read"
        published = first.table["origin"]
        assert published is not None, "the match begins from another one"
        self.origin = VERIFIED
        same = (origin.match, origin.version, origin.digest) == (published["match"], published["version"], published["digest"])
        documents = [origin.document, first.document]
        if "dispute" in published and origin.game == first.game:
            documents = [seen_by_some(self._rules_of(first.game), document) for document in documents]
        if not same or canonical([documents[0], origin.memory]) != canonical([documents[1], first.memory]):
            self.find("origin_differs", "The match does not begin from the position that its origin has at that version.", 1)

    def report(self) -> Report:
        """Return the report."""
        position = self.position
        kept = UNDISCLOSED
        published = position.table["commitment"] if position else ""
        if position is not None and self.secret is not None:
            kept = KEPT if keeps(self.secret, published) else BROKEN
        if kept == BROKEN:
            self.find("commitment_broken", "The secret is not the one whose hash was published when the match was created.", 1)
        if not self.count:
            self.find("empty", "There is no entry.")
        self.findings += (Finding(*found) for found in self.signatures.close())
        signed = sum(map(len, self.signatures.keys.values()))
        game = self._rules_of(position.game) if position and position.game in self._games else None
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
            origin=self.origin or (None if self.first is None or self.first.table["origin"] is None else TRUSTED),
            signed=signed,
            signatures=None if not signed else UNDISCLOSED if self.signatures.unchecked else VERIFIED,
            findings=sorted(self.findings, key=lambda finding: finding.version),
        )

    def _lose(self, code: str, detail: str) -> None:
        """Add a finding after which the replay cannot go on."""
        self.find(code, detail)
        self.lost = True

    def _number(self, id: str) -> bool:
        """Check that the entry of version n has the id n-0 and that no entry is missing. Return True if the item is an entry."""
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

    def _check_members(self, entry: Entry) -> None:
        """Check the members around the action: match, version, time, request."""
        self._match = self._match or entry.match
        if entry.match != self._match:
            self.find("wrong_match", f"The entry belongs to the match {entry.match}.")
        if entry.version != self.version:
            self.find("wrong_version", f"The entry says that it is version {entry.version}.")
        if bool in map(type, entry) or not _is_known(entry.request) or not matches(CONTENT_HASH, entry.rules):
            self.find("not_canonical", "The entry has a boolean for a number, or a request or a hash of the rules of another shape.")
        if entry.at < self._floor(entry):
            self.find("time_backwards", "The entry is older than the one before it, or than the start of its actor's clock.")
        self._at = max(self._at, entry.at)
        self._revisions.add(entry.revision)
        self._rules.add(entry.rules)
        request = request_in(entry)
        if request is not None and self.position is not None and not self.lost:
            name = f"{asker(entry, self.position)}/{request['id']}"
            first, last, _ = self.answers.get(name, f"{self.version}:{self.version - 1}:").split(":", 2)
            if int(last) != self.version - 1:
                self.find("request_twice", f"The request was carried out before, as version {last}.")
            self.answers[name] = f"{first}:{self.version}:{request['fingerprint']}"

    def _check_signature(self, entry: Entry) -> None:
        """Check the signature of an entry, and that its actor could not know more than it has seen."""
        self.findings += (Finding(*found) for found in self.signatures.read(entry))
        if entry.signed is not None and not self.lost and self.position is not None and self._is_stale(entry, self.position):
            seen = entry.signed["seen"]
            self.find("move_stale", f"The signature is over version {seen}, but its actor could see what came between.")

    def _is_stale(self, entry: Entry, before: Position) -> bool:
        """Return True if the actor of a signed entry could see something that came between the version seen and the request."""
        assert entry.signed is not None, "the entry is signed"
        seen, first = entry.signed["seen"], self.version - entry.signed["place"] + 1
        if seen == first - 1:
            return False
        between = [each for each, _ in self._passed if seen < each.version < first]
        while between and between[-1].action["type"] == RETURN:
            between.pop()
        if not between:
            return False
        if entry.actor not in before.roster:
            return bool(seen != before._replace(version=between[-1].version).public_version)
        together = next((to_act for each, to_act in self._passed if each.version == seen), None)
        if together is None or is_table_action(entry.action) or len(between) > UNSEEN_OF_SEAT * len(before.roster):
            return True
        return not is_unseen(self._rules_of(before.game), together, between, entry.actor)

    def _look_at_player(self, entry: Entry) -> None:
        """Check that the level of a decision is the level that plays the seat. Then call the watch."""
        before, decision = self.position, decision_in(entry)
        if decision is None and self._watch is None:
            return
        level = None
        if before is not None and entry.actor in before.roster and not is_table_action(entry.action):
            level = level_of(before, entry.actor)
        if decision is not None:
            self.decisions += 1
            if decision["level"] != level:
                plays = "no artificial player plays the seat" if level is None else f"{level} plays the seat"
                self.find("level_differs", f"The decision is one of the level {decision['level']}, and {plays}.")
        if self._watch is None or before is None or level is None:
            return
        seed = None
        if self.secret is not None:
            key = thought_key(bytes.fromhex(self.secret), before.match, before.table["contributions"])
            seed = seed_of(key, self.version, entry.actor)
        game, turn = self._games[before.game].of_revision(self._revision), turn_of(list(self._newest), entry.actor)
        self._watch(Acted(game, level, before, turn, entry, seed))

    def _floor(self, entry: Entry) -> int:
        """Return the earliest moment that an entry may have. It is 0 for a seat with a clock if the replay cannot go on."""
        position = self.position
        if position is None or is_table_action(entry.action) or entry.actor not in position.table["clocks"]["seats"]:
            return self._at
        return 0 if self.lost else moment_of_play(position, entry.actor, 0)

    def _decide_again(self, entry: Entry) -> tuple[Entry, tuple[Table, State] | None]:
        """Return the entry that the rules and the secret require, and the documents after it. Raises Refused."""
        before = self.position
        if before is None:
            self._revision = entry.revision
        game = self._rules_of(entry.events[0]["game"] if before is None else before.game)
        if before is not None and before.document["outcome"] is not None and not is_table_action(entry.action):
            raise Refused(no("match_over"))
        self._check_revision(game, entry)
        if game.revision != self._revision:
            self._replayed_only += 1
            return entry, None
        if before is None or is_table_action(entry.action):
            return self._decide_at_table(game, before, entry)
        if before.table["phase"] not in (STARTED, PAUSED, DISPUTED):
            raise Refused(no("not_started"))  # the dice of this entry would not depend on the contribution of the open seat
        signed = entry.signed is not None
        try:
            match, table = table_rules.play(
                game, before.table, before.document, entry.actor, entry.action, self._chance(), entry.at, owner=False, signed=signed
            )
        except Undisclosed:
            self._replayed_only += 1
            return entry._replace(action=admit(game, entry.action)), None
        return self._again(entry, match.action, match.events, table, match.state), (table, match.state)

    def _chance(self) -> Drawn:
        """Return the chance of the entry read last. A draw raises Undisclosed if the secret is not known."""
        return Drawn(_undisclosed if self._undisclosed else Draws(self._dice, self.version).number)

    def _decide_at_table(self, game: Game, before: Position | None, entry: Entry) -> tuple[Entry, tuple[Table, State] | None]:
        action = entry.action
        if before is None:
            # The hash of the secret and the time to start are taken as published. So is the lock if the secret is not known.
            published, expires = entry.events[0]["commitment"], entry.events[0].get("expires")
            lock = entry.events[0].get("lock", "") if self.secret is None else lock_of(published, join_code(bytes.fromhex(self.secret)))
            if self.secret is not None:
                self._dice = dice_key(bytes.fromhex(self.secret), entry.match, {}, entry.events[0].get("dice"))
            session = Session(game, new=NewMatch(published, lock, expires, _origin(entry)), now=Now(chance=self._chance()))
            if session.new.origin is None:
                action = {**action, "game": game.id}
        else:
            signed = entry.signed is not None
            session = session_after(game, before, entry.at, self._chance(), self._earlier.__getitem__, signed=signed, **_published(entry))
        try:
            action = table_rules.carry_out(session, entry.actor, action)
        except Undisclosed:
            self._replayed_only += 1
            return entry._replace(action=table_rules.admit(action)), None
        return self._again(entry, action, session.events, session.table, session.state), (session.table, session.state)

    def _again(self, entry: Entry, action: Action, events: list[Event], table: Table, document: State) -> Entry:
        """Return the entry that the rules require, with the secret if it ends the match."""
        ends = ended(table, document) and (self.position is None or not self.position.ended)
        secret = (entry.secret if self.secret is None else self.secret) if ends else None
        return entry._replace(action=action, events=events, secret=secret)

    def _rules_of(self, id: str) -> Game:
        """Return a game by the first rules of the match, or by its newest rules if those are not here."""
        newest = self._games[id]
        return newest.of_revision(self._revision) or newest

    def _check_revision(self, game: Game, entry: Entry) -> None:
        """Check that the revision is that of the first entry, and that the first one is not newer than the rules here."""
        newest = self._games[game.id].revision
        if entry.revision != self._revision:
            self.find("rules_differ", f"The entry names revision {entry.revision}, but the match began with {self._revision}.")
        elif self.position is None and not 1 <= entry.revision <= newest:
            self.find("rules_differ", f"The match begins with revision {entry.revision}, but the rules here are at {newest}.")

    def _equal(self, again: Entry, raw: bytes) -> bool:
        """Return True if the required entry has exactly the bytes in the log."""
        if self._blind is None:
            return _encoded(again) == raw
        assert self._digest is not None
        return link(self._digest, again, self._blind)[1] == raw

    def _differs(self, entry: Entry, again: Entry, raw: bytes) -> None:
        """Add findings about the differences between an entry and the required one, `again`."""
        if entry.action != again.action:
            self.find("action_differs", "The action is not stored in the form that the rules give it.")
        for place, (stored, due) in enumerate(zip_longest(entry.events, again.events)):
            if canonical(stored) != canonical(due):
                name = (stored or due)["type"]
                self.find("events_differ", f"Event {place + 1}, {name}, does not follow from the rules and the dice of this version.")
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
        self.find("secret_differs", "The entry that ends the match must reveal its secret, and no other entry may.")

    def _go_on(self, entry: Entry, documents: tuple[Table, State] | None) -> None:
        """Follow the entry as it is in the log. The replay goes on from the position after it."""
        before = self.position
        if documents is None or before is None:
            game = self._rules_of(entry.events[0]["game"] if before is None else before.game)
            self.position = position = follow(game, before, entry)
        else:
            game = self._rules_of(before.game)
            self.position = position = moved(game, before, entry, *documents, remembered(game, before.memory, entry.events))
        self.first = self.first or position
        self._newest.append(entry)
        self._passed.append((entry, position.to_act))
        if position.fixed == position.version:
            self._earlier.clear()
        if position.fixed:
            self._earlier[position.version] = position.document, position.memory
        if (entry.secret is None) == (position.ended and (before is None or not before.ended)):
            self._misses_secret()
        contributions = position.table["contributions"]
        if self.secret is not None and (before is None or contributions != before.table["contributions"]):
            self._dice = dice_key(bytes.fromhex(self.secret), position.match, contributions, position.table["dice"])
        if before is None or position.roster != before.roster:
            self.players |= {occupant["player"] for occupant in position.roster.values() if "player" in occupant}
        if before is None or position.table["invited"] != before.table["invited"]:
            self.players |= set(position.table["invited"].values())
        self.reached(position)

    def reached(self, position: Position) -> None:
        """Do nothing with a position that the replay has reached. An audit of the store compares it with the stored one."""


def _origin(first: Entry) -> Origin | None:
    """Return the origin of a match as its first entry publishes it, or None if the match begins with the first document of its game."""
    if first.action.get("type") not in (FORK, CONTINUE):
        return None
    created, restored = first.events[0], first.events[1]
    table: Any = {**BLANK, **{name: created[name] for name in CARRIED_ON if name in created}}
    origin = created["origin"]
    return Origin(origin["match"], origin["version"], origin["digest"], restored["document"], restored["memory"], True, table)


def _published(entry: Entry) -> dict[str, Any]:
    """Return what only the platform knew when it decided an entry about a dispute. The audit takes it as published."""
    for event in entry.events:
        if event["type"] in ("dispute_opened", "ruling_appealed"):
            return {"escalation": event["until"] - entry.at}
        if event["type"] in ("dispute_taken", "dispute_ruled"):
            return {"role": event["role"]}
    return {}


def _is_known(request: dict[str, Any] | None) -> bool:
    """Return True if the member `request` of an entry has a known shape."""
    return request is None or is_request(request) or is_decision(request)


def _encoded(entry: Entry) -> bytes:
    """Return the bytes that an entry with its present digest has in the log."""
    return canonical({name: value for name, value in entry._asdict().items() if value is not None} | {"format": FORMAT})


def _undisclosed(below: int) -> int:
    raise Undisclosed


def blind_from(secret: str) -> bytes | None:
    """Return the key of all salts that follows from a secret in hex, or None if that is not hex.

    >>> blind_from("00" * 32) == blind_key(bytes(32))
    True
    >>> blind_from("secret") is None
    True
    """
    try:
        return blind_key(bytes.fromhex(secret))
    except ValueError:
        return None


def header_of(line: bytes) -> tuple[str, bytes | None] | None:
    r"""Return the match and the key of the salts in the first line of a record, or None if the line is an entry.

    >>> header_of(b'{"blind":"00ff","match":"maaaaaaaaaaaaaaaa"}')
    ('maaaaaaaaaaaaaaaa', b'\x00\xff')
    >>> from record.example import RAWS
    >>> header_of(RAWS[0]) is None
    True
    """
    try:
        header = loads(line)
        match, blind = header["match"], header["blind"]
        return str(match), None if blind is None else bytes.fromhex(blind)
    except (ValueError, KeyError, TypeError):
        return None


def revealed(raws: Sequence[bytes]) -> str | None:
    """Return the secret that an entry of a match reveals, or None. Only entries of disputes may follow it.

    >>> from record.example import RAWS, SECRET
    >>> revealed(RAWS) == SECRET.hex(), revealed(RAWS[:3])
    (True, None)
    """
    for raw in reversed(raws):
        try:
            entry = parse(raw)
        except Unreadable:
            return None
        if entry.secret is not None or not follows_the_end(entry.action):
            return entry.secret
    return None
