"""What a seat cannot see, filled in for search; and what is worth remembering for that."""

from __future__ import annotations

from collections import Counter

from games.chance import Chance
from games.kernel import Event, Memory, Seat, State
from games.war_of_the_worlds.data import CARD_OF, CARDS, KINDS, SEATS, STARTING_FIGURES, pile

_ALL: dict[Seat, list[str]] = {seat: pile(seat, starting=True) + pile(seat, starting=False) for seat in SEATS}


def card_bought(memory: Memory, event: Event) -> Memory:
    """A card that was bought has left the offer deck for good; it may be reshuffled out of sight (WOW-OFR-04, WOW-TRN-12)."""
    return _noted(memory, event, "bought" if event["to"] == "discard" else "gone")


def card_swapped(memory: Memory, event: Event) -> Memory:
    """A swapped card lies at the bottom of the offer deck, or has left the match (WOW-OFR-08, WOW-OFR-09)."""
    return _noted(memory, event, "under" if event["to"] == "offer_deck" else "gone")


def _noted(memory: Memory, event: Event, what: str) -> Memory:
    name = f"{event['seat']} {what}"
    return {**memory, name: [*memory.get(name, ()), event["card"]]}


REMEMBERS = {"card_bought": card_bought, "card_swapped": card_swapped}


def guess(view: State, viewer: str, chance: Chance, memory: Memory | None = None) -> State:
    """A document that agrees with a view and with the purchases and swaps that everybody saw: each side's unseen cards dealt to the
    piles in which they can be (WOW-VIS-03, WOW-VIS-04)."""
    sides = {
        seat: _filled(view, seat, chance, memory or {}) if isinstance(side["supply"], int) else side for seat, side in view["sides"].items()
    }
    return {**view, "sides": sides}


def _filled(view: State, seat: Seat, chance: Chance, memory: Memory) -> dict[str, list[str]]:
    """A side with its hidden piles dealt, those cards that must have left the offer deck to hand and supply before others, and those
    that were put under it at its bottom."""
    side = view["sides"][seat]
    own = isinstance(side["hand"], list)
    hand = 0 if own else side["hand"]
    size, left = hand + side["supply"], side["offer_deck"]
    unseen = _ALL[seat].copy()
    for card in [*side["discard"], *side["removed"], *side["offer"], *(side["hand"] if own else ())]:
        if card in unseen:
            unseen.remove(card)
    # A position that was never played can hide more cards than its side has left; then others stand in.
    missing = max(0, size + left - len(unseen))
    unseen += (_ALL[seat] * (missing // len(_ALL[seat]) + 1))[:missing]
    ranked = _ranked(chance.shuffle(unseen), _bought(view, seat, memory))
    cycle = chance.shuffle(ranked[:size])
    return {
        **side,
        "hand": side["hand"] if own else cycle[:hand],
        "supply": cycle[hand:],
        "offer_deck": _stacked(chance.shuffle(ranked[len(ranked) - left :]), memory.get(f"{seat} under", [])),
    }


def _bought(view: State, seat: Seat, memory: Memory) -> Counter[str]:
    """The cards that were bought and are in a hidden hand or supply: what was seen to be bought, less what lies open; and, where a
    figure stands whose purchase nobody remembers, one card of its kind (WOW-UNT-01)."""
    side, units = view["sides"][seat], view["units"]
    bought: Counter[str] = Counter(memory.get(f"{seat} bought", ()))
    bought -= Counter(side["removed"]) - Counter(memory.get(f"{seat} gone", ()))
    bought -= Counter(side["discard"])
    if isinstance(side["hand"], list):
        bought -= Counter(side["hand"])
    if f"{seat} bought" not in memory:
        lying = {*side["discard"], *side["removed"], *side["offer"], *(side["hand"] if isinstance(side["hand"], list) else ())}
        for kind in KINDS.values():
            if CARD_OF[kind.id] not in lying and any(units[one]["region"] and one not in STARTING_FIGURES for one in kind.figures):
                bought[CARD_OF[kind.id]] = 1
    return bought


def _ranked(unseen: list[str], bought: Counter[str]) -> list[str]:
    """Unseen cards, those first that cannot be in the offer deck and those last that can be nowhere else: starting cards are never
    there, nor is what was bought; a building card that was bought is seen (WOW-OFR-04, WOW-OFR-12, WOW-CRD-06)."""
    starting, sure, either, built = [], [], [], []
    for card in unseen:
        if CARDS[card].starting:
            starting.append(card)
        elif CARDS[card].building:
            built.append(card)
        elif bought[card] > 0:
            bought[card] -= 1
            sure.append(card)
        else:
            either.append(card)
    return starting + sure + either + built


def _stacked(deck: list[str], under: list[str]) -> list[str]:
    """An offer deck with the cards at its bottom that were put there (WOW-OFR-08)."""
    bottom: list[str] = []
    for card in reversed(under[-len(deck) :] if deck else []):
        if card not in deck:
            break
        deck.remove(card)
        bottom.insert(0, card)
    return deck + bottom
