"""Messages: what a hook sends for a match. They follow from the log alone, so they are the same whenever they are sent."""

from __future__ import annotations

import base64
import re
from datetime import UTC, datetime
from typing import Any, NamedTuple

from standardwebhooks import Webhook

from events.hearing import Hearing
from events.hooks import push, subscriptions
from events.hooks.subscriptions import ORGANISER, Hook
from events.platform import Platform
from games import patterns
from record.entries import canonical
from record.notices import Notice

TEST = "test"

_ID = re.compile(f"(?P<where>{patterns.MATCH})-(?P<version>[0-9]+)-(?P<index>[0-9]+)-(?P<kind>[a-z_]+)|test-(?P<moment>[0-9]+)")


class Message(NamedTuple):
    """A message. `id`: the same whenever it is sent again. `about`: match, version and place of the notice; None for a test.

    `entry`: the version of the entry that tells it. It is shown to nobody, since a player may not know how far a match has got.
    """

    id: str
    kind: str
    about: tuple[str, int, int] | None
    entry: int
    body: bytes


class Reader:
    """Reads what hooks have to send. The threads of a process share it."""

    def __init__(self, platform: Platform) -> None:
        self._hearing = Hearing(platform)

    def after(self, player: str, hook: Hook, match: str, version: int) -> tuple[list[Message], int, bool]:
        """Return the messages of the next entries after a version, up to which version these entries go, and whether that is the head.

        Raises NoMatch, StoreUnavailable.
        """
        heard = self._hearing.after(match, version)
        found = [_message(hook, told.notice, told.version) for told in heard.told if _is_for(told.notice, player, hook)]
        return found, heard.reached, not heard.more

    def again(self, player: str, hook: Hook, id: str, entry: int) -> Message | None:
        """Return the message with an id, as `entry` told it, or None if it is not the player's. `id`: as `Message.id`.

        Raises NoMatch, StoreUnavailable.
        """
        parts = _ID.fullmatch(id.removesuffix(f"-{hook.id}"))
        if parts is None:
            return None
        if parts["moment"] is not None:
            return trial(hook, int(parts["moment"]))
        heard = self._hearing.after(parts["where"], entry - 1, least=entry)
        found = [_message(hook, notice, entry) for version, notice in heard.told if version == entry and _is_for(notice, player, hook)]
        return next((message for message in found if message.id == id), None)


def trial(hook: Hook, moment: int) -> Message:
    """Return a test message of a hook. `moment`: when it was asked for (ms since 1970)."""
    return Message(f"{TEST}-{moment}-{hook.id}", TEST, None, 0, _body(TEST, moment, {"type": TEST, "at": moment, "hook": hook.id}))


def posted(platform: Platform, player: str, hook: Hook, message: Message, now: int) -> tuple[list[tuple[bytes, bytes]], bytes]:
    """Return the headers and the body of the request that sends a message at a moment (ms since 1970).

    A browser is sent the body encrypted. Any other receiver gets headers of Standard Webhooks: a signature (v1) by each valid secret of the
    hook, and one by the server (v1a). Raises KeysUnfit, StoreUnavailable.
    """
    if hook.push is not None:
        return push.headers(platform, hook.url, now), push.encrypted(message.body, *hook.push)
    moment = datetime.fromtimestamp(now // 1000, UTC)
    text = message.body.decode()
    signed = [Webhook(secret).sign(message.id, moment, text) for secret in subscriptions.valid_secrets(platform, player, hook, now)]
    by_server = platform.signer.signature(f"{message.id}.{now // 1000}.{text}".encode())
    signed.append(f"v1a,{base64.b64encode(by_server).decode()}")
    headers = [
        (b"Content-Type", b"application/json"),
        (b"webhook-id", message.id.encode()),
        (b"webhook-timestamp", str(now // 1000).encode()),
        (b"webhook-signature", " ".join(signed).encode()),
    ]
    return headers, message.body


def public_key(platform: Platform) -> str:
    """Return the key that checks the server's signatures (v1a), in the form of Standard Webhooks. Raises KeysUnfit."""
    return f"whpk_{base64.b64encode(platform.signer.public).decode()}"


def _is_for(notice: Notice, player: str, hook: Hook) -> bool:
    """Return True if a hook sends a notice."""
    told = notice.organiser == player if hook.role == ORGANISER else player in notice.to
    return told and notice.kind in hook.kinds and hook.match in (None, notice.match)


def _message(hook: Hook, notice: Notice, entry: int) -> Message:
    id = f"{notice.id.replace('.', '-')}-{hook.id}"  # the signature has points between its parts
    return Message(id, notice.kind, (notice.match, notice.version, notice.place), entry, _body(notice.kind, notice.at, notice.body))


def _body(kind: str, at: int, data: dict[str, Any]) -> bytes:
    """Return the body of a message: its kind, its moment (ms since 1970) and the event, in canonical JSON."""
    moment = datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return canonical({"type": kind, "timestamp": moment, "data": data})
