"""Measure every figure in one run, and print a table and JSON: `./run bench`."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import ai, clocks, crowd, fair, growth, http, memory, pages, receipts, rules, turns, verifying, web
from benchmarks.pairs import PAIRS, Figure
from benchmarks.place import opened
from events.keeping import embedded

PARTS = (
    "rules", "ai", "memory", "verifying", "receipts", "web", "pages", "http", "crowd", "turns", "steps", "fair", "length", "games",
    "clocks", "matches",
)  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the table, and write the JSON. Return 0 if every target is met."""
    options = parsed(arguments)
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="warledger-bench-") as folder:
        for name, measure in parts(options, Path(folder)).items():
            if not options.only or name in options.only:
                print(f"measuring {name} …", file=sys.stderr, flush=True)
                figures += measure()
    report = {"machine": machine(), "pairs": options.pairs, "figures": [figure._asdict() for figure in figures]}
    print(table(report["machine"], figures))
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")
    else:
        print(json.dumps(report))
    return int(any(figure.met is False for figure in figures))


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="run bench", description="Measure the speed on this machine. Nothing else should run meanwhile.")
    parser.add_argument("--pairs", type=int, default=PAIRS, help=f"interleaved pairs for every comparison ({PAIRS})")
    parser.add_argument("--seconds", type=float, default=2.0, help="length of a window of load (2)")
    parser.add_argument("--matches", type=int, default=1500, help="matches for the load (1500)")
    parser.add_argument("--turns", type=int, default=200, help="AI turns to time (200)")
    parser.add_argument("--crowd", type=int, default=fair.CROWD, help="matches of AI seats that a player competes with (500)")
    parser.add_argument("only", nargs="*", metavar="PART", help=f"measure only these parts: {', '.join(PARTS)}")
    parser.add_argument("--only", nargs="+", dest="named", default=[], metavar="PART", help="the same")
    parser.add_argument("--json", type=Path, help="write the JSON to this file instead of printing it")
    options = parser.parse_args(arguments)
    options.only += options.named
    if unknown := sorted(set(options.only) - set(PARTS)):
        parser.error(f"there is no part {', '.join(unknown)}")
    return options


def parts(options: argparse.Namespace, folder: Path) -> dict[str, Callable[[], list[Figure]]]:
    """Return the measurements by name. Each measurement that needs a service starts its own."""

    def with_place(measure: Callable[[Any], list[Figure]], name: str) -> list[Figure]:
        with opened(folder / name) as place:
            return measure(place)

    def matches() -> list[Figure]:
        with opened(folder / "few") as few, opened(folder / "many") as many:
            return growth.by_matches(few, many, options.pairs)

    return {
        "rules": lambda: rules.measured(options.pairs, 1.0),
        "ai": lambda: ai.measured(options.pairs, options.seconds),
        "memory": lambda: with_place(lambda place: memory.measured(place.platform, options.pairs), "memory"),
        "verifying": lambda: with_place(
            lambda place: verifying.measured(place.platform, options.pairs, options.seconds / 2, folder), "verifying"
        ),
        "receipts": lambda: with_place(lambda place: receipts.measured(place, options.pairs), "receipts"),
        "web": lambda: with_place(lambda place: web.measured(place, options.pairs), "web"),
        "pages": lambda: with_place(lambda place: pages.measured(place, options.pairs), "pages"),
        "http": lambda: with_place(lambda place: http.measured(place, options.pairs, options.seconds, options.matches), "http"),
        "crowd": lambda: with_place(lambda place: crowd.measured(place, options.pairs), "crowd"),
        "turns": lambda: with_place(lambda place: turns.measured(place, options.turns), "turns"),
        "steps": lambda: with_place(lambda place: fair.steps(place, 4 * options.seconds), "steps"),
        "fair": lambda: with_place(lambda place: fair.measured(place, options.turns // 4, options.crowd), "fair"),
        "length": lambda: with_place(lambda place: growth.by_length(place, options.pairs), "length"),
        "games": lambda: with_place(lambda place: growth.by_game(place, options.pairs), "games"),
        "clocks": lambda: with_place(lambda place: clocks.measured(place, options.pairs), "clocks"),
        "matches": matches,
    }


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


def table(conditions: dict[str, Any], figures: list[Figure]) -> str:
    """Return the figures as a text table: median, spread, unit, target, and whether the target is met."""
    lines = [", ".join(f"{name} {value}" for name, value in conditions.items()), ""]
    width = max((len(figure.name) for figure in figures), default=0) + 2
    lines.append(f"{'':<{width}}{'median':>12}{'lowest':>12}{'highest':>12}  {'unit':<12}target")
    for figure in figures:
        numbers = "".join(f"{rounded(value):>12}" for value in (figure.median, figure.low, figure.high))
        met = "" if figure.met is None else "  met" if figure.met else "  MISSED"
        lines.append(f"{figure.name:<{width}}{numbers}  {figure.unit:<12}{figure.target}{met}")
    return "\n".join(lines)


def rounded(value: float) -> str:
    """Return a number with three significant digits, or, from 100 on, without decimals."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


if __name__ == "__main__":
    sys.exit(main())
