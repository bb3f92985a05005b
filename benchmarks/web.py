"""Measure pictures: the processor time of a frame, the bytes of a board and of a replay, and the first picture of a long match.

Requests are carried out as in a process of the web server, without a connection.
"""

from __future__ import annotations

import gzip
import random
import time
from collections.abc import Iterator
from typing import Any

from flask import Flask
from flask.testing import FlaskClient

from benchmarks.growth import LONG, filled
from benchmarks.pairs import Figure, figure
from benchmarks.place import Place, Run, own_id
from events import play, recall
from events.platform import Platform
from games import GAMES
from games.kernel import SPECTATOR, Game, any_action
from service.app import create_app
from service.http.limits import LONGEST_REPLAY, NO_LIMITS
from service.http.settings import Settings
from web.look import definitions, look
from web.picture import draw

FRAME = 2.0  # milliseconds of processor time
BOARD = 6.0  # KB, compressed, with its definitions
REPLAY = 150.0  # bytes a version, compressed
FIRST = 1000.0  # milliseconds
LONGEST = 1200  # actions of a match
HEADERS = {"Accept": "application/x-ndjson", "Accept-Encoding": "gzip"}


def measured(run: Run) -> Iterator[Figure]:
    """Measure every game with all its seats, and a match of War! with 5,000 versions."""
    with run.place("web") as place:
        yield from _measured(place, run.pairs)


def _measured(place: Place, rounds: int) -> Iterator[Figure]:
    player = own_id(place.caller())
    for game in GAMES.values():
        matches = [played(place.platform, player, game, number) for number in range(rounds)]
        replays = [replayed(fresh(place.platform), match) for match in matches]
        yield from [
            figure(f"{game.id}: a frame", [seconds * 1000 / versions for seconds, _, versions in replays], "ms CPU", most=FRAME),
            figure(f"{game.id}: a replay", [size / versions for _, size, versions in replays], "bytes/version", most=REPLAY),
            figure(f"{game.id}: the board", [board(place.platform, game, match) / 1000 for match in matches], "KB", most=BOARD),
        ]
    long = filled(place.platform, player, LONG)
    yield figure("the first picture at version 5,000", [first(place.platform, long) for _ in range(rounds)], "ms", most=FIRST)


def fresh(platform: Platform) -> Flask:
    """Return an application with an empty cache of frames."""
    return create_app(platform, Settings(log_requests=False, limits=NO_LIMITS))


def played(platform: Platform, player: str, game: Game, seed: int, longest: int = LONGEST) -> str:
    """Return a match with every seat of a game, played at random to its end or for `longest` actions."""
    dice = random.Random(seed)
    match = play.create(platform, player, game.id, dict.fromkeys(game.seats.ids, "me"), {}).match
    for _ in range(longest):
        position = recall.position(platform, match)
        if not position.to_act:
            break
        actor = position.to_act[0]
        play.play(platform, match, actor, [any_action(game, position.document, actor, dice.randrange)])
    return match


def replayed(app: Flask, match: str) -> tuple[float, int, int]:
    """Return the processor seconds, the bytes and the versions of a whole replay, as a spectator gets it."""
    client, after, size, newest = app.test_client(), 0, 0, versions(app.test_client(), match)
    began = time.process_time()
    while after < newest:
        path = f"/v1/matches/{match}/frames?after={after}&limit={LONGEST_REPLAY}&key={str(not after).lower()}"
        answer = client.get(path, headers=HEADERS)
        assert answer.status_code == 200, answer.data
        size += len(answer.data)
        after += LONGEST_REPLAY
    return time.process_time() - began, size, newest


def versions(client: FlaskClient, match: str) -> int:
    """Return the newest version of a match."""
    answer: Any = client.get(f"/v1/matches/{match}").json
    return int(answer["version"])


def board(platform: Platform, game: Game, match: str) -> int:
    """Return the largest compressed size of the board with its definitions, at some versions of a match."""
    return max(len(gzip.compress(text.encode())) for text in _boards(platform, game, match))


def _boards(platform: Platform, game: Game, match: str) -> Iterator[str]:
    newest, looks = recall.position(platform, match).version, look(game)
    for share in (2, 4, 6, 8):
        view = game.view(recall.state_at(platform, match, max(1, newest * share // 8)).document, SPECTATOR)
        drawn = "".join(draw(game, view).board.fragments.values())
        yield definitions(drawn, looks) + drawn


def first(platform: Platform, match: str) -> float:
    """Return the milliseconds until a page has the newest picture of a match, in a process with empty caches."""
    platform.cache.drop(match)
    client = fresh(platform).test_client()
    began = time.perf_counter()
    newest = versions(client, match)
    for path in (f"/m/{match}", f"/v1/matches/{match}/frames?after={newest - 1}&limit=1"):
        assert client.get(path, headers=HEADERS).status_code == 200
    return (time.perf_counter() - began) * 1000
