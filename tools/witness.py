"""Watch the log of a server, or cosign it for others: `./run witness`.

`watch` fetches the newest checkpoint repeatedly, and checks that the log has only grown. It needs only public routes of the server.
`serve` is a witness as described in c2sp.org/tlog-witness. Servers ask it for cosignatures.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import json
import os
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
from flask import Flask, Response, request
from granian import Granian
from granian.constants import Interfaces

from events.keeping.durable import write
from events.modules import full_name
from evidence import checkpoints, cosigning, tiles, tree, witness
from evidence.checkpoints import Checkpoint
from evidence.notes import COSIGNATURE, ED25519, Malformed, SigningKey, VerifierKey, parse_vkey
from evidence.tiles import Edge, Tile
from evidence.witness import Answer

STATE, LOGS = "WARLEDGER_WITNESS_STATE", "WARLEDGER_WITNESS_LOGS"
SECONDS = 10.0  # how long to wait for an answer
LONGEST = 16_777_216  # the most bytes of an answer
ROUNDS = 3  # how often a server may show an older log before it counts, because a cache may do so

Say = Callable[[str], object]


class Forked(Exception):
    """A log has two histories. The text says which, and the notes are the evidence."""

    heading = "FORK."

    def __init__(self, sentence: str, *notes: str) -> None:
        super().__init__(sentence)
        self.notes = notes


class Older(Forked):
    """A log stays at an older tree than was seen. The store may come from a backup, or this may be the beginning of a second history."""

    heading = "OLDER."


class Unable(Exception):
    """The log cannot be checked. The text says why."""


class Seen(NamedTuple):
    """The newest checkpoint that was seen of a log, as a signed note."""

    note: str

    @property
    def checkpoint(self) -> Checkpoint:
        """The checkpoint in the note."""
        return checkpoints.of_note(self.note)[0]


class State:
    """The folder of a witness: its key, and the newest checkpoint that it has seen of each log."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Lock the folder for a block."""
        with (self.folder / ".lock").open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def key(self, name: str = "") -> SigningKey:
        """Return the key for cosignatures. The first call makes it. Raises Unable."""
        file = self.folder / "witness.json"
        with self.alone():
            if not file.exists():
                made = {"name": name or f"witness-{secrets.token_hex(6)}", "secret": secrets.token_hex(32)}
                write(file, json.dumps(made).encode() + b"\n")
            try:
                stored = json.loads(file.read_bytes())
                return SigningKey(stored["name"], bytes.fromhex(stored["secret"]), COSIGNATURE)
            except (ValueError, KeyError, TypeError):
                raise Unable(f"{file} is damaged.") from None

    def seen(self, origin: str) -> Seen | None:
        """Return the newest checkpoint that was seen of a log, or None. Raises Unable."""
        file = self._file(origin)
        try:
            found = Seen(file.read_text())
            if found.checkpoint.origin != origin:
                raise Malformed("it is of another log")
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as reason:
            raise Unable(f"{file} is damaged ({reason}). Restore it from a copy: without it, a fork would not be noticed.") from None
        return found

    def keep(self, seen: Seen) -> None:
        """Store a checkpoint, so that it survives a power cut."""
        write(self._file(seen.checkpoint.origin), seen.note.encode())

    def keep_evidence(self, notes: tuple[str, ...]) -> Path:
        """Store the notes that show a fork, and return the file."""
        file = self.folder / f"fork-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{secrets.token_hex(3)}.txt"
        write(file, "\n".join(notes).encode())
        return file

    def _file(self, origin: str) -> Path:
        return self.folder / f"log-{hashlib.sha256(origin.encode()).hexdigest()[:16]}.checkpoint"


# ---------------------------------------------------------------- watching


class Server:
    """The public routes of a server whose log is watched. Every method raises Unable."""

    def __init__(self, url: str, transport: httpx.BaseTransport | None = None) -> None:
        self.url = url.rstrip("/")
        self._client = httpx.Client(timeout=SECONDS, follow_redirects=False, transport=transport)

    def note(self) -> str:
        """Return the newest checkpoint, a signed note."""
        return self._get("/log/checkpoint").decode(errors="replace")

    def keys(self) -> list[VerifierKey]:
        """Return the keys that the server publishes."""
        try:
            return [parse_vkey(key["vkey"]) for key in json.loads(self._get("/.well-known/warledger-keys"))["keys"]]
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

    def _get(self, path: str, size: int | None = None) -> bytes:
        try:
            with self._client.stream("GET", self.url + path) as response:
                found = b""
                for piece in response.iter_bytes():
                    found += piece
                    if len(found) > LONGEST:
                        raise Unable(f"{self.url}{path} is too long.")
        except (httpx.HTTPError, httpx.InvalidURL) as reason:
            raise Unable(f"{self.url} does not answer ({type(reason).__name__}).") from None
        if response.status_code != 200 or size not in (None, len(found)):
            raise Unable(f"{self.url}{path} answers with {response.status_code} and {len(found)} bytes.")
        return found


class Watch:
    """The watch over the log of a server. `keys`: the keys of the log; without any, those that the server publishes at each round."""

    def __init__(self, server: Server, state: State, keys: list[VerifierKey], say: Say = print) -> None:
        self._server = server
        self._state = state
        self._keys = keys
        self._say = say
        self._older = 0

    def look(self) -> Checkpoint | None:
        """Check the log once. Return its newest checkpoint, or None if the server shows an older one. Raises Forked, Unable."""
        found = self._signed(self._server.note())
        with self._state.alone():
            seen = self._state.seen(found.checkpoint.origin)
            if seen is None or self.compare(seen, found):
                nothing = Checkpoint(found.checkpoint.origin, 0, tree.EMPTY)
                self._check_leaves(nothing if seen is None else seen.checkpoint, found.checkpoint)
                self._state.keep(found)
        return None if self._older else found.checkpoint

    def compare(self, seen: Seen, found: Seen) -> bool:
        """Return True if the log has grown since the checkpoint `seen`. Raises Forked, Unable."""
        old, new = seen.checkpoint, found.checkpoint
        if new.size < old.size:
            self._older += 1
            sentence = f"{self._server.url} shows {new.size} leaves of the log {new.origin}, but {old.size} were seen."
            self._say(sentence)
            if not self._begins(new, old):
                raise Forked(sentence, seen.note, found.note)
            if self._older >= ROUNDS:
                raise Older(sentence, seen.note, found.note)
            return False
        self._older = 0
        if new.size == old.size and new.root != old.root:
            raise Forked(f"The log {new.origin} has two trees of {new.size} leaves.", seen.note, found.note)
        if not self._begins(old, new):
            raise Forked(f"The log {new.origin} with {new.size} leaves does not continue that with {old.size}.", seen.note, found.note)
        return new.size > old.size

    def compare_with(self, note: str) -> None:
        """Compare the log with a checkpoint that somebody else has seen. Raises Forked, Unable."""
        other, found = self._signed(note), self._signed(self._server.note())
        if other.checkpoint.origin != found.checkpoint.origin:
            raise Unable(f"The checkpoint is of the log {other.checkpoint.origin}, but the server shows {found.checkpoint.origin}.")
        self.compare(other, found)

    def _begins(self, old: Checkpoint, new: Checkpoint) -> bool:
        """Return True if the tree of the `old` checkpoint is the beginning of the tree of the `new` one. Tiles of the server prove it.

        If the server shows fewer leaves than the new checkpoint has, there may be no proof. The result is then True.
        """
        if old.size in (0, new.size):
            return old.root == (tree.EMPTY if old.size == 0 else new.root)
        spans = [*tree.consistency_spans(old.size, new.size), *tree.root_span(new.size)]
        try:
            known = {(tile.level, tile.number): self._server.tile(tile) for tile in tiles.tiles_of(spans, new.size)}
        except Unable:
            if self._older:
                return True
            raise
        node = tiles.node_of(lambda level, number, width: known[level, number])
        if tree.hash_of_span(tree.Span(0, new.size), node) != new.root:
            raise Unable(f"The tiles of {self._server.url} do not lead to the root of its checkpoint of {new.size} leaves.")
        return tree.is_consistent(old.size, old.root, new.size, new.root, tree.proof(tree.consistency_spans(old.size, new.size), node))

    def _check_leaves(self, old: Checkpoint, new: Checkpoint) -> None:
        """Check that the server has the new leaves, and that they lead from the old tree to the new one. Raises Unable."""
        last = [self._server.tile(tile) if tile.width else [] for tile in tiles.edge_tiles(old.size)]
        edge = Edge(old.size, tuple(map(tuple, last)))
        if edge.root != old.root:
            raise Unable(f"The tiles of {self._server.url} do not lead to the root of {old.size} leaves.")
        for number in range(old.size // tiles.WIDTH, -(-new.size // tiles.WIDTH)):
            leaves = self._server.leaves(Tile(0, number, tiles.width_of(0, number, new.size)))
            edge, _ = tiles.grow(edge, tiles.leaf_hashes(leaves[max(0, old.size - number * tiles.WIDTH) :]))
        if (edge.size, edge.root) != (new.size, new.root):
            raise Unable(f"The entries of {self._server.url} are not those of its tree of {new.size} leaves.")

    def _signed(self, note: str) -> Seen:
        """Return a checkpoint after checking its signature. Raises Unable."""
        keys = self._keys or self._server.keys()
        try:
            found, parsed = checkpoints.of_note(note)
        except Malformed as reason:
            raise Unable(f"{self._server.url} shows no checkpoint: {reason}.") from None
        if not witness.is_signed(parsed, [key for key in keys if key.kind == ED25519 and key.name == found.origin]):
            raise Unable(f"The checkpoint of {found.origin} is not signed by a key of that log.")
        return Seen(note)


def watch(options: argparse.Namespace) -> int:
    """Watch a log until it forks or a signal comes. Return 1 for a fork, 2 if the log could not be checked."""
    state = State(options.state)
    watching = Watch(Server(options.url), state, options.log, say)
    shown: Checkpoint | None = None
    try:
        for file in options.seen:
            watching.compare_with(file.read_text())
        while True:
            try:
                found = watching.look()
                if found is not None and found != shown:
                    say(f"{found.origin}: {found.size} leaves, and nothing but growth since they were first seen.")
                shown = found
                status = 2 if found is None else 0
            except Unable as reason:
                say(str(reason))
                status = 2
            if options.once:
                return status
            time.sleep(options.every)
    except Forked as fork:
        file = state.keep_evidence(fork.notes)
        say(f"{fork.heading} {fork} Both checkpoints are in {file}:")
        say("\n".join(fork.notes))
        return 1
    except (Unable, OSError) as reason:
        say(str(reason))
        return 2


# ---------------------------------------------------------------- serving


def application() -> Flask:
    """Return the application of a witness. The environment names its state and its logs."""
    state = State(Path(os.environ[STATE]))
    return witness_app(state, [parse_vkey(vkey) for vkey in os.environ[LOGS].split()])


def witness_app(state: State, keys: list[VerifierKey]) -> Flask:
    """Return the application of a witness for the logs with these keys."""
    logs: dict[str, list[VerifierKey]] = {}
    for key in keys:
        logs.setdefault(key.name, []).append(key)
    signing = state.key()
    app = Flask("witness", static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = cosigning.LONGEST_REQUEST

    @app.post("/add-checkpoint")
    def add_checkpoint() -> Response:
        body = request.get_data().decode(errors="replace")
        with state.alone():
            seen = {origin: found.checkpoint for origin in logs if (found := state.seen(origin)) is not None}
            given = witness.answer(body, logs, seen, signing, int(time.time()))
            if given.keep is not None:
                state.keep(Seen(cosigning.parse_request(body).note))
            if given.fork:
                _keep_fork(state, body)
        return _response(given)

    return app


def _keep_fork(state: State, body: str) -> None:
    note = cosigning.parse_request(body).note
    seen = state.seen(checkpoints.of_note(note)[0].origin)
    assert seen is not None, "a fork is one of what was seen"
    say(f"FORK. Both checkpoints are in {state.keep_evidence((seen.note, note))}.")


def _response(given: Answer) -> Response:
    kind = "text/x.tlog.size" if given.status == 409 else "text/plain; charset=utf-8"
    return Response(given.body, given.status, content_type=kind)


def serve(options: argparse.Namespace) -> int:
    """Serve a witness until a signal comes."""
    if not options.log:
        say("A witness cosigns only logs that it knows. Name the key of each log with --log.")
        return 2
    try:
        key = State(options.state).key(options.name)
    except (Unable, Malformed, OSError) as reason:
        say(str(reason))
        return 2
    os.environ[STATE] = str(options.state)
    os.environ[LOGS] = " ".join(log.vkey for log in options.log)
    say(f"This witness signs with {key.verifier.vkey}")
    say(f"WARLEDGER_WITNESSES=http://{options.host}:{options.port} {key.verifier.vkey}")
    Granian(
        full_name("tools.witness:application"),
        address=options.host,
        port=options.port,
        interface=Interfaces.WSGI,
        factory=True,
        websockets=False,
        log_enabled=False,
        workers_kill_timeout=1,
    ).serve()
    return 0


def say(sentence: str) -> None:
    """Print a sentence at once."""
    print(sentence, flush=True)


def _named(tile: Tile) -> str:
    return tiles.path(tile.number) + ("" if tile.width == tiles.WIDTH else f".p/{tile.width}")


def _vkey(text: str) -> VerifierKey:
    try:
        return parse_vkey(text)
    except Malformed as reason:
        raise argparse.ArgumentTypeError(str(reason)) from None


def _folder(parser: argparse.ArgumentParser, logs: str) -> None:
    parser.add_argument("--state", type=Path, default=Path("witness"), help="the folder for the state of the witness (./witness)")
    parser.add_argument("--log", type=_vkey, action="append", default=[], metavar="VKEY", help=logs)


def main(arguments: list[str] | None = None) -> int:
    """Watch or serve. Return the exit status."""
    parser: Any = argparse.ArgumentParser(prog="./run witness", description="Watch the log of a server, or cosign it for others.")
    modes = parser.add_subparsers(required=True)
    watching = modes.add_parser("watch", help="check repeatedly that the log of a server only grows")
    watching.add_argument("url", help="address of the server")
    watching.add_argument("--every", type=float, default=10.0, metavar="SECONDS", help="seconds between two checks (10)")
    watching.add_argument("--once", action="store_true", help="check once")
    watching.add_argument("--seen", type=Path, action="append", default=[], metavar="FILE", help="a checkpoint that somebody else has seen")
    _folder(watching, "a key of the log, as `./run keys` prints it; without any, the keys that the server publishes")
    watching.set_defaults(run=watch)
    serving = modes.add_parser("serve", help="cosign the checkpoints of logs that only grow")
    serving.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    serving.add_argument("--port", type=int, default=8100, help="port to listen on (8100)")
    serving.add_argument("--name", default="", help="name of the witness for its key, which the first start makes")
    _folder(serving, "a key of a log to cosign, as `./run keys` prints it")
    serving.set_defaults(run=serve)
    options = parser.parse_args(arguments)
    return int(options.run(options))


if __name__ == "__main__":
    sys.exit(main())
