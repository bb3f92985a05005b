"""Positions: a match at one version. Each entry leads from one position to the next."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from games.chance import Chance
from games.documents import clone, owned
from games.kernel import RESTORED, Game, Memory, State, remembered
from record.entries import Entry
from record.notices import Told, last_told
from record.questions import Rows, asked
from table import clocks
from table.data import ESCALATION_MS
from table.document import Occupant, Table
from table.rules import is_table_action
from table.session import Now, Session, evolve, fold
from table.state import BLANK, CLOSED, OPEN, STARTED, delay, is_open, is_sealed, seats_of

_PLAYING = frozenset({"seats_filled", "match_resumed", "match_unfrozen"})
_FIXING = frozenset({RESTORED, "match_started", "seat_withdrawn"})


class Position(NamedTuple):
    """A match after the entry of `version`, including hidden information. Treat it as frozen.

    - `table` and `document`: the documents of the table and of the game. `memory`: what an attentive player remembers beyond them.
    - `revision` and `rules`: those of the last entry. A match keeps its first revision for its whole life.
    - `secret`, in hex: known only when the match has ended.
    - `at`: the latest moment of all entries. `changed`: when the table last changed, apart from its clocks, or when the match ended.
      `finished`: when the match was over, or None. All times are in milliseconds since 1970.
    - `fixed`: nothing before this version can be taken back. At this version the match started, chance was drawn, something hidden was
      shown, a seat left the match, or an earlier document came back (TBL-TBK-02). It is 0 before the start.
    - `played`: when play last went on: the match started or was no longer paused or frozen, somebody acted in the game, or a seat left it.
    - `begun`: while play is hidden from spectators (TBL-PRV-01), the fields of the position at which play began; else None.
    - `asked`: what waits for players, with the versions at which it arose (record/questions.py). `told`: by player, and by `organiser` for
      the creator, the version and the moment of the last entry that told them something (record/notices.py).

    >>> from record.example import POSITIONS
    >>> [(position.version, position.status, position.to_act) for position in POSITIONS]
    [(1, 'playing', ['system']), (2, 'playing', ['blue']), (3, 'playing', ['red']), (4, 'over', [])]
    >>> POSITIONS[-1].seats_of("paaaaaaaaaaaaaaaa")
    ['red']
    """

    match: str
    version: int
    digest: str
    at: int
    created: int
    changed: int
    fixed: int
    revision: int
    rules: str
    table: Table
    document: State
    memory: Memory
    secret: str | None
    begun: dict[str, Any] | None = None
    finished: int | None = None
    played: int = 0
    asked: Rows = {}
    told: Told = {}

    @property
    def game(self) -> str:
        """The id of the game."""
        return self.table["game"]

    @property
    def roster(self) -> Mapping[str, Occupant]:
        """Who has each seat."""
        return self.table["roster"]

    @property
    def status(self) -> str:
        """`open` while a seat is free, then `playing`, and finally `over`. `closed` if the match was closed before it began."""
        if self.document["outcome"] is not None:
            return "over"
        return self.table["phase"] if self.table["phase"] in (OPEN, CLOSED) else "playing"

    @property
    def ended(self) -> bool:
        """True if the match is over or closed. Everybody may then know everything in it, and only disputes add entries."""
        return ended(self.table, self.document)

    @property
    def to_act(self) -> list[str]:
        """The actors who must decide now: seats or `system`. Nobody before the match starts or while it is paused."""
        to_act: list[str] = self.document["to_act"]
        return to_act if self.table["phase"] == STARTED else []

    @property
    def listed(self) -> Position:
        """The position that lists show: this one, or, if play is hidden from spectators, the one at which play began."""
        return self if self.begun is None else Position(**self.begun)

    @property
    def public_version(self) -> int:
        """The newest version that everybody may see."""
        if self.begun is None:
            return self.version
        late = delay(self.table)
        first: int = self.begun["version"]
        return first if late is None else max(first, self.version - late)

    def seats_of(self, player: str) -> list[str]:
        """Return the seats of a player, in turn order."""
        mine = seats_of(self.table, player)
        return [seat for seat in self.document["seats"] if seat in mine] if len(mine) > 1 else mine

    def open_seats(self) -> list[str]:
        """Return the free seats, in the order of the document."""
        return [seat for seat in self.document["seats"] if is_open(self.roster[seat])]


def match_id(bits: bytes) -> str:
    """Return the id of a match from 80 bits.

    >>> match_id(bytes(10))
    'maaaaaaaaaaaaaaaa'
    """
    return "m" + base64.b32encode(bits).decode().lower()


def successor_id(match: str) -> str:
    """Return the id of the match that continues another one after a ruling (TBL-DIS-13).

    >>> successor_id("maaaaaaaaaaaaaaaa")
    'mx2ae2cyducwmqkry'
    """
    return match_id(sha256(f"ruling/{match}".encode()).digest()[:10])


def ended(table: Table, document: State) -> bool:
    """Return True if a match is over or was closed. The entry that ends it reveals its secret.

    If another match continues this one, both end together (TBL-DIS-13).

    >>> from record.example import POSITIONS
    >>> [ended(position.table, position.document) for position in POSITIONS]
    [False, False, False, True]
    """
    return (document["outcome"] is not None and not is_sealed(table)) or table["phase"] == CLOSED


def asker(entry: Entry, position: Position) -> str:
    """Return who asked for the action of an entry: the player who has the seat, or the actor itself.

    >>> from record.example import ENTRIES, POSITIONS
    >>> asker(ENTRIES[3], POSITIONS[2])
    'paaaaaaaaaaaaaaaa'
    >>> asker(ENTRIES[2], POSITIONS[1])
    'blue'
    """
    player: str = position.roster.get(entry.actor, {}).get("player", entry.actor)
    return player


def level_of(position: Position, seat: str) -> str | None:
    """Return the level of the artificial player of a seat, also of one that stands in for a player who is away. None for a player.

    >>> from record.example import POSITIONS
    >>> level_of(POSITIONS[1], "blue"), level_of(POSITIONS[1], "red")
    ('greedy', None)
    """
    return position.table["substitutes"].get(seat) or position.roster[seat].get("ai")


def moment_of_play(before: Position, actor: str, received: int) -> int:
    """Return the moment that the entry of an action gets. `received`: when the action arrived. In milliseconds since 1970.

    It is the arrival, but not before the actor's clock started. So if two seats act together, the second entry may have the earlier moment.
    Without a clock, time never runs backwards within a match, even if the clock of the server does.

    >>> from record.example import BEGAN, POSITIONS
    >>> moment_of_play(POSITIONS[1], "blue", BEGAN + 5000) - BEGAN
    5000
    >>> moment_of_play(POSITIONS[1], "blue", BEGAN - 5000) - BEGAN
    1000
    """
    clock = before.table["clocks"]["seats"].get(actor)
    return max(received, before.at if clock is None or clock["since"] is None else clock["since"])


def session_after(
    game: Game,
    before: Position,
    at: int,
    chance: Chance,
    earlier: Callable[[int], tuple[State, Memory]],
    *,
    role: str | None = None,
    escalation: int = ESCALATION_MS,
    shown: bool = False,
    signed: bool = False,
) -> Session:
    """Return the session for an action of the table at a moment after a position (table.session.Now).

    >>> from games import GAMES
    >>> from games.chance import Scripted
    >>> from record.example import POSITIONS
    >>> from table.rules import carry_out
    >>> session = session_after(GAMES["war"], POSITIONS[2], POSITIONS[2].at, Scripted([], None), lambda version: ({}, {}))
    >>> carry_out(session, "red", {"type": "resign"})
    {'type': 'resign'}
    >>> session.state["outcome"]["winners"]
    ['blue']
    """
    successor = successor_id(before.match)
    now = Now(at, before.played, before.version, before.fixed, chance, earlier, role, escalation, before.finished, successor, shown, signed)
    return Session(game, before.table, before.document, now=now)


def follow(game: Game, position: Position | None, entry: Entry) -> Position:
    """Return the position after the next entry. Give None for the first entry. The given position is not changed.

    >>> from games import GAMES
    >>> from record.example import ENTRIES
    >>> created = follow(GAMES["war"], None, ENTRIES[0])
    >>> created.version, created.fixed, created.to_act
    (1, 0, ['system'])
    >>> follow(GAMES["war"], created, ENTRIES[1]).document["phase"]
    'placement'
    """
    table, document, memory = _documents(position)
    for event in entry.events:
        table, document = evolve(game, table, document, event)
    return moved(game, position, entry, table, document, remembered(game, memory, entry.events))


def replay(games: Mapping[str, Game], entries: Iterable[Entry]) -> Iterator[Position]:
    """Yield the position after each entry of a match. Each is by the rules of its entry, or by the newest ones if those are not here.

    Raises KeyError if the game is not known.

    >>> from games import GAMES
    >>> from record.example import ENTRIES, POSITIONS
    >>> list(replay(GAMES, ENTRIES)) == POSITIONS
    True
    """
    position: Position | None = None
    for entry in entries:
        game = games[entry.events[0]["game"] if position is None else position.game]
        position = follow(game.of_revision(entry.revision) or game, position, entry)
        yield position


def follow_all(game: Game, position: Position | None, entries: Iterable[Entry]) -> Position | None:
    """Return the position after many entries. Give None to begin with the first entry. Events of the game change a private copy in place.

    The new documents share parts with the entries, so the caller must not use the entries afterwards.

    >>> from games import GAMES
    >>> from record.entries import parse
    >>> from record.example import POSITIONS, RAWS
    >>> follow_all(GAMES["war"], None, map(parse, RAWS)) == POSITIONS[-1]
    True
    """
    facts, noted = game.facts, {RESTORED, *game.remembers}
    table, before, memory = _documents(position)
    document: Any = None
    for entry in entries:
        if document is None:
            document = clone(before)
        was_to_act = list(document.get("to_act", ()))
        for event in entry.events:
            kind = event["type"]
            if kind in noted:
                memory = remembered(game, memory, [event])
            if kind in facts:
                facts[kind](document, event, owned)
            else:
                table = fold(table, event)
        position = moved(game, position, entry, table, document, memory, was_to_act)
        table = position.table
        if position.begun is not None and position.begun["document"] is document:
            position = position._replace(begun={**position.begun, "document": clone(document)})
    return position


def moved(
    game: Game, position: Position | None, entry: Entry, table: Table, document: State, memory: Memory, was_to_act: list[str] | None = None
) -> Position:
    """Return the position after an entry, given the documents after its events. The clocks are then those after the entry.

    `was_to_act`: who had to act before the entry, if the document of the old position no longer says so.
    """
    version, at, secret = entry.version, entry.at, entry.secret
    before, old, _ = _documents(position)
    if position is None:
        created = changed = at
        fixed, finished, begun, played = 0, None, None, at
        waited, told = {}, {}
    else:
        at, created, changed = max(position.at, at), position.created, position.changed
        fixed, finished, begun, played = position.fixed, position.finished, position.begun, position.played
        secret = secret or position.secret
        waited, told = position.asked, position.told
    was_to_act = old.get("to_act", []) if was_to_act is None else was_to_act
    if table["clocks"]["seats"]:
        table = _wound(before, table, was_to_act, document["to_act"], entry, at)
    if not clocks.only_clocks_differ(before, table) or ended(table, document):
        changed = at
    if _fixes(game, entry):
        fixed = version
    if finished is None and document["outcome"] is not None:
        finished = at
    if not is_table_action(entry.action) or any(event["type"] in _PLAYING or event["type"] in game.facts for event in entry.events):
        played = at
    waits = waited
    if table is not before or document["to_act"] != was_to_act or table["offers"] or table["votes"] or finished is not None:
        since = None if begun is None or ended(table, document) else begun["version"]
        waits = asked(game, waited, table, document, version, at, len(entry.events), since)
    after = Position(
        entry.match,
        version,
        entry.digest,
        at,
        created,
        changed,
        fixed,
        entry.revision,
        entry.rules,
        table,
        document,
        memory,
        secret,
        None,
        finished,
        played,
        waits,
        told,
    )
    if delay(table) != 0:
        after = _hiding(after, begun)
    now_told = last_told(position, entry, after)
    return after if now_told is told else after._replace(told=now_told)


def _documents(position: Position | None) -> tuple[Table, State, Memory]:
    """Return the documents of the table and the game, and the memory, at a position or before the first entry."""
    return (BLANK, {}, {}) if position is None else (position.table, position.document, position.memory)


def _hiding(after: Position, begun: dict[str, Any] | None) -> Position:
    """Return a position with `begun` set, if play is hidden from spectators. `begun`: the fields, if play began earlier."""
    hidden = after.table["phase"] not in (OPEN, CLOSED) and not after.ended
    return after._replace(begun=(begun or after._asdict()) if hidden else None)


def _wound(before: Table, after: Table, was_to_act: list[str], to_act: list[str], entry: Entry, now: int) -> Table:
    """Return the table with its clocks after an entry, or the same object if no clock changes."""
    actor = "" if is_table_action(entry.action) else entry.actor
    return clocks.after_entry(before, after, was_to_act, to_act, actor, entry.at, now)


def _fixes(game: Game, entry: Entry) -> bool:
    """Return True if nothing before an entry can be taken back (TBL-TBK-02)."""
    for event in entry.events:
        kind = event["type"]
        if kind in _FIXING or kind in game.reveals or kind in game.rolls or kind in game.uncovers:
            return True
    return False
