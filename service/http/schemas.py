"""The marshmallow schemas of requests: queries and small bodies.

Shapes beside the views describe answers (`service/api/shapes.py`). Answers never pass through a schema.
"""

from __future__ import annotations

import re
from typing import Any

from marshmallow import RAISE, Schema, ValidationError, fields, validate, validates_schema

from events.accounts import ROLES, SCOPES
from events.hooks import push
from events.hooks.addresses import LONGEST as LONGEST_URL
from events.hooks.subscriptions import OVERLAP
from events.hooks.subscriptions import ROLES as HOOK_ROLES
from events.lists import LONGEST_PAGE
from events.notary.bulk import PAGE as PARTS
from events.notary.server_log import PAGE as LEAVES
from events.store.queue.studies import ANALYSTS
from games import patterns
from games.picture import THEMES
from games.sentences import say
from record.notices import KINDS
from record.puzzles import DIFFICULTIES
from service.http import names
from service.http.limits import LARGEST_ROUND, LONGEST_NAME, LONGEST_READ, LONGEST_REPLAY
from table.data import LEVELS, MOST_TAGS
from web.languages import LANGUAGES
from web.look import AUTO, PHRASES
from web.picture import BOARD, PAGE, SHAPES, WIDE

# Characters that are invisible or reorder others: controls, formats, fillers, variation selectors, separators. The documented pattern
# leaves out those beyond U+FFFF: many tools read it in 16-bit units, and would find such ranges malformed.
_UNSEEN = (
    r"\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164"
    r"\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff"
)
_UNSEEN_BEYOND = re.compile("[\U00013430-\U00013440\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]")
_BLANK = r"\x20\xa0\u1680\u2000-\u200a\u202f\u205f\u3000"
NAME = f"[^{_UNSEEN}{_BLANK}](?:[^{_UNSEEN}]*[^{_UNSEEN}{_BLANK}])?"
LARGEST = 2**53 - 1
LONGEST_POINTER = 512
POINTER = "(?:/(?:[^/~]|~[01])*)*"
_LONGEST_PART = 100


class Pattern(validate.Regexp):
    """A pattern that the whole text must match. `$` alone would accept a final line end."""

    def __init__(self, pattern: str, error: str) -> None:
        super().__init__(patterns.anchored(pattern), error=error)

    def __call__(self, value: Any) -> Any:
        """Return the text. Raise ValidationError unless it matches."""
        if not self.regex.fullmatch(value):
            raise ValidationError(self._format_error(value))
        return value


class Visible(validate.Validator):
    """A text without the invisible characters beyond U+FFFF, which `NAME` does not cover."""

    def __call__(self, value: Any) -> Any:
        """Return the text. Raise ValidationError if it has such a character."""
        if _UNSEEN_BEYOND.search(value):
            raise ValidationError(f"{_NAME_RULE}.")
        return value


class Unlike(validate.Validator):
    """A name that cannot pass for another one by letters of several scripts in a word, or by marks that pile up."""

    def __call__(self, value: Any) -> Any:
        """Return the name. Raise ValidationError if it can."""
        if not names.unlike(value):
            raise ValidationError(f"{_LIKE_RULE}.")
        return value


_NAME_RULE = say("No invisible or directional characters, and no blank at either end")
_LIKE_RULE = say("The letters of a word are of one script, and have at most four marks, each once")
NAME_RULES = (validate.Length(1, LONGEST_NAME), Pattern(NAME, error=f"{_NAME_RULE}."), Visible(), Unlike())


class Whole(fields.Integer):
    """A whole number in a query: digits only, without a sign, a blank or a point."""

    def _validated(self, value: Any) -> Any:
        if not (isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 16):
            raise self.make_error("invalid", input=value)
        return super()._validated(value)


class Text(fields.String):
    """A string without NUL and without lone surrogates."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **more: Any) -> Any:
        text = super()._deserialize(value, attr, data, **more)
        if "\x00" in text:
            raise self.make_error("invalid")
        return text


class Flag(fields.Boolean):
    """True or false in JSON. Numbers and texts are refused."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **more: Any) -> Any:
        if not isinstance(value, bool):
            raise self.make_error("invalid", input=value)
        return value


class Switch(fields.Boolean):
    """`true` or `false` in a query. Other spellings are refused."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **more: Any) -> Any:
        if value not in ("true", "false"):
            raise self.make_error("invalid", input=value)
        return value == "true"


NUMBER = "[1-9][0-9]{0,14}"


_LATER = r"(?:\.[0-9a-z]{0,10}){0,1000}"  # by how much the place of each partition is later (events.lists.updates)


def _cursor(pattern: str = rf"{patterns.VERSION}\.{patterns.MATCH}", longest: int = 200) -> Text:
    """Return the field of a cursor. In lists of matches it is a moment and a match; in lists about one match it is a `NUMBER`."""
    return Text(
        validate=[validate.Length(1, longest), Pattern(pattern, error="The `next` of an answer.")],
        metadata={"description": "Where to continue: the `next` of the previous page."},
    )


def _name(about: str) -> Text:
    """Return the field of a name."""
    about += " It has no invisible or directional characters, no blanks at its ends, and letters of one script in a word."
    return Text(required=True, validate=NAME_RULES, metadata={"description": about})


class PlayerBody(Schema):
    """A new player."""

    class Meta:
        """Unknown fields are refused."""

        unknown = RAISE

    name = _name("It is public, and need not be unique.")
    # The default is documented in words: client generators treat a property with a `default` as required.
    role = Text(
        validate=validate.OneOf(ROLES),
        metadata={"description": "Default: `player`. `referee` and `admin` need the admin key."},
    )


class NameBody(Schema):
    """The new name of a player."""

    class Meta:
        """Unknown fields are refused."""

        unknown = RAISE

    name = _name("It is public, and need not be unique.")


class RoleBody(Schema):
    """The new role of a player."""

    class Meta:
        """Unknown fields are refused."""

        unknown = RAISE

    role = Text(required=True, validate=validate.OneOf(ROLES), metadata={"description": "What the player may see and audit."})


class KeyBody(Schema):
    """A new key."""

    class Meta:
        """Unknown fields are refused."""

        unknown = RAISE

    name = _name("What the key is for. Only its player and the owner of the admin key see it.")
    scopes = fields.List(
        Text(validate=validate.OneOf(SCOPES)),
        required=True,
        validate=validate.Length(1, len(SCOPES)),
        metadata={
            "description": "What the key may do. `play` and `referee` include `read`. A key can only create keys with scopes that it has."
        },
    )


class SigningKeyBody(Schema):
    """A signing key of yours, with the proof that you have it."""

    class Meta:
        """Unknown fields are refused."""

        unknown = RAISE

    key = Text(
        required=True,
        validate=Pattern(patterns.SIGNING_KEY, error="It must be 32 bytes in base64."),
        metadata={"description": "The public key (Ed25519), in base64."},
    )
    name = _name("What the key is for. Only you see it.")
    signature = Text(
        required=True,
        validate=Pattern(patterns.SIGNATURE, error="It must be 64 bytes in base64."),
        metadata={"description": r"The key's signature, in base64, over `warledger.org/signing-key/v1\n<your id>\n<key>\n`."},
    )


def _kinds(required: bool) -> fields.List:
    """Return the field of the kinds of events that a hook sends."""
    metadata = {"description": "The kinds of events that it sends."}
    return fields.List(Text(validate=validate.OneOf(KINDS)), required=required, validate=validate.Length(1, len(KINDS)), metadata=metadata)


_URL = {"description": "Where it sends them: `https://` and a public host. The server may permit other hosts."}


class Point(validate.Validator):
    """A point of P-256 as browsers give it."""

    def __call__(self, value: Any) -> Any:
        """Return the text. Raise ValidationError unless it is one."""
        if not push.is_point(value):
            raise ValidationError("A point of P-256, uncompressed, in base64url without padding.")
        return value


class PushBody(Schema):
    """The keys of a push subscription, as `PushSubscription.toJSON()` gives them."""

    class Meta:
        """Unknown fields are refused."""

        unknown = RAISE

    p256dh = Text(
        required=True,
        validate=[Pattern("[A-Za-z0-9_-]{87}", error="65 bytes in base64url."), Point()],
        metadata={"description": "Its public key."},
    )
    auth = Text(
        required=True, validate=Pattern("[A-Za-z0-9_-]{22}", error="16 bytes in base64url."), metadata={"description": "Its secret."}
    )


class HookBody(Schema):
    """A new webhook."""

    class Meta:
        """Unknown fields are refused."""

        unknown = RAISE

    url = Text(required=True, validate=validate.Length(1, LONGEST_URL), metadata=_URL)
    kinds = _kinds(required=True)
    role = Text(
        validate=validate.OneOf(HOOK_ROLES),
        metadata={
            "description": "`player`, the default: what you are told. `organiser`: what is told in matches that you created, as far as you "
            "may know it."
        },
    )
    match = Text(validate=Pattern(patterns.MATCH, error="The id of a match."), metadata={"description": "Only events of this match."})
    push = fields.Nested(PushBody, metadata={"description": "The keys of a push subscription, for whose browser messages are encrypted."})


class HookChangeBody(Schema):
    """What a webhook is to have."""

    class Meta:
        """Unknown fields are refused."""

        unknown = RAISE

    url = Text(validate=validate.Length(1, LONGEST_URL), metadata=_URL)
    kinds = _kinds(required=False)
    on = Flag(metadata={"description": "Whether it sends anything. What happens while it is off is never sent."})


class HookRotationBody(Schema):
    """How a webhook gets another secret."""

    class Meta:
        """Unknown fields are refused."""

        unknown = RAISE

    overlap = fields.Integer(
        strict=True,
        validate=validate.Range(0, OVERLAP),
        metadata={"description": "For so many seconds the old secret signs, too; a day by default."},
    )


class ConfirmQuery(Schema):
    """The query of a request that deletes the caller."""

    confirm = Text(
        required=True,
        validate=Pattern(patterns.PLAYER, error="The id of a player."),
        metadata={"description": "Your own id, so that nobody is deleted by mistake."},
    )


A_TAG = Pattern(patterns.TAG, error="1 to 40 lower-case letters, digits, dots, hyphens and underscores; the first is a letter or a digit.")


class MatchBody(Schema):
    """A new match, a fork, or a guided match. The table checks the order and the settings; the game checks the options."""

    game = Text()
    guide = Text()
    fork_of = Text(validate=Pattern(patterns.MATCH, error="The id of a match."))
    at = fields.Integer(strict=True, validate=validate.Range(1, LARGEST))
    seats = fields.Dict(keys=Text(), values=Text(), validate=validate.Length(1, 16))
    options = fields.Dict(keys=Text(), values=fields.Raw(allow_none=True))
    profile = Text()
    order = fields.List(Text(), validate=validate.Length(0, 16))
    code = Flag(load_default=False)
    clock = fields.Dict(keys=Text(), values=fields.Raw(allow_none=True))
    time_out = fields.Dict(keys=Text(), values=fields.Raw(allow_none=True))
    spectators = fields.Raw()
    dispute_days = fields.Integer(strict=True)
    signed = fields.Raw()
    rated = Flag(validate=validate.Equal(True))
    name = Text(validate=NAME_RULES)
    tags = fields.List(Text(validate=A_TAG), validate=validate.Length(0, MOST_TAGS))

    @validates_schema
    def _check_kind(self, given: dict[str, Any], **_: Any) -> None:
        """Raise ValidationError unless the fields are those of a new match, of a fork, or of a guided match, which has one field.

        A fork already has its game and options.
        """
        needed: tuple[str, ...] = ()
        foreign: tuple[str, ...]
        if "guide" in given:
            foreign = tuple(given.keys() - {"guide", "code"})
        elif "fork_of" in given:
            needed, foreign = ("fork_of", "at"), ("game", "options", "profile", "order", "rated")
        else:
            needed, foreign = ("game", "seats"), ("at",)
        wrong = {name: ["Missing data for required field."] for name in needed if name not in given}
        wrong |= {name: ["Unknown field."] for name in foreign if name in given}
        if wrong:
            raise ValidationError(wrong)


class RoundBody(Schema):
    """Several new matches."""

    class Meta:
        """Unknown fields are refused."""

        unknown = RAISE

    matches = fields.List(fields.Nested(MatchBody), required=True, validate=validate.Length(1, LARGEST_ROUND))


class SeatBody(Schema):
    """The body of a request that takes a seat."""

    class Meta:
        """Unknown fields are refused."""

        unknown = RAISE

    contribution = Text(
        validate=Pattern(patterns.CONTRIBUTION, error="It must be 1 to 64 bytes in lower-case hex."),
        metadata={
            "description": "Bytes in lower-case hex that go into the dice of the match, so that the server alone cannot choose them "
            "(docs/auditing.md)."
        },
    )
    code = Text(
        validate=Pattern(patterns.JOIN_CODE, error="It must be 16 lower-case letters or digits from 2 to 7."),
        metadata={"description": "The code of the match, if it needs one and the seat is not kept for you. Its creator has it."},
    )


class PhraseBody(Schema):
    """A set phrase."""

    class Meta:
        """Unknown fields are refused."""

        unknown = RAISE

    phrase = Text(required=True, validate=validate.OneOf(PHRASES), metadata={"description": "What to say."})


class TextBody(Schema):
    """A text about a dispute. The table checks the text."""

    class Meta:
        """Unknown fields are refused."""

        unknown = RAISE

    text = Text(required=True)


class DisputeBody(TextBody):
    """A dispute about a version of a match."""

    version = fields.Integer(required=True, strict=True, validate=validate.Range(1, LARGEST))
    field = Text()


class RulingBody(TextBody):
    """A ruling on a dispute. The table checks the verdict and the remedy."""

    verdict = Text(required=True)
    remedy = Text()
    seat = Text()
    version = fields.Integer(strict=True, validate=validate.Range(1, LARGEST))


PLAYER_OR_ME = Pattern(f"me|{patterns.PLAYER}", error="The id of a player, or `me`.")


class MatchesQuery(Schema):
    """The query of the list of matches."""

    game = Text(metadata={"description": "Only matches of this game."})
    status = Text(
        validate=validate.OneOf(["open", "playing", "over", "closed"]), metadata={"description": "Only matches with this status."}
    )
    player = Text(validate=PLAYER_OR_ME, metadata={"description": "Only matches in which this player has a seat. `me`: you."})
    invited = Text(
        validate=PLAYER_OR_ME,
        metadata={"description": "Only matches with an open seat that is kept for this player. `me`: you."},
    )
    to_act = Text(validate=PLAYER_OR_ME, metadata={"description": "Only matches in which this player must act. `me`: you."})
    creator = Text(validate=PLAYER_OR_ME, metadata={"description": "Only matches that this player has created. `me`: you."})
    tag = Text(validate=A_TAG, metadata={"description": "Only matches with this tag."})
    updated_since = Text(
        validate=[
            validate.Length(1, 4000),
            Pattern(f"{patterns.VERSION}{_LATER}", error="Milliseconds since 1970, or an `updated_until`."),
        ],
        metadata={
            "description": "With `creator=me`: only matches that have changed since, the earliest change first. It is a moment, in "
            "milliseconds since 1970, or the `updated_until` of an earlier answer."
        },
    )
    sort = Text(
        validate=validate.OneOf(["deadline"]),
        metadata={
            "description": "`deadline`: only matches in which you must act, your earliest deadline first, matches without one last. "
            "Default: newest first."
        },
    )
    practice = Switch(
        metadata={"description": "`true`: only practice matches. `false`: only other matches."},
    )
    limit = Whole(
        load_default=50, validate=validate.Range(1, LONGEST_PAGE), metadata={"description": "The largest number of matches to return."}
    )
    cursor = _cursor(rf"{patterns.VERSION}(?:\.{patterns.MATCH}|{_LATER})", 4000)

    @validates_schema
    def _check_updates(self, given: dict[str, Any], **_: Any) -> None:
        """Raise ValidationError unless a query for changes is about the caller's own matches, in their own order."""
        if "updated_since" in given and (given.get("creator") != "me" or "sort" in given):
            raise ValidationError({"updated_since": ["It needs `creator=me`, and has an order of its own."]})


class RatingsQuery(Schema):
    """The query of the ratings of a game."""

    game = Text(required=True, metadata={"description": "The game."})
    limit = Whole(load_default=50, validate=validate.Range(1, LONGEST_PAGE), metadata={"description": "The largest number to return."})
    cursor = _cursor(rf"-?[0-9]{{1,6}}\.{patterns.PLAYER}")


class PuzzleQuery(Schema):
    """The query of a new puzzle."""

    version = Whole(
        required=True, validate=validate.Range(2, LARGEST), metadata={"description": "The version of the decision, as in the analysis."}
    )


class PuzzlesQuery(Schema):
    """The query of a list of puzzles."""

    game = Text(metadata={"description": "Only of this game."})
    difficulty = Text(validate=validate.OneOf(DIFFICULTIES), metadata={"description": "Only of this difficulty."})
    limit = Whole(load_default=50, validate=validate.Range(1, LONGEST_PAGE), metadata={"description": "The largest number to return."})
    cursor = _cursor(rf"{patterns.VERSION}\.{patterns.PUZZLE}")


class PuzzlesPageQuery(Schema):
    """The query of the page of puzzles."""

    game = Text()
    difficulty = Text(validate=validate.OneOf(DIFFICULTIES))
    cursor = _cursor(rf"{patterns.VERSION}\.{patterns.PUZZLE}")


class DisputesQuery(Schema):
    """The query of the disputes of a match."""

    case = Whole(validate=validate.Range(1, 999), metadata={"description": "The number of a dispute: tell its `case`, too."})


class DeskQuery(Schema):
    """The query of the referees' desk."""

    open = Switch(load_default=True, metadata={"description": "`true`: only disputes that wait for a ruling. `false`: all disputes."})
    limit = Whole(
        load_default=50, validate=validate.Range(1, LONGEST_PAGE), metadata={"description": "The largest number of matches to search."}
    )
    cursor = _cursor()


VIEWER = {
    "description": "Whose view to show: a seat, `spectator` or `auditor`. Default: your seat (of several, the one that must act), else "
    "`spectator`."
}
PROOF = {"description": "`true`: add to each entry what you need to compute its digest from what you see (docs/auditing.md)."}
SHAPE = {"description": "`wide`: panels beside the board. `tall`: panels below it, for narrow windows."}
SHEETS = {"description": f"{SHAPE['description']} `page`: a narrow heading and panels for your own layout."}
VIEWER_ID = Pattern(patterns.SEAT, error="A seat, `spectator` or `auditor`.")


class MatchPageQuery(Schema):
    """The query of the page of a match, as its links make it. `part`: its table alone, while it waits for players."""

    part = Text(load_default="", validate=validate.OneOf(["", "table"]))
    at = Whole(validate=validate.Range(1, LARGEST))
    viewer = Text(validate=VIEWER_ID)


class WordsQuery(Schema):
    """The query of the words of a match."""

    viewer = Text(validate=VIEWER_ID)


class EmbedQuery(Schema):
    """The query of oEmbed."""

    url = Text(required=True, validate=validate.Length(1, 2000))
    format = Text(load_default="json", validate=validate.OneOf(["json"]))
    maxwidth = Whole(load_default=LARGEST, validate=validate.Range(1, LARGEST))
    maxheight = Whole(load_default=LARGEST, validate=validate.Range(1, LARGEST))


class LobbyQuery(Schema):
    """The query of the lobby, as its links make it."""

    game = Text(load_default="")
    status = Text(load_default="", validate=validate.OneOf(["", "open", "playing", "over"]))
    mine = Switch(load_default=False)
    invited = Switch(load_default=False)
    part = Text(load_default="", validate=validate.OneOf(["", "list", "form"]))
    new = Text(load_default="")
    invite = Text(load_default="")
    cursor = _cursor()


class PlayerPageQuery(Schema):
    """The query of the page of a player, as its links make it: of older matches that go on, or that are over."""

    status = Text(load_default="over", validate=validate.OneOf(["playing", "over"]))
    cursor = _cursor()


class StateQuery(Schema):
    """The query of a state: its version and its viewer."""

    at = Whole(validate=validate.Range(1, LARGEST), metadata={"description": "The version to show. Default: the newest."})
    viewer = Text(validate=VIEWER_ID, metadata=VIEWER)


class DossierQuery(Schema):
    """The query of a dossier: its viewer."""

    viewer = Text(
        validate=VIEWER_ID,
        metadata={
            "description": "`all` for everything, a seat, or `spectator`. Default: `all` if you may have it, else as for `get_state`."
        },
    )


def _exists(language: str) -> None:
    """Check a language. Those that exist are no part of the description, since more may come."""
    if language not in LANGUAGES:
        raise ValidationError(f"Must be one of: {', '.join(LANGUAGES)}.")


class PictureQuery(StateQuery):
    """The query of a picture: its version, its viewer, its shape and its colours."""

    shape = Text(
        load_default=WIDE,
        validate=validate.OneOf((*SHAPES, BOARD)),
        metadata={"description": f"{SHAPE['description']} `board`: the board alone."},
    )
    theme = Text(
        load_default=AUTO,
        validate=validate.OneOf((AUTO, *THEMES)),
        metadata={"description": "The colours. `auto`: light or dark, as the reader prefers."},
    )
    language = Text(load_default=None, validate=_exists, metadata={"description": "Of its words, instead of `Accept-Language`."})


class WhyQuery(StateQuery):
    """The query of `get_why`: the field, the newest version to search, and the viewer."""

    pointer = Text(
        required=True,
        validate=[validate.Length(0, LONGEST_POINTER), Pattern(POINTER, error="A JSON Pointer (RFC 6901).")],
        metadata={"description": "The field, as a JSON Pointer into the `view` of `get_state`: `/regions/london/civilians`."},
    )
    cursor = _cursor(NUMBER)
    limit = Whole(
        load_default=20, validate=validate.Range(1, LONGEST_REPLAY), metadata={"description": "The largest number of entries to return."}
    )


class LookQuery(Schema):
    """The query of stylesheets and definitions of pictures: the look. A match has the look of the rules that it began with."""

    look = Text(
        validate=validate.Regexp("^[0-9a-f]{1,64}$"),
        metadata={"description": "The `look` of a keyframe. Default: the look of new matches."},
    )


class FramesQuery(Schema):
    """The query of frames: their versions, their viewer and their shape."""

    after = Whole(load_default=0, validate=validate.Range(0, LARGEST), metadata={"description": "Return frames after this version."})
    limit = Whole(
        load_default=50, validate=validate.Range(1, LONGEST_REPLAY), metadata={"description": "The largest number of frames to return."}
    )
    viewer = Text(validate=VIEWER_ID, metadata=VIEWER)
    shape = Text(load_default=WIDE, validate=validate.OneOf((*SHAPES, PAGE)), metadata=SHEETS)
    key = Switch(
        load_default=True,
        metadata={"description": "`true`: the first frame is a keyframe. `false`: it continues from the picture of version `after`."},
    )


class LeavesQuery(Schema):
    """The query of the leaves of a match."""

    cursor = _cursor(NUMBER)
    limit = Whole(
        load_default=LEAVES, validate=validate.Range(1, LEAVES), metadata={"description": "The largest number of leaves to return."}
    )


class BulkQuery(Schema):
    """The query of a bulk file."""

    cursor = _cursor(NUMBER)
    limit = Whole(load_default=PARTS, validate=validate.Range(1, PARTS), metadata={"description": "The largest number of parts to return."})


class ConsistencyQuery(Schema):
    """The query of a proof of consistency."""

    first = Whole(
        required=True, data_key="from", validate=validate.Range(0, LARGEST), metadata={"description": "The size of the smaller tree."}
    )
    second = Whole(
        required=True, data_key="to", validate=validate.Range(0, LARGEST), metadata={"description": "The size of the larger tree."}
    )


class SeatQuery(Schema):
    """The query that names one of the caller's seats."""

    seat = Text(
        validate=VIEWER_ID,
        metadata={"description": "Your seat, if you have several. Default: the one that must act, else the first."},
    )


class ChoicesQuery(SeatQuery):
    """The query of choices: the seat, and whether to list what is not possible, too."""

    blocked = Switch(
        load_default=False,
        metadata={"description": "Whether to list what belongs to the phase but is not possible, with the reasons: at most 50 actions."},
    )


class ActQuery(SeatQuery):
    """The query of actions: the seat, and whether to prove the entries."""

    proof = Switch(load_default=False, metadata=PROOF)


class HintQuery(SeatQuery):
    """The query of a hint: the seat, and the level that gives it."""

    level = Text(
        load_default="strong", validate=validate.OneOf(list(LEVELS)), metadata={"description": "The level of play that gives the hint."}
    )


class AnalysisQuery(Schema):
    """The query of an analysis: the level that judges."""

    level = Text(
        load_default="strong", validate=validate.OneOf(ANALYSTS), metadata={"description": "The level of play that rates the decisions."}
    )


class TriesQuery(SeatQuery):
    """The query of a try: the seat, and the shape of the picture."""

    shape = Text(load_default=WIDE, validate=validate.OneOf((*SHAPES, PAGE)), metadata=SHEETS)


class EntriesQuery(Schema):
    """The query of entries: their versions, their viewer, and how long to wait."""

    after = Whole(load_default=0, validate=validate.Range(0, LARGEST), metadata={"description": "Return entries after this version."})
    limit = Whole(
        load_default=100, validate=validate.Range(1, LONGEST_READ), metadata={"description": "The largest number of entries to return."}
    )
    wait = Whole(
        load_default=0,
        validate=validate.Range(0, 60),
        metadata={
            "description": "If there is no entry yet, wait up to this many seconds for one (long poll). The server may answer earlier "
            "without any. Then ask again."
        },
    )
    viewer = Text(validate=VIEWER_ID, metadata=VIEWER)
    proof = Switch(load_default=False, metadata=PROOF)


class PlayerStreamQuery(Schema):
    """The query of a player's own stream: its length, and which matches it follows."""

    created = Switch(
        load_default=False,
        metadata={"description": "Follow the matches that you have created, as their organiser, whether you have a seat in them or not."},
    )

    seconds = Whole(
        validate=validate.Range(0, 3600),
        metadata={
            "description": "End the stream after this many seconds. 0: send what waits for you, then end. Default: as long as the server "
            "allows."
        },
    )


class StreamQuery(Schema):
    """The query of a stream: its start, its viewer, and its length."""

    after = Whole(
        load_default=0,
        validate=validate.Range(0, LARGEST),
        metadata={"description": "Send entries after this version. `Last-Event-ID` overrides it."},
    )
    seconds = Whole(
        validate=validate.Range(0, 3600),
        metadata={
            "description": "End the stream after this many seconds. 0: send the entries that exist, then end. Default: as long as the "
            "server allows."
        },
    )
    viewer = Text(validate=VIEWER_ID, metadata=VIEWER)
    proof = Switch(load_default=False, metadata=PROOF)
    phrases = Switch(
        load_default=False,
        metadata={"description": "Hear set phrases, also after the end, if you have a seat."},
    )
    here = Switch(load_default=False, metadata={"description": "Be told who is there, about, and be counted."})


def reason_of(wrong: ValidationError) -> str:
    """Return the first of marshmallow's messages as the end of a sentence."""
    parts = []
    messages = wrong.normalized_messages()
    while isinstance(messages, dict) and messages:
        name, messages = next(iter(messages.items()))
        if name != "_schema":
            parts.append(str(name)[:_LONGEST_PART])
    first = messages[0] if isinstance(messages, list) and messages else messages
    what = str(first).rstrip(".")
    return say("{field}: {what}", field=".".join(parts), what=what) if parts else what
