"""The only writer: what it accepts, what it refuses, and what it answers to the same request again."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest

from events import accounts, play, recall, requests
from events.audit import audit
from events.due import ADVANCE
from events.errors import (
    BadList,
    Busy,
    MatchClosed,
    MustBeLast,
    NoGame,
    NoMatch,
    NoSeat,
    NoSuchPlayer,
    NotSeated,
    NotStarted,
    NoVersion,
    Reused,
    Stale,
)
from events.platform import Platform, open_platform
from events.snapshots import kept
from events.store.accounts import Signer
from events.store.log import Conflict
from events.store.signing import signed, signing_key
from events.telemetry import metrics
from games.kernel import Match, Refused, fold, no
from record.dice import Draws, commitment, dice_key
from record.entries import canonical
from record.positions import Position
from record.rules import content_hash
from table import rules as table_rules
from tests.conftest import Servers, take_seat, tickets

CYD = "p" + "c" * 16
Begin = Callable[..., str]
More = Callable[[], Platform]


def add(by: int, stay: bool = True) -> dict[str, Any]:
    return {"type": "add", "by": by, "stay": stay}


ROLL, DRAW = {"type": "roll"}, {"type": "draw"}


# ---------------------------------------------------------------- creating a match, and taking its seats


def test_a_match_is_open_until_every_seat_is_taken_and_then_waits_for_the_system(platform: Platform, ann: str, bob: str) -> None:
    position = play.create(platform, ann, "tally", {"one": "open", "two": "me", "three": "ai:random"}, {}, order=["two", "one", "three"])
    assert (position.version, position.status, position.to_act) == (1, "open", [])
    assert position.document["seats"] == ["two", "one", "three"], "the order around the board is the order that was named"
    with pytest.raises(NotStarted):
        play.play(platform, position.match, "system", [{"type": "advance"}])
    played = take_seat(platform, position.match, bob, "one", "c0ffee")
    (entry,), position = played.entries, played.position
    assert (entry.actor, entry.action) == (bob, {"type": "take_seat", "seat": "one", "contribution": "c0ffee"})
    assert [event["type"] for event in entry.events] == ["seat_taken", "seats_filled"]
    assert (position.version, position.status, position.to_act) == (2, "playing", ["system"])
    assert position.roster == {"two": {"player": ann}, "one": {"player": bob}, "three": {"ai": "random"}}
    assert position.table["contributions"] == {"one": "c0ffee"}
    assert recall.position(platform, position.match) == position


@pytest.mark.parametrize(
    ("seats", "game", "error", "code"),
    [
        ({"one": "me", "two": "ai:genius"}, "tally", Refused, "bad_seats"),
        ({"one": "me", "two": "ai:"}, "tally", Refused, "bad_seats"),
        ({"one": "me", "two": "somebody"}, "tally", Refused, "bad_seats"),
        ({"one": "me", "two": 7}, "tally", Refused, "bad_action"),
        ({"one": "me", "two": "open"}, "chess", NoGame, "no_such_game"),
        ({"one": "me"}, "tally", Refused, "bad_options"),
        ({"one": "me", "nine": "me"}, "tally", Refused, "bad_options"),
    ],
)
def test_a_match_that_is_not_allowed_is_not_created(
    platform: Platform, ann: str, seats: Any, game: str, error: type[Refused | NoGame], code: str
) -> None:
    with pytest.raises(error) as refused:
        play.create(platform, ann, game, seats, {}, request="r")
    assert refused.value.code == code
    assert list(platform.store.log.matches()) == []


def test_the_order_of_the_members_of_seats_counts_for_nothing(platform: Platform, ann: str) -> None:
    seats = {"four": "me", "two": "open", "three": "me", "one": "me"}
    first = play.create(platform, ann, "tally", seats, {}, request="r")
    assert first.document["seats"] == ["one", "two", "three", "four"]
    assert play.create(platform, ann, "tally", dict(sorted(seats.items())), {}, request="r") == first
    for order in (["one", "two", "three", "four"], ["four", "three", "two", "one"]):
        with pytest.raises(Reused):
            play.create(platform, ann, "tally", seats, {}, order=order, request="r")
        assert play.create(platform, ann, "tally", seats, {}, order=order).document["seats"] == order


def test_the_same_request_of_a_player_creates_one_match_only(platform: Platform, ann: str, bob: str) -> None:
    seats = {"one": "me", "two": "open"}
    first = play.create(platform, ann, "tally", seats, {}, request="r")
    take_seat(platform, first.match, bob, "two")
    assert play.create(platform, ann, "tally", seats, {}, request="r") == first, "the same answer, even if the match has moved on"
    assert play.create(platform, bob, "tally", seats, {}, request="r").match != first.match
    assert play.create(platform, ann, "tally", seats, {}).match != first.match
    with pytest.raises(Reused):
        play.create(platform, ann, "tally", seats, {"target": 7}, request="r")


def test_the_same_request_gets_its_match_again_even_if_an_invited_player_is_gone(platform: Platform, ann: str) -> None:
    cid, key = accounts.register(platform, "Cid")
    seats = {"one": "me", "two": f"player:{cid.id}"}
    first = play.create(platform, ann, "tally", seats, {}, request="r")
    accounts.delete(platform, cid.id, Signer(accounts.first_key(cid.id), sha256(key.encode()).hexdigest()))
    assert play.create(platform, ann, "tally", seats, {}, request="r") == first
    with pytest.raises(NoSuchPlayer):
        play.create(platform, ann, "tally", seats, {}, request="s")


def test_a_seat_is_taken_once(platform: Platform, ann: str, bob: str, another_platform: More) -> None:
    match = play.create(platform, ann, "tally", {"one": "me", "two": "open", "three": "open"}, {}).match
    other = another_platform()
    recall.position(other, match)
    taken = take_seat(platform, match, bob, "two", request="r")
    with pytest.raises(Refused, match="seat_taken") as refused:
        take_seat(other, match, ann, "two")
    assert table_rules.sentence(platform.games["tally"], refused.value.refusal) == "The seat two is taken."
    assert take_seat(other, match, bob, "two", request="r") == taken._replace(repeated=True), "a lost answer is given again"
    with pytest.raises(Refused, match="seat_taken"):
        take_seat(platform, match, bob, "one")
    with pytest.raises(Refused, match="no_such_seat"):
        take_seat(platform, match, bob, "nine")
    with pytest.raises(Reused):
        take_seat(platform, match, bob, "three", request="r")
    assert recall.position(platform, match).version == 2


def test_a_seat_is_left_and_taken_again_until_the_match_starts(platform: Platform, ann: str, bob: str, another_platform: More) -> None:
    match = play.create(platform, ann, "tally", {"one": "me", "two": "open", "three": "open"}, {}).match
    take_seat(platform, match, bob, "two", "c0ffee")
    leave = {"type": "leave_seat", "seat": "two"}
    with pytest.raises(Refused, match="not_your_seat"):
        play.act_at_table(platform, match, ann, leave)
    left = play.act_at_table(platform, match, bob, leave, request="r")
    assert left.position.roster["two"] == {"open": True}
    assert left.position.table["contributions"] == {}
    assert left.position.open_seats() == ["two", "three"]
    take_seat(platform, match, bob, "three", "00")
    started = take_seat(platform, match, CYD, "two", "ab").position
    assert (started.version, started.status) == (5, "playing")
    assert (started.seats_of(ann), started.seats_of(CYD)) == (["one"], ["two"])
    assert recall.position(another_platform(), match) == started
    with pytest.raises(Refused, match="already_started"):
        play.act_at_table(platform, match, CYD, leave)
    assert play.act_at_table(platform, match, bob, leave, request="r") == left._replace(repeated=True)
    assert audit(platform, match).ok


def test_an_action_of_the_table_may_expect_a_version(platform: Platform, ann: str, bob: str, another_platform: More) -> None:
    match = play.create(platform, ann, "tally", {"one": "me", "two": "open", "three": "open"}, {}).match
    behind = another_platform()
    recall.position(behind, match)
    take = {"type": "take_seat", "seat": "two"}
    for expected in (0, 2, 99):
        with pytest.raises(Stale) as stale:
            play.act_at_table(platform, match, bob, take, expected=expected)
        assert stale.value.version == 1
    taken = play.act_at_table(platform, match, bob, take, expected=1, request="r")
    with pytest.raises(Stale) as stale:
        play.act_at_table(behind, match, CYD, {"type": "take_seat", "seat": "three"}, expected=1)
    assert stale.value.version == 2
    assert play.act_at_table(behind, match, bob, take, expected=1, request="r") == taken._replace(repeated=True)
    assert play.act_at_table(behind, match, CYD, {"type": "take_seat", "seat": "three"}, expected=2).last == 3


def test_a_match_that_asks_for_a_code_is_joined_with_it_and_the_log_has_its_hash(platform: Platform, ann: str, bob: str) -> None:
    position = play.create(platform, ann, "tally", {"one": "me", "two": "open"}, {}, code=True)
    code = recall.code_of(platform, position)
    take = {"type": "take_seat", "seat": "two"}
    with pytest.raises(Refused, match="wrong_code"):
        play.act_at_table(platform, position.match, bob, take)
    taken = play.act_at_table(platform, position.match, bob, {**take, "code": code})
    assert taken.entries[0].action == {**take, "code": position.table["lock"]}
    assert audit(platform, position.match).ok


def test_an_action_of_the_table_is_no_action_of_the_game(platform: Platform, begin: Begin, ann: str) -> None:
    match = begin()
    with pytest.raises(Refused, match="bad_action"):
        play.play(platform, match, "one", [{"type": "leave_seat", "seat": "one"}], player=ann)
    with pytest.raises(Refused, match="already_created"):
        play.act_at_table(platform, match, ann, {"type": "create_match", "game": "tally", "seats": {"one": "me"}, "options": {}})
    assert recall.position(platform, match).version == 2


@pytest.mark.parametrize("contribution", ["", "0", "zz", "AB", "00" * 65, "0x00", "00\n", 7, None, {}])
def test_a_contribution_is_bytes_in_hex(platform: Platform, ann: str, bob: str, contribution: Any) -> None:
    match = play.create(platform, ann, "tally", {"one": "me", "two": "open"}, {}).match
    action = {"type": "take_seat", "seat": "two", "contribution": contribution}
    with pytest.raises(Refused, match="bad_action"):
        play.act_at_table(platform, match, bob, action, request="r")
    assert recall.position(platform, match).version == 1
    assert take_seat(platform, match, bob, "two", "00" * 64, request="r").position.status == "playing"


# ---------------------------------------------------------------- playing


def test_an_action_is_one_entry_with_all_its_facts(platform: Platform, begin: Begin, ann: str) -> None:
    match = begin()
    before = recall.position(platform, match)
    played = play.play(platform, match, "one", [add(3, stay=False)], player=ann)
    (entry,) = played.entries
    assert (played.first, played.last, entry.version, played.repeated) == (3, 3, 3, False)
    assert entry.action == add(3, stay=False)
    assert [event["type"] for event in entry.events] == ["counted", "turn_started"]
    assert (entry.actor, entry.revision, entry.request, entry.secret) == ("one", 1, None, None)
    assert entry.rules == content_hash(platform.games["tally"])
    assert played.position.document == fold(platform.games["tally"], before.document, entry.events)
    assert recall.position(platform, match) == played.position


def test_an_action_is_kept_as_the_rules_admit_it(platform: Platform, begin: Begin) -> None:
    (entry,) = play.play(platform, begin(), "one", [{"type": "add", "by": 2.0, "stay": True}]).entries
    assert canonical(entry.action) == b'{"by":2,"stay":true,"type":"add"}'


def test_a_list_is_carried_out_all_or_none(platform: Platform, begin: Begin) -> None:
    match = begin()
    played = play.play(platform, match, "one", [add(1), add(2), ROLL])
    assert [entry.version for entry in played.entries] == [3, 4, 5]
    with pytest.raises(Refused) as refused:
        play.play(platform, match, "two", [add(1), add(9)])
    assert (refused.value.code, refused.value.place) == ("too_much", 1)
    assert recall.position(platform, match).version == 5


@pytest.mark.parametrize("peek", [ROLL, DRAW])
def test_an_action_that_draws_or_reveals_is_the_last_of_its_list(platform: Platform, begin: Begin, peek: dict[str, Any]) -> None:
    match = begin()
    with pytest.raises(MustBeLast) as error:
        play.play(platform, match, "one", [add(1), peek, {"type": "no_such_action"}])
    assert error.value.place == 1, "before the later action is examined"
    assert recall.position(platform, match).version == 2
    assert play.play(platform, match, "one", [add(1), peek]).last == 4


@pytest.mark.parametrize("number", [0, 51])
def test_a_list_has_bounds(platform: Platform, begin: Begin, number: int) -> None:
    with pytest.raises(BadList):
        play.play(platform, begin(), "one", [add(1)] * number)


def test_only_the_player_who_has_a_seat_plays_it(platform: Platform, begin: Begin, bob: str) -> None:
    match = begin()
    for actor, error, sentence in [
        ("one", NotSeated, "The seat one is not yours."),
        ("nine", NoSeat, "The match has no seat 'nine'. Its seats are one, two."),
        ("system", NoSeat, "The match has no seat 'system'. Its seats are one, two."),
    ]:
        with pytest.raises(error) as refused:
            play.play(platform, match, actor, [add(1)], player=bob)
        assert str(refused.value) == sentence


def test_nobody_plays_before_every_seat_is_taken(platform: Platform, ann: str) -> None:
    match = play.create(platform, ann, "tally", {"one": "me", "two": "open"}, {}).match
    for actor, player in (("one", ann), ("system", None)):
        with pytest.raises(NotStarted, match=r"^A seat of this match is still open.$"):
            play.play(platform, match, actor, [add(1)], player=player)
    play.act_at_table(platform, match, ann, {"type": "close_match"})
    with pytest.raises(MatchClosed, match=r"^The match was closed before it began.$"):
        play.play(platform, match, "one", [add(1)], player=ann)


@pytest.mark.parametrize("match", ["maaaaaaaaaaaaaaaa", "m", "", "../x", "m" + "A" * 16, "maaaaaaaaaaaaaaaa\n"])
def test_a_match_that_does_not_exist_is_not_found(platform: Platform, match: str) -> None:
    for ask in (
        lambda: recall.position(platform, match),
        lambda: recall.state_at(platform, match, 1),
        lambda: play.play(platform, match, "one", [add(1)]),
        lambda: play.act_at_table(platform, match, "p" + "a" * 16, {"type": "take_seat", "seat": "one"}),
        lambda: play.Draft(platform, match, "one", 1),
    ):
        with pytest.raises(NoMatch):
            ask()


@pytest.mark.parametrize("expected", [0, 1, 3, 4, 99])
def test_an_action_for_another_version_is_stale(platform: Platform, begin: Begin, expected: int) -> None:
    match = begin()
    with pytest.raises(Stale) as stale:
        play.play(platform, match, "one", [add(1)], expected=expected)
    assert stale.value.version == 2
    assert str(stale.value) == f"The match is at version 2, not {expected}."
    assert play.play(platform, match, "one", [add(1)], expected=2).last == 3


def test_a_cached_position_may_be_behind(platform: Platform, begin: Begin, another_platform: More) -> None:
    match = begin()
    other = another_platform()
    recall.position(other, match)
    play.play(platform, match, "one", [add(1, stay=False)])
    assert play.play(other, match, "two", [add(1)]).last == 4, "a refusal is confirmed at the head"
    play.play(platform, match, "two", [add(1)])
    assert play.play(other, match, "two", [add(1)], expected=5).last == 6, "and so is staleness"
    play.play(platform, match, "two", [add(1)])
    assert play.play(other, match, "two", [add(1)]).last == 8
    play.play(other, match, "two", [add(1)])
    with pytest.raises(Stale) as stale:
        play.play(platform, match, "two", [add(1)], expected=8)
    assert stale.value.version == 9


def test_a_writer_who_never_gets_a_turn_is_told_so(platform: Platform, begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    match = begin()
    monkeypatch.setattr(platform.store.log, "append", lambda *_: Conflict(2, []))
    with pytest.raises(Busy, match=r"^Too many requests of this kind are being answered now. Try again.$"):
        play.play(platform, match, "one", [add(1)])


def test_what_is_written_refused_and_repeated_is_counted(platform: Platform, begin: Begin, ann: str) -> None:
    def counted() -> tuple[float, ...]:
        counts = (metrics.appends.labels("tally"), metrics.refusals.labels("tally", "too_much"), metrics.repeats)
        return tuple(count._value.get() for count in counts)

    match, before = begin(), counted()
    for _ in range(2):
        play.play(platform, match, "one", [add(1), add(1)], request="r")
    with pytest.raises(Refused):
        play.play(platform, match, "one", [add(9)])
    assert [after - old for after, old in zip(counted(), before, strict=True)] == [2, 1, 1]
    play.create(platform, ann, "tally", {"one": "me", "two": "open"}, {}, request="r")
    play.create(platform, ann, "tally", {"one": "me", "two": "open"}, {}, request="r")
    assert [after - old for after, old in zip(counted(), before, strict=True)] == [3, 1, 2]


def test_a_new_match_puts_into_the_queue_what_is_due_at_once(platform: Platform, servers: Servers, ann: str) -> None:
    before = tickets(servers, ADVANCE)
    play.create(platform, ann, "tally", {"one": "me", "two": "me"}, {})
    assert tickets(servers, ADVANCE) == before + 1


def test_only_the_entry_that_ends_the_match_reveals_the_secret(platform: Platform, begin: Begin) -> None:
    match = begin(target=5)
    position = play.play(platform, match, "one", [add(3)]).position
    assert position.secret is None
    ended = play.play(platform, match, "one", [add(3)])
    assert ended.position.status == "over"
    assert ended.entries[0].secret == ended.position.secret is not None
    assert commitment(bytes.fromhex(ended.position.secret)) == ended.position.table["commitment"]
    with pytest.raises(Refused, match="match_over"):
        play.play(platform, match, "one", [add(1)])


# ---------------------------------------------------------------- the same request again


def test_the_same_request_is_carried_out_once_and_gets_the_same_answer(
    platform: Platform, begin: Begin, ann: str, another_platform: More
) -> None:
    match = begin()
    first = play.play(platform, match, "one", [add(1), add(2, stay=False)], request="r", player=ann)
    for _ in range(3):
        play.play(platform, match, "two", [add(1)])
    for asked in (platform, another_platform()):
        again = play.play(asked, match, "one", [add(1), add(2, stay=False)], request="r", player=ann)
        assert again == first._replace(repeated=True)
    assert recall.position(platform, match).version == 7


def test_a_request_is_known_even_if_its_version_is_past_or_the_rules_refuse_it_by_now(platform: Platform, begin: Begin, ann: str) -> None:
    match = begin(target=3)
    first = play.play(platform, match, "one", [add(3)], expected=2, request="r", player=ann)
    assert play.play(platform, match, "one", [add(3)], expected=2, request="r", player=ann) == first._replace(repeated=True)
    assert play.play(platform, match, "one", [add(3)], request="r", player=ann).repeated


@pytest.mark.parametrize("other", [("one", [add(2)]), ("one", [add(1), add(1)]), ("two", [add(1)])])
def test_another_request_with_the_same_id_is_an_error(platform: Platform, begin: Begin, ann: str, other: tuple[str, list]) -> None:
    match = begin()
    play.play(platform, match, "one", [add(1)], request="r", player=ann)
    with pytest.raises(Reused):
        play.play(platform, match, *other, request="r", player=ann)
    assert recall.position(platform, match).version == 3


def test_a_request_that_has_created_a_match_is_known(platform: Platform, ann: str, bob: str) -> None:
    play.create(platform, ann, "tally", {"one": "me", "two": "open"}, {}, request="r")
    assert [play.was_created(platform, *asked) for asked in ((ann, "r"), (ann, "s"), (bob, "r"))] == [True, False, False]


def test_a_request_of_an_actor_without_a_player_is_its_own(platform: Platform, begin: Begin, ann: str) -> None:
    match = begin(two="ai:random", one="me")
    play.play(platform, match, "one", [add(1, stay=False)], request="r")
    play.play(platform, match, "two", [add(1, stay=False)], request="r")
    play.play(platform, match, "system", [{"type": "advance"}], request="r")
    log, head = platform.store.log, recall.position(platform, match).version
    known = [log.since(match, head, name).known for name in (f"{ann}/r", "two/r", "system/r")]
    assert [one and (one.first, one.last) for one in known] == [(head - 2, head - 2), (head - 1, head - 1), (head, head)]


@pytest.mark.parametrize("value", [1, 10**30, "\ud800"])
def test_the_order_of_members_makes_no_other_request(value: Any) -> None:
    one, other = ({"a": value, "b": {"c": 1, "d": 2}}, {"b": {"d": 2, "c": 1}, "a": value})
    assert requests._fingerprint("p", one) == requests._fingerprint("p", other) != requests._fingerprint("q", one)


def test_a_refused_request_leaves_no_trace(platform: Platform, begin: Begin, ann: str) -> None:
    match = begin()
    with pytest.raises(Refused):
        play.play(platform, match, "one", [add(9)], request="r", player=ann)
    assert not play.play(platform, match, "one", [add(1)], request="r", player=ann).repeated


def test_two_players_may_use_the_same_request_id(platform: Platform, ann: str, bob: str) -> None:
    match = play.create(platform, ann, "tally", {"one": "me", "two": "open"}, {}).match
    take_seat(platform, match, bob, "two", request="r")
    play.play(platform, match, "system", [{"type": "advance"}])
    assert not play.play(platform, match, "one", [add(1, stay=False)], request="r", player=ann).repeated
    with pytest.raises(Reused):
        play.play(platform, match, "two", [add(1)], request="r", player=bob)


# ---------------------------------------------------------------- dice


def test_every_match_has_dice_of_its_own(platform: Platform, begin: Begin) -> None:
    def piles() -> list[int]:
        return recall.position(platform, begin()).document["pile"]

    assert len({tuple(piles()) for _ in range(5)}) == 5


def test_refused_attempts_do_not_change_the_dice(platform: Platform, begin: Begin, another_platform: More) -> None:
    match = begin()
    for _ in range(3):
        with pytest.raises(MustBeLast):
            play.play(platform, match, "one", [ROLL, ROLL])
    (entry,) = play.play(platform, match, "one", [ROLL]).entries
    secret = platform.store.log.load(match, 1).secret
    assert secret is not None
    draws = Draws(dice_key(bytes.fromhex(secret), match, {}), 3)
    assert entry.events[0]["face"] == draws.number(6) + 1


# ---------------------------------------------------------------- earlier versions


def test_every_version_can_be_recalled(platform: Platform, begin: Begin, another_platform: More) -> None:
    match = begin()
    seen: list[Position] = [recall.state_at(platform, match, version) for version in (1, 2)]
    for place in range(1100):
        actor = recall.cached(platform, match).position.document["active"]
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


def test_snapshots_are_kept_as_planned_and_may_be_lost(platform: Platform, begin: Begin, another_platform: More, servers: Servers) -> None:
    match = begin()
    while recall.cached(platform, match).position.version < 1100:
        play.play(platform, match, "one", [add(1)] * 7)
    keys = platform.store.keys.of(match)
    assert (
        sorted(map(int, platform.store.client.ask("HKEYS", keys.snapshots)))
        == kept(recall.position(platform, match).version)
        == [512, 1024, 1088]
    )
    now = recall.position(platform, match)
    servers.keeper.delete(keys.snapshots)
    assert recall.position(another_platform(), match) == now
    assert recall.state_at(another_platform(), match, 700).version == 700


@pytest.mark.parametrize("snapshot", [b'{"else":1}', b"[]", b"7", b"nonsense"])
def test_a_snapshot_that_is_none_is_ignored(
    platform: Platform, begin: Begin, another_platform: More, servers: Servers, snapshot: bytes
) -> None:
    match = begin()
    play.play(platform, match, "one", [add(1)] * 50)
    play.play(platform, match, "one", [add(1)] * 50)
    key = signing_key(platform.store.log.load(match, 1).secret or "")
    servers.keeper.hset(platform.store.keys.of(match).snapshots, "64", signed(key, 64, snapshot))  # type: ignore[arg-type]
    assert recall.position(another_platform(), match) == recall.position(platform, match)
    assert recall.state_at(another_platform(), match, 70).version == 70


# ---------------------------------------------------------------- a draft


def test_a_draft_writes_a_run_in_one_append(platform: Platform, begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    match = begin(one="ai:random", two="me")
    appends: list[int] = []
    append = platform.store.log.append

    def counted(match: str, expected: int, entries: Any, *others: Any) -> Any:
        appends.append(len(entries))
        return append(match, expected, entries, *others)

    monkeypatch.setattr(platform.store.log, "append", counted)
    draft = play.Draft(platform, match, "one", 2)
    for action in (add(1), DRAW, ROLL):
        assert draft.goes_on
        draft.play(action)
    assert not draft.goes_on
    assert (draft.position.version, draft.position.to_act) == (5, ["two"])
    assert (appends, platform.store.log.head(match)) == ([], 2), "nothing is written before `write`"
    played = draft.write()
    assert (appends, platform.store.log.head(match)) == ([3], 5)
    assert (played.first, played.last, played.repeated, played.position) == (3, 5, False, draft.position)
    assert [entry.action for entry in played.entries] == [add(1), DRAW, ROLL]
    assert recall.position(platform, match) == played.position
    assert audit(platform, match).ok


def test_a_draft_whose_match_has_moved_on_writes_nothing(platform: Platform, begin: Begin, another_platform: More) -> None:
    match = begin()
    for elsewhere in (platform, another_platform()):
        before = recall.position(platform, match).version
        draft = play.Draft(platform, match, "one", before)
        draft.play(add(2))
        play.play(elsewhere, match, "one", [add(1)])
        draft.play(add(2))
        with pytest.raises(Stale) as stale:
            draft.write()
        assert (stale.value.version, platform.store.log.head(match)) == (before + 1, before + 1)
        assert str(stale.value) == f"The match is at version {before + 1}, not {before}."
        with pytest.raises(Stale):
            play.Draft(platform, match, "one", before)
    assert recall.position(platform, match).document["counts"]["one"] == 2
    assert audit(platform, match).ok


def test_a_draft_begins_at_the_expected_version_only(platform: Platform, begin: Begin, another_platform: More, ann: str) -> None:
    match = begin()
    behind = another_platform()
    recall.position(behind, match)
    play.play(platform, match, "one", [add(1)])
    assert play.Draft(behind, match, "one", 3).position.version == 3, "the cache of that process was behind"
    for expected in (0, 2, 4, 99):
        with pytest.raises(Stale) as stale:
            play.Draft(platform, match, "one", expected)
        assert str(stale.value) == f"The match is at version 3, not {expected}."
    for actor in ("two", "nine"):
        draft = play.Draft(platform, match, actor, 3)
        assert not draft.goes_on
        with pytest.raises(Refused, match="not_your_turn"):
            draft.play(add(1))
    waiting = play.create(platform, ann, "tally", {"one": "me", "two": "open"}, {}).match
    with pytest.raises(NotStarted):
        play.Draft(platform, waiting, "one", 1)


def test_a_draft_is_no_longer_than_a_list(platform: Platform, begin: Begin) -> None:
    draft = play.Draft(platform, begin(), "one", 2)
    while draft.goes_on:
        draft.play(add(1))
    assert draft.write().last == 2 + play.LONGEST_LIST


def test_an_action_that_is_not_legal_cannot_be_added_to_a_draft(platform: Platform, begin: Begin) -> None:
    match = begin(one="ai:random", two="me")
    draft = play.Draft(platform, match, "one", 2)
    draft.play(add(1))
    with pytest.raises(Refused, match="too_much"):
        draft.play(add(9))
    assert recall.position(platform, match).version == 2
    assert draft.write().last == 3, "the draft is as it was before"


# ---------------------------------------------------------------- malformed requests


@pytest.mark.parametrize(
    "action",
    [None, 7, "roll", [], {}, {"type": 7}, {"type": "roll", "by": 10**30}, {"type": "add", "by": 10**30, "stay": True}, {"type": "\ud800"}],
)
def test_malformed_actions_are_refused(platform: Platform, begin: Begin, ann: str, action: Any) -> None:
    match = begin()
    with pytest.raises(Refused):
        play.play(platform, match, "one", [action], request="r", player=ann)
    assert recall.position(platform, match).version == 2


@pytest.mark.parametrize("options", [{"target": 1.5}, {"target": 2**60}, {"target": "\ud800"}, {"target": {}}])
def test_options_without_canonical_json_are_refused(platform: Platform, ann: str, options: dict[str, Any]) -> None:
    with pytest.raises(Refused, match="bad_options") as refused:
        play.create(platform, ann, "tally", {"one": "me", "two": "me"}, options, request="r")
    assert refused.value.refusal.facts["reason"] not in ("", "None")


def test_an_event_without_canonical_json_is_never_written(platform: Platform, begin: Begin) -> None:
    def fractions(match: Match[Any], seat: str, action: dict[str, Any]) -> None:
        match.emit("counted", seat=seat, by=1.5)

    tally = platform.games["tally"]
    turn = {kind: deed._replace(act=fractions) for kind, deed in tally.phases["turn"].items()}
    match = begin()
    odd = open_platform(platform.settings, {"tally": tally._replace(phases={**tally.phases, "turn": turn})})
    with pytest.raises(Refused) as refused:
        play.play(odd, match, "one", [add(1)])
    assert refused.value.refusal == no("bad_action", reason="1.5 is a fraction; only whole numbers are kept")
    odd.close()
    assert recall.position(platform, match).version == 2


def test_a_whole_number_may_be_written_with_a_point(platform: Platform, ann: str) -> None:
    assert canonical(requests.with_integers({"a": [1.0, {"b": 2.0}], "c": "1.0"})) == b'{"a":[1,{"b":2}],"c":"1.0"}'
    position = play.create(platform, ann, "tally", {"one": "me", "two": "me"}, {"target": 9.0})
    assert canonical(position.document["options"]) == b'{"target":9}'
    assert audit(platform, position.match).ok
