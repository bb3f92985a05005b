from __future__ import annotations

import unicodedata
from collections.abc import Callable

import orjson
import pytest
from marshmallow import ValidationError

from events import accounts
from events.accounts import SCOPES, Account
from events.platform import Platform
from service.http.directory import Directory
from service.http.keys import Keys
from service.http.problems import Problem
from service.http.schemas import NAME_RULES
from tests.conftest import within
from tests.service.conftest import Caller

# Arabic and related number signs, which are drawn though Unicode counts them as formats.
VISIBLE_FORMATS = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"


def test_anybody_becomes_a_player_and_gets_a_key(anybody: Caller) -> None:
    made = anybody.post("/v1/players", {"name": "Ada"})
    assert made.status_code == 201
    assert made.json["role"] == "player"
    me = Caller(anybody.client, made.json["key"]).get("/v1/players/me").json
    key = f"k{made.json['id'][1:]}"
    assert me == {"id": made.json["id"], "name": "Ada", "role": "player", "key_id": key, "scopes": list(SCOPES)}


def test_the_key_is_not_in_the_store(anybody: Caller, platform: Platform) -> None:
    key = anybody.post("/v1/players", {"name": "Ada"}).json["key"]
    for name in platform.store.client.keys("{players}*"):
        assert key not in name
        assert key.encode() not in platform.store.client.ask("DUMP", name)


@pytest.mark.parametrize("role", ["referee", "admin"])
def test_only_the_admin_key_can_create_a_referee(
    anybody: Caller, ada: Caller, admin: Caller, join: Callable[..., Caller], role: str
) -> None:
    for caller in (anybody, ada, join("Rex", "referee"), join("Ann", "admin")):
        refused = caller.post("/v1/players", {"name": "Rex", "role": role})
        assert (refused.status_code, refused.json["code"]) == (403, "role_needed")
    assert admin.post("/v1/players", {"name": "Rex", "role": role}).json["role"] == role


def test_the_admin_key_belongs_to_no_player(admin: Caller) -> None:
    assert admin.get("/v1/players/me").json == {"id": None, "name": "admin", "role": "admin", "key_id": None, "scopes": list(SCOPES)}
    refused = admin.post("/v1/matches", {"game": "tally", "seats": {"one": "me", "two": "open"}})
    assert (refused.status_code, refused.json["code"]) == (403, "no_player")


@pytest.mark.parametrize(
    "header", ["Bearer nobody", "Bearer ", "Bearer", "Basic YTpi", "nonsense", "Bearer \u00e9", "Bearer " + "x" * 500, ""]
)
def test_a_wrong_key_is_refused_even_where_none_is_needed(anybody: Caller, header: str) -> None:
    for path in ("/v1/players/me", "/v1/matches"):
        refused = anybody.get(path, Authorization=header)
        assert (refused.status_code, refused.json["code"]) == (401, "bad_key")
        assert refused.headers["WWW-Authenticate"].startswith("Bearer")


def test_without_a_key_where_one_is_needed_is_401(anybody: Caller) -> None:
    refused = anybody.get("/v1/players/me")
    assert (refused.status_code, refused.json["code"]) == (401, "no_key")


@pytest.fixture
def lookups(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The players that were looked up in the store, in turn."""
    asked: list[str] = []
    get = accounts.get

    def counted(platform: Platform, id: str) -> Account | None:
        asked.append(id)
        return get(platform, id)

    monkeypatch.setattr("events.accounts.get", counted)
    return asked


def test_a_player_is_remembered_in_every_way_of_writing_the_key(platform: Platform, lookups: list[str]) -> None:
    player, key = accounts.register(platform, "Ada")
    directory = Directory(platform, 30)
    keys = Keys(platform, directory, None)

    def remembered() -> bool:
        lookups.clear()
        for header in (f"Bearer {key}", f"bearer  {key}", "BEARER" + " " * 9999 + f"{key} "):
            assert keys.sender(header).id == player.id
        for wrong in (key[:-1], key + "x", f"{key[:-43]}{'A' * 43}"):
            with pytest.raises(Problem):
                keys.sender(f"Bearer {wrong}")
        return not lookups

    within(20, remembered)


def test_a_player_is_forgotten_after_a_time(platform: Platform, lookups: list[str]) -> None:
    player, key = accounts.register(platform, "Ada")
    keys = Keys(platform, Directory(platform, 0), None)
    assert [keys.sender(f"Bearer {key}").id for _ in range(2)] == [player.id] * 2
    assert lookups == [player.id] * 2


def test_what_was_read_before_a_change_is_not_remembered(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change is heard while a player is being looked up: what the look-up returns may be older than the change."""
    player, _ = accounts.register(platform, "Ada")
    directory = Directory(platform, 30)
    within(20, lambda: directory.account(player.id) is directory.account(player.id))
    directory.forget(player.id)
    get = accounts.get

    def slow(platform: Platform, id: str) -> Account | None:
        found = get(platform, id)
        directory.forget(id)
        return found

    monkeypatch.setattr("events.accounts.get", slow)
    assert directory.account(player.id) is not directory.account(player.id)


def test_the_thread_that_hears_of_changes_ends_when_nothing_is_remembered(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.http.directory.LOOK_SECONDS", 0.05)
    player, _ = accounts.register(platform, "Ada")
    directory = Directory(platform, 0.2)
    for _ in range(2):
        directory.account(player.id)
        thread = directory._thread
        assert thread is not None
        thread.join(10)
        assert not thread.is_alive()


def test_answers_with_a_key_or_for_one_caller_are_not_stored_by_caches(anybody: Caller, ada: Caller) -> None:
    assert anybody.post("/v1/players", {"name": "Ada"}).headers["Cache-Control"] == "no-store"
    assert anybody.get("/v1/players/me").headers["Cache-Control"] == "no-store"
    for path in ("/v1/players/me", "/v1/matches"):
        headers = ada.get(path).headers
        assert (headers["Vary"], headers["Cache-Control"]) == ("Authorization", "private, no-cache")


def test_the_scheme_of_a_key_ignores_case(ada: Caller) -> None:
    assert ada.get("/v1/players/me", Authorization=f"bearer {ada.key}").status_code == 200


MIXED_OR_PILED = (
    *("А\u0064a", "Ad\u0430", "Ελεn", "W\u0430rledger", "Ada-Ада", "김James\u0416"),  # letters of several scripts in a word
    *("Z" + "\u0300\u0301\u0302\u0303\u0304", "a\u0301\u0301", "\u0301Ada", "\u0489"),  # marks that pile up, or have no letter
)


MALFORMED: list[object] = [
    {},
    {"name": ""},
    {"name": "x" * 65},
    {"name": 1},
    {"name": None},
    {"name": "a\x00b"},
    {"name": "a\nb"},
    {"name": "a", "x": 1},
    *({"name": name} for name in (" ", "   ", " Ada", "Ada ", "\u00a0", "\u3000Ada", "\u2028", "Ada\u2029Ben")),
    *({"name": name} for name in ("\u200b", "A\u200bda", "A\u200dda", "\ufeffAda", "Ada\u2060", "A\u00adda", "\u3164", "\u2800", "\u115f")),
    *({"name": name} for name in MIXED_OR_PILED),
    *({"name": name} for name in ("\u202eadA", "\u2066Ada\u2069", "Ada\u200f", "\u061cAda", "A\U000e0041da", "Ada\ufe0f", "\uffff")),
    [],
    "a",
    None,
]


def test_a_malformed_player_is_400(anybody: Caller) -> None:
    for body in MALFORMED:
        refused = anybody.ask("POST", "/v1/players", data=orjson.dumps(body))
        assert (refused.status_code, refused.json["code"]) == (400, "bad_body"), body
        assert refused.json["errors"]


IN_ANY_SCRIPT = [
    *("Ada", "x", "Ada Lovelace", "\u5f20\u4f1f", "\u0645\u062d", "J\u00fcrgen \U0001f98a", "e\u0301", "x" * 64),
    *(
        "DJ Вася",
        "Иван Иванов",
        "Σωκράτης",
        "山田太郎San",
        "ヤマダ",
        "김철수",
        "이James",
        "Nguyễn Thị Minh",
        "שָׁלוֹם",
        "བསྒྲུབས",
        "สวัสดี",
        "ısıl",
    ),
    *("Elihu Root", "Judge Dredd", "System of a Down", "Wargame Ledger", "Ada_99", "Tom 007", "O'Neil", "Refer", "Adminton", "асе"),
]


def test_a_name_in_any_script_is_kept(join: Callable[..., Caller]) -> None:
    for name in IN_ANY_SCRIPT:
        assert join(name).get("/v1/players/me").json["name"] == name


RESERVED = (
    *("admin", "Admin", "ADMIN", "Admin1", "admin 007", "adm1n", "4dmin", "@dmin", "a.d.m.i.n", "a d m i n", "admin_bob", "The Admin"),
    *("Warledger Team", "VVarledger", "System", "SYSTEM", "5ystem", "$ystem", "system!", "referee", "Referee 2", "Server", "adrnin"),
    *("аԁмιп", "ádmín", "\U0001d41a\U0001d41d\U0001d426\U0001d422\U0001d427", "ａｄｍｉｎ", "ⓐⓓⓜⓘⓝ", "a̶d̶m̶i̶n̶", "ѕуѕтем"),
)


def test_nobody_has_a_name_that_passes_for_the_server_or_its_staff(anybody: Caller, ada: Caller) -> None:
    for name in RESERVED:
        for refused in (anybody.post("/v1/players", {"name": name}), ada.ask("PATCH", "/v1/players/me", {"name": name})):
            assert (refused.status_code, refused.json["code"]) in ((422, "name_reserved"), (400, "bad_body")), name
        assert ada.get("/v1/players/me").json["name"] == "Ada"


def test_staff_may_have_a_name_that_says_so(join: Callable[..., Caller]) -> None:
    rex = join("Referee Rex", "referee")
    assert rex.ask("PATCH", "/v1/players/me", {"name": "Rex, referee of Warledger"}).status_code == 200
    assert join("Admin of the tests").get("/v1/players/me").status_code == 200


def test_no_character_of_a_name_is_invisible() -> None:
    """Every format, control and separator character of Unicode is refused, alone and inside a name."""
    for letter in map(chr, range(0x110000)):
        kind = unicodedata.category(letter)
        if kind in ("Cc", "Cf", "Zl", "Zp") and letter not in VISIBLE_FORMATS:
            assert not is_name(letter), hex(ord(letter))
            assert not is_name(f"a{letter}b"), hex(ord(letter))
        if kind == "Zs":
            assert not is_name(letter), hex(ord(letter))
            assert is_name(f"a{letter}b"), hex(ord(letter))
        if kind in ("Lu", "Ll", "Nd"):
            assert is_name(letter), hex(ord(letter))


def is_name(text: str) -> bool:
    """Return True if every rule of names accepts a text."""
    try:
        return all(rule(text) for rule in NAME_RULES)
    except ValidationError:
        return False


def test_two_players_may_have_one_name(join: Callable[..., Caller]) -> None:
    assert join("Ada").id != join("Ada").id
