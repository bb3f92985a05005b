"""Many simultaneous requests, over real sockets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import requests

from events import play
from events.platform import Platform
from tests.service.conftest import Live

STAY = {"type": "add", "by": 1, "stay": True}


def without_receipt(answer: tuple[int, int, Any]) -> tuple[int, int, Any]:
    """Return an answer without its receipt: that of the first one names the actions of the seat that were refused."""
    version, status, body = answer
    return version, status, {name: value for name, value in body.items() if name != "receipt"}


def test_of_a_thousand_racing_requests_one_wins_each_version(serve: Callable[..., Live], live: Live, platform: Platform) -> None:
    """Through two servers. The answers agree exactly with the stream."""
    key = requests.post(f"{live.url}/v1/players", json={"name": "Ann"}, timeout=5).json()["key"]
    me = {"Authorization": f"Bearer {key}"}
    body = {"game": "tally", "seats": {"one": "me", "two": "me"}, "options": {"target": 1000000}}
    match = requests.post(f"{live.url}/v1/matches", json=body, headers=me, timeout=5).json()["id"]
    play.play(platform, match, "system", [{"type": "advance"}])
    urls = [live.url, serve().url]

    def shoot(number: int) -> tuple[int, int, Any]:
        version = 2 + number // 50
        headers = {**me, "If-Match": f'"{version}"', "Idempotency-Key": f"k{number}"}
        answer = requests.post(f"{urls[number % 2]}/v1/matches/{match}/actions?seat=one", json=STAY, headers=headers, timeout=20)
        return version, answer.status_code, answer.json()

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(shoot, range(1000)))
    assert {status for _, status, _ in answers} <= {200, 412}
    won = [answer["version"] for _, status, answer in answers if status == 200]
    assert max(Counter(won).values()) == 1
    entries = requests.get(f"{live.url}/v1/matches/{match}/entries?after=2&limit=1000", timeout=5).json()["entries"]
    assert sorted(won) == [entry["version"] for entry in entries]
    assert all(answer["version"] >= version for version, status, answer in answers if status == 412)
    with ThreadPoolExecutor(16) as pool:
        again = list(pool.map(shoot, range(0, 1000, 50)))
    first = {number: answers[number] for number in range(0, 1000, 50)}
    for number, answer in zip(range(0, 1000, 50), again, strict=True):
        if first[number][1] == 200:
            assert without_receipt(answer) == without_receipt(first[number])
