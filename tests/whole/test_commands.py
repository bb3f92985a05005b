"""The commands of `./run`, run as processes."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from events.modules import python_environment
from games import GAMES
from tests import forks
from tests.whole.conftest import Client, until
from tools import openapi, private


def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, in a folder that is not the project's, as a fork."""
    return forks.run(f"tools.{words[0]}", *words[1:], **environment)


def run_anew(*words: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command to its end, in a folder that is not the project's, as `./run` does. Each command runs so at least once."""
    command = [sys.executable, "-m", f"tools.{words[0]}", *words[1:]]
    return subprocess.run(command, cwd="/", env=python_environment(), input=typed, capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[private.Place]:
    """A private service with a match of two AI seats, for all of this file."""
    with private.service(tmp_path_factory.mktemp("commands"), *private.SMALL) as running:
        yield running


@pytest.fixture(scope="module")
def client(place: private.Place) -> Client:
    """A player of that service."""
    return Client(place.url)


@pytest.fixture(scope="module")
def match(client: Client) -> str:
    """A match that is over."""
    return over(client, {"game": "war", "seats": {"red": "ai:random", "blue": "ai:greedy"}})


@pytest.fixture(scope="module")
def short(client: Client) -> str:
    """A match that is over after one round."""
    seats = {"aliens": "ai:random", "humans": "ai:greedy"}
    return over(client, {"game": "war_of_the_worlds", "seats": seats, "options": {"round_limit": 1}})


def over(client: Client, body: dict[str, Any]) -> str:
    """Create a match of AI seats, and wait for its end. Return its id."""
    made: str = client.insist("POST", "/v1/matches", body)["id"]
    until(lambda: client.insist("GET", f"/v1/matches/{made}")["status"] == "over", 30)
    return made


@pytest.mark.parametrize("game", ["war", *(pytest.param(game, marks=pytest.mark.soak) for game in GAMES if game != "war")])
def test_the_demo_plays_a_match_of_every_game_and_every_check_passes(game: str) -> None:
    ended = run_anew("demo", "--game", game)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "Every check passed" in ended.stdout
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("game", ["war", *(pytest.param(game, marks=pytest.mark.soak) for game in GAMES if game != "war")])
def test_a_simulation_with_the_same_seed_plays_the_same_matches_on_any_number_of_cores(game: str) -> None:
    words = ["simulate", game, "--seats", "random,random", "--matches", "6", "--seed", "7", "--json"]
    one, two = (json.loads(run(*words, "--cores", cores).stdout) for cores in ("1", "2"))
    assert one.pop("matches_per_second") > 0
    assert two.pop("matches_per_second") > 0
    assert one == two
    assert run(*words[:-2], "8", "--json").stdout != ""
    assert sum(side["wins"] for side in one["sides"]) >= one["matches"] - one["without_winner"]


def test_a_simulation_with_shuffled_seats_counts_wins_by_place_and_by_seat() -> None:
    words = [
        "simulate",
        "war_of_civilizations",
        "--seats",
        "random,random",
        "--options",
        '{"round_limit": 5}',
        "--matches",
        "12",
        "--shuffle",
    ]
    report = json.loads(run_anew(*words, "--json").stdout)
    assert [side["seat"] for side in report["sides"]] == ["1.", "2."]
    assert sum(seat["matches"] for seat in report["seats"].values()) == 2 * report["matches"]
    assert sum(seat["wins"] for seat in report["seats"].values()) == sum(side["wins"] for side in report["sides"])
    assert sum(seat["matches"] > 0 for seat in report["seats"].values()) > 2
    assert "squirrel" in run(*words).stdout


def test_a_simulation_with_an_unknown_game_or_level_or_a_wrong_number_of_seats_is_refused() -> None:
    two = ["war", "--seats", "random,random", "--options"]
    for words in (["chess", *two[1:3]], ["war", "--seats", "random,clever"], ["war", "--seats", "random"], [*two, "5"], [*two, "[]"]):
        ended = run("simulate", *words)
        assert ended.returncode == 2
        assert "Traceback" not in ended.stderr


def test_rebuild_works_beside_a_running_service_and_without_one(place: private.Place, match: str, tmp_path: Path) -> None:
    ended = run_anew("rebuild", "--data", str(place.data))
    assert ended.returncode == 0, ended.stderr
    assert "0 keys of no match removed" in ended.stdout
    nowhere = run("rebuild", "--data", str(tmp_path))
    assert nowhere.returncode == 1
    assert "There is no data in" in nowhere.stderr


def test_audit_takes_a_match_or_an_exported_record_and_names_what_was_changed(
    place: private.Place, client: Client, match: str, tmp_path: Path
) -> None:
    of_match = run_anew("audit", match, "--data", str(place.data))
    assert (of_match.returncode, "the record holds" in of_match.stdout) == (0, True), of_match.stdout + of_match.stderr
    record = tmp_path / "record.ndjson"
    for media_type in ("application/json", "application/x-ndjson"):
        answer = as_admin(place, client).call("GET", f"/v1/matches/{match}/record", headers={"Accept": media_type})
        record.write_bytes(answer.content)
        alone = json.loads(run("audit", str(record), "--json").stdout)
        assert (alone["ok"], alone["dice"]) == (True, "verified"), alone
    lines = record.read_bytes().splitlines(keepends=True)
    record.write_bytes(b"".join(lines[:9] + lines[10:]))
    spoilt = run("audit", str(record))
    assert spoilt.returncode == 1
    assert "version 10" in spoilt.stdout
    assert run("audit", "m" + "a" * 16, "--data", str(place.data)).returncode == 2


def test_analyse_takes_a_match_or_a_dossier(place: private.Place, client: Client, short: str, tmp_path: Path) -> None:
    of_match = run_anew("analyse", short, "--data", str(place.data), "--iterations", "1", "--json")
    assert of_match.returncode == 0, of_match.stderr
    dossier = tmp_path / "dossier.ndjson"
    dossier.write_bytes(as_admin(place, client).call("GET", f"/v1/matches/{short}/dossier").content)
    of_dossier = run("analyse", str(dossier), "--iterations", "1", "--json", "--cores", "1")
    assert of_dossier.stdout == of_match.stdout
    assert json.loads(of_match.stdout)["match"] == short
    assert run("analyse", "m" + "a" * 16, "--data", str(place.data)).returncode == 2


def test_a_forged_record_cannot_send_control_characters_to_the_terminal(tmp_path: Path) -> None:
    control = "\x1b[2J\x1b[Hm: 9 entries; the record holds.\n\x9b8m"
    fields = {"match": control, "version": 1, "actor": "", "action": {}, "events": [{"type": control}], "at": 1, "request": None}
    fields |= {"format": 3, "revision": 1, "rules": control}
    record = tmp_path / "record.ndjson"
    record.write_text(json.dumps({**fields, "digest": control}))
    ended = run("audit", str(record))
    assert ended.returncode == 1
    lines = ended.stdout.removesuffix("\n").split("\n")
    assert [line for line in lines if not line.isprintable()] == []
    assert lines[0].endswith("DOES NOT HOLD.")
    assert [line.split()[0] for line in lines[1:5]] == ["digest", "committed", "decided", "version"]


@pytest.mark.parametrize("record", ['{"entries": [{"at": 1.5}, 5]}', '{"entries": 5}', "5", "[" * 5000, '{"entries": [{"at": 1e400}]}'])
def test_a_file_that_is_no_record_fails_the_audit(tmp_path: Path, record: str) -> None:
    file = tmp_path / "record.json"
    file.write_text(record)
    ended = run("audit", str(file))
    assert ended.returncode == 1
    assert "DOES NOT HOLD" in ended.stdout
    assert "Traceback" not in ended.stderr


def test_audit_all_works_beside_a_running_service(place: private.Place, match: str, tmp_path: Path) -> None:
    ended = run_anew("audit", "--all", "--data", str(place.data), "--json")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert json.loads(ended.stdout)["matches"] >= 1
    assert not (place.data / "audit.done").exists()
    for words in ([match, "--all"], [], ["--all", "--cores", "0"], ["--all", "--data", str(tmp_path)]):
        ended = run("audit", *words)
        assert (ended.returncode, "Traceback" in ended.stderr) == (2, False)


def test_show_prints_the_board_that_the_service_draws(place: private.Place, client: Client, match: str) -> None:
    shown = run_anew("show", match, "--at", "30", "--as", "red", "--data", str(place.data))
    assert shown.returncode == 0, shown.stderr
    answer = client.call("GET", f"/v1/matches/{match}/state?at=30&viewer=red", headers={"Accept": "text/plain"})
    assert shown.stdout == answer.text
    assert "seen by red" in shown.stdout
    assert "seen by spectator" in run("show", match, "--data", str(place.data)).stdout


def test_show_takes_the_service_and_the_key_from_options_or_the_environment(place: private.Place, client: Client, match: str) -> None:
    by_option = run("show", match, "--as", "auditor", "--url", place.url, "--key", place.admin_key)
    assert (by_option.returncode, "seen by auditor" in by_option.stdout) == (0, True), by_option.stderr
    environment = {"WARLEDGER_URL": place.url, "WARLEDGER_KEY": place.admin_key}
    assert run("show", match, "--as", "auditor", **environment).stdout == by_option.stdout
    refused = run("show", match, "--as", "auditor", "--url", place.url, "--key", "wl_nobody")
    assert (refused.returncode, "bad_key" in refused.stderr) == (1, True)


def test_show_says_why_there_is_nothing_to_show(place: private.Place, tmp_path: Path) -> None:
    for words in (["m" + "a" * 16, "--data", str(place.data)], ["m", "--data", str(tmp_path)], ["m", "--url", "http://127.0.0.1:9"]):
        for command in ("show", "replay"):
            ended = run(command, *words)
            assert (ended.returncode, ended.stdout) == (1, "")
            assert len(ended.stderr.splitlines()) == 1, ended.stderr


@pytest.mark.parametrize("match", ["m/../x", "", *(pytest.param(match, marks=pytest.mark.soak) for match in ("a b", "m\u00e9", "?at=1"))])
def test_an_impossible_match_id_is_not_found(place: private.Place, match: str) -> None:
    ended = run("show", match, "--url", place.url, "--key", place.admin_key)
    assert (ended.returncode, "Traceback" in ended.stderr) == (1, False), ended.stderr


def test_replay_steps_through_the_match(place: private.Place, match: str) -> None:
    stepped = run_anew("replay", match, "--data", str(place.data), typed="n\n40\nb\nwhat\n9999999\nn\n0\nq\n")
    assert stepped.returncode == 0, stepped.stderr
    lines = stepped.stdout.splitlines()
    asked = [line.split() for line in lines if line.startswith("version ")]
    last = asked[0][3]
    assert [words[1] for words in asked] == ["1", "2", "40", "39", "39", last, last, "1"]
    assert lines.count("Unknown command.") == 1
    assert sum("seen by spectator" in line for line in lines) == 7


def test_replay_works_in_a_terminal(place: private.Place, match: str) -> None:
    parent, child = pty.openpty()
    command = [sys.executable, "-m", "tools.replay", match, "--as", "red", "--from", "20", "--data", str(place.data)]
    process = subprocess.Popen(command, cwd="/", env=python_environment(), stdin=child, stdout=child, stderr=child)
    os.close(child)
    try:
        for typed, version in ((None, 20), ("", 21), ("n", 22), ("b", 21), ("7", 7)):
            if typed is not None:
                os.write(parent, f"{typed}\n".encode())
            screen = read_until(parent, f"version {version} of ")
            assert "\x1b[2J" in screen
            assert "seen by red" in screen
        os.write(parent, b"q\n")
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.wait()
        os.close(parent)


def read_until(terminal: int, wanted: str) -> str:
    """Return the output of a terminal up to some words. AssertionError if they do not come."""
    shown = ""
    while wanted not in shown:
        ready, _, _ = select.select([terminal], [], [], 20)
        assert ready, shown
        shown += os.read(terminal, 65536).decode(errors="replace")
    return shown


def as_admin(place: private.Place, client: Client) -> Client:
    """Return a client of the same service with the admin key."""
    admin = Client.__new__(Client)
    admin.url, admin.key = client.url, place.admin_key
    return admin


@pytest.mark.soak
def test_openapi_is_written_from_the_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests read the file meanwhile, so another one is written."""
    monkeypatch.setattr(openapi, "FILE", tmp_path / "openapi.yaml")
    monkeypatch.setattr(sys, "argv", ["openapi"])
    assert openapi.main() == 0
    assert (tmp_path / "openapi.yaml").read_bytes() == (private.ROOT / "openapi.yaml").read_bytes()


def test_run_lists_the_commands_and_refuses_others() -> None:
    helped = subprocess.run([private.ROOT / "run"], capture_output=True, text=True)
    assert helped.returncode == 0
    assert "./run serve" in helped.stdout
    unknown = subprocess.run([private.ROOT / "run", "fly"], capture_output=True, text=True)
    assert unknown.returncode == 2
    assert "There is no command fly." in unknown.stderr


def test_run_names_what_is_missing_on_a_machine_without_python(tmp_path: Path) -> None:
    alone = tmp_path / "warledger"
    alone.mkdir()
    for name in ("run", "requirements.txt", "warledger/commands.txt"):
        (alone / name).parent.mkdir(exist_ok=True)
        (alone / name).write_bytes((private.ROOT / name).read_bytes())
    (alone / "run").chmod(0o755)
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("cksum", "dirname", "cat", "grep"):
        (tools / name).symlink_to(f"/usr/bin/{name}")
    ended = subprocess.run(["/bin/sh", alone / "run", "serve"], env={"PATH": str(tools)}, capture_output=True, text=True)
    assert ended.returncode == 1
    assert "needs Python 3.11 or newer" in ended.stderr
