"""What the evaluation of War of the Worlds looks at. Every feature counts for the aliens; a human seat gets each with the opposite sign.

Cards: `deck <card>` is how many copies a seat draws with a full hand, on average; `hand <card>` is how many it holds. `use <who>` is the
attacks of somebody in the deck, times how many are where they can carry them out. Board: what has been destroyed and dealt, figures and
buildings, the civilians that a figure can reach, and the fighters that can reach something to attack.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

from games.kernel import Seat
from games.war_of_the_worlds import data
from games.war_of_the_worlds.document import Region, Side, State

# ---------------------------------------------------------------- the course of a turn


def pending(state: State, seat: Seat) -> bool:
    """Return True if the turn of a seat is under way."""
    return state["outcome"] is None and state["active"] == seat


# ---------------------------------------------------------------- features

EARLY, MIDDLE, LATE = "early", "middle", "late"
PHASES: tuple[str, ...] = (EARLY, MIDDLE, LATE)
_MIDDLE_FROM, _LATE_FROM = 8, 18  # of the 30 points of a goal, those of the seat that has more

_HELD_BY: dict[str, tuple[str, ...]] = {
    seat: tuple(name for name, card in data.CARDS.items() if card.side == seat and not card.building) for seat in data.SEATS
}
_HELD: tuple[str, ...] = tuple(card for cards in _HELD_BY.values() for card in cards)
_HUNTERS: tuple[str, ...] = tuple(kind.id for kind in data.KINDS.values() if kind.side == data.ALIENS)
_FAR = 4  # steps over land that count as far away

_CROWD_READY = "civilians"


def _user(card: str) -> str | None:
    """Return who carries out the attacks of a card: a kind of figure, or civilians; None if the card needs nobody."""
    for terms in data.CARDS[card].options:
        if terms.effect == data.CIVILIAN_ATTACK:
            return _CROWD_READY
        if terms.kind is not None and (terms.damage or terms.unprotected_only or terms.effect == data.DESTROY_CIVILIAN):
            return terms.kind
    return None


_USERS: tuple[str, ...] = (_CROWD_READY, *data.KINDS)
_COURSE = ("aliens", "killed", "dealt", "killed squared", "dealt squared", "turn", "to spend")
_PREY = ("prey", "shielded prey", "near prey", "near shielded prey", "far from prey")
_REST = ("shelter", "mined", "pinned hunters", "kept out", "kept in")
NAMES: tuple[str, ...] = (
    *_COURSE,
    *[f"deck {card}" for card in _HELD],
    *[f"hand {card}" for card in _HELD],
    *[f"built {building}" for building in data.BUILDINGS],
    *[f"{kind} on board" for kind in data.KINDS],
    *[f"civilians at {away}" for away in range(_FAR)],
    *[f"{kind.id} at {away}" for kind in data.KINDS.values() if kind.side == data.HUMANS for away in range(_FAR)],
    *[f"{kind} {what}" for kind in _HUNTERS for what in _PREY],
    *[f"use {user}" for user in _USERS],
    *_REST,
)
_PLACE: dict[str, int] = {name: place for place, name in enumerate(NAMES)}
_CARD: dict[str, int] = {card: place for cards in _HELD_BY.values() for place, card in enumerate(cards)}
_HAND: dict[str, int] = {card: _PLACE[f"hand {card}"] for card in _HELD}
_BUILT: dict[str, int] = {name: _PLACE[f"built {name}"] for name in data.BUILDINGS}
_BOARD_FIRST = min(_BUILT.values())  # from here on, everything follows from the board, but for what cards and influence add
_USES: tuple[tuple[int, tuple[int, ...]], ...] = tuple(
    (_PLACE[f"use {user}"], tuple(_PLACE[f"deck {card}"] for card in _HELD if _user(card) == user)) for user in _USERS
)
_CROWD = _PLACE["civilians at 0"]
_SHELTER, _MINED, _PINNED_HUNTERS, _KEPT_OUT, _KEPT_IN = [_PLACE[name] for name in _REST]
_BALLOONS = next(_BUILT[row.id] for row in data.BUILDINGS.values() if row.slot == "balloons")
_MOST = 3  # civilians of a region that count
_FIGHTERS = 6  # civilians that count as fighters

Pieces = tuple[int, str | None, bool]
"""The civilians, the building and the balloons of a land region."""

_UNITS_OF = itemgetter(*data.FIGURES)
_LANDS_OF = itemgetter(*data.LAND)
_PIECES_OF = itemgetter("civilians", "building", "balloons")


class _Cards(NamedTuple):
    """What the cards of a side count for: all in its deck, and those in its hand, both in the order of `_HELD_BY`."""

    deck: tuple[float, ...]
    hand: tuple[float, ...]


class _Civilians(NamedTuple):
    """The civilians of a region: how many, `_MOST` at most, whether a token protects them, and the Defence of a building there."""

    region: str
    few: int
    covered: bool
    worth: int


class _Land(NamedTuple):
    """What there is on land besides figures: how many civilians were killed, the features of all buildings (the others are 0), and where
    the civilians are.

    `targets`: the regions with buildings of the aliens. `mined`: those with mines.
    """

    killed: int
    counts: tuple[float, ...]
    crowds: tuple[_Civilians, ...]
    targets: tuple[str, ...]
    mined: tuple[str, ...]


class _Board(NamedTuple):
    """What the pieces on the board count for: how many civilians were killed, and the features from `_BOARD_FIRST` on.

    `uses`: the users of cards that can use one now. Each has the place of its feature, how many can, 2 at most, and the places of the
    cards in the deck.
    """

    killed: int
    counts: tuple[float, ...]
    uses: tuple[tuple[int, float, tuple[int, ...]], ...]


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


def _stand(figure: str, kind: data.Kind) -> _Stand:
    alien = kind.side == data.ALIENS
    first = _PLACE[f"{kind.id} {_PREY[0]}" if alien else f"{kind.id} at 0"]
    return _Stand(figure, alien, kind.blocks, kind.attackable, _PLACE[f"{kind.id} on board"], first, _USERS.index(kind.id))


_STANDS: tuple[_Stand, ...] = tuple(_stand(figure, kind) for figure, kind in data.FIGURES.items())


def phase(state: State) -> str:
    """Return how far the match has come: by the points of the seat that is nearer to its goal."""
    left = 0
    for land in state["regions"].values():
        left += land["civilians"]
    most = max(state["damage"], data.CIVILIANS - left)
    return EARLY if most < _MIDDLE_FROM else MIDDLE if most < _LATE_FROM else LATE


def features(state: State, seat: Seat) -> list[float]:
    """Return the features of a position for a seat, in the order of `NAMES`."""
    regions, sides = state["regions"], state["sides"]
    places = tuple([unit["region"] for unit in _UNITS_OF(state["units"])])
    board = _board(seat, places, tuple(map(_PIECES_OF, _LANDS_OF(regions))))
    aliens, humans = _cards_of(sides, data.ALIENS, seat), _cards_of(sides, data.HUMANS, seat)
    found = [*_course(state, board.killed, seat), *aliens.deck, *humans.deck, *aliens.hand, *humans.hand, *board.counts]
    for use, number, decks in board.uses:
        for deck in decks:
            found[use] += found[deck] * number
    for region in [region for region, land in regions.items() if land["influence"]]:
        _count_influence(regions, region, seat, found)
    return found


def leave_out_hand(state: State, seat: Seat, found: list[float]) -> None:
    """Take the cards of a seat's hand out of features. No card is in the hands of both sides."""
    for card in state["sides"][seat]["hand"]:
        found[_HAND[card]] = 0.0


def _for(seat: Seat, found: Sequence[float]) -> tuple[float, ...]:
    """Return features that were counted for the aliens as they count for a seat."""
    return tuple(found) if seat == data.ALIENS else tuple([-number for number in found])


def _course(state: State, killed: int, seat: Seat) -> tuple[float, ...]:
    """Return the features of `_COURSE`: the points of both seats, whose turn it is, and what that one may still spend."""
    sign = 1.0 if seat == data.ALIENS else -1.0
    turn = sign if state["active"] == data.ALIENS else -sign
    dealt = state["damage"]
    return (
        sign,
        sign * (killed / 10.0),
        sign * (-dealt / 10.0),
        sign * (killed * killed / (data.CIVILIANS * 10.0)),
        sign * (-dealt * dealt / (data.DAMAGE_TO_WIN * 10.0)),
        turn,
        turn * state["resources"] / 5.0,
    )


def _cards_of(sides: Mapping[str, Side], side: str, seat: Seat) -> _Cards:
    piles = sides[side]
    return _cards(side, seat, tuple(piles["hand"]), tuple(piles["supply"]), tuple(piles["discard"]))


@lru_cache(maxsize=1024)
def _cards(side: str, seat: Seat, hand: tuple[str, ...], supply: tuple[str, ...], discard: tuple[str, ...]) -> _Cards:
    """Return what the cards of a side count for, for a seat."""
    sign = 1.0 if side == data.ALIENS else -1.0
    each = sign * data.HAND_SIZE / max(len(hand) + len(supply) + len(discard), data.WEIGHTS.lean)
    in_deck = [0.0] * len(_HELD_BY[side])
    in_hand = in_deck.copy()
    for card in hand:
        in_hand[_CARD[card]] += sign
    for card in (*hand, *supply, *discard):
        in_deck[_CARD[card]] += each
    return _Cards(_for(seat, in_deck), _for(seat, in_hand))


def _count_influence(regions: Mapping[str, Region], region: str, seat: Seat, found: list[float]) -> None:
    """Count the civilians that may not leave a region with influence, and those next to it that may not enter."""
    sign = 1.0 if seat == data.ALIENS else -1.0
    influence = regions[region]["influence"]
    if data.NO_EXIT in influence:
        found[_KEPT_IN] += sign * regions[region]["civilians"]
    if data.NO_ENTRY in influence:
        for near in data.BESIDE[region]:
            found[_KEPT_OUT] += sign * regions[near]["civilians"]


@lru_cache(maxsize=1024)
def _board(seat: Seat, places: tuple[str | None, ...], pieces: tuple[Pieces, ...]) -> _Board:
    """Count civilians, buildings, figures, and who can reach whom, for a seat. `places`: where the figures are, in the order of `FIGURES`.
    `pieces`: what is in the land regions, in the order of `LAND`. A search comes to few boards in many positions, so they are kept."""
    land = _land(pieces)
    found = list(land.counts)
    standing = [(stand, here) for stand, here in zip(_STANDS, places, strict=True) if here is not None]
    guarded = [here for stand, here in standing if stand.blocks and not stand.alien]
    prey = _count_shelter(land.crowds, guarded, found)
    away = _steps(tuple(sorted([*land.targets, *[here for stand, here in standing if stand.attackable]])))
    ready = [0.0] * len(_USERS)
    ready[0] = _count_fighters(prey, away, found) / 2.0
    for (_, alien, blocks, _, on_board, first, user), here in standing:
        if alien:
            found[on_board] += 1.0
            _count_prey(first, here, prey, found)
            ready[user] += here in prey
            if blocks:
                found[_PINNED_HUNTERS] -= here in guarded
                for region in land.mined:
                    found[_MINED] -= region in data.BESIDE[here]
        else:
            found[on_board] -= 1.0
            steps = away[here] if blocks else away[here] - 1
            found[first + (steps if steps < _FAR else _FAR - 1)] -= 1.0
            ready[user] += steps == 0
    uses = [(use, min(2.0, number), decks) for (use, decks), number in zip(_USES, ready, strict=True) if number]
    return _Board(land.killed, _for(seat, found[_BOARD_FIRST:]), tuple(uses))


@lru_cache(maxsize=256)
def _land(pieces: tuple[Pieces, ...]) -> _Land:
    """Count civilians and buildings, wherever the figures are."""
    found = [0.0] * len(NAMES)
    left = 0
    crowds: list[_Civilians] = []
    targets: list[str] = []
    mined: list[str] = []
    for region, (civilians, building, balloons) in zip(data.LAND, pieces, strict=True):
        left += civilians
        if building in data.BUILDINGS_OF[data.ALIENS]:
            found[_BUILT[building]] += 1.0
            targets.append(region)
        elif building is not None:
            found[_BUILT[building]] -= 1.0
        if building in data.MINES:
            mined.append(region)
        if balloons:
            found[_BALLOONS] -= 1.0
        if civilians:
            crowds.append(
                _Civilians(region, min(_MOST, civilians), building in data.HIT_FIRST or balloons, data.HIT_FIRST.get(building, 1))
            )
    return _Land(data.CIVILIANS - left, tuple(found), tuple(crowds), tuple(targets), tuple(mined))


def _count_shelter(crowds: Sequence[_Civilians], guarded: list[str], found: list[float]) -> dict[str, tuple[int, bool]]:
    """Count civilians that something protects. Return the regions with civilians: how many, and whether something protects them."""
    prey: dict[str, tuple[int, bool]] = {}
    for region, few, built, worth in crowds:
        covered = built or region in guarded
        prey[region] = (few, covered)
        if covered:
            found[_SHELTER] -= few * worth
    return prey


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
    for near in data.BESIDE[here]:
        if near in prey:
            number, covered = prey[near]
            found[start + 2 + covered] += number
            reached = True
    if not reached:
        for away, region in _NEAREST[here]:
            if region in prey:
                found[start + 4] -= away
                break


_NEAREST: dict[str, list[tuple[int, str]]] = {
    here: sorted((away, region) for region, away in steps.items()) for here, steps in data.DISTANCE.items()
}


@lru_cache(maxsize=4096)
def _steps(targets: tuple[str, ...]) -> dict[str, int]:
    """Return the steps over land from every region to the nearest of some regions, `_FAR` at most."""
    return {region: min([_FAR, *(data.DISTANCE[region][target] for target in targets)]) for region in data.BESIDE}
