"""Tools that play: see a match, choose, try, act, wait."""

from __future__ import annotations

import functools
import time
from typing import Annotated, Any

import anyio
import resvg_py
from mcp.server.mcpserver import Image
from pydantic import Field

from tools.mcp.answers import paged
from tools.mcp.finding import MatchId, Page
from tools.mcp.news import ACT, OPEN, News
from tools.mcp.service import Service, part
from tools.mcp.wording import ASCII, ENDED, choice, compact, is_wanted, kinds, seats_of, situation

Action = Annotated[
    dict[str, Any] | list[dict[str, Any]],
    Field(description="A choice as it is listed, with other values of its ranges if you like. A list is done whole or not at all."),
]
At = Annotated[int, Field(ge=0, description="A version of the match. 0: the newest.")]
Viewer = Annotated[str, Field(description='Whose view: yours if left out. "spectator" is open to all, any seat once the match is over.')]

LONGEST_WAIT = 50  # seconds, as clients give up after a minute
STEP = 9  # seconds of a long poll; the service ends a longer one
WIDEST = 1600  # pixels of a picture


class Playing:
    """A match that is played."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._news = News(service)
        self.reads = (self.look, self.picture, self.choices, self.try_actions, self.wait)
        self.writes = (self.act,)

    async def look(self, match: MatchId, at: At = 0, viewer: Viewer = "", page: Page = 1) -> str:
        """Show the board as text, with everything that your seat can see, and what the match waits for."""
        path = f"/v1/matches/{part(match)}"
        board = await self._service.fetch(f"{path}/state", "text/plain", at=at or None, viewer=viewer or None)
        lines = [line.rstrip() for line in board.translate(ASCII).splitlines()]
        waits = situation(await self._service.get(path), await self._service.player()) if not at else [f"This was version {at}."]
        return paged([], [*lines, "", *waits], page)

    async def picture(
        self,
        match: MatchId,
        at: At = 0,
        viewer: Viewer = "",
        width: Annotated[int, Field(ge=300, le=WIDEST, description="In pixels.")] = 1000,
    ) -> list[str | Image]:
        """Show the match as an image (PNG). It is large: look(match) says the same in text."""
        svg = await self._service.fetch(
            f"/v1/matches/{part(match)}/state.svg", "image/svg+xml", at=at or None, viewer=viewer or None, theme="light"
        )
        png = await anyio.to_thread.run_sync(functools.partial(resvg_py.svg_to_bytes, svg_string=svg, width=width))
        return [f"The match {match}{'' if not at else f' at version {at}'}.", Image(data=bytes(png), format="png")]

    async def choices(
        self,
        match: MatchId,
        only: Annotated[str, Field(description='Only choices whose JSON has this text, such as "move" or a card.')] = "",
        table: Annotated[bool, Field(description="List what you may do at the table instead: resign, offer a draw, and so on.")] = False,
        page: Page = 1,
    ) -> str:
        """List every legal action of your seat, one a line, ready for act."""
        found = await self._service.get(f"/v1/matches/{part(match)}/choices")
        listed = [one for one in found["choices"] if ("at_table" in one) == table]
        head = [f"Version {found['version']}. You are {found['seat'] or 'not seated'}. To act: {', '.join(found['to_act']) or 'nobody'}."]
        if not listed:
            return "\n".join([*head, f"You have no choice now. Next: wait(match, after={found['version']})."])
        shown = [one for one in listed if only.lower() in compact(one["action"]).lower()]
        counted = kinds(listed) if not only else f"{len(shown)} of {kinds(listed)}"
        head.append(f"{counted}. {ACT}")
        if any("choose" in one for one in shown):
            head.append(OPEN)
        return paged(head, [choice(one) for one in shown], page)

    async def try_actions(self, match: MatchId, action: Action, page: Page = 1) -> str:
        """Try actions without doing them: what they would lead to, and what you could do then. Shows no dice and no hidden cards."""
        tried = await self._service.post(f"/v1/matches/{part(match)}/tries", action)
        head = [f"Tried on version {tried['version']}; nothing was done.", " ".join(tried["frame"].get("text", []))]
        if tried["reveals"]:
            head.append("The last action was left out: it draws chance or reveals something, so its result cannot be known before.")
        if actors := tried["frame"].get("now", {}).get("to_act"):
            head.append(f"To act then: {', '.join(actors)}.")
        choices = tried["choices"]
        if choices:
            head.append(f"You could do then: {kinds(choices)}.")
        return paged([line for line in head if line], [choice(one) for one in choices], page)

    async def act(
        self,
        match: MatchId,
        action: Action,
        version: Annotated[int, Field(ge=0, description="Act only if the match is still at this version. 0: at any.")] = 0,
    ) -> str:
        """Carry out an action of your seat, or a list of up to 50.

        At the table, alone: {"type":"resign"}, {"type":"offer","what":"draw"} and others, see choices(table=true).
        """
        done = await self._service.act(match, action, version or None)
        if "first" not in done:  # the rematch that was asked for
            return await self._news.now(done["id"], 0, [f"The rematch is {done['id']}."])
        return await self._news.now(match, done["first"] - 1, ["Done."])

    async def wait(
        self,
        match: MatchId,
        after: Annotated[int, Field(ge=0, description="The version that you have seen.")],
        seconds: Annotated[int, Field(ge=0, le=LONGEST_WAIT, description="How long to wait at most.")] = 30,
    ) -> str:
        """Wait until your seat has to decide or the match is over. Returns what has happened since a version, and your choices."""
        end = time.monotonic() + seconds
        player = await self._service.player()
        path = f"/v1/matches/{part(match)}"
        while True:
            found = await self._service.get(path)
            version, left = found["version"], end - time.monotonic()
            watching = not seats_of(found, player) and version > after
            if found["status"] in ENDED or is_wanted(found, player) or watching or left <= 0:
                return await self._news.now(match, after)
            await self._service.get(f"{path}/entries", after=version, wait=min(STEP, max(1, int(left))), limit=1)
