"""The settings of the HTTP service, read once from the environment. docs/operating.md lists them."""

from __future__ import annotations

from typing import NamedTuple

from environs import Env, validate


class Settings(NamedTuple):
    """The settings of the HTTP service alone. The platform has its own (events/platform.py)."""

    admin_key: str | None = None
    cors_origins: tuple[str, ...] = ()
    body_limit: int = 65_536
    header_limit: int = 4096
    streams: int = 256
    stream_seconds: float = 3600.0
    comment_seconds: float = 10.0
    wait_limit: float = 9.0
    key_seconds: float = 30.0
    log_requests: bool = True


def settings_from_environment() -> Settings:
    """Return the settings in the environment, and the defaults for the rest. Raise environs.EnvError for a value of the wrong kind."""
    env, default, not_negative = Env(), Settings(), validate.Range(min=0)
    origins: list[str] = env.list("WARLEDGER_CORS_ORIGINS", [])
    return Settings(
        admin_key=env.str("WARLEDGER_ADMIN_KEY", None) or None,
        cors_origins=tuple(filter(None, map(str.strip, origins))),
        body_limit=env.int("WARLEDGER_BODY_LIMIT", default.body_limit, validate=not_negative),
        header_limit=env.int("WARLEDGER_HEADER_LIMIT", default.header_limit, validate=not_negative),
        streams=env.int("WARLEDGER_STREAMS", default.streams, validate=not_negative),
        stream_seconds=env.float("WARLEDGER_STREAM_SECONDS", default.stream_seconds, validate=not_negative),
        comment_seconds=env.float("WARLEDGER_COMMENT_SECONDS", default.comment_seconds, validate=not_negative),
        wait_limit=env.float("WARLEDGER_WAIT_LIMIT", default.wait_limit, validate=not_negative),
        key_seconds=env.float("WARLEDGER_KEY_SECONDS", default.key_seconds, validate=not_negative),
        log_requests=env.bool("WARLEDGER_LOG_REQUESTS", default.log_requests),
    )
