"""What has happened in a match, what it waits for, and what the player may do: the answer to most tools that play."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tools.mcp.answers import ROOM, fits, newest
from tools.mcp.service import Service, part
from tools.mcp.wording import ENDED, choice, entry, kinds, roster, seats_of, situation

ENTRIES = 40  # the newest entries that are told
TOLD = 2000  # bytes of them in an answer
ACT = "Next: act(match, action) with one of them."
OPEN = "After | : other values that you may put there. Any within the ranges is legal."


class News:
    """Tells matches of one service to its player."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def now(self, match: str, after: int, done: Sequence[str] = (), first: bool = False) -> str:
        """Return what has happened after a version, what the match waits for, and the choices if they fit. Raises ToolError.

        `done`: lines that come first. `first`: whether to list the seats, too.
        """
        player = await self._service.player()
        found = await self._service.get(f"/v1/matches/{part(match)}")
        if found["status"] in ENDED and seats_of(found, player):
            await self._service.finish(match)
        told = await self.told(found, after)
        seats = [roster(found, found["players"], player)] if first else []
        lines = [*done, *told, *seats, *situation(found, player)]
        return "\n".join(lines + await self._next(found, player, lines))

    async def told(self, match: dict[str, Any], after: int) -> list[str]:
        """Return the entries of a match after a version in sentences: the newest that fit. Raises ToolError."""
        last = match["version"]
        if after >= last:
            return []
        begin = max(after, last - ENTRIES)
        page = await self._service.get(f"/v1/matches/{match['id']}/frames", after=begin, limit=ENTRIES, key=False)
        lines = newest([entry(frame, match["players"]) for frame in page["frames"] if frame["version"] <= last], TOLD)
        left_out = last - after - len(lines)
        if left_out > 0:
            lines.insert(0, f"({left_out} earlier entries: history(match, after={after}))")
        return lines

    async def _next(self, match: dict[str, Any], player: dict[str, Any] | None, lines: list[str]) -> list[str]:
        """Return what the player may do next, in lines that fit below others."""
        if match["status"] in ENDED:
            return ["Next: analysis(match), or history(match)."] if match["status"] == "over" else []
        if not set(seats_of(match, player)) & set(match["to_act"]):
            return [f"Next: wait(match, after={match['version']})."]
        listed = (await self._service.get(f"/v1/matches/{match['id']}/choices"))["choices"]
        game = [one for one in listed if "at_table" not in one]
        shown = [f"{kinds(game)}. {ACT}", *([OPEN] if any("choose" in one for one in game) else [])]
        shown += map(choice, game)
        if fits([*lines, *shown], ROOM):
            return shown
        return [f"{kinds(game)}, more than fit here. Next: choices(match)."]
