"""The worth of a position for a seat, for search. The weights are in data.json."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from operator import itemgetter

from games.kernel import Seat, total
from games.war_of_civilizations import data
from games.war_of_civilizations.battle.record import on_side, prize, strength, support
from games.war_of_civilizations.data import WEIGHTS
from games.war_of_civilizations.document import Battle, Player, Ransom, State
from games.war_of_civilizations.state.control import add_contested, fills_continent, occupied, trails
from games.war_of_civilizations.state.fleets import fleet_strength, foreign_privateer, needs_flagship, opponent, reserve, ships_at
from games.war_of_civilizations.state.map import distances, neighbours
from games.war_of_civilizations.state.records import collected_from, goods, harvest, isle_of, turn_of, upkeep


def _away() -> dict[str, int]:
    """Return the steps from each location to the Isle of Myth. Every continent is put next to all apex islands, which are one step away
    from it."""
    near = {location: list(others) for location, others in data.BESIDE.items()}
    for north in data.NORTH.values():
        for apex in data.RING:
            near[north].append(apex)
            near[apex].append(north)
    return distances(near)


_AWAY = _away()
_FAR = max(_AWAY.values())
_LAYERS = tuple([(layer.each, layer.up_to) for layer in WEIGHTS.stock])
_FLAGSHIP_AT: dict[str, float] = {location: WEIGHTS.towards * (_FAR - away) for location, away in _AWAY.items()}
_ESCORT_AT: dict[str, float] = {location: WEIGHTS.strength + WEIGHTS.escort * (_FAR - away) for location, away in _AWAY.items()}
_COLLECTOR = data.STRENGTH[data.COLLECTOR] * WEIGHTS.strength + WEIGHTS.collector
_FRUIT: dict[str, float] = {location: WEIGHTS.income * sum(row.values()) for location, row in data.YIELDS.items()}
_REGROUPED: dict[str, float] = {
    ship: WEIGHTS.towards if ship == data.FLAGSHIP else WEIGHTS.escort * data.STRENGTH[ship] for ship in data.SHIPS
}
_BOUGHT: dict[str, float] = {
    ship: WEIGHTS.strength * data.STRENGTH[ship] + WEIGHTS.collector * (ship == data.COLLECTOR) for ship in data.PRICE
}
_DEAREST = max([price for _, price in data.UPKEEP])
_CRYSTAL, _LEVEL, _CARD, _TOKEN, _PRIVATEER = WEIGHTS.crystal, WEIGHTS.level, WEIGHTS.card, WEIGHTS.token, WEIGHTS.privateer
_PLACE, _BOLD, _AT_RISK, _EXPOSED = WEIGHTS.place, WEIGHTS.bold, WEIGHTS.at_risk, 1 - WEIGHTS.exposed
_LEAST, _MOST, _SURE, _DRAWN = WEIGHTS.odds_least, WEIGHTS.odds_most, WEIGHTS.odds_lead, 1 - WEIGHTS.odds_lead
_numbers = itemgetter(*data.RESOURCES)
_BONUS: dict[str, dict[str, float]] = {
    card: {
        side: data.CARDS[card].bonus[side]
        + WEIGHTS.card_taken * (data.CARDS[card].fleet + data.CARDS[card].ammo)
        + WEIGHTS.card_doubled * data.CARDS[card].doubles
        for side in data.OTHER_SIDE
    }
    for card in data.BATTLE_CARDS
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
            rival = _position(state, other, near)
            if rival > best:
                best = rival
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


def _stock(stock: Player | Mapping[str, int]) -> float:
    """Return the worth of resources. The first of each kind are worth most."""
    return _layered(_numbers(stock))


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
    fleets, home = player["fleets"], data.HOME[seat]
    value = _CRYSTAL * (player["crystals"] + len(player["mounted"])) + _LEVEL * player["ability"] + _stock(player)
    value += _CARD * len(player["cards"]) + _TOKEN * len(player["teleporters"])
    if player["privateer"] is not None:
        value += _PRIVATEER
    flagship = home
    collecting: list[str] = []
    for location, fleet in fleets.items():
        for ship in fleet:
            if ship == data.COLLECTOR:
                value += fleet[ship] * _COLLECTOR
                collecting.append(location)
            elif ship == data.FLAGSHIP:
                value += _FLAGSHIP_AT[location]
                flagship = location
            else:
                value += fleet[ship] * data.STRENGTH[ship] * _ESCORT_AT[location]
    lost, menace, risk = _opposed(state, seat, near[home], near[flagship] if flagship != home else ())
    value += _PLACE * (len(fleets) - len(lost))
    marks = state["marks"]
    if lost or data.BARREN in marks.values():
        collecting = collected_from(state, seat, [location for location in fleets if location not in lost])
    for fruit in _fruits(tuple(collecting)):
        value += fruit
    if fills_continent(seat, fleets) and lost.isdisjoint(data.CONTINENT_OF[seat]):
        value += WEIGHTS.continent
    if flagship != home:
        value += _flagship(state, seat, player, flagship, risk)
    return value - _danger(state, seat, player, menace) if menace else value


@lru_cache(maxsize=4096)
def _fruits(places: tuple[str, ...]) -> tuple[float, ...]:
    """Return what each of some locations brings in a collection, in map order."""
    return tuple([_FRUIT[location] for location in sorted(places, key=data.PLACE.__getitem__)])


def _flagship(state: State, seat: Seat, player: Player, at: str, menace: float) -> float:
    """Return what the capital ship promises: the Isle of Myth if its seat is the holder and can pay, a defeat if a stronger fleet is next
    to it. It is `at` a location that is not its home base, and the strongest fleet next to it is a `menace` of so much."""
    fleet = player["fleets"][at]
    odds = _odds(menace - fleet_strength(fleet), 2 * _BOLD * player["ammo"]) if menace else _LEAST
    if at != data.ISLE or isle_of(state)["holder"] != seat:
        return -_AT_RISK * odds
    rounds = isle_of(state)["full_rounds"]
    value = WEIGHTS.isle_after[rounds - 1] if rounds else WEIGHTS.isle_taken
    money = goods(player)[data.MONEY]
    if money < _DEAREST and money < upkeep(fleet):
        value *= WEIGHTS.unpaid
    return value * (1 - _EXPOSED * odds) - _AT_RISK * odds


def _opposed(state: State, seat: Seat, home: tuple[str, ...], at: tuple[str, ...]) -> tuple[set[str], float, float]:
    """Return how the others stand against a seat: the locations with ships of the seat that it does not hold, as `contested` says, and
    the strength of their strongest fleet, with its ammo, on the locations next to the `home` base and on those where the capital ship is
    `at`. The others are gone through once."""
    players = state["players"]
    places = players[seat]["fleets"].keys()
    lost: set[str] = set()
    menace = risk = 0.0
    for other, player in players.items():
        if other == seat:
            continue
        add_contested(places, other, player, lost)
        fleets = player["fleets"]
        for place in home:
            if place in fleets:
                menace = max(menace, fleet_strength(fleets[place]) + _BOLD * player["ammo"])
        for place in at:
            if place in fleets:
                risk = max(risk, fleet_strength(fleets[place]) + _BOLD * player["ammo"])
    return lost, menace, risk


def _danger(state: State, seat: Seat, player: Player, menace: float) -> float:
    """Return the danger of a fleet next to the home base that is so strong."""
    home = data.HOME[seat]
    guard = fleet_strength(ships_at(state, seat, home)) + support(state, seat, data.DEFENDER, home) + _BOLD * player["ammo"]
    return WEIGHTS.home * min(1.0, max(WEIGHTS.home_least, 0.5 + (menace - guard) / WEIGHTS.home_spread))


# ---------------------------------------------------------------- battles


def _battle(state: State, seat: Seat, battle: Battle) -> float:
    """Return what a battle not yet fought may bring and cost, at its chances. A bid counts as spent."""
    mine = data.ATTACKER if battle["attacker"] == seat else data.DEFENDER
    other = data.OTHER_SIDE[mine]
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
    if foe == data.PIRATE:
        spread = float(data.PIRATE_DICE * data.PIRATE_FACES)
    else:
        rival = state["players"][foe]
        spread = rival["ammo"] + WEIGHTS.rival_cards * _cards(rival["cards"], other)
    return _stakes(state, seat, at, foe, _odds(edge, spread)) - spent


def _cards(cards: list[str], role: str) -> float:
    """Return what the battle cards among some cards add on a side."""
    return total([_BONUS[card][role] for card in cards if card in data.BATTLE_CARDS])


def _odds(edge: float, spread: float) -> float:
    """Return the chance to win with a lead of `edge` before the other side adds up to `spread`, more often much than little."""
    odds = (edge + 1 - _SURE * spread) / (_DRAWN * spread + 2)
    return _LEAST if odds < _LEAST else min(odds, _MOST)


def _stakes(state: State, seat: Seat, at: str, foe: str, odds: float) -> float:
    """Return what a battle at a location brings on average: crystals and the other's loss, against the own loss."""
    fleet = ships_at(state, seat, at)
    lost = WEIGHTS.beaten_strength * WEIGHTS.strength * fleet_strength(fleet) + WEIGHTS.beaten_crystals * WEIGHTS.crystal
    if data.FLAGSHIP in fleet:
        lost += WEIGHTS.towards * (_FAR - _AWAY[at]) + WEIGHTS.beaten_crystals * WEIGHTS.crystal
    if at == data.HOME[seat]:
        lost += WEIGHTS.ruin
    other = ships_at(state, foe, at) if foe != data.PIRATE else {}
    won = min(state["crystals"][data.SUPPLY], prize(other)) * WEIGHTS.crystal
    won += WEIGHTS.won_strength * WEIGHTS.strength * fleet_strength(other)
    if foe != data.PIRATE and data.HOME[foe] == at:
        won += WEIGHTS.spoils
    if at == data.ISLE and data.FLAGSHIP in fleet:
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
    return _stock({name: before[name] + found.get(name, 0) for name in data.RESOURCES}) - _stock(before)


def _purchase(state: State, seat: Seat) -> float:
    """Return what buying ships brings, the dearest first that can be paid."""
    stock = goods(state["players"][seat])
    left = {name: stock[name] for name in data.RESOURCES}
    gain = 0.0
    for ship, price in data.PRICE.items():
        number = min([left[name] // each for name, each in price.items()])
        if number:
            number = min(number, reserve(state, seat, ship))
            for name, each in price.items():
                left[name] -= number * each
            gain += number * _BOUGHT[ship]
    return max(0.0, gain + _stock(left) - _stock(stock)) if gain else 0.0


def _regrouping(state: State, seat: Seat) -> float:
    """Return what a redistribution brings: the ships of one trail nearer to the Isle."""
    fleets = state["players"][seat]["fleets"]
    arrived = turn_of(state)["arrived"]
    best = 0.0
    for trail in trails(state, seat):
        gain = 0.0
        for location, steps in _ways(trail):
            moved = arrived.get(location, {})
            for ship, number in fleets[location].items():
                if ship != data.COLLECTOR:
                    gain += (number - moved.get(ship, 0)) * steps * _REGROUPED[ship]
        best = max(best, gain)
    return best


@lru_cache(maxsize=1024)
def _ways(trail: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    """Return the locations of a trail, each with the steps by which another one of it is nearer to the Isle, if there are any."""
    away = [(location, _AWAY[location]) for location in trail if location != data.ISLE]
    least = min([steps for _, steps in away])
    return tuple([(location, steps - least) for location, steps in away if steps > least])


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


def _step(state: State, seat: Seat, start: str, fleet: data.Counts, goal: str) -> float:
    """Return what a step of a whole fleet, or of one ship of it, brings."""
    player = state["players"][seat]
    leads = data.FLAGSHIP in fleet
    if not leads and needs_flagship(state, seat, start, goal):
        return 0.0
    gain = WEIGHTS.towards * (_AWAY[start] - _AWAY[goal]) if leads else 0.0
    foe = opponent(state, seat, goal)
    if foe is not None:
        return _assault(state, seat, fleet, goal, foe) + max(0.0, gain)
    here = state["apex"].get(goal)
    if here is not None and here["pirate"]:
        odds = _odds(fleet_strength(fleet) + WEIGHTS.bold * player["ammo"] - data.PIRATE_STRENGTH, data.PIRATE_DICE * data.PIRATE_FACES)
        return odds * (WEIGHTS.pirate_crystals * WEIGHTS.crystal + gain) - (1 - odds) * _repelled(fleet, goal)
    if here is not None and not here["explored"]:
        means = min([goods(player)[name] for name in data.MATERIALS])
        return WEIGHTS.crystal * min(1.0, WEIGHTS.expedition_means * means) + gain
    if goal == data.ISLE and leads:
        return gain + WEIGHTS.isle_taken * (1.0 if goods(player)[data.MONEY] >= upkeep({data.FLAGSHIP: 1}) else WEIGHTS.unpaid)
    spare = sum(fleet.values()) > 1
    gain = max(gain, 0.0) + WEIGHTS.place * spare
    if data.COLLECTOR in fleet and (fleet[data.COLLECTOR] > 1 or not data.YIELDS[start]):
        gain += _FRUIT[goal]
    return gain


def _repelled(fleet: data.Counts, goal: str) -> float:
    """Return what a lost attack costs."""
    return WEIGHTS.attack_strength * fleet_strength(fleet) + WEIGHTS.towards * (_FAR - _AWAY[goal]) * (data.FLAGSHIP in fleet)


def _assault(state: State, seat: Seat, fleet: data.Counts, goal: str, foe: Seat) -> float:
    """Return what an attack with a whole fleet is expected to bring."""
    player, other = state["players"][seat], state["players"][foe]
    lone = foreign_privateer(state, seat, goal) == foe
    there = {} if lone else ships_at(state, foe, goal)
    defence = data.PRIVATEER_STRENGTH if lone else fleet_strength(there)
    attack = fleet_strength(fleet) + support(state, seat, data.ATTACKER, goal) + WEIGHTS.bold * player["ammo"]
    odds = _odds(attack - defence - support(state, foe, data.DEFENDER, goal), float(other["ammo"]))
    won = prize(there) * WEIGHTS.crystal + WEIGHTS.spoils * (goal == data.HOME[foe])
    return odds * won - (1 - odds) * _repelled(fleet, goal)


_PROMISE: Mapping[str, Callable[[State, Seat], float]] = {
    data.COLLECTING: _collection,
    data.BUYING: _purchase,
    data.MOVING: _best_move,
    data.REDISTRIBUTING: _regrouping,
}
