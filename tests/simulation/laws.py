"""The laws of the platform, and the witness who notes what the platform says and finds what breaks them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from events.audit import audit
from events.due import KINDS, split
from events.errors import PlatformError
from events.notary import highwater, server_log, server_log_audit
from events.platform import Platform
from evidence.notes import parse as parse_note
from evidence.statements import parse_receipt
from record.entries import Entry, parse


class Witness:
    """Notes what the platform says to anybody. `broken`: the laws that are broken, as sentences."""

    def __init__(self) -> None:
        self.broken: list[str] = []
        self.reached: dict[str, int] = {}  # by match, the newest version that was acknowledged
        self._shown: dict[tuple[str, int], str] = {}
        self._acknowledged: dict[tuple[str, int], str] = {}
        self._receipts: list[str] = []
        self._requests: dict[tuple[str, str], int] = {}

    def show(self, match: str, version: int, digest: str) -> None:
        """Note that somebody was shown a version."""
        if self._shown.setdefault((match, version), digest) != digest:
            self.broken.append(f"one history: version {version} of {match} was shown with two digests")

    def acknowledge(self, match: str, version: int, digest: str) -> None:
        """Note that somebody was told that a version is written."""
        self.show(match, version, digest)
        self._acknowledged[match, version] = digest
        self.reached[match] = max(self.reached.get(match, 0), version)

    def ask(self, match: str, request: str, actions: int) -> None:
        """Note a request for so many actions. It may be carried out once."""
        self._requests[match, request] = actions

    def keep(self, receipt: str) -> None:
        """Note a receipt that somebody has."""
        self._receipts.append(receipt)

    def judge(self, platform: Platform, matches: Iterable[str], signed: dict[int, bytes], audits: bool) -> None:
        """Compare all that was said with what the store has in the end. `signed`: the roots that were signed, by size.

        `audits`: also audit each match.
        """
        for match in matches:
            try:
                raws = list(platform.store.log.read_all(match))
                self.broken += self._of_match(match, [parse(raw) for raw in raws])
                self.broken += _audited(platform, match) if audits else ()
            except PlatformError as reason:
                self.broken.append(f"nothing lost: {match} cannot be read: {reason.code}")
        self.broken += self._of_log(platform, signed)
        self.broken += _of_due(platform)

    def _of_match(self, match: str, entries: list[Entry]) -> Iterator[str]:
        digests = {entry.version: entry.digest for entry in entries}
        for (other, version), digest in self._acknowledged.items():
            if other == match and digests.get(version) != digest:
                yield f"nothing lost: version {version} of {match} was acknowledged, and the log has another one or none"
        for (other, version), digest in self._shown.items():
            if other == match and digests.get(version) != digest:
                yield f"one history: version {version} of {match} was shown, and the log has another one or none"
        for note in self._receipts:
            receipt = parse_receipt(parse_note(note).text)
            if receipt.match == match and digests.get(receipt.version) != receipt.digest:
                yield f"receipts: one names another entry of {match} at version {receipt.version} than the log"
        done = Counter(entry.request["id"] for entry in entries if entry.request is not None and "id" in entry.request)
        for request, number in done.items():
            if number != self._requests.get((match, request), number):
                yield f"nothing twice: the request {request} of {match} has {number} entries"

    def _of_log(self, platform: Platform, signed: dict[int, bytes]) -> Iterator[str]:
        origin = platform.signer.name
        state = platform.store.server_logs.state(origin)
        for size, root in signed.items():
            if size > state.size or server_log.root(platform, origin, size, state.size) != root:
                yield f"one log: the root that was signed for {size} leaves is not that of the log, which has {state.size}"
        if state.served != state.size and state.size:
            yield f"everything due: {state.size - state.served} leaves of the log are under no checkpoint"
        leaves = platform.store.server_logs.leaves(origin, [(0, state.size)])[0] if state.size else []
        if len(set(leaves)) != len(leaves):
            yield "nothing twice: the log has a leaf twice"
        for finding in server_log_audit.of_log(platform):
            yield f"one log: {finding}"
        if stopped := highwater.sentence(platform.settings.keys_folder, origin):
            yield f"one log: {stopped}"


def _audited(platform: Platform, match: str) -> Iterator[str]:
    for finding in audit(platform, match).findings:
        yield f"clean audit: {match}, version {finding.version}: {finding.code}, {finding.detail}"


def due_now(platform: Platform) -> list[str]:
    """Return what is due and not done: members of the due index, and matches that lack a leaf."""
    now = platform.clock.now()
    found = []
    for member, moment in platform.store.due.between(0, now + 10 * 365 * 86_400_000, 1000).items():
        kind = KINDS.get(split(member)[0])
        if kind is None or kind.at_once or moment < now:
            found.append(member)
    return found + [f"leaf|{match}" for match in platform.store.server_logs.pending(now, 1000)]


def _of_due(platform: Platform) -> Iterator[str]:
    for member in due_now(platform):
        yield f"everything due: {member} was never done"
