"""The errors of the platform, except refusals by rules. Each has a stable code and a sentence. An error changes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from table.refusals import REFUSALS, Kind

MEMORY, DISK, AWAY = "memory", "disk", "away"  # why a server cannot write: it is full, or does not answer

ERRORS: Mapping[str, Kind] = {
    "bad_list": Kind(400, "Wrong list", "The list of actions is wrong: {reason}."),
    "bad_query": Kind(400, "Wrong query", "The query does not match its schema: {reason}."),
    "bad_key": Kind(401, "Unknown key", "No player has this key."),
    "signing_key_unknown": Kind(
        403, "Unknown signing key", "The player {player} has no signing key with these bytes that is valid. Register the key first."
    ),
    "scope_needed": Kind(403, "Scope needed", "This key does not have the scope {scope}."),
    "no_such_game": Kind(404, "No such game", "There is no game {game!r}. The games are {games}."),
    "no_such_key": Kind(404, "No such key", "The player has no key with this id."),
    "no_such_match": Kind(404, "No such match", "There is no match {match}."),
    "no_such_player": Kind(404, "No such player", "There is no player {player}."),
    "no_such_version": Kind(404, "No such version", "The match has the versions 1 to {last}. There is no version {version}."),
    "no_such_delivery": Kind(404, "No such delivery", "The hook has no delivery with this id among its newest ones."),
    "no_such_hook": Kind(404, "No such hook", "You have no hook with this id."),
    "no_bulk_file": Kind(
        404, "No such file", "There is no such part of a bulk file of {game} and {month}. `GET /v1/bulk` lists the files."
    ),
    "not_in_log": Kind(404, "Not in the log", "The log does not have this: {reason}."),
    "history_differs": Kind(
        409,
        "Other history",
        "The signature is over another digest of version {version} than the server has, {digest}. Keep what you were shown, and compare.",
    ),
    "signing_key_revoked": Kind(409, "Revoked", "You have revoked this key. Make another one."),
    "still_seated": Kind(
        409, "Still seated", "You have seats in more than {limit} matches that have not started; {limit} of them were left. Ask again."
    ),
    "hook_off": Kind(409, "Hook off", "The hook is turned off. Turn it on first."),
    "too_many_hooks": Kind(409, "Too many hooks", "A player has at most {limit} hooks. Delete one first."),
    "too_many_keys": Kind(409, "Too many keys", "A player has at most {limit} keys. Revoke one first."),
    "too_many_signing_keys": Kind(409, "Too many keys", "A player has at most {limit} signing keys. Revoke one first."),
    "stale": Kind(412, "Stale", "The match is at version {version}, not {expected}."),
    "bad_hook_url": Kind(422, "Wrong address", "A hook cannot have this address: {reason}."),
    "signature_invalid": Kind(
        422,
        "Wrong signature",
        "Signature {number} is not one by this key over the statement of the move, which `statement` repeats. Sign the action as it is "
        "recorded, without counts of 0.",
    ),
    "key_unproven": Kind(
        422, "Key not proven", "The signature is not one of this key over the text of docs/auditing.md that names {player} and the key."
    ),
    "must_be_last": Kind(
        422,
        "Must be last",
        "Action {number} of the list draws chance or reveals something, so nothing can follow it in the same request.",
    ),
    "request_reused": Kind(422, "Idempotency key reused", "This Idempotency-Key was used before for another request."),
    "broken": Kind(500, "Broken", "Something went wrong in the server. It has been logged."),
    "store_refused": Kind(500, "Store error", "The store refused a command. It has been logged."),
    "archive_away": Kind(503, "Archive unavailable", "The archive cannot be reached now. Try again."),
    "archive_damaged": Kind(
        503,
        "Archive damaged",
        "What the archive has of this is damaged, so nothing of it is shown. `./run archive verify` tells the operator where.",
    ),
    "busy": Kind(503, "Busy", "Too many requests of this kind are being answered now. Try again."),
    "log_damaged": Kind(
        503,
        "Log damaged",
        "The log of the match {match} is damaged, so nothing of it is shown. `./run audit {match}` tells the operator where.",
    ),
    "rules_missing": Kind(
        503,
        "Rules missing",
        "The match is played by revision {revision} of the rules of {game}, which this server does not have. No others decide it.",
    ),
    "secret_lost": Kind(503, "Secret lost", "The secret of the match {match} is missing from the store, so the match cannot go on."),
    "store_away": Kind(503, "Store unavailable", "The store cannot be reached now. Try again."),
}


class PlatformError(Exception):
    """The platform did not carry out a request. `code`: a key of ERRORS or REFUSALS. `facts`: the values for its sentence."""

    code = "broken"

    def __init_subclass__(cls, code: str = "", **more: Any) -> None:
        super().__init_subclass__(**more)
        if code:
            cls.code = code

    def __init__(self, **facts: Any) -> None:
        self.facts = facts
        super().__init__((ERRORS.get(self.code) or REFUSALS[self.code]).detail.format_map(facts))


class StoreUnavailable(PlatformError, code="store_away"):
    """The store does not answer, or cannot write. It is unknown whether the last append was carried out. Repeat the request to find out."""

    def __init__(self, reason: str = "") -> None:
        super().__init__()
        self.reason = reason


class StoreMoved(StoreUnavailable):
    """The matches of this store are in another one now. The text says where."""

    def __str__(self) -> str:
        return self.reason


class StoreRefused(PlatformError, code="store_refused"):
    """The store answered a command with an error. Its rights, a type or its version are not what this program expects."""

    def __init__(self, reason: str = "") -> None:
        super().__init__()
        self.reason = reason


class ArchiveUnavailable(StoreUnavailable, code="archive_away"):
    """The archive's folder or object storage does not answer, or cannot write. It is unknown whether the last object was created.

    The archive is a part of the store: whoever waits for the store, and does its work later, does so here.
    """


class ArchiveTaken(ArchiveUnavailable):
    """The archive belongs to another store. `reason`: a sentence."""

    def __init__(self, place: str) -> None:
        sentence = f"The archive {place} belongs to another store. Each service needs an archive of its own (WARLEDGER_ARCHIVE)."
        super().__init__(f"{sentence} If that store is lost, `./run archive adopt` takes it over.")


class ArchiveDamaged(PlatformError, code="archive_damaged"):
    """An object of the archive is missing, or is not what it should be. `name`: which object. `reason`: a sentence without its end."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__()
        self.name = name
        self.reason = reason


class NoMatch(PlatformError, code="no_such_match"):
    """There is no match with that id."""


class NotInLog(PlatformError, code="not_in_log"):
    """The server's log does not have this, or not yet. `reason`: the end of a sentence."""


class NoSuchPlayer(PlatformError, code="no_such_player"):
    """There is no player with that id."""


class NoSuchKey(PlatformError, code="no_such_key"):
    """The player has no key with that id."""


class NoSuchHook(PlatformError, code="no_such_hook"):
    """The player has no hook with that id."""


class NoSuchDelivery(PlatformError, code="no_such_delivery"):
    """The newest deliveries of a hook do not have this id."""


class HookOff(PlatformError, code="hook_off"):
    """The hook is turned off, so it sends nothing."""


class TooManyHooks(PlatformError, code="too_many_hooks"):
    """The player has the maximum number of hooks."""


class BadHookUrl(PlatformError, code="bad_hook_url"):
    """A hook cannot have this URL. `reason`: the end of a sentence."""


class KeyRevoked(PlatformError, code="bad_key"):
    """The key of the request is no longer valid."""


class ScopeNeeded(PlatformError, code="scope_needed"):
    """The key of the request lacks a required scope."""


class TooManyKeys(PlatformError, code="too_many_keys"):
    """The player has the maximum number of keys."""


class KeyUnproven(PlatformError, code="key_unproven"):
    """The signature does not show that the player has the private half of a signing key."""


class SigningKeyRevoked(PlatformError, code="signing_key_revoked"):
    """The player has revoked this signing key."""


class TooManySigningKeys(PlatformError, code="too_many_signing_keys"):
    """The player has the maximum number of signing keys."""


class StillSeated(PlatformError, code="still_seated"):
    """The player has too many seats in matches that have not started to leave all of them in one request."""


class LogDamaged(PlatformError, code="log_damaged"):
    """An item in the log of a match is not the entry of its place. The audit says which; the reason may contain hidden information."""


class SecretLost(PlatformError, code="secret_lost"):
    """The secret of an unfinished match is missing from the store, or does not match the commitment of the match."""


class RulesMissing(PlatformError, code="rules_missing"):
    """This program does not have the rules that a match began with. No other rules may decide or show it."""


class NoVersion(PlatformError, code="no_such_version"):
    """The match has no such version yet. It has the versions 1 to `last`."""


class NoGame(PlatformError, code="no_such_game"):
    """There is no game with that id. `games`: the ids that exist."""

    def __init__(self, game: str, games: Iterable[str]) -> None:
        super().__init__(game=game, games=", ".join(sorted(games)))


class NoSeat(PlatformError, code="no_such_seat"):
    """The match has no seat with that name. `seats`: its seats."""

    def __init__(self, seat: str, seats: Iterable[str]) -> None:
        super().__init__(seat=seat, seats=", ".join(sorted(seats)))


class NotSeated(PlatformError, code="not_your_seat"):
    """The player does not have the seat."""


class NotStarted(PlatformError, code="not_started"):
    """A seat of the match is still free."""


class MatchClosed(PlatformError, code="match_closed"):
    """The match was closed before it began."""


class BadList(PlatformError, code="bad_list"):
    """A list of actions is empty, too long, or has an action of the table among others. `reason`: the end of a sentence."""


class MustBeLast(PlatformError, code="must_be_last"):
    """An action that draws chance or reveals something must be the last of its list. Otherwise a failing list would be a way to peek.

    `place`: its place in the list, from 0. `version`: the version of the match for which this was confirmed.
    """

    version: int | None = None

    def __init__(self, place: int) -> None:
        super().__init__(number=place + 1)
        self.place = place


class SigningKeyUnknown(PlatformError, code="signing_key_unknown"):
    """The actor has no signing key with these bytes, or has revoked it."""


class HistoryDiffers(PlatformError, code="history_differs"):
    """The request says that it has seen another digest of the version that it has seen."""


class SignatureInvalid(PlatformError, code="signature_invalid"):
    """A signature does not fit. `place`: that of its action in the request, from 0. `statement`: the text that should be signed."""

    def __init__(self, place: int, statement: str) -> None:
        super().__init__(number=place + 1)
        self.place = place
        self.statement = statement


class Stale(PlatformError, code="stale"):
    """The match is not at the expected version. `version`: its version."""

    def __init__(self, expected: int, version: int) -> None:
        super().__init__(expected=expected, version=version)
        self.version = version


class Reused(PlatformError, code="request_reused"):
    """The id of a request was used before for another request."""


class NoBulk(PlatformError, code="no_bulk_file"):
    """There is no bulk file of that game and month, or no such part of it."""


class BadCursor(PlatformError, code="bad_query"):
    """A cursor does not come from a page of this list."""

    def __init__(self, cursor: str) -> None:
        super().__init__(reason=f"{cursor!r} is not a cursor of this list")


class Busy(PlatformError, code="busy"):
    """Too many others write to the match, so this request did not get its turn."""
