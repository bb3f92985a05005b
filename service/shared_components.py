"""The OpenAPI components that all games share, and the unions over the games (service/game_components.py)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from events.audit import BROKEN, KEPT, PARTLY, UNDISCLOSED, VERIFIED
from events.play import LONGEST_LIST
from games.kernel import Game
from games.schema import (
    Schema,
    Shape,
    always,
    anything,
    described,
    either,
    flag,
    ids,
    listing,
    mapping,
    nullable,
    optional,
    record,
    text,
    unchecked,
    whole,
)
from service.game_components import (
    ANY_TEXT,
    CONTENT_HASH,
    COUNT,
    DIGEST,
    MATCH_ID,
    PLAYER_ID,
    SEAT,
    TIME,
    VERSION,
    action_schema,
    camel,
    ref,
    summary,
    table_action_schemas,
    table_event_schemas,
    union,
    versions,
)
from service.limits import SCOPES, UNITS
from service.problems import CODES
from table.deeds import CREATE, DEEDS

UPDATED = described(TIME, "When the match last changed, in milliseconds since 1970-01-01T00:00Z.")
ROLE = ids(["player", "referee", "admin"])


def components(games: Mapping[str, Game], levels: Iterable[str]) -> dict[str, Schema]:
    """Return the components that are the same in every game, by name."""
    shapes = {**_players(levels), **_games(levels), **_matches(games, levels), **_play(games), **_history(games), **_server(games)}
    return {name: shape.schema for name, shape in shapes.items()}


def _players(levels: Iterable[str]) -> dict[str, Shape]:
    return {
        "Player": record(
            {"id": nullable(PLAYER_ID), "name": ANY_TEXT, "role": ROLE},
            "A player. The owner of the admin key has no id.",
        ),
        "NewPlayer": record(
            {
                "id": PLAYER_ID,
                "name": ANY_TEXT,
                "role": ROLE,
                "key": text(about="The bearer key. This is the only answer that contains it. The server stores only its hash."),
            },
            "A new player, with the key.",
        ),
        "Occupant": either(
            record({"player": PLAYER_ID}, "A player."),
            record({"ai": ids(levels)}, "An artificial player, by level."),
            record({"open": always(True)}, "Nobody yet."),
            about="Who has a seat: a player, an artificial player, or nobody yet.",
        ),
    }


def _games(levels: Iterable[str]) -> dict[str, Shape]:
    brief = {
        "id": ANY_TEXT,
        "title": ANY_TEXT,
        "seats": listing(SEAT),
        "least_seats": COUNT,
        "most_seats": COUNT,
        "revision": described(COUNT, "The revision of its rules. It rises when a ruling changes play."),
    }
    schema = anything("JSON Schema (2020-12).")
    return {
        "Level": record(
            {"id": ids(levels), "seat": text(about="What to write for a seat when you create a match."), "about": ANY_TEXT},
            "An artificial player.",
        ),
        "GameInBrief": record(brief, "A game in brief."),
        "Game": record(
            {
                **brief,
                "options": anything("JSON Schema of the options of a match."),
                "levels": listing(ref("Level"), about="The artificial players."),
                "refusals": mapping(
                    ANY_TEXT, ANY_TEXT, "Every refusal code of the game with its sentence. The names in braces are facts of the case."
                ),
            },
            "A game: its seats, options, artificial players and refusals.",
        ),
        "Games": record({"games": listing(ref("GameInBrief"))}, "The games of this server."),
        "Rule": record(
            {
                "id": ANY_TEXT,
                "section": ANY_TEXT,
                "source": nullable(text(about="S: stated in the rulebook. P: a public source. R: a ruling.")),
                "text": text(about="In Markdown."),
            },
            "One rule.",
        ),
        "Rules": record({"game": ANY_TEXT, "revision": COUNT, "rules": listing(ref("Rule"))}, "The rules of a game, in their order."),
        "GameData": record(
            {
                "game": ANY_TEXT,
                "revision": COUNT,
                "seats": listing(SEAT, about="All seats, in the order in which a match has them unless it names another."),
                "least_seats": COUNT,
                "most_seats": COUNT,
                "options": anything("The value of each option that a new match leaves out."),
                "data": anything("data.json of the game. The contract of the game describes it."),
            },
            "The data of a game.",
        ),
        "TableData": record({"data": anything("data.json of the table. The rules of the table refer to it.")}, "The data of the table."),
        "GameSchema": record(
            {
                "game": ANY_TEXT,
                **dict.fromkeys(("document", "view", "options", "action", "event"), schema),
                "actions": mapping(ANY_TEXT, anything(), "JSON Schema of each action, by type."),
                "events": mapping(ANY_TEXT, anything(), "JSON Schema of each event as viewers see it, by type."),
            },
            "The JSON Schemas of a game.",
        ),
    }


def _matches(games: Mapping[str, Game], levels: Iterable[str]) -> dict[str, Shape]:
    standing = _standing(games)
    return {
        "NewMatch": _by_game(games, "NewMatch", "A new match."),
        "SeatRequest": ids(
            ["me", "open", *(f"ai:{level}" for level in levels)],
            "`me`: the caller. `open`: the first player who takes the seat. `ai:<level>`: an artificial player.",
        ),
        "Outcome": unchecked(
            {
                "type": "object",
                "properties": {
                    "winners": listing(SEAT).schema,
                    "reason": ANY_TEXT.schema,
                    "scores": anything().schema,
                },
                "required": ["winners", "reason"],
                "additionalProperties": True,
            },
            "Who won, and why.",
        ),
        "Standing": record({**standing, "version": VERSION, "updated": UPDATED}, "The standing of a match, as lists show it."),
        "Match": record(
            {
                **standing,
                "version": VERSION,
                "updated": UPDATED,
                "revision": described(COUNT, "The revision of the rules that decided the last entry."),
                "rules": described(CONTENT_HASH, "The content hash of these rules."),
            },
            "The standing of a match, with its version.",
        ),
        "Matches": record(
            {"matches": listing(ref("Standing")), "next": nullable(text(about="The `cursor` of the next page."))},
            "Matches, newest first.",
        ),
    }


def _play(games: Mapping[str, Game]) -> dict[str, Shape]:
    return {
        "State": _by_game(games, "State", "A match at a version, as its viewer may see it."),
        "GameAction": either(*(ref(f"{camel(game)}Action") for game in games), about="An action of the match's game."),
        "Actions": either(
            ref("GameAction"),
            ref("TableAction"),
            listing(ref("GameAction"), 1, LONGEST_LIST),
            about="One action, or a list of the game's actions. A list is carried out whole or not at all. Each action becomes an entry.",
        ),
        **{camel(kind): unchecked(schema) for kind, schema in table_action_schemas().items()},
        camel(CREATE): unchecked(action_schema(CREATE, DEEDS[CREATE].fields, summary(DEEDS[CREATE].act))),
        "TableAction": union({kind: camel(kind) for kind in table_action_schemas()}, "An action of a player at the table."),
        "Played": _by_game(games, "Played", "What followed from your actions."),
        "Range": listing(whole(), 2, 2, "The lowest and the highest number that you may choose."),
        "Counts": record(
            {"each": mapping(ANY_TEXT, ref("Range")), "total": ref("Range")},
            "Counts by key. Each count is within its range of `each`. Their sum is within `total`.",
        ),
        "Choices": _by_game(games, "Choices", "What you may do now: as a seat in the game, and at the table."),
    }


def _history(games: Mapping[str, Game]) -> dict[str, Shape]:
    return {
        "Entries": _by_game(games, "Entries", "Entries of a match, oldest first."),
        **{f"{camel(kind)}Event": unchecked(schema) for kind, schema in table_event_schemas().items()},
        "Proof": record(
            {
                "format": described(COUNT, "The format of the entry, 2."),
                "rules": described(CONTENT_HASH, "The content hash of the rules that decided the entry."),
                "action": ref("ProofPart"),
                "request": ref("ProofPart"),
                "events": listing(ref("ProofPart"), about="One for each event."),
            },
            "What is needed to compute the digest of an entry from what its viewer sees (docs/auditing.md).",
        ),
        "ProofPart": either(
            record({"salt": DIGEST}, "The part is shown whole. Its leaf is the SHA-256 of the salt and the part."),
            record({"leaf": DIGEST}, "Something of the part is hidden. This is its leaf."),
        ),
        "Record": record(
            {
                "match": MATCH_ID,
                "blind": described(nullable(DIGEST), "The key of the salts of all entries; null while a seat is open."),
                "entries": listing(ref("RecordEntry"), about="Canonical JSON, byte for byte as it is stored."),
            },
            "The full record of a match.",
        ),
        "RecordEntry": record(
            {
                "match": MATCH_ID,
                "version": versions("The version of the match after this entry."),
                "actor": ANY_TEXT,
                "action": anything(),
                "events": listing(anything()),
                "format": COUNT,
                "revision": COUNT,
                "rules": CONTENT_HASH,
                "at": TIME,
                "request": optional(record({"id": ANY_TEXT, "fingerprint": ANY_TEXT}, "The request that caused it.")),
                "digest": DIGEST,
                "secret": optional(described(DIGEST, "The secret of the match. Only the entry that ended the match has it.")),
            },
            "An entry in full (docs/auditing.md).",
        ),
        "Finding": record({"version": VERSION, "code": ANY_TEXT, "detail": ANY_TEXT}, "Something that is wrong."),
        "Audit": record(
            {
                "ok": flag(),
                "match": MATCH_ID,
                "game": ANY_TEXT,
                "versions": VERSION,
                "digest": described(DIGEST, "The digest of the last entry, which covers all entries."),
                "chain": ids([VERIFIED, UNDISCLOSED]),
                "commitment": ids([KEPT, BROKEN, UNDISCLOSED]),
                "published": text(about="The hash of the secret in the first entry. Compare it with the one that you noted."),
                "dice": ids([VERIFIED, PARTLY, UNDISCLOSED]),
                "revisions": listing(COUNT, about="The revisions of the rules that the entries name."),
                "rules": listing(CONTENT_HASH, about="The content hashes of the rules that the entries name."),
                "rules_here": described(CONTENT_HASH, "The content hash of the rules of this server."),
                "replayed_only": described(
                    COUNT, "How many entries were replayed but not decided again, because of other rules or an unpublished secret."
                ),
                "findings": listing(ref("Finding"), about="Everything that is wrong. Empty if all is well."),
            },
            "The report of an audit.",
        ),
    }


def _server(games: Mapping[str, Game]) -> dict[str, Shape]:
    return {
        "Health": record({"status": ids(["ok"])}, "All is well."),
        "Limit": record(
            {
                "name": text(about="In the headers `RateLimit` and `RateLimit-Policy`, and in the problem of who is refused."),
                "scope": ids(
                    SCOPES,
                    "What has a limit of its own: `player`, all keys of a player together; `address`, an IPv4 address or an IPv6 /64 "
                    "network; `process`, each process of the server; `request`, each request.",
                ),
                "amount": nullable(whole(0, about="How many. null: this server has no such limit.")),
                "unit": ids(UNITS, "What is counted."),
                "seconds": nullable(
                    whole(1, about="In how many seconds. What was used comes back evenly. null: at the same time, or in one request.")
                ),
                "about": text(about="What counts, in a sentence."),
            },
            "A limit.",
        ),
        "Limits": record({"limits": listing(ref("Limit"))}, "The limits of this server."),
        "Problem": _problem(games),
        "ProblemCode": ids(CODES, "Why the platform refuses."),
        "ProblemKind": record(
            {"code": ref("ProblemCode"), "status": whole(), "title": ANY_TEXT, "detail": ANY_TEXT},
            "One kind of problem: its status, its title and its sentence. The names in braces are facts of the case.",
        ),
        "ProblemKinds": record({"problems": listing(ref("ProblemKind"))}, "Every kind of problem."),
    }


def _by_game(games: Mapping[str, Game], name: str, about: str) -> Shape:
    return union({game: f"{camel(game)}{name}" for game in games}, about, "game")


def _standing(games: Mapping[str, Game]) -> dict[str, Shape]:
    return {
        "id": MATCH_ID,
        "game": ids(games),
        "status": ids(["open", "playing", "over"]),
        "created": TIME,
        "creator": PLAYER_ID,
        "options": anything(),
        "order": listing(SEAT, about="The seats in turn order."),
        "seats": mapping(ANY_TEXT, ref("Occupant"), "Who has each seat."),
        "round": whole(),
        "phase": ANY_TEXT,
        "active": nullable(SEAT),
        "to_act": listing(
            ANY_TEXT,
            about="The actors who must decide now: seats or `system`. Empty while a seat is open and when the match is over.",
        ),
        "outcome": nullable(ref("Outcome")),
        "commitment": described(DIGEST, "SHA-256 of the match's secret, in hex. It was published before anybody joined."),
        "secret": nullable(described(DIGEST, "The secret in hex, once the match is over.")),
    }


def _problem(games: Mapping[str, Game]) -> Shape:
    codes = either(
        ref("ProblemCode"), *(ref(f"{camel(game)}RefusalCode") for game in games), about="The code is stable. Programs should act on it."
    )
    error = record({"where": ANY_TEXT, "what": ANY_TEXT}, "What is wrong in one place.")
    return record(
        {
            "type": unchecked({"type": "string", "format": "uri-reference"}, "The address that explains this kind of problem."),
            "title": ANY_TEXT,
            "status": whole(400, 599),
            "code": codes,
            "detail": text(about="What happened in this case, in a sentence."),
            "errors": optional(listing(error, about="Where a request is malformed.")),
            "version": optional(described(VERSION, "When stale: the version of the match now.")),
            "game": optional(text(about="When a game refuses: the game.")),
            "rule": optional(nullable(text(about="When a game refuses: the id of the rule, if there is one."))),
            "facts": optional(anything("When a game refuses: the facts of the case.")),
            "limit": optional(text(about="When a limit is used up: its name. `GET /v1/limits` lists them.")),
            "scope": optional(ids(SCOPES, "When a limit is used up: what has a limit of its own.")),
            "amount": optional(whole(0, about="When a limit is used up: how many it allows.")),
            "retry_after": optional(whole(1, about="When a limit is used up: after how many seconds to try again, as in `Retry-After`.")),
            "place": optional(whole(0, about="When one action of a list is refused: its place, from 0.")),
        },
        "Why a request failed (RFC 9457).",
    )
