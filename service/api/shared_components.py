"""The OpenAPI components that all games share, and the unions over the games (service/api/game_components.py)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from events.accounts import MOST_KEYS, ROLES
from events.accounts import SCOPES as KEY_SCOPES
from events.play import LONGEST_LIST
from games import patterns
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
from record.trail import BROKEN, KEPT, PARTLY, TRUSTED, UNDISCLOSED, VERIFIED
from service.api.game_components import (
    ACTIVE,
    ANY_TEXT,
    AT_TABLE,
    CONTENT_HASH,
    COUNT,
    DIGEST,
    KEY_ID,
    MATCH_ID,
    OUTCOME,
    PHASE,
    PLAYER_ID,
    RECEIPT,
    ROUND,
    SEAT,
    SHARE,
    TIME,
    VERSION,
    action_schema,
    camel,
    chosen_at_table,
    redacted_table_action_schemas,
    ref,
    reference,
    shown_at_table,
    summary,
    table_action_schemas,
    table_event_schemas,
    union,
    versions,
)
from service.http.limits import SCOPES, UNITS
from service.http.problems import CODES
from service.http.schemas import LARGEST
from table.deeds import BEGINNINGS, DEEDS
from table.facts import FACTS as TABLE_EVENTS
from table.settings import CLOCK, CLOCK_GIVEN, SPECTATORS, TIME_OUT, TIME_OUT_GIVEN
from table.state import CONTINUED, DISPUTE, DISPUTE_TEXT, OFFER, ORIGIN, REMEDIES, RULING_MADE, VERDICTS, VOTE

UPDATED = described(TIME, "When the match last changed, in milliseconds since 1970-01-01T00:00Z.")
ROLE = ids(ROLES, "What the player may do. A referee may audit any match in which it does not play.")
NAME = text(about="The player's name. Several players may have the same.")
GAME_ID = text(about="The id of the game.")
STATUS = ids(
    ["open", "playing", "over", "closed"],
    "`open` while a seat is open, then `playing`, then `over`; or `closed`: its creator has closed it before it began.",
)
REVISION = described(COUNT, "The revision of the game's rules. It rises when a ruling changes play.")
LEAST_SEATS = described(COUNT, "The least number of seats in a match.")
MOST_SEATS = described(COUNT, "The largest number of seats in a match.")


def components(games: Mapping[str, Game], levels: Iterable[str]) -> dict[str, Schema]:
    """Return the components that are the same in every game, by name."""
    shapes = {
        **_players(levels),
        **_games(levels),
        **_matches(games, levels),
        **_play(games),
        **_disputes(),
        **_history(games),
        **_server(games),
    }
    return {name: shape.schema for name, shape in shapes.items()}


def _players(levels: Iterable[str]) -> dict[str, Shape]:
    key = {
        "id": described(KEY_ID, "The id of the key, which is part of its text."),
        "name": text(about="What the key is for."),
        "scopes": listing(ref("Scope"), about="What the key may do."),
        "created": TIME,
        "used": nullable(unchecked({"type": "string", "format": "date"}, "The day (UTC) on which the key was last used; null if never.")),
    }
    name = nullable(text(about="The name. It is null if the player is deleted."))
    return {
        "Player": record(
            {
                "id": nullable(PLAYER_ID),
                "name": NAME,
                "role": ROLE,
                "key_id": nullable(described(KEY_ID, "The id of the key that was sent; null for the admin key.")),
                "scopes": listing(ref("Scope"), about="What that key may do."),
            },
            "A player. The owner of the admin key has no id.",
        ),
        "Profile": record(
            {
                "id": PLAYER_ID,
                "name": name,
                "created": nullable(described(TIME, "When the player was created, in milliseconds since 1970-01-01T00:00Z.")),
                "finished": mapping(
                    ANY_TEXT,
                    record({"matches": described(COUNT, "How many are over."), "won": described(COUNT, "How many of them were won.")}),
                    "The matches that the player has finished, by game. Games without any are left out.",
                ),
            },
            "What everybody may know of a player. A deleted player has neither a name nor the moment of creation.",
        ),
        "GivenRole": record({"id": PLAYER_ID, "role": ROLE}, "The role of a player."),
        "PlayerName": record({"name": name}, "A player, as others see it."),
        "PlayerNames": mapping(PLAYER_ID, ref("PlayerName"), "The players of this answer, by id."),
        "Scope": ids(
            KEY_SCOPES,
            "`read`: see what the player may see. `play`: create and join matches, and act. `referee`: use the player's role as a "
            "referee or an admin, if it has one. `account`: manage keys, change the name, delete the player.",
        ),
        "Key": record(key, "A key of a player, without its text."),
        "Keys": record({"keys": listing(ref("Key"), high=MOST_KEYS, about="The keys.")}, "The keys of a player, the oldest first."),
        "NewKey": record(
            {**key, "key": text(about="The bearer key. This is the only answer that contains it. The server stores only its hash.")},
            "A key with its text.",
        ),
        "NewPlayer": record(
            {
                "id": PLAYER_ID,
                "name": NAME,
                "role": ROLE,
                "key": text(about="The bearer key. This is the only answer that contains it. The server stores only its hash."),
            },
            "A new player, with the key.",
        ),
        "Occupant": either(
            record({"player": PLAYER_ID}, "A player."),
            record({"ai": ids(levels, "The level of play.")}, "An artificial player, by level."),
            record({"open": always(True, "The seat is open.")}, "Nobody yet."),
            about="Who has a seat: a player, an artificial player, or nobody yet.",
        ),
    }


def _games(levels: Iterable[str]) -> dict[str, Shape]:
    brief = {
        "id": GAME_ID,
        "title": text(about="The name of the game."),
        "seats": listing(SEAT, about="All seats, in the order in which a match has them unless it names another."),
        "least_seats": LEAST_SEATS,
        "most_seats": MOST_SEATS,
        "revision": REVISION,
    }
    return {
        "Level": record(
            {
                "id": ids(levels, "The level of play."),
                "seat": text(about="What to write for a seat when you create a match."),
                "about": text(about="How it plays, in a sentence."),
            },
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
        "Games": record({"games": listing(ref("GameInBrief"), about="Every game.")}, "The games of this server."),
        "Rule": record(
            {
                "id": text(about="The id of the rule, such as `WAR-MOV-01`."),
                "section": text(about="The heading above it in the rulebook."),
                "source": nullable(text(about="`S`: stated in the rulebook. `P`: a public source. `R`: a ruling. Null: it names none.")),
                "text": text(about="In Markdown."),
            },
            "One rule.",
        ),
        "Rules": record(
            {
                "game": GAME_ID,
                "revision": REVISION,
                "rules": listing(ref("Rule"), about="Those of the game, then those of the table."),
            },
            "The rules of a game, in their order.",
        ),
        "GameData": record(
            {
                "game": GAME_ID,
                "revision": REVISION,
                "seats": listing(SEAT, about="All seats, in the order in which a match has them unless it names another."),
                "least_seats": LEAST_SEATS,
                "most_seats": MOST_SEATS,
                "options": anything("The value of each option that a new match leaves out."),
                "data": anything("data.json of the game. The contract of the game describes it."),
            },
            "The data of a game.",
        ),
        "TableData": record({"data": anything("data.json of the table. The rules of the table refer to it.")}, "The data of the table."),
        "GameSchema": record(
            {
                "game": GAME_ID,
                "document": anything("JSON Schema (2020-12) of the state document."),
                "view": anything("JSON Schema of the state document as viewers see it."),
                "options": anything("JSON Schema of the options of a match."),
                "action": anything("JSON Schema of any action. It refers to `actions`."),
                "event": anything("JSON Schema of any event. It refers to `events`."),
                "actions": mapping(ANY_TEXT, anything(), "JSON Schema of each action, by type."),
                "events": mapping(ANY_TEXT, anything(), "JSON Schema of each event as viewers see it, by type."),
            },
            "The JSON Schemas of a game.",
        ),
    }


def _matches(games: Mapping[str, Game], levels: Iterable[str]) -> dict[str, Shape]:
    standing = _standing(games)
    return {
        **_settings(),
        "SeatClock": record(
            {
                "left": whole(0, about="Milliseconds that the seat had when its clock began to run, or has while it does not."),
                "deadline": nullable(described(TIME, "When its time runs out; null while the clock does not run.")),
                "late": whole(0, about="How often in a row its time has run out."),
            },
            "The clock of a seat. Nothing of it changes while time passes: what is left at a moment is `deadline` less that moment.",
        ),
        "OpenOffer": described(OFFER, "An open offer."),
        "Ruling": described(RULING_MADE, "A ruling on a dispute."),
        "DisputeStanding": record(_dispute(), "A dispute, without its texts."),
        "Continued": described(CONTINUED, "The match that goes on by a ruling from an earlier position of one that has ended."),
        "Origin": described(ORIGIN, "The position of another match from which a match began."),
        "OpenVote": described(VOTE, "A vote about a seat whose time has run out."),
        "NewMatch": _by_game(games, "NewMatch", "A new match."),
        "Fork": _fork(),
        "SeatRequest": ids(
            ["me", "open", *(f"ai:{level}" for level in levels)],
            "`me`: the caller. `open`: the first player who takes the seat. `ai:<level>`: an artificial player.",
        ),
        "Invitation": text(patterns.anchored(f"player:{patterns.PLAYER}"), "`player:<id>`: the seat is kept for this player."),
        "Outcome": unchecked(
            {
                "type": "object",
                "properties": {
                    "winners": listing(SEAT, about="One seat, or those that share the victory.").schema,
                    "reason": text(about="Why the match is over, a word of the game.").schema,
                    "scores": anything("Points by seat.").schema,
                },
                "required": ["winners", "reason"],
                "additionalProperties": True,
            },
            "Who won, and why.",
        ),
        "Standing": record({**standing, "version": VERSION, "updated": UPDATED}, "The standing of a match, as lists show it."),
        "Thinking": record(
            {
                "seat": described(SEAT, "The seat whose decision is due."),
                "level": ids(levels, "The level of play that decides for it."),
                "since": described(TIME, "Since when its decision is due, in milliseconds since 1970-01-01T00:00Z: that of the version."),
            },
            "An artificial player that is thinking.",
        ),
        "Match": record(
            {
                **standing,
                "thinking": nullable(
                    described(
                        ref("Thinking"),
                        "The artificial player whose decision is awaited, one at a time; null if none is. A level that searches may take "
                        "some seconds.",
                    )
                ),
                "code": optional(
                    text(
                        patterns.anchored(patterns.JOIN_CODE),
                        "The code to give to those who may join. Only the creator sees it, while a seat is open.",
                    )
                ),
                "version": VERSION,
                "updated": UPDATED,
                "rules": described(CONTENT_HASH, "The content hash of the rules that decided the last entry."),
                "players": described(ref("PlayerNames"), "The players whom the answer names, by id."),
                "receipt": optional(
                    described(RECEIPT, "The receipt of the version that your request led to. Only in the answer to such a request.")
                ),
            },
            "The standing of a match, with its version.",
        ),
        "Matches": record(
            {
                "matches": listing(ref("Standing"), about="The matches of this page."),
                "players": described(ref("PlayerNames"), "The players whom the answer names, by id."),
                "next": nullable(text(about="The `cursor` of the next page; null after the last one.")),
            },
            "Matches, newest first or as `sort` says.",
        ),
    }


def _disputes() -> dict[str, Shape]:
    """Return the components of disputes with their texts, of requests about them, and of the referees' desk."""
    kinds = {kind: f"{camel(kind)}Event" for kind, (_, fields) in TABLE_EVENTS.items() if "dispute" in fields}
    one = {"number": described(COUNT, "Its number in the match, from 1."), **_dispute()}
    step = record(
        {
            "version": versions("The version of its entry."),
            "at": TIME,
            "actor": text(about="A seat, `system`, or the id of a referee."),
            "event": union(kinds, "What happened, as the caller may see it."),
        },
        "A step of a dispute.",
    )
    return {
        "DisputeText": record({"text": DISPUTE_TEXT}, "A text about a dispute."),
        "DisputeRequest": record(
            {"version": whole(1, LARGEST, "The version of the match that the dispute is about."), "text": DISPUTE_TEXT}, "A dispute."
        ),
        "RulingRequest": record(
            {
                "verdict": ids(VERDICTS, "What the ruling says."),
                "remedy": optional(ids(REMEDIES, "What follows from it. Left out: nothing.")),
                "seat": optional(described(SEAT, "The seat that forfeits.")),
                "version": optional(whole(1, LARGEST, "The version from which another match goes on.")),
                "text": DISPUTE_TEXT,
            },
            "A ruling.",
        ),
        "DisputeStep": step,
        "Disputes": record(
            {
                "match": MATCH_ID,
                "version": described(VERSION, "How far the match is, as far as the caller may see it."),
                "disputes": listing(
                    record({**one, "steps": listing(ref("DisputeStep"), about="What happened, the oldest first.")}, "A dispute."),
                    about="The disputes, in the order of their numbers.",
                ),
                "players": described(ref("PlayerNames"), "The players whom the answer names, by id."),
                "receipt": optional(described(RECEIPT, "The receipt of your step. Only in the answer to one.")),
            },
            "The disputes of a match.",
        ),
        "Desk": record(
            {
                "disputes": listing(
                    record({"match": MATCH_ID, "game": GAME_ID, "updated": UPDATED, **one}, "A dispute."),
                    about="The disputes of this page.",
                ),
                "players": described(ref("PlayerNames"), "The players whom the answer names, by id."),
                "next": nullable(text(about="The `cursor` of the next page; null after the last one.")),
            },
            "Disputes of all matches.",
        ),
    }


def _dispute() -> dict[str, Shape]:
    """Return the fields of a dispute as the table has them."""
    fields = {name: unchecked(schema) for name, schema in DISPUTE.schema["properties"].items()}
    return {**fields, "rulings": listing(ref("Ruling"), high=2, about="The ruling, and the one on appeal.")}


def _fork() -> Shape:
    return record(
        {
            "fork_of": described(MATCH_ID, "The match that is over from which this one begins."),
            "at": whole(1, LARGEST, "The version of it."),
            "seats": optional(
                mapping(
                    ANY_TEXT,
                    either(ref("SeatRequest"), ref("Invitation"), about="Who takes the seat."),
                    "Who takes which seat: each seat of that match once. Left out: you take all.",
                )
            ),
            "code": optional(flag("Whether open seats can be taken only with a code. The answer has the code.")),
            "clock": optional(described(ref("ClockRequest"), "The clock of each seat. Left out: none.")),
            "time_out": optional(described(ref("TimeOutRequest"), "What a time-out does. Only with a clock.")),
            "spectators": optional(described(ref("Spectators"), "What spectators see before the match is over. Left out: all.")),
        },
        "A practice match that begins from a position of a match that is over. It has the game and the options of that match.",
    )


def _settings() -> dict[str, Shape]:
    """Return the components of the settings of a match, as an answer has them, and as a request may leave out what has a default."""
    whose = "The clock of each seat. `kind` says which other fields it has."
    found: dict[str, Shape] = {}
    for shape, suffix in ((CLOCK, ""), (CLOCK_GIVEN, "Request")):
        parts = {part["properties"]["kind"]["const"]: part for part in shape.schema["anyOf"]}
        names = {kind: f"{camel(kind)}Clock{suffix if part not in CLOCK.schema['anyOf'] else ''}" for kind, part in parts.items()}
        found |= {name: unchecked(parts[kind]) for kind, name in names.items()}
        found[f"Clock{suffix}"] = union(names, whose, "kind")
    needed = TIME_OUT.schema["anyOf"][-1]
    return {
        **found,
        "TimeOutSettings": unchecked(needed, "What a time-out does."),
        "TimeOutRequest": described(TIME_OUT_GIVEN, "What a time-out does. Only with a clock."),
        "Spectators": described(
            SPECTATORS, "What spectators see of play before the match is over: all, none, or all but the newest versions, `delay` of them."
        ),
    }


def _with_settings(schema: Schema, suffix: str = "") -> Schema:
    """Return the schema of an action or an event with references to the components of the settings of a match."""
    names = {"clock": f"Clock{suffix}", "time_out": f"TimeOut{suffix or 'Settings'}", "spectators": "Spectators"}
    properties = {
        name: {**reference(names[name]), "description": one["description"]} if name in names else one
        for name, one in schema["properties"].items()
    }
    return {**schema, "properties": properties}


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
        "GameActions": either(
            ref("GameAction"), listing(ref("GameAction"), 1, LONGEST_LIST), about="One action of the match's game, or a list of them."
        ),
        **{
            camel(kind): unchecked(schema)
            for kind, schema in table_action_schemas().items()
            if camel(kind) in {*chosen_at_table().values(), *shown_at_table().values()}
        },
        **{name: unchecked(schema) for name, schema in redacted_table_action_schemas().items()},
        **{
            camel(kind): unchecked(_with_settings(action_schema(kind, DEEDS[kind].fields, summary(DEEDS[kind].act)), "Request"))
            for kind in BEGINNINGS
        },
        "TableAction": union(chosen_at_table(), "An action of a player or a seat at the table."),
        "Played": _by_game(games, "Played", "What followed from your actions."),
        "Tried": _by_game(games, "Tried", "What actions of yours would lead to."),
        "Hint": _by_game(games, "Hint", "What a level of play would do for your seat."),
        "HintWaiting": record(
            {
                "match": MATCH_ID,
                "game": GAME_ID,
                "version": described(VERSION, "The version at which it was asked for."),
                "seat": described(SEAT, "Your seat."),
                "level": text(about="The level of play that thinks."),
            },
            "A hint that a worker thinks about.",
        ),
        "Range": listing(whole(), 2, 2, "The lowest and the highest number that you may choose."),
        "Counts": record(
            {
                "each": mapping(ANY_TEXT, ref("Range"), "The range of each key."),
                "total": described(ref("Range"), "The range of the sum."),
            },
            "Counts by key. Each count is within its range of `each`. Their sum is within `total`.",
        ),
        "Choices": _by_game(games, "Choices", "What you may do now: as a seat in the game, and at the table."),
    }


def _history(games: Mapping[str, Game]) -> dict[str, Shape]:
    return {
        "Entries": _by_game(games, "Entries", "Entries of a match, oldest first."),
        **{f"{camel(kind)}Event": unchecked(_with_settings(schema)) for kind, schema in table_event_schemas().items()},
        "Proof": record(
            {
                "format": described(COUNT, "The format of the entry, 2."),
                "rules": described(CONTENT_HASH, "The content hash of the rules that decided the entry."),
                "action": described(ref("ProofPart"), "The proof of the action."),
                "request": described(ref("ProofPart"), "The proof of the request, which no viewer sees."),
                "events": listing(ref("ProofPart"), about="One for each event."),
            },
            "What is needed to compute the digest of an entry from what its viewer sees (docs/auditing.md).",
        ),
        "ProofPart": either(
            record(
                {"salt": described(DIGEST, "The salt, in hex.")},
                "The part is shown whole. Its leaf is the SHA-256 of the salt and the part.",
            ),
            record({"leaf": described(DIGEST, "The leaf, in hex.")}, "Something of the part is hidden. This is its leaf."),
            about="What is needed for one part of an entry: its salt or its leaf.",
        ),
        "Read": record(
            {
                "reader": text(patterns.anchored(f"{patterns.PLAYER}|admin"), "The id of the player who was shown it, or `admin`."),
                "what": text(about="`dossier`, `record`, `audit`, or `view:` and a seat, `auditor`, or for a hidden match `spectator`."),
                "count": whole(1, about="How many such reads there were."),
                "first": text(about="The signed note of the first one (docs/auditing.md)."),
                "newest": text(about="The signed note of the newest one."),
            },
            "Reads of one kind by one reader.",
        ),
        "Reads": record(
            {"match": MATCH_ID, "reads": listing(ref("Read"), about="By reader and kind.")}, "What staff was shown of a match."
        ),
        "RefusedAction": record(
            {
                "seat": SEAT,
                "player": described(PLAYER_ID, "The player who had the seat."),
                "version": versions("The version of the match when the action was refused."),
                "at": described(TIME, "When it was received, in milliseconds since 1970-01-01T00:00Z."),
                "action": optional(anything("The action as it was sent. Left out if it is larger than 1,000 bytes.")),
                "sha256": optional(described(DIGEST, "A SHA-256 of the canonical JSON of an action that is left out.")),
                "code": text(about="Why it was refused."),
                "rule": nullable(text(about="The rule that forbids it, or null.")),
            },
            "An action of a seat that was refused.",
        ),
        "Refusals": record(
            {
                "match": MATCH_ID,
                "refused": listing(ref("RefusedAction"), about="Those that are kept, the oldest first."),
                "dropped": whole(0, about="How many are not kept any more. 0 if you may see those of your own seats only."),
            },
            "Refused actions of a match.",
        ),
        "Receipt": record(
            {"match": MATCH_ID, "version": versions("The version."), "receipt": RECEIPT},
            "What the server signs about a version of a match.",
        ),
        "Leaves": record(
            {
                "match": MATCH_ID,
                "leaves": listing(
                    record(
                        {
                            "index": whole(0, about="The place of the leaf in the log."),
                            "leaf": described(ref("Leaf"), "The leaf as the log has it."),
                            "opened": optional(
                                described(nullable(ref("Leaf")), "What is inside a sealed leaf; null if you may not know it.")
                            ),
                            "proof": text(about="A proof (c2sp.org/tlog-proof) that the log has the leaf, with a signed checkpoint."),
                        },
                        "A leaf, and the proof that the log has it. Only a sealed one has `opened`.",
                    ),
                    about="The leaves, by index.",
                ),
                "next": nullable(text(about="The `cursor` of the next page; null after the last one.")),
            },
            "What the server's log says of a match.",
        ),
        "Leaf": record(
            {
                "kind": ids(["begin", "hour", "end", "sealed"], "Why there is a leaf. A sealed one has only a `seal`."),
                "match": optional(MATCH_ID),
                "version": optional(versions("The version of the match.")),
                "digest": optional(described(DIGEST, "The digest of the entry of that version.")),
                "at": optional(described(TIME, "When the entry of that version was received.")),
                "commitment": optional(described(DIGEST, "The SHA-256 of the match's secret, in a leaf of the kind `begin`.")),
                "hour": optional(described(TIME, "Inside a sealed leaf: the hour for which it was made.")),
                "seal": optional(described(DIGEST, "The salted SHA-256 of the leaf inside.")),
            },
            "A leaf of the server's log. Its bytes are the canonical JSON of this object.",
        ),
        "Consistency": record(
            {
                "from": whole(0, about="The size of the smaller tree."),
                "to": whole(0, about="The size of the larger tree."),
                "hashes": listing(text(about="32 bytes in base64."), about="The proof of RFC 6962, 2.1.2."),
            },
            "A proof that one tree is the beginning of another.",
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
                "actor": text(about="A seat or `system`. For actions of the table: the id of a player."),
                "action": anything("The accepted action."),
                "events": listing(anything(), about="What followed from the action, in order."),
                "format": described(COUNT, "The format of the entry, 2."),
                "revision": described(COUNT, "The revision of the rules that decided it."),
                "rules": described(CONTENT_HASH, "The content hash of the rules that decided it."),
                "at": TIME,
                "request": optional(
                    either(ref("AskedBy"), ref("AiDecision"), about="What asked for it: a request that had a key, or an artificial player.")
                ),
                "digest": described(DIGEST, "Covers this entry and all before it."),
                "secret": optional(described(DIGEST, "The secret of the match. Only the entry that ended the match has it.")),
            },
            "An entry in full (docs/auditing.md).",
        ),
        "AskedBy": record(
            {"id": text(about="Its Idempotency-Key."), "fingerprint": text(about="A SHA-256 of what it asked for, in hex.")},
            "The request that caused an entry.",
        ),
        "AiDecision": record(
            {
                "level": text(about="The level that decided."),
                "players": described(COUNT, "The revision of the artificial players that decided."),
                "weights": described(DIGEST, "A SHA-256 of their plans and weights for the game."),
                "saw": described(DIGEST, "A SHA-256 of all that the level was shown (docs/auditing.md)."),
                "budget": described(COUNT, "The iterations that the level had for the decision."),
                "spent": described(COUNT, "The iterations that it did."),
            },
            "The decision of an artificial player. With the secret of the match anybody can run it again.",
        ),
        "Finding": record(
            {
                "version": described(VERSION, "The version of the entry that it is about."),
                "code": text(about="What is wrong, as a stable code (docs/auditing.md)."),
                "detail": text(about="What is wrong, in a sentence."),
            },
            "Something that is wrong.",
        ),
        "Audit": record(
            {
                "ok": flag("Whether nothing is wrong."),
                "match": MATCH_ID,
                "game": GAME_ID,
                "versions": described(VERSION, "How many entries were audited."),
                "digest": described(DIGEST, "The digest of the last entry, which covers all entries."),
                "chain": ids([VERIFIED, UNDISCLOSED], "Whether the digests were checked, or could not be yet."),
                "commitment": ids([KEPT, BROKEN, UNDISCLOSED], "Whether the secret has the published hash, or is not told yet."),
                "published": text(about="The hash of the secret in the first entry. Compare it with the one that you noted."),
                "dice": ids(
                    [VERIFIED, PARTLY, UNDISCLOSED],
                    "Whether all draws were checked, some, or none because the secret is not told yet.",
                ),
                "revisions": listing(COUNT, about="The revisions of the rules that the entries name."),
                "rules": listing(CONTENT_HASH, about="The content hashes of the rules that the entries name."),
                "rules_here": described(CONTENT_HASH, "The content hash of the rules of this server."),
                "replayed_only": described(
                    COUNT, "How many entries were replayed but not decided again, because of other rules or an unpublished secret."
                ),
                "origin": nullable(
                    ids(
                        [VERIFIED, TRUSTED],
                        "Whether the position from which a practice match began was compared with that of its origin, or was taken on "
                        "trust because that match was not at hand. null for any other match.",
                    )
                ),
                "findings": listing(ref("Finding"), about="Everything that is wrong. Empty if all is well."),
            },
            "The report of an audit.",
        ),
    }


def _analysis(games: Mapping[str, Game]) -> dict[str, Shape]:
    return {
        "Analysis": _by_game(games, "Analysis", "The analysis of a match that is over."),
        "AnalysisWaiting": record(
            {
                "match": MATCH_ID,
                "game": GAME_ID,
                "level": text(about="The level of play that judges."),
                "version": described(VERSION, "The version up to which its decisions are judged."),
                "versions": described(VERSION, "How many versions the match has."),
            },
            "An analysis that is being made.",
        ),
        "Analyst": record(
            {
                "level": text(about="The level of play that has judged."),
                "players": described(COUNT, "The revision of the artificial players. It rises when a level answers otherwise."),
                "weights": described(DIGEST, "The digest of their plans and weights for the game."),
            },
            "What has judged the decisions of a match.",
        ),
        "SeatAnalysis": record(
            {
                "decisions": described(COUNT, "Its decisions between several actions."),
                "agreed": described(COUNT, "Those in which it did what the level would have done, or something as good."),
                "lost": unchecked({"type": "number", "minimum": 0}, "The sum of its losses."),
                "greatest": described(SHARE, "The greatest of them."),
            },
            "The decisions of a seat in figures.",
        ),
        "TurningPoint": record(
            {
                "version": described(VERSION, "The version of the decision."),
                "kind": ids(["error", "lead"], "`error`: one of the greatest losses. `lead`: another seat became the expected winner."),
                "seat": described(SEAT, "The seat that lost so much, or that became the expected winner."),
                "loss": optional(described(SHARE, "The loss, of an error.")),
                "from": optional(described(SEAT, "The expected winner before.")),
            },
            "A place where the match turned.",
        ),
    }


def _server(games: Mapping[str, Game]) -> dict[str, Shape]:
    return {
        **_analysis(games),
        "Health": record({"status": ids(["ok"], "Always `ok`.")}, "All is well."),
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
        "Limits": record({"limits": listing(ref("Limit"), about="Every limit.")}, "The limits of this server."),
        "ServerKey": record(
            {
                "id": text("^[0-9a-f]{8}$", "The id of the key, as in the signatures by it."),
                "vkey": text(about="The key as C2SP signed-note has it: the name, the id, and the public key."),
                "from": described(TIME, "Since when it signs, in milliseconds since 1970-01-01T00:00Z."),
                "until": nullable(described(TIME, "Until when it was the newest key; null for the newest one.")),
            },
            "A key with which the server signs, or has signed.",
        ),
        "ServerKeys": record(
            {
                "name": text(about="The name of the server. All that it signs has this name."),
                "keys": listing(ref("ServerKey"), about="Every key, the oldest first."),
            },
            "The keys of the server.",
        ),
        "Readiness": record(
            {
                "status": ids(["ok"], "Always `ok`."),
                "lost": optional(_lost()),
                "log_stopped": optional(
                    record(
                        {
                            "why": ids(["older", "forked", "unreadable"], "What is wrong."),
                            "signed": whole(0, about="How many leaves of the log were signed."),
                            "stored": whole(0, about="How many the store has."),
                        },
                        "The log of the server stands: the store does not continue what was signed, as after a backup was restored.",
                    )
                ),
                "rules_missing": optional(
                    listing(
                        record(
                            {
                                "game": text(about="The game."),
                                "revision": whole(1, about="The revision of its rules."),
                                "matches": whole(1, about="How many running matches began with it. They wait for it."),
                            },
                            "A revision of rules that this server does not have.",
                        ),
                        about="Rules that running matches need and this server does not have.",
                    )
                ),
            },
            "The store can read and write.",
        ),
        "Problem": _problem(games),
        "ProblemCode": ids(CODES, "Why the platform refuses."),
        "ProblemKind": record(
            {
                "code": described(ref("ProblemCode"), "The code, which is stable."),
                "status": whole(400, 599, "The HTTP status."),
                "title": text(about="A short title."),
                "detail": text(about="A sentence. The names in braces are facts of the case."),
            },
            "One kind of problem: its status, its title and its sentence.",
        ),
        "ProblemKinds": record({"problems": listing(ref("ProblemKind"), about="Every kind.")}, "Every kind of problem."),
    }


def _lost() -> Shape:
    fields = {
        "entries": whole(0, about="How many entries are lost."),
        "matches": whole(0, about="Of how many matches."),
        "players": whole(0, about="How many players are lost, as far as it is known."),
        "bytes_cut": whole(0, about="How many bytes were cut off the damaged end of the store's file."),
        "since": whole(0, about="When the first of these losses was found, in milliseconds since 1970."),
    }
    return record(fields, "What the store has lost, until an operator has accepted that.")


def _by_game(games: Mapping[str, Game], name: str, about: str) -> Shape:
    return union({game: f"{camel(game)}{name}" for game in games}, about, "game")


def _standing(games: Mapping[str, Game]) -> dict[str, Shape]:
    return {
        "id": MATCH_ID,
        "game": ids(games, "The game of the match."),
        "status": STATUS,
        "created": described(TIME, "When it was created, in milliseconds since 1970-01-01T00:00Z."),
        "creator": described(PLAYER_ID, "The player who created it."),
        "rematch_of": nullable(described(MATCH_ID, "The match of which it is the rematch; null if it is none.")),
        "practice": flag("Whether it is for practice: it began from a position of another match, and counts for nobody's results."),
        "origin": nullable(described(ref("Origin"), "From where it began; null if it began with the first document of its game.")),
        "clock": described(ref("Clock"), "The clock of each seat."),
        "time_out": nullable(described(ref("TimeOutSettings"), "What a time-out does; null without a clock.")),
        "spectators": described(ref("Spectators"), "What spectators see of play before the match is over."),
        "revision": described(COUNT, "The revision of the game's rules that the match began with."),
        "options": anything("The options of the match, defaults filled in."),
        "order": listing(SEAT, about="The seats in turn order."),
        "seats": mapping(ANY_TEXT, ref("Occupant"), "Who has each seat."),
        "invited": mapping(ANY_TEXT, PLAYER_ID, "For whom an open seat is kept; other seats are left out."),
        "expires": nullable(
            described(
                TIME,
                "When the match is removed, unless it starts before, in milliseconds since 1970-01-01T00:00Z; null once it has started.",
            )
        ),
        "code_needed": flag("Whether a code is needed to take an open seat that is kept for nobody."),
        "round": ROUND,
        "phase": PHASE,
        "active": ACTIVE,
        "to_act": listing(
            ANY_TEXT,
            about="The actors who must decide now: seats or `system`. Empty while a seat is open and when the match has ended.",
        ),
        "outcome": OUTCOME,
        "commitment": described(DIGEST, "SHA-256 of the match's secret, in hex. It was published before anybody joined."),
        "secret": nullable(described(DIGEST, "The secret in hex; null until the match has ended.")),
        **AT_TABLE,
    }


def _problem(games: Mapping[str, Game]) -> Shape:
    codes = either(
        ref("ProblemCode"), *(ref(f"{camel(game)}RefusalCode") for game in games), about="The code is stable. Programs should act on it."
    )
    error = record(
        {"where": text(about="The place, as a JSON Pointer."), "what": text(about="What is wrong there.")},
        "What is wrong in one place.",
    )
    return record(
        {
            "type": unchecked({"type": "string", "format": "uri-reference"}, "The address that explains this kind of problem."),
            "title": text(about="A short title of this kind of problem."),
            "status": whole(400, 599, "The HTTP status."),
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
