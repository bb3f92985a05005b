"""A tiny game for the tests of events/ and workers/: seats count up to a target, by choice, by a die, or from a hidden pile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from games.chance import Chance
from games.choices import Outside, Ranges
from games.documents import Own
from games.kernel import Action, Deed, Event, Fact, Game, Match, Memory, Refusal, Refused, Seat, Seats, State, no
from games.lifecycle import RESIGNED, SHARED_REASONS, lifecycle, shared_shapes, shared_start
from games.scene import Area, Detail, Panel, Scene
from games.schema import COUNTED, Fields, defaulting, flag, ids, listing, mapping, record, veiled, whole
from games.sentences import Tell

SEATS = ("one", "two", "three", "four")
PILE = tuple(range(1, 31))
TARGET = 20


def begin(seats: list[Seat], options: Mapping[str, Any]) -> State:
    """A new match; `target` ends it."""
    if not 2 <= len(seats) <= 4 or not set(seats) <= set(SEATS):
        raise Refused(no("bad_options", reason="it takes two to four of its seats"))
    if not set(options) <= {"target"} or not isinstance(options.get("target", 0), int):
        raise Refused(no("bad_options", reason="there is a target and nothing else"))
    return {
        **shared_start("tally", seats),
        "options": dict(options),
        "counts": dict.fromkeys(seats, 0),
        "pile": [],
    }


def _system(state: State, actor: Seat) -> Iterator[Action]:
    yield {"type": "advance"}


def _never(state: State, actor: Seat, action: Action) -> Refusal | None:
    return None


def _set_up(match: Match, actor: Seat, action: Action) -> None:
    match.emit("pile_built", pile=match.chance.shuffle(PILE))
    match.emit("match_started", seats=match.state["seats"])
    match.emit("round_started", round=1)
    match.emit("turn_started", seat=playing(match.state)[0], phase="turn")


def _open_round(match: Match, actor: Seat, action: Action) -> None:
    match.emit("round_started", round=match.state["round"] + 1)
    match.emit("turn_started", seat=playing(match.state)[0], phase="turn")


def _counted(match: Match, seat: Seat, by: int, stay: bool = False) -> None:
    match.emit("counted", seat=seat, by=by)
    if match.state["counts"][seat] >= match.state["options"].get("target", TARGET):
        match.emit("match_ended", winners=[seat], reason="target", scores=dict(match.state["counts"]))
        return
    if not stay:
        _pass_on(match, seat)


def _pass_on(match: Match, seat: Seat) -> None:
    seats = match.state["seats"]
    following = [other for other in seats[seats.index(seat) + 1 :] if other in playing(match.state)]
    if following:
        match.emit("turn_started", seat=following[0], phase="turn")
    else:
        match.emit("round_ended", round=match.state["round"])


def _add_offers(state: State, seat: Seat) -> Iterator[Action]:
    yield {"type": "add", "stay": False}
    yield {"type": "add", "stay": True}


def _add_ranges(state: State, seat: Seat, action: Action) -> Ranges:
    return {"by": [1, 3]}


def _add_outside(state: State, seat: Seat, action: Action, found: Outside) -> Refusal:
    return no("too_much", "TAL-ADD-01", by=found.given)


def _add(match: Match, seat: Seat, action: Action) -> None:
    _counted(match, seat, action["by"], action["stay"])


def _roll_offers(state: State, seat: Seat) -> Iterator[Action]:
    yield {"type": "roll"}


def _roll(match: Match, seat: Seat, action: Action) -> None:
    face = match.chance.roll(6)
    match.emit("rolled", seat=seat, face=face)
    _counted(match, seat, face)


def _draw_offers(state: State, seat: Seat) -> Iterator[Action]:
    if state["pile"]:
        yield {"type": "draw"}


def _draw_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    return None if state["pile"] else no("pile_empty", "TAL-DRW-01")


def _draw(match: Match, seat: Seat, action: Action) -> None:
    match.emit("drawn", seat=seat, card=match.state["pile"][0])
    _counted(match, seat, 1, True)


def _pile_built(state: State, event: Event, own: Own) -> None:
    state["pile"] = list(event["pile"])


def _counted_fact(state: State, event: Event, own: Own) -> None:
    own(state, "counts")[event["seat"]] += event["by"]


def _rolled(state: State, event: Event, own: Own) -> None:
    pass


def _drawn(state: State, event: Event, own: Own) -> None:
    own(state, "pile").remove(event["card"])


def playing(state: State) -> list[Seat]:
    """The seats that have not left: those with a count."""
    return [seat for seat in state["seats"] if seat in state["counts"]]


def leave(match: Match, seat: Seat) -> None:
    """The count of a seat that leaves is dropped. The last seat wins."""
    match.emit("seat_withdrawn", seat=seat)
    left = playing(match.state)
    if len(left) == 1:
        match.emit("match_ended", winners=left, reason=RESIGNED, scores=dict(match.state["counts"]))
    elif match.state["active"] == seat:
        _pass_on(match, seat)


def default(state: State, seat: Seat) -> Action:
    """A seat that does not decide counts one."""
    return {"type": "add", "by": 1, "stay": False}


def _withdrawn(state: State, event: Event, own: Own) -> None:
    """Its count is dropped."""
    del own(state, "counts")[event["seat"]]


def view(state: State, viewer: str) -> State:
    """The pile is hidden; only its size is seen."""
    return state if viewer == "auditor" else {**state, "pile": len(state["pile"])}


def shown(event: Event, viewer: str) -> Event:
    """The order of the pile is hidden."""
    return {"type": "pile_built", "pile": len(event["pile"])} if event["type"] == "pile_built" and viewer != "auditor" else event


def guess(seen: State, viewer: str, chance: Chance, memory: Memory | None = None) -> State:
    """Any pile of the right size will do."""
    return {**seen, "pile": chance.sample(PILE, seen["pile"]) if isinstance(seen["pile"], int) else seen["pile"]}


def worth(state: State, seat: Seat) -> float:
    """Return the lead of a seat over the best of the others."""
    counts = state["counts"]
    return counts.get(seat, 0) * 1.0 - max([count for other, count in counts.items() if other != seat], default=0)


def sound(state: State) -> Iterator[str]:
    """Nothing to check."""
    return iter(())


def board(seen: State, viewer: str, tell: Tell = str) -> list[str]:
    """The counts of each seat."""
    return [f"round {seen['round']}, {seen['phase']}", *[f"{seat} {count}" for seat, count in seen["counts"].items()]]


def scene(seen: State) -> Scene:
    """The counts of each seat, and the pile."""
    panels = [Panel(seat, seat, seat, Detail("counted", str(count)), acts=seat in seen["to_act"]) for seat, count in seen["counts"].items()]
    acting = tuple([seat for seat in seen["to_act"] if seat in seen["seats"]])
    return Scene("Tally", f"Round {seen['round']}: {seen['phase']}", Area(0, 0, 100, 50), (), tuple(panels), acting=acting)


_SYSTEM = Deed({}, _system, _never, _set_up)
_count = whole(0)
SEAT = ids(SEATS)
REASONS = ["target", *SHARED_REASONS]
PILED = veiled(listing(_count), COUNTED)
DOCUMENT = record(
    {
        **shared_shapes("tally", SEAT, ["setup", "turn", "round_end", "over"], REASONS, _count, {"target": whole()}),
        "counts": mapping(SEAT, _count),
        "pile": PILED,
    }
)
FACTS: Mapping[str, tuple[Fact, Fields]] = {
    **lifecycle(SEAT, ["setup", "turn", "round_end", "over"], REASONS, DOCUMENT, _count, {"seat_withdrawn": _withdrawn}),
    "pile_built": (_pile_built, {"pile": PILED}),
    "counted": (_counted_fact, {"seat": SEAT, "by": _count}),
    "rolled": (_rolled, {"seat": SEAT, "face": _count}),
    "drawn": (_drawn, {"seat": SEAT, "card": _count}),
}

TALLY = Game(
    id="tally",
    title="Tally",
    revision=1,
    seats=Seats(SEATS, 2, 4),
    options=record({"target": defaulting(whole(1, about="the count that ends the match"), TARGET)}),
    begin=begin,
    phases={
        "setup": {"advance": _SYSTEM},
        "turn": {
            "add": Deed({"by": whole(0), "stay": flag()}, _add_offers, _never, _add, _add_ranges, _add_outside),
            "roll": Deed({}, _roll_offers, _never, _roll),
            "draw": Deed({}, _draw_offers, _draw_refusal, _draw),
        },
        "round_end": {"advance": _SYSTEM._replace(act=_open_round)},
        "over": {},
    },
    facts={name: fact for name, (fact, _) in FACTS.items()},
    document=DOCUMENT,
    events={name: fields for name, (_, fields) in FACTS.items()},
    refusals={"too_much": "{by} is not from 1 to 3.", "pile_empty": "The pile is empty."},
    reveals=frozenset({"drawn"}),
    rolls=frozenset({"pile_built", "rolled"}),
    view=view,
    shown=shown,
    guess=guess,
    worth=worth,
    playing=playing,
    leave=leave,
    default=default,
    invariants=sound,
    board=board,
    scene=scene,
    folder=Path(__file__).parent,
)
