"""Dice: the published vectors, every face as likely as any other, and nothing hidden in them."""

from __future__ import annotations

import hmac
import json
import re
from collections import Counter
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events import dice
from events.dice import Draws, commitment, dice_key, new_secret
from events.entries import START, parse, seal
from games.chance import Drawn

PAGE = Path(__file__).parents[2] / "docs" / "auditing.md"
VECTORS = json.loads(re.search(r"```json vectors\n(.*?)```", PAGE.read_text(), re.DOTALL)[1])  # type: ignore[index]


def test_the_documented_commitment_and_key_are_what_the_code_gives() -> None:
    for vector in VECTORS["keys"]:
        secret = bytes.fromhex(vector["secret"])
        assert commitment(secret) == vector["commitment"]
        assert dice_key(secret, vector["match"], vector["contributions"]).hex() == vector["key"]


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
    previous = START
    for wire in VECTORS["entries"]:
        entry, again = seal(previous, parse(wire.encode()))
        assert again.decode() == wire
        previous = entry.digest


@given(st.binary(min_size=32, max_size=32), st.integers(1, 10**6), st.lists(st.integers(1, 2**64), max_size=20))
def test_the_same_secret_and_version_give_the_same_numbers_within_bounds(key: bytes, version: int, bounds: list[int]) -> None:
    one, other = Draws(key, version), Draws(key, version)
    numbers = [one.number(below) for below in bounds]
    assert numbers == [other.number(below) for below in bounds]
    assert all(0 <= number < below for number, below in zip(numbers, bounds, strict=True))
    assert (one.blocks == 0) == (not bounds)


def test_a_block_above_the_largest_multiple_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dice, "_SPACE", 16)
    monkeypatch.setattr(hmac, "digest", lambda key, said, name: bytes([sha256(key + said).digest()[0] % 16]))
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
