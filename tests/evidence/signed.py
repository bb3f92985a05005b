"""A dossier of a match whose players signed, and the log that has their keys: made anew for each test, with what the test changes."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping
from typing import Any

from evidence.notes import SigningKey
from evidence.statements import Move, Receipt, move_text, receipt_text
from games import GAMES
from games.kernel import any_action
from record.dossiers.lines import WHOLE, line
from record.dossiers.signers import Signers
from record.dossiers.writing import first_line, lines_of_entry, signed
from record.entries import START, Entry, blind_key, canonical, link, prove
from record.positions import Position
from tests.evidence.drafts import TestLog
from tests.signing import Signer
from tools.arena.ledger import Ledger

GAME = GAMES["war"]
SERVER = SigningKey("warledger.example/1", bytes(range(32)))
ANN, BOB = "p" + "a" * 16, "p" + "b" * 16
PLAYERS = {"red": ANN, "blue": BOB}

Leaf = dict[str, Any]


def registration(private: Signer, player: str, at: int, **changes: Any) -> Leaf:
    """Return the leaf of a key that was registered."""
    leaf = {"at": at, "key": private.key, "kind": "signing_key", "player": player, "signature": private.body(player)["signature"]}
    return {**leaf, **changes}


def revocation(private: Signer, player: str, at: int) -> Leaf:
    """Return the leaf of a key that was revoked."""
    return {"at": at, "key": private.key, "kind": "signing_key_revoked", "player": player}


class Match:
    """A match of War! between Ann and Bob, whose moves can be signed afterwards, since whoever makes it has everything."""

    def __init__(self, moves: int = 12) -> None:
        self.match, secret = "m" + "a" * 16, bytes(range(32))
        moments = itertools.count(1_790_000_000_000, 1000)
        ledger = Ledger(GAME, self.match, secret, lambda: next(moments))
        ledger.create(ANN, {"type": "create_match", "game": GAME.id, "seats": {"red": "me", "blue": "open"}, "options": {}})
        ledger.at_table(BOB, {"type": "take_seat", "seat": "blue", "contribution": "c0ffee"})
        will = random.Random(3)
        for _ in range(moves):
            actor = ledger.position.to_act[0]
            ledger.play(actor, any_action(GAME, ledger.position.document, actor, will.randrange))
        ledger.at_table("red", {"type": "resign"})
        self.position = ledger.position
        self.plain = ledger.entries
        self.blind = blind_key(secret)

    @property
    def began(self) -> int:
        """When the match began, in ms since 1970."""
        return self.plain[0].at

    def at(self, version: int) -> int:
        """Return the moment of a version."""
        return self.plain[version - 1].at

    def moves(self, seat: str) -> list[int]:
        """Return the versions that a seat has made."""
        return [entry.version for entry in self.plain if entry.actor == seat]

    def entries(self, by: Mapping[int, Signer]) -> tuple[list[Entry], list[bytes]]:
        """Return the entries and their bytes, those of some versions signed, each over the version before it."""
        entries: list[Entry] = []
        raws: list[bytes] = []
        for entry in self.plain:
            before = entries[-1].digest if entries else START
            if (private := by.get(entry.version)) is not None:
                seen = entry.version - 1
                move = Move(self.match, entry.actor, seen, before, 1, 1, canonical(entry.action).decode())
                signature = private.sign_text(move_text(move))
                entry = entry._replace(signed={"count": 1, "key": private.key, "place": 1, "seen": seen, "signature": signature})
            linked, raw = link(before, entry, self.blind)
            entries.append(linked)
            raws.append(raw)
        return entries, raws


def dossier(
    match: Match,
    by: Mapping[int, Signer],
    keys: Mapping[tuple[str, str], list[Leaf]],
    viewer: str = WHOLE,
    *,
    at: int | None = None,
    last: bool = False,
    change: Callable[[list[dict[str, Any]]], Any] = lambda lines: None,
) -> bytes:
    """Return a dossier. `by`: who signed which versions. `keys`: the leaves of each key, by player and key. `at`: when it was written.

    `last`: the leaves of keys come last in the log, not first. `change`: is given the lines of keys before the file is signed.
    """
    entries, raws = match.entries(by)
    position: Position = match.position
    prover = None if viewer == WHOLE else lambda entry, shown: prove(entry, shown, match.blind)
    named, signers = set[tuple[int, str]](), Signers()
    lines = [first_line(position, viewer, at or position.at, SERVER.verifier.name, [SERVER.verifier.vkey], match.blind)]
    for entry, raw in zip(entries, raws, strict=True):
        lines += lines_of_entry(GAME, entry, raw, viewer, prover, named, signers)
    mine = [_of_match(match, entries[0], "begin"), _of_match(match, entries[-1], "end")]
    wanted = [leaf for leaves in keys.values() for leaf in leaves]
    log = TestLog(SERVER, [canonical(leaf) for leaf in ([*mine, *wanted] if last else [*wanted, *mine])])

    def proven(leaf: Leaf) -> dict[str, Any]:
        index = log.leaves.index(canonical(leaf))
        return {"index": index, "leaf": leaf, "proof": log.proof(index)}

    of_keys = [
        {"player": player, "key": key, "leaves": [proven(leaf) for leaf in leaves]}
        for (player, key), leaves in keys.items()
        if (player, key) in signers.versions or leaves
    ]
    change(of_keys)
    lines += [line("signing_key", **each) for each in of_keys]
    receipt = entries[-1]
    lines.append(line("receipt", note=SERVER.sign(receipt_text(Receipt(match.match, receipt.version, receipt.digest, receipt.at)))))
    lines += [line("leaf", **proven(leaf)) for leaf in mine]
    return b"".join(signed([lines], position, viewer, SERVER.sign))


def _of_match(match: Match, entry: Entry, kind: str) -> Leaf:
    leaf = {"at": entry.at, "digest": entry.digest, "kind": kind, "match": match.match, "version": entry.version}
    return {**leaf, "commitment": entry.events[0]["commitment"]} if kind == "begin" else leaf
