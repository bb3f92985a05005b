"""Start a private service, play one match over HTTP against AI seats, replay it move by move, and audit it: `./run demo`."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from games import GAMES
from games.choices import complete
from games.kernel import AUDITOR, Game, evolve
from record.trail import Report, audit_entries
from sdk.python.warledger_client import Client, Error, in_the_game
from tools import private
from tools.words import facts, move

LONGEST = 600.0  # seconds of a match
OPENING = 8  # how many entries to print at the start and at the end of a match
LINE = 480  # characters of a line that are printed


class Failed(Exception):
    """A check of the demo has failed. The text says which."""


def main(arguments: list[str] | None = None) -> int:
    """Run the demo. Return 0 if every check passes."""
    parser = argparse.ArgumentParser(
        prog="./run demo", description="Start a private service, play a match against AI seats, replay it and audit it."
    )
    parser.add_argument("--game", choices=sorted(GAMES), default="war")
    parser.add_argument("--seed", default="1", help="the seed of the scripted client's choices (default: 1); the service draws the dice")
    parser.add_argument("--full", action="store_true", help="print every entry of the replay with all its events")
    options = parser.parse_args(arguments)
    try:
        with tempfile.TemporaryDirectory(prefix="warledger-demo-") as folder:
            say("Starting a private service with its own store, queue, web server and workers, in a temporary folder.")
            with private.service(Path(folder) / "data") as place:
                run(place, GAMES[options.game], options.seed, options.full)
    except (Failed, Error, RuntimeError) as reason:
        print(f"\nThe demo failed: {reason}", file=sys.stderr)
        return 1
    return 0


def run(place: private.Place, game: Game, seed: str, full: bool) -> None:
    """Run all parts of the demo. Raises Failed, Error."""
    say(f"It listens at {place.url}.")
    title("A player signs up and creates a match")
    client = Client(place.url, patience=LONGEST, receipts=place.data / "receipts")
    made = client.register("Ada")
    say(f"POST /v1/players            Ada is {made['id']}. Her key is shown once.")
    seats = seats_for(game)
    match = client.post("/v1/matches", {"game": game.id, "seats": seats})
    say(f"POST /v1/matches            {game.title}, match {match['id']}: {', '.join(f'{seat} is {who}' for seat, who in seats.items())}")
    say(f"                            The service commits to the dice first: SHA-256 of their secret is {match['commitment'][:16]}…")
    title("The match, from its stream")
    began = time.monotonic()
    ended = play(client, match["id"], seed)
    seconds = time.monotonic() - began
    winners = " and ".join(ended["outcome"]["winners"]) or "nobody"
    say(f"\n{winners} won ({ended['outcome']['reason'].replace('_', ' ')}) after {ended['version']} entries in {seconds:.1f} s.")
    title("The replay")
    replay(client, game, match["id"], ended["version"], full)
    title("The audit")
    check_audit(client, match["id"])
    say("\nEvery check passed. The temporary folder is now deleted. `./run serve` keeps its data.")


def seats_for(game: Game) -> dict[str, str]:
    """Return who has each seat: Ada and AI players, three in all if the game allows it."""
    ids = game.seats.ids[: max(game.seats.least, min(3, game.seats.most))]
    levels = ["me", "ai:greedy", "ai:random", "ai:greedy"]
    return dict(zip(ids, levels, strict=False))


def play(client: Client, match: str, seed: str) -> dict[str, Any]:
    """Play Ada's seat to the end, while a thread follows the stream. Return the finished match. Raises Failed."""
    counts: Counter[str] = Counter()
    follower = threading.Thread(target=follow, args=(client, match, counts), daemon=True)
    follower.start()
    dice, played = random.Random(seed), client.match(match)
    deadline = time.monotonic() + LONGEST
    version = 0
    standing: dict[str, Any] = client.get(f"/v1/matches/{match}")
    while standing["outcome"] is None:
        if time.monotonic() > deadline:
            raise Failed(f"the match was not over after {LONGEST:g} s")
        offered = client.get(f"/v1/matches/{match}/choices")
        if choices := in_the_game(offered["choices"]):
            choice = dice.choice(choices)
            version = played.act(complete(choice["action"], choice.get("choose", {}), dice.randrange))["version"]
        else:
            news = client.get(f"/v1/matches/{match}/entries", after=max(version, offered["version"]), wait=10)
            version = news["version"]
        standing = client.get(f"/v1/matches/{match}")
    follower.join(20)
    if follower.is_alive() or sum(counts.values()) != standing["version"]:
        raise Failed(f"the stream sent {sum(counts.values())} entries of {standing['version']}")
    say(f"  {'…':>5}  The stream sent every entry, once and in order: {', '.join(f'{who} {n}' for who, n in counts.items())}.")
    return standing


def follow(client: Client, match: str, counts: Counter[str]) -> None:
    """Follow the stream to the end of the match. Count the entries of each actor. Print the first ones, and those of the system."""
    for shown in client.match(match).stream():  # it checks the chain of digests, and so that no entry is missing
        entry = by_name(shown)
        counts[entry["actor"]] += 1
        if entry["version"] <= OPENING or entry["actor"] == "system":
            say("  " + move(entry))


def by_name(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry with Ada's name. She creates the match under her id and acts under the name of her seat."""
    return {**entry, **({"actor": "Ada"} if entry["version"] == 1 else {})}


def replay(client: Client, game: Game, match: str, last: int, full: bool) -> None:
    """Print the match from its entries, and compare the folded documents with those of the service. Raises Failed."""
    entries = client.get(f"/v1/matches/{match}/entries", after=0, limit=last, viewer=AUDITOR)["entries"]
    while entries[-1]["version"] < last:
        entries += client.get(f"/v1/matches/{match}/entries", after=entries[-1]["version"], viewer=AUDITOR)["entries"]
    document: dict[str, Any] = {}
    checked = 0
    for entry in entries:
        for event in entry["events"]:
            if event["type"] in game.facts:
                document = evolve(game, document, event)
        if full or entry["version"] <= OPENING or entry["version"] > last - OPENING:
            say("  " + move(by_name(entry)))
            for fact in facts(entry):
                say(" " * 21 + fact)
        elif entry["version"] == OPENING + 1:
            say(f"  {'…':>5}  (--full prints every entry)")
        if entry["version"] % 10 == 0 or entry["version"] == last:
            theirs = client.get(f"/v1/matches/{match}/state", at=entry["version"], viewer=AUDITOR)["view"]
            if theirs != document:
                raise Failed(f"the entries do not fold to the state at version {entry['version']}")
            checked += 1
    say(f"\nGET …/entries and …/state?at=n agree: the events fold to the same document, compared {checked} times.")


def check_audit(client: Client, match: str) -> None:
    """Audit the match with the service, and its record without it. Change one entry: the audit must find it. Raises Failed."""
    report = client.get(f"/v1/matches/{match}/audit")
    if not report["ok"]:
        raise Failed(f"the audit found {report['findings']}")
    say(f"GET …/audit    {report['versions']} decided again: commitment {report['commitment']}, dice {report['dice']}, no findings.")
    lines = client.fetch(f"/v1/matches/{match}/record", accept="application/x-ndjson").splitlines()
    alone: Report = audit_entries(GAMES, lines)
    if not alone.ok or alone.digest != report["digest"]:
        raise Failed(f"the audit of the record alone found {alone.findings}")
    say(f"GET …/record   The exported record ({sum(map(len, lines)):,} bytes) passes the audit here, without the service,")
    say(f"               and ends in the same digest: {alone.digest[:32]}…")
    place = len(lines) // 2  # the first line is the header, so the line at index n is the entry of version n
    lines[place] = lines[place].replace(b'"at":1', b'"at":2', 1)
    found = audit_entries(GAMES, lines).findings
    if not found or found[0].version != place:
        raise Failed(f"a changed entry {place} was not found: {found}")
    say(f"Tampering      With one digit of entry {place} changed, the audit says: version {found[0].version}, {found[0].code}.")


def title(text: str) -> None:
    """Print a heading."""
    say(f"\n{text}\n{'-' * len(text)}")


def say(text: str) -> None:
    """Print a line at once."""
    print(text[:LINE], flush=True)


if __name__ == "__main__":
    sys.exit(main())
