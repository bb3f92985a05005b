"""Make, change and delete hooks. A hook is a part of its player's account: an address, and which events go there.

Partitions have a copy of which hooks a player has, so that an append can tell whether it is news for a hook. The copy follows every change
before the change is answered; a change that was cut short is made known by the next worker that looks (`tell_all`).

No secret is stored: that of a hook follows from the secret of the store.
"""

from __future__ import annotations

import base64
import hmac
from collections.abc import Iterable
from typing import Any, NamedTuple

import orjson

from events.accounts import RETRY_MS, Asked, new_id
from events.errors import KeyRevoked, NoMatch, NoSuchHook, NoSuchPlayer, Reused, TooManyHooks
from events.hooks.addresses import checked
from events.platform import Platform
from events.store.accounts import ADMIN, Result, Signer
from events.timing.clock import wall_time
from games import patterns

MOST_HOOKS = 10
OVERLAP = 86_400  # seconds for which the old secret of a hook stays valid, at most and unless it is said otherwise

PLAYER, ORGANISER = "player", "organiser"
ROLES = (PLAYER, ORGANISER)
GONE, FAILING = "gone", "failing"
REASONS = (GONE, FAILING)

_TRIES = 10
_ONCE = 100  # players to tell of at once


class Hook(NamedTuple):
    """A hook. `role`: it sends what its player is told as a PLAYER, or what is told in the matches that this player created (ORGANISER).

    `kinds`: of the events that it sends. `match`: the only match whose events it sends, or None. `created`: ms since 1970. `secrets`: how
    many it has had. `old_until`: until when the secret before is valid, too. `on`: whether it sends anything. `stopped`: why the server has
    turned it off (one of `REASONS`) and when, or None. `push`: the point and the secret of a push subscription, or None.
    """

    id: str
    url: str
    role: str
    kinds: tuple[str, ...]
    match: str | None
    created: int
    on: bool = True
    secrets: int = 1
    old_until: int = 0
    stopped: tuple[str, int] | None = None
    push: tuple[str, str] | None = None


class Hooks(NamedTuple):
    """The hooks of a player by id, and how often they have changed."""

    by_id: dict[str, Hook]
    changes: int


def hooks_of(platform: Platform, player: str) -> Hooks:
    """Return the hooks of a player, also of one who is deleted and has none. Raises StoreUnavailable."""
    fields = platform.store.accounts.fields_of(player) if patterns.matches(patterns.PLAYER, player) else {}
    stored = {name.removeprefix("hook:"): text for name, text in fields.items() if name.startswith("hook:")}
    return Hooks({id: _read(id, text) for id, text in stored.items()}, int(fields.get("hooks", 0)))


def listed(platform: Platform, player: str) -> list[Hook]:
    """Return the hooks of a player, the oldest first. Raises StoreUnavailable."""
    return sorted(hooks_of(platform, player).by_id.values(), key=lambda hook: (hook.created, hook.id))


def get(platform: Platform, player: str, id: str) -> Hook:
    """Return a hook of a player. Raises NoSuchHook, StoreUnavailable."""
    found = hooks_of(platform, player).by_id.get(id)
    if found is None:
        raise NoSuchHook
    return found


def create(
    platform: Platform,
    player: str,
    signer: Signer,
    url: str,
    kinds: Iterable[str],
    *,
    role: str = PLAYER,
    match: str | None = None,
    push: tuple[str, str] | None = None,
    request: str | None = None,
) -> Hook:
    """Give a player another hook, and return it. It sends what happens from now on.

    The same `request` of the same key gets the same hook again, for an hour. Raises BadHookUrl, NoMatch, TooManyHooks, NoSuchPlayer,
    KeyRevoked, Reused, StoreUnavailable.
    """
    asked = None if request is None else Asked(f"{player}/{signer.key}", request)
    new = Hook(
        new_id("h") if asked is None else asked.id(platform, "h"),
        checked(url, platform.settings.hook_origins),
        role,
        tuple(sorted(set(kinds))),
        match,
        wall_time(),
        push=push,
    )
    made = hooks_of(platform, player).by_id.get(new.id)
    if made is None:
        if match is not None and not platform.store.log.head(match):
            raise NoMatch(match=match)
        _check(platform.store.accounts.put_hook(player, signer, new.id, "", _stored(new), MOST_HOOKS), NoSuchPlayer(player=player))
        made = new
    elif made != new._replace(created=made.created) or wall_time() > made.created + RETRY_MS:
        raise Reused
    tell(platform, player)
    return made


def change(
    platform: Platform,
    player: str,
    signer: Signer,
    id: str,
    *,
    url: str | None = None,
    kinds: Iterable[str] | None = None,
    on: bool | None = None,
) -> Hook:
    """Change what is given, and return the hook.

    Raises BadHookUrl, NoSuchHook, NoSuchPlayer, KeyRevoked, StoreUnavailable.
    """
    for _ in range(_TRIES):
        before = get(platform, player, id)
        after = before
        if url is not None:
            after = after._replace(url=checked(url, platform.settings.hook_origins))
        if kinds is not None:
            after = after._replace(kinds=tuple(sorted(set(kinds))))
        if on is not None:
            after = after._replace(on=on, stopped=None if on else after.stopped)
        if _put(platform, player, signer, before, after):
            return after
    raise Reused


def rotate(platform: Platform, player: str, signer: Signer, id: str, overlap: int = OVERLAP) -> Hook:
    """Give a hook another secret, and return it. For `overlap` seconds the old one is valid, too.

    Raises NoSuchHook, NoSuchPlayer, KeyRevoked, StoreUnavailable.
    """
    for _ in range(_TRIES):
        before = get(platform, player, id)
        after = before._replace(secrets=before.secrets + 1, old_until=wall_time() + overlap * 1000)
        if _put(platform, player, signer, before, after):
            return after
    raise Reused


def stop(platform: Platform, player: str, hook: Hook, reason: str) -> None:
    """Turn a hook off, since nothing arrives. Do nothing if it has changed meanwhile. Raises StoreUnavailable."""
    _put(platform, player, ADMIN, hook, hook._replace(on=False, stopped=(reason, wall_time())))


def delete(platform: Platform, player: str, signer: Signer, id: str) -> None:
    """Delete a hook with the list of its deliveries. Raises NoSuchHook, KeyRevoked, StoreUnavailable."""
    _check(platform.store.accounts.delete_hook(player, signer, get(platform, player, id).id), NoSuchHook())
    tell(platform, player)


def secret_of(platform: Platform, player: str, hook: Hook, number: int | None = None) -> str:
    """Return the secret of a hook in the form of Standard Webhooks: the newest, or that with a number, from 1. Raises StoreUnavailable."""
    about = f"hook {player} {hook.id} {hook.secrets if number is None else number}"
    return f"whsec_{base64.b64encode(hmac.digest(platform.store.secret, about.encode(), 'sha256')).decode()}"


def valid_secrets(platform: Platform, player: str, hook: Hook, now: int) -> list[str]:
    """Return the secrets that are valid at a moment (ms since 1970), the newest first. Raises StoreUnavailable."""
    numbers = [hook.secrets, *([hook.secrets - 1] if hook.secrets > 1 and now < hook.old_until else [])]
    return [secret_of(platform, player, hook, number) for number in numbers]


def tell(platform: Platform, player: str, anew: bool = False) -> None:
    """Make the hooks of a player known to every partition. `anew`: whatever it knows. Raises StoreUnavailable."""
    found = hooks_of(platform, player)
    platform.store.hooks.tell(player, found.changes, "".join(map(_known, found.by_id.values())), anew)
    platform.store.accounts.told(player, found.changes)


def tell_all(platform: Platform) -> int:
    """Make those hooks known whose last change was cut short. Return of how many players. Raises StoreUnavailable."""
    players = platform.store.accounts.untold(_ONCE)
    for player in players:
        tell(platform, player)
    return len(players)


def rebuild(platform: Platform) -> None:
    """Derive anew which hooks the partitions know, and the index of what they have to send. Raises StoreUnavailable."""
    for player in {*platform.store.hooks.told(), *platform.store.accounts.with_hooks()}:
        tell(platform, player, anew=True)
    platform.store.hooks.mend()


def _known(hook: Hook) -> str:
    """Return what a partition must know of a hook."""
    return f" {'*' if hook.role == ORGANISER else ''}{hook.id}{f':{hook.match}' if hook.match else ''}" if hook.on else ""


def _put(platform: Platform, player: str, signer: Signer, before: Hook, after: Hook) -> bool:
    """Change a hook. Return False if it is not as it was before. Raises NoSuchPlayer, KeyRevoked, StoreUnavailable."""
    if before != after:
        result = platform.store.accounts.put_hook(player, signer, before.id, _stored(before), _stored(after), MOST_HOOKS)
        if result is Result.REUSED:
            return False
        _check(result, NoSuchPlayer(player=player))
    tell(platform, player)
    return True


def _check(result: Result, missing: NoSuchHook | NoSuchPlayer) -> None:
    """Raise the error for a result of the store, unless it is DONE. `missing`: the error for MISSING."""
    if result is Result.MISSING:
        raise missing
    if result is Result.REVOKED:
        raise KeyRevoked
    if result is Result.FULL:
        raise TooManyHooks(limit=MOST_HOOKS)
    if result is Result.REUSED:
        raise Reused
    assert result is Result.DONE


def _stored(hook: Hook) -> str:
    return orjson.dumps({name: value for name, value in hook._asdict().items() if name != "id"}, option=orjson.OPT_SORT_KEYS).decode()


def _read(id: str, text: str) -> Hook:
    fields: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in orjson.loads(text).items()}
    return Hook(id, **fields)
