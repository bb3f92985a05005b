"""Proofs: every viewer can compute every digest from what it sees, by code that has nothing in common with the service."""

from __future__ import annotations

import hashlib
import hmac
import json
import random
import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import rfc8785

from events import play, recall
from events.platform import Platform
from examples.check_chain import START, digest
from games.kernel import any_action
from record.entries import parse
from service import sight
from service.app import create_app
from service.http.settings import Settings
from tests.conftest import ALL_GAMES, within
from tests.service.conftest import Caller, played_on, streams_open
from tests.service.secrecy import acts, answers, secret_of
from tests.service.test_bidding import MOVE, SEATS, UPGRADE, bid, hand, laid
from tests.service.test_history import events

ADD = {"type": "add", "by": 1, "stay": True}
LONGEST = 20_000
QUICK = ("war", "tally")  # games whose matches are short


def begun(platform: Platform, game: str, ada: Caller, ben: Caller, steps: int, **options: int) -> str:
    """Return a match of two seats, Ada's and Ben's, after some random actions."""
    first, second = ALL_GAMES[game].seats.ids[:2]
    match = ada.post("/v1/matches", {"game": game, "seats": {first: "me", second: "open"}, "options": options}, Idempotency_Key="new").json[
        "id"
    ]
    assert ben.post(f"/v1/matches/{match}/seats/{second}", {"contribution": "c0ffee"}, Idempotency_Key="in").status_code == 200
    played_on(platform, match, random.Random(1), steps)
    return str(match)


def paged(caller: Caller, match: str, viewer: str, size: int = 500) -> list[dict[str, Any]]:
    """Return all entries with their proofs, page by page."""
    found: list[dict[str, Any]] = []
    while True:
        query = f"after={len(found)}&limit={size}&viewer={viewer}&proof=true"
        page = caller.get(f"/v1/matches/{match}/entries?{query}").json["entries"]
        if not page:
            return found
        found += page


def in_lines(caller: Caller, match: str, viewer: str) -> list[dict[str, Any]]:
    answer = caller.get(f"/v1/matches/{match}/entries?limit=1000&viewer={viewer}&proof=true", Accept="application/x-ndjson")
    return [json.loads(line) for line in answer.data.splitlines()]


def streamed(caller: Caller, match: str, viewer: str) -> list[dict[str, Any]]:
    answer = caller.get(f"/v1/matches/{match}/stream?seconds=0&viewer={viewer}&proof=true")
    return [json.loads(event["data"]) for event in events(answer.text) if event["event"] == "entry"]


def checked(match: str, entries: list[dict[str, Any]]) -> list[str]:
    """Check that the entries form one chain from version 1. Return the digests."""
    previous, found = START, []
    for version, entry in enumerate(entries, 1):
        assert entry["version"] == version
        previous = digest(previous, match, entry)
        assert previous.hex() == entry["digest"], f"version {version}"
        found.append(entry["digest"])
    return found


def checked_by_all(match: str, viewers: list[tuple[Caller, str]]) -> None:
    """Check that each viewer can compute every digest, however it reads the entries, and that all see one chain."""
    chains = []
    for caller, viewer in viewers:
        entries = paged(caller, match, viewer)
        chains.append(checked(match, entries))
        assert in_lines(caller, match, viewer) == streamed(caller, match, viewer) == entries
        assert all(part == {"leaf": part["leaf"]} for part in (entry["proof"]["request"] for entry in entries)), "nobody sees requests"
    assert len(chains[0]) > 2
    assert chains == chains[:1] * len(viewers)


def opened_parts(entry: dict[str, Any]) -> Iterator[bool]:
    """Yield for the action and each event whether the viewer sees it whole."""
    for part in (entry["proof"]["action"], *entry["proof"]["events"]):
        assert list(part) in (["salt"], ["leaf"])
        yield "salt" in part


# ---------------------------------------------------------------- every viewer can check the chain


@pytest.mark.parametrize(
    ("game", "steps"),
    [
        pytest.param(game, steps, id=f"{game}-{name}", marks=() if (steps == LONGEST) == (game in QUICK) else pytest.mark.soak)
        for game in ALL_GAMES
        for steps, name in ((12, "running"), (LONGEST, "finished"))
    ],
)
def test_every_viewer_can_compute_every_digest(
    platform: Platform, anybody: Caller, ada: Caller, ben: Caller, referee: Caller, game: str, steps: int
) -> None:
    match = begun(platform, game, ada, ben, steps)
    assert anybody.get(f"/v1/matches/{match}").json["status"] == ("over" if steps == LONGEST else "playing")
    first, second = ALL_GAMES[game].seats.ids[:2]
    checked_by_all(match, [(anybody, "spectator"), (ada, first), (ben, second), (ada, "spectator"), (referee, "auditor"), (referee, first)])
    assert all(all(opened_parts(entry)) for entry in paged(referee, match, "auditor")), "an auditor sees everything"
    hidden = [whole for entry in paged(anybody, match, "spectator") for whole in opened_parts(entry)]
    assert True in hidden
    assert False in hidden, "something is hidden from spectators, or the test compares too little"
    assert paged(anybody, match, "spectator", 7) == paged(anybody, match, "spectator")


def test_the_answer_to_actions_has_the_proofs_of_their_entries_if_they_are_asked_for(ada: Caller, tally: str) -> None:
    path = f"/v1/matches/{tally}/actions"
    played = ada.post(f"{path}?proof=true", [ADD, ADD]).json
    assert played["entries"] == paged(ada, tally, "one")[played["first"] - 1 :]
    assert len(played["entries"]) == 2
    assert "proof" not in ada.post(path, ADD).json["entries"][0]


@pytest.mark.parametrize("bids", [1, 2], ids=["one bid hidden", "both revealed"])
def test_the_chain_can_be_checked_while_a_bid_is_sealed(
    platform: Platform, anybody: Caller, ada: Caller, ben: Caller, cleo: Caller, referee: Caller, bids: int
) -> None:
    match = laid(platform, ada, ben, cleo)[1]
    assert ada.act(match, bid(3, hand("fox")), Idempotency_Key="bid").status_code == 200
    if bids == 2:
        assert ben.act(match, bid(4)).status_code == 200
    fox, rhino, tiger = SEATS
    checked_by_all(
        match,
        [(anybody, "spectator"), (ada, fox), (ben, rhino), (cleo, tiger), (referee, "auditor"), (referee, fox), (referee, rhino)],
    )
    version = 6
    seen = {viewer: paged(caller, match, viewer)[version - 1] for caller, viewer in ((ada, fox), (ben, rhino), (anybody, "spectator"))}
    assert seen[fox]["action"] == bid(3, hand("fox"))
    assert all(opened_parts(seen[fox])), "its own bid"
    for viewer in (rhino, "spectator"):
        assert seen[viewer]["action"] == {"type": "bid"}
        assert seen[viewer]["events"][0]["type"] == "bid_sealed"
        assert list(opened_parts(seen[viewer]))[:2] == [False, False], "neither the action nor the event of the bid"


def test_the_middle_of_a_chain_can_be_checked_from_a_digest_that_was_noted(
    platform: Platform, anybody: Caller, ada: Caller, ben: Caller
) -> None:
    match = begun(platform, "war", ada, ben, 12)
    noted = bytes.fromhex(paged(anybody, match, "spectator")[5]["digest"])
    for entry in anybody.get(f"/v1/matches/{match}/entries?after=6&proof=true").json["entries"]:
        noted = digest(noted, match, entry)
        assert noted.hex() == entry["digest"]


def test_a_long_poll_and_an_open_stream_bring_proofs(platform: Platform, ada: Caller, anybody: Caller, tally: str) -> None:
    path = f"/v1/matches/{tally}"
    before = checked(tally, paged(anybody, tally, "spectator"))
    query = f"after={len(before)}&seconds=9"
    others = streams_open()
    open_streams = [anybody.get(f"{path}/stream?{query}{proof}") for proof in ("&proof=true", "")]
    streams = [iter(answer.response) for answer in open_streams]
    assert [next(stream) for stream in streams] == [b"retry: 1000\n\n"] * 2
    polled: list[Any] = []
    poll = threading.Thread(
        target=lambda: polled.append(anybody.get(f"{path}/entries?after={len(before)}&wait=5&proof=true").json["entries"]), daemon=True
    )
    poll.start()
    within(20, lambda: streams_open() == others + 3)
    assert ada.act(tally, ADD).status_code == 200
    poll.join()
    (by_poll,) = polled[0]
    found = [json.loads(events(_entry(stream).decode())[0]["data"]) for stream in streams]
    for answer in open_streams:
        answer.close()
    assert digest(bytes.fromhex(before[-1]), tally, by_poll).hex() == by_poll["digest"]
    assert found[0] == by_poll
    assert found[1] == {name: value for name, value in by_poll.items() if name != "proof"}, "only those who ask get the proof"


def _entry(chunks: Iterator[Any]) -> bytes:
    """Return the next entry of a stream, without the comments before it."""
    return next(bytes(chunk) for chunk in chunks if not chunk.startswith(b":"))


# ---------------------------------------------------------------- any change breaks it


@pytest.mark.parametrize("game", [pytest.param(game, marks=() if game in QUICK else pytest.mark.soak) for game in ALL_GAMES])
def test_a_change_of_any_byte_breaks_the_chain(platform: Platform, anybody: Caller, ada: Caller, ben: Caller, game: str) -> None:
    """Every byte of every kind of entry, except in parts of which something is hidden: there the leaf counts, not what is shown."""
    match = begun(platform, game, ada, ben, LONGEST)
    lines = anybody.get(f"/v1/matches/{match}/entries?limit=1000&proof=true", Accept="application/x-ndjson").data.splitlines()
    entries = [json.loads(line) for line in lines]
    before = [START, *(bytes.fromhex(entry["digest"]) for entry in entries)]
    kinds = {(entry["action"]["type"], *opened_parts(entry)): place for place, entry in reversed(list(enumerate(entries)))}
    places = {*list(kinds.values())[:8], 1, len(lines) - 1}
    assert "secret" in entries[-1]
    for place in places:
        assert holds(before[place], match, lines[place])
        kept = covered(entries[place])
        for at in range(len(lines[place])):
            changed = bytearray(lines[place])
            changed[at] ^= 1
            if holds(before[place], match, bytes(changed)):
                assert covered(json.loads(changed)) == kept, bytes(changed)
                assert kept != entries[place], "only what stands beside a leaf is not covered"


def covered(entry: dict[str, Any]) -> dict[str, Any]:
    """Return the entry without the parts of which something is hidden."""
    proof = entry["proof"]
    whole = [event if "salt" in part else None for event, part in zip(entry["events"], proof["events"], strict=True)]
    return {**entry, "action": entry["action"] if "salt" in proof["action"] else None, "events": whole}


def holds(previous: bytes, match: str, line: bytes) -> bool:
    """Return True if the line is an entry whose digest follows from the previous one."""
    try:
        entry = json.loads(line)
        return digest(previous, match, entry).hex() == entry["digest"]
    except (ValueError, KeyError, TypeError):
        return False


def test_an_entry_left_out_moved_or_added_breaks_the_chain(platform: Platform, anybody: Caller, ada: Caller, ben: Caller) -> None:
    match = begun(platform, "war", ada, ben, 12)
    entries = paged(anybody, match, "spectator")
    one = next(entry for entry in entries if len(entry["events"]) > 1 and all(opened_parts(entry)))
    previous = bytes.fromhex(entries[one["version"] - 2]["digest"])
    proof = one["proof"]
    assert digest(previous, match, one).hex() == one["digest"]
    turned = {**one, "events": one["events"][::-1], "proof": {**proof, "events": proof["events"][::-1]}}
    shorter = {**one, "events": one["events"][:-1], "proof": {**proof, "events": proof["events"][:-1]}}
    longer = {**one, "events": [*one["events"], one["events"][0]], "proof": {**proof, "events": [*proof["events"], proof["events"][0]]}}
    for other in (turned, shorter, longer):
        assert digest(previous, match, other).hex() != one["digest"]
    assert digest(previous, "m" + "a" * 16, one).hex() != one["digest"], "an entry belongs to its match"
    assert digest(bytes.fromhex(one["digest"]), match, one).hex() != one["digest"], "an entry has one place"


# ---------------------------------------------------------------- the full record


def record_chain(header: dict[str, Any], entries: list[dict[str, Any]]) -> None:
    """Check the chain of a record with its blind key alone, as docs/auditing.md describes it."""
    blind, previous = bytes.fromhex(header["blind"]), bytes(32)
    for entry in entries:
        events = {str(place): event for place, event in enumerate(entry["events"])}
        parts = {"a": entry["action"], "r": entry.get("request"), "s": entry.get("signed"), **events}
        leaves = []
        for name, part in parts.items():
            salt = hmac.new(blind, f"{entry['version']}:{name}".encode(), hashlib.sha256).digest()
            leaves.append(hashlib.sha256(salt + rfc8785.dumps(part)).hexdigest())
        frame = {name: value for name, value in entry.items() if name not in ("action", "request", "signed", "events", "digest")}
        previous = hashlib.sha256(previous + rfc8785.dumps({**frame, "leaves": leaves})).digest()
        assert previous.hex() == entry["digest"], f"version {entry['version']}"


@pytest.mark.parametrize("game", ALL_GAMES)
def test_the_record_of_a_running_match_starts_with_the_key_that_checks_its_chain(
    platform: Platform, anybody: Caller, ada: Caller, ben: Caller, referee: Caller, game: str
) -> None:
    match = begun(platform, game, ada, ben, 12)
    path = f"/v1/matches/{match}/record"
    header, *entries = (json.loads(line) for line in referee.get(path, Accept="application/x-ndjson").data.splitlines())
    assert header == {"match": match, "blind": hmac.new(secret_of(platform, match), b"blind", hashlib.sha256).hexdigest()}
    assert [entry["version"] for entry in entries] == list(range(1, recall.position(platform, match).version + 1))
    assert any(entry["request"] for entry in entries)
    assert not any("secret" in entry for entry in entries)
    record_chain(header, entries)
    assert referee.get(path).json == {**header, "entries": entries}
    with pytest.raises(AssertionError):
        record_chain({**header, "blind": "0" * 64}, entries)
    assert [entry["digest"] for entry in entries] == checked(match, paged(anybody, match, "spectator"))
    for caller, status in ((anybody, 403), (ada, 403)):
        refused = caller.get(path)
        assert refused.status_code == status
        assert header["blind"].encode() not in refused.data


# ---------------------------------------------------------------- no salt of what is hidden

HEX = re.compile(rb"(?=([0-9a-f]{64}))")


def test_a_hidden_value_that_equals_what_replaces_it_has_no_salt_either(platform: Platform, tally: str) -> None:
    """Otherwise the salt would tell that the two are equal."""
    rules = platform.games["tally"]
    game = rules._replace(shown=lambda event, viewer: {**event, "pile": 7} if event["type"] == "pile_built" else event)
    (stored,) = platform.store.log.read(tally, 2, 1)
    entry = parse(stored)
    proofs = []
    for pile in (7, 8):
        first = {**entry.events[0], "pile": pile}
        truth = entry._replace(events=[first, *entry.events[1:]])
        seen = sight.shown(game, truth, "one", recall.prover(platform, tally))
        assert seen["events"][0] == {"type": "pile_built", "pile": 7}
        proofs.append(list(opened_parts(seen)))
    assert proofs == [[True, False, True, True, True]] * 2


class Secrets:
    """The salts of a running match, computed from its secret."""

    def __init__(self, platform: Platform, match: str) -> None:
        self.secret = secret_of(platform, match)
        self.blind = hmac.new(self.secret, b"blind", hashlib.sha256).digest()
        self.entries = [parse(stored) for stored in platform.store.log.read_all(match)]

    def salt(self, version: int, part: str) -> bytes:
        return hmac.new(self.blind, f"{version}:{part}".encode(), hashlib.sha256).hexdigest().encode()

    def hidden_from(self, shown: list[dict[str, Any]]) -> set[bytes]:
        """Return all that a viewer must never get, by the entries as they are shown to it."""
        found = {self.secret.hex().encode(), self.blind.hex().encode()}
        for entry, seen in zip(self.entries, shown, strict=True):
            parts = {"a": (entry.action, seen["action"])}
            parts |= {str(place): pair for place, pair in enumerate(zip(entry.events, seen["events"], strict=True))}
            found.add(self.salt(entry.version, "r"))
            found |= {self.salt(entry.version, name) for name, (whole, part) in parts.items() if whole != part}
        return found


def sent(answer: Any) -> set[bytes]:
    """Return every run of 64 hex digits in the body and the headers of an answer."""
    headers = "\n".join(f"{name}: {value}" for name, value in answer.headers).encode()
    return set(HEX.findall(answer.data)) | set(HEX.findall(headers))


class Listener(Caller):
    """A caller that keeps every run of 64 hex digits that it was ever sent."""

    def __init__(self, client: Any, key: str | None = None, id: str = "") -> None:
        super().__init__(client, key, id)
        self.heard: set[bytes] = set()

    def ask(self, method: str, path: str, body: Any = None, /, data: bytes | None = None, **headers: str) -> Any:
        answer = super().ask(method, path, body, data, **headers)
        self.heard |= sent(answer)
        return answer


@pytest.mark.parametrize("steps", [12, pytest.param(25, marks=pytest.mark.soak)])
@pytest.mark.parametrize(
    "game",
    [
        *(pytest.param(game, marks=pytest.mark.soak) for game in ALL_GAMES),
        "a sealed bid",
    ],
)
def test_no_salt_of_a_hidden_part_is_sent_to_anybody_before_the_end(
    platform: Platform, join: Callable[..., Caller], game: str, steps: int, capfdbinary: Any
) -> None:
    """In no entry, stream, state, list, answer, problem, header, metric and log line."""
    app = create_app(platform, Settings(log_requests=True, admin_key="another"))
    nobody, stranger = Listener(app.test_client()), _listening(app, join("Dan"))
    ada, ben, cleo = (_listening(app, join(name)) for name in ("Ada", "Ben", "Cleo"))
    capfdbinary.readouterr()
    if game == "a sealed bid":
        match = laid(platform, ada, ben, cleo)[1]
        assert ada.act(match, bid(3, hand("fox")), Idempotency_Key="bid").status_code == 200
        seats = {"fox": ada, "rhino": ben, "tiger": cleo}
    else:
        match = begun(platform, game, ada, ben, 0, **({"target": 1000} if game == "tally" else {}))
        _acted(platform, match, {ada.id: ada, ben.id: ben}, steps)
        seats = dict(zip(ALL_GAMES[game].seats.ids, (ada, ben), strict=False))
    version = recall.position(platform, match).version
    wrong = [UPGRADE, {"type": "leave_seat", "seat": next(iter(seats))}, {"type": "nonsense"}, bid(99), *MOVE]
    for caller in (nobody, stranger, ada, ben, cleo):
        assert len(list(answers(caller, match, version, *seats))) > 50
        for query in ("status=playing", "player=me", "to_act=me", "game=war"):
            caller.get(f"/v1/matches?{query}")
        acts(caller, match, wrong)
        for action in wrong:
            caller.act(match, [action, {"type": "nonsense"}])
        caller.act(match, bid(3, hand("fox")), Idempotency_Key="bid")
        caller.get("/metrics")
    assert recall.position(platform, match).status == "playing"
    secrets = Secrets(platform, match)
    everybody = secrets.hidden_from(paged(nobody, match, "spectator"))
    opened = {secrets.salt(entry.version, "a") for entry in secrets.entries}
    for caller in (nobody, stranger, *seats.values()):
        viewer = next((seat for seat, one in seats.items() if one is caller), "spectator")
        hidden = secrets.hidden_from(paged(caller, match, viewer))
        assert len(hidden) > len(secrets.entries) + 2, "something is hidden besides requests, the secret and the key"
        assert hidden <= everybody
        assert caller.heard & opened, "salts of what is seen do come, or the test hears nothing"
        assert not caller.heard & hidden, viewer
    lines = capfdbinary.readouterr().out
    assert len(lines.splitlines()) > 200
    assert not set(HEX.findall(lines)) & everybody


def _listening(app: Any, caller: Caller) -> Listener:
    return Listener(app.test_client(), caller.key, caller.id)


def _acted(platform: Platform, match: str, players: dict[str, Listener], steps: int) -> None:
    """Play random choices over HTTP, so that the answers to actions are heard too."""
    dice = random.Random(3)
    for _ in range(steps):
        position = recall.position(platform, match)
        actor = position.to_act[0]
        if actor == "system":
            play.play(platform, match, "system", [{"type": "advance"}])
            continue
        caller = players[position.roster[actor]["player"]]
        action = any_action(platform.games[position.game], position.document, actor, dice.randrange)
        assert caller.act(match, action, f"?seat={actor}").status_code == 200
