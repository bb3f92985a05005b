"""Let bots play each other, and rate them: `./run arena play DIR --game GAME --bot NAME=WHAT …`, `./run arena table DIR`.

docs/tournament.md has the rules of an arena, and what its files prove.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import multiprocessing
import os
import secrets
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from tqdm import tqdm

from events.keeping import durable
from events.notary.signer import KeysUnfit, Signer
from evidence.notes import Malformed, parse_vkey
from games import GAMES
from games.drawing import legible
from players import LEVELS
from sdk.python.warledger_client import Error
from tools.arena import remote
from tools.arena.ladder import ladder
from tools.arena.plan import FILE, USUAL_CLOCK, BadPlan, Plan, Planned, bot_of, checked, read
from tools.arena.playing import hello, play
from tools.arena.programs import Program, die_with_parent, greeted
from tools.arena.standings import JSON, MATCHES, TEXT, BadFile, all_seen, as_bytes, as_text, file_of, rows_of, table_of

KEYS = "keys"
MEGABYTE = 1 << 20


class CannotPlay(Exception):
    """The arena cannot begin or go on. The text says why, in sentences."""


def main(arguments: list[str] | None = None) -> int:
    """Run a command of the arena.

    Return 0, 1 if a table differs from the files or a match was not played, or 2 if a plan or a file cannot be used.
    """
    parser = argparse.ArgumentParser(prog="./run arena", description="Let bots play each other, and rate them (docs/tournament.md).")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_play(commands.add_parser("play", help="play the matches of an arena that are missing, and write its table"))
    again = commands.add_parser("table", help="verify every dossier of an arena, and compute its table again")
    again.add_argument("folder", type=Path, metavar="DIR")
    _add_jobs(again)
    again.set_defaults(run=_table)
    rated = commands.add_parser("ladder", help="compute the ratings of a service again, from dossiers or records of its rated matches")
    rated.add_argument("files", nargs="+", type=Path, metavar="FILE")
    rated.add_argument("--game", required=True, choices=sorted(GAMES), metavar="GAME", help=", ".join(sorted(GAMES)))
    rated.add_argument("--key", action="append", default=[], metavar="VKEY", help="a key of the server that you have noted")
    rated.add_argument("--until", default="", metavar="MATCH", help="the last match that counts: the one that the service names")
    rated.add_argument("--json", action="store_true", help="print the ratings as JSON")
    rated.set_defaults(run=_ladder)
    options = parser.parse_args(arguments)
    try:
        status: int = options.run(options)
    except (BadPlan, BadFile, CannotPlay, KeysUnfit, Malformed, Error, OSError) as reason:
        print(legible(str(reason)), file=sys.stderr)
        return 2
    return status


def _add_play(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="DIR", help="the folder of the arena; one that has a plan goes on")
    parser.add_argument("--game", choices=sorted(GAMES), metavar="GAME", help=", ".join(sorted(GAMES)))
    parser.add_argument(
        "--bot",
        action="append",
        default=[],
        metavar="NAME=WHAT",
        help=f"a bot: a level ({', '.join(LEVELS)}), a command such as 'mine=python3 bot.py', or the id of a player of --service",
    )
    parser.add_argument("--seats", type=int, metavar="N", help="bots in a match (2)")
    parser.add_argument("--rounds", type=int, metavar="N", help="how often each set of bots plays every rotation of its seats (10)")
    parser.add_argument("--seed", metavar="S", help="what the dice follow from (default: drawn)")
    parser.add_argument("--options", type=json.loads, metavar="JSON", help="the match options, as a JSON object")
    parser.add_argument("--clock", type=json.loads, metavar="JSON", help=f"the clock of programs and players ({json.dumps(USUAL_CLOCK)})")
    parser.add_argument("--service", default="", metavar="URL", help="the service on which players play")
    parser.add_argument("--memory", type=int, default=0, metavar="MB", help="the address space of each program (no bound)")
    _add_jobs(parser)
    parser.set_defaults(run=_play)


def _add_jobs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="matches at once (all cores)")


# ---------------------------------------------------------------- play


def _play(options: argparse.Namespace) -> int:
    """Play what is missing. Write and print the table."""
    folder: Path = options.folder
    (folder / MATCHES).mkdir(parents=True, exist_ok=True)
    with _alone(folder):
        signer = Signer(folder / KEYS)
        plan = _plan(options, signer)
        missing = [planned for planned, seen in all_seen(plan, folder, options.jobs) if seen is None]
        memory = options.memory * MEGABYTE
        _try_programs(plan, missing, memory)
        task = partial(_one, plan, folder, memory)
        with multiprocessing.Pool(options.jobs, _begin) as pool:
            failed = list(tqdm(pool.imap_unordered(task, missing), total=len(missing), unit="match", leave=False))
        for sentence in sorted(filter(None, failed)):
            print(legible(sentence), file=sys.stderr)
        table = table_of(folder, options.jobs)
        durable.write(folder / TEXT, as_text(table).encode(), 0o644)
        durable.write(folder / JSON, as_bytes(table), 0o644)
    print("\n".join(map(legible, as_text(table).splitlines())))
    return int(table["matches"]["played"] < table["matches"]["planned"])


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep other processes from playing this arena until the end of the block. Raises CannotPlay."""
    with (folder / ".lock").open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CannotPlay(f"Another process plays the arena in {folder}.") from None
        yield


def _plan(options: argparse.Namespace, signer: Signer) -> Plan:
    """Return the plan in the folder, or make one. Raises BadPlan, CannotPlay, KeysUnfit, OSError."""
    given = {name: getattr(options, name) for name in ("game", "seats", "rounds", "seed", "options", "clock", "service")}
    given = {name: value for name, value in given.items() if value not in (None, "")}
    if options.bot:
        given["bots"] = tuple(map(bot_of, options.bot))
    try:
        plan = read(options.folder)
        given |= {"bots": remote.with_accounts(given["bots"], plan)} if "bots" in given else {}
    except FileNotFoundError:
        return _new_plan(given, options.folder, signer)
    other = next((name for name, value in given.items() if getattr(plan, name) != value), None)
    if other:
        raise CannotPlay(f"The arena in {options.folder} has another plan: {other} is {getattr(plan, other)!r}. Name another folder.")
    if plan.key not in signer.vkeys():
        raise CannotPlay(f"The keys in {options.folder / KEYS} are not those of the plan.")
    return plan


def _new_plan(given: dict[str, Any], folder: Path, signer: Signer) -> Plan:
    if "game" not in given or "bots" not in given:
        raise CannotPlay(f"There is no arena in {folder}. Name a game and the bots to begin one.")
    usual = {"seats": 2, "rounds": 10, "seed": secrets.token_hex(16), "options": {}, "clock": USUAL_CLOCK}
    plan = checked(Plan(**{**usual, **given, "key": signer.vkeys()[-1]}))
    if plan.service:
        plan = checked(remote.registered(plan, folder / KEYS))
    durable.write(folder / FILE, json.dumps(plan.as_json(), indent=1).encode() + b"\n", 0o644)
    return plan


def _try_programs(plan: Plan, missing: list[Planned], memory: int) -> None:
    """Start every program once, before a match depends on it. Raises CannotPlay."""
    for bot in plan.bots:
        planned = next((one for one in missing if bot in one.seats.values()), None)
        if not bot.program or planned is None:
            continue
        seat = next(seat for seat, other in planned.seats.items() if other == bot)
        try:
            program = Program(bot.program, memory)
        except OSError as reason:
            raise CannotPlay(f"{bot.name} cannot be started: {reason.strerror}.") from None
        try:
            greeted(program, hello(plan, plan.match_id(planned), list(planned.seats), seat, 0))
        finally:
            program.close()
        if program.fault:
            raise CannotPlay(f"{bot.name} {program.fault}. {program.errors.decode(errors='replace')}".strip())


def _begin() -> None:
    """Prepare a process that plays. It ends with the arena, and its programs with it."""
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _one(plan: Plan, folder: Path, memory: int, planned: Planned) -> str:
    """Play a match and write its files. Return how programs failed, in sentences."""
    file = file_of(folder, planned.number)
    keys = folder / KEYS
    played = remote.play(plan, planned, keys, memory) if plan.service else play(plan, planned, Signer(keys), memory)
    about = {"programs": played.programs, "failed": [one._asdict() for one in played.failed]}
    durable.write(file.with_suffix(".json"), json.dumps(about, indent=1).encode() + b"\n", 0o644)
    if played.dossier:
        durable.write(file, played.dossier, 0o644)
    return "\n".join(f"Match {planned.number}: {one.bot} {one.sentence}." for one in played.failed)


# ---------------------------------------------------------------- table and ladder


def _table(options: argparse.Namespace) -> int:
    """Compute the table again and print it. Return 1 if the one in the folder has other bytes."""
    table = table_of(options.folder, options.jobs)
    print("\n".join(map(legible, as_text(table).splitlines())))
    for name, content in ((JSON, as_bytes(table)), (TEXT, as_text(table).encode())):
        file = options.folder / name
        if not file.exists():
            durable.write(file, content, 0o644)
        elif file.read_bytes() != content:
            print(f"{file} has another table than its files.", file=sys.stderr)
            return 1
    return 0


def _ladder(options: argparse.Namespace) -> int:
    """Print the ratings that follow from files."""
    found = ladder(options.files, options.game, tuple(map(parse_vkey, options.key)), options.until)
    if options.json:
        print(json.dumps(found))
        return 0
    counted = found["counted"]
    print(f"{found['game']}: {counted['matches']} rated matches" + (f", up to {counted['match']}" if counted["match"] else ""))
    print("\n".join(map(legible, rows_of(found["ratings"], "player"))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
