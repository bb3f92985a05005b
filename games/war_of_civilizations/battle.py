"""Battles from their start to their end, and what a fleet meets where it comes to (CONTRACT sections 5 and 6)."""

from __future__ import annotations

from typing import Any

from games.kernel import Match, Seat, State
from games.war_of_civilizations.data import (
    CAPACITY,
    CARDS,
    COUNTDOWN,
    EXPEDITION_CRYSTALS,
    EXPEDITIONS,
    FLAGSHIP,
    FLAGSHIP_CRYSTALS,
    HOME,
    HOME_DEFENCE,
    ISLE,
    OWNER_OF_HOME,
    PIRATE_DICE,
    PIRATE_FACES,
    PIRATE_STRENGTH,
    PRIVATEER_STRENGTH,
    RESOURCES,
    RING,
    SHIPS,
    STRENGTH,
    WIN_CRYSTALS,
    Card,
    Counts,
)
from games.war_of_civilizations.flow import change_resources, end_action, lose_isle, move_crystals, move_ships, pass_to, pay, to_turn
from games.war_of_civilizations.outcome import check_survivor
from games.war_of_civilizations.state import ability, can_pay, controls, foreign_privateer, occupants, room, ships_at
from games.war_of_civilizations.trails import reinforcements

PIRATE = "pirate"
_OTHER = {"attacker": "defender", "defender": "attacker"}

Battle = dict[str, Any]


# ---------------------------------------------------------------- where a fleet comes to


def land(match: Match, seat: Seat, met: bool) -> None:
    """What lies on the location that a fleet has come to, once no pirate is there: a token on an unexplored apex island, or an opponent,
    or else control. The Move is over if something was there, or no step is left (WOC-MOV-07, WOC-PIR-05, WOC-TRN-10, WOC-ABL-03)."""
    state = match.state
    mover = state["turn"]["mover"]
    at = mover["at"]
    island = state["apex"].get(at)
    if island is not None and not island["explored"]:
        explore(match, seat, at, mover["from"])
    else:
        foe = opponent(state, seat, at)
        if foe is not None:
            lone = foreign_privateer(state, seat, at) is not None
            start_battle(
                match,
                at=at,
                kind="privateer" if lone else "fleet",
                attacker=seat,
                defender=foe,
                privateer="defender" if lone else None,
                origin=mover["from"],
            )
            return
        take_control(match, seat, at)
        if not met and mover["steps_left"]:
            return
    end_action(match)
    to_turn(match)


def opponent(state: State, seat: Seat, at: str) -> Seat | None:
    """Whom a seat meets on a location: the owner of a privateer, the seat with ships there, or the seat whose home base it is, even an
    empty one (WOC-CTL-04, WOC-PRV-12, WOC-BAT-01, WOC-BAT-11, WOC-ELM-05)."""
    owner = foreign_privateer(state, seat, at)
    if owner is not None:
        return owner
    there = occupants(state, at, seat)
    if there:
        return there[0]
    lord = OWNER_OF_HOME.get(at)
    return lord if lord is not None and lord != seat and not state["players"][lord]["eliminated"] else None


def explore(match: Match, seat: Seat, apex: str, origin: str) -> None:
    """A fleet looks at the token, pays for it and gains its crystal if it can; else it turns back, and the tokens on all unexplored apex
    islands move one place clockwise (WOC-EXP-01, WOC-EXP-02, WOC-EXP-03, WOC-EXP-04, WOC-GEN-02)."""
    token = match.state["apex"][apex]["expedition"]
    match.emit("expedition_seen", seat=seat, apex=apex, expedition=token)
    if can_pay(match.state, seat, EXPEDITIONS[token]):
        pay(match, seat, EXPEDITIONS[token], "expedition")
        move_crystals(match, "expedition", seat, EXPEDITION_CRYSTALS, "expedition")
        match.emit("expedition_recovered", seat=seat, apex=apex, expedition=token)
        return
    move_ships(match, seat, apex, origin, dict(ships_at(match.state, seat, apex)), "turned_back")
    islands = match.state["apex"]
    hidden = [island for island in RING if not islands[island]["explored"]]
    if len(hidden) > 1:
        match.emit("expeditions_rotated", moves=dict(zip(hidden, [*hidden[1:], hidden[0]], strict=True)))


def take_control(match: Match, seat: Seat, at: str) -> None:
    """A fleet that nobody disputes controls the location, captures a crystal that another seat mounted there, and holds the Isle of Myth if
    its capital ship is there (WOC-MNT-04, WOC-ISL-01, WOC-ISL-02)."""
    state = match.state
    for owner in state["seats"]:
        if owner != seat and at in state["players"][owner]["mounted"] and controls(state, seat, at):
            match.emit("crystal_captured", seat=seat, owner=owner, at=at)
    if at == ISLE and state[ISLE]["holder"] != seat and FLAGSHIP in ships_at(state, seat, ISLE):
        match.emit("isle_taken", seat=seat, round=state["round"])


def start_countdown(match: Match, goal: str, ships: Counts) -> None:
    """The first capital ship that enters the Isle starts the countdown, even if the battle there is lost then (WOC-ISL-04, WOC-SET-05)."""
    if goal == ISLE and FLAGSHIP in ships and match.state["countdown"] is None:
        match.emit("countdown_set", value=COUNTDOWN)


# ---------------------------------------------------------------- the start of a battle


def start_battle(
    match: Match,
    at: str,
    kind: str,
    attacker: Seat,
    defender: str,
    privateer: str | None = None,
    origin: str | None = None,
    captive: Counts | None = None,
) -> None:
    """Two sides meet: who enters attacks, and over a block the privateer's owner (WOC-BAT-01, WOC-PIR-02, WOC-PRV-08, WOC-PRV-12)."""
    battle: Battle = {
        "at": at,
        "kind": kind,
        "attacker": attacker,
        "defender": defender,
        "privateer": privateer,
        "from": origin,
        "hostages": dict(captive or {}),
        "bids": {},
        "ability_used": [],
        "dice": None,
        "result": None,
        "retreat": None,
    }
    match.emit("battle_started", battle=battle)
    prepare(match)


def prepare(match: Match) -> None:
    """The defender may bring ships in as long as some can come and there is room; then both sides bid (WOC-BAT-02, WOC-BAT-03)."""
    state = match.state
    battle = state["battle"]
    defender, at = battle["defender"], battle["at"]
    if defender != PIRATE and battle["privateer"] != "defender" and room(state, at) and reinforcements(state, defender, at):
        pass_to(match, "reinforce", [defender])
    else:
        start_bids(match)


def unsealed(state: State) -> list[Seat]:
    """The seats that have still to bid, in seat order; a pirate does not bid (WOC-BAT-04, WOC-PIR-02)."""
    battle = state["battle"]
    return [seat for seat in state["seats"] if seat in (battle["attacker"], battle["defender"]) and seat not in battle["bids"]]


def start_bids(match: Match) -> None:
    """Both sides bid at once, in secret (WOC-BAT-04)."""
    pass_to(match, "bids", unsealed(match.state))


# ---------------------------------------------------------------- what each side counts


def played(battle: Battle, role: str) -> list[Card]:
    """The cards that a side has bid, as far as the other side's do not undo them (WOC-PWR-07, WOC-PWR-20)."""
    own, others = (battle["bids"].get(battle[side], {"cards": ()})["cards"] for side in (role, _OTHER[role]))
    return [] if any(CARDS[card].cancels for card in others) else [CARDS[card] for card in own]


def fighters(state: State, battle: Battle, role: str) -> Counts:
    """The ships of a side that fight: those on the location, but for hostages (WOC-PRV-09, WOC-CTL-08)."""
    there = ships_at(state, battle[role], battle["at"])
    captive = battle["hostages"] if role == "defender" else {}
    return {ship: there[ship] - captive.get(ship, 0) for ship in SHIPS if ship in there}


def strength(state: State, battle: Battle, role: str) -> int:
    """The strength of a side's fleet, of a pirate or of a privateer (WOC-BAT-07, WOC-PIR-02, WOC-PRV-08)."""
    if battle[role] == PIRATE:
        return PIRATE_STRENGTH
    if battle["privateer"] == role:
        return PRIVATEER_STRENGTH
    return sum([STRENGTH[ship] * number for ship, number in fighters(state, battle, role).items()])


def side(state: State, battle: Battle, role: str) -> dict[str, int]:
    """A side's total of fleet, ammunition and bonus: what the opponent's cards take never goes below 0, what its own add is that of Tiger's
    or Ape's ability, the home base and a privateer there besides (WOC-BAT-07, WOC-BAT-08, WOC-BAT-13, WOC-PIR-06, WOC-ABL-04, WOC-ABL-05,
    WOC-MAP-02, WOC-PRV-01, WOC-PWR-11, WOC-PWR-12, WOC-PWR-13, WOC-PWR-14, WOC-PWR-15, WOC-PWR-16, WOC-PWR-17, WOC-PWR-18, WOC-PWR-19)."""
    seat, at = battle[role], battle["at"]
    own, against = played(battle, role), played(battle, _OTHER[role])
    bid = sum(battle["dice"]) if seat == PIRATE else battle["bids"][seat]["ammo"]
    fleet = max(0, strength(state, battle, role) - sum([card.fleet for card in against]))
    ammo = max(0, bid + sum([min(bid, card.doubles) for card in own]) - sum([card.ammo for card in against]))
    bonus = sum([card.bonus[role] for card in own])
    if seat != PIRATE:
        bonus += ability(state, seat, "attack_bonus" if role == "attacker" else "defence_bonus")
        if role == "defender" and HOME[seat] == at:
            bonus += HOME_DEFENCE + (PRIVATEER_STRENGTH if state["players"][seat]["privateer"] == at else 0)
    return {"fleet": fleet, "ammo": ammo, "bonus": bonus, "total": fleet + ammo + bonus}


# ---------------------------------------------------------------- the end of a battle


def resolve(match: Match) -> None:
    """The bids are revealed and lost, whoever wins; the higher total wins, in a tie the attacker's (WOC-BAT-05, WOC-BAT-06, WOC-BAT-09,
    WOC-BAT-12)."""
    battle = match.state["battle"]
    if battle["defender"] == PIRATE:
        match.emit("dice_rolled", dice=[match.chance.roll(PIRATE_FACES) for _ in range(PIRATE_DICE)])
    bids = battle["bids"]
    match.emit("bids_revealed", bids={seat: bids[seat] for seat in (battle["attacker"], battle["defender"]) if seat in bids})
    for role in _OTHER:
        seat = battle[role]
        if seat in bids:
            change_resources(match, seat, {"ammo": -bids[seat]["ammo"]}, "bid")
            for card in bids[seat]["cards"]:
                match.emit("card_spent", seat=seat, card=card, reason="bid")
    battle = match.state["battle"]
    sides = {role: side(match.state, battle, role) for role in _OTHER}
    winner = "attacker" if sides["attacker"]["total"] >= sides["defender"]["total"] else "defender"
    match.emit("battle_resolved", winner=winner, sides=sides)
    _reward(match, winner)
    if _beaten(match, _OTHER[winner]):
        close(match)


def _reward(match: Match, winner: str) -> None:
    """Spare powder comes back, plunder is taken, the winner gains crystals as far as the supply lasts, and the loser loses its teleporter
    there (WOC-BAT-10, WOC-BAT-12, WOC-PWR-22, WOC-PWR-23, WOC-PIR-03, WOC-PRV-11, WOC-TEL-09, WOC-LIM-02, WOC-GEN-02)."""
    battle = match.state["battle"]
    at, victor, beaten = battle["at"], battle[winner], battle[_OTHER[winner]]
    for role in _OTHER:
        if any(card.returns for card in played(battle, role)):
            change_resources(match, battle[role], {"ammo": battle["bids"][battle[role]]["ammo"]}, "card")
    for card in played(battle, winner):
        taken = dict(card.plunder)
        if beaten != PIRATE:
            stock = match.state["players"][beaten]
            taken = {name: min(number, stock[name]) for name, number in taken.items()}
            pay(match, beaten, taken, card.id)
        change_resources(match, victor, taken, card.id)
    if victor != PIRATE:
        flagship = beaten != PIRATE and battle["privateer"] != _OTHER[winner] and FLAGSHIP in ships_at(match.state, beaten, at)
        prize = FLAGSHIP_CRYSTALS if flagship else WIN_CRYSTALS
        move_crystals(match, "supply", victor, min(prize, match.state["crystals"]["supply"]), "battle")
    if beaten != PIRATE and at in match.state["players"][beaten]["teleporters"]:
        match.emit("teleporter_lost", seat=beaten, at=at, reason="battle")


def _beaten(match: Match, role: str) -> bool:
    """What becomes of the beaten side: a pirate is gone for good, a privateer goes to the reserve, a seat beaten on its home base is
    eliminated, and a fleet retreats. Whether the battle can be closed now (WOC-PIR-03, WOC-PRV-11, WOC-ELM-01, WOC-RET-01)."""
    battle = match.state["battle"]
    seat, at = battle[role], battle["at"]
    if seat == PIRATE:
        match.emit("pirate_removed", apex=at, reason="defeated")
        return True
    if battle["privateer"] == role:
        match.emit("privateer_moved", seat=seat, to="reserve")
        return True
    if role == "defender" and at == HOME[seat]:
        eliminate(match, seat, battle["attacker"])
        return not check_survivor(match)
    return retreat(match, role)


def going_home(state: State, battle: Battle, role: str) -> int:
    """How many of the beaten ships go home: half, rounded down, or all with the card for it, as far as the home base has room; the capital
    ship always does, and hostages count (WOC-RET-01, WOC-RET-03, WOC-RET-04, WOC-PWR-21, WOC-MAP-13)."""
    seat = battle[role]
    fleet = ships_at(state, seat, battle["at"])
    number = sum(fleet.values())
    most = number if any(card.retreats for card in played(battle, role)) else number // 2
    return max(min(most, room(state, HOME[seat])), 1 if FLAGSHIP in fleet else 0)


def retreat(match: Match, role: str) -> bool:
    """The beaten fleet goes home and to the reserve; where there is more than one way the loser chooses, and False is told (WOC-RET-02)."""
    state = match.state
    battle = state["battle"]
    seat = battle[role]
    fleet = ships_at(state, seat, battle["at"])
    count = going_home(state, battle, role)
    home = {FLAGSHIP: 1} if FLAGSHIP in fleet else {}
    others = {ship: fleet[ship] for ship in SHIPS if ship in fleet and ship != FLAGSHIP}
    left = count - len(home)
    if left == sum(others.values()):
        home |= others
    elif left and len(others) > 1:
        match.emit("retreat_ordered", seat=seat, count=count)
        pass_to(match, "retreat", [seat])
        return False
    elif left:
        home |= dict.fromkeys(others, left)
    send_home(match, seat, home)
    return True


def send_home(match: Match, seat: Seat, ships: Counts) -> None:
    """Some of the beaten ships go to the home base, the others to the reserve (WOC-RET-01)."""
    at = match.state["battle"]["at"]
    if ships:
        move_ships(match, seat, at, HOME[seat], ships, "retreat")
    left = ships_at(match.state, seat, at)
    if left:
        match.emit("ships_removed", seat=seat, at=at, ships=dict(left), reason="defeat")


def eliminate(match: Match, seat: Seat, by: Seat) -> None:
    """A seat beaten on its own home base is out: the winner takes resources and crystals, mounted ones too, privateers that held its ships
    go home, and its pieces leave the board while its continent stays (WOC-ELM-01, WOC-ELM-02, WOC-ELM-03, WOC-ELM-04, WOC-ELM-05)."""
    player = match.state["players"][seat]
    goods = {name: player[name] for name in RESOURCES}
    pay(match, seat, goods, "spoils")
    change_resources(match, by, goods, "spoils")
    move_crystals(match, seat, by, player["crystals"], "spoils")
    for location in CAPACITY:
        if location in player["mounted"]:
            match.emit("crystal_captured", seat=by, owner=seat, at=location)
    for other in match.state["seats"]:
        where = match.state["players"][other]["privateer"]
        if other != seat and where in player["fleets"] and where != HOME[other]:
            match.emit("privateer_moved", seat=other, to=HOME[other])
    if match.state[ISLE]["holder"] == seat:
        match.emit("isle_lost", seat=seat)
    match.emit("seat_eliminated", seat=seat, by=by)


def close(match: Match) -> None:
    """The battle is over: the Isle is lost if its holder's capital ship had to leave, then the island of a beaten pirate is explored, or
    the winning fleet takes control, and the active action ends (WOC-BAT-12, WOC-PIR-05, WOC-TRN-10, WOC-ISL-03)."""
    battle = match.state["battle"]
    at, winner = battle["at"], battle["result"]["winner"]
    if at == ISLE:
        lose_isle(match, battle[_OTHER[winner]])
    match.emit("battle_ended", at=at)
    if battle["kind"] == PIRATE and winner == "attacker":
        land(match, battle["attacker"], met=True)
        return
    if battle[winner] != PIRATE and battle["privateer"] != winner:
        take_control(match, battle[winner], at)
    if match.state["blockade"] is not None:
        match.emit("blockade_ended", at=at, result="fought")
    end_action(match)
    to_turn(match)
