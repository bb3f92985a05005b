"""The golden archive: recorded matches of every game, decided again to the same digests by the rules of today."""

from __future__ import annotations

import lzma
from collections import Counter
from functools import cache
from hashlib import sha256
from pathlib import Path

import pytest

from events.archive.matches import positions_of
from events.snapshots import FORM
from events.snapshots import pack as pack_position
from evidence.notes import made_by
from games import GAMES
from record.dictionaries import newest
from record.entries import parse
from record.packing import pack, unpack
from record.positions import follow_all
from record.trail import audit_entries
from table.deeds import DEEDS
from table.facts import FACTS
from tests.archive.writing import write_archive
from tools.dictionaries import measure
from tools.records import BadRecord, Record, read, read_file

HERE = Path(__file__).parent
FILES = sorted(HERE.glob("*.xz"))
MOST_BYTES = 3_000_000
MOST_AN_ENTRY = 25  # bytes of an entry in the archive, on average over the games
POSITIONS = {  # hashes of positions of FORM
    "war": "54a99957aea3d591",
    "war_of_the_worlds": "5e3788ab96f829a3",
    "war_of_civilizations": "ba209b6d29715d1d",
}
NEVER = {"rematch"}  # it is no entry of the match that is over
NOT_YET = {  # what comes with two matches at once, of which one goes on in the other
    *("continue_match", "begin_continuation", "open_record", "open_origin"),
    *("match_continued", "continuation_begun", "record_opened", "origin_opened"),
}


@cache
def archive() -> list[Record]:
    """Return every match of the archive."""
    return list(read(FILES))


def game_of(record: Record) -> str:
    """Return the game of a match."""
    game: str = parse(record.raws[0]).events[0]["game"]
    return game


def test_the_archive_is_small_and_has_every_kind_of_table_action_and_setting() -> None:
    games = Counter(map(game_of, archive()))
    assert sum(games.values()) >= 300
    assert all(games[game] >= 100 for game in GAMES)
    assert sum(file.stat().st_size for file in FILES) <= MOST_BYTES
    assert len({record.match for record in archive()}) == len(archive())
    entries = [parse(raw) for record in archive() for raw in record.raws]
    firsts = [entry.action for entry in entries if entry.version == 1]
    assert set(DEEDS) - {entry.action["type"] for entry in entries} <= NEVER | NOT_YET
    events = {event["type"] for entry in entries for event in entry.events}
    assert set(FACTS) - events <= NOT_YET
    assert {action.get("clock", {"kind": "none"})["kind"] for action in firsts} == {"none", "per_action", "bank", "days"}
    assert {action["time_out"]["policy"] for action in firsts if "time_out" in action} == {"forfeit", "substitute", "skip", "wait"}
    assert {str(action.get("spectators", "all")) for action in firsts} == {"all", "none", "{'delay': 3}"}
    assert {len(action["seats"]) for action in firsts} == {2, 3, 4, 5, 6}
    assert any("order" in action for action in firsts)
    assert any("code" in action for action in firsts)
    assert {action["game"] for action in firsts if action.get("signed") == "required" and "game" in action} == set(GAMES)
    assert len([entry for entry in entries if entry.signed is not None]) >= 100
    reasons = {event["reason"] for entry in entries for event in entry.events if event["type"] == "match_ended"}
    assert reasons >= {"resigned", "draw", "void", "round_limit"}


@pytest.mark.parametrize("every", [6, pytest.param(1, marks=pytest.mark.soak)])
@pytest.mark.parametrize("game", GAMES)
def test_matches_are_decided_again_to_the_same_digests(game: str, every: int) -> None:
    """A failure means that the rules have changed: pin the game before (`./run pin`), raise its revision, and record more matches."""
    mine = [record for record in archive() if game_of(record) == game][::every]
    reports = [audit_entries(GAMES, record.raws, record.secret, verifies=made_by) for record in mine]
    assert [(report.match, report.findings[:3]) for report in reports if report.findings] == []
    here = {revision for revision in range(1, GAMES[game].revision + 1) if GAMES[game].of_revision(revision) is not None}
    assert [report.match for report in reports if report.replayed_only and set(report.revisions) <= here] == []
    assert [report.digest for report in reports] == [parse(record.raws[-1]).digest for record in mine]


@pytest.mark.parametrize("game", GAMES)
def test_the_newest_facts_fold_matches_of_every_revision(game: str) -> None:
    hashed = sha256(b"%d" % FORM)
    for record in archive()[:: max(1, len(archive()) // 30)]:
        if game_of(record) == game:
            entries = list(map(parse, record.raws))
            position = follow_all(GAMES[game], None, entries)
            assert position is not None
            assert (position.version, position.digest) == (len(entries), entries[-1].digest)
            hashed.update(pack_position(position))
    assert hashed.hexdigest()[:16] == POSITIONS[game], (
        "The same entries give other positions. Raise FORM (events/snapshots.py), so that nobody reads those that archived matches have, "
        "and write the new hash here. If the golden archive is new, write the hash alone."
    )


def test_what_is_archived_is_read_as_it_was(tmp_path: Path) -> None:
    records = [*archive()[:2], archive()[-1]]
    with (tmp_path / "few.xz").open("wb") as file:
        assert write_archive(file, records) == 3
    assert list(read([tmp_path])) == records
    content = lzma.decompress((tmp_path / "few.xz").read_bytes())
    assert content.startswith(b'{"archive":1}\n')
    for damaged in (content.replace(b'"at":', b'"at":1', 1), content[:-400], b'{"archive":2}\n' + content[14:], b"", content[:-2]):
        (tmp_path / "few.xz").write_bytes(lzma.compress(damaged))
        with pytest.raises(BadRecord):
            list(read_file(tmp_path / "few.xz"))
    (tmp_path / "few.xz").write_bytes(lzma.compress(content)[:-50])
    with pytest.raises(BadRecord):
        list(read_file(tmp_path / "few.xz"))


def test_what_does_not_follow_from_its_secret_is_not_archived(tmp_path: Path) -> None:
    record = archive()[0]
    forged = [raw.replace(b'"actor":"system"', b'"actor":"sYstem"') for raw in record.raws]
    for wrong in (record._replace(secret=None), record._replace(secret="00" * 32), record._replace(raws=forged), record._replace(raws=[])):
        with (tmp_path / "wrong.xz").open("wb") as file, pytest.raises(BadRecord):
            write_archive(file, [wrong])


def test_packed_matches_are_small_and_unpacked_as_they_were() -> None:
    """Of each game some matches that trained no dictionary. `./run soak` measures them all."""
    found = []
    for game in GAMES:
        mine = [record for record in archive() if game_of(record) == game][1::40]
        for record in mine:
            positions = list(positions_of(GAMES, record.raws))
            packed = pack(record.match, record.raws, record.secret or "", positions=positions, form=FORM)
            assert unpack(packed).raws == record.raws
            if not any(b'"signed":{' in raw for raw in record.raws):
                found.append((len(packed), len(record.raws)))
    assert sum(size for size, _ in found) <= MOST_AN_ENTRY * sum(entries for _, entries in found)


@pytest.mark.soak
def test_packed_matches_take_few_bytes_an_entry() -> None:
    """Whole objects, with their headers. A signature has 64 bytes and a key 32 that nothing compresses."""
    found = {(each.game, each.played): each.packed for each in measure("match", newest("match"), archive())}
    for played, most in {"unsigned": MOST_AN_ENTRY, "signed": 75, "in a service": 35}.items():
        assert sum(found[game, played] for game in GAMES) / len(GAMES) <= most, played
