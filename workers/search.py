"""How AI seats choose: by what their seat can see, and with chance of their own, never with the dice of the match."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from games.chance import Chance, Drawn
from games.choices import Choice, complete
from games.kernel import Action, Game, Memory, Scratch, Seat, State, legal

Level = Callable[[Game, State, list[Choice], Seat, Chance, Memory], Action]

SAMPLES = 8  # completions tried of an open choice, at most
TRIED = 240  # actions tried for a decision, about
THROWS = 4  # how often an action that draws chance is tried


def choose(game: Game, level: str, state: State, seat: Seat, chance: Chance, memory: Memory | None = None) -> Action:
    """What a seat of that level does; nothing of `state` is looked at but the seat's view and its choices. `memory` is what everybody
    who has watched the match knows (games.kernel.remembered)."""
    return PLAY[level](game, game.view(state, seat), legal(game, state, seat), seat, chance, memory or {})


def at_random(game: Game, view: State, choices: list[Choice], seat: Seat, chance: Chance, memory: Memory) -> Action:
    """Any of the choices, each as likely; the counts of an open one are drawn too."""
    choice = chance.pick(choices)
    return complete(choice["action"], choice.get("choose", {}), chance.number)


def greedy(game: Game, view: State, choices: list[Choice], seat: Seat, chance: Chance, memory: Memory) -> Action:
    """What is worth most at once on one guess of what the seat cannot see; of several equal ones, any."""
    if len(choices) == 1 and "choose" not in choices[0]:
        return choices[0]["action"]
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
    return chance.pick(best)


def expected(game: Game, state: State, seat: Seat, action: Action, chance: Chance) -> float:
    """What the position after an action is worth to a seat; the mean of a few throws if it draws chance."""
    drawn = 0

    def number(below: int) -> int:
        nonlocal drawn
        drawn += 1
        return chance.number(below)

    gain = _after(game, state, seat, action, Drawn(number))
    if not drawn:
        return gain
    return (gain + sum([_after(game, state, seat, action, chance) for _ in range(THROWS - 1)])) / THROWS


def completions(choice: Choice, most: int, chance: Chance) -> Iterator[Action]:
    """A few actions that a choice stands for: the extremes first, then what chance gives."""
    action = choice["action"]
    ranges = choice.get("choose")
    if ranges is None:
        yield action
        return
    tried: list[Action] = []
    for number in (_lowest, _highest, *[chance.number] * (2 * most)):
        if len(tried) == most:
            return
        completed = complete(action, ranges, number)
        if completed not in tried:
            tried.append(completed)
            yield completed


PLAY: Mapping[str, Level] = {"random": at_random, "greedy": greedy}


def _after(game: Game, state: State, seat: Seat, action: Action, chance: Chance) -> float:
    match = Scratch(game, state, chance)
    match.play(seat, action)
    return game.worth(match.state, seat)


def _lowest(below: int) -> int:
    return 0


def _highest(below: int) -> int:
    return below - 1
