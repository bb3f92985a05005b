"""The stream of what a player is told (record/notices.py): your turn, an invitation, a join, the start or end of a match, an offer, a vote.

Nothing is stored for it. Each append names the players whom its entries tell something, and the hub wakes their streams. What the entries
tell is read from the log, also after a break. So it comes in the same words whenever it is sent.
"""

from __future__ import annotations

import heapq
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable
from functools import partial
from typing import NamedTuple

import structlog
from cachetools import LRUCache
from flask import Response

from events import lists, recall
from events.errors import PlatformError, StoreUnavailable
from events.hearing import Told
from events.standings import ASKED, CALLED, MADE, NEVER, NEWS, NEWS_MS, OFFERED, OWN, UNFINISHED
from record.notices import Notice, waiting
from record.questions import TURN
from service.api.event_shapes import in_stream, player_data
from service.api.operations import Answer, Call, Operation
from service.api.streams import last_event, stream_response
from service.context import Service
from service.http.following import Round, Steps, Wake
from service.http.keys import Caller
from service.http.places import Place
from service.http.responses import sorted_json
from service.http.schemas import PlayerStreamQuery

SLACK_MS = 60_000  # how much clocks of servers may differ, and how late an append may come after the time in its entry
LONGEST_BREAK_MS = 7 * 86_400_000
MOST_CALLED = 1000  # matches in which the player has no seat; strangers can make any number
REMEMBERED = 10_000  # matches of which a stream knows how far it has told them
PAGE = 200  # matches to look up at once
MOST_AHEAD = 4000  # notices that wait in memory for those of other matches with an earlier moment
SLICE_SECONDS = 0.01  # after so much work a stream lets others go on
LOOK_AGAIN_SECONDS = 300.0  # even if nothing seems to be missing

log = structlog.get_logger("service")


def get_my_stream(service: Service, call: Call) -> Response:
    """Return a stream of what the caller is told, as a player or as an organiser."""
    player = call.caller.player()
    since = last_event(call) if call.header("Last-Event-ID") is not None else None
    renewed = partial(service.keys.renewed, call.header("Authorization"))
    running = lists.matches(service.platform, {"player": player, "status": "playing"}, 1, asker=lists.Asker(player)).standings
    return stream_response(service, call, partial(_steps, service, renewed, player, call.query["created"], since), bool(running))


def _steps(
    service: Service,
    renewed: Callable[[], Caller | None],
    player: str,
    created: bool,
    since: int | None,
    seconds: float,
    place: Place,
    wake: Wake,
) -> Steps:
    """Yield server-sent events for some seconds, while the key is valid: while `renewed` returns a caller.

    `created`: what the player is told as organiser. `since`: the id of the last event that the client has.
    """
    round = yield 0.0
    round = yield b"retry: 1000\n\n"
    pause, feed = service.settings.comment_seconds, _Feed(service, player, created, place, since)
    last_sent, look_at = time.monotonic(), 0.0
    until = last_sent + seconds
    with service.hub.watch_player(f"*{player}" if created else player, wake) as watch, service.directory.waking(player, watch.notify):
        while True:
            if round.look(renewed) is None:
                return
            missed, news = watch.take()
            if missed or time.monotonic() >= look_at:
                round = yield from feed.catch_up(round)
                look_at = last_sent = time.monotonic()
                look_at += LOOK_AGAIN_SECONDS
            if news:
                round = yield from feed.tell([_Source(match, first - 1, head) for match, (first, head) in news.items()], round)
                last_sent = time.monotonic()
            if missed:
                round = yield feed.ready()
            now = time.monotonic()
            if now >= until:
                return
            if now >= last_sent + pause:
                last_sent = now
                round = yield b": still here\n\n"
            round = yield min(until, last_sent + pause)


class _Source(NamedTuple):
    """A match with news: those after a version, up to `head` at least, or all if None. None of them came before the moment `since`."""

    match: str
    after: int
    head: int | None = None
    since: int = 0


Sending = Generator[bytes | float, Round, Round]


class _Feed:
    """What a stream has told a player or an organiser. It finds what comes next.

    The id of an event is a moment. Everything with an earlier one has been sent, except what comes late (`SLACK_MS`).
    """

    def __init__(self, service: Service, player: str, created: bool, place: Place, since: int | None) -> None:
        self._platform = service.platform
        self._hearing = service.hearing
        self._player = player
        self._created = created
        self._place = place
        self._first = since is None
        self._moment = since or 0
        # Up to which version each match has been told. What is forgotten is told again.
        self._told: LRUCache[str, int] = LRUCache(REMEMBERED)

    def ready(self) -> bytes:
        """Return the event after all that waited or was missed."""
        return b"id: %d\nevent: ready\ndata: {}\n\n" % self._moment

    def catch_up(self, round: Round) -> Sending:
        """Yield what waits if the client has nothing of the last week, and what it has missed."""
        now, first = self._platform.clock.now(), self._first
        self._moment, self._first = min(self._moment, now), False
        last = max(self._moment, now - LONGEST_BREAK_MS)
        if first:  # what happened before is not told
            self._told.update(self._versions(now - SLACK_MS, NEVER, round))
        if self._moment < last:
            round = yield from self._what_waits(round)
        if not first:
            since = last - SLACK_MS
            found = self._versions(since, since, round)
            round = yield from self.tell([_Source(match, version, None, since) for match, version in found.items()], round)
        self._moment = max(self._moment, now)
        return round

    def _versions(self, since: int, moment: int, round: Round) -> dict[str, int]:
        """Return the matches that have told something since a moment, each with its version before another `moment`."""
        matches, found = round.look(partial(self._with_news, since)), {}
        for start in range(0, len(matches), PAGE):
            page = matches[start : start + PAGE]
            firsts = round.look(partial(lists.first_since, self._platform, page, moment))
            found.update({match: version - 1 for match, version in zip(page, firsts, strict=True)})
        return found

    def tell(self, sources: Iterable[_Source], round: Round) -> Sending:
        """Yield what matches tell, in the order of the moments."""
        ahead = {source.match: source._replace(after=max(source.after, self._told.get(source.match, 0))) for source in sources}
        queue = [(source.since, match) for match, source in ahead.items()]
        heapq.heapify(queue)
        most = max(1, MOST_AHEAD // max(1, len(ahead)))
        found: dict[str, deque[Told]] = {}
        began, chunks = time.monotonic(), []
        while queue:
            at, match = heapq.heappop(queue)
            told = found.get(match)
            if told:
                chunks.append(self._event(told.popleft().notice))
                if not told:
                    self._told[match] = ahead[match].after
            elif (source := ahead[match]).head is None or source.after < source.head:
                found[match], ahead[match] = self._hear(source, most, round)
            else:
                continue
            if told := found[match]:
                at = told[0].notice.at
            else:
                self._told[match] = ahead[match].after
            heapq.heappush(queue, (at, match))
            if time.monotonic() >= began + SLICE_SECONDS:
                if chunks:
                    round = yield b"".join(chunks)
                round = yield 0.0
                began, chunks = time.monotonic(), []
        if chunks:
            round = yield b"".join(chunks)
        return round

    def _hear(self, source: _Source, most: int, round: Round) -> tuple[deque[Told], _Source]:
        """Return the next things that a match tells, hardly more than `most`, and how it goes on.

        A match that no longer exists tells nothing.
        """
        match, after, head, since = source
        try:
            heard = round.look(partial(self._hearing.after, match, after, head))
        except StoreUnavailable:
            raise
        except PlatformError:
            return deque(), _Source(match, after, after)
        except Exception as error:  # noqa: BLE001 - a damaged log must not end the stream; it is logged by its kind alone
            log.error("match_unreadable", match=match, error=type(error).__name__)
            return deque(), _Source(match, after, after)
        told = [one for one in heard.told if self._is_told(one.notice)]
        if len(told) > most:  # the rest is heard again later
            last = told[most - 1].version
            return deque(one for one in told if one.version <= last), _Source(match, last, head, since)
        return deque(told), _Source(match, heard.reached, head if heard.more else heard.reached, since)

    def _what_waits(self, round: Round) -> Sending:
        """Yield everything that waits, in the order of the moments."""
        found: list[Notice] = []
        began = time.monotonic()
        for match in round.look(self._with_questions):
            try:
                position = round.look(partial(recall.position, self._platform, match))
            except StoreUnavailable:
                raise
            except Exception as error:  # noqa: BLE001 - as above
                log.error("match_unreadable", match=match, error=type(error).__name__)
                continue
            found += [notice for notice in waiting(position) if self._is_told(notice)]
            if time.monotonic() >= began + SLICE_SECONDS:
                round = yield 0.0
                began = time.monotonic()
        if found:
            found.sort(key=lambda notice: (notice.at, notice.id))
            round = yield b"".join(map(self._event, found))
        return round

    def _with_questions(self) -> list[str]:
        """Return the matches in which something may wait."""
        store, player = self._platform.store.lists, self._player
        if self._created:
            return sorted(store.since([f"{UNFINISHED}:{player}"], 0))
        own = store.since([f"acts:{player}", f"{OWN}:acts:{player}", f"{ASKED}:{player}"], 0)
        called = [store.newest([f"{kind}:{player}"], None, MOST_CALLED) for kind in ("invited", OFFERED)]
        return sorted({*own, *(match for places in called for _, match in places)})

    def _with_news(self, since: int) -> list[str]:
        """Return the matches that have told something since a moment, and maybe some that have told something shortly before."""
        store, player = self._platform.store.lists, self._player
        if self._created:
            return sorted(store.since([f"{MADE}:{player}"], since - NEWS_MS))
        called = store.newest([f"{CALLED}:{player}"], None, MOST_CALLED)
        return sorted({*store.since([f"{NEWS}:{player}"], since - NEWS_MS), *(match for at, match in called if at >= since)})

    def _is_told(self, notice: Notice) -> bool:
        return notice.organiser == self._player if self._created else self._player in notice.to

    def _event(self, notice: Notice) -> bytes:
        if notice.kind in (TURN, "started") and not self._created:
            self._place.mark(True)
        self._moment = max(self._moment, notice.at)
        return _chunk(notice, self._moment)


def _chunk(notice: Notice, moment: int) -> bytes:
    return b"id: %d\nevent: %b\ndata: %b\n\n" % (moment, notice.kind.encode(), sorted_json(notice.body))


OPERATIONS = (
    Operation(
        "get_my_stream", "GET", "/v1/players/me/stream", "players", "Follow all your matches as server-sent events",
        get_my_stream,
        {200: Answer("Server-sent events.", in_stream(player_data, "The text of the stream. The `data` of its events are notices."))},
        "First comes everything that waits for you, then an event `ready` without data, then what happens. The name of each other event "
        "is the `type` of its `data`, a `Notice`. Each notice has an identity: `match`, `version`, `index` and `type`. It comes at "
        "least once, and those of a match in order. Your own steps are not told back, unless they happen to the whole table, such as "
        "`started`, `paused` or `dispute`. The `id` of an event is a moment. With it as `Last-Event-ID`, on any server, you get what "
        "you missed since, in the same words, also after a week, and then `ready`. Some events of the minute before come again. After "
        "more than a week you also get what waits. `ready` comes again if the server may have missed something. `created=true` is the "
        "stream of an organiser: everything that anybody is told in the matches that you have created. A comment comes at least every "
        "15 seconds. A generated client reads an answer to its end, so let it ask with `seconds`, such as 0 for what waits now.",
        key="needed", by="player", query=PlayerStreamQuery(), headers=("Last-Event-ID",),
    ),
)  # fmt: skip
