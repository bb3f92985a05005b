"""What comes in, as marshmallow checks it: the queries and the small bodies.

What goes out is only described (service/shapes.py): an answer is written from the memory's own documents and is never taken through a
schema.
"""

from __future__ import annotations

from typing import Any

from marshmallow import RAISE, Schema, ValidationError, fields, validate

MATCH_ID = r"^m[a-z2-7]{16}$"
PLAYER_ID = r"^p[a-z2-7]{16}$"
NAME = r"^[^\x00-\x1f\x7f-\x9f]+$"
CONTRIBUTION = r"^([0-9a-f]{2})+$"
LARGEST = 2**53 - 1


class Pattern(validate.Regexp):
    """A pattern that the whole of a text has; `$` alone would pass over a line end after it."""

    def __call__(self, value: Any) -> Any:
        """The text, if it has the pattern. Raises ValidationError."""
        if not self.regex.fullmatch(value):
            raise ValidationError(self._format_error(value))
        return value


class Whole(fields.Integer):
    """A whole number in a query, written as plain digits: no sign, blank or point."""

    def _validated(self, value: Any) -> Any:
        if not (isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 16):
            raise self.make_error("invalid", input=value)
        return super()._validated(value)


class Text(fields.String):
    """A string that can be written down: no NUL, no half of a surrogate pair."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **more: Any) -> Any:
        text = super()._deserialize(value, attr, data, **more)
        if "\x00" in text:
            raise self.make_error("invalid")
        return text


class PlayerBody(Schema):
    """A player to be: a name, and a role that is more than a player's only by the admin key."""

    class Meta:
        """What is not known is refused."""

        unknown = RAISE

    name = Text(
        required=True,
        validate=[validate.Length(1, 64), Pattern(NAME, error="No control characters.")],
        metadata={"description": "Shown to everybody; need not be the only one of its kind."},
    )
    role = Text(
        load_default="player",
        validate=validate.OneOf(["player", "referee", "admin"]),
        metadata={"description": "`referee` and `admin` need the admin key."},
    )


class MatchBody(Schema):
    """A match to be. The seats' order is their order round the table; what the options may be is for the game to say."""

    game = Text(required=True)
    seats = fields.Dict(keys=Text(), values=Text(), required=True, validate=validate.Length(1, 16))
    options = fields.Dict(keys=Text(), values=fields.Raw(allow_none=True), load_default=dict)


class SeatBody(Schema):
    """What a seat may give when it is taken."""

    class Meta:
        """What is not known is refused."""

        unknown = RAISE

    contribution = Text(
        validate=[validate.Length(2, 128), Pattern(CONTRIBUTION, error="Pairs of hex digits, lower case.")],
        metadata={"description": "Bytes in hex that go into the dice of the match (docs/auditing.md), so that the server alone cannot."},
    )


class MatchesQuery(Schema):
    """Which matches to list."""

    game = Text(metadata={"description": "Of this game only."})
    status = Text(validate=validate.OneOf(["open", "playing", "over"]), metadata={"description": "Of this status only."})
    player = Text(
        validate=Pattern(rf"^me$|{PLAYER_ID}", error="The id of a player, or `me`."),
        metadata={"description": "Where this player holds a seat; `me` for the caller."},
    )
    to_act = Text(
        validate=Pattern(rf"^me$|{PLAYER_ID}", error="The id of a player, or `me`."),
        metadata={"description": "Where this player must act; `me` for the caller."},
    )
    limit = Whole(load_default=50, validate=validate.Range(1, 200), metadata={"description": "At most so many."})
    cursor = Text(
        validate=[validate.Length(1, 200), Pattern(r"^[0-9]{1,15}\.m[a-z2-7]{16}$", error="The `next` of an answer.")],
        metadata={"description": "Where to go on: the `next` of the answer before."},
    )


VIEWER = {
    "description": "Whose eyes: a seat, `spectator` or `auditor`. Default: your seat (of several, the one that must act), or `spectator`."
}
VIEWER_ID = Pattern(r"^[a-z][a-z0-9_]{0,31}$", error="A seat, `spectator` or `auditor`.")


class StateQuery(Schema):
    """Which version, and through whose eyes."""

    at = Whole(validate=validate.Range(1, LARGEST), metadata={"description": "At this version; default: now."})
    viewer = Text(validate=VIEWER_ID, metadata=VIEWER)


class SeatQuery(Schema):
    """Which of the caller's seats."""

    seat = Text(
        validate=VIEWER_ID,
        metadata={"description": "Which of your seats, if you hold several. Default: the one that must act, else the first."},
    )


class EntriesQuery(Schema):
    """Which entries, through whose eyes, and how long to wait for one."""

    after = Whole(load_default=0, validate=validate.Range(0, LARGEST), metadata={"description": "Entries after this version."})
    limit = Whole(load_default=100, validate=validate.Range(1, 1000), metadata={"description": "At most so many."})
    wait = Whole(
        load_default=0,
        validate=validate.Range(0, 60),
        metadata={
            "description": "If there is none yet, wait up to so many seconds for one (long poll). The server may end it sooner: ask again."
        },
    )
    viewer = Text(validate=VIEWER_ID, metadata=VIEWER)


class StreamQuery(Schema):
    """From where, through whose eyes, and for how long."""

    after = Whole(
        load_default=0,
        validate=validate.Range(0, LARGEST),
        metadata={"description": "Entries after this version; `Last-Event-ID` goes before it."},
    )
    seconds = Whole(
        validate=validate.Range(0, 3600),
        metadata={
            "description": "End the stream after so many seconds; 0: send what there is, and end. Default: as long as the server allows."
        },
    )
    viewer = Text(validate=VIEWER_ID, metadata=VIEWER)


def reason_of(wrong: ValidationError) -> str:
    """What marshmallow found, as the tail of a sentence."""
    parts = []
    messages = wrong.normalized_messages()
    while isinstance(messages, dict) and messages:
        name, messages = next(iter(messages.items()))
        if name != "_schema":
            parts.append(str(name))
    first = messages[0] if isinstance(messages, list) and messages else messages
    return f"{'.'.join(parts)}: {first}".rstrip(".") if parts else str(first).rstrip(".")
