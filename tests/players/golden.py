"""Golden decisions: what every level answers in some positions of every game. `python -m tests.players.golden` writes golden.json anew.

Whoever checks a record runs the decisions of a level again, and relies on it that the same revision of the players, with the same weights,
answers the same. So if an answer changes and neither the question nor the weights have, raise `players.REVISION`, and then write the file
anew. The same holds for what shortens budgets (record/allowances.py).
"""

from __future__ import annotations

import builtins
import json
import random
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from games import GAMES
from games.chance import Drawn
from games.kernel import SYSTEM, Game, Memory, State, any_action, carry_out, remembered
from players import LEVELS, REVISION, budget_of, question_of
from players.level import Budget
from players.plans import digest_of
from record.allowances import ALLOWANCES, FULL, HALVINGS, TURNS, WINDOW
from record.thinking import decide

FILE = Path(__file__).with_name("golden.json")
SEATS = (2, 4)  # as far as the game has so many
MOMENTS = (8, 45, 110)  # actions of a random match, after which the next decision of a seat is a question
MOST = 16  # iterations of a search: whole budgets would take minutes


def questions(game: Game, seats: int, seed: int) -> Iterator[tuple[State, Memory, str]]:
    """Yield the positions of a random match in which a seat decides."""
    number = random.Random(f"{game.id} {seats} {seed}").random
    state, memory = game.begin(list(game.seats.ids[:seats]), {}), {}
    waits = list(MOMENTS)

    def draw(below: int) -> int:
        return int(number() * below)

    for actions in range(MOMENTS[-1] + 20):
        if state["outcome"] is not None or not waits:
            return
        actor = state["to_act"][0]
        if actor != SYSTEM and actions >= waits[0]:
            yield state, memory, actor
            del waits[0]
        action = any_action(game, state, actor, draw)
        assert action is not None
        match = carry_out(game, state, actor, action, Drawn(draw))
        state, memory = match.state, remembered(game, memory, match.events)


def decisions() -> Iterator[dict[str, Any]]:
    """Yield what every level answers."""
    for game in GAMES.values():
        for seats in {min(number, game.seats.most): None for number in SEATS}:
            for place, (state, memory, seat) in enumerate(questions(game, seats, 1)):
                for level in LEVELS:
                    question = question_of(game, state, seat, memory)
                    budget = min(MOST, budget_of(question, level).iterations)
                    thought, kept = decide(question, level, Budget(budget), seed=place)
                    asked = {"game": game.id, "seats": seats, "moment": MOMENTS[place], "level": level}
                    yield {**asked, "action": thought.action, "saw": kept["saw"], "budget": budget, "spent": thought.spent}


def golden() -> dict[str, Any]:
    """Return the content of the file, as this program answers."""
    seconds = {level: allowance.seconds for level, allowance in ALLOWANCES.items()}
    budgets = {"full": FULL, "halvings": HALVINGS, "window": WINDOW, "turns": TURNS, "seconds": seconds}
    weights = {game: digest_of(game) for game in GAMES}
    return {"players": REVISION, "budgets": budgets, "weights": weights, "decisions": list(decisions())}


def text(content: dict[str, Any]) -> str:
    """Return the file: a line for each decision."""
    head = json.dumps({name: content[name] for name in ("players", "budgets", "weights")})[:-1]
    lines = ",\n".join(json.dumps(decision, sort_keys=True) for decision in content["decisions"])
    return f'{head}, "decisions": [\n{lines}\n]}}\n'


def _whole_sum(items: Iterable[Any], start: int = 0) -> int:
    """Add whole numbers. Of fractions `sum` has other last digits since Python 3.12, so nothing that decides may use it for them."""
    total = start
    for item in items:
        assert not isinstance(item, float), "add fractions with +, one after the other: sum() gives others in other versions of Python"
        total += item
    return total


if __name__ == "__main__":
    builtins.sum = _whole_sum  # type: ignore[assignment]
    if sys.argv[1:] == ["--print"]:
        sys.stdout.write(text(golden()))
    else:
        FILE.write_text(text(golden()))
