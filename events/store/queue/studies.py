"""Keep studies: hints, analyses and puzzles that somebody asks for and a worker computes. They are on the queue's server, and expire.

A study is not due work: it is in no index, and may be lost. It continues as long as somebody asks for its answer. Asking again leads to the
same answer.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from events.due import ANALYSIS, HINT, PUZZLE, Owed
from events.errors import StoreUnavailable
from events.store.client import queue_errors
from events.store.queue.server import QueueServer
from record.allowances import ALLOWANCES

_MINUTE = 60_000
_DAY = 24 * 60 * _MINUTE

FAILED_MS = _MINUTE

ANALYSTS = tuple(ALLOWANCES)
"""The levels that rate each action: those that search."""


class Bounds(NamedTuple):
    """The bounds of a kind of study.

    `wait_ms`: how long a study waits for a worker to do its next part. `keep_ms`: how long
    answers are kept. `keep`: how many are kept.
    """

    wait_ms: int
    keep_ms: int
    keep: int


BOUNDS: Mapping[str, Bounds] = {
    HINT: Bounds(10 * _MINUTE, 10 * _MINUTE, 2000),
    ANALYSIS: Bounds(60 * _MINUTE, 7 * _DAY, 500),
    PUZZLE: Bounds(10 * _MINUTE, _DAY, 2000),
}


class Study(NamedTuple):
    """A study. `answer`: in JSON, empty if it failed, None if it is not done. `parts`: how many are done. `last`: the last part."""

    answer: bytes | None
    asker: str
    parts: int
    last: bytes | None


def hint_for(match: str, version: int, seat: str, level: str, asker: str, now: int) -> Owed:
    """Return the work of a hint: what a level would play for a seat at a version."""
    return Owed(HINT, match, version, f"{seat}:{level}", now, asker)


def hinted(target: str) -> tuple[str, str]:
    """Return the seat and the level in the target of a hint."""
    seat, _, level = target.partition(":")
    return seat, level


def analysis_of(match: str, level: str, asker: str, now: int) -> Owed:
    """Return the work of an analysis of a finished match. There is one for each level, so it names the first version."""
    return Owed(ANALYSIS, match, 1, level, now, asker)


def puzzle_of(match: str, at: int, asker: str, now: int, action: str = "") -> Owed:
    """Return the work of making a puzzle of a version of a finished match, or of judging an action that somebody tries there."""
    return Owed(PUZZLE, match, at, action, now, asker)


class Studies:
    """The studies. The threads of a process share it. Every method raises StoreUnavailable if the queue's server does not answer."""

    def __init__(self, url: str) -> None:
        self._server = QueueServer(url)
        self._study, self._add, self._answer = (self._server.script(name) for name in ("study", "study_add", "study_answer"))

    def look(self, work: Owed) -> Study | None:
        """Return a study, or None if nobody has asked for it lately."""
        return self._found(self._run(self._study, [_name(work), work.kind, "", 0, 0]))

    def begin(self, work: Owed, at_once: int | None = None) -> Study | None:
        """Return a study. Begin it for `work.creator` if nobody has asked for it; return None if that player waits for `at_once` others."""
        most = BOUNDS[work.kind].keep if at_once is None else at_once
        return self._found(self._run(self._study, [_name(work), work.kind, work.creator, most, BOUNDS[work.kind].wait_ms]))

    def parts(self, work: Owed) -> Sequence[bytes]:
        """Return the parts of a study, in order."""
        with _translated():
            return [_unpacked(part) for part in self._server.connection.lrange(f"study:{_name(work)}:parts", 0, -1)]

    def add(self, work: Owed, parts: int, part: bytes) -> bool:
        """Add a part to a study that has `parts` parts. Return False if another worker was faster, or nobody wants the study any more."""
        return bool(self._run(self._add, [_name(work), parts, _packed(part), BOUNDS[work.kind].wait_ms]))

    def answer(self, work: Owed, answer: bytes) -> bool:
        """Store the answer of a study. Return False if it has one, or nobody wants it any more."""
        bounds = BOUNDS[work.kind]
        return bool(self._run(self._answer, [_name(work), work.kind, _packed(answer), bounds.keep_ms, bounds.keep]))

    def fail(self, work: Owed) -> None:
        """Mark a study as failed for a while, so that nobody waits for it. After that it can be asked for again."""
        self._run(self._answer, [_name(work), work.kind, b"", FAILED_MS, BOUNDS[work.kind].keep])

    def close(self) -> None:
        """Close the connections."""
        self._server.close()

    def _found(self, answer: Any) -> Study | None:
        if len(answer) < 2:
            return None
        done, asker, parts, last = answer
        return Study(_unpacked(done) if done else done, asker.decode(), parts, _unpacked(last) if last else None)

    def _run(self, script: Any, arguments: Sequence[str | bytes | int]) -> Any:
        with _translated():
            return script(args=arguments)


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except queue_errors as reason:
        raise StoreUnavailable(str(reason)) from reason


def _name(work: Owed) -> str:
    return f"{work.member}|{work.version}"


def _packed(text: bytes) -> bytes:
    return zlib.compress(text, 6)


def _unpacked(packed: bytes) -> bytes:
    return zlib.decompress(packed)
