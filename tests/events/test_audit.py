"""The audit: no findings in a match as it was played, and the version of anything that was changed."""

from __future__ import annotations

import dataclasses
import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from events import accounts, play, recall, standings
from events.audit import audit, record_header
from events.errors import NoMatch, SecretLost
from events.keeping import losses
from events.platform import Platform
from events.rebuild import Rebuilt, rebuild
from events.standings import OF_PLAYER
from events.store.packed import pack, pack_snapshot, pack_standing, tag_of, unpack, unpack_snapshot, unpack_standing
from events.store.projections import Listed
from events.store.signing import signed, signing_key, verified
from games.chance import Drawn
from games.kernel import SYSTEM, Game, no
from players import choose
from record.entries import START, Entry, blind_key, canonical, link, parse
from record.rules import content_hash
from record.trail import Finding, Report, as_json, audit_entries
from table.results import RESULTS
from tests.conftest import ALL_GAMES, Servers, take_seat
from tests.tally import TALLY

Begin = Callable[..., str]
Tamper = Callable[[int, Any], None]


@pytest.fixture
def match(platform: Platform, ann: str, bob: str) -> str:
    """A match that is over: version 5 is a die, 6 a choice, the last one ends it."""
    match = play.create(platform, ann, "tally", {"one": "me", "two": "open"}, {"target": 12}).match
    take_seat(platform, match, bob, "two", "c0ffee")
    play.play(platform, match, SYSTEM, [{"type": "advance"}])
    play.play(platform, match, "one", [{"type": "add", "by": 1, "stay": True}], request="r")
    play.play(platform, match, "one", [{"type": "roll"}])
    while recall.position(platform, match).to_act:
        actor = recall.position(platform, match).to_act[0]
        play.play(platform, match, actor, [{"type": "advance"} if actor == SYSTEM else {"type": "add", "by": 3, "stay": True}])
    assert audit(platform, match).ok
    return match


@pytest.fixture
def rewrite(platform: Platform, servers: Servers, match: str) -> Callable[[Callable[[int, bytes], Iterator[tuple[str, bytes]]]], None]:
    """Replace the stream, as somebody could who controls the machine."""

    def rewritten(change: Callable[[int, bytes], Iterator[tuple[str, bytes]]]) -> None:
        stream = platform.store.keys.of(match).stream
        items = [fields[b"e"] for _, fields in servers.keeper.xrange(stream)]
        newest = standings.turn(recall.position(platform, match))
        servers.keeper.delete(stream)
        for number, item in enumerate(items, 1):
            stored, turn = unpack(item, match, number), None
            if number == len(items):
                turn = newest
            for id, raw in change(number, stored.raw):
                version = int(id.partition("-")[0])
                servers.keeper.xadd(stream, {"e": pack(raw, match, version, tag=stored.tag, turn=turn)}, id=id)

    return rewritten


@pytest.fixture
def tamper(platform: Platform, match: str, rewrite: Any) -> Callable[..., None]:
    """Change one entry. `relinked`: compute its digest anew; `all_relinked`: also the digests of all entries after it."""
    blind = blind_of(platform, match)

    def tampered(version: int, change: Callable[[dict[str, Any]], None], relinked: bool = False, all_relinked: bool = False) -> None:
        digests = [START]

        def each(number: int, raw: bytes) -> Iterator[tuple[str, bytes]]:
            fields = orjson.loads(raw)
            if number == version:
                change(fields)
            raw = canonical(fields)
            if (number == version and relinked) or all_relinked:
                raw = link(digests[-1], parse(raw), blind)[1]
            digests.append(fields.get("digest") if not all_relinked else parse(raw).digest)
            yield f"{number}-0", raw

        rewrite(each)

    return tampered


def blind_of(platform: Platform, match: str) -> bytes:
    """Return the key of the salts of a match."""
    secret = platform.store.log.load(match, 1).secret
    assert secret is not None
    return blind_key(bytes.fromhex(secret))


def record(platform: Platform, match: str) -> list[bytes]:
    """Return every entry of a match as it is stored."""
    return list(platform.store.log.read_all(match))


DETAILS = {
    "empty": "There is no entry.",
    "gap": "The entries from version [0-9]+ to [0-9]+ are missing.",
    "wrong_id": "An item has the id [0-9]+-[0-9]+, which is not a version. It is skipped.",
    "unreadable": "The bytes are not an entry: .+[^.].",
    "wrong_match": "The entry belongs to the match m[a-z2-7]{16}.",
    "wrong_version": "The entry says that it is version ([0-9]+|True).",
    "time_backwards": "The entry is older than the one before it, or than the start of its actor's clock.",
    "request_twice": "The request was carried out before, as version [0-9]+.",
    "level_differs": "The decision is one of the level [a-z]+, and (no artificial player|[a-z]+) plays the seat.",
    "digest_broken": "The digest does not follow from the entry before and this one.",
    "not_canonical": "The bytes are not the canonical JSON of the entry.|"
    "The entry has a boolean for a number, or a request or a hash of the rules of another shape.",
    "not_legal": "The rules refuse the action: [a-z_]+.",
    "action_differs": "The action is not stored in the form that the rules give it.",
    "events_differ": "Event [0-9]+, [a-z_]+, does not follow from the rules and the dice of this version.",
    "secret_differs": "The entry that ends the match must reveal its secret, and no other entry may.",
    "rules_differ": "The entry names revision [0-9]+, but the match began with [0-9]+.|"
    "The match begins with revision [0-9]+, but the rules here are at [0-9]+.",
    "move_signature_broken": "The signature is not one over this action, its actor and the history before it.",
    "seen_not_before": "The signature is over version [0-9]+, which was not before the request.",
    "move_list_broken": "The signed list of actions does not go on after this entry.|"
    "The actions before this one in its signed list are not before it.",
    "move_stale": "The signature is over version [0-9]+, but its actor could see what came between.",
    "commitment_broken": "The secret is not the one whose hash was published when the match was created.",
    "origin_differs": "The match does not begin from the position that its origin has at that version.",
    "not_replayable": "The entry cannot be replayed: [A-Za-z]+: .+.",
    "secret_missing": "The secret of the match is not in the store.",
    "entries_lost": "The entry [0-9]+ was .+.|The entries [0-9]+ to [0-9]+ were .+.",
    "foreign_field": "The item has other fields than an entry, or a header that is not the entry's.",
    "wrong_partition": "{p[0-9]+}:s:m[a-z2-7]{16} is in another partition than the match. Nobody reads this log.",
    "snapshot_unsigned": "The snapshot of this version has no valid signature, so it is not used. Rebuild it.",
    "snapshot_differs": "The snapshot of this version differs from the log. Rebuild it.|"
    "There is a snapshot of a version that the match does not have. Rebuild it.",
    "standing_differs": "The standing stored for lists differs from the log. Rebuild it.",
    "index_differs": "The match is in the wrong lists, or has the wrong time in them. Rebuild it.",
    "due_differs": "The due index differs from the log for this match. Rebuild it.",
    "request_differs": "The answer stored for a request id differs from the log. Rebuild it.",
    "leaf_differs": "The leaf [0-9]+ of the server's log does not match the entry of this version.",
    "leaf_missing": "The server's log lacks a leaf of this match, and none is scheduled. Rebuild it.",
}


def codes(report: Report) -> list[tuple[int, str]]:
    """Return the version and the code of each finding. Each has the sentence of its code."""
    for finding in report.findings:
        assert re.fullmatch(DETAILS[finding.code], finding.detail), finding
    return [(finding.version, finding.code) for finding in report.findings]


def test_every_code_of_a_finding_is_in_the_documentation() -> None:
    text = (Path(__file__).parents[2] / "docs" / "auditing.md").read_text(encoding="utf-8").split("| `empty` |")[1]
    section = "| `empty` |" + text.split("\n\n")[0]
    documented = {code for row in re.findall(r"^\| (`.*?`) \|", section, re.MULTILINE) for code in re.findall(r"`(\w+)`", row)}
    assert documented == set(DETAILS)


def test_a_match_as_it_was_played_has_no_findings(platform: Platform, match: str) -> None:
    report = audit(platform, match)
    position = recall.position(platform, match)
    rules = content_hash(TALLY)
    assert report == Report(
        ok=True,
        match=match,
        game="tally",
        versions=position.version,
        digest=position.digest,
        chain="verified",
        commitment="kept",
        published=position.table["commitment"],
        dice="verified",
        revisions=[1],
        rules=[rules],
        rules_here=rules,
        replayed_only=0,
        origin=None,
        signed=0,
        signatures=None,
        findings=[],
    )
    assert json.loads(json.dumps(as_json(report)))["revisions"] == [1]


def test_a_match_that_goes_on_is_audited_without_revealing_its_secret(platform: Platform, begin: Begin) -> None:
    match = begin()
    report = audit(platform, match)
    secret = platform.store.log.load(match, 1).secret
    assert secret is not None
    assert (report.ok, report.chain, report.commitment, report.dice) == (True, "verified", "kept", "verified")
    shown = json.dumps(as_json(report))
    assert secret not in shown
    assert blind_of(platform, match).hex() not in shown


def test_a_match_that_does_not_exist_cannot_be_audited(platform: Platform) -> None:
    with pytest.raises(NoMatch, match=f"^There is no match m{'a' * 16}.$"):
        audit(platform, "m" + "a" * 16)


@pytest.mark.parametrize(
    ("version", "change", "expected"),
    [
        (1, lambda entry: entry["events"][0].update(commitment="00" * 32), "digest_broken commitment_broken"),
        (1, lambda entry: entry["action"].update(game="war"), "action_differs digest_broken"),
        (1, lambda entry: entry["events"][0].update(game="chess"), "not_replayable digest_broken"),
        (1, lambda entry: entry["events"][0]["roster"].update(two={"ai": "random"}), "events_differ digest_broken"),
        (1, lambda entry: entry["events"][0].update(creator="p" + "z" * 16), "events_differ digest_broken"),
        (1, lambda entry: entry["events"][1]["document"]["options"].update(target=9), "events_differ digest_broken"),
        (1, lambda entry: entry["events"][1]["document"]["counts"].update(one=1), "events_differ digest_broken"),
        (1, lambda entry: entry["events"][1]["document"]["seats"].reverse(), "events_differ digest_broken"),
        (1, lambda entry: entry["action"].update(order=["two", "one"]), "events_differ digest_broken"),
        (1, lambda entry: entry["action"].update(order=["one", "two"]), "digest_broken"),
        (1, lambda entry: entry["action"].update(order=["one"]), "not_legal digest_broken"),
        (1, lambda entry: entry["events"][1]["document"]["seats"].pop(), "events_differ digest_broken"),
        (1, lambda entry: entry["events"].append({"type": "seats_filled"}), "events_differ digest_broken"),
        (2, lambda entry: entry["events"][0].update(player="p" + "z" * 16), "events_differ digest_broken"),
        (2, lambda entry: entry["events"][0].update(contribution="00"), "events_differ digest_broken"),
        (2, lambda entry: entry["events"].pop(), "events_differ digest_broken"),
        (2, lambda entry: entry["action"].update(seat="one"), "not_legal digest_broken"),
        (2, lambda entry: entry["action"].update(contribution="C0FFEE"), "not_legal digest_broken"),
        (3, lambda entry: entry["events"][0]["pile"].reverse(), "events_differ digest_broken"),
        (4, lambda entry: entry.update(request=None), "digest_broken request_differs"),
        (4, lambda entry: entry["request"].update(fingerprint="0" * 32), "digest_broken"),
        (4, lambda entry: entry["request"].update(id="s"), "digest_broken request_differs"),
        (4, lambda entry: entry.update(revision=2), "rules_differ digest_broken"),
        (4, lambda entry: entry.update(rules="0" * 64), "not_canonical digest_broken"),
        (4, lambda entry: entry.update(format=1), "unreadable"),
        (4, lambda entry: entry["action"].update(by=2), "events_differ digest_broken"),
        (4, lambda entry: entry["action"].update(by=7), "not_legal digest_broken"),
        (4, lambda entry: entry.update(actor="two"), "not_legal digest_broken"),
        (5, lambda entry: entry["events"][0].update(face=entry["events"][0]["face"] % 6 + 1), "events_differ digest_broken"),
        (5, lambda entry: entry["events"].pop(), "events_differ digest_broken"),
        (5, lambda entry: entry["events"].append({"type": "counted", "seat": "one", "by": 1}), "events_differ digest_broken"),
        (5, lambda entry: entry["events"].append({"type": "nonsense"}), "events_differ digest_broken not_replayable"),
        (5, lambda entry: entry.update(at=1), "time_backwards digest_broken"),
        (5, lambda entry: entry.update(at=entry["at"] + 10**8), "digest_broken"),
        (5, lambda entry: entry.update(match="m" + "b" * 16), "wrong_match digest_broken"),
        (5, lambda entry: entry.update(version=6), "wrong_version digest_broken"),
        (5, lambda entry: entry.update(digest="0" * 64), "digest_broken"),
        (5, lambda entry: entry.update(note="hello"), "not_canonical"),
        (5, lambda entry: entry.update(secret="00" * 32), "secret_differs digest_broken secret_differs"),
        (5, lambda entry: entry.update(request={"id": 5}), "not_canonical digest_broken"),
        (5, lambda entry: entry.pop("revision"), "unreadable"),
        (5, lambda entry: entry.update(events={}), "unreadable"),
        (5, lambda entry: entry.update(events=[7]), "not_replayable digest_broken"),
    ],
)
def test_a_changed_entry_is_named_by_its_version(
    platform: Platform, match: str, tamper: Callable[..., None], version: int, change: Callable[[Any], None], expected: str
) -> None:
    tamper(version, change)
    report = audit(platform, match)
    assert [code for place, code in codes(report) if place == version] == expected.split()
    assert codes(report)[0][0] == version, "there are no findings before it"
    assert as_json(report)["findings"][0] == report.findings[0]._asdict()
    assert not report.ok


@pytest.mark.parametrize(
    ("version", "change", "expected"),
    [
        (1, lambda entry: entry["action"].update(game="war"), "action_differs"),
        (3, lambda entry: entry["events"][0].update(by=2), "events_differ"),
        (3, lambda entry: entry["events"][0].update(by=True), "events_differ"),
        (3, lambda entry: entry["events"].pop(), "events_differ"),
        (3, lambda entry: entry["events"].append({"type": "counted", "seat": "one", "by": 1}), "events_differ"),
        (3, lambda entry: entry["events"][0].update(by=2) or entry.update(note=1), "events_differ not_canonical"),
        (3, lambda entry: entry.update(note="hello"), "not_canonical"),
        (3, lambda entry: entry.update(request=None), "not_canonical"),
        (2, lambda entry: entry.update(secret="00" * 32), "secret_differs"),
        (3, lambda entry: entry.update(secret="00" * 32), "secret_differs secret_differs"),
        (3, lambda entry: entry["action"].update(by=7), "not_legal"),
        (3, lambda entry: entry.update(digest="0" * 64), ""),
    ],
)
def test_without_the_secret_a_changed_entry_is_found_by_the_rules(
    platform: Platform, begin: Begin, version: int, change: Callable[[Any], None], expected: str
) -> None:
    match = begin()
    play.play(platform, match, "one", [{"type": "add", "by": 1, "stay": True}] * 2, request="r")
    lines = record(platform, match)
    fields = orjson.loads(lines[version - 1])
    change(fields)
    lines[version - 1] = canonical(fields)
    report = audit_entries(ALL_GAMES, lines)
    assert codes(report) == [(version, code) for code in expected.split()]
    assert report.chain == "undisclosed"


def test_the_reason_why_an_entry_cannot_be_replayed_is_named(platform: Platform, match: str, tamper: Callable[..., None]) -> None:
    tamper(1, lambda entry: entry["events"][0].update(game="chess"))
    assert audit(platform, match).findings[0].detail == "The entry cannot be replayed: KeyError: 'chess'."


def test_the_first_event_that_differs_is_named(platform: Platform, match: str, tamper: Callable[..., None]) -> None:
    tamper(1, lambda entry: entry["events"][1]["document"].update(round=2))
    detail = audit(platform, match).findings[0].detail
    assert detail == "Event 2, match_prepared, does not follow from the rules and the dice of this version."
    tamper(2, lambda entry: entry["events"].pop())
    found = {finding.version: finding.detail for finding in audit(platform, match).findings if finding.code == "events_differ"}
    assert found[2] == "Event 2, seats_filled, does not follow from the rules and the dice of this version."


def test_an_event_changed_with_every_digest_computed_anew_is_found_by_the_dice(
    platform: Platform, match: str, tamper: Callable[..., None]
) -> None:
    tamper(5, lambda entry: entry["events"][0].update(face=entry["events"][0]["face"] % 6 + 1), all_relinked=True)
    assert codes(audit(platform, match))[0] == (5, "events_differ")


def test_an_entry_changed_with_its_own_digest_computed_anew_breaks_the_chain_after_it(
    platform: Platform, match: str, tamper: Callable[..., None]
) -> None:
    tamper(5, lambda entry: entry.update(at=entry["at"] + 1), relinked=True)
    assert (6, "digest_broken") in codes(audit(platform, match))


def test_another_secret_than_the_published_one_is_found(platform: Platform, match: str, tamper: Callable[..., None]) -> None:
    last = recall.position(platform, match).version
    tamper(last, lambda entry: entry.update(secret="11" * 32), all_relinked=True)
    assert (last, "secret_differs") in codes(audit(platform, match))
    entries = [parse(line) for line in record(platform, match)]
    report = audit_entries(ALL_GAMES, relinked(entries, blind_key(bytes.fromhex("11" * 32))))
    assert report.commitment == "broken"
    assert codes(report)[0] == (1, "commitment_broken")
    assert (3, "events_differ") in codes(report), "the dice are not those of another secret"


def test_a_missing_secret_is_found(platform: Platform, match: str, tamper: Callable[..., None]) -> None:
    last = recall.position(platform, match).version
    tamper(last, lambda entry: entry.pop("secret"), all_relinked=True)
    assert codes(audit(platform, match))[0] == (last, "secret_differs")


def relinked(entries: list[Entry], blind: bytes) -> list[bytes]:
    """Return the entries with every digest computed anew, as a forger would who hands out a record of his own."""
    lines, digest = [], START
    for entry in entries:
        entry, line = link(digest, entry, blind)
        lines.append(line.replace(b'"revision":1,', b'"revision":true,') if entry.revision is True else line)
        digest = entry.digest
    return lines


@pytest.mark.parametrize(
    ("forge", "found"),
    [
        (lambda entries: [*entries[:4], entries[4]._replace(revision=99), *entries[5:]], (5, "rules_differ")),
        (lambda entries: [*entries[:4], entries[4]._replace(revision=0), *entries[5:]], (5, "rules_differ")),
        (lambda entries: [entry._replace(revision=0) for entry in entries], (1, "rules_differ")),
        (lambda entries: [*entries, entries[3]._replace(version=len(entries) + 1, revision=5, request=None)], (-1, "not_legal")),
        (lambda entries: [*entries[:-1], entries[-1]._replace(secret=None)], (0, "secret_differs")),
        (lambda entries: [*entries[:2], entries[2]._replace(version=True), *entries[3:]], (3, "wrong_version")),
        (lambda entries: [*entries[:2], entries[2]._replace(revision=True), *entries[3:]], (3, "not_canonical")),
        (lambda entries: [*entries[:2], entries[2]._replace(rules="r" * 64), *entries[3:]], (3, "not_canonical")),
        (lambda entries: [*entries[:3], entries[3]._replace(request={**entries[3].request, "x": 1}), *entries[4:]], (4, "not_canonical")),
        (lambda entries: [*entries[:3], entries[3]._replace(request={**entries[3].request, "id": 1}), *entries[4:]], (4, "not_canonical")),
        (lambda entries: [*entries[:3], entries[3]._replace(request={"id": "r"}), *entries[4:]], (4, "not_canonical")),
    ],
)
def test_a_record_that_was_forged_with_every_digest_computed_anew_has_findings(
    platform: Platform, match: str, forge: Callable[[list[Entry]], list[Entry]], found: tuple[int, str]
) -> None:
    entries = [parse(line) for line in record(platform, match)]
    lines = relinked(forge(entries), blind_of(platform, match))
    place = found[0] if found[0] > 0 else len(entries) - found[0]
    assert (place, found[1]) in codes(audit_entries(ALL_GAMES, lines))


def test_play_before_every_seat_is_taken_is_found(platform: Platform, match: str) -> None:
    """The dice would not depend on the contribution of the open seat."""
    created, _, began, *_ = (parse(line) for line in record(platform, match))
    report = audit_entries(ALL_GAMES, relinked([created, began._replace(version=2)], blind_of(platform, match)))
    assert (2, "not_legal") in codes(report)


def test_the_log_of_another_match_is_found(platform: Platform, match: str, servers: Servers) -> None:
    other = "m" + "b" * 16
    servers.keeper.copy(platform.store.keys.of(match).stream, platform.store.keys.of(other).stream)
    found = codes(audit(platform, other))
    assert {(1, "digest_broken"), (platform.store.log.head(match), "secret_missing")} <= set(found)


def test_entries_that_the_store_has_lost_are_found(platform: Platform, begin: Begin, tmp_path: Path) -> None:
    lost, whole = begin(), begin()
    losses.add(tmp_path, [losses.Loss(lost, 1, 3, losses.CUT, "", 0)])
    elsewhere = dataclasses.replace(platform, settings=platform.settings._replace(data=tmp_path))
    (finding,) = audit(elsewhere, lost).findings
    assert finding == (1, "entries_lost", "The entries 1 to 3 were in the damaged end of the store's file, which was cut off.")
    assert audit(elsewhere, whole).ok


def test_a_missing_entry_is_found(platform: Platform, match: str, rewrite: Any, servers: Servers) -> None:
    servers.keeper.xdel(platform.store.keys.of(match).stream, "4-0", "5-0")
    report = audit(platform, match)
    assert codes(report)[0] == (4, "gap")
    assert report.findings[0].detail == "The entries from version 4 to 5 are missing."


def test_a_missing_entry_is_found_when_later_ones_have_moved_up(platform: Platform, match: str, rewrite: Any) -> None:
    rewrite(lambda number, raw: iter([] if number == 4 else [(f"{number - (number > 4)}-0", raw)]))
    assert codes(audit(platform, match))[0][0] == 4


def test_an_item_whose_id_is_not_a_version_is_found(platform: Platform, match: str, rewrite: Any) -> None:
    rewrite(lambda number, raw: iter([(f"{number}-0", raw), *([("4-7", raw)] if number == 4 else [])]))
    assert codes(audit(platform, match))[0] == (5, "wrong_id")


def test_bytes_that_are_not_an_entry_are_found(platform: Platform, match: str, rewrite: Any) -> None:
    rewrite(lambda number, raw: iter([(f"{number}-0", b"\xff{" if number == 4 else raw)]))
    assert codes(audit(platform, match)) == [(4, "unreadable")]


def test_the_same_json_in_other_bytes_is_found(platform: Platform, match: str, rewrite: Any) -> None:
    rewrite(lambda number, raw: iter([(f"{number}-0", raw.replace(b",", b", ", 1) if number == 4 else raw)]))
    assert codes(audit(platform, match)) == [(4, "not_canonical")]


def test_a_request_that_was_carried_out_twice_is_found(platform: Platform, begin: Begin) -> None:
    match = begin()
    play.play(platform, match, "one", [{"type": "add", "by": 1, "stay": True}] * 2, request="r")
    play.play(platform, match, "one", [{"type": "add", "by": 1, "stay": True}] * 2)
    entries = [parse(line) for line in record(platform, match)]
    entries[5] = entries[5]._replace(request=entries[3].request)
    lines = relinked(entries, blind_of(platform, match))
    report = audit_entries(ALL_GAMES, lines, platform.store.log.load(match, 1).secret)
    assert codes(report) == [(6, "request_twice")]


def test_a_decision_of_a_level_that_does_not_play_the_seat_is_found(platform: Platform, match: str, tamper: Callable[..., None]) -> None:
    decision = {"budget": 0, "level": "greedy", "players": 1, "saw": "ab" * 8, "spent": 0, "weights": "cd" * 32}
    tamper(6, lambda fields: fields.update(request=decision), all_relinked=True)
    assert (6, "level_differs") in codes(audit(platform, match))


def test_a_snapshot_of_the_last_version_is_right(platform: Platform, begin: Begin) -> None:
    match = begin()
    for number in (50, 12):
        play.play(platform, match, "one", [{"type": "add", "by": 1, "stay": True}] * number)
    assert list(platform.store.projections.stored(match, Listed(set(), set())).snapshots) == ["64"]
    assert audit(platform, match).ok


def test_a_wrong_snapshot_and_a_wrong_standing_are_found(platform: Platform, begin: Begin, servers: Servers) -> None:
    match = begin()
    for _ in range(3):
        play.play(platform, match, "one", [{"type": "add", "by": 1, "stay": True}] * 30)
    keys = platform.store.keys.of(match)
    key = signing_key(platform.store.log.load(match, 1).secret or "")
    snapshot = orjson.loads(verified(key, 64, servers.keeper.hget(keys.snapshots, "64")) or b"")  # type: ignore[arg-type]
    snapshot["document"]["counts"]["one"] = 1
    servers.keeper.hset(keys.snapshots, "64", signed(key, 64, canonical(snapshot)))  # type: ignore[arg-type]
    servers.keeper.set(keys.standing, pack_standing(b"{}", 92))
    assert codes(audit(platform, match)) == [(64, "snapshot_differs"), (92, "standing_differs")]
    servers.keeper.hset(keys.snapshots, "64", signed(key, 64, b"nonsense"))  # type: ignore[arg-type]
    assert codes(audit(platform, match)) == [(64, "snapshot_differs"), (92, "standing_differs")]
    assert recall.state_at(platform, match, 70).document["counts"]["one"] == 68


def test_a_record_is_audited_without_a_store(platform: Platform, match: str) -> None:
    lines = [line + b"\n" for line in record(platform, match)]
    report = audit_entries(ALL_GAMES, lines)
    assert report == audit(platform, match)
    lines[4] = lines[4].replace(b'"face":', b'"face":1')
    assert codes(audit_entries(ALL_GAMES, lines))[0] == (5, "events_differ")
    assert {(1, "wrong_version"), (1, "not_replayable")} <= set(codes(audit_entries(ALL_GAMES, lines[1:])))
    empty = [Finding(0, "empty", DETAILS["empty"])]
    nothing = Report(False, "", "", 0, START, "undisclosed", "undisclosed", "", "undisclosed", [], [], "", 0, None, 0, None, empty)
    assert audit_entries(ALL_GAMES, []) == nothing
    assert audit_entries(ALL_GAMES, [b"x"]).digest == ""


def test_without_the_secret_what_draws_is_replayed_only(platform: Platform, begin: Begin) -> None:
    match = begin()
    play.play(platform, match, "one", [{"type": "add", "by": 1, "stay": True}, {"type": "roll"}])
    report = audit_entries(ALL_GAMES, record(platform, match))
    assert (report.ok, report.chain, report.replayed_only) == (True, "undisclosed", 2)
    assert (report.dice, report.commitment) == ("undisclosed", "undisclosed")


def test_the_key_of_the_salts_at_the_head_of_a_record_lets_its_chain_be_verified(platform: Platform, begin: Begin) -> None:
    match = begin()
    play.play(platform, match, "one", [{"type": "add", "by": 1, "stay": True}, {"type": "roll"}])
    header, lines = record_header(platform, match), record(platform, match)
    report = audit_entries(ALL_GAMES, [header, *lines])
    assert (report.ok, report.chain, report.dice, report.replayed_only) == (True, "verified", "undisclosed", 2)
    face = parse(lines[3]).events[0]["face"]
    lines[3] = lines[3].replace(b'"face":%d' % face, b'"face":%d' % (face % 6 + 1))
    assert (4, "digest_broken") in codes(audit_entries(ALL_GAMES, [header, *lines]))
    assert audit_entries(ALL_GAMES, lines).ok, "without dice and without the key, nothing can tell"
    other = record_header(platform, begin())
    assert codes(audit_entries(ALL_GAMES, [other, *lines]))[:2] == [(1, "wrong_match"), (1, "digest_broken")]
    assert (1, "unreadable") in codes(audit_entries(ALL_GAMES, [header, header, *lines])), "a record has one first line"
    open_match = play.create(platform, "ada", "tally", {"one": "me", "two": "open"}, {}).match
    header, lines = record_header(platform, open_match), record(platform, open_match)
    report = audit_entries(ALL_GAMES, [header, *lines])
    assert (report.ok, report.chain) == (True, "undisclosed"), "the key would outlive the moment at which its reader takes the seat"
    with pytest.raises(NoMatch, match=f"^There is no match m{'a' * 16}.$"):
        record_header(platform, "m" + "a" * 16)


@pytest.mark.parametrize("revision", [2, 3])
def test_a_match_that_changes_its_revision_is_found(platform: Platform, match: str, revision: int) -> None:
    """Even if both are here, and both would decide the same."""
    tally = ALL_GAMES["tally"]
    entries = [parse(line) for line in record(platform, match)]
    entries[3:] = [entry._replace(revision=revision) for entry in entries[3:]]
    games = {"tally": tally._replace(revision=3, earlier={1: tally, 2: tally._replace(revision=2)})}
    report = audit_entries(games, relinked(entries, blind_of(platform, match)))
    assert codes(report) == [(version, "rules_differ") for version in range(4, len(entries) + 1)]
    assert report.findings[0].detail == f"The entry names revision {revision}, but the match began with 1."


def test_a_match_is_decided_again_by_the_revision_it_began_with(platform: Platform, match: str) -> None:
    """Even if the newest rules would refuse every action."""
    earlier = {1: ALL_GAMES["tally"]}
    report = audit_entries({"tally": _refusing(ALL_GAMES["tally"])._replace(revision=2, earlier=earlier)}, record(platform, match))
    assert (report.ok, report.dice, report.replayed_only) == (True, "verified", 0)
    assert report.rules_here == content_hash(ALL_GAMES["tally"])
    report = audit_entries({"tally": ALL_GAMES["tally"]._replace(earlier={1: _refusing(ALL_GAMES["tally"])})}, record(platform, match))
    assert report.ok, "the newest counts if it has the revision"


def _refusing(game: Game) -> Game:
    """Return a game that refuses every action."""
    phases = {
        phase: {kind: deed._replace(refusal=lambda *_: no("too_much", "TAL-ADD-01", by=1)) for kind, deed in deeds.items()}
        for phase, deeds in game.phases.items()
    }
    return game._replace(phases=phases)


def test_a_lock_that_does_not_follow_from_the_secret_is_found_by_whoever_has_the_secret(platform: Platform, ann: str, bob: str) -> None:
    position = play.create(platform, ann, "tally", {"one": "me", "two": "open", "three": "open"}, {}, code=True)
    take = {"type": "take_seat", "seat": "two", "code": recall.code_of(platform, position)}
    play.act_at_table(platform, position.match, bob, take)
    assert audit(platform, position.match).ok
    lines, secret = record(platform, position.match), platform.store.log.load(position.match, 1).secret
    assert audit_entries(ALL_GAMES, lines).ok
    assert secret is not None
    entries = [parse(line) for line in lines[:1]]
    entries[0].events[0]["lock"] = "0" * 64
    forged = relinked(entries, blind_key(bytes.fromhex(secret)))
    assert codes(audit_entries(ALL_GAMES, forged, secret)) == [(1, "events_differ")]
    assert audit_entries(ALL_GAMES, forged).ok, "without the secret nothing can tell"


def test_entries_of_a_revision_that_is_not_here_are_replayed_only(platform: Platform, match: str) -> None:
    """Even if the rules of today would refuse them."""
    report = audit_entries({"tally": _refusing(ALL_GAMES["tally"])._replace(revision=2)}, record(platform, match))
    assert report.ok
    assert (report.dice, report.replayed_only) == ("partly", report.versions)


def test_a_secret_that_is_not_in_the_last_line_is_taken_as_it_is(platform: Platform, match: str) -> None:
    lines = record(platform, match)
    report = audit_entries(ALL_GAMES, [*lines, b"x"])
    assert codes(report) == [(len(lines) + 1, "unreadable")]
    assert report.commitment == "undisclosed"


@pytest.mark.parametrize(
    "game", [pytest.param(name, id=name, marks=pytest.mark.soak if name == "war_of_civilizations" else ()) for name in ALL_GAMES]
)
def test_a_match_of_any_game_folded_from_its_log_is_the_match_as_it_was_played(platform: Platform, ann: str, game: str) -> None:
    played = ALL_GAMES[game]
    for seed in range(1, 2):
        chance = Drawn(random.Random(seed).randrange)
        seats = dict.fromkeys(played.seats.ids[: played.seats.most if seed % 2 else played.seats.least], "me")
        position = play.create(platform, ann, game, seats, {"target": 60} if game == "tally" else {})
        while position.status == "playing" and position.version < 1500:
            actor = position.to_act[0]
            action = {"type": "advance"} if actor == SYSTEM else choose(played, "random", position.document, actor, chance)
            position = play.play(platform, position.match, actor, [action]).position
            if position.version % 50 == 0:
                platform.cache.drop(position.match)
        platform.cache.drop(position.match)
        assert recall.position(platform, position.match) == position
        assert audit(platform, position.match).ok


# ---------------------------------------------------------------- what is stored beside the log


def test_the_deleted_secret_of_a_match_that_is_over_is_found_and_the_revealed_one_is_used(
    platform: Platform, another_platform: Callable[[], Platform], match: str, servers: Servers
) -> None:
    last = recall.position(platform, match).version
    servers.keeper.delete(platform.store.keys.of(match).secret)
    report = audit(platform, match)
    assert codes(report) == [(last, "secret_missing")]
    assert (report.chain, report.commitment, report.dice) == ("verified", "kept", "verified")
    assert recall.position(another_platform(), match).version == last
    assert orjson.loads(record_header(platform, match))["blind"] is not None


def test_dice_of_another_secret_that_was_revealed_are_found_even_if_the_secret_was_deleted(
    platform: Platform, another_platform: Callable[[], Platform], match: str, rewrite: Any, servers: Servers
) -> None:
    """Every digest follows from the forged secret: only the commitment shows that it is not the one of this match."""
    entries = [parse(line) for line in record(platform, match)]
    entries[4].events[0]["face"] = entries[4].events[0]["face"] % 6 + 1
    entries[-1] = entries[-1]._replace(secret="11" * 32)
    lines = relinked(entries, blind_key(bytes.fromhex("11" * 32)))
    rewrite(lambda number, raw: iter([(f"{number}-0", lines[number - 1])]))
    servers.keeper.delete(platform.store.keys.of(match).secret)
    report = audit(platform, match)
    assert {(1, "commitment_broken"), (5, "events_differ"), (len(entries), "secret_missing")} <= set(codes(report))
    assert report.commitment == "broken"
    with pytest.raises(SecretLost):
        recall.position(another_platform(), match)


@pytest.mark.parametrize("stored", [None, b"", b"nonsense", b"\xff" * 64, b"11" * 31])
def test_a_match_that_goes_on_without_its_secret_is_found_and_cannot_be_played(
    platform: Platform, another_platform: Callable[[], Platform], begin: Begin, servers: Servers, stored: bytes | None
) -> None:
    match, secret = begin(), platform.store.keys.of
    servers.keeper.delete(secret(match).secret)
    if stored is not None:
        servers.keeper.set(secret(match).secret, stored)
    report = audit(platform, match)
    assert codes(report) == [(2, "secret_missing")]
    assert (report.chain, report.commitment, report.dice) == ("undisclosed", "undisclosed", "undisclosed")
    assert orjson.loads(record_header(platform, match)) == {"blind": None, "match": match}
    with pytest.raises(SecretLost, match="cannot go on"):
        play.play(another_platform(), match, "one", [{"type": "add", "by": 1, "stay": True}])
    assert rebuild(platform).secretless == (match,)


def test_another_secret_than_the_one_committed_to_is_not_played_with(
    platform: Platform, another_platform: Callable[[], Platform], begin: Begin, servers: Servers
) -> None:
    match = begin()
    servers.keeper.set(platform.store.keys.of(match).secret, "11" * 32)
    assert (1, "commitment_broken") in codes(audit(platform, match))
    with pytest.raises(SecretLost):
        play.play(another_platform(), match, "one", [{"type": "roll"}])
    assert platform.store.log.head(match) == 2


@pytest.mark.parametrize("fields", [["e", "x"], ["x", "e"], ["x"], ["e", "e"]], ids=lambda fields: ",".join(fields))
def test_foreign_fields_in_an_item_are_found(platform: Platform, begin: Begin, servers: Servers, fields: list[str]) -> None:
    match = begin()
    stream = platform.store.keys.of(match).stream
    first, raw = record(platform, match)
    values = {"e": pack(raw, match, 2), "x": b"hidden"}
    servers.keeper.delete(stream)
    servers.keeper.xadd(stream, {"e": pack(first, match, 1)}, id="1-0")
    servers.keeper.execute_command("XADD", stream, "2-0", *[word for name in fields for word in (name, values[name])])
    assert (2, "foreign_field") in codes(audit(platform, match))


def test_an_occupant_that_was_changed_with_every_digest_computed_anew_is_found_by_what_is_stored_beside_the_log(
    platform: Platform, ann: str, bob: str, servers: Servers
) -> None:
    match = play.create(platform, ann, "tally", {"one": "me", "two": "open"}, {}).match
    take_seat(platform, match, bob, "two", request="take")
    thief, keys = "p" + "z" * 16, platform.store.keys.of(match)
    entries = [parse(line) for line in record(platform, match)]
    entries[1] = entries[1]._replace(actor=thief)
    entries[1].events[0]["player"] = thief
    lines = relinked(entries, blind_of(platform, match))
    servers.keeper.xdel(keys.stream, "1-0", "2-0")
    servers.keeper.delete(keys.stream)
    for number, line in enumerate(lines, 1):
        servers.keeper.xadd(keys.stream, {"e": pack(line, match, number)}, id=f"{number}-0")
    assert set(codes(audit(platform, match))) == {(2, "standing_differs"), (2, "index_differs"), (2, "request_differs")}
    at, standing = unpack_standing(servers.keeper.get(keys.standing))  # type: ignore[arg-type]
    servers.keeper.set(keys.standing, pack_standing(standing.replace(bob.encode(), thief.encode()), at))
    assert set(codes(audit(platform, match))) == {(2, "index_differs"), (2, "request_differs")}
    assert audit_entries(ALL_GAMES, [record_header(platform, match), *lines]).ok, "the record alone cannot show it: see docs/auditing.md"


@pytest.mark.parametrize("name", ["p/added", "nonsense", b"\xff"])
def test_an_answer_stored_for_a_request_that_the_log_does_not_have_is_found(
    platform: Platform, begin: Begin, servers: Servers, name: str | bytes
) -> None:
    match = begin()
    servers.keeper.hset(platform.store.keys.of(match).requests, name, "1:2:" + "0" * 32)  # type: ignore[arg-type]
    assert codes(audit(platform, match)) == [(2, "request_differs")]
    assert rebuild(platform) == Rebuilt(1, 2, 0)
    assert audit(platform, match).ok


def test_a_changed_or_deleted_answer_of_a_request_is_found(platform: Platform, begin: Begin, ann: str, servers: Servers) -> None:
    match, requests = begin(), platform.store.keys.of
    add = {"type": "add", "by": 1, "stay": True}
    play.play(platform, match, "one", [add, add], request="r", player=ann)
    play.play(platform, match, "one", [add] * 4)
    servers.keeper.hset(requests(match).requests, tag_of(f"{ann}/r"), 3)  # type: ignore[arg-type]
    assert codes(audit(platform, match)) == [(4, "request_differs")]
    servers.keeper.delete(requests(match).requests)
    assert codes(audit(platform, match)) == [(4, "request_differs")]
    assert rebuild(platform) == Rebuilt(1, 8, 0)
    assert audit(platform, match).ok


def test_a_changed_tag_of_a_request_is_found(platform: Platform, match: str, servers: Servers) -> None:
    stream = platform.store.keys.of(match).stream
    items = servers.keeper.xrange(stream)
    servers.keeper.delete(stream)
    for id, fields in items:
        item = bytearray(fields[b"e"])
        if id == b"4-0":
            item[42] ^= 1
        servers.keeper.xadd(stream, {"e": bytes(item)}, id=id)
    assert codes(audit(platform, match)) == [(4, "request_differs")]


@pytest.mark.parametrize("member", ["advance|{match}|", "think|{match}|two", "think|{match}|one"])
def test_work_that_the_log_does_not_make_due_is_found(platform: Platform, begin: Begin, servers: Servers, member: str) -> None:
    match = begin()
    servers.keeper.zadd(platform.store.keys.of(match).due, {member.format(match=match): 1})
    assert codes(audit(platform, match)) == [(2, "due_differs")]


@pytest.mark.parametrize("moment", [None, 1])
def test_due_work_that_was_removed_or_moved_is_found(platform: Platform, ann: str, servers: Servers, moment: int | None) -> None:
    match = play.create(platform, ann, "tally", {"one": "me", "two": "me"}, {}).match
    due, member = platform.store.keys.of(match).due, f"advance|{match}|"
    servers.keeper.zrem(due, member)
    if moment is not None:
        servers.keeper.zadd(due, {member: moment})
    assert codes(audit(platform, match)) == [(1, "due_differs")]


def test_work_of_no_kind_is_found_by_a_listing_of_the_whole_store(platform: Platform, begin: Begin, servers: Servers) -> None:
    match = begin()
    servers.keeper.zadd(platform.store.keys.of(match).due, {f"hook|{match}|3": 1})
    assert audit(platform, match).ok
    assert codes(audit(platform, match, platform.store.projections.listed().matches[match])) == [(2, "due_differs")]


@pytest.mark.parametrize(
    "index",
    [
        *("all", "status:open", "status:over", "status:playing", "status:closed", "game:war", "game:tally:open", "game:tally:playing"),
        *(f"{kind}:{{ann}}" for kind in OF_PLAYER),
        *(f"{kind}:{{ann}}:tally" for kind in RESULTS),
    ],
)
def test_an_index_that_is_not_what_the_log_gives_is_found(platform: Platform, begin: Begin, ann: str, servers: Servers, index: str) -> None:
    match = begin()
    key = platform.store.keys.of(match).indexes + index.format(ann=ann)
    if not servers.keeper.zrem(key, match):
        servers.keeper.zadd(key, {match: recall.position(platform, match).created})
    assert codes(audit(platform, match)) == [(2, "index_differs")]
    rebuild(platform)
    assert audit(platform, match).ok
    servers.keeper.zadd(key, {match: 1})
    assert codes(audit(platform, match)) == [(2, "index_differs")]


def test_a_match_listed_for_somebody_who_has_left_or_declined_is_found(platform: Platform, ann: str, bob: str, servers: Servers) -> None:
    cid = accounts.register(platform, "Cid")[0].id
    match = play.create(platform, ann, "tally", {"one": f"player:{cid}", "two": "open", "three": "open"}, {}).match
    take_seat(platform, match, bob, "two")
    play.act_at_table(platform, match, bob, {"type": "leave_seat", "seat": "two"})
    play.act_at_table(platform, match, cid, {"type": "decline_seat", "seat": "one"})
    for index in ("status:playing", *(f"player:{player}" for player in (ann, bob, cid))):
        key = platform.store.keys.of(match).indexes + index
        servers.keeper.zadd(key, {match: 1})
        assert codes(audit(platform, match)) == [(4, "index_differs")], index
        servers.keeper.zrem(key, match)
    assert audit(platform, match).ok


def test_a_match_listed_for_a_stranger_is_found_by_a_listing_of_the_whole_store(platform: Platform, begin: Begin, servers: Servers) -> None:
    match = begin()
    servers.keeper.zadd(platform.store.keys.of(match).indexes + "player:p" + "z" * 16, {match: 1})
    assert codes(audit(platform, match, platform.store.projections.listed().matches[match])) == [(2, "index_differs")]


def test_a_log_in_another_partition_is_found_and_a_rebuild_does_not_pass_over_it(
    platform: Platform, begin: Begin, servers: Servers
) -> None:
    match, keys = begin(), platform.store.keys
    other = next(tag for tag in keys.tags() if tag != keys.tag(match)) + f":s:{match}"
    servers.keeper.xadd(other, {"e": pack(record(platform, match)[0], match, 1)}, id="1-0")
    assert codes(audit(platform, match)) == [(2, "wrong_partition")]
    assert rebuild(platform) == Rebuilt(1, 2, 0, misplaced=(other,))
    alone = next(tag for tag in keys.tags() if tag != keys.tag("m" + "b" * 16)) + ":s:m" + "b" * 16
    servers.keeper.rename(other, alone)
    assert rebuild(platform).misplaced == (alone,)
    assert audit(platform, match).ok


def test_a_rebuild_removes_what_is_derived_and_in_another_partition(platform: Platform, begin: Begin, servers: Servers) -> None:
    match, keys = begin(), platform.store.keys
    other = next(tag for tag in keys.tags() if tag != keys.tag(match))
    servers.keeper.set(f"{other}:m:{match}", b"{}")
    servers.keeper.zadd(f"{other}:i:all", {match: 1})
    servers.keeper.zadd(f"{other}:due", {f"advance|{match}|": 1})
    assert rebuild(platform) == Rebuilt(1, 2, 3)
    assert not servers.keeper.keys(f"{other}:*{match}*")
    assert not servers.keeper.exists(f"{other}:due", f"{other}:i:all")


@pytest.mark.parametrize("version", ["3", "x", "64.5"])
def test_a_snapshot_of_no_version_is_found(platform: Platform, begin: Begin, servers: Servers, version: str) -> None:
    match = begin()
    servers.keeper.hset(platform.store.keys.of(match).snapshots, version, b"{}")
    assert codes(audit(platform, match)) == [(2, "snapshot_differs")]
    assert recall.state_at(platform, match, 2).version == 2


def test_a_snapshot_with_a_changed_number_is_not_played_from(
    platform: Platform, another_platform: Callable[[], Platform], begin: Begin, servers: Servers
) -> None:
    """A process that believed it would append entries that no audit can accept."""
    match = begin()
    for _ in range(3):
        play.play(platform, match, "one", [{"type": "add", "by": 1, "stay": True}] * 30)
    snapshots = platform.store.keys.of(match).snapshots
    stored = servers.keeper.hget(snapshots, "64")
    assert isinstance(stored, bytes)
    snapshot = unpack_snapshot(stored[32:]) or b""
    counted = stored[:32] + pack_snapshot(snapshot.replace(b'"one":62', b'"one":99'))
    assert counted != stored
    servers.keeper.hset(snapshots, "64", counted)  # type: ignore[arg-type]
    other = another_platform()
    assert recall.state_at(other, match, 64).document["counts"]["one"] == 62
    assert play.play(other, match, "one", [{"type": "add", "by": 1, "stay": True}]).position.document["counts"]["one"] == 91
    assert codes(audit(platform, match)) == [(64, "snapshot_unsigned")]
    rebuild(platform)
    assert audit(platform, match).ok
