"""The parts of the document: its records, the seats with what they have, and the options."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

from games.documents import Document, Own
from games.kernel import Seat
from games.sentences import say
from games.war_of_civilizations.data import ABILITY, BARREN, COLLECTOR, DEFAULTS, ISLE, RESOURCES, SHIPS, UPKEEP, YIELDS, Counts
from games.war_of_civilizations.document import Battle, Blockade, Isle, Player, State, Turn
from games.war_of_civilizations.state.fleets import fleet_strength


def option(state: State, name: str) -> Any:
    """Return an option of the match, or its default if it is absent."""
    return state["options"].get(name, DEFAULTS[name])


def turn_of(state: State) -> Turn:
    """Return the turn record. It is only called where a turn is under way."""
    turn = state["turn"]
    assert turn is not None, "a turn is under way"
    return turn


def battle_of(state: State) -> Battle:
    """Return the battle record. It is only called where a battle is under way."""
    battle = state["battle"]
    assert battle is not None, "a battle is under way"
    return battle


def blockade_of(state: State) -> Blockade:
    """Return the blockade record. It is only called where a privateer waits for an answer."""
    blockade = state["blockade"]
    assert blockade is not None, "a privateer waits for an answer"
    return blockade


def isle_of(state: State) -> Isle:
    """Return the record of the Isle of Myth."""
    record: Isle = cast("dict[str, Any]", state)[ISLE]
    return record


def goods(player: Player) -> Mapping[str, int]:
    """Return a player record as a mapping from resources and crystals to their numbers (WOC-GEN-03, WOC-GEN-04)."""
    return cast("Mapping[str, int]", player)


def own_player(state: State, seat: str, own: Own) -> Document:
    """Return a seat's record, for a fact to change."""
    player: Document = own(own(state, "players"), seat)
    return player


def own_turn(state: State, own: Own) -> Document:
    """Return the turn record, for a fact to change."""
    turn: Document = own(state, "turn")
    return turn


def still_in(state: State) -> list[Seat]:
    """Return the seats that are neither eliminated nor have left, in turn order (WOC-LEA-01)."""
    players = state["players"]
    return [seat for seat in state["seats"] if not players[seat]["eliminated"]]


def round_order(state: State) -> list[Seat]:
    """Return all seats in the order of their turns in this round: that of `seats`, or with the option for it from the seat with which the
    round began. Where nobody has noted that seat, no seat has been passed over (WOC-RND-11, WOC-RND-12)."""
    seats: list[Seat] = state["seats"]
    if not option(state, "first_seat_rotates"):
        return seats
    first = state.get("first")
    turned = seats.index(first) if first is not None else (state["round"] - 1) % len(seats)
    return seats[turned:] + seats[:turned]


def first_full_round(state: State) -> int | None:
    """Return the first round that can be a full one for the holder of the Isle of Myth, or None if there is no holder: the one after that
    in which it took the Isle; with the option for it, this one itself, if it has taken the Isle in it and is the first in it of the seats
    that are still in (WOC-ISL-06, WOC-ISL-07)."""
    isle = isle_of(state)
    since, playing = isle["since"], still_in(state)
    if since is None:
        return None
    early = option(state, "arrival_counts") and isle["holder"] == next(seat for seat in round_order(state) if seat in playing)
    return since if early and since == state["round"] else since + 1


def can_pay(state: State, seat: Seat, price: Mapping[str, int]) -> bool:
    """Return True if a seat has what something costs. Resources and crystals are plain numbers (WOC-GEN-04)."""
    stock = goods(state["players"][seat])
    for name, number in price.items():  # noqa: SIM110 - a loop is faster here
        if stock[name] < number:
            return False
    return True


def ability(state: State, seat: Seat, kind: str) -> int:
    """Return the figure of a seat's ability, or 0 if its ability is of another kind (WOC-ABL-01, WOC-SET-06)."""
    row = ABILITY[seat]
    return row.figures[state["players"][seat]["ability"]] if row.kind == kind else 0


def targets(state: State, seat: Seat) -> tuple[str, ...]:
    """Return the kinds of ship that a seat's ability destroys (WOC-ABL-02)."""
    return ABILITY[seat].targets[state["players"][seat]["ability"]]


def crystals_of(state: State, seat: Seat) -> int:
    """Return a seat's magic crystals, mounted ones included (WOC-MNT-05, WOC-END-01)."""
    player = state["players"][seat]
    return player["crystals"] + len(player["mounted"])


def collected_from(state: State, seat: Seat, places: list[str]) -> list[str]:
    """Return those of a seat's locations from which it can collect: with a gunboat, not barren, and with something to give
    (WOC-COL-01, WOC-COL-02, WOC-COL-04, WOC-DIS-07)."""
    fleets, marks = state["players"][seat]["fleets"], state["marks"]
    return [place for place in places if COLLECTOR in fleets[place] and YIELDS[place] and marks.get(place) != BARREN]


def harvest(locations: Collection[str]) -> Counts:
    """Return what some locations give together, each once (WOC-COL-02, WOC-COL-03, WOC-MAP-15)."""
    total: Counts = {}
    for name in RESOURCES:
        number = sum([YIELDS[location].get(name, 0) for location in locations])
        if number:
            total[name] = number
    return total


def upkeep(fleet: Mapping[str, int]) -> int:
    """Return what a fleet on the Isle costs, by its strength (WOC-RND-02)."""
    strength, due = fleet_strength(fleet), 0
    for least, price in UPKEEP:
        if least > strength:
            break
        due = max(due, price)
    return due


def in_words(counts: Mapping[str, int]) -> str:
    """Return ships or goods in words."""
    said = [so_many(counts[name], name) for name in (*SHIPS, *RESOURCES, "crystals") if counts.get(name)]
    return functools.reduce(lambda some, more: say("{some} and {more}", some=some, more=more), said) if said else say("nothing")


def so_many(number: int, name: str | None) -> str:
    """Return a number of ships or goods in words. `name`: the kind, or None if all kinds are meant."""
    return str(number) if name is None else say("{number} {name}", number=number, name=name)


def either_of(names: Sequence[str]) -> str:
    """Return names of which one is meant, in words. Empty if there are none."""
    return functools.reduce(lambda some, more: say("{some} or {more}", some=some, more=more), names) if names else ""
