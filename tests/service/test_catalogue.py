from __future__ import annotations

import re

import pytest
from jsonschema import Draft202012Validator

from events.levels import LEVELS
from events.platform import Platform
from games import GAMES
from games.kernel import SHARED_REFUSALS
from service.problems import CODES
from tests.service.conftest import Caller


def test_every_game_is_listed(anybody: Caller) -> None:
    assert {game["id"] for game in anybody.get("/v1/games").json["games"]} >= set(GAMES)


@pytest.mark.parametrize("game", GAMES)
def test_a_game_tells_its_seats_options_levels_and_refusals(anybody: Caller, game: str) -> None:
    told = anybody.get(f"/v1/games/{game}").json
    assert (told["seats"], told["revision"]) == (list(GAMES[game].seats.ids), GAMES[game].revision)
    Draft202012Validator.check_schema(told["options"])
    assert [level["id"] for level in told["levels"]] == list(LEVELS)
    assert set(told["refusals"]) == {*SHARED_REFUSALS, *GAMES[game].refusals}


@pytest.mark.parametrize("game", GAMES)
def test_every_rule_can_be_read_by_its_id(anybody: Caller, game: str) -> None:
    rules = anybody.get(f"/v1/games/{game}/rules").json["rules"]
    written = re.findall(r"^- \*\*([A-Z0-9-]+)\*\*", (GAMES[game].folder / "RULES.md").read_text("utf-8"), re.MULTILINE)
    assert [rule["id"] for rule in rules] == written
    for rule in rules:
        assert anybody.get(f"/v1/games/{game}/rules/{rule['id']}").json == rule
        assert rule["section"]
        assert rule["source"] in (("S", "P", "R") if "[" in rule["text"] else (None,))
        assert len(rule["text"]) > 10


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize(("path", "file"), [("rulebook", "RULES.md"), ("contract", "CONTRACT.md")])
def test_the_rulebook_and_the_contract_are_served_as_they_are(anybody: Caller, game: str, path: str, file: str) -> None:
    answer = anybody.get(f"/v1/games/{game}/{path}")
    assert answer.mimetype == "text/markdown"
    assert answer.text == (GAMES[game].folder / file).read_text("utf-8")


@pytest.mark.parametrize("game", GAMES)
def test_the_schemas_of_a_game_are_json_schemas(anybody: Caller, game: str) -> None:
    told = anybody.get(f"/v1/games/{game}/schema").json
    for name in ("document", "view", "options"):
        Draft202012Validator.check_schema(told[name])
    for kind in (*told["actions"].values(), *told["events"].values()):
        Draft202012Validator.check_schema(kind)
        assert kind["properties"]["type"]["const"] in (*told["actions"], *told["events"])


@pytest.mark.parametrize(
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
def test_what_is_not_there_is_404(anybody: Caller, path: str, code: str) -> None:
    refused = anybody.get(path)
    assert (refused.status_code, refused.json["code"]) == (404, code)


def test_every_kind_of_problem_is_explained_where_its_type_says(anybody: Caller, platform: Platform) -> None:
    assert [kind["code"] for kind in anybody.get("/v1/problems").json["problems"]] == list(CODES)
    refused = anybody.get("/v1/games/chess").json
    assert anybody.get(refused["type"]).json["title"] == refused["title"]
