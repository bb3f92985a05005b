"""A bot that thinks: it plays its choices on by the rules, many times, and takes the one after which it stands best on average.

It needs the rules, too: `pip install warledger-client`, then `pip install --no-deps warledger`. What its seat cannot see it guesses,
each time anew. examples/README.md says how to start it.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from warledger.games import GAMES
from warledger.games.chance import Drawn
from warledger.games.choices import complete
from warledger.games.kernel import Branch, Game, any_action, remembered

from warledger_client import Client, Match, Turn

MOST = 40  # actions that are tried
AHEAD = 30  # actions that are played on after each


class Thinker:
    """How to decide in one match. `seconds`: for a decision."""

    def __init__(self, game: Game, seconds: float) -> None:
        self.game = game
        self.seconds = seconds
        self.dice = random.Random()
        self.chance = Drawn(self.dice.randrange)
        self.seen = 0
        self.memory: dict[str, Any] = {}

    def decide(self, turn: Turn) -> dict[str, Any]:
        """Return the action with the best mean, among those that the server lists."""
        actions = list(self.actions(turn.choices))
        if len(actions) == 1:
            return actions[0]
        self.remember(turn.match)
        view, seat = turn.state()["view"], str(turn.seat)
        sums = [0.0] * len(actions)
        end = time.monotonic() + self.seconds
        while True:
            world = self.game.guess(dict(view), seat, self.chance, self.memory)
            for place, action in enumerate(actions):
                sums[place] += self.played_on(world, seat, action)
            if time.monotonic() > end:
                return actions[sums.index(max(sums))]

    def actions(self, choices: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        """Yield the actions to try. Of an open choice these are a few, with counts that are drawn."""
        found: list[dict[str, Any]] = []
        for choice in choices:
            ranges = choice.get("choose", {})
            for _ in range(4 if ranges else 1):
                action = complete(choice["action"], ranges, self.dice.randrange)
                if action not in found:
                    found.append(action)
        yield from self.dice.sample(found, min(MOST, len(found)))

    def played_on(self, world: dict[str, Any], seat: str, action: dict[str, Any]) -> float:
        """Return how the seat stands after an action, and what may follow until its next turn."""
        branch = Branch(self.game, world, self.chance)
        branch.play(seat, action)
        away = False
        for _ in range(AHEAD):
            to_act = branch.state["to_act"]
            away = away or seat not in to_act
            if not to_act or (away and seat in to_act):
                break
            actor = self.dice.choice(to_act)
            follows = any_action(self.game, branch.state, actor, self.dice.randrange)
            if follows is None:
                break
            branch.play(actor, follows)
        worth: float = self.game.worth(branch.state, seat)
        return worth

    def remember(self, match: Match) -> None:
        """Fold what everybody has seen in the match into what is known of hidden things."""
        for entry in match.entries(after=self.seen, viewer="spectator"):
            self.memory = remembered(self.game, self.memory, [dict(event) for event in entry["events"]])
            self.seen = entry["version"]


def main() -> None:
    """Play one match against the machine."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url", nargs="?", default="http://127.0.0.1:8000")
    parser.add_argument("--game", choices=sorted(GAMES), default="war")
    parser.add_argument("--rival", default="ai:greedy")
    parser.add_argument("--seconds", type=float, default=1.0, help="to think about a decision")
    options = parser.parse_args()
    game = GAMES[options.game]
    with Client(options.url, os.environ.get("WARLEDGER_KEY")) as client:
        if client.key is None:
            client.register("Ada the thinker")
        match = client.create(game.id, dict(zip(game.seats.ids, ["me"] + [options.rival] * (game.seats.least - 1), strict=False)))
        print(f"match {match.id}", flush=True)
        thinker = Thinker(game, options.seconds)
        for turn in match.turns():
            action = thinker.decide(turn)
            print(f"{turn.version} {turn.seat}: {action['type']}", flush=True)
            turn.act(action)
        print(f"won by {' and '.join(match.outcome['winners'])}: {match.outcome['reason']}" if match.outcome else "not played to an end")


if __name__ == "__main__":
    main()
