"""Words follow `Accept-Language`; codes, ids and the form of answers do not."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest

from events.platform import Platform
from service.http.languages import language_of, page_language
from tests.service.conftest import Caller, worlds

RUSSIAN = "ru-RU, ru;q=0.9, en;q=0.5"
CYRILLIC = re.compile("[а-яё]")


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("ru", "ru"),
        ("RU-ru", "ru"),
        ("en-GB, ru;q=0.9", "en"),
        ("en;q=0.2, ru;q=0.3", "ru"),
        ("de, fr;q=0.9, ru;q=0.1", "ru"),
        ("de, fr", "en"),
        ("ru;q=0, de", "en"),
        ("*", "en"),
        ("", "en"),
        (";;q=,,=", "en"),
        (f"{' ' * 10_000}ru", "en"),
    ],
)
def test_the_language_is_the_best_that_exists(header: str, language: str) -> None:
    assert language_of({"HTTP_ACCEPT_LANGUAGE": header}) == language


def test_on_pages_a_choice_goes_before_the_header_if_it_exists() -> None:
    asked = {"HTTP_ACCEPT_LANGUAGE": "ru"}
    assert [
        page_language({**asked, "HTTP_COOKIE": cookie}) for cookie in ("language=en", "a=b; language=ru", "language=xx", "b=language")
    ] == [*("en", "ru", "ru", "ru")]
    assert language_of({**asked, "HTTP_COOKIE": "language=en"}) == "ru", "the API knows no cookies"


def test_many_cookies_do_not_keep_a_page_busy() -> None:
    environ = {"HTTP_COOKIE": "a=1; " * 12_000 + "my-language=xx; language=ru"}
    began = time.process_time()
    assert {page_language(environ) for _ in range(20)} == {"ru"}
    assert time.process_time() - began < 0.1, "a page asks dozens of times"


def test_words_are_in_the_language_that_the_caller_prefers(platform: Platform, ada: Caller, ben: Caller, anybody: Caller) -> None:
    match = worlds(platform, ada, ben, 6)
    acting = next(
        caller for caller in (ada, ben) if caller.get(f"/v1/matches/{match}/choices").json["choices"][0]["action"]["type"] != "resign"
    )
    for path in (
        *("frames?limit=3", "why?pointer=/round&limit=2", "state.svg", "state.svg?shape=board", "choices?blocked=true"),
        *("/v1/games", "/v1/games/war_of_the_worlds", "/v1/games/war_of_the_worlds/rules", "/v1/games/war_of_the_worlds/rules/WOW-CMP-01"),
        *("/v1/games/war_of_the_worlds/rulebook", "/v1/games/war_of_the_worlds/rulings", "/v1/games/war/look.svg", "/v1/problems/stale"),
    ):
        caller, address = acting, path if path.startswith("/") else f"/v1/matches/{match}/{path}"
        english, russian, again = caller.get(address), caller.get(address, Accept_Language=RUSSIAN), caller.get(address)
        assert (english.headers["Content-Language"], russian.headers["Content-Language"]) == ("en", "ru")
        assert "Accept-Language" in english.headers["Vary"]
        assert "Accept-Language" in russian.headers["Vary"]
        assert CYRILLIC.search(russian.text.lower()), path
        assert not CYRILLIC.search(english.text.lower()), path
        assert again.data == english.data, "what is kept for a reader is not given to another"
        if "ETag" in english.headers:
            assert english.headers["ETag"] != russian.headers["ETag"]
            assert caller.get(address, If_None_Match=russian.headers["ETag"]).status_code == 200
            assert caller.get(address, If_None_Match=russian.headers["ETag"], Accept_Language="ru").status_code == 304
        if english.is_json and not path.startswith("frames"):
            assert shape(english.json) == shape(russian.json)
    address = f"/v1/matches/{match}/state"
    english, russian = [acting.get(address, Accept="text/plain", Accept_Language=language) for language in ("en", "ru")]
    assert [(text.headers["Content-Language"], bool(CYRILLIC.search(text.text))) for text in (english, russian)] == [
        ("en", False),
        ("ru", True),
    ]
    assert "Accept-Language" in russian.headers["Vary"]
    kept = {"Accept": "text/plain", "If_None_Match": russian.headers["ETag"]}
    assert [acting.get(address, Accept_Language=language, **kept).status_code for language in ("ru", "en")] == [304, 200]
    picture = anybody.get(f"/v1/matches/{match}/state.svg?language=ru")
    assert picture.data == anybody.get(f"/v1/matches/{match}/state.svg", Accept_Language="ru").data
    assert anybody.get(f"/v1/matches/{match}/state.svg?language=xx").json["code"] == "bad_query"


def test_a_problem_says_the_facts_of_the_case_in_the_language_too(platform: Platform, ada: Caller, ben: Caller, anybody: Caller) -> None:
    match = worlds(platform, ada, ben, 6)
    refused = [
        ada.act(match, {"type": "move_civilian", "from": "london", "to": "wessex"}, **asked) for asked in ({}, {"Accept_Language": "ru"})
    ]
    english, russian = [answer.json for answer in refused]
    assert (refused[0].headers["Content-Language"], refused[1].headers["Content-Language"]) == ("en", "ru")
    assert {**english, "title": "", "detail": ""} == {**russian, "title": "", "detail": ""}
    assert CYRILLIC.search(russian["title"])
    assert not re.search("[a-z]{3}", russian["detail"])
    assert CYRILLIC.search(anybody.get("/v1/matches/maaaaaaaaaaaaaaaa", Accept_Language="ru").json["detail"])
    assert CYRILLIC.search(anybody.get("/nowhere", Accept_Language="ru").json["detail"])


def shape(value: Any) -> Any:
    """Return JSON without its words: ids and codes have no blank, no capital letter and no full stop."""
    if isinstance(value, dict):
        return {name: shape(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [shape(inner) for inner in value if not isinstance(inner, str)]
    return value if not isinstance(value, str) or re.fullmatch("[a-z0-9_.:-]*[a-z0-9]", value) else ""


def test_the_page_of_a_game_has_its_rules_in_the_language_where_they_exist(anybody: Caller) -> None:
    english = anybody.client.get("/games/war").text
    anybody.client.set_cookie("language", "ru")
    pages = [anybody.client.get(f"/games/{game}").text for game in ("war", "war_of_the_worlds")]
    assert ["Правила — на английском." in page for page in pages] == [True, False]
    assert [page.count('<section lang="en"') > 12 for page in pages] == [True, True], "those of the table are English in both"
    assert "Играют ровно две стороны" in pages[1]
    assert "Правила — " not in english
