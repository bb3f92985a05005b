"""Audits a match of the data folder, or an exported record without any server: `./run audit MATCH | FILE`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from events.audit import Report, audit, audit_entries, plain
from events.entries import NotCanonical, canonical
from events.errors import NoMatch
from games import GAMES
from games.drawing import legible
from tools.platform import Unable, add_place, opened


def main(arguments: list[str] | None = None) -> int:
    """Audit and tell; 0 if all is well, 1 if something was found, 2 if there is nothing to audit."""
    parser = argparse.ArgumentParser(
        prog="run audit", description="Replays a match, decides every action again, and compares; changes nothing."
    )
    parser.add_argument("what", metavar="MATCH | FILE", help="a match's id, or a file with a record as GET …/record gives it")
    parser.add_argument("--secret", help="the match's secret in hex, for a record that does not end the match")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    add_place(parser)
    options = parser.parse_args(arguments)
    try:
        report = found(options.what, options.secret, options.data)
    except (Unable, NoMatch, OSError) as reason:
        print(reason, file=sys.stderr)
        return 2
    print(json.dumps(plain(report)) if options.json else told(report))
    return int(not report.ok)


def found(what: str, secret: str | None, data: Path | None) -> Report:
    """The report about a record in a file, or about a match in the store. Raises Unable, NoMatch, OSError."""
    if Path(what).is_file():
        return audit_entries(GAMES, lines_of(Path(what).read_bytes()), secret)
    with opened(data) as platform:
        return audit(platform, what)


def lines_of(record: bytes) -> list[bytes]:
    """The entries of a record, one a line as NDJSON has them, or in one JSON answer."""
    lines = record.splitlines()
    if len(lines) == 1:
        try:
            whole = json.loads(record)
        except (ValueError, RecursionError):
            return lines
        if isinstance(whole, dict) and isinstance(whole.get("entries"), list):
            return [_line(entry) for entry in whole["entries"]]
    return lines


def _line(entry: object) -> bytes:
    """An entry of a JSON answer as a line; what has no canonical form stays as it is, and the audit says so."""
    try:
        return canonical(entry)
    except NotCanonical:
        return json.dumps(entry).encode()


def told(report: Report) -> str:
    """The report for people; a forged record cannot draw a verdict of its own over it."""
    verdict = "holds" if report.ok else "DOES NOT HOLD"
    lines = [f"{report.match} ({report.game}): {report.versions} entries; the record {verdict}."]
    lines.append(f"digest {report.digest}, commitment {report.commitment}, dice {report.dice}, rules {', '.join(map(str, report.rules))}")
    lines.append(f"committed to {report.published}; {report.replayed_only} of {report.versions} entries only replayed, not decided again")
    lines += [f"version {finding.version}: {finding.code}: {finding.detail}" for finding in report.findings]
    return "\n".join(map(legible, lines))


if __name__ == "__main__":
    sys.exit(main())
