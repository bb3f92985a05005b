"""Tools about the player: who it is, and how to become one."""

from __future__ import annotations

import json
from typing import Annotated

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from tools.mcp.answers import fits
from tools.mcp.finding import Finding
from tools.mcp.service import Service


class Players:
    """Who plays."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._finding = Finding(service)
        self.reads = (self.me,)
        self.writes = (self.register,)

    async def me(self) -> str:
        """Begin here: which player you are, and the matches that wait for you."""
        player = await self._service.player()
        if player is None:
            return f"You are nobody yet at {self._service.url}. You may watch. To play, call register(name)."
        name = json.dumps(player["name"], ensure_ascii=False)
        lines = [f"You are {name}, player {player['id']}, at {self._service.url}. Your turn in:"]
        waiting = (await self._finding.matches("my_turn")).splitlines()
        return "\n".join(lines + (waiting if fits(lines + waiting) else ['more than fit here: matches(which="my_turn")']))

    async def register(self, name: Annotated[str, Field(description="1 to 64 characters. Everybody sees it.")]) -> str:
        """Create your player. Needed once, before you play. This server keeps the key for you."""
        if self._service.has_key:
            raise ToolError("You have a player already: me().")
        player = await self._service.register(name)
        file = self._service.key_file
        kept = "The key is kept as long as this server runs." if file is None else f"The key is kept in {file}."
        name = json.dumps(player["name"], ensure_ascii=False)
        return f'You are {name}, player {player["id"]}. {kept} Next: games(), or matches(which="open").'
