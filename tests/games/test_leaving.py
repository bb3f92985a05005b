"""The laws of leaving and of default actions in every game, checked by random play (docs/architecture.md, "Laws")."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import pytest
import yaml
from jsonschema_rs import Draft202012Validator

from games.chance import Drawn
from games.choices import admits
from games.documents import clone
from games.drawing import LINES, WIDTH
from games.kernel import (
    AUDITOR,
    RESTORED,
    SPECTATOR,
    SYSTEM,
    Branch,
    Game,
    Match,
    Refused,
    State,
    carry_out,
    evolve,
    fold,
    legal,
    remembered,
    withdraw,
)
from games.lifecycle import DRAW, OVER, RESIGNED, SETUP, VOID
from games.schema import always, record
from players import choose
from tests.games.matches import ALL, BOUND, HERE, LEAVE, Start, chance, same, walk
from tests.games.test_laws import hold

MATCHES = 6
SOAK = 1000
LEAVES = (8, 40, 200)  # a seat leaves at one step in so many, by the seed of the match
GAMES = [pytest.param(game, id=game.id) for game in ALL]
T = TypeVar("T")


def law(check: Callable[[Start], None]) -> Any:
    """Check a law in every game: in MATCHES matches each, and in thousands with the marker `soak`."""

    @pytest.mark.parametrize("game", GAMES)
    @pytest.mark.parametrize(
        "matches",
        [pytest.param(MATCHES, id=f"{MATCHES} matches"), pytest.param(SOAK, id=f"{SOAK} matches", marks=pytest.mark.soak)],
    )
    def test(game: Game, matches: int) -> None:
        hold(check, game, matches, derandomize=matches == MATCHES)

    test.__name__, test.__doc__ = check.__name__, check.__doc__
    return test


def leaving_often(start: Start) -> int:
    """Return at one step in how many a seat leaves a match."""
    return LEAVES[start.seed % len(LEAVES)]


def positions(start: Start, leaves: int = 0) -> list[State]:
    """Return a position of each phase that a match reaches, drawn from all of the phase."""
    will = random.Random(start.seed)
    by_phase: dict[str, list[State]] = {}
    for step in walk(start, leaves):
        by_phase.setdefault(step.before["phase"], []).append(step.before)
    return [will.choice(found) for found in by_phase.values()]


def leave_order(game: Game) -> re.Pattern[str]:
    """Return the order of the events of a seat that leaves, from tests/games/<game>/order.yaml."""
    read = yaml.safe_load((HERE / game.id / "order.yaml").read_text(encoding="utf-8"))
    parts: dict[str, str] = {}
    for name, text in read.get("parts", {}).items():
        parts[name] = text.format_map(parts)
    return re.compile(read["leave"].format_map(parts))


ORDERS = {game.id: leave_order(game) for game in ALL}
DOCUMENTS = {game.id: Draft202012Validator(game.document.schema) for game in ALL}
EVENTS = {
    game.id: {kind: Draft202012Validator(record({"type": always(kind), **fields}).schema) for kind, fields in game.events.items()}
    for game in ALL
}


def check_position(game: Game, state: State, gone: Sequence[str]) -> None:
    """Check what holds in every position of a match that some seats have left."""
    assert state["phase"] == SETUP or list(game.invariants(state)) == []
    assert set(gone).isdisjoint(state["to_act"])
    assert state["active"] not in gone
    if state["outcome"] is not None:
        assert state["to_act"] == []
        assert state["outcome"]["winners"]
        assert set(gone).isdisjoint(state["outcome"]["winners"])
        return
    playing = game.playing(state)
    assert len(playing) >= 2
    assert playing == [seat for seat in state["seats"] if seat in playing]
    assert set(gone).isdisjoint(playing)
    assert state["to_act"]
    assert set(state["to_act"]) <= {*playing, SYSTEM}


def check_leaving(game: Game, state: State, seat: str) -> State:
    """Check what happens when a seat leaves in a position. Return the position afterwards."""
    before = same(state)
    match = withdraw(game, state, seat, chance(1))
    order = "".join(f"{event['type']} " for event in match.events)
    assert ORDERS[game.id].fullmatch(order), f"{seat} leaves in {state['phase']}: {order}"
    assert fold(game, state, match.events) == match.state
    branch = Branch(game, state, chance(1))
    game.leave(branch, seat)
    assert same(branch.state) == same(match.state)
    assert same(state) == before
    check_position(game, match.state, [seat])
    for actor in match.state["to_act"]:
        assert legal(game, match.state, actor)
    assert legal(game, match.state, seat) == []
    with pytest.raises(Refused) as refused:
        carry_out(game, match.state, seat, {"type": "advance"}, chance(1))
    assert refused.value.code in ("not_your_turn", "match_over")
    others = [other for other in game.playing(state) if other != seat]
    if len(others) == 1:
        assert match.state["outcome"]["winners"] == others
        assert match.state["outcome"]["reason"] == RESIGNED
    for event in match.events:
        EVENTS[game.id][event["type"]].validate(event)
    return match.state


@law
def test_1_every_seat_may_leave_in_every_phase_and_somebody_else_is_to_act(start: Start) -> None:
    for state in positions(start):
        for seat in start.game.playing(state):
            after = check_leaving(start.game, state, seat)
        DOCUMENTS[start.game.id].validate(after)


@law
def test_2_a_match_that_seats_leave_ends_and_they_neither_act_nor_win(start: Start) -> None:
    gone: list[str] = []
    for step in walk(start, leaving_often(start)):
        assert step.actor not in gone
        if step.action is LEAVE:
            gone.append(step.actor)
        assert fold(start.game, step.before, step.events) == step.after
        check_position(start.game, step.after, gone)
    assert step.after["outcome"] is not None


@law
def test_3_the_last_seat_wins_when_the_others_leave_one_after_the_other(start: Start) -> None:
    game, will = start.game, random.Random(start.seed)
    for state in positions(start):
        gone: list[str] = []
        while state["outcome"] is None:
            playing = game.playing(state)
            seat = will.choice(playing)
            state = withdraw(game, state, seat, chance(start.seed)).state
            gone.append(seat)
            check_position(game, state, gone)
            left = [other for other in playing if other != seat]
            assert (state["outcome"] is not None) or len(left) > 1
        if len(left) == 1:
            assert state["outcome"]["winners"] == left
        if game.id != "war":  # in War! the match may end before, if nobody is left who has a final turn (WAR-LEA-08)
            assert state["outcome"]["reason"] == RESIGNED


@law
def test_4_leaving_shows_nothing_that_was_hidden(start: Start) -> None:
    for state in positions(start, leaving_often(start)):
        for viewer in (random.Random(start.seed).choice(start.seats), SPECTATOR):
            check_secrecy(start.game, state, viewer)


def check_secrecy(game: Game, state: State, viewer: str) -> None:
    """Check that a viewer sees the same when seats leave in two positions that differ in what the viewer may not know."""
    other = game.guess(clone(game.view(state, viewer)), viewer, chance(viewer))
    for seat in game.playing(state):
        one, two = (seen_by(game, document, viewer, seat) for document in (state, other))
        assert same(one) == same(two)


def seen_by(game: Game, state: State, viewer: str, seat: str) -> Any:
    """Return everything that a viewer sees when a seat leaves, and what it can do afterwards."""
    match = withdraw(game, state, seat, chance(seat))
    assert game.reveals.isdisjoint(event["type"] for event in match.events)
    shown = [(game.shown(event, viewer), game.shown(event, viewer) is event) for event in match.events]
    return shown, game.view(match.state, viewer), legal(game, match.state, viewer), game.board(game.view(match.state, viewer), viewer)


@law
def test_5_guesses_worths_boards_and_scenes_go_on_without_a_seat(start: Start) -> None:
    game, memory, gone = start.game, {}, 0
    for step in walk(start, leaving_often(start)):
        memory = remembered(game, memory, step.events)
        gone += step.action is LEAVE
        if not gone or (step.number % 16 and step.action is not LEAVE):
            continue
        for viewer in (*start.seats, SPECTATOR):
            seen = game.view(step.after, viewer)
            for known in (memory, None):
                guessed = game.guess(clone(seen), viewer, chance(start.seed), known)
                assert same(game.view(guessed, viewer)) == same(seen)
                assert step.after["phase"] == SETUP or list(game.invariants(guessed)) == []
            assert all(isinstance(game.worth(guessed, seat), (int, float)) for seat in start.seats)
            lines = game.board(seen, viewer)
            assert 0 < len(lines) <= LINES
            assert max(map(len, lines)) <= WIDTH
        assert game.scene(game.view(step.after, SPECTATOR)).winners == tuple((step.after["outcome"] or {"winners": ()})["winners"])


@law
def test_6_a_default_action_is_legal_and_follows_from_the_view(start: Start) -> None:
    for step in walk(start, leaving_often(start)):
        check_defaults(start.game, step.before, listed=step.number % 16 == 0)


def check_defaults(game: Game, state: State, listed: bool) -> None:
    """Check that each seat that is to act has a legal default action that follows from its view, and that a choice allows it."""
    for seat in state["to_act"]:
        if seat != SYSTEM:
            action = game.default(state, seat)
            assert same(game.default(game.view(state, seat), seat)) == same(action)
            carry_out(game, state, seat, action, chance(1))
            assert not listed or any(admits(choice, action, game.sets) for choice in legal(game, state, seat))


def played_by_default(game: Game, state: State, seed: object) -> Iterator[Match[State]]:
    """Play a match from a position to its end. Every seat does its default action."""
    dice = chance(seed)
    for _ in range(BOUND):
        if not state["to_act"]:
            return
        actor = state["to_act"][0]
        match = carry_out(game, state, actor, {"type": "advance"} if actor == SYSTEM else game.default(state, actor), dice)
        yield match
        state = match.state
    raise AssertionError(f"the match of {state['seats']} did not end within {BOUND} default actions")


TURN = 30  # default actions that a seat does at most before another actor decides, or its next turn begins


@law
def test_7_default_actions_end_each_turn_and_the_match(start: Start) -> None:
    game, will = start.game, random.Random(start.seed)
    state = will.choice(positions(start, leaving_often(start)))
    acting, times = None, 0
    for match in played_by_default(game, state, start.seed):
        ended = any(event["type"] in ("turn_ended", "round_ended") for event in match.events)
        times = times + 1 if match.state["to_act"] == acting and not ended else 1
        acting = match.state["to_act"]
        assert times <= TURN, f"{acting} does not get on in {match.state['phase']}"
        state = match.state
    assert state["outcome"] is not None


class Counted:
    """A source of numbers that counts how many were drawn."""

    def __init__(self, seed: object) -> None:
        self.source, self.drawn = random.Random(str(seed)), 0

    def __call__(self, below: int) -> int:
        self.drawn += 1
        return self.source.randrange(below)


@law
def test_8_drawn_chance_stands_in_an_event_that_says_so(start: Start) -> None:
    game = start.game
    for step in walk(start):
        number = Counted(start.seed)
        events = carry_out(game, step.before, step.actor, step.action, Drawn(number)).events
        assert not number.drawn or not game.rolls.isdisjoint(event["type"] for event in events), step.action
    for state in positions(start):
        for seat in game.playing(state):
            number = Counted(start.seed)
            withdraw(game, state, seat, Drawn(number))
            assert number.drawn == 0


@law
def test_9_the_document_of_an_earlier_version_comes_back_with_what_was_remembered(start: Start) -> None:
    game, memory = start.game, {}
    steps = list(walk(start))
    place = random.Random(start.seed).randrange(len(steps))
    for step in steps[:place]:
        memory = remembered(game, memory, step.events)
    earlier, late = steps[place].before, steps[-1].before
    event = {"type": RESTORED, "version": place + 1, "document": earlier, "memory": memory}
    text = same(event)
    restored = evolve(game, late, event)
    assert restored == earlier
    assert remembered(game, {"other": True}, [event]) == memory
    branch = Branch(game, late, chance(1))
    branch.emit(RESTORED, version=place + 1, document=earlier, memory=memory)
    for fact in steps[place].events:
        restored = evolve(game, restored, fact)
        branch.emit(**fact)
    assert restored == branch.state == steps[place].after
    assert same(event) == text


@pytest.mark.parametrize("reason", [DRAW, VOID])
@pytest.mark.parametrize("game", GAMES)
def test_a_match_may_end_by_agreement_in_any_phase(game: Game, reason: str) -> None:
    for state in positions(Start(game, list(game.seats.ids[: game.seats.most]), {}, 7)):
        winners = game.playing(state) if reason == DRAW else []
        event = {"type": "match_ended", "winners": winners, "reason": reason, "scores": {}}
        EVENTS[game.id]["match_ended"].validate(event)
        after = evolve(game, state, event)
        DOCUMENTS[game.id].validate(after)
        assert list(game.invariants(after)) == []
        assert (after["phase"], after["to_act"]) == (OVER, [])
        assert all(isinstance(game.worth(after, seat), (int, float)) for seat in state["seats"])
        scene = game.scene(game.view(after, SPECTATOR))
        assert (scene.over, scene.winners, scene.acting) == (True, tuple(winners), ())
        text = "\n".join(game.board(game.view(after, AUDITOR), AUDITOR))
        assert ("agreed on a draw." in text) == (reason == DRAW)
        assert ("The match does not count." in text) == (reason == VOID)


@pytest.mark.parametrize("game", [pytest.param(game, id=game.id) for game in ALL if game.seats.most > 2])
def test_artificial_players_go_on_without_a_seat(game: Game) -> None:
    for state in positions(Start(game, list(game.seats.ids[:3]), {}, 11)):
        after = withdraw(game, state, game.playing(state)[0], chance(3)).state
        for seat in after["to_act"]:
            if seat != SYSTEM:
                action = choose(game, "greedy", after, seat, chance(4))
                carry_out(game, after, seat, action, chance(5))


def test_the_toy_game_of_other_tests_keeps_these_laws_too() -> None:
    from tests.tally import TALLY

    state = TALLY.begin(["one", "two", "three"], {})
    for seat, left in (("two", ["one", "three"]), ("three", ["one"])):
        state = withdraw(TALLY, state, seat, chance(1)).state
        assert TALLY.playing(state) == left
    assert json.loads(json.dumps(state["outcome"])) == {"winners": ["one"], "reason": RESIGNED, "scores": {"one": 0}}
