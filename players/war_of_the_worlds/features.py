"""What the evaluation of War of the Worlds looks at. Every feature counts for the aliens; a human seat gets each with the opposite sign.

Cards: `deck <card>` is how many copies a seat draws with a full hand, on average; `hand <card>` is how many it holds. `use <who>` is the
attacks of somebody in the deck, times how many are where they can carry them out. Board: what has been destroyed and dealt, figures and
buildings, the civilians that a figure can reach, and the fighters that can reach something to attack.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from games.kernel import Seat
from games.war_of_the_worlds.data import (
    ALIENS,
    BESIDE,
    BUILDINGS,
    BUILDINGS_OF,
    CARDS,
    CIVILIAN_ATTACK,
    CIVILIANS,
    DAMAGE_TO_WIN,
    DESTROY_CIVILIAN,
    FIGURES,
    HAND_SIZE,
    HIT_FIRST,
    HUMANS,
    KINDS,
    LAND,
    MINES,
    NO_ENTRY,
    NO_EXIT,
    SEATS,
    WEIGHTS,
    Kind,
)
from games.war_of_the_worlds.document import State

# ---------------------------------------------------------------- the course of a turn


def pending(state: State, seat: Seat) -> bool:
    """Return True if the turn of a seat is under way."""
    return state["outcome"] is None and state["active"] == seat


# ---------------------------------------------------------------- features

EARLY, MIDDLE, LATE = "early", "middle", "late"
PHASES: tuple[str, ...] = (EARLY, MIDDLE, LATE)
_MIDDLE_FROM, _LATE_FROM = 8, 18  # of the 30 points of a goal, those of the seat that has more

_HELD: tuple[str, ...] = tuple(name for name, card in CARDS.items() if not card.building)
_HUNTERS: tuple[str, ...] = tuple(kind.id for kind in KINDS.values() if kind.side == ALIENS)
_FAR = 4  # steps over land that count as far away

_CROWD_READY = "civilians"


def _user(card: str) -> str | None:
    """Return who carries out the attacks of a card: a kind of figure, or civilians; None if the card needs nobody."""
    for terms in CARDS[card].options:
        if terms.effect == CIVILIAN_ATTACK:
            return _CROWD_READY
        if terms.kind is not None and (terms.damage or terms.unprotected_only or terms.effect == DESTROY_CIVILIAN):
            return terms.kind
    return None


_USERS: tuple[str, ...] = (_CROWD_READY, *KINDS)
_USER_OF: dict[str, int | None] = {card: _USERS.index(user) if (user := _user(card)) else None for card in _HELD}
_BOARD = ("aliens", "killed", "dealt", "killed squared", "dealt squared", "turn", "to spend")
_PREY = ("prey", "shielded prey", "near prey", "near shielded prey", "far from prey")
_REST = ("shelter", "mined", "pinned hunters", "kept out", "kept in")
NAMES: tuple[str, ...] = (
    *_BOARD,
    *[f"deck {card}" for card in _HELD],
    *[f"hand {card}" for card in _HELD],
    *[f"built {building}" for building in BUILDINGS],
    *[f"{kind} on board" for kind in KINDS],
    *[f"civilians at {away}" for away in range(_FAR)],
    *[f"{kind.id} at {away}" for kind in KINDS.values() if kind.side == HUMANS for away in range(_FAR)],
    *[f"{kind} {what}" for kind in _HUNTERS for what in _PREY],
    *[f"use {user}" for user in _USERS],
    *_REST,
)
_PLACE: dict[str, int] = {name: place for place, name in enumerate(NAMES)}
_DECK, _HAND, _BUILT = _PLACE[f"deck {_HELD[0]}"], _PLACE[f"hand {_HELD[0]}"], {name: _PLACE[f"built {name}"] for name in BUILDINGS}
_CARD: dict[str, int] = {name: place for place, name in enumerate(_HELD)}
_CROWD = _PLACE["civilians at 0"]
_USE = _PLACE[f"use {_USERS[0]}"]
_USES: tuple[tuple[int, int, int], ...] = tuple(
    (_DECK + _CARD[card], user, _USE + user) for card, user in _USER_OF.items() if user is not None
)
_SHELTER, _MINED, _PINNED_HUNTERS, _KEPT_OUT, _KEPT_IN = [_PLACE[name] for name in _REST]
_BALLOONS = next(_BUILT[row.id] for row in BUILDINGS.values() if row.slot == "balloons")
_MOST = 3  # civilians of a region that count
_FIGHTERS = 6  # civilians that count as fighters


class _Stand(NamedTuple):
    """What counts of a figure: whether it is an alien, blocks land and can be attacked, and the places of its kind.

    `first`: the first place of what it hunts, or of how far it has to go to fight. `ready`: its kind among the users of cards.
    """

    figure: str
    alien: bool
    blocks: bool
    attackable: bool
    on_board: int
    first: int
    ready: int


def _stand(figure: str, kind: Kind) -> _Stand:
    alien = kind.side == ALIENS
    first = _PLACE[f"{kind.id} {_PREY[0]}" if alien else f"{kind.id} at 0"]
    return _Stand(figure, alien, kind.blocks, kind.attackable, _PLACE[f"{kind.id} on board"], first, _USERS.index(kind.id))


_STANDS: tuple[_Stand, ...] = tuple(_stand(figure, kind) for figure, kind in FIGURES.items())


def phase(state: State) -> str:
    """Return how far the match has come: by the points of the seat that is nearer to its goal."""
    left = 0
    for land in state["regions"].values():
        left += land["civilians"]
    most = max(state["damage"], CIVILIANS - left)
    return EARLY if most < _MIDDLE_FROM else MIDDLE if most < _LATE_FROM else LATE


def features(state: State, seat: Seat) -> list[float]:
    """Return the features of a position for a seat, in the order of `NAMES`."""
    found = [0.0] * len(NAMES)
    _count_cards(state, found)
    ready = _count_board(state, found)
    for deck, user, use in _USES:
        found[use] += found[deck] * ready[user]
    return found if seat == ALIENS else [-number for number in found]


def leave_out_hand(state: State, seat: Seat, found: list[float]) -> None:
    """Take the cards of a seat's hand out of features. No card is in the hands of both sides."""
    for card in state["sides"][seat]["hand"]:
        found[_HAND + _CARD[card]] = 0.0


def _count_cards(state: State, found: list[float]) -> None:
    """Count the cards of both seats, and what the active seat may still spend."""
    for seat in SEATS:
        side = state["sides"][seat]
        sign = 1.0 if seat == ALIENS else -1.0
        hand, supply, discard = side["hand"], side["supply"], side["discard"]
        each = sign * HAND_SIZE / max(len(hand) + len(supply) + len(discard), WEIGHTS.lean)
        for card in hand:
            place = _CARD[card]
            found[_HAND + place] += sign
            found[_DECK + place] += each
        for card in supply:
            found[_DECK + _CARD[card]] += each
        for card in discard:
            found[_DECK + _CARD[card]] += each
    sign = 1.0 if state["active"] == ALIENS else -1.0
    found[5] = sign
    found[6] = sign * state["resources"] / 5.0


def _count_board(state: State, found: list[float]) -> list[float]:
    """Count points, buildings, figures, and who can reach whom. Return how many of each user of cards can use one now, 2 at most."""
    units, regions = state["units"], state["regions"]
    standing = [(stand, here) for stand in _STANDS if (here := units[stand.figure]["region"]) is not None]
    guarded = [here for stand, here in standing if stand.blocks and not stand.alien]
    targets = [here for stand, here in standing if stand.attackable]
    prey = _count_regions(state, guarded, targets, found)
    away = _steps(tuple(sorted(targets)))
    ready = [0.0] * len(_USERS)
    ready[0] = _count_fighters(prey, away, found) / 2.0
    for (_, alien, blocks, _, on_board, first, user), here in standing:
        if alien:
            found[on_board] += 1.0
            _count_prey(first, here, prey, found)
            ready[user] += here in prey
            if blocks:
                found[_PINNED_HUNTERS] -= here in guarded
                for near in BESIDE[here]:
                    if regions[near]["building"] in MINES:
                        found[_MINED] -= 1.0
        else:
            found[on_board] -= 1.0
            steps = away[here] if blocks else away[here] - 1
            found[first + (steps if steps < _FAR else _FAR - 1)] -= 1.0
            ready[user] += steps == 0
    return [min(2.0, number) for number in ready]


def _count_regions(state: State, guarded: list[str], targets: list[str], found: list[float]) -> dict[str, tuple[int, bool]]:
    """Count points and buildings, and what conditions keep civilians from. Add where the buildings of the aliens are to `targets`.
    Return the regions with civilians: how many, `_MOST` at most, and whether something protects them."""
    left = 0
    prey: dict[str, tuple[int, bool]] = {}
    regions = state["regions"]
    for region, land in regions.items():
        building, civilians = land["building"], land["civilians"]
        if building is not None:
            if building in BUILDINGS_OF[ALIENS]:
                found[_BUILT[building]] += 1.0
                targets.append(region)
            else:
                found[_BUILT[building]] -= 1.0
        if land["balloons"]:
            found[_BALLOONS] -= 1.0
        if civilians:
            left += civilians
            few = min(_MOST, civilians)
            covered = building in HIT_FIRST or land["balloons"] or region in guarded
            prey[region] = (few, covered)
            if covered:
                found[_SHELTER] -= few * HIT_FIRST.get(building, 1)
        if land["influence"]:
            if NO_EXIT in land["influence"]:
                found[_KEPT_IN] += civilians
            if NO_ENTRY in land["influence"]:
                for near in BESIDE[region]:
                    found[_KEPT_OUT] += regions[near]["civilians"]
    _count_points(CIVILIANS - left, state["damage"], found)
    return prey


def _count_points(killed: int, dealt: int, found: list[float]) -> None:
    found[0] = 1.0
    found[1] = killed / 10.0
    found[2] = -dealt / 10.0
    found[3] = killed * killed / (CIVILIANS * 10.0)
    found[4] = -dealt * dealt / (DAMAGE_TO_WIN * 10.0)


def _count_fighters(prey: dict[str, tuple[int, bool]], away: dict[str, int], found: list[float]) -> int:
    """Count the civilians by their steps to what they can attack: no more than fight well, the nearest first. Return how many can attack
    where they are, 4 at most."""
    crowd = [0] * (_FAR + 1)
    for region, (number, _) in prey.items():
        crowd[away[region]] += number
    wanted = _FIGHTERS
    for steps in range(_FAR):
        number = min(wanted, crowd[steps])
        found[_CROWD + steps] -= number
        wanted -= number
    return min(4, crowd[0])


def _count_prey(start: int, here: str, prey: dict[str, tuple[int, bool]], found: list[float]) -> None:
    """Count the civilians where a figure is and next to it, or the steps to the nearest ones."""
    reached = False
    if here in prey:
        number, covered = prey[here]
        found[start + covered] += number
        reached = True
    for near in BESIDE[here]:
        if near in prey:
            number, covered = prey[near]
            found[start + 2 + covered] += number
            reached = True
    if not reached:
        for away, region in _NEAREST[here]:
            if region in prey:
                found[start + 4] -= away
                break


def _distances(start: str) -> dict[str, int]:
    """Return the steps over land from a region to every land region. From the sea the coast is one step away."""
    steps = {start: 0}
    edge = [start]
    for away in range(1, len(LAND) + 1):  # the longest way without a detour enters every land region once
        edge = list(dict.fromkeys([near for region in edge for near in BESIDE[region] if near not in steps]))
        steps.update(dict.fromkeys(edge, away))
    return steps


_DISTANCE: dict[str, dict[str, int]] = {region: _distances(region) for region in BESIDE}
_NEAREST: dict[str, list[tuple[int, str]]] = {
    here: sorted((away, region) for region, away in steps.items()) for here, steps in _DISTANCE.items()
}


@lru_cache(maxsize=4096)
def _steps(targets: tuple[str, ...]) -> dict[str, int]:
    """Return the steps over land from every region to the nearest of some regions, `_FAR` at most."""
    return {region: min([_FAR, *(_DISTANCE[region][target] for target in targets)]) for region in BESIDE}
