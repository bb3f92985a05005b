"""The laws again in busy matches. Random play seldom fights, sends privateers or takes the Isle.

Every seat begins rich. It picks a kind of action first and then an action of that kind, so that rare kinds are as frequent as common ones.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from games.choices import complete
from games.documents import clone
from games.kernel import AUDITOR, SPECTATOR, Action, Branch, Game, State, carry_out, fold, legal, remembered
from games.lifecycle import OVER, SETUP
from games.war_of_civilizations import GAME
from games.war_of_civilizations.data import RESOURCES, SEATS
from tests.games.matches import LEAVE, Step, chance, same, walk_on
from tests.games.test_laws import ORDERS
from tests.games.test_leaving import check_defaults, check_leaving, check_position, check_secrecy

DULL = {"end_turn", "end_action", "discard_card", "ready", "yield"}
LIVELY = 0.9  # the chance that dull kinds are left out if there are others
MOST = 800  # actions of a match


def seeds(first: int, soaked: int, end: int) -> list[object]:
    """Return the seeds from `first` to `end`. Those from `soaked` on are for the soak."""
    return [*range(first, soaked), *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(soaked, end))]


def enriched(state: State) -> State:
    """Return a document in which every seat has plenty of resources. Nothing that is conserved changes."""
    rich = clone(state)
    for player in rich["players"].values():
        player.update(dict.fromkeys(RESOURCES, 40))
    return rich


def busy(seed: int, leaves: int = 0) -> Iterator[Step]:
    will, dice = random.Random(seed), chance(("dice", seed))
    seats = will.sample(SEATS, will.randint(2, 6))
    state = GAME.begin(seats, {"round_limit": 20, "pirates": will.random() < 0.7, "disasters": will.random() < 0.4})
    state = enriched(carry_out(GAME, state, "system", {"type": "advance"}, dice).state)
    yield from walk_on(GAME, state, dice, will, 0, leaves, lively, MOST)


def lively(game: Game, state: State, actor: str, will: random.Random) -> Action:
    """Choose a kind of action first, and rarely a dull one."""
    choices = legal(game, state, actor)
    kinds = list(dict.fromkeys(choice["action"]["type"] for choice in choices))
    others = [kind for kind in kinds if kind not in DULL]
    kind = will.choice(others if others and will.random() < LIVELY else kinds)
    choice = will.choice([choice for choice in choices if choice["action"]["type"] == kind])
    return complete(choice["action"], choice.get("choose", {}), will.randrange)


@pytest.mark.parametrize("seed", seeds(0, 4, 16))
def test_pieces_are_conserved_and_events_come_in_order_and_fold(seed):
    for step in busy(seed):
        assert list(GAME.invariants(step.after)) == []
        order = "".join(f"{event['type']} " for event in step.events)
        assert ORDERS[GAME.id][step.action["type"]].fullmatch(order), f"{step.action}: {order}"
        if step.number % 4 == 0:
            assert fold(GAME, step.before, step.events) == step.after


@pytest.mark.parametrize("seed", seeds(16, 19, 28))
def test_a_guess_agrees_with_what_is_seen_and_leaves_the_choices_as_they_are(seed):
    memory = {}
    for step in busy(seed):
        if step.number % 8 == 0:
            for viewer in (*step.before["seats"], SPECTATOR, AUDITOR):
                seen = GAME.view(step.before, viewer)
                guessed = GAME.guess(clone(seen), viewer, chance(step.number), memory)
                assert same(GAME.view(guessed, viewer)) == same(seen)
                assert list(GAME.invariants(guessed)) == []
                assert same(legal(GAME, guessed, viewer)) == same(legal(GAME, step.before, viewer))
        memory = remembered(GAME, memory, step.events)


@pytest.mark.parametrize("seed", seeds(28, 32, 40))
def test_every_listed_choice_is_accepted_and_there_are_never_too_many(seed):
    will = random.Random(seed)
    for step in busy(seed):
        if step.number % 8 == 0:
            choices = legal(GAME, step.before, step.actor)
            assert len(choices) <= 300
            for choice in choices:
                action = complete(choice["action"], choice.get("choose", {}), will.randrange)
                carry_out(GAME, step.before, step.actor, action, chance(step.number))


@pytest.mark.parametrize("seed", seeds(40, 43, 48))
def test_a_branch_goes_as_recorded_play_goes(seed):
    branch = None
    for step in busy(seed):
        if branch is None:
            branch = Branch(GAME, step.before, chance(("branch", seed)))
        drawn = {"dice_rolled", "disaster_drawn", "deck_reshuffled"} & {event["type"] for event in step.events}
        if drawn:
            branch = None
            continue
        branch.play(step.actor, step.action)
        assert step.number % 8 or same(branch.state) == same(step.after)


def moment(state: State) -> tuple[object, ...]:
    """Return what is under way in a position: the phase, who fights whom, and what else waits."""
    battle = state["battle"]
    return (
        state["phase"],
        battle
        and (battle["kind"], battle["privateer"], battle["attacker"] == state["active"], len(battle["bids"]), bool(battle["hostages"])),
        state["blockade"] is not None,
        state["ransom"] is not None,
    )


def test_any_seat_may_leave_in_the_middle_of_anything():
    """Each kind of moment of some busy matches is tried once for each number of seats (tests/games/test_leaving.py has the laws)."""
    tried = set()
    for seed in range(48, 60):
        for step in busy(seed):
            state = step.before
            key = (len(GAME.playing(state)), moment(state))
            if key not in tried:
                tried.add(key)
                check_defaults(GAME, state, listed=True)
                for seat in GAME.playing(state):
                    check_leaving(GAME, state, seat)
                for viewer in (*state["seats"][:2], SPECTATOR):
                    check_secrecy(GAME, state, viewer)
    assert {phase for _, (phase, *_) in tried} == set(GAME.phases) - {SETUP, OVER}


@pytest.mark.parametrize("seed", seeds(60, 64, 72))
def test_play_goes_on_when_seats_leave(seed):
    gone = []
    for step in busy(seed, leaves=60):
        gone += [step.actor] if step.action is LEAVE else []
        check_position(GAME, step.after, gone)
