"""Each code of refusal stands once, and the codes of a kind of action are those with which it is refused."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator

from events.deciding import session_after
from games.chance import Drawn
from games.kernel import Refused
from record.positions import Position
from table.data import FOLDER
from table.deeds import BEGINNINGS, DEEDS
from table.refusals import REFUSALS, codes_in
from table.rules import is_table_action, is_table_refusal, play_refusal, signature_refusal
from table.session import BY_PLAYER, BY_REFEREE, BY_SEAT, Session
from tests.table.recording import SCENARIOS, found
from tools.scenarios import TableRules, rules_of

Pair = tuple[str, str]
"""A kind of action, and a code with which it is refused."""

DERIVED = {(kind, code) for kind, deed in DEEDS.items() for code in codes_in(deed.refusal)}
IN_THE_GAME = "an action of the game"
UNSIGNED = codes_in(signature_refusal)
"""The codes with which every kind of action is refused that people do after the start."""


def of_the_scenarios() -> Iterator[Pair]:
    """Yield every pair that a scenario shows."""
    for one in found():
        if is_table_refusal(one.refusal):
            action = one.step["do"]
            yield action["type"] if is_table_action(action) else IN_THE_GAME, one.refusal.code


def tried() -> Iterator[Pair]:
    """Yield the pairs that come up if each kind of action is tried at each position of the scenarios, by everybody who may choose it."""
    actions = {step["do"]["type"]: step["do"] for scenario in SCENARIOS for step in scenario["steps"] if is_table_action(step["do"])}
    for session, seats in sessions():
        for kind, action in actions.items():
            whose = DEEDS[kind].by
            actors = seats if whose == BY_SEAT else ["nobody", "ada"] if whose in (BY_PLAYER, BY_REFEREE) else ["system"]
            for actor in actors:
                refusal = None if kind in BEGINNINGS else DEEDS[kind].refusal(session, actor, action)
                if refusal is not None and is_table_refusal(refusal):
                    yield kind, refusal.code


def sessions() -> Iterator[tuple[Session, list[str]]]:
    """Yield a session at each position of the scenarios, with the seats of the match."""
    for scenario in SCENARIOS:
        rules = rules_of(scenario, FOLDER)
        assert isinstance(rules, TableRules)
        state, chance = rules.start(scenario["given"]), Drawn(random.Random(0).randrange)
        for step in scenario["steps"]:
            positions: list[Position] = state["positions"]
            if positions:
                earlier = {position.version: (position.document, position.memory) for position in positions}
                yield session_after(rules.game, positions[-1], positions[-1].at, chance, earlier.__getitem__), list(positions[-1].roster)
            with contextlib.suppress(Refused):
                _, state = rules.act(state, step, chance)


def test_each_kind_of_action_is_refused_with_all_its_codes_and_no_others() -> None:
    """A list of codes that follows from code is true only if each code is reached."""
    shown = {*of_the_scenarios(), *tried()}
    in_the_game = {code for kind, code in shown if kind == IN_THE_GAME}
    assert in_the_game == codes_in(play_refusal) | UNSIGNED
    assert {(kind, code) for kind, code in shown if kind != IN_THE_GAME and code not in UNSIGNED} == DERIVED


def test_every_code_belongs_to_some_action() -> None:
    assert {code for _, code in DERIVED} | codes_in(play_refusal) | UNSIGNED == set(REFUSALS)


def test_a_code_is_found_in_what_a_function_calls_and_nowhere_else() -> None:
    assert codes_in(lambda: "seat_taken") == frozenset()  # not of the table
    assert codes_in(play_refusal) == {"match_paused", "match_disputed", "substituted", "time_is_up"}
    assert "wrong_code" in codes_in(DEEDS["take_seat"].refusal)
    assert "wrong_code" not in codes_in(DEEDS["leave_seat"].refusal)
