"""The level `novice`: look at a few actions of each kind, and take the one that looks best at once. A friendly opponent to begin with."""

from __future__ import annotations

from games.chance import Chance
from games.kernel import Action, Branch
from players.greedy import completions
from players.level import Budget, Question, Thought, is_forced

LOOKS = 5  # actions of one kind that it looks at
SAMPLES = 3  # actions of one open choice that it could think of, at most
WHIMS = 12  # it follows a whim in one of so many decisions


def novice(question: Question, budget: Budget, chance: Chance) -> Thought:
    """Return the action that is worth most after it, on one guess of the hidden state, among a few of each kind.

    It overlooks many good actions, but none that ends the match with its victory. An action that draws chance is tried once, so that it
    also trusts its luck. It sees at least one action of every kind, such as the one that ends its turn, and so it takes no step that does
    not look better than stopping. But now and then it has a whim, and takes the best that it sees of one kind, which it draws among those
    after which it is still to act. So it also tries what greedy play never does.

    >>> from games import GAMES
    >>> from games.chance import Drawn
    >>> question = Question(GAMES["war"], {}, [{"action": {"type": "end_moves"}}], "red", {})
    >>> novice(question, Budget(), Drawn(lambda below: 0))
    Thought(action={'type': 'end_moves'}, spent=0, nodes=0, options=())
    """
    game, view, choices, seat, memory = question
    if is_forced(choices):
        return Thought(choices[0]["action"])
    state = game.guess(view, seat, chance, memory)
    kinds: dict[str, list[tuple[float, Action]]] = {}
    going_on: list[str] = []
    for choice in choices:
        for action in completions(choice, SAMPLES, chance):
            kind = action["type"]
            branch = Branch(game, state, chance)
            branch.play(seat, action)
            outcome = branch.state["outcome"]
            if outcome is not None and seat in outcome["winners"]:
                return Thought(action)
            kinds.setdefault(kind, []).append((game.worth(branch.state, seat), action))
            if seat in branch.state["to_act"] and kind not in going_on:
                going_on.append(kind)
    if going_on and chance.number(WHIMS) == 0:
        kind = chance.pick(going_on)
        kinds = {kind: kinds[kind]}
    seen = [looked for tried in kinds.values() for looked in chance.sample(tried, min(LOOKS, len(tried)))]
    most = max([gain for gain, _ in seen])
    best = [action for gain, action in seen if gain == most]
    return Thought(chance.pick([action for action in best if len(action) == 1] or best))
