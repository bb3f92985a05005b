"""Send what hooks have to send: take it from the index, post it, note the answer, and move the cursor.

A message is sent at least once, and the messages of a match to a hook in their order. Nothing is lost with this process: what it has taken
is due again after the lease.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import zip_longest
from typing import Any, TypeVar

import structlog
from cachetools import LRUCache

from events.errors import NoMatch, NoSuchHook, StoreRefused, StoreUnavailable
from events.hooks import deliveries, subscriptions
from events.hooks.addresses import target
from events.hooks.deliveries import Outcome
from events.hooks.messages import Message, Reader, posted
from events.hooks.pace import PATIENCE_MS
from events.hooks.subscriptions import FAILING, GONE, Hook
from events.platform import Platform
from events.store.accounts import ADMIN
from events.store.hooks import Cursor, Unsent
from events.telemetry import metrics
from events.timing.clock import wall_time
from workers.hooks.gates import DELAYS, Gates
from workers.hooks.posting import LONGEST_PAUSE, SECONDS, Headers, Poster

MOST = 256  # things under way at the same time
STEP_SECONDS = 20.0  # after which no other message of the same match and hook begins
LEASE_MS = round(SECONDS * 2000)  # it is renewed after each message
LONGEST_MS = 1000 * max(*DELAYS, LONGEST_PAUSE) + LEASE_MS  # nothing is put off for longer
IDLE = 5.0  # seconds between two looks while nothing is due and nothing new is heard
AGAIN = 1.0  # seconds until the next look after the store did not answer
TELL_SECONDS = 5.0  # between two looks for changes of hooks that were cut short
THREADS = 4  # that read and write the store
GONE_STATUS = 410
PUSH_GONE = (404, GONE_STATUS)  # of a push subscription that the browser has ended
WAITING, WAITING_HOOKS = 100, 1000  # things of a hook that rests, which are due once something arrives; and hooks that have some

Found = TypeVar("Found")

log = structlog.get_logger(__name__)


class Sender:
    """Sends webhooks until it is stopped. `run` and `stop` belong to one event loop."""

    def __init__(self, platform: Platform, poster: Poster, promise: Callable[[float], None] = lambda seconds: None) -> None:
        self._platform = platform
        self._poster = poster
        self._promise = promise
        self._reader = Reader(platform)
        self._gates = Gates()
        self._threads = ThreadPoolExecutor(THREADS, "hooks")
        self._under_way: dict[asyncio.Task[None], Unsent] = {}
        self._posting: set[asyncio.Task[None]] = set()  # those that wait for a receiver
        self._left: list[Unsent] = []  # by tasks that ended before they had an answer
        self._waiting: LRUCache[str, list[Unsent]] = LRUCache(WAITING_HOOKS)
        self._wake = asyncio.Event()
        self._stopped = False

    async def run(self) -> None:
        """Send until stopped. Then hand back what is under way."""
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._listen, args=(loop,), name="hooks-news", daemon=True).start()
        tell_at = 0.0
        while not self._stopped:
            self._promise(SECONDS)
            self._wake.clear()
            pause = AGAIN
            try:
                if time.monotonic() >= tell_at:
                    await self._in_thread(subscriptions.tell_all, self._platform)
                    tell_at = time.monotonic() + TELL_SECONDS
                pause = await self._take()
            except (StoreUnavailable, StoreRefused) as reason:
                log.warning("hooks_wait", error=type(reason).__name__)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), pause)
        await self._hand_back()

    def stop(self) -> None:
        """End soon."""
        self._stopped = True
        self._wake.set()

    async def _take(self) -> float:
        """Begin what is due, as far as there is room. Return the seconds until the next look. Raises StoreUnavailable."""
        room = MOST - len(self._under_way)
        if room < self._platform.store.keys.partitions:
            return IDLE
        most = room // self._platform.store.keys.partitions
        taken, ms = await self._in_thread(self._platform.store.hooks.claim, LEASE_MS, most, LONGEST_MS)
        for unsent in taken:
            task = asyncio.create_task(self._do(unsent))
            self._under_way[task] = unsent
            task.add_done_callback(self._done)
        return 0.0 if taken else IDLE if ms is None else min(IDLE, ms / 1000)

    def _done(self, task: asyncio.Task[None]) -> None:
        unsent = self._under_way.pop(task)
        if task.cancelled():
            self._left.append(unsent)
        self._wake.set()

    async def _do(self, unsent: Unsent) -> None:
        """Send one thing, as far as it goes. Raises nothing."""
        try:
            await self._send(unsent)
        except (StoreUnavailable, StoreRefused) as reason:  # it is due again after the lease
            log.warning("hook_waits", hook=unsent.hook, error=type(reason).__name__)
        except Exception as reason:  # noqa: BLE001 - it is logged, by its type only: its text may hold secrets
            log.error("hook_failed", hook=unsent.hook, match=unsent.match, version=unsent.cursor.version, error=type(reason).__name__)
            metrics.hook_messages.labels("broken").inc()

    async def _send(self, unsent: Unsent) -> None:
        index, player = self._platform.store.hooks, unsent.player
        found = await self._in_thread(subscriptions.hooks_of, self._platform, player)
        hook = found.by_id.get(unsent.hook)
        if hook is None or not hook.on:
            await self._in_thread(index.finish, unsent, None)
            if hook is None:
                await self._in_thread(subscriptions.tell, self._platform, player)
            return
        host = target(hook.url).host
        wait = self._gates.enter(player, hook.id, host, bool(unsent.message))
        if wait is not None:
            self._wait_for(unsent)
            await self._in_thread(index.put_off, unsent, unsent.cursor, round(wait * 1000) + 1)
            return
        try:
            if unsent.message:
                await self._send_one(unsent, hook)
            else:
                await self._send_all(unsent, hook)
        except NoMatch:
            await self._in_thread(index.finish, unsent, None)
        finally:
            self._gates.leave(player, hook.id, host, bool(unsent.message))

    async def _send_one(self, unsent: Unsent, hook: Hook) -> None:
        """Send a message that somebody asked for, once, whatever the answer."""
        id, _, entry = unsent.message.rpartition("-")
        message = await self._in_thread(self._reader.again, unsent.player, hook, id, int(entry))
        if message is not None:
            outcome = await self._post(unsent.player, hook, message, 1, again=True)
            if outcome.arrived:
                await self._arrived(hook)
        await self._in_thread(self._platform.store.hooks.finish, unsent, None)

    async def _send_all(self, unsent: Unsent, hook: Hook) -> None:
        """Send the messages of a match in their order, until there are no more, one fails, or it was long enough."""
        until, is_first = time.monotonic() + STEP_SECONDS, True
        while True:
            messages, reached, at_head = await self._in_thread(self._reader.after, unsent.player, hook, unsent.match, unsent.cursor.version)
            for message, later in zip_longest(messages, messages[1:]):
                wait = None if is_first else self._gates.spend(unsent.player)
                if wait is not None or time.monotonic() > until:
                    await self._move(unsent, unsent.cursor, wait or 0.0)
                    return
                outcome = await self._post(unsent.player, hook, message, unsent.cursor.tries + 1, again=False)
                if not outcome.arrived:
                    await self._failed(unsent, hook, message, outcome)
                    return
                is_first = False
                await self._arrived(hook)
                is_whole = later is None or later.entry != message.entry
                unsent = await self._move(unsent, Cursor(message.entry if is_whole else unsent.cursor.version), LEASE_MS / 1000)
            if at_head:
                await self._in_thread(self._platform.store.hooks.finish, unsent, reached)
                return
            unsent = await self._move(unsent, Cursor(reached), LEASE_MS / 1000)

    async def _post(self, player: str, hook: Hook, message: Message, number: int, again: bool) -> Outcome:
        """Post a message, and note the answer."""
        headers, body = await self._in_thread(posted, self._platform, player, hook, message, wall_time())
        outcome = await self._answer(hook.url, headers, body)
        metrics.hook_messages.labels("arrived" if outcome.arrived else outcome.failure or "refused").inc()
        metrics.hook_seconds.observe(outcome.ms / 1000)
        await self._in_thread(deliveries.note, self._platform, player, hook, message, number, again, outcome)
        return outcome

    async def _answer(self, url: str, headers: Headers, body: bytes) -> Outcome:
        """Return what a receiver answers. This is where a task ends when the sender stops: what was answered is noted first."""
        task = asyncio.current_task()
        assert task is not None
        if self._stopped:
            raise asyncio.CancelledError
        self._posting.add(task)
        try:
            return await self._poster.post(url, headers, body)
        finally:
            self._posting.discard(task)

    async def _move(self, unsent: Unsent, cursor: Cursor, seconds: float) -> Unsent:
        """Move the cursor. The rest is due in some seconds, unless it is sent before. Return the rest."""
        await self._in_thread(self._platform.store.hooks.put_off, unsent, cursor, round(seconds * 1000))
        moved, task = unsent._replace(cursor=cursor), asyncio.current_task()
        assert task is not None
        self._under_way[task] = moved
        return moved

    async def _arrived(self, hook: Hook) -> None:
        """Note that a message has arrived. What waits for the hook to recover is due now."""
        if self._gates.arrived(hook.id):
            for unsent in self._waiting.pop(hook.id, []):
                await self._in_thread(self._platform.store.hooks.put_off, unsent, unsent.cursor, 0)

    async def _failed(self, unsent: Unsent, hook: Hook, message: Message, outcome: Outcome) -> None:
        """Put a message off that did not arrive, give it up, or turn its hook off."""
        now, cursor = wall_time(), unsent.cursor
        since = cursor.since or now
        if hook.push is not None and outcome.status in PUSH_GONE:
            log.info("hook_stopped", hook=hook.id, reason=GONE)
            with contextlib.suppress(NoSuchHook):
                await self._in_thread(subscriptions.delete, self._platform, unsent.player, ADMIN, hook.id)
            await self._in_thread(self._platform.store.hooks.finish, unsent, None)
        elif outcome.status == GONE_STATUS:
            await self._stop(unsent, hook, GONE)
        elif now - since < PATIENCE_MS:
            fails, seconds = self._gates.failed(hook.id, cursor.tries + 1, outcome.retry_after)
            self._wait_for(await self._move(unsent, Cursor(cursor.version, since, fails), seconds))
        elif await self._in_thread(deliveries.last_arrival, self._platform, unsent.player, hook.id) < since:
            await self._stop(unsent, hook, FAILING)
        else:  # other messages arrive, so this one is given up
            log.info("hook_message_given_up", hook=hook.id, match=unsent.match, version=message.entry)
            await self._move(unsent, Cursor(message.entry), 0.0)

    async def _stop(self, unsent: Unsent, hook: Hook, reason: str) -> None:
        log.info("hook_stopped", hook=hook.id, reason=reason)
        await self._in_thread(subscriptions.stop, self._platform, unsent.player, hook, reason)
        await self._in_thread(self._platform.store.hooks.finish, unsent, None)

    def _wait_for(self, unsent: Unsent) -> None:
        """Remember what waits for a hook to recover."""
        if self._gates.is_ill(unsent.hook):
            waiting = self._waiting.setdefault(unsent.hook, [])
            if len(waiting) < WAITING:
                waiting.append(unsent)

    async def _hand_back(self) -> None:
        """End what is under way. What was not answered is due at once, for another worker."""
        for task in list(self._posting):
            task.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)
        for unsent in self._left:
            with contextlib.suppress(StoreUnavailable, StoreRefused):
                self._platform.store.hooks.put_off(unsent, unsent.cursor, 0)
        self._threads.shutdown()

    async def _in_thread(self, ask: Callable[..., Found], *given: Any) -> Found:
        """Return what a function returns that asks the store. Raises its errors."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, partial(ask, *given))

    def _listen(self, loop: asyncio.AbstractEventLoop) -> None:
        """Wake the loop whenever there is something new to send."""
        for _ in self._platform.store.hooks.news(IDLE * 2):
            with contextlib.suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(self._wake.set)
