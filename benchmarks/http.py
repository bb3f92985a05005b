"""`POST …/actions` between two human seats, against the bare endpoint under the same server, on the same store, by the same load."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Mapping
from functools import partial
from typing import Any

import orjson

from benchmarks.load import Answer, Conversation, Load, drawn, drive, request, sorted_share, until
from benchmarks.pairs import Figure, figure, interleaved, ratios
from benchmarks.place import Place, still
from games import GAMES

CONNECTIONS = 16
SHARE = 0.6
ACTION = {"type": "place_unit", "tile": "h12"}


class Ready:
    """Matches in which a human seat is to act, each with its choices; those that wait for the system are put aside."""

    def __init__(self, place: Place, game: str, count: int) -> None:
        self.place = place
        self.caller = place.caller()
        self.dice = random.Random(count)
        self.waiting: list[str] = []
        self.acting: deque[tuple[str, list[Mapping[str, Any]]]] = deque()
        seats = GAMES[game].seats.ids[:2]
        for _ in range(count):
            made = self.caller.call("POST", "/v1/matches", {"game": game, "seats": dict.fromkeys(seats, "me")})
            self.waiting.append(made["id"])

    def refresh(self) -> None:
        """Wait until the system has done what it owes everywhere, and take up those matches again."""
        for match in self.waiting:
            if choices := until(partial(self.caller.choices, match)):
                self.acting.append((match, choices))
        self.waiting.clear()
        assert len(self.acting) >= CONNECTIONS, "the matches are used up"
        self.dice.shuffle(self.acting)

    def conversation(self) -> Conversation:
        """Play one action after the other, whenever the seats can, and in another match where they cannot."""
        while self.acting:
            match, choices = self.acting.popleft()
            while choices:
                action = drawn(choices, self.dice.randrange)
                status, body = yield request("POST", f"/v1/matches/{match}/actions", action, self.place.key)
                assert status == 200, body
                answer = orjson.loads(body)
                choices = answer["choices"]
            if answer["outcome"] is None:
                self.waiting.append(match)


def hammering() -> Conversation:
    """The same for the bare endpoint: a small JSON body, and its answer read."""
    dice = random.Random(1)
    while True:
        answer: Answer = yield request("POST", f"/v1/matches/m{dice.randrange(400)}/actions", ACTION, "x" * 43)
        assert answer[0] == 200, answer[1]
        orjson.loads(answer[1])


def measured(place: Place, pairs: int, seconds: float, matches: int) -> list[Figure]:
    """The rates of both, turn and turn about, and their ratio; once with the workers still and once with them at work."""
    ready = Ready(place, "war", matches)
    loads: dict[str, list[Load]] = {"ours": [], "bare": [], "busy": []}

    def ours() -> float:
        ready.refresh()
        with still(place):
            loads["ours"].append(drive(place.service, [ready.conversation() for _ in range(CONNECTIONS)], seconds))
        return loads["ours"][-1].rate

    def theirs() -> float:
        loads["bare"].append(drive(place.bare, [hammering() for _ in range(CONNECTIONS)], seconds))
        return loads["bare"][-1].rate

    drive(place.bare, [hammering() for _ in range(CONNECTIONS)], 0.5)
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
    """The 99th percentile of the latencies, in milliseconds."""
    return sorted_share(load.latencies, 0.99) * 1000
