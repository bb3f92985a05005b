"""The log of the server: what it says of matches, and that it never forks, loses or doubles a leaf, wherever it is stopped."""

from __future__ import annotations

import hmac
import json
import multiprocessing
import os
import random
import shutil
import signal
import threading
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from pymerkle import InmemoryTree

from events import play, recall
from events.audit import audit
from events.notary import highwater, leaves, sequencing, server_log, server_log_audit, signer
from events.notary.leaves import HOUR_MS
from events.platform import Platform, open_platform
from events.rebuild import rebuild
from events.store.log import Changes
from events.store.server_logs import start_of
from events.timing.clock import Clock
from evidence import checkpoints
from evidence.notes import parse_vkey
from record.entries import blind_key, link, parse
from tests.conftest import ALL_GAMES
from tests.events.keyspace import projections
from tests.events.logserver import Server
from tests.events.sequencers import keep_sequencing
from tests.signing import Signer

# ---------------------------------------------------------------- what the log says, and when


def test_a_match_is_in_the_log_when_it_begins_each_hour_in_which_it_moves_and_when_it_ends(server: Server) -> None:
    match = server.begin(target=3)
    assert server.sequence() == 1
    begin = server_log.leaves(server.platform, match)[0]["leaf"]
    first = parse(server.platform.store.log.read(match, 0, 1)[0])
    assert begin == {
        "at": first.at, "commitment": first.events[0]["commitment"], "digest": first.digest, "kind": "begin", "match": match, "version": 1,
    }  # fmt: skip
    server.pass_hours(0.99)
    assert server.sequence() == 0
    server.pass_hours(0.01)
    assert server.sequence() == 1
    server.pass_hours(100)
    assert server.sequence() == 0
    server.act(match)
    server.pass_hours(0.5)
    server.act(match)
    server.pass_hours(0.49)
    assert server.sequence() == 0
    server.pass_hours(0.01)
    assert server.sequence() == 1
    assert server.said(match) == [("begin", 1), ("hour", 2), ("hour", 4)]
    server.act(match)
    assert recall.position(server.platform, match).ended
    assert server.sequence() == 1
    server.pass_hours(100)
    assert server.sequence() == 0
    assert server.said(match) == [("begin", 1), ("hour", 2), ("hour", 4), ("end", 5)]
    for leaf in server_log.leaves(server.platform, match):
        entry = parse(server.platform.store.log.read(match, leaf["leaf"]["version"] - 1, 1)[0])
        assert (leaf["leaf"]["digest"], leaf["leaf"]["at"]) == (entry.digest, entry.at)
        assert "opened" not in leaf


def test_a_match_that_moves_all_the_time_has_one_leaf_an_hour(server: Server) -> None:
    match = server.begin()
    for _ in range(60):
        server.act(match)
        server.pass_hours(0.1)
        sequencing.sequence(server.platform)
    assert [kind for kind, _ in server.said(match)] == ["begin", *["hour"] * 6]


def test_a_match_that_ends_while_it_is_looked_at_has_one_end(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between any two reads of the sequencer: no leaf says that the match was over before it was."""
    reads = [(server.platform.store.server_logs, "logged"), (server.platform.store.lists, "standings")]
    reads += [(server.platform.store.log, name) for name in ("spans", "newest")]
    for place, name in reads:
        for after in (False, True):
            match, real = server.begin(target=1), getattr(place, name)

            def ending(*arguments: Any, after: bool = after, match: str = match, real: Any = real) -> Any:
                answer = real(*arguments) if after else None
                if not recall.position(server.platform, match).ended:
                    server.act(match)
                return answer if after else real(*arguments)

            with monkeypatch.context() as patch:
                patch.setattr(place, name, ending)
                sequencing.sequence(server.platform)
            server.sequence()
            assert server.said(match) == [("begin", 1), ("end", 3)]


def test_a_match_that_is_closed_ends_in_the_log(server: Server) -> None:
    match = play.create(server.platform, server.ann, "tally", {"one": "me", "two": "open"}, {}).match
    play.act_at_table(server.platform, match, server.ann, {"type": "close_match"})
    assert server.sequence() == 2
    assert server.said(match) == [("begin", 1), ("end", 2)]


@pytest.mark.parametrize("spectators", ["none", {"delay": 3}])
def test_leaves_of_a_hidden_match_are_sealed_and_come_by_the_clock_alone(server: Server, spectators: Any) -> None:
    quiet, busy = server.begin(spectators=spectators), server.begin(target=40, spectators=spectators)
    assert server.sequence() == 2
    for hour in range(4):
        for _ in range(hour * 3):
            server.act(busy)
        server.pass_hours(0.7 if hour == 1 else 1)
        server.pass_hours(0.3 if hour == 1 else 0)
        assert server.sequence() == 2
    assert server.said(quiet) == server.said(busy) == [("begin", 1), *[("sealed", 0)] * 4]
    shown = {match: server_log.leaves(server.platform, match) for match in (quiet, busy)}
    for found in shown.values():
        assert all(leaf["opened"] is None and leaf["leaf"].keys() == {"kind", "seal"} for leaf in found[1:])
        assert len({leaf["leaf"]["seal"] for leaf in found[1:]}) == 4, "also if the match has not moved"
    secret = server.platform.store.log.load(busy).secret
    assert secret is not None
    for leaf in server_log.leaves(server.platform, busy, opens=True)[1:]:
        inside = leaf["opened"]
        entry = parse(server.platform.store.log.read(busy, inside["version"] - 1, 1)[0])
        assert (inside["digest"], inside["at"]) == (entry.digest, entry.at)
        assert leaves.seal(secret, inside) == leaf["leaf"]["seal"]
    server.pass_hours(3.5)
    assert server.sequence() == 2, "what was missed is not made up for, one by one"
    while not recall.position(server.platform, busy).ended:
        server.act(busy)
    assert server.sequence() == 1
    assert all(leaf["opened"] for leaf in server_log.leaves(server.platform, busy)[1:-1])
    assert server.said(busy)[-1][0] == "end"
    server.pass_hours(5)
    assert server.sequence() == 1, "that of the match that goes on"


@pytest.mark.parametrize("listed", [True, False])
def test_what_comes_after_the_end_of_a_match_is_in_the_log_at_once(server: Server, listed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also while the lists, which say that the match is over, are being rebuilt."""
    for spectators in ("all", "none"):
        match = server.begin(target=1, spectators=spectators)
        server.act(match)
        server.sequence()
        end = parse(server.platform.store.log.read(match, 2, 1)[0])
        entry, raw = link(end.digest, end._replace(version=4, secret=None), blind_key(bytes.fromhex(end.secret or "")))
        server.platform.store.log.append(match, 3, [raw], Changes(leaf=server.ms))
        if not listed:
            server.pass_hours(2)
            monkeypatch.setattr(server.platform.store.lists, "standings", lambda matches: [None for _ in matches])
        assert server.sequence() == 1
        monkeypatch.undo()
        assert server_log.leaves(server.platform, match)[-1]["leaf"] == {
            "at": entry.at, "digest": entry.digest, "kind": "end", "match": match, "version": 4,
        }  # fmt: skip


def test_the_seal_is_the_one_that_is_documented(server: Server) -> None:
    inside = {"at": 5, "digest": "ab" * 32, "hour": 6, "kind": "hour", "match": "m" + "a" * 16, "version": 7}
    salt = hmac.digest(blind_key(bytes.fromhex("cd" * 32)), b"log:7", "sha256")
    text = b'{"at":5,"digest":"%b","hour":6,"kind":"hour","match":"m%b","version":7}' % (b"ab" * 32, b"a" * 16)
    assert leaves.seal("cd" * 32, inside) == sha256(salt + text).hexdigest()


def test_a_log_that_cannot_be_read_delays_no_other_match(server: Server) -> None:
    broken, match = server.begin(), server.begin()
    stream = server.platform.store.keys.of(broken).stream
    server.servers.keeper.delete(stream)
    server.servers.keeper.xadd(stream, {"e": "{}"}, id="1-0")
    assert server.sequence() == 1
    assert server.said(match) == [("begin", 1)]
    server.servers.keeper.delete(stream)
    server.pass_hours(1)
    assert server.sequence() == 1
    assert server.platform.store.server_logs.late(server.ms) == 0, "one that was removed is forgotten"


# ---------------------------------------------------------------- rebuilt, and audited


def test_what_the_log_wants_is_rebuilt_to_the_same_moments(server: Server) -> None:
    made = [server.begin(), server.begin(spectators="none"), server.begin(target=2)]
    server.act(made[2])
    kept = projections(server.platform.store.client)
    rebuild(server.platform)
    assert projections(server.platform.store.client) == kept
    server.sequence()
    server.pass_hours(1)
    server.act(made[0])
    server.sequence()
    server.pass_hours(0.5)
    server.act(made[0])
    server.act(made[1])
    kept = projections(server.platform.store.client)
    for tag in server.platform.store.keys.tags():
        server.servers.keeper.delete(f"{tag}:pending")
    rebuild(server.platform)
    assert projections(server.platform.store.client) == kept
    server.pass_hours(1)
    assert server.sequence() == 2


# ---------------------------------------------------------------- stopped anywhere, and raced


class Killed(BaseException):
    """The process has ended here."""


def every_step(server: Server) -> list[tuple[Any, str]]:
    """Return every call with which sequencing changes something, and every one between which it can be stopped."""
    logs = server.platform.store.server_logs
    return [
        (logs, "state"), (logs, "pending"), (logs, "logged"), (logs, "hashes"), (logs, "sequence"), (logs, "publish"),
        (logs, "settle"), (highwater, "keep"), (signer.Signer, "sign"),
        (server.platform.store.signing_keys, "unlogged"), (server.platform.store.signing_keys, "set_unlogged"),
    ]  # fmt: skip


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("step", range(11))
def test_a_worker_that_ends_at_any_step_leaves_a_log_that_goes_on(
    server: Server, monkeypatch: pytest.MonkeyPatch, step: int, after: bool
) -> None:
    """At each call of each kind, before and after it was carried out: nothing forks, and nothing is lost or doubled."""
    made = [server.begin(), server.begin(spectators="none")]
    keys: list[Signer] = []
    place, name = every_step(server)[step]
    real = getattr(place, name)
    reached = 0
    for number in range(60):
        calls = 0

        def dying(*arguments: Any, number: int = number, **named: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == number + 1 and not after:
                raise Killed
            answer = real(*arguments, **named)
            if calls == number + 1:
                raise Killed
            return answer

        server.pass_hours(1)
        server.act(made[0])
        made.append(server.begin(target=1))
        server.act(made[-1])
        keys.append(Signer(number))
        keys[-1].register(server.platform, server.ann)
        keys[-1].revoke(server.platform, server.ann)
        seen = server_log.shown(server.platform).note if number else ""
        with monkeypatch.context() as patch:
            patch.setattr(place, name, dying)
            try:
                sequencing.sequence(server.platform)
            except Killed:
                reached += 1
        if seen:
            assert server_log.shown(server.platform).size >= checkpoints.of_note(seen)[0].size
        sequencing.sequence(server.platform)
        if calls <= number:
            break
    assert reached
    server.sequence()
    for match in made[2:]:
        assert server.said(match) == [("begin", 1), ("end", 3)]
    of_keys = [(leaf["key"], leaf["kind"]) for leaf in map(json.loads, server.everything()) if "key" in leaf]
    assert sorted(of_keys) == sorted((each.key, kind) for each in keys for kind in ("signing_key", "signing_key_revoked"))
    hours = server.said(made[0])
    assert len(hours) == len(set(hours))
    assert hours[-1][1] == server.platform.store.log.head(made[0]) or server.platform.store.server_logs.pending(server.ms + HOUR_MS, 9)


def test_a_signature_is_made_only_of_what_the_store_has_and_the_mark_says(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    real = signer.Signer.sign
    signed = []

    def watched(signing: signer.Signer, text: str) -> str:
        checkpoint = checkpoints.parse(text)
        assert server.platform.store.server_logs.state("log.example").size == checkpoint.size
        assert highwater.read(server.settings.keys_folder, "log.example").checkpoint == checkpoint
        signed.append(checkpoint.size)
        return real(signing, text)

    monkeypatch.setattr(signer.Signer, "sign", watched)
    for _ in range(3):
        server.begin()
        server.sequence()
    assert signed == [0, 1, 2, 3]


def test_sequencers_that_race_are_of_one_mind(server: Server, tmp_path: Path) -> None:
    """Two machines, each with a folder of its own for marks and the same keys: the one that is late adds nothing."""
    server.begin()
    server.sequence()
    other_folder = tmp_path / "other"
    shutil.copytree(server.settings.keys_folder, other_folder)
    settings = server.settings._replace(keys=other_folder)
    others = [server.join() for _ in range(2)]
    for _ in range(2):
        others.append(open_platform(settings, ALL_GAMES, clock=Clock(lambda: server.ms, lambda: server.ms, "b1")))
        server.opened.append(others[-1])
    stop = threading.Event()
    failed: list[Exception] = []

    def go_on(platform: Platform) -> None:
        while not stop.is_set():
            try:
                sequencing.sequence(platform)
            except Exception as reason:  # noqa: BLE001 - the test reports it
                failed.append(reason)
                return

    threads = [threading.Thread(target=go_on, args=(platform,)) for platform in others]
    for thread in threads:
        thread.start()
    made = []
    for _ in range(40):
        made.append(server.begin(target=1))
        server.act(made[-1])
    stop.set()
    for thread in threads:
        thread.join()
    assert not failed
    for platform in [server.platform, *others]:
        platform.lead.give_up()  # the first one does not know yet that others have led since
    while sequencing.sequence(server.platform).added:  # a round adds a bounded number, and on a busy machine many are left
        pass
    server.sequence()
    assert all(server.said(match)[-1] == ("end", 3) and len(server.said(match)) <= 3 for match in made)


def elsewhere(server: Server, name: str) -> Platform:
    """Open a platform on another machine, which has a copy of the keys."""
    folder = server.settings.data / name
    shutil.copytree(server.settings.keys_folder, folder)
    there = open_platform(server.settings._replace(keys=folder), ALL_GAMES, clock=Clock(lambda: server.ms, lambda: server.ms, "b1"))
    server.opened.append(there)
    return there


def test_who_has_lost_the_lease_adds_and_signs_nothing(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """One stops before each of its writes, until another has taken the lease and written something else."""
    server.begin()
    server.sequence()
    for number, write in enumerate(("sequence", "publish")):
        there, logs = elsewhere(server, f"there{number}"), server.platform.store.server_logs
        real = getattr(logs, write)

        def late(*given: Any, real: Any = real, there: Platform = there) -> Any:
            monkeypatch.undo()
            server.servers.keeper.hset(start_of("log.example") + "state", "leased", 0)
            server.begin()
            assert sequencing.sequence(there).added
            return real(*given)

        server.begin()
        monkeypatch.setattr(logs, write, late)
        sequencing.sequence(server.platform)
        assert not server.platform.lead._leases, f"{write} was refused"
        there.lead.give_up()
        server.sequence()
        assert sequencing.sequence(there) == sequencing.Sequenced(0)
        assert [highwater.read(one.settings.keys_folder, "log.example").checkpoint.size for one in (server.platform, there)] == [
            server_log.shown(server.platform).size
        ] * 2, "also the mark of who has only followed"
    numbers = [server.platform.lead.take("log.example").split(" ")[0], server.platform.store.server_logs.lead("log.example", "0" * 16, 1)]
    assert int(numbers[0]) > 4
    assert numbers[1] == "", "another has it"


def test_a_tree_that_does_not_fit_the_mark_in_the_store_is_not_signed(server: Server) -> None:
    """Also by who has no mark of its own."""
    server.begin()
    server.sequence()
    start = start_of("log.example")
    (server.settings.keys_folder / highwater.FILE).unlink()
    server.servers.keeper.delete(start + "h:0")
    server.servers.keeper.xadd(start + "h:0", {"h": b"x" * 32}, id="1-0")
    assert sequencing.sequence(server.platform).stopped == highwater.FORKED


@pytest.mark.parametrize("kills", [3, pytest.param(40, marks=pytest.mark.soak)])
def test_processes_that_are_killed_never_fork_the_log(server: Server, kills: int) -> None:
    """Kill -9 at any moment, again and again, while matches begin and end: each checkpoint that was ever served continues the last."""
    made, served = [], []
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.events.sequencers"])
    for _ in range(kills):
        process = context.Process(target=keep_sequencing, args=(server.settings, server.ms))
        process.start()
        size = served[-1].size if served else -1
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            made.append(server.begin(target=1))
            server.act(made[-1])
            time.sleep(0.05)
            state = server.platform.store.server_logs.state("log.example")
            if state.served > size and random.Random(len(made)).random() < 0.5:
                served.append(checkpoints.of_note(state.note)[0])
                break
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join()
    while server.platform.store.server_logs.late(server.ms):  # a round may find only leaves that were added before the last kill
        sequencing.sequence(server.platform)
    server.sequence()  # what the last process had sent when it was killed may have come after a checkpoint
    everything = server.everything()
    for checkpoint in served:
        assert checkpoint.root == InmemoryTree.init_from_entries(everything[: checkpoint.size]).get_root()
    assert [match for match in made if sorted(server.said(match)) != [("begin", 1), ("end", 3)]] == []


# ---------------------------------------------------------------- a store that came back older, or other


def dump(server: Server) -> dict[bytes, bytes]:
    return {key: server.servers.keeper.dump(key) for key in server.servers.keeper.scan_iter("*")}  # type: ignore[misc]


def restore(server: Server, copy: dict[bytes, bytes]) -> None:
    for key in server.servers.keeper.scan_iter("*"):
        server.servers.keeper.delete(key)
    for key, value in copy.items():
        server.servers.keeper.restore(key, 0, value)


def test_a_store_that_came_back_from_a_backup_stops_the_log_until_it_has_another_name(server: Server) -> None:
    match = server.begin()
    server.sequence()
    copy = dump(server)
    server.pass_hours(1)
    server.act(match)
    server.sequence()
    newest = server_log.shown(server.platform).note
    restore(server, copy)
    server.begin()
    before = dump(server)
    for _ in range(3):
        assert sequencing.sequence(server.platform) == sequencing.Sequenced(0, stopped=highwater.OLDER)
        server.pass_hours(1)
    after = dump(server)
    assert {key: value for key, value in after.items() if b"{log}" in key} == {
        key: value for key, value in before.items() if b"{log}" in key
    }
    assert checkpoints.of_note(server_log.shown(server.platform).note)[0].size < checkpoints.of_note(newest)[0].size
    folder = server.settings.keys_folder
    assert highwater.read(folder, "log.example").checkpoint == checkpoints.of_note(newest)[0]
    assert "1 leaves of the log log.example, but 2 were signed" in highwater.sentence(folder, "log.example")
    signer.rotate(folder, "log.example.2")
    server.platform.signer._looked = 0.0
    rebuild(server.platform)
    assert sequencing.sequence(server.platform).added == 4, "both matches, and what they have done in the hours since"
    shown = server_log.shown(server.platform)
    assert (shown.origin, checkpoints.of_note(shown.note)[0].size) == ("log.example.2", 4)
    names = [parse_vkey(vkey).name for vkey in server.platform.signer.vkeys()]
    assert names == ["log.example", "log.example.2"]
    assert highwater.sentence(folder, "log.example.2") == ""


def test_a_store_that_comes_back_newer_goes_on(server: Server) -> None:
    server.begin()
    server.sequence()
    old = dump(server)
    server.begin()
    server.sequence()
    new = dump(server)
    restore(server, old)
    assert sequencing.sequence(server.platform).stopped == highwater.OLDER
    restore(server, new)
    assert server.sequence() == 0
    assert highwater.sentence(server.settings.keys_folder, "log.example") == ""


def test_a_store_with_other_leaves_stops_the_log(server: Server) -> None:
    server.begin()
    server.sequence()
    copy = dump(server)
    server.begin()
    server.sequence()
    restore(server, copy)
    shutil.copytree(server.settings.keys_folder, server.settings.data / "kept")
    (server.settings.keys_folder / highwater.FILE).unlink()
    server.begin()
    server.begin()
    server.sequence()
    shutil.rmtree(server.settings.keys_folder)
    (server.settings.data / "kept").rename(server.settings.keys_folder)
    assert sequencing.sequence(server.platform).stopped == highwater.FORKED
    assert "other leaves" in highwater.sentence(server.settings.keys_folder, "log.example")


def test_without_a_readable_mark_nothing_is_signed(server: Server) -> None:
    server.begin()
    server.sequence()
    file = server.settings.keys_folder / highwater.FILE
    for damage in ("", "[]", "{", '{"log.example": {"size": 1}}', '{"log.example": {"size": "x", "root": "", "stopped": "", "found": 0}}'):
        file.write_text(damage)
        server.begin()
        with pytest.raises(highwater.Unreadable):
            sequencing.sequence(server.platform)
        assert str(file) in highwater.sentence(server.settings.keys_folder, "log.example")


# ---------------------------------------------------------------- audited


def findings(server: Server, match: str) -> list[tuple[int, str]]:
    return [(finding.version, finding.code) for finding in audit(server.platform, match).findings]


def test_a_stray_item_of_a_log_is_named_and_no_leaf_after_it(server: Server) -> None:
    match = server.begin()
    server.act(match)
    server.sequence()
    server.pass_hours(1)
    server.sequence()
    assert server_log.leaves(server.platform, match)[-1]["leaf"]["version"] > 1
    assert findings(server, match) == []
    stream, keeper = server.platform.store.keys.of(match).stream, server.servers.keeper
    (first, fields), *others = keeper.xrange(stream)
    keeper.delete(stream)
    for id, item in ((first, fields), ("1-1", fields), *others):
        keeper.xadd(stream, item, id=id)
    assert findings(server, match) == [(2, "wrong_id")]


def test_an_audit_compares_the_leaves_with_the_entries(server: Server) -> None:
    made = [server.begin(), server.begin(spectators="none"), server.begin(target=1), server.begin(spectators="none", target=1)]
    for match in made:
        assert findings(server, match) == []
    server.sequence()
    server.pass_hours(1)
    for match in made:
        server.act(match)
    server.sequence()
    for match in made:
        assert findings(server, match) == []
        leaves = server.platform.store.server_logs.logged("log.example", [match])[0]
        start = next(iter(server.servers.keeper.scan_iter(f"{{log}}:*:m:{match}")))
        for leaf in leaves:
            kept = server.servers.keeper.hget(start, leaf.name)
            for wrong in (
                f"{leaf.number} {leaf.version} {'0' * 64} {leaf.at} {leaf.moment}",
                f"{leaf.number} 2 {leaf.digest} 5 5",
                "99 1 a 1 1",
            ):
                server.servers.keeper.hset(start, leaf.name, wrong)
                assert "leaf_differs" in [code for _, code in findings(server, match)]
            server.servers.keeper.hset(start, leaf.name, kept)
    match = made[0]
    server.act(match)
    server.servers.keeper.zrem(server.platform.store.keys.of(match).pending, match)
    assert findings(server, match) == [(4, "leaf_missing")]
    rebuild(server.platform)
    assert findings(server, match) == []


def test_an_audit_of_everything_checks_the_log_as_a_whole(server: Server) -> None:
    assert list(server_log_audit.of_log(server.platform)) == []
    for _ in range(300):
        play.create(server.platform, server.ann, "tally", {"one": "me", "two": "open"}, {})
    while sequencing.sequence(server.platform).added:
        pass
    assert list(server_log_audit.of_log(server.platform)) == []
    keeper = server.servers.keeper
    (leaves_key,) = keeper.scan_iter("{log}:*:leaves")
    (state,) = keeper.scan_iter("{log}:*:state")
    note = keeper.hget(state, "note")
    keeper.hset(state, "note", server.platform.signer.sign(checkpoints.of_note(note)[0]._replace(root=b"x" * 32).text))
    assert "checkpoint" in "".join(server_log_audit.of_log(server.platform))
    keeper.hset(state, "note", note.replace(b"log.example", b"Log.example"))
    assert "checkpoint" in "".join(server_log_audit.of_log(server.platform))
    keeper.hset(state, "note", note)
    (level,) = keeper.scan_iter("{log}:*:h:1")
    keeper.delete(level)
    keeper.xadd(level, {"h": b"x" * 32}, id="1-0")
    assert "hashes" in "".join(server_log_audit.of_log(server.platform))
    keeper.xdel(leaves_key, "17-0")
    assert "from leaf 0 on" in "".join(server_log_audit.of_log(server.platform))
    folder = server.settings.keys_folder
    highwater.keep(folder, highwater.read(folder, "log.example")._replace(stopped=highwater.FORKED))
    assert "other leaves" in "".join(server_log_audit.of_log(server.platform))
