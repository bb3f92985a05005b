"""The referees' desk in a terminal: `./run desk`, `./run desk MATCH`, `./run desk MATCH NUMBER [upheld|rejected|… --text "…"]`."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from games import patterns
from games.drawing import legible
from sdk.python.warledger_client import Client, Error
from table.state import REMEDIES, VERDICTS
from tools.show import add_service_options, client_from, replace_unprintable

TEXTED = {"state": "state_side", "appeal": "appeal"}  # what a seat says
DEEDS = {"take": "take_dispute", "accept": "accept_ruling", "withdraw": "withdraw_dispute"}
_IN_BRACES = re.compile(rf"{{({patterns.PLAYER})}}")


def main(arguments: list[str] | None = None) -> int:
    """List disputes, show one with its report, or do something about it. Return 1 if the service refuses."""
    parser = argparse.ArgumentParser(
        prog="./run desk",
        description="The referees' desk: list the disputes, show one with its report, take it and rule on it. Seats state their side, "
        "accept, appeal and withdraw.",
    )
    parser.add_argument("match", metavar="MATCH", nargs="?", help="show the disputes of this match")
    parser.add_argument("number", metavar="NUMBER", nargs="?", type=int, help="show this dispute, with its report")
    parser.add_argument("deed", nargs="?", choices=(*VERDICTS, *DEEDS, *TEXTED), help="rule on it, or do something else about it")
    parser.add_argument("--text", help="the reason for a ruling or an appeal, or the side of a seat; the seats and referees read it")
    parser.add_argument("--remedy", choices=REMEDIES, default=REMEDIES[0], help="the consequence (default: none)")
    parser.add_argument("--seat", help="the seat that forfeits, or that you act as")
    parser.add_argument("--version", type=int, metavar="N", help="the version from which another match goes on")
    parser.add_argument("--all", action="store_true", help="list all disputes, not only open ones")
    add_service_options(parser)
    options = parser.parse_args(arguments)
    if options.deed is not None and (options.deed in DEEDS) != (options.text is None):
        parser.error("a ruling, a side and an appeal need a --text, and nothing else has one")
    replace_unprintable()
    try:
        for line in _lines(client_from(options), options):
            print(legible(line))
    except (Error, FileNotFoundError) as reason:
        print(reason, file=sys.stderr)
        return 1
    return 0


def _lines(client: Client, options: argparse.Namespace) -> Iterator[str]:
    """Yield what to print. Raises Error."""
    match, number, deed = options.match, options.number, options.deed
    if match is None:
        yield from _waiting(client, options.all)
        return
    disputes = f"/v1/matches/{match}/disputes"
    if number is None:
        yield from _shown(client.get(disputes))
    elif deed is None:
        yield from _shown(client.get(disputes, case=number), number)
    else:
        said = {} if options.text is None else {"text": options.text}
        if deed in VERDICTS:
            given = {name: value for name in ("seat", "version") if (value := getattr(options, name)) is not None}
            action = {"type": "rule_dispute", "dispute": number, "verdict": deed, "remedy": options.remedy, **said, **given}
        else:
            action = {"type": {**DEEDS, **TEXTED}[deed], "dispute": number, **said}
        client.match(match).act(action, seat=None if deed in VERDICTS else options.seat)
        yield from _shown(client.get(disputes), number)


def _waiting(client: Client, every: bool) -> Iterator[str]:
    """Yield a line for each dispute: for the open ones, or with `every` for all."""
    query: dict[str, Any] = {"open": "false" if every else "true"}
    found = 0
    while True:
        page = client.get("/v1/disputes", **query)
        for dispute in page["disputes"]:
            found += 1
            until = "" if dispute["until"] is None else f", until {_moment(dispute['until'])}"
            whom = "an admin" if dispute["escalated"] else "another referee" if dispute["state"] == "appealed" else "a referee"
            waits = f"waits for {whom}{until}" if dispute["state"] in ("open", "appealed") else dispute["state"]
            about = f"{dispute['seat']} disputes version {dispute['version']}"
            yield f"{dispute['match']} {dispute['number']}  {dispute['game']}: {about}; {waits}"
        if page["next"] is None:
            break
        query["cursor"] = page["next"]
    if not found:
        yield "No dispute waits." if not every else "There are no disputes."


def _shown(answer: Mapping[str, Any], number: int | None = None) -> Iterator[str]:
    """Yield the disputes of a match with their steps, or only the one with a number."""
    names = {id: player["name"] or "deleted player" for id, player in answer["players"].items()}
    if not answer["disputes"]:
        yield f"There is no dispute about {answer['match']}."
    for dispute in answer["disputes"]:
        if number not in (None, dispute["number"]):
            continue
        yield f"Dispute {dispute['number']} about {answer['match']}, version {dispute['version']}: {dispute['state']}"
        for step in dispute["steps"]:
            event = step["event"]
            who = names.get(step["actor"], step["actor"])
            about = f" {event['field']}" if event.get("field") else ""
            yield f"  {step['version']:>5}  {_moment(step['at'])}  {who}: {event['type']}{about}{_outcome(event)}"
            yield from (f"         | {line}" for line in (event.get("text") or "").split("\n") if line)
            if event.get("report"):
                yield from _report(event["report"])
        if "case" in dispute:
            yield from _case(dispute["case"], dispute["version"], names)


def _outcome(event: Mapping[str, Any]) -> str:
    """Return the outcome of a ruling in words, or an empty text for another step."""
    if "verdict" not in event:
        return ""
    about = [str(event[name]) for name in ("seat", "version") if name in event]
    return f" {event['verdict']}, remedy {' '.join([event['remedy'], *about])}"


def _report(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of the first report on a dispute."""
    audit = report["audit"]
    yield f"         audit of {report['version']} versions: {audit['state']}, {audit['found']} findings"
    yield from (f"         version {finding['version']}: {finding['code']}" for finding in audit["findings"])
    for refused in report["refused"]:
        why = f"{refused['code']}, {refused['rule']}" if refused["rule"] else refused["code"]
        yield f"         refused at version {refused['version']}: {refused['seat']} {_compact(refused.get('action'))}: {why}"
    for decision in report["decisions"]:
        about = f"version {decision['version']}: {decision['seat']} by the level {decision['level']}"
        yield f"         {about}; made again: {decision['again'].replace('_', ' ')}"
        for option in decision["options"]:
            tried = f"{option['worth'] / 10:.1f} %, tried {option['tries']} times: " if option["tries"] else ""
            yield f"           considered {tried}{_compact(option['action'])}"


def _case(case: Mapping[str, Any], disputed: int, names: Mapping[str, str]) -> Iterator[str]:
    """Yield what happened around the disputed version: entries in sentences, the boards, and why the disputed field is as it is."""

    def named(text: str) -> str:
        return _IN_BRACES.sub(lambda found: names.get(found[1], "somebody"), text)

    yield f"What happened, as seen by {case['viewer']}:"
    for entry in case["entries"]:
        for place, part in enumerate(entry["happened"]):
            mark = ("->" if entry["version"] == disputed else "  ") if place == 0 else "  "
            version = f"{entry['version']:>5}" if place == 0 else " " * 5
            thrown = [f"{what} {' '.join(map(str, faces))}" for what, faces in part["dice"].items()]
            dice = f"  (dice: {'; '.join(thrown)})" if thrown else ""
            yield f"{mark} {version}  {named(part['text'])}{dice}"
        clocks = [f"{seat} {left // 1000} s" for seat, left in sorted(entry["clocks"].items())]
        notes = [_moment(entry["at"]), *entry["rules"], *clocks]
        notes += [f"receipt given to {names.get(entry['receipt'], 'somebody')}"] if entry["receipt"] else []
        yield f"          ({', '.join(notes)})"
    for when, lines in (("before it", case["before"]), ("after it", case["after"])):
        if lines:
            yield f"The board {when}:"
            yield from (f"  {line}" for line in lines)
    if case["why"]:
        yield f"Why {case['why']['pointer']} is {_compact(case['why'].get('value'))}:"
        for change in case["why"]["changes"]:
            values = f"{_compact(change.get('before'))} -> {_compact(change.get('after'))}"
            yield f"  {change['version']:>5}  {named(' '.join(change['text']))} {values}"


def _compact(value: Any) -> str:
    """Return a value as short JSON; nothing for None."""
    return "" if value is None else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _moment(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")


if __name__ == "__main__":
    sys.exit(main())
