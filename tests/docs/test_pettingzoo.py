"""`examples/pettingzoo`: PettingZoo's own tests pass, seats see no more than their view, and the same seed gives the same match."""

from __future__ import annotations

import random
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import api_test, seed_test

from examples.pettingzoo.encoding import actions_of, vector, views_of
from examples.pettingzoo.environment import MOST, Environment, env, listed
from games import GAMES
from games.chance import Drawn
from games.choices import admits
from games.kernel import SYSTEM, Game, any_action, carry_out, legal
from tests.tally import TALLY
from tools import private

EVERY = [pytest.param(game, id=game.id) for game in GAMES.values()]


# It warns of three things that are so on purpose: an observation is a dict, with its mask, and agents have the names of seats.
PURPOSE = ["Observation space for each agent probably", "Observation is not a NumPy array", "We recommend agents to be named"]
unless_on_purpose = pytest.mark.filterwarnings("error::UserWarning", *[f"ignore:{words}:UserWarning" for words in PURPOSE])


@unless_on_purpose
@pytest.mark.parametrize("game", [game if game == "war" else pytest.param(game, marks=pytest.mark.soak) for game in sorted(GAMES)])
def test_pettingzoo_finds_nothing(game: str) -> None:
    api_test(env(game), num_cycles=150)
    seed_test(lambda: env(game), num_cycles=60)


@unless_on_purpose
def test_it_takes_the_most_seats_and_match_options() -> None:
    environment = env("war_of_civilizations", seats=6, options={"round_limit": 5})
    api_test(environment, num_cycles=30)
    assert environment.unwrapped.document["options"]["round_limit"] == 5


def played(environment: Any, seed: int) -> dict[str, float]:
    """Play a match at random, and return the rewards of the agents."""
    environment.reset(seed=seed)
    draw = random.Random(seed)
    rewards: dict[str, float] = {}
    for agent in environment.agent_iter():
        observation, reward, terminated, truncated, info = environment.last()
        if terminated or truncated:
            rewards[agent] = reward
            environment.step(None)
            continue
        there = int(observation["action_mask"].sum())
        assert there == len(info["choices"]) == len(environment.unwrapped.encoded_choices(agent)) > 0
        environment.step(draw.randrange(there))
    return rewards


@pytest.mark.parametrize("seats", [2, 3])
def test_rewards_come_at_the_end_and_add_up_to_nothing(seats: int) -> None:
    environment = env("war", seats=seats)
    for seed in range(3):
        rewards = played(environment, seed)
        assert len(rewards) == seats
        assert sum(rewards.values()) == pytest.approx(0)
        assert max(rewards.values()) > 0
        assert environment.unwrapped.document["outcome"] is not None


def test_seats_may_be_played_by_levels() -> None:
    environment = Environment("war", seats=["blue", "red", "green"], opponents={"red": "greedy", "green": "random"})
    environment.reset(seed=3)
    assert environment.agents == ["blue"]
    assert played(environment, 3) == played(environment, 3)
    with pytest.raises(ValueError, match="not a seat"):
        Environment("war", opponents={"green": "greedy"})
    with pytest.raises(ValueError, match="at least one seat"):
        Environment("war", opponents={"red": "greedy", "blue": "greedy"})


def test_a_masked_action_ends_the_match_with_the_wrappers_and_is_refused_without() -> None:
    environment = env("war")
    environment.reset(seed=1)
    agent = environment.agent_selection
    environment.step(MOST - 1)
    assert environment.terminations[agent]
    assert environment._cumulative_rewards[agent] == -1
    bare = Environment("war")
    bare.reset(seed=1)
    with pytest.raises(ValueError, match="not a place"):
        bare.step(MOST - 1)


def positions(game: Game, seed: int) -> list[Any]:
    """Return some positions of a random match, after the set-up."""
    number = random.Random(seed).randrange
    state, found = game.begin(list(game.seats.ids[: game.seats.least]), {}), []
    for step in range(400):
        if state["outcome"] is not None:
            break
        actor = state["to_act"][0]
        if actor != SYSTEM and step % 13 == 0:
            found.append(state)
        action = any_action(game, state, actor, number)
        assert action is not None
        state = carry_out(game, state, actor, action, Drawn(number)).state
    return found


@pytest.mark.parametrize("game", EVERY)
def test_an_observation_follows_from_the_view(game: Game) -> None:
    environment = Environment(game)
    environment.reset(seed=1)
    differ = 0
    for state in positions(game, 5):
        for seat in state["seats"]:
            environment.document = state
            observed = environment.observe(seat)["observation"]
            environment.document = game.guess(game.view(state, seat), seat, Drawn(random.Random(8).randrange))
            differ += environment.document != state
            assert np.array_equal(environment.observe(seat)["observation"], observed)
    assert differ, "there was something hidden"


def test_an_option_that_was_not_given_is_seen_with_its_default() -> None:
    limits = []
    for options in ({}, {"round_limit": 50}, {"round_limit": 7}):
        environment = Environment("war_of_civilizations", options=options)
        environment.reset(seed=1)
        seen = environment.observe(environment.agent_selection)["observation"]
        limits.append(seen[environment.labels.index("options.round_limit")])
    assert limits == [50, 50, 7]


@pytest.mark.parametrize("game", [*EVERY, pytest.param(TALLY, id="tally")])
def test_places_have_different_labels_and_say_what_is_there(game: Game) -> None:
    views, actions = views_of(game), actions_of(game)
    assert len(set(views.labels)) == len(views.labels)
    for state in positions(game, 2):
        seat = state["to_act"][0]
        seen = dict(zip(views.labels, vector(views, game.view(state, seat)), strict=True))
        assert (seen["round"], seen[f"phase={state['phase']}"], seen[f"to_act has {seat}"]) == (state["round"], 1, 1)
        choices = legal(game, state, seat)
        there = listed(choices, Drawn(random.Random(1).randrange))
        assert all(any(admits(choice, action) for action in there) for choice in choices)
        assert all(any(admits(choice, action) for choice in choices) for action in there)
        rows = [tuple(vector(actions, action)) for action in there]
        assert len(set(rows)) == len(rows), "different actions have different vectors"


def test_its_packages_are_those_of_the_tests() -> None:
    pinned = (private.ROOT / "requirements-dev.txt").read_text()
    for line in (private.ROOT / "examples" / "pettingzoo" / "requirements.txt").read_text().splitlines():
        assert f"\n{line} " in pinned


def test_the_readme_tells_the_sizes() -> None:
    told = (private.ROOT / "examples" / "pettingzoo" / "README.md").read_text()
    assert all(f" {len(Environment(game).labels):,}" in told for game in GAMES.values())


def test_the_example_runs() -> None:
    words = [sys.executable, "-m", "examples.pettingzoo.play", "war", "--matches", "1"]
    ended = subprocess.run(words, cwd=private.ROOT, capture_output=True, text=True, timeout=120)
    assert ended.stdout.startswith("match 0: red got "), ended.stderr
