"""The example bots over the SDK, as programs of strangers."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from sdk.python.warledger_client import Client
from tests.conftest import within
from tools import private

EXAMPLES = private.ROOT / "examples"
GAMES = ("war", *(pytest.param(game, marks=pytest.mark.soak) for game in ("war_of_civilizations", "war_of_the_worlds")))


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(private.ROOT / "sdk" / "python"), **more}


def run(folder: Path, *words: str | Path) -> str:
    """Run a program to its end, and return what it prints."""
    done = subprocess.run([sys.executable, *words], cwd=folder, env=environment(), capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("game", GAMES)
def test_the_python_bot_plays_to_the_end_and_its_receipts_are_good(place: private.Place, tmp_path: Path, game: str) -> None:
    printed = run(tmp_path, EXAMPLES / "python_bot.py", place.url, "--game", game, "--receipts", "kept")
    match = printed.split()[1]
    assert re.search(r"won by \w+: \w+\n$", printed)
    check = [EXAMPLES / "check_chain.py", place.url, match, "--receipts", Path("kept", f"{match}.jsonl")]
    assert "form one chain" in run(tmp_path, *check)


def test_the_python_bot_takes_an_open_seat(place: private.Place, tmp_path: Path) -> None:
    ben = Client(place.url)
    ben.register("Ben")
    match = ben.create("war", {"red": "ai:random", "blue": "open"})
    assert "won by" in run(tmp_path, EXAMPLES / "python_bot.py", place.url, "--match", match.id)
    assert "player" in match.standing()["seats"]["blue"]


PAGE = (private.ROOT / "docs" / "chat-room.md").read_text(encoding="utf-8")


class Posted:
    """A chat room that keeps what is posted to it. It limits the first message."""

    def __init__(self) -> None:
        self.messages: list[tuple[str, str, bytes]] = []
        room = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                limited = not room.messages
                room.messages.append((self.path, self.headers["Content-Type"], body))
                self.send_response(429 if limited else 204)
                self.send_header("Retry-After", "0")
                self.end_headers()

            def log_message(self, format: str, *arguments: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def room() -> Iterator[Posted]:
    posted = Posted()
    thread = threading.Thread(target=posted.server.serve_forever, daemon=True)
    thread.start()
    yield posted
    posted.server.shutdown()
    posted.server.server_close()


@pytest.fixture
def duel(place: private.Place) -> Any:
    """A match of two people, one of whom has a name that a chat room could take for a mention. Its seats, by seat."""
    ada, ben = Client(place.url), Client(place.url)
    ada.register("<@everyone>")
    ben.register("Ben")
    match = ada.create("war", {"red": "me", "blue": "open"})
    ben.match(match.id).join("blue")
    within(30, lambda: match.standing()["to_act"] in (["red"], ["blue"]))
    return {"red": match, "blue": ben.match(match.id)}


def test_the_chat_bot_says_whose_turn_it_is_once_with_a_picture(place: private.Place, room: Posted, duel: Any) -> None:
    match = duel["red"].id
    command = [sys.executable, EXAMPLES / "chat_bot.py", f"{room.url}/api/webhooks/1/x", match, "--url", place.url]
    bot = subprocess.Popen(command, env=environment())
    try:
        within(30, lambda: len(room.messages) == 2)  # the first one again
        (seat,) = duel["red"].standing()["to_act"]
        for what in ("draw", "void", "pause"):  # it stays the turn of the same seat
            duel[seat].act({"type": "offer", "what": what})
        duel[seat].act({"type": "resign"})
        assert bot.wait(30) == 0
    finally:
        bot.kill()
        bot.wait()
    (path, kind, first), (_, _, again), (_, _, last) = room.messages
    assert path == "/api/webhooks/1/x"
    assert kind.startswith("multipart/form-data")
    assert b"\x89PNG\r\n" in first
    assert b"\x89PNG\r\n" in again
    texts = [json.loads(re.search(rb'\{"content.*?\}\}', body)[0]) for body in (first, again, last)]  # type: ignore[index]
    assert texts[0] == texts[1]
    assert (
        f"it is the turn of {'Ben' if seat == 'blue' else chr(92) + '<@' + chr(0x200B) + 'everyone' + chr(92) + '>'} ({seat})"
        in texts[0]["content"]
    )
    assert texts[0]["content"].endswith(f"{place.url}/m/{match}")
    assert texts[0]["allowed_mentions"] == {"parse": []}
    assert f"won by {'red' if seat == 'blue' else 'blue'}" in texts[2]["content"]


def test_the_chat_bot_tells_of_the_turns_of_a_player(place: private.Place, room: Posted, duel: Any) -> None:
    (seat,) = duel["red"].standing()["to_act"]
    command = [sys.executable, EXAMPLES / "chat_bot.py", f"{room.url}/hook", "--url", place.url]
    bot = subprocess.Popen(command, env=environment(WARLEDGER_KEY=duel[seat].client.key))
    try:
        within(30, lambda: len(room.messages) == 2)
    finally:
        bot.kill()
        bot.wait()
    text = json.loads(room.messages[1][2])["text"]
    assert text.startswith("War!, round 1: it is the turn of ")
    assert ("Ben (blue)" if seat == "blue" else "&lt;@\u200beveryone&gt; (red)") in text


def test_the_program_of_the_page_posts_a_turn_with_the_board(place: private.Place, room: Posted, duel: Any) -> None:
    (program,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    assert len(program.splitlines()) <= 20
    (seat,) = duel["red"].standing()["to_act"]
    command = [sys.executable, "-c", program.replace("http://127.0.0.1:8000", place.url), f"{room.url}/hook"]
    bot = subprocess.Popen(command, env=environment(WARLEDGER_KEY=duel[seat].client.key))
    try:
        within(30, lambda: room.messages)
    finally:
        bot.kill()
        bot.wait()
    text = json.loads(room.messages[0][2])["text"]
    assert text.startswith(f"Your turn as {seat}: {place.url}/m/{duel[seat].id}")
    assert "seen by spectator" in text
