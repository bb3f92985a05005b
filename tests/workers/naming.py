"""A hostile name server: it answers what a test wants, and something else the next time."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence

import dns.message
import dns.rdatatype
import dns.rrset

Records = Sequence[tuple[str, str, str]]
"""Names, types and values of the records of an answer."""


class NameServer:
    """Answers on UDP. `zone`: by name and type, the answers in turn; the last one stays. No answer at all: None."""

    def __init__(self, zone: Mapping[tuple[str, str], Sequence[Records | None]]) -> None:
        self._zone = zone
        self.asked: list[tuple[str, str]] = []
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                wire, peer = self._socket.recvfrom(4096)
            except OSError:
                return
            query = dns.message.from_wire(wire)
            name = query.question[0].name.to_text().rstrip(".")
            kind = dns.rdatatype.to_text(query.question[0].rdtype)
            times = self.asked.count((name, kind))
            self.asked.append((name, kind))
            answers = self._zone.get((name, kind), [()])
            records = answers[min(times, len(answers) - 1)]
            if records is None:
                continue
            answer = dns.message.make_response(query)
            for owner, type_of, value in records:
                answer.answer.append(dns.rrset.from_text(f"{owner}.", 0, "IN", type_of, value))
            with contextlib.suppress(OSError):
                self._socket.sendto(answer.to_wire(), peer)

    def close(self) -> None:
        self._socket.close()


@contextlib.contextmanager
def naming(zone: Mapping[tuple[str, str], Sequence[Records | None]]) -> Iterator[NameServer]:
    """Answer until the end of the block."""
    server = NameServer(zone)
    try:
        yield server
    finally:
        server.close()


def one(name: str, kind: str, *values: str) -> dict[tuple[str, str], list[Records | None]]:
    """Return a zone with one name, and the same answer each time."""
    return {(name, kind): [[(name, kind, value) for value in values]]}
