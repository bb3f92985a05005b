"""Verify dossiers, records and findings of a monitor: `./run verify FILE… [--key VKEY --log FILE …]`.

Without options this needs no network. A service is asked for the state of its log if the reader trusts it (`--trust URL`, `--url URL`).
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from evidence import showing
from evidence.checkpoints import hashes_of
from evidence.notes import COSIGNATURE, Malformed, parse_vkey
from evidence.showing import Shown, ShowsNothing
from games import GAMES
from games.drawing import legible
from games.sentences import counted
from record.dossiers.findings import Findings
from record.dossiers.lines import WHOLE
from record.dossiers.records import lines_of
from record.dossiers.signers import Signer
from record.dossiers.statements import Consistency, Kept, Quorum
from record.dossiers.verifying import NotAFile, Source, Verdict, verify
from record.thinking.again import Decisions
from tools import ages, consulting, decisions
from tools.ahead import ahead
from tools.consulting import Present
from tools.logs import Unable
from tools.scans import Scan

ABOUT = (
    "Check files by themselves, against what you have kept, and against the log of the server. Only services that you trust or name are "
    "asked. The exit status is 0 if everything that was checked holds, 1 if there are findings, and 2 if a file cannot be read, or shows "
    "nothing."
)


class Unusable(Exception):
    """A given file cannot be used. The text says why, in a sentence."""


def main(arguments: list[str] | None = None) -> int:
    """Verify and print the findings. Return 0 if there are none, 1 if there are, 2 if a file cannot be read."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if not options.files and not options.trust:
        parser.error("name a file")
    if (options.quorum or 0) > len(options.witness) or options.quorum == 0:
        parser.error("a quorum is at least 1, and at most the number of witnesses that you name with --witness")
    try:
        for url in options.trust:
            print("\n".join(map(legible, consulting.trust(url))))
        return _verify(options) if options.files else 0
    except (Unusable, NotAFile, ShowsNothing, Unable, Malformed, OSError) as reason:
        print(legible(str(reason)), file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./run verify", description=ABOUT)
    parser.add_argument(
        "files", metavar="FILE", nargs="*", type=Path, help="a dossier, a record from GET …/record, or what a monitor found"
    )
    parser.add_argument("--key", action="append", default=[], metavar="VKEY", help="a key of the server that you have noted")
    parser.add_argument("--receipt", action="append", default=[], type=Path, metavar="FILE", help="a receipt that you have kept")
    parser.add_argument("--checkpoint", action="append", default=[], type=Path, metavar="FILE", help="a checkpoint that you have kept")
    parser.add_argument(
        "--now", type=ages.moment, metavar="TIME", help="what time it is, such as 2026-01-31T12:00:00Z: no file may be later"
    )
    parser.add_argument("--consistency", action="append", default=[], type=Path, metavar="FILE", help="an answer of GET /log/consistency")
    parser.add_argument(
        "--log",
        action="append",
        default=[],
        metavar="FILE|URL",
        help="a whole log: the state of your own monitor, an export of any, or a service to read",
    )
    parser.add_argument("--witness", action="append", default=[], metavar="VKEY", help="a witness that you trust")
    parser.add_argument("--quorum", type=int, metavar="N", help="how many of the witnesses must have cosigned a checkpoint (all)")
    parser.add_argument("--url", action="append", default=[], help="ask this service for the state of its log, this once")
    parser.add_argument("--trust", action="append", default=[], metavar="URL", help="note the keys of this service, and ask it from now on")
    parser.add_argument("--offline", action="store_true", help="ask no service")
    decisions.add_options(parser, multiprocessing.cpu_count())
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    return parser


def _verify(options: argparse.Namespace) -> int:
    """Verify the files. Return the exit status. Raises what `main` catches."""
    shown = {file: text for file in options.files if (text := _finding_in(file)) is not None}
    files = [file for file in options.files if file not in shown]
    found = [Decisions() for _ in files] if options.decisions else None
    keys = tuple(map(parse_vkey, options.key))
    present = consulting.present_state(files, options.url, _quorum(options), keys, options.offline)
    shown |= {file: file.read_text(encoding="utf-8") for file in present.forks}
    with consulting.whole_logs(options.log, list(keys), options.offline) as logs, ahead(files) as verifies:
        kept = _kept(options, present)
        sources = [Source(str(file), partial(lines_of, file)) for file in files]
        verdicts = verify(sources, GAMES, kept, found, logs, verifies) if files else []
        proven = [Proven(str(file), _checked(text, kept), logs) for file, text in shown.items()]
    if found is not None:
        verdicts = [_with_decisions(verdict, one, options.cores) for verdict, one in zip(verdicts, found, strict=True)]
    verdicts = [verdict._replace(unchecked=[*verdict.unchecked, *present.unchecked]) for verdict in verdicts]
    now = ages.now() if options.now is None else options.now
    if options.json:
        print(json.dumps([*map(as_json, verdicts), *(each.as_json() for each in proven)]))
    else:
        print("\n\n".join([*(as_text(each, now) for each in verdicts), *(each.as_text() for each in proven)]))
    return int(bool(proven) or not all(verdict.ok for verdict in verdicts))


# ---------------------------------------------------------------- what a monitor has found


class Proven:
    """What a file of a monitor shows."""

    def __init__(self, name: str, shown: Shown, logs: Sequence[Scan]) -> None:
        self.name = name
        self.shown = shown
        self.unchecked = [] if shown.noted else ["whether the keys in the file are those of the server: give a key that you have noted"]
        if shown.absent is not None:
            self._look_up(*shown.absent, logs)

    def _look_up(self, match: str, version: int, logs: Sequence[Scan]) -> None:
        """Check in the whole log that a version has no leaf. Raises ShowsNothing."""
        (head,) = self.shown.checkpoints
        for log in logs:
            if log.origin == head.origin and log.size >= head.size and log.root(head.size) == head.root:
                if log.covered(match, head.size) >= version:
                    raise ShowsNothing(f"The log has a leaf of version {version} of the match {match}, or of a later one.")
                return
        self.unchecked.append(f"that no leaf of the log has version {version} or a later one: give the whole log (--log)")

    def as_json(self) -> dict[str, Any]:
        """Return a JSON object."""
        finding = self.shown.finding
        findings = [{"version": finding.version, "code": finding.code, "sentence": finding.sentence}]
        known = {"name": self.name, "kind": "finding", "subject": finding.subject, "alarm": finding.is_alarm}
        return {**known, "ok": False, "findings": findings, "unchecked": self.unchecked}

    def as_text(self) -> str:
        """Return the text for people."""
        finding = self.shown.finding
        what = "no honest server does that" if finding.is_alarm else "a server that was down may do that"
        heads = ", ".join(f"{head.size} leaves of {head.origin}" for head in self.shown.checkpoints)
        lines = [f"{self.name}: what a monitor has found: SHOWN; {what}.", f"{finding.code}: {finding.sentence}", f"signed: {heads}"]
        return "\n".join(map(legible, [*lines, *(f"not checked: {text}" for text in self.unchecked)]))


def _checked(text: str, kept: Kept) -> Shown:
    """Return what a file of a monitor shows, by the keys that the reader knows. Raises ShowsNothing."""
    shown = showing.check(text, kept.keys)
    known = kept.known.get(shown.checkpoints[0].origin)
    return shown if kept.keys or not known else showing.check(text, known)


def _finding_in(file: Path) -> str | None:
    """Return the text of a file that a monitor has written, or None if it is another file. Raises OSError."""
    with file.open("rb") as opened:
        raw = opened.read(showing.LONGEST + 1)
    text = raw.decode(errors="replace")
    return text if showing.is_finding(text) else None


def _with_decisions(verdict: Verdict, found: Decisions, cores: int) -> Verdict:
    """Run the decisions of artificial players in a file again, and return the verdict with their outcome."""
    if verdict.viewer != WHOLE:
        return verdict._replace(
            unchecked=[*verdict.unchecked, f"decisions of artificial players: the file has only what {verdict.viewer} sees"]
        )
    outcome = decisions.run_again(found, cores)
    findings = Findings()
    findings.add_all([*verdict.findings, *outcome.findings])
    checked = verdict.checked | ({"decisions": outcome.run} if outcome.run else {})
    return verdict._replace(findings=findings.in_order(), checked=checked, unchecked=[*verdict.unchecked, *outcome.unchecked])


def _kept(options: argparse.Namespace, present: Present) -> Kept:
    """Return what the reader has kept, from the options. Raises Unusable, Malformed, OSError."""
    return Kept(
        tuple(map(parse_vkey, options.key)),
        tuple(map(_note, options.receipt)),
        (*(file.read_text(encoding="utf-8") for file in options.checkpoint), *present.checkpoints),
        tuple(map(_consistency, options.consistency)),
        options.now,
        {name: service.keys for service in reversed(present.services) for name in service.names},
        present.prove if present.checkpoints else None,
        _quorum(options),
    )


def _quorum(options: argparse.Namespace) -> Quorum:
    """Return the quorum that the reader asks for. Raises Unusable, Malformed."""
    witnesses = tuple(map(parse_vkey, dict.fromkeys(options.witness)))
    if not all(key.kind == COSIGNATURE for key in witnesses):
        raise Unusable("A witness has a key of the kind 4, as `./run witness serve` prints it.")
    return Quorum(len(witnesses) if options.quorum is None else options.quorum, witnesses)


def _note(file: Path) -> str:
    """Return the receipt in a file: a note, or the member `receipt` of a JSON object. Raises Unusable, OSError."""
    text = file.read_text(encoding="utf-8")
    if not text.lstrip().startswith("{"):
        return text
    try:
        note = json.loads(text)["receipt"]
    except (ValueError, KeyError, RecursionError):
        note = None
    if not isinstance(note, str):
        raise Unusable(f"The file {file} has no receipt.")
    return note


def _consistency(file: Path) -> Consistency:
    """Return the proof in a file. Raises Unusable, Malformed, OSError."""
    try:
        answer = json.loads(file.read_text(encoding="utf-8"))
        return Consistency(int(answer["from"]), int(answer["to"]), hashes_of(answer["hashes"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        raise Unusable(f"The file {file} is not a proof of consistency.") from None


def as_json(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as a JSON object."""
    found = {name: [each._asdict() for each in getattr(verdict, name)] for name in ("findings", "signers")}
    return {**verdict._asdict(), "ok": verdict.ok, **found}


_ONE = {
    "entries": "entry",
    "receipts": "receipt",
    "running hashes": "running hash",
    "reads": "read",
    "leaves": "leaf",
    "logs": "log",
    "decisions": "decision",
    "moves": "move",
}


def as_text(verdict: Verdict, now: int) -> str:
    """Return a verdict as text. `now`: the time, in ms since 1970.

    Control characters are replaced, so that a forged file cannot write over the text.
    """
    holds = "everything that was checked holds" if verdict.ok else "DOES NOT HOLD"
    seen = "" if verdict.kind == "record" else ", in full" if verdict.viewer == "all" else f", as {verdict.viewer} sees it"
    lines = [f"{verdict.name}: the {verdict.kind} of {verdict.match} ({verdict.game}){seen}, {verdict.versions} versions: {holds}."]
    lines.append(f"digest {verdict.digest}")
    if verdict.at is not None:
        lines.append(f"written, as the file says, {ages.aged(verdict.at, now)}")
    lines.append("checked: " + ", ".join(counted(count, _ONE[name], name) for name, count in verdict.checked.items()))
    lines += told(verdict)
    for finding in verdict.findings:
        where = "" if finding.version is None else f"version {finding.version}: "
        lines.append(f"{where}{finding.code}: {finding.sentence}")
    lines += [f"not checked: {text}" for text in verdict.unchecked]
    return "\n".join(map(legible, lines))


def told(verdict: Verdict) -> list[str]:
    """Return sentences for people about who signed the entries of a file, and about those that nobody signed."""
    return [*of_signers(verdict.signers), *_of_others(verdict)]


def of_signers(signers: Sequence[Signer]) -> list[str]:
    """Return a sentence for people about each signer. `signers`: in the order of their first entries.

    >>> ada = Signer("red", "paaaaaaaaaaaaaaaa", "A", [3, 5], 1_790_000_000_000)
    >>> for sentence in of_signers([ada, ada._replace(key="B", versions=[7], late=True), ada._replace(actor="blue", registered=None)]):
    ...     print(sentence)
    2 moves of red (paaaaaaaaaaaaaaaa), signed by the key that this player registered on 2026-09-21
    1 move of red (paaaaaaaaaaaaaaaa) from version 7 on, signed by another key, registered on 2026-09-21, after the match began
    2 moves of blue (paaaaaaaaaaaaaaaa), signed by a key whose owner is not checked
    """
    found = []
    before: set[tuple[str, str]] = set()
    for signer in signers:
        who = signer.actor, signer.player
        moves = f"{counted(len(signer.versions), 'move', 'moves')} of {signer.actor}"
        if signer.actor != signer.player:
            moves += f" ({signer.player})"
        if who in before:
            moves += f" from version {signer.versions[0]} on"
        if signer.registered is None:
            key = "another key, whose owner is not checked" if who in before else "a key whose owner is not checked"
        else:
            key = "another key, registered on " if who in before else "the key that this player registered on "
            key += ages.day(signer.registered) + (", after the match began" if signer.late else "")
        revoked = "" if signer.revoked is None else f"; it was revoked on {ages.day(signer.revoked)}"
        found.append(f"{moves}, signed by {key}{revoked}")
        before.add(who)
    return found


def _of_others(verdict: Verdict) -> list[str]:
    """Return a sentence for people about the entries of each actor that nobody signed, and one about those for which the server answers."""
    found = [f"{counted(number, 'action', 'actions')} of {actor}, not signed" for actor, number in verdict.unsigned.items()]
    if verdict.by_server:
        what = f"{counted(verdict.by_server, 'action', 'actions')} of the system and of artificial players"
        signed = f"signed by the server: its signature on version {verdict.versions} covers them"
        found.append(f"{what}, {signed if verdict.kind == 'dossier' else 'not signed: a record has no signature of the server'}")
    return found


if __name__ == "__main__":
    sys.exit(main())
