"""Measure what running matches of each game take in the store: memory and the append-only file, by kind of key. Also an idle service."""

from __future__ import annotations

import random
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

from benchmarks.ledger import used
from benchmarks.pairs import Figure, figure
from benchmarks.place import Place, Run
from events import play, recall
from events.keeping import aof, embedded
from events.platform import Platform
from games.kernel import SYSTEM, Game, any_action

MATCHES, LONGEST = 4, 600  # matches of each game with all its seats, and their actions
MEMORY, FILE, IDLE = 280, 400, 10  # bytes an entry in memory, bytes an entry in the append-only file, MB a day
CLOCK = {"kind": "bank", "seconds": 86_400, "increment": 10, "delay": 5}
DAY = 86_400
ROWS = 12  # of the largest kinds

_KEY = re.compile(rb"\{[a-z]+\d*\}:((?:i:)?[a-z]+)")
_WORD = re.compile(rb"\$(\d+)\r\n")


def measured(run: Run) -> Iterator[Figure]:
    """Measure matches of each game, half of them with increments. Then measure what a service writes that does nothing."""
    with run.place("lean", workers=0) as place:
        played(place.platform, place.platform.games["war"], MATCHES)  # connections and their buffers take memory, too
        entries = written = 0
        for game in place.platform.games.values():
            found = _of_game(place, game)
            yield from found.figures
            entries, written = entries + found.entries, written + found.written
        yield figure("all games: append-only file for an entry", [written / entries], "bytes", most=FILE)
    with run.place("idle") as place:
        yield _idle(place, max(run.seconds, 5.0))


class _Taken(NamedTuple):
    """What matches of a game have taken: the rows, how many entries they have, and the bytes of the append-only file."""

    figures: list[Figure]
    entries: int
    written: int


def _of_game(place: Place, game: Game) -> _Taken:
    platform, store = place.platform, place.data / "store"
    memory, size, keys = used(platform), _size(store), set(platform.store.client.keys("*"))
    matches = [played(platform, game, seed) for seed in range(MATCHES)]
    entries = sum(map(platform.store.log.head, matches))
    told = f"{entries // len(matches)} entries a match"
    rows = [figure(f"{game.id}: memory of the store for an entry", [(used(platform) - memory) / entries], "bytes", most=MEMORY, told=told)]
    of_keys, of_commands = Counter[str](), Counter[str]()
    for key in set(platform.store.client.keys("*")) - keys:
        of_keys[_kind(key.encode())] += int(platform.store.client.ask("MEMORY", "USAGE", key, "SAMPLES", 0))
    rows += [figure(f"{game.id}:   of it {kind}", [taken / entries], "bytes") for kind, taken in of_keys.most_common(ROWS)]
    written, names = _written(store, size), {name.lower(): command for command, name in embedded.renamed(place.data).items()}
    for name, taken in commands(written, names):
        of_commands[name] += taken
    rows.append(figure(f"{game.id}: append-only file for an entry", [len(written) / entries], "bytes", most=FILE))
    rows += [figure(f"{game.id}:   of it {name}", [taken / entries], "bytes") for name, taken in of_commands.most_common(ROWS)]
    return _Taken(rows, entries, len(written))


def played(platform: Platform, game: Game, seed: int) -> str:
    """Return a match with all seats of a game, each of a player of its own. Each action has a request id, as clients send it."""
    dice = random.Random(f"{game.id} {seed}")
    letters = "abcdefghijklmnopqrstuvwxyz234567"
    players = {seat: f"p{''.join(dice.choices(letters, k=16))}" for seat in game.seats.ids}
    first, *others = game.seats.ids
    seats = {first: "me", **dict.fromkeys(others, "open")}
    match = play.create(platform, players[first], game.id, seats, {}, settings={"clock": CLOCK} if seed % 2 else None).match
    for seat in others:
        play.act_at_table(platform, match, players[seat], {"type": "take_seat", "seat": seat})
    for _ in range(LONGEST):
        position = recall.position(platform, match)
        if not position.to_act:
            break
        actor = position.to_act[0]
        action = any_action(game, position.document, actor, dice.randrange)
        if actor == SYSTEM:
            play.play(platform, match, actor, [action])
        else:
            request = str(UUID(int=dice.getrandbits(128), version=4))
            play.play(platform, match, actor, [action], player=players[actor], request=request)
    return match


def _idle(place: Place, seconds: float) -> Figure:
    """Measure what the processes of a service without players write to the append-only file of the store."""
    store = place.data / "store"
    size = _size(store)
    time.sleep(seconds)
    written = _size(store) - size
    processes = sum(map(len, place.processes().values()))
    return figure(
        "an idle service: append-only file", [written * DAY / seconds / 1e6], "MB a day", most=IDLE, told=f"{processes} processes"
    )


def _size(store: Path) -> int:
    return sum(file.stat().st_size for file in aof.files(store))


def _written(store: Path, after: int) -> bytes:
    """Return the bytes of the append-only file after its first `after` bytes."""
    return b"".join(file.read_bytes() for file in aof.files(store))[after:]


def commands(written: bytes, names: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    """Yield each command in a part of an append-only file with the kind of its key, and its bytes. `names`: commands by secret name."""
    place = 0
    while place < len(written):
        end = written.index(b"\r\n", place) + 2
        if written[place : place + 1] != b"*":
            yield "note", end - place
            place = end
            continue
        words, start = [], place
        for _ in range(int(written[place + 1 : end - 2])):
            word = _WORD.match(written, end)
            assert word is not None
            words.append(written[word.end() : word.end() + int(word[1])])
            end = word.end() + int(word[1]) + 2
        name = names.get(words[0].decode().lower(), words[0].decode())
        yield f"{name} {_kind(words[1])}" if len(words) > 1 else name, end - start
        place = end


def _kind(key: bytes) -> str:
    found = _KEY.match(key)
    return found[1].decode() if found else key.decode(errors="replace")
