"""Measure every figure in one run: `./run bench`. Each row is printed and saved as soon as it is measured."""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import sys
import tempfile
import textwrap
import time
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from benchmarks import (
    ai,
    archived,
    budget,
    crowd,
    fair,
    growth,
    http,
    lean,
    ledger,
    mixed,
    pages,
    peers,
    reads,
    rules,
    starts,
    streams,
    web,
)
from benchmarks.pairs import PAIRS, Figure, rounded
from benchmarks.place import Run
from events.keeping import embedded
from tools.private import ROOT

PARTS: dict[str, Callable[[Run], Iterable[Figure]]] = {
    "http": http.measured,
    "load": mixed.measured,
    "reads": reads.measured,
    "starts": starts.measured,
    "streams": streams.measured,
    "rules": rules.measured,
    "ai": ai.measured,
    "ledger": ledger.measured,
    "lean": lean.measured,
    "budget": budget.measured,
    "web": web.measured,
    "pages": pages.measured,
    "crowd": crowd.measured,
    "steps": fair.steps,
    "fair": fair.measured,
    "length": growth.by_length,
    "peers": peers.measured,
    "clocks": growth.by_clock,
    "matches": growth.by_matches,
    "archived": archived.measured,
}
DOCUMENT, TABLES = ROOT / "docs" / "performance.md", "## The tables of one run\n"
FOLDER = ROOT / ".bench"  # for reports, and for programs that are installed only to compare with them


def main(arguments: list[str] | None = None) -> int:
    """Measure, print and save. Return 0 if every part was measured and every target is met."""
    options = parsed(arguments)
    if options.document:
        text = DOCUMENT.read_text()
        DOCUMENT.write_text(text[: text.index(TABLES)] + TABLES + tables(json.loads(options.document.read_text())))
        return 0
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # everything that was started is stopped, as with Ctrl-C
    options.json.parent.mkdir(exist_ok=True)
    report = Report(options.json, machine(), options.pairs)
    with tempfile.TemporaryDirectory(prefix="warledger-bench-") as folder:
        run = Run(Path(folder), options.pairs, options.seconds, options.matches, options.turns, options.crowd, options.archived, [])
        for name in options.only or PARTS:
            report.measure(name, PARTS[name], run)
    print(f"\nThe report is in {report.path}.")
    return int(report.missed)


class Report:
    """The rows so far, in a file that is replaced after every row. A part that fails keeps its rows, and does not end the others."""

    def __init__(self, path: Path, conditions: dict[str, Any], pairs: int) -> None:
        self.path, self.missed = path, False
        self.content: dict[str, Any] = {"machine": conditions, "pairs": pairs, "beside": {}, "figures": [], "failed": {}}
        print(", ".join(f"{name} {value}" for name, value in conditions.items()))
        print(f"{'':<66}{'median':>11}{'lowest':>11}{'highest':>11}  {'unit':<12}target")

    def measure(self, name: str, measure: Callable[[Run], Iterable[Figure]], run: Run) -> None:
        """Measure a part. Print and save its rows."""
        print(f"{name}:", flush=True)
        run.beside.clear()
        try:
            for row in measure(run):
                print(row.line(), flush=True)
                self.missed |= row.met is False
                self.content["beside"][name] = list(run.beside)
                self.content["figures"].append({"part": name, **row._asdict()})
                self.save()
        except Exception as reason:  # noqa: BLE001 - the figures of the other parts are worth having, whatever has failed
            traceback.print_exc()
            print(f"  failed: {reason!r}", flush=True)
            self.missed = True
            self.content["failed"][name] = repr(reason)
            self.save()

    def save(self) -> None:
        """Write the report."""
        draft = self.path.with_suffix(".new")
        draft.write_text(json.dumps(self.content, indent=1) + "\n")
        draft.replace(self.path)


def tables(report: dict[str, Any]) -> str:
    """Return a report as Markdown, with a table for each part."""
    conditions = [f"{name} {value}" for name, value in report["machine"].items() if name != "system"]
    lines = textwrap.wrap(", ".join([*conditions, f"{report['pairs']} rounds"]) + ".", 100)
    for part in dict.fromkeys(row["part"] for row in report["figures"]):
        beside = ", ".join(report["beside"][part])
        lines += ["", f"### {part}", *([f"Beside it ran: {beside}."] if beside else []), "", "| figure | median | range | unit | target |"]
        lines.append("| --- | --- | --- | --- | --- |")
        for row in report["figures"]:
            if row["part"] == part:
                met = {True: " (met)", False: " (missed)", None: ""}[row["met"]]
                low, high = rounded(row["low"]), rounded(row["high"])
                lines.append(
                    f"| {row['name'].strip()} | {rounded(row['median'])} | {low} to {high} | {row['unit']} | {row['target']}{met} |"
                )
    return "\n".join(lines) + "\n"


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="run bench", description="Measure the speed on this machine. Nothing else should run meanwhile.")
    parser.add_argument("--pairs", type=int, default=PAIRS, help=f"rounds of every comparison, in which the sides alternate ({PAIRS})")
    parser.add_argument("--seconds", type=float, default=2.0, help="length of a window of load (2)")
    parser.add_argument("--matches", type=int, default=96, help="matches of each game for the load (96)")
    parser.add_argument("--turns", type=int, default=200, help="AI turns to time (200)")
    parser.add_argument("--crowd", type=int, default=fair.CROWD, help="matches of AI seats that a player competes with (500)")
    parser.add_argument("--archived", type=int, default=20_000, help="archived matches (20000)")
    parser.add_argument("only", nargs="*", metavar="PART", help=f"measure only these parts: {', '.join(PARTS)}")
    parser.add_argument("--json", type=Path, default=FOLDER / time.strftime("%Y-%m-%dT%H%M%S.json"), help="the report (.bench/TIME.json)")
    parser.add_argument(
        "--document", type=Path, metavar="REPORT", help="measure nothing: put the tables of a report into docs/performance.md"
    )
    options = parser.parse_args(arguments)
    if unknown := sorted(set(options.only) - set(PARTS)):
        parser.error(f"there is no part {', '.join(unknown)}")
    return options


def machine() -> dict[str, Any]:
    """Return a description of the machine and the versions."""
    return {
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "processor": processor(),
        "server": Path(embedded.binary()).name,
        "fsync": os.environ.get("WARLEDGER_FSYNC", "always"),
    }


def processor() -> str:
    """Return the name of the processor, or an empty text if the system does not give it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.processor())


if __name__ == "__main__":
    sys.exit(main())
