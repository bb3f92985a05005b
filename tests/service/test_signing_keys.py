"""Signing keys over HTTP: registered with a proof, listed for everybody, revoked by their owner, and told where the log has them."""

from __future__ import annotations

from typing import Any

import pytest

from events import signing_keys
from events.notary import sequencing
from events.platform import Platform
from service.app import create_app
from service.http.settings import Settings
from tests.conftest import Servers
from tests.service.conftest import Caller
from tests.service.test_keys import another, refused
from tests.signing import Signer

MINE = "/v1/players/me/signing-keys"


def test_a_key_is_registered_once_and_listed_with_its_name_for_its_owner_alone(platform: Platform, ada: Caller, anybody: Caller) -> None:
    private, before = Signer(1), platform.clock.now()
    made = ada.post(MINE, private.body(ada.id, "phone"))
    assert made.status_code == 201
    assert before <= made.json["registered"] <= platform.clock.now()
    shown = {"key": private.key, "name": "phone", "registered": made.json["registered"], "logged": None}
    assert made.json == {**shown, "revoked": None, "revocation_logged": None}
    again = ada.post(MINE, private.body(ada.id, "laptop"))
    assert (again.status_code, again.json) == (200, made.json)
    assert ada.get(MINE).json == {"keys": [made.json]}
    everybodys = anybody.get(f"/v1/players/{ada.id}/signing-keys")
    assert (everybodys.status_code, everybodys.json) == (200, {"keys": [{**made.json, "name": None}]})


def test_an_answer_says_where_the_log_has_a_key(platform: Platform, ada: Caller, anybody: Caller) -> None:
    private = Signer(1)
    ada.post(MINE, private.body(ada.id))
    sequencing.sequence(platform)
    ada.ask("DELETE", f"{MINE}/{private.in_path}")
    sequencing.sequence(platform)
    (found,) = anybody.get(f"/v1/players/{ada.id}/signing-keys").json["keys"]
    first, second = found["logged"], found["revocation_logged"]
    assert (first["log"], second["log"]) == (platform.signer.name, platform.signer.name)
    leaves = anybody.get(f"/log/entries/000.p/{second['index'] + 1}").data
    assert leaves.index(b'"signing_key",') < leaves.index(b'"signing_key_revoked",')
    assert second["index"] == first["index"] + 1
    assert ada.post(MINE, private.body(ada.id)).json["code"] == "signing_key_revoked"


def test_a_revoked_key_stays_in_the_list_and_cannot_be_registered_again(ada: Caller, anybody: Caller) -> None:
    private = Signer(1)
    ada.post(MINE, private.body(ada.id))
    path = f"{MINE}/{private.in_path}"
    revoked = ada.ask("DELETE", path)
    assert (revoked.status_code, revoked.data) == (204, b"")
    (kept,) = ada.get(MINE).json["keys"]
    assert kept["revoked"] >= kept["registered"]
    assert ada.ask("DELETE", path).status_code == 204
    assert ada.get(MINE).json["keys"] == [kept]
    assert refused(ada.post(MINE, private.body(ada.id))) == (409, "signing_key_revoked")


def test_a_key_that_is_not_there_cannot_be_revoked(ada: Caller, ben: Caller) -> None:
    private = Signer(1)
    ben.post(MINE, private.body(ben.id))
    for key in (private.in_path, Signer(2).in_path, "-" * 43, "x"):
        assert refused(ada.ask("DELETE", f"{MINE}/{key}")) == (404, "no_such_key")
    assert ben.get(MINE).json["keys"][0]["revoked"] is None


def test_a_key_of_somebody_else_is_refused(ada: Caller, ben: Caller) -> None:
    body = Signer(1).body(ben.id)
    answer = ada.post(MINE, body)
    assert refused(answer) == (422, "key_unproven")
    assert ada.id in answer.json["detail"]
    assert ada.get(MINE).json == {"keys": []}


@pytest.mark.parametrize(
    "wrong",
    [
        {"key": None}, {"key": "A" * 44}, {"key": "A" * 43}, {"key": "A" * 43 + "=\n"}, {"key": "-" * 43 + "="}, {"signature": "A" * 88},
        {"signature": 1}, {"name": "\u202ex"}, {"name": ""}, {"player": "x"},
    ],
)  # fmt: skip
def test_another_form_is_a_wrong_body(ada: Caller, wrong: dict[str, Any]) -> None:
    assert refused(ada.post(MINE, {**Signer(1).body(ada.id), **wrong})) == (400, "bad_body")


def test_keys_that_only_play_change_no_signing_keys_and_may_list_them(ada: Caller) -> None:
    bot, private = another(ada, "play"), Signer(1)
    assert refused(bot.post(MINE, private.body(ada.id))) == (403, "scope_needed")
    ada.post(MINE, private.body(ada.id))
    assert refused(bot.ask("DELETE", f"{MINE}/{private.in_path}")) == (403, "scope_needed")
    assert len(bot.get(MINE).json["keys"]) == 1


def test_a_player_has_at_most_twenty_valid_keys(platform: Platform, ada: Caller) -> None:
    for number in range(20):
        Signer(number).register(platform, ada.id)
    assert refused(ada.post(MINE, Signer(20).body(ada.id))) == (409, "too_many_signing_keys")


@pytest.mark.parametrize("limit", ["new_signing_keys", "address_signing_keys"])
def test_new_keys_are_limited_and_those_that_exist_are_not(platform: Platform, settings: Settings, ada: Caller, limit: str) -> None:
    """Each is a leaf of the log, which nobody can take out again."""
    app = create_app(platform, settings._replace(limits={**settings.limits, "new_signing_keys": 0, "address_signing_keys": 0, limit: 2}))
    caller = Caller(app.test_client(), ada.key, ada.id)
    for number in range(2):
        assert caller.post(MINE, {**Signer(9).body(ada.id), "signature": "A" * 86 + "=="}).status_code == 422
        assert caller.post(MINE, Signer(number).body(ada.id)).status_code == 201
        assert caller.post(MINE, Signer(number).body(ada.id)).status_code == 200
    answer = caller.post(MINE, Signer(2).body(ada.id))
    assert refused(answer) == (429, "too_many_requests")
    assert answer.json["limit"] == limit
    assert caller.post(MINE, Signer(1).body(ada.id)).status_code == 200
    assert caller.ask("DELETE", f"{MINE}/{Signer(1).in_path}").status_code == 204


def test_keys_of_a_deleted_player_stay_listed_without_names(platform: Platform, ada: Caller, anybody: Caller) -> None:
    ada.post(MINE, Signer(1).body(ada.id, "phone"))
    assert ada.ask("DELETE", f"/v1/players/me?confirm={ada.id}").status_code == 204
    (kept,) = anybody.get(f"/v1/players/{ada.id}/signing-keys").json["keys"]
    assert (kept["key"], kept["name"]) == (Signer(1).key, None)
    assert kept["revoked"] >= kept["registered"]
    assert signing_keys.listed(platform, ada.id)[0].name is None


def test_nobody_has_signing_keys_who_never_was(anybody: Caller) -> None:
    assert refused(anybody.get(f"/v1/players/p{'z' * 16}/signing-keys")) == (404, "no_such_player")
    assert refused(anybody.get("/v1/players/x/signing-keys")) == (404, "no_such_player")
    assert refused(anybody.get(MINE)) == (401, "no_key")


def test_keys_that_the_log_lacks_for_a_minute_are_counted(platform: Platform, ada: Caller, anybody: Caller, servers: Servers) -> None:
    """An operator is warned of them as of matches."""
    ada.post(MINE, Signer(1).body(ada.id))
    (row,) = [line for line in anybody.get("/metrics").text.splitlines() if line.startswith("warledger_log_late")]
    assert row.endswith(" 0.0")
    servers.keeper.zincrby("{players}:unlogged", -60_001, f"{ada.id} {Signer(1).key}")
    (row,) = [line for line in anybody.get("/metrics").text.splitlines() if line.startswith("warledger_log_late")]
    assert row.endswith(" 1.0")
