"""File away again what the archive has: after the store has lost what it knew of archived matches, from their objects alone.

It goes through the objects in the order of their names, and leaves alone what the store has or has filed away like that. So it can be
interrupted, and goes on quickly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import structlog

from events.archive import matches as objects_of
from events.archive.matches import Whole
from events.deriving import follow_with_tags
from events.errors import ArchiveDamaged, StoreRefused, StoreUnavailable
from events.notary import server_log
from events.standings import packed
from events.store.archiving import Away
from evidence.leaves import END
from record.entries import parse

if TYPE_CHECKING:
    from events.platform import Platform

AT_ONCE = 200

T = TypeVar("T")

log = structlog.get_logger(__name__)


class Refiled(NamedTuple):
    """The result. `filed`: how many matches were filed away again. `damaged`: names of objects that cannot be read."""

    matches: int
    filed: int
    damaged: tuple[str, ...]


def file_again(platform: Platform, after: str = "", anew: bool = False, done: Callable[[str], object] = lambda match: None) -> Refiled:
    """File away every match that the archive has and the store has not. `after`: begin after this match. `done`: is told of each.

    A match that is filed away gets the later version that continues it, if the store knew less since an older backup was restored.
    `anew`: also derive again what lists show of matches that are filed away as they should be. Raises StoreUnavailable, StoreRefused.
    """
    number = filed = 0
    damaged: list[str] = []
    for chunk in _batched(objects_of.all_matches(platform.archive.objects, after)):
        places = platform.store.archiving.where([match for match, _ in chunk])
        for (match, names), where in zip(chunk, places, strict=True):
            number += 1
            known = "" if where.away is None else objects_of.name_of(match, where.away)
            newest = known in names and (where.away is None or max(map(objects_of.head_in, names)) <= where.away.head)
            if where.head or (newest and not anew):
                done(match)
                continue
            try:
                filed += _file(platform, match, where.away, [known] if newest else names, anew)
            except ArchiveDamaged as reason:
                log.error("archive_damaged", name=reason.name, reason=reason.reason)
                damaged.append(reason.name)
            except (StoreUnavailable, StoreRefused):
                raise
            except Exception as reason:  # noqa: BLE001 - a match that was tampered with can fail in any way; the others come next
                log.error("match_unreadable", match=match, error=type(reason).__name__)
                damaged.append(names[-1])
            done(match)
    return Refiled(number, filed, tuple(damaged))


def want_leaves(platform: Platform) -> int:
    """Let the server's log have the ends of matches that are filed away, if it lacks them since it has a new name. Return how many.

    A match with a damaged object waits until that is mended. Raises StoreUnavailable.
    """
    wanted = 0
    if len(server_log.origins(platform)) == 1:
        return wanted  # its log had the end of every match before that was archived
    for match, away in platform.store.archiving.filed():
        try:
            (leaves,) = platform.store.server_logs.logged(platform.signer.name, [match])
        except ArchiveDamaged as reason:
            log.error("archive_damaged", name=reason.name, reason=reason.reason)
            continue
        if not any(leaf.kind == END for leaf in leaves):
            wanted += platform.store.server_logs.settle(match, away.head, platform.clock.now())
    return wanted


def _file(platform: Platform, match: str, away: Away | None, names: list[str], anew: bool) -> bool:
    """File away a match as one of its objects has it: the one that goes on the latest, with the longest side log, which only grows.

    `away`: how it is filed away now. A match that does not continue this stays as it is: the store was restored, and went on otherwise.
    """
    found = [objects_of.named(platform.archive.objects, name) for name in names]
    pasts = [one for one in found if away is None or _continues(one[0], away)]
    for _, other in (one for one in found if one not in pasts):
        log.warning("object_of_another_past", name=objects_of.name_of(match, other))
    if not pasts:
        return False
    whole, newest = max(pasts, key=lambda one: _age(one[0]))
    for one, other in pasts:
        if not _continues(whole, other):  # the store has lost which of them counts
            log.warning("object_of_another_past", name=objects_of.name_of(one.match, other))
    if newest == away and not anew:
        return False
    entries = list(map(parse, whole.entries))
    at, position = entries[-1].at, follow_with_tags(platform, None, entries, {})
    return platform.store.lists.file_away(match, packed(position, at, newest.object))


def _continues(whole: Whole, away: Away) -> bool:
    """Return True if a match has the entry with which it is filed away."""
    return len(whole.entries) >= away.head and parse(whole.entries[away.head - 1]).digest == away.digest


def _age(whole: Whole) -> tuple[int, int, int]:
    """Return the moment of the last entry, the version, and how many refused actions and reads the side log has counted."""
    noted = sum(int(head.partition(" ")[0]) for head in whole.sidelog.heads.values())
    return parse(whole.entries[-1]).at, len(whole.entries), noted


def _batched(values: Iterator[T]) -> Iterator[tuple[T, ...]]:
    while some := tuple(islice(values, AT_ONCE)):
        yield some
