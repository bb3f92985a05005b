"""Measure the share of signing a receipt in the time of an action, from request to answer, without a connection."""

from __future__ import annotations

import io
import random
import time
from collections.abc import Callable
from typing import Any

import orjson
from werkzeug.test import EnvironBuilder

from benchmarks.load import drawn
from benchmarks.pairs import Figure, figure, interleaved, ratios
from benchmarks.place import Place, Run
from events import play
from games.kernel import SYSTEM
from service.app import create_app
from service.http.settings import Settings
from tools.client import in_the_game

GAME = "war"
SEATS = {"red": "me", "blue": "me"}
ACTIONS = 60
SHARE = 0.05


def begin(status: str, headers: list[tuple[str, str]], error: Any = None) -> Callable[[bytes], object]:
    """Do nothing with the head of an answer: the `start_response` of WSGI."""
    return lambda _: None


def measured(run: Run) -> list[Figure]:
    """Measure an action in a process of the web server, and a receipt."""
    with run.place("receipts") as place:
        return _measured(place, run.pairs)


def _measured(place: Place, pairs: int) -> list[Figure]:
    app = create_app(place.platform, Settings(log_requests=False))
    dice = random.Random(1)

    def ask(path: str, body: Any = None) -> tuple[float, Any]:
        """Return the seconds of a request, and its answer."""
        data = None if body is None else orjson.dumps(body)
        headers = [("Authorization", f"Bearer {place.keys[0]}")]
        builder = EnvironBuilder(
            path, method="GET" if body is None else "POST", data=data, headers=headers, content_type="application/json"
        )
        environ = builder.get_environ()
        environ["wsgi.input"] = io.BytesIO(data or b"")
        began = time.perf_counter()
        answer = b"".join(app(environ, begin))
        return time.perf_counter() - began, orjson.loads(answer)

    def acting() -> float:
        match = ask("/v1/matches", {"game": GAME, "seats": SEATS})[1]["id"]
        spent: list[float] = []
        while len(spent) < ACTIONS:
            choices = in_the_game(ask(f"/v1/matches/{match}/choices")[1]["choices"])
            if not choices:
                play.play(place.platform, match, SYSTEM, [{"type": "advance"}])
            else:
                seconds, answer = ask(f"/v1/matches/{match}/actions", drawn(choices, dice.randrange))
                assert answer["receipt"], answer
                spent.append(seconds)
        return sum(spent) / ACTIONS * 1e6

    def signing() -> float:
        began = time.perf_counter()
        for version in range(ACTIONS):
            place.platform.signer.receipt("m" + "a" * 16, version, "0f" * 32, 1_700_000_000_000)
        return (time.perf_counter() - began) / ACTIONS * 1e6

    signing()
    sign, act = interleaved(signing, acting, pairs)
    return [
        figure("an action, from its request to its answer", act, "µs"),
        figure("the receipt of an action", sign, "µs"),
        figure("receipt / action", ratios(sign, act), "ratio", most=SHARE),
    ]
