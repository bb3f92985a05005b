"""Each kind of problem stands once, and an operation documents the kinds that follow from what it takes and does."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import pytest

from events.errors import ERRORS, PlatformError
from service.api.operations import Operation
from service.api.routes import OPERATIONS
from service.http.limits import NO_LIMITS
from service.http.problems import CODES, OWN, platform_problem, problem_response
from service.http.settings import Settings
from table.refusals import REFUSALS
from tests.service.conftest import ADMIN, ROOT, Caller


def subclasses(kind: type[PlatformError]) -> Iterator[type[PlatformError]]:
    """Yield every subclass, and theirs."""
    for subclass in kind.__subclasses__():
        yield subclass
        yield from subclasses(subclass)


def test_no_code_stands_twice() -> None:
    for one, other in combinations((OWN, ERRORS, REFUSALS), 2):
        assert one.keys() & other.keys() == set()


@pytest.mark.parametrize("kind", list(subclasses(PlatformError)), ids=lambda kind: kind.__name__)
def test_every_error_of_the_platform_has_a_row(kind: type[PlatformError]) -> None:
    error = kind.__new__(kind)
    error.facts = dict.fromkeys(re.findall(r"\{(\w+)", CODES[kind.code].detail), "fact")
    error.version, error.place, error.statement = 7, 3, ""  # type: ignore[attr-defined]
    response = problem_response(platform_problem(error), "en")
    assert kind.code in ERRORS.keys() | REFUSALS.keys()
    assert (response.status_code, response.json["code"]) == (CODES[kind.code].status, kind.code)


def test_every_refusal_by_the_table_of_what_a_player_may_choose_is_a_kind_of_problem() -> None:
    """The others are those of actions of the system, which no request can send."""
    assert REFUSALS.keys() - CODES.keys() == {"not_late", "nothing_to_return", "not_continued"}


def test_the_proxy_of_the_example_answers_with_a_kind_of_problem_too() -> None:
    (body,) = re.findall(r"return 503 '(.*)'", (ROOT / "examples" / "nginx.conf").read_text("utf-8"))
    problem = json.loads(body)
    assert (problem["status"], problem["title"], problem["detail"]) == CODES[problem["code"]]


# ---------------------------------------------------------------- what is derived comes up

CHARGED = ("referee", "admin")
UNPROVOKED = {
    *(
        "broken",
        "archive_away",
        "archive_damaged",
        "store_away",
        "store_refused",
        "log_damaged",
        "secret_lost",
        "rules_missing",
    ),  # the service is ill
    *("busy", "too_many_at_once", "too_many_requests", "too_many_streams", "streams_full", "quota_reached"),  # others ask, too
    *("bad_request", "request_reused", "must_be_last", "bad_list", "against_the_rules"),  # tests/service/test_playing.py and others
    "no_such_player",  # who is deleted while the request is on its way
}


class Asked(NamedTuple):
    """A request that provokes a problem: who asks, and what differs from one that could be carried out."""

    who: str = "ada"
    query: str = ""
    ids: dict[str, str] = {}
    data: bytes | None = None
    headers: dict[str, str] = {}


def provoking(code: str, operation: Operation, settings: Settings) -> Asked:
    """Return a request that an operation answers with this code."""
    taken = operation.query.fields if operation.query is not None else {}
    lacking = "account" if operation.scope == "read" else "read"
    header = next((name for name in operation.headers if name != "If-None-Match"), "")
    of_paths = {
        "no_such_match": {"match": "m" + "a" * 16},
        "no_such_key": {"key": "k" + "a" * 16, "signing_key": "A" * 42 + "E"},
        "no_such_hook": {"hook": "h" + "a" * 16},
        "no_such_game": {"game": "chess"},
        "no_such_rule": {"rule": "WAR-NON-99"},
        "no_such_version": {"version": "99"},
        "no_such_dispute": {"dispute": "x"},
        "no_such_puzzle": {"puzzle": f"m{'a' * 16}-57"},
        "no_such_problem": {"code": "nothing"},
        "not_in_log": {"tile": "999"},
    }
    if any(f"{{{name}}}" in operation.path for name in of_paths.get(code, ())):
        return Asked(operation.by if operation.by in CHARGED else "ada", ids=of_paths[code])
    found = {
        "bad_query": Asked(query="nothing=1"),
        "address_too_long": Asked(query="x" * (settings.header_limit + 1)),
        "header_too_large": Asked(headers={"X-Long": "x" * (settings.header_limit + 1)}),
        "no_key": Asked("anybody"),
        "bad_key": Asked(headers={"Authorization": "Bearer nobody"}),
        "scope_needed": Asked(f"{lacking} alone"),
        "no_player": Asked("admin"),
        "role_needed": Asked("ada"),
        "bad_json": Asked(data=b"{"),
        "bad_body": Asked(
            data=b"9" * 20 if operation.id == "try_puzzle" else b"1"
        ),  # whoever tries something else than an action: bad_action
        "too_large": Asked(data=b" " * (settings.body_limit + 1)),
        "not_json": Asked(headers={"Content-Type": "text/plain"}),
        "encoded": Asked(headers={"Content-Encoding": "gzip"}),
        "bad_header": Asked(headers={header: "no id"}),
        "stale": Asked(headers={"If-Match": '"1"'}),
        "not_seated": Asked("cleo"),
        "not_your_seat": Asked(query="seat=two"),
        "no_such_seat": Asked(query="viewer=nine" if "viewer" in taken else "seat=nine"),
        "hidden_view": Asked(query="viewer=two"),
        "no_such_version": Asked(query="at=99" if "at" in taken else "after=99"),
        "no_such_game": Asked(query="game=chess"),
        "not_in_log": Asked(query="from=1&to=99" if operation.id == "get_consistency" else ""),
    }[code]
    return found._replace(who=operation.by) if operation.by in CHARGED and found.who == "ada" and code != "role_needed" else found


def derived(code: str) -> list[Operation]:
    """Return the operations of which a code is documented because of what they take, and not of what they do."""
    bare = [operation._replace(deeds=(), plays="", problems=()) for operation in OPERATIONS]
    return [operation for operation in bare if code in operation.all_problems() and code not in UNPROVOKED]


@pytest.fixture
def settings() -> Settings:
    """Settings without limits: many wrong keys come from one address."""
    return Settings(admin_key=ADMIN, log_requests=False, limits=NO_LIMITS)


@pytest.mark.parametrize("code", [code for code in CODES if derived(code)])
def test_what_an_operation_takes_can_fail_as_documented(
    anybody: Caller, ada: Caller, cleo: Caller, referee: Caller, admin: Caller, tally: str, settings: Settings, code: str
) -> None:
    """Every code that follows from a part of an operation comes up, at each operation that has the part."""
    callers = {"anybody": anybody, "ada": ada, "cleo": cleo, "referee": referee, "admin": admin}
    for scope in ("read", "account"):
        key = ada.post("/v1/players/me/keys", {"name": scope, "scopes": [scope]}).json["key"]
        callers[f"{scope} alone"] = Caller(anybody.client, key)
    hook = ada.post("/v1/players/me/hooks", {"url": "https://chat.example/", "kinds": ["turn"]}).json["id"]
    known = {
        "match": tally, "player": ada.id, "key": f"k{ada.id[1:]}", "game": "war", "seat": "two", "version": "1", "dispute": "1",
        "rule": "TBL-SEA-01", "code": "stale", "level": "0", "tile": "000", "hook": hook, "delivery": "test-1",
        "month": "2026-11", "part": "1", "signing_key": "A" * 43, "puzzle": f"{tally}-1",
    }  # fmt: skip
    for operation in derived(code):
        asked = provoking(code, operation, settings)
        path = operation.path.format_map({**known, **asked.ids})
        query = "&".join(part for part in (needed(operation, code), asked.query) if part)
        headers = {name.replace("-", "_"): value for name, value in asked.headers.items()}
        body = next(iter(operation.body.examples.values())) if operation.body is not None and asked.data is None else None
        answer = callers[asked.who].ask(operation.method, f"{path}?{query}" if query else path, body, data=asked.data, **headers)
        assert (operation.id, answer.status_code) == (operation.id, CODES[code].status)
        assert (operation.id, answer.json["code"]) == (operation.id, code)


def needed(operation: Operation, code: str) -> str:
    """Return the fields of a query without which it would be malformed."""
    fields = {
        "confirm": f"confirm=p{'a' * 16}",
        "pointer": "pointer=/round",
        "first": "from=0",
        "second": "to=0",
        "game": "game=war",
        "version": "version=2",
    }
    required = [name for name, field in (operation.query.fields if operation.query is not None else {}).items() if field.required]
    required = [name for name in required if (name, code) != ("game", "no_such_game")]
    return "" if code == "not_in_log" else "&".join(fields[name] for name in required)
