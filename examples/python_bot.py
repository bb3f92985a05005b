"""A bot that plays any game of Warledger: it chooses at random among what is legal. examples/README.md says how to start it."""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Mapping
from typing import TYPE_CHECKING

from warledger_client import Client, Match, Turn

if TYPE_CHECKING:
    from warledger_client.types import Game, Standing


def decide(turn: Turn) -> Mapping[str, object]:
    """Return an action. A choice can be sent as it is; the member `choose` of an open choice says which other counts are legal."""
    choice = random.choice(turn.choices)
    action = choice["action"]
    bids = choice.get("choose", {}).get("ammo")
    if action["type"] == "bid" and isinstance(bids, list):
        return {**action, "ammo": random.randint(*bids)}
    return action


def seats_of(game: Game) -> dict[str, str]:
    """Return who takes which seat of a new match: the bot the first one, and the machine as few others as possible."""
    return dict(zip(game["seats"], ["me"] + ["ai:greedy"] * (game["least_seats"] - 1), strict=False))


def join(match: Match, standing: Standing, me: str | None) -> None:
    """Take a free seat of a match, unless the bot has one."""
    if any(who.get("player") == me for who in standing["seats"].values()):
        return
    kept = standing["invited"]
    free = [seat for seat, who in standing["seats"].items() if who.get("open") and kept.get(seat, me) == me]
    match.join(free[0])


def main() -> None:
    """Play one match: a new one, or one that somebody else has created."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url", nargs="?", default="http://127.0.0.1:8000")
    parser.add_argument("--game", default="war")
    parser.add_argument("--match", help="a match with an open seat or with a seat of yours (default: a new match against the machine)")
    parser.add_argument("--name", default="Ada")
    parser.add_argument("--receipts", metavar="FOLDER", help="for what the server signs, and the signing key (default: ~/.warledger)")
    options = parser.parse_args()
    with Client(options.url, os.environ.get("WARLEDGER_KEY"), receipts=options.receipts) as client:
        if client.key is None:
            client.register(options.name)
        if options.match is None:
            match = client.create(options.game, seats_of(client.game(options.game)))
        else:
            match = client.match(options.match)
            join(match, match.standing(), client.me()["id"])
        print(f"match {match.id}")
        for turn in match.turns():
            action = decide(turn)
            if played := turn.act(action):
                print(f"{played['version']} {turn.seat}: {action['type']}")
        print(f"won by {' and '.join(match.outcome['winners'])}: {match.outcome['reason']}" if match.outcome else "not played to an end")


if __name__ == "__main__":
    main()
