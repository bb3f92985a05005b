"""A typed client, generated from openapi.yaml by openapi-python-client, plays a match."""

from __future__ import annotations

import importlib
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from flask import Flask

from events import play, recall
from events.platform import Platform

BASE = "http://service"


@pytest.fixture(scope="module")
def made(typed_client: Path) -> Iterator[Callable[[str], Any]]:
    """Import a module of the generated package by its name."""
    sys.path.insert(0, str(typed_client))
    yield lambda name: importlib.import_module(f"ledger_client.{name}")
    sys.path.remove(str(typed_client))


def player(made: Callable[[str], Any], app: Flask, name: str) -> Any:
    """Return a client with a key of its own, connected to the application without a socket."""
    line = httpx.Client(transport=httpx.WSGITransport(app=app), base_url=BASE)
    anybody = made("client").Client(base_url=BASE).set_httpx_client(line)
    new = made("api.players.create_player").sync(client=anybody, body=made("models").PlayerRequest(name=name))
    client = made("client").AuthenticatedClient(base_url=BASE, token=new.key)
    headers = {"Authorization": f"Bearer {new.key}"}
    return client.set_httpx_client(httpx.Client(transport=httpx.WSGITransport(app=app), base_url=BASE, headers=headers))


def test_a_typed_client_plays_war(made: Callable[[str], Any], app: Flask, platform: Platform) -> None:
    models = made("models")
    ada, ben = player(made, app, "Ada"), player(made, app, "Ben")
    body = models.WarNewMatch.from_dict({"game": "war", "seats": {"red": "me", "blue": "open"}, "options": {"first_seat": "red"}})
    match = made("api.matches.create_match").sync(client=ada, body=body)
    assert isinstance(match, models.Match)
    made("api.matches.join_match").sync(match.id, "blue", client=ben, body=models.SeatRequestBody(contribution="c0ffee"))
    play.play(platform, match.id, "system", [{"type": "advance"}])
    dice = random.Random(3)
    for _ in range(40):
        state = made("api.play.get_state").sync(match.id, client=ada)
        assert isinstance(state, models.WarState)
        assert isinstance(state.view, models.WarView)
        seat = recall.position(platform, match.id).to_act[0]
        if seat == "system":
            play.play(platform, match.id, "system", [{"type": "advance"}])
            continue
        client = ada if seat == "red" else ben
        choices = made("api.play.get_choices").sync(match.id, client=client)
        assert isinstance(choices, models.WarChoices)
        action = dice.choice([choice for choice in choices.choices if not choice.at_table]).action
        played = made("api.play.act").sync(match.id, client=client, body=action, if_match=f'"{choices.version}"')
        assert isinstance(played, models.WarPlayed), played
        assert played.version == choices.version + 1
    entries = made("api.history.get_entries").sync(match.id, client=ada)
    assert isinstance(entries, models.WarEntries)
    kinds = {type(event).__name__ for entry in entries.entries for event in entry.events}
    assert {"MatchCreatedEvent", "WarMatchPreparedEvent", "SeatTakenEvent", "WarDeckBuiltEvent", "WarPhaseChangedEvent"} <= kinds


def test_a_refusal_comes_as_a_typed_problem(made: Callable[[str], Any], app: Flask, platform: Platform) -> None:
    models = made("models")
    ada = player(made, app, "Ada")
    body = models.WarNewMatch.from_dict({"game": "war", "seats": {"red": "me", "blue": "me"}})
    match = made("api.matches.create_match").sync(client=ada, body=body)
    problem = made("api.play.act").sync(match.id, client=ada, body=models.WarEndMoves(type_="end_moves"))
    assert isinstance(problem, models.Problem)
    assert (problem.status, problem.code.value) == (422, "not_your_turn")


def test_entries_of_each_game_have_types_of_their_own(made: Callable[[str], Any], app: Flask, platform: Platform) -> None:
    models = made("models")
    ada = player(made, app, "Ada")
    body = models.WowNewMatch.from_dict({"game": "war_of_the_worlds", "seats": {"aliens": "me", "humans": "me"}})
    match = made("api.matches.create_match").sync(client=ada, body=body)
    play.play(platform, match.id, "system", [{"type": "advance"}])
    entries = made("api.history.get_entries").sync(match.id, client=ada)
    assert isinstance(entries, models.WowEntries)
    for entry in entries.entries:
        for event in entry.events:
            assert type(event).__name__.startswith(("Wow", "MatchCreated", "SeatsFilled", "RoundStarted"))


def test_pictures_and_dossiers_come_as_texts(made: Callable[[str], Any], app: Flask, platform: Platform) -> None:
    models = made("models")
    ada = player(made, app, "Ada")
    body = models.WarNewMatch.from_dict({"game": "war", "seats": {"red": "me", "blue": "me"}})
    match = made("api.matches.create_match").sync(client=ada, body=body)
    assert made("api.play.get_picture").sync(match.id, client=ada).startswith("<svg ")
    assert made("api.games.get_definitions").sync("war", client=ada).startswith("<svg ")
    assert made("api.history.get_dossier").sync(match.id, client=ada).count("\n") > 3
