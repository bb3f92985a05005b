"""Record matches for the golden archive: `python -m tests.archive.recording [--matches N] [--seed S]`.

The archive only grows: each run writes a new file `tests/archive/<number>.xz`, and no file is ever written again. Record after a new
revision of a game, a new action of the table or a new option, so that the archive has matches with it. tools/records.py describes the
format.
"""

from __future__ import annotations

import argparse
import base64
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from nacl.signing import SigningKey

from games import GAMES
from games.chance import Drawn
from games.kernel import SYSTEM, Action, Event, Game, Refused, any_action, legal
from games.lifecycle import SHARED_REASONS
from players import choose
from record.dice import Draws, commitment, dice_key, join_code
from record.entries import START, Entry, blind_key, link, parse
from record.positions import Position, follow
from record.rules import content_hash
from record.signatures import statement
from table import rules
from table.deeds import DEEDS
from table.document import Table
from table.facts import FACTS
from table.session import NewMatch, Origin, Session
from table.settings import REQUIRED
from table.state import lock_of
from tests.archive.writing import write_archive
from tests.table.going_on import CLOCKS, POLICIES, Run, go_on, settings_of
from tools.records import Record

HERE = Path(__file__).parent
OPTIONS = HERE.parent / "games"
PLAYERS = tuple("p" + letter * 16 for letter in "abcdefg")
BEGAN = 1_790_000_000_000  # when the first match was created, in milliseconds since 1970
LONGEST = 200  # entries, after which most matches are left as they are
LONG = 3000  # of the others
FORKED = 5  # of so many matches one is forked, if it is over
SPECTATORS: tuple[Any, ...] = ("all", "all", "none", {"delay": 3})
LETTERS = "abcdefghijklmnopqrstuvwxyz234567"


class Recorded(Run):
    """A match that is recorded while it is played in memory: with a secret, its dice, and the chain of its digests."""

    def __init__(self, game: Game, will: random.Random, action: Action, origin: Origin | None = None) -> None:
        self.game = game
        self.will = will
        self.match = "m" + "".join(will.choices(LETTERS, k=16))
        self.secret = will.randbytes(32)
        self.signs = action.get("signed") == REQUIRED
        self._key = SigningKey(self.secret)
        self.raws: list[bytes] = []
        self.entries: list[Entry] = []
        self.positions: list[Position] = []
        self._blind = blind_key(self.secret)
        published, expires = commitment(self.secret), BEGAN + 7 * 86_400_000
        lock = lock_of(published, join_code(self.secret))
        session = Session(game, new=NewMatch(published, lock, expires, origin))
        self._add(PLAYERS[0], rules.carry_out(session, PLAYERS[0], action), session.events, BEGAN)

    def act_at_table(self, actor: str, action: Action, at: int, *more: Any) -> Session:
        """Carry out an action of the table. Raise Refused."""
        return super().act_at_table(actor, rules.recorded(self.now.table, actor, action), at, *more)

    def _signed(self, before: Position, entry: Entry) -> Entry:
        """Return an entry with a signature of its actor. All players of a match have the same key."""
        key = base64.b64encode(bytes(self._key.verify_key)).decode()
        entry = entry._replace(signed={"count": 1, "key": key, "place": 1, "seen": before.version, "signature": ""})
        signature = base64.b64encode(self._key.sign(statement(entry, before.digest)).signature).decode()
        return entry._replace(signed={**(entry.signed or {}), "signature": signature})

    def record(self) -> Record:
        """Return what is recorded."""
        return Record(self.match, self.raws, self.secret.hex())

    def request(self, version: int) -> dict[str, Any] | None:
        """Return what asks for the next entry."""
        return {"id": f"r{version}", "fingerprint": self.will.randbytes(16).hex()} if self.will.random() < 0.3 else None

    def _chance(self) -> Drawn:
        key = dice_key(self.secret, self.match, self.now.table["contributions"])
        return Drawn(Draws(key, self.now.version + 1).number)

    def _add(self, actor: str, action: Action, events: list[Event], at: int) -> None:
        before = self.positions[-1] if self.positions else None
        version = len(self.entries) + 1
        request = self.request(version)
        entry = Entry(self.match, version, actor, action, events, self.game.revision, content_hash(self.game), at, request, "")
        if before is not None and self.signs and _is_person(before.table, actor, action):
            entry = self._signed(before, entry)
        if follow(self.game, before, entry).ended and (before is None or not before.ended):
            entry = entry._replace(secret=self.secret.hex())
        linked, raw = link(START if before is None else before.digest, entry, self._blind)
        self.raws.append(raw)
        self.entries.append(linked)
        self.positions.append(follow(self.game, before, linked))


def _is_person(table: Table, actor: str, action: Action) -> bool:
    """Return True if neither the system nor an artificial player acts. A substitute plays, but does nothing at the table."""
    if actor == SYSTEM or "ai" in table["roster"].get(actor, {}):
        return False
    return rules.is_table_action(action) or actor not in table["substitutes"]


def recorded(game: Game, seed: int, longest: int | None = None) -> Recorded:
    """Return a match of a game, played from its creation to its end, or to about as many entries, which are drawn if none are named."""
    will = random.Random(f"{game.id} {seed}")
    while True:
        try:
            match = Recorded(game, will, _created(game, will))
            break
        except Refused:
            continue  # options that do not fit the number of seats
    _play_on(match, will, longest)
    return match


def forked(over: Recorded, seed: int) -> Recorded:
    """Return a match that begins from a version of one that is over."""
    will = random.Random(f"{over.match} {seed}")
    begun = will.choice([position for position in over.positions if position.document["outcome"] is None])
    origin = Origin(over.match, begun.version, begun.digest, begun.document, begun.memory)
    seats = {seat: will.choice(["me", "open", "ai:random"]) for seat in begun.document["seats"]}
    action = {"type": "fork_match", "fork_of": over.match, "at": begun.version, "seats": seats}
    match = Recorded(over.game, will, action | settings_of(will.choice(CLOCKS), will.choice(POLICIES)), origin)
    _play_on(match, will, None)
    return match


def _play_on(match: Recorded, will: random.Random, longest: int | None) -> None:
    """Let players take the seats, and play."""
    if _take_seats(match, will):
        kind = will.random()
        if kind < 0.45:
            for _ in go_on(match, will, longest or LONGEST):
                pass
        else:
            _play(match, will, "random" if kind < 0.85 else "greedy", longest or (LONGEST if will.random() < 0.85 else LONG))


MANY = tuple("p" + letter * 16 for letter in "abcdefgh")
"""Enough players for six seats, of which one has left too often."""


def _created(game: Game, will: random.Random) -> Action:
    """Return an action that creates a match with any seats, options and settings."""
    number = will.randint(game.seats.least, min(game.seats.most, will.choice([2, 3, 6])))
    order = will.sample(game.seats.ids, number)
    seats = {seat: will.choice(["me", "open", "open", "open", "ai:random", "ai:greedy", f"player:{PLAYERS[1]}"]) for seat in order}
    tried: dict[str, list[Any]] = yaml.safe_load((OPTIONS / game.id / "options.yaml").read_text(encoding="utf-8"))
    options = {name: will.choice(few) for name, few in tried.items() if will.random() < 0.4}
    action: Action = {"type": "create_match", "game": game.id, "seats": seats, "options": options}
    action |= settings_of(will.choice(CLOCKS), will.choice(POLICIES))
    if will.random() < 0.3:
        action["order"] = will.sample(order, number)
    if will.random() < 0.2:
        action["code"] = True
    if will.random() < 0.2:
        action["signed"] = REQUIRED
    spectators = will.choice(SPECTATORS)
    return action if spectators == "all" else {**action, "spectators": spectators}


def _take_seats(match: Recorded, will: random.Random) -> bool:
    """Let players take the open seats, leave some, and decline some. Return False if the creator closes the match."""
    at = BEGAN
    code = join_code(match.secret)
    while match.now.table["phase"] == "open":
        at += will.choice([100, 3000])
        seat = will.choice(match.now.open_seats())
        player = match.now.table["invited"].get(seat) or will.choice(MANY)
        action: Action = {"type": "take_seat", "seat": seat, "code": code}
        if will.random() < 0.5:
            action["contribution"] = will.randbytes(4).hex()
        chosen = will.random()
        taken = [(seat, who["player"]) for seat, who in match.now.roster.items() if "player" in who]
        if chosen < 0.01:
            player, action = PLAYERS[0], {"type": "close_match"}
        elif chosen < 0.08 and seat in match.now.table["invited"]:
            action = {"type": "decline_seat", "seat": seat}
        elif chosen < 0.08 and taken:
            seat, player = will.choice(taken)
            action = {"type": "leave_seat", "seat": seat}
        try:
            match.act_at_table(player, action, at)
        except Refused as refused:
            if refused.code not in ("left_too_often", "one_seat_each"):
                raise
    return match.now.status != "closed"


def _play(match: Recorded, will: random.Random, level: str, longest: int) -> None:
    """Let every seat play: at random, or as an AI seat of a level does."""
    chance = Drawn(will.randrange)
    while match.now.to_act and match.now.version < longest:
        now = match.now
        actor = will.choice(now.to_act)
        action: Action | None
        if actor == SYSTEM:
            action = legal(match.game, now.document, SYSTEM)[0]["action"]
        elif level != "random":
            action = choose(match.game, level, now.document, actor, chance, now.memory)
        else:
            action = any_action(match.game, now.document, actor, will.randrange)
        assert action is not None
        match.play(actor, action, now.at + will.choice([0, 1, 900]))


def records(matches: int, searched: int, seed: int) -> Iterator[Record]:
    """Yield as many matches of every game, and of more those that have an action, event or end that no other has."""
    for game in GAMES.values():
        unseen = {*game.deeds(), *game.events, *DEEDS, *FACTS, *SHARED_REASONS}
        for number in range(matches + searched):
            if not unseen:
                break
            match = recorded(game, seed * 1_000_000 + number, longest=None if number < matches else LONG)
            seen = unseen & kinds(match)
            unseen -= seen
            if number < matches or seen:
                yield match.record()
            if number % FORKED == 0 and match.now.status == "over":
                fork = forked(match, seed)
                unseen -= kinds(fork)
                yield fork.record()


def kinds(match: Recorded) -> set[str]:
    """Return the types of the actions and events of a match, and why it ended."""
    entries = list(map(parse, match.raws))
    events = [event for entry in entries for event in entry.events]
    reasons = {event["reason"] for event in events if event["type"] == "match_ended"}
    return reasons | {entry.action["type"] for entry in entries} | {event["type"] for event in events}


def main(arguments: list[str] | None = None) -> int:
    """Write the next file of the archive."""
    parser = argparse.ArgumentParser(prog="python -m tests.archive.recording", description=__doc__)
    parser.add_argument("--matches", type=int, default=110, help="matches of each game")
    parser.add_argument("--search", type=int, default=400, help="more matches of each game, kept if they have something new")
    parser.add_argument("--seed", type=int, default=None, help="what is drawn (default: the number of the file)")
    options = parser.parse_args(arguments)
    number = 1 + max((int(file.stem) for file in HERE.glob("*.xz")), default=0)
    path = HERE / f"{number:04}.xz"
    with path.open("xb") as file:
        written = write_archive(file, records(options.matches, options.search, number if options.seed is None else options.seed))
    sys.stdout.write(f"{written} matches, {path.stat().st_size:,} bytes: {path}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
