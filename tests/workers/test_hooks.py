"""Webhooks: what is sent, to whom and how often, whatever receivers do and whatever dies."""

from __future__ import annotations

import asyncio
import base64
import os
import signal
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import nacl.signing
import pytest
from jsonschema_rs import Draft202012Validator
from standardwebhooks import WebhookVerificationError

from events import accounts, play
from events.errors import HookOff, NoSuchDelivery, NoSuchHook, Reused, TooManyHooks
from events.hooks import deliveries, push, subscriptions
from events.hooks.deliveries import KEPT, Outcome
from events.hooks.messages import Reader, public_key, trial
from events.hooks.pace import MESSAGES, MESSAGES_SECONDS, PATIENCE_MS
from events.hooks.subscriptions import FAILING, GONE, MOST_HOOKS, ORGANISER, OVERLAP, Hook, secret_of
from events.platform import Platform
from events.rebuild import rebuild
from events.store.accounts import ADMIN
from events.store.hooks import Cursor, Unsent
from events.timing.clock import wall_time
from record.notices import KINDS
from tests.conftest import Servers, keeper_of, take_seat, within
from tests.pushing import Browser, claims
from tests.workers.conftest import PATIENCE, Hire
from tests.workers.receiving import Received, Receiver, permitting, receiving, sending
from workers.hooks import gates, posting, sender
from workers.hooks.gates import DELAYS, OF_HOOK, OF_HOST, OF_ILL_HOOK, OF_NEW_HOOK, OF_PLAYER, SLOT, Gates, delay_after

NO_CLOCK = {"clock": {"kind": "none"}}
SHAPES = {kind: Draft202012Validator(row.shape.schema) for kind, row in KINDS.items()}


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as found:
        yield found


@pytest.fixture
def here(platform: Platform, receiver: Receiver) -> Platform:
    return permitting(platform, receiver.origin)


@pytest.fixture
def permits(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    """The operator of processes that are started permits the receiver."""
    monkeypatch.setenv("WARLEDGER_HOOK_ORIGINS", receiver.origin)


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What has failed is tried again at once."""
    monkeypatch.setattr(gates, "DELAYS", (0,))


def player(platform: Platform, name: str = "Ada") -> str:
    return accounts.register(platform, name)[0].id


def hooked(platform: Platform, receiver: Receiver, owner: str, path: str = "/", *kinds: str, **more: str) -> Hook:
    return subscriptions.create(platform, owner, ADMIN, f"{receiver.origin}{path}", kinds or [*KINDS], **more)


def created(platform: Platform, owner: str) -> str:
    seats = {"one": "me", "two": "open"}
    return play.create(platform, owner, "tally", seats, {"target": 30}, settings=NO_CLOCK).match


def begun(platform: Platform, ada: str, ben: str) -> str:
    """Begin a match between two players. Ada hears of `joined`, `started` and `turn`, Ben of `started`."""
    match = created(platform, ada)
    take_seat(platform, match, ben, "two")
    play.play(platform, match, "system", [{"type": "advance"}])
    return match


def turn(platform: Platform, match: str, seat: str) -> None:
    """Let a seat end its turn. After the second seat the system opens the next round."""
    play.play(platform, match, seat, [{"type": "add", "by": 1, "stay": False}])
    if seat == "two":
        play.play(platform, match, "system", [{"type": "advance"}])


def kinds(received: list[Received]) -> list[str]:
    return [got.id.split("-")[3] for got in received]


def known(platform: Platform, owner: str, hook: Hook) -> Hook:
    return subscriptions.get(platform, owner, hook.id)


def all_is_sent(platform: Platform) -> None:
    """Wait until nothing is left to send."""
    within(PATIENCE, lambda: platform.store.hooks.size() == 0)


def unsent(platform: Platform) -> list[Unsent]:
    """Take everything that is to be sent now."""
    return platform.store.hooks.claim(0, 100, 10**9)[0]


# ---------------------------------------------------------------- what arrives


def test_events_arrive_with_signatures_that_the_reference_library_and_the_key_of_the_server_check(
    here: Platform, receiver: Receiver
) -> None:
    ada, ben = player(here), player(here, "Ben")
    hook = hooked(here, receiver, ada)
    with sending(here):
        match = begun(here, ada, ben)
        got = receiver.wait(3)
    assert kinds(got) == ["joined", "started", "turn"]
    key = nacl.signing.VerifyKey(base64.b64decode(public_key(here).removeprefix("whpk_")))
    for each in got:
        content = each.checked(secret_of(here, ada, hook))
        data = content["data"]
        SHAPES[content["type"]].validate(data)
        assert content["type"] == data["type"]
        assert each.id == f"{match}-{data['version']}-{data['index']}-{data['type']}-{hook.id}"
        assert each.headers["content-type"] == "application/json"
        by_server = [part.partition(",")[2] for part in each.headers["webhook-signature"].split(" ") if part.startswith("v1a,")]
        signed = f"{each.id}.{each.headers['webhook-timestamp']}.".encode() + each.body
        key.verify(signed, base64.b64decode(by_server[0]))
        with pytest.raises(WebhookVerificationError):
            each._replace(body=each.body + b" ").checked(secret_of(here, ada, hook))
        with pytest.raises(WebhookVerificationError):
            each.checked(secret_of(here, ben, hook))


def test_a_hook_sends_its_kinds_for_its_match_to_its_player_alone(here: Platform, receiver: Receiver) -> None:
    ada, ben, cleo = player(here), player(here, "Ben"), player(here, "Cleo")
    other = created(here, ada)
    hooked(here, receiver, ada, "/kinds", "started")
    hooked(here, receiver, ada, "/match", match=other)
    hooked(here, receiver, ben, "/ben")
    hooked(here, receiver, cleo, "/cleo")
    with sending(here):
        begun(here, ada, ben)
        take_seat(here, other, ben, "two")
        receiver.wait(2, "/kinds"), receiver.wait(2, "/match"), receiver.wait(2, "/ben")
    assert kinds(receiver.wait(0, "/kinds")) == ["started", "started"]
    assert {got.id.split("-")[0] for got in receiver.wait(0, "/match")} == {other}
    assert set(kinds(receiver.wait(0, "/ben"))) == {"started"}
    assert receiver.wait(0, "/cleo") == []


def test_an_organiser_hears_what_players_are_told_and_players_do_not(here: Platform, receiver: Receiver) -> None:
    owner, ada, ben = player(here, "Otto"), player(here), player(here, "Ben")
    hooked(here, receiver, owner, "/organiser", "turn", "joined", role=ORGANISER)
    hooked(here, receiver, owner, "/player", "turn")
    with sending(here):
        match = play.create(here, owner, "tally", {"one": "open", "two": "open"}, {"target": 30}, settings=NO_CLOCK).match
        take_seat(here, match, ada, "one")
        take_seat(here, match, ben, "two")
        play.play(here, match, "system", [{"type": "advance"}])
        turn(here, match, "one")
        got = receiver.wait(4, "/organiser")
    assert kinds(got) == ["joined", "joined", "turn", "turn"]
    assert receiver.wait(0, "/player") == []


def test_what_happened_before_a_hook_was_made_is_not_sent(here: Platform, receiver: Receiver) -> None:
    ada, ben = player(here), player(here, "Ben")
    match = begun(here, ada, ben)
    hooked(here, receiver, ada)
    with sending(here):
        turn(here, match, "one")
        turn(here, match, "two")
        assert kinds(receiver.wait(1)) == ["turn"]
    assert len(receiver.received) == 1


def test_nothing_is_due_for_a_hook_to_which_nothing_is_told(here: Platform, receiver: Receiver) -> None:
    ada, ben, cleo = player(here), player(here, "Ben"), player(here, "Cleo")
    hooked(here, receiver, ada, match=created(here, ada))
    hooked(here, receiver, ben, role=ORGANISER)
    hooked(here, receiver, cleo)
    begun(here, ada, ben)
    assert here.store.hooks.size() == 0


def test_a_hook_reads_what_its_player_is_told_in_its_role(here: Platform, receiver: Receiver) -> None:
    ada, ben, cleo = player(here), player(here, "Ben"), player(here, "Cleo")
    match = begun(here, ada, ben)
    turn(here, match, "one")

    def read(owner: str, *wanted: str, **more: str) -> list[str]:
        messages, version, at_head = Reader(here).after(owner, hooked(here, receiver, owner, "/", *wanted, **more), match, 0)
        assert (version, at_head) == (4, True)
        return [message.kind for message in messages]

    assert read(ada) == ["joined", "started", "turn"]
    assert read(ada, "turn") == ["turn"]
    assert read(ada, role=ORGANISER) == ["joined", "started", "turn", "turn"]
    assert read(ada, match=created(here, ada)) == []
    assert read(ben) == ["started", "turn"]
    assert read(ben, role=ORGANISER) == []
    assert read(cleo) == []


def test_a_match_without_hooks_leaves_nothing(here: Platform, servers: Servers) -> None:
    begun(here, player(here), player(here, "Ben"))
    assert [key for key in servers.keeper.keys("*") if key.endswith((b":hooks", b":cursors", b":hooked"))] == []


def test_nothing_stays_in_the_index_once_all_is_sent(here: Platform, receiver: Receiver) -> None:
    ada, ben = player(here), player(here, "Ben")
    hooked(here, receiver, ada)
    begun(here, ada, ben)
    assert here.store.hooks.size() == 1
    with sending(here):
        receiver.wait(3)
        all_is_sent(here)


# ---------------------------------------------------------------- secrets


def test_both_secrets_sign_for_a_day_after_a_rotation(here: Platform, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    ada = player(here)
    hook = hooked(here, receiver, ada)
    old = secret_of(here, ada, hook)
    new = secret_of(here, ada, subscriptions.rotate(here, ada, ADMIN, hook.id))
    assert old != new
    with sending(here):
        deliveries.send_test(here, ada, hook.id)
        both = receiver.wait(1)[0]
        subscriptions.rotate(here, ada, ADMIN, hook.id, 0)
        deliveries.send_test(here, ada, hook.id)
        last = receiver.wait(2)[1]
    assert both.checked(old) == both.checked(new)
    assert last.checked(secret_of(here, ada, known(here, ada, hook)))
    for gone in (old, new):
        with pytest.raises(WebhookVerificationError):
            last.checked(gone)


def test_the_old_secret_ends_with_the_overlap(here: Platform, receiver: Receiver) -> None:
    ada = player(here)
    hook = subscriptions.rotate(here, ada, ADMIN, hooked(here, receiver, ada).id)
    now = wall_time()
    assert len(subscriptions.valid_secrets(here, ada, hook, now)) == 2
    assert len(subscriptions.valid_secrets(here, ada, hook, now + OVERLAP * 1000 + 1000)) == 1


# ---------------------------------------------------------------- receivers that fail


def failing(times: int, status: int = 500) -> Callable[[BaseHTTPRequestHandler], int]:
    """Return an answer that fails some times."""
    left = [times]

    def answer(_: BaseHTTPRequestHandler) -> int:
        left[0] -= 1
        return status if left[0] >= 0 else 204

    return answer


@pytest.mark.usefixtures("at_once")
def test_a_message_that_fails_comes_again_with_the_same_id_and_the_others_wait_for_it(here: Platform, receiver: Receiver) -> None:
    ada, ben = player(here), player(here, "Ben")
    hook = hooked(here, receiver, ada)
    receiver.answers["/"] = failing(3)
    with sending(here):
        begun(here, ada, ben)
        got = receiver.wait(6)
        all_is_sent(here)
    assert kinds(got) == ["joined"] * 4 + ["started", "turn"]
    assert len({each.id for each in got[:4]}) == 1
    listed = deliveries.listed(here, ada, hook.id)
    assert [(each.kind, each.number, each.status) for each in reversed(listed)] == [
        *(("joined", number, status) for number, status in ((1, 500), (2, 500), (3, 500), (4, 204))),
        ("started", 1, 204),
        ("turn", 1, 204),
    ]


def test_a_message_that_fails_waits_and_keeps_its_place(here: Platform, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if the sender stops while it notes that the message has failed."""
    stops, note, hand_back = threading.Event(), deliveries.note, sender.Sender._hand_back

    async def handed_back(self: sender.Sender) -> None:
        handing = asyncio.ensure_future(hand_back(self))
        for _ in range(9):
            await asyncio.sleep(0)
        stops.set()
        await handing

    monkeypatch.setattr(deliveries, "note", lambda *given: (note(*given), stops.wait(PATIENCE)))
    monkeypatch.setattr(sender.Sender, "_hand_back", handed_back)
    ada, ben = player(here), player(here, "Ben")
    hook = hooked(here, receiver, ada)
    receiver.answers["/"] = failing(1)
    with sending(here):
        match = begun(here, ada, ben)
        within(PATIENCE, lambda: deliveries.listed(here, ada, hook.id))
    turn(here, match, "one")  # it does not bring the next try forward
    assert unsent(here) == []
    (left,) = here.store.hooks.claim(0, 10, 0)[0]
    assert left.cursor.version <= 1  # `joined` is of version 2
    assert left.cursor.tries == 1
    assert 0 < wall_time() - left.cursor.since < 60_000


def test_delays_grow_over_three_days_to_an_hour() -> None:
    assert [delay_after(fails) for fails in (1, 2, 3, 4, 5, 6, 100)] == [5, 60, 300, 1800, 3600, 3600, 3600]
    assert PATIENCE_MS == 3 * 24 * 3600 * 1000


@pytest.mark.usefixtures("at_once")
def test_410_ends_a_hook(here: Platform, receiver: Receiver) -> None:
    ada, ben = player(here), player(here, "Ben")
    hook = hooked(here, receiver, ada)
    other = hooked(here, receiver, ada, "/other")
    receiver.answers["/"] = lambda _: 410
    with sending(here):
        begun(here, ada, ben)
        receiver.wait(1, "/")
        receiver.wait(3, "/other")
        all_is_sent(here)
    stopped = known(here, ada, hook).stopped
    assert stopped is not None
    assert stopped[0] == GONE
    assert not known(here, ada, hook).on
    assert len(receiver.wait(0, "/")) == 1
    with pytest.raises(HookOff):
        deliveries.send_test(here, ada, hook.id)
    assert known(here, ada, other).on
    turned_on = subscriptions.change(here, ada, ADMIN, hook.id, on=True)
    assert (turned_on.on, turned_on.stopped) == (True, None)


# ---------------------------------------------------------------- browsers


def called(platform: Platform, receiver: Receiver, owner: str, browser: Browser, path: str) -> Hook:
    keys = browser.keys["p256dh"], browser.keys["auth"]
    return subscriptions.create(platform, owner, ADMIN, f"{receiver.origin}{path}", [*KINDS], push=keys)


def test_a_browser_is_told_what_a_hook_is_and_a_push_service_sees_nothing_of_it(here: Platform, receiver: Receiver) -> None:
    ada, ben, browser = player(here), player(here, "Ben"), Browser()
    called(here, receiver, ada, browser, "/push")
    hooked(here, receiver, ada, "/hook")
    with sending(here):
        begun(here, ada, ben)
        got, plain = receiver.wait(3, "/push"), receiver.wait(3, "/hook")
    assert [browser.read(each.body) for each in got] == [each.body for each in plain]
    for each in got:
        headers = {name: value for name, value in each.headers.items() if name != "authorization"}
        assert headers == {
            "host": receiver.origin.removeprefix("http://"),
            "content-length": str(len(got[0].body)),
            "user-agent": "Warledger (webhooks)",
            "accept": "*/*",
            "accept-encoding": "identity",
            "content-type": "application/octet-stream",
            "content-encoding": "aes128gcm",
            "ttl": "86400",
            "urgency": "high",
        }
        assert claims(each.headers["authorization"], push.public_key(here))["aud"] == receiver.origin


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("status", [404, 410])
def test_a_subscription_that_has_ended_is_removed(here: Platform, receiver: Receiver, status: int) -> None:
    ada, ben = player(here), player(here, "Ben")
    called(here, receiver, ada, Browser(), "/gone")
    stays = called(here, receiver, ada, Browser(), "/stays")
    receiver.answers["/gone"] = lambda _: status
    with sending(here):
        begun(here, ada, ben)
        receiver.wait(3, "/stays")
        all_is_sent(here)
    assert subscriptions.listed(here, ada) == [stays]
    assert len(receiver.wait(0, "/gone")) == 1


def old(platform: Platform, arrived: int) -> None:
    """Let what is to be sent have failed for three days, while other messages arrived at a moment."""
    for left in unsent(platform):
        since = wall_time() - PATIENCE_MS - 1000
        assert platform.store.hooks.put_off(left, Cursor(left.cursor.version, since, 70), 0)
        if arrived:
            hook = subscriptions.get(platform, left.player, left.hook)
            deliveries.note(platform, left.player, hook, trial(hook, 1), 1, False, Outcome(1, 200))


def test_a_hook_of_which_nothing_arrives_for_three_days_is_turned_off(here: Platform, receiver: Receiver) -> None:
    ada, ben = player(here), player(here, "Ben")
    hook = hooked(here, receiver, ada)
    receiver.answers["/"] = lambda _: 500
    begun(here, ada, ben)
    old(here, arrived=False)
    with sending(here):
        receiver.wait(1)
        all_is_sent(here)
    stopped = known(here, ada, hook).stopped
    assert stopped is not None
    assert stopped[0] == FAILING


def test_a_message_that_fails_for_three_days_while_others_arrive_is_given_up(here: Platform, receiver: Receiver) -> None:
    ada, ben = player(here), player(here, "Ben")
    hook = hooked(here, receiver, ada)
    receiver.answers["/"] = failing(1)
    begun(here, ada, ben)
    old(here, arrived=True)
    with sending(here):
        got = receiver.wait(2)
    assert kinds(got) == ["joined", "turn"]  # `joined` and `started` are of one entry
    assert known(here, ada, hook).on


def test_once_something_arrives_again_all_that_waits_is_sent(here: Platform, receiver: Receiver) -> None:
    ada, ben = player(here), player(here, "Ben")
    hook = hooked(here, receiver, ada)
    receiver.answers["/"] = failing(1000)
    with sending(here):
        matches = [begun(here, ada, ben) for _ in range(3)]
        within(PATIENCE, lambda: deliveries.listed(here, ada, hook.id))
        receiver.answers["/"] = lambda _: 204
        deliveries.send_test(here, ada, hook.id)
        all_is_sent(here)
    assert len({got.id for got in receiver.received}) == 1 + 3 * len(matches)


# ---------------------------------------------------------------- nobody waits for somebody else


def test_receivers_that_hang_delay_nobody_else(here: Platform, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    ada, ben, mallory = player(here), player(here, "Ben"), player(here, "Mallory")
    monkeypatch.setattr(posting, "SECONDS", PATIENCE)
    hung = threading.Event()

    def hang(_: BaseHTTPRequestHandler) -> int:
        hung.wait(PATIENCE)
        return -1

    for number in range(MOST_HOOKS):
        receiver.answers[f"/hang{number}"] = hang
        hooked(here, receiver, mallory, f"/hang{number}")
    hooked(here, receiver, ada, "/quick")
    with sending(here):
        for _ in range(10):
            begun(here, mallory, ben)
        receiver.wait(OF_PLAYER)
        begun(here, ada, ben)
        got = receiver.wait(3, "/quick")
        waiting = [each for each in receiver.received if each.path.startswith("/hang")]
        hung.set()
    assert kinds(got) == ["joined", "started", "turn"]
    assert len(waiting) == OF_PLAYER  # no answer came meanwhile, so no other message of theirs was let go


class Still:
    """A clock that a test sets, in seconds."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_gates_bound_what_is_under_way_of_a_hook_a_player_and_a_host() -> None:
    gate = Gates(Still())
    assert [gate.enter("p", "h", "a", False) is None for _ in range(OF_NEW_HOOK + 1)] == [True] * OF_NEW_HOOK + [False]
    assert not gate.arrived("h")
    assert [gate.enter("p", "h", "a", False) is None for _ in range(OF_HOOK)] == [True] * (OF_HOOK - OF_NEW_HOOK) + [False] * OF_NEW_HOOK
    assert gate.enter("p", "other", "a", False) is not None  # of the player there are enough
    assert OF_PLAYER == OF_HOOK
    gate.leave("p", "h", "a", False)
    assert gate.enter("p", "other", "a", False) is None
    others = [gate.enter(f"p{number}", f"h{number}", "a", False) is None for number in range(OF_HOST)]
    assert others.count(True) == OF_HOST - OF_PLAYER


def test_a_hook_that_failed_rests_and_then_tries_one_message() -> None:
    clock = Still()
    gate = Gates(clock)
    assert gate.failed("h", 1, 0) == (1, 5)
    assert gate.is_ill("h")
    assert gate.enter("p", "h", "a", False) == 5
    assert gate.enter("p", "h", "a", True) is None  # somebody asked for it
    assert gate.enter("p", "h", "a", True) is not None  # one at a time: it may hang as long as it can
    gate.leave("p", "h", "a", True)
    clock.now += 5
    assert [gate.enter("p", "h", "a", False) is None for _ in range(3)] == [True] * OF_ILL_HOOK + [False, False]
    assert gate.failed("h", 1, 0) == (2, 60)  # another match failed before, so this hook has failed twice
    assert gate.failed("h", 1, 0) == (2, 60)  # a message that was under way meanwhile
    clock.now += 60
    assert gate.failed("h", 1, 900) == (3, 900)  # the receiver asks for a longer pause
    assert gate.arrived("h")
    assert not gate.is_ill("h")
    assert not gate.arrived("h")
    assert gate.failed("h", 1, 0) == (1, 5)


def test_too_many_messages_of_a_player_are_spread() -> None:
    clock = Still()
    gate = Gates(clock)
    assert [gate.spend("p") for _ in range(MESSAGES)] == [None] * MESSAGES
    waits = [gate.spend("p") for _ in range(3)]
    assert waits == pytest.approx([SLOT, 2 * SLOT, 3 * SLOT])
    assert gate.spend("other") is None
    clock.now += MESSAGES_SECONDS
    assert gate.spend("p") is None
    assert max(DELAYS) == 3600


# ---------------------------------------------------------------- nothing is lost


def test_a_worker_that_is_killed_and_a_queue_that_is_flushed_lose_nothing(
    lonely: Platform, permits: None, hire: Hire, receiver: Receiver, tmp_path: Path
) -> None:
    here = permitting(lonely, receiver.origin)
    ada, ben = player(here), player(here, "Ben")
    hook = hooked(here, receiver, ada)
    hung = threading.Event()

    def hang(_: BaseHTTPRequestHandler) -> int:
        hung.wait(60)
        return -1

    receiver.answers["/"] = hang
    first = hire("workers.hooks.run")
    match = play.create(here, ada, "war", {"red": "me", "blue": "open"}, {}, settings=NO_CLOCK).match
    take_seat(here, match, ben, "blue")
    receiver.wait(1)
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    here.jobs._connection.flushall()
    receiver.answers["/"] = lambda _: 204
    hung.set()
    keeper = keeper_of(tmp_path)
    for key in keeper.keys("*:hooks"):  # the lease ends
        for member in keeper.zrange(key, 0, -1):
            keeper.zadd(key, {member: 0})
    hire("workers.hooks.run")
    got = receiver.wait(3)
    assert kinds(got)[:3] == ["joined", "joined", "started"]
    assert got[0].id == got[1].id
    assert [each.checked(secret_of(here, ada, hook))["type"] for each in got[1:3]] == ["joined", "started"]


def test_a_sender_that_is_stopped_hands_back_what_is_under_way(here: Platform, receiver: Receiver) -> None:
    ada, ben = player(here), player(here, "Ben")
    hooked(here, receiver, ada)
    hung = threading.Event()
    receiver.answers["/"] = lambda _: 204 if hung.wait(60) else -1
    with sending(here):
        begun(here, ada, ben)
        receiver.wait(1)
    hung.set()
    (left,) = unsent(here)
    assert (left.cursor.version <= 1, left.cursor.tries) == (True, 0)


def test_two_senders_share_what_there_is(here: Platform, receiver: Receiver) -> None:
    ada, ben = player(here), player(here, "Ben")
    hooked(here, receiver, ada, "/", "started")
    with sending(here), sending(here):
        matches = {begun(here, ada, ben) for _ in range(12)}
        got = receiver.wait(len(matches))
    assert sorted(each.id.split("-")[0] for each in got) == sorted(matches)


def test_rebuild_restores_what_hooks_have_to_send(here: Platform, receiver: Receiver, servers: Servers) -> None:
    ada, ben, cleo = player(here), player(here, "Ben"), player(here, "Cleo")
    hooked(here, receiver, ada)
    gone = hooked(here, receiver, cleo)
    match = begun(here, ada, ben)
    tag = here.store.keys.tag(match)
    before = servers.keeper.zrange(f"{tag}:hooks", 0, -1), servers.keeper.hgetall(f"{tag}:hooked")
    assert before[0]
    servers.keeper.delete(f"{tag}:hooks", f"{tag}:hooked", "{p3}:hooked")
    servers.keeper.zadd(f"{tag}:hooks", {f"{match}|{cleo}/{gone.id}": 5})
    servers.keeper.hset("{p5}:hooked", ben, "3 hbbbbbbbbbbbbbbbb")
    rebuild(here)
    assert (servers.keeper.zrange(f"{tag}:hooks", 0, -1), servers.keeper.hgetall(f"{tag}:hooked")) == before
    assert [sorted(servers.keeper.hkeys(f"{{{one}}}:hooked")) for one in ("p3", "p5")] == [sorted([ada.encode(), cleo.encode()])] * 2
    with sending(here):
        assert kinds(receiver.wait(3)) == ["joined", "started", "turn"]


def test_a_change_that_was_cut_short_is_made_known_by_a_worker(here: Platform, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    ada, ben = player(here), player(here, "Ben")

    def dies(*_: Any) -> None:
        raise InterruptedError

    with monkeypatch.context() as patch:
        patch.setattr(here.store.hooks, "tell", dies)
        with pytest.raises(InterruptedError):
            hooked(here, receiver, ada)
    assert here.store.accounts.untold(10) == [ada]
    with sending(here):
        within(PATIENCE, lambda: not here.store.accounts.untold(10))
        begun(here, ada, ben)
        receiver.wait(3)


def test_what_a_wrong_clock_put_off_for_days_is_sent(here: Platform, receiver: Receiver, servers: Servers) -> None:
    ada, ben = player(here), player(here, "Ben")
    hooked(here, receiver, ada)
    match = begun(here, ada, ben)
    key = f"{here.store.keys.tag(match)}:hooks"
    servers.keeper.zadd(key, {servers.keeper.zrange(key, 0, 0)[0]: wall_time() + 86_400_000})
    with sending(here):
        receiver.wait(3)


def test_what_is_appended_while_a_message_is_on_its_way_is_due_once_it_is_handed_in(here: Platform, receiver: Receiver) -> None:
    ada, ben = player(here), player(here, "Ben")
    hooked(here, receiver, ada)
    match = created(here, ada)
    take_seat(here, match, ben, "two")
    (taken,) = here.store.hooks.claim(60_000, 10, 10**9)[0]
    assert taken.cursor == Cursor(1)
    play.play(here, match, "system", [{"type": "advance"}])
    assert unsent(here) == []  # it is on its way
    assert here.store.hooks.finish(taken, 2)
    (left,) = unsent(here)
    assert left == taken._replace(cursor=Cursor(2))
    assert not here.store.hooks.finish(taken, 3)  # another worker has handed in more
    assert here.store.hooks.finish(left, 3)
    assert here.store.hooks.size() == 0


# ---------------------------------------------------------------- deliveries


def test_deliveries_are_listed_with_their_answers_and_the_oldest_go(here: Platform, receiver: Receiver) -> None:
    ada = player(here)
    hook = hooked(here, receiver, ada)
    for number in range(KEPT + 3):
        assert deliveries.note(here, ada, hook, trial(hook, number), 1, False, Outcome(number, 200, "yes"))
    found = deliveries.listed(here, ada, hook.id)
    assert [delivery.ms for delivery in found] == [*range(KEPT + 2, 2, -1)]
    assert {(delivery.status, delivery.answer, delivery.failure) for delivery in found} == {(200, "yes", None)}


def test_a_message_is_sent_again_once_with_the_same_id_and_body(here: Platform, receiver: Receiver) -> None:
    ada, ben = player(here), player(here, "Ben")
    hook = hooked(here, receiver, ada)
    with sending(here):
        match = begun(here, ada, ben)
        got = receiver.wait(3)
        turn(here, match, "one")
        turn(here, match, "two")
        receiver.wait(4)
        receiver.answers["/"] = lambda _: 503
        deliveries.send_again(here, ada, hook.id, got[2].id)
        again = receiver.wait(5)[4]
        within(PATIENCE, lambda: len(deliveries.listed(here, ada, hook.id)) == 5)
        all_is_sent(here)
    assert (again.id, again.body) == (got[2].id, got[2].body)
    newest = deliveries.listed(here, ada, hook.id)[0]
    assert (newest.id, newest.again, newest.status) == (again.id, True, 503)  # it is not tried once more
    for unknown in (got[2].id + "x", got[2].id.replace("-turn-", "-over-"), f"{match}-9-9-turn-{hook.id}"):
        with pytest.raises(NoSuchDelivery):
            deliveries.send_again(here, ada, hook.id, unknown)


def test_a_test_is_sent_and_listed(here: Platform, receiver: Receiver) -> None:
    ada = player(here)
    hook = hooked(here, receiver, ada)
    with sending(here):
        message = deliveries.send_test(here, ada, hook.id)
        (got,) = receiver.wait(1)
        assert got.id == message.id
        assert got.checked(secret_of(here, ada, hook))["data"]["hook"] == hook.id
        within(PATIENCE, lambda: deliveries.listed(here, ada, hook.id))
        deliveries.send_again(here, ada, hook.id, message.id)
        assert receiver.wait(2)[1].body == got.body


def test_a_message_that_is_called_for_while_a_worker_has_it_is_sent_once_more(here: Platform, receiver: Receiver) -> None:
    ada = player(here)
    hook = hooked(here, receiver, ada)
    message = deliveries.send_test(here, ada, hook.id)
    (taken,) = here.store.hooks.claim(60_000, 10, 10**9)[0]
    deliveries.note(here, ada, hook, message, 1, False, Outcome(1, 200))
    deliveries.send_again(here, ada, hook.id, message.id)
    assert not here.store.hooks.finish(taken, None)
    (anew,) = here.store.hooks.claim(60_000, 10, 10**9)[0]
    assert anew.message == taken.message
    assert here.store.hooks.finish(anew, None)
    assert here.store.hooks.size() == 0


# ---------------------------------------------------------------- making and deleting


def test_a_deleted_hook_sends_nothing_and_leaves_nothing(here: Platform, receiver: Receiver, servers: Servers) -> None:
    ada, ben = player(here), player(here, "Ben")
    hook = hooked(here, receiver, ada)
    deliveries.note(here, ada, hook, trial(hook, 1), 1, False, Outcome(1, 200))
    begun(here, ada, ben)
    subscriptions.delete(here, ada, ADMIN, hook.id)
    with sending(here):
        all_is_sent(here)
    assert receiver.received == []
    assert not deliveries.note(here, ada, hook, trial(hook, 1), 1, False, Outcome(1, 200))  # one that was under way
    left = [key for key in servers.keeper.keys("*") if b":hook" in key or b":l:" in key or b":cursors" in key]
    assert left == []
    with pytest.raises(NoSuchHook):
        deliveries.listed(here, ada, hook.id)


def test_deleting_a_player_ends_all_hooks(here: Platform, receiver: Receiver, servers: Servers) -> None:
    ada, _ = accounts.register(here, "Ada")
    ben = player(here, "Ben")
    hook = hooked(here, receiver, ada.id)
    deliveries.note(here, ada.id, hook, trial(hook, 1), 1, False, Outcome(1, 200))
    match = begun(here, ada.id, ben)
    signer = accounts.Signer(accounts.first_key(ada.id), accounts.key_of(here, ada.id, accounts.first_key(ada.id)).hash)
    accounts.delete(here, ada.id, signer)
    with sending(here):
        all_is_sent(here)
        within(PATIENCE, lambda: not here.store.accounts.untold(1))
    turn(here, match, "one")
    assert receiver.received == []
    assert [name for name in servers.keeper.keys("*") if b":hook" in name or b":l:" in name or b":cursors" in name] == []


def test_a_hook_that_is_off_sends_nothing(here: Platform, receiver: Receiver) -> None:
    ada, ben = player(here), player(here, "Ben")
    hook = hooked(here, receiver, ada)
    subscriptions.change(here, ada, ADMIN, hook.id, on=False)
    match = begun(here, ada, ben)
    assert here.store.hooks.size() == 0
    subscriptions.change(here, ada, ADMIN, hook.id, on=True, kinds=["turn"], url=f"{receiver.origin}/new")
    with sending(here):
        turn(here, match, "one")
        turn(here, match, "two")
        assert [got.path for got in receiver.wait(1)] == ["/new"]


def test_a_request_that_comes_again_makes_no_other_hook(here: Platform, receiver: Receiver) -> None:
    ada = player(here)
    made = hooked(here, receiver, ada, request="once")
    assert hooked(here, receiver, ada, request="once") == made
    with pytest.raises(Reused):
        hooked(here, receiver, ada, "/other", request="once")
    subscriptions.delete(here, ada, ADMIN, made.id)
    with pytest.raises(Reused):
        hooked(here, receiver, ada, request="once")


def test_a_player_has_a_bounded_number_of_hooks(here: Platform, receiver: Receiver) -> None:
    ada = player(here)
    for _ in range(MOST_HOOKS):
        hooked(here, receiver, ada)
    with pytest.raises(TooManyHooks):
        hooked(here, receiver, ada)
    assert len(subscriptions.listed(here, ada)) == MOST_HOOKS


def test_a_worker_does_not_turn_off_a_hook_that_has_changed(here: Platform, receiver: Receiver) -> None:
    ada = player(here)
    before = hooked(here, receiver, ada)
    after = subscriptions.change(here, ada, ADMIN, before.id, url=f"{receiver.origin}/moved")
    subscriptions.stop(here, ada, before, GONE)
    assert known(here, ada, before) == after


def test_the_lease_is_longer_than_a_message_takes() -> None:
    assert sender.LEASE_MS >= 2 * sender.SECONDS * 1000
    assert sender.LONGEST_MS > 3600_000
