"""Tactical puzzles of War of Civilizations that the level `strong` solves, and how its search answers."""

from __future__ import annotations

import random
from typing import Any

import pytest

from games.chance import Drawn
from games.kernel import SYSTEM, Action, Memory, Seat, State, carry_out, legal, remembered
from games.war_of_civilizations import GAME
from players import LEVELS, budget_of, choose, question_of
from players.level import Budget, Thought
from players.plans import plan_of
from players.searching import search
from players.turns import Beam, Node
from players.war_of_civilizations.features import NAMES, features
from tests.prepared import position

FOX_AT_HOME = {"fox_home": {"capital": None, "gunboat": 1}, "fox_shield": {"gunboat": 1}, "fox_haven": {"gunboat": 1}}
TIGER_AT_HOME = {"tiger_home": {"capital": 1, "gunboat": 1}, "tiger_haven": {"gunboat": 1}, "tiger_shield": {"gunboat": 1}}
TIGER_OUT = {"tiger_home": {"capital": None, "gunboat": 1}}
BARE = {"oc": 0, "alwood": 0, "ammo": 0}


def thought(state: State, seat: Seat, seed: int = 1, most: int = 1 << 30, level: str = "strong") -> Thought:
    """Return what a level thinks of a position, interrupted after so many iterations."""
    question = question_of(GAME, state, seat)
    return LEVELS[level](question, budget_of(question, level, lambda spent: spent < most), Drawn(random.Random(seed).randrange))


def played_on(state: State, seat: Seat, until: str = "over") -> tuple[State, list[Action]]:
    """Return the position at the end of the match and what a `strong` seat has done for it. The others play greedily."""
    chance = Drawn(random.Random(7).randrange)
    done: list[Action] = []
    for _ in range(60):
        if state["phase"] == until:
            break
        actor = state["to_act"][0]
        if actor == SYSTEM:
            action = legal(GAME, state, SYSTEM)[0]["action"]
        else:
            action = choose(GAME, "strong" if actor == seat else "greedy", state, actor, chance)
        if actor == seat:
            done.append(action)
        state = carry_out(GAME, state, actor, action, chance).state
    return state, done


def explored(state: State) -> State:
    """Return the position with all apex islands explored. Their crystals are in the supply."""
    for here in state["apex"].values():
        here.update(explored=True, expedition=None, known_to=[])
        state["crystals"]["supply"] += 1
    assert list(GAME.invariants(state)) == []
    return state


def last_round(fox: dict[str, Any], tiger: dict[str, Any]) -> State:
    """Return a position in the last round of the countdown, in the turn of fox, who comes after tiger. Tiger is ahead by two crystals."""
    prepared = position(
        ["tiger", "fox"],
        {
            "round": 8,
            "countdown": 1,
            "active": "fox",
            "to_act": ["fox"],
            "crystals": {"isle": 12},
            "players": {
                "fox": {**BARE, "oc": 3, "crystals": 1, "entered_central": True, **fox},
                "tiger": {**BARE, "crystals": 3, "fleets": TIGER_AT_HOME, **tiger},
            },
        },
    )
    return explored(prepared)


@pytest.mark.parametrize(
    ("at", "cards"),
    [("apex_4", []), ("fox_north", []), ("fox_west", ["fresh_orders"]), ("fox_north", ["following_wind"])],
    ids=["one step", "two moves", "three moves with fresh orders", "two steps, with a card to spare"],
)
def test_a_turn_that_wins_on_the_isle_is_found(at: str, cards: list[str]) -> None:
    state = last_round({"fleets": {**FOX_AT_HOME, at: {"capital": 1}}, "cards": []}, {})
    for card in cards:
        state["power"]["deck"].remove(card) if card in state["power"]["deck"] else state["power"]["display"].remove(card)
        state["players"]["fox"]["cards"].append(card)
    end, done = played_on(state, "fox")
    assert end["outcome"]["winners"] == ["fox"], done
    assert end["isle"]["holder"] == "fox"
    assert ("fresh_orders" in str(done)) == ("fresh_orders" in cards)


def test_a_blow_against_a_bare_home_base_ends_the_match() -> None:
    strike = {"capital": 1, "destroyer": 2}
    state = last_round(
        {"fleets": {**FOX_AT_HOME, "tiger_shield": strike}},
        {"fleets": {**dict.fromkeys(TIGER_AT_HOME), "tiger_north": {"capital": 1, "gunboat": 1}}, "ammo": 3, "crystals": 9},
    )
    end, done = played_on(state, "fox")
    assert end["outcome"]["winners"] == ["fox"], done
    assert end["outcome"]["reason"] == "last_survivor", done


def besieged(fox: dict[str, Any]) -> State:
    """Return a position in which tiger, without ammo, attacks fox on the Isle with 13 against 10. Fox would win the match there."""
    state = position(
        ["tiger", "fox"],
        {
            "round": 8,
            "countdown": 2,
            "active": "tiger",
            "to_act": ["tiger"],
            "crystals": {"isle": 9},
            "isle": {"holder": "fox", "since": 5, "full_rounds": 2},
            "turn": {"action": "move", "actions_used": 1, "bonus_open": True},
            "players": {
                "fox": {**BARE, "oc": 3, "entered_central": True, "fleets": {**FOX_AT_HOME, "isle": {"capital": 1}}, **fox},
                "tiger": {
                    **BARE,
                    "entered_central": True,
                    "fleets": {**TIGER_AT_HOME, "tiger_home": {"capital": None, "gunboat": 1}, "apex_1": FLEET},
                },
            },
        },
    )
    step = {"type": "move", "from": "apex_1", "to": "isle", "ships": FLEET}
    state = carry_out(GAME, explored(state), "tiger", step, Drawn(random.Random(1).randrange)).state
    assert state["phase"] == "bids"
    return state


FLEET = {"capital": 1, "frigate": 1}


@pytest.mark.parametrize("sealed", [False, True])
def test_a_bid_keeps_the_isle(sealed: bool) -> None:
    state = besieged({"ammo": 6})
    if sealed:
        state = carry_out(GAME, state, "tiger", {"type": "bid", "ammo": 0, "cards": []}, Drawn(random.Random(1).randrange)).state
    assert thought(state, "fox").action["ammo"] >= 4, "in a tie the attacker wins"


def test_a_combat_card_keeps_the_isle() -> None:
    state = besieged({"ammo": 0})
    pile = next(pile for pile in (state["power"]["deck"], state["power"]["display"]) if "heavy_cannon" in pile)
    pile.remove("heavy_cannon")
    state["players"]["fox"]["cards"].append("heavy_cannon")
    assert thought(state, "fox").action == {"type": "bid", "cards": ["heavy_cannon"], "ammo": 0}


def test_a_holder_two_rounds_on_the_isle_does_not_leave_it() -> None:
    state = last_round({"fleets": {**FOX_AT_HOME, "isle": {"capital": 1}}}, {})
    state["isle"].update(holder="fox", since=5, full_rounds=2)
    end, done = played_on(state, "fox")
    assert end["outcome"]["winners"] == ["fox"], done
    assert end["outcome"]["reason"] == "isle_held", done


# ---------------------------------------------------------------- how the search answers

OPEN = last_round({"fleets": {**FOX_AT_HOME, "fox_north": {"capital": 1, "frigate": 2}}, "oc": 6, "alwood": 6}, {})


@pytest.mark.parametrize("level", ["strong", "expert"])
@pytest.mark.parametrize("state", [OPEN, besieged({"ammo": 6})], ids=["turn", "bid"])
def test_the_same_seed_gives_the_same_thought(level: str, state: State) -> None:
    one = thought(state, "fox", most=30, level=level)
    assert thought(state, "fox", most=30, level=level) == one
    assert 0 < one.spent <= 30
    assert one.nodes > 0
    assert one.options[0].action == one.action
    assert all(0.0 <= option.worth <= 1.0 for option in one.options)


@pytest.mark.parametrize("most", [1, 7, 25])
def test_an_interrupted_search_is_the_same_as_one_stopped_after_as_many_iterations(most: int) -> None:
    asked: list[int] = []
    question = question_of(GAME, OPEN, "fox")

    def go_on(spent: int) -> bool:
        asked.append(spent)
        return spent < most

    one = LEVELS["strong"](question, budget_of(question, "strong", go_on), Drawn(random.Random(3).randrange))
    assert one.spent <= most
    assert asked == sorted(asked)
    assert thought(OPEN, "fox", 3, one.spent) == one


def test_the_positions_tried_are_bounded() -> None:
    question, plan = question_of(GAME, OPEN, "fox"), plan_of("war_of_civilizations", "strong", 2)
    assert plan is not None
    few = search("strong", plan=plan._replace(settings={**plan.settings, "nodes": 100}))
    most = max(len(legal(GAME, OPEN, "fox")) * 4, 100)  # of one position, beyond the bound
    assert few(question, budget_of(question, "strong"), Drawn(random.Random(1).randrange)).nodes < 100 + most
    assert thought(OPEN, "fox").nodes > 100 + most


@pytest.mark.parametrize("level", ["strong", pytest.param("expert", marks=pytest.mark.soak)])
def test_a_search_that_is_stopped_does_not_give_the_turn_away(level: str) -> None:
    """The end of the turn is one action away, and what is worth more takes several. So turns are compared where they end."""
    chance = Drawn(random.Random(2).randrange)
    state: State = GAME.begin(["tiger", "fox"], {})
    memory: Memory = {}
    ended: dict[int, int] = {1: 0, 12: 0, 1 << 30: 0}
    while state["outcome"] is None and state["round"] < 6:
        actor = state["to_act"][0]
        turn = state["turn"]
        if actor != SYSTEM and turn is not None and turn["action"] is None and turn["actions_used"] == 0:
            for most in ended:
                ended[most] += thought(state, actor, most=most, level=level).action["type"] == "end_turn"
        question = question_of(GAME, state, actor, memory)
        action = question.choices[0]["action"] if actor == SYSTEM else LEVELS["greedy"](question, Budget(), chance).action
        match = carry_out(GAME, state, actor, action, chance)
        state, memory = match.state, remembered(GAME, memory, match.events)
    assert max(ended.values()) <= 1, f"turns given away, by iterations: {ended}"


def test_a_search_ends_with_the_turn_where_the_seat_has_two_in_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """With `first_seat_rotates` the last of two seats is the first of the next round."""
    state = position(["tiger", "fox"], {"round": 3, "active": "fox", "to_act": ["fox"]}, first_seat_rotates=True)
    rounds: set[tuple[int, bool]] = set()
    add = Beam.add

    def watched(beam: Beam, node: Node) -> bool:
        goes_on = add(beam, node)
        rounds.add((node.state["round"], goes_on))
        return goes_on

    monkeypatch.setattr(Beam, "add", watched)
    thought(state, "fox")
    assert {goes_on for number, goes_on in rounds if number == 3} >= {True}
    assert {goes_on for number, goes_on in rounds if number > 3} <= {False}


@pytest.mark.parametrize(
    ("arrival_counts", "holder", "since", "countdown", "crystals"),
    [
        (False, "tiger", 4, 3, 6),  # the two rounds after this one
        (True, "tiger", 4, 3, 9),  # this round, too: tiger is the first seat
        (True, "fox", 4, 3, -6),
        (True, "fox", 3, 3, -9),
        (False, "tiger", 4, 1, 3),  # whoever holds the Isle at the end of the last round
    ],
)
def test_the_crystals_that_the_isle_will_bring_are_counted(
    arrival_counts: bool, holder: Seat, since: int, countdown: int, crystals: int
) -> None:
    state = position(
        ["tiger", "fox"],
        {
            "round": 4,
            "countdown": countdown,
            "isle": {"holder": holder, "since": since, "full_rounds": 0},
            "players": {holder: {"entered_central": True, "fleets": {f"{holder}_home": None, "isle": {"capital": 1}}}},
        },
        arrival_counts=arrival_counts,
    )
    assert dict(zip(NAMES, features(state, "tiger"), strict=True))["isle"] == crystals
