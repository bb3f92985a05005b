"""No way into the inner network: hostile addresses, hostile name servers, hostile receivers."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from http.server import BaseHTTPRequestHandler
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import httpcore
import pytest

from events.errors import BadHookUrl
from events.hooks.addresses import LONGEST, checked, is_public
from events.hooks.deliveries import ADDRESS, ANSWER, CERTIFICATE, CONNECTION, LONGEST_ANSWER, NAME, TIME, Outcome
from events.platform import Settings
from tests.workers.naming import naming, one
from tests.workers.receiving import Receiver, receiving
from workers.hooks import network, posting
from workers.hooks.network import Outside, Resolver
from workers.hooks.posting import READ, Poster

PUBLIC = ("8.8.8.8", "1.1.1.1", "2606:4700:4700::1111", "2a00:1450:4001::1")
INNER = (
    *("0.0.0.0", "0.1.2.3", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.8.9.10", "169.254.169.254", "172.16.0.1", "192.0.0.1", "192.0.2.1"),
    *("192.88.99.1", "192.168.1.1", "198.18.0.1", "203.0.113.1", "224.0.0.1", "239.1.2.3", "240.0.0.1", "255.255.255.255"),
    *("::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "64:ff9b::7f00:1", "64:ff9b:1::1", "100::1", "2001::1", "2001:db8::1"),
    *("2001:10::1", "2002:7f00:1::1", "3fff::1", "5f00::1", "fc00::1", "fd12::1", "fe80::1", "fec0::1", "ff02::1", "ff0e::1"),
)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as found:
        yield found


def posted(settings: Settings, *urls: str) -> list[Outcome]:
    """Post something to each of the URLs, one after the other, by one poster."""

    async def run() -> list[Outcome]:
        poster = Poster(settings, 4)
        found = [await poster.post(url, [], b"{}") for url in urls]
        await poster.close()
        return found

    return asyncio.run(run())


class Tcp(httpcore.AsyncNetworkBackend):
    """Notes where it is asked to connect, and leads to a receiver of this machine instead."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.connected: list[str] = []
        self._real = httpcore.AnyIOBackend()

    async def connect_tcp(self, host: str, port: int, *rest: Any) -> httpcore.AsyncNetworkStream:
        self.connected.append(host)
        return await self._real.connect_tcp("127.0.0.1", self.port, *rest)


@pytest.fixture
def tcp(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> Tcp:
    """The way out of the machine, as far as it is let through; all of it ends at the receiver."""
    made = Tcp(receiver.port)
    init = Outside.__init__

    def outside(self: Outside, resolver: Resolver, permitted: Any) -> None:
        init(self, resolver, permitted)
        self._tcp = made  # type: ignore[assignment]

    monkeypatch.setattr(Outside, "__init__", outside)
    monkeypatch.setattr(posting, "checked", lambda url, permitted: url)  # tests of names need no certificates
    return made


# ---------------------------------------------------------------- addresses


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_public(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize("address", INNER)
def test_inner_addresses_are_not(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize(
    "url",
    [
        *(f"https://{f'[{address}]' if ':' in address else address}/" for address in INNER),
        *("https://localhost/", "https://127.1/", "https://2130706433/", "https://0x7f000001/", "https://0177.0.0.1/", "https://intranet/"),
        *(
            "http://example.org/",
            "ftp://example.org/",
            "https://",
            "https:///a",
            "//example.org",
            "example.org",
            "",
            "https://exa mple.org/",
        ),
        *("https://example.org@127.0.0.1/", "https://user:password@example.org/", "https://example.org/#a", "https://example.org:0/"),
        *("https://example.org:99999/", "https://bücher.example/", "https://[::1", "https://[fe80::1%25eth0]/", "https://exa\tmple.org/"),
        *("https://example.org\\@127.0.0.1/", "https://-a.example/", "https://a..example/", f"https://example.org/{'a' * LONGEST}"),
    ],
)
def test_a_hook_cannot_have_such_a_url(url: str) -> None:
    with pytest.raises(BadHookUrl):
        checked(url, ())


@pytest.mark.parametrize("url", ["https://example.org", "https://example.org:8443/a?b=c", "https://8.8.8.8/", "https://[2606:4700::1]/a"])
def test_a_hook_can_have_such_a_url(url: str) -> None:
    assert checked(url, ()) == url


def test_the_operator_permits_origins_and_nothing_beside_them() -> None:
    permitted = {"http://chat.internal:8065"}
    assert checked("http://chat.internal:8065/a", permitted)
    assert checked("https://chat.internal:8065/a", permitted)  # the name may be public; its address decides
    for other in ("http://chat.internal/a", "http://chat.internal:8066/", "http://other.internal:8065/"):
        with pytest.raises(BadHookUrl):
            checked(other, permitted)


# ---------------------------------------------------------------- name servers


def test_a_name_with_an_inner_address_is_refused(tcp: Tcp) -> None:
    zone: dict[tuple[str, str], Any] = {}
    for place, address in enumerate(INNER):
        zone |= one(f"evil{place}.example", "AAAA" if ":" in address else "A", address)
    with naming(zone) as server:
        outcomes = posted(Settings(name_servers=(server.address,)), *(f"http://evil{place}.example/" for place in range(len(INNER))))
    assert {(outcome.failure, outcome.status) for outcome in outcomes} == {(ADDRESS, None)}
    assert tcp.connected == []


def test_a_name_with_an_inner_address_among_others_is_refused(tcp: Tcp) -> None:
    zone = {**one("evil.example", "A", "8.8.8.8"), **one("evil.example", "AAAA", "::ffff:127.0.0.1")}
    with naming(zone) as server:
        (outcome,) = posted(Settings(name_servers=(server.address,)), "http://evil.example/")
    assert (outcome.failure, tcp.connected) == (ADDRESS, [])


def test_an_alias_of_an_inner_name_is_refused(tcp: Tcp) -> None:
    chain = [("evil.example", "CNAME", "inner.example."), ("inner.example", "A", "127.0.0.1")]
    with naming({("evil.example", "A"): [chain]}) as server:
        (outcome,) = posted(Settings(name_servers=(server.address,)), "http://evil.example/")
    assert (outcome.failure, tcp.connected) == (ADDRESS, [])


def test_a_name_that_changes_is_checked_at_each_connection_and_resolved_once(
    tcp: Tcp, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(posting, "KEPT_SECONDS", 0.0)
    public, inner = [("evil.example", "A", "8.8.8.8")], [("evil.example", "A", "127.0.0.1")]
    with naming({("evil.example", "A"): [public, inner]}) as server:
        outcomes = posted(Settings(name_servers=(server.address,)), *["http://evil.example/"] * 3)
        assert server.asked.count(("evil.example", "A")) == 3
    assert [(outcome.status, outcome.failure) for outcome in outcomes] == [(204, None), (None, ADDRESS), (None, ADDRESS)]
    assert tcp.connected == ["8.8.8.8"]  # the address that was checked, not the name
    assert len(receiver.received) == 1


def test_the_names_of_the_machine_do_not_count(tcp: Tcp) -> None:
    with naming({}) as server:
        outcomes = posted(Settings(name_servers=(server.address,)), "http://localhost/", f"http://{socket.gethostname()}/")
    assert {outcome.failure for outcome in outcomes} == {NAME}
    assert tcp.connected == []


def test_a_name_server_that_does_not_answer_costs_some_seconds(tcp: Tcp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "RESOLVE_SECONDS", 0.2)
    with naming({("evil.example", "A"): [None]}) as server:
        (outcome,) = posted(Settings(name_servers=(server.address,)), "http://evil.example/")
    assert (outcome.failure, tcp.connected) == (NAME, [])


def test_the_next_address_is_tried(receiver: Receiver, tcp: Tcp, monkeypatch: pytest.MonkeyPatch) -> None:
    real = tcp.connect_tcp

    async def connect_tcp(host: str, *rest: Any) -> httpcore.AsyncNetworkStream:
        if host == "8.8.8.8":
            raise httpcore.ConnectError
        return await real(host, *rest)

    monkeypatch.setattr(tcp, "connect_tcp", connect_tcp)
    with naming(one("two.example", "A", "8.8.8.8", "1.1.1.1")) as server:
        (outcome,) = posted(Settings(name_servers=(server.address,)), "http://two.example/")
    assert (outcome.status, tcp.connected) == (204, ["1.1.1.1"])


def test_proxies_of_the_environment_do_not_count(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
        monkeypatch.setenv(name.upper(), "http://127.0.0.1:1")
    (outcome,) = posted(permitted(receiver), f"{receiver.origin}/")
    assert outcome.status == 204


# ---------------------------------------------------------------- receivers


def permitted(*receivers: Receiver) -> Settings:
    return Settings(hook_origins=frozenset(receiver.origin for receiver in receivers))


def test_redirects_are_not_followed(receiver: Receiver) -> None:
    def redirect(request: BaseHTTPRequestHandler) -> int:
        request.send_response(307)
        request.send_header("Location", f"{receiver.origin}/inner")
        request.send_header("Content-Length", "0")
        request.end_headers()
        return -1

    receiver.answers["/"] = redirect
    (outcome,) = posted(permitted(receiver), f"{receiver.origin}/")
    assert (outcome.status, outcome.arrived) == (307, False)
    assert [got.path for got in receiver.received] == ["/"]


def test_an_origin_that_is_no_longer_permitted_gets_nothing(receiver: Receiver) -> None:
    (outcome,) = posted(Settings(), f"{receiver.origin}/")
    assert (outcome.failure, receiver.received) == (ADDRESS, [])


def answering(*parts: bytes, pause: float = 0.0, ends: bool = True) -> Callable[[BaseHTTPRequestHandler], int]:
    """Return an answer that is sent part by part, again and again if it does not end."""

    def answer(request: BaseHTTPRequestHandler) -> int:
        request.close_connection = True
        with contextlib.suppress(OSError):
            while True:
                for part in parts:
                    request.wfile.write(part)
                    request.wfile.flush()
                    time.sleep(pause)  # the receiver is slow, not the test
                if ends:
                    break
        return -1

    return answer


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"


def test_only_the_beginning_of_an_endless_answer_is_read(receiver: Receiver) -> None:
    receiver.answers["/"] = answering(HEAD + b"Content-Length: 1000000000000\r\n\r\n", b"x" * 65_536, ends=False)
    (outcome,) = posted(permitted(receiver), f"{receiver.origin}/")
    assert (outcome.status, outcome.answer) == (200, "x" * LONGEST_ANSWER)
    assert READ < 65_536


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param([HEAD[:1], b"X"], id="a status that never ends"),
        pytest.param([HEAD + b"Content-Length: 500\r\n\r\n", b"x"], id="a body of a byte now and then"),
        pytest.param([HEAD + b"X-A: 1\r\n"], id="headers now and then"),
        pytest.param([b""], id="nothing"),
    ],
)
def test_a_slow_answer_takes_some_seconds_at_most(parts: list[bytes], receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posting, "SECONDS", 0.5)
    receiver.answers["/"] = answering(*parts, pause=0.1, ends=False)
    (outcome,) = posted(permitted(receiver), f"{receiver.origin}/")
    assert outcome.failure in (TIME, ANSWER)
    assert outcome.ms < 5000


def test_endless_headers_are_refused(receiver: Receiver) -> None:
    receiver.answers["/"] = answering(b"HTTP/1.1 200 OK\r\n", b"X-A: " + b"a" * 10_000 + b"\r\n", ends=False)
    (outcome,) = posted(permitted(receiver), f"{receiver.origin}/")
    assert outcome.failure == ANSWER


@pytest.mark.parametrize("text", [b"SSH-2.0-OpenSSH_9.2\r\n", b"+PONG\r\n", b"\x00\x01\x02", b"HTTP/1.1 abc\r\n\r\n"])
def test_what_is_not_http_is_said_to_be_none(text: bytes, receiver: Receiver) -> None:
    receiver.answers["/"] = answering(text)
    (outcome,) = posted(permitted(receiver), f"{receiver.origin}/")
    assert (outcome.failure, outcome.answer) == (ANSWER, "")


def test_a_port_where_nobody_listens(receiver: Receiver) -> None:
    receiver.close()
    (outcome,) = posted(permitted(receiver), f"{receiver.origin}/")
    assert outcome.failure == CONNECTION


def test_answers_are_kept_as_visible_text(receiver: Receiver) -> None:
    receiver.answers["/"] = answering(HEAD + b"Connection: close\r\n\r\n", b"bad\x00 \x1b[31m\xff\r\nnews")
    (outcome,) = posted(permitted(receiver), f"{receiver.origin}/")
    assert outcome.answer == "bad   [31m\N{REPLACEMENT CHARACTER}  news"


def test_a_wrong_certificate_is_refused(tmp_path: Path) -> None:
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost", "-addext"]
    made += ["subjectAltName=DNS:localhost", "-keyout", str(tmp_path / "key"), "-out", str(tmp_path / "certificate")]
    try:
        subprocess.run(made, check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("openssl makes the certificate")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "certificate", tmp_path / "key")
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with contextlib.suppress(OSError):
                context.wrap_socket(listening.accept()[0], server_side=True)

        threading.Thread(target=serve, daemon=True).start()
        origin = f"https://localhost:{listening.getsockname()[1]}"
        (outcome,) = posted(Settings(hook_origins=frozenset([origin])), f"{origin}/")
    assert outcome.failure == CERTIFICATE


Post = Callable[[str], Awaitable[Outcome]]


def test_a_pause_that_is_asked_for_is_noted(receiver: Receiver) -> None:
    for path, given in (("/a", b"120"), ("/b", b"999999"), ("/c", b"soon"), ("/d", b"-5")):
        busy = b"HTTP/1.1 503 Busy\r\nConnection: close\r\nContent-Length: 0\r\n"  # the receiver does close it
        receiver.answers[path] = answering(busy + b"Retry-After: " + given + b"\r\n\r\n")
    found = posted(permitted(receiver), *(f"{receiver.origin}/{path}" for path in "abcd"))
    assert [outcome.retry_after for outcome in found] == [120, 3600, 0, 0]
