"""What can be set from outside, read once from the environment; docs/operating.md lists every name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Settings(NamedTuple):
    """The settings of the HTTP service alone; the memory has its own (events/connect.py)."""

    admin_key: str | None = None
    cors_origins: tuple[str, ...] = ()
    body_limit: int = 65_536
    streams: int = 256
    stream_seconds: float = 3600.0
    comment_seconds: float = 10.0
    wait_limit: float = 9.0
    key_seconds: float = 30.0
    log_requests: bool = True


def settings_from(environment: Mapping[str, str]) -> Settings:
    """The settings named in the environment, the rest as they stand here."""
    blank = Settings()
    return Settings(
        admin_key=environment.get("WARLEDGER_ADMIN_KEY") or None,
        cors_origins=tuple(origin.strip() for origin in environment.get("WARLEDGER_CORS_ORIGINS", "").split(",") if origin.strip()),
        body_limit=int(environment.get("WARLEDGER_BODY_LIMIT", blank.body_limit)),
        streams=int(environment.get("WARLEDGER_STREAMS", blank.streams)),
        stream_seconds=float(environment.get("WARLEDGER_STREAM_SECONDS", blank.stream_seconds)),
        comment_seconds=float(environment.get("WARLEDGER_COMMENT_SECONDS", blank.comment_seconds)),
        wait_limit=float(environment.get("WARLEDGER_WAIT_LIMIT", blank.wait_limit)),
        key_seconds=float(environment.get("WARLEDGER_KEY_SECONDS", blank.key_seconds)),
        log_requests=environment.get("WARLEDGER_LOG_REQUESTS", "1") not in ("0", "no", "false"),
    )
