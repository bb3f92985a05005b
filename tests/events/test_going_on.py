"""Clocks, time-outs, offers and takebacks in the store: what is stored, audited and rebuilt is what was decided."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from events import accounts, play, recall
from events.audit import audit, record_header
from events.errors import NoSuchPlayer, NotSeated
from events.platform import Platform, Settings, open_platform
from events.rebuild import rebuild
from games.kernel import SYSTEM, Action, Refused
from record.positions import Position
from record.trail import audit_entries
from tests.conftest import ALL_GAMES, Servers, take_seat
from tests.events.keyspace import projections
from tests.events.test_clock import Machine
from tests.table.going_on import CLOCKS, POLICIES, STRANGER, choices, go_on, settings_of

More = Callable[[], Platform]
RESIGN = {"type": "resign"}


@pytest.fixture
def machine() -> Machine:
    return Machine(2_000_000_000_000)


@pytest.fixture
def platform(quiet_servers: Servers, machine: Machine) -> Iterator[Platform]:
    """An empty platform whose time passes only when a test says so."""
    settings = Settings(store_url=quiet_servers.store_url, queue_url=quiet_servers.queue_url)
    opened = open_platform(settings, ALL_GAMES, clock=machine.clock())
    yield opened
    opened.close()


class Stored:
    """A match in the store of a machine."""

    def __init__(self, platform: Platform, machine: Machine, match: str, ids: list[str]) -> None:
        self.platform = platform
        self.machine = machine
        self.match = match
        self.game = platform.games[recall.position(platform, match).game]
        self.ids = ids
        self.requests = 0

    @property
    def now(self) -> Position:
        """The newest position."""
        return recall.position(self.platform, self.match)

    def act_at_table(self, actor: str, action: Action, at: int, role: str | None = None) -> None:
        """Carry out an action of the table. The players of random play stand for those of the platform."""
        known = dict(zip(["pa", "pb", "pc", "pd"], self.ids, strict=False))
        actor = known.get(actor[:2], actor) if len(actor) == 17 else actor
        if action.get("player"):
            action = {**action, "player": known.get(action["player"][:2], self.ids[0])}
        self.requests += 1
        self.machine.pass_ms(max(0, at - self.platform.clock.now()))
        play.act_at_table(self.platform, self.match, actor, action, request=f"t{self.requests}", received=at, role=role)

    def play(self, actor: str, action: Action, received: int, owner: bool = True) -> None:
        """Carry out an action of the game."""
        self.requests += 1
        self.machine.pass_ms(max(0, received - self.platform.clock.now()))
        play.play(self.platform, self.match, actor, [action], request=f"g{self.requests}", received=received)


@pytest.mark.parametrize("game", ["tally", "war", "war_of_civilizations"])
@pytest.mark.parametrize("seed", [1, 2])
def test_what_happens_at_a_table_is_audited_and_rebuilt(
    platform: Platform, machine: Machine, another_platform: More, ann: str, bob: str, game: str, seed: int
) -> None:
    will = random.Random(f"{game} {seed}")
    cyd = accounts.register(platform, "Cyd")[0].id
    ids = ALL_GAMES[game].seats.ids[:2]
    clock, policy = CLOCKS[1 + seed], POLICIES[1 + seed]
    seats = dict(zip(ids, ("me", "open"), strict=True))
    options = {"target": 100} if game == "tally" else {}
    match = play.create(platform, ann, game, seats, options, settings=settings_of(clock, policy)).match
    take_seat(platform, match, bob, ids[1], "c0ffee")
    for _ in go_on(Stored(platform, machine, match, [ann, bob, cyd]), will, 140):
        pass
    report = audit(platform, match)
    assert report.findings == []
    position = recall.position(platform, match)
    assert recall.position(another_platform(), match) == position
    kept = projections(platform.store.client)
    rebuild(platform)
    assert projections(platform.store.client) == kept
    lines = [record_header(platform, match), *platform.store.log.read_all(match)]
    assert audit_entries(ALL_GAMES, lines).findings == []


@pytest.fixture
def timed(platform: Platform, ann: str, bob: str) -> str:
    """A match of the test game with a clock, in which the first seat, Ann's, is to act."""
    settings: dict[str, Any] = {"clock": {"kind": "bank", "seconds": 100}}
    match = play.create(platform, ann, "tally", {"one": "me", "two": "open"}, {}, settings=settings).match
    take_seat(platform, match, bob, "two")
    play.play(platform, match, SYSTEM, [{"type": "advance"}])
    return match


def test_a_tampered_moment_is_found(platform: Platform, machine: Machine, timed: str) -> None:
    """Without the key of the salts, too: clocks and deadlines follow from the moments."""
    at = recall.position(platform, timed).at
    machine.pass_ms(100_000)
    play.play(platform, timed, "one", [{"type": "roll"}], received=at + 99_000)
    lines = list(platform.store.log.read_all(timed))
    assert audit_entries(ALL_GAMES, lines).findings == []
    late = [*lines[:-1], lines[-1].replace(b'"at":%d' % (at + 99_000), b'"at":%d' % (at + 101_000))]
    assert late != lines
    assert "not_legal" in [finding.code for finding in audit_entries(ALL_GAMES, late).findings]
    early = [*lines[:-1], lines[-1].replace(b'"at":%d' % (at + 99_000), b'"at":%d' % (at - 1))]
    assert "time_backwards" in [finding.code for finding in audit_entries(ALL_GAMES, early).findings]


def test_only_the_player_of_a_seat_acts_for_it_at_the_table(platform: Platform, timed: str, ann: str, bob: str) -> None:
    with pytest.raises(NotSeated):
        play.act_at_table(platform, timed, "two", RESIGN, player=ann)
    with pytest.raises(Refused) as refused:
        play.act_at_table(platform, timed, ann, RESIGN)
    assert refused.value.code == "bad_action"
    with pytest.raises(Refused) as refused:
        play.act_at_table(platform, timed, bob, {"type": "time_out", "seat": "one"})
    assert refused.value.code == "bad_action"
    with pytest.raises(NoSuchPlayer):
        play.act_at_table(platform, timed, "two", {"type": "hand_over", "player": STRANGER}, player=bob)
    assert play.act_at_table(platform, timed, "two", RESIGN, player=bob).position.document["outcome"]["winners"] == ["one"]


def test_a_late_action_is_refused_and_one_in_time_counts_however_late_it_is_decided(
    platform: Platform, machine: Machine, timed: str
) -> None:
    before = recall.position(platform, timed)
    deadline = before.at + 100_000
    machine.pass_ms(200_000)
    with pytest.raises(Refused) as refused:
        play.play(platform, timed, "one", [{"type": "roll"}], received=deadline + 1, player=before.roster["one"]["player"])
    assert (refused.value.code, refused.value.refusal.facts) == ("time_is_up", {"seat": "one", "deadline": deadline})
    assert recall.position(platform, timed) == before
    played = play.play(platform, timed, "one", [{"type": "roll"}], received=deadline)
    assert played.position.at == deadline
    assert played.position.table["clocks"]["seats"]["one"]["bank"] == 0


def test_requests_before_a_seat_is_handed_over_remain_those_of_the_player_before(
    platform: Platform, timed: str, ann: str, bob: str
) -> None:
    cyd = accounts.register(platform, "Cyd")[0].id
    first = play.play(platform, timed, "one", [{"type": "roll"}], request="r1", player=ann)
    play.act_at_table(platform, timed, "one", {"type": "hand_over", "player": cyd}, request="h1", player=ann)
    taken = play.act_at_table(platform, timed, cyd, {"type": "take_over", "seat": "one"}, request="t1")
    assert taken.position.roster["one"] == {"player": cyd}
    kept = projections(platform.store.client)
    rebuild(platform)
    assert projections(platform.store.client) == kept
    again = play.act_at_table(platform, timed, cyd, {"type": "take_over", "seat": "one"}, request="t1")
    assert (again.repeated, again.entries) == (True, taken.entries)
    assert first.first == 4
    with pytest.raises(NotSeated):
        play.play(platform, timed, "one", [{"type": "roll"}], request="r2", player=ann)
    assert audit(platform, timed).findings == []


def test_a_takeback_is_an_entry_that_others_see_as_the_game_shows_its_document(
    platform: Platform, machine: Machine, timed: str, ann: str, bob: str
) -> None:
    before = recall.position(platform, timed)
    play.play(platform, timed, "one", [{"type": "add", "by": 3, "stay": False}], player=ann)
    assert {"type": "offer", "what": "takeback"} in [choice["action"] for choice in choices(Stored(platform, machine, timed, [ann]), "one")]
    play.act_at_table(platform, timed, "one", {"type": "offer", "what": "takeback", "version": before.version}, player=ann)
    restored = play.act_at_table(platform, timed, "two", {"type": "accept", "what": "takeback"}, player=bob).position
    assert restored.document == before.document
    assert (restored.version, restored.fixed) == (before.version + 3, before.version + 3)
    assert audit(platform, timed).findings == []
