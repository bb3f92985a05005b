"""Players: making one, and asking who one is."""

from __future__ import annotations

from flask import Response

from events.platform import Platform
from events.players import register
from service.keys import ADMIN, Caller
from service.operations import Answer, Asked, Body, Operation
from service.problems import Problem
from service.responses import in_json, private
from service.schemas import PlayerBody
from service.shapes import ref


def operations(platform: Platform) -> list[Operation]:
    """What can be asked about players."""

    def create_player(asked: Asked) -> Response:
        if asked.body["role"] != "player" and asked.caller != ADMIN:
            raise Problem("role_needed", needed="the holder of the admin key")
        player, key = register(platform, asked.body["name"], asked.body["role"])
        answer = in_json({"id": player.id, "name": player.name, "role": player.role, "key": key}, 201)
        answer.headers["Cache-Control"] = "no-store"
        return answer

    def get_me(asked: Asked) -> Response:
        return private(in_json(_told(asked.caller)))

    return [
        Operation(
            "create_player", "POST", "/v1/players", "players", "Become a player and get a key", create_player,
            {201: Answer("The player, with the key, which is shown this once.", {"application/json": ref("NewPlayer")})},
            "Anybody may become a player. A referee or an admin is made with the admin key.",
            key="optional", body=Body(ref("PlayerRequest"), PlayerBody(), examples={"player": {"name": "Ada"}}), problems=("role_needed",),
        ),
        Operation(
            "get_me", "GET", "/v1/players/me", "players", "Ask whose key this is", get_me,
            {200: Answer("The player.", {"application/json": ref("Player")})}, key="needed",
        ),
    ]  # fmt: skip


def _told(caller: Caller) -> dict[str, str | None]:
    return {"id": caller.id, "name": caller.name, "role": caller.role}
