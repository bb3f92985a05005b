"""Deeds of the active actions Move and Redistribute: steps, and teleporters as their bonus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from games.choices import Choice, Outside, Ranges
from games.documents import Own
from games.kernel import Action, Deed, Event, Fact, Refusal, Seat, no
from games.schema import Fields, counts, described, listing, nullable
from games.sentences import say
from games.war_of_civilizations import data
from games.war_of_civilizations.battle.resolve import land
from games.war_of_civilizations.checks import bonus_open, cannot_pay, cannot_take_ships, no_bonus, no_room, no_step
from games.war_of_civilizations.document import Match, State
from games.war_of_civilizations.flow import WAY, count_ships, pass_to, pay, shift_ships, start_countdown, take_control
from games.war_of_civilizations.state.control import controlled, controls, linked, points, trails
from games.war_of_civilizations.state.fleets import foreign_privateer, needs_flagship, occupants, room, ships_at, some_ships
from games.war_of_civilizations.state.map import in_play, neighbours
from games.war_of_civilizations.state.records import ability, can_pay, own_player, own_turn, turn_of
from games.war_of_civilizations.state.shape import FROM, LOCATION, SEAT, SHIP, STEPS_LEFT, TO

FURTHER = say("a further step is made by ships that made the last, as long as steps are left")

# ---------------------------------------------------------------- Move


def movable(state: State, seat: Seat, source: str) -> data.Counts:
    """Return the ships on a location that may make the next step: any for the first, then those that made the last one
    (WOC-MOV-01, WOC-ABL-03)."""
    mover = turn_of(state)["mover"]
    there = ships_at(state, seat, source)
    if mover is None:
        return there
    if mover["at"] != source or not mover["steps_left"]:
        return {}
    return {ship: min(number, there.get(ship, 0)) for ship, number in mover["ships"].items()}


def blocked_by(state: State, seat: Seat, location: str) -> Seat | None:
    """Return the other seat whose privateer keeps hostages on a location, so that nobody may enter (WOC-PRV-07, WOC-MOV-08)."""
    owner = foreign_privateer(state, seat, location)
    return owner if owner is not None and occupants(state, location) else None


def move_offers(state: State, seat: Seat) -> list[Action]:
    """Return an action from every location with ships that may go, to every other that is adjacent or linked and not under the seat's
    control (WOC-MOV-01, WOC-MOV-02)."""
    turn = state["turn"]
    if turn is None or turn["action"] != data.MOVING:
        return []
    mover = turn["mover"]
    fleets = state["players"][seat]["fleets"]
    sources = sorted(fleets, key=data.PLACE.__getitem__) if mover is None else [mover["at"]]
    own = set(controlled(state, seat))
    teleporters = points(state, seat)
    near = neighbours(state)
    board = in_play(state)
    offers: list[Action] = []
    for source in sources:
        if foreign_privateer(state, seat, source) is None:
            goals = near[source]
            if source in teleporters:
                goals = (*goals, *[point for point in teleporters if point != source and point not in goals])
            offers += [{"type": "move", "from": source, "to": goal} for goal in goals if goal not in own and goal in board]
    return offers


def move_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why no ship at all can make a step, or None (WOC-MOV-01, WOC-MOV-02, WOC-MOV-03, WOC-MOV-04, WOC-MOV-08, WOC-PRV-07,
    WOC-ABL-03, WOC-TEL-07)."""
    source, goal = action["from"], action["to"]
    refusal = no_step(state, data.MOVING)
    if refusal is not None:
        return refusal
    if not ships_at(state, seat, source):
        return no("no_ships", "WOC-MOV-01", at=source, wanted=say("a ship"), there=say("nothing"))
    keeper = foreign_privateer(state, seat, source)
    if keeper is not None:
        return no("blocked", "WOC-MOV-08", at=source, seat=keeper)
    ships = movable(state, seat, source)
    if not ships:
        return no("no_steps", "WOC-ABL-03", reason=FURTHER)
    if goal not in neighbours(state)[source] and not linked(state, seat, source, goal):
        return no("not_adjacent", "WOC-MOV-02", at=source, to=goal)
    if controls(state, seat, goal):
        return no("already_controlled", "WOC-MOV-01", at=goal)
    keeper = blocked_by(state, seat, goal)
    if keeper is not None:
        return no("blocked", "WOC-PRV-07", at=goal, seat=keeper)
    if data.FLAGSHIP not in ships and needs_flagship(state, seat, source, goal):
        return no("capital_first", "WOC-MOV-03", to=goal)
    return no_room(state, goal, 1)


def move_ranges(state: State, seat: Seat, action: Action) -> Ranges:
    """Return the ships that may make the step: at least one, as many as there is room for, and the capital ship where it must come along
    (WOC-MOV-03, WOC-MOV-04)."""
    source, goal = action["from"], action["to"]
    return some_ships(movable(state, seat, source), room(state, goal), needs_flagship(state, seat, source, goal))


def move_outside(state: State, seat: Seat, action: Action, found: Outside) -> Refusal:
    """Return the refusal for too few or too many ships, or others than those that may make the step (WOC-MOV-01, WOC-MOV-03, WOC-MOV-04,
    WOC-ABL-03)."""
    source, goal = action["from"], action["to"]
    if found.key is not None and found.given < found.low:
        return no("capital_first", "WOC-MOV-03", to=goal)
    there = ships_at(state, seat, source)
    if found.key is not None and found.given <= there.get(found.key, 0):
        return no("no_steps", "WOC-ABL-03", reason=FURTHER)
    return cannot_take_ships(action, found, there, "WOC-MOV-01")


def move(match: Match, seat: Seat, action: Action) -> None:
    """Make a step with ships. On arrival the entry comes first, then an opponent, then the prize (WOC-MOV-01, WOC-MOV-03,
    WOC-MOV-05, WOC-MOV-06, WOC-MOV-07, WOC-ABL-03, WOC-PWR-27, WOC-PIR-01, WOC-PRV-07, WOC-PRV-12, WOC-TEL-10)."""
    source, goal, ships = action["from"], action["to"], action["ships"]
    state = match.state
    turn = turn_of(state)
    last = turn["mover"]
    left = ability(state, seat, data.EXTRA_STEPS) + turn["extra_steps"] if last is None else last["steps_left"] - 1
    match.emit("step_made", seat=seat, **{"from": source}, to=goal, ships=ships, steps_left=left)
    if goal in data.RING and not match.state["players"][seat]["entered_central"]:
        match.emit("central_entered", seat=seat)
    start_countdown(match, goal, ships)
    if match.state["players"][seat]["privateer"] == goal != data.HOME[seat]:
        match.emit("privateer_moved", seat=seat, to=data.HOME[seat])
    if goal in data.RING and match.state["apex"][goal]["pirate"]:
        pass_to(match, data.PIRATE_PHASE, [seat])
    else:
        land(match, seat, met=False)


# ---------------------------------------------------------------- Redistribute


def at_rest(state: State, seat: Seat, source: str) -> data.Counts:
    """Return the ships on a location that have not moved in this Redistribute (WOC-RED-03)."""
    there = ships_at(state, seat, source)
    turn = state["turn"]
    if turn is None or source not in turn["arrived"]:
        return there
    arrived = turn["arrived"][source]
    return {ship: number - arrived[ship] if ship in arrived else number for ship, number in there.items()}


def usable(state: State, seat: Seat) -> Sequence[Sequence[str]]:
    """Return the trails for the next step of a Redistribute: all for the first, then only the fixed one (WOC-RED-02)."""
    turn = state["turn"]
    return trails(state, seat) if turn is None or turn["trail"] is None else [turn["trail"]]


def redistribute_offers(state: State, seat: Seat) -> list[Action]:
    """Return an action from every location of a trail with ships to every other of it with room (WOC-RED-01, WOC-RED-02)."""
    return [choice["action"] for choice in redistribute_choices(state, seat)]


def redistribute_choices(state: State, seat: Seat) -> list[Choice]:
    """Return the choices of the deed at once: the ships and the room of each location are counted once, and the choices from one location
    with the same room share their ranges."""
    turn = state["turn"]
    if turn is None or turn["action"] != data.REDISTRIBUTING:
        return []
    choices: list[Choice] = []
    for trail in usable(state, seat):
        rooms = [(goal, left) for goal in trail if (left := room(state, goal))]
        for source in trail:
            ships = at_rest(state, seat, source)
            number = sum(ships.values())
            if number:
                spans = {most: some_ships(ships, most) for most in {min(left, number) for _, left in rooms}}
                choices += [
                    {"action": {"type": "redistribute", "from": source, "to": goal}, "choose": spans[min(left, number)]}
                    for goal, left in rooms
                    if goal != source
                ]
    return choices


def redistribute_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why no ship at all can go along a trail, or None (WOC-RED-01, WOC-RED-02, WOC-RED-03, WOC-RED-04, WOC-RED-06)."""
    source, goal = action["from"], action["to"]
    refusal = no_step(state, data.REDISTRIBUTING)
    if refusal is not None:
        return refusal
    if not any(at_rest(state, seat, source).values()):
        return no("no_ships", "WOC-RED-03", at=source, wanted=say("a ship"), there=say("nothing"))
    for trail in usable(state, seat):
        if source in trail and goal in trail and source != goal:
            return no_room(state, goal, 1)
    return no("not_connected", "WOC-RED-02", at=source, to=goal)


def redistribute_ranges(state: State, seat: Seat, action: Action) -> Ranges:
    """Return the ships that may go: those that have not moved yet, as many as there is room for (WOC-RED-03, WOC-RED-04)."""
    return some_ships(at_rest(state, seat, action["from"]), room(state, action["to"]))


def redistribute_outside(state: State, seat: Seat, action: Action, found: Outside) -> Refusal:
    """Return the refusal for no ship, ships that are not there or have moved already, or more than there is room for (WOC-RED-03,
    WOC-RED-04)."""
    return cannot_take_ships(action, found, at_rest(state, seat, action["from"]), "WOC-RED-03")


def redistribute(match: Match, seat: Seat, action: Action) -> None:
    """Move ships to another location of the trail, which is fixed from now on. The capital ship may move as well (WOC-RED-01, WOC-RED-02,
    WOC-RED-03, WOC-RED-05, WOC-RED-06, WOC-MOV-06, WOC-ISL-02, WOC-ISL-04)."""
    source, goal, ships = action["from"], action["to"], action["ships"]
    if turn_of(match.state)["trail"] is None:
        trail = next(trail for trail in trails(match.state, seat) if source in trail and goal in trail)
        match.emit("trail_fixed", seat=seat, trail=list(trail))
    match.emit("ships_redistributed", seat=seat, **{"from": source}, to=goal, ships=ships)
    start_countdown(match, goal, ships)
    if goal == data.ISLE:
        take_control(match, seat, goal)


# ---------------------------------------------------------------- teleporters


def tokens_on_mat(state: State, seat: Seat) -> int:
    """Return how many tokens a seat may place from its mat. Those lost in this turn do not count (WOC-TEL-01, WOC-TEL-10)."""
    return data.TELEPORTERS - len(state["players"][seat]["teleporters"]) - turn_of(state)["teleporters_lost"]


def token_price(state: State) -> data.Counts:
    """Return the price of the next token. The first of an action has the price for one and two, the second is free; the first is free with
    the card for it
    (WOC-TEL-02, WOC-TRN-08, WOC-PWR-30)."""
    turn = turn_of(state)
    return {} if turn["teleporter_to"] or turn["free_teleporter"] else data.TELEPORTER_PRICE


def token_sources(state: State, seat: Seat) -> list[str | None]:
    """Return where the next token may come from: the mat (None), or a location where it was not placed in this action (WOC-TEL-05)."""
    placed = turn_of(state)["teleporter_to"]
    if len(placed) >= data.TELEPORTERS:
        return []
    sources: list[str | None] = [None] if tokens_on_mat(state, seat) > 0 else []
    return sources + [token for token in state["players"][seat]["teleporters"] if token not in placed]


def build_offers(state: State, seat: Seat) -> list[Action]:
    """Return an action for every token and every dockable island on the board, if one can be paid for (WOC-TEL-03, WOC-TEL-04)."""
    if not bonus_open(state, data.BUILDING) or not can_pay(state, seat, token_price(state)):
        return []
    own = set(controlled(state, seat))
    tokens = state["players"][seat]["teleporters"]
    board = in_play(state)
    offers: list[Action] = []
    for source in token_sources(state, seat):
        anchored = any(token in own for token in tokens if token != source)
        offers += [
            {"type": "build_teleporter", "from": source, "to": goal}
            for goal in data.LOCATIONS
            if goal in data.DOCKABLE and goal in board and (anchored or goal in own) and goal not in state["covered"] and goal not in tokens
        ]
    return offers


def build_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why no teleporter can be built like this, or None (WOC-TEL-01, WOC-TEL-02, WOC-TEL-03, WOC-TEL-04, WOC-TEL-05, WOC-TEL-10,
    WOC-MAP-03, WOC-MAP-10)."""
    source, goal = action["from"], action["to"]
    refusal = no_bonus(state, data.BUILDING)
    if refusal is not None:
        return refusal
    tokens = state["players"][seat]["teleporters"]
    if source not in token_sources(state, seat):
        return no("no_teleporter", "WOC-TEL-05", source=source or say("the mat"))
    if goal not in data.DOCKABLE or goal in state["covered"]:
        return no("not_dockable", "WOC-TEL-03", at=goal)
    if goal in tokens:
        return no("already_there", "WOC-TEL-05", what=say("A teleporter of yours"), at=goal)
    if not any(controls(state, seat, token) for token in [*tokens, goal] if token != source):
        return no("not_controlled", "WOC-TEL-04", at=goal)
    return cannot_pay(state, seat, token_price(state), "WOC-TEL-02")


def build_teleporter(match: Match, seat: Seat, action: Action) -> None:
    """Place a token. The first of an action is paid for, or free with a card (WOC-TEL-02, WOC-TRN-08, WOC-PWR-30)."""
    turn = turn_of(match.state)
    pay(match, seat, token_price(match.state), "teleporter")
    if turn["free_teleporter"] and not turn["teleporter_to"]:
        match.emit("grant_used", seat=seat)
    match.emit("teleporter_placed", seat=seat, **{"from": action["from"]}, to=action["to"])


# ---------------------------------------------------------------- facts


def step_made(state: State, event: Event, own: Own) -> None:
    """Ships have made a step of a Move. The first step uses the steps that cards have granted. Those of a card that is played later in the
    Move are left for the next Move (WOC-PWR-27)."""
    shift_ships(own_player(state, event["seat"], own), event["from"], event["to"], event["ships"], own)
    turn = own_turn(state, own)
    turn["bonus_open"] = False
    if turn["mover"] is None:
        turn["extra_steps"] = 0
    turn["mover"] = {"from": event["from"], "at": event["to"], "ships": dict(event["ships"]), "steps_left": event["steps_left"]}


def trail_fixed(state: State, event: Event, own: Own) -> None:
    """The rest of this Redistribute goes along one trail."""
    own_turn(state, own)["trail"] = list(event["trail"])


def ships_redistributed(state: State, event: Event, own: Own) -> None:
    """Ships are elsewhere on their trail, and do not move again in this action."""
    shift_ships(own_player(state, event["seat"], own), event["from"], event["to"], event["ships"], own)
    turn = own_turn(state, own)
    turn["bonus_open"] = False
    count_ships(own(turn, "arrived"), event["to"], event["ships"], own)


def teleporter_placed(state: State, event: Event, own: Own) -> None:
    """A token is placed, from the mat or from another location, and noted for this action."""
    tokens = own(own_player(state, event["seat"], own), "teleporters")
    if event["from"] is not None:
        tokens.remove(event["from"])
    tokens.append(event["to"])
    own(own_turn(state, own), "teleporter_to").append(event["to"])


def grant_used(state: State, event: Event, own: Own) -> None:
    """The free teleporter bonus is used."""
    own_turn(state, own)["free_teleporter"] = False


def central_entered(state: State, event: Event, own: Own) -> None:
    """A seat has entered the central continent."""
    own_player(state, event["seat"], own)["entered_central"] = True


_TOKEN_FROM = nullable(described(LOCATION, "the location of the token; null for one from the mat"))

FACTS: Mapping[str, tuple[Fact, Fields]] = {
    "step_made": (step_made, {**WAY, "steps_left": STEPS_LEFT}),
    "trail_fixed": (trail_fixed, {"seat": SEAT, "trail": listing(LOCATION, about="the locations of the trail, in map order")}),
    "ships_redistributed": (ships_redistributed, WAY),
    "teleporter_placed": (teleporter_placed, {"seat": SEAT, "from": _TOKEN_FROM, "to": TO}),
    "grant_used": (grant_used, {"seat": SEAT}),
    "central_entered": (central_entered, {"seat": SEAT}),
}

# ---------------------------------------------------------------- deeds

_STEP = {"from": FROM, "to": TO, "ships": counts(SHIP, about="the ships that go, by kind")}
MOVE = Deed(_STEP, move_offers, move_refusal, move, move_ranges, move_outside)
REDISTRIBUTE = Deed(
    _STEP, redistribute_offers, redistribute_refusal, redistribute, redistribute_ranges, redistribute_outside, redistribute_choices
)
BUILD_TELEPORTER = Deed({"from": _TOKEN_FROM, "to": TO}, build_offers, build_refusal, build_teleporter)
