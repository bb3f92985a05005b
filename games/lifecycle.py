"""The life of a match: the events that every game shares, with the same fields and the same folds.

A match goes through these events in this order. Only the events of a game's own stand between them.

    match_prepared                                      the first document; seats may still be open
    match_started                                       the set-up is done
    round_started
      turn_started  phase_changed ...  turn_ended       once for each seat
    round_ended                                         the system must act
    match_ended                                         at any point after match_prepared

Two more stand anywhere after match_prepared: seat_withdrawn, when a seat leaves the match, and match_restored, when the document of an
earlier version comes back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from games.documents import Own, clone
from games.kernel import RESTORED, SYSTEM, Event, Fact, Refusal, Seat, Shared, no
from games.schema import Fields, Malformed, Shape, always, anything, described, ids, listing, mapping, nullable, optional, record, whole

PREPARED = "match_prepared"
SETUP = "setup"
ROUND_END = "round_end"
OVER = "over"

RESIGNED, FORFEITED, DRAW, VOID, RULING = "resigned", "forfeited", "draw", "void", "ruling"
SHARED_REASONS = (RESIGNED, FORFEITED, DRAW, VOID, RULING)
"""Why a match of any game may end: all seats but one have left it, and the last to leave has resigned, or has forfeited by its time; the
players agree on a draw; it does not count; or by a ruling a seat forfeits, or another match goes on from an earlier position."""

ROUND = whole(1, about="the number of the round, from 1")

Lifecycle = dict[str, tuple[Fact, Fields]]


def match_prepared(state: Any, event: Event, own: Own) -> None:
    """The state is the first document of the match."""
    state.clear()
    state.update(clone(event["document"]))


def match_restored(state: Any, event: Event, own: Own) -> None:
    """The state is the document of an earlier version again."""
    match_prepared(state, event, own)


def match_started(state: Any, event: Event, own: Own) -> None:
    """Play begins. The seats are in turn order."""
    state["seats"] = list(event["seats"])


def round_started(state: Any, event: Event, own: Own) -> None:
    """The round has this number."""
    state["round"] = event["round"]


def turn_started(state: Any, event: Event, own: Own) -> None:
    """The seat is active and decides in this phase."""
    state["active"] = event["seat"]
    state["to_act"] = [event["seat"]]
    state["phase"] = event["phase"]


def phase_changed(state: Any, event: Event, own: Own) -> None:
    """Another decision is due, or another actor decides."""
    state["phase"] = event["phase"]
    state["active"] = event["active"]
    state["to_act"] = list(event["to_act"])


def turn_ended(state: Any, event: Event, own: Own) -> None:
    """The turn is over. What follows says who acts next."""


def round_ended(state: Any, event: Event, own: Own) -> None:
    """Every seat has had its turn. The system must act."""
    state["phase"] = ROUND_END
    state["active"] = None
    state["to_act"] = [SYSTEM]


def seat_withdrawn(state: Any, event: Event, own: Own) -> None:
    """A seat has left the match. It does not act again and does not win."""


def match_ended(state: Any, event: Event, own: Own) -> None:
    """The match is over and has an outcome."""
    state["outcome"] = {"winners": list(event["winners"]), "reason": event["reason"], "scores": dict(event["scores"])}
    state["phase"] = OVER
    state["active"] = None
    state["to_act"] = []


def lifecycle(
    seat: Shape,
    phases: Iterable[str],
    reasons: Iterable[str],
    document: Shape,
    scores: Shape,
    more: Mapping[str, Fact] | None = None,
) -> Lifecycle:
    """Return the shared events of a game, by type: the fold of each and its fields.

    `seat`: the shape of a seat (`ids`). `reasons`: why a match may end, `SHARED_REASONS` among them. `scores`: the shape of a seat's score.
    `more`: by event type, what the fold changes in this game in addition, such as clearing the record of a turn.
    """
    phase, turn, actors = _places(seat, phases)
    found: Lifecycle = {
        PREPARED: (match_prepared, {"document": document}),
        RESTORED: (
            match_restored,
            {
                "version": whole(1, about="the version of the match whose document this is"),
                "document": document,
                "memory": anything("what everybody who watched knew beyond the document at that version"),
            },
        ),
        "match_started": (match_started, {"seats": listing(seat, about="in turn order")}),
        "round_started": (round_started, {"round": ROUND}),
        "turn_started": (turn_started, {"seat": seat, "phase": phase}),
        "phase_changed": (phase_changed, {"phase": phase, "active": turn, "to_act": actors}),
        "turn_ended": (turn_ended, {"seat": seat}),
        "round_ended": (round_ended, {"round": ROUND}),
        "seat_withdrawn": (seat_withdrawn, {"seat": seat}),
        "match_ended": (match_ended, _result(seat, reasons, scores)),
    }
    for kind, extra in (more or {}).items():
        fold, fields = found[kind]
        found[kind] = (_both(fold, extra), fields)
    return found


def options_refusal(shape: Shape, options: Mapping[str, Any], rule: str | None = None) -> Refusal | None:
    """Return why options are refused, or None: one is not known, of another type, or outside its range.

    >>> options_refusal(record({}), {"pirates": True})
    Refusal(code='bad_options', rule=None, facts={'reason': "unknown field 'pirates'"})
    """
    try:
        shape.clean(dict(options))
    except Malformed as reason:
        return no("bad_options", rule, reason=str(reason))
    return None


def shared_start(game: str, seats: Sequence[Seat]) -> Shared:
    """Return the shared keys of the first document of a match, for which the system must carry out the set-up.

    >>> shared_start("war", ["red", "blue"])["to_act"]
    ['system']
    """
    return {
        "game": game,
        "seats": list(seats),
        "round": 1,
        "phase": SETUP,
        "active": None,
        "to_act": [SYSTEM],
        "outcome": None,
    }


def shared_shapes(
    game: str, seat: Shape, phases: Iterable[str], reasons: Iterable[str], scores: Shape, options: Mapping[str, Shape]
) -> dict[str, Shape]:
    """Return the shapes of the keys that the document of every game has: those of `games.kernel.Shared`, and `options`.

    >>> keys = shared_shapes("war", ids(["red", "blue"]), [SETUP, OVER], ["last_seat", *SHARED_REASONS], whole(0), {})
    >>> keys["outcome"].clean({"winners": ["red"], "reason": "last_seat", "scores": {"red": 3, "blue": 0}})["winners"]
    ['red']
    """
    phase, turn, actors = _places(seat, phases)
    return {
        "game": always(game, "the game"),
        "options": record(
            {name: optional(shape) for name, shape in options.items()},
            about="the options that the match was given; the others have their defaults",
        ),
        "seats": listing(seat, 1, len(seat.schema["enum"]), about="in turn order, once the match has started"),
        "round": ROUND,
        "phase": phase,
        "active": turn,
        "to_act": actors,
        "outcome": nullable(record(_result(seat, reasons, scores), about="who won, and why; null while the match goes on")),
    }


def _places(seat: Shape, phases: Iterable[str]) -> tuple[Shape, Shape, Shape]:
    """Return the shapes of a phase, of the seat whose turn it is, and of those who must decide."""
    actors = listing(ids([*seat.schema["enum"], SYSTEM], "a seat, or the system"), about="who must decide now")
    return ids(phases, "the kind of decision that is due"), nullable(described(seat, "the seat whose turn it is, or null")), actors


def _result(seat: Shape, reasons: Iterable[str], scores: Shape) -> Fields:
    return {
        "winners": listing(seat, about="one seat, or those that share the victory; none if the match does not count"),
        "reason": ids(reasons, "why the match is over"),
        "scores": mapping(seat, scores, about="points by seat; empty after a draw or a match that does not count"),
    }


def _both(fold: Fact, extra: Fact) -> Fact:
    def folded(state: Any, event: Event, own: Own) -> None:
        fold(state, event, own)
        extra(state, event, own)

    folded.__doc__ = " ".join(filter(None, (fold.__doc__, extra.__doc__)))
    return folded
