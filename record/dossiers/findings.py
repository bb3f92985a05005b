"""The findings of a verifier: each says in a sentence what is wrong, and at which version."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

MOST = 100
"""How many findings are kept for a file."""


class Finding(NamedTuple):
    """Something wrong, and the version at which it shows. The version is None if the finding is about the whole file."""

    version: int | None
    code: str
    sentence: str


class Findings:
    """The findings in one file. Each code is kept once for a version.

    >>> findings = Findings()
    >>> findings.add("events_differ", "Event 1 has other dice than those of this version.", 7)
    >>> findings.add("events_differ", "Event 2 has other dice than those of this version.", 7)
    >>> findings.add("truncated", "The last line of a dossier is missing.")
    >>> [(finding.version, finding.code) for finding in findings.in_order()]
    [(None, 'truncated'), (7, 'events_differ')]
    """

    def __init__(self) -> None:
        self._found: dict[tuple[int | None, str], str] = {}

    def add(self, code: str, sentence: str, version: int | None = None) -> None:
        """Add a finding."""
        if len(self._found) < MOST:
            self._found.setdefault((version, code), sentence)

    def add_all(self, findings: Iterable[tuple[int | None, str, str]]) -> None:
        """Add findings, each with its version, code and sentence."""
        for version, code, sentence in findings:
            self.add(code, sentence, version)

    def in_order(self) -> list[Finding]:
        """Return the findings: first those without a version, then the others by version."""
        found = [Finding(version, code, sentence) for (version, code), sentence in self._found.items()]
        return sorted(found, key=lambda finding: -1 if finding.version is None else finding.version)
