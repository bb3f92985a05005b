"""Plays a match over HTTP and keeps an answer of each operation, for openapi.yaml: `./run openapi --play`.

Everything that is drawn comes from a seed, and all clocks stand still between requests, so the same code gives the same answers. They are
the service's own; only long texts, lists and maps are cut short (`short`).
"""

from __future__ import annotations

import base64
import secrets
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from unittest import mock

import orjson
from flask import Flask
from flask.testing import FlaskClient
from nacl.signing import SigningKey

from events import puzzles, rating, recall
from events.due import ANALYSIS, HINT, KINDS
from events.hooks import deliveries, messages, subscriptions
from events.keeping import embedded
from events.notary import collecting, sequencing
from events.platform import Platform, Settings, open_platform
from events.telemetry import metrics
from events.timing.clock import Clock
from evidence.statements import signing_key_text
from games.kernel import SYSTEM, legal
from record.puzzles import Puzzle, Reply, Weighed
from service.api.openapi import example_name
from service.api.routes import OPERATIONS
from service.api.shapes import EXAMPLES
from service.app import create_app
from service.http import settings as service_settings
from table.data import DAY_MS
from workers import jobs

BEGUN = 1_767_225_600_000  # 2026-01-01T00:00Z
STEP = 1_700  # milliseconds from one request to the next
ADMIN = "an-admin-key-that-is-for-examples-only"
LONGEST_TEXT, LONGEST_ROW, LONGEST_LIST = 90, 3, 1
MAPS = {
    "actions": 1,
    "clocks": 1,
    "data": 2,
    "events": 1,
    "fragments": 1,
    "neighbours": 1,
    "options": 2,
    "properties": 1,
    "refusals": 1,
    "tiles": 1,
}  # how much of a map is enough


def write() -> int:
    """Play, and write the answers. Return how many there are."""
    with tempfile.TemporaryDirectory() as folder:
        found = played(Path(folder))
    EXAMPLES.write_bytes(orjson.dumps(found, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n")
    return len(found)


def played(folder: Path) -> dict[str, Any]:
    """Play over a store in a folder, and return an answer for each name of an example."""
    with _still() as clock, _platform(folder, clock) as platform:
        app = create_app(platform, service_settings.Settings(admin_key=ADMIN, log_requests=False, comment_seconds=1.0))
        jobs.bind(platform)
        metrics.appends.clear()  # this process may have counted before
        kept = _Kept(app, clock)
        _play(platform, kept)
        return kept.examples


class _Moment:
    """What every clock says, until the next request."""

    def __init__(self) -> None:
        self.ms = BEGUN

    def now(self) -> int:
        return self.ms

    def seconds(self) -> float:
        return self.ms / 1000

    def nanoseconds(self) -> int:
        return self.ms * 1_000_000


@contextmanager
def _still() -> Iterator[_Moment]:
    """Let the clocks stand, and draw all that is random from a seed: from one for each module, since threads draw when they like."""
    moment = _Moment()
    sources: dict[str, Random] = {}

    def drawn(number: int | None = None) -> bytes:
        caller = sys._getframe(1)
        while caller.f_code.co_filename in (__file__, secrets.__file__):
            caller = caller.f_back or caller
        name = Path(caller.f_code.co_filename).stem
        return sources.setdefault(name, Random(name)).randbytes(number or 32)

    with (
        mock.patch.object(secrets, "token_bytes", drawn),
        mock.patch.object(secrets, "token_hex", lambda number=None: drawn(number).hex()),
        mock.patch.object(secrets, "token_urlsafe", lambda number=None: base64.urlsafe_b64encode(drawn(number)).rstrip(b"=").decode()),
        mock.patch.object(time, "time", moment.seconds),
        mock.patch.object(time, "time_ns", moment.nanoseconds),
    ):
        yield moment


@contextmanager
def _platform(folder: Path, moment: _Moment) -> Iterator[Platform]:
    """Open a platform over servers of its own."""
    store, queue = embedded.start(folder, embedded.STORE, "no"), embedded.start(folder, embedded.QUEUE, "off")
    settings = Settings(store_url=store.url, queue_url=queue.url, data=folder, keys=folder / "keys", name="example.org")
    platform = open_platform(settings, clock=Clock(moment.now, moment.now, "example"))
    try:
        yield platform
    finally:
        platform.close()
        store.stop()
        queue.stop()


class _Person(NamedTuple):
    """Somebody with a key."""

    key: str
    id: str = ""


NOBODY = _Person("")


class _Kept:
    """Asks the service, and keeps the first answer of each kind."""

    def __init__(self, app: Flask, moment: _Moment) -> None:
        self.client: FlaskClient = app.test_client()
        self.examples: dict[str, Any] = {}
        self._moment = moment
        self._answers = {operation.id: operation for operation in OPERATIONS}

    @property
    def now(self) -> int:
        """The moment at which all clocks stand."""
        return self._moment.ms

    def passed(self, ms: int) -> int:
        """Let time pass, and return the moment."""
        self._moment.ms += ms
        return self._moment.ms

    def send(
        self, id: str, who: _Person = NOBODY, body: Any = None, query: str = "", *, keep: bool = True, request: str = "", **ids: Any
    ) -> Any:
        """Ask, keep the answer if it is the first of its kind, and return its content. `request`: its Idempotency-Key."""
        self._moment.ms += STEP
        operation = self._answers[id]
        headers = {"Authorization": f"Bearer {who.key}"} if who.key else {}
        if request:
            headers["Idempotency-Key"] = request
        path = operation.path.format(**ids) + (f"?{query}" if query else "")
        answer = self.client.open(path, method=operation.method, json=body, headers=headers)
        assert answer.status_code in operation.answers, f"{operation.method} {path}: {answer.status_code} {answer.text}"
        name = example_name(operation, answer.status_code)
        content: Any = answer.json if answer.is_json else answer.data
        if keep and name is not None and name not in self.examples:
            self.examples[name] = short(_outlines(content) if id == "get_schema" else content)
        return content


def _puzzled(platform: Platform, kept: _Kept, match: str, ada: _Person) -> None:
    """Make a puzzle of the first decision, and try it. Its worths are made up, since judging takes half a minute."""
    at = next(at for at in range(1, 99) if puzzles.decision(platform, match, at))
    kept.send("make_puzzle", ada, query=f"version={at + 1}", match=match)
    before = recall.state_at(platform, match, at)
    seat = before.to_act[0]
    actions = [choice["action"] for choice in legal(platform.games["war"], before.document, seat)][:2]
    lines = [[Reply(seat, action["type"], [{"type": "starting_unit_placed", "seat": seat, "tile": action["tile"]}])] for action in actions]
    weighed = [Weighed(action, worth, line) for action, worth, line in zip(actions, (0.62, 0.5), lines, strict=True)]
    platform.store.puzzles.put(Puzzle(match, at, "war", seat, ada.id, platform.clock.now(), "hard", 0.12, weighed))
    made = kept.send("make_puzzle", ada, query=f"version={at + 1}", match=match)["id"]
    puzzles.choose(platform)
    kept.send("try_puzzle", NOBODY, actions[1], puzzle=made)
    kept.send("list_puzzles")
    kept.send("get_puzzle", puzzle=made)


def _collect(platform: Platform) -> None:
    """Collect all finished matches into bulk files."""
    while collecting.collect(platform):
        pass


def _outlines(schemas: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON Schemas of a game: of the view its first property, and nothing of others that are large or refer."""
    view = schemas["view"]
    view = {**view, "properties": dict(list(view["properties"].items())[:1]), "required": view["required"][:1]}
    return {**schemas, "view": view, **{name: {} for name in ("document", "options", "action", "event")}}


def short(value: Any, name: str = "") -> Any:
    """Return an answer cut short: the first of a long list or map, the beginning of a long text. Bytes that are no text are in base64."""
    if isinstance(value, bytes):
        try:
            return short(value.decode())
        except UnicodeDecodeError:
            return base64.b64encode(value[:32]).decode()
    if isinstance(value, str):
        return value if len(value) <= LONGEST_TEXT or value.startswith("warledger.org/") else f"{value[:LONGEST_TEXT]}…"
    if isinstance(value, list):
        plain = not any(isinstance(one, dict | list) for one in value)
        return [short(one) for one in (value[:LONGEST_ROW] if plain else value[:LONGEST_LIST])]
    if isinstance(value, dict):
        return {key: short(one, key) for key, one in list(value.items())[: MAPS.get(name)]}
    return value


def _work(platform: Platform, *kinds: str) -> None:
    """Do all that waits for workers."""
    for kind in kinds or KINDS:
        while platform.jobs.depth(kind):
            jobs.work(kind)


def _play(platform: Platform, kept: _Kept) -> None:
    """Ask for everything at least once."""
    admin = _Person(ADMIN)
    ada, ben, rex = (_joined(kept, admin, name, role) for name, role in (("Ada", "player"), ("Ben", "player"), ("Rex", "referee")))
    _catalogue(kept)
    _players(platform, kept, admin, ada)
    _hooks(platform, kept, ada)
    new = {"game": "war", "seats": {"red": "me", "blue": "open"}, "options": {"first_seat": "red"}, "rated": True}
    match = kept.send("create_match", ada, new)["id"]
    kept.send("join_match", ben, {"contribution": "c0ffee"}, match=match, seat="blue")
    _work(platform)
    for _ in range(24):
        _turn(platform, kept, match, {"red": ada, "blue": ben})
    if "red" in recall.position(platform, match).to_act:
        kept.send("try_actions", ada, _choice(kept, platform, match, ada, "red"), match=match)
    version = kept.send("get_match", ada, match=match)["version"]
    kept.send("list_matches", ada, query="player=me")
    cup = {"game": "war", "seats": {"red": f"player:{ada.id}", "blue": f"player:{ben.id}"}, "name": "Spring cup", "tags": ["spring-cup"]}
    kept.send("create_round", rex, {"matches": [cup]}, request="spring-cup-1")
    kept.send("get_state", ada, match=match)
    kept.send("get_picture", ada, match=match)
    kept.send("get_entries", ada, query=f"after={version - 2}&proof=true", match=match)
    kept.send("get_frames", ada, query=f"after={version - 2}&key=false", match=match)
    kept.send("get_why", ada, query="pointer=/phase&limit=1", match=match)
    kept.send("get_stream", ada, query=f"after={version - 1}&seconds=0", match=match)
    kept.send("get_my_stream", ada, query="seconds=0")
    kept.send("get_receipt", ada, match=match, version=version)
    _disputed(platform, kept, match, version, (ada, ben, rex))
    kept.send("act", ben, {"type": "resign"}, "seat=blue", keep=False, match=match)
    sequencing.sequence(platform)
    _over(platform, kept, match, ada)
    while rating.count(platform, "war", kept.passed(rating.LAG_MS)):
        pass
    kept.send("list_ratings", query="game=war")


def _joined(kept: _Kept, admin: _Person, name: str, role: str) -> _Person:
    made = kept.send("create_player", admin, {"name": name, "role": role})
    return _Person(made["key"], made["id"])


def _players(platform: Platform, kept: _Kept, admin: _Person, ada: _Person) -> None:
    for id in ("get_me", "list_my_keys"):
        kept.send(id, ada)
    kept.send("rename_me", ada, {"name": "Ada"})
    kept.send("get_player", player=ada.id)
    kept.send("change_role", admin, {"role": "player"}, player=ada.id)
    key = kept.send("create_my_key", ada, {"name": "my bot", "scopes": ["play"]})["id"]
    kept.send("get_my_key", ada, key=key)
    kept.send("rotate_my_key", ada, key=key)
    private = SigningKey(bytes(32))
    public = base64.b64encode(bytes(private.verify_key)).decode()
    signature = base64.b64encode(private.sign(signing_key_text(ada.id, public).encode()).signature).decode()
    kept.send("register_signing_key", ada, {"key": public, "name": "my bot", "signature": signature})
    sequencing.sequence(platform)
    kept.send("list_my_signing_keys", ada)
    kept.send("list_signing_keys", player=ada.id)


def _hooks(platform: Platform, kept: _Kept, ada: _Person) -> None:
    id = kept.send("create_my_hook", ada, {"url": "https://chat.example/hooks/1", "kinds": ["turn", "over"]})["id"]
    for asked in ("list_my_hooks", "get_my_hook"):
        kept.send(asked, ada, hook=id)
    kept.send("change_my_hook", ada, {"kinds": ["over"]}, hook=id)
    kept.send("rotate_my_hook", ada, {}, hook=id)
    kept.send("test_my_hook", ada, hook=id)
    hook = subscriptions.get(platform, ada.id, id)
    sent = messages.trial(hook, kept.now)
    deliveries.note(platform, ada.id, hook, sent, 1, True, deliveries.Outcome(87, 503, "Closed for today."))
    kept.send("list_my_deliveries", ada, hook=id)
    kept.send("send_my_delivery_again", ada, hook=id, delivery=sent.id)
    kept.send("delete_my_hook", ada, hook=id)


def _catalogue(kept: _Kept) -> None:
    for id in ("get_health", "get_readiness", "list_games", "list_limits", "list_problems", "get_server_keys"):
        kept.send(id)
    for id in (
        "get_game",
        "get_rules",
        "get_rulings",
        "get_rulebook",
        "get_contract",
        "get_data",
        "get_schema",
        "get_stylesheet",
        "get_definitions",
    ):
        kept.send(id, game="war")
    for id in ("get_table_rulebook", "get_table_contract", "get_table_data"):
        kept.send(id)
    kept.send("get_rule", game="war", rule="WAR-MOV-01")
    kept.send("get_problem", code="stale")


def _choice(kept: _Kept, platform: Platform, match: str, who: _Person, seat: str) -> Any:
    found = kept.send("get_choices", who, query=f"seat={seat}", match=match)
    return next(choice["action"] for choice in found["choices"] if "at_table" not in choice)


def _turn(platform: Platform, kept: _Kept, match: str, people: dict[str, _Person]) -> None:
    """Let whoever must act do the first that is listed."""
    seat = recall.position(platform, match).to_act[0]
    if seat == SYSTEM:
        _work(platform)
    else:
        kept.send("act", people[seat], _choice(kept, platform, match, people[seat], seat), match=match)


def _disputed(platform: Platform, kept: _Kept, match: str, version: int, people: tuple[_Person, _Person, _Person]) -> None:
    ada, ben, rex = people
    kept.send("raise_dispute", ada, {"version": version, "text": "Six sixes in a row."}, match=match)
    _work(platform)
    kept.send("state_side", ben, {"text": "I saw the die. It was fair."}, match=match, dispute=1)
    kept.send("get_desk", rex, query="open=true")
    kept.send("rule_dispute", rex, {"verdict": "rejected", "text": "The record holds."}, match=match, dispute=1)
    for who, seat in ((ada, "red"), (ben, "blue")):
        kept.send("act", who, {"type": "accept_ruling", "dispute": 1}, f"seat={seat}", keep=False, match=match)


def _over(platform: Platform, kept: _Kept, match: str, ada: _Person) -> None:
    for id in ("get_audit", "get_record", "get_dossier", "get_leaves", "get_reads", "get_refusals", "get_disputes"):
        kept.send(id, match=match)
    kept.send("act", ada, {"type": "rematch"}, match=match)
    for _ in range(2):
        kept.send("begin_analysis", ada, query="level=strong", match=match)
        while platform.jobs.depth(ANALYSIS):
            jobs.work(ANALYSIS)
    kept.send("get_analysis", query="level=strong", match=match)
    _puzzled(platform, kept, match, ada)
    fork = kept.send("create_match", ada, {"fork_of": match, "at": 12})["id"]
    _work(platform)
    for _ in range(2):
        kept.send("get_hint", ada, query="level=greedy", match=fork)
        _work(platform, HINT)
    sequencing.sequence(platform)
    size = kept.send("get_checkpoint").split()[1].decode()
    kept.send("get_consistency", query=f"from=1&to={size}")
    kept.send("get_log_tile", level=0, tile=f"000.p/{size}")
    kept.send("get_log_entries", tile=f"000.p/{size}")
    kept.send("get_log_tile_entries", tile=f"000.p/{size}")
    _collect(platform)
    kept.passed(31 * DAY_MS)
    _collect(platform)
    sequencing.sequence(platform)
    file = kept.send("list_bulk")["files"][0]
    kept.send("get_bulk_file", game=file["game"], month=file["month"])
    kept.send("get_bulk_part", game=file["game"], month=file["month"], part=1)
    kept.send("get_metrics")
