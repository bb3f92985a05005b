"""Players: creating one, and asking whose key this is."""

from __future__ import annotations

from flask import Response

from events.players import register
from service.addresses import address_of
from service.context import Service
from service.game_components import reference
from service.keys import ADMIN
from service.operations import Body, Call, Operation, in_json
from service.problems import Problem
from service.request_schemas import PlayerBody
from service.responses import json_response, private


def create_player(service: Service, call: Call) -> Response:
    """Create a player. Return the player with the key."""
    role = call.body.get("role", "player")
    if role != "player" and call.caller != ADMIN:
        raise Problem("role_needed", needed="the owner of the admin key")
    if call.caller != ADMIN:
        call.info.used = service.throttle.spend(("players", address_of(call.environ)))
    player, key = register(service.platform, call.body["name"], role)
    response = json_response({"id": player.id, "name": player.name, "role": player.role, "key": key}, 201)
    response.headers["Cache-Control"] = "no-store"
    return response


def get_me(service: Service, call: Call) -> Response:
    """Return the caller."""
    return private(json_response(call.caller._asdict()))


OPERATIONS = (
    Operation(
        "create_player", "POST", "/v1/players", "players", "Become a player and get a key", create_player,
        {201: in_json("The player, with the key. This is the only answer that contains the key.", "NewPlayer")},
        "Anybody may become a player. Creating a referee or an admin needs the admin key.",
        key="optional", body=Body(reference("PlayerRequest"), PlayerBody(), examples={"player": {"name": "Ada"}}),
        problems=("role_needed",),
    ),
    Operation(
        "get_me", "GET", "/v1/players/me", "players", "Ask whose key this is", get_me,
        {200: in_json("The player.", "Player")}, "The player or admin to whom the key of the request belongs.", key="needed",
    ),
)  # fmt: skip
