"""The rules of the table: carry out an action, list the choices of a player, redact, explain a refusal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from games import kernel
from games.choices import Choice
from games.kernel import AUDITOR, RESTORED, Action, Event, Game, Refusal, Refused, State, no
from games.lifecycle import PREPARED
from games.schema import Malformed, Shape, always, record
from table.deeds import DEEDS
from table.document import Table
from table.facts import FACTS
from table.session import Session
from table.state import lock_of, needs_code

RULE_PREFIX = "TBL-"
REFUSALS: Mapping[str, str] = {
    "already_created": "The match exists already.",
    "bad_seats": "The seat {seat} can be requested as `me`, `open`, `ai:<level>` or `player:<id>`, not as {request!r}.",
    "bad_order": "The order must name each seat of the match once: {seats}.",
    "no_such_seat": "The match has no seat {seat!r}. Its seats are {seats}.",
    "seat_taken": "The seat {seat} is taken.",
    "not_your_seat": "The seat {seat} is not yours.",
    "not_invited": "The seat {seat} is not kept for you.",
    "wrong_code": "This match asks for a code, and you gave none or another one. Its creator has it.",
    "left_too_often": "You have left {limit} seats of this match, so you can take no more of it.",
    "already_started": "The match has started. Seats can be left, and the match closed, before that only.",
    "not_creator": "Only the creator of the match may close it.",
    "match_closed": "The match was closed before it began.",
}


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


def carry_out(session: Session, player: str, action: Any) -> Action:
    """Carry out an action of the table: the session has the events and both documents afterwards. Return the admitted action.

    Raises Refused; the documents that the session began with are untouched.
    """
    admitted = admit(action)
    deed = DEEDS[admitted["type"]]
    refusal = deed.refusal(session, player, admitted)
    if refusal is not None:
        raise Refused(refusal)
    deed.act(session, player, admitted)
    return admitted


def legal(game: Game, table: Table, state: State, player: str) -> list[Choice]:
    """Return all choices that a player has at the table."""
    session = Session(game, table, state)
    return [
        {"action": action}
        for deed in DEEDS.values()
        for action in deed.offers(session, player)
        if deed.refusal(session, player, action) is None
    ]


def view(table: Table, viewer: str) -> Table:
    """Return the table's document as a viewer may see it: all of it is public (TBL-SEE-01)."""
    return table


def shown(game: Game, event: Event, viewer: str) -> Event:
    """Return an event of the table or the game as a viewer may see it. The game redacts its own and whole documents (TBL-SEE-01)."""
    kind = event["type"]
    if kind in FACTS or viewer == AUDITOR:
        return event
    if kind in (PREPARED, RESTORED):
        return {**event, "document": game.view(event["document"], viewer)}
    return game.shown(event, viewer)


def players_in(events: Iterable[Event]) -> frozenset[str]:
    """Return the ids of the players whom events of the table name."""
    found: set[str] = set()
    for event in events:
        if event["type"] in FACTS:
            found |= {event[name] for name in ("creator", "player", "kept_for") if event.get(name) is not None}
            found |= set(event.get("invited", {}).values())
    return frozenset(found)


def sentence(game: Game, refusal: Refusal) -> str:
    """Return a refusal by the table or the game in words, with the facts of the case."""
    if is_table_refusal(refusal):
        return REFUSALS[refusal.code].format_map(dict(refusal.facts))
    return kernel.sentence(game, refusal)


@cache
def _shapes() -> dict[str, Shape]:
    """Return the shape of every action, by its type."""
    return {kind: record({"type": always(kind), **deed.fields}) for kind, deed in DEEDS.items()}
