"""The views of each viewer, and the guess at hidden parts."""

from __future__ import annotations

from collections import Counter

import pytest

from games.kernel import AUDITOR, SPECTATOR, carry_out, legal, remembered, withdraw
from games.war_of_civilizations import GAME
from games.war_of_civilizations.data import EXPEDITIONS, RING, deck
from tests.games.matches import Start, chance, same, walk

SEATS = ["tiger", "fox", "lion"]
MATCH = list(walk(Start(GAME, SEATS, {"round_limit": 30, "pirates": True}, 1807)))
MIDDLE = MATCH[len(MATCH) // 2].before
VIEWERS = [*SEATS, SPECTATOR]


def bidding(step):
    return step.before["phase"] == "bids" and step.before["battle"]["bids"]


@pytest.mark.parametrize("viewer", VIEWERS)
def test_resources_hands_and_the_board_are_seen_by_all(viewer):
    seen = GAME.view(MIDDLE, viewer)
    assert {key for key in seen if seen[key] != MIDDLE[key]} <= {"power", "apex"}
    assert seen["power"] == {**MIDDLE["power"], "deck": len(MIDDLE["power"]["deck"])}


def test_a_token_is_seen_by_those_who_have_looked_at_it():
    known = set()
    for step in MATCH:
        for island, here in step.before["apex"].items():
            known.update(here["known_to"])
            for viewer in VIEWERS:
                seen = GAME.view(step.before, viewer)["apex"][island]
                assert seen == (here if viewer in here["known_to"] else {**here, "expedition": None})
    assert known


@pytest.mark.parametrize("viewer", VIEWERS)
def test_a_sealed_bid_is_seen_by_its_seat_alone_until_all_are_revealed(viewer):
    sealed = [step.before for step in MATCH if bidding(step)]
    assert sealed
    for state in sealed:
        bids = GAME.view(state, viewer)["battle"]["bids"]
        assert bids == {seat: bid if seat == viewer else None for seat, bid in state["battle"]["bids"].items()}


def test_once_there_is_a_result_the_bids_are_open():
    fought = [step.before for step in MATCH if step.before["phase"] == "retreat"]
    assert fought
    assert all(GAME.view(state, viewer)["battle"] == state["battle"] for state in fought for viewer in VIEWERS)


def test_an_auditor_sees_everything():
    assert same(GAME.view(MIDDLE, AUDITOR)) == same(MIDDLE)
    assert all(same(GAME.shown(event, AUDITOR)) == same(event) for step in MATCH for event in step.events)


def test_bids_and_tokens_are_shown_to_their_seat_and_a_deck_to_nobody():
    secret = {"bid_sealed": ("ammo", "cards"), "expedition_seen": ("expedition",)}
    kinds = set()
    for step in MATCH[1:]:
        for event in step.events:
            kinds.add(event["type"])
            for viewer in VIEWERS:
                seen = GAME.shown(event, viewer)
                if event["type"] == "deck_reshuffled":
                    assert seen == {**event, "deck": len(event["deck"])}
                elif event["type"] in secret and event["seat"] != viewer:
                    assert seen == {**event, **dict.fromkeys(secret[event["type"]])}
                else:
                    assert seen == event
    assert {*secret, "bids_revealed", "card_revealed"} <= kinds


def test_a_shuffled_deck_is_shown_as_a_number():
    event = {"type": "deck_reshuffled", "deck": deck(2)}
    assert GAME.shown(event, SEATS[0]) == {"type": "deck_reshuffled", "deck": 21}


@pytest.mark.parametrize("viewer", VIEWERS)
def test_the_set_up_shows_neither_the_deck_nor_a_token(viewer):
    events = {event["type"]: event for event in MATCH[0].events}
    assert GAME.shown(events["deck_built"], viewer) == {"type": "deck_built", "deck": len(deck(3))}
    assert GAME.shown(events["tokens_placed"], viewer) == {"type": "tokens_placed", "tokens": dict.fromkeys(RING)}
    assert [event for event in MATCH[0].events if GAME.shown(event, viewer) != event] == [events["tokens_placed"], events["deck_built"]]


@pytest.mark.parametrize("viewer", VIEWERS)
def test_a_guess_fills_the_deck_with_the_cards_that_lie_nowhere_else(viewer):
    for step in MATCH[1::9]:
        guessed = GAME.guess(GAME.view(step.before, viewer), viewer, chance(step.number))
        assert Counter(guessed["power"]["deck"]) == Counter(step.before["power"]["deck"])


@pytest.mark.parametrize("viewer", VIEWERS)
def test_who_has_watched_never_guesses_a_token_that_is_gone(viewer):
    memory, gone = {}, 0
    for step in MATCH:
        if step.number:
            guessed = GAME.guess(GAME.view(step.before, viewer), viewer, chance(step.number), memory)
            lying = [here["expedition"] for here in guessed["apex"].values() if here["expedition"] is not None]
            assert sorted(lying) == sorted(here["expedition"] for here in step.before["apex"].values() if here["expedition"] is not None)
            gone = len(EXPEDITIONS) - len(lying)
        memory = remembered(GAME, memory, step.events)
    assert gone == len(memory["recovered"]) > 0


@pytest.mark.parametrize("viewer", VIEWERS)
def test_a_guessed_bid_is_one_that_could_have_been_sealed(viewer):
    for step in MATCH:
        if bidding(step):
            for seed in range(8):
                guessed = GAME.guess(GAME.view(step.before, viewer), viewer, chance(seed))
                assert list(GAME.invariants(guessed)) == []


def test_a_position_that_was_never_played_is_guessed_too():
    odd = {**MIDDLE, "power": {"display": [], "discard": [], "deck": ["plunder"] * 70}}
    seen = GAME.view(odd, SEATS[0])
    assert GAME.view(GAME.guess(seen, SEATS[0], chance(1)), SEATS[0]) == seen


FACE_DOWN = {"round_limit": 12, "pirates": True, "disasters": True, "hidden_ammo": True}


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(1, 6))])
def test_face_down_ammunition_shows_nowhere(seed):
    """Whatever others do, and when they leave, a viewer sees the same if they have more ammunition."""
    steps = list(walk(Start(GAME, SEATS, FACE_DOWN, seed)))
    reasons = Counter(event["reason"] for step in steps for event in step.events if event["type"] == "ammo_changed")
    assert reasons["start"] == len(SEATS)
    assert not any("ammo" in event.get("changes", {}) for step in steps for event in step.events)
    for step in steps:
        for viewer in VIEWERS:
            richer = armed(step.before, viewer, seed + 1)
            assert same(GAME.view(richer, viewer)) == same(GAME.view(step.before, viewer))
            assert same(legal(GAME, richer, viewer)) == same(legal(GAME, step.before, viewer))
            text = GAME.board(GAME.view(richer, viewer), viewer)
            assert text == GAME.board(GAME.view(step.before, viewer), viewer)
            assert GAME.scene(GAME.view(richer, viewer)) == GAME.scene(GAME.view(step.before, viewer))
            for one, two in zip(follow(step.before, step, seed), follow(richer, step, seed), strict=True):
                assert [seen(event, viewer) for event in one.events] == [seen(event, viewer) for event in two.events]
                assert same(GAME.view(one.state, viewer)) == same(GAME.view(two.state, viewer))


def armed(state, viewer, more):
    """Return a position in which all but the viewer, and who is out, have more ammunition."""
    players = {
        seat: player if seat == viewer or player["eliminated"] else {**player, "ammo": player["ammo"] + more}
        for seat, player in state["players"].items()
    }
    return {**state, "players": players}


def follow(state, step, seed):
    """Yield the matches after what was done in a step, and after each seat in play has left instead."""
    yield carry_out(GAME, state, step.actor, step.action, chance(seed))
    for seat in GAME.playing(state):
        yield withdraw(GAME, state, seat, chance(seed))


def seen(event, viewer):
    """Return an event as a viewer sees it, and whether it sees it whole."""
    shown = GAME.shown(event, viewer)
    return shown, shown is event
