"""Bytes and texts that everybody writes alike."""

from __future__ import annotations

import base64
import json
from typing import Any


def canonical(value: Any) -> bytes:
    """Return the canonical JSON of a value (RFC 8785). Entries have no fractions, and the names of members are ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def encoded(content: bytes) -> str:
    """Return bytes in base64."""
    return base64.b64encode(content).decode()


def decoded(text: str) -> bytes:
    """Return what a text in base64 stands for; nothing if it is none."""
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return b""
