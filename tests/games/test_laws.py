"""The laws of every game, checked by random play (docs/architecture.md, "Laws").

A law is a function of the start of a match and of its steps. A match is played once and held to all laws.
"""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, seed, settings
from jsonschema_rs import Draft202012Validator

from games.choices import admits, combinations, complete, count
from games.documents import clone
from games.kernel import (
    AUDITOR,
    SPECTATOR,
    SYSTEM,
    Branch,
    Game,
    Refusal,
    Refused,
    any_action,
    blocked,
    carry_out,
    decide,
    evolve,
    fold,
    has_fields,
    legal,
    remembered,
    sentence,
)
from games.schema import always, record
from tests.games.matches import ALL, HERE, Start, Step, chance, mutated, same, sampled, starts, walk

MATCHES = int(os.environ.get("LAW_MATCHES", "4"))  # of each game; tools/mutate.py asks for fewer
SOAK = 3000
BATCHES = 4  # tests of one game, which can run side by side
LAW = {"deadline": None, "suppress_health_check": list(HealthCheck), "phases": (Phase.explicit, Phase.generate)}


def hold(check: Callable[[Start], None], game: Game, matches: int, derandomize: bool) -> None:
    """Check something in so many random matches of a game. With `derandomize` they are always the same ones."""

    @settings(max_examples=matches, derandomize=derandomize, database=None, **LAW)
    @given(starts(game))
    def every_match(start: Start) -> None:
        check(start)

    every_match()


def in_random_matches(matches: int) -> Callable[[Any], Any]:
    """Run a check in random matches of every game, always the same ones."""

    def decorated(check: Any) -> Any:
        @pytest.mark.parametrize("game", [pytest.param(game, id=game.id) for game in ALL])
        def test(game: Game) -> None:
            hold(check, game, matches, derandomize=True)

        test.__name__, test.__doc__ = check.__name__, check.__doc__
        return test

    return decorated


LAWS: list[Callable[[Start, Sequence[Step]], None]] = []


def law(check: Any) -> Any:
    """Add a law to those that every match is held to."""
    LAWS.append(check)
    return check


SOAKED = [pytest.param(SOAK // BATCHES, id=f"{SOAK // BATCHES} matches", marks=pytest.mark.soak)]


@pytest.mark.parametrize("matches", [pytest.param(max(1, MATCHES // BATCHES), id=f"{max(1, MATCHES // BATCHES)} matches"), *SOAKED])
@pytest.mark.parametrize("batch", range(BATCHES))
@pytest.mark.parametrize("game", [pytest.param(game, id=game.id) for game in ALL])
def test_every_law_holds(game: Game, batch: int, matches: int) -> None:
    @settings(max_examples=matches, database=None, **LAW)
    @given(starts(game))
    def in_every_match(start: Start) -> None:
        steps = list(walk(start))
        for check in LAWS:
            check(start, steps)

    seed(batch)(in_every_match)() if matches * BATCHES < SOAK else in_every_match()


def listed(start: Start, step: Step) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every choice before a step, with who has it."""
    for actor in step.before["to_act"]:
        for choice in legal(start.game, step.before, actor):
            yield actor, choice


def actions_of(choice: dict[str, Any], will: random.Random, most: int) -> list[dict[str, Any]]:
    """Return complete actions of a choice: all of them, or `most` drawn ones."""
    if count(choice) <= most:
        return list(combinations(choice))
    return [complete(choice["action"], choice["choose"], will.randrange) for _ in range(most)]


@law
def law_1_each_listed_choice_is_accepted(start: Start, steps: Sequence[Step]) -> None:
    will = random.Random(start.seed)
    for step in sampled(start, 6, steps):
        for actor, choice in listed(start, step):
            for action in actions_of(choice, will, 1):
                carry_out(start.game, step.before, actor, action, chance(step.number))


@law
def law_2_an_action_that_is_not_listed_is_refused_and_changes_nothing(start: Start, steps: Sequence[Step]) -> None:
    will = random.Random(start.seed)
    for step in will.sample(steps, min(8, len(steps))):
        before = same(step.before)
        for actor in (*start.seats, SYSTEM):
            choices = legal(start.game, step.before, actor)
            for action, why in blocked(start.game, step.before, actor):
                assert not any(choice["action"] == action for choice in choices), action
                assert sentence(start.game, why)
            for other in will.sample(steps, min(6, len(steps))):
                action = mutated(other.action, will.choice(steps).action, will)
                listed = any(admits(choice, action, start.game.sets) for choice in choices)
                refusal = refused(start.game, step.before, actor, action, step.number)
                assert listed == (refusal is None), f"{action} by {actor}: {refusal}"
                assert refusal is None or sentence(start.game, refusal)
        assert same(step.before) == before


def refused(game: Game, state: Any, actor: str, action: Any, seed: int) -> Refusal | None:
    """Return the refusal of an action, or None if it is accepted."""
    try:
        carry_out(game, state, actor, action, chance(seed))
    except Refused as refusal:
        return refusal.refusal
    return None


@law
def law_3_folding_the_facts_gives_the_deciders_own_document(start: Start, steps: Sequence[Step]) -> None:
    for step in steps:
        before = same(step.before) if step.number % 16 == 0 else None
        assert fold(start.game, step.before, step.events) == step.after
        assert before is None or same(step.before) == before
    for step in sampled(start, 2, steps):
        state, text = step.before, same(step.before)
        for event in step.events:
            kept = same(event)
            state = evolve(start.game, state, event)
            assert same(event) == kept
        assert same(step.before) == text


def shuffled(value: Any, will: random.Random) -> Any:
    """Return a JSON value with the keys of every object in another order. JSON objects have no order, and a store may change it."""
    if isinstance(value, dict):
        return {key: shuffled(value[key], will) for key in will.sample(list(value), len(value))}
    return [shuffled(item, will) for item in value] if isinstance(value, list) else value


@law
def law_4_restoring_from_json_changes_nothing(start: Start, steps: Sequence[Step]) -> None:
    will = random.Random(start.seed)
    for step in sampled(start, 4, steps):
        restored = shuffled(json.loads(json.dumps(step.before)), will)
        assert restored == step.before
        for actor in step.before["to_act"]:
            assert json.dumps(legal(start.game, restored, actor)) == json.dumps(legal(start.game, step.before, actor))
            assert blocked(start.game, restored, actor) == blocked(start.game, step.before, actor)
        one = decide(start.game, step.before, step.actor, step.action, chance(step.number))
        other = decide(start.game, restored, step.actor, json.loads(json.dumps(step.action)), chance(step.number))
        assert same(one) == same(other)


@law
def law_5_every_combination_inside_an_open_choice_is_accepted(start: Start, steps: Sequence[Step]) -> None:
    will = random.Random(start.seed)
    for step in sampled(start, 4, steps):
        for actor, choice in listed(start, step):
            if "choose" in choice:
                for action in actions_of(choice, will, 12):
                    assert admits(choice, action)
                    carry_out(start.game, step.before, actor, action, chance(step.number))


@law
def law_6_pieces_cards_and_money_are_conserved(start: Start, steps: Sequence[Step]) -> None:
    for step in steps:
        if step.before["phase"] != "setup":
            assert list(start.game.invariants(step.before)) == []
    assert list(start.game.invariants(step.after)) == []


def seen_by(game: Game, state: Any, viewer: str, actor: str, action: Any, seed: int) -> Any:
    """Return everything that a viewer sees when an actor tries an action, up to the first event that reveals something."""
    try:
        match = carry_out(game, state, actor, action, chance(seed))
    except Refused as refused:
        return refused.code, refused.refusal.rule, sentence(game, refused.refusal)
    seen = []
    for event in match.events:
        if event["type"] in game.reveals:
            return seen, event["type"]
        shown = game.shown(event, viewer)
        seen.append((shown, shown is event))  # whether it is the same object decides between salt and leaf (record.entries.prove)
    return seen, game.view(match.state, viewer)


@law
def law_7_hidden_state_does_not_change_what_a_viewer_sees(start: Start, steps: Sequence[Step]) -> None:
    game = start.game
    for step in steps:
        if has_fields(game, step.action["type"]) and hides(game, step):
            assert step.action["type"] in game.redacted
    will = random.Random(start.seed)
    for step in will.sample(steps, min(5, len(steps))):
        for viewer in (*start.seats, SPECTATOR):
            seen = game.view(step.before, viewer)
            other = game.guess(clone(seen), viewer, chance((start.seed, step.number, viewer)))
            assert same(game.view(other, viewer)) == same(seen)
            assert same(legal(game, other, viewer)) == same(legal(game, step.before, viewer))
            assert blocked(game, other, viewer) == blocked(game, step.before, viewer)
            tried = [mutated(will.choice(steps).action, will.choice(steps).action, will) for _ in range(3)]
            if step.actor in (viewer, SYSTEM):
                tried.append(step.action)
            for action in tried:
                actor = step.actor if action is step.action else viewer
                one, two = (seen_by(game, state, viewer, actor, action, step.number) for state in (step.before, other))
                assert same(one) == same(two)


def hides(game: Game, step: Step) -> bool:
    """Return True if an event of a step is not shown whole to some viewer besides its actor."""
    others = [viewer for viewer in (*step.before["seats"], SPECTATOR) if viewer != step.actor]
    return any(game.shown(event, viewer) is not event for event in step.events for viewer in others)


@law
def law_8_a_guess_agrees_with_the_view_it_came_from(start: Start, steps: Sequence[Step]) -> None:
    game = start.game
    picked = {step.number for step in sampled(start, 6, steps)}
    memory: dict[str, Any] = {}
    for step in steps:
        if step.number in picked:
            for viewer, known in product((*start.seats, SPECTATOR, AUDITOR), (memory, None)):
                seen = game.view(step.before, viewer)
                guessed = game.guess(clone(seen), viewer, chance(start.seed), known)
                assert same(game.view(guessed, viewer)) == same(seen)
                if step.before["phase"] != "setup":
                    assert list(game.invariants(guessed)) == []
                for seat in start.seats:
                    assert isinstance(game.worth(guessed, seat), (int, float))
        memory = remembered(game, memory, step.events)
        assert json.loads(json.dumps(memory)) == memory


@law
def law_9_the_same_dice_give_the_same_bytes(start: Start, steps: Sequence[Step]) -> None:
    one, two = ([[step.actor, step.action, step.events] for step in played] for played in (steps, walk(start)))
    assert same(one) == same(two)


@law
def law_10_play_ends_and_an_actor_that_must_act_has_a_choice(start: Start, steps: Sequence[Step]) -> None:
    for step in steps:
        assert (step.after["to_act"] == []) == (step.after["outcome"] is not None)
        if step.number % 8 == 0:
            for actor in step.before["to_act"]:
                assert legal(start.game, step.before, actor)
                assert len(legal(start.game, step.before, actor)) <= 300
            for actor in {*start.seats, SYSTEM} - set(step.before["to_act"]):
                assert legal(start.game, step.before, actor) == []
    assert step.after["outcome"]["winners"]


SCHEMAS: dict[str, dict[str, Draft202012Validator]] = {
    game.id: {
        "document": Draft202012Validator(game.document.schema),
        "view": Draft202012Validator(game.document.seen),
        "options": Draft202012Validator(game.options.schema),
        **{f"event {kind}": Draft202012Validator(record({"type": always(kind), **fields}).schema) for kind, fields in game.events.items()},
        **{f"shown {kind}": Draft202012Validator(record({"type": always(kind), **fields}).seen) for kind, fields in game.events.items()},
        **{
            f"action {kind}": Draft202012Validator(record({"type": always(kind), **deed.fields}).schema)
            for kind, deed in game.deeds().items()
        },
    }
    for game in ALL
}


@law
def law_11_every_document_is_valid_against_its_schema(start: Start, steps: Sequence[Step]) -> None:
    game, schemas = start.game, SCHEMAS[start.game.id]
    schemas["options"].validate(start.options)
    for step in sampled(start, 2, steps):
        schemas["document"].validate(step.before)
        for viewer in (start.seats[0], SPECTATOR):
            schemas["view"].validate(game.view(step.before, viewer))
        schemas[f"action {step.action['type']}"].validate(step.action)
        for event in step.events:
            schemas[f"event {event['type']}"].validate(event)
            schemas[f"shown {event['type']}"].validate(game.shown(event, SPECTATOR))
    schemas["document"].validate(step.after)


def orders(game: Game) -> dict[str, re.Pattern[str]]:
    """Return the order of events by action, from tests/games/<game>/order.yaml."""
    read = yaml.safe_load((HERE / game.id / "order.yaml").read_text(encoding="utf-8"))
    parts: dict[str, str] = {}
    for name, text in read.get("parts", {}).items():
        parts[name] = text.format_map(parts)
    return {action: re.compile(text.format_map(parts)) for action, text in read["actions"].items()}


ORDERS = {game.id: orders(game) for game in ALL}


@law
def law_12_each_action_yields_its_events_in_the_order_of_the_contract(start: Start, steps: Sequence[Step]) -> None:
    for step in steps:
        order = "".join(f"{event['type']} " for event in step.events)
        assert ORDERS[start.game.id][step.action["type"]].fullmatch(order), f"{step.action}: {order}"


@law
def law_13_play_on_a_branch_gives_the_same_documents_as_recorded_play(start: Start, steps: Sequence[Step]) -> None:
    dice, will = chance(("dice", start.seed)), random.Random(start.seed)
    branch = Branch(start.game, start.game.begin(start.seats, start.options), dice)
    for step in steps:
        actor = will.choice(branch.state["to_act"])
        action = any_action(start.game, branch.state, actor, will.randrange)
        assert (actor, action) == (step.actor, step.action)
        branch.play(actor, action)
        if step.number % 16 == 0:
            assert same(branch.state) == same(step.after)
    assert same(branch.state) == same(step.after)


@law
def law_14_branches_leave_the_states_from_which_they_begin_as_they_were(start: Start, steps: Sequence[Step]) -> None:
    game, will = start.game, random.Random(start.seed)
    for step in sampled(start, 1, steps):
        grown = [(step.before, same(step.before))]
        for number in range(6):
            state, _ = will.choice(grown)
            recorded = state
            branch = Branch(game, state, chance((start.seed, number)))
            dice = chance((start.seed, number))
            for _ in range(will.randint(1, 5)):
                if not recorded["to_act"]:
                    break
                actor = will.choice(recorded["to_act"])
                action = any_action(game, recorded, actor, will.randrange)
                branch.play(actor, action)
                recorded = carry_out(game, recorded, actor, action, dice).state
            assert same(branch.state) == same(recorded)
            grown.append((branch.state, same(recorded)))
        for state, text in grown:
            assert same(state) == text


@law
def law_15_choices_listed_at_once_are_those_listed_one_by_one(start: Start, steps: Sequence[Step]) -> None:
    game = start.game
    for step in steps:
        if step.number % 8 == 0:
            deeds = game.phases[step.before["phase"]].values()
            for actor in step.before["to_act"]:
                one_by_one = [choice for deed in deeds for choice in deed.listed(step.before, actor)]
                assert json.dumps(legal(game, step.before, actor)) == json.dumps(one_by_one)
