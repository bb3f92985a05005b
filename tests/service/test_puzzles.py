"""Puzzles over HTTP: made of decisions of finished matches, judged by what the seat knew, listed, tried, removed, and one for each day."""

from __future__ import annotations

import html
import random
import re
from collections.abc import Callable
from typing import Any

import pytest

from events import play, puzzles, recall
from events.due import PUZZLE
from events.platform import Platform
from events.puzzles import DAY_MS
from events.rebuild import rebuild
from events.store import puzzles as kept
from events.store.copying import kind_of
from games import GAMES
from games.chance import Drawn
from games.choices import with_counts
from games.kernel import legal
from record.entries import parse
from record.puzzles import DIFFICULTIES, LEAST, TOLERANCE, Puzzle, Reply, Weighed
from record.thinking import puzzling
from service.app import create_app
from service.http.limits import AMOUNTS
from service.http.settings import Settings
from tests.conftest import Servers
from tests.events.archives import archivist, away, logged, moved
from tests.service.conftest import Caller
from tests.service.secrecy import replace_entries
from tests.service.test_studies import over, practice
from workers import jobs

Opener = Callable[[], Platform]


@pytest.fixture(autouse=True)
def worker(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the jobs of this process work for the platform. They judge few actions, by a level that is quicker."""
    jobs.bind(platform, (PUZZLE,))
    monkeypatch.setattr(puzzling, "LEVEL", "strong")
    monkeypatch.setattr(puzzling, "CANDIDATES", 3)


def work(platform: Platform) -> None:
    """Do all that waits."""
    while platform.jobs.depth(PUZZLE):
        jobs.work(PUZZLE)


def make(platform: Platform, caller: Caller, match: str, version: int = 3) -> Any:
    """Let a worker make a puzzle. Return the last answer."""
    path = f"/v1/matches/{match}/puzzles?version={version}"
    answer = caller.post(path)
    if answer.status_code == 202:
        work(platform)
        answer = caller.post(path)
    return answer


def put(platform: Platform, by: str, match: str, at: int = 2, game: str = "tally", **more: Any) -> Puzzle:
    """Store a puzzle that a worker has made."""
    actions: list[Any] = [{"type": "add", "stay": True, "by": 3}, {"type": "roll"}, {"type": "add", "stay": True, "by": 2}]
    line = [Reply("one", "add", [{"type": "counted", "seat": "one", "by": 3}])]
    weighed = [Weighed(action, worth, line) for action, worth in zip(actions, (0.8, 0.5, 0.8 - TOLERANCE), strict=True)]
    found = Puzzle(match, at, game, "one", by, 0, "easy", 0.3, weighed)._replace(**{"made": platform.clock.now(), **more})
    assert platform.store.puzzles.put(found)
    return found


def names(number: int) -> str:
    """Return an id that no match has."""
    return "m" + "abcdefghijklmnop"[number // 16] * 8 + "abcdefghijklmnop"[number % 16] * 8


# ---------------------------------------------------------------- making


def test_a_worker_makes_a_puzzle_of_a_decision_and_the_same_one_is_made_once(platform: Platform, ada: Caller, ben: Caller) -> None:
    match = over(platform, ada)
    path = f"/v1/matches/{match}/puzzles?version=3"
    about = {"match": match, "game": "tally", "version": 2, "seat": "one", "level": "expert"}
    for _ in range(2):
        asked = ada.post(path)
        assert (asked.status_code, asked.json, asked.headers["Retry-After"]) == (202, about, "1")
    work(platform)
    made = ada.post(path)
    assert made.status_code == 200
    assert made.json["id"] == f"{match}-2"
    assert {name: made.json[name] for name in ("match", "game", "at", "seat", "by")} == {
        "match": match,
        "game": "tally",
        "at": 2,
        "seat": "one",
        "by": ada.id,
    }
    assert (made.json["tried"], made.json["solved"], made.json["players"]) == (0, 0, {ada.id: {"name": "Ada"}})
    assert made.json["difficulty"] in DIFFICULTIES
    assert [choice["action"]["type"] for choice in made.json["choices"]] == ["add", "add", "roll", "draw"]
    assert "best" not in made.text
    assert "worth" not in made.text
    assert ben.post(path).json == made.json, "whoever asks for the same gets the same"
    assert Caller(ada.client).get(f"/v1/puzzles/{match}-2").json == made.json
    found = platform.store.puzzles.get(f"{match}-2")
    assert found is not None
    worths = [each.worth for each in found.weighed]
    assert worths == sorted(worths, reverse=True)
    assert worths[0] - worths[-1] >= LEAST


def test_a_puzzle_that_the_queue_has_lost_is_made_all_the_same(platform: Platform, ada: Caller, servers: Servers) -> None:
    match = over(platform, ada)
    path = f"/v1/matches/{match}/puzzles?version=3"
    assert ada.post(path).status_code == 202
    servers.queue.flushall()
    assert ada.post(path).status_code == 202
    work(platform)
    assert ada.post(path).status_code == 200


def test_puzzles_are_of_decisions_between_actions_in_matches_that_are_over(
    platform: Platform, ada: Caller, anybody: Caller, admin: Caller, tally: str
) -> None:
    match = over(platform, ada)
    last = recall.position(platform, match).version
    assert ada.post(f"/v1/matches/{tally}/puzzles?version=2").json["code"] == "analysis_closed"
    assert (make(platform, ada, match, 2).status_code, make(platform, ada, match, 2).json["code"]) == (409, "no_puzzle"), "of the system"
    assert ada.post(f"/v1/matches/{match}/puzzles?version={last + 1}").json["code"] == "no_such_version"
    assert [ada.post(f"/v1/matches/{match}/puzzles{query}").json["code"] for query in ("", "?version=1")] == ["bad_query"] * 2
    assert anybody.post(f"/v1/matches/{match}/puzzles?version=3").json["code"] == "no_key"
    assert admin.post(f"/v1/matches/{match}/puzzles?version=3").json["code"] == "no_player"


def test_no_puzzle_is_made_where_no_action_is_much_worse(platform: Platform, ada: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(puzzling, "LEAST", 1.1)
    match = over(platform, ada)
    for _ in range(2):
        refused = make(platform, ada, match)
        assert (refused.status_code, refused.json["code"]) == (409, "no_puzzle")
    assert platform.store.puzzles.listed(["tally"]) == []


def test_a_level_that_has_failed_is_told(platform: Platform, ada: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*given: object) -> None:
        raise ValueError("odd")

    monkeypatch.setattr(puzzling.Riddle, "candidates", fails)
    refused = make(platform, ada, over(platform, ada))
    assert (refused.status_code, refused.json["code"]) == (500, "thinking_failed")


@pytest.mark.parametrize("game", ["tally", "war_of_the_worlds", *(pytest.param(game, marks=pytest.mark.soak) for game in GAMES)])
def test_two_positions_that_differ_in_what_a_seat_cannot_know_make_one_puzzle(
    platform: Platform,
    another_platform: Opener,
    servers: Servers,
    settings: Settings,
    ada: Caller,
    game: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The puzzle, what each action is worth, and the lines. A fork is played from two documents that the seat sees alike."""
    monkeypatch.setattr(puzzling, "LEAST", -1)
    fork, seat = practice(platform, ada, game, 40)
    rules, (first,) = platform.games[game], (parse(raw) for raw in platform.store.log.read_all(fork))
    created, restored = first.events[:2]
    truth, dice = restored["document"], random.Random(3)
    seen, action = [], with_counts(legal(rules, truth, seat)[0])["action"]
    for document in (truth, rules.guess(rules.view(truth, seat), seat, Drawn(dice.randrange), restored["memory"])):
        replace_entries(servers, platform, fork, [first._replace(events=[created, {**restored, "document": document}, *first.events[2:]])])
        for key in servers.keeper.scan_iter("{puzzles}:*"):
            servers.keeper.delete(key)
        servers.queue.flushall()
        other = another_platform()
        caller = Caller(create_app(other, settings).test_client(), ada.key)
        jobs.bind(other, (PUZZLE,))
        play.play(other, fork, seat, [action])
        assert caller.act(fork, {"type": "resign"}, f"?seat={seat}").status_code == 200
        asked = [
            make(other, caller, fork, 2),
            caller.post(f"/v1/puzzles/{fork}-1/tries"),
            caller.post(f"/v1/puzzles/{fork}-1/tries", action),
        ]
        work(other)
        asked.append(caller.post(f"/v1/puzzles/{fork}-1/tries", action))
        assert {answer.status_code for answer in asked} <= {200, 202}, [answer.json for answer in asked]
        assert asked[-1].json["line"]
        seen.append([{**answer.json, "made": 0} for answer in asked])
    assert truth != document
    assert seen[0] == seen[1]


# ---------------------------------------------------------------- trying


def test_a_wrong_try_is_told_what_it_costs_and_what_follows_and_the_best_one_solves(
    platform: Platform, ada: Caller, ben: Caller, anybody: Caller
) -> None:
    puzzle = put(platform, ada.id, over(platform, ada))
    path = f"/v1/puzzles/{puzzle.id}/tries"
    wrong, best, good = ben.post(path, {"type": "roll"}), ben.post(path, puzzle.best.action), anybody.post(path, puzzle.weighed[2].action)
    assert [answer.status_code for answer in (wrong, best, good)] == [200] * 3
    assert wrong.json == {
        "puzzle": puzzle.id,
        "action": {"type": "roll"},
        "solved": False,
        "worth": 0.5,
        "cost": 0.3,
        "line": [{"actor": "one", "text": ["one: Count on."], "rules": []}],
        "best": None,
    }
    assert (best.json["solved"], best.json["cost"], best.json["best"]) == (True, 0, puzzle.best.action)
    assert (good.json["solved"], good.json["cost"], good.json["best"]) == (True, TOLERANCE, puzzle.best.action)
    given_up = anybody.post(path)
    assert (given_up.status_code, given_up.json["best"], given_up.json["action"]) == (200, puzzle.best.action, puzzle.best.action)
    assert ada.post(path, {"type": "roll"}).json == wrong.json
    now = ben.get(f"/v1/puzzles/{puzzle.id}").json
    assert (now["tried"], now["solved"]) == (2, 1), "tries of players count, but not those of the maker"
    assert recall.position(platform, puzzle.match).version == platform.store.log.head(puzzle.match)


def test_an_action_that_was_not_judged_before_is_judged_by_a_worker_and_needs_a_key(
    platform: Platform, ada: Caller, ben: Caller, anybody: Caller
) -> None:
    puzzle = put(platform, ada.id, over(platform, ada))
    path, action = f"/v1/puzzles/{puzzle.id}/tries", {"type": "add", "stay": False, "by": 1}
    assert anybody.post(path, action).json["code"] == "no_key"
    asked = ben.post(path, action)
    assert (asked.status_code, asked.json["version"], asked.headers["Retry-After"]) == (202, 2, "1")
    work(platform)
    judged = ben.post(path, action)
    assert (judged.status_code, judged.json["solved"], judged.json["best"]) == (200, False, None)
    assert judged.json["line"][0]["actor"] == "one"
    assert anybody.post(path, action).json == judged.json, "what is judged is open to everybody"
    assert ben.get(f"/v1/puzzles/{puzzle.id}").json["tried"] == 1, "a try counts when it is judged"


def test_actions_against_the_rules_are_refused_as_in_the_match(platform: Platform, ada: Caller, ben: Caller) -> None:
    puzzle = put(platform, ada.id, over(platform, ada))
    path = f"/v1/puzzles/{puzzle.id}/tries"
    refused = ben.post(path, {"type": "add", "stay": True, "by": 9})
    assert (refused.status_code, refused.json["code"], refused.json["rule"]) == (422, "too_much", "TAL-ADD-01")
    assert [ben.post(path, body).json["code"] for body in ({"type": "resign"}, [], 7)] == ["bad_action"] * 3
    assert platform.jobs.depth(PUZZLE) == 0
    assert ben.get(f"/v1/puzzles/{puzzle.id}").json["tried"] == 0


def test_there_is_no_puzzle_where_there_is_none_or_its_match_is_not_over(platform: Platform, ada: Caller, tally: str) -> None:
    match = over(platform, ada)
    ids = (f"{match}-2", f"{match}-9999", "nonsense", put(platform, ada.id, tally, 1).id, put(platform, ada.id, names(3)).id)
    for id in ids:
        for answer in (ada.get(f"/v1/puzzles/{id}"), ada.post(f"/v1/puzzles/{id}/tries")):
            assert (answer.status_code, answer.json["code"]) == (404, "no_such_puzzle")


def test_a_match_that_goes_on_again_has_no_puzzle(platform: Platform, ada: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ruling may let a match go on that was over. Then its seats have something to hide again."""
    puzzle = put(platform, ada.id, over(platform, ada))
    assert ada.get(f"/v1/puzzles/{puzzle.id}").status_code == 200
    monkeypatch.setattr(type(recall.position(platform, puzzle.match)), "ended", property(lambda position: False))
    assert ada.get(f"/v1/puzzles/{puzzle.id}").json["code"] == "no_such_puzzle"
    assert ada.post(f"/v1/puzzles/{puzzle.id}/tries").json["code"] == "no_such_puzzle"
    assert ada.get(f"/puzzles/{puzzle.id}").status_code == 404


def test_a_puzzle_stays_when_its_match_moves_to_the_archive_and_when_the_store_is_rebuilt(
    platform: Platform, servers: Servers, ada: Caller
) -> None:
    match = over(platform, ada)
    logged(platform)
    puzzle = put(platform, ada.id, match)
    paths = (f"/v1/puzzles/{puzzle.id}", "/v1/puzzles", f"/puzzles/{puzzle.id}")
    before = [ada.get(path).data for path in paths]
    with archivist(platform, servers) as keeper:
        moved(keeper, match)
        platform.cache.drop(match)
        rebuild(platform)
        assert away(platform, match)
        assert [ada.get(path).data for path in paths] == before
        assert ada.post(f"/v1/puzzles/{puzzle.id}/tries", {"type": "roll"}).json["cost"] == 0.3
    assert kind_of(f"{{puzzles}}:p:{puzzle.id}".encode()) == "{puzzles}:p", "a move to another store carries it"


# ---------------------------------------------------------------- lists


def test_lists_are_by_game_and_difficulty_the_newest_first_in_pages(platform: Platform, ada: Caller) -> None:
    first = put(platform, ada.id, names(1), made=100)
    second = put(platform, ada.id, names(2), made=200, difficulty="hard")
    third = put(platform, ada.id, names(3), made=200, game="war")

    def listed(query: str) -> list[str]:
        answer = ada.get(f"/v1/puzzles{query}")
        assert answer.status_code == 200
        return [each["id"] for each in answer.json["puzzles"]]

    assert listed("") == [third.id, second.id, first.id]
    assert listed("?game=tally") == [second.id, first.id]
    assert listed("?difficulty=hard") == [second.id]
    assert listed("?game=war&difficulty=hard") == []
    found, cursor = [], ""
    while cursor is not None:
        page = ada.get(f"/v1/puzzles?limit=1{cursor and f'&cursor={cursor}'}").json
        found += [each["id"] for each in page["puzzles"]]
        cursor = page["next"]
    assert found == listed("")
    assert page["players"] == {ada.id: {"name": "Ada"}}
    assert [ada.get(f"/v1/puzzles?{query}").json["code"] for query in ("game=chess", "difficulty=odd", "cursor=x")] == [
        "no_such_game",
        "bad_query",
        "bad_query",
    ]


def test_a_game_keeps_the_puzzles_that_were_made_or_solved_last(platform: Platform, ada: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST", 2)
    store = platform.store.puzzles
    first, second = (put(platform, ada.id, names(number), made=number) for number in (1, 2))
    other = put(platform, ada.id, names(1), at=9, game="war", made=0)
    store.count(second.id, False, 90)
    store.count(first.id, True, 50)
    third = put(platform, ada.id, names(3), made=3)
    assert {each.id for each in store.listed(["tally"])} == {first.id, third.id}
    assert store.get(second.id) is None
    assert store.get(other.id) == other
    assert not store.put(first), "it is there"
    assert store.all([first.id, second.id, third.id]) == [first._replace(tried=1, solved=1, weighed=[]), third._replace(weighed=[])]


def test_whoever_makes_many_puzzles_takes_no_place_of_those_who_make_few(
    platform: Platform, ada: Caller, ben: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "MOST", 4)
    store = platform.store.puzzles
    old = put(platform, ben.id, names(1), made=1)
    many = [put(platform, ada.id, names(number), made=number) for number in range(2, 8)]
    for puzzle in many[-3:]:
        store.count(puzzle.id, True, 90)
    assert {each.id for each in store.listed(["tally"])} == {old.id, *(puzzle.id for puzzle in many[-3:])}
    new = put(platform, ben.id, names(9), made=9)
    assert {each.id for each in store.listed(["tally"])} == {old.id, new.id, *(puzzle.id for puzzle in many[-2:])}


def test_whoever_made_a_puzzle_and_admins_may_remove_it(platform: Platform, ada: Caller, ben: Caller, admin: Caller) -> None:
    match = over(platform, ada)
    for caller in (ada, admin):
        puzzle = put(platform, ada.id, match)
        path = f"/v1/puzzles/{puzzle.id}"
        refused = ben.ask("DELETE", path)
        assert (refused.status_code, refused.json["code"]) == (403, "role_needed")
        assert caller.ask("DELETE", path).status_code == 204
        assert caller.ask("DELETE", path).json["code"] == "no_such_puzzle"
        assert ada.get(path).status_code == 404
    assert list(platform.store.client.keys("{puzzles}:*")) == []


def test_the_name_of_a_player_who_is_deleted_is_gone(platform: Platform, ada: Caller, ben: Caller) -> None:
    puzzle = put(platform, ben.id, over(platform, ada))
    assert ada.get(f"/v1/puzzles/{puzzle.id}").json["players"] == {ben.id: {"name": "Ben"}}
    assert ben.ask("DELETE", f"/v1/players/me?confirm={ben.id}").status_code == 204
    assert ada.get(f"/v1/puzzles/{puzzle.id}").json["players"] == {ben.id: {"name": None}}
    assert ada.get("/v1/puzzles").json["players"] == {ben.id: {"name": None}}


def test_a_player_makes_few_puzzles_a_day_and_waits_for_few(platform: Platform, ada: Caller) -> None:
    match, other = over(platform, ada), over(platform, ada)
    few = create_app(platform, Settings(log_requests=False, limits={**AMOUNTS, "puzzles": 3, "puzzle_tries": 1}))
    caller = Caller(few.test_client(), ada.key)
    asked = [caller.post(f"/v1/matches/{one}/puzzles?version=3") for one in (match, other, over(platform, ada))]
    assert [answer.status_code for answer in asked] == [202, 202, 429]
    assert asked[-1].json["limit"] == "puzzles_at_once"
    work(platform)
    again = caller.post(f"/v1/matches/{match}/puzzles?version=4")
    assert (again.status_code, again.json["limit"]) == (429, "puzzles")
    path = f"/v1/puzzles/{put(platform, ada.id, over(platform, ada)).id}/tries"
    tried = [caller.post(path, {"type": "add", "stay": False, "by": by}) for by in (1, 2)]
    assert [answer.status_code for answer in tried] == [202, 429]
    assert tried[-1].json["limit"] == "puzzle_tries"


# ---------------------------------------------------------------- the day


def test_a_worker_chooses_a_puzzle_a_day_whose_answer_stands_out_and_that_was_not_chosen_lately(
    platform: Platform, ada: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = [1000 * DAY_MS]
    monkeypatch.setattr(type(platform.clock), "now", lambda clock: moment[0])
    assert puzzles.choose(platform) is None
    assert ada.get("/v1/puzzles").json["today"] is None
    vague = put(platform, ada.id, names(0), gap=LEAST / 2)
    solid = [put(platform, ada.id, names(number)).id for number in range(1, 4)]
    chosen = []
    for _ in range(6):
        chosen.append(puzzles.choose(platform))
        assert puzzles.choose(platform) == chosen[-1] == puzzles.today(platform), "the day keeps its puzzle"
        moment[0] += DAY_MS
    assert sorted(chosen[:3]) == sorted(solid)
    assert chosen[3:] == chosen[:3], "the one that was chosen least lately"
    assert puzzles.today(platform) is None
    moment[0] -= DAY_MS
    assert ada.get("/v1/puzzles?game=war").json["today"]["id"] == chosen[-1]
    kept_one = platform.store.puzzles.get(str(chosen[-1]))
    assert kept_one is not None
    platform.store.puzzles.drop(kept_one)
    assert ada.get("/v1/puzzles").json["today"] is None
    assert puzzles.choose(platform) in solid, "if it is gone, another one is chosen"
    assert vague.id not in chosen
    assert len(platform.store.puzzles.days()) == 6
    moment[0] += kept.REMEMBERED * DAY_MS
    puzzles.choose(platform)
    assert len(platform.store.puzzles.days()) == 1


# ---------------------------------------------------------------- pages


def test_the_list_has_todays_puzzle_on_top_and_says_how_to_make_one(platform: Platform, ada: Caller) -> None:
    empty = ada.get("/puzzles").text
    assert "There is no puzzle like that yet. Make one" in empty
    assert "Puzzle of the day" not in empty
    puzzle = put(platform, ada.id, over(platform, ada))
    puzzles.choose(platform)
    page = ada.get("/puzzles").text
    assert page.index("Puzzle of the day") < page.index(f'href="/puzzles/{puzzle.id}"') < page.index("All puzzles")
    assert f"/v1/matches/{puzzle.match}/state.svg?shape=board&amp;at=2&amp;viewer=one" in page
    assert "Easy" in page
    other = ada.get("/puzzles?game=war&difficulty=easy").text
    assert "There is no puzzle like that yet" in other
    assert 'href="/puzzles?difficulty=easy"' in other, "a second click takes a choice back"
    assert ada.get("/puzzles?difficulty=odd").status_code == 400


def test_the_page_of_a_puzzle_is_a_link_for_chats_and_hides_the_answer(platform: Platform, ada: Caller, anybody: Caller) -> None:
    puzzle = put(platform, ada.id, over(platform, ada))
    page = anybody.get(f"/puzzles/{puzzle.id}").text
    title = re.search('<meta property="og:title" content="([^"]*)">', page)
    assert title is not None
    assert html.unescape(title[1]) == "Find One's best turn"
    assert f'<meta property="og:url" content="http://localhost/puzzles/{puzzle.id}">' in page
    assert ".png" in page
    assert "0.8" not in page
    missing = anybody.get(f"/puzzles/{puzzle.match}-9")
    assert (missing.status_code, "No such puzzle" in missing.text) == (404, True)


def test_a_try_is_told_in_the_language_of_whoever_tries(platform: Platform, ada: Caller) -> None:
    puzzle = put(platform, ada.id, over(platform, ada))
    answer = ada.post(f"/v1/puzzles/{puzzle.id}/tries", {"type": "roll"}, Accept_Language="ru")
    assert answer.headers["Content-Language"] == "ru"
    assert "Accept-Language" in answer.headers["Vary"]
