"""The stream of a player's own events: your turn, an invitation, somebody has joined, a match has started or ended, an offer, a vote.

Nothing is stored for it. An append says to whom it is news, the hub passes that on, and the events follow from the standing of the match as
it is then. After a break everything that may have been missed follows from the lists: what waits for the player now, and the matches whose
table has changed or that have ended since. So an event may come twice, and is never lost.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Mapping
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
from service.http.addresses import address_of
from service.http.responses import sorted_json
from service.http.schemas import PlayerStreamQuery

SLACK_MS = 60_000  # by which clocks of servers may differ, and an append may come after the time in its entry
PAGE = 200
REMEMBERED = 10_000
MOST_INVITATIONS = 1000  # that are told at the beginning; strangers can send any number
LOOK_AGAIN_SECONDS = 300.0  # even if nothing seems to have been missed


def get_my_stream(service: Service, call: Call) -> Response:
    """Return a stream of the caller's own events."""
    player = call.caller.player()
    since = last_event(call) if call.header("Last-Event-ID") is not None else None
    return stream_response(service, call, lambda seconds: _events(service, call, player, since, seconds))


def _events(service: Service, call: Call, player: str, since: int | None, seconds: float) -> Generator[bytes, None, None]:
    """Yield server-sent events for some seconds, as long as the key is valid. `since`: the id of the last event that the client has."""
    yield b"retry: 1000\n\n"
    pause, feed = service.settings.comment_seconds, _Feed(service.platform, player)
    last_sent, look_at = time.monotonic(), 0.0
    until = last_sent + seconds
    with service.hub.watch_player(player) as watch, service.directory.waking(player, watch.notify):
        while True:
            watch.rearm()
            if service.keys.renewed(call.header("Authorization"), address_of(call.environ)) is None:
                return
            missed, news = watch.take()
            moment = service.platform.clock.now()
            if missed or time.monotonic() >= look_at:
                for events in feed.look(since):
                    yield b"".join(map(_chunk, events))
                yield b"".join([*map(_chunk, feed.news(news)), b"id: %d\nevent: ready\ndata: {}\n\n" % moment])
                look_at = time.monotonic() + LOOK_AGAIN_SECONDS
                since, last_sent = moment, time.monotonic()
            elif events := feed.news(news):
                yield b"".join([*map(_chunk, events[:-1]), b"id: %d\n" % moment, _chunk(events[-1])])
                since, last_sent = moment, time.monotonic()
            now = time.monotonic()
            if now >= until:
                return
            if now >= last_sent + pause:
                last_sent = now
                yield b": still here\n\n"
            yield from watch.wait(min(until, last_sent + pause))


Event = tuple[str, dict[str, Any]]


class _Feed:
    """What a stream has told a player so far, and what is new to the player."""

    def __init__(self, platform: Platform, player: str) -> None:
        self._platform = platform
        self._player = player
        self._asker = lists.Asker(player)
        # What is forgotten is told again.
        self._told: LRUCache[tuple[str, str, str], Any] = LRUCache(REMEMBERED)

    def look(self, since: int | None) -> Iterator[list[Event]]:
        """Yield the events of all that waits for the player, and of all that has changed since a moment, page by page."""
        store = self._platform.store.lists
        changed = set() if since is None else set(store.since([f"news:{self._player}"], max(0, since - SLACK_MS)))
        # Strangers can send any number of invitations, and of offers of seats.
        kinds = ("invited", OFFERED, f"{OWN}:{OFFERED}")
        sent = {match for kind in kinds for _, match in store.newest([f"{kind}:{self._player}"], None, MOST_INVITATIONS)}
        waiting = store.since([f"{prefix}{kind}:{self._player}" for kind in ("acts", ASKED) for prefix in ("", f"{OWN}:")], 0)
        matches = sorted({*changed, *waiting, *sent})
        for start in range(0, len(matches), PAGE):
            standings = lists.standings_of(self._platform, matches[start : start + PAGE], self._asker)
            yield [event for standing in standings for event in self._events(standing, standing["version"], standing["id"] in changed)]

    def news(self, heads: Mapping[str, Head]) -> list[Event]:
        """Return the events of matches of which the hub has heard."""
        events: list[Event] = []
        matches = list(heads)
        for start in range(0, len(matches), PAGE):
            for standing in lists.standings_of(self._platform, matches[start : start + PAGE], self._asker):
                head = heads[standing["id"]]
                events += self._events(standing, head.version, head.anew)
        return events

    def _events(self, standing: Mapping[str, Any], version: int, anew: bool) -> Iterator[Event]:
        """Yield the events of a match that has not been told of since `version`. `anew`: its table has changed, or it has ended."""
        player, seats, status = self._player, standing["seats"], standing["status"]
        about = {"match": standing["id"], "game": standing["game"], "version": standing["version"]}
        mine = [seat for seat, occupant in seats.items() if occupant.get("player") == player]
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
        """Yield the events of offers and votes that the player can answer, of the player's time-outs, and of a pause."""
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
        """Return True if this has not been told, and remember it."""
        key = (kind, standing["id"], seat)
        if self._told.get(key) == value:
            return False
        self._told[key] = value
        return True


def _chunk(event: Event) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (event[0].encode(), sorted_json(event[1]))


OPERATIONS = (
    Operation(
        "get_my_stream", "GET", "/v1/players/me/stream", "players", "Follow all your matches: your own events as server-sent events",
        get_my_stream,
        {200: Answer("Server-sent events: first those of all that waits for you, then an event `ready`, then what happens.", STREAM)},
        "Events are named `turn`: a seat of yours must act; `invited`: an open seat is kept for you; `joined`: somebody has taken a "
        "seat of a match that you have created or in which you have a seat; `started`, `over`: such a match has started, or is over "
        "or closed; `offer`, `vote`: a seat of yours can answer; `time_out`: its time has run out; `seat_offered`: a player offers you a "
        "seat; `paused`: such a match is paused; `dispute`: a dispute about such a match, or one on which you have ruled, has begun or "
        "gone on. The `data` of each is JSON with `match`, `game` and `version`. `turn` also has `seat` and "
        "`deadline`, null without a clock; `invited` `seat` and `creator`; `joined` and `seat_offered` `seat` and `player`; `over` "
        "`status`: `over` or `closed`; `offer` `seat`, `what` and `by`; `vote` `seat`, `about` and `until`; `time_out` `seat`, `in_a_row` "
        "and `substitute`, the level of who plays the seat now, or null; `paused` `until`; `dispute` its number as `dispute`, "
        "`by`, `state` and `until`. After `ready`, without any data, everything "
        "that waited for you has been sent; it comes again if the server may have missed something. The `id` is a moment: with it as "
        "`Last-Event-ID` you also get what has happened since. An event may come twice, and none is lost. A comment comes at least "
        "every 15 seconds. A generated client reads an answer to its end, so let it ask with `seconds`, such as 0 for what waits now.",
        key="needed", by="player", query=PlayerStreamQuery(), headers=("Last-Event-ID",),
    ),
)  # fmt: skip
