"""The monitor: what it finds in the leaves of a log, and that its files convince whoever does not trust it."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from evidence import showing
from evidence.leaves import ALARMS
from evidence.notes import SigningKey
from evidence.showing import ShowsNothing
from tests.tools.served import HOUR, LOG, OTHER, START, Log, digest, leaf, match_id, receipt, sealed
from tools.asking import TRIES, Server
from tools.logs import Unable
from tools.scans import Scan, is_log, is_scan, leaves_in, note_in, scanned
from tools.watching import Watch
from tools.witness import State, main

RETOLD = [leaf("begin", "a", 1), leaf("end", "a", 60), leaf("begin", "a", 1, secret="x"), leaf("end", "a", 58, secret="x")]
BULK = '{{"at":7,"bytes":9,"digest":"{}","from":0,"game":"war","kind":"bulk","matches":1,"month":"2026-01","parts":1,"to":9}}'


def watch_over(log: Log, scan: Scan, state: State, said: list[str]) -> Watch:
    return Watch(log.server(), lambda _: scan, state.keep_file, [LOG.verifier], said.append)


def looked(log: Log, folder: Path, sizes: Sequence[int] = ()) -> list[str]:
    """Watch a log. Return what was said. `sizes`: those at which it is looked at, before all of it."""
    said: list[str] = []
    state = State(folder)
    for size in (*sizes, len(log.leaves)):
        scan = Scan(state.scan("log.example"))
        watch_over(log.at(size), scan, state, said).look()
        scan.close()
    return said


def found(folder: Path) -> list[tuple[str, tuple[int, ...]]]:
    """Return the codes and the leaves that were found."""
    return [(finding.code, finding.leaves) for finding in Scan(State(folder).scan("log.example"), readonly=True).found()]


def among_others(leaves: Sequence[bytes], places: Sequence[int]) -> list[bytes]:
    """Return a log that has these leaves at these places, between those of other matches."""
    every = [sealed(str(place)) if place % 3 else leaf("begin", f"z{place}".translate(DIGITS), 1) for place in range(max(places) + 5)]
    for place, each in zip(places, leaves, strict=True):
        every[place] = each
    return every


DIGITS = str.maketrans("0189", "bcde")


@pytest.mark.parametrize("sizes", [(), (10, 100, 209, 210, 211), (212,)])
def test_a_finished_match_that_is_told_again_with_another_secret_is_found(tmp_path: Path, sizes: Sequence[int]) -> None:
    log = Log(0, leaves=among_others(RETOLD, [9, 10, 209, 210]))
    said = looked(log, tmp_path, sizes)
    assert found(tmp_path) == [("begin_twice", (9, 209)), ("after_end", (10, 209)), ("end_twice", (10, 210))]
    assert len(said) == 3
    for code, places in found(tmp_path):
        shown = showing.check((tmp_path / "-".join([code, *map(str, places)])).read_text(), [LOG.verifier])
        assert (shown.finding.code, shown.finding.subject, shown.noted) == (code, match_id("a"), True)
        assert shown.checkpoints[0].size in (*sizes, len(log.leaves))


HONEST = [
    leaf("begin", "a", 1),
    leaf("hour", "a", 40, HOUR),
    leaf("begin", "b", 1, HOUR),
    leaf("hour", "a", 80, HOUR - 30_000),  # an action counts from when it was received
    leaf("hour", "b", 20, 2 * HOUR),
    leaf("end", "b", 20, 2 * HOUR),
    leaf("end", "a", 90, 3 * HOUR),
    leaf("end", "a", 93, 4 * HOUR),
    BULK.format(digest(1)).encode(),
]


@pytest.mark.parametrize(
    ("leaves", "expected"),
    [
        (HONEST, []),
        ([*HONEST, leaf("hour", "a", 95, 4 * HOUR)], [("after_end", (6, 9))]),
        ([*HONEST, leaf("end", "a", 93, 4 * HOUR, "x")], [("end_twice", (7, 9))]),
        ([*HONEST, leaf("end", "b", 19, 2 * HOUR)], [("version_backwards", (4, 9)), ("end_twice", (5, 9))]),
        ([*HONEST, BULK.format(digest(2)).encode()], [("bulk_twice", (8, 9))]),
        ([*HONEST[:3], leaf("hour", "a", 40, HOUR, "x")], [("digest_twice", (1, 3))]),
        ([*HONEST[:3], leaf("hour", "a", 40, HOUR)], [("leaf_twice", (1, 3))]),
        ([*HONEST[:3], leaf("hour", "a", 39, HOUR)], [("version_backwards", (1, 3))]),
        ([*HONEST[:3], leaf("hour", "a", 41, HOUR - 60_001)], [("time_backwards", (1, 3))]),
        ([*HONEST[:3], leaf("hour", "c", 41, HOUR)], [("no_begin", (3,))]),
        ([*HONEST[:3], leaf("begin", "c", 1, 4 * HOUR), leaf("hour", "b", 9, 2 * HOUR - 1)], [("leaf_late", (2, 3, 4))]),
        ([*HONEST[:3], leaf("begin", "c", 1, 4 * HOUR), leaf("hour", "b", 9, 2 * HOUR)], []),
        # After the log was given another name it has the matches from before, which are old. That is not late.
        ([leaf("begin", "c", 1, 9 * HOUR), leaf("begin", "b", 1), leaf("end", "b", 9, HOUR), leaf("end", "c", 9, 9 * HOUR)], []),
        ([*HONEST[:3], b'{"kind":"news"}'], [("leaf_unknown", (3,))]),
        ([*HONEST[:3], leaf("begin", "c", 2, HOUR)], [("leaf_malformed", (3,))]),
        ([*HONEST[:3], b"\xff\x00"], [("leaf_malformed", (3,))]),
    ],
)
def test_leaves_that_cannot_follow_one_another_are_found(
    tmp_path: Path, leaves: Sequence[bytes], expected: list[tuple[str, tuple[int, ...]]]
) -> None:
    said = looked(Log(0, leaves=leaves), tmp_path)
    assert found(tmp_path) == expected
    assert [sentence.partition(": ")[0] for sentence in said] == ["ALARM" if code in ALARMS else "Note" for code, _ in expected]
    for code, places in expected:
        if code not in ("no_begin", "leaf_unknown", "leaf_malformed"):
            shown = showing.check((tmp_path / "-".join([code, *map(str, places)])).read_text(), [LOG.verifier])
            assert (shown.finding.code, shown.finding.leaves) == (code, places)


def key_leaf(player: str, key: SigningKey, kind: str = "signing_key", by: SigningKey | None = None) -> bytes:
    public = base64.b64encode(key.verifier.public).decode()
    signed = (by or key).signature(f"warledger.org/signing-key/v1\n{player}\n{public}\n".encode()).signature
    more = f',"signature":"{base64.b64encode(signed).decode()}"' if kind == "signing_key" else ""
    return f'{{"at":{START},"key":"{public}","kind":"{kind}","player":"{player}"{more}}}'.encode()


def test_signing_keys_are_told_and_one_without_proof_of_possession_is_an_alarm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ada, ben = "p" + 16 * "a", "p" + 16 * "b"
    leaves = [key_leaf(ada, LOG), key_leaf(ada, LOG, "signing_key_revoked"), key_leaf(ben, OTHER, by=LOG), key_leaf(ben, LOG)]
    log = Log(0, leaves=leaves)
    looked(log, tmp_path)
    assert found(tmp_path) == [("key_unproven", (2,)), ("key_shared", (0, 3))]
    assert showing.check((tmp_path / "key_unproven-2").read_text()).finding.subject == ben
    assert showing.check((tmp_path / "key_shared-0-3").read_text()).finding.subject == ben
    monkeypatch.setattr("tools.witness.Server", lambda url: log.server())
    command = ["watch", "http://log.example", "--once", "--state", str(tmp_path), "--player", ada, "--player", "p" + 16 * "c"]
    assert main(command) == 1
    public = base64.b64encode(LOG.verifier.public).decode()
    told = [line for line in capsys.readouterr().out.splitlines() if "signing key" in line]
    assert told == [
        f"{ada}: the signing key {public} was registered 2026-09-21T14:13:20Z (leaf 0).",
        f"{ada}: the signing key {public} was revoked 2026-09-21T14:13:20Z (leaf 1).",
    ]


@pytest.mark.parametrize(("at", "hidden", "told"), [(HOUR, "all", 1), (HOUR, "none", 0), (2 * HOUR, "all", 0)])
def test_a_version_that_has_no_leaf_after_two_hours_is_shown_by_its_receipt(tmp_path: Path, at: int, hidden: str, told: int) -> None:
    log = Log(0, leaves=[leaf("begin", "a", 1), leaf("begin", "b", 1, 4 * HOUR)])
    log.receipts[match_id("a"), 2] = receipt("a", 2, at if told else at + 2 * HOUR if hidden == "all" else at)
    log.spectators = hidden
    assert len(looked(log, tmp_path)) == told
    assert found(tmp_path) == [("leaf_overdue", (1,))] * told
    assert len(looked(log, tmp_path)) == 0, "it is told once"
    if told:
        shown = showing.check((tmp_path / f"leaf_overdue-{match_id('a')}").read_text(), [LOG.verifier])
        assert shown.absent == (match_id("a"), 2)


def test_the_command_ends_with_1_as_long_as_there_is_an_alarm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    log = Log(0, leaves=RETOLD[:2])
    monkeypatch.setattr("tools.witness.Server", lambda url: log.server())
    command = ["watch", "http://log.example", "--once", "--state", str(tmp_path)]
    assert main(command) == 0
    log = Log(0, leaves=RETOLD)
    assert main(command) == 1
    said = capsys.readouterr().out
    assert "ALARM: begin_twice: The match maaaaaaaaaaaaaaaa begins twice: in leaf 0 and in leaf 2." in said
    assert "log.example: 4 leaves. It contradicts itself: 3 alarms." in said
    assert main(command) == 1
    assert "3 alarms were found before." in capsys.readouterr().out
    log = Log(0, leaves=RETOLD[:2])
    log.key, log.origin = SigningKey("new.example", bytes(32)), "new.example"
    assert main(command) == 0
    assert "new.example: this log was not seen before." in capsys.readouterr().out, "nobody gets rid of a log by another name"


def test_entries_that_are_not_those_of_the_tree_change_nothing(tmp_path: Path) -> None:
    log = Log(0, leaves=among_others(RETOLD, [9, 10, 509, 510]))
    state, said = State(tmp_path), list[str]()
    scan = Scan(state.scan("log.example"))
    watch_over(log.at(300), scan, state, said).look()
    wrong = Log(0, leaves=log.leaves)
    wrong.leaves[400] = sealed("another")
    with pytest.raises(Unable, match="not those of its tree"):
        watch_over(wrong, scan, state, said).look()
    assert (scan.size, scan.found(), len(scan.of(match_id("a"))), said) == (300, [], 2, [])
    watch_over(log.at(515), scan, state, said).look()
    assert [finding.leaves for finding in scan.found()] == [(9, 509), (10, 509), (10, 510)]


def test_a_scan_proves_every_leaf_and_knows_every_root(tmp_path: Path) -> None:
    log = Log(0, leaves=[sealed(str(place)) for place in range(66_000)])
    scan = Scan(tmp_path / "scan")
    for size in (1, 700, 66_000):
        shown = log.at(size).server().signed([LOG.verifier])
        assert list(scan.grow(shown, log.leaves[scan.size : size])) == []
        assert scan.root(size) == log.checkpoint.root
    for size in (0, 1, 255, 256, 65_536, 65_537):
        assert scan.root(size) == log.at(size).checkpoint.root
    text = showing.of_leaves("begin_twice", scan.note, [(n, scan.raw(n), scan.path(n)) for n in (0, 65_535, 65_536, 65_999)], [])
    with pytest.raises(ShowsNothing, match="Its leaves do not show begin_twice"):  # so they are in the log
        showing.check(text, [LOG.verifier])


def test_the_whole_log_is_written_into_a_file_and_read_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = Log(0, leaves=[*among_others(RETOLD, [9, 10, 509, 510]), b"a\nb", b"\xff"])
    looked(log, tmp_path)
    assert main(["export", str(tmp_path / "log"), "--state", str(tmp_path)]) == 0
    assert is_log(tmp_path / "log")
    assert is_scan(State(tmp_path).scan("log.example"))
    assert list(leaves_in(tmp_path / "log")) == log.leaves
    assert note_in(tmp_path / "log") == log.note
    with scanned(log.server().signed([]), lambda: leaves_in(tmp_path / "log")) as scan:
        assert [number for number, _ in scan.of(match_id("a"))] == [9, 10, 509, 510]
    assert main(["export", str(tmp_path / "log"), "--state", str(tmp_path / "nothing")]) == 2


def test_a_file_that_was_changed_shows_nothing(tmp_path: Path) -> None:
    """Whoever writes such a file may be the one who lies: every change of it is noticed, or it shows something that is true."""
    looked(Log(0, leaves=among_others(RETOLD, [9, 10, 209, 210])), tmp_path)
    honest = (tmp_path / "end_twice-10-210").read_text()
    value = json.loads(honest)
    for change in (
        {"code": "begin_twice"},
        {"code": "checkpoint_forked"},
        {"code": "leaf_overdue"},
        {"leaves": value["leaves"][::-1]},
        {"leaves": value["leaves"][:1]},
        {"leaves": [value["leaves"][0]] * 2},
        {"leaves": [{**value["leaves"][0], "index": 11}, value["leaves"][1]]},
        {"leaves": [{**value["leaves"][0], "leaf": {**value["leaves"][0]["leaf"], "version": 3}}, value["leaves"][1]]},
        {"vkeys": [OTHER.verifier.vkey]},
        {"vkeys": []},
        {"path": [base64.b64encode(bytes(32)).decode()]},
        {"finding": 2},
        {"more": 1},
    ):
        with pytest.raises(ShowsNothing):
            showing.check(json.dumps({**value, **change}))
    with pytest.raises(ShowsNothing, match="not signed by a known key"):
        showing.check(honest, [OTHER.verifier])
    draw = random.Random(1)
    for _ in range(300):
        at = draw.randrange(len(honest))
        spoiled = honest[:at] + draw.choice('0a"{}[],') + honest[at + 1 :]
        with suppress(ShowsNothing):
            assert showing.check(spoiled, [LOG.verifier]).finding == showing.check(honest, [LOG.verifier]).finding


@pytest.mark.parametrize(("first", "second"), [(400, 400), (256, 700), (400, 700)])
def test_two_checkpoints_of_which_one_continues_the_other_show_nothing(first: int, second: int) -> None:
    log = Log(700)
    notes = [log.at(size).note for size in (first, second)]
    path = log.proof(first)
    with pytest.raises(ShowsNothing, match="do not contradict"):
        showing.check(showing.of_fork(notes[0], notes[1], path, []), [LOG.verifier])
    with pytest.raises(ShowsNothing):
        showing.check(showing.of_fork(notes[1], notes[0], path, []), [LOG.verifier])
    with pytest.raises(ShowsNothing, match="do not contradict"):  # a path that leads nowhere is the work of whoever wrote the file
        showing.check(showing.of_fork(notes[0], notes[1], [bytes(32), *path], []), [LOG.verifier])


def test_a_server_that_is_asked_too_much_is_asked_again_later(tmp_path: Path) -> None:
    """A first look at a long log is many requests, which the limits of a server may slow down."""
    log, pauses, busy = Log(700), list[float](), iter([True, True, False] * 10)

    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(429, headers={"Retry-After": "7"}) if next(busy) else log.answer(request)

    server = Server("http://log.example", httpx.MockTransport(answer), pauses.append)
    scan = Scan()
    assert Watch(server, lambda _: scan, State(tmp_path).keep_file, [LOG.verifier]).look() == log.checkpoint
    assert pauses == [7, 7] * 4
    never = httpx.MockTransport(lambda request: httpx.Response(429, headers={"Retry-After": "7"}))
    with pytest.raises(Unable, match="answers with 429"):
        Server("http://log.example", never, pauses.append).note()
    assert len(pauses) == 8 + TRIES
