"""`./run impact`: a change of a rule that was planted is found in exactly the matches that it touches."""

from __future__ import annotations

import itertools
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from games import GAMES
from games.kernel import Action, Game, Refusal, State, no
from games.war import attacks, outcome
from record.dice import Draws, dice_key
from record.entries import Entry, blind_key, canonical, parse
from record.positions import follow_all
from tests.archive.writing import write_archive
from tools import impact as command
from tools.impact import CHANGES, OPEN, SAME, Impact, impact
from tools.records import Record, read_file

ARCHIVE = Path(__file__).parents[1] / "archive/0001.xz"
WAR = GAMES["war"]
MATCHES = 40


@cache
def records() -> list[Record]:
    """Return some matches of War!, which are the first of the archive."""
    found = list(itertools.islice(read_file(ARCHIVE), MATCHES))
    assert {parse(record.raws[0]).events[0]["game"] for record in found} == {"war"}
    return found


@cache
def entries_of(match: str) -> list[Entry]:
    (record,) = (record for record in records() if record.match == match)
    return list(map(parse, record.raws))


def under(game: Game) -> dict[str, Impact]:
    """Return what a game's rules would change, by match."""
    return {record.match: impact({game.id: game}, record) for record in records()}


def firsts(found: dict[str, Impact]) -> dict[str, int]:
    """Return the version of the first action that would go otherwise, by match that has one."""
    return {match: each.first.version for match, each in found.items() if each.first is not None}


def touched(wanted: Any) -> dict[str, int]:
    """Return the first version whose entry is wanted, by match that has one."""
    found = {record.match: [entry.version for entry in entries_of(record.match) if wanted(entry)] for record in records()}
    return {match: versions[0] for match, versions in found.items() if versions}


def test_nothing_would_change_under_the_rules_as_they_are() -> None:
    found = under(WAR)
    assert firsts(found) == {}
    assert {(each.result, each.undecided) for each in found.values()} == {(SAME, 0)}
    assert firsts(under(WAR._replace(revision=9))) == {}, "whatever the revision is called"


def test_an_action_that_would_be_refused_is_found() -> None:
    cards = sorted(
        entry.action["card"] for record in records() for entry in entries_of(record.match) if entry.action["type"] == "reinforce"
    )
    card = cards[len(cards) // 2]
    deed = WAR.phases["cards"]["reinforce"]

    def refusal(state: State, seat: str, action: Action) -> Refusal | None:
        return no("card_not_in_hand", card=card) if action["card"] == card else deed.refusal(state, seat, action)

    cards_phase = {**WAR.phases["cards"], "reinforce": deed._replace(refusal=refusal)}
    found = under(WAR._replace(phases={**WAR.phases, "cards": cards_phase}))
    expected = touched(lambda entry: entry.action["type"] == "reinforce" and entry.action["card"] == card)
    assert 0 < len(expected) < MATCHES
    assert firsts(found) == expected
    for match, version in expected.items():
        first = found[match].first
        assert first is not None
        assert (found[match].result, found[match].until) == (OPEN, version)
        assert first == (version, entries_of(match)[version - 1].actor, "reinforce", "the rules refuse it: card_not_in_hand")


def test_another_score_is_found_where_it_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outcome, "PER_TILE", outcome.PER_TILE + 1)
    found = under(WAR)
    expected = touched(lambda entry: any(event["type"] == "scores_counted" for event in entry.events))
    assert 0 < len(expected) < MATCHES
    assert firsts(found) == expected
    for match in expected:
        was, now = found[match].recorded, found[match].present
        assert was is not None
        assert now is not None
        assert (found[match].result, was["reason"], was["scores"] == now["scores"]) == (CHANGES, now["reason"], False)
    text = command.as_text(found[min(expected)])
    assert "scores_counted: score_sheet." in text
    assert "the result would change from " in text


def test_other_dice_are_found_where_they_fall_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the record has is compared with dice of five sides that are thrown here, from the secret alone."""
    monkeypatch.setattr(attacks, "SIDES", 5)
    keys = {}
    for record in records():
        position = follow_all(WAR, None, entries_of(record.match))
        assert position is not None
        assert record.secret is not None
        keys[record.match] = dice_key(bytes.fromhex(record.secret), record.match, position.table["contributions"])

    def falls_otherwise(entry: Entry) -> bool:
        draws = Draws(keys[entry.match], entry.version)
        rolls = [event for event in entry.events if event["type"] == "attack_rolled"]
        return any(event[side]["die"] != draws.number(5) + 1 for event in rolls for side in ("attack", "defence"))

    found = under(WAR)
    expected = touched(falls_otherwise)
    assert firsts(found) == expected
    results = [each.result for each in found.values()]
    assert results.count(OPEN) > 0
    assert results.count(CHANGES) + results.count(SAME) > 0


def test_what_cannot_be_decided_is_counted() -> None:
    record = records()[0]
    assert impact(GAMES, record._replace(secret=None)).undecided > 0
    assert impact(GAMES, record._replace(secret=None)).first is None


def test_files_of_every_kind_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    over = next(record for record in records() if parse(record.raws[-1]).secret is not None)
    assert over.secret is not None
    header = canonical({"blind": blind_key(bytes.fromhex(over.secret)).hex(), "match": over.match})
    (tmp_path / "a.ndjson").write_bytes(b"\n".join([header, *over.raws]))
    (tmp_path / "b.json").write_bytes(b'{"entries":[%b],%b' % (b",".join(over.raws), header[1:]))
    dossier = [{"line": "dossier", "dossier": 1, "match": over.match, "viewer": "all", "secret": over.secret}, {"line": "seat"}]
    lines = [*map(canonical, dossier), *(b'{"entry":%b,"line":"entry"}' % raw for raw in over.raws), b'{"line":"end"}']
    (tmp_path / "c.ndjson").write_bytes(b"\n".join(lines))
    with (tmp_path / "d.xz").open("wb") as file:
        write_archive(file, [over])
    (tmp_path / "notes.txt").write_text("not a record", encoding="utf-8")
    assert command.main([str(tmp_path)]) == 0
    assert capsys.readouterr().out == "4 matches; 0 would go otherwise, 0 with another result; 0 could not be continued.\n"

    monkeypatch.setattr(outcome, "PER_TILE", outcome.PER_TILE + 1)
    match, version = next(iter(touched(lambda entry: any(event["type"] == "scores_counted" for event in entry.events)).items()))
    counted = next(record for record in records() if record.match == match)
    (tmp_path / "a.ndjson").write_bytes(b"\n".join(counted.raws))
    assert command.main(["--json", str(tmp_path / "a.ndjson")]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["match"], told["result"], told["first"]["version"]) == (match, CHANGES, version)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"\xfd7zXZ\x00abc", b'{"line":"dossier","viewer":"red"}\n', b'{"blind":null,"match":"m"}\n', b"[1]\nx"]
)
def test_a_file_without_a_match_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes) -> None:
    (tmp_path / "wrong.json").write_bytes(content)
    assert command.main([str(tmp_path / "wrong.json")]) == 2
    assert "wrong.json" in capsys.readouterr().err
