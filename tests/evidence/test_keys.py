"""The keys that signed moves: both verifiers check that they were those of the players who acted, and tell it to people."""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from evidence.leaves import DUE_MS
from games import GAMES
from games.sentences import counted
from record.dossiers.lines import WHOLE
from record.dossiers.statements import Kept
from record.dossiers.verifying import Source, verify
from tests.evidence.signed import ANN, BOB, SERVER, Leaf, Match, dossier, registration, revocation
from tests.signing import Signer
from tools import node
from tools import verify as command
from tools.verify import of_signers, told

ROOT = Path(__file__).parents[2]
NODE = node.binary() or ""
ADA, OTHER, HERS = Signer(1), Signer(2), Signer(3)
MINUTE = 60_000

Ask = Callable[[bytes, list[str]], dict[str, Any]] | None
Keys = dict[tuple[str, str], list[Leaf]]


class Verdicts(NamedTuple):
    """What both verifiers say of a file."""

    found: set[tuple[int | None, str]]
    told: list[str]
    unchecked: str


@pytest.fixture(scope="module")
def match() -> Match:
    return Match()


def of_red(match: Match) -> dict[int, Signer]:
    """Return who signs if Ann signs all moves of her seat with one key."""
    return dict.fromkeys(match.moves("red"), ADA)


def known(match: Match, *more: Leaf, before: int = 1000) -> Keys:
    """Return the leaves of a key that Ann registered before the match began, and others of the same key."""
    return {(ANN, ADA.key): [registration(ADA, ANN, match.began - before), *more]}


ASKED = """
import { createInterface } from "node:readline";
const { told, verify } = await import(process.argv[1]);
for await (const line of createInterface({ input: process.stdin })) {
  const { file, keys } = JSON.parse(line);
  const answer = await verify(Buffer.from(file, "base64"), { keys });
  console.log(JSON.stringify({ ...answer, told: told(answer.files[0]) }));
}
"""


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    """Let one process of Node verify all files, since it takes long to start."""
    if not NODE:
        yield None
        return
    words = [NODE, "--input-type=module", "-e", ASKED, str(ROOT / "verify/verify.mjs")]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        given, answers = running.stdin, running.stdout

        def verified(file: bytes, keys: list[str]) -> dict[str, Any]:
            print(json.dumps({"file": base64.b64encode(file).decode(), "keys": keys}), file=given, flush=True)
            answer: dict[str, Any] = json.loads(answers.readline())
            return answer

        yield verified
        given.close()


def verdicts(ask: Ask, file: bytes, record: bool = False) -> Verdicts:
    """Return what both verifiers say, which must be the same."""
    (python,) = verify([Source("file", lambda: file.splitlines(keepends=True))], GAMES, Kept(() if record else (SERVER.verifier,)))
    sentences = of_signers(python.signers)
    found = {(finding.version, finding.code) for finding in python.findings}
    if ask is not None:
        answer = ask(file, [] if record else [SERVER.verifier.vkey])
        assert {(finding["version"], finding["code"]) for finding in answer["findings"]} == found
        assert answer["files"][0]["signers"] == [signer._asdict() for signer in python.signers]
        assert answer["told"] == told(python)
        for words_of_key in ("did not say so yet", "whose keys signed"):
            assert (words_of_key in "\n".join(answer["unchecked"]).lower()) == (words_of_key in "\n".join(python.unchecked))
    return Verdicts(found, sentences, "\n".join(python.unchecked))


def day(moment: int) -> str:
    return datetime.fromtimestamp(moment / 1000, UTC).date().isoformat()


@pytest.mark.parametrize("viewer", [WHOLE, "red", "blue", "spectator"])
def test_moves_are_told_with_the_key_that_signed_them(match: Match, ask: Ask, viewer: str) -> None:
    by = {**of_red(match), **dict.fromkeys(match.moves("blue"), HERS)}
    keys = {**known(match), (BOB, HERS.key): [registration(HERS, BOB, match.began - 86_400_000)]}
    found = verdicts(ask, dossier(match, by, keys, viewer))
    assert found.found == set()
    counts = {seat: len(match.moves(seat)) for seat in ("red", "blue")}
    assert sorted(found.told) == [
        f"{counts['blue']} moves of blue ({BOB}), signed by the key that this player registered on {day(match.began - 86_400_000)}",
        f"{counts['red']} moves of red ({ANN}), signed by the key that this player registered on {day(match.began - 1000)}",
    ]


def test_another_key_within_the_match_is_told_and_is_no_finding(match: Match, ask: Ask) -> None:
    first, *rest = match.moves("red")
    by = {first: ADA, **dict.fromkeys(rest, OTHER)}
    filled = match.at(2)  # when the last seat was taken
    of_ada = known(match, revocation(ADA, ANN, match.at(first)), before=match.began - filled)
    keys = {**of_ada, (ANN, OTHER.key): [registration(OTHER, ANN, filled + 1)]}
    found = verdicts(ask, dossier(match, by, keys))
    assert found.found == set()
    assert found.told == [
        f"1 move of red ({ANN}), signed by the key that this player registered on {day(filled)}; it was revoked on {day(match.at(first))}",
        f"{len(rest)} moves of red ({ANN}) from version {rest[0]} on, signed by another key, registered on {day(match.began)}, "
        "after the match began",
    ]


def test_what_nobody_signed_is_told_by_seat_and_what_the_server_answers_for(match: Match, ask: Ask) -> None:
    file = dossier(match, of_red(match), known(match))
    verdicts(ask, file)  # both say the same
    (found,) = verify([Source("file", lambda: file.splitlines(keepends=True))], GAMES, Kept((SERVER.verifier,)))
    of_system = len(match.moves("system"))
    assert told(found)[1:] == [
        f"{len(match.moves('blue'))} actions of blue, not signed",
        f"{counted(of_system, 'action', 'actions')} of the system and of artificial players, signed by the server: "
        f"its signature on version {found.versions} covers them",
    ]


def test_both_commands_print_who_signed(match: Match, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "file"
    file.write_bytes(dossier(match, of_red(match), known(match)))
    sentence = f"moves of red ({ANN}), signed by the key that this player registered on {day(match.began - 1000)}"
    assert command.main([str(file)]) == 0
    assert sentence in capsys.readouterr().out
    assert command.main([str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["signers"][0]["key"] == ADA.key
    if NODE:
        ran = subprocess.run([NODE, ROOT / "verify/verify.mjs", file], capture_output=True, text=True, check=True)
        assert f"{sentence}." in ran.stdout


Change = Callable[[list[dict[str, Any]]], Any]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda lines: lines.clear(), "key_missing"),
        (lambda lines: lines[0]["leaves"].clear(), "key_missing"),
        (lambda lines: lines[0].update(player=BOB), "key_missing"),
        (lambda lines: lines[0]["leaves"][0].update(leaf=registration(ADA, BOB, 1)), "key_differs"),
        (lambda lines: lines[0]["leaves"][0].update(leaf=registration(OTHER, ANN, 1)), "key_differs"),
        (lambda lines: lines[0]["leaves"][0]["leaf"].update(signature=OTHER.body(ANN)["signature"]), "key_differs"),
        (lambda lines: lines[0]["leaves"][0]["leaf"].update(kind="key"), "key_differs"),
        (lambda lines: lines[0]["leaves"][0]["leaf"].update(at=-1), "key_differs"),
        (lambda lines: lines[0]["leaves"][0]["leaf"].update(more=1), "key_differs"),
        (lambda lines: lines[0]["leaves"][0]["leaf"].update(at=5), "inclusion_broken"),
        (lambda lines: lines[0]["leaves"][0].update(index=1), "inclusion_broken"),
        (lambda lines: lines[0]["leaves"][0].update(proof=""), "inclusion_broken"),
        (lambda lines: lines.append({**lines[0], "player": BOB}), "key_differs"),
        (lambda lines: lines.append(lines[0]), "key_differs"),
        (lambda lines: lines[0].update(key="A"), "line_unknown"),
        (lambda lines: lines[0].update(leaves=[1]), "line_unknown"),
    ],
)  # fmt: skip
def test_a_key_without_a_leaf_of_its_own_is_found(match: Match, ask: Ask, change: Change, code: str) -> None:
    late = match.position.at + DUE_MS + 1
    found = verdicts(ask, dossier(match, of_red(match), known(match), at=late, change=change))
    assert code in {each for _, each in found.found}
    assert code in ("key_differs", "line_unknown") or match.moves("red")[0] in {version for version, _ in found.found}


def test_a_key_of_small_order_is_nobodys(match: Match, ask: Ask) -> None:
    """Some libraries let anybody sign anything with it. The server registers it for Ann, and the move is not signed either."""
    weak = Signer(9)
    weak.key = base64.b64encode(bytes([1, *bytes(31)])).decode()
    first = match.moves("red")[0]
    leaf = {**registration(weak, ANN, match.began), "signature": base64.b64encode(bytes([1, *bytes(63)])).decode()}
    found = verdicts(ask, dossier(match, {first: weak}, {(ANN, weak.key): [leaf]}))
    assert (first, "key_differs") in found.found


@pytest.mark.parametrize(("age", "codes"), [(DUE_MS, set()), (DUE_MS + 1, {"key_missing"})])
def test_the_log_may_not_have_a_key_yet(match: Match, ask: Ask, age: int, codes: set[str]) -> None:
    first = match.moves("red")[0]
    found = verdicts(ask, dossier(match, {first: ADA}, {(ANN, ADA.key): []}, at=match.at(first) + max(age, DUE_MS - 1)))
    assert {code for _, code in found.found if code.startswith("key")} == codes
    assert ("the log did not say so yet" in found.unchecked) is not bool(codes)
    assert found.told == [f"1 move of red ({ANN}), signed by a key whose owner is not checked"]


@pytest.mark.parametrize(("after", "wrong"), [(MINUTE, False), (MINUTE + 1, True)])
def test_a_key_that_was_registered_after_it_signed_is_found(match: Match, ask: Ask, after: int, wrong: bool) -> None:
    """Two machines may differ by a minute."""
    first = match.moves("red")[0]
    keys = {(ANN, ADA.key): [registration(ADA, ANN, match.at(first) + after)]}
    found = verdicts(ask, dossier(match, {first: ADA}, keys))
    assert found.found == ({(first, "key_invalid")} if wrong else set())


@pytest.mark.parametrize(("before", "wrong"), [(MINUTE, False), (MINUTE + 1, True)])
def test_a_key_that_was_revoked_before_it_signed_is_found(match: Match, ask: Ask, before: int, wrong: bool) -> None:
    first = match.moves("red")[0]
    at = match.at(first) - before
    keys = {(ANN, ADA.key): [registration(ADA, ANN, at - 5), revocation(ADA, ANN, at + 5), revocation(ADA, ANN, at)]}
    found = verdicts(ask, dossier(match, {first: ADA}, keys))
    assert found.found == ({(first, "key_invalid")} if wrong else set())


def test_a_key_that_the_log_has_only_after_what_it_signed_is_found(match: Match, ask: Ask) -> None:
    """The moment in a leaf is the word of the server. Its place in the log is not."""
    found = verdicts(ask, dossier(match, of_red(match), known(match), last=True))
    assert found.found == {(match.moves("red")[0], "key_invalid")}


def test_a_record_does_not_say_whose_the_keys_are(match: Match, ask: Ask) -> None:
    _, raws = match.entries(of_red(match))
    found = verdicts(ask, b"".join(raw + b"\n" for raw in raws), record=True)
    assert found.found == set()
    assert "whose keys signed" in found.unchecked
    assert found.told == [f"{len(match.moves('red'))} moves of red ({ANN}), signed by a key whose owner is not checked"]
