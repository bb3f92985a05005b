"""The moves phase: units go to adjacent tiles, or attack them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from games.choices import Choice, Outside, Ranges
from games.documents import Own
from games.kernel import Action, Deed, Event, Fact, Refusal, Seat, never_refused, no, only
from games.schema import Fields, counts, described
from games.sentences import say
from games.war.data import BESIDE, MOVES
from games.war.document import Match, State
from games.war.flow import after_moves, to_phase
from games.war.state import FIGHTING, PLACED_COUNTS, SEAT, TILE, beside, holdings, put, take


def move_offers(state: State, seat: Seat) -> list[Action]:
    """Return an action from each tile that the seat controls, also from one whose units have moved (WAR-MOV-02, WAR-MOV-07)."""
    return [{"type": "move", "from": tile} for tile in holdings(state, seat)]


def move_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why no units can leave a tile, or None: it is not the seat's (WAR-MOV-02, WAR-MAP-01)."""
    source = state["tiles"].get(action["from"])
    if source is None:
        return no("unknown_tile", "WAR-MAP-01", tile=action["from"])
    if source["seat"] != seat:
        return no("not_your_tile", "WAR-MOV-02", tile=action["from"], owner=source["seat"] or say("nobody"))
    return None


def move_ranges(state: State, seat: Seat, action: Action) -> Ranges:
    """Return the counts of a move: at least one unit and at most all, to any of the tiles beside. Every tile has one (WAR-MOV-02,
    WAR-MOV-04, WAR-MAP-13)."""
    units = state["tiles"][action["from"]]["units"]
    return {"to": {"each": {tile: [0, units] for tile in beside(state["tiles"], action["from"])}, "total": [1, units]}}


def move_choices(state: State, seat: Seat) -> list[Choice]:
    """Return the choices of the deed at once: every tile of the seat may be left."""
    tiles = state["tiles"]
    choices: list[Choice] = []
    for tile in holdings(state, seat):
        units = tiles[tile]["units"]
        ranges = {"to": {"each": {near: [0, units] for near in beside(tiles, tile)}, "total": [1, units]}}
        choices.append({"action": {"type": "move", "from": tile}, "choose": ranges})
    return choices


def move_outside(state: State, seat: Seat, action: Action, found: Outside) -> Refusal:
    """Return the refusal for a target that is not adjacent, no unit at all, or too many units (WAR-MOV-02, WAR-MAP-01, WAR-MAP-02)."""
    source = action["from"]
    if found.key is not None and found.key not in state["tiles"]:
        return no("unknown_tile", "WAR-MAP-01", tile=found.key)
    if found.key is not None and found.key not in BESIDE[source]:
        return no("not_adjacent", "WAR-MAP-02", tile=found.key, source=source)
    if found.given < found.low:
        return no("wrong_total", "WAR-MOV-02", number=found.given, needed=say("at least {number}", number=found.low))
    return no("too_many_units", "WAR-MOV-02", tile=source, number=found.given, units=found.high)


def move(match: Match, seat: Seat, action: Action) -> None:
    """Send out all units of a move at once, however many there are. They enter tiles without units of another seat and attack the others
    (WAR-MOV-01, WAR-MOV-03, WAR-MOV-05, WAR-MOV-06, WAR-MOV-08, WAR-MOV-09, WAR-ATT-01, WAR-ATT-13, WAR-TRN-09)."""
    tiles = match.state["tiles"]
    targets = sorted(action["to"].items())
    peaceful = {tile: number for tile, number in targets if tiles[tile]["seat"] in (None, seat)}
    attacks = {tile: number for tile, number in targets if tile not in peaceful}
    match.emit("move_made", seat=seat, **{"from": action["from"]}, to=peaceful, attacks=attacks)
    if attacks:
        to_phase(match, FIGHTING, seat)
    elif match.state["turn"]["moves"] >= MOVES:
        after_moves(match, seat)


def end_moves(match: Match, seat: Seat, action: Action) -> None:
    """End the moves phase; a seat need not move (WAR-MOV-08, WAR-TRN-08)."""
    after_moves(match, seat)


def move_made(state: Any, event: Event, own: Own) -> None:
    """Units arrive. The others of the move open attacks and stay where they are."""
    seat, source = event["seat"], event["from"]
    own(state, "turn")["moves"] += 1
    if event["to"]:
        tiles = own(state, "tiles")
        for tile, number in event["to"].items():
            take(tiles, source, number, own)
            put(tiles, tile, seat, number, own)
    if event["attacks"]:
        attacks = own(state, "attacks")
        for tile, number in event["attacks"].items():
            attacks[tile] = {"from": source, "units": number, "rolls": 0}


MOVE = Deed(
    {"from": described(TILE, "the tile that the units leave"), "to": counts(TILE, about="how many units go to each adjacent tile")},
    move_offers,
    move_refusal,
    move,
    move_ranges,
    move_outside,
    move_choices,
)
END_MOVES = Deed({}, only("end_moves"), never_refused, end_moves)

FACTS: Mapping[str, tuple[Fact, Fields]] = {
    "move_made": (
        move_made,
        {
            "seat": SEAT,
            "from": described(TILE, "the tile that the units leave"),
            "to": described(PLACED_COUNTS, "units that enter, by tile"),
            "attacks": described(PLACED_COUNTS, "units that attack, by tile; they stay where they are"),
        },
    )
}
