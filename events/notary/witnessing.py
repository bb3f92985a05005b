"""Ask witnesses to cosign each published checkpoint of the server's log (c2sp.org/tlog-witness).

A cosignature confirms that a witness saw the log grow without a fork. A witness that is down, slow or hostile delays nothing: leaves and
checkpoints do not wait for its answer.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import NamedTuple

import httpx
import structlog

from events.notary import server_log
from events.platform import Platform, Witness
from events.telemetry import metrics
from evidence import checkpoints, cosigning, tree
from evidence.cosigning import Request
from evidence.notes import Malformed, Signature
from evidence.notes import parse as parse_note

SECONDS = 5.0  # for the answer of a witness
LONGEST = 16_384  # bytes of an answer

log = structlog.get_logger(__name__)


class Asked(NamedTuple):
    """The answer of a witness: its cosignature, or the size of the server's log that it saw last, or neither."""

    signature: Signature | None = None
    size: int | None = None


class Witnesses:
    """Asks the witnesses of a platform. Remembers the size of the server's log that each saw last."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._seen: dict[str, int] = {}
        self._client = httpx.Client(timeout=SECONDS, follow_redirects=False, trust_env=False)
        self._done = ""  # the checkpoint that all witnesses were asked to cosign

    def close(self) -> None:
        """Close every connection."""
        self._client.close()

    def visit(self) -> int:
        """Ask each witness to cosign the published checkpoint, and publish the new cosignatures. Return how many there are.

        Each witness is asked once for each checkpoint. Raises NotInLog, StoreUnavailable, KeysUnfit.
        """
        shown = server_log.shown(self._platform)
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

    def _asked(self, shown: server_log.Shown, witnesses: Iterable[Witness], names: set[tuple[str, bytes]]) -> Iterable[Signature | None]:
        for witness in witnesses:
            if (witness.key.name, witness.key.id) in names:
                continue
            answer = self._once(shown, witness)
            if answer.size is not None and answer.size <= shown.size:  # it saw another size of the log than this process remembers
                self._seen[witness.key.vkey] = answer.size
                answer = self._once(shown, witness)
            if answer.signature is None:
                metrics.witness_failures.labels(witness.key.name).inc()
            else:
                self._seen[witness.key.vkey] = shown.size
                metrics.cosigned.labels(witness.key.name).inc()
            yield answer.signature

    def _once(self, shown: server_log.Shown, witness: Witness) -> Asked:
        """Ask a witness once. Any answer other than a cosignature is logged."""
        old = min(self._seen.get(witness.key.vkey, 0), shown.size)
        path = server_log.proof(self._platform, shown.origin, tree.consistency_spans(old, shown.size), shown.size)
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
        """Return the status and the text of an answer. A long answer, or one that comes slowly in pieces, is refused."""
        deadline = time.monotonic() + SECONDS
        with self._client.stream("POST", url, content=body, headers={"Content-Type": "text/plain; charset=utf-8"}) as response:
            found = b""
            for piece in response.iter_bytes():
                found += piece
                if len(found) > LONGEST or time.monotonic() > deadline:
                    raise Malformed("the answer of a witness is too long or too slow")
            return response.status_code, found.decode()
