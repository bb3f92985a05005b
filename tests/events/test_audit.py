"""The audit: silent about a match as it was played, and naming the version of whatever was changed."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from hashlib import sha256
from itertools import pairwise
from typing import Any

import orjson
import pytest

from events import play, recall
from events.audit import Report, audit, audit_entries, plain, record
from events.entries import START, Entry, canonical, parse, seal
from events.errors import NoMatch
from events.platform import Platform
from games.chance import Drawn
from games.kernel import SYSTEM
from tests.conftest import ALL_GAMES, Servers
from workers.search import choose

Begin = Callable[..., str]
Tamper = Callable[[int, Any], None]


@pytest.fixture
def match(platform: Platform, ann: str, bob: str) -> str:
    """A match that is over: version 5 is a die, 6 a choice, the last one ends it."""
    match = play.create(platform, ann, "tally", {"one": "me", "two": "open"}, {"target": 12}).match
    play.join(platform, match, bob, "two", "c0ffee")
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
    """Write the stream anew as somebody could who has got hold of the machine."""

    def rewritten(change: Callable[[int, bytes], Iterator[tuple[str, bytes]]]) -> None:
        stream = platform.store.keys(match).stream
        items = platform.store.items(match)
        servers.keeper.delete(stream)
        for number, (_, fields) in enumerate(items, 1):
            for id, wire in change(number, fields[b"e"]):
                servers.keeper.xadd(stream, {"e": wire, "m": fields[b"m"]}, id=id)

    return rewritten


@pytest.fixture
def tamper(rewrite: Any) -> Callable[..., None]:
    """Change one entry. `resealed`: its own digest is made to fit; `all_resealed`: so are those of all entries after it."""

    def tampered(version: int, change: Callable[[dict[str, Any]], None], resealed: bool = False, all_resealed: bool = False) -> None:
        digests = [START]

        def each(number: int, wire: bytes) -> Iterator[tuple[str, bytes]]:
            fields = orjson.loads(wire)
            if number == version:
                change(fields)
            wire = canonical(fields)
            if (number == version and resealed) or all_resealed:
                wire = seal(digests[-1], Entry(**fields))[1]
            digests.append(fields.get("digest") if not all_resealed else parse(wire).digest)
            yield f"{number}-0", wire

        rewrite(each)

    return tampered


def codes(report: Report) -> list[tuple[int, str]]:
    return [(finding.version, finding.code) for finding in report.findings]


def test_a_match_as_it_was_played_is_in_order(platform: Platform, match: str) -> None:
    report = audit(platform, match)
    position = recall.position(platform, match)
    assert report == Report(True, match, "tally", position.version, position.digest, "kept", position.commitment, "verified", [1], 0, [])
    json.dumps(plain(report))


def test_a_match_that_goes_on_is_audited_without_telling_its_secret(platform: Platform, begin: Begin) -> None:
    match = begin()
    report = audit(platform, match)
    secret = platform.store.secret(match)
    assert secret is not None
    assert (report.ok, report.commitment, report.dice) == (True, "kept", "verified")
    assert secret not in json.dumps(plain(report))


def test_there_is_no_audit_of_nothing(platform: Platform) -> None:
    with pytest.raises(NoMatch):
        audit(platform, "m" + "a" * 16)


@pytest.mark.parametrize(
    ("version", "change", "code"),
    [
        (1, lambda entry: entry["events"][0].update(commitment="00" * 32), "digest_broken"),
        (1, lambda entry: entry["events"][0]["document"]["options"].update(target=9), "events_differ"),
        (1, lambda entry: entry["events"][0]["seats"].update(two={"ai": "random"}), "events_differ"),
        (2, lambda entry: entry["events"][0].update(player="p" + "z" * 16), "events_differ"),
        (2, lambda entry: entry["events"][0].update(contribution="00"), "events_differ"),
        (3, lambda entry: entry["events"][0]["pile"].reverse(), "events_differ"),
        (4, lambda entry: entry.update(request=None), "digest_broken"),
        (4, lambda entry: entry.update(rules=2), "digest_broken"),
        (4, lambda entry: entry["action"].update(by=2), "events_differ"),
        (4, lambda entry: entry["action"].update(by=7), "not_legal"),
        (4, lambda entry: entry.update(actor="two"), "not_legal"),
        (5, lambda entry: entry["events"][0].update(face=entry["events"][0]["face"] % 6 + 1), "events_differ"),
        (5, lambda entry: entry["events"].pop(), "events_differ"),
        (5, lambda entry: entry["events"].append({"type": "counted", "seat": "one", "by": 1}), "events_differ"),
        (5, lambda entry: entry["events"].append({"type": "nonsense"}), "events_differ"),
        (5, lambda entry: entry.update(at=1), "time_backwards"),
        (5, lambda entry: entry.update(at=entry["at"] + 10**9), "digest_broken"),
        (5, lambda entry: entry.update(match="m" + "b" * 16), "wrong_match"),
        (5, lambda entry: entry.update(version=6), "wrong_version"),
        (5, lambda entry: entry.update(digest="0" * 64), "digest_broken"),
        (5, lambda entry: entry.update(note="hello"), "not_canonical"),
        (5, lambda entry: entry.update(secret="00" * 32), "secret_differs"),
        (5, lambda entry: entry.update(request={"id": 5}), "digest_broken"),
        (5, lambda entry: entry.pop("rules"), "unreadable"),
        (5, lambda entry: entry.update(events={}), "unreadable"),
        (5, lambda entry: entry.update(events=[7]), "not_replayable"),
    ],
)
def test_a_changed_entry_is_named_by_its_version(
    platform: Platform, match: str, tamper: Callable[..., None], version: int, change: Callable[[Any], None], code: str
) -> None:
    tamper(version, change)
    report = audit(platform, match)
    assert (version, code) in codes(report)
    assert codes(report)[0][0] == version, "nothing before it is blamed"
    assert not report.ok


def test_an_event_changed_with_all_digests_made_to_fit_is_found_by_the_dice(
    platform: Platform, match: str, tamper: Callable[..., None]
) -> None:
    tamper(5, lambda entry: entry["events"][0].update(face=entry["events"][0]["face"] % 6 + 1), all_resealed=True)
    assert codes(audit(platform, match))[0] == (5, "events_differ")


def test_an_entry_changed_with_its_own_digest_made_to_fit_breaks_the_chain_after_it(
    platform: Platform, match: str, tamper: Callable[..., None]
) -> None:
    tamper(5, lambda entry: entry.update(at=entry["at"] + 1), resealed=True)
    assert (6, "digest_broken") in codes(audit(platform, match))


def test_a_secret_that_is_not_the_one_committed_to_is_found(platform: Platform, match: str, tamper: Callable[..., None]) -> None:
    last = recall.position(platform, match).version
    tamper(last, lambda entry: entry.update(secret="11" * 32), all_resealed=True)
    assert (last, "secret_differs") in codes(audit(platform, match))
    report = audit_entries(ALL_GAMES, record(platform, match))
    assert report.commitment == "broken"
    assert codes(report)[0] == (1, "commitment_broken")
    assert (3, "events_differ") in codes(report), "the dice are not those of another secret"


def test_a_secret_kept_back_is_found(platform: Platform, match: str, tamper: Callable[..., None]) -> None:
    last = recall.position(platform, match).version
    tamper(last, lambda entry: entry.pop("secret"), all_resealed=True)
    assert codes(audit(platform, match))[0] == (last, "secret_differs")


def resealed(entries: list[Entry]) -> list[bytes]:
    """The whole chain made to fit, as somebody would do who hands out a record of his own."""
    lines, digest = [], START
    for entry in entries:
        entry, line = seal(digest, entry)
        lines.append(line)
        digest = entry.digest
    return lines


@pytest.mark.parametrize(
    ("forge", "found"),
    [
        (lambda entries: [*entries[:4], entries[4]._replace(rules=99), *entries[5:]], (5, "rules_differ")),
        (lambda entries: [*entries[:4], entries[4]._replace(rules=0), *entries[5:]], (5, "rules_differ")),
        (lambda entries: [*entries, entries[3]._replace(version=len(entries) + 1, rules=5, request=None)], (-1, "not_legal")),
        (lambda entries: [*entries[:-1], entries[-1]._replace(secret=None)], (0, "secret_differs")),
        (lambda entries: [*entries[:2], entries[2]._replace(version=True), *entries[3:]], (3, "wrong_version")),
        (lambda entries: [*entries[:2], entries[2]._replace(rules=True), *entries[3:]], (3, "not_canonical")),
        (lambda entries: [*entries[:3], entries[3]._replace(request={**entries[3].request, "x": 1}), *entries[4:]], (4, "not_canonical")),
    ],
)
def test_a_record_that_was_forged_and_sealed_anew_does_not_hold(
    platform: Platform, match: str, forge: Callable[[list[Entry]], list[Entry]], found: tuple[int, str]
) -> None:
    entries = [parse(line) for line in record(platform, match)]
    lines = resealed(forge(entries))
    place = found[0] if found[0] > 0 else len(entries) - found[0]
    assert (place, found[1]) in codes(audit_entries(ALL_GAMES, lines))


def test_whoever_plays_before_all_have_sat_down_is_named(platform: Platform, match: str) -> None:
    """The dice would not hang on what the seat that is still free is to give."""
    created, _, began, *_ = (parse(line) for line in record(platform, match))
    report = audit_entries(ALL_GAMES, resealed([created, began._replace(version=2)]))
    assert (2, "not_legal") in codes(report)


def test_a_missing_entry_is_named(platform: Platform, match: str, rewrite: Any, servers: Servers) -> None:
    servers.keeper.xdel(platform.store.keys(match).stream, "4-0")
    assert codes(audit(platform, match))[0] == (4, "gap")


def test_missing_entries_whose_followers_moved_up_are_named(platform: Platform, match: str, rewrite: Any) -> None:
    rewrite(lambda number, wire: iter([] if number == 4 else [(f"{number - (number > 4)}-0", wire)]))
    assert codes(audit(platform, match))[0][0] == 4


def test_an_entry_under_an_id_that_is_no_version_is_named(platform: Platform, match: str, rewrite: Any) -> None:
    rewrite(lambda number, wire: iter([(f"{number}-0", wire), *([("4-7", wire)] if number == 4 else [])]))
    assert codes(audit(platform, match))[0] == (5, "wrong_id")


def test_bytes_that_are_no_entry_are_named(platform: Platform, match: str, rewrite: Any) -> None:
    rewrite(lambda number, wire: iter([(f"{number}-0", b"\xff{" if number == 4 else wire)]))
    assert codes(audit(platform, match)) == [(4, "unreadable")]


def test_the_same_json_in_other_bytes_is_named(platform: Platform, match: str, rewrite: Any) -> None:
    rewrite(lambda number, wire: iter([(f"{number}-0", wire.replace(b",", b", ", 1) if number == 4 else wire)]))
    assert codes(audit(platform, match)) == [(4, "not_canonical")]


def test_a_request_that_was_carried_out_twice_is_named(platform: Platform, begin: Begin) -> None:
    match = begin()
    play.play(platform, match, "one", [{"type": "add", "by": 1, "stay": True}] * 2, request="r")
    play.play(platform, match, "one", [{"type": "add", "by": 1, "stay": True}] * 2)
    entries = [parse(line) for line in record(platform, match)]
    entries[5] = entries[5]._replace(request=entries[3].request)
    lines = [seal(entry.digest, after)[1] for entry, after in pairwise(entries)]
    report = audit_entries(ALL_GAMES, [seal(START, entries[0])[1], *lines], platform.store.secret(match))
    assert codes(report) == [(6, "request_twice")]


def test_what_is_worked_out_wrongly_is_named(platform: Platform, begin: Begin, servers: Servers) -> None:
    match = begin()
    for _ in range(3):
        play.play(platform, match, "one", [{"type": "add", "by": 1, "stay": True}] * 30)
    keys = platform.store.keys(match)
    snapshot = orjson.loads(servers.keeper.hget(keys.snapshots, "64"))  # type: ignore[arg-type]
    snapshot["document"]["counts"]["one"] = 1
    servers.keeper.hset(keys.snapshots, "64", canonical(snapshot))  # type: ignore[arg-type]
    servers.keeper.set(keys.standing, b"{}")
    assert codes(audit(platform, match)) == [(64, "snapshot_differs"), (92, "standing_differs")]
    servers.keeper.hset(keys.snapshots, "64", "nonsense")
    assert codes(audit(platform, match)) == [(64, "snapshot_differs"), (92, "standing_differs")]
    assert recall.state_at(platform, match, 70).document["counts"]["one"] == 68


def test_a_record_is_audited_without_a_store(platform: Platform, match: str) -> None:
    lines = [line + b"\n" for line in record(platform, match)]
    report = audit_entries(ALL_GAMES, lines)
    assert report == audit(platform, match)
    lines[4] = lines[4].replace(b'"face":', b'"face":1')
    assert codes(audit_entries(ALL_GAMES, lines))[0] == (5, "events_differ")
    assert {(1, "wrong_version"), (1, "not_replayable")} <= set(codes(audit_entries(ALL_GAMES, lines[1:])))
    assert codes(audit_entries(ALL_GAMES, [])) == [(0, "empty")]


def test_without_the_secret_what_draws_is_replayed_only(platform: Platform, begin: Begin) -> None:
    match = begin()
    play.play(platform, match, "one", [{"type": "add", "by": 1, "stay": True}, {"type": "roll"}])
    report = audit_entries(ALL_GAMES, record(platform, match))
    assert (report.ok, report.dice, report.commitment, report.replayed_only) == (True, "sealed", "sealed", 2)


def test_other_rules_are_replayed_only(platform: Platform, match: str) -> None:
    tally = ALL_GAMES["tally"]._replace(revision=2)
    report = audit_entries({"tally": tally}, record(platform, match))
    assert report.ok
    assert (report.dice, report.replayed_only) == ("partly", report.versions - 1)


@pytest.mark.parametrize("game", [pytest.param(name, id=name) for name in ALL_GAMES])
def test_matches_of_every_game_folded_from_their_streams_are_what_was_played_and_in_order(platform: Platform, ann: str, game: str) -> None:
    played = ALL_GAMES[game]
    for seed in range(3):
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


def test_a_third_party_can_check_the_chain_by_the_page_alone(platform: Platform, match: str) -> None:
    previous = "0" * 64
    for line in record(platform, match):
        entry = json.loads(line)
        digest = entry.pop("digest")
        text = json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        assert sha256((previous + text).encode()).hexdigest() == digest
        previous = digest
