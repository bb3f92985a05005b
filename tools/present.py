"""Ask services that a reader trusts for the present state of their logs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from evidence import checkpoints
from evidence.checkpoints import Checkpoint
from tools.asking import Server
from tools.logs import Unable
from tools.scans import Scan
from tools.services import Trusted, named
from tools.watching import Forked, Watch


class Asked(NamedTuple):
    """The answer of a service about its log: the newest checkpoint, or why there is none. `proof`: the file that shows a fork."""

    service: Trusted
    note: str = ""
    why: str = ""
    proof: str = ""


def met(url: str) -> Trusted:
    """Return a service, with the keys that it publishes now. Raises Unable."""
    server = Server(url)
    return Trusted(server.url, tuple(server.keys()))


def look(service: Trusted) -> Asked:
    """Ask a service for its newest checkpoint, and check that it continues the one that was seen before."""
    try:
        server = Server(service.url)
        found = server.signed(list(service.keys))
        seen = _seen(service)
        if seen is None or seen.origin != found.checkpoint.origin:  # a server that takes another name begins another log
            return Asked(service._replace(note=found.note), found.note)
        found = Watch(server, _no_scan, _keep_nothing, list(service.keys), str).compare_with(service.note)
        return Asked(service._replace(note=found.note) if found.checkpoint.size >= seen.size else service, found.note)
    except Forked as fork:
        return Asked(service, why=str(fork), proof=fork.proof)
    except Unable as reason:
        return Asked(service, why=str(reason))


def prove(services: Sequence[Trusted], origin: str, first: int, second: int) -> tuple[bytes, ...] | None:
    """Return the proof of consistency that a service gives for two sizes of its log, or None."""
    for service in named(services, {origin}):
        try:
            return Server(service.url).consistency(first, second)
        except Unable:
            continue
    return None


def _seen(service: Trusted) -> Checkpoint | None:
    return checkpoints.of_note(service.note)[0] if service.note else None


def _no_scan(origin: str) -> Scan:
    raise Unable(f"There is no scan of {origin} here.")


def _keep_nothing(name: str, text: str) -> Path:
    raise Unable(f"{name} is not kept here.")
