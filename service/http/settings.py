"""The settings of the HTTP service, read from the environment at the start. docs/operating.md lists them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from environs import Env, EnvError, EnvValidationError, validate

from service.http.addresses import URL, Network, networks
from service.http.cors import ANY, NONE
from service.http.limits import AMOUNTS, NO_LIMITS, OWN

BODIES = 64  # request bodies that a process reads at the same time
ANSWERS = 64  # large answers that it sends at the same time
AUDITS = 8  # audits that wait or run
DRAWINGS = 16  # drawings that wait or run
SHARE = 8  # of bodies or answers: the share of a caller once half of them are taken

ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^/?#@,\sA-Z]+")
WRONG_ORIGIN = (
    "{origin!r} is not an origin. Write origins as browsers do: a scheme and a host in lower case, such as https://play.example, "
    f"or `{ANY}` alone for all, or `{NONE}` alone."
)

LONGEST_KEY = 200
ADMIN_KEY = re.compile(f"[!-~]{{32,{LONGEST_KEY}}}")
WRONG_ADMIN_KEY = (
    f"An admin key has 32 to {LONGEST_KEY} visible ASCII characters and no blanks, so that nobody can guess it. "
    "`openssl rand -hex 32` makes one."
)


class Settings(NamedTuple):
    """The settings of the HTTP service. The platform has its own (events/platform.py)."""

    admin_key: str | None = None
    cors_origins: tuple[str, ...] = (ANY,)
    body_limit: int = 65_536
    header_limit: int = 4096
    connections: int = 8192
    streams: int = 4096
    streams_per_key: int = 128
    streams_per_address: int = 1024
    streams_per_prefix: int = 2048
    stream_seconds: float = 3600.0
    comment_seconds: float = 10.0
    wait_limit: float = 9.0
    key_seconds: float = 30.0
    log_requests: bool = True
    trusted_proxies: tuple[Network, ...] = ()
    url: str = ""
    limits: Mapping[str, int] = AMOUNTS
    pyodide: Path = Path("data/pyodide")


def settings_from_environment() -> Settings:
    """Return the settings from the environment, with defaults. Raise environs.EnvError for an invalid value."""
    env, default, not_negative = Env(), Settings(), validate.Range(min=0)
    admin_key: str | None = env.str("WARLEDGER_ADMIN_KEY", None) or None
    if admin_key is not None and not ADMIN_KEY.fullmatch(admin_key):
        raise EnvError(f'Environment variable "WARLEDGER_ADMIN_KEY" invalid: {WRONG_ADMIN_KEY}')
    return Settings(
        admin_key=admin_key,
        cors_origins=_origins(env),
        body_limit=env.int("WARLEDGER_BODY_LIMIT", default.body_limit, validate=not_negative),
        header_limit=env.int("WARLEDGER_HEADER_LIMIT", default.header_limit, validate=not_negative),
        connections=env.int("WARLEDGER_CONNECTIONS", default.connections, validate=validate.Range(min=1)),
        streams=env.int("WARLEDGER_STREAMS", default.streams, validate=not_negative),
        streams_per_key=env.int("WARLEDGER_STREAMS_PER_KEY", default.streams_per_key, validate=not_negative),
        streams_per_address=env.int("WARLEDGER_STREAMS_PER_ADDRESS", default.streams_per_address, validate=not_negative),
        streams_per_prefix=env.int("WARLEDGER_STREAMS_PER_PREFIX", default.streams_per_prefix, validate=not_negative),
        stream_seconds=env.float("WARLEDGER_STREAM_SECONDS", default.stream_seconds, validate=not_negative),
        comment_seconds=env.float("WARLEDGER_COMMENT_SECONDS", default.comment_seconds, validate=not_negative),
        wait_limit=env.float("WARLEDGER_WAIT_LIMIT", default.wait_limit, validate=not_negative),
        key_seconds=env.float("WARLEDGER_KEY_SECONDS", default.key_seconds, validate=not_negative),
        log_requests=env.bool("WARLEDGER_LOG_REQUESTS", default.log_requests),
        trusted_proxies=_trusted_proxies(env),
        url=_url(env),
        limits=_limits(env),
        pyodide=env.path("WARLEDGER_PYODIDE", env.path("WARLEDGER_DATA", default.pyodide.parent) / default.pyodide.name),
    )


def _origins(env: Env) -> tuple[str, ...]:
    """Return the origins whose pages may read answers. An origin is written as browsers send it: without a slash at the end."""
    texts: list[str] = env.list("WARLEDGER_CORS_ORIGINS", [])
    origins = tuple(filter(None, map(str.strip, texts))) or (ANY,)
    if origins in ((ANY,), (NONE,)):
        return origins if origins == (ANY,) else ()
    for origin in origins:
        if not ORIGIN.fullmatch(origin):
            raise EnvError(f'Environment variable "WARLEDGER_CORS_ORIGINS" invalid: {WRONG_ORIGIN.format(origin=origin)}')
    return origins


def _trusted_proxies(env: Env) -> tuple[Network, ...]:
    texts: list[str] = env.list("WARLEDGER_TRUSTED_PROXIES", [])
    try:
        return networks(list(filter(None, map(str.strip, texts))))
    except ValueError as reason:
        raise EnvValidationError(f'Environment variable "WARLEDGER_TRUSTED_PROXIES" invalid: {reason}.', [str(reason)]) from None


def _url(env: Env) -> str:
    """Return the origin under which clients reach the service, or an empty text."""
    text: str = env.str("WARLEDGER_URL", "").removesuffix("/").lower()
    if text and not URL.fullmatch(text):
        raise EnvError('Environment variable "WARLEDGER_URL" invalid: It is a scheme and a host, such as https://play.example.')
    return text


def _limits(env: Env) -> Mapping[str, int]:
    """Return the amount of every limit in `OWN`, by name. 0 turns a limit off."""
    if not env.bool("WARLEDGER_LIMITS", True):
        return NO_LIMITS
    amounts = {limit.name: env.int(str(limit.setting), limit.amount, validate=validate.Range(min=0)) for limit in OWN}
    return MappingProxyType(amounts)
