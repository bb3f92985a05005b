"""An arena whose matches are played on a service: a player of it, a program and a level."""

from __future__ import annotations

import contextlib
import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from sdk.python.warledger_client import Client, Problem, in_the_game
from tools import arena, private
from tools.arena.plan import read

DRAWER = f"{sys.executable} {Path(__file__).parent / 'bots' / 'drawer.py'}"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with private.service(tmp_path_factory.mktemp("arena"), *private.SMALL) as place:
        yield place.url


class Player(threading.Thread):
    """A player of the service: it takes every seat that is kept for it, and plays the last of its choices."""

    def __init__(self, url: str) -> None:
        super().__init__(daemon=True)
        made = Client(url).post("/v1/players", {"name": "Far"})
        self.id: str = made["id"]
        self._client = Client(url, made["key"])
        self._ended = threading.Event()

    def run(self) -> None:
        while not self._ended.wait(0.05):
            for match in self._client.get("/v1/matches", invited="me")["matches"]:
                seat = next(seat for seat, player in match["invited"].items() if player == self.id)
                self._client.post(f"/v1/matches/{match['id']}/seats/{seat}", {})
            for match in self._client.get("/v1/matches", to_act="me")["matches"]:
                path = f"/v1/matches/{match['id']}"
                choices = in_the_game(self._client.get(f"{path}/choices")["choices"])
                with contextlib.suppress(Problem):  # the match has moved on
                    if choices:
                        self._client.post(f"{path}/actions", choices[-1]["action"])

    def stop(self) -> None:
        self._ended.set()
        self.join(10)


def test_players_of_a_service_play_programs_and_levels_there(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    player = Player(url)
    player.start()
    bots = ["--bot", "random", "--bot", f"mine={DRAWER}", "--bot", f"far={player.id}", "--bot", f"bad={DRAWER} illegal"]
    short = ["--game", "war_of_the_worlds", "--options", '{"round_limit": 1}']
    words = ["play", str(tmp_path), *short, *bots, "--rounds", "1", "--service", url, "--jobs", "2"]
    assert arena.main(words) == 0, capsys.readouterr().err
    player.stop()
    capsys.readouterr()
    table = json.loads((tmp_path / "table.json").read_bytes())
    assert table["matches"] == {"played": 12, "planned": 12, "void": 0}
    rows = {row["bot"]: row for row in table["ratings"]}
    assert {name: (row["matches"], row["left"]) for name, row in rows.items()} == {
        "random": (6, 0), "mine": (6, 0), "far": (6, 0), "bad": (6, 6),
    }  # fmt: skip
    first = json.loads((tmp_path / "matches/000001.ndjson").read_bytes().split(b"\n")[0])
    assert read(tmp_path).service_key in first["vkeys"]
    lines = [json.loads(line) for file in tmp_path.glob("matches/*.ndjson") for line in file.read_bytes().splitlines()]
    signed = [line["entry"].get("signed") for line in lines if line["line"] == "entry"]
    assert len({one["key"] for one in signed if one}) == 2, "those of the programs: the far one does not sign, the level cannot"
    assert len(list(tmp_path.rglob("signing-key-*.pem"))) == 2
    assert arena.main(["table", str(tmp_path)]) == 0
    gone = tmp_path / "matches/000002.ndjson"
    before = gone.read_bytes()
    gone.unlink()
    assert arena.main(words) == 0  # the match is still there, so it is not played again
    assert json.loads(gone.read_bytes().split(b"\n")[0])["match"] == json.loads(before.split(b"\n")[0])["match"]


def test_a_player_who_does_not_come_leaves_the_match_missing(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.arena.remote.STARTING", 0.0)
    absent = Client(url).post("/v1/players", {"name": "Absent"})["id"]
    words = ["play", str(tmp_path), "--game", "war", "--bot", "random", "--bot", f"absent={absent}", "--rounds", "1", "--service", url]
    assert arena.main(words) == 1
    printed = capsys.readouterr()
    assert "absent did not take a seat" in printed.err
    assert "0 of 2 matches" in printed.out
