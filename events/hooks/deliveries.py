"""Deliveries: what a hook has sent lately, with the answers. Each try is one. They can be sent again, and a test can be sent."""

from __future__ import annotations

from typing import Any, NamedTuple

import orjson

from events.errors import HookOff, NoSuchDelivery
from events.hooks import subscriptions
from events.hooks.messages import Message, trial
from events.hooks.subscriptions import Hook
from events.platform import Platform
from events.timing.clock import wall_time

KEPT = 100  # of a hook, the newest ones
LONGEST_ANSWER = 200  # characters that are kept of an answer

# Why nothing was answered.
ADDRESS = "address"
NAME = "name"
CONNECTION = "connection"
CERTIFICATE = "certificate"
TIME = "time"
ANSWER = "answer"
FAILURES = (ADDRESS, NAME, CONNECTION, CERTIFICATE, TIME, ANSWER)


class Outcome(NamedTuple):
    """How a message was answered: the status and the beginning of the answer, or one of `FAILURES`. `ms`: how long it took."""

    ms: int
    status: int | None = None
    answer: str = ""
    failure: str | None = None
    retry_after: int = 0

    @property
    def arrived(self) -> bool:
        """True if the receiver has taken the message."""
        return self.status is not None and 200 <= self.status < 300


class Delivery(NamedTuple):
    """A try to send a message at a moment (ms since 1970). `number`: the first try of a message is 1. `again`: somebody asked for it."""

    id: str
    kind: str
    about: tuple[str, int, int] | None
    entry: int
    at: int
    number: int
    again: bool
    ms: int
    status: int | None
    answer: str
    failure: str | None


def note(platform: Platform, player: str, hook: Hook, message: Message, number: int, again: bool, outcome: Outcome) -> bool:
    """Note a try. Return False if the hook is deleted. Raises StoreUnavailable."""
    now = wall_time()
    tried = Delivery(
        *(message.id, message.kind, message.about, message.entry, now, number, again),
        *(outcome.ms, outcome.status, outcome.answer[:LONGEST_ANSWER], outcome.failure),
    )
    arrived = now if outcome.arrived else None
    return platform.store.accounts.note_delivery(player, hook.id, orjson.dumps(tried._asdict()), KEPT, arrived)


def listed(platform: Platform, player: str, hook: str) -> list[Delivery]:
    """Return the newest deliveries of a hook, the newest first. Raises NoSuchHook, StoreUnavailable."""
    subscriptions.get(platform, player, hook)
    return _newest(platform.store.accounts.deliveries(player, hook))


def last_arrival(platform: Platform, player: str, hook: str) -> int:
    """Return when a message of a hook last arrived (ms since 1970), or 0. Raises StoreUnavailable."""
    return int(platform.store.accounts.deliveries(player, hook).get("arrived", 0))


def send_again(platform: Platform, player: str, hook: str, id: str) -> None:
    """Let a hook send a message again that is among its newest deliveries. Raises NoSuchHook, NoSuchDelivery, HookOff, StoreUnavailable."""
    found = next((delivery for delivery in listed(platform, player, hook) if delivery.id == id), None)
    if found is None:
        raise NoSuchDelivery
    _call(platform, player, hook, hook if found.about is None else found.about[0], f"{found.id}-{found.entry}")


def send_test(platform: Platform, player: str, hook: str) -> Message:
    """Let a hook send a test, and return it. Raises NoSuchHook, HookOff, StoreUnavailable."""
    message = trial(subscriptions.get(platform, player, hook), wall_time())
    _call(platform, player, hook, hook, f"{message.id}-0")
    return message


def _call(platform: Platform, player: str, hook: str, where: str, message: str) -> None:
    """Let a hook send one message. `where`: the match, or the hook itself. `message`: its id, and the version of its entry."""
    if not subscriptions.get(platform, player, hook).on:
        raise HookOff
    platform.store.hooks.call(where, f"{player}/{hook}/{message}")


def _newest(stored: dict[str, bytes]) -> list[Delivery]:
    number = int(stored.get("number", 0))
    raws = [stored[str(place % KEPT)] for place in range(number - 1, max(-1, number - 1 - KEPT), -1)]
    return [_delivery(orjson.loads(raw)) for raw in raws]


def _delivery(fields: dict[str, Any]) -> Delivery:
    about = fields["about"]
    return Delivery(**{**fields, "about": None if about is None else tuple(about)})
