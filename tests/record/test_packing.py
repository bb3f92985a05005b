"""Whole matches in few bytes: what is unpacked is what was packed, and what is damaged is refused."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from record import dictionaries, packing
from record.dictionaries import FOLDER, NoDictionary, content, dictionary, hashes, newest
from record.entries import START, Entry, blind_key, canonical, link, parse
from record.example import MATCH, RAWS, SECRET
from record.lean import BadLean, lean, whole
from record.packing import BadPacked, Packed, hash_of, header_of, pack, unpack
from record.thoughts import fingerprint_of
from tools import dictionaries as training
from tools.private import ROOT
from tools.records import Record
from tools.wheel import files

HEX = SECRET.hex()
UUID = "0f8fad5b-d9cb-469f-a165-70867728950e"


def chain(*actions: dict[str, Any], requests: tuple[Any, ...] = (), signed: tuple[Any, ...] = (), game: str = "war") -> list[bytes]:
    """Return linked entries with these actions."""
    raws, digest = [], START
    for number, action in enumerate(actions):
        request, signature = ([*given, *[None] * len(actions)][number] for given in (requests, signed))
        events = [{"type": "match_created", "game": game}] if game and number == 0 else []
        entry = Entry(MATCH, number + 1, "red", action, events, 1, "ab" * 16, 1_700_000_000_000 + number, request, "", None, signature)
        linked, raw = link(digest, entry, blind_key(SECRET))
        digest = linked.digest
        raws.append(raw)
    return raws


def resealed(packed: bytes, **changed: Any) -> bytes:
    """Return a packed match with other members in its header."""
    line, _, rest = packed.partition(b"\n")
    return json.dumps({**json.loads(line), **changed}).encode() + b"\n" + rest


def test_a_match_is_unpacked_to_the_same_bytes_and_entries() -> None:
    for sidelog in (b"", b'{"refused":[]}' * 20):
        found = unpack(pack(MATCH, RAWS, HEX, sidelog))
        assert found == (MATCH, RAWS, list(map(parse, RAWS)), parse(RAWS[-1]).digest, HEX, sidelog)
    header = header_of(pack(MATCH, RAWS, HEX))
    using = f"{newest('match')}-{hashes()[newest('match')][:16]}"
    assert header[:5] == (MATCH, "war", 4, parse(RAWS[-1]).digest, using)


ODD: dict[str, dict[str, Any]] = {
    "control characters": {"type": "say", "text": "\x01\x02\x05\n\x00"},
    "long words": {"a": "ab" * 32, "b": "cd" * 16, "c": UUID, "d": "A" * 43 + "=", "e": "A" * 86 + "=="},
    "almost such words": {
        "a": "AB" * 32,
        "b": "ab" * 20,
        "c": UUID.upper(),
        "d": "A" * 42 + "B=",
        "e": "A" * 85 + "B==",
        "f": "+/" * 21 + "Q=",
    },
    "names that are long words": {"ab" * 32: 1, UUID: "x"},
    "other letters": {"text": "Zoë \u2028 🎲"},
}


@pytest.mark.parametrize("action", ODD.values(), ids=ODD)
def test_whatever_an_entry_has_is_unpacked_as_it_was(action: dict[str, Any]) -> None:
    once, twice = chain({"type": "create_match"}, action), chain({"type": "create_match"}, action, action)
    assert unpack(pack(MATCH, once, HEX)).raws == once
    assert unpack(pack(MATCH, twice, HEX)).raws == twice


def test_random_words_take_their_bytes_and_no_more() -> None:
    words = [sha256(b"%d" % number).hexdigest() for number in range(200)]
    many = pack(MATCH, chain({"type": "create_match"}, *({"type": "x", "word": word} for word in words)), HEX)
    assert len(many) < 200 * 32 + 1000


def test_a_fingerprint_that_follows_from_the_action_takes_no_room() -> None:
    actions = [{"type": "create_match"}, {"type": "end_turn"}]
    own = {"id": "7c", "fingerprint": fingerprint_of("red", actions[1])}
    other = own | {"fingerprint": "ab" * 16}
    for request, kept in ((own, {"id": "7c"}), (other, other)):
        raws = chain(*actions, requests=(None, request))
        head, lines = lean(MATCH, raws, HEX)
        assert json.loads(lines[1])["request"] == kept
        assert whole(head, lines).raws == raws


def test_what_does_not_follow_from_its_secret_is_not_packed() -> None:
    for raws, secret in (
        (RAWS[1:], HEX),
        (RAWS, "00" * 32),
        ([], HEX),
        ([b"{}"], HEX),
        ([RAWS[0].replace(b"red", b"rot"), *RAWS[1:]], HEX),
    ):
        with pytest.raises(BadPacked):
            pack(MATCH, raws, secret)
    with pytest.raises(BadPacked):
        pack("m" + "b" * 16, RAWS, HEX)
    with pytest.raises(BadPacked, match="no game"):
        pack(MATCH, chain({"type": "create_match"}, game=""), HEX)


def test_every_changed_byte_is_found() -> None:
    packed = pack(MATCH, RAWS, HEX, b"side")
    for at in range(len(packed)):
        damaged = packed[:at] + bytes([packed[at] ^ 1]) + packed[at + 1 :]
        assert hash_of(damaged) != hash_of(packed)
        at_form = packed.index(b'"form":') + len(b'"form":')
        if at != at_form and at < len(packed) - len(header_of(packed).sidelog):  # by which nothing is linked
            with pytest.raises(BadPacked):
                unpack(damaged)
    for damaged in (b"", packed[:-1], packed + b"x", packed[5:], b"null\n", b"[]\n", b'{"format":1}\n'):
        with pytest.raises(BadPacked):
            unpack(damaged)


@pytest.mark.parametrize(
    "changed",
    [
        {"match": "m" + "b" * 16}, {"entries": 3}, {"entries": 5}, {"entries": "4"}, {"digest": "00" * 32}, {"digest": None},
        {"dictionary": "match-999"}, {"dictionary": 1}, {"format": 2}, {"sidelog": 1},
        {"blocks": []}, {"blocks": None}, {"blocks": [[4, 0, 9, 0]]}, {"blocks": [[4, 0, 9]]}, {"form": None},
    ],
    ids=str,
)  # fmt: skip
def test_a_header_that_lies_is_found(changed: dict[str, Any]) -> None:
    assert unpack(resealed(pack(MATCH, RAWS, HEX))).raws == RAWS
    with pytest.raises(BadPacked):
        unpack(resealed(pack(MATCH, RAWS, HEX), **changed))


def test_parts_that_do_not_fit_are_found() -> None:
    packed = pack(MATCH, RAWS, HEX)
    ((_, text, long, _),) = header_of(packed).blocks
    for parts in ([text, long + b"x", b""], [text, long[:-1], b""], [text, long, b"no zstd"], [text * 2, long, b""], [long, text, b""]):
        told = {"blocks": [[4, *map(len, parts[:2]), 0]], "sidelog": len(parts[2])}
        with pytest.raises(BadPacked):
            unpack(resealed(packed[: packed.index(b"\n")] + b"\n" + b"".join(parts), **told))


@pytest.fixture
def blocks(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The entries of a match that are packed as three blocks, of two stretches at most."""
    monkeypatch.setattr(packing, "BLOCK", 4)
    monkeypatch.setattr(packing, "STRETCH", 2)
    return chain({"type": "create_match"}, *({"type": "x", "number": number} for number in range(10)))


def test_each_stretch_of_each_block_is_read_without_the_others(blocks: list[bytes]) -> None:
    content = pack(MATCH, blocks, HEX)
    assert unpack(content).raws == blocks
    assert [count for count, *_ in header_of(content).blocks] == [4, 4, 3]
    for number, before, stretches in ((2, 8, 2), (1, 4, 2), (0, 0, 2)):
        block = Packed(content).block(number)
        assert (block.before, len(block.links)) == (before, stretches)
        for stretch in range(stretches):
            first, last = before + 2 * stretch, min(before + 2 * stretch + 2, 11)
            entries, raws = block.linked(stretch)
            assert (raws, entries) == (blocks[first:last], list(map(parse, blocks[first:last])))
            assert list(block.entries(stretch)) == [parse(raw)._replace(digest="") for raw in blocks[first : before + 4]]


def test_positions_are_read_by_block_and_must_be_as_many_as_it_has(blocks: list[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "EVERY", 2)
    texts = [b"%d" % version for version in range(2, 11, 2)]
    content = pack(MATCH, blocks, HEX, positions=texts, form=7)
    packed = Packed(content)
    assert [packed.positions(number) for number in range(3)] == [{2: b"2", 4: b"4"}, {6: b"6", 8: b"8"}, {10: b"10"}]
    assert (packed.header.form, unpack(content).raws) == (7, blocks)
    for wrong in (texts[:-2], [*texts[:4], b"10\n12"]):
        with pytest.raises(BadPacked, match="positions"):
            unpack(pack(MATCH, blocks, HEX, positions=wrong, form=7))


def test_links_that_lie_are_found(blocks: list[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    good = pack(MATCH, blocks, HEX)
    for old, new in ((parse(blocks[3]).digest, "ab" * 32), (f"{parse(blocks[3]).at}]", f"{parse(blocks[3]).at + 1}]")):
        with monkeypatch.context() as patch:
            patch.setattr(packing, "canonical", lambda value, old=old, new=new: canonical(value).replace(old.encode(), new.encode()))
            lies = pack(MATCH, blocks, HEX)
        assert lies != good
        with pytest.raises(BadPacked):
            unpack(lies)
    block = Packed(good).block(0)
    with pytest.raises(BadPacked, match="digest of version 2"):
        block._replace(links=[block.links[0], ("ab" * 32, 0)]).linked(0)


def test_a_part_that_would_fill_the_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = pack(MATCH, RAWS, HEX, bytes(100_000))
    monkeypatch.setattr(packing, "MOST", 99_999)
    with pytest.raises(BadPacked, match="too long"):
        unpack(packed)


def test_a_lean_form_of_something_else_is_refused() -> None:
    head, lines = lean(MATCH, RAWS, HEX)
    for other in ([], lines[:-1], lines[::-1], [b"{}"] * 4, [b"1"] * 4, [b"?"] * 4):
        with pytest.raises(BadLean):
            whole(head, other)
    for name in head:
        with pytest.raises(BadLean):
            whole({**head, name: None}, lines)


# ---------------------------------------------------------------- dictionaries


def test_the_table_has_every_dictionary_and_a_wheel_carries_them() -> None:
    found = {path.name for path in FOLDER.iterdir() if path.is_file()} - {"__init__.py", "SHA256SUMS"}
    assert found == set(hashes())
    assert {name: sha256((FOLDER / name).read_bytes()).hexdigest() for name in found} == hashes()
    assert {FOLDER / name for name in (*found, "SHA256SUMS")} <= set(files(ROOT))


def test_a_dictionary_that_is_missing_is_asked_for() -> None:
    digest = hashes()["match-1"][:16]
    packed = resealed(pack(MATCH, RAWS, HEX), dictionary=f"match-999-{digest}")
    asked = []
    assert unpack(packed, lambda name: [asked.append(name), content("match-1")][1]).raws == RAWS  # type: ignore[func-returns-value]
    assert asked == ["match-999"]
    for lacking in (lambda name: None, lambda name: b"no dictionary", lambda name: content("match-1") + b"x"):
        with pytest.raises(BadPacked):
            unpack(packed, lacking)
    with pytest.raises(BadPacked, match="another one"):
        unpack(resealed(packed, dictionary=f"match-1-{'0' * 16}"), lambda name: content("match-1"))


def test_a_dictionary_whose_bytes_have_changed_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "match-1").write_bytes(content("match-1")[:-1] + b"x")
    monkeypatch.setattr(dictionaries, "FOLDER", tmp_path)
    for cached in (content, dictionary):
        cached.cache_clear()
    with pytest.raises(NoDictionary):
        dictionary("match-1")


def test_the_command_writes_the_next_dictionary_and_keeps_the_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "match-1").write_bytes(content("match-1"))
    (tmp_path / "SHA256SUMS").write_text(f"{hashes()['match-1']}  match-1\n")
    for module in (dictionaries, training):
        monkeypatch.setattr(module, "FOLDER", tmp_path)
        monkeypatch.setattr(module, "SUMS", tmp_path / "SHA256SUMS")
    record = Record(MATCH, RAWS, HEX)
    monkeypatch.setattr(training, "read", lambda paths: [record] * 4)
    monkeypatch.setattr(
        training, "TRAININGS", {"match": training.TRAININGS["match"]._replace(samples=lambda one: one.raws * 10, size=1000)}
    )
    hashes.cache_clear()
    try:
        assert training.main([]) == 0
        assert "match-2" in capsys.readouterr().out
        assert list(hashes()) == ["match-1", "match-2"]
        assert unpack(pack(MATCH, RAWS, HEX)).raws == RAWS
        assert header_of(pack(MATCH, RAWS, HEX)).dictionary.startswith("match-2-")
    finally:
        for cached in (hashes, content, dictionary):
            cached.cache_clear()
