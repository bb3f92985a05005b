"""The limits of the service, in one table. The settings, `/v1/limits`, a table in docs/operating.md and the throttle use it.

A limit with a window is a leaky bucket: it holds `amount`, and used amounts come back evenly, all of them within `seconds`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from events.hooks.deliveries import KEPT
from events.hooks.pace import MESSAGES, MESSAGES_SECONDS
from events.hooks.subscriptions import MOST_HOOKS
from events.lists import LONGEST_PAGE
from events.play import LONGEST_LIST
from events.signing_keys import MOST_SIGNING_KEYS
from table.data import MOST_TAGS

PREFIX = "WARLEDGER_LIMIT_"
LONGEST_NAME = 64
LONGEST_READ = 1000
LARGEST_ROUND = 32
LONGEST_REPLAY = 100
SCOPES = ("player", "address", "prefix", "process", "request")
CPU = "milliseconds of CPU time"
UNITS = (
    *("requests", CPU, "players", "matches", "hooks", "messages", "streams", "bytes", "characters", "actions", "entries", "frames"),
    *("tags", "keys"),
)


class Limit(NamedTuple):
    """A row of the table: at most `amount` of a unit within `seconds`. Without `seconds`: at the same time, or in one request.

    Scopes: `player`, all keys of a player together; `address`, an IPv4 address or an IPv6 /64 network; `prefix`, an IPv4 /24 or an IPv6 /48
    network; `process`, each web process; `request`, each request. `field`: the field of `Settings` that has the amount, if the limit has no
    setting of its own.
    """

    name: str
    scope: Literal["player", "address", "prefix", "process", "request"]
    amount: int
    seconds: int | None
    unit: str
    about: str
    field: str | None = None
    fixed: bool = False

    @property
    def setting(self) -> str | None:
        """The environment variable that sets the amount, or None."""
        if self.fixed:
            return None
        return f"WARLEDGER_{self.field.upper()}" if self.field else f"{PREFIX}{self.name.upper()}"


LIMITS: tuple[Limit, ...] = (
    Limit("requests", "player", 10_000, 10, "requests", "Requests with a key with the scope `play`, other than actions."),
    Limit("actions", "player", 5000, 10, "requests", "`POST …/actions`."),
    Limit(
        "actions_floor", "player", 100, 10, "requests",
        "`POST …/actions` even after all else is used up. With a key with the scope `play`, an action below this rate is never refused.",
    ),
    Limit("anonymous", "address", 5000, 10, "requests", "Requests without a key with the scope `play`."),
    Limit("address", "address", 20_000, 10, "requests", "All requests of an address, with and without keys."),
    Limit("cpu", "player", 8000, 10, CPU, "What `requests`, `actions`, streams and long polls have used. It is counted afterwards."),
    Limit("anonymous_cpu", "address", 5000, 10, CPU, "The same for `anonymous` requests."),
    Limit("address_cpu", "address", 15_000, 10, CPU, "The same for all requests of an address."),
    Limit("probes", "address", 2000, 10, "requests", "`/healthz` and `/readyz`. They count towards no other limit."),
    Limit("metrics", "address", 200, 10, "requests", "`/metrics`. It counts towards no other limit."),
    Limit("audits", "address", 300, 60, "requests", "Audits, records and dossiers of matches."),
    Limit("bulk", "address", 600, 60, "requests", "Parts of bulk files."),
    Limit("drawings", "address", 3000, 60, "requests", "Pages of frames, tries, and answers of `why`."),
    Limit("hints", "player", 600, 3600, "requests", "New hints."),
    Limit("hints_at_once", "player", 4, None, "requests", "Hints that the player waits for."),
    Limit("analyses", "player", 30, 3600, "requests", "New analyses."),
    Limit("analyses_at_once", "player", 2, None, "requests", "Analyses that the player waits for."),
    Limit("puzzles", "player", 10, 86_400, "requests", "New puzzles."),
    Limit("puzzle_tries", "player", 200, 3600, "requests", "Tries of puzzles that nobody has tried lately, so that a worker judges them."),
    Limit("puzzles_at_once", "player", 2, None, "requests", "New puzzles and tries for which the player waits."),
    Limit("disputes", "player", 30, 3600, "requests", "New disputes."),
    Limit("disputed_matches", "player", 20, None, "matches", "Matches with a dispute of the player that is not settled."),
    Limit("phrases", "player", 20, 300, "requests", "Set phrases."),
    Limit("players", "address", 1000, 3600, "players", "New players."),
    Limit("matches", "player", 2000, 3600, "matches", "New matches of a player."),
    Limit("address_matches", "address", 5000, 3600, "matches", "New matches of an address."),
    Limit(
        "address_searching_matches", "address", 60, 3600, "matches",
        "New matches of an address in which a level that searches has a seat or may replace a player.",
    ),
    Limit("open_matches", "player", 200, None, "matches", "Matches that the player has created and that still have an open seat."),
    Limit("ai_matches", "player", 500, None, "matches", "Running matches between artificial players alone that the player has created."),
    Limit(
        "searching_matches", "player", 20, None, "matches",
        "Unfinished matches that the player has created, in which a level that searches has a seat or may replace a player.",
    ),
    Limit("unfinished_matches", "player", 2000, None, "matches", "Unfinished matches that the player has created."),
    Limit(
        "short_clock_matches", "player", 500, None, "matches",
        "Unfinished matches that the player has created, with a clock below 60 seconds and a time-out that skips or brings a substitute. "
        "Their time-outs use the player's share of the workers, and come late beyond it.",
    ),
    Limit("practice_matches", "player", 100, None, "matches", "Unfinished practice matches that the player has created."),
    Limit("forks", "player", 300, 3600, "matches", "New practice matches of a player."),
    Limit("hooks", "player", MOST_HOOKS, None, "hooks", "Webhooks of a player.", fixed=True),
    Limit("new_hooks", "address", 200, 3600, "hooks", "New webhooks of players at an address."),
    Limit("hook_calls", "player", 300, 3600, "requests", "Test messages of webhooks, and messages to send again."),
    Limit(
        "hook_messages", "player", MESSAGES, MESSAGES_SECONDS, "messages", "Messages of the webhooks of a player. More of them wait.",
        fixed=True,
    ),
    Limit("hook_deliveries", "player", KEPT, None, "messages", "Deliveries of a webhook that are listed, the newest.", fixed=True),
    Limit("signing_keys", "player", MOST_SIGNING_KEYS, None, "keys", "Signing keys of a player that are not revoked.", fixed=True),
    Limit("new_signing_keys", "player", 20, 3600, "keys", "New signing keys of a player. Each brings two leaves to the log at most."),
    Limit("address_signing_keys", "address", 1000, 3600, "keys", "New signing keys of players at an address."),
    Limit("streams", "process", 4096, None, "streams", "Open streams and long polls.", field="streams"),
    Limit("streams_per_key", "player", 128, None, "streams", "Open streams and long polls of one player.", field="streams_per_key"),
    Limit("streams_per_address", "address", 1024, None, "streams", "Open streams and long polls.", field="streams_per_address"),
    Limit("streams_per_prefix", "prefix", 2048, None, "streams", "Open streams and long polls.", field="streams_per_prefix"),
    Limit("body", "request", 65_536, None, "bytes", "The body.", field="body_limit"),
    Limit("header", "request", 4096, None, "bytes", "The value of a header; the path; the query.", field="header_limit"),
    Limit("name", "request", LONGEST_NAME, None, "characters", "The name of a player or a match.", fixed=True),
    Limit("round", "request", LARGEST_ROUND, None, "matches", "Matches of a round, created in one request.", fixed=True),
    Limit("tags", "request", MOST_TAGS, None, "tags", "Tags of a match.", fixed=True),
    Limit("list", "request", LONGEST_LIST, None, "actions", "Actions in one list.", fixed=True),
    Limit("entries_page", "request", LONGEST_READ, None, "entries", "Entries in one page.", fixed=True),
    Limit("frames_page", "request", LONGEST_REPLAY, None, "frames", "Frames in one page.", fixed=True),
    Limit("matches_page", "request", LONGEST_PAGE, None, "matches", "Matches, or players with ratings, in one page.", fixed=True),
)  # fmt: skip

BY_NAME: Mapping[str, Limit] = {limit.name: limit for limit in LIMITS}

OWN = tuple(limit for limit in LIMITS if not limit.fixed and limit.field is None)
"""The limits with a setting of their own. The amount 0 turns such a limit off."""

AMOUNTS: Mapping[str, int] = MappingProxyType({limit.name: limit.amount for limit in OWN})
NO_LIMITS: Mapping[str, int] = MappingProxyType(dict.fromkeys(AMOUNTS, 0))


class Used(NamedTuple):
    """How much of a limit is left, and in how many seconds all of it is back. If `refused`: in how many seconds to try again."""

    limit: Limit
    amount: int
    left: int
    seconds: int
    refused: bool = False

    def headers(self) -> list[tuple[str, str]]:
        """Return the headers of draft-ietf-httpapi-ratelimit-headers-11."""
        name = f'"{self.limit.name}"'
        if self.limit.seconds is None:
            return [("RateLimit-Policy", f"{name};q={self.amount}"), ("RateLimit", f"{name};r={self.left}")]
        policy = f"{name};q={self.amount};w={self.limit.seconds}"
        return [("RateLimit-Policy", policy), ("RateLimit", f"{name};r={self.left};t={self.seconds}")]


def amount_of(limit: Limit, amounts: Mapping[str, int], fields: Any) -> int | None:
    """Return the amount of a limit, or None if it is off. `amounts`: of the limits in `OWN`. `fields`: the settings of the service."""
    if limit.fixed:
        return limit.amount
    if limit.field is not None:
        return int(getattr(fields, limit.field))
    return amounts[limit.name] or None


def published(amounts: Mapping[str, int], fields: Any) -> list[dict[str, Any]]:
    """Return every limit as `/v1/limits` shows it."""
    return [
        {
            "name": limit.name,
            "scope": limit.scope,
            "amount": amount_of(limit, amounts, fields),
            "unit": limit.unit,
            "seconds": limit.seconds,
            "about": limit.about,
        }
        for limit in LIMITS
    ]


def documented() -> Iterator[str]:
    """Yield the lines of the table of limits in docs/operating.md."""
    yield "| limit | of each | default | setting | what |"
    yield "| --- | --- | --- | --- | --- |"
    for limit in LIMITS:
        window = f" in {limit.seconds:,} s" if limit.seconds else ""
        setting = f"`{limit.setting}`" if limit.setting else "fixed"
        yield f"| `{limit.name}` | {limit.scope} | {limit.amount:,} {limit.unit}{window} | {setting} | {limit.about} |"
