"""What holds for every request: ids, metrics, logs; and the pages for people."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import orjson

from events import recall
from events.due import owed
from events.platform import Platform
from service.app import create_app
from service.http.settings import Settings
from tests.service.conftest import Caller
from workers import jobs


def test_a_request_has_its_own_id_or_a_new_one(anybody: Caller) -> None:
    assert anybody.get("/healthz", X_Request_Id="mine-1").headers["X-Request-Id"] == "mine-1"
    for given in ("", "with space", "x" * 65, "\u00e9"):
        assert re.fullmatch("[0-9a-f]{16}", anybody.get("/healthz", X_Request_Id=given).headers["X-Request-Id"])
    assert "X-Request-Id" in anybody.get("/nothing").headers


def test_no_browser_guesses_the_media_type_of_an_answer(anybody: Caller, ada: Caller, tally: str) -> None:
    answers = [anybody.get(path) for path in ("/healthz", "/nothing", "/docs", "/docs/assets/start.js", "/openapi.json", "/v1/games")]
    answers += [ada.act(tally, {"type": "roll"}), ada.act(tally, {}), ada.ask("OPTIONS", "/v1/games"), ada.ask("DELETE", "/v1/games")]
    for answer in answers:
        assert answer.headers.getlist("X-Content-Type-Options") == ["nosniff"]


def test_the_metrics_count_appends_refusals_and_what_is_due(ada: Caller, anybody: Caller, tally: str) -> None:
    ada.act(tally, {"type": "add", "by": 9, "stay": True})
    ada.act(tally, {"type": "add", "by": 1, "stay": True})
    text = anybody.get("/metrics").text
    for name in (
        'warledger_appends_total{game="tally"}',
        "warledger_conflicts_total",
        'warledger_refusals_total{code="against_the_rules",game="tally"}',
        'warledger_queue_depth{kind="advance"}',
        'warledger_queue_depth{kind="think"}',
        'warledger_workers{kind="search"}',
        "warledger_oldest_due_seconds",
        "warledger_due",
        "warledger_overdue",
        "warledger_streams",
        'warledger_requests_total{operation="act",status="200"}',
        'warledger_problems_total{code="against_the_rules"}',
        'warledger_request_seconds_bucket{le="0.005",operation="act"}',
    ):
        assert f"\n{name}" in text, name


def test_only_the_admin_key_sees_the_refusal_codes_of_games(
    ada: Caller, anybody: Caller, referee: Caller, admin: Caller, tally: str
) -> None:
    ada.act(tally, {"type": "add", "by": 9, "stay": True})
    for caller in (anybody, ada, referee):
        assert "too_much" not in caller.get("/metrics").text
    text = admin.get("/metrics").text
    assert '\nwarledger_refusals_total{code="too_much",game="tally"}' in text
    assert '\nwarledger_problems_total{code="too_much"}' in text


def test_only_the_admin_key_sees_what_searches_have_used(
    platform: Platform, ada: Caller, anybody: Caller, referee: Caller, admin: Caller, begin: Callable[..., str]
) -> None:
    """With one running match, the iterations of its last search would be told, and they may depend on what its seat has."""
    jobs.carry_out(platform, owed(recall.position(platform, begin(one="ai:strong", two="me")))[0])
    for caller in (anybody, ada, referee):
        assert "warledger_search_" not in caller.get("/metrics").text
    text = admin.get("/metrics").text
    for name in ("iterations", "nodes", "seconds"):
        assert re.search(rf'^warledger_search_{name}_count{{level="strong"}} [1-9]', text, re.MULTILINE), name
    assert re.search(r"^warledger_search_memory_bytes [1-9]", text, re.MULTILINE)


def test_a_request_writes_a_line_to_the_log(platform: Platform, capfdbinary: Any) -> None:
    caller = Caller(create_app(platform, Settings(log_requests=True)).test_client())
    caller.get("/v1/matches/maaaaaaaaaaaaaaaa/state?viewer=red", X_Request_Id="r1")
    line = orjson.loads(capfdbinary.readouterr().out.splitlines()[-1])
    assert line.pop("ms") >= 0
    assert line.pop("at")
    assert line == {
        "event": "request",
        "level": "info",
        "request": "r1",
        "method": "GET",
        "operation": "get_state",
        "status": 404,
        "code": "no_such_match",
        "match": "maaaaaaaaaaaaaaaa",
        "player": None,
    }


def test_the_page_of_the_api_loads_nothing_from_other_servers(anybody: Caller) -> None:
    page = anybody.get("/docs")
    assert page.mimetype == "text/html"
    for place in re.findall(r'(?:src|href)="([^"]+)"', page.text):
        assert place.startswith("/")
        assert anybody.get(place).status_code == 200
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    assert not re.search(r"https?://", page.text)
    assert anybody.get("/docs/assets/LICENSE").status_code == 404
    assert anybody.get("/docs/assets/..%2f__init__.py").status_code == 404


def test_the_description_is_served_in_json_and_yaml(anybody: Caller) -> None:
    import yaml

    assert yaml.load(anybody.get("/openapi.yaml").text, yaml.CSafeLoader) == anybody.get("/openapi.json").json
