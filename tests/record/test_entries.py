"""Entries: canonical JSON by RFC 8785, digests that anybody can compute, and proofs that open what a viewer sees and nothing else."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from events import play, recall
from events.platform import Platform
from games.chance import Drawn
from games.kernel import AUDITOR, SPECTATOR, SYSTEM, Game, any_action
from record.entries import FORMAT, START, Entry, NotCanonical, Proof, Unreadable, canonical, link, parse, prove
from record.rules import content_hash
from table import rules as table_rules
from tests.conftest import ALL_GAMES, take_seat
from tests.events import chain
from tests.tally import TALLY

texts = st.text(st.characters(exclude_categories=["Cs"]))
keys = st.text(st.characters(exclude_categories=["Cs"], max_codepoint=0xD7FF))
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=20,
)
objects = st.dictionaries(keys, values, max_size=4)
secrets = st.binary(min_size=32, max_size=32)
RULES = "ab" * 32
ENTRY = Entry("m" + "a" * 16, 1, "red", {"type": "go"}, [{"type": "went", "to": "c4"}], 1, RULES, 1_700_000_000_000, None, "")
BLIND = chain.blind_key("00" * 32)
SIGNED = {"count": 1, "key": "A" * 43 + "=", "place": 1, "seen": 1, "signature": "A" * 86 + "=="}


# ---------------------------------------------------------------- canonical JSON, and entries as bytes


@given(values)
def test_canonical_json_is_that_of_rfc_8785(value: object) -> None:
    assert canonical(value) == rfc8785.dumps(value)


@pytest.mark.parametrize("value", [1.0, 0.5, {"a": [1.5]}, [{"b": -2.0}], 2**53, -(2**60), {1: 2}, object(), float("1e3"), 1e16, 5e-324])
def test_a_value_without_canonical_json_is_refused(value: object) -> None:
    with pytest.raises(NotCanonical):
        canonical(value)


@pytest.mark.parametrize("text", ["1.5", "1e+16", "5e-324", "7-e-9"])
def test_what_looks_like_a_fraction_inside_a_string_is_none(text: str) -> None:
    assert canonical({text: text, "by": -1}) == b'{"%b":"%b","by":-1}' % (text.encode(), text.encode())
    assert link(START, ENTRY._replace(request={"id": text}), BLIND)[0].request == {"id": text}


@given(
    objects,
    st.lists(objects, max_size=4),
    st.none() | st.just({"id": '","events":[', "fingerprint": "0"}),
    st.none() | st.just("07" * 32),
    st.none() | st.just(SIGNED),
    st.text("0123456789abcdef", min_size=64, max_size=64),
    st.integers(1, 2**40),
    secrets,
)
def test_an_entry_is_parsed_from_its_bytes_and_its_digest_is_as_documented(
    action: dict[str, Any],
    events: list[Any],
    request: dict[str, str] | None,
    revealed: str | None,
    signed: dict[str, Any] | None,
    previous: str,
    version: int,
    key: bytes,
) -> None:
    given = ENTRY._replace(version=version, action=action, events=events, request=request, secret=revealed, signed=signed)
    entry, raw = link(previous, given, key)
    assert parse(raw) == entry
    assert entry._replace(digest="") == given
    fields = json.loads(raw)
    assert raw == rfc8785.dumps(fields)
    assert fields["format"] == FORMAT == 3
    assert entry.digest == chain.digest(previous, fields, chain.part_hashes(fields, key))


@pytest.mark.parametrize(
    "change",
    [
        {"match": "m" + "b" * 16},
        {"version": 2},
        {"actor": "blue"},
        {"action": {"type": "stop"}},
        {"events": []},
        {"events": [{"type": "went", "to": "c4"}, {"type": "went", "to": "c4"}]},
        {"revision": 2},
        {"rules": "cd" * 32},
        {"at": 1_700_000_000_001},
        {"request": {"id": "a", "fingerprint": "b"}},
        {"secret": "00" * 32},
        {"signed": SIGNED},
        {"signed": SIGNED | {"place": 2}},
    ],
)
def test_every_member_of_an_entry_changes_its_digest(change: dict[str, Any]) -> None:
    assert link(START, ENTRY, BLIND)[0].digest != link(START, ENTRY._replace(**change), BLIND)[0].digest


def test_the_entry_before_and_the_key_of_the_salts_change_the_digest() -> None:
    digests = {link(previous, ENTRY, key)[0].digest for previous in (START, "1" * 64) for key in (BLIND, b"\0" * 32)}
    assert len(digests) == 4


def test_an_entry_is_linked_only_if_all_of_it_has_canonical_json() -> None:
    for change in ({"action": {"by": 0.5}}, {"events": [{"by": 2**60}]}, {"request": {"id": 1.5}}):
        with pytest.raises(NotCanonical):
            link(START, ENTRY._replace(**change), BLIND)


RAW = link(START, ENTRY, BLIND)[1]


@pytest.mark.parametrize(
    "raw",
    [
        *(b"", b"{", b"[]", b"null", b"{}", b"\xff"),
        RAW.replace(b'"version":1', b'"version":"1"'),
        RAW.replace(b'"format":3', b'"format":1'),
        RAW.replace(b'"format":3,', b""),
        RAW.replace(b'"revision"', b'"request":"a","revision"'),
        RAW.replace(b'"rules":"' + RULES.encode() + b'"', b'"rules":1'),
    ],
)
def test_bytes_that_are_not_an_entry_are_unreadable(raw: bytes) -> None:
    assert raw != RAW
    with pytest.raises(Unreadable):
        parse(raw)


@pytest.mark.parametrize("member", Entry._fields)
def test_each_member_of_an_entry_has_a_type(member: str) -> None:
    with pytest.raises(Unreadable, match="wrong type"):
        parse(json.dumps({**json.loads(RAW), member: 1.5}).encode())


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"{}", "KeyError: 'format'"),
        (b'{"format":1}', "its format is 1, not 3"),
        (RAW.replace(b'"version":1', b'"version":"1"'), "a field has the wrong type"),
    ],
)
def test_what_cannot_be_read_says_why(raw: bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=f"^{reason}$"):
        parse(raw)


# ---------------------------------------------------------------- a whole match, checked without record.entries


@pytest.fixture
def match(platform: Platform, ann: str, bob: str) -> str:
    """A match with everything that an entry can hold: contributions, a seat left, requests with ids, hidden events, dice, the secret."""
    seats = {"one": "me", "two": "open", "three": "open"}
    match = play.create(platform, ann, "tally", seats, {"target": 9}, request="create").match
    take_seat(platform, match, bob, "three", "00ff", request="take-1")
    play.act_at_table(platform, match, bob, {"type": "leave_seat", "seat": "three"}, request="leave")
    take_seat(platform, match, bob, "three", "c0ffee")
    take_seat(platform, match, "p" + "c" * 16, "two", "ab" * 64, request="take-2")
    play.play(platform, match, SYSTEM, [{"type": "advance"}])
    play.play(platform, match, "one", [{"type": "add", "by": 1, "stay": True}] * 2, request="list", player=ann)
    play.play(platform, match, "one", [{"type": "draw"}], request="draw")
    play.play(platform, match, "one", [{"type": "add", "by": 1, "stay": False}])
    play.play(platform, match, "two", [{"type": "roll"}], request="roll")
    while (position := recall.position(platform, match)).to_act:
        actor = position.to_act[0]
        play.play(platform, match, actor, [{"type": "advance"} if actor == SYSTEM else {"type": "add", "by": 3, "stay": True}])
    return match


def stored(platform: Platform, match: str) -> list[dict[str, Any]]:
    """Return every entry of a match, parsed as plain JSON."""
    return [json.loads(raw) for raw in platform.store.log.read_all(match)]


def key_of(platform: Platform, match: str) -> bytes:
    """Return the key of the salts by the page, from the secret in the store."""
    secret = platform.store.log.load(match, 1).secret
    assert secret is not None
    return chain.blind_key(secret)


def seen_by(platform: Platform, match: str, viewer: str) -> list[tuple[dict[str, Any], Proof]]:
    """Return the entries of a match as a viewer gets them, each with its proof."""
    seen = []
    for raw in platform.store.log.read_all(match):
        entry = parse(raw)
        shown = {"action": entry.action, "events": [table_rules.shown(TALLY, event, viewer) for event in entry.events]}
        proof = prove(entry, shown, key_of(platform, match))
        public = {"version": entry.version, "actor": entry.actor, "at": entry.at, "revision": entry.revision, "digest": entry.digest}
        optional = {name: value for name in ("secret", "signed") if (value := getattr(entry, name)) is not None}
        frame = {"format": 3, "match": entry.match, "rules": entry.rules, **optional}
        seen.append((json.loads(json.dumps({**public, **frame, **shown})), proof))
    return seen


def test_every_stored_digest_is_computed_from_the_page_alone(platform: Platform, match: str) -> None:
    entries = stored(platform, match)
    blind = chain.blind_key(entries[-1]["secret"])
    previous = chain.START
    for version, entry in enumerate(entries, 1):
        assert entry["version"] == version
        assert entry["digest"] == chain.digest(previous, entry, chain.part_hashes(entry, blind))
        previous = entry["digest"]
    assert [entry["version"] for entry in entries if "secret" in entry] == [len(entries)]
    assert {event["type"] for entry in entries for event in entry["events"]} >= {"seat_left", "pile_built", "drawn", "rolled"}
    assert sum("request" in entry for entry in entries) == 8
    assert {entry["rules"] for entry in entries} == {content_hash(TALLY)}


@pytest.mark.parametrize("viewer", [SPECTATOR, "one", "two", AUDITOR])
def test_a_viewer_computes_every_digest_from_what_it_sees_and_the_proofs(platform: Platform, match: str, viewer: str) -> None:
    previous, hidden = chain.START, []
    for shown, proof in seen_by(platform, match, viewer):
        assert shown["digest"] == chain.digest(previous, shown, chain.shown_hashes(shown, proof._asdict()))
        hidden += [event["type"] for event, given in zip(shown["events"], proof.events, strict=True) if "leaf" in given]
        assert set(proof.action) == {"salt"}, "no action of this game is hidden"
        previous = shown["digest"]
    # The first document has a pile, which is hidden too: a view is a new object.
    assert hidden == ([] if viewer == AUDITOR else ["match_prepared", "pile_built"])


def test_a_change_of_anything_that_a_viewer_sees_breaks_the_digest(platform: Platform, match: str) -> None:
    previous, tried = chain.START, 0
    for shown, proof in seen_by(platform, match, SPECTATOR):
        given = proof._asdict()
        frame = {name: shown[name] for name in ("actor", "at", "format", "match", "revision", "rules", "version", *secret_in(shown))}
        for changed in variants(frame):
            if set(changed) == set(frame):
                assert chain.digest(previous, {**shown, **changed}, chain.shown_hashes(shown, given)) != shown["digest"]
                tried += 1
        whole = [place for place, event in enumerate(proof.events) if "salt" in event]
        for changed in [
            *({**shown, "action": action} for action in variants(shown["action"])),
            *({**shown, "events": put(shown["events"], place, event)} for place in whole for event in variants(shown["events"][place])),
        ]:
            assert chain.digest(previous, changed, chain.shown_hashes(changed, given)) != shown["digest"]
            tried += 1
        previous = shown["digest"]
    assert tried > 400


def test_a_change_of_any_leaf_or_salt_of_a_proof_breaks_the_digest(platform: Platform, match: str) -> None:
    previous = chain.START
    for shown, proof in seen_by(platform, match, SPECTATOR):
        for changed in variants(proof._asdict(), flipped):
            assert chain.digest(previous, shown, chain.shown_hashes(shown, changed)) != shown["digest"]
        previous = shown["digest"]


def test_no_proof_has_a_salt_of_a_hidden_part(platform: Platform, match: str) -> None:
    """The salt of a hidden part would let a viewer try out what is hidden in it (law 5)."""
    blind, entries = key_of(platform, match), stored(platform, match)
    for viewer in (SPECTATOR, "one", "two", "three"):
        seen = seen_by(platform, match, viewer)
        text = json.dumps([[shown, proof._asdict()] for shown, proof in seen])
        running = json.dumps([[shown, proof._asdict()] for shown, proof in seen[:-1]])
        assert blind.hex() not in text
        assert entries[-1]["secret"] not in running
        hidden = opened = 0
        for entry, (shown, _) in zip(entries, seen, strict=True):
            visible = {"a": shown["action"], "s": None, **{str(place): event for place, event in enumerate(shown["events"])}}
            for name, part in chain.parts(entry).items():
                whole = name != "r" and visible[name] == part
                assert (chain.salt(blind, entry["version"], name).hex() in text) == whole
                hidden += not whole
                opened += whole
        assert hidden == len(entries) + 2, "each request, the first document, and the pile"
        assert opened > len(entries)


@pytest.mark.parametrize("game", [pytest.param(game, id=game.id) for game in ALL_GAMES.values()])
def test_proofs_of_any_game_give_its_digests_and_no_salt_of_a_hidden_part(platform: Platform, ann: str, game: Game) -> None:
    chance = Drawn(random.Random(4).randrange)
    seats = game.seats.ids[: game.seats.least]
    position = play.create(platform, ann, game.id, dict.fromkeys(seats, "me"), {}, request="create")
    while position.to_act and position.version < 60:
        actor = position.to_act[0]
        action = any_action(game, position.document, actor, chance.number)
        position = play.play(platform, position.match, actor, [action], request=f"r{position.version}").position
    blind, prove_to = key_of(platform, position.match), recall.prover(platform, position.match)
    entries = [parse(raw) for raw in platform.store.log.read_all(position.match)]
    for viewer in (SPECTATOR, *seats):
        previous, hidden = chain.START, 0
        for entry in entries:
            shown = {"action": entry.action, "events": [table_rules.shown(game, event, viewer) for event in entry.events]}
            proof = prove_to(entry, shown)._asdict()
            frame = {name: value for name, value in entry._asdict().items() if value is not None} | {"format": FORMAT}
            previous = chain.digest(previous, frame, chain.shown_hashes(json.loads(json.dumps(shown)), proof))
            assert previous == entry.digest
            assert "salt" not in proof["request"]
            assert proof["signed"].keys() == proof["action"].keys()
            for place, (event, seen) in enumerate(zip(entry.events, shown["events"], strict=True)):
                if seen != event:
                    hidden += 1
                    assert chain.salt(blind, entry.version, str(place)).hex() not in json.dumps(proof)
        assert hidden > 0, "the game hides something"


def test_a_hidden_part_that_equals_what_replaces_it_is_not_opened() -> None:
    """A salt would reveal that nothing was replaced."""
    entry = link(START, ENTRY._replace(request={"id": "a", "fingerprint": "b"}), BLIND)[0]
    shown = {"action": dict(entry.action), "events": [dict(event) for event in entry.events], "request": entry.request}
    assert shown["events"] == entry.events
    proof = prove(entry, shown, BLIND)
    assert [set(part) for part in (proof.action, proof.request, proof.signed, *proof.events)] == [{"leaf"}] * 4
    frame = {name: value for name, value in entry._asdict().items() if value is not None} | {"format": FORMAT}
    assert chain.digest(START, frame, chain.shown_hashes(shown, proof._asdict())) == entry.digest


def secret_in(shown: dict[str, Any]) -> list[str]:
    return ["secret"] if "secret" in shown else []


def put(items: list[Any], place: int, item: Any) -> list[Any]:
    """Return a list with another item at a place."""
    return [*items[:place], item, *items[place + 1 :]]


def otherwise(value: Any) -> Any:
    """Return another value of the same type."""
    if isinstance(value, str):
        return value + "x"
    return 0 if value is None else not value if isinstance(value, bool) else value + 1


def flipped(value: str) -> str:
    """Return hex digits of which one is another."""
    return ("1" if value[0] == "0" else "0") + value[1:]


def variants(value: Any, other: Callable[[Any], Any] = otherwise) -> Iterator[Any]:
    """Yield the JSON value with one change, for every place in it: another scalar, a member renamed or left out, an item left out."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from ({**value, name: changed} for changed in variants(item, other))
            if other is otherwise:
                rest = {key: kept for key, kept in value.items() if key != name}
                yield rest
                yield {**rest, name + "x": item}
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from (put(value, place, changed) for changed in variants(item, other))
            if other is otherwise:
                yield [*value[:place], *value[place + 1 :]]
    else:
        yield other(value)
