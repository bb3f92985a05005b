"""A match that is recorded without a service: the same entries, dice and digests as a service writes, and a dossier of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from events.notary.signer import Signer
from games.chance import Drawn
from games.kernel import SYSTEM, Action, Event, Game, Refused, legal
from record.allowances import Turn, turn_of
from record.dice import Draws, commitment, dice_key
from record.dossiers.lines import WHOLE, line
from record.dossiers.signers import Signers
from record.dossiers.writing import first_line, lines_of_entry, signed
from record.entries import START, Entry, blind_key, link
from record.positions import Position, ended, follow, moment_of_play, session_after
from record.rules import content_hash
from record.thoughts import Decision, seed_of, thought_key
from table import rules as table_rules
from table.session import NewMatch, Session


class Ledger:
    """The entries of one match so far. `secret`: 32 bytes that its dice follow from. `now`: the clock, in milliseconds since 1970.

    `position` is the newest position, and is not there before `create`. `entries` are all so far.
    """

    position: Position

    def __init__(self, game: Game, match: str, secret: bytes, now: Callable[[], int]) -> None:
        self.game = game
        self._match = match
        self._secret = secret
        self._blind = blind_key(secret)
        self._now = now
        self.entries: list[Entry] = []
        self._raws: list[bytes] = []
        self._positions: list[Position] = []
        self._refused: list[bytes] = []

    def create(self, creator: str, action: Action) -> None:
        """Create the match by an action of the table. Raises Refused."""
        session = Session(self.game, new=NewMatch(commitment(self._secret)))
        admitted = table_rules.carry_out(session, creator, action)
        self._write(creator, admitted, session.events, self._now(), None, over=False)

    def at_table(self, actor: str, action: Action) -> None:
        """Carry out an action of the table by a player, a seat or the system, at this moment. Raises Refused."""
        before = self.position
        at = max(self._now(), before.at)
        session = session_after(self.game, before, at, Drawn(self._draws().number), self._earlier)
        admitted = table_rules.carry_out(session, actor, action)
        over = ended(session.table, session.state) and not before.ended
        self._write(actor, admitted, session.events, at, None, over=over)

    def play(self, actor: str, action: Any, received: int | None = None, decision: Decision | None = None) -> None:
        """Carry out an action of the game by a seat or the system. It has a canonical form. Raises Refused.

        `received`: the moment at which it arrived, default now. `decision`: what the entry keeps about the decision of a level.
        """
        before = self.position
        at = moment_of_play(before, actor, self._now() if received is None else received)
        chance = Drawn(self._draws().number)
        owner = "player" in before.roster.get(actor, {})
        match, _ = table_rules.play(self.game, before.table, before.document, actor, action, chance, at, owner=owner)
        self._write(actor, match.action, match.events, at, decision, over=match.state["outcome"] is not None)

    def advance(self) -> None:
        """Do what the system must do in the game now."""
        self.play(SYSTEM, legal(self.game, self.position.document, SYSTEM)[0]["action"])

    def note_refused(self, seat: str, refused: Refused, action: Action) -> None:
        """Keep a refused action of a seat, as a line of the dossier."""
        who, version = self.position.roster[seat].get("player", ""), self.position.version
        about = {"seat": seat, "player": who, "version": version, "at": self._now(), "code": refused.code, "rule": refused.refusal.rule}
        self._refused.append(line("refused", **about, action=action))

    def seed(self, seat: str) -> int:
        """Return the seed for the decision of a level about the next action."""
        key = thought_key(self._secret, self._match, self.position.table["contributions"])
        return seed_of(key, self.position.version + 1, seat)

    def turn(self, seat: str) -> Turn:
        """Return the part of its turn that a seat has played."""
        return turn_of(self.entries, seat)

    def dossier(self, signer: Signer) -> bytes:
        """Return the dossier of the match, signed. It has no leaves of a server's log, because there is none."""
        last, position = self.entries[-1], self.position
        named, signers = set[tuple[int, str]](), Signers()
        lines = [first_line(position, WHOLE, self._now(), signer.name, signer.vkeys(), self._blind)]
        for entry, raw in zip(self.entries, self._raws, strict=True):
            lines += lines_of_entry(self.game, entry, raw, WHOLE, None, named, signers)
        lines += [*self._refused, line("receipt", note=signer.receipt(self._match, last.version, last.digest, last.at))]
        return b"".join(signed([lines], position, WHOLE, signer.sign))

    def _draws(self) -> Draws:
        position = self.position
        return Draws(dice_key(self._secret, self._match, position.table["contributions"]), position.version + 1)

    def _earlier(self, version: int) -> tuple[Any, Any]:
        """Return the document and the memory at an earlier version, for a takeback."""
        earlier = self._positions[version - 1]
        return earlier.document, earlier.memory

    def _write(self, actor: str, action: Action, events: list[Event], at: int, decision: Decision | None, *, over: bool) -> None:
        version, rules = len(self.entries) + 1, content_hash(self.game)
        secret = self._secret.hex() if over else None
        entry = Entry(self._match, version, actor, action, events, self.game.revision, rules, at, decision, "", secret)
        linked, raw = link(self.entries[-1].digest if self.entries else START, entry, self._blind)
        self.position = follow(self.game, self._positions[-1] if self._positions else None, linked)
        self.entries.append(linked)
        self._raws.append(raw)
        self._positions.append(self.position)
