"""Check a data folder that nothing else uses: start its store, compare it with the journal, and audit a sample of its matches."""

from __future__ import annotations

import argparse
import random
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import NamedTuple, NoReturn

from environs import EnvError
from tqdm import tqdm

from events.archive import shedding
from events.archive.matches import PREFIX, head_in, match_in, moment_of, name_of
from events.archive.tiles_away import ENTRIES, LOG
from events.archive.tiles_away import name_of as tile_of
from events.audit import audit
from events.errors import PlatformError
from events.keeping import embedded, journal, losses
from events.keeping.embedded import STORE, NoServer
from events.keeping.losses import Loss, about
from events.platform import Platform, open_platform, settings_from_environment
from events.store.server_logs import hash_of
from evidence.tiles import WIDTH, BadTile, unbundled
from games.patterns import MATCH
from games.patterns import matches as fits
from games.sentences import counted
from record.json_text import loads
from service.supervisor.serve import Unable as InUse
from service.supervisor.serve import lock
from tools.platform import Unable

SAMPLE = 25
NAMED = 50


class Ahead(NamedTuple):
    """A match of which the archive or the server's log knows more than the store: up to version `known`. `head`: of the store, or 0."""

    match: str
    head: int
    known: int
    who: str


class Checkup(NamedTuple):
    """The result of a check: counts of the matches and entries of the store and the archive, losses, and the findings of the audit.

    `newest`: the time of the newest entry in the store (ms since 1970). `needed`: the names of the objects that the store needs, `missing`:
    those that the archive does not have. `ahead`: of what the store knows less than others, since an older backup was restored.
    """

    matches: int
    entries: int
    newest: int
    lost: list[Loss]
    audited: int
    findings: list[str]
    needed: list[str] = []
    missing: list[str] = []
    ahead: list[Ahead] = []

    @property
    def ok(self) -> bool:
        """True if nothing is lost and nothing is wrong."""
        return not self.lost and not self.findings and not self.missing and not self.ahead


def add_sample_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that says how many matches are audited."""
    parser.add_argument("--sample", type=_count, default=SAMPLE, metavar="N", help=f"matches to audit, half of them the newest ({SAMPLE})")


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError("must be a number")
    return int(text)


def folder_of(data: Path | None) -> Path:
    """Return the given data folder, or the one of the settings. Raises Unable."""
    try:
        return (data or settings_from_environment().data).resolve()
    except EnvError as reason:
        raise Unable(f"A setting is wrong: {reason}.") from None


def archive_of(data: Path) -> str:
    """Return the place of the archive of a data folder. Raises Unable."""
    try:
        return settings_from_environment()._replace(data=data).archive_place
    except EnvError as reason:
        raise Unable(f"A setting is wrong: {reason}.") from None


def own(data: Path) -> None:
    """Reserve a data folder for this process until it ends. Raises Unable if a service or a command uses it."""
    try:
        lock(data, threading.Event())
        server = embedded.locked(data / STORE / ".lock") or embedded.locked(data / STORE / ".server")
    except InUse as reason:
        raise Unable(str(reason)) from None
    if server:
        raise Unable(f"Another command uses the store of {data}. Wait until it ends.")


@contextmanager
def started(data: Path) -> Iterator[Platform]:
    """Start the store of a data folder for a block. Raises Unable."""
    server = None
    try:
        server = embedded.start(data, STORE)
        settings = settings_from_environment()._replace(data=data, store_url=server.url, queue_url=server.url, cluster=False)
        platform = open_platform(settings)
    except (EnvError, NoServer, PlatformError) as reason:
        if server is not None:
            server.stop()
        raise Unable(f"The store in {data} cannot be opened: {getattr(reason, 'reason', '') or reason}.") from None
    try:
        yield platform
    except PlatformError as reason:
        raise Unable(f"The store has become unavailable: {getattr(reason, 'reason', '') or reason}.") from None
    finally:
        platform.close()
        server.stop()


def check(platform: Platform, sample: int) -> Checkup:
    """Compare a store with the journal of its data folder, and audit a sample of its matches. Raises Unable, StoreUnavailable, OSError."""
    try:
        keeper = journal.Journal(platform.settings.data)
    except journal.Busy:
        raise Unable(f"Another process keeps the journal of {platform.settings.data}. Wait until it ends.") from None
    lost = keeper.compare(platform.store).lost
    keeper.close()
    heads: dict[str, tuple[int, int]] = {}  # by match: the moment of its newest entry, and its version
    matches = iter(sorted(platform.store.live.matches()))
    while some := list(islice(matches, 500)):
        for match, (version, raw) in zip(some, platform.store.live.newest(some), strict=True):
            heads[match] = (moment_of(raw), version)
    filed = {match: away for match, away in platform.store.archiving.filed() if match not in heads}
    needed = sorted([*(name_of(match, away) for match, away in filed.items()), *shedding.needed(platform)])
    names = {name for prefix in (PREFIX, LOG) for name in platform.archive.objects.names(prefix)}
    missing = [name for name in needed if name not in names]
    heads |= {match: (0, away.head) for match, away in filed.items() if name_of(match, away) in names}
    here = {match: version for match, (_, version) in heads.items()} | {match: away.head for match, away in filed.items()}
    ahead = [*_ahead(here, _archived(names), "the archive"), *_ahead(here, _logged(platform, names), "the server's log")]
    newest = sorted(heads, key=heads.__getitem__, reverse=True)
    chosen = newest[: (sample + 1) // 2]
    rest = newest[len(chosen) :]
    chosen += random.sample(rest, min(sample - len(chosen), len(rest)))
    findings = []
    for match in tqdm(chosen, unit="match", desc="Audit", leave=False, disable=None):
        report = audit(platform, match)
        findings += [f"{match}: version {finding.version}: {finding.code}: {finding.detail}" for finding in report.findings]
    latest = max((at for at, _ in heads.values()), default=0)
    return Checkup(len(heads), sum(version for _, version in heads.values()), latest, lost, len(chosen), findings, needed, missing, ahead)


def _ahead(here: Mapping[str, int], there: Mapping[str, int], who: str) -> Iterator[Ahead]:
    """Yield the matches of which somebody has a later version. `here` and `there`: the versions in the store and elsewhere, by match."""
    for match in sorted(there):
        if there[match] > here.get(match, 0):
            yield Ahead(match, here.get(match, 0), there[match], who)


def _archived(names: set[str]) -> dict[str, int]:
    """Return the last version of each match in the archive."""
    there: dict[str, int] = {}
    for name in names:
        if fits(MATCH, match := match_in(name)):
            there[match] = max(there.get(match, 0), head_in(name))
    return there


def _logged(platform: Platform, names: set[str]) -> dict[str, int]:
    """Return the last version of each match in those tiles of the server's log that are in the archive, and that the store lacks."""
    there: dict[str, int] = {}
    logs = platform.store.server_logs
    sizes = {name.split("/")[1]: 0 for name in names if name.startswith(LOG)}
    sizes |= {hash_of(origin): logs.state(origin).size for origin in logs.origins()}
    for log, size in sizes.items():
        number = size // WIDTH
        while (name := tile_of(log, ENTRIES, number)) in names:
            with suppress(BadTile):  # `./run archive verify` names it
                for leaf in map(loads, unbundled(platform.archive.objects.read(name) or b"")[max(0, size - number * WIDTH) :]):
                    if "match" in leaf and "version" in leaf:
                        there[leaf["match"]] = max(there.get(leaf["match"], 0), leaf["version"])
            number += 1
    return there


def as_text(found: Checkup) -> str:
    """Return the result as text."""
    until = f", the newest of {moment(found.newest)}" if found.newest else ""
    lines = [f"The store has {counted(found.matches, 'match', 'matches')} with {counted(found.entries, 'entry', 'entries')}{until}."]
    lines += [f"Lost: {loss.match}: {about(loss)}" for loss in found.lost[:NAMED]]
    if len(found.lost) > NAMED:
        lines.append(f"Lost: {len(found.lost) - NAMED} more; they are listed in {losses.FOLDER}/ of the data folder.")
    lines += [f"Missing in the archive: {name}" for name in found.missing[:NAMED]]
    if len(found.missing) > NAMED:
        lines.append(f"Missing in the archive: {len(found.missing) - NAMED} more.")
    for match, head, known, who in found.ahead[:NAMED]:
        has = f"the store has {head}" if head else "the store does not have the match"
        lines.append(f"Known elsewhere: {match}: {who} has version {known}, and {has}.")
    if len(found.ahead) > NAMED:
        lines.append(f"Known elsewhere: {len(found.ahead) - NAMED} more.")
    if any(not head and who == "the archive" for _, head, _, who in found.ahead):
        lines.append("`./run rebuild` files away the matches that only the archive has.")
    verdict = "nothing was found." if not found.findings else f"{len(found.findings)} findings:"
    return "\n".join([*lines, f"{counted(found.audited, 'match', 'matches')} audited: {verdict}", *found.findings])


def moment(ms: int) -> str:
    """Return a time (ms since 1970) as text."""
    return f"{datetime.fromtimestamp(ms / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"


def counting(total: int, what: str) -> tqdm[NoReturn]:
    """Return a progress bar in objects."""
    return tqdm(total=total, unit="object", desc=what, leave=False, disable=None)


def progress(total: int, what: str) -> tqdm[NoReturn]:
    """Return a progress bar in bytes."""
    return tqdm(total=total, unit="B", unit_scale=True, desc=what, leave=False, disable=None)
