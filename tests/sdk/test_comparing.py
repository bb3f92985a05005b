"""What a client compares by itself: the server's log, its list of signing keys, and what it says of a signed action. No service runs."""

from __future__ import annotations

import base64
import json
import logging
from pathlib import Path
from typing import Any

import httpx
import pytest

from evidence import tree
from sdk.python.warledger_client import BadReceipt, Client, Conflict, Key, Receipts, Stale, TwoHistories, TwoLogs, synchronous
from sdk.python.warledger_client.evidence import START, digest_of
from sdk.python.warledger_client.signing import HEADER, Move, registration_text, verifies
from tests.sdk.notes import FORGER, note_of, vkey_of

MATCH, PLAYER = "m" + "a" * 16, "p" + "b" * 16
LEAVES = [tree.leaf_hash(bytes([number])) for number in range(9)]
OTHERS = [*LEAVES[:2], *[tree.leaf_hash(bytes([99, number])) for number in range(7)]]


def node(level: int, number: int) -> bytes:
    return tree.hash_of(LEAVES[number << level : (number + 1) << level])


def checkpoint(size: int, leaves: list[bytes] = LEAVES, key: Key = FORGER) -> str:
    root = base64.b64encode(tree.hash_of(leaves[:size])).decode()
    return note_of(f"forger\n{size}\n{root}\n", key)


def entry(version: int, previous: str, **more: Any) -> dict[str, Any]:
    """Return an entry of a match as a viewer sees it, after the digest of the entry before."""
    parts = {part: {"salt": "00" * 32} for part in ("action", "request", "signed")}
    proof = {"format": 3, "rules": "0" * 32, **parts, "events": []}
    shown = {
        "version": version,
        "actor": "blue",
        "action": {"type": "roll"},
        "events": [],
        "revision": 1,
        "at": version,
        "proof": proof,
        **more,
    }
    return {**shown, "digest": digest_of(previous, MATCH, shown)}


class Server:
    """What a client asks for, answered as the members say."""

    def __init__(self) -> None:
        self.log: str | None = None
        self.size = 0
        self.keys: list[dict[str, Any]] = []
        self.refuses: dict[str, Any] | None = None  # the problem that answers a registration
        self.entries: list[dict[str, Any]] = []
        self.acted: list[httpx.Request] = []
        self.answers: list[Any] = []  # what answers actions, one after the other; then: it was done
        self.grow(2)

    def grow(self, count: int) -> None:
        """Let the match move on."""
        for _ in range(count):
            previous = self.entries[-1]["digest"] if self.entries else START
            self.entries.append(entry(len(self.entries) + 1, previous))

    def receipt(self, version: int, digest: str | None = None) -> str:
        """Return the receipt of a version, every other one as a server signs it that waits for replicas."""
        found, held = digest or self.entries[version - 1]["digest"], "" if version % 2 else "held 1\n"
        return note_of(f"warledger.org/receipt/v1\n{MATCH}\n{version}\n{found}\n{version}\n{held}")

    def client(self, folder: Path, **settings: Any) -> Client:
        """Return a client that trusts the server's key."""
        given = {"receipts": Receipts(folder, [vkey_of(FORGER)]), "http": {"transport": httpx.MockTransport(self.answer)}}
        return Client("http://there", "secret", **{**given, **settings})

    def answer(self, request: httpx.Request) -> httpx.Response:
        """Answer a request."""
        path, query = request.url.path, request.url.params
        if path == "/v1/players/me":
            return httpx.Response(200, json={"id": PLAYER, "name": "Ada"})
        if path == "/v1/players/me/signing-keys" and request.method == "GET":
            return httpx.Response(200, json={"keys": self.keys})
        if path == "/v1/players/me/signing-keys":
            return self._register(json.loads(request.content))
        if path == "/log/checkpoint":
            return httpx.Response(404, json={"code": "not_in_log"}) if self.log is None else httpx.Response(200, text=self.log)
        if path == "/log/consistency":
            first, second = int(query["from"]), int(query["to"])
            if second > self.size:
                return httpx.Response(404, json={"code": "not_in_log"})
            hashes = tree.proof(tree.consistency_spans(first, second), node)
            return httpx.Response(200, json={"from": first, "to": second, "hashes": [base64.b64encode(one).decode() for one in hashes]})
        if path.endswith("/entries"):
            return httpx.Response(200, json={"version": len(self.entries), "entries": self.entries[int(query["after"]) :]})
        if path.endswith("/choices"):
            return httpx.Response(200, json={"version": len(self.entries), "seat": "red", "choices": []})
        if "/receipts/" in path:
            return httpx.Response(200, json={"receipt": self.receipt(int(path.rpartition("/")[2]), "cd" * 32)})
        assert path.endswith("/actions"), path
        self.acted.append(request)
        if self.answers:
            answer = self.answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return httpx.Response(**answer)
        version = len(self.entries)
        return httpx.Response(200, json={"version": version, "seat": "red", "entries": [], "choices": [], "receipt": self.receipt(version)})

    def _register(self, body: Any) -> httpx.Response:
        if self.refuses is not None:
            return httpx.Response(403, json=self.refuses)
        assert verifies(base64.b64decode(body["key"]), registration_text(PLAYER, body["key"]), base64.b64decode(body["signature"]))
        self.keys.append({"key": body["key"], "revoked": None})
        return httpx.Response(201, json=self.keys[-1])


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    monkeypatch.setattr(synchronous.time, "sleep", lambda seconds: None)
    return Server()


def saved(alarm: Any) -> Any:
    """Return what an alarm has saved."""
    assert str(alarm.file) in str(alarm)
    return json.loads(alarm.file.read_text())


# The log


def test_a_log_that_grows_is_kept_and_one_that_has_not_grown_is_not_kept_twice(server: Server, tmp_path: Path) -> None:
    for server.size in (0, 3, 3, 8):
        server.log = checkpoint(server.size) if server.size else None
        server.client(tmp_path).compare()
    kept = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert kept == [checkpoint(3), checkpoint(8)]
    server.log = checkpoint(5)  # a process that is a moment behind: the same log
    server.client(tmp_path).compare()


@pytest.mark.parametrize("size", [3, 8])
def test_a_log_that_was_told_twice_is_an_alarm_with_both_checkpoints_and_the_proof_that_fails(
    server: Server, tmp_path: Path, size: int
) -> None:
    server.log, server.size = checkpoint(3), 8
    server.client(tmp_path).compare()
    server.log = checkpoint(size, OTHERS)
    with pytest.raises(TwoLogs, match="does not continue") as alarm:
        server.client(tmp_path).compare()
    found = saved(alarm.value)
    assert (found["alarm"], found["kept"], found["received"]) == ("TwoLogs", checkpoint(3), checkpoint(size, OTHERS))
    assert len(found["hashes"]) == (0 if size == 3 else 4)
    assert found["server_keys"] == [vkey_of(FORGER)]
    with pytest.raises(TwoLogs):  # what was kept first is still what counts
        server.client(tmp_path).compare()
    assert len(list(tmp_path.glob("alarm-log-*"))) == 1


def test_a_log_that_has_become_shorter_is_an_alarm(server: Server, tmp_path: Path) -> None:
    server.log, server.size = checkpoint(8), 8
    server.client(tmp_path).compare()
    server.log, server.size = checkpoint(5), 5
    with pytest.raises(TwoLogs, match="it had 8 leaves and now has 5"):
        server.client(tmp_path).compare()


@pytest.mark.parametrize("note", [checkpoint(3, key=Key(bytes(range(32)))).replace("forger\n", "other\n"), "hello", "forger\nx\ny\n"])
def test_a_checkpoint_that_no_key_of_the_server_has_signed_is_an_alarm(server: Server, tmp_path: Path, note: str) -> None:
    server.log = note
    original = server.answer
    keys = {"keys": [{"vkey": vkey_of(FORGER)}]}
    transport = httpx.MockTransport(
        lambda request: httpx.Response(200, json=keys) if "well-known" in str(request.url) else original(request)
    )
    with pytest.raises(BadReceipt, match="checkpoint"):
        server.client(tmp_path, http={"transport": transport}).compare()


def test_a_log_that_cannot_be_compared_is_told_and_the_match_goes_on(
    server: Server, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server.client(tmp_path).compare()
    assert caplog.text == ""  # there never was one
    server.log = checkpoint(3)
    server.client(tmp_path).compare()
    server.log = None
    server.client(tmp_path).compare()
    assert caplog.text.count("The server's log cannot be compared") == 1


def test_new_keys_of_the_server_are_told(server: Server, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    published = [vkey_of(Key(bytes(range(32))), "old")]
    original = server.answer

    def answer(request: httpx.Request) -> httpx.Response:
        keys = {"keys": [{"vkey": vkey} for vkey in published]}
        return httpx.Response(200, json=keys) if "well-known" in str(request.url) else original(request)

    client = server.client(tmp_path, receipts=Receipts(tmp_path), http={"transport": httpx.MockTransport(answer)})
    with pytest.raises(BadReceipt):
        client.match(MATCH).keep(server.receipt(1))
    assert caplog.text == ""
    published.append(vkey_of(FORGER))
    client.match(MATCH).keep(server.receipt(1))
    assert f"The server has new keys: {vkey_of(FORGER)}." in caplog.text


# The key of the player


def test_the_key_is_registered_once_and_signs_in_later_programs_too(server: Server, tmp_path: Path) -> None:
    for _ in range(2):
        server.client(tmp_path).match(MATCH).act({"type": "move", "to": {"a1": 2, "b1": 0}}, version=2)
    assert len(server.keys) == 1
    key = Key.read((tmp_path / f"signing-key-{PLAYER}.pem").read_text())
    action = {"type": "move", "to": {"a1": 2}}
    header = key.signed(Move(MATCH, "red", 2, server.entries[1]["digest"]), [action])
    assert [(request.headers[HEADER], json.loads(request.content)) for request in server.acted] == [(header, action)] * 2


def test_a_key_that_the_server_lists_and_that_was_not_made_here_is_told_once(
    server: Server, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    old, foreign = Key.new().public, Key.new().public
    server.keys = [{"key": foreign, "revoked": None}, {"key": old, "revoked": 5}]
    client = server.client(tmp_path)
    client.signing_key()
    client.compare()
    client.compare()
    told = [record.getMessage() for record in caplog.records if record.name == "warledger_client"]
    assert told == [f"The server lists a signing key that you did not make here: {foreign}. If it is not yours, revoke it."]


def test_a_key_that_comes_while_a_match_is_played_is_told(server: Server, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    client = server.client(tmp_path)
    client.signing_key()
    assert not caplog.records
    server.keys.append({"key": Key.new().public, "revoked": None})
    client.compare()
    assert "did not make here" in caplog.text


def test_where_the_key_may_not_be_registered_the_client_says_so_once_and_acts_unsigned(
    server: Server, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server.refuses = {"code": "scope_needed", "detail": "This key does not have the scope account."}
    match = server.client(tmp_path).match(MATCH)
    for _ in range(2):
        match.act({"type": "roll"}, version=2, seat="red")
    assert [HEADER in request.headers for request in server.acted] == [False, False]
    assert [record.getMessage() for record in caplog.records if record.name == "warledger_client"] == [
        "Moves are not signed: This key does not have the scope account."
    ]


def test_a_key_that_was_revoked_makes_way_for_a_new_one(server: Server, tmp_path: Path) -> None:
    first = server.client(tmp_path).signing_key()
    server.keys[0]["revoked"] = 5
    second = server.client(tmp_path).signing_key()
    assert first is not None
    assert second is not None
    assert [one["key"] for one in server.keys] == [first.public, second.public]


def test_nothing_is_signed_or_kept_where_that_was_said(server: Server, tmp_path: Path) -> None:
    server.client(tmp_path, sign=False).match(MATCH).act({"type": "roll"}, version=2, seat="red")
    server.client(tmp_path, receipts=False).match(MATCH).act({"type": "roll"}, version=2, seat="red")
    assert [HEADER in request.headers for request in server.acted] == [False, False]
    assert server.keys == []


def test_a_folder_that_cannot_be_written_is_told_and_the_client_goes_on(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("WARLEDGER_HOME", str(tmp_path / "file"))
    client = server.client(tmp_path, receipts=None)
    client.match(MATCH).act({"type": "roll"}, version=2, seat="red")
    client.compare()
    assert caplog.text.count("No receipts are kept, and no moves are signed") == 1


# Signed actions


def test_a_repeated_request_has_the_same_signature(server: Server, tmp_path: Path) -> None:
    server.answers = [httpx.ReadTimeout("slow"), {"status_code": 503, "json": {"code": "busy"}, "headers": {"Retry-After": "0"}}]
    server.client(tmp_path).match(MATCH).act([{"type": "roll"}, {"type": "stop"}], version=1)
    assert len(server.acted) == 3
    assert len({(request.headers[HEADER], request.headers["Idempotency-Key"], request.content) for request in server.acted}) == 1


def test_what_is_signed_is_the_digest_that_was_checked_and_not_what_the_server_says(server: Server, tmp_path: Path) -> None:
    server.entries[1] = {**server.entries[1], "digest": "ab" * 32}
    match = server.client(tmp_path).match(MATCH)
    with pytest.raises(Exception, match="does not follow"):
        match.act({"type": "roll"}, version=2)
    assert server.acted == []


def test_an_action_at_any_version_is_signed_anew_where_the_match_has_moved_on(server: Server, tmp_path: Path) -> None:
    stale = {"status_code": 412, "json": {"code": "stale", "version": 3}}
    server.answers = [stale, stale]
    match = server.client(tmp_path).match(MATCH)
    match.act({"type": "resign"})
    assert len(server.acted) == 3
    server.answers = [stale]
    with pytest.raises(Stale):
        match.act({"type": "resign"}, version=2)


def test_a_server_that_calls_its_own_history_another_one_is_an_alarm_with_both_signed_texts(server: Server, tmp_path: Path) -> None:
    match = server.client(tmp_path).match(MATCH)
    match.keep(server.receipt(2))
    server.answers = [{"status_code": 409, "json": {"code": "history_differs", "detail": "Keep what you were shown."}}]
    with pytest.raises(TwoHistories, match="Keep what you were shown") as alarm:
        match.act({"type": "roll"}, version=2)
    assert not isinstance(alarm.value, Conflict)
    found = saved(alarm.value)
    assert (found["kept"], found["received"], found["shown"]) == (
        server.receipt(2),
        server.receipt(2, "cd" * 32),
        server.entries[1]["digest"],
    )


def signed_entry(server: Server, digest: str, seen: int = 2) -> dict[str, Any]:
    """Return the next entry, which its actor has signed after a history with a digest."""
    key = Key.new()
    action = {"type": "roll"}
    signature = key.signed(Move(MATCH, "blue", seen, digest), [action]).rpartition("(:")[2].removesuffix(":)")
    signed = {"count": 1, "key": key.public, "place": 1, "seen": seen, "signature": signature}
    return entry(3, server.entries[1]["digest"], signed=signed, action=action)


def test_a_move_that_was_signed_after_this_history_is_accepted(server: Server, tmp_path: Path) -> None:
    match = server.client(tmp_path).match(MATCH)
    server.entries.append(signed_entry(server, server.entries[1]["digest"]))
    match.act({"type": "roll"}, version=3)
    assert match.evidence.version == 3


@pytest.mark.parametrize(("digest", "seen"), [("ab" * 32, 2), (None, 3), (None, 0), (None, 1)])
def test_a_move_that_was_signed_after_another_history_is_an_alarm(server: Server, tmp_path: Path, digest: str | None, seen: int) -> None:
    """Two seats that are shown different histories find out at the next move."""
    match = server.client(tmp_path).match(MATCH)
    server.entries.append(signed_entry(server, digest or server.entries[1]["digest"], seen))
    with pytest.raises(Exception, match="blue has not signed this action after the history that is shown here") as alarm:
        match.act({"type": "roll"}, version=3)
    assert saved(alarm.value)["entry"]["signed"]["seen"] == seen
    assert server.acted == []


def test_a_warning_is_printed_where_nobody_has_set_up_logging() -> None:
    assert logging.getLogger("warledger_client").getEffectiveLevel() <= logging.WARNING
