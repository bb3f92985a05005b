"""Tries: what actions would lead to, for players who plan a turn."""

from __future__ import annotations

from flask import Response

from events import recall
from events.attempts import attempt
from events.errors import BadList
from games.choices import with_counts
from games.kernel import Game, Refused, legal
from games.schema import Shape, described, flag, listing, record
from service import sight
from service.api.frames import FRAME_CHANGE
from service.api.game_shapes import declared, game_actions
from service.api.operations import Body, Call, Operation, in_json
from service.api.pictures import drawing
from service.api.playing import ALONE, actions_in, choice, expected_version
from service.api.shapes import COUNT, MATCH_ID, SEAT, VERSION, by_game, extending, named, of_match
from service.context import Service
from service.drawn_frames import Eyes
from service.http.problems import refusal_problem
from service.http.responses import json_response, private
from service.http.schemas import TriesQuery
from table.rules import is_table_action


def try_actions(service: Service, call: Call, match: str) -> Response:
    """Try actions of the caller's seat on a version of the match. Write nothing."""
    actions, version = actions_in(call.body), expected_version(call)
    if any(map(is_table_action, actions)):
        raise BadList(reason=ALONE)
    newest = recall.position(service.platform, match)
    sight.seat_of(newest, call.caller, call.query.get("seat"))
    before = newest
    if version is not None and version != newest.version:
        recall.check_version(newest, version)
        before = recall.state_at(service.platform, match, version)
    seat = call.query.get("seat") or sight.acting(before, newest.seats_of(call.caller.player()))
    game = recall.rules_of(service.platform, before)
    with drawing(service, call):
        try:
            tried = attempt(service.platform, before, seat, actions)
        except Refused as refused:
            raise refusal_problem(game, refused.refusal, refused.place if isinstance(call.body, list) else None) from None
        frame = service.frames.tried(game, tried, Eyes(match, "", seat, call.query["shape"], call.language))
    after = tried.after
    body = {
        "match": match,
        "game": game.id,
        "seat": seat,
        "version": before.version,
        "tried": len(tried.entries),
        "reveals": tried.reveals,
        "view": sight.view(game, after, seat),
        "choices": [with_counts(open_one) for open_one in legal(game, after.document, seat)] if seat in after.to_act else [],
        "frame": frame,
    }
    return private(json_response(body))


_TRIED = named(
    "TriedBase",
    record(
        {
            "match": MATCH_ID,
            "seat": described(SEAT, "Your seat."),
            "version": described(VERSION, "The version that the actions were tried on."),
            "tried": described(COUNT, "How many of the actions were carried out."),
            "reveals": flag("Whether the last action was left out, because it draws chance or reveals something."),
            "frame": described(FRAME_CHANGE, "What would change in the picture of `version`, with the actions in sentences."),
        },
        "What every try has.",
    ),
)


def _tried(game: Game) -> Shape:
    """Return the shape of what `try_actions` answers."""
    return extending(
        _TRIED,
        {
            **of_match(game),
            "view": described(declared(game).view, "The state document after the actions, as your seat would see it."),
            "choices": listing(choice(game), about="What you could do next in the game."),
        },
        f"What your actions would lead to in a match of {game.title}.",
    )


TRIED = by_game("Tried", "What your actions would lead to.", _tried)

_EXAMPLES = {
    "one action": {"type": "end_moves"},
    "a turn": [{"type": "move", "from": "c4", "to": {"c5": 2}}, {"type": "end_moves"}],
}

OPERATIONS = (
    Operation(
        "try_actions", "POST", "/v1/matches/{match}/tries", "play", "Try actions without carrying them out", try_actions,
        {200: in_json("What they would lead to.", TRIED)},
        "Tries one action of the game, or a list of them, for your seat: on the newest version of the match, or on the version in "
        "`If-Match`. Nothing is written. An action that draws chance or reveals something is not tried. As the last of a list it is left "
        "out (`reveals`); elsewhere the answer is `must_be_last`, as for `act`. So a try shows nothing that you cannot know. Clocks stand "
        "still in it.",
        key="needed", by="player", query=TriesQuery(), headers=("If-Match",), said=True,
        body=Body(game_actions, examples=_EXAMPLES),
        plays="acts", problems=("no_such_version",),
    ),
)  # fmt: skip
