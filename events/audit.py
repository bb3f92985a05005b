"""Audit: replay a match from its entries, decide every action again with the dice that its secret gives, and compare. Never rewrites."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from events.connect import House
from games.kernel import Game


class Finding(NamedTuple):
    """Something that is not as it must be, at the version where it shows."""

    version: int
    code: str
    detail: str


class Report(NamedTuple):
    """What an audit has found. `dice`: "verified", or "sealed" while the secret is not known to the auditor.

    `commitment`: "kept", "broken", or "sealed". `rules`: the revisions that the entries name.
    """

    ok: bool
    match: str
    game: str
    versions: int
    digest: str
    commitment: str
    dice: str
    rules: list[int]
    findings: list[Finding]


def audit(house: House, match: str) -> Report:
    """Audit a match in the store, its snapshots and its standing too. Raises NoMatch, StoreDown."""
    raise NotImplementedError


def audit_entries(games: Mapping[str, Game], lines: Iterable[bytes], secret: str | None = None) -> Report:
    """Audit exported entries, one JSON object a line, without any store. The secret stands in the last one if the match is over."""
    raise NotImplementedError


def plain(report: Report) -> dict[str, Any]:
    """The report as a JSON object."""
    return {**report._asdict(), "findings": [finding._asdict() for finding in report.findings]}
