"""What a seat cannot see, filled in for search."""

from __future__ import annotations

from games.chance import Chance
from games.kernel import Memory, State
from games.war.data import CARDS, DECK_ORDER


def guess(view: State, viewer: str, chance: Chance, memory: Memory | None = None) -> State:
    """A document that agrees with a view: the unseen cards shuffled by background and stacked as the deck was (WAR-SET-07, WAR-SET-09)."""
    if isinstance(view["deck"], list):
        return view
    seen = {card for hand in view["hands"].values() for card in hand} | {*view["row"], *view["discard"], *view["combat"].values()}
    unseen = [name for name, card in CARDS.items() if card.symbol in view["symbols"] and name not in seen]
    deck: list[str] = []
    for background in DECK_ORDER:
        deck += chance.shuffle([card for card in unseen if CARDS[card].background == background])
    return {**view, "deck": deck[len(deck) - view["deck"] :]}
