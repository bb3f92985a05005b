"""Organisers: names and tags of matches, rounds in one request, and lists that a program keeps up with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from events import play
from events.audit import audit
from events.platform import Platform
from events.rebuild import rebuild
from service.app import create_app
from service.http.limits import AMOUNTS
from service.http.settings import Settings
from tests.conftest import Servers
from tests.service.conftest import Caller
from tests.service.test_invitations import listed
from tests.service.test_spectators import hidden
from tests.service.test_table import opened, take

ADD = {"type": "add", "by": 1}


def named(caller: Caller, **labels: Any) -> Any:
    """Create a match with labels, and return the answer."""
    return caller.post("/v1/matches", {"game": "tally", "seats": {"one": "me", "two": "open"}, **labels})


def changed(caller: Caller, since: Any, limit: int = 50, query: str = "") -> tuple[list[tuple[str, int]], Any, str]:
    """Return the matches that have changed since a mark with their versions, `next`, and the new mark."""
    answer = caller.get(f"/v1/matches?creator=me&updated_since={since}&limit={limit}{query}")
    assert answer.status_code == 200, answer.text
    found = answer.json
    return [(match["id"], match["version"]) for match in found["matches"]], found["next"], found["updated_until"]


# ---------------------------------------------------------------- names and tags


def test_a_match_has_the_name_and_the_tags_that_it_was_created_with(ada: Caller, ben: Caller, anybody: Caller) -> None:
    made = named(ada, name="Frühlingspokal", tags=["cup", "b.2", "cup"])
    assert (made.status_code, made.json["name"], made.json["tags"]) == (201, "Frühlingspokal", ["b.2", "cup"])
    plain, theirs = named(ada).json, named(ben, tags=["cup"]).json
    assert (plain["name"], plain["tags"]) == (None, [])
    assert listed(anybody, "tag=cup") == [theirs["id"], made.json["id"]]
    assert listed(anybody, f"tag=cup&creator={ada.id}") == [made.json["id"]]
    assert listed(ada, "creator=me") == [plain["id"], made.json["id"]]
    assert listed(anybody, "tag=nothing") == []
    assert anybody.get("/v1/matches?tag=cup").json["matches"][1]["name"] == "Frühlingspokal"
    assert anybody.get("/v1/matches?creator=me").json["code"] == "no_key"


def test_the_lobby_shows_the_name_and_nothing_in_it_is_markup(ada: Caller) -> None:
    named(ada, name="<b>Cup & co.</b>")
    assert "<bdi>&lt;b&gt;Cup &amp; co.&lt;/b&gt;</bdi>" in ada.client.get("/").text


@pytest.mark.parametrize(
    ("labels", "status", "code"),
    [
        ({"name": "Warledger Open"}, 422, "name_reserved"),
        ({"name": "p\u0430ypal"}, 400, "bad_body"),  # a Cyrillic letter among Latin ones
        ({"name": "a" * 65}, 400, "bad_body"),
        ({"name": " cup"}, 400, "bad_body"),
        ({"name": None}, 400, "bad_body"),
        ({"tags": ["Cup"]}, 400, "bad_body"),
        ({"tags": ["official"]}, 422, "name_reserved"),
        ({"tags": [f"t{number}" for number in range(9)]}, 400, "bad_body"),
        ({"tags": ["a" * 41]}, 400, "bad_body"),
    ],
)
def test_labels_go_by_the_rules_for_names(ada: Caller, labels: Any, status: int, code: str) -> None:
    refused = named(ada, **labels)
    assert (refused.status_code, refused.json["code"]) == (status, code)


def test_a_rematch_is_in_no_list_of_the_organiser(ada: Caller, ben: Caller, cleo: Caller) -> None:
    seats = {"one": f"player:{ben.id}", "two": f"player:{cleo.id}"}
    match = ada.post("/v1/matches", {"game": "tally", "seats": seats, "tags": ["cup"], "name": "Final"}).json["id"]
    for player, seat in ((ben, "one"), (cleo, "two")):
        player.act(match, take(seat))
    ben.act(match, {"type": "resign"})
    rematch = ben.act(match, {"type": "rematch"}).json
    assert (rematch["name"], rematch["tags"], rematch["creator"]) == (None, [], ben.id)


# ---------------------------------------------------------------- rounds


def round_of(caller: Caller, matches: list[Any], key: str | None = "round-1") -> Any:
    return caller.post("/v1/rounds", {"matches": matches}, **({} if key is None else {"Idempotency_Key": key}))


def test_a_round_says_of_each_match_what_became_of_it(ada: Caller, ben: Caller, cleo: Caller) -> None:
    good = {"game": "tally", "seats": {"one": f"player:{ben.id}", "two": f"player:{cleo.id}"}, "tags": ["cup"]}
    coded = {"game": "tally", "seats": {"one": "open", "two": "open"}, "code": True}
    unknown = {"game": "tally", "seats": {"one": f"player:p{'z' * 16}", "two": "open"}}
    answer = round_of(
        ada, [good, unknown, {"game": "chess", "seats": {"one": "me"}}, coded, {**good, "seats": {"one": "you", "two": "me"}}]
    )
    assert answer.status_code == 200
    first, second, third, fourth, fifth = answer.json["matches"]
    assert [one["status"] for one in answer.json["matches"]] == [201, 404, 404, 201, 422]
    assert (first["version"], "code" in first, len(fourth["code"])) == (1, False, 16)
    assert [one["problem"]["code"] for one in (second, third, fifth)] == ["no_such_player", "no_such_game", "bad_seats"]
    standing = ada.get(f"/v1/matches/{first['id']}").json
    assert standing["seats"] == {"one": {"open": True}, "two": {"open": True}}
    assert standing["invited"] == {"one": ben.id, "two": cleo.id}
    assert ben.act(first["id"], {"type": "decline_seat", "seat": "one"}).status_code == 200


def test_a_round_that_is_sent_again_creates_only_what_is_missing(platform: Platform, settings: Settings, ada: Caller) -> None:
    new = [{"game": "tally", "seats": {"one": "me", "two": "open"}, "tags": [f"board-{number}"]} for number in range(4)]
    limited, free = (
        Caller(create_app(platform, settings._replace(limits={**AMOUNTS, "matches": amount})).test_client(), ada.key, ada.id)
        for amount in (2, 0)
    )
    first = round_of(limited, new).json["matches"]
    assert [one["status"] for one in first] == [201, 201, 429, 429]
    assert first[2]["problem"]["limit"] == "matches"
    again = round_of(free, new).json["matches"]
    assert [one["status"] for one in again] == [201] * 4
    assert again[:2] == first[:2]
    assert round_of(limited, new).json["matches"] == again  # what is there costs nothing
    assert len(listed(ada, "creator=me")) == 4
    changed_body = [{**new[0], "tags": ["other"]}, *new[1:]]
    assert [one["status"] for one in round_of(free, changed_body).json["matches"]] == [422, 201, 201, 201]


def test_a_round_needs_a_key_and_has_a_bound(ada: Caller) -> None:
    match = {"game": "tally", "seats": {"one": "me", "two": "open"}}
    assert round_of(ada, [match], None).json["code"] == "bad_header"
    for matches in ([], [match] * 33, [{"game": "tally"}], [{**match, "more": 1}]):
        assert round_of(ada, matches).json["code"] == "bad_body"
    assert listed(ada, "creator=me") == []


# ---------------------------------------------------------------- keeping up


def test_every_change_comes_after_the_mark_that_was_given_before_it(ada: Caller, ben: Caller) -> None:
    first, second, third = (opened(ada, one="me", two="open") for _ in range(3))
    opened(ben, one="me", two="open")
    seen, more, mark = changed(ada, 0)
    assert (seen, more) == ([(first, 1), (second, 1), (third, 1)], None)
    assert changed(ada, mark) == ([], None, mark)
    ben.act(second, take("two"))
    assert changed(ada, mark)[0] == [(second, 2)]
    seen, more, mark = changed(ada, 0, limit=2)
    assert (seen, more) == ([(first, 1), (third, 1)], mark)
    answer = ada.get(f"/v1/matches?creator=me&updated_since=0&cursor={more}").json
    assert [match["id"] for match in answer["matches"]] == [second]
    assert answer["updated_until"] == changed(ada, mark)[2]
    assert changed(ada, 10**14)[0] == []


def test_a_program_that_keeps_up_misses_nothing_while_matches_change(platform: Platform, ada: Caller, ben: Caller) -> None:
    """Each page may find any of them changed again. In the end the copy is what the lists say."""
    matches = [opened(ada, one="me", two="open") for _ in range(12)]
    copy, mark = {}, "0"
    for step in range(40):
        if step < len(matches):
            ben.act(matches[-1 - step], take("two"))
        elif step < 30:
            play.act_at_table(platform, matches[step % 12], "one", {"type": "offer" if step < 24 else "decline", "what": "void"})
        found, _, mark = changed(ada, mark, limit=3)
        copy.update(found)
    assert copy == {match["id"]: match["version"] for match in ada.get("/v1/matches?creator=me").json["matches"]}


def test_an_entry_that_was_received_before_a_mark_and_written_after_it_is_not_missed(platform: Platform, ada: Caller, ben: Caller) -> None:
    match = opened(ada, one="me", two="open")
    mark = changed(ada, 0)[2]
    play.act_at_table(platform, match, ben.id, take("two"), received=1)
    assert changed(ada, mark)[0] == [(match, 2)]


def test_a_clock_of_the_store_that_goes_back_hides_no_change(platform: Platform, servers: Servers, ada: Caller, ben: Caller) -> None:
    match = opened(ada, one="me", two="open")
    later = 4_000_000_000_000
    servers.keeper.zadd(f"{platform.store.keys.of(match).indexes}updated:{ada.id}", {match: later})
    mark = changed(ada, 0)[2]
    ben.act(match, take("two"))
    assert changed(ada, mark)[0] == [(match, 2)]


def test_a_match_that_nobody_has_read_stays_where_it_is_for_a_minute(
    platform: Platform, servers: Servers, ada: Caller, ben: Caller
) -> None:
    match = opened(ada, one="me", two="open")
    keys, tag = platform.store.keys.of(match), platform.store.keys.tag(match)
    index = f"{keys.indexes}updated:{ada.id}"
    first = servers.keeper.zscore(index, match)
    ben.act(match, take("two"))
    assert servers.keeper.zscore(index, match) == first
    seen, _, mark = changed(ada, 0)
    assert seen == [(match, 2)]
    play.act_at_table(platform, match, "one", {"type": "offer", "what": "void"})
    moved = servers.keeper.zscore(index, match)
    assert moved > first  # type: ignore[operator]
    servers.keeper.hdel(f"{tag}:given", ada.id)  # as by a failover
    assert changed(ada, mark)[0] == [(match, 3)]
    servers.keeper.zadd(index, {match: moved - 61_000})  # type: ignore[operator]
    servers.keeper.hset(f"{tag}:given", ada.id, int(moved) - 100_000)  # type: ignore[arg-type]
    play.act_at_table(platform, match, "two", {"type": "decline", "what": "void"})
    assert servers.keeper.zscore(index, match) > moved - 61_000, "a minute later it moves, whoever has read it"  # type: ignore[operator]


def test_a_moment_finds_what_has_changed_since_though_it_has_not_moved(ada: Caller, ben: Caller) -> None:
    match = opened(ada, one="me", two="open")
    created = ada.get(f"/v1/matches/{match}").json["updated"]
    ben.act(match, take("two"))
    assert changed(ada, created + 50_000)[0] == [(match, 2)], "it may have changed in the minute after it came here"


def test_filters_hold_and_a_page_without_matches_goes_on(ada: Caller) -> None:
    named(ada, tags=["cup"])
    other = named(ada, tags=["other"]).json["id"]
    assert changed(ada, 0, query="&tag=other")[0] == [(other, 1)]
    seen, more, mark = changed(ada, 0, 1, "&tag=other")
    assert (seen, more is None) == ([], False)
    assert changed(ada, mark, 1, "&tag=other")[0] == [(other, 1)]


@pytest.mark.parametrize(
    "query",
    [
        "updated_since=0",
        "updated_since=0&creator=p" + "a" * 16,
        "updated_since=0&creator=me&sort=deadline",
        "updated_since=0.1&creator=me",
        "updated_since=x&creator=me",
        "updated_since=-1&creator=me",
    ],
)
def test_only_creators_ask_for_changes_with_a_mark_of_an_answer(ada: Caller, query: str) -> None:
    refused = ada.get(f"/v1/matches?{query}")
    assert (refused.status_code, refused.json["code"]) == (400, "bad_query")


@pytest.mark.parametrize("spectators", ["none", {"delay": 4}])
def test_when_a_hidden_match_changes_is_a_secret_for_a_creator_without_a_seat(
    platform: Platform, join: Callable[..., Caller], spectators: Any
) -> None:
    eve, ada, ben, dan = (join(name) for name in ("Eve", "Ada", "Ben", "Dan"))
    match = hidden(eve, ada, ben, spectators)
    version, mark = eve.get(f"/v1/matches/{match}").json["version"], changed(eve, 0)[2]
    play.act_at_table(platform, match, "one", {"type": "offer", "what": "void"})
    play.act_at_table(platform, match, "one", {"type": "hand_over", "player": dan.id})
    assert changed(eve, mark) == ([], None, mark)
    assert changed(eve, 0)[0] == [(match, version)]
    play.act_at_table(platform, match, "one", {"type": "hand_over", "player": eve.id})  # which Eve is told
    assert changed(eve, mark)[0] == [(match, version)]
    mark = changed(eve, 0)[2]
    play.act_at_table(platform, match, "one", {"type": "resign"})
    over = platform.store.log.head(match)
    assert changed(eve, mark)[0] == [(match, over)]


def test_a_rebuild_keeps_the_order_and_brings_back_what_is_lost(platform: Platform, servers: Servers, ada: Caller) -> None:
    first, second = opened(ada, one="me", two="open"), opened(ada, one="me", two="open")
    before = changed(ada, 0)
    rebuild(platform)
    assert changed(ada, 0) == before
    servers.keeper.zrem(f"{platform.store.keys.of(first).indexes}updated:{ada.id}", first)
    assert [finding.code for finding in audit(platform, first).findings] == ["index_differs"]
    rebuild(platform)
    assert changed(ada, before[2])[0] == [(first, 1)]
    assert audit(platform, first).ok
    assert audit(platform, second).ok
