"""The system ends a round of War of Civilizations: exactly once and completely, even if its worker is killed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from events import play, recall
from events.due import ADVANCE, Owed
from events.platform import Platform
from games.chance import Drawn
from games.kernel import SYSTEM, Event, State, carry_out, fold
from games.war_of_civilizations import GAME
from record.dice import Draws
from record.entries import parse
from tests.conftest import within
from tests.games.matches import same
from tests.prepared import begun, position
from tests.workers.conftest import ANN, PATIENCE, Hire, check, version

REAL = "workers.run"
END_TURN = [{"type": "end_turn"}]
END_ROUND = {"type": "advance"}
ENDED = 3  # the version at which the round is over: created, the last turn ended, and then the system


def ending(patch: dict[str, Any], fox: dict[str, Any] | None = None, **options: Any) -> State:
    """The last turn of a round, rhino's; fox may be on the Isle."""
    own = {"players": {"fox": {"entered_central": True, **fox}}} if fox else {}
    return position(["fox", "rhino"], {"active": "rhino", "to_act": ["rhino"], **own, **patch}, **options)


def holding(countdown: int, since: int, full_rounds: int, round: int, **patch: Any) -> dict[str, Any]:
    return {"countdown": countdown, "isle": {"holder": "fox", "since": since, "full_rounds": full_rounds}, "round": round, **patch}


def on_the_isle(oc: int, **ships: int) -> dict[str, Any]:
    return {"oc": oc, "fleets": {"fox_home": {"capital": None, "gunboat": 1}, "isle": {"capital": 1, **ships}}}


NEXT = ["round_started", "turn_started"]
ENDS: dict[str, tuple[State, list[str]]] = {
    "ships that cannot be paid for sail home, and marks grow weaker": (
        ending(
            holding(4, 2, 0, 3, marks={"fox_north": 2, "rhino_east": 1, "rhino_west": "barren"}),
            on_the_isle(4, destroyer=2, gunboat=2),
            disasters=True,
        ),
        ["ships_moved", "resources_changed", "isle_round_held", "crystals_moved", "island_marked", "island_marked", "countdown_set", *NEXT],
    ),
    "a fleet that can pay nothing gives up the Isle": (
        ending(holding(3, 2, 1, 4), on_the_isle(0, frigate=1)),
        ["ships_moved", "isle_lost", "countdown_set", *NEXT],
    ),
    "the third full round wins": (
        ending(holding(2, 1, 2, 4), on_the_isle(9)),
        ["resources_changed", "isle_round_held", "crystals_moved", "match_ended"],
    ),
    "the countdown is over": (
        ending(holding(1, 6, 0, 6), on_the_isle(9)),
        ["resources_changed", "crystals_moved", "match_ended"],
    ),
    "the last round is over": (ending({"round": 5}, round_limit=5), ["match_ended"]),
    "the countdown goes on": (ending({"countdown": 5}), ["countdown_set", *NEXT]),
}


@pytest.mark.parametrize("where", ["before", pytest.param("after", marks=pytest.mark.soak)])
def test_a_round_ends_once_and_completely_if_a_worker_is_killed_while_ending_it(
    lonely: Platform, hire: Hire, tmp_path: Path, where: str
) -> None:
    """Before its append nothing has happened; right after it everything has. The next worker goes on in both cases."""
    laid = {name: begun(lonely, state, ANN) for name, (state, _) in ENDS.items()}
    laid["an AI seat comes next"] = begun(lonely, ENDS["the countdown goes on"][0], ANN, fox="ai:random")
    doomed = [hire("tests.workers.halting", where) for _ in laid]
    for _, match in laid.values():
        play.play(lonely, match, "rhino", END_TURN)
    within(PATIENCE, lambda: len(list(tmp_path.glob(f"{where}-*"))) == len(laid))
    for worker in doomed:
        worker.kill()
        worker.wait()
    assert {version(lonely, match) for _, match in laid.values()} == {ENDED - 1 if where == "before" else ENDED}
    hire(REAL)
    for name, (_, match) in laid.items():
        within(PATIENCE, lambda match=match: version(lonely, match) >= ENDED)
        ended = parse(lonely.store.log.read(match, ENDED - 1)[0])
        assert (ended.actor, ended.action) == (SYSTEM, END_ROUND)
        assert same(ended.events) == same(decided(lonely, match, ENDED))
        document = fold(GAME, recall.state_at(lonely, match, ENDED - 1).document, ended.events)
        assert same(recall.state_at(lonely, match, ENDED).document) == same(document)
        if name in ENDS:
            assert [event["type"] for event in ended.events] == ENDS[name][1]
        else:
            within(PATIENCE, lambda match=match: recall.position(lonely, match).to_act == ["rhino"])
    delivered_again(lonely, [match for _, match in laid.values()])
    for name, (prepared, match) in laid.items():
        assert name not in ENDS or version(lonely, match) == ENDED
        check(prepared, match)


def decided(platform: Platform, match: str, at: int) -> list[Event]:
    """Return the events that the rules give for the end of the round at a version, with the dice of that version."""
    before, dice = recall.state_at(platform, match, at - 1), Draws(recall.cached(platform, match).dice, at)
    return carry_out(GAME, before.document, SYSTEM, END_ROUND, Drawn(dice.number)).events


def delivered_again(platform: Platform, matches: list[str]) -> None:
    """Let what has been done wait twice more, and wait until a worker has taken all of it."""
    for _ in range(2):
        platform.jobs.push(Owed(ADVANCE, match, ENDED - 1, "", 0, ANN) for match in matches)
        within(PATIENCE, lambda: platform.jobs.depth(ADVANCE) == 0)
    _, last = begun(platform, ENDS["the countdown goes on"][0], ANN)
    play.play(platform, last, "rhino", END_TURN)
    within(PATIENCE, lambda: version(platform, last) == ENDED)


def test_the_countdown_runs_down_by_one_a_round_until_the_match_is_over(lonely: Platform, hire: Hire) -> None:
    hire(REAL)
    prepared, match = begun(lonely, ENDS["the countdown goes on"][0], ANN)
    while (position := recall.position(lonely, match)).status == "playing":
        if position.to_act == [SYSTEM]:
            within(PATIENCE, lambda at=position.version: version(lonely, match) > at)
        else:
            play.play(lonely, match, position.to_act[0], END_TURN, expected=position.version)
    ends = [entry for entry in map(parse, lonely.store.log.read_all(match)) if entry.actor == SYSTEM]
    countdown = [
        event.get("value", event["type"]) for entry in ends for event in entry.events if event["type"] in ("countdown_set", "match_ended")
    ]
    assert countdown == [4, 3, 2, 1, "match_ended"]
    for entry in ends:
        assert same(entry.events) == same(decided(lonely, match, entry.version))
    assert position.document["outcome"]["reason"] == "crystals"
    check(prepared, match)
