"""Move finished matches from the store into the archive, one at a time.

Each step begins only after the one before it is done, and a process that is killed anywhere loses and doubles nothing:

1. Audit the match. One with findings stays in the store.
2. Create its object, unless there is the same one: of an attempt that was killed, for example.
3. Read it back and unpack it. Its entries and its side log must be those of the store, byte for byte.
4. Remove the match from the store and file it away, in one function that does nothing if anything was appended, refused or read since.

Only the user `archivist` of the store may call that function (ADR 118).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import structlog

from events import recall
from events.archive import matches as objects_of
from events.archive import shedding
from events.archive.matches import Whole
from events.audit import audit
from events.due import owed
from events.errors import ArchiveDamaged, ArchiveUnavailable, NoMatch, StoreRefused, StoreUnavailable
from events.notary import server_log
from events.standings import RATED, indexes, packed
from events.store.lists import Place
from events.telemetry import metrics
from evidence.leaves import END
from record.entries import parse
from record.positions import Position
from table.data import DAY_MS, DISPUTABLE_MS
from table.state import UNDECIDED

if TYPE_CHECKING:
    from events.platform import Platform

AT_ONCE = 8  # matches that a round archives at most
LOOKED_AT = 256  # finished matches that a round looks at
AGAIN_MS = 3_600_000  # after which a match that could not be archived is tried again

# Why a match is not archived now.
RUNNING, RECENT, DISPUTED, DUE, UNLOGGED, UNSENT, UNRATED, CHANGED, UNSOUND = (
    *("running", "recent", "disputed", "due", "unlogged", "unsent", "unrated", "changed", "unsound"),
)

log = structlog.get_logger(__name__)


class Round(NamedTuple):
    """The result of a round. `archived`: how many matches. `more`: there may be more to do at once."""

    archived: int
    more: bool


class Archivist:
    """Archives the finished matches of a platform, round by round. It goes through those in the store, the earliest created first."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._after: Place | None = None
        self._waiting = 0
        self._oldest: int | None = None
        self._tidy = False
        self._put_off: dict[str, int] = {}  # by match that could not be archived, the moment when it is tried again

    def round(self) -> Round:
        """Archive the next matches that are due, and full tiles of the server's log.

        Raises StoreUnavailable, StoreRefused, ArchiveUnavailable, ArchiveTaken.
        """
        platform, now = self._platform, self._platform.clock.now()
        if not platform.settings.archive_after_days:
            return Round(0, False)
        platform.archive.claim()
        if not self._tidy:
            shedding.forget(platform)
            self._tidy = True
        more = self._shed()
        since = now - round(platform.settings.archive_after_days * DAY_MS)
        places = [place for place in platform.store.archiving.over(self._after, LOOKED_AT) if place[0] <= since]
        if not places:
            self._end_of_cycle(now)
            return Round(0, more)
        unsent = platform.store.archiving.unsent()
        archived = tried = 0
        for place in places:
            match = place[1]
            if self._put_off.get(match, 0) <= now:
                why = self._one(match, since, unsent, now)
                archived += why == ""
                tried += why in ("", CHANGED, UNSOUND)
                self._note(place, why)
            self._after = place
            if tried >= AT_ONCE:
                break
        return Round(archived, True)

    def _shed(self) -> bool:
        """Move full tiles of the server's log. Return True if there are more. A log that does not fit does not stop the matches."""
        try:
            return shedding.shed(self._platform)
        except ArchiveDamaged as reason:
            metrics.archive_failures.inc()
            log.error("log_not_archived", name=reason.name, why=reason.reason)
            return False

    def _one(self, match: str, since: int, unsent: set[str], now: int) -> str:
        """Archive a match if it is due. Return why it was not archived, or "". A failure does not stop the others."""
        try:
            why = why_not(self._platform, match, since, unsent) or archive_one(self._platform, match)
        except (ArchiveUnavailable, StoreRefused):
            metrics.archive_failures.inc()
            raise
        except StoreUnavailable:
            raise
        except NoMatch:
            return ""
        except Exception as reason:  # noqa: BLE001 - a damaged match can fail in any way, and its text may contain secrets
            log.error("match_not_archived", match=match, why=type(reason).__name__, name=getattr(reason, "name", None))
            why = UNSOUND
        if why == UNSOUND:
            metrics.archive_failures.inc()
            self._put_off[match] = now + AGAIN_MS
        return why

    def _note(self, place: Place, why: str) -> None:
        if why not in ("", RECENT):
            self._waiting += 1
            self._oldest = min(self._oldest or place[0], place[0])

    def _end_of_cycle(self, now: int) -> None:
        """Begin with the earliest match again. Tell how many that are old enough are still in the store."""
        metrics.archive_waiting.set(self._waiting)
        metrics.archive_oldest.set(0 if self._oldest is None else max(0, (now - self._oldest) / 1000))
        self._after, self._waiting, self._oldest = None, 0, None
        self._put_off = {match: moment for match, moment in self._put_off.items() if moment > now}


def why_not(platform: Platform, match: str, since: int | None, unsent: set[str]) -> str:
    """Return why a match must stay in the store, or "". `since`: the latest moment of its last entry; None: its age does not matter.

    `unsent`: the matches of which hooks have still to send something. Raises NoMatch, StoreUnavailable.
    """
    if match in unsent:
        return UNSENT
    if since is not None:
        (version, raw) = platform.store.live.newest([match])[0]
        if not version:
            raise NoMatch(match=match)
        if objects_of.moment_of(raw) > since:
            return RECENT
    position = recall.position(platform, match)
    if position.status != "over" or not position.ended or position.secret is None or position.finished is None:
        return RUNNING
    if since is not None and max(position.at, position.finished + DISPUTABLE_MS) > platform.clock.now():
        return RECENT
    if any(dispute["state"] in UNDECIDED for dispute in position.table["disputes"]):
        return DISPUTED
    if owed(position):
        return DUE
    if not _is_logged(platform, position):
        return UNLOGGED
    return "" if _is_rated(platform, position) else UNRATED


def archive_one(platform: Platform, match: str) -> str:
    """Move a match into the archive. Return why this was not done, or "". The caller has checked `why_not`.

    Raises NoMatch, StoreUnavailable, StoreRefused if this user may not, ArchiveUnavailable, ArchiveDamaged if the object is another.
    """
    entries = list(platform.store.live.read_all(match))
    sidelog = platform.store.sidelog.raw(match)
    report = audit(platform, match)
    if report.findings:
        first = report.findings[0]
        log.error("match_not_archived", match=match, why=first.code, version=first.version, findings=len(report.findings))
        return UNSOUND
    position = recall.position(platform, match)
    if position.version != len(entries) or report.versions != len(entries) or position.secret is None:
        return CHANGED
    origins, logs = server_log.origins(platform), platform.store.server_logs
    returns, leaves = logs.returns(origins, match), logs.noted(origins, match)
    whole = Whole(match, entries, position.digest, position.secret, sidelog, leaves)
    away = objects_of.write(platform.archive.objects, whole, platform.games)
    if objects_of.read(platform.archive.objects, match, away) != whole:
        raise ArchiveDamaged(objects_of.name_of(match, away), "it has other entries than the store")
    if not platform.store.archiving.remove(match, packed(position, parse(entries[-1]).at, away.object), sidelog):
        return CHANGED
    logs.forget(match, leaves, returns)
    metrics.archived.inc()
    log.info("match_archived", match=match, version=len(entries))
    return ""


def _is_logged(platform: Platform, position: Position) -> bool:
    """Return True if the end of a match is a leaf under a signed checkpoint of the server's log."""
    origin = platform.signer.name
    (logged,) = platform.store.server_logs.logged(origin, [position.match])
    ends = [leaf.number for leaf in logged if leaf.kind == END and leaf.version == position.version]
    return bool(ends) and max(ends) < platform.store.server_logs.state(origin).served


def _is_rated(platform: Platform, position: Position) -> bool:
    """Return True if the ratings that are served count a match, or need not."""
    at = indexes(position).get(f"{RATED}:{position.game}")
    if at is None:
        return True
    (generations,) = platform.store.ratings.generations([position.game])
    served = generations.served
    return generations.growing == generations.serving and (at, position.match) <= (served.at, served.match)
