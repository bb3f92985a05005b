"""Audit one match or all matches of the data folder, or an exported record without a server: `./run audit MATCH | FILE | --all`."""

from __future__ import annotations

import argparse
import json
import os
import sys
from contextlib import suppress
from pathlib import Path

from events.audit import audit
from events.errors import NoMatch
from events.keeping import losses
from events.keeping.journal import Busy, Journal
from events.platform import Platform
from evidence.notes import made_by
from games import GAMES
from games.drawing import legible
from games.patterns import MATCH, matches
from record.dossiers.records import lines_of_record
from record.thinking.again import Decisions
from record.trail import VERIFIED, Report, Watch, as_json, audit_entries
from tools import audit_all, decisions
from tools.platform import Unable, add_data_option, opened


def main(arguments: list[str] | None = None) -> int:
    """Audit and print the report. Return 0 without findings, 1 with findings, 2 if nothing was audited, 130 if interrupted."""
    parser = argparse.ArgumentParser(
        prog="./run audit", description="Replay a match, decide every action again, and compare. The data is not changed."
    )
    parser.add_argument("what", metavar="MATCH | FILE", nargs="?", help="the id of a match, or a file with a record from GET …/record")
    parser.add_argument(
        "--all", action="store_true", help="audit every match of the data folder, and look for data that belongs to no match"
    )
    parser.add_argument(
        "--done", type=Path, metavar="FILE", help="where --all notes the matches that it has audited (audit.done in the data folder)"
    )
    parser.add_argument("--secret", help="the match's secret in hex, for a record that does not end the match")
    parser.add_argument("--origin", type=Path, metavar="FILE", help="the record of the match from which a practice match begins")
    decisions.add_options(parser, os.cpu_count() or 1)
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    add_data_option(parser)
    options = parser.parse_args(arguments)
    if options.all == (options.what is not None):
        parser.error("name a match or a file, or say --all")
    if options.all and options.decisions:
        parser.error("--decisions is for one match")
    if options.cores < 1:
        parser.error("--cores must be at least 1")
    try:
        if options.all:
            return _audit_all(options)
        found = Decisions() if options.decisions else None
        report = audited(options.what, options.secret, options.data, options.origin, found)
    except (Unable, NoMatch, OSError) as reason:
        print(reason, file=sys.stderr)
        return 2
    outcome = None
    if found is not None:
        outcome = decisions.run_again(found, options.cores)
        findings = sorted([*report.findings, *outcome.findings], key=lambda finding: finding.version)
        report = report._replace(findings=findings, ok=not findings)
    if options.json:
        more = {} if outcome is None else {"decisions": decisions.as_json(outcome)}
        print(json.dumps(as_json(report) | more))
    else:
        print("\n".join([as_text(report), *(map(legible, decisions.as_text(outcome)) if outcome is not None else ())]))
    return int(not report.ok)


def _audit_all(options: argparse.Namespace) -> int:
    """Audit every match and print what was found. Raises Unable, OSError."""
    with opened(options.data) as platform:
        audit_all.patiently(lambda: _compare(platform))
        file = options.done or platform.settings.data / "audit.done"
        try:
            overview = audit_all.audit_all(platform, file, options.cores)
        except KeyboardInterrupt:
            print(f"Interrupted. Run the same command to continue; {file} lists what is done.", file=sys.stderr)
            return 130
    print(json.dumps(audit_all.as_json(overview)) if options.json else audit_all.as_text(overview))
    return int(not overview.ok)


def audited(what: str, secret: str | None, data: Path | None, origin: Path | None = None, watch: Watch | None = None) -> Report:
    """Return the report on a record in a file, or on a match in the store. Raises Unable, NoMatch, OSError.

    `origin`: for a fork, the file of the record of the match from which it begins. `watch`: is called with each action of an artificial
    player.
    """
    file = Path(what)
    if file.is_file():
        record = file.read_bytes()
        if not record.strip():
            raise Unable(f"The file {what} is empty.")
        begun = None if origin is None else lines_of_record(origin.read_bytes())
        return audit_entries(GAMES, lines_of_record(record), secret, begun, watch=watch, verifies=made_by)
    if not matches(MATCH, what):
        raise Unable(f"There is no file {what}, and this is not the id of a match.")
    with opened(data) as platform:
        _compare(platform)
        return audit(platform, what, watch=watch)


def _compare(platform: Platform) -> None:
    """Compare the store of the data folder with its journal to find losses. A running service does this itself.

    Raises StoreUnavailable, OSError.
    """
    if platform.settings.store_url or not (platform.settings.data / losses.FOLDER).is_dir():
        return
    with suppress(Busy):
        keeper = Journal(platform.settings.data)
        keeper.compare(platform.store)
        keeper.close()


def as_text(report: Report) -> str:
    """Return the report as text. Control characters are replaced, so that a forged record cannot write its own verdict over the text."""
    verdict = "holds" if report.ok else "DOES NOT HOLD"
    revisions = ", ".join(map(str, report.revisions))
    lines = [f"{report.match} ({report.game}): {report.versions} entries; the record {verdict}."]
    lines.append(f"digest {report.digest}, chain {report.chain}, commitment {report.commitment}, dice {report.dice}")
    lines.append(f"committed to {report.published}; {report.replayed_only} of {report.versions} entries only replayed, not decided again")
    here = "the rules here" if report.rules == [report.rules_here] else f"not all by the rules here, {report.rules_here}"
    lines.append(f"decided under revision {revisions} by {', '.join(report.rules)}: {here}")
    if report.origin is not None:
        begun = "was compared with that of its origin" if report.origin == VERIFIED else "is taken on trust: its origin was not at hand"
        lines.append(f"the position from which the match begins {begun}")
    if report.signed:
        lines.append(f"{report.signed} entries are signed by their actors, signatures {report.signatures}")
    lines += [f"version {finding.version}: {finding.code}: {finding.detail}" for finding in report.findings]
    return "\n".join(map(legible, lines))


if __name__ == "__main__":
    sys.exit(main())
