"""Webhooks: what is sent, to whom and how often, whatever receivers do."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from events import accounts, play
from events.hooks import subscriptions
from events.hooks.subscriptions import Hook, secret_of
from events.platform import Platform
from events.store.accounts import ADMIN
from record.notices import KINDS
from tests.conftest import take_seat
from tests.workers.receiving import Receiver, permitting, receiving, sending


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as found:
        yield found


@pytest.fixture
def here(platform: Platform, receiver: Receiver) -> Platform:
    return permitting(platform, receiver.origin)


def player(platform: Platform, name: str) -> str:
    return accounts.register(platform, name)[0].id


def hooked(platform: Platform, receiver: Receiver, player: str, path: str = "/", *kinds: str, **more: str) -> Hook:
    return subscriptions.create(platform, player, ADMIN, f"{receiver.origin}{path}", kinds or [*KINDS], **more)


def test_events_arrive_signed(here: Platform, receiver: Receiver) -> None:
    ada, ben = player(here, "Ada"), player(here, "Ben")
    hook = hooked(here, receiver, ada)
    with sending(here):
        match = play.create(here, ada, "tally", {"one": "me", "two": "open"}, {"target": 30}, settings={"clock": {"kind": "none"}}).match
        take_seat(here, match, ben, "two")
        play.play(here, match, "system", [{"type": "advance"}])
        got = receiver.wait(3)
    print([g.checked(secret_of(here, ada, hook)) for g in got])
    print(got[0].headers)
