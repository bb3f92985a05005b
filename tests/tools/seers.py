"""Matches in which a planted player sees everything: the hidden state, the dice to come, or both. And matches in which nobody does."""

from __future__ import annotations

import random

from games import GAMES
from games.chance import Chance, Drawn
from games.documents import clone
from games.kernel import SYSTEM, Action, Match, legal
from players import choose
from players.greedy import TRIED, completions, expected
from record.dice import Draws, dice_key
from tests.archive.recording import PLAYERS, Recorded
from tools.records import Record

SEER, HONEST = PLAYERS[:2]
LONGEST = 700  # actions, after which a match is left as it is


def played(game_id: str, seed: int, *, sees: bool, knows_dice: bool = False) -> Record:
    """Return a match of two players who look one action ahead.

    The first is the seer. If it `sees`, it tries its actions on the true state; if it `knows_dice`, with the dice that would be thrown.
    """
    game, will = GAMES[game_id], random.Random(f"{game_id} {seed} {sees} {knows_dice}")
    seats = will.sample(game.seats.ids, 2)
    asked = dict(zip(seats, ("me", "open"), strict=True))
    match = Recorded(game, will, {"type": "create_match", "game": game_id, "seats": asked, "options": {}})
    match.act_at_table(HONEST, {"type": "take_seat", "seat": seats[1]}, match.now.at)
    chance = Drawn(will.randrange)
    for _ in range(LONGEST):
        now = match.now
        if not now.to_act:
            break
        actor = now.to_act[-1]
        action: Action
        if actor == SYSTEM:
            action = legal(game, now.document, SYSTEM)[0]["action"]
        elif actor == seats[0] and (sees or knows_dice):
            action = _seen(match, actor, chance, sees=sees, knows_dice=knows_dice)
        else:
            action = choose(game, "greedy", now.document, actor, chance, now.memory)
        match.play(actor, clone(action), now.at + 1)
    return match.record()


def _seen(match: Recorded, seat: str, chance: Chance, *, sees: bool, knows_dice: bool) -> Action:
    """Return the action that is worth most at once, in the true state or with the true dice."""
    game, now = match.game, match.now
    state = now.document if sees else game.guess(game.view(now.document, seat), seat, chance, now.memory)
    key = dice_key(match.secret, match.match, now.table["contributions"])
    choices = legal(game, now.document, seat)
    best: list[Action] = []
    most = float("-inf")
    for choice in choices:
        for action in completions(choice, max(1, min(8, TRIED // len(choices))), chance):
            if knows_dice:
                tried = Match(game, state, Drawn(Draws(key, now.version + 1).number))
                game.phases[state["phase"]][action["type"]].act(tried, seat, action)
                worth = game.worth(tried.state, seat)
            else:
                worth = expected(game, state, seat, action, chance)
            if worth > most:
                best, most = [action], worth
            elif worth == most:
                best.append(action)
    return chance.pick(best)
