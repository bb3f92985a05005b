"""The one writer: what it accepts, what it declines, and what it says to whoever asks twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from events import play, recall
from events.audit import audit
from events.dice import Draws, commitment, dice_key
from events.entries import canonical
from events.errors import (
    BadContribution,
    BadList,
    BadSeats,
    MustBeLast,
    NoGame,
    NoMatch,
    NoSeat,
    NotSeated,
    NotStarted,
    NoVersion,
    Reused,
    SeatTaken,
    Stale,
)
from events.platform import Platform
from events.positions import Position
from events.snapshots import kept
from games.kernel import Refused, fold

Begin = Callable[..., str]
Houses = Callable[[], Platform]


def add(by: int, stay: bool = True) -> dict[str, Any]:
    return {"type": "add", "by": by, "stay": stay}


ROLL, DRAW = {"type": "roll"}, {"type": "draw"}


# Beginning


def test_a_match_is_open_until_every_seat_is_taken_and_then_waits_for_the_system(platform: Platform, ann: str, bob: str) -> None:
    position = play.create(platform, ann, "tally", {"two": "me", "one": "open", "three": "ai:random"}, {})
    assert (position.version, position.status, position.to_act) == (1, "open", [])
    assert position.document["seats"] == ["two", "one", "three"], "the order round the table is the order asked for"
    position = play.join(platform, position.match, bob, "one", "c0ffee")
    assert (position.version, position.status, position.to_act) == (2, "playing", ["system"])
    assert position.roster == {"two": {"player": ann}, "one": {"player": bob}, "three": {"ai": "random"}}
    assert position.contributions == {"one": "c0ffee"}
    assert recall.position(platform, position.match) == position


@pytest.mark.parametrize(
    ("seats", "game", "declined"),
    [
        ({"one": "me", "two": "ai:genius"}, "tally", BadSeats),
        ({"one": "me", "two": "somebody"}, "tally", BadSeats),
        ({"one": "me", "two": "open"}, "chess", NoGame),
        ({"one": "me"}, "tally", Refused),
        ({"one": "me", "nine": "me"}, "tally", Refused),
    ],
)
def test_a_match_that_cannot_be_is_not_begun(
    platform: Platform, ann: str, seats: dict[str, str], game: str, declined: type[Exception]
) -> None:
    with pytest.raises(declined):
        play.create(platform, ann, game, seats, {})
    assert list(platform.store.matches()) == []


def test_the_same_request_of_a_player_begins_one_match_only(platform: Platform, ann: str, bob: str) -> None:
    seats = {"one": "me", "two": "open"}
    first = play.create(platform, ann, "tally", seats, {}, request="r")
    play.join(platform, first.match, bob, "two")
    assert play.create(platform, ann, "tally", seats, {}, request="r") == first, "the same answer, whatever has happened since"
    assert play.create(platform, bob, "tally", seats, {}, request="r").match != first.match
    assert play.create(platform, ann, "tally", seats, {}).match != first.match
    with pytest.raises(Reused):
        play.create(platform, ann, "tally", seats, {"target": 7}, request="r")


def test_a_seat_is_taken_once(platform: Platform, ann: str, bob: str, another_platform: Houses) -> None:
    match = play.create(platform, ann, "tally", {"one": "me", "two": "open", "three": "open"}, {}).match
    other = another_platform()
    recall.position(other, match)
    joined = play.join(platform, match, bob, "two", request="r")
    with pytest.raises(SeatTaken):
        play.join(other, match, ann, "two")
    assert play.join(other, match, bob, "two", request="r") == joined, "whose answer was lost is told the same"
    with pytest.raises(SeatTaken):
        play.join(platform, match, bob, "one")
    with pytest.raises(NoSeat):
        play.join(platform, match, bob, "nine")
    with pytest.raises(Reused):
        play.join(platform, match, bob, "three", request="r")
    assert recall.position(platform, match).version == 2


@pytest.mark.parametrize("contribution", ["", "0", "zz", "AB", "00" * 65, "0x00", "00\n"])
def test_a_contribution_is_bytes_in_hex(platform: Platform, ann: str, contribution: str) -> None:
    match = play.create(platform, ann, "tally", {"one": "me", "two": "open"}, {}).match
    with pytest.raises(BadContribution):
        play.join(platform, match, ann, "two", contribution)


# Playing


def test_an_action_is_one_entry_with_all_its_facts(platform: Platform, begin: Begin, ann: str) -> None:
    match = begin()
    before = recall.position(platform, match)
    played = play.play(platform, match, "one", [add(3, stay=False)], player=ann)
    (entry,) = played.entries
    assert (played.first, played.last, entry.version, played.repeated) == (3, 3, 3, False)
    assert entry.action == add(3, stay=False)
    assert [event["type"] for event in entry.events] == ["counted", "turn_started"]
    assert (entry.actor, entry.rules, entry.request, entry.secret) == ("one", 1, None, None)
    assert played.position.document == fold(platform.games["tally"], before.document, entry.events)
    assert recall.position(platform, match) == played.position


def test_counts_of_zero_and_whole_fractions_are_kept_as_the_rules_have_them(platform: Platform, begin: Begin) -> None:
    (entry,) = play.play(platform, begin(), "one", [{"type": "add", "by": 2.0, "stay": True}]).entries
    assert canonical(entry.action) == b'{"by":2,"stay":true,"type":"add"}'


def test_a_list_is_carried_out_all_or_none(platform: Platform, begin: Begin) -> None:
    match = begin()
    played = play.play(platform, match, "one", [add(1), add(2), ROLL])
    assert [entry.version for entry in played.entries] == [3, 4, 5]
    with pytest.raises(Refused) as refused:
        play.play(platform, match, "two", [add(1), add(9)])
    assert refused.value.code == "too_much"
    assert recall.position(platform, match).version == 5


@pytest.mark.parametrize("peek", [ROLL, DRAW])
def test_nothing_follows_in_a_list_what_draws_chance_or_reveals(platform: Platform, begin: Begin, peek: dict[str, Any]) -> None:
    match = begin()
    with pytest.raises(MustBeLast) as declined:
        play.play(platform, match, "one", [add(1), peek, {"type": "no_such_action"}])
    assert declined.value.place == 1, "said before the later action is looked at"
    assert recall.position(platform, match).version == 2
    assert play.play(platform, match, "one", [add(1), peek]).last == 4


@pytest.mark.parametrize("number", [0, 51])
def test_a_list_has_bounds(platform: Platform, begin: Begin, number: int) -> None:
    with pytest.raises(BadList):
        play.play(platform, begin(), "one", [add(1)] * number)


def test_only_who_holds_a_seat_plays_it(platform: Platform, begin: Begin, bob: str) -> None:
    match = begin()
    for player, actor, declined in [(bob, "one", NotSeated), (bob, "nine", NoSeat), (bob, "system", NoSeat)]:
        with pytest.raises(declined):
            play.play(platform, match, actor, [add(1)], player=player)


def test_nobody_plays_before_every_seat_is_taken(platform: Platform, ann: str) -> None:
    match = play.create(platform, ann, "tally", {"one": "me", "two": "open"}, {}).match
    with pytest.raises(NotStarted):
        play.play(platform, match, "one", [add(1)], player=ann)
    with pytest.raises(NotStarted):
        play.play(platform, match, "system", [{"type": "advance"}])


@pytest.mark.parametrize("match", ["maaaaaaaaaaaaaaaa", "m", "", "../x", "m" + "A" * 16, "maaaaaaaaaaaaaaaa\n"])
def test_a_match_that_is_not_there_is_said_to_be_so(platform: Platform, match: str) -> None:
    for ask in (
        lambda: recall.position(platform, match),
        lambda: recall.state_at(platform, match, 1),
        lambda: play.play(platform, match, "one", [add(1)]),
    ):
        with pytest.raises(NoMatch):
            ask()


@pytest.mark.parametrize("expected", [0, 1, 3, 4, 99])
def test_an_action_for_another_version_is_stale_and_told_the_version(platform: Platform, begin: Begin, expected: int) -> None:
    match = begin()
    with pytest.raises(Stale) as stale:
        play.play(platform, match, "one", [add(1)], expected=expected)
    assert stale.value.version == 2
    assert play.play(platform, match, "one", [add(1)], expected=2).last == 3


def test_what_is_in_memory_may_be_behind(platform: Platform, begin: Begin, another_platform: Houses) -> None:
    match = begin()
    other = another_platform()
    recall.position(other, match)
    play.play(platform, match, "one", [add(1, stay=False)])
    assert play.play(other, match, "two", [add(1)]).last == 4, "a refusal decided on an old version is not believed"
    play.play(platform, match, "two", [add(1)])
    assert play.play(other, match, "two", [add(1)], expected=5).last == 6, "nor is staleness"
    play.play(platform, match, "two", [add(1)])
    assert play.play(other, match, "two", [add(1)]).last == 8
    play.play(other, match, "two", [add(1)])
    with pytest.raises(Stale) as stale:
        play.play(platform, match, "two", [add(1)], expected=8)
    assert stale.value.version == 9


def test_the_secret_is_told_by_the_entry_that_ends_the_match_and_no_other(platform: Platform, begin: Begin) -> None:
    match = begin(target=5)
    position = play.play(platform, match, "one", [add(3)]).position
    assert position.secret is None
    ended = play.play(platform, match, "one", [add(3)])
    assert ended.position.status == "over"
    assert ended.entries[0].secret == ended.position.secret is not None
    assert commitment(bytes.fromhex(ended.position.secret)) == ended.position.commitment
    with pytest.raises(Refused, match="match_over"):
        play.play(platform, match, "one", [add(1)])


# Asking again


def test_the_same_request_is_carried_out_once_and_answered_alike(
    platform: Platform, begin: Begin, ann: str, another_platform: Houses
) -> None:
    match = begin()
    first = play.play(platform, match, "one", [add(1), add(2, stay=False)], request="r", player=ann)
    for _ in range(3):
        play.play(platform, match, "two", [add(1)])
    for asked in (platform, another_platform()):
        again = play.play(asked, match, "one", [add(1), add(2, stay=False)], request="r", player=ann)
        assert again == first._replace(repeated=True)
    assert recall.position(platform, match).version == 7


def test_a_request_under_an_old_version_or_against_the_rules_by_now_is_still_known(platform: Platform, begin: Begin, ann: str) -> None:
    match = begin(target=3)
    first = play.play(platform, match, "one", [add(3)], expected=2, request="r", player=ann)
    assert play.play(platform, match, "one", [add(3)], expected=2, request="r", player=ann) == first._replace(repeated=True)
    assert play.play(platform, match, "one", [add(3)], request="r", player=ann).repeated


@pytest.mark.parametrize("other", [("one", [add(2)]), ("one", [add(1), add(1)]), ("two", [add(1)])])
def test_another_request_under_the_same_id_is_declined(platform: Platform, begin: Begin, ann: str, other: tuple[str, list]) -> None:
    match = begin()
    play.play(platform, match, "one", [add(1)], request="r", player=ann)
    with pytest.raises(Reused):
        play.play(platform, match, *other, request="r", player=ann)
    assert recall.position(platform, match).version == 3


def test_a_refused_request_leaves_no_trace(platform: Platform, begin: Begin, ann: str) -> None:
    match = begin()
    with pytest.raises(Refused):
        play.play(platform, match, "one", [add(9)], request="r", player=ann)
    assert not play.play(platform, match, "one", [add(1)], request="r", player=ann).repeated


def test_players_do_not_get_in_the_way_of_each_others_request_ids(platform: Platform, ann: str, bob: str) -> None:
    match = play.create(platform, ann, "tally", {"one": "me", "two": "open"}, {}).match
    play.join(platform, match, bob, "two", request="r")
    play.play(platform, match, "system", [{"type": "advance"}])
    assert not play.play(platform, match, "one", [add(1, stay=False)], request="r", player=ann).repeated
    with pytest.raises(Reused):
        play.play(platform, match, "two", [add(1)], request="r", player=bob)


# Dice


def test_dice_hang_on_the_secret_and_the_version_alone_and_every_match_has_its_own(platform: Platform, begin: Begin) -> None:
    def piles() -> list[int]:
        return recall.position(platform, begin()).document["pile"]

    assert len({tuple(piles()) for _ in range(5)}) == 5


def test_what_was_tried_in_vain_does_not_change_the_dice(platform: Platform, begin: Begin, another_platform: Houses) -> None:
    match = begin()
    for _ in range(3):
        with pytest.raises(MustBeLast):
            play.play(platform, match, "one", [ROLL, ROLL])
    (entry,) = play.play(platform, match, "one", [ROLL]).entries
    secret = platform.store.secret(match)
    assert secret is not None
    draws = Draws(dice_key(bytes.fromhex(secret), match, {}), 3)
    assert entry.events[0]["face"] == draws.number(6) + 1


# Going back


def test_every_version_can_be_stood_at_again(platform: Platform, begin: Begin, another_platform: Houses) -> None:
    match = begin()
    seen: list[Position] = [recall.state_at(platform, match, version) for version in (1, 2)]
    for place in range(1100):
        actor = recall.hold(platform, match).position.document["active"]
        seen.append(play.play(platform, match, actor, [add(1, stay=place % 50 < 48)]).position)
        if seen[-1].to_act == ["system"]:
            seen.append(play.play(platform, match, "system", [{"type": "advance"}]).position)
    other = another_platform()
    for version in [1, 2, 3, 63, 64, 65, 127, 128, 511, 512, 513, 1000, 1023, 1024, 1025, len(seen) - 1, len(seen)]:
        assert recall.state_at(other, match, version) == seen[version - 1]
    for version in range(1, len(seen) + 1, 37):
        assert recall.state_at(platform, match, version) == seen[version - 1]
    for version in (0, -1, len(seen) + 1, 10**9):
        with pytest.raises(NoVersion):
            recall.state_at(platform, match, version)


def test_snapshots_are_kept_of_the_newest_stretch_and_of_every_512th_version_and_may_be_lost(
    platform: Platform, begin: Begin, another_platform: Houses, servers: Any
) -> None:
    match = begin()
    while recall.hold(platform, match).position.version < 1100:
        play.play(platform, match, "one", [add(1)] * 7)
    keys = platform.store.keys(match)
    assert (
        sorted(map(int, platform.store.wire.ask("HKEYS", keys.snapshots)))
        == kept(recall.position(platform, match).version)
        == [512, 1024, 1088]
    )
    now = recall.position(platform, match)
    servers.keeper.delete(keys.snapshots)
    assert recall.position(another_platform(), match) == now
    assert recall.state_at(another_platform(), match, 700).version == 700


def test_a_snapshot_of_another_release_is_passed_over(platform: Platform, begin: Begin, another_platform: Houses, servers: Any) -> None:
    match = begin()
    play.play(platform, match, "one", [add(1)] * 50)
    play.play(platform, match, "one", [add(1)] * 50)
    servers.keeper.hset(platform.store.keys(match).snapshots, "64", b'{"shape":0,"else":1}')
    assert recall.position(another_platform(), match) == recall.position(platform, match)
    assert recall.state_at(another_platform(), match, 70).version == 70


# An AI seat's run


def test_an_ai_seat_plays_on_as_long_as_it_is_to_act_in_one_append(platform: Platform, begin: Begin) -> None:
    match = begin(one="ai:random", two="me")
    todo = [add(1), DRAW, ROLL]

    def choose(view: Any, choices: list[Any], memory: Any) -> Any:
        assert isinstance(view["pile"], int), "it sees what its seat sees"
        assert choices
        return todo.pop(0)

    played = play.play_on(platform, match, "one", choose, expected=2)
    assert (played.first, played.last) == (3, 5)
    assert played.position.to_act == ["two"]
    with pytest.raises(Stale):
        play.play_on(platform, match, "one", choose, expected=2)


def test_an_ai_seat_that_never_stops_is_stopped(platform: Platform, begin: Begin) -> None:
    assert play.play_on(platform, begin(one="ai:random", two="me"), "one", lambda view, choices, memory: add(1), limit=5).last == 7


def test_an_ai_seat_that_chooses_what_is_not_legal_changes_nothing(platform: Platform, begin: Begin) -> None:
    match = begin(one="ai:random", two="me")
    todo = [add(1), add(9)]
    with pytest.raises(Refused):
        play.play_on(platform, match, "one", lambda view, choices, memory: todo.pop(0))
    assert recall.position(platform, match).version == 2


# What nobody should send


@pytest.mark.parametrize(
    "action",
    [None, 7, "roll", [], {}, {"type": 7}, {"type": "roll", "by": 10**30}, {"type": "add", "by": 10**30, "stay": True}, {"type": "\ud800"}],
)
def test_anything_can_be_sent_and_is_refused(platform: Platform, begin: Begin, ann: str, action: Any) -> None:
    match = begin()
    with pytest.raises(Refused):
        play.play(platform, match, "one", [action], request="r", player=ann)
    assert recall.position(platform, match).version == 2


@pytest.mark.parametrize("options", [{"target": 1.5}, {"target": 2**60}, {"target": "\ud800"}, {"target": {}}])
def test_options_that_cannot_be_kept_are_refused(platform: Platform, ann: str, options: dict[str, Any]) -> None:
    with pytest.raises(Refused, match="bad_options"):
        play.create(platform, ann, "tally", {"one": "me", "two": "me"}, options, request="r")


def test_a_whole_number_may_be_written_with_a_point(platform: Platform, ann: str) -> None:
    position = play.create(platform, ann, "tally", {"one": "me", "two": "me"}, {"target": 9.0})
    assert canonical(position.document["options"]) == b'{"target":9}'
    assert audit(platform, position.match).ok
