"""Choices that several seats make at the same time and in secret: nobody's makes another's stale."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from events import play, recall
from events.audit import audit
from events.errors import Stale
from events.platform import Platform, open_platform
from games.documents import Own
from games.kernel import AUDITOR, Action, Deed, Event, Match, Refusal, Seat, State
from games.schema import BLANK, flag, nullable, veiled, whole
from tests.conftest import Servers
from tests.tally import TALLY


def _offers(state: State, seat: Seat) -> list[Action]:
    return [{"type": "seal", "by": 1}, {"type": "seal", "by": 2}, {"type": "call"}]


def _free(state: State, seat: Seat, action: Action) -> Refusal | None:
    return None


def _begin_sealing(match: Match, actor: Seat, action: Action) -> None:
    match.emit("sealing_began")


def _seal(match: Match, seat: Seat, action: Action) -> None:
    match.emit("sealed", seat=seat, by=action["by"])
    if not match.state["to_act"]:
        match.emit("match_ended", winners=[match.state["seats"][0]], scores=dict(match.state["counts"]))


def _call(match: Match, seat: Seat, action: Action) -> None:
    match.emit("called", seat=seat)


def sealing_began(state: State, event: Event, own: Own) -> None:
    state["phase"] = "sealing"
    state["to_act"] = list(state["seats"])


def sealed(state: State, event: Event, own: Own) -> None:
    own(state, "counts")[event["seat"]] = event["by"]
    own(state, "to_act").remove(event["seat"])


def called(state: State, event: Event, own: Own) -> None:
    state["round"] += 1


def view(state: State, viewer: str) -> State:
    if viewer == AUDITOR:
        return state
    return {**state, "pile": 0, "counts": {seat: count if seat == viewer else None for seat, count in state["counts"].items()}}


def shown(event: Event, viewer: str) -> Event:
    return {**event, "by": None} if event["type"] == "sealed" and viewer not in (AUDITOR, event["seat"]) else event


SEALING = TALLY._replace(
    id="sealing",
    begin=lambda seats, options: {**TALLY.begin(seats, options), "game": "sealing"},
    phases={
        "setup": {"advance": Deed({}, lambda state, seat: [{"type": "advance"}], _free, _begin_sealing)},
        "sealing": {"seal": Deed({"by": whole(1)}, _offers, _free, _seal), "call": Deed({}, lambda state, seat: [], _free, _call)},
        "over": {},
    },
    facts={**TALLY.facts, "sealing_began": sealing_began, "sealed": sealed, "called": called},
    events={**TALLY.events, "sealing_began": {}, "sealed": {"seat": nullable(flag()), "by": veiled(whole(1), BLANK)}, "called": {}},
    view=view,
    shown=shown,
)


@pytest.fixture
def sealing(platform: Platform, servers: Servers) -> Iterator[Platform]:
    with_sealing = open_platform(platform.settings, {**platform.games, SEALING.id: SEALING})
    yield with_sealing
    with_sealing.close()


@pytest.fixture
def begun(sealing: Platform, ann: str) -> str:
    match = play.create(sealing, ann, "sealing", {"one": "me", "two": "me", "three": "me"}, {}).match
    play.play(sealing, match, "system", [{"type": "advance"}])
    return match


def seal(by: int) -> list[dict[str, Any]]:
    return [{"type": "seal", "by": by}]


def test_sealed_choices_of_others_do_not_make_a_choice_stale(sealing: Platform, begun: str) -> None:
    for seat in ("two", "three", "one"):
        play.play(sealing, begun, seat, seal(2), expected=2)
    assert recall.position(sealing, begun).version == 5
    assert audit(sealing, begun).ok


def test_two_choices_at_the_same_moment_are_both_taken(sealing: Platform, begun: str, servers: Servers) -> None:
    platforms = [open_platform(sealing.settings, sealing.games) for _ in range(3)]
    together = threading.Barrier(3)
    done: list[int] = []

    def one(platform: Platform, seat: str, expected: int | None) -> None:
        together.wait()
        done.append(play.play(platform, begun, seat, seal(1), expected=expected).last)

    threads = [threading.Thread(target=one, args=work) for work in zip(platforms, ("one", "two", "three"), (2, 2, None), strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == [3, 4, 5]
    for platform in platforms:
        platform.close()


def test_what_is_open_makes_a_choice_stale_as_ever(sealing: Platform, begun: str) -> None:
    play.play(sealing, begun, "two", [{"type": "call"}])
    with pytest.raises(Stale):
        play.play(sealing, begun, "one", seal(1), expected=2)
    play.play(sealing, begun, "two", seal(1))
    play.play(sealing, begun, "one", seal(1), expected=3)
    for expected in (0, 1, 2, 9):
        with pytest.raises(Stale):
            play.play(sealing, begun, "three", seal(1), expected=expected)


def test_ones_own_choice_makes_ones_next_stale(sealing: Platform, begun: str) -> None:
    play.play(sealing, begun, "one", [{"type": "call"}])
    with pytest.raises(Stale):
        play.play(sealing, begun, "one", seal(1), expected=2)
