"""A game for tests in which all seats act at the same time: each makes one secret choice, and may make any number of open calls before."""

from __future__ import annotations

from games.documents import Own
from games.kernel import AUDITOR, Action, Deed, Event, Match, Refusal, Seat, State
from games.schema import BLANK, flag, nullable, veiled, whole
from tests.tally import TALLY


def _offers(state: State, seat: Seat) -> list[Action]:
    return [{"type": "seal", "by": 1}, {"type": "seal", "by": 2}, {"type": "call"}]


def _free(state: State, seat: Seat, action: Action) -> Refusal | None:
    return None


def _begin_sealing(match: Match, actor: Seat, action: Action) -> None:
    match.emit("sealing_began")


def _seal(match: Match, seat: Seat, action: Action) -> None:
    match.emit("sealed", seat=seat, by=action["by"])
    if not match.state["to_act"]:
        match.emit("match_ended", winners=[match.state["seats"][0]], reason="target", scores=dict(match.state["counts"]))


def _call(match: Match, seat: Seat, action: Action) -> None:
    match.emit("called", seat=seat)


def sealing_began(state: State, event: Event, own: Own) -> None:
    state["phase"] = "sealing"
    state["to_act"] = list(state["seats"])


def sealed(state: State, event: Event, own: Own) -> None:
    own(state, "counts")[event["seat"]] = event["by"]
    own(state, "to_act").remove(event["seat"])


def called(state: State, event: Event, own: Own) -> None:
    state["round"] += 1


def view(state: State, viewer: str) -> State:
    if viewer == AUDITOR:
        return state
    return {**state, "pile": 0, "counts": {seat: count if seat == viewer else None for seat, count in state["counts"].items()}}


def shown(event: Event, viewer: str) -> Event:
    return {**event, "by": None} if event["type"] == "sealed" and viewer not in (AUDITOR, event["seat"]) else event


SEALING = TALLY._replace(
    id="sealing",
    begin=lambda seats, options: {**TALLY.begin(seats, options), "game": "sealing"},
    phases={
        "setup": {"advance": Deed({}, lambda state, seat: [{"type": "advance"}], _free, _begin_sealing)},
        "sealing": {"seal": Deed({"by": whole(1)}, _offers, _free, _seal), "call": Deed({}, lambda state, seat: [], _free, _call)},
        "over": {},
    },
    facts={**TALLY.facts, "sealing_began": sealing_began, "sealed": sealed, "called": called},
    events={**TALLY.events, "sealing_began": {}, "sealed": {"seat": nullable(flag()), "by": veiled(whole(1), BLANK)}, "called": {}},
    view=view,
    shown=shown,
)
