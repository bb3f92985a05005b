"""Check the entries of a dossier or a record. Whole entries are decided again; redacted entries are checked as far as they are shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from hashlib import sha256
from typing import Any, NamedTuple

from evidence.notes import made_by
from games.kernel import SPECTATOR, Game
from games.patterns import DIGEST, PLAYER, matches
from record.dice import dice_key, keeps
from record.dossiers.findings import Findings
from record.dossiers.lines import follow_disputes, holders
from record.dossiers.rolls import wrong_roll
from record.dossiers.signers import Signers
from record.entries import FORMAT, START, Entry, NotCanonical, Unreadable, blind_key, canonical, is_signed, parse, salt
from record.positions import Position
from record.signatures import Signatures, Verifies
from record.trail import VERIFIED, Report, Trail, Watch
from table.rules import is_table_action
from table.settings import ALL

ENDS = frozenset({"match_closed", "record_opened"})
"""The types of events that reveal the secret. `match_ended` also does, unless another match continues this one (`match_continued`)."""


_OVER = frozenset({"match_ended", "match_closed"})


class Seen(NamedTuple):
    """What a verifier remembers of an entry. `action` is the type of its action."""

    digest: str
    at: int
    action: str


class Opening(NamedTuple):
    """What a file says about its match before the entries. `viewer` is `all` if the entries are whole."""

    match: str
    viewer: str
    secret: str | None = None
    blind: bytes | None = None


class Chain:
    """The entries read so far: what is remembered of each version, and what follows from them."""

    def __init__(self, opening: Opening, findings: Findings) -> None:
        self.opening = opening
        self.findings = findings
        self.seen: dict[int, Seen] = {}
        self.version = 0  # of the last entry
        self.game = ""
        self.commitment = ""
        self.revealed: str | None = None
        self.opened: int | None = None  # the version that revealed it; from then on everybody may know that the match is over
        self.filled: int | None = None  # the version at which the last seat was taken
        self.ended: int | None = None  # the version that ended the match
        self.hidden = False  # from spectators, while the match runs
        self.pairs: dict[tuple[int, str], int] = {}  # by revision and content hash of rules: the first version that names them
        self.seats: list[dict[str, Any]] = []  # the lines `seat` that must follow the last entry
        self.disputes: list[dict[str, Any]] = []  # the members of the lines `dispute` so far
        self.unchecked: list[str] = []
        self.signers = Signers()
        self._contributions: dict[str, str] = {}
        self._known: str | None = None

    @property
    def signatures(self) -> Signatures:
        """The signatures of actors in the entries read so far."""
        raise NotImplementedError

    @property
    def is_behind(self) -> bool:
        """True if the match may have had more versions than its viewer saw when the file was written."""
        return self.opening.viewer == SPECTATOR and self.hidden and self.revealed is None

    def read(self, raw: bytes, value: Any) -> None:
        """Read the next entry: its stored bytes, or the value that a viewer is shown."""
        raise NotImplementedError

    def close(self) -> None:
        """Make the checks that need the whole file, and say what could not be checked."""
        self._check_commitment()
        if (unknown := self.signatures.unchecked) > 0:
            self.unchecked.append(f"{unknown} signatures of moves: what they are over cannot be read, or not checked here")
        if self.version and self.ended is None:
            self.unchecked.append(f"what came after version {self.version}: the match was not over")

    def _note(self, version: int, at: int, digest: str, action: Any, events: list[Any], pair: tuple[int, str], secret: str | None) -> None:
        """Remember an entry, and make the checks that need neither the rules nor the chain."""
        self.version = version
        kind = action.get("type") if isinstance(action, dict) else None
        self.seen[version] = Seen(digest, at, kind if isinstance(kind, str) else "")
        self.pairs.setdefault(pair, version)
        self.revealed = secret or self.revealed
        self.opened = version if secret and self.opened is None else self.opened
        self.seats = []
        try:
            types = {event["type"] for event in events}
            ends = not ENDS.isdisjoint(types) or ("match_ended" in types and "match_continued" not in types)
            if (secret is not None) != ends:
                self.findings.add(
                    "secret_differs", "The entry that ends the match must reveal its secret, and no other entry may.", version
                )
            if self.ended is not None and not is_table_action(action):
                self.findings.add("not_legal", f"The entry is an action of the game, but version {self.ended} ended the match.", version)
            if self.filled is None and "seats_filled" in types:
                self.filled = version
            if self.ended is None and not _OVER.isdisjoint(types):
                self.ended = version
            self.seats = holders(events, version, at)
            self._follow(events, version)
            follow_disputes(self.disputes, events, version, self.seen[version].action)
        except (KeyError, TypeError, AttributeError) as reason:
            self.findings.add("not_replayable", f"The entry has an event of another shape: {type(reason).__name__}: {reason}.", version)

    def _note_signer(self, version: int, entry: Entry | _Shown) -> None:
        """Remember who signed an entry, and who has the seats after it. What has another shape is found elsewhere."""
        with suppress(KeyError, TypeError, AttributeError):
            self.signers.read(version, entry.actor, entry.signed, entry.events)

    def _follow(self, events: Iterable[Mapping[str, Any]], version: int) -> None:
        """Remember the game, the commitment, the key of the dice if it is known, and the contributions of the seats to the dice."""
        for event in events:
            kind = event["type"]
            if kind == "match_created":
                self.game, self.commitment = str(event["game"]), str(event["commitment"])
                self._known = event.get("dice")
                if self._known is not None and not _may_know(event):
                    self._finds_known(version)
                self.hidden = event.get("spectators", ALL) != ALL
            elif self._known is not None and kind in ("seat_taken", "seat_handed_over"):
                self._finds_known(version)
            elif kind == "seat_taken" and event["contribution"] is not None:
                self._contributions = {**self._contributions, event["seat"]: event["contribution"]}
            elif kind == "seat_left":
                self._contributions = {seat: given for seat, given in self._contributions.items() if seat != event["seat"]}

    def _finds_known(self, version: int) -> None:
        """Add the finding that somebody else plays although the dice are known (TBL-GUI-02)."""
        self.findings.add("not_legal", "The dice are known from the start, but not only the creator and artificial players play.", version)

    def _check_dice(self, events: list[dict[str, Any]], version: int) -> None:
        """Check every roll in the events of an entry, if the secret is known."""
        if self.opening.secret is None:
            return
        try:
            key = dice_key(bytes.fromhex(self.opening.secret), self.opening.match, self._contributions, self._known)
            place = wrong_roll(self.game, events, key, version)
        except (KeyError, TypeError, ValueError, AttributeError):
            return  # an event of another shape is found by the digest or the rules
        if place is not None:
            self.findings.add("events_differ", f"Event {place + 1} has other dice than those of this version.", version)

    def _check_commitment(self) -> None:
        """Check that the secret, if it is known, fits the commitment."""
        if self.opening.secret is not None and self.commitment and not keeps(self.opening.secret, self.commitment):
            self.findings.add("commitment_broken", "The secret is not the one whose hash was published when the match was created.", 1)

    def _expect(self, version: int) -> int:
        """Return the place of an entry that names a version: that version, or the next one if that is higher. Add findings."""
        expected = self.version + 1
        if version > expected:
            self.findings.add("gap", f"The entries from version {expected} to {version - 1} are missing.", expected)
            return version
        if version < expected:
            self.findings.add("wrong_version", f"The entry says that it is version {version}.", expected)
        return expected


def _may_know(created: Mapping[str, Any]) -> bool:
    """Return True if the dice of a match may be known from the start: practice of its creator and artificial players (TBL-GUI-02)."""
    alone = all(one["player"] == created["creator"] if "player" in one else "ai" in one for one in created["roster"].values())
    return matches(DIGEST, created["dice"]) and alone and created.get("practice") is True and "rated" not in created


class WholeChain(Chain):
    """Whole entries. Every action is decided again, with the dice if the secret is known."""

    def __init__(
        self,
        opening: Opening,
        findings: Findings,
        games: Mapping[str, Game],
        watch: Watch | None = None,
        verifies: Verifies = made_by,
    ) -> None:
        super().__init__(opening, findings)
        self._games = games
        self._trail = Trail(games, opening.secret, opening.match, opening.blind, watch, verifies)
        self._watched = watch is not None
        self._no_rules = False

    def read(self, raw: bytes, value: Any = None) -> None:
        """Read the next entry: its bytes, and the entry itself if it was parsed."""
        trail, expected = self._trail, self.version + 1
        try:
            entry = value if isinstance(value, Entry) else parse(raw)
        except Unreadable:
            trail.read(f"{expected}-0", raw)
            self.version, self.seats = expected, []
            return
        place = max(entry.version, expected) if type(entry.version) is int else expected
        if not self.seen:
            self._begin(entry, expected)
        trail.read_entry(place, entry, raw)
        self._note(place, entry.at, entry.digest, entry.action, entry.events, (entry.revision, entry.rules), entry.secret)
        self._note_signer(place, entry)
        if trail.lost or self._no_rules:
            self._check_dice(entry.events, place)

    @property
    def signatures(self) -> Signatures:
        """The signatures of actors in the entries read so far."""
        return self._trail.signatures

    def report(self) -> Report:
        """Return the report of the audit."""
        return self._trail.report()

    def close(self) -> None:
        """Add the findings of the audit, and say what it could not check."""
        report = self.report()
        self.findings.add_all(report.findings)
        super().close()
        if report.chain != VERIFIED:
            self.unchecked.append("the digests: the file has no key of the salts, because a seat was open when it was written")
        if report.dice == "undisclosed" and report.replayed_only:
            self.unchecked.append(f"{report.replayed_only} entries that draw: the secret is not known until the match is over")
        elif report.replayed_only:
            self.unchecked.append(f"{report.replayed_only} entries under rules that are not here: they were replayed only")
        if self._trail.decisions and not self._watched:
            stored = f"{self._trail.decisions} stored decisions"
            self.unchecked.append(f"whether artificial players would decide so again: --decisions runs the {stored} again")
        others = [rules for rules in report.rules if rules != report.rules_here]
        if report.rules_here and others:
            here = f"like those here, with the content hash {report.rules_here}"
            self.unchecked.append(f"whether the rules with the content hash {', '.join(others)} decide {here}")

    @property
    def origin(self) -> Mapping[str, Any] | None:
        """The match, the version and the digest from which this match begins, or None if it does not begin from another match."""
        first = self._trail.first
        return None if first is None else first.table["origin"]

    def compare_origin(self, position: Position) -> None:
        """Compare the first position with the position of the origin."""
        self._trail.compare_origin(position)
        self.findings.add_all(self._trail.findings)

    def _begin(self, entry: Entry, version: int) -> None:
        """Add a finding if the rules of the match are not here. Without the game, only the chain can be followed."""
        id = entry.events[0].get("game") if entry.events and isinstance(entry.events[0], dict) else None
        game = self._games.get(id) if isinstance(id, str) else None
        if game is None:
            self._trail.lost = True
        if isinstance(id, str) and (game is None or (1 <= entry.revision < game.revision and game.of_revision(entry.revision) is None)):
            self._no_rules = True
            which = f"the game {id}" if game is None else f"revision {entry.revision} of {id}"
            self.findings.add("rules_unknown", f"The rules of {which} are not here.", version)


class ShownChain(Chain):
    """Entries as a viewer sees them, with proofs."""

    def __init__(self, opening: Opening, findings: Findings) -> None:
        super().__init__(opening, findings)
        secret = opening.secret
        self._secret = None if secret is None else bytes.fromhex(secret)
        self._blind = opening.blind if self._secret is None else blind_key(self._secret)
        self._digest: str | None = START
        self._at = 0
        self._revision = 0
        self._clocks = False
        self._hidden = 0
        self._signatures = Signatures(made_by)

    @property
    def signatures(self) -> Signatures:
        """The signatures of actors in the entries read so far."""
        return self._signatures

    def read(self, raw: bytes, value: Any) -> None:
        """Read the next entry as it is shown."""
        try:
            entry = _Shown.of(value)
        except (KeyError, TypeError, ValueError, AttributeError) as reason:
            self.version += 1
            self.seats = []
            self._digest = None
            self.findings.add("unreadable", f"This is not a shown entry of format {FORMAT}: {type(reason).__name__}.", self.version)
            return
        version = self._expect(entry.version)
        self._check_order(entry, version)
        try:
            self._check_digest(entry, version)
        except NotCanonical as reason:
            self.findings.add("not_canonical", f"The entry contains something that has no canonical JSON: {reason}.", version)
        for found in self._signatures.read(entry.whole(self.opening.match, version), hidden="leaf" in entry.proof["signed"]):
            self.findings.add(found[1], found[2], found[0])
        self._note(version, entry.at, entry.digest, entry.action, entry.events, (entry.revision, entry.rules), entry.secret)
        self._note_signer(version, entry)
        self._clocks = self._clocks or any("time_out" in event for event in entry.events if event.get("type") == "match_created")
        self._check_dice(entry.events, version)
        self._digest = entry.digest

    def close(self) -> None:
        """Say what could not be checked of a view."""
        super().close()
        self.unchecked.append(f"whether the rules allow the actions: the file has only what {self.opening.viewer} sees")
        if self._hidden:
            self.unchecked.append(f"{self._hidden} parts of entries that are hidden from {self.opening.viewer}: the full record opens them")
        if self._secret is None:
            self.unchecked.append("the dice: the secret is not known until the match is over")

    def _check_order(self, entry: _Shown, version: int) -> None:
        """Check the time and the revision of an entry against the entries before it."""
        exempt = self._clocks and not (entry.actor == "system" or matches(PLAYER, entry.actor))
        if entry.at < self._at and not exempt:
            self.findings.add("time_backwards", "The entry is older than the one before it.", version)
        self._at = max(self._at, entry.at)
        self._revision = self._revision or max(entry.revision, 1)
        if entry.revision != self._revision:
            self.findings.add(
                "rules_differ", f"The entry names revision {entry.revision}, but the match began with {self._revision}.", version
            )

    def _check_digest(self, entry: _Shown, version: int) -> None:
        """Check that the digest follows from the one before. If the secret is known, check that each salt follows from it."""
        hashes = [
            self._part_hash(entry.proof["action"], entry.action, version, b"a"),
            self._part_hash(entry.proof["request"], None, version, b"r"),
            self._part_hash(entry.proof["signed"], entry.signed, version, b"s"),
            *(
                self._part_hash(given, event, version, b"%d" % place)
                for place, (given, event) in enumerate(zip(entry.proof["events"], entry.events, strict=True))
            ),
        ]
        digested: dict[str, Any] = {
            "actor": entry.actor,
            "at": entry.at,
            "format": FORMAT,
            "leaves": hashes,
            "match": self.opening.match,
            "revision": entry.revision,
            "rules": entry.rules,
            "version": version,
        }
        if entry.secret is not None:
            digested["secret"] = entry.secret
        if self._digest is not None and sha256(bytes.fromhex(self._digest) + canonical(digested)).hexdigest() != entry.digest:
            self.findings.add("digest_broken", "The digest does not follow from the entry before and this one.", version)

    def _part_hash(self, given: Mapping[str, str], value: Any, version: int, part: bytes) -> str:
        if "leaf" in given:
            self._hidden += 1
            return given["leaf"]
        if self._blind is not None and given["salt"] != salt(self._blind, version, part).hex():
            self.findings.add("salt_differs", "A salt of the entry does not follow from the secret.", version)
        return sha256(bytes.fromhex(given["salt"]) + canonical(value)).hexdigest()


class _Shown(NamedTuple):
    """An entry as a viewer sees it, with its proof."""

    version: int
    actor: str
    action: dict[str, Any]
    events: list[dict[str, Any]]
    revision: int
    at: int
    digest: str
    secret: str | None
    signed: dict[str, Any] | None
    rules: str
    proof: dict[str, Any]

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> _Shown:
        """Return the entry in a value. Raises KeyError, TypeError or ValueError if the value has another shape."""
        proof = value["proof"]
        entry = cls(
            value["version"],
            value["actor"],
            value["action"],
            value["events"],
            value["revision"],
            value["at"],
            value["digest"],
            value.get("secret"),
            value.get("signed"),
            proof["rules"],
            proof,
        )
        kinds: tuple[Any, ...] = (int, str, dict, list, int, int, str, (str, type(None)), (dict, type(None)), str, dict)
        members = value.keys() - {"secret", "signed"} == set(cls._fields[:7]) | {"proof"}
        if not members or not all(isinstance(field, kind) and type(field) is not bool for field, kind in zip(entry, kinds, strict=True)):
            raise TypeError("a field has the wrong type")
        if proof.keys() != {"format", "rules", "action", "request", "signed", "events"} or proof["format"] != FORMAT:
            raise ValueError("the proof has another format")
        if len(proof["events"]) != len(entry.events) or not all(isinstance(event, dict) for event in entry.events):
            raise ValueError("the proof has another number of events")
        for given in (proof["action"], proof["request"], proof["signed"], *proof["events"]):
            if given.keys() not in ({"salt"}, {"leaf"}) or not all(matches(DIGEST, text) for text in given.values()):
                raise ValueError("a part of the proof is neither a salt nor a leaf")
        if not matches(DIGEST, entry.digest):
            raise ValueError("the digest is not 64 hex digits")
        if entry.signed is not None and (not is_signed(entry.signed) or "salt" not in proof["signed"]):
            raise ValueError("the signature has another shape, or its part is hidden")
        return entry

    def whole(self, match: str, version: int) -> Entry:
        """Return it as an entry, without what is hidden from everybody."""
        named = (self.revision, self.rules, self.at, None, self.digest, self.secret, self.signed)
        return Entry(match, version, self.actor, self.action, self.events, *named)
