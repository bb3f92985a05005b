"""The schemas of what is the same in every game, and of what holds one of several games' own (service/shapes.py)."""

from __future__ import annotations

from collections.abc import Mapping

from events.play import LONGEST_LIST
from games.kernel import Game
from service.problems import CODES
from service.schemas import CONTRIBUTION, MATCH_ID, PLAYER_ID
from service.shapes import ANYTHING, DIGEST, SEAT, TIME, VERSION, WHOLE, Schema, blank_or, camel, listed, ref, told, union


def platform(games: Mapping[str, Game], levels: list[str]) -> dict[str, Schema]:
    """The components that are the same in every game, and the unions over the games."""
    own = [camel(game) for game in games]
    return {
        "Action": {"description": "An action of the match's game.", "anyOf": [ref(f"{name}Action") for name in own]},
        "Actions": {
            "description": "One action, or several that are carried out all or none, each as an entry of its own.",
            "anyOf": [ref("Action"), {"type": "array", "items": ref("Action"), "minItems": 1, "maxItems": LONGEST_LIST}],
        },
        "NewMatch": _by_game(games, "NewMatch", "A match to be."),
        "State": _by_game(games, "State", "A match at a version, as its viewer may see it."),
        "Entries": _by_game(games, "Entries", "Entries of a match, oldest first."),
        "Played": _by_game(games, "Played", "What followed from your actions."),
        "SeatRequest": {
            "type": "string",
            "enum": ["me", "open", *(f"ai:{level}" for level in levels)],
            "description": "`me`: the caller; `open`: whoever takes it; `ai:<level>`: an artificial player.",
        },
        "SeatTakenEvent": told(
            {
                "type": {"type": "string", "const": "seat_taken"},
                "seat": SEAT,
                "player": {"type": "string", "pattern": PLAYER_ID},
                "contribution": blank_or({"type": "string", "pattern": CONTRIBUTION}),
            },
            "A player took an open seat.",
        ),
        "Occupant": {
            "description": "Who holds a seat: a player, an artificial player, or nobody yet.",
            "anyOf": [
                told({"player": {"type": "string", "pattern": PLAYER_ID}}, "A player."),
                told({"ai": {"type": "string", "enum": levels}}, "An artificial player, by level."),
                told({"open": {"type": "boolean", "const": True}}, "Nobody yet."),
            ],
        },
        "Player": told(
            {
                "id": blank_or({"type": "string", "pattern": PLAYER_ID}),
                "name": {"type": "string"},
                "role": {"type": "string", "enum": ["player", "referee", "admin"]},
            },
            "A player. The holder of the admin key has no id.",
        ),
        "NewPlayer": told(
            {
                "id": {"type": "string", "pattern": PLAYER_ID},
                "name": {"type": "string"},
                "role": {"type": "string", "enum": ["player", "referee", "admin"]},
                "key": {"type": "string", "description": "The bearer key. It is shown this once and stored as a hash only."},
            },
            "A player, just made, and the key.",
        ),
        "Level": told(
            {
                "id": {"type": "string", "enum": levels},
                "seat": {"type": "string", "description": "What to write for a seat when creating a match."},
                "about": {"type": "string"},
            },
            "An artificial player.",
        ),
        "GameInBrief": told(
            {
                "id": {"type": "string"},
                "title": {"type": "string"},
                "seats": {"type": "array", "items": SEAT},
                "least_seats": WHOLE,
                "most_seats": WHOLE,
                "revision": WHOLE,
            },
            "A game in brief.",
        ),
        "Game": told(
            {
                "id": {"type": "string"},
                "title": {"type": "string"},
                "seats": {"type": "array", "items": SEAT},
                "least_seats": WHOLE,
                "most_seats": WHOLE,
                "revision": {**WHOLE, "description": "The revision of its rules; it rises when a ruling changes play."},
                "options": {**ANYTHING, "description": "JSON Schema of the options of a match."},
                "levels": listed(ref("Level"), "The artificial players."),
                "refusals": {
                    "type": "object",
                    "additionalProperties": {"type": "string"},
                    "description": "Every code of its refusals with its sentence; in braces, the facts of the case.",
                },
            },
            "A game: who can play it and how it can be set up.",
        ),
        "Games": told({"games": listed(ref("GameInBrief"))}, "The games that can be played here."),
        "Rule": told(
            {
                "id": {"type": "string"},
                "section": {"type": "string"},
                "source": blank_or({"type": "string", "description": "S: stated in the rulebook; P: a public source; R: a ruling."}),
                "text": {"type": "string", "description": "In Markdown."},
            },
            "One rule.",
        ),
        "Rules": told(
            {"game": {"type": "string"}, "revision": WHOLE, "rules": listed(ref("Rule"))}, "The rules of a game, in their order."
        ),
        "GameSchema": told(
            {
                "game": {"type": "string"},
                **{
                    name: {**ANYTHING, "description": "JSON Schema (2020-12)."}
                    for name in ("document", "view", "options", "action", "event")
                },
                "actions": {"type": "object", "additionalProperties": ANYTHING, "description": "JSON Schema of each action, by its type."},
                "events": {
                    "type": "object",
                    "additionalProperties": ANYTHING,
                    "description": "JSON Schema of each event as shown, by its type.",
                },
            },
            "What the JSON of a game looks like.",
        ),
        "Outcome": {
            "type": "object",
            "description": "Who has won, and why.",
            "properties": {
                "winners": listed(SEAT),
                "reason": {"type": "string"},
                "scores": {"type": "object", "additionalProperties": True},
            },
            "required": ["winners", "reason"],
            "additionalProperties": True,
        },
        "Choice": told(
            {
                "action": {**ANYTHING, "description": "Complete, unless `choose` names fields that are still to be chosen."},
                "choose": {
                    "type": "object",
                    "description": "By field: what may be chosen.",
                    "additionalProperties": {"anyOf": [ref("Range"), ref("Counts")]},
                },
            },
            "A legal choice. Without `choose`, submit `action` as it is.",
            optional=("choose",),
        ),
        "Range": {
            "type": "array",
            "items": {"type": "integer"},
            "minItems": 2,
            "maxItems": 2,
            "description": "The lowest and the highest number that may be chosen.",
        },
        "Counts": told(
            {"each": {"type": "object", "additionalProperties": ref("Range")}, "total": ref("Range")},
            "Counts of like things: each within its range, their sum within `total`.",
        ),
        "Choices": told(
            {
                "match": {"type": "string", "pattern": MATCH_ID},
                "version": VERSION,
                "seat": SEAT,
                "to_act": listed({"type": "string"}, "The actors who must decide now: seats, `system`, or nobody when it is over."),
                "choices": listed(ref("Choice")),
            },
            "What a seat may do now; nothing if it is not to act.",
        ),
        "StreamEvent": {
            "type": "object",
            "description": "A server-sent event of a stream.",
            "properties": {
                "id": {"type": "string", "description": "The version, of an `entry`."},
                "event": {"type": "string", "enum": ["entry", "over"]},
                "data": {
                    "type": "string",
                    "contentMediaType": "application/json",
                    "contentSchema": {"anyOf": [ref(f"{name}Entry") for name in own]},
                },
            },
            "required": ["event", "data"],
        },
        "Standing": told(_standing(games), "Where a match stands, for lists."),
        "Match": told(
            {**_standing(games), "version": VERSION, "rules": {**WHOLE, "description": "The revision of the rules it is played by."}},
            "Where a match stands, with its version.",
        ),
        "Matches": told(
            {"matches": listed(ref("Standing")), "next": blank_or({"type": "string", "description": "The `cursor` of the next page."})},
            "Matches, newest first.",
        ),
        "Record": told(
            {
                "match": {"type": "string", "pattern": MATCH_ID},
                "entries": listed(ref("RecordEntry"), "Canonical JSON, each byte for byte as it lies in the stream."),
            },
            "The full record of a match.",
        ),
        "RecordEntry": told(
            {
                "match": {"type": "string", "pattern": MATCH_ID},
                "version": {**VERSION, "minimum": 1},
                "actor": {"type": "string"},
                "action": ANYTHING,
                "events": listed(ANYTHING),
                "rules": WHOLE,
                "at": TIME,
                "request": blank_or(told({"id": {"type": "string"}, "fingerprint": {"type": "string"}}, "The request that it came by.")),
                "digest": DIGEST,
                "secret": {**DIGEST, "description": "The secret of the match, in the entry that ended it."},
            },
            "An entry in full (docs/auditing.md).",
            optional=("secret",),
        ),
        "Finding": told(
            {"version": VERSION, "code": {"type": "string"}, "detail": {"type": "string"}},
            "Something that is not as it should be.",
        ),
        "Audit": told(
            {
                "ok": {"type": "boolean"},
                "match": {"type": "string", "pattern": MATCH_ID},
                "game": {"type": "string"},
                "versions": VERSION,
                "digest": {**DIGEST, "description": "The digest of the last entry, which binds all of them."},
                "commitment": {"type": "string", "enum": ["kept", "broken", "sealed"]},
                "published": {
                    "type": "string",
                    "description": "The hash of the secret, as the first entry has it; compare it with what you noted.",
                },
                "dice": {"type": "string", "enum": ["verified", "partly", "sealed"]},
                "rules": listed(WHOLE, "The revisions of the rules that the entries name."),
                "replayed_only": {
                    **WHOLE,
                    "description": "How many entries were replayed, but not decided again: by other rules, or with dice still sealed.",
                },
                "findings": listed(ref("Finding"), "What is not as it must be; empty when all is well."),
            },
            "The report of an audit.",
        ),
        "Health": told({"status": {"type": "string", "enum": ["ok"]}}, "All is well."),
        "Problem": _problem(own),
        "ProblemCode": {"type": "string", "enum": [*CODES], "description": "Why the platform refuses."},
        "ProblemKind": told(
            {"code": ref("ProblemCode"), "status": {"type": "integer"}, "title": {"type": "string"}, "detail": {"type": "string"}},
            "One kind of problem: its status, its title, and its sentence with the facts of a case in braces.",
        ),
        "ProblemKinds": told({"problems": listed(ref("ProblemKind"))}, "Every kind of problem."),
    }


def _by_game(games: Mapping[str, Game], name: str, about: str) -> Schema:
    return union({game: f"{camel(game)}{name}" for game in games}, about, "game")


def _standing(games: Mapping[str, Game]) -> dict[str, Schema]:
    return {
        "id": {"type": "string", "pattern": MATCH_ID},
        "game": {"type": "string", "enum": list(games)},
        "status": {"type": "string", "enum": ["open", "playing", "over"]},
        "created": TIME,
        "creator": {"type": "string", "pattern": PLAYER_ID},
        "options": ANYTHING,
        "order": listed(SEAT, "The seats, in turn order."),
        "seats": {"type": "object", "additionalProperties": ref("Occupant"), "description": "Who holds each seat."},
        "round": {"type": "integer"},
        "phase": {"type": "string"},
        "active": blank_or(SEAT),
        "to_act": listed(
            {"type": "string"}, "The actors who must decide now: seats or `system`; nobody while a seat is open or when it is over."
        ),
        "outcome": blank_or(ref("Outcome")),
        "commitment": {**DIGEST, "description": "SHA-256 of the match's secret, in hex; published before anybody joined."},
        "secret": blank_or({**DIGEST, "description": "The secret, in hex, once the match is over."}),
    }


def _problem(own: list[str]) -> Schema:
    return told(
        {
            "type": {"type": "string", "format": "uri-reference", "description": "Where the kind of problem is explained."},
            "title": {"type": "string"},
            "status": {"type": "integer", "minimum": 400, "maximum": 599},
            "code": {"anyOf": [ref("ProblemCode"), *(ref(f"{name}RefusalCode") for name in own)], "description": "Stable; to act upon."},
            "detail": {"type": "string", "description": "What was asked and what holds, in a sentence."},
            "errors": listed(
                told({"where": {"type": "string"}, "what": {"type": "string"}}, "What is wrong in one place."),
                "Where a request is malformed.",
            ),
            "version": {**VERSION, "description": "When stale: the version of the match now."},
            "game": {"type": "string", "description": "When refused by the rules: the game."},
            "rule": blank_or({"type": "string", "description": "When refused by the rules: the id of the rule, if one is named."}),
            "facts": {**ANYTHING, "description": "When refused by the rules: the facts of the case."},
            "place": {"type": "integer", "minimum": 0, "description": "When one of a list of actions is refused: which, from 0."},
        },
        "Why a request failed (RFC 9457).",
        optional=("errors", "version", "game", "rule", "facts", "place"),
    )
