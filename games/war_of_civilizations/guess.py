"""Guesses of what a seat cannot see, for search; and what a guess remembers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from games.chance import Chance
from games.kernel import Event, Memory
from games.war_of_civilizations.data import BATTLE_CARDS, EXPEDITIONS, POWDER, START, deck
from games.war_of_civilizations.document import State
from games.war_of_civilizations.sight import View

_MOST_POWDER = 3 * START[POWDER]


def expedition_recovered(memory: Memory, event: Event) -> Memory:
    """Remember a token that was recovered. The document does not say which tokens have left the game (WOC-EXP-02)."""
    return {**memory, "recovered": [*memory.get("recovered", ()), event["expedition"]]}


REMEMBERS = {"expedition_recovered": expedition_recovered}


def guess(view: View, viewer: str, chance: Chance, memory: Memory | None = None) -> State:
    """Return a document that agrees with a view and with the tokens that everybody saw leave: a deck of the cards that are nowhere else,
    tokens on the islands with an unseen one, hidden ammunition, and bids that could have been sealed (WOC-GEN-05, WOC-BAT-05)."""
    guessed: Any = {**view}
    if isinstance(view["power"]["deck"], int):
        guessed["power"] = {**view["power"], "deck": _deck(view, chance)}
        guessed["apex"] = _tokens(view, chance, (memory or {}).get("recovered", ()))
    if any(player[POWDER] is None for player in view["players"].values()):
        guessed["players"] = {seat: _armed(player, chance) for seat, player in view["players"].items()}
    battle = view["battle"]
    if battle is not None and None in battle["bids"].values():
        bids = {seat: _bid(guessed["players"][seat], chance) if bid is None else bid for seat, bid in battle["bids"].items()}
        guessed["battle"] = {**battle, "bids": bids}
    state: State = guessed
    return state


def _deck(view: View, chance: Chance) -> list[str]:
    """Return the cards in use that are neither on display nor discarded nor in a hand, in any order (WOC-SET-02, WOC-PWR-03)."""
    power, size = view["power"], view["power"]["deck"]
    piles = [power["display"], power["discard"], *[player["cards"] for player in view["players"].values()]]
    return _drawn(_cards(len(view["seats"])), [card for pile in piles for card in pile], size, chance)


@lru_cache(maxsize=8)
def _cards(seats: int) -> tuple[str, ...]:
    return tuple(deck(seats))


def _tokens(view: View, chance: Chance, recovered: Iterable[str]) -> dict[str, Any]:
    """Return the apex islands with tokens that may be there: none that was recovered, and none that the viewer has seen elsewhere
    (WOC-SET-03, WOC-EXP-04)."""
    unseen = [island for island, here in view["apex"].items() if not here["explored"] and here["expedition"] is None]
    seen = [here["expedition"] for here in view["apex"].values() if here["expedition"] is not None]
    tokens = _drawn(tuple(EXPEDITIONS), [*recovered, *seen], len(unseen) if view["phase"] != "setup" else 0, chance)
    lying = dict(zip(unseen, tokens, strict=False))
    return {island: {**here, "expedition": lying[island]} if island in lying else here for island, here in view["apex"].items()}


def _drawn(whole: Sequence[str], gone: Iterable[str], size: int, chance: Chance) -> list[str]:
    """Return so many of `whole`, without those that are gone. A position that was never played can hide more than is left; then others
    take their place."""
    left = list(whole)
    for one in gone:
        if one in left:
            left.remove(one)
    missing = max(0, size - len(left))
    left += (list(whole) * (missing // len(whole) + 1))[:missing] if missing else []
    return chance.shuffle(left)[:size]


def _armed(player: dict[str, Any], chance: Chance) -> dict[str, Any]:
    """Return a seat with as much ammunition as it may have: somewhere up to a few times what it began with (WOC-GEN-05)."""
    return player if player[POWDER] is not None else {**player, POWDER: 0 if player["eliminated"] else chance.number(_MOST_POWDER + 1)}


def _bid(player: dict[str, Any], chance: Chance) -> dict[str, Any]:
    """Return a bid that a seat could have sealed: more often much of its ammo than little, and any of its battle cards (WOC-BAT-04)."""
    cards = [card for card in player["cards"] if card in BATTLE_CARDS and chance.number(2)]
    return {"ammo": max(chance.number(player["ammo"] + 1), chance.number(player["ammo"] + 1)), "cards": cards}
