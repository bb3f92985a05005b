"""What a verb of data.json is, and what several of them ask."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple

from games.kernel import Action, Match, Refusal, Seat, State, no
from games.war_of_the_worlds.data import FIGURES, Terms
from games.war_of_the_worlds.state import kind_of, open_to_attack


class Verb(NamedTuple):
    """What an option of a card does. `fields` must stand in the action and `optional` may, besides card and option.

    `adds` tells whether a play adds to the open strike, and is None where none does (WOW-STR-06). `opens` tells whether a play would
    leave a strike open."""

    fields: tuple[str, ...]
    offers: Callable[[State, Seat, Terms], list[Action]]
    refusal: Callable[[State, Seat, Terms, Action], Refusal | None]
    act: Callable[[Match, Seat, Terms, Action], None]
    optional: tuple[str, ...] = ()
    adds: Callable[[State, Terms, Action], bool] | None = None
    opens: Callable[[State, Terms, Action], bool] | None = None


def play_of(terms: Terms) -> Action:
    """A play of an option, without further fields."""
    return {"type": "play", "card": terms.card, "option": terms.option}


def wants_land(state: State, *regions: str) -> Refusal | None:
    """Land is needed: civilians, buildings and conditions are nowhere else (WOW-MOV-10, WOW-BLD-01)."""
    for region in regions:
        if region not in state["regions"]:
            return no("wrong_terrain", "WOW-MOV-10", region=region, wanted="a land region")
    return None


def held(state: State, terms: Terms) -> list[str]:
    """The regions in which figures of the card's kind stand."""
    units = state["units"]
    return list(dict.fromkeys([here for figure in kind_of(terms.kind).figures if (here := units[figure]["region"]) is not None]))


def unusable(state: State, terms: Terms, figure: str) -> Refusal | None:
    """A card works on one figure of its kind on the board; a unit card on one that took no other this turn (WOW-UNT-06, WOW-UNT-07,
    WOW-UNT-08, WOW-UNT-12)."""
    if FIGURES[figure].id != terms.kind or state["units"][figure]["region"] is None:
        return no("no_unit", "WOW-UNT-06", kind=terms.kind, where=f"on the board by the name of {figure}")
    if terms.uses_figure and state["units"][figure]["used"]:
        return no("unit_used", "WOW-UNT-07", unit=figure)
    return None


def attackers(state: State, terms: Terms) -> list[tuple[str, str]]:
    """The figures that a card may still use, with their regions."""
    units = state["units"]
    return [
        (figure, units[figure]["region"])
        for figure in kind_of(terms.kind).figures
        if units[figure]["region"] is not None and not (terms.uses_figure and units[figure]["used"])
    ]


def nothing_to_attack(state: State, region: str) -> Refusal | None:
    """Humans attack a region with a Tripod or an alien building, never a UFO (WOW-ATK-01, WOW-ATK-02)."""
    if open_to_attack(state, region):
        return None
    return no("no_target", "WOW-ATK-02", region=region, wanted="Tripod or alien building")


def malformed(action: Action, field: str, ids: Collection[str], wanted: str) -> Refusal | None:
    """A field that may stand in an action must hold an id of its kind."""
    if field in action and action[field] not in ids:
        return no("bad_action", reason=f"`{field}` holds {action[field]!r}, which is no {wanted}")
    return None
