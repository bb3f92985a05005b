"""A guess at the hidden cards, for search, and the memory of the cards that everybody has seen."""

from __future__ import annotations

from games.chance import Chance
from games.kernel import Event, Memory, Seat
from games.war_of_the_worlds.data import CARD_OF, CARDS, DISCARD, KINDS, OFFER_DECK, SEATS, STARTING_FIGURES, pile
from games.war_of_the_worlds.document import Side, State
from games.war_of_the_worlds.sight import View

BOUGHT = "bought"
"""Remembered cards that were bought and went to the discard pile."""

GONE = "gone"
"""Remembered cards that left the game when they were bought or swapped."""

UNDER = "under"
"""Remembered cards that were put under the offer deck."""

_ALL: dict[Seat, list[str]] = {seat: pile(seat, starting=True) + pile(seat, starting=False) for seat in SEATS}
_COPIES: dict[Seat, dict[str, int]] = {seat: {card: cards.count(card) for card in cards} for seat, cards in _ALL.items()}
_STARTING = frozenset([card.id for card in CARDS.values() if card.starting])
_BUILDING = frozenset([card.id for card in CARDS.values() if card.building])


def card_bought(memory: Memory, event: Event) -> Memory:
    """Remember a card that was bought. It never returns to the offer deck, and it may be shuffled into the supply (WOW-OFR-04,
    WOW-TRN-12)."""
    return _noted(memory, event, BOUGHT if event["to"] == DISCARD else GONE)


def card_swapped(memory: Memory, event: Event) -> Memory:
    """Remember a card that was swapped. It is at the bottom of the offer deck, or has left the game (WOW-OFR-08, WOW-OFR-09)."""
    return _noted(memory, event, UNDER if event["to"] == OFFER_DECK else GONE)


def _noted(memory: Memory, event: Event, what: str) -> Memory:
    name = _key(event["seat"], what)
    return {**memory, name: [*memory.get(name, ()), event["card"]]}


def _key(seat: Seat, what: str) -> str:
    return f"{seat} {what}"


REMEMBERS = {"card_bought": card_bought, "card_swapped": card_swapped}


def guess(view: View, viewer: str, chance: Chance, memory: Memory | None = None) -> State:
    """Return a document that agrees with a view and with the purchases and swaps that everybody has seen. The unseen cards of each side are
    dealt to piles in which they can be (WOW-VIS-03, WOW-VIS-04)."""
    seen = view["sides"]
    sides = {seat: _filled(view, seat, chance, memory or {}) if isinstance(seen[seat]["supply"], int) else seen[seat] for seat in SEATS}
    guessed: State = view | {"sides": sides}
    return guessed


def _filled(view: View, seat: Seat, chance: Chance, memory: Memory) -> Side:
    """Return a side with its hidden piles dealt. Cards that must have left the offer deck go to hand and supply first. Cards that were put
    under the offer deck go to its bottom."""
    side = view["sides"][seat]
    own = isinstance(side["hand"], list)
    hand = 0 if own else side["hand"]
    size, left = hand + side["supply"], side["offer_deck"]
    copies = _COPIES[seat].copy()
    for card in [*side["discard"], *side["removed"], *side["offer"], *(side["hand"] if own else ())]:
        if copies.get(card):
            copies[card] -= 1
    unseen = [card for card, number in copies.items() for _ in range(number)]
    # A position that was never played can hide more cards than the side has left. Then other cards take their place.
    missing = size + left - len(unseen)
    if missing > 0:
        unseen += (_ALL[seat] * (missing // len(_ALL[seat]) + 1))[:missing]
    ranked = _ranked(chance.shuffle(unseen), _bought(view, seat, memory))
    cycle = chance.shuffle(ranked[:size])
    dealt: Side = side | {
        "hand": side["hand"] if own else cycle[:hand],
        "supply": cycle[hand:],
        "offer_deck": _stacked(chance.shuffle(ranked[len(ranked) - left :]), memory.get(_key(seat, UNDER), [])),
    }
    return dealt


def _bought(view: View, seat: Seat, memory: Memory) -> dict[str, int]:
    """Return the cards that were bought and are in a hidden hand or supply: the remembered purchases without the cards that lie open.
    Without memory, a figure on the board stands for one card of its kind (WOW-UNT-01)."""
    side, units = view["sides"][seat], view["units"]
    hand: list[str] = side["hand"] if isinstance(side["hand"], list) else []
    remembered: list[str] | None = memory.get(_key(seat, BOUGHT))
    if remembered is None:
        lying = {*side["discard"], *side["removed"], *side["offer"], *hand}
        return {
            CARD_OF[kind.id]: 1
            for kind in KINDS.values()
            if CARD_OF[kind.id] not in lying and any(units[one]["region"] and one not in STARTING_FIGURES for one in kind.figures)
        }
    gone: list[str] = memory.get(_key(seat, GONE), [])
    bought: dict[str, int] = {}
    for card in remembered:
        bought[card] = bought.get(card, 0) + 1
    for card in bought:
        removed = max(0, side["removed"].count(card) - gone.count(card))
        bought[card] -= removed + side["discard"].count(card) + hand.count(card)
    return bought


def _ranked(unseen: list[str], bought: dict[str, int]) -> list[str]:
    """Return the unseen cards, first those that cannot be in the offer deck, last those that must be there. Starting cards and bought cards
    are never there. An unseen building card always is (WOW-OFR-04, WOW-OFR-12, WOW-CRD-06)."""
    starting, sure, either, built = [], [], [], []
    for card in unseen:
        if card in _STARTING:
            starting.append(card)
        elif card in _BUILDING:
            built.append(card)
        elif bought.get(card, 0) > 0:
            bought[card] -= 1
            sure.append(card)
        else:
            either.append(card)
    return starting + sure + either + built


def _stacked(deck: list[str], under: list[str]) -> list[str]:
    """Return an offer deck with the cards at its bottom that were put there (WOW-OFR-08)."""
    bottom: list[str] = []
    for card in reversed(under[-len(deck) :] if deck else []):
        if card not in deck:
            break
        deck.remove(card)
        bottom.insert(0, card)
    return deck + bottom
