"""What a position is worth to a seat, for search."""

from __future__ import annotations

from typing import Any

from games.kernel import Seat, State
from games.war_of_civilizations.data import (
    BATTLE_CARDS,
    BESIDE,
    CARDS,
    COLLECTOR,
    CONTINENT,
    CONTINENT_OF,
    FLAGSHIP,
    FLAGSHIP_CRYSTALS,
    HOME,
    HOME_DEFENCE,
    ISLE,
    MATERIALS,
    NORTH,
    OWNER_OF_HOME,
    PIRATE_DICE,
    PIRATE_FACES,
    PIRATE_STRENGTH,
    PRICE,
    PRIVATEER_STRENGTH,
    RESOURCES,
    RING,
    ROUNDS_TO_WIN,
    STRENGTH,
    UPKEEP,
    WIN_CRYSTALS,
    YIELDS,
)
from games.war_of_civilizations.state import ability, foreign_privateer, held, linked, neighbours, reserve

_WON = 1000.0
_CRYSTAL = 6.0
_LEVEL = 2.0  # a level of an ability, for which a crystal was spent
_STOCK = ((8, 0.3), (20, 0.12), (10**9, 0.02))  # a resource: up to so many of a kind each is worth this
_SHIP = 0.8  # a point of strength
_GUNBOAT = 0.2  # and more, for what collects
_CARD = 0.8
_PLACE = 0.8  # a location held
_INCOME = 0.6  # what a location gives in one collection, each, where a gunboat is
_CONTINENT = 2.0  # all of the own continent, which brings an action
_TOWARDS = 1.6  # a step of the capital ship on its way to the Isle
_ESCORT = 0.06  # a step of another fighting ship, for each point of strength
_ISLE = (10.0, 18.0, 32.0, 32.0)  # holding the Isle, by full rounds held
_UNPAID = 0.3  # what is left of that if the upkeep is not there
_EXPOSED = 0.5  # and if a stronger fleet is sure to come
_AT_RISK = 2.0  # what a capital ship stands to lose to a stronger fleet next to it
_HOME = 30.0  # the danger to a home base next to which a stronger fleet stands
_TOKEN = 0.3  # a teleporter on the board
_PRIVATEER = 3.0
_EXTRA = 1.0  # one more action, or step, in this turn
_PROMISED = 3.0  # what a step not yet done may be worth at most
_BOLD = 0.7  # how much of its ammo a side is thought to bid
_RIVAL = 0.5  # how much the best of the others counts against one's own
_SPOILS = 25.0  # what eliminating a seat is worth besides its crystals
_RUIN = 200.0  # what losing the own home base costs


def _steps() -> dict[str, int]:
    """Steps from each location to the Isle of Myth; any apex island is one away, so it matters little which one a continent is next to."""
    near = {location: set(others) for location, others in BESIDE.items()}
    for north in NORTH.values():
        near[north].add(RING[0])
        near[RING[0]].add(north)
    steps, edge = {ISLE: 0}, [ISLE]
    for location in edge:
        for other in sorted(near[location]):
            if other not in steps:
                steps[other] = steps[location] + 1
                edge.append(other)
    return steps


_AWAY = _steps()
_FAR = max(_AWAY.values())
_FRUIT: dict[str, float] = {location: _INCOME * sum(row.values()) for location, row in YIELDS.items()}
_BONUS: dict[str, dict[str, float]] = {
    card: {
        side: CARDS[card].bonus[side] + 0.7 * (CARDS[card].fleet + CARDS[card].ammo) + 0.4 * CARDS[card].doubles
        for side in ("attacker", "defender")
    }
    for card in BATTLE_CARDS
}


def worth(state: State, seat: Seat) -> float:
    """Crystals, about: what the seat has and holds, what its turn and its battle promise, less the best of the others."""
    outcome = state["outcome"]
    if outcome is not None:
        return (_WON if seat in outcome["winners"] else -_WON) + float(outcome["scores"][seat])
    players = state["players"]
    if players[seat]["eliminated"]:
        return -_WON / 2
    best = 0.0
    for other in state["seats"]:
        if other != seat and not players[other]["eliminated"]:
            best = max(best, _standing(state, other))
    total = _standing(state, seat) - _RIVAL * best
    battle = state["battle"]
    if battle is not None and battle["result"] is None and seat in (battle["attacker"], battle["defender"]):
        total += _battle(state, seat, battle)
    elif state["active"] == seat:
        total += _turn(state, seat)
    ransom = state["ransom"]
    if ransom is not None and ransom["from"] == seat:
        total -= 0.5 * (sum(ransom["offer"].values()) * _STOCK[0][1] + ransom["offer"].get("crystals", 0) * _CRYSTAL)
    return total


def _stock(player: dict[str, Any]) -> float:
    """What a seat's resources are worth: the first of each kind most."""
    value = 0.0
    for name in RESOURCES:
        number, least = player[name], 0
        for most, each in _STOCK:
            if number <= least:
                break
            value += each * (min(number, most) - least)
            least = most
    return value


def _strength(fleet: dict[str, int]) -> int:
    return sum([STRENGTH[ship] * number for ship, number in fleet.items()])


def _standing(state: State, seat: Seat) -> float:
    """What a seat has: crystals, means, ships and where they are, and the Isle."""
    player = state["players"][seat]
    marks = state["marks"]
    value: float = _CRYSTAL * (player["crystals"] + len(player["mounted"])) + _LEVEL * player["ability"] + _stock(player)
    value += _CARD * len(player["cards"]) + _TOKEN * len(player["teleporters"])
    if player["privateer"] is not None:
        value += _PRIVATEER
    own = held(state, seat)
    for location, fleet in player["fleets"].items():
        nearer = _FAR - _AWAY[location]
        for ship, number in fleet.items():
            if ship == FLAGSHIP:
                value += _TOWARDS * nearer
            else:
                value += number * STRENGTH[ship] * (_SHIP if ship == COLLECTOR else _SHIP + _ESCORT * nearer)
        value += _GUNBOAT * fleet.get(COLLECTOR, 0)
    home = 0
    for location in own:
        value += _PLACE
        if COLLECTOR in player["fleets"][location] and marks.get(location) != "barren":
            value += _FRUIT[location]
        home += CONTINENT[location] == seat
    if home == len(CONTINENT_OF[seat]):
        value += _CONTINENT
    return value + _flagship(state, seat, player) - _danger(state, seat, player)


def _flagship(state: State, seat: Seat, player: dict[str, Any]) -> float:
    """What the capital ship has in view: the Isle of Myth if it holds it and can pay, a defeat if a stronger fleet stands next to it."""
    at = next((location for location, fleet in player["fleets"].items() if FLAGSHIP in fleet), HOME[seat])
    fleet = player["fleets"].get(at, {})
    if at == HOME[seat]:
        return 0.0
    mine = _strength(fleet)
    odds = _odds(_menace(state, seat, at) - mine, 2 * _BOLD * player["ammo"])
    if at != ISLE or state[ISLE]["holder"] != seat:
        return -_AT_RISK * odds
    value = _ISLE[min(state[ISLE]["full_rounds"], ROUNDS_TO_WIN)]
    price = max([oc for least, oc in UPKEEP if mine >= least], default=0)
    if player[MATERIALS[0]] < price:
        value *= _UNPAID
    return value * (1 - (1 - _EXPOSED) * odds) - _AT_RISK * odds


def _menace(state: State, seat: Seat, location: str) -> float:
    """The strength of the strongest fleet of another seat next to a location, with its ammo."""
    most = 0.0
    near = neighbours(state)[location]
    for other, player in state["players"].items():
        if other == seat:
            continue
        fleets = player["fleets"]
        for place in near:
            if place in fleets:
                most = max(most, float(_strength(fleets[place]) + _BOLD * player["ammo"]))
    return most


def _danger(state: State, seat: Seat, player: dict[str, Any]) -> float:
    """What a fleet next to the home base puts in doubt."""
    menace = _menace(state, seat, HOME[seat])
    if not menace:
        return 0.0
    guard: float = HOME_DEFENCE + _strength(player["fleets"].get(HOME[seat], {})) + _BOLD * player["ammo"]
    if player["privateer"] == HOME[seat]:
        guard += PRIVATEER_STRENGTH
    return _HOME * min(1.0, max(0.1, 0.5 + (menace - guard) / 12))


def _battle(state: State, seat: Seat, battle: dict[str, Any]) -> float:
    """A battle not yet fought: what it may bring and cost at the chance there is; what has been sealed is as good as spent."""
    mine = "attacker" if battle["attacker"] == seat else "defender"
    other = "defender" if mine == "attacker" else "attacker"
    player = state["players"][seat]
    bid = battle["bids"].get(seat)
    own = _force(state, battle, mine)
    spent = 0.0
    if bid is None:
        own += _BOLD * player["ammo"] + sum([_BONUS[card][mine] for card in player["cards"] if card in BATTLE_CARDS])
    else:
        own += bid["ammo"] + sum([_BONUS[card][mine] for card in bid["cards"]])
        spent = 0.25 * bid["ammo"] + _CARD * len(bid["cards"])
    foe = _force(state, battle, other)
    if battle["kind"] == "pirate":
        spread = float(PIRATE_DICE * PIRATE_FACES)
    else:
        rival = state["players"][battle[other]]
        spread = rival["ammo"] + 0.8 * sum([_BONUS[card][other] for card in rival["cards"] if card in BATTLE_CARDS])
    return _stakes(state, seat, battle["at"], battle[other], _odds(own - foe, spread)) - spent


def _odds(edge: float, spread: float) -> float:
    """The chance to win with a lead of `edge` before the other side adds up to `spread`, rather much than little."""
    return min(0.97, max(0.03, (edge + 1 - 0.1 * spread) / (0.9 * spread + 2)))


def _force(state: State, battle: dict[str, Any], side: str) -> float:
    """A side's strength before bids."""
    at = battle["at"]
    if battle["kind"] == "pirate" and side == "defender":
        return PIRATE_STRENGTH
    if battle["privateer"] == side:
        return PRIVATEER_STRENGTH
    seat = battle[side]
    player = state["players"][seat]
    force: float = _strength(player["fleets"].get(at, {})) - (_strength(battle["hostages"]) if side == "defender" else 0)
    if side == "attacker":
        return force + float(ability(state, seat, "attack_bonus"))
    force += ability(state, seat, "defence_bonus")
    if at == HOME[seat]:
        force += HOME_DEFENCE + PRIVATEER_STRENGTH * (player["privateer"] == at)
    return force


def _stakes(state: State, seat: Seat, at: str, foe: str, odds: float) -> float:
    """What a battle at a location brings on average: crystals and what the other loses, against what is lost."""
    players = state["players"]
    fleet = players[seat]["fleets"].get(at, {})
    lost = 0.5 * _SHIP * _strength(fleet) + 0.5 * _CRYSTAL
    if FLAGSHIP in fleet:
        lost += _TOWARDS * (_FAR - _AWAY[at]) + 0.5 * _CRYSTAL
    if at == HOME[seat]:
        lost += _RUIN
    won = WIN_CRYSTALS * _CRYSTAL
    if foe in players:
        other = players[foe]["fleets"].get(at, {})
        won = min(state["crystals"]["supply"], FLAGSHIP_CRYSTALS if FLAGSHIP in other else WIN_CRYSTALS) * _CRYSTAL
        won += 0.25 * _SHIP * _strength(other)
        if OWNER_OF_HOME.get(at) == foe:
            won += _SPOILS
    if at == ISLE and FLAGSHIP in fleet:
        won += _ISLE[0]
    return odds * won - (1 - odds) * lost


def _turn(state: State, seat: Seat) -> float:
    """What the turn under way still promises: the best step of the action begun, and what cards have granted."""
    turn = state["turn"]
    if turn is None:
        return 0.0
    promise: float = _EXTRA * (turn["extra_actions"] + turn["extra_steps"]) + _EXTRA * turn["free_teleporter"]
    action = turn["action"]
    if action == "move" and turn["mover"] is None:
        promise += _likely(_best_move(state, seat))
    elif action in _PROMISE:
        promise += _likely(_PROMISE[action](state, seat))
    return promise


def _likely(gain: float) -> float:
    """A gain that is only promised: the more the better, but never so much that one would pay a crystal to keep it open."""
    return _PROMISED * gain / (_PROMISED + gain) if gain > 0 else 0.0


def _collection(state: State, seat: Seat) -> float:
    """What a collection brings."""
    player = {name: state["players"][seat][name] for name in RESOURCES}
    before = _stock(player)
    for location in held(state, seat):
        if COLLECTOR in state["players"][seat]["fleets"][location] and location not in state["marks"]:
            for name, number in YIELDS[location].items():
                player[name] += number
    return _stock(player) - before


def _purchase(state: State, seat: Seat) -> float:
    """What buying ships brings, the dearest first that can be paid."""
    player = state["players"][seat]
    left = {name: player[name] for name in RESOURCES}
    before = _stock(left)
    gain = 0.0
    for ship, price in PRICE.items():
        number = min(reserve(state, seat, ship), *[left[name] // each for name, each in price.items()])
        for name, each in price.items():
            left[name] -= number * each
        gain += number * (_SHIP * STRENGTH[ship] + _GUNBOAT * (ship == COLLECTOR))
    return max(0.0, gain + _stock(left) - before)


def _regrouping(state: State, seat: Seat) -> float:
    """What a redistribution brings: the ships of one trail nearer to the Isle."""
    fleets = state["players"][seat]["fleets"]
    arrived = state["turn"]["arrived"]
    near, best = neighbours(state), 0.0
    left = set(held(state, seat)) - {ISLE}
    while left:
        trail = [left.pop()]
        for location in trail:
            joined = [other for other in left if other in near[location] or linked(state, seat, location, other)]
            left.difference_update(joined)
            trail += joined
        goal = min([_AWAY[location] for location in trail])
        gain = 0.0
        for location in trail:
            for ship, number in fleets[location].items():
                fresh = number - arrived.get(location, {}).get(ship, 0)
                gain += (
                    fresh * (_AWAY[location] - goal) * (_TOWARDS if ship == FLAGSHIP else _ESCORT * STRENGTH[ship] * (ship != COLLECTOR))
                )
        best = max(best, gain)
    return best


def _best_move(state: State, seat: Seat) -> float:
    """What the best first step of a Move brings."""
    player = state["players"][seat]
    near, own = neighbours(state), set(held(state, seat))
    best = 0.0
    for location, fleet in player["fleets"].items():
        if foreign_privateer(state, seat, location) is not None:
            continue
        for goal in near[location]:
            if goal not in own:
                best = max(best, _step(state, seat, location, fleet, goal))
    return best


def _step(state: State, seat: Seat, start: str, fleet: dict[str, int], goal: str) -> float:
    """What a step of a whole fleet, or of one ship of it, brings."""
    players, player = state["players"], state["players"][seat]
    leads = FLAGSHIP in fleet
    here = state["apex"].get(goal)
    if (goal == ISLE or here is not None) and not leads and not player["entered_central"]:
        return 0.0
    gain = _TOWARDS * (_AWAY[start] - _AWAY[goal]) if leads else 0.0
    foes = [other for other in state["seats"] if other != seat and goal in players[other]["fleets"]]
    owner = OWNER_OF_HOME.get(goal)
    if not foes and owner not in (None, seat) and owner in players and not players[owner]["eliminated"]:
        foes = [owner]
    if foes:
        return _assault(state, seat, fleet, goal, foes[0]) + max(0.0, gain)
    if here is not None and here["pirate"]:
        odds = _odds(_strength(fleet) + _BOLD * player["ammo"] - PIRATE_STRENGTH, PIRATE_DICE * PIRATE_FACES)
        return odds * (2 * _CRYSTAL + gain) - (1 - odds) * (0.25 * _strength(fleet) + _TOWARDS * (_FAR - _AWAY[goal]) * leads)
    if here is not None and not here["explored"]:
        means: int = min([player[name] for name in MATERIALS])
        return _CRYSTAL * min(1.0, 0.3 * means) + gain
    if goal == ISLE and leads:
        return gain + _ISLE[0] * (1.0 if player[MATERIALS[0]] >= UPKEEP[0][1] else _UNPAID)
    spare = sum(fleet.values()) > 1
    gain = max(gain, 0.0) + _PLACE * spare
    if COLLECTOR in fleet and (fleet[COLLECTOR] > 1 or not YIELDS[start]):
        gain += _FRUIT[goal]
    return gain


def _assault(state: State, seat: Seat, fleet: dict[str, int], goal: str, foe: Seat) -> float:
    """What an attack with a whole fleet brings, as far as one can tell."""
    player, other = state["players"][seat], state["players"][foe]
    edge = _strength(fleet) + _BOLD * player["ammo"] + ability(state, seat, "attack_bonus") - _strength(other["fleets"].get(goal, {}))
    if goal == HOME[foe]:
        edge -= HOME_DEFENCE + PRIVATEER_STRENGTH * (other["privateer"] == goal)
    edge -= ability(state, foe, "defence_bonus")
    odds = _odds(edge, float(other["ammo"]))
    won = (FLAGSHIP_CRYSTALS if FLAGSHIP in other["fleets"].get(goal, {}) else WIN_CRYSTALS) * _CRYSTAL + _SPOILS * (goal == HOME[foe])
    lost = 0.25 * _strength(fleet) + _TOWARDS * (_FAR - _AWAY[goal]) * (FLAGSHIP in fleet)
    return odds * won - (1 - odds) * lost


_PROMISE = {"collect": _collection, "buy": _purchase, "redistribute": _regrouping}
