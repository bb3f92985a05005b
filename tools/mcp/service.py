"""Requests to the HTTP API of one service, for one player. A refusal becomes a sentence for an agent."""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import quote

import anyio
import httpx
from mcp.server.mcpserver.exceptions import ToolError

PATIENCE = 20.0  # seconds for which a request is repeated that got no answer, or whose answer asks for that
PAUSE = 0.5  # seconds before it is repeated if the answer does not say how many
TIMES = httpx.Timeout(30.0, connect=5.0)
AWAY = (502, 503, 504)  # statuses of a service that is away for a moment
NO_KEY = "This needs a player. Call register(name) first; or the server has to be started with an API key."


class Service:
    """One service, one player. `key_file`: where a key is kept that the service gives us. The key is in no answer and in no error."""

    def __init__(self, url: str, key: str | None = None, key_file: Path | None = None, patience: float = PATIENCE) -> None:
        self.url = url.rstrip("/")
        self.key_file = key_file
        self.patience = patience
        self._key = key
        self._player: dict[str, Any] | None = None
        self._http = httpx.AsyncClient(timeout=TIMES)

    @property
    def has_key(self) -> bool:
        """Whether there is a key."""
        return self._key is not None

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def player(self) -> dict[str, Any] | None:
        """Return the player, with `id` and `name`; None without a key. Raises ToolError."""
        if self._key is None:
            return None
        if self._player is None:
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
            made = await self.post("/v1/players", {"name": name})
            file.write(made["key"] + "\n")
        self._key, self._player = made["key"], {"id": made["id"], "name": made["name"]}
        return self._player

    async def get(self, path: str, **query: Any) -> Any:
        """Return the JSON at a path. Members of the query that are None are left out. Raises ToolError."""
        return json.loads((await self._answer("GET", path, query=query)).content)

    async def fetch(self, path: str, accept: str, **query: Any) -> str:
        """Return the text at a path in the media type `accept`. Raises ToolError."""
        return (await self._answer("GET", path, {"Accept": accept}, query)).text

    async def post(self, path: str, body: Any, at: int | None = None) -> Any:
        """Return the JSON that answers a body. It is carried out once, however often it is sent. Raises ToolError.

        `at`: the version at which the match has to be.
        """
        return json.loads((await self.send("POST", path, body, at)).content)

    async def send(self, method: str, path: str, body: Any = None, at: int | None = None, **query: Any) -> httpx.Response:
        """Return an answer with its status and headers. Raises ToolError."""
        headers = {"Idempotency-Key": uuid.uuid4().hex} if method == "POST" else {}
        if at is not None:
            headers["If-Match"] = f'"{at}"'
        return await self._answer(method, path, headers, query, body)

    async def _answer(
        self, method: str, path: str, headers: Mapping[str, str] | None = None, query: Mapping[str, Any] | None = None, body: Any = None
    ) -> httpx.Response:
        """Return the answer to a request. It is repeated, with the same id, until an answer is there or the patience is at its end."""
        given = {"Accept": "application/json", **(headers or {})}
        if self._key is not None:
            given["Authorization"] = f"Bearer {self._key}"
        params = {name: _in_query(value) for name, value in (query or {}).items() if value is not None}
        end = time.monotonic() + self.patience
        while True:
            pause: float | None = PAUSE
            try:
                answer = await self._http.request(method, self.url + path, params=params, json=body, headers=given)
            except httpx.TransportError as reason:
                failure = ToolError(f"The service does not answer ({type(reason).__name__}). Nobody knows whether it was done: look.")
            else:
                if answer.is_success:
                    return answer
                failure = ToolError(self._sentence(answer))
                pause = _pause(answer)
            if pause is None or time.monotonic() + pause > end:
                raise failure
            await anyio.sleep(pause)

    def _sentence(self, answer: httpx.Response) -> str:
        """Return why a request was refused, in a sentence with the code and the rule."""
        try:
            problem = answer.json()
            code, detail = str(problem["code"]), str(problem["detail"])
        except (ValueError, KeyError, TypeError):
            return f"The service answered {answer.status_code} without a reason. Is {self.url} a Warledger service?"
        if answer.status_code == 401:
            return NO_KEY if self._key is None else f"{detail} ({code})"
        rule = problem.get("rule")
        place = f"Action {problem['place'] + 1} of the list: " if isinstance(problem.get("place"), int) else ""
        return f"{place}{detail} ({code}{f', rule {rule}' if rule else ''})"


def part(text: str) -> str:
    """Return a text as one part of a path, whatever it is."""
    return quote(text, safe="").replace(".", "%2E")


def _in_query(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


def _pause(answer: httpx.Response) -> float | None:
    """Return after how many seconds to ask again; None if that would not help."""
    after = answer.headers.get("Retry-After", "")
    if answer.status_code in (429, *AWAY) and after.isdecimal():
        return float(after)
    return PAUSE if answer.status_code in AWAY else None


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
