"""Choosing starting tiles, one unit at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from games.documents import Own
from games.kernel import Action, Deed, Event, Fact, Refusal, Seat, no
from games.schema import Fields
from games.sentences import say
from games.war.data import BESIDE, BROWN, START_TILES, START_UNITS
from games.war.document import Match, State
from games.war.flow import start_round, to_phase
from games.war.state import PLACEMENT, SEAT, TILE, holdings, on_board, put

FIRST_ROUND = 1


def has_chosen(state: State, seat: Seat) -> bool:
    """Return True if a seat has its four starting tiles (WAR-STA-02, WAR-STA-06)."""
    return on_board(state, seat) >= START_TILES


def has_placed_all(state: State, seat: Seat) -> bool:
    """Return True if a seat's starting placement is done: four tiles and two units more (WAR-STA-01)."""
    return on_board(state, seat) >= START_UNITS


def open_tiles(state: State, seat: Seat) -> list[str]:
    """Return the tiles on which a seat may place its next starting unit. For the first four these are brown tiles without a unit that do
    not touch one of its own, or any such brown tile if all touch. For the fifth and sixth they are its own, without a limit (WAR-STA-02,
    WAR-STA-03, WAR-STA-04, WAR-STA-05, WAR-STA-06, WAR-STA-07)."""
    own = holdings(state, seat)
    if has_chosen(state, seat):
        return own
    free = sorted([tile for tile, here in state["tiles"].items() if not here["units"] and here["face"] == BROWN])
    touched = {other for tile in own for other in BESIDE[tile]}
    return [tile for tile in free if tile not in touched] or free


def place_unit_offers(state: State, seat: Seat) -> list[Action]:
    """Return an action for each tile that is open to the seat."""
    return [{"type": "place_unit", "tile": tile} for tile in open_tiles(state, seat)]


def place_unit_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why no unit can be placed on a tile, or None: the first of WAR-STA-02 to 04 that it breaks, or WAR-STA-06 (WAR-STA-02,
    WAR-STA-06, WAR-STA-03, WAR-STA-04, WAR-STA-05)."""
    tile, tiles = action["tile"], state["tiles"]
    here = tiles.get(tile)
    if here is None:
        return no("unknown_tile", "WAR-MAP-01", tile=tile)
    if has_chosen(state, seat):
        return None if here["seat"] == seat else no("not_your_tile", "WAR-STA-06", tile=tile, owner=here["seat"] or say("nobody"))
    if here["face"] != BROWN:
        return no("not_brown", "WAR-STA-02", tile=tile, face=here["face"])
    if here["units"]:
        return no("tile_taken", "WAR-STA-03", tile=tile, owner=here["seat"])
    if tile not in open_tiles(state, seat):
        return no("next_to_own", "WAR-STA-04", tile=tile)
    return None


def place_unit(match: Match, seat: Seat, action: Action) -> None:
    """Place one unit. The next seat follows; after the last unit of all the first turn begins (WAR-STA-01, WAR-STA-08)."""
    match.emit("starting_unit_placed", seat=seat, tile=action["tile"])
    pass_on(match, seat)


def pass_on(match: Match, seat: Seat) -> None:
    """Let the next seat after a seat place a unit. After the last unit of all the first turn begins (WAR-STA-01, WAR-STA-08,
    WAR-LEA-05)."""
    state = match.state
    place = state["seats"].index(seat) + 1
    order = state["seats"][place:] + state["seats"][:place]
    following = next((other for other in order if other not in state["eliminated"] and not has_placed_all(state, other)), None)
    if following is None:
        start_round(match, FIRST_ROUND)
    else:
        to_phase(match, PLACEMENT, following)


def starting_unit_placed(state: Any, event: Event, own: Own) -> None:
    """A unit comes from the reserve and stands on the tile."""
    put(own(state, "tiles"), event["tile"], event["seat"], 1, own)
    own(state, "reserve")[event["seat"]] -= 1


PLACE_UNIT = Deed({"tile": TILE}, place_unit_offers, place_unit_refusal, place_unit)

FACTS: Mapping[str, tuple[Fact, Fields]] = {"starting_unit_placed": (starting_unit_placed, {"seat": SEAT, "tile": TILE})}
