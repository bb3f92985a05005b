"""Analyse finished matches: `./run analyse RECORD… | MATCH`.

A level that searches rates each decision of each seat: what it expected before, what it expects after, and what it would have played.
It knows only what the seat knew, so the analysis separates luck from errors (docs/ai.md). The same record gives the same analysis.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from tqdm import tqdm

from events.errors import NoMatch
from games import GAMES
from games.drawing import legible
from games.kernel import Game
from games.patterns import MATCH, matches
from games.sentences import counted
from players import LEVELS
from players.analysis import Judged
from record.decisions import Decision, decisions
from record.entries import Unreadable, parse
from record.positions import Position, follow
from record.thinking.judging import analysis, compares, judged
from tools.platform import Unable, add_data_option, opened
from tools.records import BadRecord, Record, read
from tools.words import cut, phrase

WIDE = 34  # characters of an action in the table
SHOWN = 0.005  # the least loss that the table shows

HOW_TO_READ = """\
before: the share of a victory that the level expects from its own choice, given what the seat knew.
played: the same after the choice of the seat, before its dice fall. loss: the difference. It is an error of the seat.
then:   what the level expects when the seat decides next, or the result. Played and then differ by dice, by what was revealed, and by
        what the others did. These are not errors of the seat."""


class Task(NamedTuple):
    """A decision to judge: its game and revision, the level that judges, and the iterations of its search (None: those of the level)."""

    game: str
    revision: int
    decision: Decision
    level: str
    iterations: int | None


def analyse(
    games: Mapping[str, Game], record: Record, level: str, iterations: int | None = None, cores: int = 1, progress: bool = False
) -> dict[str, Any]:
    """Return the analysis of a finished match as JSON. Raises BadRecord if it cannot be analysed."""
    found, last = _decisions(games, record)
    rules = games[last.game].of_revision(last.revision)
    if last.document["outcome"] is None:
        raise BadRecord(f"The match {record.match} is not over. Only a match that is over can be analysed.")
    if rules is None:
        raise BadRecord(f"The rules that {record.match} began with, {last.game} of revision {last.revision}, are not here.")
    seats: list[str] = last.document["seats"]
    if not compares(rules, len(seats), level):
        raise BadRecord(f"The level {level} does not compare actions in {last.game} with {counted(len(seats), 'seat', 'seats')}.")
    tasks = [Task(last.game, last.revision, decision, level, iterations) for decision in found]
    with ExitStack() as stack:
        results: Iterator[Judged | None] = map(_judged, tasks)
        if cores > 1:
            results = stack.enter_context(multiprocessing.Pool(cores)).imap(_judged, tasks)
        shown = tqdm(results, total=len(tasks), unit="decision", leave=False, disable=None if progress else True)
        done = [each for each in shown if each is not None]
    return analysis(last, level, done)


def _decisions(games: Mapping[str, Game], record: Record) -> tuple[list[Decision], Position]:
    """Return the decisions of a match and its last position. Raises BadRecord."""
    try:
        entries = list(map(parse, record.raws))
        if not entries or entries[0].events[0]["game"] not in games:
            raise BadRecord(f"The match {record.match} is of a game that is not here.")
        found = list(decisions(games, entries))
        last: Position | None = None
        for entry in entries:
            game = games[entries[0].events[0]["game"]]
            last = follow(game.of_revision(entry.revision) or game, last, entry)
    except (Unreadable, LookupError, TypeError, ValueError) as reason:
        raise BadRecord(f"The record of {record.match} cannot be read: {reason}.") from None
    assert last is not None, "there are entries"
    return found, last


def _judged(task: Task) -> Judged | None:
    rules = GAMES[task.game].of_revision(task.revision)
    assert rules is not None, "whoever makes a task knows the rules"
    return judged(rules, task.decision, task.level, task.iterations)


def as_text(found: Mapping[str, Any]) -> str:
    """Return an analysis as text: every decision, figures for each seat, and the turning points."""
    decided = {each["version"]: each for each in found["decisions"]}
    lines = [f"{found['match']} ({found['game']}): {counted(len(decided), 'decision', 'decisions')} judged by {found['by']['level']}.", ""]
    lines.append(f"{'version':>7}  {'seat':<12}{'action':<{WIDE}}  before  played    loss    then  rather")
    lines += [_row(each) for each in found["decisions"]]
    lines += ["", *HOW_TO_READ.splitlines(), ""]
    lines.append(f"{'seat':<12}{'decisions':>10}{'agreed':>10}{'lost':>10}{'greatest':>10}")
    for seat, figures in found["seats"].items():
        counts = f"{figures['decisions']:>10}{figures['agreed']:>10}"
        lines.append(f"{seat:<12.12}{counts}{figures['lost']:>10.2f}{figures['greatest']:>10.2f}")
    lines += ["", "Turning points:" if found["turning_points"] else "There was no turning point."]
    lines += [_point(point, decided[point["version"]]) for point in found["turning_points"]]
    winners = " and ".join(found["outcome"]["winners"]) or "nobody"
    lines.append(f"The match was won by {winners}.")
    return "\n".join(map(legible, lines))


def _row(each: Mapping[str, Any]) -> str:
    """Return the line of a decision. A loss that rounds to 0 is left out."""
    loss, rather, action = " " * 8, "", phrase(each["action"])
    if each["loss"] >= SHOWN:
        loss, rather = f"{each['loss']:8.2f}", f"  {cut(phrase(each['best']))}"
    worths = f"{each['before']:8.2f}{each['chosen']:8.2f}{loss}{each['after']:8.2f}"
    return f"{each['version']:>7}  {each['seat']:<12.12}{action:<{WIDE}.{WIDE}}{worths}{rather}"


def _point(point: Mapping[str, Any], decision: Mapping[str, Any]) -> str:
    if point["kind"] == "error":
        text = f"{point['seat']} loses {point['loss']:.2f}: {cut(phrase(decision['action']))}, rather than {cut(phrase(decision['best']))}."
    else:
        shares = decision["expected"]
        text = (
            f"{point['seat']} becomes the expected winner ({shares[point['seat']]:.2f}); {point['from']} was ({shares[point['from']]:.2f})."
        )
    return f"{point['version']:>7}  {text}"


def records_of(what: list[str], data: Path | None) -> Iterator[Record]:
    """Yield the matches in files and folders, and the matches of the store with given ids. Raises BadRecord, Unable, NoMatch, OSError."""
    for name in what:
        if Path(name).exists():
            yield from read([Path(name)])
        elif matches(MATCH, name):
            with opened(data) as platform:
                raws = list(platform.store.log.read_all(name))
            if not raws:
                raise NoMatch(match=name)
            yield Record(name, raws, None)
        else:
            raise Unable(f"There is no file {name}, and this is not the id of a match.")


def main(arguments: list[str] | None = None) -> int:
    """Print the analyses. Return 0; 2 if a match cannot be analysed; 130 if interrupted."""
    parser = argparse.ArgumentParser(prog="./run analyse", description="Judge each decision of finished matches, given what the seat knew.")
    parser.add_argument(
        "what",
        nargs="+",
        metavar="RECORD | MATCH",
        help="dossiers, records, archives, folders of them, or ids of matches of the data folder",
    )
    parser.add_argument(
        "--level", default="strong", choices=LEVELS, metavar="LEVEL", help="the level that judges: strong (default), or expert"
    )
    parser.add_argument("--iterations", type=int, metavar="N", help="iterations of the level's search, in place of its own")
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1, metavar="N", help="processes (all cores)")
    parser.add_argument("--json", action="store_true", help="print a JSON object for each match")
    add_data_option(parser)
    options = parser.parse_args(arguments)
    if options.cores < 1 or (options.iterations is not None and options.iterations < 1):
        parser.error("--cores and --iterations must be at least 1")
    try:
        for place, record in enumerate(records_of(options.what, options.data)):
            found = analyse(GAMES, record, options.level, options.iterations, options.cores, progress=True)
            print(json.dumps(found) if options.json else ("\n\n" if place else "") + as_text(found), flush=True)
    except (BadRecord, Unable, NoMatch, OSError) as reason:
        print(legible(str(reason)), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
