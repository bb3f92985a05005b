"""Requests to the HTTP API of one service, for one player. A refusal becomes a sentence for an agent."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Iterator, Mapping
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any, TextIO, TypeVar
from urllib.parse import quote

import httpx
from mcp.server.mcpserver.exceptions import ToolError

from sdk.python.warledger_client import AsyncClient, AsyncMatch, Error, Problem, Unreachable

PATIENCE = 20.0  # seconds for which a request is repeated that got no answer, or whose answer asks for that
TIMEOUT = 30.0  # seconds to wait for an answer
MOST_MATCHES = 32  # whose chains of digests are kept in memory
NO_KEY = "This needs a player. Call register(name) first; or the server has to be started with an API key."
T = TypeVar("T")


class Service:
    """One service, one player. `key_file`: where a key is kept that the service gives us. The key is in no answer and in no error."""

    def __init__(
        self,
        url: str,
        key: str | None = None,
        key_file: Path | None = None,
        patience: float = PATIENCE,
        http: Mapping[str, Any] | None = None,
    ) -> None:
        self.key_file = key_file
        self._client = AsyncClient(url, key, patience=patience, timeout=TIMEOUT, http=http)
        self._player: dict[str, Any] | None = None
        self._matches: dict[str, AsyncMatch] = {}  # what was asked for last comes last

    @property
    def url(self) -> str:
        """The address of the service."""
        return self._client.url

    @property
    def has_key(self) -> bool:
        """Whether there is a key."""
        return self._client.key is not None

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def player(self) -> dict[str, Any] | None:
        """Return the player, with `id` and `name`; None without a key. Raises ToolError."""
        if self.has_key and self._player is None:
            self._player = await self.get("/v1/players/me")
        return self._player

    async def needed_player(self) -> dict[str, Any]:
        """Return the player. Raises ToolError without one."""
        player = await self.player()
        if player is None:
            raise ToolError(NO_KEY)
        return player

    async def register(self, name: str) -> dict[str, Any]:
        """Create the player, and keep the key. Raises ToolError."""
        with _new_file(self.key_file) as file:
            made = await self._told(self._client.register(name))
            file.write(made["key"] + "\n")
        self._player = {"id": made["id"], "name": made["name"]}
        return self._player

    async def get(self, path: str, **query: Any) -> Any:
        """Return the JSON at a path. Members of the query that are None are left out. Raises ToolError."""
        return await self._told(self._client.get(path, **_given(query)))

    async def fetch(self, path: str, accept: str, **query: Any) -> str:
        """Return the text at a path in the media type `accept`. Raises ToolError."""
        return (await self._told(self._client.fetch(path, accept, **_given(query)))).decode()

    async def post(self, path: str, body: Any) -> Any:
        """Return the JSON that answers a body. It is carried out once, however often it is sent. Raises ToolError."""
        return await self._told(self._client.post(path, body))

    async def send(self, path: str, **query: Any) -> httpx.Response:
        """Return the answer to an empty body, with its status and headers. Raises ToolError."""
        return await self._told(self._client.request("POST", path, query=_given(query), body={}, repeatable=True))

    async def act(self, match: str, action: Any, version: int | None) -> Any:
        """Carry out actions, signed, and keep the receipt. Return what followed; for a rematch its standing. Raises ToolError."""
        return await self._told(self._act(match, action, version))

    async def finish(self, match: str) -> None:
        """Check the whole chain of a match that is over, and keep its last receipt. Raises ToolError."""
        await self._told((await self._match(match)).finish())

    async def _act(self, id: str, action: Any, version: int | None) -> Any:
        match = await self._match(id)
        if isinstance(action, dict) and action.get("type") == "rematch":
            return (await match.rematch()).last
        return await match.act(action, version=version)

    async def _match(self, id: str) -> AsyncMatch:
        """Return a match with what is known of its chain."""
        match = self._matches.pop(id, None)
        if match is None:
            await self._client.compare()
            match = self._client.match(id)
        self._matches[id] = match
        if len(self._matches) > MOST_MATCHES:
            del self._matches[next(iter(self._matches))]
        return match

    async def _told(self, answer: Awaitable[T]) -> T:
        """Return an answer. Raises ToolError with a sentence."""
        try:
            return await answer
        except Problem as problem:
            raise ToolError(self._sentence(problem)) from None
        except Unreachable:
            raise ToolError("The service does not answer. Nobody knows whether it was done: look.") from None
        except Error as alarm:
            raise ToolError(str(alarm)) from None

    def _sentence(self, problem: Problem) -> str:
        """Return why a request was refused, in a sentence with the code and the rule."""
        if not problem.code:
            return f"The service answered {problem.status} without a reason. Is {self.url} a Warledger service?"
        if problem.status == 401:
            return NO_KEY if not self.has_key else f"{problem.detail} ({problem.code})"
        place = f"Action {problem.place + 1} of the list: " if problem.place is not None else ""
        return f"{place}{problem.detail} ({problem.code}{f', rule {problem.rule}' if problem.rule else ''})"


def part(text: str) -> str:
    """Return a text as one part of a path, whatever it is."""
    return quote(text, safe="").replace(".", "%2E")


def _given(query: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in query.items() if value is not None}


@contextmanager
def _new_file(path: Path | None) -> Iterator[TextIO]:
    """Open a new file that nobody else can read; without a path, one in memory. A failure in the block removes it. Raises ToolError."""
    if path is None:
        yield StringIO()
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8")
    except OSError as reason:
        raise ToolError(f"No player was created, because its key cannot be kept in {path}: {reason.strerror}.") from None
    with file:
        try:
            yield file
        except BaseException:
            path.unlink()
            raise
