"""Play matches of a store from another copy of the program, and print what came of it as JSON: run by test_pinning in that copy.

usage: python going_on.py KEY MATCH...   MATCH is `new`, the id of a match that goes on, or `?` and that of one whose rules are missing
"""

from __future__ import annotations

import random
import sys
import time
from typing import Any

import orjson
from flask.testing import FlaskClient

from events import audit, recall
from events.due import ADVANCE, THINK, owed
from events.platform import Platform, open_platform
from record.entries import parse
from service.app import create_app
from service.http.settings import Settings
from workers.jobs import do_step

FOREVER = 1e12
NEW = {"game": "war", "seats": {"red": "me", "blue": "ai:greedy"}}


class Player:
    """The player of a key, over HTTP."""

    def __init__(self, client: FlaskClient, key: str) -> None:
        self._client = client
        self._key = {"Authorization": f"Bearer {key}"}

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """Send a request, and return the answer."""
        return self._client.open(path, method=method, json=body, headers={**self._key, **headers})


def play_on(platform: Platform, player: Player, match: str, dice: random.Random) -> None:
    """Play a match to its end: the player over HTTP at random, the system and the AI seats as a worker does."""
    while not (position := recall.position(platform, match)).ended:
        (actor,) = position.to_act
        if actor == "red":
            choices = [choice for choice in player.ask("GET", f"/v1/matches/{match}/choices").json["choices"] if "at_table" not in choice]
            action = dice.choice(choices)["action"]
            answer = player.ask("POST", f"/v1/matches/{match}/actions", action, **{"If-Match": f'"{position.version}"'})
            assert answer.status_code == 200, answer.text
        else:
            (work,) = [work for work in owed(position) if work.kind in (ADVANCE, THINK)]
            do_step(platform, work, FOREVER)


def about(platform: Platform, player: Player, match: str) -> dict[str, Any]:
    """Return what is told of a match: its rolls, by whom and under which rules, its audit and its picture."""
    entries = [parse(raw) for raw in platform.store.log.read_all(match)]
    report = audit.audit(platform, match)
    rolls = [
        (entry.version, event[side]["die"])
        for entry in entries
        for event in entry.events
        if event["type"] == "attack_rolled"
        for side in ("attack", "defence")
    ]
    picture = player.ask("GET", f"/v1/matches/{match}/state.svg")
    return {
        "match": match,
        "ok": report.ok,
        "findings": [finding._asdict() for finding in report.findings],
        "replayed_only": report.replayed_only,
        "revisions": report.revisions,
        "rules": report.rules,
        "versions": report.versions,
        "rolls": rolls,
        "picture": [picture.status_code, picture.text[:4]],
        "choices": player.ask("GET", f"/v1/matches/{match}/choices").status_code,
        "state": player.ask("GET", f"/v1/matches/{match}/state").status_code,
        "standing": player.ask("GET", f"/v1/matches/{match}").json["revision"],
    }


def refused(platform: Platform, player: Player, match: str) -> dict[str, Any]:
    """Return how everything about a match is answered whose rules are missing."""
    asked = {
        "choices": player.ask("GET", f"/v1/matches/{match}/choices"),
        "state": player.ask("GET", f"/v1/matches/{match}/state"),
        "picture": player.ask("GET", f"/v1/matches/{match}/state.svg"),
        "entries": player.ask("GET", f"/v1/matches/{match}/entries"),
        "stream": player.ask("GET", f"/v1/matches/{match}/stream"),
        "act": player.ask("POST", f"/v1/matches/{match}/actions", {"type": "end_moves"}),
        "resign": player.ask("POST", f"/v1/matches/{match}/actions", {"type": "resign"}),
        "standing": player.ask("GET", f"/v1/matches/{match}"),
    }
    report = audit.audit(platform, match)
    while "rules_missing" not in (health := player.ask("GET", "/readyz").json):
        time.sleep(0.05)
    return {
        "answers": {name: [answer.status_code, answer.json.get("code") if answer.json else None] for name, answer in asked.items()},
        "version": recall.position(platform, match).version,
        "audit": [report.ok, report.dice, report.replayed_only],
        "missing": health["rules_missing"],
    }


def main(key: str, matches: list[str]) -> None:
    """Play or ask about the matches, and print what came of it."""
    platform = open_platform()
    player = Player(create_app(platform, Settings()).test_client(), key)
    found: list[dict[str, Any]] = []
    for place, match in enumerate(matches):
        if match.startswith("?"):
            found.append(refused(platform, player, match[1:]))
            continue
        id = player.ask("POST", "/v1/matches", NEW).json["id"] if match == "new" else match
        play_on(platform, player, id, random.Random(place))
        found.append(about(platform, player, id))
    print(orjson.dumps(found).decode())
    platform.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
