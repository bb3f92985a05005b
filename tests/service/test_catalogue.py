from __future__ import annotations

import json
import re
from hashlib import sha256

import pytest
import yaml
from jsonschema_rs import meta

from events.platform import Platform
from games import GAMES
from games.kernel import SHARED_REFUSALS
from games.lifecycle import PREPARED
from games.picture import picture
from service.http.problems import CODES
from table.data import FOLDER, LEVELS
from table.deeds import BEGINNINGS, DEEDS
from table.facts import FACTS
from table.refusals import REFUSALS
from tests.each import each
from tests.games.matches import HERE as STRUCTURAL
from tests.service.conftest import Caller


def test_every_game_is_listed(anybody: Caller) -> None:
    listed = {game["id"]: game for game in anybody.get("/v1/games").json["games"]}
    assert set(listed) >= set(GAMES)
    for id, game in GAMES.items():
        told = picture(game.folder)
        assert (listed[id]["goal"], listed[id]["length"], listed[id]["weight"]) == (told.goal, told.length, told.weight)


@pytest.mark.parametrize("game", GAMES)
def test_a_game_lists_its_seats_options_levels_and_refusals(anybody: Caller, game: str) -> None:
    found = anybody.get(f"/v1/games/{game}").json
    assert (found["seats"], found["revision"]) == (list(GAMES[game].seats.ids), GAMES[game].revision)
    meta.validate(found["options"])
    assert {level["id"]: (level["name"], level["about"]) for level in found["levels"]} == LEVELS
    assert set(found["refusals"]) == {*SHARED_REFUSALS, *GAMES[game].refusals, *REFUSALS}


@pytest.mark.parametrize("game", GAMES)
def test_every_rule_can_be_read_by_its_id(anybody: Caller, game: str) -> None:
    rules = anybody.get(f"/v1/games/{game}/rules").json["rules"]
    written = [re.findall(r"^- \*\*([A-Z0-9-]+)\*\*", text, re.MULTILINE) for text in rulebooks(game)]
    assert [rule["id"] for rule in rules] == [id for ids in written for id in ids]
    assert all(written), "the rules of the table come after those of the game"
    for rule in rules:
        assert anybody.get(f"/v1/games/{game}/rules/{rule['id']}").json == rule
        assert rule["section"]
        assert rule["source"] in (("S", "P", "R") if "[" in rule["text"] else (None,))
        assert len(rule["text"]) > 10


def rulebooks(game: str) -> list[str]:
    """Return RULES.md of the game and of the table."""
    return [(folder / "RULES.md").read_text("utf-8") for folder in (GAMES[game].folder, FOLDER)]


@pytest.mark.parametrize(("path", "file"), [("rulebook", "RULES.md"), ("contract", "CONTRACT.md")])
def test_the_rulebook_and_the_contract_of_the_table_are_served_unchanged(anybody: Caller, path: str, file: str) -> None:
    answer = anybody.get(f"/v1/table/{path}")
    assert answer.mimetype == "text/markdown"
    assert answer.text == (FOLDER / file).read_text("utf-8")


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize(("path", "file"), [("rulebook", "RULES.md"), ("contract", "CONTRACT.md")])
def test_the_rulebook_and_the_contract_are_served_unchanged(anybody: Caller, game: str, path: str, file: str) -> None:
    answer = anybody.get(f"/v1/games/{game}/{path}")
    assert answer.mimetype == "text/markdown"
    assert answer.text == (GAMES[game].folder / file).read_text("utf-8")


@pytest.mark.parametrize("game", GAMES)
def test_the_data_of_a_game_is_its_file_with_seats_and_the_defaults_of_options(ada: Caller, anybody: Caller, game: str) -> None:
    found = anybody.get(f"/v1/games/{game}/data").json
    rules = GAMES[game]
    assert found["data"] == json.loads((rules.folder / "data.json").read_text("utf-8"))
    assert (found["game"], found["revision"], found["seats"]) == (game, rules.revision, list(rules.seats.ids))
    assert (found["least_seats"], found["most_seats"]) == (rules.seats.least, rules.seats.most)
    for count in (found["least_seats"], found["most_seats"]):
        made = ada.post("/v1/matches", {"game": game, "seats": dict.fromkeys(found["seats"][:count], "open")}).json
        assert made["options"] == found["options"]
    assert set(found["options"]) == set(rules.options.schema["properties"])


def test_the_data_of_the_table_is_its_file(anybody: Caller) -> None:
    assert anybody.get("/v1/table/data").json["data"] == json.loads((FOLDER / "data.json").read_text("utf-8"))


FIXED = [
    "/v1/games", "/v1/games/war", "/v1/games/war/rules", "/v1/games/war/rules/WAR-END-01", "/v1/games/war/rulebook",
    "/v1/games/war/contract",    "/v1/games/war/data", "/v1/games/war/schema", "/v1/table/rulebook",
    "/v1/table/contract", "/v1/table/data", "/v1/problems",
    "/v1/problems/stale", "/openapi.json", "/openapi.yaml",
]  # fmt: skip


def test_what_is_the_same_for_everybody_may_be_cached_and_has_a_tag_of_its_content(anybody: Caller, ada: Caller) -> None:
    for path in FIXED:
        first, second = anybody.get(path), ada.get(path)
        tag = first.headers["ETag"]
        assert (path, first.status_code) == (path, 200)
        assert tag == second.headers["ETag"] == f'"{sha256(first.data).hexdigest()[:32]}"'
        assert first.headers["Cache-Control"] == "public, max-age=300"
        for given in (tag, f"W/{tag}", f'"other", {tag}', "*"):
            same = anybody.get(path, If_None_Match=given)
            assert (same.status_code, same.data, same.headers["ETag"]) == (304, b"", tag)
            assert same.headers["Cache-Control"] == "public, max-age=300"
        assert anybody.get(path, If_None_Match='"other"').data == first.data


def test_things_with_different_content_have_different_tags(anybody: Caller) -> None:
    assert len({anybody.get(path).headers["ETag"] for path in FIXED}) == len(FIXED)


@pytest.mark.parametrize("game", GAMES)
def test_the_schemas_of_a_game_are_json_schemas(anybody: Caller, game: str) -> None:
    schemas = anybody.get(f"/v1/games/{game}/schema").json
    for name in ("document", "view", "options"):
        meta.validate(schemas[name])
    for kind in (*schemas["actions"].values(), *schemas["events"].values()):
        meta.validate(kind)
        assert kind["properties"]["type"]["const"] in (*schemas["actions"], *schemas["events"])
    assert set(schemas["actions"]) == {*GAMES[game].deeds(), *DEEDS} - {*BEGINNINGS}
    assert set(schemas["events"]) == {*GAMES[game].events, *FACTS}
    assert PREPARED in schemas["events"]
    for one, all_kinds in (("action", "actions"), ("event", "events")):
        assert sorted(part["$ref"] for part in schemas[one]["oneOf"]) == sorted(f"#/{all_kinds}/{kind}" for kind in schemas[all_kinds])


@each(
    ("path", "code"),
    [
        ("/v1/games/chess", "no_such_game"),
        ("/v1/games/chess/rules", "no_such_game"),
        ("/v1/games/war/rules/WAR-XXX-99", "no_such_rule"),
        ("/v1/problems/nothing", "no_such_problem"),
        ("/v1/nothing", "no_such_path"),
        ("/%00", "no_such_path"),
        ("/v1/games/%FF", "no_such_game"),
    ],
)
def test_unknown_things_are_404(anybody: Caller, path: str, code: str) -> None:
    refused = anybody.get(path)
    assert (refused.status_code, refused.json["code"]) == (404, code)


def test_every_kind_of_problem_is_explained_at_the_address_in_its_type(anybody: Caller, platform: Platform) -> None:
    assert [kind["code"] for kind in anybody.get("/v1/problems").json["problems"]] == list(CODES)
    refused = anybody.get("/v1/games/chess").json
    assert anybody.get(refused["type"]).json["title"] == refused["title"]


@pytest.mark.parametrize("game", GAMES)
def test_the_rulings_of_a_game_are_its_rules_that_are_ours_each_with_its_readings(anybody: Caller, game: str) -> None:
    rulings = anybody.get(f"/v1/games/{game}/rulings").json["rulings"]
    folder, options = GAMES[game].folder, GAMES[game].with_defaults({})
    ours = [rule for rule in anybody.get(f"/v1/games/{game}/rules").json["rules"] if re.search(r"\[[^]]*\bR\b", rule["text"])]
    assert [ruling["id"] for ruling in rulings] == [rule["id"] for rule in ours if not rule["id"].startswith("TBL-")]
    without = yaml.load((STRUCTURAL / game / "structural.yaml").read_text("utf-8"), yaml.CSafeLoader)
    scenarios = {one["id"]: one for one in yaml.load((folder / "scenarios.yaml").read_text("utf-8"), yaml.CSafeLoader)}
    for ruling in rulings:
        assert ruling["why"], ruling["id"]
        assert all(quoted in ruling["text"] for quoted in ruling["quoted"])
        first, *others = ruling["readings"]
        assert (ruling["option"] is None) == (not others) == (first["value"] is None)
        assert ruling["option"] is None or first["value"] == options[ruling["option"]]
        for reading in ruling["readings"]:
            assert reading["scenarios"] or ruling["id"] in without, (ruling["id"], reading["value"])
            for id in reading["scenarios"]:
                given = {**scenarios[id]["given"], **scenarios[id]["given"].get("new_match", {})}.get("options", {})
                assert ruling["option"] is None or given.get(ruling["option"], options[ruling["option"]]) == reading["value"]


def test_each_reading_that_a_match_may_choose_is_a_ruling(anybody: Caller) -> None:
    chosen = {ruling["option"] for game in GAMES for ruling in anybody.get(f"/v1/games/{game}/rulings").json["rulings"]}
    wanted = {"ability_level", "hidden_ammo", "privateer_by_token", "all_tokens_lost", "arrival_counts", "first_seat_rotates"}
    assert chosen == {None, *wanted, "room_by_card", "garrisons", "use_once", "early_shuffle", "must_play"}


def test_a_match_by_a_house_profile_has_its_options_and_those_of_the_request_on_top(ada: Caller, anybody: Caller) -> None:
    game = {"game": "war_of_civilizations", "profile": "balanced"}
    assert anybody.get("/v1/games/war_of_civilizations").json["profiles"]["balanced"][0] == {
        "seats": [2],
        "options": {"arrival_counts": True},
    }
    made = ada.post("/v1/matches", {**game, "seats": {"fox": "me", "lion": "open"}, "options": {"pirates": True}}).json
    assert {name for name, value in made["options"].items() if value is True} == {"arrival_counts", "pirates"}
    entry = ada.get(f"/v1/matches/{made['id']}/entries").json["entries"][0]
    assert entry["action"]["options"] == {"arrival_counts": True, "pirates": True}
    three = {"fox": "me", "lion": "open", "ape": "open"}
    made = ada.post("/v1/matches", {**game, "seats": three, "options": {"first_seat_rotates": False}}).json
    assert not made["options"]["first_seat_rotates"]
    refused = ada.post("/v1/matches", {**game, "seats": three, "profile": "unheard of"})
    assert (refused.status_code, refused.json["code"]) == (422, "bad_options")
    assert "balanced" in refused.json["detail"]
