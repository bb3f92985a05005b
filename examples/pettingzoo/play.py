"""Play matches at random against a level of play: `python -m examples.pettingzoo.play war --opponent greedy`."""

from __future__ import annotations

import argparse

from examples.pettingzoo.environment import env
from games import GAMES
from players import LEVELS


def main() -> None:
    """Play the matches and print the reward of each."""
    parser = argparse.ArgumentParser(description="Play matches at random against a level of play.")
    parser.add_argument("game", choices=sorted(GAMES))
    parser.add_argument("--opponent", default="greedy", choices=list(LEVELS))
    parser.add_argument("--matches", type=int, default=5)
    options = parser.parse_args()
    own, other = GAMES[options.game].seats.ids[:2]
    environment = env(options.game, opponents={other: options.opponent})
    for seed in range(options.matches):
        environment.reset(seed=seed)
        environment.action_space(own).seed(seed)
        decisions = 0
        for agent in environment.agent_iter():
            observation, reward, terminated, truncated, _ = environment.last()
            if terminated or truncated:
                print(f"match {seed}: {own} got {reward:g} after {decisions} decisions")
                environment.step(None)
            else:
                decisions += 1
                environment.step(environment.action_space(agent).sample(observation["action_mask"]))


if __name__ == "__main__":
    main()
