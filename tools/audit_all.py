"""Audit every match of a store on all cores, and look for data that belongs to no match: `./run audit --all`.

A run writes a line to a file for every match that it has audited. After an interruption, the next run continues from there. At the end,
the file is removed. A store that restarts meanwhile is waited for.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from tqdm import tqdm

from events.audit import audit
from events.errors import NoMatch, StoreUnavailable
from events.notary import server_log_audit
from events.platform import Platform, Settings, open_platform
from events.store.projections import Listed
from games.drawing import legible
from games.sentences import counted
from record.trail import Finding

PATIENCE = 60.0  # seconds that the store may be away at a time
PAUSE = 0.2

T = TypeVar("T")


class Audited(NamedTuple):
    """The result for one match: the number of its entries, and the findings."""

    match: str
    versions: int
    findings: list[Finding]


class Task(NamedTuple):
    """A match to audit, the places where it is listed, and the number of entries that an earlier run audited, or None."""

    match: str
    listed: Listed | None
    done: int | None


class Overview(NamedTuple):
    """The result for a whole store. `strays`: a sentence for each key that belongs to no match, or that lies in the wrong partition."""

    audited: list[Audited]
    strays: list[str]

    @property
    def ok(self) -> bool:
        """True if nothing is wrong."""
        return not self.strays and not any(one.findings for one in self.audited)


def audit_all(platform: Platform, file: Path, cores: int) -> Overview:
    """Audit every match that is not in `file` yet, and note it there. Remove the file at the end. Raises StoreUnavailable, OSError."""
    earlier = _read(file)
    listing = patiently(platform.store.projections.listed)
    matches = patiently(lambda: sorted(platform.store.log.matches()))
    tasks = [Task(match, listing.matches.get(match), earlier[match].versions if match in earlier else None) for match in matches]
    found = []
    with file.open("a", encoding="utf-8") as lines, contextlib.closing(_results(_settings(platform), tasks, cores)) as results:
        for task, result in tqdm(results, total=len(tasks), unit="match", leave=False, disable=None):
            if result is None:
                found.append(earlier[task.match])
            else:
                found.append(result)
                lines.write(json.dumps(result) + "\n")
                lines.flush()
    strays = patiently(lambda: list(_strays(platform)))
    if strays:  # a match that did not start in time may have been removed while we looked
        again = patiently(lambda: set(_strays(platform)))
        strays = [stray for stray in strays if stray in again]
    overview = Overview(sorted(found), strays)
    file.unlink()
    return overview


def patiently(work: Callable[[], T]) -> T:
    """Do some work, and do it again while the store is away. Raises StoreUnavailable if it stays away."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return work()
        except StoreUnavailable:
            if time.monotonic() >= deadline:
                raise
        time.sleep(PAUSE)


def _settings(platform: Platform) -> Settings:
    """Return settings with the servers of a platform. A process that has them starts no server, also while these restart."""
    return platform.settings._replace(store_url=platform.store.url, queue_url=platform.jobs.url)


def as_json(overview: Overview) -> dict[str, Any]:
    """Return the overview as a JSON object."""
    return {
        "ok": overview.ok,
        "matches": len(overview.audited),
        "entries": sum(one.versions for one in overview.audited),
        "findings": [{"match": one.match, **finding._asdict()} for one in overview.audited for finding in one.findings],
        "strays": overview.strays,
    }


def as_text(overview: Overview) -> str:
    """Return the overview as text, one finding a line."""
    wrong = sum(bool(one.findings) for one in overview.audited)
    entries = sum(one.versions for one in overview.audited)
    audited = f"{counted(len(overview.audited), 'match', 'matches')} with {counted(entries, 'entry', 'entries')}"
    lines = [f"{audited} audited: {wrong} with findings, {len(overview.strays)} strays."]
    for match, _, findings in overview.audited:
        lines += [f"{match}: version {finding.version}: {finding.code}: {finding.detail}" for finding in findings]
    return "\n".join(map(legible, lines + overview.strays))


def _results(settings: Settings, tasks: list[Task], cores: int) -> Generator[tuple[Task, Audited | None], None, None]:
    """Yield every task with its result, as they end. The result is None if the match has no new entries since it was audited."""
    context = multiprocessing.get_context("spawn")  # a forked process would share the connections of this one
    with context.Pool(cores, _open, (settings,)) as pool:
        yield from pool.imap_unordered(_do, tasks, chunksize=max(1, min(16, len(tasks) // (cores * 8))))


_platforms: list[Platform] = []  # of this worker process


def _open(settings: Settings) -> None:
    _platforms.append(open_platform(settings, patient=True))


def _do(task: Task) -> tuple[Task, Audited | None]:
    (platform,) = _platforms
    try:
        if task.done is not None and patiently(lambda: platform.store.log.head(task.match)) == task.done:
            return task, None
        report = patiently(lambda: audit(platform, task.match, task.listed))
    except NoMatch:
        return task, Audited(task.match, 0, [])  # the match was removed after the list was made
    except StoreUnavailable as reason:
        raise OSError(reason.reason) from None  # an error that passes between processes
    except Exception as reason:  # noqa: BLE001 - a tampered match can fail in any way; the others must still be audited
        return task, Audited(task.match, 0, [Finding(0, "not_auditable", f"The audit failed: {type(reason).__name__}.")])
    return task, Audited(report.match, report.versions, report.findings)


def _read(file: Path) -> dict[str, Audited]:
    """Return the results of an interrupted run. The last line may be torn."""
    found = {}
    with contextlib.suppress(FileNotFoundError):
        for line in file.read_text(encoding="utf-8").splitlines():
            with contextlib.suppress(ValueError, TypeError):
                match, versions, findings = json.loads(line)
                found[match] = Audited(match, versions, [Finding(*finding) for finding in findings])
    return found


def _strays(platform: Platform) -> Iterator[str]:
    """Yield a sentence for each key that belongs to no match or lies in the wrong partition, and for each fault in the server's log."""
    yield from server_log_audit.of_log(platform)
    log, projections = platform.store.log, platform.store.projections
    for match in sorted(set(log.secrets())):
        if not platform.store.live.head(match):
            yield f"{match}: there is a secret and no log in the store."
    for key in log.misplaced():
        yield f"{key}: the log is in another partition than its match."
    listing = projections.listed()
    for key, member in listing.misplaced:
        yield f"{key}: {member} belongs into another partition."
    for match in sorted(listing.matches):
        if not log.head(match):
            yield f"{match}: it is listed, or work is due for it, and there is no log."
    for key in sorted(set(projections.stray_keys())):
        yield f"{key}: its match has no log, or is in another partition."
    for key in sorted(platform.store.sidelog.strays()):
        yield f"{key}: refused actions or reads of a match that has no log, or in another partition."
