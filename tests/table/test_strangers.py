"""What a stranger does at the table of a match whose play is hidden is answered by what everybody may see of it (TBL-SEE-03)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from games.kernel import Action, Game, Refused
from record.positions import Position, session_after
from table import rules
from table.deeds import BEGINNINGS, DEEDS
from table.session import BY_PLAYER, BY_REFEREE
from tests.table.going_on import ALL, STRANGER, Run, dice, steps

HIDDEN = pytest.mark.parametrize("spectators", ["none", {"delay": 7}], ids=["none", "late"])
GAMES = pytest.mark.parametrize("game", [pytest.param(game, id=game.id) for game in ALL])


def deeds_of_strangers(seats: list[str]) -> Iterator[Action]:
    """Yield every action that somebody without a seat can send to a match that there is."""
    for kind, deed in DEEDS.items():
        if deed.by in (BY_PLAYER, BY_REFEREE) and kind not in BEGINNINGS:
            about = {"dispute": 1, "verdict": "upheld", "remedy": "none", "text": "Why?"}
            fields = {name: value for name, value in about.items() if name in deed.fields}
            for seat in [*seats, "nobody"] if "seat" in deed.fields and "remedy" not in deed.fields else [None]:
                yield {"type": kind, **fields, **({} if seat is None else {"seat": seat})}


def answer(game: Game, position: Position, actor: str, action: Action) -> tuple[str, str | None, str]:
    """Return how an action is refused at a position."""
    session = session_after(game, position, position.at, dice(0), lambda version: ({}, {}))
    with pytest.raises(Refused) as refused:
        rules.carry_out(session, actor, action)
    refusal = refused.value.refusal
    return refusal.code, refusal.rule, rules.sentence(game, refusal)


def public(run: Run) -> Position:
    """Return the newest position that everybody may see."""
    return run.positions[run.now.public_version - 1]


@HIDDEN
@GAMES
def test_a_refusal_shows_a_stranger_nothing_that_is_hidden(game: Game, spectators: object) -> None:
    phases, tried = set(), 0
    for seed in range(8):
        for number, run in enumerate(steps(game, seed, 60, spectators=spectators)):
            now = run.now
            if now.begun is None or number % 4:
                continue
            phases.add(now.table["phase"] if not now.table["votes"] else "voting")
            for action in deeds_of_strangers(now.document["seats"]):
                assert answer(game, now, STRANGER, action) == answer(game, public(run), STRANGER, action)
                tried += 1
            assert rules.legal(game, now.table, now.document, STRANGER) == []
    assert phases >= {"started", "paused", "disputed"}
    assert tried > 1000
