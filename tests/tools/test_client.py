"""The client of the commands: what it sends, and what it makes of answers."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from tools.client import Client, Problem, Unreachable

STREAM = """: a comment
id: 3
event: entry
data: {"version": 3}

event: heartbeat
data: {}

event: entry
data: {"version":
data:  4}

event: over
data: {}

event: entry
data: {"version": 5}

"""


class Canned(BaseHTTPRequestHandler):
    """Answers that follow from the path. `/echo...` answers with the request."""

    def do_GET(self) -> None:
        if self.path.startswith("/v1/matches/"):
            self.answer(200, "text/event-stream", STREAM)
        elif self.path == "/refuse":
            self.answer(422, "application/problem+json", json.dumps({"code": "not_your_turn", "detail": "It is the turn of red."}))
        elif self.path == "/page":
            self.answer(502, "text/html", "<html>" + "x" * 1000)
        elif self.path == "/list":
            self.answer(500, "application/json", "[1]")
        elif self.path == "/away":
            self.close_connection = True
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            names = ("Accept", "Authorization", "Content-Type")
            headers = {name: self.headers[name] for name in names if name in self.headers}
            self.answer(200, "application/json", json.dumps({"method": self.command, "path": self.path, "body": body, **headers}))

    def do_POST(self) -> None:
        self.do_GET()

    def answer(self, status: int, media_type: str, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The address of a server with canned answers."""
    server = HTTPServer(("127.0.0.1", 0), Canned)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_get_sends_the_path_quoted_the_query_and_the_key(url: str) -> None:
    sent = Client(url, "secret").get("/echo/a b/?at=1/é%", after=3, viewer="red")
    assert sent == {
        "method": "GET",
        "path": "/echo/a%20b/%3Fat%3D1/%C3%A9%25?after=3&viewer=red",
        "body": "",
        "Accept": "application/json",
        "Authorization": "Bearer secret",
    }


def test_a_post_sends_json_or_no_body(url: str) -> None:
    sent = Client(url).post("/echo", {"type": "roll"})
    assert (sent["method"], json.loads(sent["body"]), sent["Content-Type"]) == ("POST", {"type": "roll"}, "application/json")
    assert "Authorization" not in sent
    assert Client(url).post("/echo")["body"] == ""


def test_fetch_asks_for_a_media_type(url: str) -> None:
    assert json.loads(Client(url).fetch("/echo", accept="text/plain"))["Accept"] == "text/plain"


def test_a_stream_ends_when_the_match_is_over(url: str) -> None:
    assert list(Client(url).stream("m1", after=2)) == [{"version": 3}, {"version": 4}]


@pytest.mark.parametrize(
    ("path", "status", "text"),
    [
        ("/refuse", 422, "422 not_your_turn: It is the turn of red."),
        ("/page", 502, "502 : <html>" + "x" * 194),
        ("/list", 500, "500 : [1]"),
    ],
)
def test_an_error_is_a_problem(url: str, path: str, status: int, text: str) -> None:
    with pytest.raises(Problem) as problem:
        Client(url).get(path)
    assert (problem.value.status, str(problem.value)) == (status, text)


@pytest.mark.parametrize("address", ["http://127.0.0.1:9", "ftp://127.0.0.1", "http://[", "no address"])
def test_a_service_that_does_not_answer_is_unreachable(address: str) -> None:
    with pytest.raises(Unreachable, match="does not answer"):
        Client(address).get("/healthz")


def test_a_connection_that_closes_without_an_answer_is_unreachable(url: str) -> None:
    with pytest.raises(Unreachable, match="does not answer"):
        Client(url).get("/away")
