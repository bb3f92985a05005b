"""Hints and analyses over HTTP: a worker thinks, nothing is told that the seat does not know, and everything has a bound and an end."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from structlog.testing import CapturingLogger

from events import play, recall
from events.due import ANALYSIS, HINT, KINDS
from events.platform import Platform
from events.store.queue.studies import ANALYSTS, BOUNDS, FAILED_MS, Study, analysis_of, hint_for
from games import GAMES
from games.chance import Drawn
from games.choices import admits
from games.kernel import RESTORED, SYSTEM, legal
from players.level import Option
from record.entries import parse
from record.thinking.judging import compares
from service.app import create_app
from service.http.limits import AMOUNTS
from service.http.settings import Settings
from tests.conftest import ALL_GAMES, Servers, waits
from tests.service.conftest import Caller, played_on
from tests.service.secrecy import comparable, replace_entries
from tests.service.test_matches import played_out
from tools.analyse import analyse
from tools.records import Record
from workers import jobs, studying

Opener = Callable[[], Platform]


@pytest.fixture(autouse=True)
def worker(platform: Platform) -> None:
    """Let the jobs of this process work for the platform."""
    jobs.bind(platform, (HINT, ANALYSIS))


def over(platform: Platform, ada: Caller, game: str = "tally", steps: int = 12) -> str:
    """Return a match that is over, in which Ada has all seats."""
    if game == "tally":
        match = str(ada.post("/v1/matches", {"game": game, "seats": {"one": "me", "two": "me"}, "options": {"target": 12}}).json["id"])
        played_out(platform, ada, ada, match)
        return match
    seats = GAMES[game].seats.ids[:2]
    match = str(ada.post("/v1/matches", {"game": game, "seats": dict.fromkeys(seats, "me")}).json["id"])
    played_on(platform, match, random.Random(2), steps)
    assert ada.act(match, {"type": "resign"}, f"?seat={seats[0]}").status_code == 200
    return match


def start(platform: Platform, match: str) -> int:
    """Return a version of a match at which a seat must act."""
    return next(at for at in range(3, 99) if SYSTEM not in recall.state_at(platform, match, at).to_act)


def practice(platform: Platform, ada: Caller, game: str = "tally", steps: int = 12) -> tuple[str, str]:
    """Return a practice match in which Ada has all seats, and the seat that must act."""
    match = over(platform, ada, game, steps)
    fork = str(ada.post("/v1/matches", {"fork_of": match, "at": start(platform, match)}).json["id"])
    return fork, recall.position(platform, fork).to_act[0]


# ---------------------------------------------------------------- hints


@pytest.mark.parametrize("level", ["greedy", "strong"])
def test_a_worker_gives_a_hint_and_it_stays(platform: Platform, ada: Caller, servers: Servers, level: str) -> None:
    fork, seat = practice(platform, ada)
    path = f"/v1/matches/{fork}/hint?level={level}"
    version = platform.store.log.head(fork)
    about = {"match": fork, "game": "tally", "version": version, "seat": seat, "level": level}
    for _ in range(2):
        asked = ada.get(path)
        assert (asked.status_code, asked.json, asked.headers["Retry-After"]) == (202, about, "1")
    assert waits(servers, HINT) == [f"hint|{fork}|{seat}:{level}"], "it waits once"
    jobs.work(HINT)
    found = ada.get(path)
    assert (found.status_code, found.headers["Cache-Control"]) == (200, "private, no-cache")
    assert {name: found.json[name] for name in about} == about
    choices = legal(platform.games["tally"], recall.position(platform, fork).document, seat)
    for action in (found.json["action"], *(option["action"] for option in found.json["options"])):
        assert any(admits(choice, action) for choice in choices)
    assert bool(found.json["options"]) == bool(found.json["iterations"]) == (level == "strong")
    assert all(0 <= option["worth"] <= 1 for option in found.json["options"])
    assert ada.get(path).data == found.data
    servers.queue.flushall()
    assert ada.get(path).status_code == 202, "what the queue has lost is thought about again"
    jobs.work(HINT)
    assert ada.get(path).data == found.data


@pytest.mark.parametrize(
    "game", ["war", *(pytest.param(f"war_of_{name}", marks=pytest.mark.soak) for name in ("the_worlds", "civilizations"))]
)
def test_the_best_option_of_a_hint_is_first_and_no_other_is_worth_more(platform: Platform, ada: Caller, game: str) -> None:
    fork, seat = practice(platform, ada, game, 60)
    path = f"/v1/matches/{fork}/hint?level=expert&seat={seat}"
    assert ada.get(path).status_code == 202
    jobs.work(HINT)
    found = ada.get(path).json
    worths = [option["worth"] for option in found["options"]]
    assert found["action"] == found["options"][0]["action"]
    assert len(worths) > 1
    assert worths == sorted(worths, reverse=True)


def test_a_hint_tells_what_was_followed_less_far_as_no_better() -> None:
    thought = [
        Option({"type": name}, worth, tries) for name, worth, tries in (("a", 0.6, 9), ("b", 0.50001, 9), ("c", 0.97, 1), ("d", 0.1, 1))
    ]
    assert [(option["action"]["type"], option["worth"], option["tries"]) for option in studying.in_order(thought)] == [
        ("a", 0.6, 9),
        ("b", 0.5, 9),
        ("c", 0.5, 1),
        ("d", 0.1, 1),
    ]


def test_a_hint_is_for_its_version(platform: Platform, ada: Caller) -> None:
    fork, seat = practice(platform, ada)
    path = f"/v1/matches/{fork}/hint?seat={seat}"
    assert ada.get(path).status_code == 202
    play.play(platform, fork, seat, [{"type": "add", "by": 1, "stay": True}])
    jobs.work(HINT)
    before = hint_for(fork, platform.store.log.head(fork) - 1, seat, "strong", ada.id, 0)
    assert platform.studies.look(before) == Study(None, ada.id, 0, None)
    assert ada.get(path).json["version"] == platform.store.log.head(fork)
    jobs.work(HINT)
    assert ada.get(path).status_code == 200


def test_hints_are_for_seats_that_must_act_in_practice(
    platform: Platform, ada: Caller, ben: Caller, anybody: Caller, admin: Caller
) -> None:
    match = over(platform, ada)
    fork = ada.post("/v1/matches", {"fork_of": match, "at": start(platform, match), "seats": {"one": "me", "two": "open"}}).json["id"]
    path = f"/v1/matches/{fork}/hint"
    assert ada.get(path).json["code"] == "not_started"
    assert ben.post(f"/v1/matches/{fork}/seats/two").status_code == 200
    (acting,) = recall.position(platform, fork).to_act
    first, second = (ada, ben) if acting == "one" else (ben, ada)
    other = "two" if acting == "one" else "one"
    assert first.get(path).status_code == 202
    assert (second.get(path).status_code, second.get(path).json["code"]) == (409, "nothing_to_decide")
    assert second.get(f"{path}?seat={acting}").json["code"] == "not_your_seat"
    assert first.get(f"{path}?seat={other}").json["code"] == "not_your_seat"
    assert first.get(f"{path}?seat=three").json["code"] == "no_such_seat"
    assert first.get(f"{path}?level=perfect").json["code"] == "bad_query"
    assert anybody.get(path).json["code"] == "no_key"
    assert admin.get(path).json["code"] == "no_player"
    playing = ada.post("/v1/matches", {"game": "tally", "seats": {"one": "me", "two": "ai:random"}}).json["id"]
    refused = ada.get(f"/v1/matches/{playing}/hint")
    assert (refused.status_code, refused.json["code"]) == (409, "not_practice")
    assert first.act(fork, {"type": "resign"}).status_code == 200
    assert first.get(path).json["code"] == "nothing_to_decide"


def test_a_worker_gives_no_hint_that_nobody_may_have(platform: Platform, tally: str) -> None:
    """Whatever is in the queue, which others may write to."""
    work = hint_for(tally, recall.position(platform, tally).version, "one", "strong", "p" + "a" * 16, 0)
    assert platform.studies.begin(work) is not None
    platform.jobs.push([work])
    jobs.work(HINT)
    assert platform.studies.look(work) == Study(None, work.creator, 0, None)


@pytest.mark.parametrize("game", GAMES)
def test_a_hint_does_not_change_when_hidden_things_do(
    platform: Platform, another_platform: Opener, servers: Servers, settings: Settings, ada: Caller, game: str
) -> None:
    fork, seat = practice(platform, ada, game, 40)
    rules, (first,) = GAMES[game], (parse(raw) for raw in platform.store.log.read_all(fork))
    created, restored = first.events[:2]
    assert restored["type"] == RESTORED
    truth, dice = restored["document"], random.Random(3)
    seen = []
    for document in (truth, rules.guess(rules.view(truth, seat), seat, Drawn(dice.randrange), restored["memory"])):
        replace_entries(servers, platform, fork, [first._replace(events=[created, {**restored, "document": document}, *first.events[2:]])])
        servers.queue.flushall()
        other = another_platform()
        caller = Caller(create_app(other, settings).test_client(), ada.key)
        jobs.bind(other, (HINT,))
        path = f"/v1/matches/{fork}/hint?seat={seat}"
        asked = [comparable(caller.get(path))]
        jobs.work(HINT)
        asked.append(comparable(caller.get(path)))
        assert [status for status, _, _ in asked] == [202, 200]
        seen.append(asked)
    assert seen[0] == seen[1]


# ---------------------------------------------------------------- bounds


def test_a_player_waits_for_few_hints_and_begins_few_in_an_hour(platform: Platform, ada: Caller, ben: Caller) -> None:
    match = over(platform, ada)
    most = AMOUNTS["hints_at_once"]
    forks = [ada.post("/v1/matches", {"fork_of": match, "at": start(platform, match)}).json["id"] for _ in range(most + 1)]
    answers = [ada.get(f"/v1/matches/{fork}/hint") for fork in forks]
    assert [answer.status_code for answer in answers] == [202] * most + [429]
    assert (answers[-1].json["code"], answers[-1].json["limit"]) == ("quota_reached", "hints_at_once")
    jobs.work(HINT)
    assert ada.get(f"/v1/matches/{forks[-1]}/hint").status_code == 202, "when others are done"
    few = create_app(platform, Settings(log_requests=False, limits={**AMOUNTS, "hints": 1, "analyses": 1}))
    caller = Caller(few.test_client(), ben.key)
    again = [caller.post("/v1/matches", {"fork_of": match, "at": start(platform, match)}).json["id"] for _ in range(2)]
    jobs.work(HINT)
    assert [caller.get(f"/v1/matches/{fork}/hint").status_code for fork in (again[0], again[0], again[1])] == [202, 202, 429]
    assert caller.get(f"/v1/matches/{again[1]}/hint").json["limit"] == "hints"
    other = over(platform, ada)
    assert [caller.post(f"/v1/matches/{one}/analysis").status_code for one in (match, match, other)] == [202, 202, 429]


def test_whoever_waits_for_what_has_failed_is_told_so(
    platform: Platform, ada: Caller, servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    fork, _ = practice(platform, ada)
    match = recall.position(platform, fork).table["origin"]
    assert match is not None
    hint, analysis = f"/v1/matches/{fork}/hint", f"/v1/matches/{match['match']}/analysis"
    assert (ada.get(hint).status_code, ada.post(analysis).status_code) == (202, 202)
    for name in ("advice", "judged"):
        monkeypatch.setattr(studying, name, lambda *_: 1 / 0)
    jobs.work(HINT)
    for refused in (ada.get(hint), ada.get(analysis), ada.post(analysis)):
        assert (refused.status_code, refused.json["code"], refused.headers["Retry-After"]) == (500, "thinking_failed", "60")
    for key in servers.queue.scan_iter("study:*|*"):
        assert 0 < servers.queue.pttl(key) <= FAILED_MS  # type: ignore[operator]
        servers.queue.delete(key)
    servers.queue.delete(*servers.queue.scan_iter("fair:*:taken:*"))
    monkeypatch.undo()
    assert (ada.get(hint).status_code, ada.post(analysis).status_code) == (202, 202)
    for _ in range(50):  # a slow machine needs more parts
        jobs.work(HINT)
        if ada.get(hint).status_code == ada.get(analysis).status_code == 200:
            break
    assert (ada.get(hint).status_code, ada.get(analysis).status_code) == (200, 200)


def test_every_key_of_a_study_expires_and_the_oldest_answers_go(
    platform: Platform, servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    works = [hint_for(f"m{number}", 3, "one", "strong", f"p{number}", 0) for number in range(5)]
    monkeypatch.setitem(BOUNDS, HINT, BOUNDS[HINT]._replace(keep=3))  # type: ignore[arg-type]
    for place, work in enumerate(works):
        assert platform.studies.begin(work) == Study(None, work.creator, 0, None)
        assert platform.studies.add(work, 0, b"part")
        assert not platform.studies.add(work, 0, b"another part"), "somebody was quicker"
        assert platform.studies.look(work) == Study(None, work.creator, 1, b"part")
        keys = set(servers.queue.scan_iter("study:*"))
        assert platform.studies.answer(work, b"answer %d" % place)
        assert not platform.studies.answer(work, b"another answer")
        assert not platform.studies.add(work, 0, b"part")
        for key in keys | set(servers.queue.scan_iter("study:*")):
            assert servers.queue.pttl(key) != -1, key
    found = [platform.studies.look(work) for work in works]
    assert [study.answer if study else None for study in found] == [None, None, b"answer 2", b"answer 3", b"answer 4"]
    assert not platform.studies.answer(works[0], b"answer"), "nobody wants it any more"


# ---------------------------------------------------------------- analyses


@pytest.mark.parametrize("game", ALL_GAMES)
def test_every_game_can_be_analysed_by_every_level_that_searches(game: str) -> None:
    rules = ALL_GAMES[game]
    assert all(compares(rules, seats, level) for level in ANALYSTS for seats in range(rules.seats.least, rules.seats.most + 1))
    assert not compares(rules, 2, "greedy")


def test_an_analysis_is_made_in_parts_and_is_that_of_the_tool(
    platform: Platform, ada: Caller, ben: Caller, anybody: Caller, servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(studying, "PART", 0.0)
    match = over(platform, ada, "war", 9)
    path = f"/v1/matches/{match}/analysis"
    assert (anybody.get(path).status_code, anybody.get(path).json["code"]) == (404, "no_analysis")
    begun = ben.post(path)
    about = {"match": match, "game": "war", "level": "strong", "version": 0, "versions": platform.store.log.head(match)}
    assert (begun.status_code, begun.json, begun.headers["Retry-After"]) == (202, about, "5")
    assert ada.post(path).json == anybody.get(path).json == about
    assert waits(servers, ANALYSIS) == [f"analysis|{match}|strong"]
    reached = []
    while (answer := anybody.get(path)).status_code == 202:
        assert len(reached) < 50
        reached.append(answer.json["version"])
        work = platform.jobs.take([ANALYSIS])
        assert work is not None
        assert work.creator == ben.id
        if len(reached) == 3:  # this worker is killed
            servers.queue.delete(f"fair:{ANALYSIS}:taken:{work.member}")  # its time has run out
            assert anybody.get(path).json["version"] == reached[-1]
            work = platform.jobs.take([ANALYSIS])
            assert work is not None
        platform.jobs.push(jobs.carry_out(platform, work))
    assert reached == sorted(reached)
    assert len(set(reached)) > 5
    record = Record(match, list(platform.store.log.read_all(match)), None)
    assert answer.json == analyse(GAMES, record, "strong")
    assert ben.post(path).data == anybody.get(path).data == answer.data
    assert anybody.get(f"{path}?level=expert").json["code"] == "no_analysis"


def test_only_what_is_over_and_open_is_analysed(platform: Platform, ada: Caller, anybody: Caller, admin: Caller, tally: str) -> None:
    path = f"/v1/matches/{tally}/analysis"
    for refused in (ada.post(path), ada.get(path)):
        assert (refused.status_code, refused.json["code"]) == (409, "analysis_closed")
    closed = ada.post("/v1/matches", {"game": "tally", "seats": {"one": "me", "two": "open"}}).json["id"]
    assert ada.act(closed, {"type": "close_match"}).status_code == 200
    assert ada.post(f"/v1/matches/{closed}/analysis").json["code"] == "analysis_closed"
    match = over(platform, ada)
    assert anybody.post(f"/v1/matches/{match}/analysis").json["code"] == "no_key"
    assert admin.post(f"/v1/matches/{match}/analysis").json["code"] == "no_player"
    assert ada.post(f"/v1/matches/{match}/analysis?level=greedy").json["code"] == "bad_query"
    work = analysis_of(tally, "strong", ada.id, 0)
    platform.studies.begin(work)
    platform.jobs.push([work])
    jobs.work(ANALYSIS)
    assert platform.studies.look(work) == Study(None, ada.id, 0, None), "whatever is in the queue"


def test_long_matches_are_not_analysed(platform: Platform, ada: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    match = over(platform, ada)
    monkeypatch.setattr("service.api.studies.LONGEST", 5)
    assert ada.post(f"/v1/matches/{match}/analysis").json["code"] == "analysis_too_long"


def test_a_step_logs_nothing_of_what_was_thought(platform: Platform, ada: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    fork, _ = practice(platform, ada)
    ada.get(f"/v1/matches/{fork}/hint")
    log = CapturingLogger()
    monkeypatch.setattr(studying, "log", log)
    jobs.work(HINT)
    assert log.calls == [("info", ("study_done",), {"match": fork, "version": 1, "kind": HINT})]
    assert KINDS[HINT].slow
    assert KINDS[ANALYSIS].slow
