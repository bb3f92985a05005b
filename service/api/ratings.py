"""Ratings of players, by the results of rated matches (record/ratings.py)."""

from __future__ import annotations

from flask import Response

from events import recall
from games.schema import described, listing, nullable, record, whole
from service.api.operations import Call, Operation, in_json
from service.api.shapes import COUNT, GAME_ID, MATCH_ID, NEXT, PLAYER_ID, PLAYERS, TIME, extending, named
from service.context import Service
from service.http.responses import json_response, private
from service.http.schemas import RatingsQuery


def list_ratings(service: Service, call: Call) -> Response:
    """Return a page of the ratings of a game, the highest first."""
    game, limit = call.query["game"], call.query["limit"]
    recall.game_of(service.platform, game)
    (generations,) = service.platform.store.ratings.generations([game])
    page = service.platform.store.ratings.page(game, generations.serving, _place(call.query.get("cursor")), limit)
    served, last = generations.served, page[-1] if len(page) == limit else None
    body = {
        "game": game,
        "counted": {"matches": served.matches, "match": served.match or None, "at": served.at if served.match else None},
        "ratings": [{"player": player, **rating.as_json()} for player, rating in page],
        "players": service.directory.company(player for player, _ in page).players,
        "next": None if last is None else f"{last.rating.low}.{last.player}",
    }
    return private(json_response(body))


def _place(cursor: str | None) -> tuple[int, str] | None:
    if cursor is None:
        return None
    score, _, player = cursor.partition(".")
    return int(score), player


_POINTS = whole()
RATING = named(
    "Rating",
    record(
        {
            "rating": described(_POINTS, "Points of Elo, at first 1500."),
            "low": described(_POINTS, "The 95 % interval: from"),
            "high": described(_POINTS, "to."),
            "matches": described(COUNT, "How many rated matches count."),
            "won": described(COUNT, "How many of them were won."),
        },
        "A rating.",
    ),
)
RATED = named("RatedPlayer", extending(RATING, {"player": described(PLAYER_ID, "The player.")}, "A player with a rating."))
RATINGS = named(
    "Ratings",
    record(
        {
            "game": GAME_ID,
            "counted": record(
                {
                    "matches": described(COUNT, "How many matches are counted."),
                    "match": nullable(described(MATCH_ID, "The last of them, or null.")),
                    "at": nullable(described(TIME, "When that was over.")),
                },
                "All rated matches up to this one count.",
            ),
            "ratings": listing(RATED, about="By `low`, the highest first."),
            "players": PLAYERS,
            "next": NEXT,
        },
        "The ratings of a game.",
    ),
)

OPERATIONS = (
    Operation(
        "list_ratings", "GET", "/v1/ratings", "players", "Get the ratings of a game", list_ratings,
        {200: in_json("Players with their ratings. Continue with `next`.", RATINGS)},
        "They follow from records alone (docs/tournament.md). A match counts a minute after it was over.",
        key="optional", query=RatingsQuery(),
    ),
)  # fmt: skip
