"""The consequences of a fleet's arrival and of a battle, up to its end (CONTRACT sections 5 and 6)."""

from __future__ import annotations

from games.kernel import Seat
from games.war_of_civilizations import data, flow
from games.war_of_civilizations.battle.record import cards_in_effect, going_home, on_side, prize, total, waiting
from games.war_of_civilizations.document import Match, Side, State
from games.war_of_civilizations.outcome import check_survivor
from games.war_of_civilizations.state.control import reinforcements
from games.war_of_civilizations.state.fleets import foreign_privateer, opponent, room, ships_at
from games.war_of_civilizations.state.records import battle_of, can_pay, goods, isle_of, option, turn_of

# ---------------------------------------------------------------- the arrival of a fleet


def land(match: Match, seat: Seat, met: bool) -> None:
    """Carry out what a fleet finds on its location once no pirate is there: a token on an unexplored apex island, an opponent, or control.
    The Move is over if the fleet has `met` something or has no step left (WOC-MOV-07, WOC-PIR-05, WOC-TRN-10, WOC-ABL-03)."""
    state = match.state
    mover = turn_of(state)["mover"]
    assert mover is not None, "a fleet has made a step"
    at = mover["at"]
    if at in state["apex"] and not state["apex"][at]["explored"]:
        explore(match, seat, at, mover["from"])
    else:
        foe = opponent(state, seat, at)
        if foe is not None:
            lone = foreign_privateer(state, seat, at) is not None
            kind, privateer = (data.PRIVATEER, data.DEFENDER) if lone else (data.FLEET, None)
            start_battle(match, at, kind, attacker=seat, defender=foe, privateer=privateer, origin=mover["from"])
            return
        flow.take_control(match, seat, at)
        if not met and mover["steps_left"]:
            return
    flow.end_action(match)
    flow.to_turn(match)


def explore(match: Match, seat: Seat, apex: str, origin: str) -> None:
    """Show the token to the seat, which pays for it and gains its crystal if it can. Otherwise the fleet turns back, and the tokens on all
    unexplored apex islands move one place clockwise (WOC-EXP-01, WOC-EXP-02, WOC-EXP-03, WOC-EXP-04, WOC-GEN-02)."""
    token = match.state["apex"][apex]["expedition"]
    assert token is not None, "an unexplored island has a token"
    match.emit("expedition_seen", seat=seat, apex=apex, expedition=token)
    if can_pay(match.state, seat, data.EXPEDITIONS[token]):
        flow.pay(match, seat, data.EXPEDITIONS[token], "expedition")
        flow.move_crystals(match, data.EXPEDITION, seat, data.EXPEDITION_CRYSTALS, "expedition")
        match.emit("expedition_recovered", seat=seat, apex=apex, expedition=token)
        return
    flow.move_ships(match, seat, apex, origin, dict(ships_at(match.state, seat, apex)), "turned_back")
    islands = match.state["apex"]
    hidden = [island for island in data.RING if not islands[island]["explored"]]
    if len(hidden) > 1:
        match.emit("expeditions_rotated", moves=dict(zip(hidden, [*hidden[1:], hidden[0]], strict=True)))


# ---------------------------------------------------------------- the start of a battle


def start_battle(
    match: Match,
    at: str,
    kind: str,
    attacker: Seat,
    defender: str,
    privateer: str | None = None,
    origin: str | None = None,
    captive: data.Counts | None = None,
) -> None:
    """Begin a battle. The seat that enters attacks; over a blockade the privateer's owner attacks (WOC-BAT-01, WOC-PIR-02, WOC-PRV-08,
    WOC-PRV-12)."""
    match.emit(
        "battle_started",
        at=at,
        kind=kind,
        attacker=attacker,
        defender=defender,
        privateer=privateer,
        **{"from": origin},
        hostages=dict(captive or {}),
    )
    prepare(match)


def prepare(match: Match) -> None:
    """Let the defender bring ships in as long as some can come and there is room; then let both sides bid (WOC-BAT-02, WOC-BAT-03)."""
    state = match.state
    battle = battle_of(state)
    defender, at = battle["defender"], battle["at"]
    if defender != data.PIRATE and battle["privateer"] != data.DEFENDER and room(state, at) and reinforcements(state, defender, at):
        flow.pass_to(match, data.REINFORCE_PHASE, [defender])
    else:
        start_bids(match)


def start_bids(match: Match) -> None:
    """Let both sides bid at once, in secret (WOC-BAT-04)."""
    flow.pass_to(match, data.BIDS_PHASE, waiting(match.state))


# ---------------------------------------------------------------- the result


def resolve(match: Match) -> None:
    """Reveal the bids, which are lost in any case. The higher total wins; in a tie the attacker wins (WOC-BAT-05, WOC-BAT-06, WOC-BAT-09,
    WOC-BAT-12)."""
    battle = battle_of(match.state)
    if battle["defender"] == data.PIRATE:
        match.emit("dice_rolled", dice=[match.chance.roll(data.PIRATE_FACES) for _ in range(data.PIRATE_DICE)])
    bids = battle["bids"]
    match.emit("bids_revealed", bids={seat: bids[seat] for seat in (battle["attacker"], battle["defender"]) if seat in bids})
    for role in data.OTHER_SIDE:
        seat = on_side(battle, role)
        if seat in bids:
            flow.pay(match, seat, {data.POWDER: bids[seat]["ammo"]}, "bid")
            for card in bids[seat]["cards"]:
                match.emit("card_spent", seat=seat, card=card, reason="bid")
    sides: dict[str, Side] = {role: total(match.state, battle_of(match.state), role) for role in data.OTHER_SIDE}
    winner = data.ATTACKER if sides[data.ATTACKER]["total"] >= sides[data.DEFENDER]["total"] else data.DEFENDER
    match.emit("battle_resolved", winner=winner, sides=sides)
    reward(match, winner)
    if beat(match, data.OTHER_SIDE[winner]):
        close(match)


def reward(match: Match, winner: str) -> None:
    """Return spare powder, take plunder, give the winner crystals as far as the supply lasts, and take the loser's teleporter there
    (WOC-BAT-10, WOC-BAT-12, WOC-PWR-22, WOC-PWR-23, WOC-PIR-03, WOC-PRV-11, WOC-TEL-09, WOC-LIM-02, WOC-GEN-02)."""
    battle = battle_of(match.state)
    at, victor, beaten = battle["at"], on_side(battle, winner), on_side(battle, data.OTHER_SIDE[winner])
    cards = {role: cards_in_effect(battle, role) for role in data.OTHER_SIDE}
    for role, played in cards.items():
        if any([card.returns for card in played]):  # noqa: C419 - a list is faster here
            seat = on_side(battle, role)
            flow.change_resources(match, seat, {data.POWDER: battle["bids"][seat]["ammo"]}, "card")
    for card in cards[winner]:
        taken = dict(card.plunder)
        if beaten != data.PIRATE:
            stock = goods(match.state["players"][beaten])
            taken = {name: min(number, stock[name]) for name, number in taken.items()}
            flow.pay(match, beaten, taken, card.id)
        flow.change_resources(match, victor, taken, card.id)
    give_prize(match, winner)
    tokens = [] if beaten == data.PIRATE else match.state["players"][beaten]["teleporters"]
    for token in list(tokens) if option(match.state, "all_tokens_lost") else [at] if at in tokens else []:
        flow.lose_teleporter(match, beaten, token, "battle")


def give_prize(match: Match, winner: str) -> None:
    """Give the winner crystals for the beaten side, as far as the supply lasts. A pirate gains nothing (WOC-BAT-10, WOC-LIM-02)."""
    battle = battle_of(match.state)
    loser = data.OTHER_SIDE[winner]
    victor, beaten = on_side(battle, winner), on_side(battle, loser)
    if victor != data.PIRATE:
        fought = {} if beaten == data.PIRATE or battle["privateer"] == loser else ships_at(match.state, beaten, battle["at"])
        flow.move_crystals(match, data.SUPPLY, victor, min(prize(fought), match.state["crystals"][data.SUPPLY]), "battle")


def beat(match: Match, role: str) -> bool:
    """Remove the beaten side: a pirate is gone for good, a privateer goes to the reserve, a seat beaten on its home base is eliminated, and
    a fleet retreats. Return True if the battle can be closed now (WOC-PIR-03, WOC-PRV-11, WOC-ELM-01, WOC-RET-01)."""
    battle = battle_of(match.state)
    seat, at = on_side(battle, role), battle["at"]
    if seat == data.PIRATE:
        match.emit("pirate_removed", apex=at, reason="defeated")
        return True
    if battle["privateer"] == role:
        match.emit("privateer_moved", seat=seat, to=data.RESERVE)
        return True
    if role == data.DEFENDER and at == data.HOME[seat]:
        eliminate(match, seat, battle["attacker"])
        return not check_survivor(match)
    return retreat(match, role)


def retreat(match: Match, role: str) -> bool:
    """Send the beaten fleet home and to the reserve. Where there is more than one way the loser chooses, and the result is False
    (WOC-RET-02)."""
    state = match.state
    battle = battle_of(state)
    seat = on_side(battle, role)
    fleet = ships_at(state, seat, battle["at"])
    count = going_home(state, battle, role)
    home = {data.FLAGSHIP: 1} if data.FLAGSHIP in fleet else {}
    others = {ship: fleet[ship] for ship in data.SHIPS if ship in fleet and ship != data.FLAGSHIP}
    left = count - len(home)
    if left == sum(others.values()):
        home |= others
    elif left and len(others) > 1:
        match.emit("retreat_ordered", seat=seat, count=count)
        flow.pass_to(match, data.RETREAT_PHASE, [seat])
        return False
    elif left:
        home |= dict.fromkeys(others, left)
    send_home(match, seat, home)
    return True


def strongest(state: State, seat: Seat) -> data.Counts:
    """Return the strongest of the beaten ships, as many as go home, the capital ship among them (WOC-SKP-06)."""
    battle = battle_of(state)
    assert battle["retreat"] is not None, "a retreat was ordered"
    fleet, left = ships_at(state, seat, battle["at"]), battle["retreat"]["count"]
    saved: data.Counts = {}
    for ship in reversed(data.WEAKEST_FIRST):
        number = min(fleet.get(ship, 0), left)
        left -= number
        if number:
            saved[ship] = number
    return saved


def send_home(match: Match, seat: Seat, ships: data.Counts) -> None:
    """Send some of the beaten ships to the home base, the others to the reserve (WOC-RET-01)."""
    at = battle_of(match.state)["at"]
    if ships:
        flow.move_ships(match, seat, at, data.HOME[seat], ships, "retreat")
    left = ships_at(match.state, seat, at)
    if left:
        match.emit("ships_removed", seat=seat, at=at, ships=dict(left), reason="defeat")


def eliminate(match: Match, seat: Seat, by: Seat) -> None:
    """Take a seat out that was beaten on its own home base. The winner takes resources and crystals, mounted ones too. Privateers that kept
    its ships go home. Its pieces leave the board while its continent stays (WOC-ELM-01, WOC-ELM-02, WOC-ELM-03, WOC-ELM-04, WOC-ELM-05)."""
    take_spoils(match, seat, by)
    let_go(match, seat)
    match.emit("seat_eliminated", seat=seat, by=by)


def take_spoils(match: Match, seat: Seat, by: Seat) -> None:
    """Give everything that a seat beaten on its home base has to the winner: resources, and crystals, mounted ones too (WOC-ELM-02)."""
    player = match.state["players"][seat]
    stock = {name: goods(player)[name] for name in data.RESOURCES}
    flow.pay(match, seat, stock, "spoils")
    flow.change_resources(match, by, stock, "spoils")
    flow.move_crystals(match, seat, by, player["crystals"], "spoils")
    for location in data.LOCATIONS:
        if location in player["mounted"]:
            match.emit("crystal_captured", seat=by, owner=seat, at=location)


def concede(match: Match, seat: Seat) -> None:
    """Let a seat that leaves lose its battle. The other side has its crystals, and its spoils if the battle is about the seat's home base.
    If the seat has won already, the beaten fleet retreats with its strongest ships. Bids stay secret (WOC-LEA-03)."""
    battle = battle_of(match.state)
    order, at = battle["retreat"], battle["at"]
    if battle["result"] is None:
        role = data.ATTACKER if battle["attacker"] == seat else data.DEFENDER
        give_prize(match, data.OTHER_SIDE[role])
        if role == data.DEFENDER and battle["privateer"] != role and at == data.HOME[seat]:
            take_spoils(match, seat, battle["attacker"])
    elif order is not None and order["seat"] != seat:
        send_home(match, order["seat"], strongest(match.state, order["seat"]))
        if at == data.ISLE:
            flow.lose_isle(match, order["seat"])


def let_go(match: Match, seat: Seat) -> None:
    """Prepare for a seat's end: privateers that keep its ships go home, and it holds the Isle no more (WOC-ELM-04, WOC-LEA-02)."""
    fleets = match.state["players"][seat]["fleets"]
    for other in match.state["seats"]:
        where = match.state["players"][other]["privateer"]
        if other != seat and where in fleets and where != data.HOME[other]:
            match.emit("privateer_moved", seat=other, to=data.HOME[other])
    if isle_of(match.state)["holder"] == seat:
        match.emit("isle_lost", seat=seat)


def close(match: Match) -> None:
    """End the battle. The Isle is lost if its holder's capital ship had to leave. Then the island of a beaten pirate is explored, or the
    winning fleet takes control, and the active action ends (WOC-BAT-12, WOC-PIR-05, WOC-TRN-10, WOC-ISL-03)."""
    battle = battle_of(match.state)
    result = battle["result"]
    assert result is not None, "a side has won"
    at, winner = battle["at"], result["winner"]
    victor = on_side(battle, winner)
    if at == data.ISLE:
        flow.lose_isle(match, on_side(battle, data.OTHER_SIDE[winner]))
    match.emit("battle_ended", at=at)
    if battle["kind"] == data.PIRATE and winner == data.ATTACKER:
        land(match, victor, met=True)
        return
    if victor != data.PIRATE and battle["privateer"] != winner:
        flow.take_control(match, victor, at)
    if match.state["blockade"] is not None:
        match.emit("blockade_ended", at=at, result="fought")
    flow.end_action(match)
    flow.to_turn(match)
