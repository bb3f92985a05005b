"""Items of entries: what is packed comes back to the byte, and damage is seen."""

from __future__ import annotations

import random
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.store.packed import LEAN, SIGNED, Turn, listed, pack, pack_standing, unpack, unpack_standing
from record.entries import canonical
from record.example import ENTRIES, RAWS
from tools.records import Record, read_file

ARCHIVE = Path(__file__).parents[1] / "archive" / "0001.xz"
MATCH = ENTRIES[0].match
TURN = Turn(
    *(3, "play", "red", ["red", "blue"]),
    {"blue": {"left": 5, "deadline": None, "late": 1}, "red": {"left": 7, "deadline": 90, "late": 0}},
    {"kind": "none"},
)
REQUEST = b'"request":{"fingerprint":"%b","id":"0b0f2c1e-3d5a-4d7e-9f10-1234567890ab"},"revision":' % (b"0f" * 16)


@pytest.fixture(scope="module")
def records() -> list[Record]:
    return list(islice(read_file(ARCHIVE), 0, 60, 6))


def test_every_entry_comes_back_to_the_byte_and_takes_a_third(records: list[Record]) -> None:
    raws = packed = signed = 0
    for record in records:
        for version, raw in enumerate(record.raws, 1):
            for told in (raw, raw.replace(b'"revision":', REQUEST, 1)):
                item = pack(told, record.match, version, b"mm", b"8 bytes.", TURN)
                found = unpack(item, record.match, version)
                assert (found.raw, found.tag, found.sound) == (told, b"8 bytes.", True)
                assert item[34] & LEAN
                signed += bool(item[35] & SIGNED)
            raws, packed = raws + len(raw), packed + len(pack(raw, record.match, version))
    assert packed < raws / 3.5
    assert signed


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\xff{",
        b"[]",
        b'{"n":1}',
        b'{"at":5,"digest":"zz"}',
        b'{"at":-5,"digest":"aa"}',
        RAWS[1].replace(b",", b", ", 1),
        RAWS[1] + b"\n",
        RAWS[1].replace(b'"version":2', b'"version":02'),
        RAWS[1].replace(b'"version":2', b'"version":3'),
        RAWS[1].replace(b'"revision":', b'"revision":0'),
        RAWS[1].replace(MATCH.encode(), b"m" + b"z" * 16),
        RAWS[1].replace(b'"digest":"', b'"digest":"A'),
        RAWS[1].replace(b'"actor":', b'"digest":"x","actor":'),
        RAWS[1].replace(b'"revision":', b'"request":{"id":5},"revision":'),
        RAWS[1].replace(b'"revision":', REQUEST.replace(b"-", b"_")),
        RAWS[1].replace(b'"version":', b'"signed":{"count":1,"key":"' + b"A" * 42 + b'B=","place":1,"seen":1,"signature":""},"version":'),
    ],
)
def test_bytes_that_are_no_common_entry_come_back_too(raw: bytes) -> None:
    found = unpack(pack(raw, MATCH, 2, turn=TURN), MATCH, 2)
    assert (found.raw, found.tag, found.sound) == (raw, b"", True)


@given(st.binary(max_size=80), st.integers(0, len(RAWS[2])), st.integers(0, 30))
def test_an_entry_with_any_bytes_in_it_comes_back(word: bytes, place: int, gone: int) -> None:
    raw = RAWS[2][:place] + word + RAWS[2][place + gone :]
    assert unpack(pack(raw, MATCH, 3), MATCH, 3).raw == raw


def test_a_flipped_bit_is_seen_and_is_no_error() -> None:
    """Only the mark of the attempt, the turn and the tag say nothing of the entry. Audits compare the turn and the tag with the log."""
    for item in (pack(RAWS[2], MATCH, 3, b"mm", b"8 bytes.", TURN), pack(b'{"n":1}', MATCH, 3)):
        whole = unpack(item, MATCH, 3)
        for bit in range(8 * len(item)):
            flipped = bytearray(item)
            flipped[bit // 8] ^= 1 << bit % 8
            found = unpack(bytes(flipped), MATCH, 3)
            if bit // 8 not in (32, 33) and found.sound and found.raw == whole.raw and found.tag == whole.tag:
                assert found.turn != whole.turn or bit // 8 == len(item) - 1, "only bits after the end of the text change nothing"
        for length in range(len(item)):
            assert unpack(item[:length], MATCH, 3).raw != whole.raw


CLOCK = st.fixed_dictionaries(
    {"left": st.integers(0, 1 << 45), "deadline": st.none() | st.integers(0, 1 << 45), "late": st.integers(0, 300)}
)


@given(
    st.integers(0, 9999),
    st.sampled_from(["play", "over"]),
    st.none() | st.just("red"),
    st.sampled_from([[], ["red"], ["red", "blue"]]),
    st.dictionaries(st.sampled_from("abcdef"), CLOCK),
    st.sampled_from(
        [{"kind": "none"}, {"kind": "bank", "seconds": 60, "increment": 2, "delay": 3}, {"kind": "days", "hours": 72, "vacation_days": 9}]
    ),
)
def test_a_standing_has_the_turn_of_the_newest_entry(
    number: int, phase: str, active: str | None, to_act: list[str], clocks: dict[str, Any], clock: dict[str, Any]
) -> None:
    turn = Turn(number, phase, active, to_act, clocks, clock)
    standing = {"name": "x", "round": 0, "clock": clock, "clocks": {seat: {} for seat in clocks}}
    item = pack(RAWS[2], MATCH, 3, turn=turn)
    stored = pack_standing(canonical(standing), 2)
    assert listed(stored, item, MATCH, 3) == (canonical({**standing, **turn._asdict()}), RAWS[2])
    assert listed(pack_standing(canonical(standing), 3), item, MATCH, 3)[0] == canonical(standing), "it was written with this entry"


def test_a_damaged_standing_is_none_and_no_error() -> None:
    stored, dice = pack_standing(b'{"round":1}', 4), random.Random(1)
    for damaged in (b"", b"\0", stored[:-1], bytes([9]) + stored[1:], dice.randbytes(20)):
        assert unpack_standing(damaged) == (0, b"")
