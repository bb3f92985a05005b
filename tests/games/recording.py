"""Counts of positions, whole playthroughs and refusals, recorded as data. `python -m tests.games.recording GAME` records them again.

They change only when the rules of play change. The game's rules revision then rises.

A playthrough is a text file. Its first line is the start as JSON. Then each action stands on a line of its own, with its events below it.
The state document at the end follows as YAML. Recording again plays the recorded actions again, so that a changed rule shows as a few
changed lines. From the first action that has become illegal, the rest is played at random. A file with its first line alone is played at
random from the start.

The file scenarios.txt has each action of the scenarios with its events in full, what they change in the document, and how many choices
there are before and afterwards.

Refusals are in the file refusals.txt. A line names a playthrough or a scenario, the number of an action in it, an actor and what the actor
tries there. The next line has the code, the rule and the sentence of the refusal.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from games import GAMES
from games.chance import Scripted
from games.choices import combinations
from games.documents import clone
from games.kernel import SHARED_REFUSALS, Action, Event, Game, Refused, State, carry_out, legal, sentence
from games.schema import Fields
from tests.games.matches import HERE, Start, Step, chance, mutated, scenarios, walk, walk_on, will_of
from tools.scenarios import DEFAULT, LEAVE, GameRules

WIDTH = 140
INDENT = " " * 4
END = "end of the match"
TRIES = 150  # altered actions that are tried at each step, to find refusals
ALIKE = 4  # refusals that are recorded for each kind of action, code and rule
MALFORMED = 30  # refusals that are recorded for each code that all games share


class Playthrough(NamedTuple):
    """A recorded playthrough: its options and seats, and its actions with their actors."""

    start: Start
    actions: list[tuple[str, Action]]


# ---------------------------------------------------------------- counts of positions


def tally(game: Game, state: State, depth: int) -> int:
    """Return the number of sequences of `depth` actions from a position. Each combination of an open choice counts.
    The seed is `perft`."""
    if depth == 0:
        return 1
    total = 0
    for actor in state["to_act"]:
        for choice in legal(game, state, actor):
            for action in combinations(choice):
                total += 1 if depth == 1 else tally(game, carry_out(game, state, actor, action, chance("perft")).state, depth - 1)
    return total


def positions(game: Game) -> Iterator[tuple[str, State, list[int]]]:
    """Yield the counted positions of a game: the name, the document, and the counts by depth."""
    rows = yaml.load((HERE / game.id / "counts.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)
    for row in rows:
        steps = walk(Start(game, row["seats"], row["options"], row["seed"]))
        state = next(step.before for step in steps if step.number == row["action"])
        yield f"{len(row['seats'])} seats, seed {row['seed']}, action {row['action']}", state, row["counts"]


# ---------------------------------------------------------------- refusals


class Attempt(NamedTuple):
    """A refused action: the playthrough or scenario and the number of the action before which it is tried, its actor, and the refusal."""

    match: str
    number: int
    actor: str
    action: Action
    refusal: str


def recorded_refusals(game: Game) -> list[Attempt]:
    """Return the recorded refusals of a game, in the order of the file."""
    lines = (HERE / game.id / "refusals.txt").read_text(encoding="utf-8").splitlines()
    attempts = []
    for asked, refusal in zip(lines[::2], lines[1::2], strict=True):
        match, number, actor, action = asked.split(" ", 3)
        attempts.append(Attempt(match, int(number), actor, json.loads(action), refusal.strip()))
    return attempts


def as_lines(attempt: Attempt) -> str:
    """Return a refusal as its two lines in the file."""
    return f"{attempt.match} {attempt.number} {attempt.actor} {json.dumps(attempt.action)}\n{INDENT}{attempt.refusal}\n"


def refusal_line(game: Game, state: State, actor: str, action: Action, seed: object) -> str:
    """Return the code, the rule and the sentence with which an action is refused, or `accepted`."""
    try:
        carry_out(game, state, actor, action, chance(seed))
    except Refused as refused:
        refusal = refused.refusal
        return f"{refusal.code} {refusal.rule or '-'} {sentence(game, refusal)}"
    return "accepted"


class ScenarioStep(NamedTuple):
    """A step of a scenario: the scenario's id, the step's number and text, the state before it, and the events and the state after it.

    A step that is refused has no events and leaves the state as it is.
    """

    scenario: str
    number: int
    step: dict[str, Any]
    before: State
    events: list[Event]
    after: State


def scenario_steps(game: Game) -> Iterator[ScenarioStep]:
    """Yield each step of the scenarios of a game that start from a document."""
    rules = GameRules(game)
    for scenario in scenarios(game):
        try:
            state = rules.start(scenario["given"])
        except Refused:
            continue
        dice = Scripted(clone(scenario.get("chance") or []), chance(scenario["id"]))
        for number, step in enumerate(scenario["steps"]):
            events, after = ([], state) if "refused" in step else rules.act(state, step, dice)
            yield ScenarioStep(scenario["id"], number, step, state, events, after)
            state = after


def scenario_lines(game: Game) -> Iterator[str]:
    """Yield the lines of scenarios.txt: each action that a scenario carries out with its events and what they change in the document, and
    the number of choices before the first action and after each."""
    rules = GameRules(game)
    actions: dict[str, Fields] = {kind: deed.fields for kind, deed in game.deeds().items()} | {
        given["type"]: {} for given in (LEAVE, DEFAULT)
    }
    for name, number, step, before, events, after in scenario_steps(game):
        if number == 0:
            yield f"{name}: {len(rules.choices(before, step))} choices"
        if "refused" not in step:
            yield f"{name} {number} {step['seat']}: {phrase(step['do'], actions)}"
            for event in events:
                yield from paragraph(event, game.events)
            old, new = dict(members(before)), dict(members(after))
            yield from (
                f"{INDENT}{pointer}: {value(new[pointer])}" for pointer in new if pointer not in old or new[pointer] != old[pointer]
            )
            yield from (f"{INDENT}{pointer}: gone" for pointer in old if pointer not in new)
            yield f"{INDENT}{len(rules.choices(after, step))} choices"


def members(document: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every member of a document that is no object, or an empty one, with the pointer to it."""
    if not document or not isinstance(document, dict):
        yield pointer, document
        return
    for name, inner in document.items():
        yield from members(inner, f"{pointer}/{name}")


def found_refusals(game: Game) -> Iterator[Attempt]:
    """Yield what the scenarios refuse, and refusals of altered actions in the playthroughs: each code and rule a few times for each kind of
    action."""
    for name, number, step, state, *_ in scenario_steps(game):
        if "refused" in step:
            yield Attempt(name, number, step["seat"], step["do"], refusal_line(game, state, step["seat"], step["do"], number))
    found: Counter[tuple[str, str, str]] = Counter()
    for path in playthroughs(game):
        steps = list(replay(read(game, path.read_text(encoding="utf-8"))))
        will = will_of(Start(game, [], {}, len(steps)))
        for step in steps:
            for _ in range(TRIES):
                other = will.choice(steps).action if will.randrange(2) else step.action
                action = mutated(other, will.choice(steps).action, will)
                actor = will.choice([*step.before["to_act"], step.actor, will.choice(steps).actor])
                line = refusal_line(game, step.before, actor, action, step.number)
                code, _, rule = line.partition(" ")
                kind = (code, "", "") if code in SHARED_REFUSALS else (code, rule.partition(" ")[0], str(action["type"]))
                if line != "accepted" and found[kind] < (MALFORMED if code in SHARED_REFUSALS else ALIKE):
                    found[kind] += 1
                    yield Attempt(path.stem, step.number, actor, action, line)


# ---------------------------------------------------------------- playthroughs


def playthroughs(game: Game) -> list[Path]:
    """Return the files of a game's recorded playthroughs."""
    return sorted((HERE / game.id / "playthroughs").glob("*.txt"))


def read(game: Game, text: str) -> Playthrough:
    """Return the start and the actions of a recorded playthrough."""
    first, *lines = text.split(f"\n{END}\n")[0].splitlines()
    actions = [parsed(line) for line in lines if not line.startswith(" ")]
    return Playthrough(Start(game, **json.loads(first)), actions)


def replay(recorded: Playthrough) -> Iterator[Step]:
    """Play the recorded actions as long as they are legal, and go on at random to the end of the match."""
    start = recorded.start
    game, dice = start.game, chance(("dice", start.seed))
    state, number = game.begin(start.seats, start.options), 0
    for actor, action in recorded.actions:
        try:
            match = carry_out(game, state, actor, action, dice)
        except Refused:
            break
        yield Step(number, state, actor, action, match.events, match.state)
        state, number = match.state, number + 1
    yield from walk_on(game, state, dice, will_of(start), number)


def written(start: Start, steps: Iterable[Step]) -> Iterator[str]:
    """Yield the lines of a playthrough."""
    actions = {kind: deed.fields for kind, deed in start.game.deeds().items()}
    after: State = None
    yield json.dumps({"seats": start.seats, "options": start.options, "seed": start.seed})
    for step in steps:
        yield f"{step.actor}: {phrase(step.action, actions)}"
        for event in step.events:
            yield from paragraph(event, start.game.events)
        after = step.after
    yield END
    yield from block(after)


def paragraph(event: Event, shapes: dict[str, Fields]) -> Iterator[str]:
    """Yield the lines of an event: one, or where that is too long, its type and its fields as YAML."""
    line = INDENT + phrase(event, shapes)
    if len(line) <= WIDTH:
        yield line
        return
    yield INDENT + event["type"]
    yield from (2 * INDENT + text for text in block({name: event[name] for name in shapes[event["type"]] if name in event}))


def block(given: Any) -> list[str]:
    """Return the lines of a JSON value as YAML, key by key. Its innermost lists and objects stand on one line each."""
    return yaml.safe_dump(given, default_flow_style=None, allow_unicode=True, width=WIDTH - len(2 * INDENT)).splitlines()


def phrase(fact: Action | Event, shapes: dict[str, Fields]) -> str:
    """Return an action or an event in one line, its fields in the order of its shape: `turn_started seat=red phase=moves`."""
    fields = [f"{name}={value(fact[name])}" for name in shapes[fact["type"]] if name in fact]
    return " ".join([fact["type"], *fields])


def parsed(line: str) -> tuple[str, Action]:
    """Return the actor and the action of a line that `phrase` has written."""
    actor, _, text = line.partition(": ")
    kind, *fields = re.split(r" (?=\w+=)", text)
    return actor, {"type": kind, **{name: yaml.safe_load(given) for name, _, given in (field.partition("=") for field in fields)}}


def value(given: Any) -> str:
    """Return a JSON value as flow YAML: plain ids without quotes, keys in order. A `=` inside quotes is escaped for `parsed`."""
    if isinstance(given, dict):
        return "{" + ", ".join(f"{value(key)}: {value(given[key])}" for key in sorted(given)) + "}"
    if isinstance(given, list):
        return "[" + ", ".join(map(value, given)) + "]"
    if isinstance(given, str) and re.fullmatch(r"(?!(?i:true|false|null|yes|no|on|off)$)[A-Za-z_]\w*", given, re.ASCII):
        return given
    if isinstance(given, str):
        return yaml.safe_dump(given, default_style='"', width=sys.maxsize).strip().replace("=", "\\x3d")
    return json.dumps(given)


def main() -> None:
    """Record the counts, the playthroughs, the scenarios and the refusals of a game again."""
    game = GAMES[sys.argv[1]]
    path = HERE / game.id / "counts.yaml"
    rows = yaml.safe_load(path.read_text(encoding="utf-8"))
    for row, (_, state, counts) in zip(rows, positions(game), strict=True):
        row["counts"] = [tally(game, state, depth) for depth in range(1, len(counts) + 1)]
    path.write_text("".join(f"- {json.dumps(row)}\n" for row in rows), encoding="utf-8")
    for path in playthroughs(game):
        recorded = read(game, path.read_text(encoding="utf-8"))
        path.write_text("".join(f"{line}\n" for line in written(recorded.start, replay(recorded))), encoding="utf-8")
    (HERE / game.id / "scenarios.txt").write_text("".join(f"{line}\n" for line in scenario_lines(game)), encoding="utf-8")
    (HERE / game.id / "refusals.txt").write_text("".join(map(as_lines, found_refusals(game))), encoding="utf-8")


if __name__ == "__main__":
    main()
