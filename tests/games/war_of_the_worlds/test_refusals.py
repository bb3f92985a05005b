"""Refusals have a sentence with the facts of the case, name the rule, and reveal nothing that the seat may not know."""

from __future__ import annotations

import json
import re

import pytest

from games.documents import clone
from games.kernel import Refused, carry_out, sentence
from games.war_of_the_worlds import GAME
from games.war_of_the_worlds.data import SEATS
from tests.games.matches import chance, refused, same, scenarios
from tools.scenarios import GameRules


def refusals():
    """Every refused step of the scenarios: the document before it, the seat, the action and its code."""
    for scenario in scenarios(GAME):
        state = GameRules(GAME).start(scenario["given"])
        for number, step in enumerate(scenario["steps"], 1):
            if "refused" in step:
                yield pytest.param(state, step["seat"], step["do"], step["refused"], id=f"{scenario['id']} step {number}")
            else:
                state = GameRules(GAME).act(state, step, chance(1))[1]


REFUSED = list(refusals())


def refusal(state, seat, action):
    with pytest.raises(Refused) as refused:
        carry_out(GAME, state, seat, clone(action), chance(1))
    return refused.value.refusal


@pytest.mark.parametrize(("state", "seat", "action", "code"), REFUSED)
def test_a_refusal_has_a_sentence_with_the_facts_of_the_case(state, seat, action, code):
    given = refusal(state, seat, action)
    said = sentence(GAME, given)
    assert given.code == code
    assert said.endswith(".")
    assert not re.search(r"[{}]|None", said)
    assert given.rule is None or re.fullmatch(r"WOW-[A-Z]{3}-\d\d", given.rule)
    json.dumps(dict(given.facts))


@pytest.mark.parametrize(("state", "seat", "action", "code"), [row for row in REFUSED if row.values[1] in SEATS])
def test_a_refusal_is_the_same_whatever_the_seat_cannot_see(state, seat, action, code):
    other = GAME.guess(GAME.view(state, seat), seat, chance(7))
    assert same(refusal(state, seat, action)) == same(refusal(other, seat, action))


def test_a_strike_that_is_too_weak_is_refused_with_its_numbers():
    fort = {"regions": {"london": {"building": "fort", "civilians": 2}}, "units": {"tripod_1": {"region": "london"}}}
    state = GameRules(GAME).start({"patch": {**fort, "sides": {"aliens": {"hand": ["tripod"]}}}})
    given = refusal(state, "aliens", {"type": "play", "card": "tripod", "option": 2, "unit": "tripod_1"})
    assert (given.code, given.rule) == ("too_weak", "WOW-STR-04")
    assert sentence(GAME, given) == "The strike on london is too weak: 2 gathered and at most 0 to follow, against a need of 4."


@pytest.mark.parametrize(
    ("seats", "options", "rule", "reason"),
    [
        (["aliens"], {}, "WOW-CMP-01", "the seats are aliens and humans"),
        (["aliens", "aliens"], {}, "WOW-CMP-01", "the seats are aliens and humans"),
        (["aliens", "humans"], {"must_play": 1}, "WOW-OPT-03", "must_play: expected true or false"),
        (["aliens", "humans"], {"round_limit": 0}, "WOW-OPT-03", "round_limit: expected a number of at least 1"),
        (["aliens", "humans"], {"round_limit": 1001}, "WOW-OPT-03", "round_limit: expected a number of at most 1000"),
        (["aliens", "humans"], {"map": 1}, "WOW-OPT-03", "unknown field 'map'"),
    ],
)
def test_a_match_with_other_seats_or_options_cannot_be_created(seats, options, rule, reason):
    assert refused(GAME, seats, options) == ("bad_options", rule, {"reason": reason})


def test_the_aliens_are_the_first_seat_of_a_new_match():
    state = GAME.begin(["humans", "aliens"], {"round_limit": 7})
    assert state["seats"] == list(SEATS)
    assert state["options"] == {"round_limit": 7}
