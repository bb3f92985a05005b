"""Deeds of Rise of Pirates: meeting a pirate, sending a privateer, and what its victim does: fight, ransom or yield."""

from __future__ import annotations

from typing import Any

from games.choices import Ranges
from games.kernel import Action, Deed, Match, Refusal, Seat, State, no
from games.schema import counts, flag, optional, text
from games.war_of_civilizations.battle import PIRATE, land, start_battle
from games.war_of_civilizations.checks import cannot_pay, no_step, played_without
from games.war_of_civilizations.data import (
    DOCKABLE,
    FLAGSHIP,
    HOME,
    NOTE_LENGTH,
    OFFERS_A_MOMENT,
    PLACE,
    PRIVATEER_PRICE,
    RESOURCES,
    Counts,
)
from games.war_of_civilizations.flow import change_resources, change_turn, end_action, move_crystals, pass_to, pay, to_turn
from games.war_of_civilizations.state import (
    GOODS,
    LOCATION,
    foreign_privateer,
    hostages,
    occupants,
    option,
    ships_at,
)

_GOODS = (*RESOURCES, "crystals")

# ---------------------------------------------------------------- meeting a pirate


def fight_pirate_offers(state: State, seat: Seat) -> list[Action]:
    """A pirate is fought or hired (WOC-PIR-01)."""
    return [{"type": "fight", "at": state["turn"]["mover"]["at"]}]


def fight_pirate_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """The pirate that was met is fought, no other (WOC-PIR-01)."""
    return played_without(state, "pirates") or _elsewhere(action["at"], state["turn"]["mover"]["at"])


def _elsewhere(at: str, meant: str) -> Refusal | None:
    return None if at == meant else no("no_privateer", "WOC-PIR-01", reason=f"it is met in {meant}")


def fight_pirate(match: Match, seat: Seat, action: Action) -> None:
    """The seat attacks the pirate (WOC-PIR-01, WOC-PIR-02)."""
    start_battle(match, action["at"], PIRATE, seat, PIRATE, origin=match.state["turn"]["mover"]["from"])


def hire_offers(state: State, seat: Seat) -> list[Action]:
    """A pirate is fought or hired (WOC-PIR-01)."""
    return [{"type": "hire_pirate"}]


def hire_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """A seat has only one privateer, one in the reserve counts, and hiring has its price (WOC-PIR-04)."""
    refusal = played_without(state, "pirates")
    if refusal is not None:
        return refusal
    if state["players"][seat]["privateer"] is not None:
        return no("privateer_limit", "WOC-PIR-04")
    return cannot_pay(state, seat, PRIVATEER_PRICE, "WOC-PIR-04")


def hire(match: Match, seat: Seat, action: Action) -> None:
    """The pirate becomes the seat's privateer on its home base, and the island is explored (WOC-PIR-04, WOC-PIR-05)."""
    pay(match, seat, PRIVATEER_PRICE, "hire")
    match.emit("pirate_removed", apex=match.state["turn"]["mover"]["at"], reason="hired")
    match.emit("privateer_moved", seat=seat, to=HOME[seat])
    land(match, seat, met=True)


# ---------------------------------------------------------------- sending a privateer


def privateer_offers(state: State, seat: Seat) -> list[Action]:
    """From home to every dockable island with an opponent's ships, from an island only home (WOC-PRV-02, WOC-PRV-04)."""
    where, turn = state["players"][seat]["privateer"], state["turn"]
    if where in (None, "reserve") or turn["action"] != "move" or turn["privateer_used"] or turn["mover"] or not option(state, "pirates"):
        return []
    if where != HOME[seat]:
        return [{"type": "move_privateer", "to": HOME[seat]}]
    players = state["players"]
    goals = {location for other in state["seats"] if other != seat for location in players[other]["fleets"] if location in DOCKABLE}
    return [{"type": "move_privateer", "to": location} for location in sorted(goals, key=PLACE.__getitem__)]


def privateer_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """The first rule that a privateer's way breaks (WOC-PRV-02, WOC-PRV-03, WOC-PRV-04)."""
    goal, turn, where = action["to"], state["turn"], state["players"][seat]["privateer"]
    refusal = played_without(state, "pirates") or no_step(state, "move") or _stepped(state)
    if refusal is not None:
        return refusal
    if where in (None, "reserve"):
        return no("no_privateer", "WOC-PRV-02", reason="you have none on the board")
    if turn["privateer_used"]:
        return no("already_done", "WOC-PRV-04", what="Moving a privateer in a turn")
    if where != HOME[seat]:
        return None if goal == HOME[seat] else no("not_connected", "WOC-PRV-04", at=where, to=goal)
    if goal not in DOCKABLE or goal in state["covered"]:
        return no("not_dockable", "WOC-PRV-02", at=goal)
    others = occupants(state, goal, seat)
    if not others:
        return no("no_target", "WOC-PRV-02", at=goal)
    if foreign_privateer(state, seat, goal) is not None:
        return no("already_there", "WOC-PRV-03", what="Another privateer", at=goal)
    if any(FLAGSHIP in ships_at(state, other, goal) for other in others):
        return no("capital_there", "WOC-PRV-03", at=goal)
    return None


def _stepped(state: State) -> Refusal | None:
    if state["turn"]["mover"] is None:
        return None
    return no("no_steps", "WOC-PRV-10", reason="ships have made a step in this action already")


def move_privateer(match: Match, seat: Seat, action: Action) -> None:
    """A privateer comes home, or blocks an island, and the opponent there decides what to do (WOC-PRV-01, WOC-PRV-02, WOC-PRV-04,
    WOC-PRV-05, WOC-PRV-06, WOC-RAN-04, WOC-TRN-10)."""
    goal = action["to"]
    if goal == HOME[seat]:
        match.emit("privateer_moved", seat=seat, to=goal)
        change_turn(match, bonus_open=False, privateer_used=True)
        end_action(match)
        to_turn(match)
        return
    occupant = occupants(match.state, goal, seat)[0]
    change_turn(match, bonus_open=False, privateer_used=True)
    match.emit("privateer_moved", seat=seat, to=goal)
    made = {"offers": match.state["offers"]} if match.state["offers"] else {}
    match.emit("blockade_started", blockade={"at": goal, "owner": seat, "occupant": occupant, **made})
    pass_to(match, "blockade", [occupant])


# ---------------------------------------------------------------- fighting a privateer


def fight_arrival_offers(state: State, seat: Seat) -> list[Action]:
    """The privateer that has just arrived can be fought at once (WOC-PRV-06)."""
    return [{"type": "fight", "at": state["blockade"]["at"]}]


def fight_arrival_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """No other privateer can be fought now (WOC-PRV-06)."""
    return played_without(state, "pirates") or _elsewhere(action["at"], state["blockade"]["at"])


def fight_arrival(match: Match, seat: Seat, action: Action) -> None:
    """The ships on the island fight the privateer, which attacks (WOC-PRV-06, WOC-PRV-08, WOC-PRV-09)."""
    start_battle(match, action["at"], "privateer", match.state["blockade"]["owner"], seat, privateer="attacker")


def fight_offers(state: State, seat: Seat) -> list[Action]:
    """As the first step of a Move every privateer that keeps hostages of the seat can be fought (WOC-PRV-10)."""
    turn = state["turn"]
    if turn["action"] != "move" or turn["mover"] is not None or not option(state, "pirates"):
        return []
    return [{"type": "fight", "at": location} for location in hostages(state, seat)]


def fight_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """A Move, instead of a step, against a privateer that keeps own ships (WOC-PRV-10)."""
    at = action["at"]
    refusal = played_without(state, "pirates") or no_step(state, "move")
    return refusal or no_hostages(state, seat, at) or _stepped(state)


def no_hostages(state: State, seat: Seat, at: str) -> Refusal | None:
    """A seat has ships where another seat's privateer is (WOC-PRV-06)."""
    if ships_at(state, seat, at) and foreign_privateer(state, seat, at) is not None:
        return None
    return no("no_privateer", "WOC-PRV-06", reason=f"none keeps ships of yours in {at}")


def fight(match: Match, seat: Seat, action: Action) -> None:
    """Ships brought in fight the privateer, which attacks; hostages do not (WOC-PRV-08, WOC-PRV-09, WOC-PRV-10)."""
    at = action["at"]
    owner = foreign_privateer(match.state, seat, at)
    assert owner is not None, "a fight is only begun with a privateer"
    change_turn(match, bonus_open=False)
    start_battle(match, at, "privateer", owner, seat, privateer="attacker", captive=ships_at(match.state, seat, at))


def yield_offers(state: State, seat: Seat) -> list[Action]:
    """The third thing that an opponent can do (WOC-PRV-06)."""
    return [{"type": "yield"}]


def yield_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """One can always yield to a privateer."""
    return played_without(state, "pirates")


def give_way(match: Match, seat: Seat, action: Action) -> None:
    """The ships there become hostages (WOC-PRV-06, WOC-PRV-07)."""
    match.emit("blockade_ended", at=match.state["blockade"]["at"], result="hostages")
    end_action(match)
    to_turn(match)


# ---------------------------------------------------------------- ransom


def wealth(state: State, seat: Seat) -> Counts:
    """What a seat can offer (WOC-RAN-02)."""
    player = state["players"][seat]
    return {name: player[name] for name in _GOODS if player[name]}


def ransom_offers(state: State, seat: Seat) -> list[Action]:
    """For each island where ships of the seat are kept, as long as it may still offer (WOC-RAN-01, WOC-RAN-04)."""
    if not option(state, "pirates") or state["offers"] >= OFFERS_A_MOMENT:
        return []
    blockade = state["blockade"]
    places = hostages(state, seat) if blockade is None else [blockade["at"]]
    if not places:
        return []
    bare: dict[str, Any] = {} if wealth(state, seat) else {"offer": {}}
    return [{"type": "offer_ransom", "at": location, **bare} for location in places]


def ransom_ranges(state: State, seat: Seat, action: Action) -> Ranges | None:
    """Anything that the seat has, or nothing (WOC-RAN-02)."""
    stock = wealth(state, seat)
    if not stock:
        return {}
    return {"offer": {"each": {name: [0, number] for name, number in stock.items()}, "total": [0, sum(stock.values())]}}


def ransom_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """The first rule that an offer breaks (WOC-RAN-01, WOC-RAN-02, WOC-RAN-04)."""
    at, offer, blockade = action["at"], action["offer"], state["blockade"]
    refusal = played_without(state, "pirates")
    refusal = refusal or (no_hostages(state, seat, at) if blockade is None else _elsewhere(at, blockade["at"]))
    if refusal is not None:
        return refusal
    if state["offers"] >= OFFERS_A_MOMENT:
        return no("offer_limit", "WOC-RAN-04", limit=OFFERS_A_MOMENT)
    return cannot_pay(state, seat, offer, "WOC-RAN-02")


def offer_ransom(match: Match, seat: Seat, action: Action) -> None:
    """The privateer's owner is asked; a note binds nobody (WOC-RAN-01, WOC-RAN-02)."""
    state = match.state
    owner = foreign_privateer(state, seat, action["at"])
    assert owner is not None, "ransom is only offered to a privateer's owner"
    match.emit(
        "ransom_offered",
        **{"from": seat},
        to=owner,
        at=action["at"],
        offer=action["offer"],
        note=action.get("note"),
        offers=state["offers"] + 1,
    )
    pass_to(match, "ransom", [owner])


def answer_offers(state: State, seat: Seat) -> list[Action]:
    """Yes or no (WOC-RAN-01)."""
    return [{"type": "answer_ransom", "accept": accept} for accept in (True, False)]


def answer_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """An offer can always be taken or declined (WOC-RAN-01)."""
    return played_without(state, "pirates")


def answer_ransom(match: Match, seat: Seat, action: Action) -> None:
    """Taken, the goods change hands and the privateer goes home; declined, the other seat decides again (WOC-RAN-03, WOC-RAN-04)."""
    ransom, blockade = match.state["ransom"], match.state["blockade"]
    payer, offer = ransom["from"], ransom["offer"]
    match.emit("ransom_answered", seat=seat, accepted=action["accept"], note=action.get("note"))
    if not action["accept"]:
        if blockade is None:
            to_turn(match)
        else:
            pass_to(match, "blockade", [payer])
        return
    goods = {name: offer[name] for name in RESOURCES if name in offer}
    pay(match, payer, goods, "ransom")
    change_resources(match, seat, goods, "ransom")
    move_crystals(match, payer, seat, offer.get("crystals", 0), "ransom")
    match.emit("privateer_moved", seat=seat, to=HOME[seat])
    if blockade is not None:
        match.emit("blockade_ended", at=blockade["at"], result="ransom")
        end_action(match)
    to_turn(match)


_NOTE = optional(text(about="free text for the other seat; it binds nobody", longest=NOTE_LENGTH))
FIGHT_PIRATE = Deed({"at": LOCATION}, fight_pirate_offers, fight_pirate_refusal, fight_pirate)
HIRE_PIRATE = Deed({}, hire_offers, hire_refusal, hire)
MOVE_PRIVATEER = Deed({"to": LOCATION}, privateer_offers, privateer_refusal, move_privateer)
FIGHT_ARRIVAL = Deed({"at": LOCATION}, fight_arrival_offers, fight_arrival_refusal, fight_arrival)
FIGHT = Deed({"at": LOCATION}, fight_offers, fight_refusal, fight)
YIELD = Deed({}, yield_offers, yield_refusal, give_way)
OFFER_RANSOM = Deed({"at": LOCATION, "offer": counts(GOODS), "note": _NOTE}, ransom_offers, ransom_refusal, offer_ransom, ransom_ranges)
ANSWER_RANSOM = Deed({"accept": flag(), "note": _NOTE}, answer_offers, answer_refusal, answer_ransom)
