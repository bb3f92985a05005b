"""The stream of a player's own events: your turn, an invitation, a join, the start or end of a match, an offer, a vote.

Nothing is stored for it. Each append names the players it concerns, and the hub tells their streams. The events follow from the standing
of the match at that moment. After a break, the lists show what the player may have missed: what waits for the player now, and which
matches have ended, or have a changed table, since then. So an event may come twice, and none is lost.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from cachetools import LRUCache
from flask import Response

from events import lists
from events.platform import Platform
from events.standings import ASKED, OFFERED, OWN
from events.store.heads import Head
from service.api.operations import Answer, Call, Operation
from service.api.streams import STREAM, last_event, stream_response
from service.context import Service
from service.http.following import Steps, Wake
from service.http.keys import Caller
from service.http.places import Place
from service.http.responses import sorted_json
from service.http.schemas import PlayerStreamQuery

SLACK_MS = 60_000  # how much clocks of servers may differ, and how late an append may come after the time in its entry
PAGE = 200
REMEMBERED = 10_000
MOST_INVITATIONS = 1000  # sent at the beginning; strangers can make any number
LOOK_AGAIN_SECONDS = 300.0  # even if nothing seems to be missing


def get_my_stream(service: Service, call: Call) -> Response:
    """Return a stream of the caller's own events."""
    player = call.caller.player()
    since = last_event(call) if call.header("Last-Event-ID") is not None else None
    renewed = partial(service.keys.renewed, call.header("Authorization"))
    running = lists.matches(service.platform, {"player": player, "status": "playing"}, 1, asker=lists.Asker(player)).standings
    return stream_response(service, call, partial(_steps, service, renewed, player, since), bool(running))


def _steps(
    service: Service, renewed: Callable[[], Caller | None], player: str, since: int | None, seconds: float, place: Place, wake: Wake
) -> Steps:
    """Yield server-sent events for some seconds, while the key is valid: while `renewed` returns a caller.

    `since`: the id of the last event that the client has.
    """
    round = yield 0.0
    round = yield b"retry: 1000\n\n"
    pause, feed = service.settings.comment_seconds, _Feed(service.platform, player, place)
    last_sent, look_at = time.monotonic(), 0.0
    until = last_sent + seconds
    with service.hub.watch_player(player, wake) as watch, service.directory.waking(player, watch.notify):
        while True:
            if round.look(renewed) is None:
                return
            missed, news = watch.take()
            moment = service.platform.clock.now()
            if missed or time.monotonic() >= look_at:
                for events in feed.look(since):
                    round = yield b"".join(map(_chunk, events))
                told = [*map(_chunk, feed.news(news)), b"id: %d\nevent: ready\ndata: {}\n\n" % moment]
                round = yield b"".join(told)
                look_at = time.monotonic() + LOOK_AGAIN_SECONDS
                since, last_sent = moment, time.monotonic()
            elif events := round.look(partial(feed.news, news)):
                round = yield b"".join([*map(_chunk, events[:-1]), b"id: %d\n" % moment, _chunk(events[-1])])
                since, last_sent = moment, time.monotonic()
            now = time.monotonic()
            if now >= until:
                return
            if now >= last_sent + pause:
                last_sent = now
                round = yield b": still here\n\n"
            round = yield min(until, last_sent + pause)


Event = tuple[str, dict[str, Any]]


class _Feed:
    """What a stream has sent to a player. It finds what is new."""

    def __init__(self, platform: Platform, player: str, place: Place) -> None:
        self._platform = platform
        self._place = place
        self._player = player
        self._asker = lists.Asker(player)
        # What is forgotten is sent again.
        self._told: LRUCache[tuple[str, str, str], Any] = LRUCache(REMEMBERED)

    def look(self, since: int | None) -> Iterator[list[Event]]:
        """Yield the events for everything that waits for the player or has changed since a moment, page by page."""
        store = self._platform.store.lists
        changed = set() if since is None else set(store.since([f"news:{self._player}"], max(0, since - SLACK_MS)))
        # Strangers can send any number of invitations and offers of seats.
        kinds = ("invited", OFFERED, f"{OWN}:{OFFERED}")
        sent = {match for kind in kinds for _, match in store.newest([f"{kind}:{self._player}"], None, MOST_INVITATIONS)}
        waiting = store.since([f"{prefix}{kind}:{self._player}" for kind in ("acts", ASKED) for prefix in ("", f"{OWN}:")], 0)
        matches = sorted({*changed, *waiting, *sent})
        for start in range(0, len(matches), PAGE):
            standings = lists.standings_of(self._platform, matches[start : start + PAGE], self._asker)
            yield [event for standing in standings for event in self._events(standing, standing["version"], standing["id"] in changed)]

    def news(self, heads: Mapping[str, Head]) -> list[Event]:
        """Return the events of matches with news from the hub."""
        events: list[Event] = []
        matches = list(heads)
        for start in range(0, len(matches), PAGE):
            for standing in lists.standings_of(self._platform, matches[start : start + PAGE], self._asker):
                head = heads[standing["id"]]
                events += self._events(standing, head.version, head.anew)
        return events

    def _events(self, standing: Mapping[str, Any], version: int, anew: bool) -> Iterator[Event]:
        """Yield the new events of a match. A turn is new if none was sent at `version` or later. `anew`: the table changed, or it ended."""
        player, seats, status = self._player, standing["seats"], standing["status"]
        about = {"match": standing["id"], "game": standing["game"], "version": standing["version"]}
        mine = [seat for seat, occupant in seats.items() if occupant.get("player") == player]
        if mine and status == "playing":
            self._place.mark(True)
        for seat, invited in standing["invited"].items():
            if invited == player and self._is_new("invited", standing, seat, True):
                yield "invited", {**about, "seat": seat, "creator": standing["creator"]}
        if anew and (mine or standing["creator"] == player):
            for seat, occupant in seats.items():
                if "player" not in occupant:
                    self._told.pop(("joined", standing["id"], seat), None)
                elif occupant["player"] != player and self._is_new("joined", standing, seat, occupant["player"]):
                    yield "joined", {**about, "seat": seat, "player": occupant["player"]}
            if status == "playing" and self._is_new("started", standing, "", True):
                yield "started", about
        if anew and status in ("over", "closed") and self._is_new("over", standing, "", True):
            yield "over", {**about, "status": status}
        yield from self._table_events(standing, about, mine)
        for seat in mine:
            awaited = seat in standing["to_act"] and seat not in standing["substitutes"]
            if awaited and self._told.get(("turn", standing["id"], seat), 0) < version:
                self._told["turn", standing["id"], seat] = standing["version"]
                yield "turn", {**about, "seat": seat, "deadline": standing["clocks"].get(seat, {}).get("deadline")}

    def _table_events(self, standing: Mapping[str, Any], about: dict[str, Any], mine: list[str]) -> Iterator[Event]:
        """Yield the new events of offers and votes that the player can answer, and of the player's time-outs, disputes and pauses."""
        made = standing["offers_made"]
        for seat, player in standing["handovers"].items():
            if player == self._player and self._is_new("seat_offered", standing, seat, made[seat]):
                yield "seat_offered", {**about, "seat": seat, "player": standing["seats"][seat]["player"]}
        for seat in mine if standing["status"] == "playing" else ():
            late = standing["clocks"].get(seat, {}).get("late", 0)
            if not late:
                self._told.pop(("time_out", standing["id"], seat), None)
            elif self._is_new("time_out", standing, seat, late):
                yield "time_out", {**about, "seat": seat, "in_a_row": late, "substitute": standing["substitutes"].get(seat)}
            if seat in standing["substitutes"]:
                continue
            for what, offer in standing["offers"].items():
                waits = seat != offer["by"] and seat not in offer["accepted"]
                if waits and self._is_new(f"offer {what}", standing, seat, (offer["by"], made[offer["by"]])):
                    yield "offer", {**about, "seat": seat, "what": what, "by": offer["by"]}
            for late_seat, vote in standing["votes"].items():
                waits = seat not in standing["votes"] and seat not in vote["votes"]
                if waits and self._is_new(f"vote {late_seat}", standing, seat, vote["until"]):
                    yield "vote", {**about, "seat": seat, "about": late_seat, "until": vote["until"]}
        for number, dispute in enumerate(standing["disputes"], 1):
            ruled = any(ruling["referee"] == self._player for ruling in dispute["rulings"])
            if (mine or ruled) and self._is_new(f"dispute {number}", standing, "", (dispute["state"], dispute["escalated"])):
                yield "dispute", {**about, "dispute": number, "by": dispute["seat"], "state": dispute["state"], "until": dispute["until"]}
        until = standing["paused_until"]
        if mine and until is not None and self._is_new("paused", standing, "", until):
            yield "paused", {**about, "until": until}

    def _is_new(self, kind: str, standing: Mapping[str, Any], seat: str, value: Any) -> bool:
        """Return True if this value has not been sent, and remember it."""
        key = (kind, standing["id"], seat)
        if self._told.get(key) == value:
            return False
        self._told[key] = value
        return True


def _chunk(event: Event) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (event[0].encode(), sorted_json(event[1]))


OPERATIONS = (
    Operation(
        "get_my_stream", "GET", "/v1/players/me/stream", "players", "Follow all your matches as server-sent events",
        get_my_stream,
        {200: Answer("Server-sent events: first everything that waits for you, then an event `ready`, then what happens.", STREAM)},
        "The `data` of each event is JSON with `match`, `game`, `version` and the members in parentheses. "
        "`turn`: your seat must act (`seat`, `deadline`: null without a clock). "
        "`invited`: an open seat is kept for you (`seat`, `creator`). "
        "`joined`: somebody has taken a seat in your match, one that you created or play in (`seat`, `player`). "
        "`started`: your match has started. `over`: it is over or closed (`status`). "
        "`offer`: your seat can answer an offer (`seat`, `what`, `by`). `vote`: your seat can vote (`seat`, `about`, `until`). "
        "`time_out`: your time has run out (`seat`, `in_a_row`, `substitute`: the level that plays the seat now, or null). "
        "`seat_offered`: a player offers you a seat (`seat`, `player`). `paused`: your match is paused (`until`). "
        "`dispute`: a dispute about your match, or one that you ruled on, has begun or moved on (`dispute`: its number, `by`, `state`, "
        "`until`). `ready` has no data: everything that waited for you has been sent. It comes again if the server may have missed "
        "something. The `id` is a moment. With it as `Last-Event-ID` you also get what has happened since. An event may come twice, and "
        "none is lost. A comment comes at least every 15 seconds. A generated client reads an answer to its end, so let it ask with "
        "`seconds`, such as 0 for what waits now.",
        key="needed", by="player", query=PlayerStreamQuery(), headers=("Last-Event-ID",),
    ),
)  # fmt: skip
