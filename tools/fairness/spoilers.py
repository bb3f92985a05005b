"""Spoilers: seats that do everything but play. Every order of what they may do is tried, up to a length, and again and again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from games.choices import complete
from games.kernel import SYSTEM, Action, Refused, Seat
from players.luck import highest, lowest
from table.rules import legal_for_seat
from table.state import player_of
from tools.fairness import promises
from tools.fairness.line import Budget, Case, Line, Move, begun, policy, settled, stood_in
from tools.fairness.promises import Broken

LENGTH = 4
"""How many things a spoiler does one after the other, besides what it repeats."""

AGAIN = 9
"""How often it does the same again, as long as it may."""

REFEREE = "p" + "r" * 16


def moves(line: Line, spoiler: Seat, began: bool) -> Iterator[Move]:
    """Yield what a spoiler may do at the table, what accomplices may do for it, and waiting. Once it has begun to spoil, it may also do
    everything as late as it can; before, it would only use its own time."""
    now, due = line.now, line.due()
    if due is not None:
        yield Move(SYSTEM, due[1], due[0] + 1)
    actions: list[Action] = []
    for choice in legal_for_seat(line.case.game, now.table, now.document, spoiler, now.version, now.fixed):
        ranges = choice.get("choose")
        actions += [complete(choice["action"], ranges, number) for number in (lowest, highest)] if ranges else [choice["action"]]
    actions.append({"type": "dispute", "version": now.version, "text": "This is not what happened."})
    mine, whom = player_of(now.table, spoiler), [REFEREE] if any(one["rulings"] for one in now.table["disputes"]) else []
    whom += [player for seat in now.document["seats"] if (player := player_of(now.table, seat)) not in (None, mine)][:1]
    for action in [*actions, *({"type": "hand_over", "player": player} for player in whom)]:
        yield Move(spoiler, action)
        if began and due is not None and due[0] > now.at:
            yield Move(spoiler, action, due[0])
    if spoiler in now.table["substitutes"] and spoiler in now.to_act:
        yield Move(spoiler, policy(line.case, now.document, spoiler, now.version), None, {"substitute": True})
    for number, dispute in enumerate(now.table["disputes"], 1):
        if dispute["state"] == "open":
            ruling = {"type": "rule_dispute", "dispute": number, "verdict": "rejected", "remedy": "none", "text": "The record holds."}
            yield Move(REFEREE, ruling, None, {"role": "referee"})


def _after(budget: Budget, line: Line, move: Move, spoiler: Seat) -> Line:
    """Return the line after a move, and after all that others do at once. The time until the move is held against the spoiler."""
    held = line.held if move.at is None else line.held + promises.waited(line, spoiler)
    line = move.on(budget, line)._replace(held=held)
    return settled(budget, stood_in(budget, line, spoiler) if "substitute" in move.how else line, spoiler)


def spoiled(budget: Budget, case: Case) -> Iterator[Broken]:
    """Yield how the seats of a case can break promises, the shortest lines first. Raises Spent."""
    start = begun(case)
    for spoiler in case.game.playing(start.document):
        if spoiler != case.away and player_of(start.now.table, spoiler) is not None:
            yield from _tried(budget, settled(budget, start, spoiler), spoiler)


Named = tuple[Line, tuple[Move, ...]]
"""A line with the moves of its spoiler."""


def _tried(budget: Budget, first: Line, spoiler: Seat) -> Iterator[Broken]:
    """Yield what a spoiler breaks by every order of moves."""
    lines: list[Named] = [(first, ())]
    for length in range(1, LENGTH + 1):
        reached: list[Named] = []
        for line, made in lines:
            for move in moves(line, spoiler, length > 1):
                with suppress(Refused):
                    after = _after(budget, line, move, spoiler)
                    reached.append((after, (*made, move)))
                    yield from _broken(first, reached[-1], spoiler)
        lines = _different(reached, spoiler)
        if length > 1:
            for line, made in lines:
                yield from _again(budget, first, line, made, spoiler)


def _broken(first: Line, reached: Named, spoiler: Seat) -> Iterator[Broken]:
    """Yield the promises that a line breaks, with the means of its spoiler."""
    line, made = reached
    means = frozenset(move.name for move in made if move.actor != SYSTEM and "substitute" not in move.how)
    for broken in promises.broken(first, line, spoiler):
        yield broken._replace(means=means)


def _different(reached: list[Named], spoiler: Seat) -> list[Named]:
    """Return lines that go on in different ways: of those with the same positions, apart from moments, the one that held others up most."""
    kept: dict[str, Named] = {}
    for line, names in sorted(reached, key=lambda each: -each[0].held):
        if line.document["outcome"] is None and spoiler in line.case.game.playing(line.document):
            table = line.now.table
            states = [*(one["state"] for one in table["disputes"]), *(clock["late"] for clock in table["clocks"]["seats"].values())]
            what = [table[name] for name in ("phase", "paused_until", "roster", "substitutes", "handovers")]
            known = repr((what, states, sorted(table["offers"]), sorted(table["votes"]), id(line.document)))
            kept.setdefault(known, (line, names))
    return list(kept.values())


def _again(budget: Budget, first: Line, line: Line, made: tuple[Move, ...], spoiler: Seat) -> Iterator[Broken]:
    """Yield what a spoiler breaks that does the same things again and again."""
    with suppress(Refused):
        for wanted in made * AGAIN:
            move = next(
                (each for each in moves(line, spoiler, True) if (each.name, each.at is None) == (wanted.name, wanted.at is None)), None
            )
            if move is None:
                return
            line = _after(budget, line, move, spoiler)
            yield from _broken(first, (line, made), spoiler)
