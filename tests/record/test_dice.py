"""Dice: the published test vectors, and even numbers without bias."""

from __future__ import annotations

import hmac
import json
import random
import re
import secrets
from collections import Counter
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.running import EMPTY
from evidence.statements import parse_receipt
from games.chance import Drawn
from record import dice
from record.dice import Draws, commitment, dice_key, join_code, keeps, new_secret
from record.entries import START, Proof, blind_key, link, parse, prove, salt
from record.thinking import chance_of
from record.thoughts import seed_of, thought_key
from tests.events import chain

PAGE = Path(__file__).parents[2] / "docs" / "auditing.md"
VECTORS = json.loads(re.search(r"```json vectors\n(.*?)```", PAGE.read_text(), re.DOTALL)[1])  # type: ignore[index]


def test_the_documented_commitment_and_key_are_what_the_code_gives() -> None:
    for vector in VECTORS["keys"]:
        secret = bytes.fromhex(vector["secret"])
        assert commitment(secret) == vector["commitment"]
        assert dice_key(secret, vector["match"], vector["contributions"]).hex() == vector["key"]
        assert blind_key(secret).hex() == chain.blind_key(vector["secret"]).hex() == vector["blind"]


def test_the_documented_seeds_of_decisions_are_what_the_code_gives() -> None:
    for vector in VECTORS["thoughts"]:
        text = json.dumps(
            {name: vector[name] for name in ("contributions", "match")} | {"use": "thoughts"}, separators=(",", ":"), sort_keys=True
        )
        key = hmac.new(bytes.fromhex(vector["secret"]), text.encode(), sha256).digest()
        assert thought_key(bytes.fromhex(vector["secret"]), vector["match"], vector["contributions"]) == key == bytes.fromhex(vector["key"])
        seed = int.from_bytes(hmac.new(key, f"{vector['version']}:{vector['seat']}".encode(), sha256).digest(), "big")
        assert seed_of(key, vector["version"], vector["seat"]) == seed == int(vector["seed"], 16)
        chance, fractions = chance_of(seed), random.Random(seed)
        assert [chance.number(below) for below in vector["below"]] == vector["numbers"]
        assert [int(fractions.random() * below) for below in vector["below"]] == vector["numbers"]


def test_the_documented_draws_are_what_the_code_gives() -> None:
    for vector in VECTORS["draws"]:
        draws = Draws(bytes.fromhex(vector["key"]), vector["version"])
        assert [draws.number(below) for below in vector["below"]] == vector["numbers"]


def test_the_documented_shuffle_and_sample_are_what_the_code_gives() -> None:
    for vector in VECTORS["orders"]:
        chance = Drawn(Draws(bytes.fromhex(vector["key"]), vector["version"]).number)
        assert chance.shuffle(vector["items"]) == vector["shuffled"]
        assert chance.sample(vector["items"], 3) == vector["then_sampled"]


def test_the_documented_entries_have_the_documented_digests() -> None:
    blind, previous = bytes.fromhex(VECTORS["keys"][0]["blind"]), START
    for line in VECTORS["entries"]:
        entry, raw = link(previous, parse(line.encode()), blind)
        assert raw.decode() == line
        assert chain.digest(previous, json.loads(line), chain.part_hashes(json.loads(line), blind)) == entry.digest
        previous = entry.digest


def test_the_documented_salts_and_leaves_are_what_the_code_gives() -> None:
    for vector in VECTORS["leaves"]:
        given = salt(bytes.fromhex(vector["blind"]), vector["version"], vector["part"].encode())
        assert given.hex() == vector["salt"]
        assert chain.part_hash(given, vector["value"]) == vector["leaf"]


def test_the_documented_proof_gives_the_digest_and_is_what_the_code_gives() -> None:
    entries = [parse(line.encode()) for line in VECTORS["entries"]]
    for shown in VECTORS["proofs"]:
        entry = entries[shown["version"] - 1]
        proof = {name: given for name, given in shown["proof"].items() if name in Proof._fields}
        frame = {**shown, **shown["proof"], "match": entry.match, "action": shown["action"], "events": shown["events"]}
        assert chain.digest(entries[shown["version"] - 2].digest, frame, chain.shown_hashes(shown, proof)) == shown["digest"]
        seen = [event if event == given else given for event, given in zip(entry.events, shown["events"], strict=True)]
        action = entry.action if entry.action == shown["action"] else shown["action"]
        assert prove(entry, {"action": action, "events": seen}, bytes.fromhex(VECTORS["keys"][0]["blind"]))._asdict() == proof


@given(st.binary(min_size=32, max_size=32), st.integers(1, 10**6), st.lists(st.integers(1, 2**64), max_size=20))
def test_the_same_secret_and_version_give_the_same_numbers_within_bounds(key: bytes, version: int, bounds: list[int]) -> None:
    one, other = Draws(key, version), Draws(key, version)
    numbers = [one.number(below) for below in bounds]
    assert numbers == [other.number(below) for below in bounds]
    assert all(0 <= number < below for number, below in zip(numbers, bounds, strict=True))
    assert (one.blocks == 0) == (not bounds)


def test_a_block_above_the_largest_multiple_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dice, "_SPACE", 16)
    monkeypatch.setattr(dice, "keyed", lambda key: lambda message: bytes([sha256(key + message).digest()[0] % 16]))
    seen = Counter(Draws(b"key", version).number(5) for version in range(4000))
    assert set(seen) == set(range(5))
    assert max(seen.values()) - min(seen.values()) < 160, "sixteen values spread over five without bias"


def test_faces_are_even() -> None:
    draws = Draws(new_secret(), 7)
    rolled = Counter(draws.number(6) for _ in range(12_000))
    assert sum((count - 2000) ** 2 / 2000 for count in rolled.values()) < 30


def test_every_contribution_changes_all_dice() -> None:
    secret = new_secret()
    keys = {
        dice_key(secret, "m" + "a" * 16, given) for given in ({}, {"red": "00"}, {"red": "01"}, {"blue": "00"}, {"red": "00", "blue": "00"})
    }
    assert len(keys) == 5


def test_a_secret_has_32_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "DEFAULT_ENTROPY", 8)
    assert len(new_secret()) == 32
    assert new_secret() != new_secret()


def test_the_code_of_a_match_follows_from_its_secret() -> None:
    assert join_code(bytes(32)) == "ndawl7s3y4mh4dhp"
    assert len({join_code(new_secret()) for _ in range(20)}) == 20


def test_a_secret_keeps_its_own_commitment_only() -> None:
    secret = new_secret()
    assert keeps(secret.hex(), commitment(secret))
    for other in (new_secret().hex(), secret.hex()[2:], "not in hex", "", None):
        assert not keeps(other, commitment(secret))


def test_a_draw_may_have_as_many_results_as_a_block() -> None:
    assert 0 <= Draws(b"key", 1).number(2**256) < 2**256
    with pytest.raises(AssertionError):
        Draws(b"key", 1).number(2**256 + 1)
    with pytest.raises(AssertionError):
        Draws(b"key", 1).number(0)


def test_running_hashes_as_documented() -> None:
    for vector in VECTORS["running"]:
        running = EMPTY
        for item, hashed in zip(vector["items"], vector["hashes"], strict=True):
            running = running.after(item.encode())
            assert running.hash == hashed
    named = parse_receipt(VECTORS["notes"][-1]["note"].partition("\n\n")[0] + "\n").sidelog
    assert named is not None
    assert [named.refused, named.reads] == [(len(one["items"]), one["hashes"][-1]) for one in VECTORS["running"]]
