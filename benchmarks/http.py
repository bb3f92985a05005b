"""Measure `POST …/actions` between two human seats against the bare endpoint: the same server, the same store, the same load.

Rates depend on what else the machine does. The processor time of a request, as the operating system counts it, depends on that little.
No workers run: the system's steps are carried out between the windows.
"""

from __future__ import annotations

import random
import statistics
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any, NamedTuple
from uuid import uuid4

import orjson

from benchmarks.load import Address, Conversation, Lines, Load, drawn, request, sorted_share
from benchmarks.pairs import Figure, figure, ratios
from benchmarks.place import Place, Run, own_id
from events import play, recall
from events.platform import Platform
from games import GAMES
from games.kernel import SYSTEM, any_action, legal
from sdk.python.warledger_client import in_the_game

CONNECTIONS = (16, 1)
OPENING = 20
SHARE = 0.9
ACTION = {"type": "place_unit", "tile": "h12"}


class Turn(NamedTuple):
    """A seat that must act in a match: the key of its player, and its choices."""

    match: str
    key: str
    choices: Sequence[Mapping[str, Any]]


class Ready:
    """Matches between two players, each with the choices of the seat that must act. Matches whose turn has ended wait.

    `keys`: the keys of players by their ids. By default they are the two players of the place.
    """

    def __init__(self, place: Place, game: str, count: int, keys: Mapping[str, str] | None = None) -> None:
        self.platform, self.game, self.dice = place.platform, game, random.Random(count)
        self.keys = keys or {own_id(caller): str(caller.key) for caller in (place.caller(), place.other_caller())}
        self.waiting = [self._opened() for _ in range(count)]
        self.turns: deque[Turn] = deque()

    def _opened(self) -> str:
        return opening(self.platform, self.game, self.dice.sample(list(self.keys), 2), self.dice)

    def refresh(self) -> None:
        """Carry out the system's steps in every waiting match, replace those that are over, and use all of them again."""
        for match in self.waiting:
            while (position := recall.position(self.platform, match)).to_act[:1] in ([SYSTEM], []):
                if position.to_act:
                    play.play(self.platform, match, SYSTEM, [{"type": "advance"}])
                else:
                    match = self._opened()
            seat = position.to_act[0]
            choices = legal(GAMES[self.game], position.document, seat)
            self.turns.append(Turn(match, self.keys[str(position.roster[seat]["player"])], choices))
        self.waiting.clear()
        self.dice.shuffle(self.turns)

    def conversation(self, with_key: bool) -> Conversation:
        """Play a turn to its end, action by action, and then a turn of another match."""
        while True:
            while not self.turns:
                yield None
            match, key, choices = self.turns.popleft()
            try:
                while choices:
                    headers = {"Idempotency_Key": str(uuid4())} if with_key else {}
                    answer = yield request("POST", f"/v1/matches/{match}/actions", drawn(choices, self.dice.randrange), key, **headers)
                    assert answer is not None
                    assert answer[0] == 200, answer[1]
                    choices = in_the_game(orjson.loads(answer[1])["choices"])
            finally:
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
        answer = yield request("POST", f"/v1/matches/m{dice.randrange(400)}/actions", ACTION, "x" * 43)
        assert answer is not None
        assert answer[0] == 200, answer[1]
        orjson.loads(answer[1])


class Window(NamedTuple):
    """A window of load, and the processor microseconds of a request, by what the processes do."""

    load: Load
    cpu: Mapping[str, float]

    @property
    def total(self) -> float:
        """The processor microseconds of a request in all processes."""
        return sum(self.cpu.values())


def window(place: Place, talks: list[Conversation], seconds: float, *games: Ready, address: Address | None = None) -> Window:
    """Measure the service, or what else has the `address`. Used up turns are refreshed meanwhile, which is not measured."""
    loads: list[Load] = []
    spent: dict[str, float] = {}
    with Lines(address or place.service, talks) as lines:
        while (left := seconds - sum(load.seconds for load in loads)) > 0:
            for ready in games:
                ready.refresh()
            before = place.cpu()
            loads.append(lines.drive(left))
            for name, used in place.cpu().items():
                spent[name] = spent.get(name, 0.0) + used - before[name]
    load = reduce(add, loads)
    others = [name for name in spent if name not in ("bare", "store")] if address == place.bare else ["bare"]
    return Window(load, {name: used / load.requests * 1e6 for name, used in spent.items() if name not in others})


def bare_window(place: Place, connections: int, seconds: float) -> Window:
    """Measure the bare endpoint."""
    return window(place, [bare_conversation() for _ in range(connections)], seconds, address=place.bare)


def measured(run: Run) -> Iterator[Figure]:
    """Measure each game with and without an Idempotency-Key, over several connections and over one, in rounds with the bare endpoint."""
    with run.place("http", workers=0) as place:
        games = {game: Ready(place, game, run.matches) for game in GAMES}

        def ours(game: str, with_key: bool, connections: int, seconds: float) -> Window:
            talks = [games[game].conversation(with_key) for _ in range(connections)]
            return window(place, talks, seconds, games[game])

        bare_window(place, CONNECTIONS[0], run.seconds / 2)
        for game in GAMES:
            ours(game, False, CONNECTIONS[0], run.seconds / 2)
        for connections in CONNECTIONS:
            theirs: list[Window] = []
            found: dict[tuple[str, bool], list[Window]] = {(game, with_key): [] for game in GAMES for with_key in (False, True)}
            for number in range(run.pairs):
                theirs.append(bare_window(place, connections, run.seconds))
                for side in list(found)[:: 1 if number % 2 else -1]:
                    found[side].append(ours(*side, connections, run.seconds))
            where = "1 connection" if connections == 1 else f"{connections} connections"
            yield rate(f"bare endpoint, {where}", theirs)
            for (game, with_key), windows in found.items():
                name = f"{game}, {where}{', Idempotency-Key' if with_key else ''}"
                yield rate(name, windows)
                rates, others = ([each.load.rate for each in side] for side in (windows, theirs))
                yield figure(f"{name} / bare endpoint", ratios(rates, others), "ratio", least=SHARE)
                costs, others = ([each.total for each in side] for side in (windows, theirs))
                yield figure(f"CPU: bare endpoint / {name}", ratios(others, costs), "ratio", least=SHARE)


def rate(name: str, windows: list[Window]) -> Figure:
    """Return the figure of some windows: the rate, and beside it the latencies and the processor time of a request."""
    late = [sorted_share([took for each in windows for took in each.load.latencies], share) * 1000 for share in (0.5, 0.99)]
    cpu = {name: statistics.median(each.cpu.get(name, 0.0) for each in windows) for name in windows[0].cpu}
    told = f"p50 {late[0]:.3g} ms, p99 {late[1]:.3g} ms; CPU µs: {', '.join(f'{name} {used:.0f}' for name, used in cpu.items())}"
    return figure(name, [each.load.rate for each in windows], "requests/s", told=told)
