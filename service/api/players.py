"""Players: sign up, names, roles, profiles, and the owner of a key."""

from __future__ import annotations

from flask import Response

from events import accounts
from events.accounts import ROLES, SCOPES, Asked
from events.errors import NoSuchPlayer
from games.schema import described, ids, listing, mapping, nullable, record, text
from service.api.operations import UNGUESSABLE, Answer, Body, Call, Operation, in_json
from service.api.ratings import RATING
from service.api.shapes import ANY_TEXT, COUNT, KEY_ID, PLAYER_ID, TIME, named, reference
from service.context import Service
from service.http.addresses import address_of
from service.http.keys import ADMIN, REFEREES
from service.http.names import check_name
from service.http.problems import Problem
from service.http.responses import empty_response, json_response, made, private, unstored
from service.http.schemas import ConfirmQuery, NameBody, PlayerBody, RoleBody


def create_player(service: Service, call: Call) -> Response:
    """Create a player. Return the player with a key."""
    role = call.body.get("role", "player")
    if role != "player":
        call.caller.check("admin")
    if call.caller != ADMIN:
        check_name(call.body["name"])
    name, request = call.body["name"], call.request(UNGUESSABLE)
    asked = None if request is None else Asked("admin" if call.caller == ADMIN else call.caller.id or "", request)
    found = None if asked is None else accounts.registered(service.platform, name, role, asked)
    if found is None and call.caller != ADMIN:
        call.info.used = service.throttle.spend(("players", address_of(call.environ)))
    player, key = found or accounts.register(service.platform, name, role, asked)
    return unstored(made({"id": player.id, "name": player.name, "role": player.role, "key": key}, f"/v1/players/{player.id}"))


def get_me(service: Service, call: Call) -> Response:
    """Return the caller, and the scopes of the key."""
    caller = call.caller
    key = caller.key.id if caller.key else None
    body = {"id": caller.id, "name": caller.name, "role": caller.role, "key_id": key, "scopes": caller.scopes}
    return private(json_response(body))


def rename_me(service: Service, call: Call) -> Response:
    """Change the caller's name. Referees and admins may have a name that says so."""
    caller = call.caller
    if caller.role not in REFEREES:
        check_name(call.body["name"])
    accounts.rename(service.platform, caller.player(), caller.signer, call.body["name"])
    service.directory.forget(caller.player())
    return get_me(service, call._replace(caller=caller._replace(name=call.body["name"])))


def delete_me(service: Service, call: Call) -> Response:
    """Delete the caller. Raise Problem `not_confirmed`."""
    player = call.caller.player()
    if call.query["confirm"] != player:
        raise Problem("not_confirmed", player=player)
    accounts.delete(service.platform, player, call.caller.signer)
    service.directory.forget(player)
    return empty_response(204)


def get_player(service: Service, call: Call, player: str) -> Response:
    """Return the profile of a player."""
    found = service.directory.account(player)
    if found is None:
        raise NoSuchPlayer(player=player)
    about = found.player
    games = accounts.finished(service.platform, player)
    ratings = service.platform.store.ratings.of_player(player, list(service.platform.games))
    rated = {game: rating.as_json() for game, rating in ratings.items()}
    return private(json_response({"id": about.id, "name": about.name, "created": about.created, "finished": games, "ratings": rated}))


def change_role(service: Service, call: Call, player: str) -> Response:
    """Change the role of a player."""
    accounts.set_role(service.platform, player, call.body["role"])
    service.directory.forget(player)
    return private(json_response({"id": player, "role": call.body["role"]}))


NAME = text(about="The player's name. It need not be unique.")
ROLE = named("Role", ids(ROLES, "What the player may do. A referee may audit any match, except while playing in it."))
SCOPE = named(
    "Scope",
    ids(
        SCOPES,
        "`read`: see what the player may see. `play`: create and join matches, and act. `referee`: use the player's role of "
        "referee or admin. `account`: manage keys, change the name, delete the player.",
    ),
)
PLAYER = named(
    "Player",
    record(
        {
            "id": nullable(PLAYER_ID),
            "name": NAME,
            "role": ROLE,
            "key_id": nullable(described(KEY_ID, "The id of the request's key; null for the admin key.")),
            "scopes": listing(SCOPE, about="What the key may do."),
        },
        "A player. The owner of the admin key has no id.",
    ),
)
NEW_PLAYER = named(
    "NewPlayer",
    record(
        {
            "id": PLAYER_ID,
            "name": NAME,
            "role": ROLE,
            "key": text(about="The bearer key. The server stores only its hash."),
        },
        "A new player, with the key.",
    ),
)
PROFILE = named(
    "Profile",
    record(
        {
            "id": PLAYER_ID,
            "name": nullable(text(about="The name; null for a deleted player.")),
            "created": nullable(described(TIME, "When the player was created, in milliseconds since 1970.")),
            "finished": mapping(
                ANY_TEXT,
                record(
                    {
                        "matches": described(COUNT, "How many matches were played to an end."),
                        "won": described(COUNT, "How many of them the player won."),
                        "stood_in": described(COUNT, "How many of them were won while a substitute played for the player."),
                        "drawn": described(COUNT, "How many others ended in a draw by agreement."),
                        "void": described(COUNT, "How many others do not count."),
                    }
                ),
                "The matches that the player has finished, by game. Games without any are left out.",
            ),
            "ratings": mapping(ANY_TEXT, RATING, "The ratings, by game."),
        },
        "What everybody may know about a player. For a deleted player, `name` and `created` are null.",
    ),
)
GIVEN_ROLE = named("GivenRole", record({"id": PLAYER_ID, "role": ROLE}, "The role of a player."))

_NAME = {"another name": {"name": "Ada"}}

OPERATIONS = (
    Operation(
        "create_player", "POST", "/v1/players", "players", "Become a player, and get a key", create_player,
        {201: in_json("The player, with the key. This is the only answer that contains the key.", NEW_PLAYER, ("Location",))},
        "Anybody may become a player, with a name that cannot pass for the server or its staff. "
        "Creating a referee or an admin needs the admin key. The first key has every scope. With an "
        "`Idempotency-Key` the same request gets the same answer for an hour, so keep it as secret as the key.",
        key="optional", scope=None, headers=("Idempotency-Key",),
        body=Body(reference("PlayerRequest"), PlayerBody(), examples={"player": {"name": "Ada"}}),
        problems=("role_needed", "name_reserved"),
    ),
    Operation(
        "get_me", "GET", "/v1/players/me", "players", "Ask whose key this is, and what it may do", get_me,
        {200: in_json("The player.", PLAYER)},
        "The owner of the request's key, and the scopes of the key.", key="needed", scope=None,
    ),
    Operation(
        "rename_me", "PATCH", "/v1/players/me", "players", "Change your name", rename_me,
        {200: in_json("You, with the new name.", PLAYER)},
        "All matches, lists and boards show the new name at once, also in past matches.",
        key="needed", by="player", scope="account", body=Body(reference("NameRequest"), NameBody(), examples=_NAME),
        problems=("name_reserved",),
    ),
    Operation(
        "delete_me", "DELETE", "/v1/players/me", "players", "Delete yourself", delete_me,
        {204: Answer("You and your keys are deleted.")},
        "Removes your name and all keys for good, and ends your streams. First you leave seats in matches that have not started, and "
        "decline invitations. In other matches your seats stay yours, and nobody plays them. Logs of matches never change: they keep your "
        "id. It is never used again, and its name is null.",
        key="needed", by="player", scope="account", query=ConfirmQuery(),
        problems=("not_confirmed", "still_seated", "busy", "log_damaged", "secret_lost", "rules_missing"),
    ),
    Operation(
        "get_player", "GET", "/v1/players/{player}", "players", "Get the profile of a player", get_player,
        {200: in_json("The profile.", PROFILE)},
        "Anybody may see it. The name of a deleted player is null.",
        key="optional",
    ),
    Operation(
        "change_role", "PATCH", "/v1/players/{player}", "players", "Give a player a role, or take it away", change_role,
        {200: in_json("The player's role.", GIVEN_ROLE)},
        "Only for the owner of the admin key. It takes effect at once, in open streams, too.",
        key="needed", by="admin", scope=None,
        body=Body(reference("RoleRequest"), RoleBody(), examples={"no referee": {"role": "player"}}),
    ),
)  # fmt: skip
