"""Matches in which a planted player knows the dice to come, or sees the hidden state, always or in a share of its decisions."""

from __future__ import annotations

import random

from games import GAMES
from games.chance import Drawn
from games.choices import Choice
from games.documents import clone
from games.kernel import SYSTEM, Action, legal
from players import choose
from players.greedy import completions
from players.level import is_forced
from record.dice import Draws, dice_key
from tests.archive.recording import PLAYERS, Recorded
from tools.records import Record
from tools.suspects import DICE, DICE_AHEAD, SIGHT, SIGHT_AHEAD, Decision, state_after, values_of

SEER, HONEST = PLAYERS[:2]
LONGEST = 700  # actions, after which a match is left as it is
TRIED = 24  # actions that a seer tries, about
OPTIONS = {"war_of_civilizations": {"disasters": True, "pirates": True}}  # without them no die falls there


def played(game_id: str, seed: int, knows: str = "", share: float = 1.0) -> Record:
    """Return a match of two players of the level `greedy`.

    The first one is the seer. `knows`: a question of tools/suspects.py, which says what it knows and how far it looks; empty if nothing.
    `share`: of its decisions, drawn, in which it uses that.
    """
    game, will = GAMES[game_id], random.Random(f"{game_id} {seed} {knows} {share}")
    seats = will.sample(game.seats.ids, 2)
    asked = dict(zip(seats, ("me", "open"), strict=True))
    options = OPTIONS.get(game_id, {}) if knows in (DICE, DICE_AHEAD) else {}
    match = Recorded(game, will, {"type": "create_match", "game": game_id, "seats": asked, "options": options})
    match.act_at_table(HONEST, {"type": "take_seat", "seat": seats[1]}, match.now.at)
    chance = Drawn(will.randrange)
    for _ in range(LONGEST):
        now = match.now
        if not now.to_act:
            break
        actor = next((seat for seat in now.to_act if seat != seats[0]), now.to_act[0])
        action: Action
        choices = legal(game, now.document, actor)
        if actor == SYSTEM or is_forced(choices):
            action = choices[0]["action"]
        elif actor == seats[0] and knows and will.random() < share:
            action = _seen(match, actor, choices, knows, chance)
        else:
            action = choose(game, "greedy", now.document, actor, chance, now.memory)
        match.play(actor, clone(action), now.at + 1)
    return match.record()


def _seen(match: Recorded, seat: str, choices: list[Choice], knows: str, chance: Drawn) -> Action:
    """Return the action that is worth most in the true state, on dice that nobody knows; or with the true dice, on a guess of the state."""
    game, now = match.game, match.now
    sees = knows in (SIGHT, SIGHT_AHEAD)
    key, seed = dice_key(match.secret, match.match, now.table["contributions"]), chance.number(1 << 62)
    state = now.document if sees else game.guess(game.view(now.document, seat), seat, chance, now.memory)

    def dice(version: int) -> Drawn:
        return Drawn(random.Random(f"{seed} {version}").randrange if sees else Draws(key, version).number)

    tried = [action for choice in choices for action in completions(choice, max(1, min(8, 2 * TRIED // len(choices))), chance)]
    tried = chance.sample(tried, min(TRIED, len(tried)))
    decision = Decision(game, state, now.memory, seat, now.version + 1, tried, lambda version: dice(version).number)
    value = values_of(game, 2)[-1 if not sees and game.id == "war_of_the_worlds" else 0]  # dice bring cards there; `worth` sees none
    values = [value(state_after(decision, action, (state, decision.dice), knows), seat) for action in tried]
    best = max(values)
    return chance.pick([action for action, value in zip(tried, values, strict=True) if value >= best - 1e-9])
