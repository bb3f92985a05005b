"""Dictionaries for zstd: what the entries of matches have in common, so that it need not be in each packed thing again.

A dictionary is named by its kind and its number, such as `match-1`. It never changes and is never removed: what was packed with it needs
it for ever. `SHA256SUMS` has the hash of each. `./run dictionaries` trains the next one of a kind (tools/dictionaries.py).

`match`: for whole matches in the archive (record/packing.py). `filed`: for the standings of matches that are filed away
(events/store/filed.py). `entry`, `standing` and `snapshot`: for these in the store, by deflate (events/store/packed.py).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path

if sys.version_info >= (3, 14):
    from compression import zstd as zstd
else:
    from backports import zstd as zstd

FOLDER = Path(__file__).parent
SUMS = FOLDER / "SHA256SUMS"


class NoDictionary(KeyError):
    """There is no dictionary of that name here, or its bytes are not those of the table."""


@cache
def hashes() -> Mapping[str, str]:
    """Return the SHA-256 of each dictionary, in hex, by its name.

    >>> hashes()["match-1"] == sha256(content("match-1")).hexdigest()
    True
    """
    return {name: digest for digest, name in re.findall(r"^([0-9a-f]{64})  ([a-z]+-[0-9]+)$", SUMS.read_text("ascii"), re.MULTILINE)}


def newest(kind: str) -> str:
    """Return the name of the newest dictionary of a kind. Raises NoDictionary.

    >>> newest("match") in hashes()
    True
    """
    numbers = [int(name.partition("-")[2]) for name in hashes() if name.startswith(f"{kind}-")]
    if not numbers:
        raise NoDictionary(kind)
    return f"{kind}-{max(numbers)}"


@cache
def content(name: str) -> bytes:
    """Return the bytes of a dictionary. Raises NoDictionary.

    >>> len(content("match-1"))
    110000
    >>> content("match-0")
    Traceback (most recent call last):
    record.dictionaries.NoDictionary: 'match-0'
    """
    found = (FOLDER / name).read_bytes() if name in hashes() else b""
    if sha256(found).hexdigest() != hashes().get(name):
        raise NoDictionary(name)
    return found


@cache
def dictionary(name: str) -> zstd.ZstdDict:
    """Return a dictionary. Raises NoDictionary.

    >>> from record.example import RAWS
    >>> len(zstd.compress(RAWS[0])) > 1.5 * len(zstd.compress(RAWS[0], zstd_dict=dictionary("match-1")))
    True
    """
    return zstd.ZstdDict(content(name))
