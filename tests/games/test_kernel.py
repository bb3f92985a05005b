"""What the games are built on: documents, chance, choices, shapes, and the kernel's own refusals."""

from __future__ import annotations

import collections
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from games import schema
from games.chance import Drawn, Scripted
from games.choices import admits, combinations, complete, count
from games.documents import at, clone, copied, merged, owned
from games.kernel import Refused, carry_out, legal, sentence
from games.war import GAME as WAR

# ---------------------------------------------------------------- documents


def test_what_is_copied_leaves_the_old_document_as_it_was():
    old = {"a": {"b": [1, 2]}, "c": {}}
    new = old.copy()
    copied(copied(new, "a"), "b").append(3)
    assert old == {"a": {"b": [1, 2]}, "c": {}}
    assert new == {"a": {"b": [1, 2, 3]}, "c": {}}
    assert new["c"] is old["c"]


def test_what_is_owned_is_changed_where_it_lies():
    document = {"a": {"b": [1]}}
    owned(owned(document, "a"), "b").append(2)
    assert document == {"a": {"b": [1, 2]}}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


@given(JSON)
def test_a_clone_is_equal_and_shares_nothing_that_can_change(value):
    def parts(inner):
        if isinstance(inner, (dict, list)):
            yield id(inner)
            for item in inner.values() if isinstance(inner, dict) else inner:
                yield from parts(item)

    other = clone(value)
    assert other == value
    assert not set(parts(other)) & set(parts(value))


def test_a_merge_patch_does_what_rfc_7396_says():
    target = {"title": "Goodbye!", "author": {"givenName": "John", "familyName": "Doe"}, "tags": ["example", "sample"], "content": "x"}
    patch = {"title": "Hello!", "phoneNumber": "+01", "author": {"familyName": None}, "tags": ["example"]}
    assert merged(target, patch) == {
        "title": "Hello!",
        "author": {"givenName": "John"},
        "tags": ["example"],
        "content": "x",
        "phoneNumber": "+01",
    }
    assert merged({"a": "b"}, ["c"]) == ["c"]
    assert merged({"e": None}, {"a": 1}) == {"e": None, "a": 1}
    assert merged([1, 2], {"a": "b", "c": None}) == {"a": "b"}
    assert merged({}, {"a": {"bb": {"ccc": None}}}) == {"a": {"bb": {}}}


def test_a_pointer_leads_into_objects_and_lists():
    document = {"a": [{"b/c": 1, "m~n": 2}]}
    assert at(document, "") == document
    assert (at(document, "/a/0/b~1c"), at(document, "/a/0/m~0n")) == (1, 2)
    for nowhere in ("/x", "/a/1", "/a/-1", "/a/0/b~1c/d"):
        with pytest.raises(KeyError):
            at(document, nowhere)


# ---------------------------------------------------------------- chance


def test_every_order_of_a_shuffle_is_as_likely_as_another():
    chance = Drawn(random.Random(5).randrange)
    orders = collections.Counter("".join(chance.shuffle("abc")) for _ in range(6000))
    assert len(orders) == 6
    assert all(880 < number < 1120 for number in orders.values())


def test_a_sample_takes_different_places():
    chance = Drawn(random.Random(5).randrange)
    assert all(len(set(chance.sample("abcdef", 4))) == 4 for _ in range(50))


def test_a_script_is_followed_and_then_chance_goes_on():
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
def test_a_script_that_does_not_fit_says_so(entry, draw):
    with pytest.raises(ValueError, match="the chance list gives"):
        draw(Scripted([entry], Drawn(random.Random(1).randrange)))


# ---------------------------------------------------------------- choices

OPEN = {
    "action": {"type": "send"},
    "choose": {"ships": {"each": {"a": [0, 3], "b": [0, 1], "c": [1, 2]}, "total": [2, 4]}, "speed": [1, 2]},
}


def test_the_combinations_of_an_open_choice_are_as_many_as_counted():
    every = list(combinations(OPEN))
    assert len(every) == count(OPEN) == len({str(action) for action in every})
    assert all(admits(OPEN, action) for action in every)


@given(st.integers(0, 2**32))
def test_a_completed_choice_is_one_of_its_combinations(seed):
    assert complete(OPEN["action"], OPEN["choose"], random.Random(seed).randrange) in list(combinations(OPEN))


def test_every_combination_can_be_completed_to():
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
        ({"type": "send", "ships": {"a": 1, "c": 1}, "speed": 1, "more": 1}, False),
        ({"type": "sent", "ships": {"a": 1, "c": 1}, "speed": 1}, False),
    ],
)
def test_an_open_choice_allows_what_lies_in_its_ranges(action, allowed):
    assert admits(OPEN, action) is allowed


def test_true_is_not_1():
    choice = {"action": {"type": "play", "option": 1}}
    assert admits(choice, {"type": "play", "option": 1})
    assert not admits(choice, {"type": "play", "option": True})


def test_the_order_of_a_set_is_of_no_account():
    choice = {"action": {"type": "take", "cards": ["a", "b"]}}
    assert admits(choice, {"type": "take", "cards": ["b", "a"]}, {"take.cards"})
    assert not admits(choice, {"type": "take", "cards": ["b", "a"]})


def test_a_count_of_zero_is_none_where_a_field_may_be_left_out():
    for more, allowed in (({}, True), ({"ammo": 0}, True), ({"ammo": 1}, False), ({"ammo": False}, False), ([], False)):
        assert admits({"action": {"type": "take"}}, {"type": "take", "extra": more}, {"take.extra{}"}) is allowed
        assert admits({"action": {"type": "take", "extra": {}}}, {"type": "take", "extra": more}) is allowed


# ---------------------------------------------------------------- shapes


@pytest.mark.parametrize(
    ("shape", "value", "cleaned"),
    [
        (schema.whole(0), 3.0, 3),
        (schema.counts(schema.text()), {"a": 0, "b": 2.0}, {"b": 2}),
        (schema.nullable(schema.flag()), None, None),
        (schema.record({"a": schema.whole(), "b": schema.optional(schema.flag())}), {"a": -1}, {"a": -1}),
        (schema.listing(schema.text()), ["a"], ["a"]),
        (schema.either(schema.always("x"), schema.whole()), 4, 4),
    ],
)
def test_a_shape_cleans_what_fits(shape, value, cleaned):
    result = shape.clean(value)
    assert result == cleaned
    assert type(result) is type(cleaned)


@pytest.mark.parametrize(
    ("shape", "value"),
    [
        (schema.whole(0), -1),
        (schema.whole(), 1.5),
        (schema.whole(), True),
        (schema.whole(), float("inf")),
        (schema.whole(), float("nan")),
        (schema.whole(), "1"),
        (schema.text(), 1),
        (schema.flag(), 1),
        (schema.always(True), 1),
        (schema.counts(schema.text()), {"a": -1}),
        (schema.counts(schema.text()), []),
        (schema.record({"a": schema.whole()}), {}),
        (schema.record({"a": schema.whole()}), {"a": 1, "b": 1}),
        (schema.record({"a": schema.whole()}), None),
        (schema.listing(schema.text()), "a"),
        (schema.nullable(schema.flag()), 0),
    ],
)
def test_a_shape_refuses_what_does_not_fit(shape, value):
    with pytest.raises(schema.Malformed):
        shape.clean(value)


# ---------------------------------------------------------------- the kernel


def test_the_refusals_that_every_game_shares_come_in_their_order():
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


def test_nobody_but_who_is_to_act_has_a_choice():
    state = WAR.begin(["red", "blue"], {})
    assert legal(WAR, state, "system") == [{"action": {"type": "advance"}}]
    assert legal(WAR, state, "red") == legal(WAR, state, "spectator") == []
