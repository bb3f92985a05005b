"""A small match of War! for examples in documentation and tests: four entries, made by the rules alone.

Ada creates a match against an artificial player, the system sets up the board, blue places a unit, and Ada resigns.

>>> for entry in ENTRIES:
...     print(entry.version, entry.actor, entry.action["type"])
1 paaaaaaaaaaaaaaaa create_match
2 system advance
3 blue place_unit
4 red resign
"""

from __future__ import annotations

from typing import Any

from games import GAMES
from games.chance import Drawn
from games.kernel import SYSTEM, Action, Event, carry_out
from players import budget_of, question_of
from record.dice import Draws, commitment, dice_key
from record.entries import START, Entry, blind_key, link
from record.positions import Position, ended, follow, session_after
from record.rules import content_hash
from record.thinking import decide
from record.thoughts import seed_of, thought_key
from table import rules as table_rules
from table.session import NewMatch, Session

GAME = GAMES["war"]
SECRET = bytes(range(32))
MATCH = "m" + "a" * 16
ADA = "p" + "a" * 16
BEGAN = 1_700_000_000_000
"""When the match was created, in milliseconds since 1970. The other entries follow a second apart."""

RAWS: list[bytes] = []
"""The entries as they stand in the log."""
ENTRIES: list[Entry] = []
POSITIONS: list[Position] = []
"""The position after each entry."""


def _append(actor: str, action: Action, events: list[Event], request: dict[str, Any] | None = None, secret: str | None = None) -> None:
    version = len(ENTRIES) + 1
    at = BEGAN + 1000 * (version - 1)
    entry = Entry(MATCH, version, actor, action, events, GAME.revision, content_hash(GAME), at, request, "", secret)
    linked, raw = link(ENTRIES[-1].digest if ENTRIES else START, entry, blind_key(SECRET))
    RAWS.append(raw)
    ENTRIES.append(linked)
    POSITIONS.append(follow(GAME, POSITIONS[-1] if POSITIONS else None, linked))


def _chance() -> Drawn:
    key = dice_key(SECRET, MATCH, POSITIONS[-1].table["contributions"])
    return Drawn(Draws(key, len(ENTRIES) + 1).number)


def _create() -> None:
    session = Session(GAME, new=NewMatch(commitment(SECRET)))
    seats, options = {"red": "me", "blue": "ai:greedy"}, {"first_seat": "blue"}
    action = table_rules.carry_out(session, ADA, {"type": "create_match", "game": GAME.id, "seats": seats, "options": options})
    _append(ADA, action, session.events)


def _set_up() -> None:
    match = carry_out(GAME, POSITIONS[-1].document, SYSTEM, {"type": "advance"}, _chance())
    _append(SYSTEM, match.action, match.events)


def _decide() -> None:
    before = POSITIONS[-1]
    question = question_of(GAME, before.document, "blue", before.memory)
    seed = seed_of(thought_key(SECRET, MATCH, before.table["contributions"]), before.version + 1, "blue")
    thought, decision = decide(question, "greedy", budget_of(question, "greedy"), seed)
    match = carry_out(GAME, before.document, "blue", thought.action, _chance())
    _append("blue", match.action, match.events, decision)


def _resign() -> None:
    before = POSITIONS[-1]
    session = session_after(GAME, before, BEGAN + 3000, _chance(), lambda version: (before.document, before.memory))
    action = table_rules.carry_out(session, "red", {"type": "resign"})
    assert ended(session.table, session.state), "a seat that resigns against one other loses"
    _append("red", action, session.events, secret=SECRET.hex())


_create()
_set_up()
_decide()
_resign()
