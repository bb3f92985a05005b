"""Matches, choices and entries in words, for agents.

Names of players are what strangers have chosen. They are always in quotation marks, with whatever is in them escaped as in JSON.
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tools.mcp.answers import short

Json = Mapping[str, Any]
LONGEST_NAME = 32  # characters of a name in a list
LONGEST_ENTRY = 1000  # characters of the sentences of an entry
ASCII = str.maketrans("─│┌┐└┘├┤┬┴┼", "-|+++++++++")  # each of these is three bytes, and lines of them are most of a board
ENDED = ("over", "closed")


def compact(value: Any) -> str:
    """Return JSON without blanks. The type of an action comes first."""
    if isinstance(value, dict) and "type" in value:
        value = {"type": value["type"], **value}
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def seats_of(match: Json, player: Json | None) -> list[str]:
    """Return the seats of a match that a player has."""
    return [] if player is None else [seat for seat, occupant in _in_order(match) if occupant.get("player") == player["id"]]


def is_wanted(match: Json, player: Json | None) -> bool:
    """Return True if a player has something to decide: in the game, or about an offer or a vote."""
    seats = seats_of(match, player)
    ours = [seat for seat in seats if seat not in match["substitutes"]]
    answers = [offer for offer in match["offers"].values() if offer["by"] not in seats and not set(seats) <= set(offer["accepted"])]
    votes = [seat for seat, vote in match["votes"].items() if set(seats) - {seat} - set(vote["votes"])]
    return bool(ours and (set(ours) & set(match["to_act"]) or answers or votes))


def title(match: Json) -> str:
    """Return the id of a match, its game and how far it is."""
    if match["status"] == "open":
        return f"{match['id']}: {match['game']}, waiting for players"
    return f"{match['id']}: {match['game']}, {match['status']}, version {match['version']}, round {match['round']}, phase {match['phase']}"


def roster(match: Json, names: Json, player: Json | None, longest: int = LONGEST_NAME) -> str:
    """Return who has the seats of a match. `names`: the `players` of an answer; without one of them, its id stands for it."""
    said = []
    for seat, occupant in _in_order(match):
        if "player" in occupant:
            who = _called(occupant["player"], names, player, longest)
        elif seat in match["invited"]:
            who = f"free, kept for {_called(match['invited'][seat], names, player, longest)}"
        else:
            who = occupant.get("ai") or "free"
        substitute = f", played by {match['substitutes'][seat]} for now" if seat in match["substitutes"] else ""
        said.append(f"{seat} {who}{substitute}")
    return "Seats: " + "; ".join(said) + "."


def situation(match: Json, player: Json | None) -> list[str]:
    """Return who the player is in a match, and what it waits for, in lines."""
    seats = seats_of(match, player)
    you = f"You are {' and '.join(seats)}. " if seats else ""
    outcome = match["outcome"]
    if outcome is not None:
        scores = ", ".join(f"{seat} {score}" for seat, score in sorted(outcome.get("scores", {}).items()))
        winners = " and ".join(outcome["winners"] or []) or "nobody"
        scored = f" Scores: {scores}." if scores else ""
        return [f"{you}The match is over at version {match['version']}: {winners} won ({outcome['reason']}).{scored}"]
    if match["status"] == "closed":
        return [f"{you}The match was closed before it began."]
    if match["status"] == "open":
        return [f"{you}Version {match['version']}. The match begins when every seat is taken."]
    now = f"{you}Version {match['version']}, round {match['round']}, phase {match['phase']}. To act: {_actors(match, seats)}."
    return [now, *_besides(match, seats)]


def _actors(match: Json, seats: Sequence[str]) -> str:
    def one(seat: str) -> str:
        clock = match["clocks"].get(seat)
        left = f", {_left(clock['deadline'])}" if clock and clock["deadline"] else ""
        return f"{seat}{' (you)' if seat in seats else ''}{left}"

    return ", ".join(map(one, match["to_act"])) or "nobody now"


def _besides(match: Json, seats: Sequence[str]) -> Iterator[str]:
    if match["paused_until"] is not None:
        yield f"The match is paused; {_left(match['paused_until'])}."
    if match["disputed_since"] is not None:
        yield "A dispute has frozen the match. Nobody acts until a referee has ruled or the time for that is over."
    for what, offer in sorted(match["offers"].items()):
        answer = "" if offer["by"] in seats else f' Answer by act with {{"type":"accept","what":"{what}"}} or "decline".'
        yield f"{offer['by']} offers: {what}.{answer if seats else ''}"
    for seat in sorted(match["votes"]):
        yield f"There is a vote about {seat}, who has run out of time: choices(table=true)."
    for seat in sorted(set(seats) & set(match["substitutes"])):
        yield f'An artificial player plays {seat} for you, until you act with {{"type":"return"}}.'


def _left(moment: int) -> str:
    """Return how much time there is until a moment in milliseconds."""
    minutes, seconds = divmod(max(0, int(moment / 1000 - time.time())), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = ((days, "d"), (hours, "h"), (minutes, "min"), (seconds, "s"))
    return " ".join(f"{number} {unit}" for number, unit in [part for part in parts if part[0]][:2] or [(0, "s")]) + " left"


def _in_order(match: Json) -> list[tuple[str, Json]]:
    order = match.get("order") or sorted(match["seats"])
    return [(seat, match["seats"][seat]) for seat in order if seat in match["seats"]]


def _called(id: str, names: Json, player: Json | None, longest: int) -> str:
    """Return a player's name in quotation marks, or the id."""
    known = names.get(id)
    if player is not None and id == player["id"]:
        return "you"
    if known is None:
        return id
    return "deleted player" if known["name"] is None else json.dumps(short(known["name"], longest), ensure_ascii=False)


def choice(one: Json) -> str:
    """Return a choice as a line: its action, then what may be chosen in it instead."""
    ranges = "; ".join(f"{field}: {_range(found)}" for field, found in one.get("choose", {}).items())
    return compact(one["action"]) + (f"  | {ranges}" if ranges else "")


def _range(found: Any) -> str:
    if isinstance(found, Mapping):
        each = ", ".join(f"{name} {low}-{high}" for name, (low, high) in found["each"].items())
        return f"{each}, together {found['total'][0]}-{found['total'][1]}"
    return f"{found[0]}-{found[1]}"


def kinds(choices: Sequence[Json]) -> str:
    """Return how many choices there are, by type."""
    counted = Counter(one["action"]["type"] for one in choices)
    noun = "choice" if len(choices) == 1 else "choices"
    return f"{len(choices)} {noun} ({', '.join(f'{number} {kind}' for kind, number in counted.items())})"


def entry(frame: Json, names: Json, rules: bool = False) -> str:
    """Return an entry as a line: its version, and what happened in sentences."""
    said = named(" ".join(frame["text"]), names) or f"{frame['actor']}: {frame['action']}."
    ids = f" [{' '.join(frame['rules'])}]" if rules and frame["rules"] else ""
    return f"{frame['version']}  {short(said, LONGEST_ENTRY)}{ids}"


def named(sentences: str, names: Json) -> str:
    """Return sentences in which players are called by name. `names`: as in `roster`.

    >>> named("{pa} takes red.", {"pa": {"name": "Ada"}})
    '"Ada" takes red.'
    """
    return re.sub(r"{(p[a-z2-7]+)}", lambda found: _called(found[1], names, None, LONGEST_NAME), sentences)
