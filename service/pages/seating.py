"""The table of a match: who sits where, which seats are free, and how the match is set up, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from events import recall
from events.standings import standing
from games.kernel import Game
from games.sentences import say
from record.positions import Position
from service import sight
from service.http.keys import Caller
from service.pages.creating import POLICIES, label_of, told_value
from service.pages.html import Pages, game_in_brief, look_of, seat_name
from service.pages.lobby import clock_text, cover, seats_shown
from table.settings import ALL, NONE, REQUIRED


def table_of(pages: Pages, position: Position, caller: Caller, name: Callable[[str], str | None]) -> dict[str, Any]:
    """Return the table of a match that waits for players, as table.html expects it. `name`: returns the name of a player."""
    game = recall.rules_of(pages.service.platform, position)
    return {
        "game": game_in_brief(game),
        "cover": cover(pages, game.id),
        "chairs": seats_shown(game, standing(position), caller, name),
        "sits": sight.plays(position, caller),
        "set_up": set_up(pages, position),
    }


def set_up(pages: Pages, position: Position) -> list[tuple[str, str, str]]:
    """Return how a match is set up: what is set, how, and what that means if it is an option. Its options, its clock, and who watches."""
    match = sight.with_defaults(pages.service.games, standing(position))
    game = recall.rules_of(pages.service.platform, position)
    words, shapes = look_of(game).say, game.options.schema["properties"]
    told = [
        (words(label_of(name)), _value(game, value), words(shapes[name].get("description", ""))) for name, value in match["options"].items()
    ]
    told += [(say("Clock"), clock_text(match["clock"]) or say("none"), ""), (say("Who watches"), _watching(match["spectators"]), "")]
    if match["time_out"]:
        told.append((say("When the time of a seat runs out"), POLICIES[match["time_out"]["policy"]], ""))
    if match["signed"] == REQUIRED:
        told.append((say("Moves"), say("must be signed"), ""))
    if match["rated"]:
        told.append((say("Rated"), say("yes"), ""))
    return told


def _watching(spectators: Any) -> str:
    """Return in words who watches."""
    if spectators == ALL:
        return say("everybody")
    return say("nobody until it is over") if spectators == NONE else say("everybody, some moves late")


def _value(game: Game, value: Any) -> str:
    """Return the value of an option in words."""
    if value is None:
        return say("drawn when the match begins")
    if isinstance(value, list):
        return ", ".join([_value(game, one) for one in value]) or say("none")
    if isinstance(value, Mapping):
        return say("as chosen")
    if isinstance(value, str):
        return seat_name(game, value) if value in game.seats.ids else look_of(game).word(value)
    return told_value(value) if isinstance(value, bool) else str(value)
