"""Post a message to its receiver. Whatever the receiver does, it takes a few seconds and a few kilobytes."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Sequence

import httpcore

from events.errors import BadHookUrl
from events.hooks.addresses import checked, target
from events.hooks.deliveries import ADDRESS, ANSWER, CERTIFICATE, CONNECTION, LONGEST_ANSWER, NAME, TIME, Outcome
from events.platform import Settings
from workers.hooks.network import InnerAddress, NoAddress, Outside, Resolver

SECONDS = 10.0  # for all of it: the name, the connection, the request and the answer
CONNECT_SECONDS = 5.0
READ = 4 * LONGEST_ANSWER  # bytes of an answer that are read
KEPT_SECONDS = 20.0  # that a connection is kept for the next message
KEPT = 128  # connections that are kept
LONGEST_PAUSE = 3600  # seconds that a receiver can ask for

Headers = Sequence[tuple[bytes, bytes]]


class Poster:
    """Posts messages. It follows no redirects, and no proxies of the environment. `most`: messages at the same time."""

    def __init__(self, settings: Settings, most: int) -> None:
        self._permitted = settings.hook_origins
        trusted = httpcore.default_ssl_context()
        trusted.load_default_certs()  # and those that the operator's machine trusts
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=trusted,
            max_connections=most + KEPT,
            max_keepalive_connections=KEPT,
            keepalive_expiry=KEPT_SECONDS,
            network_backend=Outside(Resolver(settings.name_servers), settings.hook_origins),
        )

    async def post(self, url: str, headers: Headers, body: bytes) -> Outcome:
        """Post a message once. Return how it was answered. Raises nothing that a receiver or a name server can cause."""
        began = time.monotonic()
        status, text, pause, failure = None, b"", 0, None
        try:
            async with asyncio.timeout(SECONDS):
                status, text, pause = await self._post(url, headers, body)
        except (BadHookUrl, InnerAddress):  # the operator no longer permits what was permitted
            failure = ADDRESS
        except NoAddress:
            failure = NAME
        except (TimeoutError, httpcore.TimeoutException):
            failure = TIME
        except httpcore.NetworkError as reason:
            failure = CERTIFICATE if _is_about_certificates(reason) else CONNECTION
        except httpcore.ProtocolError:
            failure = ANSWER
        ms = round((time.monotonic() - began) * 1000)
        return Outcome(ms, status, _visible(text), failure, pause)

    async def close(self) -> None:
        """Close every connection."""
        await self._pool.aclose()

    async def _post(self, url: str, headers: Headers, body: bytes) -> tuple[int, bytes, int]:
        """Return the status of the answer, its beginning, and the seconds after which the receiver wants to be asked again."""
        to = target(checked(url, self._permitted))
        address = httpcore.URL(scheme=to.scheme, host=to.host, port=to.port, target=to.path)
        named = to.origin.partition("://")[2].removesuffix(":443" if to.scheme == "https" else ":80")
        sent = [(b"Host", named.encode()), (b"Content-Length", str(len(body)).encode()), *_HEADERS, *headers]
        found = b""
        async with self._pool.stream("POST", address, headers=sent, content=body, extensions={"timeout": _TIMEOUTS}) as response:
            async for piece in response.aiter_stream():
                found += piece
                if len(found) >= READ:
                    break  # the rest is not read; the connection is closed
        return response.status, found[:READ], _pause(response.headers)


_HEADERS = [
    (b"User-Agent", b"Warledger (webhooks)"),
    (b"Accept", b"*/*"),
    (b"Accept-Encoding", b"identity"),
]
_TIMEOUTS = {"connect": CONNECT_SECONDS, "read": SECONDS, "write": SECONDS, "pool": SECONDS}


def _is_about_certificates(reason: BaseException | None) -> bool:
    """Return True if an error comes from TLS."""
    return reason is not None and (isinstance(reason, ssl.SSLError) or _is_about_certificates(reason.__cause__ or reason.__context__))


def _pause(headers: Headers) -> int:
    """Return the seconds of a Retry-After header, at most an hour, or 0."""
    given = next((value for name, value in headers if name.lower() == b"retry-after"), b"")
    return min(LONGEST_PAUSE, int(given)) if given.isdigit() and len(given) < 10 else 0


def _visible(text: bytes) -> str:
    """Return the beginning of an answer as a line of visible text."""
    decoded = "".join(letter if letter.isprintable() else " " for letter in text.decode(errors="replace"))
    return decoded.strip()[:LONGEST_ANSWER]
