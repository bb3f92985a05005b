"""Runs rule scenarios from files in the format of CONVENTIONS.md: `./run scenarios FILE...`."""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from games import GAMES
from games.chance import Chance, Drawn, Scripted
from games.choices import admits
from games.documents import at, clone, merged
from games.kernel import AUDITOR, Game, Refused, State, carry_out, legal

Scenario = dict[str, Any]


class Unfit(Exception):
    """A scenario that does not have the format of CONVENTIONS.md; the text says what is wrong with it."""


def load(path: Path) -> list[Scenario]:
    """The scenarios of a file. Raises Unfit."""
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as reason:
        raise Unfit(f"cannot be read: {reason}") from None
    if not isinstance(found, list) or not all(isinstance(scenario, dict) for scenario in found):
        raise Unfit("is not a list of scenarios")
    return found


def game_of(scenario: Scenario, path: Path) -> Game:
    """The game that a scenario is about: the one it names, of its id's or its rules' prefix, of its folder or file. Raises Unfit."""
    given, rules = scenario.get("given") or {}, scenario.get("rules") or []
    if not isinstance(given, dict) or not isinstance(given.get("patch") or {}, dict) or not isinstance(rules, list):
        raise Unfit("`given` and its `patch` are objects, `rules` is a list")
    named = scenario.get("game") or given.get("game") or (given.get("patch") or {}).get("game")
    if isinstance(named, str) and named in GAMES:
        return GAMES[named]
    for rule in [scenario.get("id"), *rules]:
        for game in GAMES.values():
            if str(rule).startswith(prefix(game)):
                return game
    for name in (path.resolve().parent.name, path.stem):
        if name in GAMES:
            return GAMES[name]
    raise Unfit("no game known by the prefix of its id, its rules, its folder or its file")


def prefix(game: Game) -> str:
    """What the ids of a game's rules begin with, such as `WAR-`."""
    text = (game.folder / "RULES.md").read_text(encoding="utf-8")
    return text.split("- **", 1)[1].split("-", 1)[0] + "-"


def position(game: Game, scenario: Scenario) -> State:
    """The document that a scenario starts from. Raises Refused where its match cannot be created."""
    given = scenario.get("given") or {}
    if "new_match" in given:
        match = given["new_match"] or {}
        return game.begin(list(match.get("seats") or []), {**(given.get("options") or {}), **(match.get("options") or {})})
    blank = json.loads((game.folder / "blank.json").read_text(encoding="utf-8"))
    document: State = merged(merged(blank, given.get("patch") or {}), {})
    document["options"] = {**document["options"], **(given.get("options") or {})}
    return _completed(document, game.document.schema)


def _completed(value: Any, schema: Mapping[str, Any]) -> Any:
    """The value with null under every key that the schema asks for and lets be null: a merge patch cannot set one."""
    for one in schema.get("anyOf", ()):
        value = _completed(value, one)
    if isinstance(value, dict):
        told, others = schema.get("properties", {}), schema.get("additionalProperties") or {}
        missing = [name for name in schema.get("required", ()) if name not in value and {"type": "null"} in told[name].get("anyOf", ())]
        return {name: _completed(item, told.get(name, others)) for name, item in value.items()} | dict.fromkeys(missing)
    if isinstance(value, list) and "items" in schema:
        return [_completed(item, schema["items"]) for item in value]
    return value


def failures(game: Game, scenario: Scenario) -> Iterator[str]:
    """What a scenario expects and does not get, a line for each; none when it holds."""
    steps = scenario.get("steps") or []
    try:
        try:
            state = position(game, scenario)
        except Refused as refused:
            if not steps or steps[0].get("refused") != refused.code:
                yield f"its match cannot be created: {refused.code}"
            return
        chance = Scripted(clone(scenario.get("chance") or []), Drawn(random.Random(str(scenario.get("id"))).randrange))
        for number, step in enumerate(steps, 1):
            state, wrong = _step(game, state, chance, step)
            if wrong:
                yield f"step {number}: {wrong[0]}"
                return
        for shown in scenario.get("views") or []:
            for pointer in shown.get("hidden") or []:
                if not _hides(game, state, shown["seat"], pointer):
                    yield f"view of {shown['seat']}: expected {pointer} hidden, came its content"
    except (Unfit, ValueError) as reason:
        yield str(reason)
    except (KeyError, TypeError, AttributeError) as reason:
        yield f"does not fit the format, or breaks the rules' code: {type(reason).__name__}: {reason}"


def _step(game: Game, state: State, chance: Chance, step: Mapping[str, Any]) -> tuple[State, list[str]]:
    before = _text(state)
    refused, events, after = None, [], state
    try:
        match = carry_out(game, state, step["seat"], clone(step["do"]), chance)
        events, after = match.events, match.state
    except Refused as refusal:
        refused = refusal.code
    wrong = []
    if refused != step.get("refused"):
        wrong.append(f"expected {step.get('refused') or 'acceptance'}, came {refused or 'acceptance'}")
    if _text(state) != before:
        wrong.append("expected the document before untouched, came another")
    wrong += _values(game, after, step.get("then") or {})
    types = iter(event["type"] for event in events)
    if not all(kind in types for kind in step.get("events") or []):
        wrong.append(f"expected the events {step['events']}, came {[event['type'] for event in events]}")
    if "to_act" in step and step["to_act"] != after["to_act"]:
        wrong.append(f"expected to_act {step['to_act']}, came {after['to_act']}")
    return after, wrong + _legal(game, after, step)


def _values(game: Game, state: State, then: Mapping[str, Any]) -> list[str]:
    wrong = []
    for pointer, expected in then.items():
        try:
            came = at(state, pointer)
        except KeyError:
            if expected is not None or not _holds(state, pointer.rpartition("/")[0]):
                wrong.append(f"expected {pointer} {_text(expected)}, came nothing")
            continue
        if pointer in game.sets and isinstance(expected, list) and isinstance(came, list):
            expected, came = sorted(expected, key=_text), sorted(came, key=_text)
        if _text(came) != _text(expected):
            wrong.append(f"expected {pointer} {_text(expected)}, came {_text(came)}")
    return wrong


def _holds(state: State, pointer: str) -> bool:
    try:
        at(state, pointer)
    except KeyError:
        return False
    return True


def _legal(game: Game, state: State, step: Mapping[str, Any]) -> list[str]:
    if not step.get("legal_has") and not step.get("legal_lacks"):
        return []
    choices = [choice for actor in state["to_act"] for choice in legal(game, state, actor)]
    wrong = [
        f"expected a choice that allows {_text(action)}, came none among {len(choices)}"
        for action in step.get("legal_has") or []
        if not any(admits(choice, action, game.sets) for choice in choices)
    ]
    wrong += [
        f"expected no choice that allows {_text(action)}, came one"
        for action in step.get("legal_lacks") or []
        if any(admits(choice, action, game.sets) for choice in choices)
    ]
    return wrong


def _hides(game: Game, state: State, viewer: str, pointer: str) -> bool:
    """Whether a view holds nothing of what stands at a pointer, if anything does: a count, null or nothing in its place."""
    all_of_it, view = game.view(state, AUDITOR), game.view(state, viewer)
    try:
        whole, seen = at(all_of_it, pointer), at(view, pointer)
    except KeyError:
        return True
    return (
        seen is None
        or (not isinstance(whole, int) and isinstance(seen, int))
        or not (set(_leaves(seen)) & set(_leaves(whole)) or seen == whole)
    )


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from _leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    elif value is not None:
        yield _text(value)


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def main(arguments: list[str] | None = None) -> int:
    """Run every scenario of the files named; 0 if all hold, 1 if one fails, 2 if a file cannot be read."""
    parser = argparse.ArgumentParser(prog="run scenarios", description="Runs rule scenarios in the format of games/CONVENTIONS.md.")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    passed = failed = unread = 0
    for path in parser.parse_args(arguments).files:
        try:
            scenarios = load(path)
        except Unfit as reason:
            print(f"{path}: {reason}", file=sys.stderr)
            unread += 1
            continue
        for scenario in scenarios:
            try:
                wrong = list(failures(game_of(scenario, path), scenario))
            except Unfit as reason:
                wrong = [str(reason)]
            passed += not wrong
            failed += bool(wrong)
            if wrong:
                print(f"{scenario.get('id', path)}: {'; '.join(wrong)}")
    print(f"{passed} passed, {failed} failed")
    return 2 if unread else int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
