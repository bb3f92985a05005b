"""The client for ordinary programs: generated from asynchronous.py by `./run openapi`, not to be edited."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote
from uuid import uuid4

import httpx
from httpx_sse import EventSource, ServerSentEvent, SSEError

from .evidence import Evidence
from .log import Checkpoint, continues
from .patience import Patience
from .problems import (
    Alarm,
    BadReceipt,
    Conflict,
    NotFound,
    Problem,
    Stale,
    TwoHistories,
    TwoLogs,
    Unavailable,
    Unreachable,
    parsed,
    problem_of,
)
from .reading import News, acted, has_ended, in_the_game
from .receipts import Receipts
from .signing import BY_PLAYER, HEADER, UNSIGNED, Key, Move, recorded, registration_text

if TYPE_CHECKING:
    from . import types

JSON, TEXT, SVG, NDJSON, EVENTS = "application/json", "text/plain", "image/svg+xml", "application/x-ndjson", "text/event-stream"
PAGE = 500  # entries to ask for at once
WAIT = 25  # seconds that the server may hold a request until there is news; it may end the wait earlier
SOON = 1  # the same, after an action was refused though the match has not moved on
TRIES = 10  # how often an action is signed anew because the match has moved on, where the caller names no version
SILENCE = 45.0  # seconds without a byte after which a stream is taken as cut; the server sends a comment every 15

log = logging.getLogger("warledger_client")


class Client:
    """Calls to one server, as one player or as nobody.

    `url`: such as `http://127.0.0.1:8000`. `key`: the key of a player; blanks and line ends around it are left out. `register` makes a
    player. `patience`: for how many seconds a request is sent again while the server is away, busy (503) or limits the player (429); it
    waits as long as `Retry-After` says. Whatever creates something is sent with the same `Idempotency-Key`, so it is carried out once.
    `timeout`: seconds to wait for an answer. `http`: settings of httpx, such as `{"verify": False}`.

    `receipts`: the folder in which to keep what the server signs, and the key with which moves are signed; default: one for each server in
    `~/.warledger`. False: nothing is kept or signed. `sign`: whether to sign moves.
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        patience: float = 120.0,
        timeout: float = 60.0,
        receipts: str | Path | Receipts | Literal[False] | None = None,
        sign: bool = True,
        http: Mapping[str, Any] | None = None,
    ) -> None:
        self.url = url.rstrip("/")
        self.key = key if key is None else key.strip()
        self.patience = patience
        self.sign = sign
        self._given = Receipts(receipts) if isinstance(receipts, str | Path) else receipts
        self._signing: tuple[str | None, str, Key | None] = (None, "", None)  # an API key, its player, and the key that signs for it
        self._told: set[str] = set()
        self._http = httpx.Client(timeout=httpx.Timeout(timeout, connect=min(timeout, 10.0)), **(http or {}))

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    # What is kept

    @property
    def receipts(self) -> Receipts | None:
        """The folder of receipts. None if nothing is kept."""
        if self._given is None:
            try:
                self._given = Receipts.usual(self.url)
            except OSError as reason:
                self._given = False
                self._tell(f"No receipts are kept, and no moves are signed: {reason}. Name a folder with `receipts`.")
        return self._given or None

    def signing_key(self) -> Key | None:
        """Return the key with which moves are signed; None if they are not. It is made, kept and registered when it is needed first."""
        return (self.signer())[1]

    def signer(self) -> tuple[str, Key | None]:
        """Return the id of the player, and the key with which moves are signed, or None."""
        receipts = self.receipts
        if self.key is None or not self.sign or receipts is None:
            return "", None
        if self._signing[0] != self.key:
            player, key = (self.me())["id"], None
            try:
                key = self._registered(player, receipts) if player is not None else None
            except Unavailable:
                raise
            except Problem as problem:
                self._tell(f"Moves are not signed: {problem.detail}")
            self._signing = (self.key, player or "", key)
        return self._signing[1:]

    def _registered(self, player: str, receipts: Receipts) -> Key:
        """Return the key of the player, which the server has registered. Raises Problem."""
        listed = self._signing_keys()
        revoked = [one["key"] for one in listed if one["revoked"] is not None]
        while True:
            key = receipts.signing_key(player, revoked)
            if not any(one["key"] == key.public for one in listed):
                proof = key.sign(registration_text(player, key.public))
                try:
                    self.post("/v1/players/me/signing-keys", {"key": key.public, "name": "warledger-client", "signature": proof})
                except Problem as problem:
                    if problem.code != "signing_key_revoked" or key.public in revoked:
                        raise
                    revoked.append(key.public)  # so long ago that the list has forgotten it
                    continue
            self._hold_keys(listed, key)
            return key

    def _signing_keys(self) -> list[types.SigningKey]:
        found: types.SigningKeyList = self.get("/v1/players/me/signing-keys")
        return found["keys"]

    def _hold_keys(self, listed: Sequence[types.SigningKey], mine: Key) -> None:
        """Tell of each key for which the server lists the player as the owner, and which this folder does not have."""
        for one in listed:
            if one["revoked"] is None and one["key"] != mine.public:
                self._tell(f"The server lists a signing key that you did not make here: {one['key']}. If it is not yours, revoke it.")

    def _tell(self, sentence: str) -> None:
        """Log a warning, once."""
        if sentence not in self._told:
            self._told.add(sentence)
            log.warning("%s", sentence)

    def compare(self) -> None:
        """Compare the newest checkpoint of the server's log with the one kept, and its list of your signing keys with your own.

        `turns` and `stream` do this when they begin and when the match is over. Raises an Alarm.
        """
        if self.receipts is None:
            return
        try:
            if self._signing[2] is not None:  # who only watches needs no key
                self._hold_keys(self._signing_keys(), self._signing[2])
            self._hold_log((self.fetch("/log/checkpoint", TEXT)).decode(), self.receipts)
        except Problem as problem:
            if problem.status != 404 or self.receipts.checkpoint() is not None:  # else the log has no checkpoint yet
                self._tell(f"The server's log cannot be compared: {problem.detail}")

    def _hold_log(self, note: str, receipts: Receipts) -> None:
        """Compare a checkpoint with the one kept, and keep it if it is newer. Raises BadReceipt, TwoLogs."""
        self._know(note, receipts)
        try:
            new, bad = Checkpoint.of(note), not receipts.is_signed(note)
        except ValueError:
            bad = True
        if bad:
            raise self._saved(BadReceipt("", 0, note, "no key of the server that is trusted has signed the checkpoint of its log"))
        kept = receipts.checkpoint(new.origin)
        if kept is None:
            receipts.keep_checkpoint(note)
            return
        old = Checkpoint.of(kept)
        first, second = sorted((old, new), key=lambda one: one.size)
        hashes: list[str] = []
        if 0 < first.size < second.size:
            try:
                hashes = (self.get("/log/consistency", **{"from": first.size, "to": second.size}))["hashes"]
            except NotFound:
                raise self._saved(TwoLogs(kept, note, [], f"it had {old.size} leaves and now has {new.size}")) from None
        if not continues(first, second, hashes):
            raise self._saved(TwoLogs(kept, note, hashes, "it does not continue what it has signed before"))
        if new.size > old.size:
            receipts.keep_checkpoint(note)

    def _know(self, note: str, receipts: Receipts) -> None:
        """Note the keys that the server publishes if none is known that a note names."""
        if not receipts.knows(note):
            published: types.ServerKeys = self.get("/.well-known/warledger-keys")
            known = receipts.keys
            receipts.note(key["vkey"] for key in published["keys"])
            if known and (new := set(receipts.keys).difference(known)):
                self._tell(f"The server has new keys: {', '.join(sorted(new))}. Ask its operator elsewhere whether they are right.")

    def _saved(self, alarm: Alarm, **more: Any) -> Alarm:
        """Save an alarm, if there is a folder, and return it."""
        if self.receipts is not None:
            self.receipts.save(alarm, **more)
        return alarm

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
        self.signer()  # so that the key is in the log before the match begins
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
        self._signed: Move | None = None  # what was signed last

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
        self.client.signer()  # so that the key is in the log before the match begins
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
        self.client.compare()
        if check:
            self._check_up_to(after, viewer)
        path = f"{self.path}/stream"
        query = {"after": after, **_given(viewer=viewer), **({"proof": "true"} if check else {})}
        for event in self.client.events(path, query):
            if event.event == "over":
                self.client.compare()
                return
            if event.event != "entry":
                continue
            entry = parsed(event.data)
            if entry["version"] > after:  # else it comes again
                after = entry["version"]
                if check:
                    self._check(entry)
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
        if self.client.receipts is not None:
            self.client._know(note, self.client.receipts)
        try:
            self.evidence.receipt(note)
        except Alarm as alarm:
            self.client._saved(alarm)
            raise

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
        """Carry out an action, or a list of them, signed. Return what followed, and your next choices.

        `version`: act only at this version, else raise Stale. `request`: an id of your own, with which you may repeat the call later.
        """
        deeds = acted(action)
        body = [recorded(deed) for deed in deeds] if isinstance(deeds, list) else recorded(deeds)
        headers = {"Idempotency-Key": request or str(uuid4())} | ({} if version is None else {"If-Match": f'"{version}"'})
        for tries in range(TRIES):
            seat, signature = self._signature(body if isinstance(body, list) else [body], version, seat)
            given, query = {**headers, **signature}, _given(seat=seat, proof="true" if signature else None)
            try:
                answer = self.client.request("POST", f"{self.path}/actions", query=query, body=body, headers=given)
            except Stale:
                if version is None and signature and tries + 1 < TRIES:
                    continue  # the caller acts at any version, and a signature is good for one
                raise
            except Conflict as conflict:
                raise (self._differs(conflict) if conflict.code == "history_differs" else conflict) from None
            break
        played: types.Played = parsed(answer.content)
        for entry in played["entries"] if signature else ():
            if entry["version"] == self.evidence.version + 1:  # then nothing has come between
                self._check(entry)
        self.keep(played["receipt"])
        return played

    def _signature(self, actions: Sequence[Mapping[str, Any]], version: int | None, seat: str | None) -> tuple[str | None, dict[str, str]]:
        """Return the seat that acts, and the header with the signatures over actions, or none."""
        player, key = self.client.signer()
        kind = actions[0].get("type") if actions else None
        if key is None or kind in UNSIGNED:
            return seat, {}
        if kind not in BY_PLAYER and seat is None:
            seat = (self.choices())["seat"]
        actor = player if kind in BY_PLAYER else seat
        if version is None or version > self.evidence.version:
            self._check_up_to(version, None)
        seen = self.evidence.version if version is None else version
        if actor is None or not 1 <= seen <= self.evidence.version:
            return seat, {}
        self._signed = Move(self.id, actor, seen, self.evidence.digest_at(seen))
        return seat, {HEADER: key.signed(self._signed, actions)}

    def _differs(self, conflict: Conflict) -> Alarm:
        """Return the alarm for a server that says that a version which it has shown is another one."""
        assert self._signed is not None
        seen, digest = self._signed.seen, self._signed.digest
        kept = self.evidence.receipt_at(seen) or digest
        alarm = TwoHistories(self.id, seen, kept, self._signed_now(seen), f"the server has shown another one before. {conflict.detail}")
        return self.client._saved(alarm, shown=digest, receipts=self.evidence.kept)

    def _signed_now(self, version: int) -> str:
        """Return the receipt of a version as the server signs it now, without a look at it; nothing if it gives none."""
        try:
            return str((self.client.get(f"{self.path}/receipts/{version}"))["receipt"])
        except (Problem, Unreachable, KeyError, TypeError):
            return ""

    def _check(self, entry: Mapping[str, Any]) -> None:
        """Check the next entry. Raises an Alarm, and saves it with the receipts that were kept and the one that the server signs now."""
        try:
            self.evidence.entry(entry)
        except Alarm as alarm:
            now = self._signed_now(alarm.version)
            self.client._saved(
                alarm, digest_before=self.evidence.digest_at(alarm.version - 1), receipts=self.evidence.kept, receipt_now=now
            )
            raise

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
        `check`: whether to check the chain of all entries. Who signs reads it all the same.
        """
        self.client.compare()
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
                self.finish(check=check)
                return

    def play(self, decide: Callable[[Turn], Mapping[str, object]], seat: str | None = None) -> types.Match:
        """Play until the match is over: `decide` returns a choice or an action for a turn. Return the last standing."""
        for turn in self.turns(seat):
            turn.act(decide(turn))
        assert self.last is not None
        return self.last

    def finish(self, *, check: bool = True) -> None:
        """Check the chain to its end, keep the receipt of the newest version, and compare the server's log. Raises an Alarm.

        `turns` does this when the match is over.
        """
        version = (self.standing())["version"]
        if check:
            self._check_up_to(version, None)
        if self.client.receipts is not None:
            self.receipt(version)
            self.client.compare()

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
                self._check(entry)
            over = any(has_ended(entry) for entry in page["entries"]) or not page["entries"]
            if over and (self.standing())["status"] in ("over", "closed"):
                return False
            if page["version"] > version or (wait == SOON and not page["entries"]):
                return True

    def _check_up_to(self, version: int | None, viewer: str | None) -> None:
        """Check the chain up to a version; None: the newest one."""
        while version is None or self.evidence.version < version:
            page = self._page(self.evidence.version, viewer, proof=True, wait=0)
            for entry in page["entries"]:
                self._check(entry)
            if len(page["entries"]) < PAGE:
                return

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
            self.played = self.match.act(action, version=self.version, seat=self._asked or self.seat)
        except (Stale, Conflict) as problem:
            self.played, self.refused = None, problem
        return self.played

    def state(self) -> types.State:
        """Return the position as the seat sees it."""
        return self.match.state(self.version, self.seat)


def _given(**query: Any) -> dict[str, Any]:
    """Return the parameters that are not None."""
    return {name: value for name, value in query.items() if value is not None}
