"""Files spoiled at random: a verifier always comes to a verdict, and no changed byte of a signed file holds."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from copy import deepcopy
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from evidence.notes import SigningKey
from games import GAMES
from record.dossiers.verifying import NotAFile, Source, Verdict, verify
from record.entries import NotCanonical
from tests.evidence.drafts import Draft, Owner

ODD: list[Any] = [
    None,
    True,
    -1,
    0,
    2**53 - 1,
    2**60,
    1.5,
    "",
    "x",
    "0" * 64,
    "m" * 17,
    [],
    {},
    [[]],
    {"type": "match_created"},
    [None],
    "\ud800",
]
KEY = SigningKey("warledger-000000000000", bytes(32))


def honest(vectors: Path) -> Iterator[bytes]:
    """Yield an honest dossier of each kind of one game."""
    for case in json.loads((vectors / "index.json").read_text()):
        if case["name"].startswith("war-") and case["name"].endswith("-honest"):
            yield (vectors / case["files"][0]).read_bytes()


def verdict(file: bytes) -> Verdict:
    """Return the verdict on a file."""
    (found,) = verify([Source("file", lambda: file.splitlines(keepends=True))], GAMES)
    return found


def changed(file: bytes, will: random.Random) -> bytes:
    """Return a file in which some bytes are others, more or fewer."""
    spoiled = bytearray(file)
    for _ in range(will.choice([1, 1, 1, 5])):
        at = will.randrange(len(spoiled))
        way = will.randrange(3)
        if way == 0:
            spoiled[at] = (spoiled[at] + will.randrange(1, 256)) % 256
        elif way == 1:
            del spoiled[at : at + will.choice([1, 1, 100])]
        else:
            spoiled[at:at] = will.choice([b"\n", b'"', b"{", b"0", b"\x00", b"\xff", bytes(spoiled[:200])])
    return bytes(spoiled)


def reshaped(file: bytes, will: random.Random) -> bytes:
    """Return a dossier in which some values are of other shapes, signed by its owner if it can be signed."""
    draft = Draft.read(file)
    for _ in range(will.choice([1, 1, 4])):
        spoil(will.choice(draft.lines), will)
    try:
        draft.first["vkeys"] = [KEY.verifier.vkey, *draft.first["vkeys"]]
        Owner(KEY, "00" * 32).finish(draft)
        return draft.bytes()
    except (NotCanonical, KeyError, TypeError, ValueError):  # it cannot be signed
        return b"".join(json.dumps(line).encode() + b"\n" for line in draft.lines)


@pytest.mark.parametrize("seed", range(25))
def test_no_changed_byte_of_a_signed_file_holds(vectors: Path, seed: int) -> None:
    will = random.Random(seed)
    for file in honest(vectors):
        spoiled = changed(file, will)
        try:
            found = verdict(spoiled)
        except NotAFile:
            continue
        assert spoiled == file or found.findings or found.kind == "record"


@pytest.mark.parametrize("seed", range(35))
def test_every_value_may_be_of_any_shape(vectors: Path, seed: int) -> None:
    """The owner writes and signs a file in which some values are of other shapes. There is a verdict on it, whatever it is."""
    will = random.Random(seed)
    for file in honest(vectors):
        try:
            verdict(reshaped(file, will))
        except NotAFile:
            continue


def spoil(value: Any, will: random.Random) -> None:
    """Give some place within a value another value, or a member more or less."""
    while True:
        names: list[Any] = list(value) if isinstance(value, dict) else list(range(len(value)))
        if not names:
            return
        name = will.choice(names)
        if isinstance(value[name], (dict, list)) and value[name] and will.randrange(3):
            value = value[name]
            continue
        way = will.randrange(6)
        if way == 0 and isinstance(value, dict):
            del value[name]
        elif way == 1 and isinstance(value, dict):
            value["more"] = deepcopy(will.choice(ODD))
        else:
            value[name] = deepcopy(will.choice(ODD))
        return


def test_a_sealed_leaf_may_be_said_to_have_anything(vectors: Path) -> None:
    """Also a number that no JSON has."""
    files = (file for file in map(Path.read_bytes, sorted(vectors.glob("*honest*"))) if b'"opened":{' in file)
    draft = Draft.read(next(files))
    line = next(each for each in draft.of("leaf") if each.get("opened"))
    for name, value in product(list(line["opened"]), ODD):
        said = {**line["opened"], name: value}
        lines = [{**each, "opened": said} if each is line else each for each in draft.lines]
        assert said == line["opened"] or not verdict(b"".join(json.dumps(each).encode() + b"\n" for each in lines)).ok
