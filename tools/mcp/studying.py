"""Tools that explain: history, reasons, rules, the state as data, and the analysis of a match that is over."""

from __future__ import annotations

import time
from typing import Annotated, Any, Literal

import anyio
from jsonpointer import JsonPointer, JsonPointerException
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from tools.mcp.answers import FOOT, ROOM, fits, oldest, paged, short, size
from tools.mcp.finding import GameId, MatchId, Page
from tools.mcp.playing import LONGEST_WAIT, At, Viewer
from tools.mcp.service import Service, part
from tools.mcp.wording import compact, entry, named

Pointer = Annotated[str, Field(description='A JSON Pointer into the state, such as "/reserve/red". Empty: the whole state.')]

FRAMES = 50  # entries that are asked for at once
CHANGES = 5
LONGEST_VALUE, LONGEST_SENTENCE = 200, 300  # characters of a value, and of what an entry says, in the answer of `why`


class Studying:
    """Matches and rules, to understand them."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self.reads = (self.history, self.state, self.why, self.rules, self.rule)
        self.writes = (self.analysis,)

    async def history(
        self,
        match: MatchId,
        after: Annotated[int, Field(ge=0, description="Begin behind this version.")] = 0,
        rules: Annotated[bool, Field(description="Whether to name the rules that applied.")] = False,
        viewer: Viewer = "",
    ) -> str:
        """Tell what has happened in a match, in sentences, version by version. Includes the dice."""
        path = f"/v1/matches/{part(match)}"
        names = (await self._service.get(path))["players"]
        page = await self._service.get(f"{path}/frames", after=after, limit=FRAMES, key=False, viewer=viewer or None)
        lines = [entry(frame, names, rules) for frame in page["frames"]]
        shown = oldest(lines, ROOM - FOOT) or lines[:1]
        if len(shown) < len(lines) or len(lines) == FRAMES:
            shown.append(f"More: history(match, after={after + len(shown)})")
        return "\n".join(shown or [f"Nothing has happened after version {after}."])

    async def state(self, match: MatchId, pointer: Pointer = "", at: At = 0, viewer: Viewer = "", page: Page = 1) -> str:
        """Show a part of the match's state as JSON, as your seat sees it. Where it is too large, its members and their sizes are listed."""
        found = await self._service.get(f"/v1/matches/{part(match)}/state", at=at or None, viewer=viewer or None)
        try:
            value = JsonPointer(pointer).resolve(found["view"])
        except JsonPointerException:
            raise ToolError(f"There is no {pointer} in the state. state(match) lists what there is.") from None
        head = [f"Version {found['version']}, as {found['viewer']} sees it. {pointer or 'The state'}:"]
        whole = compact(value)
        if fits([*head, whole], ROOM - FOOT) or not isinstance(value, dict | list):
            return paged(head, [whole], page)
        members = value.items() if isinstance(value, dict) else enumerate(value)
        return paged(head, [_member(pointer, name, member) for name, member in members], page)

    async def why(
        self,
        match: MatchId,
        pointer: Annotated[str, Field(description='A field as a JSON Pointer, such as "/reserve/red": state(match) lists them.')],
        at: At = 0,
        viewer: Viewer = "",
        cursor: Annotated[str, Field(description="From the last line of the answer before.")] = "",
    ) -> str:
        """Explain a field of the state: the entries that changed it, newest first, with their rules."""
        query = {"pointer": pointer, "at": at or None, "viewer": viewer or None, "cursor": cursor or None, "limit": CHANGES}
        path = f"/v1/matches/{part(match)}"
        names = (await self._service.get(path))["players"]
        found = await self._service.get(f"{path}/why", **query)
        lines = [f"{pointer} at version {found['at']}: {_value(found, 'value')}"]
        for change in found["changes"]:
            rules = sorted({rule for event in change["events"] for rule in event["rules"]})
            lines.append(f"{change['version']}  {short(named(' '.join(change['text']), names), LONGEST_SENTENCE)} [{' '.join(rules)}]")
            lines.append(f"    {_value(change, 'before')} -> {_value(change, 'after')}")
        more = [f'More: cursor="{found["next"]}"'] if found["next"] else []
        return paged([], [*lines, *more])

    async def rules(
        self,
        game: GameId,
        section: Annotated[str, Field(description="A section by a part of its title. Empty: list the sections.")] = "",
        words: Annotated[str, Field(description="Only rules with all these words.")] = "",
        page: Page = 1,
    ) -> str:
        """Read the rules of a game: its sections, the rules of one, or those with some words. [S] stated in the rulebook, [R] a ruling."""
        found = (await self._service.get(f"/v1/games/{part(game)}/rules"))["rules"]
        if not section and not words:
            counted: dict[str, list[str]] = {}
            for rule in found:
                counted.setdefault(rule["section"], []).append(rule["id"])
            lines = [f"{name}: {ids[0]} to {ids[-1]}" for name, ids in counted.items()]
            return paged(["Sections. Read one: rules(game, section). Search: rules(game, words)."], lines, page)
        chosen = [rule for rule in found if section.lower() in rule["section"].lower() and _has(rule, words)]
        if not chosen:
            raise ToolError("No rule is found. rules(game) lists the sections.")
        lines, last = [], ""
        for rule in chosen:
            if rule["section"] != last:
                last = rule["section"]
                lines.append(f"## {last}")
            lines.append(f"{rule['id']} {rule['text']}")
        return paged([], lines, page)

    async def rule(self, id: Annotated[str, Field(description="The id of a rule, such as WAR-ATT-03.")]) -> str:
        """Read one rule by its id, as refusals, history and why name it."""
        games = (await self._service.get("/v1/games"))["games"]
        for game in games:
            found = {rule["id"]: rule for rule in (await self._service.get(f"/v1/games/{game['id']}/rules"))["rules"]}
            if rule := found.get(id.strip().upper()):
                return paged([], [f"{rule['id']} ({rule['section']})", rule["text"]])
        raise ToolError("No game has a rule with this id.")

    async def analysis(
        self,
        match: MatchId,
        level: Annotated[Literal["strong", "expert"], Field(description="Who rates.")] = "strong",
        seconds: Annotated[int, Field(ge=0, le=LONGEST_WAIT, description="How long to wait for it.")] = 30,
        page: Page = 1,
    ) -> str:
        """After the end: rate every decision of a match, and find its turning points. It takes a while: ask again until it is there."""
        end = time.monotonic() + seconds
        path = f"/v1/matches/{part(match)}/analysis"
        while (answer := await self._service.send(path, level=level)).status_code == 202:
            pause = float(answer.headers.get("Retry-After", "5"))
            if time.monotonic() + pause > end:
                reached = answer.json()
                return f"Not finished: version {reached['version']} of {reached['versions']} is rated. Ask again in {pause:.0f} s."
            await anyio.sleep(pause)
        return paged([], _rated(answer.json()), page)


def _member(pointer: str, name: Any, value: Any) -> str:
    """Return a member of something large: its value if that is short, or else how large it is."""
    text = compact(value)
    path = f"{pointer}/{str(name).replace('~', '~0').replace('/', '~1')}"
    return f"{path} {text if len(text) <= LONGEST_VALUE else f'({size(text)} bytes)'}"


def _value(found: dict[str, Any], name: str) -> str:
    return short(compact(found[name]), LONGEST_VALUE) if name in found else "(nothing, or too large)"


def _has(rule: dict[str, str], words: str) -> bool:
    text = f"{rule['id']} {rule['text']}".lower()
    return all(word in text for word in words.lower().split())


def _rated(found: dict[str, Any]) -> list[str]:
    """Return an analysis in lines: the turning points, then the decisions, the worst first."""
    lines = []
    for seat, figures in found["seats"].items():
        good = f"{figures['agreed']} of {figures['decisions']} decisions as good as those of {found['by']['level']}"
        lines.append(f"{seat}: {good}, loss {figures['lost']} in all")
    lines += ["", "Turning points:"]
    for point in found["turning_points"]:
        rest = ", ".join(f"{name} {value}" for name, value in point.items() if name not in ("version", "kind"))
        lines.append(f"{point['version']}  {point['kind']}: {rest}")
    lines += ["", "Decisions, the worst first. Expectations are shares of a victory, from 0 to 1:"]
    for one in sorted(found["decisions"], key=lambda one: -one["loss"]):
        better = f", better {compact(one['best'])}" if one["best"] != one["action"] else ""
        expected = f"{one['before']} -> {one['chosen']}, loss {one['loss']}"
        lines.append(f"{one['version']}  {one['seat']} {compact(one['action'])}{better}: {expected}")
    return lines
