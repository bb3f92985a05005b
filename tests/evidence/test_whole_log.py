"""Both verifiers hold a file against a whole log, count cosignatures, and are convinced by what a monitor has found."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from evidence import checkpoints, showing, tree
from evidence.notes import COSIGNATURE, SigningKey
from record.dossiers import lines
from record.entries import blind_key, canonical, link, parse
from record.example import BEGAN, ENTRIES, MATCH, RAWS, SECRET
from record.json_text import loads
from tests.evidence.small import BEGIN, END, dossier, leaf_of
from tests.tools.served import HOUR, LOG, OTHER, Log, digest, leaf, receipt, sealed
from tools import node, verify
from tools.scans import Scan

ROOT = Path(__file__).parents[2]
NODE = node.binary() or ""
WITNESSES = [SigningKey(f"witness-{number}", bytes([number]) * 32, COSIGNATURE) for number in range(3)]

pytestmark = pytest.mark.skipif(not NODE, reason="there is no Node here: install the packages for tests, or Node 20")


AGAIN = [leaf("begin", "a", 1, secret="x"), leaf("end", "a", 4, secret="x")]  # the same match, told with another secret
RETOLD = [(1, "begin_twice"), (1, "after_end"), (1, "leaf_differs"), (4, "end_twice"), (4, "leaf_differs")]
LATE = leaf("begin", "z", 1)  # years later


def both(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, list[tuple[int | None, str]]]:
    """Run both verifiers. Return the exit status and the findings, which they agree on."""
    arguments = list(map(str, words))
    code = verify.main([*arguments, "--json"])
    printed = capsys.readouterr()
    found = [(each["version"], each["code"]) for file in json.loads(printed.out or "[]") for each in file["findings"]]
    ran = subprocess.run([NODE, ROOT / "verify/verify.mjs", *arguments, "--json"], capture_output=True, text=True, check=False)
    assert ran.returncode == code, (ran.stdout, ran.stderr, printed)
    theirs = [(each["version"], each["code"]) for each in (json.loads(ran.stdout)["findings"] if ran.stdout else [])]
    assert set(theirs) - {(None, "shows_nothing")} == set(found), "both verifiers agree"
    return code, found


@pytest.mark.parametrize(
    ("log", "places", "options", "expected"),
    [
        ([BEGIN, END, LATE], [0, 1], {}, []),
        ([BEGIN, LATE, sealed("x"), b"\xff\n", END], [0, 4], {}, []),
        ([BEGIN, END, *AGAIN], [0, 1], {"shown": 2}, RETOLD),
        ([*AGAIN, BEGIN, END], [2, 3], {}, [*RETOLD, (1, "leaf_withheld"), (4, "leaf_withheld"), (4, "time_backwards")]),
        ([BEGIN, END], [0], {}, [(4, "leaf_withheld")]),
        ([BEGIN, LATE], [0], {}, [(4, "leaf_missing")]),
        ([LATE], [], {}, [(1, "leaf_missing"), (4, "leaf_missing")]),
        ([LATE], [], {"versions": 3}, [(1, "leaf_missing"), (3, "leaf_missing")]),
        ([BEGIN, END], [0], {"versions": 3, "shown": 1}, [(4, "truncated")]),
        ([BEGIN, END], [0], {"versions": 3, "shown": 1, "hours": 0}, []),
        ([BEGIN, leaf_of("hour", 3, digest=digest("x"))], [0], {"shown": 1}, [(3, "leaf_differs")]),
    ],
)
def test_a_file_is_held_against_a_whole_log(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    log: Sequence[bytes],
    places: Sequence[int],
    options: dict[str, Any],
    expected: list[tuple[int, str]],
) -> None:
    """`shown`: how many leaves the log had when the file was written."""
    whole, given = Log(0, leaves=log), dict(options)
    shown = given.pop("shown", len(log))
    (tmp_path / "file").write_bytes(dossier(whole.at(shown), places, **given))
    whole.at(len(log)).write(tmp_path / "log")
    assert verify.main([str(tmp_path / "file"), "--key", LOG.verifier.vkey]) == 0, "the file by itself holds"
    capsys.readouterr()
    code, found = both(capsys, tmp_path / "file", "--log", tmp_path / "log", "--key", LOG.verifier.vkey)
    assert (code, set(found)) == (int(bool(expected)), set(expected))
    scan = Scan(tmp_path / "scan")
    list(scan.grow(whole.server().signed([]), whole.leaves))
    scan.close()
    assert verify.main([str(tmp_path / "file"), "--log", str(tmp_path / "scan"), "--json"]) == code
    state = json.loads(capsys.readouterr().out)
    assert {(each["version"], each["code"]) for each in state[0]["findings"]} == set(expected)
    assert state[0]["checked"]["logs"] == 1


def test_a_match_that_goes_on_by_a_ruling_has_no_end_in_the_log_yet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its secret is kept until the other match is over, too, and so is the leaf of its end."""
    last = {**loads(RAWS[3]), "events": [{"type": "match_continued"}, {"type": "match_ended", "winners": ["red"]}]}
    del last["secret"]
    entry, raw = link(ENTRIES[2].digest, parse(canonical(last)), blind_key(SECRET))
    (tmp_path / "record").write_bytes(b"".join(line + b"\n" for line in [*RAWS[:3], raw]))
    hour = canonical({"at": entry.at, "digest": entry.digest, "kind": "hour", "match": MATCH, "version": 4})
    log = Log(0, leaves=[BEGIN, hour, LATE])
    log.write(tmp_path / "log")
    file = dossier(log, [0, 1], 3, hours=9).splitlines(keepends=True)
    places = [place for place, each in enumerate(file) if each.startswith(b'{"entry"')]
    file.insert(places[-1] + 1, lines.entry_line(raw))
    file[0] = file[0].replace(b'"versions":3', b'"versions":4')
    (tmp_path / "dossier").write_bytes(b"".join(file))
    for words in (["record"], ["record", "--log", tmp_path / "log"], ["dossier"]):
        words[0] = tmp_path / str(words[0])
        verify.main(list(map(str, words)))
        ran = subprocess.run([NODE, ROOT / "verify/verify.mjs", *words], capture_output=True, text=True, check=False)
        assert "DOES NOT HOLD" in (said := capsys.readouterr().out), "by the rules there was no ruling"
        assert "leaf_missing" not in said + ran.stdout
        assert ("1 log" in said) is ("--log" in words)
        assert ("2 leaves" in said) is (words[0] == tmp_path / "dossier")


def test_a_log_that_is_another_one_is_found_or_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_bytes(dossier(Log(0, leaves=[BEGIN, END]), [0, 1]))
    Log(0, leaves=[BEGIN, END, sealed("x")]).at(1).write(tmp_path / "older")
    assert both(capsys, tmp_path / "file", "--log", tmp_path / "older", "--key", LOG.verifier.vkey) == (0, [])
    Log(0, leaves=[BEGIN, sealed("x"), END]).write(tmp_path / "forked")
    assert both(capsys, tmp_path / "file", "--log", tmp_path / "forked") == (1, [(None, "checkpoint_forked")])
    forged = Log(0, leaves=[BEGIN, END])
    forged.key = OTHER
    forged.write(tmp_path / "forged")
    assert both(capsys, tmp_path / "file", "--log", tmp_path / "forged", "--key", LOG.verifier.vkey) == (1, [(None, "wrong_key")])
    honest = Log(0, leaves=[BEGIN, END])
    honest.leaves[1] = sealed("x")
    honest.write(tmp_path / "changed")
    (tmp_path / "text").write_text("no log")
    for wrong in ("changed", "text", "nowhere"):
        assert both(capsys, tmp_path / "file", "--log", tmp_path / wrong) == (2, [])


def test_a_record_is_held_against_a_whole_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "record").write_bytes(b"".join(raw + b"\n" for raw in RAWS))
    Log(0, leaves=[BEGIN, END, LATE]).write(tmp_path / "log")
    assert both(capsys, tmp_path / "record", "--log", tmp_path / "log") == (0, [])
    Log(0, leaves=[*AGAIN, LATE]).write(tmp_path / "log")
    assert both(capsys, tmp_path / "record", "--log", tmp_path / "log") == (1, [(1, "leaf_differs"), (4, "leaf_differs")])


@pytest.mark.parametrize(("cosigned", "asked", "code"), [(0, 1, 1), (1, 1, 0), (1, 2, 1), (2, 2, 0), (2, None, 1), (3, None, 0)])
def test_a_checkpoint_counts_only_with_a_quorum(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], cosigned: int, asked: int | None, code: int
) -> None:
    log = Log(0, leaves=[BEGIN, END])
    log.witnesses = WITNESSES[:cosigned]
    (tmp_path / "file").write_bytes(dossier(log, [0, 1]))
    named = [word for witness in WITNESSES for word in ("--witness", witness.verifier.vkey)]
    quorum = [] if asked is None else ["--quorum", asked]
    expected = [(None, "quorum_missed")] if code else []
    assert both(capsys, tmp_path / "file", *named, *quorum) == (code, expected)


def test_a_quorum_that_cannot_be_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_bytes(dossier(Log(0, leaves=[BEGIN, END]), [0, 1]))
    witness = WITNESSES[0].verifier.vkey
    for words in (["--quorum", "1"], ["--witness", witness, "--quorum", "2"], ["--witness", witness, "--quorum", "0"]):
        with pytest.raises(SystemExit) as ended:
            verify.main([str(tmp_path / "file"), *words])
        assert ended.value.code == 2
        ran = subprocess.run([NODE, ROOT / "verify/verify.mjs", tmp_path / "file", *words], capture_output=True, text=True, check=False)
        assert (ran.returncode, ran.stdout) == (2, "")
    assert both(capsys, tmp_path / "file", "--witness", LOG.verifier.vkey) == (2, [])
    once = ["--witness", witness] * 2
    assert both(capsys, tmp_path / "file", *once) == (1, [(None, "quorum_missed")])


# ---------------------------------------------------------------- what a monitor has found


def leaves_file(log: Log, code: str, places: Sequence[int], receipts: Sequence[str] = ()) -> str:
    """Return the file of a monitor."""
    found = [(place, log.leaves[place], checkpoints.parse_proof(log.inclusion(place)).path) for place in places]
    return showing.of_leaves(code, log.note, found, [LOG.verifier.vkey], receipts)


HONEST = [BEGIN, leaf("begin", "z", 1, 4 * HOUR), END]


@pytest.mark.parametrize(
    ("log", "code", "places", "version"),
    [
        ([BEGIN, END, *AGAIN], "begin_twice", [0, 2], 1),
        ([BEGIN, END, *AGAIN], "after_end", [1, 2], 1),
        ([BEGIN, END, *AGAIN], "end_twice", [1, 3], 4),
        ([BEGIN, leaf_of("hour", 3), leaf_of("hour", 3, digest=digest("x"))], "digest_twice", [1, 2], 3),
        ([BEGIN, leaf_of("hour", 3), leaf_of("hour", 2)], "version_backwards", [1, 2], 2),
        ([BEGIN, leaf_of("hour", 3), leaf_of("hour", 4, at=BEGAN - 60_000)], "time_backwards", [1, 2], 4),
        ([BEGIN, leaf_of("hour", 3), leaf_of("hour", 3)], "leaf_twice", [1, 2], 3),
        ([BEGIN, LATE, END], "leaf_late", [0, 1, 2], 4),
    ],
)
def test_what_a_monitor_shows_convinces_both_verifiers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], log: Sequence[bytes], code: str, places: Sequence[int], version: int
) -> None:
    (tmp_path / "finding").write_text(leaves_file(Log(0, leaves=log), code, places))
    assert both(capsys, tmp_path / "finding", "--key", LOG.verifier.vkey) == (1, [(version, code)])
    assert both(capsys, tmp_path / "finding", "--key", SigningKey("log.example", bytes(32)).verifier.vkey) == (2, [])
    for other in ("begin_twice", "after_end", "end_twice", "digest_twice", "version_backwards", "time_backwards", "leaf_late", "no_begin"):
        if other != code:
            value = json.loads((tmp_path / "finding").read_text())
            with pytest.raises(showing.ShowsNothing):
                showing.check(json.dumps({**value, "code": other}))
    (tmp_path / "finding").write_text(leaves_file(Log(0, leaves=log), code, places[::-1]))
    assert both(capsys, tmp_path / "finding") == (2, [])


@pytest.mark.parametrize("places", [(0, 2), (0, 1), (1, 2), (0, 1, 2), (0,)])
def test_an_honest_log_shows_nothing(places: Sequence[int]) -> None:
    for code in (
        "begin_twice",
        "after_end",
        "end_twice",
        "digest_twice",
        "version_backwards",
        "time_backwards",
        "key_unproven",
        "key_shared",
    ):
        with pytest.raises(showing.ShowsNothing):
            showing.check(leaves_file(Log(0, leaves=HONEST), code, places))


@pytest.mark.parametrize(("first", "second"), [(301, 301), (301, 302), (512, 513), (400, 700), (512, 700)])
def test_a_fork_convinces_both_verifiers(tmp_path: Path, capsys: pytest.CaptureFixture[str], first: int, second: int) -> None:
    seen, now = Log(700, "b").at(first), Log(700, "c").at(second)
    honest = Log(700, "c").at(first)
    whole = [honest.checkpoint.root] if tree.is_whole(first) else []
    path = [*whole, *now.proof(first)] if first < second else []
    (tmp_path / "fork").write_text(showing.of_fork(seen.note, now.note, path, [LOG.verifier.vkey]))
    assert both(capsys, tmp_path / "fork", "--key", LOG.verifier.vkey) == (1, [(None, "checkpoint_forked")])
    (tmp_path / "fork").write_text(showing.of_fork(honest.note, now.note, path, [LOG.verifier.vkey]))
    assert both(capsys, tmp_path / "fork") == (2, [])


def test_that_a_leaf_is_overdue_is_shown_with_the_whole_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    late = leaf("begin", "z", 1, 3 * HOUR)
    log = Log(0, leaves=[leaf("begin", "a", 1), late])
    (tmp_path / "finding").write_text(leaves_file(log, "leaf_overdue", [1], [receipt("a", 7, 0)]))
    expected = (1, [(7, "leaf_overdue")])
    assert both(capsys, tmp_path / "finding") == expected
    verify.main([str(tmp_path / "finding")])
    assert "not checked: that no leaf of the log has version 7 or a later one" in capsys.readouterr().out
    log.write(tmp_path / "log")
    assert both(capsys, tmp_path / "finding", "--log", tmp_path / "log") == expected
    verify.main([str(tmp_path / "finding"), "--log", str(tmp_path / "log")])
    assert "not checked: that no leaf" not in capsys.readouterr().out
    there = Log(0, leaves=[leaf("begin", "a", 1), leaf("hour", "a", 8, HOUR), late])
    (tmp_path / "finding").write_text(leaves_file(there, "leaf_overdue", [2], [receipt("a", 7, 0)]))
    there.write(tmp_path / "log")
    assert both(capsys, tmp_path / "finding", "--log", tmp_path / "log") == (2, [])
    (tmp_path / "finding").write_text(leaves_file(log, "leaf_overdue", [1], [receipt("a", 7, HOUR)]))
    assert both(capsys, tmp_path / "finding") == (2, []), "two hours have not passed"
    (tmp_path / "finding").write_text(leaves_file(log, "leaf_overdue", [1], [receipt("a", 7, 0, OTHER)]))
    assert both(capsys, tmp_path / "finding") == (2, []), "the receipt is not signed by the server"


def test_people_are_told_what_a_monitor_has_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "finding").write_text(leaves_file(Log(0, leaves=[BEGIN, END, *AGAIN]), "begin_twice", [0, 2]))
    assert verify.main([str(tmp_path / "finding")]) == 1
    said = capsys.readouterr().out
    assert "what a monitor has found: SHOWN; no honest server does that." in said
    assert f"begin_twice: The match {MATCH} begins twice: in leaf 0 and in leaf 2." in said
    assert "not checked: whether the keys in the file are those of the server" in said
