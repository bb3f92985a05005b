"""A bot that tells a chat room whose turn it is, with a picture of the board: `python chat_bot.py WEBHOOK MATCH…`.

WEBHOOK is an incoming webhook of Slack, Mattermost, Discord, a Matrix bridge or anything that takes `{"text": …}`. Without a match it tells
the room of all turns of the player whose key is in WARLEDGER_KEY. Pictures are for Discord: other webhooks take no files, and get a link
alone. The server draws SVG, which chat rooms do not show, so the bot makes PNG of it, with `pip install resvg-py`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from html import escape
from typing import TYPE_CHECKING, Any

import anyio
import httpx

from warledger_client import AsyncClient, AsyncMatch

if TYPE_CHECKING:
    from warledger_client.types import Match as Standing

OVER = ("over", "closed")
TRIES = 5  # how often a message is sent while the room limits the bot or is away


class Room:
    """A chat room behind an incoming webhook. Names of players are strangers' texts: they mention and format nothing."""

    def __init__(self, webhook: str) -> None:
        self.webhook = webhook
        self.discord = "/api/webhooks/" in webhook
        self.http = httpx.AsyncClient(timeout=30)

    async def say(self, text: str, picture: bytes | None) -> None:
        """Post a message. One that the room refuses is printed, and the bot goes on."""
        body: dict[str, Any] = {"content": text, "allowed_mentions": {"parse": []}} if self.discord else {"text": text}
        sent: dict[str, Any] = {"json": body}
        if self.discord and picture is not None:
            sent = {"data": {"payload_json": json.dumps(body)}, "files": {"files[0]": ("board.png", picture, "image/png")}}
        for tries in range(1, TRIES + 1):
            try:
                answer = await self.http.post(self.webhook, **sent)
            except httpx.TransportError as reason:
                print(f"The room does not answer: {reason}", file=sys.stderr)
                await anyio.sleep(tries)
                continue
            if answer.is_success:
                return
            print(f"The room answers {answer.status_code}: {answer.text[:200]}", file=sys.stderr)
            if answer.status_code != 429 and answer.status_code < 500:
                return
            await anyio.sleep(float(answer.headers.get("Retry-After", tries)))

    def name(self, standing: Standing, seat: str) -> str:
        """Return who plays a seat, with nothing in it that a room would take for a mention or a mark."""
        player = standing["seats"][seat].get("player", "")
        name = standing["players"].get(player, {"name": None})["name"] or "somebody"
        plain = name.replace("@", "@\u200b")
        return "".join(f"\\{c}" if c in "\\`*_~|[]<>#" else c for c in plain) if self.discord else escape(plain, quote=False)


def png(svg: str) -> bytes | None:
    """Return a picture as PNG, or None without resvg-py."""
    try:
        from resvg_py import svg_to_bytes
    except ModuleNotFoundError:
        return None
    return bytes(svg_to_bytes(svg_string=svg, width=1200))


async def tell(room: Room, match: AsyncMatch, standing: Standing, seats: list[str]) -> None:
    """Say whose turn it is in a match, or who has won."""
    title = (await match.client.game(standing["game"]))["title"]
    outcome = standing["outcome"]
    if standing["status"] in OVER:
        said = f"won by {' and '.join(outcome['winners']) or 'nobody'}" if outcome else "closed before it began"
    else:
        said = f"it is the turn of {' and '.join(f'{room.name(standing, seat)} ({seat})' for seat in seats)}"
    picture = png(await match.picture(viewer="spectator", theme="light")) if room.discord else None
    await room.say(f"{title}, round {standing['round']}: {said}. {match.client.url}/m/{match.id}", picture)


async def follow(room: Room, match: AsyncMatch) -> None:
    """Tell a room of the turns of people in a match, each once, until the match is over."""
    told: list[str] = []
    standing = await match.standing()
    while standing["status"] not in OVER:
        away = standing["substitutes"]
        waiting = sorted(seat for seat in standing["to_act"] if "player" in standing["seats"].get(seat, {}) and seat not in away)
        if waiting and waiting != told:
            await tell(room, match, standing, waiting)
        told = waiting
        standing = await match.wait(standing["version"], check=False)
    await tell(room, match, standing, [])


async def follow_player(room: Room, client: AsyncClient) -> None:
    """Tell a room of the turns of a player in all matches, and of their ends."""
    told: set[tuple[str, int, int]] = set()
    async for news in client.news():
        if news.kind not in ("turn", "over"):
            continue
        notice = news.data
        identity = (notice["match"], notice["version"], notice["index"])
        if identity not in told:  # some come twice
            told.add(identity)
            match = client.match(notice["match"])
            await tell(room, match, await match.standing(), [notice["seat"]] if notice["type"] == "turn" else [])


async def main() -> None:
    """Follow matches, all at once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("webhook")
    parser.add_argument("match", nargs="*")
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    options = parser.parse_args()
    room = Room(options.webhook)
    async with AsyncClient(options.url, os.environ.get("WARLEDGER_KEY")) as client, anyio.create_task_group() as tasks:
        if not options.match:
            await follow_player(room, client)
        for match in options.match:
            tasks.start_soon(follow, room, client.match(match))


if __name__ == "__main__":
    anyio.run(main)
