"""The referees' desk in a terminal: `./run desk`, `./run desk MATCH`, `./run desk MATCH NUMBER [upheld|rejected --text "…"]`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from games.drawing import legible
from sdk.python.warledger_client import Client, Problem, Unreachable
from table.state import REMEDIES, VERDICTS
from tools.show import add_service_options, client_from, replace_unprintable


def main(arguments: list[str] | None = None) -> int:
    """List the open disputes, show the disputes of a match, take a case or rule on it. Return 1 if the service refuses."""
    parser = argparse.ArgumentParser(
        prog="./run desk",
        description="The referees' desk: list the open disputes, show the disputes of a match, take a case or rule on it.",
    )
    parser.add_argument("match", metavar="MATCH", nargs="?", help="show the disputes of this match")
    parser.add_argument("number", metavar="NUMBER", nargs="?", type=int, help="take the case of this dispute, or rule on it")
    parser.add_argument("verdict", nargs="?", choices=VERDICTS)
    parser.add_argument("--text", help="the reason for the ruling, which the seats can read")
    parser.add_argument("--remedy", choices=REMEDIES, default=REMEDIES[0], help="the consequence (default: none)")
    parser.add_argument("--seat", help="the seat that forfeits")
    parser.add_argument("--version", type=int, metavar="N", help="the version from which another match goes on")
    parser.add_argument("--all", action="store_true", help="list all disputes, not only open ones")
    add_service_options(parser)
    options = parser.parse_args(arguments)
    if options.number is not None and (options.verdict is None) != (options.text is None):
        parser.error("a ruling needs a verdict and a --text")
    replace_unprintable()
    try:
        for line in _lines(client_from(options), options):
            print(legible(line))
    except (Problem, Unreachable, FileNotFoundError) as reason:
        print(reason, file=sys.stderr)
        return 1
    return 0


def _lines(client: Client, options: argparse.Namespace) -> Iterator[str]:
    """Yield what to print. Raises Problem or Unreachable."""
    if options.match is None:
        yield from _waiting(client, options.all)
    elif options.number is None:
        yield from _shown(client.get(f"/v1/matches/{options.match}/disputes"))
    elif options.verdict is None:
        client.post(f"/v1/matches/{options.match}/actions", {"type": "take_dispute", "dispute": options.number})
        yield f"You have taken dispute {options.number} about {options.match}."
    else:
        given = {name: value for name in ("seat", "version") if (value := getattr(options, name)) is not None}
        ruling = {"verdict": options.verdict, "remedy": options.remedy, "text": options.text, **given}
        yield from _shown(client.post(f"/v1/matches/{options.match}/disputes/{options.number}/ruling", ruling))


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


def _shown(answer: Mapping[str, Any]) -> Iterator[str]:
    """Yield the disputes of a match with their steps."""
    names = {id: player["name"] or "deleted player" for id, player in answer["players"].items()}
    if not answer["disputes"]:
        yield f"There is no dispute about {answer['match']}."
    for dispute in answer["disputes"]:
        yield f"Dispute {dispute['number']} about {answer['match']}, version {dispute['version']}: {dispute['state']}"
        for step in dispute["steps"]:
            event = step["event"]
            who = names.get(step["actor"], step["actor"])
            yield f"  {step['version']:>5}  {_moment(step['at'])}  {who}: {event['type']}{_outcome(event)}"
            yield from (f"         | {line}" for line in (event.get("text") or "").split("\n") if line)
            if event.get("report"):
                yield from _report(event["report"])


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
    for entry in report["entries"]:
        yield f"         {entry['version']:>5}  {entry['actor']}: {entry['action']}, {len(entry['rolls'])} rolls, {entry['digest'][:16]}"
    for seat, left in sorted(report["clocks"].items()):
        yield f"         {seat} had {left // 1000} s left"
    for refused in report["refused"]:
        yield f"         refused at version {refused['version']}: {refused['seat']}, {refused['code']}"


def _moment(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")


if __name__ == "__main__":
    sys.exit(main())
