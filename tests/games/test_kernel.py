"""The shared modules of the games: documents, chance, choices, and the refusals of the kernel."""

from __future__ import annotations

import collections
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from games.chance import Drawn, Scripted
from games.choices import Outside, admits, combinations, complete, count, outside
from games.documents import clone, copied, owned
from games.kernel import (
    Branch,
    Deed,
    Refused,
    any_action,
    blocked,
    carry_out,
    decide,
    has_fields,
    legal,
    no,
    remembered,
    sentence,
    withdraw,
)
from games.schema import counts, text
from games.war import GAME as WAR
from tests.games.matches import Start, same, walk
from tests.games.matches import chance as seeded

# ---------------------------------------------------------------- documents


def test_copied_leaves_the_old_document_unchanged():
    old = {"a": {"b": [1, 2]}, "c": {}}
    new = old.copy()
    copied(copied(new, "a"), "b").append(3)
    assert old == {"a": {"b": [1, 2]}, "c": {}}
    assert new == {"a": {"b": [1, 2, 3]}, "c": {}}
    assert new["c"] is old["c"]


def test_owned_changes_the_document_in_place():
    document = {"a": {"b": [1]}}
    owned(owned(document, "a"), "b").append(2)
    assert document == {"a": {"b": [1, 2]}}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


@given(JSON)
def test_a_clone_is_equal_and_shares_no_dict_and_no_list(value):
    def parts(inner):
        if isinstance(inner, (dict, list)):
            yield id(inner)
            for item in inner.values() if isinstance(inner, dict) else inner:
                yield from parts(item)

    other = clone(value)
    assert other == value
    assert not set(parts(other)) & set(parts(value))


# ---------------------------------------------------------------- chance


def test_every_order_of_a_shuffle_has_the_same_probability():
    chance = Drawn(random.Random(5).randrange)
    orders = collections.Counter("".join(chance.shuffle("abc")) for _ in range(6000))
    assert len(orders) == 6
    assert all(880 < number < 1120 for number in orders.values())


def test_a_sample_takes_different_places():
    chance = Drawn(random.Random(5).randrange)
    assert all(len(set(chance.sample("abcdef", 4))) == 4 for _ in range(50))


def test_a_script_is_followed_to_its_end_and_then_chance_draws():
    chance = Scripted([6, "b", ["z", "x"], ["q"], 41], Drawn(random.Random(1).randrange))
    assert chance.roll(6) == 6
    assert chance.pick(["a", "b"]) == "b"
    assert chance.sample(["x", "y", "z"], 2) == ["z", "x"]
    assert chance.shuffle(["s", "q", "r"]) == ["q", "r", "s"]
    assert chance.number(100) == 41
    assert chance.roll(6) in range(1, 7)


@pytest.mark.parametrize(
    ("entry", "draw"),
    [
        (7, lambda chance: chance.roll(6)),
        ("a", lambda chance: chance.roll(6)),
        ("c", lambda chance: chance.pick(["a", "b"])),
        (["a"], lambda chance: chance.sample(["a", "b"], 2)),
        (["a", "a"], lambda chance: chance.shuffle(["a", "b"])),
        (10, lambda chance: chance.number(10)),
    ],
)
def test_an_impossible_entry_of_a_script_is_an_error(entry, draw):
    with pytest.raises(ValueError, match="the chance list gives"):
        draw(Scripted([entry], Drawn(random.Random(1).randrange)))


# ---------------------------------------------------------------- choices

OPEN = {
    "action": {"type": "send"},
    "choose": {"ships": {"each": {"a": [0, 3], "b": [0, 1], "c": [1, 2]}, "total": [2, 4]}, "speed": [1, 2]},
}
WIDER = {"action": OPEN["action"], "choose": {"height": [2, 4], **OPEN["choose"]}}


@pytest.mark.parametrize(("choice", "number"), [(OPEN, 22), (WIDER, 66), ({"action": {"type": "send"}}, 1)])
def test_count_is_the_number_of_combinations(choice, number):
    every = list(combinations(choice))
    assert len(every) == count(choice) == len({str(action) for action in every}) == number
    assert all(admits(choice, action) for action in every)


@given(st.integers(0, 2**32))
def test_a_completed_choice_is_one_of_its_combinations(seed):
    assert complete(OPEN["action"], OPEN["choose"], random.Random(seed).randrange) in list(combinations(OPEN))


@pytest.mark.parametrize(
    ("drawn", "counts"),
    [
        (lambda below: 0, {"height": 2, "ships": {"c": 2}, "speed": 1}),
        (lambda below: below // 2, {"height": 3, "ships": {"b": 1, "c": 2}, "speed": 2}),
        (lambda below: below - 1, {"height": 4, "ships": {"a": 1, "b": 1, "c": 2}, "speed": 2}),
    ],
)
def test_complete_draws_the_total_and_then_key_by_key_what_is_not_certain_yet(drawn, counts):
    asked = []

    def number(below):
        asked.append(below)
        return drawn(below)

    assert complete(WIDER["action"], WIDER["choose"], number) == {"type": "send", **counts}
    assert asked == [3, 3, 3, 2, 2, 2, 1, 2]


def test_complete_reaches_every_combination():
    number = random.Random(1).randrange
    reached = {tuple(sorted(complete(OPEN["action"], OPEN["choose"], number)["ships"].items())) for _ in range(3000)}
    assert reached == {tuple(sorted(action["ships"].items())) for action in combinations(OPEN)}


@pytest.mark.parametrize(
    ("action", "allowed"),
    [
        ({"type": "send", "ships": {"a": 1, "c": 1}, "speed": 1}, True),
        ({"type": "send", "ships": {"a": 1, "b": 0, "c": 1}, "speed": 1}, True),
        ({"type": "send", "ships": {"a": 2}, "speed": 1}, False),
        ({"type": "send", "ships": {"a": 1, "c": 1, "d": 1}, "speed": 1}, False),
        ({"type": "send", "ships": {"a": 3, "c": 2}, "speed": 1}, False),
        ({"type": "send", "ships": {"a": 1, "c": 1}, "speed": 3}, False),
        ({"type": "send", "ships": {"a": True, "c": 1}, "speed": 1}, False),
        ({"type": "send", "ships": {"a": 1, "c": 1}}, False),
        ({"type": "send", "ships": 2, "speed": 1}, False),
        ({"type": "send", "ships": {"a": 1, "c": 1}, "speed": 1, "more": 1}, False),
        ({"type": "sent", "ships": {"a": 1, "c": 1}, "speed": 1}, False),
    ],
)
def test_an_open_choice_admits_the_counts_in_its_ranges(action, allowed):
    assert admits(OPEN, action) is allowed


@pytest.mark.parametrize(
    ("action", "found"),
    [
        ({"ships": {"a": 1, "c": 1}, "speed": 1}, None),
        ({"ships": {"z": 1, "d": 2, "a": 9}, "speed": 9}, Outside("ships", "d", 2, 0, 0)),
        ({"ships": {"a": 4, "b": 2, "c": 1}, "speed": 1}, Outside("ships", "a", 4, 0, 3)),
        ({"ships": {"a": 1}, "speed": 1}, Outside("ships", "c", 0, 1, 2)),
        ({"ships": {"a": 3, "c": 2}, "speed": 1}, Outside("ships", None, 5, 2, 4)),
        ({"speed": 1}, Outside("ships", "c", 0, 1, 2)),
        ({"ships": {"a": 1, "c": 1}, "speed": 3}, Outside("speed", None, 3, 1, 2)),
    ],
)
def test_the_first_count_outside_its_range_is_found(action, found):
    assert outside(OPEN["choose"], action) == found
    assert outside(WIDER["choose"], {"height": 2, **action}) == found
    assert outside(WIDER["choose"], {"height": 1, **action}) == Outside("height", None, 1, 2, 4)


def test_true_is_not_1():
    choice = {"action": {"type": "play", "option": 1}}
    assert admits(choice, {"type": "play", "option": 1})
    assert not admits(choice, {"type": "play", "option": True})


def test_the_order_of_a_set_does_not_matter():
    choice = {"action": {"type": "take", "cards": ["a", "b"]}}
    assert admits(choice, {"type": "take", "cards": ["b", "a"]}, {"take.cards"})
    assert not admits(choice, {"type": "take", "cards": ["b", "a"]})


def test_an_empty_set_is_no_field():
    for cards, allowed in (([], True), (["a"], False), (None, False)):
        assert admits({"action": {"type": "take"}}, {"type": "take", "cards": cards}, {"take.cards"}) is allowed
    assert not admits({"action": {"type": "take"}}, {"type": "take", "cards": []})


def test_a_count_of_zero_is_no_count_if_the_field_is_optional():
    for more, allowed in (({}, True), ({"ammo": 0}, True), ({"ammo": 1}, False), ({"ammo": False}, False), ([], False)):
        assert admits({"action": {"type": "take"}}, {"type": "take", "extra": more}, {"take.extra{}"}) is allowed
        assert admits({"action": {"type": "take", "extra": {}}}, {"type": "take", "extra": more}) is allowed


# ---------------------------------------------------------------- the kernel


def test_the_shared_refusals_come_in_order():
    state = WAR.begin(["red", "blue"], {})
    chance = Drawn(random.Random(1).randrange)

    def code(actor, action):
        with pytest.raises(Refused) as refused:
            carry_out(WAR, state, actor, action, chance)
        assert sentence(WAR, refused.value.refusal)
        return refused.value.code

    for malformed in (None, [], "advance", {}, {"type": 1}, {"type": ["advance"]}, {"type": "fly"}, {"type": "advance", "now": True}):
        assert code("red", malformed) == "bad_action"
    assert code("red", {"type": "advance"}) == "not_your_turn"
    assert code("nobody", {"type": "advance"}) == "not_your_turn"
    assert code("system", {"type": "end_moves"}) == "wrong_phase"
    state = {**state, "outcome": {"winners": ["red"], "reason": "last_seat", "scores": {}}}
    assert code("red", None) == "match_over"


def test_only_an_actor_that_must_act_has_choices():
    state = WAR.begin(["red", "blue"], {})
    assert legal(WAR, state, "system") == [{"action": {"type": "advance"}}]
    assert legal(WAR, state, "red") == legal(WAR, state, "spectator") == []


def test_a_refusal_as_an_error_has_its_code_and_the_place_of_the_action():
    refusal = no("too_late", "WAR-TRN-01", seat="red")
    assert (refusal.code, refusal.rule, refusal.facts) == ("too_late", "WAR-TRN-01", {"seat": "red"})
    assert (str(Refused(refusal)), Refused(refusal).code, Refused(refusal).place) == ("too_late", "too_late", 0)
    assert (Refused(refusal, 2).refusal, Refused(refusal, 2).place) == (refusal, 2)


def test_some_actions_have_more_than_a_type():
    assert [has_fields(WAR, kind) for kind in ("advance", "place_unit", "move")] == [False, True, True]


def test_decide_gives_the_events_alone():
    state = WAR.begin(["red", "blue"], {})
    before = same(state)
    assert (
        decide(WAR, state, "system", {"type": "advance"}, seeded(1))
        == carry_out(WAR, state, "system", {"type": "advance"}, seeded(1)).events
    )
    assert same(state) == before


def test_a_match_keeps_its_action_as_admitted(monkeypatch):
    monkeypatch.setattr("games.kernel._SHAPES", {})
    state = WAR.begin(["red", "blue"], {})
    seen = {"type": "scatter", "units": {"a1": 2.0, "b2": 0}}
    deed = Deed({"units": counts(text())}, lambda state, seat: [], lambda state, seat, action: None, lambda match, seat, action: None)
    game = WAR._replace(phases={"setup": {"scatter": deed}})
    assert carry_out(game, state, "system", seen, seeded(1)).action == {"type": "scatter", "units": {"a1": 2}}
    assert seen == {"type": "scatter", "units": {"a1": 2.0, "b2": 0}}


def test_a_branch_goes_as_recorded_play_and_leaves_the_first_document_alone():
    start = Start(WAR, ["red", "blue"], {}, 1)
    first = WAR.begin(start.seats, start.options)
    before = same(first)
    branch = Branch(WAR, first, seeded(("dice", start.seed)))
    for step in walk(start):
        branch.play(step.actor, step.action)
        if step.number % 40 == 0:
            assert branch.state == step.after
    assert branch.state["outcome"] is not None
    assert branch.events == []
    assert same(first) == before


def test_a_seat_leaves_a_private_copy_of_the_document():
    game = WAR._replace(leave=lambda match, seat: match.emit("round_started", round=match.chance.roll(6) + len(seat)))
    state = WAR.begin(["red", "blue"], {})
    match = withdraw(game, state, "blue", Drawn(lambda below: below - 1))
    assert match.events == [{"type": "round_started", "round": 10}]
    assert match.state == {**state, "round": 10}
    assert state["round"] == 1


def offering(*refused):
    """Return a game whose seats may `go` to three places or `send` some ships, and in which some places are refused."""
    go = Deed(
        {},
        lambda state, seat: [{"type": "go", "to": f"{seat} {to}"} for to in state["places"]],
        lambda state, seat, action: no("closed") if action["to"] in refused else None,
        lambda match, seat, action: None,
    )
    send = Deed(
        {},
        lambda state, seat: [{"type": "send", "by": seat}],
        lambda state, seat, action: None if action["by"] == seat and state["places"] else no("closed"),
        lambda match, seat, action: None,
        lambda state, seat, action: {"ships": [1, len(state["places"])]} if action["by"] == seat != "blue" else {},
    )
    return WAR._replace(phases={"open": {"go": go, "send": send}})


@pytest.mark.parametrize(
    ("refused", "seat", "draws", "action"),
    [
        ((), "red", [(4, 0)], {"type": "go", "to": "red a"}),
        ((), "red", [(4, 2)], {"type": "go", "to": "red c"}),
        ((), "red", [(4, 3), (3, 1)], {"type": "send", "by": "red", "ships": 2}),
        ((), "blue", [(4, 3)], {"type": "send", "by": "blue"}),
        (("red b",), "red", [(4, 1), (3, 1), (3, 2)], {"type": "send", "by": "red", "ships": 3}),
        (("red a", "red b"), "red", [(4, 0), (3, 1), (2, 1)], {"type": "go", "to": "red c"}),
    ],
)
def test_any_action_draws_among_the_offers_until_one_is_legal(refused, seat, draws, action):
    left = list(draws)

    def number(below):
        expected, drawn = left.pop(0)
        assert below == expected
        return drawn

    assert any_action(offering(*refused), {"phase": "open", "places": ["a", "b", "c"]}, seat, number) == action
    assert left == []


def test_without_a_legal_action_there_is_none():
    number = random.Random(1).randrange
    assert any_action(offering(), {"phase": "open", "places": []}, "red", number) is None


def refusing(offers):
    """Return a deed without fields that refuses all that it offers."""
    return Deed({}, lambda state, seat: offers, lambda state, seat, action: no("closed"), lambda match, seat, action: None)


def test_at_most_fifty_actions_are_blocked_and_twenty_of_a_deed():
    deeds = {kind: refusing([{"type": kind, "to": place} for place in range(100)]) for kind in ("go", "send", "call", "end")}
    found = blocked(WAR._replace(phases={"open": deeds}), {"phase": "open", "to_act": ["red"]}, "red")
    assert [sum(action["type"] == kind for action, _ in found) for kind in deeds] == [20, 20, 10, 0]
    assert found[0] == ({"type": "go", "to": 0}, no("closed"))


def test_a_deed_without_offers_is_blocked_if_its_action_has_no_fields():
    deeds = {"end": refusing([]), "go": refusing([])._replace(fields={"to": text()})}
    assert blocked(WAR._replace(phases={"open": deeds}), {"phase": "open", "to_act": ["red"]}, "red") == [({"type": "end"}, no("closed"))]


def test_what_is_remembered_follows_from_what_a_spectator_is_shown():
    game = WAR._replace(
        remembers={"card_drawn": lambda memory, event: {**memory, event["card"]: len(memory)}},
        shown=lambda event, viewer: {**event, "card": f"{event['card']} for a {viewer}"},
    )
    events = [{"type": "card_drawn", "card": "a"}, {"type": "turn_ended", "card": "b"}, {"type": "card_drawn", "card": "c"}]
    before = {"kept": 0}
    assert remembered(game, before, events) == {"kept": 0, "a for a spectator": 1, "c for a spectator": 2}
    assert before == {"kept": 0}
    restored = {"type": "match_restored", "memory": {"then": 0}}
    assert remembered(game, before, [events[0], restored, events[2]]) == {"then": 0, "c for a spectator": 1}
