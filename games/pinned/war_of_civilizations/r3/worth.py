"""The worth of a position for a seat, for search. The weights are in data.json."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

from games.kernel import Seat, total
from games.pinned.war_of_civilizations.r3.battle.record import on_side, prize, strength, support
from games.pinned.war_of_civilizations.r3.data import (
    ATTACKER,
    BATTLE_CARDS,
    BESIDE,
    BUYING,
    CARDS,
    COLLECTING,
    COLLECTOR,
    DEFENDER,
    FLAGSHIP,
    HOME,
    ISLE,
    MATERIALS,
    MONEY,
    MOVING,
    NORTH,
    OTHER_SIDE,
    PIRATE,
    PIRATE_DICE,
    PIRATE_FACES,
    PIRATE_STRENGTH,
    PRICE,
    PRIVATEER_STRENGTH,
    REDISTRIBUTING,
    RESOURCES,
    RING,
    STRENGTH,
    SUPPLY,
    WEIGHTS,
    YIELDS,
    Counts,
)
from games.pinned.war_of_civilizations.r3.document import Battle, Player, Ransom, State
from games.pinned.war_of_civilizations.r3.state import (
    collected_from,
    crystals_of,
    distances,
    fills_continent,
    fleet_strength,
    foreign_privateer,
    goods,
    harvest,
    isle_of,
    needs_flagship,
    neighbours,
    occupied,
    opponent,
    reserve,
    ships_at,
    trails,
    turn_of,
    upkeep,
)


def _away() -> dict[str, int]:
    """Return the steps from each location to the Isle of Myth. Every continent is put next to all apex islands, which are one step away
    from it."""
    near = {location: list(others) for location, others in BESIDE.items()}
    for north in NORTH.values():
        for apex in RING:
            near[north].append(apex)
            near[apex].append(north)
    return distances(near)


_AWAY = _away()
_FAR = max(_AWAY.values())
_LAYERS = tuple([(layer.each, layer.up_to) for layer in WEIGHTS.stock])
_FLAGSHIP_AT: dict[str, float] = {location: WEIGHTS.towards * (_FAR - away) for location, away in _AWAY.items()}
_ESCORT_AT: dict[str, float] = {location: WEIGHTS.strength + WEIGHTS.escort * (_FAR - away) for location, away in _AWAY.items()}
_COLLECTOR = STRENGTH[COLLECTOR] * WEIGHTS.strength + WEIGHTS.collector
_FRUIT: dict[str, float] = {location: WEIGHTS.income * sum(row.values()) for location, row in YIELDS.items()}
_BONUS: dict[str, dict[str, float]] = {
    card: {
        side: CARDS[card].bonus[side]
        + WEIGHTS.card_taken * (CARDS[card].fleet + CARDS[card].ammo)
        + WEIGHTS.card_doubled * CARDS[card].doubles
        for side in OTHER_SIDE
    }
    for card in BATTLE_CARDS
}


def worth(state: State, seat: Seat) -> float:
    """Return about so many crystals, times a weight: what the seat has and holds, and what its turn and its battle promise, less the best
    of the others."""
    outcome = state["outcome"]
    if outcome is not None:
        return (WEIGHTS.won if seat in outcome["winners"] else -WEIGHTS.won) + float(outcome["scores"].get(seat, 0))
    players = state["players"]
    if players[seat]["eliminated"]:
        return -WEIGHTS.won / 2
    near = neighbours(state)
    best = 0.0
    for other in state["seats"]:
        if other != seat and not players[other]["eliminated"]:
            best = max(best, _position(state, other, near))
    total = _position(state, seat, near) - WEIGHTS.rival * best
    battle = state["battle"]
    if battle is not None and battle["result"] is None and seat in (battle["attacker"], battle["defender"]):
        total += _battle(state, seat, battle)
    elif state["active"] == seat:
        total += _turn(state, seat)
    ransom = state["ransom"]
    if ransom is not None and ransom["from"] == seat:
        total -= _offered(ransom)
    return total


def _offered(ransom: Ransom) -> float:
    """Return the expected price of an offer."""
    offer = ransom["offer"]
    return WEIGHTS.offered * (sum(offer.values()) * WEIGHTS.stock.few.each + offer.get("crystals", 0) * WEIGHTS.crystal)


def _stock(stock: Mapping[str, int]) -> float:
    """Return the worth of resources. The first of each kind are worth most."""
    return _layered(tuple([stock[name] for name in RESOURCES]))


@lru_cache(maxsize=4096)
def _layered(numbers: tuple[int, ...]) -> float:
    value = 0.0
    for number in numbers:
        least = 0
        for each, up_to in _LAYERS:
            if number <= least:
                break
            value += each * (min(up_to, number) - least)
            least = up_to
    return value


def _position(state: State, seat: Seat, near: Mapping[str, tuple[str, ...]]) -> float:
    """Return the worth of what a seat has: crystals, means, ships and where they are, and the Isle."""
    player = state["players"][seat]
    value = WEIGHTS.crystal * crystals_of(state, seat) + WEIGHTS.level * player["ability"] + _stock(goods(player))
    value += WEIGHTS.card * len(player["cards"]) + WEIGHTS.token * len(player["teleporters"])
    if player["privateer"] is not None:
        value += WEIGHTS.privateer
    flagship = HOME[seat]
    for location, fleet in player["fleets"].items():
        for ship, number in fleet.items():
            if ship == FLAGSHIP:
                value += _FLAGSHIP_AT[location]
                flagship = location
            elif ship == COLLECTOR:
                value += number * _COLLECTOR
            else:
                value += number * STRENGTH[ship] * _ESCORT_AT[location]
    own = occupied(state, seat)
    value += WEIGHTS.place * len(own)
    for location in collected_from(state, seat, own):
        value += _FRUIT[location]
    if fills_continent(seat, own):
        value += WEIGHTS.continent
    return value + _flagship(state, seat, player, flagship, near[flagship]) - _danger(state, seat, player, near[HOME[seat]])


def _flagship(state: State, seat: Seat, player: Player, at: str, near: tuple[str, ...]) -> float:
    """Return what the capital ship promises: the Isle of Myth if its seat is the holder and can pay, a defeat if a stronger fleet is next
    to it. It is `at` a location with these `near`."""
    if at == HOME[seat]:
        return 0.0
    fleet = player["fleets"][at]
    odds = _odds(_menace(state, seat, near) - fleet_strength(fleet), 2 * WEIGHTS.bold * player["ammo"])
    isle = isle_of(state)
    if at != ISLE or isle["holder"] != seat:
        return -WEIGHTS.at_risk * odds
    rounds = isle["full_rounds"]
    value = WEIGHTS.isle_after[rounds - 1] if rounds else WEIGHTS.isle_taken
    if goods(player)[MONEY] < upkeep(fleet):
        value *= WEIGHTS.unpaid
    return value * (1 - (1 - WEIGHTS.exposed) * odds) - WEIGHTS.at_risk * odds


def _menace(state: State, seat: Seat, near: tuple[str, ...]) -> float:
    """Return the strength of the strongest fleet of another seat on some locations, with its ammo."""
    most = 0.0
    for other, player in state["players"].items():
        if other == seat:
            continue
        fleets = player["fleets"]
        for place in near:
            if place in fleets:
                menace = fleet_strength(fleets[place]) + WEIGHTS.bold * player["ammo"]
                if menace > most:
                    most = menace
    return most


def _danger(state: State, seat: Seat, player: Player, near: tuple[str, ...]) -> float:
    """Return the danger of a fleet on the locations next to the home base."""
    home = HOME[seat]
    menace = _menace(state, seat, near)
    if not menace:
        return 0.0
    guard = fleet_strength(ships_at(state, seat, home)) + support(state, seat, DEFENDER, home) + WEIGHTS.bold * player["ammo"]
    return WEIGHTS.home * min(1.0, max(WEIGHTS.home_least, 0.5 + (menace - guard) / WEIGHTS.home_spread))


# ---------------------------------------------------------------- battles


def _battle(state: State, seat: Seat, battle: Battle) -> float:
    """Return what a battle not yet fought may bring and cost, at its chances. A bid counts as spent."""
    mine = ATTACKER if battle["attacker"] == seat else DEFENDER
    other = OTHER_SIDE[mine]
    foe, at = on_side(battle, other), battle["at"]
    player = state["players"][seat]
    bid = battle["bids"].get(seat)
    own = float(strength(state, battle, mine) + support(state, seat, mine, at))
    spent = 0.0
    if bid is None:
        own += WEIGHTS.bold * player["ammo"] + _cards(player["cards"], mine)
    else:
        own += bid["ammo"] + _cards(bid["cards"], mine)
        spent = WEIGHTS.bid_spent * bid["ammo"] + WEIGHTS.card * len(bid["cards"])
    edge = own - strength(state, battle, other) - support(state, foe, other, at)
    if foe == PIRATE:
        spread = float(PIRATE_DICE * PIRATE_FACES)
    else:
        rival = state["players"][foe]
        spread = rival["ammo"] + WEIGHTS.rival_cards * _cards(rival["cards"], other)
    return _stakes(state, seat, at, foe, _odds(edge, spread)) - spent


def _cards(cards: list[str], role: str) -> float:
    """Return what the battle cards among some cards add on a side."""
    return total([_BONUS[card][role] for card in cards if card in BATTLE_CARDS])


def _odds(edge: float, spread: float) -> float:
    """Return the chance to win with a lead of `edge` before the other side adds up to `spread`, more often much than little."""
    sure = WEIGHTS.odds_lead
    return min(WEIGHTS.odds_most, max(WEIGHTS.odds_least, (edge + 1 - sure * spread) / ((1 - sure) * spread + 2)))


def _stakes(state: State, seat: Seat, at: str, foe: str, odds: float) -> float:
    """Return what a battle at a location brings on average: crystals and the other's loss, against the own loss."""
    fleet = ships_at(state, seat, at)
    lost = WEIGHTS.beaten_strength * WEIGHTS.strength * fleet_strength(fleet) + WEIGHTS.beaten_crystals * WEIGHTS.crystal
    if FLAGSHIP in fleet:
        lost += WEIGHTS.towards * (_FAR - _AWAY[at]) + WEIGHTS.beaten_crystals * WEIGHTS.crystal
    if at == HOME[seat]:
        lost += WEIGHTS.ruin
    other = ships_at(state, foe, at) if foe != PIRATE else {}
    won = min(state["crystals"][SUPPLY], prize(other)) * WEIGHTS.crystal
    won += WEIGHTS.won_strength * WEIGHTS.strength * fleet_strength(other)
    if foe != PIRATE and HOME[foe] == at:
        won += WEIGHTS.spoils
    if at == ISLE and FLAGSHIP in fleet:
        won += WEIGHTS.isle_taken
    return odds * won - (1 - odds) * lost


# ---------------------------------------------------------------- the turn under way


def _turn(state: State, seat: Seat) -> float:
    """Return what the turn under way still promises: the best step of the action begun, and what cards have granted."""
    if state["turn"] is None:
        return 0.0
    turn = turn_of(state)
    promise: float = WEIGHTS.extra * (turn["extra_actions"] + turn["extra_steps"] + turn["free_teleporter"])
    action = turn["action"]
    if action is not None and action in _PROMISE and turn["mover"] is None:
        promise += _likely(_PROMISE[action](state, seat))
    return promise


def _likely(gain: float) -> float:
    """Return the worth of a gain that is only promised. It grows with the gain, but is never worth a crystal."""
    return WEIGHTS.promised * gain / (WEIGHTS.promised + gain) if gain > 0 else 0.0


def _collection(state: State, seat: Seat) -> float:
    """Return what a collection brings, without the islands that it would lay waste."""
    before = goods(state["players"][seat])
    safe = [location for location in collected_from(state, seat, occupied(state, seat)) if location not in state["marks"]]
    found = harvest(safe)
    return _stock({name: before[name] + found.get(name, 0) for name in RESOURCES}) - _stock(before)


def _purchase(state: State, seat: Seat) -> float:
    """Return what buying ships brings, the dearest first that can be paid."""
    stock = goods(state["players"][seat])
    left = {name: stock[name] for name in RESOURCES}
    before = _stock(left)
    gain = 0.0
    for ship, price in PRICE.items():
        number = min(reserve(state, seat, ship), *[left[name] // each for name, each in price.items()])
        for name, each in price.items():
            left[name] -= number * each
        gain += number * (WEIGHTS.strength * STRENGTH[ship] + WEIGHTS.collector * (ship == COLLECTOR))
    return max(0.0, gain + _stock(left) - before)


def _regrouping(state: State, seat: Seat) -> float:
    """Return what a redistribution brings: the ships of one trail nearer to the Isle."""
    fleets = state["players"][seat]["fleets"]
    arrived = turn_of(state)["arrived"]
    best = 0.0
    for trail in trails(state, seat):
        places = [location for location in trail if location != ISLE]
        goal = min([_AWAY[location] for location in places])
        gain = 0.0
        for location in places:
            for ship, number in fleets[location].items():
                if ship != COLLECTOR:
                    fresh = number - arrived.get(location, {}).get(ship, 0)
                    each = WEIGHTS.towards if ship == FLAGSHIP else WEIGHTS.escort * STRENGTH[ship]
                    gain += fresh * (_AWAY[location] - goal) * each
        best = max(best, gain)
    return best


def _best_move(state: State, seat: Seat) -> float:
    """Return what the best first step of a Move brings."""
    near, own = neighbours(state), set(occupied(state, seat))
    best = 0.0
    for location, fleet in state["players"][seat]["fleets"].items():
        if foreign_privateer(state, seat, location) is not None:
            continue
        for goal in near[location]:
            if goal not in own:
                best = max(best, _step(state, seat, location, fleet, goal))
    return best


def _step(state: State, seat: Seat, start: str, fleet: Counts, goal: str) -> float:
    """Return what a step of a whole fleet, or of one ship of it, brings."""
    player = state["players"][seat]
    leads = FLAGSHIP in fleet
    if not leads and needs_flagship(state, seat, start, goal):
        return 0.0
    gain = WEIGHTS.towards * (_AWAY[start] - _AWAY[goal]) if leads else 0.0
    foe = opponent(state, seat, goal)
    if foe is not None:
        return _assault(state, seat, fleet, goal, foe) + max(0.0, gain)
    here = state["apex"].get(goal)
    if here is not None and here["pirate"]:
        odds = _odds(fleet_strength(fleet) + WEIGHTS.bold * player["ammo"] - PIRATE_STRENGTH, PIRATE_DICE * PIRATE_FACES)
        return odds * (WEIGHTS.pirate_crystals * WEIGHTS.crystal + gain) - (1 - odds) * _repelled(fleet, goal)
    if here is not None and not here["explored"]:
        means = min([goods(player)[name] for name in MATERIALS])
        return WEIGHTS.crystal * min(1.0, WEIGHTS.expedition_means * means) + gain
    if goal == ISLE and leads:
        return gain + WEIGHTS.isle_taken * (1.0 if goods(player)[MONEY] >= upkeep({FLAGSHIP: 1}) else WEIGHTS.unpaid)
    spare = sum(fleet.values()) > 1
    gain = max(gain, 0.0) + WEIGHTS.place * spare
    if COLLECTOR in fleet and (fleet[COLLECTOR] > 1 or not YIELDS[start]):
        gain += _FRUIT[goal]
    return gain


def _repelled(fleet: Counts, goal: str) -> float:
    """Return what a lost attack costs."""
    return WEIGHTS.attack_strength * fleet_strength(fleet) + WEIGHTS.towards * (_FAR - _AWAY[goal]) * (FLAGSHIP in fleet)


def _assault(state: State, seat: Seat, fleet: Counts, goal: str, foe: Seat) -> float:
    """Return what an attack with a whole fleet is expected to bring."""
    player, other = state["players"][seat], state["players"][foe]
    lone = foreign_privateer(state, seat, goal) == foe
    there = {} if lone else ships_at(state, foe, goal)
    defence = PRIVATEER_STRENGTH if lone else fleet_strength(there)
    attack = fleet_strength(fleet) + support(state, seat, ATTACKER, goal) + WEIGHTS.bold * player["ammo"]
    odds = _odds(attack - defence - support(state, foe, DEFENDER, goal), float(other["ammo"]))
    won = prize(there) * WEIGHTS.crystal + WEIGHTS.spoils * (goal == HOME[foe])
    return odds * won - (1 - odds) * _repelled(fleet, goal)


_PROMISE: Mapping[str, Callable[[State, Seat], float]] = {
    COLLECTING: _collection,
    BUYING: _purchase,
    MOVING: _best_move,
    REDISTRIBUTING: _regrouping,
}
