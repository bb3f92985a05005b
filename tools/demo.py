"""`./run demo`: a whole private service, one match played over HTTP against AI seats, replayed move by move, and audited."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from events.audit import Report, audit_entries
from games import GAMES
from games.choices import complete
from games.kernel import AUDITOR, Game, evolve
from tools import private
from tools.client import Client, Problem
from tools.words import facts, move

LONGEST = 600.0
OPENING = 8
BOARD_WIDTH = 120


class Failed(Exception):
    """What went wrong, in a sentence."""


def main(arguments: list[str] | None = None) -> int:
    """Show it; 0 if everything held."""
    parser = argparse.ArgumentParser(prog="run demo", description="A private service, a match against AI seats, its replay and its audit.")
    parser.add_argument("--game", choices=sorted(GAMES), default="war")
    parser.add_argument("--seed", default="1", help="of what the scripted client chooses; the dice are the service's own")
    parser.add_argument("--full", action="store_true", help="print every move of the replay with all its facts")
    options = parser.parse_args(arguments)
    try:
        with tempfile.TemporaryDirectory(prefix="warledger-demo-") as folder:
            say("Starting a private service: its own store, queue, web and workers, in a folder that will be thrown away.")
            with private.service(Path(folder) / "data") as place:
                shown(place, GAMES[options.game], options.seed, options.full)
    except (Failed, Problem, RuntimeError) as reason:
        print(f"\nThe demo failed: {reason}", file=sys.stderr)
        return 1
    return 0


def shown(place: private.Place, game: Game, seed: str, full: bool) -> None:
    """Everything there is to see, in order."""
    say(f"It is open at {place.url}.")
    title("A player signs up and creates a match")
    client = Client(place.url)
    made = client.post("/v1/players", {"name": "Ada"})
    client.key = made["key"]
    say(f"POST /v1/players            Ada is {made['id']}; the key is shown once.")
    seats = seats_for(game)
    match = client.post("/v1/matches", {"game": game.id, "seats": seats})
    say(f"POST /v1/matches            {game.title}, match {match['id']}: {', '.join(f'{seat} is {who}' for seat, who in seats.items())}")
    say(f"                            The dice are bound before anyone plays: SHA-256 of their secret is {match['commitment'][:16]}…")
    title("The match, as its stream tells it")
    began = time.monotonic()
    ended = played(client, match["id"], seats, seed)
    seconds = time.monotonic() - began
    winners = " and ".join(ended["outcome"]["winners"]) or "nobody"
    say(f"\n{winners} won ({ended['outcome']['reason'].replace('_', ' ')}) after {ended['version']} entries in {seconds:.1f} s.")
    title("The replay")
    replayed(client, game, match["id"], ended["version"], full)
    title("The audit")
    audited(client, game, match["id"])
    say("\nAll of it held. The folder is thrown away now; `./run serve` keeps one for good.")


def seats_for(game: Game) -> dict[str, str]:
    """Ada and the AI seats: three seats where the game has them, or as many as it takes."""
    ids = game.seats.ids[: max(game.seats.least, min(3, game.seats.most))]
    levels = ["me", "ai:greedy", "ai:random", "ai:greedy"]
    return dict(zip(ids, levels, strict=False))


def played(client: Client, match: str, seats: dict[str, str], seed: str) -> dict[str, Any]:
    """Play Ada's seat to the end while the stream is followed beside it; how the match stands then."""
    counted: Counter[str] = Counter()
    follower = threading.Thread(target=followed, args=(client, match, counted), daemon=True)
    follower.start()
    dice = random.Random(seed)
    deadline = time.monotonic() + LONGEST
    version = 0
    standing: dict[str, Any] = client.get(f"/v1/matches/{match}")
    while standing["outcome"] is None:
        if time.monotonic() > deadline:
            raise Failed(f"the match was not over after {LONGEST:g} s")
        asked = client.get(f"/v1/matches/{match}/choices")
        if asked["choices"]:
            choice = dice.choice(asked["choices"])
            answer = client.post(f"/v1/matches/{match}/actions", complete(choice["action"], choice.get("choose", {}), dice.randrange))
            version = answer["version"]
        else:
            news = client.get(f"/v1/matches/{match}/entries", after=max(version, asked["version"]), wait=10)
            version = news["version"]
        standing = client.get(f"/v1/matches/{match}")
    follower.join(20)
    if follower.is_alive() or sum(counted.values()) != standing["version"]:
        raise Failed(f"the stream told {sum(counted.values())} entries of {standing['version']}")
    say(f"  {'…':>5}  The stream told of every entry, once and in order: {', '.join(f'{who} {n}' for who, n in counted.items())}.")
    return standing


def followed(client: Client, match: str, counted: Counter[str]) -> None:
    """Follow the stream to the end of the match, count what each actor did, and print the opening and the first of each round."""
    version = 0
    for entry in client.stream(match):
        if entry["version"] != version + 1:
            return  # the count will show it
        version = entry["version"]
        entry = by_name(entry)
        counted[entry["actor"]] += 1
        if version <= OPENING or entry["actor"] == "system":
            say("  " + move(entry))


def by_name(entry: dict[str, Any]) -> dict[str, Any]:
    """The entry with Ada's name instead of her id, by which she created the match; afterwards she is her seat."""
    return {**entry, "actor": "Ada"} if entry["version"] == 1 else entry


def replayed(client: Client, game: Game, match: str, last: int, full: bool) -> None:
    """Tell the match again from its entries, and hold the documents that they fold to against those that the service gives."""
    entries = client.get(f"/v1/matches/{match}/entries", after=0, limit=last, viewer=AUDITOR)["entries"]
    while entries[-1]["version"] < last:
        entries += client.get(f"/v1/matches/{match}/entries", after=entries[-1]["version"], viewer=AUDITOR)["entries"]
    document: dict[str, Any] = {}
    checked = 0
    for entry in entries:
        for event in entry["events"]:
            if event["type"] == "match_created":
                document = event["document"]
            elif event["type"] in game.facts:
                document = evolve(game, document, event)
        tell = full or entry["version"] <= OPENING or entry["version"] > last - OPENING
        if tell:
            say("  " + move(by_name(entry)))
            for fact in facts(entry):
                say(" " * 21 + fact)
        elif entry["version"] == OPENING + 1:
            say(f"  {'…':>5}  (--full prints all of it)")
        if entry["version"] % 10 == 0 or entry["version"] == last:
            there = client.get(f"/v1/matches/{match}/state", at=entry["version"], viewer=AUDITOR)["view"]
            if there != document:
                raise Failed(f"the entries do not fold to the state at version {entry['version']}")
            checked += 1
    say(f"\nGET …/entries and …/state?at=n agree: the facts alone fold to the same document, looked at {checked} times.")


def audited(client: Client, game: Game, match: str) -> None:
    """Let the service audit the match, audit its record here without any service, and spoil one to see it named."""
    report = client.get(f"/v1/matches/{match}/audit")
    if not report["ok"]:
        raise Failed(f"the audit found {report['findings']}")
    say(f"GET …/audit    {report['versions']} entries decided anew: commitment {report['commitment']}, dice {report['dice']}, no findings.")
    lines = client.fetched(f"/v1/matches/{match}/record", accept="application/x-ndjson").splitlines()
    alone: Report = audit_entries(GAMES, lines)
    if not alone.ok or alone.digest != report["digest"]:
        raise Failed(f"the record does not hold by itself: {alone.findings}")
    say(f"GET …/record   The exported record ({sum(map(len, lines)):,} bytes) holds by itself, checked here without the service,")
    say(f"               and ends in the same digest: {alone.digest[:32]}…")
    spoilt = len(lines) // 2
    lines[spoilt] = lines[spoilt].replace(b'"at":1', b'"at":2', 1)
    found = audit_entries(GAMES, lines).findings
    if not found or found[0].version != spoilt + 1:
        raise Failed(f"a changed entry {spoilt + 1} was not found: {found}")
    say(f"Tampering      With one digit of entry {spoilt + 1} changed, the audit says: version {found[0].version}, {found[0].code}.")


def title(text: str) -> None:
    """A heading."""
    say(f"\n{text}\n{'-' * len(text)}")


def say(text: str) -> None:
    """A line, told at once."""
    print(text[: BOARD_WIDTH * 4], flush=True)


if __name__ == "__main__":
    sys.exit(main())
