"""Every answer about a match is the same, byte for byte, after the match has moved to the archive and after it was brought back."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from events import recall
from events.archive.objects import Memory
from events.archive.returning import bring_back
from events.audit import audit
from events.errors import ArchiveUnavailable
from events.platform import Platform
from games import GAMES
from service.api.routes import OPERATIONS
from service.app import create_app
from service.http.settings import Settings
from tests.conftest import Servers
from tests.events.archives import archivist, away, logged, moved
from tests.service.conftest import Caller, played_on
from tests.service.secrecy import OF_REQUESTS, READS, About, Ask, callers, once, sent

OTHERS = {"get_refusals": once("/v1/matches/{match}/refusals")}  # what the law of secrecy does not ask for


def over(platform: Platform, ada: Caller, ben: Caller, game: str, steps: int = 70) -> str:
    """Play a match of Ada and Ben for a while. Ben then resigns, after he was refused something."""
    seats = GAMES[game].seats.ids[: max(2, GAMES[game].seats.least)]
    asked = dict.fromkeys(seats[1:], "open")
    match = str(ada.post("/v1/matches", {"game": game, "seats": {seats[0]: "me", **asked}, "tags": ["cup"]}).json["id"])
    for seat in seats[1:]:
        assert ben.post(f"/v1/matches/{match}/seats/{seat}").status_code == 200
    played_on(platform, match, random.Random(game), steps)
    for caller in (ada, ben):
        assert caller.act(match, {"type": "nonsense"}, Idempotency_Key="refused").status_code == 422
    while recall.position(platform, match).status != "over":
        for seat in seats[1:]:
            ben.act(match, {"type": "resign"}, f"?seat={seat}")
        played_on(platform, match, random.Random(1), 1)
    platform.sidelog.flush()
    logged(platform)
    return match


def asks(about: About, most: int) -> Iterator[tuple[str, Ask]]:
    """Yield what is asked with GET at every route: about a match, the lists that it is in, and the pages that show it.

    `most`: how much is asked at a route, about.
    """
    for route, of_route in {**READS, **OTHERS}.items():
        found = [ask for ask in of_route(about) if ask.method == "GET"]
        yield from ((route, ask) for ask in found[:: len(found) // most + 1])


def told(platform: Platform, settings: Settings, match: str, most: int, *known: Caller) -> dict[str, Any]:
    """Return every answer about a match as a new process gives it to each caller."""
    people = callers(create_app(platform, settings), *known)
    position = recall.position(platform, match)
    about = About(match, position.version, tuple(position.document["seats"]))
    found = {}
    for number, caller in enumerate(people):
        for route, ask in asks(about, most):
            answer = sent(caller, route, ask)
            headers = sorted((name, value) for name, value in answer.headers if not name.startswith(OF_REQUESTS))
            found[f"{number} {route} {ask}"] = answer.status_code, headers, answer.data
    return found


def test_every_operation_that_reads_a_match_is_asked() -> None:
    reading = {operation.id for operation in OPERATIONS if operation.method == "GET" and "{match}" in operation.path}
    assert reading <= {**READS, **OTHERS}.keys()


@pytest.mark.parametrize("game", [pytest.param(game, marks=() if game == "war" else pytest.mark.soak) for game in GAMES])
@pytest.mark.parametrize("most", [2, pytest.param(100, marks=pytest.mark.soak)])
def test_every_answer_is_the_same_after_archiving_and_after_bringing_back(
    platform: Platform,
    another_platform: Callable[..., Platform],
    servers: Servers,
    settings: Settings,
    ada: Caller,
    ben: Caller,
    referee: Caller,
    admin: Caller,
    game: str,
    most: int,
) -> None:
    match, moment = over(platform, ada, ben, game), platform.clock.now()
    with archivist(platform, servers) as keeper:

        def again() -> dict[str, Any]:
            other = another_platform(moment)
            other.archive.put(keeper.archive.objects)
            return told(other, settings, match, most, *((ada, referee) if most < 100 else (ada, ben, referee, admin)))

        before = again()
        moved(keeper, match)
        assert away(platform, match)
        after = again()
        assert {name: answer for name, answer in after.items() if answer != before[name]} == {}
        assert bring_back(platform, match)
        assert most < 100 or again() == before
    answered = {name.split()[1] for name, (status, *_) in before.items() if status == 200}
    assert answered >= {operation.id for operation in OPERATIONS if operation.method == "GET" and "{match}" in operation.path} - {
        "get_hint",
        "get_analysis",
    }


def test_an_archived_match_is_gone_on_with_as_any_other(platform: Platform, servers: Servers, ada: Caller, ben: Caller) -> None:
    match = over(platform, ada, ben, "war", 30)
    with archivist(platform, servers) as keeper:
        moved(keeper, match)
        platform.cache.drop(match)
        fork = ada.post("/v1/matches", {"fork_of": match, "at": 9, "seats": {"red": "me", "blue": "ai:random"}})
        assert fork.status_code == 201, fork.text
        assert audit(platform, fork.json["id"]).ok
        assert ada.act(match, {"type": "rematch"}).status_code in (200, 201)
        refused = ada.act(match, {"type": "end_turn"}, Idempotency_Key="late")
        assert (refused.status_code, away(platform, match)) == (422, True)
        assert ada.post(f"/v1/matches/{match}/disputes", {"version": 3, "text": "No."}).status_code == 201
        assert not away(platform, match)


def test_while_the_archive_is_away_the_service_goes_on(platform: Platform, servers: Servers, ada: Caller, ben: Caller, tally: str) -> None:
    class Away(Memory):
        def read(self, name: str) -> bytes | None:
            raise ArchiveUnavailable("it was unplugged")

        def names(self, prefix: str = "", after: str = "") -> Iterator[str]:
            raise ArchiveUnavailable("it was unplugged")

    match = over(platform, ada, ben, "war", 10)
    with archivist(platform, servers) as keeper:
        moved(keeper, match)
        platform.cache.drop(match)
        platform.archive.put(Away())
        answer = ada.get(f"/v1/matches/{match}/state")
        assert (answer.status_code, answer.json["code"], answer.headers["Retry-After"]) == (503, "archive_away", "5")
        assert ada.get("/v1/matches?player=me").json["matches"][0]["id"] in (match, tally)
        assert ada.act(tally, {"type": "add", "by": 1, "stay": False}).status_code == 200
        platform.archive.look()
        ready = ada.get("/readyz")
        assert (ready.status_code, ready.json) == (200, {"status": "ok", "archive": "away"})
        assert "warledger_archive_matches 1.0" in ada.get("/metrics").text
