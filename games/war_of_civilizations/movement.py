"""Deeds of the active actions Move and Redistribute: steps, and teleporters as their bonus."""

from __future__ import annotations

from games.choices import Ranges
from games.kernel import Action, Deed, Match, Refusal, Seat, State, no
from games.schema import counts, nullable
from games.war_of_civilizations.battle import land, start_countdown, take_control
from games.war_of_civilizations.checks import bonus_open, cannot_pay, lacks, listed, no_bonus, no_room, no_step
from games.war_of_civilizations.data import (
    CENTRAL,
    DOCKABLE,
    FLAGSHIP,
    HOME,
    ISLE,
    LOCATIONS,
    PLACE,
    RING,
    SHIPS,
    TELEPORTER_PRICE,
    TELEPORTERS,
    Counts,
)
from games.war_of_civilizations.flow import change_turn, move_ships, pass_to, pay
from games.war_of_civilizations.state import (
    LOCATION,
    SHIP,
    ability,
    can_pay,
    controlled,
    controls,
    foreign_privateer,
    in_play,
    linked,
    neighbours,
    occupants,
    points,
    room,
    ships_at,
)
from games.war_of_civilizations.trails import trails, usable

# ---------------------------------------------------------------- Move


def movable(state: State, seat: Seat, source: str) -> Counts:
    """The ships on a location that may make the next step: any before the first, then those that made the last (WOC-MOV-01, WOC-ABL-03)."""
    mover = state["turn"]["mover"]
    there = ships_at(state, seat, source)
    if mover is None:
        return there
    if mover["at"] != source or not mover["steps_left"]:
        return {}
    return {ship: min(number, there.get(ship, 0)) for ship, number in mover["ships"].items()}


def blocked_by(state: State, seat: Seat, location: str) -> Seat | None:
    """The other seat whose privateer keeps hostages on a location, so that nobody may enter (WOC-PRV-07, WOC-MOV-08)."""
    owner = foreign_privateer(state, seat, location)
    return owner if owner is not None and occupants(state, location) else None


def needs_flagship(state: State, seat: Seat, source: str, goal: str) -> bool:
    """Whether the capital ship must be among the ships of a step: into the central continent for the first time (WOC-MOV-03)."""
    return goal in CENTRAL and source not in CENTRAL and not state["players"][seat]["entered_central"]


def move_offers(state: State, seat: Seat) -> list[Action]:
    """From every location with ships that may go to every other that is adjacent or linked and not under the seat's control (WOC-MOV-01,
    WOC-MOV-02)."""
    turn = state["turn"]
    if turn["action"] != "move":
        return []
    mover = turn["mover"]
    fleets = state["players"][seat]["fleets"]
    sources = sorted(fleets, key=PLACE.__getitem__) if mover is None else [mover["at"]]
    own = set(controlled(state, seat))
    doors = points(state, seat)
    near = neighbours(state)
    board = in_play(state)
    offers: list[Action] = []
    for source in sources:
        if foreign_privateer(state, seat, source) is None:
            goals = near[source]
            if source in doors:
                goals = (*goals, *[door for door in doors if door != source and door not in goals])
            offers += [{"type": "move", "from": source, "to": goal} for goal in goals if goal not in own and goal in board]
    return offers


def move_ranges(state: State, seat: Seat, action: Action) -> Ranges | None:
    """The ships that may go: at least one, as many as there is room for, and with the capital ship where it must come along (WOC-MOV-03,
    WOC-MOV-04)."""
    source, goal = action["from"], action["to"]
    ships = movable(state, seat, source)
    flagship = needs_flagship(state, seat, source, goal)
    if (flagship and not ships.get(FLAGSHIP)) or blocked_by(state, seat, goal) is not None:
        return None
    return fleet_ranges(ships, room(state, goal), flagship)


def fleet_ranges(ships: Counts, most: int, flagship: bool = False) -> Ranges | None:
    """Some ships of a fleet, at least one and at most so many."""
    each = {ship: [1 if flagship and ship == FLAGSHIP else 0, ships[ship]] for ship in SHIPS if ships.get(ship)}
    total = min(most, sum([high for _, high in each.values()]))
    return {"ships": {"each": each, "total": [1, total]}} if total > 0 else None


def move_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """The first rule that a step breaks (WOC-MOV-01, WOC-MOV-02, WOC-MOV-03, WOC-MOV-04, WOC-MOV-08, WOC-PRV-07, WOC-ABL-03,
    WOC-TEL-07)."""
    source, goal, ships = action["from"], action["to"], action["ships"]
    refusal = no_step(state, "move")
    if refusal is not None:
        return refusal
    there = ships_at(state, seat, source)
    if not ships or lacks(there, ships):
        return no("no_ships", "WOC-MOV-01", at=source, wanted=listed(ships), there=listed(there))
    keeper = foreign_privateer(state, seat, source)
    if keeper is not None:
        return no("blocked", "WOC-MOV-08", at=source, seat=keeper)
    if lacks(movable(state, seat, source), ships):
        return no("no_steps", "WOC-ABL-03", reason="a further step is made by ships that made the last, as long as steps are left")
    if goal not in neighbours(state)[source] and not linked(state, seat, source, goal):
        return no("not_adjacent", "WOC-MOV-02", at=source, to=goal)
    if controls(state, seat, goal):
        return no("already_controlled", "WOC-MOV-01", at=goal)
    keeper = blocked_by(state, seat, goal)
    if keeper is not None:
        return no("blocked", "WOC-PRV-07", at=goal, seat=keeper)
    if needs_flagship(state, seat, source, goal) and FLAGSHIP not in ships:
        return no("capital_first", "WOC-MOV-03", to=goal)
    return no_room(state, goal, sum(ships.values()))


def move(match: Match, seat: Seat, action: Action) -> None:
    """Ships make a step; on arrival comes first what concerns the entry, then who stands in the way, then the prize (WOC-MOV-01,
    WOC-MOV-03, WOC-MOV-05, WOC-MOV-06, WOC-MOV-07, WOC-ABL-03, WOC-PWR-27, WOC-PIR-01, WOC-PRV-07, WOC-PRV-12, WOC-TEL-10)."""
    source, goal, ships = action["from"], action["to"], action["ships"]
    state = match.state
    turn = state["turn"]
    last = turn["mover"]
    left = ability(state, seat, "extra_steps") + turn["extra_steps"] if last is None else last["steps_left"] - 1
    mover = {"from": source, "at": goal, "ships": ships, "steps_left": left}
    change_turn(match, bonus_open=False, mover=mover, extra_steps=turn["extra_steps"] if last else 0)
    move_ships(match, seat, source, goal, ships, "move")
    if goal in RING and not match.state["players"][seat]["entered_central"]:
        match.emit("central_entered", seat=seat)
    start_countdown(match, goal, ships)
    if match.state["players"][seat]["privateer"] == goal != HOME[seat]:
        match.emit("privateer_moved", seat=seat, to=HOME[seat])
    island = match.state["apex"].get(goal)
    if island is not None and island["pirate"]:
        pass_to(match, "pirate", [seat])
    else:
        land(match, seat, met=False)


# ---------------------------------------------------------------- Redistribute


def at_rest(state: State, seat: Seat, source: str) -> Counts:
    """The ships on a location that have not moved in this Redistribute (WOC-RED-03)."""
    there = ships_at(state, seat, source)
    arrived = state["turn"]["arrived"].get(source)
    return {ship: number - arrived.get(ship, 0) for ship, number in there.items()} if arrived else there


def redistribute_offers(state: State, seat: Seat) -> list[Action]:
    """From every location of a trail to every other of it (WOC-RED-01, WOC-RED-02)."""
    if state["turn"]["action"] != "redistribute":
        return []
    fleets = state["players"][seat]["fleets"]
    return [
        {"type": "redistribute", "from": source, "to": goal}
        for trail in usable(state, seat)
        for source in trail
        if source in fleets
        for goal in trail
        if goal != source
    ]


def redistribute_ranges(state: State, seat: Seat, action: Action) -> Ranges | None:
    """The ships that have not moved yet, as many as there is room for (WOC-RED-03, WOC-RED-04)."""
    return fleet_ranges(at_rest(state, seat, action["from"]), room(state, action["to"]))


def redistribute_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """The first rule that a step along a trail breaks (WOC-RED-01, WOC-RED-02, WOC-RED-03, WOC-RED-04, WOC-RED-06)."""
    source, goal, ships = action["from"], action["to"], action["ships"]
    refusal = no_step(state, "redistribute")
    if refusal is not None:
        return refusal
    there = at_rest(state, seat, source)
    if not ships or lacks(there, ships):
        return no("no_ships", "WOC-RED-03", at=source, wanted=listed(ships), there=listed(there))
    if source == goal or not any(source in trail and goal in trail for trail in usable(state, seat)):
        return no("not_connected", "WOC-RED-02", at=source, to=goal)
    return no_room(state, goal, sum(ships.values()))


def redistribute(match: Match, seat: Seat, action: Action) -> None:
    """Ships go to another place of the trail, which is fixed from now on; the capital ship may as well (WOC-RED-01, WOC-RED-02, WOC-RED-03,
    WOC-RED-05, WOC-RED-06, WOC-MOV-06, WOC-ISL-02, WOC-ISL-04)."""
    source, goal, ships = action["from"], action["to"], action["ships"]
    state = match.state
    turn = state["turn"]
    trail = turn["trail"] or next(trail for trail in trails(state, seat) if source in trail and goal in trail)
    arrived = dict(turn["arrived"])
    here = arrived.get(goal, {})
    arrived[goal] = {ship: here.get(ship, 0) + ships.get(ship, 0) for ship in SHIPS if ship in here or ship in ships}
    change_turn(match, bonus_open=False, trail=trail, arrived=arrived)
    move_ships(match, seat, source, goal, ships, "redistribute")
    start_countdown(match, goal, ships)
    if goal == ISLE:
        take_control(match, seat, goal)


# ---------------------------------------------------------------- teleporters


def tokens_on_mat(state: State, seat: Seat) -> int:
    """The tokens that a seat may place from its mat: not those lost in this turn (WOC-TEL-01, WOC-TEL-10)."""
    left: int = TELEPORTERS - len(state["players"][seat]["teleporters"]) - state["turn"]["teleporters_lost"]
    return left


def token_price(state: State) -> Counts:
    """What the next token costs: the first of an action the same for one and two, the second nothing; nothing either with the card for it
    (WOC-TEL-02, WOC-TRN-08, WOC-PWR-30)."""
    turn = state["turn"]
    return {} if turn["teleporter_to"] or turn["free_teleporter"] else TELEPORTER_PRICE


def token_sources(state: State, seat: Seat) -> list[str | None]:
    """Where the next token may come from: the mat, or a place where it was not put in this action (WOC-TEL-05)."""
    placed = state["turn"]["teleporter_to"]
    if len(placed) >= TELEPORTERS:
        return []
    sources: list[str | None] = [None] if tokens_on_mat(state, seat) > 0 else []
    return sources + [token for token in state["players"][seat]["teleporters"] if token not in placed]


def build_offers(state: State, seat: Seat) -> list[Action]:
    """Every token to every dockable island on the board, if one can be paid for (WOC-TEL-03, WOC-TEL-04)."""
    if not bonus_open(state, "build_teleporter") or not can_pay(state, seat, token_price(state)):
        return []
    own = set(controlled(state, seat))
    tokens = state["players"][seat]["teleporters"]
    board = in_play(state)
    offers: list[Action] = []
    for source in token_sources(state, seat):
        anchored = any(token in own for token in tokens if token != source)
        offers += [
            {"type": "build_teleporter", "from": source, "to": goal}
            for goal in LOCATIONS
            if goal in DOCKABLE and goal in board and (anchored or goal in own) and goal not in state["covered"] and goal not in tokens
        ]
    return offers


def build_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """The first rule that a teleporter breaks (WOC-TEL-01, WOC-TEL-02, WOC-TEL-03, WOC-TEL-04, WOC-TEL-05, WOC-TEL-10, WOC-MAP-03,
    WOC-MAP-10)."""
    source, goal = action["from"], action["to"]
    refusal = no_bonus(state, "build_teleporter")
    if refusal is not None:
        return refusal
    tokens = state["players"][seat]["teleporters"]
    if source not in token_sources(state, seat):
        return no("no_teleporter", "WOC-TEL-05", source=source or "the mat")
    if goal not in DOCKABLE or goal in state["covered"]:
        return no("not_dockable", "WOC-TEL-03", at=goal)
    if goal in tokens:
        return no("already_there", "WOC-TEL-05", what="A teleporter of yours", at=goal)
    if not any(controls(state, seat, token) for token in [*tokens, goal] if token != source):
        return no("not_controlled", "WOC-TEL-04", at=goal)
    return cannot_pay(state, seat, token_price(state), "WOC-TEL-02")


def build_teleporter(match: Match, seat: Seat, action: Action) -> None:
    """A token is placed; the first of an action is paid for (WOC-TEL-02, WOC-TRN-08)."""
    pay(match, seat, token_price(match.state), "teleporter")
    match.emit("teleporter_placed", seat=seat, **{"from": action["from"]}, to=action["to"])
    turn = match.state["turn"]
    placed = turn["teleporter_to"]
    change_turn(match, teleporter_to=[*placed, action["to"]], free_teleporter=turn["free_teleporter"] and bool(placed))


_STEP = {"from": LOCATION, "to": LOCATION, "ships": counts(SHIP)}
MOVE = Deed(_STEP, move_offers, move_refusal, move, move_ranges)
REDISTRIBUTE = Deed(_STEP, redistribute_offers, redistribute_refusal, redistribute, redistribute_ranges)
BUILD_TELEPORTER = Deed({"from": nullable(LOCATION), "to": LOCATION}, build_offers, build_refusal, build_teleporter)
