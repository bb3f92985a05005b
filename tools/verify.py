"""Verify dossiers and records without a server: `./run verify FILE… [--key VKEY --receipt FILE --checkpoint FILE --consistency FILE]`."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from evidence.checkpoints import hashes_of
from evidence.notes import Malformed, parse_vkey
from games import GAMES
from games.drawing import counted, legible
from record.dossiers.findings import Findings
from record.dossiers.lines import WHOLE
from record.dossiers.records import lines_of
from record.dossiers.signers import Signer
from record.dossiers.statements import Consistency, Kept
from record.dossiers.verifying import NotAFile, Source, Verdict, verify
from record.thinking.again import Decisions
from tools import ages, decisions

ABOUT = (
    "Check files by themselves and against what you have kept. This needs no server and no network. The exit status is 0 if everything "
    "that was checked holds, 1 if there are findings, and 2 if a file cannot be read."
)


class Unusable(Exception):
    """A given file cannot be used. The text says why, in a sentence."""


def main(arguments: list[str] | None = None) -> int:
    """Verify and print the findings. Return 0 if there are none, 1 if there are, 2 if a file cannot be read."""
    parser = argparse.ArgumentParser(prog="./run verify", description=ABOUT)
    parser.add_argument("files", metavar="FILE", nargs="+", type=Path, help="a dossier, or a record from GET …/record")
    parser.add_argument("--key", action="append", default=[], metavar="VKEY", help="a key of the server that you have noted")
    parser.add_argument("--receipt", action="append", default=[], type=Path, metavar="FILE", help="a receipt that you have kept")
    parser.add_argument("--checkpoint", action="append", default=[], type=Path, metavar="FILE", help="a checkpoint that you have kept")
    parser.add_argument(
        "--now", type=ages.moment, metavar="TIME", help="what time it is, such as 2026-01-31T12:00:00Z: no file may be later"
    )
    parser.add_argument("--consistency", action="append", default=[], type=Path, metavar="FILE", help="an answer of GET /log/consistency")
    decisions.add_options(parser, multiprocessing.cpu_count())
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    options = parser.parse_args(arguments)
    try:
        found = [Decisions() for _ in options.files] if options.decisions else None
        verdicts = verify([Source(str(file), partial(lines_of, file)) for file in options.files], GAMES, _kept(options), found)
    except (Unusable, NotAFile, Malformed, OSError) as reason:
        print(legible(str(reason)), file=sys.stderr)
        return 2
    if found is not None:
        verdicts = [_with_decisions(verdict, one, options.cores) for verdict, one in zip(verdicts, found, strict=True)]
    now = ages.now() if options.now is None else options.now
    print(json.dumps([as_json(each) for each in verdicts]) if options.json else "\n\n".join(as_text(each, now) for each in verdicts))
    return int(not all(verdict.ok for verdict in verdicts))


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


def _kept(options: argparse.Namespace) -> Kept:
    """Return what the reader has kept, from the options. Raises Unusable, Malformed, OSError."""
    return Kept(
        tuple(map(parse_vkey, options.key)),
        tuple(map(_note, options.receipt)),
        tuple(file.read_text(encoding="utf-8") for file in options.checkpoint),
        tuple(map(_consistency, options.consistency)),
        options.now,
    )


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
    lines += told(verdict.signers)
    for finding in verdict.findings:
        where = "" if finding.version is None else f"version {finding.version}: "
        lines.append(f"{where}{finding.code}: {finding.sentence}")
    lines += [f"not checked: {text}" for text in verdict.unchecked]
    return "\n".join(map(legible, lines))


def told(signers: Sequence[Signer]) -> list[str]:
    """Return a sentence for people about each signer. `signers`: in the order of their first entries.

    >>> ada = Signer("red", "paaaaaaaaaaaaaaaa", "A", [3, 5], 1_790_000_000_000)
    >>> for sentence in told([ada, ada._replace(key="B", versions=[7], late=True), ada._replace(actor="blue", registered=None)]):
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


if __name__ == "__main__":
    sys.exit(main())
