"""The flow of play: phases, active actions, turns and rounds. Also the changes that many rules make, with their facts."""

from __future__ import annotations

from collections.abc import Mapping

from games.documents import Document, Own, clone
from games.kernel import Event, Fact, Seat
from games.lifecycle import ROUND, lifecycle
from games.schema import BLANK, Fields, described, either, ids, optional, veiled, whole
from games.war_of_civilizations import data
from games.war_of_civilizations.document import Match, State
from games.war_of_civilizations.state.control import controls, controls_continent
from games.war_of_civilizations.state.fleets import ships_at
from games.war_of_civilizations.state.records import (
    ability,
    crystals_of,
    isle_of,
    option,
    own_player,
    own_turn,
    round_order,
    still_in,
    turn_of,
)
from games.war_of_civilizations.state.shape import (
    ACTIVE_ACTION,
    CARD,
    CHANGES,
    COUNTDOWN_NUMBER,
    DOCUMENT,
    FROM,
    LOCATION,
    PHASES,
    REASONS,
    SCORE,
    SEAT,
    SHIP_MAP,
    TO,
)


def pass_to(match: Match, phase: str, to_act: list[str], active: Seat | None = None) -> None:
    """Ask for another decision, or another actor. It is the last thing that an action brings about. In every phase with a turn the seat
    whose turn it is stays active while others decide (WOC-TRN-12)."""
    state = match.state
    active = active or state["active"]
    if state["phase"] != phase or state["to_act"] != to_act or state["active"] != active:
        match.emit("phase_changed", phase=phase, active=active, to_act=to_act)


def active_seat(state: State) -> Seat:
    """Return the seat whose turn it is. It is only called where a turn is under way."""
    active = state["active"]
    assert active is not None, "a seat has its turn"
    return active


def to_turn(match: Match) -> None:
    """Let the active seat go on."""
    pass_to(match, data.TURN_PHASE, [active_seat(match.state)])


# ---------------------------------------------------------------- resources, crystals and ships


def change_resources(match: Match, seat: Seat, changes: Mapping[str, int], reason: str) -> None:
    """Let a seat gain or pay. Nothing is recorded where nothing changes; but where ammunition is hidden, a change of it is told apart, even
    one by nothing, so that nobody sees whether there was any (WOC-GEN-05)."""
    hidden = changes.get(data.POWDER) if option(match.state, "hidden_ammo") else None
    real = {name: number for name, number in changes.items() if number and (hidden is None or name != data.POWDER)}
    if real:
        match.emit("resources_changed", seat=seat, changes=real, reason=reason)
    if hidden is not None:
        match.emit("ammo_changed", seat=seat, change=hidden, reason=reason)


def pay(match: Match, seat: Seat, price: Mapping[str, int], reason: str) -> None:
    """Let a seat pay."""
    change_resources(match, seat, {name: -number for name, number in price.items()}, reason)


def move_crystals(match: Match, source: str, goal: str, count: int, reason: str) -> None:
    """Move crystals, if there are any to move."""
    if count > 0:
        match.emit("crystals_moved", **{"from": source, "to": goal}, count=count, reason=reason)


def move_ships(match: Match, seat: Seat, source: str, goal: str, ships: Mapping[str, int], reason: str) -> None:
    """Move ships from one location to another."""
    match.emit("ships_moved", seat=seat, **{"from": source, "to": goal}, ships=ships, reason=reason)


def lose_teleporter(match: Match, seat: Seat, at: str, reason: str) -> None:
    """Return a token to its mat. The active seat cannot place it again in this turn (WOC-TEL-09, WOC-TEL-10)."""
    match.emit("teleporter_lost", seat=seat, at=at, reason=reason)
    if match.state["active"] == seat:
        match.emit("teleporter_withheld", seat=seat)


# ---------------------------------------------------------------- control and the Isle of Myth


def take_control(match: Match, seat: Seat, at: str) -> None:
    """Give an undisputed fleet its location. It captures a crystal that another seat mounted there, and holds the Isle of Myth if its
    capital ship is there (WOC-MNT-04, WOC-ISL-01, WOC-ISL-02)."""
    state = match.state
    for owner in state["seats"]:
        if owner != seat and at in state["players"][owner]["mounted"] and controls(state, seat, at):
            match.emit("crystal_captured", seat=seat, owner=owner, at=at)
    if at == data.ISLE and isle_of(state)["holder"] != seat and data.FLAGSHIP in ships_at(state, seat, data.ISLE):
        match.emit("isle_taken", seat=seat, round=state["round"])


def lose_isle(match: Match, seat: Seat) -> None:
    """Take the Isle from its holder if its capital ship is not there any more. The countdown goes on (WOC-ISL-03, WOC-ISL-05)."""
    state = match.state
    if isle_of(state)["holder"] == seat and data.FLAGSHIP not in ships_at(state, seat, data.ISLE):
        match.emit("isle_lost", seat=seat)


def start_countdown(match: Match, goal: str, ships: data.Counts) -> None:
    """Start the countdown when the first capital ship enters the Isle, even if it then loses the battle there (WOC-ISL-04, WOC-SET-05)."""
    if goal == data.ISLE and data.FLAGSHIP in ships and match.state["countdown"] is None:
        match.emit("countdown_set", value=data.COUNTDOWN)


# ---------------------------------------------------------------- active actions


def may_begin(state: State, seat: Seat) -> bool:
    """Return True if an active action is left: two a turn, those that cards grant, and one more for a seat that controls its whole
    continent when it begins it (WOC-TRN-02, WOC-TRN-04, WOC-PWR-28)."""
    turn = state["turn"]
    if turn is None:
        return False
    left = data.ACTIONS_A_TURN + turn["extra_actions"] - turn["actions_used"]
    return left > 0 or (left + data.ACTIONS_FOR_ALL_ISLANDS > 0 and controls_continent(state, seat))


def begin_action(match: Match, seat: Seat, action: str) -> None:
    """Begin an active action. It counts as used from now on, and its bonus is open (WOC-TRN-03, WOC-TRN-05, WOC-TRN-06, WOC-ABL-07)."""
    discount = ability(match.state, seat, data.SHIP_DISCOUNT) if action == data.BUYING else 0
    match.emit("action_begun", seat=seat, action=action, **({"discount_left": discount} if discount else {}))


def close_bonus(match: Match, seat: Seat) -> None:
    """Begin the main part of an active action. Its bonus is over (WOC-TRN-07)."""
    if turn_of(match.state)["bonus_open"]:
        match.emit("bonus_closed", seat=seat)


def end_action(match: Match) -> None:
    """End the active action. The turn goes on, also where something could not be done (WOC-TRN-10, WOC-TRN-13)."""
    state = match.state
    match.emit("action_ended", seat=active_seat(state), action=turn_of(state)["action"])


# ---------------------------------------------------------------- turns and rounds


def start_turn(match: Match, seat: Seat) -> None:
    """Give a seat its turn (WOC-TRN-01)."""
    match.emit("turn_started", seat=seat, phase=data.TURN_PHASE)


def start_round(match: Match, number: int) -> None:
    """Begin a round with the turn of its first seat: the first that is still in, or where the first seat rotates the next one that is still
    in after the seat with which the last round began (WOC-TRN-01, WOC-SET-11, WOC-RND-11, WOC-RND-12)."""
    state = match.state
    seats, playing, rotates = round_order(state), still_in(state), option(state, "first_seat_rotates")
    if rotates and number > 1:
        seats = seats[1:] + seats[:1]
    first = next(seat for seat in seats if seat in playing)
    match.emit("round_started", round=number)
    if rotates:
        match.emit("first_seat_set", seat=first)
    start_turn(match, first)


def end_turn(match: Match, seat: Seat) -> None:
    """End a turn. The next seat that is not eliminated has its turn; after the last one the round is over, and the system must act
    (WOC-TRN-01, WOC-ELM-06, WOC-ISL-03, WOC-RND-01, WOC-RND-12)."""
    lose_isle(match, seat)
    match.emit("turn_ended", seat=seat)
    state = match.state
    seats = round_order(state)
    for other in seats[seats.index(seat) + 1 :]:
        if not state["players"][other]["eliminated"]:
            start_turn(match, other)
            return
    match.emit("round_ended", round=state["round"])


# ---------------------------------------------------------------- facts


def add_ships(player: Document, location: str, ships: Mapping[str, int], own: Own) -> None:
    """Add ships to a player's fleet on a location, for a fact."""
    count_ships(own(player, "fleets"), location, ships, own)


def count_ships(fleets: Document, location: str, ships: Mapping[str, int], own: Own) -> None:
    """Add ships to the ship map of a location, for a fact."""
    if location in fleets:
        fleet = own(fleets, location)
    else:
        fleet = fleets[location] = {}
    for ship, number in ships.items():
        fleet[ship] = fleet.get(ship, 0) + number


def take_ships(player: Document, location: str, ships: Mapping[str, int], own: Own) -> None:
    """Take ships from a player's fleet on a location, for a fact."""
    fleets = own(player, "fleets")
    fleet = own(fleets, location)
    for ship, number in ships.items():
        fleet[ship] -= number
        if not fleet[ship]:
            del fleet[ship]
    if not fleet:
        del fleets[location]


def shift_ships(player: Document, source: str, goal: str, ships: Mapping[str, int], own: Own) -> None:
    """Move a player's ships from one location to another, for a fact."""
    take_ships(player, source, ships, own)
    count_ships(player["fleets"], goal, ships, own)


def turn_started(state: State, event: Event, own: Own) -> None:
    """The turn record is blank, and no offer was made."""
    state["turn"] = clone(data.BLANK_TURN)
    state["offers"] = 0


def turn_ended(state: State, event: Event, own: Own) -> None:
    """There is no turn record between turns."""
    state["turn"] = None


def first_seat_set(state: State, event: Event, own: Own) -> None:
    """The round begins with this seat (WOC-RND-12)."""
    state["first"] = event["seat"]


def put_out(state: State, seat: Seat, own: Own) -> None:
    """Put a seat out, for a fact: its pieces leave the board, and its cards go to the discard pile."""
    player = own_player(state, seat, own)
    own(own(state, "power"), "discard").extend(player["cards"])
    player.update(clone(data.ELIMINATED))


def seat_withdrawn(state: State, event: Event, own: Own) -> None:
    """Its pieces and goods leave the match, its cards go to the discard pile, its crystals, mounted ones too, to the supply."""
    own(state, "crystals")[data.SUPPLY] += crystals_of(state, event["seat"])
    put_out(state, event["seat"], own)


def match_ended(state: State, event: Event, own: Own) -> None:
    """Nothing waits any more."""
    state["turn"] = None
    state["battle"] = None
    state["blockade"] = None
    state["ransom"] = None


def action_begun(state: State, event: Event, own: Own) -> None:
    """An active action is under way, and its bonus is open."""
    turn = own_turn(state, own)
    turn.update(clone(data.BLANK_ACTION))
    turn["actions_used"] += 1
    turn["action"] = event["action"]
    turn["bonus_open"] = True
    turn["discount_left"] = event.get("discount_left", 0)


def action_ended(state: State, event: Event, own: Own) -> None:
    """The part of the turn record that belongs to the active action is blank again."""
    own_turn(state, own).update(clone(data.BLANK_ACTION))


def bonus_closed(state: State, event: Event, own: Own) -> None:
    """The main part of the active action has begun."""
    own_turn(state, own)["bonus_open"] = False


def resources_changed(state: State, event: Event, own: Own) -> None:
    """A seat has more or less of something."""
    player = own_player(state, event["seat"], own)
    for name, number in event["changes"].items():
        player[name] += number


def ammo_changed(state: State, event: Event, own: Own) -> None:
    """A seat has more or less ammunition than the others see."""
    own_player(state, event["seat"], own)[data.POWDER] += event["change"]


def crystals_moved(state: State, event: Event, own: Own) -> None:
    """Crystals change hands. The crystal of a token is not counted anywhere else."""
    for place, number in ((event["from"], -event["count"]), (event["to"], event["count"])):
        if place in state["crystals"]:
            own(state, "crystals")[place] += number
        elif place in state["players"]:
            own_player(state, place, own)["crystals"] += number


def crystal_captured(state: State, event: Event, own: Own) -> None:
    """A mounted crystal goes to another seat's stock."""
    del own(own_player(state, event["owner"], own), "mounted")[event["at"]]
    own_player(state, event["seat"], own)["crystals"] += 1


def card_spent(state: State, event: Event, own: Own) -> None:
    """A card leaves a hand for the discard pile."""
    own(own_player(state, event["seat"], own), "cards").remove(event["card"])
    own(own(state, "power"), "discard").append(event["card"])


def ships_placed(state: State, event: Event, own: Own) -> None:
    """Ships come on the board."""
    add_ships(own_player(state, event["seat"], own), event["at"], event["ships"], own)


def ships_moved(state: State, event: Event, own: Own) -> None:
    """Ships are somewhere else."""
    shift_ships(own_player(state, event["seat"], own), event["from"], event["to"], event["ships"], own)


def ships_removed(state: State, event: Event, own: Own) -> None:
    """Ships go to the reserve."""
    take_ships(own_player(state, event["seat"], own), event["at"], event["ships"], own)


def teleporter_lost(state: State, event: Event, own: Own) -> None:
    """A token goes back to its mat."""
    own(own_player(state, event["seat"], own), "teleporters").remove(event["at"])


def teleporter_withheld(state: State, event: Event, own: Own) -> None:
    """The active seat cannot place a lost token again in this turn."""
    own_turn(state, own)["teleporters_lost"] += 1


def isle_taken(state: State, event: Event, own: Own) -> None:
    """The Isle has a holder, and the round is noted (WOC-ISL-02)."""
    own(state, data.ISLE).update(holder=event["seat"], since=event["round"], full_rounds=0)


def isle_lost(state: State, event: Event, own: Own) -> None:
    """The Isle has no holder."""
    own(state, data.ISLE).update(data.BLANK_ISLE)


def countdown_set(state: State, event: Event, own: Own) -> None:
    """The tracker shows another number."""
    state["countdown"] = event["value"]


_MOVED = ids(["reinforce", "turned_back", "retreat", "upkeep", "disaster"], "why the ships move")
_REMOVED = ids(["defeat", "ability", "disaster", "upkeep"], "why the ships leave the board")
_PURSE = either(SEAT, ids([data.SUPPLY, data.ISLE, data.EXPEDITION], "the supply, the Isle, or the token of a lost expedition"))
_GAINED = ("start", "collect", "convert", "card", *data.PLUNDERING, "spoils", "ransom")
_PAID = ("rebuild", "buy_card", "buy_ships", "teleporter", "mount", "expedition", "bid", "hire", "upkeep")
_CHANGED = ids([*_GAINED, *_PAID], "why the stock changes")
_CRYSTALS = ids(["start", "expedition", "battle", "upgrade", "spoils", "ransom", data.ISLE, "isle_last"], "why crystals change hands")
WAY: Fields = {"seat": SEAT, "from": FROM, "to": TO, "ships": SHIP_MAP}

FACTS: Mapping[str, tuple[Fact, Fields]] = {
    **lifecycle(
        SEAT,
        PHASES,
        REASONS,
        DOCUMENT,
        SCORE,
        {"turn_started": turn_started, "turn_ended": turn_ended, "seat_withdrawn": seat_withdrawn, "match_ended": match_ended},
    ),
    "first_seat_set": (first_seat_set, {"seat": SEAT}),
    "action_begun": (
        action_begun,
        {"seat": SEAT, "action": ACTIVE_ACTION, "discount_left": optional(whole(1, about="Lion's discount for this Buy, in OC"))},
    ),
    "action_ended": (action_ended, {"seat": SEAT, "action": ACTIVE_ACTION}),
    "bonus_closed": (bonus_closed, {"seat": SEAT}),
    "resources_changed": (resources_changed, {"seat": SEAT, "changes": CHANGES, "reason": _CHANGED}),
    "ammo_changed": (ammo_changed, {"seat": SEAT, "change": veiled(whole(about="null for the others"), BLANK), "reason": _CHANGED}),
    "crystals_moved": (
        crystals_moved,
        {
            "from": described(_PURSE, "who gives them"),
            "to": described(_PURSE, "who gets them"),
            "count": whole(1, about="how many crystals"),
            "reason": _CRYSTALS,
        },
    ),
    "crystal_captured": (
        crystal_captured,
        {"seat": described(SEAT, "the seat that gets it"), "owner": described(SEAT, "the seat that had mounted it"), "at": LOCATION},
    ),
    "card_spent": (card_spent, {"seat": SEAT, "card": CARD, "reason": ids(["played", "bid", "discarded"], "why the card leaves the hand")}),
    "ships_placed": (
        ships_placed,
        {"seat": SEAT, "at": LOCATION, "ships": SHIP_MAP, "reason": ids(["start", "deploy", "buy", "card"], "why the ships come")},
    ),
    "ships_moved": (ships_moved, {**WAY, "reason": _MOVED}),
    "ships_removed": (ships_removed, {"seat": SEAT, "at": LOCATION, "ships": SHIP_MAP, "reason": _REMOVED}),
    "teleporter_lost": (teleporter_lost, {"seat": SEAT, "at": LOCATION, "reason": ids(["battle", "disaster"], "why the token is lost")}),
    "teleporter_withheld": (teleporter_withheld, {"seat": SEAT}),
    "isle_taken": (isle_taken, {"seat": SEAT, "round": ROUND}),
    "isle_lost": (isle_lost, {"seat": SEAT}),
    "countdown_set": (countdown_set, {"value": COUNTDOWN_NUMBER}),
}
