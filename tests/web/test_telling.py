"""Entries in words: each has sentences and the rules that it came by, in every game and at the table, for every viewer."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from games import GAMES, patterns
from games.kernel import AUDITOR, SPECTATOR, SYSTEM, Game
from record.entries import Entry
from record.positions import Position, follow
from service.api.catalogue import rules
from service.sight import shown
from table.deeds import DEEDS
from table.facts import FACTS
from tests.games.matches import ALL, Start, walk
from tests.games.test_laws import in_random_matches
from tests.table.going_on import Run, steps
from web.look import SHARED, look
from web.news import entry_in_words, in_braces, news, rules_of

MATCHES, LENGTH = 5, 90
IN_BRACES = re.compile(r"\{(\w+)\}")
EVERY_GAME = [pytest.param(game, id=game.id) for game in GAMES.values()]


def played(game: Game) -> list[Run]:
    """Return some matches of a game, in which the actions of the table mix with those of the game."""
    return [list(steps(game, seed, LENGTH))[-1] for seed in range(MATCHES)]


def told(game: Game, entry: Entry, position: Position, viewer: str) -> tuple[tuple[str, ...], list[str]]:
    """Return the sentences and the rules of an entry, as a viewer gets them."""
    seen = shown(game, entry, viewer)
    fresh = news(game.scene(game.view(position.document, viewer)), seen["events"], look(game))
    return entry_in_words(fresh.sentences, entry.actor, entry.action, look(game)), rules_of(entry.action, seen["events"], look(game))


@pytest.mark.parametrize("game", [pytest.param(game, id=game.id) for game in ALL])
def test_no_entry_is_without_words(game: Game) -> None:
    known = {rule["id"] for rule in rules(game, "en")} if game in GAMES.values() else None
    kinds: set[str] = set()
    for run in played(game):
        position: Position | None = None
        for entry in run.entries:
            position = follow(game, position, entry)
            kinds.add(entry.action["type"])
            for viewer in (position.document["seats"][0], SPECTATOR, AUDITOR):
                text, ids = told(game, entry, position, viewer)
                assert text
                for sentence in text:
                    assert sentence.endswith(".")
                    assert sentence[0].isupper() or sentence[0] in "{0123456789", sentence
                    assert "None" not in sentence
                    assert "[" not in sentence
                    assert re.sub(IN_BRACES, "", sentence).count("{") == 0
                    assert all(patterns.matches(patterns.PLAYER, id) for id in IN_BRACES.findall(sentence))
                if known is not None:
                    assert ids, f"{entry.action['type']} came by no rule: {[event['type'] for event in entry.events]}"
                    assert set(ids) <= known
    assert {"offer", "accept", "resign"} & kinds


@in_random_matches(2)
def test_no_step_of_play_is_without_words_and_rules(start: Start) -> None:
    game, looks = start.game, look(start.game)
    known = {rule["id"] for rule in rules(game, "en")} if game in GAMES.values() else None
    for step in walk(start):
        for viewer in (step.actor, SPECTATOR):
            events = [game.shown(event, viewer) for event in step.events]
            if step.number % 4 == 0:
                fresh = news(game.scene(game.view(step.after, viewer)), events, looks)
                assert all(entry_in_words(fresh.sentences, step.actor, step.action, looks))
            if known is not None:
                assert set(rules_of(step.action, events, looks)) <= known
                assert rules_of(step.action, events, looks), step.action


@pytest.mark.parametrize("game", EVERY_GAME)
def test_every_rule_that_a_picture_names_exists_and_is_carried_out_somewhere(game: Game) -> None:
    known = {rule["id"] for rule in rules(game, "en")}
    code = "".join(path.read_text(encoding="utf-8") for path in sorted(game.folder.rglob("*.py")))
    for kind, ids in look(game).picture.rules.items():
        assert set(ids) <= known, kind
        for id in ids:
            assert id in code, f"{kind}: no code says that it carries out {id}"
    assert {id for ids in SHARED.rules.values() for id in ids} <= known


@pytest.mark.parametrize("game", EVERY_GAME)
def test_rules_are_named_for_events_and_actions_that_there_are(game: Game) -> None:
    happens = {**game.events, **{kind: deed.fields for kind, deed in game.deeds().items()}}
    for key in look(game).picture.rules:
        kind, _, value = key.partition("/")
        assert kind in happens, key
        schema = json.dumps({name: shape.schema for name, shape in happens[kind].items()})
        assert not value or f'"{value}"' in schema, key
    named = {key.partition("/")[0] for key in look(game).rules}
    left = {
        "match_prepared",
        *(f"{what}_{done}" for what in ("ships", "crystals") for done in ("moved", "placed", "removed")),
        "resources_changed",
    }
    assert set(game.events) - named <= left


def test_every_event_of_the_table_has_a_sentence_and_every_action_has_words() -> None:
    assert set(FACTS) <= set(SHARED.news)
    assert set(DEEDS) <= set(SHARED.words)
    assert set(FACTS) <= {key.partition("/")[0] for key in SHARED.rules}


def said(game: Game, **event: Any) -> list[str]:
    scene = game.scene(game.begin(list(game.seats.ids[: game.seats.least]), {}))
    return list(news(scene, [event], look(game)).sentences)


def test_players_stand_in_braces_and_have_names_where_they_are_known() -> None:
    game, player = GAMES["war"], "pabcdefghijklmnop"
    event = {"type": "seat_taken", "seat": "red", "player": player, "contribution": None}
    assert said(game, **event) == [f"{{{player}}} takes Red."]
    scene = game.scene(game.begin(["red", "blue"], {}))
    assert news(scene, [event], look(game), {player: "Ada"}.__getitem__).sentences == ("Ada takes Red.",)
    assert in_braces(player) == f"{{{player}}}"


def test_an_entry_without_events_has_a_sentence_or_names_the_action() -> None:
    looks = look(GAMES["war"])
    assert entry_in_words((), "red", {"type": "end_moves"}, looks) == ("Red ends the moves.",)
    assert entry_in_words((), SYSTEM, {"type": "advance"}, looks) == ("The system: Go on.",)
    assert entry_in_words(("Done.",), "red", {"type": "end_moves"}, looks) == ("Done.",)


def test_what_changes_has_its_sign() -> None:
    kinds = {"seat": "aliens", "source": "reap"}
    game = GAMES["war_of_the_worlds"]
    assert said(game, type="resources_changed", amount=2, **kinds) == ["Aliens: energy +2."]
    assert said(game, type="resources_changed", amount=-3, **kinds) == ["Aliens: energy \u22123."]


def test_a_part_without_its_field_is_left_out_or_told_otherwise() -> None:
    game, player = GAMES["war"], "pabcdefghijklmnop"
    assert said(game, type="seat_offered", seat="red", player=player) == [f"Red is offered to {{{player}}}."]
    assert said(game, type="seat_offered", seat="red", player=None) == ["Red is offered to nobody any more."]
    assert said(game, type="offer_made", seat="red", what="takeback", version=7) == ["Red offers a takeback to version 7."]
    assert said(game, type="offer_made", seat="red", what="draw") == ["Red offers a draw."]
    assert said(game, type="vote_closed", about="red", decision=None) == ["The vote about Red is over."]
    assert said(game, type="vote_closed", about="red", decision="forfeit") == ["The vote about Red is over: it forfeits."]


def test_rules_are_those_of_the_action_then_those_of_the_events_each_once() -> None:
    looks = look(GAMES["war"])
    ended = {"type": "attack_ended", "tile": "a1", "seat": "red", "result": "repelled", "moved": 0}
    assert rules_of({"type": "attack"}, [ended, ended], looks) == ["WAR-ATT-02", "WAR-ATT-11"]
    assert rules_of({"type": "advance"}, [], looks) == []
