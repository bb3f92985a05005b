"""Open the platform from settings: the store, the queues and the games."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from environs import Env, EnvError, validate

from events.archive.objects import WrongArchive, scheme_of
from events.cache import Cache
from events.errors import BadHookUrl, StoreRefused, StoreUnavailable
from events.hooks import addresses
from events.keeping import embedded, memory
from events.notary.leading import Lead, holder_of
from events.notary.sidelog import SideLog
from events.notary.signer import Signer
from events.store import Store, WrongStore
from events.store.client import RedisClient
from events.store.guarantees import ALONE
from events.store.queue import Jobs
from events.store.queue.counters import Counters
from events.store.queue.floors import Floors
from events.store.queue.shards import Shards
from events.store.queue.studies import Studies
from events.timing.clock import Clock
from events.timing.pulse import Pulse
from evidence.notes import COSIGNATURE, Malformed, VerifierKey, parse_vkey
from games.kernel import Game
from table.data import DAY_MS, ESCALATION_MS, OPEN_MS

if TYPE_CHECKING:
    from events.archive.reading import Archive


class Witness(NamedTuple):
    """A witness of the server's log. `url`: the base address for checkpoints. `key`: the verifier key of its cosignatures."""

    url: str
    key: VerifierKey


class Settings(NamedTuple):
    """The settings of the platform. Each has an environment variable (docs/operating.md).

    Without `store_url`, the embedded servers run in the folder `data`, with `fsync`: `always`, `everysec` or `no`. A match that has not
    started is removed after `unstarted_days`. A dispute without an answer by a referee goes to an admin after `escalation_days`. The folder
    `keys` has the server's keys; the default is `keys` in `data`. New keys get the name `name`. The `witnesses` cosign the server's log.
    `memory`: the limit of the store's memory in bytes, or 0 if it is not known here. `hook_origins`: where hooks may lead besides public
    addresses over HTTPS, such as `http://chat.internal:8065`. `name_servers`: who is asked for the addresses of hooks, as `host:port`; by
    default those of the machine. `archive`: where finished matches go; the default is the folder `archive` in `data`.
    `replicas`: how many replicas must have what was written before anybody is told (ADR 120).
    A match goes there `archive_after_days` after its last entry; 0: never. `backup`: where the files of the embedded store are sent every
    `backup_seconds`, or "". Earlier points stay there for `backup_days`.
    """

    store_url: str = ""
    queue_url: str = ""
    data: Path = Path("data")
    fsync: str = "always"
    cluster: bool = False
    partitions: int = 16
    cached: int = 4096
    unstarted_days: float = OPEN_MS / DAY_MS
    escalation_days: float = ESCALATION_MS / DAY_MS
    keys: Path | None = None
    name: str = ""
    witnesses: tuple[Witness, ...] = ()
    memory: int = 0
    hook_origins: frozenset[str] = frozenset()
    name_servers: tuple[str, ...] = ()
    archive: str = ""
    replicas: int = 0
    archive_after_days: float = 7.0
    backup: str = ""
    backup_seconds: float = 20.0
    backup_days: float = 7.0

    @property
    def keys_folder(self) -> Path:
        """The folder of the server's signing keys."""
        return self.keys or self.data / "keys"

    @property
    def archive_place(self) -> str:
        """The place of the archive, for `open_objects`."""
        return self.archive or str((self.data / "archive").absolute())

    @property
    def archive_is_local(self) -> bool:
        """True if the archive is a folder."""
        return not scheme_of(self.archive_place)

    @property
    def archive_backup(self) -> str:
        """The place of the continuous backup if it has a copy of the archive, or ""."""
        return self.backup if self.archive_is_local else ""


def settings_from_environment() -> Settings:
    """Return the settings in the environment, with defaults for the rest. Raises environs.EnvError for an invalid value."""
    env, default = Env(), Settings()
    cluster = bool(env.str("WARLEDGER_CLUSTER", "")) and env.bool("WARLEDGER_CLUSTER")
    store_url: str = env.str("WARLEDGER_REDIS_URL", default.store_url)
    if "," in store_url and not cluster:
        raise EnvError('Environment variable "WARLEDGER_REDIS_URL" invalid: only a cluster (WARLEDGER_CLUSTER=1) has several addresses')
    queue_url: str = env.str("WARLEDGER_QUEUE_URL", default.queue_url)
    if queue_url and not all(url.strip() for url in queue_url.split(",")):
        raise EnvError('Environment variable "WARLEDGER_QUEUE_URL" invalid: an address is missing beside a comma')
    return Settings(
        store_url=store_url,
        queue_url=queue_url,
        data=env.path("WARLEDGER_DATA", default.data),
        fsync=env.str("WARLEDGER_FSYNC", default.fsync, validate=validate.OneOf(["always", "everysec", "no"])),
        cluster=cluster,
        partitions=env.int("WARLEDGER_PARTITIONS", default.partitions, validate=validate.Range(min=1)),
        cached=env.int("WARLEDGER_CACHED", default.cached, validate=validate.Range(min=1)),
        unstarted_days=env.float("WARLEDGER_UNSTARTED_DAYS", default.unstarted_days, validate=validate.Range(1 / 24, 3650)),
        escalation_days=env.float("WARLEDGER_ESCALATION_DAYS", default.escalation_days, validate=validate.Range(1 / 86400, 3650)),
        keys=Path(keys) if (keys := env.str("WARLEDGER_KEYS", "")) else None,
        name=env.str("WARLEDGER_NAME", default.name),
        witnesses=_witnesses(env),
        memory=memory.chosen(),
        hook_origins=_hook_origins(env),
        name_servers=_name_servers(env),
        archive=_place(env, "WARLEDGER_ARCHIVE"),
        replicas=env.int("WARLEDGER_REPLICAS", default.replicas, validate=validate.Range(0, 9)),
        archive_after_days=env.float("WARLEDGER_ARCHIVE_AFTER_DAYS", default.archive_after_days, validate=validate.Range(0, 3650)),
        backup=_place(env, "WARLEDGER_BACKUP"),
        backup_seconds=env.float("WARLEDGER_BACKUP_SECONDS", default.backup_seconds, validate=validate.Range(1, 60)),
        backup_days=env.float("WARLEDGER_BACKUP_DAYS", default.backup_days, validate=validate.Range(0, 3650)),
    )


def _place(env: Env, setting: str) -> str:
    """Return the place of objects that a setting names. Raises environs.EnvError if there can be none."""
    place: str = env.str(setting, "")
    try:
        if place:
            scheme_of(place)
    except WrongArchive as reason:
        raise EnvError(f'Environment variable "{setting}" invalid: {reason}') from None
    return place


def _hook_origins(env: Env) -> frozenset[str]:
    """Return the origins in a list such as `http://127.0.0.1:8065, https://chat.internal`. Raises environs.EnvError."""
    items: list[str] = env.list("WARLEDGER_HOOK_ORIGINS", [])
    found = set()
    for item in filter(None, map(str.strip, items)):
        try:
            named = addresses.target(item)
        except BadHookUrl:
            named = None
        if named is None or named.path != "/":
            raise EnvError(
                f'Environment variable "WARLEDGER_HOOK_ORIGINS" invalid: {item!r} is not a scheme and a host. Commas separate them.'
            )
        found.add(named.origin)
    return frozenset(found)


def _name_servers(env: Env) -> tuple[str, ...]:
    """Return the name servers in a list such as `9.9.9.9, [::1]:5353`, each with a port. Raises environs.EnvError."""
    items: list[str] = env.list("WARLEDGER_NAME_SERVERS", [])
    found = []
    for item in filter(None, map(str.strip, items)):
        parts = urlsplit(f"//{item}")
        try:
            address, port = ip_address(parts.hostname or ""), parts.port or 53
        except ValueError:
            raise EnvError(f'Environment variable "WARLEDGER_NAME_SERVERS" invalid: {item!r} is not the address of a name server') from None
        found.append(f"{f'[{address}]' if address.version == 6 else address}:{port}")
    return tuple(found)


def _witnesses(env: Env) -> tuple[Witness, ...]:
    """Return the witnesses in a list such as `https://w.example name+hash+key, https://…`. Raises environs.EnvError."""
    items: list[str] = env.list("WARLEDGER_WITNESSES", [])
    found = []
    for item in filter(None, map(str.strip, items)):
        url, _, vkey = item.partition(" ")
        try:
            key = parse_vkey(vkey.strip())
        except Malformed as reason:
            raise EnvError(f'Environment variable "WARLEDGER_WITNESSES" invalid: {reason}') from None
        if not url.startswith(("http://", "https://")) or key.kind != COSIGNATURE:
            raise EnvError(f'Environment variable "WARLEDGER_WITNESSES" invalid: {item!r} is not an address and the key of a witness')
        found.append(Witness(url, key))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Platform:
    """Everything needed to play: the first argument of most functions in events/. The threads of a process share it."""

    settings: Settings
    store: Store
    jobs: Jobs | Shards
    counters: Counters
    studies: Studies
    cache: Cache
    games: Mapping[str, Game]
    clock: Clock
    pulse: Pulse
    signer: Signer
    sidelog: SideLog
    lead: Lead
    archive: Archive

    def close(self) -> None:
        """Write waiting notes, close all connections, and stop the pulse."""
        self.sidelog.flush()
        self.pulse.stop()
        self.lead.give_up()
        self.store.close()
        self.jobs.close()
        self.counters.close()
        self.studies.close()


def check_store(settings: Settings) -> list[str]:
    """Return what to change at the server at `store_url`, in sentences. Raise WrongStore if it has unusable data or keeps no promises.

    An unreachable server is checked later.
    """
    store = Store(RedisClient(settings.store_url, settings.cluster, settings.replicas), settings.partitions)
    advice: list[str] = []
    try:
        advice = store.judged().advice
        store.check()
    except WrongStore:
        raise
    except (StoreUnavailable, StoreRefused):
        pass
    finally:
        store.close()
    return advice


def open_platform(
    settings: Settings | None = None, games: Mapping[str, Game] | None = None, patient: bool = False, clock: Clock | None = None
) -> Platform:
    """Return the platform for these settings. Start the embedded servers, or connect to running ones. Raises WrongStore, StoreUnavailable.

    A `patient` caller also gets a platform whose store does not answer yet, and calls `store.check` before each use. The platform gives no
    pulse until `pulse.start`. `clock`: for tests.
    """
    from events.archive.reading import Archive, attach  # late: it reads matches by modules that use the platform

    settings = settings or settings_from_environment()
    if games is None:
        from games import GAMES  # late, so that tests can bring games of their own

        games = GAMES
    store_url, queue_url = settings.store_url, settings.queue_url
    if not store_url:
        if settings.replicas:
            raise WrongStore(ALONE)
        store_url, queue_url = embedded.both(settings.data, settings.fsync)
    store = Store(RedisClient(store_url, settings.cluster, settings.replicas), settings.partitions)
    try:
        store.check()
    except WrongStore:
        raise
    except StoreUnavailable:
        if not patient:
            raise
    queue_urls = [url.strip() for url in (queue_url or store_url).split(",")]
    clock = clock or Clock()
    pulse = Pulse(store.pulses, Floors(queue_urls[0]), clock)
    signer = Signer(settings.keys_folder, settings.name, settings.replicas)
    jobs = Jobs(queue_urls[0], clock) if len(queue_urls) == 1 else Shards(queue_urls, clock, settings.partitions)
    counters, studies, cache = Counters(queue_urls[0]), Studies(queue_urls[0]), Cache(settings.cached)
    lead = Lead(store.server_logs, lambda: holder_of(settings.keys_folder))
    sidelog, archive = SideLog(store, signer, clock), Archive(settings.archive_place, settings.archive_backup)
    platform = Platform(settings, store, jobs, counters, studies, cache, games, clock, pulse, signer, sidelog, lead, archive)
    attach(platform)
    return platform
