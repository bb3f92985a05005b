"""Watch the log of a server, or cosign it for others: `./run witness`.

`watch` fetches the newest checkpoint and the new leaves repeatedly. It checks that the log has only grown, and that no leaf contradicts
another. It needs only public routes of the server. `export` writes the leaves that it has seen into a file.
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
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from flask import Flask, Response, request
from granian import Granian
from granian.constants import Interfaces

from events.keeping.durable import write
from events.modules import full_name
from evidence import checkpoints, cosigning, leaves, showing, witness
from evidence.checkpoints import Checkpoint
from evidence.notes import COSIGNATURE, Malformed, SigningKey, VerifierKey, parse_vkey
from evidence.witness import Answer
from tools import ages
from tools.asking import Server
from tools.logs import Unable
from tools.scans import Scan
from tools.watching import Forked, Watch

STATE, LOGS = "WARLEDGER_WITNESS_STATE", "WARLEDGER_WITNESS_LOGS"
DAY = 86_400  # s


class Seen(NamedTuple):
    """The newest checkpoint that was cosigned of a log, as a signed note."""

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

    def keep_file(self, name: str, text: str) -> Path:
        """Store a text under a name, so that it survives a power cut, and return the file."""
        file = self.folder / name
        write(file, text.encode())
        return file

    def keep_fork(self, proof: str, kind: str = "fork", suffix: str = "json") -> Path:
        """Store the file that shows a fork, and return it."""
        moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        return self.keep_file(f"{kind}-{moment}-{secrets.token_hex(3)}.{suffix}", proof)

    def scan(self, origin: str) -> Path:
        """Return the file for the leaves of a log."""
        return self.folder / f"log-{_short(origin)}.sqlite"

    def _file(self, origin: str) -> Path:
        return self.folder / f"log-{_short(origin)}.checkpoint"


# ---------------------------------------------------------------- watching


def watch(options: argparse.Namespace) -> int:
    """Watch a log until it forks or a signal comes. Return 1 for a fork or another alarm, 2 if the log could not be checked."""
    state, scans = State(options.state), dict[str, Scan]()

    def scan(origin: str) -> Scan:
        if origin not in scans:
            if not state.scan(origin).exists() and any(state.folder.glob("log-*.sqlite")):
                say(f"{origin}: this log was not seen before. A server that takes another name begins another log, and leaves the old one.")
            scans[origin] = Scan(state.scan(origin))
            alarms = _alarms(scans[origin])
            if alarms:
                say(f"{origin}: {alarms} alarms were found before. Their files are in {state.folder}.")
        return scans[origin]

    def keep(name: str, text: str) -> Path:
        return state.keep_file(f"finding-{name}.json", text)

    watching = Watch(Server(options.url), scan, keep, options.log, say)
    shown: Checkpoint | None = None
    seen = 0
    told: set[tuple[str, int]] = set()
    try:
        for file in options.seen:
            watching.compare_with(file.read_text(encoding="utf-8"))
        while True:
            try:
                found = watching.look(int(time.time()))
                if found is not None and found != shown:
                    say(f"{found.origin}: {found.size} leaves{_verdict(scans[found.origin])}.")
                    _tell_keys(scans[found.origin], options.player, told)
                shown = found
                seen = int(time.time()) if found else seen
                status = 2 if found is None else int(_alarms(scans[found.origin]) > 0)
            except Unable as reason:
                say(kept_back(reason, seen, int(time.time())))
                status = 2
            if options.once:
                return status
            time.sleep(options.every)
    except Forked as fork:
        file = state.keep_fork(fork.proof, fork.heading[:-1].lower(), fork.suffix)
        say(f"{fork.heading} {fork} Both checkpoints are in {file}:")
        say(fork.proof)
        return 1
    except (Unable, OSError) as reason:
        say(str(reason))
        return 2


def kept_back(reason: Unable, seen: int, now: int) -> str:
    """Return what is said of a log that cannot be had. `seen`: when it was last seen, in seconds, or 0. After a day it is an alarm."""
    last = f" The log was last seen at {datetime.fromtimestamp(seen, UTC).isoformat()}." if seen else ""
    return f"{'ALARM: ' if seen and now - seen >= DAY else ''}{reason}{last}"


def _alarms(scan: Scan) -> int:
    return sum(finding.is_alarm for finding in scan.found())


def _verdict(scan: Scan) -> str:
    alarms = _alarms(scan)
    return f". It contradicts itself: {alarms} alarms" if alarms else ", and nothing but growth since they were first seen"


def _tell_keys(scan: Scan, players: list[str], told: set[tuple[str, int]]) -> None:
    """Say which signing keys were registered and revoked for players, each leaf once."""
    for player in players:
        for number, raw in scan.of(player):
            leaf = leaves.read(raw)
            if leaf.kind in (leaves.REGISTERED, leaves.REVOKED) and (player, number) not in told:
                told.add((player, number))
                done = "registered" if leaf.kind == leaves.REGISTERED else "revoked"
                say(f"{player}: the signing key {leaf.digest} was {done} {ages.when(leaf.at)} (leaf {number}).")


def export(options: argparse.Namespace) -> int:
    """Write all leaves of the watched logs into files. Return 2 if there is none."""
    try:
        files = sorted(options.state.glob("log-*.sqlite"))
        if len(files) != 1 and not options.log:
            raise Unable(f"{options.state} has {len(files)} logs. Name the key of one with --log.")
        for file in [State(options.state).scan(key.name) for key in options.log] or files:
            scan = Scan(file, readonly=True)
            with options.to.open("wb") as output:
                scan.write(output)
            say(f"{options.to}: {scan.size} leaves of {scan.origin}.")
            scan.close()
    except (Unable, OSError) as reason:
        say(str(reason))
        return 2
    return 0


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
                _keep_fork(state, body, keys)
        return _response(given)

    return app


def _keep_fork(state: State, body: str, keys: list[VerifierKey]) -> None:
    note = cosigning.parse_request(body).note
    seen = state.seen(checkpoints.of_note(note)[0].origin)
    assert seen is not None, "a fork is one of what was seen"
    proof = showing.of_fork(seen.note, note, [], [key.vkey for key in keys])
    say(f"FORK. Both checkpoints are in {state.keep_fork(proof)}.")


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


def _short(origin: str) -> str:
    return hashlib.sha256(origin.encode()).hexdigest()[:16]


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
    watching = modes.add_parser("watch", help="check repeatedly that the log of a server only grows, and does not contradict itself")
    watching.add_argument("url", help="address of the server")
    watching.add_argument("--every", type=float, default=10.0, metavar="SECONDS", help="seconds between two checks (10)")
    watching.add_argument("--once", action="store_true", help="check once")
    watching.add_argument("--seen", type=Path, action="append", default=[], metavar="FILE", help="a checkpoint that somebody else has seen")
    watching.add_argument("--player", action="append", default=[], metavar="ID", help="say which signing keys this player has in the log")
    _folder(watching, "a key of the log, as `./run keys` prints it; without any, the keys that the server publishes")
    watching.set_defaults(run=watch)
    exporting = modes.add_parser("export", help="write all leaves of a watched log into a file, for `./run verify --log`")
    exporting.add_argument("to", type=Path, metavar="FILE", help="the file to write")
    _folder(exporting, "a key of the log, if the folder has several")
    exporting.set_defaults(run=export)
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
