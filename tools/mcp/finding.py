"""Tools about games and matches: which there are, and how to get into one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from tools.mcp.answers import fits, paged
from tools.mcp.news import News
from tools.mcp.service import Service, part
from tools.mcp.wording import compact, roster, title

GameId = Annotated[str, Field(description="The id of a game, from games().")]
MatchId = Annotated[str, Field(description="The id of a match.")]
Page = Annotated[int, Field(ge=1, description="Which page of the answer.")]
Which = Literal["my_turn", "mine", "invited", "open", "playing", "over"]
Members = dict[str, Any]

QUERIES: dict[str, dict[str, str]] = {
    "my_turn": {"to_act": "me", "sort": "deadline"},
    "mine": {"player": "me"},
    "invited": {"invited": "me"},
    "open": {"status": "open"},
    "playing": {"status": "playing"},
    "over": {"status": "over"},
}
LISTED = 8  # matches in an answer


class Finding:
    """Games and matches."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._news = News(service)
        self.reads = (self.games, self.game, self.matches)
        self.writes = (self.create_match, self.join_match)

    async def games(self) -> str:
        """List the games that can be played."""
        found = (await self._service.get("/v1/games"))["games"]
        lines = [f"{one['id']}: {one['title']}, {_count(one)} seats: {', '.join(one['seats'])}" for one in found]
        return paged([], [*lines, "More about one: game(game). How it is played: rules(game)."])

    async def game(self, game: GameId, page: Page = 1) -> str:
        """Describe a game: seats, options, and the artificial players (levels) that can take seats."""
        found = await self._service.get(f"/v1/games/{part(game)}")
        lines = [f"{found['title']}: {_count(found)} seats, in this order: {', '.join(found['seats'])}.", "", "A seat may be taken by:"]
        lines += ["  me, open (anybody), player:<id> (an invitation)"]
        lines += [f"  {level['seat']}  {level['about']}" for level in found["levels"]]
        lines += ["", "Options (all may be left out):"]
        for name, option in found["options"]["properties"].items():
            lines.append(f"  {name} = {compact(option.get('default'))}  {option.get('description', '')}. Values: {_values(option)}")
        lines += ["", f"Profiles (sets of options): {', '.join(found['profiles'])}"]
        return paged([], lines, page)

    async def matches(
        self,
        which: Annotated[Which, Field(description="open: has a free seat. The last three are everybody's matches.")] = "mine",
        game: Annotated[str, Field(description="Only matches of this game.")] = "",
        cursor: Annotated[str, Field(description="From the last line of the answer before.")] = "",
    ) -> str:
        """List matches, the newest first; with my_turn, the earliest deadline first."""
        query = QUERIES[which]
        if "me" in query.values():
            await self._service.needed_player()
        found = await self._service.get("/v1/matches", limit=LISTED, game=game or None, cursor=cursor or None, **query)
        player = await self._service.player()
        more = [f'More: cursor="{found["next"]}"'] if found["next"] else []
        known: list[Members] = [found["players"], {}]
        for names in known:  # ids are shorter than long names
            lines = [f"{title(one)}. {roster(one, names, player)}{_to_act(one)}" for one in found["matches"]]
            if fits([*lines, *more]):
                break
        return paged([], [*(lines or ["none"]), *more])

    async def create_match(
        self,
        game: GameId,
        seats: Annotated[
            dict[str, str], Field(description='Who takes each seat: {"red": "me", "blue": "ai:greedy"}. Also "open" and "player:<id>".')
        ],
        options: Annotated[Members | None, Field(description="Options of the game that differ from its defaults.")] = None,
        profile: Annotated[str, Field(description="A set of options by its name.")] = "",
        clock: Annotated[
            Members | None,
            Field(
                description='{"kind":"none"}, {"kind":"per_action","seconds":60}, {"kind":"bank","seconds":900,"increment":10} '
                'or {"kind":"days","hours":72}, the default with other people.'
            ),
        ] = None,
        time_out: Annotated[
            Members | None, Field(description='When time is up: {"policy":"substitute"} (default), forfeit, skip or wait.')
        ] = None,
        order: Annotated[list[str] | None, Field(description="The turn order.")] = None,
        spectators: Annotated[str, Field(description='"all" (default) or "none": hidden until it is over.')] = "",
        code: Annotated[bool, Field(description="Whether a code is needed to join.")] = False,
    ) -> str:
        """Create a match. It begins when every seat is taken; with artificial players at once."""
        await self._service.needed_player()
        given = {"options": options, "profile": profile, "clock": clock, "time_out": time_out, "order": order, "spectators": spectators}
        body = {"game": game, "seats": seats, **{name: value for name, value in given.items() if value}, **({"code": True} if code else {})}
        made = await self._service.post("/v1/matches", body)
        secret = [f"Its code, for those who join: {made['code']}"] if made.get("code") else []
        return await self._news.now(made["id"], 0, [f"You have created the match {made['id']}.", *secret], first=True)

    async def join_match(
        self,
        match: MatchId,
        seat: Annotated[str, Field(description="Left out: the seat that is kept for you, or the first free one.")] = "",
        code: Annotated[str, Field(description="The code of the match, if it needs one.")] = "",
    ) -> str:
        """Take a seat in a match that is open."""
        player = await self._service.needed_player()
        if not seat:
            seat = _free(await self._service.get(f"/v1/matches/{part(match)}"), player["id"])
        joined = await self._service.post(f"/v1/matches/{part(match)}/seats/{part(seat)}", {"code": code} if code else {})
        return await self._news.now(match, joined["version"] - 1, [f"You have taken the seat {seat}."], first=True)


def _count(game: Members) -> str:
    least, most = game["least_seats"], game["most_seats"]
    return str(least) if least == most else f"{least} to {most}"


def _values(schema: Members) -> str:
    """Return the values that a schema allows."""
    if "anyOf" in schema:
        return " or ".join(map(_values, schema["anyOf"]))
    if "const" in schema:
        return compact(schema["const"])
    if "enum" in schema:
        return ", ".join(map(compact, schema["enum"]))
    kind = {"boolean": "true, false", "integer": "a whole number", "string": "a text", "null": "null"}.get(schema.get("type", ""))
    if kind is not None:
        return kind + (f" from {schema['minimum']} to {schema['maximum']}" if {"minimum", "maximum"} <= set(schema) else "")
    inner = schema.get("items") or schema.get("additionalProperties")
    return f"{schema.get('type')} of ({_values(inner)})" if isinstance(inner, dict) else compact(schema)


def _to_act(match: Members) -> str:
    return f" To act: {', '.join(match['to_act'])}." if match["to_act"] else ""


def _free(match: Members, player: str) -> str:
    """Return a seat that a player may take. Raises ToolError if there is none."""
    order: Sequence[str] = match["order"] or sorted(match["seats"])
    kept = [seat for seat in order if match["invited"].get(seat) == player]
    free = [seat for seat in order if match["seats"][seat].get("open") and seat not in match["invited"]]
    if not kept + free:
        raise ToolError("No seat of this match is free.")
    return (kept + free)[0]
