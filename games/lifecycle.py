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

from collections.abc import Iterable, Mapping
from typing import Any

from games.documents import Own, clone
from games.kernel import RESTORED, SYSTEM, Event, Fact
from games.schema import Fields, Shape, anything, described, ids, listing, mapping, nullable, record, whole

PREPARED = "match_prepared"
SETUP = "setup"
ROUND_END = "round_end"
OVER = "over"

RESIGNED, DRAW, VOID, RULING = "resigned", "draw", "void", "ruling"
SHARED_REASONS = (RESIGNED, DRAW, VOID, RULING)
"""Why a match of any game may end: all seats but one have left it, the players agree on a draw, it does not count, or a ruling has another
match go on from an earlier position of it."""

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
    seats: Iterable[str],
    phases: Iterable[str],
    reasons: Iterable[str],
    document: Shape,
    scores: Shape,
    more: Mapping[str, Fact] | None = None,
) -> Lifecycle:
    """Return the shared events of a game, by type: the fold of each and its fields.

    `reasons`: why a match may end, `SHARED_REASONS` among them. `scores`: the shape of a seat's score. `more`: by event type, what the fold
    changes in this game in addition, such as clearing the record of a turn.
    """
    seat, phase = ids(seats, "a seat"), ids(phases, "the kind of decision that is due")
    number = whole(1, about="the number of the round, from 1")
    turn = nullable(described(seat, "the seat whose turn it is, or null"))
    actors = listing(ids([*seats, SYSTEM], "a seat, or the system"), about="who must decide now")
    shared: Lifecycle = {
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
        "round_started": (round_started, {"round": number}),
        "turn_started": (turn_started, {"seat": seat, "phase": phase}),
        "phase_changed": (
            phase_changed,
            {"phase": phase, "active": turn, "to_act": actors},
        ),
        "turn_ended": (turn_ended, {"seat": seat}),
        "round_ended": (round_ended, {"round": number}),
        "seat_withdrawn": (seat_withdrawn, {"seat": seat}),
        "match_ended": (
            match_ended,
            {
                "winners": listing(seat, about="one seat, or those that share the victory; none if the match does not count"),
                "reason": ids(reasons, "why the match is over"),
                "scores": mapping(seat, scores, about="points by seat; empty after a draw or a match that does not count"),
            },
        ),
    }
    for kind, extra in (more or {}).items():
        fold, fields = shared[kind]
        shared[kind] = (_both(fold, extra), fields)
    return shared


def outcome(winners: Shape, reasons: Iterable[str], scores: Shape) -> Shape:
    """Return the shape of the key `outcome` of a document: null, or who has won, why, and the scores of all.

    >>> ended = outcome(listing(ids(["red", "blue"])), ["last_seat", *SHARED_REASONS], mapping(ids(["red", "blue"]), whole(0)))
    >>> ended.clean(None), ended.clean({"winners": ["red"], "reason": "last_seat", "scores": {"red": 3, "blue": 0}})["winners"]
    (None, ['red'])
    """
    return nullable(
        record(
            {"winners": winners, "reason": ids(reasons, "why the match is over"), "scores": scores},
            about="who won, and why; null while the match goes on",
        )
    )


def _both(fold: Fact, extra: Fact) -> Fact:
    def folded(state: Any, event: Event, own: Own) -> None:
        fold(state, event, own)
        extra(state, event, own)

    folded.__doc__ = " ".join(filter(None, (fold.__doc__, extra.__doc__)))
    return folded
