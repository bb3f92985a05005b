"""Findings of a verifier: what is wrong, at which version, in a sentence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

MOST = 100
"""After so many findings no more are kept."""


class Finding(NamedTuple):
    """Something that is wrong, at the version where it shows; None if it belongs to no version."""

    version: int | None
    code: str
    sentence: str


class Findings:
    """What has been found in one file. One code is found once at a version."""

    def __init__(self) -> None:
        self._found: dict[tuple[int | None, str], str] = {}

    def add(self, code: str, sentence: str, version: int | None = None) -> None:
        """Add a finding."""
        if len(self._found) < MOST:
            self._found.setdefault((version, code), sentence)

    def add_all(self, findings: Iterable[tuple[int | None, str, str]]) -> None:
        """Add findings: version, code and sentence of each."""
        for version, code, sentence in findings:
            self.add(code, sentence, version)

    def in_order(self) -> list[Finding]:
        """Return the findings: those of no version, then the others by version."""
        found = [Finding(version, code, sentence) for (version, code), sentence in self._found.items()]
        return sorted(found, key=lambda finding: -1 if finding.version is None else finding.version)
