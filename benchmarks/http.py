"""Measure `POST …/actions` between two human seats against the bare endpoint: the same server, the same store, the same load."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import orjson

from benchmarks.load import Answer, Conversation, Load, drawn, drive, request, sorted_share, until
from benchmarks.pairs import Figure, figure, interleaved, ratios
from benchmarks.place import Place, own_id, workers_stopped
from events import play
from events.platform import Platform
from games import GAMES
from games.kernel import any_action
from tools.client import in_the_game

CONNECTIONS = 16
OPENING = 20
SHARE = 0.6
ACTION = {"type": "place_unit", "tile": "h12"}


class Turn(NamedTuple):
    """A seat that must act in a match: the key of its player, and its choices."""

    match: str
    key: str
    choices: list[Mapping[str, Any]]


class Ready:
    """Matches between two players, each with the choices of the seat that must act. Matches whose turn has ended wait."""

    def __init__(self, place: Place, game: str, count: int) -> None:
        self.callers = [place.caller(), place.other_caller()]
        self.dice = random.Random(count)
        self.waiting: list[str] = []
        self.turns: deque[Turn] = deque()
        players = [own_id(caller) for caller in self.callers]
        for _ in range(count):
            self.waiting.append(opening(place.platform, game, players, self.dice))

    def refresh(self) -> None:
        """Wait until the system has advanced every waiting match, and use these matches again."""
        for match in self.waiting:
            turn = until(partial(self.next_turn, match))
            if isinstance(turn, Turn):
                self.turns.append(turn)
        self.waiting.clear()
        assert len(self.turns) >= CONNECTIONS, "the matches are used up"
        self.dice.shuffle(self.turns)

    def next_turn(self, match: str) -> Turn | str | None:
        """Return the next turn, the word "over", or None while the system must act."""
        for caller in self.callers:
            asked = caller.call("GET", f"/v1/matches/{match}/choices")
            if choices := in_the_game(asked["choices"]):
                return Turn(match, str(caller.key), choices)
        return "over" if not asked["to_act"] else None

    def conversation(self) -> Conversation:
        """Play a turn to its end, action by action, and then a turn of another match."""
        while self.turns:
            match, key, choices = self.turns.popleft()
            while choices:
                action = drawn(choices, self.dice.randrange)
                status, body = yield request("POST", f"/v1/matches/{match}/actions", action, key)
                assert status == 200, body
                answer = orjson.loads(body)
                choices = in_the_game(answer["choices"])
            if answer["outcome"] is None:
                self.waiting.append(match)


def opening(platform: Platform, game: str, players: list[str], dice: random.Random) -> str:
    """Create a match between two players, and play its set-up and opening, after which the seats alternate. Return its id."""
    one, other = GAMES[game].seats.ids[:2]
    match = play.create(platform, players[0], game, {one: "me", other: "open"}, {}).match
    position = play.act_at_table(platform, match, players[1], {"type": "take_seat", "seat": other}).position
    for _ in range(OPENING):
        actor = position.to_act[0]
        action = any_action(GAMES[game], position.document, actor, dice.randrange)
        position = play.play(platform, match, actor, [action]).position
    return match


def bare_conversation() -> Conversation:
    """Ask the bare endpoint in the same way: send a small JSON body and read the answer."""
    dice = random.Random(1)
    while True:
        answer: Answer = yield request("POST", f"/v1/matches/m{dice.randrange(400)}/actions", ACTION, "x" * 43)
        assert answer[0] == 200, answer[1]
        orjson.loads(answer[1])


def measured(place: Place, pairs: int, seconds: float, matches: int) -> list[Figure]:
    """Measure the rates of both sides alternately, and their ratio, with stopped workers. Then measure our rate with running workers."""
    ready = Ready(place, "war", matches)
    loads: dict[str, list[Load]] = {"ours": [], "bare": [], "busy": []}

    def ours() -> float:
        ready.refresh()
        with workers_stopped(place):
            loads["ours"].append(drive(place.service, [ready.conversation() for _ in range(CONNECTIONS)], seconds))
        return loads["ours"][-1].rate

    def theirs() -> float:
        loads["bare"].append(drive(place.bare, [bare_conversation() for _ in range(CONNECTIONS)], seconds))
        return loads["bare"][-1].rate

    drive(place.bare, [bare_conversation() for _ in range(CONNECTIONS)], 0.5)
    ready.refresh()
    drive(place.service, [ready.conversation() for _ in range(CONNECTIONS)], 0.5)
    mine, other = interleaved(ours, theirs, pairs)
    for _ in range(3):
        ready.refresh()
        loads["busy"].append(drive(place.service, [ready.conversation() for _ in range(CONNECTIONS)], seconds))
    return [
        figure("POST actions, two human seats", mine, "requests/s", p99_ms=[late(load) for load in loads["ours"]]),
        figure("bare endpoint, one script call", other, "requests/s", p99_ms=[late(load) for load in loads["bare"]]),
        figure("POST actions / bare endpoint", ratios(mine, other), "ratio", least=SHARE),
        figure("the load's share of one core", [load.client / load.seconds for load in loads["ours"]], "cores"),
        figure("POST actions, workers ending rounds meanwhile", [load.rate for load in loads["busy"]], "requests/s"),
    ]


def late(load: Load) -> float:
    """Return the 99th percentile of the latencies, in milliseconds."""
    return sorted_share(load.latencies, 0.99) * 1000
