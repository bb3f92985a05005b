"""A scripted agent: a client of the SDK that calls tools, reads their texts, and plays. It checks the size of every answer."""

from __future__ import annotations

import json
import random
import re
from collections import defaultdict
from typing import Any

from mcp import Client
from mcp.types import CallToolResult

from tools.mcp.answers import CUT, LIMIT

SECRET = re.compile(r"wl_p\w+")
HURRY = 0.3
MATCH = re.compile(r"\bm[a-z2-7]{16}\b")


class Refused(Exception):
    """A tool has answered with an error. The text is what an agent reads."""


class Agent:
    """Calls tools. `largest`: the size of the largest answer of each, in bytes."""

    def __init__(self, client: Client, seed: int = 1) -> None:
        self._client = client
        self._dice = random.Random(seed)
        self.largest: dict[str, int] = defaultdict(int)

    async def raw(self, tool: str, /, **arguments: Any) -> CallToolResult:
        """Return the answer of a tool, whose texts are small, whole and without a key."""
        answer = await self._client.call_tool(tool, arguments)
        text = answer.model_copy(update={"content": [block for block in answer.content if block.type == "text"]})
        size = len(text.model_dump_json(by_alias=True, exclude_none=True).encode())
        self.largest[tool] = max(size, self.largest[tool])
        assert size <= LIMIT, f"{tool} {arguments}: {size} bytes"
        assert not any(block.text.endswith(CUT) for block in text.content), f"{tool} {arguments} is cut"
        assert not SECRET.search(text.model_dump_json())
        return answer

    async def __call__(self, tool: str, /, **arguments: Any) -> str:
        """Return the text of an answer. Raises Refused."""
        answer = await self.raw(tool, **arguments)
        text = "\n".join(block.text for block in answer.content if block.type == "text")
        if answer.is_error:
            raise Refused(text)
        return text

    async def pages(self, tool: str, /, **arguments: Any) -> list[str]:
        """Return the lines of all pages of an answer, without the lines that count the pages."""
        lines: list[str] = []
        number = 1
        while True:
            page = (await self(tool, page=number, **arguments)).splitlines()
            last = page[-1] if page else ""
            lines += page[:-1] if last.startswith("Page ") else page
            if f"More: page={number + 1}." not in last:
                return lines
            number += 1

    def chosen(self, text: str) -> dict[str, Any] | None:
        """Return one of the actions in an answer, with other values of its ranges; None if it lists none. Turns end early."""
        lines = choices_in(text.splitlines())
        ends = [line for line in lines if line.startswith('{"type":"end_')]
        return self._varied(self._dice.choice(ends if ends and self._dice.random() < HURRY else lines)) if lines else None

    def _varied(self, line: str) -> dict[str, Any]:
        action, _, ranges = line.partition("  | ")
        found: dict[str, Any] = json.loads(action)
        for field in filter(None, ranges.split("; ")):
            name, _, said = field.partition(": ")
            bounds = {key: (int(low), int(high)) for key, low, high in re.findall(r"(?:(\w+) )?(\d+)-(\d+)", said)}
            total = bounds.pop("together", None)
            if total is None:
                found[name] = self._dice.randint(*bounds[""])
                continue
            values = {key: low for key, (low, _) in bounds.items()}
            for _ in range(self._dice.randint(*total) - sum(values.values())):
                values[self._dice.choice([key for key, (_, high) in bounds.items() if values[key] < high])] += 1
            found[name] = {key: value for key, value in values.items() if value}
        return found

    async def play(self, match: str, seen: str, looks: int = 0) -> str:
        """Play a match to its end. `seen`: the last answer. `looks`: after how many turns to use other tools. Return the last answer."""
        turns = 0
        while "The match is over" not in seen:
            if "more than fit here" in seen:
                seen = "\n".join(await self.pages("choices", match=match))
            action = self.chosen(seen)
            if action is None:
                seen = await self("wait", match=match, after=int(re.findall(r"Version (\d+)", seen)[-1]))
                continue
            turns += 1
            if looks and turns % looks == 0:
                await self._look_around(match, action)
            seen = await self("act", match=match, action=action)
        return seen

    async def _look_around(self, match: str, action: dict[str, Any]) -> None:
        await self.pages("look", match=match)
        await self.pages("choices", match=match)
        await self("choices", match=match, table=True)
        await self("try_actions", match=match, action=action)
        await self.pages("state", match=match)
        for member in re.findall(r"^(/\S+)", await self("state", match=match), re.MULTILINE):
            await self.pages("state", match=match, pointer=member)
        assert "{p" not in await self("why", match=match, pointer="/round"), "players are called by name"


def choices_in(lines: list[str]) -> list[str]:
    """Return the lines that have an action."""
    return [line for line in lines if line.startswith('{"type":')]
