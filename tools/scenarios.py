"""Run scenarios from files in the format of games/CONVENTIONS.md: `./run scenarios FILE...`."""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from json_merge_patch import merge
from jsonpointer import EndOfList, JsonPointerException, resolve_pointer

from games import GAMES
from games.chance import Chance, Drawn, Scripted
from games.choices import Choice, admits
from games.documents import clone
from games.kernel import AUDITOR, Event, Game, Refused, State, carry_out, legal, withdraw
from record.entries import Entry
from record.positions import Position, follow, moment_of_play, session_after
from table import rules as table_rules
from table.clocks import after_entry
from table.continuing import CARRIED_ON
from table.session import NewMatch, Now, Origin, Session
from table.state import BLANK, lock_of

Scenario = dict[str, Any]
COMMITMENT = "0" * 64  # of the matches in scenarios of the table
CODE = "a" * 16  # the code of these matches
EXPIRES = 1_800_000_000_000
MATCH = "m" + "a" * 16
DIGEST = "d1" * 32  # of the entry where a fork begins
LEAVE = {"type": "leave"}  # in scenarios of a game: the seat leaves the match
DEFAULT = {"type": "default"}  # in scenarios of a game: the default action of the seat
MISSING = object()  # what `value_at` returns if nothing is at a pointer


class BadScenario(Exception):
    """A scenario or a file does not have the format of games/CONVENTIONS.md. The text says why."""


def load(path: Path) -> list[Scenario]:
    """Return the scenarios of a file. Raises BadScenario."""
    try:
        found = yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as reason:
        raise BadScenario(f"cannot be read: {reason}") from None
    if not isinstance(found, list) or not all(isinstance(scenario, dict) for scenario in found):
        raise BadScenario("is not a list of scenarios")
    return found


def game_of(scenario: Scenario, path: Path) -> Game:
    """Return the game of a scenario: from its name, from the prefix of its id or its rules, or from its folder or file. Raises BadScenario.

    Scenarios in the folder of a pinned revision test that revision.
    """
    given, rules = scenario.get("given") or {}, scenario.get("rules") or []
    if not isinstance(given, dict) or not isinstance(given.get("patch") or {}, dict) or not isinstance(rules, list):
        raise BadScenario("`given` and its `patch` are objects, `rules` is a list")
    for pinned in (earlier for game in GAMES.values() for earlier in game.earlier.values()):
        if path.resolve().parent == pinned.folder:
            return pinned
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
    raise BadScenario("no game has the prefix of its id or its rules, or the name of its folder or its file")


def prefix(game: Game) -> str:
    """Return the prefix of the ids of a game's rules, such as `WAR-`."""
    text = (game.folder / "RULES.md").read_text(encoding="utf-8")
    return text.split("- **", 1)[1].split("-", 1)[0] + "-"


class GameRules(NamedTuple):
    """The rules of a game, as scenarios use them. The state is the document of the game; the actor of a step is its `seat`."""

    game: Game

    def start(self, given: Mapping[str, Any]) -> State:
        """Return the first document of a scenario. Raises Refused if its match cannot be created."""
        game = self.game
        if "new_match" in given:
            match = given["new_match"] or {}
            return game.begin(list(match.get("seats") or []), {**(given.get("options") or {}), **(match.get("options") or {})})
        blank = json.loads((game.folder / "blank.json").read_text(encoding="utf-8"))
        document: State = merge(blank, clone(given.get("patch") or {}))
        document["options"] = {**document["options"], **(given.get("options") or {})}
        return _completed(document, game.document.schema)

    def act(self, state: State, step: Mapping[str, Any], chance: Chance) -> tuple[list[Event], State]:
        """Return the events of a step and the document after it. Raises Refused."""
        seat, action = step["seat"], clone(step["do"])
        if action == LEAVE:
            match = withdraw(self.game, state, seat, chance)
        else:
            match = carry_out(self.game, state, seat, self.game.default(state, seat) if action == DEFAULT else action, chance)
        return match.events, match.state

    def choices(self, state: State, step: Mapping[str, Any]) -> list[Choice]:
        """Return the choices of all actors who must act."""
        return [choice for actor in state["to_act"] for choice in legal(self.game, state, actor)]

    def view(self, state: State, viewer: str) -> Any:
        """Return the document as a viewer sees it."""
        return self.game.view(state, viewer)


class TableRules(NamedTuple):
    """The rules of the table with a game. The state is `{"table", "game", "positions"}`: both documents, and every position so far.

    The actor of a step is its `player`, perhaps with a `role` or `shown` what seats may not see, or its `seat`, which may be `system`, or
    which its `substitute` plays. `signed`: it is signed. `at` is the moment of the step, by default that of the step before.
    """

    game: Game

    def start(self, given: Mapping[str, Any]) -> State:
        """Return the documents of a match that `creator` has created with `seats`, or before its creation without `seats`. Raises Refused.

        Players take the seats in `taken`. With a `patch`, the match continues from that document of the game. With an `origin` (`version`,
        `over`), a step creates the match from that document.
        """
        match = given["table"]
        state: State = {"table": BLANK, "game": {}, "positions": []}
        if "origin" in match:
            document = GameRules(self.game).start(given)
            state["origin"] = Origin(
                MATCH, match["origin"]["version"], DIGEST, document, {}, match["origin"]["over"], _table_of(match["origin"])
            )
        if "seats" not in match:
            return state
        chosen = {
            name: match[name]
            for name in ("code", "clock", "time_out", "spectators", "dispute_days", "signed", "rated", "name", "tags")
            if name in match
        }
        create = {"type": "create_match", "game": self.game.id, "seats": match["seats"], "options": match.get("options") or {}, **chosen}
        _, state = self.act(state, {"player": match["creator"], "do": create}, Scripted([], _UNUSED))
        for seat, player in (match.get("taken") or {}).items():
            _, state = self.act(state, {"player": player, "do": {"type": "take_seat", "seat": seat}}, Scripted([], _UNUSED))
        if "patch" in given:
            position = state["positions"][-1]
            document = GameRules(self.game).start({"patch": given["patch"], "options": given.get("options")})
            table = after_entry(position.table, position.table, [], document["to_act"], "", position.at, position.at)
            state = _as_state([position._replace(table=table, document=document, fixed=position.version)])
        return state

    def act(self, state: State, step: Mapping[str, Any], chance: Chance) -> tuple[list[Event], State]:
        """Return the events of a step and the documents after it. Raises Refused."""
        positions: list[Position] = state["positions"]
        before = positions[-1] if positions else None
        actor, action = step.get("player") or step["seat"], clone(step["do"])
        received = step.get("at", 0 if before is None else before.at)
        if before is None or table_rules.is_table_action(action):
            at = max(received, 0 if before is None else before.at)
            session = self._session(positions, at, chance, state.get("origin"), step)
            action = table_rules.carry_out(session, actor, table_rules.recorded(session.table, actor, action))
            events = session.events
        else:
            at = moment_of_play(before, actor, received)
            match, _ = table_rules.play(
                self.game,
                before.table,
                before.document,
                actor,
                action,
                chance,
                at,
                owner=not step.get("substitute"),
                signed=bool(step.get("signed")),
            )
            events = match.events
        version = 1 if before is None else before.version + 1
        entry = Entry(MATCH, version, actor, action, events, self.game.revision, "", at, None, "")
        return events, _as_state([*positions, follow(self.game, before, entry)])

    def _session(self, positions: list[Position], at: int, chance: Chance, origin: Origin | None, step: Mapping[str, Any]) -> Session:
        if not positions:
            new = NewMatch(COMMITMENT, lock_of(COMMITMENT, CODE), EXPIRES, origin)
            return Session(self.game, new=new, now=Now(chance=chance))
        before = positions[-1]
        earlier = {position.version: (position.document, position.memory) for position in positions}
        shown, signed = bool(step.get("shown")), bool(step.get("signed"))
        return session_after(self.game, before, at, chance, earlier.__getitem__, role=step.get("role"), shown=shown, signed=signed)

    def choices(self, state: State, step: Mapping[str, Any]) -> list[Choice]:
        """Return the choices of the table for the player or the seat of the step."""
        now: Position = state["positions"][-1]
        if "player" in step:
            return table_rules.legal(self.game, now.table, now.document, step["player"])
        return table_rules.legal_for_seat(self.game, now.table, now.document, step["seat"], now.version, now.fixed)

    def view(self, state: State, viewer: str) -> Any:
        """Return both documents as a viewer sees them."""
        game = self.game.view(state["game"], viewer) if state["positions"] else {}
        return {"table": table_rules.view(state["table"], viewer), "game": game}


def _table_of(origin: Mapping[str, Any]) -> Any:
    """Return the table of the origin of a match after a ruling, as far as the scenario describes it."""
    return {**BLANK, **{name: origin[name] for name in CARRIED_ON if name in origin}}


def _as_state(positions: list[Position]) -> State:
    return {"table": positions[-1].table, "game": positions[-1].document, "positions": positions}


_UNUSED = Drawn(random.Random(0).randrange)


Rules = GameRules | TableRules


def rules_of(scenario: Scenario, path: Path) -> Rules:
    """Return the rules that a scenario tests: those of the table if it has a `given.table`, else those of its game. Raises BadScenario."""
    given = scenario.get("given") or {}
    if isinstance(given, dict) and isinstance(given.get("table"), dict):
        game = GAMES.get(given["table"].get("game", ""))
        if game is None:
            raise BadScenario("`given.table` names no game")
        return TableRules(game)
    return GameRules(game_of(scenario, path))


def _completed(value: Any, schema: Mapping[str, Any]) -> Any:
    """Return the value with null for every missing key that is required and may be null. A merge patch cannot set null."""
    for option in schema.get("anyOf", ()):
        value = _completed(value, option)
    if isinstance(value, dict):
        named, others = schema.get("properties", {}), schema.get("additionalProperties") or {}
        missing = [name for name in schema.get("required", ()) if name not in value and {"type": "null"} in named[name].get("anyOf", ())]
        return {name: _completed(item, named.get(name, others)) for name, item in value.items()} | dict.fromkeys(missing)
    if isinstance(value, list) and "items" in schema:
        return [_completed(item, schema["items"]) for item in value]
    return value


def failures(rules: Rules, scenario: Scenario) -> Iterator[str]:
    """Yield a line for each expectation that fails. A scenario that passes yields nothing."""
    steps = scenario.get("steps") or []
    try:
        try:
            state = rules.start(scenario.get("given") or {})
        except Refused as refused:
            if not steps or steps[0].get("refused") != refused.code:
                yield f"its match cannot be created: {refused.code}"
            return
        chance = Scripted(clone(scenario.get("chance") or []), Drawn(random.Random(str(scenario.get("id"))).randrange))
        for number, step in enumerate(steps, 1):
            state, wrong = _step(rules, state, chance, step)
            if wrong:
                yield f"step {number}: {wrong[0]}"
                return
        for shown in scenario.get("views") or []:
            for pointer in shown.get("hidden") or []:
                if not _hides(rules, state, shown["seat"], pointer):
                    yield f"view of {shown['seat']}: expected {pointer} hidden, got its content"
            for pointer in shown.get("shows") or []:
                if _text(value_at(rules.view(state, shown["seat"]), pointer)) != _text(value_at(rules.view(state, AUDITOR), pointer)):
                    yield f"view of {shown['seat']}: expected {pointer} shown, got something else"
    except (BadScenario, ValueError, JsonPointerException) as reason:
        yield str(reason)
    except (KeyError, TypeError, AttributeError) as reason:
        yield f"has the wrong format, or the rules raise: {type(reason).__name__}: {reason}"


def _step(rules: Rules, state: State, chance: Chance, step: Mapping[str, Any]) -> tuple[State, list[str]]:
    before = _text(state)
    refused: str | None = None
    events: list[Event] = []
    after = state
    try:
        events, after = rules.act(state, step, chance)
    except Refused as refusal:
        refused = refusal.code
    wrong = []
    if refused != step.get("refused"):
        wrong.append(f"expected {step.get('refused') or 'acceptance'}, got {refused or 'acceptance'}")
    if _text(state) != before:
        wrong.append("expected the document before unchanged, got another")
    wrong += _values(rules.game, after, step.get("then") or {})
    types = iter(event["type"] for event in events)
    if not all(kind in types for kind in step.get("events") or []):
        wrong.append(f"expected the events {step['events']}, got {[event['type'] for event in events]}")
    if "to_act" in step and step["to_act"] != after["to_act"]:
        wrong.append(f"expected to_act {step['to_act']}, got {after['to_act']}")
    return after, wrong + _legal(rules, after, step)


def _values(game: Game, state: State, then: Mapping[str, Any]) -> list[str]:
    wrong: list[str] = []
    for pointer, expected in then.items():
        found = value_at(state, pointer)
        if found is MISSING:
            if expected is not None or value_at(state, pointer.rpartition("/")[0]) is MISSING:
                wrong.append(f"expected {pointer} {_text(expected)}, got nothing")
            continue
        if pointer in game.sets and isinstance(expected, list) and isinstance(found, list):
            expected, found = sorted(expected, key=_text), sorted(found, key=_text)
        if _text(found) != _text(expected):
            wrong.append(f"expected {pointer} {_text(expected)}, got {_text(found)}")
    return wrong


def value_at(document: Any, pointer: str) -> Any:
    """Return the value at a JSON Pointer (RFC 6901), or MISSING. Raises JsonPointerException if it is not a pointer."""
    found = resolve_pointer(document, pointer, MISSING)
    return MISSING if isinstance(found, EndOfList) else found


def _legal(rules: Rules, state: State, step: Mapping[str, Any]) -> list[str]:
    if not step.get("legal_has") and not step.get("legal_lacks"):
        return []
    choices = rules.choices(state, step)
    sets = rules.game.sets
    wrong = [
        f"expected a choice that allows {_text(action)}, got none among {len(choices)}"
        for action in step.get("legal_has") or []
        if not any(admits(choice, action, sets) for choice in choices)
    ]
    wrong += [
        f"expected no choice that allows {_text(action)}, got one"
        for action in step.get("legal_lacks") or []
        if any(admits(choice, action, sets) for choice in choices)
    ]
    return wrong


def _hides(rules: Rules, state: State, viewer: str, pointer: str) -> bool:
    """Return True if a view hides the value at a pointer: a count, null or nothing replaces it, or there is no value."""
    whole, seen = value_at(rules.view(state, AUDITOR), pointer), value_at(rules.view(state, viewer), pointer)
    return (
        whole is MISSING
        or seen is MISSING
        or seen is None
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
    """Run every scenario of the files. Return 0 if all pass, 1 if one fails, 2 if a file cannot be read."""
    parser = argparse.ArgumentParser(prog="./run scenarios", description="Run scenarios in the format of games/CONVENTIONS.md.")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    passed = failed = unread = 0
    for path in parser.parse_args(arguments).files:
        try:
            scenarios = load(path)
        except BadScenario as reason:
            print(f"{path}: {reason}", file=sys.stderr)
            unread += 1
            continue
        for scenario in scenarios:
            try:
                wrong = list(failures(rules_of(scenario, path), scenario))
            except BadScenario as reason:
                wrong = [str(reason)]
            passed += not wrong
            failed += bool(wrong)
            if wrong:
                print(f"{scenario.get('id', path)}: {'; '.join(wrong)}")
    print(f"{passed} passed, {failed} failed")
    return 2 if unread else int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
