"""Witnesses: they are asked to cosign each checkpoint of the server's log that is served (c2sp.org/tlog-witness).

A cosignature says that a witness has seen the log grow without a fork. A witness that is down, slow or hostile costs nothing: leaves are
added and checkpoints are signed whether it answers or not.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import NamedTuple

import httpx
import structlog

from events.notary import ledger
from events.platform import Platform, Witness
from events.telemetry import metrics
from evidence import checkpoints, cosigning, tree
from evidence.cosigning import Request
from evidence.notes import Malformed, Signature
from evidence.notes import parse as parse_note

SECONDS = 5.0  # that a witness may take
LONGEST = 16_384  # bytes of an answer

log = structlog.get_logger(__name__)


class Asked(NamedTuple):
    """The answer of a witness: its cosignature, or the size up to which it has seen the server's log, or neither."""

    signature: Signature | None = None
    size: int | None = None


class Witnesses:
    """Asks the witnesses of a platform, and remembers up to which size each has seen the server's log."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._seen: dict[str, int] = {}
        self._client = httpx.Client(timeout=SECONDS, follow_redirects=False, trust_env=False)
        self._done = ""  # the checkpoint that all witnesses have been asked for

    def close(self) -> None:
        """Close every connection."""
        self._client.close()

    def visit(self) -> int:
        """Ask every witness that has not cosigned the checkpoint that is served, and serve what they sign. Return how many did.

        Each is asked once for a checkpoint. Raises NotInLog, StoreUnavailable, KeysUnfit.
        """
        shown = ledger.shown(self._platform)
        checkpoint, note = checkpoints.of_note(shown.note)
        if checkpoint.text == self._done:
            return 0
        witnesses = self._platform.settings.witnesses
        had = cosigning.cosignatures(note, [witness.key for witness in witnesses])
        names = {(signature.name, signature.key_id) for signature in had}
        new = [signature for signature in self._asked(shown, witnesses, names) if signature is not None]
        self._done = checkpoint.text
        if new:
            self._platform.store.server_logs.publish(shown.origin, shown.size, cosigning.with_cosignatures(shown.note, new))
        return len(new)

    def _asked(self, shown: ledger.Shown, witnesses: Iterable[Witness], names: set[tuple[str, bytes]]) -> Iterable[Signature | None]:
        for witness in witnesses:
            if (witness.key.name, witness.key.id) in names:
                continue
            answer = self._once(shown, witness)
            if answer.size is not None and answer.size <= shown.size:  # it has seen more or less of the server's log than was thought
                self._seen[witness.key.vkey] = answer.size
                answer = self._once(shown, witness)
            if answer.signature is None:
                metrics.witness_failures.labels(witness.key.name).inc()
            else:
                self._seen[witness.key.vkey] = shown.size
                metrics.cosigned.labels(witness.key.name).inc()
            yield answer.signature

    def _once(self, shown: ledger.Shown, witness: Witness) -> Asked:
        """Ask a witness once. An answer that is no cosignature is logged."""
        old = min(self._seen.get(witness.key.vkey, 0), shown.size)
        path = ledger.proof(self._platform, shown.origin, tree.consistency_spans(old, shown.size), shown.size)
        body = cosigning.request_text(Request(old, tuple(path), shown.note))
        try:
            status, text = self._post(f"{witness.url.rstrip('/')}/add-checkpoint", body.encode())
            if status == 409 and text.endswith("\n"):
                return Asked(size=checkpoints.size(text[:-1]))
            if status == 200:
                text_of_note = parse_note(shown.note).text
                for signature in cosigning.signatures_in(text_of_note, text):
                    if cosigning.cosigned_at(witness.key, text_of_note, signature) is not None:
                        return Asked(signature)
        except (httpx.HTTPError, httpx.InvalidURL, Malformed, UnicodeError) as reason:
            log.warning("witness_away", witness=witness.key.name, error=type(reason).__name__)
            return Asked()
        log.warning("witness_refused", witness=witness.key.name, status=status)
        return Asked()

    def _post(self, url: str, body: bytes) -> tuple[int, str]:
        """Return the status and the text of an answer, which may not be long, nor take long in small pieces."""
        deadline = time.monotonic() + SECONDS
        with self._client.stream("POST", url, content=body, headers={"Content-Type": "text/plain; charset=utf-8"}) as response:
            found = b""
            for piece in response.iter_bytes():
                found += piece
                if len(found) > LONGEST or time.monotonic() > deadline:
                    raise Malformed("the answer of a witness is short and comes at once")
            return response.status_code, found.decode()
