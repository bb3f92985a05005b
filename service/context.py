"""The context that the views of an application share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from events.hearing import Hearing
from events.platform import Platform
from events.revisions import Missing
from games.kernel import Game
from games.sentences import say
from service.drawn_frames import Frames
from service.http import metrics
from service.http.addresses import Addresses
from service.http.directory import Directory
from service.http.elsewhere import Elsewhere
from service.http.hub import Hub
from service.http.keys import Keys
from service.http.meters import Settlement
from service.http.places import Places, Shares
from service.http.presence import Presence
from service.http.quotas import Quotas
from service.http.settings import ANSWERS, AUDITS, BODIES, DRAWINGS, SHARE, Settings
from service.http.throttle import Throttle
from service.kept import Histories, Kept
from service.shown_entries import ShownEntries
from table.data import LEVELS, Level


@dataclass(frozen=True, slots=True)
class Service:
    """The first argument of every view. Shared by the threads of a process."""

    opened: Platform
    settings: Settings
    addresses: Addresses
    throttle: Throttle
    quotas: Quotas
    directory: Directory
    keys: Keys
    hub: Hub
    presence: Presence
    streams: Places
    bodies: Places
    answers: Places
    audits: Places
    drawings: Places
    kept: Kept
    histories: Histories
    frames: Frames
    entries: ShownEntries
    hearing: Hearing
    levels: Mapping[str, Level]
    rules_missing: Missing

    @property
    def platform(self) -> Platform:
        """The platform. It checks the store first: raise StoreUnavailable while a store that was away at the start is still away."""
        self.opened.store.check()
        return self.opened

    @property
    def games(self) -> Mapping[str, Game]:
        """The games of this server, by id."""
        return self.opened.games


def open_service(platform: Platform, settings: Settings) -> Service:
    """Return the service on top of a platform."""
    directory = Directory(platform, settings.key_seconds)
    addresses = Addresses(settings.trusted_proxies, settings.url)
    throttle = Throttle(platform.counters, settings.limits, addresses)
    kept = Kept()
    settlement = Settlement()
    presence = Presence(platform.store.tell_presence, settlement.notify)
    service = Service(
        opened=platform,
        settings=settings,
        addresses=addresses,
        throttle=throttle,
        quotas=Quotas(platform, settings.limits),
        directory=directory,
        keys=Keys(platform, directory, settings.admin_key),
        hub=Hub(platform, presence),
        presence=presence,
        streams=Places(
            say("open streams and long polls"),
            settings.streams,
            Shares(settings.streams_per_key, settings.streams_per_address, settings.streams_per_prefix),
            full="streams_full",
            shared="too_many_streams",
            elsewhere=Elsewhere("streams", platform.counters, settlement.notify),
            gauge=metrics.streams,
            ended=metrics.streams_ended,
        ),
        bodies=Places(say("requests whose body is being received"), BODIES, Shares.of(BODIES)._replace(caller=SHARE), calm=BODIES // 2),
        answers=Places(say("large answers being sent"), ANSWERS, Shares.of(ANSWERS)._replace(caller=SHARE), calm=ANSWERS // 2),
        audits=Places(say("audits"), AUDITS, Shares.of(AUDITS)),
        drawings=Places(say("pages of frames, tries and answers of `why`"), DRAWINGS, Shares.of(DRAWINGS)),
        kept=kept,
        frames=Frames(platform, kept),
        histories=Histories(platform),
        entries=ShownEntries(platform),
        hearing=Hearing(platform),
        levels=LEVELS,
        rules_missing=Missing(platform),
    )
    settlement.over([service.streams, presence])
    return service
