"""The level `greedy`: try every choice on one guess of the hidden state, and take the action that is worth most at once."""

from __future__ import annotations

from collections.abc import Iterator

from games.chance import Chance
from games.choices import Choice, completing
from games.kernel import Action, Branch, Game, Seat, State, total
from players.level import Budget, Question, Thought, is_forced
from players.luck import Noticed, highest, lowest

SAMPLES = 8  # actions tried of one open choice, at most
TRIED = 240  # actions tried for one decision, about
THROWS = 4  # how often an action that draws chance is tried


def greedy(question: Question, budget: Budget, chance: Chance) -> Thought:
    """Return the action that is worth most after it, on one guess of the hidden state. Draw among equal ones."""
    game, view, choices, seat, memory = question
    if is_forced(choices):
        return Thought(choices[0]["action"])
    state = game.guess(view, seat, chance, memory)
    samples = max(1, min(SAMPLES, TRIED // len(choices)))
    best: list[Action] = []
    most = float("-inf")
    for choice in choices:
        for action in completions(choice, samples, chance):
            gain = expected(game, state, seat, action, chance)
            if gain > most:
                best, most = [action], gain
            elif gain == most:
                best.append(action)
    return Thought(chance.pick(best))


def completions(choice: Choice, most: int, chance: Chance) -> Iterator[Action]:
    """Yield up to `most` different actions of a choice: the lowest counts, the highest counts, then drawn ones.

    >>> from games.chance import Drawn
    >>> choice = {"action": {"type": "take"}, "choose": {"pebbles": [1, 9]}}
    >>> [action["pebbles"] for action in completions(choice, 3, Drawn(lambda below: below // 2))]
    [1, 9, 5]
    """
    action = choice["action"]
    ranges = choice.get("choose")
    if ranges is None:
        yield action
        return
    tried: list[Action] = []
    completed_by = completing(action, ranges)
    for number in (lowest, highest, *[chance.number] * (2 * most)):
        if len(tried) == most:
            return
        completed = completed_by(number)
        if completed not in tried:
            tried.append(completed)
            yield completed


def expected(game: Game, state: State, seat: Seat, action: Action, chance: Chance) -> float:
    """Return the worth of the state after an action, for a seat. If the action draws chance, return the mean of `THROWS` tries.

    >>> from games import GAMES
    >>> from games.chance import Drawn
    >>> from games.kernel import carry_out, legal
    >>> war = GAMES["war"]
    >>> state = carry_out(war, war.begin(["red", "blue"], {}), "system", {"type": "advance"}, Drawn(lambda below: 0)).state
    >>> seat = state["to_act"][0]
    >>> action = legal(war, state, seat)[0]["action"]
    >>> expected(war, state, seat, action, Drawn(lambda below: 0)) > war.worth(state, seat)
    True
    """
    noticed = Noticed(chance.number)
    gain = _after(game, state, seat, action, noticed)
    if not noticed.drawn:
        return gain
    return (gain + total([_after(game, state, seat, action, chance) for _ in range(THROWS - 1)])) / THROWS


def _after(game: Game, state: State, seat: Seat, action: Action, chance: Chance) -> float:
    branch = Branch(game, state, chance)
    branch.play(seat, action)
    return game.worth(branch.state, seat)
