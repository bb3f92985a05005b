"""Deeds of Rise of Pirates: meeting a pirate, sending a privateer, and its victim's answer: fight, ransom or yield."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from games.choices import Outside, Ranges
from games.documents import Own
from games.kernel import Action, Deed, Event, Fact, Refusal, Seat, no, only
from games.schema import Fields, counts, flag, ids, optional, text
from games.sentences import say
from games.war_of_civilizations import data
from games.war_of_civilizations.battle.resolve import land, start_battle
from games.war_of_civilizations.checks import cannot_pay, no_step, played_without
from games.war_of_civilizations.document import Blockade, Match, Mover, State
from games.war_of_civilizations.flow import change_resources, close_bonus, end_action, move_crystals, pass_to, pay, to_turn
from games.war_of_civilizations.state.fleets import foreign_privateer, hostages, occupants, ships_at
from games.war_of_civilizations.state.records import blockade_of, goods, option, own_player, own_turn, so_many, turn_of
from games.war_of_civilizations.state.shape import BLOCKADE_START, GOODS, LOCATION, NOTE, RANSOM_OFFERED, SEAT

_GOODS = (*data.RESOURCES, "crystals")
LEFT = "left"

# ---------------------------------------------------------------- meeting a pirate


def met(state: State) -> Mover:
    """Return the last step of the Move. It is only called where a step was made."""
    mover = turn_of(state)["mover"]
    assert mover is not None, "a fleet has made a step"
    return mover


def fight_pirate_offers(state: State, seat: Seat) -> list[Action]:
    """Return the fight with the pirate that was met (WOC-PIR-01)."""
    return [{"type": "fight", "at": met(state)["at"]}]


def fight_pirate_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why a pirate cannot be fought, or None: another one was met (WOC-PIR-01)."""
    return played_without(state, "pirates") or _elsewhere(action["at"], met(state)["at"])


def _elsewhere(at: str, meant: str) -> Refusal | None:
    return None if at == meant else no("no_privateer", "WOC-PIR-01", reason=say("it is met in {at}", at=meant))


def fight_pirate(match: Match, seat: Seat, action: Action) -> None:
    """Attack the pirate (WOC-PIR-01, WOC-PIR-02)."""
    start_battle(match, action["at"], data.PIRATE, seat, data.PIRATE, origin=met(match.state)["from"])


def hire_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why the pirate cannot be hired, or None. A seat has only one privateer, also counting the reserve, and pays for hiring
    (WOC-PIR-04)."""
    refusal = played_without(state, "pirates")
    if refusal is not None:
        return refusal
    if state["players"][seat]["privateer"] is not None:
        return no("privateer_limit", "WOC-PIR-04")
    return cannot_pay(state, seat, data.PRIVATEER_PRICE, "WOC-PIR-04")


def hire(match: Match, seat: Seat, action: Action) -> None:
    """Make the pirate the seat's privateer on its home base, and explore the island (WOC-PIR-04, WOC-PIR-05)."""
    pay(match, seat, data.PRIVATEER_PRICE, "hire")
    match.emit("pirate_removed", apex=met(match.state)["at"], reason="hired")
    match.emit("privateer_moved", seat=seat, to=data.HOME[seat])
    land(match, seat, met=True)


# ---------------------------------------------------------------- sending a privateer


def privateer_offers(state: State, seat: Seat) -> list[Action]:
    """Return an action from home to every dockable island with an opponent's ships, or from an island to home (WOC-PRV-02, WOC-PRV-04)."""
    where, turn = state["players"][seat]["privateer"], state["turn"]
    if (
        turn is None
        or where in (None, data.RESERVE)
        or turn["action"] != data.MOVING
        or turn["privateer_used"]
        or turn["mover"]
        or not option(state, "pirates")
    ):
        return []
    if where != data.HOME[seat]:
        return [{"type": "move_privateer", "to": data.HOME[seat]}]
    players = state["players"]
    goals = {location for other in state["seats"] if other != seat for location in players[other]["fleets"] if location in data.DOCKABLE}
    return [{"type": "move_privateer", "to": location} for location in sorted(goals, key=data.PLACE.__getitem__)]


def privateer_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why the privateer cannot go there, or None (WOC-PRV-02, WOC-PRV-03, WOC-PRV-04)."""
    goal, turn, where = action["to"], turn_of(state), state["players"][seat]["privateer"]
    refusal = played_without(state, "pirates") or no_step(state, data.MOVING) or _stepped(state)
    if refusal is not None:
        return refusal
    if where is None or where == data.RESERVE:
        return no("no_privateer", "WOC-PRV-02", reason=say("you have none on the board"))
    if turn["privateer_used"]:
        return no("already_done", "WOC-PRV-04", what=say("Moving a privateer in a turn"))
    if where != data.HOME[seat]:
        return None if goal == data.HOME[seat] else no("not_connected", "WOC-PRV-04", at=where, to=goal)
    if goal not in data.DOCKABLE or goal in state["covered"]:
        return no("not_dockable", "WOC-PRV-02", at=goal)
    if option(state, "privateer_by_token") and goal not in state["players"][seat]["teleporters"]:
        return no("not_adjacent", "WOC-PRV-02", at=where, to=goal)
    others = occupants(state, goal, seat)
    if not others:
        return no("no_target", "WOC-PRV-02", at=goal)
    if foreign_privateer(state, seat, goal) is not None:
        return no("already_there", "WOC-PRV-03", what=say("Another privateer"), at=goal)
    if any(data.FLAGSHIP in ships_at(state, other, goal) for other in others):
        return no("capital_there", "WOC-PRV-03", at=goal)
    return None


def _stepped(state: State) -> Refusal | None:
    if turn_of(state)["mover"] is None:
        return None
    return no("no_steps", "WOC-PRV-10", reason=say("ships have made a step in this action already"))


def move_privateer(match: Match, seat: Seat, action: Action) -> None:
    """Send a privateer home, or to block an island, where the opponent must answer (WOC-PRV-01, WOC-PRV-02, WOC-PRV-04, WOC-PRV-05,
    WOC-PRV-06, WOC-RAN-04, WOC-TRN-10)."""
    goal = action["to"]
    match.emit("privateer_sent", seat=seat, to=goal)
    if goal == data.HOME[seat]:
        end_action(match)
        to_turn(match)
        return
    occupant = occupants(match.state, goal, seat)[0]
    match.emit("blockade_started", at=goal, owner=seat, occupant=occupant)
    pass_to(match, data.BLOCKADE_PHASE, [occupant])


# ---------------------------------------------------------------- fighting a privateer


def fight_arrival_offers(state: State, seat: Seat) -> list[Action]:
    """Return the fight with the privateer that has just arrived (WOC-PRV-06)."""
    return [{"type": "fight", "at": blockade_of(state)["at"]}]


def fight_arrival_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why a privateer cannot be fought, or None: another one has just arrived (WOC-PRV-06)."""
    return played_without(state, "pirates") or _elsewhere(action["at"], blockade_of(state)["at"])


def fight_arrival(match: Match, seat: Seat, action: Action) -> None:
    """Fight the privateer with the ships on the island. The privateer attacks (WOC-PRV-06, WOC-PRV-08, WOC-PRV-09)."""
    start_battle(match, action["at"], data.PRIVATEER, blockade_of(match.state)["owner"], seat, privateer=data.ATTACKER)


def fight_offers(state: State, seat: Seat) -> list[Action]:
    """Return a fight with every privateer that keeps hostages of the seat, as the first step of a Move (WOC-PRV-10)."""
    turn = state["turn"]
    if turn is None or turn["action"] != data.MOVING or turn["mover"] is not None or not option(state, "pirates"):
        return []
    return [{"type": "fight", "at": location} for location in hostages(state, seat)]


def fight_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why a privateer cannot be fought, or None. It can in a Move, before any step, where it keeps ships of the seat
    (WOC-PRV-10)."""
    at = action["at"]
    refusal = played_without(state, "pirates") or no_step(state, data.MOVING)
    return refusal or no_hostages(state, seat, at) or _stepped(state)


def no_hostages(state: State, seat: Seat, at: str) -> Refusal | None:
    """Return why a location has no hostages of a seat, or None: no other seat's privateer is there, or no ship of the seat (WOC-PRV-06)."""
    if ships_at(state, seat, at) and foreign_privateer(state, seat, at) is not None:
        return None
    return no("no_privateer", "WOC-PRV-06", reason=say("none keeps ships of yours in {at}", at=at))


def fight(match: Match, seat: Seat, action: Action) -> None:
    """Fight the privateer with ships that are brought in. The privateer attacks, and hostages do not fight (WOC-PRV-08,
    WOC-PRV-09, WOC-PRV-10)."""
    at = action["at"]
    owner = foreign_privateer(match.state, seat, at)
    assert owner is not None, "a fight is only begun with a privateer"
    close_bonus(match, seat)
    start_battle(match, at, data.PRIVATEER, owner, seat, privateer=data.ATTACKER, captive=ships_at(match.state, seat, at))


def yield_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return None: an opponent may always yield (WOC-PRV-06)."""
    return played_without(state, "pirates")


def give_way(match: Match, seat: Seat, action: Action) -> None:
    """Leave the ships there as hostages (WOC-PRV-06, WOC-PRV-07)."""
    match.emit("blockade_ended", at=blockade_of(match.state)["at"], result="hostages")
    end_action(match)
    to_turn(match)


# ---------------------------------------------------------------- ransom


def wealth(state: State, seat: Seat) -> data.Counts:
    """Return what a seat can offer (WOC-RAN-02)."""
    stock = goods(state["players"][seat])
    return {name: stock[name] for name in _GOODS if stock[name]}


def ransom_offers(state: State, seat: Seat) -> list[Action]:
    """Return an offer for each island where ships of the seat are kept, as long as it may still offer (WOC-RAN-01, WOC-RAN-04)."""
    if not option(state, "pirates") or state["offers"] >= data.OFFERS_A_MOMENT:
        return []
    blockade = state["blockade"]
    places = hostages(state, seat) if blockade is None else [blockade["at"]]
    if not places:
        return []
    bare: dict[str, Any] = {} if wealth(state, seat) else {"offer": {}}
    return [{"type": "offer_ransom", "at": location, **bare} for location in places]


def ransom_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why no ransom can be offered, or None (WOC-RAN-01, WOC-RAN-02, WOC-RAN-04)."""
    at, blockade = action["at"], state["blockade"]
    refusal = played_without(state, "pirates")
    refusal = refusal or (no_hostages(state, seat, at) if blockade is None else _elsewhere(at, blockade["at"]))
    if refusal is not None:
        return refusal
    if state["offers"] >= data.OFFERS_A_MOMENT:
        return no("offer_limit", "WOC-RAN-04", limit=data.OFFERS_A_MOMENT)
    return None if wealth(state, seat) else cannot_pay(state, seat, action["offer"], "WOC-RAN-02")


def ransom_ranges(state: State, seat: Seat, action: Action) -> Ranges:
    """Return what may be offered: anything that the seat has, or nothing. A seat without goods has no counts to choose (WOC-RAN-02)."""
    stock = wealth(state, seat)
    if not stock:
        return {}
    return {"offer": {"each": {name: [0, number] for name, number in stock.items()}, "total": [0, sum(stock.values())]}}


def ransom_outside(state: State, seat: Seat, action: Action, found: Outside) -> Refusal:
    """Return the refusal for more of anything than the seat has (WOC-RAN-02)."""
    return no("cannot_pay", "WOC-RAN-02", price=so_many(found.given, found.key), stock=so_many(found.high, found.key))


def offer_ransom(match: Match, seat: Seat, action: Action) -> None:
    """Ask the privateer's owner. A note binds nobody (WOC-RAN-01, WOC-RAN-02)."""
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
    )
    pass_to(match, data.RANSOM_PHASE, [owner])


def answer_offers(state: State, seat: Seat) -> list[Action]:
    """Return both answers: to accept and to decline (WOC-RAN-01)."""
    return [{"type": "answer_ransom", "accept": accept} for accept in (True, False)]


def answer_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return None: an offer can always be accepted or declined (WOC-RAN-01)."""
    return played_without(state, "pirates")


def answer_ransom(match: Match, seat: Seat, action: Action) -> None:
    """Answer an offer. If it is accepted the goods change hands and the privateer goes home. Otherwise the other seat decides again
    (WOC-RAN-03, WOC-RAN-04)."""
    ransom, blockade = match.state["ransom"], match.state["blockade"]
    assert ransom is not None, "an offer waits for an answer"
    payer, offer = ransom["from"], ransom["offer"]
    match.emit("ransom_answered", seat=seat, accepted=action["accept"], note=action.get("note"))
    if not action["accept"]:
        if blockade is None:
            to_turn(match)
        else:
            pass_to(match, data.BLOCKADE_PHASE, [payer])
        return
    given = {name: offer[name] for name in data.RESOURCES if name in offer}
    pay(match, payer, given, "ransom")
    change_resources(match, seat, given, "ransom")
    move_crystals(match, payer, seat, offer.get("crystals", 0), "ransom")
    match.emit("privateer_moved", seat=seat, to=data.HOME[seat])
    if blockade is not None:
        match.emit("blockade_ended", at=blockade["at"], result="ransom")
        end_action(match)
    to_turn(match)


# ---------------------------------------------------------------- facts


def privateer_sent(state: State, event: Event, own: Own) -> None:
    """A seat has moved its privateer, once in this turn."""
    own_player(state, event["seat"], own)["privateer"] = event["to"]
    turn = own_turn(state, own)
    turn["privateer_used"] = True
    turn["bonus_open"] = False


def blockade_started(state: State, event: Event, own: Own) -> None:
    """A privateer that has arrived waits for an answer. The offers that its owner has made in the turn are kept with the blockade."""
    blockade: Blockade = {"at": event["at"], "owner": event["owner"], "occupant": event["occupant"]}
    if state["offers"]:
        blockade["offers"] = state["offers"]
        state["offers"] = 0
    state["blockade"] = blockade


def blockade_ended(state: State, event: Event, own: Own) -> None:
    """The answer is given. The offers that the owner has made in its turn count again (WOC-RAN-04)."""
    blockade = state["blockade"]
    state["offers"] = blockade.get("offers", 0) if blockade is not None else 0
    state["blockade"] = None


def ransom_offered(state: State, event: Event, own: Own) -> None:
    """A seat has made one more offer."""
    state["ransom"] = {
        "from": event["from"],
        "to": event["to"],
        "at": event["at"],
        "offer": dict(event["offer"]),
        "note": event["note"],
    }
    state["offers"] += 1


def ransom_lapsed(state: State, event: Event, own: Own) -> None:
    """There is nobody any more to make the offer, or to answer it."""
    state["ransom"] = None


def ransom_answered(state: State, event: Event, own: Own) -> None:
    """The offer is accepted or not."""
    state["ransom"] = None


FACTS: Mapping[str, tuple[Fact, Fields]] = {
    "privateer_sent": (privateer_sent, {"seat": SEAT, "to": LOCATION}),
    "blockade_started": (blockade_started, BLOCKADE_START),
    "blockade_ended": (
        blockade_ended,
        {"at": LOCATION, "result": ids(["hostages", "ransom", "fought", LEFT], "the answer, or that one of the two seats has left")},
    ),
    "ransom_offered": (ransom_offered, RANSOM_OFFERED),
    "ransom_lapsed": (ransom_lapsed, {"at": LOCATION}),
    "ransom_answered": (ransom_answered, {"seat": SEAT, "accepted": flag("whether the offer was accepted"), "note": NOTE}),
}

# ---------------------------------------------------------------- deeds

_NOTE = optional(text(about="free text for the other seat; it binds nobody", longest=data.NOTE_LENGTH))
FIGHT_PIRATE = Deed({"at": LOCATION}, fight_pirate_offers, fight_pirate_refusal, fight_pirate)
HIRE_PIRATE = Deed({}, only("hire_pirate"), hire_refusal, hire)
MOVE_PRIVATEER = Deed({"to": LOCATION}, privateer_offers, privateer_refusal, move_privateer)
FIGHT_ARRIVAL = Deed({"at": LOCATION}, fight_arrival_offers, fight_arrival_refusal, fight_arrival)
FIGHT = Deed({"at": LOCATION}, fight_offers, fight_refusal, fight)
YIELD = Deed({}, only("yield"), yield_refusal, give_way)
OFFER_RANSOM = Deed(
    {"at": LOCATION, "offer": counts(GOODS, about="what the seat would pay, by kind"), "note": _NOTE},
    ransom_offers,
    ransom_refusal,
    offer_ransom,
    ransom_ranges,
    ransom_outside,
)
ANSWER_RANSOM = Deed({"accept": flag("whether to take the offer"), "note": _NOTE}, answer_offers, answer_refusal, answer_ransom)
