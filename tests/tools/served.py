"""A log in memory that is served as a server serves it, without HTTP."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx

from evidence import cosigning, tiles, tree
from evidence.checkpoints import Checkpoint, Proof, proof_text
from evidence.cosigning import Request
from evidence.notes import SigningKey
from evidence.statements import Receipt, receipt_text
from evidence.tiles import WIDTH
from evidence.tree import Node
from tools.asking import Server

LOG = SigningKey("log.example", b"l" * 32)
OTHER = SigningKey("log.example", b"o" * 32)


def sealed(name: str) -> bytes:
    return b'{"kind":"sealed","seal":"%b"}' % sha256(name.encode()).hexdigest().encode()


class Log:
    """A log in memory, as the owner of a server may show it: its leaves can be anything, and the key signs whatever it says."""

    def __init__(self, number: int, sign: str = "a", leaves: Sequence[bytes] = ()) -> None:
        self.leaves = list(leaves) or [sealed(f"{sign if place >= 300 else 'a'}{place}") for place in range(number)]
        self.hashes = tiles.leaf_hashes(self.leaves)
        self.size = len(self.leaves)
        self.key = LOG
        self.origin = "log.example"
        self.receipts: dict[tuple[str, int], str] = {}
        self.spectators = "all"
        self.witnesses: Sequence[SigningKey] = ()

    def at(self, size: int) -> Log:
        self.size = size
        return self

    @property
    def checkpoint(self) -> Checkpoint:
        return Checkpoint(self.origin, self.size, tree.hash_of(self.hashes[: self.size]))

    @property
    def note(self) -> str:
        signed = [cosigning.cosign(witness, self.checkpoint.text, 1_790_000_000) for witness in self.witnesses]
        return cosigning.with_cosignatures(self.key.sign(self.checkpoint.text), signed)

    def rows(self) -> list[list[bytes]]:
        found, width = [self.hashes[: self.size]], 1
        while len(found[-1]) >= WIDTH:
            width *= WIDTH
            found.append([tree.hash_of(self.hashes[place : place + width]) for place in range(0, self.size - width + 1, width)])
        return found

    def proof(self, old: int) -> tuple[bytes, ...]:
        return tuple(tree.proof(tree.consistency_spans(old, self.size), self._node()))

    def inclusion(self, index: int) -> str:
        """Return the proof of a leaf, as text."""
        path = tree.proof(tree.inclusion_spans(index, self.size), self._node())
        return proof_text(Proof(index, tuple(path), self.note))

    def write(self, file: Path) -> None:
        """Write the whole log into a file, as a monitor exports it."""
        header = json.dumps({"checkpoint": self.note, "log": 1}, ensure_ascii=False).encode()
        file.write_bytes(header + b"\n" + tiles.bundle(self.leaves[: self.size]))

    def _node(self) -> Node:
        rows = self.rows()
        return tiles.node_of(lambda level, number, width: rows[level][number * WIDTH : (number + 1) * WIDTH])

    def request(self, old: int, **changed: Any) -> str:
        return cosigning.request_text(Request(old, self.proof(old), self.note)._replace(**changed))

    def answer(self, request: httpx.Request) -> httpx.Response:
        """Answer as a server does."""
        path = request.url.path
        if path == "/log/checkpoint":
            return httpx.Response(200, text=self.note)
        if path == "/.well-known/warledger-keys":
            return httpx.Response(200, json={"keys": [{"vkey": self.key.verifier.vkey}]})
        if path.startswith("/v1/matches/"):
            return self._match(*path.split("/")[3:])
        if path == "/log/consistency":
            return self._consistency(*(int(request.url.params[name]) for name in ("from", "to")))
        kind, _, name = path.removeprefix("/log/tile/").partition("/")
        number, width = tiles.number_and_width(name)
        level = 0 if kind == "entries" else int(kind)
        if not 0 < width <= tiles.width_of(level, number, self.size):
            return httpx.Response(404)
        first = number * WIDTH
        if kind == "entries":
            return httpx.Response(200, content=tiles.bundle(self.leaves[first : first + width]))
        return httpx.Response(200, content=b"".join(self.rows()[level][first : first + width]))

    def _consistency(self, first: int, second: int) -> httpx.Response:
        if not 0 <= first <= second <= self.size:
            return httpx.Response(404)
        path = [base64.b64encode(each).decode() for each in Log(0, leaves=self.leaves[:second]).proof(first)]
        return httpx.Response(200, json={"from": first, "to": second, "hashes": path})

    def _match(self, match: str, kind: str, version: str = "") -> httpx.Response:
        if kind == "entries":
            event = {"type": "match_created", "spectators": self.spectators}
            return httpx.Response(200, json={"entries": [{"events": [event]}]})
        note = self.receipts.get((match, int(version)))
        return httpx.Response(404) if note is None else httpx.Response(200, json={"receipt": note})

    def server(self) -> Server:
        return Server("http://log.example", httpx.MockTransport(self.answer))


# ---------------------------------------------------------------- leaves

HOUR = 3_600_000
START = 1_790_000_000_000


def match_id(name: str) -> str:
    """Return the id of a match."""
    return "m" + name.ljust(16, "a")


def digest(name: object) -> str:
    """Return a digest."""
    return sha256(str(name).encode()).hexdigest()


def leaf(kind: str, match: str, version: int, at: int = 0, secret: str = "") -> bytes:
    """Return a leaf of a match. `at`: ms since START. `secret`: two matches with other ones have other digests."""
    commitment = f'"commitment":"{digest(secret)}",' if kind == "begin" else ""
    told = digest((match, version, secret))
    return f'{{"at":{START + at},{commitment}"digest":"{told}","kind":"{kind}","match":"{match_id(match)}","version":{version}}}'.encode()


def receipt(match: str, version: int, at: int, key: SigningKey = LOG) -> str:
    """Return the receipt of a version of a match. `at`: ms since START."""
    return key.sign(receipt_text(Receipt(match_id(match), version, digest((match, version, "")), START + at)))
