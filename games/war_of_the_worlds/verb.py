"""The effect of an option of a card: the type `Verb`, and questions that several verbs ask."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple

from games.kernel import Action, Refusal, Seat, no
from games.war_of_the_worlds.data import FIGURES, Terms
from games.war_of_the_worlds.document import Match, State
from games.war_of_the_worlds.state import kind_of, open_to_attack


class Verb(NamedTuple):
    """The effect of an option of a card.

    `fields`: what the action must have besides card and option. `optional`: what it may have.
    `adds`: return True if a play adds to the open strike. It is None if no play of the verb does (WOW-STR-06).
    `opens`: return True if a play would leave a strike open.
    """

    fields: tuple[str, ...]
    offers: Callable[[State, Seat, Terms], list[Action]]
    refusal: Callable[[State, Seat, Terms, Action], Refusal | None]
    act: Callable[[Match, Seat, Terms, Action], None]
    optional: tuple[str, ...] = ()
    adds: Callable[[State, Terms, Action], bool] | None = None
    opens: Callable[[State, Terms, Action], bool] | None = None


def play_of(terms: Terms) -> Action:
    """Return a play of an option, without further fields."""
    return {"type": "play", "card": terms.card, "option": terms.option}


def wants_land(state: State, *regions: str) -> Refusal | None:
    """Refuse sea regions. Civilians, buildings and conditions are on land only (WOW-MOV-10, WOW-BLD-01)."""
    for region in regions:
        if region not in state["regions"]:
            return no("wrong_terrain", "WOW-MOV-10", region=region, wanted="a land region")
    return None


def regions_of(state: State, terms: Terms) -> list[str]:
    """Return the regions that have figures of the card's kind."""
    units = state["units"]
    return list(dict.fromkeys([here for figure in kind_of(terms.kind).figures if (here := units[figure]["region"]) is not None]))


def place_of(state: State, figure: str) -> str:
    """Return the region of a figure that is on the board."""
    region = state["units"][figure]["region"]
    assert region is not None
    return region


def unusable(state: State, terms: Terms, figure: str) -> Refusal | None:
    """Refuse a figure that is not of the card's kind or not on the board. A unit card also needs a figure that took no other unit card this
    turn (WOW-UNT-06, WOW-UNT-07, WOW-UNT-08, WOW-UNT-12)."""
    if FIGURES[figure].id != terms.kind or state["units"][figure]["region"] is None:
        return no("no_unit", "WOW-UNT-06", kind=terms.kind, where=f"on the board by the name of {figure}")
    if terms.uses_figure and state["units"][figure]["used"]:
        return no("unit_used", "WOW-UNT-07", unit=figure)
    return None


def attackers(state: State, terms: Terms) -> list[tuple[str, str]]:
    """Return the figures that a card may still use, with their regions."""
    units = state["units"]
    return [
        (figure, here)
        for figure in kind_of(terms.kind).figures
        if (here := units[figure]["region"]) is not None and not (terms.uses_figure and units[figure]["used"])
    ]


def nothing_to_attack(state: State, region: str) -> Refusal | None:
    """Refuse a region that humans may not attack (WOW-ATK-01, WOW-ATK-02)."""
    if region in open_to_attack(state):
        return None
    return no("no_target", "WOW-ATK-02", region=region, wanted="Tripod or alien building")


def malformed(action: Action, field: str, ids: Collection[str], wanted: str) -> Refusal | None:
    """Refuse a field that is no id of its kind. The field may be absent."""
    if field in action and action[field] not in ids:
        return no("bad_action", reason=f"`{field}` is {action[field]!r}, which is no {wanted}")
    return None


def never_refused(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Refuse nothing: in its phase the action is always legal."""
    return None
