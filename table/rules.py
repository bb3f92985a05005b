"""The rules of the table: carry out an action, list the choices of a player, redact, explain a refusal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from games import kernel
from games.chance import Chance
from games.choices import Choice, with_counts
from games.kernel import AUDITOR, RESTORED, SPECTATOR, SYSTEM, Action, Event, Game, Match, Refusal, Refused, State, no
from games.lifecycle import PREPARED
from games.schema import Malformed, Shape, always, record
from games.sentences import Sentence
from table.clocks import deadline_of, only_clocks_differ
from table.deeds import DEEDS
from table.document import Table
from table.facts import FACTS
from table.freezing import settle_freezes
from table.progress import is_over, lapse, lapsing, played_stretches
from table.refusals import REFUSALS
from table.session import BY_PLAYER, BY_REFEREE, BY_SEAT, BY_SYSTEM, Now, Session, TableDeed, fold
from table.settings import REQUIRED
from table.state import CLOSED, DISPUTED, NEW, OPEN, PAUSED, STARTED, lock_of, needs_code
from table.votes import settle_votes

_CHOSEN: Mapping[str, list[TableDeed]] = {
    whose: [deed for deed in DEEDS.values() if deed.by == whose] for whose in (BY_PLAYER, BY_SEAT, BY_SYSTEM)
}
RULE_PREFIX = "TBL-"


def is_table_action(action: Any) -> bool:
    """Return True if the type of an action is one of the table's."""
    return isinstance(action, dict) and isinstance(action.get("type"), str) and action["type"] in DEEDS


def is_table_refusal(refusal: Refusal) -> bool:
    """Return True if a rule of the table refuses, and not one of the game."""
    return refusal.rule is not None and refusal.rule.startswith(RULE_PREFIX)


def recorded(table: Table, player: str, action: Any) -> Any:
    """Return an action as the record has it: with the hash in place of a code, and without a code that is not needed (TBL-INV-05).

    Call it once, with what the player has sent: the hash of a hash opens nothing.
    """
    if not is_table_action(action) or not isinstance(action.get("code"), str) or not isinstance(action.get("seat"), str):
        return action
    bare = {name: value for name, value in action.items() if name != "code"}
    needed = needs_code(table, player, action["seat"])
    return {**bare, "code": lock_of(table["commitment"], action["code"])} if needed else bare


def admit(action: Any) -> Action:
    """Return the action with its shape checked. Raises Refused `bad_action`."""
    if not is_table_action(action):
        raise Refused(no("bad_action", reason="it is not an object with a `type` that the table knows"))
    kind: str = action["type"]
    try:
        cleaned: Action = _shapes()[kind].clean(action)
    except Malformed as reason:
        raise Refused(no("bad_action", reason=f"{kind}: {reason}")) from None
    return cleaned


def carry_out(session: Session, actor: str, action: Any) -> Action:
    """Carry out an action of the table: the session has the events and both documents afterwards. Return the admitted action.

    `actor`: the id of a player, a seat, or `system`, as the deed says (`by`). The caller checks whether a player has the seat, and
    winds the clocks afterwards (table.clocks.after_entry). Raises Refused; the documents that the session began with are untouched.
    """
    admitted = admit(action)
    deed = DEEDS[admitted["type"]]
    if by(session.table, actor) != (BY_PLAYER if deed.by == BY_REFEREE else deed.by):
        raise Refused(no("bad_action", reason=f"{admitted['type']} is not for {actor!r} to choose"))
    refusal = deed.refusal(session, actor, admitted)
    if refusal is None and deed.by != BY_PLAYER and not deed.after_the_end and is_over(session):
        refusal = no("match_over")  # a rematch is not carried out in the match that is over
    if refusal is None and not session.now.signed and session.table["phase"] not in (NEW, OPEN, CLOSED):
        refusal = signature_refusal(session.table, actor)
    if refusal is not None:
        raise Refused(refusal)
    for name in deed.ranges(session, actor, admitted) if deed.ranges is not None else ():
        if name not in admitted:
            raise Refused(no("bad_action", reason=f"{admitted['type']}: missing field {name!r}"))
    deed.act(session, actor, admitted)
    if session.table["disputed_since"] is not None:
        settle_freezes(session)
    if session.table["votes"] and session.table["phase"] != DISPUTED:
        settle_votes(session)
    if is_over(session):
        lapse(session, actor)
    elif session.table["held"]:
        for event in list(played_stretches(session.table, session.state)):
            session.emit(**event)
    return admitted


def by(table: Table, actor: str) -> str:
    """Return whose actions an actor can choose: those of a player, a seat or the system."""
    return BY_SYSTEM if actor == SYSTEM else BY_SEAT if actor in table["roster"] else BY_PLAYER


def by_seat(action: Any) -> bool:
    """Return True if an action is one that a seat chooses at the table."""
    return is_table_action(action) and DEEDS[action["type"]].by == BY_SEAT


def is_for_referees(action: Any) -> bool:
    """Return True if an action is one that a referee chooses at the table."""
    return is_table_action(action) and DEEDS[action["type"]].by == BY_REFEREE


def follows_the_end(action: Any) -> bool:
    """Return True if an action is one that is possible in a match that is over (TBL-DIS-03)."""
    return is_table_action(action) and DEEDS[action["type"]].after_the_end


def signature_refusal(table: Table, actor: str) -> Refusal | None:
    """Return why what an actor does after the start is refused without a signature, or None (TBL-SIG-02).

    The system and artificial players do not sign. What a substitute plays is not signed either; the owner of its seat signs all the same.
    """
    if table["signed"] != REQUIRED or actor == SYSTEM or "ai" in table["roster"].get(actor, {}):
        return None
    return no("signature_needed", "TBL-SIG-02", actor=actor)


def play_refusal(table: Table, state: State, seat: str, at: int, *, owner: bool) -> Refusal | None:
    """Return why the table does not let a seat or the system act in the game at a moment, or None (TBL-PAU-02, TBL-DIS-02, TBL-TIM-06,
    TBL-CLK-05). The moment is in milliseconds since 1970. `owner`: whether the player who has the seat acts, rather than an artificial
    player who plays it for him."""
    if state["outcome"] is not None:
        return None  # the game says so
    if table["phase"] == PAUSED:
        return no("match_paused", "TBL-PAU-02")
    if table["phase"] == DISPUTED:
        return no("match_disputed", "TBL-DIS-02")
    if owner and seat in table["substitutes"]:
        return no("substituted", "TBL-TIM-06", seat=seat)
    deadline = deadline_of(table, seat)
    return no("time_is_up", "TBL-CLK-05", seat=seat, deadline=deadline) if deadline is not None and at > deadline else None


def play(
    game: Game, table: Table, state: State, actor: str, action: Any, chance: Chance, at: int, *, owner: bool, signed: bool = False
) -> tuple[Match[State], Table]:
    """Carry out an action of the game at a table, at a moment. `owner`: as for `play_refusal`. `signed`: whether the actor has signed it.

    Return the match afterwards, whose events include the facts of the table that follow, and the table. Raises Refused.
    """
    refusal = play_refusal(table, state, actor, at, owner=owner)
    if refusal is None and not signed and actor not in table["substitutes"]:
        refusal = signature_refusal(table, actor)
    if refusal is not None:
        raise Refused(refusal)
    match = kernel.carry_out(game, state, actor, action, chance)
    for event in play_follows(table, match.state, actor):
        match.events.append(event)
        table = fold(table, event)
    return match, table


def play_follows(table: Table, state: State, seat: str) -> list[Event]:
    """Return the facts of the table that follow from an action of a seat in the game. `state` is the game's document after it."""
    return list(lapsing(table, state, seat)) if table["offers"] or table["votes"] or table["held"] else []


def legal(game: Game, table: Table, state: State, player: str, *, shown: bool = False) -> list[Choice]:
    """Return all choices that a player has at the table. `shown`: whether the player was shown what the seats may not see."""
    return _legal(Session(game, table, state, now=Now(shown=shown)), player)


def legal_for_seat(game: Game, table: Table, state: State, seat: str, version: int, fixed: int) -> list[Choice]:
    """Return all choices that a seat has at the table, at a version. Nothing can be taken back from before the version `fixed`."""
    return _legal(Session(game, table, state, now=Now(version=version, fixed=fixed)), seat)


def choices_of(
    game: Game, table: Table, state: State, seat: str | None, player: str, version: int, fixed: int, *, shown: bool = False
) -> list[Choice]:
    """Return all choices at the table: those of a seat of the player, if one is given, then those of the player. Do not change them.

    The action of each is complete. Each has the mark `at_table`. `version`, `fixed` and `shown`: as for `legal_for_seat` and `legal`.
    Most actions of a match leave them as they were, and listing them takes as long as deciding the action. So they are kept.
    """
    if state["outcome"] is not None or table["phase"] != STARTED:
        return _looked_up(game, table, state, seat, player, version, fixed, shown).choices
    key, playing = (table["commitment"], seat, player, 0 < fixed < version, shown), game.playing(state)
    kept = _kept.get(key)
    if kept is None or kept.playing != playing or not only_clocks_differ(kept.table, table):
        if len(_kept) >= _MOST_KEPT:
            _kept.clear()
        kept = _kept[key] = _looked_up(game, table, state, seat, player, version, fixed, shown)
        return kept.choices
    kept.table = table
    if not kept.moving:
        return kept.choices
    session, choices = Session(game, table, state, now=Now(version=version, fixed=fixed)), kept.choices.copy()
    for place, deed, action in kept.moving:
        choices[place] = _marked(_choice(session, str(seat), deed, action))
    return choices


class _Kept:
    """Choices at a table. In a match that goes on, they change only with a fact of the table, with who plays, and with whether anything can
    be taken back. `table`: the newest for which they hold. `moving`: the places of those whose ranges change with each version."""

    __slots__ = ("choices", "moving", "playing", "table")

    def __init__(self, table: Table, playing: list[str]) -> None:
        self.table = table
        self.playing = playing
        self.choices: list[Choice] = []
        self.moving: list[tuple[int, TableDeed, Action]] = []


_MOST_KEPT = 4096
_kept: dict[tuple[str, str | None, str, bool, bool], _Kept] = {}
"""The newest choices in matches, by the commitment of the match, the seat, the player, whether anything can be taken back (TBL-TBK-02), and
whether the player was shown too much to take a seat over (TBL-HND-04)."""


def _looked_up(game: Game, table: Table, state: State, seat: str | None, player: str, version: int, fixed: int, shown: bool) -> _Kept:
    session = Session(game, table, state, now=Now(version=version, fixed=fixed))
    kept = _Kept(table, session.playing if state["outcome"] is None else [])
    for deed, action in _offered(session, seat) if seat is not None else ():
        choice = _choice(session, str(seat), deed, action)
        if "version" in choice.get("choose", ()):
            kept.moving.append((len(kept.choices), deed, action))
        kept.choices.append(_marked(choice))
    kept.choices.extend(map(_marked, legal(game, table, state, player, shown=shown)))
    return kept


def _marked(choice: Choice) -> Choice:
    return {**with_counts(choice), "at_table": True}


def _legal(session: Session, actor: str) -> list[Choice]:
    return [_choice(session, actor, deed, action) for deed, action in _offered(session, actor)]


def _choice(session: Session, actor: str, deed: TableDeed, action: Action) -> Choice:
    ranges = deed.ranges(session, actor, action) if deed.ranges is not None else None
    if not ranges:
        return {"action": action}
    return {"action": {name: value for name, value in action.items() if name not in ranges}, "choose": ranges}


def _offered(session: Session, actor: str) -> Iterator[tuple[TableDeed, Action]]:
    for deed in _CHOSEN[by(session.table, actor)]:
        for action in deed.offers(session, actor):
            if deed.refusal(session, actor, action) is None:
                yield deed, action


def view(table: Table, viewer: str) -> Table:
    """Return the table's document as a viewer may see it: all of it is public (TBL-SEE-01)."""
    return table


def shown(game: Game, event: Event, viewer: str) -> Event:
    """Return an event of the table or the game as a viewer may see it. The game redacts its own and whole documents.

    (TBL-SEE-01, TBL-SEE-02)
    """
    kind = event["type"]
    if viewer == AUDITOR:
        return event
    if kind in FACTS:
        return _shown_at_table(event, viewer) if kind in _FOR_SEATS else event
    if kind in (PREPARED, RESTORED):
        return {**event, "document": game.view(event["document"], viewer)}
    return game.shown(event, viewer)


_HIDDEN = ("text", "field", "report")
_FOR_SEATS: Mapping[str, tuple[str, ...]] = {
    kind: names for kind, (_, fields) in FACTS.items() if (names := tuple(name for name in _HIDDEN if name in fields))
}  # by event, the fields that only seats and referees see


def _shown_at_table(event: Event, viewer: str) -> Event:
    """Return an event of a dispute as a viewer may see it: spectators without its texts, seats without what the report tells of
    others."""
    names = _FOR_SEATS[event["type"]]
    if viewer == SPECTATOR:
        return {**event, **dict.fromkeys(names)}
    if "report" in names:
        report = event["report"]
        own = {name: [one for one in report[name] if one["seat"] == viewer] for name in ("refused", "decisions")}
        return {**event, "report": {**report, **own}}  # also if these are all, or its proof would say so
    return event


def is_for_seats(action: Action) -> bool:
    """Return True if an action of the table has a field that only seats and referees may see (TBL-SEE-02)."""
    return is_table_action(action) and not set(_HIDDEN).isdisjoint(DEEDS[action["type"]].fields)


def players_in(events: Iterable[Event]) -> frozenset[str]:
    """Return the ids of the players whom events of the table name."""
    found: set[str] = set()
    for event in events:
        if event["type"] in FACTS:
            found |= {event[name] for name in ("creator", "player", "kept_for", "referee") if event.get(name) is not None}
            found |= set(event.get("invited", {}).values())
    return frozenset(found)


def sentence(game: Game, refusal: Refusal) -> str:
    """Return a refusal by the table or the game in words, with the facts of the case."""
    if is_table_refusal(refusal):
        return Sentence(REFUSALS[refusal.code].detail, refusal.facts)
    return kernel.sentence(game, refusal)


@cache
def _shapes() -> dict[str, Shape]:
    """Return the shape of every action, by its type."""
    return {kind: record({"type": always(kind), **deed.fields}) for kind, deed in DEEDS.items()}
