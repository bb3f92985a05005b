"""The table of an arena, from the files in its folder alone: every dossier is verified, and its result counts in the order of the plan."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from evidence.notes import VerifierKey, parse_vkey
from games import GAMES
from games.kernel import Seat
from record.dossiers.lines import WHOLE
from record.dossiers.records import lines_of
from record.dossiers.statements import Kept
from record.dossiers.verifying import DOSSIER, NotAFile, Source, Verdict, verify
from record.entries import Unreadable, parse
from record.positions import Position, replay
from record.ratings import STEADY, Rating, Result, ratings, result_of
from record.redeciding import NotWhole, record_in
from record.trail import header_of
from tools.arena.plan import ORGANISER, Plan, Planned, read

MATCHES = "matches"
JSON, TEXT = "table.json", "table.txt"


class BadFile(Exception):
    """A file of an arena is not what it should be. The text says why, in sentences."""


class Seen(NamedTuple):
    """What a verified file says: its result, and by seat whether it left the match, because it resigned or forfeited."""

    result: Result
    left: frozenset[str]


def file_of(folder: Path, number: int) -> Path:
    """Return the file of the dossier of a match."""
    return folder / MATCHES / f"{number:06}.ndjson"


def seen_in(file: Path, keys: tuple[VerifierKey, ...], *, dossier: bool = True) -> tuple[Verdict, Position, frozenset[str]]:
    """Verify a file of a match that is over, with every action decided again. Return its position, and the seats that left it.

    `dossier`: a record is not enough. Raises BadFile, OSError.
    """
    try:
        (verdict,) = verify([Source(str(file), partial(lines_of, file))], GAMES, Kept(keys))
        if not verdict.ok:
            raise BadFile(f"{file} does not hold: {verdict.findings[0].sentence}")
        if verdict.viewer != WHOLE or (dossier and verdict.kind != DOSSIER):
            raise BadFile(f"{file} is not the whole dossier of a match.")
        entries = [parse(line) for line in record_in(lines_of(file)) if header_of(line) is None]
        *_, position = replay(GAMES, entries)
    except (NotAFile, NotWhole, Unreadable) as reason:
        raise BadFile(f"{file} cannot be read: {reason}.") from None
    left = frozenset(event["seat"] for entry in entries for event in entry.events if event["type"] in ("seat_resigned", "seat_forfeited"))
    return verdict, position, left


def looked_at(plan: Plan, folder: Path, planned: Planned) -> Seen | None:
    """Return what the file of a match says, or None if there is none. Raises BadFile if it is not the match of the plan, OSError."""
    file = file_of(folder, planned.number)
    if not file.exists():
        return None
    _, position, left = seen_in(file, (parse_vkey(plan.service_key or plan.key),))
    wrong = _difference(plan, planned, position)
    if wrong:
        raise BadFile(f"{file} is not match {planned.number} of the plan: {wrong}.")
    result = result_of(position)
    if result is None:
        raise BadFile(f"{file} has a match that is not over.")
    return Seen(result, frozenset(_who(position, seat) for seat in left))


def _who(position: Position, seat: Seat) -> str:
    occupant = position.roster[seat]
    return occupant.get("player") or f"ai:{occupant['ai']}"


def _difference(plan: Plan, planned: Planned, position: Position) -> str:
    """Return in which way a match is not that of the plan, or ""."""
    seats = {seat: _who(position, seat) for seat in position.document["seats"]}
    if position.game != plan.game or seats != {seat: bot.who for seat, bot in planned.seats.items()}:
        return "it has other seats"
    complete = GAMES[plan.game].with_defaults
    if complete(position.document["options"]) != complete(plan.options):
        return "it has other options"
    if any(not bot.level for bot in planned.seats.values()):
        chosen = {name: position.table["clock"].get(name) for name in plan.clock}
        if chosen != plan.clock or position.table["time_out"]["policy"] != "forfeit":
            return "it has another clock"
    if plan.service:
        return ""  # the service chose its id and its dice
    if position.match != plan.match_id(planned) or position.secret != plan.secret(planned).hex() or position.table["creator"] != ORGANISER:
        return "its dice do not follow from the seed"
    return ""


def all_seen(plan: Plan, folder: Path, jobs: int) -> Iterator[tuple[Planned, Seen | None]]:
    """Yield every match of the plan with what its file says, in order. Raises BadFile, OSError."""
    planned = list(plan.matches())
    if jobs == 1:
        yield from ((one, looked_at(plan, folder, one)) for one in planned)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from zip(planned, pool.map(partial(_looked_at, plan, folder), planned, chunksize=4), strict=True)


def _looked_at(plan: Plan, folder: Path, planned: Planned) -> Seen | None:
    return looked_at(plan, folder, planned)


def table_of(folder: Path, jobs: int = 1) -> dict[str, Any]:
    """Return the table of an arena as JSON, from its plan and its dossiers. Raises BadPlan, BadFile, OSError."""
    plan = read(folder)
    seen = [(planned, one) for planned, one in all_seen(plan, folder, jobs) if one is not None]
    found = ratings([one.result for _, one in seen], STEADY)
    rows = []
    for bot in plan.bots:
        mine = [one for planned, one in seen if bot in planned.seats.values()]
        rating = found.get(bot.who, Rating())
        left = sum(bot.who in one.left for one in mine)
        rows.append({"bot": bot.name, **rating.as_json(), "played": len(mine), "left": left})
    return {
        "game": plan.game,
        "seats": plan.seats,
        "matches": {"played": len(seen), "planned": plan.number, "void": sum(not one.result.places for _, one in seen)},
        "counted": {"match": seen[-1][1].result.match, "number": seen[-1][0].number} if seen else None,
        "ratings": sorted(rows, key=lambda row: (-row["rating"], row["bot"])),
    }


def as_bytes(table: dict[str, Any]) -> bytes:
    """Return a table as the bytes of its file."""
    return json.dumps(table, indent=1, ensure_ascii=False).encode() + b"\n"


def as_text(table: dict[str, Any]) -> str:
    """Return a table as text."""
    matches = table["matches"]
    lines = [f"{table['game']}, {table['seats']} seats: {matches['played']} of {matches['planned']} matches", ""]
    return "\n".join([*lines, *rows_of(table["ratings"], "bot")]) + "\n"


def rows_of(rows: Sequence[dict[str, Any]], who: str) -> Iterable[str]:
    """Yield the rows of a table of ratings as text. `who`: the member that names the player."""
    wide = max([len(who), *(len(row[who]) for row in rows)])
    yield f"{who:<{wide}}  rating  95 % interval  matches   won" + ("  left" if rows and "left" in rows[0] else "")
    for row in rows:
        left = f"{row['left']:>6}" if "left" in row else ""
        yield f"{row[who]:<{wide}}{row['rating']:>8}  {row['low']:>5} to {row['high']:<5}{row['matches']:>8}{row['won']:>6}{left}"
