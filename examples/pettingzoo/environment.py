"""The games as PettingZoo AEC environments. They need the rules but not the service. README.md describes spaces, masks and rewards."""

from __future__ import annotations

import random
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from examples.pettingzoo.encoding import actions_of, vector, views_of
from games import GAMES
from games.chance import Drawn
from games.choices import Choice, combinations, count
from games.kernel import SPECTATOR, SYSTEM, Action, Game, Memory, Seat, State, carry_out, legal, remembered
from players import LEVELS, budget_of, question_of
from players.greedy import completions
from players.level import Question

MOST = 512  # the most choices of a decision
COMPLETIONS = 8  # the most actions of an open choice
LONGEST = 20_000  # the most actions of a match


def env(game: str = "war", **settings: Any) -> AECEnv:
    """Return the environment with PettingZoo's usual wrappers. A masked action ends the match, and its agent gets -1."""
    wrapped = wrappers.TerminateIllegalWrapper(Environment(game, **settings), illegal_reward=-1)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(wrapped))


class Environment(AECEnv):
    """A match of a game. The agents are the seats without opponents. The environment plays for the system and the opponents.

    `game`: the id of the game, or a game of your own (docs/adding-a-game.md). `seats`: the number of seats, or their ids in turn order.
    `options`: the match options. `opponents`: the levels of artificial players, by seat.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "name": "warledger_v0", "is_parallelizable": False}

    def __init__(
        self,
        game: str | Game = "war",
        seats: int | Sequence[Seat] = 2,
        options: Mapping[str, Any] | None = None,
        opponents: Mapping[Seat, str] | None = None,
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        self.game = GAMES[game] if isinstance(game, str) else game
        self.seats = list(self.game.seats.ids[:seats]) if isinstance(seats, int) else list(seats)
        self.options = dict(options or {})
        self.opponents = dict(opponents or {})
        self.render_mode = render_mode
        self.game.begin(list(self.seats), self.options)  # raises Refused if the match cannot be set up like this
        if unknown := [seat for seat in self.opponents if seat not in self.seats]:
            raise ValueError(f"{unknown[0]} is not a seat of the match")
        if set(self.seats) <= set(self.opponents):
            raise ValueError("at least one seat must be an agent's")
        self.possible_agents = [seat for seat in self.seats if seat not in self.opponents]
        self.metadata = {**type(self).metadata, "name": f"{self.game.id}_v0"}
        self._view_part, self._action_part = views_of(self.game), actions_of(self.game)
        self.labels = [*[f"seat={seat}" for seat in self.game.seats.ids], *self._view_part.labels]
        """The meaning of each place of an observation."""
        self.action_labels = self._action_part.labels
        """The meaning of each place of an encoded action."""
        observation = Box(0.0, np.inf, (len(self.labels),), np.float32)
        self._observation_spaces = {
            seat: Dict({"observation": observation, "action_mask": Box(0, 1, (MOST,), np.int8)}) for seat in self.possible_agents
        }
        self._action_spaces = {seat: Discrete(MOST) for seat in self.possible_agents}

    def observation_space(self, agent: Seat) -> Dict:
        """Return the space of an agent's observations."""
        return self._observation_spaces[agent]

    def action_space(self, agent: Seat) -> Discrete:
        """Return the space of an agent's actions: places in its list of choices."""
        return self._action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a match. The same seed and the same actions give the same match. `options` is ignored."""
        seed = secrets.randbits(64) if seed is None else seed
        self._dice, self._thoughts, self._samples = (drawn(f"{seed}/{use}") for use in ("dice", "thoughts", "samples"))
        self.document: State = self.game.begin(list(self.seats), self.options)
        self.memory: Memory = {}
        self.actions_done = 0
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[Seat, dict[str, Any]] = {seat: {} for seat in self.agents}
        self._skip_agent_selection = None
        self.agent_selection = self.agents[0]
        self._go_on()

    def step(self, action: int | None) -> None:
        """Carry out the action at a place of the list of choices. Raises ValueError if there is none."""
        seat = self.agent_selection
        if self.terminations[seat] or self.truncations[seat]:
            self._was_dead_step(action)
            return
        listed = self.infos[seat]["choices"]
        if action is None or not 0 <= action < len(listed):
            raise ValueError(f"{action} is not a place in the list of {len(listed)} choices")
        self._cumulative_rewards[seat] = 0.0
        self._clear_rewards()
        self._carry_out(seat, listed[action])
        self._go_on()
        self._accumulate_rewards()

    def observe(self, agent: Seat) -> dict[str, NDArray[Any]]:
        """Return what an agent sees, and the mask of its list of choices. It contains nothing that the agent may not know."""
        seen = [float(seat == agent) for seat in self.game.seats.ids]
        view = self.game.view(self.document, agent)
        seen += vector(self._view_part, {**view, "options": self.game.with_defaults(view["options"])})
        mask = np.zeros(MOST, np.int8)
        mask[: len(self.infos.get(agent, {}).get("choices", ()))] = 1
        return {"observation": np.array(seen, np.float32), "action_mask": mask}

    def question(self, agent: Seat) -> Question:
        """Return the decision of an agent in the form for levels of play: its view, its choices, and what everybody has seen."""
        return question_of(self.game, self.document, agent, self.memory)

    def encoded_choices(self, agent: Seat) -> NDArray[np.float32]:
        """Return the list of an agent's choices as a matrix with a row for each choice. `action_labels` describes the columns."""
        rows = [vector(self._action_part, action) for action in self.infos[agent].get("choices", ())]
        return np.array(rows, np.float32).reshape(len(rows), len(self.action_labels))

    def render(self) -> str:
        """Return the board as text, as a spectator sees it."""
        return "\n".join(self.game.board(self.game.view(self.document, SPECTATOR), SPECTATOR))

    def close(self) -> None:
        """Do nothing, because there is nothing to release."""

    def _go_on(self) -> None:
        """Act for the system and the opponents until an agent must decide or the match is over."""
        while self.document["outcome"] is None and self.actions_done < LONGEST:
            actor = self.document["to_act"][0]
            if actor in self.possible_agents:
                break
            self._carry_out(actor, self._answer(actor))
        self.infos = {seat: {} for seat in self.agents}
        if self.document["outcome"] is not None:
            self._reward(self.document["outcome"]["winners"])
            self.terminations = dict.fromkeys(self.agents, True)
        elif self.actions_done >= LONGEST:
            self.truncations = dict.fromkeys(self.agents, True)
        else:
            self.agent_selection = actor
            self.infos[actor] = {"choices": listed(legal(self.game, self.document, actor), self._samples)}

    def _answer(self, actor: Seat) -> Action:
        if actor == SYSTEM:
            action: Action = legal(self.game, self.document, SYSTEM)[0]["action"]
            return action
        question, level = self.question(actor), self.opponents[actor]
        return LEVELS[level](question, budget_of(question, level), self._thoughts).action

    def _carry_out(self, actor: Seat, action: Action) -> None:
        match = carry_out(self.game, self.document, actor, action, self._dice)
        self.document, self.memory = match.state, remembered(self.game, self.memory, match.events)
        self.actions_done += 1

    def _reward(self, winners: list[Seat]) -> None:
        """Reward the agents. A sole winner gets 1, and a loser -1 divided by the number of other seats. The sum over all seats is 0."""
        number = len(self.seats)
        for seat in self.agents if winners else []:
            share = 1 / len(winners) if seat in winners else 0.0
            self.rewards[seat] = (share * number - 1) / (number - 1)


def drawn(seed: str) -> Drawn:
    """Return chance that follows from a seed, and that is the same in every version of Python."""
    source = random.Random(seed).random
    return Drawn(lambda below: int(source() * below))


def listed(choices: Sequence[Choice], samples: Drawn) -> list[Action]:
    """Return the complete actions of a list of choices, in its order, at most `MOST`.

    An open choice gives all its actions if there are few. Otherwise it gives the lowest counts, the highest counts, and drawn ones.
    """
    each = max(1, min(COMPLETIONS, MOST // len(choices)))
    found: list[Action] = []
    for choice in choices:
        found += combinations(choice) if count(choice) <= each else completions(choice, each, samples)
    return found[:MOST]
