"""The patterns of ids: one regular expression for each kind, without anchors.

`anchored` gives the form for a JSON Schema, `matches` checks a text.
"""

from __future__ import annotations

import re
from functools import cache

MATCH = "m[a-z2-7]{16}"
PLAYER = "p[a-z2-7]{16}"
PUZZLE = "m[a-z2-7]{16}-[1-9][0-9]{0,14}"
KEY = "k[a-z2-7]{16}"
HOOK = "h[a-z2-7]{16}"
SEAT = "[a-z][a-z0-9_]{0,31}"
RULE = "[A-Z]{2,4}-[A-Z]{2,4}-[0-9]{2}"
GAME = "[a-z][a-z0-9_]*"
CODE = "[a-z][a-z_]{0,39}"
REQUEST = "[A-Za-z0-9_.:-]{1,64}"
VERSION = "[0-9]{1,15}"
VERSION_TAG = f'"{VERSION}([.]{VERSION})?(-gzip)?"'
DIGEST = "[0-9a-f]{64}"
CONTENT_HASH = "[0-9a-f]{32}"
SAW = "[0-9a-f]{16}"
SIGNING_KEY = "[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]="
SIGNATURE = "[A-Za-z0-9+/]{85}[AQgw]=="
SIGNING_KEY_IN_PATH = "[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]"
CONTRIBUTION = "([0-9a-f]{2}){1,64}"
JOIN_CODE = "[a-z2-7]{16}"
TAG = "[a-z0-9][a-z0-9._-]{0,39}"
FIELD = "(?:/(?:[!-.0-}]|~[01]){1,40}){1,6}"  # a JSON Pointer (RFC 6901) to a named field, such as `/regions/london/civilians`
MONTH = "[0-9]{4}-(?:0[1-9]|1[0-2])"


def anchored(pattern: str) -> str:
    """Return the pattern of a whole text, as JSON Schema writes it."""
    return f"^{pattern}$" if "|" not in pattern else f"^({pattern})$"


def matches(pattern: str, text: str) -> bool:
    """Return True if the whole text has the pattern. A line end after it counts as text."""
    return _compiled(pattern).fullmatch(text) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
