"""A bot over a client that openapi-python-client generates. It shows that the description is good for such clients (ADR 52)."""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
import uuid
from itertools import count
from pathlib import Path

import httpx
from ledger_client import AuthenticatedClient, Client, models
from ledger_client.api.history import get_entries
from ledger_client.api.matches import create_match
from ledger_client.api.play import act, get_choices
from ledger_client.api.players import create_player

Choice = models.WarChoice | models.WowChoice | models.WocChoice
Entry = models.WarEntry | models.WowEntry | models.WocEntry
Entries = models.WarEntries | models.WowEntries | models.WocEntries
Choices = models.WarChoices | models.WowChoices | models.WocChoices
Played = models.WarPlayed | models.WowPlayed | models.WocPlayed
Ended = models.WarMatchEndedEvent | models.WowMatchEndedEvent | models.WocMatchEndedEvent
NewMatch = models.WarNewMatch | models.WowNewMatch | models.WocNewMatch

WAIT = 25  # how many seconds the server may hold a request until there is news
TRIES = 60  # how often to send a request while the server is busy or away

ME, AI = models.SeatRequest.ME, models.SeatRequest.AIGREEDY
NEW_MATCHES: dict[str, NewMatch] = {
    "war": models.WarNewMatch("war", models.WarNewMatchSeats(red=ME, blue=AI)),
    "war_of_the_worlds": models.WowNewMatch("war_of_the_worlds", models.WowNewMatchSeats(aliens=ME, humans=AI)),
    "war_of_civilizations": models.WocNewMatch("war_of_civilizations", models.WocNewMatchSeats(lion=ME, fox=AI)),
}


class Failed(Exception):
    """A request failed for good. The text is the problem of the server, in a sentence."""

    def __init__(self, answer: object) -> None:
        if isinstance(answer, models.Problem):
            super().__init__(f"{answer.status} {answer.code}: {answer.detail}")
        else:
            super().__init__("The answer is not as described.")


class Patiently(httpx.HTTPTransport):
    """A transport that repeats a request while the server is busy, limits us or is away. An Idempotency-Key makes this safe for actions."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Return the first answer that is not 429 or 503, or, after many tries, the last answer."""
        for tries in count(1):
            pause = 1.0
            try:
                answer = super().handle_request(request)
                if answer.status_code not in (429, 503) or tries == TRIES:
                    return answer
                pause = float(answer.headers.get("Retry-After", 1))
                answer.close()
            except httpx.TransportError:
                if tries == TRIES:
                    raise
            time.sleep(pause)
        raise AssertionError("it counts without end")


def connect(url: str, name: str, key: str | None) -> AuthenticatedClient:
    """Return a client with the caller's key, or with the key of a new player."""
    timeout, patiently = httpx.Timeout(WAIT + 10.0), {"transport": Patiently()}
    if key is None:
        made = create_player.sync(client=Client(url, timeout=timeout, httpx_args=patiently), body=models.PlayerRequest(name=name))
        if not isinstance(made, models.NewPlayer):
            raise Failed(made)
        key = made.key
    return AuthenticatedClient(url, token=key, timeout=timeout, httpx_args=patiently)


class Bot:
    """A player of one match. It keeps the receipts of its actions in a file, if one is given."""

    def __init__(self, client: AuthenticatedClient, match: str, receipts: Path | None = None) -> None:
        self.client = client
        self.match = match
        self.receipts = receipts

    def play(self) -> Ended:
        """Play until the match is over. The choices only change with a new entry."""
        seen = 0
        while True:
            for entry in self.entries(seen):
                print(f"{entry.version} {entry.actor}: {entry.action.type_}")
                seen = entry.version
                for event in entry.events:
                    if isinstance(event, Ended):
                        return event
            while self.act():
                pass

    def entries(self, after: int) -> list[Entry]:
        """Return the entries after a version. Wait for one if there is none."""
        page = get_entries.sync(self.match, client=self.client, after=after, wait=WAIT)
        if not isinstance(page, Entries):
            raise Failed(page)
        return [*page.entries]

    def act(self) -> bool:
        """Carry out one action, or take a seat. Return False if others must act, and True if the choices must be read again."""
        found = get_choices.sync(self.match, client=self.client)
        if not isinstance(found, Choices):
            raise Failed(found)
        # Choices of the table, such as resigning, are left out, except taking a seat. So are choices that this client does not know.
        seatless = found.seat is None
        mine = [choice for choice in found.choices if not choice.at_table or (seatless and isinstance(choice.action, models.TakeSeat))]
        actions = [action for choice in mine if not isinstance(action := decided(choice).action, models.OtherType)]
        if not actions:
            return False
        acted = act.sync_detailed(
            self.match,
            client=self.client,
            body=random.choice(actions),
            if_match=f'"{found.version}"',
            idempotency_key=str(uuid.uuid4()),
        )
        if isinstance(acted.parsed, Played):
            if self.receipts is not None:
                with self.receipts.open("a") as file:
                    file.write(json.dumps(acted.parsed.receipt) + "\n")
            return any(not choice.at_table for choice in acted.parsed.choices)
        # 412: something has happened since. 409: somebody took the seat before us. The rules never refuse a listed choice.
        if acted.status_code not in (409, 412):
            raise Failed(acted.parsed)
        return True


def decided(choice: Choice) -> Choice:
    """Return the choice with counts of our own.

    A choice can be sent as it is. The member `choose` of an open choice says what else its action may contain: here, a bid may be any
    number in a range.
    """
    action = choice.action
    if isinstance(action, models.WocBid) and choice.choose:
        ammo = choice.choose["ammo"]
        if isinstance(ammo, list):
            action.ammo = random.randint(*ammo)
    return choice


def main() -> int:
    """Play one match: a new one, or one that somebody else has created."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url", nargs="?", default="http://127.0.0.1:8000")
    parser.add_argument("--game", choices=NEW_MATCHES, default="war")
    parser.add_argument("--match", help="a match with an open seat or with a seat of yours (default: a new match against the machine)")
    parser.add_argument("--name", default="Ada")
    parser.add_argument("--receipts", type=Path, help="keep the receipts of your actions in this file, for examples/check_chain.py")
    options = parser.parse_args()
    client = connect(options.url, options.name, os.environ.get("WARLEDGER_KEY"))
    match = options.match
    if match is None:
        created = create_match.sync(client=client, body=NEW_MATCHES[options.game], idempotency_key=str(uuid.uuid4()))
        if not isinstance(created, models.Match):
            raise Failed(created)
        match = created.id
        print(f"match {match}")
    ended = Bot(client, match, options.receipts).play()
    print(f"won by {' and '.join(ended.winners)}: {ended.reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
