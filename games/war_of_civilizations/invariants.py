"""The invariants of every document of a match that was played from its set-up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from games.kernel import SYSTEM, Seat
from games.lifecycle import OVER, ROUND_END, SETUP, SHARED_REASONS
from games.war_of_civilizations import data
from games.war_of_civilizations.battle.record import waiting
from games.war_of_civilizations.document import State
from games.war_of_civilizations.state.fleets import occupants
from games.war_of_civilizations.state.map import in_play
from games.war_of_civilizations.state.records import battle_of, blockade_of, crystals_of, goods, isle_of, option
from games.war_of_civilizations.state.shape import PHASES

_RESTS = (SETUP, ROUND_END, OVER)  # phases in which no seat is active
_NO_TURN = (*_RESTS, data.DEPLOY_PHASE)
_BATTLE = (data.REINFORCE_PHASE, data.BIDS_PHASE, data.RETREAT_PHASE)


def broken(state: State) -> Iterator[str]:
    """Yield a sentence for each broken invariant: crystals, ships, cards and tokens are conserved (WOC-CMP-01, WOC-CMP-02, WOC-LIM-02,
    WOC-LIM-03), and records that wait belong to their phase."""
    yield from _broken_phase(state)
    if state["attached"]:  # the set-up is done
        yield from _broken_crystals(state)
        yield from _broken_cards(state)
        yield from _broken_board(state)
        for seat in state["seats"]:
            yield from _broken_player(state, seat)


def _broken_phase(state: State) -> Iterator[str]:
    """The records that wait, and the actors."""
    phase, active = state["phase"], state["active"]
    if (state["outcome"] is not None) != (phase == OVER):
        yield f"the outcome is {state['outcome']} in phase {phase}"
    if (active is None) != (phase in _RESTS) or (state["turn"] is None) != (phase in _NO_TURN):
        yield f"{active} is active in phase {phase}, the turn is {state['turn']}"
    if (state["battle"] is not None) != (phase in _BATTLE):
        yield f"the battle is {state['battle']} in phase {phase}"
    if (state["ransom"] is not None) != (phase == data.RANSOM_PHASE):
        yield f"the ransom is {state['ransom']} in phase {phase}"
    if phase not in (
        (data.BLOCKADE_PHASE, data.RANSOM_PHASE, *_BATTLE) if state["blockade"] is not None else set(PHASES) - {data.BLOCKADE_PHASE}
    ):
        yield f"the blockade is {state['blockade']} in phase {phase}"
    acting = _acting(state)
    if state["to_act"] != acting:
        yield f"{state['to_act']} act in phase {phase} with {active} active, not {acting}"
    if any(actor != SYSTEM and state["players"][actor]["eliminated"] for actor in [*state["to_act"], active or SYSTEM]):
        yield f"an eliminated seat is to act: {state['to_act']}, {active}"
    if not 0 <= state["offers"] <= data.OFFERS_A_MOMENT:
        yield f"{state['offers']} offers were made"
    turn = state["turn"]
    if turn is not None and turn["action"] is None:
        left = [name for name, value in turn.items() if value != data.BLANK_ACTION.get(name, value)]
        if left:
            yield f"{left} is left of an action that is over"


def _broken_off(state: State) -> bool:
    """Return True if the match has ended in the middle of something: a seat has left, or the players have agreed (WOC-LEA-06)."""
    return state["outcome"] is not None and state["outcome"]["reason"] in SHARED_REASONS


def _acting(state: State) -> list[str]:
    """Return the actors who must decide now."""
    phase, ransom = state["phase"], state["ransom"]
    if phase in (SETUP, ROUND_END):
        return [SYSTEM]
    if phase == OVER:
        return []
    if phase == data.BLOCKADE_PHASE:
        return [blockade_of(state)["occupant"]]
    if phase == data.RANSOM_PHASE:
        return [ransom["to"]] if ransom is not None else []
    if phase == data.REINFORCE_PHASE:
        return [battle_of(state)["defender"]]
    if phase == data.BIDS_PHASE:
        return waiting(state)
    if phase == data.RETREAT_PHASE:
        order = battle_of(state)["retreat"]
        return [order["seat"]] if order is not None else []
    return [state["active"] or SYSTEM]


def _broken_crystals(state: State) -> Iterator[str]:
    """Crystals, the Isle and the tracks (WOC-LIM-02)."""
    crystals, isle = state["crystals"], isle_of(state)
    lying = data.EXPEDITION_CRYSTALS * sum([not here["explored"] for here in state["apex"].values()])
    total = sum(crystals.values()) + lying + sum([crystals_of(state, seat) for seat in state["seats"]])
    if total != data.CRYSTALS or min(crystals.values()) < 0:
        yield f"there are {total} crystals, {crystals} of them unowned"
    holder = isle["holder"]
    if (holder is None) != (isle["since"] is None) or not 0 <= isle["full_rounds"] <= (data.ROUNDS_TO_WIN if holder else 0):
        yield f"the record of the Isle is {isle}"
    if (
        holder not in (None, state["active"])
        and not _broken_off(state)
        and data.FLAGSHIP not in state["players"][holder]["fleets"].get(data.ISLE, ())
    ):
        yield f"{holder} is holder of the Isle without its capital ship"
    if state["countdown"] is not None and not 1 <= state["countdown"] <= data.COUNTDOWN:
        yield f"the countdown is {state['countdown']}"
    if holder is not None and state["countdown"] is None:
        yield "the Isle has a holder and the countdown does not run"
    if not 1 <= state["round"] <= option(state, "round_limit"):
        yield f"this is round {state['round']}"


def _broken_cards(state: State) -> Iterator[str]:
    """Power cards and lost expeditions (WOC-SET-02, WOC-PWR-02)."""
    power = state["power"]
    cards = [
        *power["display"],
        *power["deck"],
        *power["discard"],
        *[card for player in state["players"].values() for card in player["cards"]],
    ]
    if Counter(cards) != Counter(data.deck(len(state["seats"]))):
        yield f"there are {len(cards)} power cards"
    if len(power["display"]) > data.DISPLAY_SIZE or (len(power["display"]) < data.DISPLAY_SIZE and power["deck"]):
        yield f"the display has {len(power['display'])} cards"
    tokens = [here["expedition"] for here in state["apex"].values() if here["expedition"] is not None]
    if len(set(tokens)) != len(tokens) or not set(tokens) <= set(data.EXPEDITIONS):
        yield f"the lost expeditions are {tokens}"
    for island, here in state["apex"].items():
        if here["explored"] != (here["expedition"] is None) or not set(here["known_to"]) <= set(state["seats"]):
            yield f"{island} is {here}"
        if island in state["covered"] and (not here["explored"] or here["pirate"]):
            yield f"the covered {island} is {here}"


def _broken_board(state: State) -> Iterator[str]:
    """Ships, privateers and marks, and the room of locations. Another seat has ships on a home base only while it attacks it: afterwards
    they have left, or the owner is eliminated (WOC-MAP-13, WOC-CTL-04, WOC-RET-03, WOC-ELM-01)."""
    battle, board, broken_off = state["battle"], in_play(state).difference(state["covered"]), _broken_off(state)
    for location in data.LOCATIONS:
        there = occupants(state, location)
        if not there:
            continue
        if location not in board:
            yield f"{there} have ships on {location}"
        if len(there) > 1 and not broken_off and (battle is None or battle["at"] != location or len(there) > 2):
            yield f"{there} share {location}"
        owner = data.OWNER_OF_HOME.get(location)
        player = state["players"].get(owner) if owner is not None else None
        defended = battle is not None and (battle["at"], battle["defender"]) == (location, owner)
        if player is not None and not player["eliminated"] and there != [owner] and not defended and not broken_off:
            yield f"{there} have ships on {location}, the home base of {owner}, which does not defend it"
        ships = sum([sum(state["players"][seat]["fleets"][location].values()) for seat in there])
        welcome = [seat for seat in there if location == data.HOME[seat] and data.FLAGSHIP in state["players"][seat]["fleets"][location]]
        if ships > data.CAPACITY[location] + len(welcome):
            yield f"{ships} ships are on {location}"
    for location, mark in state["marks"].items():
        if (
            location not in board
            or data.CONTINENT[location] not in state["seats"]
            or mark not in (*range(1, data.FORECAST_TOKENS + 1), data.BARREN)
        ):
            yield f"{location} is marked {mark}"
    if state["marks"] and not option(state, "disasters"):
        yield "islands are marked in a match without disasters"
    privateers = [player["privateer"] for player in state["players"].values() if player["privateer"] is not None]
    pirates = sum([here["pirate"] for here in state["apex"].values()])
    abroad = [location for location in privateers if location != data.RESERVE]
    if pirates + len(privateers) > len(data.RING) * option(state, "pirates") or len(set(abroad)) != len(abroad):
        yield f"there are {pirates} pirates, and privateers at {privateers}"


def _broken_player(state: State, seat: Seat) -> Iterator[str]:
    """A seat's ships, tokens, crystals and means (WOC-CMP-05, WOC-TEL-03, WOC-TEL-05, WOC-MNT-01, WOC-ELM-03, WOC-LIM-04)."""
    player = state["players"][seat]
    fleets = player["fleets"]
    ships: Counter[str] = Counter()
    for location, fleet in fleets.items():
        ships.update(fleet)
        if not fleet or min(fleet.values()) < 1:
            yield f"{seat} has the fleet {fleet} on {location}"
    if any(ships[ship] > data.LIMIT[ship] for ship in ships) or ships[data.FLAGSHIP] != (not player["eliminated"]):
        yield f"{seat} has {dict(ships)}"
    tokens = player["teleporters"]
    if (
        len(tokens) > data.TELEPORTERS
        or len(set(tokens)) != len(tokens)
        or not data.DOCKABLE.difference(state["covered"]).issuperset(tokens)
    ):
        yield f"{seat} has teleporters on {tokens}"
    if any(data.CONTINENT[location] != seat for location in player["mounted"]):
        yield f"{seat} has crystals mounted on {player['mounted']}"
    if min([goods(player)[name] for name in (*data.RESOURCES, "crystals")]) < 0 or not 0 <= player["ability"] <= data.MAX_LEVEL:
        yield f"{seat} has {player}"
    if len(player["cards"]) > data.HAND_LIMIT:
        yield f"{seat} has the cards {player['cards']}"
    if not player["entered_central"] and any(location in data.APEX or location == data.ISLE for location in fleets):
        yield f"{seat} is on the central continent without having entered it"
    if player["eliminated"] and (fleets or tokens or player["mounted"] or player["cards"] or player["privateer"] or player["crystals"]):
        yield f"{seat} is eliminated and has something left"
    battle = state["battle"]
    bid = battle["bids"].get(seat) if battle is not None and battle["result"] is None else None
    if bid is not None and (bid["ammo"] > player["ammo"] or Counter(bid["cards"]) - Counter(player["cards"])):
        yield f"{seat} has bid {bid} and has not got that"
