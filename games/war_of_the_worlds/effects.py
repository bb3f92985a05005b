"""A deed for every verb that data.json names: what the options of cards do.

An option of a card is played by `play`, one option a time (WOW-CRD-02). A verb says which fields it wants, gives the plays it offers, the
first rule that a play breaks, and carries it out line by line (WOW-CRD-03).
"""

from __future__ import annotations

from games.kernel import Action, Match, Refusal, Seat, State
from games.war_of_the_worlds.attacks import BEAM, PUSH, SPECIAL, UNIT_STRIKE
from games.war_of_the_worlds.civilians import CIVILIAN_ATTACK, DESTROY_CIVILIAN, MOVE_CIVILIANS
from games.war_of_the_worlds.data import ALIENS, TERMS, Terms
from games.war_of_the_worlds.figures import COAST_ATTACK, HUMAN_ATTACK, PLACE_WITH_CIVILIANS, UNIT_MOVE, UNIT_PLACE
from games.war_of_the_worlds.flow import gain
from games.war_of_the_worlds.outcome import check_damage, deal_damage
from games.war_of_the_worlds.state import kind_of
from games.war_of_the_worlds.verb import Verb, play_of


def plain_offers(state: State, seat: Seat, terms: Terms) -> list[Action]:
    """What needs nothing on the board can always be played."""
    return [play_of(terms)]


def plain_refusal(state: State, seat: Seat, terms: Terms, action: Action) -> Refusal | None:
    """Nothing stands in the way: the Invasion Ship is always there to be hit (WOW-HUM-06, WOW-BLD-09)."""
    return None


def gain_resources(match: Match, seat: Seat, terms: Terms, action: Action) -> None:
    """Coins or energy for this turn (WOW-HUM-01, WOW-HUM-03, WOW-ALN-01, WOW-ALN-02, WOW-ALN-08)."""
    gain(match, seat, terms.amount, terms.card)


def distant_attack(match: Match, seat: Seat, terms: Terms, action: Action) -> None:
    """Damage to the alien forces, wherever they are (WOW-HUM-06)."""
    deal_damage(match, terms.damage, terms.card, None)
    check_damage(match)


def verb(terms: Terms) -> Verb:
    """The verb that carries out an option of a card."""
    if terms.effect == "unit_place":
        return PLACE_WITH_CIVILIANS if kind_of(terms.kind).placed_at is None else UNIT_PLACE
    if terms.effect == "unit_attack":
        if kind_of(terms.kind).side == ALIENS:
            return UNIT_STRIKE
        return COAST_ATTACK if terms.at == "coast" else HUMAN_ATTACK
    if terms.effect == "region_attack":
        return PUSH if terms.push else SPECIAL if terms.influence else BEAM
    return {
        "gain": Verb((), plain_offers, plain_refusal, gain_resources),
        "distant_attack": Verb((), plain_offers, plain_refusal, distant_attack),
        "move_civilians": MOVE_CIVILIANS,
        "civilian_attack": CIVILIAN_ATTACK,
        "destroy_civilian": DESTROY_CIVILIAN,
        "unit_move": UNIT_MOVE,
    }[terms.effect]


VERBS: dict[tuple[str, int], Verb] = {key: verb(terms) for key, terms in TERMS.items()}
