"""Guides: a first match of a game, step by step, from `guide.json` in the folder of the game (games/CONVENTIONS.md).

A guided match has dice that everybody knows (TBL-GUI-01). So what the guide plays can be played in advance, once in a process, and what a
seat sees says how far it has come: nothing has to be counted or stored. A seat that does something else has left the guide, unless it
comes to the same position another way.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from itertools import zip_longest
from typing import Any, NamedTuple

from games.chance import Drawn
from games.kernel import SYSTEM, Action, Game, Seat, State, carry_out, legal
from games.sentences import say
from record.dice import Draws
from record.entries import canonical
from record.positions import Position
from table.state import ME

FILE = "guide.json"
NAME = say("A guided first match")


_GUIDES: dict[tuple[str, int], Guide | None] = {}


class Step(NamedTuple):
    """A step of a guide for the player: what to know, the rules behind it, and the action to take next, or None at the end.

    A step may take several actions. `number`: from 1, `of` so many; 0 outside the guide.
    """

    number: int
    of: int
    text: str
    rules: tuple[str, ...]
    action: Action | None


class Guide(NamedTuple):
    """A guide, played in advance.

    `seats`, `order`, `options`: of its matches, as `create_match` expects them. `dice`: the key of the dice, in hex. `seat`: the seat of
    the player. `steps`: by what the player sees, the step that is next. `moves`: by what another seat sees, its next move.
    `otherwise`: by phase, what helps a player who has left the guide.
    """

    seats: Mapping[Seat, str]
    order: list[Seat]
    options: Mapping[str, Any]
    dice: str
    seat: Seat
    steps: Mapping[bytes, Step]
    moves: Mapping[bytes, Action]
    otherwise: Mapping[str, Step]

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of its matches."""
        return {"dice": self.dice, "name": str(NAME)}


def guide_of(game: Game) -> Guide | None:
    """Return the guide of a game, or None if it has none. It is played once in a process.

    Raises Refused if the rules do not allow what it says.
    """
    if (game.id, game.revision) not in _GUIDES:
        file = game.folder / FILE
        _GUIDES[game.id, game.revision] = guide(game, json.loads(file.read_text("utf-8"))) if file.exists() else None
    return _GUIDES[game.id, game.revision]


def guide(game: Game, told: Mapping[str, Any]) -> Guide:
    """Return a guide from its JSON. Raises Refused if the rules do not allow what it says."""
    player = next(seat for seat, who in told["seats"].items() if who == ME)
    key = sha256(told["seed"].encode()).digest()
    steps, moves = dict[bytes, Step](), dict[bytes, Action]()
    length = sum("text" in move for move in told["moves"])
    step = Step(0, length, "", (), None)
    document, version = game.begin(list(told["order"]), told["options"]), 1
    for move, after in zip_longest(told["moves"], told["moves"][1:]):
        while SYSTEM in document["to_act"]:
            document, version = _carried_out(game, document, SYSTEM, legal(game, document, SYSTEM)[0]["action"], key, version), version + 1
        seat, action = move.get("seat", player), move.get("do")
        if "text" in move:
            step = Step(step.number + 1, length, move["text"], tuple(move["rules"]), None)
        known = [document]
        if after is not None and (other := after.get("seat", player)) != seat and other in document["to_act"]:
            moves[_seen(game, document, other)] = after["do"]  # both decide, and either may be the first
            known.append(_carried_out(game, document, other, after["do"], key, version))
        for seen in (_seen(game, before, seat) for before in known):
            if seat == player:
                steps.setdefault(seen, step._replace(action=action))
            else:
                moves.setdefault(seen, action)
        if action is not None:
            document, version = _carried_out(game, document, seat, action, key, version), version + 1
    otherwise = {phase: Step(0, length, one["text"], tuple(one["rules"]), None) for phase, one in told["otherwise"].items()}
    return Guide(told["seats"], told["order"], told["options"], key.hex(), player, steps, moves, otherwise)


def _carried_out(game: Game, document: State, actor: Seat, action: Action, key: bytes, version: int) -> State:
    """Return the document after an action, with the dice of its version, which follows `version`. Raises Refused."""
    return carry_out(game, document, actor, action, Drawn(Draws(key, version + 1).number)).state


def step_of(game: Game, position: Position, seat: Seat) -> Step | None:
    """Return the step of the guide for a seat in a guided match, or what helps outside the guide; None if there is nothing to say.

    It follows from what the seat sees.
    """
    guide = _guide_at(game, position)
    if guide is None or seat != guide.seat:
        return None
    return guide.steps.get(_seen(game, position.document, seat)) or guide.otherwise.get(position.document["phase"])


def move_of(game: Game, position: Position, seat: Seat) -> Action | None:
    """Return the next move of the guide for the seat of an artificial player, or None (TBL-GUI-01). It follows from what the seat sees."""
    guide = _guide_at(game, position)
    return None if guide is None else guide.moves.get(_seen(game, position.document, seat))


def _guide_at(game: Game, position: Position) -> Guide | None:
    """Return the guide of a match, or None if it has none or another one."""
    if position.table["dice"] is None:
        return None
    guide = guide_of(game)
    return guide if guide is not None and guide.dice == position.table["dice"] else None


def _seen(game: Game, document: State, seat: Seat) -> bytes:
    """Return the hash of what a seat sees, and of whose view it is."""
    return sha256(canonical([seat, game.view(document, seat)])).digest()
