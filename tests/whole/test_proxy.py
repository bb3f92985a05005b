"""`examples/nginx.conf` in front of a whole service, if nginx is installed."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests

from tests.whole.conftest import Client, until
from tools import private

NGINX = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/opt/homebrew/bin") or shutil.which("nginx")
IDLE = 500

pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed")


@pytest.fixture
def proxy(place: private.Place, tmp_path: Path) -> Iterator[str]:
    """Nginx with the example's configuration, but with other ports and folders."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    given = (private.ROOT / "examples/nginx.conf").read_text()
    file = tmp_path / "nginx.conf"
    own = given.replace("127.0.0.1:8000", urlsplit(place.url).netloc).replace("127.0.0.1:8080", address)
    file.write_text(own.replace("/tmp/", f"{tmp_path}/"))
    process = subprocess.Popen([str(NGINX), "-p", str(tmp_path), "-c", str(file)])
    try:
        until(lambda: answers(f"http://{address}/healthz"))
        yield f"http://{address}"
    finally:
        process.terminate()
        process.wait(10)


def answers(url: str) -> bool:
    try:
        return requests.get(url, timeout=2).ok
    except requests.RequestException:
        return False


def test_a_stream_through_the_proxy_is_not_delayed_and_idle_connections_stop_nobody(proxy: str) -> None:
    one, other = Client(proxy), Client(proxy)
    match = one.insist("POST", "/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "open"}})["id"]
    address = urlsplit(proxy)
    with ExitStack() as stack:
        for _ in range(IDLE):
            stack.enter_context(socket.create_connection((str(address.hostname), int(address.port or 0))))
        stream = stack.enter_context(requests.get(f"{proxy}/v1/matches/{match}/stream?after=1", stream=True, timeout=10))
        lines = stream.iter_lines(chunk_size=1)
        assert next(lines) == b"retry: 1000"
        other.insist("POST", f"/v1/matches/{match}/seats/blue", {})
        taken = time.monotonic()
        assert next(line for line in lines if line.startswith(b"id: ")) == b"id: 2"
        assert time.monotonic() - taken < 5  # a buffering proxy would keep it until the next comments fill its buffer


def test_a_proxy_without_the_service_answers_with_a_problem(proxy: str, place: private.Place) -> None:
    place.process.terminate()
    place.process.wait(20)
    refused = requests.get(f"{proxy}/v1/games", timeout=10)
    assert (refused.status_code, refused.json()["code"]) == (503, "store_away")
    assert refused.headers["Content-Type"] == "application/problem+json"
