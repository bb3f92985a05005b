"""What a seat cannot see, filled in for search."""

from __future__ import annotations

from games.chance import Chance
from games.kernel import Seat, State
from games.war_of_the_worlds.data import CARD_OF, CARDS, KINDS, SEATS, STARTING_FIGURES, pile

_ALL: dict[Seat, list[str]] = {seat: pile(seat, starting=True) + pile(seat, starting=False) for seat in SEATS}


def guess(view: State, viewer: str, chance: Chance) -> State:
    """A document that agrees with a view: each side's unseen cards dealt to the piles in which they can be (WOW-VIS-03, WOW-VIS-04)."""
    sides = {seat: _filled(view, seat, chance) if isinstance(side["supply"], int) else side for seat, side in view["sides"].items()}
    return {**view, "sides": sides}


def _filled(view: State, seat: Seat, chance: Chance) -> dict[str, list[str]]:
    """A side with its hidden piles dealt, those cards that must have left the offer deck to hand and supply before others."""
    side = view["sides"][seat]
    own = isinstance(side["hand"], list)
    seen = [*side["discard"], *side["removed"], *side["offer"], *(side["hand"] if own else ())]
    hand = 0 if own else side["hand"]
    size, left = hand + side["supply"], side["offer_deck"]
    unseen = _ALL[seat].copy()
    for card in seen:
        if card in unseen:
            unseen.remove(card)
    # A position that was never played can hide more cards than its side has left; then others stand in.
    missing = max(0, size + left - len(unseen))
    unseen += (_ALL[seat] * (missing // len(_ALL[seat]) + 1))[:missing]
    ranked = _ranked(view, chance.shuffle(unseen), seen)
    cycle = chance.shuffle(ranked[:size])
    return {
        **side,
        "hand": side["hand"] if own else cycle[:hand],
        "supply": cycle[hand:],
        "offer_deck": chance.shuffle(ranked[len(ranked) - left :]),
    }


def _ranked(view: State, unseen: list[str], seen: list[str]) -> list[str]:
    """Unseen cards, those first that cannot be in the offer deck and those last that can be nowhere else: starting cards are never
    there, a figure placed since the set-up came with a card that was bought, and a building card that was bought is seen (WOW-OFR-04,
    WOW-OFR-12, WOW-CRD-06, WOW-UNT-01)."""
    starting = [card for card in unseen if CARDS[card].starting]
    built = [card for card in unseen if CARDS[card].building]
    either = [card for card in unseen if not CARDS[card].starting and not CARDS[card].building]
    units = view["units"]
    bought = []
    for kind in KINDS.values():
        card = CARD_OF[kind.id]
        if card in either and card not in seen and any(units[one]["region"] and one not in STARTING_FIGURES for one in kind.figures):
            either.remove(card)
            bought.append(card)
    return starting + bought + either + built
