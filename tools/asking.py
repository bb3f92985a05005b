"""Read the log of a server over HTTP. Only public routes are asked."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx

from evidence import checkpoints, tiles, tree
from evidence.notes import VerifierKey, parse_vkey
from evidence.tiles import WIDTH, Tile
from tools.logs import Missing, Signed, Unable, signed

SECONDS = 10.0  # how long to wait for an answer
LONGEST = 16_777_216  # the most bytes of an answer
TRIES = 6  # how often something is asked for while the server says when to ask again
LONGEST_PAUSE = 60  # seconds


class Server:
    """The public routes of a server with a log. Every method raises Unable. `pause`: waits for some seconds if the server asks for it."""

    def __init__(self, url: str, transport: httpx.BaseTransport | None = None, pause: Callable[[float], object] = time.sleep) -> None:
        self.url = url.rstrip("/")
        self._pause = pause
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

    def fresh(self, old: int, new: int) -> Iterator[bytes]:
        """Yield the leaves from one size to another."""
        for number in range(old // WIDTH, -(-new // WIDTH)):
            found = self.leaves(Tile(0, number, tiles.width_of(0, number, new)))
            yield from found[max(0, old - number * WIDTH) : WIDTH]

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
        for _ in range(TRIES):
            response, found = self._once(path)
            again = response.headers.get("Retry-After", "")
            if response.status_code == 200 or not again.isdecimal() or int(again) > LONGEST_PAUSE:
                break
            self._pause(int(again))
        if response.status_code != 200 or size not in (None, len(found)):
            kind = Missing if response.status_code in (403, 404) else Unable
            raise kind(f"{self.url}{path} answers with {response.status_code} and {len(found)} bytes.")
        return found

    def _once(self, path: str) -> tuple[httpx.Response, bytes]:
        """Ask once. Return the answer and its bytes."""
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
        return response, b"".join(pieces)


def _named(tile: Tile) -> str:
    return tiles.path(tile.number) + ("" if tile.width == tiles.WIDTH else f".p/{tile.width}")
