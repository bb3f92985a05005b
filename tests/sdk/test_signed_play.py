"""Bots sign what they do, in matches that require it and in all others, and what they sign is checked by the server and by each other."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import anyio
import pytest

from sdk.python.warledger_client import AsyncClient, Client, Forbidden, Match, Problem
from tools import desk, private

SEATS = {
    "war": {"red": "me", "blue": "ai:greedy"},
    "war_of_the_worlds": {"aliens": "me", "humans": "ai:greedy"},
    "war_of_civilizations": {"lion": "me", "fox": "ai:greedy"},
}


def signers(match: Match, actor: str) -> set[str | None]:
    """Return the keys that have signed the entries of an actor."""
    entries: list[Any] = list(match.entries(proof=True))
    return {(entry.get("signed") or {}).get("key") for entry in entries if entry["actor"] == actor}


@pytest.mark.parametrize("game", ["war", *(pytest.param(game, marks=pytest.mark.soak) for game in SEATS if game != "war")])
def test_a_bot_plays_a_match_that_requires_signatures(place: private.Place, tmp_path: Path, game: str) -> None:
    client = Client(place.url, receipts=tmp_path)
    client.register("Ada")
    match = client.create(game, SEATS[game], signed="required")
    standing = match.play(lambda turn: random.Random(turn.version).choice(turn.choices))
    assert standing["status"] == "over"
    assert match.evidence.version == standing["version"]
    mine, other = SEATS[game]
    key = client.signing_key()
    assert key is not None
    assert signers(match, mine) == {key.public}
    assert signers(match, other) == {None}  # an artificial player: the server signs for it


def test_two_bots_check_each_others_signatures(place: private.Place, tmp_path: Path) -> None:
    async def play(client: AsyncClient, id: str) -> int:
        match = client.match(id)
        async for turn in match.turns():
            if turn.version > 20:
                await match.act({"type": "resign"})
            else:
                await turn.act(random.Random(turn.version).choice(turn.choices))
        return match.evidence.version

    async def both() -> tuple[str, str]:
        async with AsyncClient(place.url, receipts=tmp_path) as ada, AsyncClient(place.url, receipts=tmp_path) as ben:
            await ada.register("Ada")
            await ben.register("Ben")
            match = await ada.create("war", {"red": "me", "blue": "open"}, signed="required")
            await ben.match(match.id).join("blue")
            for client in (ada, ben):  # before anybody moves
                assert len((await client.get("/v1/players/me/signing-keys"))["keys"]) == 1
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(play, ada, match.id)
                tasks.start_soon(play, ben, match.id)
            return str(ada.key), match.id

    key, id = anyio.run(both)
    match = Client(place.url, key).match(id)
    assert len(signers(match, "red") | signers(match, "blue")) == 2
    assert None not in signers(match, "red") | signers(match, "blue")
    resigned = [entry for entry in match.entries() if entry["action"]["type"] == "resign"]
    assert "signed" in resigned[0]


def test_a_client_that_cannot_sign_gets_the_sentence_of_the_server(place: private.Place) -> None:
    client = Client(place.url, sign=False)
    client.register("Ada")
    match = client.create("war", SEATS["war"], signed="required")
    with pytest.raises(Forbidden) as refused:
        next(match.turns()).act({"type": "roll"})
    assert refused.value.code == "signature_needed"
    assert refused.value.rule is not None
    assert refused.value.rule.startswith("TBL-SIG-")


def test_a_key_that_may_only_play_signs_where_another_one_has_registered(
    place: private.Place, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    owner = Client(place.url, receipts=tmp_path)
    owner.register("Ada")
    plays = owner.post("/v1/players/me/keys", {"name": "bot", "scopes": ["play"]})["key"]
    match = Client(place.url, plays, receipts=tmp_path).create("war", SEATS["war"], signed="required")
    with pytest.raises(Forbidden, match="signature_needed"):
        next(match.turns()).act({"type": "resign"})
    assert caplog.text.count("Moves are not signed: This key does not have the scope account.") == 1
    key = owner.signing_key()
    assert key is not None
    later = Client(place.url, plays, receipts=tmp_path).match(match.id)
    later.act({"type": "resign"})
    assert signers(later, "red") == {key.public}


def test_what_is_said_and_ruled_in_a_dispute_is_signed(place: private.Place, tmp_path: Path) -> None:
    ada, ben = Client(place.url, receipts=tmp_path), Client(place.url, receipts=tmp_path)
    ada.register("Ada")
    ben.register("Ben")
    judge = Client(place.url, place.admin_key, receipts=False).post("/v1/players", {"name": "Rex", "role": "referee"})
    rex = Client(place.url, judge["key"], receipts=tmp_path)
    id = ada.create("war", {"red": "me", "blue": "open"}, signed="required", spectators="none").id
    ben.match(id).join("blue")
    first, second = ada.match(id), ben.match(id)
    first.act({"type": "dispute", "version": 1, "text": "Sechs Sechsen: „gewürfelt“.\u2028"})
    second.act({"type": "state_side", "dispute": 1, "text": "So it was."})
    rex.match(id).act({"type": "take_dispute", "dispute": 1})
    words = [id, "1", "rejected", "--text", "The record holds.", "--url", place.url, "--key", judge["key"]]
    assert desk.main(words) == 0  # it keeps a key of its own
    first.act({"type": "appeal", "dispute": 1, "text": "Look again."})
    for client, actor in ((ada, "red"), (ben, "blue"), (rex, judge["id"])):
        key = client.signing_key()
        assert key is not None
        assert key.public in (signed := signers(first, actor))
        assert None not in signed
        assert len(signed) == (2 if client is rex else 1)


def test_a_seat_that_is_taken_over_and_one_of_several_sign_as_who_they_are(place: private.Place, tmp_path: Path) -> None:
    ada, ben = Client(place.url, receipts=tmp_path), Client(place.url, receipts=tmp_path)
    ada.register("Ada")
    player = ben.register("Ben")["id"]
    match = ada.create("war", {"red": "me", "blue": "ai:random"}, signed="required")
    match.act({"type": "hand_over", "player": player})
    theirs = ben.match(match.id)
    theirs.act({"type": "take_over", "seat": "red"})
    theirs.act({"type": "resign"})
    key = ben.signing_key()
    assert key is not None
    assert signers(theirs, player) == {key.public}
    with pytest.raises(Problem):
        match.act({"type": "resign"})
