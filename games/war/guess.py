"""A guess of what a seat cannot see, for search."""

from __future__ import annotations

from games.chance import Chance
from games.kernel import Memory
from games.war.data import CARDS, DECK_ORDER
from games.war.document import State
from games.war.sight import View


def guess(view: View, viewer: str, chance: Chance, memory: Memory | None = None) -> State:
    """Return a document that agrees with a view: the unseen cards are shuffled by background and stacked as the deck was (WAR-SET-07,
    WAR-SET-09)."""
    size = view["deck"]
    if isinstance(size, list):
        whole: State = view
        return whole
    seen = {card for hand in view["hands"].values() for card in hand} | {*view["row"], *view["discard"], *view["combat"].values()}
    unseen = [name for name, card in CARDS.items() if card.symbol in view["symbols"] and name not in seen]
    deck: list[str] = []
    for background in DECK_ORDER:
        deck += chance.shuffle([card for card in unseen if CARDS[card].background == background])
    guessed: State = view | {"deck": deck[len(deck) - size :]}
    return guessed
