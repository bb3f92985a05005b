"""Matches whose artificial players a server plays: as it says, or not. They are recorded in memory, with good digests."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

from games.documents import clone
from games.kernel import SYSTEM, Action, any_action
from players import budget_of, question_of
from players.level import Budget, Question
from record import thinking
from record.allowances import ALLOWANCES, halvings, turn_of
from record.positions import level_of
from record.thinking.again import Decisions, Outcome
from record.thoughts import Decision, decision_in, seed_of, thought_key
from record.trail import Report, audit_entries
from tests.archive.recording import Recorded
from tests.conftest import ALL_GAMES
from tools.decisions import run_again

Cheat = Callable[["Served", str], tuple[Action, Decision | None]]


class Served(Recorded):
    """A match that a server plays for artificial players: seats and their levels, or `me` for a player, who does anything."""

    def __init__(self, game: str, seats: Mapping[str, str], seed: object = 0, **settings: Any) -> None:
        self.decision: Decision | None = None
        asked = {seat: who if who == "me" else f"ai:{who}" for seat, who in seats.items()}
        action = {"type": "create_match", "game": game, "seats": asked, "options": {}, **settings}
        super().__init__(ALL_GAMES[game], random.Random(f"{game} {seed}"), action)

    def request(self, version: int) -> dict[str, Any] | None:
        """Return the decision that asks for the next entry, once."""
        decision, self.decision = self.decision, None
        return decision

    def seed(self, seat: str) -> int:
        """Return the seed of the next decision of a seat."""
        return seed_of(thought_key(self.secret, self.match, self.now.table["contributions"]), self.now.version + 1, seat)

    def question(self, seat: str) -> Question:
        """Return what is put to a seat."""
        return question_of(self.game, self.now.document, seat, self.now.memory)

    def level(self, seat: str) -> str:
        """Return the level that plays a seat."""
        level = level_of(self.now, seat)
        assert level is not None
        return level

    def honest(self, seat: str, budget: Budget | None = None) -> tuple[Action, Decision]:
        """Decide for a seat as the level does."""
        thought, decision = thinking.decide(self.question(seat), self.level(seat), budget or self.budget(seat), self.seed(seat))
        return thought.action, decision

    def budget(self, seat: str) -> Budget:
        """Return the budget that is due to a seat's decision."""
        question, level, now = self.question(seat), self.level(seat), self.now
        times = halvings(level, now.table["clock"], turn_of(self.entries, seat)) if level in ALLOWANCES else 0
        return budget_of(question, level).halved(times)

    def go_on(self, entries: int, cheat: Cheat | None = None) -> list[int]:
        """Play so many entries, or to the end. Return the versions at which a cheat has played what an honest server would not have."""
        cheated = []
        for _ in range(entries):
            now = self.now
            if not now.to_act:
                break
            actor = SYSTEM if SYSTEM in now.to_act else now.to_act[0]
            action: Action | None
            if actor == SYSTEM or level_of(now, actor) is None:
                action = any_action(self.game, now.document, actor, self.will.randrange)
            else:
                action, self.decision = (cheat or Served.honest)(self, actor)
                if cheat is not None and (action, self.decision) != self.honest(actor):
                    cheated.append(now.version + 1)
            assert action is not None
            self.play(actor, clone(action), now.at + 1, owner=False)
        return cheated

    def decided(self) -> list[int]:
        """Return the versions of which a decision is kept."""
        return [entry.version for entry in self.entries if decision_in(entry) is not None]

    def audited(self, secret: bool = True) -> tuple[Report, Outcome]:
        """Return what an audit says of the record, and what comes of the decisions that are run again."""
        found = Decisions()
        report = audit_entries(ALL_GAMES, self.raws, self.secret.hex() if secret else None, watch=found)
        return report, run_again(found, 1, ALL_GAMES)
