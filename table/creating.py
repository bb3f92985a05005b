"""Creating a match: who sits where, in which order, and with which settings (CRE, CLK-01, TIM-01, PRV-01)."""

from __future__ import annotations

from typing import Any

from games.kernel import Action, Refusal, Refused, no
from games.schema import Shape, always, described, listing, mapping, optional, text
from games.sentences import joined, say
from table.labels import GIVEN as LABELS_GIVEN
from table.labels import chosen_labels
from table.session import Session, TableDeed, unlisted
from table.settings import (
    CLOCK_GIVEN,
    DISPUTE_DAYS,
    SIGNED_GIVEN,
    SPECTATORS_GIVEN,
    TIME_OUT_GIVEN,
    chosen_settings,
    settings_refusal,
    usual_clock,
)
from table.state import AI, DICE, FREE, GAME, MATCH_ID, ME, NEW, SEAT, invited_player, occupant, open_seats

CREATE = "create_match"

# What the options may be is for the game to say.
OPTIONS = mapping(text(), Shape({}, {}, lambda given: given), about="the options of the match")


def create_match_refusal(session: Session, player: str, action: Action) -> Refusal | None:
    """Return why a new match is refused, or None.

    (TBL-CRE-01, TBL-CRE-03, TBL-CRE-04, TBL-CRE-07, TBL-CLK-01, TBL-TIM-01, TBL-PRV-01, TBL-RAT-01, TBL-GUI-02)
    """
    if session.table["phase"] != NEW:
        return no("already_created", "TBL-CRE-01")
    refusal = request_refusal(player, action) or _rated_refusal(player, action) or _dice_refusal(action)
    if refusal is not None:
        return refusal
    if "order" in action and sorted(action["order"]) != sorted(action["seats"]):
        return no("bad_order", "TBL-CRE-07", seats=joined(sorted(action["seats"])))
    try:
        session.game.begin(_order(session, action), action["options"])
    except Refused as refused:
        return refused.refusal
    return None


def request_refusal(player: str, action: Action) -> Refusal | None:
    """Return why the requests of a new match are refused, or None: its seats or its settings.

    (TBL-CRE-03, TBL-CLK-01, TBL-TIM-01, TBL-PRV-01, TBL-DIS-14)
    """
    for seat, seat_request in action["seats"].items():
        if occupant(seat_request, player) is None:
            return no("bad_seats", "TBL-CRE-03", seat=seat, request=seat_request)
    return settings_refusal(action, usual_clock(_people(player, action)))


def _rated_refusal(player: str, action: Action) -> Refusal | None:
    """Return why a new match cannot be rated, or None: it is practice, or an artificial player has a seat (TBL-RAT-01)."""
    if "rated" not in action:
        return None
    named = _named(player, action)
    artificial = [seat for seat, seat_request in action["seats"].items() if seat_request.startswith(AI)]
    if artificial:
        return no("bad_settings", "TBL-RAT-01", setting="rated", reason=say("an artificial player has the seat {seat}", seat=artificial[0]))
    if len(named) > len(set(named)):
        return no("bad_settings", "TBL-RAT-01", setting="rated", reason=say("a player is named for several seats"))
    return None


def _dice_refusal(action: Action) -> Refusal | None:
    """Return why a new match cannot have dice that everybody knows, or None: it is rated, or has a seat for somebody else (TBL-GUI-02)."""
    if "dice" not in action:
        return None
    others = [seat for seat, seat_request in action["seats"].items() if seat_request != ME and not seat_request.startswith(AI)]
    if not others and "rated" not in action:
        return None
    reason = say("the seat {seat} is for others", seat=others[0]) if others else say("the match is rated")
    return no("bad_settings", "TBL-GUI-02", setting="dice", reason=reason)


def _named(player: str, action: Action) -> list[str]:
    """Return the player for whom each seat is that is requested for one by name, once for each seat (TBL-CRE-03, TBL-INV-01)."""
    found = [player if seat_request == ME else invited_player(seat_request) for seat_request in action["seats"].values()]
    return [each for each in found if each is not None]


def _people(player: str, action: Action) -> int:
    """Return how many people may have a seat of a new match (TBL-CLK-09)."""
    return len(set(_named(player, action))) + list(action["seats"].values()).count(FREE)


def create_match(session: Session, player: str, action: Action) -> None:
    """Publish what the table must know of a new match, and prepare the game's first document.

    (TBL-CRE-05, TBL-CRE-07, TBL-SEA-06, TBL-REM-01)
    """
    announce(session, player, action, rematch_of=action.get("rematch_of"), dice=action.get("dice"))
    session.emit("match_prepared", document=session.game.begin(_order(session, action), action["options"]))
    start_if_full(session)


def announce(session: Session, player: str, action: Action, **more: Any) -> None:
    """Publish the roster, the invitations, the commitment, the lock, the time to start, the settings and the labels of a new match, and
    `more`.

    It is practice if a player was named for several seats, or if its dice are known (TBL-CRE-02, TBL-CRE-06, TBL-INV-01, TBL-INV-05,
    TBL-EXP-01, TBL-CLK-01, TBL-CLK-09, TBL-TIM-01, TBL-PRV-01, TBL-DIS-14, TBL-SIG-01, TBL-RAT-01, TBL-LBL-01, TBL-GUI-01, TBL-GUI-02).
    """
    roster = {seat: occupant(seat_request, player) for seat, seat_request in action["seats"].items()}
    invited = {seat: id for seat, seat_request in action["seats"].items() if (id := invited_player(seat_request)) is not None}
    more |= {"invited": invited or None, "lock": session.new.lock if "code" in action else None, "expires": session.new.expires}
    named = _named(player, action)
    practice = len(named) > len(set(named)) or "origin" in more or more.get("dice") is not None
    more |= {"practice": practice or None, "rated": action.get("rated")}
    given = {name: value for name, value in more.items() if value is not None}
    given |= chosen_settings(action, usual_clock(_people(player, action))) | chosen_labels(action)
    session.emit("match_created", game=session.game.id, creator=player, commitment=session.new.commitment, roster=roster, **given)


def _order(session: Session, action: Action) -> list[str]:
    """Return the seats in their order around the board: the order that is named, or else that of the game's list (TBL-CRE-07).

    Seats that the game does not have come last, for the game to refuse.
    """
    seats: dict[str, str] = action["seats"]
    known = session.game.seats.ids
    return list(action.get("order") or [*(seat for seat in known if seat in seats), *sorted(seats.keys() - set(known))])


def start_if_full(session: Session) -> None:
    """Start the match when no seat is open (TBL-SEA-06)."""
    if not open_seats(session.table):
        session.emit("seats_filled")


REQUESTED = text(about="`me`, `open`, `ai:<level>` or `player:<id>`")
CODE_WANTED = always(True, "the match asks for a code")

CREATE_MATCH = TableDeed(
    {
        "game": GAME,
        "seats": mapping(SEAT, REQUESTED, about="who takes which seat"),
        "options": OPTIONS,
        "order": optional(listing(SEAT, about="the seats in their order around the board")),
        "code": optional(CODE_WANTED),
        "clock": optional(CLOCK_GIVEN),
        "time_out": optional(TIME_OUT_GIVEN),
        "spectators": optional(SPECTATORS_GIVEN),
        "dispute_days": optional(DISPUTE_DAYS),
        "signed": optional(SIGNED_GIVEN),
        "rated": optional(always(True, "it counts for ratings")),
        **LABELS_GIVEN,
        "dice": optional(DICE),
        "rematch_of": optional(described(MATCH_ID, "the match of which this one is the rematch")),
    },
    unlisted,
    create_match_refusal,
    create_match,
)
