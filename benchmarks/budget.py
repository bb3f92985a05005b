"""Measure what an action costs by part, in microseconds: a profile of the web's code from request to answer, and the store's work.

The profile is taken by a signal every few milliseconds of processor time. A part is a module with the libraries that it calls. After it,
the functions that pack what is written count their processor time, and that of the actions.
"""

from __future__ import annotations

import io
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType, SimpleNamespace
from typing import Any
from unittest import mock

import orjson
from werkzeug.test import EnvironBuilder

from benchmarks.http import Ready
from benchmarks.load import drawn
from benchmarks.pairs import Figure, figure
from benchmarks.place import Place, Run
from events.store import log, signing
from sdk.python.warledger_client import in_the_game
from service.app import create_app
from service.http.settings import Settings
from tools.private import ROOT

INSIDE = SimpleNamespace(now=False)  # True while an action is carried out
LEAST = 0.01  # the share of a part that is shown
PACKING = 3.0  # % of an action
WINDOWS = 10


def measured(run: Run) -> Iterator[Figure]:
    """Measure actions of War!, one after the other, in this process. A game's own rules are most of what differs in other games."""
    with run.place("budget", workers=0) as place:
        samples: Counter[str] = Counter()
        asked, took, spent = actions(place, run.matches, samples), [], 0.0
        with unprinted():
            for _ in range(200):
                next(asked)
            samples.clear()
            store, functions = place.cpu()["store"], of_functions(place)
            signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001)
            while spent < WINDOWS * run.seconds:
                took.append(next(asked))
                spent += took[-1][1]
            signal.setitimer(signal.ITIMER_PROF, 0)
            shares = [packing(asked, run.seconds) for _ in range(run.pairs)]
        store, functions = (place.cpu()["store"] - store) / len(took) * 1e6, (of_functions(place) - functions) / len(took)
        total = spent / len(took) * 1e6
        yield figure("an action, from its request to its answer", [wait * 1e6 for wait, _ in took], "µs", told="with what it waits for")
        yield figure("its CPU in the web, without the server", [total], "µs", told=f"{len(took)} actions, {samples.total()} samples")
        rest = samples.total()
        for part, count in samples.most_common():
            if count / samples.total() >= LEAST:
                rest -= count
                yield figure(f"  {part}", [count / samples.total() * total], "µs", told=f"{count / samples.total():.1%}")
        yield figure("  all others", [rest / samples.total() * total], "µs", told=f"{rest / samples.total():.1%}")
        yield figure("its CPU in the store", [store], "µs")
        yield figure("  the store's functions", [functions], "µs")
        yield figure("packing what it writes", shares, "%", most=PACKING, told="of its CPU in the web alone")


def packing(asked: Iterator[tuple[float, float]], seconds: float) -> float:
    """Return how many percent of the processor time of actions the functions take that pack what is written."""
    taken = spent = 0.0

    def counted(pack: Callable[..., bytes]) -> Callable[..., bytes]:
        def call(*given: Any) -> bytes:
            nonlocal taken
            began = time.process_time()
            packed = pack(*given)
            if INSIDE.now:
                taken += time.process_time() - began
            return packed

        return call

    with ExitStack() as stack:
        for module, name in ((log, "pack"), (log, "pack_standing"), (signing, "pack_snapshot")):
            stack.enter_context(mock.patch.object(module, name, counted(getattr(module, name))))
        while spent < seconds:
            spent += next(asked)[1]
    return taken / spent * 100


@contextmanager
def unprinted() -> Iterator[None]:
    """Drop what is printed, for a block: the service's log."""
    kept, null = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(null)


def part_of(frame: FrameType | None) -> str:
    """Return the module of ours that runs, or calls what runs."""
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith(str(ROOT)) and ".venv" not in name:
            return name.removeprefix(f"{ROOT}/")
        frame = frame.f_back
    return "the interpreter"


def of_functions(place: Place) -> float:
    """Return the microseconds that the functions of the store have taken."""
    return float(place.platform.store.client.ask("INFO", "commandstats")["cmdstat_fcall"]["usec"])


def actions(place: Place, matches: int, samples: Counter[str]) -> Iterator[tuple[float, float]]:
    """Play actions in a process of the web server, without a connection. Yield the seconds and the processor seconds of each.

    `samples` counts the signals of the profile in each part of an action.
    """
    app, ready = create_app(place.platform, Settings()), Ready(place, "war", matches)

    def sample(number: int, frame: FrameType | None) -> None:
        if INSIDE.now:
            samples[part_of(frame)] += 1

    signal.signal(signal.SIGPROF, sample)
    while True:
        ready.refresh()
        for match, key, choices in ready.turns:
            while choices:
                data, headers = orjson.dumps(drawn(choices, ready.dice.randrange)), [("Authorization", f"Bearer {key}")]
                builder = EnvironBuilder(
                    f"/v1/matches/{match}/actions", method="POST", data=data, headers=headers, content_type="application/json"
                )
                environ = {**builder.get_environ(), "wsgi.input": io.BytesIO(data)}
                began, worked, INSIDE.now = time.perf_counter(), time.process_time(), True
                answer = b"".join(app(environ, begin))
                INSIDE.now = False
                yield time.perf_counter() - began, time.process_time() - worked
                choices = in_the_game(orjson.loads(answer)["choices"])
            ready.waiting.append(match)
        ready.turns.clear()


def begin(status: str, headers: list[tuple[str, str]], error: Any = None) -> Callable[[bytes], object]:
    """Do nothing with the head of an answer: the `start_response` of WSGI."""
    return lambda _: None
