"""Create, change and delete accounts: players and their keys. A key is shown once. Only its SHA-256 is stored.

A key ends in a seal, which follows from the rest of its text and the store's secret. So every process can tell at once, without asking the
store, a key that this service has made from one that somebody has made up (docs/decisions/0090).
"""

from __future__ import annotations

import base64
import contextlib
import hmac
import re
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from typing import NamedTuple

import orjson

from events import play, recall
from events.errors import KeyRevoked, NoMatch, NoSuchKey, NoSuchPlayer, Reused, ScopeNeeded, StillSeated, TooManyKeys
from events.keeping import erasing
from events.platform import Platform
from events.store.accounts import Result, Signer, StoredKey
from events.timing.clock import wall_time
from games import patterns
from games.kernel import Refused
from table.results import PLAYED, RESULTS
from table.state import kept_seats

ROLES = ("player", "referee", "admin")
SCOPES = ("account", "play", "read", "referee")
MOST_KEYS = 20
MOST_LEFT = 100
RETRY_MS = 3_600_000

_FIRST = "first"
_KEY = re.compile(f"wl_({patterns.PLAYER})_({patterns.KEY})_([A-Za-z0-9_-]{{32}})([A-Za-z0-9_-]{{11}})")
_RANDOM, _SEAL = 24, 8  # bytes of the random part of a key, and of its seal
_LOOK_SECONDS = 1.0  # between two looks whether the store has another secret


class Player(NamedTuple):
    """A player, referee or admin. `created`: ms since 1970. A deleted player has no `name` and no `created`."""

    id: str
    name: str | None
    role: str
    created: int | None


class Key(NamedTuple):
    """A key of a player: the public part, and the hash of the secret.

    `created`: ms since 1970. `used`: the day of the last use, in days since 1970.
    """

    id: str
    name: str
    scopes: tuple[str, ...]
    created: int
    used: int | None
    hash: str


class Account(NamedTuple):
    """A player with all keys. `keys`: by id."""

    player: Player
    keys: Mapping[str, Key]


# ---------------------------------------------------------------- looking up a key


def new_admin_key() -> str:
    """Return a new admin key. It begins with a letter, so no command takes it for an option."""
    return f"wl_{secrets.token_urlsafe(32)}"


class Seals:
    """Tells which keys this service has made. Shared by the threads of a process."""

    def __init__(self, platform: Platform) -> None:
        self._store = platform.store
        self._looked = 0.0

    def holder(self, key: str, account_of: Callable[[str], Account | None]) -> tuple[Account, Key] | None:
        """Return the player who has a key, and the key, or None if nobody has it. The text of a key has the ids of both.

        Only the account of a key that this service has made is looked up. Raises what `account_of` raises, and StoreUnavailable.
        """
        named = _KEY.fullmatch(key)
        if named is None or not self._has_made(*named.groups()):
            return None
        account = account_of(named[1])
        found = account.keys.get(named[2]) if account else None
        return (account, found) if account and found and found.hash == _hashed(key) else None

    def _has_made(self, player: str, key: str, random: str, seal: str) -> bool:
        if _is_sealed(self._store.secret, player, key, random, seal):
            return True
        if time.monotonic() < self._looked + _LOOK_SECONDS:
            return False
        self._looked = time.monotonic()
        return _is_sealed(self._store.read_secret(), player, key, random, seal)


def get(platform: Platform, id: str) -> Account | None:
    """Return the player with this id, even a deleted one, or None if there never was one. Raises StoreUnavailable."""
    fields = platform.store.accounts.fields_of(id) if patterns.matches(patterns.PLAYER, id) else {}
    if not fields:
        return None
    if "name" not in fields:
        return Account(Player(id, None, ROLES[0], None), {})
    player = Player(id, fields["name"], fields["role"], int(fields["created"]))
    keys = {field.removeprefix("key:"): text for field, text in fields.items() if field.startswith("key:")}
    return Account(player, {kid: _key(kid, text, fields[f"hash:{kid}"], fields.get(f"used:{kid}")) for kid, text in keys.items()})


def first_key(player: str) -> str:
    """Return the id of the first key of a player."""
    return f"k{player[1:]}"


def note_use(platform: Platform, player: str, key: Key, day: int) -> None:
    """Record the day on which a key was last used. Raises StoreUnavailable."""
    platform.store.accounts.note_use(player, Signer(key.id, key.hash), day)


# ---------------------------------------------------------------- players


class Asked(NamedTuple):
    """An idempotent request for a player or a key: who sends it, and its id. A repeated request gets the same answer and creates nothing.

    The secret of the key is derived from the request and the server's secret (Signer.derived), so no key is stored for the answer. The
    answer can be repeated for RETRY_MS. After that the request is refused.
    """

    owner: str
    request: str

    def id(self, platform: Platform, kind: str) -> str:
        """Return the id of the player (`p`), the key (`k`) or the hook (`h`) that the request creates."""
        return kind + _letters(platform.signer.derived(kind, *self)[:10])

    def random(self, platform: Platform, *what: str) -> bytes:
        """Return the random part of the key that the request creates. It depends on `what` the request asks for."""
        return platform.signer.derived("secret", *self, *what)[:_RANDOM]


def register(platform: Platform, name: str, role: str = "player", asked: Asked | None = None) -> tuple[Player, str]:
    """Create a player. Return it and its first key, which cannot be shown again. It has every scope. Raises Reused, StoreUnavailable."""
    assert role in ROLES
    now = wall_time()
    id = new_id("p") if asked is None else asked.id(platform, "p")
    key, text = _made(platform, id, first_key(id), _FIRST, SCOPES, now, asked and asked.random(platform, name, role))
    if platform.store.accounts.add(id, name, role, now, _stored(key)) is not Result.DONE:
        raise Reused
    return Player(id, name, role, now), text


def registered(platform: Platform, name: str, role: str, asked: Asked) -> tuple[Player, str] | None:
    """Return the player and the first key that a request created, or None if the request is new. Raises Reused, StoreUnavailable."""
    id = asked.id(platform, "p")
    account = get(platform, id)
    if account is None:
        return None
    text = _text(platform, id, first_key(id), asked.random(platform, name, role))
    _same(account.keys.get(first_key(id)), text)
    return account.player._replace(name=name, role=role), text


def rename(platform: Platform, id: str, signer: Signer, name: str) -> None:
    """Give a player another name. Raises NoSuchPlayer, KeyRevoked, StoreUnavailable."""
    _check(platform.store.accounts.rename(id, signer, name), NoSuchPlayer(player=id))


def set_role(platform: Platform, id: str, role: str) -> None:
    """Give a player another role. Raises NoSuchPlayer, StoreUnavailable."""
    assert role in ROLES
    _check(platform.store.accounts.set_role(_known(platform, id).player.id, role), NoSuchPlayer(player=id))


def delete(platform: Platform, id: str, signer: Signer) -> None:
    """Delete a player: leave seats in matches that have not started, decline invitations, then remove the name and all keys.

    Logs and other seats stay. Signing keys are revoked and lose their names, but they stay: what they signed can still be checked. Names
    leave the files of the embedded store within a day (events/keeping/erasing.py).

    Raises StillSeated, NoSuchPlayer, KeyRevoked, StoreUnavailable.
    """
    _leave_open_seats(platform, id)
    _decline_invitations(platform, id)
    _known(platform, id)
    erasing.note(platform.settings.data)
    _check(platform.store.accounts.delete(id, signer, platform.clock.now()), NoSuchPlayer(player=id))
    erasing.note(platform.settings.data)  # again, since the files may have been rewritten just before


def finished(platform: Platform, id: str) -> dict[str, dict[str, int]]:
    """Return how the matches of each game ended that a player has finished (table.results.RESULTS). Games without any are left out.

    Raises StoreUnavailable.
    """
    asked = [(game, what) for game in platform.games for what in RESULTS]
    found: dict[str, dict[str, int]] = {}
    for (game, what), size in zip(asked, platform.store.lists.sizes([f"{what}:{id}:{game}" for game, what in asked]), strict=True):
        found.setdefault(game, {})["matches" if what == PLAYED else what] = size
    return {game: counts for game, counts in found.items() if any(counts.values())}


def _leave_open_seats(platform: Platform, id: str) -> None:
    matches = [match for _, match in platform.store.lists.newest([f"waiting:{id}"], None, MOST_LEFT + 1)]
    for match in matches[:MOST_LEFT]:
        with contextlib.suppress(NoMatch, Refused):  # the match expired or started just now
            for seat in recall.position(platform, match).seats_of(id):
                play.act_at_table(platform, match, id, {"type": "leave_seat", "seat": seat})
    if len(matches) > MOST_LEFT:
        raise StillSeated(limit=MOST_LEFT)


def _decline_invitations(platform: Platform, id: str) -> None:
    """Decline the newest invitations. Strangers can send any number, which must not prevent a deletion. The rest end with their matches."""
    for _, match in platform.store.lists.newest([f"invited:{id}"], None, MOST_LEFT):
        with contextlib.suppress(NoMatch, Refused):
            for seat, player in kept_seats(recall.position(platform, match).table).items():
                if player == id:
                    play.act_at_table(platform, match, id, {"type": "decline_seat", "seat": seat})


# ---------------------------------------------------------------- keys


def add_key(
    platform: Platform, id: str, signer: Signer, name: str, scopes: Iterable[str], granted: Iterable[str], request: str | None = None
) -> tuple[Key, str]:
    """Create a key. Return it and its text, which cannot be shown again. `granted`: the scopes of the key that signs the request.

    The same `request` of the same key gets the same new key again (Asked). Raises ScopeNeeded, TooManyKeys, NoSuchPlayer, KeyRevoked,
    Reused, StoreUnavailable.
    """
    wanted = with_reading(scopes)
    _check_scopes(wanted, granted)
    asked = None if request is None else Asked(f"{id}/{signer.key}", request)
    new = new_id("k") if asked is None else asked.id(platform, "k")
    key, text = _made(platform, id, new, name, wanted, wall_time(), asked and asked.random(platform, name, *wanted))
    if (made := _known(platform, id).keys.get(key.id)) is None:
        _check(platform.store.accounts.add_key(id, signer, _stored(key), MOST_KEYS), NoSuchPlayer(player=id))
        return (key if asked is None else key_of(platform, id, key.id)), text
    _same(made, text)
    return made._replace(used=None), text


def rotate_key(platform: Platform, id: str, signer: Signer, key: str, granted: Iterable[str]) -> tuple[Key, str]:
    """Give a key another secret. Return the key and its new text. The old text is no longer valid.

    `granted`: the scopes of the key that signs the request. Raises ScopeNeeded, NoSuchKey, NoSuchPlayer, KeyRevoked, StoreUnavailable.
    """
    old = key_of(platform, id, key)
    _check_scopes(old.scopes, granted)
    new, text = _made(platform, id, old.id, old.name, old.scopes, old.created)
    _check(platform.store.accounts.rotate_key(id, signer, _stored(new)), NoSuchKey())
    return new, text


def revoke_key(platform: Platform, id: str, signer: Signer, key: str) -> None:
    """Revoke a key. Raises NoSuchKey, NoSuchPlayer, KeyRevoked, StoreUnavailable."""
    _check(platform.store.accounts.revoke_key(id, signer, key_of(platform, id, key).id), NoSuchKey())


def keys_of(platform: Platform, id: str) -> list[Key]:
    """Return the keys of a player, the oldest first. Raises NoSuchPlayer, StoreUnavailable."""
    return sorted(_known(platform, id).keys.values(), key=lambda key: (key.created, key.id))


def key_of(platform: Platform, id: str, key: str) -> Key:
    """Return a key of a player. Raises NoSuchKey, NoSuchPlayer, StoreUnavailable."""
    found = _known(platform, id).keys.get(key)
    if found is None:
        raise NoSuchKey
    return found


def with_reading(scopes: Iterable[str]) -> tuple[str, ...]:
    """Return scopes in order. `play` and `referee` include `read`."""
    wanted = set(scopes)
    assert wanted <= set(SCOPES)
    return tuple(sorted(wanted | {"read"} if wanted & {"play", "referee"} else wanted))


def _known(platform: Platform, id: str) -> Account:
    """Return a player who is not deleted. Raises NoSuchPlayer."""
    found = get(platform, id)
    if found is None or found.player.name is None:
        raise NoSuchPlayer(player=id)
    return found


def _check_scopes(wanted: Iterable[str], granted: Iterable[str]) -> None:
    beyond = sorted(set(wanted) - set(granted))
    if beyond:
        raise ScopeNeeded(scope=beyond[0])


def _check(result: Result, missing: NoSuchKey | NoSuchPlayer) -> None:
    """Raise the error for a result of the store, unless it is DONE. `missing`: the error for MISSING."""
    if result is Result.MISSING:
        raise missing
    if result is Result.REVOKED:
        raise KeyRevoked
    if result is Result.FULL:
        raise TooManyKeys(limit=MOST_KEYS)
    if result is Result.REUSED:
        raise Reused
    assert result is Result.DONE


def _same(made: Key | None, text: str) -> None:
    """Raise Reused unless a request created this key with this text within RETRY_MS, and the key still has it."""
    if made is None or made.hash != _hashed(text) or wall_time() > made.created + RETRY_MS:
        raise Reused


def _made(
    platform: Platform, player: str, id: str, name: str, scopes: tuple[str, ...], created: int, random: bytes | None = None
) -> tuple[Key, str]:
    """Return a key and its text. Without a `random` part it gets a new one."""
    text = _text(platform, player, id, random or secrets.token_bytes(_RANDOM))
    return Key(id, name, scopes, created, None, _hashed(text)), text


def _text(platform: Platform, player: str, key: str, random: bytes) -> str:
    shown = _shown(random)
    return f"wl_{player}_{key}_{shown}{_seal(platform.store.read_secret(), player, key, shown)}"


def _is_sealed(secret: bytes, player: str, key: str, random: str, seal: str) -> bool:
    return hmac.compare_digest(_seal(secret, player, key, random), seal)


def _seal(secret: bytes, player: str, key: str, random: str) -> str:
    return _shown(hmac.digest(secret, f"{player} {key} {random}".encode(), "sha256")[:_SEAL])


def _shown(part: bytes) -> str:
    return base64.urlsafe_b64encode(part).decode().rstrip("=")


def _stored(key: Key) -> StoredKey:
    return StoredKey(key.id, orjson.dumps({"name": key.name, "scopes": key.scopes, "created": key.created}).decode(), key.hash)


def _key(id: str, text: str, hashed: str, used: str | None) -> Key:
    fields = orjson.loads(text)
    return Key(id, fields["name"], tuple(fields["scopes"]), fields["created"], int(used) if used else None, hashed)


def new_id(kind: str) -> str:
    """Return a new id that begins with a letter: `p` for a player, `k` for a key, `h` for a hook."""
    return kind + _letters(secrets.token_bytes(10))


def _letters(bits: bytes) -> str:
    return base64.b32encode(bits).decode().lower()


def _hashed(key: str) -> str:
    return sha256(key.encode()).hexdigest()
