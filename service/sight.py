"""Sight: the only module that decides what a viewer gets.

A viewer is a seat, `spectator` or `auditor`. The rules of the table and of the game redact documents and events. This module redacts
everything around them. Two positions that differ only in hidden information give the same bytes, except for digests and part hashes. Those
cover hidden information through salted hashes, so they reveal nothing. Nobody sees the secret of the dice until the match is over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import orjson

from events import recall
from events.due import thinking_of
from events.platform import Platform
from events.standings import standing
from games.choices import Choice, with_counts
from games.kernel import AUDITOR, SPECTATOR, Game, blocked, legal, sentence
from record.guides import step_of
from record.positions import Position
from record.shown import shown as shown
from service.http.directory import Company
from service.http.keys import Caller
from service.http.problems import Problem
from service.http.responses import sorted_json
from service.http.schemas import LARGEST
from table import rules as table_rules
from table.board import board as table_board
from table.state import kept_seats
from web.look import look

UNLIMITED = LARGEST


def viewer_of(position: Position, caller: Caller, asked: str | None) -> str:
    """Return the viewer for a caller: `asked`, or by default a seat of the caller, or `spectator`.

    `position` must be the newest, even if another version is shown: more viewers are allowed when the match is over. Raise Problem
    `no_such_seat` or `hidden_view`.
    """
    if asked is None:
        seats = position.seats_of(caller.id) if caller.id is not None else []
        return acting(position, seats) if seats else SPECTATOR
    if asked == SPECTATOR:
        return asked
    if asked == AUDITOR:
        if not may_audit(position, caller):
            raise Problem("hidden_view", viewer=asked)
        return asked
    if asked not in position.roster:
        raise no_such_seat(position, asked)
    if not (position.ended or referees(position, caller) or has_seat(position, caller, asked)):
        raise Problem("hidden_view", viewer=asked)
    return asked


def follows(position: Position, caller: Caller) -> bool:
    """Return True if the caller may see every version of a match at once, even if play is hidden from spectators."""
    return position.begun is None or caller.referees or plays(position, caller)


def seen(platform: Platform, position: Position, caller: Caller) -> Position:
    """Return the newest position that the caller may see. `position`: the newest of the match."""
    if follows(position, caller):
        return position
    listed, version = position.listed, position.public_version
    return listed if version == listed.version else recall.state_at(platform, position.match, version)


def is_open(newest: Position, viewer: str) -> bool:
    """Return True if everybody may see what this viewer sees, at every version of the match so far."""
    return newest.ended or (viewer == SPECTATOR and newest.begun is None)


def horizon(caller: Caller | None, newest: Callable[[], Position], viewer: str, hides: bool) -> int:
    """Return the newest version that the caller may see as this viewer: 0 for none, or `UNLIMITED`. `newest` returns the newest position.

    `caller`: None if the key was revoked. `hides`: whether play is hidden from spectators of this match. A caller may have lost the right
    to this viewer: a player may have left the seat, and a referee may have taken a seat or lost the role.
    """
    if caller is None:
        return 0
    if viewer == SPECTATOR and not hides:
        return UNLIMITED
    position = newest()
    try:
        viewer_of(position, caller, viewer)
    except Problem:
        return 0
    return UNLIMITED if follows(position, caller) else position.public_version


def seat_of(position: Position, caller: Caller, asked: str | None) -> str:
    """Return a seat of the caller: `asked`, or by default the seat that must act, or the first.

    Raise Problem `no_such_seat`, `not_your_seat` or `not_seated`.
    """
    player = caller.player()
    if asked is not None:
        if asked not in position.roster:
            raise no_such_seat(position, asked)
        if not has_seat(position, caller, asked):
            raise Problem("not_your_seat", seat=asked)
        return asked
    seats = position.seats_of(player)
    if not seats:
        raise Problem("not_seated")
    return acting(position, seats)


def no_such_seat(position: Position, asked: str) -> Problem:
    """Return the problem for a seat that the match does not have."""
    return Problem("no_such_seat", seat=asked, seats=", ".join(sorted(position.roster)))


def seat_or_none(position: Position, caller: Caller, asked: str | None) -> str | None:
    """Return a seat of the caller as `seat_of` does. Return None for a caller without a seat who could get one: open, or offered."""
    free = position.status == "open" or caller.id in position.table["handovers"].values()
    if asked is None and free and not plays(position, caller):
        return None
    return seat_of(position, caller, asked)


def acting(position: Position, seats: list[str]) -> str:
    """Return the first seat that must act, or else the first seat."""
    to_act = position.document["to_act"]
    return next((seat for seat in seats if seat in to_act), seats[0])


def has_seat(position: Position, caller: Caller, seat: str) -> bool:
    """Return True if the seat is the caller's."""
    return caller.id is not None and position.roster[seat].get("player") == caller.id


def plays(position: Position, caller: Caller) -> bool:
    """Return True if the caller has a seat in the match."""
    return caller.id is not None and bool(position.seats_of(caller.id))


def referees(position: Position, caller: Caller) -> bool:
    """Return True if the caller is a referee who does not play in the match."""
    return caller.referees and not plays(position, caller)


def sees_more(position: Position, caller: Caller, viewer: str) -> bool:
    """Return True if the caller, as this viewer, sees more of a match than spectators do, only because the caller is a referee."""
    return not position.ended and referees(position, caller) and (viewer != SPECTATOR or position.begun is not None)


def may_audit(position: Position, caller: Caller) -> bool:
    """Return True if the match is over, or the caller is a referee who does not play in it."""
    return position.ended or referees(position, caller)


def view(game: Game, position: Position, viewer: str) -> dict[str, Any]:
    """Return the document as the viewer may see it."""
    return game.view(position.document, viewer)


def view_read(game: Game, position: Position, viewer: str) -> dict[str, Any]:
    """Return the document as the viewer may see it, with sorted members, so that their order reveals nothing."""
    read: dict[str, Any] = orjson.loads(sorted_json(view(game, position, viewer)))
    return read


def board(game: Game, position: Position, viewer: str, company: Company, language: str) -> list[str]:
    """Return the match as lines of text in a language, drawn from what the viewer may see: the table, then the game."""
    tell = look(game, language).say
    return table_board(table_rules.view(position.table, viewer), company.name, tell) + game.board(
        view_read(game, position, viewer), viewer, tell
    )


def choices(platform: Platform, game: Game, position: Position, seat: str | None, player: str) -> list[Choice]:
    """Return a player's legal choices: those of `seat` in the game, if it must act and has no substitute, then those at the table.

    The action of each choice is complete. Choices at the table have the mark `at_table`, so that programs that only play can skip them.
    """
    table, document = position.table, position.document
    listed: list[Choice] = list(map(with_counts, legal(game, document, seat))) if seat is not None and decides(position, seat) else []
    shown = platform.sidelog.saw_hidden(position.match, table, player)
    return listed + table_rules.choices_of(game, table, document, seat, player, position.version, position.fixed, shown=shown)


def decides(position: Position, seat: str) -> bool:
    """Return True if a seat must act in the game, and nobody plays for it."""
    return seat in position.to_act and seat not in position.table["substitutes"]


def why_not(game: Game, position: Position, seat: str | None, language: str) -> list[dict[str, Any]]:
    """Return what belongs to the phase but is not possible for `seat`, with the code, the sentence and the rule of each refusal.

    `act` tells a seat the same of each of these actions, so it is nothing that the seat may not know.
    """
    if seat is None or not decides(position, seat):
        return []
    say = look(game, language).say
    return [
        {"action": action, "code": refusal.code, "detail": say(sentence(game, refusal)), "rule": refusal.rule}
        for action, refusal in blocked(game, position.document, seat)
    ]


def guided(game: Game, position: Position, seat: str | None, language: str) -> dict[str, Any]:
    """Return the step of the guide for a seat that must act in a guided match, as the member `guide`; else nothing."""
    step = step_of(game, position, seat) if seat is not None and decides(position, seat) else None
    if step is None:
        return {}
    text = look(game, language).say(step.text)
    return {"guide": {"step": step.number, "steps": step.of, "text": text, "rules": list(step.rules), "action": step.action}}


def match_shown(platform: Platform, position: Position, caller: Caller, company: Company) -> dict[str, Any]:
    """Return the standing of a match. Everybody may see it. It has the secret of the dice once the match is over.

    While a seat is open, the creator also sees the code of the match.
    """
    code = recall.code_of(platform, position) if caller.id == position.table["creator"] else None
    thinking = thinking_of(position)
    return {
        **with_defaults(platform.games, standing(position)),
        **({} if code is None else {"code": code}),
        "thinking": None if thinking is None else thinking._asdict(),
        "version": position.version,
        "updated": position.at,
        "rules": position.rules,
        "players": company.players,
    }


def with_defaults(games: Mapping[str, Game], standing: Mapping[str, Any]) -> dict[str, Any]:
    """Return a standing with defaults for missing options, from the rules that the match began with."""
    game = games[standing["game"]]
    rules = game.of_revision(standing["revision"]) or game
    return {**standing, "options": rules.with_defaults(standing["options"])}


def players_at(position: Position) -> set[str]:
    """Return the players that a match names, as `players_listed` does."""
    table = position.table
    return players_listed(
        {
            "creator": table["creator"],
            "seats": position.roster,
            "invited": kept_seats(table),
            "handovers": table["handovers"],
            "disputes": table["disputes"],
        }
    )


def players_listed(standing: Mapping[str, Any]) -> set[str]:
    """Return the players that a standing names: the creator, players with a seat, players with a kept or offered seat, and the referees
    of its disputes."""
    seated = (occupant["player"] for occupant in standing["seats"].values() if "player" in occupant)
    kept = standing["invited"].values()
    return {standing["creator"], *seated, *kept, *standing["handovers"].values(), *referees_of(standing["disputes"])}


def referees_of(disputes: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the referees who took disputes or ruled on them."""
    took = {dispute["taken"] for dispute in disputes if dispute["taken"] is not None}
    return took | {ruling["referee"] for dispute in disputes for ruling in dispute["rulings"]}
