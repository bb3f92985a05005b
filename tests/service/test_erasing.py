"""Personal data: the name and the keys of a player are erased for good, and everything that proves what happened stays as it was."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import pytest

from events.notary import sequencing
from events.platform import Platform
from evidence.notes import opened, parse_vkey
from evidence.statements import parse_receipt
from record.entries import parse
from record.trail import audit_entries
from service.api.routes import OPERATIONS
from tests.conftest import Servers
from tests.service.conftest import Caller

NAME = "Zebulon Quartermaine"
ADD = {"type": "add", "by": 1, "stay": True}
VALUES = {"string": "GET", "hash": "HGETALL", "zset": "ZRANGE", "stream": "XRANGE", "set": "SMEMBERS"}
RANGE = {"zset": (0, -1), "stream": ("-", "+")}


def everything(servers: Servers) -> bytes:
    """Return every key of the store and of the queue with its value, as bytes that can be searched."""
    found = []
    for server in (servers.keeper, servers.queue):
        for key in server.scan_iter():
            kind = server.type(key).decode()  # type: ignore[union-attr]
            if kind in VALUES:
                found.append((key, server.execute_command(VALUES[kind], key, *RANGE.get(kind, ()))))
    return repr(found).encode()


def shown(caller: Caller, match: str, **others: str) -> Iterator[tuple[str, bytes]]:
    """Yield what every route shows about a match and in lists."""
    for operation in OPERATIONS:
        if operation.method == "GET" and ("{match}" in operation.path or operation.path in ("/v1/matches", "/log/checkpoint")):
            path = operation.path.format(match=match, version=3)
            fields = operation.query.fields if operation.query is not None else {}
            asked = {"seconds": 0, "pointer": "/round"}
            answer = caller.get(f"{path}?" + "&".join(f"{name}={value}" for name, value in asked.items() if name in fields))
            yield path, answer.data
    yield "player", caller.get(f"/v1/players/{others['player']}").data
    yield "board", caller.get(f"/v1/matches/{match}/state", Accept="text/plain").data


def kept(caller: Caller, match: str) -> list[bytes]:
    """Return what must stay byte for byte: the record, the receipts, and the side log of the match."""
    paths = ["record", "reads", "refusals", *(f"receipts/{version}" for version in range(1, 6))]
    return [caller.get(f"/v1/matches/{match}/{path}").data for path in paths]


@pytest.mark.parametrize("over", [True, False], ids=["over", "running"])
def test_a_player_who_is_deleted_leaves_no_name_and_no_key_and_everything_still_proves_what_it_did(
    platform: Platform, servers: Servers, join: object, admin: Caller, ben: Caller, referee: Caller, anybody: Caller, over: bool
) -> None:
    player = join(NAME)  # type: ignore[operator]
    match = player.post("/v1/matches", {"game": "tally", "seats": {"one": "me", "two": "open"}, "options": {"target": 30}}).json["id"]
    ben.post(f"/v1/matches/{match}/seats/two")
    platform.sidelog.flush()
    assert player.act(match, {"type": "offer", "what": "draw"}).status_code == 200
    assert player.act(match, {"type": "add", "by": 99}).status_code == 422
    another = player.post("/v1/players/me/keys", {"name": f"the key of {NAME}", "scopes": ["read", "play"]}).json["key"]
    referee.get(f"/v1/matches/{match}/state?viewer=one")
    if over:
        assert player.act(match, {"type": "resign"}).status_code == 200
        sequencing.sequence(platform)
    platform.sidelog.flush()
    secrets = [NAME.encode(), NAME.split()[1].encode()]
    for key in (player.key, another):
        secrets += [str(key).encode(), str(key).split("_", 3)[3].encode(), hashlib.sha256(str(key).encode()).hexdigest().encode()]
    looker = anybody if over else referee
    before = kept(looker, match)
    assert NAME.encode() in everything(servers), "or the test looks in the wrong places"
    assert any(NAME.encode() in data for _, data in shown(looker, match, player=player.id))
    deleted = player.ask("DELETE", f"/v1/players/me?confirm={player.id}")
    assert deleted.status_code == 204
    for caller in (anybody, ben, looker):
        for path, data in shown(caller, match, player=player.id):
            assert not [secret for secret in secrets if secret in data], path
    stored = everything(servers)
    assert not [secret for secret in secrets if secret in stored]
    assert player.id.encode() in stored, "ids stay"
    after = kept(looker, match)
    assert after[0] == before[0]
    assert after[2:] == before[2:]
    entries = list(platform.store.log.read_all(match))
    assert audit_entries(platform.games, entries, platform.store.log.load(match).secret).ok
    keys = [parse_vkey(vkey) for vkey in platform.signer.vkeys()]
    for raw in entries:
        entry = parse(raw)
        note = looker.get(f"/v1/matches/{match}/receipts/{entry.version}").json["receipt"]
        assert parse_receipt(opened(note, keys).text).digest == entry.digest
    assert anybody.get(f"/v1/players/{player.id}").json["name"] is None
    assert player.get("/v1/players/me").status_code == 401
    assert player.ask("DELETE", f"/v1/players/me?confirm={player.id}").status_code == 401
