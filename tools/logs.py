"""Read the log of a server over HTTP. Only public routes are asked."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import httpx

from evidence import checkpoints, tiles, tree, witness
from evidence.checkpoints import Checkpoint
from evidence.notes import ED25519, Malformed, VerifierKey, parse_vkey
from evidence.tiles import Tile

SECONDS = 10.0  # how long to wait for an answer
LONGEST = 16_777_216  # the most bytes of an answer


class Unable(Exception):
    """A log cannot be read or checked. The text says why."""


class Missing(Unable):
    """The server has nothing at an address."""


class Signed(NamedTuple):
    """A checkpoint, and the note that a key of its log has signed."""

    checkpoint: Checkpoint
    note: str


class Server:
    """The public routes of a server with a log. Every method raises Unable."""

    def __init__(self, url: str, transport: httpx.BaseTransport | None = None) -> None:
        self.url = url.rstrip("/")
        self._client = httpx.Client(timeout=SECONDS, follow_redirects=False, transport=transport)

    def note(self) -> str:
        """Return the newest checkpoint, a signed note."""
        return self._get("/log/checkpoint").decode(errors="replace")

    def signed(self, keys: list[VerifierKey]) -> Signed:
        """Return the newest checkpoint after checking its signature by these keys, or without any by those that the server publishes."""
        return signed(self.note(), keys or self.keys(), self.url)

    def keys(self) -> list[VerifierKey]:
        """Return the keys that the server publishes."""
        try:
            return [parse_vkey(key["vkey"]) for key in self._json("/.well-known/warledger-keys")["keys"]]
        except (ValueError, KeyError, TypeError):
            raise Unable(f"{self.url} publishes no keys that can be read.") from None

    def tile(self, tile: Tile) -> list[bytes]:
        """Return the hashes of a tile."""
        return tiles.hashes(self._get(f"/log/tile/{tile.level}/{_named(tile)}", tile.width * tree.SIZE))

    def leaves(self, tile: Tile) -> list[bytes]:
        """Return the leaves below a tile of level 0."""
        try:
            return tiles.unbundled(self._get(f"/log/tile/entries/{_named(tile)}"))
        except tiles.BadTile as reason:
            raise Unable(f"{self.url} serves entries that cannot be read: {reason}") from None

    def consistency(self, first: int, second: int) -> tuple[bytes, ...]:
        """Return the proof that the log with `second` leaves continues that with `first`."""
        try:
            return checkpoints.hashes_of(self._json(f"/log/consistency?from={first}&to={second}")["hashes"])
        except (ValueError, KeyError, TypeError):
            raise Unable(f"{self.url} gives no proof of consistency that can be read.") from None

    def receipt(self, match: str, version: int) -> str:
        """Return the signed receipt of a version of a match. Raises Missing if the server shows no such version."""
        try:
            note = self._json(f"/v1/matches/{match}/receipts/{version}")["receipt"]
        except (ValueError, KeyError, TypeError):
            note = None
        if not isinstance(note, str):
            raise Unable(f"{self.url} gives no receipt that can be read.")
        return note

    def first_entry(self, match: str) -> Any:
        """Return the first entry of a match as spectators see it."""
        try:
            return self._json(f"/v1/matches/{match}/entries?after=0&limit=1")["entries"][0]
        except (ValueError, KeyError, TypeError, IndexError):
            raise Unable(f"{self.url} shows no first entry of the match {match}.") from None

    def _json(self, path: str) -> Any:
        try:
            return json.loads(self._get(path))
        except RecursionError:
            raise Unable(f"{self.url}{path} is nested too deep.") from None

    def _get(self, path: str, size: int | None = None) -> bytes:
        pieces, length = [], 0
        try:
            with self._client.stream("GET", self.url + path) as response:
                for piece in response.iter_bytes():
                    pieces.append(piece)
                    length += len(piece)
                    if length > LONGEST:
                        raise Unable(f"{self.url}{path} is too long.")
        except (httpx.HTTPError, httpx.InvalidURL) as reason:
            raise Unable(f"{self.url} does not answer ({type(reason).__name__}).") from None
        if response.status_code != 200 or size not in (None, length):
            kind = Missing if response.status_code in (403, 404) else Unable
            raise kind(f"{self.url}{path} answers with {response.status_code} and {length} bytes.")
        return b"".join(pieces)


def signed(note: str, keys: list[VerifierKey], who: str) -> Signed:
    """Return the checkpoint in a note after checking its signature. `who`: shows it. Raises Unable."""
    try:
        found, parsed = checkpoints.of_note(note)
    except Malformed as reason:
        raise Unable(f"{who} shows no checkpoint: {reason}.") from None
    if not witness.is_signed(parsed, [key for key in keys if key.kind == ED25519 and key.name == found.origin]):
        raise Unable(f"The checkpoint of {found.origin} is not signed by a key of that log.")
    return Signed(found, note)


def _named(tile: Tile) -> str:
    return tiles.path(tile.number) + ("" if tile.width == tiles.WIDTH else f".p/{tile.width}")
