"""Names of players and matches: none passes for the server, or for another name by letters that only look alike (docs/decisions/0090).

The rules are those of Unicode's security mechanisms (UTS 39), applied to each word. The data are Unicode's, as the package
confusable-homoglyphs has them.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import orjson
from confusable_homoglyphs.categories import alias

from service.http.problems import Problem

MOST_MARKS = 4  # on a letter; no written language needs more
RESERVED = ("admin", "administrator", "moderator", "referee", "warledger")  # as a word of a name
RESERVED_ALONE = ("auditor", "official", "server", "spectator", "staff", "support", "system", "the system")

_WRITTEN_TOGETHER = tuple(frozenset(f"LATIN HAN {others}".split()) for others in ("HIRAGANA KATAKANA", "BOPOMOFO", "HANGUL"))
_OF_ALL = frozenset(("COMMON", "INHERITED"))
_SAME = str.maketrans(dict(zip("l1|!0$5@43", "iiiiossaae", strict=True)) | {"m": "rn", "w": "vv"})
_AT_ENDS = string.digits + string.whitespace + "_-.!?*"
_WORD = re.compile(r"[^\W_]+")


def unlike(name: str) -> bool:
    """Return True if a name cannot pass for another one by mixed scripts in a word, or by marks that pile up."""
    if name.isascii():
        return True
    return all(_is_in_one_script(word) for word in name.split()) and not _has_piled_marks(name)


def _is_in_one_script(word: str) -> bool:
    """Return True if the letters of a word are of one script, or of several that are written together, as in Japanese."""
    scripts = {alias(letter) for letter in word} - _OF_ALL
    return len(scripts) <= 1 or any(scripts <= together for together in _WRITTEN_TOGETHER)


def _has_piled_marks(name: str) -> bool:
    """Return True if a letter has too many marks, or one twice, or if a mark has no letter."""
    run = ""
    for number, letter in enumerate(unicodedata.normalize("NFD", name)):
        if unicodedata.category(letter) not in ("Mn", "Me"):
            run = ""
            continue
        if number == 0 or len(run) == MOST_MARKS or run.endswith(letter):
            return True
        run += letter
    return False


def is_reserved(name: str) -> bool:
    """Return True if a name could pass for the server or its staff: if it looks like a reserved one, or has a word that does."""
    plain = _plain(name)
    whole = {_folded(plain), _folded(plain.strip(_AT_ENDS))}
    words = {_folded(word.strip(_AT_ENDS)) for word in (*plain.split(), *_WORD.findall(plain))}
    return not whole.isdisjoint(_folds(RESERVED + RESERVED_ALONE)) or not words.isdisjoint(_folds(RESERVED))


def check_name(name: str) -> None:
    """Raise Problem `name_reserved` if a name could pass for the server or its staff."""
    if is_reserved(name):
        raise Problem("name_reserved")


@cache
def _folds(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(map(_folded, names))


def _plain(text: str) -> str:
    """Return a text in ASCII letters where it has some that look like them, without marks."""
    if text.isascii():
        return text
    bare = "".join([letter for letter in unicodedata.normalize("NFKD", text) if not unicodedata.category(letter).startswith("M")])
    return bare if bare.isascii() else "".join(map(_lookalike, bare))


def _folded(text: str) -> str:
    """Return a text that is equal for texts that look alike, without blanks and punctuation."""
    return "".join(filter(str.isalnum, text.casefold().translate(_SAME)))


def _lookalike(letter: str) -> str:
    found = _lookalikes()
    return found.get(letter) or found.get(letter.upper(), letter)


@cache
def _lookalikes() -> Mapping[str, str]:
    """Return what each letter looks like that looks like ASCII letters or digits. Importing the package's table would keep 15 MB."""
    table = orjson.loads((files("confusable_homoglyphs") / "confusables.json").read_bytes())
    found = {}
    for letter, others in table.items():
        like = next((other["c"] for other in others if other["c"].isascii() and other["c"].isalnum()), None)
        if len(letter) == 1 and not letter.isascii() and like is not None:
            found[letter] = like
    return found
