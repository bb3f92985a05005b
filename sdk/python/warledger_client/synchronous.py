"""The client for ordinary programs: generated from asynchronous.py by `./run openapi`, not to be edited."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from uuid import uuid4

import httpx
from httpx_sse import EventSource, ServerSentEvent, SSEError

from .evidence import Evidence, Receipts
from .patience import Patience
from .problems import Conflict, Stale, Unreachable, parsed, problem_of
from .reading import News, acted, has_ended, in_the_game

if TYPE_CHECKING:
    from . import types

JSON, TEXT, SVG, NDJSON, EVENTS = "application/json", "text/plain", "image/svg+xml", "application/x-ndjson", "text/event-stream"
PAGE = 500  # entries to ask for at once
WAIT = 25  # seconds that the server may hold a request until there is news; it may end the wait earlier
SOON = 1  # the same, after an action was refused though the match has not moved on
SILENCE = 45.0  # seconds without a byte after which a stream is taken as cut; the server sends a comment every 15


class Client:
    """Calls to one server, as one player or as nobody.

    `url`: such as `http://127.0.0.1:8000`. `key`: the key of a player; blanks and line ends around it are left out. `register` makes a
    player. `patience`: for how many seconds a request is sent again while the server is away, busy (503) or limits the player (429); it
    waits as long as `Retry-After` says. Whatever creates something is sent with the same `Idempotency-Key`, so it is carried out once.
    `timeout`: seconds to wait for an answer. `receipts`: a folder in which to keep the receipts of all matches. `http`: settings of httpx,
    such as `{"verify": False}`.
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        patience: float = 120.0,
        timeout: float = 60.0,
        receipts: str | Path | Receipts | None = None,
        http: Mapping[str, Any] | None = None,
    ) -> None:
        self.url = url.rstrip("/")
        self.key = key if key is None else key.strip()
        self.patience = patience
        self.receipts = Receipts(receipts) if isinstance(receipts, str | Path) else receipts
        self._http = httpx.Client(timeout=httpx.Timeout(timeout, connect=min(timeout, 10.0)), **(http or {}))

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    # Players and games

    def register(self, name: str) -> types.NewPlayer:
        """Create a player, and go on as that player. `key` of the answer is the only copy of the key."""
        made: types.NewPlayer = self.post("/v1/players", {"name": name})
        self.key = made["key"]
        return made

    def me(self) -> types.Player:
        """Return the player of the key, and what the key may do."""
        found: types.Player = self.get("/v1/players/me")
        return found

    def player(self, player: str) -> types.Profile:
        """Return the public profile of a player."""
        found: types.Profile = self.get(f"/v1/players/{player}")
        return found

    def games(self) -> list[types.GameInBrief]:
        """Return the games of the server."""
        found: types.GameList = self.get("/v1/games")
        return found["games"]

    def game(self, game: str) -> types.Game:
        """Return a game: seats, options, levels of artificial players, refusals."""
        found: types.Game = self.get(f"/v1/games/{game}")
        return found

    def rule(self, game: str, rule: str) -> types.Rule:
        """Return the text of a rule, such as the `rule` of a refusal."""
        found: types.Rule = self.get(f"/v1/games/{game}/rules/{rule}")
        return found

    def news(self, after: str | None = None, *, created: bool = False) -> Iterator[News]:
        """Yield what happens in all matches of the player, without end. `after`: the id of an event, to resume from there.

        `created`: what happens in all matches that the player has created, as their organiser. Connections that are cut are opened again
        where they ended. An event may come twice; none is lost. `match`, `version`, `index` and `type` of its data name it.
        """
        query = {"created": "true"} if created else None
        for event in self.events("/v1/players/me/stream", query, {"Last-Event-ID": after} if after else {}):
            yield News(event.event, event.id, parsed(event.data or "{}"))

    # Matches

    def match(self, match: str) -> Match:
        """Return a match by its id. This sends nothing."""
        return Match(self, match)

    def matches(self, **query: Any) -> Iterator[types.Standing]:
        """Yield the matches that a query finds, page by page. `query`: `game`, `status`, `player="me"`, `to_act="me"` and others."""
        for one in self.pages("/v1/matches", "matches", **query):
            yield one

    def create(self, game: str, seats: Mapping[str, str], **settings: Any) -> Match:
        """Create a match. `seats`: who takes which: `me`, `open`, `ai:<level>`, `player:<id>`.

        `settings`: `options`, `clock`, `time_out`, `order`, `spectators`, `code`, … as in openapi.yaml (`NewMatch`).
        """
        return self._created({"game": game, "seats": dict(seats), **settings})

    def practise(self, match: str, version: int, **settings: Any) -> Match:
        """Create a practice match from a version of a match that is over. `settings`: `seats`, `clock`, … (`Fork`)."""
        return self._created({"fork_of": match, "at": version, **settings})

    def _created(self, body: Mapping[str, Any]) -> Match:
        made: types.Match = self.post("/v1/matches", body)
        match = Match(self, made["id"])
        match.note(made)
        return match

    # Whatever else there is

    def get(self, path: str, **query: Any) -> Any:
        """Return the JSON at a path."""
        return parsed(self.fetch(path, **query))

    def fetch(self, path: str, accept: str = JSON, **query: Any) -> bytes:
        """Return the bytes at a path, in the media type `accept`."""
        return (self.request("GET", path, query=query, headers={"Accept": accept})).content

    def post(self, path: str, body: Any = None, **query: Any) -> Any:
        """Return the JSON that answers a body."""
        answer = self.request("POST", path, query=query, body=body, headers={"Idempotency-Key": str(uuid4())})
        return parsed(answer.content)

    def pages(self, path: str, items: str, **query: Any) -> Iterator[Any]:
        """Yield the members of a long list, page by page. `items`: the name of the list in the answer."""
        while True:
            page = self.get(path, **query)
            for one in page[items]:
                yield one
            if page.get("next") is None:
                return
            query["cursor"] = page["next"]

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        repeatable: bool | None = None,
    ) -> httpx.Response:
        """Send a request, again and again while it may succeed. Return the answer. Raises a Problem, or Unreachable.

        `repeatable`: whether it may be sent again if it is unknown whether it was carried out. By default these are requests that read,
        and those with an `Idempotency-Key`.
        """
        given = {**self._headers(JSON), **(headers or {})}
        patience = Patience(self.patience, method == "GET" or "Idempotency-Key" in given if repeatable is None else repeatable)
        while True:
            try:
                answer = self._http.request(method, self.url + quote(path), params=query, json=body, headers=given)
            except (httpx.TransportError, httpx.InvalidURL) as reason:
                pause = self._pause(patience, reason)
            else:
                if answer.is_success:
                    return answer
                problem = problem_of(answer.status_code, answer.content, answer.headers)
                asked = patience.after(problem)
                if asked is None:
                    raise problem
                pause = asked
            time.sleep(pause)

    def _headers(self, accept: str) -> dict[str, str]:
        if self.key is None:
            return {"Accept": accept}
        if not (self.key.isascii() and self.key.isprintable()):
            raise ValueError("the key has characters that no key has")
        return {"Accept": accept, "Authorization": f"Bearer {self.key}"}

    def _pause(self, patience: Patience, reason: Exception) -> float:
        """Return how many seconds to wait after silence. Raises Unreachable."""
        hopeless = isinstance(reason, httpx.InvalidURL | httpx.UnsupportedProtocol)
        pause = None if hopeless else patience.after_silence(nothing_done=isinstance(reason, httpx.ConnectError | httpx.ConnectTimeout))
        if pause is None:
            raise Unreachable(f"{self.url} does not answer: {reason}") from None
        return pause

    def events(
        self, path: str, query: Mapping[str, Any] | None = None, headers: Mapping[str, str] | None = None
    ) -> Iterator[ServerSentEvent]:
        """Yield the server-sent events at a path, and connect again where they end, until the answer is 204."""
        patience = Patience(self.patience, repeatable=True)
        sent = {**self._headers(EVENTS), **(headers or {})}
        quiet = httpx.Timeout(self._http.timeout.connect, read=SILENCE)
        while True:
            there = False
            try:
                with self._http.stream("GET", self.url + quote(path), params=query, headers=sent, timeout=quiet) as answer:
                    if answer.status_code == 204:
                        return
                    if not answer.is_success:
                        problem = problem_of(answer.status_code, answer.read(), answer.headers)
                        asked = patience.after(problem)
                        if asked is None:
                            raise problem
                        pause = asked
                    else:
                        there = True
                        for event in EventSource(answer).iter_sse():
                            if event.id:
                                sent["Last-Event-ID"] = event.id
                            if event.data:  # else it is no event, such as `retry` alone
                                patience.progress()
                                yield event
                        patience.connected()
                        pause = self._pause(patience, EOFError("the stream ended"))
            except (httpx.TransportError, httpx.InvalidURL, SSEError) as reason:
                if there:
                    patience.connected()
                pause = self._pause(patience, reason)
            time.sleep(pause)


class Match:
    """A match, as the player of a client sees it.

    `evidence`: what the server has said of it so far: the chain of digests, and receipts. `turns` and `stream` check each entry against
    it, from version 1 on, and raise an Alarm if the server contradicts itself.
    """

    def __init__(self, client: Client, id: str) -> None:
        self.client = client
        self.id = id
        self.path = f"/v1/matches/{id}"
        self.evidence = Evidence(id, client.receipts)
        self.last: types.Match | None = None

    @property
    def outcome(self) -> types.Outcome | None:
        """Who has won and why, as it was when the standing was read last; None before the end."""
        return self.last["outcome"] if self.last is not None else None

    def standing(self) -> types.Match:
        """Return the standing: `status`, `to_act`, `seats`, `clocks`, `outcome` and others."""
        self.note(self.client.get(self.path))
        assert self.last is not None
        return self.last

    def note(self, standing: types.Match) -> None:
        """Keep a standing as the last one, and its receipt."""
        self.last = standing
        if "receipt" in standing:
            self.keep(standing["receipt"])

    def join(self, seat: str, *, code: str | None = None, contribution: str | None = None) -> types.Match:
        """Take a seat. `contribution`: 1 to 64 bytes in hex that go into the dice."""
        given = {"code": code, "contribution": contribution}
        self.note(self.client.post(f"{self.path}/seats/{seat}", {name: value for name, value in given.items() if value is not None}))
        assert self.last is not None
        return self.last

    # Looking

    def state(self, version: int | None = None, viewer: str | None = None) -> types.State:
        """Return the position as a viewer sees it, by default as you do."""
        found: types.State = self.client.get(f"{self.path}/state", **_given(at=version, viewer=viewer))
        return found

    def board(self, version: int | None = None, viewer: str | None = None) -> str:
        """Return the board as text."""
        return (self.client.fetch(f"{self.path}/state", TEXT, **_given(at=version, viewer=viewer))).decode()

    def picture(self, version: int | None = None, viewer: str | None = None, **look: str) -> str:
        """Return the board as SVG. `look`: `shape` (`wide`, `tall`, `board`) and `theme` (`light`, `dark`)."""
        return (self.client.fetch(f"{self.path}/state.svg", SVG, **_given(at=version, viewer=viewer), **look)).decode()

    def choices(self, seat: str | None = None) -> types.Choices:
        """Return what you may do now, in the game and at the table."""
        found: types.Choices = self.client.get(f"{self.path}/choices", **_given(seat=seat))
        return found

    def entries(self, after: int = 0, viewer: str | None = None, proof: bool = False) -> Iterator[types.Entry]:
        """Yield the entries that there are after a version, page by page."""
        while True:
            page = self._page(after, viewer, proof, wait=0)
            if not page["entries"]:
                return
            for entry in page["entries"]:
                yield entry
            after = page["version"]

    def stream(self, after: int = 0, *, viewer: str | None = None, check: bool = True) -> Iterator[types.Entry]:
        """Yield the entries after a version as they come, until the match is over: each once, in order, over any number of connections.

        `check`: whether to check the chain. The entries before `after` are then read and checked, too.
        """
        if check:
            self._check_up_to(after, viewer)
        path = f"{self.path}/stream"
        query = {"after": after, **_given(viewer=viewer), **({"proof": "true"} if check else {})}
        for event in self.client.events(path, query):
            if event.event == "over":
                return
            if event.event != "entry":
                continue
            entry = parsed(event.data)
            if entry["version"] > after:  # else it comes again
                after = entry["version"]
                if check:
                    self.evidence.entry(entry)
                yield entry

    def wait(self, version: int, *, check: bool = True) -> types.Match:
        """Wait until the match is beyond a version, or over. Return the standing. `check`: whether to check the chain of all entries."""
        self._moved_on(version, check)
        return self.standing()

    def receipt(self, version: int) -> str:
        """Return the signed receipt of a version, and keep it."""
        found: types.Receipt = self.client.get(f"{self.path}/receipts/{version}")
        self.keep(found["receipt"])
        return found["receipt"]

    def keep(self, note: str) -> None:
        """Keep a receipt, and compare it with what the server has said before. Raises an Alarm."""
        receipts = self.client.receipts
        if receipts is not None and not receipts.knows(note):
            published: types.ServerKeys = self.client.get("/.well-known/warledger-keys")
            receipts.note(key["vkey"] for key in published["keys"])
        self.evidence.receipt(note)

    def dossier(self, viewer: str | None = None) -> bytes:
        """Return the signed file with all that you may know of the match, for `warledger verify` and `warledger.match`."""
        return self.client.fetch(f"{self.path}/dossier", NDJSON, **_given(viewer=viewer))

    # Playing

    def act(
        self,
        action: Mapping[str, object] | Sequence[Mapping[str, object]],
        *,
        version: int | None = None,
        seat: str | None = None,
        request: str | None = None,
    ) -> types.Played:
        """Carry out an action, or a list of them. Return what followed, and your next choices.

        `version`: act only at this version, else raise Stale. `request`: an id of your own, with which you may repeat the call later.
        """
        headers = {"Idempotency-Key": request or str(uuid4())} | ({} if version is None else {"If-Match": f'"{version}"'})
        answer = self.client.request("POST", f"{self.path}/actions", query=_given(seat=seat), body=acted(action), headers=headers)
        played: types.Played = parsed(answer.content)
        self.keep(played["receipt"])
        return played

    def plan(
        self, action: Mapping[str, object] | Sequence[Mapping[str, object]], *, version: int | None = None, seat: str | None = None
    ) -> types.Tried:
        """Try actions without playing them. Return the position and the choices after them."""
        headers = {} if version is None else {"If-Match": f'"{version}"'}
        path, query = f"{self.path}/tries", _given(seat=seat)
        answer = self.client.request("POST", path, query=query, body=acted(action), headers=headers, repeatable=True)
        tried: types.Tried = parsed(answer.content)
        return tried

    def rematch(self) -> Match:
        """Ask for the same match again, after the end. Return the new match; everybody who asks gets the same one."""
        headers = {"Idempotency-Key": str(uuid4())}
        answer = self.client.request("POST", f"{self.path}/actions", body={"type": "rematch"}, headers=headers)
        made: types.Match = parsed(answer.content)
        match = Match(self.client, made["id"])
        match.note(made)
        return match

    def turns(self, seat: str | None = None, *, check: bool = True) -> Iterator[Turn]:
        """Yield a turn whenever you must decide, until the match is over. A seat that a substitute plays is taken back first.

        A turn in which you do nothing is over, too: the next one comes with the next entry. So does the next one after a turn that somebody
        else was quicker to change. After any other conflict it comes a second later at the latest.
        `check`: whether to check the chain of all entries.
        """
        while True:
            found = self.choices(seat)
            version, mine = found["version"], found["seat"]
            playing: list[types.Choice] = in_the_game(found["choices"])
            if not playing and self._came_back(found, seat):
                continue
            wait = WAIT
            while playing:
                turn = Turn(self, version, mine, playing, seat)
                yield turn
                if turn.played is None:
                    wait = SOON if isinstance(turn.refused, Conflict) else WAIT
                    break
                version, mine = turn.played["version"], turn.played["seat"]
                playing = in_the_game(turn.played["choices"])
            if not self._moved_on(version, check, wait):
                self._finish(check)
                return

    def play(self, decide: Callable[[Turn], Mapping[str, object]], seat: str | None = None) -> types.Match:
        """Play until the match is over: `decide` returns a choice or an action for a turn. Return the last standing."""
        for turn in self.turns(seat):
            turn.act(decide(turn))
        assert self.last is not None
        return self.last

    def _came_back(self, found: types.Choices, seat: str | None) -> bool:
        """Take the seat back from a substitute, if that is possible. Return whether it was done."""
        if not any(choice["action"]["type"] == "return" for choice in found["choices"]):
            return False
        try:
            self.act({"type": "return"}, seat=seat)
        except Conflict:
            return False
        return True

    def _moved_on(self, version: int, check: bool, wait: int = WAIT) -> bool:
        """Wait until the match is beyond a version, or a short while. Return False if it is over."""
        while True:
            page = self._page(self.evidence.version if check else version, None, check, wait)
            for entry in page["entries"] if check else ():
                self.evidence.entry(entry)
            over = any(has_ended(entry) for entry in page["entries"]) or not page["entries"]
            if over and (self.standing())["status"] in ("over", "closed"):
                return False
            if page["version"] > version or (wait == SOON and not page["entries"]):
                return True

    def _finish(self, check: bool) -> None:
        """Check the rest of the chain, and keep the receipt of the last version."""
        assert self.last is not None
        if check:
            self._check_up_to(self.last["version"], None)
        if self.client.receipts is not None:
            self.receipt(self.last["version"])

    def _check_up_to(self, version: int, viewer: str | None) -> None:
        while self.evidence.version < version:
            page = self._page(self.evidence.version, viewer, proof=True, wait=0)
            if not page["entries"]:
                return
            for entry in page["entries"]:
                self.evidence.entry(entry)

    def _page(self, after: int, viewer: str | None, proof: bool, wait: int) -> types.Entries:
        query = {
            "after": after,
            "limit": PAGE,
            **_given(viewer=viewer),
            **({"proof": "true"} if proof else {}),
            **_given(wait=wait or None),
        }
        page: types.Entries = self.client.get(f"{self.path}/entries", **query)
        return page


class Turn:
    """A decision of a seat of yours.

    `version`: that of the match. `seat`: who decides. `choices`: every legal choice in the game. `played`: the answer to your action.
    `refused`: why it could not be carried out any more. Both are None before you act.
    """

    def __init__(self, match: Match, version: int, seat: str | None, choices: list[types.Choice], asked: str | None) -> None:
        self.match = match
        self.version = version
        self.seat = seat
        self.choices = choices
        self.played: types.Played | None = None
        self.refused: Stale | Conflict | None = None
        self._asked = asked

    def act(self, action: Mapping[str, object] | Sequence[Mapping[str, object]]) -> types.Played | None:
        """Carry out a choice, an action, or a list of them, if the match is still at this version.

        Return None if it has moved on, or if the action is not possible any more: `refused` says why.
        """
        try:
            self.played = self.match.act(action, version=self.version, seat=self._asked)
        except (Stale, Conflict) as problem:
            self.played, self.refused = None, problem
        return self.played

    def state(self) -> types.State:
        """Return the position as the seat sees it."""
        return self.match.state(self.version, self.seat)


def _given(**query: Any) -> dict[str, Any]:
    """Return the parameters that are not None."""
    return {name: value for name, value in query.items() if value is not None}
