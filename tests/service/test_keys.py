"""The keys of a player: named, listed, rotated, revoked, with scopes; the owner of the admin key; deleting oneself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from events.accounts import SCOPES
from events.platform import Platform
from events.store.accounts import Signer
from games import patterns
from service.api.routes import OPERATIONS
from tests.conftest import Servers
from tests.service.conftest import Caller

ME = "/v1/players/me"
KEYS = f"{ME}/keys"


def with_key(caller: Caller, key: str) -> Caller:
    return Caller(caller.client, key, caller.id)


def another(caller: Caller, *scopes: str, name: str = "bot") -> Caller:
    """Return the caller with another key of these scopes."""
    made = caller.post(KEYS, {"name": name, "scopes": list(scopes)})
    assert made.status_code == 201
    return with_key(caller, made.json["key"])


def key_id(caller: Caller) -> str:
    return str(caller.get(ME).json["key_id"])


def refused(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json["code"]


# ---------------------------------------------------------------- making, listing, rotating, revoking


def test_a_key_is_made_shown_once_and_listed(platform: Platform, ada: Caller) -> None:
    before = platform.clock.now()
    made = ada.post(KEYS, {"name": "my bot", "scopes": ["play"]})
    assert (made.status_code, made.headers["Cache-Control"]) == (201, "no-store")
    assert patterns.matches(patterns.KEY, made.json["id"])
    assert made.json["key"].startswith(f"wl_{ada.id}_{made.json['id']}_")
    assert (made.json["name"], made.json["scopes"], made.json["used"]) == ("my bot", ["play", "read"], None)
    assert before <= made.json["created"] <= platform.clock.now()
    assert made.headers["Location"] == f"{KEYS}/{made.json['id']}"
    shown = {name: value for name, value in made.json.items() if name != "key"}
    assert ada.get(made.headers["Location"]).json == shown
    listed = ada.get(KEYS)
    assert [key["name"] for key in listed.json["keys"]] == ["first", "my bot"]
    assert listed.json["keys"][1] == shown
    assert made.json["key"].split("_", 3)[3].encode() not in listed.data
    assert with_key(ada, made.json["key"]).get(ME).json["scopes"] == ["play", "read"]


def test_the_day_of_the_last_use_is_kept(ada: Caller) -> None:
    today = datetime.now(UTC).date().isoformat()
    bot = another(ada, "read")
    assert ada.get(f"{KEYS}/{bot.key.split('_')[2]}").json["used"] is None  # type: ignore[union-attr]
    bot.get("/v1/matches")
    assert ada.get(f"{KEYS}/{key_id(bot)}").json["used"] in (today, datetime.now(UTC).date().isoformat())


def test_a_key_that_is_used_again_is_not_written_again(ada: Caller, platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    bot, noted = another(ada, "read"), []
    note_use = platform.store.accounts.note_use

    def counted(id: str, key: Signer, day: int) -> Any:
        noted.append(key.key)
        return note_use(id, key, day)

    monkeypatch.setattr(platform.store.accounts, "note_use", counted)
    for _ in range(6):
        assert bot.get(ME).status_code == 200
    assert noted == [key_id(bot)]


def test_a_request_is_answered_although_the_day_of_use_cannot_be_written(ada: Caller, anybody: Caller, servers: Servers) -> None:
    key = another(ada, "read").key
    servers.keeper.config_set("min-replicas-to-write", "1")
    try:
        answer = with_key(ada, str(key)).get(ME)
        assert (answer.status_code, answer.json["scopes"]) == (200, ["read"])
        assert refused(ada.post(KEYS, {"name": "x", "scopes": ["read"]})) == (503, "store_away")
    finally:
        servers.keeper.config_set("min-replicas-to-write", "0")
    assert ada.get(KEYS).json["keys"][1]["used"] is None


def test_a_revoked_key_is_nobodys(ada: Caller) -> None:
    bot = another(ada, "play")
    path = f"{KEYS}/{key_id(bot)}"
    revoked = ada.ask("DELETE", path)
    assert (revoked.status_code, revoked.data) == (204, b"")
    assert refused(bot.get(ME)) == (401, "bad_key")
    assert refused(bot.get("/v1/matches")) == (401, "bad_key")
    assert refused(ada.ask("DELETE", path)) == (404, "no_such_key")
    assert refused(ada.get(path)) == (404, "no_such_key")
    assert refused(ada.post(f"{path}/rotate")) == (404, "no_such_key")


def test_a_key_may_revoke_itself(ada: Caller) -> None:
    assert ada.ask("DELETE", f"{KEYS}/{key_id(ada)}").status_code == 204
    assert refused(ada.get(ME)) == (401, "bad_key")


def test_a_rotated_key_has_another_text_and_the_rest_stays(ada: Caller) -> None:
    bot = another(ada, "read", name="page")
    rotated = ada.post(f"{KEYS}/{key_id(bot)}/rotate")
    assert (rotated.status_code, rotated.headers["Cache-Control"]) == (200, "no-store")
    assert rotated.json["key"] != bot.key
    assert (rotated.json["name"], rotated.json["scopes"]) == ("page", ["read"])
    assert refused(bot.get(ME)) == (401, "bad_key")
    assert with_key(ada, rotated.json["key"]).get(ME).json["key_id"] == rotated.json["id"]
    renewed = ada.post(f"{KEYS}/{key_id(ada)}/rotate").json["key"]
    assert refused(ada.get(ME)) == (401, "bad_key")
    assert with_key(ada, renewed).get(ME).status_code == 200


def test_a_player_has_at_most_twenty_keys(ada: Caller) -> None:
    for _ in range(19):
        another(ada, "read")
    assert refused(ada.post(KEYS, {"name": "x", "scopes": ["read"]})) == (409, "too_many_keys")


MALFORMED: Any = (
    [
        {}, {"name": "x"}, {"scopes": ["read"]}, {"name": "x", "scopes": []}, {"name": "x", "scopes": ["admin"]},
        {"name": "x", "scopes": "read"}, {"name": "x", "scopes": ["read"] * 5}, {"name": "x", "scopes": ["read", None]},
        {"name": "\u202ex", "scopes": ["read"]}, {"name": "x", "scopes": ["read"], "role": "admin"}, {"name": "x", "scopes": {"read": 1}},
    ]
)  # fmt: skip


def test_a_malformed_key_is_400(ada: Caller) -> None:
    for body in MALFORMED:
        assert refused(ada.post(KEYS, body)) == (400, "bad_body"), body
    assert len(ada.get(KEYS).json["keys"]) == 1


def test_the_keys_of_others_are_out_of_reach(ada: Caller, ben: Caller) -> None:
    path = f"{KEYS}/{key_id(ben)}"
    for answer in (ada.get(path), ada.ask("DELETE", path), ada.post(f"{path}/rotate")):
        assert refused(answer) == (404, "no_such_key")
    assert ben.get(ME).status_code == 200


# ---------------------------------------------------------------- scopes


def requests(match: str, key: str) -> Iterator[tuple[str | None, str, str, Any]]:
    """Yield the scope, the method, the path and a body of every operation that takes a key."""
    bodies = {
        "create_match": {"game": "tally", "seats": {"one": "me", "two": "open"}},
        "rename_me": {"name": "Eve"},
        "create_my_key": {"name": "x", "scopes": ["account"]},
        "create_key": {"name": "x", "scopes": ["read"]},
        "change_role": {"role": "admin"},
        "act": {"type": "add", "by": 1, "stay": True},
        "create_player": {"name": "Eve"},
    }
    names = {
        "match": match,
        "seat": "three",
        "version": "1",
        "player": "p" + "a" * 16,
        "key": key,
        "signing_key": "A" * 43,
        "puzzle": f"{match}-3",
        "hook": "h" + "a" * 16,
        "delivery": "x",
        "game": "war",
        "rule": "x",
        "code": "x",
        "dispute": "1",
    }
    for operation in OPERATIONS:
        if operation.key != "none":
            path = operation.path.format(**names) + {"get_stream": "?seconds=0", "delete_me": "?confirm=p" + "a" * 16}.get(operation.id, "")
            body = bodies.get(operation.id, {}) if operation.body else None
            yield operation.scope, operation.method, path, body


@pytest.mark.parametrize("scope", SCOPES)
def test_a_key_does_what_its_scope_allows_and_nothing_else(ada: Caller, tally: str, scope: str) -> None:
    """Every operation that takes a key is asked, so a new one cannot be forgotten."""
    bot = another(ada, scope)
    scopes = bot.get(ME).json["scopes"]
    asked = 0
    for needed, method, path, body in requests(tally, "k" + "z" * 16):
        answer = bot.ask(method, path, body)
        if needed is not None and needed not in scopes:
            assert refused(answer) == (403, "scope_needed"), (method, path)
            assert needed in answer.json["detail"]
        else:
            assert answer.mimetype != "application/problem+json" or answer.json["code"] not in ("scope_needed", "bad_key"), (method, path)
        asked += 1
    assert asked > 20
    assert ada.get(ME).json["name"] == "Ada" or scope == "account"


def test_a_key_makes_no_key_with_more_scopes_than_its_own(ada: Caller) -> None:
    manager = another(ada, "account", "read")
    for scopes in (["play"], ["referee"], ["account", "play", "read", "referee"]):
        assert refused(manager.post(KEYS, {"name": "x", "scopes": scopes})) == (403, "scope_needed")
    assert refused(manager.post(f"{KEYS}/{key_id(ada)}/rotate")) == (403, "scope_needed"), "the answer would be a key with every scope"
    assert ada.get(ME).status_code == 200
    assert another(manager, "account").get(ME).json["scopes"] == ["account"]


def test_the_referees_sight_needs_the_role_and_the_scope(ada: Caller, referee: Caller, tally: str) -> None:
    path = f"/v1/matches/{tally}/state?viewer=auditor"
    assert referee.get(path).status_code == another(referee, "referee").get(path).status_code == 200
    for caller in (another(referee, "read"), another(referee, "play"), another(ada, "referee")):
        assert refused(caller.get(path)) == (403, "hidden_view")
        assert refused(caller.get(f"/v1/matches/{tally}/record")) == (403, "audit_closed")


def test_a_reading_key_sees_what_its_player_sees(ada: Caller, tally: str) -> None:
    page = another(ada, "read")
    for path in ("", "/state", "/choices", "/entries", "/stream?seconds=0"):
        assert page.get(f"/v1/matches/{tally}{path}").data == ada.get(f"/v1/matches/{tally}{path}").data


# ---------------------------------------------------------------- the owner of the admin key


def test_a_lost_key_is_replaced_by_the_owner_of_the_admin_key(ada: Caller, admin: Caller) -> None:
    path = f"/v1/players/{ada.id}/keys"
    made = admin.post(path, {"name": "replacement", "scopes": list(SCOPES)})
    assert (made.status_code, made.headers["Cache-Control"]) == (201, "no-store")
    new = with_key(ada, made.json["key"])
    assert new.get(ME).json["id"] == ada.id
    lost = next(key["id"] for key in admin.get(path).json["keys"] if key["name"] == "first")
    assert admin.ask("DELETE", f"{path}/{lost}").status_code == 204
    assert refused(ada.get(ME)) == (401, "bad_key")
    assert [key["name"] for key in new.get(KEYS).json["keys"]] == ["replacement"]
    assert refused(admin.ask("DELETE", f"{path}/{lost}")) == (404, "no_such_key")


def test_a_role_is_given_and_taken_away(ada: Caller, admin: Caller, tally: str, referee: Caller) -> None:
    path = f"/v1/matches/{tally}/state?viewer=auditor"
    assert referee.get(path).status_code == 200
    assert admin.ask("PATCH", f"/v1/players/{referee.id}", {"role": "player"}).json == {"id": referee.id, "role": "player"}
    assert refused(referee.get(path)) == (403, "hidden_view")
    assert referee.get(ME).json["role"] == "player"
    assert admin.ask("PATCH", f"/v1/players/{referee.id}", {"role": "referee"}).status_code == 200
    assert referee.get(path).status_code == 200


def test_a_malformed_role_is_400(admin: Caller, ada: Caller) -> None:
    for body in ({}, {"role": "owner"}, {"role": None}, {"role": ["admin"]}, {"role": "admin", "name": "x"}, [], "admin"):
        assert refused(admin.ask("PATCH", f"/v1/players/{ada.id}", body)) == (400, "bad_body"), body
        assert ada.get(ME).json["role"] == "player"


def test_only_the_admin_key_changes_roles_and_keys_of_others(ada: Caller, join: Callable[..., Caller], admin: Caller) -> None:
    for caller in (ada, join("Rex", "referee"), join("Ann", "admin")):
        for answer in (
            caller.ask("PATCH", f"/v1/players/{ada.id}", {"role": "admin"}),
            caller.get(f"/v1/players/{ada.id}/keys"),
            caller.post(f"/v1/players/{ada.id}/keys", {"name": "x", "scopes": ["read"]}),
            caller.ask("DELETE", f"/v1/players/{ada.id}/keys/{key_id(ada)}"),
        ):
            assert refused(answer) == (403, "role_needed")
    assert ada.get(ME).json["role"] == "player"


def test_nobody_is_not_found(admin: Caller, ada: Caller) -> None:
    for id in ("p" + "a" * 16, "pa", "P" + "A" * 16, f"{ada.id}x"):
        for answer in (
            admin.get(f"/v1/players/{id}"),
            admin.ask("PATCH", f"/v1/players/{id}", {"role": "admin"}),
            admin.get(f"/v1/players/{id}/keys"),
            admin.post(f"/v1/players/{id}/keys", {"name": "x", "scopes": ["read"]}),
            admin.ask("DELETE", f"/v1/players/{id}/keys/{key_id(ada)}"),
        ):
            assert refused(answer) == (404, "no_such_player")


def test_the_admin_key_has_no_keys_of_a_player(admin: Caller) -> None:
    for answer in (
        admin.get(KEYS),
        admin.post(KEYS, {"name": "x", "scopes": ["read"]}),
        admin.ask("PATCH", ME, {"name": "x"}),
        admin.ask("DELETE", f"{ME}?confirm=p{'a' * 16}"),
    ):
        assert refused(answer) == (403, "no_player")


# ---------------------------------------------------------------- deleting oneself


def test_a_deleted_player_is_gone(ada: Caller, anybody: Caller, admin: Caller, tally: str) -> None:
    bot = another(ada, "play")
    gone = ada.ask("DELETE", f"{ME}?confirm={ada.id}")
    assert (gone.status_code, gone.data) == (204, b"")
    for caller in (ada, bot):
        assert refused(caller.get(ME)) == (401, "bad_key")
        assert refused(caller.act(tally, {"type": "add", "by": 1, "stay": True})) == (401, "bad_key")
    profile = anybody.get(f"/v1/players/{ada.id}").json
    assert (profile["name"], profile["created"]) == (None, None)
    for answer in (
        admin.get(f"/v1/players/{ada.id}/keys"),
        admin.post(f"/v1/players/{ada.id}/keys", {"name": "x", "scopes": ["read"]}),
        admin.ask("PATCH", f"/v1/players/{ada.id}", {"role": "referee"}),
    ):
        assert refused(answer) == (404, "no_such_player")
    standing = anybody.get(f"/v1/matches/{tally}").json
    assert standing["seats"]["one"] == {"player": ada.id}
    assert standing["players"][ada.id] == {"name": None}


@pytest.mark.parametrize(
    ("query", "answer"),
    [("", (400, "bad_query")), ("?confirm=yes", (400, "bad_query")), ("?confirm=p" + "a" * 16, (409, "not_confirmed"))],
)
def test_deleting_needs_the_own_id(ada: Caller, query: str, answer: tuple[int, str]) -> None:
    assert refused(ada.ask("DELETE", ME + query)) == answer
    assert ada.get(ME).status_code == 200


def test_the_log_of_a_match_is_the_same_after_its_player_is_deleted(ada: Caller, ben: Caller, referee: Caller, tally: str) -> None:
    before = referee.get(f"/v1/matches/{tally}/record").data
    assert ada.ask("DELETE", f"{ME}?confirm={ada.id}").status_code == 204
    assert referee.get(f"/v1/matches/{tally}/record").data == before
    assert referee.get(f"/v1/matches/{tally}/audit").json["ok"]
