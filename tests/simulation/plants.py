"""Planted faults: each makes the platform break a law, in a way that a person might have programmed. Schedules must find them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from types import SimpleNamespace
from typing import Any, NamedTuple
from unittest import mock

from events import deciding, play
from events.archive import archivist
from events.archive.objects import Memory
from events.errors import ArchiveUnavailable, StoreUnavailable
from events.notary import sequencing
from events.notary.leading import Lead
from events.platform import Platform
from events.store import library
from events.store.holding import Waits
from events.store.log import Appended
from tests.simulation.functions import FUNCTIONS
from workers import sweep

SCHEDULES = 2000  # that `./run test` plays. They must find each planted fault


class Plant(NamedTuple):
    """A fault. `what`: in words. `law`: how the sentence begins that says which law it breaks. `seed`: the first that found it when
    this was written; tests begin there, and go on up to SCHEDULES if it no longer does."""

    what: str
    law: str
    seed: int
    plant: Callable[[], AbstractContextManager[Any]]


def _instead(place: Any, name: str, wrapper: Callable[..., Any]) -> Callable[[], AbstractContextManager[Any]]:
    """Return what lets a function be called through `wrapper`, which gets the original first."""

    @contextmanager
    def plant() -> Iterator[None]:
        original = getattr(place, name)
        with mock.patch.object(place, name, lambda *args, **more: wrapper(original, *args, **more)):
            yield

    return plant


def _in_lua(changes: dict[str, str]) -> Callable[[], AbstractContextManager[Any]]:
    """Return what changes the functions of the store: by text that they have once, what stands there instead."""

    @contextmanager
    def plant() -> Iterator[None]:
        source = library.code({})
        for old, new in changes.items():
            assert source.count(old) == 1, f"the functions have {source.count(old)} times: {old}"
            source = source.replace(old, new)
        with FUNCTIONS.replaced(source):
            yield

    return plant


def _told_too_early(original: Callable[..., Any], *args: Any, **more: Any) -> Any:
    try:
        return original(*args, **more)
    except StoreUnavailable:
        return Appended()


def _forgets(original: Callable[..., Any], *args: Any, **more: Any) -> Any:
    return original(*args, **more)._replace(due={})


def _unasked(original: Callable[..., Any], *args: Any, **more: Any) -> Any:
    return None


@contextmanager
def _no_wait() -> Iterator[None]:
    with (
        _instead(Waits, "added", _waits_for_nobody)(),
        _instead(Waits, "taken", lambda original, waits, answers, number: answers[:number])(),
    ):
        yield


def _waits_for_nobody(original: Callable[..., Any], waits: Waits, *args: Any, **more: Any) -> Any:
    *commands, (wait, _, patience) = original(waits, *args, **more)
    return [*commands, (wait, 0, patience)]


def _unheld(original: Callable[..., Any], platform: Platform) -> Any:
    client = platform.store.client
    replicas, client.replicas = client.replicas, 0
    try:
        return original(platform)
    finally:
        client.replicas = replicas


@contextmanager
def _unfenced() -> Iterator[None]:
    no_lease = _in_lua(
        {
            "if lease == '' or redis.call('HGET', state, 'lease') ~= lease or": "if",
            "elseif ARGV[3] == '' or lease ~= ARGV[3] then return 0\n": "",
            "elseif said ~= (mark or EMPTY) then error({err = 'ERR the log has another tree'}) end": "end",
        }
    )
    with no_lease(), _instead(sequencing, "sequence", _unheld)(), mock.patch.object(Lead, "take", return_value="1 aaaaaaaaaaaaaaaa"):
        yield


def _unread(original: Callable[..., Any], objects: Any, *what: Any) -> Any:
    with suppress(ArchiveUnavailable):
        return original(objects, *what)
    return original(Memory(), *what)


@contextmanager
def _not_read_back() -> Iterator[None]:
    written: dict[str, Any] = {}

    def write(original: Callable[..., Any], objects: Any, whole: Any, games: Any) -> Any:
        written[whole.match] = whole
        return _unread(original, objects, whole, games)

    def read(original: Callable[..., Any], objects: Any, match: str, away: Any) -> Any:
        return written[match]

    seen = SimpleNamespace(**vars(archivist.objects_of))
    with mock.patch.object(archivist, "objects_of", seen), _instead(seen, "write", write)(), _instead(seen, "read", read)():
        yield


PLANTS = {
    "told before it is written": Plant(
        "a receipt is signed although the store has not answered", "receipts", 61, _instead(play, "_append", _told_too_early)
    ),
    "due work forgotten": Plant("an append leaves the due index as it is", "everything due", 0, _instead(play, "changes", _forgets)),
    "no sweep": Plant("the sweep does nothing", "everything due", 3, _instead(sweep, "sweep", lambda *_: 0)),
    "a request is not recognized": Plant(
        "a repeated request is carried out again", "nothing twice", 70, _instead(deciding.Submission, "claim", _unasked)
    ),
    "append does not look at requests": Plant(
        "the function does not recognize a request",
        "nothing twice",
        70,
        _in_lua({"local answer = request and answer_to(": "local answer = false and answer_to("}),
    ),
    "no wait for replicas": Plant("what is written counts as held when no replica has it", "nothing lost", 104, _no_wait),
    "not read back": Plant("a match is removed before anybody has read its object", "nothing lost", 712, _not_read_back),
    "no fence": Plant("whoever wants to adds leaves and signs them, before replicas have them", "one log", 408, _unfenced),
}
