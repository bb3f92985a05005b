"""What a client signs, byte for byte, and the key that it keeps."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest

from evidence import tree
from games import GAMES
from games.kernel import Game, _shapes, admit
from sdk.python.warledger_client import Key, Receipts
from sdk.python.warledger_client.log import Checkpoint, continues
from sdk.python.warledger_client.signing import (
    BY_PLAYER,
    UNSIGNED,
    Move,
    header_of,
    is_signed,
    move_statement,
    recorded,
    registration_text,
)
from table.deeds import DEEDS
from table.session import BY_PLAYER as PLAYERS
from table.session import BY_REFEREE as REFEREES
from tools import private

VECTORS = json.loads((Path(__file__).parent / "signatures.json").read_text(encoding="utf-8"))
KEY = Key(bytes.fromhex(VECTORS["seed"]))


@pytest.mark.parametrize("vector", VECTORS["requests"], ids=lambda vector: vector["sent"][0]["type"])
def test_statements_signatures_and_the_header_have_the_bytes_of_the_vectors(vector: dict[str, Any]) -> None:
    move = Move(VECTORS["match"], vector["actor"], vector["seen"], VECTORS["digest"])
    actions = [recorded(action) for action in vector["sent"]]
    count = len(actions)
    assert [move_statement(move, action, place, count).decode() for place, action in enumerate(actions, 1)] == vector["statements"]
    assert header_of(KEY.public, move, vector["signatures"]) == vector["header"]
    assert KEY.signed(move, actions) == vector["header"]
    for place, (action, signature) in enumerate(zip(actions, vector["signatures"], strict=True), 1):
        signed = {"key": KEY.public, "seen": move.seen, "place": place, "count": count, "signature": signature}
        assert is_signed(move, action, signed)
        assert not is_signed(move._replace(digest="00" * 32), action, signed)
        assert not is_signed(move, {**action, "type": "roll"}, signed)


def test_a_key_is_registered_with_a_signature_over_the_player_and_the_key() -> None:
    assert KEY.public == VECTORS["public_key"]
    text = registration_text(VECTORS["player"], KEY.public)
    assert text.decode() == VECTORS["registration"]["text"]
    assert KEY.sign(text) == VECTORS["registration"]["signature"]


def test_the_client_knows_which_actions_are_those_of_a_player_and_which_come_before_the_start() -> None:
    by_player = {kind for kind, deed in DEEDS.items() if deed.by in (PLAYERS, REFEREES)}
    assert BY_PLAYER | UNSIGNED - {"rematch"} == by_player - {"create_match", "fork_match"}
    code = (private.ROOT / "sdk" / "js" / "signing.js").read_text(encoding="utf-8")
    lists = dict(re.findall(r"^const (UNSIGNED|BY_PLAYER) = \[(.*?)\]", code, re.MULTILINE))
    assert {name: set(re.findall(r"\w+", kinds)) for name, kinds in lists.items()} == {"UNSIGNED": UNSIGNED, "BY_PLAYER": BY_PLAYER}


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_an_action_is_signed_in_the_form_in_which_the_rules_admit_it(game: Game) -> None:
    """What is an object within an action holds counts, whatever the action; and a list is left as it is."""
    shapes = {name: field for shape in _shapes(game).values() for name, field in shape.schema["properties"].items()}
    objects = {name: field["additionalProperties"] for name, field in shapes.items() if field["type"] == "object"}
    assert all(value["type"] == "integer" for value in objects.values())
    assert all(field["items"]["type"] == "string" for field in shapes.values() if field["type"] == "array")


def test_counts_of_zero_are_neither_signed_nor_sent() -> None:
    for game, action in (
        ("war", {"type": "move", "from": "a1", "to": {"a2": 3, "b1": 0}}),
        ("war_of_civilizations", {"type": "convert", "into": "ammo", "pay": {"oc": 0, "alwood": 2}}),
    ):
        assert recorded(action) == admit(GAMES[game], action)


def test_the_key_of_a_player_is_made_once_and_nobody_else_can_read_it(tmp_path: Path) -> None:
    key = Receipts(tmp_path).signing_key("p1")
    assert Receipts(tmp_path).signing_key("p1").public == key.public
    file = tmp_path / "signing-key-p1.pem"
    assert file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [file.name]
    assert Receipts(tmp_path).signing_key("p2").public != key.public


def test_a_key_that_is_revoked_makes_way_for_a_new_one(tmp_path: Path) -> None:
    old = Receipts(tmp_path).signing_key("p1").public
    new = Receipts(tmp_path).signing_key("p1", [old]).public
    assert new != old
    assert Receipts(tmp_path).signing_key("p1", [old]).public == new


def test_a_damaged_key_is_told_and_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "signing-key-p1.pem").write_text("-----BEGIN PRIVATE KEY-----\nMC4=\n-----END PRIVATE KEY-----\n")
    with pytest.raises(ValueError, match="no private key"):
        Receipts(tmp_path).signing_key("p1")


def test_a_log_continues_exactly_the_logs_that_are_its_beginnings() -> None:
    leaves = [tree.leaf_hash(bytes([number])) for number in range(18)]
    others = [tree.leaf_hash(bytes([number + 1])) for number in range(18)]

    def node(level: int, number: int) -> bytes:
        return tree.hash_of(leaves[number << level : (number + 1) << level])

    for second in range(len(leaves) + 1):
        for first in range(second + 1):
            hashes = [base64.b64encode(one).decode() for one in tree.proof(tree.consistency_spans(first, second), node)]
            one, two = (Checkpoint("log", size, tree.hash_of(leaves[:size])) for size in (first, second))
            assert continues(one, two, hashes)
            if first:
                assert not continues(one._replace(root=tree.hash_of(others[:first])), two, hashes)
                assert not continues(one, two._replace(root=tree.hash_of(others[:second])), hashes)
            if 0 < first < second:
                assert not continues(one, two, hashes[:-1])
                assert not continues(one, two, [*hashes, hashes[-1]])
                assert not continues(one, two, [])
