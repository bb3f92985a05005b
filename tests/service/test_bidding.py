"""Undisclosed bids over HTTP: both seats bid at the same time, and nobody else can see a sealed bid before the reveal."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests

from events import accounts, play
from events.audit import audit
from events.platform import Platform
from events.rebuild import rebuild
from games.kernel import State
from record.entries import Entry, parse
from sdk.python.warledger_client import in_the_game
from service.app import create_app
from service.http.settings import Settings
from tests.conftest import Servers, take_seat
from tests.prepared import begun, position
from tests.service.conftest import Caller, Live
from tests.service.secrecy import acts, answers, callers, comparable, replace_entries
from tests.service.test_secrecy import Opener
from tests.signing import Signer, header

SEATS = ("fox", "rhino", "tiger")
RICH = {"oc": 9, "alwood": 9, "ammo": 9, "crystals": 2}
MEETING: State = position(
    SEATS,
    {
        "players": {
            "fox": {**RICH, "fleets": {"rhino_haven": {"destroyer": 2}}},
            "rhino": {**RICH, "fleets": {"rhino_east": {"frigate": 1, "gunboat": 1}}},
        },
    },
    {"fox": 2, "rhino": 2},
)
MOVE = [{"type": "begin", "action": "move"}, {"type": "move", "from": "rhino_haven", "to": "rhino_east", "ships": {"destroyer": 2}}]
UPGRADE = {"type": "upgrade_ability"}
BEGAN = 5  # the version at which the bidding begins: created, two seats taken, and two actions
AT_ONCE = 60  # pairs of bids
SEALED = "sealed"
SIGNER = Signer()


def hand(seat: str, number: int = 2) -> list[str]:
    cards: list[str] = MEETING["players"][seat]["cards"]
    return cards[:number]


def bid(ammo: int, cards: list[str] | None = None) -> dict[str, Any]:
    return {"type": "bid", "ammo": ammo, "cards": cards or []}


def laid(platform: Platform, fox: Caller, rhino: Caller, tiger: Caller) -> tuple[Platform, str]:
    """Return a platform with a match in which fox, who attacks, and rhino must bid. The seat tiger takes no part."""
    prepared, match = begun(platform, MEETING, fox.id, rhino="open", tiger="open")
    take_seat(platform, match, rhino.id, "rhino")
    take_seat(platform, match, tiger.id, "tiger")
    assert play.play(platform, match, "fox", MOVE).last == BEGAN
    return prepared, match


@pytest.fixture
def match(platform: Platform, ada: Caller, ben: Caller, cleo: Caller) -> str:
    return laid(platform, ada, ben, cleo)[1]


# Two at once


def test_two_bids_at_the_same_moment_are_both_accepted_at_the_first_try(serve: Callable[..., Live], live: Live, platform: Platform) -> None:
    """Through two servers and through one. With no If-Match, and with the version at which the bidding began."""
    urls = [live.url, serve().url]
    made = {seat: accounts.register(platform, seat) for seat in SEATS[:2]}
    ids = {seat: player.id for seat, (player, _) in made.items()}
    sessions = {seat: requests.Session() for seat in made}
    together = threading.Barrier(2)
    before = sum(conflicts(url) for url in urls)

    def sealed(match: str, seat: str, url: str, version: int | None) -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {made[seat][1]}", **({"If-Match": f'"{version}"'} if version else {})}
        together.wait(20)
        answer = sessions[seat].post(f"{url}/v1/matches/{match}/actions", json=bid(3, hand(seat, 1)), headers=headers, timeout=20)
        return answer.status_code, answer.json()

    with ThreadPoolExecutor(2) as pool:
        for number in range(AT_ONCE):
            prepared, match = begun(platform, MEETING, ids["fox"], rhino="open")
            take_seat(platform, match, ids["rhino"], "rhino")
            began = play.play(platform, match, "fox", MOVE).last
            where = [urls[0], urls[number % 2]]
            under = [began if number & 2 else None, began if number & 4 else None]
            came = list(pool.map(sealed, [match] * 2, SEATS[:2], where, under))
            assert [status for status, _ in came] == [200, 200], came
            first, second = sorted((answer for _, answer in came), key=lambda answer: answer["version"])
            assert (first["version"], second["version"]) == (began + 1, began + 2)
            assert (first["to_act"], first["phase"], in_the_game(first["choices"])) == ([second["seat"]], "bids", [])
            revealed = [event for event in second["entries"][0]["events"] if event["type"] == "bids_revealed"]
            assert revealed == [{"type": "bids_revealed", "bids": {seat: {"ammo": 3, "cards": hand(seat, 1)} for seat in SEATS[:2]}}]
            assert platform.store.log.head(match) == began + 2
            assert audit(prepared, match).ok
    assert sum(conflicts(url) for url in urls) > before, "some bids collided"


def conflicts(url: str) -> float:
    """Return how many appends of a server were too late."""
    (count,) = re.findall(r"^warledger_conflicts_total ([0-9.]+)$", requests.get(f"{url}/metrics", timeout=5).text, re.MULTILINE)
    return float(count)


@pytest.mark.parametrize("order", [("fox", "rhino"), ("rhino", "fox")])
def test_seats_bid_in_any_order_and_only_once(ada: Caller, ben: Caller, match: str, order: tuple[str, str]) -> None:
    people = {"fox": ada, "rhino": ben}
    first, second = (people[seat] for seat in order)
    assert {tuple(caller.get(f"/v1/matches/{match}/choices").json["to_act"]) for caller in (ada, ben)} == {("fox", "rhino")}
    assert first.act(match, bid(4, hand(order[0])), If_Match=f'"{BEGAN}"').json["to_act"] == [order[1]]
    again = first.act(match, bid(5))
    assert (again.status_code, again.json["code"]) == (422, "not_your_turn")
    last = second.act(match, bid(9), If_Match=f'"{BEGAN}"').json
    assert (last["phase"], last["to_act"], last["version"]) == ("retreat", ["rhino"], BEGAN + 2)


def test_an_open_action_during_the_bidding_makes_the_other_bid_stale(ada: Caller, ben: Caller, match: str) -> None:
    assert ben.act(match, UPGRADE).status_code == 200
    refused = ada.act(match, bid(1), If_Match=f'"{BEGAN}"')
    assert (refused.status_code, refused.json["code"], refused.json["version"]) == (412, "stale", BEGAN + 1)
    assert ada.act(match, bid(1), If_Match=f'"{BEGAN + 1}"').status_code == 200
    assert ben.act(match, bid(1), If_Match=f'"{BEGAN + 1}"').status_code == 200


# What nobody can see


def worlds(servers: Servers, platform: Platform, match: str, bids: list[dict[str, Any]]) -> Iterator[None]:
    """Replace the sealed bid by each of these in turn. Ids and times stay the same."""
    entries = [parse(stored) for stored in platform.store.log.read_all(match)]
    for number, other in enumerate(bids):
        replace_entries(servers, platform, match, [rebid(entry, other, f"{number:032x}", entries) for entry in entries])
        rebuild(platform)
        yield


def rebid(entry: Entry, other: dict[str, Any], fingerprint: str, entries: list[Entry]) -> Entry:
    """Return an entry with another bid, and with the signature that its player would have made of that."""
    if entry.action["type"] != "bid":
        return entry
    if entry.signed is not None:
        seen = entry.signed["seen"]
        entry = entry._replace(signed=SIGNER.sign(entry.match, entry.actor, seen, entries[seen - 1].digest, [other]).of(0))
    event = {**entry.events[0], "ammo": other["ammo"], "cards": other["cards"]}
    return entry._replace(action=other, events=[event, *entry.events[1:]], request={"id": SEALED, "fingerprint": fingerprint})


def everything(caller: Caller, match: str, sealed: str, bids: bool) -> Iterator[Any]:
    """Yield the answers of every route and of refused actions. `bids`: also those for a caller who still has to bid."""
    base, last = f"/v1/matches/{match}", BEGAN + 1
    yield from answers(caller, match, BEGAN + 3, *SEATS)
    for query in ("to_act=me", "player=me", "status=playing", "game=war_of_civilizations", "status=playing&to_act=me&player=me"):
        yield query, comparable(caller.get(f"/v1/matches?{query}"))
    for path in (f"{base}/entries?after={last}&wait=1", f"{base}/stream?seconds=0&after={last}"):
        yield path, comparable(caller.get(path))
    yield "resumed", comparable(caller.get(f"{base}/stream?seconds=0", Last_Event_ID=str(last)))
    for action in (bid(99), bid(-1), bid(0, ["none"]), bid(0, hand(sealed)), UPGRADE):
        yield action, comparable(caller.act(match, action))
    for action in (bid(0), bid(3, hand(sealed)), bid(99), UPGRADE):
        yield f"as {sealed}", comparable(caller.act(match, action, f"?seat={sealed}", Idempotency_Key=SEALED))
    if bids:
        yield from acts(caller, match, [bid(0), bid(9), bid(10), UPGRADE])
        for key in ("before", "after"):
            yield key, comparable(caller.act(match, UPGRADE, Idempotency_Key=key))
            yield f"another under {key}", comparable(caller.act(match, bid(1), Idempotency_Key=key))


def sealed_between(match: str, sealer: Caller, other: Caller, cards: list[str], number: int) -> list[dict[str, Any]]:
    """Seal a bid between two actions of the other seat. Return some of the bids that it could also have been, the most different first."""
    assert other.act(match, UPGRADE, Idempotency_Key="before").status_code == 200
    assert sealer.post("/v1/players/me/signing-keys", SIGNER.body(sealer.id)).status_code == 201
    seat, seen = sealer.get(f"/v1/matches/{match}/choices").json["seat"], sealer.get(f"/v1/matches/{match}/entries?after={BEGAN}").json
    signing = SIGNER.sign(match, seat, seen["version"], seen["entries"][-1]["digest"], [bid(3)])
    assert sealer.act(match, bid(3), Idempotency_Key=SEALED, Warledger_Signature=header(signing)).status_code == 200
    assert other.act(match, UPGRADE, Idempotency_Key="after").status_code == 200
    return [bid(3), bid(9, cards), bid(0), bid(3, cards[:1])][:number]


@pytest.mark.parametrize(("sealed", "number"), [(SEATS[0], 2), *(pytest.param(seat, 4, marks=pytest.mark.soak) for seat in SEATS[:2])])
def test_only_its_seat_and_a_referee_can_see_a_sealed_bid(
    platform: Platform,
    another_platform: Opener,
    servers: Servers,
    settings: Settings,
    join: Callable[..., Caller],
    sealed: str,
    number: int,
) -> None:
    """The other seat cannot see it, although its player is a referee elsewhere. Nor can onlookers with or without a seat."""
    sealer, other, tiger, stranger, rex = (join(role, role) for role in ("player", "referee", "player", "player", "referee"))
    prepared, match = laid(platform, *((sealer, other) if sealed == "fox" else (other, sealer)), tiger)
    bids = sealed_between(match, sealer, other, hand(sealed), number)
    hidden, open_to, moment = [], [], platform.clock.now()
    for _ in worlds(servers, prepared, match, bids):
        assert audit(prepared, match).ok, "each of these bids is possible"
        nobody, *known = callers(create_app(another_platform(moment), settings), other, tiger, stranger, sealer, rex)
        hidden.append([list(everything(caller, match, sealed, caller.key == other.key)) for caller in (nobody, *known[:3])])
        open_to.append([comparable(caller.get(f"/v1/matches/{match}/state?viewer={sealed}")) for caller in known[3:]])
    for other_bid in hidden[1:]:
        for one, another in zip(hidden[0], other_bid, strict=True):
            for first, second in zip(one, another, strict=True):
                assert first == second
    for seen in zip(*open_to, strict=True):
        assert all(seen.count(one) == 1 for one in seen), "these callers must see it, or the test compares nothing"


@pytest.mark.parametrize("number", [2, pytest.param(4, marks=pytest.mark.soak)])
def test_metrics_and_log_lines_reveal_nothing_of_a_sealed_bid(
    platform: Platform,
    another_platform: Opener,
    servers: Servers,
    ada: Caller,
    ben: Caller,
    cleo: Caller,
    match: str,
    capfdbinary: Any,
    number: int,
) -> None:
    bids = sealed_between(match, ada, ben, hand("fox"), number)
    lines, numbers, moment = [], [], platform.clock.now()
    for _ in worlds(servers, platform, match, bids):
        nobody, *known = callers(create_app(another_platform(moment), Settings(log_requests=True)), ada, ben, cleo)
        before = counted(nobody)
        capfdbinary.readouterr()
        for caller in (nobody, *known):
            list(everything(caller, match, "fox", caller.key == ben.key))
        lines.append(re.sub(rb'"(at|ms|request)":("[^"]*"|[0-9.]+)', b"", capfdbinary.readouterr().out))
        numbers.append({name: number - before.get(name, 0) for name, number in counted(nobody).items()})
    assert len(lines[0].splitlines()) > 400
    assert lines[1:] == lines[:1] * (len(bids) - 1)
    assert sum(numbers[0].values()) > 400
    assert [number.items() ^ numbers[0].items() for number in numbers] == [set()] * len(bids)


def counted(caller: Caller) -> dict[str, float]:
    """Return every metric except times."""
    samples = re.findall(r"^(warledger_\S+) ([0-9.e+-]+)$", caller.get("/metrics").text, re.MULTILINE)
    return {name: float(number) for name, number in samples if "_seconds" not in name and "_created" not in name}
