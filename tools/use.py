"""Count what levels of play make use of, for `./run simulate GAME --seats LEVEL,LEVEL --use`.

It counts each kind of action, each card, and moves to and fro. It also counts how often the expectations of a level come true.

A *kind* is the type of an action. A *card* is a value in a field `card` or `cards` of an action; `option` names the option of the card.
Each count is shown with the number of decisions in which the kind or card was possible.

A *move* is an event with `from` and `to` that follows from an action of the seat, such as `unit_moved`. It is *taken back* if a later event
of the same type returns the same pieces, in the same turn of the seat or in its next turn, and if no event between the two names the place
where the pieces went. Other moves of the seat do not count as such events. So nothing was gained at that place, and nobody did anything
there. A retreat from a threat also counts as taken back.

A level *expects* a share of a victory after the action that it chooses, if its search played that action on. The decisions are counted by
tenths of this share, together with the decisions of matches that the seat won. This shows a level that is too sure of itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from games.choices import Choice
from games.kernel import SYSTEM, Action, Event, Game, Seat
from players.level import Option

Use = dict[str, Counter[str]]
"""The counts of a level: `done` and `possible` by kind and card, `moves` by how they ended, and decisions by the expected share of a
victory: all decisions (`expected`), and those of matches that the seat won (`won`)."""

TENTHS: tuple[str, ...] = tuple(f"0.{tenth}" for tenth in range(10))


def nothing() -> Use:
    """Return empty counts."""
    return {"done": Counter(), "possible": Counter(), "moves": Counter(), "expected": Counter(), "won": Counter()}


def count_decision(use: Use, choices: Iterable[Choice], action: Action) -> None:
    """Count a decision: everything that the choices allowed, and what the seat did."""
    use["possible"].update({name for choice in choices for name in names(choice["action"])})
    use["done"].update(set(names(action)))
    use["moves"]["decisions"] += 1


def names(action: Action) -> Iterator[str]:
    """Yield the kind of an action, and a name for each card in it: `play`, `play reap`, and `play reap 2` for the second option."""
    kind = action["type"]
    yield kind
    for card in [action["card"]] if "card" in action else action.get("cards", []):
        yield f"{kind} {card}"
        if "option" in action:
            yield f"{kind} {card} {action['option']}"


class Expected:
    """The expectations of the seats of a match, until its winners are known."""

    def __init__(self) -> None:
        self._tenths: list[tuple[Seat, str]] = []

    def note(self, seat: Seat, options: Sequence[Option]) -> None:
        """Note what a seat expects after the best option of its level, if the search played that option on."""
        if options and options[0].tries:
            self._tenths.append((seat, TENTHS[min(9, int(options[0].worth * 10))]))

    def count(self, winners: Iterable[Seat], use_of: Mapping[Seat, Use]) -> None:
        """Count the expectations that came true for the levels of the seats. A shared victory counts for each winner."""
        won = set(winners)
        for seat, tenth in self._tenths:
            use_of[seat]["expected"][tenth] += 1
            use_of[seat]["won"][tenth] += seat in won


class Move(NamedTuple):
    """A move of a seat. `rest`: the pieces; they are the same in the move that takes it back. `turn`: the number of the seat's turn."""

    start: str
    goal: str
    rest: list[Any]
    turn: int


class Moves:
    """The moves of the seats of a match, and which of them are taken back."""

    def __init__(self, seats: Iterable[Seat]) -> None:
        self._seats = frozenset(seats)
        self._turns: Counter[Seat] = Counter()
        self._open: list[tuple[Seat, Move]] = []  # moves that can still be taken back

    def watch(self, actor: Seat, events: Iterable[Event], use: Use | None) -> None:
        """Count the moves in the events of an action, and the moves that they take back, for the level of the actor."""
        for event in events:
            if event["type"] == "turn_started":
                self._turns[event["seat"]] += 1
            moves = [] if actor == SYSTEM or use is None else list(self._moves(actor, event))
            named = set(_words(event))
            self._open = [
                (seat, move)
                for seat, move in self._open
                if move.turn + 1 >= self._turns[seat] and (move.goal not in named or (seat == actor and moves))
            ]
            for move in moves:
                assert use is not None
                use["moves"]["moves"] += 1
                back = next((known for known in self._open if known[0] == actor and _takes_back(move, known[1])), None)
                if back is not None:
                    self._open.remove(back)
                    use["moves"]["back in the same turn" if back[1].turn == move.turn else "back in the next turn"] += 1
                self._open.append((actor, move))

    def _moves(self, actor: Seat, event: Event) -> Iterator[Move]:
        start, goals = event.get("from"), event.get("to")
        if not isinstance(start, str) or start in self._seats or event.get("seat", actor) != actor:
            return
        pieces = [value for field, value in sorted(event.items()) if field not in ("from", "to") and isinstance(value, (str, dict))]
        if isinstance(goals, str) and goals not in self._seats:
            yield Move(start, goals, pieces, self._turns[actor])
        elif isinstance(goals, dict):
            for goal, number in goals.items():
                yield Move(start, goal, [*pieces, number], self._turns[actor])


def _takes_back(move: Move, known: Move) -> bool:
    return move.start == known.goal and move.goal == known.start and move.rest == known.rest


def _words(value: Any) -> Iterator[str]:
    """Yield every text in a JSON value, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _words(item)
    elif isinstance(value, list):
        for item in value:
            yield from _words(item)


def added(uses: Iterable[Mapping[str, Use]]) -> dict[str, Use]:
    """Return the sum of the counts of several matches, by level."""
    total: dict[str, Use] = {}
    for by_level in uses:
        for level, use in by_level.items():
            known = total.setdefault(level, nothing())
            for part, counter in use.items():
                known[part].update(counter)
    return total


def report(game: Game, total: Mapping[str, Use]) -> dict[str, Any]:
    """Return the counts by level as JSON: `kinds` and `cards` with `done` and `possible`, and `moves`. Includes what was never possible."""
    kinds, cards = known_names(game)
    return {level: _of_level(use, kinds, cards) for level, use in total.items()}


def _of_level(use: Use, kinds: Iterable[str], cards: Iterable[str]) -> dict[str, Any]:
    found = sorted({name for part in ("done", "possible") for name in use[part]} - set(kinds))

    def row(name: str) -> dict[str, int]:
        return {"done": use["done"][name], "possible": use["possible"][name]}

    return {
        "decisions": use["moves"]["decisions"],
        "kinds": {name: row(name) for name in kinds},
        "cards": {name: row(name) for name in dict.fromkeys([*cards, *found])},
        "moves": {name: use["moves"][name] for name in ("moves", "back in the same turn", "back in the next turn")},
        "expected": {tenth: {"decisions": use["expected"][tenth], "won": use["won"][tenth]} for tenth in TENTHS if use["expected"][tenth]},
    }


def known_names(game: Game) -> tuple[list[str], list[str]]:
    """Return all kinds of action of the seats of a game, and all kinds with each card."""
    kinds = [kind for kind in game.deeds() if kind != "advance"]
    cards = []
    for kind in kinds:
        fields = game.deeds()[kind].fields
        for field in ("card", "cards"):
            if field in fields:
                schema = fields[field].schema
                cards += [f"{kind} {card}" for card in schema.get("items", schema).get("enum", [])]
    return kinds, cards


def table(found: Mapping[str, Any]) -> str:
    """Return a report as text: a row for each kind of action, then for each level its cards, moves and expectations."""
    levels = list(found)
    lines = [f"{'done / possible':<24}" + "".join(f"{level:>20}" for level in levels)]
    for kind in found[levels[0]]["kinds"]:
        rows = [found[level]["kinds"][kind] for level in levels]
        lines.append(f"{kind:<24}" + "".join(f"{row['done']:>11}{'/':>2}{row['possible']:>7}" for row in rows))
    for level in levels:
        lines += ["", f"{level}, {found[level]['decisions']} decisions"]
        lines += _cards(found[level])
        moves = found[level]["moves"]
        same, later = moves["back in the same turn"], moves["back in the next turn"]
        share = (same + later) / moves["moves"] if moves["moves"] else 0.0
        lines.append(f"  {moves['moves']} moves, taken back {same} in the same turn and {later} in the next ({share:.1%})")
        for tenth, row in found[level]["expected"].items():
            won = row["won"] / row["decisions"]
            lines.append(
                f"  expected {tenth} to {float(tenth) + 0.1:.1f} of a victory in {row['decisions']} decisions, and won {won:.1%} of them"
            )
    return "\n".join(lines)


def _cards(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield how a level uses cards: a line for each kind of action with cards, which names the cards that it never used."""
    by_kind: dict[str, list[tuple[str, Mapping[str, int]]]] = {}
    for name, row in found["cards"].items():
        kind, card = name.split(" ", 1)
        by_kind.setdefault(kind, []).append((card, row))
    for kind, rows in by_kind.items():
        able = [row for _, row in rows if row["possible"]]
        line = f"  {kind}: {sum(row['done'] > 0 for row in able)} of {len(able)} cards and options that it could choose"
        missed = [f"{card} (0 of {row['possible']})" for card, row in rows if row["possible"] and not row["done"]]
        yield line + (f"; never {', '.join(missed)}" if missed else "")
