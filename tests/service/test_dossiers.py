"""Dossiers over HTTP: who gets which, what is in it, and that it is verified; reads are recorded first, and revoked callers get no more."""

from __future__ import annotations

import json
import random
import shutil
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from events import dossier_writing, play, rebuild, recall
from events.notary import highwater, sequencing, server_log, signer
from events.notary.leaves import HOUR_MS
from events.platform import Platform
from evidence.notes import parse_vkey
from evidence.statements import parse_receipt
from record.dossiers.statements import Kept
from record.dossiers.verifying import Source, Verdict, verify
from service.api import dossiers
from tests.conftest import ALL_GAMES, Servers
from tests.evidence.drafts import Draft
from tests.service.conftest import Caller, Live, played_on
from tests.service.test_bidding import bid, hand, laid
from tests.service.test_spectators import hidden
from tests.signing import Signer, header
from tests.verify.test_verify import verify as node_verify
from tools.verify import of_signers

STAY = {"type": "add", "by": 1, "stay": True}


@pytest.fixture(autouse=True)
def _new_log(platform: Platform) -> None:
    """The store is emptied for each test; what was signed before is forgotten."""
    (platform.settings.keys_folder / highwater.FILE).unlink(missing_ok=True)


def sequenced(platform: Platform) -> None:
    """Let the log take the leaves that are due."""
    while sequencing.sequence(platform).added:
        pass


def path_of(match: str, viewer: str = "") -> str:
    return f"/v1/matches/{match}/dossier" + (f"?viewer={viewer}" if viewer else "")


def file_of(caller: Caller, match: str, viewer: str = "") -> bytes:
    answer = caller.get(path_of(match, viewer))
    assert (answer.status_code, answer.mimetype) == (200, "application/x-ndjson"), answer.text
    return answer.data


def test_a_dossier_comes_as_plain_text_if_the_caller_prefers_that(platform: Platform, anybody: Caller, tally: str) -> None:
    answer = anybody.get(path_of(tally), Accept="text/plain")
    assert (answer.status_code, answer.mimetype) == (200, "text/plain")
    told, usual = (json.loads(data.splitlines()[0]) for data in (answer.data, file_of(anybody, tally)))
    assert {**told, "at": 0} == {**usual, "at": 0}


def verdicts(platform: Platform, *files: bytes) -> list[Verdict]:
    keys = tuple(map(parse_vkey, platform.signer.vkeys()))
    sources = [Source(f"file {place}", lambda file=file: file.splitlines(keepends=True)) for place, file in enumerate(files)]  # type: ignore[misc]
    return verify(sources, ALL_GAMES, Kept(keys))


def holds(platform: Platform, *files: bytes) -> bool:
    found = [finding for verdict in verdicts(platform, *files) for finding in verdict.findings]
    assert not found
    return True


def test_everybody_gets_what_they_may_see_and_all_of_it_when_the_match_is_over(
    platform: Platform, ada: Caller, ben: Caller, anybody: Caller, referee: Caller, tally: str
) -> None:
    ada.act(tally, [STAY, {"type": "draw"}])
    files = {name: file_of(caller, tally) for name, caller in (("one", ada), ("two", ben), ("spectator", anybody), ("all", referee))}
    assert {name: Draft.read(file).first["viewer"] for name, file in files.items()} == {name: name for name in files}
    assert holds(platform, *files.values())
    for name, file in files.items():
        first = Draft.read(file).first
        assert (first["secret"], first["blind"] is None) == (None, name != "all")
    assert ada.act(tally, {"type": "resign"}).status_code == 200
    over = file_of(anybody, tally)
    assert Draft.read(over).first["viewer"] == "all"
    assert Draft.read(over).first["secret"]
    assert holds(platform, *files.values(), over)
    assert Draft.read(file_of(anybody, tally, "two")).first["viewer"] == "two"


@pytest.mark.parametrize(
    ("name", "viewer", "status", "code"),
    [
        ("ada", "two", 403, "hidden_view"),
        ("ada", "all", 403, "hidden_view"),
        ("anybody", "all", 403, "hidden_view"),
        ("anybody", "one", 403, "hidden_view"),
        ("referee", "three", 404, "no_such_seat"),
        ("referee", "auditor", 404, "no_such_seat"),
        ("referee", "?", 400, "bad_query"),
    ],
)
def test_others_are_refused(request: pytest.FixtureRequest, tally: str, name: str, viewer: str, status: int, code: str) -> None:
    answer = request.getfixturevalue(name).get(path_of(tally, viewer))
    assert (answer.status_code, answer.json["code"]) == (status, code)


def test_a_match_that_does_not_exist_has_none(anybody: Caller) -> None:
    assert anybody.get(path_of("m" + "a" * 16)).json["code"] == "no_such_match"


def test_a_referee_who_plays_gets_what_the_seat_sees(platform: Platform, join: Callable[..., Caller], ada: Caller) -> None:
    rex = join("Rex", "referee")
    match = rex.post("/v1/matches", {"game": "tally", "seats": {"one": "me", "two": "open"}, "options": {}}).json["id"]
    ada.post(f"/v1/matches/{match}/seats/two")
    assert Draft.read(file_of(rex, match)).first["viewer"] == "one"
    assert rex.get(path_of(match, "all")).json["code"] == "hidden_view"


def test_the_read_of_staff_is_recorded_first_and_is_in_the_file(platform: Platform, referee: Caller, anybody: Caller, tally: str) -> None:
    (line,) = Draft.read(file_of(referee, tally)).of("read")
    assert f"\n{referee.id}\ndossier\n" in line["note"]
    assert line["count"] == 1
    assert Draft.read(file_of(anybody, tally)).of("read") == [line]


def test_while_a_seat_is_open_nobody_gets_the_key_of_the_salts(platform: Platform, ada: Caller, referee: Caller, anybody: Caller) -> None:
    match = ada.post("/v1/matches", {"game": "tally", "seats": {"one": "me", "two": "open"}, "options": {}}).json["id"]
    files = [file_of(caller, match) for caller in (referee, ada, anybody)]
    assert [Draft.read(file).first["blind"] for file in files] == [None] * 3
    whole, *redacted = verdicts(platform, *files)
    assert not whole.findings
    assert any("a seat was open" in sentence for sentence in whole.unchecked)
    assert not any(verdict.findings for verdict in redacted)


def test_head_shows_nothing_and_is_no_read(platform: Platform, referee: Caller, tally: str) -> None:
    answer = referee.ask("HEAD", path_of(tally))
    assert (answer.status_code, answer.data, answer.mimetype) == (200, b"", "application/x-ndjson")
    assert answer.headers["Content-Disposition"] == f'attachment; filename="{tally}.ndjson"'
    assert (answer.headers["Cache-Control"], answer.headers["Vary"]) == ("private, no-cache", "Authorization, Accept")
    assert not platform.sidelog.reads(tally)


def test_refused_actions_are_for_their_seat_and_for_all_in_the_whole_one(
    platform: Platform, ada: Caller, ben: Caller, anybody: Caller, referee: Caller, tally: str
) -> None:
    assert ben.act(tally, STAY).status_code == 422
    platform.sidelog.flush()
    (line,) = Draft.read(file_of(ben, tally)).of("refused")
    assert (line["seat"], line["player"], line["action"], line["code"]) == ("two", ben.id, STAY, "not_your_turn")
    assert Draft.read(file_of(referee, tally)).of("refused") == [line]
    assert not Draft.read(file_of(ada, tally)).of("refused")
    assert not Draft.read(file_of(anybody, tally)).of("refused")
    assert holds(platform, *(file_of(caller, tally) for caller in (ada, ben, referee, anybody)))


def test_the_leaves_of_the_log_are_in_the_file(platform: Platform, ada: Caller, anybody: Caller, tally: str) -> None:
    ada.act(tally, {"type": "resign"})
    sequenced(platform)
    file = file_of(anybody, tally)
    assert [line["leaf"]["kind"] for line in Draft.read(file).of("leaf")] == ["begin", "end"]
    (verdict,) = verdicts(platform, file)
    assert (verdict.findings, verdict.checked["leaves"]) == ([], 2)


def test_a_dossier_has_the_leaves_above_its_last_version_too(
    platform: Platform, ada: Caller, anybody: Caller, tally: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody who serves the match as it was before its end cannot leave out that the log has the end."""
    before = recall.position(platform, tally)
    ada.act(tally, {"type": "resign"})
    sequenced(platform)
    cut = b"".join(dossier_writing.write(platform, before, "spectator", server_log.all_shown(platform)))
    assert [line["leaf"]["kind"] for line in Draft.read(cut).of("leaf")] == ["begin", "end"]
    (verdict,) = verdicts(platform, cut)
    assert [(finding.version, finding.code) for finding in verdict.findings] == [(before.version + 1, "truncated")]
    (tmp_path / "cut").write_bytes(cut)
    done = node_verify("--json", tmp_path / "cut")
    assert [(each["version"], each["code"]) for each in json.loads(done.stdout)["findings"]] == [(before.version + 1, "truncated")]


def test_a_match_that_goes_on_while_its_dossier_is_written_accuses_nobody(
    platform: Platform, ada: Caller, anybody: Caller, tally: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The logs are read before the position: what they get meanwhile is not in the file."""
    sequenced(platform)
    seen = dossiers.sight.seen

    def ends_meanwhile(*given: Any) -> Any:
        monkeypatch.setattr(dossiers.sight, "seen", seen)
        position = seen(*given)
        assert ada.act(tally, {"type": "resign"}).status_code == 200
        sequenced(platform)
        return position

    monkeypatch.setattr(dossiers.sight, "seen", ends_meanwhile)
    file = file_of(anybody, tally, "spectator")
    assert [line["leaf"]["kind"] for line in Draft.read(file).of("leaf")] == ["begin"]
    assert Draft.read(file).last < recall.position(platform, tally).version
    assert holds(platform, file)


def test_of_a_hidden_match_strangers_get_what_everybody_may_see(
    platform: Platform, ada: Caller, ben: Caller, cleo: Caller, anybody: Caller, referee: Caller
) -> None:
    match = hidden(cleo, ada, ben, "none")
    played_on(platform, match, random.Random(3), 9)
    sequenced(platform)
    files = [file_of(caller, match) for caller in (anybody, ada, referee)]
    last = recall.position(platform, match)
    assert [Draft.read(file).last for file in files] == [last.public_version, last.version, last.version]
    assert last.public_version < last.version
    assert not Draft.read(files[0]).of("read")
    assert holds(platform, *files)


def test_a_file_that_ends_where_strangers_may_see_is_not_cut(
    platform: Platform, ada: Caller, ben: Caller, cleo: Caller, anybody: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A receipt of a later version says nothing against it. It does against that of a seat."""
    match = hidden(cleo, ada, ben, "none")
    played_on(platform, match, random.Random(3), 9)
    receipt = ada.get(f"/v1/matches/{match}/receipts/{recall.position(platform, match).version}").json["receipt"]
    later = platform.clock.now() + HOUR_MS
    monkeypatch.setattr(type(platform.clock), "now", lambda clock: later)
    stranger, seat = file_of(anybody, match), file_of(ada, match)
    assert holds(platform, stranger, seat)
    (tmp_path / "receipt").write_text(receipt)
    (tmp_path / "stranger").write_bytes(stranger)
    done = node_verify("--json", f"--receipt={tmp_path / 'receipt'}", tmp_path / "stranger")
    assert (done.returncode, json.loads(done.stdout)["findings"]) == (0, [])


def test_reads_of_a_hidden_match_are_not_told_to_strangers(
    platform: Platform, ada: Caller, ben: Caller, cleo: Caller, anybody: Caller, referee: Caller
) -> None:
    """Neither how often staff has looked, nor when: who looks again has something new to look at."""
    match = hidden(cleo, ada, ben, "none")
    assert referee.get(f"/v1/matches/{match}/state?viewer=one").status_code == 200
    before = Draft.read(file_of(anybody, match))
    played_on(platform, match, random.Random(3), 9)
    assert referee.get(f"/v1/matches/{match}/state?viewer=one").status_code == 200
    after = Draft.read(file_of(anybody, match))
    assert before.of("read") == after.of("read") == []
    assert Draft.read(file_of(ada, match)).of("read")[0]["count"] == 2
    assert ada.act(match, {"type": "resign"}).status_code == 200
    assert Draft.read(file_of(anybody, match, "spectator")).of("read")[0]["count"] == 2


def test_who_may_not_see_it_any_more_gets_no_more(
    platform: Platform, ada: Caller, referee: Caller, admin: Caller, tally: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dossier_writing, "PAGE", 2)
    for _ in range(6):
        played_on(platform, tally, random.Random(1), 1)
    may = dossiers._still_may
    asked: list[bool] = []

    def loses_the_role(*given: Any) -> bool:
        asked.append(may(*given))
        if len(asked) == 2:
            assert admin.ask("PATCH", f"/v1/players/{referee.id}", {"role": "player"}).status_code == 200
        return asked[-1]

    monkeypatch.setattr(dossiers, "_still_may", loses_the_role)
    file = file_of(referee, tally)
    assert asked == [True, True, False]
    (verdict,) = verdicts(platform, file)
    assert "truncated" in {finding.code for finding in verdict.findings}
    assert Draft.read(file).last < recall.position(platform, tally).version


def test_it_counts_as_an_audit_and_takes_a_place(
    platform: Platform, ada: Caller, tally: str, app: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[object] = []
    monkeypatch.setattr(dossiers, "count_audit", lambda *given: counted.append(given))
    taken: list[int] = []
    write = dossier_writing.write

    def watched(*given: Any) -> Iterator[bytes]:
        for chunk in write(*given):
            taken.append(places().taken)
            yield chunk

    def places() -> Any:
        return app.wsgi_app._answers

    monkeypatch.setattr(dossiers, "write", watched)
    file_of(ada, tally)
    assert len(counted) == 1
    assert set(taken) == {1}
    assert places().taken == 0


def long(platform: Platform, player: str, versions: int) -> str:
    """Create a match with many versions. Return its id."""
    match = play.create(platform, player, "tally", {"one": "me", "two": "me"}, {"target": 1_000_000}).match
    play.play(platform, match, "system", [{"type": "advance"}])
    for _ in range(versions // 50):
        play.play(platform, match, "one", [STAY] * 50)
    return match


def test_a_server_sends_it_as_it_is_read_and_lets_a_client_go(live: Live, platform: Platform, ada: Caller) -> None:
    match = long(platform, ada.id, 1000)
    address = live.url + path_of(match)
    with requests.get(address, stream=True, timeout=20) as answer:
        assert (answer.status_code, answer.headers.get("Content-Length")) == (200, None)
        assert next(answer.iter_content(100))
    answer = requests.get(address, timeout=20)
    assert Draft.read(answer.content).last == recall.position(platform, match).version > 1000
    assert holds(platform, answer.content)


def test_a_long_match_is_never_held_in_memory(platform: Platform, ada: Caller) -> None:
    match = long(platform, ada.id, 4000)
    position = recall.position(platform, match)
    assert position.version > 4000
    for _ in range(3):  # threads of other tests may allocate memory meanwhile
        largest = size = 0
        tracemalloc.start()
        for chunk in dossier_writing.write(platform, position, "all", []):
            largest, size = max(largest, len(chunk)), size + len(chunk)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        if peak < size / 2:
            break
    assert peak < size / 2
    assert largest < size / 10


@pytest.fixture
def renamed(platform: Platform, tmp_path: Path) -> Iterator[Callable[[str], None]]:
    """Give the server another name, and its own again after the test."""
    folder, kept = platform.settings.keys_folder, tmp_path / "keys"
    shutil.copytree(folder, kept)

    def rename(name: str) -> None:
        signer.rotate(folder, name)
        platform.signer._looked = 0.0
        rebuild.rebuild(platform)

    yield rename
    shutil.rmtree(folder)
    shutil.copytree(kept, folder)
    platform.signer._looked = 0.0


def test_a_server_that_takes_another_name_keeps_the_leaves_of_its_log(
    platform: Platform, ada: Caller, anybody: Caller, tally: str, tmp_path: Path, renamed: Callable[[str], None]
) -> None:
    sequenced(platform)
    before = platform.signer.name
    renamed("another.example")
    ada.act(tally, {"type": "resign"})
    sequenced(platform)
    file = file_of(anybody, tally)
    origins = [json.loads(line)["proof"].partition("\n\n")[2].partition("\n")[0] for line in file.splitlines() if b'"line":"leaf"' in line]
    assert (origins[0], origins[-1]) == (before, "another.example")
    assert holds(platform, file)
    (tmp_path / "file").write_bytes(file)
    done = node_verify("--json", *(f"--key={vkey}" for vkey in platform.signer.vkeys()), tmp_path / "file")
    assert (done.returncode, json.loads(done.stdout)["findings"]) == (0, [])


# ---------------------------------------------------------------- keys that signed


def acts(caller: Caller, platform: Platform, match: str, seat: str, signer: Signer, action: Any) -> None:
    """Let a player act, with a signature."""
    now = recall.position(platform, match)
    signing = signer.sign(match, seat, now.version, now.digest, [action])
    answer = caller.act(match, action, Warledger_Signature=header(signing))
    assert answer.status_code == 200, answer.json


def keys_in(file: bytes) -> dict[tuple[str, str], list[str]]:
    """Return the keys that have lines, by player and key, with the kinds of their leaves."""
    lines = Draft.read(file).of("signing_key")
    return {(line["player"], line["key"]): [leaf["leaf"]["kind"] for leaf in line["leaves"]] for line in lines}


def test_a_dossier_has_the_keys_that_signed_with_their_leaves(
    platform: Platform, ada: Caller, ben: Caller, anybody: Caller, tally: str, tmp_path: Path
) -> None:
    """A key of both, another one within the match, one that is revoked, and a player who is deleted."""
    both, second = Signer(1), Signer(2)
    for caller in (ada, ben):
        both.register(platform, caller.id)
    Signer(3).register(platform, ada.id)
    acts(ada, platform, tally, "one", both, {"type": "add", "by": 1, "stay": False})
    acts(ben, platform, tally, "two", both, {"type": "add", "by": 1, "stay": False})
    play.play(platform, tally, "system", [{"type": "advance"}])
    both.revoke(platform, ada.id)
    second.register(platform, ada.id)
    acts(ada, platform, tally, "one", second, STAY)
    ada.act(tally, {"type": "resign"})
    sequenced(platform)
    assert ben.ask("DELETE", f"/v1/players/me?confirm={ben.id}").status_code == 204
    file = file_of(anybody, tally)
    assert keys_in(file) == {
        (ada.id, both.key): ["signing_key", "signing_key_revoked"],
        (ben.id, both.key): ["signing_key"],
        (ada.id, second.key): ["signing_key"],
    }
    sequenced(platform)
    file = file_of(anybody, tally)
    assert keys_in(file)[ben.id, both.key] == ["signing_key", "signing_key_revoked"], "he was deleted"
    assert holds(platform, file)
    one, two, other = of_signers(verdicts(platform, file)[0].signers)
    assert one.startswith(f"1 move of one ({ada.id}), signed by the key that this player registered on 2")
    assert "; it was revoked on 2" in one
    assert two.startswith(f"1 move of two ({ben.id}), signed by the key that this player registered on 2")
    assert other.startswith(f"1 move of one ({ada.id}) from version 7 on, signed by another key, registered on 2")
    assert other.endswith(", after the match began")
    assert not any(name in file for name in (b"Ada", b"Ben", b"browser"))
    (tmp_path / "file").write_bytes(file)
    done = node_verify("--json", *(f"--key={vkey}" for vkey in platform.signer.vkeys()), tmp_path / "file")
    assert (done.returncode, json.loads(done.stdout)["findings"]) == (0, [])


def test_of_a_key_that_was_registered_just_now_the_log_says_nothing_yet(platform: Platform, ada: Caller, tally: str) -> None:
    signer = Signer(1)
    sequenced(platform)
    signer.register(platform, ada.id)
    acts(ada, platform, tally, "one", signer, STAY)
    file = file_of(ada, tally)
    assert keys_in(file) == {(ada.id, signer.key): []}
    (verdict,) = verdicts(platform, file)
    assert verdict.ok
    assert f"whether the key {signer.key} is one of {ada.id}: the log did not say so yet" in verdict.unchecked


def test_a_seat_that_is_handed_over_is_signed_by_its_players(platform: Platform, ada: Caller, cleo: Caller, tally: str) -> None:
    signer = Signer(1)
    for caller in (ada, cleo):
        signer.register(platform, caller.id)
    acts(ada, platform, tally, "one", signer, STAY)
    acts(ada, platform, tally, "one", signer, {"type": "hand_over", "player": cleo.id})
    acts(cleo, platform, tally, cleo.id, signer, {"type": "take_over", "seat": "one"})
    acts(cleo, platform, tally, "one", signer, STAY)
    sequenced(platform)
    file = file_of(cleo, tally)
    assert keys_in(file).keys() == {(ada.id, signer.key), (cleo.id, signer.key)}
    assert holds(platform, file)
    found = [(signer.player, signer.actor, signer.versions) for signer in verdicts(platform, file)[0].signers]
    assert found == [(ada.id, "one", [4, 5]), (cleo.id, cleo.id, [6]), (cleo.id, "one", [7])]


def test_a_referee_signs_as_a_player_without_a_seat(platform: Platform, ada: Caller, referee: Caller, tally: str) -> None:
    signer = Signer(1)
    signer.register(platform, referee.id)
    ada.post(f"/v1/matches/{tally}/disputes", {"version": 2, "text": "The die."})
    now = recall.position(platform, tally)
    ruling = {"verdict": "rejected", "text": "It was fair."}
    signing = signer.sign(tally, referee.id, now.version, now.digest, [{"type": "rule_dispute", "dispute": 1, "remedy": "none", **ruling}])
    assert referee.post(f"/v1/matches/{tally}/disputes/1/ruling", ruling, Warledger_Signature=header(signing)).status_code == 200
    sequenced(platform)
    file = file_of(referee, tally)
    assert keys_in(file) == {(referee.id, signer.key): ["signing_key"]}
    assert holds(platform, file)
    assert of_signers(verdicts(platform, file)[0].signers)[0].startswith(f"1 move of {referee.id}, signed by the key")


def test_a_dossier_does_not_tell_the_key_of_what_its_viewer_may_not_see(
    platform: Platform, ada: Caller, ben: Caller, cleo: Caller, anybody: Caller
) -> None:
    signer = Signer(1)
    signer.register(platform, ada.id)
    prepared, match = laid(platform, ada, ben, cleo)
    acts(ada, prepared, match, "fox", signer, bid(3, hand("fox", 1)))
    sequenced(platform)
    assert keys_in(file_of(ada, match)) == {(ada.id, signer.key): ["signing_key"]}
    for caller in (ben, cleo, anybody):
        assert keys_in(file_of(caller, match)) == {}
        assert signer.key.encode() not in file_of(caller, match)


@pytest.fixture
def held(platform: Platform, ada: Caller, ben: Caller, referee: Caller, tally: str) -> str:
    """The receipt of an action of seat one in a match in which its actions and those of seat two were refused, and staff has looked."""
    for by in (0, 11):
        assert ada.act(tally, {"type": "add", "by": by}).status_code == 422
    ben.act(tally, STAY)
    platform.sidelog.flush()
    for viewer in ("one", "two", "auditor"):
        assert referee.get(f"/v1/matches/{tally}/state?viewer={viewer}").status_code == 200
    return str(ada.act(tally, STAY).json["receipt"])


def found_with(platform: Platform, folder: Path, file: bytes, receipt: str) -> list[tuple[int | None, str]]:
    """Return what both verifiers find in a dossier, given a receipt."""
    kept = Kept(tuple(map(parse_vkey, platform.signer.vkeys())), receipts=(receipt,))
    (verdict,) = verify([Source("file", lambda: file.splitlines(keepends=True))], ALL_GAMES, kept)
    (folder / "file").write_bytes(file)
    (folder / "receipt").write_text(receipt)
    done = node_verify("--json", *(f"--key={vkey}" for vkey in platform.signer.vkeys()), f"--receipt={folder / 'receipt'}", folder / "file")
    found = [(finding.version, finding.code) for finding in verdict.findings]
    result = json.loads(done.stdout)
    assert [(each["version"], each["code"]) for each in result["findings"]] == found
    assert result["checked"]["running hashes"] == verdict.checked.get("running hashes", 0)
    return found


def test_the_receipt_of_a_seat_names_its_refused_actions_and_the_reads_of_staff(
    platform: Platform, ada: Caller, ben: Caller, anybody: Caller, referee: Caller, tally: str, held: str, tmp_path: Path
) -> None:
    receipt = parse_receipt(held.partition("\n\n")[0] + "\n")
    assert receipt.sidelog is not None
    assert (receipt.sidelog.seat, receipt.sidelog.refused.number, receipt.sidelog.reads.number) == ("one", 2, 3)
    ben.act(tally, {"type": "add", "by": 9})
    platform.sidelog.flush()
    later = parse_receipt(ada.act(tally, STAY).json["receipt"].partition("\n\n")[0] + "\n")
    assert later.sidelog == receipt.sidelog, "what is refused to others shows in nothing"
    for caller in (ada, ben, referee, anybody):
        assert found_with(platform, tmp_path, file_of(caller, tally), held) == []
    assert ada.act(tally, {"type": "resign"}).status_code == 200
    assert found_with(platform, tmp_path, file_of(anybody, tally), held) == []


def test_a_request_that_comes_again_gets_a_receipt_that_says_nothing_of_the_side_log(platform: Platform, ada: Caller, tally: str) -> None:
    """What the side log had then is not kept, and what it has now may be more than a dossier of that version has."""
    ada.act(tally, {"type": "add", "by": 11})
    platform.sidelog.flush()
    one, again = (parse_receipt(ada.act(tally, STAY, Idempotency_Key="a").json["receipt"].partition("\n\n")[0] + "\n") for _ in range(2))
    assert one.sidelog is not None
    assert again == one._replace(sidelog=None)
    alone = parse_receipt(ada.get(f"/v1/matches/{tally}/receipts/{one.version}").json["receipt"].partition("\n\n")[0] + "\n")
    assert alone == again


def test_whoever_holds_a_receipt_sees_that_the_side_log_was_emptied(
    platform: Platform, servers: Servers, ada: Caller, anybody: Caller, referee: Caller, tally: str, held: str, tmp_path: Path
) -> None:
    """The owner of the store removes refused actions, or reads, or both, and signs the dossier. A seat that acted before finds it."""
    (read,) = verdicts(platform, file_of(ada, tally))
    version, keys = read.versions, platform.store.keys.of(tally)
    kept = servers.keeper.dump(keys.reads)
    servers.keeper.delete(keys.refusals)
    assert found_with(platform, tmp_path, file_of(ada, tally), held) == [], "as after thirty days"
    (emptied,) = verdicts(platform, file_of(ada, tally))
    assert "the first 2 refused actions of one: the file says that they are no longer kept" in emptied.unchecked
    servers.keeper.delete(keys.reads)
    assert found_with(platform, tmp_path, file_of(ada, tally), held) == [(version, "refusals_differ"), (version, "reads_differ")]
    for _ in range(3):
        ada.act(tally, {"type": "add", "by": 12})
    platform.sidelog.flush()
    assert found_with(platform, tmp_path, file_of(ada, tally), held)[0] == (version, "refusals_differ"), "others in their place"
    assert not holds_without(platform, file_of(anybody, tally)), "nobody else finds anything"
    assert kept is not None
    servers.keeper.restore(keys.reads, 0, kept, replace=True)  # type: ignore[arg-type]
    gone = next(field for field in servers.keeper.hgetall(keys.reads) if field.endswith(b"view:two|count"))  # type: ignore[union-attr]
    servers.keeper.hdel(keys.reads, gone)
    assert [code for _, code in found_with(platform, tmp_path, file_of(anybody, tally), held)] == ["reads_differ"], "one reader"


def holds_without(platform: Platform, file: bytes) -> list[str]:
    """Return the codes that are found in a file without a receipt."""
    return [finding.code for verdict in verdicts(platform, file) for finding in verdict.findings]
